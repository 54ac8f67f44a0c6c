"""Dense scaled dot-product attention: scores, mask, softmax, weighted mean, and its gradient.

Derived in the chapters on implementation and on gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import flag, whole_number
from attnlib._inputs import (
    Inputs,
    check_cotangent,
    check_finite,
    check_inputs,
    hide_keys,
    unfold_gradients,
)
from attnlib._porting import answer_porting
from attnlib.scaling import ScalingRule
from attnlib.softmax import _softmax_rows, _times_jacobian

__all__ = [
    "AttentionGradients",
    "attention_vjp",
    "causal_mask",
    "scaled_dot_product_attention",
]


class AttentionGradients(NamedTuple):
    """Gradient of a loss by each input of attention, and by each learned gain of its rule."""

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
@answer_porting
@np.errstate(all="ignore")  # what does not fit the type is looked for
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
        Queries; any leading axes, such as batch and head. JAX, Keras and others have the heads
        behind the tokens, which no shape reveals: swap these axes first.
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
    The scale multiplies the queries before their product with the keys, as in every function
    here; so a raw score may exceed what the type can hold. Where a group of query heads shares
    a key head, repeat the latter: ``np.repeat(key, group, axis=-3)``, and the same for the
    values. An output in float16 is computed in float32 and rounded once, by at most 1/2048 of
    an entry.

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
    inputs = check_inputs(query, key, value, attn_mask, is_causal, scale)
    with_weights = flag("return_weights", return_weights)
    # the queries divided by √d_k, or scaled by another rule
    scores = inputs.fold(inputs.query) @ inputs.rule.fold_key(inputs.key).mT
    weights = _weights(inputs, _logits(inputs, scores))
    output = (weights @ inputs.value).astype(inputs.dtype, copy=False)
    check_finite(inputs, output)
    return (output, weights.astype(inputs.dtype, copy=False)) if with_weights else output


def _logits(inputs: Inputs, scores: np.ndarray) -> np.ndarray:
    """Return products of folded queries and keys, bent where the rule has a cap."""
    check_finite(inputs, scores)
    return inputs.rule.cap_logits(scores)


def _weights(inputs: Inputs, logits: np.ndarray) -> np.ndarray:
    """Return the weights, in the memory of the logits if it is enough."""
    if logits.shape != inputs.shape:  # value has leading axes of its own
        logits = np.broadcast_to(logits, inputs.shape).copy()
    hide_keys(logits, inputs.mask, 0 if inputs.is_causal else None)
    return _softmax_rows(logits)


@answer_porting
@np.errstate(all="ignore")
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
    If the rule is a number, logits are proportional to it, and the gradient by its logarithm is
    the sum of query times gradient by query.

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
    inputs = check_inputs(query, key, value, attn_mask, is_causal, scale)
    upstream = check_cotangent(inputs, cotangent)
    q, k = inputs.fold(inputs.query), inputs.rule.fold_key(inputs.key)
    logits = _logits(inputs, q @ k.mT)
    slope = inputs.rule.cap_slope(logits)
    weights = _weights(inputs, logits)
    by_scores = _times_jacobian(weights, upstream @ inputs.value.mT, -1) * slope
    gradients = by_scores @ k, by_scores.mT @ q, weights.mT @ upstream
    return AttentionGradients(*unfold_gradients(inputs, *gradients))
