"""A small language model on real text, to see what the division does where models are trained.

A transformer as in practice (pre-norm, learned positions, AdamW, warm-up, cosine, clipping) learns
to predict the next character of Python's own standard library. Only the scaling rule and the
initial size of queries and keys differ between runs. Needs PyTorch; ``make sweep-language``
installs it.
"""

from __future__ import annotations

import hashlib
import math
import platform
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlib import entropy, meaningful_keys, scaled_dot_product_attention, scaling, softmax

WIDTH, LAYERS, CONTEXT, BATCH, STEPS = 128, 2, 64, 8, 600
WARM_UP = 60
EVERY = 75
"""Steps between two measurements of the validation loss."""
LOOKED_AT = (0, 75, 300, 525, 600)
"""Steps at which rows and gradients are looked into."""
WINDOWS = 256
"""Pieces of text on which a loss is measured, the same for every run."""


def initial_std(width: int) -> dict[str, float]:
    """Return standard deviations of queries' and keys' weights; what enters has variance one."""
    return {
        "unit variance": width**-0.5,
        "fused Xavier": (2 / (width + 3 * width)) ** 0.5,
        "N(0, 0.02²)": 0.02,
    }


INITIAL_STD = initial_std(WIDTH)
POWERS = {
    "1": 0,
    "1/√dₖ": -0.5,
    "1/dₖ": -1,
    "q/k norm": 0.5,
}
"""The power of d_k in the factor; with q/k norm scores are cosines, and heads learn a gain."""


@dataclass(frozen=True)
class Setting:
    """One model and how it is trained; with a seed it is one run."""

    rule: str
    initial: str
    d_k: int
    rate: float
    as_in_practice: bool = True
    """Whether with warm-up and clipping."""


@dataclass(frozen=True)
class Shape:
    """How large a model is; without `heads` they share the width."""

    width: int = WIDTH
    layers: int = LAYERS
    heads: int | None = None


SHAPE = Shape()


@dataclass(frozen=True)
class Text:
    """Characters as numbers: what is trained on, and what is only read at the end."""

    training: Tensor
    validation: Tensor
    symbols: str
    about: dict[str, Any]


@cache
def standard_library() -> Text:
    """Read the modules of Python's standard library; every tenth is for validation."""
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    texts = [path.read_text(encoding="utf-8", errors="ignore") for path in paths]
    texts = ["".join(c for c in text if c.isascii()) for text in texts]
    symbols = "".join(sorted(set("".join(texts))))
    number = {symbol: index for index, symbol in enumerate(symbols)}

    def numbers(chosen: list[str]) -> Tensor:
        return torch.tensor([number[symbol] for symbol in "".join(chosen)])

    validation = numbers(texts[::10])
    training = numbers([text for index, text in enumerate(texts) if index % 10])
    about = {
        "python": platform.python_version(),
        "modules": len(texts),
        "characters": len(training),
        "validation characters": len(validation),
        "symbols": len(symbols),
        "sha256": hashlib.sha256("".join(texts).encode()).hexdigest(),
    }
    return Text(training, validation, symbols, about)


def windows(text: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw pieces of the text, and the same pieces one character on."""
    starts = torch.randint(len(text) - CONTEXT, (count, 1), generator=generator)
    places = starts + torch.arange(CONTEXT + 1)
    return text[places][:, :-1], text[places][:, 1:]


def validation_windows() -> tuple[Tensor, Tensor]:
    """Return the pieces of text on which every model is measured."""
    return windows(standard_library().validation, WINDOWS, torch.Generator().manual_seed(0))


def baselines() -> dict[str, float]:
    """Return the losses if only the frequency of characters, or of pairs of them, is known."""
    text = standard_library()
    n, (symbols, following) = len(text.symbols), validation_windows()
    pairs = text.training[:-1] * n + text.training[1:]
    counts = 1.0 + torch.bincount(pairs, minlength=n * n).view(n, n)
    by_one, by_pair = counts.sum(dim=0) / counts.sum(), counts / counts.sum(dim=1, keepdim=True)
    return {
        "characters": five_digits(-by_one.log()[following].mean()),
        "pairs": five_digits(-by_pair.log()[symbols, following].mean()),
    }


class Attention(nn.Module):
    """Causal attention with several heads, whose scores a rule scales."""

    def __init__(self, rule: str, d_k: int, std: float, shape: Shape = SHAPE) -> None:
        super().__init__()
        width = shape.width
        self.n_heads = shape.heads or width // d_k
        self.factor = d_k ** POWERS[rule]
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, wide, bias=False)
            for wide in (self.n_heads * d_k, self.n_heads * d_k, width, width)
        )
        nn.init.normal_(self.query.weight, std=std)
        nn.init.normal_(self.key.weight, std=std)
        nn.init.normal_(self.value.weight, std=width**-0.5)
        nn.init.normal_(self.out.weight, std=(2 * shape.layers * width) ** -0.5)
        gains = torch.zeros(self.n_heads, 1, 1) if rule == "q/k norm" else None
        self.log_gain = nn.Parameter(gains) if gains is not None else None

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, shape (batch, head, position, d_k)."""
        batch, length, _ = x.shape
        query, key, value = (
            project(x).view(batch, length, self.n_heads, -1).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        if self.log_gain is not None:
            query = functional.normalize(query, dim=-1) * self.log_gain.exp()
            key = functional.normalize(key, dim=-1)
        return query, key, value

    def forward(self, x: Tensor) -> Tensor:
        """Return what attention adds to each position."""
        mean = functional.scaled_dot_product_attention(
            *self.heads(x), is_causal=True, scale=self.factor
        )
        return self.out(mean.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    """Attention and a small network, each behind a normalization and added to what came in."""

    def __init__(self, rule: str, d_k: int, std: float, shape: Shape = SHAPE) -> None:
        super().__init__()
        width = shape.width
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(rule, d_k, std, shape)
        first, second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        nn.init.normal_(first.weight, std=width**-0.5)
        nn.init.normal_(second.weight, std=(2 * shape.layers * 4 * width) ** -0.5)
        nn.init.zeros_(first.bias)
        nn.init.zeros_(second.bias)
        self.network = nn.Sequential(first, nn.GELU(), second)

    def forward(self, x: Tensor) -> Tensor:
        """Return what comes out of the layer at each position."""
        x = x + self.attention(self.before_attention(x))
        return x + self.network(self.before_network(x))


class LanguageModel(nn.Module):
    """From characters to the logits of the next one."""

    def __init__(self, setting: Setting, n_symbols: int, shape: Shape = SHAPE) -> None:
        super().__init__()
        width, std = shape.width, initial_std(shape.width)[setting.initial]
        self.symbol, self.position = nn.Embedding(n_symbols, width), nn.Embedding(CONTEXT, width)
        self.layers = nn.ModuleList(
            Layer(setting.rule, setting.d_k, std, shape) for _ in range(shape.layers)
        )
        self.normalize, self.head = nn.LayerNorm(width), nn.Linear(width, n_symbols)
        for embedding in (self.symbol, self.position):
            nn.init.normal_(embedding.weight, std=0.02)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, symbols: Tensor) -> Tensor:
        """Return the logits of the next character at each position."""
        x = self.symbol(symbols) + self.position.weight[: symbols.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.normalize(x))

    def queries_and_keys(self, symbols: Tensor) -> Iterator[tuple[Attention, Tensor, Tensor]]:
        """Return each layer's attention with its queries and keys."""
        x = self.symbol(symbols) + self.position.weight[: symbols.shape[1]]
        for layer in self.layers:
            query, key, _ = layer.attention.heads(layer.before_attention(x))
            yield layer.attention, query, key
            x = layer(x)


def loss(model: LanguageModel, symbols: Tensor, following: Tensor) -> Tensor:
    """Return the cross-entropy in nats a character."""
    return functional.cross_entropy(model(symbols).flatten(0, 1), following.flatten())


@torch.no_grad()
def inspect(model: LanguageModel, symbols: Tensor) -> list[dict[str, list[float]]]:
    """Measure the rows of the last position, which see all keys: by layer, a value for each head.

    The spread is the standard deviation of a row's logits; all are means over the pieces of text.
    """
    measured = []
    for attention, query, key in model.queries_and_keys(symbols):
        logits = attention.factor * (query[:, :, -1:] @ key.transpose(-2, -1))[:, :, 0]
        logits = logits.double().cpu().numpy()
        weights = softmax(logits)
        rows = {
            "spread": logits.std(axis=-1),
            "entropy": entropy(weights) / math.log(CONTEXT),
            "top weight": weights.max(axis=-1),
            "meaningful keys": meaningful_keys(weights),
        }
        means = {name: row.mean(axis=0) for name, row in rows.items()}
        measured.append({name: [*map(five_digits, mean)] for name, mean in means.items()})
    return measured


def gradient_norms(model: LanguageModel) -> dict[str, list[float]]:
    """Return by layer the norm of the gradient by queries' and keys' weights, and by values'."""
    layers = [layer.attention for layer in model.layers]
    return {
        name: [
            five_digits(sum(part.weight.grad.square().sum() for part in chosen(layer)) ** 0.5)
            for layer in layers
        ]
        for name, chosen in {
            "queries and keys": lambda layer: (layer.query, layer.key),
            "values": lambda layer: (layer.value,),
        }.items()
    }


def five_digits(number: Any) -> float:
    """Round to five significant digits."""
    return float(f"{float(number):.5g}")


def train(setting: Setting, seed: int, *, until: int = STEPS, device: str = "cpu") -> dict:
    """Train a model, and return what was measured on the way; the loss is infinite where it failed.

    A run that ends early, `until` some step, is the beginning of the whole one.
    """
    text = standard_library()
    torch.manual_seed(seed)
    model = LanguageModel(setting, len(text.symbols)).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), setting.rate, betas=(0.9, 0.95), weight_decay=0.1
    )
    draw = torch.Generator().manual_seed(seed + 1_000_000)
    asked = tuple(part.to(device) for part in validation_windows())
    result: dict[str, Any] = {"steps": [], "loss": [], "inspected": {}, "gradients": {}}

    def measure(step: int) -> None:
        with torch.no_grad():
            result["steps"].append(step)
            value = five_digits(loss(model, *asked))
        finite = math.isfinite(value)
        result["loss"].append(value if finite else math.inf)
        if finite and step in LOOKED_AT:
            result["inspected"][str(step)] = inspect(model, asked[0])

    for step in range(until):
        if step % EVERY == 0:
            measure(step)
        warm = min(1, (step + 1) / WARM_UP) if setting.as_in_practice else 1
        for group in optimizer.param_groups:
            group["lr"] = setting.rate * warm * 0.5 * (1 + math.cos(math.pi * step / STEPS))
        batch = (part.to(device) for part in windows(text.training, BATCH, draw))
        optimizer.zero_grad()
        training_loss = loss(model, *batch)
        if not torch.isfinite(training_loss):
            unreached = range(step - step % EVERY + EVERY, until + 1, EVERY)
            result["steps"] += unreached
            result["loss"] += [math.inf] * len(unreached)
            return result
        training_loss.backward()
        if step in LOOKED_AT:
            result["gradients"][str(step)] = gradient_norms(model)
        if setting.as_in_practice:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    measure(until)
    return result


def largest_difference(setting: Setting, seed: int = 0) -> float:
    """Return by how much the attention of a batch differs from that of attnlib at most."""
    rule = {
        "1": scaling.no_scaling(),
        "1/√dₖ": scaling.inverse_sqrt(),
        "1/dₖ": scaling.inverse_width(),
        "q/k norm": scaling.query_key_norm(),
    }[setting.rule]
    text = standard_library()
    torch.manual_seed(seed)
    attention = LanguageModel(setting, len(text.symbols)).layers[0].attention
    x = torch.randn(BATCH, CONTEXT, WIDTH)
    with torch.no_grad():
        given = attention(x).numpy()
        parts = [
            part(x).view(BATCH, CONTEXT, attention.n_heads, -1).transpose(1, 2).numpy()
            for part in (attention.query, attention.key, attention.value)
        ]
        mean = scaled_dot_product_attention(*parts, is_causal=True, scale=rule)
        wanted = np.swapaxes(mean, 1, 2).reshape(x.shape) @ attention.out.weight.numpy().T
    return float(np.abs(given - wanted).max())
