"""Run the full ablation of the chapter on training and write its table.

``python tools/sweep.py --jobs 2`` takes about half an hour on two cores, and a terminal shows
how much is left. Interrupted, it continues where it stopped. ``make sweep`` calls it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from attnbook.training.sweep import (
    ARMS,
    MORE_SEEDS,
    OPTIMIZERS,
    REPORT_SEEDS,
    Ablation,
    Setting,
    Tuning,
    quarter_decades,
    run_ablation,
    run_settings,
)

WIDTHS = (16, 64, 256, 512)
RATES = {"SGD": quarter_decades(0.0032, 1.0), "Adam": quarter_decades(0.00056, 0.1)}
LONG_RATES = RATES | {"Adam": quarter_decades(0.00018, 0.1)}
"""With more steps the best rate may be smaller."""
COARSE_RATES = {name: rates[::2] for name, rates in RATES.items()}
"""Two to a factor of ten, for what is tried beside the main arms."""
UNTUNED = 1.0
"""In the place of the rate of a setting that is about to be tuned."""
UNSCALED, USUAL, BY_WIDTH, NORM, LEARNED = ARMS
WIDE, WIDEST = 256, 512
SHORT_STEPS = 300
LONG = "steps to a loss"
SMALL_STD = 0.02
"""A usual standard deviation of initial weights, here without regard to any width."""
CLIP, WARM_UP = {"clip": 1.0}, {"warm_up": 100}
DECAYS = {"SGD": (0.01,), "Adam": (0.1, 1.0)}
"""Adam's usual decay, and one that at its small rates takes away about as much as that of SGD."""
OTHER_TASKS = ((16, 2), (4, 8), (16, 4))
"""Groups of a sequence and tokens of a group: rows of 32, 32 and 64 keys."""


def main_settings(widths: Iterable[int]) -> list[Setting]:
    """Return every arm at every width; the learned temperature at one."""
    return [
        Setting(arm, optimizer, d_k, UNTUNED)
        for optimizer, d_k, arm in product(OPTIMIZERS, widths, ARMS)
        if arm != LEARNED or d_k == WIDE
    ]


def small_weight_settings() -> list[Setting]:
    """Return the unscaled arm with initial queries and keys that are small."""
    token_width = Setting(UNSCALED, "SGD", WIDE, UNTUNED).task.token_width
    small = round(SMALL_STD * token_width**0.5, 4)
    return [
        Setting(UNSCALED, optimizer, d_k, UNTUNED, initial_gain=gain)
        for d_k, optimizer in product((WIDE, WIDEST), OPTIMIZERS)
        for gain in (d_k**-0.25, small)
    ]


def one_key_settings() -> list[Setting]:
    """Return a task where one key is all that is wanted."""
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, group_size=1)
        for optimizer, arm in product(OPTIMIZERS, (UNSCALED, USUAL))
    ]


def long_settings() -> list[Setting]:
    """Return runs that are long enough to reach a loss of 0.1, measured often.

    Their rates are tuned for that length; those that are best after 1000 steps are not.
    """
    lengths = {UNSCALED: (8000, 100), USUAL: (200, 10)}
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, steps, tuple(range(0, steps + 1, every)))
        for optimizer, (arm, (steps, every)) in product(OPTIMIZERS, lengths.items())
    ]


def short_settings(widths: Iterable[int]) -> list[Setting]:
    """Return runs of 300 steps, with rates of their own: those for 1000 steps may start slowly."""
    compared = {"SGD": (UNSCALED, USUAL), "Adam": (UNSCALED, USUAL, BY_WIDTH, NORM)}
    return [
        Setting(arm, optimizer, d_k, UNTUNED, SHORT_STEPS)
        for optimizer, d_k in product(OPTIMIZERS, widths)
        for arm in compared[optimizer]
    ]


def own_rate_settings(widths: Iterable[int]) -> list[Setting]:
    """Return 1/d_k where queries and keys learn √d_k times as fast as values."""
    return [
        Setting(BY_WIDTH, "SGD", d_k, UNTUNED, query_key_rate=d_k**0.5)
        for d_k in widths
        if d_k != min(WIDTHS)
    ]


def shared_rate_settings(tunings: Sequence[Tuning]) -> list[Setting]:
    """Return 1/d_k at the rate that is the best for 1/√d_k."""
    return [
        replace(tuning.setting, arm=BY_WIDTH) for tuning in tunings if tuning.setting.arm == USUAL
    ]


def remedy_settings() -> list[Setting]:
    """Return the unscaled arm at the first wide width with what else might help it."""
    return [
        Setting(UNSCALED, optimizer, WIDE, UNTUNED, **remedy)
        for optimizer in OPTIMIZERS
        for remedy in (
            {"query_key_rate": 1 / 4},
            CLIP,
            WARM_UP,
            *({"decay": decay} for decay in DECAYS[optimizer]),
            CLIP | WARM_UP | {"decay": DECAYS[optimizer][0]},
        )
    ]


def other_task_settings() -> list[Setting]:
    """Return both main arms with groups of other sizes, and with longer rows."""
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, n_groups=groups, group_size=size)
        for (groups, size), optimizer, arm in product(OTHER_TASKS, OPTIMIZERS, (UNSCALED, USUAL))
    ]


def more_seed_settings(parts: Mapping[str, Ablation]) -> list[Setting]:
    """Return all that was tuned, but the longest runs, measured at the end: seeds are cheap."""
    return [
        replace(tuning.setting, record_at=(tuning.setting.steps,))
        for name, part in parts.items()
        for tuning in part.tunings
        if name != LONG
    ]


def sweep(jobs: int, cache: Path, widths: Sequence[int] = WIDTHS) -> dict[str, Ablation]:
    """Run everything, and return it by name."""
    shared = {"n_jobs": jobs, "cache": cache}
    parts = {}
    for name, settings, rates in (
        ("main", main_settings(widths), RATES),
        ("small initial weights", small_weight_settings(), RATES),
        ("one key", one_key_settings(), RATES),
        (LONG, long_settings(), LONG_RATES),
        (f"tuned for {SHORT_STEPS} steps", short_settings(widths), RATES),
        ("own query and key rate", own_rate_settings(widths), RATES),
        ("remedies", remedy_settings(), COARSE_RATES),
        ("other tasks", other_task_settings(), COARSE_RATES),
    ):
        sys.stderr.write(f"{name}: {len(settings)} settings\n")
        parts[name] = run_ablation(settings, rates, **shared)
    again = shared_rate_settings(parts["main"].tunings)
    parts["shared rate"] = Ablation([], run_settings(again, REPORT_SEEDS, **shared))
    more = more_seed_settings(parts)
    parts["more seeds"] = Ablation([], run_settings(more, MORE_SEEDS, **shared))
    return parts
