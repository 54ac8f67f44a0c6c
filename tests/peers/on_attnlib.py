"""A plugin of pytest: tests of SciPy and Keras, run on attnlib's functions.

With ``PEERS_ADAPTED`` in the environment, several axes are handed over as one, and numbers as rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attnlib


def with_any_axes(function: Callable[..., Any], default: int | None) -> Callable[..., Any]:
    """Take None and tuples for the axis, and numbers, as SciPy and Keras do."""

    def adapted(x: Any, axis: Any = default) -> Any:
        given = np.asarray(x)
        axes = range(given.ndim) if axis is None else np.atleast_1d(axis)
        last = range(-len(axes), 0)
        moved = np.moveaxis(given, axes, last)
        rows = moved.reshape(*moved.shape[: given.ndim - len(axes)], -1)
        return np.moveaxis(function(rows).reshape(moved.shape), last, axes)[()]

    return adapted


def attention_of_keras(
    query: Any,
    key: Any,
    value: Any,
    *,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
) -> Any:
    """Swap heads and tokens, and make one mask of two."""
    assert not flash_attention
    if bias is not None and mask is not None:
        mask = np.where(mask, bias, -np.inf)
    elif mask is None:
        mask = bias
    arrays = (np.asarray(x).swapaxes(1, 2) for x in (query, key, value))
    output = attnlib.scaled_dot_product_attention(
        *arrays, attn_mask=mask, is_causal=is_causal, scale=scale
    )
    return output.swapaxes(1, 2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put attnlib's functions in the place of theirs."""
    module = items[0].module
    in_keras = module.__name__.startswith("keras")
    places = [module.knn, module.keras.ops.nn] if in_keras else [module]
    for name in ("softmax", "log_softmax"):
        function = getattr(attnlib, name)
        if os.environ.get("PEERS_ADAPTED"):
            function = with_any_axes(function, -1 if in_keras else None)
        for place in places:
            setattr(place, name, function)
    if in_keras:
        module.knn.dot_product_attention = attention_of_keras
