"""The Python side of the interactive figures: their state, their numbers and their markup."""

from __future__ import annotations

import itertools
import json
import re
from fractions import Fraction

import numpy as np
import pytest
import traitlets
from scipy import stats

from attnbook import figures
from attnbook.divisor import subtract_or_divide
from attnbook.drawing import draws
from attnbook.drawing.base import ROOMS, LiveFigure, shared_source
from attnbook.gradients import jacobian
from attnbook.saturation import drag_scores
from attnlib import (
    jacobian_norm_squared,
    softmax,
    softmax_jacobian,
)

pytestmark = pytest.mark.not_for_mutants

# Those that draw a picture of what they compute; what shows data of models has tests of its own.
FIGURES = [
    kind
    for kind in (getattr(figures, name) for name in figures.__all__)
    if kind.picture is not LiveFigure.picture and kind is not figures.ModelsField
]
LOGITS = ("s1", "s2", "s3", "s4")


@pytest.mark.parametrize("kind", FIGURES)
class TestEveryFigure:
    def test_its_state_can_be_read_and_repeated(self, kind):
        figure = kind()
        again = eval(repr(figure), {kind.__name__: kind})  # noqa: S307
        assert again.values() == figure.values()
        assert set(kind.state) == set(figure.values())

    def test_a_page_gets_state_and_markup_without_an_address(self, kind):
        data, _ = kind()._repr_mimebundle_()
        assert data["text/plain"] == repr(kind())
        found = re.search(r'data-state="([^"]*)"', data["text/html"])[1]
        assert json.loads(found.replace("&quot;", '"')) == kind().values()
        assert data["text/html"] == kind()._repr_mimebundle_()[0]["text/html"]
        assert "0x" not in data["text/html"]

    def test_words_and_picture_name_what_is_shown(self, kind):
        figure = kind()
        assert figure.words() in figure.picture().replace("&#x27;", "'")
        assert figure.words() in figure.still

    def test_a_state_that_does_not_exist_is_refused(self, kind):
        for name in kind.state:
            with pytest.raises(traitlets.TraitError, match=name):
                kind(**{name: "nonsense"})


def test_modules_share_only_what_one_of_them_uses():
    shared = shared_source()
    named = re.findall(r"^(?:const|function) (\w+)", shared, re.MULTILINE)
    sources = shared + "".join(path.read_text("utf-8") for path in ROOMS.glob("*/[a-z]*.js"))
    assert len(named) > 20
    assert [name for name in named if len(re.findall(rf"\b{name}\b", sources)) == 1] == []


class TestDraws:
    def test_they_are_uniform_and_normal(self):
        """Fixed sequences: the probabilities say how unusual these are, once and for all."""
        for seed in (1, 2, 77):
            uniform = draws.uniforms(seed, 0, 20_000)
            assert stats.kstest(uniform, "uniform").pvalue > 1e-3
            normal = draws.normals(seed, 1, 20_000)
            assert stats.kstest(normal, "norm").pvalue > 1e-3
            assert abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < 0.03

    def test_a_longer_sequence_begins_like_a_shorter_one(self):
        assert np.array_equal(draws.normals(3, 1, 10), draws.normals(3, 1, 100)[:10])

    def test_streams_and_seeds_differ(self):
        sequences = [draws.uniforms(seed, stream, 50) for seed in (1, 2) for stream in (0, 1)]
        for place, one in enumerate(sequences):
            for other in sequences[:place]:
                assert not np.isclose(one, other).any()


class TestSubtractOrDivide:
    SETTINGS = tuple(itertools.product(subtract_or_divide.SUBTRAHENDS, subtract_or_divide.DIVISORS))

    def test_a_subtraction_changes_no_weight_and_a_division_does(self):
        for subtracted, divisor in self.SETTINGS:
            figure = figures.SubtractOrDivide(subtracted=subtracted, divisor=divisor)
            terms = np.exp([-3 / divisor, -1 / divisor, 0])
            np.testing.assert_allclose(figure.weights, terms / terms.sum(), rtol=1e-12)

    def test_a_division_changes_no_ratio_and_a_subtraction_does(self):
        """The ratio is 1 + 2/(100 - a): as printed, against exact fractions."""
        printed = {subtracted: set() for subtracted in subtract_or_divide.SUBTRAHENDS}
        for subtracted, divisor in self.SETTINGS:
            figure = figures.SubtractOrDivide(subtracted=subtracted, divisor=divisor)
            words = figure.words()
            found = re.match(r"Second over first: (?:none|(?P<ratio>−?[\d.]+))(.*)\. T", words)
            assert f" Third key's weight: {figure.weights[2]:.3f}" in words
            if figure.moved:
                assert found[2] == (", was 1.020" if subtracted else ", as before")
                assert words.endswith(", was 0.705." if divisor > 1 else ", as before.")
            named = re.findall(r">(\d\.\d+)</span>", figure.names())
            assert named == [f"{weight:.3f}" for weight in figure.weights]
            ratio = found["ratio"] and found["ratio"].replace("−", "-")
            if subtracted == 100:
                assert ratio is None
            else:
                exact = 1 + Fraction(2, 100 - subtracted)
                assert abs(Fraction(ratio) - exact) <= Fraction(1, 2000)
            printed[subtracted].add(ratio)
        assert all(len(ratios) == 1 for ratios in printed.values())
        assert len(set.union(*printed.values())) == len(printed)

    def test_all_it_shows_lies_within_the_picture(self):
        for subtracted, divisor in self.SETTINGS:
            figure = figures.SubtractOrDivide(subtracted=subtracted, divisor=divisor)
            z = figure.treated
            for values, ends in (
                (z, subtract_or_divide.PLACES),
                (z - z.max(), subtract_or_divide.DISTANCES),
            ):
                assert ends[0] < values.min()
                assert values.max() < ends[1]
                drawn = re.findall(r"M([\d.]+) \d+h0", figure.dots(values, ends))
                np.testing.assert_allclose(
                    np.array(drawn, float) / subtract_or_divide.WIDE * np.ptp(ends) + ends[0],
                    values,
                    atol=1e-3,
                )


class TestJacobianFigure:
    @pytest.mark.parametrize("logits", [(3, 1, 0, -2), (6, 5.5, -6, 0.5), (-1, -1, -1, 4)])
    @pytest.mark.parametrize("factor", [0.25, 1, 8])
    def test_the_squares_are_the_derivative_by_the_multiplied_logits(self, logits, factor):
        figure = figures.JacobianFigure(factor=factor, **dict(zip(LOGITS, logits, strict=True)))
        scores, nudges = factor * np.array(logits), 1e-5 * np.eye(4)
        measured = ((softmax(scores + nudges) - softmax(scores - nudges)) / 2e-5).T
        np.testing.assert_allclose(figure.jacobian, measured, atol=1e-9)
        np.testing.assert_allclose(figure.reaction, jacobian_norm_squared(softmax(scores)))
        rising, falling = figure.jacobian.diagonal(), figure.jacobian[~np.eye(4, dtype=bool)]
        np.testing.assert_allclose(areas(figure, rising=True), rising, atol=1e-3)
        np.testing.assert_allclose(-areas(figure, rising=False)[::2], falling, atol=1e-3)

    def test_two_equal_weights_react_more_than_four_and_one_alone_not_at_all(self):
        rows = {"four": (0, 0, 0, 0), "two": (6, 6, -6, -6), "one": (6, -6, -6, -6)}
        four, two, one = (
            figures.JacobianFigure(factor=8, **dict(zip(LOGITS, row, strict=True))).reaction
            for row in rows.values()
        )
        assert four == jacobian.EVEN == 3 / 16
        assert two == pytest.approx(jacobian.LARGEST, abs=1e-12)
        assert one == pytest.approx(0, abs=1e-12)

    def test_no_row_of_four_reacts_more_than_the_bar_has_room_for(self):
        rows = np.random.default_rng(6).dirichlet([0.3] * 4, 20_000)
        assert jacobian_norm_squared(rows).max() <= jacobian.LARGEST
        assert abs(softmax_jacobian(rows)).max() <= jacobian.LARGEST

    def test_the_words_are_numbers_of_the_row_shown(self):
        figure = figures.JacobianFigure(s2=2.5)
        found = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", figure.words())]
        p = figure.weights
        wanted = [100 * p.max(), jacobian_norm_squared(p)]
        digits = np.array([0, 3])
        assert (abs(np.array(wanted) - found) <= 0.501 * 0.1**digits).all()


def areas(figure, *, rising):
    """Return the drawn areas as parts of the largest square, times the largest entry."""
    sides = np.array(re.findall(r"h([\d.]+)v", figure.squares(rising=rising)), float)
    return jacobian.LARGEST * (sides / (0.92 * jacobian.ROW)) ** 2


class TestDragScores:
    @pytest.mark.parametrize("divided", [False, True])
    @pytest.mark.parametrize("row", drag_scores.ROWS)
    def test_the_odds_of_two_keys_are_the_exponential_of_their_gap(self, row, divided):
        figure = figures.DragScores(divided=divided, **drag_scores.named(row))
        logits = np.array(row) / (8 if divided else 1)
        on, off = np.split(figure.weights, [len(row)])
        np.testing.assert_allclose(on, np.exp(logits) / np.exp(logits).sum())
        assert not off.any()
        heights = [float(height) for height in re.findall(r"v([\d.]+)z", figure.bars())]
        least = np.where(figure.weights > 0, 1.5, 0)
        np.testing.assert_allclose(heights, np.maximum(200 * figure.weights, least), atol=0.006)

    def test_the_words_are_numbers_of_the_row_shown(self):
        figure = figures.DragScores(divided=True, **drag_scores.named((9.2, -3.1, 8.8, -5.4, 1.2)))
        p = np.sort(softmax(np.array([9.2, -3.1, 8.8, -5.4, 1.2]) / 8))
        said = re.findall(r"\d+%|\d+\.\d+", figure.words())
        assert said == ["0.4", f"{p[-1]:.0%}", f"{p[-2]:.0%}"]

    def test_a_chosen_row_is_exact_between_two_stops(self):
        figure = figures.DragScores(**drag_scores.named((9.2, -3.1, 8.8, -5.4, 1.2)))
        names = re.findall(r'<span class="value"[^>]*>(.*?)</span>', figure.controls())
        assert names == ["9.2", "−3.1", "8.8", "−5.4", "1.2"]
        places = [int(place) for place in re.findall(r' value="(\d+)" data', figure.controls())]
        stops = zip(drag_scores.STOPS, places, strict=True)
        assert [stops[place] for stops, place in stops] == [9, -3, 9, -5, 1]

    @pytest.mark.parametrize("row", drag_scores.ROWS)
    def test_the_list_shows_which_row_it_is(self, row):
        figure = figures.DragScores(**drag_scores.named(row))
        (shown,) = re.findall(r"selected>([^<]*)<", figure.controls())
        place, scores = shown.split(": ")
        assert drag_scores.ROWS[int(place) - 1] == row
        assert scores == ", ".join(f"{score:g}".replace("-", "−") for score in row)
        figure.second += 0.5
        assert re.findall(r"selected>([^<]*)<", figure.controls()) == ["your own"]

    def test_the_leader_loses_most_of_its_lead_or_little_of_it(self):
        """The answer to what the chapter asks: nine tenths as it is, a fifth when divided."""
        for divided, share in ((False, 0.9), (True, 0.2)):
            figure = figures.DragScores(divided=divided)
            lead = figure.third - figure.second
            figure.third -= share * lead - 0.5
            assert figure.weights[1] < 0.1
            figure.third -= 1
            assert figure.weights[1] > 0.1

    @pytest.mark.parametrize(
        "state", [{"first": None}, {"second": None}, {"third": 50.1}, {"fifth": -20.5}]
    )
    def test_a_score_that_no_slider_reaches_is_refused(self, state):
        with pytest.raises(traitlets.TraitError):
            figures.DragScores(**state)
