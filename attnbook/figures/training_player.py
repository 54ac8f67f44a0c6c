"""The figure in which a reader steps through training, with the division and without it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import HERE, LiveFigure, slider, switch
from attnlib.group_mean import GroupMeanTask, reference_losses

RECORDING = HERE / "training_player.json"
STEPS = (0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
WIDTHS = (16, 64, 256)
OPTIMIZERS = ("SGD", "Adam")
LEVELS = 6
"""A weight is kept as its square root in sixths."""
ARMS = {"undivided": "not divided", "divided": "divided"}
WIDE, HIGH, EDGE = 320, 180, 6
# Losses beyond the top are drawn at it.
TOP = 1.25
CELL, ROWS, GROUP = 10, 8, 4
KEYS = ROWS * GROUP
# Powers of ten of the lengths of gradients.
SHORTEST, LONGEST = -4, 2
BAND, BANDS = 20, 40
NAMES = ("zero", "uniform", "one token", "ideal")


@cache
def recorded_runs() -> list[dict[str, Any]]:
    """Return all runs, which the module has as its table."""
    return json.loads(RECORDING.read_text("utf-8"))["runs"]


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
    group and stays on one of its keys; the divided one shares. The runs are those of
    :func:`attnlib.training.train_together`; the reference losses are those of
    :func:`attnlib.group_mean.reference_losses`.

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
    step = traitlets.Enum(STEPS, 100).tag(sync=True)
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
        """Return the losses, the two maps and the ranges of the gradients."""
        maps = "".join(map(self.map_of, range(2)))
        return (
            f'<div class="training-room"><div class="training">{self.losses()}{maps}'
            f"{self.gradients()}</div></div>"
        ) + svg.remark(
            "Recorded runs of one seed. Dotted: losses of zero, and of the best multiples of the "
            "mean of all tokens and of one right token; those above 1.25 lie at the top. Maps: one "
            "test sequence, a row for each of its eight tags; area is weight, and frames hold the "
            "four right keys."
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
        keys = " ".join(f'<span class="{arm}">{name}</span>' for arm, name in ARMS.items())
        return (
            f'<div class="training-loss"><p class="training-title">loss by step: {keys}</p>'
            + plotted(
                ((height(loss) / HIGH, f"{name} {loss:g}") for name, loss in references),
                svg.picture(plot, WIDE, HIGH, self.words()),
                ((across(step), step) for step in (0, 10, 100, 1000)),
            )
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

    def gradients(self) -> str:
        """Return the panel of the lengths of gradients."""
        bands = "".join(
            svg.path(f"{kind} band", self.band(arm)[0])
            + svg.path(f"{kind} middle", self.band(arm)[1])
            for arm, kind in enumerate(ARMS)
        )
        powers = range(SHORTEST, LONGEST + 1, 2)
        grid = "".join(f"M{svg.number(along(power))} 0V{BANDS}" for power in powers)
        return (
            '<div class="training-gradients"><p class="training-title">length of the gradient: '
            "5%, median, 95%</p>"
        ) + plotted(
            ((0.25 + 0.5 * arm, name) for arm, name in enumerate(ARMS.values())),
            svg.picture(svg.path("axis", grid) + bands, WIDE, BANDS),
            (
                (along(power), f"{'≤ ' if power == SHORTEST else ''}{10.0**power:g}")
                for power in powers
            ),
        )

    def band(self, arm: int) -> tuple[str, str]:
        """Return the line from the lower to the upper quantile of an arm, and its median."""
        low, middle, high = (
            svg.number(along(self.measured(name)[arm][self.place]))
            for name in ("low", "median", "high")
        )
        y = BAND * arm + BAND // 2
        return f"M{low} {y}H{high}", f"M{middle} {y - 7}v14"

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


def along(power: float) -> float:
    """Return where a power of ten is on the axis of lengths."""
    return EDGE + (WIDE - 2 * EDGE) * (power - SHORTEST) / (LONGEST - SHORTEST)


def plotted(
    names: Iterable[tuple[float, str]], plot: str, ticks: Iterable[tuple[float, Any]]
) -> str:
    """Return the rest of a panel: a plot with its names on the left and its ticks below.

    Names have their heights as parts of the whole, ticks their places in the picture.
    """
    on_left = svg.labels(((f"{100 * at:g}", name) for at, name in names), side="top")
    below = svg.labels((f"{100 * at / WIDE:.2f}", tick) for at, tick in ticks)
    return (
        f'<div class="training-plot">{svg.aside("training-names", on_left)}{plot}'
        f"{svg.aside('training-ticks', below)}</div></div>"
    )
