"""The averages that the landing page names, over random rows with normal components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlib import meaningful_keys, sample_row_statistics, sample_score_rows, softmax


class Averages(NamedTuple):
    """A mean over rows whose scores are divided by √d_k, and over rows whose scores are not."""

    d_k: int
    n_keys: int
    divided: float
    undivided: float


def top_weight(d_k: int, n_keys: int, seed: int = 3, n_rows: int = 4000) -> Averages:
    """Return how much weight the favorite of a row takes, on average.

    Examples
    --------
    >>> top = top_weight(64, 16, n_rows=100)
    >>> 1 / 16 < top.divided < top.undivided < 1
    True
    """
    divided, undivided = (
        sample_row_statistics(d_k, n_keys, n_rows, scale=scale, rng=np.random.default_rng(seed))
        for scale in (None, 1.0)
    )
    means = (float(rows.max_weight.mean()) for rows in (divided, undivided))
    return Averages(d_k, n_keys, *means)


def meaningful_share(
    d_k: int = 64, n_keys: int = 1024, n_rows: int = 400, seed: int = 1
) -> Averages:
    """Return the share of a row's keys that are meaningful to its query.

    Examples
    --------
    >>> share = meaningful_share(n_rows=10)
    >>> 0 < share.undivided < share.divided < 1
    True
    """
    scores = sample_score_rows(d_k, n_keys, n_rows, rng=np.random.default_rng(seed))
    arms = (scores / np.sqrt(d_k), scores)
    means = (float(meaningful_keys(softmax(arm)).mean()) for arm in arms)
    return Averages(d_k, n_keys, *means)
