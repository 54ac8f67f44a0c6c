"""Problem sets tried out in this process: what the sandbox and the marking do, without walls.

Only for answers that the tests wrote themselves. As in the grader, `answer` runs among the
student's names and `ask` and `judge` among those of the instructor; the two share nothing but
what travels as JSON.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import nbformat
import numpy as np

from grading.hidden import Wrong
from grading.problem_set import HIDDEN, SOURCE, ProblemSet, Question, read
from grading.sandbox import _wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nbformat import NotebookNode

SETS = sorted(
    path.parent.name for path in SOURCE.glob("*/*.ipynb") if path.stem == path.parent.name
)
STUDENT = "s0000000"
# What a class might have, among them identifiers that are odd but possible.
STUDENTS = (STUDENT, "s0000001", "20231187", "ada.example@example.org", "O'Example", "学生7", "")
SOLUTION = re.compile(r"^ *### BEGIN SOLUTION$(.*?)^ *### END SOLUTION$", re.MULTILINE | re.DOTALL)


@cache
def notebook(assignment: str) -> NotebookNode:
    return nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4)


@cache
def cells(assignment: str) -> dict[str, str]:
    """Return the sources of the cells that nbgrader knows, by their names."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook(assignment).cells
        if "nbgrader" in cell.metadata
    }


@cache
def problem_set(assignment: str) -> ProblemSet:
    """Return a problem set as the grader reads it."""
    return read(SOURCE / assignment / f"{assignment}.ipynb")


def checked(assignment: str) -> tuple[str, ...]:
    """Return the questions that a program marks."""
    return tuple(each.name for each in problem_set(assignment).questions if not each.by_hand)


def _question(assignment: str, name: str) -> Question:
    (found,) = [each for each in problem_set(assignment).questions if each.name == name]
    return found


def released(assignment: str, name: str) -> str:
    return problem_set(assignment).by_name[name].source


def hidden(assignment: str, question: str) -> str:
    """Return the hidden region of a check, without the call that runs it on the spot."""
    (region,) = HIDDEN.findall(cells(assignment)[f"{question}_check"])
    return re.sub(r"^hidden_check\(.*\)$", "", region, flags=re.MULTILINE)


def solution(assignment: str, question: str) -> str:
    """Return the solved answer cell of a question."""
    return cells(assignment)[question]


def numbers_at(end: int) -> Callable[[str, str], str]:
    """Return what makes all personal numbers the lowest (0) or the highest (1) of their ranges."""

    def changed(assignment: str, name: str) -> str:
        source = cells(assignment)[name]
        if name != "numbers" or end < 0:
            return source
        return (
            f"{source}\n\n\ndef personal_numbers(student_id, question):\n"
            f"    return {{name: ends[{end}] for name, ends in RANGES[question].items()}}\n"
        )

    return changed


@contextmanager
def without_attnlib(*, as_in_the_sandbox: bool = False) -> Iterator[None]:
    """Let nothing see that another test has imported attnlib.

    In the sandbox its place among the modules is taken, so that it cannot be imported either.
    """
    kept = {
        name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "attnlib"
    }
    if as_in_the_sandbox:
        sys.modules["attnlib"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop("attnlib", None)
        sys.modules.update(kept)


@dataclass(frozen=True)
class Outcome:
    earned: float
    message: str


@dataclass
class Trial:
    """One student's work at one question."""

    assignment: str
    question: str
    source: str  # the answer cell
    student_id: str = STUDENT  # what the student typed
    judged_as: str | None = None  # whom the roster says it is; the same if not given
    end: int = -1  # 0 or 1 to put all personal numbers to an end of their ranges

    def __post_init__(self) -> None:
        """Run what the instructor runs; nothing of the student yet."""
        source_of = numbers_at(self.end)
        self.outside: dict[str, Any] = {"__name__": "outside"}
        run(source_of(self.assignment, "numbers"), self.outside)
        run(hidden(self.assignment, self.question), self.outside)
        self.identity = self.student_id if self.judged_as is None else self.judged_as
        self.inside: dict[str, Any] = {"__name__": "__main__"}
        for name in ("numbers", "setup"):
            run(source_of(self.assignment, name), self.inside)
        self.inside["student_id"] = self.student_id

    def __del__(self) -> None:
        """Let go of large arrays, which functions among the same names would keep for long."""
        self.inside.clear()

    def check(self, *, as_in_the_sandbox: bool = False) -> None:
        """Run the answer and the public check, as the student does."""
        with without_attnlib(as_in_the_sandbox=as_in_the_sandbox):
            run(self.source, self.inside)
            run(released(self.assignment, f"{self.question}_check"), self.inside)

    def asked(self, seed: int = 0) -> dict[str, Any]:
        """Return what the student's function is called with."""
        if "ask" not in self.outside:
            return {}
        drawn = self.outside["ask"](np.random.default_rng(seed), self.identity)
        return _wire.loads(_wire.dumps(drawn))

    def given(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return what the student's code hands over."""
        region = hidden(self.assignment, self.question)
        (source,) = (
            ast.get_source_segment(region, node)
            for node in ast.parse(region).body
            if isinstance(node, ast.FunctionDef) and node.name == "answer"
        )
        with without_attnlib(as_in_the_sandbox=True):
            run(source, self.inside)
            taken = _question(self.assignment, self.question).taken(asked)
            return _wire.loads(_wire.dumps(self.inside["answer"](**taken)))

    def judge(self, given: Any, asked: dict[str, Any]) -> Outcome:
        try:
            self.outside["judge"](given, self.identity, asked)
        except Wrong as wrong:
            return Outcome(wrong.earned, str(wrong))
        return Outcome(1.0, "")

    def outcome(self, seed: int = 0) -> Outcome:
        """Return what the question earns. What the public check says has no part in it."""
        asked = self.asked(seed)
        with warnings.catch_warnings(), without_attnlib(as_in_the_sandbox=True):
            warnings.simplefilter("ignore")
            for _ in range(2 if asked else 1):
                # a cell that stops half-way leaves what it has made so far
                with suppress(Exception):
                    run(self.source, self.inside)
            try:
                given = self.given(asked)
            except Exception as error:  # noqa: BLE001, whatever a student's code does
                return Outcome(0.0, f"{type(error).__name__}: {error}")
        return self.judge(given, asked)


def run(source: str, namespace: dict[str, Any]) -> None:
    """Run a cell among some names."""
    exec(compile(source, "<cell>", "exec"), namespace)  # noqa: S102, cells of ours


def solved(assignment: str, question: str, **how: Any) -> Trial:
    """Return a trial of the solution that the source notebook has."""
    return Trial(assignment, question, solution(assignment, question), **how)


def answered(
    assignment: str, question: str, seed: int = 0, **how: Any
) -> tuple[Trial, dict[str, Any], dict[str, Any]]:
    """Return a trial of the solution, what it hands over, and what was asked."""
    trial = solved(assignment, question, **how)
    asked = trial.asked(seed)
    run(trial.source, trial.inside)
    return trial, trial.given(asked), asked
