"""What an initializer makes of q, k and the logits, measured on sampled weights and tokens."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from attnlib import AttentionVariances, EntryLaw, Initializer, layer_norm
from attnlib._checks import generator, whole_number
from attnlib._threads import on_one_thread
from attnlib.initialization import (
    TRUNCATION,
    _checked_cosine,
    _checked_initializer,
    _checked_std,
    _refuse_overflow,
)
from attnlib.scaling import ScalingRule, scaling_rule

__all__ = [
    "MeasuredVariances",
    "Projections",
    "sample_logit_variances",
    "sample_projections",
    "sample_tokens",
]


class MeasuredVariances(NamedTuple):
    """What sampled weights give, and how sure that is."""

    mean: AttentionVariances
    """Averages over draws of the weights; each has the predicted variance as expectation."""
    standard_error: AttentionVariances
    """Of these averages, from the spread between draws."""


class Projections(NamedTuple):
    """One head's weights."""

    query: np.ndarray
    """W_q, shape (width, d_k)."""
    key: np.ndarray
    """W_k, shape (width, d_k)."""
    query_bias: np.ndarray
    """Shape (d_k,); 0 where the initializer has none."""
    key_bias: np.ndarray
    """Shape (d_k,); 0 where the initializer has none."""


def sample_tokens(
    n_tokens: int, width: int, *, token_cosine: float = 0.0, rng: np.random.Generator
) -> np.ndarray:
    r"""Return LayerNormed random tokens that share a direction.

    .. math:: x_j = \sqrt{r}\, u + \sqrt{1 - r}\, g_j

    Here u is common to all tokens and g_j is drawn uniformly among the directions orthogonal to
    u; both have mean 0 and squared length d_model, and so has every token. Two tokens have the
    cosine r on average.

    Parameters
    ----------
    n_tokens, width : int
        Number of tokens, and their width d_model, at least 3.
    token_cosine : float
        The average cosine r between two of them, from 0 to 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (n_tokens, width)

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook.initialization import sample_tokens
    >>> tokens = sample_tokens(5, 512, token_cosine=0.5, rng=np.random.default_rng(0))
    >>> (tokens**2).sum(axis=-1).round(6)
    array([512., 512., 512., 512., 512.])
    """
    n_tokens = whole_number("n_tokens", n_tokens)
    width = whole_number("width", width, least=3)
    cosine = _checked_cosine(token_cosine)
    drawn = generator(rng).standard_normal((n_tokens + 1, width))
    shared, own = layer_norm(drawn[0]), drawn[1:]
    own -= np.outer(own @ shared / width, shared)
    return math.sqrt(cosine) * shared + math.sqrt(1 - cosine) * layer_norm(own)


def _draw(
    law: EntryLaw | None, width: int, d_k: int, shape: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Return entries that follow the law; zeros for a bias that is not there."""
    if law is None:
        return np.zeros(shape)
    std = _checked_std(law, width, d_k)
    if law.distribution == "uniform":
        half_width = math.sqrt(3) * std
        return half_width * (2 * rng.random(shape) - 1)
    entries = rng.standard_normal(shape)
    if law.distribution == "truncated normal":
        while (beyond := np.abs(entries) > TRUNCATION).any():
            entries[beyond] = rng.standard_normal(np.count_nonzero(beyond))
    return std * entries


@np.errstate(under="ignore")
def sample_projections(
    initializer: Initializer, width: int, d_k: int, *, rng: np.random.Generator
) -> Projections:
    """Return one head's W_q, W_k and biases as the initializer draws them.

    Where a model keeps several heads in one matrix this is one head's share of it.

    Parameters
    ----------
    initializer, width, d_k
        As in :func:`attnlib.predict_variances`, with any scaling rule.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Projections

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook.initialization import sample_projections
    >>> from attnlib import EntryLaw, Initializer
    >>> law = EntryLaw("truncated normal", lambda width, d_k: 0.02)
    >>> bert = Initializer("BERT", law, law, "google-research/bert")
    >>> weights = sample_projections(bert, 768, 64, rng=np.random.default_rng(0))
    >>> weights.query.shape, bool(np.abs(weights.query).max() <= 0.04)
    ((768, 64), True)
    """
    plan = _checked_initializer(initializer)
    width, d_k = whole_number("width", width), whole_number("d_k", d_k)
    source = generator(rng)
    return Projections(
        query=_draw(plan.query, width, d_k, (width, d_k), source),
        key=_draw(plan.key, width, d_k, (width, d_k), source),
        query_bias=_draw(plan.query_bias, width, d_k, (d_k,), source),
        key_bias=_draw(plan.key_bias, width, d_k, (d_k,), source),
    )


def _variances_of(
    tokens: np.ndarray, weights: Projections, rule: ScalingRule
) -> AttentionVariances:
    """Return mean squares (all means are 0) over the tokens, for one draw of the weights."""
    with np.errstate(over="ignore", invalid="ignore"):
        query = tokens @ weights.query + weights.query_bias
        key = tokens @ weights.key + weights.key_bias
        logits = rule.logits(query, key)
        return _refuse_overflow(
            AttentionVariances(
                query=np.square(query).mean(),
                key=np.square(key).mean(),
                score=np.square(query @ key.T).mean(),
                logit=np.square(logits).mean(),
                within_row=logits.var(axis=-1, ddof=1).mean(),
            )
        )


@np.errstate(under="ignore")
def sample_logit_variances(
    initializer: Initializer,
    width: int,
    d_k: int,
    *,
    n_draws: int,
    n_tokens: int = 64,
    token_cosine: float = 0.0,
    rng: np.random.Generator,
) -> MeasuredVariances:
    """Return measured variances of q, k, scores and logits, with their standard errors.

    Each draw takes new tokens, new W_q and W_k and new biases, lets every token look at every
    token, itself included, and averages over tokens and components.

    Parameters
    ----------
    initializer, width, d_k, n_tokens, token_cosine
        As in :func:`attnlib.predict_variances`, with any scaling rule and a width of at least 3.
    n_draws : int
        Number of draws of the weights, at least 2. Only they are independent of each other, so
        they alone set the standard errors.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    MeasuredVariances

    Raises
    ------
    TypeError, ValueError
        As :func:`attnlib.predict_variances`, or if logits overflow.

    Notes
    -----
    The expectations are those of :func:`attnlib.predict_variances` wherever that applies: mean
    squares need no correction as the means over the weights are 0, and the variance within a
    row divides by n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook.initialization import sample_logit_variances
    >>> from attnlib import EntryLaw, Initializer
    >>> law = EntryLaw("uniform", lambda width, d_k: (2 * width) ** -0.5)
    >>> plan, rng = Initializer("Xavier", law, law, "PyTorch"), np.random.default_rng(0)
    >>> measured = sample_logit_variances(plan, 512, 64, n_draws=20, rng=rng)
    >>> abs(measured.mean.logit - 0.25) < 4 * measured.standard_error.logit
    True
    """
    plan = _checked_initializer(initializer)
    n_draws = whole_number("n_draws", n_draws, least=2)
    n_tokens = whole_number("n_tokens", n_tokens, least=2)
    rule = scaling_rule(plan.scale)
    draws = np.empty((n_draws, len(AttentionVariances._fields)))
    with on_one_thread():
        for draw in draws:
            tokens = sample_tokens(n_tokens, width, token_cosine=token_cosine, rng=rng)
            draw[:] = _variances_of(tokens, sample_projections(plan, width, d_k, rng=rng), rule)
    errors = draws.std(axis=0, ddof=1) / math.sqrt(n_draws)
    return MeasuredVariances(
        mean=AttentionVariances(*draws.mean(axis=0).tolist()),
        standard_error=AttentionVariances(*errors.tolist()),
    )
