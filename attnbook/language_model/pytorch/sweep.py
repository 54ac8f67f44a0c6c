"""Train the small language model with every rule, initial size and head width; write the table.

``make sweep-language`` calls this. Each setting has its rate tuned on seeds that are not reported:
rates a factor of two apart, more of them until the best has a neighbor on both sides. An
interrupted sweep continues where it stopped, and what the table has is not trained again. With
``--check`` the beginnings of two runs of the table are trained again and compared, and so is
attention with that of attnlib, for one table or several; the exit status is the number of those
that do not agree.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from datetime import timedelta
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from attnbook.language_model.pytorch import model as language_model
from attnbook.language_model.pytorch.model import (
    EVERY,
    INITIAL_STD,
    POWERS,
    Setting,
    five_digits,
    train,
)

D_K = (128, 64, 16)
MAIN = ("1", "1/√dₖ")
"""Rules that are also trained without warm-up and clipping, with the widest heads."""
TUNING_SEEDS = (0, 1)
REPORT_SEEDS = (100, 101, 102, 103, 104)
USUAL_RATE = 1e-3
FIRST_TRIED, MOST_DOUBLINGS = (-1, 0, 1), 8
CHECKED = 2 * EVERY
"""Steps of the runs that are repeated."""
REPEATED = (("1", "N(0, 0.02²)", D_K[0]), ("1/√dₖ", "unit variance", D_K[0]))
"""Both sides of the comparison, where a processor's last bits do not grow: not so a wide spread."""
TOLERANCE = 0.001
"""In nats, for the same text."""
OTHER_TEXT_TOLERANCE = 0.15
"""In nats, for the text of another version of Python."""
ROUNDING = 1e-5
"""What numbers of 32 bits and size one may differ by."""


def settings() -> list[Setting]:
    """Return what is compared; the rates are tuned later. What matters most comes first."""
    compared = [
        Setting(rule, initial, d_k, math.nan)
        for d_k, rule, initial in product(D_K, POWERS, INITIAL_STD)
    ]
    main = [setting for setting in compared if setting.rule in MAIN]
    bare = [replace(setting, as_in_practice=False) for setting in main if setting.d_k == max(D_K)]
    return [*main, *bare, *(setting for setting in compared if setting not in main)]


def run(setting: Setting, seed: int, folder: Path, device: str) -> dict[str, Any]:
    """Train one model, or return what came out when it was trained before."""
    name = "-".join(str(part).replace("/", ":") for part in asdict(setting).values())
    path = folder / f"{name}-{seed}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    result = train(setting, seed, device=device)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(path)  # whole or not at all, should this be interrupted
    return result


def bracket_rate(
    loss_at: Callable[[float], float], first: Iterable[int] = FIRST_TRIED
) -> dict[float, float]:
    """Return losses by rate: rates a factor of two apart until the best has two neighbors.

    The `first` are doublings of the usual rate.
    """
    losses: dict[int, float] = {}

    def try_rate(doubling: int) -> None:
        losses[doubling] = loss_at(USUAL_RATE * 2.0**doubling)

    for doubling in first:
        try_rate(doubling)
    while (best := min(losses, key=losses.__getitem__)) in (min(losses), max(losses)):
        if abs(best) == MOST_DOUBLINGS:
            raise RuntimeError(f"no rate is the best, not even 2^{best} · {USUAL_RATE}")
        try_rate(best - 1 if best == min(losses) else best + 1)
    return {USUAL_RATE * 2.0**doubling: losses[doubling] for doubling in sorted(losses)}


def tune_rate(setting: Setting, folder: Path, device: str) -> dict[float, float]:
    """Return the mean last loss by rate, the best of which has a neighbor on both sides."""

    def loss_at(rate: float) -> float:
        tried = replace(setting, rate=rate)
        results = [run(tried, seed, folder, device) for seed in TUNING_SEEDS]
        return mean(result["loss"][-1] for result in results)

    return bracket_rate(loss_at)


def run_setting(setting: Setting, folder: Path, device: str) -> dict[str, Any]:
    """Tune a setting and train it with the reported seeds; return its entry in the table."""
    torch.set_num_threads(1)
    by_rate = tune_rate(setting, folder, device)
    best = replace(setting, rate=min(by_rate, key=by_rate.__getitem__))
    results = [run(best, seed, folder, device) for seed in REPORT_SEEDS]
    return asdict(best) | {
        "tuning": {f"{rate:g}": round(loss, 4) for rate, loss in by_rate.items()},
        "steps": results[0]["steps"],
        "loss": [result["loss"] for result in results],
        "spread": [
            {
                step: five_digits(mean(value for layer in layers for value in layer["spread"]))
                for step, layers in result["inspected"].items()
            }
            for result in results
        ],
        "first seed": {name: results[0][name] for name in ("inspected", "gradients")},
    }


def identity(setting: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells a setting from others before its rate is known."""
    return tuple(setting[name] for name in ("rule", "initial", "d_k", "as_in_practice"))


def sweep(asked: list[Setting], jobs: int, folder: Path, device: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of settings; say how many are done and how long the rest takes."""
    start = time.monotonic()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        pending = {pool.submit(run_setting, setting, folder, device): setting for setting in asked}
        for done, future in enumerate(as_completed(pending), 1):
            entry = future.result()
            so_far = time.monotonic() - start
            left = timedelta(seconds=round(so_far / done * (len(asked) - done)))
            name = ", ".join(str(entry[key]) for key in ("rule", "initial", "d_k"))
            last = mean(losses[-1] for losses in entry["loss"])
            sys.stderr.write(f"{done} of {len(asked)}, about {left} left: {name}: {last:.3f}\n")
            yield entry


def as_text(table: dict[str, Any]) -> str:
    """Return the table in JSON, with a line for each setting."""
    head = {name: value for name, value in table.items() if name != "settings"}
    lines = [json.dumps(entry, ensure_ascii=False) for entry in table["settings"]]
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    parts.append('"settings": [\n' + ",\n".join(lines) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@cache
def train_beginning(setting: Setting, device: str) -> dict[str, Any]:
    """Train the beginning of a run once, however many tables are compared with it."""
    return train(setting, REPORT_SEEDS[0], until=CHECKED, device=device)


def check(table: dict[str, Any], device: str) -> int:
    """Repeat the beginning of two of the table's runs, and say whether they are the same."""
    same_text = language_model.standard_library().about == table["text"]
    allowed = TOLERANCE if same_text else OTHER_TEXT_TOLERANCE
    text = "the same text" if same_text else "the text of another Python"
    agree = True
    for name in REPEATED:
        entry = next(setting for setting in table["settings"] if identity(setting)[:3] == name)
        again = train_beginning(
            Setting(**{key: entry[key] for key in Setting.__dataclass_fields__}), device
        )
        pairs = zip(again["loss"], entry["loss"][0], strict=False)
        off = max(abs(new - old) for new, old in pairs)
        same = off <= allowed  # and not if one is no number
        agree &= same
        sys.stdout.write(
            f"{', '.join(map(str, name))}, {CHECKED} steps on {text}: off by {off:.4f} nats, "
            f"which {'agrees' if same else 'does NOT agree'} within {allowed}\n"
        )
    differences = [
        language_model.largest_difference(Setting(rule, *name[1:], math.nan)) for rule in POWERS
    ]
    sys.stdout.write(f"attention differs from that of attnlib by at most {max(differences):.1g}\n")
    return int(not (agree and max(differences) <= ROUNDING))
