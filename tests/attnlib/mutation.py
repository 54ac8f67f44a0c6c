"""Alter every formula of the package, one place at a time, and see that some test notices.

``python mutation.py '{"softmax": ["<a mutant>", ...], "scores": []}'`` collects the tests of these
modules once and runs them, noting which test calls which function. Then it forks for every mutant:
the child puts the altered function's code in place of the original's, so that every user of the
function gets the altered one, and runs the tests that call it until one fails: first the one that
noticed the mutant before, then the quickest. Mutants that are named for a module are known to be
equivalent; they would have to pass every test, which takes most of the time, and are not run. The
result is a JSON object on the last line with, for each module, the number of mutants, those that no
test noticed, and those that were named but do not exist. ``python mutation.py softmax scores`` runs
them all.

Mutmut and Cosmic Ray start pytest anew for each mutant or mutate whole strings and messages as
well; a minute for all mutants, inside the test run itself, needs something smaller.
"""

from __future__ import annotations

import ast
import copy
import gc
import importlib
import inspect
import json
import mmap
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TEST_FILES = {
    "softmax": ["test_softmax.py", "test_attention.py", "test_errors.py"],
    "attention": ["test_attention.py", "test_errors.py"],
    "_inputs": ["test_attention.py", "test_blockwise.py", "test_errors.py"],
    "scaling": ["test_scaling.py", "test_attention.py"],
    "blockwise": ["test_blockwise.py"],
    "online": ["test_online.py", "test_blockwise.py", "test_errors.py"],
    "diagnose": ["test_diagnose.py", "test_errors.py"],
    "scores": ["test_scores.py", "test_samplers.py", "test_errors.py"],
    "saturation": ["test_saturation.py", "test_samplers.py", "test_errors.py"],
    "gradients": ["test_gradients.py", "test_samplers.py", "test_errors.py"],
    "initialization": ["test_initialization.py", "test_errors.py"],
    "initialization.sampling": ["test_initialization.py", "test_errors.py"],
    "training.model": ["../attnbook/training/test_model.py"],
    "training.group_mean": ["../attnbook/training/test_model.py"],
    "training.optimizers": ["../attnbook/training/test_model.py"],
    "training._progress": ["../attnbook/training/test_model.py"],
    "training.sweep": ["../attnbook/training/test_sweep.py"],
    "_checks": ["test_softmax.py", "test_attention.py", "test_samplers.py", "test_errors.py"],
}
QUICK = 0.02
"""Seconds; a test that takes longer is run last."""
SECONDS_PER_MUTANT = 30
"""An altered loop may never end; the kernel stops the child then, and that counts as noticed."""
PLACE_BYTES = 4
NOBODY = b"\xff" * PLACE_BYTES

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Add],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
}
COMPARISONS = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
BUILTINS = {"max": "min", "min": "max", "abs": "float", "sum": "max"}
SPECIAL = {"gammaln": "digamma", "kve": "ive", "log_ndtr": "ndtr"}
MATH = {"exp": "expm1", "log": "log1p", "sqrt": "exp", "hypot": "fmod"}
ARRAYS = {
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "sum": "mean",
    "mean": "sum",
    "any": "all",
    "all": "any",
    "exp": "expm1",
    "log": "log1p",
    "log1p": "log",
    "sqrt": "square",
    "hypot": "maximum",
    "abs": "positive",
    "minimum": "maximum",
    "isnan": "isinf",
    "isinf": "isnan",
    "isposinf": "isneginf",
    "isneginf": "isposinf",
    "isfinite": "isnan",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "ones_like": "zeros_like",
    "standard_normal": "standard_exponential",
    "chisquare": "poisson",
}
"""What a function is replaced by: one that takes the same arguments and does something else."""


def numbers_near(value: float) -> list[float]:
    """Return what a constant is replaced by: its neighbors, or a tenth more if it is large."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1] if abs(value) < 100 else [round(value * 1.1)]
    return [value * 1.1, -value] if value else [1.0]


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may replace one node of the syntax tree."""
    yield from _other_operators(node)
    yield from _other_functions(node)
    match node:
        case ast.UnaryOp(op=ast.USub() | ast.Invert() | ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool() | int() | float() as value):
            yield from map(ast.Constant, numbers_near(value))
        case ast.IfExp(body=body, orelse=orelse):
            yield _with(node, body=orelse, orelse=body)


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            for other in OPERATORS.get(type(op), []):
                yield _with(node, op=other())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.And() if isinstance(op, ast.Or) else ast.Or())
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield _with(node, ops=[*ops[:place], other(), *ops[place + 1 :]])


def _other_functions(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Name(id=name) if name in BUILTINS:
            yield ast.Name(BUILTINS[name], ast.Load())
        case ast.Name(id=name, ctx=ast.Load()) if name in SPECIAL:
            yield ast.Name(SPECIAL[name], ast.Load())
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in MATH:
            yield _with(node, attr=MATH[name])
        case ast.Attribute(value=value, attr=name) if name in ARRAYS:
            if not isinstance(value, ast.Name) or value.id != "math":
                yield _with(node, attr=ARRAYS[name])


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def places(function: ast.FunctionDef) -> Iterator[tuple[list[ast.AST], str, int | None]]:
    """Yield every place where a formula may be: its ancestors, and where in the last it is."""
    stack: list[list[ast.AST]] = [[function]]
    while stack:
        ancestors = stack.pop()
        parent = ancestors[-1]
        for field, value in ast.iter_fields(parent):
            if field in {"annotation", "returns", "decorator_list", "exc"}:
                continue  # types, and the words of error messages
            children = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, child in children:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield ancestors, field, index
                    stack.append([*ancestors, child])


def functions(source: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield (name, function) for every function of a module and every method of its classes."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            if "overload" not in map(ast.unparse, node.decorator_list):  # types alone
                yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    yield f"{node.name}.{member.name}", member


def mutants(source: str) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Yield (description, name, altered function) for every alteration."""
    seen: Counter[str] = Counter()
    for name, function in functions(source):
        for ancestors, field, index in places(function):
            parent = ancestors[-1]
            holder = getattr(parent, field)
            original = holder if index is None else holder[index]
            for other in replacements(original):
                context = _context([*ancestors, original])
                before = _shown(context)
                _put(parent, field, index, other)
                after = _shown(other if context is original else context)
                change = f"{name}: {before} -> {after}"
                seen[change] += 1
                if seen[change] > 1:
                    change += f" ({seen[change]})"
                yield change, name, function
                _put(parent, field, index, original)


def _context(chain: list[ast.AST]) -> ast.AST:
    """Return the smallest expression around the last node that shows where it is."""
    chosen = chain[-1]
    for node in reversed(chain):
        if not isinstance(node, (ast.expr, ast.keyword, ast.Assign, ast.AugAssign, ast.Return)):
            break
        chosen = node
        if len(_shown(node)) >= 10 or isinstance(node, ast.keyword):
            break
    return chosen


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:60]}...{text[-27:]}"


def source(module: str) -> Path:
    """Return the file of a module: of attnlib, or else of attnbook."""
    name = f"{module.replace('.', '/')}.py"
    path = ROOT / "attnlib" / name
    return path if path.is_file() else ROOT / "attnbook" / name


def imported(module: str) -> ModuleType:
    """Return a module that the tests have imported."""
    return sys.modules[f"{source(module).relative_to(ROOT).parts[0]}.{module}"]


def installed(name: str, module: str) -> FunctionType:
    """Return the function, method or property of that name that the tests use."""
    holder: object = imported(module)
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder.fget if isinstance(holder, property) else inspect.unwrap(holder)


def install(name: str, function: ast.FunctionDef, module: str) -> None:
    """Put the altered function's code and defaults in place of the original's."""
    original = installed(name, module)
    special = importlib.import_module("scipy.special")
    original.__globals__.update({name: getattr(special, name) for name in SPECIAL.values()})
    namespace = dict(original.__globals__)
    plain = _with(function, decorator_list=[])
    alone = ast.fix_missing_locations(ast.Module([plain], []))
    exec(compile(alone, f"<mutant of {module}>", "exec"), namespace)  # noqa: S102
    altered = namespace[function.name]
    original.__code__ = altered.__code__
    original.__defaults__ = altered.__defaults__
    original.__kwdefaults__ = altered.__kwdefaults__


def watch(module: str) -> set[str]:
    """Let every function of the module put its name into the set returned when it is called."""
    called: set[str] = set()
    vars(imported(module))["_called"] = called
    for name, function in functions(source(module).read_text("utf-8")):
        function.body[0:0] = ast.parse(f"_called.add({name!r})").body
        install(name, function, module)
    return called


def concerns(item: pytest.Item, module: str) -> bool:
    """Tell whether a test may be about a module.

    The errors of other modules' functions are left out, unless many modules use this one.
    """
    if item.path not in {(HERE / name).resolve() for name in TEST_FILES[module]}:
        return False
    if module.startswith("_") or item.path.name != "test_errors.py":
        return True
    if not hasattr(item, "callspec"):
        return True
    function = getattr(imported(module), item.callspec.params.get("name", ""), None)
    return getattr(function, "__module__", None) == imported(module).__name__


class Callers:
    """The tests that call a function, the most promising first.

    That is the quick tests of the module itself, then the many of its errors, then the slow; and
    of the quick and of the slow ones first the one that noticed something last.
    """

    def __init__(self, tests: list[tuple[bool, bool, float, int, pytest.Item]]) -> None:
        tests.sort()
        self.items = [item for *_, item in tests]
        self.n_quick = sum(not slow for slow, *_ in tests)

    def promote(self, place: int) -> None:
        """Put the test at a place before the others that are as quick or as slow."""
        self.items.insert(0 if place < self.n_quick else self.n_quick, self.items.pop(place))


class MutationRun:
    """A pytest plugin that runs the collected tests once for every mutant of some modules."""

    def __init__(self, equivalent: dict[str, list[str]]) -> None:
        self.equivalent = equivalent
        self.reports: dict[str, dict[str, Any]] = {}
        self.noticed_by = mmap.mmap(-1, PLACE_BYTES)  # shared with the children

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is about none of the modules."""
        items[:] = [item for item in items if any(concerns(item, m) for m in self.equivalent)]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every test once, then for every mutant the tests that call what it alters."""
        callers = self.watched_run(session.items)
        gc.freeze()  # else the children copy every page that the collector marks
        for module, equivalent in self.equivalent.items():
            count, survivors, unseen = 0, [], set(equivalent)
            for change, name, function in mutants(source(module).read_text("utf-8")):
                count += 1
                unseen.discard(change)
                tests = callers.get((module, name))
                if change not in equivalent and not self.notices(name, function, module, tests):
                    survivors.append(change)
            self.reports[module] = {
                "count": count,
                "survivors": survivors,
                "unknown": sorted(unseen),
            }
        return True

    def watched_run(self, items: list[pytest.Item]) -> dict[tuple[str, str], Callers]:
        """Return the tests that call each function of each module."""
        callers: dict[tuple[str, str], list[tuple[bool, bool, float, int, pytest.Item]]] = {}
        called = {module: watch(module) for module in self.equivalent}
        for number, item in enumerate(items):
            for names in called.values():
                names.clear()
            started = time.perf_counter()
            failure = first_failure([item])
            if failure:
                raise RuntimeError(f"a test fails without any mutant: {failure[1]}")
            seconds = time.perf_counter() - started
            for module in called:
                if concerns(item, module):
                    own = item.path.name == f"test_{module.rpartition('.')[2]}.py"
                    entry = (seconds > QUICK, not own, seconds, number, item)
                    for function in called[module]:
                        callers.setdefault((module, function), []).append(entry)
        return {key: Callers(tests) for key, tests in callers.items()}

    def notices(
        self, name: str, function: ast.FunctionDef, module: str, tests: Callers | None
    ) -> bool:
        """Run the tests in a child that has the altered function."""
        if tests is None:
            return False
        sys.stdout.flush()
        self.noticed_by[:] = NOBODY
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(SECONDS_PER_MUTANT)
                install(name, function, module)
                failure = first_failure(tests.items)
                if failure:
                    self.noticed_by[:] = failure[0].to_bytes(PLACE_BYTES)
                status = 1 if failure else 0
            finally:
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        if self.noticed_by[:] != NOBODY:
            tests.promote(int.from_bytes(self.noticed_by[:]))
        return status != 0


def first_failure(items: list[pytest.Item]) -> tuple[int, str] | None:
    """Run tests until one fails, and return its place and what it says."""
    for place, item in enumerate(items):
        following = items[place + 1] if place + 1 < len(items) else None
        for report in runtestprotocol(item, log=False, nextitem=following):
            if report.failed:
                return place, f"{item.nodeid}\n{report.longreprtext}"
    return None


def main(*asked: str) -> int:
    """Run the tests against every mutant of the modules and print what survived."""
    os.environ["ATTNLIB_HYPOTHESIS_PROFILE"] = "mutants"
    by_name = asked[0].startswith("{")
    run = MutationRun(json.loads(asked[0]) if by_name else {module: [] for module in asked})
    files = sorted({name for module in run.equivalent for name in TEST_FILES[module]})
    arguments = [
        *(str(HERE / name) for name in files),
        f"--confcutdir={HERE}",
        f"--rootdir={ROOT}",
        "-m",
        "not not_for_mutants",
        "-qq",
        "--numprocesses=0",
        "-p",
        "no:cacheprovider",
        "--no-header",
        "--no-summary",
        "--tb=line",  # nobody reads the tracebacks, and they take most of the time
        "--assert=plain",
    ]
    status = pytest.main(arguments, plugins=[run])
    print()
    print(json.dumps(run.reports))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
