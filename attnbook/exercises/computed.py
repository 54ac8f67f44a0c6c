"""What the chapter of exercises measures with more draws than a reader waits for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from attnbook.estimates import mean_and_error
from attnbook.initialization import sample_logit_variances
from attnlib import EntryLaw, Initializer, sample_row_statistics


def start(std: float) -> Initializer:
    """Return the initial weights of an exercise."""
    return Initializer(
        "the exercise",
        query=EntryLaw("normal", lambda _width, _d_k: std),
        key=EntryLaw("uniform", lambda width, _d_k: 1 / math.sqrt(3 * width)),
        source="an exercise",
    )


def start_variances(
    width: int, d_k: int, std: float, token_cosine: float, n_draws: int, seed: int
) -> np.ndarray:
    """Return the variances of scores, of all and within a row, with their standard errors.

    The scores are those of `start`, and not divided.
    """
    measured = sample_logit_variances(
        replace(start(std), scale=1.0),
        width,
        d_k,
        n_draws=n_draws,
        token_cosine=token_cosine,
        rng=np.random.default_rng(seed),
    )
    return np.array(
        [[part.logit, part.within_row] for part in (measured.mean, measured.standard_error)]
    ).T


def top_weight(d_k: int, n_keys: int, n_rows: int, seed: tuple[int, ...]) -> np.ndarray:
    """Return the mean largest weight of undivided random rows, with its standard error."""
    rng = np.random.default_rng(seed)
    rows = sample_row_statistics(d_k, n_keys, n_rows, scale=1.0, rng=rng)
    return np.array(mean_and_error(rows.max_weight))
