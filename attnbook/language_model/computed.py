"""What the page on the small language model says: its committed sweep by name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

NOT_DIVIDED, DIVIDED, BY_WIDTH, NORM = "1", "1/√dₖ", "1/dₖ", "q/k norm"
NAMES = {NOT_DIVIDED: "not divided", DIVIDED: "divided by √dₖ", BY_WIDTH: "divided by dₖ"}
UNIT, XAVIER, SMALL = "unit variance", "fused Xavier", "N(0, 0.02²)"


class Sweep:
    """The table that ``make sweep-language`` writes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.table = json.loads(Path(path).read_text(encoding="utf-8"))
        self.settings = {
            (one["rule"], one["initial"], one["d_k"], one["as_in_practice"]): one
            for one in self.table["settings"]
        }
        self.steps = self.table["settings"][0]["steps"]

    def losses(
        self, rule: str, initial: str, d_k: int = 128, *, in_practice: bool = True
    ) -> np.ndarray:
        """Return validation losses in nats a character, shape (n_seeds, n_records).

        Infinite from the record on at which a run had diverged.
        """
        return np.array(self.settings[rule, initial, d_k, in_practice]["loss"])

    def last(self, rule: str, initial: str, d_k: int = 128, **how: bool) -> np.ndarray:
        """Return the losses after the last step, one a seed."""
        return self.losses(rule, initial, d_k, **how)[:, -1]

    def spread(self, rule: str, initial: str, d_k: int = 128, *, step: int = 0) -> float:
        """Return the mean spread of the logits in a row after some steps, over seeds and heads."""
        runs = self.settings[rule, initial, d_k, True]["spread"]
        return float(np.mean([run[str(step)] for run in runs]))

    def inside(
        self, rule: str, initial: str, what: str, *, step: int, layer: int | None = None
    ) -> float:
        """Return a mean over heads and rows, for the first seed of the widest heads."""
        layers = self.settings[rule, initial, 128, True]["first seed"]["inspected"][str(step)]
        chosen = layers if layer is None else [layers[layer]]
        return float(np.mean([value for one in chosen for value in one[what]]))

    def gradient(
        self, rule: str, initial: str, of: str, *, step: int, layer: int | None = None
    ) -> float:
        """Return the norm of a gradient over both layers or in one, for the first seed."""
        norms = self.settings[rule, initial, 128, True]["first seed"]["gradients"][str(step)][of]
        return float(np.linalg.norm(norms if layer is None else norms[layer]))

    def by_rule(self) -> dict[str, tuple[list[float], list[float]]]:
        """Return for each rule the spreads at the start and the mean losses in the end."""
        found: dict[str, tuple[list[float], list[float]]] = {}
        for rule, initial, d_k, in_practice in self.settings:
            if in_practice:
                spreads, losses = found.setdefault(NAMES.get(rule, rule), ([], []))
                spreads.append(self.spread(rule, initial, d_k))
                losses.append(float(self.last(rule, initial, d_k).mean()))
        return found

    def ends_below(self, spread: float, d_k: int) -> list[float]:
        """Return the mean last losses of models of a width that start with a smaller spread."""
        return [
            float(self.last(rule, initial, width).mean())
            for rule, initial, width, in_practice in self.settings
            if in_practice and width == d_k and self.spread(rule, initial, width) < spread
        ]

    def best_spread(self, d_k: int) -> float:
        """Return the first spread of the model of a width with the lowest mean last loss."""
        tried = [each[:2] for each in self.settings if each[2] == d_k and each[3]]
        best = min(tried, key=lambda each: self.last(*each, d_k).mean())
        return self.spread(*best, d_k)

    def lead_of_best(self, d_k: int) -> tuple[float, float]:
        """Return by how much a width's best model is ahead of the next, with its standard error."""
        tried = [self.last(*each[:3]) for each in self.settings if each[2] == d_k and each[3]]
        best, second = sorted(tried, key=np.mean)[:2]
        ahead = second - best  # the same seeds in both
        return float(ahead.mean()), float(ahead.std(ddof=1) / np.sqrt(ahead.size))

    def baseline(self, name: str) -> float:
        """Return the loss of a table of characters, or of pairs of them."""
        return float(self.table["without a model"][name])


def said(losses: Any) -> str:
    """Write a mean and the smallest and largest value.

    Examples
    --------
    >>> said([2.5, 2.6, 2.55])
    '2.55 (2.50 to 2.60)'
    """
    return f"{np.mean(losses):.2f} ({np.min(losses):.2f} to {np.max(losses):.2f})"
