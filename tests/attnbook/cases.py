"""What the check of each exercise is held against: right answers of all sorts, and wrong ones."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


class Answers:
    """Answers to one part of an exercise.

    Parameters
    ----------
    right : list
        Answers that must pass; the first is the plain one.
    *wrong : (answer, str)
        Answers that must not pass, each with words of the message wanted.
    """

    def __init__(self, right: list[Any], *wrong: tuple[Any, str]) -> None:
        self.right = right
        self.wrong = wrong


class Cases:
    """The answers to an exercise, by the name of the part."""

    def __init__(self, name: str, /, **parts: Answers) -> None:
        self.name = name
        self.parts = parts

    def answers(self) -> dict[str, Any]:
        """Return the plain right answer to every part."""
        return {name: part.right[0] for name, part in self.parts.items()}


def all_cases() -> dict[str, Cases]:
    paths = sorted(Path(__file__).parent.glob("*/cases.py"))
    modules = (import_module(f"tests.attnbook.{path.parent.name}.cases") for path in paths)
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Cases)]
    cases = {one.name: one for one in found}
    assert len(cases) == len(found), "two have the same name"
    return cases
