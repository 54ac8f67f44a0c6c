"""The book's static figures: one function each, given computed arrays, returning the Figure.

Every series is told apart by more than its color: a line style, a marker or a label as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
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
    "aligned_keys",
    "attention_maps",
    "causal_tiles",
    "collapse",
    "concentration",
    "freezing_map",
    "gradient_quantiles",
    "gradients_over_training",
    "growing_lengths",
    "jacobian_norms",
    "jacobians",
    "key_shares",
    "learning_curves",
    "losses_by_width",
    "lost_positions",
    "matching_key",
    "median_ratios",
    "memory_by_length",
    "one_lead",
    "positions_by_divisor",
    "product_grid",
    "rate_curves",
    "score_bounds",
    "score_densities",
    "score_strips",
    "slide_or_squeeze",
    "spread_by_model_width",
    "starting_variances",
    "temperatures",
    "time_ratios",
    "trained_maps",
    "variance_against_width",
    "variance_estimates",
    "weights_by_width",
    "within_row_variances",
]

PALETTE = {
    "scaled": "#0072B2",
    "unscaled": "#D55E00",
    "theory": "#333333",
    "third": "#009E73",
    "fourth": "#440055",
    "faint": "#999999",
}
"""Colors that stay apart under the common deficiencies of color vision: three of Okabe and Ito's
set, two grays, and a dark violet. ``tests/attnbook/test_colors.py`` simulates it."""

SCALED = {"color": PALETTE["scaled"], "linestyle": "-", "marker": "s", "label": "divided by √dₖ"}
"""Line properties of scores that are divided, the same in every chapter."""
UNSCALED = {"color": PALETTE["unscaled"], "linestyle": "--", "marker": "o", "label": "not divided"}
"""Line properties of scores that are not divided, the same in every chapter."""

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


def _distinct(looks: Iterable[Any], series: Sized, name: str) -> list[Any]:
    """Return one look for each series, or say that there are more than can be told apart."""
    known = list(looks)
    if len(series) > len(known):
        raise ValueError(f"{name} must have at most {len(known)} entries; got {len(series)}")
    return known[: len(series)]


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

    Notes
    -----
    Drawn on the landing page.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import collapse
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
        Darker means more weight; the largest weight of each row is written out in percent.

    Notes
    -----
    Drawn in the chapter on the puzzle.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import attention_maps
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
        # Thin white lines keep the cells apart where their colors are close.
        axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
        axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.2)
        axes.tick_params(which="minor", length=0)
    panels[-1].set_xlabel("key (largest weight of each row in percent)", fontsize=13)
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

    Notes
    -----
    Drawn in the chapter on the puzzle.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import slide_or_squeeze
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

    Notes
    -----
    Drawn in the chapter on variance.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import product_grid
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
            color = PALETTE["scaled"] if own else "white"
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(plt.Rectangle(corner, 1, 1, facecolor=color, edgecolor="#777777"))
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

    Notes
    -----
    Drawn in the chapter on variance.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import variance_estimates
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

    Notes
    -----
    Drawn in the chapter on variance.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import variance_against_width
    >>> widths = np.array([1, 64])
    >>> figure = variance_against_width(widths, widths * 1.01, widths * 0.02)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (above, below) = _panels(2, height=5.6, sharex=True)
    for axes, center, scale in ((above, widths, 1), (below, np.ones(len(widths)), widths)):
        half = half_widths / scale
        axes.fill_between(
            widths,
            center - half,
            center + half,
            color=PALETTE["faint"],
            alpha=0.35,
            linewidth=0,
            label="expected by chance",
        )
        axes.plot(widths, center, color=PALETTE["theory"], linewidth=1, label="Var = dₖ")
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

    Notes
    -----
    Drawn in the chapter on variance.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import score_strips
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
    centers: np.ndarray,
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
    centers : numpy.ndarray, shape (bins,)
        Centers of the histogram's bins.
    measured : numpy.ndarray, shape (widths, bins)
        Densities that the histogram found; empty bins hold NaN.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for each width, density on a logarithmic axis.

    Notes
    -----
    Drawn in the chapter on variance.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import score_densities
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
            centers,
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
        Number of keys of each curve; the first curve is the one emphasized.
    marks : sequence of (lead, weight, label)
        Points of the first curve to name.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on saturation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import one_lead
    >>> x = np.linspace(0, 10, 5)
    >>> figure = one_lead(x, np.exp(x)[None] / (np.exp(x) + 3), [4], [(1.1, 0.5, "half")])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=3.8)
    styles = ["-", "--", "-.", ":"]
    colors = [PALETTE[name] for name in ("scaled", "unscaled", "third", "fourth")]
    for index, (curve, count) in enumerate(zip(weights, n_keys, strict=True)):
        axes.plot(
            leads,
            curve,
            color=colors[index % 4],
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

    Notes
    -----
    Drawn in the chapter on saturation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import weights_by_width
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

    Notes
    -----
    Drawn in the chapter on saturation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import concentration
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

    Notes
    -----
    Drawn in the chapter on saturation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import freezing_map
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

    Notes
    -----
    Drawn in the chapter on gradients.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import jacobians
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

    Notes
    -----
    Drawn in the chapter on gradients.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import jacobian_norms
    >>> curve = np.array([[[0.06, 0.0], [0.12, 0.01], [0.1, 0.01]]])
    >>> figure = jacobian_norms(np.array([0.0, 2.0, 4.0]), [16], curve, np.array([2.0]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.2)
    styles = [("scaled", "-", "s"), ("third", "-.", "^"), ("unscaled", "--", "o")]
    styles = _distinct(styles, n_keys, "n_keys")
    for count, curve, mark, (name, line, marker) in zip(n_keys, norms, marks, styles, strict=True):
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

    Notes
    -----
    Drawn in the chapter on gradients.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import gradient_quantiles
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

    Notes
    -----
    Drawn in the chapter on gradients.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import key_shares
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

    Notes
    -----
    Drawn in the chapter on gradients.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import median_ratios
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


@_house_style
def time_ratios(
    titles: Sequence[str],
    cases: Sequence[Sequence[str]],
    names: Sequence[str],
    ratios: Sequence[Sequence[Sequence[float | None]]],
) -> Figure:
    """Draw how long several programs take for the same work, relative to one of them.

    Parameters
    ----------
    titles : sequence of str, length n_panels
        What is done in each panel.
    cases : sequence of sequences of str
        The sizes of each panel, from top to bottom.
    names : sequence of str, length n_names
        The programs.
    ratios : sequence, shape (n_panels, n_cases, n_names)
        Times relative to PyTorch's; None where a program was not measured.

    Returns
    -------
    matplotlib.figure.Figure
        A marker for each program in each case, on a logarithmic axis with a line at 1.

    Notes
    -----
    Drawn on the page on benchmarks.

    Examples
    --------
    >>> from attnbook.plotting import time_ratios
    >>> import matplotlib.pyplot as plt
    >>> figure = time_ratios(["forward"], [["short", "long"]], ["a", "b"], [[[1, 2], [0.5, None]]])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    rows = sum(len(sizes) for sizes in cases)
    heights = [len(sizes) + 0.8 for sizes in cases]
    figure, panels = _panels(
        len(titles),
        height=1.7 + 0.42 * rows + 0.3 * len(titles),
        sharex=True,
        height_ratios=heights,
    )
    colors = ["scaled", "third", "fourth", "unscaled", "faint", "theory"]
    markers = ["s", "D", "^", "o", "v", "|"]
    for axes, title, sizes, panel in zip(panels, titles, cases, ratios, strict=True):
        axes.axvline(1, color=PALETTE["theory"], linewidth=1.2)
        for index, name in enumerate(names):
            row_of = [row for row, values in enumerate(panel) if values[index] is not None]
            axes.plot(
                [panel[row][index] for row in row_of],
                row_of,
                color=PALETTE[colors[index % len(colors)]],
                linestyle="none",
                marker=markers[index % len(markers)],
                markersize=12 if markers[index % len(markers)] == "|" else 7,
                markeredgewidth=2,
                label=name,
            )
        axes.set_title(title)
        axes.set_yticks(range(len(sizes)), list(sizes))
        axes.set(ylim=(len(sizes) - 0.4, -0.6), xscale="log")
        axes.grid(visible=False, axis="y")
    ticks = [0.5, 1, 2, 4]
    panels[-1].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[-1].minorticks_off()
    panels[-1].set_xlabel("time ÷ PyTorch's time (left of the line: faster)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=10)
    return figure


@_house_style
def learning_curves(
    widths: Sequence[int],
    steps: np.ndarray,
    unscaled: np.ndarray,
    scaled: np.ndarray,
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw losses while models are trained, one thin line a seed and a thick one for their mean.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k, one panel each.
    steps : numpy.ndarray, shape (n_records,)
        Numbers of steps at which losses were measured, rising from 0.
    unscaled, scaled : numpy.ndarray, shape (n_widths, n_seeds, n_records)
        Losses of the runs of both arms.
    references : sequence of (str, float)
        Losses to compare with and what they stand for; each becomes a line across the panels.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on training.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import learning_curves
    >>> losses = np.array([[[1.2, 0.9, 0.5], [1.1, 1.0, 0.6]]])
    >>> steps = np.array([0, 10, 100])
    >>> figure = learning_curves([16], steps, 1.5 * losses, losses, [("predict zero", 1.0)])
    >>> len(figure.axes)
    1
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(widths), height=0.6 + 3.1 * len(widths), sharex=True)
    for axes, width, raw, divided in zip(panels, widths, unscaled, scaled, strict=True):
        for name, level in references:
            axes.axhline(level, color=PALETTE["theory"], linewidth=1, linestyle=":")
            axes.annotate(
                name,
                (steps[-1], level),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=10,
                annotation_clip=False,
            )
        for arm, losses in ((UNSCALED, raw), (SCALED, divided)):
            thin = {"color": arm["color"], "linestyle": arm["linestyle"], "linewidth": 0.7}
            axes.plot(steps, losses.T, alpha=0.7, **thin)
            axes.plot(steps, losses.mean(axis=0), **{**arm, "linewidth": 2.6})
        axes.set_title(f"$d_k = {width}$")
        axes.set(ylim=(-0.05, 1.7), ylabel="loss on test sequences")
        axes.grid(visible=False, axis="y")
    _step_axis(panels[-1], steps)
    panels[0].legend(loc="lower left", bbox_to_anchor=(0, 0.12))
    return figure


def _step_axis(axes: Axes, steps: np.ndarray) -> None:
    """Make the horizontal axis one of training steps, logarithmic after a linear start at 0."""
    axes.set_xscale("symlog", linthresh=float(steps[1]), linscale=0.6)
    axes.set_xticks(steps, [f"{step}" for step in steps])
    axes.minorticks_off()
    axes.set(xlabel="training steps", xlim=(0, steps[-1]))


@_house_style
def trained_maps(
    steps: Sequence[int], unscaled: np.ndarray, scaled: np.ndarray, matches: np.ndarray
) -> Figure:
    """Draw how the attention weights of one query change while the model is trained.

    Parameters
    ----------
    steps : sequence of int, length n_records
        Numbers of steps, one row of each map.
    unscaled, scaled : numpy.ndarray, shape (n_records, n_tokens)
        Weights of one query after so many steps, of both arms.
    matches : numpy.ndarray of bool, shape (n_tokens,)
        Which tokens the query should attend to, next to each other; they are framed.

    Returns
    -------
    matplotlib.figure.Figure
        Darker means more weight; the largest weight of each row is written beside it in percent.

    Notes
    -----
    Drawn in the chapter on training.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import trained_maps
    >>> weights = np.full((2, 4), 0.25)
    >>> figure = trained_maps([0, 10], weights, weights, np.array([True, True, False, False]))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['not divided', 'divided by √dₖ']
    >>> plt.close(figure)
    """
    figure, panels = _panels(2, height=1.4 + 0.62 * len(steps), sharex=True)
    places = np.flatnonzero(matches)
    for axes, weights, arm in zip(panels, (unscaled, scaled), (UNSCALED, SCALED), strict=True):
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        frame = (places[0] - 0.5, -0.5), len(places), len(steps)
        style = {"edgecolor": PALETTE["theory"], "linewidth": 2, "clip_on": False}
        axes.add_patch(plt.Rectangle(*frame, fill=False, **style))
        for row, largest in enumerate(weights.max(axis=1)):
            axes.text(
                matches.size - 0.2, row, f"{100 * largest:.0f}", ha="left", va="center", fontsize=11
            )
        axes.set_title(arm["label"])
        axes.set_ylabel("after … steps")
        axes.set(yticks=range(len(steps)), yticklabels=[f"{step}" for step in steps], xticks=[])
        axes.tick_params(length=0)
        axes.grid(visible=False)
    panels[-1].set_xlabel("tokens; frame: the right group; number: largest weight in percent")
    return figure


@_house_style
def gradients_over_training(steps: np.ndarray, unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw how long the gradients by single queries are while a model is trained.

    Parameters
    ----------
    steps : numpy.ndarray, shape (n_records,)
        Numbers of steps, rising from 0.
    unscaled, scaled : numpy.ndarray, shape (n_records, 5)
        The 5 %, 25 %, 50 %, 75 % and 95 % quantiles over test sequences, of both arms.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on training.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import gradients_over_training
    >>> values = np.array([[0.1, 0.5, 1, 2, 9], [0.01, 0.05, 0.1, 0.2, 0.9]])
    >>> figure = gradients_over_training(np.array([0, 10]), 2 * values, values)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.4)
    for arm, rows, hatch in ((UNSCALED, unscaled, "//"), (SCALED, scaled, None)):
        low, _, median, _, high = rows.T
        axes.fill_between(
            steps, low, high, color=arm["color"], alpha=0.18, hatch=hatch, linewidth=0
        )
        axes.plot(steps, median, **{**arm, "label": f"{arm['label']}: median sequence"})
    axes.set(yscale="log", ylim=(1e-7, 300), ylabel="length of the gradient on one query")
    _step_axis(axes, steps)
    axes.legend(loc="lower left", fontsize=10)
    return figure


_ARM_STYLES = (
    UNSCALED,
    SCALED,
    {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"},
    {"color": PALETTE["fourth"], "linestyle": ":", "marker": "D"},
    {"color": PALETTE["theory"], "linestyle": (0, (1, 3)), "marker": "v"},
)
"""Line properties of up to five arms; the first two are those of all chapters."""


@_house_style
def rate_curves(
    widths: Sequence[int],
    rates: np.ndarray,
    losses: np.ndarray,
    names: Sequence[str],
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw the loss at the end of training against the learning rate.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k, one panel each.
    rates : numpy.ndarray, shape (n_rates,)
        Learning rates.
    losses : numpy.ndarray, shape (n_widths, n_arms, n_rates)
        Losses at the end, infinity where a run diverged.
    names : sequence of str, length n_arms
        The arms, at most five; the first is the one without scaling, the second the usual one.
    references : sequence of (str, float)
        Losses to compare with and what they stand for.

    Returns
    -------
    matplotlib.figure.Figure
        Rates at which a run diverged have a cross at the top, which the legend names and whose
        height means nothing; the best rate has a large marker.

    Notes
    -----
    Drawn in the chapter on training.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import rate_curves
    >>> losses = np.array([[[0.9, 0.8, np.inf], [0.9, 0.1, 0.01]]])
    >>> figure = rate_curves([16], np.array([0.1, 0.2, 0.4]), losses, ["1", "1/√dₖ"], [])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(widths), height=0.8 + 2.9 * len(widths), sharex=True, sharey=True)
    for axes, width, arms in zip(panels, widths, losses, strict=True):
        for name, level in references:
            axes.axhline(level, color=PALETTE["theory"], linewidth=1, linestyle=":")
            place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 10}
            axes.text(1.01, level, name, **place)
        for place, (name, curve) in enumerate(zip(names, arms, strict=True)):
            style = _ARM_STYLES[place]
            reached = np.isfinite(curve)
            axes.plot(rates[reached], curve[reached], **{**style, "label": name})
            best = int(curve.argmin())
            axes.plot(rates[best], curve[best], style["marker"], color=style["color"], ms=11)
            height = 4.0 * 2.0**place
            gone = rates[~reached]
            axes.plot(gone, np.full(gone.size, height), "x", color=style["color"], ms=7, mew=2)
        axes.set_title(f"$d_k = {width}$")
        axes.set(xscale="log", yscale="log", ylim=(3e-4, 40), ylabel="loss at the end")
    panels[-1].set_xticks(rates[::2], [f"{rate:g}" for rate in rates[::2]])
    panels[-1].minorticks_off()
    panels[-1].set_xlabel("learning rate")
    if not np.isfinite(losses).all():  # nothing is drawn under this name but its legend
        cross = {"color": PALETTE["theory"], "ms": 7, "mew": 2, "linestyle": "none"}
        panels[-1].plot([], [], marker="x", **cross, label="diverged, no loss")
    panels[-1].legend(loc="lower left", fontsize=10)
    return figure


@_house_style
def losses_by_width(
    titles: Sequence[str],
    curves: Sequence[Sequence[tuple[str, Sequence[int], np.ndarray]]],
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw the loss after training against the head width, for several arms.

    Parameters
    ----------
    titles : sequence of str, length n_panels
        What each panel shows.
    curves : sequence of sequences of (str, sequence of int, numpy.ndarray)
        For each panel its arms, at most five: name, head widths, and losses of shape
        (n_widths, n_seeds). The first is the one without scaling, the second the usual one.
    references : sequence of (str, float)
        Losses to compare with and what they stand for.

    Returns
    -------
    matplotlib.figure.Figure
        Lines through the medians over the seeds; a small dot for each seed.

    Notes
    -----
    Drawn in the chapter on training.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import losses_by_width
    >>> curves = [[("not divided", [16, 64], np.array([[0.1, 0.2], [0.5, 0.6]]))]]
    >>> figure = losses_by_width(["SGD"], curves, [("one-hot", 0.75)])
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, panels = _panels(len(titles), height=0.8 + 3.2 * len(titles), sharex=True, sharey=True)
    ticks = sorted({width for panel in curves for _, widths, _ in panel for width in widths})
    for axes, title, panel in zip(panels, titles, curves, strict=True):
        for name, level in references:
            axes.axhline(level, color=PALETTE["theory"], linewidth=1, linestyle=":")
            place = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 10}
            axes.text(1.01, level, name, **place)
        for place, (name, widths, losses) in enumerate(panel):
            style = _ARM_STYLES[place]
            axes.plot(widths, np.median(losses, axis=1), **{**style, "label": name})
            for width, seeds in zip(widths, losses, strict=True):
                axes.plot(np.full(seeds.size, width), seeds, ".", color=style["color"], ms=3)
        axes.set_title(title)
        axes.set(yscale="log", ylabel="loss after training")
    panels[-1].set_xscale("log", base=2)
    panels[-1].set_xticks(ticks, [f"{tick}" for tick in ticks])
    panels[-1].minorticks_off()
    panels[-1].set_xlabel("head width d_k")
    fullest = max(panels, key=lambda axes: len(axes.get_legend_handles_labels()[1]))
    handles, labels = fullest.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=10)
    return figure


@_house_style
def temperatures(ratios: np.ndarray, n_keys: Sequence[int], shares: np.ndarray) -> Figure:
    """Draw the share of the keys that a row effectively uses, against the temperature.

    Parameters
    ----------
    ratios : numpy.ndarray, shape (n_ratios,)
        Temperatures in units of √d_k.
    n_keys : sequence of int, length n_curves
        Number of keys of each curve, at most four.
    shares : numpy.ndarray, shape (n_curves, n_ratios, 2)
        Mean of effective positions over n, and its standard error.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on temperature.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import temperatures
    >>> shares = np.stack([np.array([[0.3, 0.6, 0.9]]), np.zeros((1, 3))], axis=-1)
    >>> figure = temperatures(np.array([0.5, 1, 2]), [16], shares)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.0)
    looks = zip(
        [PALETTE[name] for name in ("scaled", "third", "fourth", "unscaled")],
        ["-", "--", "-.", ":"],
        ["s", "^", "D", "o"],
        strict=True,
    )
    looks = _distinct(looks, n_keys, "n_keys")
    for count, means, (color, line, marker) in zip(n_keys, shares, looks, strict=True):
        axes.errorbar(
            ratios,
            means[:, 0],
            2 * means[:, 1],
            color=color,
            linestyle=line,
            marker=marker,
            label=f"{count} keys",
        )
    axes.axvline(1, color=PALETTE["theory"], linewidth=1, linestyle=":")
    axes.annotate("τ = √dₖ", (1, 0.02), xytext=(6, 0), textcoords="offset points", fontsize=11)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ratios[::2], [f"{ratio:g}" for ratio in ratios[::2]])
    axes.minorticks_off()
    axes.set(
        xlabel="temperature τ / √dₖ",
        ylabel="effective positions / n",
        ylim=(0, 1.02),
    )
    axes.legend(loc="upper left")
    return figure


@_house_style
def growing_lengths(growth: np.ndarray, positions: Mapping[str, np.ndarray]) -> Figure:
    """Draw effective positions against the length of queries and keys, for several rules.

    Parameters
    ----------
    growth : numpy.ndarray, shape (n_steps,)
        What the length of every query and key is multiplied by.
    positions : mapping of str to numpy.ndarray of shape (n_steps, 2)
        For each rule, at most four, the mean and its standard error; the first is the rule
        without scaling, the second the usual one.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on temperature.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import growing_lengths
    >>> rules = {"not divided": np.array([[3.0, 0.1], [1.2, 0.1]])}
    >>> figure = growing_lengths(np.array([1, 2]), rules)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.4)
    looks = [
        UNSCALED,
        SCALED,
        {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"},
        {"color": PALETTE["fourth"], "linestyle": ":", "marker": "D"},
    ]
    looks = _distinct(looks, positions, "positions")
    for (name, means), look in zip(positions.items(), looks, strict=True):
        axes.errorbar(growth, means[:, 0], 2 * means[:, 1], **{**look, "label": name})
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(growth, [f"{step:g}" for step in growth])
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set(
        xlabel="length of every query and key, times",
        ylabel="mean effective positions",
        ylim=(0.9, 1200),
    )
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


@_house_style
def matching_key(
    n_keys: np.ndarray, held: Mapping[str, np.ndarray], factors: np.ndarray, equal: np.ndarray
) -> Figure:
    """Draw what a matching key holds as keys are added, and the factor it would need.

    Parameters
    ----------
    n_keys : numpy.ndarray, shape (n_counts,)
        Numbers of keys.
    held : mapping of str to numpy.ndarray of shape (n_counts, 2, 2)
        Mean weight and its standard error (last axis) under plain division and with the log n
        factor (middle axis), for a perfect match and then for a weaker one.
    factors : numpy.ndarray, shape (n_counts,)
        Factor on the divided logits that gives the perfect match half of the weight.
    equal : numpy.ndarray, shape (n_counts,)
        The same if all its rivals had equal scores.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on temperature.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import matching_key
    >>> held = {"perfect": np.full((2, 2, 2), 0.5), "half": np.full((2, 2, 2), 0.2)}
    >>> needed = np.array([0.5, 0.7])
    >>> figure = matching_key(np.array([64, 256]), held, needed, 0.9 * needed)
    >>> len(figure.axes)
    2
    >>> plt.close(figure)
    """
    figure, (above, below) = _panels(
        2, height=7.2, sharex=True, gridspec_kw={"height_ratios": [3, 2]}
    )
    longer = {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"}
    for match, means in held.items():
        filled = match == next(iter(held))
        for column, (look, rule) in enumerate([(SCALED, "divided"), (longer, "divided, × log n")]):
            style = {**look, "label": f"{rule}; {'perfect' if filled else 'weaker'} match"}
            if not filled:
                style |= {"markerfacecolor": "white", "linewidth": 1.2}
            above.errorbar(n_keys, means[:, column, 0], 2 * means[:, column, 1], **style)
    above.set(ylabel="mean weight of the match", ylim=(0, 1.02))
    above.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=10)
    below.plot(n_keys, equal, ":", color=PALETTE["theory"], label="equal rivals")
    below.plot(n_keys, factors, "s", color=PALETTE["scaled"], label="random rivals, measured")
    below.legend(loc="upper left")
    below.set(ylabel="factor needed for ½", xlabel="number of keys n", xscale="log")
    below.set_ylim(0)
    below.set_xticks(n_keys, [str(count) for count in n_keys])
    below.minorticks_off()
    return figure


@_house_style
def lost_positions(
    widths: np.ndarray, n_keys: np.ndarray, fractions: np.ndarray, threshold: np.ndarray
) -> Figure:
    """Draw what is left of the effective positions without the division, as a map.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Head widths d_k.
    n_keys : numpy.ndarray, shape (n_counts,)
        Numbers of keys.
    fractions : numpy.ndarray, shape (n_counts, n_widths)
        Effective positions not divided over divided, positive.
    threshold : numpy.ndarray, shape (n_counts,)
        Head width at which undivided rows over each number of keys freeze.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on temperature.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import lost_positions
    >>> widths, n_keys = np.array([1, 64]), np.array([16, 1024])
    >>> fractions = np.array([[0.9, 0.1], [0.8, 0.005]])
    >>> figure = lost_positions(widths, n_keys, fractions, 2 * np.log(n_keys))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.6)
    marks = [0.001, 0.01, 0.1, 0.5]
    depth = -np.log10(fractions)
    levels = [-1.0, *(-np.log10(mark) for mark in reversed(marks)), 10.0]
    axes.contourf(widths, n_keys, depth, levels=levels, cmap="Oranges", vmin=-1.2, vmax=6.5)
    lines = axes.contour(widths, n_keys, depth, levels=levels[1:-1], colors="black", linewidths=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.clabel(lines, fmt=lambda level: f"{10**-level:g}", fontsize=11)
    axes.plot(threshold, n_keys, color=PALETTE["theory"], linestyle="--", linewidth=3)
    axes.annotate(
        "$d_k = 2\\,\\ln n$",
        (threshold[-1], n_keys[-1]),
        xytext=(6, -16),
        textcoords="offset points",
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": PALETTE["theory"], "pad": 2},
    )
    axes.set(
        xlabel="head width $d_k$",
        ylabel="number of keys n",
        title="effective positions, not divided / divided",
        xlim=(widths[0], widths[-1]),
        ylim=(n_keys[0], n_keys[-1]),
    )
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_yticks(n_keys[::2], [str(count) for count in n_keys[::2]])
    axes.minorticks_off()
    return figure


@_house_style
def causal_tiles(visible: np.ndarray, skipped: np.ndarray) -> Figure:
    """Draw which tiles of a causal score matrix are computed, masked or never touched.

    Parameters
    ----------
    visible : numpy.ndarray, shape (n_row_blocks, n_column_blocks)
        Share of each tile's pairs in which the query may attend to the key.
    skipped : numpy.ndarray of bool, shape (n_row_blocks, n_column_blocks)
        Tiles that are never computed.

    Returns
    -------
    matplotlib.figure.Figure
        One cell for each tile, with its fate in color, hatching and a word.

    Notes
    -----
    Drawn in the chapter on implementation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import causal_tiles
    >>> figure = causal_tiles(np.array([[0.5, 0], [1, 0.5]]), np.array([[False, True]] * 2))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=6.2)
    fates = {
        "whole": {"facecolor": PALETTE["scaled"], "edgecolor": "white"},
        "masked": {"facecolor": "#bcd8ea", "edgecolor": PALETTE["scaled"], "hatch": "///"},
        "skipped": {"facecolor": "#f2f2f2", "edgecolor": "white"},
    }
    for (row, column), share in np.ndenumerate(visible):
        fate = "skipped" if skipped[row, column] else "whole" if share == 1 else "masked"
        corner = (column + 0.5, row + 0.5)
        axes.add_patch(plt.Rectangle(corner, 1, 1, linewidth=1.5, **fates[fate]))
        axes.annotate(
            fate,
            (column + 1, row + 1),
            ha="center",
            va="center",
            fontsize=10,
            color="white" if fate == "whole" else PALETTE["theory"],
            bbox={"facecolor": "white", "edgecolor": "none"} if fate == "masked" else None,
        )
    rows, columns = visible.shape
    axes.set(
        xlim=(0.5, columns + 0.5),
        ylim=(rows + 0.5, 0.5),
        xlabel="block of keys",
        ylabel="block of queries",
        aspect="equal",
    )
    axes.set_xticks(range(1, columns + 1))
    axes.set_yticks(range(1, rows + 1))
    axes.grid(visible=False)
    return figure


@_house_style
def memory_by_length(
    measured: np.ndarray, dense: np.ndarray, blockwise: np.ndarray, weights: np.ndarray
) -> Figure:
    """Draw the memory that attention takes against the length of the sequence.

    Parameters
    ----------
    measured : numpy.ndarray, shape (n_points,)
        Numbers of tokens at which memory was measured.
    dense, blockwise : numpy.ndarray, shape (n_points,)
        Most bytes held at a time by each of the two programs.
    weights : numpy.ndarray, shape (2, n_fine)
        Numbers of tokens, and the bytes of the matrix of weights alone.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on implementation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import memory_by_length
    >>> points = np.array([512, 1024])
    >>> figure = memory_by_length(points, points**2, points * 64, np.array([points, points**2]))
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.2)
    axes.plot(
        weights[0],
        weights[1] / 1e6,
        color=PALETTE["theory"],
        linestyle=":",
        label="the matrix of weights alone",
    )
    for taken, arm, name in ((dense, UNSCALED, "dense"), (blockwise, SCALED, "blockwise")):
        line = {key: arm[key] for key in ("color", "linestyle", "marker")}
        axes.plot(measured, taken / 1e6, label=f"{name}, measured", **line)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = weights[0][:: max(1, len(weights[0]) // 6)]
    axes.set_xticks(ticks, [f"{int(tick)}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="tokens n", ylabel="most memory held (MB)")
    axes.legend(loc="upper left")
    return figure


@_house_style
def score_bounds(
    widths: np.ndarray,
    undivided: np.ndarray,
    divided: np.ndarray,
    limits: dict[str, float],
) -> Figure:
    """Draw the proved bound on all scores against head width, with what a number type allows.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Head widths d_k.
    undivided, divided : numpy.ndarray, shape (n_widths, n_draws)
        Longest query times longest key, and the same over √d_k. The line is the mean of the
        draws, the band reaches from the least to the greatest.
    limits : dict of str to float
        The largest bound for which overflow is excluded, by the name of the number type.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on implementation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import score_bounds
    >>> widths = np.array([4, 64])
    >>> draws = np.array([[15.0, 17.0], [100.0, 110.0]])
    >>> figure = score_bounds(widths, draws, draws / [[2], [8]], {"float32": 79.0})
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.6)
    for draws, arm in ((undivided, UNSCALED), (divided, SCALED)):
        band = draws.min(axis=1), draws.max(axis=1)
        axes.fill_between(widths, *band, color=arm["color"], alpha=0.25, linewidth=0)
        axes.plot(widths, draws.mean(axis=1), **arm)
    for name, limit in limits.items():
        axes.axhline(limit, color=PALETTE["theory"], linestyle=":", linewidth=1.4)
        axes.annotate(
            f"limit in {name}",
            (widths[0], limit),
            xytext=(0, 4),
            textcoords="offset points",
            color=PALETTE["theory"],
            fontsize=10,
        )
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    axes.set_xticks(widths[::2], [str(width) for width in widths[::2]])
    axes.minorticks_off()
    axes.set(xlabel="head width d_k", ylabel="no score can exceed")
    axes.legend(loc="upper left")
    return figure


@_house_style
def starting_variances(
    names: Sequence[str], predicted: np.ndarray, measured: np.ndarray, errors: np.ndarray
) -> Figure:
    """Draw the variance of the logits at the start of training, one line an initializer.

    Parameters
    ----------
    names : sequence of str, length n_rows
        What each line is about, from the top.
    predicted, measured, errors : numpy.ndarray, shape (n_rows,)
        Predicted and measured variances, and the standard errors of the measured ones.

    Returns
    -------
    matplotlib.figure.Figure
        Each line's name above its marks; the vertical line is unit variance.

    Notes
    -----
    Drawn in the chapter on initialization.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import starting_variances
    >>> quarter = np.array([0.25])
    >>> figure = starting_variances(["a module"], quarter, quarter, quarter / 100)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=1.3 + 0.6 * len(names))
    rows = np.arange(len(names))
    axes.axvline(1, color=PALETTE["theory"], linewidth=1.2, linestyle=":")
    axes.plot(
        predicted,
        rows,
        color=PALETTE["unscaled"],
        linestyle="none",
        marker="D",
        markersize=11,
        markerfacecolor="none",
        markeredgewidth=1.6,
        label="predicted",
    )
    axes.errorbar(
        measured,
        rows,
        xerr=2 * errors,
        color=PALETTE["scaled"],
        linestyle="none",
        marker="o",
        markersize=5,
        label="measured",
    )
    for row, name in enumerate(names):
        axes.annotate(
            name,
            (0, row),
            xycoords=("axes fraction", "data"),
            xytext=(4, 15),
            textcoords="offset points",
            va="center",
            fontsize=12,
        )
    axes.set_xscale("log")
    low, high = min(predicted.min(), 1), max(predicted.max(), 1)
    axes.set(
        xlabel="variance of the logits (log scale)",
        xlim=(low / 2.5, high * 2.5),
        ylim=(len(names) - 0.4, -0.9),
        yticks=[],
    )
    axes.set_title("initializer", loc="left", fontsize=12.5)
    axes.xaxis.label.set_fontsize(13)
    axes.tick_params(labelsize=12)
    figure.legend(loc="outside upper center", ncols=2, fontsize=12.5)
    return figure


@_house_style
def spread_by_model_width(
    widths: np.ndarray, curves: Mapping[str, np.ndarray], measured: Mapping[str, np.ndarray]
) -> Figure:
    """Draw the spread of the logits at the start of training against the model width.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Model widths.
    curves : mapping of str to numpy.ndarray of shape (n_widths,), at most four
        Predicted standard deviations of the logits by rule.
    measured : mapping of str to numpy.ndarray of shape (3, n_points)
        For some of the rules: widths, measured standard deviations and their standard errors.

    Returns
    -------
    matplotlib.figure.Figure
        Both axes logarithmic.

    Notes
    -----
    Drawn in the chapter on initialization.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import spread_by_model_width
    >>> widths = np.array([64, 4096])
    >>> found = np.array([[64], [1.01], [0.01]])
    >>> figure = spread_by_model_width(widths, {"unit": np.ones(2)}, {"unit": found})
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.6)
    looks = zip(
        [PALETTE[name] for name in ("unscaled", "scaled", "third", "fourth")],
        ["--", "-", "-.", ":"],
        ["o", "s", "^", "D"],
        strict=True,
    )
    looks = _distinct(looks, curves, "curves")
    for (name, curve), (color, line, marker) in zip(curves.items(), looks, strict=True):
        axes.plot(widths, curve, color=color, linestyle=line)
        if name in measured:
            places, found, errors = measured[name]
            axes.errorbar(places, found, 2 * errors, color=color, linestyle="none", marker=marker)
        # A rising line would cross a label above its left end.
        place, offset = (1, (12, -8)) if curve[-1] > 2 * curve[0] else (0, (2, 6))
        axes.annotate(
            name,
            (widths[place], curve[place]),
            xytext=offset,
            textcoords="offset points",
            color=color,
            fontsize=12,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    shown = widths[::2]
    axes.set_xticks(shown, [f"{width}" for width in shown])
    ticks = [0.03, 0.1, 0.3, 1, 3]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="model width d_model", ylabel="standard deviation of the logits")
    axes.tick_params(labelsize=12)
    return figure


@_house_style
def within_row_variances(cosines: np.ndarray, total: np.ndarray, within: np.ndarray) -> Figure:
    """Draw the variance of the logits, and its part within a row, against the tokens' cosine.

    Parameters
    ----------
    cosines : numpy.ndarray, shape (n_cosines,)
        Average cosine between two tokens.
    total, within : numpy.ndarray, shape (n_cosines, 3)
        Predicted variance, measured variance and its standard error.

    Returns
    -------
    matplotlib.figure.Figure
        Lines are predictions, markers measurements with two standard errors to either side.

    Notes
    -----
    Drawn in the chapter on initialization.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import within_row_variances
    >>> ones, rest = np.array([[1, 1.01, 0.02]] * 2), np.array([[1, 0.99, 0.01], [0.5, 0.51, 0.01]])
    >>> figure = within_row_variances(np.array([0, 0.5]), ones, rest)
    >>> type(figure).__name__
    'Figure'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.0)
    looks = (
        (total, PALETTE["unscaled"], "--", "o", "over everything"),
        (within, PALETTE["scaled"], "-", "s", "within a row: what softmax sees"),
    )
    for values, color, line, marker, label in looks:
        expected, found, errors = values.T
        axes.plot(cosines, expected, color=color, linestyle=line, linewidth=1.5)
        axes.errorbar(
            cosines,
            found,
            2 * errors,
            color=color,
            linestyle="none",
            marker=marker,
            label=label,
        )
    highest = (total[:, 1] + 2 * total[:, 2]).max()
    axes.set(
        xlabel="average cosine between tokens, r",
        ylabel="variance of the logits",
        ylim=(0, 1.25 * max(highest, 1)),
    )
    axes.tick_params(labelsize=12)
    axes.legend(loc="upper left", fontsize=12)
    return figure


@_house_style
def positions_by_divisor(
    widths: Sequence[int], n_keys: int, positions: Mapping[str, np.ndarray]
) -> Figure:
    """Draw effective positions of random rows against head width, for several divisors.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    n_keys : int
        Number of keys of a row, drawn as the upper limit.
    positions : mapping of str to numpy.ndarray of shape (n_widths, 2)
        For each divisor, at most five, the mean and its standard error. The first is the arm
        without a division, the second the usual divisor.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Drawn in the chapter on the divisor.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import positions_by_divisor
    >>> arms = {"1": np.array([[9.0, 0.1], [1.5, 0.1]]), "√dₖ": np.array([[9.0, 0.1], [8.0, 0.1]])}
    >>> figure = positions_by_divisor([1, 64], 16, arms)
    >>> [line.get_label() for line in figure.axes[0].lines][-1]
    'all 16 keys'
    >>> plt.close(figure)
    """
    figure, (axes,) = _panels(height=4.6)
    looks = [
        UNSCALED,
        SCALED,
        {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"},
        {"color": PALETTE["fourth"], "linestyle": ":", "marker": "D"},
        {"color": PALETTE["theory"], "linestyle": (0, (6, 1, 1, 1, 1, 1)), "marker": "v"},
    ]
    looks = _distinct(looks, positions, "positions")
    for (name, means), look in zip(positions.items(), looks, strict=True):
        axes.errorbar(widths, means[:, 0], 2 * means[:, 1], **{**look, "label": name})
    axes.axhline(n_keys, color=PALETTE["faint"], linewidth=1, label=f"all {n_keys} keys")
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(widths), [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(xlabel="head width $d_k$", ylabel="mean effective positions", ylim=(0, 1.06 * n_keys))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.26), ncols=2)
    return figure


@_house_style
def aligned_keys(
    widths: Sequence[int],
    matched: np.ndarray,
    others: np.ndarray,
    weights: np.ndarray,
    titles: Sequence[str],
) -> Figure:
    """Draw the logits and the weight of one aligned key among random ones, by head width.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k.
    matched, others : numpy.ndarray, shape (n_divisors, n_widths, 2)
        Mean and standard deviation (last axis) of the aligned key's logit, and of a random
        key's.
    weights : numpy.ndarray, shape (n_divisors, n_widths, 2)
        Mean weight of the aligned key and its standard error.
    titles : sequence of str, length n_divisors
        Names of the divisors, two of them; the first is the usual one.

    Returns
    -------
    matplotlib.figure.Figure
        A panel of logits for each divisor, with bands of one standard deviation, and one of
        weights.

    Notes
    -----
    Drawn in the chapter on the divisor.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from attnbook.plotting import aligned_keys
    >>> logits = np.ones((2, 3, 2))
    >>> figure = aligned_keys([4, 16, 64], logits, 0 * logits, logits / 2, ["√dₖ", "dₖ"])
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['logits, √dₖ', 'logits, dₖ', 'weight of the aligned key']
    >>> plt.close(figure)
    """
    figure, panels = _panels(3, height=8.4, sharex=True)
    look = {"color": PALETTE["theory"], "linestyle": (0, (6, 1, 1, 1, 1, 1)), "marker": "v"}
    arms = [SCALED, look]
    for axes, chosen, rest, title in zip(panels, matched, others, titles, strict=False):
        for (mean, spread), color, line, marker, hatch, name in (
            (rest.T, PALETTE["faint"], ":", "o", None, "random key"),
            (chosen.T, PALETTE["fourth"], "-", "D", "////", "aligned key"),
        ):
            axes.fill_between(
                widths, mean - spread, mean + spread, alpha=0.25, color=color, hatch=hatch, lw=0
            )
            axes.plot(widths, mean, color=color, linestyle=line, marker=marker, label=name)
        axes.set_title(f"logits, {title}")
        axes.set(ylabel="logit")
    for means, arm, title in zip(weights, arms, titles, strict=True):
        panels[-1].errorbar(widths, means[:, 0], 2 * means[:, 1], **{**arm, "label": title})
    panels[-1].set_title("weight of the aligned key")
    panels[-1].set(ylabel="mean weight", ylim=(0, 1.02), xlabel="head width $d_k$")
    panels[-1].set_xscale("log", base=2)
    panels[-1].set_xticks(list(widths), [str(width) for width in widths])
    panels[-1].minorticks_off()
    panels[0].legend(loc="upper left")
    panels[-1].legend(loc="upper left")
    return figure
