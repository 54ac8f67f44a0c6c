"""blockwise.py against nested loops, with tiles so small that every kind of edge occurs.

Larger arrays, several threads and memory have tests of their own further down.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from attnlib import (
    _threads,
    attention_vjp,
    blockwise,
    blockwise_attention,
    blockwise_attention_vjp,
    online,
    scaled_dot_product_attention,
    scaling,
)
from attnlib._inputs import check_inputs

ROOT = Path(__file__).parents[2]
NUMBERS = {"default": None, "sharp": 9.0}


def use(monkeypatch, queries, keys):
    """Cut into other tiles than usual."""
    monkeypatch.setattr(blockwise, "QUERIES", queries)
    monkeypatch.setattr(blockwise, "KEYS", keys)


@pytest.fixture(params=[(1, 2), (2, 1), (3, 3)], ids=str)
def small_tiles(request, monkeypatch):
    use(monkeypatch, *request.param)


@pytest.fixture(params=[2, 3], ids=lambda n: f"{n} threads")
def threads(request, monkeypatch):
    monkeypatch.setattr(blockwise, "n_threads", lambda: request.param)
    return request.param


same_tiles = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.usefixtures("small_tiles")
@same_tiles
@given(calls(), st.sampled_from([1.0, 30.0]))
def test_the_output_agrees_with_nested_loops(call, size):
    (q, k, v), options = call
    q = q * size  # large scores take the online path
    output = blockwise_attention(q, k, v, **options)
    wanted, _ = oracles.attention_loops(q, k, v, **options)
    assert output.shape == wanted.shape
    assert_allclose(output, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("small_tiles")
@same_tiles
@given(calls(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 30.0]))
def test_the_gradient_agrees_with_nested_loops(call, seed, size):
    (q, k, v), options = call
    q = q * size
    cotangent = upstream((q, k, v), np.random.default_rng(seed))
    gradients = blockwise_attention_vjp(q, k, v, cotangent, **options)
    wanted = oracles.attention_gradients_loops(q, k, v, cotangent, **options)
    assert gradients.gains == {}
    assert_gradients(gradients, wanted, atol=1e-10)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("sizes", [(3, 4), (5, 2), (0, 3)], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
def test_leading_axes_broadcast(lead, sizes, is_causal):
    rng = np.random.default_rng(1)
    arrays = [
        rng.standard_normal((*lead[0], sizes[0], 6)),
        rng.standard_normal((*lead[1], sizes[1], 6)),
        rng.standard_normal((*lead[2], sizes[1], 2)),
    ]
    cotangent = upstream(arrays, rng)
    output = blockwise_attention(*arrays, is_causal=is_causal)
    wanted, _ = oracles.attention_loops(*arrays, is_causal=is_causal)
    assert output.shape == wanted.shape
    assert_allclose(output, wanted, rtol=1e-12, atol=1e-14)
    gradients = blockwise_attention_vjp(*arrays, cotangent, is_causal=is_causal)
    wanted = oracles.attention_gradients_loops(*arrays, cotangent, is_causal=is_causal)
    assert_gradients(gradients, wanted, atol=1e-11)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("name", [*NUMBERS, *RULE_NAMES])
@pytest.mark.parametrize("masked", [False, True])
def test_every_rule_and_mask_as_in_dense_attention(name, masked):
    rng = np.random.default_rng(2)
    arrays = draw_inputs(rng, lead=(2, 3), n_q=5, n_k=7)
    options = {"scale": (NUMBERS | rules(5))[name], "is_causal": masked}
    if masked:
        options["attn_mask"] = np.where(rng.random((2, 1, 5, 7)) < 0.3, -np.inf, 0.5)
    cotangent = upstream(arrays, rng)
    assert_allclose(
        blockwise_attention(*arrays, **options),
        scaled_dot_product_attention(*arrays, **options),
        rtol=1e-12,
        atol=1e-13,
    )
    got = blockwise_attention_vjp(*arrays, cotangent, **options)
    want = attention_vjp(*arrays, cotangent, **options)
    assert_gradients(got, want, atol=1e-12)
    assert set(got.gains) == set(want.gains)
    for gain, wanted in want.gains.items():
        assert_allclose(got.gains[gain], wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, 4.0])
def test_floating_types_are_kept_and_short_ones_computed_in_float32(dtype, scale):
    rng = np.random.default_rng(3)
    arrays = draw_inputs(rng, n_q=40, n_k=700, dtype=dtype)
    cotangent = upstream(arrays, rng).astype(dtype)
    output = blockwise_attention(*arrays, scale=scale)
    wanted, _ = oracles.attention_loops(*arrays, scale=scale)
    # 700 roundings of sums in the wide type, and one of the result
    rounding = {
        "rtol": float(np.finfo(dtype).eps),
        "atol": 700 * float(np.finfo(np.result_type(dtype, np.float32)).eps),
    }
    assert output.dtype == dtype
    assert_allclose(output.astype(float), wanted, **rounding)
    gradients = blockwise_attention_vjp(*arrays, cotangent, scale=scale)
    wanted = attention_vjp(*(a.astype(float) for a in arrays), cotangent, scale=scale)
    assert {gradient.dtype for gradient in gradients[:3]} == {np.dtype(dtype)}
    assert_gradients(gradients, wanted, **rounding)


# --- where no maximum is looked for --------------------------------------------------------------


@pytest.fixture
def online_tiles(monkeypatch):
    """Note each step that looks for a maximum."""
    called = []

    def noted(*arrays, keep_peak, exp):
        if not keep_peak:
            called.append(arrays)
        online._add_block(*arrays, keep_peak=keep_peak, exp=exp)

    monkeypatch.setattr(blockwise, "_add_block", noted)
    return called


def test_calibrated_scores_need_no_maximum(online_tiles):
    rng = np.random.default_rng(4)
    arrays = draw_inputs(rng, n_q=30, n_k=2000, d_k=64, d_v=8, dtype=np.float32)
    blockwise_attention(*arrays)
    assert not online_tiles
    blockwise_attention(*arrays, attn_mask=np.tri(30, 2000, dtype=bool), is_causal=True)
    assert not online_tiles
    blockwise_attention(*arrays, scale=1)
    assert online_tiles


@pytest.mark.parametrize("current", [None, "baseline(X86_V2)", "X86_V4"])
@pytest.mark.parametrize(
    ("options", "as_they_are"),
    [
        ({}, False),
        ({"scale": 3.0}, False),
        ({"attn_mask": np.tri(30, 600, 3, dtype=bool)}, False),
        ({"attn_mask": np.linspace(0, 9, 600)}, True),
        ({"scale": scaling.soft_cap(5)}, True),
    ],
    ids=["plain", "large", "masked", "added to", "capped"],
)
def test_powers_of_two_serve_as_well_as_those_of_e(monkeypatch, current, options, as_they_are):
    known = {"exp2": {"ff": {"current": current}}} if current else {}
    monkeypatch.setattr(blockwise, "opt_func_info", lambda **_: known)
    choose = blockwise._fastest_exponential.__wrapped__  # without what it keeps
    monkeypatch.setattr(blockwise, "_fastest_exponential", choose)
    used, add_block = [], online._add_block

    def noted(*arrays, exp, **rest):
        used.append(exp)
        add_block(*arrays, exp=exp, **rest)

    monkeypatch.setattr(blockwise, "_add_block", noted)
    arrays = draw_inputs(np.random.default_rng(8), n_q=30, n_k=600, dtype=np.float32)
    wanted = scaled_dot_product_attention(*(x.astype(float) for x in arrays), **options)
    assert_allclose(blockwise_attention(*arrays, **options), wanted, rtol=1e-4, atol=2e-6)
    cotangent = upstream(arrays, np.random.default_rng(9))
    gradients = blockwise_attention_vjp(*arrays, cotangent, **options)
    assert_gradients(gradients, attention_vjp(*arrays, cotangent, **options), atol=2e-5)
    assert set(used) == {np.exp2 if current == "X86_V4" and not as_they_are else np.exp}


@pytest.mark.parametrize(
    ("change", "online"),
    [
        # the largest float32 is exp(88.72); log 4 of it is for the keys and 1 for rounding
        ({"q": 86.3}, False),
        ({"q": 86.4}, True),
        # and the logarithm of large values
        ({"q": 86.3, "v": 1.1}, True),
        ({"q": 86.3, "v": -1.1}, True),
        ({"q": 86.3, "v": 1e-30}, False),
        ({"q": 84.0, "v": 9.0}, False),
        ({"q": 86.3, "v": 0.0}, False),
        ({"q": 86.3, "mask": np.ones((1, 4), bool)}, False),
        ({"q": 1.0, "mask": np.zeros((1, 4))}, True),
        ({"q": 1e9, "scale": scaling.query_key_norm()}, False),
        ({"q": 99.0, "scale": scaling.soft_cap(5)}, False),
        ({"q": 99.0, "scale": scaling.soft_cap(87)}, True),
        ({"q": 1.0, "scale": scaling.soft_cap(50)}, False),
    ],
)
def test_where_the_bound_stops_to_hold(online_tiles, change, online):
    q = np.array([[change["q"]]], np.float32)
    k = np.array([[1.0], [-0.5], [0.25], [-1.0]], np.float32)
    v = np.full((4, 1), change.get("v", 1.0), np.float32)
    options = {"attn_mask": change.get("mask"), "scale": change.get("scale", 1.0)}
    output = blockwise_attention(q, k, v, **options)
    assert bool(online_tiles) == online
    assert_allclose(output, scaled_dot_product_attention(q, k, v, **options), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("later", "hidden", "maxima"),
    [
        ({}, 0, 1),
        ({700: 80.0}, 0, 1),
        ({700: 800.0}, 0, 4),  # exp of this overflows, so the three tiles are taken anew
        ({700: -800.0}, 0, 1),
        ({}, 512, 4),  # from which the first tile has nothing to offer
        ({}, 1, 1),
    ],
)
def test_the_maximum_of_the_first_keys_serves_all(online_tiles, dtype, later, hidden, maxima):
    rng = np.random.default_rng(17)
    q, k, v = np.ones((1, 1), dtype), rng.standard_normal((1200, 1)), rng.standard_normal((1200, 2))
    k += 1000
    for place, height in later.items():
        k[place] += height
    options = {"attn_mask": np.arange(1200)[None] >= hidden, "scale": 1.0}
    arrays = q, k.astype(dtype), v.astype(dtype)
    output = blockwise_attention(*arrays, **options)
    assert len(online_tiles) == maxima
    rounding = {"rtol": 3e3 * np.finfo(dtype).eps, "atol": 1e3 * np.finfo(dtype).eps}
    wide = [x.astype(float) for x in arrays]
    assert_allclose(output, scaled_dot_product_attention(*wide, **options), **rounding)
    cotangent = np.ones((1, 2), dtype)
    gradients = blockwise_attention_vjp(*arrays, cotangent, **options)
    wanted = attention_vjp(*wide, cotangent, **options)
    assert_gradients(gradients[1:3], wanted[1:3], **rounding)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("far", "size"), [(3, 1e-30), (1, 100.0)], ids=["total", "output"])
def test_a_sum_that_overflows_is_noticed(dtype, far, size):
    k = np.zeros((600, 1), dtype)
    k[-far:] = math.log(np.finfo(dtype).max) - 0.3  # above the first tile, by what fits once
    q = np.array([[1.0], [0.0]], dtype)  # nothing overflows for the second
    output = blockwise_attention(q, k, np.full_like(k, size), scale=1.0)
    assert_allclose(output, [[size]] * 2, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", [0.6, 0.9])
def test_scores_near_the_end_of_the_range_are_served(dtype, part):
    largest = part * float(np.finfo(dtype).max)  # above 0.69 of it not as an exponent of two
    q, k = np.array([[math.sqrt(largest)]], dtype), np.array([[1.0], [0.5]], dtype)
    output = blockwise_attention(q, k * q, np.array([[1.0], [2.0]], dtype), scale=1.0)
    assert_allclose(output, [[1.0]])


@pytest.mark.parametrize("size", [3.7e35, -3.7e35, 1e-36])
@pytest.mark.parametrize("scale", [None, 10.0])
def test_values_near_the_ends_of_the_range_are_served_or_refused(size, scale):
    q, k = np.full((2, 3), 4, np.float32), np.full((900, 3), 1, np.float32)
    output = blockwise_attention(q, k, np.full((900, 1), size, np.float32), scale=scale)
    assert_allclose(output, size, rtol=1e-5)
    with pytest.raises(ValueError, match=r"^query, key and value must .*float32.* 3\.8e\+35"):
        blockwise_attention(q, k, np.full((900, 1), 3.8e35, np.float32))


def test_a_score_far_above_the_first_tile_is_found_out(monkeypatch):
    use(monkeypatch, 2, 2)
    scores = np.array(
        [[0.0, 1, 2, 3, 40, 41, 60], [0, 1, 2, 3, 4, 120, 90], [1, 3, 60, 3, 2, 1, 0]]
    )
    value = np.arange(7.0)[:, None] + 1
    for rise in (1.0, 8.0, 30.0):
        arrays = [(scores * rise).astype(np.float32), np.eye(7, dtype=np.float32)]
        output = blockwise_attention(*arrays, value.astype(np.float32), scale=1)
        assert_allclose(output, oracles.attention_loops(*arrays, value, scale=1)[0], rtol=1e-5)
    # values so large that the sum overflows before the weights do
    large = np.full((7, 1), 1e30, np.float32)
    arrays = [scores.astype(np.float32), np.eye(7, dtype=np.float32), large]
    assert_allclose(blockwise_attention(*arrays, scale=1), large[:3], rtol=1e-5)


def test_small_values_beside_large_ones_are_not_lost():
    """Without a maximum exp(-36) would take a value of 1e-30 below the least float32."""
    q, k = np.full((2, 1, 1), 6, np.float32), np.full((2, 5, 1), -6, np.float32)
    v = np.ones((2, 5, 2), np.float32)
    v[1] = v[0, :, 1] = 1e-30
    assert_allclose(blockwise_attention(q, k, v, scale=1), v[:, :1], rtol=1e-5)
    both = np.concatenate([q, -q], axis=1)  # in one tile with a query whose sum is large
    assert_allclose(blockwise_attention(both, k, v, scale=1), v[:, :2], rtol=1e-5)


# --- edges ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_query_without_any_key_gets_zeros_and_gives_none(size):
    rng = np.random.default_rng(5)
    q, k, v = draw_inputs(rng)
    q *= size
    mask = np.ones((3, 4), bool)
    mask[1] = False
    for each in (mask, np.where(mask, 0.0, -np.inf)):
        assert not blockwise_attention(q, k, v, attn_mask=each)[1].any()
        cotangent = np.zeros((3, 2))
        cotangent[1] = 1
        gradients = blockwise_attention_vjp(q, k, v, cotangent, attn_mask=each)
        assert not any(gradient.any() for gradient in gradients[:3])


@pytest.mark.usefixtures("small_tiles")
def test_masks_at_the_end_of_the_range_as_in_dense_attention():
    arrays = draw_inputs(np.random.default_rng(6))
    least = np.finfo(float).min
    for mask in (np.full((3, 4), least), np.array([least, 0, least, -1e4])):
        assert_allclose(
            blockwise_attention(*arrays, attn_mask=mask),
            scaled_dot_product_attention(*arrays, attn_mask=mask),
            rtol=1e-12,
        )


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("added", [-1e4, -1e9, -1e17, 1e6, "least"])
def test_a_number_added_to_all_scores_of_a_row_does_not_matter_to_the_gradient(added, dtype):
    """The peak of such a row is so large that the logarithm of its sum is lost beside it."""
    added = float(np.finfo(dtype).min) if added == "least" else added
    rng = np.random.default_rng(7)
    q, k, v = draw_inputs(rng, dtype=dtype)
    q[:] = 0  # so that rounding of score + number does not matter either
    cotangent = upstream((q, k, v), rng)
    for mask in (np.full((3, 4), added), np.array([added, 0, 0, added])):
        got = blockwise_attention_vjp(q, k, v, cotangent, attn_mask=mask)
        want = oracles.attention_gradients_loops(q, k, v, cotangent, attn_mask=mask)
        assert_gradients(got, want, rtol=0, atol=8 * np.finfo(dtype).eps)


def test_scores_under_a_cap_are_checked_before_it():
    for attention in (scaled_dot_product_attention, blockwise_attention):
        with pytest.raises(
            ValueError, match=r"^query, key and value must lead to numbers that float32 can"
        ):
            attention(
                np.float32([[1e30]]),
                np.float32([[1e30], [-1e30]]),
                np.float32([[1], [0]]),
                scale=scaling.soft_cap(2),
            )


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("scale", [1e300, 1.0])
def test_scores_beyond_the_range_are_refused_as_in_dense_attention(scale):
    q, k = np.full((3, 2), 1e160), np.full((4, 2), 1e160)
    q[0], k[0] = 1, 1  # not in the first tile
    calls_of = (scaled_dot_product_attention, blockwise_attention)
    messages = set()
    for attention in calls_of:
        with pytest.raises(ValueError, match=r"numbers that float64 can hold; got") as caught:
            attention(q, k, np.ones((4, 1)), scale=scale)
        messages.add(str(caught.value))
    assert len(messages) == 1
    # large vectors whose scores stay in range are served
    fine = blockwise_attention(np.full((1, 2), 1e200), np.full((2, 2), 1e-190), [[1.0], [3.0]])
    assert fine == pytest.approx(2)


# --- tiles ----------------------------------------------------------------------------------------


def call_of(n_heads, n_queries, n_keys):
    arrays = (np.ones((n_heads, n, 2), np.float32) for n in (n_queries, n_keys, n_keys))
    return check_inputs(*arrays, None, False, None)


@pytest.mark.parametrize(
    ("sizes", "n_threads", "heads", "rows", "used"),
    [
        # heads, queries, keys -> heads and queries of the first tile of 10 queries, and threads
        ((1, 100, 100), 1, 1, 10, 1),
        ((1, 9, 100), 1, 1, 9, 1),
        ((1, 9, 100), 2, 1, 5, 2),
        ((3, 4, 100), 2, 1, 4, 2),
        ((7, 5, 4), 1, 2, 5, 1),
        ((7, 11, 1), 1, 1, 10, 1),
        ((2, 1, 1), 3, 1, 1, 2),  # no more threads than tiles
        ((2, 6, 3), 4, 1, 3, 4),
        ((200, 1, 1), 1, 10, 1, 1),
    ],
    ids=str,
)
def test_tiles(monkeypatch, sizes, n_threads, heads, rows, used):
    use(monkeypatch, 10, 10)
    monkeypatch.setattr(blockwise, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(blockwise, "n_threads", lambda: n_threads)
    tiles, threads = blockwise._tiles(call_of(*sizes))
    assert threads == used
    assert tiles[0] == (slice(0, heads), slice(0, min(rows, sizes[1])))
    times = np.zeros(sizes[:2], int)
    for tile in tiles:
        times[tile] += 1
    assert (times == 1).all(), "every query of every head is in exactly one tile"


def test_no_tile_where_there_is_no_query():
    assert blockwise._tiles(call_of(3, 0, 5))[0] == []
    assert blockwise._tiles(call_of(0, 4, 5))[0] == []


def test_small_calls_are_not_shared_out(monkeypatch):
    monkeypatch.setattr(blockwise, "n_threads", lambda: 5)
    assert blockwise._tiles(call_of(2, 256, 511))[1] == 1
    assert blockwise._tiles(call_of(2, 256, 512))[1] == 5


def test_keys_are_cut_and_later_ones_left_out(monkeypatch):
    use(monkeypatch, 10, 10)

    def bounds(call, *rows):
        tiles = blockwise._key_tiles(call, (slice(0, 1), slice(*rows)))
        return [(keys.start, keys.stop) for heads, keys in tiles if heads == slice(0, 1)]

    call = call_of(1, 30, 25)
    causal = call._replace(is_causal=True)
    assert bounds(call, 0, 5) == [(0, 10), (10, 20), (20, 25)]
    assert bounds(causal, 5, 10) == [(0, 10)]
    assert bounds(causal, 5, 11) == [(0, 10), (10, 11)]
    assert bounds(causal, 20, 30)[-1] == (20, 25)


def test_lengths_and_room():
    assert blockwise._longest(np.array([[[0.3, 0.4]], [[0.0, 0.1]]])) == pytest.approx(0.5)
    assert blockwise._longest(np.zeros((0, 2))) == 0
    with np.errstate(over="ignore"):
        assert blockwise._longest(np.full((1, 2), 1e30, np.float32)) == np.inf
    most = math.log(np.finfo(float).max)
    for value, largest in (([0.25, -0.5], 1), ([2, -8], 8), ([8, -2], 8)):
        room = blockwise._headroom(np.array(value, float)[:, None])
        assert room == pytest.approx(most - math.log(2) - math.log(largest) - 1, abs=1e-12)


def test_scores_are_served_up_to_the_end_of_the_range():
    q, k = np.full((2, 1), 3e38, np.float32), np.array([[1.0], [-1.0]], np.float32)
    assert (blockwise_attention(q, k, [[1.0], [2.0]], scale=1) == 1).all()


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(), (5,)])
def test_the_number_of_threads_does_not_matter(lead, threads):
    rng = np.random.default_rng(7)
    arrays = draw_inputs(rng, lead=lead, n_q=1100, n_k=1300, d_k=4)
    cotangent = upstream(arrays, rng)
    options = {"is_causal": True, "scale": 2.0}
    several = blockwise_attention_vjp(*arrays, cotangent, **options)
    output = blockwise_attention(*arrays, **options)
    wanted = attention_vjp(*arrays, cotangent, **options)
    assert_gradients(several, wanted, rtol=1e-9, atol=1e-10)
    assert_allclose(
        output, scaled_dot_product_attention(*arrays, **options), rtol=1e-11, atol=1e-13
    )
    assert_array_equal(blockwise_attention(*arrays, **options), output)
    assert threads == blockwise._tiles(check_inputs(*arrays, None, False, None))[1]


def test_an_error_in_a_thread_is_raised_and_the_next_call_works(threads):
    q, k = np.ones((1400, 2)), np.full((3, 2), 1e200)
    q[-1] = 1e200  # the last tile's
    blas = [library.num_threads for library in _threads._blas().lib_controllers]
    for _ in range(threads):
        with pytest.raises(ValueError, match="must lead to numbers that float64 can hold"):
            blockwise_attention(q, k, np.ones((3, 1)))
    assert blas == [library.num_threads for library in _threads._blas().lib_controllers]
    assert (blockwise_attention(q[:-1], k, np.ones((3, 1))) == 1).all()


AFTER_FORK = """
import os, signal
import numpy as np
from attnlib import blockwise, blockwise_attention
blockwise.n_threads = lambda: 2
ones = np.ones((1400, 2))
blockwise_attention(ones, ones, ones)
child = os.fork()
if child == 0:
    signal.alarm(60)
    blockwise_attention(ones, ones, ones)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_starts_threads_of_its_own():
    if hasattr(os, "fork"):
        subprocess.run([sys.executable, "-c", AFTER_FORK], check=True, cwd=ROOT)


def test_threads_are_as_many_as_the_products_use(monkeypatch):
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        assert _threads.n_threads() == 1
    monkeypatch.setattr(_threads, "_blas", lambda: None)
    assert _threads.n_threads() == 1  # where nobody can tell
    with _threads.on_one_thread():
        pass
    assert _threads.share_out(list, [1, 2, 3], 2) == [[1, 3], [2]]


def test_work_is_shared_out():
    assert _threads.share_out(list, [1, 2, 3], 1) == [[1, 2, 3]]
    assert _threads.share_out(list, [1, 2, 3], 2) == [[1, 3], [2]]
    assert _threads.share_out(list, [], 1) == [[]]


def test_overlapping_calls_leave_the_products_as_they_were():
    """The first to come limits them, the last to go lifts the limit; they may go in any order."""
    before = _threads.n_threads()
    first, second = _threads.on_one_thread(), _threads.on_one_thread()
    first.__enter__()
    assert _threads.n_threads() == before
    second.__enter__()
    libraries = _threads._blas().lib_controllers
    first.__exit__(None, None, None)
    assert {library.num_threads for library in libraries} == {1}
    assert _threads.n_threads() == before
    second.__exit__(None, None, None)
    assert max(library.num_threads for library in libraries) == before


def test_an_error_waits_for_the_other_threads():
    done = []

    def work(items):
        if items[0] == 0:
            time.sleep(0.1)
            raise KeyError("here")
        time.sleep(0.2)
        done.append(items)

    with pytest.raises(KeyError, match="here"):
        _threads.share_out(work, [0, 1], 2)
    assert done == [[1]]


# --- memory --------------------------------------------------------------------------------------


@pytest.mark.not_for_mutants
@pytest.mark.parametrize("scale", [None, 1.0])
def test_memory_beyond_the_output_does_not_grow_with_the_number_of_keys(scale):
    rng = np.random.default_rng(8)
    arrays = draw_inputs(rng, n_q=6000, n_k=6000, d_k=64, d_v=64, dtype=np.float32)
    tracemalloc.start()
    output = blockwise_attention(*arrays, scale=scale)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert output.nbytes == 6000 * 64 * 4
    assert peak < output.nbytes + 4e6  # the weights would take 144 MB
