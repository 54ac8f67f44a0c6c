"""Attention, and its gradient, without ever holding the matrix of weights.

The work is cut into tiles: some queries of a head against some keys, small enough for a cache.
A tile of scores is exponentiated where it lies, added to the running sums of its queries, and
overwritten by the next. What to subtract in the exponent, the largest score, is known only at the
end; so the largest *so far* is subtracted, and the sums are multiplied by exp(old - new) whenever
it grows: the online softmax (Milakov and Gimelshein, 2018). Any number near the largest will do,
so the first tile's serves for all tiles, and only if a sum then overflows is every tile looked at.

Often nothing needs to be subtracted. No score exceeds the length of its query times that of the
longest key (Cauchy-Schwarz); where exp of that cannot overflow, no maximum is looked for at all.
So it is in float32 for 1024 standard normal tokens with divided scores, up to heads 4096 wide.
NumPy lets go of the interpreter in products and exponentials, so plain threads share the work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from attnlib import _tiles as tiling
from attnlib._calls import (
    AttentionCall,
    checked_call,
    checked_cotangent,
    finished_gradients,
    scaled_queries,
)
from attnlib._extras import answering
from attnlib._threads import scratch, share_out
from attnlib.attention import AttentionGradients
from attnlib.scaling import ScalingRule

__all__ = ["blockwise_attention", "blockwise_attention_vjp"]


@answering
@np.errstate(under="ignore")
def blockwise_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
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
    >>> from attnlib import blockwise_attention
    >>> import numpy as np
    >>> blockwise_attention(*np.ones((3, 10_000, 16), np.float32)).shape  # not 400 MB for weights
    (10000, 16)
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    output, _, _ = _forward(call, *tiling.heads_of(call))
    return output.reshape(*call.shape[:-1], output.shape[-1]).astype(call.dtype, copy=False)


@np.errstate(under="ignore")
def blockwise_attention_vjp(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    cotangent: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
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
    Serves the chapter on implementation. Weights are computed anew, from their peaks and sums.
    Rounding leaves an error of the size of epsilon times value times cotangent, also where a
    saturated row has a smaller gradient; :func:`attention_vjp` is accurate there.

    Examples
    --------
    >>> from attnlib import blockwise_attention_vjp
    >>> blockwise_attention_vjp([[2.0]], [[1.0], [1.0]], [[1.0], [0.0]], 1).key
    array([[ 0.5],
           [-0.5]])
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    by_head = _backward(call, tiling.by_head(call, checked_cotangent(call, cotangent)))
    gradients = map(tiling.from_heads, [call] * 3, by_head, call[:3])
    return AttentionGradients(*finished_gradients(call, *gradients))


def _forward(
    call: AttentionCall, query: np.ndarray, key: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return output, subtracted peak and sum of exponentials of each query, by head."""
    output = np.empty((*query.shape[:-1], value.shape[-1]), value.dtype)
    peaks, totals = np.empty((2, *query.shape[:-1], 1), value.dtype)
    powers, longest_key = tiling.powers_for(call), tiling.longest(key)
    limit, least = tiling.headroom(call) * powers.unit, np.finfo(key.dtype).min
    ones = np.ones((tiling.KEYS, 1), key.dtype)

    def attend(heads: slice, rows: slice, *, careful: bool) -> bool:
        """Write what some queries get, and say whether nothing left the range of the numbers."""
        q = scaled_queries(call, query[heads, rows])
        q *= powers.unit
        bound = tiling.longest(q) * longest_key  # of all scores; if finite, so are they
        online = careful or not min(bound, call.rule.cap or bound) < limit
        out = output[heads, rows]
        # From the least number on, a query without any key gets zeros instead of NaN.
        peak = np.full((*out.shape[:-1], 1), least)
        total = np.zeros_like(peak)
        for keys in tiling.key_slices(call, rows):
            scores = tiling.tile_scores(call, q, key[heads, keys], check=not np.isfinite(bound))
            tiling.hide_in_tile(call, scores, heads, rows, keys)
            if online and (careful or keys.start == 0):
                higher = np.maximum(peak, scores.max(axis=-1, keepdims=True))
                if keys.start:
                    shrink = powers.of(peak - higher)
                    total *= shrink
                    out *= shrink
                peak = higher
            if online:
                scores -= peak
            powers.of(scores, out=scores)
            total += scores @ ones[: scores.shape[-1]]  # faster than scores.sum
            if keys.start == 0:
                np.matmul(scores, value[heads, keys], out=out)
            else:
                sums = scratch("sums", out.shape, out.dtype)
                out += np.matmul(scores, value[heads, keys], out=sums)
        in_range = np.isfinite(out).all() and ((total > 1e-3) | (total == 0)).all()
        total[total == 0] = 1
        out /= total
        # Without a peak the sum may be huge: then its logarithm serves as one.
        peaks[heads, rows], totals[heads, rows] = (
            (peak, total) if online else (powers.logarithm(total), 1)
        )
        return bool(in_range)

    @np.errstate(over="ignore", under="ignore", invalid="ignore")
    def attend_all(some_tiles: list[tiling.Tile]) -> None:
        added = call.mask is not None and call.mask.dtype != bool  # which has no bound
        for heads, rows in some_tiles:
            if added or not attend(heads, rows, careful=False):
                attend(heads, rows, careful=True)

    n_threads = tiling.threads_for(call)
    share_out(attend_all, tiling.tiles(call, n_threads), n_threads)
    return output, peaks, totals


def _backward(call: AttentionCall, upstream: np.ndarray) -> list[np.ndarray]:
    """Return the gradients by folded queries, by folded keys and by values, by head."""
    query, key, value = tiling.heads_of(call)
    by_query, powers = np.zeros_like(query), tiling.powers_for(call)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        output, peaks, totals = _forward(call, query, key, value)
        upstream = upstream / totals  # so that exponentials may stand for weights
        mean_use = (upstream * output).sum(axis=-1, keepdims=True)

    @np.errstate(over="ignore", under="ignore", invalid="ignore")
    def carry_back(some_tiles: list[tiling.Tile]) -> list[np.ndarray]:
        by_key, by_value = np.zeros_like(key), np.zeros_like(value)
        for heads, rows in some_tiles:
            q = scaled_queries(call, query[heads, rows])
            exponents = q * powers.unit
            for keys in tiling.key_slices(call, rows):
                exps = tiling.tile_scores(call, exponents, key[heads, keys])
                slope = call.rule.cap_slope(exps)
                tiling.hide_in_tile(call, exps, heads, rows, keys)
                exps -= peaks[heads, rows]
                powers.of(exps, out=exps)
                by_scores = scratch("by_scores", exps.shape, exps.dtype)
                np.matmul(upstream[heads, rows], value[heads, keys].mT, out=by_scores)
                by_scores -= mean_use[heads, rows]
                by_scores *= exps
                by_scores *= slope
                by_query[heads, rows] += by_scores @ key[heads, keys]
                by_key[heads, keys] += by_scores.mT @ q
                by_value[heads, keys] += exps.mT @ upstream[heads, rows]
        return [by_key, by_value]

    n_threads = tiling.threads_for(call)
    parts = share_out(carry_back, tiling.tiles(call, n_threads), n_threads)
    return [by_query, *(sum(rest, first) for first, *rest in zip(*parts, strict=True))]
