"""attention.py against nested loops, and against what must not change."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import oracles
import pytest
from attention_calls import (
    LEADS,
    RULE_NAMES,
    assert_gradients,
    calls,
    draw_inputs,
    rules,
    upstream,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from attnlib import (
    attention_vjp,
    blockwise_attention,
    blockwise_attention_vjp,
    causal_mask,
    online_attention,
    scaled_dot_product_attention,
    scaling,
    softmax,
)


def assert_as_loops(arrays, atol=1e-15, **options):
    """Compare output and weights with nested loops, and return the output."""
    output, weights = scaled_dot_product_attention(*arrays, **options, return_weights=True)
    wanted_output, wanted_weights = oracles.attention_loops(*arrays, **options)
    assert weights.shape == wanted_weights.shape
    assert output.shape == wanted_output.shape
    assert_allclose(weights, wanted_weights, rtol=1e-12, atol=1e-15)
    assert_array_equal(weights == 0, wanted_weights == 0)
    assert_allclose(output, wanted_output, rtol=1e-12, atol=atol)
    return output


@given(calls())
def test_attention_agrees_with_nested_loops(call):
    arrays, options = call
    before = [array.copy() for array in arrays]
    mask = options["attn_mask"]
    mask_before = None if mask is None else mask.copy()
    output = assert_as_loops(arrays, atol=1e-12, **options)
    assert_array_equal(scaled_dot_product_attention(*arrays, **options), output)
    for array, copy in zip(arrays, before, strict=True):
        assert_array_equal(array, copy)
    if mask is not None:
        assert_array_equal(mask, mask_before)


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (1, 1), (2, 2), (0, 3)], ids=str)
def test_leading_axes_broadcast(lead, is_causal, sizes):
    rng = np.random.default_rng(1)
    shapes = (sizes[0], 6), (sizes[1], 6), (sizes[1], 2)
    arrays = [rng.standard_normal((*of, *shape)) for of, shape in zip(lead, shapes, strict=True)]
    assert_as_loops(arrays, is_causal=is_causal)


@pytest.mark.parametrize("scale", [None, 0, 1, 0.3, 2.5])
def test_scale_multiplies_the_scores(scale):
    assert_as_loops(draw_inputs(np.random.default_rng(2), lead=(2,)), scale=scale)


def test_the_default_scale_is_one_over_the_root_of_the_width():
    for d_k in (1, 2, 4, 64):
        q, k = np.ones((1, d_k)), np.vstack([np.ones(d_k), np.zeros(d_k)])
        _, weights = scaled_dot_product_attention(q, k, k, return_weights=True)
        # one raw score is d_k, the other 0, so the odds are exp(√d_k)
        assert weights[0, 0] / weights[0, 1] == pytest.approx(math.exp(math.sqrt(d_k)), rel=1e-13)


@pytest.mark.parametrize("d_k", [5, 64])
def test_every_way_to_say_the_default_scale_is_one_arithmetic(d_k):
    """To the last bit, as what is printed must not depend on how a caller says it."""
    factor = 1 / math.sqrt(d_k)
    arrays = draw_inputs(np.random.default_rng(14), d_k=d_k, dtype=np.float32)
    wanted = scaled_dot_product_attention(*arrays, return_weights=True)
    for scale in (factor, lambda width, _n_keys: 1 / math.sqrt(width), scaling.inverse_sqrt()):
        got = scaled_dot_product_attention(*arrays, scale=scale, return_weights=True)
        assert_array_equal(got[0], wanted[0])
        assert_array_equal(got[1], wanted[1])


@pytest.mark.parametrize("scale", [None, 0.125, scaling.inverse_sqrt()])
def test_raw_scores_beyond_the_range_are_answered_if_the_logits_are_within(scale):
    """By every function alike: float64 holds scores that float32 cannot."""
    rng = np.random.default_rng(15)
    q, k, v = draw_inputs(rng, n_q=6, n_k=9, d_k=64, dtype=np.float32)
    q *= np.float32(2e19)
    k *= np.float32(5e18)
    cotangent = upstream((q, k, v), rng)
    wide = [array.astype(float) for array in (q, k, v)]
    raw = np.abs(wide[0] @ wide[1].T)
    assert raw.max() > np.finfo(np.float32).max > raw.max() / 8
    wanted = oracles.attention_loops(*wide)[0]
    options = {"scale": scale}
    for attend in (scaled_dot_product_attention, blockwise_attention):
        assert_allclose(attend(q, k, v, **options), wanted, rtol=1e-6)
    assert_allclose(online_attention(q, k, v).output, wanted, rtol=1e-6)
    by_value = oracles.attention_gradients_loops(*wide, cotangent)[2]
    for carry_back in (attention_vjp, blockwise_attention_vjp):
        assert_allclose(carry_back(q, k, v, cotangent, **options).value, by_value, rtol=1e-5)


MASKS = {
    "boolean": np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool),
    "one row for all": np.array([True, False, True, False]),
    "additive": np.array([[0.5, -1, 2, 0], [-np.inf] * 4, [0, -np.inf, 0, 3.0]]),
    "a number": np.array(2.5),
    "float32": np.array([[0.5, -1, 2, 0]] * 3, np.float32),
    "list": [[True, False, True, True], [False] * 4, [True] * 4],
}


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_masks(name, is_causal, lead):
    arrays = draw_inputs(np.random.default_rng(3), lead=lead)
    assert_as_loops(arrays, attn_mask=MASKS[name], is_causal=is_causal)


def test_a_query_without_any_key_gets_zeros():
    arrays = draw_inputs(np.random.default_rng(4))
    for mask in (np.zeros((3, 4), bool), np.full((3, 4), -np.inf)):
        output, weights = scaled_dot_product_attention(*arrays, attn_mask=mask, return_weights=True)
        assert not output.any()
        assert not weights.any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, 0.5, np.float64(0.5), np.float32(0.5), 1, np.int64(1)])
@pytest.mark.parametrize("mask", [None, np.zeros((3, 4)), np.ones((3, 4), bool)], ids=repr)
def test_floating_types_are_kept(dtype, scale, mask):
    arrays = draw_inputs(np.random.default_rng(5), dtype=dtype)
    output, weights = scaled_dot_product_attention(
        *arrays, scale=scale, attn_mask=mask, is_causal=True, return_weights=True
    )
    assert output.dtype == dtype
    assert weights.dtype == dtype
    wanted, _ = oracles.attention_loops(*arrays, scale=scale, attn_mask=mask, is_causal=True)
    eps = np.finfo(dtype).eps
    assert_allclose(output.astype(float), wanted, rtol=16 * eps, atol=16 * eps)


def test_mixed_and_integer_types_are_promoted():
    q, k, v = draw_inputs(np.random.default_rng(6), dtype=np.float32)
    for mixed in ((q.astype(float), k, v), (q, k.astype(float), v), (q, k, v.astype(float))):
        output, weights = scaled_dot_product_attention(*mixed, return_weights=True)
        assert output.dtype == weights.dtype == np.float64
        # float32 inputs, but no float32 arithmetic
        assert_allclose(output, oracles.attention_loops(*mixed)[0], rtol=1e-12)
    whole = scaled_dot_product_attention([[1, 2]], [[3, 4]], [[5]])
    assert whole.dtype == np.float64
    assert whole.tolist() == [[5.0]]


@pytest.mark.parametrize("seed", range(5))
def test_float16_is_rounded_once(seed):
    """By half a unit of its last digit, beside what float32 leaves of the sums."""
    arrays = np.random.default_rng(seed).standard_normal((3, 40, 16)).astype(np.float16)
    output = scaled_dot_product_attention(*arrays)
    assert output.dtype == np.float16
    wanted, _ = oracles.attention_loops(*arrays.astype(np.float64))
    assert_allclose(output.astype(np.float64), wanted, rtol=1 / 2048, atol=2e-6)


def test_float16_with_more_keys_than_it_can_count_and_scores_at_its_end():
    k, v = np.zeros((70_000, 1), np.float16), np.ones((70_000, 1), np.float16)
    _, weights = scaled_dot_product_attention(
        np.zeros((1, 1), np.float16), k, v, return_weights=True
    )
    assert weights.dtype == np.float16
    assert (weights == np.float16(1 / 70_000)).all()
    far = scaled_dot_product_attention(
        np.array([[1.0]], np.float16),
        np.array([[6e4], [-6e4]], np.float16),
        np.array([[1.0], [0.0]], np.float16),
    )
    assert far.tolist() == [[1.0]]


@given(calls(), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(call, random):
    (q, k, v), options = call
    order = list(range(k.shape[-2]))
    random.shuffle(order)
    mask = options["attn_mask"]
    if mask is not None and mask.ndim:
        mask = np.broadcast_to(mask, (*mask.shape[:-1], len(order)))[..., order]
    options |= {"is_causal": False}
    assert_allclose(
        scaled_dot_product_attention(
            q, k[..., order, :], v[..., order, :], **(options | {"attn_mask": mask})
        ),
        scaled_dot_product_attention(q, k, v, **options),
        rtol=1e-12,
        atol=1e-12,
    )


@given(calls(), st.floats(-50, 50))
def test_a_constant_added_to_all_scores_does_not_matter(call, constant):
    arrays, options = call
    if options["attn_mask"] is not None and options["attn_mask"].dtype == bool:
        return
    mask = 0.0 if options["attn_mask"] is None else options["attn_mask"]
    assert_allclose(
        scaled_dot_product_attention(*arrays, **(options | {"attn_mask": mask + constant})),
        scaled_dot_product_attention(*arrays, **options),
        rtol=1e-11,
        atol=1e-11,
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (5, 3), (0, 2), (4, 4)])
def test_causal_mask_by_its_definition(rows, columns):
    mask = causal_mask(rows, columns)
    assert mask.dtype == bool
    assert mask.shape == (rows, columns)
    assert mask.tolist() == [[j <= i for j in range(columns)] for i in range(rows)]


# --- gradients ---------------------------------------------------------------------------------


@given(calls(), st.integers(0, 2**32 - 1))
def test_the_gradient_agrees_with_nested_loops(call, seed):
    arrays, options = call
    cotangent = upstream(arrays, np.random.default_rng(seed))
    gradients = attention_vjp(*arrays, cotangent, **options)
    wanted = oracles.attention_gradients_loops(*arrays, cotangent, **options)
    assert gradients.gains == {}
    assert_gradients(gradients, wanted, atol=1e-11)


def keys_over_width(d_k, n_keys):
    return n_keys / d_k


NUMBERS = {"default": None, "zero": 0.0, "number": 2.5, "callable": keys_over_width}


@pytest.mark.parametrize("scale", [*NUMBERS, *RULE_NAMES])
@pytest.mark.parametrize("masked", [False, True])
def test_the_gradient_agrees_with_differences_for_every_rule(scale, masked):
    rng = np.random.default_rng(7)
    arrays = draw_inputs(rng, lead=(2,))
    options = {"scale": (NUMBERS | rules(5))[scale], "is_causal": masked}
    if masked:
        options["attn_mask"] = np.where(rng.random((3, 4)) < 0.3, -np.inf, rng.random((3, 4)))
    cotangent = upstream(arrays, rng)
    gradients = attention_vjp(*arrays, cotangent, **options)
    for number, got in enumerate(gradients[:3]):
        direction = rng.standard_normal(got.shape)

        def loss(step, number=number, direction=direction):
            moved = [*arrays]
            moved[number] = arrays[number] + step * direction
            return (scaled_dot_product_attention(*moved, **options) * cotangent).sum()

        wanted = oracles.derivative(loss, 1e-3)
        assert_allclose((got * direction).sum(), wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["learned", "by query", "direction, learned", "both gains"])
def test_the_gradient_by_learned_gains_agrees_with_differences(name):
    rule = rules(5)[name]
    rng = np.random.default_rng(8)
    arrays = draw_inputs(rng, lead=(2,))
    cotangent = upstream(arrays, rng)
    gains = attention_vjp(*arrays, cotangent, scale=rule).gains
    assert set(gains) == set(rule.gains)
    for name, got in gains.items():
        direction = rng.standard_normal(np.shape(got))

        def loss(step, name=name, direction=direction):
            moved = rule.with_gains(**{name: rule.gains[name] + step * direction})
            return (scaled_dot_product_attention(*arrays, scale=moved) * cotangent).sum()

        wanted = oracles.derivative(loss, 1e-3)
        assert_allclose((got * direction).sum(), wanted, rtol=1e-9, atol=1e-10)


def test_the_gradient_by_the_logarithm_of_the_scale():
    """What the docstring says of it."""
    rng = np.random.default_rng(9)
    q, k, v = draw_inputs(rng)
    cotangent = upstream((q, k, v), rng)
    got = (q * attention_vjp(q, k, v, cotangent, scale=0.6).query).sum()
    wanted = oracles.derivative(
        lambda step: (
            scaled_dot_product_attention(q, k, v, scale=0.6 * math.exp(step)) * cotangent
        ).sum(),
        1e-3,
    )
    assert_allclose(got, wanted, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_have_the_type_of_the_inputs(dtype):
    rng = np.random.default_rng(10)
    arrays = draw_inputs(rng, dtype=dtype)
    cotangent = upstream(arrays, rng)
    gradients = attention_vjp(*arrays, cotangent, scale=scaling.query_key_norm())
    wanted = attention_vjp(
        *(a.astype(float) for a in arrays), cotangent, scale=scaling.query_key_norm()
    )
    assert {gradient.dtype for gradient in gradients[:3]} == {np.dtype(dtype)}
    assert_gradients(gradients, wanted, rtol=0, atol=30 * float(np.finfo(dtype).eps))


def test_a_query_without_any_key_receives_and_passes_on_nothing():
    rng = np.random.default_rng(11)
    arrays = draw_inputs(rng)
    mask = np.ones((3, 4), bool)
    mask[1] = False
    gradients = attention_vjp(*arrays, np.eye(3)[:, 1:2] * [1.0, 1.0], attn_mask=mask)
    assert not any(gradient.any() for gradient in gradients[:3])


def test_a_cotangent_may_be_a_number():
    arrays = draw_inputs(np.random.default_rng(12), lead=(2,))
    wanted = attention_vjp(*arrays, np.full((2, 3, 2), 2.0))
    assert_gradients(attention_vjp(*arrays, 2), wanted, rtol=0, atol=0)


def test_the_error_names_the_scale_that_made_the_scores_too_large():
    def rule(d_k, n_keys):
        return 1e308 + 0 * d_k if n_keys == 4 else 7.0

    for scale, shown in ((rule, "ScalingRule('rule')"), (lambda d_k, _n: d_k * 1e307, "<lambda>")):
        with pytest.raises(ValueError, match=r"magnitudes up to 30, 20, 1 with") as caught:
            scaled_dot_product_attention(
                np.full((3, 5), 30.0), np.full((4, 5), -20.0), np.ones((4, 2)), scale=scale
            )
        assert shown in str(caught.value)


def test_one_score_too_large_for_its_mask_is_refused():
    q, k, v = np.full((1, 1), 2e38, np.float32), np.array([[1], [0]], np.float32), np.ones((2, 1))
    with pytest.raises(
        ValueError,
        match=r"^query, key, value and attn_mask must .* float32 can hold; got",
    ):
        scaled_dot_product_attention(
            q, k, v.astype(np.float32), attn_mask=np.float32([2e38, 0]), scale=1
        )


def test_bfloat16_is_computed_in_float32_and_rounded_once():
    arrays = np.random.default_rng(9).standard_normal((3, 2, 6, 8)).astype(ml_dtypes.bfloat16)
    mask = np.tri(6, dtype=bool)
    exact = scaled_dot_product_attention(*arrays.astype(float), attn_mask=mask)
    for function in scaled_dot_product_attention, blockwise_attention:
        output = function(*arrays, attn_mask=mask)
        assert output.dtype == ml_dtypes.bfloat16
        assert np.array_equal(output, exact.astype(np.float32).astype(ml_dtypes.bfloat16))
    gradients = attention_vjp(*arrays, arrays[0])
    assert {x.dtype for x in gradients[:3]} == {np.dtype(ml_dtypes.bfloat16)}
    wide = arrays.astype(np.float32)
    mixed = scaled_dot_product_attention(arrays[0], *wide[1:])
    assert mixed.dtype == np.float32
    assert np.array_equal(mixed, scaled_dot_product_attention(*wide))
    assert np.array_equal(softmax(arrays[0]), softmax(wide[0]))
