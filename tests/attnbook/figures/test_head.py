"""The head that stays with the reader shows what NumPy and SciPy compute."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import traitlets
from scipy import special, stats

from attnbook.drawing.draws import normals
from attnbook.figures import Head, head
from attnlib import sample_row_statistics

pytestmark = pytest.mark.not_for_mutants

BAR = re.compile(r"M(\S+) (\S+?)v(\S+?)h(\S+?)v")


def drawn(figure: Head, stage: str, kind: str = "bars") -> np.ndarray:
    """Return left end, foot, height and width of each bar of a stage."""
    part = figure.picture().partition(f'<div class="stage {stage}"')[2].partition("</svg>")[0]
    outline = re.search(rf'<path class="{kind}" d="([^"]*)"', part)[1]
    bars = np.array(BAR.findall(outline), float)
    return bars * [1, 1, -1, 1]


class TestWeights:
    @pytest.mark.proof("examples")
    def test_they_have_the_law_of_random_rows(self):
        """Mean of the largest weight over many draws against the sampler: 4 standard errors."""
        tops = np.array([Head(draw=draw, n_keys=16).weights.max() for draw in range(1, 1001)])
        rows = sample_row_statistics(64, 16, 4000, scale=1.0, rng=np.random.default_rng(0))
        error = np.hypot(tops.std() / 1000**0.5, rows.max_weight.std() / 4000**0.5)
        assert abs(tops.mean() - rows.max_weight.mean()) < 4 * error

    @pytest.mark.parametrize(("d_k", "n_keys"), [(1, 2), (64, 16), (512, 1024)])
    @pytest.mark.parametrize("divided", [False, True])
    def test_they_are_the_softmax_of_the_scores(self, d_k, n_keys, divided):
        figure = Head(d_k=d_k, n_keys=n_keys, divided=divided, draw=7)
        length = np.sqrt(np.sum(normals(7, 0, d_k) ** 2))
        logits = length * normals(7, 1, n_keys) / (d_k**0.5 if divided else 1)
        np.testing.assert_allclose(figure.weights, special.softmax(logits))
        assert f"is {special.softmax(logits).max():.0%}." in figure.words()

    def test_the_bars_are_as_high_as_the_numbers(self):
        figure = Head(draw=2, divided=True)
        for stage, values, high in (
            ("scores", figure.scores / 8, head.SCORE_HIGH / 2 / head.LIMIT),
            ("weights", figure.weights, head.WEIGHT_HIGH),
        ):
            bars = drawn(figure, stage)
            np.testing.assert_allclose(bars[:, 2], high * values, atol=0.006)
            middles = bars[:, 0] + bars[:, 3] / 2
            np.testing.assert_allclose(middles, head.WIDE / 16 * (np.arange(16) + 0.5), atol=0.01)
        lines = re.findall(r'class="ghost" d="([^"]*)"', figure.picture())[-1]
        before = 1 - np.array(re.findall(r" (\S+?)h", lines), float) / head.WEIGHT_HIGH
        undivided = special.softmax(figure.scores)
        np.testing.assert_allclose(before, undivided[undivided >= head.SEEN], atol=1e-4)
        components = drawn(figure, "query", "components")[:, 2] * 6 / head.QUERY_HIGH
        np.testing.assert_allclose(components, figure.query, atol=1e-3)

    def test_what_is_cut_off_has_an_arrow_and_its_number(self):
        figure = Head(d_k=512, draw=3)
        outside = abs(figure.scores) > head.LIMIT
        assert 0 < outside.sum() < 16
        outlines = re.search(r'class="beyond" d="([^"]*)"', figure.picture())[1]
        assert outlines.count("z") == outside.sum()
        heights = drawn(figure, "scores")[:, 2]
        assert (abs(heights[outside]) == head.SCORE_HIGH / 2).all()
        assert f">{round(figure.scores.max())}<" in figure.picture()

    def test_of_many_that_are_cut_off_the_note_says_the_number(self):
        figure = Head(d_k=512, n_keys=512)
        outside = np.sum(abs(figure.scores) > head.LIMIT)
        assert f"query · key; {outside} cut<" in figure.picture()
        assert 'class="beyond" d=""' in figure.picture()

    @pytest.mark.parametrize("divided", [False, True])
    def test_numbers_are_on_the_side_of_their_bars(self, divided):
        figure = Head(d_k=128, draw=5, divided=divided)
        part = figure.picture().partition('<div class="stage scores"')[2]
        found = re.findall(r'<span class="(above|below)[^"]*" style="[^"]*top:(\S+?)%">', part)
        for (side, top), score in zip(found[:16], figure.scores, strict=True):
            assert (side == "above") == (score >= 0) == (float(top) < 50)

    def test_the_divisor_is_written_with_three_digits(self):
        for figure, text in (
            (Head(d_k=512, divided=True), "÷ √512 = 22.6; pull a dot"),
            (Head(view="divisor", power=1), "÷ 64; pull a dot"),
            (Head(view="temperature", d_k=1, temperature=0.125), "÷ 0.125·√1 = 0.125; pull a dot"),
        ):
            assert f"<span>{text}</span>" in figure.picture()

    def test_a_weight_below_one_percent_has_two_digits(self):
        figure = Head(view="temperature", n_keys=1024, temperature=8)
        top = 100 * figure.weights.max()
        assert top < 0.95
        assert f"weights is {top:.2f}%." in figure.words()
        assert f">{top:.2f}%<" in figure.picture()

    def test_a_draw_keeps_its_numbers_when_the_head_grows(self):
        small, large = (Head(d_k=d_k, n_keys=n) for d_k, n in ((8, 4), (256, 64)))
        assert np.array_equal(small.query, large.query[:8])
        ratios = large.scores[:4] / small.scores
        np.testing.assert_allclose(ratios, ratios[0])


class TestPulledScores:
    def test_they_replace_what_was_drawn_before_the_division(self):
        figure = Head(pulled={"3": 20, "16": -4.5}, divided=True)
        scores = Head().scores
        scores[[2, 15]] = 20, -4.5
        np.testing.assert_allclose(figure.weights, special.softmax(scores / 8))
        assert ", 2 pulled:" in figure.words()
        assert 'value="20" aria-label="Score of key 3" aria-valuetext="20.0"' in figure.picture()

    def test_they_count_only_while_their_key_is_there_and_has_a_grip(self):
        for n_keys in (2, 32):
            figure = Head(pulled={"3": 20}, n_keys=n_keys)
            assert np.array_equal(figure.weights, Head(n_keys=n_keys).weights)
            assert "pulled" not in figure.words()
        for n_keys in head.KEYS:
            shown = Head(n_keys=n_keys).picture().count('%"><input')
            assert shown == (n_keys if n_keys <= 16 else 0)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"17": 1}, "takes '1' to '16'"),
            ({3: 1}, "names key 3"),
            ({"3": "high"}, "not a number"),
            ({"3": True}, "not a number"),
            ({"3": 41}, "-40 to 40"),
            ({"3": float("nan")}, "-40 to 40"),
        ],
    )
    def test_others_are_refused(self, given, said):
        with pytest.raises(traitlets.TraitError, match=said):
            Head(pulled=given)


class TestSum:
    @pytest.mark.parametrize("d_k", [1, 4, 64, 512])
    def test_the_products_add_up_to_the_scores_of_the_other_views(self, d_k):
        figure = Head(view="sum", d_k=d_k, draw=5)
        products = figure.query * figure.key_vectors
        np.testing.assert_allclose(products.sum(axis=1), Head(d_k=d_k, draw=5).scores, rtol=1e-9)

    @pytest.mark.proof("examples")
    def test_the_keys_are_normal_and_do_not_depend_on_the_query(self):
        """Probabilities of what was drawn, once and for all."""
        figures = [Head(view="sum", d_k=8, draw=draw) for draw in range(1, 301)]
        keys = np.array([figure.key_vectors for figure in figures])
        assert stats.kstest(keys.ravel(), "norm").pvalue > 1e-3
        queries = np.array([figure.query for figure in figures])
        for component in range(8):
            both = np.corrcoef(queries[:, component], keys[:, 0, component])[0, 1]
            assert abs(both) < 4 / 300**0.5
        across = np.corrcoef(keys.reshape(-1, 8).T) - np.eye(8)
        assert abs(across).max() < 4.5 / (16 * 300) ** 0.5

    def test_the_walk_is_the_running_sum(self):
        figure = Head(view="sum", key=3, d_k=16)
        outline = re.search(r'class="walk" d="M([^"]*)"', figure.picture())[1]
        points = np.array([point.split() for point in outline.split("L")], float)
        sums = np.cumsum([0, *(figure.query * figure.key_vectors[2])])
        drawn = (1 - points[:, 1] / (head.WALK_HIGH / 2)) * head.WALK_LIMITS[0]
        np.testing.assert_allclose(drawn, sums, atol=0.002)
        scores = figure.key_vectors @ figure.query
        assert f"Key 3 ends at {head.fixed(scores[2], 1)};" in figure.words()
        assert f"typically {np.linalg.norm(scores) / 4:.1f} from" in figure.words()


class TestExponential:
    def test_a_lead_becomes_a_factor(self):
        for divided in (False, True):
            figure = Head(view="exponential", divided=divided, draw=4)
            logits = figure.scores / (8 if divided else 1)
            values = np.exp(logits - logits.max())
            heights = drawn(figure, "exponentials")[:, 2]
            np.testing.assert_allclose(heights, head.EXPONENTIAL_HIGH * values, atol=0.006)
            lead, times = re.findall(r"\d+\.\d+", figure.words())
            assert float(lead) == pytest.approx(np.diff(np.sort(logits))[-1], abs=0.051)
            assert float(times) == pytest.approx(1 / np.sort(values)[-2], abs=0.051)
        assert "10,000+ times" in Head(view="exponential", pulled={"1": 40}).words()


class TestGradient:
    def test_it_is_the_derivative_of_the_mean_cost(self):
        """By differences: raise one logit after the other a little."""
        figure = Head(view="gradient", divided=True)
        logits = figure.scores / 8

        def mean(place: int, step: float) -> float:
            return special.softmax(logits + step * np.eye(16)[place]) @ figure.costs

        slopes = np.array([(mean(i, 1e-5) - mean(i, -1e-5)) / 2e-5 for i in range(16)])
        limit = float(re.findall(r'top:0%">([\d.]+)<', figure.picture())[-1])
        assert limit in head.GRADIENT_LIMITS
        assert (abs(slopes) < limit).all()
        heights = drawn(figure, "gradient")[:, 2]
        np.testing.assert_allclose(heights / (head.GRADIENT_HIGH / 2) * limit, slopes, atol=1e-4)
        assert f"gradients up to {abs(slopes).max():.2f}." in figure.words()

    def test_it_vanishes_for_every_key_when_one_takes_all(self):
        figure = Head(view="gradient", d_k=1, pulled={"5": 40})
        assert figure.weights[4] > 1 - 1e-9
        assert (abs(drawn(figure, "gradient")[:, 2]) == 0).all()


class TestDivisor:
    @pytest.mark.parametrize("power", head.POWERS)
    def test_scores_are_divided_by_a_power_of_the_width(self, power):
        for view in ("divisor", "start"):
            figure = Head(view=view, d_k=16, power=power)
            weights = special.softmax(figure.scores / 2 ** (4 * power))
            np.testing.assert_allclose(figure.weights, weights)

    def test_one_power_has_the_color_of_the_division(self):
        arms = ["undivided", "other", "divided", "other", "other"]
        for power, arm in zip(head.POWERS, arms, strict=True):
            assert f'class="{arm}"' in Head(view="divisor", power=power).picture()

    def test_the_views_with_a_switch_take_no_dial_and_the_other_way_round(self):
        assert np.array_equal(Head(power=1).weights, Head(power=0).weights)
        shown = [Head(view="divisor", divided=divided).weights for divided in (False, True)]
        assert np.array_equal(*shown)


def test_twice_the_size_makes_four_times_the_scores():
    small, large = (Head(view="start", size=size) for size in (1, 2))
    np.testing.assert_allclose(large.scores, 4 * small.scores)
    np.testing.assert_allclose(large.query, 2 * small.query)
    assert "Width 64, size 2, ÷ √64" in large.words()


def test_a_temperature_undoes_the_division():
    figure = Head(view="temperature", d_k=64, temperature=0.125)
    np.testing.assert_allclose(figure.weights, Head(d_k=64).weights)
    assert "÷ 0.125·√64:" in figure.words()
    usual = Head(view="temperature")
    np.testing.assert_allclose(usual.weights, Head(divided=True).weights)


def test_text_rounds_as_javascript_does():
    for value, digits, text in (
        (0.125, 2, "0.13"),
        (1.25, 1, "1.3"),
        (-1.25, 1, "−1.3"),
        (12.5, 0, "13"),
        (-0.04, 1, "0.0"),
        (2.675, 2, "2.67"),
    ):
        assert head.fixed(value, digits) == text


@pytest.mark.parametrize("view", head.VIEWS)
def test_the_words_are_one_sentence_that_fits_on_a_line(view):
    """At every combination of stops, with no score pulled and with every one."""
    figure, pulled = Head(view=view), {str(key): -40 for key in range(1, 16)} | {"16": 40}
    stops = {
        "d_k": head.WIDTHS,
        "n_keys": head.KEYS,
        "divided": (False, True),
        "power": head.POWERS,
        "size": head.SIZES,
        "temperature": head.TEMPERATURES,
        "key": range(1, 17),
        "pulled": ({}, pulled),
    }
    names = [name for name in stops if f'name="{name}"' in figure.controls()]
    for chosen in itertools.product(*(stops[name] for name in [*names, "pulled"])):
        for name, value in zip([*names, "pulled"], chosen, strict=True):
            setattr(figure, name, value)
        assert len(figure.words()) <= 80, figure.words()
        assert figure.words().count(". ") == 0


@pytest.mark.proof("examples")
def test_the_query_is_as_long_as_the_law_says():
    squares = [np.sum(Head(d_k=16, draw=draw).query ** 2) for draw in range(1, 1001)]
    assert stats.kstest(squares, stats.chi2(16).cdf).pvalue > 1e-3
