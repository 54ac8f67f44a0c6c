"""The arguments of attention, checked, and what dense and blockwise attention do alike to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import as_array, broadcasts, flag, float_array
from attnlib.scaling import ScalingRule, scaling_rule


class Inputs(NamedTuple):
    """The checked arguments of one call; the arrays are float32 at least, and of one type."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mask: np.ndarray | None
    is_causal: bool
    rule: ScalingRule
    shape: tuple[int, ...]
    """That of the scores: leading axes, queries, keys."""
    dtype: np.dtype
    """That of the arguments, and so of what is returned."""

    def fold(self, query: np.ndarray) -> np.ndarray:
        """Return some of the queries with the division by √d_k, or with another rule."""
        return self.rule.fold_query(query, self.shape[-1])


def check_inputs(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: ArrayLike | None,
    is_causal: bool,
    scale: Any,
) -> Inputs:
    """Return the arguments ready for arithmetic, or say which does not fit."""
    q = float_array("query", query, ndim=2)
    k = float_array("key", key, ndim=2)
    v = float_array("value", value, ndim=2)
    if q.shape[-1] < 1:
        raise ValueError(f"query must have a width d_k of at least 1; got shape {q.shape}")
    if k.shape[-1] != q.shape[-1] or k.shape[-2] < 1:
        raise ValueError(
            f"key must have a row or more of the width of query, d_k = {q.shape[-1]}; "
            f"got shape {k.shape}"
        )
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
    shape = (*lead, q.shape[-2], k.shape[-2])
    mask = None if attn_mask is None else _checked_mask(attn_mask, shape)
    wide = np.result_type(q, k, v, np.float32)
    given = {getattr(x, "dtype", np.dtype(float)) for x in (query, key, value)}
    # bfloat16 is back in the output if all arrays have it
    dtype = given.pop() if [x.name for x in given] == ["bfloat16"] else np.result_type(q, k, v)
    arrays = (array.astype(wide, copy=False) for array in (q, k, v))
    return Inputs(*arrays, mask, flag("is_causal", is_causal), scaling_rule(scale), shape, dtype)


def _checked_mask(attn_mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return the mask as a boolean or floating array that broadcasts to the scores."""
    mask = as_array("attn_mask", attn_mask)
    if mask.dtype.kind in "iu":
        raise TypeError(
            "attn_mask must be boolean (True = may attend) or floating (added to the "
            f"scores); got dtype {mask.dtype}, which could mean either"
        )
    if mask.dtype != bool:
        mask = float_array("attn_mask", mask, neg_inf=True)
    if not broadcasts(mask, shape):
        raise ValueError(f"attn_mask must broadcast to the scores' shape {shape}; got {mask.shape}")
    return mask


def check_cotangent(inputs: Inputs, cotangent: ArrayLike) -> np.ndarray:
    """Return the gradient by the output in the output's shape and type, or say what is wrong."""
    given = float_array("cotangent", cotangent)
    shape = (*inputs.shape[:-1], inputs.value.shape[-1])
    if not broadcasts(given, shape):
        raise ValueError(
            f"cotangent must broadcast to the output's shape {shape}; got {given.shape}"
        )
    with np.errstate(over="ignore"):  # the gradients are looked at
        return np.broadcast_to(given.astype(inputs.value.dtype, copy=False), shape)


def check_finite(inputs: Inputs, *results: np.ndarray, also: str | None = None) -> None:
    """Say that some number on the way was too large for the type; `also` is one more argument."""
    if not all(np.isfinite(result).all() for result in results):
        masks = "attn_mask" if inputs.mask is not None else None
        *names, last = filter(None, ("query", "key", "value", masks, also))
        sizes = ", ".join(f"{np.abs(array).max(initial=0):.3g}" for array in inputs[:3])
        raise ValueError(
            f"{', '.join(names)} and {last} must lead to numbers that {results[0].dtype} can "
            f"hold; got magnitudes up to {sizes} with the scale {inputs.rule!r}"
        )


def hide_keys(logits: np.ndarray, mask: np.ndarray | None, offset: int | None) -> None:
    """Hide from logits, in place, what a mask hides, and with an `offset` all later keys.

    Query i then sees the keys up to i + `offset`.
    """
    if mask is not None and mask.dtype == bool:
        np.copyto(logits, -np.inf, where=~mask)
    elif mask is not None:
        logits += mask
    if offset is not None and offset < logits.shape[-1] - 1:  # some keys are later
        np.copyto(logits, -np.inf, where=~np.tri(*logits.shape[-2:], offset, dtype=bool))


def unfold_gradients(
    inputs: Inputs, by_query: np.ndarray, by_key: np.ndarray, by_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Turn gradients by folded queries and keys into those by inputs, and by learned gains."""
    arrays = zip((by_query, by_key, by_value), inputs, strict=False)
    by_query, by_key, by_value = (_sum_to_shape(by, array.shape) for by, array in arrays)
    by_query, gains = inputs.rule.fold_query_vjp(inputs.query, inputs.shape[-1], by_query)
    by_key = inputs.rule.fold_key_vjp(inputs.key, by_key)
    narrow = [x.astype(inputs.dtype, copy=False) for x in (by_query, by_key, by_value)]
    check_finite(inputs, *narrow, *map(np.asarray, gains.values()), also="cotangent")
    return (*narrow, gains)


def _sum_to_shape(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Add up a gradient over the axes along which its array was repeated."""
    extra = gradient.ndim - len(shape)
    axes = [extra + axis for axis, length in enumerate(shape) if length == 1]
    return gradient.sum(axis=(*range(extra), *axes), keepdims=True).reshape(shape)
