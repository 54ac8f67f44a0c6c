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
from attnlib._checks import float_array, real_number, whole_number

__all__ = [
    "AttentionVariances",
    "EntryLaw",
    "Initializer",
    "layer_norm",
    "predict_variances",
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
