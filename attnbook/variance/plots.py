"""The plots of the chapter on variance."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style

_POINTS = {"linestyle": "none", "marker": "o"}
_NORMAL = {"color": style.GRAYS[2], "linestyle": "--"}


@style.drawn("in the chapter on variance")
def product_grid(means: np.ndarray, errors: np.ndarray) -> Figure:
    """Draw the mean of every product of two terms as a square table.

    Cells filled where a term meets itself, empty where two terms meet.

    Parameters
    ----------
    means, errors : numpy.ndarray, shape (terms, terms)
        Mean product of term i with term j and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.product_grid(np.eye(3), np.full((3, 3), 0.01))
    """
    terms = len(means)
    subscripts = "₁₂₃₄₅₆₇₈₉"[:terms]
    figure, (axes,) = style.panels(height=4.2)
    for (row, column), mean in np.ndenumerate(means):
        fill, ink = (style.PALETTE["theory"], "white") if row == column else ("white", "black")
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(plt.Rectangle(corner, 1, 1, facecolor=fill, edgecolor="#777777"))
        for text, below, size in (
            (f"T{subscripts[row]}·T{subscripts[column]}", -0.27, style.SMALL),
            (f"{mean:z.3f}".replace("-", "−"), 0.03, 17),
            (f"± {errors[row, column]:.3f}", 0.32, style.SMALL),
        ):
            axes.text(column, row + below, text, color=ink, size=size, **style.CENTERED)
    ticks = range(terms)
    axes.set(xlim=(-0.5, terms - 0.5), ylim=(terms - 0.5, -0.5), xticks=ticks, yticks=ticks)
    axes.set_xticklabels([f"T{mark} = q{mark}k{mark}" for mark in subscripts])
    axes.set_yticklabels([f"T{mark}" for mark in subscripts])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


@style.drawn("in the chapter on variance")
def variance_estimates(
    sample_sizes: np.ndarray, quantiles: np.ndarray, half_widths: np.ndarray
) -> Figure:
    """Draw how far estimates of a variance of 1 scatter, against the size of the sample.

    One bar for each sample size, the predicted band as dashed lines, the truth as a line.

    Parameters
    ----------
    sample_sizes : numpy.ndarray, shape (sizes,)
        Numbers of products that went into one estimate.
    quantiles : numpy.ndarray, shape (3, sizes)
        Lower end, median and upper end of the estimates.
    half_widths : numpy.ndarray, shape (sizes,)
        Half the width of the band that the standard error predicts.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> spread = np.array([[0.1, 0.8], [0.6, 1.0], [4.0, 1.2]])
    >>> figure = plots.variance_estimates(np.array([4, 256]), spread, np.array([2.8, 0.3]))
    """
    figure, (axes,) = style.panels(height=3.8)
    low, middle, high = quantiles
    axes.axhline(1, **style.THEORY)
    for half in (half_widths, -half_widths):
        axes.plot(sample_sizes, 1 + half, **_NORMAL)
    bars = (middle - low, high - middle)
    axes.errorbar(sample_sizes, middle, bars, color=style.GRAYS[0], capsize=4, **_POINTS)
    style.log_ticks(axes, sample_sizes)
    axes.set(xlabel="products in one estimate", ylabel="estimated variance", ylim=(0, None))
    first = sample_sizes[0]
    measured = {"color": style.GRAYS[0]}
    style.name(axes, "estimates", measured, (first, high[0]), (8, -8))
    style.name(axes, "predicted band", _NORMAL, (first, 1 + half_widths[0]), (26, -12))
    style.name_ends(axes, [("true", 1, style.THEORY)])
    return figure


@style.drawn("in the chapter on variance")
def variance_against_width(
    widths: np.ndarray, variances: np.ndarray, half_widths: np.ndarray
) -> Figure:
    """Draw measured variances of q·k against the head width, with the band around the claim.

    Above the variance on two logarithmic axes, below its ratio to the width.

    Parameters
    ----------
    widths : numpy.ndarray, shape (widths,)
        Head widths.
    variances : numpy.ndarray, shape (widths,)
        Measured variance of the score at each width.
    half_widths : numpy.ndarray, shape (widths,)
        Half the width of the band around Var = d_k, in the units of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> widths = np.array([1, 64])
    >>> figure = plots.variance_against_width(widths, widths * 1.01, widths * 0.02)
    """
    figure, (above, below) = style.panels(2, height=5.6)
    raw = _POINTS | {"color": style.PALETTE["theory"]}
    for axes, scale in ((above, 1), (below, widths)):
        center, half = widths / scale, half_widths / scale
        band = {"color": style.PALETTE["faint"], "alpha": 0.35, "linewidth": 0}
        axes.fill_between(widths, center - half, center + half, **band)
        axes.plot(widths, center, **style.THEORY)
        axes.plot(widths, variances / scale, **raw)
    above.set(ylabel="variance of q·k")
    style.log_ticks(above, widths[::4], widths[::4])
    below.set(xlabel="head width dₖ", ylabel="variance ÷ dₖ")
    middle = len(widths) // 2
    style.name(above, "measured", raw, (widths[middle], variances[middle]), (-8, 6), ha="right")
    style.name(above, "Var = dₖ", style.THEORY, (widths[middle], widths[middle]), (12, -12))
    gray = {"color": style.PALETTE["faint"]}
    corner = widths[0], 1 - half_widths[0] / widths[0]
    style.name(below, "expected by chance", gray, corner, (34, 0), va="center")
    return figure


@style.drawn("in the chapter on variance")
def score_densities(
    widths: np.ndarray,
    grid: np.ndarray,
    exact: np.ndarray,
    normal: np.ndarray,
    centers: np.ndarray,
    measured: np.ndarray,
) -> Figure:
    """Draw the exact density of a scaled score, its histogram and the normal density.

    One panel for each width, density on a logarithmic axis.

    Parameters
    ----------
    widths : numpy.ndarray, shape (widths,)
        Head widths, one panel each.
    grid : numpy.ndarray, shape (points,)
        Scores in standard deviations.
    exact : numpy.ndarray, shape (widths, points)
        Exact density of the scaled score.
    normal : numpy.ndarray, shape (points,)
        Standard normal density.
    centers : numpy.ndarray, shape (bins,)
        Centers of the histogram's bins.
    measured : numpy.ndarray, shape (widths, bins)
        Densities that the histogram found; empty bins hold NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> points, line, bins = np.array([0.0, 1.0]), np.array([[0.4, 0.2]]), np.array([[0.39, 0.21]])
    >>> figure = plots.score_densities(np.array([64]), points, line, line[0], points, bins)
    """
    measured_look = _POINTS | {"color": style.GRAYS[0], "markersize": 3.5}
    height = 0.6 + 1.7 * len(widths)
    figure, panels = style.panels(len(widths), height=height, sharey=True)
    for axes, width, line, points in zip(panels, widths, exact, measured, strict=True):
        axes.plot(centers, points, **measured_look)
        axes.plot(grid, line, **style.THEORY)
        axes.plot(grid, normal, **_NORMAL)
        axes.set(title=f"dₖ = {width}", yscale="log", ylabel="density", ylim=(3e-6, 3))
        axes.set_yticks([1, 1e-2, 1e-4], ["1", "0.01", "0.0001"])
    at = int(np.argmin(np.abs(grid - 0.63 * grid[-1])))
    top = panels[0]
    style.name(top, "normal", _NORMAL, (grid[at], normal[at]), (-4, -4), ha="right", va="top")
    style.name(top, "exact", style.THEORY, (grid[at], exact[0][at]), (0, 6))
    side = int(np.argmin(np.abs(centers + grid[-1] / 2)))
    place = centers[side], measured[0][side]
    style.name(top, "measured", measured_look, place, (-4, 6), ha="right")
    panels[-1].set(xlabel="score (standard deviations)")
    return figure
