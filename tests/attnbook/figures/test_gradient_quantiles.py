"""The figure of the lengths of gradients: its table, its picture and its words.

A length drawn here with whole vectors falls below a quantile of the table with the quantile's
probability; LEVEL bounds how often one check would fail if all is right, by normal approximation
of two independent errors, those of the table and of the draw.
"""

from __future__ import annotations

import gzip
import itertools
import json
import math
import re
from statistics import NormalDist

import numpy as np
import pytest
from scipy import integrate, stats

from attnbook import figures
from attnbook.figures import gradient_quantiles
from attnbook.figures._base import own_source
from attnbook.figures.gradient_quantiles import HIGH, KEYS, NAMES, RECEIVERS, WIDE, WIDTHS
from tools import gradient_table

pytestmark = pytest.mark.not_for_mutants

LEVEL = 1e-7
BOUND = NormalDist().inv_cdf(1 - LEVEL / 2)
PLACES = list(itertools.product(RECEIVERS, NAMES, KEYS, WIDTHS))
# Two of the cells that take long, and some of the others, ever the same.
RETRAINING = pytest.mark.proof("retraining")
SMALLEST = ("key", "divided", 2, 8)
DRAWN_AGAIN = [
    ("query", "not divided", 1024, 64),
    ("key", "not divided", 1024, 256),
    *(PLACES[place] for place in np.random.default_rng(7).permutation(len(PLACES))[:6]),
]


def stored(receiver, arm, n_keys, d_k):
    """Return one cell of the committed table."""
    content = gradient_quantiles.table()
    return content[receiver][arm][KEYS.index(n_keys)][WIDTHS.index(d_k)]


def lengths_of_vectors(receiver, arm, n_keys, d_k, count, rng):
    """Draw q, k and u, and return the lengths by the formulas: all vectors, no shortcut."""
    scale = 1 if arm == "not divided" else d_k**-0.5
    q = rng.standard_normal((count, d_k))
    k = rng.standard_normal((count, n_keys, d_k))
    u = rng.standard_normal((count, n_keys))
    logits = scale * np.einsum("rd,rnd->rn", q, k)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    differences = u[:, :, None] - u[:, None, :]
    by_logit = scale * p * np.einsum("rm,rnm->rn", p, differences)
    if receiver == "query":
        return np.linalg.norm(np.einsum("rn,rnd->rd", by_logit, k), axis=1)
    return np.linalg.norm(by_logit[:, :1] * q, axis=1)  # one key of each row: independent


def expected_maximum(n_keys):
    """Return the mean of the largest of some standard normal numbers."""
    return integrate.quad(
        lambda x: n_keys * x * stats.norm.pdf(x) * stats.norm.cdf(x) ** (n_keys - 1), -9, 9
    )[0]


class TestTable:
    def test_it_has_the_cells_of_the_figure(self):
        content = gradient_quantiles.table()
        assert content["keys"] == list(KEYS) == list(gradient_table.KEYS)
        assert content["widths"] == list(WIDTHS) == list(gradient_table.WIDTHS)
        for receiver in RECEIVERS:
            assert set(content[receiver]) == set(NAMES)
            for arm in NAMES:
                assert np.shape(content[receiver][arm]) == (len(KEYS), len(WIDTHS), 6)

    @pytest.mark.parametrize(
        "place",
        [SMALLEST, *(pytest.param(each, marks=RETRAINING) for each in DRAWN_AGAIN)],
        ids=str,
    )
    def test_its_cells_are_drawn_again(self, place):
        """To one unit of the last digit, which another processor may round otherwise."""
        again, there = (np.array(cell) for cell in (gradient_table.cell(*place), stored(*place)))
        unit = 10.0 ** (np.floor(np.log10(there[:4])) - [1, 2, 1, 2])
        assert (abs(again - there)[:4] <= 1.01 * unit).all()
        assert (abs(again - there)[4:] <= 1).all()

    @pytest.mark.parametrize("arm", NAMES)
    @pytest.mark.parametrize("receiver", RECEIVERS)
    @pytest.mark.parametrize(("n_keys", "d_k"), [(2, 4), (4, 64), (16, 1), (16, 32), (64, 16)])
    def test_it_has_the_law_of_whole_vectors(self, receiver, arm, n_keys, d_k):
        """80 checks: at most 80 in 10 million such families would fail by chance."""
        count = 4000
        rng = np.random.default_rng([1, n_keys, d_k])
        lengths = lengths_of_vectors(receiver, arm, n_keys, d_k, count, rng)
        *quantiles, mean = stored(receiver, arm, n_keys, d_k)[:4]
        table_rows = gradient_table.rows(n_keys)  # its keys are dependent
        for probability, quantile, digit in zip((0.1, 0.5, 0.9), quantiles, (2, 3, 2), strict=True):
            spread = math.sqrt(probability * (1 - probability) * (1 / count + 1 / table_rows))
            rounding = 0.5 * 10.0 ** (math.floor(math.log10(quantile)) - digit + 1)
            below, up_to = ((lengths <= quantile + sign * rounding).mean() for sign in (-1, 1))
            assert below - BOUND * spread <= probability <= up_to + BOUND * spread
        spread = lengths.std() * math.sqrt(1 / count + 1 / table_rows)
        assert abs(lengths.mean() - mean) < BOUND * spread + 0.005 * mean

    @pytest.mark.parametrize("n_keys", KEYS)
    def test_without_the_division_the_mean_tends_to_a_constant(self, n_keys):
        """The limits of the chapter; at the largest width the mean is on its way, 5% off or so."""
        limits = {
            "query": math.sqrt(2 / math.pi) * expected_maximum(n_keys),
            "key": 2 / math.sqrt(math.pi) * expected_maximum(n_keys) / n_keys,
        }
        for receiver, limit in limits.items():
            cell = stored(receiver, "not divided", n_keys, 1024)
            error = 1.5 * cell[5] / 100  # three standard errors
            assert cell[3] == pytest.approx(limit, rel=error + 0.06)

    def test_a_width_of_one_is_not_divided(self):
        for receiver, n_keys in itertools.product(RECEIVERS, KEYS):
            assert stored(receiver, "divided", n_keys, 1) == stored(
                receiver, "not divided", n_keys, 1
            )


class TestQuestion:
    """As the head gets wider without the division, the median falls and the mean does not."""

    @pytest.mark.parametrize("n_keys", KEYS)
    def test_the_median_of_one_key_falls_and_its_mean_does_not(self, n_keys):
        undivided, divided = figures.GradientQuantiles(receiver="key", n_keys=n_keys).lengths
        _, median, _, mean = undivided.T
        assert (np.diff(median[2:]) < 0).all()
        assert median[-1] < 1e-11
        assert mean[-1] > 0.95 * mean.max()
        assert mean[-1] > 1.3 * divided[-1, 3]
        # what one key receives with the division hardly changes with the width
        assert divided[4:, 1].max() < 1.1 * divided[4:, 1].min()

    def test_the_mean_of_a_long_row_is_above_nine_tenths_of_the_lengths(self):
        undivided, _ = figures.GradientQuantiles(receiver="key", n_keys=1024).lengths
        _, _, high, mean = undivided[WIDTHS.index(64)]
        assert mean > 1000 * high

    def test_a_query_of_many_keys_gets_more_and_of_few_keys_less(self):
        at = WIDTHS.index(64)
        for n_keys in KEYS:
            undivided, divided = figures.GradientQuantiles(receiver="query", n_keys=n_keys).lengths[
                :, at
            ]
            assert (undivided[1] > divided[1]) is np.bool_(n_keys >= 16)
            assert undivided[3] > divided[3]


class TestPicture:
    @pytest.mark.parametrize("n_keys", KEYS)
    @pytest.mark.parametrize("receiver", RECEIVERS)
    def test_all_of_it_lies_in_the_plot(self, receiver, n_keys):
        figure = figures.GradientQuantiles(receiver=receiver, n_keys=n_keys)
        outlines = re.findall(r' d="([^"]*)"', figure.picture())
        points = re.findall(r"[ML](\S+) ([\d.]+)", "".join(outlines).replace("L", " L"))
        x, y = np.array(points, float).T
        assert len(points) > 100
        assert x.min() == 0
        assert x.max() == WIDE
        assert y.min() >= 0
        assert y.max() <= HIGH
        tops = [float(top) for top in re.findall(r"top:([\d.]+)%", figure.names())]
        assert min(tops) >= 0
        assert max(tops) <= 100

    def test_a_line_goes_through_its_lengths_until_it_leaves(self):
        figure = figures.GradientQuantiles(receiver="key", n_keys=16)
        median = figure.lengths[0, :, 1]
        outline = re.search(r'class="median" d="M([^"]*)"', figure.picture())[1]
        points = np.array([point.split() for point in outline.split("L")], float)
        shown = median > 1e-11
        np.testing.assert_allclose(points[:-1, 0], np.flatnonzero(shown) * WIDE / 10)
        np.testing.assert_allclose(10 ** (1 - 12 * points[:-1, 1] / HIGH), median[shown], rtol=1e-3)
        # what leaves does so on the straight way to the next length
        *_, (x, y), (edge, bottom) = points
        following = 12 - (math.log10(median[len(points) - 1]) + 11)
        slope = (following * HIGH / 12 - y) / 60
        assert bottom == HIGH
        assert edge - x == pytest.approx((HIGH - y) / slope, abs=0.02)

    @pytest.mark.parametrize("n_keys", KEYS)
    @pytest.mark.parametrize("receiver", RECEIVERS)
    def test_names_are_at_their_lines_and_apart(self, receiver, n_keys):
        figure = figures.GradientQuantiles(receiver=receiver, n_keys=n_keys)
        found = re.findall(r"left:([\d.]+)%;top:([\d.]+)%", figure.names())
        places = np.array(found, float)
        ends = [figure.lengths[0, -1, 3], figure.lengths[1, -1, 1], figure.lengths[0, -1, 1]]
        for (left, top), end in zip(places, ends, strict=True):
            wanted = 100 * (1 - math.log10(end)) / 12
            assert abs(top - min(wanted, 95)) < 9
            assert (left == 100) is np.bool_(wanted <= 100)
        assert (np.diff(places[:, 1]) > 7).all()

    def test_the_page_gets_the_whole_table_in_five_kilobytes(self):
        found = re.match(r"const table = (.*);\n", own_source("gradient_quantiles"))
        whole = gradient_quantiles.table()
        notes = {"about", "command", "versions"}
        assert json.loads(found[1]) == {name: whole[name] for name in whole.keys() - notes}
        assert len(gzip.compress(found[1].encode())) < 5000


class TestWords:
    @pytest.mark.parametrize(
        "state",
        [{}, {"receiver": "key", "d_k": 1024}, {"receiver": "key", "n_keys": 2, "d_k": 256}],
    )
    def test_they_are_numbers_of_the_table(self, state):
        figure = figures.GradientQuantiles(**state)
        said = re.sub(
            r"·10(⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+)",
            lambda power: "e" + power[1].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")),
            figure.words(),
        )
        width, *numbers = re.findall(r"\d[\d.e-]*\d|\d", said.rstrip("."))
        assert int(width) == figure.d_k
        there = stored(figure.receiver, "not divided", figure.n_keys, figure.d_k)
        assert [float(number) for number in numbers] == [there[place] for place in (1, 4, 3, 5)]

    def test_they_say_how_sure_the_numbers_are(self):
        """Errors where the reader can see the line; the words have them for every width."""
        content = gradient_quantiles.table()
        for place in PLACES:
            _, median, _, _, around, about = stored(*place)
            assert 1 <= about <= 10
            assert median < 1e-11 or 1 <= around <= 20
        assert content["ends within percent"] <= 50
