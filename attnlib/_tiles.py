"""How blockwise attention is cut: which heads, queries and keys make one tile of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.lib.introspect import opt_func_info

from attnlib._calls import AttentionCall, check_scores, hide, scaled_keys, sum_to_shape
from attnlib._threads import n_threads, scratch

QUERIES, KEYS = 1024, 256
"""Those of a tile, at most: a megabyte of scores in float32."""
CAUSAL_QUERIES = 512
"""Those of a tile under a causal mask: a higher one on the diagonal would compute more in vain."""
WORTH_A_THREAD = 2**18
"""Scores from which on a call is shared out."""
Tile = tuple[slice, slice]
"""Some heads, and some of their queries."""


class Powers(NamedTuple):
    """What exponentiates: powers of e, or of another base."""

    of: np.ufunc
    logarithm: np.ufunc
    unit: float
    """The logarithm of e: an exponent for e, times this, is one for the base."""


OF_E = Powers(np.exp, np.log, 1.0)
OF_TWO = Powers(np.exp2, np.log2, math.log2(math.e))
MODERATE = 1e18
"""What scores may reach so that they can be folded with a unit without overflow."""


@cache
def fast_powers(dtype: np.dtype) -> Powers:
    """Return the powers that NumPy computes fastest on this processor.

    Where it has vector instructions for powers of two, those need the fewest operations.
    """
    known = opt_func_info(func_name="^exp2$").get("exp2", {}).get(2 * dtype.char, {})
    return OF_E if known.get("current", "baseline").startswith("baseline") else OF_TWO


def powers_for(call: AttentionCall) -> Powers:
    """Return the powers for a call: of e, where scores are not just products of moderate size."""
    fast, rule = fast_powers(call.key.dtype), call.rule
    added = call.mask is not None and call.mask.dtype != bool
    if fast is OF_E or added or rule.cap or "query_gain" in rule.gains:
        return OF_E
    lengths = max(1, longest(call.query)) * max(1, longest(call.key))
    largest = call.multiplier * lengths
    return fast if largest < MODERATE else OF_E


def by_head(call: AttentionCall, x: np.ndarray) -> np.ndarray:
    """Return an array of the call with one leading axis for all."""
    whole = np.broadcast_to(x, (*call.shape[:-2], *x.shape[-2:]))
    return whole.reshape(math.prod(call.shape[:-2]), *x.shape[-2:])


def from_heads(call: AttentionCall, gradient: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Bring a gradient by head into the shape of the array that it belongs to."""
    return sum_to_shape(gradient.reshape(*call.shape[:-2], *gradient.shape[1:]), like.shape)


def heads_of(call: AttentionCall) -> list[np.ndarray]:
    """Return queries, keys and values by head; the scaling rule has been applied to keys only."""
    return [by_head(call, x) for x in (call.query, scaled_keys(call), call.value)]


def threads_for(call: AttentionCall) -> int:
    """Return how many threads a call is worth; waking one costs as much as many scores."""
    return n_threads() if math.prod(call.shape) >= WORTH_A_THREAD else 1


def tiles(call: AttentionCall, n_threads: int) -> list[Tile]:
    """List which heads and which of their queries to take at a time, some for each thread."""
    n_heads, (n_queries, n_keys) = math.prod(call.shape[:-2]), call.shape[-2:]
    most = CAUSAL_QUERIES if call.is_causal else QUERIES
    rows = min(most, -(-n_queries * n_heads // n_threads)) or 1
    heads = 1
    if n_queries <= rows:  # several short heads fit into one tile
        fitting = QUERIES * KEYS // max(1, n_queries * min(n_keys, KEYS))
        heads = max(1, min(fitting, -(-n_heads // n_threads)))
    return [(h, r) for h in _slices(n_heads, heads) for r in _slices(n_queries, rows)]


def key_slices(call: AttentionCall, rows: slice) -> Iterator[slice]:
    """Yield the keys to take at a time, without those that all these queries are too early for."""
    n_keys = call.shape[-1]
    return _slices(min(n_keys, rows.stop) if call.is_causal else n_keys, KEYS)


def tile_scores(
    call: AttentionCall, query: np.ndarray, key: np.ndarray, *, check: bool = False
) -> np.ndarray:
    """Return a tile of capped scores; without a cap, in memory that the next tile overwrites."""
    scores = scratch("scores", (*query.shape[:2], key.shape[1]), key.dtype)
    np.matmul(query, key.mT, out=scores)
    if check:
        check_scores(call, scores)
    return call.rule.cap_logits(scores)


def hide_in_tile(
    call: AttentionCall, scores: np.ndarray, heads: slice, rows: slice, keys: slice
) -> None:
    """Hide from a tile of scores, in place, what the call's mask and causality hide."""
    mask = None
    if call.mask is not None:
        # One head at a time: a reshaped mask could be a copy of n_queries * n_keys for each.
        whole, lead = np.broadcast_to(call.mask, call.shape), call.shape[:-2]
        places = (np.unravel_index(head, lead) for head in range(heads.start, heads.stop))
        mask = np.stack([whole[place][rows, keys] for place in places])
    hide(scores, mask, rows.start - keys.start if call.is_causal else None)


def longest(vectors: np.ndarray) -> float:
    """Return the largest Euclidean length, infinite where a square overflows."""
    with np.errstate(over="ignore"):
        return math.sqrt(np.vecdot(vectors, vectors).max(initial=0))


def headroom(call: AttentionCall) -> float:
    """Return the score up to which a sum of n_keys exponentials times values cannot overflow.

    The logarithm of the largest number, less those of n_keys and of the largest value, and 1 for
    rounding.
    """
    value, n_keys = call.value, call.shape[-1]
    most, largest = np.finfo(value.dtype).max, _largest(value)
    if largest > most / n_keys:
        raise ValueError(
            f"value must leave room for a sum over {n_keys} keys in {value.dtype}; "
            f"got magnitudes up to {largest:.3g}"
        )
    return float(np.log(most)) - math.log(n_keys) - math.log(max(largest, 1)) - 1


def _largest(x: np.ndarray) -> float:
    """Return the largest magnitude, without an array of magnitudes."""
    return float(max(x.max(initial=0), -x.min(initial=0)))


def _slices(length: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
