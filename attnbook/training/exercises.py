"""The exercises of the chapter on training."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick

# Price what a head does
GROUPS, MEMBERS, FOUND = 5, 6, 0.7
OTHERS = (GROUPS - 1) * MEMBERS
LOST = 1 - FOUND


def _loss(right_mass: float, square: float) -> float:
    return 1 - right_mass**2 / (MEMBERS * square)


def _even_square(others: int) -> float:
    return FOUND**2 / MEMBERS + LOST**2 / others


GROUP_LOSSES = Check(
    "group-losses",
    pair=Number(
        "the least relative loss with half the weight on each of two right tokens",
        _loss(1, 1 / 2),
        mistakes={
            _loss(1, 1): "This is what one right token leaves; here there are two.",
            1 - _loss(1, 1 / 2): "This is the part that the head gets right; the loss is the rest.",
            _loss(1 / 2, 1 / 2): "This is one right token and a wrong one; both are right.",
        },
        praise="Each further right token takes as much off again.",
    ),
    leak=Number(
        "the least relative loss with 0.7 of the weight on the right group",
        _loss(FOUND, _even_square(OTHERS)),
        mistakes={
            LOST: "This is the weight that is lost; the loss is a ratio of squares.",
            LOST**2: "This is the square of the weight that is lost; see the theorem.",
            1 - FOUND**2: "You took ‖p‖² as if all the weight were spread over the right group; "
            "here its square sums over right and wrong tokens.",
            MEMBERS * (MEMBERS * (LOST / MEMBERS) ** 2 + LOST**2 / OTHERS): "This is the loss with "
            "the value matrix at one; the best one is larger.",
            _loss(FOUND, _even_square(OTHERS + MEMBERS)): "You spread what is lost over all "
            "tokens; it lies on the wrong ones only.",
        },
        praise="Errors that are spread evenly cost little.",
    ),
    enough=Number(
        "the share of the weight on the right group that does as well as one right token",
        1 / (1 + math.sqrt(OTHERS * (1 - 1 / MEMBERS))),
        mistakes={
            1 / GROUPS: "This is uniform attention, whose loss is 1 − 1/G; "
            "one right token has another loss.",
            1 - 1 / (1 + math.sqrt(OTHERS * (1 - 1 / MEMBERS))): "This is the share on wrong "
            "tokens; we want that on the right group.",
            1 / (1 + OTHERS * (1 - 1 / MEMBERS)): "A root is missing: "
            "the two shares enter the condition as squares.",
            1 / (1 + math.sqrt(OTHERS)): "The right group's own part of ‖p‖² is missing in "
            "your condition.",
        },
        praise="That is less than in uniform attention: one token is a poor estimate of the mean.",
    ),
)

# Choose a rate fairly
RATES = np.array([0.01, 0.032, 0.1, 0.32, 1.0])
PLAIN_LOSSES = np.array(
    [
        [0.61, 0.12, 0.052, 0.021, np.inf],
        [0.55, 0.03, 0.046, np.inf, np.inf],
        [0.64, 0.24, 0.055, 0.030, np.inf],
    ]
)
DIVIDED_LOSSES = np.array(
    [
        [0.95, 0.60, 0.21, 0.046, 0.031],
        [0.93, 0.66, 0.25, 0.058, 0.012],
        [0.91, 0.57, 0.20, 0.049, 0.038],
    ]
)


def _choose(rates: np.ndarray, losses: np.ndarray) -> float:
    return float(rates[losses.mean(axis=0).argmin()])


def _by(
    score: Callable[[np.ndarray], np.ndarray], rates: np.ndarray, losses: np.ndarray
) -> np.ndarray:
    """Choose by another score of the columns."""
    return np.asarray(rates[np.argmin(score(losses))])


def _mean_of_finite(losses: np.ndarray) -> np.ndarray:
    count = np.isfinite(losses).sum(axis=0)
    total = np.where(np.isfinite(losses), losses, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


def _with_a_number_for_infinity(losses: np.ndarray, *, number: float) -> np.ndarray:
    return np.where(np.isinf(losses), number, losses).mean(axis=0)


def draw_sweeps(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw sweeps, in some of which single seeds diverge; one rate at least never does."""
    calls = [(RATES, PLAIN_LOSSES), (RATES, DIVIDED_LOSSES)]
    lost = np.array([[20.0, 1.0], [20.0, 1.0], [20.0, np.inf]])
    calls += [(np.array([0.1, 1.0]), lost), (np.array([1.0, 0.1]), 1e30 * lost[:, ::-1])]
    for seeds, count in 4 * ((5, 7), (3, 4), (1, 6), (4, 1), (8, 8)):
        rates = rng.permutation(10 ** rng.uniform(-3, 0, count))
        losses = rng.exponential(size=(seeds, count))
        losses[rng.random((seeds, count)) < 0.1] = np.inf
        losses[:, rng.integers(count)] = rng.uniform(0.3, 1.5, seeds)
        calls.append((rates, losses))
    return calls


def room_of_choice(right: np.ndarray, _arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Allow what rounding to the type of the answer takes: a rate is taken over, not computed."""
    return eps * np.abs(right)


FAIR_RATE = Check(
    "fair-rate",
    rate=Number(
        "the learning rate for the arm that does not divide",
        _choose(RATES, PLAIN_LOSSES),
        mistakes={
            0.32: "At this rate one of the seeds diverged, "
            "so it is out, however good the others look.",
            0.032: "One lucky seed has its best loss here; the mean over seeds decides.",
            0.01: "Here all seeds are still far from the best loss.",
            1.0: "At this rate every seed diverged.",
        },
        digits=2,
    ),
    edge=Pick(
        "what to do about the arm that divides",
        "add larger rates and tune again",
        {
            "take 1 and go on": "Its mean is smallest there, but 1 is the last rate tried: "
            "a larger rate may be better still.",
            "take 0.32 to be safe": "A rate inside the grid that is known to be worse "
            "handicaps the arm.",
            "take the rate of the other arm": "A shared rate measures whom it suits.",
            "add larger rates and tune again": "Right: its smallest mean lies at the edge of "
            "the grid, so the best rate may lie outside.",
        },
    ),
    shared=Pick(
        "what the losses at the rate 0.1 show",
        "that this rate suits the arm that does not divide",
        {
            "that the division harms": "At another rate the divided arm is better than the "
            "other is anywhere in the table.",
            "that the division helps": "In this column the divided arm has the larger losses.",
            "that three seeds are too few": "In this column the arms are far apart in every "
            "seed; it is not the number of seeds that makes it misleading.",
            "that this rate suits the arm that does not divide": "Right: it is this arm's "
            "best rate and far from the other's.",
        },
    ),
    report=Pick(
        "which losses to report in the end",
        "new seeds, each arm at its own rate",
        {
            "the three seeds of the table, each arm at its own rate": "These losses chose the "
            "rate, so they flatter it; an arm with more rates tried is flattered more.",
            "new seeds, both arms at one rate": "That measures whom the rate suits.",
            "the best of several new seeds": "The best seed of an arm is luck, and more seeds "
            "make more of it.",
            "new seeds, each arm at its own rate": "Right, with the median and the spread "
            "over seeds.",
        },
    ),
    choose=Function(
        "the function choose(rates, losses), which returns one of the rates",
        _choose,
        draw_sweeps,
        room_of_choice,
        mistakes={
            partial(_by, _mean_of_finite): "Your mean leaves out runs that diverged. "
            "A rate at which one of its seeds diverges is out.",
            **{
                partial(_by, partial(_with_a_number_for_infinity, number=number)): "You count a "
                "run that diverged as a large number. "
                "Other losses can be larger than any number that you choose; keep the infinity."
                for number in (10, 100, 1e3, 1e6, 1e9, 1e10)
            },
            partial(_by, partial(np.min, axis=0)): "You choose by the best single seed; "
            "the rule takes the mean over seeds.",
            partial(_by, partial(np.median, axis=0)): "You choose by the median, "
            "which does not see that a seed diverged.",
            partial(_by, partial(np.max, axis=0)): "You choose by the worst seed. "
            "That is careful, but the rule takes the mean.",
            (lambda _rates, losses: losses.mean(axis=0).argmin()): "This is the place of the rate; "
            "return the rate itself.",
            (lambda _rates, losses: losses.mean(axis=0).min()): "This is the smallest mean loss; "
            "return the rate that has it.",
            (lambda rates, losses: rates[losses[0].argmin()]): "You look at the first seed only; "
            "take the mean over all of them.",
            (lambda rates, losses: rates[losses.mean(axis=1).argmin()]): "You averaged over the "
            "rates; seeds are the rows, so the mean goes down axis 0.",
        },
    ),
)

# Take two steps by hand
ADAM_RATE, STEP_GRADIENTS = 0.01, (3.0, -1.0)
ROUNDED_BETAS = (0.9, 0.999)


def _adam(
    gradients: np.ndarray,
    rate: float,
    *,
    betas: tuple[float, float] = ROUNDED_BETAS,
    corrected: tuple[bool, bool] = (True, True),
    late: int = 0,
    root: Callable[[np.ndarray], np.ndarray] = np.sqrt,
    epsilon: float = 1e-8,
    inside: float = 0.0,
    sign: int = -1,
    last_only: bool = False,
) -> np.ndarray:
    """Return how far Adam has moved each parameter after all of its gradients."""
    first = np.zeros(gradients.shape[1])
    second, moved, step = first.copy(), first.copy(), first.copy()
    for count, gradient in enumerate(np.asarray(gradients, dtype=float), start=1 + late):
        first = betas[0] * first + (1 - betas[0]) * gradient
        second = betas[1] * second + (1 - betas[1]) * gradient**2
        mean = first / (1 - betas[0] ** count) if corrected[0] else first
        square = second / (1 - betas[1] ** count) if corrected[1] else second
        step = sign * rate * mean / (root(square + inside) + epsilon)
        moved = moved + step
    return step if last_only else moved


def _sgd(gradients: np.ndarray, rate: float) -> np.ndarray:
    return -rate * np.asarray(gradients).sum(axis=0)


def _sign_steps(gradients: np.ndarray, rate: float) -> np.ndarray:
    return -rate * np.sign(gradients).sum(axis=0)


def _move(count: int, **wrong: Any) -> float:
    gradients = np.array(STEP_GRADIENTS[:count])[:, None]
    return float(_adam(gradients, 1.0, last_only=True, epsilon=0.0, **wrong)[0])


def draw_gradients(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw gradients over some steps, of all sizes, and rates."""
    calls = []
    for steps, width, size in ((1, 1, 1.0), (2, 3, 1.0), (7, 2, 30.0), (40, 4, 1e-3), (3, 5, 1e-8)):
        gradients = size * rng.standard_normal((steps, width))
        calls.append((gradients, float(10 ** rng.uniform(-3, 0))))
    calls.append((rng.standard_normal((4, 3)) * [1e-6, 1.0, 1e6], 0.1))
    return calls


def room_of_adam(right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding of the moves.

    With u = eps/2, a running mean of t steps is off by at most 3t·u of that of the sizes. In
    1 − β^t digits are lost: it is at least 1 − β₂ = 1/1000, so it is off by up to 2000u, and its
    root by 1000u. By Cauchy–Schwarz the mean of the sizes over the root of the mean square is at
    most (1 − β₁)/√((1 − β₂)(1 − β₁²/β₂)) < 8. So each of T moves is off by at most
    8(1020 + 6T)u rates, and their sum by T times that and its own last digit.
    """
    gradients, rate = arguments
    unit, steps = eps / 2, len(gradients)
    return 8 * steps * (1020 + 6 * steps) * unit * rate + 2 * unit * np.abs(right)


ADAM_STEP = Check(
    "adam-step",
    first=Number(
        "by how many rates Adam moves the parameter in its first step, with the sign",
        _move(1),
        mistakes={
            1.0: "The sign is wrong: a step goes against the gradient.",
            _move(1, corrected=(False, False)): "You did not correct the running means for their "
            "start at zero: divide each by the sum of its weights.",
            -STEP_GRADIENTS[0]: "This is the step of SGD; Adam divides it by a size.",
            _move(1, corrected=(False, True)): "You corrected the mean of squares for its start at "
            "zero, but not that of the gradients.",
            _move(1, root=lambda square: square): "You divided by the mean square; take its root.",
        },
        praise="The size of the gradient does not matter, only its sign.",
    ),
    second=Number(
        "by how many rates Adam moves the parameter in its second step, with the sign",
        _move(2),
        mistakes={
            -_move(2): "The sign is wrong: the mean of the two gradients is still positive.",
            1.0: "This is the first step again, turned round: "
            "but the mean remembers the first gradient.",
            _move(2, corrected=(False, False)): "You did not correct the running means for their "
            "start at zero.",
            -sum(STEP_GRADIENTS)
            / 2
            / math.sqrt(sum(g**2 for g in STEP_GRADIENTS) / 2): "You took plain means; "
            "in Adam's the second gradient counts more than the first.",
            _move(2, root=lambda square: square): "You divided by the mean square; take its root.",
        },
        praise="A gradient that changes its sign shortens the step.",
    ),
    moved=Function(
        "the function moved(gradients, rate), which returns the change of each parameter",
        _adam,
        draw_gradients,
        room_of_adam,
        mistakes={
            partial(_adam, corrected=(False, False)): "The running means are not corrected for "
            "their start at zero.",
            partial(_adam, corrected=(False, True)): "You corrected the mean of the squares for "
            "its start at zero, but not the mean of the gradients.",
            partial(_adam, corrected=(True, False)): "You corrected the mean of the gradients for "
            "its start at zero, but not the mean of the squares.",
            partial(_adam, root=lambda square: square): "You divide by the mean square; "
            "take its root.",
            partial(_adam, sign=1): "The sign is wrong: steps go against the gradient.",
            partial(_adam, betas=ROUNDED_BETAS[::-1]): "You swapped the two shares: "
            "gradients keep 0.9, their squares 0.999.",
            partial(_adam, late=1): "Your count of steps is one too high in the correction: "
            "the first step has 1.",
            partial(_adam, epsilon=0.0, inside=1e-8): "ε is under the root; add it to the root.",
            partial(_adam, epsilon=0.0): "ε is missing, "
            "which shows where gradients are as small as it is.",
            partial(_adam, last_only=True): "This is the last step; add all of them.",
            _sgd: "This is SGD: each step is the rate times the gradient.",
            _sign_steps: "You move by the sign of each gradient, which is Adam without memory.",
        },
        praise="A million times the gradient makes nearly the same step.",
    ),
)

# Differentiate by the factor
LEAD, DIVISOR, AIM = 8.0, 8.0, 0.5


def _by_factor(
    scores: np.ndarray,
    values: np.ndarray,
    target: np.ndarray,
    factor: float,
    *,
    inner: float | None = None,
    safe: bool = True,
    centered: bool = True,
    uniform: bool = False,
    twice: float = 2.0,
    outer: Callable[[float], float] = lambda _factor: 1.0,
) -> np.ndarray:
    """Return the derivative of ‖Σ pⱼvⱼ − t‖² by the factor of the scores, or a wrong one."""
    logits = (factor if inner is None else inner) * scores
    exponentials = np.exp(logits - logits.max() if safe else logits)
    weights = exponentials / exponentials.sum()
    costs = values @ (twice * (weights @ values - target))
    averaged = np.full(len(scores), 1 / len(scores)) if uniform else weights
    center = averaged @ scores if centered else 0.0
    return np.asarray(outer(factor) * (averaged * (scores - center)) @ costs)


def _slope(factor: float, **wrong: Any) -> float:
    scores, values = np.array([LEAD, 0.0]), np.array([[1.0], [0.0]])
    return float(_by_factor(scores, values, np.array([AIM]), factor, **wrong))


def draw_rows(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw rows of scores, values, targets and factors, some of them with huge scores."""
    calls = []
    for keys, width, spread, factor in (
        (4, 3, 1.0, 0.7),
        (6, 2, 8.0, 1 / 8),
        (2, 1, 4.0, 0.4),
        (1, 3, 2.0, 0.5),
        (5, 4, 3.0, 0.0),
        (7, 2, 1e4, 1.0),
        (3, 5, 5.0, 1.3),
    ):
        scores = spread * rng.standard_normal(keys)
        values = rng.standard_normal((keys, width))
        calls.append((scores, values, rng.standard_normal(width), factor))
    calls.append((*(x.astype(np.float32) for x in calls[0][:3]), 0.9))
    calls += [near_tie(rng, 1000.0, 0), near_tie(rng, -1000.0, 0), near_tie(rng, 1000.0, 20)]
    return calls


def near_tie(rng: np.random.Generator, score: float, others: int) -> tuple[Any, ...]:
    """Return a row with two large scores that nearly tie, and some others far below."""
    scores = np.append(np.full(others, score - 1000), [score, score - 1])
    return scores, rng.standard_normal((len(scores), 2)), rng.standard_normal(2), 1.0


def room_of_slope(_right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> float:
    """Bound the rounding of the derivative.

    With u = eps/2 (that of the inputs, if it is coarser): logits are off by at most 6u·a, with a
    the largest of them, so weights are by a relative w = e^(12u·a) − 1 + (2n + 8)u. Written as
    E[zu] − E[z]E[u], both terms are at most Z·U, with Z the largest score and U a bound of the
    costs, 2Σ|vⱼ|(|vⱼ| + |t|) over components with the largest values. They contain the
    weights at most three times each, and sums over keys and components add (4n + 2d + 20)u.
    """
    scores, values, target, factor = arguments
    unit = max(eps, *(float(np.finfo(x.dtype).eps) for x in (scores, values, target))) / 2
    largest = float(np.abs(scores).max())
    keys, width = values.shape
    off = math.expm1(12 * unit * factor * largest) + (2 * keys + 8) * unit
    tops = np.abs(values).max(axis=0)
    costs = float(2 * (tops * (tops + np.abs(target))).sum())
    return (6 * off + (4 * keys + 2 * width + 20) * unit) * largest * costs


SCALE_GRADIENT = Check(
    "scale-gradient",
    divided=Number(
        "the derivative of the loss by c, where c = 1/8",
        _slope(1 / DIVISOR),
        mistakes={
            _slope(1 / DIVISOR) / LEAD: "This is the derivative by the logit; "
            "by the chain rule the score comes in.",
            _slope(1 / DIVISOR, twice=1.0): "The two of the square is missing.",
            -_slope(1 / DIVISOR): "The sign is wrong: "
            "the weight is too large already, and more c enlarges it.",
            _slope(1 / DIVISOR, centered=False): "You took p·z for the derivative of the weight; "
            "the mean of the scores has to be subtracted from z.",
            _slope(1.0): "This is the derivative at c = 1.",
        },
    ),
    plain=Number(
        "the derivative of the loss by c, where c = 1",
        _slope(1.0),
        mistakes={
            _slope(1.0) / LEAD: "This is the derivative by the logit; "
            "by the chain rule the score comes in.",
            _slope(1.0, twice=1.0): "The two of the square is missing.",
            _slope(1.0, centered=False): "You took p·z for the derivative of the weight; "
            "the mean of the scores has to be subtracted from z.",
            _slope(1 / DIVISOR): "This is the derivative at c = 1/8.",
        },
        praise="The error is larger than in the divided row, its slope far smaller.",
    ),
    step=Pick(
        "what the derivative of weight pⱼ by c is",
        "pⱼ(zⱼ − Σₗ pₗzₗ)",
        {
            "pⱼzⱼ": "The denominator of softmax depends on c too.",
            "pⱼ(1 − pⱼ)zⱼ": "This counts only the key's own score; the others move the "
            "denominator as well.",
            "zⱼ − Σₗ pₗzₗ": "This is the derivative of the logarithm of the weight.",
            "pⱼ(zⱼ − Σₗ pₗzₗ)": "Right: a key gains if its score is above the mean under the "
            "weights.",
        },
    ),
    slope=Function(
        "the function slope(scores, values, target, c), which returns a number",
        _by_factor,
        draw_rows,
        room_of_slope,
        mistakes={
            partial(_by_factor, centered=False): "You took p·z for the derivative of the weights; "
            "the mean of the scores under the weights has to be subtracted from z.",
            partial(_by_factor, twice=1.0): "The two of the square is missing.",
            partial(_by_factor, twice=-2.0): "The sign is wrong: the error is output minus target.",
            partial(_by_factor, outer=lambda factor: factor): "This is the derivative by the "
            "logarithm of c: c times the one we want.",
            partial(_by_factor, outer=lambda factor: -(factor**2)): "This is the derivative by the "
            "temperature 1/c.",
            partial(_by_factor, inner=1.0): "Your weights are those of c = 1: "
            "multiply the scores by c before softmax.",
            partial(_by_factor, uniform=True): "Your covariance counts all keys alike; "
            "each counts with its weight.",
            partial(_by_factor, safe=False): "Moderate scores come out right; "
            "large ones overflow. Subtract the largest logit before the exponential.",
            (lambda *row: np.nan_to_num(_by_factor(*row, safe=False))): "Moderate scores come out "
            "right. Where two large ones nearly tie, the derivative is far from zero, "
            "and yours is not: subtract the largest logit and hide no overflow.",
            (lambda *row: _by_factor(*row) / row[1].shape[1]): "You averaged over the components; "
            "the loss is their sum.",
        },
        praise="Among them a single key, c = 0 and huge scores.",
    ),
)
