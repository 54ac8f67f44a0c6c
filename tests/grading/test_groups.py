"""One notebook for a group: marked once, and its marks, pages and lateness are everybody's."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grading import course
from grading.course import Order, export, feedback_zips, grade
from grading.gradebook.book import Book
from grading.intake.collection import Collection, Special, collect
from grading.intake.roster import Roster
from grading.problem_set import read
from grading.release import worked
from grading.results import Student
from tests.grading.small_class import FULL, TINY, Class, assert_row, enter_mark
from tests.grading.test_intake import packed, statuses

ADA = Student("s1", "17", "Ada Example", ("ada",))
BEN = Student("s2", "18", "Ben Example")
CY = Student("s3", "19", "Cy Example")
GROUPS = Special(groups={"ps1"})


@pytest.fixture
def roster() -> Roster:
    """Ada and Ben are a group, and Cy works alone."""
    people = Roster([])
    for student, group in ((ADA, "Red Pandas"), (BEN, "Red Pandas"), (CY, "")):
        people.add(student, group)
    return people


def collected(path: Path, roster: Roster, files: dict[str, bytes], special: Special) -> Collection:
    return collect(packed(path / "in.zip", files), roster, ["ps1", "ps2"], special)


def test_one_notebook_is_the_group_s_and_nothing_is_marked_for_the_others(
    roster: Roster, tmp_path: Path
) -> None:
    files = {"s2/ps1/ps1.ipynb": b"b", "s2/ps2/ps2.ipynb": b"c", "s3/ps1/ps1.ipynb": b"d"}
    collection = collected(tmp_path, roster, files, GROUPS)
    assert statuses(collection) == {
        ("s1", "ps1"): "missing",
        ("s1", "ps2"): "missing",  # this one has no groups
        ("s2", "ps1"): b"b",
        ("s2", "ps2"): b"c",
        ("s3", "ps1"): b"d",
        ("s3", "ps2"): "missing",
    }
    first = next(iter(collection))
    assert first.problem == ("missing", "the notebook of the group came from s2")
    (ben,) = (one for one in collection if one.notebook == b"b")
    # what a member may type, the others may
    assert ben.student == Student("s2", "18", "Ben Example", ("s1", "ada"))
    (cy,) = (one for one in collection if one.notebook == b"d")
    assert cy.student == CY


@pytest.mark.parametrize(("marked", "holder"), [((), "s1"), (("s2",), "s2"), (("s1", "s2"), "s1")])
def test_the_same_notebook_of_both_stays_with_whom_has_marks(
    roster: Roster, tmp_path: Path, marked: tuple[str, ...], holder: str
) -> None:
    files = {"s1/ps1/ps1.ipynb": b"a", "s2/ps1/ps1.ipynb": b"a"}
    special = Special(groups={"ps1"}, marked={"ps1": set(marked)})
    collection = collected(tmp_path, roster, files, special)
    assert [one.student.student_id for one in collection if one.notebook] == [holder]


def test_two_notebooks_of_one_group_wait_for_a_person(roster: Roster, tmp_path: Path) -> None:
    files = {
        "exampleada_17_1_ps1.ipynb": b"a",
        "exampleben_18_2_ps1.ipynb": b"b",
        "examplecy_19_3_ps1.ipynb": b"c",
    }
    collection = collect(packed(tmp_path / "in.zip", files), roster, ["ps1"], GROUPS)
    assert statuses(collection) == {
        ("s1", "ps1"): "needs-review",
        ("s2", "ps1"): "needs-review",
        ("s3", "ps1"): b"c",
    }
    problems = {one.problem for one in collection if one.problem}
    (problem,) = problems
    counts = "2 different notebooks of one group came, ACCEPT the member whose counts: "
    assert problem[1].startswith(f"{counts}in.zip: exampleada_17_1")


def test_of_two_notebooks_of_one_group_somebody_says_which_counts(
    roster: Roster, tmp_path: Path
) -> None:
    files = {"exampleada_17_1_ps1.ipynb": b"a", "exampleben_18_2_ps1.ipynb": b"b"}
    path = packed(tmp_path / "in.zip", files)
    remembered = {"ps1": {("s2", hashlib.sha256(b"b").hexdigest())}}
    for special in (
        replace(GROUPS, accepting={"s2"}),
        replace(GROUPS, accepted=remembered),
    ):
        found = statuses(collect(path, roster, ["ps1"], special))
        assert found == {("s1", "ps1"): "missing", ("s2", "ps1"): b"b", ("s3", "ps1"): "missing"}
    for special in (
        replace(GROUPS, accepting={"s1", "s2"}),  # which is no answer
        replace(GROUPS, accepted={"ps1": {("s2", hashlib.sha256(b"x").hexdigest())}}),
    ):
        assert statuses(collect(path, roster, ["ps1"], special))["s2", "ps1"] == "needs-review"


@pytest.mark.parametrize("group", ["Red Pandas", "Default group", "A-B", "Ben Example"])
def test_moodle_puts_the_group_before_the_name(roster: Roster, tmp_path: Path, group: str) -> None:
    files = {f"{group}-Ada Example_17_assignsubmission_file/ps1.ipynb": b"a"}
    for special in (GROUPS, Special()):
        collection = collect(packed(tmp_path / "in.zip", files), roster, ["ps1"], special)
        assert statuses(collection)["s1", "ps1"] == b"a"
    wrong = {f"{group}-Eve Example_17_assignsubmission_file/ps1.ipynb": b"a"}
    collection = collect(packed(tmp_path / "in.zip", wrong), roster, ["ps1"], GROUPS)
    waits = [one for one in collection if one.problem and one.problem[0] == "needs-review"]
    assert waits[0].student.student_id == "s1"
    assert "but Moodle says" in waits[-1].problem[1]


def test_moodle_calls_the_folder_after_the_group(roster: Roster, tmp_path: Path) -> None:
    # 19 is the number of the group, and Cy's as a participant
    files = {"Red Pandas_19_assignsubmission_file/ps1.ipynb": b"a"}
    collection = collect(packed(tmp_path / "in.zip", files), roster, ["ps1"], GROUPS)
    assert statuses(collection) == {
        ("s1", "ps1"): b"a",
        ("s2", "ps1"): "missing",
        ("s3", "ps1"): "missing",
    }
    # by the name it may be anybody of the group, by the number Cy, so that nobody is missing
    alone = collect(tmp_path / "in.zip", roster, ["ps1"])
    assert [one.problem[0] for one in alone if one.problem] == ["needs-review"] * 4


# through the whole grader

SETTINGS = """
timezone = "UTC"
[tiny]
due = 2026-11-20T23:00:00
penalty_per_day = 0.5
groups = true
[tiny.submitted]
s2 = 2026-11-21T10:00:00
s3 = 2026-11-21T10:00:00
[tiny.extensions]
s4 = 2026-11-21T12:00:00
"""


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Bob hands in for Ada, with her number; Cy for Dan, who has an extension; Eve is alone."""
    folder = tmp_path_factory.mktemp("groups")
    few = Class(folder, 5)
    few.roster.write_text(
        "student_id,lms_id,name,group\ns1,,Ada,A\ns2,,Bob,A\ns3,,Cy,B\ns4,,Dan,B\ns5,,Eve,\n",
        encoding="utf-8",
    )
    for student in ("s1", "s4", "s5"):
        few.path(student).unlink()
    few.hand_in("s2", typed="s1", q3="ordered = [0, 0]")
    few.out.mkdir()
    (few.out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    few.said = grade(few.order())  # type: ignore[attr-defined]
    return few


def test_everybody_has_the_marks_and_one_notebook_was_marked(grouped: Class) -> None:
    rows = grouped.rows()
    bob = FULL | {"q3": "0", "total": "5"}
    for student in ("s1", "s2"):
        assert_row(rows[student], bob | {"late": "11 h", "deduction": "5", "final": "0"})
    for student in ("s3", "s4"):  # the extension of one is everybody's
        assert_row(rows[student], FULL | {"late": "no", "final": "6"})
    assert rows["s5"]["status"] == "missing"
    assert "came from s2" in rows["s1"]["message"]
    ran = sorted(path.parent.parent.name for path in grouped.out.glob("autograded/*/*/*.ipynb"))
    assert ran == ["s2", "s3"]  # formgrader shows one of each group
    assert "4 graded" in grouped.said
    assert "1 missing" in grouped.said


def test_everybody_has_the_page(grouped: Class) -> None:
    pages = {
        path.parent.name: path.read_text(encoding="utf-8")
        for path in grouped.out.glob("feedback/*/tiny.html")
    }
    assert sorted(pages) == ["s1", "s2", "s3", "s4"]
    assert "<bdi>Ada</bdi>" in pages["s1"]
    assert "The notebook of your group came from s2." in pages["s1"]
    assert "The notebook of your group" not in pages["s2"]
    for student in ("s1", "s2"):
        assert "Handed in 11 h late" in pages[student]


def test_a_mark_by_hand_is_entered_once(grouped: Class) -> None:
    """It counts for all members, and a further run keeps it."""
    with Book(course.database(grouped.out, None)) as book:
        (result,) = (r for r in book.results("tiny") if r.student.student_id == "s3")
        open_ = next(mark.question for mark in result.marks if mark.points is None)
    grouped.enter("s3", open_, 1.5)
    export(grouped.out, grouped.roster, source=TINY)
    rows = grouped.rows()
    assert {rows[student][open_] for student in ("s3", "s4")} == {"1.5"}
    assert grade(grouped.order()).count("no longer holds") == 0
    assert grouped.rows()["s4"][open_] == "1.5"


def test_pages_go_back_to_moodle_and_to_canvas(tmp_path: Path) -> None:
    problem_set = read(TINY / "tiny" / "tiny.ipynb")
    right, wrong = (worked(problem_set, each, {}, TINY) for each in ("s1", "s2"))
    names = {
        "canvas": (
            "exampleada_LATE_17_501_tiny-1.ipynb",
            "exampleben_18_502_tiny.ipynb",
            "examplecy_LATE_19_503_tiny.pdf",
        ),
        "moodle": (
            "Ada Example_17_assignsubmission_file/tiny.ipynb",
            "Ben Example_18_assignsubmission_file/tiny.ipynb",
            "Cy Example_19_assignsubmission_file/tiny.pdf",
        ),
    }
    (tmp_path / "roster.csv").write_text(
        "student_id,lms_id,name\ns1,17,Ada Example\ns2,18,Ben Example\ns3,19,Cy Example\n"
        "s4,20,Di Example\n"
    )
    for platform, (ada, ben, cy) in names.items():
        out = tmp_path / platform
        path = packed(tmp_path / f"{platform}.zip", {ada: right, ben: wrong, cy: b"%PDF"})
        grade(Order(path, out, tmp_path / "roster.csv", source=TINY, workers=1))
        said = feedback_zips(out, tmp_path / "roster.csv", source=TINY)
        # a paragraph waits, so that nothing is final
        assert "s1: waiting for a mark by hand: q4" in said
        with Book(course.database(out, None)) as book:
            assert book.receipts("tiny")["s3"].is_late is (True if platform == "canvas" else None)
        for student in ("s1", "s2"):
            enter_mark(out, student, "q4", 1)
        said = feedback_zips(out, tmp_path / "roster.csv", source=TINY)
        written = out / f"feedback-{platform}-tiny.zip"
        nothing = "s4: missing: nothing was handed in"
        with zipfile.ZipFile(written) as archive:
            texts = {each: archive.read(each).decode() for each in archive.namelist()}
        if platform == "canvas":
            # Canvas would show a page under the name of the document
            unsent = "s3: Canvas would call the page what came, which is no notebook"
            assert said == [str(written), unsent, nothing]
            assert sorted(texts) == [ada, ben]  # as in the download
        else:
            assert said == [str(written), nothing]
            assert sorted(texts) == [
                "Ada Example_17_assignfeedback_file_tiny.html",
                "Ben Example_18_assignfeedback_file_tiny.html",
                "Cy Example_19_assignfeedback_file_tiny.html",
            ]
        assert all("Ada Example" in text for name, text in texts.items() if "17" in name)
        assert all("Ben Example" in text for name, text in texts.items() if "18" in name)


def test_a_choice_between_two_notebooks_of_a_group_lasts(tmp_path: Path) -> None:
    few = Class(tmp_path, 2)
    people = "student_id,lms_id,name,group\ns1,,Ada,A\ns2,,Bob,A\n"
    few.roster.write_text(people, encoding="utf-8")
    few.out.mkdir()
    (few.out / "course.toml").write_text("[tiny]\ngroups = true\n", encoding="utf-8")
    few.hand_in("s2", q1="variance = -1.0")
    said = grade(few.order())
    assert "ACCEPT the member whose counts" in said
    grade(few.order(accepted=frozenset({"s2"})))
    assert {row["total"] for row in few.rows().values()} == {"4"}
    assert "ACCEPT" not in grade(few.order())
    assert {row["total"] for row in few.rows().values()} == {"4"}
