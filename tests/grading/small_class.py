"""A small class of invented students, with a problem set of four questions."""

from __future__ import annotations

import csv
from pathlib import Path

import nbgrader.api as nb

from grading import course
from grading.course import Order
from grading.gradebook.book import Book
from grading.gradebook.database import database_url
from grading.problem_set import read
from grading.release import worked

TINY = Path(__file__).parent / "source"
PROBLEM_SET = read(TINY / "tiny" / "tiny.ipynb")
FULL = {"q1": "2", "q2": "3", "q3": "1", "q4": "", "total": "6", "status": "graded"}


class Class:
    """A class of invented students in a folder: what they hand in, and where results go."""

    def __init__(self, folder: Path, size: int) -> None:
        self.submissions, self.out = folder / "submissions", folder / "out"
        self.roster = folder / "roster.csv"
        self.students = [f"s{i}" for i in range(1, size + 1)]
        lines = [f"{student},,{student} Example" for student in self.students]
        self.roster.write_text("\n".join(["student_id,lms_id,name", *lines]), encoding="utf-8")
        for student in self.students:
            self.hand_in(student)

    def path(self, student: str) -> Path:
        return self.submissions / student / "tiny.ipynb"

    def hand_in(self, student: str, typed: str | None = None, **answers: str) -> None:
        """Hand in a notebook in which everything is right, but for some answers."""
        path = self.path(student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(worked(PROBLEM_SET, typed or student, answers, TINY))

    def order(self, **changes: object) -> Order:
        usual = {"source": TINY, "workers": 2}
        return Order(self.submissions, self.out, self.roster, **{**usual, **changes})

    def rows(self) -> dict[str, dict[str, str]]:
        return read_grades(self.out)

    def recorded(self) -> list[str]:
        """Return the students for whom the gradebook has a result."""
        with Book(course.database(self.out, None)) as book:
            return [result.student.student_id for result in book.results("tiny")]

    def arguments(self) -> list[str]:
        given = {"submissions": self.submissions, "out": self.out, "roster": self.roster}
        options = [text for name, value in given.items() for text in (f"--{name}", str(value))]
        return ["grade", *options, "--workers", "1"]

    def enter(
        self, student: str, question: str, points: float, comment: str = "", extra: float = 0
    ) -> None:
        """Enter points in formgrader."""
        enter_mark(self.out, student, question, points, comment, extra)

    def page(self, student: str) -> str:
        return (self.out / "feedback" / student / "tiny.html").read_text(encoding="utf-8")


def read_grades(out: Path) -> dict[str, dict[str, str]]:
    """Return the lines of grades.csv by student; nobody is in it twice."""
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = {line["student"]: line for line in lines}
    assert len(rows) == len(lines)
    return rows


def assert_row(row: dict[str, str], wanted: dict[str, str]) -> None:
    """Hold a line of grades.csv against some of its cells."""
    assert {name: row[name] for name in wanted} == wanted


def enter_mark(
    url: str | Path,
    student: str,
    question: str,
    points: float | None,
    comment: str = "",
    extra: float = 0,
    name: str = "tiny",
) -> None:
    """Enter points and a comment as formgrader does, into the gradebook of a folder or a URL."""
    url = course.database(url, None) if isinstance(url, Path) else url
    with nb.Gradebook(str(database_url(url))) as formgrader:
        cells = {f"{question}_check", question}
        (mark,) = (
            each
            for each in formgrader.find_submission_notebook(name, name, student).grades
            if each.name in cells
        )
        mark.manual_score, mark.extra_credit = points, extra or None
        mark.needs_manual_grade = points is None and mark.auto_score is None
        if comment:
            formgrader.find_comment(question, name, name, student).manual_comment = comment
        formgrader.db.commit()
