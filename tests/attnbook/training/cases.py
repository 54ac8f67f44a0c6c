"""Answers to the exercises of the chapter on training."""

import math

import numpy as np
import scipy.special
from scipy.optimize import brentq

from attnbook.training import Adam, initial_state, optimizer_step
from tests.attnbook.cases import Answers, Cases


# the best rate
def loop(rates, losses):
    best, smallest = None, math.inf
    for place, rate in enumerate(rates):
        column = [float(row[place]) for row in losses]
        if math.inf not in column and sum(column) < smallest:
            best, smallest = rate, sum(column)
    return best


def sorted_rates(rates, losses):
    return rates[np.argsort(losses.sum(axis=0), kind="stable")][:1].reshape(())


def finite_infinity(number):
    """Make a choice that counts a number for a run that diverged."""
    return lambda rates, losses: rates[np.minimum(losses, number).sum(axis=0).argmin()]


def counted_as(number):
    """Make a choice that counts a number for infinity only."""

    def choose(rates, losses):
        counted = losses.copy()
        counted[losses == np.inf] = number
        return rates[counted.mean(axis=0).argmin()]

    return choose


def only_finite(rates, losses):
    return rates[np.ma.masked_invalid(losses).mean(axis=0).argmin()]


# Adam
def with_library(gradients, rate):
    parameters = {"all": np.zeros(gradients.shape[1])}
    state = initial_state(parameters)
    for gradient in gradients:
        parameters, state = optimizer_step(Adam(rate), parameters, {"all": gradient}, state)
    return parameters["all"]


def all_at_once(gradients, rate):
    total = np.zeros(gradients.shape[1])
    for seen in range(1, len(gradients) + 1):
        ages = np.arange(seen)[::-1, None]
        mean, square = (
            (share**ages * gradients[:seen] ** power).sum(0) / (share**ages).sum()
            for share, power in ((0.9, 1), (0.999, 2))
        )
        total -= rate * mean / (square**0.5 + 1e-8)
    return total


def in_single(gradients, rate):
    return all_at_once(gradients, rate).astype(np.float32)


def adam(_means, corrected):
    return corrected[0] / (np.sqrt(corrected[1]) + 1e-8)


def written(step, shares=(0.9, 0.999), late=0):
    """Make Adam of a function of the two running means, as they are and corrected."""

    def moved(gradients, rate):
        mean = square = total = 0
        for count, gradient in enumerate(gradients, start=1 + late):
            mean = shares[0] * mean + (1 - shares[0]) * gradient
            square = shares[1] * square + (1 - shares[1]) * gradient**2
            corrected = mean / (1 - shares[0] ** count), square / (1 - shares[1] ** count)
            total = total - rate * step((mean, square), corrected)
        return total

    return moved


def newest(gradients, rate):
    return with_library(gradients, rate) - (
        with_library(gradients[:-1], rate) if len(gradients) > 1 else 0
    )


# the derivative by the factor
def slope(scores, values, target, c):
    p = scipy.special.softmax(c * scores)
    jacobian = np.diag(p) - np.outer(p, p)
    return 2 * (p @ values - target) @ (values.T @ (jacobian @ scores))


def as_covariance(scores, values, target, c):
    p = scipy.special.softmax(c * scores)
    u = 2 * values @ (p @ values - target)
    return float(np.sum(p * scores * u) - np.sum(p * scores) * np.sum(p * u))


def one_by_one(scores, values, target, c):
    p = scipy.special.softmax([float(c) * float(z) for z in scores])
    mean = sum(w * float(z) for w, z in zip(p, scores, strict=True))
    total = 0.0
    for part in range(len(target)):
        column = values[:, part].astype(float)
        change = sum(w * (z - mean) * v for w, z, v in zip(p, scores, column, strict=True))
        total += 2 * (p @ column - target[part]) * change
    return total


def covariance(p, z, u):
    return p @ (z * u) - (p @ z) * (p @ u)


def varied(
    change=lambda p, z, u, _c: covariance(p, z, u),
    weights_of=lambda scores, c: scipy.special.softmax(c * scores),
):
    """Make a derivative from a function of weights, scores, costs and factor."""

    def slope(scores, values, target, c):
        p = weights_of(scores, c)
        return change(p, scores, 2 * values @ (p @ values - target), c)

    return slope


def normalized(powers):
    return powers / powers.sum()


overflowing = varied(weights_of=lambda scores, c: normalized(np.exp(c * scores)))
about_the_mean = varied(weights_of=lambda z, c: normalized(np.exp(c * (z - z.mean()))))


def zero_for_large(scores, values, target, c):
    return 0.0 if np.abs(c * scores).max() > 600 else slope(scores, values, target, c)


def mean_error(scores, values, target, c):
    return slope(scores, values, target, c) / len(target)


def quotient(scores, values, target, c):
    def loss(factor):
        return ((scipy.special.softmax(factor * scores) @ values - target) ** 2).sum()

    return (loss(c + 1e-5) - loss(c - 1e-5)) / 2e-5


ENOUGH = brentq(lambda p: 1 - p**2 / (6 * (p**2 / 6 + (1 - p) ** 2 / 24)) - 5 / 6, 0.01, 0.9)
SIGMOID = 1 / (1 + math.exp(-1))
TILT = 8 * SIGMOID * (1 - SIGMOID)
SHARP = scipy.special.expit(8)

GROUP_LOSSES_CASES = Cases(
    "group-losses",
    pair=Answers(
        [1 - 2 / 6, 0.667, np.float32(0.66667)],
        (5 / 6, "one right token leaves"),
        (1 / 3, "the loss is the rest"),
        (11 / 12, "both are right"),
        (0.67, "more digits"),
    ),
    leak=Answers(
        [1 - 0.49 / (6 * (0.49 / 6 + 0.09 / 24)), 0.0439, np.array([0.0439])],
        (0.3, "weight that is lost"),
        (0.09, "square of the weight"),
        (0.51, "sums over right and wrong"),
        (0.1125, "value matrix at one"),
        (0.0354, "wrong ones only"),
        (0.956, "ten times too large"),
    ),
    enough=Answers(
        [ENOUGH, 0.183],
        (0.2, "uniform attention"),
        (0.817, "wrong tokens"),
        (1 / 21, "root is missing"),
        (1 / (1 + 24**0.5), "own part"),
    ),
)

FAIR_RATE_CASES = Cases(
    "fair-rate",
    rate=Answers(
        [0.1, np.float32(0.1), [0.1]],
        (0.32, "diverged"),
        (0.032, "lucky seed"),
        (0.01, "far from the best"),
        (1, "every seed"),
        (0.051, "too small"),
    ),
    edge=Answers(
        ["add larger rates and tune again", "Add larger rates  and tune again"],
        ("take 1 and go on", "last rate tried"),
        ("take 0.32 to be safe", "handicaps"),
        ("take the rate of the other arm", "whom it suits"),
    ),
    shared=Answers(
        [
            "that this rate suits the arm that does not divide",
            "THAT this rate suits the arm that does not divide",
        ],
        ("that the division harms", "At another rate"),
        ("that the division helps", "larger losses"),
        ("that three seeds are too few", "every seed"),
    ),
    report=Answers(
        ["new seeds, each arm at its own rate", " new seeds, each arm at its own rate "],
        ("the three seeds of the table, each arm at its own rate", "flatter"),
        ("new seeds, both arms at one rate", "suits"),
        ("the best of several new seeds", "luck"),
    ),
    choose=Answers(
        [loop, sorted_rates, lambda rates, losses: [loop(rates, losses)][0]],
        (only_finite, "leaves out runs"),
        *((counted_as(number), "keep the infinity") for number in (10, 100, 1e6, 1e9)),
        (counted_as(30), "keep the infinity"),
        (finite_infinity(1e4), "keep the infinity"),
        (lambda rates, losses: rates[losses.min(0).argmin()], "best single seed"),
        (lambda rates, losses: rates[np.argmin(np.median(losses, axis=0))], "median"),
        (lambda rates, losses: min(zip(losses.max(0), rates, strict=True))[1], "worst seed"),
        (lambda _, losses: np.argmin(losses.sum(axis=0)), "place of the rate"),
        (lambda _, losses: np.min(losses.mean(axis=0)), "smallest mean loss"),
        (lambda rates, losses: rates[list(losses[0]).index(min(losses[0]))], "first seed"),
        (lambda rates, losses: rates[np.argmin(losses.mean(axis=1))], "over the rates"),
        (lambda rates, losses: rates[losses.argmin()], "IndexError"),
        (lambda rates, _: rates[len(rates) // 2], "calls are wrong"),
        (lambda rates, _: rates, "shape"),
    ),
)

ADAM_STEP_CASES = Cases(
    "adam-step",
    first=Answers(
        [-1, -1.0, np.float32(-1)],
        (1, "sign is wrong"),
        (-3.162, "start at zero: divide"),
        (-3, "step of SGD"),
        (-0.1, "not that of the gradients"),
        (-1 / 3, "mean square"),
    ),
    second=Answers(
        [
            with_library(np.array([[3.0], [-1.0]]), 1)[0] + 1,
            -(0.9 * 0.3 - 0.1) / 0.19 / math.sqrt((0.999 * 0.009 + 0.001) / (1 - 0.999**2)),
            -0.4,
        ],
        (0.4002, "sign is wrong"),
        (1, "first step again"),
        (-0.17 / math.sqrt(0.009991), "start at zero"),
        (-1 / math.sqrt(5), "plain means"),
        (-0.8947368 / 4.998, "mean square"),
    ),
    moved=Answers(
        [with_library, all_at_once, in_single],
        (written(lambda means, _: adam(means, means)), "not corrected"),
        (written(lambda a, b: adam(a, (a[0], b[1]))), "not the mean of the gradients"),
        (written(lambda a, b: adam(a, (b[0], a[1]))), "not the mean of the squares"),
        (written(lambda _, b: b[0] / (b[1] + 1e-8)), "take its root"),
        (lambda gradients, rate: -with_library(gradients, rate), "against the gradient"),
        (written(adam, shares=(0.999, 0.9)), "swapped the two shares"),
        (written(adam, late=1), "one too high"),
        (written(lambda _, b: b[0] / np.sqrt(b[1] + 1e-8)), "under the root"),
        (written(lambda _, b: b[0] / np.sqrt(b[1])), "ε is missing"),
        (newest, "last step"),
        (lambda gradients, rate: -rate * np.sum(gradients, axis=0), "This is SGD"),
        (lambda g, rate: (-rate * g / np.abs(g)).sum(axis=0), "without memory"),
        (lambda gradients, _: with_library(gradients, 0.1), "off"),
        (lambda gradients, rate: with_library(gradients[::-1], rate), "off"),
    ),
)

SCALE_GRADIENT_CASES = Cases(
    "scale-gradient",
    divided=Answers(
        [2 * (SIGMOID - 0.5) * TILT, 0.727, np.float32(0.72686)],
        (2 * (SIGMOID - 0.5) * TILT / 8, "chain rule"),
        ((SIGMOID - 0.5) * TILT, "two of the square"),
        (-0.727, "sign is wrong"),
        (2 * (SIGMOID - 0.5) * 8 * SIGMOID, "p·z"),
        (0.00268, "at c = 1"),
    ),
    plain=Answers(
        [16 * (SHARP - 0.5) * SHARP * (1 - SHARP), 0.00268, 2.68e-3],
        (2 * (SHARP - 0.5) * SHARP * (1 - SHARP), "chain rule"),
        (0.00134, "two of the square"),
        (16 * (SHARP - 0.5) * SHARP, "p·z"),
        (0.727, "at c = 1/8"),
        (0, "too small"),
    ),
    step=Answers(
        ["pⱼ(zⱼ − Σₗ pₗzₗ)", "pⱼ(zⱼ − Σₗ  pₗzₗ)"],
        ("pⱼzⱼ", "denominator"),
        ("pⱼ(1 − pⱼ)zⱼ", "own score"),
        ("zⱼ − Σₗ pₗzₗ", "logarithm"),
    ),
    slope=Answers(
        [slope, as_covariance, one_by_one],
        (varied(lambda p, z, u, _: (p * z * u).sum()), "has to be subtracted"),
        (varied(lambda p, z, u, _: covariance(p, z, u) / 2), "two of the square"),
        (varied(lambda p, z, u, _: covariance(p, z, -u)), "output minus target"),
        (varied(lambda p, z, u, c: covariance(p, c * z, u)), "logarithm of c"),
        (varied(lambda p, z, u, c: -(c**2) * covariance(p, z, u)), "temperature"),
        (varied(weights_of=lambda z, _: scipy.special.softmax(z)), "those of c = 1"),
        (
            varied(lambda _p, z, u, _c: np.mean((z - z.mean()) * (u - u.mean()))),
            "counts with its weight",
        ),
        (overflowing, "overflow"),
        (lambda *row: np.nan_to_num(overflowing(*row)), "nearly tie"),
        (zero_for_large, "nearly tie"),
        (lambda *row: np.nan_to_num(about_the_mean(*row)), "off"),
        (
            varied(weights_of=lambda z, c: scipy.special.softmax(np.clip(c * z, -700, 700))),
            "off",
        ),
        (mean_error, "averaged over the components"),
        (quotient, "off"),
        (lambda *_: 0.0, "off"),
        (lambda scores, *_: scores, "shape"),
        (lambda *arguments: slope(*arguments) * (1 + 1e-9), "off"),
    ),
)
