"""Answers to the exercises of the chapter on the divisor."""

import math
from fractions import Fraction

import numpy as np

from tests.attnbook.cases import Answers, Cases


def by_blocks(w_q, b_q, n_heads):
    """Fold one head after the other, as lists."""
    d_k = len(b_q) // n_heads
    rows = [*w_q.tolist(), b_q.tolist()]
    return [[entry * d_k**-0.5 for entry in row] for row in rows]


def by_numbers(numbers):
    """Return the plain function that is given weights, bias and what to multiply both by."""
    return lambda w_q, b_q, n: np.concatenate([w_q, b_q[None]]) * numbers(w_q, n)


def by_sum(tau, rho, d_k):
    """Add up what one component brings."""
    return np.sum(np.full(d_k, rho / tau) - 0.5 * np.square(1 / tau))


def in_vain(logarithm, exponential):
    """Return the two ways through exponentials, which overflow."""
    return (
        lambda tau, rho, d_k: logarithm(
            exponential(rho * d_k / tau) / exponential(d_k / (2 * tau**2))
        ),
        lambda tau, rho, d_k: logarithm(exponential((rho - 0.5 / tau) * d_k / tau)),
    )


TELL_DIVISOR_CASES = Cases(
    "tell-divisor",
    a=Answers(
        [5, 8 / 1.6, 16 / 3.2, np.float32(5), [5.0], Fraction(5)],
        (40, "the variance of a score"),
        (25, "This is the square"),
        (12.8, "in inverse proportion"),
        (0.2, "one over it"),
        (8, "too large"),
    ),
    b=Answers(
        [40, 2.5 * 256**0.5, np.int64(40), 16 / 0.4],
        (16, "would be one"),
        (6.4, "in inverse proportion"),
        (640, "the variance of a score"),
        (1600, "This is the square"),
        (20, "at the other width"),
        (2.5, "ratio to √dₖ"),
        (4, "too small"),
    ),
    c=Answers(
        [144, 576 / 4, 64 * 9 / 4, np.array([144])],
        (48, "would leave the spread"),
        (64, "divisor at a width of 256"),
        (16, "divisor at a width of 64"),
        (576, "1/√dₖ"),
        (24, "would be one"),
        (256, "once more fourfold"),
        (300, "too large"),
    ),
    d=Answers(
        ["it subtracts the largest score", "It subtracts  the largest score"],
        ("it divides by √dₖ", "one at both widths"),
        ("it divides by dₖ", "fall with the width"),
        ("it divides by 2", "half of this"),
        ("nothing", "none of the options"),
    ),
)

FOLD_BIAS_CASES = Cases(
    "fold-bias",
    each=Answers(
        [0.25, 256 ** (-1 / 4), Fraction(1, 4), np.array(0.25)],
        (1 / 16, "divided by dₖ"),
        (1 / 8, "they do not add"),
        (4, "one over it"),
        (-0.25, "sign"),
    ),
    kernel=Answers(
        [0.125, 1 / 8, 64**-0.5, [0.125]],
        (8, "larger or smaller"),
        (1 / 64, "divides once more"),
        (1, "As they are"),
        (1 / 16, "too small"),
    ),
    fold=Answers(
        [
            lambda w_q, b_q, n: np.vstack([w_q, b_q]) / np.sqrt(len(b_q) // n),
            lambda w_q, b_q, n: np.float32(np.vstack([w_q, b_q]) / np.sqrt(len(b_q) / n)),
            by_blocks,
            by_numbers(lambda w_q, n: np.sqrt(n / w_q.shape[1])),
            lambda w_q, b_q, n: (
                np.vstack([w_q, b_q]).astype(np.longdouble) / (len(b_q) // n) ** 0.5
            ),
            lambda w_q, b_q, n: np.vstack(
                [
                    np.einsum("dnk->dnk", m.reshape(-1, n, len(b_q) // n)).reshape(len(m), -1)
                    * (len(b_q) / n) ** -0.5
                    for m in (w_q, b_q[np.newaxis])
                ]
            ),
        ],
        (
            lambda w_q, b_q, n: np.vstack([w_q / np.sqrt(len(b_q) / n), b_q]),
            "The bias was not folded",
        ),
        (by_numbers(lambda w_q, n: (w_q.shape[1] / n) ** 0.5), "You multiplied"),
        (by_numbers(lambda w_q, _n: w_q.shape[1] ** -0.5), "all columns"),
        (by_numbers(lambda w_q, _n: w_q.shape[0] ** -0.5), "the model width"),
        (by_numbers(lambda w_q, n: (n / w_q.shape[0]) ** 0.5), "width over heads"),
        (by_numbers(lambda _w_q, n: n**-0.5), "number of heads"),
        (by_numbers(lambda w_q, n: n / w_q.shape[1]), "the root is missing"),
        (by_numbers(lambda w_q, n: (n / w_q.shape[1]) ** 0.25), "the keys stay"),
        (lambda w_q, b_q, n: w_q / (len(b_q) / n) ** 0.5, "one more row"),
        (by_numbers(lambda _w_q, _n: 1 / 2), "calls are wrong"),
        (by_numbers(lambda _w_q, _n: 1), "calls are wrong"),
        (lambda w_q, b_q, n: np.vstack([b_q, w_q]) / (len(b_q) / n) ** 0.5, "calls are wrong"),
        (lambda w_q, b_q, n: np.vstack([w_q, b_q]).T / (len(b_q) / n) ** 0.5, "is wanted"),
        (lambda w_q, b_q, n: np.vstack([w_q, b_q]) // (len(b_q) / n) ** 0.5, "are off"),
        (lambda w_q, b_q, n: w_q.__itruediv__((len(b_q) / n) ** 0.5), "changes its input"),
        (lambda w_q, _b_q: w_q, "TypeError"),
        (lambda _w_q, _b_q, _n: None, "returned None"),
    ),
)

STAND_OUT_CASES = Cases(
    "stand-out",
    rival=Answers(
        [np.exp(0.5), 1.65, np.sqrt(np.e), np.float32(1.6487)],
        (1, "high logits gain more"),
        (2.718, "the half is missing"),
        (0.5, "the logarithm"),
        (1.5, "too small"),
        (1.65524, "too large"),
    ),
    log_advantage=Answers(
        [
            lambda tau, rho, d_k: rho * d_k / tau - d_k / (2 * tau**2),
            by_sum,
            lambda tau, rho, d_k: d_k * (rho**2 - (1 / tau - rho) ** 2) / 2,
            lambda tau, rho, d_k: np.array([(rho - 0.5 / tau) * d_k / tau])[0],
            lambda tau, rho, d_k: (2 * rho * tau - 1) * d_k / 2 / tau / tau,
        ],
        (lambda tau, rho, d_k: rho * d_k / tau, "the random keys are missing"),
        (lambda tau, rho, d_k: rho * d_k / tau - d_k * tau**-2, "half of it"),
        (lambda tau, rho, d_k: d_k / tau * (rho - 0.5), "the square of τ"),
        (lambda _tau, rho, d_k: rho * d_k**0.5, "which no divisor changes"),
        (lambda tau, rho, d_k: d_k * tau * (rho - tau / 2), "You multiplied"),
        (
            lambda tau, rho, d_k: rho * d_k / tau - (rho / tau) ** 2 * d_k / 2,
            "of the aligned key too",
        ),
        (lambda tau, rho, d_k: np.exp(d_k / tau * (rho - 1 / (2 * tau))), "This is A"),
        (lambda tau, rho, d_k: d_k / tau * (rho + 1 / (2 * tau)), "wrong sign"),
        *((way, "no float any more") for way in in_vain(np.log, np.exp)),
        *((way, "no float any more") for way in in_vain(math.log, math.exp)),
        (lambda tau, rho, d_k: rho * d_k / tau - 0.5, "calls are wrong"),
        (lambda tau, rho, d_k: rho * d_k / tau - d_k**2 / (2 * tau**2), "calls are wrong"),
        (lambda _tau, _rho, _d_k: 0.0, "calls are wrong"),
        (lambda rho, tau, d_k: rho * d_k / tau - d_k / (2 * tau**2), "raised ZeroDivisionError"),
        (lambda tau, rho, d_k: [rho * d_k / tau - d_k / (2 * tau**2)], "is wanted"),
    ),
    best=Answers(
        [5, 5.0, 1 / 0.2, np.float32(5)],
        (8, "at a width of 64"),
        (64, "This is dₖ"),
        (0.2, "one over it"),
        (10, "the half"),
        (2.5, "A is one"),
        (25, "a power of τ"),
        (4, "too small"),
    ),
    wider=Answers(
        ["it stays", " It stays"],
        ("it doubles", "what √dₖ does"),
        ("it grows fourfold", "what dₖ does"),
    ),
    width=Answers(
        [347, 347.0, np.int64(347), np.ceil(2 * np.log(1024) / 0.2**2)],
        (346, "a little below"),
        (2 * np.log(1024) / 0.2**2, "a whole number"),
        (346.6, "a whole number"),
        (174, "is half of"),
        (70, "Square it"),
        (500, "base two"),
        (151, "base ten"),
        (1381, "gets there earlier"),
        (348, "too large"),
    ),
)
