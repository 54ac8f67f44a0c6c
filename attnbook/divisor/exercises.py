"""The exercises of the chapter on the divisor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick

NARROW, WIDE, WIDEST = 64, 256, 576
CONSTANT, EVEN, SHRINKING = 1.6, 0.4, 0.5
"""The spread of the logits at the narrow width, in the programs A, B and C."""

TELL_DIVISOR = Check(
    "tell-divisor",
    a=Number(
        "the divisor of program A",
        math.sqrt(NARROW) / CONSTANT,
        mistakes={
            NARROW / CONSTANT: "The width is the variance of a score; σ is its root over τ.",
            NARROW / CONSTANT**2: "This is the square of the divisor.",
            math.sqrt(NARROW) * CONSTANT: "A larger divisor makes the spread smaller: "
            "σ and τ are in inverse proportion.",
            CONSTANT / math.sqrt(NARROW): "This number multiplies the scores; "
            "the divisor is one over it.",
        },
        praise="The same at both widths: a constant.",
    ),
    b=Number(
        "the divisor of program B at a width of 256",
        math.sqrt(WIDE) / EVEN,
        mistakes={
            math.sqrt(WIDE): "With √dₖ alone the spread would be one.",
            math.sqrt(WIDE) * EVEN: "A larger divisor makes the spread smaller: "
            "σ and τ are in inverse proportion.",
            WIDE / EVEN: "The width is the variance of a score; σ is its root over τ.",
            WIDE / EVEN**2: "This is the square of the divisor.",
            math.sqrt(NARROW) / EVEN: "This is its divisor at the other width, 64.",
            1 / EVEN: "This is its ratio to √dₖ; we want the divisor itself.",
        },
        praise="A constant times √dₖ.",
    ),
    c=Number(
        "the divisor of program C at a width of 576",
        math.sqrt(NARROW) / SHRINKING * WIDEST / NARROW,
        mistakes={
            math.sqrt(WIDEST) / SHRINKING: "A divisor that grows like √dₖ would leave the spread "
            "as it is, and this one does not.",
            math.sqrt(NARROW) / SHRINKING * WIDE / NARROW: "This is its divisor at a width of 256.",
            math.sqrt(NARROW) / SHRINKING: "This is its divisor at a width of 64.",
            WIDEST: "With dₖ itself the spread would be 1/√dₖ: look at the first width.",
            math.sqrt(WIDEST): "With √dₖ the spread would be one.",
            math.sqrt(NARROW) / SHRINKING * (WIDE / NARROW) ** 2: "This is its divisor at a width "
            "of 1024: once more fourfold is too far.",
        },
        praise="A constant times dₖ.",
    ),
    d=Pick(
        "what program D does",
        "it subtracts the largest score",
        {
            "it subtracts the largest score": "The spread stays what it was, √dₖ.",
            "it divides by √dₖ": "Then the spread would be one at both widths.",
            "it divides by dₖ": "Then the spread would fall with the width.",
            "it divides by 2": "Then the spread would be half of this at both widths.",
        },
    ),
)

SPLIT_WIDTH, KERNEL_WIDTH = 256, 64


def folded(w_q: np.ndarray, b_q: np.ndarray, n_heads: int) -> np.ndarray:
    """Return the folded weights of all heads, and below them the folded bias."""
    d_k = w_q.shape[1] // n_heads
    return np.vstack([w_q, b_q]) / np.sqrt(d_k)


def draw_projections(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return weights and biases of all heads, in models that are wider or narrower than these."""
    sizes = [(1, 1, 1), (1, 1, 9), (8, 2, 4), (8, 2, 3), (3, 5, 2), (12, 4, 16), (7, 3, 5)]
    calls = [
        (rng.standard_normal((width, n * d_k)), rng.standard_normal(n * d_k), n)
        for width, n, d_k in sizes
    ]
    return [*calls, *((w_q * s, b_q * s, n) for w_q, b_q, n in calls[2:4] for s in (1e-9, 1e9))]


def folding_room(right: np.ndarray, _arguments: tuple[Any, ...], eps: float) -> Any:
    """Return γ₄ of each entry: a root, a reciprocal and a product, and one rounding to spare."""
    return 4 * eps * np.abs(right)


FOLD_BIAS = Check(
    "fold-bias",
    each=Number(
        "the factor for either matrix",
        SPLIT_WIDTH**-0.25,
        mistakes={
            SPLIT_WIDTH**-0.5: "With the whole factor in both matrices the scores are "
            "divided by dₖ.",
            2 / math.sqrt(SPLIT_WIDTH): "Half of the divisor for each? The two factors multiply; "
            "they do not add.",
            SPLIT_WIDTH**0.25: "Each matrix is divided by this number; the factor is one over it.",
        },
        praise="Squared it is 1/√dₖ.",
    ),
    kernel=Number(
        "the factor for the query weights",
        math.sqrt(KERNEL_WIDTH) / KERNEL_WIDTH,
        mistakes={
            math.sqrt(KERNEL_WIDTH): "This makes the scores larger. "
            "Do they have to become larger or smaller than the kernel leaves them?",
            1 / KERNEL_WIDTH: "The kernel divides once more: now it is by dₖ and by √dₖ.",
            1: "As they are, the scores get divided by √dₖ, and not by dₖ.",
        },
    ),
    fold=Function(
        "fold(w_q, b_q, n_heads), which returns the folded weights with the folded bias as one "
        "more row",
        folded,
        draw_projections,
        folding_room,
        mistakes={
            (lambda w_q, b_q, n: np.vstack([w_q / np.sqrt(w_q.shape[1] // n), b_q])): "The bias "
            "was not folded: it is a part of the query, and the division met it too.",
            (lambda w_q, b_q, n: np.vstack([w_q, b_q]) * np.sqrt(w_q.shape[1] // n)): "You "
            "multiplied by √dₖ; it is a division that moves into the weights.",
            (lambda w_q, b_q, _: np.vstack([w_q, b_q]) / np.sqrt(w_q.shape[1])): "You took all "
            "columns for dₖ; they belong to several heads, and a head has only its own.",
            (lambda w_q, b_q, _: np.vstack([w_q, b_q]) / np.sqrt(w_q.shape[0])): "You took the "
            "rows of the weights for dₖ; their number is the model width.",
            (lambda w_q, b_q, n: np.vstack([w_q, b_q]) / np.sqrt(w_q.shape[0] / n)): "You took "
            "model width over heads for dₖ. "
            "That need not be the width of a head: count its columns.",
            (lambda w_q, b_q, n: np.vstack([w_q, b_q]) / np.sqrt(n)): "You divided by the root of "
            "the number of heads; we want the width of one head.",
            (lambda w_q, b_q, n: np.vstack([w_q, b_q]) / (w_q.shape[1] // n)): "You divided by dₖ; "
            "the root is missing.",
            (
                lambda w_q, b_q, n: np.vstack([w_q, b_q]) / (w_q.shape[1] // n) ** 0.25
            ): "This is the half that goes into the queries if the keys "
            "get the other. Here the keys stay as they are.",
            (lambda w_q, _, n: w_q / np.sqrt(w_q.shape[1] // n)): "The bias is missing: "
            "we want it as one more row, folded like the weights.",
        },
    ),
)

RHO, RIVAL_WIDTH, RIVALS = 0.2, 64, 1024
FITTING = 2 * math.log(RIVALS) / RHO**2


def log_advantage(tau: float, rho: float, d_k: int) -> float:
    """Return the mean logit of the aligned key less the log of a random key's mean exponential."""
    return rho * d_k / tau - d_k / (2 * tau**2)


def draw_divisors(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Return divisors, correlations and widths, some too large for any exponential."""
    calls = [
        (float(np.exp(rng.uniform(-1, 4))), float(rng.uniform(0.05, 0.5)), int(d_k))
        for d_k in rng.integers(2, 40, size=6)
    ]
    return [*calls, (8.0, 0.0, 64), (1.0, 1.0, 1), (8.0, 0.2, 512), (0.02, 0.3, 4096), (1e4, 1, 9)]


def advantage_room(right: Any, arguments: tuple[Any, ...], eps: float) -> float:
    """Return γ₁₂ of the terms, here or where the square is completed.

    Either way there are two, of at most five roundings each, and a difference.
    """
    tau, rho, d_k = arguments
    terms = rho * d_k / tau + d_k / (2 * tau**2) + (rho**2 + (1 / tau - rho) ** 2) * d_k / 2
    return 12 * eps * (terms + abs(right))


STAND_OUT = Check(
    "stand-out",
    rival=Number(
        "the expected exponential of a random key's logit, for a query with ‖q‖² = dₖ exactly",
        math.exp(0.5),
        mistakes={
            1: "This is the exponential of the mean logit. "
            "The mean of the exponentials is larger: high logits gain more than low ones lose.",
            math.e: "A standard normal g has E[exp(tg)] = exp(t²/2); the half is missing.",
            0.5: "This is the logarithm of what we want.",
        },
    ),
    log_advantage=Function(
        "log_advantage(tau, rho, d_k), which returns ln A",
        log_advantage,
        draw_divisors,
        advantage_room,
        mistakes={
            (lambda tau, rho, d_k: rho * d_k / tau): "This is the mean logit of the aligned key "
            "alone; the random keys are missing.",
            (lambda tau, rho, d_k: rho * d_k / tau - d_k / tau**2): "You subtracted the "
            "variance of a random logit; half of it is the log of their mean exponential.",
            (lambda tau, rho, d_k: rho * d_k / tau - d_k / (2 * tau)): "The variance of a random "
            "logit is dₖ/τ²: the square of τ is missing.",
            (lambda _tau, rho, d_k: rho * np.sqrt(d_k)): "This is the lead in standard deviations "
            "of the random keys, which no divisor changes; we want ln A.",
            (lambda tau, rho, d_k: rho * d_k * tau - d_k * tau**2 / 2): "You multiplied the scores "
            "by τ; they are divided by it.",
            (lambda tau, rho, d_k: rho * d_k / tau - rho**2 * d_k / (2 * tau**2)): "You took the "
            "mean exponential of the aligned key too; of that key we want the mean logit.",
            **dict.fromkeys(
                (
                    lambda tau, rho, d_k: np.log(np.exp(log_advantage(tau, rho, d_k))),
                    lambda tau, rho, d_k: np.log(
                        np.exp(rho * d_k / tau) / np.exp(d_k / (2 * tau**2))
                    ),
                    lambda tau, rho, d_k: math.log(math.exp(log_advantage(tau, rho, d_k))),
                    lambda tau, rho, d_k: math.log(
                        math.exp(rho * d_k / tau) / math.exp(d_k / (2 * tau**2))
                    ),
                ),
                "For large scores A is no float any more, or a part of it is not. "
                "Take the logarithm on paper.",
            ),
            (lambda tau, rho, d_k: np.exp(rho * d_k / tau - d_k / (2 * tau**2))): "This is A; we "
            "want its logarithm.",
            (lambda tau, rho, d_k: rho * d_k / tau + d_k / (2 * tau**2)): "The random keys work "
            "against the aligned one: their term has the wrong sign.",
        },
    ),
    best=Number(
        "the best divisor for ρ = 0.2",
        1 / RHO,
        mistakes={
            math.sqrt(RIVAL_WIDTH): "This is √dₖ at a width of 64. "
            "Put it into the derivative: is that zero?",
            RIVAL_WIDTH: "This is dₖ at a width of 64. Put it into the derivative: is that zero?",
            RHO: "This number multiplies the scores at their best; the divisor is one over it.",
            2 / RHO: "Twice too large: did the half get lost in the second term?",
            1 / (2 * RHO): "Here both terms are equal and A is one: "
            "the aligned key has no advantage.",
            1 / RHO**2: "The derivative of 1/τ² is −2/τ³: a power of τ got lost.",
        },
        praise="The width has dropped out.",
    ),
    wider=Pick(
        "what happens to the best divisor in a head four times as wide",
        "it stays",
        {
            "it stays": "Both terms of ln A grow in proportion to the width.",
            "it doubles": "That is what √dₖ does. How does each term of ln A depend on dₖ?",
            "it grows fourfold": "That is what dₖ does. How does each term of ln A depend on dₖ?",
        },
    ),
    width=Number(
        "the smallest width at which the best divisor makes A at least 1024, a whole number",
        math.ceil(FITTING),
        mistakes={
            FITTING: "There A is 1024, but a width is a whole number: which one is enough?",
            math.floor(FITTING): "At this width A is still a little below 1024.",
            math.ceil(FITTING / 2): "At the best divisor ln A is half of what the first term "
            "alone would be.",
            math.ceil(FITTING * RHO): "The correlation comes in twice: "
            "in the lead, and in the divisor. Square it.",
            math.ceil(2 * math.log2(RIVALS) / RHO**2): "Your logarithm is that of base two; "
            "the exponential asks for the natural one.",
            math.ceil(2 * math.log10(RIVALS) / RHO**2): "Your logarithm is that of base ten; "
            "the exponential asks for the natural one.",
            math.ceil(((math.log(RIVALS) + 0.5) / RHO) ** 2): "This is the width for the divisor "
            "√dₖ; the best divisor gets there earlier.",
        },
        within=0.2,
        why="We want a whole number.",
    ),
)
