import re

import pytest

from grading.intake.roster import Roster, read_roster
from grading.results import Student

HEADER = "student_id,lms_id,name,also\n"
ADA = Student("s1", "17", "Ada Example", ("ada@example.org", "exampleada"))
BEN = Student("S2", "", "Ben Example")


def written(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return path


TABLE = "s1,17,Ada Example,ada@example.org exampleada\nS2,,Ben Example,\n"


@pytest.mark.parametrize(
    "text",
    [
        HEADER + TABLE,
        "\ufeff" + HEADER + TABLE,
        (HEADER + TABLE).replace("\n", "\r\n"),
        (HEADER + TABLE).replace(",", ";"),
        "Student_ID, LMS_id ,NAME,Also\n" + TABLE,
        HEADER + "\n,,,\n" + TABLE + "\n",
        HEADER + '"s1",17,"Ada\nExample",ada@example.org  exampleada\n S2 ,,Ben Example,',
    ],
    ids=["plain", "mark", "windows", "semicolon", "header", "blank lines", "quoted"],
)
def test_a_roster_is_read(tmp_path, text):
    roster = read_roster(written(tmp_path, text))

    assert list(roster) == [ADA, BEN]
    assert len(roster) == 2


def test_further_columns_are_left_alone_and_the_order_is_free(tmp_path):
    path = written(tmp_path, "group,name,lms_id,student_id\nA,Ada Example,17,s1\n")

    assert list(read_roster(path)) == [Student("s1", "17", "Ada Example")]


def test_names_are_composed_and_lose_what_cannot_be_shown(tmp_path):
    path = written(tmp_path, HEADER + "zoe\u0308,17,Zoe\u0308 \x1b[31m\u202eExample,\n")

    assert list(read_roster(path)) == [Student("zoë", "17", "Zoë [31mExample")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no column 'student_id'; wanted student_id, lms_id, name; got nothing"),
        ("student_id,name\ns1,Ada\n", 1, "no column 'lms_id'.*got student_id, name"),
        ("student_id,lms_id,name,Name\n", 1, "column 'name' came twice"),
        (HEADER, 1, "no student came"),
        (HEADER + ",17,Ada Example,\n", 2, "student_id is empty"),
        (HEADER + TABLE + "s1,18,Cy Example,\n", 4, "student_id 's1' came before, for 's1'"),
        (HEADER + TABLE + "s2,18,Cy Example,\n", 4, "student_id 's2' came before, for 'S2'"),
        (HEADER + TABLE + "s3,17,Cy Example,\n", 4, "lms_id '17' came before, for 's1'"),
        (HEADER + TABLE + "s3,18,Cy,s1\n", 4, "also 's1' came before, for 's1'"),
        (HEADER + TABLE + "exampleada,18,Cy,\n", 4, "student_id 'exampleada' came before"),
        (HEADER + "../s1,17,Ada,\n", 2, "'../s1' cannot be the name of a folder; wanted"),
        (HEADER + "=s1,17,Ada,\n", 2, "'=s1' cannot be the name of a folder"),
        (HEADER + "s 1,17,Ada,\n", 2, "'s 1' cannot be the name of a folder"),
        (HEADER + "s\0,17,Ada,\n", 2, "'s' cannot be the name of a folder"),
        (HEADER + "unmatched~s1,17,Ada,\n", 2, "cannot be the name of a folder"),
        (HEADER + "s1,17\n", 2, "2 cells came; wanted 4"),
        (HEADER + "s1,17,Ada,,,\n", 2, "6 cells came; wanted 4"),
        (HEADER + 's1,17,"Ada\n', 2, "not readable as CSV"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, line, words):
    path = written(tmp_path, text)

    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}, line {line}: .*{words}"):
        read_roster(path)


def test_another_encoding_is_refused_with_the_line(tmp_path):
    path = written(tmp_path, HEADER + "s1,17,Ada,\ns2,18,Zoë,\n", "latin-1")

    with pytest.raises(ValueError, match=r"line 3: byte 0xeb came, which is not UTF-8"):
        read_roster(path)


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ("s1", ADA),
        (" S1 ", ADA),
        ("S2", BEN),
        ("s2", BEN),
        ("ada@example.org", ADA),
        ("ADA@example.org", ADA),
        ("17", None),
        ("", None),
        ("Ada Example", None),
    ],
)
def test_students_are_found_by_their_identifiers(text, student):
    assert Roster([ADA, BEN]).by_id(text) == student


def test_students_are_found_by_the_platform():
    roster = Roster([ADA, BEN, Student("s3", "Participant 23", "Cy Example")])

    assert roster.by_lms_id("17") == ADA
    assert roster.by_lms_id("Participant 17") == ADA
    assert roster.by_lms_id("23").student_id == "s3"
    assert roster.by_lms_id("") is None
    assert roster.by_lms_id("7") is None


def test_a_number_that_two_could_mean_is_nobodys():
    roster = Roster([ADA, Student("s3", "Participant 17", "Cy Example")])

    assert roster.by_lms_id("17") == ADA
    assert roster.by_lms_id("Participante 17") is None


def test_students_are_found_by_their_names_if_these_are_unique():
    roster = Roster([ADA, BEN, Student("s3", "", "Ben Example"), Student("s4", "", "")])

    assert roster.by_name("EXAMPLE, Ada") == ADA
    assert roster.by_name("Ben Example") is None
    assert roster.by_name("") is None


def test_an_identifier_may_come_twice_for_one_student():
    student = Student("s1", "", "Ada Example", ("s1", "S1"))

    assert Roster([student]).by_id("s1") == student
