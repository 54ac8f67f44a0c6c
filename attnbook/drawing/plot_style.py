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
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from attnbook.drawing.tokens import COLORS

PALETTE = {
    "scaled": COLORS["divided"][0],
    "unscaled": COLORS["undivided"][0],
    "theory": "#333333",
    "third": COLORS["other"][0],
    "fourth": "#000000",
    "faint": "#999999",
}
"""Colors that stay apart under the common deficiencies of color vision: three of Okabe and Ito's
set, two grays, and black. ``tests/attnbook/test_colors.py`` simulates it."""

UNSCALED = {"color": PALETTE["unscaled"], "linestyle": "--", "marker": "o", "label": "not divided"}
"""Line properties of scores that are not divided, the same in every chapter."""
SCALED = {"color": PALETTE["scaled"], "linestyle": "-", "marker": "s", "label": "divided"}
"""Line properties of scores that are divided, the same in every chapter."""
THIRD = {"color": PALETTE["third"], "linestyle": "-.", "marker": "^"}
FOURTH = {"color": PALETTE["fourth"], "linestyle": ":", "marker": "D"}
FIFTH = {"color": PALETTE["theory"], "linestyle": (0, (6, 1, 1, 1, 1, 1)), "marker": "v"}
LOOKS = [UNSCALED, SCALED, THIRD, FOURTH, FIFTH]
"""Line properties of up to five rules, of which the first two are those of all chapters."""

GRAYS = ("#222222", "#555555", "#777777", "#929292")
NEUTRAL = [
    {"color": color, "linestyle": line, "marker": marker}
    for color, line, marker in zip(GRAYS, ("-", "--", "-.", ":"), "os^D", strict=True)
]
"""Line properties of up to four series that are no rules, such as numbers of keys."""
THEORY = {"color": PALETTE["theory"], "linewidth": 1.2}
"""Line properties of what is exact, predicted or compared with."""
_WORDS = {
    PALETTE["unscaled"]: "#A94A00",
    PALETTE["third"]: "#007A59",
    **dict.fromkeys((PALETTE["faint"], *GRAYS[2:]), "#6B6B6B"),
}
MAPS = {
    PALETTE[name]: LinearSegmentedColormap.from_list(
        name, [(0, pale), (0.25, middle), (0.7, PALETTE[name]), (1, dark)]
    )
    for name, pale, middle, dark in (
        ("unscaled", "#FEF8F3", "#F2B184", "#702F00"),
        ("scaled", "#F4F9FC", "#8ABFE0", "#003C66"),
    )
}
"""Colors of weights between 0 and 1, in the hue of their arm."""
SMALL = 11
"""Size of the letters beside curves and ticks, in points; titles are larger."""
CENTERED = {"ha": "center", "va": "center"}

_HALO = [withStroke(linewidth=3, foreground="white")]
_SETTINGS = {
    "figure.dpi": 180,
    "figure.constrained_layout.use": True,
    "figure.max_open_warning": 0,  # examples in docstrings leave their figures open
    "font.size": SMALL,
    "text.color": PALETTE["theory"],
    "axes.labelcolor": PALETTE["theory"],
    "axes.edgecolor": "#777777",
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "hatch.color": "#ffffff",
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "legend.frameon": False,
} | {
    f"{axis}tick.{part}": value
    for axis in "xy"
    for part, value in (("color", "#777777"), ("labelcolor", "#333333"))
}
_WIDTH = 4.6


def drawn(where: str) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Make a plot of a function: it draws with the book's settings, and says on which page."""
    sections = ("Returns", "matplotlib.figure.Figure"), ("Notes", f"Drawn {where}.")
    said = "".join(f"{title}\n{'-' * len(title)}\n{text}\n\n" for title, text in sections)
    examples = "Examples\n--------\n"

    def plot(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def styled(*args: Any, **kwargs: Any) -> Figure:
            with plt.rc_context(_SETTINGS):
                figure = draw(*args, **kwargs)
                _turn_upright(figure)
                for text in figure.findobj(Text):
                    text.set_text(typeset(text.get_text()))
                return figure

        styled.__doc__ = (inspect.getdoc(draw) or "").replace(examples, said + examples)
        return styled

    return plot


def _turn_upright(figure: Figure) -> None:
    """Write the names of vertical axes above them, once for equal ones; maps keep theirs."""
    said = ""
    for axes in figure.axes:
        label = axes.yaxis.label
        if axes.images or not label.get_text():
            continue
        label.set_visible(False)
        if label.get_text() != said:
            said = label.get_text()
            note(axes, said, (0, 1), (0, 8), xycoords="axes fraction", annotation_clip=False)
            axes.set_title(axes.get_title(loc="left"), pad=12 + 1.25 * SMALL)


def typeset(text: str) -> str:
    r"""Set the head width and its root as in formulas.

    Examples
    --------
    >>> from attnbook.drawing import plot_style as style
    >>> style.typeset("divided by √dₖ")
    'divided by $\\sqrt{d_k}$'
    """
    return text.replace("√dₖ", "$\\sqrt{d_k}$").replace("dₖ", "$d_k$")


def distinct(looks: Sequence[Any], series: Sized, name: str) -> Sequence[Any]:
    """Return one look for each series, or say that there are more than can be told apart."""
    if len(series) > len(looks):
        raise ValueError(f"{name} must have at most {len(looks)} entries; got {len(series)}")
    return looks[: len(series)]


def panels(rows: int = 1, *, height: float, **kwargs: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels for a phone: one above the other, full width."""
    size = {"figsize": (_WIDTH, height), "squeeze": False}
    figure, axes = plt.subplots(rows, 1, sharex=True, **size, **kwargs)
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
    axes: Axes, values: np.ndarray, cmap: Any, limits: tuple[float, float] = (0, 1)
) -> None:
    """Draw a matrix in colors, without grid and tick marks; thin lines keep its cells apart."""
    axes.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    rows, columns = values.shape
    axes.set_xticks(np.arange(columns - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(rows - 1) + 0.5, minor=True)
    axes.grid(visible=False)
    axes.grid(visible=True, which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def largest_weights(axes: Axes, weights: np.ndarray) -> None:
    """Write the largest weight of each row in percent to the right of a map."""
    for row, largest in enumerate(weights.max(axis=1)):
        note(axes, f"{100 * largest:.0f}", (weights.shape[1] - 0.5, row), (4, 0), va="center")


def title_of_arm(axes: Axes, arm: dict[str, Any]) -> None:
    """Name the arm that a panel shows, in its color."""
    axes.set_title(arm["label"], color=readable(arm["color"]), fontweight="bold")


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
    lines = axes.contour(widths, n_keys, values, levels[1:-1], colors="#333333", linewidths=0.9)
    axes.set(xlim=(widths[0], widths[-1]), ylim=(n_keys[0], n_keys[-1]))
    axes.set(xlabel="head width dₖ", ylabel="number of keys n")
    axes.grid(visible=False)
    return lines


def freezing_line(axes: Axes, threshold: np.ndarray, n_keys: np.ndarray) -> None:
    """Draw the head widths at which rows over so many keys freeze, and name it."""
    line = {"color": "black", "linestyle": "--"}
    axes.plot(threshold, n_keys, linewidth=2.6, **line)
    name(axes, "dₖ = 2 ln n", line, (threshold[-1], n_keys[-1]), (6, -14))


def note(
    axes: Axes, text: str, xy: tuple[Any, Any], offset: tuple[float, float], **style: Any
) -> None:
    """Write a text so many points away from a place."""
    style = {"color": PALETTE["theory"], "fontsize": SMALL, **style}
    axes.annotate(text, xy, xytext=offset, textcoords="offset points", **style)


def readable(color: str) -> str:
    """Return the color that words have where a line has this one: darker, if need be."""
    return _WORDS.get(color, color)


def name(
    axes: Axes,
    text: str,
    look: dict[str, Any],
    xy: tuple[Any, Any],
    offset: tuple[float, float] = (0, 0),
    **style: Any,
) -> None:
    """Write the name of a series beside it and in its color."""
    style = {"color": readable(look["color"]), "path_effects": _HALO, **style}
    note(axes, text, xy, offset, **style)


def apart(heights: Sequence[float], gap: float) -> np.ndarray:
    """Move heights as little as it takes to bring each at least a gap above the one below.

    Examples
    --------
    >>> from attnbook.drawing import plot_style as style
    >>> style.apart([30, 10, 12], 10)
    array([30.,  6., 16.])
    """
    order = np.argsort(heights, kind="stable")
    groups: list[list[float]] = []  # of neighbors that push each other: their sum and number
    for place, index in enumerate(order):
        groups.append([heights[index] - place * gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    moved = np.concatenate([np.full(int(count), total / count) for total, count in groups])
    result = np.empty(len(order))
    result[order] = moved + gap * np.arange(len(order))
    return result


def name_ends(axes: Axes, names: Sequence[tuple[str, float, dict[str, Any]]]) -> None:
    """Write each series' name in its color to the right of the axes, at the height it ends at.

    Call it once for a panel, when all else is drawn: names that would overlap move apart.
    """
    axes.figure.draw_without_rendering()
    points = 72 / axes.figure.dpi
    edge = axes.get_xlim()[1]
    ends = [points * axes.transData.transform((edge, height))[1] for _, height, _ in names]
    gap = 1.25 * SMALL
    # above the ticks' labels
    least = points * axes.bbox.y0 + 4 + gap * np.argsort(np.argsort(ends))
    places = np.maximum(apart(ends, gap), least)
    for (text, height, look), end, place in zip(names, ends, places, strict=True):
        beside = {"xycoords": axes.get_yaxis_transform(), "va": "center", "annotation_clip": False}
        name(axes, text, look, (1, height), (6, place - end), **beside)


def reference_lines(axes: Axes, references: Sequence[tuple[str, float]]) -> None:
    """Draw a level across the axes for each name, which is written at its right end."""
    for text, level in references:
        axes.axhline(level, color=PALETTE["theory"], linewidth=1, linestyle=":")
        place = {"xycoords": axes.get_yaxis_transform(), "va": "center"}
        note(axes, text, (1, level), (6, 0), **place)
