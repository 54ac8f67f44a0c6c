"""One training step of the chapter's model: attnlib's, and the same in eager PyTorch.

PyTorch computes in the same order as attnlib, which never builds the keys, and derives the gradient
itself by ``backward``. A second model builds queries and keys, as one would write it at first; the
difference between the two is what the rearrangement is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attnlib import training

RATE = 0.1
ACCURACY = 1e-4
"""Allowed difference of loss and gradients, relative to the largest entry; float32 gives 1e-6."""

Parameters = dict[str, np.ndarray]
Loss = Callable[[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def start(d_k: int) -> tuple[Parameters, training.Batch]:
    """Return the initial weights and a batch, in float32."""
    rng, task = np.random.default_rng(d_k), training.GroupMeanTask()
    tags = training.draw_tags(task, rng)
    batch = training.draw_batch(task, tags, training.BATCH_SIZE, rng, dtype=np.float32)
    return training.initial_parameters(task, d_k, rng=rng, dtype=np.float32), batch


def own_step(parameters: Parameters, batch: training.Batch) -> Callable[[], Any]:
    """Return what makes one step of attnlib."""
    optimizer, state = training.Sgd(RATE), training.initial_state(parameters)
    return lambda: training.training_step(parameters, batch, None, optimizer, state)


def usual_loss(
    weights: dict[str, torch.Tensor],
    query_tokens: torch.Tensor,
    tokens: torch.Tensor,
    targets: torch.Tensor,
) -> torch.Tensor:
    """Return the loss by way of queries and keys."""
    query, key = query_tokens @ weights["query"], tokens @ weights["key"]
    scores = (key @ query[:, :, None])[:, :, 0] / math.sqrt(query.shape[-1])
    context = (torch.softmax(scores, dim=-1)[:, None, :] @ tokens)[:, 0]
    return (context @ weights["value"] - targets).square().sum() / len(targets)


def rearranged_loss(
    weights: dict[str, torch.Tensor],
    query_tokens: torch.Tensor,
    tokens: torch.Tensor,
    targets: torch.Tensor,
) -> torch.Tensor:
    """Return the same loss without building the keys."""
    query = query_tokens @ weights["query"] / math.sqrt(weights["query"].shape[-1])
    pattern = query @ weights["key"].T
    scores = (tokens @ pattern[:, :, None])[:, :, 0]
    context = (torch.softmax(scores, dim=-1)[:, None, :] @ tokens)[:, 0]
    return (context @ weights["value"] - targets).square().sum() / len(targets)


def torch_step(loss_of: Loss, parameters: Parameters, batch: training.Batch) -> Callable[[], Any]:
    """Return what makes one step of PyTorch, having checked that it is the same step."""
    weights = {
        name: torch.from_numpy(array.copy()).requires_grad_() for name, array in parameters.items()
    }
    inputs = [torch.from_numpy(x) for x in (batch.query_tokens, batch.tokens, batch.targets)]
    optimizer = torch.optim.SGD(weights.values(), lr=RATE)

    def work() -> float:
        optimizer.zero_grad()
        loss = loss_of(weights, *inputs)
        loss.backward()
        optimizer.step()
        return loss.item()

    own = training.loss_and_gradients(parameters, batch)
    loss = work()
    assert_close("loss", np.array(loss), np.array(own.loss))
    for name, tensor in weights.items():
        assert_close(f"gradient by {name}", tensor.grad.numpy(), own.parameters[name])
    return work


def assert_close(what: str, theirs: np.ndarray, ours: np.ndarray) -> None:
    """Refuse to compare the times of two different computations."""
    difference = np.abs(theirs - ours).max() / np.abs(ours).max()
    if not difference < ACCURACY:
        raise ArithmeticError(f"{what}: PyTorch and attnlib differ by {difference:.2g}")


def products(parameters: Parameters, batch: training.Batch) -> Callable[[], None]:
    """Return the floor of a step: its matrix products and exponentials, in attnlib's order."""
    query_weights, key_weights, value_weights = (
        parameters[name] for name in ("query", "key", "value")
    )
    tokens, queries = batch.tokens, batch.query_tokens
    weights = np.zeros(tokens.shape[:2], np.float32)

    def work() -> None:
        query = queries @ query_weights
        pattern = query @ key_weights.T
        tokens @ pattern[:, :, None]
        np.exp(weights)
        context = (weights[:, None, :] @ tokens)[:, 0]
        output = context @ value_weights
        tokens @ (output @ value_weights.T)[:, :, None]
        by_pattern = (weights[:, None, :] @ tokens)[:, 0]
        by_query = by_pattern @ key_weights
        by_pattern.T @ query
        queries.T @ by_query
        context.T @ output

    return work
