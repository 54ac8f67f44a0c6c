"""The figure of spreading scores: the law of its draws, its picture and its words."""

import itertools
import re

import numpy as np
import oracles
import pytest
from scipy import stats

from attnbook.figures import Spread, spread
from attnlib import score_sf

pytestmark = pytest.mark.not_for_mutants

# Each check of a law would fail for one choice of draws in 10 000, all eleven for one in 900.
LEVEL = 1e-4
STATES = tuple(itertools.product(spread.WIDTHS, spread.PAIRS, (False, True)))
SAID = re.compile(
    r"(\d+) scores(?: divided by √\d+)?: variance (\S+) ± (\S+), exactly (\d+)\."
    r"(?: Farther out: \d+\.)?"
)


def many(d_k, draws=5):
    """Return the scores of some draws, 1000 pairs each."""
    return np.concatenate([Spread(d_k=d_k, draw=draw).scores for draw in range(1, draws + 1)])


def numbers(path):
    return np.array(re.findall(r"-?\d+(?:\.\d+)?", path), float)


def corners(figure):
    """Return place, in standard deviations, and height of the drawn points of the curve."""
    points = numbers(figure.curve()).reshape(-1, 2)
    across, up = points.T
    return (across / 320 - 1) * figure.end, (1 - up / 200) * spread.TOP


class TestLaw:
    @pytest.mark.parametrize("d_k", [1, 2, 4, 8, 16, 64, 512])
    def test_the_scores_have_the_exact_law(self, d_k):
        uniform = oracles.score_cdf(many(d_k), d_k)
        assert stats.kstest(uniform, "uniform", method="exact").pvalue > LEVEL

    @pytest.mark.parametrize("d_k", [1, 4, 8, 64, 512])
    def test_their_mean_square_is_the_width(self, d_k):
        """Within 4 standard errors: wrong for one choice of draws in 15 000 at each width."""
        squares = many(d_k, draws=20) ** 2
        assert abs(squares.mean() / d_k - 1) < 4 * np.sqrt((6 / d_k + 2) / 20_000)

    def test_those_of_three_components_have_it_too(self):
        scores = Spread(d_k=3, pairs=300).scores
        assert stats.kstest(score_sf(scores, 3), "uniform", method="exact").pvalue > LEVEL

    @pytest.mark.parametrize("d_k", [4, 64])
    def test_what_the_second_half_of_the_components_adds_has_the_law_of_the_first(self, d_k):
        added = many(2 * d_k) - many(d_k)
        uniform = oracles.score_cdf(added, d_k)
        assert stats.kstest(uniform, "uniform", method="exact").pvalue > LEVEL

    def test_it_is_added_independently_of_what_was_there(self):
        """Ranks of independent numbers have an exact law; SciPy's approximation is close to it."""
        before, after = many(64), many(128)
        assert stats.spearmanr(before, after - before).pvalue > LEVEL

    def test_more_pairs_come_behind_those_that_are_there(self):
        for d_k in spread.WIDTHS:
            few, all_of_them = (Spread(d_k=d_k, pairs=pairs).scores for pairs in (30, 1000))
            np.testing.assert_allclose(few, all_of_them[:30])

    def test_the_division_is_by_the_root(self):
        for d_k in spread.WIDTHS:
            raw, divided = (Spread(d_k=d_k, divided=divided).scores for divided in (False, True))
            np.testing.assert_allclose(divided * np.sqrt(d_k), raw)


class TestProducts:
    @pytest.mark.parametrize("d_k", [1, 2, 3, 4])
    def test_together_they_are_the_mean_squared_score(self, d_k):
        figure = Spread(d_k=d_k, pairs=100)
        np.testing.assert_allclose(figure.products.sum(), (figure.scores**2).mean())
        own, others = re.findall(r": (\S+?)[;.](?:\s|$)", figure.caption())
        diagonal = sum(figure.products[place, place] for place in range(d_k))
        assert abs(float(own) - diagonal) <= 0.00501
        said = float(others.replace("−", "-"))
        assert abs(said - (figure.products.sum() - diagonal)) <= 0.00501

    def test_those_on_the_diagonal_are_about_one_and_the_others_about_zero(self):
        """Within 5 standard errors, which are the roots of 8/N and of 1/N."""
        products = np.mean([Spread(draw=draw).products for draw in range(1, 11)], axis=0)
        deviations = (products - np.eye(4)) * np.sqrt(10_000)
        assert (abs(deviations) < 5 * np.where(np.eye(4), np.sqrt(8), 1)).all()

    @pytest.mark.parametrize("pairs", [10, 1000])
    @pytest.mark.parametrize("d_k", spread.WIDTHS)
    def test_the_squares_show_them_by_area_and_sign(self, d_k, pairs):
        figure = Spread(d_k=d_k, pairs=pairs)
        means = figure.products
        assert means.shape == (min(d_k, 4), min(d_k, 4))
        for positive in (True, False):
            found = re.findall(r"M(\S+) (\S+)h(\S+)v(-?[^-h]+)h", figure.squares(positive=positive))
            x, y, wide, high = np.array(found, float).reshape(-1, 4).T
            outer = high > 0
            assert outer.all() if positive else outer.sum() == (~outer).sum()
            columns, rows = (
                ((at + size / 2) // spread.CELL).astype(int)
                for at, size in ((x[outer], wide[outer]), (y[outer], high[outer]))
            )
            wanted = means[rows, columns]
            assert len(wanted) == ((means > 0) == positive).sum()
            assert ((wanted > 0) == positive).all()
            areas = spread.FULL * (wide[outer] / spread.CELL) ** 2
            np.testing.assert_allclose(areas, np.minimum(abs(wanted), spread.FULL), atol=2e-3)

    def test_a_wide_head_has_more_than_there_is_room_for(self):
        said = numbers(Spread(d_k=64).caption())
        assert said.tolist() == [16, 64**2, 64, 64 * 63]


class TestPicture:
    @pytest.mark.parametrize("divided", [False, True])
    @pytest.mark.parametrize(
        ("d_k", "density"),
        [(2, lambda z: np.exp(-abs(z)) / 2), (4, lambda z: (1 + abs(z)) * np.exp(-abs(z)) / 4)],
    )
    def test_the_curve_is_the_density_in_closed_form(self, d_k, density, divided):
        x, heights = corners(Spread(d_k=d_k, divided=divided))
        root = np.sqrt(d_k)
        np.testing.assert_allclose(heights, root * density(root * x), atol=1e-3)

    @pytest.mark.parametrize("d_k", spread.WIDTHS)
    def test_the_bars_hold_the_share_of_the_scores_that_is_drawn(self, d_k):
        figure = Spread(d_k=d_k, draw=2)
        bars = np.array(re.findall(r"v-(\S+?)h(\S+?)v", figure.bars()), float)
        x, edge = figure.scores / np.sqrt(d_k), np.floor(4 * figure.end) / 4
        counts, _ = np.histogram(x, np.arange(-edge, edge + 0.1, 0.25))
        heights = np.minimum(1, counts[counts > 0] * 4 / 1000 / spread.TOP)
        np.testing.assert_allclose(bars[:, 0] / 200, heights, atol=1e-4)
        np.testing.assert_allclose(bars[:, 1] / 320 * figure.end, 0.25, atol=2e-3 * figure.end)
        outside = (abs(x) >= edge).sum()
        assert figure.words().endswith(f" Farther out: {outside}." if outside else f"{d_k}.")

    def test_all_it_draws_lies_within_it(self):
        for d_k, pairs, divided in STATES:
            figure = Spread(d_k=d_k, pairs=pairs, divided=divided)
            starts = np.array(re.findall(r"M(\S+) 200v(-\S+?)h(\S+?)v", figure.bars()), float)
            assert (starts[:, 0] >= 0).all()
            assert (starts[:, 0] + starts[:, 2] <= 640.01).all()
            assert (-starts[:, 1] <= 200).all()
            for across, up in numbers(figure.curve()).reshape(-1, 2):
                assert 0 <= across <= 640
                assert 0 <= up <= 200

    def test_only_the_peak_of_the_narrowest_head_is_cut(self):
        peaks = {d_k: corners(Spread(d_k=d_k))[1].max() for d_k in spread.WIDTHS}
        assert [d_k for d_k, peak in peaks.items() if peak > 0.799] == [1]


class TestSurprise:
    def test_sixteen_times_the_width_is_four_times_the_spread_wherever_one_starts(self):
        """The sampled one within 5 standard errors, which are those of the two variances."""
        for d_k in (1, 2, 4, 8, 16, 32):
            narrow, wide = Spread(d_k=d_k), Spread(d_k=16 * d_k)
            (left, *_), (start, *_) = (
                numbers(re.search(r'class="even" d="([^"]*)"', figure.picture())[1])
                for figure in (narrow, wide)
            )
            assert (320 - start) / (320 - left) == pytest.approx(4, abs=0.01)
            ratio = wide.scores.std() / narrow.scores.std()
            error = 4 * np.sqrt((6 / d_k + 2 + 6 / (16 * d_k) + 2) / 1000) / 2
            assert abs(ratio - 4) < 5 * error < 2.5

    def test_divided_it_keeps_its_place(self):
        pictures = [Spread(d_k=d_k, divided=True).picture() for d_k in spread.WIDTHS]
        lines = {re.search(r'class="even" d="([^"]*)"', picture)[1] for picture in pictures}
        assert lines == {"M313.33 0V200M326.67 0V200"}


def test_the_words_are_the_numbers_shown():
    for d_k, pairs, divided in STATES:
        figure = Spread(d_k=d_k, pairs=pairs, divided=divided)
        said = SAID.fullmatch(figure.words()).groups()
        z, exact = figure.scores, 1 if divided else d_k
        mean = sum(z) / pairs
        kurtosis = 6 / d_k
        wanted = (
            pairs,
            sum((z - mean) ** 2) / (pairs - 1),
            exact * ((kurtosis + 2) / pairs) ** 0.5,
            exact,
        )
        for text, value in zip(said, wanted, strict=True):
            digits = len(text.partition(".")[2])
            assert abs(float(text) - value) <= 0.501 * 0.1**digits
        assert float(figure.edge().removeprefix("±")) == pytest.approx(exact**0.5, rel=5e-3)


def test_no_printed_error_lies_on_an_edge_of_rounding():
    """Python and JavaScript may round a tie to different sides."""
    for d_k, pairs, divided in STATES:
        exact = 1 if divided else d_k
        for error in ((exact / pairs) ** 0.5, exact * ((6 / d_k + 2) / pairs) ** 0.5):
            shifted = error * (10 if error >= 1 else 100) + 0.5
            assert abs(shifted - round(shifted)) > 1e-9
            assert abs(error - 1) > 1e-9
