"""The checked arguments of attention, and what dense and blockwise attention do alike to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib._validation import as_array, broadcasts, flag, float_array
from attnlib.scaling import ScalingRule, _folded, scaling_rule


class AttentionCall(NamedTuple):
    """The checked arguments of one call; the arrays are float32 at least, and of one type."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mask: np.ndarray | None
    is_causal: bool
    rule: ScalingRule
    multiplier: float
    """What the rule multiplies all scores by."""
    shape: tuple[int, ...]
    """That of the scores: leading axes, queries, keys."""
    dtype: np.dtype
    """That of the inputs, and so of what is returned."""


def checked_call(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: ArrayLike | None,
    is_causal: bool,
    scale: Any,
) -> AttentionCall:
    """Return the arguments ready for arithmetic, or say which does not fit."""
    q, k, v, lead = _checked_inputs(query, key, value)
    dtype = np.result_type(q, k, v)
    wide = np.result_type(dtype, np.float32)
    shape = (*lead, q.shape[-2], k.shape[-2])
    mask = None if attn_mask is None else _checked_mask(attn_mask, shape)
    rule = scaling_rule(scale)
    factor = rule.multiplier(q.shape[-1], k.shape[-2])
    least, most = (float(x) for x in (np.finfo(wide).smallest_subnormal, np.finfo(wide).max))
    for name, number in (("scale", factor), ("cap", rule.cap)):
        if number and not least <= number <= most:
            raise ValueError(f"{name} must be a number that {wide} can hold; got {number:.3g}")
    arrays = (array.astype(wide, copy=False) for array in (q, k, v))
    return AttentionCall(*arrays, mask, flag("is_causal", is_causal), rule, factor, shape, dtype)


def _checked_inputs(
    query: ArrayLike, key: ArrayLike, value: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return the three arrays and their common leading shape, or say which does not fit."""
    q = float_array("query", query, ndim=2)
    k = float_array("key", key, ndim=2)
    v = float_array("value", value, ndim=2)
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"key must have the width of query, d_k = {q.shape[-1]}; got shape {k.shape}"
        )
    if q.shape[-1] < 1:
        raise ValueError(f"query must have a width d_k of at least 1; got shape {q.shape}")
    if k.shape[-2] < 1:
        raise ValueError(f"key must hold at least one key; got shape {k.shape}")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"value must have one row for each of the {k.shape[-2]} keys; got shape {v.shape}"
        )
    try:
        lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        raise ValueError(
            "query, key and value must have leading axes that broadcast; "
            f"got shapes {q.shape}, {k.shape} and {v.shape}"
        ) from None
    return q, k, v, lead


def _checked_mask(attn_mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return the mask as a boolean or floating array that broadcasts to the scores."""
    mask = as_array("attn_mask", attn_mask)
    if mask.dtype != bool:
        if mask.dtype.kind in "iu":
            raise TypeError(
                "attn_mask must be boolean (True = may attend) or floating (added to the "
                f"scores); got dtype {mask.dtype}, which could mean either"
            )
        mask = float_array("attn_mask", attn_mask, neg_inf=True)
    if not broadcasts(mask, shape):
        raise ValueError(f"attn_mask must broadcast to the scores' shape {shape}; got {mask.shape}")
    return mask


def checked_cotangent(call: AttentionCall, cotangent: ArrayLike) -> np.ndarray:
    """Return the gradient by the output in the output's shape and type, or say what is wrong."""
    given = float_array("cotangent", cotangent)
    shape, dtype = (*call.shape[:-1], call.value.shape[-1]), call.value.dtype
    if not broadcasts(given, shape):
        raise ValueError(
            f"cotangent must broadcast to the output's shape {shape}; got {given.shape}"
        )
    if given.size and float(np.abs(given).max()) > float(np.finfo(dtype).max):
        raise ValueError(f"cotangent must be within {dtype}; got up to {np.abs(given).max():.3g}")
    return np.broadcast_to(given.astype(dtype, copy=False), shape)


def finished_gradients(
    call: AttentionCall, by_query: np.ndarray, by_key: np.ndarray, by_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Turn gradients by folded queries and keys into those by inputs, and by learned gains."""
    _check_gradients(call, by_query, by_key, by_value)
    with np.errstate(over="ignore", invalid="ignore"):
        by_query, gains = call.rule.fold_query_vjp(call.query, call.shape[-1], by_query)
        by_key = call.rule.fold_key_vjp(call.key, by_key)
        narrow = [x.astype(call.dtype, copy=False) for x in (by_query, by_key, by_value)]
    _check_gradients(call, *narrow, *gains.values())
    return (*narrow, gains)


def _check_gradients(call: AttentionCall, *gradients: np.ndarray) -> None:
    """Refuse gradients that overflowed, in words about what they were made of."""
    if not all(np.isfinite(gradient).all() for gradient in gradients):
        raise ValueError(
            f"value and cotangent must give gradients that {call.dtype} can hold; got values up "
            f"to {np.abs(call.value).max():.3g}"
        )


def sum_to_shape(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Add up a gradient over the axes along which its array was repeated."""
    extra = gradient.ndim - len(shape)
    axes = [extra + axis for axis, length in enumerate(shape) if length == 1]
    return gradient.sum(axis=(*range(extra), *axes), keepdims=True).reshape(shape)


def scaled_queries(call: AttentionCall, query: np.ndarray) -> np.ndarray:
    """Return some queries of the call with what the rule does to their scores, but the cap."""
    return _folded(call.rule, query, call.multiplier)


def scaled_keys(call: AttentionCall) -> np.ndarray:
    """Return the keys of the call, divided by their length if the rule normalizes."""
    return call.rule.fold_key(call.key) if call.rule.normalize else call.key


def check_scores(call: AttentionCall, logits: np.ndarray) -> None:
    """Refuse scores that overflowed, in words about what they were made of."""
    if not np.isfinite(logits).all():
        raise ValueError(
            f"query and key must give scores that {logits.dtype} can hold; got magnitudes up to "
            f"{np.abs(call.query).max():.3g} and {np.abs(call.key).max():.3g} with scale "
            f"{call.multiplier:.3g}"
        )


def hide(logits: np.ndarray, mask: np.ndarray | None, offset: int | None) -> None:
    """Hide from logits, in place, what a mask hides, and with an `offset` all later keys.

    Query i then sees the keys up to i + `offset`.
    """
    if mask is not None and mask.dtype == bool:
        np.copyto(logits, -np.inf, where=~mask)
    elif mask is not None:
        with np.errstate(over="ignore"):
            logits += mask
        if np.isposinf(logits).any():
            raise ValueError(
                f"attn_mask must keep the scores within {logits.dtype}; got up to {mask.max():.3g}"
            )
    if offset is not None and offset < logits.shape[-1] - 1:  # some keys are later
        np.copyto(logits, -np.inf, where=~np.tri(*logits.shape[-2:], offset, dtype=bool))
