"""A plugin of pytest: SciPy's tests of softmax and log_softmax, run on attnlib's functions.

With ``PEERS_ADAPTED`` in the environment, axes are handed over one at a time, and numbers as rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attnlib


def with_axes_of_scipy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take None and tuples for the axis, and numbers, as SciPy does."""

    def adapted(x: Any, axis: Any = None) -> Any:
        given = np.asarray(x)
        axes = range(given.ndim) if axis is None else np.atleast_1d(axis)
        last = range(-len(axes), 0)
        moved = np.moveaxis(given, axes, last)
        rows = moved.reshape(*moved.shape[: given.ndim - len(axes)], -1)
        return np.moveaxis(function(rows).reshape(moved.shape), last, axes)[()]

    return adapted


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put attnlib's functions in the place of SciPy's."""
    for name in ("softmax", "log_softmax"):
        function = getattr(attnlib, name)
        if os.environ.get("PEERS_ADAPTED"):
            function = with_axes_of_scipy(function)
        for item in items:
            setattr(item.module, name, function)
