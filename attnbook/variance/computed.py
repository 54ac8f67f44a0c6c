"""What the chapter on variance measures: densities and tails, scores of dependent components."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import norm

from attnbook.estimates import mean_and_error
from attnlib import sample_scores, score_pdf, score_sf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MILLION = 10**6


def density_curves(
    widths: Sequence[int], rng: np.random.Generator, draws: int = 200_000
) -> tuple[NDArray[np.float64], ...]:
    """Return what `attnbook.plots.score_densities` draws, the widths excepted.

    The scores are in standard deviations. The result has a grid, the exact densities on it and
    the normal one, the middles of bins and the densities measured there, NaN where a bin is empty.

    Examples
    --------
    >>> curves = density_curves([1, 64], np.random.default_rng(0), draws=10)
    >>> [curve.shape for curve in curves]
    [(400,), (2, 400), (400,), (30,), (2, 30)]
    """
    grid = np.linspace(-6, 6, 400)
    edges = np.linspace(-6, 6, 31)
    exact = np.array([np.sqrt(d) * score_pdf(grid * np.sqrt(d), int(d)) for d in widths])
    samples = [sample_scores(int(d), draws, rng=rng) / np.sqrt(d) for d in widths]
    counts = np.array([np.histogram(sample, edges)[0] for sample in samples])
    found = np.where(counts > 0, counts / (draws * np.diff(edges)), np.nan)
    normal = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    return grid, exact, normal, (edges[:-1] + edges[1:]) / 2, found


def share_beyond(deviations: float, d_k: int) -> float:
    """Return the share of scores of normal components further out than so many deviations.

    Examples
    --------
    >>> f"{share_beyond(2, 64):.4f}"
    '0.0463'
    """
    return 2 * score_sf(deviations * math.sqrt(d_k), d_k)


class Tail(NamedTuple):
    """How many of a million scores lie further out than so many standard deviations."""

    deviations: int
    exact: float
    measured: float
    error: float
    normal: float

    @property
    def row(self) -> str:
        """The tail as a row of a table, with the exact count over the normal one at its end.

        Examples
        --------
        >>> Tail(5, exact=2.74, measured=1.5, error=0.83, normal=0.57).row
        '5 | 2.7 | 1.5 ± 0.8 | 0.6 | 4.81'
        """
        digits = 0 if self.exact > self.deviations else 1
        exact, measured, error, normal = (f"{count:.{digits}f}" for count in self[1:])
        ratio = f"{self.exact / self.normal:.2f}"
        return f"{self.deviations} | {exact} | {measured} ± {error} | {normal} | {ratio}"


def score_tails(
    d_k: int, deviations: Sequence[int], draws: int, rng: np.random.Generator
) -> dict[int, Tail]:
    """Return the tails of a score of normal components: exact, measured and of a normal number.

    Examples
    --------
    >>> tail = score_tails(64, [2], 1000, np.random.default_rng(0))[2]
    >>> f"{tail.exact:.0f}, {tail.normal:.0f}"
    '46333, 45500'
    """
    sizes = np.abs(sample_scores(d_k, draws, rng=rng)) / math.sqrt(d_k)
    tails = {}
    for far in deviations:
        exact = share_beyond(far, d_k)
        shares = exact, np.mean(sizes > far), math.sqrt(exact / draws), 2 * norm.cdf(-far)
        tails[far] = Tail(far, *(float(MILLION * share) for share in shares))
    return tails


def tied(
    shape: tuple[int, ...], groups: int, d_k: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return normal vectors whose components come in groups of equal numbers.

    Examples
    --------
    >>> one, two, three, four = tied((), 2, 4, np.random.default_rng(0)).tolist()
    >>> one == two, two == three, three == four
    (True, False, True)
    """
    return np.repeat(rng.standard_normal((*shape, groups)), d_k // groups, axis=-1)


def paired(correlation: float, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors in which every second component is correlated with the one before.

    Examples
    --------
    >>> paired(0.6, np.array([1.0, 0.5]))
    array([1., 1.])
    """
    mixed = vectors.copy()
    mixed[..., 1::2] *= np.sqrt(1 - correlation**2)
    mixed[..., 1::2] += correlation * vectors[..., ::2]
    return mixed


def score_estimates(
    q: NDArray[np.float64], keys: NDArray[np.float64]
) -> tuple[tuple[float, float], ...]:
    """Return mean, variance and within-row variance of scores, each with its standard error.

    A row has a query, of `q` with shape (rows, d_k), and keys, of shape (rows, n_keys, d_k). Mean
    and variance are those of the score of the first key.

    Examples
    --------
    >>> q, keys = np.array([[1.0], [3.0]]), np.array([[[1.0], [1.0]], [[1.0], [1.0]]])
    >>> mean, variance, within = score_estimates(q, keys)
    >>> float(mean[0]), float(variance[0]), float(within[0])
    (2.0, 1.0, 0.0)
    """
    scores = np.einsum("rd,rnd->rn", q, keys)
    first = scores[:, 0]
    total = mean_and_error((first - first.mean()) ** 2)
    return mean_and_error(first), total, mean_and_error(scores.var(axis=1, ddof=1))


def case_row(predicted: Sequence[float], measured: Sequence[tuple[float, float]]) -> str:
    """Return a row of a table: mean, variance and within-row variance, predicted and measured.

    The mean is the predicted one. `measured` is what `score_estimates` returns.

    Examples
    --------
    >>> case_row((0, 64, 32), ((0.02, 0.06), (63.7, 0.64), (31.7, 0.21)))
    '0 | 64 (63.7 ± 0.6) | 32 (31.7 ± 0.2)'
    """
    digits = 1 if predicted[1] < 1000 else 0
    cells = [f"{predicted[0]:.0f}"]
    for truth, (value, error) in zip(predicted[1:], measured[1:], strict=True):
        cells.append(f"{truth:.0f} ({value:.{digits}f} ± {error:.{digits}f})")
    return " | ".join(cells)


def leading_share(
    rho: float, d_k: int, n_keys: int, rng: np.random.Generator, rows: int = 20_000
) -> float:
    """Return in what share of rows an aligned key has a higher score than all others.

    Components are standard normal. Over the length of the query, the other scores are standard
    normal too, and their highest comes from the law of a maximum.

    Examples
    --------
    >>> leading_share(1.0, 64, 16, np.random.default_rng(0)) > 0.99
    True
    """
    length = np.sqrt(rng.chisquare(d_k, rows))
    aligned = rho * length + math.sqrt(1 - rho**2) * rng.standard_normal(rows)
    highest = norm.ppf(rng.random(rows) ** (1 / (n_keys - 1)))
    return float(np.mean(aligned > highest))
