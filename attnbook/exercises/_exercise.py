"""An exercise and its check."""

from __future__ import annotations

import difflib
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

import numpy as np

from attnbook.exercises._judges import Function, Judge, is_open, judged
from attnbook.exercises._running import TooLong, can_interrupt, time_limit
from attnbook.exercises._verdict import Said, Verdict

TOO_LONG = "Your code ran for too long and was stopped: is there an endless loop?"
UNLIMITED = " (Here an endless loop could not have been stopped.)"


@dataclass(frozen=True)
class Exercise:
    """An exercise as its check knows it.

    Parameters
    ----------
    name : str
        The label in the chapter without its "ex-".
    parts : mapping of str to Judge
        Each part of the answer with its judge.
    """

    name: str
    parts: Mapping[str, Judge]

    def check(self, answers: Mapping[str, Any]) -> Verdict:
        """Judge the answers; a part that did not come is open."""
        seed = zlib.crc32(self.name.encode())
        said = {}
        for name, judge in self.parts.items():
            answer = answers.get(name, ...)
            try:
                # strict settings of the reader's own are for the reader's own cells
                with time_limit(), np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    said[name] = judged(judge, answer, np.random.default_rng(seed))
            except TooLong:
                said[name] = Said(False, TOO_LONG)
            if isinstance(judge, Function) and not is_open(answer) and not can_interrupt():
                one = said[name]
                said[name] = Said(one.passed, one.message + UNLIMITED, one.trace)
        return Verdict(self.name, said)


def exercises() -> Mapping[str, Exercise]:
    """Return all exercises by name: those of every module ``chapter_…`` beside this one.

    Returns
    -------
    mapping of str to Exercise
        Each exercise knows its parts, and each part what is wanted.

    Examples
    --------
    >>> exercises()["spread"].parts["plain"].wanted
    'the standard deviation of q·k'
    """
    here = import_module(__package__ or "attnbook.exercises")
    names = [found.name for found in iter_modules(here.__path__)]
    chapters = [name for name in names if name.startswith("chapter_")]
    modules = (import_module(f"{here.__name__}.{name}") for name in chapters)
    found: dict[str, Exercise] = {}
    for exercise in (exercise for module in modules for exercise in module.EXERCISES):
        if exercise.name in found:
            raise ValueError(f"two exercises have the name {exercise.name!r}")
        found[exercise.name] = exercise
    return MappingProxyType(found)


def check(exercise: str, /, *answer: Any, **parts: Any) -> Verdict:
    """Judge an answer to an exercise of the book.

    Parameters
    ----------
    exercise : str
        Name of the exercise, as it stands in the stub.
    *answer : Any
        The answer, where the exercise has a single part.
    **parts : Any
        The answers by name, where it has several. What is left out counts as not answered.

    Returns
    -------
    Verdict
        True if everything is right. It prints what is right and what is wrong, and why. A wrong
        answer never raises, and neither does code that does; a verdict shows its traceback.

    Raises
    ------
    ValueError
        If no exercise has this name.
    TypeError
        If the parts are not those of the exercise.

    Notes
    -----
    Used in the chapter on the puzzle, and in all that have exercises. Inputs for the reader's
    functions are drawn with a seed of the exercise's own, so that the same answer always gets the
    same verdict.

    Examples
    --------
    >>> from attnbook.exercises import check
    >>> check("spread", plain=512)
    ✗ spread
      ✗ plain: This is the variance of q·k; its square root is asked.
      ✗ root: Not answered yet: put the standard deviation of q·k/√dₖ here.
      ✗ full: Not answered yet: put the standard deviation of q·k/dₖ here.
    """
    known = exercises()
    if not isinstance(exercise, str) or exercise not in known:
        close = difflib.get_close_matches(str(exercise), known, n=3)
        meant = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
        raise ValueError(f"exercise must be the name of an exercise; got {exercise!r}{meant}")
    found = known[exercise]
    names = list(found.parts)
    if answer:
        if len(answer) > 1 or parts or len(names) > 1:
            raise TypeError(f"answers must come by name: {', '.join(f'{n}=...' for n in names)}")
        parts = {names[0]: answer[0]}
    if unknown := sorted(parts.keys() - set(names)):
        raise TypeError(
            f"{exercise!r} has no part {', '.join(unknown)}; its parts are {', '.join(names)}"
        )
    return found.check(parts)
