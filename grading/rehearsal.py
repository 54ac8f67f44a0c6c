"""Tries a problem set out before students get it: its solutions, its stubs, its names and points.

Only the instructor's own source notebook runs here.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from grading.marking.judging import BrokenCheckError, Judge
from grading.problem_set import CHECK, IDENTITY, NUMBERS, SETUP, ProblemSet, Question, read
from grading.results import Mark
from grading.sandbox._wire import decode, encode

STUDENTS = ("s0000000", "20231187", "ada.example@example.org")
TOTAL = re.compile(r"\b(\w+) questions and ([\d.]+) points")
LISTED = re.compile(r"^\|\s*\d+\s*\|.*\|\s*([\d.]+)\s*\|\s*$", re.MULTILINE)
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
STATED = re.compile(r"^#+ .*\(([\d.]+) points?\)\s*$", re.MULTILINE)
SECRET = 1
BOOK = re.compile(r"(attnlib|attnbook)(\.|$)")


class Fault(NamedTuple):
    """What is wrong, and in which cell."""

    cell: str
    what: str


def faults(path: Path) -> list[str]:
    """Return what is wrong with a problem set, each fault with its file and cell.

    A solution must earn all points of its question, for several students, and pass the public
    check; a stub must earn none. Where the form is wrong nothing is run.
    """
    source = nbformat.read(path, as_version=4)
    names = Counter(_name(cell) for cell in source.cells)
    found = [
        Fault(name, f"the name came {count} times; wanted once")
        for name, count in names.items()
        if name and count > 1
    ]
    if not found:
        try:
            problem_set = read(path)
        except ValueError as error:
            return [f"{path}: {error}"]
        cells = {_name(cell): cell.source for cell in source.cells}
        found = list(_of_form(problem_set)) or _of_answers(problem_set, cells)
    return [f"{path}, cell {each.cell}: {each.what}" for each in found]


def _name(cell: nbformat.NotebookNode) -> str:
    """Return nbgrader's name of a cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def _of_answers(problem_set: ProblemSet, solved: Mapping[str, str]) -> list[Fault]:
    """Return what keeps solutions from all points, for the first student, and what stubs earn."""
    judge = Judge.of(problem_set)
    with _no_screen():
        for student in STUDENTS:
            if found := list(_of_solutions(judge, student, solved)):
                return found
        return list(_of_stubs(judge, STUDENTS[0], solved))


@contextlib.contextmanager
def _no_screen() -> Iterator[None]:
    """Draw figures without a screen, and let `plt.show` leave them open until the end."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before, show = mpl.get_backend(), plt.show
    mpl.use("Agg")
    plt.show = lambda *_, **__: None
    try:
        yield
    finally:
        plt.show = show
        plt.close("all")
        mpl.use(before)


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


def _of_form(problem_set: ProblemSet) -> Iterator[Fault]:
    """Yield what is missing, and points that contradict each other."""
    for name in (NUMBERS, IDENTITY, SETUP):
        if name not in problem_set.by_name:
            yield Fault(name, "there is no such cell")
    yield from _of_totals(problem_set)
    asked = {each.name for each in problem_set.questions}
    for cell in problem_set.cells:
        if cell.role == "answer" and cell.name not in asked:
            yield Fault(
                cell.name, f"no check gives points for it; wanted a cell {cell.name}{CHECK}"
            )
    for question in problem_set.questions:
        text = problem_set.by_name.get(f"{question.name}_text")
        if text is None:
            yield Fault(f"{question.name}_text", "there is no such cell")
        elif (told := STATED.search(text.source)) and float(told[1]) != question.points:
            said = f"it says {told[1]} points; the check gives {question.points:g}"
            yield Fault(text.name, said)
        if question.points <= 0:
            said = f"it gives {question.points:g} points; wanted more than none"
            yield Fault(question.name, said)


def _of_totals(problem_set: ProblemSet) -> Iterator[Fault]:
    """Yield where the first text tells of other questions or points than there are."""
    points = [question.points for question in problem_set.questions]
    first = problem_set.cells[0]
    there = f"there are {len(points)} questions, of {', '.join(f'{each:g}' for each in points)}"
    listed = [float(each) for each in LISTED.findall(first.source)]
    if listed and listed != points:
        yield Fault(first.name, f"its table has {len(listed)} questions; {there} points")
    if told := TOTAL.search(first.source):
        words = {str(len(points)), *WORDS[len(points) : len(points) + 1]}
        if told[1].casefold() not in words or float(told[2]) != sum(points):
            yield Fault(first.name, f"it says {told[0]}; {there} points")


def _of_solutions(judge: Judge, student: str, solved: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what keeps the solutions from all points."""
    says = f"with the number {student}, "
    space = yield from _begun(solved, student)
    for question in judge.problem_set.questions if space else ():
        if question.by_hand:
            continue
        check = judge.problem_set.by_name[question.name + CHECK]
        for name, code in ((question.name, solved[question.name]), (check.name, check.source)):
            if error := _run(code, space):
                yield Fault(name, says + error)
                return
        mark = _marked(judge, question, student, space)
        if isinstance(mark, str):
            yield Fault(check.name, says + mark)
        elif mark.points != question.points:
            earned = f"{mark.points:g} of {question.points:g} points: {mark.message}"
            yield Fault(check.name, f"{says}the solution earns {earned}")


def _of_stubs(judge: Judge, student: str, solved: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what a stub earns."""
    for question in judge.problem_set.questions:
        if question.by_hand:
            continue
        space = yield from _begun(solved, student)
        _run(judge.problem_set.by_name[question.name].source, space)
        mark = _marked(judge, question, student, space)
        if isinstance(mark, Mark) and mark.points:
            earned = f"{mark.points:g} of {question.points:g} points"
            yield Fault(question.name + CHECK, f"the stub alone earns {earned}")


def _begun(solved: Mapping[str, str], student: str) -> Generator[Fault, None, dict[str, Any]]:
    """Return the names of a notebook after the cells before its questions; yield what fails."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for name in (NUMBERS, IDENTITY, SETUP):
        if error := _run(solved[name], space):
            yield Fault(name, error)
            return {}
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
            taken = decode(encode(question.taken(asked)))
            given = decode(encode(defined["answer"](**taken)))
    except Exception as error:  # noqa: BLE001, it may raise anything
        return f"nothing came out: {type(error).__name__}: {error}"
    try:
        return judge.judge(question, given, student, asked)
    except BrokenCheckError as broken:
        return str(broken)
