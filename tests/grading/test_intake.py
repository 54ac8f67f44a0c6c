import os
import stat
import zipfile
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.intake import collection as intake
from grading.intake import sources as _sources
from grading.intake.collection import Special, collect, safe_name
from grading.intake.roster import Roster
from grading.results import Student

ADA = Student("s1", "17", "Ada Example", ("ada@example.org",))
BEN = Student("s2", "18", "Ben Example")
CY = Student("s3", "19", "Cy Example")
ROSTER = Roster([ADA, BEN, CY])
MOODLE = "_assignsubmission_file"
NAMELESS = "neither folder nor file says which problem set this answers"


def folder(root, files):
    for name, raw in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return root


def packed(path, files):
    """Write a zip of (name or ZipInfo, bytes)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, raw)
    return path


@pytest.fixture(params=["folder", "zip", "folder around", "zip with a folder around"])
def brought(request, tmp_path):
    """Bring the same files in each of the ways."""

    def bring(files):
        if "around" in request.param:
            files = {f"submitted/week 3/{name}": raw for name, raw in files.items()}
        if "zip" in request.param:
            return packed(tmp_path / "in.zip", files)
        return folder(tmp_path / "in", files)

    return bring


def outcome(collection):
    """Return what came out by student and problem set."""
    submissions = list(collection)
    assert len(collection) == len(submissions)
    found = {(one.student.student_id, one.assignment): one for one in submissions}
    assert len(found) == len(submissions)
    return found


def statuses(collection):
    return {
        key: one.problem[0] if one.problem else one.notebook
        for key, one in outcome(collection).items()
    }


def only(collection, student_id="s1", assignment="ps1"):
    return outcome(collection)[student_id, assignment]


def assert_arrive(brought, files, roster, assignments, missing):
    """Check that each file arrives as the work that it is said to be, and what else is missing."""
    collection = collect(brought({name: name.encode() for name in files}), roster, assignments)
    came = {tuple(work.split()): name.encode() for name, work in files.items() if work}
    assert statuses(collection) == came | {tuple(work.split()): "missing" for work in missing}


# the layouts


def test_nbgraders_layout(brought):
    path = brought(
        {
            "s1/ps1/ps1.ipynb": b"a1",
            "s1/ps1/timestamp.txt": b"now",
            "s1/ps2/ps2.ipynb": b"a2",
            "S2/ps1/any name.ipynb": b"b1",
        }
    )
    collection = collect(path, ROSTER, ["ps1", "ps2"])
    assert statuses(collection) == {
        ("s1", "ps1"): b"a1",
        ("s1", "ps2"): b"a2",
        ("s2", "ps1"): b"b1",
        ("s2", "ps2"): "missing",
        ("s3", "ps1"): "missing",
        ("s3", "ps2"): "missing",
    }
    assert [one.student for one in collection] == [ADA, ADA, BEN, BEN, CY, CY]
    assert collection.notes == ["1 files of the operating system or of Jupyter were ignored"]


@pytest.mark.parametrize(
    ("files", "roster", "missing"),
    [
        # a problem set of which nothing came is missing for nobody
        ({"s1/ps1/ps1.ipynb": "s1 ps1", "s2/ps1/ps1.ipynb": "s2 ps1"}, ROSTER, ["s3 ps1"]),
        (
            {
                "s1_ps1.ipynb": "s1 ps1",
                "ps2-s1.ipynb": "s1 ps2",
                "ps1/s2.ipynb": "s2 ps1",
                "s2_PS2.ipynb": "s2 ps2",
            },
            ROSTER,
            ["s3 ps1", "s3 ps2"],
        ),
    ],
    ids=["nbgrader", "flat"],
)
def test_names_tell_one_problem_set_from_another(brought, files, roster, missing):
    assert_arrive(brought, files, roster, ["ps1", "ps2"], missing)


MOODLES = (
    "Ada Example_17_assignsubmission_file/ps1.ipynb",
    "Ada Example_17_assignsubmission_file_/ps1.ipynb",
    "Ada Example_17_assignsubmission_file/Ben Example_18_assignsubmission_file/ps1.ipynb",
    "Ada Example_17_assignsubmission_file/s2/x.ipynb",
    "Ada Example_17_assignsubmission_file/exampleben_18_2_ps1.ipynb",
    "Ada Example_17_assignsubmission_file_ps1.ipynb",
    "Ada Example_17_assignsubmission_file_Ben Example_18_assignsubmission_file_ps1.ipynb",
    "Example Ada_17_assignsubmission_file/ps1.ipynb",
    "Participant_17_assignsubmission_file/ps1.ipynb",
)
CALLED = Roster([Student("s1", "Teilnehmer 55", "Ada Example"), Student("s2", "56", "")])


@pytest.mark.parametrize(
    ("files", "roster", "missing"),
    [
        ({"s1.ipynb": "s1", "s2.ipynb": "s2"}, ROSTER, ["s3"]),
        # without a roster, folders around are told by nbgrader's layout
        ({"s1/ps1/x.ipynb": "s1", "s2/ps1/x.ipynb": "s2"}, None, []),
        ({"s1/homework/week/x.ipynb": "s1", "s2/x.ipynb": "s2"}, ROSTER, ["s3"]),
        ({"in/s1/x.ipynb": "s1", "__MACOSX/in/s1/._x.ipynb": None}, ROSTER, ["s2", "s3"]),
        # numbers in the name of a file on Canvas that are nobody's
        ({"exampleada_17_1_x_3_4_ps1.ipynb": "s1"}, ROSTER, ["s2", "s3"]),
        *(
            ({name: "s1", f"Cy Example_19{MOODLE}/ps1.ipynb": "s3"}, ROSTER, ["s2"])
            for name in MOODLES
        ),
        # by the name, where the roster has no number
        (
            {f"Ada Example_55{MOODLE}/x.ipynb": "s1"},
            Roster([Student("s1", "", "Ada Example"), BEN]),
            ["s2"],
        ),
        # by the word of the roster for a participant
        (
            {f"Teilnehmer_55{MOODLE}/x.ipynb": "s1", f"Anybody_56{MOODLE}/x.ipynb": "s2"},
            CALLED,
            [],
        ),
    ],
)
def test_names_tell_whose_work_it_is(brought, files, roster, missing):
    files = {name: whose and f"{whose} ps1" for name, whose in files.items()}
    assert_arrive(brought, files, roster, ["ps1"], [f"{student} ps1" for student in missing])


def test_a_folder_for_each_student_and_one_problem_set(brought):
    path = brought(
        {"s1/my work.ipynb": b"a", "ada@example.org/copy.ipynb": b"a", "s2/b.IPYNB": b"b"}
    )
    collection = collect(path, ROSTER, ["ps1"])
    assert statuses(collection) == {
        ("s1", "ps1"): b"a",
        ("s2", "ps1"): b"b",
        ("s3", "ps1"): "missing",
    }
    assert "came 2 times, the same each time" in collection.notes[0]


def test_without_a_roster_names_are_students(tmp_path):
    path = folder(tmp_path / "in", {"s1.ipynb": b"a", "s9_ps1.ipynb": b"b", "a b.ipynb": b"c"})
    found = outcome(collect(path, None, ["ps1"]))
    assert found["s1", "ps1"].problem is None
    assert found["s9", "ps1"].student == Student("s9", "", "s9")
    assert found["a b", "ps1"].student == Student("a b", "", "a b")
    path = folder(tmp_path / "other", {"a\nb.ipynb": b"c", "s1.ipynb": b"a"})
    assert outcome(collect(path, None, ["ps1"]))["unmatched~a%0Ab", "ps1"].problem == (
        "needs-review",
        "'a b' cannot be a student number",
    )


def test_without_a_roster_one_folder_of_notebooks_is_one_student(tmp_path):
    path = folder(tmp_path / "in", {"s1/x.ipynb": b"a"})
    assert statuses(collect(path, None, ["ps1"])) == {("s1", "ps1"): b"a"}


def test_another_problem_set_of_nbgraders_folder_is_noted(tmp_path):
    path = folder(
        tmp_path / "in",
        {"s1/ps1/x.ipynb": b"a1", "s1/ps2/x.ipynb": b"a2", "s2/homework/ps1.ipynb": b"b1"},
    )
    collection = collect(path, ROSTER, ["ps1"])
    assert statuses(collection)["s1", "ps1"] == b"a1"
    assert statuses(collection)["s2", "ps1"] == b"b1"
    assert collection.notes == ["s1/ps2/x.ipynb: not one of the problem sets asked for"]


# the platforms


def test_canvas(brought):
    path = brought(
        {
            "exampleada_17_881_ps1.ipynb": b"a",
            "exampleben_LATE_18_882_ps1-1.ipynb": b"b",
            "poecy_99_883_ps1.ipynb": b"c",
        }
    )
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].notebook == b"a"
    assert found["s2", "ps1"].notebook == b"b"
    assert found["s3", "ps1"].problem[0] == "missing"
    stranger = found["unmatched~Canvas%2099%20poecy", "ps1"]
    assert stranger.notebook == b"c"
    assert stranger.problem == ("needs-review", "the roster has no lms_id 99, as Canvas calls it")
    assert stranger.student.lms_id == "99"


def test_canvas_counts_the_newest_upload_and_says_so(tmp_path):
    path = packed(
        tmp_path / "in.zip",
        {
            "exampleada_17_900_ps1-1.ipynb": b"new",
            "exampleada_17_89_ps1.ipynb": b"old",
            "exampleben_18_5_ps1.ipynb": b"b1",
            "exampleben_18_6_ps1.ipynb": b"b2",
        },
    )
    collection = collect(path, ROSTER, ["ps1"])
    assert statuses(collection)["s1", "ps1"] == b"new"
    assert statuses(collection)["s2", "ps1"] == b"b2"
    assert collection.notes[0] == (
        "in.zip: exampleada_17_900_ps1-1.ipynb: counts as the newest, in place of "
        "in.zip: exampleada_17_89_ps1.ipynb"
    )


@pytest.mark.parametrize(("one", "other"), [("part-1", "part-2"), ("ps1", "other"), ("a", "a-b")])
def test_different_files_on_canvas_are_left_to_a_human(tmp_path, one, other):
    path = packed(
        tmp_path / "in.zip",
        {f"exampleada_17_1_{one}.ipynb": b"1", f"exampleada_17_2_{other}.ipynb": b"2"},
    )
    submission = only(collect(path, ROSTER, ["ps1"]))
    assert submission.notebook is None
    assert submission.problem[0] == "needs-review"
    assert submission.problem[1].startswith("2 different notebooks came: in.zip: exampleada_17_1_")


def test_a_file_name_cannot_claim_another_student_on_canvas(tmp_path):
    path = packed(tmp_path / "in.zip", {"exampleada_17_1_x_18_2_ps1.ipynb": b"a"})
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s2", "ps1"].problem[0] == "missing"
    doubt = found["unmatched~Canvas%2017%20exampleada", "ps1"].problem
    assert doubt == ("needs-review", "the name can mean lms_id 17 and 18")


@pytest.mark.parametrize("name", ["anon_aB3x9_55_ps1.ipynb", "LATE_anon_aB3x9_55_ps1.ipynb"])
def test_anonymous_canvas_is_left_to_a_human(tmp_path, name):
    path = packed(tmp_path / "in.zip", {name: b"a"})
    found = [one for one in collect(path, ROSTER, ["ps1"]) if one.notebook]
    assert [one.problem[0] for one in found] == ["needs-review"]
    assert found[0].student.lms_id == "anon_aB3x9"


def test_moodles_numbers_of_another_assignment_do_not_pass_for_the_right_ones(tmp_path):
    path = packed(
        tmp_path / "in.zip",
        {f"Ada Example_18{MOODLE}/x.ipynb": b"a", f"Ben Example_55{MOODLE}/x.ipynb": b"b"},
    )
    found = outcome(collect(path, ROSTER, ["ps1"]))
    # one by the name, the other by the number: both wait, and are not missing
    assert found["s1", "ps1"].problem[0] == found["s2", "ps1"].problem[0] == "needs-review"
    assert found["s3", "ps1"].problem == ("missing", "nothing was handed in")
    ada = found["unmatched~Moodle%2018%20Ada%20Example", "ps1"]
    ben = found["unmatched~Moodle%2055%20Ben%20Example", "ps1"]
    assert ada.problem == (
        "needs-review",
        "lms_id 18 is Ben Example on the roster, but Moodle says Ada Example",
    )
    assert ben.problem[0] == "needs-review"
    assert "no lms_id 55 for Ben Example; Moodle numbers participants anew" in ben.problem[1]


def test_without_a_roster_a_platform_is_left_to_a_human(tmp_path):
    path = packed(
        tmp_path / "in.zip",
        {f"x/Ada Example_17{MOODLE}/x.ipynb": b"a", "x/exampleben_18_2_ps1.ipynb": b"b"},
    )
    found = list(collect(path, None, ["ps1"]))
    assert [one.problem[0] for one in found] == ["needs-review"] * 2
    assert "Canvas calls the student 18; only a roster tells the student number" in {
        one.problem[1] for one in found
    }


# what is not clear


def test_whom_the_roster_does_not_list_is_left_to_a_human_under_a_name_of_their_own(tmp_path):
    path = folder(tmp_path / "in", {"17.ipynb": b"a", "s1.ipynb": b"b"})
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].notebook == b"b"
    assert found["unmatched~17", "ps1"].problem == ("needs-review", "17 is not on the roster")
    assert found["unmatched~17", "ps1"].notebook == b"a"


def test_several_from_a_stranger_are_one_for_a_human(tmp_path):
    path = folder(tmp_path / "in", {"x/1.ipynb": b"a", "x/2.ipynb": b"b", "s1/x.ipynb": b""})
    problem = outcome(collect(path, ROSTER, ["ps1"]))["unmatched~x", "ps1"].problem
    assert problem == (
        "needs-review",
        "x is not on the roster; 2 different notebooks came: x/1.ipynb; x/2.ipynb",
    )


def test_two_different_notebooks_are_left_to_a_human(brought):
    path = brought({"s1/a.ipynb": b"a", "s1/b.ipynb": b"b", "s2/b.ipynb": b"b"})
    submission = only(collect(path, ROSTER, ["ps1"]))
    assert submission.notebook is None
    assert submission.problem[0] == "needs-review"
    assert "2 different notebooks came" in submission.problem[1]
    assert "a.ipynb" in submission.origin


def test_a_notebook_that_says_no_problem_set_is_left_to_a_human(tmp_path):
    path = folder(
        tmp_path / "in",
        {
            "s1/ps1.ipynb": b"a1",
            "s1/final.ipynb": b"a2",
            "s2/ps1.ipynb": b"b1",
            "s2/ps2.ipynb": b"b2",
            "s2/copy.ipynb": b"b2",
            "s3/ps1 or ps2.ipynb": b"c",
        },
    )
    collection = collect(path, ROSTER, ["ps1", "ps2"])
    found = outcome(collection)
    assert collection.notes == ["s2/copy.ipynb: the same as another one"]
    assert found["s1", "ps1"].problem[1].startswith("2 different notebooks came")
    assert found["s1", "ps2"].problem == (
        "needs-review",
        f"{NAMELESS}; ASSIGNMENT=ps2 does, where all that comes answers it",
    )
    assert found["s1", "ps2"].notebook == b"a2"
    assert found["s2", "ps1"].notebook == b"b1"
    assert found["s2", "ps2"].notebook == b"b2"
    assert found["s3", "ps1"].problem[0] == found["s3", "ps2"].problem[0] == "needs-review"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("problem-set-1", "problem_set_1"),
        ("Problem Set 1 (2)", "problem_set_1"),
        ("problem_set_1-1", "problem_set_1"),
        ("my_problem_set_10_final", "problem_set_10"),
        ("problem_set_100", None),
    ],
)
def test_a_file_name_says_the_problem_set(tmp_path, name, says):
    path = folder(tmp_path / "in", {f"s1/{name}.ipynb": b"a"})
    assert collect(path, None, ["ps1"]).assignments == ("ps1",)
    assignments = ["problem_set_1", "problem_set_10"]
    found = outcome(collect(path, Roster([ADA]), assignments))
    clear = {each for (_, each), one in found.items() if one.problem is None}
    assert clear == ({says} if says else set())


def test_a_notebook_that_says_no_problem_set_makes_nothing_missing_for_others(tmp_path):
    path = folder(tmp_path / "in", {"s1/ps1.ipynb": b"a1", "s2/final.ipynb": b"b"})
    collection = collect(path, ROSTER, ["ps1", "ps2"])
    assert collection.assignments == ("ps1",)
    assert statuses(collection) == {
        ("s1", "ps1"): b"a1",
        ("s2", "ps1"): "needs-review",
        ("s3", "ps1"): "missing",
    }


def test_where_nothing_says_its_problem_set_all_is_left_to_a_human(tmp_path):
    path = folder(tmp_path / "in", {"s1/final.ipynb": b"a", "s2/final.ipynb": b"b"})
    collection = collect(path, Roster([ADA, BEN]), ["ps1", "ps2"])
    assert collection.assignments == ("ps1", "ps2")
    assert set(statuses(collection).values()) == {"needs-review"}


def test_the_zip_may_say_the_problem_set(tmp_path):
    path = packed(
        tmp_path / "Course-Problem set 1-1234.zip",
        {"exampleada_17_1_final.ipynb": b"a", "exampleben_18_2_problem_set_2.ipynb": b"b"},
    )
    collection = collect(path, Roster([ADA, BEN]), ["problem_set_1", "problem_set_2"])
    assert statuses(collection)["s1", "problem_set_1"] == b"a"
    assert statuses(collection)["s2", "problem_set_2"] == b"b"


def test_other_files_are_noted_and_told_where_no_notebook_came(tmp_path):
    path = folder(
        tmp_path / "in",
        {
            "s1/report.pdf": b"x",
            "s2/data.csv": b"x",
            "s2/n.ipynb": b"b",
            "s3/a.zip": b"PK",
            "R": b"",
        },
    )
    collection = collect(path, ROSTER, ["ps1"])
    found = outcome(collection)
    assert found["s1", "ps1"].problem == (
        "invalid",
        "no notebook was handed in, only s1/report.pdf",
    )
    assert found["s2", "ps1"].notebook == b"b"
    assert found["s3", "ps1"].problem == ("invalid", "no notebook was handed in, only s3/a.zip")
    assert collection.notes == [
        "R: not a notebook",
        "s1/report.pdf: not a notebook",
        "s2/data.csv: not a notebook",
        "s3/a.zip: a zip within, which was not opened",
    ]


def test_other_files_that_say_no_problem_set_are_told_too(tmp_path):
    path = folder(tmp_path / "in", {"s1/report.pdf": b"x", "s2/ps1.ipynb": b"b"})
    assert only(collect(path, ROSTER, ["ps1", "ps2"])).problem == (
        "needs-review",
        "no notebook was handed in; perhaps s1/report.pdf",
    )


def test_what_systems_leave_behind_is_ignored(brought):
    path = brought(
        {
            "s1/x.ipynb": b"a",
            "s1/._x.ipynb": b"junk",
            "s1/.DS_Store": b"junk",
            "s1/.ipynb_checkpoints/x-checkpoint.ipynb": b"old",
            "s2/x.ipynb": b"b",
        }
    )
    collection = collect(path, ROSTER, ["ps1"])
    assert statuses(collection)["s1", "ps1"] == b"a"
    assert collection.notes == ["3 files of the operating system or of Jupyter were ignored"]


def test_names_are_compared_composed(tmp_path):
    roster = Roster([Student("zoë", "17", "Zoë")])
    path = packed(tmp_path / "in.zip", {"zoe\u0308.ipynb": b"a", "zoë.ipynb": b"a"})
    assert statuses(collect(path, roster, ["ps1"])) == {("zoë", "ps1"): b"a"}


def test_control_and_bidirectional_characters_are_not_shown(tmp_path):
    path = packed(tmp_path / "in.zip", {"x\u202e\x1b[2J/a.ipynb": b"a", "s1/\x07.txt": b"b"})
    collection = collect(path, ROSTER, ["ps1"])
    stranger = next(one for one in collection if one.notebook)
    shown = repr(stranger.problem) + stranger.origin + stranger.student.name
    shown += stranger.student.student_id + "".join(collection.notes)
    assert not set(shown) & set("\u202e\x1b\x07")
    assert stranger.student.student_id == "unmatched~x%E2%80%AE%1B%5B2J"


def test_names_that_are_not_unicode_do_no_harm(tmp_path):
    path = folder(tmp_path / "in", {"s1.ipynb": b"a"})
    Path(os.fsdecode(os.fsencode(path) + b"/\xff.ipynb")).write_bytes(b"b")
    collection = collect(path, ROSTER, ["ps1"])
    assert [one.student.student_id for one in collection][-1] == "unmatched~%ED%B3%BF"
    "".join(str(one) for one in collection).encode()


def test_strangers_who_differ_in_case_share_no_folder(tmp_path):
    path = packed(tmp_path / "in.zip", {"x.ipynb": b"a", "X.ipynb": b"b"})
    assert [one.problem[0] for one in collect(path, None, ["ps1"])] == ["needs-review"]


# hostile files


def test_empty_and_large_files_are_invalid(brought, monkeypatch):
    monkeypatch.setattr(_sources, "FILE_LIMIT", 1000)
    path = brought({"s1.ipynb": b"", "s2.ipynb": b"x" * 1001, "s3.ipynb": b"x" * 1000})
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].problem == ("invalid", "the file is empty")
    assert found["s2", "ps1"].problem[0] == "invalid"
    assert "larger than" in found["s2", "ps1"].problem[1]
    assert found["s2", "ps1"].notebook is None
    assert found["s3", "ps1"].notebook == b"x" * 1000


def test_links_are_not_followed(tmp_path):
    secret = folder(tmp_path / "elsewhere", {"x.ipynb": b"secret"})
    path = folder(tmp_path / "in", {"s3.ipynb": b"c"})
    (path / "s1.ipynb").symlink_to(secret / "x.ipynb")
    (path / "s2").symlink_to(secret)
    (path / "note.txt").symlink_to(secret / "x.ipynb")
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].problem == (
        "needs-review",
        "a link to another file came, which is not followed",
    )
    assert found["s2", "ps1"].problem == (
        "needs-review",
        "a link to another folder came, which is not followed",
    )
    assert all(one.notebook != b"secret" for one in found.values())


def test_what_is_not_a_file_is_not_read(tmp_path):
    path = folder(tmp_path / "in", {"s2.ipynb": b"b"})
    os.mkfifo(path / "s1.ipynb")
    assert only(collect(path, ROSTER, ["ps1"])).problem == (
        "needs-review",
        "something that is not a file came",
    )


@pytest.mark.parametrize("becomes", ["link", "pipe", "nothing"])
def test_a_file_that_becomes_something_else_is_not_read(tmp_path, becomes):
    path = folder(tmp_path / "in", {"s1.ipynb": b"a"})
    collection = collect(path, ROSTER, ["ps1"])
    (path / "s1.ipynb").unlink()
    if becomes == "link":
        (path / "s1.ipynb").symlink_to("/etc/hostname")
    elif becomes == "pipe":
        os.mkfifo(path / "s1.ipynb")
    submission = only(collection)
    assert submission.notebook is None
    assert submission.problem[0] == "needs-review"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../s1.ipynb", "leads out of the folder"),
        ("s1/../../s2.ipynb", "leads out of the folder"),
        ("..\\s1.ipynb", "leads out of the folder"),
        ("/s1.ipynb", "is an absolute path"),
        ("C:\\s1.ipynb", "is an absolute path"),
    ],
)
def test_names_that_are_paths_are_left_to_a_human(tmp_path, name, why):
    path = packed(tmp_path / "in.zip", {name: b"a", "s3.ipynb": b"c"})
    found = outcome(collect(path, ROSTER, ["ps1"]))
    stranger = next(one for key, one in found.items() if key[0].startswith("unmatched~"))
    assert stranger.problem == ("needs-review", f"its name in the zip {why}")
    assert "/" not in stranger.student.student_id
    assert found["s1", "ps1"].problem[0] == found["s2", "ps1"].problem[0] == "missing"


def test_a_path_in_nbgraders_layout_is_left_to_a_human_too(tmp_path):
    path = packed(tmp_path / "in.zip", {"s1/ps1/x.ipynb": b"a", "s2/../x.ipynb": b"b"})
    found = statuses(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"] == b"a"
    assert found["unmatched~s2%2F%2E%2E%2Fx%2Eipynb", "ps1"] == "needs-review"


def test_a_nul_in_a_name_is_left_to_a_human(tmp_path):
    path = packed(tmp_path / "in.zip", {"s1_.ipynb_.ipynb": b"a"})
    path.write_bytes(path.read_bytes().replace(b"s1_.ipynb_.ipynb", b"s1\0.ipynb\0.ipynb"))
    found = [one for one in collect(path, ROSTER, ["ps1"]) if one.student.student_id not in ("s1")]
    assert ("needs-review", "its name in the zip has a NUL") in {one.problem for one in found}


def linked(name):
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def altered(path, offset_local, offset_central, size, value):
    """Write a number into every header of a zip."""
    raw = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", offset_local), (b"PK\1\2", offset_central)):
        start = raw.find(signature)
        while start >= 0:
            raw[start + offset : start + offset + size] = value.to_bytes(size, "little")
            start = raw.find(signature, start + 4)
    path.write_bytes(raw)
    return path


def compressed(path, method):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("s1.ipynb", b"a")
    return path


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (
            lambda path: packed(path, [(linked("s1.ipynb"), b"/etc/passwd")]),
            "a link to another file came, which is not followed",
        ),
        (
            lambda path: altered(packed(path, {"s1.ipynb": b"a"}), 6, 8, 2, 1),
            "the file is encrypted in the zip",
        ),
        *(
            (
                lambda path, method=method: compressed(path, method),
                f"the zip packs the file by method {method}, not read here",
            )
            for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        ),
    ],
    ids=["link", "encrypted", "bzip2", "lzma"],
)
def test_what_cannot_be_read_in_a_zip_is_left_to_a_human(tmp_path, write, why):
    submission = only(collect(write(tmp_path / "in.zip"), ROSTER, ["ps1"]))
    assert submission.notebook is None
    assert submission.problem == ("needs-review", why)


def test_a_bomb_is_not_opened(tmp_path):
    path = packed(
        tmp_path / "in.zip", {"s1.ipynb": b"0" * 15_000_000, "s2.ipynb": b"0" * 101_000_000}
    )
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].problem == (
        "needs-review",
        "the zip packs the file more than 500 times smaller",
    )
    assert found["s2", "ps1"].problem == (
        "invalid",
        "the file is larger than 100 MB",
    )


def test_a_bomb_that_claims_to_be_small_is_read_no_further_than_it_claims(tmp_path):
    path = altered(packed(tmp_path / "in.zip", {"s1.ipynb": b"0" * 25_000_000}), 22, 24, 4, 100)
    submission = only(collect(path, ROSTER, ["ps1"]))
    assert submission.notebook is None
    assert submission.problem[0] == "needs-review"
    assert "damaged in the zip" in submission.problem[1]


def test_a_damaged_file_does_not_stop_the_others(tmp_path):
    path = packed(tmp_path / "in.zip", {"s1.ipynb": bytes(range(256)) * 9, "s2.ipynb": b"b"})
    raw = bytearray(path.read_bytes())
    raw[60:70] = b"\xff" * 10
    path.write_bytes(raw)
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s1", "ps1"].problem[0] == "needs-review"
    assert found["s2", "ps1"].notebook == b"b"


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("second", "expected"), [(b"a", b"a"), (b"b", "needs-review")])
def test_one_name_may_be_twice_in_a_zip(tmp_path, second, expected):
    path = packed(tmp_path / "in.zip", [("s1.ipynb", b"a"), ("s1.ipynb", second)])
    assert statuses(collect(path, ROSTER, ["ps1"]))["s1", "ps1"] == expected


def test_names_in_utf8_that_are_not_marked_so_and_in_an_old_encoding_are_read(tmp_path):
    unmarked = altered(packed(tmp_path / "in.zip", {"zoë.ipynb": b"a"}), 6, 8, 2, 0)
    old = packed(tmp_path / "old.zip", {"zo_e.ipynb": b"a"})
    old.write_bytes(old.read_bytes().replace(b"zo_e", b"zo\x89e"))
    for path, name in ((unmarked, "zoë"), (old, "zoëe")):
        found = statuses(collect(path, Roster([Student(name, "", "")]), ["ps1"]))
        assert found == {(name, "ps1"): b"a"}


@pytest.mark.parametrize(
    "raw",
    [b"", b"PK", b"not a zip", b"PK\5\6" + b"\xff" * 18],
    ids=["empty", "short", "text", "ones"],
)
def test_what_is_no_zip_is_refused(tmp_path, raw):
    path = tmp_path / "in.zip"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"in\.zip is not a zip or is damaged"):
        collect(path, ROSTER, ["ps1"])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_a_zip_with_wrong_bytes_is_refused_or_read(tmp_path_factory, data):
    path = packed(
        tmp_path_factory.mktemp("zip") / "in.zip",
        {"s1.ipynb": b"abc" * 20, "x/s2.ipynb": b"b"},
    )
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    try:
        submissions = list(collect(path, ROSTER, ["ps1"]))
    except ValueError as error:
        assert "in.zip" in str(error)  # noqa: PT017, both ways out are right
    else:
        assert all(one.notebook or one.problem for one in submissions)


def test_too_many_or_too_large_in_all_is_refused(tmp_path, monkeypatch):
    path = folder(tmp_path / "in", {f"{i}.ipynb": b"a" * 10 for i in range(3)})
    monkeypatch.setattr(_sources, "COUNT_LIMIT", 2)
    with pytest.raises(ValueError, match="3 files came; wanted at most 2"):
        collect(path, ROSTER, ["ps1"])
    monkeypatch.setattr(_sources, "COUNT_LIMIT", 3)
    monkeypatch.setattr(_sources, "TOTAL_LIMIT", 29)
    with pytest.raises(ValueError, match="30 bytes of notebooks came; wanted at most 29"):
        collect(path, ROSTER, ["ps1"])


def test_a_folder_that_cannot_be_listed_stops_the_intake(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(PermissionError):
        collect(tmp_path, ROSTER, ["ps1"])


def test_what_is_not_there_and_no_problem_set_are_refused(tmp_path):
    with pytest.raises(ValueError, match="neither a folder nor a file"):
        collect(tmp_path / "nothing", ROSTER, ["ps1"])
    with pytest.raises(ValueError, match=r"assignments must be names of problem sets; got \[\]"):
        collect(tmp_path, ROSTER, [])
    with pytest.raises(ValueError, match="got 'ps1'"):
        collect(tmp_path, ROSTER, "ps1")


def test_an_empty_folder_is_all_missing(tmp_path):
    assert set(statuses(collect(tmp_path, ROSTER, ["ps1"])).values()) == {"missing"}
    assert len(collect(tmp_path, None, ["ps1"])) == 0


def test_notebooks_are_read_one_at_a_time(tmp_path, monkeypatch):
    path = folder(tmp_path / "in", {f"{i}.ipynb": b"a" for i in range(20)})
    reads = []
    original = intake._content
    monkeypatch.setattr(intake, "_content", lambda *given: reads.append(1) or original(*given))
    collection = collect(path, None, ["ps1"])
    assert (len(collection), len(reads)) == (20, 0)
    next(iter(collection))
    assert len(reads) == 1
    assert safe_name("17") == "17"


# whoever may have written what waits is not missing


@pytest.mark.parametrize(
    ("name", "notebook", "waits"),
    [
        # two have the name, and the number is new
        ("Ada Example_55_assignsubmission_file/x.ipynb", b"x", {"s1", "s4"}),
        ("Lab-Cy OExample_55_assignsubmission_file/x.ipynb", b"x", {"s3"}),
        ("exampleben_99_2_ps1.ipynb", b"x", {"s2"}),
        ("oexamplecy_99_2_ps1.ipynb", b"x", {"s3"}),
        ("Ben Example/x.ipynb", b"x", {"s2"}),
        ("stranger/x.ipynb", b'{"cells": [{"source": ["student_id = \\"S2\\""]}]}', {"s2"}),
        ("Red Team_7_assignsubmission_file/x.ipynb", b"x", {"s2", "s3"}),
    ],
)
def test_whom_a_notebook_hints_at_waits_with_it(tmp_path, name, notebook, waits):
    roster = Roster([])
    for number, called in enumerate(("Ada Example", "Ben Example", "Cy O'Example"), 1):
        roster.add(Student(f"s{number}", str(16 + number), called), "Red_Team" * (number > 1))
    roster.add(Student("s4", "20", "Ada Example"))
    roster.add(Student("s5", "21", "Eve Poe"))
    path = folder(tmp_path / "in", {name: notebook, "s5.ipynb": b"e"})
    found = outcome(collect(path, roster, ["ps1"]))
    status = {student: one.problem[0] for (student, _), one in found.items() if one.problem}
    assert {
        student for student in ("s1", "s2", "s3", "s4") if status[student] != "missing"
    } == waits
    for student in waits:
        assert found[student, "ps1"].problem[1].startswith(intake.WAITS)
    # the others are not blamed with a notebook that is somebody else's
    assert all(
        found[each, "ps1"].problem[1] == "nothing was handed in"
        for each in status
        if status[each] == "missing"
    )


def test_where_nothing_hints_nobody_is_said_to_have_handed_in_nothing(tmp_path):
    path = folder(tmp_path / "in", {"17/x.ipynb": b"a", "s1/x.ipynb": b"b"})
    found = outcome(collect(path, ROSTER, ["ps1"]))
    assert found["s2", "ps1"].problem == ("missing", f"{intake.PERHAPS} 17/x.ipynb")


def test_a_number_that_agrees_decides_unless_the_name_is_somebody_elses(tmp_path):
    other = "Ada Poe_17_assignsubmission_file/ps1.ipynb"  # she has married
    own = Special(rosters={"ps1": ROSTER})
    assert (
        only(collect(folder(tmp_path / "1", {other: b"a"}), ROSTER, ["ps1"], own)).notebook == b"a"
    )
    # the roster of the course may have the numbers of another assignment
    found = only(collect(tmp_path / "1", ROSTER, ["ps1"]))
    assert found.problem[0] == "needs-review"
    longer = folder(tmp_path / "2", {"Ada Mary Example_17_assignsubmission_file/ps1.ipynb": b"a"})
    assert only(collect(longer, ROSTER, ["ps1"])).notebook == b"a"
    bens = folder(tmp_path / "3", {"Ben Example_17_assignsubmission_file/ps1.ipynb": b"a"})
    assert only(collect(bens, ROSTER, ["ps1"], own)).problem[0] == "needs-review"


def test_folders_as_moodle_cleans_names(brought):
    roster = Roster([Student("s1", "17", "Ada O'Example"), Student("s2", "", 'Ben "B" Ex/ample')])
    path = brought(
        {
            f"Ada OExample_17{MOODLE}/ps1.ipynb": b"a",
            f"Ben B Example_18{MOODLE}/ps1.ipynb": b"b",
        }
    )
    assert statuses(collect(path, roster, ["ps1"])) == {("s1", "ps1"): b"a", ("s2", "ps1"): b"b"}


@pytest.mark.parametrize(
    ("stamp", "utc"),
    [
        ("2026-11-20 23:59:00.123456 UTC", "2026-11-20T23:59:00.123456+00:00"),
        ("2026-11-20 23:59:00 Europe/Berlin", "2026-11-20T22:59:00+00:00"),
        # what the options of nbgrader for the zone and the form of the time write
        ("2026-11-20 23:59:00 +0200\n", "2026-11-20T21:59:00+00:00"),
        ("2026-07-20 23:59:00.5 CEST", "2026-07-20T21:59:00.500000+00:00"),
        ("2026-11-20T23:59:00", "2026-11-20T22:59:00+00:00"),
        ("yesterday", None),
        ("", None),
    ],
)
def test_nbgraders_times_are_read_and_one_that_is_not_is_said(tmp_path, stamp, utc):
    files = {"s1/ps1/ps1.ipynb": b"a", "s1/ps1/timestamp.txt": stamp.encode()}
    files |= {"s2/ps1/ps1.ipynb": b"b", "s2/ps1/timestamp.txt": b"2026-11-20 12:00:00 UTC"}
    special = Special(timezone=ZoneInfo("Europe/Berlin"), due={"ps1"})
    collection = collect(folder(tmp_path / "in", files), ROSTER, ["ps1"], special)
    found = {one.student.student_id: collection.receipt(one) for one in collection}
    time = found["s1"].submitted
    assert (time and time.isoformat()) == utc
    assert found["s2"].submitted.isoformat() == "2026-11-20T12:00:00+00:00"
    told = [note for note in collection.notes if "cannot be read" in note]
    assert [note.split(":")[0] for note in told] == ([] if utc else ["s1/ps1/timestamp.txt"])
