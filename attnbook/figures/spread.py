"""The figure in which the scores of random pairs spread as the head gets wider."""

from __future__ import annotations

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, another_draw, slider, switch
from attnbook.drawing.draws import normals, uniforms
from attnlib.scores import score_moments, score_pdf

WIDTHS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512)
PAIRS = (10, 30, 100, 300, 1000)
# So many terms of the sum are kept apart, for the squares.
TERMS = 4
WIDE, HIGH, TOP = 640, 200, 0.8
# Where the axis ends: a score without the division, and with it.
END = 48
# The curve has points up to the end of the axis or so many standard deviations, closer together
# in the middle, where that of a narrow head has a peak.
FARTHEST, STEPS = 6, 60
CELL, FULL = 50, 4


class Spread(LiveFigure):
    """Scores of random pairs of a query and a key, their exact density, and products of terms.

    The components are independent standard normal numbers. A draw keeps its pairs while the other
    controls move: a wider head has the components of the narrower one and more, and more pairs
    come behind those that are there.

    Parameters
    ----------
    d_k : int
        Width of the head, one of 1, 2, 3, 4, 8, 16, ..., 512.
    pairs : int
        Number of pairs, one of 10, 30, 100, 300, 1000.
    divided : bool
        Whether the scores are divided by √d_k.
    draw : int
        Which pairs.

    Notes
    -----
    Shown in the chapter on variance and in the chapter of exercises. The surprise: sixteen
    times the width makes scores four times as large, since products of different terms cancel.
    The first four components are drawn one by one. What the others add is drawn by its exact
    law: given the query it is the length of the query's further part times one normal number,
    and the squared length of two normal components is -2 log U with U uniform. The exact
    density is :func:`attnlib.score_pdf`. Errors are those that the exact moments predict.

    Examples
    --------
    >>> from attnbook.figures import Spread
    >>> figure = Spread(d_k=2)
    >>> figure
    Spread(d_k=2, pairs=1000, divided=False, draw=1)
    >>> figure.scores.shape
    (1000,)
    >>> figure.products.round(1)
    array([[ 1.1, -0. ],
           [-0. ,  1. ]])
    """

    state = ("d_k", "pairs", "divided", "draw")
    d_k = traitlets.Enum(WIDTHS, 16).tag(sync=True)
    pairs = traitlets.Enum(PAIRS, 1000).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)
    draw = traitlets.Int(1, min=1, max=9999).tag(sync=True)

    @property
    def terms(self) -> np.ndarray:
        """The first terms q_i·k_i of each score, at most four, shape (pairs, terms)."""
        parts = normals(self.draw, 0, 2 * TERMS * self.pairs).reshape(-1, 2, TERMS)
        return parts.prod(axis=1)[:, : self.d_k]

    @property
    def products(self) -> np.ndarray:
        """Mean over the pairs of each product of two of these terms."""
        return self.terms.T @ self.terms / self.pairs

    @property
    def scores(self) -> np.ndarray:
        """The scores on the screen, shape (pairs,)."""
        z, width = self.terms.sum(axis=1), TERMS
        while width < self.d_k:
            halves = uniforms(self.draw, width, self.pairs * width // 2).reshape(self.pairs, -1)
            length = np.sqrt(-2 * np.log(halves.prod(axis=1)))
            z += length * normals(self.draw, width + 1, self.pairs)
            width *= 2
        return z / np.sqrt(self.d_k) if self.divided else z

    @property
    def deviation(self) -> float:
        """The exact standard deviation of the scores on the screen."""
        return 1.0 if self.divided else float(np.sqrt(self.d_k))

    @property
    def end(self) -> float:
        """Where the axis ends, in standard deviations."""
        return END / self.deviation

    @property
    def counts(self) -> np.ndarray:
        """How many scores each bar holds, from the left."""
        fineness = bars_per_deviation(self.pairs)
        half = int(self.end * fineness)
        places = np.floor(self.scores / self.deviation * fineness).astype(int) + half
        return np.bincount(places[(places >= 0) & (places < 2 * half)], minlength=2 * half)

    def controls(self) -> str:
        """Return sliders for width and pairs, the switch, and the button for another draw."""
        return (
            slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + slider("pairs", "Pairs", PAIRS, self.pairs)
            + switch("divided", "divide by √d<sub>k</sub>", self.divided)
            + another_draw()
        )

    def picture(self) -> str:
        """Return bars, exact density and standard deviation, and the table of products."""
        arm = svg.ARMS[self.divided]
        left, right = (svg.number(self.across(side)) for side in (-1, 1))
        names = svg.name("beside", self.edge(), 100 * self.across(1) / WIDE, 8)
        names += svg.name("above line", "exact density", 100, 26)
        plot = (
            svg.path("bars", self.bars())
            + svg.path("even", f"M{left} 0V{HIGH}M{right} 0V{HIGH}")
            + svg.path("limit", self.curve())
            + svg.path("axis", f"M0 {HIGH}H{WIDE}")
        )
        return (
            svg.upright("density per standard deviation (dashed)")
            + svg.panel(plot, WIDE, HIGH, self.words(), arm, ["0.8", "0.4", "0"], names)
            + '<div class="figure-panel figure-keys figure-scores" aria-hidden="true">'
            + f'<div class="figure-ticks">0.8</div>{svg.spans(self.places())}</div>'
            + svg.caption("score")
            + self.table()
        )

    def across(self, deviations: float) -> float:
        """Return where a number of standard deviations lies in the picture."""
        return WIDE / 2 * (1 + deviations / self.end)

    def places(self) -> list[str]:
        """Return the labels of the level axis: its ends, and thirds between."""
        return [svg.minus(f"{END * third // 3}") for third in range(-3, 4)]

    def edge(self) -> str:
        """Return the standard deviation, which is the name of the dashed lines."""
        return f"±{self.deviation:.3g}"

    def bars(self) -> str:
        """Return the outlines of the bars, cut at the top, where there are scores."""
        fineness = bars_per_deviation(self.pairs)
        half, width = len(self.counts) // 2, WIDE / 2 / self.end / fineness
        return "".join(
            svg.bar(self.across((place - half) / fineness), HIGH, width, height)
            for place, height in enumerate(
                HIGH * np.minimum(1, self.counts * fineness / self.pairs / TOP)
            )
            if height
        )

    def curve(self) -> str:
        """Return the line of the exact density, cut at the top."""
        steps = np.arange(-STEPS, STEPS + 1) / STEPS
        x = min(self.end, FARTHEST) * np.sign(steps) * steps**2
        root = np.sqrt(self.d_k)
        heights = HIGH * (1 - np.minimum(1, root * score_pdf(root * x, self.d_k) / TOP))
        return svg.line(zip(map(self.across, x), heights, strict=True))

    def table(self) -> str:
        """Return the squares of the products, their names and how many there are."""
        names, side = svg.spans(self.names()), CELL * TERMS
        plot = (
            svg.path("axis", self.lines())
            + svg.path("rises", self.squares(positive=True))
            + svg.path("falls", self.squares(positive=False))
        )
        return (
            f'<div class="figure-products">{svg.aside("figure-keys across", names)}'
            f"{svg.aside('figure-keys down', names)}"
            f"{svg.picture(plot, side, side, kind='products', stretched=False)}"
            + svg.remark(
                "Area: mean of T<sub>i</sub>T<sub>j</sub>, with T<sub>i</sub> = "
                "q<sub>i</sub>k<sub>i</sub>; filled if positive."
            )
            + f'<p class="figure-axis figure-note count">{self.caption()}</p></div>'
        )

    def names(self) -> list[str]:
        """Return the names of the terms in the table, empty where the head is too narrow."""
        return [f"T{sign}" if place < self.d_k else "" for place, sign in enumerate("₁₂₃₄")]

    def lines(self) -> str:
        """Return the lines between the squares."""
        side = min(self.d_k, TERMS)
        return "".join(
            f"M0 {CELL * place}H{CELL * side}M{CELL * place} 0V{CELL * side}"
            for place in range(side + 1)
        )

    def squares(self, *, positive: bool) -> str:
        """Return the outlines of the squares whose mean is positive, or of the others.

        A mean of 4 fills its cell, and so does a larger one.
        """
        corners = []
        for (row, column), mean in np.ndenumerate(self.products):
            if bool(mean > 0) is positive:
                side = CELL * min(1, np.sqrt(abs(mean) / FULL))
                x, y = CELL * (column + 0.5), CELL * (row + 0.5)
                corners.append(svg.square(x, y, side))
                if not positive:  # a hole, turned the other way round
                    corners.append(svg.square(x, y, -max(0.6 * side, side - 4)))
        return "".join(corners)

    def caption(self) -> str:
        """Return the sums on and off the diagonal, or how many products there are in all."""
        on, off = self.d_k, self.d_k * (self.d_k - 1)
        if self.d_k > TERMS:
            return (
                f"Shown: {TERMS**2} of all {self.d_k**2} products, of which {on} are on the "
                f"diagonal and {off} off it."
            )
        own = self.products.trace()
        return (
            f"Sum on the diagonal ({on}): {signed(own, 2)}; "
            f"sum off it ({off}): {signed(self.products.sum() - own, 2)}."
        )

    def words(self) -> str:
        """Return the variance with its error beside the exact one, and what is not drawn."""
        variance, outside = self.deviation**2, self.pairs - self.counts.sum()
        kurtosis = score_moments(self.d_k).excess_kurtosis
        error = variance * np.sqrt((kurtosis + 2) / self.pairs)
        said = (
            f"{self.pairs} scores{' divided by √' + str(self.d_k) if self.divided else ''}: "
            f"variance {with_error(self.scores.var(ddof=1), error)}, exactly {variance:.0f}."
        )
        return f"{said} Farther out: {outside}." if outside else said


def bars_per_deviation(pairs: int) -> int:
    """Return how many bars one standard deviation has: more pairs, finer bars."""
    return 1 if pairs < 100 else 2 if pairs < 1000 else 4


def signed(value: float, digits: int) -> str:
    """Return a rounded number with a proper minus sign, and a zero without any.

    Examples
    --------
    >>> signed(-1.5, 1), signed(-0.001, 2)
    ('−1.5', '0.00')
    """
    return svg.minus(f"{value:z.{digits}f}")


def with_error(value: float, error: float) -> str:
    """Return a measured number and its standard error, with as many digits as that deserves.

    Examples
    --------
    >>> with_error(63.72, 2.9), with_error(-0.123, 0.25)
    ('63.7 ± 2.9', '−0.12 ± 0.25')
    """
    digits = 1 if error >= 1 else 2
    return f"{signed(value, digits)} ± {error:.{digits}f}"
