"""The figure in which a reader walks on the map of head widths and numbers of keys."""

from __future__ import annotations

import json

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, another_draw, slider, switch
from attnbook.drawing.draws import normals
from attnlib.saturation import freezing_width
from attnlib.softmax import effective_positions, softmax

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KEYS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
# Mean largest weight over 10,000 random rows that all cells share, one line for each number of
# keys and one column for each width: to two decimals, and to three where it is below a tenth.
NOT_DIVIDED = (
    (0.67, 0.74, 0.8, 0.86, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98),
    (0.45, 0.55, 0.65, 0.74, 0.82, 0.87, 0.91, 0.93, 0.95, 0.97),
    (0.3, 0.41, 0.53, 0.65, 0.75, 0.82, 0.87, 0.91, 0.94, 0.96),
    (0.21, 0.3, 0.43, 0.56, 0.68, 0.78, 0.84, 0.89, 0.92, 0.95),
    (0.14, 0.23, 0.35, 0.49, 0.63, 0.74, 0.82, 0.87, 0.91, 0.94),
    (0.098, 0.17, 0.28, 0.43, 0.58, 0.7, 0.79, 0.85, 0.9, 0.93),
    (0.067, 0.12, 0.22, 0.37, 0.54, 0.67, 0.77, 0.84, 0.89, 0.92),
    (0.047, 0.092, 0.18, 0.32, 0.49, 0.64, 0.75, 0.82, 0.88, 0.91),
    (0.032, 0.067, 0.14, 0.27, 0.45, 0.61, 0.73, 0.81, 0.87, 0.91),
    (0.023, 0.05, 0.11, 0.23, 0.41, 0.58, 0.71, 0.79, 0.86, 0.9),
    (0.016, 0.036, 0.085, 0.19, 0.37, 0.55, 0.69, 0.78, 0.85, 0.89),
    (0.011, 0.026, 0.066, 0.16, 0.34, 0.52, 0.67, 0.77, 0.84, 0.89),
)
DIVIDED = (
    (0.67, 0.69, 0.71, 0.71, 0.72, 0.72, 0.72, 0.72, 0.72, 0.72),
    (0.45, 0.48, 0.5, 0.51, 0.51, 0.51, 0.52, 0.52, 0.52, 0.52),
    (0.3, 0.33, 0.34, 0.35, 0.36, 0.36, 0.36, 0.36, 0.36, 0.36),
    (0.21, 0.23, 0.24, 0.24, 0.24, 0.25, 0.25, 0.25, 0.25, 0.25),
    (0.14, 0.15, 0.16, 0.16, 0.16, 0.16, 0.17, 0.17, 0.17, 0.17),
    (0.098, 0.1, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11),
    (0.067, 0.07, 0.07, 0.07, 0.069, 0.069, 0.069, 0.069, 0.069, 0.069),
    (0.047, 0.047, 0.045, 0.045, 0.044, 0.044, 0.044, 0.044, 0.043, 0.043),
    (0.032, 0.031, 0.029, 0.028, 0.027, 0.027, 0.027, 0.027, 0.027, 0.027),
    (0.023, 0.021, 0.019, 0.018, 0.017, 0.017, 0.016, 0.016, 0.016, 0.016),
    (0.016, 0.013, 0.012, 0.011, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01),
    (0.011, 0.009, 0.007, 0.007, 0.006, 0.006, 0.006, 0.006, 0.006, 0.006),
)
# The map: a square for each cell, full at a weight of one. The rows: bars cut into their top keys.
CELL, FULL = 40, 36
WIDE, HIGH = CELL * len(WIDTHS), CELL * len(KEYS)
ROWS, TOP, THICK, GAP = 5, 8, 26, 4
REGIONS = svg.name("alive", "many share", 0, 0) + svg.name("frozen", "few share", 100, 0)
REGIONS += svg.name("onset", "d<sub>k</sub> = 2 ln n", 46, 0)


class FreezingMap(LiveFigure):
    """The plane of head widths and numbers of keys, and five random rows at one of its points.

    Query and keys have independent standard normal components. A draw keeps its five queries and
    their keys while the other controls move: a wider head has the components of the narrower one
    and more, and more keys are added behind those that are there.

    Parameters
    ----------
    d_k : int
        Width of the head, one of 1, 2, 4, ..., 512.
    n_keys : int
        Number of keys, one of 2, 4, ..., 4096.
    divided : bool
        Whether the scores are divided by √d_k.
    draw : int
        Which five queries and which keys.

    Notes
    -----
    Shown in the chapter on saturation. The surprise: to undo a doubling of the width, the
    number of keys has to be squared. The map holds means over random rows, and its line is
    `attnlib.freezing_width`.

    Examples
    --------
    >>> from attnbook.figures import FreezingMap
    >>> figure = FreezingMap(d_k=64, n_keys=1024)
    >>> figure
    FreezingMap(d_k=64, n_keys=1024, divided=False, draw=87)
    >>> figure.weights.shape
    (5, 1024)
    >>> figure.mean_top
    0.71
    """

    state = ("d_k", "n_keys", "divided", "draw")
    d_k = traitlets.Enum(WIDTHS, 4).tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 8).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)
    draw = traitlets.Int(87, min=1, max=9999).tag(sync=True)

    @property
    def weights(self) -> np.ndarray:
        """The weights of the five rows, the largest of each row first, shape (5, n_keys)."""
        # Given the query, scores of independent normal keys are its length times normal numbers.
        queries = [normals(self.draw, 2 * row, self.d_k) for row in range(ROWS)]
        keys = [normals(self.draw, 2 * row + 1, self.n_keys) for row in range(ROWS)]
        scores = np.linalg.norm(queries, axis=1)[:, np.newaxis] * np.array(keys)
        p = softmax(scores / np.sqrt(self.d_k) if self.divided else scores)
        return np.sort(p, axis=1)[:, ::-1]

    @property
    def means(self) -> tuple[tuple[float, ...], ...]:
        """The map on the screen: the mean largest weight by number of keys and by width."""
        return DIVIDED if self.divided else NOT_DIVIDED

    @property
    def mean_top(self) -> float:
        """The mean largest weight of random rows at the point that is marked."""
        return self.means[KEYS.index(self.n_keys)][WIDTHS.index(self.d_k)]

    def controls(self) -> str:
        """Return sliders for width and keys, the switch, and the button for another draw."""
        return (
            slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + slider("n_keys", "Keys n", KEYS, self.n_keys)
            + switch("divided", "divide by √d<sub>k</sub>", self.divided)
            + another_draw()
        )

    def picture(self) -> str:
        """Return the map with its line and its mark, and beside it the five rows."""
        arm = svg.ARMS[self.divided]
        hidden = ' display="none"' if self.divided else ""
        x = svg.number(CELL * (WIDTHS.index(self.d_k) + 0.5))
        y = svg.number(HIGH - CELL * (KEYS.index(self.n_keys) + 0.5))
        frames = "".join(f"M0 {top(row)}h{WIDE}v{THICK}h{-WIDE}z" for row in range(ROWS))
        means = json.dumps([NOT_DIVIDED, DIVIDED], separators=(",", ":"))
        plane = (
            svg.path("beyond", beyond())
            + svg.path("grid", grid())
            + svg.path("bars", self.squares())
            + f'<g class="threshold"{hidden}>{outlined(threshold())}</g>'
            + f'<g class="mark" transform="translate({x} {y})">{outlined(MARK)}</g>'
        )
        tapped = f' data-tap="d_k n_keys" data-means="{means}"'
        drawn = svg.picture(plane, WIDE, HIGH, self.words(), arm, stretched=False, more=tapped)
        rows = svg.path("axis", frames) + svg.path("bars", self.cuts())
        return (
            '<div class="freezing-map"><div class="freezing-plane">'
            + svg.upright("number of keys n")
            + svg.aside("map-counts", svg.spans(reversed(KEYS)))
            + f'<div class="figure-plot">{drawn}{svg.aside("figure-names", REGIONS)}</div>'
            + svg.aside("map-widths", svg.spans(WIDTHS))
            + svg.caption("head width d<sub>k</sub>")
            + svg.remark("Area: mean weight of the top key; a full cell is all of the weight.")
            + '</div><div class="freezing-rows">'
            + svg.aside("map-heads", svg.spans(["five random rows", "effective positions"]))
            + svg.picture(rows, WIDE, CELL * ROWS, kind=arm)
            + svg.aside("figure-keys", svg.spans(self.positions()))
            + svg.remark("Each row: its weight, cut into the top eight keys; empty: all others.")
            + "</div></div>"
        )

    def squares(self) -> str:
        """Return a square for each cell of the map, with the mean largest weight as its area."""
        return "".join(
            square(CELL * (column + 0.5), HIGH - CELL * (row + 0.5), FULL * np.sqrt(mean))
            for row, means in enumerate(self.means)
            for column, mean in enumerate(means)
        )

    def cuts(self) -> str:
        """Return the top weights of each row side by side, with gaps between them."""
        pieces = []
        for row, weights in enumerate(WIDE * self.weights[:, :TOP]):
            starts = np.cumsum(weights) - weights
            for start, weight in zip(starts, weights, strict=True):
                long = svg.number(max(weight - GAP, weight / 2))
                pieces.append(
                    f"M{svg.number(start)} {top(row)}h{long}v{THICK}H{svg.number(start)}z"
                )
        return "".join(pieces)

    def positions(self) -> list[str]:
        """Return how many effective positions each row has, as they are read."""
        counts = effective_positions(self.weights)
        return [f"{count:.0f}" if count >= 100 else f"{count:.1f}" for count in counts]

    def words(self) -> str:
        """Return on which side of the line the point lies, and the mean largest weight."""
        side = "beyond" if self.d_k > freezing_width(self.n_keys) else "short of"
        undivided = f"not divided: {side} the line; top key"
        top = "divided: the top key takes" if self.divided else undivided
        return f"Width {self.d_k}, {self.n_keys} keys, {top} {self.mean_top:g} on average."


MARK = "M-16 0a16 16 0 1 0 32 0a16 16 0 1 0 -32 0M-24 0h8M24 0h-8M0 -24v8M0 24v-8"


def outlined(outline: str) -> str:
    """Return a line that is seen on any ground."""
    return f'{svg.path("halo", outline)}<path d="{outline}"/>'


def top(row: int) -> int:
    """Return where the bar of a row begins."""
    return CELL * row + (CELL - THICK) // 2


def square(x: float, y: float, side: float) -> str:
    """Return the outline of a square around a point."""
    left, long = svg.number(x - side / 2), svg.number(side)
    return f"M{left} {svg.number(y - side / 2)}h{long}v{long}H{left}z"


def grid() -> str:
    """Return the lines between the cells of the map."""
    across = "".join(f"M0 {CELL * place}H{WIDE}" for place in range(len(KEYS) + 1))
    return across + "".join(f"M{CELL * place} 0V{HIGH}" for place in range(len(WIDTHS) + 1))


def threshold() -> str:
    """Return the line of the freezing width, from two keys to the upper edge of the map."""
    counts = np.array([2, 3, *KEYS[1:], round(KEYS[-1] * np.sqrt(2))])
    x = CELL * (np.log2([freezing_width(int(n)) for n in counts]) + 0.5)
    y = HIGH - CELL * (np.log2(counts) - 0.5)
    return svg.line(zip(x, np.maximum(y, 0), strict=True))


def beyond() -> str:
    """Return the part of the map to the right of that line."""
    edge = threshold()
    start = edge[1:].split(" ", 1)[0]
    return f"{edge}H{WIDE}V{HIGH}H{start}z"
