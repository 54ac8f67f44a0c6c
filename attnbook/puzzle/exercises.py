"""The exercises of the chapter on the puzzle."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick
from attnlib.softmax import softmax

D_MODEL, N_HEADS, D_V, N_TOKENS = 1536, 12, 64, 2048
D_K = D_MODEL // N_HEADS

WHICH_WIDTH = Check(
    "which-width",
    divisor=Number(
        "the number that a head divides its scores by",
        math.sqrt(D_K),
        mistakes={
            D_K: "This is the width of a head; the scores are divided by its root.",
            math.sqrt(
                D_MODEL
            ): f"You took the root of the model's width, {D_MODEL}. A score is a sum over "
            "the products of one head, which is narrower.",
            math.sqrt(
                D_V
            ): f"You took the root of {D_V}, the width of the values. They enter after "
            "softmax; the scores are made of queries and keys.",
            math.sqrt(N_TOKENS): "You took the root of the number of tokens. "
            "This is how many scores a row has, not how many products make up a score.",
            math.sqrt(N_HEADS): "You took the root of the number of heads, not of a width.",
            math.sqrt(D_MODEL) / N_HEADS: "You took the root before you split the width: "
            "first the head's share, then its root.",
            1 / math.sqrt(D_K): "This is what the scores are multiplied by; "
            "we want what they are divided by.",
        },
        praise="Only the width of one head's queries and keys counts.",
    ),
    spread=Number(
        "the standard deviation of the logits under the wrong divisor",
        math.sqrt(D_K / D_MODEL),
        mistakes={
            D_K / D_MODEL: "This is their variance; take its square root.",
            math.sqrt(D_MODEL / D_K): "This is how many times too small they are; "
            "we want how large they are.",
            1.0: "This is right under the right divisor; we want it under the wrong one.",
            math.sqrt(D_K): "This is the standard deviation of the raw scores; "
            "they have yet to be divided.",
            D_K / math.sqrt(D_MODEL): "You divided the variance of the raw scores; "
            "divide their standard deviation.",
        },
    ),
    wider=Pick(
        "what happens to the divisor",
        "it stays",
        {
            "it stays": "Right: there are more heads, each as wide, so a score has as many "
            "products as before.",
            "√2 times as large": "That would be right if each head became twice as wide. Here the "
            "number of heads doubles, and each keeps its width.",
            "twice as large": "The model's width doubles, but only the width of a head "
            "counts. How wide is a head now?",
            "√2 times as small": "That would be right for twice as many heads in a model "
            "that is as wide as before. Here the model grows as well.",
        },
    ),
)

PRINTED = np.array([0.90, 0.09, 0.01])
WIDTH = 64


def divide_later(weights: Any, tau: float) -> np.ndarray:
    """Return the weights of the scores divided by τ, from those of the scores as they are."""
    powers = np.asarray(weights, dtype=float) ** (1 / tau)
    return powers / powers.sum(axis=-1, keepdims=True)


def _some_weights(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw rows of every sharpness and shape, last of all with weights of zero and next to it."""
    shapes = ((3,), (7,), (1,), (2, 5), (4, 4), (5, 2), (2, 3, 6), (1000,))
    taus = (4.0, 1.0, 2.0, 8.0, 0.5, 30.0, 1.7, 3.0)
    calls = [
        (softmax(2 * rng.standard_normal(shape)), tau)
        for shape, tau in zip(shapes, taus, strict=True)
    ]
    return [
        *calls,
        (np.array([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]]), 5.0),
        (np.array([1.0, 1e-12]), 8.0),
        (np.array([1.0, 1e-12, 1e-30]), 30.0),
    ]


def _room_of_powers(right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding errors of normalized powers of weights.

    With ℓ the largest |ln p|, the exponent of exp(ln p/τ) is off by at most 3 ℓ/τ roundings, and
    a rounded p adds 1/τ; a sum of n and the division add n + 1, and exp and ln a few ulps. In
    the quotient of power and sum all of it counts twice. Somebody who takes the power τ instead
    has τ in place of 1/τ; the larger of the two counts, so that this mistake is known as well.
    """
    weights, tau = arguments
    longest = np.abs(np.log(weights[weights > 0])).max()
    power = max(tau, 1 / tau)
    return 2 * eps * ((3 * longest + 1) * power + weights.shape[-1] + 6) * right


DIVIDE_LATER = Check(
    "divide-later",
    gap=Number(
        "the gap between the first two raw scores",
        math.log(PRINTED[0] / PRINTED[1]),
        mistakes={
            PRINTED[0] - PRINTED[1]: "This is the gap between the weights, not the scores.",
            PRINTED[0] / PRINTED[1]: "This is the ratio of the weights; "
            "a ratio of weights is the exponential of a gap between scores.",
            math.log10(PRINTED[0] / PRINTED[1]): "You took the logarithm to base ten; "
            "softmax raises e to the scores.",
            math.log(PRINTED[1] / PRINTED[0]): "The sign is wrong: "
            "the first key has the larger weight, so the larger score.",
            math.log(PRINTED[0] / PRINTED[1]) / math.sqrt(WIDTH): "This is the gap after the "
            "division; the head did not divide.",
        },
    ),
    top=Number(
        "the weight of the first key if the scores had been divided",
        divide_later(PRINTED, math.sqrt(WIDTH))[0],
        mistakes={
            PRINTED[0]: "This is the weight as printed; the division changes it.",
            PRINTED[0] / math.sqrt(WIDTH): "You divided the weight. "
            "Divide the scores; the new weights sum to one as well.",
            PRINTED[0] ** (1 / math.sqrt(WIDTH)): "You took the right power, "
            "but the three powers do not sum to one yet.",
            divide_later(PRINTED, WIDTH)[0]: "You divided the scores by dₖ "
            "instead of dividing by its root.",
            divide_later(PRINTED, 1 / math.sqrt(WIDTH))[0]: "You multiplied the scores: "
            "the row has become sharper. Which power of a weight makes it flatter?",
            softmax(PRINTED / math.sqrt(WIDTH))[0]: "You gave the weights to softmax as if they "
            "were scores. Their logarithms are (up to a number that the row shares).",
        },
    ),
    lost=Pick(
        "what the weights cannot tell you about the raw scores",
        "a number that the whole row shares",
        {
            "a number that the whole row shares": "Right: it cancels in softmax, so you do "
            "not need it for the division either.",
            "the gaps between the scores": "The logarithm of the ratio of two weights is "
            "that gap, so the gaps are not lost.",
            "the order of the scores": "A larger score has a larger weight, so the order is "
            "not lost.",
            "nothing": "Add one to all scores of the row: does any weight change?",
        },
    ),
    divide_later=Function(
        "divide_later(weights, tau), which returns the weights of the scores divided by tau",
        divide_later,
        _some_weights,
        _room_of_powers,
        mistakes={
            (lambda weights, tau: weights ** (1 / tau)): "The power is right, "
            "but your rows do not sum to one.",
            (lambda weights, tau: weights / tau): "You divided the weights. "
            "Divide the scores; the weights still sum to one.",
            (lambda weights, tau: divide_later(weights, 1 / tau)): "You multiplied the scores by "
            "tau; your rows get sharper instead of flatter.",
            (lambda weights, tau: divide_later(weights, math.sqrt(tau))): "tau is already what the "
            "scores are divided by; you took its root.",
            (lambda weights, tau: softmax(weights / tau)): "You gave the weights to softmax as if "
            "they were scores; "
            "their logarithms are the scores, up to a number that the row shares.",
            (lambda p, tau: p ** (1 / tau) / (p ** (1 / tau)).sum()): "You divided by the sum over "
            "all rows; each row, along the last axis, has to sum to one by itself.",
            (lambda p, tau: p ** (1 / tau) / (p ** (1 / tau)).sum(axis=0)): "Your weights sum to "
            "one along the first axis; the keys of a row lie along the last.",
            (lambda weights, *_: weights): "You returned the weights as they came.",
        },
    ),
)

ROWS, COLUMNS = 8, 16


def weigh(q: Any, k: Any) -> np.ndarray:
    """Return attention weights, from what the keys do not share."""
    return softmax(q @ (k - k.mean(axis=0)).T / math.sqrt(q.shape[-1]))


def _as_written(
    q: np.ndarray,
    k: np.ndarray,
    *,
    factor: Callable[[int, int], float] = lambda d_k, _: 1 / math.sqrt(d_k),
    differences: bool,
    largest: bool,
    axis: int = -1,
) -> np.ndarray:
    """Return weights as somebody may write them, with some of the usual faults."""
    logits = q @ (k - k.mean(axis=0) if differences else k).T * factor(q.shape[-1], len(k))
    if largest:
        return softmax(logits, axis)
    return np.exp(logits) / np.exp(logits).sum(axis=axis, keepdims=True)


_plain = partial(_as_written, differences=False, largest=True)


def _by_largest_of_all(q: np.ndarray, k: np.ndarray, *, differences: bool) -> np.ndarray:
    logits = q @ (k - k.mean(axis=0) if differences else k).T / math.sqrt(q.shape[-1])
    powers = np.exp(logits - logits.max())
    return powers / powers.sum(axis=1, keepdims=True)


def _queries_and_keys(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw queries and keys; last come scores beyond 709, and keys that share a large vector.

    There each query has one component that is not zero and the width is four: a product and a
    division by two are rounded in one way only, so that lost digits are always the same ones.
    """
    shapes = ((3, 7, 5), (4, 4, 4), (2, 16, 64), (3, 1, 8), (1, 6, 1), (6, 3, 2))
    calls = [
        (rng.standard_normal((queries, width)), rng.standard_normal((keys, width)))
        for queries, keys, width in shapes
    ]
    lengths = np.array([[40.0], [40.0], [0.01]])
    large = lengths * rng.standard_normal((3, 16)), 40 * rng.standard_normal((9, 16))
    shared = 2.0**30 * rng.standard_normal(4) + rng.standard_normal((4, 4))
    return [*calls, large, (np.diag(1 + rng.random(4)), shared)]


def _room_of_weights(right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding errors of softmax of q·(k − c)/√dₖ, for any c among the keys.

    A product of dₖ terms is off by at most γ = (dₖ + 4)·eps times the sum of their sizes,
    each at most |q_i| times the range of k_i over the keys, and the query with the largest sum
    counts. This covers the differences, the division and the subtraction of the largest. Logits
    off by δ change a weight by a factor of at most e^(2δ), and a sum of n exponentials and a
    division by n + 6 roundings. Below 1e-37 float32 has no digits left.
    """
    q, k = arguments
    d_k = q.shape[-1]
    size = (np.abs(q) @ np.ptp(k, axis=0)).max() / math.sqrt(d_k)
    return right * (np.expm1(2 * (d_k + 4) * eps * size) + (len(k) + 6) * eps) + 1e-37


_FACTORS = {
    (lambda *_: 1.0): "You have not divided: softmax is given the raw scores.",
    (lambda d_k, *_: 1 / d_k): "You divided by dₖ instead of dividing by its root.",
    (lambda _, n: 1 / math.sqrt(n)): "You divided by the root of the number of keys; "
    "take the root of the width of a key.",
    (lambda d_k, *_: math.sqrt(d_k)): "You multiplied by √dₖ; divide by it.",
}
_KINDS = [
    {"differences": differences, "largest": largest}
    for differences, largest in product((True, False), repeat=2)
]


UNSEEN = Check(
    "unseen",
    free=Number(
        "how many independent numbers the weights reveal",
        ROWS * (COLUMNS - 1),
        mistakes={
            ROWS * COLUMNS: "This is the number of scores. "
            "One number in each row can be changed unseen.",
            ROWS * COLUMNS - 1: "One number for the whole table? Each row has a softmax, "
            "and a shift, of its own.",
            (ROWS - 1) * COLUMNS: "You took one number off each column. "
            "Softmax works along a row: its keys.",
            (ROWS - 1) * (COLUMNS - 1): "You took a number off each row and off each column. "
            "But a number added to a column, to one key for all queries, is seen.",
            ROWS: "This many numbers stay hidden; we want how many are revealed.",
        },
        digits=4,
    ),
    key_shift=Pick(
        "what adding one vector to every key does",
        "no weight changes",
        {
            "no weight changes": "Right: it adds q·u to every score of the row of q.",
            "weights change": "By how much does the score of one query with each of its keys "
            "grow? Compare the keys.",
        },
    ),
    query_shift=Pick(
        "what adding one vector to every query does",
        "weights change",
        {
            "weights change": "Right: the score with key k grows by u·k, which differs from "
            "key to key within a row.",
            "no weight changes": "The score with key k grows by u·k. Is that the same for all "
            "keys of a row?",
        },
    ),
    weigh=Function(
        "weigh(q, k), which returns the attention weights, one row per query",
        weigh,
        _queries_and_keys,
        _room_of_weights,
        mistakes={
            **{
                partial(_as_written, factor=factor, **kind): message
                for factor, message in _FACTORS.items()
                for kind in _KINDS
            },
            **{
                partial(_as_written, axis=0, **kind): "Your columns sum to one, over the queries; "
                "each row has to sum to one, over the keys."
                for kind in _KINDS
            },
            **{
                (
                    lambda q, k, kind=kind: _as_written(q, k, **kind).T
                ): "Your weights are transposed: return one row per query, one column per key."
                for kind in _KINDS
            },
            (lambda q, k: q @ k.T / math.sqrt(q.shape[-1])): "These are the logits; "
            "take the softmax of each row.",
            (lambda q, k: q @ (k - k.mean(axis=0)).T / math.sqrt(q.shape[-1])): "These are the "
            "logits without what they share; take the softmax of each row.",
            (lambda q, k: _plain(q - q.mean(axis=0), k)): "You subtracted what the queries share, "
            "which softmax sees. It does not see what the keys share.",
            **{
                partial(_as_written, **kind): "Large scores overflow: "
                "subtract the largest of each row before exp."
                for kind in _KINDS
                if not kind["largest"]
            },
            **{
                partial(_by_largest_of_all, differences=either): "You subtracted the largest score "
                "of the whole table, so that a row of smaller ones becomes 0/0. "
                "Each row needs its own largest."
                for either in (True, False)
            },
            _plain: "Right on paper. But if the keys share a large vector, the scores are so "
            "large that rounding eats their gaps. "
            "Take off what is shared before the product, not after it.",
            (lambda q, k: _plain(q, k - k.mean())): "You took one number off all components of all "
            "keys. What the keys share is a vector: one number for each component.",
            (lambda q, k: _plain(q, k - k.mean(axis=1, keepdims=True))): "You took off each key "
            "its own mean, which is not what the keys share. The mean over the keys is a vector.",
        },
        praise="What the keys share is gone before anything is rounded.",
        all_digits=True,
    ),
)
