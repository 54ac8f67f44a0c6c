"""Record the training runs that the figure TrainingPlayer shows.

``python tools/record_training.py`` trains the two arms of the chapter on training at the rates that
the committed ablation found for them, and writes what a reader can step through. It takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from attnbook.data import data_file
from attnbook.training import (
    BATCH_SIZE,
    TEST_SIZE,
    Batch,
    GroupMeanTask,
    draw_batch,
    draw_tags,
    initial_parameters,
    initial_state,
    loss_and_gradients,
    matching_tokens,
    training_step,
)
from attnbook.training.sweep import ARMS, QUICK_ARMS, REPORT_SEEDS, Setting, load_ablation
from attnbook.training.training_player import LEVELS, OPTIMIZERS, STEPS, WIDTHS

TABLE = data_file("ablation.json")
SEED = REPORT_SEEDS[0]
TASK = GroupMeanTask()


def tuned_settings() -> list[Setting]:
    """Return both arms for every width and optimizer, each at its own tuned rate."""
    tuned = {
        (found.setting.d_k, found.setting.optimizer, found.setting.arm): found.setting
        for found in load_ablation(TABLE)["main"].tunings
    }
    return [tuned[choice] for choice in product(WIDTHS, OPTIMIZERS, QUICK_ARMS)]


def one_query_for_each_tag(test: Batch) -> Batch:
    """Return the first test sequence as often as it has tags, each time asked for another one."""
    tokens, width = test.tokens[0], TASK.tag_width
    tags = tokens[:: TASK.group_size, :width]
    count = len(tags)
    return Batch(
        query_tokens=np.hstack([tags, np.tile(test.query_tokens[0, width:], (count, 1))]),
        tokens=np.repeat(tokens[None], count, axis=0),
        targets=tokens[:, width:].reshape(count, TASK.group_size, -1).mean(axis=1),
        groups=np.arange(count),
    )


def levels(weights: np.ndarray) -> str:
    """Return a digit for each weight, the nearest to a multiple of its square root."""
    return "".join(str(level) for level in np.rint(LEVELS * np.sqrt(weights)).astype(int).flat)


class Recording:
    """One setting on its way."""

    def __init__(self, setting: Setting, for_weights: np.random.SeedSequence) -> None:
        self.setting, self.rule = setting, ARMS[setting.arm]
        self.optimizer = setting.learner(self.rule).optimizer
        self.parameters = initial_parameters(
            TASK, setting.d_k, self.rule, rng=np.random.default_rng(for_weights)
        )
        self.state = initial_state(self.parameters)
        self.measured: dict[str, list[Any]] = {
            name: [] for name in ("loss", "right", "square", "maps")
        }

    def step(self, batch: Batch) -> None:
        """Learn from a batch."""
        _, self.parameters, self.state = training_step(
            self.parameters, batch, self.rule, self.optimizer, self.state
        )

    def measure(self, test: Batch) -> None:
        """Add what there is to see now."""
        result = loss_and_gradients(self.parameters, test, self.rule)
        power = (test.targets**2).sum(axis=1).mean()
        right = (result.weights * matching_tokens(TASK, test)).sum(axis=1).mean()
        shown = loss_and_gradients(self.parameters, one_query_for_each_tag(test), self.rule)
        for name, value in (
            ("loss", round(float(result.loss / power), 4)),
            ("right", round(float(right), 2)),
            ("square", round(float((result.weights**2).sum(axis=1).mean()), 2)),
            ("maps", levels(shown.weights)),
        ):
            self.measured[name].append(value)

    def entry(self) -> dict[str, Any]:
        """Return the setting and what was measured."""
        chosen = {name: getattr(self.setting, name) for name in ("optimizer", "d_k", "arm", "rate")}
        return chosen | self.measured


def record(
    settings: Sequence[Setting], steps: Sequence[int] = STEPS, seed: int = SEED
) -> list[dict[str, Any]]:
    """Train with the data of :func:`attnbook.training.train_together`, and return an entry each."""
    for_tags, for_weights, for_test, for_batches = np.random.SeedSequence(seed).spawn(4)
    tags = draw_tags(TASK, np.random.default_rng(for_tags))
    test = draw_batch(TASK, tags, TEST_SIZE, np.random.default_rng(for_test))
    source = np.random.default_rng(for_batches)
    recordings = [Recording(setting, for_weights) for setting in settings]
    for step in range(max(steps) + 1):
        batch = draw_batch(TASK, tags, BATCH_SIZE, source)
        for recording in recordings:
            if step in steps:
                recording.measure(test)
            recording.step(batch)
    return [recording.entry() for recording in recordings]
