"""The figure in which the Jacobian of a row of four keys follows its logits."""

from __future__ import annotations

import html

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, slider
from attnlib.softmax import softmax, softmax_jacobian

# From -6 to 6 in steps of a half, whole numbers as such.
LOGITS = tuple(half // 2 if half % 2 == 0 else half / 2 for half in range(-12, 13))
FACTORS = (0.25, 0.5, 1, 2, 4, 8)
# A row of the picture for each key: a bar, a gap, four squares; below them the bar of the norm.
WIDE, BAR, GRID, ROW, THICK = 380, 150, 180, 50, 24
# No entry is larger in size, and no squared norm of four keys either.
LARGEST = 0.25
EVEN = 0.1875


class JacobianFigure(LiveFigure):
    """The weights of four keys and how each of them answers to each logit.

    All four logits are multiplied by one factor before the softmax, and the Jacobian is the
    derivative by the multiplied logits: the factor itself is not in it.

    Parameters
    ----------
    s1, s2, s3, s4 : float
        The logits before the multiplication, from -6 to 6 in steps of a half.
    factor : float
        What multiplies all of them, one of 0.25, 0.5, 1, 2, 4 and 8.

    Examples
    --------
    >>> from attnbook.figures import JacobianFigure
    >>> figure = JacobianFigure(s1=0, s2=0, s3=0, s4=0)
    >>> figure.weights
    array([0.25, 0.25, 0.25, 0.25])
    >>> figure.jacobian[0]
    array([ 0.1875, -0.0625, -0.0625, -0.0625])

    Notes
    -----
    Shown in the chapter on gradients. The surprise: two equal weights react more than four, and
    one alone does not react at all.
    """

    state = ("s1", "s2", "s3", "s4", "factor")
    s1 = traitlets.Enum(LOGITS, 3).tag(sync=True)
    s2 = traitlets.Enum(LOGITS, 1).tag(sync=True)
    s3 = traitlets.Enum(LOGITS, 0).tag(sync=True)
    s4 = traitlets.Enum(LOGITS, -2).tag(sync=True)
    factor = traitlets.Enum(FACTORS, 1).tag(sync=True)

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (4,)."""
        return softmax(self.factor * np.array([self.s1, self.s2, self.s3, self.s4], float))

    @property
    def jacobian(self) -> np.ndarray:
        """The derivative of each weight by each multiplied logit, shape (4, 4)."""
        return softmax_jacobian(self.weights)

    @property
    def reaction(self) -> float:
        """The sum of the squared entries, which is the squared Frobenius norm."""
        return float((self.jacobian**2).sum())

    def controls(self) -> str:
        """Return a slider for each logit and one for the factor."""
        logits = (
            slider(f"s{key}", f"Logit {key}", LOGITS, getattr(self, f"s{key}"))
            for key in range(1, 5)
        )
        return "".join(logits) + slider("factor", "All multiplied by", FACTORS, self.factor)

    def picture(self) -> str:
        """Return the bars of weights, the squares of the Jacobian and the bar of its norm."""
        heads = ["weight", *(f"s<sub>{key}</sub>" for key in range(1, 5))]
        rows = [
            f'p<sub>{key}</sub> <span class="value">{html.escape(percent(weight))}</span>'
            for key, weight in enumerate(self.weights, 1)
        ]
        plot = (
            svg.path("axis", lines())
            + svg.path("bars", self.bars())
            + svg.path("rises", self.squares(rising=True))
            + svg.path("falls", self.squares(rising=False))
        )
        even = svg.number(WIDE * EVEN / LARGEST)
        drawn = (
            svg.path("axis", f"M0 -4V{THICK + 4}")
            + svg.path("bars", self.norm())
            + svg.path("even", f"M{even} -4V{THICK + 20}")
        )
        name = svg.name("", "four equal weights", 100 * EVEN / LARGEST, 100)
        return (
            f'<div class="figure-matrix">{svg.aside("figure-heads", svg.spans(heads))}'
            f"{svg.aside('figure-rows', svg.spans(rows))}"
            f"{svg.picture(plot, WIDE, 4 * ROW, self.words(), 'jacobian', stretched=False)}</div>"
            '<div class="figure-sum"><p class="figure-axis">sum of the squared entries: '
            f'<span class="value">{total(self.reaction)}</span></p><div class="figure-plot">'
            f"{svg.picture(drawn, WIDE, THICK, kind='jacobian')}"
            f"{svg.aside('figure-names', name)}</div></div>"
        ) + svg.remark(
            "Raise a column's multiplied logit a little: filled weights rise, outlined ones fall. "
            "Area is how fast."
        )

    def bars(self) -> str:
        """Return the outlines of the bars of the weights."""
        return "".join(
            svg.level_bar(0, ROW * (row + 0.5) - THICK / 2, max(BAR * weight, svg.LEAST), THICK)
            for row, weight in enumerate(self.weights)
        )

    def norm(self) -> str:
        """Return the outline of the bar of the squared norm."""
        return svg.level_bar(0, 0, WIDE * self.reaction / LARGEST, THICK)

    def squares(self, *, rising: bool) -> str:
        """Return the outlines of the squares on the diagonal, or of those off it."""
        corners = []
        for (row, column), entry in np.ndenumerate(self.jacobian):
            if (row == column) is rising:
                side = 0.92 * ROW * np.sqrt(abs(entry) / LARGEST)
                x, y = GRID + ROW * (column + 0.5), ROW * (row + 0.5)
                corners.append(svg.square(x, y, side))
                if not rising:  # a hole, turned the other way round
                    corners.append(svg.square(x, y, -max(0.7 * side, side - 5)))
        return "".join(corners)

    def words(self) -> str:
        """Return the largest weight, and what the row answers in all."""
        top = self.weights.max()
        answer = (
            f"the squared entries add up to {total(self.reaction)}"
            if top < 0.995
            else "one key has it all, and nothing answers"
        )
        return f"The largest weight is {percent(top)}; {answer}."


def total(reaction: float) -> str:
    """Return the sum of the squared entries as it is read."""
    return f"{reaction:.3f}" if reaction >= 0.0005 else "under 0.001"


def percent(weight: float) -> str:
    """Return a weight in whole percent."""
    return f"{weight:.0%}" if weight >= 0.005 else "<1%"


def lines() -> str:
    """Return the lines between the squares, and those at which bars begin and end."""
    grid = "".join(
        f"M{GRID} {ROW * place}H{WIDE}M{GRID + ROW * place} 0V{4 * ROW}" for place in range(5)
    )
    return f"{grid}M0 0V{4 * ROW}M{BAR} 0V{4 * ROW}"
