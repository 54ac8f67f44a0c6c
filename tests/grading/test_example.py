"""What grading/README.md tells instructors to do comes out as it says, in a copy of the project."""

from __future__ import annotations

import csv
import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.api as nb
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book import repository
from grading.__main__ import main
from grading.course import Order, grade, select_sets
from grading.hidden import Wrong
from grading.intake.collection import collect
from grading.intake.roster import read_roster
from grading.problem_set import SOURCE, problem_sets, read
from grading.release import release, worked
from grading.results import Status, Submission
from grading.worked_example import ASSIGNMENT
from tests.book.notebooks import ROOT

README = (ROOT / "grading" / "README.md").read_text(encoding="utf-8")
WALKTHROUGH = README.split("## A worked example")[1].split("\n## ")[0]
OUT = "_build/example"
BLOCK = re.compile(
    r"(?:^`(?P<file>[^`\n]+)`[^`]*?\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BY_HAND = {"s2400001": 4.0, "s2400002": 0.5, "s2400003": 3.0, "s2400004": 4.0}
NAMES = {
    "s2400001": "Ada Example",
    "s2400002": "Bob Example",
    "s2400003": "Cleo Example",
    "s2400004": "Dan Example",
    "s2400005": "Eve Example",
}


def copy_of_the_project(folder: Path) -> Path:
    """Copy what a clone has, with this environment as the one for grading."""
    repository.copy(repository.files(new=True), folder)
    (folder / ".venv-grading").mkdir()
    (folder / ".venv-grading" / ".ready").touch()
    return folder


def enter_marks(out: Path) -> None:
    """Enter the marks by hand into the gradebook, as formgrader does."""
    with nb.Gradebook(f"sqlite:///{out / 'gradebook.db'}") as gradebook:
        for student, points in BY_HAND.items():
            mark = gradebook.find_grade("q5", ASSIGNMENT, ASSIGNMENT, student)
            assert mark.needs_manual_grade
            mark.manual_score, mark.needs_manual_grade = points, False
        gradebook.db.commit()


def settings() -> dict[str, str]:
    """Return the environment without what an outer ``make`` hands on, such as ``ARGS``."""
    own = ("ARGS", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL")
    return {name: value for name, value in os.environ.items() if name not in own}


def run(command: str, clone: Path) -> str:
    """Run a command of the README, and return what it prints."""
    if not command.startswith("make formgrader "):
        done = subprocess.run(
            [*shlex.split(command), "--silent", f"GRADING_RUN={sys.executable}"],
            cwd=clone,
            env=settings(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout
    enter_marks(clone / OUT)
    return ""


class Followed:
    """The worked example, done: what was printed and what was written, beside what was promised."""

    def __init__(self, clone: Path) -> None:
        self.clone, self.out = clone, clone / OUT
        self.commands: list[str] = []
        self.printed: list[tuple[str, str]] = []
        self.written: dict[str, tuple[str, str]] = {}
        self.pages: list[dict[str, str]] = []
        last = ""
        for block in BLOCK.finditer(WALKTHROUGH):
            kind, text = block["kind"], block["text"]
            if kind == "sh":
                for command in text.strip().splitlines():
                    last = run(command, clone)
                    self.commands.append(command)
                self.pages.append(self.read_pages())
            elif kind == "text":
                self.printed.append((text, last))
            elif kind == "csv":
                found = (clone / block["file"]).read_bytes().decode().replace("\r\n", "\n")
                self.written[block["file"]] = (text, found)

    def read_pages(self) -> dict[str, str]:
        """Return the pages for students as they are now."""
        return {
            path.parent.name: path.read_text(encoding="utf-8")
            for path in self.out.glob(f"feedback/*/{ASSIGNMENT}.html")
        }


THE_WALK = pytest.mark.proof("examples")


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    return Followed(copy_of_the_project(tmp_path_factory.mktemp("clone") / "a clone"))


@THE_WALK
def test_following_the_readme_gives_what_it_shows(followed: Followed) -> None:
    targets = [command.split()[1] for command in followed.commands]
    assert targets == ["problem-sets", "example", "grade", "grade", "formgrader", "grades-export"]
    assert len(followed.printed) == 2
    for promised, found in followed.printed:
        assert found == promised
    names = {Path(name).name for name in followed.written}
    assert names == {"grades.csv", f"canvas-{ASSIGNMENT}.csv", f"moodle-{ASSIGNMENT}.csv"}
    for promised, found in followed.written.values():
        assert found == promised
    summary = (followed.out / "summary.txt").read_text(encoding="utf-8")
    assert "4 graded" in summary


@THE_WALK
def test_the_released_notebooks_are_where_it_says(followed: Followed) -> None:
    written = (followed.clone / "grading" / "release").rglob("*.ipynb")
    assert sorted(path.stem for path in written) == sorted(problem_sets())


@THE_WALK
def test_pages_tell_what_was_wrong_and_follow_the_marks_by_hand(followed: Followed) -> None:
    _, _, first, accepted, _, last = followed.pages
    assert set(first) == set(NAMES)
    assert "leaves out what the mean of one side does" in first["s2400002"]
    assert "ran longer than" in first["s2400003"]
    assert "Could not be marked" in first["s2400005"]
    assert first["s2400001"] == accepted["s2400001"]
    assert first["s2400004"] != accepted["s2400004"]
    waits = "waits for a mark by hand"
    assert waits in first["s2400002"]
    assert waits not in last["s2400002"]
    assert "7.5" in last["s2400002"]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the example."""
    path = tmp_path_factory.mktemp("class")
    assert main(["example", "--to", str(path)]) == 0
    return path


def canvas_zip(path: Path, example: Path) -> None:
    """Write the example's submissions as Canvas lets one download them."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, (student, name) in enumerate(NAMES.items(), 1):
            sortable = "".join(reversed(name.split())).lower()
            notebook = example / "submissions" / student / f"{ASSIGNMENT}.ipynb"
            late = "_LATE" if number == 2 else ""
            archive.write(notebook, f"{sortable}{late}_100{number}_5000{number}_{ASSIGNMENT}.ipynb")


def moodle_zip(path: Path, example: Path) -> None:
    """Write the example's submissions as Moodle lets one download them."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, (student, name) in enumerate(NAMES.items(), 1):
            notebook = example / "submissions" / student / f"{ASSIGNMENT}.ipynb"
            folder = f"{name}_100{number}_assignsubmission_file"
            archive.write(notebook, f"{folder}/{ASSIGNMENT}.ipynb")


@pytest.mark.parametrize("write", [canvas_zip, moodle_zip])
def test_zips_of_the_platforms_earn_the_same(write: Any, example: Path, tmp_path: Path) -> None:
    """They hold the same notebooks of the same students, so that marking cannot tell them apart."""
    write(tmp_path / "download.zip", example)
    roster = read_roster(example / "roster.csv")
    places = (example / "submissions", tmp_path / "download.zip")
    folder, download = (
        collect(place, roster, tuple(select_sets(SOURCE, None))) for place in places
    )
    assert download.assignments == folder.assignments == (ASSIGNMENT,)
    assert [described(each) for each in download] == [described(each) for each in folder]
    assert {each.student.name for each in download if each.notebook} == set(NAMES.values())
    assert download.notes == []


def described(submission: Submission) -> tuple[Any, ...]:
    """Return all that marking sees of a submission, which is not where it came from."""
    fields = {each.name for each in dataclasses.fields(submission)} - {"origin"}
    return tuple(getattr(submission, name) for name in sorted(fields))


def test_the_tables_of_the_readme_name_what_there_is(example: Path) -> None:
    table = README.split("| status | what it means |")[1].split("\n\n")[0]
    statuses = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| [^|]+ \|$", table, re.MULTILINE)
    assert set(statuses) == set(Status.__args__)
    roster = (example / "roster.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert [column for column in roster if f"| `{column}` |" not in README] == []
    anchors = {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^## (.+)$", README, re.MULTILINE)
    }
    linked = set(re.findall(r"\]\(#([\w-]+)\)", README))
    assert linked == anchors


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the cells that the README shows as the source of a problem set."""
    blocks = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    answer, check, called = blocks.findall(README)
    numbers = read(ROOT / "grading" / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").by_name
    solved = 'student_id = ""\n### BEGIN SOLUTION\nstudent_id = "s0"\n### END SOLUTION'
    function = "def double(scores):\n    ### BEGIN SOLUTION\n    return 2 * scores\n"
    cells = [
        ("text", "markdown", "# Own", {}),
        ("numbers", "code", numbers["numbers"].source, {"locked": True}),
        ("identity", "code", solved, {"solution": True}),
        ("setup", "code", "import numpy as np", {"locked": True}),
        ("q1", "code", answer, {"solution": True}),
        ("q1_check", "code", check, {"grade": True, "locked": True, "points": 2}),
        ("q2", "code", f"{function}    ### END SOLUTION", {"solution": True}),
        ("q2_check", "code", called, {"grade": True, "locked": True, "points": 1}),
    ]
    notebook = new_notebook()
    for name, kind, source, marks in cells:
        make = new_code_cell if kind == "code" else new_markdown_cell
        cell = make(source.rstrip("\n"))
        usual = {"grade": False, "solution": False, "locked": False, "task": False}
        if marks:
            cell.metadata.nbgrader = {**usual, "grade_id": name, "schema_version": 3, **marks}
        notebook.cells.append(cell)
    path = tmp_path_factory.mktemp("own") / "own" / "own.ipynb"
    path.parent.mkdir()
    nbformat.write(notebook, path)
    return path.parent.parent


def test_the_cells_of_the_readme_judge_their_own_solutions(folder: Path) -> None:
    names: dict[str, Any] = {}
    cells = nbformat.read(folder / "own" / "own.ipynb", as_version=4).cells
    for cell in cells:
        if cell.cell_type == "code":
            exec(cell.source, names)  # noqa: S102, the README's own
    names["variance"] = 0.0
    check = next(cell for cell in cells if "q1_check" in str(cell.metadata))
    with pytest.raises(Wrong, match="not the variance for your numbers"):
        exec(check.source, names)  # noqa: S102, the README's own


def test_the_cells_of_the_readme_are_released_and_graded(folder: Path, tmp_path: Path) -> None:
    problem_set = read(folder / "own" / "own.ipynb")
    text = release(problem_set, tmp_path / "release").read_text(encoding="utf-8")
    assert "variance = None" in text
    assert "def double" in text
    assert "float(mine" not in text
    assert "judge" not in text
    root = 'variance = personal_numbers(student_id, "q1")["d_k"] ** 0.5'
    answers = {
        "s1": {},
        "s2": {"q1": root},
        "s3": {"q1": "", "q2": "def double(scores):\n    return scores"},
    }
    for student, given in answers.items():
        path = tmp_path / "in" / student / "own.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(worked(problem_set, student, given, folder))
    # in a zip, since the other commands of the README get a folder
    handed_in = Path(shutil.make_archive(str(tmp_path / "own"), "zip", tmp_path / "in"))
    grade(Order(handed_in, tmp_path / "out", source=folder, workers=1))
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        found = {row["student"]: (row["q1"], row["q2"]) for row in csv.DictReader(file)}
    assert found == {"s1": ("2", "1"), "s2": ("1", "1"), "s3": ("0", "0")}
