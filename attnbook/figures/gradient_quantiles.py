"""The figure in which the lengths of gradients fan out, and their mean stays."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import HERE, LiveFigure, presets, slider

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
KEYS = (2, 4, 16, 64, 256, 1024)
RECEIVERS = {"query": "the query of a row", "key": "one key of a row"}
NAMES = ("not divided", "divided")
WIDE, HIGH = 600, 240
# The picture reaches from 10 to 1e-11; all lengths of the table are below 10.
TOP, DECADES = 1, 12
TICKS = (1, -2, -5, -8, -11)
# Names at the lines touch neither each other nor the axis below.
APART, LOWEST = 17, 230
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@cache
def table() -> dict[str, Any]:
    """Return what ``tools/gradient_table.py`` has drawn."""
    return json.loads((HERE / "gradient_quantiles.json").read_text("utf-8"))


def power(exponent: int) -> str:
    """Return a power of ten.

    Examples
    --------
    >>> power(-11)
    '10⁻¹¹'
    """
    return f"10{str(exponent).translate(SUPERSCRIPTS)}"


def reading_of(value: float, digits: int) -> str:
    """Return a number with so many digits, a small one with a power of ten.

    Examples
    --------
    >>> reading_of(0.00301, 3), reading_of(2.7e-16, 2)
    ('0.00301', '2.7·10⁻¹⁶')
    """
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    if int(exponent) < -3:
        return f"{mantissa}·{power(int(exponent))}"
    return f"{value:.{digits - 1 - int(exponent)}f}"


def place(width: int) -> float:
    """Return where a head width lies, from 0 to `WIDE`."""
    return WIDE * WIDTHS.index(width) / (len(WIDTHS) - 1)


def height(value: float) -> float:
    """Return where a length lies; the picture ends at `HIGH`, small lengths lie below it."""
    return HIGH * (TOP - math.log10(value)) / DECADES


def visible(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the points of a line down to where it leaves the picture.

    It leaves it once, between two points that the line joins, and the last point is there.
    """
    points = [(place(d_k), height(value)) for d_k, value in zip(WIDTHS, values, strict=True)]
    inside = [point for point in points if point[1] <= HIGH]
    if len(inside) < len(points):
        (x, y), (_, below) = points[len(inside) - 1 : len(inside) + 1]
        inside.append((x + WIDE / (len(WIDTHS) - 1) * (HIGH - y) / (below - y), HIGH))
    return inside


class GradientQuantiles(LiveFigure):
    """How long the gradient is that a query or one of its keys receives, against head width.

    The components of q and k and the cost of each key are independent standard normal
    numbers. A band holds eight in ten of the lengths, with their median and their mean as lines.

    Parameters
    ----------
    receiver : str
        Whose gradient it is: the ``"query"`` of a row, or one ``"key"`` of it.
    n_keys : int
        Number of keys of the row, one of 2, 4, 16, 64, 256, 1024.
    d_k : int
        Width of the head at which the words read, one of 1, 2, 4, ..., 1024.

    Examples
    --------
    >>> from attnbook.figures import GradientQuantiles
    >>> figure = GradientQuantiles(n_keys=16)
    >>> figure
    GradientQuantiles(receiver='key', n_keys=16, d_k=64)
    >>> figure.lengths.shape
    (2, 11, 4)
    >>> median, mean = figure.lengths[0, 6, [1, 3]]  # not divided, a width of 64
    >>> bool(median < 1e-5), bool(mean > 0.1)
    (True, True)

    Notes
    -----
    Shown in the chapter on gradients, which derives both lengths. The surprise: without the
    division the median falls and the mean stays. Drawn ahead with
    `attnlib.sample_query_gradients` and `attnlib.sample_key_gradients`, and kept in a table.
    """

    state = ("receiver", "n_keys", "d_k")
    receiver = traitlets.Enum(tuple(RECEIVERS), "key").tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 1024).tag(sync=True)
    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)

    @property
    def cells(self) -> np.ndarray:
        """The lengths, and ± of median and mean in percent, shape (2, 11, 6)."""
        arms = table()[self.receiver]
        return np.array([arms[name][KEYS.index(self.n_keys)] for name in NAMES])

    @property
    def lengths(self) -> np.ndarray:
        """The lengths on the screen, shape (2, 11, 4).

        First not divided and then divided; a row for each width; the quantiles of 10%, 50% and
        90%, and the mean.
        """
        return self.cells[..., :4]

    def controls(self) -> str:
        """Return the list of receivers, and sliders for keys and width."""
        receivers = {text: {"receiver": receiver} for receiver, text in RECEIVERS.items()}
        return (
            presets("Gradient on", receivers, self.values(), own=False)
            + slider("n_keys", "Keys", KEYS, self.n_keys)
            + slider("d_k", "Read at head width d<sub>k</sub>", WIDTHS, self.d_k)
        )

    def picture(self) -> str:
        """Return a band and two lines for each arm, their names, and the line that reads."""
        grid = "".join(f"M0 {svg.number(height(10.0**tick))}H{WIDE}" for tick in TICKS[1:-1])
        arms = "".join(
            f'<g class="{arm}">{self.drawn(lengths)}</g>'
            for arm, lengths in zip(svg.ARMS, self.lengths, strict=True)
        )
        here = svg.path("here", f"M{svg.number(place(self.d_k))} 0V{HIGH}")
        plot = f"{svg.path('grid', grid)}{svg.axes(WIDE, HIGH)}{here}{arms}"
        widths = svg.labels((svg.number(100 * place(d_k) / WIDE), d_k) for d_k in WIDTHS[::2])
        return (
            svg.upright("length of the gradient")
            + f'<div class="figure-fan">{svg.aside("figure-ticks", svg.spans(map(power, TICKS)))}'
            f'<div class="figure-plot">{svg.picture(plot, WIDE, HIGH, self.words())}'
            f"{svg.aside('figure-names', self.names())}</div>"
            f"{svg.aside('figure-places', widths)}</div>"
            + svg.caption("head width d<sub>k</sub>")
            + svg.remark("Shaded: eight in ten lengths; ↓: goes on below; ±: two standard errors.")
        )

    def drawn(self, lengths: np.ndarray) -> str:
        """Return band, median and mean of one arm, with marks, larger ones where the words are."""
        low, median, high, mean = map(visible, lengths.T)
        # a lower edge that has left the picture goes on along its bottom
        bottom = f"V{HIGH}" if len(low) < len(WIDTHS) or low[-1][1] == HIGH else ""
        both = [*median, *mean]
        return (
            svg.path("band", f"{svg.line(high)}{bottom}L{svg.line(low[::-1])[1:]}z")
            + svg.path("median", svg.line(median))
            + svg.path("mean", svg.line(mean))
            + svg.path("marks", svg.dots((x, y) for x, y in both if y < HIGH))
            + svg.path("reads", svg.dots((x, y) for x, y in both if x == place(self.d_k)))
        )

    def names(self) -> str:
        """Return the names at the ends of three lines; the lines end in this order, from above."""
        undivided, divided = self.lengths
        lines = (
            ("undivided", "<i>not divided: </i>mean", undivided[:, 3]),
            ("divided", "divided<i>: both</i>", divided[:, 1]),
            ("undivided", "<i>not divided: </i>median", undivided[:, 1]),
        )
        names, above = [], -math.inf
        for arm, name, values in lines:
            x, y = visible(values)[-1]
            arrow = " ↓" if y == HIGH else ""
            if x == WIDE:  # in one column with the others
                y = above = max(y, above + APART)
            names.append(
                f'<span class="{arm}" style="left:{svg.number(100 * x / WIDE)}%;'
                f'top:{svg.number(100 * min(y, LOWEST) / HIGH)}%">{name}<b>{arrow}</b></span>'
            )
        return "".join(names)

    def words(self) -> str:
        """Return median and mean without the division at the width chosen."""
        _, median, _, mean, around, about = self.cells[0, WIDTHS.index(self.d_k)]
        return (
            f"Not divided, width {self.d_k}: the median is {reading_of(median, 3)} ± {around:.0f}%,"
            f" the mean {reading_of(mean, 3)} ± {about:.0f}%."
        )
