"""What the rows of a head are like: their spread, their weights, and what the norms would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from attnlib import diagnose, effective_positions, softmax

FEWEST = 16
SHARP = 0.9


class Rows:
    """Means over the rows of each head, collected layer by layer from one input after another."""

    def __init__(self) -> None:
        self.sums: dict[int, dict[str, np.ndarray]] = {}
        self.counts: Counter[int] = Counter()

    def add(self, layer: int, query: np.ndarray, key: np.ndarray, *, causal: bool = False) -> None:
        """Add the rows of one layer that see at least `FEWEST` keys."""
        measured = row_statistics(query, key, causal=causal)
        kept = self.sums.setdefault(layer, {})
        for name, values in measured.items():
            kept[name] = kept.get(name, 0) + values.sum(axis=-1)
        self.counts[layer] += measured["spread"].shape[-1]

    def columns(self) -> dict[str, list[Any]]:
        """Return the means, a list for each quantity, heads in the order of the layers."""
        layers = sorted(self.sums)
        heads = [len(self.sums[layer]["spread"]) for layer in layers]
        return {
            "layer": [
                layer for layer, count in zip(layers, heads, strict=True) for _ in range(count)
            ],
            "head": [head for count in heads for head in range(count)],
            **{
                name: rounded(
                    value
                    for layer in layers
                    for value in self.sums[layer][name] / self.counts[layer]
                )
                for name in self.sums[layers[0]]
            },
        }


def row_statistics(
    query: np.ndarray, key: np.ndarray, *, causal: bool = False
) -> dict[str, np.ndarray]:
    """Measure the rows of some heads, with all keys and, as ``… of the rest``, without the first.

    Parameters
    ----------
    query, key : numpy.ndarray, shape (n_heads, n_tokens, d_k)
        Queries and keys as they reach their product.
    causal : bool
        Whether a query sees no key behind it.

    Returns
    -------
    dict of str to numpy.ndarray, shape (n_heads, n_rows)
        A value for each row that sees at least `FEWEST` keys. "law" is the spread that keys of
        the same size around their mean give if their directions are independent of the query's.
        "above" says whether the row is above its critical scale.
    """
    n_tokens, d_k = key.shape[-2:]
    logits = (query @ key.mT) * query.dtype.type(d_k**-0.5)
    seen = np.tri(n_tokens, dtype=bool) if causal else np.ones((n_tokens, n_tokens), dtype=bool)
    rows = seen.sum(axis=-1) >= FEWEST
    lengths = np.linalg.norm(query, axis=-1)[:, rows]
    own = np.linalg.norm(key, axis=-1)[:, rows]
    measured = {"query": lengths, "key": own}
    for words, keys in (("", seen), (" of the rest", seen & (np.arange(n_tokens) > 0))):
        allowed = keys[rows]
        count = allowed.sum(axis=-1)
        here = logits[:, rows]
        mean = (here * allowed).sum(axis=-1) / count
        spread = np.sqrt(((here - mean[..., None]) ** 2 * allowed).sum(axis=-1) / count)
        part = (allowed / count[:, None]).astype(key.dtype)
        around = part @ (key**2).sum(axis=-1)[..., None] - ((part @ key) ** 2).sum(
            axis=-1, keepdims=True
        )
        weights = softmax(np.where(allowed, here, -np.inf))
        top = weights.max(axis=-1)
        measured |= {
            f"spread{words}": spread,
            f"law{words}": lengths * np.sqrt(np.maximum(around[..., 0], 0)) / d_k,
            f"top{words}": top,
            f"positions{words}": effective_positions(weights),
            f"sharp{words}": (top > SHARP).astype(float),
            f"above{words}": (critical_scales(here, allowed) < 1).astype(float),
        }
        if not words:
            measured |= {"keys": np.broadcast_to(count, top.shape), "first": weights[..., 0]}
    return measured


def critical_scales(logits: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return by what each row is to be multiplied to be at its critical scale.

    Examples
    --------
    >>> row = np.array([[2.0, 0.0, 0.0, 0.0]])
    >>> float(critical_scales(row, np.ones((1, 4), dtype=bool)).round(3)[0])
    0.693
    """
    seen = np.where(allowed, logits, -np.inf)
    behind = np.sort(seen.max(axis=-1, keepdims=True) - seen)[..., 1:]
    counts = np.arange(2, seen.shape[-1] + 1)
    with np.errstate(divide="ignore"):
        return (np.log(counts) / behind).max(axis=-1)


def verdicts(query: np.ndarray, key: np.ndarray, *, causal: bool = False) -> list[str]:
    """Return what `attnlib.diagnose` says of each head of a layer."""
    mask = np.tri(query.shape[-2], dtype=bool) if causal else None
    return list(diagnose(query, key, attn_mask=mask).verdict)


def rounded(values: Iterable[float]) -> list[float]:
    """Return numbers with four digits.

    Examples
    --------
    >>> rounded([0.123456, 1234.56])
    [0.1235, 1235.0]
    """
    return [float(f"{value:.4g}") for value in values]
