"""Check that every numeral in a notebook's prose is printed by one of its cells.

Code cells tagged ``prose`` print fragments of the prose, one a line. Each printed line has to
occur word for word in the notebook's Markdown (or in a caption, an alternative text or the page
description), and each numeral of that prose has to lie inside such an occurrence. So a number
that a cell no longer computes, or that somebody typed, cannot stay on the page.

Run ``python tools/prose.py chapters/02_variance.ipynb`` to see what is not bound.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat

#: Names that contain digits and are not numbers.
NAMES = re.compile(r"\b(?:b?float(?:8|16|32|64)|int(?:8|16|32|64)|GPT-[1234]|T5)\b")

#: A word that links to the glossary: {term}`word` or {term}`its form <word>`.
TERM = re.compile(r"\{term\}`(?P<title>[^`<>]+?)\s*(?:<(?P<target>[^`<>]+)>)?`")

#: The one form in which a reading time may be written.
READING_TIME = re.compile(r"\babout (\d+) minutes\b")

WORDS_PER_MINUTE = 200
MINUTES_PER_CODE_CELL = 0.5
READING_TIME_STEP = 5

# A sign counts only where a number can begin, so "8-3" and "7–8" hold two unsigned numerals.
_SIGN = r"(?:(?<![\w)\]}.\\])[-−](?=\.?\d))?"
_DIGITS = r"(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][-+−]?\d+)?"
_POWER = r"(?:[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
_NUMERAL = re.compile(rf"{_SIGN}(?:{_DIGITS}[½⅓¼¾⅔⅛]?|[½⅓¼¾⅔⅛]){_POWER}(?:\\?%)?")
_MATH_POWER = r"(?:\^(?:\{[^{}]*\}|[-−]?\w))?"
_MATH_NUMERAL = re.compile(rf"{_SIGN}{_DIGITS}{_MATH_POWER}(?:\\?%)?")
_NUMERIC_BASE = re.compile(r"(?:(?<![_\w.])|(?<=\\cdot)|(?<=\\times))[\d.]+$")
_FORMULA_STRUCTURE = re.compile(r"[-−]?[012]")

_DIRECTIVE = re.compile(r"\s*(?P<fence>`{3,}|:{3,}|~{3,})\s*\{(?P<name>[\w:.-]+)\}(?P<title>.*)")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,}|:{3,})(?P<info>[^`]*)$")
_OPTION = re.compile(r"\s*:(?P<key>[\w-]+):(?P<value>.*)$")
_VISIBLE_OPTIONS = {"alt", "caption"}
# Their body is not prose, or their title is a path or a target.
_BODY_IS_CODE = {"bibliography", "code", "code-block", "code-cell", "eval-rst", "raw", "toctree"}
_TITLE_IS_TARGET = {"figure", "grid", "image", "include", "literalinclude", "math"} | _BODY_IS_CODE

_INLINE = re.compile(
    r"(?:\{(?P<role>[\w:.-]+)\})?(?<!`)(?P<ticks>`+)(?!`)(?P<body>.+?)(?<!`)(?P=ticks)(?!`)",
    re.DOTALL,
)
_ROLE_TITLE = re.compile(r"(?P<title>.*?)<[^<>]*>\s*", re.DOTALL)
_NOT_PROSE_ROLES = {"sub", "sup", "subscript", "superscript"}
_DISPLAY = re.compile(r"\$\$(?P<body>.+?)\$\$(?P<label>[ \t]*\([\w:.-]+\))?", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\{(?P<env>\w+\*?)\}(?P<body>.+?)\\end\{(?P=env)\}", re.DOTALL)
_DOLLAR = re.compile(r"(?<![\\$])\$(?!\$)(?P<body>(?:[^$\\]|\\.|\n(?!\s*\n))+?)\$(?!\$)")

_HIDDEN_PROSE = [
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^%.*$", re.MULTILINE),
    re.compile(r"^\s*\([\w:.-]+\)=\s*$", re.MULTILINE),
    re.compile(r"^\s*\[[^\]]+\]:\s+\S+.*$", re.MULTILINE),
    re.compile(r"(?<=\])\([^()\s]*\)"),
    re.compile(r"\[\^[^\]]+\]"),
    re.compile(r"<?\bhttps?://[^\s>)]+>?"),
    re.compile(r"</?[A-Za-z][^<>]*>"),
    re.compile(r"&#?\w+;"),
    re.compile(r"^\s*\d+[.)](?=\s)", re.MULTILINE),
    re.compile(r"(?<=\*\*Time\*\* )about \d+ minutes\b"),
]
_HIDDEN_MATH = [
    re.compile(r"\\\\\[[^\]]*\]"),
    re.compile(r"\\(?:h|v)space\*?\{[^{}]*\}"),
    re.compile(r"\\(?:label|tag|ref|eqref|begin|end)\*?\{[^{}]*\}"),
]


@dataclass(frozen=True)
class Numeral:
    """A numeral of the prose and where it stands in its cell's source."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Passage:
    """A piece of prose that a reader sees: a Markdown cell, a caption, a description."""

    where: str
    text: str


@dataclass(frozen=True)
class Problem:
    """One breach of the rule, with its place in words."""

    where: str
    message: str

    def __str__(self) -> str:
        """Say where and what."""
        return f"{self.where}: {self.message}"


def _blank(text: str) -> str:
    """Return as many spaces as `text` has characters, keeping its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def _hide(match: re.Match[str]) -> str:
    return _blank(match.group())


def _keep_only(match: re.Match[str], group: str) -> str:
    """Blank a match except for one of its groups."""
    if match[group] is None:
        return _blank(match.group())
    start, end = (position - match.start() for position in match.span(group))
    whole = match.group()
    return _blank(whole[:start]) + whole[start:end] + _blank(whole[end:])


def _blank_directive_line(line: str, inside_head: bool) -> tuple[str, bool]:
    """Blank an option line under a directive's head; say whether the head goes on."""
    option = _OPTION.match(line)
    if not inside_head or option is None:
        return line, False
    return (
        _keep_only(option, "value") if option["key"] in _VISIBLE_OPTIONS else _blank(line)
    ), True


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and set(stripped) == {fence[0]} and len(stripped) >= len(fence)


def _hide_fences(text: str) -> tuple[str, str]:
    """Blank code blocks, heads and options; return the prose and the bodies of math directives."""
    prose: list[str] = []
    formulas: list[str] = []
    open_fences: list[tuple[str, str]] = []
    inside_head = False
    for line in text.splitlines(keepends=True):
        kind = open_fences[-1][1] if open_fences else "prose"
        visible, formula = line, _blank(line)
        if open_fences and _closes(line, open_fences[-1][0]):
            open_fences.pop()
            visible = _blank(line)
        elif kind == "code":
            visible = _blank(line)
        elif head := _DIRECTIVE.match(line):
            name = head["name"]
            body = "code" if name in _BODY_IS_CODE else "math" if name == "math" else "prose"
            open_fences.append((head["fence"], body))
            visible = _blank(line) if name in _TITLE_IS_TARGET else _keep_only(head, "title") + "\n"
            visible = visible[: len(line)]
            inside_head = True
            prose.append(visible)
            formulas.append(formula)
            continue
        elif fence := _FENCE.match(line):
            open_fences.append((fence["fence"], "prose" if fence["fence"][0] == ":" else "code"))
            visible = _blank(line)
        else:
            visible, inside_head = _blank_directive_line(line, inside_head)
            if kind == "math":
                visible, formula = _blank(visible), visible
        prose.append(visible)
        formulas.append(formula)
    return "".join(prose), "".join(formulas)


def _merge(first: str, second: str) -> str:
    """Overlay two texts of equal length, blanks being transparent."""
    return "".join(b if a == " " else a for a, b in zip(first, second, strict=True))


def _extract(pattern: re.Pattern[str], text: str, formulas: str) -> tuple[str, str]:
    """Move the bodies that `pattern` finds in `text` over to `formulas`."""
    for match in list(pattern.finditer(text)):
        start, end = match.span()
        formulas = (
            formulas[:start]
            + _merge(_keep_only(match, "body"), formulas[start:end])
            + formulas[end:]
        )
        text = text[:start] + _blank(match.group()) + text[end:]
    return text, formulas


def _hide_inline(text: str, formulas: str) -> tuple[str, str]:
    """Blank inline code and the targets of roles; move ``{math}`` roles to the formulas."""
    for match in list(_INLINE.finditer(text)):
        start, end = match.span()
        visible = _blank(match.group())
        if match["role"] == "math":
            body = _keep_only(match, "body")
            formulas = formulas[:start] + _merge(body, formulas[start:end]) + formulas[end:]
        elif match["role"] and match["role"] not in _NOT_PROSE_ROLES:
            titled = _ROLE_TITLE.fullmatch(match["body"])
            if titled:
                offset = match.start("body") - start
                title = titled["title"]
                visible = visible[:offset] + title + visible[offset + len(title) :]
        text = text[:start] + visible + text[end:]
    return text, formulas


def _braced(text: str, start: int) -> int:
    """Return the end of the group or single token that starts at `start`."""
    if start >= len(text):
        return start
    if text[start] == "\\":
        match = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL).match(text, start)
        return match.end() if match else start + 1
    if text[start] != "{":
        return start + 1
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position + 1
    return len(text)


def _hide_scripts(text: str) -> str:
    """Blank subscripts and exponents, except powers of numerals and the words under a brace."""
    position = 0
    while (found := re.compile(r"[_^]").search(text, position)) is not None:
        end = _braced(text, found.end())
        before = text[: found.start()].rstrip()
        numeric_power = found.group() == "^" and _NUMERIC_BASE.search(before)
        if numeric_power or _under_a_brace(before):
            position = found.end()
            continue
        text = text[: found.start()] + _blank(text[found.start() : end]) + text[end:]
        position = end
    return text


def _under_a_brace(before: str) -> bool:
    r"""Say whether the text ends with ``\underbrace{…}`` or ``\overbrace{…}``."""
    if not before.endswith("}"):
        return False
    return any(
        _braced(before, match.end()) == len(before)
        for match in re.finditer(r"\\(?:under|over)brace\s*(?=\{)", before)
    )


def _formula_numerals(formulas: str) -> Iterator[Numeral]:
    for pattern in _HIDDEN_MATH:
        formulas = pattern.sub(_hide, formulas)
    # \frac12 is a half, not twelve: a comma-free separator would move positions, so blank digits
    # that TeX reads as two arguments one by one; both are structure when they are 0, 1 or 2.
    formulas = re.sub(r"(?<=frac)[012][012](?!\d)", "  ", formulas)
    for match in _MATH_NUMERAL.finditer(_hide_scripts(formulas)):
        if not _FORMULA_STRUCTURE.fullmatch(match.group()):
            yield Numeral(match.group(), *match.span())


def _read(text: str) -> tuple[str, str]:
    """Split a text into its words and its formulas; the rest of each is blank."""
    prose, formulas = _hide_fences(text)
    prose, formulas = _hide_inline(prose, formulas)
    for pattern in (_DISPLAY, _ENVIRONMENT, _DOLLAR):
        prose, formulas = _extract(pattern, prose, formulas)
    for hidden in _HIDDEN_PROSE:
        prose = hidden.sub(_hide, prose)
    return prose, formulas


def visible_words(text: str) -> str:
    """Return a text of the same length in which only the words of the prose are left.

    Parameters
    ----------
    text : str
        Source of a Markdown cell.

    Returns
    -------
    str
        Code, formulas, heads of directives and targets of links are blank.

    Examples
    --------
    >>> visible_words("with $x$ and `y` in {doc}`the text <z>`").split()
    ['with', 'and', 'in', 'the', 'text']
    """
    return _read(text)[0]


@cache
def numerals(text: str) -> tuple[Numeral, ...]:
    r"""List the numerals of a piece of MyST Markdown that a cell has to print.

    Parameters
    ----------
    text : str
        Source of a Markdown cell.

    Returns
    -------
    tuple of Numeral
        In order of place. Code, heads of directives, targets, exponents and subscripts, and the
        bare 0, 1 and 2 of formulas are left out.

    Examples
    --------
    >>> [found.text for found in numerals("From 5.5 on, $x_3^2 / 2 = 4$ and `7` {cite}`a2017`.")]
    ['5.5', '4']
    """
    prose, formulas = _read(text)
    prose = NAMES.sub(_hide, prose)
    found = [Numeral(match.group(), *match.span()) for match in _NUMERAL.finditer(prose)]
    return tuple(sorted([*found, *_formula_numerals(formulas)], key=lambda numeral: numeral.start))


@cache
def _pattern(fragment: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, fragment.split()))
    # The fragment "is 0.2" does not occur in "is 0.25", nor "5 keys" in "15 keys".
    return re.compile(rf"(?<![\w.−-]){words}(?!\w|[.,]\d|\\?%)")


@cache
def _without_links(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a text with each link to the glossary read as its words.

    With it come the places at which letters were left out: how many letters of the new text stand
    before, and how many letters of the old one are missing from there on.
    """
    pieces: list[str] = []
    gaps = [(0, 0)]
    position = length = 0
    for link in TERM.finditer(text):
        for start, end in ((position, link.start()), link.span("title")):
            gaps.append((length, start - length))
            pieces.append(text[start:end])
            length += end - start
        position = link.end()
    gaps.append((length, position - length))
    return "".join([*pieces, text[position:]]), tuple(gaps)


def _place(position: int, gaps: tuple[tuple[int, int], ...]) -> int:
    """Return where a letter of a text without links stands in the text itself."""
    return position + gaps[bisect_right(gaps, position, key=lambda gap: gap[0]) - 1][1]


@cache
def occurrences(fragment: str, text: str) -> tuple[tuple[int, int], ...]:
    """Find where a printed fragment stands in a text.

    Its lines may be broken anywhere, and its words may be links to the glossary.

    Parameters
    ----------
    fragment : str
        A line that a cell printed.
    text : str
        Source of a Markdown cell.

    Returns
    -------
    tuple of (int, int)
        Start and end of each occurrence in `text`.

    Examples
    --------
    >>> occurrences("of 4 keys", "a row of 4 {term}`keys <key>`")
    ((6, 22),)
    """
    plain, gaps = _without_links(text)
    if fragment.split()[0] not in plain:
        return ()
    return tuple(
        (_place(match.start(), gaps), _place(match.end() - 1, gaps) + 1)
        for match in _pattern(fragment).finditer(plain)
    )


def carries_context(fragment: str) -> bool:
    """Say whether a fragment holds words beside its numerals (or is a whole row of a table).

    Examples
    --------
    >>> carries_context("the top weight is 0.43"), carries_context("0.43"), carries_context("of 3")
    (True, False, False)
    >>> carries_context("at $d_k = 64$"), carries_context("| 4 | 0.3 |")
    (True, True)
    """
    if fragment.startswith("|") and fragment.endswith("|"):
        return fragment.count("|") > 2
    formulas = [match["body"] for match in _DOLLAR.finditer(fragment)]
    words = re.findall(r"[^\W\d_]{2,}", _DOLLAR.sub(" ", fragment))
    symbols = [formula for formula in formulas if re.search(r"[^\W\d_]", formula)]
    return len(words) >= 1 and len(words) + len(symbols) >= 2


def is_tagged(cell: nbformat.NotebookNode, tag: str) -> bool:
    """Say whether a cell carries a tag."""
    return tag in cell.metadata.get("tags", [])


def fragments(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the lines that the cells tagged ``prose`` printed."""
    return [
        line.strip()
        for cell in notebook.cells
        if cell.cell_type == "code" and is_tagged(cell, "prose")
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stdout"
        for line in output.text.splitlines()
        if line.strip()
    ]


def passages(notebook: nbformat.NotebookNode) -> list[Passage]:
    """Return all that a reader reads: Markdown, captions, alternative texts, the description."""
    found = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            found.append(Passage(f"cell {number}", cell.source))
        shown = cell.metadata.get("mystnb", {})
        for group, key in (("figure", "caption"), ("image", "alt")):
            if text := shown.get(group, {}).get(key):
                found.append(Passage(f"cell {number} {key}", text))
    description = notebook.metadata.get("myst", {}).get("html_meta", {}).get("description")
    return [*found, Passage("description", description)] if description else found


def _literal_parts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the typed text of every string, computed parts replaced by a letter."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in node.values)
            for part in node.values:
                if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                    inside.add(id(part.format_spec))
            text = "".join(
                str(part.value)
                if isinstance(part, ast.Constant)
                else (ast.unparse(part.value) if isinstance(part.value, ast.Constant) else "x")
                for part in node.values
            )
            if id(node) not in inside:
                yield node.lineno, text
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield node.lineno, node.value


def typed_numerals(notebook: nbformat.NotebookNode) -> list[Problem]:
    """Find numerals that a ``prose`` cell prints from typed text instead of from a variable."""
    return [
        Problem(f"cell {number}, line {line}", f"prints the typed numeral {numeral.text!r}")
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code" and is_tagged(cell, "prose")
        for line, text in _literal_parts(ast.parse(cell.source))
        for numeral in numerals(text)
    ]


def unbound(passage: Passage, printed: list[str]) -> list[Problem]:
    """Find the numerals of one passage that lie in no printed fragment."""
    wanted = numerals(passage.text)
    spans = [span for line in printed for span in occurrences(line, passage.text)] if wanted else []
    problems = []
    for numeral in wanted:
        if any(start <= numeral.start and numeral.end <= end for start, end in spans):
            continue
        line = passage.text.count("\n", 0, numeral.start) + 1
        around = passage.text[max(0, numeral.start - 30) : numeral.end + 30]
        message = f"no cell prints {numeral.text!r} in «{' '.join(around.split())}»"
        problems.append(Problem(f"{passage.where}, line {line}", message))
    return problems


def check_passages(texts: list[Passage], printed: list[str]) -> list[Problem]:
    """Hold the prose against the printed fragments, both ways.

    Parameters
    ----------
    texts : list of Passage
        The prose of one notebook.
    printed : list of str
        The lines its ``prose`` cells printed.

    Returns
    -------
    list of Problem
        Empty if every fragment occurs and every numeral lies in a fragment.
    """
    problems = [problem for passage in texts for problem in unbound(passage, printed)]
    for line in printed:
        if not any(occurrences(line, passage.text) for passage in texts):
            problems.append(Problem("prose cell", f"the prose does not say «{line}»"))
        if not carries_context(line):
            problems.append(Problem("prose cell", f"a fragment needs words around it: «{line}»"))
    return problems


def check(notebook: nbformat.NotebookNode) -> list[Problem]:
    """Return every breach of the rule in a notebook."""
    silent = [
        Problem(f"cell {number}", "is tagged prose and has printed nothing")
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code" and is_tagged(cell, "prose") and not cell.outputs
    ]
    if silent:  # then all the rest would only repeat that
        return silent
    return [*check_passages(passages(notebook), fragments(notebook)), *typed_numerals(notebook)]


def main_path(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook without its section of exercises, and without cells that ask and answer."""
    kept, working = [], False
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            working = cell.source.splitlines()[0] == "## Exercises"
        if not working and not {"ask", "answer"}.intersection(cell.metadata.get("tags", [])):
            kept.append(cell)
    return nbformat.from_dict({**notebook, "cells": kept})


def reading_time(notebook: nbformat.NotebookNode) -> int:
    """Return the minutes a notebook takes: words, code cells, rounded up to a step of five.

    Exercises are not read but worked on, and take no part in it.
    """
    notebook = main_path(notebook)
    words = sum(len(cell.source.split()) for cell in notebook.cells if cell.cell_type == "markdown")
    code_cells = sum(cell.cell_type == "code" for cell in notebook.cells)
    minutes = words / WORDS_PER_MINUTE + MINUTES_PER_CODE_CELL * code_cells
    return math.ceil(minutes / READING_TIME_STEP) * READING_TIME_STEP


def main(arguments: list[str], report: Callable[[str], object] = print) -> int:
    """Report on the notebooks named on the command line; return the exit status."""
    if not arguments:
        report("usage: python tools/prose.py NOTEBOOK…")
        return 2
    failed = False
    for name in arguments:
        notebook = nbformat.read(Path(name), as_version=4)
        problems = check(notebook)
        failed = failed or bool(problems)
        for problem in problems:
            report(f"{name}: {problem}")
        bound = sum(len(numerals(passage.text)) for passage in passages(notebook))
        minutes = reading_time(notebook)
        report(f"{name}: {bound} numerals, {len(problems)} problems, about {minutes} minutes")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
