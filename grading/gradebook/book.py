"""The gradebook: nbgrader's database, with a few tables of the grader's own beside nbgrader's.

nbgrader's tables hold what its formgrader shows and where marks by hand are entered; the tables
named ``grading_…`` hold what nbgrader has no place for: statuses, digests, secrets, messages, and
marks by hand that wait for their paragraph to come back. Points are kept once, by nbgrader.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args

import nbgrader.api as nb
from nbgrader import utils
from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from grading.gradebook import autograded, decisions, people, receipts
from grading.gradebook.database import (
    ASSIGNMENT,
    CELL,
    COMMENT,
    COURSE,
    GRADE,
    GRADE_CELL,
    NAME,
    NOTEBOOK,
    RECEIPTS,
    RESULTS,
    RUNS,
    SOLUTION_CELL,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
    database_url,
    open_database,
    writing,
)
from grading.gradebook.decisions import Decision, Decisions
from grading.private import write_private
from grading.problem_set import CHECK
from grading.results import Mark, Result, Status, Student

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from grading.late import Receipt
    from grading.problem_set import ProblemSet

__all__ = ["Book", "Dropped", "database_url", "write_autograded"]

STATUSES = get_args(Status)
FINAL = ("graded", "invalid")
CHANGED = "the problem set has other questions or points than when this was graded: grade it again"
PAGE = 500
INSERT = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class Dropped(NamedTuple):
    """A mark entered by hand that a new grading took away.

    The paragraph is another one, or its points are, or the submission is not graded any more, or
    the mark was for a question that the grader checks. One for a paragraph comes back with it.
    """

    student_id: str
    question: str
    points: float


@dataclass(frozen=True)
class _Question:
    """The cell that nbgrader stores the points of a question for, and the points."""

    cell_id: str
    maximum: float


@dataclass(frozen=True)
class _Prepared:
    """What nbgrader's tables call a problem set, its questions and its answer cells."""

    assignment_id: str
    notebook_id: str
    questions: dict[str, _Question]
    solutions: dict[str, str]


class _Decided(NamedTuple):
    """What a question earned, None where it is open, and whether a person said so."""

    points: float | None = None
    by_person: bool = False
    before: bool = False  # whether the check has changed since


_Key = tuple[type[Any], str]
_Points = dict[tuple[str, str], _Decided]


class Book:
    """The gradebook of a course. Only one process at a time may grade into it.

    An empty database gets its tables. A ValueError says why the database at `url` (see
    `database_url`) cannot be reached, or that it is not a gradebook of this version of nbgrader.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     with Book(f"sqlite:///{out}/gradebook.db") as book:
    ...         book.digests("problem_set_1")
    {}
    """

    def __init__(self, url: str) -> None:
        self._gradebook = open_database(database_url(url))
        self._prepared: dict[str, _Prepared] = {}

    def __enter__(self) -> Self:
        """Return the open gradebook."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the connections back."""
        self._gradebook.close()

    def prepare(self, problem_set: ProblemSet) -> int:
        """Store a problem set as nbgrader does when it generates an assignment.

        What is stored already is updated. Where questions were added or taken away, or give other
        points, marks that were made for the old ones are taken away too: those submissions are
        ``needs-review`` until they are graded again. The result counts the submissions that lost
        their marks that way. Hidden checks stay out of the database.
        """
        self._prepared.pop(problem_set.name, None)
        with writing(self._engine) as connection, Session(connection) as session:
            notebook_id = _store_notebook(session, problem_set)
            stored: dict[_Key, Any] = {
                (kind, cell.name): cell
                for kind in (nb.GradeCell, nb.SolutionCell, nb.SourceCell)
                for cell in session.scalars(select(kind).where(kind.notebook_id == notebook_id))
            }
            wanted = _wanted_cells(problem_set.released.cells)
            before = {(*key, getattr(cell, "max_score", 0.0)) for key, cell in stored.items()}
            after = {(*key, values.get("max_score", 0.0)) for key, values in wanted.items()}
            outdated = 0
            # a source cell gives no points
            if stored and any(kind is not nb.SourceCell for kind, *_ in before ^ after):
                outdated = _outdate(connection, problem_set.name)
            _store_cells(session, notebook_id, stored, wanted)
            decisions.note_checks(connection, problem_set)
        return outdated

    def record(self, result: Result, run: str) -> list[Dropped]:
        """Write down what became of one submission: see `record_many`."""
        return self.record_many([result], run)

    def record_many(self, results: Sequence[Result], run: str) -> list[Dropped]:
        """Write down what became of some submissions, all of them or none.

        All earlier marks of these students for this problem set are taken away first. What a
        person entered for a question stays if the answer and its points are unchanged
        (`Result.answers`); otherwise it is kept aside and comes back with the same answer.
        All results are of one problem set, one for each student; some hundreds are quickest. They
        were made in one `run` of the grader: see `secret`. The result lists the marks by hand that
        no longer hold. If the problem set is not prepared or a result does not fit it, a ValueError
        is raised and nothing written.
        """
        if not results:
            return []
        assignment = results[0].assignment
        with writing(self._engine) as connection:
            prepared = self._cells(connection, assignment)
            for result in results:
                _check(result, assignment, prepared)
            students = [result.student.student_id for result in results]
            if len(set(students)) < len(students):
                raise ValueError("results must be of different students; got one twice")
            _store_students(connection, [result.student for result in results])
            entered = _withdraw(connection, assignment, students)
            entered = decisions.latest(connection, assignment, students) | entered
            graded = [result for result in results if result.status == "graded"]
            kept = decisions.kept(connection, assignment, graded)
            _store_marks(connection, prepared, graded, kept)
            _store_results(connection, results, run)
        return [
            Dropped(*key, (hand.points or 0.0) + (hand.extra or 0.0))
            for key, hand in sorted(entered.items())
            if hand.counts and key not in kept
        ]

    def secret(self, assignment: str, run: str) -> int:
        """Return the secret of a run, from which hidden checks draw their inputs.

        These are 128 random bits, made when the run is first asked for and kept in the database, so
        that every mark can be computed again. Each run has its own, also one that continues
        another.
        """
        with writing(self._engine) as connection:
            chosen = (RUNS.c.assignment == assignment) & (RUNS.c.run == run)
            stored = connection.scalar(select(RUNS.c.secret).where(chosen))
            if stored is None:
                stored = secrets.token_hex(16)
                row = {"assignment": assignment, "run": run, "secret": stored}
                connection.execute(insert(RUNS), row | {"started": datetime.now(UTC)})
        return int(stored, 16)

    def secret_of(self, assignment: str, student_id: str, question: str = "") -> int:
        """Return the secret with which a submission was graded, or one question if it was later.

        Raises ValueError if nothing is recorded for that student, or its run never asked for a
        secret.
        """
        here = (RESULTS.c.assignment == assignment) & (RESULTS.c.student_id == student_id)
        query = select(RESULTS.c.run, RESULTS.c.marks).where(here)
        with self._engine.connect() as connection:
            run, marks = connection.execute(query).one_or_none() or ("", [])
            named = [mark.get("run") for mark in marks if mark["question"] == question]
            made_by = RUNS.c.run == (next(filter(None, named), run))
            secret = select(RUNS.c.secret).where(RUNS.c.assignment == assignment, made_by)
            stored = connection.scalar(secret)
        if stored is None:
            raise ValueError(f"no secret is known for {student_id!r} and {assignment!r}")
        return int(stored, 16)

    def digests(self, assignment: str) -> dict[str, str]:
        """Return the digest of each submission whose result is final, by student.

        Those are graded or invalid; the same digest again need not be graded again.
        """
        query = select(RESULTS.c.student_id, RESULTS.c.digest).where(
            RESULTS.c.assignment == assignment,
            RESULTS.c.status.in_(FINAL),
            RESULTS.c.digest != "",
        )
        with self._engine.connect() as connection:
            return dict(connection.execute(query).all())

    def checked(self, assignment: str, student_id: str) -> dict[str, Mark]:
        """Return what a graded submission earned by the checks, whatever people entered.

        It is by question, and empty where nothing is graded.
        """
        query = select(RESULTS).where(
            RESULTS.c.assignment == assignment,
            RESULTS.c.student_id == student_id,
            RESULTS.c.status == "graded",
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
            if row is None:
                return {}
            found = _of_students(connection, assignment, [student_id], GRADE, GRADE.c.auto_score)
            points = {cell.removesuffix(CHECK): checked for _, cell, checked in found}
        marks = (_mark(mark, points[mark["question"]]) for mark in row.marks)
        return {mark.question: replace(mark, run=mark.run or row.run) for mark in marks}

    def about(self, student_id: str) -> list[Result]:
        """Return what is recorded of a student, by problem set, without marks."""
        query = select(RESULTS).where(RESULTS.c.student_id == student_id)
        with self._engine.connect() as connection:
            rows = connection.execute(query.order_by(RESULTS.c.assignment)).all()
        return [_result(row, {}, {}) for row in rows]

    def waiting(self, assignment: str) -> dict[str, str]:
        """Return of whom something came that has no points, by student, with the message."""
        query = select(RESULTS.c.student_id, RESULTS.c.message).where(
            RESULTS.c.assignment == assignment, RESULTS.c.status.in_(("needs-review", "invalid"))
        )
        with self._engine.connect() as connection:
            return dict(connection.execute(query).all())

    def remove(self, student_id: str) -> None:
        """Forget a student, and all that people decided about this student's work."""
        known = self.about(student_id)
        with writing(self._engine) as connection:
            for result in known:
                _withdraw(connection, result.assignment, [student_id])
            people.forget(connection, student_id)

    def merge(self, old: str, new: Student, assignment: str = "") -> None:
        """Let what is known of one student be another's, of one problem set or of all.

        Where the other one has marks these stay; what people decided about the same answers goes
        along, where nobody has decided yet.
        """
        known = [each for each in self.about(old) if assignment in ("", each.assignment)]
        before = {each.assignment: each.status for each in self.about(new.student_id)}
        with writing(self._engine) as connection:
            _store_students(connection, [new])
            for result in known:
                loser = old if before.get(result.assignment) == "graded" else new.student_id
                _withdraw(connection, result.assignment, [loser])
                for table in (RESULTS, RECEIPTS):
                    here = table.c.assignment == result.assignment
                    connection.execute(delete(table).where(here, table.c.student_id == loser))
                people.hand_over(connection, result.assignment, old, new.student_id)
            people.forget_empty(connection, old)
            people.apply_decisions(connection, new.student_id)

    def accept(self, assignment: str, student_id: str, content: str) -> None:
        """Remember that a notebook is this student's, whatever it says: see `decisions`."""
        with writing(self._engine) as connection:
            decisions.accept(connection, assignment, student_id, content)

    def accepted(self, assignment: str) -> set[tuple[str, str]]:
        """Return students and the digests of notebooks that are known to be theirs."""
        with self._engine.connect() as connection:
            return decisions.accepted(connection, assignment)

    def results(self, assignment: str) -> Iterator[Result]:
        """Return what is recorded, by student, with the marks entered by hand meanwhile.

        Comments entered there are in them; notebooks and feedback are not. Some hundreds are read
        at a time, and nothing is locked in between: formgrader and `record` may write meanwhile.
        """
        last = ""
        while page := self._page(assignment, last):
            yield from page
            last = page[-1].student.student_id

    def count(self, assignment: str) -> int:
        """Return of how many students something is recorded."""
        query = select(func.count()).where(RESULTS.c.assignment == assignment)
        with self._engine.connect() as connection:
            return connection.scalar(query) or 0

    def receive(self, came: Iterable[Receipt]) -> list[Receipt]:
        """Write down when notebooks came: see `receipts.write`."""
        with writing(self._engine) as connection:
            return receipts.write(connection, came)

    def receipts(self, assignment: str) -> dict[str, Receipt]:
        """Return when the notebooks of a problem set came, by student."""
        with self._engine.connect() as connection:
            return receipts.read(connection, assignment)

    @property
    def _engine(self) -> Engine:
        """Return nbgrader's connection to the database."""
        return self._gradebook.engine

    def _cells(self, connection: Connection, assignment: str) -> _Prepared:
        """Return what nbgrader's tables call the cells of a problem set."""
        if assignment not in self._prepared:
            self._prepared[assignment] = _read_cells(connection, assignment)
        return self._prepared[assignment]

    def _page(self, assignment: str, last: str) -> list[Result]:
        """Return the results of the students that come after one."""
        query = (
            select(RESULTS)
            .where(RESULTS.c.assignment == assignment, RESULTS.c.student_id > last)
            .order_by(RESULTS.c.student_id)
            .limit(PAGE)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
            students = [row.student_id for row in rows]
            points = _points(connection, assignment, students)
            # what people wrote to the students in formgrader
            comments = {
                (student, cell): comment
                for student, cell, comment in _of_students(
                    connection, assignment, students, COMMENT, COMMENT.c.manual_comment
                )
            }
        return [_result(row, points, comments) for row in rows]


def write_autograded(out: Path, result: Result) -> Path:
    """Write a notebook as it ran to where formgrader looks for it, or take away an older one.

    Its place is that of `autograded.place`. Raises ValueError if the problem set has a name that
    cannot be a folder's.
    """
    assignment = _folder_name("assignment", result.assignment)
    path = autograded.place(out, result.student.student_id, assignment)
    if result.status == "graded" and result.notebook:
        write_private(path, result.notebook)
    else:
        path.unlink(missing_ok=True)
    return path


def _folder_name(what: str, name: str) -> str:
    """Return a name if it names one folder, here and now."""
    length = len(name.encode("utf-8", "replace"))
    steers = any(each in "/\\" or not each.isprintable() for each in name)
    if name in ("", ".", "..") or steers or length > 200:
        raise ValueError(f"{what} must be usable as the name of a folder; got {name!r}")
    return name


def _store_notebook(session: Session, problem_set: ProblemSet) -> str:
    """Store the assignment and its one notebook; return nbgrader's id of the notebook."""
    name = problem_set.name
    assignment = session.scalar(select(nb.Assignment).where(nb.Assignment.name == name))
    if assignment is None:
        assignment = nb.Assignment(name, course_id=COURSE)
        session.add(assignment)
        session.flush()
    same = (nb.Notebook.assignment_id == assignment.id) & (nb.Notebook.name == name)
    notebook = session.scalar(select(nb.Notebook).where(same))
    if notebook is None:
        notebook = nb.Notebook(name=name, assignment_id=assignment.id)
        session.add(notebook)
    notebook.kernelspec = json.dumps(problem_set.released.metadata.get("kernelspec", {}))
    session.flush()
    return notebook.id


def _wanted_cells(cells: Iterable[NotebookNode]) -> dict[_Key, dict[str, Any]]:
    """Return what nbgrader stores of the cells of a notebook, by kind and name."""
    wanted: dict[_Key, dict[str, Any]] = {}
    for cell in cells:
        marks = cell.metadata.get("nbgrader", {})
        grade, solution = utils.is_grade(cell), utils.is_solution(cell)
        if grade:
            points = {"max_score": float(marks["points"]), "cell_type": cell.cell_type}
            wanted[nb.GradeCell, marks["grade_id"]] = points
        if solution:
            wanted[nb.SolutionCell, marks["grade_id"]] = {}
        if grade or solution or utils.is_locked(cell):
            wanted[nb.SourceCell, marks["grade_id"]] = {
                "cell_type": cell.cell_type,
                "locked": utils.is_locked(cell),
                "source": cell.source,
                "checksum": marks.get("checksum"),
            }
    return wanted


def _store_cells(
    session: Session,
    notebook_id: str,
    stored: dict[_Key, Any],
    wanted: dict[_Key, dict[str, Any]],
) -> None:
    """Make the cells that nbgrader has those that it should have."""
    for key in stored.keys() - wanted.keys():
        session.delete(stored[key])
    for key, values in wanted.items():
        kind, name = key
        cell = stored.get(key) or kind(name=name, notebook_id=notebook_id)
        for column, value in values.items():
            setattr(cell, column, value)
        session.add(cell)
    session.flush()


def _outdate(connection: Connection, assignment: str) -> int:
    """Take all marks of a problem set away; return how many submissions lost theirs."""
    _withdraw(connection, assignment, None)
    graded = (RESULTS.c.assignment == assignment) & (RESULTS.c.status == "graded")
    changed = update(RESULTS).where(graded)
    values = {"status": "needs-review", "message": CHANGED, "digest": ""}
    return connection.execute(changed.values(values)).rowcount


def _read_cells(connection: Connection, assignment: str) -> _Prepared:
    """Return what nbgrader's tables call the cells of a problem set."""
    found = connection.execute(
        select(ASSIGNMENT.c.id.label("assignment_id"), NOTEBOOK.c.id.label("notebook_id"))
        .join(NOTEBOOK, NOTEBOOK.c.assignment_id == ASSIGNMENT.c.id)
        .where(ASSIGNMENT.c.name == assignment, NOTEBOOK.c.name == assignment)
    ).one_or_none()
    if found is None:
        raise ValueError(f"the problem set {assignment!r} is not in the gradebook: prepare it")
    here = CELL.c.notebook_id == found.notebook_id
    graded = select(CELL.c.name, CELL.c.id, GRADE_CELL.c.max_score).join(GRADE_CELL).where(here)
    answers = select(CELL.c.name, CELL.c.id).join(SOLUTION_CELL).where(here)
    questions = {
        row.name.removesuffix(CHECK): _Question(row.id, row.max_score)
        for row in connection.execute(graded)
    }
    solutions = dict(connection.execute(answers).all())
    return _Prepared(found.assignment_id, found.notebook_id, questions, solutions)


def _check(result: Result, assignment: str, prepared: _Prepared) -> None:
    """Refuse a result that does not fit the problem set."""
    student = result.student.student_id
    if not 0 < len(student) <= NAME or _storable(student) != student:
        raise ValueError(f"student_id must have 1 to {NAME} plain characters; got {student!r}")
    if result.assignment != assignment:
        raise ValueError(f"results must be of {assignment!r} only; got {result.assignment!r}")
    if result.status not in STATUSES:
        raise ValueError(f"status must be one of {STATUSES}; got {result.status!r}")
    if result.status == "graded":
        _check_marks(result, prepared)
    elif any(mark.points is not None for mark in result.marks):
        raise ValueError(f"only a graded submission has points; that of {student!r} is not")


def _check_marks(result: Result, prepared: _Prepared) -> None:
    """Refuse marks that are not one for each question, within its points."""
    maxima = {mark.question: mark.maximum for mark in result.marks}
    wanted = {name: question.maximum for name, question in prepared.questions.items()}
    if maxima != wanted or len(result.marks) != len(wanted):
        raise ValueError(f"marks must be for the questions and points {wanted}; got {maxima}")
    for mark in result.marks:
        if mark.points is not None and not 0 <= mark.points <= mark.maximum:
            raise ValueError(
                f"points of {mark.question} must be from 0 to {mark.maximum}; got {mark.points}"
            )


def _storable(value: str, length: int | None = None) -> str:
    """Return a text without what a database cannot hold, and no longer than it has room for."""
    return value.encode("utf-8", "replace").decode().replace("\0", "?")[:length]


def _store_students(connection: Connection, students: Iterable[Student]) -> None:
    """Store who submitted; an email address that was entered in formgrader stays."""
    rows = [
        {"id": student.student_id, "lms_user_id": _storable(student.lms_id, NAME) or None}
        | dict(zip(("first_name", "last_name"), _names(student.name), strict=True))
        for student in students
    ]
    added = INSERT[connection.dialect.name](STUDENT)
    columns = {name: added.excluded[name] for name in rows[0] if name != "id"}
    connection.execute(added.on_conflict_do_update(index_elements=["id"], set_=columns), rows)


def _names(name: str) -> tuple[str, str]:
    """Return the first and the last name as formgrader wants them; it shows nothing without both.

    They are a guess, and nothing but formgrader uses them.
    """
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.rpartition(" ")
    return _storable(first.strip(), NAME), _storable(last.strip(), NAME)


def _withdraw(connection: Connection, assignment: str, students: list[str] | None) -> Decisions:
    """Take the marks of some students, or of all, away; return what was entered by hand."""
    found = (
        select(SUBMISSION.c.id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .where(ASSIGNMENT.c.name == assignment)
    )
    if students is not None:
        found = found.where(SUBMISSION.c.student_id.in_(students))
    if connection.execute(found.limit(1)).first() is None:
        return {}
    entered = decisions.entered(connection, found)
    decisions.put_aside(connection, assignment, students, entered)
    notebooks = select(SUBMITTED.c.id).where(SUBMITTED.c.assignment_id.in_(found))
    connection.execute(delete(GRADE).where(GRADE.c.notebook_id.in_(notebooks)))
    connection.execute(delete(COMMENT).where(COMMENT.c.notebook_id.in_(notebooks)))
    connection.execute(delete(SUBMITTED).where(SUBMITTED.c.assignment_id.in_(found)))
    connection.execute(delete(SUBMISSION).where(SUBMISSION.c.id.in_(found)))
    return entered


def _store_marks(
    connection: Connection, prepared: _Prepared, graded: Sequence[Result], kept: Decisions
) -> None:
    """Write nbgrader's rows for submissions that have none."""
    rows: dict[Any, list[dict[str, Any]]] = {
        table: [] for table in (SUBMISSION, SUBMITTED, GRADE, COMMENT)
    }
    for result in graded:
        student = result.student.student_id
        submission, notebook = nb.new_uuid(), nb.new_uuid()
        rows[SUBMISSION].append(
            {"id": submission, "assignment_id": prepared.assignment_id, "student_id": student}
        )
        rows[SUBMITTED].append(
            {
                "id": notebook,
                "assignment_id": submission,
                "notebook_id": prepared.notebook_id,
                "flagged": False,
            }
        )
        for mark in result.marks:
            hand = kept.get((student, mark.question), Decision())
            grade = _grade(mark, prepared.questions[mark.question].cell_id, hand)
            rows[GRADE].append(grade | {"notebook_id": notebook})
        messages = {mark.question: mark.message for mark in result.marks}
        for name, cell in prepared.solutions.items():
            rows[COMMENT].append(
                {
                    "id": nb.new_uuid(),
                    "cell_id": cell,
                    "notebook_id": notebook,
                    "auto_comment": _storable(messages.get(name, "")) or None,
                    "manual_comment": kept.get((student, name), Decision()).comment,
                }
            )
    for table, new in rows.items():
        if new:
            connection.execute(insert(table), new)


def _grade(mark: Mark, cell_id: str, hand: Decision) -> dict[str, Any]:
    """Return nbgrader's row for one question, without its notebook."""
    points = None if mark.points is None else float(mark.points)
    return {
        "id": nb.new_uuid(),
        "cell_id": cell_id,
        "auto_score": points,
        "manual_score": hand.points,
        "extra_credit": hand.extra,
        "needs_manual_grade": hand.before or (points is None and hand.points is None),
    }


def _store_results(connection: Connection, results: Sequence[Result], run: str) -> None:
    """Write the grader's own rows in place of those of the same students."""
    assignment = results[0].assignment
    students = [result.student.student_id for result in results]
    same = (RESULTS.c.assignment == assignment) & RESULTS.c.student_id.in_(students)
    connection.execute(delete(RESULTS).where(same))
    connection.execute(insert(RESULTS), [_row(result, run) for result in results])


def _row(result: Result, run: str) -> dict[str, Any]:
    """Return the grader's own row for a result."""
    answers = result.answers if result.status == "graded" else {}
    return {
        "assignment": result.assignment,
        "student_id": result.student.student_id,
        "name": _storable(result.student.name),
        "lms_id": _storable(result.student.lms_id),
        "status": result.status,
        "message": _storable(result.message),
        "digest": result.digest,
        "run": run,
        "cpu_seconds": float(result.cpu_seconds),
        "marks": [
            {
                "question": mark.question,
                "maximum": float(mark.maximum),
                "message": _storable(mark.message),
                "paragraph": answers.get(mark.question, ""),
                "check": mark.check,
                "grader": mark.grader,
                "run": mark.run,
            }
            for mark in result.marks
        ],
    }


def _of_students(
    connection: Connection, assignment: str, students: list[str], table: Any, *columns: Any
) -> Iterable[Row[Any]]:
    """Return columns of nbgrader's grades or comments for some students of a problem set."""
    return connection.execute(
        decisions.of_cells(table, *columns)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .where(ASSIGNMENT.c.name == assignment, SUBMISSION.c.student_id.in_(students))
    )


def _points(connection: Connection, assignment: str, students: list[str]) -> _Points:
    """Return what each question earned, by student and question."""
    columns = (
        GRADE.c.auto_score,
        GRADE.c.manual_score,
        GRADE.c.extra_credit,
        GRADE.c.needs_manual_grade,
    )
    points: _Points = {}
    for student, cell, checked, by_hand, extra, needs_look in _of_students(
        connection, assignment, students, GRADE, *columns
    ):
        decided = checked if by_hand is None else by_hand
        points[student, cell.removesuffix(CHECK)] = _Decided(
            None if decided is None else decided + (extra or 0.0),
            by_hand is not None or extra is not None,
            decisions.is_before(needs_look, checked, by_hand),
        )
    return points


def _mark(recorded: dict[str, Any], points: float | None) -> Mark:
    """Return a mark as it is recorded; an older grader did not say how it was made."""
    made_by = {name: recorded.get(name, "") for name in ("check", "grader", "run")}
    names = ("question", "maximum", "message")
    return Mark(points=points, **{name: recorded[name] for name in names}, **made_by)


def _result(row: Row[Any], points: _Points, comments: dict[tuple[str, str], str | None]) -> Result:
    """Return a result as it is recorded; what a person wrote replaces what a check said."""
    marks = []
    for recorded in row.marks:
        key = row.student_id, recorded["question"]
        decided = points.get(key, _Decided())
        mark = _mark(recorded, decided.points)
        comment = comments.get(key)
        by_person = decided.by_person or bool(comment)
        mark = replace(mark, run="", by_person=by_person, before=decided.before)
        marks.append(replace(mark, message=comment or mark.message))
    return Result(
        Student(row.student_id, row.lms_id, row.name),
        row.assignment,
        row.status,
        row.message,
        tuple(marks),
        row.digest,
        cpu_seconds=row.cpu_seconds,
        answers={mark["question"]: mark["paragraph"] for mark in row.marks if mark["paragraph"]},
    )
