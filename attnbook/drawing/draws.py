"""Random numbers that Python and JavaScript draw alike, so that a test can compare pictures."""

from __future__ import annotations

import numpy as np

_STEP = np.uint32(0x6D2B79F5)


def uniforms(seed: int, stream: int, count: int) -> np.ndarray:
    """Return numbers between 0 and 1, the same that ``uniforms`` of ``_drawing.js`` returns.

    Parameters
    ----------
    seed : int
        Which draw.
    stream : int
        Which of the independent sequences of that draw.
    count : int
        How many numbers; a longer sequence begins like a shorter one.

    Returns
    -------
    numpy.ndarray, shape (count,)
        Uniform on the open interval from 0 to 1, in steps of 2**-32.

    Notes
    -----
    Used by the interactive figures.

    References
    ----------
    .. [1] T. Ettinger, "mulberry32", a generator of 32 bits in the public domain, 2017.

    Examples
    --------
    >>> uniforms(1, 0, 2).round(6)
    array([0.546456, 0.459556])
    """
    start = np.uint32((seed * 0x9E3779B1 + stream * 0x85EBCA6B) % 2**32)
    a = start + _STEP * np.arange(1, count + 1, dtype=np.uint32)
    t = (a ^ (a >> np.uint32(15))) * (a | np.uint32(1))
    t ^= t + (t ^ (t >> np.uint32(7))) * (t | np.uint32(61))
    return ((t ^ (t >> np.uint32(14))).astype(np.float64) + 0.5) / 2**32


def normals(seed: int, stream: int, count: int) -> np.ndarray:
    """Return standard normal numbers by the method of Box and Muller.

    Parameters
    ----------
    seed, stream, count : int
        As for `uniforms`.

    Returns
    -------
    numpy.ndarray, shape (count,)
        The same numbers, but for rounding, that ``normals`` of ``_drawing.js`` returns.

    Notes
    -----
    Used by the interactive figures.

    Examples
    --------
    >>> normals(1, 0, 10_000).std().round(2)
    np.float64(1.0)
    """
    pairs = uniforms(seed, stream, 2 * count).reshape(count, 2)
    return np.sqrt(-2 * np.log(pairs[:, 0])) * np.cos(2 * np.pi * pairs[:, 1])
