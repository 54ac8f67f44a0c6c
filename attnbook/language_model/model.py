"""The two trained models whose heads a reader can look into, computed with NumPy alone.

``make trained-head`` trains them and writes their weights, rounded to whole numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attnlib import scaled_dot_product_attention, softmax

FILE = Path(__file__).with_name("trained_head.npz")
MODELS = ("divided", "undivided")
"""How the models were trained."""
LINES = (
    "for i in range(n): go(i)",
    "if name in names: return",
    "price = price + discount",
    "x = (a + b[0]) * (a - c)",
    'print("hello", "world!")',
    "self.width = width + gap",
    "def add(first, other=0):",
    "items[k] += items[k - 1]",
    "while not queue.empty():",
    "    return values[index]",
    "import os, sys, tempfile",
    "raise ValueError(reason)",
)
"""Lines to look into, all of one length."""


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of arrays, in the order of their names."""
    return hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest()


def unpacked(
    whole: np.ndarray, scales: np.ndarray, shapes: Mapping[str, Sequence[int]]
) -> dict[str, np.ndarray]:
    """Return weights by name: whole numbers times what their row is multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook.language_model.model import unpacked
    >>> shapes = {"matrix": [2, 2], "vector": [2]}
    >>> unpacked(np.int8([63, 0, 10, -2, 1, 2]), np.float32([0.5, 0.25, 2]), shapes)["matrix"]
    array([[31.5,  0. ],
           [ 2.5, -0.5]], dtype=float32)
    """
    found, begin, row = {}, 0, 0
    for name, shape in shapes.items():
        rows = shape[0] if len(shape) > 1 else 1  # a vector has one for all of it
        end = begin + math.prod(shape)
        values = whole[begin:end].reshape(rows, -1) * scales[row : row + rows, None]
        found[name] = values.reshape(shape)
        begin, row = end, row + rows
    return found


@dataclass(frozen=True)
class Reading:
    """What a model computes of pieces of text.

    `logits` of the next character have shape (pieces, places, symbols); `queries` and `keys`
    have shape (layers, pieces, heads, places, d_k).
    """

    logits: np.ndarray
    queries: np.ndarray
    keys: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """The products of queries and keys, shape (layers, pieces, heads, places, places)."""
        return self.queries @ self.keys.swapaxes(-1, -2)

    def loss(self, following: np.ndarray) -> float:
        """Return the cross-entropy in nats a character."""
        chances = softmax(self.logits)
        return float(-np.log(np.take_along_axis(chances, following[..., None], -1)).mean())


class TrainedModel:
    """One of the two models, as its file has it.

    Parameters
    ----------
    name : str
        How it was trained: ``"divided"`` or ``"undivided"``.

    Examples
    --------
    >>> from attnbook.language_model.model import LINES, TrainedModel
    >>> model = TrainedModel("divided")
    >>> model.read(model.pieces(LINES)).scores.shape
    (2, 12, 2, 24, 24)
    """

    def __init__(self, name: str) -> None:
        if name not in MODELS:
            raise ValueError(f"name is {name!r}, not one of {MODELS}")
        with np.load(FILE) as stored:
            self.about: dict[str, Any] = json.loads(stored["about"].tobytes())
            packed = stored[f"{name} weights"], stored[f"{name} scales"]
        self.found: dict[str, Any] = self.about["models"][name]
        # in double precision, so that what is shown is the same on every processor
        given = unpacked(*packed, self.about["shapes"])
        self.weights = {key: value.astype(float) for key, value in given.items()}
        self.root = math.sqrt(self.about["d_k"])
        self.factor = 1 / self.root if name == "divided" else 1.0
        self.other_factor = 1 / self.root / self.factor

    @property
    def places(self) -> list[tuple[int, int]]:
        """Layer and head of each head, counted from 0."""
        return [
            (layer, head)
            for layer in range(self.about["layers"])
            for head in range(self.about["heads"])
        ]

    def pieces(self, texts: Collection[str]) -> np.ndarray:
        """Return texts of one length as the numbers of their characters."""
        number = {symbol: place for place, symbol in enumerate(self.about["symbols"])}
        return np.array([[number[symbol] for symbol in text] for text in texts])

    def read(self, pieces: np.ndarray, switched: Collection[tuple[int, int]] = ()) -> Reading:
        """Let the model read pieces of text, shape (pieces, places).

        The heads that are `switched` do without the division that they were trained with, or
        get the one that they were trained without.
        """
        w = self.weights
        x = w["symbol.weight"][pieces] + w["position.weight"][: pieces.shape[1]]
        queries, keys = [], []
        for layer in range(self.about["layers"]):
            own = f"layers.{layer}"
            normal = self._normalized(x, f"{own}.before_attention")
            query, key, value = (
                self._heads(normal @ w[f"{own}.attention.{part}.weight"].T)
                for part in ("query", "key", "value")
            )
            factors = np.array(
                [
                    self.other_factor if (layer, head) in switched else self.factor
                    for head in range(self.about["heads"])
                ]
            )
            mean = scaled_dot_product_attention(
                factors[:, None, None] * query, key, value, is_causal=True, scale=1.0
            )
            joined = mean.swapaxes(1, 2).reshape(x.shape)
            x = x + joined @ w[f"{own}.attention.out.weight"].T
            normal = self._normalized(x, f"{own}.before_network")
            x = x + self._linear(gelu(self._linear(normal, f"{own}.network.0")), f"{own}.network.2")
            queries.append(query)
            keys.append(key)
        logits = self._linear(self._normalized(x, "normalize"), "head")
        return Reading(logits, np.array(queries), np.array(keys))

    def largest_weights(self, texts: Collection[str], after: int = 4) -> np.ndarray:
        """Return the largest weight of each place behind the first few, for each head as trained.

        The shape is (layers, texts, heads, places).
        """
        scores = self.factor * self.read(self.pieces(texts)).scores
        seen = np.tri(scores.shape[-1], dtype=bool)
        return softmax(np.where(seen, scores, -np.inf)).max(axis=-1)[..., after:]

    def _heads(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(*x.shape[:2], self.about["heads"], -1).swapaxes(1, 2)

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _normalized(self, x: np.ndarray, name: str) -> np.ndarray:
        centered = x - x.mean(axis=-1, keepdims=True)
        size = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centered / size * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


@cache
def trained_model(name: str) -> TrainedModel:
    """Return one of the models, read once."""
    return TrainedModel(name)


def gelu(x: np.ndarray) -> np.ndarray:
    """Return x times the chance that a standard normal number is below it."""
    from scipy.special import ndtr

    return x * ndtr(x)
