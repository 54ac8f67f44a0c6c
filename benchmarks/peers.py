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
import onnxruntime
import torch
from onnx import TensorProto, helper
from scipy.special import softmax as scipy_softmax

import attnlib
from benchmarks.threads import CORES

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


def _onnx_session(heads: int, scale: float) -> onnxruntime.InferenceSession:
    """Return a session whose model is one node of attention."""
    whole = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * 3)
        for name in ("query", "key", "value", "output")
    }
    names = list(whole)
    node = helper.make_node(
        *("MultiHeadAttention", names[:3], names[3:]),
        domain="com.microsoft",
        num_heads=heads,
        scale=scale,
    )
    inputs, outputs = ([whole[name] for name in some] for some in (names[:3], names[3:]))
    model = helper.make_model(
        helper.make_graph([node], "attention", inputs, outputs),
        opset_imports=[helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("", 20)],
        ir_version=10,
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = CORES, 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def onnx_attention(arrays: Arrays, scale: float | None) -> Work:
    """Run ONNX Runtime's attention, which takes the heads of a token side by side."""
    batch, heads, n, width = arrays[0].shape
    session = _onnx_session(heads, 1 / math.sqrt(width) if scale is None else scale)
    given = {
        name: _heads_second(array).reshape(batch, n, heads * width)
        for name, array in zip(("query", "key", "value"), arrays, strict=True)
    }
    return lambda: session.run(None, given)[0]


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
    "ONNX Runtime": onnx_attention,
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
