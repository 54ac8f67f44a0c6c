"""What students get is what nbgrader would give them, and says nothing that it should not."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grading.__main__ import main
from grading.environment import filled_in
from grading.problem_set import CODE_STUB, SOURCE, TEXT_STUB, problem_sets, read
from grading.release import release, worked
from tests.grading.trial import SETS, SOLUTION, run, without_attnlib

TINY = Path(__file__).parent / "source"
SOURCES = [*((name, SOURCE) for name in SETS), ("tiny", TINY)]
REGION = re.compile(
    r"^ *### BEGIN (HIDDEN TESTS|SOLUTION)$(.*?)^ *### END \1$", re.MULTILINE | re.DOTALL
)
SECRETS = (
    "BEGIN",
    "END",
    "HIDDEN",
    "SOLUTION",
    "Wrong",
    "def judge",
    "def answer",
    "hidden_check",
    "grading",
    "Model answer",
)


def source(name: str, folder: Path) -> NotebookNode:
    return nbformat.read(folder / name / f"{name}.ipynb", as_version=4)


def given_out(name: str, folder: Path, tmp_path: Path) -> NotebookNode:
    """Return the notebook that students get, as it is in the file."""
    path = release(read(folder / name / f"{name}.ipynb"), tmp_path / "release")
    assert path == tmp_path / "release" / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4)


def by_nbgrader(name: str, folder: Path, tmp_path: Path) -> NotebookNode:
    """Return what nbgrader's own command generates, told the words of the stubs."""
    shutil.copytree(folder / name, tmp_path / "source" / name)
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.assignment_id = name
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path}/gradebook.db"
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.start()
    return nbformat.read(tmp_path / "release" / name / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        *(pytest.param(*each, marks=pytest.mark.proof("examples")) for each in SOURCES[:-1]),
        SOURCES[-1],
    ],
)
def test_nbgrader_gives_out_the_same(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # nbgrader starts alembic, which is beside Python
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", programs)
    ours = given_out(name, folder, tmp_path / "ours")
    theirs = by_nbgrader(name, folder, tmp_path / "theirs")
    # but for the versions and limits, which nbgrader does not know
    for cell in theirs.cells:
        if cell.cell_type == "markdown":
            filled = filled_in(cell.source)
            marks = cell.metadata.get("nbgrader", {})
            assert filled == cell.source or not marks  # the checksum of a cell would be another
            cell.source = filled
    assert ours == theirs


@pytest.mark.parametrize(("name", "folder"), SOURCES)
def test_no_line_of_a_solution_or_a_hidden_check_is_given_out(
    name: str, folder: Path, tmp_path: Path
) -> None:
    secret, public = set(), set()
    for cell in source(name, folder).cells:
        for _, region in REGION.findall(cell.source):
            secret |= {line.strip() for line in region.splitlines()}
        public |= {line.strip() for line in REGION.sub("", cell.source).splitlines()}
    long = {line for line in secret if len(line) > 25}
    secret -= public
    assert len(secret) > 5
    text = (release(read(folder / name / f"{name}.ipynb"), tmp_path)).read_text(encoding="utf-8")
    given = "\n".join(cell.source for cell in given_out(name, folder, tmp_path).cells)
    assert {line.strip() for line in given.splitlines()} & secret == set()
    assert [line for line in long if line in given] == []
    assert [word for word in SECRETS if word in text] == []


@pytest.mark.parametrize(("name", "folder"), SOURCES)
def test_nothing_has_run_and_the_places_for_answers_are_there(
    name: str, folder: Path, tmp_path: Path
) -> None:
    cells = given_out(name, folder, tmp_path).cells
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert sum(cell.source.startswith('student_id = ""  #') for cell in cells) == 1
    for cell in cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            code = cell.cell_type == "code"
            assert CODE_STUB in cell.source if code else cell.source == TEXT_STUB
        elif marks:
            assert cell.metadata.editable is False


@pytest.mark.parametrize(("name", "folder"), SOURCES)
@pytest.mark.parametrize("typed", ["", "s0000001"])
def test_as_given_out_it_fails_each_of_its_own_checks(
    name: str, folder: Path, typed: str, tmp_path: Path
) -> None:
    mpl.use("Agg")
    names: dict[str, object] = {"__name__": "__main__"}
    failed = []
    with without_attnlib():
        for cell in given_out(name, folder, tmp_path).cells:
            if cell.cell_type != "code":
                continue
            source = cell.source.replace('student_id = ""', f"student_id = {typed!r}")
            if cell.metadata.nbgrader.grade:
                with pytest.raises(AssertionError) as caught:
                    run(source, names)
                assert len(str(caught.value)) > 15
                assert typed or folder == TINY or "student number" in str(caught.value)
                failed.append(cell.metadata.nbgrader.grade_id)
            else:
                run(source, names)
    checks = [each.name for each in read(folder / name / f"{name}.ipynb").questions]
    assert failed == [f"{each}_check" for each in checks if f"{each}_check" in failed]
    assert len(failed) >= 3


def test_a_worked_notebook_has_the_solutions_where_the_stubs_were() -> None:
    problem_set = read(TINY / "tiny" / "tiny.ipynb")
    found = nbformat.reads(worked(problem_set, "s7", {"q3": "ordered = 1"}, TINY), as_version=4)
    cells = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in found.cells
        if "nbgrader" in cell.metadata
    }
    assert cells["identity"].startswith("student_id = 's7'")
    assert "variance = float(d_k)" in cells["q1"]
    assert cells["q3"] == "ordered = 1"
    assert "BEGIN" not in "".join(cells.values())
    solved = [cell for cell in source("tiny", TINY).cells if SOLUTION.search(cell.source)]
    assert len(solved) == 5
    assert cells["q1_check"] == problem_set.by_name["q1_check"].source


def test_the_command_writes_every_problem_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["problem-sets", "--to", str(tmp_path)]) == 0
    written = sorted(tmp_path.rglob("*.ipynb"))
    assert written == [tmp_path / name / f"{name}.ipynb" for name in problem_sets()]
    assert capsys.readouterr().out.splitlines() == [str(path) for path in written]
