"""The plots of the chapter on the divisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.plots import style


@style.drawn("in the chapter on the divisor")
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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> arms = {"1": np.array([[9.0, 0.1], [1.5, 0.1]]), "√dₖ": np.array([[9.0, 0.1], [8.0, 0.1]])}
    >>> figure = plots.positions_by_divisor([1, 64], 16, arms)
    >>> [line.get_label() for line in figure.axes[0].lines][-1]
    'all 16 keys'
    """
    figure, (axes,) = style.panels(height=4.6)
    looks = style.distinct(style.LOOKS, positions, "positions")
    for (name, means), look in zip(positions.items(), looks, strict=True):
        style.estimates(axes, widths, means, look, label=name)
    axes.axhline(n_keys, color=style.PALETTE["faint"], linewidth=1, label=f"all {n_keys} keys")
    style.log_ticks(axes, widths)
    axes.set(xlabel="head width $d_k$", ylabel="mean effective positions", ylim=(0, 1.06 * n_keys))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.26), ncols=2)
    return figure


@style.drawn("in the chapter on the divisor")
def aligned_keys(
    widths: Sequence[int],
    matched: np.ndarray,
    others: np.ndarray,
    weights: np.ndarray,
    titles: Sequence[str],
) -> Figure:
    """Draw the logits and the weight of one aligned key among random ones, by head width.

    A panel of logits for each divisor, with bands of one standard deviation, and one of
    weights.

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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> logits = np.ones((2, 3, 2))
    >>> figure = plots.aligned_keys([4, 16, 64], logits, 0 * logits, logits / 2, ["√dₖ", "dₖ"])
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['logits, √dₖ', 'logits, dₖ', 'weight of the aligned key']
    """
    figure, panels = style.panels(3, height=8.4)
    *above, below = panels
    random = {
        "color": style.PALETTE["faint"],
        "linestyle": ":",
        "marker": "o",
        "label": "random key",
    }
    aligned = style.FOURTH | {"linestyle": "-", "label": "aligned key"}
    for axes, chosen, rest, title in zip(above, matched, others, titles, strict=True):
        for (mean, spread), look, hatch in ((rest.T, random, None), (chosen.T, aligned, "////")):
            band = {"color": look["color"], "alpha": 0.25, "hatch": hatch, "linewidth": 0}
            axes.fill_between(widths, mean - spread, mean + spread, **band)
            axes.plot(widths, mean, **look)
        axes.set(title=f"logits, {title}", ylabel="logit")
    for means, look, title in zip(weights, (style.SCALED, style.FIFTH), titles, strict=True):
        style.estimates(below, widths, means, look, label=title)
    below.set(title="weight of the aligned key", xlabel="head width $d_k$")
    below.set(ylabel="mean weight", ylim=(0, 1.02))
    style.log_ticks(below, widths)
    panels[0].legend(loc="upper left")
    below.legend(loc="upper left")
    return figure
