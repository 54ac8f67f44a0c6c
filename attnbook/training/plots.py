"""The plots of the chapter on training."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style

_RULES = [*style.LOOKS[:4], style.FIFTH | {"linestyle": (0, (1, 3))}]
"""Line properties of up to five scaling rules."""


@style.drawn("in the chapter on training")
def rate_curves(
    widths: Sequence[int],
    rates: np.ndarray,
    losses: np.ndarray,
    names: Sequence[str],
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw the loss at the end of training against the learning rate.

    Rates at which a run diverged have a cross at the top, whose height means nothing; the best
    rate has a large marker. The arms are named in the last panel.

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
        Losses to compare with and their names.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> losses = np.array([[[0.9, 0.8, np.inf], [0.9, 0.1, 0.01]]])
    >>> figure = plots.rate_curves([16], np.array([0.1, 0.2, 0.4]), losses, ["1", "1/√dₖ"], [])
    """
    height = 0.8 + 2.9 * len(widths)
    figure, panels = style.panels(len(widths), height=height, sharey=True)
    looks = style.distinct(_RULES, names, "names")
    cross = {"marker": "x", "ms": 7, "mew": 2, "linestyle": "none"}
    for axes, width, arms in zip(panels, widths, losses, strict=True):
        style.reference_lines(axes, references)
        for place, (name, curve, look) in enumerate(zip(names, arms, looks, strict=True)):
            reached = np.isfinite(curve)
            axes.plot(rates[reached], curve[reached], **(look | {"label": name}))
            best = int(curve.argmin())
            axes.plot(rates[best], curve[best], look["marker"], color=look["color"], ms=11)
            gone = rates[~reached]
            axes.plot(gone, np.full(gone.size, 4.0 * 2.0**place), color=look["color"], **cross)
        axes.set(title=f"dₖ = {width}", ylabel="loss at the end")
        axes.set(yscale="log", ylim=(3e-4, 40))
        axes.yaxis.set_major_formatter("{x:g}")
    style.log_ticks(panels[-1], rates[::2], base=10)
    panels[-1].set_xlabel("learning rate")
    last = panels[-1]
    spots = ((0, 10), "center"), ((-12, -14), "right"), ((10, -16), "left")
    for name, curve, look, (offset, beside) in zip(
        names, losses[-1], looks, itertools.chain(spots, itertools.repeat(spots[-1])), strict=False
    ):
        best = int(curve.argmin())
        style.name(last, name, look, (rates[best], curve[best]), offset, ha=beside)
    gone = ~np.isfinite(losses[-1]).all(axis=0)
    if gone.any():
        first = rates[gone][0], 4.0
        style.name(last, "diverged", style.THEORY, first, (-10, -4), ha="right")
    return figure


@style.drawn("in the chapter on training")
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
        Losses to compare with and their names; each becomes a line across the panels.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> steps, losses = np.array([0, 10, 100]), np.array([[[1.2, 0.9, 0.5], [1.1, 1.0, 0.6]]])
    >>> figure = plots.learning_curves([16], steps, 1.5 * losses, losses, [("predict zero", 1.0)])
    >>> len(figure.axes)
    1
    """
    figure, panels = style.panels(len(widths), height=0.6 + 3.1 * len(widths))
    for axes, width, raw, divided in zip(panels, widths, unscaled, scaled, strict=True):
        style.reference_lines(axes, references)
        for arm, losses in style.arms(raw, divided):
            thin = {"marker": None, "label": None, "linewidth": 0.7, "alpha": 0.7}
            axes.plot(steps, losses.T, **(arm | thin))
            axes.plot(steps, losses.mean(axis=0), **arm, linewidth=2.6)
        axes.set(title=f"dₖ = {width}", ylim=(-0.05, 1.7), ylabel="test loss")
        axes.grid(visible=False, axis="y")
    _step_axis(panels[-1], steps)
    for axes, raw in zip(panels, unscaled, strict=True):
        above = steps[1], raw[:, 1].mean()
        style.name(axes, "not divided", style.UNSCALED, above, (10, 14), fontweight="bold")
        below = {"ha": "right", "fontweight": "bold"}
        style.name(axes, "divided", style.SCALED, (steps[2], 0.14), **below)
    return figure


def _step_axis(axes: Axes, steps: np.ndarray) -> None:
    """Make the horizontal axis one of training steps, logarithmic after a linear start at 0."""
    axes.set_xscale("symlog", linthresh=float(steps[1]), linscale=0.6)
    axes.set_xticks(steps, [f"{step}" for step in steps])
    axes.minorticks_off()
    axes.set(xlabel="training steps", xlim=(-0.05 * steps[1], 1.1 * steps[-1]))


@style.drawn("in the chapter on training")
def trained_maps(
    steps: Sequence[int], unscaled: np.ndarray, scaled: np.ndarray, matches: np.ndarray
) -> Figure:
    """Draw how the attention weights of one query change while the model is trained.

    Darker means more weight; the largest weight of each row is written beside it in percent.

    Parameters
    ----------
    steps : sequence of int, length n_records
        Numbers of steps, one row of each map.
    unscaled, scaled : numpy.ndarray, shape (n_records, n_tokens)
        Weights of one query after so many steps, of both arms.
    matches : numpy.ndarray of bool, shape (n_tokens,)
        Which tokens the query should attend to, next to each other; they are framed.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> weights, matches = np.full((2, 4), 0.25), np.array([True, True, False, False])
    >>> figure = plots.trained_maps([0, 10], weights, weights, matches)
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['not divided', 'divided']
    """
    figure, panels = style.panels(2, height=1.4 + 0.62 * len(steps))
    places = np.flatnonzero(matches)
    for axes, (arm, weights) in zip(panels, style.arms(unscaled, scaled), strict=True):
        style.heat_map(axes, weights, style.MAPS[arm["color"]])
        frame = (places[0] - 0.5, -0.5), len(places), len(steps)
        line = {"edgecolor": style.PALETTE["theory"], "linewidth": 2, "clip_on": False}
        axes.add_patch(plt.Rectangle(*frame, fill=False, **line))
        style.largest_weights(axes, weights)
        style.title_of_arm(axes, arm)
        axes.set(ylabel="step", xticks=[])
        axes.set_yticks(range(len(steps)), [f"{step}" for step in steps])
    panels[0].set_title("largest in %", loc="right", fontsize=style.SMALL)
    above = {"ha": "center", "va": "bottom"}
    style.note(panels[-1], "right group", (places.mean(), -0.5), (0, 5), **above)
    panels[-1].set_xlabel("tokens")
    return figure


@style.drawn("in the chapter on training")
def gradients_over_training(steps: np.ndarray, unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw how long the gradients by single queries are while a model is trained.

    Parameters
    ----------
    steps : numpy.ndarray, shape (n_records,)
        Numbers of steps, rising from 0.
    unscaled, scaled : numpy.ndarray, shape (n_records, 5)
        The 5 %, 25 %, 50 %, 75 % and 95 % quantiles over test sequences, of both arms.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> values = np.array([[0.1, 0.5, 1, 2, 9], [0.01, 0.05, 0.1, 0.2, 0.9]])
    >>> figure = plots.gradients_over_training(np.array([0, 10]), 2 * values, values)
    """
    figure, (axes,) = style.panels(height=4.4)
    for arm, rows in style.arms(unscaled, scaled):
        style.band(axes, steps, rows.T[::2], arm)
    axes.set(yscale="log", ylim=(1e-7, 300), ylabel="length of the gradient")
    _step_axis(axes, steps)
    middle = len(steps) // 2
    for arm, rows, offset in ((style.UNSCALED, unscaled, -20), (style.SCALED, scaled, 12)):
        place = steps[middle], rows[middle, 2]
        style.name(axes, arm["label"], arm, place, (0, offset), ha="center", fontweight="bold")
    return figure


@style.drawn("in the chapter on training")
def losses_by_width(
    titles: Sequence[str],
    curves: Sequence[Sequence[tuple[str, Sequence[int], np.ndarray]]],
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw the loss after training against the head width, for several arms.

    Lines through the medians over the seeds; a small dot for each seed.

    Parameters
    ----------
    titles : sequence of str, length n_panels
        What each panel shows.
    curves : sequence of sequences of (str, sequence of int, numpy.ndarray)
        For each panel its arms, at most five: name, head widths, and losses of shape
        (n_widths, n_seeds). The first is the one without scaling, the second the usual one.
    references : sequence of (str, float)
        Losses to compare with and their names.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> curves = [[("not divided", [16, 64], np.array([[0.1, 0.2], [0.5, 0.6]]))]]
    >>> figure = plots.losses_by_width(["SGD"], curves, [("one-hot", 0.75)])
    """
    height = 0.8 + 3.2 * len(titles)
    figure, panels = style.panels(len(titles), height=height, sharey=True)
    for axes, title, panel in zip(panels, titles, curves, strict=True):
        for _, level in references:
            axes.axhline(level, linestyle=":", **style.THEORY)
        looks = style.distinct(_RULES, panel, "curves of a panel")
        for (name, widths, losses), look in zip(panel, looks, strict=True):
            axes.plot(widths, np.median(losses, axis=1), **(look | {"label": name}))
            for width, seeds in zip(widths, losses, strict=True):
                axes.plot(np.full(seeds.size, width), seeds, ".", color=look["color"], ms=3)
        axes.set(title=title, yscale="log", ylabel="loss after training")
    ticks = sorted({width for panel in curves for _, widths, _ in panel for width in widths})
    style.log_ticks(panels[-1], ticks)
    panels[-1].set_xlabel("head width dₖ")
    levels = [(text.replace("\n", " "), level, style.THEORY) for text, level in references]
    for axes, panel in zip(panels, curves, strict=True):
        ends = [
            (name, np.median(losses[-1]), look)
            for (name, _, losses), look in zip(panel, _RULES, strict=False)
        ]
        style.name_ends(axes, [*ends, *levels])
    return figure
