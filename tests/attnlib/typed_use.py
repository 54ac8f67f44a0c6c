"""What a user writes who checks types strictly; test_types.py has mypy and pyright read it."""

import numpy as np

import attnlib
from attnbook import training
from attnbook.training import Sgd
from attnlib import scaling


def inverse_width(d_k: int, n_keys: int) -> float:
    """Return a scale of one's own."""
    return n_keys / (n_keys * d_k)


rng = np.random.default_rng(0)
query, key, value = rng.standard_normal((3, 4, 8))
output, weights = attnlib.scaled_dot_product_attention(query, key, value, return_weights=True)
print(output[0], weights[0, 1])
for rule in (None, 0.5, inverse_width, scaling.soft_cap(30)):
    print(attnlib.blockwise_attention(query, key, value, scale=rule)[-1])
    print(attnlib.attention_vjp(query, key, value, 1.0, scale=rule).gains.get("log_gain", 0.0))

rows = attnlib.entropy(weights)
print(rows[0], rows.mean(), attnlib.effective_positions(weights)[1:].tolist())
print(attnlib.jacobian_norm_squared(weights).max(), attnlib.meaningful_keys(weights)[0])
one: float = attnlib.entropy([0.25, 0.75]).item()
several: float = float(attnlib.effective_positions(weights[0]))
print(f"{one:.3f} {several:.3f} {attnlib.jacobian_norm_squared([0.5, 0.5]):.4f}")
print(attnlib.score_pdf(0.0, 2).item(), attnlib.score_sf([1.0, 2.0], 64)[0])

run = training.train(0, 16, inverse_width, Sgd(0.2), steps=20, record_at=[0, 20])
print(training.steps_to_loss(run.steps, run.loss, 0.5), run.loss[-1])
print(training.steps_to_loss([0, 10], [[1.0, 0.2], [1.0, 0.9]], 0.5)[0])
