"""The figure of the online softmax, against sums over the keys read so far, term by term."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
import scipy.special

from attnbook.figures import OnlineSoftmax
from attnbook.implementation.online_softmax import BLOCKS, HIGH, READ, ROWS, WIDE

pytestmark = pytest.mark.not_for_mutants

DRAWS = (17, 1)
SOME_READ = (1, 4, 6, 12, 13, 16)
STATES = tuple(itertools.product(ROWS.values(), (0, *SOME_READ), (1, 4, 16)))
NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?")


def at(row, keys_read, block_size, draw=17):
    return OnlineSoftmax(row=row, keys_read=keys_read, block_size=block_size, draw=draw)


def by_hand(figure, seen):
    """Return the largest logit, sum and weighted sum of the first keys; exact but for one sum."""
    logits, contents = figure.logits[:seen].tolist(), figure.contents[:seen].tolist()
    peak = max(logits, default=-math.inf)
    terms = [math.exp(logit - peak) for logit in logits]
    return peak, math.fsum(terms), math.fsum(t * v for t, v in zip(terms, contents, strict=True))


def ledger(figure):
    """Return the rows of the table, and the factor."""
    table = re.search(r"<tbody>(.*)</tbody>", figure.picture())[1]
    cells = re.findall(r"<td>(.*?)</td>", table)
    factor = re.search(r"× <span>(.*?)</span>", table)[1]
    return [cells[start : start + 3] for start in range(0, 12, 3)], factor


def parsed(cell):
    return float(cell.replace("−", "-").replace("∞", "inf"))


def corners(outline):
    """Return place, height and width of each bar of an outline."""
    found = re.findall(r"M([\d.]+) 100v(-?[\d.]+)h(\d+)v-?[\d.]+z", outline)
    assert len(found) == outline.count("M")
    return np.array(found, float).reshape(-1, 3)


def part(figure, picture, name):
    """Return an outline of one of the three pictures."""
    plot = re.search(rf'class="{picture}">(.*?)</svg>', figure.picture())[1]
    return re.search(rf'class="{name}" d="([^"]*)"', plot)[1]


class TestKeys:
    def test_the_orders_hold_the_same_keys(self):
        for draw in DRAWS:
            drawn = at("drawn", 0, 1, draw)
            pairs = sorted(zip(drawn.logits, drawn.contents, strict=True))
            assert -4 <= pairs[0][0] < pairs[-1][0] <= 4
            for row, sign in (("rising", 1), ("falling", -1)):
                ordered = at(row, 0, 1, draw)
                assert (sign * np.diff(ordered.logits) >= 0).all()
                assert sorted(zip(ordered.logits, ordered.contents, strict=True)) == pairs

    def test_the_last_key_is_2_above_all_others_and_800_is_added_to_all(self):
        for draw in DRAWS:
            last, near_800 = at("last", 0, 1, draw), at("last+800", 0, 1, draw)
            assert last.logits[-1] - at("drawn", 0, 1, draw).logits.max() == pytest.approx(2)
            np.testing.assert_allclose(near_800.logits, last.logits + 800)
            with np.errstate(over="ignore"):
                assert np.isinf(np.exp(near_800.logits)).all()


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("row", ROWS.values())
class TestSteps:
    def test_what_is_kept_are_sums_over_the_keys_read(self, row, draw):
        for keys_read, block_size in itertools.product(READ, BLOCKS):
            figure = at(row, keys_read, block_size, draw)
            begun = max(0, keys_read - 1) // block_size * block_size
            assert figure.begun == begun
            for kept, seen in ((figure.before, begun), (figure.now, keys_read)):
                peak, total, weighted = by_hand(figure, seen)
                assert kept.peak == peak
                assert float(kept.total) == pytest.approx(total, rel=1e-12)
                assert float(kept.total * kept.output) == pytest.approx(weighted, rel=1e-12)

    def test_the_output_is_attention_over_the_keys_read(self, row, draw):
        for keys_read in READ[1:]:
            figure = at(row, keys_read, 4, draw)
            weights = scipy.special.softmax(figure.logits[:keys_read])
            wanted = weights @ figure.contents[:keys_read]
            assert float(figure.now.output) == pytest.approx(wanted, rel=1e-12)
            assert figure.exact(keys_read) == pytest.approx(wanted, rel=1e-12)

    def test_the_table_adds_up(self, row, draw):
        for keys_read, block_size in itertools.product(SOME_READ, (1, 4, 16)):
            figure = at(row, keys_read, block_size, draw)
            (before, shrunk, added, now), factor = ledger(figure)
            assert parsed(factor) == pytest.approx(
                math.exp(parsed(before[0]) - parsed(now[0])), abs=5.1e-5
            )
            assert parsed(now[0]) == max(parsed(before[0]), parsed(added[0]))
            assert shrunk[0] == ""
            for column, unit in ((1, 1e-4), (2, 1e-2)):
                wanted = figure.factor * parsed(before[column])
                assert parsed(shrunk[column]) == pytest.approx(wanted, abs=1.1 * unit)
                together = parsed(shrunk[column]) + parsed(added[column])
                assert parsed(now[column]) == pytest.approx(together, abs=1.6 * unit)
            _, total, weighted = by_hand(figure, keys_read)
            assert parsed(now[1]) == pytest.approx(total, abs=5.1e-5)
            assert parsed(now[2]) == pytest.approx(weighted, abs=5.1e-3)


def test_before_the_first_key_nothing_is_kept():
    figure = at("last", 0, 4)
    nothing = ["−∞", "0.0000", "0.00"]
    rows, factor = ledger(figure)
    assert rows == [nothing, ["", *nothing[1:]], nothing, nothing]
    assert factor == "1.0000"
    assert "there is no output yet" in figure.words()


class TestSurprise:
    def test_a_late_maximum_is_met_with_one_factor_for_all_earlier_keys(self):
        """As it is, and one step to the right of the end of the last block but one."""
        start, end = OnlineSoftmax(), OnlineSoftmax(keys_read=16)
        assert end.logits.argmax() == 15
        assert abs(start.now.output - end.now.output) > 30
        assert end.factor == pytest.approx(math.exp(-2), rel=1e-12)
        earlier, now = part(end, "terms", "was"), part(end, "terms", "read")
        was, shrunk = corners(earlier)[:, 1], corners(now)[:, 1]
        assert len(was) == len(shrunk) == 12
        np.testing.assert_allclose(shrunk, end.factor * was, atol=0.01)
        assert "a new largest logit, both sums times 0.1353," in end.words()

    @pytest.mark.parametrize("block_size", BLOCKS)
    def test_each_key_is_read_once(self, block_size):
        """No read key matters to the rest but through what is kept of it."""
        for keys_read in READ[block_size::block_size]:
            figure = at("last", keys_read, block_size)
            kept, rest = figure.before, slice(figure.begun, keys_read)
            logits = np.array([kept.peak, *figure.logits[rest]])
            counts = np.array([kept.total, *np.ones(keys_read - figure.begun)])
            weights = scipy.special.softmax(logits, axis=0) * counts
            values = np.array([kept.output, *figure.contents[rest]])
            output = weights @ values / weights.sum()
            assert float(figure.now.output) == pytest.approx(output, rel=1e-12)

    def test_neither_800_nor_the_size_of_blocks_changes_what_is_kept_at_the_end(self):
        found = [
            [part.item() for part in at(row, 16, block_size).now]
            for row in ("last", "last+800")
            for block_size in BLOCKS
        ]
        output, peak, total = np.transpose(found)
        np.testing.assert_allclose(output, output[0], rtol=1e-11)
        np.testing.assert_allclose(peak - np.repeat([0, 800], len(BLOCKS)), peak[0])
        np.testing.assert_allclose(total, total[0], rtol=1e-11)

    def test_no_order_changes_the_output(self):
        outputs = [at(row, 16, 4).now.output for row in ("drawn", "rising", "falling")]
        np.testing.assert_allclose(outputs, outputs[0], rtol=1e-12)


class TestPicture:
    @pytest.mark.parametrize(("row", "keys_read", "block_size"), STATES)
    def test_all_that_is_drawn_lies_within(self, row, keys_read, block_size):
        picture = at(row, keys_read, block_size).picture()
        for outline in re.findall(r'<path class="(?:was|read|now)" d="([^"]*)"', picture):
            for place, height, width in corners(outline):
                assert 0 <= place < place + width <= WIDE
                assert -HIGH <= height <= 0
        for outline in re.findall(r'class="limit" d="([^"]*)"', picture):
            assert all(0 <= float(y) <= HIGH for y in re.findall(r"V(-?[\d.]+)", outline))
            assert all(0 < float(x) <= WIDE for x in re.findall(r"H(-?[\d.]+)", outline))
        for outline in re.findall(r'class="(?:dots|unread)" d="([^"]*)"', picture):
            for x, y in re.findall(r"M([\d.]+) (-?[\d.]+)h0", outline):
                assert 0 < float(x) < WIDE
                assert 0 <= float(y) <= HIGH

    @pytest.mark.parametrize("draw", [1, 17, 9999])
    def test_bars_and_lines_are_where_the_numbers_are(self, draw):
        for row, keys_read, block_size in (("last+800", 13, 4), ("rising", 16, 2)):
            figure = at(row, keys_read, block_size, draw)
            base = 800 * row.endswith("800") - 6
            states = (
                ("read", slice(figure.begun)),
                ("now", slice(figure.begun, keys_read)),
                ("was", slice(keys_read, None)),
            )
            widths = set()
            for name, keys in states:
                drawn = corners(part(figure, "logits", name))
                np.testing.assert_allclose(
                    base - 12 * drawn[:, 1] / HIGH, figure.logits[keys], atol=0.01
                )
                middles = drawn[:, 0] + drawn[:, 2] / 2
                np.testing.assert_allclose(middles, (np.arange(16)[keys] + 0.5) * WIDE / 16)
                widths.update((name, width) for width in drawn[:, 2])
            assert {name for name, width in widths if width == 10} == {"read"}
            peaks, outputs = (
                np.array(re.findall(r"V([\d.]+)", part(figure, picture, "limit")), float)
                for picture in ("logits", "outputs")
            )
            ends = [*range(block_size, keys_read, block_size), keys_read]
            tops = [figure.logits[:end].max() for end in ends]
            np.testing.assert_allclose(base + 12 * (1 - peaks / HIGH), tops, atol=0.01)
            means = [
                scipy.special.softmax(figure.logits[:end]) @ figure.contents[:end] for end in ends
            ]
            np.testing.assert_allclose(HIGH - outputs, means, atol=0.01)
            final = float(re.match(r"M0 ([\d.]+)H", part(figure, "outputs", "even"))[1])
            assert final == pytest.approx(HIGH - figure.exact(16), abs=0.01)

    def test_the_axis_of_logits_follows_the_800(self):
        for row, ticks in (("last", "6 3 0 −3 −6"), ("last+800", "806 803 800 797 794")):
            labels = "".join(f"<span>{tick}</span>" for tick in ticks.split())
            assert labels in at(row, 3, 4).picture()


class TestWords:
    @pytest.mark.parametrize(("row", "keys_read", "block_size"), STATES)
    def test_they_say_what_is_shown(self, row, keys_read, block_size):
        figure = at(row, keys_read, block_size)
        words = figure.words()
        whole = scipy.special.softmax(figure.logits) @ figure.contents
        assert f">all 16 keys: {whole:.2f}<" in figure.picture()
        if keys_read:
            *_, output = map(parsed, NUMBER.findall(words))
            seen = slice(keys_read)
            exact = scipy.special.softmax(figure.logits[seen]) @ figure.contents[seen]
            assert figure.now.output == pytest.approx(exact, abs=1e-10)
            assert output == pytest.approx(exact, abs=0.00501)
            first = figure.begun + 1
            assert words.startswith(
                f"Keys {first} to {keys_read}:" if first < keys_read else f"Key {first}:"
            )

    @pytest.mark.parametrize("block_size", [1, 4])
    def test_they_tell_a_rise_from_its_absence(self, block_size):
        for row, keys_read in itertools.product(ROWS.values(), SOME_READ):
            figure = at(row, keys_read, block_size)
            rises = figure.logits[:keys_read].max() > figure.logits[: figure.begun].max(
                initial=-math.inf
            )
            said = "a new largest logit" in figure.words()
            assert said == (rises and figure.begun > 0)
            assert ("nothing was kept before" in figure.words()) == (figure.begun == 0)
