"""The plots of the chapter on gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on gradients")
def jacobians(weights: np.ndarray, values: np.ndarray, titles: Sequence[str]) -> Figure:
    """Draw softmax Jacobians as heat maps, negative cells framed, the value written in every cell.

    Parameters
    ----------
    weights : numpy.ndarray, shape (n_rows, n)
        The attention weights that each Jacobian belongs to.
    values : numpy.ndarray, shape (n_rows, n, n)
        The Jacobians.
    titles : sequence of str, length n_rows
        What kind of row each is.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> tie = np.array([[[0.25, -0.25], [-0.25, 0.25]]])
    >>> figure = plots.jacobians(np.full((1, 2), 0.5), tie, ["tie"])
    >>> len(figure.axes)
    1
    """
    figure, panels = style.panels(len(weights), height=0.5 + 2.3 * len(weights))
    for axes, row, matrix, title in zip(panels, weights, values, titles, strict=True):
        style.heat_map(axes, matrix.clip(0), "Greys", (0, 0.3))
        for (i, j), value in np.ndenumerate(matrix):
            ink = "white" if value > 0.15 else "black"
            if value < 0:
                frame = {"fill": False, "linewidth": -12 * value}
                axes.add_patch(Rectangle((j - 0.42, i - 0.42), 0.84, 0.84, **frame))
            axes.text(j, i, f"{value:z.3f}".replace("-", "−"), color=ink, **style.CENTERED)
        keys = range(len(row))
        axes.set(ylabel="weight", title=f"{title}: p = [{', '.join(f'{p:.2f}' for p in row)}]")
        axes.set_yticks(keys, [str(i + 1) for i in keys])
        axes.set_xticks(keys, [str(j + 1) for j in keys])
    panels[-1].set_xlabel("score")
    return figure


@style.drawn("in the chapter on gradients")
def jacobian_norms(
    logit_stds: np.ndarray, n_keys: Sequence[int], norms: np.ndarray, marks: np.ndarray
) -> Figure:
    """Draw the mean squared norm of the softmax Jacobian against the spread of the logits.

    Parameters
    ----------
    logit_stds : numpy.ndarray, shape (n_points,)
        Standard deviations of the logits, from 0 (the uniform row) up.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve, at most three.
    norms : numpy.ndarray, shape (n_curves, n_points, 2)
        Mean squared Frobenius norm and its standard error.
    marks : numpy.ndarray, shape (n_curves,)
        The grid point at which each curve is largest.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> curve = np.array([[[0.06, 0.0], [0.12, 0.01], [0.1, 0.01]]])
    >>> figure = plots.jacobian_norms(np.array([0.0, 2.0, 4.0]), [16], curve, np.array([2.0]))
    """
    figure, (axes,) = style.panels(height=4.2)
    looks = style.distinct(style.NEUTRAL[:3], n_keys, "n_keys")
    star = {"color": style.PALETTE["theory"], "markersize": 13}
    for curve, mark, look in zip(norms, marks, looks, strict=True):
        style.estimates(axes, logit_stds, curve, look, markersize=4)
        axes.plot(mark, curve[logit_stds == mark, 0], "*", zorder=5, **star)
    axes.set(xlabel="spread of the logits, σ", ylabel="mean of ‖J‖²", ylim=(0, None))
    ends = [curve[-1, 0] for curve in norms]
    names = [f"n = {count}" for count in n_keys]
    style.name_ends(axes, list(zip(names, ends, looks, strict=True)))
    return figure


@style.drawn("in the chapter on gradients")
def gradient_quantiles(widths: Sequence[int], scaled: np.ndarray, unscaled: np.ndarray) -> Figure:
    """Draw how long the gradient on one query is, against head width, with and without division.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    scaled, unscaled : numpy.ndarray, shape (n_widths, 4)
        The 5 %, 50 % and 95 % quantiles over rows, and the root mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> values = np.array([[0.01, 0.1, 0.3, 0.2], [0.01, 0.1, 0.3, 0.2]])
    >>> figure = plots.gradient_quantiles([4, 64], values, 2 * values)
    """
    figure, (axes,) = style.panels(height=4.6)
    for arm, rows, marker in ((style.UNSCALED, unscaled, "^"), (style.SCALED, scaled, "v")):
        *quantiles, rms = rows.T
        style.band(axes, widths, quantiles, arm)
        axes.plot(widths, rms, color=arm["color"], linestyle=":", marker=marker)
    axes.set(yscale="log", ylim=(1e-5, 100))
    style.log_ticks(axes, widths)
    axes.set(xlabel="head width dₖ", ylabel="length of the gradient")
    middle = len(widths) // 2
    above, below = {"ha": "right"}, {"va": "top"}
    place = widths[middle], unscaled[middle, 3]
    style.name(axes, "not divided,\nroot mean square", style.UNSCALED, place, (8, 18), **above)
    place = widths[-2], unscaled[-2, 1]
    style.name(
        axes, "not divided,\nmedian row", style.UNSCALED, place, (-2, -26), ha="right", **below
    )
    place = widths[0], scaled[0, 0]
    style.name(axes, "divided, both", style.SCALED, place, (6, -4), **below)
    return figure


@style.drawn("in the chapter on gradients")
def key_gradients(widths: Sequence[int], scaled: np.ndarray, unscaled: np.ndarray) -> Figure:
    """Draw how long the gradient on one key is, against head width, with and without division.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    scaled : numpy.ndarray, shape (n_widths, 2)
        The median over keys, and the mean.
    unscaled : numpy.ndarray, shape (n_widths, 4)
        The 10 %, 50 % and 90 % quantiles over keys, and the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> values = np.array([[1e-5, 1e-4, 1e-3, 1e-3], [1e-16, 1e-11, 1e-6, 1e-3]])
    >>> figure = plots.key_gradients([4, 64], np.full((2, 2), 1e-3), values)
    """
    figure, (axes,) = style.panels(height=4.0)
    low, *both, high = unscaled[:, [0, 1, 3, 2]].T
    axes.fill_between(widths, low, high, color=style.UNSCALED["color"], alpha=0.18, linewidth=0)
    for arm, (median, mean) in style.arms(both, scaled.T):
        axes.plot(widths, median, **arm)
        axes.plot(widths, mean, **(arm | {"linestyle": ":"}))
    axes.set(yscale="log", ylim=(1e-13, 1))
    style.log_ticks(axes, widths)
    axes.set(xlabel="head width dₖ", ylabel="length of the gradient")
    place = widths[-1], unscaled[-1, 3]
    style.name(axes, "not divided, mean", style.UNSCALED, place, (0, 12), ha="right")
    place = widths[-1], scaled[-1, 0]
    style.name(axes, "divided, both", style.SCALED, place, (0, -22), ha="right")
    at = int(np.flatnonzero(unscaled[:, 1] > 1e-12)[-1])
    place = widths[at], unscaled[at, 1]
    style.name(axes, "not divided,\nmedian", style.UNSCALED, place, (-6, -6), ha="right", va="top")
    return figure


@style.drawn("in the chapter on gradients")
def key_shares(scaled: np.ndarray, unscaled: np.ndarray) -> Figure:
    """Draw the share of a row's gradient that each key receives, largest first.

    Parameters
    ----------
    scaled, unscaled : numpy.ndarray, shape (3, n_keys)
        The 5 %, 50 % and 95 % quantiles over rows, for each rank.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> shares = np.array([[0.3, 0.1], [0.6, 0.4], [0.9, 0.5]])
    >>> figure = plots.key_shares(shares, shares)
    """
    figure, (axes,) = style.panels(height=4.2)
    rank = np.arange(1, scaled.shape[-1] + 1)
    for arm, quantiles in style.arms(unscaled, scaled):
        style.band(axes, rank, quantiles, arm | {"marker": None})
    axes.axhline(1 / len(rank), color=style.PALETTE["faint"], linestyle=":")
    style.note(axes, "equal share", (1, 1 / len(rank)), (4, -14))
    axes.set(xscale="log", yscale="log", xlim=(1, len(rank)), ylim=(1e-8, 1.5))
    axes.set(xlabel="rank of the key", ylabel="share of the gradient")
    axes.xaxis.set_major_formatter("{x:g}")
    at = (3 * len(rank)) // 20
    style.name(axes, "divided", style.SCALED, (rank[at], scaled[1, at]), (4, 8), fontweight="bold")
    at = int(np.argmin(np.abs(np.log(unscaled[1]) + 11)))
    place = rank[at], unscaled[1, at]
    style.name(axes, "not divided", style.UNSCALED, place, (-34, -4), ha="right", fontweight="bold")
    return figure


@style.drawn("in the chapter on gradients")
def median_ratios(widths: Sequence[int], n_keys: Sequence[int], ratios: np.ndarray) -> Figure:
    """Draw the median row's gradient without division over that with it, against head width.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve, at most four.
    ratios : numpy.ndarray, shape (n_curves, n_widths, 3)
        Ratio of the medians and the ends of its interval.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.median_ratios([4, 64], [16], np.array([[[1.5, 1.4, 1.6], [1.7, 1.6, 1.9]]]))
    """
    figure, (axes,) = style.panels(height=5.2)
    looks = style.distinct(style.NEUTRAL, n_keys, "n_keys")
    for count, curve, look in zip(n_keys, ratios, reversed(looks), strict=True):
        ratio, low, high = curve.T
        axes.errorbar(widths, ratio, (ratio - low, high - ratio), **look)
        # Short rows have room to the left of where they fall, long ones above their top.
        fallen = np.flatnonzero(ratio < 0.3)
        if count in n_keys[:2] and fallen.size:
            place, offset, beside = fallen[0], (-8, 0), "right"
        else:
            place, offset, beside = ratios[-1, :, 0].argmax(), (0, 8), "center"
        style.name(axes, f"n = {count}", look, (widths[place], ratio[place]), offset, ha=beside)
    axes.axhline(1, **style.THEORY)
    axes.set(yscale="log", ylim=(1e-3, 100))
    axes.yaxis.set_major_formatter("{x:g}")
    style.log_ticks(axes, widths)
    axes.set(xlabel="head width dₖ", ylabel="not divided / divided")
    style.name_ends(axes, [("equal", 1, style.THEORY)])
    return figure
