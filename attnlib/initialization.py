"""What the usual initializers make of q, k and the logits: predicted, and measured.

Tokens are outputs of LayerNorm with gain 1 and bias 0, so that the squared length of a token x of
width d_model is exactly d_model; q = x W_q + b_q and k = y W_k + b_k, where all entries of W_q,
W_k, b_q and b_k are independent with mean 0. Nothing is assumed about the tokens' directions. Used
in the chapter on initialization.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib import scaling
from attnlib._checks import float_array, generator, real_number, whole_number
from attnlib._threads import on_one_thread

__all__ = [
    "AttentionVariances",
    "EntryLaw",
    "Initializer",
    "MeasuredVariances",
    "Projections",
    "layer_norm",
    "predict_variances",
    "sample_logit_variances",
    "sample_projections",
    "sample_tokens",
]

DISTRIBUTIONS = ("normal", "uniform", "truncated normal")
TRUNCATION = 2.0
"""Standard deviations beyond which a truncated normal number is drawn again."""
LARGEST_STD = 1e30
"""Far beyond any use, and small enough that squares of scores do not overflow."""


@dataclass(frozen=True)
class EntryLaw:
    """How the entries of one matrix or bias vector are drawn: independently, with mean 0.

    Parameters
    ----------
    distribution : str
        "normal", "uniform", or "truncated normal", which is cut off at two standard deviations.
    std : callable
        Takes the width d_model and the head width d_k, returns the standard deviation; for the
        truncated law that of the normal law *before* it is cut off, as deep-learning libraries
        do, so that the entries' own is smaller.

    Examples
    --------
    >>> from attnlib import EntryLaw
    >>> EntryLaw("normal", lambda width, d_k: 0.02)
    EntryLaw(distribution='normal')
    """

    distribution: str
    std: Callable[[int, int], float] = field(repr=False)

    def __post_init__(self) -> None:
        """Check what would otherwise fail far from here."""
        if self.distribution not in DISTRIBUTIONS:
            raise ValueError(
                f"distribution must be one of {DISTRIBUTIONS}; got {self.distribution!r}"
            )
        if not callable(self.std):
            raise TypeError(f"std must be callable with the width and d_k; got {self.std!r}")


@dataclass(frozen=True)
class Initializer:
    """How a model starts its queries and keys, and what it multiplies their products by.

    Parameters
    ----------
    name : str
        What tables call it.
    query, key : EntryLaw
        The laws of the entries of W_q and of W_k.
    source : str
        Where it is from: repository, path and symbol, or a paper.
    query_bias, key_bias : EntryLaw, optional
        The laws of the biases; None where there is none or it starts at 0.
    scale : float, callable, ScalingRule or None
        As in :func:`attnlib.scaling.scaling_rule`.

    Examples
    --------
    >>> from attnlib import EntryLaw, Initializer
    >>> law = EntryLaw("normal", lambda width, d_k: 0.02)
    >>> Initializer("GPT-2", law, law, "openai/gpt-2, src/model.py, conv1d")
    Initializer(name='GPT-2')
    """

    name: str
    query: EntryLaw = field(repr=False)
    key: EntryLaw = field(repr=False)
    source: str = field(repr=False)
    query_bias: EntryLaw | None = field(default=None, repr=False)
    key_bias: EntryLaw | None = field(default=None, repr=False)
    scale: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check what would otherwise fail far from here."""
        scaling.scaling_rule(self.scale)


class AttentionVariances(NamedTuple):
    """Variances over the draws of the weights, which is where everything has mean 0."""

    query: float
    """Of a component of q."""
    key: float
    """Of a component of k."""
    score: float
    """Of q·k."""
    logit: float
    """Of a logit, that is after the initializer's own scale."""
    within_row: float
    """Of the logits of one query about their mean: the part that softmax sees."""


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


def _checked_initializer(initializer: Any) -> Initializer:
    """Return the argument if it is an initializer; its key alone would be a likely slip."""
    if not isinstance(initializer, Initializer):
        raise TypeError(f"initializer must be an Initializer; got {initializer!r:.60}")
    return initializer


def _checked_cosine(token_cosine: Any) -> float:
    """Return a cosine that any number of tokens can have with each other."""
    cosine = real_number("token_cosine", token_cosine)
    if not 0 <= cosine <= 1:
        raise ValueError(f"token_cosine must lie between 0 and 1; got {cosine}")
    return cosine


def _checked_std(law: EntryLaw, width: int, d_k: int) -> float:
    """Return the law's standard deviation, before any truncation."""
    std = real_number("std", law.std(width, d_k))
    if not 0 <= std <= LARGEST_STD:
        raise ValueError(
            f"std must lie between 0 and {LARGEST_STD:g}; got {std} at width {width}, d_k {d_k}"
        )
    return std


def _refuse_overflow(variances: AttentionVariances) -> AttentionVariances:
    """Return the variances unless the scale was too large for one of them."""
    for name, value in variances._asdict().items():
        if not math.isfinite(value):
            raise ValueError(f"initializer must give finite variances; got {value} for {name}")
    return variances


def _kept_by_truncation() -> float:
    """Return the variance of a standard normal number cut off at TRUNCATION either way.

    By parts, ∫ x² φ(x) dx between ±c is ∫ φ(x) dx there less 2c φ(c).
    """
    density = math.exp(-TRUNCATION * TRUNCATION / 2) / math.sqrt(2 * math.pi)
    return 1 - 2 * TRUNCATION * density / math.erf(TRUNCATION / math.sqrt(2))


def _entry_variance(law: EntryLaw | None, width: int, d_k: int) -> float:
    """Return the variance of one entry; that of a bias that is not there is 0."""
    if law is None:
        return 0.0
    std = _checked_std(law, width, d_k)
    kept = _kept_by_truncation() if law.distribution == "truncated normal" else 1.0
    return kept * std * std


def predict_variances(
    initializer: Initializer,
    width: int,
    d_k: int,
    *,
    n_tokens: int = 64,
    token_cosine: float = 0.0,
) -> AttentionVariances:
    r"""Return the variances of q, k, scores and logits that an initializer leads to.

    With entries of variance v_q, v_k and biases of variance β_q, β_k (0 without a bias), for
    any two LayerNormed tokens of width d_model and the initializer's multiplier c,

    .. math::

        \mathrm{Var}(q_a) = d_{\text{model}} v_q + \beta_q, \qquad
        \mathrm{Var}(k_a) = d_{\text{model}} v_k + \beta_k,

    .. math::

        \mathrm{Var}(c\,q\cdot k) = c^2 d_k \mathrm{Var}(q_a)\,\mathrm{Var}(k_a).

    Within one row, that is among the logits of one query, keys of tokens with cosine r have
    correlated components, and for keys without rotary codes what they share moves the whole row:

    .. math::

        \mathrm E\Bigl[\frac1{n-1}\sum_j (s_{ij} - \bar s_i)^2\Bigr]
            = c^2 d_k (d_{\text{model}} v_q + \beta_q)\, d_{\text{model}} v_k (1 - r).

    A bias of the keys then adds one number to the whole row, so softmax does not see it; a bias
    of the queries counts in full. Rotary codes turn keys by their positions, so that less is
    shared, and more of the variance stays within a row.

    Parameters
    ----------
    initializer : Initializer
        The laws of the weights and the scale; its rule must multiply all scores by one number,
        so not normalize, cap or learn a gain by query.
    width, d_k : int
        The tokens' width d_model, and the head width.
    n_tokens : int
        Number of keys in a row, at least 2; matters only to a rule that depends on it.
    token_cosine : float
        Average cosine r between two different tokens of a row, from 0 to 1; matters only to
        `within_row`.

    Returns
    -------
    AttentionVariances
        All of them exact, at any width.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the initializer's `std` returns no number in range.

    Notes
    -----
    q and k are uncorrelated given the tokens even where both come from the same token, as W_q
    and W_k are drawn independently.

    References
    ----------
    .. [1] X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward
       neural networks", AISTATS 2010.

    Examples
    --------
    >>> from attnlib import EntryLaw, Initializer, predict_variances
    >>> law = EntryLaw("uniform", lambda width, d_k: (2 * width) ** -0.5)
    >>> found = predict_variances(Initializer("Xavier", law, law, "PyTorch"), 512, 64)
    >>> round(found.query, 6), round(found.logit, 6)
    (0.5, 0.25)
    """
    plan = _checked_initializer(initializer)
    width, d_k = whole_number("width", width), whole_number("d_k", d_k)
    n_tokens = whole_number("n_tokens", n_tokens, least=2)
    apart = 1 - _checked_cosine(token_cosine)
    rule = scaling.scaling_rule(plan.scale)
    if rule.normalize or rule.cap is not None or np.any(rule.gains.get("query_gain", 0.0)):
        raise ValueError(
            f"initializer must multiply all scores by one number to be predicted; got {rule!r:.60}"
        )
    factor = rule.multiplier(d_k, n_tokens)
    query = width * _entry_variance(plan.query, width, d_k)
    query += _entry_variance(plan.query_bias, width, d_k)
    from_weights = width * _entry_variance(plan.key, width, d_k)
    key = from_weights + _entry_variance(plan.key_bias, width, d_k)
    score = d_k * query * key
    return _refuse_overflow(
        AttentionVariances(
            query=query,
            key=key,
            score=score,
            logit=factor * factor * score,
            within_row=factor * factor * d_k * query * from_weights * apart,
        )
    )


@np.errstate(under="ignore")
def layer_norm(x: ArrayLike) -> np.ndarray:
    r"""Return vectors with mean 0 and mean square 1 along the last axis [1]_.

    .. math::

        \mathrm{LayerNorm}(x)
            = \frac{x - \bar x}{\sqrt{\tfrac1{d_{\text{model}}} \sum_e (x_e - \bar x)^2}}

    This is the published definition with gain 1 and bias 0, and without the small number that
    libraries add under the root; so the squared length of the result is its width.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
        Vectors, none of them constant.

    Returns
    -------
    numpy.ndarray, shape (..., d_model)

    References
    ----------
    .. [1] J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer normalization", 2016.

    Examples
    --------
    >>> from attnlib import layer_norm
    >>> layer_norm([3.0, 1.0, 3.0, 1.0])
    array([ 1., -1.,  1., -1.])
    """
    checked = float_array("x", x, ndim=1)
    if checked.shape[-1] == 0 or (checked.max(axis=-1) == checked.min(axis=-1)).any():
        raise ValueError(
            f"x must vary along its last axis; got a constant vector in shape {checked.shape}"
        )
    # Relative to the largest entry, so that no square leaves the range of the numbers.
    relative = checked / np.abs(checked).max(axis=-1, keepdims=True)
    relative -= relative.mean(axis=-1, keepdims=True)
    return relative / np.sqrt(np.square(relative).mean(axis=-1, keepdims=True))


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
    >>> from attnlib import sample_tokens
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
        As in :func:`predict_variances`, with any scaling rule.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Projections

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import EntryLaw, Initializer, sample_projections
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
    tokens: np.ndarray, weights: Projections, rule: scaling.ScalingRule
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
        As in :func:`predict_variances`, with any scaling rule and a width of at least 3.
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
        As :func:`predict_variances`, or if logits overflow.

    Notes
    -----
    The expectations are those of :func:`predict_variances` wherever that applies: mean squares
    need no correction as the means over the weights are 0, and the variance within a row
    divides by n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import EntryLaw, Initializer, sample_logit_variances
    >>> law = EntryLaw("uniform", lambda width, d_k: (2 * width) ** -0.5)
    >>> plan, rng = Initializer("Xavier", law, law, "PyTorch"), np.random.default_rng(0)
    >>> measured = sample_logit_variances(plan, 512, 64, n_draws=20, rng=rng)
    >>> abs(measured.mean.logit - 0.25) < 4 * measured.standard_error.logit
    True
    """
    plan = _checked_initializer(initializer)
    n_draws = whole_number("n_draws", n_draws, least=2)
    n_tokens = whole_number("n_tokens", n_tokens, least=2)
    rule = scaling.scaling_rule(plan.scale)
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
