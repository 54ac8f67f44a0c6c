"""TrainingPlayer shows what training records, and the recording is what the chapter says."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache

import numpy as np
import pytest

from attnbook import figures
from attnbook.drawing import svg
from attnbook.training import recording as recorder
from attnbook.training import train
from attnbook.training import training_player as player
from attnbook.training.sweep import ARMS, REPORT_SEEDS, Record, load_ablation

pytestmark = pytest.mark.not_for_mutants

BOTH = [(d_k, adam) for d_k in player.WIDTHS for adam in (False, True)]
EARLY = tuple(step for step in player.STEPS if step <= 30)
"""Where two processors agree to nine digits, as the chapter says."""
STATES = [
    figures.TrainingPlayer(step=step, d_k=d_k, adam=adam)
    for (d_k, adam), step in itertools.product(BOTH, player.STEPS)
]


@cache
def measured(name: str, d_k: int, adam: bool) -> np.ndarray:
    """Return what was recorded under a name, one row for each arm."""
    return np.array(figures.TrainingPlayer(d_k=d_k, adam=adam).measured(name))


class TestTheRecording:
    def test_its_settings_are_those_that_the_ablation_tuned(self):
        recording = json.loads(player.RECORDING.read_text("utf-8"))
        assert recording["seed"] == REPORT_SEEDS[0]
        assert tuple(recording["steps"]) == player.STEPS
        main = load_ablation(recorder.TABLE)["main"]
        assert all(recording["seed"] not in tuning.seeds for tuning in main.tunings)
        tuned = {
            (tuning.setting.d_k, tuning.setting.optimizer, tuning.setting.arm): tuning.setting.rate
            for tuning in main.tunings
        }
        wanted = itertools.product(player.WIDTHS, player.OPTIMIZERS, ("1", "1/√dₖ"))
        for run, choice in zip(recording["runs"], wanted, strict=True):
            assert (run["d_k"], run["optimizer"], run["arm"]) == choice
            assert run["rate"] == tuned[choice]
            assert {len(value) for value in run.values() if isinstance(value, list)} == {
                len(player.STEPS)
            }

    def test_training_anew_gives_its_first_steps(self):
        """To one unit of the last digit; in a map one level, in a few cells on an edge."""
        again = recorder.record(recorder.tuned_settings(), EARLY)
        units = {"loss": 1e-4, "right": 0.01, "square": 0.01}
        for run, repeated in zip(player.recorded_runs(), again, strict=True):
            for name, unit in units.items():
                recorded = run[name][: len(EARLY)]
                np.testing.assert_allclose(repeated[name], recorded, rtol=0, atol=1.01 * unit)
            shown, drawn = (
                np.array([[int(level) for level in one] for one in maps])
                for maps in (run["maps"][: len(EARLY)], repeated["maps"])
            )
            assert abs(shown - drawn).max() <= 1
            assert (shown != drawn).mean() < 0.01

    @pytest.mark.parametrize(("d_k", "adam"), BOTH)
    def test_it_is_what_the_library_measures_of_its_own_training(self, d_k, adam):
        first = [
            figures.TrainingPlayer(step=step, d_k=d_k, adam=adam) for step in (EARLY[0], EARLY[-1])
        ]
        for arm, rule in enumerate(("1", "1/√dₖ")):
            (setting,) = (
                one
                for one in recorder.tuned_settings()
                if (one.d_k, one.optimizer, one.arm) == (d_k, first[0].optimizer, rule)
            )
            run = train(
                REPORT_SEEDS[0],
                d_k,
                ARMS[rule],
                setting.learner(ARMS[rule]).optimizer,
                steps=EARLY[-1],
                record_at=[0, EARLY[-1]],
            )
            for moment, figure in enumerate(first):
                loss = figure.measured("loss")[arm][figure.place]
                assert abs(loss - run.loss[moment]) < 0.501e-4
                # the query of the sequence's own tag is the one that the library keeps
                (row,) = set(np.flatnonzero(run.matches[0]) // player.GROUP)
                levels = np.sqrt(run.attention[moment, 0]) * player.LEVELS
                drawn = np.sqrt(figure.weights[arm, row]) * player.LEVELS
                np.testing.assert_allclose(drawn, levels, rtol=0, atol=0.501)

    @pytest.mark.parametrize(("d_k", "adam"), BOTH)
    def test_its_losses_are_those_of_the_table(self, d_k, adam):
        """Divided runs throughout; undivided ones, which amplify rounding, in the first steps."""
        losses = measured("loss", d_k, adam)
        for arm, rule in enumerate(("1", "1/√dₖ")):
            record = table_record(rule, player.OPTIMIZERS[adam], d_k)
            row = record.seeds.index(REPORT_SEEDS[0])
            for step, loss in zip(record.steps, record.loss[row], strict=True):
                shown = losses[arm, player.STEPS.index(step)]
                if step <= EARLY[-1]:
                    assert abs(shown - loss) < 1.5e-4
                elif arm == 1:
                    assert abs(shown - loss) < 1.5e-4 + 0.05 * loss

    def test_its_losses_lie_where_the_chapter_says(self):
        after_300, last = player.STEPS.index(300), -1
        assert (measured("loss", 16, False)[:, after_300] < 0.05).all()
        undivided, divided = measured("loss", 256, False)[:, after_300]
        assert 0.6 < undivided < 1.2
        assert divided < 0.1
        for adam in (False, True):
            assert (measured("loss", 16, adam)[:, last] < 0.0015).all()
            assert (measured("loss", 64, adam)[:, last] < 0.004).all()
            undivided, divided = measured("loss", 256, adam)[:, last]
            assert 0.7 < undivided < 0.8
            assert divided < 0.002


def table_record(arm: str, optimizer: str, d_k: int) -> Record:
    (record,) = (
        record
        for record in load_ablation(recorder.TABLE)["main"].records
        if (record.setting.arm, record.setting.optimizer, record.setting.d_k)
        == (arm, optimizer, d_k)
    )
    return record


class TestWhatItShows:
    @pytest.mark.parametrize("adam", [False, True])
    def test_without_division_one_right_key_comes_first_and_sharing_only_at_the_middle_width(
        self, adam
    ):
        """The answer to what the chapter asks."""
        own = np.kron(np.eye(player.ROWS, dtype=bool), np.ones(player.GROUP, dtype=bool))

        def keys_in_use(step, d_k):
            weights = figures.TrainingPlayer(step=step, d_k=d_k, adam=adam).weights[0]
            assert (weights[own].reshape(player.ROWS, -1).sum(axis=1) > 0.8).all()
            return (weights[own].reshape(player.ROWS, -1) > 0.1).sum(axis=1)

        middle, wide = (
            np.array([measured(name, d_k, adam)[0] for name in ("loss", "right", "square")])
            for d_k in (64, 256)
        )
        at_the_line = (abs(middle[0] - 0.75) < 0.07) & (middle[1] > 0.9) & (middle[2] > 0.65)
        assert at_the_line.any()
        assert middle[0, -1] < 0.01
        assert middle[2, -1] < 0.3
        assert abs(wide[0, -1] - 0.75) < 0.05
        assert wide[1, -1] > 0.95
        assert wide[2, -1] > 0.85
        assert (keys_in_use(1000, 64) == player.GROUP).all()
        assert np.median(keys_in_use(1000, 256)) == 1
        for d_k in player.WIDTHS:
            divided = figures.TrainingPlayer(step=1000, d_k=d_k, adam=adam).weights[1]
            assert ((divided > 0.1) == own).all()

    def test_in_the_first_picture_both_heads_have_found_and_one_has_a_large_loss(self):
        figure = figures.TrainingPlayer()
        assert all(right[figure.place] >= 0.95 for right in figure.measured("right"))
        undivided, divided = (loss[figure.place] for loss in figure.measured("loss"))
        assert undivided > 0.75
        assert divided < 0.003


class TestThePicture:
    def test_a_curve_is_drawn_from_the_top_on_and_a_loss_above_it_is_marked(self):
        for figure, arm in itertools.product(STATES, range(2)):
            losses = np.array(figure.measured("loss")[arm])[: figure.place + 1]
            outline, dot = re.findall(r'd="(.*?)"', figure.curve(arm))
            coordinates = np.array(re.findall(r"-?[\d.]+", outline), float)
            if losses[-1] > player.TOP:
                tip = f"{svg.number(player.across(figure.step))} {8 * arm + 1}"
                left, foot, right, up = coordinates[:4]
                assert (f"{svg.number(left + right)} {svg.number(foot + up)}", dot) == (tip, "")
                continue
            (entry, top), *points = coordinates.reshape(-1, 2)
            steps, drawn = player.STEPS[: figure.place + 1], losses <= player.TOP
            wanted = [
                (player.across(step), player.height(loss))
                for step, loss in zip(np.compress(drawn, steps), losses[drawn], strict=True)
            ]
            np.testing.assert_allclose(points, wanted, atol=0.006)
            ends = slice(len(losses) - len(wanted) - 1, len(losses) - len(wanted) + 1)
            x, y = [player.across(step) for step in steps[ends]], losses[ends]
            assert top == 0
            assert entry == pytest.approx(np.interp(-player.TOP, -y, x), abs=0.006)
            assert dot == svg.dots(wanted[-1:])
        assert [round(player.height(loss), 6) for loss in (0, 0.625, 1.25)] == [180, 90, 0]
        assert player.across(0) == player.EDGE
        assert player.across(1000) == player.WIDE - player.EDGE

    def test_the_area_of_a_square_is_a_weight_of_the_rows_own_keys_or_the_rest(self):
        for figure in STATES[::7]:
            for arm in range(2):
                drawn = np.zeros((player.ROWS, player.GROUP + 1))
                for square in figure.cells(arm).split("z")[:-1]:
                    x, y, wide, high, back = map(float, re.findall(r"-?[\d.]+", square))
                    assert wide == high == -back
                    row, column = int(y // player.CELL), min(int(x // player.ROOM), player.GROUP)
                    middle = np.array([x, y]) + wide / 2
                    center = player.middle(column), player.CELL * (row + 0.5)
                    np.testing.assert_allclose(middle, center, atol=0.011)
                    drawn[row, column] = (wide / (0.9 * player.CELL)) ** 2
                own = [row[4 * place :][:4] for place, row in enumerate(figure.weights[arm])]
                np.testing.assert_allclose(drawn[:, :4], own, atol=1e-3)
                rest = np.maximum(1 - np.sum(own, axis=1), 0)
                np.testing.assert_allclose(drawn[:, 4], rest, atol=1e-3)

    def test_each_row_has_about_as_much_ink(self):
        """The weights of a row add up to one, but for the rounding of 32 squares."""
        for figure in STATES:
            assert (abs(figure.weights.sum(axis=-1) - 1) < 0.45).all()

    def test_the_words_are_what_was_recorded(self):
        figure = figures.TrainingPlayer(step=1000, d_k=64, adam=True)
        found = [float(one) for one in re.findall(r"(?<![\w.])\d+\.\d+", figure.words())]
        assert found == [loss[-1] for loss in figure.measured("loss")]
        assert figure.words().startswith("Step 1000: loss ")
        named = re.findall(r'<span class="value">right keys (.*?)</span>', figure.picture())
        assert named == [f"{right[-1]:.0%}" for right in figure.measured("right")]

    def test_each_reference_has_its_name_at_its_height(self):
        found = re.findall(r'top:([\d.]+)%">([\w. ]+)<', STATES[0].losses())
        assert [(name, player.TOP * (1 - float(top) / 100)) for top, name in found] == [
            (name, pytest.approx(loss, abs=1e-4))
            for name, loss in (
                *((f"{loss:g}", loss) for loss in (1, 0.5, 0)),
                ("predict zero", 1),
                ("uniform", 1 - 1 / 8),
                ("one token", 1 - 1 / 4),
            )
        ]
