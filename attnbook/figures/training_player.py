"""The figure in which a reader steps through training, with the division and without it."""

from __future__ import annotations

import html
import json
import math
from functools import cache
from typing import Any

import numpy as np
import traitlets

from attnbook.figures._base import HERE, LiveFigure, number, reading, slider, switch
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
NAMES = ("say zero", "all even", "one key", "ideal")


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
    Shown in the chapter on training. The runs are those of
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
            '<p class="figure-axis">Recorded runs of one seed. Dotted: the loss of the best '
            "multiple of zero, of the mean of all tokens, of one right token; losses above 1.25 "
            "lie at the top. Maps: one test sequence, asked for each of its eight tags, a row "
            "each, on its 32 keys; area is weight, and frames hold the four right keys. ‖p‖² is 1 "
            "for a single key, 0.25 for four even shares.</p>"
        )

    def losses(self) -> str:
        """Return the panel of the losses so far."""
        references = list(zip(NAMES, reference_losses(GroupMeanTask()), strict=True))
        lines = "".join(f"M0 {number(height(loss))}H{WIDE}" for _, loss in references)
        names = "".join(
            f'<span style="top:{100 * height(loss) / HIGH:g}%">{name} {loss:g}</span>'
            for name, loss in references
        )
        curves = "".join(
            f'<path class="{arm} curve" d="{self.curve(loss)}"/>'
            f'<path class="{arm} marker" d="M{self.point(loss, self.place)}h0"/>'
            for arm, loss in zip(ARMS, self.measured("loss"), strict=True)
        )
        here = number(across(self.step))
        ticks = "".join(
            f'<span style="left:{100 * across(step) / WIDE:.2f}%">{step}</span>'
            for step in (0, 10, 100, 1000)
        )
        keys = " ".join(f'<span class="{arm}">{name}</span>' for arm, name in ARMS.items())
        return (
            f'<div class="training-loss"><p class="training-title">loss by step: {keys}</p>'
            f'<div class="training-plot"><div class="training-names" aria-hidden="true">{names}'
            f'</div><svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
            f'aria-label="{html.escape(self.words())}">'
            f'<path class="axis" d="M0 0V{HIGH}H{WIDE}"/><path class="reference" d="{lines}"/>'
            f'<path class="now" d="M{here} 0V{HIGH}"/>{curves}</svg>'
            f'<div class="training-ticks" aria-hidden="true">{ticks}</div></div></div>'
        )

    def curve(self, loss: list[float]) -> str:
        """Return the line through the losses so far."""
        return "M" + "L".join(self.point(loss, place) for place in range(self.place + 1))

    def point(self, loss: list[float], place: int) -> str:
        """Return where the loss at a recorded step is drawn."""
        return f"{number(across(STEPS[place]))} {number(height(loss[place]))}"

    def map_of(self, arm: int) -> str:
        """Return the attention map of an arm."""
        kind, name = list(ARMS.items())[arm]
        rate = reading(self.measured("rate")[arm])
        frames = "".join(
            f"M{CELL * GROUP * row} {CELL * row}h{CELL * GROUP}v{CELL}h{-CELL * GROUP}z"
            for row in range(ROWS)
        )
        return (
            f'<div class="training-map {kind}"><p class="training-title figure-axis">'
            f'<span class="{kind}">{name}</span>, <output>rate {rate}</output></p>'
            f'<svg viewBox="0 0 {CELL * KEYS} {CELL * ROWS}" preserveAspectRatio="none" '
            f'aria-hidden="true"><path class="frames" d="{frames}"/>'
            f'<path class="{kind} cells" d="{self.cells(arm)}"/></svg></div>'
        )

    def cells(self, arm: int) -> str:
        """Return the outlines of the squares whose areas are the weights of an arm."""
        return "".join(
            square(row, column, 0.9 * CELL * side)
            for (row, column), side in np.ndenumerate(np.sqrt(self.weights[arm]))
            if side
        )

    def gradients(self) -> str:
        """Return the panel of the lengths of gradients."""
        bands = "".join(
            f'<path class="{kind} band" d="{self.band(arm)[0]}"/>'
            f'<path class="{kind} middle" d="{self.band(arm)[1]}"/>'
            for arm, kind in enumerate(ARMS)
        )
        names = "".join(
            f'<span style="top:{25 + 50 * arm}%">{name}</span>'
            for arm, name in enumerate(ARMS.values())
        )
        powers = range(SHORTEST, LONGEST + 1, 2)
        grid = "".join(f"M{number(along(power))} 0V{BANDS}" for power in powers)
        ticks = "".join(
            f'<span style="left:{100 * along(power) / WIDE:.2f}%">'
            f"{'≤ ' if power == SHORTEST else ''}{10.0**power:g}</span>"
            for power in powers
        )
        return (
            '<div class="training-gradients"><p class="training-title">length of the gradient by '
            'the query: 5%, median, 95%</p><div class="training-plot">'
            f'<div class="training-names" aria-hidden="true">{names}</div>'
            f'<svg viewBox="0 0 {WIDE} {BANDS}" preserveAspectRatio="none" aria-hidden="true">'
            f'<path class="axis" d="{grid}"/>{bands}</svg>'
            f'<div class="training-ticks" aria-hidden="true">{ticks}</div></div></div>'
        )

    def band(self, arm: int) -> tuple[str, str]:
        """Return the line from the lower to the upper quantile of an arm, and its median."""
        low, middle, high = (
            number(along(self.measured(name)[arm][self.place]))
            for name in ("low", "median", "high")
        )
        y = BAND * arm + BAND // 2
        return f"M{low} {y}H{high}", f"M{middle} {y - 7}v14"

    def words(self) -> str:
        """Return loss, weight on right keys and squared norm of the weights of both arms."""
        arms = (
            f"{name}, loss {loss[self.place]:.4f}, {right[self.place]:.2f} of the weight on right "
            f"keys, ‖p‖² {square[self.place]:.2f}"
            for name, loss, right, square in zip(
                ARMS.values(), *map(self.measured, ("loss", "right", "square")), strict=True
            )
        )
        return f"Width {self.d_k}, {self.optimizer}, step {self.step}: {'; '.join(arms)}."


def across(step: int) -> float:
    """Return where a step is on the axis of steps, which is logarithmic but for its beginning."""
    return EDGE + (WIDE - 2 * EDGE) * math.log(1 + step) / math.log(1 + STEPS[-1])


def height(loss: float) -> float:
    """Return where a loss is on its axis."""
    return HIGH * (1 - min(loss, TOP) / TOP)


def along(power: float) -> float:
    """Return where a power of ten is on the axis of lengths."""
    return EDGE + (WIDE - 2 * EDGE) * (power - SHORTEST) / (LONGEST - SHORTEST)


def square(row: int, column: int, side: float) -> str:
    """Return the outline of a square in the middle of its cell."""
    x, y = (number(CELL * (place + 0.5) - side / 2) for place in (column, row))
    return f"M{x} {y}h{number(side)}v{number(side)}h{number(-side)}z"
