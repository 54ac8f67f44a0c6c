"""What plots share: colors, line properties, settings of Matplotlib, and parts drawn repeatedly.

Every series is told apart by more than its color: a line style, a marker or a label as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence, Sized
from functools import wraps
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnbook.tokens import COLORS

PALETTE = {
    "scaled": COLORS["divided"][0],
    "unscaled": COLORS["undivided"][0],
    "theory": "#333333",
    "third": COLORS["other"][0],
    "fourth": "#440055",
    "faint": "#999999",
}
"""Colors that stay apart under the common deficiencies of color vision: three of Okabe and Ito's
set, two grays, and a dark violet. ``tests/attnbook/test_colors.py`` simulates it."""

UNSCALED = {"color": PALETTE["unscaled"], "linestyle": "--", "marker": "o", "label": "not divided"}
"""Line properties of scores that are not divided, the same in every chapter."""
SCALED = {"color": PALETTE["scaled"], "linestyle": "-", "marker": "s", "label": "divided by √dₖ"}
"""Line properties of scores that are divided, the same in every chapter."""
THIRD = {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"}
FOURTH = {"color": PALETTE["fourth"], "linestyle": ":", "marker": "D"}
FIFTH = {"color": PALETTE["theory"], "linestyle": (0, (6, 1, 1, 1, 1, 1)), "marker": "v"}
LOOKS = [UNSCALED, SCALED, THIRD, FOURTH, FIFTH]
"""Line properties of up to five series, of which the first two are those of all chapters."""

CENTERED = {"ha": "center", "va": "center"}

_SETTINGS = {
    "figure.dpi": 160,
    "figure.constrained_layout.use": True,
    "figure.max_open_warning": 0,  # examples in docstrings leave their figures open
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


def drawn(where: str) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Make a plot of a function: it draws with the book's settings, and says on which page."""
    sections = ("Returns", "matplotlib.figure.Figure"), ("Notes", f"Drawn {where}.")
    said = "".join(f"{title}\n{'-' * len(title)}\n{text}\n\n" for title, text in sections)
    examples = "Examples\n--------\n"

    def plot(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def styled(*args: Any, **kwargs: Any) -> Figure:
            with plt.rc_context(_SETTINGS):
                return draw(*args, **kwargs)

        styled.__doc__ = (inspect.getdoc(draw) or "").replace(examples, said + examples)
        return styled

    return plot


def distinct(looks: Sequence[Any], series: Sized, name: str) -> Sequence[Any]:
    """Return one look for each series, or say that there are more than can be told apart."""
    if len(series) > len(looks):
        raise ValueError(f"{name} must have at most {len(looks)} entries; got {len(series)}")
    return looks[: len(series)]


def panels(
    rows: int = 1, *, height: float, sharex: bool = True, **kwargs: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels for a phone: one above the other, full width."""
    size = {"figsize": (_WIDTH, height), "squeeze": False}
    figure, axes = plt.subplots(rows, 1, sharex=sharex, **size, **kwargs)
    return figure, list(axes[:, 0])


def log_ticks(
    axes: Axes, x: Sequence[float] | None = None, y: Sequence[float] | None = None, base: int = 2
) -> None:
    """Make one or both axes logarithmic, with ticks at these values alone."""
    if x is not None:
        axes.set_xscale("log", base=base)
        axes.set_xticks(x, [f"{value:g}" for value in x])
    if y is not None:
        axes.set_yscale("log", base=base)
        axes.set_yticks(y, [f"{value:g}" for value in y])
    axes.minorticks_off()


def arms(unscaled: Any, scaled: Any) -> tuple[tuple[dict[str, Any], Any], ...]:
    """Return line properties and data of both arms, in the order in which they are drawn."""
    return (UNSCALED, unscaled), (SCALED, scaled)


def estimates(
    axes: Axes, x: Sequence[float], means: np.ndarray, look: dict[str, Any], **changes: Any
) -> None:
    """Draw means and two standard errors to either side; the last axis holds mean and error."""
    axes.errorbar(x, means[..., 0], 2 * means[..., 1], **(look | changes))


def band(
    axes: Axes, x: Sequence[float], quantiles: Sequence[np.ndarray], look: dict[str, Any]
) -> None:
    """Draw the middle one of three quantiles as a line, and a band between the outer ones."""
    low, median, high = quantiles
    hatch = "//" if look["color"] == UNSCALED["color"] else None
    axes.fill_between(x, low, high, color=look["color"], alpha=0.18, hatch=hatch, linewidth=0)
    axes.plot(x, median, **look)


def heat_map(
    axes: Axes, values: np.ndarray, cmap: str = "Blues", limits: tuple[float, float] = (0, 1)
) -> None:
    """Draw a matrix in colors, without grid and tick marks."""
    axes.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.tick_params(length=0)
    axes.grid(visible=False)


def contour_map(
    axes: Axes,
    widths: np.ndarray,
    n_keys: np.ndarray,
    values: np.ndarray,
    levels: Sequence[float],
    **colors: Any,
) -> Any:
    """Draw values over head width and number of keys; return the lines between the levels."""
    axes.contourf(widths, n_keys, values, levels=levels, **colors)
    lines = axes.contour(widths, n_keys, values, levels[1:-1], colors="black", linewidths=1)
    axes.set(xlim=(widths[0], widths[-1]), ylim=(n_keys[0], n_keys[-1]))
    axes.set_ylabel("number of keys n")
    axes.grid(visible=False)
    return lines


def freezing_line(axes: Axes, threshold: np.ndarray, n_keys: np.ndarray, color: str) -> None:
    """Draw the head widths at which rows over so many keys freeze."""
    axes.plot(threshold, n_keys, color=color, linestyle="--", linewidth=3)
    box = {"facecolor": "white", "edgecolor": color, "pad": 2}
    end = threshold[-1], n_keys[-1]
    note(axes, "$d_k = 2\\,\\ln n$", end, (6, -16), color="black", fontweight="bold", bbox=box)


def note(
    axes: Axes, text: str, xy: tuple[Any, Any], offset: tuple[float, float], **style: Any
) -> None:
    """Write a text so many points away from a place."""
    style = {"color": PALETTE["theory"], **style}
    axes.annotate(text, xy, xytext=offset, textcoords="offset points", **style)


def reference_lines(axes: Axes, references: Sequence[tuple[str, float]]) -> None:
    """Draw a level across the axes for each name, which is written at its right end."""
    for name, level in references:
        axes.axhline(level, color=PALETTE["theory"], linewidth=1, linestyle=":")
        place = {"xycoords": axes.get_yaxis_transform(), "va": "center", "fontsize": 10}
        note(axes, name, (1, level), (4, 0), color="black", **place)
