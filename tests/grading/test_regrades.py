"""Requests to look again: answered in one table, put into the gradebook once."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from grading.course import export, grade
from tests.grading.test_remark import Course

HEAD = "Timestamp,student_id,question,request"


@pytest.fixture
def few(tmp_path: Path) -> Course:
    made = Course(tmp_path)
    made.hand_in("s2", q3="ordered = np.array([1.0, 2.0])")
    (made.submissions / "s3" / "tiny.ipynb").unlink()
    grade(made.order())
    return made


def ask(few: Course, *lines: str, head: str = HEAD) -> None:
    table = "\n".join([head, *lines])
    (few.out / "regrade-requests.csv").write_text(table, encoding="utf-8")


def answer(few: Course, line: int, **cells: str) -> None:
    """Fill in some cells of a line, counted from 0, as a person does."""
    rows = requests(few)
    rows[line] |= cells
    with (few.out / "regrade-requests.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def requests(few: Course) -> list[dict[str, str]]:
    path = few.out / "regrade-requests.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def exported(few: Course) -> list[str]:
    """Return what an export says of requests."""
    said = export(few.out, few.roster, source=few.source)
    return [line for line in said if line.startswith("regrade-requests.csv")]


def test_a_request_is_completed_and_answered_once(few: Course) -> None:
    ask(few, '1 May,S2,q3,"=HYPERLINK(""x"")"', "2 May,s1,q1,Why full points?")
    assert exported(few) == ["regrade-requests.csv: 0 answered now, 2 open"]
    first, second = requests(few)
    assert first["mark"].startswith("0 of 1: the numbers are others")
    assert first["status"] == second["status"] == "open"
    assert (first["Timestamp"], first["request"]) == ("1 May", '\'=HYPERLINK("x")')

    answer(few, 0, points="0,5", answer="Half: they are your numbers.")
    answer(few, 1, answer="Because it is right.")
    assert exported(few) == ["regrade-requests.csv: 2 answered now, 0 open"]
    assert few.points("s2") == {"q1": "2", "q2": "3", "q3": "0.5", "q4": "", "total": "5.5"}
    assert "Half: they are your numbers." in few.page("s2")
    assert "A person looked at q3" in few.page("s2")
    assert "Because it is right." in few.page("s1")
    assert [line["status"] for line in requests(few)] == ["answered", "answered"]
    assert requests(few)[0]["mark"].startswith("0 of 1")

    # what somebody decides later stays
    before = (few.out / "regrade-requests.csv").read_bytes()
    few.enter("s2", "q3", 1)
    assert exported(few) == []
    assert (few.out / "regrade-requests.csv").read_bytes() == before
    assert few.points("s2")["q3"] == "1"


def test_a_question_may_be_called_as_students_read_it(few: Course) -> None:
    ask(
        few,
        "s2,Question 3,why,0.25",
        "s1,Q1,why,1",
        "s1,2,why,1",
        head=HEAD.partition(",")[2] + ",points",
    )
    assert exported(few) == ["regrade-requests.csv: 3 answered now, 0 open"]
    assert few.points("s2")["q3"] == "0.25"
    assert (few.points("s1")["q1"], few.points("s1")["q2"]) == ("1", "1")


def test_grading_settles_requests_too(few: Course) -> None:
    ask(few, "s2;q3;Please;0.25", head="student;question;request;points")
    assert "regrade-requests.csv: 1 answered now, 0 open" in grade(few.order())
    assert few.points("s2")["q3"] == "0.25"
    text = (few.out / "regrade-requests.csv").read_text(encoding="utf-8-sig")
    assert text.startswith("student;question;request;points;answer;mark;status\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("s9,tiny,q3,why,,", "student must be one with marks in tiny; s9 is unknown"),
        ("s3,tiny,q3,why,,", "student must be one with marks in tiny; s3 is missing"),
        ("s2,tiny,q7,why,,", "question must be one of q1, q2, q3, q4; got q7"),
        ("s2,huge,q3,why,,", "assignment must be one of tiny; got huge"),
        ("s2,tiny,q3,why,2,", "points must be a number from 0 to 1; got 2"),
        ("s2,tiny,q3,why,nan,", "points must be a number from 0 to 1; got nan"),
        ("s2,tiny,q3,why,some,", "points must be a number from 0 to 1; got some"),
    ],
)
def test_a_line_that_is_not_understood_says_why_and_costs_no_other(
    few: Course, line: str, words: str
) -> None:
    head = "student,assignment,question,request,points,answer"
    ask(few, line, "s2,tiny,q3,why,1,", head=head)
    said = exported(few)
    assert said[1].startswith("regrade-requests.csv, line 2: ")
    assert words in said[1]
    assert words in requests(few)[0]["status"]
    assert few.points("s2")["q3"] == "1"
    answer(few, 0, student="s1", assignment="tiny", question="q3", points="0")
    assert exported(few) == ["regrade-requests.csv: 1 answered now, 0 open"]
    assert few.points("s1")["q3"] == "0"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("student,request\n", "line 1: no column 'question'; wanted student, question, request"),
        ("student,question,request,Student\n", "line 1: column 'student' came twice"),
        ("student,question,request\ns1,q1,why,and\n", "line 2: 4 cells came; wanted 3"),
        ('student,question,request\ns1,q1,"why', "line 2: not readable as CSV"),
    ],
)
def test_a_table_that_is_none_stops_before_anything_runs(
    few: Course, table: str, words: str
) -> None:
    (few.out / "regrade-requests.csv").write_text(table, encoding="utf-8")
    with pytest.raises(ValueError, match="regrade-requests") as refused:
        grade(few.order())
    assert words in str(refused.value)
    assert (few.out / "regrade-requests.csv").read_text(encoding="utf-8") == table


def test_a_member_of_a_group_asks_for_all(tmp_path: Path) -> None:
    few = Course(tmp_path)
    students = ("s1,,A,g", "s2,,B,g", "s3,,C,")
    few.roster.write_text("\n".join(["student_id,lms_id,name,group", *students]), encoding="utf-8")
    few.path("s2").unlink()
    few.out.mkdir()
    (few.out / "course.toml").write_text("[tiny]\ngroups = true\n", encoding="utf-8")
    grade(few.order())
    ask(few, "s2,q1,why,1", head="student,question,request,points")
    assert exported(few) == ["regrade-requests.csv: 1 answered now, 0 open"]
    assert [few.points(student)["q1"] for student in few.students] == ["1", "1", "2"]
