"""saturation.py: thresholds, bounds and what is measured on rows of weights."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special, stats

from attnlib import (
    RowStatistics,
    concentration_bound,
    expected_maximum,
    freezing_std,
    freezing_width,
    sample_row_statistics,
    sample_score_rows,
)
from attnlib.saturation import _row_blocks


@pytest.mark.parametrize("n", [1, 2, 3, 16, 1024, 10**30])
def test_freezing_thresholds(n):
    # exp(σ_c²/2) = n: the defining property, not the formula
    assert math.exp(freezing_std(n) ** 2 / 2) == pytest.approx(n, rel=1e-13)
    assert math.exp(freezing_width(n) / 2) == pytest.approx(n, rel=1e-13)
    assert isinstance(freezing_std(n), float)
    assert isinstance(freezing_width(n), float)


CLOSED_FORMS = {
    1: 0.0,
    2: 1 / math.sqrt(math.pi),
    3: 3 / (2 * math.sqrt(math.pi)),
    4: 3 / math.sqrt(math.pi) * (0.5 + math.asin(1 / 3) / math.pi),
    5: 5 / math.sqrt(math.pi) * (0.25 + 1.5 * math.asin(1 / 3) / math.pi),
}


@pytest.mark.parametrize("n", CLOSED_FORMS)
def test_expected_maximum_of_few_numbers(n):
    assert expected_maximum(n) == pytest.approx(CLOSED_FORMS[n], rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("n", [6, 16, 128, 1024, 10**4, 10**6, 10**9])
def test_expected_maximum_by_another_integral(n):
    assert expected_maximum(n) == pytest.approx(oracles.expected_maximum_digits(n), rel=1e-9)


def test_expected_maximum_of_astronomically_many_numbers():
    # Fisher and Tippett: the maximum is nearly Gumbel about the quantile 1 - 1/n.
    n = 10**100
    place = -special.ndtri_exp(-math.log(n))
    gumbel = place + np.euler_gamma / place
    assert expected_maximum(n) == pytest.approx(gumbel, abs=2e-3)
    assert expected_maximum(n) < freezing_std(n)


@given(st.integers(2, 10**6))
def test_expected_maximum_rises_and_stays_below_the_threshold(n):
    assert expected_maximum(n - 1) < expected_maximum(n) < freezing_std(n)


@pytest.mark.parametrize(("std", "n"), [(8.0, 1024), (3.0, 128), (0.1, 5), (7, 2), (2.5, 1)])
def test_concentration_bound(std, n):
    bound = concentration_bound(std, n)
    assert bound == pytest.approx(max(0.0, 1 - oracles.expected_maximum_digits(n) / std), rel=1e-9)
    assert 0 <= bound <= 1
    assert isinstance(bound, float)


def test_concentration_bound_is_kept_by_two_keys():
    """For n = 2 the expectation is one integral over the difference of the logits."""
    for std in (0.5, 2.0, 5.0, 20.0):
        squares = stats.norm.expect(
            lambda x, std=std: (
                special.expit(math.sqrt(2) * std * x) ** 2
                + special.expit(-math.sqrt(2) * std * x) ** 2
            )
        )
        assert 1 - expected_maximum(2) / std < squares < 1
        assert concentration_bound(std, 2) < squares


@pytest.mark.parametrize("scale", [None, 1.0, 0.2, 0])
@pytest.mark.parametrize(("d_k", "n_keys"), [(4, 1), (16, 3), (64, 50)])
def test_row_statistics_are_those_of_the_rows_drawn(d_k, n_keys, scale):
    measured = sample_row_statistics(d_k, n_keys, 40, scale=scale, rng=np.random.default_rng(7))
    assert isinstance(measured, RowStatistics)
    rows = sample_score_rows(d_k, n_keys, 40, rng=np.random.default_rng(7))
    factor = d_k**-0.5 if scale is None else scale
    p = special.softmax(factor * rows, axis=-1)
    h = stats.entropy(p, axis=-1)
    jacobians = p[:, :, None] * (np.eye(n_keys) - p[:, None, :])
    assert_allclose(measured.max_weight, p.max(-1), rtol=1e-12)
    assert_allclose(measured.entropy, h, rtol=1e-10, atol=1e-13)
    assert_allclose(measured.effective_positions, np.exp(h), rtol=1e-12)
    assert_allclose(
        measured.jacobian_norm_squared, (jacobians**2).sum((1, 2)), rtol=1e-9, atol=1e-25
    )


@pytest.mark.parametrize(("n_rows", "n_keys"), [(5, 2**18), (3, 2**20 + 1), (7, 5), (1, 2**21)])
def test_blocks_cover_the_rows_and_are_as_large_as_memory_allows(n_rows, n_keys):
    blocks = list(_row_blocks(n_rows, n_keys))
    covered = [row for block in blocks for row in range(n_rows)[block]]
    assert covered == list(range(n_rows))
    for block in blocks:
        rows = block.stop - block.start
        assert rows == 1 or rows * n_keys <= 2**20
        assert block is blocks[-1] or (rows + 1) * n_keys > 2**20


@pytest.mark.parametrize(("n_rows", "n_keys"), [(5, 2**18), (19, 2**16)])
def test_rows_are_drawn_in_blocks_and_all_are_filled(n_rows, n_keys):
    # two blocks each; the rows of a block are measured one at a time, or two
    rng, same = np.random.default_rng(8), np.random.default_rng(8)
    measured = sample_row_statistics(8, n_keys, n_rows, rng=rng)
    assert all(column.shape == (n_rows,) for column in measured)
    assert len(set(measured.max_weight.tolist())) == n_rows
    assert (measured.entropy > 0.5 * math.log(n_keys)).all()
    for block in _row_blocks(n_rows, n_keys):
        sample_score_rows(8, n_keys, block.stop - block.start, rng=same)
    assert rng.bit_generator.state == same.bit_generator.state  # and no row too many
