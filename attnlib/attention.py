"""Dense scaled dot-product attention: scores, mask, softmax, weighted mean, and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from attnlib._calls import (
    AttentionCall,
    check_scores,
    checked_call,
    checked_cotangent,
    finished_gradients,
    hide,
    scaled_keys,
    scaled_queries,
    sum_to_shape,
)
from attnlib._extras import answering
from attnlib._validation import flag, whole_number
from attnlib.scaling import ScalingRule
from attnlib.softmax import _times_jacobian

__all__ = [
    "AttentionGradients",
    "attention_vjp",
    "causal_mask",
    "scaled_dot_product_attention",
]


class AttentionGradients(NamedTuple):
    """Gradient of a loss by each input of attention, and by each learned gain of its rule.

    Notes
    -----
    Derived in the chapter on gradients.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    gains: dict[str, Any]


def causal_mask(n_queries: int, n_keys: int) -> np.ndarray:
    """Return True where query i may attend to key j, that is where j <= i.

    Parameters
    ----------
    n_queries, n_keys : int
        Numbers of queries, 0 or more, and of keys, 1 or more. With fewer queries than keys the
        corner is at the top left, as in PyTorch: the first query sees the first key only.

    Returns
    -------
    numpy.ndarray of bool, shape (n_queries, n_keys)

    Raises
    ------
    TypeError, ValueError
        If a number is not as described.

    Notes
    -----
    Used in the chapter on implementation.

    Examples
    --------
    >>> from attnlib import causal_mask
    >>> causal_mask(2, 3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    rows = whole_number("n_queries", n_queries, least=0)
    return np.tri(rows, whole_number("n_keys", n_keys), dtype=bool)


@overload
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
    return_weights: Literal[False] = False,
) -> np.ndarray: ...
@overload
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
    return_weights: Literal[True],
) -> tuple[np.ndarray, np.ndarray]: ...
@answering
@np.errstate(under="ignore")
def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
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
    scale : float, callable or ScalingRule, optional
        What the raw scores are multiplied by, not negative; a function of d_k and the number of
        keys that returns such a number; or a rule of :mod:`attnlib.scaling`. ``None`` means
        1/√d_k.
    return_weights : bool
        Whether to return the weights too.

    Returns
    -------
    output : numpy.ndarray, shape (..., n_queries, d_v)
        float32 if all three arrays are; float16 is computed in float32. A query that may attend
        to no key gets zeros, where :func:`softmax` refuses the row.
    weights : numpy.ndarray, shape (..., n_queries, n_keys)
        Only with ``return_weights=True``. Each row sums to 1, or is 0 if fully masked.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, shapes do not fit, there is no key, a number is NaN
        or infinite, or a logit overflows.

    Notes
    -----
    Introduced in the chapter on the puzzle. The scale multiplies the queries before their product
    with the keys, as in every function here; so a raw score may exceed what the type can hold.
    Where a group of query heads shares a key head, repeat the latter: ``np.repeat(key, group,
    axis=-3)``, and the same for the values. An output in float16 is computed in float32 and
    rounded once, by at most 1/2048 of an entry.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017, section 3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import scaled_dot_product_attention
    >>> query, key, value = [[1.0, 0, 1, 0]], [[0.0, 1, 1, 1], [0.0, 0, 0, 0]], [[1.0], [0.0]]
    >>> output, weights = scaled_dot_product_attention(query, key, value, return_weights=True)
    >>> weights.round(3)  # logits 0.5 and 0
    array([[0.622, 0.378]])
    >>> heads, shared = np.ones((8, 3, 4)), np.ones((2, 3, 4))  # four query heads for a key head
    >>> key = np.repeat(shared, 4, axis=-3)
    >>> scaled_dot_product_attention(heads, key, key).shape
    (8, 3, 4)
    >>> scaled_dot_product_attention(*np.ones((3, 2, 4), np.float16)).dtype
    dtype('float16')
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    with_weights = flag("return_weights", return_weights)
    logits = _logits(call)  # of queries that are divided by √d_k, or scaled otherwise
    weights = _softmax(_masked(call, logits))
    output = (weights @ call.value).astype(call.dtype, copy=False)
    return (output, weights.astype(call.dtype, copy=False)) if with_weights else output


def _logits(call: AttentionCall) -> np.ndarray:
    """Return the products of the queries, divided by √d_k or scaled by another rule, and the keys.

    Raw scores that no number of the type can hold are then no error if the logits are within range.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = scaled_queries(call, call.query) @ scaled_keys(call).mT
    check_scores(call, scores)
    return call.rule.cap_logits(scores)


def _masked(call: AttentionCall, logits: np.ndarray) -> np.ndarray:
    """Return the logits with -inf where a key is hidden, in the same memory if it is enough."""
    if logits.shape != call.shape:  # value has leading axes of its own
        logits = np.broadcast_to(logits, call.shape).copy()
    hide(logits, call.mask, 0 if call.is_causal else None)
    return logits


def _softmax(logits: np.ndarray) -> np.ndarray:
    """Turn logits into weights, in place. A row without any key to attend to gets zeros."""
    peak = logits.max(axis=-1, keepdims=True)
    # A row without any key: exp(-inf - 0) = 0 for all, instead of NaN.
    peak[np.isneginf(peak)] = 0
    # a difference or an exponential below the least number: weight 0
    with np.errstate(over="ignore", under="ignore"):
        logits -= peak
        weights = np.exp(logits, out=logits)
        total = weights.sum(axis=-1, keepdims=True)
        total[total == 0] = 1
        weights /= total
    return weights


@np.errstate(under="ignore")
def attention_vjp(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    cotangent: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | Callable[[int, int], float] | ScalingRule | None = None,
) -> AttentionGradients:
    r"""Carry a gradient from the output of attention back to its inputs.

    With P the weights, G the cotangent and c the scale, and no other rule than a number,

    .. math:: D = P \circ \bigl(G V^\top - \mathrm{rowsum}(P \circ G V^\top)\bigr),

    .. math::

        \frac{\partial L}{\partial Q} = c\, D K, \quad
        \frac{\partial L}{\partial K} = c\, D^\top Q, \quad
        \frac{\partial L}{\partial V} = P^\top G.

    Parameters
    ----------
    query, key, value, attn_mask, is_causal, scale
        As :func:`scaled_dot_product_attention`.
    cotangent : array_like, broadcastable to (..., n_queries, d_v)
        Gradient G of the loss by the output.

    Returns
    -------
    AttentionGradients
        Gradients by query, key and value, each of its input's shape, and by the learned gains
        of the scaling rule, by name. A query without any key receives and passes on nothing.

    Raises
    ------
    TypeError, ValueError
        As :func:`scaled_dot_product_attention`, or if `cotangent` does not fit the output or a
        gradient overflows.

    Notes
    -----
    Derived for one row in the chapter on gradients. If the rule is a number, logits are
    proportional to it, and the gradient by its logarithm is the sum of query times gradient by
    query.

    References
    ----------
    .. [1] T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention", NeurIPS 2022,
       appendix B.

    Examples
    --------
    >>> from attnlib import attention_vjp
    >>> query, key, value = [[2.0]], [[1.0], [1.0]], [[1.0], [0.0]]
    >>> attention_vjp(query, key, value, 1).key
    array([[ 0.5],
           [-0.5]])
    """
    call = checked_call(query, key, value, attn_mask, is_causal, scale)
    upstream = checked_cotangent(call, cotangent)
    logits = _logits(call)
    slope = call.rule.cap_slope(logits)
    weights = _softmax(_masked(call, logits))
    with np.errstate(over="ignore", invalid="ignore"):
        by_weights = upstream @ call.value.mT
        by_scores = _times_jacobian(weights, by_weights, -1) * slope
        by_query = by_scores @ scaled_keys(call)
        by_key = by_scores.mT @ scaled_queries(call, call.query)
        by_value = weights.mT @ upstream
    summed = map(sum_to_shape, (by_query, by_key, by_value), (x.shape for x in call[:3]))
    return AttentionGradients(*finished_gradients(call, *summed))
