"""What passes between the parts: a submission that came in, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from grading.late import Late

Status = Literal["graded", "needs-review", "invalid", "missing"]
FOR_A_PERSON = "for a person:"
"""Begins what is said of an answer that a program cannot mark: it ran with its author, and not
here, or it stands in another cell."""
FAILED = "the grader failed:"
"""Begins the message of a submission that could not be marked, whatever is in it."""


@dataclass(frozen=True)
class Student:
    """One line of the roster."""

    student_id: str  # the identifier from which the personal numbers come
    # what the learning platform calls the student in its zips and gradebook; may be empty
    lms_id: str
    name: str  # for people
    # further identifiers that the student may have typed into the notebook
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """One notebook that came in, or the reason why there is none."""

    # Whose it is by the folder, the file name or the platform, never by the notebook.
    # Somebody whom the roster does not list is a `Student` made of what the name says.
    student: Student
    assignment: str  # the problem set, as its folder in ``grading/source`` is called
    notebook: bytes | None  # the file as it came; None where there is none
    # set where the submission cannot be graded as it is: the status it gets, and the message
    problem: tuple[Status, str] | None = None
    origin: str = ""  # where it was found, for people: ``week3.zip: doe_17_88_problem_set_1.ipynb``
    # whether somebody has looked at whose work it is: it is the student's, whatever it says
    accepted: bool = False
    # marks of an earlier run that stay, where only other questions are marked anew
    kept: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Mark:
    """What one question earned."""

    question: str  # the name of the question, ``q1``
    points: float | None  # None where nobody has decided yet: marked by hand, or not graded
    maximum: float  # the most it can earn
    message: str = ""  # what the student is told; never an expected answer
    check: str = ""  # `Question.version` of the check that made it
    grader: str = ""  # the version of the grader, see `grading.version`
    run: str = ""  # the run that made it, where that was an earlier one
    by_person: bool = False  # whether a person entered points or a comment
    before: bool = False  # whether that was before the check changed


@dataclass(frozen=True)
class Result:
    """What became of one submission."""

    student: Student  # whose it is
    assignment: str  # the problem set
    status: Status  # only ``graded`` comes with points
    message: str = ""  # one line for the instructor
    # one for each question, in their order; for other statuses than ``graded`` without points
    marks: tuple[Mark, ...] = ()
    digest: str = ""  # SHA-256 of what came from whom
    # The notebook as it ran, in nbformat's JSON, or empty. Hidden checks are not in it.
    notebook: str = ""
    cpu_seconds: float = 0.0  # processor time that the sandbox took
    # SHA-256 of what was answered to each question: a person's decision is about that
    answers: dict[str, str] = field(default_factory=dict)
    # how late it came, worked out when a table or a page is written; None where nothing is due
    late: Late | None = None
    # what somebody decided in course.toml that all of it counts, whatever was earned
    decided: float | None = None
    # which member of the group handed in the notebook, where it was somebody else
    shared_by: str = ""

    @property
    def total(self) -> float | None:
        """Return the sum of the points so far, or None where nothing was graded."""
        if self.status != "graded":
            return None
        return sum(mark.points or 0 for mark in self.marks)

    @property
    def final(self) -> float | None:
        """Return the points that count, or None where nothing was graded or nobody has decided."""
        if self.decided is not None:
            return self.decided
        if self.total is None or self.late is None:
            return self.total
        return None if self.late.deduction is None else self.total - self.late.deduction

    @property
    def maximum(self) -> float:
        """Return the most that the problem set can earn."""
        return sum(mark.maximum for mark in self.marks)
