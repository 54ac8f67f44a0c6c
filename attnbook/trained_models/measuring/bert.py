"""What the three models of the family of BERT share: hooks, another scale, masked tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnbook.trained_models.measuring.rows import Rows, rounded, verdicts


@dataclass
class Observed:
    """What was seen of the heads of a model while it read."""

    rows: Rows = field(default_factory=Rows)
    own: float = 0.0
    """How far weights from queries and keys are from those that the model reports."""
    verdicts: list[str] = field(default_factory=list)


def observe(
    model: Any,
    queries: Sequence[Any],
    keys: Sequence[Any],
    heads: int,
    inputs: Sequence[Any],
    *,
    check: bool = True,
) -> Observed:
    """Let a model read; a layer that is passed several times counts as several."""
    import torch

    caught: dict[str, list[Any]] = {"query": [], "key": []}
    hooks = [
        layer.register_forward_hook(
            lambda _module, _inputs, output, name=name: caught[name].append(
                output[0].unflatten(-1, (heads, -1)).transpose(0, 1)
            )
        )
        for name, layers in (("query", queries), ("key", keys))
        for layer in layers
    ]
    seen = Observed()
    for place, tokens in enumerate(inputs):
        for outputs in caught.values():
            outputs.clear()
        with torch.no_grad():
            attentions = model(tokens, output_attentions=True).attentions
        for layer, (q, k) in enumerate(zip(caught["query"], caught["key"], strict=True)):
            query, key = q.double().numpy(), k.double().numpy()
            seen.rows.add(layer, query, key)
            if check:
                weights = (q.double() @ k.double().mT * q.shape[-1] ** -0.5).softmax(-1)
                seen.own = max(seen.own, float((weights - attentions[layer][0]).abs().max()))
                if place == 0:
                    seen.verdicts += verdicts(query, key)
    for hook in hooks:
        hook.remove()
    return seen


@contextmanager
def multiplied(layers: Sequence[Any], times: float) -> Iterator[None]:
    """Multiply queries, which is the same as multiplying logits."""
    import torch

    kept = [(layer, layer.weight.detach().clone(), layer.bias.detach().clone()) for layer in layers]
    with torch.no_grad():
        for layer, weight, bias in kept:
            layer.weight.copy_(weight * times)
            layer.bias.copy_(bias * times)
    yield
    with torch.no_grad():
        for layer, weight, bias in kept:
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)


Guess = tuple[Any, Any]
"""Copies of one text, and which places each hides."""
APART = 8


def masked_tokens(inputs: Sequence[Any], copies: int = APART) -> list[Guess]:
    """Return copies of each text; each hides every eighth token, about as many as in training."""
    import torch

    guesses = []
    for tokens in inputs:
        places = torch.arange(tokens.numel())
        hidden = torch.stack([places % APART == start for start in range(copies)])
        hidden[:, [0, -1]] = False
        guesses.append((tokens.repeat(copies, 1), hidden))
    return guesses


def sizes(guesses: Sequence[Guess]) -> np.ndarray:
    """Return how many tokens are hidden of each text."""
    return np.array([int(hidden.sum()) for _, hidden in guesses], float)


def losses(model: Any, guesses: Sequence[Guess], mask: int) -> np.ndarray:
    """Return the sums of the losses in nats and the numbers of hits, shape (2, n_texts)."""
    import torch

    found = []
    for tokens, hidden in guesses:
        with torch.no_grad():
            logits = model(tokens.masked_fill(hidden, mask)).logits[hidden].double()
        loss = torch.nn.functional.cross_entropy(logits, tokens[hidden], reduction="sum")
        found.append((float(loss), float((logits.argmax(-1) == tokens[hidden]).sum())))
    return np.array(found).T


def quantize(model: Any) -> int:
    """Round the matrices of a model to four bits, as a Q4_1 file has them; return how many."""
    import gguf
    import torch

    kind, rounded_ones = gguf.GGMLQuantizationType.Q4_1, 0
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2 and parameter.shape[-1] % 32 == 0:
                coarse = gguf.quants.quantize(parameter.numpy(), kind)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(coarse, kind)))
                rounded_ones += 1
    return rounded_ones


def untrained_spread(
    model: Any, layers: Sequence[Any], inputs: Sequence[Any], heads: int
) -> list[float]:
    """Return the spread of each head of a model that nobody trained, smallest first."""
    queries, keys = [layer.query for layer in layers], [layer.key for layer in layers]
    seen = observe(model, queries, keys, heads, inputs, check=False)
    return rounded(sorted(seen.rows.columns()["spread"]))
