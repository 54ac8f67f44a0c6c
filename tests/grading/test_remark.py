"""A check is mended in the middle: what was decided stays, and is marked anew only if asked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from sqlalchemy import Connection, create_engine, text

from grading import course
from grading.course import Order, grade
from grading.dry_run import dry_run
from grading.earlier_runs import chosen_questions
from grading.gradebook.book import Book
from grading.gradebook.database import database_url
from grading.problem_set import problem_sets
from tests.grading.small_class import TINY, Class

LONG = pytest.mark.proof("redteam")
NAME = "tiny"
RECORDED = "SELECT student_id, marks FROM grading_result WHERE assignment = 'tiny'"
LENIENT = 'expected = sorted(personal_numbers(student_id, "q3").values(), reverse=True)'
STRICT = "expected = [0.0, 0.0]"
ALL_RIGHT = {"q1": "2", "q2": "3", "q3": "1", "q4": "", "total": "6"}


class Course(Class):
    """A class of three, and a source of its own that can be edited."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 3)
        self.source = folder / "source"
        shutil.copytree(TINY, self.source)

    def order(self, **changes: object) -> Order:
        return super().order(**{"source": self.source, "workers": 1, **changes})

    def edit(self, old: str, new: str) -> None:
        """Change something in one cell of the source notebook."""
        notebook = nbformat.read(self.path_of_source, as_version=4)
        (cell,) = (each for each in notebook.cells if old in each.source)
        cell.source = cell.source.replace(old, new)
        nbformat.write(notebook, self.path_of_source)

    @property
    def path_of_source(self) -> Path:
        return self.source / NAME / f"{NAME}.ipynb"

    def points(self, student: str) -> dict[str, str]:
        row = self.rows()[student]
        return {name: row[name] for name in ALL_RIGHT}

    @contextmanager
    def database(self) -> Iterator[Connection]:
        """Give a way past everything that is tested here."""
        engine = create_engine(database_url(course.database(self.out, None)))
        with engine.begin() as connection:
            yield connection
        engine.dispose()

    def rewrite(self, connection: Connection, student: str, marks: str) -> None:
        """Change what is recorded of a student's marks."""
        changed = text("UPDATE grading_result SET marks = :marks WHERE student_id = :student")
        connection.execute(changed, {"marks": marks, "student": student})

    def secrets(self, student: str) -> dict[str, int]:
        """Return from what the hidden inputs of each question came."""
        with Book(course.database(self.out, None)) as book:
            questions = ("q1", "q2", "q3", "q4")
            return {name: book.secret_of(NAME, student, name) for name in questions}


@pytest.fixture
def few(tmp_path: Path) -> Course:
    made = Course(tmp_path)
    grade(made.order())
    return made


def test_a_mended_check_marks_nobody_by_itself(
    few: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    few.edit(LENIENT, STRICT)
    said = grade(few.order())
    assert "unchanged 3" in capsys.readouterr().err
    assert "3 marks of q3 by an older check; REMARK=q3 makes them anew." in said
    assert few.points("s1") == ALL_RIGHT
    assert few.rows()["s1"]["older"] == "q3 by an older check"
    unchanged = dry_run(few.order())
    assert "       3 marked before, and nothing has changed" in unchanged


def test_a_page_that_an_interruption_left_out_is_made_by_the_next_run(few: Course) -> None:
    path = few.out / "feedback" / "s1" / f"{NAME}.html"
    before = path.read_text(encoding="utf-8")
    path.unlink()
    grade(few.order())
    assert path.read_text(encoding="utf-8") == before


@LONG
def test_a_text_that_is_worded_anew_changes_no_check(few: Course) -> None:
    few.edit("Your two numbers, the larger one first.", "Your two numbers, largest first.")
    assert "older" not in grade(few.order())
    assert "older" not in few.rows()["s1"]


@pytest.mark.parametrize("remark", ["q3", "all"])
def test_marking_anew_takes_the_questions_that_were_asked_for(few: Course, remark: str) -> None:
    before = few.secrets("s1")
    few.edit(LENIENT, STRICT)
    said = grade(few.order(remark=frozenset({remark})))
    assert "older" not in said
    assert "older" not in few.rows()["s1"]
    assert few.points("s1") == ALL_RIGHT | {"q3": "0", "total": "5"}
    assert "the numbers are others" in few.page("s1")
    now = few.secrets("s1")
    same = {name for name in now if now[name] == before[name]}
    assert same == (set() if remark == "all" else {"q1", "q2", "q4"})


@LONG
def test_what_was_not_asked_for_keeps_its_mark_though_its_check_changed(few: Course) -> None:
    few.edit(LENIENT, STRICT)
    few.edit("if not close(found, expected, 1e-5):", "if True:")
    said = grade(few.order(remark=frozenset({"q3"})))
    assert "3 marks of q1 by an older check; REMARK=q1 makes them anew." in said
    assert few.points("s1") == ALL_RIGHT | {"q3": "0", "total": "5"}


def test_a_question_to_mark_anew_may_be_called_as_students_read_it(few: Course) -> None:
    sets = problem_sets(few.source)
    said = frozenset({"Question 1", "Q3", "4"})
    assert chosen_questions(said, sets) == {"q1", "q3", "q4"}
    assert chosen_questions(frozenset({"ALL"}), sets) == {"all"}


@LONG
def test_a_question_that_is_not_there_is_not_marked_anew(few: Course) -> None:
    with pytest.raises(ValueError, match="REMARK must be all, or some of q1, q2, q3, q4; got q7"):
        grade(few.order(remark=frozenset({"q1", "q7"})))


def test_what_people_decided_stays_and_is_flagged(few: Course) -> None:
    few.enter("s1", "q4", 2.5, "Say why.")
    few.enter("s2", "q3", 0.5, "Half of it.", extra=0.25)
    few.edit(LENIENT, STRICT)
    said = grade(few.order())
    flagged = "One decision by hand about q3 from before its check or scheme changed."
    assert flagged in said
    assert few.points("s2") == ALL_RIGHT | {"q3": "0.75", "total": "5.75"}

    said = grade(few.order(remark=frozenset({"q3"})))
    assert flagged in said
    assert "by an older check" not in said
    assert few.points("s1") == ALL_RIGHT | {"q3": "0", "q4": "2.5", "total": "7.5"}
    assert few.points("s2") == ALL_RIGHT | {"q3": "0.75", "total": "5.75"}
    rows = few.rows()
    older = {student: row["older"] for student, row in rows.items()}
    assert older == {"s1": "", "s2": "q3 decided before the check changed", "s3": ""}
    assert "Half of it." in few.page("s2")
    assert "A person looked at q3 after the check." in few.page("s2")
    assert "Say why." in few.page("s1")
    assert "A person looked" not in few.page("s1")

    # whoever saves it again has seen the new check
    few.enter("s2", "q3", 0.5)
    said = grade(few.order())
    assert "decision" not in said
    assert few.points("s2") == ALL_RIGHT | {"q3": "0.5", "total": "5.5"}


@LONG
def test_a_changed_scheme_flags_what_was_decided_by_it(few: Course) -> None:
    few.enter("s1", "q4", 2.5)
    few.edit("almost one-hot.", "almost one-hot, and then gradients vanish.")
    said = grade(few.order())
    assert "One decision by hand about q4 from before its check or scheme changed." in said
    assert "by an older check" not in said


@LONG
def test_a_decision_is_about_an_answer_and_not_about_a_notebook(few: Course) -> None:
    few.enter("s2", "q3", 0.5)
    few.enter("s2", "q4", 3)
    few.hand_in("s2", q1="variance = -1.0")
    said = grade(few.order())
    assert "no longer holds" not in said
    assert few.points("s2") == {"q1": "0", "q2": "3", "q3": "0.5", "q4": "3", "total": "6.5"}
    assert "decision" not in said

    few.hand_in("s2", q3="ordered = np.array([1.0, 2.0])")
    said = grade(few.order())
    assert "s2: the mark entered by hand for q3 (0.5) no longer holds" in said
    assert few.points("s2") == {"q1": "2", "q2": "3", "q3": "0", "q4": "3", "total": "8"}

    # it comes back with its answer, and with what has happened meanwhile
    few.edit(LENIENT, STRICT)
    few.hand_in("s2")
    said = grade(few.order())
    assert few.points("s2") == ALL_RIGHT | {"q3": "0.5", "q4": "3", "total": "8.5"}
    assert few.rows()["s2"]["older"] == "q3 decided before the check changed"


@LONG
def test_other_points_cost_only_the_decisions_about_that_question(few: Course) -> None:
    few.enter("s1", "q3", 0.5)
    few.enter("s1", "q4", 2.5)
    notebook = nbformat.read(few.path_of_source, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "q3_check":
            cell.metadata.nbgrader.points = 2
    nbformat.write(notebook, few.path_of_source)
    said = grade(few.order())
    assert "tiny has other points now: 3 results were taken back" in said
    assert "s1: the mark entered by hand for q3 (0.5) no longer holds" in said
    assert few.points("s1") == ALL_RIGHT | {"q3": "2", "q4": "2.5", "total": "9.5"}


@LONG
def test_whose_work_it_is_needs_to_be_said_once(few: Course) -> None:
    few.hand_in("s1", typed="s2")
    grade(few.order())
    assert few.rows()["s1"]["status"] == "needs-review"
    grade(few.order(accepted=frozenset({"s1"})))
    accepted = few.points("s1")
    assert few.rows()["s1"]["status"] == "graded"
    few.edit(LENIENT, STRICT)
    grade(few.order(remark=frozenset({"all"})))
    assert few.points("s1") == accepted | {"q3": "0", "total": "5"}
    # but another file is another question
    few.hand_in("s1", typed="s2", q1="variance = -1.0")
    grade(few.order())
    assert few.rows()["s1"]["status"] == "needs-review"
    few.hand_in("s1", typed="s2")
    grade(few.order())
    assert few.rows()["s1"]["status"] == "graded"


@LONG
def test_what_cannot_be_marked_anew_keeps_its_marks(few: Course) -> None:
    few.enter("s1", "q4", 2.5)
    before = few.rows()
    few.edit(LENIENT, 'raise RuntimeError("a typing error of the instructor")')
    said = grade(few.order(remark=frozenset({"q3"})))
    assert "s1: was not marked anew, and the earlier marks stay: " in said
    assert few.points("s1") == ALL_RIGHT | {"q4": "2.5", "total": "8.5"}
    assert few.points("s2") == {name: before["s2"][name] for name in ALL_RIGHT}


@LONG
def test_marks_of_several_graders_are_told_apart(few: Course) -> None:
    with few.database() as connection:
        row = connection.execute(text(f"{RECORDED} AND student_id = 's2'")).one()
        (first,) = {mark["grader"] for mark in json.loads(row.marks)}
        few.rewrite(connection, "s2", row.marks.replace(first, "0123456789"))
    said = grade(few.order())
    assert f"Marks by several versions of the grader: 8 by {first}, 4 by 0123456789." in said
    assert few.rows()["s2"]["older"] == "q1 q2 q3 q4 by another grader"
    assert few.rows()["s1"]["older"] == ""


def test_a_gradebook_of_the_first_version_is_taken_over(
    few: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    few.enter("s1", "q4", 2.5, "Say why.")
    names = ("question", "maximum", "message", "paragraph")
    with few.database() as connection:
        for statement in (
            "DROP TABLE grading_check",
            "DROP TABLE grading_accepted",
            "ALTER TABLE grading_by_hand DROP COLUMN version",
            "UPDATE grading_result SET digest = substr(digest, 3)",
        ):
            connection.execute(text(statement))
        for row in connection.execute(text(RECORDED)).all():
            marks = [{name: mark[name] for name in names} for mark in json.loads(row.marks)]
            for mark in marks[:3]:
                mark["paragraph"] = ""
            few.rewrite(connection, row.student_id, json.dumps(marks))
    grade(few.order())
    assert few.points("s1") == ALL_RIGHT | {"q4": "2.5", "total": "8.5"}
    assert "Say why." in few.page("s1")
    capsys.readouterr()
    grade(few.order())
    assert "unchanged 3" in capsys.readouterr().err
