"""How exact attention in float32 is: its error against the same formula in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import attnlib
from benchmarks import report

LENGTHS, HEADS, WIDTH = (128, 512, 2048), 2, 64
MOST = 1e-6
"""The error that is allowed, relative to the outputs, both as root mean squares."""

Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Row(NamedTuple):
    """What came out for one length; within its target no digit is told, since processors differ."""

    what: str
    error: float

    def cells(self) -> list[str]:
        """Return what a table shows."""
        met = self.error <= MOST
        told = "below a millionth" if met else f"{self.error:.1g}"
        return [self.what, "met" if met else "**missed**", told, "a millionth"]


def exact(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return attention in float64."""
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials @ v / exponentials.sum(axis=-1, keepdims=True)


def measure(attention: Attention = attnlib.blockwise_attention) -> Iterator[Row]:
    """Yield the error at each length, relative to the outputs."""
    for n in LENGTHS:
        rng = np.random.default_rng(n)
        given = rng.standard_normal((3, HEADS, n, WIDTH), dtype=np.float32)
        wanted = exact(*given)
        error = np.linalg.norm(attention(*given) - wanted) / np.linalg.norm(wanted)
        yield Row(f"{n} tokens, {HEADS} heads", float(error))


def table(found: list[Row]) -> str:
    """Return the errors beside what was wanted."""
    return report.table(["case", "verdict", "measured", "target"], [row.cells() for row in found])
