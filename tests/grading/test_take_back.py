"""Mistakes taken back: ghosts of a first run, students who wait, and the command that merges."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grading import __main__ as command
from grading.course import Order, export, grade
from grading.intake.collection import PERHAPS, WAITS
from grading.marking.submission import Conditions, mark
from grading.release import worked
from grading.reports.outcomes import outcomes
from grading.reports.student_pages import page_of
from grading.results import Mark, Result, Student, Submission
from grading.settings import Rules
from grading.take_back import take_back
from tests.grading.small_class import PROBLEM_SET, TINY, Class

STUDENTS = {"s1": "Ada Example", "s2": "Ben Example"}


class Called(Class):
    """A class whose folders are called after the names, and whose roster may come later."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 0)
        for student, name in STUDENTS.items():
            path = self.submissions / name / "tiny.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(worked(PROBLEM_SET, student, {}, TINY))

    def first(self) -> str:
        """Grade without a roster, as somebody who sees this for the first time."""
        order = self.order(accepted=frozenset(STUDENTS.values()))
        return grade(replace(order, roster=None))

    def known(self) -> set[str]:
        return set(self.recorded())


@pytest.fixture
def called(tmp_path: Path) -> Called:
    return Called(tmp_path)


def also(called: Called) -> None:
    """Let the roster know what the folders are called."""
    lines = [f"{student},,{name},{name.replace(' ', '')}" for student, name in STUDENTS.items()]
    called.roster.write_text("\n".join(["student_id,lms_id,name,also", *lines]), encoding="utf-8")
    for name in STUDENTS.values():
        (called.submissions / name).rename(called.submissions / name.replace(" ", ""))


def test_a_first_run_without_a_roster_leaves_no_ghosts(called: Called) -> None:
    called.first()
    assert called.known() == set(STUDENTS.values())
    called.enter("Ada Example", "q4", 3, "well said")
    also(called)
    said = grade(called.order())
    assert called.known() == {"s1", "s2"}
    assert "Ada Example: was recorded before, and is s1 by the roster" in said
    rows = called.rows()
    assert (rows["s1"]["q4"], rows["s2"]["q4"]) == ("3", "")
    assert {path.name for path in (called.out / "autograded").iterdir()} == {"s1", "s2"}
    assert {path.name for path in (called.out / "feedback").iterdir()} == {"s1", "s2"}


def test_whose_notebook_was_another_one_is_named_and_merged_by_the_command(
    called: Called, capsys: pytest.CaptureFixture[str]
) -> None:
    called.first()
    called.enter("Ben Example", "q4", 2, "well said")
    also(called)
    path = called.submissions / "BenExample" / "tiny.ipynb"
    path.write_bytes(worked(PROBLEM_SET, "s2", {"q1": "spread = 1.0"}, TINY))
    said = grade(called.order())
    assert called.known() == {"s1", "s2", "Ben Example"}
    assert "Ben Example: is not on the roster since an earlier run; make grade-student" in said

    arguments = ["student", "--out", str(called.out), "--student", "Ben Example", "--into", "s2"]
    assert command.main(arguments) == 0
    said = capsys.readouterr().out
    assert "tiny: the marks of s2 stay; what was entered by hand goes along" in said
    assert "Nothing was changed." in said
    assert called.known() == {"s1", "s2", "Ben Example"}
    assert command.main([*arguments, "--yes"]) == 0
    assert called.known() == {"s1", "s2"}
    grade(called.order())
    # the paragraph is the same, so that its mark came along; the changed answer's is its own
    assert (called.rows()["s2"]["q1"], called.rows()["s2"]["q4"]) == ("0", "2")


def test_a_student_can_be_removed(called: Called, capsys: pytest.CaptureFixture[str]) -> None:
    called.first()
    called.enter("Ada Example", "q4", 3, "well said")
    arguments = ["student", "--out", str(called.out), "--student", "Ada Example"]
    assert command.main([*arguments, "--yes"]) == 0
    assert "what is recorded (graded) goes" in capsys.readouterr().out
    assert called.known() == {"Ben Example"}
    assert {path.name for path in (called.out / "autograded").iterdir()} == {"Ben%20Example"}
    assert command.main(arguments) == 2
    assert "STUDENT must be somebody in the gradebook" in capsys.readouterr().err
    # nothing is put aside for the day when the student comes back
    called.first()
    assert called.rows()["Ada Example"]["q4"] == ""


def test_who_waits_is_not_missing_in_a_run_in_which_nothing_comes(called: Called) -> None:
    also(called)
    called.submissions.joinpath("AdaExample", "tiny.ipynb").write_text("no notebook")
    grade(called.order())
    assert called.rows()["s1"]["status"] == "invalid"
    # the next file is sent alone, as the table of statuses says
    called.submissions.joinpath("AdaExample", "tiny.ipynb").unlink()
    (called.out / "course.toml").write_text("[tiny]\nmissing = 0\n", encoding="utf-8")
    said = grade(called.order())
    assert "tiny: 1 still wait of whom nothing came this time" in said
    row = called.rows()["s1"]
    assert (row["status"], row["final"]) == ("invalid", "")


@pytest.mark.parametrize(
    ("status", "message", "final"),
    [
        ("missing", "nothing was handed in", 0.0),
        ("missing", "", 0.0),  # on the roster alone
        ("missing", f"{PERHAPS} 17.ipynb", None),
        ("needs-review", f"{WAITS} 17.ipynb", None),
        ("invalid", "no notebook was handed in, only report.pdf", None),
    ],
)
def test_no_zero_for_whoever_may_have_handed_something_in(
    status: str, message: str, final: float | None
) -> None:
    result = Result(Student("s1", "", ""), "tiny", status, message, (Mark("q1", None, 2.0),))
    (found,) = outcomes([result], None, Rules(missing=0.0), {})
    assert found.final == final


def test_who_waits_by_a_hint_is_not_told_whose_file_it_may_be() -> None:
    waits = ("needs-review", f"{WAITS} Ada Example_55_assignsubmission_file/tiny.ipynb")
    found = mark(
        Submission(Student("s1", "", ""), "tiny", None, waits), PROBLEM_SET, Conditions({})
    )
    assert (found.status, found.message) == waits
    page = page_of(PROBLEM_SET, found)
    assert "assignsubmission" not in page
    assert "It is not clear yet whether your notebook came" in page


def test_marks_stay_where_no_notebook_comes_that_is_surely_theirs(tmp_path: Path) -> None:
    two = Class(tmp_path, 2)
    grade(two.order(workers=1))
    for student, other in (("s1", "s1/homework.pdf"), ("s2", "nobody/tiny.ipynb")):
        two.path(student).rename(tmp_path / student)
        place = two.submissions / other
        place.parent.mkdir(exist_ok=True)
        # the second notebook says that it is of s2, and its folder is nobody's
        (tmp_path / student).rename(place)
    said = grade(two.order(workers=1))
    assert "marks of 2 stay of whom nothing came this time" in said
    rows = two.rows()
    assert [rows[each]["total"] for each in ("s1", "s2")] == ["6", "6"]
    assert rows["unmatched~nobody"]["status"] == "needs-review"


def test_a_notebook_that_was_accepted_counts_beside_another(tmp_path: Path) -> None:
    one = Class(tmp_path, 1)
    right, wrong = one.path("s1"), one.path("s1").with_name("tiny (1).ipynb")
    one.hand_in("s1", q1="variance = -1.0")
    right.rename(wrong)
    one.hand_in("s1")
    said = grade(one.order(workers=1))
    assert "s1: 2 different notebooks came: s1/tiny (1).ipynb; s1/tiny.ipynb" in said
    wrong.rename(tmp_path / "aside")
    grade(one.order(workers=1, accepted=frozenset({"s1"})))
    (tmp_path / "aside").rename(wrong)
    said = grade(one.order(workers=1))
    assert "s1/tiny.ipynb: was accepted, and counts beside s1/tiny (1).ipynb" in said
    assert one.rows()["s1"]["total"] == "6"
    # a third one is no longer what somebody looked at
    one.hand_in("s1", q2="pass")
    assert "s1: 2 different notebooks came" in grade(one.order(workers=1))


def test_the_zip_around_several_files_is_named_once(tmp_path: Path) -> None:
    one = Class(tmp_path, 1)
    with zipfile.ZipFile(tmp_path / "came.zip", "w") as archive:
        for name in ("a", "b"):
            archive.writestr(f"s1/{name}.ipynb", name)
    said = grade(Order(tmp_path / "came.zip", one.out, one.roster, source=TINY, workers=1))
    assert "different notebooks came: came.zip: s1/a.ipynb; s1/b.ipynb" in said


def test_what_was_taken_back_has_no_maximum_to_differ(tmp_path: Path) -> None:
    one = Class(tmp_path, 1)
    one.roster.write_text(
        "Identifier,Full name,ID number,Grade,Maximum Grade\n"
        "Participant 7,Ada,s1,,10.00\nParticipant 8,Bob,s2,,10.00\n",
        encoding="utf-8",
    )
    grade(one.order(workers=1))
    take_back(one.out, "s1", do=True)
    said = export(one.out, one.roster, source=TINY)
    assert said[1:] == [
        "s1 (Ada): missing: nothing was handed in",
        "s2 (Bob): missing: nothing was handed in",
    ]


def test_a_copy_of_what_somebody_left_behind_earns_nothing(tmp_path: Path) -> None:
    two = Class(tmp_path, 2)
    two.path("s2").unlink()
    grade(two.order(workers=1))
    two.enter("s1", "q4", 4)
    # s1 leaves the course, and s2 hands in the very file
    two.roster.write_text("student_id,lms_id,name\ns2,,s2 Example", encoding="utf-8")
    two.path("s1").rename(two.path("s2"))
    said = grade(two.order(workers=1))
    assert "s2: handed in by s2, but the notebook says s1" in said
    assert "s1: is not on the roster since an earlier run" in said
    rows = two.rows()
    assert (rows["s1"]["total"], rows["s2"]["total"]) == ("10", "")
    # somebody who has looked can still say that it is the same person
    said = grade(two.order(workers=1, accepted=frozenset({"s2"})))
    assert "s1: was recorded before, and is s2 by the roster" in said
    assert two.rows()["s2"]["status"] == "graded"
