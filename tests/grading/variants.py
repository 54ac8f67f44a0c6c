"""Answers as students write them, right and wrong, with what each is to earn and to be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Variant:
    name: str  # what is unusual about it; unique among the answers to the question
    source: str  # the answer cell
    earned: float = 1.0  # the share of the points that it is to earn
    says: str = ""  # words of the message that the student gets who does not earn all of them


def exchanged(source: str, *changes: tuple[str, str]) -> str:
    """Return an answer with pieces exchanged; for an empty piece, a line is added at the end."""
    for old, new in changes:
        if old not in source:
            raise ValueError(f"{old!r} does not occur in the answer")
        source = source.replace(old, new) if old else f"{source}{new}\n"
    return source


def changed(text: str, answer: Callable[..., str]) -> tuple[Variant, ...]:
    r"""Return answers that differ from a right one by what a text says.

    A line `name | earned | says`, of a right answer just `name`, begins an answer. Below it are
    indented lines `old => new`. A line `+ more` goes on with the new piece above, and a line
    without an arrow is added at the end of the answer. `\n` is the end of a line.

    Examples
    --------
    >>> answer = lambda *changes: exchanged("x = 2\ny = 3\n", *changes)
    >>> (right,) = changed("a tuple\n    x = 2\\n =>\n    y = => x, y = 2,", answer)
    >>> right.source, right.earned
    ('x, y = 2, 3\n', 1.0)
    >>> (wrong,) = changed("swapped | 0.5 | not y\n    x, y = y, x", answer)
    >>> wrong.source, wrong.earned, wrong.says
    ('x = 2\ny = 3\nx, y = y, x\n', 0.5, 'not y')
    """
    found = []
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        head, *lines = block.split("\n")
        name, earned, says = head.split(" | ") if " | " in head else (head, "1", "")
        changes: list[tuple[str, str]] = []
        for line in lines:
            piece = line.removeprefix("    ").replace("\\n", "\n")
            if piece.startswith("+ "):
                old, new = changes.pop()
                changes.append((old, f"{new}\n{piece[2:]}"))
            else:
                old, arrow, new = piece.partition(" =>")
                changes.append((old, new.removeprefix(" ")) if arrow else ("", piece))
        found.append(Variant(name, answer(*changes), float(earned), says))
    return tuple(found)


def variants_of(assignment: str) -> dict[str, tuple[Variant, ...]]:
    variants: dict[str, tuple[Variant, ...]]
    variants = import_module(f"tests.grading.answers_{assignment}").VARIANTS
    return variants
