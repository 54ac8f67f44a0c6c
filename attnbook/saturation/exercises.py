"""The exercises of the chapter on saturation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, rounding
from attnlib.softmax import log_softmax

KEYS, GAP = 32, 2
LEAST = 1 / (1 + (KEYS - 1) * math.exp(-GAP))
MOST = 1 / (1 + math.exp(-GAP))
NEEDED = math.log(KEYS - 1)

RUNNER_UP = Check(
    "runner-up",
    least=Number(
        "the smallest weight that the top key can have",
        LEAST,
        mistakes={
            MOST: "Here all other keys but one have no weight; they can have much more.",
            math.exp(GAP) / (KEYS - 1): "These are the odds of the top key against all others; "
            "we want its weight.",
            1 / KEYS: "This is an even share; a key in the lead has more.",
            1 / (1 + KEYS * math.exp(-GAP)): "You counted the top key among its rivals; "
            "all keys but one are rivals.",
            1 / (1 + (KEYS - 2) * math.exp(-GAP)): "You left out a rival: "
            "the second key takes its part as well.",
        },
    ),
    most=Number(
        "the weight that the top key approaches but never reaches",
        MOST,
        mistakes={
            LEAST: "Here all others are as high as the second; they can be far lower.",
            1: "The second key keeps its part of what the top key has.",
            math.exp(GAP): "These are the odds of the top key; we want its weight.",
        },
        praise="One gap leaves a great deal open.",
    ),
    needed=Number(
        "the gap that makes sure of half the weight",
        NEEDED,
        mistakes={
            0: "A tie of the first two is far from half: all others may be as high as they.",
            math.log(KEYS / 2): "Half the weight means as much as all others together, "
            "not half of them.",
            math.log(KEYS): "You counted the top key among its rivals; "
            "all keys but one are rivals.",
            math.log(KEYS - 2): "You left out a rival: the second key takes its part as well.",
            math.log2(KEYS - 1): "You took the logarithm to base two; softmax has powers of e.",
            math.log10(KEYS - 1): "You took the logarithm to base ten; softmax has powers of e.",
        },
    ),
)


def _weights(scores: np.ndarray) -> np.ndarray:
    """Return softmax along the last axis, NaN where all keys are hidden."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _entropy(weights: np.ndarray, axis: int | None = -1) -> Any:
    """Return the entropy in nats; a weight of zero adds nothing."""
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logarithms).sum(axis=axis)


ZERO = "A weight of exactly zero made 0·ln 0, which is NaN: such a key adds nothing to H."
OVERFLOW = (
    "The exponential of a large score is infinite: subtract the largest score of each row first."
)
SMALL = (
    "You added a small number inside the logarithm, which shifts every count a little: leave out "
    "the weights that are zero instead."
)


def _positions(scores: np.ndarray) -> Any:
    return np.exp(_entropy(_weights(scores)))


def _plain_softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _naive(weights: np.ndarray) -> Any:
    return np.exp(-(weights * np.log(weights)).sum(axis=-1))


def _nudged(small: float) -> Callable[[np.ndarray], Any]:
    """Return the count with a small number added inside the logarithm."""

    def positions(scores: np.ndarray) -> Any:
        weights = _weights(scores)
        return np.exp(-(weights * np.log(weights + small)).sum(axis=-1))

    return positions


def _draw_scores(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return rows of many shapes and spreads, some far from zero, some with hidden keys.

    In the last but one, two leaders nearly tie far above a crowd that pulls the mean down. In the
    last, keys are hidden in rows whose other scores are as low, or as high, as scores may be.
    """
    masked = rng.standard_normal((3, 6))
    masked[:, 4:] = masked[0, 0] = -np.inf
    shapes = [(7,), (4, 4), (3, 5), (5, 3), (2, 3, 4), (3, 2, 2)]
    calls = [rng.standard_normal(shape) for shape in shapes]
    calls += [
        30.0 * rng.standard_normal((3, 9)),
        1e4 * rng.standard_normal((4, 6)),
        1e4 + rng.standard_normal((2, 5)),
        np.array([[2e3], [0.0], [-2e3]]) + rng.standard_normal((3, 4)),
        -1e4 + rng.standard_normal(8),
        np.zeros((2, 12)),
        rng.standard_normal(1),
        rng.standard_normal((3, 1)),
        masked,
        rng.standard_normal((2, 1000)),
        np.array([*np.zeros(20), 2000.0, 1999.0]),
        np.array([[-1e4, -1e4, -np.inf], [9999.0, 1e4, -np.inf], [-5e3, -5e3, -np.inf]]),
    ]
    return [(scores,) for scores in calls]


def _positions_room(right: Any, arguments: tuple[Any, ...], eps: float) -> Any:
    """Bound the rounding errors of exp H.

    To first order a weight is off, relatively, by at most (n + 4) u from exponential, sum and
    quotient, and by 2 max |s| u from the rounded difference to the largest score. That moves
    H = -Σ p ln p by at most the sum of p (1 + |ln p|) times it, which is at most 1 + ln n times.
    With ln p = s - ln Σ exp s each logarithm is off by another (n + 2 max |s|) u. Together this
    is below (n + 8 + 2 max |s|) (1 + ln n) eps, as eps = 2 u, and the relative error of exp H is
    the error of H.
    """
    (scores,) = arguments
    n = scores.shape[-1]
    size = np.abs(scores[np.isfinite(scores)]).max()
    return right * np.expm1(min((n + 8 + 2 * size) * (1 + math.log(n)) * eps, 1.0))


HOLDERS = 1023
SHARED = np.array([0.5, *np.full(HOLDERS, 0.5 / HOLDERS)])
NATS = float(_entropy(SHARED))

POSITIONS = Check(
    "positions",
    effective=Number(
        "the effective positions exp H of the row",
        2 * math.sqrt(HOLDERS),
        mistakes={
            NATS: "This is the entropy H in nats; we want its exponential.",
            NATS / math.log(2): "This is the entropy in bits; we want exp H with H in nats.",
            math.exp(NATS / math.log(2)): "You raised e to the entropy in bits; "
            "either use nats, or raise two to it.",
            float(1 / (SHARED**2).sum()): "This is one over the sum of squares; "
            "here we want exp H.",
            2: "The top key has half, but the other half is spread over many keys: use H.",
            (HOLDERS + 1) / 2: "The weights are not even: use H, not the number of keys.",
        },
    ),
    squared=Number(
        "one over the sum of squared weights",
        float(1 / (SHARED**2).sum()),
        mistakes={
            float((SHARED**2).sum()): "This is the sum of squares; we want one over it.",
            2: "The top key's square is a quarter, not a half.",
            2 * math.sqrt(HOLDERS): "This is exp H; here we want one over the sum of squares.",
        },
        praise="The same row, and another count: squares hardly see small weights.",
    ),
    positions=Function(
        "positions(scores), which returns exp H of each row of scores",
        _positions,
        _draw_scores,
        _positions_room,
        mistakes={
            (lambda scores: _entropy(_weights(scores))): "This is the entropy H; "
            "we want its exponential.",
            (lambda scores: np.exp(_entropy(_weights(scores)) / math.log(2))): "You raised e to "
            "the entropy in bits; either use nats, or raise two to it.",
            (lambda scores: 1 / (_weights(scores) ** 2).sum(axis=-1)): "This is one over the sum "
            "of squared weights, another count; we want exp H.",
            (lambda scores: 1 / _weights(scores).max(axis=-1)): "This is one over the largest "
            "weight, another count; we want exp H.",
            (lambda scores: np.exp(-_entropy(_weights(scores)))): "The sign of H is wrong: "
            "logarithms of weights are negative, H is not.",
            (lambda scores: np.exp(_entropy(_weights(np.moveaxis(scores, 0, -1))))): "Your weights "
            "sum to one along the first axis; the keys are on the last.",
            (lambda scores: np.exp(_entropy(_weights(scores), axis=None))): "You added up the "
            "entropies of all rows; each row has a count of its own.",
            (lambda scores: _naive(_weights(scores))): ZERO,
            (lambda scores: np.exp(-(_weights(scores) * log_softmax(scores)).sum(axis=-1))): ZERO,
            (lambda scores: _naive(_plain_softmax(scores))): OVERFLOW,
            (lambda scores: np.exp(_entropy(_plain_softmax(scores)))): OVERFLOW,
            (lambda scores: np.exp(_entropy(np.nan_to_num(_plain_softmax(scores))))): OVERFLOW,
            **{_nudged(small): SMALL for small in (1e-12, 1e-10, 1e-9, 1e-8)},
        },
        all_digits=True,
    ),
)


def _slope(scores: np.ndarray, multiplier: float) -> float:
    weights = _weights(multiplier * scores)
    return float(-multiplier * _variance(weights, scores))


def _variance(weights: np.ndarray, scores: np.ndarray) -> float:
    """Return the variance of the scores under the weights."""
    return float((weights * (scores - (weights * scores).sum()) ** 2).sum())


def _draw_slopes(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return rows with a multiplier, from nearly even rows to nearly one-hot ones.

    In the last but one, rounding of H hides how little it changes, so that no difference will do.
    In the last, two leaders nearly tie far above a crowd that pulls the mean down.
    """
    calls = [
        (spread * rng.standard_normal(n), multiplier)
        for n, spread, multiplier in [
            (2, 1.0, 0.5), (3, 2.0, 0.7), (5, 8.0, 0.125), (8, 8.0, 0.3), (40, 1.0, 2.5),
            (6, 1e-2, 3.0), (6, 1e4, 1e-4), (4, 1e3, 1.5), (1, 1.0, 0.5),
        ]
    ]  # fmt: skip
    return [
        *calls,
        (2000.0 + rng.standard_normal(4), 1.5),
        (1e-7 * rng.standard_normal(6), 3.0),
        (np.array([*np.zeros(20), 2000.0, 1999.0]), 1.0),
    ]


def _slope_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Bound the rounding errors of c times a variance, in the worse of the usual formulas.

    Σ p z² - (Σ p z)² adds terms of size p z² and has errors of that size: each weight is off by
    at most (n + 4 + c max |z|) u of itself as in the count of positions, twice in the square of
    the mean, and the sums add (n + 2) u. That is below (n + 8 + 2 c max |z|) 2 eps max z², eps
    being 2 u.
    """
    scores, multiplier = arguments
    size = np.abs(scores).max()
    return 2 * multiplier * eps * (len(scores) + 8 + 2 * multiplier * size) * size**2


def _solved(count: Callable[[np.ndarray], float], scores: np.ndarray, wanted: float) -> float:
    """Return the divisor at which a count of a row, which grows with it, has the value wanted."""
    low = high = float(np.ptp(scores))
    while count(_weights(scores / low)) > wanted:
        low /= 4
    while count(_weights(scores / high)) < wanted:
        high *= 4
    while high / low > 1 + 1e-13:
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if count(_weights(scores / middle)) < wanted:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def _effective(weights: np.ndarray) -> float:
    return float(np.exp(_entropy(weights)))


def _inverse_squares(weights: np.ndarray) -> float:
    return float(1 / (weights**2).sum())


def _divisor(scores: np.ndarray, positions: float) -> float:
    return _solved(_effective, scores, positions)


def _draw_divisors(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return rows of many spreads with a count between that of their leaders and n."""
    calls = [
        (spread * rng.standard_normal(n), 1 + share * (n - 1))
        for n, spread, share in [
            (2, 1.0, 0.5), (3, 8.0, 0.2), (5, 8.0, 0.6), (12, 0.01, 0.3), (12, 1e4, 0.7),
            (60, 3.0, 0.05), (60, 3.0, 0.9), (4, 1e-6, 0.4),
        ]
    ]  # fmt: skip
    return [
        *calls,
        (np.array([7.0, 7.0, 3.0, -2.0, -2.0]), 2.5),
        (500.0 + rng.standard_normal(6), 3.0),
    ]


def _divisor_room(right: Any, _arguments: tuple[Any, ...], _eps: float) -> float:
    """Return half a unit of the sixth digit, to which the divisor is asked.

    Rounding matters less: a relative error of exp H becomes one of τ divided by the variance of
    the logits, which is above 1/20 in all the rows drawn, and exp H is right to ten digits.
    """
    return rounding(float(right), 6)


FIVE = np.array([9.2, -3.1, 8.8, -5.4, 1.2])
DIVISOR = _divisor(FIVE, 3)

SOFTEN = Check(
    "soften",
    slope=Function(
        "slope(scores, multiplier), which returns the derivative of H by the multiplier c",
        _slope,
        _draw_slopes,
        _slope_room,
        mistakes={
            (lambda z, c: -_slope(z, c)): "The sign is wrong: "
            "a larger multiplier makes gaps larger and H smaller.",
            (lambda z, c: _slope(z, c) / c): "A factor c is missing: "
            "in dH = −Σ ln p dp, ln p is c·z and a constant.",
            (lambda z, c: -c * np.var(z)): "This is the variance of the scores with even weights; "
            "they have the weights p.",
            (lambda z, c: -c * (_weights(c * z) * z**2).sum()): "The square of the mean is "
            "missing: it comes from the denominator of softmax.",
            (lambda z, c: -_slope(z, c) * c**2): "This is the derivative by the divisor τ = 1/c; "
            "we want that by c.",
            (lambda z, c: _slope(z, c) * c): "This is the derivative by ln c; we want that by c.",
            (lambda z, c: _slope(z, c) * _effective(_weights(c * z))): "This is the derivative of "
            "exp H; we want that of H.",
            (lambda z, c: -c * math.sqrt(_variance(_weights(c * z), z))): "You have the standard "
            "deviation of the scores where their variance belongs.",
            (lambda z, c: -c * _variance(_plain_softmax(c * z), z)): OVERFLOW,
        },
        all_digits=True,
    ),
    floor=Number(
        "the limit of exp H for τ towards zero",
        2.0,
        mistakes={
            1: "One key would be left if it led alone; here two keys share the lead.",
            5: "This is the limit for a large divisor, when all weights become even.",
            math.log(2): "This is the limit of H; we want that of exp H.",
        },
    ),
    five=Number(
        "the divisor that gives the five scores three effective positions",
        DIVISOR,
        mistakes={
            1 / DIVISOR: "This is the multiplier; one over it is the divisor.",
            _solved(_inverse_squares, FIVE, 3): "With this divisor one over the sum of squares is "
            "three; exp H is to be three.",
        },
    ),
    divisor=Function(
        "divisor(scores, positions), which returns the divisor with exp H = positions",
        _divisor,
        _draw_divisors,
        _divisor_room,
        mistakes={
            (lambda scores, positions: 1 / _divisor(scores, positions)): "This is the multiplier; "
            "one over it is the divisor.",
            (lambda scores, positions: _solved(_inverse_squares, scores, positions)): "You matched "
            "one over the sum of squares; exp H is to be matched.",
            (lambda scores, positions: _divisor(scores, positions) ** 2): "This is the square "
            "of the divisor.",
        },
    ),
)
