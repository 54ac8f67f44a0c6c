"""The plot of the landing page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.plots import style


@style.drawn("on the landing page")
def collapse(widths: Sequence[int], unscaled: np.ndarray, scaled: np.ndarray) -> Figure:
    """Draw one row of attention weights, divided and not, for several head widths.

    Parameters
    ----------
    widths : sequence of int, length n_widths
        Head widths d_k, one panel each.
    unscaled, scaled : numpy.ndarray, shape (n_widths, n_keys)
        Weights of the same keys in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.collapse([4, 64], np.array([[0.6, 0.4], [1, 0]]), np.full((2, 2), 0.5))
    >>> len(figure.axes)
    2
    """
    height = 0.7 + 1.7 * len(widths)
    figure, panels = style.panels(len(widths), height=height, sharey=True)
    keys = np.arange(1, unscaled.shape[1] + 1)
    for axes, width, raw, divided in zip(panels, widths, unscaled, scaled, strict=True):
        bars = {"width": 0.4, "edgecolor": "white", "linewidth": 0}
        for arm, weights, offset, hatch in (
            (style.UNSCALED, raw, -0.2, "////"),
            (style.SCALED, divided, 0.2, None),
        ):
            color, label = arm["color"], arm["label"]
            axes.bar(keys + offset, weights, color=color, label=label, hatch=hatch, **bars)
        corner = {"xycoords": "axes fraction", "ha": "right", "va": "top"}
        axes.annotate(f"$d_k = {width}$", (0.98, 0.9), fontsize=15, **corner)
        axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1])
        axes.set_ylabel("weight", fontsize=13)
        axes.grid(visible=False, axis="x")
        axes.tick_params(labelsize=12)
    panels[0].legend(loc="upper center", fontsize=13)
    panels[-1].set(xticks=[], xlim=(0.3, keys[-1] + 0.7))
    panels[-1].set_xlabel("keys, ordered by score", fontsize=13)
    return figure
