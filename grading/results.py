"""What passes between the parts: a submission that came in, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["graded", "needs-review", "invalid", "missing"]


@dataclass(frozen=True)
class Student:
    """One line of the roster.

    Attributes
    ----------
    student_id : str
        The identifier from which the personal numbers come.
    lms_id : str
        What the learning platform calls the student in its zips and gradebook; may be empty.
    name : str
        For people.
    also : tuple of str
        Further identifiers that the student may have typed into the notebook.
    """

    student_id: str
    lms_id: str
    name: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """One notebook that came in, or the reason why there is none.

    Attributes
    ----------
    student : Student
        Whose it is by the folder, the file name or the platform, never by the notebook. Somebody
        whom the roster does not list is a `Student` made of what the name says.
    assignment : str
        The problem set, as its folder in ``grading/source`` is called.
    notebook : bytes or None
        The file as it came; None where there is none.
    problem : tuple of (Status, str) or None
        Set where the submission cannot be graded as it is: the status it gets, and the message.
    origin : str
        Where it was found, for people: ``week3.zip: doe_17_88_problem_set_1.ipynb``.
    """

    student: Student
    assignment: str
    notebook: bytes | None
    problem: tuple[Status, str] | None = None
    origin: str = ""


@dataclass(frozen=True)
class Mark:
    """What one question earned.

    Attributes
    ----------
    question : str
        The name of the question, ``q1``.
    points : float or None
        None where nobody has decided yet: marked by hand, or not graded.
    maximum : float
        The most it can earn.
    message : str
        What the student is told; never an expected answer.
    """

    question: str
    points: float | None
    maximum: float
    message: str = ""


@dataclass(frozen=True)
class Result:
    """What became of one submission.

    Attributes
    ----------
    student : Student
        Whose it is.
    assignment : str
        The problem set.
    status : {"graded", "needs-review", "invalid", "missing"}
        Only ``graded`` comes with points.
    message : str
        One line for the instructor.
    marks : tuple of Mark
        One for each question, in their order; for other statuses than ``graded`` without points.
    digest : str
        SHA-256 of what was graded with what; the same digest would give the same marks.
    notebook : str
        The notebook as it ran, in nbformat's JSON, or empty. Hidden checks are not in it.
    feedback : str
        The page for the student, in HTML, or empty.
    cpu_seconds : float
        Processor time that the sandbox took.
    paragraphs : dict
        SHA-256 of what stands in each cell that is marked by hand, by its name.
    """

    student: Student
    assignment: str
    status: Status
    message: str = ""
    marks: tuple[Mark, ...] = ()
    digest: str = ""
    notebook: str = ""
    feedback: str = ""
    cpu_seconds: float = 0.0
    paragraphs: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> float | None:
        """Return the sum of the points so far, or None where nothing was graded."""
        if self.status != "graded":
            return None
        return sum(mark.points or 0 for mark in self.marks)

    @property
    def maximum(self) -> float:
        """Return the most that the problem set can earn."""
        return sum(mark.maximum for mark in self.marks)
