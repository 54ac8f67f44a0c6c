"""Taking back whom a gradebook knows by mistake: a student is removed, or becomes another one.

So a first run without a roster, or a folder of a wrong name, leaves nobody behind for good. What
people entered by hand goes along with the answers that it was about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, update

from grading.gradebook import decisions
from grading.gradebook.database import (
    ACCEPTED,
    ASSIGNMENT,
    BY_HAND,
    RECEIPTS,
    RESULTS,
    STUDENT,
    SUBMISSION,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

OURS = {
    BY_HAND: ("question", "paragraph"),
    ACCEPTED: ("content",),
    RECEIPTS: (),
    RESULTS: (),
}
"""The grader's own tables, with what tells a student's lines in a problem set from each other."""


def forget(connection: Connection, student: str) -> None:
    """Remove all that is known of a student, whose marks nbgrader holds no more."""
    for table in OURS:
        connection.execute(delete(table).where(table.c.student_id == student))
    connection.execute(delete(STUDENT).where(STUDENT.c.id == student))


def forget_empty(connection: Connection, student: str) -> None:
    """Remove a student of whom no result is left."""
    left = select(RESULTS.c.assignment).where(RESULTS.c.student_id == student)
    if connection.execute(left.limit(1)).first() is None:
        forget(connection, student)


def hand_over(connection: Connection, assignment: str, old: str, new: str) -> None:
    """Let what is known of one student in a problem set be another's; what that one has stays."""
    here = select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.name == assignment)
    theirs = (SUBMISSION.c.student_id == old) & SUBMISSION.c.assignment_id.in_(here)
    connection.execute(update(SUBMISSION).where(theirs).values(student_id=new))
    for table, key in OURS.items():
        both = [_keys(connection, table, key, assignment, student) for student in (old, new)]
        lines = (table.c.student_id == old) & (table.c.assignment == assignment)
        for row in both[0] - both[1]:
            same = [table.c[name] == value for name, value in zip(key, row, strict=True)]
            connection.execute(update(table).where(lines, *same).values(student_id=new))
        connection.execute(delete(table).where(lines))


def _keys(
    connection: Connection, table: Table, names: tuple[str, ...], assignment: str, student: str
) -> set[tuple[Any, ...]]:
    """Return what tells the lines of a student in a problem set from each other."""
    query = select(*(table.c[name] for name in ("student_id", *names))).where(
        table.c.student_id == student, table.c.assignment == assignment
    )
    return {tuple(row)[1:] for row in connection.execute(query)}


def apply_decisions(connection: Connection, student: str) -> None:
    """Enter what was put aside for the answers that a student has now, where nobody has decided."""
    graded = (RESULTS.c.student_id == student) & (RESULTS.c.status == "graded")
    found = connection.execute(select(RESULTS.c.assignment, RESULTS.c.marks).where(graded)).all()
    for assignment, marks in found:
        now = {(each["question"], each["paragraph"], each["maximum"]) for each in marks}
        submissions = (
            select(SUBMISSION.c.id)
            .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
            .where(ASSIGNMENT.c.name == assignment, SUBMISSION.c.student_id == student)
        )
        decided = {question for _, question in decisions.entered(connection, submissions)}
        here = (BY_HAND.c.assignment == assignment) & (BY_HAND.c.student_id == student)
        for row in connection.execute(select(BY_HAND).where(here)).all():
            known = (row.question, row.paragraph, row.maximum) in now
            if row.paragraph and known and row.question not in decided:
                entered = (row.question, row.points, row.comment or "", row.extra)
                decisions.decide(connection, assignment, student, *entered)
