"""Marks answers to exercises of the book, for problem sets that `make question` has begun.

The checks of the book judge: here they get what came out of the sandbox in place of the student's
own objects. A function was called there with arguments that were drawn here.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnbook.exercises import Feedback
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Function, Judge, Numeric
from grading.hidden import Wrong


def drawn_calls(exercise: str, rng: np.random.Generator) -> dict[str, list[list[Any]]]:
    """Return the arguments of each call of the functions that an exercise asks for, by part."""
    parts = exercises()[exercise].parts.items()
    return {
        part: [list(arguments) for arguments in judge.draw(rng)]
        for part, judge in parts
        if isinstance(judge, Function)
    }


def mark_parts(
    exercise: str,
    given: Mapping[str, Any],
    asked: Mapping[str, Any],
    right: Mapping[str, Any] | None = None,
) -> None:
    """Judge each part of an answer to an exercise, all of the same worth.

    `given` has a value for each part, and for a function a list of what it returned in the calls
    that `asked` has. `right` are the right numbers of the student, where they are not those of the
    book. Raises `Wrong`, which says what is wrong with each part.
    """
    calls = asked.get("calls", {})
    said = {
        part: _feedback(_own(judge, (right or {}).get(part)), given.get(part), calls.get(part))
        for part, judge in exercises()[exercise].parts.items()
    }
    wrong = [f"{part}: {each.message}" for part, each in said.items() if not each.passed]
    if wrong:
        raise Wrong(" ".join(wrong), earned=1 - len(wrong) / len(said))


def _own(judge: Judge, right: Any) -> Judge:
    """Return the judge of a student's own number; the mistakes of the book have other numbers."""
    if right is None or not isinstance(judge, Numeric):
        return judge
    return type(judge)(judge.wanted, right, digits=judge.digits, within=judge.within)


def _feedback(judge: Judge, value: Any, calls: list[list[Any]] | None) -> Feedback:
    """Return what is said to the answer to one part."""
    rng = np.random.default_rng(0)
    if calls is None:
        return judge.judge(value, rng)
    if not isinstance(value, list) or len(value) != len(calls):
        return judge.judge(None, rng)
    if any(isinstance(each, str) for each in value):
        return Feedback(False, "Your function stops with an error, or returns a text.")
    returned, replayed = iter(value), copy.copy(judge)
    replayed.draw = lambda _rng: [tuple(each) for each in calls]  # type: ignore[attr-defined]
    return replayed.judge(lambda *_: next(returned), rng)
