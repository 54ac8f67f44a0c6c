"""The plots of the chapter on the puzzle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on the puzzle")
def attention_maps(unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw the attention weights of one head as two maps, without and with the division.

    Darker means more weight; the largest weight of each row is written beside it in percent.

    Parameters
    ----------
    unscaled, scaled : numpy.ndarray, shape (n_queries, n_keys)
        Attention weights.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.attention_maps(np.eye(2), np.full((2, 2), 0.5))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['not divided', 'divided']
    """
    figure, panels = style.panels(2, height=0.9 + 0.66 * len(unscaled))
    for axes, (arm, weights) in zip(panels, style.arms(unscaled, scaled), strict=True):
        style.heat_map(axes, weights, style.MAPS[arm["color"]])
        style.largest_weights(axes, weights)
        rows, columns = weights.shape
        style.title_of_arm(axes, arm)
        axes.set(yticks=range(rows), yticklabels=range(1, rows + 1), ylabel="query")
        axes.set(xticks=range(columns), xticklabels=range(1, columns + 1))
    panels[0].set_title("largest weight in %", loc="right", fontsize=style.SMALL)
    panels[-1].set_xlabel("key")
    return figure


@style.drawn("in the chapter on the puzzle")
def slide_or_squeeze(logits: np.ndarray, weights: np.ndarray, titles: Sequence[str]) -> Figure:
    """Draw what softmax is given and what it returns, after each of several treatments.

    One panel a treatment: a stem for each key, at its logit, as high as its weight.

    Parameters
    ----------
    logits, weights : numpy.ndarray, shape (n_treatments, n_keys)
        The numbers softmax is given, and its weights.
    titles : sequence of str, length n_treatments
        What was done to the scores; the division comes last.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> logits, weights = np.array([[0.0, 1.0]]), np.array([[0.27, 0.73]])
    >>> figure = plots.slide_or_squeeze(logits, weights, ["as it is"])
    """
    height = 0.6 + 1.75 * len(titles)
    figure, panels = style.panels(len(titles), height=height, sharey=True)
    arms = [style.UNSCALED] * (len(titles) - 1) + [style.SCALED]
    for axes, x, y, title, arm in zip(panels, logits, weights, titles, arms, strict=True):
        axes.vlines(x, 0, y, color=arm["color"], linestyle=arm["linestyle"])
        axes.plot(x, y, arm["marker"], color=arm["color"], ms=7, mec="white", clip_on=False)
        axes.axvline(0, color=style.PALETTE["faint"], linewidth=1, linestyle=":")
        axes.set_title(title, color=style.readable(arm["color"]))
        axes.set(ylim=(0, 1.05), yticks=[0, 0.5, 1], ylabel="weight")
    panels[-1].set_xlabel("input of softmax")
    return figure
