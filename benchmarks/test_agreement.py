"""attnlib computes what PyTorch and JAX compute, to the accuracy of float32.

Runs where both are installed: ``make bench`` calls it before it measures anything, and the
ordinary tests of the book do not collect it.

A sum of n products in float32 is off by at most n·u·Σ|aᵢbᵢ|, u being half the spacing of numbers
at 1. From the largest lengths of queries, keys, values and upstream gradients this gives a bound
for the scores, from that one for the weights, and so on to the outputs and gradients. Two results
may differ by both their bounds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import attnlib

UNIT = float(np.finfo(np.float32).eps) / 2
MASKS = ("none", "causal", "boolean", "floating", "hidden rows", "boolean and causal")
#: How many random calls. JAX compiles each shape anew, which takes about a second.
CASES = {"PyTorch": 200, "JAX": 60}
FUNCTIONS = {
    "dense": (attnlib.scaled_dot_product_attention, attnlib.attention_vjp),
    "blockwise": (attnlib.blockwise_attention, attnlib.blockwise_attention_vjp),
}


class Case(NamedTuple):
    """One random call: the arguments, and which rows have a key to attend to."""

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    upstream: np.ndarray
    attn_mask: np.ndarray | None
    is_causal: bool
    scale: float | None
    visible: np.ndarray

    @property
    def options(self) -> dict[str, Any]:
        """The arguments after the arrays."""
        return {"attn_mask": self.attn_mask, "is_causal": self.is_causal, "scale": self.scale}

    @property
    def factor(self) -> float:
        """What the scores are multiplied by."""
        return 1 / math.sqrt(self.arrays[0].shape[-1]) if self.scale is None else self.scale

    @property
    def whole_mask(self) -> np.ndarray:
        """The mask and the causal one together, to be added to the scores."""
        shape = (*self.arrays[0].shape[:3], self.arrays[1].shape[2])
        added = np.zeros(shape, np.float32)
        if self.attn_mask is not None and self.attn_mask.dtype == bool:
            added = np.where(self.attn_mask, added, np.float32(-np.inf))
        elif self.attn_mask is not None:
            added = added + self.attn_mask
        if self.is_causal:
            added = np.where(np.tri(*shape[2:], dtype=bool), added, np.float32(-np.inf))
        return added


def make_case(seed: int) -> Case:
    """Draw shapes, a scale and a mask; each kind of mask comes up in turn."""
    rng = np.random.default_rng(seed)
    kind = MASKS[seed % len(MASKS)]
    batch, heads, n_queries, n_keys = (int(rng.integers(1, most)) for most in (3, 5, 70, 70))
    d_k, d_v = (int(rng.integers(1, 40)) for _ in range(2))
    if seed % 20 == 7:  # more than one tile of keys and of queries
        n_queries, n_keys = (int(rng.integers(1000, 1500)) for _ in range(2))
    draw = lambda *shape: rng.standard_normal((batch, heads, *shape), dtype=np.float32)  # noqa: E731
    arrays = draw(n_queries, d_k), draw(n_keys, d_k), draw(n_keys, d_v)
    upstream = draw(n_queries, d_v)
    mask_shape = (batch if rng.random() < 0.5 else 1, heads, n_queries, n_keys)
    mask = None
    if kind in ("boolean", "boolean and causal", "hidden rows"):
        mask = rng.random(mask_shape) < 0.7
        mask[..., 0] |= kind != "hidden rows"
        if kind == "hidden rows":
            mask[:, :, : 1 + n_queries // 3] = False
    elif kind == "floating":
        mask = rng.standard_normal(mask_shape, dtype=np.float32)
        mask[..., 1:][rng.random(mask_shape)[..., 1:] < 0.2] = -np.inf
    scale = None if rng.random() < 0.5 else float(rng.uniform(0, 3))
    case = Case(arrays, upstream, mask, "causal" in kind, scale, np.array(True))
    visible = ~np.isneginf(case.whole_mask).all(axis=-1, keepdims=True)
    # PyTorch and JAX leave open what a row without any key returns; it takes no part in the loss.
    return case._replace(upstream=upstream * visible, visible=visible)


class Bounds(NamedTuple):
    """How far a result may be from the exact one."""

    output: float
    query: float
    key: float
    value: float


def bounds(case: Case) -> Bounds:
    """Carry the bound of the scores on to the output and the gradients."""
    query, key, value = case.arrays
    (n_queries, d_k), (n_keys, d_v) = query.shape[2:], value.shape[2:]
    scale = case.factor
    q, k, v, g = (
        float(np.linalg.norm(x, axis=-1).max()) for x in (query, key, value, case.upstream)
    )
    largest_mask = np.abs(case.whole_mask[np.isfinite(case.whole_mask)]).max(initial=0)
    size = scale * q * k + float(largest_mask)
    score = UNIT * (d_k + 4) * size
    # exp of a number that is off by `score`, after a subtraction that rounds; then sum and quotient
    weight = 2 * score + UNIT * (2 * size + n_keys + 8)
    by_weight = 2 * g * v * (weight + UNIT * (d_v + 4))
    by_score = 2 * by_weight + 2 * g * v * (weight + UNIT * (n_keys + 4))
    accumulated = 2 * g * v * UNIT * (n_keys + n_queries)
    through = scale * (by_score + accumulated)
    return Bounds(
        output=v * (weight + UNIT * (n_keys + 4)),
        query=k * through,
        key=n_queries * q * through,
        value=n_queries * g * (weight + UNIT * (n_queries + 4)),
    )


def by_torch(case: Case) -> tuple[np.ndarray, ...]:
    """Return output and gradients from PyTorch."""
    inputs = [torch.from_numpy(array).requires_grad_() for array in case.arrays]
    plain = case.attn_mask is None
    added = None if plain else torch.from_numpy(case.whole_mask)
    output = torch.nn.functional.scaled_dot_product_attention(
        *inputs, attn_mask=added, is_causal=plain and case.is_causal, scale=case.scale
    )
    gradients = torch.autograd.grad(output, inputs, torch.from_numpy(case.upstream))
    return tuple(tensor.detach().numpy() for tensor in (output, *gradients))


def _for_jax(array: np.ndarray, width: int) -> jax.Array:
    """Put the heads behind the tokens, and zeros behind the components up to one common width."""
    padded = np.pad(array, [(0, 0)] * 3 + [(0, width - array.shape[-1])])
    return jnp.asarray(np.swapaxes(padded, 1, 2))


def by_jax(case: Case) -> tuple[np.ndarray, ...]:
    """Return output and gradients from JAX, which wants values as wide as keys."""
    width = max(array.shape[-1] for array in case.arrays)
    inputs = [_for_jax(array, width) for array in case.arrays]
    floating = case.attn_mask is not None and case.attn_mask.dtype != bool

    @jax.jit
    def run(arrays: list[jax.Array], upstream: jax.Array) -> tuple[jax.Array, ...]:
        attention = functools.partial(
            jax.nn.dot_product_attention,
            bias=case.attn_mask if floating else None,
            mask=None if floating else case.attn_mask,
            is_causal=case.is_causal,
            scale=case.factor,
        )
        output, pull_back = jax.vjp(attention, *arrays)
        return output, *pull_back(upstream)

    results = run(inputs, _for_jax(case.upstream, width))
    widths = (case.upstream.shape[-1], *(array.shape[-1] for array in case.arrays))
    return tuple(
        np.swapaxes(np.asarray(array), 1, 2)[..., :own]
        for array, own in zip(results, widths, strict=True)
    )


Peer = Callable[[Case], tuple[np.ndarray, ...]]


def check(ours: np.ndarray, theirs: np.ndarray, bound: float, what: str) -> None:
    """Compare two results, both of which may be off by the bound."""
    difference = float(np.abs(ours - theirs).max(initial=0))
    assert difference <= 2 * bound, f"{what}: {difference:.3g} apart, {2 * bound:.3g} allowed"  # noqa: S101


def check_against(case: Case, theirs: tuple[np.ndarray, ...], name: str, where: str) -> None:
    """Compare one function and its gradient with a peer's results."""
    attention, gradient = FUNCTIONS[name]
    bound, (output, *gradients) = bounds(case), theirs
    mine = attention(*case.arrays, **case.options)
    assert mine.dtype == np.float32  # noqa: S101
    visible = np.broadcast_to(case.visible, mine.shape)
    check(mine[visible], output[visible], bound.output, f"{name} output, {where}")
    assert not mine[~visible].any(), "a query without any key gets zeros"  # noqa: S101
    found = gradient(*case.arrays, case.upstream, **case.options)
    for part, expected in zip(("query", "key", "value"), gradients, strict=True):
        by_part = getattr(found, part)
        assert by_part.dtype == np.float32  # noqa: S101
        check(by_part, expected, getattr(bound, part), f"{name} gradient by {part}, {where}")


PEERS: dict[str, Peer] = {"PyTorch": by_torch, "JAX": by_jax}


@pytest.mark.parametrize("peer", PEERS)
def test_outputs_and_gradients_agree(peer: str) -> None:
    """PyTorch and JAX return the same output and gradients."""
    for seed in range(CASES[peer]):
        case = make_case(seed)
        theirs = PEERS[peer](case)
        for name in FUNCTIONS:
            check_against(case, theirs, name, f"case {seed}")


def test_a_wrong_scale_is_noticed() -> None:
    """The bounds are of use only if they are narrower than a mistake."""
    noticed = []
    for seed in range(60):
        case = make_case(seed)
        wrong = case._replace(scale=1.01 * case.factor)
        mine = attnlib.scaled_dot_product_attention(*wrong.arrays, **wrong.options)
        where = np.broadcast_to(case.visible, mine.shape)
        difference = np.abs(mine - by_torch(case)[0])[where].max(initial=0)
        noticed.append(difference > 2 * bounds(case).output)
    # with one key, or a scale near zero, the scale makes no difference
    assert np.mean(noticed) > 0.8, np.mean(noticed)  # noqa: S101
