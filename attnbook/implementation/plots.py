"""The plots of the chapter on the implementation."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on implementation")
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

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> n = np.array([512, 1024])
    >>> figure = plots.memory_by_length(n, n**2, n * 64, np.array([n, n**2]))
    """
    figure, (axes,) = style.panels(height=4.2)
    tokens, size = weights
    dots = {"color": style.PALETTE["theory"], "linestyle": ":"}
    axes.plot(tokens, size / 1e6, linewidth=1.4, **dots)
    dense_look, blockwise_look = style.NEUTRAL[1], style.NEUTRAL[0]
    for taken, look in ((dense, dense_look), (blockwise, blockwise_look)):
        axes.plot(measured, taken / 1e6, **look)
    axes.set_yscale("log")
    style.log_ticks(axes, tokens[:: max(1, len(tokens) // 4)])
    megabytes = {1: "1 MB", 10: "10 MB", 100: "100 MB", 1e3: "1 GB", 1e4: "10 GB", 1e5: "100 GB"}
    axes.set_yticks(list(megabytes), list(megabytes.values()))
    axes.set(xlabel="tokens n", ylabel="most memory held")
    end = measured[-1]
    style.name(axes, "dense", dense_look, (end, dense[-1] / 1e6), (-8, 4), ha="right")
    style.name(axes, "blockwise", blockwise_look, (end, blockwise[-1] / 1e6), (8, -3))
    at = 3 * tokens.size // 4
    place = tokens[at], size[at] / 1e6
    style.name(axes, "matrix of weights alone", dots, place, (-6, 6), ha="right")
    return figure


@style.drawn("in the chapter on implementation")
def causal_tiles(visible: np.ndarray, skipped: np.ndarray) -> Figure:
    """Draw which tiles of a causal score matrix are computed, masked or never touched.

    One cell for each tile, with its fate in color and hatching; a word for each fate.

    Parameters
    ----------
    visible : numpy.ndarray, shape (n_row_blocks, n_column_blocks)
        Share of each tile's pairs in which the query may attend to the key.
    skipped : numpy.ndarray of bool, shape (n_row_blocks, n_column_blocks)
        Tiles that are never computed.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.causal_tiles(np.array([[0.5, 0], [1, 0.5]]), np.array([[False, True]] * 2))
    """
    figure, (axes,) = style.panels(height=5)
    fates = {
        "whole": {"facecolor": style.GRAYS[1], "edgecolor": "white"},
        "masked": {"facecolor": "#c8c8c8", "edgecolor": "white", "hatch": "///"},
        "skipped": {"facecolor": "#f4f4f4", "edgecolor": "white"},
    }
    kinds = np.where(skipped, "skipped", np.where(visible == 1, "whole", "masked"))
    for (row, column), fate in np.ndenumerate(kinds):
        corner = (column + 0.5, row + 0.5)
        axes.add_patch(plt.Rectangle(corner, 1, 1, linewidth=1.5, **fates[fate]))
    for fate, look in fates.items():
        if fate in kinds:
            row, column = np.argwhere(kinds == fate).mean(axis=0) + 1
            ink = "white" if fate == "whole" else style.PALETTE["theory"]
            ground = {"facecolor": look["facecolor"], "edgecolor": "none", "pad": 2}
            turn = {"rotation": -45, "rotation_mode": "anchor"} if fate == "masked" else {}
            axes.text(column, row, fate, color=ink, bbox=ground, **turn, **style.CENTERED)
    rows, columns = visible.shape
    axes.set(xlabel="block of keys", xlim=(0.5, columns + 0.5), xticks=range(1, columns + 1))
    axes.set(ylabel="block of queries", ylim=(rows + 0.5, 0.5), yticks=range(1, rows + 1))
    axes.set_aspect(columns / rows)  # as many keys as queries
    axes.grid(visible=False)
    return figure


@style.drawn("in the chapter on implementation")
def score_bounds(
    widths: np.ndarray, undivided: np.ndarray, divided: np.ndarray, limits: Mapping[str, float]
) -> Figure:
    """Draw the proved bound on all scores against head width, with what a number type allows.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Head widths d_k.
    undivided, divided : numpy.ndarray, shape (n_widths, n_draws)
        Longest query times longest key, and the same over √d_k. The line is the mean of the
        draws, the band reaches from the least to the greatest.
    limits : mapping of str to float
        The largest bound for which overflow is excluded, by the name of the number type.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> draws = np.array([[15.0, 17.0], [100.0, 110.0]])
    >>> divided = draws / [[2], [8]]
    >>> figure = plots.score_bounds(np.array([4, 64]), draws, divided, {"float32": 79.0})
    """
    figure, (axes,) = style.panels(height=4.6)
    for arm, draws in style.arms(undivided, divided):
        band = draws.min(axis=1), draws.max(axis=1)
        axes.fill_between(widths, *band, color=arm["color"], alpha=0.25, linewidth=0)
        axes.plot(widths, draws.mean(axis=1), **arm)
    for limit in limits.values():
        axes.axhline(limit, linestyle=":", **style.THEORY)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    style.log_ticks(axes, widths[::3], base=4)
    axes.set(xlabel="head width dₖ", ylabel="bound on all scores")
    ends = [(arm["label"], draws[-1].mean(), arm) for arm, draws in style.arms(undivided, divided)]
    levels = [(f"{name} limit", limit, style.THEORY) for name, limit in limits.items()]
    style.name_ends(axes, [*ends, *levels])
    return figure
