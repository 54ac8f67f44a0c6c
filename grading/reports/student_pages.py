"""The pages that students get back, each made once a run, when all that counts is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grading.gradebook import autograded
from grading.intake.collection import WAITS
from grading.private import write_private
from grading.reports import feedback
from grading.reports.instructor import counted
from grading.results import FAILED, Result
from grading.safe_text import safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grading.enrolment import Enrolment
    from grading.gradebook.book import Book
    from grading.problem_set import ProblemSet

UNCLEAR = "It is not clear yet whether your notebook came; your instructor looks into it."
OUR_FAULT = "Something failed on our side; your instructor has been told, and nothing is lost."


def write_pages(out: Path, book: Book, sets: Mapping[str, ProblemSet], course: Enrolment) -> None:
    """Write the pages of all on whose page something may be new, and remove those of the missing.

    New may be the notebook as it ran, a mark by hand, lateness, or whose notebook a group has.
    """
    for name, problem_set in sets.items():
        by_hand = {each.name for each in problem_set.questions if each.by_hand}
        total = max(book.count(name), len(course.of(name) or ()))
        for result in counted(course.outcomes(book, name), total, f"pages of {name}"):
            path = out / "feedback" / safe_name(result.student.student_id) / f"{name}.html"
            holder = result.shared_by or result.student.student_id
            ran = autograded.place(out, holder, name)
            if result.status == "missing":
                path.unlink(missing_ok=True)
            elif result.status != "graded":
                write_private(path, page_of(problem_set, result))
            # without a notebook the gradebook was filled from another folder
            elif ran.exists() and (_is_older(path, ran) or _may_differ(path, result, by_hand)):
                found = replace(result, notebook=ran.read_text(encoding="utf-8"))
                write_private(path, page_of(problem_set, found))


def page_of(problem_set: ProblemSet, result: Result) -> str:
    """Return a student's page; of what was marked, from the notebook as it ran."""
    if result.status != "graded":
        said = told(result)
        return feedback.page(problem_set, result.student, result.status, said, (), result.marks, ())
    cells, notes = autograded.read(result.notebook)
    remarks = feedback.remarks(result, problem_set)
    shown = (cells, result.marks, notes, remarks, result.final)
    return feedback.page(problem_set, result.student, "graded", "", *shown)


def told(result: Result) -> str:
    """Return why there are no marks, as the student is told it.

    What may be somebody else's is named to the instructor alone, as is what failed on our side.
    """
    if result.message.startswith(WAITS):
        return UNCLEAR
    return OUR_FAULT if result.message.startswith(FAILED) else result.message


def _is_older(page: Path, ran: Path) -> bool:
    """Return whether there is no page yet of a notebook as it ran."""
    return not page.exists() or page.stat().st_mtime_ns < ran.stat().st_mtime_ns


def _may_differ(path: Path, result: Result, by_hand: set[str]) -> bool:
    """Return whether a page may be another than that of the last run, of the same notebook."""
    marked = (each for each in result.marks if each.points is not None or each.message)
    return (
        bool(result.shared_by)
        or any(each.question in by_hand or each.by_person for each in marked)
        or bool(result.late and result.late.why)
        or result.decided is not None
        or feedback.has_remarks(path)
    )
