"""The plots of the chapter on saturation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.plots import style


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
    looks = style.distinct(
        [style.SCALED, style.UNSCALED, style.THIRD, style.FOURTH], n_keys, "n_keys"
    )
    for curve, count, look in zip(weights, n_keys, looks, strict=True):
        line = {"marker": None, "linewidth": 2.6 if look is style.SCALED else 1.8}
        axes.plot(leads, curve, **(look | line | {"label": f"n = {count}"}))
    for lead, weight, label in marks:
        axes.plot(lead, weight, "o", color=style.PALETTE["theory"], zorder=5)
        # Near the top the other curves pass to the right of the point, so its name goes above it.
        style.note(axes, label, (lead, weight), (0, 8) if weight > 0.9 else (9, -13))
    axes.set(xlabel="lead x of one key over all others", ylabel="weight of that key")
    axes.set(xlim=(leads[0], leads[-1]), ylim=(0, 1.12))
    axes.legend(loc="lower right")
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
    middle = (len(widths) - 1) // 2
    between = (widths[middle] * widths[middle + 1]) ** 0.5
    on_line = {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.6}, **style.CENTERED}
    for axes, raw, divided in zip(panels, unscaled, scaled, strict=True):
        for arm, curves in style.arms(raw, divided):
            for index, (count, curve) in enumerate(zip(n_keys, curves, strict=True)):
                style.estimates(axes, widths, curve, arm, label=None if index else arm["label"])
                name = {"text": f"n = {count}", "color": arm["color"], "fontsize": 10}
                if arm is style.SCALED:
                    place, offset = (widths[-1], curve[-1, 0]), (8, -3)
                else:
                    # These curves run together at the right end, so each is named on its line.
                    left, right = curve[middle : middle + 2, 0]
                    height = (left + right) / 2 if axes is panels[0] else (left * right) ** 0.5
                    place, offset = (between, height), (0, 0)
                    name |= on_line
                style.note(axes, xy=place, offset=offset, **name)
        axes.set_xscale("log", base=2)
        axes.margins(x=0.03)
    panels[0].set(ylabel="mean largest weight", ylim=(0, 1))
    panels[0].legend(loc="upper left", bbox_to_anchor=(0, 0.97))
    panels[1].set(ylabel="mean effective positions", yscale="log", xlabel="head width $d_k$")
    style.log_ticks(panels[1], widths)
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
    figure, (axes,) = style.panels(height=3.8)
    style.estimates(axes, logit_stds, max_weight, style.UNSCALED, label="largest weight, measured")
    style.estimates(axes, logit_stds, sum_of_squares, style.THIRD, label="sum of squares, measured")
    axes.plot(*bound, color=style.PALETTE["theory"], label="proved lower bound")
    axes.axvline(threshold, color=style.PALETTE["faint"], linestyle=":")
    style.note(axes, "σ = √(2 ln n)", (threshold, 0.97), (-6, 0), ha="right", va="top")
    axes.set(xlabel="standard deviation σ of the logits", ylabel="mean over rows", ylim=(0, 1))
    axes.legend(loc="lower right")
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
    colors = {"cmap": "Blues", "vmin": -0.1, "vmax": 1.4}
    lines = style.contour_map(axes, widths, n_keys, max_weight, levels, **colors)
    style.log_ticks(axes, widths, n_keys[1::2])
    axes.clabel(lines, fmt="%g", fontsize=10)
    style.freezing_line(axes, threshold, n_keys, style.PALETTE["unscaled"])
    axes.set(xlabel="head width $d_k$ (scores not divided)", title="mean largest weight")
    return figure
