"""softmax.py against SciPy, against forty digits, and against what must not change."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from attnlib import (
    effective_positions,
    entropy,
    jacobian_norm_squared,
    log_softmax,
    softmax,
    softmax_jacobian,
    softmax_vjp,
)

EPS = np.finfo(float).eps
FLOATS = (np.float16, np.float32, np.float64)


@st.composite
def logits_and_axis(draw, low=-700.0, high=700.0):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=5))
    x = draw(hnp.arrays(float, shape, elements=st.floats(low, high)))
    return x, draw(st.integers(-len(shape), len(shape) - 1))


EXTREME = [
    [0.0],
    [-745.0],
    [100, 102, 103],
    [1000, 1001, 1002.5],
    [-1000, -1001, -1002.5],
    [0.0, 36.0, -36.0],
    [1e-300, -1e-300, 0.0],
    [5e4, 5e4, 5e4 - 1],
    [0.0, 745.0],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, -8.0],
]
ROWS = [[0.3], [1.0, 1.0], [0.1, -2.0, 3.0], [-1.0, 0.5, 0.25, 2.0], [12.0, 0.0, 0.0, 11.5]]


@pytest.mark.parametrize("x", EXTREME, ids=str)
def test_softmax_to_forty_digits(x):
    truth = oracles.softmax_digits(x)
    for got, exact in zip(softmax(x), truth, strict=True):
        # a difference of scores is rounded to eps of the largest; nothing else may be lost
        allowed = EPS * (8 + 2 * max(map(abs, x)))
        assert abs(float(got) - exact) <= allowed * exact + 1e-320


@pytest.mark.parametrize("x", EXTREME, ids=str)
def test_log_softmax_to_forty_digits(x):
    truth = oracles.log_softmax_digits(x)
    for got, exact in zip(log_softmax(x), truth, strict=True):
        assert abs(float(got) - exact) <= EPS * (4 + 2 * max(map(abs, x)))


def test_softmax_where_the_range_of_floats_ends():
    assert softmax([-1.7e308, 1.7e308]).tolist() == [0.0, 1.0]
    assert log_softmax([0.0, 1e308]).tolist() == [-1e308, 0.0]
    assert softmax(np.array([-6e4, 6e4], np.float16)).tolist() == [0.0, 1.0]


def test_softmax_of_more_keys_than_float16_can_count():
    weights = softmax(np.zeros(70_000, np.float16))
    assert weights.dtype == np.float16
    assert weights[0] == np.float16(1 / 70_000)
    logarithms = log_softmax(np.zeros(70_000, np.float16))
    assert logarithms.dtype == np.float16
    assert logarithms[0] == np.float16(-np.log(70_000))


def test_softmax_defaults_to_the_last_axis():
    x = np.arange(6.0).reshape(2, 3)
    assert_allclose(softmax(x), special.softmax(x, axis=1), rtol=4 * EPS)
    assert_allclose(log_softmax(x), special.log_softmax(x, axis=1), rtol=4 * EPS)
    p = special.softmax(x, axis=1)
    assert_allclose(entropy(p), stats.entropy(p, axis=1), rtol=8 * EPS)
    assert_allclose(effective_positions(p), np.exp(stats.entropy(p, axis=1)))
    norms = [np.sum((np.diag(row) - np.outer(row, row)) ** 2) for row in p]
    assert_allclose(jacobian_norm_squared(p), norms, rtol=1e-13)
    products = [(np.diag(row) - np.outer(row, row)) @ u for row, u in zip(p, x, strict=True)]
    assert_allclose(softmax_vjp(p, x), products, atol=4 * EPS)


@given(logits_and_axis())
def test_softmax_and_its_logarithm_agree_with_scipy(case):
    x, axis = case
    before = x.copy()
    weights = softmax(x, axis)
    assert_allclose(weights, special.softmax(x, axis=axis), rtol=1e-13, atol=1e-320)
    assert_allclose(log_softmax(x, axis), special.log_softmax(x, axis=axis), rtol=1e-13, atol=1e-15)
    assert_allclose(weights.sum(axis), 1, rtol=1e-14)
    assert_array_equal(x, before)


@given(logits_and_axis(-20, 20), st.floats(-500, 500))
def test_softmax_ignores_a_shift(case, shift):
    x, axis = case
    assert_allclose(softmax(x + shift, axis), softmax(x, axis), rtol=1e-11)


@given(logits_and_axis(-20, 20), st.randoms(use_true_random=False))
def test_softmax_follows_a_permutation(case, random):
    x, axis = case
    order = list(range(x.shape[axis]))
    random.shuffle(order)
    assert_allclose(
        softmax(x.take(order, axis), axis), softmax(x, axis).take(order, axis), rtol=1e-14
    )


@given(hnp.arrays(float, st.integers(2, 6), elements=st.floats(-30, 30)))
def test_softmax_keeps_the_order_of_the_scores(x):
    assert (np.diff(softmax(x)[np.argsort(x)]) >= 0).all()


def test_a_hidden_entry_gets_no_weight():
    x = np.array([[0.0, -np.inf, 1.0], [-np.inf, -np.inf, -5.0]])
    weights = softmax(x)
    assert_array_equal(weights == 0, np.isneginf(x))
    assert_allclose(weights[0, [0, 2]], special.softmax([0.0, 1.0]), rtol=1e-15)
    assert weights[1, 2] == 1
    assert_array_equal(np.isneginf(log_softmax(x)), np.isneginf(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_floating_types_are_kept(dtype):
    x = np.array([[1, 2, 4], [0, 0, 1]], dtype)
    p = softmax(x)
    tolerance = 8 * np.finfo(dtype).eps
    for got, wanted in (
        (p, special.softmax(x.astype(float), axis=-1)),
        (log_softmax(x), special.log_softmax(x.astype(float), axis=-1)),
        (entropy(p), stats.entropy(p.astype(float), axis=-1)),
        (effective_positions(p), np.exp(stats.entropy(p.astype(float), axis=-1))),
        (softmax_jacobian(p)[0], np.diag(p[0].astype(float)) - np.outer(p[0], p[0])),
        (
            jacobian_norm_squared(p[:1]),
            [np.sum((np.diag(p[0].astype(float)) - np.outer(p[0], p[0])) ** 2)],
        ),
    ):
        assert got.dtype == dtype
        assert_allclose(got.astype(float), wanted, rtol=tolerance, atol=tolerance)
    assert softmax_vjp(p, x).dtype == dtype


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16])
def test_integers_become_float64(dtype):
    x = np.array([1, 2, 4], dtype)
    assert softmax(x).dtype == np.float64
    assert log_softmax(x).dtype == np.float64
    assert_allclose(softmax(x), special.softmax(x.astype(float)), rtol=1e-15)


@pytest.mark.parametrize("x", ROWS, ids=str)
def test_jacobian_is_the_derivative(x):
    p = softmax(x)
    assert_allclose(softmax_jacobian(p), oracles.jacobian_digits(x), rtol=1e-13, atol=4 * EPS)


def test_jacobian_of_a_saturated_row_keeps_its_digits():
    p = softmax([0.0, -30.0])
    exact = [oracles.MP.mpf(float(weight)) for weight in p]
    assert softmax_jacobian(p)[0, 0] == pytest.approx(
        float(exact[0] * (1 - exact[0])), rel=1e-14, abs=0
    )


@given(logits_and_axis(-30, 30))
def test_jacobian_by_finite_differences(case):
    x = case[0]
    jacobian = softmax_jacobian(softmax(x))
    assert jacobian.shape == (*x.shape, x.shape[-1])
    for j in range(x.shape[-1]):
        step = np.zeros(x.shape[-1])
        step[j] = 1e-5
        slope = (special.softmax(x + step, axis=-1) - special.softmax(x - step, axis=-1)) / 2e-5
        assert_allclose(jacobian[..., j], slope, atol=1e-10)
    assert_allclose(jacobian.sum(-1), 0, atol=1e-15)
    assert_array_equal(jacobian, np.swapaxes(jacobian, -1, -2))
    largest = np.linalg.eigvalsh(jacobian)[..., -1]
    assert (largest <= 0.5 + 1e-12).all()


@given(logits_and_axis(-30, 30), st.data())
def test_vjp_and_norm_are_those_of_the_matrix(case, data):
    x, axis = case
    u = data.draw(hnp.arrays(float, x.shape, elements=st.floats(-1e3, 1e3)))
    p = softmax(x, axis)
    before = p.copy(), u.copy()
    jacobian = softmax_jacobian(np.moveaxis(p, axis, -1))
    product = (jacobian @ np.moveaxis(u, axis, -1)[..., None])[..., 0]
    assert_allclose(softmax_vjp(p, u, axis), np.moveaxis(product, -1, axis), rtol=1e-9, atol=1e-12)
    assert_allclose(
        jacobian_norm_squared(p, axis), (jacobian**2).sum((-2, -1)), rtol=1e-12, atol=1e-30
    )
    assert_array_equal(p, before[0])
    assert_array_equal(u, before[1])


@pytest.mark.parametrize("gap", [1.0, 10.0, 20.0, 30.0, 36.0, 300.0])
def test_norm_of_a_saturated_row_to_forty_digits(gap):
    p = softmax([0.0, -gap, -gap - 1])
    exact = [oracles.MP.mpf(float(weight)) for weight in p]
    squared = oracles.MP.fsum(
        (exact[i] * ((i == j) - exact[j])) ** 2 for i in range(3) for j in range(3)
    )
    assert jacobian_norm_squared(p) == pytest.approx(float(squared), rel=1e-14, abs=0)


@pytest.mark.parametrize(
    "others",
    [
        [1e-12],
        [0.4e-12, 0.6e-12],
        [1e-300, 1e-200],
        [1e-17, 1e-12],
        [0.3, 0.2],
        [0.5 - 1e-12, 1e-12],
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, 1])
def test_vjp_of_a_saturated_row_to_many_digits(others, place):
    digits = oracles.many_digits(640)  # so that 1 - 1e-300 is not 1
    exact = [digits.mpf(weight) for weight in others]
    exact.insert(place, 1 - digits.fsum(exact))
    u = [3.3, 1.1, -2.0][: len(exact)]
    mean = digits.fsum(p * digits.mpf(each) for p, each in zip(exact, u, strict=True))
    wanted = [float(p * (each - mean)) for p, each in zip(exact, u, strict=True)]
    p = np.array([float(weight) for weight in exact])
    assert softmax_vjp(p, u).tolist() == pytest.approx(wanted, rel=1e-14, abs=0)
    matrix, columns = np.stack([p, p[::-1]], axis=1), np.stack([u, u[::-1]], axis=1)
    got = softmax_vjp(matrix, columns, axis=0)
    assert got[:, 0].tolist() == pytest.approx(wanted, rel=1e-14, abs=0)
    assert got[::-1, 1].tolist() == pytest.approx(wanted, rel=1e-14, abs=0)


def test_vjp_of_a_frozen_row_still_sums_to_zero():
    got = softmax_vjp(softmax([37.0, 0.0]), [3.3, 1.1])
    assert got[0] == pytest.approx(np.exp(-37) * 2.2, rel=1e-14, abs=0)
    assert got[1] == pytest.approx(-got[0], rel=1e-14, abs=0)


def test_vjp_broadcasts_its_vector():
    p = softmax(np.arange(12.0).reshape(2, 2, 3))
    u = np.array([1.0, -2.0, 5.0])
    assert_array_equal(softmax_vjp(p, u), softmax_vjp(p, np.broadcast_to(u, p.shape)))


@given(logits_and_axis(-50, 50))
def test_entropy_agrees_with_scipy_and_its_bounds(case):
    x, axis = case
    p = softmax(x, axis)
    h = entropy(p, axis)
    assert_allclose(h, stats.entropy(p, axis=axis), rtol=1e-12, atol=1e-15)
    n = x.shape[axis]
    assert (h >= 0).all()
    assert (h <= np.log(n) + 1e-14).all()
    assert_allclose(effective_positions(p, axis), np.exp(h), rtol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_the_two_ends_of_concentration(n):
    uniform, one_hot = np.full(n, 1 / n), np.eye(n)[0]
    assert entropy(uniform) == pytest.approx(np.log(n), rel=1e-13, abs=1e-15)
    assert effective_positions(uniform) == pytest.approx(n, rel=1e-12)
    assert jacobian_norm_squared(uniform) == pytest.approx((n - 1) / n**2, rel=1e-12)
    assert entropy(one_hot) == 0
    assert not np.signbit(entropy(one_hot))
    assert effective_positions(one_hot) == 1
    assert jacobian_norm_squared(one_hot) == 0


def test_reductions_of_short_formats_are_taken_in_a_wide_one():
    """Squares of long float16 rows vanish; a float32 sum of a million terms is off by a few."""
    half = softmax(np.zeros(60000, np.float16))
    expected = jacobian_norm_squared(half.astype(np.float64) / half.astype(np.float64).sum())
    assert half.dtype == jacobian_norm_squared(half).dtype == np.float16
    assert float(jacobian_norm_squared(half)) == pytest.approx(expected, rel=0.01)
    single = softmax(np.zeros(10**6, np.float32))
    assert effective_positions(single).dtype == entropy(single).dtype == np.float32
    assert abs(float(effective_positions(single)) - 10**6) < 0.1


@pytest.mark.parametrize("axis", [None, (0, 1)])
def test_axes_of_scipy_are_answered(axis):
    with pytest.raises(TypeError, match="axis must be one integer, where SciPy takes all axes"):
        softmax(np.ones((3, 2, 4)), axis=axis)
