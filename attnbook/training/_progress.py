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

    In a notebook or in a log nothing is shown, and nowhere if not `shown` or without tqdm.
    """
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return iterable

    hidden = None if shown else True  # None: unless there is a terminal
    return tqdm(
        iterable, description, total=total, delay=PATIENCE, disable=hidden, leave=False, unit="step"
    )
