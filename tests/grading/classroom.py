"""A class of invented students: honest ones, and others whose work is a disguised copy.

Honest students choose an answer to each question on their own, and write it with names, comments
and cells of their own. A copy says the same with other names, numbers, comments, layout, order,
loops, helpers and cells.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grading.reports.feedback import ShownCell
from grading.reports.similarity import Work
from tests.grading.variants import variants_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

STEMS = re.findall(
    r"\w+",
    """
    alpha beta gamma head row score value total tmp res out val arr vec mat cnt idx acc part left
    right low high mid cur nxt new old base step size num dim shape mask top
    """,
)
ASKED = re.findall(
    r"\w+",
    """
    within between frozen positions_behind scores divisor figure score_change best_temperature key
    attend query value visible sink cap rate_q rate_k np plt math student_id personal_numbers
    """,
)
"""Words of names that students make up, and names that the problem sets ask for."""

FIXED = frozenset((*ASKED, *dir(builtins), *keyword.kwlist))
REMARKS = ("# my attempt", "# see the chapter", "# check this", "# why?", "# as in class")
DEAD = ("unused = 0", "print('here')", "check_ = []", "assert True", "if False:\n    pass")
HELPERS = (
    "{a} = np.arange({n})\nprint({a})",
    "{a} = []\nfor i in range({n}):\n    {a}.append(i * {m})",
    "plt.plot(np.linspace(0, {n}, {m}))",
    "print(personal_numbers(student_id, 'q1'), {n})",
)
PHRASES = """
Without the division the scores|Raw scores|Before we divide, the scores|Logits as they are
grow with the width|spread as the root of the width|get larger in wide heads|vary by d_k
, so softmax|, which means that softmax|, and therefore the row|; because of that softmax
saturates early.|puts nearly all on one key.|becomes almost one-hot.|looks at one position.
In my run|For my numbers|With my personal values|In the case that I was given
the spread was {}|sigma came out as {}|the deviation is about {}|I get {} for the spread
and the gradient is small.|so little is learned.|and the slope vanishes.|, hence it freezes.
I would shrink the start|Smaller matrices would do|One could scale the weights|The factor can move
but then change the rates.|if the rates are adapted.|as long as the steps follow.|after tuning.
""".strip().split("\n")


@dataclass(frozen=True)
class Written:
    """One student's notebook, and which answers it was made from."""

    cells: tuple[tuple[str | None, str, str], ...]  # question, kind and source of each
    chosen: tuple[str, ...] = ()

    def work(self, student: str) -> Work:
        return Work(
            student,
            tuple(
                ShownCell(name, "answer" if name else "own", kind, source, question=name)
                for name, kind, source in self.cells
            ),
        )


def honest(rng: Random, assignment: str) -> Written:
    """Return what a student wrote who asked nobody."""
    cells: list[tuple[str | None, str, str]] = []
    chosen = []
    for question, variants in variants_of(assignment).items():
        variant = rng.choice(variants)
        chosen.append(variant.name)
        source = ast.unparse(renamed(rng, ast.parse(variant.source)))
        cells.append((question, "code", remarked(rng, source)))
        if rng.random() < 0.3:
            cells.append((None, "code", helper(rng)))
    said = " ".join(rng.choice(line.split("|")) for line in PHRASES).format(rng.randrange(100))
    return Written((*cells, ("q5", "markdown", said)), tuple(chosen))


def copied(rng: Random, model: Written, much: float = 0.5) -> Written:
    """Return a disguised copy; `much` is how likely each thing that can be changed is."""
    cells: list[tuple[str | None, str, str]] = []
    for question, kind, source in model.cells:
        if kind == "markdown":
            sentences = source.split(". ")
            rng.shuffle(sentences)
            words = " ".join(sentences).split()
            other = [rng.choice(STEMS) if rng.random() < much / 4 else each for each in words]
            cells.append((question, kind, " ".join(other)))
        elif question or rng.random() < much:
            tree = Disguise(rng, much).visit(ast.parse(source))
            tree = ast.fix_missing_locations(renamed(rng, ast.fix_missing_locations(tree)))
            text = remarked(rng, ast.unparse(tree))
            cells += split(rng, question, text) if rng.random() < much else [(question, kind, text)]
    if rng.random() < much:
        cells.append((None, "code", helper(rng)))
    return Written(tuple(cells))


def renamed(rng: Random, tree: ast.AST) -> ast.AST:
    """Give other names to all that a student may call as he likes."""
    imported = {
        (each.asname or each.name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
    }
    used = {
        getattr(node, field)
        for node in ast.walk(tree)
        for kind, field in ((ast.Name, "id"), (ast.arg, "arg"), (ast.FunctionDef, "name"))
        if isinstance(node, kind)
    }
    given: dict[str, str] = {}
    for name in sorted(used - FIXED - imported):
        new = name
        while new in used | FIXED | set(given.values()):
            new = f"{rng.choice(STEMS)}_{rng.choice(STEMS)}{rng.choice('123456789_')}".rstrip("_")
        given[name] = new
    for node in ast.walk(tree):
        for kind, field in ((ast.Name, "id"), (ast.arg, "arg"), (ast.FunctionDef, "name")):
            if isinstance(node, kind):
                setattr(node, field, given.get(getattr(node, field), getattr(node, field)))
    return tree


def remarked(rng: Random, source: str) -> str:
    """Write comments at the ends of lines."""
    return "\n".join(
        f"{line}  {rng.choice(REMARKS)} {rng.randrange(9)}"
        if line and rng.random() < 0.15
        else line
        for line in source.split("\n")
    )


def helper(rng: Random) -> str:
    return rng.choice(HELPERS).format(
        a=rng.choice(STEMS), n=rng.randrange(2, 99), m=rng.randrange(2, 99)
    )


def split(rng: Random, question: str | None, source: str) -> Iterator[tuple[str | None, str, str]]:
    """Put the beginning of an answer into a cell of its own."""
    places = [node.lineno - 1 for node in ast.parse(source).body[1:]]
    lines = source.split("\n")
    cut = rng.choice(places) if places else 0
    if cut:
        yield None, "code", "\n".join(lines[:cut])
    yield question, "code", "\n".join(lines[cut:])


class Disguise(ast.NodeTransformer):
    """Changes how code is written, and not what it does, but for the numbers in it."""

    def __init__(self, rng: Random, much: float) -> None:
        self._rng, self._much = rng, much

    def _now(self, share: float = 1.0) -> bool:
        return self._rng.random() < self._much * share

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Add, ast.Mult)) and self._now(0.5):
            node.left, node.right = node.right, node.left
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and node.value > 2 and self._now():
            return ast.Constant(node.value + self._rng.randrange(1, 9))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and self._now():
            old = ast.Name(node.target.id, ast.Load())
            return ast.Assign([node.target], ast.BinOp(old, node.op, node.value))
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.For, ast.If, ast.While)):
            node.body = self._reordered([new for each in node.body for new in self._said(each)])
        return node

    def _said(self, node: ast.stmt) -> Iterator[ast.stmt]:
        """Say one statement in other words."""
        if isinstance(node, ast.Return) and node.value and self._now():
            yield ast.Assign([ast.Name("result_", ast.Store())], node.value)
            yield ast.Return(ast.Name("result_", ast.Load()))
        elif not isinstance(node, ast.Assign) or not self._now():
            yield node
        elif isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple):
            for target, value in zip(node.targets[0].elts, node.value.elts, strict=False):
                yield ast.Assign([target], value)
        elif isinstance(node.value, ast.ListComp) and isinstance(node.targets[0], ast.Name):
            yield from _looped(node.targets[0].id, node.value)
        else:
            yield node
        if self._now(0.2):
            yield ast.parse(self._rng.choice(DEAD)).body[0]

    def _reordered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Exchange neighbors that do not need each other."""
        for _ in range(2 * len(body)):
            i = self._rng.randrange(len(body))
            if i + 1 < len(body) and _independent(body[i], body[i + 1]):
                body[i], body[i + 1] = body[i + 1], body[i]
        return body


def _looped(name: str, made: ast.ListComp) -> Iterator[ast.stmt]:
    """Write a comprehension as loops."""
    append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    inner: ast.stmt = ast.Expr(ast.Call(append, [made.elt], []))
    for part in reversed(made.generators):
        for condition in part.ifs:
            inner = ast.If(condition, [inner], [])
        inner = ast.For(part.target, part.iter, [inner], [])
    yield ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))
    yield inner


def _independent(first: ast.stmt, second: ast.stmt) -> bool:
    kinds = (ast.Assign, ast.FunctionDef, ast.Import)
    if not (isinstance(first, kinds) and isinstance(second, kinds)):
        return False
    return not (_names(first, bound=True) & _names(second)) | (
        _names(second, bound=True) & _names(first)
    )


def _names(node: ast.stmt, *, bound: bool = False) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.name
        for each in ast.walk(node)
        if isinstance(each, ast.FunctionDef)
        or (isinstance(each, ast.Name) and (not bound or isinstance(each.ctx, ast.Store)))
    }
