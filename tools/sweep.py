"""Run the full ablation of the chapter on training and write its table.

``python tools/sweep.py --jobs 2`` takes about TIME on two cores and prints how much is
left. Interrupted, it continues where it stopped. ``make sweep`` calls it.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from attnbook.sweeps import (  # noqa: E402
    ARMS,
    OPTIMIZERS,
    REPORT_SEEDS,
    TUNING_SEEDS,
    Ablation,
    Setting,
    quarter_decades,
    run_ablation,
    save_ablation,
)
from attnlib.training import STEPS  # noqa: E402

TABLE = ROOT / "data" / "ablation.json"
CACHE = ROOT / "_build" / "sweep"
WIDTHS = (16, 64, 256, 512)
RATES = {"SGD": quarter_decades(0.0032, 1.0), "Adam": quarter_decades(0.00056, 0.1)}
LONG_RATES = RATES | {"Adam": quarter_decades(0.00018, 0.1)}
"""With more steps the best rate may be smaller."""
COARSE_RATES = {name: rates[::2] for name, rates in RATES.items()}
"""Two to a factor of ten, for what is tried beside the main arms."""
UNTUNED = 1.0
"""Stands for the rate of a setting that is about to be tuned."""
UNSCALED, USUAL, BY_WIDTH, NORM, LEARNED = ARMS
WIDE, WIDEST = 256, 512
EARLY_STEPS, SHORT_STEPS = 30, 300
"""After 30 steps two processors still agree to nine digits; later undivided wide runs differ."""
SMALL_STD = 0.02
"""A usual standard deviation of initial weights, here without regard to any width."""
AT_END = {"record_at": (STEPS,)}
CLIP, WARM_UP = {"clip": 1.0}, {"warm_up": STEPS // 10}
DECAY = {"SGD": {"decay": 0.01}, "Adam": {"decay": 0.1}}
"""AdamW's usual decay is 0.1 to 0.01; the rates of SGD are ten times as large."""
OTHER_TASKS = ((16, 2), (4, 8), (16, 4))
"""Groups of a sequence and tokens of a group: 32 keys, 32 keys and 64 keys."""


def main_settings(widths: Iterable[int]) -> list[Setting]:
    """Return every arm at every width; the learned temperature at one."""
    measured = {"record_at": (EARLY_STEPS, SHORT_STEPS, STEPS)}
    return [
        Setting(arm, optimizer, d_k, UNTUNED, **measured)
        for optimizer, d_k, arm in product(OPTIMIZERS, widths, ARMS)
        if arm != LEARNED or d_k == WIDE
    ]


def small_weight_settings() -> list[Setting]:
    """Return the unscaled arm with initial queries and keys that are small."""
    token_width = Setting(UNSCALED, "SGD", WIDE, UNTUNED).task.token_width
    small = round(SMALL_STD * token_width**0.5, 4)
    return [
        Setting(UNSCALED, optimizer, d_k, UNTUNED, initial_gain=gain, **AT_END)
        for d_k, optimizer in product((WIDE, WIDEST), OPTIMIZERS)
        for gain in (d_k**-0.25, small)
    ]


def one_key_settings() -> list[Setting]:
    """Return a task where one key is all that is wanted."""
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, group_size=1, **AT_END)
        for optimizer, arm in product(OPTIMIZERS, (UNSCALED, USUAL))
    ]


def long_settings() -> list[Setting]:
    """Return runs that are long enough to reach a loss of 0.1, measured often.

    Their rates are tuned for that length; those that are best after 1000 steps are not.
    """
    lengths = {UNSCALED: (8000, 500), USUAL: (200, 20)}
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, steps, tuple(range(0, steps + 1, every)))
        for optimizer, (arm, (steps, every)) in product(OPTIMIZERS, lengths.items())
    ]


def short_settings(widths: Iterable[int]) -> list[Setting]:
    """Return runs of 300 steps, with rates of their own: those for 1000 steps may start slowly."""
    compared = {"SGD": (UNSCALED, USUAL), "Adam": (UNSCALED, USUAL, BY_WIDTH, NORM)}
    return [
        Setting(arm, optimizer, d_k, UNTUNED, SHORT_STEPS, (SHORT_STEPS,))
        for optimizer, d_k in product(OPTIMIZERS, widths)
        for arm in compared[optimizer]
    ]


def own_rate_settings(widths: Iterable[int]) -> list[Setting]:
    """Return 1/d_k where queries and keys learn √d_k times as fast as values."""
    return [
        Setting(BY_WIDTH, "SGD", d_k, UNTUNED, query_key_rate=d_k**0.5, **AT_END)
        for d_k in widths
        if d_k != min(WIDTHS)
    ]


def remedy_settings() -> list[Setting]:
    """Return the unscaled arm at the first wide width with what else might help it."""
    return [
        Setting(UNSCALED, optimizer, WIDE, UNTUNED, **AT_END, **remedy)
        for optimizer in OPTIMIZERS
        for remedy in (
            *({"query_key_rate": rate} for rate in (1 / 16, 1 / 4, 4.0)),
            CLIP,
            WARM_UP,
            DECAY[optimizer],
            CLIP | WARM_UP | DECAY[optimizer],
        )
    ]


def other_task_settings() -> list[Setting]:
    """Return both main arms with groups of other sizes and rows of another length."""
    return [
        Setting(arm, optimizer, WIDE, UNTUNED, n_groups=groups, group_size=size, **AT_END)
        for (groups, size), optimizer, arm in product(OTHER_TASKS, OPTIMIZERS, (UNSCALED, USUAL))
    ]


def sweep(jobs: int, cache: Path, widths: Sequence[int] = WIDTHS) -> dict[str, Ablation]:
    """Run everything, and return it by name."""
    shared = {"n_jobs": jobs, "cache": cache}
    parts = {}
    for name, settings, rates in (
        ("main", main_settings(widths), RATES),
        ("small initial weights", small_weight_settings(), RATES),
        ("one key", one_key_settings(), RATES),
        ("steps to a loss", long_settings(), LONG_RATES),
        (f"tuned for {SHORT_STEPS} steps", short_settings(widths), RATES),
        ("own query and key rate", own_rate_settings(widths), RATES),
        ("remedies", remedy_settings(), COARSE_RATES),
        ("other tasks", other_task_settings(), COARSE_RATES),
    ):
        sys.stderr.write(f"{name}: {len(settings)} settings\n")
        parts[name] = run_ablation(settings, rates, **shared)
    return parts


def main() -> int:
    """Run the sweep with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one for each core")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of single results")
    parser.add_argument("--output", type=Path, default=TABLE, help="the table")
    options = parser.parse_args()
    parts = sweep(options.jobs, options.cache)
    about = {
        "about": "Ablation of the chapter on training: test losses of the group-mean task",
        "command": "make sweep",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "tuning seeds": TUNING_SEEDS,
        "reported seeds": REPORT_SEEDS,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    save_ablation(options.output, parts, about=about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
