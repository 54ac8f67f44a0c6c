"""online.py against nested loops, SciPy and dense attention."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import oracles
import pytest
from attention_calls import LEADS, calls, draw_inputs
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from attnlib import online_attention, scaled_dot_product_attention


@given(calls(), st.integers(1, 5), st.sampled_from([1.0, 30.0]))
def test_output_peak_and_sum_agree_with_loops(call, block_size, size):
    (q, k, v), _ = call
    q = q * size
    found = online_attention(q, k, v, block_size=block_size)
    wanted, _ = oracles.attention_loops(q, k, v)
    assert found.output.shape == wanted.shape
    assert_allclose(found.output, wanted, rtol=1e-12, atol=1e-12)
    logits = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    logits = np.broadcast_to(logits, (*wanted.shape[:-1], k.shape[-2]))
    assert_allclose(found.peak, logits.max(-1, keepdims=True), rtol=1e-12, atol=1e-12)
    sums = logsumexp(logits, axis=-1, keepdims=True)
    assert_allclose(found.peak + np.log(found.total), sums, rtol=1e-12, atol=1e-12)
    assert (found.total >= 1).all()


@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("n_queries", [0, 3])
def test_leading_axes_broadcast(lead, n_queries):
    rng = np.random.default_rng(1)
    q, k, v = (
        rng.standard_normal((*axes, *tail))
        for axes, tail in zip(lead, ((n_queries, 6), (5, 6), (5, 2)), strict=True)
    )
    found = online_attention(q, k, v, block_size=2)
    wanted = scaled_dot_product_attention(q, k, v)
    assert found.output.shape == wanted.shape
    assert_allclose(found.output, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("order", [1, -1], ids=["rising", "falling"])
def test_no_exponential_overflows_wherever_the_largest_logit_is(order):
    rng = np.random.default_rng(2)
    query, key = rng.standard_normal((2, 1100, 16))
    key = (key * np.linspace(1, 600, 1100)[:, None])[::order]
    value = rng.standard_normal((1100, 3))
    found = online_attention(query[:40], key, value)
    assert found.peak.max() > 1000
    wanted, _ = oracles.attention_loops(query[:40], key, value)
    assert_allclose(found.output, wanted, rtol=1e-10, atol=1e-12)


def test_a_step_beyond_the_range_of_the_numbers_leaves_the_larger_key():
    found = online_attention(
        np.float32([[1]]), np.float32([[-3e38], [3e38]]), np.float32([[1], [2]]), block_size=1
    )
    assert found.output == 2
    assert found.total == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_type_of_the_inputs_is_that_of_the_output(dtype):
    arrays = draw_inputs(np.random.default_rng(3), n_k=9, dtype=dtype)
    found = online_attention(*arrays, block_size=4)
    assert found.output.dtype == dtype
    assert found.peak.dtype == found.total.dtype == np.result_type(dtype, np.float32)
    rtol = 4 * float(np.finfo(dtype).eps)
    wide = scaled_dot_product_attention(*(x.astype(float) for x in arrays))
    assert_allclose(found.output, wide, rtol=rtol, atol=rtol)


def test_the_default_block_is_all_that_is_held():
    query, key, value = np.ones((3, 60_000, 1))
    tracemalloc.start()
    online_attention(query[:30], key, value)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * 30 * 512 * 8  # 60000 logits for each query would take 14 MB


def test_the_inputs_are_left_as_they_were():
    arrays = draw_inputs(np.random.default_rng(4), n_k=9)
    before = [array.copy() for array in arrays]
    online_attention(*arrays, block_size=2)
    for array, copy in zip(arrays, before, strict=True):
        assert_array_equal(array, copy)
