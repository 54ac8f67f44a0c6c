"""Each library's own call of attention behind one signature.

Arrays are NumPy's, of shape (batch, heads, tokens, width). An option is handed to the library
under its own name, and only if it is given, so that the library's defaults hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

Array = np.ndarray
HEADS_FIRST = "(batch, heads, tokens, width)"
TOKENS_FIRST = "(batch, tokens, heads, width)"
ONE_HEAD = "(tokens, width), one head"
MODULE = "(batch, tokens, width of all heads)"


class NoSuchArgumentError(Exception):
    """The library's call has no argument for what is asked."""


@dataclass(frozen=True)
class Call:
    """One way of calling one library."""

    package: str
    axes: str
    names: dict[str, str]
    """What the library calls mask (Boolean), bias (added), is_causal, scale and enable_gqa."""
    run: Callable[..., Array]
    softmax: Callable[[Array], Array] | None = None
    log_softmax: Callable[[Array], Array] | None = None
    softmax_default: Callable[[Array], Array] | None = None
    """Softmax without an axis."""
    true_hides: bool = False
    unasked: tuple[str, ...] = ()
    """Questions of which the answer hangs on what was in the memory before, or on the processor."""

    @property
    def version(self) -> str:
        """The library's release."""
        return version(self.package)

    def __call__(self, query: Array, key: Array, value: Array, **options: Any) -> Array:
        """Return the output, of shape (batch, heads, tokens, width of values)."""
        given = {}
        for name, option in options.items():
            if name not in self.names:
                raise NoSuchArgumentError(name)
            given[self.names[name]] = option
        arrays = [np.ascontiguousarray(x) for x in (query, key, value)]
        if self.axes == HEADS_FIRST:
            return self.run(*arrays, **given)
        if self.axes == TOKENS_FIRST:
            swapped = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in arrays]
            return self.run(*swapped, **given).swapaxes(1, 2)
        if self.axes == ONE_HEAD:
            return self._each_head(arrays, given)
        if query.shape[1] > 1 or len({x.shape[-1] for x in arrays}) > 1:
            raise NoSuchArgumentError("several heads, or values of another width")
        if query.dtype != np.float32:
            raise NoSuchArgumentError("weights of another type")
        return self.run(*(x[:, 0] for x in arrays), **given)[:, None]

    def _each_head(self, arrays: list[Array], given: dict[str, Any]) -> Array:
        query, key, value = arrays
        lead = query.shape[:2]
        if key.shape[:2] != lead:
            raise NoSuchArgumentError("heads of different numbers")
        mask = self.names.get("mask", "")
        if mask in given:
            whole = np.broadcast_to(given[mask], (*lead, query.shape[2], key.shape[2]))
        rows = []
        for place in np.ndindex(lead):
            masked = {mask: whole[place]} if mask in given else {}
            rows.append(self.run(query[place], key[place], value[place], **{**given, **masked}))
        return np.reshape(rows, (*lead, *np.shape(rows[0])))


def names(
    mask: str = "", bias: str = "", is_causal: str = "", scale: str = "", enable_gqa: str = ""
) -> dict[str, str]:
    """Return the library's names for what it has."""
    listed = {"mask": mask, "bias": bias, "is_causal": is_causal, "scale": scale}
    listed["enable_gqa"] = enable_gqa
    return {name: own for name, own in listed.items() if own}


def _torch(backend: str = "") -> Call:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.set_num_threads(1)
    function = torch.nn.functional.scaled_dot_product_attention

    def run(*arrays: Array, **given: Any) -> Array:
        if "attn_mask" in given:
            given["attn_mask"] = to_torch(given["attn_mask"])
        tensors = map(to_torch, arrays)
        if not backend:
            return from_torch(function(*tensors, **given))
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return from_torch(function(*tensors, **given))

    return Call(
        "torch",
        HEADS_FIRST,
        names("attn_mask", "attn_mask", "is_causal", "scale", "enable_gqa"),
        run,
        lambda x: from_torch(torch.softmax(to_torch(x), -1)),
        lambda x: from_torch(torch.log_softmax(to_torch(x), -1)),
    )


def to_torch(array: Array) -> Any:
    """Return an array as PyTorch's, bfloat16 included."""
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(np.ascontiguousarray(array))


def from_torch(tensor: Any) -> Array:
    """Return PyTorch's array as NumPy's; bfloat16 becomes float32."""
    import torch

    array: Array = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
    return array


def _torch_module(need_weights: bool) -> Call:
    import torch

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        width = query.shape[-1]
        module = torch.nn.MultiheadAttention(width, 1, bias=False, batch_first=True).eval()
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
            module.out_proj.weight.copy_(torch.eye(width))
            if "attn_mask" in given:
                given["attn_mask"] = to_torch(given["attn_mask"])[0, 0]
            tensors = map(to_torch, (query, key, value))
            return from_torch(module(*tensors, need_weights=need_weights, **given)[0])

    own = names("attn_mask", "attn_mask")
    return Call("torch", MODULE, own, run, true_hides=True)


def _transformers() -> Call:
    import torch
    from transformers.models.llama.modeling_llama import eager_attention_forward

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        module = torch.nn.Module().eval()
        module.num_key_value_groups = query.shape[1] // key.shape[1]
        mask = to_torch(given["attention_mask"]) if "attention_mask" in given else None
        scaling = given.get("scaling", query.shape[-1] ** -0.5)
        tensors = map(to_torch, (query, key, value))
        output, _ = eager_attention_forward(module, *tensors, mask, scaling=scaling)
        return from_torch(output).swapaxes(1, 2)

    own = names("attention_mask", "attention_mask", scale="scaling")
    return Call("transformers", HEADS_FIRST, own, run)


def _x_transformers(flash: bool) -> Call:
    from x_transformers.attend import Attend

    def run(*arrays: Array, **given: Any) -> Array:
        masked = {"mask": to_torch(given.pop("mask"))} if "mask" in given else {}
        if "attn_bias" in given:
            masked["attn_bias"] = to_torch(given.pop("attn_bias"))
        attend = Attend(flash=flash, **given).eval()
        return from_torch(attend(*map(to_torch, arrays), **masked)[0])

    return Call("x-transformers", HEADS_FIRST, names("mask", "attn_bias", "causal", "scale"), run)


def _jax() -> Call:
    import jax

    def run(*arrays: Array, **given: Any) -> Array:
        return np.asarray(jax.nn.dot_product_attention(*_to_jax(arrays), **given))

    return Call(
        "jax",
        TOKENS_FIRST,
        names("mask", "bias", "is_causal", "scale"),
        run,
        lambda x: np.asarray(jax.nn.softmax(x)),
        lambda x: np.asarray(jax.nn.log_softmax(x)),
        lambda x: np.asarray(jax.nn.softmax(x)),
    )


def _to_jax(arrays: tuple[Array, ...]) -> list[Any]:
    import jax.numpy as jnp

    return [jnp.asarray(array) for array in arrays]


def _flax(module: str) -> Call:
    from flax import linen, nnx

    function = {"linen": linen, "nnx": nnx}[module].dot_product_attention

    def run(*arrays: Array, **given: Any) -> Array:
        return np.asarray(function(*_to_jax(arrays), **given))

    causal = {"nnx": "is_causal", "linen": ""}[module]
    return Call("flax", TOKENS_FIRST, names("mask", "bias", causal), run)


def _equinox() -> Call:
    from equinox.nn._attention import dot_product_attention

    def run(*arrays: Array, **given: Any) -> Array:
        return np.asarray(dot_product_attention(*_to_jax(arrays), **given))

    return Call("equinox", ONE_HEAD, names("mask"), run)


def _haiku() -> Call:
    import haiku
    import jax

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        width = query.shape[-1]

        def attend(*arrays: Any) -> Any:
            eye = haiku.initializers.Identity()
            module = haiku.MultiHeadAttention(1, width, w_init=eye, with_bias=False)
            return module(*arrays, **given)

        function = haiku.without_apply_rng(haiku.transform(attend))
        arrays = _to_jax((query, key, value))
        return np.asarray(function.apply(function.init(jax.random.key(0), *arrays), *arrays))

    return Call("dm-haiku", MODULE, names("mask"), run)


def _keras() -> Call:
    from keras import ops

    def run(*arrays: Array, **given: Any) -> Array:
        for name in given.keys() & {"mask", "bias"}:
            given[name] = ops.convert_to_tensor(given[name])
        tensors = map(ops.convert_to_tensor, arrays)
        return _numpy_of(ops.dot_product_attention(*tensors, **given))

    return Call(
        "keras",
        TOKENS_FIRST,
        names("mask", "bias", "is_causal", "scale"),
        run,
        lambda x: _numpy_of(ops.softmax(ops.convert_to_tensor(x))),
        lambda x: _numpy_of(ops.log_softmax(ops.convert_to_tensor(x))),
        lambda x: _numpy_of(ops.softmax(ops.convert_to_tensor(x))),
    )


def _numpy_of(tensor: Any) -> Array:
    from keras import ops

    if ops.dtype(tensor) == "bfloat16":
        tensor = ops.cast(tensor, "float32")
    array: Array = ops.convert_to_numpy(tensor)
    return array


def _keras_layer(scores: bool) -> Call:
    import keras

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        width = query.shape[-1]
        layer = keras.layers.MultiHeadAttention(1, width, use_bias=False)
        layer.build(query.shape, value.shape, key.shape)
        eye = np.eye(width, dtype=query.dtype)
        layer.set_weights([eye.reshape(w.shape) for w in layer.get_weights()])
        if "attention_mask" in given:
            given["attention_mask"] = given["attention_mask"][:, 0]
        output = layer(query, value, key, return_attention_scores=scores, **given)
        return _numpy_of(output[0] if scores else output)

    return Call("keras", MODULE, names("attention_mask", "", "use_causal_mask"), run)


def _onnx_call(opset: int, execute: Callable[[Any, dict[str, Array]], Array], package: str) -> Call:
    from onnx import helper

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        feed = {"Q": query, "K": key, "V": value}
        if "attn_mask" in given:
            feed["attn_mask"] = given.pop("attn_mask")
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in feed.items()
        ]
        given = {name: int(x) if name == "is_causal" else float(x) for name, x in given.items()}
        node = helper.make_node("Attention", list(feed), ["Y"], **given)
        kind = helper.np_dtype_to_tensor_dtype(query.dtype)
        output = helper.make_tensor_value_info("Y", kind, None)
        return execute(_onnx_model(node, inputs, output, opset), feed)

    def plain(operator: str, axis: dict[str, Any]) -> Callable[[Array], Array]:
        def run(x: Array) -> Array:
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            given = helper.make_tensor_value_info("x", kind, x.shape)
            output = helper.make_tensor_value_info("y", kind, None)
            node = helper.make_node(operator, ["x"], ["y"], **axis)
            return execute(_onnx_model(node, [given], output, opset), {"x": x})

        return run

    own = names("attn_mask", "attn_mask", "is_causal", "scale")
    last = {"axis": -1}
    operators = plain("Softmax", last), plain("LogSoftmax", last), plain("Softmax", {})
    return Call(package, HEADS_FIRST, own, run, *operators)


def _onnx_model(node: Any, inputs: list[Any], output: Any, opset: int) -> Any:
    from onnx import helper

    graph = helper.make_graph([node], "graph", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=12)


def _onnx(opset: int, body: bool = False) -> Call:
    from onnx import inliner
    from onnx.reference import ReferenceEvaluator

    def execute(model: Any, feed: dict[str, Array]) -> Array:
        if body and model.graph.node[0].op_type == "Attention":
            listed = [("", "Attention")]
            model = inliner.inline_selected_functions(
                model, listed, exclude=False, inline_schema_functions=True
            )
        outputs: Any = ReferenceEvaluator(model).run(None, feed)
        output: Array = outputs[0]
        return output

    return _onnx_call(opset, execute, "onnx")


def _onnxruntime(opset: int) -> Call:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)

    def execute(model: Any, feed: dict[str, Array]) -> Array:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        output: Array = session.run(None, feed)[0]
        return output

    return _onnx_call(opset, execute, "onnxruntime")


def _mlx() -> Call:
    import mlx.core as mx
    from mlx import nn

    is_causal = 'mask="causal"'

    def to_mlx(array: Array) -> Any:
        if array.dtype.name == "bfloat16":
            return mx.array(array.astype(np.float32)).astype(mx.bfloat16)
        return mx.array(array)

    def run(*arrays: Array, **given: Any) -> Array:
        if is_causal in given:
            if "mask" in given:
                raise NoSuchArgumentError("a mask beside the causal one")
            given["mask"] = "causal" if given.pop(is_causal) else None
        elif "mask" in given:
            given["mask"] = to_mlx(given["mask"])
        given.setdefault("scale", arrays[0].shape[-1] ** -0.5)  # has no default
        output = mx.fast.scaled_dot_product_attention(*map(to_mlx, arrays), **given)
        return np.array(output.astype(mx.float32) if output.dtype == mx.bfloat16 else output)

    return Call(
        "mlx",
        HEADS_FIRST,
        names("mask", "mask", is_causal, "scale"),
        run,
        lambda x: np.array(mx.softmax(mx.array(x), -1)),
        lambda x: np.array(nn.log_softmax(mx.array(x), -1)),
        lambda x: np.array(mx.softmax(mx.array(x))),
    )


def _tinygrad() -> Call:
    from tinygrad import Tensor, dtypes

    def to_tinygrad(array: Array) -> Any:
        if array.dtype.name == "bfloat16":
            return Tensor(array.astype(np.float32)).cast(dtypes.bfloat16)
        return Tensor(array)

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        if "attn_mask" in given:
            given["attn_mask"] = Tensor(given["attn_mask"])
        tensor, *others = map(to_tinygrad, (query, key, value))
        output = tensor.scaled_dot_product_attention(*others, **given)
        array: Array = (output.float() if output.dtype == dtypes.bfloat16 else output).numpy()
        return array

    return Call(
        "tinygrad",
        HEADS_FIRST,
        names("attn_mask", "attn_mask", "is_causal", enable_gqa="enable_gqa"),
        run,
        lambda x: Tensor(x).softmax(-1).numpy(),
        lambda x: Tensor(x).log_softmax(-1).numpy(),
        lambda x: Tensor(x).softmax().numpy(),
        unasked=("bfloat16 error",),
    )


def _openvino() -> Call:
    import openvino
    from openvino import opset13

    exact = {"INFERENCE_PRECISION_HINT": "f32"}  # else it depends on the processor

    def compiled(node: Any, inputs: list[Any], feed: list[Array]) -> Array:
        model = openvino.Model([node], inputs, "model")
        output: Array = openvino.Core().compile_model(model, "CPU", exact)(feed)[0]
        return output

    def run(*arrays: Array, **given: Any) -> Array:
        feed = [*arrays]
        if "attention_mask" in given:
            feed.append(given.pop("attention_mask"))
        inputs = [opset13.parameter(list(x.shape), openvino.Type(x.dtype)) for x in feed]
        if len(inputs) > len(arrays):
            given["attention_mask"] = inputs[-1]
        if "scale" in given:  # comes behind a mask; a scalar 0 is none
            given.setdefault("attention_mask", opset13.constant(np.zeros((), feed[0].dtype)))
            given["scale"] = opset13.constant(np.asarray(given["scale"], feed[0].dtype))
        node = opset13.scaled_dot_product_attention(*inputs[:3], **given)
        return compiled(node, inputs, feed)

    def operator(name: str) -> Callable[[Array], Array]:
        def run(x: Array) -> Array:
            given = opset13.parameter(list(x.shape), openvino.Type(x.dtype))
            return compiled(getattr(opset13, name)(given, -1), [given], [x])

        return run

    own = names("attention_mask", "attention_mask", "causal", "scale")
    operators = operator("softmax"), operator("log_softmax")
    return Call("openvino", HEADS_FIRST, own, run, *operators, unasked=("no key", "bfloat16 error"))


def _paddle(compat: bool) -> Call:
    import paddle
    from paddle.nn import functional

    function = (paddle.compat.nn if compat else paddle.nn).functional.scaled_dot_product_attention

    def to_paddle(array: Array) -> Any:
        if array.dtype.name == "bfloat16":
            return paddle.to_tensor(array.astype(np.float32)).astype("bfloat16")
        return paddle.to_tensor(array)

    def run(*arrays: Array, **given: Any) -> Array:
        if "attn_mask" in given:
            given["attn_mask"] = paddle.to_tensor(given["attn_mask"])
        output = function(*map(to_paddle, arrays), **given)
        is_narrow = output.dtype == paddle.bfloat16
        array: Array = (output.astype("float32") if is_narrow else output).numpy()
        return array

    own = names("attn_mask", "attn_mask", "is_causal", "scale", "enable_gqa")
    return Call(
        "paddlepaddle",
        HEADS_FIRST if compat else TOKENS_FIRST,
        own,
        run,
        lambda x: functional.softmax(paddle.to_tensor(x), -1).numpy(),
        lambda x: functional.log_softmax(paddle.to_tensor(x), -1).numpy(),
        lambda x: functional.softmax(paddle.to_tensor(x)).numpy(),
    )


def _mindspore() -> Call:
    import mindspore
    from mindspore import nn, ops

    def run(query: Array, key: Array, value: Array, **given: Any) -> Array:
        width = query.shape[-1]
        module = nn.MultiheadAttention(width, 1, has_bias=False, batch_first=True)
        module.set_train(False)
        eye = np.eye(width, dtype=np.float32)
        for parameter in module.trainable_params():
            filled = np.resize(eye, parameter.shape) if parameter.shape[0] > width else eye
            parameter.set_data(mindspore.Tensor(filled))
        if "attn_mask" in given:
            given["attn_mask"] = mindspore.Tensor(given["attn_mask"][0, 0])
        tensors = (mindspore.Tensor(x) for x in (query, key, value))
        output: Array = module(*tensors, need_weights=False, **given)[0].asnumpy()
        return output

    return Call(
        "mindspore",
        MODULE,
        names("attn_mask", "attn_mask"),
        run,
        lambda x: ops.softmax(mindspore.Tensor(x), -1).asnumpy(),
        lambda x: ops.log_softmax(mindspore.Tensor(x), -1).asnumpy(),
        lambda x: ops.softmax(mindspore.Tensor(x)).asnumpy(),
        true_hides=True,
    )


def _scipy() -> Call:
    from scipy import special

    def run(*_: Array, **__: Any) -> Array:
        raise NoSuchArgumentError("attention")

    functions = lambda x: special.softmax(x, -1), lambda x: special.log_softmax(x, -1)
    return Call("scipy", HEADS_FIRST, {}, run, *functions, special.softmax)


def _attnlib(function: str) -> Call:
    import attnlib

    own = names("attn_mask", "attn_mask", "is_causal", "scale")
    softmax = attnlib.softmax, attnlib.log_softmax, attnlib.softmax
    return Call("attnlib", HEADS_FIRST, own, getattr(attnlib, function), *softmax)


CALLS: dict[str, Callable[[], Call]] = {
    "PyTorch": _torch,
    "PyTorch, MATH": lambda: _torch("MATH"),
    "PyTorch module": lambda: _torch_module(need_weights=False),
    "PyTorch module, weights": lambda: _torch_module(need_weights=True),
    "transformers, eager": _transformers,
    "x-transformers": lambda: _x_transformers(flash=False),
    "x-transformers, flash": lambda: _x_transformers(flash=True),
    "JAX": _jax,
    "Flax nnx": lambda: _flax("nnx"),
    "Flax linen": lambda: _flax("linen"),
    "Equinox": _equinox,
    "Haiku module": _haiku,
    **{
        f"Keras on {backend}": _keras
        for backend in ("JAX", "NumPy", "PyTorch", "TensorFlow", "OpenVINO")
    },
    "Keras layer": lambda: _keras_layer(scores=False),
    "Keras layer, scores": lambda: _keras_layer(scores=True),
    "ONNX 23": lambda: _onnx(23),
    "ONNX 25": lambda: _onnx(25),
    "ONNX 24, body": lambda: _onnx(24, body=True),
    "ONNX Runtime 24": lambda: _onnxruntime(24),
    "ONNX Runtime 25": lambda: _onnxruntime(25),
    "MLX": _mlx,
    "tinygrad": _tinygrad,
    "OpenVINO": _openvino,
    "Paddle": lambda: _paddle(compat=False),
    "Paddle compat": lambda: _paddle(compat=True),
    "MindSpore module": _mindspore,
    "SciPy": _scipy,
    "attnlib": lambda: _attnlib("scaled_dot_product_attention"),
}
"""How to make each call, by the name that the page has for it."""

KERAS = {"Keras on PyTorch": "torch", "Keras layer": "jax", "Keras layer, scores": "jax"}


def make_call(name: str) -> Call:
    """Return a call; the backend of Keras is settled when it is imported."""
    if name.startswith("Keras"):
        backend = KERAS.get(name, name.rpartition(" ")[2].lower())
        os.environ["KERAS_BACKEND"] = backend
    return CALLS[name]()
