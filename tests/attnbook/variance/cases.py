"""Answers to the exercises of the chapter on variance."""

import math
from fractions import Fraction

import numpy as np
from scipy import integrate, linalg, stats

from attnlib import general_score_moments
from tests.attnbook.cases import Answers, Cases

VARIANCES_Q = [4] * 32 + [0.25] * 64
VARIANCES_K = [4] * 64 + [0.25] * 32
BOTH = general_score_moments(np.diag(VARIANCES_Q), np.diag(VARIANCES_K))[1]

MEAN = integrate.quad(lambda x: x * stats.norm.pdf(x), 0, 20)[0]
VARIANCE = integrate.quad(lambda x: x**2 * stats.norm.pdf(x), 0, 20)[0] - MEAN**2
ONE = np.eye(64)
CENTER, TOTAL = general_score_moments(VARIANCE * ONE, VARIANCE * ONE, mean_q=MEAN, mean_k=MEAN)
WITHIN = general_score_moments(VARIANCE * ONE, VARIANCE * ONE, mean_q=MEAN)[1]


def fades(d_k, gamma):
    return linalg.toeplitz(gamma ** np.arange(d_k))


def trace(d_k, gamma_q, gamma_k):
    return np.einsum("ij,ji->", fades(d_k, gamma_q), fades(d_k, gamma_k))


def plain_loops(d_k, gamma_q, gamma_k):
    total = 0.0
    for i in range(d_k):
        for j in range(d_k):
            total += gamma_q ** abs(i - j) * gamma_k ** abs(i - j)
    return total


def closed_form(d_k, gamma_q, gamma_k):
    g = gamma_q * gamma_k
    if g == 1:
        return d_k**2
    return d_k * (1 + g) / (1 - g) - 2 * g * (1 - g**d_k) / (1 - g) ** 2


def with_the_package(d_k, gamma_q, gamma_k):
    return general_score_moments(fades(d_k, gamma_q), fades(d_k, gamma_k))[1]


def exact(d_k, gamma_q, gamma_k):
    g = Fraction(gamma_q) * Fraction(gamma_k)
    return d_k + 2 * sum((d_k - m) * float(g) ** m for m in range(1, d_k))


def terms(count):
    """Sum g^m over the distances m from 1 on, as often as `count` says."""

    def total(d_k, gamma_q, gamma_k):
        return d_k + sum(count(d_k, m) * (gamma_q * gamma_k) ** m for m in range(1, d_k))

    return total


UNEQUAL_CASES = Cases(
    "unequal",
    variance=Answers(
        [BOTH, 546, Fraction(546), sum(np.multiply(VARIANCES_Q, VARIANCES_K))],
        (23.4, "standard deviation"),
        (396, "mean variances"),
        (408, "You added the two"),
        (32 * 256 + 32 + 32 / 256, "squares already"),
        (144 * 264, "mixed terms"),
        (168, "added standard deviations"),
        (96, "variance one"),
        (64, "one kind"),
        (32, "one kind"),
        (144, "one vector"),
        (264, "one vector"),
        (512, "left out"),
        (544, "left out"),
        (540, "too small"),
    ),
    divisor=Answers(
        [BOTH**0.5, 23.4, np.float32(23.367)],
        (546, "by its square"),
        (9.80, "√dₖ"),
        (19.9, "product of mean variances"),
        (546**-0.5, "multiplier"),
    ),
    order=Answers(
        ["large against small", "Large against small"],
        ("large against large", "largest"),
        ("any: the order does not matter", "Exchange"),
        ("small", "none of the options"),
    ),
)

RECTIFIED_CASES = Cases(
    "rectified",
    center=Answers(
        [CENTER, 10.2, 32 / math.pi, np.float32(10.186)],
        (0, "before the components were rectified"),
        (0.159, "one product"),
        (25.5, "alone"),
        (128 / math.pi, "mean of |x|"),
        (32, "mean of a square"),
    ),
    total=Answers(
        [TOTAL, 14.4, 16 * (1 - 1 / math.pi**2)],
        (64, "before the components"),
        (16, "has to come off"),
        (64 * 0.34085**2, "mean zero in both"),
        (10.9, "part within a row"),
        (TOTAL + CENTER**2, "mean square of q·k"),
        (16 - CENTER**2, "never negative"),
        (3.79, "standard deviation"),
    ),
    within=Answers(
        [WITHIN, 10.9, 16 * (1 - 1 / math.pi), np.array([10.907])],
        (14.4, "all of the variance"),
        (3.47, "between rows"),
        (7.435, "mean of the query"),
        (32, "squared length of a query"),
        (16, "its variance counts"),
    ),
)

FADING_CASES = Cases(
    "fading",
    pairs=Answers(
        [sum(abs(i - j) == 3 for i in range(64) for j in range(64)), 122.0, np.int32(122)],
        (61, "counted each pair once"),
        (128, "both sides"),
        (124, "too many"),
        (120, "too few"),
    ),
    limit=Answers(
        [1.64 / 0.36, 4.56, Fraction(41, 9), trace(4000, 0.8, 0.8) / 4000],
        (9, "summed γ^m"),
        (1 / 0.36, "both sides"),
        (2 / 0.36, "diagonal twice"),
        (1.28 / 0.36, "diagonal is missing"),
        (1, "without correlations"),
        (2.13, "standard deviations"),
    ),
    growth=Answers(
        ["like d_k", "Like d_k"],
        ("like d_k squared", "tied"),
        ("like the root of d_k", "standard deviation"),
    ),
    score_variance=Answers(
        [
            closed_form,
            trace,
            plain_loops,
            with_the_package,
            exact,
            lambda *arguments: np.float32(closed_form(*arguments)),
        ],
        (terms(lambda d_k, m: d_k - m), "counted each mixed product once"),
        (lambda d_k, a, b: trace(d_k, a, b) - d_k, "diagonal is missing"),
        (lambda d_k, a, b: 2 * sum((d_k - m) * (a * b) ** m for m in range(d_k)), "diagonal twice"),
        (lambda d_k, a, _: trace(d_k, a, a), "gamma_q for both"),
        (lambda d_k, a, _: fades(d_k, a).sum(), "left out the keys"),
        (lambda d_k, a, b: trace(d_k, abs(a), abs(b)), "lost the signs"),
        (lambda d_k, a, b: abs(trace(d_k, a, b)) ** 0.5, "standard deviation"),
        (lambda d_k, a, b: d_k * (2 / (1 - a * b) - 1) if a * b != 1 else np.inf, "very wide head"),
        (terms(lambda d_k, _: 2 * d_k), "same number of pairs"),
        (lambda d_k, a, b: (fades(d_k, a) @ fades(d_k, b)).sum(), "entries of the matrix"),
        (lambda d_k, *_: d_k, "theorem without correlations"),
        (
            lambda d_k, a, b: np.trace(fades(d_k, a)) * np.trace(fades(d_k, b)),
            "multiplied the traces",
        ),
        (terms(lambda d_k, m: 2 * (d_k - m) * (m < 300)), "the number is off"),
        (
            lambda d_k, a, b: (
                d_k**2 if a * b == 1 else terms(lambda d_k, m: 2 * (d_k - m) * (m < 400))(d_k, a, b)
            ),
            "the number is off",
        ),
        (terms(lambda d_k, m: 2 * (d_k - m + 1)), "the number is off"),
        (terms(lambda d_k, m: 2 * (d_k - m - 1)), "the number is off"),
        (lambda d_k, a, b: trace(d_k, a, -b), "the number is off"),
        (lambda d_k, a, b: trace(d_k, a, b).round(3), "the number is off"),
        (
            lambda d_k, a, b: (
                d_k * (1 + a * b) / (1 - a * b)
                - 2 * a * b * (1 - (a * b) ** d_k) / np.float64(1 - a * b) ** 2
            ),
            "raised ZeroDivisionError",
        ),
    ),
)
