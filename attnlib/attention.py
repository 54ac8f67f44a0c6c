"""Dense scaled dot-product attention: scores, mask, softmax, weighted mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib._validation import as_array, float_array, scale_factor, whole_number

__all__ = ["causal_mask", "scaled_dot_product_attention"]


def causal_mask(n_queries: int, n_keys: int) -> np.ndarray:
    """Return True where query i may attend to key j, that is where j <= i.

    Parameters
    ----------
    n_queries, n_keys : int
        Numbers of queries and keys. With fewer queries than keys the corner is at the top
        left, as in PyTorch: the first query sees the first key only.

    Returns
    -------
    numpy.ndarray of bool, shape (n_queries, n_keys)

    Raises
    ------
    TypeError
        If a number is not an integer.
    ValueError
        If there is no key, or a number is negative.

    Examples
    --------
    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    rows = whole_number("n_queries", n_queries, least=0)
    return np.tri(rows, whole_number("n_keys", n_keys), dtype=bool)


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
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"attn_mask must broadcast to the scores' shape {shape}; got {mask.shape}")
    return mask


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    return_weights: bool = False,
) -> Any:
    r"""Return the mean of the values, weighted by how well each key matches each query.

    .. math:: \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V

    Parameters
    ----------
    query : array_like, shape (..., n_queries, d_k)
        Queries; any leading axes, such as batch and head.
    key : array_like, shape (..., n_keys, d_k)
        Keys.
    value : array_like, shape (..., n_keys, d_v)
        Values.
    attn_mask : array_like, broadcastable to (..., n_queries, n_keys), optional
        Boolean: True where a query may attend to a key. Floating: added to the scaled scores;
        ``-inf`` hides a key.
    is_causal : bool
        Whether query i sees only keys j <= i. With `attn_mask`, both hold.
    scale : float, optional
        What the raw scores are multiplied by, not negative. ``None`` means 1/√d_k.
    return_weights : bool
        Whether to return the weights too.

    Returns
    -------
    output : numpy.ndarray, shape (..., n_queries, d_v)
        float32 if all three arrays are. A query that may attend to no key gets zeros.
    weights : numpy.ndarray, shape (..., n_queries, n_keys)
        Only with ``return_weights=True``. Each row sums to 1, or is 0 if fully masked.

    Raises
    ------
    TypeError
        If an array does not hold real numbers, `scale` is not a number, or `attn_mask` is
        neither boolean nor floating.
    ValueError
        If shapes do not fit, there is no key, a number is NaN or infinite, `scale` is
        negative, or a score overflows.

    Notes
    -----
    Introduced in the first chapter, *The puzzle*.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017, section 3.2.1.

    Examples
    --------
    >>> query, key, value = [[1.0, 0, 1, 0]], [[0.0, 1, 1, 1], [0.0, 0, 0, 0]], [[1.0], [0.0]]
    >>> output, weights = scaled_dot_product_attention(query, key, value, return_weights=True)
    >>> weights.round(3)  # logits 0.5 and 0
    array([[0.622, 0.378]])
    """
    q, k, v, lead = _checked_inputs(query, key, value)
    dtype = np.result_type(q, k, v)
    factor = scale_factor(scale, q.shape[-1])
    shape = (*lead, q.shape[-2], k.shape[-2])

    with np.errstate(over="ignore", invalid="ignore"):
        logits = (q.astype(dtype) * factor) @ np.swapaxes(k, -1, -2)
    if not np.isfinite(logits).all():
        raise ValueError(
            f"query and key must give scores that {dtype} can hold; got magnitudes up to "
            f"{np.abs(q).max():.3g} and {np.abs(k).max():.3g} with scale {factor:.3g}"
        )
    if logits.shape != shape:  # value has leading axes of its own
        logits = np.broadcast_to(logits, shape).copy()
    if attn_mask is not None:
        mask = _checked_mask(attn_mask, shape)
        if mask.dtype == bool:
            logits[~np.broadcast_to(mask, shape)] = -np.inf
        else:
            with np.errstate(over="ignore"):
                logits += mask.astype(dtype)
            if np.isposinf(logits).any():
                raise ValueError(
                    f"attn_mask must keep the scores within {dtype}; got up to {mask.max():.3g}"
                )
    if is_causal:
        logits[..., ~causal_mask(*shape[-2:])] = -np.inf

    peak = logits.max(axis=-1, keepdims=True)
    # A row without any key to attend to: exp(-inf - 0) = 0 for all, instead of NaN.
    peak[np.isneginf(peak)] = 0
    with np.errstate(over="ignore"):  # a difference below the least number: weight 0
        logits -= peak
    weights = np.exp(logits, out=logits)
    # The sum of many float16 weights may exceed what float16 can hold.
    total = weights.sum(axis=-1, keepdims=True, dtype=np.result_type(dtype, np.float32))
    total[total == 0] = 1
    weights /= total
    output = weights @ v
    return (output, weights) if return_weights else output
