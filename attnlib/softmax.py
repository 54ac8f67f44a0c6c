"""Softmax, its logarithm and its Jacobian, and two measures of how concentrated weights are.

Derived in the chapters on saturation, on gradients and on implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import axis_index, broadcasts, distribution, float_array
from attnlib._porting import answer_porting

__all__ = [
    "effective_positions",
    "entropy",
    "jacobian_norm_squared",
    "log_softmax",
    "softmax",
    "softmax_jacobian",
    "softmax_vjp",
]


def _softmax_rows(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn logits into weights, in place. A row without any key to attend to gets zeros."""
    logits -= _peaks(logits, axis)
    weights = np.exp(logits, out=logits)
    # The sum of many float16 numbers may exceed what float16 can hold.
    wide = np.result_type(logits, np.float32)
    total = weights.sum(axis=axis, keepdims=True, dtype=wide)
    total[total == 0] = 1
    weights /= total
    return weights


def _peaks(logits: np.ndarray, axis: int) -> np.ndarray:
    """Return the largest logit of each row, 0 for a row that is hidden: exp(-inf - 0) = 0."""
    peak = logits.max(axis=axis, keepdims=True)
    peak[np.isneginf(peak)] = 0
    return peak


def _checked_logits(x: ArrayLike, axis: int) -> tuple[np.ndarray, int]:
    """Return a copy of the logits, none of whose rows is hidden, and the axis of the rows."""
    logits = np.array(float_array("x", x, ndim=1, neg_inf=True))
    index = axis_index(axis, logits)
    if np.isneginf(logits).all(axis=index).any():
        raise ValueError(
            f"x must have a finite entry in every row along axis {axis}; "
            "got a row that is -inf throughout, which leaves no key to choose"
        )
    return logits, index


@answer_porting
@np.errstate(under="ignore", over="ignore")  # a difference below the least number: weight 0
def softmax(x: ArrayLike, axis: int = -1) -> np.ndarray:
    r"""Turn scores into weights that are positive and sum to one.

    .. math:: p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}

    The largest score of each row is subtracted first. That leaves the weights unchanged and
    makes overflow impossible; it does not make the weights any less sharp.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores. ``-inf`` hides an entry. float32 stays float32.
    axis : int
        The axis along which the weights sum to one: the last, where SciPy's default is all axes.

    Returns
    -------
    numpy.ndarray
        Weights, of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        If `x` holds NaN, +inf or no real numbers, nothing along `axis`, or a row of ``-inf`` only.

    References
    ----------
    .. [1] J. S. Bridle, "Probabilistic interpretation of feedforward classification network
       outputs, with relationships to statistical pattern recognition", Neurocomputing, 1990.

    Examples
    --------
    >>> from attnlib import softmax
    >>> softmax([100, 102, 103]).round(3)
    array([0.035, 0.259, 0.705])
    """
    return _softmax_rows(*_checked_logits(x, axis))


@answer_porting
@np.errstate(under="ignore", over="ignore")
def log_softmax(x: ArrayLike, axis: int = -1) -> np.ndarray:
    r"""Return the logarithm of the softmax weights, finite even where a weight underflows.

    .. math:: \log p_i = x_i - \log \sum_j e^{x_j}

    It is ``-inf`` for an entry that is hidden, and where the gap to the largest score is itself
    beyond the numbers of the type, such as 120000 in float16.

    Parameters
    ----------
    x, axis
        As in :func:`softmax`.

    Returns
    -------
    numpy.ndarray
        Natural logarithms of the weights, of the shape of `x`.

    References
    ----------
    .. [1] P. Blanchard, D. J. Higham, N. J. Higham, "Accurately computing the log-sum-exp and
       softmax functions", IMA Journal of Numerical Analysis 41(4), 2021.

    Examples
    --------
    >>> from attnlib import log_softmax
    >>> log_softmax([0.0, 1000.0])
    array([-1000.,     0.])
    """
    logits, index = _checked_logits(x, axis)
    logits -= _peaks(logits, index)
    wide = np.result_type(logits, np.float32)
    total = np.exp(logits).sum(axis=index, keepdims=True, dtype=wide)
    return logits - np.log(total).astype(logits.dtype)


@np.errstate(under="ignore")
def softmax_jacobian(weights: ArrayLike) -> np.ndarray:
    r"""Return the derivative of every weight by every score.

    .. math:: J_{ij} = \frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j)

    Parameters
    ----------
    weights : array_like, shape (..., n)
        Softmax weights, the *output* of :func:`softmax`.

    Returns
    -------
    numpy.ndarray, shape (..., n, n)
        Symmetric matrices whose rows sum to zero.

    Examples
    --------
    >>> from attnlib import softmax_jacobian
    >>> softmax_jacobian([0.5, 0.5])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    p, _ = distribution(weights)
    jacobian = -p[..., :, None] * p[..., None, :]
    diagonal = np.arange(p.shape[-1])
    jacobian[..., diagonal, diagonal] = p * (1 - p)  # p - p² would cancel where p is near 1
    return jacobian


def _times_jacobian(p: np.ndarray, u: np.ndarray, axis: int) -> np.ndarray:
    """Return p (u - Σ p u), accurate also where one weight is nearly 1."""
    # A shift of u changes nothing. Seen from the leading key the mean of a saturated row is a
    # small number of its own, not the rounding error of a difference of two large ones.
    top = p.argmax(axis=axis, keepdims=True)
    beyond_top = u - np.take_along_axis(np.broadcast_to(u, p.shape), top, axis)
    return p * (beyond_top - (p * beyond_top).sum(axis=axis, keepdims=True))


@np.errstate(under="ignore")
def softmax_vjp(weights: ArrayLike, cotangent: ArrayLike, axis: int = -1) -> np.ndarray:
    r"""Multiply the Jacobian of softmax by a vector, in time proportional to its length.

    .. math:: (J u)_i = p_i \Bigl(u_i - \sum_j p_j u_j\Bigr)

    If `cotangent` is the gradient of a loss by the weights, the result is its gradient by the
    scores. The Jacobian is symmetric, so this is also the forward derivative along `cotangent`.

    Parameters
    ----------
    weights : array_like, shape (..., n, ...)
        Softmax weights. A largest one near 1 is understood as 1 less the others.
    cotangent : array_like, broadcastable to the shape of `weights`
        The vector u. One with a single axis runs along the last axis, whatever `axis` is.
    axis : int
        The axis along which the weights sum to one.

    Returns
    -------
    numpy.ndarray
        J u, of the shape of `weights`.

    Raises
    ------
    TypeError, ValueError
        As :func:`softmax_jacobian`, or if `cotangent` does not fit or its differences overflow.

    Examples
    --------
    >>> from attnlib import softmax_vjp
    >>> softmax_vjp([0.5, 0.5], [1.0, 0.0])
    array([ 0.25, -0.25])
    """
    p, index = distribution(weights, axis)
    u = float_array("cotangent", cotangent)
    if not broadcasts(u, p.shape):
        raise ValueError(
            f"cotangent must broadcast to the shape of weights, {p.shape}; got shape {u.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        product = _times_jacobian(p, u, index)
    if not np.isfinite(product).all():
        raise ValueError(
            f"cotangent must have differences that {product.dtype} can hold; "
            f"got entries from {u.min():g} to {u.max():g}"
        )
    return product


# A row gives a number and rows give an array; the type of an array does not say which it is, so
# checkers let callers use the result as either.
@overload
def jacobian_norm_squared(weights: Sequence[float], axis: int = -1) -> np.floating: ...
@overload
def jacobian_norm_squared(weights: ArrayLike, axis: int = -1) -> np.ndarray | Any: ...
@np.errstate(under="ignore")
def jacobian_norm_squared(weights: ArrayLike, axis: int = -1) -> np.floating | np.ndarray:
    r"""Return the squared Frobenius norm of the softmax Jacobian without building it.

    .. math:: \|J\|_F^2 = \sum_i p_i^2 - 2 \sum_i p_i^3 + \Bigl(\sum_i p_i^2\Bigr)^2

    Parameters
    ----------
    weights, axis
        As in :func:`softmax_vjp`.

    Returns
    -------
    numpy.ndarray or float
        One number for each row: 0 for a one-hot row, (n - 1) / n**2 for a uniform one.

    Examples
    --------
    >>> from attnlib import jacobian_norm_squared
    >>> float(jacobian_norm_squared([0.25, 0.25, 0.25, 0.25]))
    0.1875
    """
    given, index = distribution(weights, axis)
    p = given.astype(np.result_type(given, np.float64))  # squares of float16 weights vanish
    squares = p * p
    others = squares.sum(axis=index, keepdims=True) - squares
    # At the largest weight of a saturated row that difference would be rounding noise.
    top = np.expand_dims(p.argmax(axis=index), index)
    rest = squares.copy()
    np.put_along_axis(rest, top, 0, index)
    np.put_along_axis(others, top, rest.sum(axis=index, keepdims=True), index)
    # Equal to the formula above, but a sum of positive terms only.
    return (squares * ((1 - p) ** 2 + others)).sum(axis=index).astype(given.dtype)


def _wide_entropy(given: np.ndarray, axis: int) -> np.floating | np.ndarray:
    """Return the entropy in float64 at least: its exponential would multiply a rounding error."""
    p = given.astype(np.result_type(given, np.float64))
    logarithms = np.zeros_like(p)
    np.log(p, out=logarithms, where=p > 0)
    # abs: a one-hot row would otherwise give -0.0
    return np.abs((p * logarithms).sum(axis=axis))


@overload
def entropy(weights: Sequence[float], axis: int = -1) -> np.floating: ...
@overload
def entropy(weights: ArrayLike, axis: int = -1) -> np.ndarray | Any: ...
@np.errstate(under="ignore")
def entropy(weights: ArrayLike, axis: int = -1) -> np.floating | np.ndarray:
    r"""Return the Shannon entropy of the weights in nats.

    .. math:: H(p) = -\sum_i p_i \log p_i

    Parameters
    ----------
    weights, axis
        As in :func:`softmax_vjp`.

    Returns
    -------
    numpy.ndarray or float
        From 0 (one key has all the weight) to log n (all keys have the same).

    References
    ----------
    .. [1] C. E. Shannon, "A mathematical theory of communication", Bell System Technical
       Journal 27, 1948.

    Examples
    --------
    >>> from attnlib import entropy
    >>> float(entropy([0.5, 0.5]).round(4))
    0.6931
    """
    given, index = distribution(weights, axis)
    return _wide_entropy(given, index).astype(given.dtype)


@overload
def effective_positions(weights: Sequence[float], axis: int = -1) -> np.floating: ...
@overload
def effective_positions(weights: ArrayLike, axis: int = -1) -> np.ndarray | Any: ...
@np.errstate(under="ignore")
def effective_positions(weights: ArrayLike, axis: int = -1) -> np.floating | np.ndarray:
    """Return how many equally weighted keys would have the same entropy, exp(H): from 1 to n.

    Parameters
    ----------
    weights, axis
        As in :func:`softmax_vjp`.

    Returns
    -------
    numpy.ndarray or float

    Notes
    -----
    Ecology knows it as the Hill number of order one [1]_.

    References
    ----------
    .. [1] M. O. Hill, "Diversity and evenness: a unifying notation and its consequences",
       Ecology 54(2), 1973.

    Examples
    --------
    >>> from attnlib import effective_positions
    >>> float(effective_positions([0.25, 0.25, 0.25, 0.25]).round(4))
    4.0
    """
    given, index = distribution(weights, axis)
    return np.exp(_wide_entropy(given, index)).astype(given.dtype)
