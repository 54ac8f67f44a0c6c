"""What the chapter on saturation computes beside the mathematics: random rows, their exact law."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import digamma, ndtr
from scipy.stats import chi

from attnbook.estimates import mean_and_error
from attnlib import entropy, expected_maximum, freezing_std, score_sf, softmax
from attnlib.saturation import RowStatistics


def lead_for(weight: float, n_keys: int = 4) -> float:
    """Return how far one key must lead equal others to hold a weight.

    Examples
    --------
    >>> round(lead_for(0.5), 3), round(lead_for(0.99, 1024), 3)
    (1.099, 11.526)
    """
    return float(np.log((n_keys - 1) * weight / (1 - weight)))


def median_gap(d_k: int) -> float:
    """Return the median distance between two raw scores of a row.

    Given the query, the difference of two scores is a score with √2 times the spread.

    Examples
    --------
    >>> round(median_gap(64), 1)
    7.6
    """
    spread = np.sqrt(d_k)
    quartile = brentq(lambda z: score_sf(z, d_k) - 0.25, spread / 4, spread, xtol=0.01)
    return float(np.sqrt(2) * quartile)


def within(width: float, n_keys: int, d_k: int) -> float:
    """Return the probability that all raw scores of a row lie within a width.

    Examples
    --------
    >>> round(within(4, 3, 64), 4)
    0.0686
    """

    def given(length: float) -> float:
        reach = width / length

        def density(lowest: float) -> float:
            others = (ndtr(lowest + reach) - ndtr(lowest)) ** (n_keys - 1)
            return n_keys * np.exp(-(lowest**2) / 2) / np.sqrt(2 * np.pi) * others

        return quad(density, -9, 9)[0]

    return _over_queries(given, d_k)


def reaching(score: float, n_keys: int, d_k: int) -> float:
    """Return the probability that the largest raw score of a row reaches a value.

    Examples
    --------
    >>> round(reaching(25, 4, 64), 4)
    0.0045
    """
    return _over_queries(lambda length: 1 - ndtr(score / length) ** n_keys, d_k)


def _over_queries(probability: Callable[[float], float], d_k: int) -> float:
    """Average what depends on the query's length over random queries."""
    length = chi(d_k)
    nodes = np.linspace(*length.interval(1 - 1e-12), 61)
    values = [probability(node) for node in nodes] * length.pdf(nodes)
    return float(np.trapezoid(values, nodes))


def means_by_width(
    sweep: Mapping[tuple[int, int, float | None], RowStatistics], scale: float | None
) -> np.ndarray:
    """Return means and errors of the largest weight and of the effective positions.

    `sweep` has measured rows for all combinations of number of keys, head width and scale, and the
    result has the shape (2, n_counts, n_widths, 2).
    """
    counts, widths = (list(dict.fromkeys(key[part] for key in sweep)) for part in (0, 1))
    return np.array(
        [
            [
                [mean_and_error(getattr(sweep[count, width, scale], measure)) for width in widths]
                for count in counts
            ]
            for measure in ("max_weight", "effective_positions")
        ]
    )


def excess_over_widest(
    widths: Sequence[int], n_keys: int, rng: np.random.Generator, n_rows: int = 4000
) -> dict[int, tuple[float, float]]:
    """Compare the mean largest weight of divided rows with that of the widest head.

    All widths share their draws. Returned is the relative excess with its error, by width.
    """
    heights, level = rng.standard_normal((n_rows, n_keys)), rng.random((n_rows, 1))
    tops = {
        width: softmax(chi(width).ppf(level) / np.sqrt(width) * heights).max(axis=-1)
        for width in widths
    }
    widest = tops[max(widths)]
    found = {}
    for width, top in tops.items():
        gap, error = mean_and_error(top - widest)
        found[width] = gap / widest.mean(), error / widest.mean()
    return found


def top_weight_on_line(
    n_rows: Mapping[int, int], rng: np.random.Generator
) -> dict[int, tuple[float, float]]:
    """Measure the mean largest weight of rows on the freezing line, with its error.

    `n_rows` says how many rows to draw for each number of keys.
    """
    found = {}
    for n_keys, total in n_rows.items():
        at_once = max(1, 2**20 // n_keys)
        blocks = [min(at_once, total - start) for start in range(0, total, at_once)]
        logits = (freezing_std(n_keys) * rng.standard_normal((size, n_keys)) for size in blocks)
        found[n_keys] = mean_and_error(
            np.concatenate([softmax(block).max(axis=-1) for block in logits])
        )
    return found


def std_for_half(heights: np.ndarray) -> tuple[float, float]:
    """Return the standard deviation of the logits at which the top weight is one half on average.

    The error is that of the mean at this place, over the slope there.
    """

    def excess(std: float) -> float:
        return softmax(std * heights).max(axis=-1).mean() - 0.5

    found = brentq(excess, 2, 8, xtol=0.01)
    step = 0.1
    slope = (excess(found + step) - excess(found - step)) / (2 * step)
    return found, mean_and_error(softmax(found * heights).max(axis=-1))[1] / slope


def matching_weights(
    correlations: Sequence[float], d_k: int, heights: np.ndarray, rng: np.random.Generator
) -> dict[float, tuple[float, float]]:
    """Measure the weight, with its error, of a key that is correlated with the query, if divided.

    The correlations are of each component of the key with that of the query. `heights`, of shape
    (n_rows, n_keys), are the components of the keys along the query; the first key's is its own
    noise. `rng` draws the lengths of the queries.
    """
    lengths = np.sqrt(rng.chisquare(d_k, (len(heights), 1)))
    logits = lengths * heights / np.sqrt(d_k)
    found = {}
    for correlation in correlations:
        noise = np.sqrt(1 - correlation**2) * logits[:, :1]
        matching = correlation * lengths**2 / np.sqrt(d_k) + noise
        weights = softmax(np.concatenate([matching, logits[:, 1:]], axis=1))
        found[correlation] = mean_and_error(weights[:, 0])
    return found


def logit_for(weight: float, rivals: np.ndarray) -> float:
    """Return the logit with which a key holds a weight on average against rows of rivals.

    Examples
    --------
    >>> round(logit_for(0.99, np.zeros((2, 3))), 1)
    5.7
    """
    return brentq(
        lambda lead: softmax(np.insert(rivals, 0, lead, axis=1))[:, 0].mean() - weight,
        5,
        20,
        xtol=0.01,
    )


class Measured(NamedTuple):
    """A formula's value, and a measured mean with its error.

    Examples
    --------
    >>> print(Measured(0.1875, 0.2718, 0.007), Measured(None, 0.1378, 0.0004), sep=" | ")
    0.188 / 0.272 ± 0.007 | – / 0.138
    """

    formula: float | None
    mean: float
    error: float

    def __str__(self) -> str:
        """Write three digits; leave out an error below the last one."""
        formula = "–" if self.formula is None else f"{self.formula:.3f}"
        error = f" ± {self.error:.3f}" if self.error >= 0.001 else ""
        return f"{formula} / {self.mean:.3f}{error}"


class Comparison(NamedTuple):
    """The formulas for one number of keys and one spread, against a measurement."""

    n_keys: int
    std: float
    squares: Measured
    entropy: Measured
    max_weight: Measured


def against_formulas(std: float, heights: np.ndarray) -> Comparison:
    """Compare the formulas below or above the freezing line with measured rows.

    `std` is the standard deviation of the logits; `heights`, of shape (n_rows, n_keys), are
    independent standard normal numbers.
    """
    n_keys = heights.shape[1]
    p = softmax(std * heights)
    ratio = expected_maximum(n_keys) / std
    if std < np.sqrt(np.log(n_keys) / 2):
        formulas = np.exp(std**2) / n_keys, np.log(n_keys) - std**2 / 2, None
    else:
        formulas = 1 - ratio, digamma(1) - digamma(1 - ratio), 1 - np.log(2) * ratio
    measured = ((p * p).sum(axis=-1), entropy(p), p.max(axis=-1))
    cells = (
        Measured(formula, *mean_and_error(sample))
        for formula, sample in zip(formulas, measured, strict=True)
    )
    return Comparison(n_keys, std, *cells)
