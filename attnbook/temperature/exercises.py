"""The exercises of the chapter on temperature."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick
from attnlib.softmax import softmax

LEAD = 7 - 5
ODDS = 9

WANTED_ODDS = Check(
    "odds",
    temperature=Number(
        "the temperature that makes the odds nine to one",
        LEAD / math.log(ODDS),
        mistakes={
            math.log(ODDS) / LEAD: "This is what multiplies the scores; τ divides them.",
            LEAD / math.log(ODDS + 1): "Odds of nine to one are a ratio of 9, not of 10.",
            LEAD / math.log10(ODDS): "Softmax has the base e, so take the natural logarithm.",
            LEAD / ODDS: "The lead over τ is the logarithm of the odds, not the odds.",
        },
    ),
    halved=Number(
        "the odds at half of that temperature",
        ODDS**2,
        mistakes={
            2 * ODDS: "Halving τ doubles the logarithm of the odds, not the odds.",
            math.sqrt(ODDS): "You turned the other way: a lower temperature is sharper.",
            ODDS / 2: "Halving τ does not halve the odds: look at their logarithm.",
            ODDS**2 / (1 + ODDS**2): "This is the weight of the first key; we want its odds.",
        },
        praise="Halving the temperature squares every odds.",
    ),
    doubled=Number(
        "the weight of the first key at twice that temperature",
        math.sqrt(ODDS) / (1 + math.sqrt(ODDS)),
        mistakes={
            math.sqrt(ODDS): "These are the odds; we want the weight.",
            1 / (1 + math.sqrt(ODDS)): "This is the weight of the second key.",
            ODDS**2 / (1 + ODDS**2): "You turned the other way: a higher temperature is softer.",
            (ODDS / 2) / (1 + ODDS / 2): "Doubling τ halves the logarithm of the "
            "odds, not the odds.",
        },
    ),
)

KEYS, WIDTH, SHARE = 1024, 64, 0.9
SUM = math.log(KEYS - 1) + math.log(SHARE / (1 - SHARE))
"""By how much the match has to lead rivals that are all equal."""
COUNTED = math.log(KEYS) + math.log(SHARE / (1 - SHARE))
"""The same with the match among its own rivals."""
SCATTERED = WIDTH * (1 - math.sqrt(1 - 2 * SUM / WIDTH))
COUNTED_WORDS = "You counted the match among its rivals: there are 1023 of them."
THREE_DIGITS = "To three digits this is right; give five, which tell 1023 rivals from 1024."


def gain(weight: float, n_keys: int, cosine: float) -> float:
    """Return the g at which a cosine of one has the weight among equal rivals."""
    return float((math.log(n_keys - 1) + math.log(weight) - math.log1p(-weight)) / (1 - cosine))


def gain_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Add up the roundings of the three logarithms and of what is inside them.

    A logarithm has the relative error u = eps/2, and passes the relative error of its argument on
    as an absolute one: a few u, and u/(1 - w) from a reader's 1/w - 1. The denominator and the
    division add three relative errors.
    """
    weight, n_keys, cosine = arguments
    size = abs(math.log(n_keys - 1)) + abs(math.log(weight)) + abs(math.log1p(-weight))
    return 4 * eps * (size + 1 + 1 / (1 - weight)) / (1 - cosine)


def draw_gains(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw weights from even to nearly one, short and long rows, near and far rivals."""
    drawn = [
        (float(rng.uniform(0.6, 0.99)), int(rng.integers(3, 5000)), float(rng.uniform(-0.9, 0.9)))
        for _ in range(8)
    ]
    return [(0.75, 2, 0.0), (0.5, 17, 0.5), (0.999, 10**6, -0.95), (0.2, 9, 0.25), *drawn]


def logit(weight: float) -> float:
    """Return the logarithm of the odds."""
    return math.log(weight / (1 - weight))


NEEDED_GAIN = Check(
    "needed-gain",
    least=Number(
        "the smallest gain at which any row of 1024 keys can hold the weight 0.9",
        SUM / 2,
        mistakes={
            COUNTED / 2: COUNTED_WORDS,
            round(SUM / 2, 2): THREE_DIGITS,
            SUM: "That is for rivals at a right angle. A rival can be farther away.",
            SUM / 4: "A match and its opposite differ by twice the gain, not four times.",
            math.log(KEYS - 1) / 2: "At this gain the match can have half of the weight.",
        },
        digits=5,
    ),
    needed=Number(
        "the gain at which a perfect match among rivals at a right angle has the weight 0.9",
        SUM,
        mistakes={
            COUNTED: COUNTED_WORDS,
            round(SUM, 2): THREE_DIGITS,
            SUM / 2: "That is for rivals opposite to the query; here their cosine is 0.",
            math.log(KEYS - 1): "At this gain the match has half of the weight.",
            math.log(SHARE / (1 - SHARE)): "That beats one rival; there are 1023 of them.",
            SUM / math.sqrt(WIDTH): "This multiplies √dₖ times the cosine; "
            "the gain multiplies the cosine itself.",
        },
        digits=5,
    ),
    scattered=Number(
        "the gain at which a perfect match among random rivals has the weight 0.9",
        SCATTERED,
        mistakes={
            WIDTH * (1 - math.sqrt(1 - 2 * COUNTED / WIDTH)): COUNTED_WORDS,
            round(SCATTERED, 2): THREE_DIGITS,
            SUM: "The rivals scatter: the mean of their exponentials is larger than one.",
            WIDTH * (1 + math.sqrt(1 - 2 * SUM / WIDTH)): "This is the other root of the quadratic "
            "equation; a smaller gain does it.",
            WIDTH * (math.sqrt(1 + 2 * SUM / WIDTH) - 1): "A sign is wrong: "
            "scattered rivals ask for more gain, not for less.",
            WIDTH / 2 * (1 - math.sqrt(1 - 4 * SUM / WIDTH)): "The mean of the exponential of a "
            "normal number takes half of its variance.",
        },
        digits=5,
    ),
    gain=Function(
        "gain(weight, n_keys, cosine), the gain for rivals of one cosine",
        gain,
        draw_gains,
        gain_room,
        mistakes={
            (lambda w, n, r: (math.log(n) + logit(w)) / (1 - r)): "You counted the match among its "
            "rivals: there are n − 1 of them.",
            (lambda w, n, r: math.log(n - 1) / (1 - r)): "This gives the match half of the weight; "
            "the weight asked does not enter.",
            (lambda w, n, r: math.log(n - 1) + logit(w)): "The match leads by the gain times 1 − "
            "cosine; the rivals' cosine is missing.",
            (lambda w, n, r: (math.log(n - 1) + logit(w)) / (1 + r)): "The sign of the rivals' "
            "cosine is wrong: near rivals ask for more gain.",
            (lambda w, n, r: (math.log(n - 1) + math.log(w)) / (1 - r)): "You took the weight for "
            "its odds: the weight over one minus the weight.",
            (lambda w, n, r: (math.log(n - 1) - logit(w)) / (1 - r)): "The odds are upside down: "
            "a larger weight asks for more gain.",
            (lambda w, n, r: logit(w) / (1 - r)): "That beats one rival; "
            "the number of keys does not enter.",
            (lambda w, n, r: (math.log(n - 1) + logit(w)) / (1 - r) / math.log(10)): "Softmax has "
            "the base e, so take natural logarithms.",
        },
    ),
)


def moments(scores: np.ndarray, tau: float) -> tuple[float, float]:
    """Return mean and variance of the scores under the weights softmax(scores/τ)."""
    weights = softmax(scores / tau)
    mean = float(weights @ scores)
    return mean, float(weights @ (scores - mean) ** 2)


def slope(scores: np.ndarray, tau: float) -> float:
    """Return the derivative of the entropy of softmax(scores/τ) by ln τ."""
    return moments(scores, tau)[1] / tau**2


def slope_room(right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Bound the rounding of a variance under weights.

    With S the largest logit in absolute value, the n products of Σ p s² and their sum have the
    error γ_{n+2} S², also where the square of the mean is subtracted from it. The logits' own
    rounding, u S, changes each weight by at most 4u S of itself, and with it the variance.
    """
    scores, tau = arguments
    largest = float(np.abs(scores).max()) / tau
    return 4 * eps * ((scores.size + 8) * largest**2 + largest * float(right))


def draw_rows(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw rows short and long at low and high temperatures, also some that would overflow."""
    sizes = [(2, 1, 0.5), (3, 2, 2.0), (5, 1, 1.0), (16, 8, 8.0), (64, 3, 1.5), (9, 1000, 1.0)]
    rows = [(scale * rng.standard_normal(n), tau) for n, scale, tau in sizes]
    high, low = np.array([1000.0, 999.0]), np.array([-2000.0, -2001.0, -3000.0])  # near ties
    rows += [(high, 1.0), (low, 1.5), (np.append(np.zeros(20), high), 1.0)]
    return [*rows, (np.array([4.0]), 2.0), (np.array([3.0, 3.0, 1.0]), 0.25), (np.arange(4.0), 3.0)]


def with_moments(formula: Callable[[float, float, float], float]) -> Callable[..., float]:
    """Return the function of scores and τ that a formula makes of mean, variance and τ."""
    return lambda scores, tau: formula(*moments(scores, tau), tau)


def overflowing_slope(scores: np.ndarray, tau: float) -> float:
    """Return the derivative from exponentials without the maximum subtracted."""
    logits = scores / tau
    exponentials = np.exp(logits)
    weights = exponentials / exponentials.sum()
    return float(weights @ (logits - weights @ logits) ** 2)


def root_of_tanh(level: float) -> float:
    """Return the x at which x tanh(x/2) has a value, by bisection."""
    low, high = 0.0, level + 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) < level else (low, middle)
    return low


def spread_of_two(gap: float, power: int = 2) -> float:
    """Return p(1-p) times a power of the gap between the logits of two keys."""
    return gap**power / (4 * math.cosh(gap / 2) ** 2)


GAP = root_of_tanh(2)

COOLING = Check(
    "cooling",
    step=Pick(
        "the derivative of H by the logit sⱼ",
        "−pⱼ (ln pⱼ + H)",
        {
            "−pⱼ (ln pⱼ + H)": "Right: the sum over all j is zero, as it has to be.",
            "−pⱼ (ln pⱼ + 1)": (
                "Every weight changes with sⱼ, not only pⱼ: use the whole row of the Jacobian."
            ),
            "−ln pⱼ − 1": "This is the derivative by pⱼ; carry it back through softmax.",
            "pⱼ (1 − pⱼ)": "This is the derivative of the weight pⱼ by sⱼ.",
        },
    ),
    slope=Function(
        "slope(scores, tau), the derivative of the entropy by ln τ",
        slope,
        draw_rows,
        slope_room,
        mistakes={
            (lambda scores, tau: float(np.var(scores)) / tau**2): "You weighted all keys alike; "
            "the variance is taken under the weights p.",
            with_moments(lambda mean, variance, tau: variance / tau**3): "This is the derivative "
            "by τ; by ln τ it is τ times as large.",
            with_moments(lambda mean, variance, tau: -variance / tau**2): "The sign is wrong: "
            "a higher temperature gives a row more entropy.",
            with_moments(lambda mean, variance, tau: variance): "This is the variance of the "
            "scores; we want that of the scores over τ.",
            with_moments(lambda mean, variance, tau: variance / tau): "The variance of scores over "
            "τ has τ squared below it; you divided once.",
            (lambda scores, tau: moments(scores, 1.0)[1] / tau**2): "You took the weights of the "
            "undivided scores; divide by τ before softmax.",
            with_moments(lambda mean, variance, tau: math.sqrt(variance) / tau): "This is the "
            "standard deviation; we want its square.",
            with_moments(lambda mean, variance, tau: (variance + mean**2) / tau**2): "This is the "
            "mean square; the square of the mean has to be subtracted.",
            (lambda scores, tau: np.nan_to_num(overflowing_slope(scores, tau))): "Moderate scores "
            "come out right. Where two large ones nearly tie, the derivative is far from zero, "
            "and yours is not: subtract the largest logit and hide no overflow.",
            overflowing_slope: "Moderate scores come out right; "
            "large ones overflow. Subtract the largest logit before the exponential.",
            with_moments(lambda mean, variance, tau: variance / tau**2 / 2): "There is a half too "
            "much: differentiate p ln p again.",
        },
    ),
    sign=Pick(
        "what the entropy of a row does when the temperature rises",
        "it never falls",
        {
            "it never falls": "Right: its derivative is a variance, which is never negative.",
            "it never rises": "A higher temperature makes a row softer, not sharper.",
            "it rises in some rows and falls in others": (
                "Look at your derivative: can it have either sign?"
            ),
        },
    ),
    gap=Number(
        "the gap between the logits of two keys at which the derivative is largest",
        GAP,
        mistakes={
            root_of_tanh(1): "That maximizes the gap times p(1 − p); the gap enters squared.",
            0: "At a gap of zero the entropy is at its top and does not change at all.",
            2: "There 1/gap would be 1/2, but tanh(gap/2) is less than one.",
            math.exp(GAP) / (1 + math.exp(GAP)): "This is the larger of the two weights; "
            "we want the gap of the logits.",
        },
    ),
    most=Number(
        "the largest derivative of a row of two keys",
        spread_of_two(GAP),
        mistakes={
            1 / 4: "This is the largest p(1 − p); the squared gap belongs to it.",
            spread_of_two(root_of_tanh(1), 1): "The gap enters squared: "
            "this is the largest value with the gap itself.",
            math.sqrt(spread_of_two(GAP)): "This is the standard deviation of the logits; "
            "we want their variance.",
        },
    ),
    long_row=Number(
        "the derivative in a long random row whose logits have the standard deviation ½",
        1 / 4,
        mistakes={
            1 / 8: "This is how far the entropy is below its top; we want the derivative.",
            1 / 2: "This is the standard deviation; the derivative is a variance.",
            -1 / 4: "The sign is wrong: a higher temperature gives a row more entropy.",
            1 / 16: "You squared once too often: the standard deviation is given.",
        },
    ),
)
