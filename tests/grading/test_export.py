"""Tables of grades say what was decided, harm no spreadsheet, and suit Canvas and Moodle."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grading.enrolment import Enrolment
from grading.intake.roster import Roster, read_roster
from grading.late import Late
from grading.problem_set import Question
from grading.reports.tables import (
    everyone,
    open_questions,
    write_canvas,
    write_grades,
    write_moodle,
)
from grading.results import Mark, Result, Student
from grading.settings import Settings
from tests.grading.test_roster import CANVAS, WORKSHEET

ADA = Student("s1", "17", "Ada Example")
BOB = Student("s2", "18", "Bob Example")
EVE = Student("s3", "", "Eve Example")
QUESTIONS = (Question("q1", 2.5), Question("q2", 3.0, by_hand=True))


def result(
    student: Student, *points: float | None, status: str = "graded", message: str = ""
) -> Result:
    """Return what became of a submission."""
    marks = tuple(
        Mark(question.name, got, question.points)
        for question, got in zip(QUESTIONS, points, strict=False)
    )
    return Result(student, "set_1", status, message, marks)


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def grades(path: Path, *results: Result) -> list[list[str]]:
    """Return the rows of grades.csv behind its header."""
    write_grades(path / "grades.csv", [(results, QUESTIONS)])
    return read(path / "grades.csv")[1:]


def test_each_row_says_what_was_decided(tmp_path: Path) -> None:
    rows = grades(
        tmp_path,
        result(ADA, 2.5, 0.0),
        result(BOB, 1.0, None, message="took its time"),
        result(EVE, None, None, status="needs-review", message="two notebooks"),
        result(Student("s4", "", ""), status="missing"),
    )
    assert read(tmp_path / "grades.csv")[0] == (
        ["student", "name", "assignment", "q1", "q2", "total", "maximum", "status", "message"]
    )
    waits = "took its time; waiting for a mark by hand: q2"
    assert rows == [
        ["s1", "Ada Example", "set_1", "2.5", "0", "2.5", "5.5", "graded", ""],
        ["s2", "Bob Example", "set_1", "1", "", "1", "5.5", "graded", waits],
        ["s3", "Eve Example", "set_1", "", "", "", "5.5", "needs-review", "two notebooks"],
        ["s4", "", "set_1", "", "", "", "5.5", "missing", ""],
    ]


def test_two_problem_sets_share_the_table_and_the_columns(tmp_path: Path) -> None:
    other = (Question("q2", 1.0), Question("q3", 2.0))
    late = Result(ADA, "set_2", "graded", "", (Mark("q2", 1, 1), Mark("q3", 0.5, 2)))
    absent = Result(EVE, "set_2", "missing")
    first = ([result(ADA, 1, 2), result(BOB, 2, 3)], QUESTIONS)
    write_grades(tmp_path / "grades.csv", iter([first, ([late, absent], other)]))
    assert [row[:1] + row[2:8] for row in read(tmp_path / "grades.csv")] == [
        ["student", "assignment", "q1", "q2", "q3", "total", "maximum"],
        ["s1", "set_1", "1", "2", "", "3", "5.5"],
        ["s1", "set_2", "", "1", "0.5", "1.5", "3"],
        ["s2", "set_1", "2", "3", "", "5", "5.5"],
        ["s3", "set_2", "", "", "", "", "3"],
    ]


def test_what_waits_is_said_where_nothing_else_is(tmp_path: Path) -> None:
    assert grades(tmp_path, result(ADA, 1.0, None))[0][-1] == "waiting for a mark by hand: q2"


@pytest.mark.parametrize(
    ("points", "written"),
    [(2.4999999, "2.5"), (0.1 + 0.2, "0.3"), (1 / 3, "0.3333"), (2.0, "2"), (0, "0"), (100, "100")],
)
def test_numbers_come_without_noise(tmp_path: Path, points: float, written: str) -> None:
    assert grades(tmp_path, result(ADA, points, 0))[0][3] == written


def test_the_table_follows_rfc_4180_in_utf_8(tmp_path: Path) -> None:
    grades(tmp_path, result(Student("s1", "", 'Éve "E", Example'), 1, 1))
    lines = (tmp_path / "grades.csv").read_bytes().split(b"\r\n")
    assert lines[1].startswith('s1,"Éve ""E"", Example",set_1,1,1,2,'.encode())
    assert lines[2] == b""


@pytest.mark.parametrize(
    "begin", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "\0="]
)
def test_no_cell_of_text_is_a_formula(tmp_path: Path, begin: str) -> None:
    bad = f"{begin}1+1"
    student = Student(bad, "17", bad)
    (row,) = grades(tmp_path, Result(student, bad, "invalid", bad))
    named = replace(result(student, 1, 1), assignment=bad)
    write_canvas(tmp_path / "canvas.csv", [named], [student])
    canvas = read(tmp_path / "canvas.csv")
    write_moodle(tmp_path / "moodle.csv", [result(student, 1, 1)], [student])
    moodle = read(tmp_path / "moodle.csv")
    for cell in (*row[:3], row[-1], canvas[0][-1], canvas[2][0], canvas[2][2], moodle[1][1]):
        assert cell.startswith("'")
        assert cell.isprintable()


def test_what_steers_a_terminal_is_taken_out(tmp_path: Path) -> None:
    bad = Student("s\x1b[2J", "", "\u202eeve")
    (row,) = grades(tmp_path, result(bad, status="invalid", message="a\0b\x9bc\nd"))
    assert row[:2] == ["s[2J", "eve"]
    assert row[-1] == "abc d"
    (left,) = write_canvas(tmp_path / "c.csv", [result(bad, status="invalid", message="\x1b")], [])
    assert left.isprintable()
    (left,) = write_moodle(
        tmp_path / "m.csv", [result(bad, status="invalid", message="\x1b")], [bad]
    )[:1]
    assert left.isprintable()


def test_what_utf_8_cannot_hold_does_not_stop_the_table(tmp_path: Path) -> None:
    assert grades(tmp_path, result(Student("s1", "", "\ud800da"), 1, 1))[0][1] == "da"


def test_everyone_is_there_once_and_by_student() -> None:
    late = Student("s0", "", "")
    found = everyone([result(late, 1, 1), result(BOB, 2, 2)], [EVE, BOB, ADA, ADA], "set_1")
    assert [(each.student.student_id, each.status) for each in found] == [
        ("s0", "graded"),
        ("s1", "missing"),
        ("s2", "graded"),
        ("s3", "missing"),
    ]


def test_everyone_is_read_one_by_one() -> None:
    seen = []

    def watched() -> Sequence[Result]:
        for number in range(3):
            seen.append(number)
            yield result(Student(f"s{number}", "", ""), 1, 1)

    next(everyone(watched(), [], "set_1"))
    assert len(seen) < 3


def test_only_a_graded_submission_waits_for_a_mark() -> None:
    assert open_questions(result(ADA, 1, None)) == ["q2"]
    assert open_questions(result(ADA, None, None, status="invalid")) == []


EVERYBODY = [
    result(Student("s0", "16", "Stranger"), 1, 1),
    result(ADA, 2.5, 1),
    result(BOB, 2.5, None),
    result(EVE, 0, 0),
    result(Student("s4", "x1", "Zoe"), None, None, status="needs-review", message="two notebooks"),
    result(Student("s5", "20", "Yan"), status="missing"),
]
ROSTER = [each.student for each in EVERYBODY[1:]]
LEFT = [
    "s0 (Stranger): not on the roster",
    "s2 (Bob Example): waiting for a mark by hand: q2",
    "s4 (Zoe): needs-review: two notebooks",
    "s5 (Yan): missing",
]


def test_canvas_gets_final_grades_alone(tmp_path: Path) -> None:
    path = tmp_path / "canvas.csv"
    assert write_canvas(path, EVERYBODY, ROSTER) == LEFT
    assert read(path) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "set_1"],
        ["    Points Possible", "", "", "", "", "5.5"],
        ["Ada Example", "17", "s1", "", "", "3.5"],
        ["Bob Example", "18", "s2", "", "", ""],
        ["Eve Example", "", "s3", "", "", "0"],
        ["Zoe", "", "s4", "", "", ""],
        ["Yan", "20", "s5", "", "", ""],
    ]


def test_canvas_keeps_its_points_possible_where_nothing_was_graded(tmp_path: Path) -> None:
    write_canvas(tmp_path / "canvas.csv", [result(ADA, status="missing")], [ADA])
    assert read(tmp_path / "canvas.csv")[1][-1] == ""


def test_canvas_gets_one_problem_set_at_a_time(tmp_path: Path) -> None:
    other = Result(BOB, "set_2", "missing")
    with pytest.raises(ValueError, match=r"one problem set; got \['set_1', 'set_2'\]"):
        write_canvas(tmp_path / "canvas.csv", [result(ADA, 1, 1), other], ROSTER)
    with pytest.raises(ValueError, match="got none"):
        write_canvas(tmp_path / "canvas.csv", [], ROSTER)
    assert list(tmp_path.iterdir()) == []


def test_moodle_gets_final_grades_alone_of_participants_it_knows(tmp_path: Path) -> None:
    path = tmp_path / "moodle.csv"
    named = Student("s5", "Participant 20", "Yan")
    unknown = "the roster has no participant number of Moodle"
    assert write_moodle(path, EVERYBODY, [*ROSTER[:-1], named]) == [
        *LEFT,
        f"s3 (Eve Example): {unknown}",
        f"s4 (Zoe): {unknown}",
    ]
    head, *rows = read(path)
    wanted = ("Identifier", "Full name", "Grade", "Maximum grade", "Last modified (grade)")
    assert [[row[head.index(name)] for name in wanted] for row in rows] == [
        ["Participant 17", "Ada Example", "3.5", "5.5", "-"],
        ["Participant 18", "Bob Example", "", "5.5", "-"],
        ["Participant 20", "Yan", "", "", "-"],
    ]
    assert {len(row) for row in rows} == {len(head)}


def test_moodle_keeps_its_comments(tmp_path: Path) -> None:
    write_moodle(tmp_path / "moodle.csv", EVERYBODY, ROSTER)
    assert "Feedback comments" not in read(tmp_path / "moodle.csv")[0]


# what platforms gave out goes back to them with marks in it


@pytest.fixture
def canvas(tmp_path: Path) -> Roster:
    path = tmp_path / "gradebook.csv"
    path.write_text(CANVAS.replace("Problem Set 1", "Problem-Set 1"), encoding="utf-8")
    return read_roster(path)


def graded(student: Student, earned: float | None, maximum: float = 20) -> Result:
    return Result(student, "problem_set_1", "graded", "", (Mark("q1", earned, maximum),))


def test_the_rows_of_canvas_come_back_as_they_were(canvas: Roster, tmp_path: Path) -> None:
    ada, ben = canvas
    path = tmp_path / "canvas.csv"
    results = [graded(ada, 12.25), graded(ben, None)]
    left = write_canvas(path, results, canvas, None, canvas.sheet)
    assert left == ["s2 (Example, Ben): waiting for a mark by hand: q1"]
    assert read(path) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Problem-Set 1 (345)"],
        ["    Points Possible", "", "", "", "", "20.00"],
        ["Example, Ada", "1001", "s1", "ada@example.org", "Section 1", "12.25"],
        # what Canvas has stays where nothing is decided
        ["Example, Ben", "1002", "s2", "ben", "Section 1 and Section 2", "3.50"],
    ]


def test_the_column_of_canvas_is_named_or_found(canvas: Roster, tmp_path: Path) -> None:
    ada, _ = canvas
    path = tmp_path / "canvas.csv"
    write_canvas(path, [graded(ada, 5, 10)], canvas, "Essay (346)", canvas.sheet)
    assert [row[-1] for row in read(path)] == ["Essay (346)", "10.00", "5"]
    with pytest.raises(ValueError, match=r"canvas, the title of problem_set_1 .*; got Essay$"):
        write_canvas(path, [graded(ada, 5)], canvas, "Essay", canvas.sheet)
    other = replace(graded(ada, 5), assignment="x")
    (left, *_) = write_canvas(path, [other], canvas, None, canvas.sheet)
    assert left == "x is no column of ROSTER: Canvas will offer a new assignment"
    assert [row[-1] for row in read(path)] == ["x", "20", "5"]
    write_canvas(path, [graded(ada, 5)], list(canvas), "My title (3)")
    assert read(path)[0][-1] == "My title (3)"


def test_another_maximum_in_canvas_is_said(canvas: Roster, tmp_path: Path) -> None:
    ada, _ = canvas
    (left, *_) = write_canvas(tmp_path / "c.csv", [graded(ada, 5, 30)], canvas, None, canvas.sheet)
    assert left == "Problem-Set 1 (345) has 20.00 points in Canvas, and 30 here"


def test_the_worksheet_of_moodle_comes_back_with_grades_in_it(tmp_path: Path) -> None:
    path = tmp_path / "moodle.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    roster = read_roster(path)
    ada, ben = roster
    before = read(path)
    left = write_moodle(path, [graded(ada, 17.5), graded(ben, None)], roster, roster.sheet)
    assert left == ["s2 (Ben Example): waiting for a mark by hand: q1"]
    before[1][before[0].index("Grade")] = "17.5"
    assert read(path) == before


def test_a_cell_of_a_platform_is_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.csv"
    path.write_text(CANVAS.replace('"Example, Ada"', '"=1+1"'), encoding="utf-8")
    roster = read_roster(path)
    ada, _ = roster
    write_canvas(path, [graded(ada, 1)], roster, None, roster.sheet)
    assert read(path)[2][0] == "'=1+1"


def test_platforms_get_what_counts(tmp_path: Path) -> None:
    """The points that count are those after lateness; where that is open there are none."""
    late = Late(None, timedelta(days=1), 1.5, "handed in 1 day late: 1.5 points off")
    open_ = Late(None, None, None, "handed in late; how late is not known yet")
    results = [replace(result(ADA, 2.5, 1), late=late), replace(result(BOB, 2.5, 1), late=open_)]
    left = write_canvas(tmp_path / "canvas.csv", results, [ADA, BOB])
    assert [row[-1] for row in read(tmp_path / "canvas.csv")[2:]] == ["2", ""]
    assert left == [f"s2 (Bob Example): {open_.why}"]
    write_moodle(tmp_path / "moodle.csv", results, [ADA, BOB])
    assert [row[4] for row in read(tmp_path / "moodle.csv")[1:]] == ["2", ""]


def test_a_worksheet_gets_the_marks_of_its_assignment_alone(tmp_path: Path) -> None:
    path = tmp_path / "worksheet.csv"
    path.write_text(WORKSHEET, encoding="utf-8")
    people = read_roster(path)
    course = Enrolment(Settings(), people)
    course.check_worksheet("one", alone=True)
    with pytest.raises(ValueError, match=r"of one assignment, and two need not be that one; say"):
        course.check_worksheet("two", alone=False)
    Enrolment(Settings(), people, {"two": people}).check_worksheet("two", alone=False)
    Enrolment(Settings(), Roster([ADA])).check_worksheet("two", alone=False)
