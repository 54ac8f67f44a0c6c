"""Whatever a caller makes of floating-point events, results are the same.

NumPy lets a caller turn harmless underflow, a weight that rounds to 0, into an exception. Every
public function is called in that state, with numbers near the ends of their range, and has to
return what it returns in NumPy's own state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import attnlib
from attnbook import initialization, training
from attnbook.initialization import INITIALIZERS
from attnlib import ScalingRule, scaling

NAMESPACES = (initialization, scaling, training)
Call = Callable[[], Any]

INF = float("inf")
TINY = {kind: float(np.finfo(kind).smallest_subnormal) for kind in (np.float16, np.float32, float)}
"""The least number of each type: half of it, or its square, is 0."""


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def rows_of_logits() -> list[np.ndarray]:
    far = [[0.0, -9.0, -60.0, -80.0, -100.0], [0.0, -380.0, -700.0, -740.0, -800.0]]
    rows = [np.array(row, kind) for row in far for kind in TINY]
    rows += [np.array([0.0, -INF, -3e4, -5e4], kind) for kind in TINY]
    rows += [np.array([tiny, 0.0, -tiny, 1.0], kind) for kind, tiny in TINY.items()]
    ends = [np.finfo(kind).max for kind in TINY]
    return [*rows, *(np.array([end, -end, 0.0], end.dtype) for end in ends)]


def rows_of_weights() -> list[np.ndarray]:
    with np.errstate(under="ignore"):
        rows = [attnlib.softmax(logits) for logits in rows_of_logits()]
    return rows + [np.array([1, tiny, 0, tiny], kind) for kind, tiny in TINY.items()]


def each(function: Callable[..., Any], arrays: list[np.ndarray], *others: Any) -> list[Call]:
    return [partial(function, array, *others) for array in arrays]


def attention_calls(function: Callable[..., Any], *, options: bool = True) -> list[Call]:
    """Products that underflow, weights that do, hidden keys, and every rule's own arithmetic."""
    calls = []
    for kind, tiny in TINY.items():
        q = np.array([[1.0, 2.0, -1.0], [tiny, 0.0, -1.0]], kind)
        k = np.array([[tiny, tiny, 1.0], [-9.0, -50.0, 9.0], [30.0, -60.0, 5.0]], kind)
        v = np.array([[tiny, 1.0], [-tiny, 0.0], [3.0, tiny]], kind)
        variants: list[dict[str, Any]] = [{}]
        if options:
            rules = [
                scaling.soft_cap(0.5),
                scaling.query_key_norm(),
                scaling.query_temperature(3).with_gains(query_gain=[tiny, -0.5, 0.5]),
                scaling.learned_temperature().with_gains(log_gain=-2.0),
            ]
            masks = [
                np.array([True, False, True]),
                np.zeros((2, 3), bool),
                np.full((2, 3), -INF),
                np.full((2, 3), float(np.finfo(np.float64).min)),
                np.array([1e-320, -1e9, 0.0]),
            ]
            variants += [{"scale": scale} for scale in (0.0, 0.125, tiny, 20.0, *rules)]
            variants += [{"attn_mask": mask} for mask in masks] + [{"is_causal": True}]
        calls += [partial(function, q, k, v, **variant) for variant in variants]
    return calls


def with_cotangents(calls: list[Call]) -> list[Call]:
    return [
        partial(call.func, *call.args, cotangent, **call.keywords)
        for call in calls
        for cotangent in (1.0, np.array([[5e-324, -1.0], [1e-44, 1e-3]]))
    ]


def trained(step: Callable[..., Any]) -> Call:
    """Return a call of what takes parameters and a batch, with queries that saturate the rows."""
    rng = generator()
    batch = training.draw_batch(SMALL_TASK, training.draw_tags(SMALL_TASK, rng), 6, rng)
    start = training.initial_parameters(SMALL_TASK, 4, rng=rng, gains=40.0)
    return partial(step, start, batch)


def stepped(optimizer: training.Sgd | training.Adam) -> Call:
    """Return a call of an optimizer's step along a gradient whose square underflows."""
    weights = {"query": np.array([1.0, 1e-310])}
    gradient = {"query": np.array([1e-200, 1e-310])}
    state = training.initial_state(weights)
    return partial(training.optimizer_step, optimizer, weights, gradient, state)


def one_step(parameters: dict[str, np.ndarray], batch: training.Batch) -> Any:
    adam = training.Adam(0.1, clip=1e-3, decay=1e-4)
    state = training.initial_state(parameters)
    return training.training_step(parameters, batch, None, adam, state)


def sampled(function: Callable[..., Any], **sizes: Any) -> list[Call]:
    """Return calls with raw scores, with divided ones, and with next to none of them left."""
    return [
        lambda scale=scale: function(300, 40, rng=generator(), scale=scale, **sizes)
        for scale in (None, 1.0, 50.0, 1e-320)
    ]


def multiplied(rule: ScalingRule) -> Any:
    """Use a rule on numbers of all sizes."""
    return rule.multiplier(3, 9), rule.logits(VECTORS, VECTORS)


def matched(_parameters: dict[str, np.ndarray], batch: training.Batch) -> Any:
    return training.matching_tokens(SMALL_TASK, batch)


SMALL_TASK = training.GroupMeanTask(2, 2, 3, 2, 2)
VECTORS = np.array([[1.0, 1e-200, 5e-324], [1e-310, 0.0, -3.0], [0.0, -3.0, 2.0]])
LOWEST = ScalingRule(
    "next to nothing",
    lambda _d_k, _n_keys: 1e-300,
    normalize=True,
    cap=1e-300,
    gains={"log_gain": -1.0, "query_gain": [-700.0, 1.0, 0.0]},
)
LEAST_ENTRY = attnlib.EntryLaw("uniform", lambda _width, _d_k: 1e-310)
NARROW = attnlib.Initializer("next to nothing", LEAST_ENTRY, LEAST_ENTRY, "here", scale=1e-200)
GPT2 = INITIALIZERS["gpt2"]
LENGTHS = [
    np.array([1.0, 1e-200, 5e-324]),
    np.array([1e-310, 5e-324]),
    np.array([6e4, 6e-8], np.float16),
]
SCORES = np.array([0.0, 1e-300, -1e-160, 3.0, 800.0, 2000.0, 1e5, -1e5])
LAWS = {1, 2, 3, 64, 101, 10**6}
CALLS: dict[str, list[Call]] = {
    "diagnose": [
        lambda query=query: attnlib.diagnose(query, np.ones((3, 4)))[:-1]
        for query in (np.full((2, 4), 1e-200), np.diag([1e-160, 1, 1, 700])[:3])
    ],
    "softmax": each(attnlib.softmax, rows_of_logits()),
    "log_softmax": each(attnlib.log_softmax, rows_of_logits()),
    "softmax_jacobian": each(attnlib.softmax_jacobian, rows_of_weights()),
    "softmax_vjp": [
        call
        for step in (1e-200, -1.0)
        for call in each(
            lambda p, step: attnlib.softmax_vjp(p, np.linspace(0, step, p.size)),
            rows_of_weights(),
            step,
        )
    ],
    "jacobian_norm_squared": each(attnlib.jacobian_norm_squared, rows_of_weights()),
    "entropy": each(attnlib.entropy, rows_of_weights()),
    "effective_positions": each(attnlib.effective_positions, rows_of_weights()),
    "meaningful_keys": each(attnlib.meaningful_keys, rows_of_weights()),
    "gradient_statistics": each(attnlib.gradient_statistics, LENGTHS),
    "sorted_shares": each(attnlib.sorted_shares, LENGTHS),
    "layer_norm": each(
        attnlib.layer_norm,
        [
            np.array([1.0, 1e-200, 0.0]),
            np.array([1e-310, 5e-324, 0.0]),
            np.array([1e300, 5e-324, 0.0]),
        ],
    ),
    "score_moments": [lambda: attnlib.score_moments(10**300)],
    "general_score_moments": [
        lambda: attnlib.general_score_moments(1e-200 * np.eye(2), 1e-200 * np.eye(2), mean_q=1e-170)
    ],
    "score_pdf": [partial(attnlib.score_pdf, SCORES, d_k) for d_k in LAWS],
    "score_sf": [partial(attnlib.score_sf, SCORES, d_k) for d_k in LAWS],
    "sample_scores": [lambda: attnlib.sample_scores(1, 1000, rng=generator())],
    "sample_score_rows": [lambda: attnlib.sample_score_rows(1, 9, 99, rng=generator())],
    "causal_mask": [lambda: attnlib.causal_mask(3, 4)],
    "scaled_dot_product_attention": attention_calls(attnlib.scaled_dot_product_attention),
    "blockwise_attention": attention_calls(attnlib.blockwise_attention),
    "online_attention": attention_calls(attnlib.online_attention, options=False),
    "attention_vjp": with_cotangents(attention_calls(attnlib.attention_vjp)),
    "blockwise_attention_vjp": with_cotangents(attention_calls(attnlib.blockwise_attention_vjp)),
    "freezing_std": [lambda: attnlib.freezing_std(10**300)],
    "freezing_width": [lambda: attnlib.freezing_width(1)],
    "expected_maximum": [partial(attnlib.expected_maximum, n) for n in (1, 1000, 10**100)],
    "concentration_bound": [lambda: attnlib.concentration_bound(1e300, 50)],
    "predict_variances": [lambda: attnlib.predict_variances(NARROW, 5, 4)],
    "initialization.sample_tokens": [
        lambda: initialization.sample_tokens(3, 5, token_cosine=1e-320, rng=generator())
    ],
    "initialization.sample_projections": [
        lambda: initialization.sample_projections(NARROW, 5, 4, rng=generator()),
        lambda: initialization.sample_projections(GPT2, 5, 4, rng=generator()),
    ],
    "initialization.sample_logit_variances": [
        lambda: initialization.sample_logit_variances(NARROW, 9, 4, n_draws=2, rng=generator())
    ],
    "sample_row_statistics": sampled(attnlib.sample_row_statistics, n_rows=20),
    "sample_query_gradients": sampled(attnlib.sample_query_gradients, n_rows=20),
    "sample_key_gradients": sampled(attnlib.sample_key_gradients, n_rows=20),
    "sample_layer_key_gradients": sampled(
        attnlib.sample_layer_key_gradients, n_queries=20, n_layers=2
    ),
    "training.draw_tags": [lambda: training.draw_tags(SMALL_TASK, generator())],
    "training.draw_batch": [
        lambda: training.draw_batch(
            SMALL_TASK, np.full((3, 2), 1e-50), 5, generator(), dtype=np.float32
        )
    ],
    "training.matching_tokens": [lambda: trained(matched)()],
    "training.reference_losses": [lambda: training.reference_losses(SMALL_TASK)],
    "training.initial_state": [lambda: training.initial_state({"query": np.ones(2)})],
    "training.optimizer_step": [
        stepped(training.Adam(0.1)),
        stepped(training.Adam(0.1, clip=1e-3, decay=1e-4)),
        stepped(training.Sgd(0.1, momentum=0.9, clip=1e-250)),
    ],
    "training.initial_parameters": [
        lambda: training.initial_parameters(
            SMALL_TASK, 4, rng=generator(), gains=1e-44, dtype=np.float32
        )
    ],
    "training.loss_and_gradients": [
        trained(partial(training.loss_and_gradients, scale=scale))
        for scale in (None, 1.0, 1e-320, scaling.query_key_norm(learned=False))
    ],
    "training.training_step": [trained(one_step)],
    "training.train": [
        lambda: (
            training.train(
                0, 9, 1.0, training.Sgd(0.3), task=SMALL_TASK, steps=9, initial_gain=30.0
            ).loss
        )
    ],
    "training.train_together": [
        lambda: (
            training.train_together(
                0,
                [training.Learner(9, None, training.Adam(1e-3), 30.0)],
                task=SMALL_TASK,
                steps=9,
                dtype=np.float32,
            )[0].loss
        )
    ],
    "training.steps_to_loss": [lambda: training.steps_to_loss([0, 9], [1.0, 5e-324], 1e-320)],
    "scaling.fixed_temperature": [lambda: multiplied(scaling.fixed_temperature(1e300))],
    "scaling.inverse_sqrt": [lambda: multiplied(scaling.inverse_sqrt())],
    "scaling.inverse_width": [lambda: multiplied(scaling.inverse_width(1e-300))],
    "scaling.learned_temperature": [
        lambda: multiplied(scaling.learned_temperature().with_gains(log_gain=-740.0))
    ],
    "scaling.log_length": [lambda: multiplied(scaling.log_length(10**300))],
    "scaling.no_scaling": [lambda: multiplied(scaling.no_scaling())],
    "scaling.query_key_norm": [lambda: multiplied(scaling.query_key_norm())],
    "scaling.query_temperature": [
        lambda: multiplied(scaling.query_temperature(3).with_gains(query_gain=[-800.0, 1, 0]))
    ],
    "scaling.scaling_rule": [lambda: multiplied(scaling.scaling_rule(5e-324))],
    "scaling.soft_cap": [lambda: multiplied(scaling.soft_cap(1e-300))],
    "ScalingRule.multiplier": [lambda: LOWEST.multiplier(64, 9)],
    "ScalingRule.with_gains": [lambda: LOWEST.with_gains(log_gain=-1.0).multiplier(64, 9)],
    "ScalingRule.logits": [lambda: LOWEST.logits(VECTORS, VECTORS)],
    "ScalingRule.fold_query": [lambda: LOWEST.fold_query(VECTORS, 9)],
    "ScalingRule.fold_key": [lambda: LOWEST.fold_key(VECTORS)],
    "ScalingRule.cap_logits": [lambda: LOWEST.cap_logits(VECTORS)],
    "ScalingRule.cap_slope": [
        lambda: LOWEST.cap_slope(LOWEST.cap_logits(VECTORS)),
        lambda: scaling.soft_cap(1.0).cap_slope(np.array([0.9, 1e-200])),
    ],
    "ScalingRule.fold_query_vjp": [lambda: LOWEST.fold_query_vjp(VECTORS, 9, VECTORS[::-1])],
    "ScalingRule.fold_key_vjp": [lambda: LOWEST.fold_key_vjp(VECTORS, VECTORS[::-1])],
}


def public_functions() -> set[str]:
    """Name every function and method that the package offers, so that a new one is missed here."""
    flat = {name for name in attnlib.__all__ if inspect.isfunction(getattr(attnlib, name))}
    for module in NAMESPACES:
        short = module.__name__.rpartition(".")[2]
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isfunction(member) and member.__module__.startswith(module.__name__):
                flat.add(f"{short}.{name}")
    methods = {name for name, _ in inspect.getmembers(ScalingRule, inspect.isfunction)}
    return flat | {f"ScalingRule.{name}" for name in methods if not name.startswith("_")}


def numbers_of(result: Any) -> list[np.ndarray]:
    """Return the arrays and numbers of a result, in order."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in numbers_of(part)]
    return [np.asarray(result)]


def test_no_function_is_left_out():
    assert set(CALLS) == public_functions()
    assert all(CALLS.values())


@pytest.mark.parametrize("name", CALLS)
def test_the_result_does_not_depend_on_what_the_caller_makes_of_underflow(name):
    for call in CALLS[name]:
        wanted = numbers_of(call())
        with np.errstate(all="raise"):
            got = numbers_of(call())
        for one, other in zip(got, wanted, strict=True):
            assert_array_equal(one, other)
            assert one.dtype == other.dtype


def test_the_calls_reach_the_ends_of_the_range():
    """Else the test above would ask nothing: plain NumPy raises at most of these numbers."""
    with np.errstate(all="raise"):
        for kind in TINY:
            farthest = np.array([0.0, -800.0], kind)
            with pytest.raises(FloatingPointError, match="underflow"):
                np.exp(farthest)
            assert any(row.dtype == kind and row.min() == -800 for row in rows_of_logits())


def test_the_state_of_the_caller_is_left_as_it_was():
    with np.errstate(all="raise"):
        before = np.geterr()
        attnlib.softmax([0.0, -800.0])
        assert np.geterr() == before
