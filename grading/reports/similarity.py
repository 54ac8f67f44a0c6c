"""Pairs of submissions that share more than the class does: a reason to look, never a mark.

A *feature* of code is the shape of an expression, cut off at some depth, without the names and
numbers that a student chose. Comments, layout, the order of statements, and what surrounds an
expression do not matter. A feature of a text is a run of words. What the problem set gives does
not count, and a feature counts the less the more students have it, and not at all if most have it:
right answers to one question are alike by nature.

copydetect 0.5.0 (PyPI), at its default windows on the eight classes of the tests, finds none of 80
disguised copies at the threshold that 1 % of honest pairs pass, and passes all honest pairs where
it finds 95 % of copies: it discounts nothing that a class shares. Dolos (npm, @dodona/dolos) was
not to be had to measure.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import unicodedata
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import nbformat
import numpy as np

from grading.gradebook import autograded
from grading.gradebook.book import Book
from grading.gradebook.database import DATABASE
from grading.private import write_private
from grading.problem_set import SOURCE, problem_sets
from grading.reports.feedback import ShownCell
from grading.reports.pages import render, rows_as_csv
from grading.results import Student
from grading.safe_text import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

DEPTHS = (2, 3, 4, 6)
SMALLEST = 2
WORDS = 4
"""Depths at which shapes of expressions are cut off, the parts that an expression must have, and
the words of a run."""

RARE = 8
SOLVED = 1 / 4
COMMON = 3 / 4
LITTLE = 3.0
"""Students added to a class, so that a small one has something rare; the share of the class that
is thought to write what the model solution has; the share from which on what it has says nothing;
bits of rare features that make half of what an answer can show, so that a short one shows little.
"""

LOOK = 7.8
ALIKE = 0.95
MANY_LINES = 8
LONG_LINE = 12
MOST_SHOWN = 40
LONGEST = 20_000
"""From which score, share and number of lines on a pair is reported, see `Pair`; characters that a
line must have; pairs shown with both sides; characters of a cell that are read."""

PASSAGE = 15
MOST_OF = 0.6
"""Words of a text in a row that are the same by no chance, and the part of all such rows in what
one wrote from which on a text is copied word for word."""
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТХЅІЈοαυνρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwABEKMHOPCTXSIJoauvpABEZHIKMNOPTYX",
)
"""Letters of Cyrillic and Greek, and those of Latin that nobody can tell from them."""
MIXED = re.compile(r"\w+")
WRITTEN = ("answer", "by hand", "own")
COLUMNS = ("first", "second", "alike", "odds", "shared", "others", "lines", "names", "reasons")
SIMPLE = frozenset(dir(builtins))
COMMUTES = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
MARKS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


Key = TypeVar("Key")


def as_read(text: str) -> str:
    r"""Return a text as a reader sees it: look-alike letters are one, and what is hidden is gone.

    Examples
    --------
    >>> as_read("th\u0435 sc\u200bores"), as_read("\uff46\uff4f\uff52")
    ('the scores', 'for')
    """
    seen = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", seen).translate(LOOK_ALIKES)


def disguised(text: str) -> int:
    r"""Return how many characters of a text are hidden, or look like others within a word.

    Words that are in one alphabet are words of another language, and nothing is hidden in them.

    Examples
    --------
    >>> disguised("th\u0435 sc\u200bores"), disguised("\u0441\u043b\u043e\u0432\u043e")
    (2, 0)
    """
    hidden = sum(unicodedata.category(each) == "Cf" for each in text)
    words = (word for word in MIXED.findall(text) if re.search("[A-Za-z]", word))
    return hidden + sum(ord(each) in LOOK_ALIKES for word in words for each in word)


class Feature(NamedTuple):
    """Something that two students may share, and the line of a cell that has it."""

    what: str
    line: int


def features(source: str, kind: str = "code") -> Iterator[Feature]:
    """Give the features of a cell, code or text.

    Code that does not parse is read line by line, and what is no Python even then, word by word.

    Examples
    --------
    >>> mine, yours = "x = rate * np.sqrt(width)  # as in class", "np.sqrt(d) * eta"
    >>> {each.what for each in features(mine)} == {each.what for each in features(yours)}
    True
    >>> set(features("np.sqrt(d) + eta")) & set(features(yours)) == set(features("np.sqrt(d)"))
    True
    """
    source = as_read(source[:LONGEST])
    if kind != "code":
        yield from _runs(source, 0)
        return
    source = re.sub(r"^[ \t]*[%!?].*", "", source, flags=re.MULTILINE)
    if (tree := _parsed(source)) is not None:
        yield from _shapes(tree)
        return
    for i, line in enumerate(source.split("\n")):
        text = line.strip()
        if (tree := _parsed(f"{text} pass" if text.endswith(":") else text)) is None:
            yield from _runs(line.partition("#")[0], i)
        else:
            yield from (Feature(what, i) for what, _ in _shapes(tree))


def _parsed(source: str) -> ast.Module | None:
    """Return the tree of a source, or None if it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _shapes(tree: ast.Module) -> Iterator[Feature]:
    """Give the shapes of the expressions of a tree."""
    nodes = list(ast.walk(tree))
    sizes: dict[int, int] = {}
    for node in reversed(nodes):  # parts come before what they are part of
        own = isinstance(node, (ast.expr, ast.keyword))
        sizes[id(node)] = own + sum(sizes[id(each)] for each in ast.iter_child_nodes(node))
    # of texts that are put together only the whole one
    parts = {
        id(part)
        for node in nodes
        if isinstance(node, ast.BinOp)
        for part in (node.left, node.right)
    }
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            each: ast.AST = ast.BinOp(node.target, node.op, node.value)
        elif isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store):
            each = node
        else:
            continue
        if sizes[id(node)] >= SMALLEST:
            for depth in DEPTHS:
                yield Feature(f"{depth} {_shape(each, depth)}", node.lineno - 1)
        # code that is executed from a text
        if id(node) not in parts and (inside := _text(node)):
            held = _parsed(inside) if "(" in inside or "=" in inside else None
            for what, line in _shapes(held) if held is not None else ():
                yield Feature(what, min(node.lineno - 1 + line, (node.end_lineno or 1) - 1))


def _text(node: ast.AST) -> str:
    """Return the text that an expression is, or that it puts together; nothing for any other."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = _text(node.left), _text(node.right)
        return "".join(parts) if all(parts) else ""
    return ""


def _shape(node: ast.AST, depth: int) -> str:
    """Return what an expression looks like down to a depth."""
    if isinstance(node, ast.Name):
        return node.id if node.id in SIMPLE else "name"
    if isinstance(node, ast.Constant):
        number = isinstance(node.value, (int, float, complex)) and not isinstance(node.value, bool)
        return "#" if number else type(node.value).__name__
    if depth == 0:
        return "…"
    parts = [_shape(each, depth - 1) for each in ast.iter_child_nodes(node) if not _marks(each)]
    words = [type(node).__name__]
    words += [type(each).__name__ for each in ast.iter_child_nodes(node) if _marks(each)]
    if isinstance(node, ast.Attribute):
        words.append(node.attr)
    elif isinstance(node, ast.keyword):
        words.append(node.arg or "**")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, COMMUTES):
        parts.sort()
    elif isinstance(node, ast.Compare) and words[1][0] == "G" and len(parts) == 2:
        words[1], parts = f"L{words[1][1:]}", parts[::-1]
    return f"({' '.join(words + parts)})"


def _marks(node: ast.AST) -> bool:
    """Return whether a node is an operator or the like, and no part of an expression."""
    return isinstance(node, MARKS)


def _runs(text: str, first: int, length: int = WORDS) -> Iterator[Feature]:
    """Give the runs of so many words in a text."""
    words = [
        ("#" if word[0].isdigit() else word, first + i)
        for i, line in enumerate(text.split("\n"))
        for word in re.findall(r"\w+", line.casefold())
    ]
    for i in range(len(words) - length + 1):
        yield Feature(" ".join(word for word, _ in words[i : i + length]), words[i][1])


@dataclass(frozen=True)
class Work:
    """What one student wrote: answers, and cells that the student added."""

    student: str  # the student's number
    cells: tuple[ShownCell, ...]  # in the order of the notebook
    name: str = ""  # for people

    @property
    def who(self) -> str:
        """Return the student for people."""
        return f"{self.student} ({self.name})" if self.name else self.student

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Return all of it letter for letter, without the student's number."""
        sources = (as_read(each.source).replace(self.student, "") for each in self.cells)
        return tuple(filter(None, map(str.strip, sources)))

    @cached_property
    def lines(self) -> frozenset[str]:
        """Return the lines that are long enough to be somebody's own."""
        sources = (as_read(each.source) for each in self.cells)
        lines = (line.strip() for each in sources for line in each.split("\n"))
        return frozenset(line for line in lines if len(line) >= LONG_LINE)

    @cached_property
    def passages(self) -> frozenset[str]:
        """Return the long runs of words in texts, whatever the numbers in them."""
        texts = (as_read(each.source[:LONGEST]) for each in self.cells if each.kind != "code")
        return frozenset(run.what for text in texts for run in _runs(text, 0, PASSAGE))

    @cached_property
    def disguised(self) -> int:
        """Return how many characters are hidden, or only look like others."""
        return sum(disguised(each.source) for each in self.cells)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names in code."""
        code = (as_read(each.source[:LONGEST]) for each in self.cells if each.kind == "code")
        return frozenset(word for each in code for word in re.findall(r"[^\W\d]\w*", each))


@dataclass(frozen=True)
class Pair:
    """Two submissions, and what they share beyond the problem set and the class."""

    first: Work  # the one whose number comes first
    second: Work
    shares: dict[str, float]  # for each question, the part of what is rare that both have
    share: float  # the mean of these; a question that one of them left out may not count
    surprise: float  # the sum over questions of -ln of the part of pairs that are as alike
    same: bool  # whether everything is the same letter for letter
    lines: frozenset[str]  # lines that hardly anybody else has, the same letter for letter
    names: int  # names that hardly anybody else uses
    number: bool  # whether one has the other's student number in it
    shared: dict[str, int]  # features that both have and most others do not, and how many have each
    passages: int = 0  # long runs of words that hardly anybody else has

    @property
    def odds(self) -> float:
        """Return the part of honest pairs that is as alike, if questions are independent.

        This is Fisher's way to combine ranks: their surprise has a gamma distribution then.
        """
        terms = (self.surprise**i / math.factorial(i) for i in range(len(self.shares)))
        return min(1.0, math.exp(-self.surprise) * sum(terms))

    @property
    def score(self) -> float:
        """Return what pairs are ordered by: how alike they are, times how surprising that is."""
        return self.share * self.surprise

    @property
    def others(self) -> float:
        """Return how many others have what both share, in the middle."""
        return median(self.shared.values()) - 2 if self.shared else 0

    @property
    def reasons(self) -> list[str]:
        """Return why a person should look at this pair; nothing if nobody needs to."""
        why = []
        if self.same:
            why.append("everything is the same letter for letter")
        # what most of the class has is no reason
        if (self.score >= LOOK or self.share >= ALIKE) and self.shared:
            why.append("the code is alike, whatever its names")
        if len(self.lines) >= MANY_LINES:
            why.append(f"{len(self.lines)} lines of their own are the same letter for letter")
        if self.passages:
            words = self.passages + PASSAGE - 1
            why.append(f"a text of about {words} words is the same word for word")
        if self.number and why:
            why.append("one has the other's student number in it")
        why += [
            f"{work.student} has {work.disguised} characters that hide or look like others"
            for work in (self.first, self.second)
            if why and work.disguised
        ]
        return why


class Class:
    """The submissions of a class, and what is rare among them.

    Features that are `given` with the problem set say nothing. Those that are `solved`, in the
    model solution, count as if part of the class had them.
    """

    def __init__(
        self,
        works: Iterable[Work],
        questions: Sequence[str],
        given: Iterable[ShownCell] = (),
        solved: Iterable[ShownCell] = (),
    ) -> None:
        self.works = sorted(works, key=lambda work: work.student)
        self.questions = tuple(questions)
        template, solution = Work("", tuple(given)), Work("", tuple(solved))
        nothing = frozenset[str]()
        known = nothing.union(*_by_question(template).values())
        model = nothing.union(*_by_question(solution).values())
        self._by_question = [
            {name: found - known for name, found in _by_question(work).items()}
            for work in self.works
        ]
        self.features = [nothing.union(*each.values()) for each in self._by_question]
        self.counts = Counter(what for each in self.features for what in each)
        size = len(self.works)
        self._bits = {
            what: math.log2((size + RARE) / max(count, size * SOLVED if what in model else 0))
            for what, count in self.counts.items()
            # those added make nothing rare that the class was taught
            if count <= max(2, size * COMMON)
        }
        self._lines = [work.lines - template.lines - solution.lines for work in self.works]
        self._passages = [
            work.passages - template.passages - solution.passages for work in self.works
        ]
        self._names = [work.names - template.names - solution.names for work in self.works]
        stubs = set(template.letters)
        self._letters = [
            tuple(each for each in work.letters if each not in stubs) for work in self.works
        ]

    def pairs(self) -> list[Pair]:
        """Return the pairs that a person should look at, those first that are most alike."""
        size, every = len(self.works), range(len(self.works))
        few = max(3, size // 50)
        lines = _together(self._lines, few)
        names = _together(self._names, few)
        sizes = [len(each) for each in self._passages]
        passages = {
            (i, j): both
            for (i, j), both in _together(self._passages, few).items()
            if len(both) >= MOST_OF * min(sizes[i], sizes[j])
        }
        same = {
            pair
            for key, group in _where(zip(self._letters, every, strict=True)).items()
            if key
            for pair in combinations(group, 2)
        }
        shares = {name: self._shares(name) for name in self.questions}
        surprise = sum(map(_surprise, shares.values()), np.zeros((size, size)))
        total = sum(shares.values(), np.zeros((size, size)))
        answered = sum((each > 0 for each in shares.values()), np.zeros((size, size)))
        # who left out more than half of the questions shares little
        share = total / np.maximum(answered, -(-len(shares) // 2))
        close = (share * surprise >= LOOK) | (share >= ALIKE)
        found = {(i, j) for i, j in np.argwhere(np.triu(close, 1)).tolist()}
        found |= same | {pair for pair, each in lines.items() if len(each) >= MANY_LINES}
        found |= passages.keys()
        pairs = [
            Pair(
                self.works[i],
                self.works[j],
                {name: float(each[i, j]) for name, each in shares.items()},
                float(share[i, j]),
                float(surprise[i, j]),
                (i, j) in same,
                frozenset(lines.get((i, j), ())),
                len(names.get((i, j), ())),
                _tells(self.works[i], self.works[j]) or _tells(self.works[j], self.works[i]),
                self._shared(i, j),
                len(passages.get((i, j), ())),
            )
            for i, j in found
        ]
        wanted = [pair for pair in pairs if pair.reasons]
        return sorted(wanted, key=lambda pair: (-pair.same, -pair.score, pair.first.student))

    def _shared(self, i: int, j: int) -> dict[str, int]:
        """Return the features that two have and most others do not, and how many have each."""
        most = max(2, len(self.works) * SOLVED)
        both = self.features[i] & self.features[j]
        return {what: self.counts[what] for what in both if self.counts[what] <= most}

    def _shares(self, question: str) -> np.ndarray:
        """Return for each pair which part of what is rare in one answer the other has anywhere.

        Of the two directions the larger one counts, as lines may be added to a copy.
        """
        size = len(self.works)
        answers = [each.get(question, frozenset()) for each in self._by_question]
        telling = self._bits.keys()
        writers = _where((what, i) for i, each in enumerate(answers) for what in each & telling)
        everywhere = _where(
            (what, i) for i, each in enumerate(self.features) for what in each & writers.keys()
        )
        bits = np.zeros((size, size))
        for what, rows in writers.items():
            bits[np.ix_(rows, everywhere[what])] += self._bits[what]
        own = bits.diagonal()[:, np.newaxis]
        part = bits / (own + LITTLE)
        return np.maximum(part, part.T)


def _by_question(work: Work) -> dict[str, frozenset[str]]:
    """Return the features of each question's cells."""
    found: dict[str, set[str]] = defaultdict(set)
    for cell in work.cells:
        found[cell.question or ""] |= {each.what for each in features(cell.source, cell.kind)}
    return {name: frozenset(each) for name, each in found.items()}


def _where(found: Iterable[tuple[Key, int]]) -> dict[Key, list[int]]:
    """Return where each thing is."""
    places: dict[Key, list[int]] = defaultdict(list)
    for what, i in found:
        places[what].append(i)
    return dict(places)


def _together(sets: Sequence[Iterable[str]], most: int) -> dict[tuple[int, int], list[str]]:
    """Return for each pair what both have that at most so many have."""
    places = _where((what, i) for i, each in enumerate(sets) for what in each)
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for what, group in places.items():
        if len(group) <= most:
            for pair in combinations(group, 2):
                found[pair].append(what)
    return found


def _surprise(shares: np.ndarray) -> np.ndarray:
    """Return -ln of the part of all pairs that are as alike as each."""
    every = np.sort(shares[np.triu_indices(len(shares), 1)])
    as_alike = len(every) - np.searchsorted(every, shares - 1e-9)
    return -np.log(np.maximum(as_alike, 1) / max(1, len(every)))


def _tells(one: Work, other: Work) -> bool:
    """Return whether the first has the second's student number in it."""
    return len(other.student) > 3 and any(other.student in each.source for each in one.cells)


def report(out: Path, assignment: str | None = None, source: Path = SOURCE) -> list[str]:
    """Compare the notebooks that `make grade` left in the folder `out`; return what was written.

    For each problem set, or only the one named, these are the files ``similarity-<set>.html`` and
    ``similarity-<set>.csv``. Only submissions that have marks are compared. A ValueError says that
    there are none.
    """
    known = problem_sets(source)
    if assignment is not None and assignment not in known:
        raise ValueError(f"ASSIGNMENT must be one of {', '.join(known)}; got {assignment}")
    written = []
    for name in [assignment] if assignment else known:
        works = list(read(out, name))
        if not works:
            continue
        problem_set = known[name]
        group = Class(
            works,
            [each.name for each in problem_set.questions],
            [ShownCell(each.name, each.role, each.kind, each.source) for each in problem_set.cells],
            _solutions(source / name / f"{name}.ipynb"),
        )
        pairs = group.pairs()
        path = out / f"similarity-{name}.html"
        write_private(path, page(group, pairs, name))
        write_private(path.with_suffix(".csv"), table(pairs))
        written += [f"{path}: {len(pairs)} of {_pairs_of(works)} pairs to look at"]
    if not written:
        wanted = assignment or "any problem set"
        raise ValueError(f"OUT must hold graded notebooks of {wanted}; {out} has none")
    return written


def read(out: Path, assignment: str) -> Iterator[Work]:
    """Give what students wrote, from their notebooks as they ran, with names from the gradebook."""
    people: dict[str, Student] = {}  # by what their folders are called
    if (out / DATABASE).exists():
        with Book(f"sqlite:///{out / DATABASE}") as book:
            students = (each.student for each in book.results(assignment))
            people = {safe_name(each.student_id): each for each in students}
    for path in sorted((out / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")):
        cells, _ = autograded.read(path.read_text(encoding="utf-8"))
        own = tuple(cell for cell in cells if cell.role in WRITTEN)
        folder = path.parent.parent.name
        student = people.get(folder, Student(folder, "", ""))
        yield Work(student.student_id, own, student.name)


def _solutions(path: Path) -> Iterator[ShownCell]:
    """Give the solved answer cells of a source notebook."""
    for cell in nbformat.read(path, as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            yield ShownCell(marks["grade_id"], "answer", cell.cell_type, cell.source)


def _pairs_of(works: Sequence[Work]) -> int:
    """Return how many pairs there are."""
    return math.comb(len(works), 2)


def page(group: Class, pairs: Sequence[Pair], assignment: str) -> str:
    """Return the page with both sides of each pair, whole in itself."""
    return render(
        "similarity.html",
        title=assignment.replace("_", " ").capitalize(),
        size=len(group.works),
        every=_pairs_of(group.works),
        pairs=pairs,
        shown=[(pair, _sides(pair)) for pair in pairs[:MOST_SHOWN]],
        odds=odds,
    )


def odds(pair: Pair) -> str:
    """Return in words how often honest pairs are as alike."""
    often = 1 / pair.odds
    if often < 2:
        return "not rare here"
    return f"1 in {float(f'{often:.1g}'):,.0f}" if often < 1e6 else "below 1 in 1,000,000"


def _sides(pair: Pair) -> list[list[tuple[ShownCell, list[tuple[str, str]]]]]:
    """Return the cells of both, each line with its mark."""
    both = (pair.first, pair.second)
    return [[(cell, _lines(cell, pair)) for cell in work.cells] for work in both]


def _lines(cell: ShownCell, pair: Pair) -> list[tuple[str, str]]:
    """Return the lines of a cell, each with a mark that says how others have what is shared."""
    others: dict[int, int] = {}
    for what, i in features(cell.source, cell.kind):
        if what in pair.shared:
            others[i] = min(pair.shared[what] - 2, others.get(i, pair.shared[what]))
    marked = []
    for i, line in enumerate(cell.source[:LONGEST].split("\n")):
        signs = ["="] if as_read(line).strip() in pair.lines else []
        signs += [f"● {others[i]}"] if i in others else []
        marked.append((line, " ".join(signs)))
    return marked


def table(pairs: Iterable[Pair]) -> str:
    """Return the numbers as CSV."""
    rows = [COLUMNS]
    for pair in pairs:
        numbers = (f"{pair.share:.3f}", f"{pair.odds:.2g}", len(pair.shared), f"{pair.others:g}")
        more = (len(pair.lines), pair.names, "; ".join(pair.reasons))
        rows.append((pair.first.student, pair.second.student, *numbers, *more))
    return rows_as_csv(rows)
