"""Tests of samplers whose false-alarm rate is known, not guessed.

Every check below returns a p-value that is *exact* at the finite sample size when the sampler
is right: Kolmogorov-Smirnov against an exact continuous distribution function, Kolmogorov-
Smirnov between two samples of equal size, or a binomial count. No normal approximation, no
estimated standard error. A check alarms if its p-value is below LEVEL. By the union bound the
chance that any of N_CHECKS checks alarms, had the seeds been drawn at random, is at most
N_CHECKS * LEVEL = FAMILY_LEVEL, whatever the dependence between the checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import oracles
from scipy import special, stats

FAMILY_LEVEL = 1e-6
"""The probability that a right set of samplers is rejected by any check at all."""

Sampler = Callable[..., np.ndarray]


def ks(uniforms: np.ndarray) -> float:
    """Exact p-value of the hypothesis that the numbers are independent and uniform."""
    return float(stats.kstest(uniforms, "uniform", method="exact").pvalue)


def two_samples(one: np.ndarray, other: np.ndarray) -> float:
    """Exact p-value of the hypothesis that both samples have one continuous law."""
    return float(stats.ks_2samp(one, other, method="exact").pvalue)


def quantile(d_k: int, probability: float) -> float:
    """Return the z that |q·k| exceeds with the given probability, by bisection."""
    low, high = 0.0, 40 * math.sqrt(d_k) + 40
    for _ in range(80):
        middle = (low + high) / 2
        upper = 2 * float(oracles.score_cdf(np.array(-middle), d_k))
        low, high = (middle, high) if upper > probability else (low, middle)
    return high


def counts(scores: np.ndarray, d_k: int, probability: float) -> float:
    """Exact p-value of how many scores lie beyond the quantile: most sensitive to scale."""
    beyond = int((np.abs(scores) > quantile(d_k, probability)).sum())
    return float(stats.binomtest(beyond, scores.size, probability).pvalue)


def law_of_scores(sampler: Sampler, d_k: int, seed: int) -> float:
    scores = sampler(d_k, 20_000, rng=np.random.default_rng(seed))
    return ks(oracles.score_cdf(scores, d_k))


def spread_of_scores(sampler: Sampler, d_k: int, seed: int) -> float:
    scores = sampler(d_k, (100, 2_000), rng=np.random.default_rng(seed))
    return counts(scores, d_k, 0.3)


def tail_of_scores(sampler: Sampler, d_k: int, seed: int) -> float:
    scores = sampler(d_k, 200_000, rng=np.random.default_rng(seed))
    return counts(scores, d_k, 1e-3)


def law_of_row_entries(sampler: Sampler, d_k: int, seed: int) -> float:
    """One entry of each row is one score."""
    rows = sampler(d_k, 3, 20_000, rng=np.random.default_rng(seed))
    return ks(oracles.score_cdf(rows[:, 1], d_k))


def law_of_row_sums(sampler: Sampler, d_k: int, seed: int) -> float:
    """The sum of a row over √n is the score of a query and Σk/√n: again one score."""
    rows = sampler(d_k, 8, 20_000, rng=np.random.default_rng(seed))
    return ks(oracles.score_cdf(rows.sum(axis=-1) / math.sqrt(8), d_k))


def shared_norm(sampler: Sampler, d_k: int, seed: int) -> float:
    """Given the query a row is normal, so the ratio of two halves' sums of squares is F."""
    rows = sampler(d_k, 12, (40, 100), rng=np.random.default_rng(seed)).reshape(-1, 12)
    ratio = (rows[:, :6] ** 2).sum(-1) / (rows[:, 6:] ** 2).sum(-1)
    return ks(special.fdtr(6, 6, ratio))


def law_of_largest_weight(sampler: Sampler, d_k: int, seed: int, scale: float | None) -> float:
    """For two keys log(p/(1-p)) is the logits' difference: √2 times one scaled score."""
    rows = sampler(d_k, 2, 20_000, scale=scale, rng=np.random.default_rng(seed))
    factor = 1 / math.sqrt(d_k) if scale is None else scale
    scores = special.logit(rows.max_weight) / (factor * math.sqrt(2))
    return ks(2 * oracles.score_cdf(scores, d_k) - 1)


def law_of_query_gradients(
    sampler: Sampler, d_k: int, n_keys: int, seed: int, scale: float | None
) -> float:
    """Against whole vectors."""
    factor = 1 / math.sqrt(d_k) if scale is None else scale
    rows = 640_000 // max(16, d_k * n_keys)
    drawn = sampler(d_k, n_keys, rows, scale=scale, rng=np.random.default_rng(seed))
    brute = oracles.query_gradients(d_k, n_keys, rows, factor, np.random.default_rng(seed + 1))
    return two_samples(drawn, brute)


def law_of_key_gradients(
    sampler: Sampler,
    d_k: int,
    n_keys: int,
    seed: int,
    scale: float | None,
    *,
    largest: bool,
    n_queries: int | None = None,
) -> float:
    """One key of each row, or of each layer of several queries, or the largest of each.

    Against whole vectors.
    """
    factor = 1 / math.sqrt(d_k) if scale is None else scale
    drawn_layers = 320_000 // max(16, d_k * n_keys) if n_queries is None else 3_000
    of_layer = () if n_queries is None else (n_queries,)
    sizes = d_k, n_keys, *of_layer, drawn_layers
    drawn = sampler(*sizes, scale=scale, rng=np.random.default_rng(seed))
    brute = oracles.layer_key_gradients(
        d_k, n_keys, n_queries or 1, drawn_layers, factor, np.random.default_rng(seed + 1)
    )
    one_of = (lambda lengths: lengths.max(-1)) if largest else (lambda lengths: lengths[:, -1])
    return two_samples(one_of(drawn), one_of(brute))


# name of the sampler -> (check, arguments); the seeds are the last but for a scale
CHECKS: dict[str, list[tuple[Callable[..., float], dict]]] = {
    "sample_scores": [
        *((law_of_scores, {"d_k": d_k, "seed": 100 + d_k}) for d_k in (1, 2, 4, 16, 64)),
        *((spread_of_scores, {"d_k": d_k, "seed": 200 + d_k}) for d_k in (1, 4, 64, 1024)),
        *((tail_of_scores, {"d_k": d_k, "seed": 300 + d_k}) for d_k in (2, 16)),
    ],
    "sample_score_rows": [
        *((law_of_row_entries, {"d_k": d_k, "seed": 400 + d_k}) for d_k in (1, 4, 64)),
        *((law_of_row_sums, {"d_k": d_k, "seed": 500 + d_k}) for d_k in (1, 4)),
        *((shared_norm, {"d_k": d_k, "seed": 600 + d_k}) for d_k in (1, 4)),
    ],
    "sample_row_statistics": [
        (law_of_largest_weight, {"d_k": 4, "seed": 701, "scale": None}),
        (law_of_largest_weight, {"d_k": 4, "seed": 702, "scale": 0.25}),
        (law_of_largest_weight, {"d_k": 64, "seed": 703, "scale": None}),
    ],
    "sample_query_gradients": [
        # small scales show the number of degrees of freedom, large ones the query's norm
        (law_of_query_gradients, {"d_k": 1, "n_keys": 3, "seed": 801, "scale": None}),
        (law_of_query_gradients, {"d_k": 1, "n_keys": 2, "seed": 803, "scale": 4.0}),
        (law_of_query_gradients, {"d_k": 2, "n_keys": 8, "seed": 805, "scale": 0.1}),
        (law_of_query_gradients, {"d_k": 3, "n_keys": 2, "seed": 807, "scale": None}),
        (law_of_query_gradients, {"d_k": 4, "n_keys": 4, "seed": 809, "scale": 3.0}),
        (law_of_query_gradients, {"d_k": 16, "n_keys": 5, "seed": 811, "scale": 1.0}),
    ],
    "sample_key_gradients": [
        (
            law_of_key_gradients,
            {"d_k": d_k, "n_keys": n_keys, "seed": seed, "scale": scale, "largest": largest},
        )
        for d_k, n_keys, seed, scale in (
            (1, 2, 901, 4.0),
            (2, 8, 905, 0.1),
            (3, 3, 909, None),
            (16, 5, 913, 1.0),
        )
        for largest in (False, True)
    ],
    "sample_layer_key_gradients": [
        (
            law_of_key_gradients,
            dict(zip(("d_k", "n_keys", "n_queries", "seed", "scale", "largest"), of, strict=True)),
        )
        for of in (
            (1, 2, 2, 951, 3.0, False),
            (3, 4, 5, 953, None, True),
            (4, 3, 8, 955, 1.0, False),
            (8, 6, 1, 957, 0.7, True),
        )
    ],
}
N_CHECKS = sum(map(len, CHECKS.values()))
LEVEL = FAMILY_LEVEL / N_CHECKS
