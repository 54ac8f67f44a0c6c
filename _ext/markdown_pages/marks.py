"""The marks of Markdown: what plain text needs in front of them, and what is made with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

CLOSED = "closed on the page until you open it"
# What begins or ends something in a line: not the letters below the line of d_k, nor [1].
SPECIAL = re.compile(r"[\\`*$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=[(\[])")


def escaped(text: str) -> str:
    r"""Return text that means itself in Markdown.

    Examples
    --------
    >>> print(escaped("2*3 of d_k costs $5 [1] <b>"))
    2\*3 of d_k costs \$5 [1] \<b>
    """
    return SPECIAL.sub(r"\\\g<0>", text)


def longest(mark: str, text: str) -> int:
    """Return the length of the longest run of a mark in a text."""
    return max(map(len, re.findall(f"{mark}+", text)), default=0)


def code_span(code: str) -> str:
    """Return code in a line.

    Examples
    --------
    >>> code_span("a"), code_span("`a`")
    ('`a`', '`` `a` ``')
    """
    marks = "`" * (longest("`", code) + 1)
    return f"{marks} {code} {marks}" if len(marks) > 1 else f"`{code}`"


def fence(code: str, language: str = "") -> str:
    """Return a block of code."""
    marks = "`" * max(3, longest("`", code) + 1)
    return f"{marks}{language}\n{code.rstrip()}\n{marks}"


def item(mark: str, text: str) -> str:
    r"""Return an item of a list.

    Examples
    --------
    >>> item("- ", "a\n\nb")
    '- a\n\n  b'
    """
    return mark + re.sub(r"\n(?=.)", "\n" + " " * len(mark), text)


def box(title: str, blocks: Iterable[str], *, closed: bool = False) -> str:
    """Return a box as a quotation.

    Examples
    --------
    >>> print(box("Hint", ["Look."], closed=True))
    > **Hint** (closed on the page until you open it)
    >
    > Look.
    """
    head = f"**{title}**{f' ({CLOSED})' if closed else ''}" if title else ""
    text = "\n\n".join(filter(None, [head, *blocks]))
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def table(rows: Sequence[Sequence[str]], *, has_head: bool) -> str:
    r"""Return a table; one without a head has an empty one, since Markdown knows no other.

    Examples
    --------
    >>> print(table([["a", "b"], ["|x|", ""]], has_head=True))
    | a | b |
    | --- | --- |
    | \|x\| |  |
    """
    if not has_head:
        rows = [[""] * len(rows[0]), *rows]

    def line(cells: Iterable[str]) -> str:
        inside = (" ".join(cell.split("\n")).replace("|", r"\|") for cell in cells)
        return f"| {' | '.join(inside)} |"

    head, *body = map(line, rows)
    return "\n".join([head, line(["---"] * len(rows[0])), *body])
