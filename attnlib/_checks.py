"""Checks of arguments: what is wrong is said in the caller's words."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def as_array(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array, or say that its rows differ in length or entries are masked."""
    if np.ma.is_masked(value):
        raise TypeError(f"{name} must not have masked entries; got {value!r:.60}")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{name} must be a rectangular array; got rows of different lengths: {value!r:.60}"
        ) from None


def float_array(name: str, value: Any, *, ndim: int = 0, neg_inf: bool = False) -> np.ndarray:
    """Return `value` as a floating array, not a copy where none is needed, or say why it cannot be.

    Integers become float64, bfloat16 becomes float32, and types of NumPy are kept. `ndim` is the
    least number of dimensions; with `neg_inf` an entry may be -inf ("this key is hidden").
    """
    array = as_array(name, value)
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    if array.dtype.name == "bfloat16":  # of ml_dtypes, which NumPy alone does not know
        array = array.astype(np.float32)
    if array.dtype.kind != "f":
        raise TypeError(
            f"{name} must hold real numbers of a type of NumPy; "
            f"got dtype {array.dtype} from {value!r:.60}"
        )
    if array.ndim < ndim:
        raise ValueError(f"{name} must have {ndim} dimensions or more; got shape {array.shape}")
    allowed = np.isfinite(array)
    if neg_inf:
        allowed |= np.isneginf(array)
    if not allowed.all():
        raise ValueError(
            f"{name} must hold finite numbers{' or -inf' if neg_inf else ''}; "
            f"got {array[~allowed].flat[0]} in an array of shape {array.shape}"
        )
    return array


def broadcasts(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Tell whether an array can be repeated to a shape."""
    try:
        return np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        return False


def axis_index(axis: Any, array: np.ndarray, name: str = "x") -> int:
    """Return `axis` as a valid index of a non-empty dimension of `array`."""
    if axis is None or isinstance(axis, tuple):
        raise TypeError(f"axis must be one integer, where SciPy takes all axes; got {axis}")
    index = _integer("axis", axis)
    if not -array.ndim <= index < array.ndim:
        raise ValueError(
            f"axis must lie between {-array.ndim} and {array.ndim - 1} for {name} of shape "
            f"{array.shape}; got {index}"
        )
    index %= array.ndim
    if array.shape[index] == 0:
        raise ValueError(
            f"{name} must have at least one entry along axis {axis}; got shape {array.shape}"
        )
    return index


def distribution(weights: Any, axis: int = -1) -> tuple[np.ndarray, int]:
    """Return attention weights as an array, and the axis along which they sum to one."""
    checked = float_array("weights", weights, ndim=1)
    index = axis_index(axis, checked, "weights")
    if (checked < 0).any():
        raise ValueError(f"weights must not be negative; got {checked.min()}")
    totals = checked.sum(axis=index, dtype=np.float64)
    # n roundings of relative size eps each bound the error of a sum of n weights; the cap keeps
    # the check alive for short formats and long rows.
    allowed = min(4 * checked.shape[index] * float(np.finfo(checked.dtype).eps), 0.01) + 1e-6
    wrong = np.abs(totals - 1) > allowed
    if wrong.any():
        raise ValueError(
            f"weights must sum to 1 along axis {axis}; got a sum of {totals[wrong].flat[0]:.6g}"
        )
    return checked, index


def _integer(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {value!r:.60}") from None


def whole_number(name: str, value: Any, *, least: int = 1, most: float = math.inf) -> int:
    """Return `value` as an int from `least` to `most`."""
    number = _integer(name, value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}; got {number}")
    if number > most:
        raise ValueError(f"{name} must be at most {most:g}; got {number}")
    return number


def real_number(name: str, value: Any, *, positive: bool = False) -> float:
    """Return `value` as a finite Python float.

    A Python float does not promote float32 arrays; a NumPy float64 scalar would.
    """
    array = as_array(name, value)
    if array.ndim != 0 or array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a real number; got {value!r:.60}")
    number = float(array)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}")
    if positive and number <= 0:
        raise ValueError(f"{name} must be positive; got {number}")
    return number


def flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False; 1 or an array would be a slip."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r:.60}")
    return bool(value)


def scale_factor(scale: Any, d_k: int) -> float:
    """Return what raw scores are multiplied by: 1/√d_k for None, else the number given.

    The scale is the inverse of a temperature, so it must not be negative.
    """
    if scale is None:
        return 1 / math.sqrt(d_k)
    factor = real_number("scale", scale)
    if factor < 0:
        raise ValueError(f"scale must not be negative (it is an inverse temperature); got {factor}")
    return factor


def generator(rng: Any) -> np.random.Generator:
    """Return `rng` if it is a NumPy generator."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy.random.Generator such as numpy.random.default_rng(0); "
            f"got {rng!r:.60}"
        )
    return rng


def sample_shape(size: Any) -> tuple[int, ...]:
    """Return `size` (an int or a tuple of ints) as a tuple."""
    if isinstance(size, (tuple, list)):
        return tuple(whole_number("size", entry, least=0) for entry in size)
    return (whole_number("size", size, least=0),)
