"""The chapter of exercises."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import (
    Example,
    Function,
    Number,
    Pick,
    Unfit,
    plain_array,
    received,
)
from attnbook.exercises._running import call
from attnlib.attention import scaled_dot_product_attention
from attnlib.softmax import jacobian_norm_squared, softmax

D_K = 512

SPREAD = Check(
    "spread",
    plain=Number(
        "the standard deviation of q·k",
        math.sqrt(D_K),
        mistakes={
            D_K: "This is the variance of q·k; take its square root.",
            2 * math.sqrt(D_K): "Each product has variance one, not four.",
        },
        praise="It grows like the root of the width.",
    ),
    root=Number(
        "the standard deviation of q·k/√dₖ",
        1.0,
        mistakes={
            math.sqrt(D_K): "Dividing by a constant divides the standard deviation by it.",
            D_K**0.25: "You divided by the root of √dₖ: a standard deviation takes no root.",
        },
    ),
    full=Number(
        "the standard deviation of q·k/dₖ",
        1 / math.sqrt(D_K),
        mistakes={1 / D_K: "This is the variance of q·k/dₖ; take its square root."},
    ),
)


RIVALS, HIGH, TENTH = 3, 0.99, 0.1
FLAT = (1 + math.sqrt(1 - TENTH)) / 2
"""The larger weight at which p(1-p) is a tenth of its largest value, 1/4."""


def lead_for(weight: float, rivals: int = RIVALS) -> float:
    """Return the lead at which the first key has a weight."""
    return math.log(rivals) + math.log(weight / (1 - weight))


LEAD = Check(
    "lead",
    x_half=Number(
        "the x at which p is 0.5",
        lead_for(0.5),
        mistakes={
            lead_for(0.5, 4): "The first key is no rival of its own: three others are left.",
            0: "Without a lead all four keys have the same weight, a quarter.",
            math.log10(RIVALS): "Softmax has the base e, so take the natural logarithm.",
        },
    ),
    x_nearly=Number(
        "the x at which p is 0.99, to three digits",
        lead_for(HIGH),
        mistakes={
            lead_for(HIGH, 1): "This beats one rival; there are three.",
            lead_for(HIGH, 4): "The first key is no rival of its own: three others are left.",
            math.log(RIVALS / (1 - HIGH)): "Either you took 1/(1 − p) for the odds, "
            "which are p/(1 − p), or you rounded to two digits; give three.",
            math.log10(297): "Softmax has the base e, so take the natural logarithm.",
        },
    ),
    x_flat=Number(
        "the x at which the slope has fallen to a tenth",
        lead_for(FLAT),
        mistakes={
            lead_for(1 - FLAT): "There the slope is still growing; go beyond the steepest point.",
            lead_for(FLAT, 1): "This is for one rival; there are three.",
            FLAT: "This is the weight at that point; we want the lead x.",
            lead_for((1 + math.sqrt(1 - 4 * TENTH)) / 2): "There the slope is 0.1; "
            "we want a tenth of its largest value.",
        },
    ),
    slope_left=Number(
        "the part of the largest slope that is left where p is 0.99",
        4 * HIGH * (1 - HIGH),
        mistakes={
            HIGH * (1 - HIGH): "This is the slope itself; divide it by the largest slope.",
            400 * HIGH * (1 - HIGH): "This is in percent; give a part of one.",
        },
        digits=2,
    ),
    weight_flat=Number(
        "the weight at which the slope has fallen to a tenth",
        FLAT,
        mistakes={
            1 - FLAT: "This is the other root, before the steepest point.",
            (1 + math.sqrt(1 - 4 * TENTH)) / 2: "There the slope is 0.1; "
            "we want a tenth of its largest value.",
        },
    ),
)


RATES = (0.01, 0.032, 0.1, 0.32, 1.0)
SLOW = "At this rate the arm is still far from what it can reach in 200 steps."
DIVERGED = "At this rate the loss is infinite in the end: the runs diverge."


def best_rate(arm: str, best: float, messages: tuple[str, ...]) -> Number:
    """Return the question for the best rate of an arm, with words for each other one.

    Which is best cannot be computed here in a moment; the chapter trains both arms and asserts it.
    """
    others = (rate for rate in RATES if rate != best)
    return Number(
        f"the learning rate, of the five, that is best for {arm}",
        best,
        mistakes=dict(zip(others, messages, strict=True)),
        digits=2,
        praise="It is inside the grid, so neither a smaller nor a larger rate is missing.",
    )


ABLATION = Check(
    "ablation",
    raw_rate=best_rate(
        "the arm that does not divide",
        0.1,
        (
            "At this rate, on these seeds, the arm is still above the loss of predicting zero.",
            "At this rate the arm hardly beats predicting zero; one of the others does better.",
            "At this rate the arm ends above the loss of predicting zero; it is too large.",
            DIVERGED,
        ),
    ),
    divided_rate=best_rate(
        "the arm that divides",
        0.32,
        (
            "At this rate, on these seeds, even predicting zero is better.",
            SLOW,
            "Close, but compare the mean over both seeds with that of the other rates.",
            DIVERGED,
        ),
    ),
    upper=Number(
        "a bound that the better arm's loss keeps on all five seeds with a tenth to spare, and "
        "that is at most ten times the largest loss of its first four",
        0.062,
        mistakes={1.0: "This is what predicting zero costs; the better arm is far below it."},
        within=0.05,
        why="The largest loss is 0.01102; a bound may be 1.09 to ten times that, with room for "
        "rounding it to two digits.",
        praise="Every seed keeps it, and it is tight enough to say something.",
    ),
    lower=Number(
        "a bound below which the other arm's loss does not fall on any of the five seeds, at "
        "least a third of the smallest loss of its first four",
        0.56,
        within=0.28,
        why="The smallest loss is 0.8522; a bound may be a third of it, and leaves room for "
        "rounding on another processor up to 0.84.",
        praise="Every seed keeps it, and it is far above the other arm.",
    ),
    shared=Pick(
        "the arm that is lower at the rate 0.01, on the tuning seeds",
        "the arm that does not divide",
        {
            "the arm that divides": (
                "Not at this rate: compare the ends of the runs at 0.01, seed by seed."
            ),
            "the arm that does not divide": (
                "Right: this rate alone would turn the answer around."
            ),
            "neither, they are equal": "They differ by more than the seeds do.",
        },
    ),
)


ROWS = 2000
STATISTICS = {  # mean and standard deviation over rows, measured on 200000 rows
    "top": (0.185674, 0.12097),
    "nats": (3.788832, 0.52323),
    "used_half": (49.3188, 20.0559),
    "used_usual": (157.4507, 17.3871),
    "used_double": (226.1532, 5.7563),
}
WHY = "four standard errors of a mean over 2000 rows"
KEYS = 256


def measured(wanted: str, name: str, mistakes: Mapping[float, str] = {}) -> Number:
    """Return the question for a mean over random rows; four standard errors are allowed."""
    mean, deviation = STATISTICS[name]
    within = 4 * deviation / math.sqrt(ROWS)
    return Number(wanted, mean, mistakes, within=within, why=WHY)


COLD_FORMULA = math.log(KEYS) - 2**2 / 2

TEMPERATURE = Check(
    "temperature",
    top_weight=measured(
        "the mean top weight at half of √dₖ",
        "top",
        mistakes={
            0.043168: "This is the top weight at √dₖ itself.",
            0.74533: "These rows are not divided: divide the scores by half of √dₖ.",
        },
    ),
    nats_half=measured(
        "the mean entropy in nats at half of √dₖ",
        "nats",
        mistakes={
            (STATISTICS["nats"][0] / math.log(2) + 5.420885) / 2: "Either this is in bits, "
            "and we want the natural logarithm, or you turned the other way: "
            "half of √dₖ is the lower temperature.",
            COLD_FORMULA: "This is the formula; we want the mean over random rows.",
        },
    ),
    used_half=measured(
        "the mean effective positions at half of √dₖ",
        "used_half",
        mistakes={
            226.153: "You turned the other way: half of √dₖ is the lower temperature.",
            math.exp(STATISTICS["nats"][0]): "This is the exponential of the mean entropy; "
            "average the exponentials instead.",
        },
    ),
    used_usual=measured("the mean effective positions at √dₖ", "used_usual"),
    used_double=measured(
        "the mean effective positions at twice √dₖ",
        "used_double",
        mistakes={49.3188: "You turned the other way: twice √dₖ is the higher temperature."},
    ),
    by_formula=Number(
        "what the formula gives for the entropy at half of √dₖ",
        COLD_FORMULA,
        mistakes={
            math.log(KEYS) - 1 / 8: "At half of the temperature σ is twice as large.",
            math.log(KEYS) - 1: "The formula has σ squared, and a half.",
            math.log(KEYS) - 4: "The formula takes half of σ².",
            COLD_FORMULA / math.log(2): "This is in bits; take the natural logarithm.",
        },
    ),
    fails=Pick(
        "where the formula is off by more than 0.1 nats",
        "at half of √dₖ only",
        {
            "at half of √dₖ only": "Right: there the sums over the row scatter.",
            "at half of √dₖ and at √dₖ": "At √dₖ it is off by far less than 0.1 nats.",
            "at twice √dₖ only": "At twice √dₖ the logits are nearly equal, and it fits best.",
            "nowhere": "Compare the means at the lowest temperature again.",
        },
    ),
)


def jacobian(weights: np.ndarray) -> np.ndarray:
    """Return the derivatives of the weights by the scores."""
    return weights[:, None] * (np.eye(weights.size) - weights)


def jacobian_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Allow 4 eps of the column's weight: p_j - p_i p_j is rounded twice, by eps/2 of p_j at most.

    What underflows may be off by a few of the smallest numbers of its type.
    """
    (weights,) = arguments
    tiny = np.finfo(np.float32 if eps > np.finfo(float).eps else float).tiny
    return 4 * (eps * weights + tiny)


def draw_weights(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw rows from even to one-hot, with one key and with many."""
    sizes = [(1, 1.0), (2, 1.0), (4, 0.3), (5, 3.0), (9, 30.0), (3, 900.0)]
    return [(softmax(scale * rng.standard_normal(n)),) for n, scale in sizes]


PEAKED = np.array([0.97, 0.01, 0.01, 0.01])
BETWEEN = np.array([0.3, 0.3, 0.2, 0.2])


SPREAD_OUT = "It is not a tenth above the third row: leave fewer keys in play."
DECIDED = (
    "It is not a tenth above the third row, as one key has most of the weight: let it share with "
    "another key."
)


def fault_of_row(answer: Any, _rng: np.random.Generator) -> str:
    """Say why a row is no row of weights that beats the three, or nothing."""
    weights = plain_array(answer).astype(float)
    if weights.shape != (4,):
        return "Give four weights, in one row."
    if not np.all(weights >= 0):
        return "A weight is negative, or no number at all."
    if not abs(weights.sum() - 1) <= 1e-6:
        return "Weights sum to one, and these do not."
    if float(jacobian_norm_squared(weights / weights.sum())) < 1.1 * float(
        jacobian_norm_squared(BETWEEN)
    ):
        return DECIDED if weights.max() > 0.5 else SPREAD_OUT
    return ""


JACOBIAN = Check(
    "jacobian",
    derivatives=Function(
        "derivatives(p), the matrix of all derivatives ∂pᵢ/∂sⱼ for the weights p",
        jacobian,
        draw_weights,
        jacobian_room,
        mistakes={
            (lambda p: np.diag(p * (1 - p))): "Off-diagonal entries are missing: "
            "raising one score lowers the other weights.",
            (lambda p: p * (1 - p)): "You returned the diagonal only; we want a matrix.",
            (lambda p: -np.outer(p, p)): "The diagonal lacks its first term: "
            "δᵢⱼ is one where i = j.",
            (lambda p: np.outer(p, p) - np.diag(p)): "The sign is wrong: "
            "a higher score raises its own weight.",
            (lambda p: np.eye(p.size) - p): "This is the derivative of ln pᵢ; multiply by pᵢ.",
            (lambda p: np.outer(p, 1 - p)): "In pᵢ(δᵢⱼ − pⱼ) the δ is zero off the diagonal; "
            "you put one everywhere.",
        },
    ),
    first_entry=Number(
        "the largest entry of the matrix of the peaked row",
        PEAKED[0] * (1 - PEAKED[0]),
        mistakes={
            PEAKED[0]: "This is the weight; multiply by what is left for the others.",
            PEAKED[1] * (1 - PEAKED[1]): "This is a later diagonal entry; the first one is larger.",
        },
    ),
    beside=Number(
        "an entry of the uniform row's matrix off the diagonal",
        -1 / 16,
        mistakes={
            1 / 16: "The sign is wrong: raising one score lowers the other weights.",
            3 / 16: "This is the diagonal; we want an entry off it.",
            0: "A score acts on the other weights too, as they share one sum.",
        },
    ),
    uniform_squares=Number(
        "the sum of the squares of the uniform row's matrix",
        3 / 16,
        mistakes={
            4 * (3 / 16) ** 2: "This is the diagonal's part; the other entries are missing.",
            math.sqrt(3) / 4: "This is the norm, the root of the sum; we want the sum.",
            12 / 256: "The diagonal's part is missing.",
        },
    ),
    most=Pick(
        "which of the three rows has the largest sum of squares",
        "[0.3, 0.3, 0.2, 0.2]",
        {
            "peaked": "A row that has decided hardly reacts to anything.",
            "uniform": "Nearly, but not: give both numbers four digits.",
            "[0.3, 0.3, 0.2, 0.2]": "Right, if only by a little.",
        },
    ),
    tie=Example(
        "a row of four weights whose sum of squares is a tenth above all three, or more",
        fault_of_row,
        mistakes={
            (0.25, 0.25, 0.25): "Give four weights, in one row.",
            (1.5, -0.5, 0, 0): "A weight is negative, or no number at all.",
            (0.5, 0.5, 0.5, 0.5): "Weights sum to one, and these do not.",
            (0.25, 0.25, 0.25, 0.25): SPREAD_OUT,
            (1, 0, 0, 0): DECIDED,
        },
        praise="Being undecided between few keys beats being undecided between all.",
    ),
)


COUNTED = 4
"""The width at which the surviving terms are counted."""


def kurtosis(fourth_q: float, fourth_k: float, d_k: int) -> float:
    """Return the excess kurtosis of q·k."""
    return (fourth_q * fourth_k - 3) / d_k


def kurtosis_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Allow a few roundings of the product, the difference and the quotient.

    A reader who sums the fourth moment first subtracts three from a number that is not divided
    by the width any more, so that three itself is rounded at its own size.
    """
    fourth_q, fourth_k, d_k = arguments
    return 4 * eps * ((abs(fourth_q * fourth_k) + 3) / d_k + 3)


def draw_moments(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw fourth moments, which are at least one, and widths from one on."""
    drawn = [
        (float(1 + rng.exponential(5)), float(1 + rng.exponential(5)), int(rng.integers(1, 300)))
        for _ in range(6)
    ]
    return [(3.0, 3.0, 64), (1.0, 1.0, 1), (1.0, 3.0, 7), (1e6, 2.0, 5), *drawn]


def fault_of_law(answer: Any, _rng: np.random.Generator) -> str:
    """Say why a law on a few points is not the one asked for, or nothing.

    Values may be rounded to three decimals, hence the tolerance of a hundredth.
    """
    table = plain_array(answer).astype(float)
    if table.ndim != 2 or len(table) != 2:
        return "Give two rows, values and probabilities."
    if not np.all(np.isfinite(table)):
        return "An entry is infinite, or no number at all."
    values, chances = table
    if not np.all(chances >= 0):
        return "A probability is negative."
    if not abs(chances.sum() - 1) <= 0.01:
        return "The probabilities, which are the second row, do not sum to one."
    if not abs(chances @ values) <= 0.01:
        return "Its mean is not zero."
    if not abs(chances @ values**2 - 1) <= 0.01:
        return "Its variance is not one."
    if not abs(chances @ values**4 - 3) <= 0.05:
        return "Mean and variance fit, but its fourth moment gives another kurtosis."
    return ""


KURTOSIS = Check(
    "kurtosis",
    terms_of_four=Number(
        "how many terms of E[z⁴] have four equal indices, at dₖ = 4",
        COUNTED,
        mistakes={
            COUNTED**4: "These are all terms; we want those in which i, j, l and h are equal.",
            1: "That index can be any of the dₖ.",
        },
    ),
    terms_of_pairs=Number(
        "how many terms with two different indices, twice each, survive at dₖ = 4",
        3 * COUNTED * (COUNTED - 1),
        mistakes={
            COUNTED * (COUNTED - 1): "Four places split into two pairs in more than one "
            "way; count them.",
            6 * COUNTED * (COUNTED - 1): "You counted each term twice: "
            "choosing two places chooses the other two.",
            3 * COUNTED**2: "The two indices differ: where they are equal, all four are.",
            3 * COUNTED * (COUNTED - 1) // 2: "The pairs are told apart by their places, "
            "so the order of indices counts.",
            3 * COUNTED * (COUNTED - 1) + COUNTED: "The terms with four equal indices are another "
            "group; leave them out.",
        },
        digits=4,
    ),
    excess=Function(
        "excess(m4_q, m4_k, d_k), the excess kurtosis of q·k",
        kurtosis,
        draw_moments,
        kurtosis_room,
        mistakes={
            (lambda a, b, d: a * b / d - 3): "The 3 is divided by the width, too.",
            (lambda a, b, d: (a + b - 3) / d): "The fourth moments multiply, as xᵢ = qᵢkᵢ.",
            (lambda a, b, d: a * b - 3): "This is the kurtosis of one product; d of them add.",
            (lambda a, b, d: (a * b - 3) / d**2): "You divided once too often: "
            "d products, over the square of the variance d.",
            (lambda a, b, d: a * b / d): "The 3 of the surviving pairs is missing.",
            (lambda a, b, d: (a * b - 3) / d + 3): "This is the kurtosis; "
            "of the excess, three is subtracted.",
            (lambda a, b, d: (a - 3) * (b - 3) / d): "Fourth moments multiply, excesses do not: "
            "subtract 3 from the product.",
        },
    ),
    kappa_signs=Number(
        "the excess kurtosis times dₖ for random signs",
        -2,
        mistakes={
            1: "This is the fourth moment of a product; three is subtracted.",
            2: "The sign is wrong: signs have lighter tails than the normal law.",
            -3: "The fourth moment of a sign is not zero.",
        },
    ),
    kappa_uniform=Number(
        "the excess kurtosis times dₖ for the uniform law",
        (9 / 5) ** 2 - 3,
        mistakes={
            9 / 5 - 3: "This is the uniform law's own excess kurtosis: two moments multiply.",
            1 / 25 - 3: "Between −1 and 1 the variance is 1/3; it has to be one.",
            (9 / 5) ** 2: "Three is still to be subtracted.",
            (9 / 5 - 3) ** 2: "Fourth moments multiply, excesses do not: "
            "subtract 3 from the product.",
        },
    ),
    three_points=Example(
        "such a law on a few points: two rows, its values and their probabilities",
        fault_of_law,
        mistakes={
            (1, 0, -1): "Give two rows, values and probabilities.",
            ((np.inf, 0), (0, 1)): "An entry is infinite, or no number at all.",
            ((-1, 0, 1), (1, -1, 1)): "A probability is negative.",
            ((-1, 0, 1), (1, 1, 1)): "The probabilities, "
            "which are the second row, do not sum to one.",
            ((0, 1, 2), (0.25, 0.5, 0.25)): "Its mean is not zero.",
            ((-1, 0, 1), (0.25, 0.5, 0.25)): "Its variance is not one.",
            ((-2, 0, 2), (1 / 8, 3 / 4, 1 / 8)): "Mean and variance fit, "
            "but its fourth moment gives another kurtosis.",
        },
    ),
)


MEASURED = 40_000
"""On so many rows the share beyond the threshold is to be measured."""


def first_width(n_keys: int) -> int:
    """Return the first whole width above 2 ln n."""
    return math.floor(2 * math.log(n_keys)) + 1


def share_beyond(n_keys: int, width: int) -> float:
    """Return P(|q|² > 2 ln n) for an even width, by the finite sum of the chi-squared law."""
    half = math.log(n_keys)
    return math.fsum(half**j / math.factorial(j) for j in range(width // 2)) / n_keys


def threshold_width(n_keys: int) -> Number:
    """Return the question for the first width above the threshold."""
    bound = 2 * math.log(n_keys)
    first = first_width(n_keys)
    return Number(
        f"the first width at which the mean of σ² is above 2 ln n, for {n_keys} keys",
        first,
        mistakes={
            bound: "This is the threshold itself; we want the first whole width above it.",
            first - 1: "At this width the mean of σ² is still below the threshold.",
            math.floor(bound / 2) + 1: "You left out the 2: "
            "the spread is √(2 ln n), so σ² is 2 ln n.",
            math.floor(2 * math.log2(n_keys)) + 1: "The logarithm is natural, not to base 2.",
        },
        digits=4,
    )


def keys_at(width: int, digits: int) -> Number:
    """Return the question for the number of keys at which 2 ln n is the width."""
    return Number(
        f"how many keys bring 2 ln n up to dₖ = {width}",
        math.exp(width / 2),
        mistakes={
            math.exp(width): "You left out the 2 of 2 ln n.",
            2.0 ** (width / 2): "The logarithm is natural, not to base 2.",
            math.exp(math.sqrt(width) / 2): "Set 2 ln n equal to σ², not to σ.",
            math.exp(2 * width): "Divide the width by 2, do not multiply by it.",
        },
        digits=digits,
    )


CRITICAL = Check(
    "critical",
    width_16=threshold_width(16),
    width_128=threshold_width(128),
    width_1024=threshold_width(1024),
    share_beyond=Number(
        "the share of rows beyond the threshold at that width, for 1024 keys, a part of one",
        share_beyond(1024, first_width(1024)),
        mistakes={
            1 - share_beyond(1024, first_width(1024)): "This is the share below the threshold; "
            "we want the share beyond it.",
            46: "This is in percent; give a part of one.",
            1 / 2: "Chi-squared leans to the right: its median is below its mean.",
        },
        within=4 * math.sqrt(1 / 4 / MEASURED),
        why="Four standard errors of a share of 40000 rows, which are largest for a half.",
    ),
    keys_16=keys_at(16, 3),
    keys_64=keys_at(64, 2),
    half_width=Number(
        "the middle of your bracket for the width with a top weight of one half, for 1024 keys",
        23.0,
        mistakes={
            2 * math.log(1024): "This is the threshold; "
            "the top weight averages one half at a larger width."
        },
        within=1.1,
        why="The mean of the top weight is one half at the width 23.0, measured on 100000 rows "
        "to 0.1; a bracket at most two wide that holds it has its middle at most one away.",
    ),
    grows=Pick(
        "how that width grows with n, for these n",
        "faster than 2 ln n",
        {
            "faster than 2 ln n": "Right: no width is an edge.",
            "in proportion to 2 ln n": (
                "Divide your three widths by the three thresholds: is the ratio the same?"
            ),
            "more slowly than 2 ln n": (
                "Divide your three widths by the three thresholds: does the ratio fall?"
            ),
        },
    ),
)


WIDTH, PAIRS, GAMMA = 64, 20_000, 0.5
NOT_STANDARD = (
    "The mean square of a component of the keys is not one, so it does not have mean zero and "
    "variance one."
)


def fault_of_zero(answer: Any, rng: np.random.Generator) -> str:
    """Say why a function makes no keys that give every query a score without variance.

    Means and mean squares of 20000 draws, of each component and of all, are held to five standard
    errors. These are measured, so that tails may be heavier than normal, but not heavier than those
    of a normal vector times a normal number: its squares have the variance 8, and their mean over
    the vector has 3(1 + 2/64) - 1. A hair is for rounding. Constant means to the rounding of a sum
    of 64 products, twice.
    """
    if not callable(answer) or inspect.isclass(answer):
        raise Unfit(f"{received(answer)} is no function.")
    queries = rng.standard_normal((PAIRS, WIDTH))
    given = queries.copy()
    returned = call(answer, given)
    if returned is None:
        return "Your function returned None; return keys of the shape of the queries."
    if not np.array_equal(given, queries):
        return "Your function changes its input; work on a copy of it."
    returned = plain_array(returned)
    keys = returned.astype(float)
    if keys.shape != queries.shape:
        return "Return a key for each query, in the shape of the queries."
    if not np.all(np.isfinite(keys)):
        return "A key has an entry that is infinite or no number."
    size = math.sqrt(PAIRS)
    for squares, variance in ((keys**2, 8), ((keys**2).mean(axis=1), 3 * (1 + 2 / WIDTH) - 1)):
        error = np.sqrt(np.minimum(squares.var(axis=0), variance)) / size
        if np.any(np.abs(squares.mean(axis=0) - 1) > 5 * error + 1e-6):
            return NOT_STANDARD
    if np.any(np.abs(keys.mean(axis=0)) > 5 * keys.std(axis=0) / size + 1e-6):
        return "A component of the keys does not have mean zero."
    scores = np.einsum("pd,pd->p", queries, keys)
    eps = max(np.finfo(returned.dtype).eps, np.finfo(float).eps)
    rounding = 2 * WIDTH * eps * np.abs(queries * keys).sum(axis=1).max()
    if np.ptp(scores) > rounding:
        return "The scores are not all equal: q·k has variance."
    return ""


BREAK = Check(
    "break",
    var_same=Number(
        "the variance of q·k if k = q, normal",
        2 * WIDTH,
        mistakes={
            WIDTH: "This is for independent q and k; here z is a sum of squares.",
            3 * WIDTH: "The fourth moment is 3; subtract the square of the mean.",
            WIDTH**2: "This is the square of the mean; we want the variance.",
        },
    ),
    var_signs=Number(
        "the variance of q·k if k = q, random signs",
        0,
        mistakes={
            WIDTH: "This is for independent q and k; what is a sign squared?",
            2 * WIDTH: "This is for normal components; what is a sign squared?",
        },
    ),
    var_both=Number(
        "the variance if within q, and within k, any two components have covariance 0.5",
        WIDTH + WIDTH * (WIDTH - 1) * GAMMA**2,
        mistakes={
            WIDTH + WIDTH * (WIDTH - 1) * GAMMA: "The covariance of two products is that of q "
            "times that of k.",
            WIDTH + WIDTH * (WIDTH - 1) * GAMMA**2 / 2: "Each pair of components comes "
            "in both orders.",
            WIDTH: "Covariances within both vectors do not cancel: add them up.",
            WIDTH * WIDTH * GAMMA**2: "On the diagonal the covariances are one.",
        },
        digits=4,
    ),
    kept=Pick(
        "where two components may have covariance 0.5 while the variance stays 64",
        "within q only",
        {
            "within q only": "Right: those of k are zero, and the covariances multiply.",
            "within q and within k": "There two products have a covariance: add it up.",
            "between qᵢ and kᵢ": "Then the mean of q·k is not zero, and its variance grows.",
        },
    ),
    orthogonal=Example(
        "orthogonal(queries), which returns a key for each query so that q·k has no variance",
        fault_of_zero,
        mistakes={
            (lambda queries: queries[:, :8]): "Return a key for each query, "
            "in the shape of the queries.",
            (lambda queries: queries * np.inf): "A key has an entry that is infinite or no number.",
            (lambda queries: np.ones_like(queries)): "A component of the keys does not "
            "have mean zero.",
            (lambda queries: 0 * queries): NOT_STANDARD,
            (lambda queries: queries): "The scores are not all equal: q·k has variance.",
            (lambda queries: np.negative(queries, out=queries)): "Your function changes its input; "
            "work on a copy of it.",
            (lambda queries: None): "Your function returned None; "
            "return keys of the shape of the queries.",
        },
        praise="Each key is at a right angle to its query, or q·k is constant otherwise.",
    ),
)


def attend(
    divisor: Callable[[int, int, int], float], axis: int = -1, *, merged: bool = True
) -> Callable[..., np.ndarray]:
    """Return attention with several heads that divides by a function of n, width and heads."""

    def function(
        tokens: np.ndarray, w_query: np.ndarray, w_key: np.ndarray, w_value: np.ndarray, heads: int
    ) -> np.ndarray:
        n, width = tokens.shape
        query, key, value = (
            (tokens @ matrix).reshape(n, heads, -1).transpose(1, 0, 2)
            for matrix in (w_query, w_key, w_value)
        )
        weights = softmax(query @ key.transpose(0, 2, 1) / divisor(n, width, heads), axis=axis)
        mixed = weights @ value
        return (mixed.transpose(1, 0, 2) if merged else mixed).reshape(n, width)

    return function


def multi_head(
    tokens: np.ndarray, w_query: np.ndarray, w_key: np.ndarray, w_value: np.ndarray, heads: int
) -> np.ndarray:
    """Return the outputs of the heads side by side, one head after the other."""
    parts = zip(*(np.split(m, heads, axis=1) for m in (w_query, w_key, w_value)), strict=True)
    return np.hstack([scaled_dot_product_attention(*(tokens @ m for m in part)) for part in parts])


def head_room(_right: Any, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding from the tokens to the output.

    With u = eps/2, a product of matrices with inner size m has the error γ_m |A| |B|, entry by
    entry. So the logits have the error e = (2γ_d + γ_dk + 3u) |q| |k| / √dₖ, where |q| and |k|
    come from absolute values; the weights have the relative error exp(2e) - 1 + (n + 8)u, to which
    the difference from the row's largest logit adds as much again; and the output adds γ_d + γ_n.
    Two computations differ by at most twice that.
    """
    tokens, w_query, w_key, w_value, heads = arguments
    n, width = tokens.shape
    d_k = width // heads
    query, key, value = (
        (np.abs(tokens) @ np.abs(matrix)).reshape(n, heads, d_k).transpose(1, 0, 2)
        for matrix in (w_query, w_key, w_value)
    )
    logits = float((query @ key.transpose(0, 2, 1)).max()) / math.sqrt(d_k)
    error = (2 * width + d_k + 3) * eps / 2 * logits
    relative = math.expm1(min(4 * error, 50.0)) + (2 * n + width + 16) * eps
    largest = value.max(axis=1, keepdims=True)
    return 2 * relative * np.broadcast_to(largest, value.shape).transpose(1, 0, 2).reshape(n, width)


def draw_layers(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw layers with one head and several, one token and many, small and large logits."""
    shapes = [(1, 6, 2, 1), (5, 8, 1, 1), (5, 8, 2, 1), (7, 12, 3, 2), (4, 6, 6, 1), (6, 18, 2, 40)]
    layers = []
    for n, width, heads, scale in shapes:
        matrices = rng.standard_normal((3, width, width)) / math.sqrt(width)
        layers.append((scale * rng.standard_normal((n, width)), *matrices, heads))
    tokens = 9 * rng.standard_normal(8) + 0.05 * rng.standard_normal((5, 8))
    matrix = rng.standard_normal((8, 8)) / math.sqrt(8)  # for queries and keys: logits nearly tie
    return [*layers, (tokens, matrix, matrix, np.eye(8), 2)]


REPAIR = Check(
    "repair",
    repaired=Function(
        "repaired(tokens, w_query, w_key, w_value, n_heads), the function without its fault",
        multi_head,
        draw_layers,
        head_room,
        mistakes={
            attend(lambda n, width, heads: math.sqrt(width)): "You divided by the root of d_model; "
            "a head is narrower, d_model / n_heads.",
            attend(lambda n, width, heads: width / heads): "You divided by dₖ; divide by its root.",
            attend(lambda n, width, heads: 1.0): "The division is gone; divide by √dₖ.",
            attend(lambda n, width, heads: math.sqrt(n)): "You divided by the root of the number "
            "of tokens; divide by the root of dₖ.",
            attend(lambda n, width, heads: math.sqrt(heads)): "You divided by the root of the "
            "number of heads; divide by the root of dₖ.",
            attend(lambda n, width, heads: math.sqrt(width * heads)): "You multiplied the width by "
            "the number of heads; divide it by them.",
            attend(lambda n, width, heads: math.sqrt(width / heads), axis=-2): "Your weights sum "
            "to one along the queries, not along the keys.",
            attend(lambda n, width, heads: math.sqrt(width / heads), merged=False): "The heads are "
            "not put side by side: the last transpose is missing.",
        },
    ),
    too_small=Number(
        "by what factor its logits are too small in a model with 16 heads",
        math.sqrt(16),
        mistakes={
            16: "The widths differ by this factor; the divisors are their roots.",
            1 / 4: "This is the part that is left; by which factor are they too small?",
            1: "With 16 heads a head is narrower than the model.",
        },
    ),
    sees=Pick(
        "which of these tests sees the fault",
        "several heads, against a reference",
        {
            "one head, against a reference": "With one head both widths are the same.",
            "shuffled tokens give shuffled outputs": "Any divisor passes that.",
            "every row of weights sums to one": "Softmax does that, whatever you divide by.",
            "several heads, against a reference": "Right, if the data make the logits matter.",
        },
    ),
)


MODEL, HEAD, STD, COSINE = 768, 96, 0.05, 0.4
Q_VARIANCE, K_VARIANCE = MODEL * STD**2, 1 / 3
SCORE = HEAD * Q_VARIANCE * K_VARIANCE

START = Check(
    "start",
    var_query=Number(
        "the variance of a component of q",
        Q_VARIANCE,
        mistakes={
            MODEL * STD: "0.05 is the standard deviation of an entry, not its variance.",
            HEAD * STD**2: "The sum runs over the 768 entries of a token, not over the head.",
            STD**2: "This is the variance of one entry of the matrix; 768 products add.",
            math.sqrt(Q_VARIANCE): "This is the standard deviation; we want the variance.",
        },
    ),
    var_key=Number(
        "the variance of a component of k",
        K_VARIANCE,
        mistakes={
            1: "The bound is no standard deviation: a uniform number between ±a has a²/3.",
            1 / 12: "The numbers lie between −a and a, which is 2a wide.",
            K_VARIANCE / MODEL: "This is the variance of one entry; 768 products add.",
            math.sqrt(K_VARIANCE): "This is the standard deviation; we want the variance.",
        },
    ),
    var_score=Number(
        "the variance of q·k",
        SCORE,
        mistakes={
            Q_VARIANCE * K_VARIANCE: "This is one product; 96 of them add.",
            MODEL * Q_VARIANCE * K_VARIANCE: "The products of one head add, 96 and not 768.",
            HEAD * (Q_VARIANCE + K_VARIANCE): "The variances of qᵢ and kᵢ multiply in a product.",
            math.sqrt(SCORE): "This is the standard deviation; we want the variance.",
        },
    ),
    tau=Number(
        "the divisor that gives logits of variance one",
        math.sqrt(SCORE),
        mistakes={
            SCORE: "Dividing by τ divides the variance by τ squared.",
            math.sqrt(HEAD): "√dₖ gives variance one if q and k have it; here they do not.",
            1 / math.sqrt(SCORE): "This multiplies the scores; we want the divisor.",
        },
    ),
    var_usual=Number(
        "the variance that √dₖ gives",
        SCORE / HEAD,
        mistakes={
            SCORE / math.sqrt(HEAD): "Dividing by √dₖ divides the variance by dₖ.",
            math.sqrt(SCORE / HEAD): "This is the standard deviation; we want the variance.",
            1: "This holds if q and k have variance one; here they do not.",
            SCORE / MODEL: "You divided by d_model; the head is 96 wide.",
        },
    ),
    var_within=Number(
        "the variance within a row before any division",
        (1 - COSINE) * SCORE,
        mistakes={
            COSINE * SCORE: "This is what tokens share; we want what differs within a row.",
            (1 - COSINE**2) * SCORE: "The keys' correlation enters once, "
            "as only they differ in a row.",
            SCORE: "What similar tokens share moves the whole row; take it out.",
            (1 - COSINE) * SCORE / HEAD: "This is after the division by √dₖ.",
        },
    ),
    tau_row=Number(
        "the divisor that gives variance one within a row",
        math.sqrt((1 - COSINE) * SCORE),
        mistakes={
            (1 - COSINE) * SCORE: "Dividing by τ divides the variance by τ squared.",
            (1 - COSINE)
            * math.sqrt(SCORE): "The factor belongs to the variance: take its root here.",
            math.sqrt(COSINE * SCORE): "This is what tokens share; "
            "we want what differs within a row.",
            math.sqrt(SCORE): "This is for all logits; within a row they vary less.",
        },
    ),
)
