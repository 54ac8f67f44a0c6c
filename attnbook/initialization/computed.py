"""Logits when training starts: the line furthest off its prediction, tied and rotary rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr

from attnbook.initialization import sample_projections, sample_tokens
from attnlib import softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnbook.initialization import MeasuredVariances
    from attnlib.initialization import AttentionVariances, Initializer

MODEL_WIDTH = 128
"""Of the tokens that get rotary codes; the variance of a logit does not depend on it."""


class FurthestOff(NamedTuple):
    """The measured variance that is least likely under its prediction."""

    line: int
    """Its position."""
    errors: float
    """How many standard errors it is away."""
    chance: float
    """How often one of all lines is as unlikely."""


def furthest_off(
    predicted: Sequence[AttentionVariances],
    measured: Sequence[MeasuredVariances],
    n_draws: Sequence[int],
) -> FurthestOff:
    """Return the least likely of several variances of a logit, by Student's law.

    A line of `predicted`, `measured` and `n_draws`, the draws of the weights, is one start.

    Examples
    --------
    >>> from attnbook.initialization import INITIALIZERS
    >>> from attnbook.initialization import sample_logit_variances
    >>> from attnlib import predict_variances
    >>> expected = [predict_variances(INITIALIZERS[key], 32, 8) for key in ("t5", "gpt2")]
    >>> rule, rng = INITIALIZERS["t5"], np.random.default_rng(1)
    >>> found = [sample_logit_variances(rule, 32, 8, n_draws=20, rng=rng) for _ in range(2)]
    >>> furthest_off(expected, found, n_draws=(20, 20)).line
    1
    """
    errors = np.array(
        [
            abs(found.mean.logit - expected.logit) / found.standard_error.logit
            for expected, found in zip(predicted, measured, strict=True)
        ]
    )
    tails = 2 * stdtr(np.array(n_draws) - 1, -errors)
    line = int(tails.argmin())
    return FurthestOff(line, errors[line], 1 - (1 - tails[line]) ** len(tails))


def tied_weight(rule: Initializer, d_k: int, n_tokens: int = 64, n_draws: int = 40) -> float:
    """Return the mean weight of a token on itself if keys are made by the queries' matrix.

    Examples
    --------
    >>> from attnbook.initialization import INITIALIZERS
    >>> bool(tied_weight(INITIALIZERS["xavier_square"], 64, n_draws=2) > 0.8)
    True
    """
    weights = []
    for draw in range(n_draws):
        rng = np.random.default_rng([610, draw])
        x = sample_tokens(n_tokens, MODEL_WIDTH, rng=rng)
        q = x @ sample_projections(rule, MODEL_WIDTH, d_k, rng=rng).query
        weights.append(np.diag(softmax(q @ q.T / np.sqrt(d_k))).mean())
    return float(np.mean(weights))


def rotary_angles(d_k: int, base: float) -> np.ndarray:
    """Return the angles by which the pairs of components turn from one position to the next.

    Examples
    --------
    >>> rotary_angles(4, base=10_000)
    array([1.  , 0.01])
    """
    return base ** (-np.arange(d_k // 2) / (d_k // 2))


def rotate(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Turn component a and component a + d_k/2 of each row by its position times angle a.

    Examples
    --------
    >>> rotate(np.array([[1.0, 0], [1, 0]]), angles=np.array([np.pi / 2])).round()
    array([[1., 0.],
           [0., 1.]])
    """
    first, second = np.split(vectors, 2, axis=-1)
    turned = (first + 1j * second) * np.exp(1j * np.outer(np.arange(len(vectors)), angles))
    return np.concatenate([turned.real, turned.imag], axis=-1)


def mean_turn(n_positions: int, angles: np.ndarray) -> float:
    """Return the mean cosine of the turns between different positions, over all angles.

    Examples
    --------
    >>> float(mean_turn(2, np.array([0.0, np.pi / 3])).round(2))
    0.75
    """
    steps = np.arange(n_positions)
    distances = np.subtract.outer(steps, steps)[~np.eye(n_positions, dtype=bool)]
    return np.cos(np.outer(distances, angles)).mean()


def rotary_variances(
    initializer: Initializer, angles: np.ndarray, n_positions: int, cosine: float, n_draws: int
) -> np.ndarray:
    """Return measured variances of the divided logits, shape (2, 2, n_draws).

    Without and with rotary codes; the mean square of all logits and the variance within a row.
    Pairs of components turn by `angles`, shape (d_k/2,), from one position to the next; two tokens
    have the average `cosine`. Tokens and weights are drawn `n_draws` times.

    Examples
    --------
    >>> from attnbook.initialization import INITIALIZERS
    >>> rotary_variances(INITIALIZERS["t5"], np.zeros(4), 8, 0.5, n_draws=3).shape
    (2, 2, 3)
    """
    d_k = 2 * len(angles)
    found = []
    for draw in range(n_draws):
        rng = np.random.default_rng([610, draw])
        x = sample_tokens(n_positions, MODEL_WIDTH, token_cosine=cosine, rng=rng)
        weights = sample_projections(initializer, MODEL_WIDTH, d_k, rng=rng)
        q, k = x @ weights.query, x @ weights.key
        both = [q @ k.T / np.sqrt(d_k), rotate(q, angles) @ rotate(k, angles).T / np.sqrt(d_k)]
        found.append(
            [[np.square(logits).mean(), logits.var(axis=-1, ddof=1).mean()] for logits in both]
        )
    return np.moveaxis(np.array(found), 0, -1)
