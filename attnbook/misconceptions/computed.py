"""What the chapter on misconceptions computes beside its tests: predictions, bounds, look-ups."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnbook.initialization import INITIALIZERS
from attnbook.training.computed import Table
from attnbook.training.sweep import load_ablation
from attnlib import (
    entropy,
    predict_variances,
    sample_key_gradients,
    sample_query_gradients,
    softmax,
)


def load_table(path: str | os.PathLike[str]) -> Table:
    """Read the committed sweep of the chapter on training."""
    return Table(load_ablation(path))


def gradient_changes() -> dict[str, float]:
    """Return what deleting the division at d_k = 64 multiplies three typical gradients by."""
    cases = {
        "the query's with 1024 keys": (sample_query_gradients, 1024, 1000),
        "the query's with 4 keys": (sample_query_gradients, 4, 10_000),
        "the key's": (sample_key_gradients, 1024, 200),
    }
    change = {}
    for name, (sample, n, count) in cases.items():
        without, with_it = (
            np.median(sample(64, n, count, scale=scale, rng=np.random.default_rng([1021, n])))
            for scale in (1.0, None)
        )
        change[name] = float(without / with_it)
    return change


def which_shrink(factors: Iterable[float]) -> str:
    """Say which of three factors are below one.

    Examples
    --------
    >>> which_shrink([3, 0.5, 0.1])
    'the last two'
    """
    return {
        (True, True, True): "all three",
        (True, False, False): "the first only",
        (False, True, True): "the last two",
        (False, False, True): "the last only",
    }[tuple(factor < 1 for factor in factors)]


def start_variance(key: str, d_model: int = 512, d_k: int = 64) -> float:
    """Return the variance of divided logits that an initializer starts with.

    Examples
    --------
    >>> round(start_variance("xavier_square"), 6)
    1.0
    """
    return predict_variances(INITIALIZERS[key], d_model, d_k).logit


def least_entropy(n: int, length: float) -> float:
    """Return the least entropy of a row of n logits whose Euclidean length is bounded.

    Examples
    --------
    >>> f"{least_entropy(8, 4):.3f}"
    '0.472'
    """
    b = math.exp(-length * math.sqrt(n / (n - 1)))
    rest = 1 + (n - 1) * b
    return math.log(rest) + length * math.sqrt(n * (n - 1)) * b / rest


def sampled_entropies(n: int, length: float, n_rows: int) -> tuple[float, float]:
    """Return the entropy of the row that attains the bound, and the lowest of random rows.

    A ValueError if the bound is not attained, or a random row is below it.
    """
    ahead = np.full(n, -1 / (n - 1))
    ahead[0] = 1
    attained = float(entropy(softmax(length * ahead / np.linalg.norm(ahead))))
    rows = np.random.default_rng(1018).standard_normal((n_rows, n))
    rows -= rows.mean(axis=1, keepdims=True)
    rows *= length / np.linalg.norm(rows, axis=1, keepdims=True)
    found = float(entropy(softmax(rows)).min())
    if not math.isclose(attained, least_entropy(n, length)) or found <= attained:
        raise ValueError(f"the bound is {least_entropy(n, length)}; got {attained} and {found}")
    return attained, found


def rounded_above(values: ArrayLike) -> float:
    """Return the smallest number with one digit that is above all values.

    Examples
    --------
    >>> rounded_above([0.0012, 0.0015])
    0.002
    """
    largest = float(np.max(values))
    exponent = math.floor(math.log10(largest))
    return next(
        number for digit in range(2, 11) if (number := float(f"{digit}e{exponent}")) > largest
    )


def head_width(models: Iterable[Mapping[str, Any]], *beginnings: str) -> int:
    """Return the one head width of all models whose names begin so.

    Examples
    --------
    >>> head_width([{"name": "One", "d_k": 64}, {"name": "Two", "d_k": 96}], "T")
    96
    """
    (width,) = {
        model["d_k"] for model in models if "d_k" in model and model["name"].startswith(beginnings)
    }
    return width
