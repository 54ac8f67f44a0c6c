"""The plots of the chapter on the divisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


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
        For each divisor, at most five, the mean and its standard error: no division, the usual
        divisor, two constants and the head width.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> arms = {"1": np.array([[9.0, 0.1], [1.5, 0.1]]), "√dₖ": np.array([[9.0, 0.1], [8.0, 0.1]])}
    >>> figure = plots.positions_by_divisor([1, 64], 16, arms)
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['1', 'all 16 keys']
    """
    figure, (axes,) = style.panels(height=4.6)
    rules = [style.UNSCALED, style.SCALED, *style.NEUTRAL[2:], style.THIRD]
    looks = style.distinct(rules, positions, "positions")
    axes.axhline(n_keys, **style.THEORY)
    for means, look in zip(positions.values(), looks, strict=True):
        style.estimates(axes, widths, means, look)
    style.log_ticks(axes, widths)
    axes.set(xlabel="head width dₖ", ylabel="mean effective positions", ylim=(0, 1.06 * n_keys))
    ends = [(f"all {n_keys} keys", n_keys, style.THEORY)]
    for (text, means), look in zip(positions.items(), looks, strict=True):
        if means[-1, 0] > n_keys / 4:
            ends.append((text, means[-1, 0], look))
            continue
        # curves that all end near one key have their names where they fall
        place = np.argmin(np.abs(means[:, 0] - n_keys / 4))
        point, text = (widths[place], means[place, 0]), text.replace(" ", "\n", 1)
        side = {"ha": "right"} if look is style.UNSCALED else {}
        style.name(axes, text, look, point, (-7 if side else 7, -3), **side)
    style.name_ends(axes, ends)
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
    >>> len(figure.axes)
    3
    """
    figure, panels = style.panels(3, height=8.4)
    *above, below = panels
    random = {"color": style.PALETTE["faint"], "linestyle": ":", "marker": "o"}
    rules = style.SCALED, style.THIRD
    for axes, rule, chosen, rest, title in zip(above, rules, matched, others, titles, strict=True):
        for (mean, spread), look in ((rest.T, random), (chosen.T, rule)):
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            axes.fill_between(widths, mean - spread, mean + spread, **band)
            axes.plot(widths, mean, **(look | {"label": None}))
        axes.set_title(title, color=style.readable(rule["color"]))
        axes.set_ylabel("logit")
    for means, look in zip(weights, rules, strict=True):
        style.estimates(below, widths, means, look)
    below.set(xlabel="head width dₖ", ylabel="aligned key's mean weight", ylim=(0, 1.02))
    style.log_ticks(below, widths)
    for axes, rule, chosen, rest in zip(above, rules, matched, others, strict=True):
        keys = ("aligned key", chosen[-1, 0], rule), ("random key", rest[-1, 0], random)
        style.name_ends(axes, keys)
    ends = weights[:, -1, 0]
    style.name_ends(below, list(zip(titles, ends, rules, strict=True)))
    return figure
