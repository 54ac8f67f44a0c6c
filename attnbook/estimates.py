"""Means with their errors, and numbers as the text writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike


def mean_and_error(sample: ArrayLike) -> tuple[float, float]:
    """Return the mean of a sample of two or more independent numbers, and its standard error.

    Examples
    --------
    >>> mean, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    >>> f"{mean:.2f} ± {error:.2f}"
    '2.50 ± 0.65'
    """
    values = np.asarray(sample)
    return values.mean(), values.std(ddof=1) / np.sqrt(values.size)


def plus_minus(estimate: Iterable[float], digits: int | None = None) -> str:
    """Return an estimate and its error with so many digits, or to the error's first digit.

    Examples
    --------
    >>> plus_minus((0.7534, 0.0121), 3), plus_minus((0.7534, 0.0121))
    ('0.753 ± 0.012', '0.75 ± 0.01')
    """
    mean, error = estimate
    if digits is None:
        digits = max(0, -int(np.floor(np.log10(error))))
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def row(values: ArrayLike, digits: int | None = 3) -> str:
    """Return a row of numbers in brackets, each with so many digits or as short as it gets.

    Examples
    --------
    >>> row([0.25, -1], digits=2), row([0.25, -1], digits=None)
    ('[0.25, −1.00]', '[0.25, −1]')
    """
    form = "g" if digits is None else f".{digits}f"
    written = (f"{value:{form}}" for value in np.asarray(values))
    return f"[{', '.join(written)}]".replace("-", "−")
