"""How blockwise attention is cut: which heads, queries and keys make one tile of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from attnlib._calls import AttentionCall, hide, sum_to_shape
from attnlib._threads import n_threads, scratch
from attnlib.scaling import cap_logits, fold_key

SIDE = 512
"""Queries and keys of a tile, at most: a megabyte of scores in float32."""
Tile = tuple[slice, slice]
"""Some heads, and some of their queries."""


def by_head(call: AttentionCall, x: np.ndarray) -> np.ndarray:
    """Return an array of the call with one leading axis for all, in float32 at least.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call(np.ones((2, 3, 4, 5)), np.ones((6, 5)), np.ones((6, 1)), None, False, 1)
    >>> by_head(call, call.query).shape, by_head(call, call.key).shape
    ((6, 4, 5), (6, 6, 5))
    """
    whole = np.broadcast_to(x, (*call.shape[:-2], *x.shape[-2:]))
    heads = math.prod(call.shape[:-2])
    return whole.reshape(heads, *x.shape[-2:]).astype(np.result_type(x, np.float32), copy=False)


def from_heads(call: AttentionCall, gradient: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Bring a gradient by head into the shape and type of the array that it belongs to.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call(np.ones((2, 3, 4, 5)), np.ones((6, 5)), np.ones((6, 1)), None, False, 1)
    >>> from_heads(call, np.ones((6, 6, 5)), call.key)[0]
    array([6., 6., 6., 6., 6.])
    """
    by_lead = gradient.reshape(*call.shape[:-2], *gradient.shape[1:])
    return sum_to_shape(by_lead, like.shape).astype(like.dtype, copy=False)


def tiles(call: AttentionCall) -> list[Tile]:
    """List which heads and which of their queries to take at a time, some for each thread.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call(np.ones((2000, 1)), np.ones((3, 1)), np.ones((3, 1)), None, False, 1)
    >>> [rows.stop for _, rows in tiles(call)][-1]
    2000
    """
    n_heads, (n_queries, n_keys) = math.prod(call.shape[:-2]), call.shape[-2:]
    rows = min(SIDE, -(-n_queries * n_heads // n_threads())) or 1
    heads = 1
    if n_queries <= rows:  # several short heads fit into one tile
        fitting = SIDE * SIDE // max(1, n_queries * n_keys)
        heads = max(1, min(fitting, -(-n_heads // n_threads())))
    return [(h, r) for h in _slices(n_heads, heads) for r in _slices(n_queries, rows)]


def key_slices(call: AttentionCall, rows: slice) -> Iterator[slice]:
    """Yield the keys to take at a time, without those that all these queries are too early for.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call(np.ones((9, 1)), np.ones((9, 1)), np.ones((9, 1)), None, True, 1)
    >>> list(key_slices(call, slice(0, 4)))
    [slice(0, 4, None)]
    """
    n_keys = call.shape[-1]
    return _slices(min(n_keys, rows.stop) if call.is_causal else n_keys, SIDE)


def tile_scores(call: AttentionCall, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return a tile of capped scores, in memory that the thread's next tile will overwrite.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call([[1.0]], [[2.0]], [[3.0]], None, False, 1)
    >>> tile_scores(call, np.ones((1, 1, 1)), np.full((1, 2, 1), 2.0))
    array([[[2., 2.]]])
    """
    scores = scratch("scores", (*query.shape[:2], key.shape[1]), key.dtype)
    np.matmul(query, np.swapaxes(fold_key(call.rule, key), 1, 2), out=scores)
    return cap_logits(call.rule, scores)


def hide_in_tile(
    call: AttentionCall, scores: np.ndarray, heads: slice, rows: slice, keys: slice
) -> None:
    """Hide from a tile of scores, in place, what the call's mask and causality hide.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> call = checked_call(np.ones((9, 1)), np.ones((9, 1)), np.ones((9, 1)), None, True, 1)
    >>> scores = np.zeros((1, 2, 3))
    >>> hide_in_tile(call, scores, slice(0, 1), slice(4, 6), slice(3, 6))
    >>> scores
    array([[[  0.,   0., -inf],
            [  0.,   0.,   0.]]])
    """
    mask = None
    if call.mask is not None:
        # One head at a time: a reshaped mask could be a copy of n_queries * n_keys for each.
        whole, lead = np.broadcast_to(call.mask, call.shape), call.shape[:-2]
        places = (np.unravel_index(head, lead) for head in range(heads.start, heads.stop))
        mask = np.stack([whole[place][rows, keys] for place in places])
    hide(scores, mask, rows.start - keys.start if call.is_causal else None)


def longest(vectors: np.ndarray) -> float:
    """Return the largest Euclidean length, infinite where a square overflows.

    Examples
    --------
    >>> longest(np.array([[3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    with np.errstate(over="ignore"):
        return math.sqrt(np.vecdot(vectors, vectors).max(initial=0))


def headroom(call: AttentionCall, value: np.ndarray) -> float:
    """Return the score below which sums of exp(score) times value stay well within range.

    That is half the range of the logarithm, less what the number of keys and the size of the
    values take of it: large values bring overflow nearer, small ones underflow.

    Examples
    --------
    >>> from attnlib._calls import checked_call
    >>> ones = np.ones((1000, 1), np.float32)
    >>> round(headroom(checked_call(ones, ones, ones, None, False, 1), ones), 1)  # 44.4 - ln 1000
    37.5
    """
    most, largest = float(np.finfo(value.dtype).max), _largest(value) or 1.0
    if largest > most / value.shape[-2]:
        raise ValueError(
            f"value must leave room for a sum over {value.shape[-2]} keys in {value.dtype}; "
            f"got magnitudes up to {largest:.3g}"
        )
    if call.mask is not None and call.mask.dtype != bool:
        return -math.inf  # what is added to the scores has no bound
    return math.log(most) / 2 - math.log(value.shape[-2]) - abs(math.log(largest))


def _largest(x: np.ndarray) -> float:
    """Return the largest magnitude, without an array of magnitudes."""
    return float(max(x.max(initial=0), -x.min(initial=0)))


def _slices(length: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
