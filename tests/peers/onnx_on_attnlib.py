"""ONNX's own cases of the operator Attention, turned into calls of attnlib."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from attnlib import scaling

INPUTS = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")


class Case(NamedTuple):
    """One case: the arguments of the call, and what should come out."""

    name: str
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    options: dict[str, Any]
    expected: np.ndarray
    weights: np.ndarray | None
    by_hand: list[str]
    """What the operator does and attnlib leaves to its caller."""

    def shaped(self, output: np.ndarray) -> np.ndarray:
        """Return an output with the heads side by side if the case has them so."""
        if self.expected.ndim == 4:
            return output
        return output.swapaxes(1, 2).reshape(self.expected.shape)


def _arrays(names: Any, given: Any) -> dict[str, np.ndarray]:
    arrays = (x if isinstance(x, np.ndarray) else numpy_helper.to_array(x) for x in given)
    return dict(zip(filter(None, names), arrays, strict=True))


def _visible(found: dict, attributes: dict, shape: tuple[int, int], by_hand: list[str]) -> Any:
    """Return which keys causal masks, windows and lengths let a query see, or None for all."""
    n_queries, n_keys = shape
    offset = np.full((1, 1, 1, 1), found["past_key"].shape[2] if "past_key" in found else 0)
    place = np.arange(n_keys)
    masks = []
    if "nonpad_kv_seqlen" in found:
        lengths = found["nonpad_kv_seqlen"].reshape(-1, 1, 1, 1)
        masks.append(place < lengths)
        offset = lengths - n_queries
        by_hand.append("lengths")
    query = np.arange(n_queries)[:, None] + offset
    if attributes.get("is_causal") and offset.any():
        masks.append(place <= query)
        by_hand.append("causal mask with an offset")
    left, right = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    if left >= 0:
        masks.append(place >= query - left)
    if right >= 0:
        masks.append(place <= query + right)
    if max(left, right) >= 0:
        by_hand.append("window")
    return np.logical_and.reduce(np.broadcast_arrays(*masks)) if masks else None


def _mask(mask: Any, visible: Any, n_keys: int, by_hand: list[str]) -> Any:
    """Return one mask of both."""
    if mask is not None and mask.shape[-1] < n_keys:
        pad = [(0, 0)] * (mask.ndim - 1) + [(0, n_keys - mask.shape[-1])]
        mask = np.pad(mask, pad, constant_values=False if mask.dtype == bool else -np.inf)
        by_hand.append("short mask")
    if mask is None or visible is None:
        return visible if mask is None else mask
    if mask.dtype == bool:
        return mask & visible
    by_hand.append("float and Boolean mask")
    return np.where(visible, mask, -np.inf).astype(mask.dtype)


def _case(case: Any) -> Case:
    node = case.model.graph.node[0]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    by_hand: list[str] = []
    inputs, outputs = case.data_sets[0]
    names = {name: INPUTS[place] for place, name in enumerate(node.input)}
    found = {names[name]: array for name, array in _arrays(node.input, inputs).items()}
    expected = _arrays(node.output, outputs)
    arrays = [found[name] for name in INPUTS[:3]]
    if arrays[0].ndim == 3:
        heads = [attributes["q_num_heads"], *[attributes["kv_num_heads"]] * 2]
        arrays = [
            x.reshape(*x.shape[:2], h, -1).swapaxes(1, 2)
            for x, h in zip(arrays, heads, strict=True)
        ]
        by_hand.append("heads side by side")
    if "past_key" in found:
        for place, past in (1, "past_key"), (2, "past_value"):
            arrays[place] = np.concatenate([found[past], arrays[place]], axis=2)
        by_hand.append("cache")
    query, key, value = arrays
    if query.shape[1] != key.shape[1]:
        key, value = (np.repeat(x, query.shape[1] // x.shape[1], axis=1) for x in (key, value))
        by_hand.append("shared heads")
    shape = query.shape[2], key.shape[2]
    visible = _visible(found, attributes, shape, by_hand)
    options: dict[str, Any] = {
        "attn_mask": _mask(found.get("attn_mask"), visible, shape[1], by_hand)
    }
    if "causal mask with an offset" not in by_hand:
        options["is_causal"] = bool(attributes.get("is_causal", 0))
    options["scale"] = attributes.get("scale")
    if cap := attributes.get("softcap"):
        factor = options["scale"] or query.shape[-1] ** -0.5
        options["scale"] = scaling.ScalingRule("ONNX", lambda _d_k, _n: factor, cap=cap)
    mode = attributes.get("qk_matmul_output_mode", 0)
    weights = expected.get(node.output[3]) if len(node.output) > 3 and mode == 3 else None
    first = expected[node.output[0]]
    return Case(case.name, query, key, value, options, first, weights, by_hand)


def cases() -> Iterator[Case]:
    """Yield the cases; those that spell the operator out by others are left out."""
    seen = set()
    with warnings.catch_warnings(action="ignore"):  # cases of all operators are made
        listed = collect_testcases("Attention")
    for case in listed:
        operator = case.model.graph.node[0].op_type
        if operator == "Attention" and "_expanded" not in case.name and case.name not in seen:
            seen.add(case.name)
            yield _case(case)


def is_bfloat16(array: np.ndarray) -> bool:
    """Say whether an array is of that type."""
    return array.dtype == ml_dtypes.bfloat16
