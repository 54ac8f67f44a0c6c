"""The checks of the exercises, and the one function that readers call."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from attnbook.exercises._judges import Function, Judge, Pick, is_open
from attnbook.exercises._running import TooLong, can_stop, time_limit
from attnbook.exercises._verdict import Feedback, Verdict

TOO_LONG = "Your code ran for too long and was stopped: is there an endless loop?"
UNLIMITED = " (Here an endless loop could not have been stopped.)"


class Check:
    """The check of an exercise: each part of the answer with its judge.

    `name` is the label of the exercise in its chapter, without "ex-".
    """

    def __init__(self, name: str, /, **parts: Judge) -> None:
        self.name = name
        self.parts = parts

    def verdict(self, answers: Mapping[str, Any]) -> Verdict:
        """Judge the answers; a part that did not come is open."""
        return Verdict(
            self.name, {part: self.feedback(part, answers.get(part, ...)) for part in self.parts}
        )

    def feedback(self, part: str, answer: Any) -> Feedback:
        """Judge the answer to one part, within the time that it has."""
        judge, rng = self.parts[part], np.random.default_rng(zlib.crc32(self.name.encode()))
        try:
            with time_limit():
                found = judge.judge(answer, rng)
        except TooLong:
            found = Feedback(False, TOO_LONG)
        if isinstance(judge, Function) and not is_open(answer) and not can_stop():
            return replace(found, message=found.message + UNLIMITED)
        return found


def checks_of(module: ModuleType) -> list[Check]:
    """Return the checks that a module defines, in order."""
    return [one for one in vars(module).values() if isinstance(one, Check)]


def exercises() -> Mapping[str, Check]:
    """Return the check of every exercise by its name, from the rooms of all chapters.

    Examples
    --------
    >>> exercises()["spread"].parts["plain"].wanted
    'the standard deviation of q·k'
    """
    rooms = [room.name for room in files("attnbook").iterdir() if (room / "exercises.py").is_file()]
    modules = (import_module(f"attnbook.{room}.exercises") for room in sorted(rooms))
    found: dict[str, Check] = {}
    for one in (one for module in modules for one in checks_of(module)):
        if one.name in found:
            raise ValueError(f"two exercises have the name {one.name!r}")
        found[one.name] = one
    return MappingProxyType(found)


def describe_parts(name: str) -> dict[str, str]:
    """Return what an exercise asks for, by the names of its parts.

    Examples
    --------
    >>> describe_parts("spread")["plain"]
    'the standard deviation of q·k'
    """
    found = exercises().get(name)
    phrases = {}
    for part, judge in found.parts.items() if found else ():
        phrases[part] = judge.wanted
        if isinstance(judge, Pick):
            # sorted, so that the order tells nothing
            quoted = [f'"{option}"' for option in sorted(judge.options, key=str.casefold)]
            phrases[part] += f": one of {', '.join(quoted[:-1])} and {quoted[-1]}"
    return phrases


def check(exercise: str, /, *answer: Any, **parts: Any) -> Verdict:
    """Judge an answer to an exercise of the book.

    Parameters
    ----------
    exercise : str
        Name of the exercise, as the stub has it.
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
      ✗ plain: This is the variance of q·k; take its square root.
      ✗ root: Not answered yet: the standard deviation of q·k/√dₖ.
      ✗ full: Not answered yet: the standard deviation of q·k/dₖ.
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
    return found.verdict(parts)
