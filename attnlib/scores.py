"""The law of a raw score q·k: its moments, its exact density and tail, and fast exact samples.

Derived in the chapter on variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import (
    float_array,
    generator,
    real_number,
    sample_shape,
    whole_number,
)
from attnlib._extras import extra

__all__ = [
    "ScoreMoments",
    "general_score_moments",
    "sample_score_rows",
    "sample_scores",
    "score_moments",
    "score_pdf",
    "score_sf",
]

WIDEST_LAW = 10**7
"""Logarithms in the exact law are of size d_k log d_k, and rounding errors grow with them."""


class ScoreMoments(NamedTuple):
    """Mean, variance and excess kurtosis of a score q·k."""

    mean: float
    variance: float
    excess_kurtosis: float


def score_moments(
    d_k: int, *, fourth_moment_q: float = 3.0, fourth_moment_k: float = 3.0
) -> ScoreMoments:
    r"""Return the moments of q·k for independent components with mean 0 and variance 1.

    .. math::

        \mathrm E[q\cdot k] = 0, \qquad \mathrm{Var}(q\cdot k) = d_k, \qquad
        \text{excess kurtosis} = \frac{m_4(q)\,m_4(k) - 3}{d_k}

    Parameters
    ----------
    d_k : int
        Width of one head's query and key.
    fourth_moment_q, fourth_moment_k : float
        Fourth moment of a component of q and of k: 3 for a normal distribution, 1 for random
        signs, 9/5 for a uniform one, 6 for a Laplace one. At least 1, as the variance is 1.

    Returns
    -------
    ScoreMoments

    Examples
    --------
    >>> from attnlib import score_moments
    >>> score_moments(64)
    ScoreMoments(mean=0.0, variance=64.0, excess_kurtosis=0.09375)
    """
    d_k = whole_number("d_k", d_k)
    moments = []
    for name, value in (("fourth_moment_q", fourth_moment_q), ("fourth_moment_k", fourth_moment_k)):
        moment = real_number(name, value)
        if moment < 1:
            raise ValueError(f"{name} must be at least 1 when the variance is 1; got {moment}")
        moments.append(moment)
    return ScoreMoments(0.0, float(d_k), (moments[0] * moments[1] - 3) / d_k)


def _checked_covariance(name: str, covariance: ArrayLike) -> np.ndarray:
    """Return a covariance matrix as float64, or say why it is none."""
    matrix = float_array(name, covariance, ndim=2).astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(f"{name} must have shape (d_k, d_k); got {matrix.shape}")
    size = np.abs(matrix).max()
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * size):
        raise ValueError(f"{name} must be symmetric; got a matrix that differs from its transpose")
    lowest = np.linalg.eigvalsh(matrix)[0]
    if lowest < -1e-8 * size:
        raise ValueError(f"{name} must have no negative eigenvalue; got {lowest:.6g}")
    return matrix


def _checked_mean(name: str, mean: ArrayLike | None, d_k: int) -> np.ndarray:
    """Return a mean vector of length d_k; None and a number stand for a constant vector."""
    vector = float_array(name, 0.0 if mean is None else mean).astype(np.float64)
    if vector.shape not in {(), (d_k,)}:
        raise ValueError(f"{name} must be a number or have shape ({d_k},); got {vector.shape}")
    return np.broadcast_to(vector, (d_k,))


@np.errstate(under="ignore")
def general_score_moments(
    cov_q: ArrayLike,
    cov_k: ArrayLike,
    *,
    mean_q: ArrayLike | None = None,
    mean_k: ArrayLike | None = None,
) -> tuple[float, float]:
    r"""Return mean and variance of q·k for independent q and k with any mean and covariance.

    .. math::

        \mathrm E[q\cdot k] &= m_q\cdot m_k \\
        \mathrm{Var}(q\cdot k) &= \mathrm{tr}(\Sigma_q\Sigma_k)
            + m_q^\top\Sigma_k m_q + m_k^\top\Sigma_q m_k

    Nothing is assumed about the shape of the distributions.

    Parameters
    ----------
    cov_q, cov_k : array_like, shape (d_k, d_k)
        Covariance matrices of q and of k.
    mean_q, mean_k : array_like, shape (d_k,), or a number, optional
        Means of q and of k; a number stands for a constant vector, None for zero.

    Returns
    -------
    tuple of float
        Mean and variance.

    Raises
    ------
    TypeError, ValueError
        If a covariance is not square, symmetric and positive semi-definite, or sizes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import general_score_moments
    >>> general_score_moments(np.eye(64), np.eye(64), mean_q=0.5, mean_k=0.5)
    (16.0, 96.0)
    """
    sigma_q = _checked_covariance("cov_q", cov_q)
    sigma_k = _checked_covariance("cov_k", cov_k)
    if sigma_q.shape != sigma_k.shape:
        raise ValueError(
            f"cov_q and cov_k must have the same shape; got {sigma_q.shape} and {sigma_k.shape}"
        )
    m_q = _checked_mean("mean_q", mean_q, len(sigma_q))
    m_k = _checked_mean("mean_k", mean_k, len(sigma_k))
    # tr(AB) = Σ A_ij B_ji needs no matrix product; both are symmetric.
    variance = (sigma_q * sigma_k).sum() + m_q @ sigma_k @ m_q + m_k @ sigma_q @ m_k
    return float(m_q @ m_k), float(variance)


def _log_bessel_k(order: float, x: np.ndarray) -> np.ndarray:
    """Return log K_order(x) for x > 0, where the value itself would over- or underflow.

    Below order 50 from SciPy's scaled function, with the leading term of the series where even
    that overflows; from order 50 on by the uniform expansion [DLMF]_ 10.41.4, whose first five
    terms leave a relative error below 1e-10 there.

    References
    ----------
    .. [DLMF] NIST Digital Library of Mathematical Functions, sections 10.30 and 10.41.
    """
    with extra():
        from scipy.special import gammaln, kve

    if order < 50:
        with np.errstate(over="ignore", divide="ignore"):
            # SciPy gives NaN for huge arguments, where K vanishes anyway.
            scaled = kve(order, np.minimum(x, 1e8))
            tiny = math.log(0.5) + gammaln(order or 1.0) + order * (math.log(2) - np.log(x))
            return np.where(np.isfinite(scaled), np.log(scaled) - x, tiny)
    ratio = x / order
    root = np.hypot(1, ratio)
    eta = root + np.log(ratio) - np.log1p(root)
    p = 1 / root
    terms = (
        np.ones_like(p),
        (3 * p - 5 * p**3) / 24,
        (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152,
        (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720,
        (
            4465125 * p**4
            - 94121676 * p**6
            + 349922430 * p**8
            - 446185740 * p**10
            + 185910725 * p**12
        )
        / 39813120,
    )
    series = sum((-1) ** k * term / order**k for k, term in enumerate(terms))
    return 0.5 * math.log(math.pi / (2 * order)) - order * eta + 0.5 * np.log(p) + np.log(series)


@overload
def score_pdf(z: float | np.number, d_k: int) -> np.float64: ...
@overload
def score_pdf(z: ArrayLike, d_k: int) -> np.ndarray: ...
@np.errstate(under="ignore")
def score_pdf(z: ArrayLike, d_k: int) -> np.float64 | np.ndarray:
    r"""Return the exact density of q·k when all components are independent standard normal.

    .. math::

        f(z) = \frac{|z|^{\nu}\,K_{\nu}(|z|)}{\sqrt\pi\;\Gamma(d_k/2)\;2^{\nu}},
        \qquad \nu = \frac{d_k - 1}{2}

    with K the modified Bessel function of the second kind: a variance-gamma law [1]_. It is the
    Laplace density for d_k = 2 and approaches the normal density with variance d_k.

    Parameters
    ----------
    z : array_like
        Raw scores, finite.
    d_k : int
        Width of one head's query and key. At most 10 million; rounding would reach the eighth
        digit beyond.

    Returns
    -------
    numpy.ndarray or float
        Density, of the shape of `z`, in float64. Infinite at 0 for ``d_k = 1``.

    References
    ----------
    .. [1] K. Pearson, G. B. Jeffery, E. M. Elderton, "On the distribution of the first product
       moment-coefficient, in samples drawn from an indefinitely large normal population",
       Biometrika 21, 1929.

    Examples
    --------
    >>> from attnlib import score_pdf
    >>> print(f"{score_pdf(0.0, 2):.4f}")
    0.5000
    """
    with extra():
        from scipy.special import gammaln

    d_k = whole_number("d_k", d_k, most=WIDEST_LAW)
    size = np.abs(float_array("z", z).astype(np.float64))
    order = (d_k - 1) / 2
    constant = -0.5 * math.log(math.pi) - gammaln(d_k / 2) - order * math.log(2)
    # K has a pole at 0, which the power of z cancels: the limit is put in by hand.
    at_zero = np.inf if d_k == 1 else gammaln(order) + (order - 1) * math.log(2) + constant
    safe = np.where(size > 0, size, 1.0)
    log_density = constant + order * np.log(safe) + _log_bessel_k(order, safe)
    return np.exp(np.where(size > 0, log_density, at_zero))[()]


@overload
def score_sf(z: float | np.number, d_k: int) -> np.float64: ...
@overload
def score_sf(z: ArrayLike, d_k: int) -> np.ndarray: ...
@np.errstate(under="ignore")
def score_sf(z: ArrayLike, d_k: int) -> np.float64 | np.ndarray:
    r"""Return P(q·k > z) when all components are independent standard normal.

    Given q the score is normal with variance \|q\|², so the tail is the normal tail averaged
    over the chi distribution of \|q\|:

    .. math:: P(q\cdot k > z) = \mathrm E\bigl[\Phi(-z / \chi_{d_k})\bigr]

    Parameters
    ----------
    z, d_k
        As in :func:`score_pdf`.

    Returns
    -------
    numpy.ndarray or float
        Upper tail probability, of the shape of `z`, to a relative accuracy of about 1e-8.

    Examples
    --------
    >>> from attnlib import score_sf
    >>> print(f"{2 * score_sf(4 * 8, 64):.2e}")  # beyond 4 standard deviations at d_k = 64
    1.24e-04
    """
    with extra():
        from scipy.integrate import quad
        from scipy.special import gammaln, log_ndtr

    d_k = whole_number("d_k", d_k, most=WIDEST_LAW)
    scores = float_array("z", z).astype(np.float64)
    log_constant = (1 - d_k / 2) * math.log(2) - gammaln(d_k / 2)

    def tail(score: float) -> float:
        if score <= 0:
            return 1 - tail(-score) if score else 0.5
        # Chernoff's bound at t = 1/2, exp(0.144 d_k - score/2), is below the least float.
        if score > 0.3 * d_k + 1500:
            return 0.0

        def log_integrand(r: np.ndarray) -> np.ndarray:
            return log_constant + (d_k - 1) * np.log(r) - r**2 / 2 + log_ndtr(-score / r)

        # The integrand is log-concave in log r. Its top lies near the r that balances r**d_k,
        # exp(-r²/2) and exp(-score²/(2r²)), and is at most 1/√(2 d_k) wide.
        middle = math.sqrt((d_k + math.hypot(d_k, 2 * score)) / 2)
        grid = middle * np.exp(np.linspace(-12, 12, 4001) / math.sqrt(d_k))
        heights = log_integrand(grid)
        top = heights.max()
        inside = grid[heights > top - 60]
        value, _ = quad(
            lambda r: math.exp(log_integrand(r) - top),
            0.0 if inside[0] == grid[0] else inside[0],
            inside[-1],
            points=[grid[heights.argmax()]],
            epsabs=0,
            # The logarithms are of size d_k, and so are their rounding errors.
            epsrel=1e-10 + 1e-14 * d_k,
            limit=200,
        )
        return value * math.exp(top)

    return np.vectorize(tail, otypes=[float])(scores)[()]


def sample_scores(d_k: int, size: int | tuple[int, ...], *, rng: np.random.Generator) -> np.ndarray:
    r"""Draw scores of independent pairs q, k of standard normal vectors.

    Given q, the score is normal with standard deviation \|q\|; and \|q\|² has a chi-square
    law. So two random numbers make one exact score, however wide the head is:

    .. math:: q\cdot k \;\sim\; \sqrt{\chi^2_{d_k}}\; N(0, 1)

    Parameters
    ----------
    d_k : int
        Width of one head's query and key.
    size : int or tuple of int
        Shape of the result. Each entry has a query and a key of its own.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray
        Raw scores in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_scores
    >>> scores = sample_scores(64, 100_000, rng=np.random.default_rng(0))
    >>> bool(abs(scores.var() - 64) < 2)
    True
    """
    d_k, shape = whole_number("d_k", d_k), sample_shape(size)
    norms = np.sqrt(generator(rng).chisquare(d_k, shape))
    return norms * rng.standard_normal(shape)


def sample_score_rows(
    d_k: int, n_keys: int, size: int | tuple[int, ...], *, rng: np.random.Generator
) -> np.ndarray:
    """Draw rows of an attention matrix: one standard normal query against n_keys keys.

    Parameters
    ----------
    d_k, rng
        As in :func:`sample_scores`.
    n_keys : int
        Number of keys the query looks at.
    size : int or tuple of int
        How many rows.

    Returns
    -------
    numpy.ndarray, shape (*size, n_keys)
        Raw scores in float64. Scores of one row share their query, hence its norm.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib import sample_score_rows
    >>> sample_score_rows(64, 16, 3, rng=np.random.default_rng(0)).shape
    (3, 16)
    """
    d_k, n_keys = whole_number("d_k", d_k), whole_number("n_keys", n_keys)
    shape = sample_shape(size)
    norms = np.sqrt(generator(rng).chisquare(d_k, shape))
    return norms[..., None] * rng.standard_normal((*shape, n_keys))
