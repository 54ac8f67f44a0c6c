"""attention.py against nested loops, and against what must not change."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attnlib import causal_mask, scaled_dot_product_attention


def draw_inputs(rng, lead=(), n_q=3, n_k=4, d_k=5, d_v=2, dtype=float):
    shapes = (*lead, n_q, d_k), (*lead, n_k, d_k), (*lead, n_k, d_v)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


@st.composite
def calls(draw):
    """Draw arrays and options of one call; leading axes broadcast, masks hide whole rows."""
    side = st.integers(1, 4)
    n_q, n_k, d_k, d_v = draw(side), draw(side), draw(side), draw(side)
    lead = draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))

    def leading():
        kept = tuple(draw(st.sampled_from((1, size))) for size in lead)
        return kept[draw(st.integers(0, len(kept))) :]

    elements = st.floats(-3, 3, width=32)
    arrays = [
        draw(hnp.arrays(float, (*leading(), *tail), elements=elements))
        for tail in ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    ]
    common = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    mask_shape = draw(st.sampled_from([(n_q, n_k), (1, n_k), (n_k,), (), (*common, n_q, n_k)]))
    mask = draw(
        st.none()
        | hnp.arrays(bool, mask_shape)
        | hnp.arrays(float, mask_shape, elements=st.floats(-9, 9) | st.just(-math.inf))
    )
    options = {
        "attn_mask": mask,
        "is_causal": draw(st.booleans()),
        "scale": draw(st.none() | st.floats(0, 3)),
    }
    return arrays, options


@given(calls())
def test_attention_agrees_with_nested_loops(call):
    arrays, options = call
    before = [array.copy() for array in arrays]
    mask = options["attn_mask"]
    mask_before = None if mask is None else mask.copy()
    output, weights = scaled_dot_product_attention(*arrays, **options, return_weights=True)
    wanted_output, wanted_weights = oracles.attention_loops(*arrays, **options)
    assert weights.shape == wanted_weights.shape
    assert output.shape == wanted_output.shape
    np.testing.assert_allclose(weights, wanted_weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(output, wanted_output, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(scaled_dot_product_attention(*arrays, **options), output)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    if mask is not None:
        np.testing.assert_array_equal(mask, mask_before)


LEADS = [
    ((), (), ()),
    ((2,), (2,), (2,)),
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (1, 3), (2, 1)),
    ((3,), (2, 1), ()),
    ((), (), (2, 2)),
    ((0,), (0,), (0,)),
]


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (1, 1), (2, 2), (0, 3)], ids=str)
def test_leading_axes_broadcast(lead, is_causal, sizes):
    rng = np.random.default_rng(1)
    q = rng.standard_normal((*lead[0], sizes[0], 6))
    k = rng.standard_normal((*lead[1], sizes[1], 6))
    v = rng.standard_normal((*lead[2], sizes[1], 2))
    output, weights = scaled_dot_product_attention(
        q, k, v, is_causal=is_causal, return_weights=True
    )
    wanted = oracles.attention_loops(q, k, v, is_causal=is_causal)
    assert output.shape == wanted[0].shape
    assert weights.shape == wanted[1].shape
    np.testing.assert_allclose(output, wanted[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weights, wanted[1], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scale", [None, 0, 1, 0.3, 2.5])
def test_scale_multiplies_the_scores(scale):
    arrays = draw_inputs(np.random.default_rng(2), lead=(2,))
    wanted, _ = oracles.attention_loops(*arrays, scale=scale)
    np.testing.assert_allclose(
        scaled_dot_product_attention(*arrays, scale=scale), wanted, rtol=1e-12, atol=1e-15
    )


def test_the_default_scale_is_one_over_the_root_of_the_width():
    for d_k in (1, 2, 4, 64):
        q, k = np.ones((1, d_k)), np.vstack([np.ones(d_k), np.zeros(d_k)])
        _, weights = scaled_dot_product_attention(q, k, k, return_weights=True)
        # one raw score is d_k, the other 0, so the odds are exp(√d_k)
        assert weights[0, 0] / weights[0, 1] == pytest.approx(math.exp(math.sqrt(d_k)), rel=1e-13)


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
    options = {"attn_mask": MASKS[name], "is_causal": is_causal}
    output, weights = scaled_dot_product_attention(*arrays, **options, return_weights=True)
    wanted = oracles.attention_loops(
        *arrays, attn_mask=np.asarray(MASKS[name]), is_causal=is_causal
    )
    np.testing.assert_allclose(output, wanted[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weights, wanted[1], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(weights == 0, wanted[1] == 0)


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
    np.testing.assert_allclose(output.astype(float), wanted, rtol=16 * eps, atol=16 * eps)


def test_mixed_and_integer_types_are_promoted():
    q, k, v = draw_inputs(np.random.default_rng(6), dtype=np.float32)
    for mixed in ((q.astype(float), k, v), (q, k.astype(float), v), (q, k, v.astype(float))):
        output, weights = scaled_dot_product_attention(*mixed, return_weights=True)
        assert output.dtype == weights.dtype == np.float64
        # float32 inputs, but no float32 arithmetic
        np.testing.assert_allclose(output, oracles.attention_loops(*mixed)[0], rtol=1e-12)
    whole = scaled_dot_product_attention([[1, 2]], [[3, 4]], [[5]])
    assert whole.dtype == np.float64
    assert whole.tolist() == [[5.0]]


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
    np.testing.assert_allclose(
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
    np.testing.assert_allclose(
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
