"""Attention, and its gradient, without ever holding the matrix of weights.

The work is cut into tiles: some queries against some keys, small enough for a cache. A tile of
logits is exponentiated where it lies, added to the running sums of its queries by a step of the
online softmax, and forgotten.

Often no maximum is needed. No score exceeds the length of its query times that of the longest key
(Cauchy-Schwarz); where exp of that cannot overflow, the logits are exponentiated as they are. So it
is in float32 for 1024 standard normal tokens with divided scores, up to heads 4096 wide. Elsewhere
the maximum of the first tile of keys is subtracted from all. If a sum turns out too small or too
large, the tiles are taken anew with more maxima. NumPy lets go of the interpreter in products and
exponentials, so plain threads share the tiles. The chapter on implementation proves both steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.lib.introspect import opt_func_info
from numpy.typing import ArrayLike

from attnlib._inputs import (
    Inputs,
    check_cotangent,
    check_finite,
    check_inputs,
    hide_keys,
    unfold_gradients,
)
from attnlib._porting import answer_porting
from attnlib._threads import n_threads, share_out
from attnlib.attention import AttentionGradients
from attnlib.online import _add_block, _start_sums
from attnlib.scaling import ScalingRule

__all__ = ["blockwise_attention", "blockwise_attention_vjp"]

QUERIES, KEYS = 512, 512
"""Those of a tile, at most: a megabyte of scores in float32."""
WORTH_A_THREAD = 2**18
"""Scores from which on a call is shared out."""
Tile = tuple[slice, slice]
"""Some heads, and some of their queries."""


@answer_porting
@np.errstate(all="ignore")  # what does not fit the type is looked for
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
    Uses as many threads as NumPy's own products do.

    Examples
    --------
    >>> from attnlib import blockwise_attention
    >>> import numpy as np
    >>> blockwise_attention(*np.ones((3, 10_000, 16), np.float32)).shape  # not 400 MB for weights
    (10000, 16)
    """
    inputs = check_inputs(query, key, value, attn_mask, is_causal, scale)
    _, _, output = _attend(inputs)
    shape = (*inputs.shape[:-1], output.shape[-1])
    return output.reshape(shape).astype(inputs.dtype, copy=False)


@answer_porting
@np.errstate(all="ignore")
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

    Notes
    -----
    Weights are computed anew, from their peaks and sums. Rounding leaves an error of the size
    of epsilon times value times cotangent, also where a saturated row has a smaller gradient;
    :func:`attention_vjp` is accurate there.

    Examples
    --------
    >>> from attnlib import blockwise_attention_vjp
    >>> blockwise_attention_vjp([[2.0]], [[1.0], [1.0]], [[1.0], [0.0]], 1).key
    array([[ 0.5],
           [-0.5]])
    """
    inputs = check_inputs(query, key, value, attn_mask, is_causal, scale)
    lead = inputs.shape[:-2]
    by_head = _carry_back(inputs, _by_head(inputs, check_cotangent(inputs, cotangent)))
    gradients = (by.reshape(*lead, *by.shape[1:]) for by in by_head)
    return AttentionGradients(*unfold_gradients(inputs, *gradients))


def _attend(inputs: Inputs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the subtracted peak, the sum of exponentials and the output of each query, by head."""
    query, key, value = _heads(inputs)
    peak, total, output = _start_sums((*query.shape[:-1], value.shape[-1]), value.dtype)
    least, longest_key, limit = np.finfo(value.dtype).min, _longest(key), _headroom(value)
    has_bound = inputs.mask is None or inputs.mask.dtype == bool  # nothing is added

    def attend(tile: Tile, memory: np.ndarray) -> None:
        """Write what some queries get, with no maximum, or that of the first keys, or of all."""
        q = inputs.fold(query[tile])
        reach = _longest(q) * longest_key  # no score is larger, by Cauchy-Schwarz
        bounded = has_bound and min(reach, inputs.rule.cap or reach) < limit
        exp, per_logit = _exponential(inputs, reach)
        q *= per_logit
        sums = peak[tile], total[tile], output[tile]
        # tiles of keys that begin before the key of this number are searched for a maximum
        for tries, searched in enumerate([0] * bounded + [1] * has_bound + [math.inf]):
            peak[tile] = least if searched else 0
            if tries:
                total[tile], output[tile] = 0, 0
            for heads, keys in _key_tiles(inputs, tile):
                k = key[heads, keys]
                scores = np.matmul(q, k.mT, out=_reuse(memory, (*q.shape[:-1], k.shape[-2])))
                if not math.isfinite(reach):
                    check_finite(inputs, scores)
                logits = inputs.rule.cap_logits(scores)
                _hide(inputs, logits, tile, keys)
                keep_peak = keys.start >= searched
                if keep_peak and searched:
                    logits -= peak[tile]
                _add_block(*sums, logits, value[heads, keys], keep_peak=keep_peak, exp=exp)
            hidden = total[tile] == 0  # queries without any key
            output[tile] /= total[tile] + hidden
            in_range = (total[tile] > 1e-3) & np.isfinite(total[tile]) | hidden
            if in_range.all() and np.isfinite(output[tile]).all():
                return
        check_finite(inputs, output[tile])

    @np.errstate(all="ignore")
    def attend_all(tiles: Sequence[Tile]) -> None:
        memory = np.empty(QUERIES * KEYS, value.dtype)
        for tile in tiles:
            attend(tile, memory)

    share_out(attend_all, *_tiles(inputs))
    total[total == 0] = 1
    return peak, total, output


def _carry_back(inputs: Inputs, upstream: np.ndarray) -> list[np.ndarray]:
    """Return the gradients by folded queries, by folded keys and by values, by head."""
    query, key, value = _heads(inputs)
    by_query, longest_key = np.zeros_like(query), _longest(key)
    peak, total, output = _attend(inputs)
    upstream = upstream / total  # so that exponentials may stand for weights
    mean_use = (upstream * output).sum(axis=-1, keepdims=True)

    @np.errstate(all="ignore")
    def carry_back(tiles: Sequence[Tile]) -> list[np.ndarray]:
        by_key, by_value = np.zeros_like(key), np.zeros_like(value)
        for tile in tiles:
            q = inputs.fold(query[tile])
            exp, per_logit = _exponential(inputs, _longest(q) * longest_key)  # as the peaks have
            powers = q * per_logit
            for heads, keys in _key_tiles(inputs, tile):
                logits = inputs.rule.cap_logits(powers @ key[heads, keys].mT)
                slope = inputs.rule.cap_slope(logits)
                _hide(inputs, logits, tile, keys)
                logits -= peak[tile]
                exponentials = exp(logits, out=logits)
                by_scores = upstream[tile] @ value[heads, keys].mT
                by_scores -= mean_use[tile]
                by_scores *= exponentials
                by_scores *= slope
                by_query[tile] += by_scores @ key[heads, keys]
                by_key[heads, keys] += by_scores.mT @ q
                by_value[heads, keys] += exponentials.mT @ upstream[tile]
        return [by_key, by_value]

    parts = share_out(carry_back, *_tiles(inputs))
    return [by_query, *(sum(rest, first) for first, *rest in zip(*parts, strict=True))]


def _exponential(inputs: Inputs, reach: float) -> tuple[np.ufunc, float]:
    """Return what to exponentiate scores up to `reach` with, and what to multiply them by for it.

    What a mask or a cap does is done to scores as they are; and those near the end of the range
    must not leave it.
    """
    added_to = inputs.rule.cap is not None or not (inputs.mask is None or inputs.mask.dtype == bool)
    dtype = inputs.query.dtype
    as_they_are = added_to or not 2 * reach < np.finfo(dtype).max
    return (np.exp, 1.0) if as_they_are else _fastest_exponential(dtype)


@cache
def _fastest_exponential(dtype: np.dtype) -> tuple[np.ufunc, float]:
    """Return what exponentiates fastest on this processor, and what to multiply a logit by for it.

    Where it has instructions for powers of two, they are fewer: e^s is 2^(s log2 e).
    """
    known = opt_func_info(func_name="^exp2$").get("exp2", {}).get(2 * dtype.char, {})
    slow = known.get("current", "baseline").startswith("baseline")
    return (np.exp, 1.0) if slow else (np.exp2, math.log2(math.e))


def _headroom(value: np.ndarray) -> float:
    """Return the score up to which a sum of exponentials times values cannot overflow.

    The logarithm of the largest number, less those of the number of keys and of the largest value,
    and 1 for rounding.
    """
    largest = max(value.max(initial=1), -value.min(initial=0))
    most = math.log(np.finfo(value.dtype).max)
    return most - math.log(value.shape[-2]) - math.log(largest) - 1


def _longest(vectors: np.ndarray) -> float:
    """Return the largest Euclidean length, infinite where a square overflows."""
    return math.sqrt(np.vecdot(vectors, vectors).max(initial=0))


def _by_head(inputs: Inputs, x: np.ndarray) -> np.ndarray:
    """Return an array of the call with one leading axis for all."""
    whole = np.broadcast_to(x, (*inputs.shape[:-2], *x.shape[-2:]))
    return whole.reshape(math.prod(inputs.shape[:-2]), *x.shape[-2:])


def _heads(inputs: Inputs) -> list[np.ndarray]:
    """Return queries, keys and values by head; the scaling rule has been applied to keys only."""
    arrays = inputs.query, inputs.rule.fold_key(inputs.key), inputs.value
    return [_by_head(inputs, x) for x in arrays]


def _tiles(inputs: Inputs) -> tuple[list[Tile], int]:
    """List which heads and which of their queries to take at a time, and say in how many threads.

    Several short heads share a tile. Waking a thread costs as much as many scores.
    """
    n_heads, n_queries = math.prod(inputs.shape[:-2]), inputs.shape[-2]
    threads = n_threads() if math.prod(inputs.shape) >= WORTH_A_THREAD else 1
    rows = max(1, min(QUERIES, -(-n_queries * n_heads // threads)))
    heads = max(1, rows // max(1, n_queries))
    tiles = [(h, r) for h in _slices(n_heads, heads) for r in _slices(n_queries, rows)]
    return tiles, min(threads, len(tiles))


def _key_tiles(inputs: Inputs, tile: Tile) -> Iterator[Tile]:
    """Yield the keys to take at a time, without those that all these queries are too early for."""
    (heads, rows), n_keys = tile, inputs.shape[-1]
    return (
        (heads, s) for s in _slices(min(n_keys, rows.stop) if inputs.is_causal else n_keys, KEYS)
    )


def _reuse(memory: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the beginning of some memory in a shape; fresh memory has to be fetched page by page.

    Examples
    --------
    >>> import numpy as np
    >>> _reuse(np.arange(5), (2, 2))
    array([[0, 1],
           [2, 3]])
    """
    return memory[: math.prod(shape)].reshape(shape)


def _slices(length: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def _hide(inputs: Inputs, logits: np.ndarray, tile: Tile, keys: slice) -> None:
    """Hide from a tile of logits, in place, what the call's mask and causality hide."""
    (heads, rows), mask = tile, None
    if inputs.mask is not None:
        # One head at a time: a reshaped mask could be a copy of n_queries * n_keys for each.
        whole, lead = np.broadcast_to(inputs.mask, inputs.shape), inputs.shape[:-2]
        places = (np.unravel_index(head, lead) for head in range(heads.start, heads.stop))
        mask = np.stack([whole[place][rows, keys] for place in places])
    hide_keys(logits, mask, rows.start - keys.start if inputs.is_causal else None)
