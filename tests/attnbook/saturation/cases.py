"""Answers to the exercises of the chapter on saturation."""

import math
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax, xlogy
from scipy.stats import entropy

from attnlib import effective_positions
from tests.attnbook.cases import Answers, Cases


def by_loops(scores):
    if scores.ndim > 1:
        return [by_loops(row) for row in scores]
    terms = [math.exp(score - max(scores)) for score in scores]
    weights = [term / sum(terms) for term in terms]
    return math.prod(weight**-weight for weight in weights if weight > 0)


def by_logarithms(scores):
    logs = scores - logsumexp(scores, axis=-1, keepdims=True)
    return np.exp(-np.where(np.isfinite(logs), np.exp(logs) * logs, 0.0).sum(axis=-1))


def only_square(scores):
    """Right only for one row, or where as many rows as keys come."""
    weights = softmax(scores, axis=-1)
    return np.exp(-xlogy(weights, weights) @ np.ones(len(scores)))


def naive(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def counted(weights_of=lambda scores: softmax(scores, axis=-1), logarithms=np.log):
    """Make a count of softmax and of logarithms of weights."""

    def positions(scores):
        weights = weights_of(scores)
        return np.exp(-np.sum(weights * logarithms(weights), axis=-1))

    return positions


without_maximum = counted(naive)


def without_maximum_but_with_zeros(scores):
    return np.exp(-xlogy(naive(scores), naive(scores)).sum(axis=-1))


def with_nan_where_masked(scores):
    logs = scores - logsumexp(scores, axis=-1, keepdims=True)
    return np.exp(-np.sum(np.exp(logs) * logs, axis=-1))


def nudged(small):
    return counted(logarithms=lambda weights: np.log(weights + small))


def along_queries(scores):
    weights = softmax(scores, axis=0)
    return np.exp(-np.sum(xlogy(weights, weights), axis=0))


def about_the_mean(scores):
    """Subtract the mean in place of the maximum, and hide what overflows."""
    mean = np.nanmean(np.where(np.isfinite(scores), scores, np.nan), axis=-1, keepdims=True)
    exponentials = np.exp(scores - mean)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.nan_to_num(np.exp(-xlogy(weights, weights).sum(axis=-1)), nan=1.0)


def hidden_by(number):
    return lambda scores: np.exp(
        entropy(softmax(np.where(scores == -np.inf, number, scores), -1), axis=-1)
    )


def slope_about_the_mean(scores, multiplier):
    exponentials = np.exp(multiplier * (scores - np.mean(scores)))
    weights = exponentials / exponentials.sum()
    deviations = scores - weights @ scores
    return np.nan_to_num(-multiplier * weights @ deviations**2)


def slope_by_difference(scores, multiplier, step):
    up, down = (entropy(softmax((multiplier * (1 + h)) * scores)) for h in (step, -step))
    return np.float32((up - down) / (2 * step * multiplier))


def slope_as_covariance(scores, multiplier):
    p = softmax(multiplier * scores)
    return -multiplier * np.cov(scores, aweights=p, ddof=0)


def slope_in_one_pass(scores, multiplier):
    p = softmax(multiplier * scores)
    return multiplier * (np.dot(p, scores) ** 2 - np.dot(p, scores**2))


def by_root_finder(scores, positions, count=lambda weights: math.exp(entropy(weights))):
    def excess(log_divisor):
        return math.log(count(softmax(scores / math.exp(log_divisor))) / positions)

    middle = math.log(scores.std())
    return math.exp(brentq(excess, middle - 8, middle + 8, xtol=1e-13))


def by_squares(scores, positions):
    return by_root_finder(scores, positions, lambda weights: 1 / np.sum(weights**2))


def by_a_grid(scores, positions):
    grid = np.geomspace(1e-9, 1e9, 20001)
    counts = np.exp(entropy(softmax(scores / grid[:, None], axis=1), axis=1))
    return grid[np.abs(counts - positions).argmin()]


TIED = np.array([9.2, -3.1, 8.8, -5.4, 1.2])

RUNNER_UP_CASES = Cases(
    "runner-up",
    least=Answers(
        [softmax([2] + 31 * [0])[0], math.exp(2) / (math.exp(2) + 31), 0.192, np.float32(0.19248)],
        (softmax([2, 0])[0], "can have much more"),
        (math.exp(2) / 31, "odds of the top key"),
        (1 / 32, "an even share"),
        (softmax([2] + 32 * [0])[0], "among its rivals"),
        (softmax([2] + 30 * [0])[0], "left out a rival"),
        (0, "too small"),
    ),
    most=Answers(
        [softmax([2, 0] + 30 * [-800])[0], 0.881, np.float32(0.8808)],
        (softmax([2] + 31 * [0])[0], "far lower"),
        (1, "keeps its part"),
        (math.e**2, "odds of the top key"),
    ),
    needed=Answers(
        [math.log(31), 3.43, [np.float32(3.434)]],
        (0, "far from half"),
        (math.log(16), "not half of them"),
        (math.log(32), "among its rivals"),
        (math.log(30), "left out a rival"),
        (math.log2(31), "base two"),
        (math.log10(31), "base ten"),
        (-3.43, "sign"),
    ),
)

POSITIONS_CASES = Cases(
    "positions",
    effective=Answers(
        [
            math.exp(math.log(2) / 2 + math.log(2046) / 2),
            np.float32(63.97),
            64,
            float(np.exp(entropy([1023] + 1023 * [1]))),
        ],
        (float(entropy([1023] + 1023 * [1])), "in nats; we want its exponential"),
        (float(entropy([1023] + 1023 * [1], base=2)), "entropy in bits"),
        (math.exp(entropy([1023] + 1023 * [1], base=2)), "raised e to the entropy in bits"),
        (4, "one over the sum of squares"),
        (2, "spread over many keys"),
        (512, "not even"),
        (1024, "more than ten times too large"),
    ),
    squared=Answers(
        [1 / (1 / 4 + 1 / (4 * 1023)), 4, 3.996, np.float32(3.996)],
        (0.25 + 0.25 / 1023, "we want one over it"),
        (2.0, "a quarter, not a half"),
        (63.97, "This is exp H"),
        (3.9, "too small"),
    ),
    positions=Answers(
        [
            lambda scores: np.exp(entropy(softmax(scores, axis=-1), axis=-1)),
            lambda scores: effective_positions(softmax(scores, axis=-1)),
            by_loops,
            by_logarithms,
            lambda scores: by_logarithms(scores).astype(np.float32),
            nudged(1e-300),
            hidden_by(np.finfo(float).min),
        ],
        (lambda scores: entropy(softmax(scores, -1), axis=-1), "This is the entropy"),
        (lambda scores: np.exp(entropy(softmax(scores, -1), base=2, axis=-1)), "entropy in bits"),
        (lambda scores: 1 / np.sum(softmax(scores, -1) ** 2, axis=-1), "sum of squared"),
        (lambda scores: 1 / np.max(softmax(scores, -1), axis=-1), "the largest weight"),
        (lambda scores: np.exp(-entropy(softmax(scores, -1), axis=-1)), "sign of H is wrong"),
        (along_queries, "along the first axis"),
        (
            lambda scores: math.exp(
                -sum(w * math.log(w) for w in softmax(scores, -1).ravel() if w)
            ),
            "added up the entropies of all rows",
        ),
        (counted(), "0·ln 0"),
        (with_nan_where_masked, "0·ln 0"),
        (without_maximum, "subtract the largest score"),
        (without_maximum_but_with_zeros, "subtract the largest score"),
        *((nudged(small), "small number inside") for small in (1e-12, 1e-10, 1e-9, 1e-8)),
        (lambda _: 1.0, "calls are wrong"),
        (lambda scores: np.full(scores.shape[:-1], 1.0), "off"),
        (lambda scores: np.full(scores.shape[:-1], float(scores.shape[-1])), "off"),
        (lambda scores: np.full(scores.shape[:-1], np.nan), "NaN"),
        (lambda scores: by_logarithms(scores)[..., None], "is wanted"),
        (lambda scores: without_maximum(scores - scores.max()), "NaN"),
        (only_square, "ValueError"),
        (lambda scores: by_logarithms(np.clip(scores, -50, 50)), "off"),
        (lambda scores: by_logarithms(scores) + 1e-9, "off"),
        (lambda scores: nudged(1e-9)(scores).astype(np.float32), "small number inside"),
        (lambda scores: by_logarithms(scores.astype(np.float32)), "off"),
        (about_the_mean, "off"),
        *((hidden_by(number), "off") for number in (-1000, -1e4)),
        (lambda scores: hidden_by(scores[np.isfinite(scores)].min())(scores), "off"),
    ),
)

SOFTEN_CASES = Cases(
    "soften",
    slope=Answers(
        [
            slope_as_covariance,
            slope_in_one_pass,
            lambda scores, multiplier: [slope_in_one_pass(scores, multiplier)][0],
            lambda scores, multiplier: slope_as_covariance(scores - scores.max(), multiplier),
            lambda scores, multiplier: np.float32(slope_as_covariance(scores, multiplier)),
        ],
        (lambda z, c: -slope_as_covariance(z, c), "sign is wrong"),
        (lambda z, c: slope_in_one_pass(z, c) / c, "factor c is missing"),
        (lambda z, c: -c * z.var(), "even weights"),
        (lambda z, c: -c * np.average(z**2, weights=softmax(c * z)), "square of the mean"),
        (lambda z, c: -slope_in_one_pass(z, c) * c**2, "by the divisor"),
        (lambda z, c: c * slope_in_one_pass(z, c), "by ln c"),
        (
            lambda z, c: slope_as_covariance(z, c) * np.exp(entropy(softmax(c * z))),
            "derivative of exp H",
        ),
        (
            lambda z, c: -c * np.sqrt(np.cov(z, aweights=softmax(c * z), ddof=0)),
            "standard deviation",
        ),
        (lambda *_: 0.0, "off"),
        (lambda z, c: slope_as_covariance(z, 1 / c), "off"),
        (lambda z, c: -c * np.cov(z, aweights=softmax(z), ddof=0), "off"),
        (
            lambda z, c: (
                (
                    (np.exp(c * z) @ z / np.exp(c * z).sum()) ** 2
                    - np.exp(c * z) @ z**2 / np.exp(c * z).sum()
                )
                * c
            ),
            "subtract the largest score",
        ),
        (slope_about_the_mean, "off"),
        *((partial(slope_by_difference, step=step), "off") for step in (1e-6, 1e-4, 1e-3)),
    ),
    floor=Answers(
        [2, 2.0, np.exp(np.log(2))],
        (1, "led alone"),
        (5, "a large divisor"),
        (math.log(2), "limit of H"),
        (0, "too small"),
    ),
    five=Answers(
        [by_root_finder(TIED, 3), 4.52, [np.float32(4.517)]],
        (1 / by_root_finder(TIED, 3), "This is the multiplier"),
        (by_squares(TIED, 3), "one over the sum of squares is three"),
        (8, "too large"),
    ),
    divisor=Answers(
        [
            by_root_finder,
            lambda scores, positions: by_root_finder(scores - scores.max(), positions),
            lambda scores, positions: float(f"{by_root_finder(scores, positions):.6g}"),
            lambda scores, positions: np.float32(by_root_finder(scores, positions)),
        ],
        (lambda z, count: 1 / by_root_finder(z, count), "This is the multiplier"),
        (by_squares, "You matched one over the sum"),
        (lambda z, count: by_root_finder(z, count) ** 2, "square of the divisor"),
        (by_a_grid, "off"),
        (lambda z, _: math.sqrt(len(z)), "off"),
        (lambda z, _: z.std(), "off"),
        (
            lambda z, count: brentq(lambda t: np.exp(entropy(softmax(z / t))) - count, 1e-3, 1e3),
            "different signs",
        ),
    ),
)
