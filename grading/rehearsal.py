"""Tries a problem set out before students get it: its solutions, its stubs, its names and points.

Only the instructor's own source notebook runs here.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat

from grading.marking.expected import no_screen
from grading.marking.judging import BrokenCheckError, Judge
from grading.problem_set import CHECK, IDENTITY, NUMBERS, ProblemSet, Question, read
from grading.results import Mark
from grading.sandbox._wire import decode, encode

STUDENTS = ("s0000000", "20231187", "ada.example@example.org")
STATED = re.compile(r"^#+ .*\(([\d.]+) points?\)\s*$", re.MULTILINE)
SECRET = 1
BOOK = re.compile(r"(attnlib|attnbook)(\.|$)")


def faults(path: Path) -> list[str]:
    """Return what is wrong with a problem set, each fault with its file and cell.

    A solution must earn all points of its question, for several students, and pass the public
    check; a stub must earn none.
    """
    source = nbformat.read(path, as_version=4)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in source.cells]
    found = [
        f"the name came {count} times; wanted once@{name}"
        for name, count in Counter(filter(None, names)).items()
        if count > 1
    ]
    if not found:
        try:
            found = list(_faults(read(path), path))
        except ValueError as error:
            found = [str(error)]
    return [_placed(path, each) for each in found]


def _placed(path: Path, fault: str) -> str:
    """Return a fault with its place before it."""
    what, at, cell = fault.rpartition("@")
    return f"{path}, cell {cell}: {what}" if at else f"{path}: {fault}"


def _faults(problem_set: ProblemSet, path: Path) -> Iterator[str]:
    """Yield each fault; after one of the form nothing is run."""
    if wrong := list(_of_form(problem_set)):
        yield from wrong
        return
    solved = {
        cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source
        for cell in nbformat.read(path, as_version=4).cells
    }
    stubs = {cell.name: cell.source for cell in problem_set.cells}
    judge = Judge.of(problem_set)
    with no_screen():
        for student in STUDENTS:
            yield from _of_solutions(judge, student, solved)
        yield from _of_stubs(judge, STUDENTS[0], solved, stubs)


@contextlib.contextmanager
def _as_when_marked() -> Iterator[None]:
    """Let the book's packages be absent, as they are in the sandbox."""
    kept = {name: sys.modules[name] for name in list(sys.modules) if BOOK.match(name)}
    for name in (*kept, "attnlib", "attnbook"):
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in [each for each in sys.modules if BOOK.match(each)]:
            del sys.modules[name]
        sys.modules.update(kept)


def _of_form(problem_set: ProblemSet) -> Iterator[str]:
    """Yield what is missing, and points that contradict each other."""
    for name in (NUMBERS, IDENTITY, "setup"):
        if name not in problem_set.by_name:
            yield f"there is no such cell@{name}"
    asked = {each.name for each in problem_set.questions}
    for cell in problem_set.cells:
        if cell.role == "answer" and cell.name not in asked:
            yield f"no check gives points for it; wanted a cell {cell.name}{CHECK}@{cell.name}"
    for question in problem_set.questions:
        text = problem_set.by_name.get(f"{question.name}_text")
        if text is None:
            yield f"there is no such cell@{question.name}_text"
        elif (told := STATED.search(text.source)) and float(told[1]) != question.points:
            yield f"it says {told[1]} points; the check gives {question.points:g}@{text.name}"
        if question.points <= 0:
            yield f"it gives {question.points:g} points; wanted more than none@{question.name}"


def _of_solutions(judge: Judge, student: str, solved: Mapping[str, str]) -> Iterator[str]:
    """Yield what keeps the solutions from all points."""
    space = _begun(solved, student)
    for question in judge.problem_set.questions:
        if question.by_hand:
            continue
        check = judge.problem_set.by_name[question.name + CHECK]
        for name, code in ((question.name, solved[question.name]), (check.name, check.source)):
            if error := _run(code, space):
                yield f"with the number {student}, {error}@{name}"
                return
        mark = _marked(judge, question, student, space)
        if isinstance(mark, str):
            yield f"with the number {student}, {mark}@{check.name}"
        elif mark.points != question.points:
            earned = f"{mark.points:g} of {question.points:g} points: {mark.message}"
            yield f"with the number {student}, the solution earns {earned}@{check.name}"


def _of_stubs(
    judge: Judge, student: str, solved: Mapping[str, str], stubs: Mapping[str, str]
) -> Iterator[str]:
    """Yield what a stub earns."""
    for question in judge.problem_set.questions:
        if question.by_hand:
            continue
        space = _begun(solved, student)
        _run(stubs[question.name], space)
        mark = _marked(judge, question, student, space)
        if isinstance(mark, Mark) and mark.points:
            earned = f"{mark.points:g} of {question.points:g} points"
            yield f"the stub alone earns {earned}@{question.name}{CHECK}"


def _begun(solved: Mapping[str, str], student: str) -> dict[str, Any]:
    """Return the names of a notebook after the cells before its questions."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for name in (NUMBERS, IDENTITY, "setup"):
        if error := _run(solved[name], space):
            raise ValueError(f"{error}@{name}")
        space["student_id"] = student
    return space


def _run(code: str, space: dict[str, Any]) -> str:
    """Run a cell, and return what it raised."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), _as_when_marked():
            exec(compile(code, "<cell>", "exec"), space)  # noqa: S102, the instructor's own code
    except Exception as error:  # noqa: BLE001, it may raise anything
        return f"it raised {type(error).__name__}: {error}"
    return ""


def _marked(judge: Judge, question: Question, student: str, space: dict[str, Any]) -> Mark | str:
    """Return the mark of an answer, or what went wrong."""
    asked = judge.ask(question, student, SECRET)
    defined: dict[str, Any] = {}
    try:
        with _as_when_marked():
            exec(question.functions["answer"], space, defined)  # noqa: S102, the instructor's own
            given = decode(encode(defined["answer"](**decode(encode(asked)))))
    except Exception as error:  # noqa: BLE001, it may raise anything
        return f"nothing came out: {type(error).__name__}: {error}"
    try:
        return judge.judge(question, given, student, asked)
    except BrokenCheckError as broken:
        return str(broken)
