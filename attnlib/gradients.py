"""How the first gradient is shared out: over queries, over keys, and over a whole layer.

Throughout, components of q and k are independent standard normal, and so are the costs
u_ij = ∂L/∂p_ij of every key for every query, independent of q and k. Then, with scores
z_ij = q_i · k_j and weights p = softmax(scale * z)::

    ∂L/∂z_ij = scale * w_ij,    w_ij = p_ij (u_ij - Σ_m p_im u_im),

query i receives Σ_j ∂L/∂z_ij k_j, and key j receives Σ_i ∂L/∂z_ij q_i. Derived in the chapter on
gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import (
    axis_index,
    distribution,
    float_array,
    generator,
    real_number,
    scale_factor,
    whole_number,
)
from attnlib.saturation import _AT_WORK, _row_blocks, _weights
from attnlib.softmax import softmax_vjp

__all__ = [
    "GradientStatistics",
    "gradient_statistics",
    "meaningful_keys",
    "sample_key_gradients",
    "sample_layer_key_gradients",
    "sample_query_gradients",
    "sorted_shares",
]


class GradientStatistics(NamedTuple):
    """What a set of gradients' lengths is summed up by."""

    mean: np.ndarray
    rms: np.ndarray
    """Root mean square: what a weight matrix feels if its rows' gradients are uncorrelated."""
    quantiles: np.ndarray
    """First axis: the probabilities asked for."""


def _lengths_along(lengths: ArrayLike, axis: int) -> tuple[np.ndarray, int]:
    """Return the lengths as an array of numbers that are not negative, and the axis as an index."""
    checked = float_array("lengths", lengths, ndim=1)
    index = axis_index(axis, checked, "lengths")
    if (checked < 0).any():
        raise ValueError(f"lengths must not be negative; got {checked.min()}")
    return checked, index


@np.errstate(under="ignore")
def gradient_statistics(
    lengths: ArrayLike,
    quantiles: ArrayLike = (0.05, 0.25, 0.5, 0.75, 0.95),
    axis: int = -1,
) -> GradientStatistics:
    """Return mean, root mean square and quantiles of the lengths of gradients.

    Lengths of gradients without the division spread over many powers of ten, so that no one
    number describes them.

    Parameters
    ----------
    lengths : array_like, shape (..., n, ...)
        Euclidean lengths, not negative.
    quantiles : array_like, shape (m,)
        Probabilities between 0 and 1; 0.5 is the median.
    axis : int
        The axis along which the lengths are summed up.

    Returns
    -------
    GradientStatistics
        `mean` and `rms` have the shape of `lengths` without that axis; `quantiles` has one more
        axis of length m in front. Quantiles between two lengths are interpolated linearly.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or there is no length along `axis`.

    Examples
    --------
    >>> from attnlib import gradient_statistics
    >>> summary = gradient_statistics([1.0, 2.0, 2.0, 5.0], quantiles=[0.5])
    >>> float(summary.mean), float(summary.rms.round(3)), summary.quantiles.tolist()
    (2.5, 2.915, [2.0])
    """
    checked, index = _lengths_along(lengths, axis)
    probabilities = float_array("quantiles", quantiles, ndim=1)
    if probabilities.ndim > 1 or probabilities.size == 0:
        raise ValueError(
            f"quantiles must be one row of probabilities; got shape {probabilities.shape}"
        )
    outside = (probabilities < 0) | (probabilities > 1)
    if outside.any():
        raise ValueError(
            f"quantiles must lie between 0 and 1; got {probabilities[outside].flat[0]}"
        )
    # Relative to the longest, so that neither sums nor squares leave the range of the numbers.
    longest = checked.max(axis=index, keepdims=True)
    relative = checked / np.where(longest > 0, longest, 1)
    longest = longest.squeeze(index)
    return GradientStatistics(
        mean=longest * relative.mean(axis=index),
        rms=longest * np.sqrt((relative * relative).mean(axis=index)),
        quantiles=np.quantile(checked, probabilities, axis=index).astype(checked.dtype),
    )


@np.errstate(under="ignore")
def sorted_shares(lengths: ArrayLike, axis: int = -1) -> np.ndarray:
    """Return each length's share of the sum along the axis, the largest share first.

    Parameters
    ----------
    lengths, axis
        As in :func:`gradient_statistics`; not all 0 along the axis.

    Returns
    -------
    numpy.ndarray
        Shares of the shape of `lengths`, not increasing, with sum 1 along the axis.

    Examples
    --------
    >>> from attnlib import sorted_shares
    >>> sorted_shares([1.0, 5.0, 2.0])
    array([0.625, 0.25 , 0.125])
    """
    checked, index = _lengths_along(lengths, axis)
    longest = checked.max(axis=index, keepdims=True)
    if (longest == 0).any():
        raise ValueError(
            f"lengths must not all be 0 along axis {axis}; got a row of zeros, "
            f"which has no shares, in an array of shape {checked.shape}"
        )
    relative = np.flip(np.sort(checked / longest, axis=index), axis=index)
    # The sum of many float16 numbers may exceed what float16 can hold.
    wide = np.result_type(relative, np.float32)
    total = relative.sum(axis=index, keepdims=True, dtype=wide)
    return (relative / total).astype(relative.dtype, copy=False)


@overload
def meaningful_keys(weights: Sequence[float], *, share: float = 0.1) -> np.floating: ...
@overload
def meaningful_keys(weights: ArrayLike, *, share: float = 0.1) -> np.ndarray | Any: ...
def meaningful_keys(weights: ArrayLike, *, share: float = 0.1) -> np.floating | np.ndarray:
    r"""Return the fraction of keys that still receive a meaningful gradient.

    A key counts if the slope of its own weight exceeds `share` times 1/n, about what it would be
    in a uniform row of many keys: :math:`p(1-p) > \mathrm{share}/n`. The threshold is a convention.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        Attention weights.
    share : float
        The convention; positive.

    Returns
    -------
    numpy.ndarray, shape (...)
        Fractions between 0 and 1.

    Examples
    --------
    >>> from attnlib import meaningful_keys
    >>> float(meaningful_keys([0.98, 0.02, 0.0, 0.0]))
    0.0
    """
    p, _ = distribution(weights)
    threshold = real_number("share", share, positive=True) / p.shape[-1]
    return (p * (1 - p) > threshold).mean(axis=-1)


class _Rows(NamedTuple):
    """Some queries, each with keys of its own, drawn without vectors."""

    place: slice
    query_norm: np.ndarray
    """|q|, shape (rows, 1)."""
    along: np.ndarray
    """Each key's component along its query, shape (rows, n_keys)."""
    score_gradient: np.ndarray
    """The gradient by the logits, w in the module's words, shape (rows, n_keys)."""


def _sample_rows(
    d_k: int, n_keys: int, n_rows: int, factor: float, rng: np.random.Generator
) -> Iterator[_Rows]:
    """Yield the rows a part at a time.

    A key enters the scores of its query only by its component along it, which is standard normal
    whatever the query. So a row's scores are |q| times independent normal numbers.
    """
    for place in _row_blocks(n_rows, n_keys):
        count = place.stop - place.start
        query_norm = np.sqrt(rng.chisquare(d_k, (count, 1)))
        along = rng.standard_normal((count, n_keys))
        costs = rng.standard_normal((count, n_keys))
        for part in _row_blocks(count, n_keys, _AT_WORK):
            norm, component = query_norm[part], along[part]
            gradient = softmax_vjp(_weights(factor, norm * component), costs[part])
            rows = slice(place.start + part.start, place.start + part.stop)
            yield _Rows(rows, norm, component, gradient)


@np.errstate(under="ignore")
def sample_query_gradients(
    d_k: int,
    n_keys: int,
    n_rows: int,
    *,
    scale: float | None = None,
    rng: np.random.Generator,
) -> np.ndarray:
    r"""Draw the length of the loss gradient that reaches one query, exactly, without vectors.

    With u the cost of each key (standard normal, independent of the keys),

    .. math:: \frac{\partial L}{\partial q} = \text{scale}\sum_j w_j k_j,
              \qquad w = J u, \quad J = \mathrm{diag}(p) - p p^\top.

    Only the component of each key along q enters p. The d_k - 1 others are independent of w,
    so their weighted sum has length \|w\| times a chi variable: n_keys + 1 numbers stand for
    n_keys vectors.

    Parameters
    ----------
    d_k, n_keys, n_rows, scale, rng
        As in :func:`sample_row_statistics`; each row has a query and keys of its own.

    Returns
    -------
    numpy.ndarray, shape (n_rows,)
        Euclidean norms of ∂L/∂q.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `scale` makes logits overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_query_gradients
    >>> scaled = sample_query_gradients(64, 1024, 500, rng=np.random.default_rng(0))
    >>> raw = sample_query_gradients(64, 1024, 500, scale=1.0, rng=np.random.default_rng(0))
    >>> bool(np.median(raw) > 15 * np.median(scaled))  # larger, not smaller
    True
    """
    d_k = whole_number("d_k", d_k)
    factor = scale_factor(scale, d_k)
    n_keys, n_rows = whole_number("n_keys", n_keys), whole_number("n_rows", n_rows)
    rng = generator(rng)
    norms = np.empty(n_rows)
    for place, query_norm, along, w in _sample_rows(d_k, n_keys, n_rows, factor, rng):
        across = rng.chisquare(d_k - 1, len(query_norm)) if d_k > 1 else 0.0
        norms[place] = factor * np.sqrt((w * along).sum(-1) ** 2 + (w * w).sum(-1) * across)
    return norms


@np.errstate(under="ignore")
def sample_key_gradients(
    d_k: int,
    n_keys: int,
    n_rows: int,
    *,
    scale: float | None = None,
    rng: np.random.Generator,
) -> np.ndarray:
    r"""Draw the lengths of the loss gradients that one query sends to its keys, exactly.

    With u as in :func:`sample_query_gradients`,

    .. math:: \Bigl|\frac{\partial L}{\partial k_j}\Bigr|
              = \text{scale}\; p_j\, |u_j - \bar u|\; |q|, \qquad \bar u = \sum_m p_m u_m.

    The length of the query is the one that also sets how sharp its row is; no vectors are drawn.

    Parameters
    ----------
    d_k, n_keys, n_rows, scale, rng
        As in :func:`sample_query_gradients`.

    Returns
    -------
    numpy.ndarray, shape (n_rows, n_keys)
        Euclidean norms of ∂L/∂k_j through one row each. Those of one row are dependent.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_key_gradients
    >>> scaled = sample_key_gradients(64, 1024, 100, rng=np.random.default_rng(0))
    >>> raw = sample_key_gradients(64, 1024, 100, scale=1.0, rng=np.random.default_rng(0))
    >>> bool(np.median(raw) < 1e-6 * np.median(scaled))  # nearly every key hears next to nothing
    True
    """
    d_k = whole_number("d_k", d_k)
    factor = scale_factor(scale, d_k)
    n_keys, n_rows = whole_number("n_keys", n_keys), whole_number("n_rows", n_rows)
    lengths = np.empty((n_rows, n_keys))
    for place, query_norm, _, w in _sample_rows(d_k, n_keys, n_rows, factor, generator(rng)):
        lengths[place] = factor * query_norm * np.abs(w)
    return lengths


@np.errstate(under="ignore")
def sample_layer_key_gradients(
    d_k: int,
    n_keys: int,
    n_queries: int,
    n_layers: int,
    *,
    scale: float | None = None,
    rng: np.random.Generator,
) -> np.ndarray:
    r"""Draw the lengths of the loss gradients that keys receive from all queries of a layer.

    The queries share the keys, and what they send to a key adds up as vectors:

    .. math:: \frac{\partial L}{\partial K} = \text{scale}\; W^\top Q, \qquad
              W_{ij} = p_{ij} \Bigl(u_{ij} - \sum_m p_{im} u_{im}\Bigr).

    So here the vectors are drawn; the queries are taken a block at a time, and the matrix W is
    never held as a whole.

    Parameters
    ----------
    d_k, n_keys, scale, rng
        As in :func:`sample_query_gradients`.
    n_queries : int
        Number of queries, which all see all keys.
    n_layers : int
        Number of independent layers to draw.

    Returns
    -------
    numpy.ndarray, shape (n_layers, n_keys)
        Euclidean norms of ∂L/∂k_j. Those of one layer are dependent, layers are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_layer_key_gradients
    >>> scaled = sample_layer_key_gradients(64, 256, 256, 1, rng=np.random.default_rng(0))
    >>> raw = sample_layer_key_gradients(64, 256, 256, 1, scale=1.0, rng=np.random.default_rng(0))
    >>> bool(np.median(raw) > 5 * np.median(scaled))  # larger, not smaller
    True
    """
    d_k = whole_number("d_k", d_k)
    factor = scale_factor(scale, d_k)
    n_keys, n_queries = whole_number("n_keys", n_keys), whole_number("n_queries", n_queries)
    n_layers, rng = whole_number("n_layers", n_layers), generator(rng)
    lengths = np.empty((n_layers, n_keys))
    for layer in range(n_layers):
        keys = rng.standard_normal((n_keys, d_k))
        received = np.zeros((n_keys, d_k))
        for place in _row_blocks(n_queries, n_keys):
            queries = rng.standard_normal((place.stop - place.start, d_k))
            p = _weights(factor, queries @ keys.T)
            received += softmax_vjp(p, rng.standard_normal(p.shape)).T @ queries
        lengths[layer] = factor * np.linalg.norm(received, axis=-1)
    return lengths
