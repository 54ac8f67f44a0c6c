"""What people decided: marks by hand, overrides, comments, and whose work something is.

A decision is about an answer. While that is the same it stays, whatever becomes of its check; it is
only flagged as older than the check. What nobody sees at the moment, as the answer is another one,
is put aside in tables of the grader's own and comes back with the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, insert, or_, select, update

from grading.gradebook.database import (
    ACCEPTED,
    ASSIGNMENT,
    BY_HAND,
    CELL,
    CHECKS,
    COMMENT,
    GRADE,
    NOTEBOOK,
    RESULTS,
    SUBMISSION,
    SUBMITTED,
)
from grading.problem_set import CHECK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grading.problem_set import ProblemSet
    from grading.results import Result


class Decision(NamedTuple):
    """What a person entered for one question in formgrader."""

    points: float | None = None
    extra: float | None = None
    comment: str | None = None
    before: bool = False  # whether the check has changed since

    @property
    def counts(self) -> bool:
        """Return whether there are points in it, and not only words."""
        return self.points is not None or self.extra is not None


Decisions = dict[tuple[str, str], Decision]
"""By student and question."""


def of_cells(table: Any, *columns: Any) -> Select[Any]:
    """Return a query for columns of nbgrader's grades or comments, by student and cell."""
    return (
        select(SUBMISSION.c.student_id, CELL.c.name, *columns)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .join(table, table.c.notebook_id == SUBMITTED.c.id)
        .join(CELL, CELL.c.id == table.c.cell_id)
    )


def is_before(needs_look: bool, checked: float | None, entered: float | None) -> bool:
    """Return whether points were entered before the check changed.

    nbgrader's ``needs_manual_grade`` says so where there are points; saving any takes it away.
    """
    return needs_look and not (checked is None and entered is None)


def entered(connection: Connection, submissions: Select[tuple[str]]) -> Decisions:
    """Return what people entered in formgrader, and let nobody enter more until this is over."""
    found: Decisions = {}
    columns = (
        GRADE.c.manual_score,
        GRADE.c.extra_credit,
        GRADE.c.auto_score,
        GRADE.c.needs_manual_grade,
    )
    grades = of_cells(GRADE, *columns).where(SUBMISSION.c.id.in_(submissions))
    rows = connection.execute(grades.with_for_update(of=GRADE))
    for student, cell, points, extra, checked, needs_look in rows:
        decision = Decision(points, extra, before=is_before(needs_look, checked, points))
        if decision.counts:
            found[student, cell.removesuffix(CHECK)] = decision
    comments = of_cells(COMMENT, COMMENT.c.manual_comment).where(SUBMISSION.c.id.in_(submissions))
    for student, cell, comment in connection.execute(comments.with_for_update(of=COMMENT)):
        if comment:
            decision = found.get((student, cell), Decision())
            found[student, cell] = decision._replace(comment=comment)
    return found


def put_aside(
    connection: Connection, assignment: str, students: list[str] | None, decisions: Decisions
) -> None:
    """Keep what was entered, and forget what was kept before for the same answers."""
    graded = RESULTS.c.status == "graded"
    version = versions(connection, assignment)
    old, kept = [], []
    for student, mark in _answered(connection, assignment, students, graded):
        question = mark["question"]
        key = {"student": student, "question": question, "paragraph": mark["paragraph"]}
        old.append(key)
        if decision := decisions.get((student, question)):
            values = decision._asdict()
            values["version"] = "" if values.pop("before") else version.get(question)
            kept.append(key | values | {"maximum": mark["maximum"]})
    if old:
        connection.execute(
            delete(BY_HAND).where(
                BY_HAND.c.assignment == assignment,
                BY_HAND.c.student_id == bindparam("student"),
                BY_HAND.c.question == bindparam("question"),
                BY_HAND.c.paragraph == bindparam("paragraph"),
            ),
            old,
        )
    if kept:
        rows = [{"assignment": assignment, "student_id": row.pop("student"), **row} for row in kept]
        connection.execute(insert(BY_HAND), rows)


def latest(connection: Connection, assignment: str, students: list[str]) -> Decisions:
    """Return what was put aside of the answers that were recorded last."""
    recorded = _answered(connection, assignment, students)
    last = {(student, mark["question"], mark["paragraph"]) for student, mark in recorded}
    return {
        (row.student_id, row.question): Decision(row.points, row.extra, row.comment)
        for row in _put_aside(connection, assignment, students)
        if (row.student_id, row.question, row.paragraph) in last
    }


def kept(connection: Connection, assignment: str, graded: Sequence[Result]) -> Decisions:
    """Return what was entered for the answers as they are now."""
    now = {
        (result.student.student_id, mark.question, result.answers[mark.question], mark.maximum)
        for result in graded
        for mark in result.marks
        if result.answers.get(mark.question)
    }
    students = [result.student.student_id for result in graded]
    version = versions(connection, assignment)
    found: Decisions = {}
    for row in _put_aside(connection, assignment, students):
        if (row.student_id, row.question, row.paragraph, row.maximum) in now:
            decision = Decision(row.points, row.extra, row.comment)
            older = row.version is not None and row.version != version.get(row.question)
            flagged = decision._replace(before=decision.counts and older)
            found[row.student_id, row.question] = flagged
    return found


def versions(connection: Connection, assignment: str) -> dict[str, str]:
    """Return the version of each check of a problem set as it was prepared last."""
    query = select(CHECKS.c.question, CHECKS.c.version).where(CHECKS.c.assignment == assignment)
    return dict(connection.execute(query).all())


def note_checks(connection: Connection, problem_set: ProblemSet) -> None:
    """Write down the versions of the checks, and flag what was decided before one changed."""
    known = versions(connection, problem_set.name)
    now = {question.name: question.version for question in problem_set.questions}
    changed = [name for name, version in now.items() if known.get(name, version) != version]
    if changed:
        cells = (
            select(CELL.c.id)
            .join(NOTEBOOK, NOTEBOOK.c.id == CELL.c.notebook_id)
            .join(ASSIGNMENT, ASSIGNMENT.c.id == NOTEBOOK.c.assignment_id)
            .where(ASSIGNMENT.c.name == problem_set.name)
            .where(CELL.c.name.in_([*changed, *(f"{name}{CHECK}" for name in changed)]))
        )
        decided = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
        flagged = update(GRADE).where(GRADE.c.cell_id.in_(cells), decided)
        connection.execute(flagged.values(needs_manual_grade=True))
    if now != known:
        connection.execute(delete(CHECKS).where(CHECKS.c.assignment == problem_set.name))
        rows = [
            {"assignment": problem_set.name, "question": name, "version": version}
            for name, version in now.items()
        ]
        connection.execute(insert(CHECKS), rows)


def decide(
    connection: Connection,
    assignment: str,
    student: str,
    question: str,
    points: float | None,
    comment: str,
    extra: float | None = None,
) -> None:
    """Enter what a person decided about a question of a graded submission."""
    submitted = (
        select(SUBMITTED.c.id)
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .where(ASSIGNMENT.c.name == assignment, SUBMISSION.c.student_id == student)
    )
    cells = select(CELL.c.id).where(CELL.c.name.in_([question, f"{question}{CHECK}"]))
    entered: dict[Any, dict[str, Any]] = (
        {GRADE: {"manual_score": points, "needs_manual_grade": False}} if points is not None else {}
    )
    if extra is not None:
        entered.setdefault(GRADE, {})["extra_credit"] = extra
    entered |= {COMMENT: {"manual_comment": comment}} if comment else {}
    for table, values in entered.items():
        here = table.c.notebook_id.in_(submitted) & table.c.cell_id.in_(cells)
        connection.execute(update(table).where(here).values(values))


def accept(connection: Connection, assignment: str, student: str, content: str) -> None:
    """Remember that a notebook is this student's, whatever it says; it is named by its digest."""
    if (student, content) not in accepted(connection, assignment):
        row = {"assignment": assignment, "student_id": student, "content": content}
        connection.execute(insert(ACCEPTED), row)


def accepted(connection: Connection, assignment: str) -> set[tuple[str, str]]:
    """Return students and the digests of notebooks that are known to be theirs."""
    columns = (ACCEPTED.c.student_id, ACCEPTED.c.content)
    found = connection.execute(select(*columns).where(ACCEPTED.c.assignment == assignment))
    return {(student, content) for student, content in found}


def _answered(
    connection: Connection, assignment: str, students: list[str] | None, *conditions: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give students and what is recorded of each question that they answered."""
    query = select(RESULTS.c.student_id, RESULTS.c.marks).where(
        RESULTS.c.assignment == assignment, *conditions
    )
    if students is not None:
        query = query.where(RESULTS.c.student_id.in_(students))
    for student, marks in connection.execute(query):
        yield from ((student, mark) for mark in marks if mark["paragraph"])


def _put_aside(connection: Connection, assignment: str, students: list[str]) -> Iterable[Any]:
    """Return what was put aside for some students."""
    query = select(BY_HAND).where(
        BY_HAND.c.assignment == assignment, BY_HAND.c.student_id.in_(students)
    )
    return connection.execute(query)
