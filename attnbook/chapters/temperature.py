"""What the chapter on temperature computes beside the mathematics that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from attnbook.chapters.estimates import mean_and_error
from attnlib import effective_positions, sample_row_statistics, scaling, softmax
from attnlib.group_mean import Batch, GroupMeanTask, draw_batch, draw_tags, matching_tokens
from attnlib.training import Learner, loss_and_gradients, train_together


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


def trained_heads(
    learners: Mapping[str, Learner], task: GroupMeanTask, seeds: Iterable[int], steps: int
) -> dict[tuple[str, int], dict[str, tuple[float, float]]]:
    """Train heads on the same data and look at each before and after.

    By name and step: of each quantity the mean and the standard deviation between seeds.
    """
    looks: dict[tuple[str, int], list[dict[str, float]]] = {
        (name, when): [] for name in learners for when in (0, steps)
    }
    for seed in seeds:
        sequence = np.random.SeedSequence(seed).spawn(1)[0]
        tags = draw_tags(task, np.random.default_rng(sequence))
        batch = draw_batch(task, tags, 512, np.random.default_rng([909, seed]))
        for when in (0, steps):
            runs = train_together(
                seed, [*learners.values()], steps=when, record_at=[when], progress=False
            )
            for (name, learner), run in zip(learners.items(), runs, strict=True):
                looks[name, when].append(_head_statistics(run.parameters, learner, task, batch))
    return {
        key: {what: _over_seeds([look[what] for look in seen]) for what in seen[0]}
        for key, seen in looks.items()
    }


def _over_seeds(values: Sequence[float]) -> tuple[float, float]:
    return np.mean(values), np.std(values, ddof=1)


def _head_statistics(
    parameters: Mapping[str, np.ndarray],
    learner: Learner,
    task: GroupMeanTask,
    batch: Batch,
) -> dict[str, float]:
    """Return what a head does with a batch, and what it would do if scores were not divided."""
    q, k = batch.query_tokens @ parameters["query"], batch.tokens @ parameters["key"]
    query = learner.rule.fold_query(q, task.n_tokens)
    s = (learner.rule.fold_key(k) @ query[:, :, None])[:, :, 0]
    scale = np.mean(batch.targets**2) * batch.targets.shape[1]  # what predicting zero costs
    return {
        "spread": s.std(axis=1).mean(),
        "length of q": np.linalg.norm(q, axis=-1).mean(),
        "length of k": np.linalg.norm(k, axis=-1).mean(),
        "right logit": s[matching_tokens(task, batch)].mean(),
        "positions": effective_positions(softmax(s)).mean(),
        "without": effective_positions(softmax(np.sqrt(learner.d_k) * s)).mean(),
        "loss": loss_and_gradients(parameters, batch, learner.rule).loss / scale,
        "loss without": loss_and_gradients(parameters, batch, 1.0).loss / scale,
    }


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
