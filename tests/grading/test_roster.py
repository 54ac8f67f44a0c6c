import csv
import re
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from grading.intake.roster import Roster, read_roster, with_numbers
from grading.reports import tables
from grading.results import Mark, Result, Student
from grading.settings import Rules, Settings

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
        ("ID,name\ns1,Ada\n", 1, "no column 'student_id'"),
        ("student_id,name\ns1,Ada\n", 1, "no column 'lms_id'.*got student_id, name"),
        ("student_id,lms_id,name,Name\n", 1, "column 'name' came twice"),
        (HEADER, 1, "no student came"),
        (HEADER + ",17,Ada Example,\n", 2, "student_id is empty"),
        (HEADER + TABLE + "s1,18,Cy Example,\n", 4, "student_id 's1' came before, for 's1'"),
        (HEADER + TABLE + "s2,18,Cy Example,\n", 4, "student_id 's2' came before, for 'S2'"),
        (HEADER + TABLE + "s3,17,Cy Example,\n", 4, "lms_id '17' came before, for 's1'"),
        (HEADER + TABLE + "s3,18,Cy,s1\n", 4, "also 's1' came before, for 's1'"),
        (HEADER + TABLE + "exampleada,18,Cy,\n", 4, "student_id 'exampleada' came before"),
        (HEADER + "s\0,17,Ada,\n", 2, "'s' cannot be anybody's; wanted are characters"),
        (HEADER + "unmatched~s1,17,Ada,\n", 2, "cannot be anybody's"),
        (HEADER + "s" * 129 + ",17,Ada,\n", 2, "has 129 characters; wanted at most 128"),
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


# exports of platforms, written as their sources do

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Problem Set 1 (345),Essay (346),\
Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,20.00,10.00,(read only),(read only)
"Example, Ada",1001,s1,ada@example.org,Section 1,,,9.00,90.00,45.00
"Example, Ben",1002,s2,ben,Section 1 and Section 2,quiet,3.50,,,
"Student, Test",1009,,0123456789abcdef0123456789abcdef01234567,Section 1,,,,,
"""
WORKSHEET = """\
Identifier,Full name,ID number,Email address,Status,Group,Grade,Maximum grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 71,Ada Example,s1,ada@example.org,Submitted for grading,Red,,20.00,Yes,\
"Friday, 20 November 2026, 11:59 PM",-,
Participant 72,Ben Example,s2,ben@example.org,No submission,Blue,5.00,20.00,Yes,-,\
"Monday, 23 November 2026, 8:05 AM",see me
"""
PARTICIPANTS = """\
First name,Last name,Email address,Groups
Ada,Example,ada@example.org,Red
Ben,Example,ben@example.org,"Red, Blue"
"""
BERLIN = Settings(
    ZoneInfo("Europe/Berlin"), rules={"one": Rules(datetime(2026, 11, 20, tzinfo=UTC))}
)


@pytest.mark.parametrize("change", ["", ";", "mark", "two names", "hidden row absent"])
def test_the_gradebook_of_canvas_is_a_roster(tmp_path, change):
    text = CANVAS
    if change == "two names":
        text = text.replace("Student,ID", "LastName,FirstName,ID").replace(", ", '","')
        text = text.replace(",,,,,,Manual", ",,,,,,,Manual").replace("Possible,", "Possible,,")
    elif change == "hidden row absent":
        text = text.replace(",,,,,,Manual Posting,,,\n", "")
    elif change == ";":
        text = text.replace(",", ";").replace("; ", ", ")
    elif change == "mark":
        text = "\ufeff" + text
    roster = read_roster(written(tmp_path, text))

    names = ["Ada Example", "Ben Example"]
    if change != "two names":
        names = ["Example, Ada", "Example, Ben"]
    assert list(roster) == [
        Student("s1", "1001", names[0], ("ada@example.org",)),
        Student("s2", "1002", names[1], ("ben",)),
    ]
    assert roster.sheet.platform == "Canvas"
    assert [whose for _, whose in roster.sheet.rows if whose] == ["s1", "s2"]


def test_the_column_that_identifies_is_chosen_or_asked_for(tmp_path):
    without = CANVAS.replace(",s1,", ",,").replace(",s2,", ",,")
    assert [each.student_id for each in read_roster(written(tmp_path, without))] == [
        "ada@example.org",
        "ben",
    ]
    half = written(tmp_path, CANVAS.replace(",s2,", ",,"))
    roster = read_roster(half)
    assert [each.student_id for each in roster] == ["s1", "ben"]
    (note,) = roster.notes
    assert note.startswith("roster.csv, line 5: SIS User ID of Example, Ben is empty; SIS Login ID")
    neither = CANVAS.replace(",s2,ben,", ",,,")
    roster = read_roster(written(tmp_path, neither))
    assert [each.student_id for each in roster] == ["s1"]
    (note,) = roster.notes
    assert note.startswith("roster.csv, line 5: SIS User ID and SIS Login ID of Example, Ben are")
    assert [whose for _, whose in roster.sheet.rows if whose] == ["s1"]
    half = written(tmp_path, CANVAS.replace(",s2,", ",,"))
    chosen = read_roster(half, Settings(student_id="SIS Login ID"))
    assert next(iter(chosen)) == Student("ada@example.org", "1001", "Example, Ada", ("s1",))
    by_number = read_roster(half, Settings(student_id="ID"))
    assert [each.student_id for each in by_number] == ["1001", "1002"]
    with pytest.raises(ValueError, match=r"line 1: no column 'Login'.*; got Student, ID"):
        read_roster(half, Settings(student_id="Login"))
    nothing = without.replace(",ada@example.org,", ",,").replace(",ben,", ",,")
    with pytest.raises(ValueError, match="nothing identifies the students; wanted a column SIS"):
        read_roster(written(tmp_path, nothing))


def test_somebody_called_test_student_stays_one(tmp_path):
    tester = "1009,,0123456789abcdef0123456789abcdef01234567"
    path = written(tmp_path, CANVAS.replace(tester, "1009,s9,test"))
    assert [each.student_id for each in read_roster(path)] == ["s1", "s2", "s9"]
    # without a number, beside others who have one, it is the one for tests
    path = written(tmp_path, CANVAS.replace(tester, "1009,,test"))
    roster = read_roster(path)
    assert [each.student_id for each in roster] == ["s1", "s2"]
    assert [student for cells, student in roster.sheet.rows if "test" in cells] == [None]
    by_login = Settings(student_id="SIS Login ID")
    assert [each.student_id for each in read_roster(path, by_login)][2:] == ["test"]


def test_the_worksheet_of_moodle_is_a_roster(tmp_path):
    roster = read_roster(written(tmp_path, WORKSHEET), BERLIN)

    assert list(roster) == [
        Student("s1", "Participant 71", "Ada Example", ("ada@example.org",)),
        Student("s2", "Participant 72", "Ben Example", ("ben@example.org",)),
    ]
    assert roster.by_lms_id("71").student_id == "s1"
    # by hand: Berlin is one hour before UTC in November
    assert roster.submitted == {"s1": datetime(2026, 11, 20, 22, 59, tzinfo=UTC)}
    assert (roster.group_of("s1"), roster.members("blue")) == ("Red", [list(roster)[1]])
    assert read_roster(written(tmp_path, WORKSHEET)).submitted == {}
    # Moodle's word for those who are in no group
    alone = read_roster(written(tmp_path, WORKSHEET.replace(",Red,", ",Default group,")))
    assert [alone.group_of(each) for each in ("s1", "s2")] == ["", "Blue"]


def test_the_participants_of_moodle_are_a_roster(tmp_path):
    roster = read_roster(written(tmp_path, PARTICIPANTS))

    assert list(roster) == [
        Student("ada@example.org", "", "Ada Example"),
        Student("ben@example.org", "", "Ben Example"),
    ]
    assert (roster.group_of("ada@example.org"), roster.group_of("ben@example.org")) == ("Red", "")


def test_a_time_that_cannot_be_read_is_said_of_its_student_and_stops_nobody(tmp_path):
    text = "student_id,lms_id,name,submitted\ns1,,Ada,soon\ns2,,Ben,2026-11-20 12:00\n"
    roster = read_roster(written(tmp_path, text), BERLIN)
    assert roster.submitted == {"s2": datetime(2026, 11, 20, 11, tzinfo=UTC)}
    assert len(roster.notes) == 1
    assert roster.notes[0].startswith(
        "roster.csv, line 2: when s1 handed in cannot be read; soon came, wanted a time such as"
    )


def test_times_without_any_zone_are_refused(tmp_path):
    text = "student_id,lms_id,name,submitted\ns1,,Ada,2026-11-20 22:00\n"
    with pytest.raises(ValueError, match=r"line 2: .* in no time zone; say"):
        read_roster(written(tmp_path, text), replace(BERLIN, timezone=None))


def test_one_s_own_times_and_groups(tmp_path):
    text = "student_id,lms_id,name,submitted,group\ns1,,Ada,2026-11-20T22:00Z,A 1\ns2,,Ben,,\n"
    roster = read_roster(written(tmp_path, text), BERLIN)
    assert roster.submitted == {"s1": datetime(2026, 11, 20, 22, tzinfo=UTC)}
    assert (roster.group_of("s1"), roster.group_of("s2")) == ("A 1", "")
    assert roster.sheet is None


def test_numbers_of_one_problem_set_are_taken_from_its_worksheet(tmp_path):
    away = Student("s7", "7", "Away Example")
    course = Roster([Student("s1", "5", "Ada Example"), Student("S2", "6", "Ben B", ("x",)), away])
    text = WORKSHEET.replace(",s1,", ",,").replace(",s2,", ",X,")
    more = "Participant 73,Cy Example,s9,cy@example.org,No submission,,,20.00,Yes,-,-,\n"
    roster, notes = with_numbers(course, written(tmp_path, text + more), BERLIN)

    # one is found by name, the other by an identifier; the number of the course does not remain
    assert [(each.student_id, each.lms_id) for each in roster] == [
        ("s1", "Participant 71"),
        ("S2", "Participant 72"),
        ("s7", ""),
    ]
    assert list(roster.submitted) == ["s1"]
    assert roster.group_of("S2") == "Blue"
    assert notes == [
        "roster.csv, line 4: Cy Example Participant 73 is not on the roster of the course"
    ]
    assert [whose for _, whose in roster.sheet.rows] == ["s1", "S2", None]


def test_two_lines_of_one_student_are_named(tmp_path):
    course = Roster([Student("s1", "", "Ada Example")])
    twice = written(tmp_path, WORKSHEET.replace(",s2,", ",s1,"))
    with pytest.raises(ValueError, match="line 3: s1 came before, in line 2"):
        with_numbers(course, twice, BERLIN)


# what platforms write elsewhere: the titles and times are those of Moodle's language packs

IN_GERMAN = """\
ID,"Vollständiger Name",ID-Nummer,E-Mail-Adresse,Status,Gruppe,Bewertung,Bestwertung,\
"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)"
Teilnehmer/in71,"Ada Example",s1,ada@example.org,"Zur Bewertung abgegeben",Red,,"20,00",Ja,\
"Freitag, 20. November 2026, 23:59",-
Teilnehmer/in72,"Ben Example",s2,ben@example.org,"Keine Abgabe",Standard-Gruppe,"5,00","20,00",Ja,\
-,"Montag, 23. November 2026, 08:05"
"""
IN_FRENCH = """\
Identifiant,"Nom complet","Numéro d’identification","Adresse de courriel",Statut,Groupe,Note,\
"Note maximale","La note peut être modifiée","Dernière modification (travail remis)",\
"Dernière modification (note)"
Participant71,"Ada Example",s1,ada@example.org,"Remis pour évaluation",Red,,"20,00",Oui,\
"vendredi 20 novembre 2026, 23:59",-
Participant72,"Ben Example",s2,ben@example.org,"Non remis","Groupe par défaut","5,00","20,00",Oui,\
-,"lundi 23 novembre 2026, 08:05"
"""
IN_US = (
    WORKSHEET.replace("Maximum grade", "Maximum Grade")
    .replace("Friday, 20 November 2026, 11:59 PM", "Friday, November 20, 2026, 11:59 PM")
    .replace("Monday, 23 November 2026", "Monday, November 23, 2026")
    .replace("Blue", "Default group")
)
SHEETS = {"uk": WORKSHEET.replace("Blue", "Default group"), "us": IN_US}
SHEETS |= {"de": IN_GERMAN, "fr": IN_FRENCH}


@pytest.mark.parametrize("language", SHEETS)
def test_the_worksheet_of_moodle_is_read_in_other_languages(tmp_path, language):
    roster = read_roster(written(tmp_path, "\ufeff" + SHEETS[language]), BERLIN)

    assert [(each.student_id, each.name, each.also) for each in roster] == [
        ("s1", "Ada Example", ("ada@example.org",)),
        ("s2", "Ben Example", ("ben@example.org",)),
    ]
    assert roster.by_lms_id("71").student_id == "s1"
    assert roster.submitted == {"s1": datetime(2026, 11, 20, 22, 59, tzinfo=UTC)}
    assert (roster.group_of("s1"), roster.group_of("s2")) == ("Red", "")
    assert {"Identifier", "Grade", "Maximum grade"} <= roster.sheet.columns.keys()
    assert roster.notes == []


@pytest.mark.parametrize("language", SHEETS)
def test_a_worksheet_goes_back_in_its_language_with_the_grades(tmp_path, language):
    roster = read_roster(written(tmp_path, SHEETS[language]))
    ada = Result(next(iter(roster)), "one", "graded", marks=(Mark("q1", 7.5, 20.0),))
    left = tables.write_moodle(tmp_path / "out.csv", [ada], roster, roster.sheet)
    before = list(csv.reader(SHEETS[language].splitlines()))
    after = list(csv.reader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    place = roster.sheet.columns["Grade"]
    assert after[1][place] == "7.5"
    before[1][place] = after[1][place]
    assert (after, left) == (before, [])  # the most is 20 on both sides, however it is written


def test_participants_of_moodle_in_german_and_french(tmp_path):
    for text in (
        "Vorname,Nachname,E-Mail-Adresse,Gruppen\nAda,Example,ada@example.org,Red\n",
        'Prénom,"Nom de famille","Adresse de courriel",Groupes\nAda,Example,ada@example.org,Red\n',
    ):
        roster = read_roster(written(tmp_path, text))
        assert list(roster) == [Student("ada@example.org", "", "Ada Example")]
        assert roster.group_of("ada@example.org") == "Red"


def test_canvas_without_sections_or_numbers_of_the_university_is_a_roster(tmp_path):
    rows = list(csv.reader(CANVAS.splitlines()))
    for gone in ({"Section"}, {"SIS User ID"}, {"Section", "SIS User ID"}):
        kept = [i for i, title in enumerate(rows[0]) if title not in gone]
        text = "\n".join(
            ",".join(f'"{row[i]}"' if i < len(row) else "" for i in kept) for row in rows
        )
        roster = read_roster(written(tmp_path, text))
        expected = ["s1", "s2"] if "SIS User ID" not in gone else ["ada@example.org", "ben"]
        assert [each.student_id for each in roster] == expected
        result = Result(next(iter(roster)), "Problem Set 1", "graded", marks=(Mark("q1", 7, 20),))
        tables.write_canvas(tmp_path / "out.csv", [result], roster, None, roster.sheet)
        after = list(csv.reader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
        assert after[0] == [*[each for each in rows[0][:5] if each not in gone], rows[0][6]]
        assert after[2][-1] == "7"


def test_the_hidden_row_of_canvas_may_be_longer_than_its_header(tmp_path):
    # its exporter adds the cells of the grading standard there whether or not there is a total
    roster = read_roster(written(tmp_path, CANVAS.replace("Manual Posting,,,", "Manual,,,,,,")))
    assert [each.student_id for each in roster] == ["s1", "s2"]


@pytest.mark.parametrize(
    ("identifier", "folder"),
    [
        ("2024/17", "2024%2F17"),
        ("a b", "a%20b"),
        ("uni\\ada", "uni%5Cada"),
        ("o'example", "o%27example"),
        ("=s1", "%3Ds1"),
        ("../s1", "%2E%2E%2Fs1"),
    ],
)
def test_an_identifier_that_no_folder_can_have_is_one_all_the_same(tmp_path, identifier, folder):
    text = f'student_id,lms_id,name\n"{identifier}",17,Ada\ns2,18,Ben\n'
    roster = read_roster(written(tmp_path, text))
    ada = Student(identifier, "17", "Ada")
    assert next(iter(roster)) == ada
    # by itself, by what this product calls its folder, and by what Moodle's cleaning leaves
    cleaned = re.sub(r"[&<>\"`|':\\\\/]", "", identifier)
    for name in (identifier, identifier.upper(), folder, cleaned):
        assert roster.by_id(name) == ada, name


def test_names_that_moodle_has_cleaned_are_the_same_names():
    roster = Roster(
        [
            Student("s1", "", "Ada O'Example"),
            Student("s2", "", 'Ben "B." Ex&ample'),
            Student("s3", "", "Cy Ex/am:ple"),
            Student("s4", "", "Dee_Dee Example"),
            Student("s5", "", "Eve D\N{RIGHT SINGLE QUOTATION MARK}Example"),
        ]
    )
    written_so = ["Ada OExample", "Ben B. Example", "Cy Example", "Dee Dee Example", "Eve DExample"]
    assert [roster.by_name(name).student_id for name in written_so] == [
        "s1",
        "s2",
        "s3",
        "s4",
        "s5",
    ]


def test_groups_are_found_by_what_moodle_makes_of_their_names(tmp_path):
    path = written(tmp_path, "student_id,lms_id,name,group\ns1,,Ada,Lab_A: M/W\ns2,,Ben,lab_b\n")
    roster = read_roster(path)
    assert [each.student_id for each in roster.members("Lab A MW")] == ["s1"]
    assert [each.student_id for each in roster.members("lab b")] == ["s2"]
