"""The figure in which one slider subtracts from three scores and another divides them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, slider
from attnlib.softmax import softmax

SCORES = (100, 102, 103)
# Closer together where the scores come to zero and pass it.
SUBTRAHENDS = (*range(0, 95, 5), *range(95, 104))
DIVISORS = (1, 2, 5, 10, 20, 50, 100)
WIDE, HIGH = 640, 60
ROWS = (10, 30, 50)
PLACES = (-10, 110)
DISTANCES = (-3.25, 0.25)
SHARES = (0, 1)


def across(value: float, ends: tuple[float, float]) -> float:
    """Return where a value lies between the ends of an axis, from 0 to `WIDE`."""
    low, high = ends
    return WIDE * (value - low) / (high - low)


def signed(value: float) -> str:
    """Return a number of at most two decimals with a proper minus sign.

    Examples
    --------
    >>> signed(10.2), signed(-3.0)
    ('10.2', '−3')
    """
    return svg.minus(svg.number(value))


def axis(ticks: Sequence[float], ends: tuple[float, float]) -> str:
    """Return the labels of an axis, each below its place."""
    named = svg.labels(
        (svg.number(100 * across(tick, ends) / WIDE), signed(tick)) for tick in ticks
    )
    return svg.aside("figure-places", named)


class SubtractOrDivide(LiveFigure):
    """Three scores from each of which a number is subtracted, before they are divided by another.

    The scores 100, 102 and 103 are shown where they lie, then as distances from the largest, which
    is the same line magnified, then as weights.

    Parameters
    ----------
    subtracted : int
        What is subtracted from each score: 0, 5, 10, ..., 95, 96, 97, ..., 103.
    divisor : int
        What the differences are divided by, one of 1, 2, 5, 10, 20, 50, 100.

    Examples
    --------
    >>> from attnbook.figures import SubtractOrDivide
    >>> figure = SubtractOrDivide(subtracted=100, divisor=10)
    >>> figure
    SubtractOrDivide(subtracted=100, divisor=10)
    >>> figure.treated
    array([0. , 0.2, 0.3])
    >>> figure.weights.round(3)
    array([0.28 , 0.342, 0.378])

    Notes
    -----
    Shown in the chapter on the divisor. The surprise: subtracting changes the ratios and no
    weight, dividing the weights and no ratio. At the start the largest score is subtracted, as
    code for softmax does.
    """

    state = ("subtracted", "divisor")
    subtracted = traitlets.Enum(SUBTRAHENDS, SCORES[-1]).tag(sync=True)
    divisor = traitlets.Enum(DIVISORS, 1).tag(sync=True)

    @property
    def treated(self) -> np.ndarray:
        """The scores after the subtraction and the division, shape (3,)."""
        return (np.array(SCORES) - self.subtracted) / self.divisor

    @property
    def weights(self) -> np.ndarray:
        """The weights of the three keys, shape (3,)."""
        return softmax(self.treated)

    @property
    def moved(self) -> bool:
        """Whether anything is subtracted or divided."""
        return self.subtracted > 0 or self.divisor > 1

    def controls(self) -> str:
        """Return the slider that subtracts and the slider that divides."""
        return slider(
            "subtracted", "Subtract from each score", SUBTRAHENDS, self.subtracted
        ) + slider("divisor", "then divide by", DIVISORS, self.divisor)

    def picture(self) -> str:
        """Return the scores on their line, their distances from the largest, and the weights."""
        arm = svg.ARMS[self.divisor > 1]
        z = self.treated
        zero = svg.number(across(0, PLACES))
        base = svg.path("axis", f"M0 {HIGH}H{WIDE}")
        where = (
            base
            + svg.path("even", f"M{zero} 0V{HIGH}")
            + svg.path("was", self.dots(SCORES, PLACES))
            + svg.path("dots", self.dots(z, PLACES))
        )
        apart = (
            base
            + svg.path("stems", self.stems(z - z.max()))
            + svg.path("dots", self.dots(z - z.max(), DISTANCES))
        )
        bars = (
            svg.path("bars", self.bars(self.weights))
            + svg.path("edge", self.bars(softmax(SCORES)))
            + svg.axes(WIDE, HIGH)
        )
        keys = ("first", "second", "third")
        parts = (
            svg.upright("scores"),
            svg.panel(where, WIDE, HIGH, self.words(), arm, keys),
            axis((0, 50, 100), PLACES),
            svg.upright("distance from the largest"),
            svg.panel(apart, WIDE, HIGH, "", arm, keys),
            axis((-3, -2, -1, 0), DISTANCES),
            svg.upright("attention weights"),
            svg.panel(bars, WIDE, HIGH, "", arm, keys, self.names()),
            axis((0, 0.5, 1), SHARES),
            svg.remark("Gray and dashed: before you subtract and divide."),
        )
        return f'<div class="figure-strips">{"".join(parts)}</div>'

    def dots(self, values: Sequence[float] | np.ndarray, ends: tuple[float, float]) -> str:
        """Return a dot for each score, one row each."""
        return svg.dots(zip((across(value, ends) for value in values), ROWS, strict=True))

    def stems(self, distances: np.ndarray) -> str:
        """Return a line from each score to where the largest lies."""
        end = svg.number(across(0, DISTANCES))
        return "".join(
            f"M{svg.number(across(distance, DISTANCES))} {row}H{end}"
            for distance, row in zip(distances, ROWS, strict=True)
        )

    def bars(self, weights: np.ndarray) -> str:
        """Return the outlines of the bars."""
        return "".join(
            svg.level_bar(0, row - 7, WIDE * weight, 14)
            for weight, row in zip(weights, ROWS, strict=True)
        )

    def names(self) -> str:
        """Return the weights in digits, beside the longest bar that there is."""
        return "".join(
            svg.name("beside", f"{weight:.3f}", 78, 100 * row / HIGH)
            for weight, row in zip(self.weights, ROWS, strict=True)
        )

    def words(self) -> str:
        """Return the ratio of the first two scores and the largest weight, now and before."""
        z = self.treated
        # adding 0.0 takes the sign off a zero
        ratio = svg.minus(f"{z[1] / z[0] + 0.0:.3f}") if z[0] else "none"
        ratio, weight = (
            now + (f", was {was}" if now != was else ", as before" if self.moved else "")
            for now, was in ((ratio, "1.020"), (f"{self.weights[2]:.3f}", "0.705"))
        )
        return f"Second over first: {ratio}. Third key's weight: {weight}."
