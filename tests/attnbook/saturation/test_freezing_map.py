"""The Python side of the map of head widths and numbers of keys."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attnbook.drawing.draws import normals
from attnbook.figures import FreezingMap
from attnbook.saturation import freezing_map
from attnlib import effective_positions, freezing_width, sample_row_statistics

pytestmark = pytest.mark.not_for_mutants

WIDTHS, KEYS = freezing_map.WIDTHS, freezing_map.KEYS


@pytest.mark.parametrize("divided", [False, True])
def test_the_map_holds_what_random_rows_give(divided):
    """120 means of 200 rows each, against 10,000: 5 standard errors, wrong once in 10,000 runs."""
    rng = np.random.default_rng(31)
    scale = None if divided else 1.0
    for n_keys, means in zip(KEYS, FreezingMap(divided=divided).means, strict=True):
        for d_k, mean in zip(WIDTHS, means, strict=True):
            tops = sample_row_statistics(d_k, n_keys, 200, scale=scale, rng=rng).max_weight
            error = tops.std() * (1 / 200 + 1 / 10_000) ** 0.5
            rounding = 0.005 if mean >= 0.1 else 0.0005
            assert abs(tops.mean() - mean) < 5 * error + rounding, (d_k, n_keys)


def test_the_rows_are_the_softmax_of_products_of_queries_and_keys():
    """A plain loop over the keys of each row, from the draws alone."""
    for divided, divisor in ((False, 1), (True, 4)):
        figure = FreezingMap(d_k=16, n_keys=32, divided=divided, draw=3)
        for row, weights in enumerate(figure.weights):
            query = normals(3, 2 * row, 512)[:16]
            along = normals(3, 2 * row + 1, 4096)[:32]
            # keys whose part along the query is given; what lies across does not count
            keys = [part * query / (query @ query) ** 0.5 for part in along]
            raised = [np.exp(query @ key / divisor) for key in keys]
            expected = sorted((value / sum(raised) for value in raised), reverse=True)
            np.testing.assert_allclose(weights, expected)


def test_the_rows_have_the_law_of_random_rows():
    """The mean largest weight over 1000 rows: 5 standard errors, wrong once in a million runs."""
    tops = np.ravel([FreezingMap(d_k=16, n_keys=64, draw=d).weights[:, 0] for d in range(1, 201)])
    rows = sample_row_statistics(16, 64, 10_000, scale=1.0, rng=np.random.default_rng(32))
    error = np.hypot(tops.std() / tops.size**0.5, rows.max_weight.std() / 100)
    assert abs(tops.mean() - rows.max_weight.mean()) < 5 * error


def test_to_undo_a_doubling_of_the_width_the_keys_are_squared():
    """The answer to what the chapter asks: 8, 64 and 4096 keys, and then none on the map."""

    def fewest(d_k):
        short = [n for n in KEYS if "short of" in FreezingMap(d_k=d_k, n_keys=n).words()]
        return min(short, default=None)

    assert [fewest(d_k) for d_k in (4, 8, 16)] == [8, 8**2, (8**2) ** 2]
    assert all(fewest(d_k) is None for d_k in WIDTHS if d_k > 16)
    assert freezing_width(4096) < 32 < freezing_width(4096**2)


def test_keys_hardly_help_a_wide_head_and_the_division_does():
    narrow, wide = (
        [line[WIDTHS.index(d_k)] for line in freezing_map.NOT_DIVIDED] for d_k in (4, 64)
    )
    assert narrow[-1] < narrow[0] / 10
    assert wide[-1] > 2 / 3 * wide[0]
    for d_k in WIDTHS:
        for n_keys in KEYS:
            assert "line" not in FreezingMap(d_k=d_k, n_keys=n_keys, divided=True).words()
    assert freezing_width(2) > 1  # the mean square of σ with the division, which is all it takes


@pytest.mark.parametrize("state", [{}, {"d_k": 512, "n_keys": 4096}, {"divided": True, "draw": 7}])
class TestPicture:
    def test_squares_have_the_areas_of_the_means(self, state):
        figure = FreezingMap(**state)
        found = np.array(re.findall(r"M(\S+) (\S+)h(\S+)v\3H\1z", figure.squares()), float)
        np.testing.assert_allclose(
            found[:, 2] ** 2 / 36**2, np.ravel(figure.means), rtol=0, atol=0.0006
        )
        assert (found > 0).all()
        assert (found[:, 0] + found[:, 2] < 400).all()
        assert (found[:, 1] + found[:, 2] < 480).all()

    def test_bars_are_cut_into_the_weights(self, state):
        figure = FreezingMap(**state)
        found = re.findall(r"M(\S+) (\d+)h(\S+)v26H\1z", figure.cuts())
        left, top, long = np.array(found, float).T.reshape(3, 5, -1)
        weights = figure.weights[:, :8]
        np.testing.assert_allclose(np.diff(left), 400 * weights[:, :-1], atol=0.011)
        drawn = np.maximum(400 * weights - 4, 200 * weights)
        np.testing.assert_allclose(long, drawn, atol=0.006)
        assert (left + long <= 400).all()
        assert top[:, 0].tolist() == [7, 47, 87, 127, 167]

    def test_the_words_are_numbers_of_the_rows_shown(self, state):
        figure = FreezingMap(**state)
        start = f"Width {figure.d_k}, {figure.n_keys} keys"
        side = "beyond" if figure.d_k > 2 * np.log(figure.n_keys) else "short of"
        undivided = f"not divided: {side} the line; top key"
        start += ", divided: the top key takes" if figure.divided else f", {undivided}"
        assert figure.words() == f"{start} {figure.mean_top:g} on average."
        counts = effective_positions(figure.weights)
        positions = [f"<span>{count:.{int(count < 100)}f}</span>" for count in counts]
        assert "".join(positions) in figure.picture()


def test_the_line_passes_between_the_cells_on_its_sides():
    points = np.array(re.findall(r"([\d.]+) ([\d.]+)", freezing_map.threshold()), float)
    assert (points >= 0).all()
    assert (points <= [400, 480]).all()
    for line, n_keys in enumerate(KEYS):
        crossing = np.interp(-(480 - 40 * (line + 0.5)), -points[:, 1], points[:, 0])
        short = [d_k < freezing_width(n_keys) for d_k in WIDTHS]
        assert [40 * (column + 0.5) < crossing for column in range(10)] == short


def test_the_mark_is_on_its_cell_and_the_line_goes_with_the_division():
    picture = FreezingMap(d_k=512, n_keys=2).picture()
    assert 'transform="translate(380 460)"' in picture
    assert 'class="threshold">' in picture
    assert 'class="threshold" display="none">' in FreezingMap(divided=True).picture()
