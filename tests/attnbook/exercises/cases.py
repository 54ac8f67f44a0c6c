"""Answers to the chapter of exercises."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax as reference
from scipy.stats import chi2

from attnlib import effective_positions, entropy, softmax
from tests.attnbook.cases import Answers, Cases


def first_weight(x):
    return 1 / (1 + 3 * math.exp(-x))


def slope(x):
    return first_weight(x) * (1 - first_weight(x))


FLAT = brentq(lambda x: slope(x) - 0.025, 1.2, 20)


def drawn_means(seed):
    """Return what an honest reader measures on 2000 rows, from vectors."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.standard_normal((256, 64)) @ rng.standard_normal(64) for _ in range(2000)])
    cold, usual, warm = (softmax(rows / (ratio * 8)) for ratio in (0.5, 1, 2))
    return {
        "top": cold.max(axis=1).mean(),
        "top_usual": usual.max(axis=1).mean(),
        "top_undivided": softmax(rows).max(axis=1).mean(),
        "nats": entropy(cold).mean(),
        "nats_warm": entropy(warm).mean(),
        "used_half": effective_positions(cold).mean(),
        "used_usual": effective_positions(usual).mean(),
        "used_double": effective_positions(warm).mean(),
    }


ONE, OTHER = drawn_means(0), drawn_means(1)


def by_loops(p):
    n = len(p)
    return [[p[i] * ((i == j) - p[j]) for j in range(n)] for i in range(n)]


def by_difference(p):
    return np.diag(p) - np.outer(p, p)


def in_single(p):
    return by_difference(p.astype(np.float32))


def uniform_only(p):
    """Return what is right for equal weights only."""
    n = len(p)
    return np.eye(n) / n - 1 / n**2


def quadruples(width):
    """Return how many terms have four equal indices, and how many two pairs of different ones."""
    counts = [sorted(map(four.count, set(four))) for four in product(range(width), repeat=4)]
    return counts.count([4]), counts.count([2, 2])


FOURS, PAIRS = quadruples(4)


def from_the_sum(m4_q, m4_k, d_k):
    fourth = d_k * m4_q * m4_k + 3 * d_k * (d_k - 1)
    return np.float64(fourth / d_k**2 - 3)


def for_normals(m4_q, m4_k, d_k):
    return 6 / d_k


ROOT = math.sqrt(3)


def turned(queries):
    keys = np.empty_like(queries)
    keys[:, ::2], keys[:, 1::2] = -queries[:, 1::2], queries[:, ::2]
    return keys


def halves_exchanged(queries):
    return np.hstack([queries[:, 32:], -queries[:, :32]]).astype(np.float32)


def stretched(queries):
    """Return keys at a right angle whose tails are heavier than normal."""
    return turned(queries) * np.random.default_rng(1).standard_normal((len(queries), 1))


def of_signs(queries):
    """Return keys at a right angle with one random sign each."""
    return turned(queries) * np.random.default_rng(2).choice([-1, 1], (len(queries), 1))


def two_components(queries):
    keys = math.sqrt(32) * turned(queries)
    keys[:, 2:] = 0
    return keys


def rarely_long(queries):
    """Return keys of which one is a hundred times as long."""
    keys = turned(queries)
    keys[7] *= 100
    return keys


def turned_in_place(queries):
    queries[:, ::2], queries[:, 1::2] = -queries[:, 1::2].copy(), queries[:, ::2].copy()
    return queries


def nearly_turned(queries):
    return turned(queries) + 1e-6 * independent(queries)


def projected(queries):
    """Return independent keys with their part along the query taken out, and made up for."""
    keys = np.random.default_rng(5).standard_normal(queries.shape)
    along = (keys * queries).sum(axis=1, keepdims=True) / (queries**2).sum(axis=1, keepdims=True)
    return (keys - along * queries) * math.sqrt(64 / 63)


def projected_and_short(queries):
    return projected(queries) * math.sqrt(63 / 64)


def independent(queries):
    return np.random.default_rng(6).standard_normal(queries.shape)


def heads_of(matrix, n_heads):
    return np.split(matrix, n_heads, axis=1)


def one_after_the_other(divide, axis=1):
    """Return attention by a loop over heads, with a divisor of n, d_model, d_k and heads."""

    def attention(tokens, w_query, w_key, w_value, n_heads):
        outputs = []
        for a, b, c in zip(*(heads_of(m, n_heads) for m in (w_query, w_key, w_value)), strict=True):
            scores = (tokens @ a) @ (tokens @ b).T
            by = divide(len(tokens), tokens.shape[1], a.shape[1], n_heads)
            outputs.append(reference(scores / by, axis=axis) @ (tokens @ c))
        return np.concatenate(outputs, axis=1)

    return attention


def with_einsum(tokens, w_query, w_key, w_value, n_heads):
    n, width = tokens.shape
    q, k, v = ((tokens @ m).reshape(n, n_heads, -1) for m in (w_query, w_key, w_value))
    scores = np.einsum("ihd,jhd->hij", q / np.sqrt(q.shape[-1]), k)
    return np.einsum("hij,jhd->ihd", reference(scores, axis=-1), v).reshape(n, width)


def not_put_together(tokens, w_query, w_key, w_value, n_heads):
    right = one_after_the_other(lambda n, width, d_k, h: d_k**0.5)
    n, width = tokens.shape
    output = right(tokens, w_query, w_key, w_value, n_heads)
    return output.reshape(n, n_heads, -1).transpose(1, 0, 2).reshape(n, width)


def first_head_everywhere(tokens, w_query, w_key, w_value, n_heads):
    right = one_after_the_other(lambda n, width, d_k, h: d_k**0.5)
    d_k = tokens.shape[1] // n_heads
    return right(
        tokens, *(np.tile(m[:, :d_k], n_heads) for m in (w_query, w_key, w_value)), n_heads
    )


def clipped(tokens, w_query, w_key, w_value, n_heads):
    """Bring large logits down to 80, where they tie."""
    outputs = []
    for a, b, c in zip(*(heads_of(m, n_heads) for m in (w_query, w_key, w_value)), strict=True):
        logits = np.clip((tokens @ a) @ (tokens @ b).T / math.sqrt(a.shape[1]), -80, 80)
        outputs.append(reference(logits, axis=1) @ (tokens @ c))
    return np.hstack(outputs)


def naive(tokens, w_query, w_key, w_value, n_heads):
    """Overflow where logits are large."""
    n, width = tokens.shape
    q, k, v = ((tokens @ m).reshape(n, n_heads, -1) for m in (w_query, w_key, w_value))
    powers = np.exp(np.einsum("ihd,jhd->hij", q, k) / np.sqrt(q.shape[-1]))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", weights, v).reshape(n, width)


SPREAD_CASES = Cases(
    "spread",
    plain=Answers(
        [512**0.5, np.float32(22.627417), 22.6, np.array([22.627]), [22.63]],
        (512, "This is the variance"),
        (45.25, "variance one, not four"),
        (-22.627, "sign"),
        (23, "more digits"),
        (226274, "more than ten times too large"),
    ),
    root=Answers(
        [1, 1.0, Fraction(1), np.int64(1)],
        (22.6, "divides the standard deviation"),
        (4.757, "takes no root"),
    ),
    full=Answers(
        [512**-0.5, 0.0442, np.float32(0.04419)],
        (1 / 512, "This is the variance"),
        (0, "too small"),
    ),
)

LEAD_CASES = Cases(
    "lead",
    x_half=Answers(
        [brentq(lambda x: first_weight(x) - 0.5, 0, 10), 1.1, np.float32(1.0986)],
        (math.log(4), "three others"),
        (0, "a quarter"),
        (0.4771, "natural logarithm"),
        (-1.0986, "sign"),
    ),
    x_nearly=Answers(
        [brentq(lambda x: first_weight(x) - 0.99, 0, 10), 5.69, [5.694]],
        (math.log(99), "one rival"),
        (math.log(396), "three others"),
        (math.log(300), "1/(1 − p)"),
        (5.70, "two digits"),
        (2.4728, "natural logarithm"),
    ),
    x_flat=Answers(
        [FLAT, 4.74, np.float64(4.7364)],
        (brentq(lambda x: slope(x) - 0.025, -20, 1), "beyond the steepest"),
        (FLAT - math.log(3), "one rival"),
        (0.9743, "we want the lead x"),
        (brentq(lambda x: slope(x) - 0.1, 1.2, 20), "the slope is 0.1"),
    ),
    slope_left=Answers(
        [slope(math.log(297)) / slope(math.log(3)), 0.04, 0.0396, Fraction(396, 10000)],
        (0.0099, "the slope itself"),
        (3.96, "percent"),
        (4.0, "percent"),
        (0.99, "more than ten times too large"),
    ),
    weight_flat=Answers(
        [first_weight(FLAT), 0.974, np.float32(0.97434)],
        (0.02566, "the other root"),
        (0.8873, "the slope is 0.1"),
    ),
)

ABLATION_CASES = Cases(
    "ablation",
    raw_rate=Answers(
        [0.1, np.float32(0.1), Fraction(1, 10)],
        (0.01, "above the loss of predicting zero"),
        (0.032, "hardly beats"),
        (0.32, "too large"),
        (1, "diverge"),
        (0.2, "0.2 is too large."),
    ),
    divided_rate=Answers(
        [0.32, np.array([0.32])],
        (0.01, "even predicting zero"),
        (0.032, "still far"),
        (0.1, "over both seeds"),
        (1.0, "diverge"),
    ),
    upper=Answers(
        [0.05, 0.02, 0.08, 0.1, 0.013],
        (1, "predicting zero costs"),
        (0.005, "too small"),
        (0.5, "too large"),
        (0.0116, "too small"),
    ),
    lower=Answers(
        [0.6, 0.5, 0.8, 0.3],
        (0.95, "too large"),
        (0.05, "too small"),
        (0.845, "too large"),
    ),
    shared=Answers(
        ["the arm that does not divide", "The arm that does not  divide"],
        ("the arm that divides", "seed by seed"),
        ("neither, they are equal", "more than the seeds"),
    ),
)

TEMPERATURE_CASES = Cases(
    "temperature",
    top_weight=Answers(
        [ONE["top"], OTHER["top"]],
        (ONE["top_usual"], "at √dₖ itself"),
        (ONE["top_undivided"], "not divided"),
        (1 / 256, "too small"),
    ),
    nats_half=Answers(
        [ONE["nats"], OTHER["nats"]],
        (ONE["nats"] / math.log(2), "bits"),
        (ONE["nats_warm"], "the other way"),
        (math.log(256) - 2, "the formula"),
    ),
    used_half=Answers(
        [ONE["used_half"], OTHER["used_half"]],
        (ONE["used_double"], "the other way"),
        (math.exp(ONE["nats"]), "average the exponentials"),
    ),
    used_usual=Answers(
        [ONE["used_usual"], OTHER["used_usual"]],
        (ONE["used_half"], "too small"),
        (256, "too large"),
    ),
    used_double=Answers(
        [ONE["used_double"], OTHER["used_double"]], (ONE["used_half"], "the other way")
    ),
    by_formula=Answers(
        [math.log(256) - 2, 3.55, np.float32(3.5452)],
        (math.log(256) - 0.5 * 0.5**2, "twice as large"),
        (math.log(256) - 0.5 * 2, "squared"),
        (math.log(256) - 2**2, "half of σ²"),
        (math.log2(256) - 2 / math.log(2), "bits"),
    ),
    fails=Answers(
        ["at half of √dₖ only", "AT half of √dₖ only"],
        ("at half of √dₖ and at √dₖ", "far less"),
        ("at twice √dₖ only", "fits best"),
        ("nowhere", "lowest temperature"),
    ),
)

JACOBIAN_CASES = Cases(
    "jacobian",
    derivatives=Answers(
        [by_difference, by_loops, in_single],
        (lambda p: np.diag(p - p**2), "Off-diagonal entries are missing"),
        (lambda p: p - p**2, "the diagonal only"),
        (lambda p: [[-a * b for b in p] for a in p], "lacks its first term"),
        (lambda p: -by_difference(p), "The sign is wrong"),
        (lambda p: np.identity(len(p)) - np.tile(p, (len(p), 1)), "derivative of ln pᵢ"),
        (lambda p: [[a * (1 - b) for b in p] for a in p], "one everywhere"),
        (uniform_only, "off"),
        (lambda p: np.zeros((4, 4)), "is wanted"),
        (lambda p: np.full((p.size, p.size), np.nan), "NaN"),
        (lambda p: by_difference(p) + 1e-12, "off"),
        (lambda p: by_difference(np.roll(p, 1)), "off"),
    ),
    first_entry=Answers(
        [0.0291, np.float32(0.0291), Fraction(291, 10000)],
        (0.97, "This is the weight"),
        (0.0099, "a later diagonal entry"),
        (0.029, "Nearly"),
    ),
    beside=Answers(
        [-0.0625, Fraction(-1, 16), -0.25 * 0.25],
        (0.0625, "lowers"),
        (0.1875, "diagonal"),
        (0, "share one sum"),
    ),
    uniform_squares=Answers(
        [(uniform_only([0.25] * 4) ** 2).sum(), 0.188, Fraction(3, 16)],
        (0.140625, "the diagonal's part"),
        (0.4330, "the root of the sum"),
        (12 / 16**2, "The diagonal's part is missing"),
    ),
    most=Answers(
        ["[0.3, 0.3, 0.2, 0.2]", " [0.3, 0.3,  0.2, 0.2]"],
        ("peaked", "has decided"),
        ("Uniform", "four digits"),
        ("none", "options"),
    ),
    tie=Answers(
        [
            [0.49, 0.49, 0.01, 0.01],
            np.array([0, 0.5, 0, 0.5]),
            np.float32([0.48, 0.48, 0.02, 0.02]),
            (0.45, 0.45, 0.05, 0.05),
        ],
        ([0.5, 0.5], "four weights"),
        ([[0.5, 0.5, 0, 0]], "four weights"),
        ([2, -1, 0, 0], "negative"),
        ([math.nan, 0.5, 0.5, 0], "negative, or no number"),
        ([0.49, 0.49, 0.01, 0.02], "sum to one"),
        ([math.inf, 0, 0, 0], "sum to one"),
        ([1e308] * 4, "sum to one"),
        ([[0.5], [0.5], [0], [0]], "four weights"),
        ([0.3, 0.3, 0.2, 0.2], "fewer keys"),
        ([1, 0, 0, 0], "share with another"),
        ([0.9, 0.1, 0, 0], "share with another"),
        ([0.7, 0.3, 0, 0], "share with another"),
        ([0.26, 0.26, 0.24, 0.24], "fewer keys"),
    ),
)

KURTOSIS_CASES = Cases(
    "kurtosis",
    terms_of_four=Answers(
        [FOURS, 4.0, np.int64(4)],
        (256, "These are all terms"),
        (1, "any of the dₖ"),
        (24, "too large"),
    ),
    terms_of_pairs=Answers(
        [PAIRS, 36.0, Fraction(36)],
        (12, "more than one way"),
        (72, "counted each term twice"),
        (48, "all four are"),
        (18, "order of indices"),
        (40, "another group"),
    ),
    excess=Answers(
        [from_the_sum, lambda a, b, d: [(a * b - 3) / d][0]],
        (lambda a, b, d: a * b / d - 3, "divided by the width, too"),
        (lambda a, b, d: (a + b - 3) / d, "multiply, as"),
        (lambda a, b, d: a * b - 3, "one product"),
        (lambda a, b, d: (a * b - 3) / d / d, "once too often"),
        (lambda a, b, d: a * b / d, "surviving pairs is missing"),
        (lambda a, b, d: a * b / d + 3 * (d - 1) / d, "This is the kurtosis"),
        (lambda a, b, d: (a - 3) * (b - 3) / d, "excesses do not"),
        (for_normals, "calls are wrong"),
        (lambda a, b, d: (a**2 - 3) / d, "calls are wrong"),
        (lambda a, b, d: (a * b - 3) / (d + 1e-9), "off"),
    ),
    kappa_signs=Answers(
        [-2, 1 * 1 - 3.0], (1, "three is subtracted"), (2, "lighter tails"), (-3, "not zero")
    ),
    kappa_uniform=Answers(
        [0.24, float(Fraction(9, 5) ** 2 - 3), Fraction(6, 25)],
        (-1.2, "two moments multiply"),
        (0.04 - 3, "it has to be one"),
        (3.24, "still to be subtracted"),
        (1.44, "excesses do not"),
    ),
    three_points=Answers(
        [
            [[-ROOT, 0, ROOT], [1 / 6, 2 / 3, 1 / 6]],
            np.array([[0, 1.732, -1.732], [0.667, 0.1667, 0.1667]]),
        ],
        ([ROOT, 0, -ROOT], "Give two rows"),
        ([[-1, 0, 1], [0.5, -0.5, 1]], "negative"),
        ([[-ROOT, 0, ROOT], [0.1, 0.2, 0.1]], "do not sum to one"),
        ([[0, ROOT], [2 / 3, 1 / 3]], "mean is not zero"),
        ([[-1.5, 0, 1.5], [1 / 6, 2 / 3, 1 / 6]], "variance is not one"),
        ([[-1, 1], [0.5, 0.5]], "another kurtosis"),
        ([[math.nan, 0], [0.5, 0.5]], "no number"),
        ([[math.inf, 0, -math.inf], [0, 1, 0]], "infinite"),
        ([[-1, 1], [math.nan, 1]], "no number"),
        ([[1e200, -1e200, 0], [0, 0, 1]], "variance is not one"),
        ([[-ROOT, 0, ROOT], [1 / 6, 4 / 6]], "differ in length"),
        ([[1 / 6, 2 / 3, 1 / 6], [-ROOT, 0, ROOT]], "negative"),
    ),
)

CRITICAL_CASES = Cases(
    "critical",
    width_16=Answers(
        [6, 6.0, np.int32(6)],
        (2 * math.log(16), "first whole width"),
        (5, "still below"),
        (3, "left out the 2"),
        (9, "not to base 2"),
    ),
    width_128=Answers(
        [10, np.ceil(2 * np.log(128))],
        (2 * math.log(128), "first whole width"),
        (9, "still below"),
        (5, "left out the 2"),
        (15, "not to base 2"),
    ),
    width_1024=Answers(
        [14, [14]],
        (2 * math.log(1024), "first whole width"),
        (13, "still below"),
        (7, "left out the 2"),
        (21, "not to base 2"),
    ),
    share_beyond=Answers(
        [
            chi2(14).sf(2 * math.log(1024)),
            0.46,
            0.465,
            *(
                (np.random.default_rng(seed).chisquare(14, 40_000) > math.log(1024**2)).mean()
                for seed in range(5)
            ),
        ],
        (chi2(14).cdf(2 * math.log(1024)), "below the threshold"),
        (46, "percent"),
        (0.5, "median"),
        (0.475, "too large"),
        (chi2(13).sf(2 * math.log(1024)), "too small"),
    ),
    keys_16=Answers(
        [brentq(lambda n: 2 * math.log(n) - 16, 2, 1e9), 2980, 2981],
        (math.exp(16), "left out the 2"),
        (256, "base 2"),
        (math.exp(2), "not to σ"),
        (math.exp(32), "do not multiply"),
        (16, "too small"),
    ),
    keys_64=Answers(
        [math.e**32, 7.9e13, 79e12],
        (math.exp(64), "left out the 2"),
        (2**32, "base 2"),
        (math.exp(4), "not to σ"),
        (math.exp(128), "do not multiply"),
        (79e9, "too small"),
    ),
    half_width=Answers(
        [23, 22.5, 23.5, 24], (13.9, "This is the threshold"), (27, "too large"), (20, "too small")
    ),
    grows=Answers(
        ["faster than 2 ln n", "Faster than 2 ln n"],
        ("in proportion to 2 ln n", "the same"),
        ("more slowly than 2 ln n", "fall"),
    ),
)

BREAK_CASES = Cases(
    "break",
    var_same=Answers(
        [chi2(64).var(), 128, np.float32(128)],
        (64, "independent"),
        (192, "square of the mean"),
        (4096, "mean"),
    ),
    var_signs=Answers(
        [0, 0.0, np.zeros(1)], (64, "a sign squared"), (128, "normal components"), (1, "not right")
    ),
    var_both=Answers(
        [(np.where(np.eye(64), 1, 0.5) ** 2).sum(), 1072, Fraction(64) + 64 * 63 * Fraction(1, 4)],
        (64 + 64 * 63 / 2, "that of k"),
        (64 + 64 * 63 / 8, "both orders"),
        (64, "add them up"),
        (64 * 64 / 4, "On the diagonal"),
    ),
    kept=Answers(
        ["within q only", "Within q only"],
        ("within q and within k", "add it up"),
        ("between qᵢ and kᵢ", "is not zero"),
    ),
    orthogonal=Answers(
        [turned, halves_exchanged, projected, stretched, of_signs],
        (lambda queries: turned(queries)[:100], "a key for each query"),
        (lambda queries: queries / 0, "infinite"),
        (lambda queries: np.sign(queries) ** 2, "mean zero"),
        (np.zeros_like, "variance one"),
        (lambda queries: turned(queries) / 8, "variance one"),
        (projected_and_short, "variance one"),
        (lambda queries: 2 * turned(queries), "variance one"),
        (two_components, "variance one"),
        (rarely_long, "variance one"),
        (turned_in_place, "changes its input"),
        (nearly_turned, "has variance"),
        (independent, "has variance"),
        (lambda queries: -queries, "has variance"),
        (lambda queries: queries[:, ::-1], "has variance"),
        (lambda queries: 64 * queries / (queries**2).sum(axis=1)[:, None], "variance one"),
        (lambda queries: queries.sort(), "returned None"),
        (lambda queries: turned(queries[0]), "IndexError"),
        (np.zeros((20000, 64)), "is no function"),
    ),
)

REPAIR_CASES = Cases(
    "repair",
    repaired=Answers(
        [one_after_the_other(lambda n, width, d_k, h: math.sqrt(d_k)), with_einsum],
        (one_after_the_other(lambda n, width, d_k, h: width**0.5), "d_model / n_heads"),
        (one_after_the_other(lambda n, width, d_k, h: d_k), "divide by its root"),
        (one_after_the_other(lambda n, width, d_k, h: 1), "division is gone"),
        (one_after_the_other(lambda n, width, d_k, h: n**0.5), "number of tokens"),
        (one_after_the_other(lambda n, width, d_k, h: h**0.5), "number of heads"),
        (one_after_the_other(lambda n, width, d_k, h: (width * h) ** 0.5), "You multiplied"),
        (one_after_the_other(lambda n, width, d_k, h: d_k**0.5, axis=0), "along the queries"),
        (not_put_together, "not put side by side"),
        (first_head_everywhere, "off"),
        (naive, "NaN"),
        (clipped, "off"),
        (lambda *layer: clipped(*layer).astype(np.float32), "off"),
        (lambda tokens, a, b, c, h: tokens @ c, "off"),
        (one_after_the_other(lambda n, width, d_k, h: (d_k + 1e-6) ** 0.5), "off"),
    ),
    too_small=Answers(
        [4, math.sqrt(1024) / math.sqrt(64), 4.0],
        (16, "their roots"),
        (0.25, "the part that is left"),
        (1, "narrower"),
    ),
    sees=Answers(
        ["several heads, against a reference", "Several heads, against a  reference"],
        ("one head, against a reference", "the same"),
        ("shuffled tokens give shuffled outputs", "Any divisor"),
        ("every row of weights sums to one", "whatever you divide by"),
    ),
)

START_CASES = Cases(
    "start",
    var_query=Answers(
        [768 * 0.05**2, 1.92, Fraction(192, 100)],
        (768 * 0.05, "not its variance"),
        (96 * 0.05**2, "not over the head"),
        (0.0025, "768 products add"),
        (1.3856, "we want the variance"),
    ),
    var_key=Answers(
        [1 / 3, 0.333, np.float32(1 / 3)],
        (1, "no standard deviation"),
        (1 / 12, "2a wide"),
        (1 / (3 * 768), "768 products add"),
        (0.5774, "we want the variance"),
    ),
    var_score=Answers(
        [61.44, 61.4, 96 * 0.64],
        (0.64, "96 of them add"),
        (768 * 0.64, "not 768"),
        (96 * (1.92 + 1 / 3), "multiply in a product"),
        (7.838, "we want the variance"),
    ),
    tau=Answers(
        [61.44**0.5, 7.84, np.array(7.838)],
        (61.44, "τ squared"),
        (96**0.5, "here they do not"),
        (1 / 7.8384, "we want the divisor"),
    ),
    var_usual=Answers(
        [0.64, Fraction(16, 25), (7.8384 / 9.79796) ** 2],
        (61.44 / 96**0.5, "the variance by dₖ"),
        (0.8, "standard deviation"),
        (1, "here they do not"),
        (0.08, "d_model"),
    ),
    var_within=Answers(
        [61.44 * 0.6, 36.9, 36.864],
        (0.4 * 61.44, "what tokens share"),
        (0.84 * 61.44, "enters once"),
        (61.44, "take it out"),
        (0.384, "after the division"),
    ),
    tau_row=Answers(
        [36.864**0.5, 6.07, 6.072],
        (36.864, "τ squared"),
        (0.6 * 7.8384, "belongs to the variance"),
        (24.576**0.5, "what tokens share"),
        (7.8384, "within a row"),
    ),
)
