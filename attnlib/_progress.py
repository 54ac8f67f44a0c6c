"""A progress bar for what takes longer than a glance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PATIENCE = 2.0
"""Seconds before a progress bar shows up."""


def progress_bar(
    iterable: Iterable[Any], description: str, *, total: int | None = None, shown: bool = True
) -> Iterable[Any]:
    """Return the iterable with a bar that a terminal shows once two seconds have passed.

    Parameters
    ----------
    iterable : iterable
        What takes time.
    description : str
        What stands before the bar.
    total : int, optional
        Number of items if the iterable does not tell.
    shown : bool
        Whether there may be a bar at all.

    Returns
    -------
    iterable
        The same items. Without a terminal, in a notebook or in a log, nothing is shown.

    Raises
    ------
    TypeError
        If `iterable` is none.

    Examples
    --------
    >>> list(progress_bar(range(3), "counting"))
    [0, 1, 2]
    """
    from tqdm import tqdm

    hidden = None if shown else True  # None: unless there is a terminal
    return tqdm(
        iterable, description, total=total, delay=PATIENCE, disable=hidden, leave=False, unit="step"
    )
