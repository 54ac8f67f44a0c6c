"""At which multiples of the trained logits a model is tried, and how its quality is compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnbook.trained_models.measuring.rows import rounded


def multiples(d_k: int) -> list[float]:
    """Return nine multiples, from none of the logits to those without the division.

    The second stands for a division by d_k.

    Examples
    --------
    >>> multiples(64)[:3], multiples(64)[-2:]
    ([0.0, 0.125, 0.5], [4.0, 8.0])
    """
    root = d_k**0.5
    return [0.0, 1 / root, 0.5, 0.5**0.5, 1.0, 2**0.5, 2.0, (2 * root) ** 0.5, root]


def compared(measured: Mapping[float, np.ndarray], sizes: np.ndarray) -> dict[str, list[float]]:
    """Return a quality at each multiple, its distance from the trained one, and standard errors.

    Parameters
    ----------
    measured : mapping of float to numpy.ndarray, shape (n_units,)
        For each multiple, the sum of what is measured over each unit: a text, a reaction.
    sizes : numpy.ndarray, shape (n_units,)
        What the sums are divided by: the number of tokens of each text, say. Units, not tokens,
        count as independent.

    Examples
    --------
    >>> compared({1.0: np.array([1.0, 2.0]), 2.0: np.array([2.0, 5.0])}, np.ones(2))["difference"]
    [0.0, 2.0]
    """
    trained = measured[1.0]
    means, apart = [], []
    for values in measured.values():
        means.append(ratio_and_error(values, sizes))
        apart.append(ratio_and_error(values - trained, sizes))
    return {
        "mean": rounded(mean for mean, _ in means),
        "error": rounded(error for _, error in means),
        "difference": rounded(mean for mean, _ in apart),
        "paired error": rounded(error for _, error in apart),
    }


def ratio_and_error(sums: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two totals and its standard error, if units are independent.

    Examples
    --------
    >>> mean, error = ratio_and_error(np.array([1.0, 2.0, 3.0]), np.ones(3))
    >>> mean, round(error, 3)
    (2.0, 0.577)
    """
    ratio = sums.sum() / sizes.sum()
    left = sums - ratio * sizes
    count = len(sums)
    return float(ratio), float(np.sqrt(count / (count - 1) * (left**2).sum()) / sizes.sum())
