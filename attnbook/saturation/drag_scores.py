"""The figure in which a reader moves the scores of a short row one by one."""

from __future__ import annotations

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, presets, slider, switch
from attnlib.softmax import softmax

KEYS = ("first", "second", "third", "fourth", "fifth")
ROWS = ((50, 10, 5), (14, 10, 12), (9.2, -3.1, 8.8, -5.4, 1.2), (-20, 3, 25, -15), (8.5, -2.1, 7.9))
LOWEST, HIGHEST = -20, 50
WHOLE = tuple(range(LOWEST, HIGHEST + 1))
STOPS = (WHOLE, WHOLE) + 3 * ((None, *WHOLE),)
DIVISOR = 8
WIDE, HIGH = 640, 200
TENTH = 0.1
TICKS = ["100%", *4 * ["\u00a0"], "50%", *3 * ["\u00a0"], "a tenth", "0"]
"""The labels of the upright axis, with a place for each tenth."""
LEAST = 0.005
"""A weight below has no number at its bar."""


def named(row: tuple[float, ...]) -> dict[str, float | None]:
    """Return the scores of all keys, None for those that a row does not have."""
    return dict(zip(KEYS, (*row, *(None,) * (len(KEYS) - len(row))), strict=True))


class DragScores(LiveFigure):
    """Up to five scores, and the weights that softmax makes of them.

    The sliders stop at whole numbers; a row that is chosen, or given here, keeps its exact scores
    until its sliders are moved.

    Parameters
    ----------
    first, second : float
        Scores of the keys that are always there, between -20 and 50.
    third, fourth, fifth : float or None
        Scores of the others; None switches a key off.
    divided : bool
        Whether the scores are divided by 8, the root of a width of 64.

    Examples
    --------
    >>> from attnbook.figures import DragScores
    >>> figure = DragScores(first=14, second=10, third=12, fourth=None, divided=True)
    >>> figure.weights.round(3)
    array([0.419, 0.254, 0.326, 0.   , 0.   ])

    Notes
    -----
    Shown in the chapter on saturation. The surprise: the best score may lose nine tenths of its
    lead, and another key still has less than a tenth of the weight.
    """

    state = (*KEYS, "divided")
    first = traitlets.Float(-20, min=LOWEST, max=HIGHEST).tag(sync=True)
    second = traitlets.Float(3, min=LOWEST, max=HIGHEST).tag(sync=True)
    third = traitlets.Float(25, min=LOWEST, max=HIGHEST, allow_none=True).tag(sync=True)
    fourth = traitlets.Float(-15, min=LOWEST, max=HIGHEST, allow_none=True).tag(sync=True)
    fifth = traitlets.Float(None, min=LOWEST, max=HIGHEST, allow_none=True).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)

    @property
    def scores(self) -> np.ndarray:
        """The scores before the division, shape (5,), -inf for a key that is off."""
        given = [getattr(self, key) for key in KEYS]
        return np.array([-np.inf if score is None else score for score in given])

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (5,), 0 for a key that is off."""
        return softmax(self.scores / DIVISOR if self.divided else self.scores)

    def controls(self) -> str:
        """Return the list of rows, a slider for each key, and the switch."""
        rows = {
            f"{place}: {', '.join(map(svg.reading, row))}": named(row)
            for place, row in enumerate(ROWS, 1)
        }
        sliders = "".join(
            slider(key, f"Score {place}", stops, getattr(self, key))
            for place, (key, stops) in enumerate(zip(KEYS, STOPS, strict=True), 1)
        )
        return (
            presets("Row of scores", rows, self.values())
            + f'<div class="stack">{sliders}</div>'
            + switch("divided", f"divide by {DIVISOR}", self.divided)
        )

    def picture(self) -> str:
        """Return a bar for each key with its weight in percent, and a line at a tenth."""
        plot = (
            svg.path("bars", self.bars())
            + svg.axes(WIDE, HIGH)
            + svg.path("tenth", f"M0 {svg.number(HIGH * (1 - TENTH))}H{WIDE}")
        )
        weights = "".join(
            svg.name(
                "tip",
                "off" if np.isneginf(score) else f"{weight:.0%}" if weight >= LEAST else "",
                100 * (place + 0.5) / len(KEYS),
                98 - 100 * max(weight, TENTH),  # clear of its bar, and of the line
            )
            for place, (score, weight) in enumerate(zip(self.scores, self.weights, strict=True))
        )
        arm = svg.ARMS[self.divided]
        return (
            svg.upright("attention weight")
            + svg.panel(plot, WIDE, HIGH, self.words(), arm, TICKS, weights)
            + '<div class="figure-panel figure-keys" aria-hidden="true">'
            + f'<div class="figure-ticks">a tenth</div>{svg.spans(range(1, len(KEYS) + 1))}</div>'
            + svg.caption("key")
        )

    def bars(self) -> str:
        """Return the outlines of the bars."""
        room = WIDE / len(KEYS)
        return "".join(
            svg.bar(
                room * (place + 0.2),
                HIGH,
                0.6 * room,
                max(HIGH * weight, svg.LEAST) if weight else 0,
            )
            for place, weight in enumerate(self.weights)
        )

    def words(self) -> str:
        """Return the lead of the best score, and the two largest weights."""
        best, second = np.sort(self.scores)[:-3:-1]
        runner_up, top = np.sort(self.weights)[-2:]
        division = f"divided by {DIVISOR}" if self.divided else "not divided"
        return (
            f"A lead of {svg.reading(best - second)}, {division}: the best key weighs {top:.0%}, "
            f"the next {f'{runner_up:.0%}' if runner_up >= LEAST else 'under 1%'}."
        )
