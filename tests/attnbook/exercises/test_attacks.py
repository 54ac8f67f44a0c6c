"""What somebody tried who wanted to fool the checks, and what was right in an unusual form."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.spatial.distance import cdist, pdist
from scipy.special import entr, logsumexp, softmax, xlogy

from attnbook.exercises import check
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Number, Pick

pytestmark = pytest.mark.not_for_mutants
EXERCISES = exercises()


def parts_of_kind(kind):
    return [
        pytest.param(name, part, id=f"{name}-{part}")
        for name, exercise in EXERCISES.items()
        for part, judge in exercise.parts.items()
        if isinstance(judge, kind)
    ]


def tries(table):
    """Return one case for each answer of a table of tables."""
    return [
        pytest.param(name, part, answer, id=f"{name}-{part}-{tried}")
        for (name, part), answers in table.items()
        for tried, answer in answers.items()
    ]


def in_place(function):
    """Return a right function that writes its result over its first argument."""

    def overwriting(first, *others):
        first[...] = function(first.copy(), *others)
        return first

    return overwriting


def single(function):
    """Return a function that works in float32 on whatever comes."""
    return lambda *arguments: function(
        *(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arguments)
    )


def hidden_nan(function, nan=0.0):
    return lambda *arguments: np.nan_to_num(function(*arguments), nan=nan)


def careless(logits):
    """Return a softmax without a largest score."""
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def about_the_mean(logits):
    return careless(logits - logits.mean(axis=-1, keepdims=True))


def clipped(low, high=None):
    """Return a softmax whose logits are clipped."""
    return lambda logits: softmax(np.clip(logits, low, -low if high is None else high), axis=-1)


def gaps_clipped(low):
    return lambda logits: clipped(low, 0)(logits - logits.max(axis=-1, keepdims=True))


def rowwise(logits):
    return softmax(logits, axis=-1)


def difference(function, at, step=1e-6):
    """Return a derivative by a central difference."""
    return (function(at + step) - function(at - step)) / (2 * step)


REFUSED: dict[tuple[str, str], dict[str, object]] = {}
"""What is wrong, by exercise and part."""
ACCEPTED: dict[tuple[str, str], dict[str, object]] = {}


# puzzle
def powers(weights, tau):
    return weights ** (1 / tau) / (weights ** (1 / tau)).sum(axis=-1, keepdims=True)


def by_logs(weights, tau, change=lambda weights: weights):
    return softmax(np.log(change(weights)) / tau, axis=-1)


def masked_assignment(weights, tau):
    result = np.zeros_like(weights)
    result[weights > 0] = weights[weights > 0] ** (1 / tau)
    return result / result.sum(axis=-1, keepdims=True)


def divided_by_the_maximum(weights, tau):
    return powers(weights / weights.max(axis=-1, keepdims=True), tau)


BUFFERS = {}


def in_a_reused_buffer(weights, tau):
    buffer = BUFFERS.setdefault(weights.shape, np.empty_like(weights))
    np.power(weights, 1 / tau, out=buffer)
    buffer /= buffer.sum(axis=-1, keepdims=True)
    return buffer


def weigh(center=lambda keys: keys[0], weights_of=rowwise, divisor=None):
    def function(queries, keys):
        by = math.sqrt(queries.shape[1]) if divisor is None else divisor(queries, keys)
        return weights_of(queries @ (keys - center(keys)).T / by)

    return function


def by_gaps(queries, keys):
    gaps = np.einsum("id,jld->ijl", queries, keys[None] - keys[:, None])
    return 1 / np.exp(gaps / math.sqrt(queries.shape[1])).sum(axis=-1)


def by_fsum(queries, keys):
    gaps = [[math.fsum(query * key) for key in keys - keys[-1]] for query in queries]
    return softmax(np.array(gaps) / math.sqrt(queries.shape[1]), axis=1)


def in_long_double(queries, keys):
    scores = queries.astype(np.longdouble) @ keys.astype(np.longdouble).T
    return softmax(scores / math.sqrt(queries.shape[1]), axis=1).astype(float)


REFUSED |= {
    ("divide-later", "divide_later"): {
        "logarithm of the weight and 1e-300": partial(by_logs, change=lambda w: w + 1e-300),
        "logarithm of the weight and 1e-12": partial(by_logs, change=lambda w: w + 1e-12),
        "clipped at 1e-200": partial(by_logs, change=lambda w: np.maximum(w, 1e-200)),
        "clipped at the smallest float": partial(
            by_logs, change=lambda w: np.maximum(w, np.finfo(float).tiny)
        ),
        "sums over axis 0": lambda w, tau: w ** (1 / tau) / (w ** (1 / tau)).sum(axis=0),
        "in place": in_place(powers),
        "weights below 1e-6 dropped": lambda w, tau: powers(np.where(w > 1e-6, w, 0), tau),
        "weights below 4e-7 dropped": lambda w, tau: powers(np.where(w < 4e-7, 0, w), tau),
    },
    ("unseen", "weigh"): {
        "in long double": in_long_double,
        "all in float32": single(weigh()),
        "only what came in float32": single(weigh(lambda keys: 0)),
        "weights clipped at 1e-12": lambda q, k: np.clip(weigh()(q, k), 1e-12, 1),
        "weights clipped at 1e-17": lambda q, k: np.maximum(weigh()(q, k), 1e-17),
        "queries centered too": lambda q, k: weigh(lambda keys: keys.mean(axis=0))(
            q - q.mean(axis=0), k
        ),
        "root of d - 1": weigh(divisor=lambda q, k: math.sqrt(max(q.shape[1] - 1, 1))),
        "maximum of the table": weigh(
            weights_of=lambda z: np.exp(z - z.max()) / np.exp(z - z.max()).sum(1, keepdims=True)
        ),
        "softmax over axis 0": weigh(weights_of=lambda logits: softmax(logits, axis=0)),
        "logits clipped at 700": weigh(weights_of=clipped(-700)),
        "NaN hidden": weigh(weights_of=hidden_nan(careless)),
    },
}
ACCEPTED |= {
    ("divide-later", "divide_later"): {
        "by logarithms": by_logs,
        "divided by the maximum": divided_by_the_maximum,
        "in float32": single(powers),
        "as lists": lambda w, tau: powers(w, tau).tolist(),
        "masked assignment": masked_assignment,
        "in long double": lambda w, tau: by_logs(w.astype(np.longdouble), tau),
        "in Fortran's order": lambda w, tau: np.asfortranarray(powers(w, tau)),
        "a transposed view": lambda w, tau: np.moveaxis(
            np.moveaxis(w ** (1 / tau), -1, 0) / (w ** (1 / tau)).sum(axis=-1), 0, -1
        ),
        "in a reused buffer": in_a_reused_buffer,
    },
    ("unseen", "weigh"): {
        "centered by the mean": weigh(lambda keys: keys.mean(axis=0)),
        "centered by the median": weigh(lambda keys: np.median(keys, axis=0)),
        "centered by the maximum": weigh(lambda keys: keys.max(axis=0)),
        "centered by the middle of the range": weigh(lambda k: (k.max(axis=0) + k.min(axis=0)) / 2),
        "by exact sums": by_fsum,
        "by pairwise gaps": by_gaps,
    },
}


# variance
def sum_of_terms(width, gamma_q, gamma_k, longest=None):
    """Sum over distances, perhaps the short ones only."""
    product = gamma_q * gamma_k
    if product == 1:
        return width**2
    far = width if longest is None else min(width, longest)
    return width + 2 * sum((width - m) * product**m for m in range(1, far))


def by_horner(width, gamma_q, gamma_k):
    total = 0.0
    for distance in range(1, width):
        total = total * gamma_q * gamma_k + distance
    return width + 2 * gamma_q * gamma_k * total


def by_matrix(width, gamma_q, gamma_k):
    distances = np.abs(np.subtract.outer(np.arange(width), np.arange(width)))
    return (float(gamma_q) ** distances * float(gamma_k) ** distances).sum()


class ScoreVariance:
    """A score's variance as an object and as a method."""

    def __call__(self, *arguments):
        return sum_of_terms(*arguments)

    def method(self, *arguments):
        return sum_of_terms(*arguments)


REFUSED |= {
    ("fading", "score_variance"): {
        "rounded to a whole number": lambda *of: round(float(sum_of_terms(*of))),
        "cut at a distance of 60": partial(sum_of_terms, longest=60),
        "cut at a distance of 100": partial(sum_of_terms, longest=100),
        "the absolute value of gamma": lambda width, a, b: sum_of_terms(width, abs(a), abs(b)),
        "gamma of the keys twice": lambda width, a, b: sum_of_terms(width, b, b),
        "a generator": lambda *of: (sum_of_terms(*of) for _ in range(1)),
        "no arguments": lambda: 1.0,
        "arguments in another order": lambda a, b, width: sum_of_terms(int(width), a, b),
        "an array of one": lambda *of: [sum_of_terms(*of)],
        "complex": lambda *of: complex(sum_of_terms(*of)),
        "a masked array": lambda *of: np.ma.array(sum_of_terms(*of)),
        "text": lambda *of: str(sum_of_terms(*of)),
    }
}
ACCEPTED |= {
    ("fading", "score_variance"): {
        "by Horner's scheme": by_horner,
        "by a matrix": by_matrix,
        "vectorized": np.vectorize(sum_of_terms, otypes=[float]),
        "a partial function": partial(sum_of_terms, longest=None),
        "an object": ScoreVariance(),
        "a method": ScoreVariance().method,
        "remembered": lru_cache(sum_of_terms),
        "as Decimal": lambda *of: Decimal(float(sum_of_terms(*of))),
        "as Fraction": lambda *of: Fraction(float(sum_of_terms(*of))),
        "as long double": lambda *of: np.longdouble(sum_of_terms(*of)),
        "without dimensions": lambda *of: np.array(sum_of_terms(*of)),
    }
}


# saturation
def count(scores, weights_of=rowwise):
    return np.exp(entr(weights_of(scores)).sum(axis=-1))


def filled(number):
    return lambda scores: count(np.where(np.isneginf(scores), number, scores))


def with_small(small):
    def positions(scores):
        weights = rowwise(scores)
        return np.exp(-(weights * np.log(weights + small)).sum(axis=-1))

    return positions


def about_the_first(scores):
    first = scores[..., :1]
    return careless(scores - np.where(np.isfinite(first), first, 0))


def largest_of_all(scores):
    return careless(scores - scores.max())


def by_product(scores):
    return 1 / np.prod(rowwise(scores) ** rowwise(scores), axis=-1)


def by_nansum(scores):
    weights = rowwise(scores)
    return np.exp(-np.nansum(weights * np.log(weights), axis=-1))


def by_sum_and_mean(scores):
    gaps = scores - scores.max(axis=-1, keepdims=True)
    terms = np.exp(gaps)
    total = terms.sum(axis=-1)
    mean = np.where(terms > 0, terms * np.where(np.isfinite(gaps), gaps, 0), 0).sum(axis=-1) / total
    return total * np.exp(-mean)


def row_by_row(scores):
    return np.apply_along_axis(lambda row: float(count(row[np.isfinite(row)])), -1, scores)


def slope(weights_of=rowwise):
    def function(scores, multiplier):
        weights = weights_of(multiplier * scores)
        return -multiplier * (weights @ (scores - weights @ scores) ** 2)

    return function


def slope_by_pairs(scores, multiplier):
    weights = rowwise(multiplier * scores)
    squares = np.subtract.outer(scores, scores) ** 2
    return -multiplier * (weights @ squares @ weights) / 2


def slope_by_difference(scores, multiplier, step=1e-6):
    return (
        difference(lambda c: entr(rowwise(c * multiplier * scores)).sum(), 1.0, step) / multiplier
    )


def divisor(scores, positions):
    def excess(logarithm):
        return count(scores / math.exp(logarithm)) - positions

    middle = math.log(np.ptp(scores))
    return math.exp(brentq(excess, middle - 12, middle + 12, xtol=1e-13))


REFUSED |= {
    ("positions", "positions"): {
        "two to the entropy in nats": lambda scores: 2 ** entr(rowwise(scores)).sum(axis=-1),
        "e to the entropy in bits": lambda s: np.exp(entr(rowwise(s)).sum(axis=-1) / math.log(2)),
        "global maximum": hidden_nan(partial(count, weights_of=largest_of_all)),
        "dimension kept": lambda scores: count(scores)[..., None],
        "axis 1": lambda s: np.exp(entr(softmax(s, axis=-1)).sum(axis=min(1, s.ndim - 1))),
        **{f"{small} added": with_small(small) for small in (1e-12, 1e-9)},
        "weights below 1e-12 dropped": lambda s: np.exp(
            entr(np.where(rowwise(s) < 1e-12, 0, rowwise(s))).sum(axis=-1)
        ),
        "scores clipped at 700": partial(count, weights_of=clipped(-700)),
        "gaps clipped at -30": partial(count, weights_of=gaps_clipped(-30)),
        "rounded to 8 decimals": lambda scores: np.round(count(scores), 8),
        "first score as the reference": partial(count, weights_of=about_the_first),
        **{f"infinity as {fill}": filled(fill) for fill in (-30, -50, -100, -1000, -5000)},
        "NaN as one": hidden_nan(partial(count, weights_of=careless), 1.0),
    },
    ("soften", "slope"): {
        "float64 difference": slope_by_difference,
        "wider float64 difference": partial(slope_by_difference, step=1e-4),
        "logits clipped at 700": slope(clipped(-700)),
        "NaN hidden": hidden_nan(slope(careless)),
        "times c once more": lambda scores, c: slope()(scores, c) * c,
        "for the divisor c": lambda scores, c: slope()(scores, 1 / c),
        "zero for wide rows": lambda s, c: slope()(s, c) if np.ptp(c * s) < 20 else 0.0,
    },
    ("soften", "divisor"): {
        "off by 1e-5": lambda *of: divisor(*of) * (1 + 1e-5),
        "off by 2e-6": lambda *of: divisor(*of) * (1 + 2e-6),
        "whole positions": lambda scores, positions: divisor(scores, math.floor(positions)),
        "four digits": lambda *of: float(f"{divisor(*of):.4g}"),
        "the multiplier": lambda *of: 1 / divisor(*of),
    },
}
ACCEPTED |= {
    ("positions", "positions"): {
        "by the entropy of SciPy": lambda s: np.exp(stats.entropy(rowwise(s), axis=-1)),
        "by xlogy": lambda s: np.exp(-xlogy(rowwise(s), rowwise(s)).sum(axis=-1)),
        "product of powers": by_product,
        "by nansum": by_nansum,
        "sum times exponential of a mean": by_sum_and_mean,
        "row by row": row_by_row,
        "1e-300 added": with_small(1e-300),
        "as lists": lambda scores: count(scores).tolist(),
    },
    ("soften", "slope"): {"centered": slope(), "by pairs": slope_by_pairs},
    ("soften", "divisor"): {
        "by a root finder": divisor,
        "in float32": lambda *of: np.float32(divisor(*of)),
        "six digits": lambda *of: float(f"{divisor(*of):.6g}"),
        "without dimensions": lambda *of: np.array(divisor(*of)),
    },
}


# gradients
def log_gradient(weights_of=rowwise):
    def function(scores, target):
        gradient = np.array(weights_of(scores))
        gradient[target] -= 1
        return gradient

    return function


def jacobian(weights):
    return np.diag(weights) - np.outer(weights, weights)


def quotient(scores, target, small=0.0):
    weights = rowwise(scores)
    return -jacobian(weights)[target] / (weights[target] + small)


def log_difference(scores, target):
    def loss(logits):
        return logsumexp(logits) - logits[target]

    steps = 1e-5 * np.eye(len(scores))
    return np.array([(loss(scores + step) - loss(scores - step)) / 2e-5 for step in steps])


def shifted_in_place(scores, target):
    scores -= scores.max()
    return log_gradient()(scores, target)


def query_gradient(weights_of=rowwise):
    def function(query, keys, costs):
        root = math.sqrt(len(query))
        p = weights_of(keys @ query / root)
        return (p * (costs - p @ costs)) @ keys / root

    return function


def by_moments(query, keys, costs):
    root = math.sqrt(len(query))
    p = rowwise(keys @ query / root)
    return ((p * costs) @ keys - (p @ costs) * (p @ keys)) / root


def bound(span=np.ptp, distance=lambda keys: cdist(keys, keys).max(), divide=4):
    return lambda keys, costs: span(costs) * distance(keys) / (divide * math.sqrt(keys.shape[1]))


def double_sweep(keys):
    return cdist(keys, keys[[cdist(keys[:1], keys).argmax()]]).max()


REFUSED |= {
    ("log-loss", "gradient"): {
        "0/0 by the Jacobian": quotient,
        "1e-300 in the denominator": partial(quotient, small=1e-300),
        "1e-12 in the denominator": partial(quotient, small=1e-12),
        "the entry before the target": lambda s, target: log_gradient()(s, target - 1),
        "weights clipped at 1e-12": log_gradient(lambda s: np.clip(rowwise(s), 1e-12, 1)),
        "weights clipped at 1e-16": log_gradient(lambda s: np.clip(rowwise(s), 1e-16, 1)),
        "in place": shifted_in_place,
        "a column": lambda s, target: log_gradient()(s, target)[:, None],
        "float64 difference": log_difference,
        "NaN hidden": log_gradient(hidden_nan(careless)),
        "about the mean, NaN as one": log_gradient(hidden_nan(about_the_mean, 1.0)),
        "times its weights": lambda s, target: rowwise(s) * log_gradient()(s, target),
        "times the weight of the target": lambda s, target: (
            rowwise(s)[target] * log_gradient()(s, target)
        ),
    },
    ("longest", "gradient"): {
        "logits clipped at 500": query_gradient(clipped(-500)),
        "NaN hidden": query_gradient(hidden_nan(careless)),
        "mean for maximum, NaN hidden": query_gradient(hidden_nan(about_the_mean)),
        "a row": lambda *of: query_gradient()(*of)[None],
        "the sign": lambda *of: -query_gradient()(*of),
        "without the inner division": lambda q, k, u: query_gradient()(q * math.sqrt(len(q)), k, u),
    },
    ("longest", "bound"): {
        "twice the radius": bound(
            distance=lambda k: 2 * np.linalg.norm(k - k.mean(axis=0), axis=1).max()
        ),
        "largest coordinate": bound(distance=lambda k: np.ptp(k, axis=0).max()),
        "neighbors in a ring": bound(
            distance=lambda k: np.linalg.norm(k - np.roll(k, 1, 0), axis=1).max()
        ),
        "last cost less the first": bound(span=lambda u: u[-1] - u[0]),
        "twice the largest cost": bound(span=lambda u: 2 * np.abs(u).max()),
        "an eighth": bound(divide=8),
        "two sweeps": bound(distance=double_sweep),
    },
}
ACCEPTED |= {
    ("log-loss", "gradient"): {
        "by a unit matrix": lambda s, target: rowwise(s) - np.eye(len(s))[target],
        "as a list": lambda s, target: list(log_gradient()(s, target)),
    },
    ("longest", "gradient"): {"plain": query_gradient(), "by moments": by_moments},
    ("longest", "bound"): {
        "by pairs": bound(distance=lambda k: pdist(k).max(initial=0.0)),
        "without dimensions": lambda *of: np.array(bound()(*of)),
    },
}


# divisor and initialization
def fold(weights, bias, n_heads):
    return np.vstack([weights, bias]) / math.sqrt(len(bias) // n_heads)


def first_head_only(weights, bias, n_heads):
    result, width = np.vstack([weights, bias]), len(bias) // n_heads
    result[:, :width] /= math.sqrt(width)
    return result


def advantage(tau, rho, d_k):
    return d_k / tau * (rho - 1 / (2 * tau))


def averaged_over_the_query(tau, rho, d_k):
    if tau <= 1:
        return advantage(tau, rho, d_k)
    return rho * d_k / tau + d_k / 2 * math.log(1 - 1 / tau**2)


def row_variance(spread):
    """Return a variance with something in place of the sum of the variances of the keys."""
    return lambda x, tokens, std_q, std_k, d_k: (std_q * std_k) ** 2 * (x @ x) * spread(tokens)


def by_drawing(x, tokens, std_q, std_k, d_k):
    rng = np.random.default_rng(0)
    variances = []
    for _ in range(30):
        query = x @ (std_q * rng.standard_normal((len(x), d_k)))
        keys = tokens @ (std_k * rng.standard_normal((len(x), d_k)))
        variances.append((keys @ query / math.sqrt(d_k)).var(ddof=1))
    return np.mean(variances)


def moments(variance, mean=1.0):
    """Return moments with a variance made of x, y and their product."""
    return lambda x, y, std, d_k: [
        mean * math.sqrt(d_k) * std**2 * (x @ y),
        std**4 * variance(x, y, x @ y),
    ]


def by_cosine(x, y, std, d_k):
    lengths = std**2 * np.linalg.norm(x) * np.linalg.norm(y)
    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    return (math.sqrt(d_k) * lengths * cosine, lengths**2 * (1 + cosine**2))


REFUSED |= {
    ("fold-bias", "fold"): {
        "the first head only": first_head_only,
        "both in place": lambda w, b, n: np.vstack(
            [w.__itruediv__(math.sqrt(len(b) // n)), b.__itruediv__(math.sqrt(len(b) // n))]
        ),
        "a tuple": lambda w, b, n: (w / math.sqrt(len(b) // n), b / math.sqrt(len(b) // n)),
        "zeros where weights are tiny": lambda w, b, n: fold(w, b, n) * (np.abs(w).max() > 1e-8),
    },
    ("stand-out", "log_advantage"): {
        "averaged over the query": averaged_over_the_query,
        "the advantage itself": lambda *of: math.exp(min(advantage(*of), 700)),
        "huge for small divisors": lambda tau, *of: advantage(tau, *of) if tau > 0.05 else 1e9,
    },
    ("row-start", "row_variance"): {
        "mean of squares over n - 1": row_variance(lambda t: (t**2).sum() / (len(t) - 1)),
        "mean for sum": row_variance(lambda t: t.var(axis=0, ddof=1).mean()),
        "one variance over all": row_variance(lambda t: t.var(ddof=1) * t.shape[1]),
        "first two tokens": row_variance(lambda t: ((t[0] - t[1]) ** 2).sum() / 2),
        "drawn": by_drawing,
    },
    ("tied", "moments"): {
        "mean zero": moments(lambda x, y, m: (x @ x) * (y @ y) + m**2, mean=0.0),
        "uniform law": moments(
            lambda x, y, m: (x @ x) * (y @ y) + m**2 - 1.2 * (x * x * y * y).sum()
        ),
        "two equal tokens": moments(lambda x, y, m: 2 * (x @ x) * (y @ y)),
        "the mean's square not subtracted": moments(lambda x, y, m: (x @ x) * (y @ y) + 2 * m**2),
        "the product's square left out": moments(lambda x, y, m: (x @ x) * (y @ y)),
    },
}
ACCEPTED |= {
    ("fold-bias", "fold"): {"by an added row": lambda w, b, n: np.r_[w, [b]] / np.sqrt(b.size / n)},
    ("stand-out", "log_advantage"): {"as float64": lambda *of: np.float64(advantage(*of))},
    ("row-start", "row_variance"): {
        "trace of the covariances": row_variance(lambda t: np.trace(np.atleast_2d(np.cov(t.T)))),
        "all pairs at once": row_variance(
            lambda t: ((t[:, None] - t) ** 2).sum() / (2 * len(t) * (len(t) - 1))
        ),
    },
    ("tied", "moments"): {
        "by the cosine, as a tuple": by_cosine,
        "by the cosine, as a list": lambda *of: list(by_cosine(*of)),
    },
}


# implementation
def logits_of(query, key):
    return query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])


def attend(weights_of=rowwise, kind=float):
    return lambda query, key, value: (weights_of(logits_of(query, key)) @ value).astype(kind)


def smooth_cap(logits):
    return rowwise(1e6 * np.tanh(logits / 1e6))


def by_logsumexp(logits):
    return np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))


def one_query_at_a_time(query, key, value):
    if query.ndim > 2:
        return np.stack([one_query_at_a_time(*of) for of in zip(query, key, value, strict=True)])
    rows = [rowwise(key @ one / math.sqrt(len(one))) @ value for one in query]
    return np.array(rows)


def hide(change, blind_rows=True):
    """Return masked attention with changed logits, and zeros in blind rows if asked."""

    def masked(query, key, value, mask):
        output = rowwise(change(logits_of(query, key), mask)) @ value
        return np.where(mask.any(axis=-1, keepdims=True), output, 0) if blind_rows else output

    return masked


def fill(number):
    return lambda logits, mask: np.where(mask, logits, number)


def add(number):
    return lambda logits, mask: logits + number * ~mask


def merge(first, second):
    largest = max(first[0], second[0])
    if largest == -math.inf:
        return first.copy()
    one, other = math.exp(first[0] - largest), math.exp(second[0] - largest)
    return np.r_[largest, one * first[1:] + other * second[1:]]


def naively_merged(first, second, at_least=-math.inf):
    largest = max(first[0], second[0], at_least)
    one, other = np.exp(first[0] - largest), np.exp(second[0] - largest)
    return np.r_[largest, one * first[1:] + other * second[1:]]


def zero_maximum(first, second):
    merged = merge(first, second)
    merged[0] = merged[0] if np.isfinite(merged[0]) else 0
    return merged


def second_is_larger(first, second):
    merged = second.copy()
    merged[1:] += np.exp(first[0] - second[0]) * first[1:]
    return merged


def only_total_shrunk(first, second):
    merged = merge(first, second)
    merged[2:] = first[2:] + second[2:]
    return merged


def in_branches(first, second):
    small, large = sorted((first, second), key=lambda state: state[0])
    merged = large.copy()
    if small[1] > 0:
        merged[1:] += np.exp(small[0] - large[0]) * small[1:]
    return merged


REFUSED |= {
    ("scaled-attention", "attend"): {
        **{
            f"logits clipped at {limit}, {kind}": attend(clipped(-limit), kind)
            for limit in (50, 80, 300, 700)
            for kind in ("float32", "float64")
        },
        "mean for maximum": attend(about_the_mean),
        "mean for maximum, NaN hidden": attend(hidden_nan(about_the_mean)),
        "NaN hidden": attend(hidden_nan(careless)),
        "global maximum, NaN hidden": attend(hidden_nan(largest_of_all)),
        "smooth cap": attend(smooth_cap),
        "1e-9 added": lambda *of: attend()(*of) + 1e-9,
    },
    ("scaled-attention", "masked"): {
        **{f"hidden by {number}": hide(fill(number)) for number in (-50, -100, -1e3, -1e4)},
        **{f"{number} added": hide(add(number)) for number in (-1e3, -1e4)},
        "-1e9 in blind rows": hide(fill(-1e9), blind_rows=False),
        "smallest float in blind rows": hide(fill(np.finfo(float).min), blind_rows=False),
        "NaN in blind rows": hide(fill(-np.inf), blind_rows=False),
        "inverted": hide(lambda logits, mask: np.where(mask, -np.inf, logits)),
        "times the mask": hide(lambda logits, mask: logits * mask),
        "clipped at 1e4": hide(lambda z, mask: np.where(mask, np.clip(z, -1e4, 1e4), -np.inf)),
    },
    ("merge-blocks", "merge"): {
        "NaN hidden": hidden_nan(naively_merged),
        "maximum zero for empty": zero_maximum,
        "maximum at least zero": partial(naively_merged, at_least=0.0),
        "only the total shrunk": only_total_shrunk,
        "second always larger": second_is_larger,
        "in place": in_place(merge),
    },
}
ACCEPTED |= {
    ("scaled-attention", "attend"): {
        "by logsumexp": attend(by_logsumexp),
        "one query at a time": one_query_at_a_time,
        "in float64": attend(),
    },
    ("scaled-attention", "masked"): {
        "hidden by -1e9": hide(fill(-1e9)),
        "hidden by -1e30": hide(fill(-1e30)),
        "NaN made zero": lambda q, k, v, mask: (
            np.nan_to_num(rowwise(np.where(mask, logits_of(q, k), -np.inf))) @ v
        ),
        "mask of whole numbers": lambda q, k, v, mask: hide(fill(-np.inf))(
            q, k, v, mask.astype(int) == 1
        ),
    },
    ("merge-blocks", "merge"): {"plain": merge, "in branches": in_branches},
}


# training and temperature
def largest_without_failure(rates, losses):
    return rates[np.isfinite(losses).all(axis=0)].max()


def adam(epsilon=lambda square: np.sqrt(square) + 1e-8, share=0.999):
    def moved(gradients, rate):
        mean = square = total = np.zeros(gradients.shape[1])
        for step, gradient in enumerate(gradients, start=1):
            mean = 0.9 * mean + 0.1 * gradient
            square = share * square + (1 - share) * gradient**2
            total = total - rate * mean / (1 - 0.9**step) / epsilon(square / (1 - share**step))
        return total

    return moved


def epsilon_before_the_correction(gradients, rate):
    mean = square = total = np.zeros(gradients.shape[1])
    for step, gradient in enumerate(gradients, start=1):
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        factor = math.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        total = total - rate * factor * mean / (np.sqrt(square) + 1e-8)
    return total


def plain_means(gradients, rate):
    total = np.zeros(gradients.shape[1])
    for step in range(1, len(gradients) + 1):
        seen = gradients[:step]
        total -= rate * seen.mean(axis=0) / (np.sqrt((seen**2).mean(axis=0)) + 1e-8)
    return total


def scale_slope(weights_of=rowwise):
    def function(scores, values, target, c):
        p = weights_of(c * scores)
        return (p * (scores - p @ scores)) @ (2 * values @ (p @ values - target))

    return function


def loss_difference(scores, values, target, c):
    return difference(lambda f: ((rowwise(f * scores) @ values - target) ** 2).sum(), c)


def gain(weight, n_keys, cosine):
    return (math.log(n_keys - 1) + math.log(weight / (1 - weight))) / (1 - cosine)


def by_default_root_finder(weight, n_keys, cosine):
    return brentq(lambda g: 1 / (1 + (n_keys - 1) * math.exp(g * (cosine - 1))) - weight, -50, 500)


def cooling(weights_of=rowwise):
    def function(scores, tau):
        logits = scores / tau
        p = weights_of(logits)
        return p @ (logits - p @ logits) ** 2

    return function


def cooling_difference(scores, tau):
    return difference(lambda log: entr(rowwise(scores / math.exp(log))).sum(), math.log(tau), 1e-5)


REFUSED |= {
    ("fair-rate", "choose"): {
        "geometric mean": lambda rates, losses: rates[np.log(losses).mean(axis=0).argmin()],
        "largest that never failed": largest_without_failure,
        "root mean square": lambda rates, losses: rates[(losses**2).mean(axis=0).argmin()],
        "sorted rates": lambda rates, losses: np.sort(rates)[losses.mean(axis=0).argmin()],
        "median": lambda rates, losses: rates[np.median(losses, axis=0).argmin()],
        "best run": lambda rates, losses: rates[losses.min(axis=0).argmin()],
        "worst run": lambda rates, losses: rates[losses.max(axis=0).argmin()],
    },
    ("adam-step", "moved"): {
        "square of epsilon under the root": adam(lambda square: np.sqrt(square + 1e-16)),
        "epsilon before the correction": epsilon_before_the_correction,
        "epsilon of 1e-7": adam(lambda square: np.sqrt(square) + 1e-7),
        "a share of 0.99": adam(share=0.99),
        "plain means": plain_means,
        "signs": lambda gradients, rate: -rate * np.sign(gradients).sum(axis=0),
    },
    ("scale-gradient", "slope"): {
        "a factor c too many": lambda *of: of[-1] * scale_slope()(*of),
        "logits clipped at 500": scale_slope(clipped(-500)),
        "float64 difference": loss_difference,
        "weights at a factor of one": lambda s, v, t, c: scale_slope()(s, v, t, 1.0),
        "an average over components": lambda s, v, t, c: scale_slope()(s, v, t, c) / v.shape[1],
    },
    ("needed-gain", "gain"): {
        "one more than the cosine": lambda w, n, r: gain(w, n, r) * (1 - r) / (1 + r),
        "the cosine's size": lambda w, n, r: gain(w, n, r) * (1 - r) / (1 - abs(r)),
        "default root finder": by_default_root_finder,
        "as many rivals as keys": lambda w, n, r: gain(w, n + 1, r),
    },
    ("cooling", "slope"): {
        "small difference": cooling_difference,
        "divided three times": lambda z, tau: cooling()(z, tau) / tau,
        "not weighted": lambda z, tau: np.var(z / tau),
        "the sign": lambda *of: -cooling()(*of),
        "logits clipped at 500": cooling(clipped(-500)),
    },
}
ACCEPTED |= {
    ("fair-rate", "choose"): {
        "as a float": lambda rates, losses: float(rates[losses.mean(axis=0).argmin()]),
        "by the smallest pair": lambda rates, losses: min(
            zip(losses.mean(axis=0).tolist(), rates.tolist(), strict=True)
        )[1],
    },
    ("adam-step", "moved"): {"plain": adam(), "as a list": lambda *of: adam()(*of).tolist()},
    ("scale-gradient", "slope"): {"centered": scale_slope()},
    ("needed-gain", "gain"): {
        "by two logarithms": gain,
        "by log1p": lambda w, n, r: (np.log(n - 1) + np.log(w) - np.log1p(-w)) / (1 - r),
    },
    ("cooling", "slope"): {"centered": cooling()},
}


# the chapter of exercises
def derivative_difference(weights):
    scores, steps = np.log(np.maximum(weights, 1e-300)), 1e-6 * np.eye(len(weights))
    columns = [(softmax(scores + step) - softmax(scores - step)) / 2e-6 for step in steps]
    return np.array(columns).T


def repaired(weights_of=rowwise, divisor=lambda n, width, d_k: d_k, put_back=True):
    def attention(tokens, w_query, w_key, w_value, n_heads):
        n, width = tokens.shape
        query, key, value = (
            (tokens @ matrix).reshape(n, n_heads, -1).transpose(1, 0, 2)
            for matrix in (w_query, w_key, w_value)
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(divisor(n, width, query.shape[-1]))
        output = weights_of(scores) @ value
        return (output.transpose(1, 0, 2) if put_back else output).reshape(n, width)

    return attention


def turned(queries):
    keys = np.empty_like(queries)
    keys[:, ::2], keys[:, 1::2] = -queries[:, 1::2], queries[:, ::2]
    return keys


def changed(number, *place):
    """Return keys at a right angle with some entries replaced."""

    def keys_of(queries):
        keys = turned(queries)
        keys[place] = number
        return keys

    return keys_of


def two_left(queries):
    keys = np.zeros_like(queries)
    keys[:, 0], keys[:, 1] = -queries[:, 1], queries[:, 0]
    return keys


def noise(shape, size=1.0):
    return size * np.random.default_rng(0).standard_normal(shape)


def rarely_long(queries):
    rare = np.random.default_rng(2).random((len(queries), 1)) < 1e-4
    return turned(queries) * np.where(rare, 100, 0)


def shuffled_halves(queries):
    places = np.random.default_rng(3).permutation(64)
    keys = np.empty_like(queries)
    keys[:, places[:32]], keys[:, places[32:]] = -queries[:, places[32:]], queries[:, places[:32]]
    return keys


ROOT = math.sqrt(3)
SIXTHS = [1 / 6, 2 / 3, 1 / 6]


def four_points():
    """Return four points whose law has the moments of the normal one up to the fourth."""
    inner = 1 - math.sqrt(2 / 3)
    a, b = math.sqrt(inner), math.sqrt(4 - 3 * inner)
    return [[-b, -a, a, b], [1 / 8, 3 / 8, 3 / 8, 1 / 8]]


def asymmetric(low=-1.6, middle=0.1):
    """Return three points whose law has the moments of the normal one up to the fourth."""

    def law(high):
        points = np.array([low, middle, high])
        return points, np.linalg.solve(np.vander(points, increasing=True).T, [1, 0, 1])

    def excess(high):
        points, chances = law(high)
        return chances @ points**4 - 3

    return np.array(law(brentq(excess, 1.5, 1.9, xtol=1e-15)))


REFUSED |= {
    ("jacobian", "derivatives"): {
        "absolute values": lambda p: np.abs(jacobian(p)),
        "by differences": derivative_difference,
        "a diagonal twice as deep": lambda p: jacobian(p) - np.diag(p**2),
        "divided by the number of keys": lambda p: jacobian(p) / len(p),
    },
    ("jacobian", "tie"): {
        "negative": [0.6, 0.6, -0.1, -0.1],
        "a sum of 1.2": [0.5, 0.5, 0.1, 0.1],
        "a sum of two": [1, 1, 0, 0],
        "five": [0.49, 0.49, 0.01, 0.01, 0],
        "logits": [3, 3, 0, 0],
        "all NaN": [math.nan] * 4,
        "one infinity": [math.inf, 0.5, 0.5, 0],
        "complex": [0.49 + 0j, 0.49, 0.01, 0.01],
        "text": "tie",
        "texts": ["0.5", "0.5", "0", "0"],
        "a set": {0.49, 0.01},
        "truth values": [True, False, False, False],
        "one number": 3,
        "a function": lambda: [0.5, 0.5, 0, 0],
        "uniform": [0.25] * 4,
    },
    ("kurtosis", "excess"): {
        "whole division": lambda a, b, d: (a * b - 3) // d,
        "the query's twice": lambda a, b, d: (a * a - 3) / d,
        "the kurtosis": lambda a, b, d: (a * b - 3) / d + 3,
        "three undivided": lambda a, b, d: a * b / d - 3,
        "one for three": lambda a, b, d: (a * b - 1) / d,
    },
    ("kurtosis", "three_points"): {
        "no kurtosis of three": [[-2, 0, 2], [1 / 8, 3 / 4, 1 / 8]],
        "a sum of more than one": [[-ROOT, 0, ROOT], [1 / 6, 2 / 3, 1 / 3]],
        "not normalized": [[-ROOT, 0, ROOT], [1, 4, 1]],
        "a mean": [[-ROOT, 0, ROOT], [1 / 6, 5 / 6, 0]],
        "one-sided": [[-ROOT, -ROOT, 0], [1 / 6, 1 / 6, 2 / 3]],
        "negative chance": [[-ROOT, ROOT, 0], [-1 / 6, 1 / 6, 1]],
        "all NaN": [[math.nan] * 3] * 2,
        "huge": [[1e200, 0, -1e200], SIXTHS],
        "complex": [[complex(ROOT), 0, -ROOT], SIXTHS],
        "a dictionary": dict(zip((-ROOT, 0, ROOT), SIXTHS, strict=True)),
        "text": "x",
        "a number": 5,
        "ragged": [[-ROOT, 0, ROOT], [1 / 6, 2 / 3]],
        "transposed": np.array([[-ROOT, 0, ROOT], SIXTHS]).T,
        "a law of SciPy": stats.rv_discrete(values=([-1, 0, 1], SIXTHS)),
    },
    ("break", "orthogonal"): {
        "the queries": lambda queries: queries.copy(),
        "two components left": two_left,
        "absolute values": lambda queries: np.abs(turned(queries)),
        "one over the query": lambda queries: 1 / queries,
        "mean one": lambda queries: turned(queries) + 1,
        "times 1.01": lambda queries: 1.01 * turned(queries),
        "times 0.985": lambda queries: 0.985 * turned(queries),
        "one NaN": changed(math.nan, 0, 0),
        "two components zero": changed(0, slice(None), slice(2)),
        "one row": lambda queries: turned(queries)[0],
        "transposed": lambda queries: turned(queries).T,
        "noise of 1e-3": lambda queries: turned(queries) + noise(queries.shape, 1e-3),
        "rarely a hundred times as long": rarely_long,
        "rolled with signs": lambda queries: np.roll(queries, 1, axis=1) * np.sign(queries),
        "a number": 3,
        "text": "x",
        "a matrix": np.eye(3),
        "a class": int,
    },
    ("repair", "repaired"): {
        "keys turned": repaired(lambda scores: rowwise(scores.swapaxes(1, 2))),
        "heads not turned back": repaired(put_back=False),
        "NaN hidden": repaired(hidden_nan(careless)),
        "divided by the model's width": repaired(divisor=lambda n, width, d_k: width),
        "divided by the number of tokens": repaired(divisor=lambda n, width, d_k: n),
        "softmax over the heads": repaired(lambda scores: softmax(scores, axis=0)),
    },
}
ACCEPTED |= {
    ("jacobian", "derivatives"): {
        "as a matrix of its own kind": lambda p: jacobian(p).view(np.matrix),
        "in Fortran's order": lambda p: np.asfortranarray(jacobian(p)),
        "by rows": lambda p: p[:, None] * (np.eye(len(p)) - p),
    },
    ("jacobian", "tie"): {
        "nearly a half each": [0.4999, 0.4999, 0.0001, 0.0001],
        "softmax of two leaders": softmax([3, 3, 0, 0.0]),
    },
    ("kurtosis", "excess"): {
        "in two parts": lambda a, b, d: a * b / d - 3 / d,
        "in fractions": lambda a, b, d: Fraction(a) * Fraction(b) / d - Fraction(3, d),
    },
    ("kurtosis", "three_points"): {
        "in any order": [[0, ROOT, -ROOT], [2 / 3, 1 / 6, 1 / 6]],
        "a tuple": ([-ROOT, 0, ROOT], SIXTHS),
        "asymmetric": asymmetric(),
        "four points": four_points(),
        "fractions": [[-ROOT, 0, ROOT], [Fraction(1, 6), Fraction(2, 3), Fraction(1, 6)]],
    },
    ("break", "orthogonal"): {
        "shuffled halves": shuffled_halves,
        "as lists": lambda queries: turned(queries).tolist(),
        "in float32": lambda queries: turned(queries).astype(np.float32),
        "in another order of rows": lambda queries: turned(queries[::-1])[::-1],
        "along the query, with a constant product": lambda queries: (
            queries * math.sqrt(64 * 62) / (queries**2).sum(axis=1, keepdims=True)
        ),
    },
    ("repair", "repaired"): {"all heads at once": repaired()},
    ("temperature", "top_weight"): {"four digits": 0.1855, "three digits": 0.186},
    ("temperature", "nats_half"): {"four digits": 3.793, "three digits": 3.79},
    ("temperature", "used_half"): {"three digits": 49.6, "whole": 50},
    ("temperature", "used_usual"): {"four digits": 157.6, "whole": 158},
    ("temperature", "used_double"): {"four digits": 226.2, "whole": 226},
}

# what one may take for the answer to another question, or round too far
WRONG_NUMBERS = {
    ("which-width", "divisor"): [64, math.sqrt(1536 * 12), 12, 11],
    ("which-width", "spread"): [math.sqrt(64 / 1536), 0.29, math.sqrt(128) / 1536],
    ("divide-later", "gap"): [
        math.log(0.9) - math.log(0.01),
        math.log2(10),
        math.log(0.9),
        math.log(10) * 8,
        9,
    ],
    ("divide-later", "top"): [
        0.9**0.125 / (0.9**0.125 + 0.09**0.125),
        1 / 3,
        0.43,
        0.9 ** (1 / math.sqrt(8)) / sum(x ** (1 / math.sqrt(8)) for x in (0.9, 0.09, 0.01)),
    ],
    ("unseen", "free"): [16, 136, 15, 7],
    ("unequal", "variance"): [32 * 16 + 64 / 16, 512, 34, 512 + 64, 65 * 4],
    ("unequal", "divisor"): [math.sqrt(546) / 96, 24],
    ("rectified", "center"): [64 / math.pi, 10.1],
    ("rectified", "total"): [64 * 0.341, 64 / 4 - 64 * (1 / (2 * math.pi))],
    ("rectified", "within"): [64 * 0.341 * 0.341],
    ("fading", "pairs"): [64, 3, 186, 64 * 3, 2 * 64 - 3, 126],
    ("fading", "limit"): [
        1.64,
        0.64 / (1 - 0.64),
        (1 + 0.64**2) / (1 - 0.64**2),
        1.64 / 0.6,
        4.5,
        281.7 / 64,
    ],
    ("runner-up", "least"): [math.exp(2) / 32, math.exp(-2), 1 / (2 + 30 * math.exp(-2)), 0.19],
    ("runner-up", "most"): [math.exp(-2), 1 - math.exp(-2), 0.9],
    ("runner-up", "needed"): [math.log(2), 2, 2 * math.log(31), math.sqrt(2 * math.log(32)), 3.4],
    ("positions", "effective"): [math.sqrt(1024), 2**4.158, 46, math.sqrt(2 * 1023), 1 + 512],
    ("positions", "squared"): [1 / 0.75, 1024, 3.99],
    ("soften", "floor"): [3, 7],
    ("soften", "five"): [4.5, 3, 4.0],
    ("nudge", "still"): [-0.0016, -0.0023, -0.0285],
    ("log-loss", "plain"): [math.sqrt(2) * 6.1e-06, 8.6e-06, 8.7e-06, 6.14e-06 * math.sqrt(3) / 2],
    ("log-loss", "logarithm"): [12, 1.732, 1.4],
    ("longest", "fall"): [0.9, 0.36**2, 0.3, 0.8, 0.64, 0.1 / 0.25],
    ("longest", "most"): [16, 64, 32],
    ("tell-divisor", "a"): [1.6, 2.5, math.sqrt(5), 3.2],
    ("tell-divisor", "b"): [0.4, 100],
    ("tell-divisor", "c"): [36, 0.25, 4, 96, 144 / 24],
    ("fold-bias", "each"): [2, 16, 0.5, 1 / 256],
    ("fold-bias", "kernel"): [0.3535, 64],
    ("stand-out", "rival"): [math.exp(32), math.exp(1 / 128), math.exp(1 / 16)],
    ("stand-out", "best"): [40, 0.2 * 64, math.sqrt(5)],
    ("stand-out", "width"): [173.3, 2 * math.log(1024) / 0.2, 1024, 350, 345],
    ("no-divisor", "std"): [1 / 1024, 0.0111],
    ("no-divisor", "bound"): [0.0110485 * 2],
    ("no-divisor", "wider"): [math.sqrt(2), 2**1.5],
    ("row-start", "everything"): [math.sqrt(2), 9],
    ("row-start", "row"): [0.5, math.sqrt(2)],
    ("tied", "terms"): [512 * 511, 512 + 6 * 512 * 511, 512 + 512 * 511 * 3 / 2],
    ("tied", "own"): [64, 65, 9],
    ("tied", "others"): [2, 1 + 64 / 128, 1 + 65 / 511, 1.51],
    ("weights-memory", "gigabytes"): [4.29],
    ("weights-memory", "longest"): [3423, 19300],
    ("weights-memory", "saving"): [64, 256 * 32, 128, 8],
    ("merge-blocks", "total"): [2 + 3 / 3, 3 + 2 * math.exp(3), 2 + 3 * math.exp(-4), 2.2],
    ("merge-blocks", "share"): [0.0747, 0.07, 0.4],
    ("group-losses", "pair"): [0.5, 0.8, 0.75, 0.9, 0.0],
    ("group-losses", "leak"): [0.044, 0.0833, 0.0144, 0.0854],
    ("group-losses", "enough"): [0.5, 0.2236, 1 / 6, 1 / 30, 0.18],
    ("adam-step", "first"): [-0.316, 0],
    ("adam-step", "second"): [-0.6, -1, -0.85, 0.6, -1.4002],
    ("scale-gradient", "divided"): [1.5729, 0.23105, 0.1966, 0.73],
    ("scale-gradient", "plain"): [2.68, 8 * 0.99966 * 0.00034, 0.0027],
    ("odds", "temperature"): [9, 0.955],
    ("odds", "halved"): [9],
    ("odds", "doubled"): [0.9, 0.45, 0.5, 2 / 3, 0.8],
    ("needed-gain", "least"): [6.93, 9.13, 8, 2.197, math.log(9), math.log(1023), 4.5],
    ("needed-gain", "needed"): [6.93, 2.2, 8, 4.56, 9.12, 9.9],
    ("needed-gain", "scattered"): [9.13, 10.6, 118.1, 9.128 + 0.65, 9.8, 10, 9.7785],
    ("cooling", "gap"): [1.2, 1, 4, 4.8],
    ("cooling", "most"): [0.44, 0.5, 0.878, 0.11, 1.11],
    ("cooling", "long_row"): [1],
    ("spread", "plain"): [math.sqrt(1024), 1],
    ("spread", "root"): [512, 0.0442],
    ("spread", "full"): [1, 0.0625],
    ("lead", "x_half"): [3, 0.5],
    ("lead", "x_nearly"): [297],
    ("lead", "x_flat"): [2.197, 0.0253, 4.7],
    ("lead", "slope_left"): [0.01],
    ("lead", "weight_flat"): [0.9, 0.1, 0.97, 0.975],
    ("temperature", "by_formula"): [5.045, 7.545, 8 - 2],
    ("temperature", "top_weight"): [0.2],
    ("temperature", "nats_half"): [5.053],
    ("temperature", "used_half"): [157],
    ("jacobian", "first_entry"): [-0.0097, 0.9409, 0.03],
    ("jacobian", "beside"): [-0.25, -0.06],
    ("jacobian", "uniform_squares"): [0.25, 0.75, 0.19],
    ("kurtosis", "terms_of_four"): [16],
    ("kurtosis", "terms_of_pairs"): [6, 3, 24],
    ("kurtosis", "kappa_signs"): [-0.5, 0],
    ("kurtosis", "kappa_uniform"): [0.06, 1.8, 0.04],
    ("critical", "width_16"): [5.5, 7],
    ("critical", "width_128"): [9.7],
    ("critical", "width_1024"): [13.9],
    ("critical", "keys_16"): [65536, 1096],
    ("critical", "keys_64"): [7.9e12],
    ("break", "var_same"): [0, 64 * 2 + 64**2],
    ("break", "var_signs"): [4096],
    ("break", "var_both"): [4096, 1088],
    ("repair", "too_small"): [2, 1 / 16, math.sqrt(768)],
    ("start", "var_query"): [1.4],
    ("start", "var_key"): [1 / 768, 0.58],
    ("start", "var_score"): [5898],
    ("start", "tau"): [math.sqrt(96) * 0.64],
    ("start", "var_usual"): [0.064],
    ("scaled-attention", "divisor"): [768, 12, 16],
}

REFUSED |= {
    part: {f"{number:.6g}": number for number in numbers} for part, numbers in WRONG_NUMBERS.items()
}


@pytest.mark.parametrize(("name", "part", "answer"), tries(REFUSED))
def test_it_is_refused(name: str, part: str, answer):
    said = check(name, **{part: answer}).parts[part]
    assert not said.passed
    assert said.message
    assert "Not answered yet" not in said.message


@pytest.mark.parametrize(("name", "part", "answer"), tries(ACCEPTED))
def test_it_is_accepted(name: str, part: str, answer):
    said = check(name, **{part: answer}).parts[part]
    assert said.passed, said.message


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Number))
class TestNumber:
    def test_it_is_accepted_in_every_form(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        right = judge.right
        forms = [
            Fraction(right), Decimal(right), np.longdouble(right), [right], (right,),
            np.array(right), np.array([[right]]), np.array(right, dtype=object),
        ]  # fmt: skip
        narrow, rounded = np.float32(right), float(f"{right:.{judge.digits - 1}e}")
        if abs(narrow - right) <= judge.room(right):
            forms.append(narrow)
        if judge.within is None or abs(rounded - right) <= judge.within:
            forms.append(rounded)
        if right.is_integer():
            forms += [int(right), np.int64(right)]
        if right.is_integer() and 0 <= right < 256:
            forms.append(np.uint8(right))
        for form in forms:
            said = check(name, **{part: form}).parts[part]
            assert said.passed, (form, said.message)

    def test_what_is_no_number_is_refused(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        odd = [
            complex(right), np.complex128(right), str(right), str(right).encode(), np.array([""]),
            True, np.True_, {"a": right}, {right}, [right, right], np.array([]), [[]],
            np.ma.array([right]), np.ma.array(right, mask=True), timedelta(right % 100),
            np.timedelta64(int(right % 100), "s"), datetime(2020, 1, 1),  # noqa: DTZ001
            np.datetime64("2020-01-01"), iter([right]), lambda: right, type, math,
            np.rec.array([(right,)], dtype=[("a", float)]), np.void(b"ab"), object(),
            math.nan, math.inf, -math.inf, 10**400, Fraction(10**400), np.array([None]),
        ]  # fmt: skip
        for answer in odd:
            said = check(name, **{part: answer}).parts[part]
            assert not said.passed, answer
            assert said.message


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Pick))
class TestPick:
    def test_it_is_accepted_however_it_is_typed(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        typed = [
            right.upper(), f"  {right} ", np.str_(right), np.array([right])[0],
            right.replace("−", "-"), f"{right}.", f"`{right}`", f"`{right}`.",
        ]  # fmt: skip
        for answer in typed:
            said = check(name, **{part: answer}).parts[part]
            assert said.passed, (answer, said.message)

    def test_another_option_is_refused_however_it_is_typed(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        others = [option for option in judge.options if option != judge.right]
        for option in others:
            for answer in (option.upper(), np.str_(option), f"{option}.", f"`{option}`"):
                said = check(name, **{part: answer}).parts[part]
                assert not said.passed, answer
                assert said.message == judge.options[option]

    def test_what_is_no_choice_is_refused(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        for answer in ("", " ", [right], {right}, right.encode(), 0, 1.5, math.nan, str, right * 2):
            said = check(name, **{part: answer}).parts[part]
            assert not said.passed, answer
            assert "none of the options" in said.message
