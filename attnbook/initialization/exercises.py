"""The exercises of the chapter on initialization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick

WIDTH, HEADS = 1024, 16
HEAD = WIDTH // HEADS
STD = 1 / math.sqrt(WIDTH * math.sqrt(HEAD))

NO_DIVISOR = Check(
    "no-divisor",
    std=Number(
        "the standard deviation of an entry of either matrix",
        STD,
        mistakes={
            STD**2: "This is the variance of an entry; take its square root.",
            1 / math.sqrt(WIDTH): "These are queries and keys of unit variance: "
            "their scores have variance dₖ.",
            1 / math.sqrt(WIDTH * HEAD): "Right for one matrix, if the other keeps unit variance. "
            "Here both are smaller, so neither has to be as small as this.",
            1 / math.sqrt(WIDTH * math.sqrt(HEADS)): "You took the number of heads for the "
            "width of a head.",
            1 / math.sqrt(WIDTH * math.sqrt(WIDTH)): "You took the model width for dₖ: "
            "a score sums over one head only.",
        },
    ),
    bound=Number(
        "the bound of a uniform law with this standard deviation",
        math.sqrt(3) * STD,
        mistakes={
            STD: "This is the standard deviation. The bound is half the range and larger: "
            "a uniform law has a third of the square of its bound as variance.",
            math.sqrt(12) * STD: "This is the whole range, from −a to a; a is half of it.",
            3 * STD: "A third of the square is the variance: the factor is a root of three.",
            STD / math.sqrt(3): "This is the standard deviation if the bound were the first.",
        },
    ),
    wider=Number(
        "the variance of a score in the wider model",
        4,
        mistakes={
            1: "Twice as many inputs make each component of q and k larger.",
            2: "This is right for a component of q; a component of k grows as well.",
            8: "The heads keep their width; there are only more of them.",
            16: "A component's variance is in proportion to the width, not to its square.",
        },
        praise="A fixed number fits one width.",
    ),
)


def row_variance(x: Any, tokens: np.ndarray, std_q: float, std_k: float, _d_k: int) -> float:
    """Return the expected variance within a row, whatever the lengths of the tokens are."""
    centered = tokens - tokens.mean(axis=0)
    return (std_q * std_k) ** 2 * float(x @ x) * float(np.sum(centered**2)) / (len(tokens) - 1)


def draw_rows(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return tokens of all lengths, some of which share much more than they differ by."""
    calls: list[tuple[Any, ...]] = []
    for n, width, d_k, shared in [
        (2, 1, 1, 0.0),
        (2, 5, 3, 1.0),
        (7, 4, 2, 10.0),
        (9, 16, 8, 1.0),
        (5, 40, 64, 0.3),
        (12, 24, 4, 0.0),
    ]:
        tokens = rng.standard_normal((n, width)) * rng.uniform(0.5, 3, size=(n, 1))
        tokens += shared * rng.standard_normal(width)
        x = rng.standard_normal(width) * rng.uniform(0.5, 3)
        calls.append((x, tokens, rng.uniform(0.01, 2), rng.uniform(0.01, 2), d_k))
    x, tokens, *rest = calls[3]
    return [*calls, (1e6 * x, 1e6 * tokens, *rest), (x, np.tile(tokens[0], (3, 1)), *rest)]


def row_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Return γ of all products and sums, in proportion to the squares before any cancellation.

    A sum of m products of floats is off by at most γ_m times the sum of their absolute values. The
    longest way to the answer goes through all pairs of tokens, n² differences of d components, and
    what cancels in any way is at most four times the sum of the squares.
    """
    x, tokens, std_q, std_k, _ = arguments
    n, width = tokens.shape
    squares = float(np.sum(tokens**2)) * n / (n - 1)
    return 4 * (n * n * width + 20) * eps * (std_q * std_k) ** 2 * float(x @ x) * squares


def mean_cosine(tokens: np.ndarray) -> float:
    """Return the average cosine between different tokens."""
    units = tokens / np.linalg.norm(tokens, axis=-1, keepdims=True)
    n = len(tokens)
    return float((np.sum(units @ units.T) - n) / (n * (n - 1)))


ROW_START = Check(
    "row-start",
    row_variance=Function(
        "row_variance(x, tokens, std_q, std_k, d_k), which returns the expected variance "
        "within the row",
        row_variance,
        draw_rows,
        row_room,
        mistakes={
            (
                lambda x, tokens, std_q, std_k, _: (
                    (std_q * std_k) ** 2 * (x @ x) * np.mean(np.sum(tokens**2, axis=1))
                )
            ): "This is the mean square of the logits: "
            "it counts what the whole row shares. Take the mean of the tokens away first.",
            (lambda *row: row_variance(*row) * (len(row[1]) - 1) / len(row[1])): "You divided by "
            "n; the variance has n − 1 below.",
            (lambda *row: row_variance(*row) * row[-1]): "This is the variance of the scores "
            "before the division by √dₖ.",
            (lambda *row: row_variance(*row) * np.sqrt(row[-1])): "You divided the "
            "variance by √dₖ. "
            "The scores are divided by it, so their variance is divided by its square.",
            (lambda *row: row_variance(*row) / row[-1]): "The sum over dₖ components is missing: "
            "it makes the variance dₖ times as large, and the division takes just that away.",
            (lambda x, tokens, *stds: row_variance(x, tokens, *np.sqrt(stds))): "std_q and std_k "
            "are standard deviations; square them.",
            (lambda *row: row_variance(*row) / np.linalg.norm(row[0])): "You took the length of "
            "the query's token; square it.",
            (lambda x, *row: row_variance(x, *row) / (x @ x) * len(x)): "You gave the query's "
            "token the squared length d_model. Here it has its own.",
            (lambda x, tokens, q, k, _: (q * k * len(x)) ** 2 * (1 - mean_cosine(tokens))): "The "
            "factor 1 − r is for tokens that all have the squared length d_model. "
            "Go back to the differences between tokens, from which it came.",
            (lambda *row: np.sqrt(row_variance(*row))): "This is the standard deviation; "
            "square it.",
        },
    ),
    everything=Number(
        "the factor for the variance over everything",
        4,
        mistakes={
            1: "The bias makes tokens longer: their squared length is no longer d_model.",
            2: "This is right for the queries. The keys are made of longer tokens, too.",
            16: "The squared length doubles at a right angle, not the length.",
        },
    ),
    row=Number(
        "the factor for the variance within a row",
        2,
        mistakes={
            1: "For the keys you are right. The query is made of a longer token, too.",
            4: "The bias is the same in all tokens of the row. "
            "What does it do to the difference of two keys?",
            0: "Only what the bias adds to the keys cancels in the row; "
            "what the tokens differ by stays.",
        },
        praise="What all keys share cancels, and what the query gains does not.",
    ),
)

TERMS_WIDTH, TIED_HEAD, TIED_WIDTH = 512, 64, 128


def tied_moments(x: np.ndarray, y: np.ndarray, std: float, d_k: int) -> np.ndarray:
    """Return mean and variance of the divided logit of two tokens if both matrices are one."""
    product = float(x @ y)
    variance = std**4 * (float(x @ x) * float(y @ y) + product**2)
    return np.array([np.sqrt(d_k) * std**2 * product, variance])


def draw_tied(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return pairs of tokens of all lengths: unrelated, similar, at a right angle, and equal."""
    calls: list[tuple[Any, ...]] = []
    for width, d_k, cosine in [(1, 1, 0.0), (5, 3, 0.0), (16, 8, 0.7), (24, 64, -0.5), (9, 4, 0.3)]:
        x, e = rng.standard_normal((2, width))
        y = rng.uniform(0.5, 3) * (cosine * x + np.sqrt(1 - cosine**2) * e)
        calls.append((x, y, rng.uniform(0.05, 2), d_k))
    x, y, std, d_k = calls[2]
    right_angle = (np.array([3.0, 0.0, 4.0]), np.array([0.0, 2.0, 0.0]), 0.7, 6)
    return [*calls, right_angle, (x, x, std, d_k), (1e6 * x, 1e6 * y, std, d_k)]


def tied_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Return γ_{2d+12} of the absolute sums behind the mean and the variance.

    x·y is off by at most γ_d times the sum of |x_e y_e|, which is at most ‖x‖‖y‖; its square by
    twice as much. A dozen further products, roots and sums take one rounding each.
    """
    x, y, std, d_k = arguments
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    sizes = np.array([np.sqrt(d_k) * std**2 * lengths, 2 * std**4 * lengths**2])
    return (2 * len(x) + 12) * eps * sizes


def untied(x: np.ndarray, y: np.ndarray, std: float, _d_k: int) -> np.ndarray:
    """Return the moments for two matrices that are independent."""
    return np.array([0.0, std**4 * float(x @ x) * float(y @ y)])


def for_normalized(x: np.ndarray, y: np.ndarray, _std: float, d_k: int) -> np.ndarray:
    """Return the moments for normalized tokens with this cosine, and unit variance."""
    cosine = float(x @ y) / float(np.linalg.norm(x) * np.linalg.norm(y))
    return np.array([np.sqrt(d_k) * cosine, 1 + cosine**2])


TIED = Check(
    "tied",
    terms=Number(
        "the number of terms whose mean is not zero",
        3 * TERMS_WIDTH**2 - 2 * TERMS_WIDTH,
        mistakes={
            3 * TERMS_WIDTH**2: "There are three ways to pair the four, "
            "but all four equal belongs to each of them, and you counted it three times.",
            3 * TERMS_WIDTH * (TERMS_WIDTH - 1): "Those with all four equal are missing: "
            "the mean of a fourth power is not zero.",
            TERMS_WIDTH**2: "This is right for two different matrices, "
            "where only e = f and g = h pairs them. One matrix has more ways to pair four entries.",
            TERMS_WIDTH: "You counted those with all four equal only. "
            "Two and two equal do not average out either.",
            TERMS_WIDTH**4: "These are all terms; most of them average out.",
        },
        digits=6,
        within=0.5,
        why="The answer is a whole number.",
    ),
    moments=Function(
        "moments(x, y, std, d_k), which returns the array [mean, variance] of the divided logit",
        tied_moments,
        draw_tied,
        tied_room,
        mistakes={
            untied: "This is for independent matrices. "
            "With one matrix for both the key is made of the same numbers as the query.",
            (lambda *pair: np.array([tied_moments(*pair)[0], untied(*pair)[1]])): "Your mean is "
            "right. The variance misses a way to pair the four entries.",
            (
                lambda *pair: tied_moments(*pair) + [0, 1] * (tied_moments(*pair) - untied(*pair))
            ): "Your mean is right. "
            "The variance has (x·y)² once too often: take the square of the mean away.",
            (
                lambda *pair: np.add(tied_moments(*pair), [0, tied_moments(*pair)[0] ** 2])
            ): "Your mean is right. "
            "The second number is the mean square; take the square of the mean away.",
            (lambda *pair: tied_moments(*pair) * [np.sqrt(pair[-1]), pair[-1]]): "These are the "
            "moments of the score; divide it by √dₖ.",
            (lambda *pair: tied_moments(*pair) * [1, pair[-1]]): "Your mean is right. "
            "The variance is that of the score before the division.",
            (lambda *pair: tied_moments(*pair) / [np.sqrt(pair[-1]), pair[-1]]): "These are the "
            "moments for one component; there are dₖ of them.",
            (lambda x, y, std, d_k: tied_moments(x, y, np.sqrt(std), d_k)): "std is the standard "
            "deviation of an entry; the variance is its square.",
            (lambda *pair: tied_moments(*pair) ** [1, 0.5]): "Your mean is right. "
            "The second number is the standard deviation; square it.",
            for_normalized: "This is for tokens of squared length d_model and entries of variance "
            "1/d_model; here x, y and std are what they are.",
            (lambda *pair: tied_moments(*pair)[::-1]): "Mean and variance have changed places.",
        },
    ),
    own=Number(
        "the variance of a token's logit with itself",
        2,
        mistakes={
            1: "This is right for two different matrices. Put y = x into your formula.",
            2 * TIED_HEAD: "This is the variance of the score; the logit is divided by √dₖ.",
            math.sqrt(TIED_HEAD): "This is the mean of the logit, not its variance.",
            TIED_HEAD + 2: "This is the mean square; take the square of the mean away.",
            3: "This is the mean square of one squared component; its mean is not zero.",
        },
    ),
    others=Number(
        "the mean square of the logit with another token",
        1 + (TIED_HEAD + 1) / (TIED_WIDTH - 1),
        mistakes={
            1: "This would be right at a right angle. Random tokens have a small cosine.",
            1 + 1 / (TIED_WIDTH - 1): "This is the variance for a given pair, on average; "
            "the square of the mean adds to it.",
            1 + TIED_HEAD / (TIED_WIDTH - 1): "The square of the mean is in it, "
            "but not what the cosine adds to the variance.",
            1 + (TIED_HEAD + 1) / TIED_WIDTH: "The normalization takes the mean of the components "
            "away: in how many directions can a token still point?",
            2 + TIED_HEAD: "This is a token's logit with itself, cosine one.",
        },
        digits=4,
    ),
    law=Pick(
        "what changes if the entries are uniform with the same variance",
        "the variance",
        {
            "the mean": "The mean uses products of two entries, so their variance is enough.",
            "the variance": "It contains fourth powers, whose mean for a uniform law is not "
            "three times the squared variance.",
            "both": "The mean uses products of two entries, so it stays.",
            "neither": "What is the mean of the fourth power of a uniform number?",
        },
    ),
)
