"""The exercises of the chapter on variance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick

LARGE, SMALL = 4.0, 1 / 4
OF_QUERY = np.repeat([LARGE, SMALL, SMALL], 32)
OF_KEY = np.repeat([LARGE, LARGE, SMALL], 32)
UNEQUAL_VARIANCE = float(OF_QUERY @ OF_KEY)
OF_MEANS = len(OF_KEY) * float(OF_QUERY.mean() * OF_KEY.mean())

UNEQUAL = Check(
    "unequal",
    variance=Number(
        "the variance of q·k",
        UNEQUAL_VARIANCE,
        mistakes={
            math.sqrt(UNEQUAL_VARIANCE): "This is the standard deviation; square it.",
            OF_MEANS: "You multiplied the mean variances of q and of k. "
            "It matters which component of q meets which of k.",
            float((OF_QUERY + OF_KEY).sum()): "You added the two variances of a product; "
            "for independent factors with mean zero they multiply.",
            float(
                (OF_QUERY**2) @ (OF_KEY**2)
            ): "You squared the variances; they are squares already.",
            float(OF_QUERY.sum() * OF_KEY.sum()): "You multiplied the sums, "
            "so that each component of q meets every one of k. The mixed terms average out.",
            float(np.sqrt(OF_QUERY * OF_KEY).sum()): "You added standard deviations; "
            "for independent terms the variances add up.",
            len(OF_KEY): "This would be right if every component had variance one.",
            **dict.fromkeys(
                (32.0, 64.0),
                "This counts components of one kind. Add up a product of two variances for each "
                "of the 96.",
            ),
            **dict.fromkeys(
                (float(OF_QUERY.sum()), float(OF_KEY.sum())),
                "You added up the variances of one vector. "
                "Multiply each by the variance of its partner first.",
            ),
            **dict.fromkeys(
                (float(OF_QUERY[:32] @ OF_KEY[:32]), float(OF_QUERY[:64] @ OF_KEY[:64])),
                "You left out components: the 96 come in three blocks of 32.",
            ),
        },
    ),
    divisor=Number(
        "the divisor that makes the variance one",
        math.sqrt(UNEQUAL_VARIANCE),
        mistakes={
            UNEQUAL_VARIANCE: "Dividing by this divides the variance by its square.",
            math.sqrt(len(OF_KEY)): "This is √dₖ, which makes the variance one if each component "
            "has variance one.",
            math.sqrt(OF_MEANS): "This is the root of a product of mean variances.",
            1 / math.sqrt(UNEQUAL_VARIANCE): "This is the multiplier; we want its inverse.",
        },
    ),
    order=Pick(
        "the order of k that makes the variance smallest",
        "large against small",
        {
            "large against small": "Right: then the sum of the products is as small as it can be.",
            "large against large": "That order makes the sum of the products largest.",
            "any: the order does not matter": "Exchange the first and the last component of k "
            "and add up again.",
        },
    ),
)

D_K = 64
MEAN = 1 / math.sqrt(2 * math.pi)
"""Mean of max(0, x) for a standard normal x; the mean square is one half."""
SPREAD = 1 / 2 - MEAN**2
"""Its variance."""
TOTAL = D_K * (1 / 4 - MEAN**4)
WITHIN = D_K * SPREAD / 2

RECTIFIED = Check(
    "rectified",
    center=Number(
        "the mean of q·k",
        D_K * MEAN**2,
        mistakes={
            0: "This was right before the components were rectified. No component is negative now.",
            MEAN**2: "This is the mean of one product; a score adds up all of them.",
            D_K * MEAN: "This is the mean of the sum of one vector's components alone.",
            D_K * 2 / math.pi: "You took the mean of |x|. "
            "Half of the components are zero now instead.",
            D_K / 2: "You took the mean of a square. "
            "q and k are independent, so the mean of a product is the product of the means.",
        },
    ),
    total=Number(
        "the variance of q·k",
        TOTAL,
        mistakes={
            D_K: "This was right before the components were rectified.",
            D_K / 4: "You added up mean squares of products. "
            "Their mean is not zero; its square has to come off.",
            D_K * SPREAD**2: "You multiplied the variances of the factors, "
            "which needs mean zero in both.",
            WITHIN: "This is the part within a row; we want all of the variance.",
            TOTAL + (D_K * MEAN**2) ** 2: "This is the mean square of q·k; "
            "the square of its mean has to come off.",
            D_K / 4 - (D_K * MEAN**2) ** 2: "A variance is never negative. You took off the square "
            "of the whole mean but left out the mixed products, whose mean is not zero any more.",
            math.sqrt(TOTAL): "This is the standard deviation; we want the variance.",
        },
    ),
    within=Number(
        "the variance within a row",
        WITHIN,
        mistakes={
            TOTAL: "This is all of the variance; part of it lies between rows.",
            TOTAL - WITHIN: "This is the part between rows, which all keys of a row share.",
            D_K * SPREAD**2: "You have the trace, but the mean of the query adds a part: "
            "use the query's mean squared length.",
            D_K / 2: "This is the mean squared length of a query; "
            "the components of a key do not have variance one any more.",
            D_K / 4: "You took the mean square of a component of the key; "
            "within a row its variance counts.",
        },
        praise="The rest lies between rows, and softmax does not see it.",
    ),
)

PAIRED_WIDTH, DISTANCE, GAMMA = 64, 3, 0.8


def score_variance(d_k: int, gamma_q: float, gamma_k: float) -> float:
    """Return the variance of q·k if correlations fade like γ^|i − j|."""
    distances = np.arange(1, d_k)
    return float(d_k + 2 * ((d_k - distances) * (gamma_q * gamma_k) ** distances).sum())


def _some_correlations(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw widths and correlations of either sign, with the narrowest head and both extremes.

    In the last call correlations reach as far across a wide head as the statement allows.
    """
    calls: list[tuple[Any, ...]] = [
        (d_k, *map(float, rng.uniform(0.4, 0.95, 2) * signs))
        for d_k, signs in (
            (1, (1, 1)),
            (2, (1, -1)),
            (3, (1, 1)),
            (64, (1, -1)),
            (65, (-1, -1)),
            (500, (1, 1)),
        )
    ]
    extremes = [(7, 0.0, 0.6), (9, 0.7, 0.0), (400, 1.0, 1.0), (5, -1.0, 1.0), (6, 1.0, -1.0)]
    return [*calls, *extremes, (500, 0.99, 1.0)]


def _room_of_sum(_right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> float:
    """Bound the rounding errors of the sum over distances, and of its closed form.

    With g = γ_q γ_k and a = |g|, the terms have the total size of at most
    s = dₖ(1 + a)/(1 − a) + 4a/(1 − a)², which bounds the two parts of the closed form as well.
    Powers by repeated products and a plain sum are off by at most 2dₖ roundings of s; in the
    closed form the rounding of g counts up to 1/(1 − a) times in each division. At a = 1 all
    terms together have the size dₖ².
    """
    d_k, gamma_q, gamma_k = arguments
    size = abs(gamma_q * gamma_k)
    if size == 1:
        return (2 * d_k + 20) * eps * d_k**2
    total = d_k * (1 + size) / (1 - size) + 4 * size / (1 - size) ** 2
    return (2 * d_k + 20) * eps * total / (1 - size)


def _toeplitz(d_k: int, gamma: float) -> np.ndarray:
    places = np.arange(d_k)
    return gamma ** np.abs(places[:, None] - places)


def _long_head(d_k: int, gamma_q: float, gamma_k: float) -> float:
    product = gamma_q * gamma_k
    return d_k * (1 + product) / (1 - product) if product != 1 else math.inf


def _same_count(d_k: int, gamma_q: float, gamma_k: float) -> float:
    return d_k + 2 * d_k * float(((gamma_q * gamma_k) ** np.arange(1, d_k)).sum())


FADING = Check(
    "fading",
    pairs=Number(
        "the number of pairs (i, j) at that distance",
        2 * (PAIRED_WIDTH - DISTANCE),
        mistakes={
            PAIRED_WIDTH - DISTANCE: "You counted each pair once; "
            "(i, j) and (j, i) are two products of the square.",
            2 * PAIRED_WIDTH: "This would be right if every component had a neighbor that far on "
            "both sides; near the ends one is missing.",
            2 * (PAIRED_WIDTH - DISTANCE + 1): "You counted one component too many: "
            "where does the last pair begin?",
            2 * (PAIRED_WIDTH - DISTANCE - 1): "You counted one component too few: "
            "the last pair ends at the last component.",
        },
        digits=4,
    ),
    limit=Number(
        "the limit of the variance over dₖ",
        (1 + GAMMA**2) / (1 - GAMMA**2),
        mistakes={
            (1 + GAMMA) / (1 - GAMMA): "You summed γ^m. "
            "A mixed product has two factors, one from q and one from k.",
            1 / (1 - GAMMA**2): "You counted each distance once; "
            "there are neighbors on both sides.",
            2 / (1 - GAMMA**2): "You counted the diagonal twice; "
            "only the distances above zero come twice.",
            2 * GAMMA**2 / (1 - GAMMA**2): "The diagonal is missing: "
            "a term times itself adds one for each component.",
            1: "This is right without correlations; here the mixed products count.",
            math.sqrt((1 + GAMMA**2) / (1 - GAMMA**2)): "You took the standard deviations; "
            "we want the ratio of the variances.",
        },
    ),
    growth=Pick(
        "how the variance grows with the width",
        "like d_k",
        {
            "like d_k": "Right: each component adds the same once the head is longer than the "
            "correlations reach. Only the constant has changed.",
            "like d_k squared": "It grows like this if all components are tied, γ = 1. Below that "
            "a component is correlated with few others, however wide the head.",
            "like the root of d_k": "The standard deviation grows like this. We want the variance.",
        },
    ),
    score_variance=Function(
        "score_variance(d_k, gamma_q, gamma_k), which returns the variance of q·k",
        score_variance,
        _some_correlations,
        _room_of_sum,
        mistakes={
            (lambda *head: (head[0] + score_variance(*head)) / 2): "You counted each mixed product "
            "once: (i, j) and (j, i) both occur.",
            (lambda *head: score_variance(*head) - head[0]): "The diagonal is missing: "
            "a term times itself adds one for each component.",
            (lambda *head: score_variance(*head) + head[0]): "You counted the diagonal twice; "
            "only the distances above zero come twice.",
            (lambda d_k, gamma_q, *_: score_variance(d_k, gamma_q, gamma_q)): "You used gamma_q "
            "for both: the covariance of the keys fades with gamma_k.",
            (lambda d_k, gamma_q, *_: score_variance(d_k, gamma_q, 1.0)): "You left out the keys: "
            "a mixed product has the covariance of q times that of k.",
            (lambda *head: score_variance(*map(abs, head))): "You lost the signs: "
            "correlations of opposite sign make mixed products negative.",
            (lambda *head: math.sqrt(max(score_variance(*head), 0.0))): "This is the standard "
            "deviation; we want the variance.",
            _long_head: "This is what a very wide head tends to. "
            "Near the ends components have fewer neighbors, which counts in a narrow one.",
            _same_count: "You gave every distance the same number of pairs; "
            "the larger the distance, the fewer fit into the head.",
            (lambda d_k, g, h: (_toeplitz(d_k, g) @ _toeplitz(d_k, h)).sum()): "You added up all "
            "entries of the matrix product. "
            "Take only the trace of that product, or multiply the two matrices entry by entry.",
            (lambda d_k, *_: d_k): "This is the theorem without correlations; "
            "here both vectors break (c).",
            (lambda d_k, *_: d_k**2): "You multiplied the traces; "
            "we want the trace of the product.",
        },
    ),
)
