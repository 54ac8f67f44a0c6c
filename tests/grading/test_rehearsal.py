"""A problem set with a fault is not given out, and the fault is named with its file and cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading import __main__ as command
from grading.problem_set import SOURCE
from grading.rehearsal import faults

TINY = Path(__file__).parent / "source" / "tiny" / "tiny.ipynb"
Change = Callable[[dict[str, NotebookNode]], None]


def exchanged(name: str, old: str, new: str) -> Change:
    """Return what replaces a piece of a cell, which has to be there."""

    def change(cells: dict[str, NotebookNode]) -> None:
        assert old in cells[name].source
        cells[name].source = cells[name].source.replace(old, new)

    return change


def marked(name: str, **values: object) -> Change:
    """Return what changes what nbgrader is told of a cell."""

    def change(cells: dict[str, NotebookNode]) -> None:
        cells[name].metadata.nbgrader.update(values)

    return change


def broken(folder: Path, change: Change) -> Path:
    """Write the tiny problem set with a change."""
    notebook = nbformat.read(TINY, as_version=4)
    change({cell.metadata.get("nbgrader", {}).get("grade_id", ""): cell for cell in notebook.cells})
    path = folder / "tiny" / "tiny.ipynb"
    path.parent.mkdir()
    nbformat.write(notebook, path)
    return path


@pytest.mark.parametrize(
    "path", [TINY, *sorted(SOURCE.glob("*/*.ipynb"))], ids=lambda each: each.stem
)
def test_ours_have_no_fault(path: Path) -> None:
    assert faults(path) == []


@pytest.mark.parametrize(
    ("change", "cell", "words"),
    [
        (
            exchanged("q1", "float(d_k)", "2.0 * d_k"),
            "q1_check",
            "with the number s0000000, the solution earns 0 of 2 points",
        ),
        (
            exchanged("q1", "float(d_k)", 'float(d_k) if student_id == "s0000000" else 1.0'),
            "q1_check",
            "with the number 20231187, the solution earns 0 of 2 points",
        ),
        (exchanged("q1", "float(d_k)", "float(d)"), "q1", "it raised NameError: name 'd' is not"),
        (
            exchanged("q1_check", "is not None", "is None"),
            "q1_check",
            "it raised AssertionError",
        ),
        (
            exchanged("q1_check", 'return {"variance": variance}', 'return {"variance": d}'),
            "q1_check",
            "nothing came out: NameError",
        ),
        (
            exchanged("q1_check", "found = number(", "found = numbr("),
            "q1_check",
            "the hidden check of q1 itself failed: NameError",
        ),
        (
            exchanged("q1", "variance = None", "variance = d_k"),
            "q1_check",
            "the stub alone earns 2 of 2 points",
        ),
        (
            exchanged("", "one question of each kind", "three questions and 10 points"),
            "text-0",
            "it says three questions and 10 points; there are 4 questions, of 2, 3, 1, 4 points",
        ),
        (
            exchanged(
                "", "one question of each kind", "\n| 1 | a number | 2 |\n| 2 | more | 8 |\n"
            ),
            "text-0",
            "its table has 2 questions; there are 4 questions, of 2, 3, 1, 4 points",
        ),
        (exchanged("q1_text", "## 1 A number", "## 1 A number (3 points)"), "q1_text", "it says 3"),
        (marked("q1_check", points=0), "q1", "it gives 0 points; wanted more than none"),
        (marked("q2", grade_id="q1"), "q1", "the name came 2 times; wanted once"),
        (marked("q2_text", grade_id="q2_words"), "q2_text", "there is no such cell"),
        (marked("setup", grade_id="imports"), "setup", "there is no such cell"),
        (exchanged("setup", "import numpy as np", "import numpi"), "setup", "ModuleNotFoundError"),
    ],
)
def test_each_fault_is_named_with_its_file_and_cell(
    tmp_path: Path, change: Change, cell: str, words: str
) -> None:
    path = broken(tmp_path, change)
    found = faults(path)
    assert found
    assert found[0].startswith(f"{path}, cell {cell}: ")
    assert words in found[0]


def test_a_solution_has_what_students_have(tmp_path: Path) -> None:
    path = broken(tmp_path, exchanged("q1", "variance = float", "import attnlib\nvariance = float"))
    assert "ModuleNotFoundError" in faults(path)[0]
    import attnlib  # noqa: F401, which is there again


def test_what_the_form_lacks_is_named_with_the_file(tmp_path: Path) -> None:
    path = broken(tmp_path, exchanged("q1_check", "def judge(", "def judgment("))
    assert faults(path) == [f"{path}: tiny: the hidden check of q1 lacks ['judge']"]


def test_nothing_is_written_where_something_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(tmp_path, exchanged("q1", "float(d_k)", "1.0"))
    monkeypatch.setattr("grading.problem_set.SOURCE", tmp_path)
    assert command.main(["problem-sets", "--to", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "tiny.ipynb, cell q1_check: " in said
    assert said.endswith("nothing was written\n")
    assert not (tmp_path / "out").exists()
