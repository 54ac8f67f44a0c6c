"""gradients.py: what reaches queries and keys, and the numbers it is summed up by."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from attnlib import (
    GradientStatistics,
    gradient_statistics,
    gradients,
    meaningful_keys,
    sample_key_gradients,
    sample_layer_key_gradients,
    sample_query_gradients,
    sorted_shares,
)

LENGTHS = [3.0, 0.0, 1.0, 7.0, 4.0]


def test_statistics_by_hand():
    # 15/5, √(75/5), and the third, the last and a point between the second and third of
    # 0, 1, 3, 4, 7
    summary = gradient_statistics(LENGTHS, [0.5, 1, 0.375])
    assert isinstance(summary, GradientStatistics)
    assert summary.mean == pytest.approx(3, rel=1e-15)
    assert summary.rms == pytest.approx(math.sqrt(15), rel=1e-15)
    assert summary.quantiles.tolist() == [3.0, 7.0, 2.0]


def test_the_quantiles_asked_for_by_default_are_those_of_the_chapter():
    lengths = np.arange(21.0)[::-1]
    assert_allclose(gradient_statistics(lengths).quantiles, [1, 5, 10, 15, 19])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_statistics_along_each_axis(axis):
    lengths = np.random.default_rng(1).exponential(size=(3, 4, 5))
    before = lengths.copy()
    summary = gradient_statistics(lengths, [0.1, 0.9], axis)
    rest = np.moveaxis(lengths, axis, -1)
    for place in np.ndindex(rest.shape[:-1]):
        one = [float(length) for length in rest[place]]
        assert summary.mean[place] == pytest.approx(math.fsum(one) / len(one), rel=1e-14)
        squares = math.fsum(length**2 for length in one)
        assert summary.rms[place] == pytest.approx(math.sqrt(squares / len(one)), rel=1e-14)
        # 10 % of the way from the first to the last of the sorted lengths
        index, part = divmod(0.1 * (len(one) - 1), 1)
        low, high = sorted(one)[int(index) : int(index) + 2]
        assert summary.quantiles[0][place] == pytest.approx(low + part * (high - low), rel=1e-12)
    assert summary.mean.shape == summary.rms.shape == rest.shape[:-1]
    assert summary.quantiles.shape == (2, *rest.shape[:-1])
    assert_array_equal(lengths, before)
    last = gradient_statistics(lengths, [0.1, 0.9])
    if axis == -1:
        assert_array_equal(last.rms, summary.rms)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1.5e308])
def test_statistics_neither_underflow_nor_overflow(size):
    summary = gradient_statistics([size, size, 0.0, 0.0])
    assert summary.mean == pytest.approx(size / 2, rel=1e-14, abs=0)
    assert summary.rms == pytest.approx(size / math.sqrt(2), rel=1e-14, abs=0)
    assert_allclose(sorted_shares([0.0, size, size]), [0.5, 0.5, 0], rtol=1e-15)


def test_statistics_of_nothing_but_zeros():
    summary = gradient_statistics(np.zeros((2, 3)))
    assert not np.any(summary.mean)
    assert not np.any(summary.rms)
    assert not np.any(summary.quantiles)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floating_types_are_kept(dtype):
    lengths = np.array([LENGTHS, LENGTHS], dtype)
    for summary in (gradient_statistics(lengths), gradient_statistics(lengths[0], [0.5])):
        assert {np.asarray(part).dtype for part in summary} == {np.dtype(dtype)}
    assert sorted_shares(lengths).dtype == dtype


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=5),
        elements=st.floats(0, 1e3, allow_subnormal=False),
    ),
    st.data(),
)
def test_statistics_keep_their_order(lengths, data):
    axis = data.draw(st.integers(-lengths.ndim, lengths.ndim - 1))
    mean, rms, quantiles = gradient_statistics(lengths, [0, 0.3, 1], axis)
    slack = 1 + 1e-12
    assert np.all(quantiles[0] <= mean * slack)
    assert np.all(mean <= rms * slack)
    assert np.all(rms <= quantiles[2] * slack)
    assert_array_equal(quantiles[2], lengths.max(axis))
    if (lengths.max(axis) > 0).all():
        shares = sorted_shares(lengths, axis)
        assert_allclose(shares.sum(axis), 1, rtol=1e-14)
        assert (np.diff(shares, axis=axis) <= 0).all()
        back = shares * lengths.sum(axis, keepdims=True)
        assert_allclose(np.sort(back, axis), np.sort(lengths, axis), rtol=1e-12)


def test_shares_by_hand():
    assert sorted_shares(LENGTHS).tolist() == pytest.approx([7 / 15, 4 / 15, 0.2, 1 / 15, 0])
    columns = sorted_shares(np.array([[1.0, 9.0], [3.0, 1.0]]), axis=0)
    assert_allclose(columns, [[0.75, 0.9], [0.25, 0.1]])
    rows = sorted_shares(np.array([[1.0, 4.0], [3.0, 1.0]]))
    assert_allclose(rows, [[0.8, 0.2], [0.75, 0.25]])


def test_meaningful_keys_by_counting():
    # at n = 4 and the default share a weight counts from p(1-p) = 0.025, that is p = 0.0257
    rows = np.array([[0.98, 0.02, 0, 0], [0.25] * 4, [0.974, 0.026, 0, 0]])
    for share in (0.01, 0.1, 1 / 3, 0.99):
        counted = [sum(p * (1 - p) > share / 4 for p in map(float, row)) / 4 for row in rows]
        assert meaningful_keys(rows, share=share).tolist() == counted
    assert meaningful_keys(rows).tolist() == meaningful_keys(rows, share=0.1).tolist()
    assert meaningful_keys(rows[None, :, :]).shape == (1, 3)
    # exactly at the threshold is not above it: p(1-p) = 1/4 = share/n
    assert meaningful_keys(np.array([0.5, 0.5]), share=0.5) == 0


class Replay:
    """Hands out stored draws in place of a generator."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def standard_normal(self, shape):
        draw = self.draws.pop(0)
        assert draw.shape == shape
        return draw


def test_the_brute_force_gradients_are_gradients():
    """The oracles of the samplers, checked by differences of the loss itself."""
    d_k, n_keys, n_queries, factor, step = 3, 5, 2, 0.7, 1e-6
    rng = np.random.default_rng(10)
    q, keys = rng.standard_normal((n_queries, d_k)), rng.standard_normal((n_keys, d_k))
    u = rng.standard_normal((n_queries, n_keys))
    loss = lambda q, keys: np.sum(u * special.softmax(factor * q @ keys.T, axis=-1))  # noqa: E731
    nudges = step * np.eye(n_keys * d_k).reshape(-1, n_keys, d_k)
    slopes = [(loss(q, keys + e) - loss(q, keys - e)) / (2 * step) for e in nudges]
    lengths = oracles.layer_key_gradients(
        d_k, n_keys, n_queries, 1, factor, Replay(q[None], keys[None], u[None])
    )
    assert lengths.shape == (1, n_keys)
    assert lengths[0] == pytest.approx(
        np.linalg.norm(np.reshape(slopes, (n_keys, d_k)), axis=-1), rel=1e-7
    )
    u = u[:1]
    slopes = [
        (loss(q[0] + e, keys) - loss(q[0] - e, keys)) / (2 * step) for e in step * np.eye(d_k)
    ]
    length = oracles.query_gradients(d_k, n_keys, 1, factor, Replay(q[:1], keys[None], u))
    assert length[0] == pytest.approx(np.linalg.norm(slopes), rel=1e-7)


@pytest.fixture
def two_blocks(monkeypatch):
    """Let the samplers work on two rows first and then on the rest, as if memory were small."""

    def two(rows: int, *_: int) -> list[slice]:
        return [slice(0, 2), slice(2, rows)][: 1 + (rows > 2)]

    monkeypatch.setattr(gradients, "_row_blocks", two)


@pytest.mark.usefixtures("two_blocks")
@pytest.mark.parametrize("scale", [None, 1.0, 0.2, 0])
@pytest.mark.parametrize(("d_k", "n_keys"), [(1, 1), (1, 2), (16, 3), (64, 50)])
def test_key_gradients_are_those_of_the_rows_drawn(d_k, n_keys, scale):
    n_rows = 5
    lengths = sample_key_gradients(d_k, n_keys, n_rows, scale=scale, rng=np.random.default_rng(7))
    assert lengths.shape == (n_rows, n_keys)
    rng = np.random.default_rng(7)
    factor = d_k**-0.5 if scale is None else scale
    for block in (slice(0, 2), slice(2, n_rows)):
        count = len(range(n_rows)[block])
        # any query of that length will do, and any keys with those components along it
        q = np.zeros((count, 1, d_k))
        q[:, 0, :1] = np.sqrt(rng.chisquare(d_k, (count, 1)))
        keys = np.zeros((count, n_keys, d_k))
        keys[..., 0] = rng.standard_normal((count, n_keys))
        u = rng.standard_normal((count, n_keys))
        wanted = oracles.layer_key_gradients(
            d_k, n_keys, 1, count, factor, Replay(q, keys, u[:, None])
        )
        assert_allclose(lengths[block], wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.usefixtures("two_blocks")
@pytest.mark.parametrize("scale", [None, 1.0, 0.2, 0])
@pytest.mark.parametrize(("d_k", "n_keys"), [(1, 1), (1, 2), (16, 3), (64, 50)])
def test_layer_gradients_are_those_of_the_layer_drawn(d_k, n_keys, scale):
    n_queries, n_layers = 7, 3
    lengths = sample_layer_key_gradients(
        d_k, n_keys, n_queries, n_layers, scale=scale, rng=np.random.default_rng(8)
    )
    assert lengths.shape == (n_layers, n_keys)
    rng = np.random.default_rng(8)
    factor = d_k**-0.5 if scale is None else scale
    for layer in range(n_layers):
        keys = rng.standard_normal((n_keys, d_k))
        parts = [
            (rng.standard_normal((count, d_k)), rng.standard_normal((count, n_keys)))
            for count in (2, n_queries - 2)
        ]
        q, u = map(np.concatenate, zip(*parts, strict=True))
        wanted = oracles.layer_key_gradients(
            d_k, n_keys, n_queries, 1, factor, Replay(q[None], keys[None], u[None])
        )
        assert_allclose(lengths[layer], wanted[0], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("scale", [0.5, 3.0, 40.0])
def test_two_keys_keep_their_digits_however_saturated(scale):
    """For two keys |w| = p(1-p)|u_1 - u_2|, and p is the logistic function of one difference."""
    d_k, n_rows = 8, 200
    draws = np.random.default_rng(9)
    norm = np.sqrt(draws.chisquare(d_k, (n_rows, 1)))[:, 0]
    a, b = draws.standard_normal((n_rows, 2)).T
    u, v = draws.standard_normal((n_rows, 2)).T
    across = draws.chisquare(d_k - 1, n_rows)
    gap = scale * norm * (a - b)
    size = scale * special.expit(gap) * special.expit(-gap) * np.abs(u - v)
    sampled = {"scale": scale, "rng": np.random.default_rng(9)}
    assert_allclose(
        sample_query_gradients(d_k, 2, n_rows, **sampled),
        size * np.sqrt((a - b) ** 2 + 2 * across),
        rtol=1e-10 if scale < 40 else 1e-9,
        atol=1e-150,  # below, squares underflow
    )
    sampled["rng"] = np.random.default_rng(9)
    both = sample_key_gradients(d_k, 2, n_rows, **sampled)
    assert_allclose(both[:, 0], size * norm, rtol=1e-9, atol=1e-300)
    assert_allclose(both[:, 1], size * norm, rtol=1e-9, atol=1e-300)


def test_rows_are_drawn_in_blocks_and_all_are_filled():
    n_keys = 2**18  # so that five rows need two blocks
    norms = sample_query_gradients(8, n_keys, 5, rng=np.random.default_rng(8))
    lengths = sample_key_gradients(8, n_keys, 5, rng=np.random.default_rng(8))
    assert norms.shape == (5,)
    assert lengths.shape == (5, n_keys)
    assert len(set(norms.tolist())) == len(set(lengths[:, 3].tolist())) == 5
    assert (norms > 0).all()
    assert (norms < 1).all()
    assert (lengths > 0).all()
    assert (lengths < 1).all()


def test_a_row_of_one_key_has_no_gradient():
    rng = np.random.default_rng(9)
    for sampler, sizes in (
        (sample_query_gradients, (5,)),
        (sample_key_gradients, (5,)),
        (sample_layer_key_gradients, (5, 2)),
    ):
        assert not sampler(8, 1, *sizes, rng=rng).any()
        assert not sampler(8, 4, *sizes, scale=0, rng=rng).any()
        assert sampler(8, 4, *sizes, rng=rng).all()


def test_one_query_starves_most_keys_and_a_layer_of_queries_does_not():
    """The two facts of the chapter that are easily taken for one another, far from their bounds."""
    rng = np.random.default_rng(11)
    one = [np.median(sample_key_gradients(64, 256, 40, scale=s, rng=rng)) for s in (None, 1.0)]
    assert one[1] < 1e-3 * one[0]
    all_queries = [
        np.median(sample_layer_key_gradients(64, 256, 256, 1, scale=s, rng=rng)) for s in (None, 1)
    ]
    assert all_queries[1] > 5 * all_queries[0]
