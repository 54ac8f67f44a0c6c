"""What the check of each exercise is held against: right answers of all sorts, and wrong ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cases:
    """Answers to one exercise.

    Parameters
    ----------
    right : dict of str to list
        For each part, answers that must pass; the first is the plain one.
    wrong : dict of str to list of (answer, str)
        For each part, answers that must not pass, each with words of the message wanted.
    """

    right: Mapping[str, Sequence[Any]]
    wrong: Mapping[str, Sequence[tuple[Any, str]]]

    def answers(self) -> dict[str, Any]:
        """Return the plain right answer to every part."""
        return {name: answers[0] for name, answers in self.right.items()}


def all_cases() -> dict[str, Cases]:
    """Return the cases of every exercise by its name."""
    found: dict[str, Cases] = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        found |= import_module(f"tests.attnbook.exercises.{path.stem}").CASES
    return found
