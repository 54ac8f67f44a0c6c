"""What the chapter on gradients draws: lengths of gradients, divided and not, and their ratios.

Where a function draws both arms, entry 0 is divided by √d_k and entry 1 is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtrik, expit

from attnbook.estimates import mean_and_error
from attnlib import (
    expected_maximum,
    gradient_statistics,
    jacobian_norm_squared,
    sample_key_gradients,
    sample_layer_key_gradients,
    sample_query_gradients,
    softmax,
    softmax_vjp,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

SEEDS = 5
ARMS = (None, 1.0)
"""What scores are multiplied by; ``None`` means 1/√d_k."""

LEVEL = 0.95
"""Probability of the intervals."""

FLOAT16, BFLOAT16 = np.finfo(np.float16).nmant + 2, 7 + 2
"""A weight of 1 - 2**-12 or more is stored as 1 in float16, of 1 - 2**-9 or more in bfloat16."""

FLOAT16_ZERO = np.finfo(np.float16).nmant - np.finfo(np.float16).minexp + 1
"""A weight of 2**-25 or less is stored as 0 in float16."""

TIED_ENTRIES = 4
"""Entries of the Jacobian that two keys share."""


def _arms(draw: Callable[..., np.ndarray], seed: Sequence[int], *sizes: int) -> np.ndarray:
    """Draw both arms from the same seeds, shape (2, SEEDS, lengths)."""
    generators = np.random.default_rng(seed).spawn(SEEDS)
    drawn = [[draw(*sizes, scale=scale, rng=rng) for rng in generators] for scale in ARMS]
    return np.reshape(drawn, (len(ARMS), SEEDS, -1))


def lengths(d_k: int, n: int, count: int) -> np.ndarray:
    """Draw |∂L/∂q| at the start of training, `count` rows of n keys for each seed.

    Examples
    --------
    >>> lengths(64, 16, 10).shape
    (2, 5, 10)
    """
    return _arms(sample_query_gradients, [42, d_k, n], d_k, n, count)


def on_keys_of_one(d_k: int, n: int, count: int) -> np.ndarray:
    """Draw what the n keys of a row receive from its query, `count` rows for each seed.

    Examples
    --------
    >>> on_keys_of_one(64, 16, 10).shape
    (2, 5, 160)
    """
    return _arms(sample_key_gradients, [47, 1], d_k, n, count)


def key_statistics(d_k: int, n: int, count: int) -> np.ndarray:
    """Describe `on_keys_of_one` in five numbers for each arm, shape (2, 5).

    Of all keys: the quantiles 10%, 50% and 90%. Over the seeds: the mean, with its standard error.
    """
    both = on_keys_of_one(d_k, n, count)
    quantiles = gradient_statistics(both.reshape(len(ARMS), -1), [0.1, 0.5, 0.9]).quantiles
    means = [mean_and_error(arm.mean(axis=-1)) for arm in both]
    return np.column_stack([quantiles.T, means])


def on_keys(d_k: int, n: int, queries: int, count: int) -> np.ndarray:
    """Draw what n keys receive from all queries together, `count` layers for each seed.

    Examples
    --------
    >>> on_keys(64, 16, 8, 10).shape
    (2, 5, 160)
    """
    return _arms(sample_layer_key_gradients, [47, queries], d_k, n, queries, count)


def each_ratio(both: ArrayLike) -> np.ndarray:
    """Return not divided over divided for each seed: root mean square, and median.

    Examples
    --------
    >>> each_ratio([[[1.0, 2.0, 2.0]], [[2.0, 6.0, 4.0]]]).round(2)
    array([[2.49],
           [2.  ]])
    """
    summary = gradient_statistics(both, quantiles=[0.5])
    sizes = np.stack([summary.rms, summary.quantiles[0]])
    return sizes[:, 1] / sizes[:, 0]


def ratios(both: ArrayLike) -> np.ndarray:
    """Return `each_ratio` averaged over the seeds, with its standard error, shape (2, 2)."""
    return np.array([mean_and_error(each) for each in each_ratio(both)])


def median_interval(sample: ArrayLike, level: float = LEVEL) -> np.ndarray:
    """Return the median of a sample and an interval of order statistics, shape (3,).

    The interval holds the median of the law with at least the probability `level`, whatever
    the law is. (It is all of the sample if the sample is too small for that.)

    Examples
    --------
    >>> median_interval(np.arange(101)).tolist()
    [50.0, 40.0, 60.0]
    """
    values = np.sort(sample, axis=None)
    outside = max(math.ceil(bdtrik((1 - level) / 2, values.size, 0.5)), 1)  # a binomial quantile
    return np.array([np.median(values), values[outside - 1], values[-outside]])


def median_ratio(medians: ArrayLike) -> np.ndarray:
    """Return not divided over divided for two medians, with an interval, shape (3,).

    Each arm has its median and the ends of an interval. That of the ratio misses at most as
    often as both of them together.

    Examples
    --------
    >>> median_ratio([[50.0, 40.0, 60.0], [150.0, 120.0, 180.0]]).tolist()
    [3.0, 2.0, 4.5]
    """
    divided, undivided = np.asarray(medians)
    return undivided / divided[[0, 2, 1]]


def start_ratios(d_k: int, n: int, count: int) -> np.ndarray:
    """Return `ratios` at the start of training, of `count` rows for each seed."""
    return ratios(lengths(d_k, n, count))


def start_medians(d_k: int, n: int, count: int) -> np.ndarray:
    """Return the median lengths at the start of training, shape (2, SEEDS)."""
    return np.median(lengths(d_k, n, count), axis=-1)


def start_statistics(d_k: int, n: int, count: int) -> np.ndarray:
    """Describe the lengths at the start of training in nine numbers for each arm, shape (2, 9).

    Of all rows: the quantiles 5%, 50% and 95%, the root mean square, and the median with an
    interval; each arm's misses with half of the probability that is left. (Seeds are pooled:
    medians of few rows are biased where the law is skewed.) Over the seeds: the mean, with its
    standard error.
    """
    both = lengths(d_k, n, count)
    pooled = both.reshape(len(ARMS), -1)
    whole = gradient_statistics(pooled, quantiles=[0.05, 0.5, 0.95])
    return np.column_stack(
        [
            *(*whole.quantiles, whole.rms),
            [median_interval(arm, (1 + LEVEL) / 2) for arm in pooled],
            [mean_and_error(arm.mean(axis=-1)) for arm in both],
        ]
    )


def vector_ratios(d_k: int, n: int, count: int) -> np.ndarray:
    """Return the ratios of `count` rows drawn with real q, k and u, with bootstrap errors."""
    rng = np.random.default_rng(46)
    drawn = np.empty((2, 1, count))
    for row in range(count):
        q, k, u = (rng.standard_normal(shape) for shape in (d_k, (n, d_k), n))
        for arm, scale in enumerate((1 / np.sqrt(d_k), 1.0)):
            received = scale * softmax_vjp(softmax(scale * (k @ q)), u) @ k
            drawn[arm, 0, row] = np.linalg.norm(received)
    again = drawn[:, 0, rng.integers(count, size=(400, count))]  # the bootstrap: rows drawn anew
    return np.stack([each_ratio(drawn)[:, 0], each_ratio(again).std(axis=-1)], axis=-1)


def mean_reaction(
    stds: Iterable[float], n: int, count: int, seed: int | Sequence[int]
) -> np.ndarray:
    """Return the mean squared norm of the Jacobian for each spread of n normal logits."""
    return np.array([squared_norms(std, n, count, seed).mean() for std in stds])


def squared_norms(std: float, n: int, count: int, seed: int | Sequence[int]) -> np.ndarray:
    """Return the squared norms of the Jacobians of `count` rows of n normal logits."""
    standard = np.random.default_rng(seed).standard_normal((count, n))
    return jacobian_norm_squared(softmax(std * standard))


def error_parts(
    layers: Iterable[Sequence[np.ndarray]], scales: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Split the gradient of a squared error on W_q into what target and output send.

    `layers` has for each seed tokens, other tokens, W_q, W_k, W_v and the target; `scales` is what
    the scores are multiplied by in the two arms. Returned are the mean square of the error in each
    arm, and the length in the second arm over that in the first: from the target, and from the
    output; both of shape (2,).
    """
    squares, norms = [], []
    for tokens, _, w_q, w_k, w_v, target in layers:
        k, v = tokens @ w_k, tokens @ w_v
        for scale in scales:
            p = softmax(scale * tokens @ w_q @ k.T)
            squares.append(np.mean((p @ v - target) ** 2))
            for upstream in (-target, p @ v):
                to_scores = softmax_vjp(p, upstream @ v.T)
                norms.append(np.linalg.norm(tokens.T @ (scale * to_scores @ k)))
    split = np.reshape(norms, (-1, 2, 2))
    return np.reshape(squares, (-1, 2)).mean(axis=0), (split[:, 1] / split[:, 0]).mean(axis=0)


class Crossing(NamedTuple):
    """The head width at which the median row's gradient falls below its divided value."""

    n: int
    ends: tuple[int, int]
    above: bool
    """Whether the ratio is above 1 at the first end in every seed."""
    below: bool
    """Whether it is below 1 at the second."""
    width: float
    error: float

    def __str__(self) -> str:
        """Say what was found at both ends and between them."""
        start, stop = self.ends
        return (
            f"n = {self.n:4}: at d_k = {start} the ratio is above 1 in every seed: {self.above}\n"
            f"          at d_k = {stop} the ratio is below 1 in every seed: {self.below}\n"
            f"          interpolated: {self.width:.1f} ± {self.error:.1f}"
        )


def crossing(n: int, ends: tuple[int, int], medians: ArrayLike) -> Crossing:
    """Interpolate the crossing between two widths, seed by seed, straight in √d_k.

    `medians` has the `start_medians` of both.
    """
    at_start, at_stop = (np.log(undivided / divided) for divided, undivided in medians)
    low, high = np.sqrt(ends)
    each = (low + (high - low) * at_start / (at_start - at_stop)) ** 2
    above, below = bool((at_start > 0).all()), bool((at_stop < 0).all())
    return Crossing(n, ends, above, below, *mean_and_error(each))


def among_longest(sizes: ArrayLike, part: float = 0.1) -> np.ndarray:
    """Say which of the sizes are among the longest tenth, or another part.

    Examples
    --------
    >>> among_longest([3.0, 1.0, 2.0, 4.0], part=0.5)
    array([ True, False, False,  True])
    """
    return np.asarray(sizes) >= np.quantile(sizes, 1 - part)


def share_of_longest(lengths: ArrayLike, part: float = 0.1) -> np.ndarray:
    """Return the share of the squared lengths that the longest tenth holds, or another part.

    Examples
    --------
    >>> float(share_of_longest([3.0, 1.0, 2.0, 4.0], part=0.25).round(3))
    0.533
    """
    squares = np.sort(np.square(lengths), axis=-1)
    longest = round(part * squares.shape[-1])
    return squares[..., -longest:].sum(axis=-1) / squares.sum(axis=-1)


def tie_integral() -> float:
    """Return the integral of p²(1-p)² over the gap of two keys, p the logistic function of it.

    Examples
    --------
    >>> round(1 / tie_integral(), 6)
    12.0
    """
    gaps = np.linspace(0, 64, 6401)  # beyond, nothing is left
    return float(np.trapezoid((expit(gaps) * expit(-gaps)) ** 2, gaps))


def norm_limit(n: int, std: float) -> float:
    """Return what the mean squared norm of the Jacobian tends to as n normal logits spread.

    Examples
    --------
    >>> round(norm_limit(1024, 32), 3)
    0.034
    """
    return float(TIED_ENTRIES * tie_integral() * expected_maximum(n) / std)


def query_limit(n: int) -> float:
    """Return what the mean gradient on a query tends to, not divided, as the head gets wider.

    Examples
    --------
    >>> round(query_limit(16), 2)
    1.41
    """
    return float(np.sqrt(2 / np.pi) * expected_maximum(n))


def key_limit(n: int) -> float:
    """Return what the mean over all keys of their gradients tends to, not divided.

    Examples
    --------
    >>> round(key_limit(1024), 4)
    0.0036
    """
    return float(2 * expected_maximum(n) / (np.sqrt(np.pi) * n))


class Stored(NamedTuple):
    """What short formats make of rows of weights, for each row."""

    one: np.ndarray
    """Whether float16 stores the largest weight as 1."""
    brain_one: np.ndarray
    """Whether bfloat16 does."""
    zeros: np.ndarray
    """The part of the weights that float16 stores as 0."""

    @property
    def neither(self) -> np.ndarray:
        """Whether no weight of the row is stored as 1, in either format, or as 0 in float16."""
        return ~self.one & ~self.brain_one & (self.zeros == 0)


def stored(weights: np.ndarray) -> Stored:
    """Return what float16 and bfloat16 make of rows of weights.

    Examples
    --------
    >>> short = stored(np.array([[0.999, 0.001, 1e-9], [0.5, 0.5, 0.0]]))
    >>> short.one.tolist(), short.brain_one.tolist(), short.zeros.round(2).tolist()
    ([False, False], [True, False], [0.33, 0.33])
    """
    short = weights.astype(np.float16)
    brain_one = weights.max(axis=-1) >= 1 - 2.0**-BFLOAT16
    return Stored(short.max(axis=-1) == 1, brain_one, (short == 0).mean(axis=-1))
