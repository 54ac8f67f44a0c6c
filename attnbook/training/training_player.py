"""The figure in which a reader steps through training, with the division and without it."""

from __future__ import annotations

import html
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, slider, switch
from attnbook.training import GroupMeanTask, reference_losses

RECORDING = Path(__file__).with_name("training_runs.json")
STEPS = (0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
WIDTHS = (16, 64, 256)
OPTIMIZERS = ("SGD", "Adam")
LEVELS = 6
"""A weight is kept as its square root in sixths."""
ARMS = {"undivided": "not divided", "divided": "divided"}
WIDE, HIGH, EDGE = 320, 180, 6
# Curves leave the plot here, and an arrowhead says so of a loss that is still above.
TOP = 1.25
# Behind the keys of a row's own group, half a column apart, is the sum of all others.
CELL, ROOM = 10, 14
ROWS, GROUP = 8, 4
KEYS = ROWS * GROUP
NAMES = ("predict zero", "uniform", "one token")
SENT = ("optimizer", "d_k", "loss", "right", "maps")
"""What the module reads of a run."""


@cache
def recorded_runs() -> list[dict[str, Any]]:
    """Return all runs."""
    return json.loads(RECORDING.read_text("utf-8"))["runs"]


@cache
def data() -> str:
    """Return what the module reads, as JSON."""
    runs = [
        {name: run[name] for name in SENT} | {"maps": [*map(own_keys, run["maps"])]}
        for run in recorded_runs()
    ]
    return json.dumps(runs, separators=(",", ":"))


def own_keys(levels: str) -> str:
    """Return what a map says of each row's own group.

    Examples
    --------
    >>> from attnbook.training.training_player import own_keys
    >>> own_keys("1" * 32 + "0002" * 56)[:12]
    '111100020002'
    """
    return "".join(levels[row * (KEYS + GROUP) :][:GROUP] for row in range(ROWS))


class TrainingPlayer(LiveFigure):
    """Two recorded training runs side by side, without the division and with it.

    The task is group mean, the runs are those of the first seed that the ablation reports, each
    at its own tuned rate. Both arms start from the same weights and see the same sequences. They
    were recorded once: late steps of a wide head without the division differ between processors.

    Parameters
    ----------
    step : int
        After how many steps, one of 0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200, 300, 400, ...,
        1000.
    d_k : int
        Width of the head, one of 16, 64 and 256.
    adam : bool
        Whether the optimizer is Adam and not SGD.

    Notes
    -----
    Shown in the chapter on training. The surprise: the undivided wide head finds the right
    group as surely as the divided one, but stays on one of its keys and has a far larger
    loss. The runs are those of :func:`attnbook.training.train_together`; the reference losses
    are those of :func:`attnbook.training.reference_losses`.

    Examples
    --------
    >>> from attnbook.figures import TrainingPlayer
    >>> figure = TrainingPlayer(step=1000)
    >>> figure
    TrainingPlayer(step=1000, d_k=256, adam=False)
    >>> figure.weights.shape
    (2, 8, 32)
    >>> figure.measured("rate")
    [0.056, 0.32]
    """

    state = ("step", "d_k", "adam")
    step = traitlets.Enum(STEPS, 500).tag(sync=True)
    d_k = traitlets.Enum(WIDTHS, 256).tag(sync=True)
    adam = traitlets.Bool(default_value=False).tag(sync=True)

    @property
    def place(self) -> int:
        """The place of the present step among those that are recorded."""
        return STEPS.index(self.step)

    @property
    def optimizer(self) -> str:
        """The name of the optimizer."""
        return OPTIMIZERS[self.adam]

    def measured(self, name: str) -> list[Any]:
        """Return what was recorded of both arms under a name, the one without division first."""
        return [
            run[name]
            for run in recorded_runs()
            if (run["optimizer"], run["d_k"]) == (self.optimizer, self.d_k)
        ]

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, rounded as they are, shape (2, 8, 32): arms, queries, keys."""
        maps = [list(map(int, one[self.place])) for one in self.measured("maps")]
        return (np.reshape(maps, (2, ROWS, KEYS)) / LEVELS) ** 2

    def controls(self) -> str:
        """Return sliders for step and width, the switch, and the button that plays."""
        return (
            slider("step", "Step", STEPS, self.step)
            + '<button type="button" name="play">Play</button>'
            + slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + switch("adam", "Adam instead of SGD", self.adam)
        )

    def picture(self) -> str:
        """Return the losses and the two maps."""
        maps = "".join(map(self.map_of, range(2)))
        return (
            f'<div class="training-room" data-late="{html.escape(data())}">'
            f'<div class="training">{maps}{self.losses()}</div></div>'
        ) + svg.remark(
            "Task: average the four tokens that have the query's tag. Each row of a map is a "
            "query; area is weight. Recorded runs of one seed."
        )

    def losses(self) -> str:
        """Return the panel of the losses so far."""
        references = list(zip(NAMES, reference_losses(GroupMeanTask())[:3], strict=True))
        lines = "".join(f"M0 {svg.number(height(loss))}H{WIDE}" for _, loss in references)
        curves = "".join(map(self.curve, range(2)))
        now = svg.path("now", f"M{svg.number(across(self.step))} 0V{HIGH}")
        plot = f"{svg.axes(WIDE, HIGH)}{svg.path('reference', lines)}{now}{curves}"
        scale, names = (
            svg.labels(((f"{100 * height(loss) / HIGH:g}", text) for text, loss in marked), "top")
            for marked in ([("1", 1), ("0.5", 0.5), ("0", 0)], references)
        )
        ticks = svg.labels(
            (f"{100 * across(step) / WIDE:.2f}", step) for step in (0, 10, 100, 1000)
        )
        keys = " ".join(f'<span class="{arm}">{name}</span>' for arm, name in ARMS.items())
        return (
            f'<div class="training-loss"><p class="training-title">loss {keys}</p>'
            f'<div class="training-plot">{svg.aside("training-scale", scale)}'
            f"{svg.picture(plot, WIDE, HIGH)}{svg.aside('training-names', names)}"
            f"{svg.aside('training-ticks', ticks)}{svg.caption('step')}</div></div>"
        )

    def curve(self, arm: int) -> str:
        """Return the losses of an arm from the top of the plot on, and the present one."""
        kind, losses = list(ARMS)[arm], self.measured("loss")[arm]
        x, y = (list(map(place, values)) for place, values in ((across, STEPS), (height, losses)))
        first = next(place for place, low in enumerate(y) if low >= 0)
        if self.place < first:
            foot = 8 * arm + 7
            left, right = (svg.number(x[self.place] + side) for side in (-4, 4))
            return svg.path(
                f"{kind} curve", f"M{left} {foot}l4 -6M{right} {foot}l-4 -6"
            ) + svg.path(f"{kind} marker", "")
        entry = x[first] - y[first] * (x[first] - x[first - 1]) / (y[first] - y[first - 1])
        points = list(zip(x, y, strict=True))[first : self.place + 1]
        return svg.path(f"{kind} curve", svg.line([(entry, 0), *points])) + svg.path(
            f"{kind} marker", svg.dots(points[-1:])
        )

    def map_of(self, arm: int) -> str:
        """Return the attention map of an arm."""
        kind, name = list(ARMS.items())[arm]
        right = self.measured("right")[arm][self.place]
        frames = "".join(
            f"M0 {CELL * row}h{ROOM * GROUP}v{CELL}h{-ROOM * GROUP}z" for row in range(ROWS)
        )
        words = "" if arm else self.words()
        plot = svg.path("frames", frames) + svg.path(f"{kind} cells", self.cells(arm))
        return (
            f'<div class="training-map {kind}"><p class="training-title">'
            f'<span class="{kind}">{name}</span></p><p class="training-title figure-axis">'
            f'<span class="value">right keys {right:.0%}</span><span>rest</span></p>'
            f"{svg.picture(plot, 5 * ROOM + CELL // 2, CELL * ROWS, words, stretched=False)}</div>"
        )

    def cells(self, arm: int) -> str:
        """Return the squares whose areas are the weights of own keys, and of the rest."""
        own = self.weights[arm].reshape(ROWS, ROWS, GROUP)[range(ROWS), range(ROWS)]
        rest = np.maximum(1 - own.sum(axis=1, keepdims=True), 0)
        return "".join(
            svg.square(middle(column), CELL * (row + 0.5), 0.9 * CELL * side)
            for (row, column), side in np.ndenumerate(np.sqrt(np.hstack([own, rest])))
            if side > 0.01
        )

    def words(self) -> str:
        """Return the loss of both arms."""
        undivided, divided = (loss[self.place] for loss in self.measured("loss"))
        return f"Step {self.step}: loss {undivided:.4f} not divided, {divided:.4f} divided."


def across(step: int) -> float:
    """Return where a step is on the axis of steps, which is logarithmic but for its beginning."""
    return EDGE + (WIDE - 2 * EDGE) * math.log(1 + step) / math.log(1 + STEPS[-1])


def height(loss: float) -> float:
    """Return where a loss is on its axis, below zero if it is above the top."""
    return HIGH * (1 - loss / TOP)


def middle(column: int) -> float:
    """Return the middle of a column of a map."""
    return ROOM * (column + 0.5 + (column == GROUP) / 2)
