"""The plots of the chapter on saturation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on saturation")
def one_lead(
    leads: np.ndarray,
    weights: np.ndarray,
    n_keys: Sequence[int],
    marks: Sequence[tuple[float, float, str]] = (),
) -> Figure:
    """Draw the weight of one leading key against its lead, one curve for each number of keys.

    Parameters
    ----------
    leads : numpy.ndarray, shape (n_points,)
        How far the leader's score lies above the common score of the others.
    weights : numpy.ndarray, shape (n_curves, n_points)
        The leader's weight.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve, at most four; the first curve is the one emphasized.
    marks : sequence of (lead, weight, label)
        Points of the first curve to name.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> x = np.linspace(0, 10, 5)
    >>> figure = plots.one_lead(x, np.exp(x)[None] / (np.exp(x) + 3), [4], [(1.1, 0.5, "half")])
    """
    figure, (axes,) = style.panels(height=3.8)
    looks = style.distinct(style.NEUTRAL, n_keys, "n_keys")
    for curve, count, look in zip(weights, n_keys, looks, strict=True):
        line = {"marker": None, "linewidth": 2.6 if look is looks[0] else 1.8}
        axes.plot(leads, curve, **(look | line))
        # There is room to the left of each curve, and to the right of the last.
        last = count == n_keys[-1] != n_keys[0]
        place = int(np.argmin(np.abs(curve - (0.4 if last else 0.8))))
        beside, offset = ("left", (8, -4)) if last else ("right", (-6, 4))
        style.name(axes, f"n = {count}", look, (leads[place], curve[place]), offset, ha=beside)
    for lead, weight, label in marks:
        axes.plot(lead, weight, "o", color=style.PALETTE["theory"], zorder=5)
        # Near the top the other curves pass to the right of the point, so its name goes above it.
        if weight > 0.9:
            style.note(axes, label, (lead, weight), (0, 8))
        else:
            style.note(axes, label.replace(", ", ",\n"), (lead, weight), (8, 0), va="center")
    axes.set(xlabel="lead of one key, x", ylabel="weight of that key")
    axes.set(xlim=(leads[0], leads[-1]), ylim=(0, 1.12))
    return figure


@style.drawn("in the chapter on saturation")
def weights_by_width(
    widths: Sequence[int], n_keys: Sequence[int], scaled: np.ndarray, unscaled: np.ndarray
) -> Figure:
    """Draw mean largest weight and mean effective positions against head width.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k, at least two.
    n_keys : sequence of int, length n_curves
        Number of keys of each pair of curves.
    scaled, unscaled : numpy.ndarray, shape (2, n_curves, n_widths, 2)
        Means and their standard errors (last axis) of the largest weight (first entry) and of
        the effective positions (second entry).

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> means = np.full((2, 1, 3, 2), 0.5)
    >>> figure = plots.weights_by_width([4, 16, 64], [128], means, 1.1 * means)
    >>> len(figure.axes)
    2
    """
    figure, panels = style.panels(2, height=6.4)
    for axes, raw, divided in zip(panels, unscaled, scaled, strict=True):
        for arm, curves in style.arms(raw, divided):
            for curve in curves:
                style.estimates(axes, widths, curve, arm)
    panels[0].set(ylabel="mean largest weight", ylim=(0, 1))
    panels[1].set(ylabel="mean effective positions", yscale="log", xlabel="head width dₖ")
    panels[1].yaxis.set_major_formatter("{x:g}")
    style.log_ticks(panels[1], widths)
    for axes, raw, divided in zip(panels, unscaled, scaled, strict=True):
        ends = [
            (f"n = {count}", curve[-1, 0], arm)
            for arm, curves in style.arms(raw, divided)
            for count, curve in zip(n_keys, curves, strict=True)
        ]
        style.name_ends(axes, ends)
    place = min(2, len(widths) - 1)
    bold = {"fontweight": "bold", "ha": "right"}
    above, below = [(widths[place], means[0, 0][place, 0]) for means in (unscaled, scaled)]
    style.name(panels[0], "not divided", style.UNSCALED, above, (-8, 6), **bold)
    bold["ha"] = "left"
    style.name(panels[0], "divided", style.SCALED, below, (12, 8), **bold)
    return figure


@style.drawn("in the chapter on saturation")
def concentration(
    logit_stds: np.ndarray,
    max_weight: np.ndarray,
    sum_of_squares: np.ndarray,
    bound: np.ndarray,
    threshold: float,
) -> Figure:
    """Draw measured concentration of one row against the proved lower bound.

    Parameters
    ----------
    logit_stds : numpy.ndarray, shape (n_points,)
        Standard deviations of the logits.
    max_weight, sum_of_squares : numpy.ndarray, shape (n_points, 2)
        Mean and standard error of the largest weight, and of the sum of squared weights.
    bound : numpy.ndarray, shape (2, n_fine)
        Standard deviations, and the proved lower bound on both means there.
    threshold : float
        Standard deviation at which the row freezes.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> means = np.array([[0.1, 0.01], [0.7, 0.01]])
    >>> bound = np.array([[1, 8], [0, 0.6]])
    >>> figure = plots.concentration(np.array([1.0, 8.0]), means, means, bound, 3.7)
    """
    figure, (axes,) = style.panels(height=4.2)
    largest, squares = style.NEUTRAL[:2]
    style.estimates(axes, logit_stds, max_weight, largest)
    style.estimates(axes, logit_stds, sum_of_squares, squares)
    axes.plot(*bound, **style.THEORY)
    axes.axvline(threshold, color=style.PALETTE["faint"], linestyle=":")
    style.note(axes, "$\\sigma = \\sqrt{2\\,\\ln n}$", (threshold, 0.99), (6, 0), va="top")
    axes.set(xlabel="spread of the logits, σ", ylabel="mean over rows", ylim=(0, 1))
    near = -min(3, len(logit_stds))
    style.name(
        axes,
        "largest weight",
        largest,
        (logit_stds[near], max_weight[near, 0]),
        (-4, 10),
        ha="right",
    )
    style.name(
        axes,
        "sum of squared\nweights",
        squares,
        (logit_stds[near], sum_of_squares[near, 0]),
        (8, -34),
    )
    style.name(axes, "proved lower bound", style.THEORY, (threshold, 0.08), (14, 0))
    return figure


@style.drawn("in the chapter on saturation")
def freezing_map(
    widths: np.ndarray, n_keys: np.ndarray, max_weight: np.ndarray, threshold: np.ndarray
) -> Figure:
    """Draw the mean largest weight over head width and number of keys, with the freezing line.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Head widths d_k.
    n_keys : numpy.ndarray, shape (n_counts,)
        Numbers of keys.
    max_weight : numpy.ndarray, shape (n_counts, n_widths)
        Mean largest weight.
    threshold : numpy.ndarray, shape (n_counts,)
        Head width at which each number of keys freezes.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> means = np.array([[0.3, 0.8], [0.05, 0.7]])
    >>> widths, n_keys = np.array([1, 64]), np.array([16, 1024])
    >>> figure = plots.freezing_map(widths, n_keys, means, 2 * np.log(n_keys))
    """
    figure, (axes,) = style.panels(height=4.4)
    levels = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
    colors = {"cmap": style.MAPS[style.UNSCALED["color"]], "vmin": -0.05, "vmax": 1.5}
    lines = style.contour_map(axes, widths, n_keys, max_weight, levels, **colors)
    style.log_ticks(axes, widths, n_keys[1::2])
    axes.clabel(lines, fmt="%g", fontsize=style.SMALL)
    style.freezing_line(axes, threshold, n_keys)
    axes.set_title("mean largest weight")
    return figure
