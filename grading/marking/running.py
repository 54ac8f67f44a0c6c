"""Which parts of a submission run in the sandbox, in which order, and what if it ends early.

First every cell runs as the student wrote it, and these outputs are all that anybody is shown. An
answer that is a mere value is collected right where its question ends. Functions are called last,
with inputs that exist only for this run. Where a later question gives a name another meaning, the
cells up to the end of a question run once more before its function is called.

A cell that ends the program costs its own question and no other: what is left runs again without
it in a fresh sandbox.
"""

from __future__ import annotations

import ast
import builtins
import re
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from grading.problem_set import CHECK
from grading.sandbox import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grading.intake.normalize import WorkCell
    from grading.problem_set import Question

RESTARTS = 12
LEAST_SECONDS = 1.0
TWICE = 2
OUT_OF_TIME = "OutOfTime"
GREEDY = "it took all the memory that there is"
LATE = "it took too long and was stopped"
# What may give a name a meaning. One name too many costs time, one too few a fair mark.
ASSIGNED = re.compile(r"^(.*)(?<![=!<>])=(?!=)", re.MULTILINE)  # x = 1, x, y = z, x[0] += 1
DEFINED = re.compile(r"\b(?:def|class|as|import|global)\s+(.*)")
# It looks no further than the next loop, so that its time grows with the length of a line.
LOOPED = re.compile(r"\bfor\b((?:(?!\bfor\b).)*?)\bin\b")
NAME = re.compile(r"[^\W\d]\w*")
INDENTED = re.compile(r"^[ \t].*$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A step in the sandbox, and to what it belongs."""

    does: sandbox.Execute | sandbox.Collect  # what is done; its key is unique
    question: str | None  # the question it belongs to
    cell: int | None = None  # the position of the cell that it runs, for the first time or again
    scratch: bool = False  # whether it is a student's own cell behind all questions

    @property
    def collects(self) -> bool:
        """Return whether it hands over an answer."""
        return isinstance(self.does, sandbox.Collect)


@dataclass
class Ran:
    """What came out of the sandbox, over all its restarts."""

    # the outputs of each cell, by its position as text
    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)  # the answers that came out, by question
    # what the runner says of answers that did not come out, by question; it may be the
    # student's words
    failures: dict[str, str] = field(default_factory=dict)
    # the steps that ended the program, each with the reason
    ended: list[tuple[Step | None, str]] = field(default_factory=list)
    cpu_seconds: float = 0.0  # processor time


def plan(
    cells: Sequence[WorkCell],
    questions: Sequence[Question],
    student_id: str,
    asked: Mapping[str, dict[str, Any]],
) -> list[Step]:
    """Return what runs in the sandbox, in order.

    Personal numbers come from `student_id`, whatever the student's cells say. A cell that runs for
    the first time has its position as its key, an answer its question.
    """
    checked = {each.name: each for each in questions if not each.by_hand}
    last = max((i for i, cell in enumerate(cells) if cell.role != "own"), default=0)
    steps: list[Step] = []
    for i, cell in enumerate(cells):
        steps += [replace(step, scratch=i > last) for step in _runs(i, cell, student_id, str(i))]
        question = checked.get((cell.name or "").removesuffix(CHECK))
        if cell.role == "check" and question and not question.asks:
            steps.append(_collect(question, {}))
    for question in checked.values():
        if question.asks:
            for i in _once_more(cells, question.name):
                steps += _runs(i, cells[i], student_id, f"{i} for {question.name}", str(i))
            steps.append(_collect(question, question.taken(asked[question.name])))
    return steps


def _runs(i: int, cell: WorkCell, student_id: str, key: str, again: str = "") -> list[Step]:
    """Return the steps that run a cell; what the student typed as identity does not last."""
    if cell.kind != "code":
        return []
    steps = [Step(sandbox.Execute(key, cell.source, again), cell.question, i)]
    if cell.role == "identity":
        known = sandbox.Execute(f"{key}, by the roster", f"student_id = {student_id!r}")
        steps.append(Step(known, None))
    return steps


def _collect(question: Question, inputs: dict[str, Any]) -> Step:
    """Return the step that hands over the answer to a question."""
    source = with_own_builtins(question.functions["answer"])
    return Step(sandbox.Collect(question.name, source, inputs), question.name)


@lru_cache(maxsize=64)
def with_own_builtins(source: str) -> str:
    r"""Return a function whose names of Python's are Python's, whatever a student calls so.

    Examples
    --------
    >>> print(with_own_builtins("def answer(rows):\n    return list(map(solve, rows))"))
    def answer(rows):
        from builtins import list, map
        return list(map(solve, rows))
    """
    tree = ast.parse(source)
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        return source
    known = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
    bound = {each.id for each in known if not isinstance(each.ctx, ast.Load)}
    bound |= {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    bound |= {each.name for each in ast.walk(function) if isinstance(each, ast.FunctionDef)}
    used = {each.id for each in known} & set(dir(builtins)) - bound
    if not used:
        return source
    wanted = [ast.alias(name) for name in sorted(used)]
    function.body.insert(0, ast.ImportFrom("builtins", wanted, 0))
    return ast.unparse(ast.fix_missing_locations(tree))


def _once_more(cells: Sequence[WorkCell], question: str) -> list[int]:
    """Return the cells that run once more before a question's function is called."""
    end = max((i for i, cell in enumerate(cells) if cell.name == question + CHECK), default=0)
    before = [i for i in range(end) if cells[i].kind == "code" and cells[i].role != "check"]
    known = set().union(*(names(cells[i]) for i in before)) if before else set()
    later = [cell for cell in cells[end + 1 :] if cell.kind == "code" and cell.role != "check"]
    if any(known & names(cell) for cell in later):
        return before
    return [i for i in before if cells[i].question == question]


def names(cell: WorkCell) -> set[str]:
    """Return the names that a cell may bind; in given cells, functions have names of their own."""
    source = INDENTED.sub("", cell.source) if cell.role == "locked" else cell.source
    parts = [part for way in (ASSIGNED, DEFINED, LOOPED) for part in way.findall(source)]
    return {name for part in parts for name in NAME.findall(part)}


def run(
    steps: Sequence[Step], limits: sandbox.Limits | None = None, *, unsafe: bool = False
) -> Ran:
    """Run every step, and run the rest again without a cell that ends the program.

    The time of all restarts together is limited as well, but for half of it more where only cells
    behind all questions stand between a function and its calls. If a step ran more than once, its
    first output is kept. For `unsafe` see `sandbox.run`.
    """
    limits = limits or sandbox.Limits()
    ran, left, ends = Ran(), list(steps), Counter[str]()
    until = time.monotonic() + limits.wall_seconds

    def once(some: Sequence[Step]) -> sandbox.Run:
        nonlocal until
        seconds = max(until - time.monotonic(), LEAST_SECONDS)
        within = replace(limits, wall_seconds=min(seconds, limits.wall_seconds))
        found = sandbox.run([step.does for step in some], within, unsafe=unsafe)
        until += found.waited
        return found

    for _ in range(RESTARTS + 1):
        if until - time.monotonic() < LEAST_SECONDS:
            break
        found = once(left)
        until += found.repeated
        stopped = next((step for step in left if step.does.key == found.stopped_at), None)
        if greedy := _greedy(left, found, once, until - limits.wall_seconds / 2):
            stopped, found = greedy, _until(greedy, left, found)
        _add(ran, found, stopped)
        if stopped is None:
            return ran
        left = _without(left, stopped, ran, ends)
    if any(step.scratch for step in left) and any(step.collects for step in left):
        # what was tried out behind all questions took the time that the answers needed
        within = replace(limits, wall_seconds=limits.wall_seconds / 2)
        wanted = [step.does for step in left if not step.scratch]
        _add(ran, sandbox.run(wanted, within, unsafe=unsafe), None)
    return ran


def longest(limits: sandbox.Limits, questions: Sequence[Question]) -> float:
    """Return for how many seconds `run` goes on at most, the time aside that others take.

    Each question whose function is called may bring all cells before it back.
    """
    asks = sum(question.asks for question in questions)
    more = (RESTARTS + 1) * (sandbox.SLACK + sandbox.GRACE)
    return limits.wall_seconds * (1.5 + asks * sandbox.AGAIN) + more


def _errors(step: Step, found: sandbox.Run) -> set[str]:
    """Return the names of the errors that a step showed."""
    shown = {str(each.get("ename")) for each in found.outputs.get(step.does.key, ())} - {"None"}
    if step.collects and step.does.key in found.failures:
        shown.add(found.failures[step.does.key].partition(":")[0])
    return shown


def _greedy(
    steps: Sequence[Step],
    found: sandbox.Run,
    once: Callable[[Sequence[Step]], sandbox.Run],
    until: float,
) -> Step | None:
    """Return the first cell that ran out of memory; what it holds is missing in all the others.

    A cell before it that failed may hold it instead: then there is enough without that one, which
    is tried up to a time, so that some is left for the other cells. What a function takes is free
    again after its call.
    """
    short = next((step for step in steps if "MemoryError" in _errors(step, found)), None)
    if short is None:
        return None
    before = list(steps[: steps.index(short)])
    for failed in before:
        if time.monotonic() > until:
            break
        if failed.cell is not None and _errors(failed, found):
            left = [step for step in (*before, short) if step.cell != failed.cell]
            if "MemoryError" not in _errors(short, once(left)):
                return failed
    return None if short.collects else short


def _until(last: Step, steps: Sequence[Step], found: sandbox.Run) -> sandbox.Run:
    """Return what came out up to a step that spoilt what came after it."""
    keys = {step.does.key for step in steps[: steps.index(last) + 1]}
    kept = [
        {key: value for key, value in part.items() if key in keys}
        for part in (found.outputs, found.answers, found.failures)
    ]
    return sandbox.Run(*kept, GREEDY, last.does.key, found.cpu_seconds)


def _add(ran: Ran, found: sandbox.Run, stopped: Step | None) -> None:
    """Add what another run gave."""
    ran.outputs = found.outputs | ran.outputs
    ran.answers = found.answers | ran.answers
    ran.failures = found.failures | ran.failures
    ran.cpu_seconds += found.cpu_seconds
    if found.ended:
        ran.ended.append((stopped, found.ended))


def _without(steps: list[Step], stopped: Step, ran: Ran, ends: Counter[str]) -> list[Step]:
    """Return what is left to run without the cell, or the question, that ended the program."""
    if stopped.question:
        ends[stopped.question] += 1
    given_up = {name for name, count in ends.items() if count >= TWICE}
    if stopped.collects and stopped.question:
        given_up.add(stopped.question)
    known = ran.answers.keys() | ran.failures.keys()
    return [
        step
        for step in steps
        if not (step.collects and step.question in known)
        and step.question not in given_up
        and (step.cell is None or step.cell != stopped.cell)
        and step is not stopped
    ]


def reasons(ran: Ran, cells: Sequence[WorkCell]) -> list[str]:
    """Return what stopped the student's code, in the student's terms."""
    late = [
        f"{_place(cells, int(key))}: {LATE}"
        for key, shown in ran.outputs.items()
        if key.isdecimal() and any(each.get("ename") == OUT_OF_TIME for each in shown)
    ]
    return late + [f"{_where(step, cells)}: {why}" for step, why in ran.ended]


def _where(step: Step | None, cells: Sequence[WorkCell]) -> str:
    """Say during which step something happened."""
    if step is None:
        return "the whole notebook"
    if step.cell is None:
        return f"the check of {step.question}" if step.question else "the start"
    return _place(cells, step.cell)


def _place(cells: Sequence[WorkCell], position: int) -> str:
    """Say which cell it is."""
    cell = cells[position]
    if not cell.question:
        return f"the cell {cell.name or position}"
    return (
        f"{'a cell that you added to' if cell.role == 'own' else 'your code for'} {cell.question}"
    )
