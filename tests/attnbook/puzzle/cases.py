"""Answers to the exercises of the chapter on the puzzle."""

from fractions import Fraction

import numpy as np
from scipy import special

from attnlib import scaled_dot_product_attention
from tests.attnbook.cases import Answers, Cases


def logarithms(weights, tau):
    return special.softmax(np.log(weights) / tau, axis=-1)


def row_by_row(weights, tau):
    rows = weights.reshape(-1, weights.shape[-1])
    divided = [[p ** (1 / tau) for p in row] for row in rows]
    return np.reshape([[p / sum(row) for p in row] for row in divided], weights.shape)


def narrow(weights, tau):
    powers = weights.astype(np.float32) ** np.float32(1 / tau)
    return powers / powers.sum(axis=-1, keepdims=True)


def against_the_first(q, k):
    scores = np.einsum("id,jd->ij", q / np.sqrt(q.shape[1]), k - k[0])
    return special.softmax(scores, axis=1)


def with_the_package(q, k):
    _, weights = scaled_dot_product_attention(q, k - k.mean(axis=0), k, return_weights=True)
    return weights


def pair_by_pair(q, k):
    """Need no largest score: each weight is one over a sum of exponentials of gaps."""
    with np.errstate(over="ignore"):
        gaps = (k[None] - k[:, None]) @ q.T / np.sqrt(q.shape[1])
        return (1 / np.exp(gaps).sum(axis=1)).T


def exact(q, k):
    def score(query, key):
        return sum(Fraction(a) * Fraction(b) for a, b in zip(query, key, strict=True))

    rows = [[score(query, key) for key in k] for query in q]
    gaps = [[float(z - max(row)) for z in row] for row in rows]
    return special.softmax(np.array(gaps) / np.sqrt(q.shape[1]), axis=1)


def plain_softmax(logits, axis=1):
    return np.exp(logits) / np.exp(logits).sum(axis=axis, keepdims=True)


def naive(q, k):
    return special.softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1)


def largest_of_all(q, k):
    scores = q @ k.T / np.sqrt(q.shape[1])
    exponentials = np.exp(scores - np.max(scores))
    return exponentials / exponentials.sum(1)[:, None]


def only_square(q, k):
    return special.softmax(q @ (k - k[0]).T / np.sqrt(len(k)), axis=1)


WHICH_WIDTH_CASES = Cases(
    "which-width",
    divisor=Answers(
        [(1536 / 12) ** 0.5, 11.3, np.float32(11.31), [11.314]],
        (128, "its root"),
        (39.19, "model's width"),
        (8, "width of the values"),
        (45.25, "number of tokens"),
        (3.464, "number of heads"),
        (1536**0.5 / 12, "before you split"),
        (128**-0.5, "multiplied by"),
        (-11.3, "sign"),
    ),
    spread=Answers(
        [12**-0.5, 0.289, np.array(0.28868)],
        (1 / 12, "This is their variance"),
        (3.464, "too small they are"),
        (1, "right divisor"),
        (11.3, "raw scores"),
        (128 / 1536**0.5, "divided the variance"),
    ),
    wider=Answers(
        ["it stays", " It  Stays"],
        ("√2 times as large", "each head became"),
        ("twice as large", "width of a head"),
        ("√2 times as small", "as wide as before"),
        (1, "none of the options"),
    ),
)

DIVIDE_LATER_CASES = Cases(
    "divide-later",
    gap=Answers(
        [np.log(10), 2.3, 2.303, Fraction(2303, 1000)],
        (0.81, "between the weights"),
        (10, "ratio of the weights"),
        (1, "base ten"),
        (-2.303, "first key has the larger"),
        (0.288, "after the division"),
        (2.35, "too large"),
    ),
    top=Answers(
        [
            float(special.softmax(np.log([0.9, 0.09, 0.01]) / 8)[0]),
            0.431,
            0.9**0.125 / (0.9**0.125 + 0.09**0.125 + 0.01**0.125),
        ],
        (0.9, "as printed"),
        (0.1125, "divided the weight"),
        (0.987, "do not sum to one"),
        (special.softmax(np.log([0.9, 0.09, 0.01]) / 64)[0], "dividing by its root"),
        (0.9999, "sharper"),
        (special.softmax(np.array([0.9, 0.09, 0.01]) / 8)[0], "as if they were scores"),
    ),
    lost=Answers(
        ["a number that the whole row shares", "A number that the whole row shares "],
        ("the gaps between the scores", "ratio of two weights"),
        ("the order of the scores", "larger weight"),
        ("nothing", "Add one"),
    ),
    divide_later=Answers(
        [
            lambda weights, tau: row_by_row(weights, tau),
            logarithms,
            narrow,
            lambda weights, tau: logarithms(weights, tau).tolist(),
        ],
        (lambda weights, tau: np.power(weights, 1 / tau), "do not sum to one"),
        (lambda weights, tau: np.divide(weights, tau), "You divided the weights"),
        (
            lambda weights, tau: special.softmax(np.log(weights) * tau, axis=-1),
            "instead of flatter",
        ),
        (
            lambda weights, tau: special.softmax(np.log(weights) / tau**0.5, axis=-1),
            "took its root",
        ),
        (lambda weights, tau: special.softmax(weights / tau, axis=-1), "as if they were"),
        (lambda weights, tau: special.softmax(np.log(weights) / tau), "sum over all rows"),
        (lambda weights, tau: special.softmax(np.log(weights) / tau, axis=0), "first axis"),
        (lambda weights, _: weights.copy(), "as they came"),
        (lambda weights, _: logarithms(weights, 4.0), "off, first at"),
        (lambda weights, tau: row_by_row(weights, tau)[0], "shape"),
        (lambda weights, _: np.full(weights.shape, 1 / weights.shape[-1]), "off, first at"),
        (lambda weights, tau: logarithms(np.maximum(weights, 1e-12), tau), "off, first at"),
        (
            lambda weights, tau: logarithms(np.where(weights < 1e-8, 0, weights), tau),
            "off, first at",
        ),
        (
            lambda weights, tau: logarithms(np.where(weights < 1e-16, 0, weights), tau),
            "off, first at",
        ),
    ),
)

UNSEEN_CASES = Cases(
    "unseen",
    free=Answers(
        [8 * 15, 120.0, np.int64(120), Fraction(120)],
        (128, "can be changed unseen"),
        (127, "whole table"),
        (112, "each column"),
        (105, "each row and off each column"),
        (8, "stay hidden"),
        (121, "too large"),
    ),
    key_shift=Answers(
        ["no weight changes", "No weight changes"], ("weights change", "Compare the keys")
    ),
    query_shift=Answers(
        ["weights change", "WEIGHTS change"], ("no weight changes", "same for all")
    ),
    weigh=Answers(
        [
            against_the_first,
            with_the_package,
            pair_by_pair,
            exact,
            lambda q, k: against_the_first(q, k).astype(np.float32),
        ],
        (naive, "rounding eats"),
        (lambda q, k: naive(q, k).astype(np.float32), "rounding eats"),
        (
            lambda q, k: special.softmax(np.einsum("id,jd", q, k) * q.shape[1] ** -0.5, 1),
            "rounding eats",
        ),
        (lambda q, k: special.softmax(q @ k.T, axis=1), "have not divided"),
        (lambda q, k: special.softmax(q @ (k - k[0]).T, axis=1), "have not divided"),
        (lambda q, k: plain_softmax(q @ k.T), "have not divided"),
        (lambda q, k: special.softmax(q @ k.T / q.shape[1], axis=1), "dividing by its root"),
        (lambda q, k: special.softmax(q @ k.T / np.sqrt(len(k)), axis=1), "of keys"),
        (only_square, "of keys"),
        (lambda q, k: special.softmax(q @ k.T * np.sqrt(q.shape[1]), axis=1), "multiplied"),
        (lambda q, k: special.softmax(q @ k.T / np.sqrt(q.shape[1]), axis=0), "columns"),
        (lambda q, k: naive(q, k).T, "transposed"),
        (lambda q, k: with_the_package(q, k).T, "transposed"),
        (lambda q, k: plain_softmax(q @ k.T / np.sqrt(q.shape[1])), "overflow"),
        (lambda q, k: plain_softmax(q @ (k - k.mean(0)).T * q.shape[1] ** -0.5), "overflow"),
        (lambda q, k: plain_softmax(q @ (k - k[0]).T / np.sqrt(q.shape[1])), "NaN came"),
        (lambda q, k: q @ k.T / np.sqrt(q.shape[1]), "These are the logits;"),
        (lambda q, k: q @ (k - k.mean(axis=0)).T / np.sqrt(q.shape[1]), "without what they share"),
        (lambda q, k: naive(q - q.mean(axis=0), k), "what the queries share"),
        (lambda q, k: naive(q, k - k.mean()), "one number off all"),
        (lambda q, k: naive(q, k - k.mean(axis=1)[:, None]), "each key its own mean"),
        (lambda q, k: largest_of_all(q, k - k.mean(axis=0)), "whole table"),
        (largest_of_all, "whole table"),
        (
            lambda q, k: special.softmax((q @ k.T / np.sqrt(q.shape[1])).clip(-700, 700), 1),
            "off, first at",
        ),
        (lambda q, k: naive(k, q), "shape"),
        (lambda q, k: naive(q - k[0], k - k[0]), "off, first at"),
        (lambda q, k: naive(q, k.T), "raised ValueError"),
        (lambda q, k: np.full((len(q), len(k)), 1 / len(k)), "off, first at"),
        (lambda q, k: against_the_first(q, k).round(6), "off, first at"),
    ),
)
