"""What the chapter on the implementation shows and tries beside its own programs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence

import numpy as np
from IPython.display import Markdown


def show(*functions: Callable) -> Markdown:
    """Display functions as their sources have them, without docstrings and what decorates them.

    Examples
    --------
    >>> from attnlib import causal_mask
    >>> show(causal_mask).data.splitlines()[1]
    'def causal_mask(n_queries: int, n_keys: int) -> np.ndarray:'
    """
    code = "\n\n\n".join(map(_code, functions))
    return Markdown(f"```python\n{code}\n```")


def _code(function: Callable) -> str:
    """Return the source of a function without its docstring and its decorators."""
    lines = inspect.getsource(function).splitlines()
    definition = ast.parse("\n".join(lines)).body[0]
    docstring = definition.body[0]
    del lines[docstring.lineno - 1 : docstring.end_lineno], lines[: definition.lineno - 1]
    return "\n".join(lines)


def split_by_bits(
    head_widths: Sequence[int], rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Return the head widths at which it does not matter for float32 where one divides.

    Then come the widths at which it does: dividing scores or queries gives different bits.

    Examples
    --------
    >>> split_by_bits((16, 24), np.random.default_rng(1))
    ([16], [24])
    """
    same, other = [], []
    for d_k in head_widths:
        q, k = rng.standard_normal((2, 256, d_k)).astype(np.float32)
        factor = np.float32(d_k**-0.5)
        equal = np.array_equal((q @ k.T) * factor, (q * factor) @ k.T)
        (same if equal else other).append(d_k)
    return same, other


def sampled_bounds(
    head_widths: Sequence[int], n_tokens: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return drawn products of the longest query and the longest key, shape (widths, draws).

    Components are standard normal, so the squared lengths have the chi-squared law.

    Examples
    --------
    >>> sampled_bounds((64, 128), 1024, n_draws=2, rng=np.random.default_rng(1)).round()
    array([[115., 105.],
           [196., 189.]])
    """
    drawn = [rng.chisquare(d_k, (n_draws, 2, n_tokens)).max(axis=-1) for d_k in head_widths]
    return np.array([np.sqrt(longest).prod(axis=-1) for longest in drawn])


def climb(query: np.ndarray, key: np.ndarray, first: int) -> np.ndarray:
    """Return how far the largest logit of each row is above the largest of its first keys.

    Examples
    --------
    >>> climb(np.ones((1, 1)), np.array([[1.0], [3], [2], [7]]), first=2)
    array([4.])
    """
    logits = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    return logits.max(axis=-1) - logits[..., :first].max(axis=-1)
