"""When softmax freezes: thresholds, bounds, and measured rows of weights.

Throughout, a row is one query's n_keys scores, and its components of q and k are independent
standard normal. Given the query, such a row is exactly normal with standard deviation
equal to the length of that query times scale (see :mod:`attnlib.scores`). Explained in the chapter
on saturation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attnlib._checks import generator, real_number, scale_factor, whole_number
from attnlib._extras import extra
from attnlib.scores import sample_score_rows
from attnlib.softmax import entropy, jacobian_norm_squared, softmax

__all__ = [
    "RowStatistics",
    "concentration_bound",
    "expected_maximum",
    "freezing_std",
    "freezing_width",
    "sample_row_statistics",
]


def freezing_std(n_keys: int) -> float:
    r"""Return the standard deviation of the logits above which O(1) keys take the weight.

    .. math:: \sigma_c = \sqrt{2\ln n}

    In the limit of many keys, weights of independent normal logits are spread over many keys
    below it and condense onto a few above it. At real n the change is gradual.

    Parameters
    ----------
    n_keys : int
        Number of keys, at least 1.

    Returns
    -------
    float

    References
    ----------
    .. [1] B. Derrida, "Random-energy model: an exactly solvable model of disordered systems",
       Phys. Rev. B 24, 1981.

    Examples
    --------
    >>> from attnlib import freezing_std
    >>> round(freezing_std(1024), 3)
    3.723
    """
    return math.sqrt(2 * math.log(whole_number("n_keys", n_keys)))


def freezing_width(n_keys: int) -> float:
    r"""Return the head width from which *unscaled* attention over n_keys keys is frozen.

    .. math:: d_k > 2\ln n

    Unscaled logits have standard deviation √d_k, so this is :func:`freezing_std` squared.

    Parameters
    ----------
    n_keys
        As in :func:`freezing_std`.

    Returns
    -------
    float
        The threshold; not rounded to a whole width.

    Examples
    --------
    >>> from attnlib import freezing_width
    >>> round(freezing_width(1024), 2)
    13.86
    """
    return 2 * math.log(whole_number("n_keys", n_keys))


def expected_maximum(n_keys: int) -> float:
    r"""Return the expected largest of n_keys independent standard normal numbers.

    .. math:: M_n = \int_{-\infty}^{\infty} x\, n\,\varphi(x)\,\Phi(x)^{n-1}\,dx

    Parameters
    ----------
    n_keys
        As in :func:`freezing_std`, which it approaches from below, slowly.

    Returns
    -------
    float

    Examples
    --------
    >>> from attnlib import expected_maximum
    >>> round(expected_maximum(1024), 4)
    3.2482
    """
    with extra():
        from scipy.integrate import quad
        from scipy.special import log_ndtr

    n = whole_number("n_keys", n_keys)

    def integrand(x: float) -> float:
        return x * n * math.exp(-x * x / 2 + (n - 1) * log_ndtr(x)) / math.sqrt(2 * math.pi)

    # Both the mass and the peak lie within 8 of the threshold and of 0, whatever n is.
    peak = math.sqrt(2 * math.log(n))
    value, _ = quad(integrand, -9.0, peak + 9.0, points=[0.0, peak], epsabs=1e-12, limit=200)
    return value


def concentration_bound(logit_std: float, n_keys: int) -> float:
    r"""Return a lower bound on the expected largest weight of a row of normal logits.

    .. math:: \mathrm E[\max_i p_i] \;\ge\; \mathrm E\Bigl[\sum_i p_i^2\Bigr]
              \;\ge\; 1 - \frac{M_n}{\sigma}

    Parameters
    ----------
    logit_std : float
        Standard deviation σ of the logits, positive.
    n_keys : int
        Number of keys; :func:`expected_maximum` gives M_n.

    Returns
    -------
    float
        The bound; 0 where the formula would give a negative number.

    Examples
    --------
    >>> from attnlib import concentration_bound
    >>> round(concentration_bound(8.0, 1024), 3)
    0.594
    """
    std = real_number("logit_std", logit_std, positive=True)
    return max(0.0, 1 - expected_maximum(n_keys) / std)


class RowStatistics(NamedTuple):
    """One number for each sampled row of attention weights, shape (n_rows,) each."""

    max_weight: np.ndarray
    entropy: np.ndarray
    effective_positions: np.ndarray
    jacobian_norm_squared: np.ndarray


def _weights(factor: float, scores: np.ndarray) -> np.ndarray:
    """Return the softmax weights of raw scores, or say that the scale is too large for them."""
    with np.errstate(over="ignore"):
        logits = factor * scores
    if not np.isfinite(logits).all():
        raise ValueError(f"scale must leave the logits finite; got {factor:g}")
    return softmax(logits)


_DRAWN_AT_ONCE = 2**20
"""Random numbers for which memory is taken at a time; another limit would draw others."""
_AT_WORK = 2**17
"""How many of them are worked on at a time: as many as a processor keeps near itself."""


def _row_blocks(n_rows: int, n_keys: int, limit: int = _DRAWN_AT_ONCE) -> Iterator[slice]:
    """Yield slices of the rows, few enough at a time that memory stays small."""
    at_once = max(1, limit // n_keys)
    for start in range(0, n_rows, at_once):
        yield slice(start, min(start + at_once, n_rows))


@np.errstate(under="ignore")
def sample_row_statistics(
    d_k: int,
    n_keys: int,
    n_rows: int,
    *,
    scale: float | None = None,
    rng: np.random.Generator,
) -> RowStatistics:
    """Draw rows of attention weights and measure how concentrated each is.

    Parameters
    ----------
    d_k, n_keys : int
        As in :func:`sample_score_rows`.
    n_rows : int
        Number of rows.
    scale : float, optional
        What the raw scores are multiplied by, not negative; ``None`` means 1/√d_k.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    RowStatistics

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `scale` makes logits overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_row_statistics
    >>> rows = sample_row_statistics(64, 1024, 500, scale=1.0, rng=np.random.default_rng(0))
    >>> bool(abs(rows.max_weight.mean() - 0.71) < 0.05)
    True
    """
    d_k = whole_number("d_k", d_k)
    factor = scale_factor(scale, d_k)
    n_keys, n_rows = whole_number("n_keys", n_keys), whole_number("n_rows", n_rows)
    rng = generator(rng)
    statistics = RowStatistics(*np.empty((4, n_rows)))
    for rows in _row_blocks(n_rows, n_keys):
        scores = sample_score_rows(d_k, n_keys, rows.stop - rows.start, rng=rng)
        for part in _row_blocks(len(scores), n_keys, _AT_WORK):
            p = _weights(factor, scores[part])
            place = slice(rows.start + part.start, rows.start + part.stop)
            statistics.max_weight[place] = p.max(axis=-1)
            statistics.entropy[place] = entropy(p)
            statistics.jacobian_norm_squared[place] = jacobian_norm_squared(p)
    np.exp(statistics.entropy, out=statistics.effective_positions)
    return statistics
