"""Faults planted in heads, and how often `attnlib.diagnose` finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from attnbook.initialization import INITIALIZERS, sample_projections, sample_tokens
from attnbook.language_model.model import LINES, MODELS, trained_model
from attnlib import causal_mask, diagnose
from attnlib.scaling import scaling_rule

D_MODEL = 256
HEADS = 4
WIDTHS = (16, 32, 64, 128)
LENGTHS = (16, 128)


class Fault(NamedTuple):
    """How a fault changes the queries and the scale, and what the verdict on it says."""

    changed: Callable[[np.ndarray, float], tuple[np.ndarray, float]]
    words: str


FAULTS = {
    "divided twice, in the scale": Fault(
        lambda query, scale: (query, scale / query.shape[-1] ** 0.5), "divided twice"
    ),
    "divided twice, once in the query": Fault(
        lambda query, scale: (query / query.shape[-1] ** 0.5, scale), "divided twice"
    ),
    "divided by the root of the model's width": Fault(
        lambda query, scale: (query, scale / query.shape[-3] ** 0.5),
        "divided by the root of the model's width",
    ),
    "not divided": Fault(
        lambda query, scale: (query, scale * query.shape[-1] ** 0.5), "not divided"
    ),
    "a temperature of 3": Fault(lambda query, scale: (query, scale / 3), "extra factor of 0.333"),
    "YaRN's factor for 32 times the length": Fault(
        lambda query, scale: (query, scale * (0.1 * np.log(32) + 1) ** 2),
        "extra factor of 1.81",
    ),
    "scores beyond float16": Fault(
        lambda query, scale: (100 * 65504 / np.abs(query).max(initial=1e-9) * query, scale),
        "scores up to",
    ),
}
"""By what a page calls them."""


def untrained(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, float]]:
    """Yield a layer of heads for each start, width and length: its start, arrays and scale.

    Starts that divide by d_k on purpose are left out.
    """
    rng = np.random.default_rng(seed)
    for name, initializer in INITIALIZERS.items():
        if name.startswith("mup"):
            continue
        for d_k in WIDTHS:
            drawn = [sample_projections(initializer, D_MODEL, d_k, rng=rng) for _ in range(HEADS)]
            for n_tokens in LENGTHS:
                tokens = sample_tokens(n_tokens, D_MODEL, rng=rng)
                query = np.stack([tokens @ head.query + head.query_bias for head in drawn])
                key = np.stack([tokens @ head.key + head.key_bias for head in drawn])
                factor = scaling_rule(initializer.scale).multiplier(d_k, n_tokens)
                yield name, query, key, factor


def trained() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the heads of the book's trained models, by layer: who trained them, and arrays."""
    for name in MODELS:
        model = trained_model(name)
        read = model.read(model.pieces(LINES))
        for query, key in zip(read.queries, read.keys, strict=True):
            yield name, query, key


def rates(seeds: range) -> dict[str, tuple[int, int]]:
    """Return for each fault in how many untrained heads it is found, and in how many it was.

    The entry "none" counts the heads without a fault that are said to have one.
    """
    counts = {name: np.zeros(2, int) for name in ("none", *FAULTS)}
    for seed in seeds:
        for _, query, key, scale in untrained(seed):
            verdicts = diagnose(query, key, scale=scale).verdict
            counts["none"] += (verdicts != "as usual").sum(), verdicts.size
            for name, fault in FAULTS.items():
                changed, other = fault.changed(query, scale)
                verdicts = diagnose(changed, key, scale=other).verdict
                found = [fault.words in verdict for verdict in verdicts.flat]
                counts[name] += sum(found), len(found)
    return {name: (int(found), int(asked)) for name, (found, asked) in counts.items()}


def trained_rates() -> dict[str, tuple[int, int]]:
    """Return the same for the trained heads that were trained with the division."""
    counts = {name: np.zeros(2, int) for name in ("none", *FAULTS)}
    for name, query, key in trained():
        if name != "divided":
            continue
        mask = causal_mask(query.shape[-2], key.shape[-2])
        scale = query.shape[-1] ** -0.5
        for fault_name in counts:
            changed, other = query, scale
            words = None
            if fault_name in FAULTS:
                changed, other = FAULTS[fault_name].changed(query, scale)
                words = FAULTS[fault_name].words
            verdicts = diagnose(changed, key, scale=other, attn_mask=mask).verdict.flat
            found = [words in v if words else v != "as usual" for v in verdicts]
            counts[fault_name] += sum(found), len(found)
    return {name: (int(found), int(asked)) for name, (found, asked) in counts.items()}
