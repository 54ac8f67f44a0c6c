"""A mistake taken back: a student is removed from a course, or turns out to be another one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from grading.gradebook.book import Book
from grading.gradebook.database import DATABASE, database
from grading.intake.roster import UNMATCHED
from grading.private import make_private
from grading.results import Student
from grading.safe_text import safe_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grading.intake.roster import Roster
    from grading.late import Receipt

FOLDERS = ("autograded", "feedback")
MOST_LISTED = 10


def take_back(
    out: Path, student: str, into: str = "", url: str | None = None, *, do: bool = False
) -> list[str]:
    """Remove a student from a course folder, or let the work be another one's; say so first.

    Nothing is changed unless `do` is true. Tables and pages follow with the next export. A
    ValueError if nobody of that name is known.
    """
    if url is None and not (out / DATABASE).exists():
        raise ValueError(f"OUT must be a folder that make grade has filled; {out} has no gradebook")
    with Book(database(out, url)) as book:
        known, other = book.about(student), book.about(into) if into else []
        if not known:
            raise ValueError(f"STUDENT must be somebody in the gradebook; got {shown(student)}")
        if into == student:
            raise ValueError("INTO must be another one than STUDENT")
        statuses = {each.assignment: each.status for each in other}
        lines = [_line(each.assignment, each.status, statuses, into) for each in known]
        if do:
            name = next((each.student for each in other), Student(into, "", known[0].student.name))
            if into:
                book.merge(student, name)
            else:
                book.remove(student)
            move_files(out, student, into or None, statuses)
            return [*lines, "Done. make grades-export writes the tables anew."]
    return [*lines, "Nothing was changed. The same command with ARGS=--yes does it."]


def _line(assignment: str, status: str, other: Mapping[str, str], into: str) -> str:
    """Say what becomes of one problem set."""
    if not into:
        return f"{assignment}: what is recorded ({status}) goes, with what was entered by hand"
    if other.get(assignment) == "graded":
        return (
            f"{assignment}: the marks of {shown(into)} stay; what was entered by hand goes along "
            "with the answers that are the same"
        )
    return f"{assignment}: what is recorded ({status}) becomes that of {shown(into)}"


def move_files(out: Path, old: str, new: str | None, other: Mapping[str, str]) -> None:
    """Move the notebooks and pages of a student, or remove them; what is there already stays."""
    for folder in FOLDERS:
        before = out / folder / safe_name(old)
        for path in sorted(before.glob("*")) if new is not None else ():
            after = out / folder / safe_name(new or "") / path.name
            if other.get(path.stem) != "graded":
                make_private(after.parent)
                shutil.rmtree(after) if after.is_dir() else after.unlink(missing_ok=True)
                path.replace(after)
        if before.is_dir():
            shutil.rmtree(before)


def reconcile(
    out: Path, book: Book, assignment: str, roster: Roster, came: Mapping[str, Receipt]
) -> Iterator[str]:
    """Let nobody stay whose notebook came again from somebody on the roster, and name the rest.

    So a first run without a roster, or with a wrong one, leaves no ghosts. Marks go to nobody whose
    notebook waits: it may be a copy of what somebody else left behind. What `came` in this run are
    the receipts by student.
    """
    known = {each.student.student_id: each.status for each in book.results(assignment)}
    listed = {each.student_id: each for each in roster}
    receipts = book.receipts(assignment)
    by_content: dict[str, list[str]] = {}
    for student, receipt in came.items():
        if student in listed and receipt.content:
            by_content.setdefault(receipt.content, []).append(student)
    rest = []
    for student in known.keys() - listed.keys() - came.keys():
        content = receipts[student].content if student in receipts else ""
        same = by_content.get(content, []) if content else []
        is_clear = known[student] != "graded" or [known.get(each) for each in same] == ["graded"]
        if len(same) == 1 and is_clear:
            book.merge(student, listed[same[0]], assignment)
            move_files(out, student, same[0], known)
            yield f"{shown(student, 60)}: was recorded before, and is {same[0]} by the roster"
        else:
            rest.append(student)
    for student in sorted(rest)[:MOST_LISTED]:
        kind = "waits" if student.startswith(UNMATCHED) else "is not on the roster"
        yield (
            f"{shown(student, 60)}: {kind} since an earlier run; make grade-student STUDENT=... "
            "removes or merges"
        )
    if len(rest) > MOST_LISTED:
        yield f"and {len(rest) - MOST_LISTED} more who are not on the roster"
