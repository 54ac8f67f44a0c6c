"""Train the two models whose heads a reader can look into, and write their rounded weights.

``make trained-head`` calls this. One model is trained with the division and one without it; both
begin with queries and keys of variance one, and each has its own rate: rates a factor of two apart
are tried in shorter runs on seeds that are not used, until the best has a neighbor on both sides.
With ``--check`` the beginning of the training is repeated and compared, with one file or several;
the exit status is the number of those that do not agree.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from torch import nn

import attnlib
from attnbook.language_model.model import digest, unpacked
from attnbook.language_model.pytorch.model import (
    CONTEXT,
    LanguageModel,
    Setting,
    Shape,
    five_digits,
    loss,
    standard_library,
    validation_windows,
    windows,
)
from attnbook.language_model.pytorch.sweep import (
    OTHER_TEXT_TOLERANCE,
    TOLERANCE,
    TUNING_SEEDS,
    bracket_rate,
)

SHAPE = Shape(width=64, layers=2, heads=2)
SETTINGS = {
    "divided": Setting("1/√dₖ", "unit variance", 64, math.nan),
    "undivided": Setting("1", "unit variance", 64, math.nan),
}
SEED = 100
STEPS, TUNING_STEPS = 2500, 400
CHECKED = {"divided": 100, "undivided": 50}
"""Steps that are repeated: later a processor's last bits show in the undivided model."""
FIRST_TRIED = (1, 2, 3)
EVERY, WARM_UP, BATCH = 50, 100, 16
LEVELS = 63
"""The largest whole number that a weight becomes."""
ROUNDING = 1e-4
"""By how much the loss of given weights may differ between processors, in nats."""
OWN_TEXT = Path(attnlib.__file__).with_name("attention.py")
"""A module of this book, whose beginning is kept with the weights so that NumPy reads the same."""
OWN_WINDOWS = 64
"""Pieces of it, each as long as a model's context."""


def train_model(
    setting: Setting, seed: int, steps: int, *, until: int | None = None
) -> tuple[LanguageModel, dict[int, float]]:
    """Train a model, or only its beginning; return it with the loss of some batches by step."""
    text = standard_library()
    torch.manual_seed(seed)
    model = LanguageModel(setting, len(text.symbols), SHAPE)
    optimizer = torch.optim.AdamW(
        model.parameters(), setting.rate, betas=(0.9, 0.95), weight_decay=0.1
    )
    draw = torch.Generator().manual_seed(seed + 1_000_000)
    losses = {}
    for step in range(until or steps):
        decay = 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = setting.rate * min(1, (step + 1) / WARM_UP) * decay
        optimizer.zero_grad()
        training_loss = loss(model, *windows(text.training, BATCH, draw))
        training_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % EVERY == 0:
            losses[step + 1] = five_digits(training_loss.detach())
    return model, losses


@cache
def train_beginning(setting: Setting, until: int) -> tuple[LanguageModel, dict[int, float]]:
    """Train the beginning of a run once, however many files are compared with it."""
    return train_model(setting, SEED, STEPS, until=until)


@torch.no_grad()
def loss_on(model: LanguageModel, text: tuple[torch.Tensor, torch.Tensor]) -> float:
    """Return the loss on a text."""
    return float(loss(model, *text))


def tune_rate(setting: Setting) -> dict[float, float]:
    """Return the mean validation loss of shorter runs by rate."""

    def loss_at(rate: float) -> float:
        tried = replace(setting, rate=rate)
        losses = [
            loss_on(train_model(tried, seed, TUNING_STEPS)[0], validation_windows())
            for seed in TUNING_SEEDS
        ]
        sys.stderr.write(f"{setting.rule}: rate {rate:g}, loss {mean(losses):.4f}\n")
        return mean(losses)

    return bracket_rate(loss_at, FIRST_TRIED)


def round_weights(model: LanguageModel) -> tuple[np.ndarray, np.ndarray]:
    """Return all weights as whole numbers, and what those of each row are multiplied by."""
    whole, scales = [], []
    for values in model.state_dict().values():
        rows = values.numpy().reshape(len(values) if values.ndim > 1 else 1, -1)
        scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-12) / LEVELS
        whole.append(np.rint(rows / scale).astype(np.int8).ravel())
        scales.append(scale.astype(np.float32).ravel())
    return np.concatenate(whole), np.concatenate(scales)


def shapes(model: LanguageModel) -> dict[str, list[int]]:
    """Return the shapes of all weights."""
    return {name: list(values.shape) for name, values in model.state_dict().items()}


def with_rounded(model: LanguageModel, packed: tuple[np.ndarray, np.ndarray]) -> LanguageModel:
    """Give a model the rounded weights."""
    given = unpacked(*packed, shapes(model))
    model.load_state_dict({name: torch.from_numpy(value) for name, value in given.items()})
    return model


def own_text() -> str:
    """Return the beginning of a module of this book, as much as is kept."""
    known = set(standard_library().symbols)
    content = OWN_TEXT.read_text(encoding="utf-8")
    return "".join(c for c in content if c in known)[: OWN_WINDOWS * CONTEXT + 1]


def pieces(text: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a text in pieces as long as a model's context, and the same one character on."""
    number = {symbol: index for index, symbol in enumerate(standard_library().symbols)}
    numbers = torch.tensor([number[symbol] for symbol in text])
    return numbers[:-1].view(-1, CONTEXT), numbers[1:].view(-1, CONTEXT)


@contextmanager
def switch_heads(model: LanguageModel, heads: list[tuple[int, int]]) -> Iterator[None]:
    """Let some heads do without the division meanwhile, or give it to them: by their queries."""
    changed = []
    for layer, head in heads:
        attention = model.layers[layer].attention
        d_k = len(attention.query.weight) // attention.n_heads
        factor = d_k ** (0.5 if attention.factor < 1 else -0.5)
        changed.append((attention.query.weight.data[head * d_k : (head + 1) * d_k], factor))
    for weight, factor in changed:
        weight *= factor
    yield
    for weight, factor in changed:
        weight /= factor


def losses(model: LanguageModel, text: tuple[torch.Tensor, torch.Tensor]) -> dict[str, Any]:
    """Return the loss as trained, with each head switched over alone, and with all of them."""
    every = [(layer, head) for layer in range(SHAPE.layers) for head in range(SHAPE.heads)]

    def loss_with(heads: list[tuple[int, int]]) -> float:
        with switch_heads(model, heads):
            return round(loss_on(model, text), 5)

    return {
        "as trained": loss_with([]),
        "one head switched": [loss_with([place]) for place in every],
        "all switched": loss_with(every),
    }


def write(path: Path, rates: dict[str, dict[float, float]]) -> None:
    """Train both models, and write their weights with what is said about them."""
    arrays, models = {}, {}
    for name, setting in SETTINGS.items():
        best = replace(setting, rate=min(rates[name], key=rates[name].__getitem__))
        start = time.process_time()
        model, beginning = train_model(best, SEED, STEPS)
        seconds = time.process_time() - start
        whole = loss_on(model, validation_windows())
        packed = round_weights(model)
        arrays[f"{name} weights"], arrays[f"{name} scales"] = packed
        with_rounded(model, packed)
        models[name] = {
            "rule": best.rule,
            "rate": best.rate,
            "tuning": {f"{rate:g}": round(found, 4) for rate, found in rates[name].items()},
            "training loss": {
                step: beginning[step] for step in range(EVERY, max(CHECKED.values()) + 1, EVERY)
            },
            "loss before rounding": round(whole, 5),
            "validation": losses(model, validation_windows()),
            "own text": losses(model, pieces(own_text())),
        }
        sys.stderr.write(f"{name}, {seconds:.0f} s of one core: {json.dumps(models[name])}\n")
    about = {
        "about": "Two small language models, with and without the division",
        "command": "make trained-head",
        "torch": torch.__version__,
        "seed": SEED,
        "tuning seeds": list(TUNING_SEEDS),
        "steps": STEPS,
        "tuning steps": TUNING_STEPS,
        "batch": BATCH,
        "context": CONTEXT,
        "width": SHAPE.width,
        "layers": SHAPE.layers,
        "heads": SHAPE.heads,
        "d_k": SETTINGS["divided"].d_k,
        "initial": SETTINGS["divided"].initial,
        "text": standard_library().about,
        "symbols": standard_library().symbols,
        "own text": own_text(),
        "shapes": shapes(model),
        "models": models,
        "sha256": digest(arrays),
    }
    content = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), np.uint8)
    np.savez_compressed(path, about=content, **arrays)


def check(path: Path) -> int:
    """Train the beginning again, and measure the stored weights; say whether both agree."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "about"}
        about = json.loads(stored["about"].tobytes())
    same_text = standard_library().about == about["text"]
    allowed = TOLERANCE if same_text else OTHER_TEXT_TOLERANCE
    agrees = digest(arrays) == about["sha256"]
    sys.stdout.write(f"the weights have {'the' if agrees else 'NOT the'} digest of the file\n")
    for name, setting in SETTINGS.items():
        found = about["models"][name]
        model, again = train_beginning(replace(setting, rate=found["rate"]), CHECKED[name])
        off = max(abs(loss - found["training loss"][str(step)]) for step, loss in again.items())
        packed = arrays[f"{name} weights"], arrays[f"{name} scales"]
        given = losses(with_rounded(model, packed), pieces(about["own text"]))
        apart = abs(given["all switched"] - found["own text"]["all switched"])
        agrees &= off <= allowed and apart <= ROUNDING
        text = "the same" if same_text else "another"
        sys.stdout.write(
            f"{name}: {CHECKED[name]} steps on {text} text are off by {off:.4f} nats, {allowed} "
            f"allowed; the loss of the stored weights by {apart:.1g}\n"
        )
    sys.stdout.write("which agrees\n" if agrees else "which does NOT agree\n")
    return int(not agrees)
