"""The plots of the page on trained models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style

NONE_AT = 2**-4.5
"""Where a multiple of zero is drawn on a logarithmic axis."""


@style.drawn("on the page on trained models")
def quality_by_scale(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], label: str
) -> Figure:
    """Draw the quality of models whose logits are multiplied, a panel each.

    Parameters
    ----------
    curves : mapping of str to (numpy.ndarray, numpy.ndarray, numpy.ndarray), shape (n_multiples,)
        For each model the multiples of its trained logits, from zero to the one that takes the
        division away, the quality, and its standard errors.
    label : str
        The name of the quality.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> curve = np.array([0, 0.5, 1, 8]), np.array([0.1, 0.3, 0.4, 0.1]), np.full(4, 0.02)
    >>> figure = plots.quality_by_scale({"a model": curve}, "share right")
    """
    figure, panels = style.panels(len(curves), height=0.6 + 1.5 * len(curves))
    for axes, (title, (multiples, means, errors)) in zip(panels, curves.items(), strict=True):
        at = np.maximum(multiples, NONE_AT)
        points = np.column_stack([means, errors])
        trained, last = np.flatnonzero(multiples == 1), [len(at) - 1]
        style.estimates(axes, at, points, style.NEUTRAL[2], marker=None)
        for places, look in ((trained, style.SCALED), (last, style.UNSCALED)):
            style.estimates(axes, at[places], points[places], look | {"linestyle": "none"}, ms=7)
        axes.set(title=title, ylabel=label)
        axes.margins(y=0.15)
    multiples, means, _ = next(iter(curves.values()))
    for place, look, words, offset, beside in (
        (int(np.flatnonzero(multiples == 1)[0]), style.SCALED, "as trained", (0, 9), "center"),
        (len(multiples) - 1, style.UNSCALED, "not divided", (-9, -9), "right"),
    ):
        where = multiples[place], means[place]
        style.name(panels[0], words, look, where, offset, ha=beside)
    for axes in panels:
        style.log_ticks(axes, x=[NONE_AT, 2**-3, 2**-2, 2**-1, 1, 2, 4, 8])
        axes.set_xticklabels(["0", "1/8", "1/4", "1/2", "1", "2", "4", "8"])
    panels[-1].set_xlabel("times the trained logits")
    return figure


@style.drawn("on the page on trained models")
def spread_by_norms(heads: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Draw the spread of trained heads against what their norms would give.

    Parameters
    ----------
    heads : mapping of str to (numpy.ndarray, numpy.ndarray), shape (n_heads,)
        For each model the spread that independent directions would give, and the measured one.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> figure = plots.spread_by_norms({"a model": (np.array([0.5, 2]), np.array([0.6, 3]))})
    """
    figure, panels = style.panels(len(heads), height=0.6 + 1.6 * len(heads), sharey=True)
    ends = [
        min(law.min() for law, _ in heads.values()),
        max(spread.max() for _, spread in heads.values()),
    ]
    look = style.NEUTRAL[0] | {"linestyle": "none", "ms": 3, "mfc": "none"}
    for axes, (title, (law, spread)) in zip(panels, heads.items(), strict=True):
        axes.plot(ends, ends, **style.THEORY)
        axes.plot(law, spread, **look)
        style.log_ticks(axes, x=[0.5, 1, 2, 4, 8], y=[0.5, 2, 8])
        axes.set(title=title, ylabel="spread within a row")
    style.note(panels[0], "equal", (ends[1], ends[1]), (0, -18), ha="right")
    panels[-1].set_xlabel("spread by lengths alone")
    return figure
