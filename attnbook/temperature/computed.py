"""What the chapter on temperature computes beside the mathematics that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from attnbook.estimates import mean_and_error
from attnbook.training import (
    Batch,
    GroupMeanTask,
    Learner,
    Sgd,
    draw_batch,
    draw_tags,
    loss_and_gradients,
    matching_tokens,
    train_together,
)
from attnlib import effective_positions, sample_row_statistics, scaling, softmax

TASK = GroupMeanTask()
RULES = {
    "divided": scaling.inverse_sqrt(),
    "q/k norm": scaling.query_key_norm(learned=False),
}
"""What heads are trained with."""
LOOKED_AT = (
    *("spread", "length of q", "length of k", "right logit"),
    *("positions", "without", "loss", "loss without"),
)
"""What is measured of a trained head; `without` the division, in the end."""


def positions_at(
    ratio: float, d_k: int, n_keys: int, n_rows: int, seed: Sequence[int]
) -> np.ndarray:
    """Return the effective positions of random rows at so many times the usual temperature."""
    rng = np.random.default_rng(seed)
    rows = sample_row_statistics(d_k, n_keys, n_rows, scale=1 / (ratio * np.sqrt(d_k)), rng=rng)
    return rows.effective_positions


def shares_used(ratios: Sequence[float], d_k: int, counts: Sequence[int]) -> np.ndarray:
    """Return the mean share of its keys that a random row uses, with its error.

    The axes are the numbers of keys, the temperatures, and the mean and its error.
    """
    return np.array(
        [
            [
                mean_and_error(positions_at(ratio, d_k, n, 400, [902, n, place]) / n)
                for place, ratio in enumerate(ratios)
            ]
            for n in counts
        ]
    )


def highest_weight(largest_logit: float, n_keys: int) -> float:
    """Return what no weight exceeds if all logits are between plus and minus the largest.

    Examples
    --------
    >>> float(highest_weight(0.0, n_keys=4))
    0.25
    """
    return 1 / (1 + (n_keys - 1) * np.exp(-2 * largest_logit))


def trained_head(rule: str, d_k: int, rate: float, seed: int, steps: int) -> np.ndarray:
    """Train a head by SGD, and look at it before and after, shape (2, len(LOOKED_AT))."""
    learner = Learner(d_k, RULES[rule], Sgd(rate))
    sequence = np.random.SeedSequence(seed).spawn(1)[0]
    tags = draw_tags(TASK, np.random.default_rng(sequence))
    batch = draw_batch(TASK, tags, 512, np.random.default_rng([909, seed]))
    runs = [train_together(seed, [learner], steps=n, progress=False)[0] for n in (0, steps)]
    return np.array([_head_statistics(run.parameters, learner, batch) for run in runs])


def over_seeds(
    looks: Mapping[str, Sequence[np.ndarray]], steps: int
) -> dict[tuple[str, int], dict[str, tuple[float, float]]]:
    """Sum up what `trained_head` gives for some seeds, by rule and number of steps.

    Of each quantity there are the mean and the standard deviation between seeds.
    """
    return {
        (rule, when): dict(zip(LOOKED_AT, map(_over_seeds, values), strict=True))
        for rule, each in looks.items()
        for when, values in zip((0, steps), np.transpose(each, (1, 2, 0)), strict=True)
    }


def _over_seeds(values: Sequence[float]) -> tuple[float, float]:
    return np.mean(values), np.std(values, ddof=1)


def _head_statistics(
    parameters: Mapping[str, np.ndarray], learner: Learner, batch: Batch
) -> list[float]:
    """Return what a head does with a batch, and what it would do if scores were not divided."""
    q, k = batch.query_tokens @ parameters["query"], batch.tokens @ parameters["key"]
    query = learner.rule.fold_query(q, TASK.n_tokens)
    s = (learner.rule.fold_key(k) @ query[:, :, None])[:, :, 0]
    scale = np.mean(batch.targets**2) * batch.targets.shape[1]  # what predicting zero costs
    return [
        s.std(axis=1).mean(),
        np.linalg.norm(q, axis=-1).mean(),
        np.linalg.norm(k, axis=-1).mean(),
        s[matching_tokens(TASK, batch)].mean(),
        effective_positions(softmax(s)).mean(),
        effective_positions(softmax(np.sqrt(learner.d_k) * s)).mean(),
        loss_and_gradients(parameters, batch, learner.rule).loss / scale,
        loss_and_gradients(parameters, batch, 1.0).loss / scale,
    ]


def grow_lengths(
    growth: Iterable[float], d_k: int, cap: float
) -> tuple[dict[str, dict[float, tuple[float, float]]], dict[float, float]]:
    """Make all queries and keys longer, under four rules.

    Returned are, by the name of the rule and the factor, the mean of effective positions with its
    error; and, by the factor, the slope of the cap, averaged over the keys by their weights.
    """
    rng = np.random.default_rng(905)
    q, k = rng.standard_normal((300, d_k)), rng.standard_normal((1024, d_k))
    capped = scaling.soft_cap(cap)
    rules = {
        "not divided": scaling.no_scaling(),
        "divided by √dₖ": scaling.inverse_sqrt(),
        f"divided, cap {cap:g}": capped,
        "q/k norm": scaling.query_key_norm(),
    }
    positions: dict[str, dict[float, tuple[float, float]]] = {name: {} for name in rules}
    slopes = {}
    for factor in growth:
        for name, rule in rules.items():
            made = rule.logits(factor * q, factor * k)
            weights = softmax(made)
            positions[name][factor] = mean_and_error(effective_positions(weights))
            if rule is capped:
                slopes[factor] = (weights * rule.cap_slope(made)).sum(axis=-1).mean()
    return positions, slopes


def matching_share(match: float, rivals: np.ndarray, factor: float) -> float:
    """Return the weight of a matching key among its rivals, logits times a factor.

    Examples
    --------
    >>> float(matching_share(2.0, np.array([2.0, 2.0, 2.0]), factor=5.0))
    0.25
    """
    return 1 / (1 + np.exp(factor * (rivals - match)).sum())


def factor_for_half(match: float, rivals: np.ndarray) -> float:
    """Return the factor, between 0.1 and 4, at which the match has half of the weight."""
    low, high = 0.1, 4.0
    for _ in range(12):
        middle = (low + high) / 2
        too_small = matching_share(match, rivals, middle) < 0.5
        low, high = (middle, high) if too_small else (low, middle)
    return (low + high) / 2


def match_share(d_k: int, n_keys: int) -> float:
    """Return the mean weight of a perfect match among random keys, under plain division."""
    rng = np.random.default_rng(911)
    shares = []
    for squared in rng.chisquare(d_k, 1000):  # the squared length of a query
        rivals = np.sqrt(squared / d_k) * rng.standard_normal(n_keys - 1, dtype=np.float32)
        shares.append(1 / (1 + np.exp(rivals - squared / np.sqrt(d_k)).sum()))
    return np.mean(shares)


def kept_positions(
    widths: Sequence[int], counts: Sequence[int]
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return which part of a divided row's effective positions is left when nothing is divided.

    It comes with its standard error, by head width and number of keys.
    """
    rng = np.random.default_rng(907)
    normal = rng.standard_normal((120, max(counts)))
    kept = {}
    for width in widths:
        own = np.sqrt(rng.chisquare(width, (len(normal), 1)))
        for n in counts:
            raw, divided = (
                effective_positions(softmax(own * factor * normal[:, :n]))
                for factor in (1, 1 / np.sqrt(width))
            )
            part = raw.mean() / divided.mean()
            kept[width, n] = part, mean_and_error(raw - part * divided)[1] / divided.mean()
    return kept
