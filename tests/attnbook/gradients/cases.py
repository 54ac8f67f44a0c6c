"""Answers to the exercises of the chapter on gradients."""

import math
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, logsumexp, softmax

from attnlib import attention_vjp, softmax_jacobian, softmax_vjp
from tests.attnbook.cases import Answers, Cases

P = np.array([0.7, 0.2, 0.1])
STEP = 0.001  # of the second logit


def moved(first, second):
    """Return the weights after changes of two raw scores."""
    return softmax(np.log(P) + np.array([first, second, 0]) / 8)


def one_hot(scores, target):
    return np.eye(len(scores))[target]


def log_gradient(scores, target):
    return softmax(scores) - one_hot(scores, target)


def by_logarithm(scores, target):
    gradient = np.exp(log_softmax(scores))
    gradient[target] -= 1
    return gradient


def by_others(scores, target):
    weights = softmax(scores)
    gradient = weights.tolist()
    gradient[target] = -sum(w for key, w in enumerate(weights) if key != target)
    return gradient


def by_costs(scores, target):
    weights = softmax(scores)
    costs = np.zeros(len(scores))
    costs[target] = -1 / weights[target]
    return softmax_jacobian(weights) @ costs


def by_costs_through_mean(scores, target):
    weights = softmax(scores)
    costs = -one_hot(scores, target) / weights
    return weights * (costs - np.sum(weights * costs))


def without_maximum(scores, target):
    return np.exp(scores) / np.sum(np.exp(scores)) - one_hot(scores, target)


def by_target_from_one(scores, target):
    gradient = softmax(scores)
    gradient[max(target - 1, 0)] -= 1
    return gradient


def by_differences(scores, target):
    """Return differences of the loss, which are as good as rounding to float32 lets see."""

    def loss(logits):
        return logsumexp(logits - logits.max()) + logits.max() - logits[target]

    steps = 1e-5 * np.eye(len(scores))
    slopes = [(loss(scores + step) - loss(scores - step)) / 2e-5 for step in steps]
    return np.array(slopes, dtype=np.float32)


FAR = np.array([12.0, 0.0, 0.0, 0.0])
LOG_LENGTH = float(np.linalg.norm(log_gradient(FAR, 1)))
P_TARGET = float(softmax(FAR)[1])


def by_covariance(query, keys, costs):
    p = softmax(keys @ query / math.sqrt(len(query)))
    centered = keys - p @ keys
    return centered.T @ (p * costs) / math.sqrt(len(query))


def by_jacobian(query, keys, costs):
    p = softmax(keys @ query / len(query) ** 0.5)
    return keys.T @ (np.diag(p) - np.outer(p, p)) @ costs / len(query) ** 0.5


def by_package(query, keys, costs):
    # values of one component make a cost of u for an upstream gradient of one
    return attention_vjp(query[None], keys, costs[:, None], np.ones((1, 1))).query[0]


def gradient_of(by_logits=softmax_vjp, weights_of=softmax, inner=math.sqrt, outer=math.sqrt):
    """Make a gradient on the query of its parts; the last two are of the width."""

    def gradient(query, keys, costs):
        p = weights_of(keys @ query / inner(len(query)))
        return by_logits(p, costs) @ keys / outer(len(query))

    return gradient


def not_at_all(_width):
    return 1


def only_square(query, keys, costs):
    """Right only where there are as many keys as components."""
    p = softmax(keys @ query / math.sqrt(len(keys)))
    return softmax_vjp(p, costs) @ keys / math.sqrt(len(keys))


def of_keys(query, keys, costs):
    root = math.sqrt(len(query))
    return softmax_vjp(softmax(keys @ query / root), costs)[:, None] * query / root


def overflowing(logits):
    return np.exp(logits) / np.exp(logits).sum()


def clipped(*row):
    gradient = gradient_of(weights_of=lambda logits: softmax(np.clip(logits, -700, 700)))
    return gradient(*row).astype(np.float32)


def about_the_mean(*row):
    """Subtract the mean in place of the maximum, and hide what overflows."""
    gradient = gradient_of(
        by_logits=lambda p, u: p * (u - p @ u),
        weights_of=lambda logits: overflowing(logits - logits.mean()),
    )
    return np.nan_to_num(gradient(*row))


def plain_bound(keys, costs):
    width = keys.shape[1]
    spread = max(costs) - min(costs)
    return spread * max(math.dist(a, b) for a in keys for b in keys) / 4 / math.sqrt(width)


def by_products(keys, costs):
    products = keys @ keys.T
    squares = np.diag(products)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0).max())
    return np.ptp(costs) * distance / np.sqrt(16 * keys.shape[1])


def from_first_key(keys, costs):
    return np.ptp(costs) * cdist(keys, keys[:1]).max() / (4 * math.sqrt(keys.shape[1]))


def neighbors(keys, costs):
    most = max((math.dist(a, b) for a, b in pairwise(keys)), default=0)
    return np.ptp(costs) * most / (4 * math.sqrt(keys.shape[1]))


def by_walking(keys, costs, start):
    """Go to the farthest key again and again, which need not lead to the farthest two."""
    distances, place, most = cdist(keys, keys), start, 0
    for _ in keys:
        most = max(most, distances[place].max())
        place = distances[place].argmax()
    return np.ptp(costs) * most / (4 * math.sqrt(keys.shape[1]))


def off_center(keys):
    return np.linalg.norm(keys - keys.mean(axis=0), axis=1).argmax()


def longest_key(keys, costs):
    return np.ptp(costs) * max(map(np.linalg.norm, keys)) / (4 * math.sqrt(keys.shape[1]))


def box(keys, costs):
    sides = keys.max(axis=0) - keys.min(axis=0)
    return np.ptp(costs) * np.linalg.norm(sides) / (4 * math.sqrt(keys.shape[1]))


def with_another_range(keys, span):
    return span * cdist(keys, keys).max() / (4 * math.sqrt(keys.shape[1]))


def found_still():
    """Return the change of the first raw score at which the third weight is what it was."""
    return brentq(lambda change: moved(change, 0.008)[2] - P[2], -0.1, 0.1, xtol=1e-14)


NUDGE_CASES = Cases(
    "nudge",
    change=Answers(
        [
            STEP * softmax_jacobian(P)[:, 1],
            [-0.00014, 0.00016, -0.00002],
            moved(0, 0.008) - P,
            (moved(0, 0.008) - moved(0, -0.008)) / 2,
            np.array([-1.4e-4, 1.6e-4, -2e-5], dtype=np.float32),
        ],
        ([-0.00112, 0.00128, -0.00016], "divide by √dₖ"),
        ([-1.75e-5, 2e-5, -2.5e-6], "divided by the width"),
        ([0, 0.00016, 0], "off-diagonal entries are missing"),
        ([0.00014, 0.00016, 0.00002], "must sum to zero"),
        ([0.00014, -0.00016, 0.00002], "signs are turned"),
        ([-0.00014, 0.0002, -0.00002], "not p"),
        ([0.00021, 0.00016, 0.00009], "This is the diagonal"),
        ([0.00021, -0.00014, -0.00007], "the second rises"),
        ([[-0.00014], [0.00016], [-0.00002]], "is wanted"),
        (STEP * softmax_jacobian(P), "is wanted"),
        (moved(0, 0.008), "3 of 3 entries are off"),
        ([-0.00008, 0.00016, -0.00008], "2 of 3 entries are off, first at [0]"),
        ([-0.00014, 0.00016, -0.0000205], "1 of 3 entries is off, first at [2]"),
        ([-0.0001405, 0.0001605, -0.0000205], "3 of 3 entries are off"),
    ),
    still=Answers(
        [-0.2 / 0.7 * 0.008, -0.00229, found_still(), np.float32(-0.0022857)],
        (0.0022857, "falls twice"),
        (-0.008, "too much"),
        (-0.028, "upside down"),
        (-0.00028571, "change of the logit"),
        (0.0091429, "keeps the second weight"),
        (0, "too small"),
    ),
)

LOG_LOSS_CASES = Cases(
    "log-loss",
    plain=Answers(
        [P_TARGET * LOG_LENGTH, float(np.linalg.norm(softmax_jacobian(softmax(FAR))[1])), 8.69e-6],
        (LOG_LENGTH, "for −ln pₜ"),
        (P_TARGET * (1 - P_TARGET), "the target's own entry"),
        (P_TARGET * np.abs(log_gradient(FAR, 1)).sum(), "added up the entries"),
        (1, "derivative by the weight"),
        ((P_TARGET * LOG_LENGTH) ** 2, "square of the length"),
        (0, "too small"),
    ),
    logarithm=Answers(
        [LOG_LENGTH, 1.41, math.sqrt(2), np.float32(1.4142)],
        (1 - P_TARGET, "size of one entry"),
        (2, "the root of the sum"),
        (1 / P_TARGET, "pₜ cancels"),
        (8.69e-6, "This is the length for −pₜ"),
    ),
    gradient=Answers(
        [
            log_gradient,
            by_logarithm,
            by_others,
            lambda scores, target: log_gradient(scores, target).astype(np.float32),
            lambda scores, target: by_logarithm(scores.astype(np.float32), target),
        ],
        (lambda scores, target: -log_gradient(scores, target), "sign is wrong"),
        (lambda scores, target: -softmax_jacobian(softmax(scores))[target], "gradient of −pₜ"),
        (
            lambda scores, target: one_hot(scores, target) * (softmax(scores)[target] - 1),
            "Only the target's entry",
        ),
        (lambda scores, _: softmax(scores), "has one subtracted"),
        (lambda scores, _: softmax(scores) - 1, "subtracted one everywhere"),
        (by_target_from_one, "one place off"),
        (
            lambda scores, target: log_gradient(scores, target) / scores.size,
            "divided by the number of keys",
        ),
        (by_costs_through_mean, "cancel pₜ on paper"),
        (without_maximum, "subtract the largest score"),
        (by_costs, "cancel pₜ on paper"),
        (lambda scores, target: log_gradient(scores, target)[target], "is wanted"),
        (lambda scores, target: log_gradient(scores, target)[None], "is wanted"),
        (lambda scores, _: np.zeros_like(scores), "off"),
        (by_differences, "off"),
        (lambda scores, target: log_gradient(np.clip(scores, -99, 99), target), "off"),
        (lambda scores, target: log_gradient(scores, -1 - target), "off"),
        (lambda scores, _: log_gradient(scores, int(scores.argmin())), "off"),
        (lambda scores, target: -one_hot(scores, target) / softmax(scores), "off"),
    ),
)

LONGEST_CASES = Cases(
    "longest",
    fall=Answers(
        [0.9 * 0.1 / 0.25, 0.36, np.float32(0.36)],
        (0.09, "p(1 − p) itself"),
        (0.6, "a root too many"),
        (0.1, "the smaller weight"),
        (0.18, "not a half"),
    ),
    most=Answers(
        [16 * 2 / (4 * 8), 1, np.int64(1)],
        (0.5, "One of the ranges"),
        (0.25, "Both ranges"),
        (4, "quarter is missing"),
        (2, "A half is missing"),
        (8, "without the division"),
        (1 / 8, "divided by the width"),
    ),
    gradient=Answers(
        [
            by_covariance,
            by_jacobian,
            by_package,
            lambda query, keys, costs: by_covariance(query, keys, costs).tolist(),
            lambda query, keys, costs: by_covariance(query, keys, costs - 1),
            lambda query, keys, costs: by_jacobian(query, keys, costs).astype("f"),
        ],
        (gradient_of(outer=not_at_all), "missing behind the softmax"),
        (gradient_of(inner=not_at_all), "divide inside the softmax"),
        (gradient_of(inner=not_at_all, outer=not_at_all), "There is no √dₖ"),
        (gradient_of(outer=lambda width: width), "twice behind the softmax"),
        (gradient_of(inner=lambda width: width, outer=lambda width: width), "divided by dₖ"),
        (only_square, "root of the number of keys"),
        (gradient_of(lambda p, u: p * u), "mean ū is missing"),
        (gradient_of(lambda p, u: p * (u - u.mean())), "weighted by p"),
        (gradient_of(lambda p, u: p * (1 - p) * u), "diagonal of the Jacobian only"),
        (lambda q, k, u: -by_covariance(q, k, u), "sign is wrong"),
        (of_keys, "gradient on the keys"),
        (gradient_of(lambda p, u: p * (u - p @ u), overflowing), "subtract the largest score"),
        (lambda q, k, u: np.linalg.norm(by_covariance(q, k, u)), "is wanted"),
        (lambda q, k, u: by_covariance(q, k, u)[None], "is wanted"),
        (lambda q, *_: np.zeros_like(q), "off"),
        (lambda q, k, u: by_covariance(q, k, np.sort(u)), "off"),
        (lambda q, k, u: by_covariance(-q, k, u), "off"),
        (clipped, "off"),
        (about_the_mean, "off"),
    ),
    bound=Answers(
        [
            plain_bound,
            by_products,
            lambda keys, costs: with_another_range(keys, np.ptp(costs)),
            lambda keys, costs: np.float32(plain_bound(keys, costs)),
        ],
        (lambda k, u: 4 * plain_bound(k, u), "The quarter is missing"),
        (lambda k, u: 2 * plain_bound(k, u), "a half where a quarter"),
        (lambda k, u: np.ptp(u) * cdist(k, k).max() / 4, "division by √dₖ is missing"),
        (lambda k, u: np.ptp(u) * cdist(k, k).max() / 4 / k.shape[1], "divided by dₖ"),
        (longest_key, "took the longest key"),
        (lambda k, u: 2 * longest_key(k, u), "Twice the longest key"),
        (box, "a box around the keys"),
        (lambda k, u: with_another_range(k, np.abs(u).max()), "largest |u|"),
        (lambda k, u: with_another_range(k, np.std(u)), "standard deviation of u"),
        (from_first_key, "off"),
        (neighbors, "off"),
        (lambda k, u: by_walking(k, u, 0), "off"),
        (lambda k, u: by_walking(k, u, -1), "off"),
        (lambda k, u: by_walking(k, u, off_center(k)), "off"),
        (
            lambda k, u: (
                with_another_range(k, np.ptp(u)) * (len(k) < 6)
                + by_walking(k, u, off_center(k)) * (len(k) >= 6)
            ),
            "off",
        ),
        (lambda *_: 1.0, "off"),
        (lambda k, u: np.ptp(u) * cdist(k, k).max() / 4 / math.sqrt(len(k)), "off"),
        (lambda k, u: np.ptp(u) * cdist(k, k).max(axis=1), "is wanted"),
        (lambda k, u: cdist(k, k).max() * np.ptp(u) / (4 * 8), "off"),
    ),
)
