"""The book's static figures: one function each, given computed arrays, returning the Figure.

Every series is told apart by more than its colour: a line style, a marker or a label as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = [
    "PALETTE",
    "SCALED",
    "UNSCALED",
    "attention_maps",
    "collapse",
    "concentration",
    "freezing_map",
    "gradient_quantiles",
    "jacobian_norms",
    "jacobians",
    "key_shares",
    "median_ratios",
    "one_lead",
    "product_grid",
    "score_densities",
    "score_strips",
    "slide_or_squeeze",
    "variance_against_width",
    "variance_estimates",
    "weights_by_width",
]

PALETTE = {
    "scaled": "#0072B2",
    "unscaled": "#D55E00",
    "theory": "#333333",
    "third": "#009E73",
    "fourth": "#AA4499",
    "faint": "#999999",
}
"""Colours that stay apart under the common colour-vision deficiencies (Okabe and Ito's set)."""

SCALED = {"color": PALETTE["scaled"], "linestyle": "-", "marker": "s", "label": "divided by √dₖ"}
UNSCALED = {"color": PALETTE["unscaled"], "linestyle": "--", "marker": "o", "label": "not divided"}
"""Line properties of the two arms, the same in every chapter."""

_STYLE = {
    "figure.dpi": 160,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "legend.frameon": False,
}
_WIDTH = 6.4


def _house_style(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw a figure with the book's settings, whatever the reader has set globally."""

    @wraps(draw)
    def styled(*args: Any, **kwargs: Any) -> Figure:
        with plt.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return styled


def _panels(rows: int = 1, *, height: float = 3.6, **kwargs: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels stacked for a phone: one above the other, full width."""
    figure, axes = plt.subplots(rows, 1, figsize=(_WIDTH, height), squeeze=False, **kwargs)
    return figure, list(axes[:, 0])


@_house_style
def collapse(widths: Sequence[int], unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw one row of attention weights, divided and not, for several head widths.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k, one panel each.
    unscaled, scaled : numpy.ndarray, shape (n_widths, n_keys)
        Weights of the same keys in the same order.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> figure = collapse([4, 64], np.array([[0.6, 0.4], [1, 0]]), np.full((2, 2), 0.5))
    >>> len(figure.axes)
    2
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(widths), height=0.7 + 1.7 * len(widths), sharex=True, sharey=True)
    keys = np.arange(1, unscaled.shape[1] + 1)
    for axes, width, raw, divided in zip(panels, widths, unscaled, scaled, strict=True):
        style = {"width": 0.4, "edgecolor": "white", "linewidth": 0}
        for weights, arm, offset in ((raw, UNSCALED, -0.2), (divided, SCALED, 0.2)):
            bars = axes.bar(keys + offset, weights, color=arm["color"], label=arm["label"], **style)
            if arm is UNSCALED:
                for bar in bars:
                    bar.set_hatch("////")
        axes.annotate(
            f"$d_k = {width}$",
            (0.98, 0.9),
            xycoords="axes fraction",
            ha="right",
            va="top",
            fontsize=15,
        )
        axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1])
        axes.set_ylabel("weight", fontsize=13)
        axes.grid(visible=False, axis="x")
        axes.tick_params(labelsize=12)
    panels[0].legend(loc="upper center", fontsize=13)
    panels[-1].set(xticks=[], xlim=(0.3, keys[-1] + 0.7))
    panels[-1].set_xlabel("keys, ordered by score", fontsize=13)
    return figure


@_house_style
def attention_maps(unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw the attention weights of one head as two maps, without and with the division.

    Parameters
    ----------
    unscaled, scaled : numpy.ndarray, shape (n_queries, n_keys)
        Attention weights.

    Returns
    -------
    matplotlib.figure.Figure
        Darker means more weight; the largest weight of each row is written out in per cent.

    Examples
    --------
    >>> import numpy as np
    >>> figure = attention_maps(np.eye(2), np.full((2, 2), 0.5))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['not divided', 'divided by √dₖ']
    >>> plt.close(figure)
    """
    figure, panels = _panels(2, height=0.9 + 0.66 * len(unscaled), sharex=True)
    for axes, weights, arm in zip(panels, (unscaled, scaled), (UNSCALED, SCALED), strict=True):
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for row, column in enumerate(weights.argmax(axis=1)):
            largest = weights[row, column]
            axes.text(
                column,
                row,
                f"{100 * largest:.0f}",
                ha="center",
                va="center",
                fontsize=12.5,
                color="white" if largest > 0.55 else "black",
            )
        rows, columns = weights.shape
        axes.set_title(arm["label"], fontsize=14)
        axes.set_ylabel("query", fontsize=13)
        axes.set(yticks=range(rows), yticklabels=range(1, rows + 1))
        axes.set(xticks=range(columns), xticklabels=range(1, columns + 1))
        axes.tick_params(length=0)
        axes.grid(visible=False)
        # Thin white lines keep the cells apart where their colours are close.
        axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.2)
        axes.tick_params(which="minor", length=0)
    panels[-1].set_xlabel("key (largest weight of each row in per cent)", fontsize=13)
    return figure


@_house_style
def slide_or_squeeze(logits: np.ndarray, weights: np.ndarray, titles: Sequence[str]) -> Figure:
    """Draw what softmax is given and what it returns, after each of several treatments.

    Parameters
    ----------
    logits, weights : numpy.ndarray, shape (n_treatments, n_keys)
        The numbers softmax is given, and its weights.
    titles : sequence of str, length n_treatments
        What was done to the scores.

    Returns
    -------
    matplotlib.figure.Figure
        One panel a treatment: a stem for each key, at its logit, as high as its weight.

    Examples
    --------
    >>> import numpy as np
    >>> figure = slide_or_squeeze(np.array([[0.0, 1.0]]), np.array([[0.27, 0.73]]), ["as it is"])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(titles), height=0.6 + 1.75 * len(titles), sharex=True, sharey=True)
    arms = [UNSCALED] * (len(titles) - 1) + [SCALED]
    for axes, places, heights, title, arm in zip(
        panels, logits, weights, titles, arms, strict=True
    ):
        axes.vlines(places, 0, heights, color=arm["color"], linestyle=arm["linestyle"])
        axes.plot(places, heights, arm["marker"], color=arm["color"], markersize=7, clip_on=False)
        axes.axvline(0, color=PALETTE["faint"], linewidth=1, linestyle=":")
        axes.set_title(title, fontsize=14)
        axes.set(ylim=(0, 1.05), yticks=[0, 0.5, 1])
        axes.set_ylabel("weight", fontsize=13)
        axes.tick_params(labelsize=12)
    panels[-1].set_xlabel("number that softmax is given", fontsize=13)
    return figure


@_house_style
def product_grid(means: np.ndarray, errors: np.ndarray) -> Figure:
    """Draw the mean of every product of two terms as a square table.

    Parameters
    ----------
    means, errors : numpy.ndarray, shape (terms, terms)
        Mean product of term i with term j and its standard error.

    Returns
    -------
    matplotlib.figure.Figure
        Cells filled where a term meets itself, empty where two terms meet.

    Examples
    --------
    >>> import numpy as np
    >>> figure = product_grid(np.eye(3), np.full((3, 3), 0.01))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    terms = len(means)
    subscripts = "₁₂₃₄₅₆₇₈₉"[:terms]
    figure, (axes,) = _panels(height=4.2)
    for row in range(terms):
        for column in range(terms):
            own = row == column
            colour = PALETTE["scaled"] if own else "white"
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(plt.Rectangle(corner, 1, 1, facecolor=colour, edgecolor="#777777"))
            ink = "white" if own else "black"
            name = f"T{subscripts[row]}·T{subscripts[column]}"
            value = f"{means[row, column]:z.3f}".replace("-", "−")
            spread = f"± {errors[row, column]:.3f}"
            axes.text(column, row - 0.27, name, ha="center", va="center", color=ink, size=10)
            axes.text(column, row + 0.03, value, ha="center", va="center", color=ink, size=17)
            axes.text(column, row + 0.32, spread, ha="center", va="center", color=ink, size=10)
    ticks = range(terms)
    axes.set(xlim=(-0.5, terms - 0.5), ylim=(terms - 0.5, -0.5), xticks=ticks, yticks=ticks)
    axes.set_xticklabels([f"T{mark} = q{mark}k{mark}" for mark in subscripts])
    axes.set_yticklabels([f"T{mark}" for mark in subscripts])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


@_house_style
def variance_estimates(
    sample_sizes: np.ndarray, quantiles: np.ndarray, half_widths: np.ndarray
) -> Figure:
    """Draw how far estimates of a variance of 1 scatter, against the size of the sample.

    Parameters
    ----------
    sample_sizes : numpy.ndarray, shape (sizes,)
        Numbers of products that went into one estimate.
    quantiles : numpy.ndarray, shape (3, sizes)
        Lower end, median and upper end of the estimates.
    half_widths : numpy.ndarray, shape (sizes,)
        Half the width of the band that the standard error predicts.

    Returns
    -------
    matplotlib.figure.Figure
        One bar for each sample size, the predicted band as dashed lines, the truth as a line.

    Examples
    --------
    >>> import numpy as np
    >>> spread = np.array([[0.1, 0.8], [0.6, 1.0], [4.0, 1.2]])
    >>> figure = variance_estimates(np.array([4, 256]), spread, np.array([2.8, 0.3]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=3.8)
    low, middle, high = quantiles
    axes.axhline(1, color=PALETTE["theory"], linewidth=1, label="true variance")
    for sign, label in ((1, "predicted band"), (-1, None)):
        axes.plot(
            sample_sizes,
            1 + sign * half_widths,
            color=PALETTE["unscaled"],
            linestyle="--",
            label=label,
        )
    axes.errorbar(
        sample_sizes,
        middle,
        (middle - low, high - middle),
        color=PALETTE["scaled"],
        linestyle="none",
        marker="o",
        capsize=4,
        label="estimates: median and middle part",
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(sample_sizes, [f"{size}" for size in sample_sizes])
    axes.minorticks_off()
    axes.set(xlabel="products in one estimate", ylabel="estimated variance", ylim=(0, None))
    axes.legend(loc="upper right")
    return figure


@_house_style
def variance_against_width(
    widths: np.ndarray, variances: np.ndarray, half_widths: np.ndarray
) -> Figure:
    """Draw measured variances of q·k against the head width, with the band around the claim.

    Parameters
    ----------
    widths : numpy.ndarray, shape (widths,)
        Head widths.
    variances : numpy.ndarray, shape (widths,)
        Measured variance of the score at each width.
    half_widths : numpy.ndarray, shape (widths,)
        Half the width of the band around Var = d_k, in the units of the variance.

    Returns
    -------
    matplotlib.figure.Figure
        Above the variance on two logarithmic axes, below its ratio to the width.

    Examples
    --------
    >>> import numpy as np
    >>> widths = np.array([1, 64])
    >>> figure = variance_against_width(widths, widths * 1.01, widths * 0.02)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (above, below) = _panels(2, height=5.6, sharex=True)
    for axes, centre, scale in ((above, widths, 1), (below, np.ones(len(widths)), widths)):
        half = half_widths / scale
        axes.fill_between(
            widths,
            centre - half,
            centre + half,
            color=PALETTE["faint"],
            alpha=0.35,
            linewidth=0,
            label="expected by chance",
        )
        axes.plot(widths, centre, color=PALETTE["theory"], linewidth=1, label="Var = dₖ")
        axes.plot(
            widths,
            variances / scale,
            color=PALETTE["scaled"],
            linestyle="none",
            marker="o",
            label="measured",
        )
    above.set(xscale="log", yscale="log", ylabel="variance of q·k")
    above.set_xscale("log", base=2)
    above.set_yscale("log", base=2)
    shown = widths[::2]
    above.set_xticks(shown, [f"{width}" for width in shown], rotation=45)
    above.set_yticks(shown, [f"{width}" for width in shown])
    above.minorticks_off()
    below.tick_params(axis="x", labelrotation=45)
    below.set(xlabel="head width dₖ", ylabel="variance ÷ dₖ")
    above.legend(loc="upper left")
    return figure


@_house_style
def score_strips(widths: np.ndarray, scores: np.ndarray) -> Figure:
    """Draw raw scores as one strip of points for each head width.

    Parameters
    ----------
    widths : numpy.ndarray, shape (widths,)
        Head widths.
    scores : numpy.ndarray, shape (widths, draws)
        Raw scores drawn at each width.

    Returns
    -------
    matplotlib.figure.Figure
        Strips on equally spaced rows, each with its mean and one √dₖ to either side.

    Examples
    --------
    >>> import numpy as np
    >>> figure = score_strips(np.array([4, 64]), np.array([[1.0, -2.0], [9.0, -7.0]]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.0)
    draws = scores.shape[1]
    rows = np.arange(len(widths))
    # Heights that only keep the points apart follow a fixed pattern: they carry no data.
    offsets = 0.5 * ((np.arange(draws) * 0.618) % 1 - 0.5)
    for row, strip in zip(rows, scores, strict=True):
        axes.plot(
            strip,
            row + offsets,
            color=PALETTE["scaled"],
            linestyle="none",
            marker=".",
            markersize=4,
            alpha=0.5,
            label="one score" if row == 0 else None,
        )
    axes.plot(
        scores.mean(axis=1),
        rows,
        color="black",
        linestyle="none",
        marker="D",
        markersize=6,
        label="their mean",
    )
    for sign, label in ((1, "±√dₖ"), (-1, None)):
        axes.plot(
            sign * np.sqrt(widths),
            rows,
            color=PALETTE["unscaled"],
            linestyle="none",
            marker="|",
            markersize=26,
            markeredgewidth=2.5,
            label=label,
        )
    axes.set_yticks(rows, [f"dₖ = {width}" for width in widths])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="raw score q·k")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return figure


@_house_style
def score_densities(
    widths: np.ndarray,
    grid: np.ndarray,
    exact: np.ndarray,
    normal: np.ndarray,
    centres: np.ndarray,
    measured: np.ndarray,
) -> Figure:
    """Draw the exact density of a scaled score, its histogram and the normal density.

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
    centres : numpy.ndarray, shape (bins,)
        Centres of the histogram's bins.
    measured : numpy.ndarray, shape (widths, bins)
        Densities that the histogram found; empty bins hold NaN.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for each width, density on a logarithmic axis.

    Examples
    --------
    >>> import numpy as np
    >>> line, bins = np.array([[0.4, 0.2]]), np.array([[0.39, 0.21]])
    >>> points = np.array([0.0, 1.0])
    >>> figure = score_densities(np.array([64]), points, line, line[0], points, bins)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(widths), height=0.6 + 1.9 * len(widths), sharex=True, sharey=True)
    for axes, width, line, points in zip(panels, widths, exact, measured, strict=True):
        axes.plot(
            centres,
            points,
            color=PALETTE["scaled"],
            linestyle="none",
            marker="o",
            label="measured",
        )
        axes.plot(grid, line, color=PALETTE["theory"], linewidth=1.5, label="exact")
        axes.plot(grid, normal, color=PALETTE["unscaled"], linestyle="--", label="normal")
        axes.set_title(f"dₖ = {width}")
        axes.set_yscale("log")
        axes.set(ylabel="density", ylim=(3e-6, 3))
    panels[0].legend(loc="upper right")
    panels[-1].set(xlabel="score in standard deviations, q·k / √dₖ")
    return figure


@_house_style
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
        Number of keys of each curve; the first curve is the one emphasised.
    marks : sequence of (lead, weight, label)
        Points of the first curve to name.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 10, 5)
    >>> figure = one_lead(x, np.exp(x)[None] / (np.exp(x) + 3), [4], [(1.1, 0.5, "half")])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=3.8)
    styles = ["-", "--", "-.", ":"]
    colours = [PALETTE[name] for name in ("scaled", "unscaled", "third", "fourth")]
    for index, (curve, count) in enumerate(zip(weights, n_keys, strict=True)):
        axes.plot(
            leads,
            curve,
            color=colours[index % 4],
            linestyle=styles[index % 4],
            linewidth=2.6 if index == 0 else 1.8,
            label=f"n = {count}",
        )
    for lead, weight, label in marks:
        axes.plot(lead, weight, "o", color=PALETTE["theory"], zorder=5)
        # Near the top the other curves pass to the right of the point, so its name goes above it.
        offset = (0, 8) if weight > 0.9 else (9, -13)
        axes.annotate(
            label, (lead, weight), offset, textcoords="offset points", color=PALETTE["theory"]
        )
    axes.set(
        xlabel="lead x of one key over all others",
        ylabel="weight of that key",
        xlim=(leads[0], leads[-1]),
        ylim=(0, 1.12),
    )
    axes.legend(loc="lower right")
    return figure


@_house_style
def weights_by_width(
    widths: Sequence[int],
    n_keys: Sequence[int],
    scaled: np.ndarray,
    unscaled: np.ndarray,
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

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> means = np.full((2, 1, 3, 2), 0.5)
    >>> figure = weights_by_width([4, 16, 64], [128], means, 1.1 * means)
    >>> len(figure.axes)
    2
    >>> plt.close(figure)
    """
    figure, panels = _panels(2, height=6.4, sharex=True)
    middle = (len(widths) - 1) // 2
    for axes, raw, divided in zip(panels, unscaled, scaled, strict=True):
        for arm, means in ((UNSCALED, raw), (SCALED, divided)):
            for index, count in enumerate(n_keys):
                value, error = means[index].T
                axes.errorbar(
                    widths, value, 2 * error, **{**arm, "label": None if index else arm["label"]}
                )
                if arm is SCALED:
                    place, position = (widths[-1], value[-1]), {"xytext": (8, -3)}
                else:
                    # These curves run together at the right end, so each is named on its line.
                    left, right = value[middle : middle + 2]
                    height = (left + right) / 2 if axes is panels[0] else (left * right) ** 0.5
                    place = ((widths[middle] * widths[middle + 1]) ** 0.5, height)
                    position = {"xytext": (0, 0), "ha": "center", "va": "center"}
                    position["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
                axes.annotate(
                    f"n = {count}",
                    place,
                    textcoords="offset points",
                    color=arm["color"],
                    fontsize=10,
                    **position,
                )
        axes.set_xscale("log", base=2)
        axes.margins(x=0.03)
    panels[0].set(ylabel="mean largest weight", ylim=(0, 1))
    panels[0].legend(loc="upper left", bbox_to_anchor=(0, 0.97))
    panels[1].set(ylabel="mean effective positions", yscale="log", xlabel="head width $d_k$")
    panels[1].set_xticks(list(widths), [str(width) for width in widths])
    panels[1].minorticks_off()
    return figure


@_house_style
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

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> means = np.array([[0.1, 0.01], [0.7, 0.01]])
    >>> bound = np.array([[1, 8], [0, 0.6]])
    >>> figure = concentration(np.array([1.0, 8.0]), means, means, bound, 3.7)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=3.8)
    axes.errorbar(
        logit_stds,
        max_weight[:, 0],
        2 * max_weight[:, 1],
        color=PALETTE["unscaled"],
        marker="o",
        linestyle="--",
        label="largest weight, measured",
    )
    axes.errorbar(
        logit_stds,
        sum_of_squares[:, 0],
        2 * sum_of_squares[:, 1],
        color=PALETTE["third"],
        marker="^",
        linestyle="-.",
        label="sum of squares, measured",
    )
    axes.plot(*bound, color=PALETTE["theory"], label="proved lower bound")
    axes.axvline(threshold, color=PALETTE["faint"], linestyle=":")
    axes.annotate(
        "σ = √(2 ln n)",
        (threshold, 0.97),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        color=PALETTE["theory"],
    )
    axes.set(xlabel="standard deviation σ of the logits", ylabel="mean over rows", ylim=(0, 1))
    axes.legend(loc="lower right")
    return figure


@_house_style
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

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> means = np.array([[0.3, 0.8], [0.05, 0.7]])
    >>> widths, n_keys = np.array([1, 64]), np.array([16, 1024])
    >>> figure = freezing_map(widths, n_keys, means, 2 * np.log(n_keys))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.4)
    levels = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
    axes.contourf(widths, n_keys, max_weight, levels=levels, cmap="Blues", vmin=-0.1, vmax=1.4)
    lines = axes.contour(
        widths, n_keys, max_weight, levels=levels[1:-1], colors="black", linewidths=1
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.clabel(lines, fmt="%g", fontsize=10)
    axes.plot(threshold, n_keys, color=PALETTE["unscaled"], linestyle="--", linewidth=3)
    axes.annotate(
        "$d_k = 2\\,\\ln n$",
        (threshold[-1], n_keys[-1]),
        xytext=(6, -16),
        textcoords="offset points",
        color="black",
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": PALETTE["unscaled"], "pad": 2},
    )
    axes.set(
        xlabel="head width $d_k$ (scores not divided)",
        ylabel="number of keys n",
        title="mean largest weight",
        xlim=(widths[0], widths[-1]),
        ylim=(n_keys[0], n_keys[-1]),
    )
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_yticks(n_keys[1::2], [str(count) for count in n_keys[1::2]])
    axes.minorticks_off()
    axes.grid(visible=False)
    return figure


@_house_style
def jacobians(weights: np.ndarray, values: np.ndarray, titles: Sequence[str]) -> Figure:
    """Draw softmax Jacobians as heat maps, the value written in every cell.

    Parameters
    ----------
    weights : numpy.ndarray, shape (n_rows, n)
        The attention weights that each Jacobian belongs to.
    values : numpy.ndarray, shape (n_rows, n, n)
        The Jacobians.
    titles : sequence of str, length n_rows
        What kind of row each is.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> tie = np.array([[[0.25, -0.25], [-0.25, 0.25]]])
    >>> figure = jacobians(np.full((1, 2), 0.5), tie, ["tie"])
    >>> len(figure.axes)
    1
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(weights), height=2.45 * len(weights))
    for axes, row, matrix, title in zip(panels, weights, values, titles, strict=True):
        axes.imshow(matrix, cmap="PuOr", vmin=-0.3, vmax=0.3, aspect="auto")
        for (i, j), value in np.ndenumerate(matrix):
            axes.text(
                j,
                i,
                f"{round(value, 3) + 0:.3f}".replace("-", "−"),
                ha="center",
                va="center",
                color="white" if abs(value) > 0.15 else "black",
            )
        keys = range(len(row))
        axes.set(ylabel="weight i", title=f"{title}: p = [{', '.join(f'{p:.2f}' for p in row)}]")
        axes.set_xticks(keys, [f"score {j + 1}" for j in keys])
        axes.set_yticks(keys, [str(i + 1) for i in keys])
        axes.tick_params(length=0)
        axes.grid(visible=False)
    return figure


@_house_style
def jacobian_norms(
    logit_stds: np.ndarray, n_keys: Sequence[int], norms: np.ndarray, marks: np.ndarray
) -> Figure:
    """Draw the mean squared norm of the softmax Jacobian against the spread of the logits.

    Parameters
    ----------
    logit_stds : numpy.ndarray, shape (n_points,)
        Standard deviations of the logits, from 0 (the uniform row) up.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve.
    norms : numpy.ndarray, shape (n_curves, n_points, 2)
        Mean squared Frobenius norm and its standard error.
    marks : numpy.ndarray, shape (n_curves,)
        The grid point at which each curve is largest.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> curve = np.array([[[0.06, 0.0], [0.12, 0.01], [0.1, 0.01]]])
    >>> figure = jacobian_norms(np.array([0.0, 2.0, 4.0]), [16], curve, np.array([2.0]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.2)
    styles = [("scaled", "-", "s"), ("third", "-.", "^"), ("unscaled", "--", "o")]
    for count, curve, mark, (name, line, marker) in zip(n_keys, norms, marks, styles, strict=False):
        axes.errorbar(
            logit_stds,
            curve[:, 0],
            2 * curve[:, 1],
            color=PALETTE[name],
            linestyle=line,
            marker=marker,
            markersize=4,
            label=f"n = {count}",
        )
        peak = curve[logit_stds == mark, 0]
        axes.plot(mark, peak, "*", color=PALETTE["theory"], markersize=13, zorder=5)
    axes.plot([], [], "*", color=PALETTE["theory"], markersize=13, label="largest on the grid")
    axes.set(
        xlabel="standard deviation σ of the logits",
        ylabel="mean of ‖J‖²",
        ylim=(0, None),
    )
    axes.legend(loc="lower right")
    return figure


@_house_style
def gradient_quantiles(widths: Sequence[int], scaled: np.ndarray, unscaled: np.ndarray) -> Figure:
    """Draw how long the gradient on one query is, against head width, with and without division.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    scaled, unscaled : numpy.ndarray, shape (n_widths, 4)
        The 5 %, 50 % and 95 % quantiles over rows, and the root mean square.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.01, 0.1, 0.3, 0.2], [0.01, 0.1, 0.3, 0.2]])
    >>> figure = gradient_quantiles([4, 64], values, 2 * values)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.6)
    arms = ((UNSCALED, unscaled, "//", "^"), (SCALED, scaled, None, "v"))
    for arm, rows, hatch, rms_marker in arms:
        low, median, high, rms = rows.T
        axes.fill_between(
            widths, low, high, color=arm["color"], alpha=0.18, hatch=hatch, linewidth=0
        )
        axes.plot(widths, median, **{**arm, "label": f"{arm['label']}: median row"})
        axes.plot(
            widths,
            rms,
            color=arm["color"],
            linestyle=":",
            marker=rms_marker,
            label=f"{arm['label']}: root mean square",
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(list(widths), [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(
        xlabel="head width d_k",
        ylabel="length of the gradient on one query",
        ylim=(1e-5, 100),
    )
    axes.legend(loc="lower left", fontsize=10)
    return figure


@_house_style
def key_shares(scaled: np.ndarray, unscaled: np.ndarray) -> Figure:
    """Draw the share of a row's gradient that each key receives, largest first.

    Parameters
    ----------
    scaled, unscaled : numpy.ndarray, shape (3, n_keys)
        The 5 %, 50 % and 95 % quantiles over rows, for each rank.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[0.3, 0.1], [0.6, 0.4], [0.9, 0.5]])
    >>> figure = key_shares(shares, shares)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.2)
    rank = np.arange(1, scaled.shape[-1] + 1)
    for arm, (low, median, high), hatch in ((UNSCALED, unscaled, "//"), (SCALED, scaled, None)):
        axes.fill_between(rank, low, high, color=arm["color"], alpha=0.18, hatch=hatch, linewidth=0)
        axes.plot(rank, median, **{**arm, "marker": None})
    axes.axhline(1 / len(rank), color=PALETTE["faint"], linestyle=":")
    axes.annotate(
        "equal share",
        (1, 1 / len(rank)),
        xytext=(4, -14),
        textcoords="offset points",
        color=PALETTE["theory"],
        fontsize=10,
    )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="rank of the key, largest share first",
        ylabel="share of the row's gradient",
        xlim=(1, len(rank)),
        ylim=(1e-8, 1.5),
    )
    axes.legend(loc="lower left")
    return figure


@_house_style
def median_ratios(widths: Sequence[int], n_keys: Sequence[int], ratios: np.ndarray) -> Figure:
    """Draw the median row's gradient without division over that with it, against head width.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve.
    ratios : numpy.ndarray, shape (n_curves, n_widths, 2)
        Mean ratio over seeds and its standard error.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> figure = median_ratios([4, 64], [16], np.array([[[1.5, 0.1], [1.7, 0.1]]]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.4)
    names = ["unscaled", "fourth", "third", "scaled"]
    lines, markers = ["--", ":", "-.", "-"], ["o", "v", "^", "s"]
    for index, (count, curve) in enumerate(zip(n_keys, ratios, strict=True)):
        axes.errorbar(
            widths,
            curve[:, 0],
            2 * curve[:, 1],
            color=PALETTE[names[index % 4]],
            linestyle=lines[index % 4],
            marker=markers[index % 4],
            label=f"n = {count}",
        )
    axes.axhline(1, color=PALETTE["theory"], linewidth=1.2)
    axes.annotate(
        "equal",
        (widths[0], 1),
        xytext=(0, -14),
        textcoords="offset points",
        color=PALETTE["theory"],
        fontsize=10,
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(list(widths), [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(
        xlabel="head width d_k",
        ylabel="median row: not divided / divided",
        ylim=(1e-3, 100),
    )
    axes.legend(loc="lower left")
    return figure
