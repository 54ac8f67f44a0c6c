"""The one head that stays with the reader: a query, its scores, its weights, and what they do."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import LiveFigure, another_draw, slider, switch
from attnbook.figures._draws import normals
from attnlib.softmax import softmax

VIEWS = {
    "weights": ("query", "scores", "weights"),
}
"""The stages that each view shows, from above."""
TITLES = {
    "query": "Query",
    "scores": "Scores",
    "weights": "Weights",
}
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KEYS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FEW = 16
"""Up to so many keys have names, numbers and a grip."""
WIDE = 640
QUERY_HIGH, SCORE_HIGH, WEIGHT_HIGH = 64, 220, 130
PITCH = 20
"""What a component takes on the screen, as long as all have room."""
LIMIT = 40
"""Scores beyond it are cut off, with an arrow head."""


class Stage(NamedTuple):
    """What a stage shows in one state; a label is two places in percent, a text and a class."""

    note: str
    paths: dict[str, str]
    labels: list[tuple[float, float, str, str]]


class Head(LiveFigure):
    """One random query and its keys, from the components to the weights.

    The components of the query and of the keys are independent standard normal numbers. A draw
    keeps its query and the directions of its keys while the other controls move: a wider head has
    the query's components of the narrower one and more, and more keys are added behind those that
    are there. The surprise of the first view: nothing but the width is turned up, and one key takes
    all.

    Parameters
    ----------
    view : str
        How far the head has grown: "weights".
    d_k : int
        Width of the head, one of 1, 2, 4, ..., 512.
    n_keys : int
        Number of keys, one of 2, 4, ..., 1024.
    divided : bool
        Whether the scores are divided by √d_k.
    draw : int
        Which query and which keys.
    pulled : dict of str to float
        Scores that the reader has set, before the division, by the number of their key, "1" to
        "16"; they count while there are at most 16 keys.

    Examples
    --------
    >>> from attnbook.figures import Head
    >>> figure = Head(d_k=64, n_keys=16, pulled={"3": 40})
    >>> figure.weights.round(2)[2]
    np.float64(1.0)

    Notes
    -----
    Shown on the landing page and in the chapters on the puzzle and on misconceptions.
    """

    state = ("view", "d_k", "n_keys", "divided", "draw", "pulled")
    view = traitlets.Enum(tuple(VIEWS), "weights").tag(sync=True)
    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 16).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)
    draw = traitlets.Int(1, min=1, max=9999).tag(sync=True)
    pulled = traitlets.Dict().tag(sync=True)

    @traitlets.validate("pulled")
    def _check_pulled(self, proposal: dict[str, Any]) -> dict[str, float]:
        for key, score in proposal["value"].items():
            if key not in map(str, range(1, FEW + 1)):
                raise traitlets.TraitError(f"pulled names key {key!r}; it takes '1' to '{FEW}'")
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise traitlets.TraitError(f"pulled gives key {key} {score!r}, not a number")
            if not abs(score) <= LIMIT:
                raise traitlets.TraitError(
                    f"pulled gives key {key} the score {score}; it takes -{LIMIT} to {LIMIT}"
                )
        return proposal["value"]

    @property
    def query(self) -> np.ndarray:
        """The components of the query, shape (d_k,)."""
        return normals(self.draw, 0, self.d_k)

    @property
    def divisor(self) -> float:
        """What the scores are divided by."""
        return math.sqrt(self.d_k) if self.divided else 1.0

    @property
    def scores(self) -> np.ndarray:
        """The scores before the division, shape (n_keys,)."""
        # Given the query, scores of independent normal keys are its length times normal numbers.
        scores = np.linalg.norm(self.query) * normals(self.draw, 1, self.n_keys)
        for place, score in self._moved().items():
            scores[place] = score
        return scores

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (n_keys,)."""
        return softmax(self.scores / self.divisor)

    def controls(self) -> str:
        """Return the controls of the view, and the button for another draw."""
        return (
            slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + slider("n_keys", "Keys", KEYS, self.n_keys)
            + switch("divided", "divide by √d<sub>k</sub>", self.divided)
            + another_draw()
        )

    def picture(self) -> str:
        """Return the stages of the view, one below the other, with one column for each key."""
        stages = [
            self._stage(name, self.words() if place == 0 else "")
            for place, name in enumerate(VIEWS[self.view])
        ]
        crowd = " many" if self.n_keys > FEW else " crowded" if self.n_keys == FEW else ""
        return f'<div class="one-head{crowd}">{"".join(stages)}{self._names()}</div>'

    def words(self) -> str:
        """Return the largest weight in its circumstances."""
        moved = len(self._moved())
        pulled = ", one score pulled" if moved == 1 else f", {moved} scores pulled" if moved else ""
        division = "divided" if self.divided else "not divided"
        return (
            f"Width {self.d_k}, {division}{pulled}: the largest of {self.n_keys} weights is "
            f"{fixed(self.weights.max(), 2)}."
        )

    def _moved(self) -> dict[int, float]:
        """Return the scores that the reader has set, by the place of their key."""
        if self.n_keys > FEW:
            return {}
        moved = {int(key) - 1: score for key, score in self.pulled.items()}
        return {place: score for place, score in moved.items() if place < self.n_keys}

    def _arm(self) -> str:
        return svg.ARMS[self.divided]

    def _stage(self, name: str, words: str) -> str:
        """Return one stage as HTML."""
        stage, high, fixed, ticks = getattr(self, f"_{name}")()
        plot = fixed + "".join(svg.path(kind, outline) for kind, outline in stage.paths.items())
        blank = (0, 0, "", "")
        labels = "".join(
            f'<span class="{kind}" style="left:{percent(left)}%;top:{percent(top)}%">{text}</span>'
            for left, top, text, kind in (stage.labels + [blank] * FEW)[:FEW]
        )
        return (
            f'<div class="stage {name}"><p class="stage-title"><b>{TITLES[name]}</b> '
            f'<span>{stage.note}</span></p><div class="stage-plot">'
            + svg.aside("stage-ticks", svg.labels(ticks, "top"))
            + svg.picture(plot, WIDE, high, words, self._arm())
            + (svg.aside("stage-labels", labels) if stage.labels is not NONE else "")
            + (self._grips() if name == "scores" else "")
            + "</div></div>"
        )

    def _names(self) -> str:
        """Return the numbers of a few keys, below their columns."""
        few = self.n_keys if self.n_keys <= FEW else 0
        numbers = "".join(
            f"<span{'' if place <= few else ' hidden'}>{place}</span>"
            for place in range(1, FEW + 1)
        )
        return svg.aside("stage-keys", numbers)

    def _query(self) -> tuple[Stage, int, str, Ticks]:
        note = f"{self.d_k} random components" if self.d_k > 1 else "one random component"
        paths = {"components": strip(self.query, QUERY_HIGH)}
        axis = svg.path("zero", f"M0 {QUERY_HIGH / 2:g}H{WIDE}")
        return Stage(note, paths, NONE), QUERY_HIGH, axis, ()

    def _scores(self) -> tuple[Stage, int, str, Ticks]:
        scores, divisor = self.scores, self.divisor
        few = self.n_keys <= FEW
        note = "query · key: pull up or down" if few else "query · key for each key"
        if self.divided:
            note = f"÷ √{self.d_k} = {divisor:.1f}; pale: before"
        paths = {
            "ghost": standing(scores, LIMIT, SCORE_HIGH) if self.divided else "",
            "bars": standing(scores / divisor, LIMIT, SCORE_HIGH),
            "tips": tips(scores, LIMIT, SCORE_HIGH) if few else "",
            "beyond": beyond(scores, LIMIT, SCORE_HIGH),
        }
        favorite = int(np.argmax(scores))
        labels = [
            (
                100 * (place + 0.5) / self.n_keys,
                50,
                short(score),
                f"{'below' if score >= 0 else 'above'}{' top' if place == favorite else ''}",
            )
            for place, score in enumerate(scores / divisor if few else ())
        ]
        levels = (LIMIT, LIMIT / 2, -LIMIT / 2, -LIMIT)
        grid = "".join(f"M0 {svg.number(level_at(s, LIMIT, SCORE_HIGH))}H{WIDE}" for s in levels)
        fixed = svg.path("grid", grid) + svg.path("zero", f"M0 {SCORE_HIGH / 2:g}H{WIDE}")
        ticks = [
            (svg.number(100 * level_at(s, LIMIT, SCORE_HIGH) / SCORE_HIGH), svg.reading(s))
            for s in (*levels[:2], 0, *levels[2:])
        ]
        return Stage(note, paths, labels), SCORE_HIGH, fixed, ticks

    def _weights(self) -> tuple[Stage, int, str, Ticks]:
        weights = self.weights
        paths = {
            "ghost": rising(softmax(self.scores), WEIGHT_HIGH) if self.divided else "",
            "bars": rising(weights, WEIGHT_HIGH),
        }
        note = "softmax of the scores"
        fixed = svg.path("grid", f"M0 0H{WIDE}M0 {WEIGHT_HIGH / 2:g}H{WIDE}")
        fixed += svg.path("zero", f"M0 {WEIGHT_HIGH}H{WIDE}")
        ticks = [("0", "100%"), ("50", "50%"), ("100", "0")]
        return Stage(note, paths, percentages(weights)), WEIGHT_HIGH, fixed, ticks

    def _grips(self) -> str:
        """Return a slider for each of a few scores, at the tip of its bar."""
        few = self.n_keys if self.n_keys <= FEW else 0
        grips = []
        for place in range(FEW):
            score = self.scores[place] if place < few else 0
            top = 100 * level_at(score, LIMIT, SCORE_HIGH) / SCORE_HIGH
            where = f"left:{percent(100 * place / self.n_keys)}%;top:{percent(top)}%;"
            grips.append(
                f'<span class="grip" style="{where}width:{percent(100 / self.n_keys)}%"'
                f"{'' if place < few else ' hidden'}>"
                f'<input type="range" min="-{LIMIT}" max="{LIMIT}" step="0.5" '
                f'value="{svg.number(score)}" aria-label="Score of key {place + 1}" '
                f'aria-valuetext="{fixed(score, 1)}"></span>'
            )
        return f'<div class="grips">{"".join(grips)}</div>'


Ticks = list[tuple[str, str]] | tuple[()]
NONE: list[tuple[float, float, str, str]] = []
"""No labels, now or in another state."""


def fixed(value: float, digits: int) -> str:
    """Return a number's text, of two that are as near the one further from zero, as in JavaScript.

    Examples
    --------
    >>> fixed(0.125, 2), fixed(-12.5, 0), fixed(-0.04, 1)
    ('0.13', '−13', '0.0')
    """
    rounded = Decimal(float(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return svg.minus(str(rounded or abs(rounded)))


def percent(value: float) -> str:
    """Return a place in percent, rounded like the numbers.

    Examples
    --------
    >>> percent(3.125), percent(50.0)
    ('3.13', '50')
    """
    return fixed(value, 2).rstrip("0").rstrip(".")


def short(value: float) -> str:
    """Return a number's text for a narrow place.

    Examples
    --------
    >>> short(-9.94), short(45.6)
    ('−9.9', '46')
    """
    return fixed(value, 1 if abs(value) < 9.95 else 0)


def strip(vector: np.ndarray, high: int) -> str:
    """Return a bar up or down for each component of a vector, from the left."""
    pitch = min(PITCH, WIDE / len(vector))
    wide = pitch * (0.7 if len(vector) <= 128 else 1)
    return "".join(
        svg.bar(pitch * (place + 0.5) - wide / 2, high / 2, wide, high * value / 6)
        for place, value in enumerate(vector)
    )


def columns(count: int) -> tuple[float, float]:
    """Return the room of each column and the width of its bar."""
    room = WIDE / count
    wide = room * (0.6 if count <= FEW else 0.8)
    return room, max(min(wide, 56), 2)


def level_at(value: float, limit: float, high: int) -> float:
    """Return how far from the top a value is, on an axis that ends at plus and minus a limit."""
    return high / 2 * (1 - max(min(value / limit, 1), -1))


def standing(values: np.ndarray, limit: float, high: int) -> str:
    """Return a bar up or down from the middle for each value."""
    room, wide = columns(len(values))
    return "".join(
        svg.bar(
            room * (place + 0.5) - wide / 2, high / 2, wide, high / 2 - level_at(value, limit, high)
        )
        for place, value in enumerate(values)
    )


def rising(shares: np.ndarray, high: int) -> str:
    """Return a bar from the ground for each share."""
    room, wide = columns(len(shares))
    return "".join(
        svg.bar(room * (place + 0.5) - wide / 2, high, wide, high * share)
        for place, share in enumerate(shares)
    )


def tips(values: np.ndarray, limit: float, high: int) -> str:
    """Return a dot where each bar ends."""
    room = WIDE / len(values)
    return svg.dots(
        (room * (place + 0.5), level_at(value, limit, high)) for place, value in enumerate(values)
    )


def beyond(values: np.ndarray, limit: float, high: int) -> str:
    """Return an arrow head for each bar that is cut off."""
    room = WIDE / len(values)
    return "".join(
        f"M{svg.number(room * (place + 0.5) - 5)} {'-4l5 -6l5 6' if value > 0 else high_end(high)}z"
        for place, value in enumerate(values)
        if abs(value) > limit
    )


def high_end(high: int) -> str:
    """Return the rest of an arrow head that points down below a plot."""
    return f"{high + 4}l5 6l5 -6"


def percentages(shares: np.ndarray) -> list[tuple[float, float, str, str]]:
    """Return the largest share in percent, and of a few keys each that shows."""
    top = int(np.argmax(shares))
    shown = range(len(shares)) if len(shares) <= FEW else (top,)
    return [
        (
            100 * (place + 0.5) / len(shares),
            100 * (1 - shares[place]),
            f"{fixed(100 * shares[place], 0)}%" if place == top or shares[place] >= 0.005 else "",
            "tip top" if place == top else "tip",
        )
        for place in shown
    ]
