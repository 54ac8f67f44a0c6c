"""The exercises of the chapter on gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Array, Function, Number, rounding
from attnlib.softmax import softmax

WEIGHTS = np.array([0.7, 0.2, 0.1])
RISE = 0.008
WIDTH = 64
TAU = math.sqrt(WIDTH)
JACOBIAN = np.diag(WEIGHTS) - np.outer(WEIGHTS, WEIGHTS)
CHANGE = RISE / TAU * JACOBIAN[1]
STILL = -RISE * WEIGHTS[1] / WEIGHTS[0]

NUDGE = Check(
    "nudge",
    change=Array(
        "the changes of the three weights",
        CHANGE,
        mistakes={
            tuple(TAU * CHANGE): "The raw score rises by this much, the logit by less: "
            "divide by √dₖ.",
            tuple(CHANGE / TAU): "You divided by the width; the scores are divided by its root.",
            (0, CHANGE[1], 0): "The off-diagonal entries are missing: "
            "what one key gains the others lose.",
            tuple(abs(CHANGE)): "The changes must sum to zero: what one key gains the others lose.",
            tuple(-CHANGE): "The signs are turned around: a key whose score rises gains weight.",
            (
                CHANGE[0],
                RISE / TAU * WEIGHTS[1],
                CHANGE[2],
            ): "A key's own entry is p(1 − p), not p: its score is in the denominator, too.",
            tuple(RISE / TAU * np.diag(JACOBIAN)): "This is the diagonal, each weight by its own "
            "score; here one score rises.",
            tuple(RISE / TAU * JACOBIAN[0]): "You raised the first score; the second rises.",
        },
        within=rounding(float(np.abs(CHANGE).min()), 3),
        why="half a unit of the third digit of the smallest change",
        praise="Exact changes sum to zero: what one key gains the others lose.",
    ),
    still=Number(
        "the change of the first raw score that keeps the third weight",
        STILL,
        mistakes={
            -STILL: "The sign is wrong: with both scores raised, the third weight falls twice.",
            -RISE: "The opposite change is too much, "
            "as the first key has more weight to push with.",
            -RISE * WEIGHTS[0] / WEIGHTS[1]: "The ratio is upside down: "
            "a key with more weight must move less.",
            STILL / TAU: "This is the change of the logit; give the change of the raw score.",
            RISE * (1 - WEIGHTS[1]) / WEIGHTS[0]: "This keeps the second weight, "
            "which has 1 − p in its own entry; the third is to stay.",
        },
        praise="A weight stays if the mean change of the scores under p is the change of its "
        "own score, here zero.",
    ),
)


def _target(scores: np.ndarray, target: int) -> np.ndarray:
    return (np.arange(len(scores)) == target).astype(float)


def _log_loss(scores: np.ndarray, target: int) -> np.ndarray:
    return softmax(scores) - _target(scores, target)


def _through_weights(weights: np.ndarray, target: int) -> np.ndarray:
    """Return the same by the chain rule, which divides by the weight of the target."""
    by_weights = -_target(weights, target) / weights
    return weights * (by_weights - (weights * by_weights).sum())


def _overflowing(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


def _draw_targets(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return rows with a target, some far from zero, some with a target without weight."""
    calls: list[tuple[Any, ...]] = [
        (spread * rng.standard_normal(n), int(rng.integers(n)))
        for n, spread in [(2, 1.0), (3, 1.0), (7, 3.0), (33, 8.0), (1, 1.0), (5, 1e-3)]
    ]
    return [
        *calls,
        (np.zeros(6), 0),
        (np.array([5e3, 0.0, 0.0]), 1),
        (1e4 + rng.standard_normal(4), 3),
        (-1e4 + rng.standard_normal(4), 0),
        (1e3 * rng.standard_normal(9), 8),
        (np.array([12.0, 0.0, 0.0, 0.0]), 0),
    ]


def _target_room(right: Any, arguments: tuple[Any, ...], eps: float) -> Any:
    """Bound the rounding errors of the weights, one of them less one.

    A weight is relatively off by (n + 4) u from exponential, sum and quotient, and by at most
    4 max |s| u from what exp is given, be it s less the largest or s less ln Σ exp s. With
    eps = 2 u that is below (n + 4 + 2 max |s|) eps, with a unit to spare for the one. The weight
    is at most one, which counts where one is subtracted: at the target, and where a known mistake
    is negative. Below 1e-37 float32 has no digits left.
    """
    scores, target = arguments
    subtracted = (np.arange(len(scores)) == target) | (right < 0)
    factor = (len(scores) + 4 + 2 * np.abs(scores).max()) * eps
    return factor * np.where(subtracted, 1.0, np.abs(right)) + 1e-37


LEAD = 12.0
LAGGARD = np.array([LEAD, 0, 0, 0])
SLOPE = _log_loss(LAGGARD, 1)
SHARE = float(softmax(LAGGARD)[1])

LOG_LOSS = Check(
    "log-loss",
    plain=Number(
        "the length of the gradient of −pₜ",
        SHARE * float(np.linalg.norm(SLOPE)),
        mistakes={
            float(np.linalg.norm(SLOPE)): "This is the length for −ln pₜ; "
            "the gradient of −pₜ has one factor more.",
            SHARE * (1 - SHARE): "This is the target's own entry; "
            "the leader has one of the same size.",
            SHARE * float(np.abs(SLOPE).sum()): "You added up the entries; "
            "a length is the root of the sum of their squares.",
            1.0: "This is the derivative by the weight; we want it by the scores.",
            SHARE**2 * float(np.linalg.norm(SLOPE) ** 2): "This is the square of the length.",
        },
        praise="No score can move the target's weight any more.",
    ),
    logarithm=Number(
        "the length of the gradient of −ln pₜ",
        float(np.linalg.norm(SLOPE)),
        mistakes={
            1.0: "This is the size of one entry; two have that size, and their squares add up.",
            2.0: "Two entries have size one, nearly; "
            "a length is the root of the sum of their squares.",
            1 / SHARE: "This is the derivative by the weight; go on to the scores, and pₜ cancels.",
            SHARE * float(np.linalg.norm(SLOPE)): "This is the length for −pₜ; "
            "the logarithm divides by pₜ.",
        },
        praise="The logarithm has divided out the small factor.",
    ),
    gradient=Function(
        "gradient(scores, target), which returns the derivatives of −ln pₜ by the scores",
        _log_loss,
        _draw_targets,
        _target_room,
        mistakes={
            (lambda scores, target: -_log_loss(scores, target)): "The sign is wrong: "
            "this is the gradient of +ln pₜ.",
            (lambda z, target: softmax(z)[target] * _log_loss(z, target)): "This is the gradient "
            "of −pₜ; we want that of −ln pₜ.",
            (lambda scores, target: (softmax(scores) - 1) * _target(scores, target)): "Only the "
            "target's entry is there: every score is in the denominator.",
            (lambda scores, _: softmax(scores)): "This is p for every key; "
            "the target's entry has one subtracted.",
            (lambda scores, _: softmax(scores) - 1): "You subtracted one everywhere; "
            "subtract it from the target's entry only.",
            (lambda scores, target: _log_loss(scores, target - 1 if target else 0)): "The target "
            "is one place off: it counts from zero.",
            (lambda scores, target: _log_loss(scores, target) / len(scores)): "You divided by the "
            "number of keys; the loss is not a mean over keys.",
            (lambda scores, target: _through_weights(softmax(scores), target)): "The target's "
            "weight became zero and you divided by it: cancel pₜ on paper.",
            (lambda scores, target: _overflowing(scores) - _target(scores, target)): "The "
            "exponential of a large score is infinite: subtract the largest score first.",
        },
    ),
)


def _keyed(
    query: np.ndarray,
    keys: np.ndarray,
    costs: np.ndarray,
    *,
    inside: float = 0.5,
    outside: float = 0.5,
    width: int | None = None,
    weigh: Callable[[np.ndarray], np.ndarray] = softmax,
    mean: Callable[[np.ndarray, np.ndarray], float] = np.dot,
) -> np.ndarray:
    """Return the gradient on the query; the divisors are powers of the width."""
    width = keys.shape[-1] if width is None else width
    weights = weigh(keys @ query / width**inside)
    return weights * (costs - mean(weights, costs)) @ keys / width**outside


def _by_keys(query: np.ndarray, keys: np.ndarray, costs: np.ndarray) -> np.ndarray:
    width = math.sqrt(keys.shape[-1])
    weights = softmax(keys @ query / width)
    return np.outer(weights * (costs - weights @ costs), query) / width


def _diagonal(query: np.ndarray, keys: np.ndarray, costs: np.ndarray) -> np.ndarray:
    root = math.sqrt(keys.shape[-1])
    weights = softmax(keys @ query / root)
    return weights * (1 - weights) * costs @ keys / root


SIZES = [(2, 3), (5, 4), (4, 4), (3, 16), (20, 8), (1, 5), (6, 1)]


def _draw_rows(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return queries, keys and costs of many sizes, some rows nearly one-hot."""
    calls = [
        (rng.standard_normal(d), rng.standard_normal((n, d)), rng.standard_normal(n) + shift)
        for (n, d), shift in zip(SIZES, (0, 1, -2, 0, 3, 1, 0), strict=True)
    ]
    query, keys, costs = calls[4]
    far = rng.standard_normal((3, 4))
    return [
        *calls,
        (30.0 * query, keys, costs),
        (np.zeros(8), keys, costs),
        (np.array([1e3, 0.0, 0.0, 0.0]), 1.0 + 1e-3 * far, np.array([1.0, -2.0, 0.5])),
        (
            np.array([1e4, 0.0]),
            np.array([[1.0, 0.0], [0.9999, 1.0], [0.0, 1.0]]),
            np.array([1.0, 4.0, 0.0]),
        ),
    ]


def _gradient_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> Any:
    """Bound the rounding errors of the sum of p (u - ū) k over τ.

    A dot product of d terms is off by at most (d + 1) u |q| |k|, so a logit by (d + 3) u S with
    S = max |q| |k| / τ, a difference of two by twice that and one u S more, and a weight relatively
    by η = (n + 4 + (2 d + 8) S) u. Weights that are off by η move Σ p u k and ū Σ p k by at most
    η and 2 η times max |u| max |k|, and the sums add (2 n + 6) u of that. With eps = 2 u all of it
    is below (3 n + 10 + (3 d + 12) S) eps max |u| max |k| / τ.
    """
    query, keys, costs = arguments
    n, d = keys.shape
    root = math.sqrt(d)
    size = np.linalg.norm(query) * np.linalg.norm(keys, axis=1).max() / root
    factor = (3 * n + 10 + (3 * d + 12) * size) * eps
    return factor * np.abs(costs).max() * np.abs(keys).max() / root


def _diameter(keys: np.ndarray) -> float:
    return float(np.linalg.norm(keys[:, None] - keys[None], axis=-1).max())


def _limit(keys: np.ndarray, costs: np.ndarray) -> float:
    return float(np.ptp(costs)) * _diameter(keys) / (4 * math.sqrt(keys.shape[-1]))


WINDING = [[-6.0, 1.0], [5.0, -9.0], [-2.0, 1.0], [-6.0, 7.0], [9.0, 6.0], [0.0, -6.0]]


def _draw_limits(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return keys and costs of many sizes, in part far from zero.

    In the last two calls the two keys farthest apart are not found by walking from key to key,
    each time to the farthest one, be the start the first key, the last, the longest or the one
    farthest from the mean.
    """
    calls = [
        (rng.standard_normal((n, d)), rng.standard_normal(n) + shift)
        for (n, d), shift in zip(SIZES, (0, 1, -2, 0, 3, 1, 0), strict=True)
    ]
    return [
        *calls,
        (100.0 * rng.standard_normal((7, 3)), 0.01 * rng.standard_normal(7)),
        (10.0 + rng.standard_normal((5, 6)), rng.standard_normal(5)),
        (np.array([[3.0, 0.0], [-1.0, 0.0], [1.0, 2.5]]), np.array([1.0, 1.5, -0.5])),
        (np.array(WINDING), np.arange(6.0)),
        (100.0 + np.array(WINDING), -np.arange(6.0)),
    ]


def _limit_room(right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Bound the rounding errors of two ranges, with distances by either usual formula.

    Differences, squares, sum and root give a distance relatively off by (d + 4) u. From
    |a|² + |b|² - 2 a·b a squared distance R² is off by (d + 4) u 4 M², M being the largest |k|,
    and R by half of that over R. The other factors add 6 u. With eps = 2 u that is below
    (d + 8) (1 + M² / R²) eps of the bound; for a single key the range of u is exactly zero.
    """
    keys, _ = arguments
    diameter = _diameter(keys)
    if not diameter:
        return 0.0
    ratio = float((keys**2).sum(axis=-1).max()) / diameter**2
    return float(right * (keys.shape[-1] + 8) * (1 + ratio) * eps)


def _box(keys: np.ndarray, costs: np.ndarray) -> float:
    sides = np.ptp(keys, axis=0)
    return float(np.ptp(costs) * np.linalg.norm(sides) / (4 * math.sqrt(keys.shape[-1])))


def _lengths(keys: np.ndarray, costs: np.ndarray) -> float:
    longest = float(np.linalg.norm(keys, axis=1).max())
    return float(np.ptp(costs)) * longest / (4 * math.sqrt(keys.shape[-1]))


LENGTH, UTMOST, HIGH = 8.0, 1.0, 0.9
MOST = (2 * LENGTH) * (2 * UTMOST) / (4 * TAU)
FALL = HIGH * (1 - HIGH)

LONGEST = Check(
    "longest",
    fall=Number(
        "the share of the bound that weights of 0.9 and 0.1 reach",
        4 * FALL,
        mistakes={
            FALL: "This is p(1 − p) itself; an even tie has a quarter, so compare with that.",
            math.sqrt(4 * FALL): "You took a root too many: "
            "the deviations of keys and of u have one each.",
            1 - HIGH: "This is the smaller weight; the covariance has a product of weights.",
            2 * FALL: "The largest p(1 − p) is a quarter, not a half.",
        },
    ),
    most=Number(
        "the bound with the division",
        MOST,
        mistakes={
            MOST / 2: "One of the ranges is twice as large: it reaches from one end to the other.",
            MOST / 4: "Both ranges reach from one end to the other, twice the largest size.",
            4 * MOST: "The quarter is missing: two deviations, each at most half a range.",
            2 * MOST: "A half is missing: both deviations are at most half a range.",
            TAU * MOST: "This is the bound without the division: divide by √dₖ once.",
            MOST / TAU: "You divided by the width; the factor in the gradient is its root.",
        },
    ),
    gradient=Function(
        "gradient(query, keys, costs), which returns ∂L/∂q, shape (d,)",
        _keyed,
        _draw_rows,
        _gradient_room,
        mistakes={
            partial(_keyed, outside=0): "The factor 1/√dₖ is missing behind the "
            "softmax: the chain rule brings it once more.",
            partial(_keyed, inside=0): "Your weights come from undivided scores: "
            "divide inside the softmax, too.",
            partial(_keyed, inside=0, outside=0): "There is no √dₖ: "
            "divide the scores, and the gradient by the chain rule.",
            partial(_keyed, outside=1): "You divided by √dₖ twice behind the "
            "softmax; once is right.",
            partial(_keyed, inside=1, outside=1): "You divided by dₖ; "
            "the rule divides by its root.",
            (lambda q, k, u: _keyed(q, k, u, width=len(k))): "You divided by the root of the "
            "number of keys; divide by the root of the width.",
            partial(_keyed, mean=lambda _weights, _u: 0.0): "The mean ū is missing: "
            "the off-diagonal entries of the Jacobian bring it.",
            partial(_keyed, mean=lambda _weights, u: u.mean()): "You subtracted the plain mean of "
            "u; it is weighted by p.",
            _diagonal: "You used the diagonal of the Jacobian only; its other entries are missing.",
            (lambda q, k, u: -_keyed(q, k, u)): "The sign is wrong.",
            _by_keys: "This is the gradient on the keys, one row for each; "
            "we want the gradient on the query.",
            partial(_keyed, weigh=_overflowing): "The exponential of a large score is infinite: "
            "subtract the largest score first.",
        },
    ),
    bound=Function(
        "bound(keys, costs), which returns the bound of |∂L/∂q|",
        _limit,
        _draw_limits,
        _limit_room,
        mistakes={
            (lambda k, u: 4 * _limit(k, u)): "The quarter is missing: "
            "two deviations, each at most half a range.",
            (lambda k, u: 2 * _limit(k, u)): "You have a half where a quarter holds: "
            "a deviation is at most half a range, and there are two.",
            (lambda k, u: _limit(k, u) * math.sqrt(k.shape[-1])): "The division by √dₖ is missing.",
            (lambda k, u: _limit(k, u) / math.sqrt(k.shape[-1])): "You divided by dₖ; "
            "the factor in the gradient is one over its root.",
            _lengths: "You took the longest key; use the largest distance between two keys.",
            (lambda k, u: 2 * _lengths(k, u)): "Twice the longest key is no less than any "
            "distance, but not the largest distance itself.",
            _box: "This is the diagonal of a box around the keys; "
            "two keys may not lie at its ends. Use the largest distance between two keys.",
            (lambda k, u: _limit(k, [0, np.abs(u).max()])): "You took the largest |u|; "
            "use the range from the smallest u to the largest.",
            (lambda k, u: _limit(k, [0, u.std()])): "You took the standard deviation of u "
            "with even weights; use the range, as any weights may occur.",
        },
        praise="No weights and no query get beyond it, and an even tie reaches it.",
    ),
)
