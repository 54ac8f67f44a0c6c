"""Answers as students write them, right and wrong, with what each is to earn and to be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Variant:
    """Answers to some questions of a problem set; the others are answered as in its source.

    Parameters
    ----------
    name : str
        What is unusual about it, in a few words; unique within its problem set.
    answers : dict of str to str
        The source of the answer cell of each question that is answered in another way.
    earned : dict of str to float
        The share of the points that a question earns; all of them where none is given.
    says : dict of str to str
        Words of the message that the student gets, for each question that does not earn all.
    """

    name: str
    answers: Mapping[str, str]
    earned: Mapping[str, float] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)

    def share(self, question: str) -> float:
        """Return the share of the points that a question is to earn."""
        return self.earned.get(question, 1.0)


def variants_of(assignment: str) -> tuple[Variant, ...]:
    """Return the answers to one problem set."""
    variants: tuple[Variant, ...] = import_module(f"tests.grading.answers_{assignment}").VARIANTS
    return variants
