"""What problem set 2 states and what its judges tolerate, beyond what holds for every set."""

from __future__ import annotations

import copy
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.grading.answers_problem_set_2 import ARMS, ATTEND, GIVEN, HEADER, LOOP, ON_PAPER
from tests.grading.trial import Trial, cells, run, solved

SET = "problem_set_2"
STUDENTS = [f"s{n}" for n in range(24)]


def right(question: str, student_id: str = "s0000000") -> tuple[Trial, Any, dict[str, Any]]:
    """Return a trial of the solution, what it hands over, and what was asked."""
    trial = solved(SET, question, student_id=student_id)
    asked = trial.asked()
    run(trial.source, trial.inside)
    plt.close("all")
    return trial, trial.given(asked), asked


def told(question: str, given: Any) -> tuple[float, str]:
    """Return what an answer of the first student earns, and what is said."""
    trial, _, asked = right(question)
    outcome = trial.judge(given, asked)
    return outcome.earned, outcome.message


def figure_data(source: str) -> Any:
    """Return what an answer to question 4 hands over."""
    trial = Trial(SET, "q4", LOOP + source)
    run(trial.source, trial.inside)
    plt.close("all")
    return trial.given({})


class TestStep:
    def given(self) -> Any:
        return right("q1")[1]

    @pytest.mark.parametrize("share", [-0.9e-5, 0.9e-5])
    def test_rounding_as_of_float32_is_right(self, share: float):
        given = self.given()
        given["score_change"] = given["score_change"] * (1 + share)
        assert told("q1", given) == (1.0, "")

    @pytest.mark.parametrize("position", range(6))
    def test_one_entry_off_is_wrong(self, position: int):
        given = self.given()
        largest = np.abs(given["score_change"]).max()
        given["score_change"][position] += 2e-5 * largest
        assert told("q1", given)[0] == 0

    def test_a_hidden_twin_moves_and_a_hidden_stranger_does_not(self):
        kinds = set()
        for student_id in STUDENTS:
            trial, given, _ = right("q1", student_id)
            mine = trial.inside["mine"]
            change, hidden = given["score_change"], np.arange(1, 7) > mine["visible"]
            assert change[mine["first"] - 1] == change[mine["second"] - 1]
            strangers = hidden & (np.arange(1, 7) != mine["second"])
            assert (change[strangers] == 0).all()
            kinds.add(bool(mine["second"] > mine["visible"]))
        assert kinds == {True, False}

    def test_a_small_part_of_the_step_lowers_the_loss(self):
        trial, given, _ = right("q1")
        mine = trial.inside["mine"]
        small = 1e-6 * given["score_change"]
        before, after = (self.loss(mine, trial.inside, shift) for shift in (np.zeros(6), small))
        assert after < before

    @staticmethod
    def loss(mine: dict[str, int], names: dict[str, Any], shift: np.ndarray) -> float:
        """Return the loss, which is linear in the weights, at scores that are shifted."""
        seen = slice(mine["visible"])
        parts = np.exp((names["raw_scores"] + shift)[seen] / np.sqrt(mine["d_k"]))
        return float(parts @ names["usefulness"][seen] / parts.sum())

    @pytest.mark.parametrize("value", [np.full(6, np.nan), np.zeros((6, 1)), "six", None])
    def test_another_form_is_named(self, value: Any):
        earned, message = told("q1", {"score_change": value})
        assert earned == 0
        assert "`score_change`" in message

    def test_positions_that_are_hidden_have_no_weight(self):
        # a student for whom it makes a difference
        for student_id in STUDENTS:
            source = GIVEN + ON_PAPER.replace("exponentials[visible:] = 0\n", "")
            trial = Trial(SET, "q1", source, student_id=student_id)
            outcome = trial.outcome()
            if trial.inside["mine"]["visible"] < 6:
                assert outcome.earned == pytest.approx(0.4)
                assert "may not see have got weight" in outcome.message
            else:
                assert outcome.earned == 1


class TestTemperature:
    @pytest.mark.parametrize(("share", "earned"), [(1e-5, 1.0), (-1e-5, 1.0), (3e-5, 0.0)])
    def test_the_relative_error_counts(self, share: float, earned: float):
        _, given, _ = right("q2")
        given["between"] = [each * (1 + share) for each in given["between"]]
        assert told("q2", given)[0] == earned

    @pytest.mark.parametrize(("kind", "near"), [("coldest", 1e-300), ("warmest", 1e300)])
    def test_a_limit_is_exact(self, kind: str, near: float):
        _, given, _ = right("q2")
        given[kind] = [near for _ in given[kind]]
        earned, message = told("q2", given)
        assert earned == pytest.approx(0.8)
        assert "the limit itself" in message

    def test_no_other_temperature_gives_the_key_more(self):
        for seed in range(5):
            trial = solved(SET, "q2")
            asked = trial.asked(seed)
            run(trial.source, trial.inside)
            given = trial.given(asked)
            for kind in ("between", "large"):
                for row, found in zip(asked["rows"][kind], given[kind], strict=True):
                    around = found * np.exp(np.linspace(-8, 8, 1601))
                    log_weights = [self.log_weight(row, tau) for tau in around]
                    assert abs(int(np.argmax(log_weights)) - 800) <= 1

    @pytest.mark.parametrize("kind", ["coldest", "warmest"])
    def test_towards_a_limit_the_weight_only_grows(self, kind: str):
        _, given, asked = right("q2")
        for row, found in zip(asked["rows"][kind], given[kind], strict=True):
            taus = np.ptp(row["scores"]) * np.exp(np.linspace(-3, 6, 400))
            steps = np.diff([self.log_weight(row, tau) for tau in taus])
            assert (steps <= 1e-12).all() if found == 0 else (steps >= -1e-12).all()

    @staticmethod
    def log_weight(row: dict[str, Any], tau: float) -> float:
        """Return the logarithm of the weight of the key."""
        logits = (row["scores"] - row["scores"][row["key"]]) / tau
        return float(-logits.max() - np.log(np.exp(logits - logits.max()).sum()))

    def test_an_error_is_told_from_a_number(self):
        _, given, _ = right("q2")
        given["large"] = ["OverflowError"] * len(given["large"])
        earned, message = told("q2", given)
        assert earned == pytest.approx(0.8)
        assert "stops with an error" in message

    def test_the_key_before_is_named(self):
        trial, given, asked = right("q2")
        for position, row in enumerate(asked["rows"]["between"]):
            before = trial.outside["best"](row["scores"], row["key"] - 1)
            if 0 < before < np.inf and before != given["between"][position]:
                given["between"][position] = before
                break
        earned, message = told("q2", given)
        assert earned == 0
        assert "keys are counted from zero" in message

    def test_answers_of_other_lengths_are_wrong(self):
        _, given, _ = right("q2")
        for other in (given["between"][1:], 1.0, None):
            earned, message = told("q2", given | {"between": other})
            assert earned == 0
            assert "nothing that can be compared" in message


class TestAttention:
    KINDS = ("plain", "cap", "sink", "mask", "large", "together")

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_counts(self, kind: str):
        _, given, _ = right("q3")
        given[kind][0]["output"] = given[kind][0]["output"] + 1e-4
        earned, message = told("q3", given)
        assert earned == pytest.approx(0.0 if kind == "plain" else 0.6)
        assert "the output is not right" in message

    @pytest.mark.parametrize(("kind", "off", "earned"), [("sink", 5e-6, 1.0), ("large", 5e-6, 0.6)])
    def test_large_logits_need_more_digits(self, kind: str, off: float, earned: float):
        _, given, _ = right("q3")
        given[kind][0]["output"] = given[kind][0]["output"] + off
        assert told("q3", given)[0] == pytest.approx(earned)

    @pytest.mark.parametrize(
        ("name", "words"),
        [("cap", "without a cap"), ("sink", "without a sink"), ("mask", "without a mask")],
    )
    def test_what_is_left_out_is_named(self, name: str, words: str):
        changes = {
            "cap": ("cap is not None", "False"),
            "sink": ("sink[:, None, None]", "(sink if len(sink) == 1 else -np.inf)"),
            "mask": ("np.where(visible, logits, -np.inf)", "logits"),
        }
        outcome = Trial(SET, "q3", HEADER + ATTEND.replace(*changes[name])).outcome()
        assert 0 < outcome.earned < 1
        assert words in outcome.message

    def test_a_function_that_stops_is_told_so(self):
        body = "    if cap is not None:\n        raise ValueError('cap')\n" + ATTEND
        outcome = Trial(SET, "q3", HEADER + body).outcome()
        assert outcome.earned == pytest.approx(0.45)
        assert "with a cap: your function stops with an error" in outcome.message

    def test_weights_need_not_sum_to_one_but_with_a_sink(self):
        names: dict[str, Any] = {}
        run("import numpy as np" + HEADER + ATTEND, names)
        rng = np.random.default_rng(2)
        query, key = rng.normal(size=(2, 3, 4)), rng.normal(size=(1, 5, 4))
        ones, seen = np.ones((1, 5, 1)), np.ones((3, 5), dtype=bool)
        without = names["attend"](query, key, ones, seen, np.full(2, -np.inf), None)
        with_one = names["attend"](query, key, ones, seen, np.zeros(2), None)
        np.testing.assert_allclose(without, 1, rtol=1e-14)
        assert (with_one < 1).all()


class TestAblation:
    @pytest.mark.parametrize("student_id", STUDENTS)
    def test_two_ways_to_train_agree_a_thousand_times_within(self, student_id: str):
        trial, given, _ = right("q4", student_id)
        mine = trial.inside["mine"]
        for line in given["panels"][0]["lines"]:
            expected = trial.outside["expected_losses"](mine)[line["name"]]
            room = 1e-9 * (expected + 1e-3)
            assert (np.abs(line["loss"] - expected) <= room).all()

    def test_the_model_answer_says_what_the_runs_show(self):
        seen = set()
        for student_id in STUDENTS:
            trial = solved(SET, "q4", student_id=student_id)
            mine = trial.outside["personal_numbers"](student_id, "q4")
            losses = trial.outside["expected_losses"](mine)
            divided, undivided = losses["divided"], losses["not divided"]
            assert undivided[0] > divided[0]
            if (mine["normalised"], mine["fast"]) == (0, 1):
                assert undivided[-1] > 1e6
            else:
                assert undivided[-1] < divided[-1]
            seen.add((mine["normalised"], mine["fast"]))
        assert len(seen) == 4

    def test_the_numbers_of_the_model_answer(self):
        trial = solved(SET, "q4")
        mine = trial.outside["personal_numbers"]("s0000012", "q4")
        assert (mine["d_k"], mine["normalised"], mine["fast"]) == (28, 0, 1)
        losses = trial.outside["expected_losses"](mine)
        divided, undivided = losses["divided"], losses["not divided"]
        text = cells(SET)["q5"]
        assert f"{undivided[0]:.1f} against {divided[0]:.1f}" in text
        assert f"$10^{{{np.log10(undivided[-1]):.0f}}}$" in text
        assert f"the divided one is at {divided[-1]:.3f}" in text

    @pytest.mark.parametrize(("share", "earned"), [(0.9e-5, 1.0), (2e-5, 0.25)])
    def test_how_exact_the_rates_are(self, share: float, earned: float):
        _, given, _ = right("q4")
        given["rate_k"] = given["rate_k"] * (1 + share)
        assert told("q4", given)[0] == pytest.approx(earned)

    def test_exchanged_rates_are_named(self):
        # the first student folds everything into one matrix
        _, given, _ = right("q4")
        given["rate_q"], given["rate_k"] = given["rate_k"], given["rate_q"]
        earned, message = told("q4", given)
        assert earned == pytest.approx(0.25)
        assert "the two rates are exchanged" in message

    @pytest.mark.parametrize("step", [0, 7, 30])
    def test_one_point_off_is_wrong(self, step: int):
        _, given, _ = right("q4")
        for line in given["panels"][0]["lines"]:
            changed = copy.deepcopy(given)
            (same,) = [
                each for each in changed["panels"][0]["lines"] if each["name"] == line["name"]
            ]
            same["loss"][step] = same["loss"][step] * (1 + 2e-6) + 2e-9
            assert told("q4", changed)[0] == pytest.approx(
                0.75 if line["name"] == "folded" else 0.5
            )

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("axes.legend()", 'figure = "figure.png"', "it has 0"),
            ("axes.legend()", "figure = plt.figure()", "it has 0"),
            ("axes.legend()", "axes.legend()\nfigure.add_axes((0, 0, 0.1, 0.1))", "it has 2"),
            ("semilogy", "plot", "must be logarithmic"),
            ("axes.legend()", "", "no line is called `divided`"),
            ('"steps"', '""', "both axes need a label"),
        ],
    )
    def test_rates_count_without_a_figure(self, old: str, new: str, words: str):
        given = figure_data(ARMS.replace(old, new))
        earned, message = told("q4", given)
        assert earned == pytest.approx(0.5)
        assert words in message

    def test_every_pair_of_settings_is_in_the_answer_cell(self):
        for student_id in STUDENTS:
            trial = solved(SET, "q4", student_id=student_id)
            run(trial.source, trial.inside)
            plt.close("all")
            mine = trial.inside["mine"]
            assert trial.inside["eta"] == trial.outside["ETA"][mine["normalised"], mine["fast"]]
        assert "STEPS = 30" in cells(SET)["q4"]
        assert trial.outside["STEPS"] == 30
