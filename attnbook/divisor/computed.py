"""What the chapter on the divisor draws: rows under several divisors, and one aligned key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attnbook.estimates import mean_and_error, plus_minus
from attnlib import sample_row_statistics, softmax

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import ArrayLike


def measured(sample: ArrayLike) -> str:
    """Return the mean of a sample and its standard error, to the error's first digit.

    Examples
    --------
    >>> measured([1.0, 2.0, 3.0, 4.0])
    '2.5 ± 0.6'
    """
    return plus_minus(mean_and_error(sample))


def top_weight(d_k: int, divisor: float) -> float:
    """Return the mean largest weight of random rows of 1024 keys.

    Examples
    --------
    >>> bool(top_weight(512, 8) > 10 * top_weight(64, 8))
    True
    """
    rng = np.random.default_rng([509, d_k])
    return sample_row_statistics(d_k, 1024, 1000, scale=1 / divisor, rng=rng).max_weight.mean()


def mean_positions(
    arms: Mapping[str, Callable[[int], float]], widths: Sequence[int], n_keys: int
) -> dict[str, np.ndarray]:
    """Return mean effective positions of random rows, with errors, for each arm and width.

    `arms` has for each name a function that returns the divisor of a head width, and the result an
    array of shape (len(widths), 2).
    """
    found = {}
    for arm, (name, divisor) in enumerate(arms.items()):
        drawn = [
            sample_row_statistics(
                d_k,
                n_keys,
                500,
                scale=1 / divisor(d_k),
                rng=np.random.default_rng([502, arm, d_k]),
            ).effective_positions
            for d_k in widths
        ]
        found[name] = np.array([mean_and_error(positions) for positions in drawn])
    return found


def standardized(values: ArrayLike) -> np.ndarray:
    """Subtract the mean of a row and divide by its standard deviation.

    Examples
    --------
    >>> standardized([0.0, 3.0])
    array([-1.,  1.])
    """
    return (np.asarray(values) - np.mean(values)) / np.std(values)


def leader_weight(n: int, leads: Sequence[float] = (0.01, 1, 100)) -> float:
    """Return the one weight that a key gets whose standardized row it leads by any of these.

    A ValueError if the weight depends on the lead.

    Examples
    --------
    >>> round(leader_weight(4), 3)
    0.77
    """
    first = np.arange(n) == 0
    weights = [softmax(standardized(lead * first))[0] for lead in leads]
    if np.ptp(weights) > 1e-9:
        raise ValueError(f"the weight depends on the lead: {weights}")
    return float(weights[0])


def bfloat16_step(value: float) -> float:
    """Return how far apart the numbers of bfloat16 lie at a value.

    Examples
    --------
    >>> bfloat16_step(1.0), bfloat16_step(100.0)
    (0.0078125, 0.5)
    """
    return float(2.0 ** (np.floor(np.log2(value)) - 7))


def aligned_logits(widths: Sequence[int], rho: float) -> list[float]:
    """Return the mean logit of many aligned keys at each head width, divided by its root.

    Examples
    --------
    >>> [round(logit, 1) for logit in aligned_logits((64, 1024), rho=0.3)]
    [2.4, 9.6]
    """
    rng = np.random.default_rng(510)
    logits = []
    for d_k in widths:
        squared = rng.chisquare(d_k, 20_000)
        noise = np.sqrt((1 - rho**2) * squared) * rng.standard_normal(squared.size)
        logits.append(float((rho * squared + noise).mean() / np.sqrt(d_k)))
    return logits


class Aligned(NamedTuple):
    """One aligned key among random ones; axes: rule, head width, and a pair of numbers."""

    matched: np.ndarray
    """Mean and standard deviation of the aligned key's logit."""
    others: np.ndarray
    """Those of a random key's."""
    shares: np.ndarray
    """Mean weight of the aligned key, and its standard error."""
    medians: np.ndarray
    """Its weight in the median row, without the third axis."""


def aligned(
    widths: Sequence[int], rho: float, n_keys: int, rules: Collection[Callable[[int], float]]
) -> Aligned:
    """Draw 2000 rows with one key of correlation rho to the query for each head width.

    `rules` are functions that return the divisor of a head width.
    """
    rng, pairs = np.random.default_rng(506), 2000
    matched, others, shares = np.empty((3, len(rules), len(widths), 2))
    medians = np.empty((len(rules), len(widths)))
    for column, d_k in enumerate(widths):
        # Given q, q·e is normal with standard deviation |q|: the exact shortcut of sample_scores.
        squared = rng.chisquare(d_k, pairs)
        along = rho * squared + np.sqrt((1 - rho**2) * squared) * rng.standard_normal(pairs)
        rivals = np.sqrt(squared)[:, None] * rng.standard_normal((pairs, n_keys - 1))
        for line, divisor in enumerate(rules):
            chosen, rest = along / divisor(d_k), rivals / divisor(d_k)
            matched[line, column] = chosen.mean(), chosen.std()
            others[line, column] = rest.mean(), rest.std()
            share = softmax(np.column_stack([chosen, rest]))[:, 0]
            shares[line, column] = mean_and_error(share)
            medians[line, column] = np.median(share)
    return Aligned(matched, others, shares, medians)
