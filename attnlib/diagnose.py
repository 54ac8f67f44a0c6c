"""What captured queries and keys say about a model's scale: the chapter on implementation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib._inputs import check_inputs, hide_keys
from attnlib._porting import answer_porting
from attnlib.softmax import effective_positions, softmax

__all__ = ["Diagnosis", "diagnose"]

SHARP = 0.9
"""A row is sharp if one key has more than this of its weight."""
FINE = "as usual"
TOLERANCE = 0.01
"""By how much a factor may differ from one with a name, relatively."""
LARGEST_HALF = float(np.finfo(np.float16).max)


class Diagnosis(NamedTuple):
    """Measurements of each head, as arrays of the leading shape of the queries, and verdicts."""

    raw_spread: np.ndarray
    """Standard deviation of the scores within a row, before the scale (root mean square)."""
    spread: np.ndarray
    """The same after the scale."""
    independent_spread: np.ndarray
    """What `spread` would be if components of the measured sizes were independent."""
    shared_score: np.ndarray
    """Root mean square of the mean logit of a row, which softmax does not see."""
    effective_positions: np.ndarray
    """Number of equally weighted keys with the same entropy, averaged over rows."""
    sharp_share: np.ndarray
    """Share of the rows in which one key has more than 0.9 of the weight."""
    query_over_key: np.ndarray
    """Root-mean-square component of the queries, divided by that of the keys."""
    verdict: np.ndarray
    """In words, what points at a known fault, or "as usual"."""


def _scale_verdict(factor: float, d_k: int, heads: int) -> str:
    """Say what the logits' factor is beside 1/√d_k; `factor` is their ratio."""
    root = math.sqrt(d_k)
    if math.isclose(factor, 1, rel_tol=TOLERANCE):
        return FINE
    if math.isclose(factor, 1 / root, rel_tol=TOLERANCE):
        return "divided twice, that is by d_k"
    if math.isclose(factor, root, rel_tol=TOLERANCE):
        return "not divided"
    if math.isclose(factor, 1 / math.sqrt(heads), rel_tol=TOLERANCE):
        return "divided by the root of the model's width"
    return f"an extra factor of {factor:.3g}"


def _head_verdict(factor: float, ratio: float, d_k: int, heads: int, largest: float) -> str:
    """Say what points at a fault in one head."""
    # Queries and keys of a head start alike. So the nearest power of √d_k says how often the
    # queries were divided before, at most twice.
    before = round(-2 * math.log(ratio, d_k)) if d_k > 1 and ratio else 0
    words = _scale_verdict(factor * d_k ** (-0.5 * min(max(before, 0), 2)), d_k, heads)
    if largest <= LARGEST_HALF:
        return words
    beyond = f"scores up to {largest:.3g}, beyond float16"
    return beyond if words == FINE else f"{words}; {beyond}"


@answer_porting
@np.errstate(under="ignore")
def diagnose(
    query: ArrayLike,
    key: ArrayLike,
    *,
    scale: float | Callable[[int, int], float] | None = None,
    attn_mask: ArrayLike | None = None,
) -> Diagnosis:
    r"""Measure the logits of captured queries and keys, and say what points at a known fault.

    Parameters
    ----------
    query : array_like, shape (..., n_queries, d_k)
        Queries as they reach the product with the keys; the axis before the last two is that of
        the heads of one layer.
    key : array_like, shape (..., n_keys, d_k)
        Keys, likewise.
    scale : float or callable, optional
        What the model multiplies the raw scores by, or a function of d_k and the number of keys
        that returns it. ``None`` means 1/√d_k.
    attn_mask : array_like, broadcastable to (..., n_queries, n_keys), optional
        As in :func:`scaled_dot_product_attention`. Rows without a key do not count.

    Returns
    -------
    Diagnosis

    Raises
    ------
    TypeError, ValueError
        As :func:`scaled_dot_product_attention`, or if no query of a head sees a key.

    Notes
    -----
    The verdict compares the scale with 1/√d_k, and the size of the queries with that of the keys:
    an untrained head draws both alike, so queries that are smaller by about √d_k were divided
    before. It sees no factor that enlarges or shrinks both, and of one in the queries only a
    division by about √d_k. The spread of independent components is derived in the chapter on
    variance; used on the page on libraries.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import diagnose
    >>> query, key = np.random.default_rng(0).standard_normal((2, 4, 100, 64))
    >>> diagnose(query, key).verdict[0]
    'as usual'
    >>> diagnose(query / 8, key).verdict[0]
    'divided twice, that is by d_k'
    >>> diagnose(query, key, scale=1).verdict[0]
    'not divided'
    """
    inputs = check_inputs(query, key, key, attn_mask, False, scale)
    q, k = (x.astype(np.float64) for x in inputs[:2])
    d_k = q.shape[-1]
    used = inputs.rule.multiplier(d_k, k.shape[-2])
    raw = np.broadcast_to(q @ k.mT, inputs.shape)
    logits = used * raw
    hide_keys(logits, inputs.mask, None)
    visible = ~np.isneginf(logits)
    counted = visible.any(axis=-1)
    if not counted.any(axis=-1).all():
        raise ValueError(
            "attn_mask must let some query of each head see a key; got one that sees none"
        )

    def mean_over_rows(by_row: np.ndarray) -> np.ndarray:
        return np.mean(by_row, axis=-1, where=counted)

    # a row without a key is computed as if it saw all, and not counted
    seen = visible | ~counted[..., None]
    logits = np.where(counted[..., None], logits, 0)
    shared = raw.mean(axis=-1, where=seen)
    raw_spread = np.sqrt(mean_over_rows(raw.var(axis=-1, where=seen)))
    weights = softmax(logits)
    sizes = np.sqrt((q**2).mean(axis=(-2, -1))), np.sqrt((k**2).mean(axis=(-2, -1)))
    centered = np.sqrt(k.var(axis=-2).mean(axis=-1))
    ratio = sizes[0] / np.where(sizes[1] == 0, 1, sizes[1])
    ratio = np.broadcast_to(ratio, inputs.shape[:-2])
    heads = inputs.shape[-3] if len(inputs.shape) > 2 else 1
    largest = np.abs(raw).max(axis=(-2, -1)) * max(1.0, used)
    verdict = np.empty(ratio.shape, dtype=object)
    for place in np.ndindex(ratio.shape):
        factor = used * math.sqrt(d_k)
        verdict[place] = _head_verdict(factor, ratio[place], d_k, heads, largest[place])
    return Diagnosis(
        raw_spread,
        used * raw_spread,
        used * math.sqrt(d_k) * sizes[0] * centered,
        np.sqrt(mean_over_rows((used * shared) ** 2)),
        mean_over_rows(effective_positions(weights)),
        mean_over_rows(weights.max(axis=-1) > SHARP),
        ratio,
        verdict,
    )
