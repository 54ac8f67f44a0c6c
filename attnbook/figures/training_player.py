"""The figure in which a reader steps through training, with the division and without it."""

from __future__ import annotations

import html
import json
import math
from functools import cache
from typing import Any

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import HERE, LiveFigure, slider, switch
from attnlib.group_mean import GroupMeanTask, reference_losses

RECORDING = HERE / "training_runs.json"
STEPS = (0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
WIDTHS = (16, 64, 256)
OPTIMIZERS = ("SGD", "Adam")
LEVELS = 6
"""A weight is kept as its square root in sixths."""
ARMS = {"undivided": "not divided", "divided": "divided"}
WIDE, HIGH, EDGE = 320, 180, 6
# Losses beyond the top are drawn at it, which its name says.
TOP = 1.25
CELL, ROWS, GROUP = 10, 8, 4
KEYS = ROWS * GROUP
NAMES = ("predict zero", "uniform", "one token", "ideal")
SENT = ("optimizer", "d_k", "loss", "right", "maps")
"""What the module reads of a run."""


@cache
def recorded_runs() -> list[dict[str, Any]]:
    """Return all runs."""
    return json.loads(RECORDING.read_text("utf-8"))["runs"]


@cache
def data() -> str:
    """Return what the module reads, as JSON."""
    runs = [{name: run[name] for name in SENT} for run in recorded_runs()]
    return json.dumps(runs, separators=(",", ":"))


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
    loss. The runs are those of :func:`attnlib.training.train_together`; the reference losses
    are those of :func:`attnlib.group_mean.reference_losses`.

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
            f'<div class="training">{self.losses()}{maps}</div></div>'
        ) + svg.remark(
            "Recorded runs of one seed. Dotted: losses of zero, and of the best multiples of the "
            "mean of all tokens and of one right token. Maps: one test sequence, a row for each of "
            "its eight tags; area is weight, and frames hold the four right keys."
        )

    def losses(self) -> str:
        """Return the panel of the losses so far."""
        references = list(zip(NAMES, reference_losses(GroupMeanTask()), strict=True))
        lines = "".join(f"M0 {svg.number(height(loss))}H{WIDE}" for _, loss in references)
        curves = "".join(
            svg.path(f"{arm} curve", svg.line(self.points(loss)[: self.place + 1]))
            + svg.path(f"{arm} marker", f"{svg.line([self.points(loss)[self.place]])}h0")
            for arm, loss in zip(ARMS, self.measured("loss"), strict=True)
        )
        now = svg.path("now", f"M{svg.number(across(self.step))} 0V{HIGH}")
        plot = f"{svg.axes(WIDE, HIGH)}{svg.path('reference', lines)}{now}{curves}"
        marked = [(TOP, f"≥ {TOP}"), *((loss, f"{name} {loss:g}") for name, loss in references)]
        names = svg.labels(((f"{100 * height(y) / HIGH:g}", text) for y, text in marked), "top")
        ticks = svg.labels(
            (f"{100 * across(step) / WIDE:.2f}", step) for step in (0, 10, 100, 1000)
        )
        keys = " ".join(f'<span class="{arm}">{name}</span>' for arm, name in ARMS.items())
        return (
            f'<div class="training-loss"><p class="training-title">loss by step: {keys}</p>'
            f'<div class="training-plot">{svg.aside("training-names", names)}'
            f"{svg.picture(plot, WIDE, HIGH, self.words())}"
            f"{svg.aside('training-ticks', ticks)}</div></div>"
        )

    def points(self, loss: list[float]) -> list[tuple[float, float]]:
        """Return where the losses at the recorded steps are drawn."""
        return [(across(step), height(value)) for step, value in zip(STEPS, loss, strict=True)]

    def map_of(self, arm: int) -> str:
        """Return the attention map of an arm."""
        kind, name = list(ARMS.items())[arm]
        right = self.measured("right")[arm][self.place]
        frames = "".join(
            f"M{CELL * GROUP * row} {CELL * row}h{CELL * GROUP}v{CELL}h{-CELL * GROUP}z"
            for row in range(ROWS)
        )
        plot = svg.path("frames", frames) + svg.path(f"{kind} cells", self.cells(arm))
        return (
            f'<div class="training-map {kind}"><p class="training-title figure-axis">'
            f'<span class="{kind}">{name}</span>, <output>{right:.2f} on right keys</output></p>'
            f"{svg.picture(plot, CELL * KEYS, CELL * ROWS)}</div>"
        )

    def cells(self, arm: int) -> str:
        """Return the outlines of the squares whose areas are the weights of an arm."""
        return "".join(
            svg.square(CELL * (column + 0.5), CELL * (row + 0.5), 0.9 * CELL * side)
            for (row, column), side in np.ndenumerate(np.sqrt(self.weights[arm]))
            if side
        )

    def words(self) -> str:
        """Return the loss of both arms."""
        undivided, divided = (loss[self.place] for loss in self.measured("loss"))
        return f"Step {self.step}: loss {undivided:.4f} not divided, {divided:.4f} divided."


def across(step: int) -> float:
    """Return where a step is on the axis of steps, which is logarithmic but for its beginning."""
    return EDGE + (WIDE - 2 * EDGE) * math.log(1 + step) / math.log(1 + STEPS[-1])


def height(loss: float) -> float:
    """Return where a loss is on its axis."""
    return HIGH * (1 - min(loss, TOP) / TOP)
