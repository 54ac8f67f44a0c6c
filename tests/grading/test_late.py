"""Late work: when it came, by how much that is late, what it costs, and where it is said."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from grading import course
from grading.course import Order, export, grade
from grading.gradebook.book import Book
from grading.late import Receipt, earliest, in_words, lateness
from grading.problem_set import read
from grading.release import worked
from grading.reports import feedback
from grading.settings import Rules, in_utc
from tests.grading.small_class import TINY, Class, assert_row

DUE = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
RULES = Rules(DUE, timedelta(minutes=15), 0.1, 0.5)


def came(**after: float) -> Receipt:
    """Return a receipt for something that came so long after it was due."""
    return Receipt("one", "s1", DUE + timedelta(**after))


@pytest.mark.parametrize(
    ("after", "late", "off"),
    [
        ({"hours": -3}, "no", 0),
        ({"minutes": 0}, "no", 0),
        ({"minutes": 15}, "no", 0),  # the grace holds its end
        ({"minutes": 15, "seconds": 1}, "15 min", 2),
        ({"days": 1}, "1 day", 2),
        ({"days": 1, "seconds": 1}, "1 day and a little", 4),  # a second day has begun
        ({"days": 1, "minutes": 31}, "1 day 31 min", 4),
        ({"days": 1, "hours": 3, "minutes": 5}, "1 day 3 h", 4),
        ({"days": 30}, "30 days", 10),  # the most
    ],
)
def test_each_day_begun_costs_a_share_of_the_maximum(
    after: dict[str, float], late: str, off: float
) -> None:
    found = lateness(came(**after), RULES, ["s1"], 18, 20)
    assert found is not None
    assert (in_words(found), found.deduction) == (late, pytest.approx(off))
    assert bool(found.why) == (off > 0)


def test_no_more_is_taken_than_was_earned() -> None:
    assert lateness(came(days=9), RULES, ["s1"], 3.5, 20).deduction == 3.5


def test_an_extension_is_for_its_student_and_the_latest_is_for_the_group() -> None:
    later = {"s1": DUE + timedelta(days=2), "s2": DUE + timedelta(days=5)}
    rules = replace(RULES, extensions=later)
    for students, off in ((["s1"], 2), (["s3"], 6), (["s3", "s1"], 2), (["s1", "s2"], 0)):
        found = lateness(came(days=2, hours=20), rules, students, 20, 20)
        assert found.deduction == pytest.approx(off), students


def test_a_time_of_the_instructor_counts_before_any_other() -> None:
    rules = replace(RULES, submitted={"s1": DUE})
    late = replace(came(days=3), is_late=True)
    assert lateness(late, rules, ["s1"], 20, 20).deduction == 0
    assert lateness(late, rules, ["s2"], 20, 20).deduction == pytest.approx(6)


def test_late_without_a_time_waits_or_counts_as_was_settled() -> None:
    late = Receipt("one", "s1", None, is_late=True)
    waits = lateness(late, RULES, ["s1"], 20, 20)
    assert (waits.deduction, in_words(waits)) == (None, "yes")
    assert lateness(late, replace(RULES, late_without_time=2), ["s1"], 20, 20).deduction == 4
    assert in_words(lateness(replace(late, is_late=False), RULES, ["s1"], 20, 20)) == "no"
    assert in_words(lateness(replace(late, is_late=None), RULES, ["s1"], 20, 20)) == "unknown"


def test_a_function_gets_fractions_of_days() -> None:
    seen = []
    rules = replace(RULES, penalty=lambda *given: seen.append(given) or 0.5)
    assert lateness(came(hours=36), rules, ["s1"], 18, 20).deduction == 0.5
    assert seen == [(1.5, 18, 20)]


@pytest.mark.parametrize("returned", [None, "2", -1, float("nan"), float("inf"), True])
def test_a_function_that_returns_no_points_is_named(returned: Any) -> None:
    rules = replace(RULES, penalty=lambda *_: returned)
    with pytest.raises(ValueError, match=r"penalty\(days=1.5, points=18, maximum=20\) must return"):
        lateness(came(hours=36), rules, ["s1"], 18, 20)


def test_time_passes_as_it_does_when_clocks_change() -> None:
    """In Berlin 2026-10-25 has 25 hours: 23:59 to 23:59 is more than a day."""
    zone = ZoneInfo("Europe/Berlin")
    due = datetime(2026, 10, 24, 23, 59, tzinfo=zone)
    again = Receipt("one", "s1", in_utc(datetime(2026, 10, 25, 23, 59, tzinfo=zone), None))
    assert lateness(again, replace(RULES, due=in_utc(due, None)), ["s1"], 20, 20).by == timedelta(
        hours=25
    )


def test_the_same_bytes_keep_their_earliest_time() -> None:
    first = replace(came(hours=-1), content="a", is_late=False)
    again = replace(came(days=2), content="a", is_late=True, origin="new")
    assert earliest(first, again) == replace(first, origin="new")
    assert earliest(again, first) == first
    assert earliest(first, replace(again, content="b")).submitted == again.submitted
    assert earliest(replace(first, content=""), replace(again, content="")).is_late
    assert earliest(replace(first, submitted=None), again).submitted == again.submitted


# through the whole grader


SETTINGS = """
timezone = "UTC"
[tiny]
due = 2026-11-20T23:00:00
grace_minutes = 15
penalty_per_day = 0.1
"""


@pytest.fixture(scope="module")
def late_class(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Three students, graded: in time, a day and three hours late, and at an unknown time."""
    folder = tmp_path_factory.mktemp("late")
    few = Class(folder, 3)
    few.roster.write_text(
        "student_id,lms_id,name,submitted\n"
        "s1,,Ada,2026-11-20 22:59\ns2,,Bob,2026-11-22 02:00\ns3,,Cy,\n",
        encoding="utf-8",
    )
    few.out.mkdir()
    (few.out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    few.said = grade(few.order())  # type: ignore[attr-defined]
    return few


def page(few: Class, student: str) -> str:
    return (few.out / "feedback" / student / "tiny.html").read_text(encoding="utf-8")


def test_raw_and_final_points_are_apart(late_class: Class) -> None:
    rows = late_class.rows()
    (maximum,) = {row["maximum"] for row in rows.values()}
    off = f"{2 * 0.1 * float(maximum):g}"  # two days have begun
    final = f"{6 - float(off):g}"
    assert_row(
        rows["s1"],
        {"total": "6", "submitted": "2026-11-20 22:59", "late": "no", "final": "6"},
    )
    assert_row(
        rows["s2"],
        {"total": "6", "submitted": "2026-11-22 02:00", "late": "1 day 3 h", "deduction": off},
    )
    assert_row(rows["s2"], {"final": final})
    assert_row(rows["s3"], {"total": "6", "submitted": "", "late": "unknown", "final": "6"})
    assert "handed in 1 day 3 h late" in rows["s2"]["message"]
    assert "s2: handed in 1 day 3 h late, with 15 min of grace" in late_class.said
    assert "nothing says when one notebook came" in late_class.said
    assert f"Handed in 1 day 3 h late, with 15 min of grace: {off} points off." in page(
        late_class, "s2"
    )
    assert f"<strong>{final}</strong> of {maximum} points so far" in page(late_class, "s2")
    assert "You earned 6 so far." in page(late_class, "s2")
    assert "You earned" not in page(late_class, "s1") + page(late_class, "s3")


def test_an_extension_needs_no_new_marking(late_class: Class) -> None:
    """It changes the table and the page; taken away again, both are as before."""
    settings = late_class.out / "course.toml"
    before = page(late_class, "s2"), late_class.rows()["s2"]
    try:
        settings.write_text(SETTINGS + "[tiny.extensions]\nS2 = 2026-11-22T02:00:00\n")
        export(late_class.out, late_class.roster, source=TINY)
        assert_row(late_class.rows()["s2"], {"late": "no", "final": "6", "deduction": "0"})
        assert "You earned" not in page(late_class, "s2")
    finally:
        settings.write_text(SETTINGS)
    export(late_class.out, late_class.roster, source=TINY)
    assert (page(late_class, "s2"), late_class.rows()["s2"]) == before


def test_somebody_decides_what_counts(late_class: Class) -> None:
    """Zero for who handed in nothing, and for who handed in another's; taken back, as before."""
    settings, roster = late_class.out / "course.toml", late_class.roster.read_text()
    before = page(late_class, "s2"), late_class.rows()["s2"]
    late_class.roster.write_text(roster + "s4,,Dan,\ns5,,Eve,\n")
    decided = SETTINGS + "missing = 0\n[tiny.points]\ns2 = 0\ns3 = 4.5\nS4 = 2\n"
    try:
        settings.write_text(decided)
        export(late_class.out, late_class.roster, source=TINY)
        rows = late_class.rows()
        assert {name: row["final"] for name, row in rows.items()} == {
            "s1": "6", "s2": "0", "s3": "4.5", "s4": "2", "s5": "0",
        }  # fmt: skip
        assert_row(rows["s2"], {"total": "6"})
        assert "by course.toml 0 points count" in rows["s2"]["message"]
        assert "Your instructor decided that 0 points count." in page(late_class, "s2")
        canvas = (late_class.out / "canvas-tiny.csv").read_text(encoding="utf-8").splitlines()
        # what waits for a mark by hand has none yet, unless somebody decided
        assert [line.rpartition(",")[2] for line in canvas[2:]] == ["", "0", "4.5", "2", "0"]
        settings.write_text(SETTINGS + "[tiny.points]\ns2 = -1\n")
        with pytest.raises(ValueError, match=r"tiny.points.s2 must be a number from 0 on; got -1"):
            export(late_class.out, late_class.roster, source=TINY)
    finally:
        settings.write_text(SETTINGS)
        late_class.roster.write_text(roster)
    export(late_class.out, late_class.roster, source=TINY)
    assert (page(late_class, "s2"), late_class.rows()["s2"]) == before


def test_an_extension_for_nobody_is_named(late_class: Class) -> None:
    settings = late_class.out / "course.toml"
    try:
        settings.write_text(SETTINGS + "[tiny.extensions]\ns9 = 2026-11-22T02:00:00Z\n")
        with pytest.raises(ValueError, match=r"tiny.extensions must name students .*; got s9"):
            export(late_class.out, late_class.roster, source=TINY)
    finally:
        settings.write_text(SETTINGS)


def test_the_same_notebook_later_is_not_late(tmp_path: Path) -> None:
    one = Class(tmp_path, 1)
    one.out.mkdir()
    (one.out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    header = "student_id,lms_id,name,submitted\n"
    one.roster.write_text(f"{header}s1,,Ada,2026-11-20 22:00\n")
    grade(one.order())
    one.roster.write_text(f"{header}s1,,Ada,2026-11-25 22:00\n")
    assert "s1: the same notebook came again; it counts as it came first" in grade(one.order())
    assert_row(one.rows()["s1"], {"submitted": "2026-11-20 22:00", "late": "no"})
    one.hand_in("s1", q1="variance = -1.0")
    grade(one.order())
    assert_row(one.rows()["s1"], {"submitted": "2026-11-25 22:00", "late": "4 days 23 h"})


def test_nbgrader_says_when_it_collected(tmp_path: Path) -> None:
    problem_set = read(TINY / "tiny" / "tiny.ipynb")
    folder = tmp_path / "in" / "s1" / "tiny"
    folder.mkdir(parents=True)
    (folder / "tiny.ipynb").write_bytes(worked(problem_set, "s1", {}, TINY))
    (folder / "timestamp.txt").write_text("2026-11-21 01:30:00.000000 Europe/Berlin")
    out = tmp_path / "out"
    out.mkdir()
    (out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    grade(Order(tmp_path / "in", out, source=TINY, workers=1))
    with Book(course.database(out, None)) as book:
        (receipt,) = book.receipts("tiny").values()
    assert receipt.submitted == datetime(2026, 11, 21, 0, 30, tzinfo=UTC)


def test_canvas_says_late_and_not_how_late(tmp_path: Path) -> None:
    problem_set = read(TINY / "tiny" / "tiny.ipynb")
    (tmp_path / "roster.csv").write_text("student_id,lms_id,name\ns1,11,Ada A\ns2,12,Bob B\n")
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        archive.writestr("aada_LATE_11_501_tiny.ipynb", worked(problem_set, "s1", {}, TINY))
        archive.writestr("bbob_12_502_tiny.ipynb", worked(problem_set, "s2", {}, TINY))
    out = tmp_path / "out"
    out.mkdir()
    (out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    places = tmp_path / "submissions.zip", out, tmp_path / "roster.csv"
    said = grade(Order(*places, source=TINY, workers=1))
    assert "s1: handed in late; how late is not known yet" in said
    few = Class(tmp_path, 0)
    assert_row(few.rows()["s1"], {"total": "6", "late": "yes", "deduction": "", "final": ""})
    assert_row(few.rows()["s2"], {"total": "6", "late": "no", "deduction": "0", "final": "6"})
    with Book(course.database(out, None)) as book:
        assert book.receipts("tiny")["s1"].origin == "aada_LATE_11_501_tiny.ipynb"


def test_a_gradebook_of_before_opens(late_class: Class, tmp_path: Path) -> None:
    """Nothing is known of when its notebooks came, and nothing is taken off."""
    shutil.copytree(late_class.out, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / "gradebook.db") as database:
        database.execute("DROP TABLE grading_receipt")
    export(tmp_path / "out", late_class.roster, source=TINY)
    few = Class(tmp_path, 0)
    for row in few.rows().values():
        assert_row(row, {"total": "6", "late": "unknown", "final": "6"})


def test_the_page_s_beginning_has_its_remarks(late_class: Class) -> None:
    """However long the rest is: the style sheet and the head fit."""
    assert feedback.has_remarks(late_class.out / "feedback" / "s2" / "tiny.html")
    assert not feedback.has_remarks(late_class.out / "feedback" / "s1" / "tiny.html")
    assert page(late_class, "s2").index(feedback.REMARK) < feedback.HEAD / 2
