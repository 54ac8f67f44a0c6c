"""The gradebook holds what was decided, on SQLite and on PostgreSQL, and nothing else."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import nbgrader.api as nb
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from grading import problem_set
from grading.gradebook import book as gradebook
from grading.gradebook import by_hand as pages
from grading.gradebook.book import CHANGED, Book, Dropped, write_autograded
from grading.gradebook.database import PATIENCE, database_url
from grading.gradebook.formgrader import write_course
from grading.problem_set import ProblemSet
from grading.results import Mark, Result, Student
from tests.grading.postgres import empty_database, programs, server
from tests.grading.small_class import enter_mark

ADA = Student("s1", "17", "Ada Example")
BOB = Student("s2", "18", "Example, Bob")
NAME = "set_1"
HIDDEN = """\
### BEGIN HIDDEN TESTS
def answer():
    return {"q1": q1}


def judge(given, student_id, asked):
    pass
### END HIDDEN TESTS
"""


def metadata(name: str, **marks: object) -> dict[str, object]:
    usual = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {"grade_id": name, "schema_version": 3, **usual, **marks}}


def write_source(folder: Path, questions: dict[str, float], paragraph: float = 4.0) -> Path:
    """Write a source notebook with some checked questions, and q9, a paragraph."""
    cells = [new_markdown_cell("# Rules")]
    cells.append(new_code_cell("x = 1", metadata=metadata("numbers", locked=True)))
    for name, points in questions.items():
        stub = f"{name} = None\n### BEGIN SOLUTION\n{name} = 2\n### END SOLUTION"
        cells.append(new_code_cell(stub, metadata=metadata(name, solution=True)))
        check = metadata(f"{name}_check", grade=True, locked=True, points=points)
        cells.append(new_code_cell(f"assert {name}\n{HIDDEN}", metadata=check))
    cells.append(
        new_markdown_cell("", metadata=metadata("q9", grade=True, solution=True, points=paragraph))
    )
    path = folder / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


ON_POSTGRESQL = pytest.mark.proof("postgres")


@pytest.fixture
def the_set(tmp_path: Path) -> ProblemSet:
    return problem_set.read(write_source(tmp_path, {"q1": 2, "q2": 3}))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with server() as folder:
        yield folder


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=ON_POSTGRESQL)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/gradebook.db"
    return empty_database(request.getfixturevalue("postgres"))


@pytest.fixture
def book(url: str, the_set: ProblemSet) -> Iterator[Book]:
    with Book(url) as opened:
        opened.prepare(the_set)
        yield opened


def graded(
    student: Student = ADA,
    points: tuple[float | None, ...] = (2.0, 1.5, None),
    paragraph: str = "a",
    **changes: object,
) -> Result:
    """Return the result of a submission that was graded."""
    maxima = {"q1": 2.0, "q2": 3.0, "q9": 4.0}
    marks = tuple(
        Mark(name, got, most, f"about {name}")
        for (name, most), got in zip(maxima.items(), points, strict=True)
    )
    result = Result(student, NAME, "graded", "", marks, "d1", answers={"q9": paragraph})
    return replace(result, **changes)


def emptied(result: Result, status: str) -> Result:
    """Return the same without points, in another state."""
    marks = tuple(replace(mark, points=None) for mark in result.marks)
    return replace(result, status=status, marks=marks)


def points_of(book: Book) -> dict[str, list[float | None]]:
    return {
        result.student.student_id: [mark.points for mark in result.marks]
        for result in book.results(NAME)
    }


def by_hand(
    url: str, points: float | None, student: str = "s1", question: str = "q9", comment: str = ""
) -> None:
    enter_mark(url, student, question, points, comment, name=NAME)


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    """Return what a query finds, past everything that is tested here."""
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


def counts(url: str) -> dict[str, int]:
    """Return how many rows nbgrader has of what belongs to submissions."""
    tables = ("submitted_assignment", "submitted_notebook", "grade", "comment")
    return {table: int(str(rows(url, f"SELECT count(*) FROM {table}")[0][0])) for table in tables}  # noqa: S608


NOTHING = dict.fromkeys(("submitted_assignment", "submitted_notebook", "grade", "comment"), 0)


def test_what_is_recorded_comes_back_by_student(book: Book) -> None:
    first, second = graded(BOB, (0, 3, 0), message="all said"), graded(cpu_seconds=0.5)
    assert book.record_many([first, second], "run") == []
    assert list(book.results(NAME)) == [second, first]
    assert book.digests(NAME) == {"s1": "d1", "s2": "d1"}


def test_results_come_in_the_order_of_python_however_many_pages_they_fill(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradebook, "PAGE", 2)
    names = ["b", "B", "ä", "a", "_", "10", "9"]
    book.record_many([graded(Student(name, "", "")) for name in names], "run")
    found = [result.student.student_id for result in book.results(NAME)]
    assert found == sorted(names)


@ON_POSTGRESQL
def test_the_order_does_not_depend_on_the_language_of_the_database(postgres: str) -> None:
    address = empty_database(postgres)
    with Book(address):
        pass
    columns = "SELECT collation_name FROM information_schema.columns"
    chosen = "table_name LIKE 'grading%' AND column_name = 'student_id'"
    assert rows(address, f"{columns} WHERE {chosen}") == [("C",)] * 4


def test_results_can_be_recorded_while_results_are_read(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradebook, "PAGE", 1)
    book.record_many([graded(), graded(BOB)], "run")
    for result in book.results(NAME):
        book.record(replace(result, message="seen"), "again")
    assert [result.message for result in book.results(NAME)] == ["seen", "seen"]


def test_nothing_is_recorded_of_nobody(book: Book) -> None:
    assert book.record_many([], "run") == []
    assert list(book.results(NAME)) == []


@pytest.mark.parametrize("status", ["needs-review", "invalid", "missing"])
def test_a_status_without_points_leaves_none_behind(book: Book, url: str, status: str) -> None:
    book.record(graded(), "first")
    book.record(emptied(graded(message="why", digest="d2"), status), "second")
    assert counts(url) == NOTHING
    (result,) = book.results(NAME)
    assert (result.status, result.message, result.total) == (status, "why", None)
    assert book.digests(NAME) == ({"s1": "d2"} if status == "invalid" else {})


def test_a_new_grading_replaces_every_mark_of_that_student_alone(book: Book, url: str) -> None:
    book.record_many([graded(), graded(BOB)], "first")
    before = counts(url)
    book.record(graded(points=(0, 0, None)), "second")
    assert points_of(book) == {"s1": [0, 0, None], "s2": [2, 1.5, None]}
    assert counts(url) == before


def test_another_problem_set_of_the_same_student_keeps_its_marks(
    book: Book, the_set: ProblemSet
) -> None:
    book.prepare(replace(the_set, name="set_2"))
    book.record(graded(assignment="set_2"), "run")
    book.record(graded(), "run")
    book.record(emptied(graded(), "needs-review"), "run")
    assert [result.total for result in book.results("set_2")] == [3.5]


def test_a_mark_by_hand_shows_up(book: Book, url: str) -> None:
    book.record_many([graded(), graded(BOB)], "run")
    by_hand(url, 3.5)
    assert points_of(book) == {"s1": [2, 1.5, 3.5], "s2": [2, 1.5, None]}


def test_extra_credit_counts(book: Book, url: str) -> None:
    book.record(graded(), "run")
    with nb.Gradebook(str(database_url(url))) as formgrader:
        formgrader.find_grade("q1_check", NAME, NAME, "s1").extra_credit = 0.25
        formgrader.db.commit()
    assert points_of(book) == {"s1": [2.25, 1.5, None]}


def test_a_mark_by_hand_outlives_a_new_grading_of_the_same_paragraph(book: Book, url: str) -> None:
    book.record(graded(), "first")
    by_hand(url, 3.0, comment="well put")
    assert book.record(graded(points=(0, 0, None)), "second") == []
    assert points_of(book) == {"s1": [0, 0, 3]}
    with nb.Gradebook(str(database_url(url))) as formgrader:
        assert formgrader.find_comment("q9", NAME, NAME, "s1").manual_comment == "well put"
        assert not formgrader.find_grade("q9", NAME, NAME, "s1").needs_manual_grade


def test_a_mark_by_hand_goes_with_its_paragraph_and_comes_back_with_it(
    book: Book, url: str
) -> None:
    book.record(graded(), "first")
    by_hand(url, 3.0)
    assert book.record(graded(paragraph="b"), "second") == [Dropped("s1", "q9", 3.0)]
    assert points_of(book) == {"s1": [2, 1.5, None]}
    with nb.Gradebook(str(database_url(url))) as formgrader:
        assert formgrader.find_grade("q9", NAME, NAME, "s1").needs_manual_grade
    assert book.record(graded(), "third") == []
    assert points_of(book) == {"s1": [2, 1.5, 3]}


def test_a_mark_by_hand_survives_a_grading_that_failed(book: Book, url: str) -> None:
    book.record_many([graded(), graded(BOB)], "first")
    by_hand(url, 3.0)
    failed = emptied(graded(), "needs-review")
    assert book.record_many([failed, graded(BOB)], "second") == [Dropped("s1", "q9", 3.0)]
    assert points_of(book)["s1"] == [None, None, None]
    assert book.record_many([failed, graded(BOB)], "third") == []
    book.record(graded(), "fourth")
    assert points_of(book)["s1"] == [2, 1.5, 3]


def test_a_mark_by_hand_that_was_taken_back_stays_away(book: Book, url: str) -> None:
    book.record(graded(), "first")
    by_hand(url, 3.0)
    book.record(graded(), "second")
    by_hand(url, None)
    book.record(graded(), "third")
    assert points_of(book) == {"s1": [2, 1.5, None]}


def test_a_mark_by_hand_without_a_paragraph_to_compare_is_dropped(book: Book, url: str) -> None:
    book.record(graded(answers={}), "first")
    by_hand(url, 3.0)
    assert book.record(graded(answers={}), "second") == [Dropped("s1", "q9", 3.0)]
    assert points_of(book) == {"s1": [2, 1.5, None]}


def test_a_mark_by_hand_for_a_checked_question_is_dropped(book: Book, url: str) -> None:
    book.record(graded(), "first")
    by_hand(url, 0.5, question="q1")
    assert points_of(book) == {"s1": [0.5, 1.5, None]}
    assert book.record(graded(), "second") == [Dropped("s1", "q1", 0.5)]
    assert points_of(book) == {"s1": [2, 1.5, None]}


def test_nobody_elses_mark_by_hand_is_taken(book: Book, url: str) -> None:
    book.record_many([graded(), graded(BOB)], "first")
    by_hand(url, 3.0)
    book.record_many([graded(), graded(BOB)], "second")
    assert points_of(book) == {"s1": [2, 1.5, 3], "s2": [2, 1.5, None]}


def test_formgrader_finds_the_students_the_points_and_what_waits(book: Book, url: str) -> None:
    book.record_many([graded(), graded(BOB)], "run")
    with nb.Gradebook(str(database_url(url))) as formgrader:
        student = formgrader.find_student("s2")
        assert (student.first_name, student.last_name, student.lms_user_id) == (
            "Bob",
            "Example",
            "18",
        )
        assert formgrader.find_student("s1").last_name == "Example"
        submission = formgrader.find_submission(NAME, "s1")
        assert (submission.score, submission.max_score) == (3.5, 9)
        assert submission.needs_manual_grade
        assert formgrader.find_comment("q1", NAME, NAME, "s1").auto_comment == "about q1"
        assert formgrader.find_grade("q2_check", NAME, NAME, "s1").failed_tests


def test_an_email_address_from_formgrader_stays_and_a_name_follows_the_roster(
    book: Book, url: str
) -> None:
    book.record(graded(), "run")
    with nb.Gradebook(str(database_url(url))) as formgrader:
        formgrader.update_or_create_student("s1", email="ada@example.org")
    book.record(graded(Student("s1", "", "Ada Other")), "run")
    columns = "SELECT first_name, last_name, email, lms_user_id FROM student"
    assert rows(url, columns) == [("Ada", "Other", "ada@example.org", None)]


def test_text_that_no_database_holds_is_mended(book: Book) -> None:
    student = Student("s1", "1\0", "A\ud800da" + "a" * 200)
    book.record(graded(student, message="a\0b\ud800"), "run")
    (result,) = book.results(NAME)
    assert (result.message, result.student.lms_id) == ("a?b?", "1?")
    assert result.student.name.startswith("A?da")


BAD = {
    "no id": (graded(Student("", "", "")), "student_id"),
    "long id": (graded(Student("s" * 129, "", "")), "student_id"),
    "NUL": (graded(Student("s\0", "", "")), "student_id"),
    "surrogate": (graded(Student("s\ud800", "", "")), "student_id"),
    "other set": (graded(BOB, assignment="set_2"), "set_2"),
    "status": (graded(BOB, status="fine"), "fine"),
    "question": (graded(BOB, marks=graded().marks[:2]), "q9"),
    "twice": (graded(BOB, marks=graded().marks + graded().marks[:1]), "marks"),
    "maximum": (graded(BOB, marks=(replace(graded().marks[0], maximum=5.0),)), "5.0"),
    "too many": (graded(BOB, (2.5, 0, 0)), "q1"),
    "negative": (graded(BOB, (0, -1, 0)), "q2"),
    "NaN": (graded(BOB, (0, float("nan"), 0)), "q2"),
    "points all the same": (graded(BOB, status="invalid"), "only a graded"),
    "same student": (graded(), "twice"),
}


def test_a_result_that_does_not_fit_is_refused_and_nothing_is_written(book: Book, url: str) -> None:
    for bad, names in BAD.values():
        with pytest.raises(ValueError, match=names):
            book.record_many([graded(), bad], "run")
    assert list(book.results(NAME)) == []
    assert counts(url) == NOTHING


def test_a_problem_set_has_to_be_prepared(url: str) -> None:
    with Book(url) as empty, pytest.raises(ValueError, match=NAME):
        empty.record(graded(), "run")


def cells_of(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Return what nbgrader has of the cells, without its ids and without hidden checks."""
    graded_cells = "name, max_score, cell_type FROM base_cell JOIN grade_cells USING (id)"
    sources = rows(url, "SELECT name, cell_type, locked, source FROM source_cell")
    return {
        "grade": sorted(rows(url, f"SELECT {graded_cells}")),
        "solution": sorted(rows(url, "SELECT name FROM base_cell JOIN solution_cells USING (id)")),
        "source": sorted(
            (name, kind, bool(locked), str(source).replace(HIDDEN, "").strip())
            for name, kind, locked, source in sources
        ),
    }


@pytest.mark.usefixtures("book")
def test_a_problem_set_is_stored_as_nbgrader_stores_it(url: str, tmp_path: Path) -> None:
    its_own = f"sqlite:///{tmp_path}/own.db"
    with Book(its_own):
        pass
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.db_url = its_own
    config.CourseDirectory.assignment_id = NAME
    config.ClearSolutions.code_stub = {"python": problem_set.CODE_STUB}
    config.ClearSolutions.text_stub = problem_set.TEXT_STUB
    GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
    ours, theirs = cells_of(url), cells_of(its_own)
    assert ours == theirs
    assert "HIDDEN" not in str(rows(url, "SELECT source FROM source_cell"))
    released = nbformat.read(tmp_path / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    checksums = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.checksum
        for cell in released.cells
        if "nbgrader" in cell.metadata
    }
    assert dict(rows(url, "SELECT name, checksum FROM source_cell")) == checksums


def test_preparing_again_changes_nothing(book: Book, url: str, the_set: ProblemSet) -> None:
    book.record(graded(), "run")
    everything = "SELECT id, name FROM base_cell ORDER BY id"
    before = rows(url, everything)
    assert book.prepare(the_set) == 0
    assert rows(url, everything) == before
    assert points_of(book) == {"s1": [2, 1.5, None]}


def test_a_changed_text_changes_the_stored_cell_and_no_mark(
    book: Book, url: str, tmp_path: Path
) -> None:
    book.record(graded(), "run")
    path = write_source(tmp_path, {"q1": 2, "q2": 3})
    path.write_text(path.read_text().replace("x = 1", "x = 2"))
    assert book.prepare(problem_set.read(path)) == 0
    assert rows(url, "SELECT source FROM source_cell WHERE name = 'numbers'") == [("x = 2",)]
    assert points_of(book) == {"s1": [2, 1.5, None]}


@pytest.mark.parametrize(
    ("questions", "paragraph"),
    [({"q1": 2, "q2": 1}, 4), ({"q1": 2}, 4), ({"q1": 2, "q2": 3, "q3": 1}, 4)],
    ids=["other points", "fewer questions", "more questions"],
)
def test_marks_for_other_questions_do_not_count(
    book: Book, url: str, tmp_path: Path, questions: dict[str, float], paragraph: float
) -> None:
    book.record_many([graded(), emptied(graded(BOB), "invalid")], "first")
    by_hand(url, 3.0)
    changed = problem_set.read(write_source(tmp_path, questions, paragraph))
    assert book.prepare(changed) == 1
    assert counts(url) == NOTHING
    first, second = book.results(NAME)
    assert (first.status, first.message, first.total) == ("needs-review", CHANGED, None)
    assert second.status == "invalid"
    assert book.digests(NAME) == {"s2": "d1"}
    found = {str(name) for name, *_ in cells_of(url)["grade"]}
    assert found == {f"{name}_check" for name in questions} | {"q9"}
    marks = [Mark(name, float(most), float(most)) for name, most in questions.items()]
    book.record(graded(marks=(*marks, Mark("q9", None, 4.0))), "second")
    assert points_of(book)["s1"] == [*questions.values(), 3.0]


def test_a_mark_by_hand_of_a_paragraph_with_other_points_does_not_count(
    book: Book, url: str, tmp_path: Path
) -> None:
    book.record(graded(), "first")
    by_hand(url, 3.0)
    book.prepare(problem_set.read(write_source(tmp_path, {"q1": 2, "q2": 3}, 8.0)))
    marks = (*graded().marks[:2], Mark("q9", None, 8.0))
    book.record(graded(marks=marks), "second")
    assert points_of(book) == {"s1": [2, 1.5, None]}


def test_each_run_has_a_secret_that_can_be_asked_for_again(book: Book, url: str) -> None:
    first, second = book.secret(NAME, "first"), book.secret(NAME, "second")
    assert len({first, second, book.secret("set_2", "first")}) == 3
    assert max(first, second).bit_length() > 64
    book.record(graded(), "first")
    book.record(graded(BOB), "second")
    with Book(url) as again:
        assert again.secret(NAME, "first") == first
        assert (again.secret_of(NAME, "s1"), again.secret_of(NAME, "s2")) == (first, second)
        with pytest.raises(ValueError, match="s3"):
            again.secret_of(NAME, "s3")


class Interrupted(Exception):  # noqa: N818
    """What a test raises in the middle of something."""


def interrupt(book: Book, statement: str) -> Callable[[], None]:
    """Raise `Interrupted` once a statement has been executed; return what ends that."""

    def after(_link: object, _cursor: object, executed: str, *_rest: object) -> None:
        if executed.startswith(statement):
            raise Interrupted(statement)

    event.listen(book._engine, "after_cursor_execute", after)
    return lambda: event.remove(book._engine, "after_cursor_execute", after)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM grade ",
        "DELETE FROM submitted_assignment",
        "INSERT INTO student",
        "INSERT INTO submitted_notebook",
        "INSERT INTO grade ",
        "INSERT INTO comment",
        "DELETE FROM grading_result",
        "INSERT INTO grading_result",
    ],
)
def test_an_interruption_leaves_what_was_there_before(book: Book, url: str, statement: str) -> None:
    book.record_many([graded(), graded(BOB)], "first")
    by_hand(url, 3.0)
    before, results = counts(url), list(book.results(NAME))
    restore = interrupt(book, statement)
    with pytest.raises(Interrupted):
        book.record_many([graded(points=(0, 0, 0)), graded(BOB, (0, 0, 0))], "second")
    restore()
    assert (counts(url), list(book.results(NAME))) == (before, results)
    book.record(graded(points=(0, 0, None)), "third")
    assert points_of(book) == {"s1": [0, 0, 3], "s2": [2, 1.5, None]}


def test_an_interruption_leaves_the_problem_set_that_was_prepared(
    book: Book, url: str, tmp_path: Path
) -> None:
    book.record(graded(), "run")
    before = cells_of(url)
    restore = interrupt(book, "INSERT INTO grade_cells")
    with pytest.raises(Interrupted):
        book.prepare(problem_set.read(write_source(tmp_path, {"q1": 2, "q3": 1})))
    restore()
    assert cells_of(url) == before
    assert points_of(book) == {"s1": [2, 1.5, None]}


KILLED = """
import sys
from dataclasses import replace
from sqlalchemy import event
from grading.gradebook.book import Book
from tests.grading.test_gradebook import BOB, graded

book = Book(sys.argv[1])
book.record_many([graded(points=(1, 1, None)), graded(BOB)], "second")

def after(link, cursor, executed, *rest):
    if executed.startswith("INSERT INTO comment"):
        print("writing", flush=True)
        sys.stdin.read()

event.listen(book._engine, "after_cursor_execute", after)
book.record_many([graded(points=(0, 0, 0)), graded(BOB, (0, 0, 0))], "third")
"""


def test_a_writer_that_is_killed_leaves_what_was_there_before(book: Book, url: str) -> None:
    book.record(graded(), "first")
    root = Path(gradebook.__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "writing\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    with Book(url) as again:
        assert points_of(again) == {"s1": [1, 1, None], "s2": [2, 1.5, None]}
        again.record(graded(points=(0, 0, None)), "fourth")
        assert points_of(again)["s1"] == [0, 0, None]
    assert counts(url)["grade"] == 6


def test_opening_that_is_interrupted_leaves_an_empty_database(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grading.gradebook import database as _database

    with monkeypatch.context() as patch:
        patch.setattr(_database, "INDEXED", {"nowhere": "missing"})
        with pytest.raises(ValueError, match="nowhere"):
            Book(url)
    with Book(url) as opened:
        assert opened.digests(NAME) == {}


@pytest.mark.usefixtures("book")
def test_nbgrader_takes_the_database_for_its_own(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # nbgrader asks a program that is beside Python
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    assert rows(url, "SELECT version_num FROM alembic_version") == [(nb.get_alembic_version(),)]


def test_a_foreign_database_is_refused_and_left_alone(url: str) -> None:
    engine = create_engine(database_url(url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE films (title TEXT)"))
    engine.dispose()
    with pytest.raises(ValueError, match="no gradebook; it has the table films"):
        Book(url)
    engine = create_engine(database_url(url))
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE films"))
    engine.dispose()
    with Book(url) as opened:
        assert opened.digests(NAME) == {}


@pytest.mark.usefixtures("book")
def test_a_gradebook_of_another_nbgrader_is_refused(url: str) -> None:
    engine = create_engine(database_url(url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'older'"))
    engine.dispose()
    with pytest.raises(ValueError, match="nbgrader db upgrade"):
        Book(url)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("grades", "sqlite:///<path>"),
        ("mysql://root@localhost/grades", "got mysql"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:////nowhere/at/all/grades.db", "unable to open"),
        ("postgresql://grader:hush@/grades?host=/nowhere", "cannot be opened"),
        ("postgresql+nodriver://grader:hush@/grades", "cannot be opened"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused_without_its_password(
    address: str, says: str
) -> None:
    with pytest.raises(ValueError, match=says) as error:
        Book(address)
    assert "hush" not in str(error.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("student,points\n" * 100)
    with pytest.raises(ValueError, match="not a database"):
        Book(f"sqlite:///{tmp_path}/gradebook.db")


def test_a_driver_that_was_named_is_kept() -> None:
    assert database_url("postgresql+psycopg2://u@/d").drivername == "postgresql+psycopg2"


def test_writing_waits_for_formgrader(the_set: ProblemSet, tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    with Book(f"sqlite:///{path}") as opened:
        opened.prepare(the_set)
        with opened._engine.connect() as connection:
            assert connection.scalar(text("PRAGMA busy_timeout")) == PATIENCE
        # the lock is there from the beginning, so that nothing read before it can be outdated
        other = sqlite3.connect(path, timeout=0)
        seen = []
        event.listen(
            opened._engine,
            "after_cursor_execute",
            lambda *_: seen.append(locked(other)),
        )
        opened.record(graded(), "run")
        other.close()
    assert seen
    assert all(seen)


@ON_POSTGRESQL
def test_nobody_enters_a_mark_that_is_about_to_go(postgres: str, the_set: ProblemSet) -> None:
    address = empty_database(postgres)
    seen = []

    def after(_link: object, _cursor: object, executed: str, *_rest: object) -> None:
        if executed.startswith("DELETE FROM grade "):
            for table in ("grade", "comment"):
                with pytest.raises(ValueError, match="could not obtain lock"):
                    enter(address, table)
                seen.append(table)

    with Book(address) as opened:
        opened.prepare(the_set)
        opened.record(graded(), "first")
        # deleting locks what it deletes; what was read before has to be locked already
        event.listen(opened._engine, "before_cursor_execute", after)
        opened.record(graded(), "second")
        event.remove(opened._engine, "before_cursor_execute", after)
    assert seen == ["grade", "comment"]
    enter(address, "grade")


def enter(address: str, table: str) -> None:
    """Lock the rows of a table as formgrader does when it writes; never wait for them."""
    engine = create_engine(database_url(address))
    try:
        with engine.begin() as connection:
            connection.execute(text(f"SELECT id FROM {table} FOR UPDATE NOWAIT"))  # noqa: S608
    except OperationalError as error:
        raise ValueError(str(error.orig)) from error
    finally:
        engine.dispose()


def locked(other: sqlite3.Connection) -> bool:
    """Return whether somebody else has the right to write."""
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    other.rollback()
    return False


def autograded(the_set: ProblemSet) -> str:
    """Return a notebook as it ran."""
    return nbformat.writes(the_set.released)


@pytest.fixture
def formgrader(book: Book, url: str, tmp_path: Path, the_set: ProblemSet) -> NbGraderAPI:
    """Return what formgrader's pages ask, in a course folder with two submissions."""
    out = tmp_path / "out {x}"
    settings = write_course(out, url, tmp_path / "source" / NAME / f"{NAME}.ipynb")
    results = [graded(notebook=autograded(the_set)), emptied(graded(BOB), "invalid")]
    book.record_many(results, "run")
    for result in results:
        write_autograded(out, result)
    config = Config()
    scope = {"get_config": lambda: config, "__file__": str(settings)}
    exec(compile(settings.read_text(), settings, "exec"), scope)  # noqa: S102
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def test_formgrader_works_in_the_course_folder(
    formgrader: NbGraderAPI, book: Book, tmp_path: Path
) -> None:
    (assignment,) = formgrader.get_assignments()
    assert (assignment["name"], assignment["max_score"]) == (NAME, 9)
    submission = formgrader.get_submission(NAME, "s1")
    assert submission["autograded"]
    assert submission["needs_manual_grade"]
    assert submission["score"] == 3.5
    assert not formgrader.get_submission(NAME, "s2")["autograded"]
    assert [each["student"] for each in formgrader.get_submissions(NAME)] == ["s1"]
    (notebook,) = formgrader.get_notebook_submissions(NAME, NAME)
    with formgrader.gradebook as opened:
        grades = opened.find_submission_notebook_by_id(notebook["id"]).grades
        (waiting,) = [grade for grade in grades if grade.needs_manual_grade]
        waiting.manual_score = 4
        waiting.needs_manual_grade = False
        opened.db.commit()
    assert points_of(book)["s1"] == [2, 1.5, 4]
    assert not formgrader.get_submission(NAME, "s1")["needs_manual_grade"]
    names = [student["last_name"] for student in formgrader.get_students()]
    assert names == ["Example", "Example"]
    settings = tmp_path / "out {x}" / "nbgrader_config.py"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600


def test_the_pages_for_marking_count_what_waits_and_go_on_in_one_order(
    book: Book, url: str, the_set: ProblemSet
) -> None:
    book.record_many([graded(), graded(BOB, (1.0, 3.0, None))], "run")
    book.record(emptied(graded(Student("s3", "", "Cleo Example")), "invalid"), "run")
    by_hand(url, 3.0, "s2")
    with book._engine.connect() as connection:
        assert pages._statuses(connection, NAME) == {"graded": 2, "invalid": 1}
        lines = {each.question.name: each for each in pages._lines(connection, the_set)}
        assert [(each.marked, each.waiting) for each in lines.values()] == [(2, 0), (2, 0), (1, 1)]
        means = [None if each.mean is None else float(each.mean) for each in lines.values()]
        assert means == [1.5, 2.25, 3.0]
        rows = connection.execute(pages._submissions(NAME, "q9")).all()
        assert sorted(bool(row.waits) for row in rows) == [False, True]
        assert {row.message for row in rows} == {"about q9"}
        found = {connection.execute(pages._student(row.id)).one().student_id for row in rows}
        assert found == {"s1", "s2"}
        ids = [row.id for row in rows]
        assert ids == sorted(ids)
        assert ids == list(connection.scalars(pages._submissions(NAME, "q1")))


def test_settings_with_a_password_are_for_their_owner_alone(tmp_path: Path) -> None:
    source = write_source(tmp_path, {})
    settings = write_course(tmp_path / "out", "postgresql://u:p%27w@/d", source)
    assert "'postgresql+psycopg://u:p%27w@/d'" in settings.read_text().replace('"', "'")
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    copy = tmp_path / "out" / "source" / NAME / f"{NAME}.ipynb"
    assert copy.read_text() == source.read_text()
    assert list(settings.parent.glob(".part-*")) == []


def test_a_notebook_that_was_not_graded_takes_the_older_one_away(tmp_path: Path) -> None:
    path = write_autograded(tmp_path, graded(notebook="{}"))
    assert path == tmp_path / "autograded" / "s1" / NAME / f"{NAME}.ipynb"
    assert path.read_text() == "{}"
    write_autograded(tmp_path, emptied(graded(notebook="{}"), "needs-review"))
    assert not path.exists()
    write_autograded(tmp_path, emptied(graded(), "missing"))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0", "a\n", "\ud800", "é" * 101])
def test_a_notebook_is_not_written_outside_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="assignment"):
        write_autograded(tmp_path, graded(assignment=name, notebook="{}"))
    assert list(tmp_path.rglob("*.ipynb")) == []
    # a student of such a name has a folder of a quoted one
    path = write_autograded(tmp_path, graded(Student(name, "", ""), notebook="{}"))
    assert path.parents[2] == tmp_path / "autograded"
    assert list(tmp_path.rglob("*.ipynb")) == [path]


def test_a_file_that_cannot_be_written_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_autograded(tmp_path, graded(notebook="old"))

    def fail(*_: object) -> None:
        raise Interrupted

    monkeypatch.setattr(os, "fchmod", fail)
    with pytest.raises(Interrupted):
        write_autograded(tmp_path, graded(notebook="new"))
    assert [each.read_text() for each in path.parent.iterdir()] == ["old"]


def test_without_postgresql_the_tests_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tests.grading.postgres.PACKAGES", tmp_path)
    with pytest.raises(pytest.fail.Exception, match="Debian package postgresql"):
        programs()
