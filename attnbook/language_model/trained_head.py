"""The figure in which a reader looks into the heads of two small trained models."""

from __future__ import annotations

import html
import json
import math
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, slider, switch
from attnbook.language_model.model import LINES, MODELS, trained_model
from attnlib import softmax

HEADS = ("layer 1, head 1", "layer 1, head 2", "layer 2, head 1", "layer 2, head 2")
PLACES = tuple(range(1, len(LINES[0]) + 1))
TRAINED = {"divided": "trained with the division", "undivided": "trained without it"}
SWITCHES = {"divided": "Take this head’s division away", "undivided": "Give this head the division"}
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
FINE, FARTHEST = 200, 64 * 64 - 1
"""Divided scores are kept as so many parts of one below the largest of their row."""
CELL = 10
SPACE, END = "·", "↵"


class Kept(NamedTuple):
    """What the page keeps of one model.

    `below` says how far each divided score is below the largest of its row, in parts of one,
    shape (heads, lines, places, places); `expected` and `sure` the likeliest next character and
    its chance in percent, as trained and with each head switched, shape (1 + heads, lines, places);
    `losses` the loss of each of these.
    """

    below: np.ndarray
    expected: np.ndarray
    sure: np.ndarray
    losses: tuple[float, ...]


@cache
def kept(name: str) -> Kept:
    """Let a model read the lines, and return what the page keeps of it."""
    model = trained_model(name)
    pieces = model.pieces(LINES)
    readings = [model.read(pieces), *(model.read(pieces, [place]) for place in model.places)]
    scores = readings[0].scores.swapaxes(1, 2).reshape(len(HEADS), len(LINES), *2 * PLACES[-1:])
    seen = np.where(np.tri(PLACES[-1], dtype=bool), scores / model.root, -np.inf)
    below = np.rint(FINE * (seen.max(axis=-1, keepdims=True) - seen))
    chances = softmax(np.array([reading.logits for reading in readings]))
    symbols = np.array(list(model.about["symbols"]))
    measured = model.found["validation"]
    return Kept(
        np.minimum(below, FARTHEST).astype(int),
        symbols[chances.argmax(axis=-1)],
        np.floor(100 * chances.max(axis=-1) + 0.5).astype(int),
        (measured["as trained"], *measured["one head switched"]),
    )


def two_digits(numbers: np.ndarray) -> str:
    """Return whole numbers below 4096, each as two of 64 digits.

    Examples
    --------
    >>> two_digits([0, 63, 64, 4095])
    'AAA_BA__'
    """
    return "".join(DIGITS[n // 64] + DIGITS[n % 64] for n in np.ravel(numbers))


@cache
def data() -> str:
    """Return what the module reads, as JSON."""
    lower = np.tril_indices(PLACES[-1])
    models = [kept(name) for name in MODELS]
    kept_of_both = {
        "scores": two_digits(np.array([model.below[..., *lower] for model in models])),
        "expected": "".join(symbol for model in models for symbol in model.expected.ravel()),
        "sure": two_digits(np.array([model.sure for model in models])),
        "losses": [[f"{loss:.2f}" for loss in model.losses] for model in models],
    }
    return json.dumps(kept_of_both)


def percent(share: float) -> int:
    """Return a share in whole percent; halves go up, as in the module."""
    return math.floor(100 * share + 0.5)


def named(symbol: str) -> str:
    """Return a character as the words name it.

    Examples
    --------
    >>> named("x"), named(" ")
    ('“x”', 'a space')
    """
    return {" ": "a space", "\n": "the end of the line"}.get(symbol, f"“{symbol}”")


class TrainedHead(LiveFigure):
    """The attention of a trained head on a line of code, with its division and without it.

    Two small language models of two layers with two heads each. One was trained with the division
    by √d_k and one without, both from queries and keys of variance one. NumPy computes from the
    weights what a head does to a line. To switch a head over is to multiply its scores by √d_k or
    by its inverse, and changes nothing else in the model.

    Parameters
    ----------
    line : str
        The line of code, one of `attnbook.language_model.model.LINES`.
    head : str
        The head, such as ``"layer 1, head 2"``.
    position : int
        The character whose attention is shown, from 1 to 24.
    model : str
        How the model was trained: ``"divided"`` or ``"undivided"``.
    switched : bool
        Whether the head does without the division that it was trained with, or gets the one that
        it was trained without.

    Examples
    --------
    >>> from attnbook.figures import TrainedHead
    >>> figure = TrainedHead(position=3)
    >>> figure.weights.shape
    (24, 24)
    >>> bool(abs(figure.weights[2].sum() - 1) < 1e-12), float(figure.weights[2, 3])
    (True, 0.0)

    Notes
    -----
    Shown on the page on the language model. The surprise: a trained head whose division is
    taken away looks at one character, and the loss rises. ``make trained-head`` trains both
    models anew.
    """

    state: ClassVar[tuple[str, ...]] = ("line", "head", "position", "model", "switched")
    line = traitlets.Enum(LINES, LINES[6]).tag(sync=True)
    head = traitlets.Enum(HEADS, HEADS[1]).tag(sync=True)
    position = traitlets.Enum(PLACES, 17).tag(sync=True)
    model = traitlets.Enum(MODELS, MODELS[0]).tag(sync=True)
    switched = traitlets.Bool(default_value=False).tag(sync=True)

    @property
    def divides(self) -> bool:
        """Whether the head on the screen divides its scores."""
        return (self.model == "divided") is not self.switched

    @property
    def weights(self) -> np.ndarray:
        """The weights of all positions, shape (24, 24)."""
        below = kept(self.model).below[HEADS.index(self.head), LINES.index(self.line)]
        factor = 1.0 if self.divides else trained_model(self.model).root
        logits = np.where(np.tri(len(below), dtype=bool), -factor * below / FINE, -np.inf)
        return softmax(logits)

    def controls(self) -> str:
        """Return lists of lines, heads and models, the slider and the switch."""
        return (
            self._choice("line", "Line", {line: line for line in LINES})
            + self._choice("head", "Head", {head: head for head in HEADS})
            + self._choice("model", "Model", TRAINED)
            + slider("position", "Look from character", PLACES, self.position)
            + switch("switched", SWITCHES[self.model], self.switched)
        )

    def _choice(self, name: str, label: str, options: dict[str, str]) -> str:
        listed = "".join(
            f'<option value="{html.escape(value)}"'
            f"{' selected' if value == getattr(self, name) else ''}>{html.escape(text)}</option>"
            for value, text in options.items()
        )
        return (
            f'<label class="choice {name}">{label} <select name="{name}">{listed}</select></label>'
        )

    def picture(self) -> str:
        """Return the line with the weights of one position, and the map of all of them."""
        arm = svg.ARMS[self.divides]
        heads = svg.aside("trained-letters", svg.spans(map(shown, self.line)))
        plot = (
            svg.path("row", svg.level_bar(0, CELL * (self.position - 1), CELL * PLACES[-1], CELL))
            + svg.path("half", f"M0 0L{CELL * PLACES[-1]} {CELL * PLACES[-1]}")
            + svg.path("bars", self.squares())
        )
        side = CELL * PLACES[-1]
        drawn = svg.picture(plot, side, side, self.words(), arm, stretched=False)
        return (
            f'<div class="trained {arm}" data-late="{html.escape(data())}">'
            f"{svg.aside('trained-keys', self.cells())}"
            f'<div class="trained-map">{heads}{heads}{drawn}</div></div>'
        ) + svg.remark(
            "Above: the framed character’s weights in percent, on itself and on those before it. "
            "Below: every character’s, a row each; area is weight. A dot is a space; the loss "
            "is that on other code, in nats."
        )

    def cells(self) -> str:
        """Return the characters of the line with their weights."""
        row = self.weights[self.position - 1]
        cells = []
        for place, (symbol, weight) in enumerate(zip(self.line, row, strict=True), 1):
            kind = (
                "here" if place == self.position else "seen" if place < self.position else "later"
            )
            share = "" if kind == "later" else str(percent(weight) or "")
            cells.append(
                f'<span class="{kind}"><i style="height:{share or 0}%"></i>'
                f"<b>{shown(symbol)}</b><span>{share}</span></span>"
            )
        return "".join(cells)

    def squares(self) -> str:
        """Return the outlines of the squares whose areas are the weights."""
        return "".join(
            svg.square(CELL * (column + 0.5), CELL * (row + 0.5), 0.94 * CELL * side)
            for (row, column), side in np.ndenumerate(np.sqrt(self.weights))
            if side > 0.05
        )

    def words(self) -> str:
        """Return the largest weight, what the model expects next, and its loss."""
        what, line = kept(self.model), LINES.index(self.line)
        change = HEADS.index(self.head) + 1 if self.switched else 0
        row = self.weights[self.position - 1, : self.position]
        best = int(row.argmax())
        at = (change, line, self.position - 1)
        before, now = what.losses[0], what.losses[change]
        loss = f"{before:.2f} to {now:.2f}" if self.switched else f"{before:.2f}"
        return (
            f"{percent(row[best])}% on {named(self.line[best])}; the model expects "
            f"{named(what.expected[at])} ({what.sure[at]}%). Loss: {loss}."
        )


def shown(symbol: str) -> str:
    """Return a character as the picture has it."""
    return SPACE if symbol == " " else html.escape(symbol, quote=False)
