"""Attention, and its gradient, without ever holding the matrix of weights.

The work is cut into tiles: some queries of a head against some keys, small enough for a cache.
A tile of scores is exponentiated where it lies, added to the running sums of its queries, and
overwritten by the next. What to subtract in the exponent, the largest score, is known only at the
end; so the largest *so far* is subtracted, and the sums are multiplied by exp(old - new) whenever
it grows: the online softmax (Milakov and Gimelshein, 2018). Any number near the largest will do,
so without a mask the first tile's serves for all, unless a sum then overflows.

Often nothing needs to be subtracted. No score exceeds the length of its query times that of the
longest key (Cauchy-Schwarz); where exp of that cannot overflow, no maximum is looked for at all:
calibrated scores need no stabilising. NumPy lets go of the interpreter in products and
exponentials, so plain threads use every core.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnlib import _tiles as tiling
from attnlib import scaling
from attnlib._calls import AttentionCall, check_scores, checked_call, checked_cotangent
from attnlib._threads import scratch, share_out
from attnlib.attention import AttentionGradients

__all__ = ["blockwise_attention", "blockwise_attention_vjp"]


def blockwise_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | scaling.ScalingRule | None = None,
) -> np.ndarray:
    """Return what :func:`scaled_dot_product_attention` returns, in memory linear in n.

    Parameters
    ----------
    query, key, value, attn_mask, is_causal, scale
        As :func:`scaled_dot_product_attention`.

    Returns
    -------
    numpy.ndarray, shape (..., n_queries, d_v)

    Raises
    ------
    TypeError, ValueError
        As :func:`scaled_dot_product_attention`, or if values are too large to add n_keys of them.

    Notes
    -----
    Serves the chapter on implementation. Uses as many threads as NumPy's own products do.

    Examples
    --------
    >>> blockwise_attention(*np.ones((3, 10_000, 16), np.float32)).shape  # not 400 MB for weights
    (10000, 16)
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    output, _ = _forward(call)
    return output.reshape(*call.shape[:-1], output.shape[-1]).astype(call.value.dtype, copy=False)


def blockwise_attention_vjp(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    cotangent: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | scaling.ScalingRule | None = None,
) -> AttentionGradients:
    """Return what :func:`attention_vjp` returns, in memory linear in n.

    Parameters
    ----------
    query, key, value, cotangent, attn_mask, is_causal, scale
        As :func:`attention_vjp`.

    Returns
    -------
    AttentionGradients

    Raises
    ------
    TypeError, ValueError
        As :func:`attention_vjp`.

    Notes
    -----
    Serves the chapter on implementation. Weights are computed anew, from their sums' logarithms.

    Examples
    --------
    >>> blockwise_attention_vjp([[2.0]], [[1.0], [1.0]], [[1.0], [0.0]], 1).key
    array([[ 0.5],
           [-0.5]])
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    by_query, by_key, by_value = map(
        tiling.from_heads, [call] * 3, _backward(call, cotangent), call[:3]
    )
    by_query, gains = scaling.fold_query_vjp(call.rule, call.query, call.shape[-1], by_query)
    by_key = scaling.fold_key_vjp(call.rule, call.key, by_key)
    return AttentionGradients(by_query, by_key, by_value, gains)


def _forward(call: AttentionCall) -> tuple[np.ndarray, np.ndarray]:
    """Return the output and the logarithm of each query's sum of exponentials, by head."""
    query, key, value = (tiling.by_head(call, x) for x in call[:3])
    output = np.zeros((*query.shape[:-1], value.shape[-1]), value.dtype)
    log_sums = np.empty((*query.shape[:-1], 1), value.dtype)
    longest_key, limit = (
        tiling.longest(scaling.fold_key(call.rule, key)),
        tiling.headroom(call, value),
    )
    least, ones = np.finfo(key.dtype).min, np.ones((tiling.SIDE, 1), key.dtype)

    def attend(heads: slice, rows: slice, *, look_often: bool) -> bool:
        """Write one tile's output, and say whether all of it stayed within range."""
        q = scaling.fold_query(call.rule, query[heads, rows], key.shape[1])
        bound = tiling.longest(q) * longest_key
        online = not min(bound, call.rule.cap or bound) < limit
        out = output[heads, rows]
        out[:] = 0
        # From the least number on, a query without any key gets zeros instead of NaN.
        peak = np.full_like(log_sums[heads, rows], least if online else 0)
        total = np.zeros_like(peak)
        for keys in tiling.key_slices(call, rows):
            scores = tiling.tile_scores(call, q, key[heads, keys])
            if not np.isfinite(bound):
                check_scores(call, scores)
            tiling.hide_in_tile(call, scores, heads, rows, keys)
            if online and (look_often or keys.start == 0):
                higher = np.maximum(peak, scores.max(axis=-1, keepdims=True))
                shrink = np.exp(peak - higher)
                total *= shrink
                out *= shrink
                peak = higher
            if online:
                scores -= peak
            np.exp(scores, out=scores)
            total += scores @ ones[: scores.shape[-1]]  # faster than scores.sum
            sums = scratch("sums", out.shape, out.dtype)
            out += np.matmul(scores, value[heads, keys], out=sums)
        log_sums[heads, rows] = np.where(total > 0, np.log(total) + peak, np.inf)
        out /= np.where(total > 0, total, 1)
        return bool(np.isfinite(out).all())

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def attend_all(some_tiles: list[tiling.Tile]) -> None:
        for heads, rows in some_tiles:
            # A later score is seldom so far above the first tile's largest that exp overflows.
            if call.mask is not None or not attend(heads, rows, look_often=False):
                attend(heads, rows, look_often=True)

    share_out(attend_all, tiling.tiles(call))
    return output, log_sums


def _backward(call: AttentionCall, cotangent: ArrayLike) -> list[np.ndarray]:
    """Return the gradients by folded queries, by folded keys and by values, by head."""
    query, key, value = (tiling.by_head(call, x) for x in call[:3])
    upstream = tiling.by_head(call, checked_cotangent(call, cotangent))
    output, log_sums = _forward(call)
    mean_use = (upstream * output).sum(axis=-1, keepdims=True)

    @np.errstate(over="ignore", invalid="ignore")
    def carry_back(some_tiles: list[tiling.Tile]) -> list[np.ndarray]:
        by_query, by_key, by_value = (np.zeros_like(x) for x in (query, key, value))
        for heads, rows in some_tiles:
            q = scaling.fold_query(call.rule, query[heads, rows], key.shape[1])
            for keys in tiling.key_slices(call, rows):
                weights = tiling.tile_scores(call, q, key[heads, keys])
                slope = scaling.cap_slope(call.rule, weights)
                tiling.hide_in_tile(call, weights, heads, rows, keys)
                weights -= log_sums[heads, rows]
                np.exp(weights, out=weights)
                by_scores = scratch("by_scores", weights.shape, weights.dtype)
                values = np.swapaxes(value[heads, keys], 1, 2)
                np.matmul(upstream[heads, rows], values, out=by_scores)
                by_scores -= mean_use[heads, rows]
                by_scores *= weights
                by_scores *= slope
                by_query[heads, rows] += by_scores @ scaling.fold_key(call.rule, key[heads, keys])
                by_key[heads, keys] += np.swapaxes(by_scores, 1, 2) @ q
                by_value[heads, keys] += np.swapaxes(weights, 1, 2) @ upstream[heads, rows]
        return [by_query, by_key, by_value]

    by_thread = share_out(carry_back, tiling.tiles(call))
    return [sum(parts[1:], parts[0]) for parts in zip(*by_thread, strict=True)]
