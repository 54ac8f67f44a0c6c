"""The plots of the chapter on temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on temperature")
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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> shares = np.array([[[0.3, 0.01], [0.6, 0.01], [0.9, 0.01]]])
    >>> figure = plots.temperatures(np.array([0.5, 1, 2]), [16], shares)
    """
    figure, (axes,) = style.panels(height=4.6)
    looks = style.distinct(style.NEUTRAL, n_keys, "n_keys")
    for curve, look in zip(shares, looks, strict=True):
        style.estimates(axes, ratios, curve, look)
    axes.axvline(1, linestyle=":", **style.THEORY)
    style.note(axes, "τ = √dₖ", (1, 0.02), (6, 0))
    style.log_ticks(axes, ratios[::2])
    axes.set(xlabel="temperature τ / √dₖ", ylabel="share of keys used", ylim=(0, 1.02))
    # The first curve has room above it, the last to its right, and others above their beginning.
    slope = len(ratios) // 3
    for place, offset, beside, count, curve, look in zip(
        [slope, *[0] * (len(n_keys) - 2), slope - 1],
        [(-8, 6), *[(12, 17)] * (len(n_keys) - 2), (9, -3)],
        ["right", *["left"] * (len(n_keys) - 1)],
        n_keys,
        shares,
        looks,
        strict=False,
    ):
        at = ratios[place], curve[place, 0]
        style.name(axes, f"n = {count}", look, at, offset, ha=beside)
    return figure


@style.drawn("in the chapter on temperature")
def growing_lengths(growth: np.ndarray, positions: Mapping[str, np.ndarray]) -> Figure:
    """Draw effective positions against the length of queries and keys, for several rules.

    Parameters
    ----------
    growth : numpy.ndarray, shape (n_steps,)
        What the length of every query and key is multiplied by.
    positions : mapping of str to numpy.ndarray of shape (n_steps, 2)
        For each rule, at most five, the mean and its standard error; the first is the rule
        without scaling, the second the usual one.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> rules = {"not divided": np.array([[3.0, 0.1], [1.2, 0.1]])}
    >>> figure = plots.growing_lengths(np.array([1, 2]), rules)
    """
    figure, (axes,) = style.panels(height=4.4)
    looks = style.distinct(style.LOOKS, positions, "positions")
    for means, look in zip(positions.values(), looks, strict=True):
        style.estimates(axes, growth, means, look)
    style.log_ticks(axes, growth, [1, 10, 100, 1000], base=10)
    axes.set(xlabel="length of q and k (times)", ylabel="mean effective positions")
    axes.set_ylim(0.8, 1200)
    ends = [means[-1, 0] for means in positions.values()]
    style.name_ends(axes, list(zip(positions, ends, looks, strict=True)))
    return figure


@style.drawn("in the chapter on temperature")
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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> held = {"perfect": np.full((2, 2, 2), 0.5), "half": np.full((2, 2, 2), 0.2)}
    >>> needed = np.array([0.5, 0.7])
    >>> figure = plots.matching_key(np.array([64, 256]), held, needed, 0.9 * needed)
    >>> len(figure.axes)
    2
    """
    figure, (above, below) = style.panels(2, height=7.2, height_ratios=[3, 2])
    rules = ("divided", style.SCALED), ("× log n", style.THIRD)
    hollow = {"markerfacecolor": "white", "linewidth": 1.2}
    matches = ("perfect match", {}), ("weaker match", hollow)
    for (match, changes), means in zip(matches, held.values(), strict=True):
        for column, (_, look) in enumerate(rules):
            style.estimates(above, n_keys, means[:, column], look, **changes)
        style.note(above, match, (n_keys[0], means[0, 1, 0]), (0, 12))
    above.set(ylabel="weight of the match", ylim=(0, 1.1))
    line = {"color": style.PALETTE["theory"], "linestyle": ":"}
    squares = {"color": style.PALETTE["theory"], "linestyle": "none", "marker": "s"}
    below.plot(n_keys, equal, **line)
    below.plot(n_keys, factors, **squares)
    below.set(ylabel="factor needed for ½", xlabel="number of keys n")
    below.set_ylim(0)
    style.log_ticks(below, n_keys, base=10)
    ends = [
        (rule, means[-1, column, 0], look)
        for means in held.values()
        for column, (rule, look) in enumerate(rules)
    ]
    style.name_ends(above, ends)
    middle = len(n_keys) // 2
    place = n_keys[middle], factors[middle]
    style.name(below, "random rivals,\nmeasured", squares, place, (-10, 6), ha="right")
    style.name(below, "equal rivals", line, (n_keys[middle], equal[middle]), (10, -14))
    return figure


@style.drawn("in the chapter on temperature")
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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> widths, n_keys = np.array([1, 64]), np.array([16, 1024])
    >>> fractions = np.array([[0.9, 0.1], [0.8, 0.005]])
    >>> figure = plots.lost_positions(widths, n_keys, fractions, 2 * np.log(n_keys))
    """
    figure, (axes,) = style.panels(height=4.6)
    levels = [-1.0, *-np.log10([0.5, 0.1, 0.01, 0.001]), 10.0]
    colors = {"cmap": style.MAPS[style.UNSCALED["color"]], "vmin": -1.2, "vmax": 11}
    lines = style.contour_map(axes, widths, n_keys, -np.log10(fractions), levels, **colors)
    style.log_ticks(axes, widths, n_keys[::2])
    axes.clabel(lines, fmt=lambda level: f"{10**-level:g}", fontsize=style.SMALL)
    style.freezing_line(axes, threshold, n_keys)
    axes.set_title("effective positions: not divided / divided")
    return figure
