"""The online softmax as the book proves it: one pass over the keys, block by block.

Short enough to be read beside its theorem. :mod:`attnlib.blockwise` computes the same, with masks
and scaling rules, and fast.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib._calls import AttentionCall, check_scores, checked_call
from attnlib._validation import whole_number

__all__ = ["OnlineAttention", "online_attention"]


class OnlineAttention(NamedTuple):
    """What attention returns to each query, and what the online softmax knew of its logits.

    The logarithm of the sum of the exponentials of a query's logits is ``peak + log(total)``.

    Notes
    -----
    Derived in the chapter on implementation.
    """

    output: np.ndarray
    """Shape (..., n_queries, d_v)."""
    peak: np.ndarray
    """The largest logit, shape (..., n_queries, 1)."""
    total: np.ndarray
    """The sum of exp(logit - peak), shape (..., n_queries, 1)."""


@np.errstate(under="ignore")
def online_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, block_size: int = 512
) -> OnlineAttention:
    r"""Return scaled dot-product attention, holding the logits of one block of keys at a time [1]_.

    With the logits s of the block B and the sums so far m, l and o, one step is

    .. math:: m' = \max\bigl(m, \max_{j \in B} s_j\bigr), \quad
        l' = e^{m - m'} l + \sum_{j \in B} e^{s_j - m'}, \quad
        o' = e^{m - m'} o + \sum_{j \in B} e^{s_j - m'} v_j ,

    and after the last block the output is o / l.

    Parameters
    ----------
    query, key, value
        As in :func:`scaled_dot_product_attention`.
    block_size : int
        How many keys to take at a time.

    Returns
    -------
    OnlineAttention
        The output, float32 if all three arrays are; and peak and sum of each query's
        exponentials, in float32 at least.

    Raises
    ------
    TypeError, ValueError
        As :func:`scaled_dot_product_attention`, or if a sum of values overflows.

    Notes
    -----
    Derived in the chapter on implementation.

    References
    ----------
    .. [1] M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.

    Examples
    --------
    >>> from attnlib import online_attention
    >>> keys, values = [[1.0], [3.0], [2.0], [0.0]], [[10.0], [20.0], [30.0], [40.0]]
    >>> found = online_attention([[1.0]], keys, values, block_size=2)
    >>> found.output.round(4), found.peak, found.total.round(4)
    (array([[22.1386]]), array([[3.]]), array([[1.553]]))
    """
    call = checked_call(query, key, value, None, False, None)
    size = whole_number("block_size", block_size)
    queries = call.query / math.sqrt(call.query.shape[-1])  # the division by √d_k
    peak, total, weighted = -math.inf, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, call.shape[-1], size):
            block = slice(start, start + size)
            logits = queries @ call.key[..., block, :].mT
            check_scores(call, logits)
            higher = np.maximum(peak, logits.max(axis=-1, keepdims=True))
            shrink = np.exp(peak - higher)
            exponentials = np.exp(logits - higher)
            total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
            weighted = shrink * weighted + exponentials @ call.value[..., block, :]
            peak = higher
    _check_sums(call, weighted)
    output = (weighted / total).astype(call.dtype, copy=False)
    return OnlineAttention(output, peak, total)


def _check_sums(call: AttentionCall, weighted: np.ndarray) -> None:
    """Refuse sums that overflowed, in words about what was summed."""
    if not np.isfinite(weighted).all():
        raise ValueError(
            f"value must leave room for a sum over {call.shape[-1]} keys in {weighted.dtype}; "
            f"got magnitudes up to {np.abs(call.value).max():.3g}"
        )
