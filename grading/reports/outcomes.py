"""What counts in the end: the marks as they are recorded, a group's notebook and late work.

The gradebook has one submission for each group, that of the member who handed it in, so that it is
marked once, by hand as well. The others read their marks from it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from grading.intake.collection import PERHAPS
from grading.late import Receipt, in_words, lateness
from grading.safe_text import shown

if TYPE_CHECKING:
    from grading.intake.roster import Roster
    from grading.results import Result
    from grading.settings import Rules

MOST_LISTED = 20


def outcomes(
    results: Iterable[Result],
    roster: Roster | None,
    rules: Rules,
    receipts: Mapping[str, Receipt],
) -> Iterator[Result]:
    """Return the results of a problem set, one for each student, with what counts of them.

    The receipts are those of the notebooks, by student.
    """
    groups = roster if rules.groups else None
    for shared in results if groups is None else _shared(list(results), groups):
        result = replace(shared, decided=_decided(shared, rules))
        if rules.due is None or result.status == "missing":
            yield result
            continue
        student = result.student.student_id
        holder = result.shared_by or student
        receipt = receipts.get(holder, Receipt(result.assignment, holder))
        students = groups.partners(student) if groups else [student]
        points = result.total or 0.0
        yield replace(result, late=lateness(receipt, rules, students, points, result.maximum))


def _decided(result: Result, rules: Rules) -> float | None:
    """Return the points that count by ``course.toml``, if it says so."""
    is_missing = result.status == "missing" and not result.message.startswith(PERHAPS)
    otherwise = rules.missing if is_missing else None
    return rules.points.get(result.student.student_id, otherwise)


def _shared(results: list[Result], roster: Roster) -> Iterator[Result]:
    """Return the results, those of groups for all members."""
    held: dict[str, Result] = {}
    for result in results:
        group = roster.group_of(result.student.student_id)
        if group and result.status != "missing":
            held.setdefault(group, result)
    for result in results:
        holder = held.get(roster.group_of(result.student.student_id))
        if result.status == "missing" and holder is not None:
            by = holder.student.student_id
            yield replace(holder, student=result.student, shared_by=by)
        else:
            yield result


def late_notes(results: Iterable[Result], assignment: str) -> list[str]:
    """Return what an instructor should know of late work, one line each."""
    late, unknown = [], 0
    for result in results:
        if result.late is None:
            continue
        who = shown(result.student.student_id, 40)
        if result.late.deduction is None:
            late.append(
                f"  {who}: {result.late.why}; say when under [{assignment}.submitted] in "
                "course.toml, or late_without_time for all"
            )
        elif result.late.why:
            late.append(f"  {who}: {result.late.why}")
        unknown += result.status == "graded" and in_words(result.late) == "unknown"
    notes = [f"{assignment}: {len(late)} late", *late[:MOST_LISTED]] if late else []
    if len(late) > MOST_LISTED:
        notes.append(f"  and {len(late) - MOST_LISTED} more")
    if unknown:
        what = "one notebook" if unknown == 1 else f"{unknown} notebooks"
        notes.append(f"{assignment}: nothing says when {what} came; no points were taken off")
    return notes
