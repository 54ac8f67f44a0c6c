"""The same attention by other means, each on inputs in the layout it likes best.

Every function here takes NumPy arrays of shape (batch, heads, n, d) and a scale, and returns a
function without arguments that does the work, waits until it is done and returns the result.
Copying the inputs over happens once, before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch
from scipy.special import softmax as scipy_softmax

import attnlib

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Work = Callable[[], Any]


def own(attention: Callable[..., np.ndarray]) -> Callable[[Arrays, float | None], Work]:
    """Run an attention of this package."""
    return lambda arrays, scale: lambda: attention(*arrays, scale=scale)


def textbook(arrays: Arrays, scale: float | None) -> Work:
    """Run the one line of the textbooks, with the largest score subtracted."""
    query, key, value = arrays
    # a Python float; the float64 of np.sqrt would turn all into float64, at twice the size
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale

    def work() -> np.ndarray:
        scores = query @ key.swapaxes(-1, -2) * factor
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ value

    return work


def scipy(arrays: Arrays, scale: float | None) -> Work:
    """Run the one line with SciPy's softmax."""
    query, key, value = arrays
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return lambda: scipy_softmax(query @ key.swapaxes(-1, -2) * factor, axis=-1) @ value


def pytorch(arrays: Arrays, scale: float | None) -> Work:
    """Run PyTorch's fused kernel for the processor."""
    query, key, value = (torch.from_numpy(array) for array in arrays)

    def work() -> np.ndarray:
        with torch.inference_mode():
            output = torch.nn.functional.scaled_dot_product_attention(
                query, key, value, scale=scale
            )
        return output.numpy()

    return work


def _heads_second(array: np.ndarray) -> np.ndarray:
    """Move the heads behind the tokens, where JAX has them."""
    return np.ascontiguousarray(np.swapaxes(array, 1, 2))


def jax_attention(arrays: Arrays, scale: float | None) -> Work:
    """Run JAX's attention, compiled."""
    inputs = [jax.device_put(_heads_second(array)) for array in arrays]
    compiled = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, scale=scale))
    return lambda: jax.block_until_ready(compiled(*inputs))


def own_gradient(vjp: Callable[..., Any]) -> Callable[[Arrays, np.ndarray], Work]:
    """Run an attention of this package forward and backward."""
    return lambda arrays, upstream: lambda: vjp(*arrays, upstream)


def pytorch_gradient(arrays: Arrays, upstream: np.ndarray) -> Work:
    """Run PyTorch's fused kernel and its automatic gradient."""
    inputs = [torch.from_numpy(array).requires_grad_() for array in arrays]
    direction = torch.from_numpy(upstream)

    def work() -> tuple[torch.Tensor, ...]:
        output = torch.nn.functional.scaled_dot_product_attention(*inputs)
        return torch.autograd.grad(output, inputs, direction)

    return work


def jax_gradient(arrays: Arrays, upstream: np.ndarray) -> Work:
    """Run JAX's attention and its automatic gradient, compiled together."""
    inputs = [jax.device_put(_heads_second(array)) for array in arrays]
    direction = jax.device_put(_heads_second(upstream))

    def gradient(*given: jax.Array) -> tuple[jax.Array, ...]:
        *arguments, cotangent = given
        return jax.vjp(jax.nn.dot_product_attention, *arguments)[1](cotangent)

    compiled = jax.jit(gradient)
    return lambda: jax.block_until_ready(compiled(*inputs, direction))


#: Who computes the output, by the name that tables and figure use.
FORWARD = {
    "attnlib": own(attnlib.blockwise_attention),  # without the matrix of weights
    "attnlib, dense": own(attnlib.scaled_dot_product_attention),  # as the chapters use it
    "PyTorch": pytorch,
    "JAX": jax_attention,
    "SciPy softmax": scipy,
    "textbook": textbook,
}
#: Who computes the gradients.
BACKWARD = {
    "attnlib": own_gradient(attnlib.blockwise_attention_vjp),
    "attnlib, dense": own_gradient(attnlib.attention_vjp),
    "PyTorch": pytorch_gradient,
    "JAX": jax_gradient,
}
