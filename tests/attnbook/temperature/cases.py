"""Answers to the exercises of the chapter on temperature."""

import math
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import entr, logsumexp
from scipy.special import softmax as reference

from tests.attnbook.cases import Answers, Cases


def two_keys(gap):
    """Return the variance of the logits of two keys, by its definition."""
    logits = np.array([0.0, gap])
    weights = reference(logits)
    return weights @ logits**2 - (weights @ logits) ** 2


PEAK = minimize_scalar(lambda gap: -two_keys(gap), bounds=(0, 10), method="bounded")
MATCHING = math.log(9 * 1023)


def by_sum(weight, n_keys, cosine):
    """Return the gain from the sum of the exponentials."""
    return np.log((n_keys - 1) * weight / (1 - weight)) / (1 - cosine)


def by_reciprocal(weight, n_keys, cosine):
    return (math.log(n_keys - 1) - math.log(1 / weight - 1)) / (1 - cosine)


def nearly_right(weight, n_keys, cosine):
    """Return what is right for weights above one half only."""
    return max(0.0, by_sum(weight, n_keys, cosine)) if weight >= 0.5 else math.nan


def two_passes(scores, tau):
    logits = np.asarray(scores) / tau
    weights = np.exp(logits - logsumexp(logits))
    return (weights * (logits - (weights * logits).sum()) ** 2).sum()


def one_pass(scores, tau):
    weights = reference(scores / tau)
    return (weights @ scores**2 - (weights @ scores) ** 2) / tau**2


def all_pairs(scores, tau):
    """Return half the mean squared difference of two keys drawn by their weights."""
    weights = reference(scores / tau)
    differences = np.subtract.outer(scores, scores) / tau
    return np.array([0.5 * (weights @ differences**2 @ weights)])


def overflowing(scores, tau):
    weights = np.exp(scores / tau) / np.exp(scores / tau).sum()
    return weights @ (scores - weights @ scores) ** 2 / tau**2


def clipped(scores, tau):
    logits = np.clip(scores / tau, -700, 700)
    weights = reference(logits)
    return weights @ (logits - weights @ logits) ** 2


def mean_subtracted(scores, tau):
    return np.nan_to_num(overflowing(scores - scores.mean(), tau))


def by_differences(scores, tau):
    low, high = (entr(reference(scores / (tau * math.exp(step)))).sum() for step in (-0.1, 0.1))
    return (high - low) / 0.2


def weighted(scores, tau, of=None):
    """Return mean and variance of the scores under the weights at another temperature."""
    weights = reference(scores / (tau if of is None else of))
    mean = (weights * scores).sum()
    return mean, (weights * scores**2).sum() - mean**2


def changing(scores, tau):
    scores /= tau
    return np.var(scores)


ODDS_CASES = Cases(
    "odds",
    temperature=Answers(
        [brentq(lambda tau: math.exp(2 / tau) - 9, 0.1, 10), 0.91, np.float32(0.91024), [0.9102]],
        (1.0986, "multiplies the scores"),
        (2 / math.log(10), "not of 10"),
        (2 / math.log10(9), "natural logarithm"),
        (2 / 9, "the logarithm of the odds"),
        (-0.910, "sign"),
    ),
    halved=Answers(
        [81, 81.0, math.exp(2 * math.log(9)), Fraction(81)],
        (18, "not the odds"),
        (3, "the other way"),
        (4.5, "does not halve"),
        (0.98780, "we want its odds"),
        (80, "too small"),
    ),
    doubled=Answers(
        [0.75, Fraction(3, 4), np.float32(0.75), 1 / (1 + 1 / 3)],
        (3, "we want the weight"),
        (0.25, "second key"),
        (81 / 82, "the other way"),
        (4.5 / 5.5, "halves the logarithm"),
        (75, "more than ten times too large"),
    ),
)

NEEDED_GAIN_CASES = Cases(
    "needed-gain",
    least=Answers(
        [
            brentq(lambda g: 1 / (1 + 1023 * math.exp(-2 * g)) - 0.9, 0, 20),
            4.5639,
            np.float32(4.563860),
        ],
        (math.log(9 * 1024) / 2, "among its rivals"),
        (4.56, "give five"),
        (4.564, "give more digits"),
        (MATCHING, "farther away"),
        (MATCHING / 4, "not four times"),
        (math.log(1023) / 2, "half of the weight"),
        (0, "too small"),
    ),
    needed=Answers(
        [brentq(lambda g: 1 / (1 + 1023 * math.exp(-g)) - 0.9, 0, 20), 9.1277, np.array(9.12772)],
        (math.log(9 * 1024), "among its rivals"),
        (9.13, "give five"),
        (MATCHING / 2, "opposite to the query"),
        (math.log(1023), "half of the weight"),
        (math.log(9), "one rival"),
        (MATCHING / 8, "the cosine itself"),
    ),
    scattered=Answers(
        [
            brentq(lambda g: math.exp(g) - 9 * 1023 * math.exp(g * g / 128), 0, 30),
            9.8922,
            min(np.roots([1 / 128, -1, MATCHING])),
        ],
        (min(np.roots([1 / 128, -1, math.log(9 * 1024)])), "among its rivals"),
        (9.89, "give five"),
        (MATCHING, "The rivals scatter"),
        (max(np.roots([1 / 128, -1, MATCHING])), "the other root"),
        (max(np.roots([1 / 128, 1, -MATCHING])), "A sign is wrong"),
        (min(np.roots([1 / 64, -1, MATCHING])), "half of its variance"),
    ),
    gain=Answers(
        [by_sum, by_reciprocal, lambda w, n, r: [by_sum(w, n, r)][0]],
        (lambda w, n, r: np.log(n * w / (1 - w)) / (1 - r), "n − 1 of them"),
        (lambda w, n, r: np.log(n - 1) / (1 - r), "does not enter"),
        (lambda w, n, r: np.log((n - 1) * w / (1 - w)), "cosine is missing"),
        (lambda w, n, r: np.log((n - 1) * w / (1 - w)) / (1 + r), "near rivals"),
        (lambda w, n, r: np.log((n - 1) * w) / (1 - r), "the weight for its odds"),
        (lambda w, n, r: np.log((n - 1) * (1 - w) / w) / (1 - r), "upside down"),
        (lambda w, n, r: np.log(w / (1 - w)) / (1 - r), "That beats one rival"),
        (lambda w, n, r: np.log10((n - 1) * w / (1 - w)) / (1 - r), "natural logarithms"),
        (nearly_right, "NaN"),
        (lambda w, n, r: 9.128, "calls are wrong"),
        (lambda n, w, r: by_sum(n, w, r) if n > 1 else 0.0, "calls are wrong"),
        (lambda w, n, r: by_sum(w, n, r) + 1e-9, "off"),
        (lambda w, n, r: math.inf, "off"),
    ),
)

COOLING_CASES = Cases(
    "cooling",
    step=Answers(
        ["−pⱼ (ln pⱼ + H)", " −pⱼ  (ln pⱼ + h) "],
        ("−pⱼ (ln pⱼ + 1)", "Every weight changes"),
        ("−ln pⱼ − 1", "derivative by pⱼ"),
        ("pⱼ (1 − pⱼ)", "of the weight"),
        ("0", "none of the options"),
    ),
    slope=Answers(
        [two_passes, one_pass, lambda z, tau: float(all_pairs(z, tau)[0])],
        (lambda z, tau: (z / tau).var(), "under the weights"),
        (lambda z, tau: weighted(z, tau)[1] / tau**3, "τ times as large"),
        (lambda z, tau: -weighted(z, tau)[1] / tau**2, "sign"),
        (lambda z, tau: weighted(z, tau)[1], "variance of the scores"),
        (lambda z, tau: weighted(z, tau)[1] / tau, "divided once"),
        (lambda z, tau: weighted(z, tau, of=1)[1] / tau**2, "undivided scores"),
        (lambda z, tau: np.sqrt(np.maximum(weighted(z, tau)[1], 0)) / tau, "standard"),
        (lambda z, tau: reference(z / tau) @ (z / tau) ** 2, "mean square"),
        (lambda z, tau: weighted(z, tau)[1] / 2 / tau**2, "half too much"),
        (overflowing, "large ones overflow"),
        (lambda z, tau: np.nan_to_num(overflowing(z, tau)), "nearly tie"),
        (lambda z, tau: two_passes(z, tau) if max(abs(z)) < 50 * tau else 0.0, "nearly tie"),
        (clipped, "nearly tie"),
        (mean_subtracted, "off"),
        (by_differences, "off"),
        (all_pairs, "shape (1,)"),
        (lambda z, tau: entr(reference(z / tau)).sum(), "calls are wrong"),
        (lambda z, tau: 0.0, "calls are wrong"),
        (changing, "changes its input"),
    ),
    sign=Answers(
        ["it never falls", "It never falls"],
        ("it never rises", "softer, not sharper"),
        ("it rises in some rows and falls in others", "either sign"),
    ),
    gap=Answers(
        [float(PEAK.x), 2.40, brentq(lambda x: x * math.tanh(x / 2) - 2, 1, 5)],
        (1.5434, "enters squared"),
        (0, "at its top"),
        (2, "less than one"),
        (0.9168, "larger of the two weights"),
        (-2.399, "sign"),
    ),
    most=Answers(
        [-float(PEAK.fun), 0.439, np.float32(0.43923)],
        (0.25, "the largest p(1 − p)"),
        (0.2239, "enters squared"),
        (0.6627, "standard deviation of the logits"),
    ),
    long_row=Answers(
        [0.25, Fraction(1, 4), 0.5**2],
        (0.125, "below its top"),
        (0.5, "is a variance"),
        (-0.25, "sign"),
        (0.0625, "once too often"),
    ),
)
