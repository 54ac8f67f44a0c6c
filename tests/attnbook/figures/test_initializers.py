"""The figure of the variances at the start of training: its table, its picture and its words.

The checks of the table against the predictions pool many cells and use the normal law: were the
cells drawn anew, a right table would fail any of the 27 pools less than once in a million times.
"""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import pytest
import traitlets

from attnbook import figures
from attnbook.figures import initializers
from attnbook.figures._base import HERE, own_source
from attnbook.figures.initializers import COSINES, HEAD_WIDTHS, MODEL_WIDTHS, SCHEMES
from attnlib import INITIALIZERS, softmax

pytestmark = pytest.mark.not_for_mutants

# The variance of a normal number cut off at two standard deviations, by its density there.
TRUNCATED = 0.02**2 * (1 - 4 * 0.05399096651318806 / 0.9544997361036416)
CELLS = list(itertools.product(SCHEMES, COSINES, MODEL_WIDTHS, HEAD_WIDTHS))
# Ever the same of those that take little time, one of each rule.
CHEAP = [place for place, (_, _, d_model, d_k) in enumerate(CELLS) if d_model * d_k < 2**17]
DRAWN_AGAIN = [
    next(place for place in np.random.default_rng(6).permutation(CHEAP) if CELLS[place][0] == key)
    for key in SCHEMES
]


def by_hand(d_model, d_k):
    """Return the variances of a component of q and k, times d_k and the squared multiplier."""
    return {
        "multihead_attention": (d_model / (2 * d_model)) ** 2,
        "xavier_square": 1.0,
        "xavier_head": (d_model * 2 / (d_model + d_k)) ** 2,
        "linear": 1 / 9,
        "gpt2": (d_model * 0.02**2) ** 2,
        "bert": (d_model * TRUNCATED) ** 2,
        "t5": d_k * (d_model / (d_model * d_k)) * (d_model / d_model),
        "mup": d_k / d_k**2,
        "mup_8": d_k * (8 / d_k) ** 2,
    }


def stored(name):
    """Return the excess or the errors of the table as parts of one, by its four stops."""
    sizes = (len(SCHEMES), len(COSINES), len(MODEL_WIDTHS), len(HEAD_WIDTHS))
    return np.reshape(initializers.measured()[name], sizes) / 1000


class TestTable:
    def test_it_is_for_the_stops_of_the_figure(self):
        table = initializers.measured()
        stops = (list(SCHEMES), list(COSINES), list(MODEL_WIDTHS), list(HEAD_WIDTHS))
        assert [table[name] for name in initializers.STOPS] == list(stops)
        assert table["draws"] == initializers.DRAWS
        assert len(table["excess"]) == len(table["errors"]) == len(CELLS)

    @pytest.mark.parametrize("place", DRAWN_AGAIN)
    def test_a_cell_sampled_again_is_the_stored_one(self, place):
        """But for the rounding to thousandths, where another processor may round the other way."""
        scheme, cosine, d_model, d_k = CELLS[place]
        table = initializers.measured()
        again = initializers.measure(scheme, d_model, d_k, cosine)
        assert abs(again[0] - table["excess"][place]) <= 1
        assert abs(again[1] - table["errors"][place]) <= 1
        figure = figures.Initializers(d_model=d_model, d_k=d_k, cosine=cosine)
        shown = 1000 * np.array(figure.sampled[scheme]) / figure.predicted[scheme]
        np.testing.assert_allclose(shown - (1000, 0), again, atol=1.001)

    @pytest.mark.parametrize("cosine", range(len(COSINES)))
    @pytest.mark.parametrize("scheme", range(len(SCHEMES)))
    def test_on_average_it_is_what_is_predicted(self, scheme, cosine):
        """Each pool has 45 cells of 8 draws; a formula wrong by a tenth would show."""
        excess, errors = (stored(name)[scheme, cosine] for name in ("excess", "errors"))
        error = np.sqrt((errors**2).sum()) / errors.size
        assert abs(excess.mean()) < 5.5 * error
        assert 5.5 * error < 0.1

    def test_the_page_gets_it_once_in_front_of_the_module(self):
        text = (HERE / "initializers.json").read_text("utf-8")
        assert own_source("initializers").count('"excess"') == 1
        assert json.loads(text) == initializers.measured()


class TestPredictions:
    def test_they_are_those_made_by_hand(self):
        for cosine, d_model, d_k in itertools.product(COSINES, MODEL_WIDTHS, HEAD_WIDTHS):
            figure = figures.Initializers(d_model=d_model, d_k=d_k, cosine=cosine)
            for scheme, variance in by_hand(d_model, d_k).items():
                wanted = pytest.approx(variance * (1 - cosine), rel=1e-12)
                assert figure.predicted[scheme] == wanted

    def test_all_rules_are_there_but_for_one_that_is_nearly_another(self):
        assert set(INITIALIZERS) - set(SCHEMES) == {"linear_bias"}
        for d_model in MODEL_WIDTHS:
            pair = (
                initializers.predicted(name, d_model, 64, 0) for name in ("linear", "linear_bias")
            )
            assert abs(np.log10(np.divide(*pair))) * initializers.WIDE / 6 < 1

    def test_two_rules_start_at_one_at_every_width_and_no_other(self):
        """The answer to what the chapter asks."""
        starts = {key: [] for key in SCHEMES}
        for d_model, d_k in itertools.product(MODEL_WIDTHS, HEAD_WIDTHS):
            for key, variance in figures.Initializers(d_model=d_model, d_k=d_k).predicted.items():
                starts[key].append(variance)
        always = {key for key, values in starts.items() if np.allclose(values, 1)}
        assert always == {"xavier_square", "t5"}
        grid = (len(MODEL_WIDTHS), len(HEAD_WIDTHS))
        at_64 = np.reshape(starts["mup_8"], grid)[:, HEAD_WIDTHS.index(64)]
        assert np.isclose(at_64, 1).all()
        assert np.isclose(starts["mup_8"], 1).sum() == len(MODEL_WIDTHS)
        for key in ("gpt2", "bert"):
            assert min(starts[key]) < 1 < max(starts[key])
        first = figures.Initializers().predicted
        assert {key for key in SCHEMES if np.isclose(first[key], 1)} == always | {"mup_8"}
        for d_model, d_k in itertools.product(MODEL_WIDTHS, HEAD_WIDTHS):
            shared = figures.Initializers(d_model=d_model, d_k=d_k, cosine=0.5).predicted
            assert max(shared[key] for key in always) == pytest.approx(0.5)


class TestPicture:
    STATES = tuple(itertools.product(MODEL_WIDTHS, HEAD_WIDTHS, COSINES))

    def test_marks_and_dots_are_where_their_variances_are_and_within_the_picture(self):
        def place(variance):
            decades = math.log(initializers.MOST / initializers.LEAST)
            return initializers.WIDE * math.log(variance / initializers.LEAST) / decades

        for d_model, d_k, cosine in self.STATES:
            figure = figures.Initializers(d_model=d_model, d_k=d_k, cosine=cosine)
            marks = re.findall(r"M([\d.]+) (\d+)v16", figure.marks())
            dots = re.findall(r"M([\d.]+) (\d+)h0", figure.dots())
            lines = re.findall(r"M([\d.]+) (\d+)H([\d.]+)", figure.error_bars())
            predicted, sampled = figure.predicted, figure.sampled
            assert len(marks) == len(dots) == len(lines) == len(SCHEMES)
            for row, (key, mark, dot, line) in enumerate(
                zip(SCHEMES, marks, dots, lines, strict=True)
            ):
                mean, error = sampled[key]
                low, high = mean - 2 * error, mean + 2 * error
                drawn = [float(at) for at in (mark[0], dot[0], line[0], line[2])]
                wanted = [place(value) for value in (predicted[key], mean, low, high)]
                np.testing.assert_allclose(drawn, wanted, atol=0.0051)
                assert min(drawn) > 5
                assert max(drawn) < initializers.WIDE - 5
                assert int(mark[1]) + 8 == int(dot[1]) == int(line[1]) == 20 * row + 10

    def test_the_logits_have_exactly_the_predicted_variance(self):
        for scheme in SCHEMES:
            figure = figures.Initializers(scheme=scheme, d_model=4096, cosine=0.5)
            assert figure.logits.shape == (16,)
            assert figure.logits.var(ddof=1) == pytest.approx(figure.predicted[scheme])
            heights = [float(height) for height in re.findall(r"v([\d.]+)z", figure.picture())]
            np.testing.assert_allclose(
                heights, np.maximum(100 * softmax(figure.logits), 1.5), atol=0.006
            )

    def test_the_chosen_rule_is_marked_and_read_out(self):
        for row, (scheme, name) in enumerate(SCHEMES.items()):
            figure = figures.Initializers(scheme=scheme)
            assert f'<path class="band" d="M0 {20 * row}h' in figure.picture()
            marked = re.findall(r'class="chosen">(.*?)</span>', figure.picture())
            assert [text.replace("<wbr>", "") for text in marked] == [name]
            assert re.findall(r"selected>([^<]*)<", figure.controls()) == [name]
            assert figure.words().startswith(f"{name}: ")


class TestWords:
    def test_they_are_numbers_of_the_state_shown(self):
        for scheme, (d_model, d_k, cosine) in itertools.product(SCHEMES, TestPicture.STATES[::11]):
            figure = figures.Initializers(scheme=scheme, d_model=d_model, d_k=d_k, cosine=cosine)
            said = re.search(
                r": variance ([\d.]+) predicted, ([\d.]+) ± ([\d.]+) sampled\.$",
                figure.words(),
            ).groups()
            wanted = [figure.predicted[scheme], *figure.sampled[scheme]]
            for text, value in zip(said, wanted, strict=True):
                assert abs(float(text) - value) <= 0.5001 * 0.1 ** len(text.partition(".")[2])
            # four digits that count
            assert len(said[0].replace(".", "").lstrip("0")) == 4

    def test_no_variance_is_on_a_rounding_edge(self):
        for d_model, d_k, cosine in TestPicture.STATES:
            figure = figures.Initializers(d_model=d_model, d_k=d_k, cosine=cosine)
            predicted, sampled = figure.predicted, figure.sampled
            for scheme, variance in predicted.items():
                places = 3 - math.floor(math.log10(variance * (1 + 1e-9)))
                said = np.array([variance, *sampled[scheme]]) * (1 + 1e-9) * 10**places
                assert (abs(said % 1 - 0.5) > 1e-8).all()


@pytest.mark.parametrize("state", [{"scheme": "linear_bias"}, {"d_model": 300}, {"cosine": 1}])
def test_a_state_without_a_stop_is_refused(state):
    with pytest.raises(traitlets.TraitError):
        figures.Initializers(**state)
