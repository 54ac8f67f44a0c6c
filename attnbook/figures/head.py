"""The one head that stays with the reader: a query, its scores, its weights, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, another_draw, slider, switch
from attnbook.drawing.draws import normals
from attnlib.softmax import softmax

VIEWS = {
    "weights": ("query", "scores", "weights"),
    "sum": ("query", "key", "products", "walk"),
    "exponential": ("scores", "exponentials", "weights"),
    "gradient": ("scores", "weights", "costs", "gradient"),
    "divisor": ("query", "scores", "weights"),
    "start": ("query", "scores", "weights"),
    "temperature": ("query", "scores", "weights"),
}
"""The stages that each view shows, from above."""
DIALED = ("divisor", "start")
"""The views that have a dial instead of the switch."""
SWITCHED = ("weights", "exponential", "gradient")
"""The views with the switch."""
TITLES = {"walk": "Running sum", "exponentials": "e<sup>score − largest</sup>"}
"""What a stage is called, where it is not its own name."""
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KEYS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FEW = 16
"""Up to so many keys have names, numbers and a grip."""
POWERS = (0, 0.25, 0.5, 0.75, 1)
SIZES = (0.25, 0.5, 1, 2)
TEMPERATURES = (0.125, 0.25, 0.5, 1, 2, 4, 8)
WIDE = 640
QUERY_HIGH, SCORE_HIGH, WEIGHT_HIGH = 64, 150, 110
PRODUCT_HIGH, WALK_HIGH, EXPONENTIAL_HIGH, COST_HIGH, GRADIENT_HIGH = 80, 200, 90, 90, 120
PITCH = 20
"""What a component takes on the screen, as long as all have room."""
LIMIT, DIVIDED_LIMIT = 40, 10
"""Scores beyond it are cut off; without the switch the second counts."""
COST_LIMIT = 3
WALK_LIMITS = 40, 80
"""Where the axis of the running sums ends, up to a width of 128 and beyond."""
GRADIENT_LIMITS = 0.1, 0.3
"""Where the axis of the gradients ends, if all of them are small and if not."""
SEEN, LITTLE = 0.004, 0.0095
"""A share below the first has no line, one below the second no number in whole percent."""
ROOM, FREE = 18, 7
"""How high a number is, and half a dot or the arrow head of a bar cut off."""
MOST = 9999.5
"""A factor from here on is only said to be large."""
APART = 7
"""So far from zero is the name of the typical distance at least."""
POINTS = 64
"""Of so many points at most is the walk to another key's score."""


class Stage(NamedTuple):
    """What a stage shows in one state; a label is two places in percent, a text and a class."""

    note: str
    paths: dict[str, str]
    labels: list[tuple[float, float, str, str]]


class Head(LiveFigure):
    """One random query and its keys, from the components to the weights, in views that grow.

    The components of the query and of the keys are independent standard normal numbers. A draw
    keeps its query and its scores, but for the length of the query, while the other controls move:
    a wider head has the query's components of the narrower one and more, and more keys are added
    behind those that are there. Each view has its surprise:

    - "weights": nothing but the width is turned up, and one key takes all.
    - "sum": a sum of 64 products ends about 8 from zero, because they cancel.
    - "exponential": a lead is a difference of scores, and its exponential is a factor.
    - "gradient": the mean follows the favorite, so that even the winner gets no gradient.
    - "divisor": at one power alone the row stays, but for the length of the query, at every width.
    - "start": components twice as large make divided scores four times as large.
    - "temperature": a temperature undoes the division, exactly.

    Parameters
    ----------
    view : str
        How far the head has grown, as above.
    d_k : int
        Width of the head, one of 1, 2, 4, ..., 512.
    n_keys : int
        Number of keys, one of 2, 4, ..., 1024.
    divided : bool
        Whether the scores are divided by √d_k; in the first views.
    power : float
        The power of d_k that divides, one of 0, 0.25, 0.5, 0.75, 1; in "divisor" and "start".
    size : float
        The standard deviation of all components, one of 0.25, 0.5, 1, 2; in "start".
    temperature : float
        The divisor over √d_k, one of 0.125, 0.25, ..., 8; in "temperature".
    key : int
        The key whose products are shown, from 1 to 16; in "sum", which has 16 keys.
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
    Shown on the landing page and in the chapters, with one control more from view to view.
    """

    state = (
        *("view", "d_k", "n_keys", "divided", "power", "size", "temperature", "key"),
        *("draw", "pulled"),
    )
    view = traitlets.Enum(tuple(VIEWS), "weights").tag(sync=True)
    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 16).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)
    power = traitlets.Enum(POWERS, 0.5).tag(sync=True)
    size = traitlets.Enum(SIZES, 1).tag(sync=True)
    temperature = traitlets.Enum(TEMPERATURES, 1).tag(sync=True)
    key = traitlets.Enum(tuple(range(1, FEW + 1)), 1).tag(sync=True)
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
        return self._scale() * normals(self.draw, 0, self.d_k)

    @property
    def key_vectors(self) -> np.ndarray:
        """The components of the keys of the view "sum", shape (16, d_k)."""
        # A normal vector is one along the query and another across it, which do not depend on
        # each other; so these keys have the scores that the other views show.
        along = self.query / np.linalg.norm(self.query)
        free = np.array([normals(self.draw, 3 + place, self.d_k) for place in range(FEW)])
        heights = normals(self.draw, 1, FEW) - free @ along
        return free + heights[:, np.newaxis] * along

    @property
    def divisor(self) -> float:
        """What the scores are divided by."""
        return self.d_k ** self._exponent() * self._extra()

    @property
    def scores(self) -> np.ndarray:
        """The scores before the division, shape (n_keys,)."""
        # Given the query, scores of independent normal keys are its length times normal numbers.
        reach = np.linalg.norm(self.query) * self._scale()
        scores = reach * normals(self.draw, 1, self.n_keys)
        for place, score in self._moved().items():
            scores[place] = score
        return scores

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (n_keys,)."""
        return softmax(self.scores / self.divisor)

    @property
    def costs(self) -> np.ndarray:
        """How fast the loss would change as each key gains weight, shape (n_keys,)."""
        return normals(self.draw, 2, self.n_keys)

    def controls(self) -> str:
        """Return the controls of the view, and the button for another draw."""
        controls = [slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)]
        if self.view == "sum":
            controls.append(slider("key", "Key", range(1, FEW + 1), self.key))
        else:
            controls.append(slider("n_keys", "Keys", KEYS, self.n_keys))
        if self.view in DIALED:
            label = "Divide by d<sub>k</sub> to the power"
            controls.append(slider("power", label, POWERS, self.power))
        elif self.view in SWITCHED:
            controls.append(switch("divided", "divide by √d<sub>k</sub>", self.divided))
        if self.view == "start":
            controls.append(slider("size", "Size of components", SIZES, self.size))
        if self.view == "temperature":
            label = "Temperature τ / √d<sub>k</sub>"
            controls.append(slider("temperature", label, TEMPERATURES, self.temperature))
        return "".join(controls) + another_draw()

    def picture(self) -> str:
        """Return the stages of the view, one below the other, with one column for each key."""
        stages = [
            self._stage(name, self.words() if place == 0 else "")
            for place, name in enumerate(VIEWS[self.view])
        ]
        if self.view == "sum":
            return f'<div class="one-head">{"".join(stages)}{svg.caption("components added")}</div>'
        crowd = " many" if self.n_keys > FEW else " crowded" if self.n_keys == FEW else ""
        return f'<div class="one-head{crowd}">{"".join(stages)}{self._names()}</div>'

    def words(self) -> str:
        """Return what the view is about, in one sentence."""
        if self.view == "sum":
            scores = self.key_vectors @ self.query
            return (
                f"Key {self.key} ends at {fixed(scores[self.key - 1], 1)}; the {FEW} keys "
                f"typically {fixed(np.sqrt(np.mean(scores**2)), 1)} from zero; √{self.d_k} is "
                f"{fixed(self.d_k**0.5, 1)}."
            )
        by = f"÷ {'·'.join(self._factors())}" if self._factors() else "not divided"
        if self.view == "exponential":
            second, first = np.sort(self.scores / self.divisor)[-2:]
            times = np.exp(first - second)
            return (
                f"{by.capitalize()}: a lead of {fixed(first - second, 1)} makes key "
                f"{np.argmax(self.scores) + 1}’s exponential "
                f"{short(times) if times < MOST else '10,000+'} times the next."
            )
        size = f", size {svg.reading(self.size)}" if self._scale() != 1 else ""
        pulled = f", {len(self._moved())} pulled" if self._moved() else ""
        top = share(self.weights.max())
        said = f"the largest of {self.n_keys} weights is {top}"
        if self.view == "gradient":
            steepest = fixed(abs(self._flow(self.weights)).max(), 2)
            said = f"weights up to {top}, gradients up to {steepest}"
        return f"Width {self.d_k}{size}, {by}{pulled}: {said}."

    def _limit(self) -> int:
        """Return where the axis of scores ends, which fits divided ones where all are divided."""
        return LIMIT if self.view in SWITCHED else DIVIDED_LIMIT

    def _scale(self) -> float:
        return self.size if self.view == "start" else 1

    def _extra(self) -> float:
        return self.temperature if self.view == "temperature" else 1

    def _exponent(self) -> float:
        if self.view in DIALED:
            return self.power
        switched = self.divided and self.view in SWITCHED
        return 0.5 if switched or self.view == "temperature" else 0

    def _root(self) -> str:
        """Return the power of the width that divides, as it is written."""
        power = self._exponent()
        if power in {0.5, 1}:
            return f"{'√' if power == 0.5 else ''}{self.d_k}"
        return f"{self.d_k}^{power:g}"

    def _factors(self) -> list[str]:
        """Return the factors of the divisor that are not one."""
        extra = [svg.reading(self._extra())] if self._extra() != 1 else []
        return extra + ([self._root()] if self._exponent() else [])

    def _raised(self) -> np.ndarray:
        return np.exp((self.scores - self.scores.max()) / self.divisor)

    def _flow(self, weights: np.ndarray) -> np.ndarray:
        """Return what flows back to the score of each key of a row."""
        return weights * (self.costs - weights @ self.costs)

    def _moved(self) -> dict[int, float]:
        """Return the scores that the reader has set, by the place of their key."""
        if self.n_keys > FEW:
            return {}
        moved = {int(key) - 1: score for key, score in self.pulled.items()}
        return {place: score for place, score in moved.items() if place < self.n_keys}

    def _arm(self) -> str:
        """Return the class of the rule: its color, which the notes and words repeat."""
        if not self._factors():
            return "undivided"
        return "divided" if self._exponent() == 0.5 and self._extra() == 1 else "other"

    def _edges(self, values: np.ndarray, level: Callable[[float], float], least: float = 0) -> str:
        """Return where bars ended before the division, unless they are too small to be seen."""
        room, wide = columns(len(values))
        return "".join(
            f"M{svg.number(room * (place + 0.5) - wide / 2)} {svg.number(level(value))}"
            f"h{svg.number(wide)}"
            for place, value in enumerate(values if self._factors() else ())
            if abs(value) >= least
        )

    def _stage(self, name: str, words: str) -> str:
        """Return one stage as HTML."""
        stage, high, behind, ticks = getattr(self, f"_{name}")()
        plot = behind + "".join(svg.path(kind, outline) for kind, outline in stage.paths.items())
        blank = (0, 0, "", "")
        labels = "".join(
            f'<span class="{kind}" style="left:{percent(left)}%;top:{percent(top)}%">{text}</span>'
            for left, top, text, kind in (stage.labels + [blank] * FEW)[:FEW]
        )
        title = TITLES.get(name, name.capitalize())
        return (
            f'<div class="stage {name}"><p class="stage-title"><b>{title}</b> '
            f'<span>{stage.note}</span></p><div class="stage-plot">'
            + svg.aside("stage-ticks", svg.labels(ticks, "top"))
            + svg.picture(plot, WIDE, high, words, self._arm())
            + (svg.aside("stage-labels", labels) if stage.labels is not NONE else "")
            + (self._grips() if name == "scores" else "")
            + "</div></div>"
        )

    def _names(self) -> str:
        """Return the numbers of a few keys below their columns, or of the first and the last."""
        few = self.n_keys <= FEW
        numbers = "".join(
            f"<span{'' if (place <= self.n_keys if few else place in (1, FEW)) else ' hidden'}>"
            f"{place if place < FEW else max(self.n_keys, FEW)}</span>"
            for place in range(1, FEW + 1)
        )
        return svg.aside("stage-keys", f"<b>key</b>{numbers}")

    def _query(self) -> tuple[Stage, int, str, Ticks]:
        note = f"{self.d_k} random components" if self.d_k > 1 else "one random component"
        paths = {"components": strip(self.query, QUERY_HIGH, 12 if self.view == "start" else 6)}
        axis = svg.path("zero", f"M0 {QUERY_HIGH / 2:g}H{WIDE}")
        return Stage(note, paths, NONE), QUERY_HIGH, axis, ends(6 if self.view == "start" else 3)

    def _scores(self) -> tuple[Stage, int, str, Ticks]:
        scores, divisor, limit = self.scores, self.divisor, self._limit()
        few, factors, logits = self.n_keys <= FEW, self._factors(), scores / divisor
        by, cut = "·".join(factors), int(np.sum(abs(logits) > limit))
        notes = [f"÷ {by}" if factors else "query · key"]
        notes[0] += f" = {divisor:.3g}" if factors and by != f"{divisor:g}" else ""
        if few:
            notes.append("pull a dot")
        elif cut:
            notes.append(f"{cut} cut")
        paths = {
            "ghost": "" if few else self._edges(scores, lambda s: level_at(s, limit, SCORE_HIGH)),
            "bars": standing(logits, limit, SCORE_HIGH),
            "set": tips(scores, limit, SCORE_HIGH, self._moved()),
            "tips": tips(scores, limit, SCORE_HIGH) if few else "",
            "before": beyond(scores, limit, SCORE_HIGH),
            "beyond": beyond(logits, limit, SCORE_HIGH),
        }
        favorite = int(np.argmax(scores))
        labels = []
        for place, score in enumerate(logits if few else ()):
            dot = max(scores[place], score, key=abs)
            apart = level_at(score, limit, SCORE_HIGH) - level_at(dot, limit, SCORE_HIGH)
            # between bar and dot where there is room, and else beyond both
            end, free = (score, 0) if abs(apart) >= ROOM else (dot, FREE)
            text, top = short(score), place == favorite
            labels.append(outside(place, self.n_keys, end, limit, SCORE_HIGH, text, top, free))
        levels = (limit, limit / 2, -limit / 2, -limit)
        grid = "".join(f"M0 {svg.number(level_at(s, limit, SCORE_HIGH))}H{WIDE}" for s in levels)
        behind = svg.path("grid", grid) + svg.path("zero", f"M0 {SCORE_HIGH / 2:g}H{WIDE}")
        ticks = [
            (svg.number(100 * level_at(s, limit, SCORE_HIGH) / SCORE_HIGH), svg.reading(s))
            for s in (*levels[:2], 0, *levels[2:])
        ]
        return Stage("; ".join(notes), paths, labels), SCORE_HIGH, behind, ticks

    def _weights(self) -> tuple[Stage, int, str, Ticks]:
        weights = self.weights
        paths = {
            "ghost": self._edges(softmax(self.scores), lambda p: WEIGHT_HIGH * (1 - p), SEEN),
            "bars": rising(weights, WEIGHT_HIGH),
        }
        marks = "dots, lines" if self.n_keys <= FEW else "lines"
        note = f"{marks}: before dividing" if self._factors() else "softmax of the scores"
        behind = svg.path("grid", f"M0 0H{WIDE}M0 {WEIGHT_HIGH / 2:g}H{WIDE}")
        behind += svg.path("zero", f"M0 {WEIGHT_HIGH}H{WIDE}")
        ticks = [("0", "100%"), ("50", "50%"), ("100", "0")]
        return Stage(note, paths, tops(weights, share)), WEIGHT_HIGH, behind, ticks

    def _key(self) -> tuple[Stage, int, str, Ticks]:
        note = f"number {self.key}, as many components"
        paths = {"components": strip(self.key_vectors[self.key - 1], QUERY_HIGH, 6)}
        axis = svg.path("zero", f"M0 {QUERY_HIGH / 2:g}H{WIDE}")
        return Stage(note, paths, NONE), QUERY_HIGH, axis, ends(3)

    def _products(self) -> tuple[Stage, int, str, Ticks]:
        products = self.query * self.key_vectors[self.key - 1]
        paths = {"components": strip(products, PRODUCT_HIGH, 10)}
        axis = svg.path("zero", f"M0 {PRODUCT_HIGH / 2:g}H{WIDE}")
        return Stage("query × key, one by one", paths, NONE), PRODUCT_HIGH, axis, ends(5)

    def _walk(self) -> tuple[Stage, int, str, Ticks]:
        products = self.query * self.key_vectors
        sums = np.cumsum(np.insert(products, 0, 0, axis=1), axis=1)
        pitch = min(PITCH, WIDE / self.d_k)
        step = max(self.d_k // POINTS, 1)
        limit = WALK_LIMITS[self.d_k > 128]

        def through(values: np.ndarray, step: int = 1) -> str:
            return svg.line(
                (pitch * place, WALK_HIGH / 2 * (1 - values[place] / limit))
                for place in range(0, self.d_k + 1, step)
            )

        spread = np.sqrt(np.arange(self.d_k + 1))
        chosen = sums[self.key - 1]
        end, level = pitch * self.d_k, level_at(chosen[-1], limit, WALK_HIGH)
        paths = {
            "others": "".join(through(walk, step) for walk in sums),
            "typical": through(spread, step) + through(-spread, step),
            "walk": through(chosen),
            "end": svg.dots([(end, WALK_HIGH / 2 * (1 - chosen[-1] / limit))]),
        }
        # on the other side of zero, and so far from it that the two do not meet
        apart = max(spread[-1], APART) * (-1 if chosen[-1] >= 0 else 1)
        other = 100 * level_at(apart, limit, WALK_HIGH) / WALK_HIGH
        labels = [
            (100 * end / WIDE, 100 * level / WALK_HIGH, fixed(chosen[-1], 1), "end top"),
            (100 * end / WIDE, other, f"±√{self.d_k}", "end"),
        ]
        labels += [(0, 100, "0" if self.d_k > 4 else "", "below")]
        labels += [(100 * end / WIDE, 100, str(self.d_k), "below")]
        grid = f"M0 {WALK_HIGH / 4:g}H{WIDE}M0 {3 * WALK_HIGH / 4:g}H{WIDE}"
        behind = svg.path("grid", grid) + svg.path("zero", f"M0 {WALK_HIGH / 2:g}H{WIDE}")
        ticks = [("25", limit // 2), ("50", 0), ("75", f"−{limit // 2}")]
        note = "pale: the other keys"
        return Stage(note, paths, labels), WALK_HIGH, behind, ticks

    def _exponentials(self) -> tuple[Stage, int, str, Ticks]:
        values, undivided = self._raised(), np.exp(self.scores - self.scores.max())
        paths = {
            "ghost": self._edges(undivided, lambda e: EXPONENTIAL_HIGH * (1 - e), SEEN),
            "bars": rising(values, EXPONENTIAL_HIGH),
        }
        note = "one point more: × 2.7"
        grid = svg.path("grid", f"M0 0H{WIDE}M0 {EXPONENTIAL_HIGH / 2:g}H{WIDE}")
        grid += svg.path("zero", f"M0 {EXPONENTIAL_HIGH}H{WIDE}")
        ticks = [("0", "1"), ("50", "0.5"), ("100", "0")]
        return (
            Stage(note, paths, tops(values, lambda value: fixed(value, 2))),
            EXPONENTIAL_HIGH,
            grid,
            ticks,
        )

    def _costs(self) -> tuple[Stage, int, str, Ticks]:
        costs = self.costs
        mean = float(self.weights @ costs)
        level = level_at(mean, COST_LIMIT, COST_HIGH)
        paths = {
            "bars": standing(costs, COST_LIMIT, COST_HIGH),
            "beyond": beyond(costs, COST_LIMIT, COST_HIGH),
            "mean": f"M0 {svg.number(level)}H{WIDE}",
        }
        axis = svg.path("zero", f"M0 {COST_HIGH / 2:g}H{WIDE}")
        note = f"random u; line: ū = {fixed(mean, 2)}"
        return Stage(note, paths, NONE), COST_HIGH, axis, ends(COST_LIMIT)

    def _gradient(self) -> tuple[Stage, int, str, Ticks]:
        flow, before = self._flow(self.weights), self._flow(softmax(self.scores))
        few = self.n_keys <= FEW
        low, high = GRADIENT_LIMITS
        limit = low if max(abs(flow).max(), abs(before).max()) <= low else high
        paths = {
            "ghost": self._edges(
                before, lambda value: level_at(value, limit, GRADIENT_HIGH), SEEN * limit
            ),
            "bars": standing(flow, limit, GRADIENT_HIGH),
            "beyond": beyond(flow, limit, GRADIENT_HIGH),
        }
        top = int(np.argmax(abs(flow)))
        labels = []
        for place, value in enumerate(flow if few else ()):
            text = fixed(value, 2) if place == top or abs(value) >= 0.15 * limit else ""
            labels.append(
                outside(place, self.n_keys, value, limit, GRADIENT_HIGH, text, place == top)
            )
        axis = svg.path("zero", f"M0 {GRADIENT_HIGH / 2:g}H{WIDE}")
        axis += svg.path("grid", f"M0 0H{WIDE}M0 {GRADIENT_HIGH}H{WIDE}")
        return Stage("p · (u − ū), for each score", paths, labels), GRADIENT_HIGH, axis, ends(limit)

    def _grips(self) -> str:
        """Return a slider for each of a few scores, at the tip of its bar."""
        few = self.n_keys if self.n_keys <= FEW else 0
        grips = []
        for place in range(FEW):
            score = self.scores[place] if place < few else 0
            top = 100 * level_at(score, self._limit(), SCORE_HIGH) / SCORE_HIGH
            where = f"left:{percent(100 * place / self.n_keys)}%;top:{percent(top)}%;"
            grips.append(
                f'<span class="grip" style="{where}width:{percent(100 / self.n_keys)}%"'
                f"{'' if place < few else ' hidden'}>"
                f'<input type="range" min="-{LIMIT}" max="{LIMIT}" step="0.5" '
                f'value="{svg.number(score)}" aria-label="Score of key {place + 1}" '
                f'aria-valuetext="{fixed(score, 1)}"></span>'
            )
        return f'<div class="grips">{"".join(grips)}</div>'


Ticks = list[tuple[str, Any]]
NONE: list[tuple[float, float, str, str]] = []
"""No labels, now or in another state."""


def ends(limit: float) -> Ticks:
    """Return the ticks of an axis with zero in the middle."""
    return [("0", limit), ("50", 0), ("100", f"−{limit}")]


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
    >>> percent(3.125), percent(50.0), percent(-4.5)
    ('3.13', '50', '-4.5')
    """
    return fixed(value, 2).replace("−", "-").rstrip("0").rstrip(".")


def short(value: float) -> str:
    """Return a number's text for a narrow place.

    Examples
    --------
    >>> short(-9.94), short(45.6)
    ('−9.9', '46')
    """
    return fixed(value, 1 if abs(value) < 9.95 else 0)


def strip(vector: np.ndarray, high: int, span: float) -> str:
    """Return a bar up or down for each component of a vector, from the left."""
    pitch = min(PITCH, WIDE / len(vector))
    wide = pitch * (0.7 if len(vector) <= 128 else 1)
    return "".join(
        svg.bar(pitch * (place + 0.5) - wide / 2, high / 2, wide, high * value / span)
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


def tips(values: np.ndarray, limit: float, high: int, places: Iterable[int] | None = None) -> str:
    """Return a dot where each bar ends, or each of some bars."""
    room = WIDE / len(values)
    shown = range(len(values)) if places is None else sorted(places)
    return svg.dots((room * (i + 0.5), level_at(values[i], limit, high)) for i in shown)


def beyond(values: np.ndarray, limit: float, high: int) -> str:
    """Return an arrow head for each of a few bars that is cut off."""
    room = WIDE / len(values)
    heads = {True: "-1l5 -6l5 6", False: f"{high + 1}l5 6l5 -6"}
    return "".join(
        f"M{svg.number(room * (place + 0.5) - 5)} {heads[bool(value > 0)]}z"
        for place, value in enumerate(values if len(values) <= FEW else ())
        if abs(value) > limit
    )


def outside(
    place: int,
    count: int,
    value: float,
    limit: float,
    high: int,
    text: str,
    top: bool,
    free: int = 0,
) -> tuple[float, float, str, str]:
    """Return a number beyond the end of its bar, and of what else is free of it there."""
    free = FREE if abs(value) > limit else free
    level = level_at(value, limit, high) + (-free if value >= 0 else free)
    kind = f"{'above' if value >= 0 else 'below'}{' top' if top else ''}"
    return 100 * (place + 0.5) / count, 100 * level / high, text, kind


def share(value: float) -> str:
    """Return a weight in percent, with two digits if it is below one.

    Examples
    --------
    >>> share(0.217), share(0.00344)
    ('22%', '0.34%')
    """
    return f"{fixed(100 * value, 0 if value >= LITTLE else 2)}%"


def tops(shares: np.ndarray, text: Callable[[float], str]) -> list[tuple[float, float, str, str]]:
    """Return the number at the largest bar, and of a few keys at each that shows."""
    top = int(np.argmax(shares))
    shown = range(len(shares)) if len(shares) <= FEW else (top,)
    return [
        (
            100 * (place + 0.5) / len(shares),
            100 * (1 - shares[place]),
            text(shares[place]) if place == top or shares[place] >= LITTLE else "",
            "tip top" if place == top else "tip",
        )
        for place in shown
    ]
