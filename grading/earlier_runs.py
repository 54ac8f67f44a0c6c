"""What earlier runs decided: which submissions are marked already, and which marks stay.

A submission is settled while it is the same file of the same student, whatever becomes of checks
and grader: nothing is marked anew that nobody asked for.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from grading.intake.collection import NO_NOTEBOOK, OF_GROUP, UNMATCHED, WAITS
from grading.marking.submission import digest
from grading.safe_text import question_named, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grading.gradebook.book import Book
    from grading.problem_set import ProblemSet
    from grading.results import Result, Submission

ALL = "all"


@dataclass
class Memory:
    """What is known of earlier runs, and what is asked of this one."""

    book: Book | None  # None where nothing was ever marked
    accepting: frozenset[str]  # students whose identity somebody has looked at
    remark: frozenset[str]  # questions to mark anew also where nothing has changed, or ALL
    digests: Mapping[str, Mapping[str, str]]  # of what is settled, by problem set and student
    accepted: Mapping[str, set[tuple[str, str]]]  # students with digests of their notebooks
    # what is settled and marked anew all the same, problem sets and students
    anew: set[tuple[str, str]] = field(default_factory=set)
    # of `accepting`, those of whom something came
    met: set[str] = field(default_factory=set)
    # who waits since an earlier run, by problem set
    waiting: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # of how many nothing came this time who have marks, or who wait, by problem set
    absent: Counter[str] = field(default_factory=Counter)
    still: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        book: Book | None,
        accepting: frozenset[str],
        remark: frozenset[str],
        assignments: Iterable[str],
    ) -> Self:
        """Return what the gradebook knows of some problem sets."""
        names = list(assignments)
        digests = {name: book.digests(name) if book else {} for name in names}
        accepted = {name: book.accepted(name) if book else set() for name in names}
        waiting = {name: _waiting(book.waiting(name)) if book else {} for name in names}
        return cls(book, accepting, remark, digests, accepted, waiting=waiting)

    def notes(self) -> list[str]:
        """Say what somebody should know, when all submissions have been looked at."""
        unmet = sorted(self.accepting - self.met)
        said = [f"ACCEPT: no notebook came from {shown(student, 40)}" for student in unmet]
        said += [
            f"{name}: marks of {count} stay of whom nothing came this time"
            for name, count in self.absent.items()
        ]
        said += [
            f"{name}: {count} still wait of whom nothing came this time"
            for name, count in self.still.items()
        ]
        return said

    def is_known(self, submission: Submission) -> bool:
        """Return whether something of this student was marked before."""
        return submission.student.student_id in self.digests[submission.assignment]

    def to_mark(self, submission: Submission) -> Submission | None:
        """Return a submission with what is known of it, or None if it is settled."""
        assignment, student = submission.assignment, submission.student.student_id
        if self._is_absent(submission):
            self.absent[assignment] += 1
            return None
        if self._is_missing(submission) and student in self.waiting.get(assignment, ()):
            self.still[assignment] += 1
            return None
        if submission.problem is None or submission.problem[0] != "missing":
            self.met.add(student)
        if submission.notebook is not None:
            submission = replace(submission, accepted=self._is_accepted(submission))
        if self.digests[assignment].get(student) != digest(submission):
            return submission
        if not self.remark or self.book is None:
            return None
        marks = self.book.checked(assignment, student)
        chosen = marks.keys() if ALL in self.remark else self.remark & marks.keys()
        if chosen:
            self.anew.add((assignment, student))
        elif ALL not in self.remark:
            return None
        stay = tuple(mark for question, mark in marks.items() if question not in chosen)
        return replace(submission, kept=stay)

    def would_lose(self, result: Result) -> bool:
        """Return whether a result has no points, and those of an earlier run are still good."""
        key = result.assignment, result.student.student_id
        return result.status != "graded" and key in self.anew

    def _is_absent(self, submission: Submission) -> bool:
        """Return whether no notebook came from somebody who has marks of an earlier run.

        What came may be another file, or a notebook of which nobody knows whether it is theirs.
        """
        _, why = submission.problem or ("", "")
        nothing = self._is_missing(submission) or why.startswith((NO_NOTEBOOK, WAITS))
        if not nothing or self.book is None:
            return False
        return bool(self.book.checked(submission.assignment, submission.student.student_id))

    def _is_missing(self, submission: Submission) -> bool:
        """Return whether nothing came, and nothing from somebody else of the group either."""
        status, why = submission.problem or ("", "")
        return status == "missing" and not why.startswith(OF_GROUP)

    def _is_accepted(self, submission: Submission) -> bool:
        """Return whether somebody has said whose this notebook is, now or before."""
        assignment, student = submission.assignment, submission.student.student_id
        content = hashlib.sha256(submission.notebook or b"").hexdigest()
        known = self.accepted[assignment]
        if student in self.accepting:
            if self.book is not None:
                self.book.accept(assignment, student, content)
            known.add((student, content))
        return (student, content) in known


def _waiting(said: Mapping[str, str]) -> dict[str, str]:
    """Return who waits whatever comes now: not by a hint of a notebook that waits no more."""
    unmatched = any(student.startswith(UNMATCHED) for student in said)
    return {student: why for student, why in said.items() if unmatched or not why.startswith(WAITS)}


def chosen_questions(remark: frozenset[str], sets: Mapping[str, ProblemSet]) -> frozenset[str]:
    """Return the names of the questions to mark anew, of which there must be such."""
    names = {question.name for each in sets.values() for question in each.questions}
    found = {
        each: ALL if each.casefold() == ALL else question_named(each, names) for each in remark
    }
    if unknown := [each for each, name in found.items() if name is None]:
        listed = ", ".join(sorted(names))
        raise ValueError(f"REMARK must be {ALL}, or some of {listed}; got {min(unknown)}")
    return frozenset(name for name in found.values() if name is not None)
