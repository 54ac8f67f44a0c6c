"""Calls that take longer than a reader waits, with what they returned to ``make tables``.

A chapter asks by :func:`recorded`. Ask for other numbers, and they are computed in front of you.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from attnbook.data import data_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

TABLE = data_file("tables.json")


@cache
def kept() -> dict[str, np.ndarray]:
    """Return what is kept of each call, by the call as it is written."""
    calls = json.loads(TABLE.read_text(encoding="utf-8"))["calls"]
    return {call: np.array(value) for call, value in calls.items()}


def written(function: Callable[..., ArrayLike], arguments: tuple[Any, ...]) -> str:
    """Return a call of a chapter's function as the table names it."""
    room = function.__module__.split(".")[1]
    return f"{room}.{function.__name__}({', '.join(map(repr, arguments))})"


def recorded(function: Callable[..., ArrayLike], *arguments: Any) -> np.ndarray:
    """Return what a call gives: from the committed table, or else computed now.

    Parameters
    ----------
    function : callable
        A function of a chapter's room in ``attnbook`` that returns numbers.
    *arguments
        Its arguments, numbers and texts, all the seeds among them.

    Returns
    -------
    numpy.ndarray
        What ``data/tables.json`` has for this call, to six digits. A call that it does not have
        is made, and a line says so.

    Examples
    --------
    >>> from attnbook.gradients import computed as gradients
    >>> from attnbook.tables import recorded
    >>> divided, undivided = recorded(gradients.start_medians, 16, 4, 16000)
    >>> divided.shape
    (5,)
    """
    call = written(function, arguments)
    if call not in kept():
        sys.stdout.write(f"computed now, as data/tables.json does not have it: {call}\n")
        kept()[call] = np.array(function(*arguments))
    return kept()[call].copy()
