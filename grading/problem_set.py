"""A problem set, read from its source notebook.

The source notebook is the only place where a problem set is written: text, stubs, solutions,
public checks and hidden checks. nbgrader's markers separate what students see from what they do
not, and nbgrader's metadata tells the cells apart; README.md beside this file shows how.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import nbformat
from nbformat import NotebookNode

from grading.environment import filled_in
from grading.pictures import lifted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grading.results import Mark

Role = Literal["text", "locked", "identity", "answer", "check", "by hand"]

SOURCE = Path(__file__).resolve().parent / "source"
HIDDEN = re.compile(
    r"^### BEGIN HIDDEN TESTS\n(.*?)^### END HIDDEN TESTS$\n?", re.MULTILINE | re.DOTALL
)
CODE_STUB = "# your code here"
TEXT_STUB = "*Your answer, in three to six sentences.*"
CHECK = "_check"
IDENTITY = "identity"
NUMBERS = "numbers"
SETUP = "setup"


@dataclass(frozen=True)
class Cell:
    """A cell of the problem set as students get it."""

    name: str  # nbgrader's ``grade_id``, unique in the notebook; made up for cells of mere text
    role: Role  # What it is for. Students fill in ``identity``, ``answer`` and ``by hand``.
    kind: Literal["code", "markdown"]  # the type of the cell
    source: str  # what students get: stubs, no solutions, no hidden checks


@dataclass(frozen=True)
class Question:
    """One question of a problem set."""

    name: str  # ``q1``: the ``grade_id`` of its answer cell
    points: float  # the most it can earn
    by_hand: bool = False  # whether a person marks it
    hidden: str = ""  # the hidden check: definitions of `answer`, `judge` and perhaps `ask`
    # what tells this check, or this scheme of a paragraph, from an earlier one of the question
    version: str = ""

    def is_older(self, mark: Mark) -> bool:
        """Return whether an earlier check than this one made a mark."""
        return not self.by_hand and mark.points is not None and mark.check != self.version

    @cached_property
    def asks(self) -> bool:
        """Return whether the check draws inputs, so that it calls what the student wrote."""
        return "ask" in self.functions

    @cached_property
    def functions(self) -> dict[str, str]:
        """Return the source of each function that the hidden check defines."""
        lines = self.hidden.split("\n")  # quicker by far than ast.get_source_segment
        return {
            node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
            for node in ast.parse(self.hidden).body
            if isinstance(node, ast.FunctionDef)
        }

    def taken(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `answer` takes of what `ask` drew; the rest never enters the sandbox."""
        takes = next(
            each.args
            for each in ast.parse(self.functions["answer"]).body
            if isinstance(each, ast.FunctionDef)
        )
        names = {each.arg for each in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)}
        return {name: each for name, each in asked.items() if takes.kwarg or name in names}


@dataclass(frozen=True)
class ProblemSet:
    """A problem set: its cells as students get them, and its questions."""

    name: str  # the name of its folder and of its notebook
    cells: tuple[Cell, ...]  # in the order of the notebook
    questions: tuple[Question, ...]  # in the order of the notebook
    # the notebook as students get it, with nbgrader's metadata
    released: NotebookNode = field(compare=False, repr=False, default_factory=NotebookNode)
    # the pictures of its texts, by the digests that the texts name
    pictures: dict[str, str] = field(compare=False, repr=False, default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Cell]:
        """Return the cells by their names."""
        return {cell.name: cell for cell in self.cells}

    @property
    def maximum(self) -> float:
        """Return the most that the problem set can earn."""
        return sum(question.points for question in self.questions)


def problem_sets(folder: Path = SOURCE) -> dict[str, ProblemSet]:
    """Return every problem set of a folder by its name.

    The folder holds ``<name>/<name>.ipynb`` for each. Raises ValueError if there is none, or one is
    not in the form that the grader needs.
    """
    found = {path.stem: read(path) for path in sorted(folder.glob("*/*.ipynb"))}
    if not found:
        raise ValueError(f"no problem set is in {folder}; wanted is <name>/<name>.ipynb")
    return found


def read(path: Path) -> ProblemSet:
    """Return the problem set of a source notebook.

    What texts name in double braces is filled in: see `grading.environment`. Raises ValueError if
    a check belongs to no question, or a hidden check lacks one of its functions.
    """
    source = nbformat.read(path, as_version=4)
    student = released(source)
    for cell in student.cells:
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
            cell.source = filled_in(cell.source)
    pictures: dict[str, str] = {}
    cells = tuple(
        Cell(_name(cell, i), _role(cell), cell.cell_type, lifted(cell, cell.source, pictures))
        for i, cell in enumerate(student.cells)
    )
    given = "\n".join(cell.source for cell in cells if _is_given(cell))
    questions = tuple(
        replace(question, version=_version(cell, question, given))
        for cell in source.cells
        for question in _questions(cell, path.stem)
    )
    answers = {cell.name for cell in cells if cell.role in ("answer", "by hand")}
    if unknown := [each.name for each in questions if each.name not in answers]:
        raise ValueError(f"{path.name} checks {unknown[0]}, but has no answer cell of that name")
    return ProblemSet(path.stem, cells, questions, student, pictures)


def released(source: NotebookNode) -> NotebookNode:
    """Return the notebook that students get: nbgrader drops solutions and hidden checks.

    The source itself stays as it is.
    """
    from nbgrader import preprocessors
    from traitlets.config import Config

    config = Config()
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    notebook = copy.deepcopy(source)
    for name in (
        "LockCells",
        "ClearSolutions",
        "ClearOutput",
        "CheckCellMetadata",
        "ClearHiddenTests",
        "ComputeChecksums",
    ):
        step = getattr(preprocessors, name)(config=config)
        notebook, _ = step.preprocess(notebook, {"nbgrader": {}})
    return notebook


def _is_given(cell: Cell) -> bool:
    """Return whether a cell is code that runs as it was given out, such as `numbers`."""
    return cell.role == "locked" and cell.kind == "code"


def _version(cell: NotebookNode, question: Question, given: str) -> str:
    """Return a digest of all that decides what an answer earns, for a person of the scheme."""
    judged_by = cell.source if question.by_hand else question.hidden
    parts = (judged_by, given, f"{question.points:g}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _name(cell: NotebookNode, index: int) -> str:
    """Return nbgrader's name of a cell, or one that says where it is."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", f"text-{index}")


def _role(cell: NotebookNode) -> Role:
    """Return what a cell is for."""
    marks = cell.metadata.get("nbgrader", {})
    if marks.get("solution"):
        if marks.get("grade"):
            return "by hand"
        return "identity" if marks["grade_id"] == IDENTITY else "answer"
    if marks.get("grade"):
        return "check"
    return "locked" if marks.get("locked") else "text"


def _questions(cell: NotebookNode, where: str) -> list[Question]:
    """Return the question that a cell of the source gives points for, if it does."""
    marks, role = cell.metadata.get("nbgrader", {}), _role(cell)
    if role == "by hand":
        return [Question(marks["grade_id"], float(marks["points"]), by_hand=True)]
    if role != "check":
        return []
    name = marks["grade_id"]
    if not name.endswith(CHECK):
        raise ValueError(f"{where}: the cell {name} checks something, so its name ends in {CHECK}")
    region = HIDDEN.search(cell.source)
    question = Question(
        name.removesuffix(CHECK), float(marks["points"]), hidden=region.group(1) if region else ""
    )
    if missing := {"answer", "judge"} - question.functions.keys():
        raise ValueError(f"{where}: the hidden check of {question.name} lacks {sorted(missing)}")
    return [question]
