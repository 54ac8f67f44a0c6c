"""What a run would do: who is matched, who waits and why, what is late, what is marked again.

No student's code runs, no sandbox is needed, and nothing is written: the gradebook is read from a
copy.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grading.course import Order, select_sets
from grading.earlier_runs import Memory, chosen_questions
from grading.enrolment import Enrolment, enrolment
from grading.gradebook.book import Book
from grading.gradebook.database import DATABASE, database
from grading.intake.collection import OF_GROUP, Collection, collect
from grading.intake.normalize import Invalid, normalize
from grading.late import lateness
from grading.marking.submission import doubt_about_identity
from grading.safe_text import shown

if TYPE_CHECKING:
    from grading.problem_set import ProblemSet
    from grading.results import Submission

KINDS = {
    "new": "would be marked",
    "again": "would be marked again, as the notebook or the roster changed, or you ask for it",
    "unchanged": "marked before, and nothing has changed",
    "waits": "would wait for you",
    "invalid": "cannot be marked",
    "shared": "would share the marks of their group",
    "missing": "missing",
}


@dataclass
class _Preview:
    """What would happen with one problem set."""

    people: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    late: list[str] = field(default_factory=list)

    def lines(self, name: str) -> Iterator[str]:
        """Give the preview line by line, the numbers last."""
        for kind, heading in KINDS.items():
            if self.people[kind]:
                yield f"{name}, {heading}:"
                yield from (f"  {each}" for each in self.people[kind])
        if self.late:
            yield f"{name}, late, and what that would cost at most:"
            yield from (f"  {each}" for each in self.late)
        yield f"{name}: {sum(map(len, self.people.values()))} students"
        yield from (f"  {len(self.people[kind]):6} {heading}" for kind, heading in KINDS.items())


def dry_run(order: Order) -> str:
    """Return what `course.grade` would do with the same order."""
    known = select_sets(order.source, order.assignment)
    remark = chosen_questions(order.remark, known)
    course = enrolment(order.out, order.source, order.roster)
    order = replace(order, remark=remark, accepted=course.named(order.accepted))
    with _copied(order) as book:
        special = course.special(book, order.accepted, known)
        collection = collect(order.submissions, course.roster, tuple(known), special)
        memory = Memory.of(book, order.accepted, order.remark, collection.assignments)
        previews = {name: _Preview() for name in collection.assignments}
        for submission in collection:
            name = submission.assignment
            _note(memory, course, collection, submission, known[name], previews[name])
    lines = [line for name, preview in previews.items() for line in preview.lines(name)]
    if order.database:
        lines.append("What was marked before is in DB, where a dry run does not look.")
    notes = [*course.notes, *collection.notes, *memory.notes()]
    return "\n".join([*notes, *lines, "Nothing was run or written."])


def _note(
    memory: Memory,
    course: Enrolment,
    collection: Collection,
    submission: Submission,
    problem_set: ProblemSet,
    preview: _Preview,
) -> None:
    """Note what would happen with one submission."""
    student = submission.student
    kind, why = _fate(memory, submission, problem_set)
    who = f"{student.student_id} ({student.name})" if student.name else student.student_id
    rest = filter(None, (why, "" if why else submission.origin))
    preview.people[kind].append(shown(": ".join((who, *rest)), 400))
    receipt = collection.receipt(submission)
    rules = course.settings.of(submission.assignment)
    if receipt is None or rules.due is None:
        return
    roster = course.of(submission.assignment) if rules.groups else None
    students = roster.partners(student.student_id) if roster else [student.student_id]
    most = sum(question.points for question in problem_set.questions)
    late = lateness(receipt, rules, students, most, most)
    if late is not None and late.why:
        preview.late.append(f"{shown(student.student_id, 40)}: {late.why}")


def _fate(memory: Memory, came: Submission, problem_set: ProblemSet) -> tuple[str, str]:
    """Return which of the kinds a submission is, and why."""
    submission = memory.to_mark(came)
    if submission is None:
        waits = memory.waiting.get(came.assignment, {}).get(came.student.student_id)
        return ("unchanged", "") if waits is None else ("waits", waits)
    if submission.problem is not None or submission.notebook is None:
        status, why = submission.problem or ("missing", "nothing was handed in")
        if status == "missing" and why.startswith(OF_GROUP):
            return "shared", why
        return ("waits" if status == "needs-review" else status), why
    try:
        work = normalize(submission.notebook, problem_set)
    except Invalid as invalid:
        return "invalid", str(invalid)
    if doubt := doubt_about_identity(submission, work.typed_id):
        return "waits", doubt
    return ("again" if memory.is_known(submission) else "new"), ""


@contextmanager
def _copied(order: Order) -> Iterator[Book | None]:
    """Open a copy of the gradebook, if there is one in a file."""
    path = order.out / DATABASE
    if order.database or not path.exists():
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, folder)
        with Book(database(Path(folder), None)) as book:
            yield book
