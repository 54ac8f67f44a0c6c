"""The online softmax as the chapter on implementation proves it: one pass over the keys.

Short enough to be read beside its theorem. :mod:`attnlib.blockwise` takes the same step, with masks
and scaling rules, and tile by tile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import whole_number
from attnlib._inputs import check_finite, check_inputs
from attnlib._porting import answer_porting

__all__ = ["OnlineAttention", "online_attention"]


class OnlineAttention(NamedTuple):
    """What attention returns to each query, and what the online softmax knew of its logits.

    The logarithm of the sum of the exponentials of a query's logits is ``peak + log(total)``.
    """

    output: np.ndarray
    """Shape (..., n_queries, d_v)."""
    peak: np.ndarray
    """The largest logit, shape (..., n_queries, 1)."""
    total: np.ndarray
    """The sum of exp(logit - peak), shape (..., n_queries, 1)."""


@answer_porting
@np.errstate(all="ignore")  # what does not fit the type is looked for
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
    inputs = check_inputs(query, key, value, None, False, None)
    size = whole_number("block_size", block_size)
    *lead, n_queries, n_keys = inputs.shape
    queries = inputs.fold(inputs.query)  # divided by √d_k
    queries = np.broadcast_to(queries, (*lead, *queries.shape[-2:]))
    values_shape = (*lead, n_queries, inputs.value.shape[-1])
    peak, total, weighted = _start_sums(values_shape, inputs.value.dtype)
    for start in range(0, n_keys, size):
        block = slice(start, start + size)
        logits = queries @ inputs.key[..., block, :].mT
        check_finite(inputs, logits)
        _add_block(peak, total, weighted, logits, inputs.value[..., block, :])
    check_finite(inputs, weighted)
    return OnlineAttention((weighted / total).astype(inputs.dtype, copy=False), peak, total)


def _start_sums(shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Return m, l and o before the first block, for outputs of a shape.

    From the least finite number on, a query without any key gets zeros: -inf less -inf is none.
    """
    one_each = (*shape[:-1], 1)
    least = np.finfo(dtype).min
    return np.full(one_each, least, dtype), np.zeros(one_each, dtype), np.zeros(shape, dtype)


def _add_block(
    peak: np.ndarray,
    total: np.ndarray,
    weighted: np.ndarray,
    logits: np.ndarray,
    values: np.ndarray,
    *,
    keep_peak: bool = False,
    exp: np.ufunc = np.exp,
) -> None:
    """Add a block of keys to m, l and o, in place; the logits are overwritten.

    Where it is known that no exponential overflows, m may stay what it is: with `keep_peak`.
    """
    if not keep_peak:
        higher = np.maximum(peak, logits.max(axis=-1, keepdims=True))
        shrink = exp(peak - higher)
        total *= shrink
        weighted *= shrink
        peak[...] = higher
        logits -= peak
    exponentials = exp(logits, out=logits)
    total += exponentials @ np.ones((logits.shape[-1], 1), logits.dtype)  # faster than .sum
    weighted += exponentials @ values
