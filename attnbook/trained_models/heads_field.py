"""The figure of all heads of the trained models, in which a reader finds each by its name."""

from __future__ import annotations

import html
import json
import math
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Any, ClassVar

import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, slider, switch
from attnbook.trained_models.computed import NAMES, kept

WIDE, HIGH = 400, 280
SPREADS, POSITIONS = (0.05, 20), (1, 400)
"""The ends of the axes, both logarithmic."""
PARTS = ("spread", "positions")
LAYERS, HEADS = tuple(range(1, 31)), tuple(range(1, 10))
NAMED = {name: words for words, name in NAMES.items()}


def across(spread: float) -> float:
    """Return where a spread lies, from the left."""
    low, high = SPREADS
    return WIDE * math.log(max(spread, low) / low) / math.log(high / low)


def down(positions: float) -> float:
    """Return where a number of effective positions lies, from the top."""
    low, high = POSITIONS
    return HIGH - HIGH * math.log(max(positions, low) / low) / math.log(high / low)


@cache
def points(name: str, without_first: bool) -> list[tuple[float, float]]:
    """Return where the heads of a model lie in the picture, layer by layer."""
    heads = kept()[name]["heads"]
    spread, positions = (heads[part + " of the rest" * without_first] for part in PARTS)
    return [(across(s), down(p)) for s, p in zip(spread, positions, strict=True)]


@cache
def data() -> str:
    """Return what the module reads, as JSON."""
    return json.dumps(
        {
            words: {
                "layers": max(model["heads"]["layer"]) + 1,
                "heads": max(model["heads"]["head"]) + 1,
                "start": model.get("untrained median"),
                "values": [
                    [model["heads"][part + " of the rest" * rest] for part in PARTS]
                    for rest in (False, True)
                ],
            }
            for name, words in NAMES.items()
            for model in [kept()[name]]
        }
    )


class HeadsField(LiveFigure):
    """The heads of four trained models, a dot each: spread within a row, and effective positions.

    Parameters
    ----------
    model : str
        The model whose heads are dark, one of `attnbook.trained_models.computed.NAMES`.
    layer : int
        The layer whose heads are filled, from 1 to 30. A model with fewer shows its last one.
    head : int
        The head of that layer that is framed and named, from 1 to 9; the last one, likewise.
    rest : bool
        Whether each row is taken without its first key.

    Examples
    --------
    >>> from attnbook.figures import HeadsField
    >>> HeadsField(model="PP-OCRv4", layer=9).place
    (1, 0)

    Notes
    -----
    Shown on the page on trained models. The surprise: few heads have kept the spread of one that
    the division gives to a random head.
    """

    state: ClassVar[tuple[str, ...]] = ("model", "layer", "head", "rest")
    model = traitlets.Enum(tuple(NAMED), next(iter(NAMED))).tag(sync=True)
    layer = traitlets.Enum(LAYERS, LAYERS[0]).tag(sync=True)
    head = traitlets.Enum(HEADS, HEADS[0]).tag(sync=True)
    rest = traitlets.Bool(default_value=False).tag(sync=True)

    @property
    def measured(self) -> dict[str, Any]:
        """What was measured of the chosen model."""
        return kept()[NAMED[self.model]]

    @property
    def place(self) -> tuple[int, int]:
        """The chosen layer and head, counted from zero, of those that the model has."""
        heads = self.measured["heads"]
        return min(self.layer - 1, max(heads["layer"])), min(self.head - 1, max(heads["head"]))

    def controls(self) -> str:
        """Return the list of models, the sliders and the switch."""
        options = "".join(
            f'<option value="{words}"{" selected" if words == self.model else ""}>{words}</option>'
            for words in NAMED
        )
        return (
            f'<label class="choice">Model <select name="model">{options}</select></label>'
            + slider("layer", "Layer", LAYERS, self.layer)
            + slider("head", "Head", HEADS, self.head)
            + switch("rest", "Leave out the first key of each row", self.rest)
        )

    def picture(self) -> str:
        """Return the plane with its dots."""
        layer, head = self.place
        heads = self.measured["heads"]
        own = points(NAMED[self.model], self.rest)
        others = [p for name in NAMES if name != NAMED[self.model] for p in points(name, self.rest)]
        chosen = [p for p, at in zip(own, heads["layer"], strict=True) if at == layer]
        start = self.measured.get("untrained median")
        plot = (
            svg.axes(WIDE, HIGH)
            + svg.path("one", f"M{svg.number(across(1))} 0V{HIGH}")
            + svg.path("start", f"M{svg.number(across(start))} 0V{HIGH}" if start else "M0 0")
            + svg.path("others", svg.dots(others))
            + svg.path("heads", svg.dots(own))
            + svg.path("layer", svg.dots(chosen))
            + svg.path("mark", ring(chosen[head]))
        )
        names = svg.name("after", "spread of one", 100 * across(1) / WIDE, 0)
        names += svg.name(
            "above untrained", "untrained" if start else "", 100 * across(start or 1) / WIDE, 0
        )
        ticks = svg.labels((svg.number(100 * across(s) / WIDE), s) for s in (0.1, 1, 10))
        rows = svg.labels(((svg.number(100 * down(p) / HIGH), p) for p in (1, 10, 100)), "top")
        drawn = svg.picture(plot, WIDE, HIGH, self.words(), "divided")
        return (
            svg.upright("effective positions")
            + f'<div class="heads-field" data-late="{html.escape(data())}">'
            + svg.aside("heads-rows", rows)
            + f'<div class="figure-plot">{drawn}{svg.aside("figure-names", names)}'
            + f"{svg.aside('figure-places', ticks)}</div></div>"
            + svg.caption("spread within a row")
            + svg.remark("Each dot is a head. Faint: the other models. Filled: the chosen layer.")
        )

    def words(self) -> str:
        """Return the name of the chosen head, and where it lies."""
        layer, head = self.place
        heads = self.measured["heads"]
        at = layer * (max(heads["head"]) + 1) + head
        spread, positions = (digits(heads[part + " of the rest" * self.rest][at]) for part in PARTS)
        return (
            f"{self.model}, layer {layer + 1}, head {head + 1}: spread {spread}, "
            f"{positions} effective positions."
        )


def ring(point: tuple[float, float]) -> str:
    """Return a square around a point."""
    return svg.square(*point, 16)


def digits(value: float) -> str:
    """Return a number as it is read; halves go up, as in the module.

    Examples
    --------
    >>> digits(0.834), digits(84.25), digits(143.6)
    ('0.83', '84.3', '144')
    """
    places = 2 if value < 10 else 1 if value < 100 else 0
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
