"""Every numeral in the text is bound to an expression, which the notebook's own kernel evaluates.

A comment right behind a numeral holds the expression and its format, as in an f-string::

    The key in front takes 42%<!-- {unscaled[0, 0]:.0%} --> of the weight.

It is evaluated after the last code cell before the text, or, if it begins with ``below:``, at the
end of the section. It may give several numerals, for those in front of it. A caption, an
alternative text and the page's description cannot hold comments; the metadata of their cell or
notebook does, under ``numbers``: ``{"caption": "{n_keys} keys"}``.

    python -m book.numbers                     run every notebook, rewrite numerals that moved
    python -m book.numbers --check             change nothing, fail if one moved or none binds it
    python -m book.numbers chapters/02_variance.ipynb
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import builtins
import hashlib
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from book.digest import notebook_digests
from book.files import atomic_write
from book.markdown import COMMENT, Piece, blocks, walk
from book.model import ROOT
from book.normal_form import book_notebooks, normalized
from book.number_words import LISTED, number_words, states
from book.numerals import STRUCTURE, Numeral, numbers, numerals, written_as

BELOW = "below:"
HOW = "a comment right behind it does, with an expression: <!-- {expression} -->"
OR = f"or, if no cell computes it, its phrase is listed with the page in book/{LISTED.name}"
MODULES = {"math", "np"}
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
CELL_TEXTS = {"caption": "figure", "alt": "image"}
"""Texts in the metadata of a cell, and where they are below ``mystnb``."""
PAGE_TEXTS = {
    "description": ("myst", "html_meta", "description"),
    "question": ("book", "question"),
}
"""Texts in the metadata of a notebook: its description, and the question that lists of the
chapters show."""


@dataclass(frozen=True)
class Binding:
    """An expression with its format, and when it is evaluated."""

    template: str  # what the comment or the metadata holds: an f-string without its quotes
    moment: int  # position of the cell after which it is evaluated; -1 if there is none

    @property
    def expression(self) -> str:
        """The f-string, as Python reads it."""
        quotes = next(q for q in ('"""', "'''") if q not in self.template)
        end = " " if self.template.endswith(quotes[0]) else ""
        return f"f{quotes}{self.template}{end}{quotes}"


@dataclass(frozen=True)
class Passage:
    """A text that a reader sees, and what binds its numerals."""

    where: str  # such as "cell 7" or "cell 7, caption"
    text: str
    marks: tuple[Numeral | Binding, ...]  # in the order of the text
    position: int = -1  # of its cell; -1 for what belongs to the whole notebook

    @property
    def numerals(self) -> tuple[Numeral, ...]:
        """The numerals of the text."""
        return tuple(mark for mark in self.marks if isinstance(mark, Numeral))

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """What binds them."""
        return tuple(mark for mark in self.marks if isinstance(mark, Binding))


@dataclass(frozen=True)
class Problem:
    """A numeral that is wrong or not bound, or a binding that binds nothing.

    `numeral` and `computed` say what to rewrite, where that is known.
    """

    where: str
    message: str
    numeral: Numeral | None = None
    computed: str = ""

    def __str__(self) -> str:
        """Say where and what."""
        return f"{self.where}: {self.message}"


def value_at(metadata: Any, path: Iterable[str]) -> Any:
    """Return what metadata hold at the end of a path, or nothing."""
    for key in path:
        metadata = metadata.get(key, {})
    return metadata


def sentence(text: str, start: int, end: int) -> str:
    """Return the words around a place, to find it by, without comments."""
    before, after = COMMENT.sub("", text[:start]), COMMENT.sub("", text[end:])
    return " ".join(f"…{before[-45:]}{text[start:end]}{after[:25]}…".split())


@cache
def is_computed(template: str) -> bool:
    """Say whether every field of a template asks for something that a cell has made.

    Examples
    --------
    >>> is_computed("{weights[0]:.2f}"), is_computed("{0.42}"), is_computed("{math.sqrt(4)}")
    (True, False, False)
    """
    whole = ast.parse(Binding(template, 0).expression, mode="eval")
    fields = [node for node in ast.walk(whole) if isinstance(node, ast.FormattedValue)]
    return bool(fields) and all(_names(field.value) for field in fields)


def _names(expression: ast.expr) -> set[str]:
    """Return the names that an expression asks for, without those that it makes itself."""
    parts = list(ast.walk(expression))
    own = {part.arg for part in parts if isinstance(part, ast.arg)}
    own |= {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    asked = {part.id for part in parts if isinstance(part, ast.Name)} - own - MODULES
    return {name for name in asked if not hasattr(builtins, name)}


@cache
def typed(template: str) -> list[str]:
    """Return the numbers that a template types beside its fields, except a bare 0, 1 or 2.

    Examples
    --------
    >>> typed("{n} of 96%"), typed("2^{n}"), typed("1/{n}")
    (['96%'], [], [])
    """
    parts = ast.parse(Binding(template, 0).expression, mode="eval").body.values
    with_7, with_8 = (
        numbers("".join(p.value if isinstance(p, ast.Constant) else digit for p in parts))
        for digit in "78"
    )
    same = (one for one, other in zip(with_7, with_8, strict=True) if one == other)
    return [number for number in same if not STRUCTURE.fullmatch(number)]


def binds(word: Numeral, following: Piece | None) -> bool:
    """Say whether a piece is a comment with an expression, right behind a number word."""
    binding = following is not None and following.kind == "comment" and "{" in following.text
    return binding and following.places[0] == word.end


class Notebook:
    """The texts of a notebook with their numerals, bindings and moments."""

    def __init__(self, notebook: NotebookNode) -> None:
        self.notebook = notebook
        self.cells = notebook.cells
        self._code = [i for i, cell in enumerate(self.cells) if cell.cell_type == "code"]
        self._heads = [
            i
            for i, cell in enumerate(self.cells)
            if cell.cell_type == "markdown"
            and HEADING.search(cell.source)
            and any(block.kind == "heading" for block in blocks(cell.source))
        ]
        self.passages = list(self._passages())

    def before(self, position: int) -> int:
        """Return the last code cell before a position."""
        return max((i for i in self._code if i < position), default=-1)

    def section_end(self, position: int) -> int:
        """Return the last code cell before the next cell with a heading."""
        following = min((i for i in self._heads if i > position), default=len(self.cells))
        return self.before(following)

    def _passages(self) -> Iterator[Passage]:
        for position, cell in enumerate(self.cells):
            where = f"cell {position + 1}"
            if cell.cell_type == "markdown":
                yield self._cell(where, cell.source, position)
                continue
            shown, bound = cell.metadata.get("mystnb", {}), cell.metadata.get("numbers", {})
            for key, group in CELL_TEXTS.items():
                if text := shown.get(group, {}).get(key):
                    yield self._titled(f"{where}, {key}", text, bound.get(key), position)
        bound = self.notebook.metadata.get("numbers", {})
        for key, path in PAGE_TEXTS.items():
            if text := value_at(self.notebook.metadata, path):
                yield self._titled(key, text, bound.get(key), self.before(len(self.cells)))

    def with_text(self, passage: Passage, text: str) -> Passage:
        """Return a passage as it would be read if it had another text."""
        if passage.position >= 0:
            return self._cell(passage.where, text, passage.position)
        template = "".join(binding.template for binding in passage.bindings)
        moment = passage.bindings[0].moment if passage.bindings else -1
        return self._titled(passage.where, text, template, moment)

    def _cell(self, where: str, text: str, position: int) -> Passage:
        return Passage(where, text, tuple(self._marks(walk(text), position)), position)

    def _marks(self, pieces: Iterable[Piece], position: int) -> Iterator[Numeral | Binding]:
        read = list(pieces)
        for piece, following in zip_longest(read, read[1:]):
            if piece.kind != "comment":
                yield from numerals(piece)
                yield from (word for word in number_words(piece) if binds(word, following))
            elif "{" in piece.text:
                template = " ".join(piece.text[4:-3].split())
                below = template.startswith(BELOW)
                moment = self.section_end(position) if below else self.before(position)
                yield Binding(template.removeprefix(BELOW).strip(), moment)

    def _titled(self, where: str, text: str, template: str | None, moment: int) -> Passage:
        pieces = (piece for piece in walk(text) if piece.kind != "comment")
        marks = [numeral for piece in pieces for numeral in numerals(piece)]
        bound = [Binding(template, moment)] if template else []
        return Passage(where, text, (*marks, *bound))

    @property
    def bindings(self) -> list[Binding]:
        """All bindings, in the order of the text."""
        return [binding for passage in self.passages for binding in passage.bindings]

    @cached_property
    def schedule(self) -> dict[int, list[Binding]]:
        """The bindings by the position of the cell after which they are evaluated."""
        found: dict[int, list[Binding]] = {}
        for binding in dict.fromkeys(self.bindings):
            found.setdefault(binding.moment, []).append(binding)
        return found


Values = Mapping[Binding, str]
"""What the kernel made of each template; an error as ``!`` and a message."""


def compare(passage: Passage, values: Values) -> Iterator[Problem]:
    """Yield what is wrong in a passage, given what the kernel made of each template."""
    waiting: list[Numeral] = []
    for mark in passage.marks:
        if isinstance(mark, Numeral):
            waiting.append(mark)
        else:
            yield from _bind(passage, waiting, mark, values)
            waiting = []
    yield from _unbound(passage, waiting)


def _unbound(passage: Passage, waiting: Sequence[Numeral]) -> Iterator[Problem]:
    for numeral in waiting:
        if not numeral.structure:
            around = sentence(passage.text, numeral.start, numeral.end)
            yield Problem(passage.where, f"nothing binds {numeral.text} in «{around}»; {HOW}")


def _shown(passage: Passage, waiting: Sequence[Numeral], binding: Binding) -> str:
    """Return a binding with the numeral before it, to find it by."""
    shown = f"<!-- {binding.template} -->"
    if not waiting:
        return shown
    last = waiting[-1]
    return f"{last.text}{shown} in «{sentence(passage.text, last.start, last.end)}»"


def _fault(binding: Binding, values: Values) -> str:
    """Return what is wrong with a binding whatever the text says, or nothing."""
    value = values.get(binding, "!it was not evaluated")
    if binding.moment < 0:
        value = f"!no cell runs before it; begin it with {BELOW}"
    if value.startswith("!"):
        return f"has no value: {value[1:]}"
    if not is_computed(binding.template):
        return "asks for nothing that a cell has made"
    if found := typed(binding.template):
        return f"types {', '.join(found)} and does not compute it"
    return "" if numbers(value) else f"gives «{value}», which is no number"


def _bind(
    passage: Passage, waiting: list[Numeral], binding: Binding, values: Values
) -> Iterator[Problem]:
    if found := _fault(binding, values):
        yield Problem(passage.where, f"{_shown(passage, waiting, binding)} {found}")
        return
    wanted = numbers(values[binding])
    taken = _aligned(waiting, wanted)
    if len(taken) < len(wanted):
        shown = _shown(passage, waiting, binding)
        yield Problem(
            passage.where, f"{shown} gives {', '.join(wanted)}, and fewer numerals are before it"
        )
    first = taken[0].start if taken else 0
    yield from _unbound(passage, [numeral for numeral in waiting if numeral.start < first])
    for numeral, number in zip(taken, wanted[len(wanted) - len(taken) :], strict=True):
        if numeral.number != number:
            around = sentence(passage.text, numeral.start, numeral.end)
            message = f"the text has {numeral.text}, computed is {number}, in «{around}»"
            yield Problem(passage.where, message, numeral, number)


def _aligned(waiting: Sequence[Numeral], wanted: Sequence[str]) -> list[Numeral]:
    """Return the numerals that a binding is for: the last ones, structure only where it fits.

    A bare 0, 1 or 2 is for the very last one, so that a result of 2 that becomes 1 is noticed.
    """
    taken: list[Numeral] = []
    left = list(wanted)
    spare = len(waiting)
    for numeral in reversed(waiting):
        spare -= 1
        if not left:
            break
        fits = numeral.number == left[-1] or STRUCTURE.fullmatch(left[-1])
        if numeral.structure and not fits and spare >= len(left):
            continue
        taken.insert(0, numeral)
        left.pop()
    return taken


def problems(notebook: Notebook, values: Values) -> list[Problem]:
    """List every numeral that is wrong or not bound."""
    return [problem for passage in notebook.passages for problem in compare(passage, values)]


def loose_words(notebook: Notebook, listed: Collection[str]) -> Iterator[Problem]:
    """Yield the number words that state something, are not bound and begin no listed phrase."""
    for passage in notebook.passages:
        pieces = list(walk(passage.text))
        for piece, following in zip_longest(pieces, pieces[1:]):
            for word in number_words(piece):
                phrase = " ".join(passage.text[word.start :].lower().split())
                known = any(f"{phrase} ".startswith(f"{one} ") for one in listed)
                if states(word, passage.text) and not binds(word, following) and not known:
                    around = sentence(passage.text, word.start, word.end)
                    message = f"nothing binds the word {word.text} in «{around}»; {HOW}; {OR}"
                    yield Problem(passage.where, message, word)


def listed_phrases(name: str) -> list[str]:
    """Return the phrases that a page may begin with a number word which nothing binds."""
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}: ")]


def evaluated_text(reply: Mapping[str, Any]) -> str:
    """Return what the kernel answered to one expression."""
    if reply.get("status") != "ok":
        return f"!{reply.get('ename')}: {reply.get('evalue')}"
    return str(ast.literal_eval(reply["data"]["text/plain"]))


class Client(NotebookClient):
    """Runs a notebook and evaluates what binds its numerals, each at its moment."""

    def __init__(self, nb: NotebookNode, **options: Any) -> None:
        super().__init__(nb, **options)
        self.schedule = Notebook(nb).schedule
        self.values: dict[Binding, str] = {}

    async def async_execute_cell(
        self, cell: NotebookNode, cell_index: int, *args: Any, **options: Any
    ) -> NotebookNode:
        """Run a cell, then what waits for it."""
        done = await super().async_execute_cell(cell, cell_index, *args, **options)
        bindings = self.schedule.get(cell_index, [])
        expressions = {str(i): binding.expression for i, binding in enumerate(bindings)}
        if expressions:
            message = self.kc.execute(
                "", silent=True, store_history=False, user_expressions=expressions
            )
            answers = (await self._reply_to(message))["user_expressions"]
            for i, binding in enumerate(bindings):
                self.values[binding] = evaluated_text(answers[str(i)])
        return done

    async def _reply_to(self, sent: str) -> dict[str, Any]:
        reply = await self.kc.get_shell_msg(timeout=self.timeout)
        while reply["parent_header"].get("msg_id") != sent:
            reply = await self.kc.get_shell_msg(timeout=self.timeout)
        # only then is the kernel idle, and does not mind being stopped
        news = await self.kc.get_iopub_msg(timeout=self.timeout)
        while (news["parent_header"].get("msg_id"), news["content"].get("execution_state")) != (
            sent,
            "idle",
        ):
            news = await self.kc.get_iopub_msg(timeout=self.timeout)
        return reply["content"]


def run(notebook: NotebookNode, folder: Path, timeout: int = 120) -> dict[Binding, str]:
    """Run a notebook in place; return what the kernel made of its bindings."""
    resources = {"metadata": {"path": str(folder.resolve())}}
    client = Client(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources=resources,
        # each kernel would warn that other users of this machine could listen to it
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    # in a thread whose event loop is new: this one's may run, and its own would not be closed
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, client.async_execute()).result()
    return client.values


def rewritten(text: str, found: Iterable[Problem]) -> str:
    """Return a text with the computed numbers in place of the written ones."""
    for problem in sorted(found, key=lambda problem: -problem.numeral.start):
        numeral = problem.numeral
        new = written_as(numeral, problem.computed)
        text = text[: numeral.start] + new + text[numeral.end :]
    return text


def replace_text(notebook: NotebookNode, where: str, text: str) -> None:
    """Put a text in the place of a passage."""
    place, _, key = where.partition(", ")
    if place in PAGE_TEXTS:
        *path, last = PAGE_TEXTS[place]
        value_at(notebook.metadata, path)[last] = text
        return
    cell = notebook.cells[int(place.split()[1]) - 1]
    if key:
        cell.metadata["mystnb"][CELL_TEXTS[key]][key] = text
    else:
        cell.source = text


def rewrite_numerals(notebook: NotebookNode, values: Values) -> list[str]:
    """Rewrite what moved in a notebook, in place, and return old and new, a line each."""
    moves = []
    for passage in Notebook(notebook).passages:
        moved = [problem for problem in compare(passage, values) if problem.numeral]
        if not moved:
            continue
        moves += [
            f"{p.where}: {p.numeral.text} → {written_as(p.numeral, p.computed)} in "
            f"«{sentence(passage.text, p.numeral.start, p.numeral.end)}»"
            for p in moved
        ]
        replace_text(notebook, passage.where, rewritten(passage.text, moved))
    return moves


def record(notebook: NotebookNode, digest: str, root: Path) -> Path:
    """Return the file that keeps a notebook's values, until its code or a binding changes.

    The digest is that of what the notebook depends on.
    """
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    asked = [(binding.template, binding.moment) for binding in Notebook(notebook).bindings]
    whole = json.dumps([digest, code, asked])
    return root / "_build" / "numbers" / f"{hashlib.sha256(whole.encode()).hexdigest()[:16]}.json"


def keep(values: Values, kept: Path) -> None:
    """Keep what the kernel made of a notebook's bindings."""
    written = [[binding.template, binding.moment, value] for binding, value in values.items()]
    atomic_write(kept, json.dumps(written))


def computed(path: Path, root: Path) -> dict[Binding, str]:
    """Return the values of a notebook's bindings: those of the last run, or of one made now."""
    notebook = nbformat.read(path, as_version=4)
    kept = record(notebook, notebook_digests([path], root)[path], root)
    if not kept.is_file():
        keep(run(nbformat.from_dict(notebook), path.parent), kept)
    return {
        Binding(template, moment): value
        for template, moment, value in json.loads(kept.read_text(encoding="utf-8"))
    }


def run_notebook(path: Path, check: bool) -> list[str]:
    """Run one notebook; rewrite its numerals and outputs, or only say what is wrong."""
    notebook = nbformat.read(path, as_version=4)
    try:
        values = run(notebook, path.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError, ValueError) as error:
        return [f"{path}: {error}"]
    moves = [] if check else rewrite_numerals(notebook, values)
    for line in moves:
        sys.stdout.write(f"{path.name}, {line}\n")
    if not check:
        nbformat.write(normalized(notebook, path.stem), path)
    page = Notebook(notebook)
    wrong = [*problems(page, values), *loose_words(page, listed_phrases(path.stem))]
    lines = [f"{path.name}, {problem}" for problem in wrong]
    sys.stdout.write(f"{path.name}: {len(values)} expressions evaluated, {len(lines)} problems\n")
    return lines


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run notebooks and rewrite or check their numerals; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="default: all of the book's")
    parser.add_argument("--check", action="store_true", help="change nothing, fail on differences")
    options = parser.parse_args(arguments)
    paths = options.paths or book_notebooks(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda path: run_notebook(path, options.check), paths)
        wrong = [line for lines in runs for line in lines]
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
