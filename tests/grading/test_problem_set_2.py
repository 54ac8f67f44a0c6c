"""What problem set 2 states and what its judges tolerate, beyond what holds for every set."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from grading.environment import filled_in
from grading.figures import named_series
from grading.gradebook.scheme import CODE
from grading.hidden import by_kind
from grading.sandbox.sandbox import Limits
from tests.grading.answers_problem_set_2 import (
    ABLATION,
    ARMS,
    ATTEND,
    GIVEN,
    HEAD,
    HEADER,
    LOOP,
    ON_PAPER,
)
from tests.grading.trial import Trial, answered, cells, hidden, notebook, run, solved

pytestmark = pytest.mark.usefixtures("figures_as_in_a_notebook")

SET = "problem_set_2"
STUDENTS = [f"s{n}" for n in range(24)]
DIVERGES = "s0000012"  # plain steps at the large rate


def right(question: str, student_id: str = "s0000000") -> tuple[Trial, Any, dict[str, Any]]:
    """Return a trial of the solution, what it hands over, and what was asked."""
    trial, given, asked = answered(SET, question, student_id=student_id)
    plt.close("all")
    return trial, sorted_out(given, asked), asked


def sorted_out(given: Any, asked: Any) -> Any:
    """Return what came out by the kinds of its cases, where there are some."""
    return by_kind(given["found"], asked["kinds"]) if "kinds" in asked else given


def told(question: str, given: Any) -> tuple[float, str]:
    """Return what an answer of the first student earns, and what is said."""
    trial, _, asked = right(question)
    if "kinds" in asked:
        left = {kind: iter(each or ()) for kind, each in given.items()}
        given = {"found": [next(left[kind], None) for kind in asked["kinds"]]}
    outcome = trial.judge(given, asked)
    return outcome.earned, outcome.message


def figure_data(source: str) -> Any:
    """Return what an answer to question 4 hands over."""
    trial = Trial(SET, "q4", LOOP + source)
    run(trial.source, trial.inside)
    plt.close("all")
    return trial.given({})


class TestRules:
    def test_the_time_that_is_told_is_the_time_there_is(self):
        rules = filled_in(notebook(SET).cells[0].source)
        assert f"longer than {Limits().cell_seconds:g} seconds is stopped" in rules
        for question in ("q2", "q3"):
            said = f"all together in {Limits().cell_seconds:g} seconds"
            assert said in filled_in(cells(SET)[f"{question}_text"])

    @pytest.mark.parametrize("cell", ["q5_text", "q5"])
    def test_a_long_paragraph_costs_nothing(self, cell: str):
        assert "nothing" in cells(SET)[cell]
        assert "more than six sentences" in cells(SET)["q5"].lower()
        assert "a longer paragraph costs nothing" in cells(SET)["q5_text"]

    @pytest.mark.parametrize("question", ["q2", "q3"])
    def test_the_end_of_the_time_is_no_mistake_of_one_call(self, question: str):
        head = {"q2": HEAD, "q3": HEADER}[question]
        trial = Trial(SET, question, head + "    raise KeyboardInterrupt\n")
        run(trial.source, trial.inside)
        with pytest.raises(KeyboardInterrupt):
            trial.given(trial.asked())


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

    def test_a_hidden_twin_is_not_said_to_hear_anything(self):
        messages = set()
        for student_id in STUDENTS:
            alone = "heard[[first - 1, second - 1]] = heard[first - 1] + heard[second - 1]\n"
            trial = Trial(SET, "q1", GIVEN + ON_PAPER.replace(alone, ""), student_id=student_id)
            outcome = trial.outcome()
            assert outcome.earned == pytest.approx(0.4)
            is_hidden = trial.inside["second"] > trial.inside["visible"]
            assert ("what moves one moves the other" in outcome.message) is is_hidden
            assert ("hears what both positions are told" in outcome.message) is not is_hidden
            messages.add(outcome.message)
        assert len(messages) == 2

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
        return float(parts @ names["costs"][seen] / parts.sum())

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


@cache
def first_base() -> float:
    """Return the base of the first student's softmax."""
    return solved(SET, "q2").outside["personal_numbers"]("s0000000", "q2")["hundredths"] / 100


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
            _, given, asked = answered(SET, "q2", seed=seed)
            given = by_kind(given["found"], asked["kinds"])
            rows = by_kind(asked["rows"], asked["kinds"])
            for kind in ("between", "large"):
                for row, found in zip(rows[kind], given[kind], strict=True):
                    around = found * np.exp(np.linspace(-8, 8, 1601))
                    log_weights = [self.log_weight(row, tau) for tau in around]
                    assert abs(int(np.argmax(log_weights)) - 800) <= 1

    @pytest.mark.parametrize("kind", ["coldest", "warmest"])
    def test_towards_a_limit_the_weight_only_grows(self, kind: str):
        _, given, asked = right("q2")
        rows = by_kind(asked["rows"], asked["kinds"])[kind]
        for row, found in zip(rows, given[kind], strict=True):
            taus = np.ptp(row["scores"]) * np.exp(np.linspace(-3, 6, 400))
            steps = np.diff([self.log_weight(row, tau) for tau in taus])
            assert (steps <= 1e-12).all() if found == 0 else (steps >= -1e-12).all()

    @staticmethod
    def log_weight(row: dict[str, Any], tau: float) -> float:
        """Return the logarithm of the weight of the key, in the first student's softmax."""
        logits = (row["scores"] - row["scores"][row["key"]]) / tau * np.log(first_base())
        return float(-logits.max() - np.log(np.exp(logits - logits.max()).sum()))

    def test_the_parts_are_worth_what_is_said(self):
        _, given, _ = right("q2")
        for lost, kind in enumerate(("large", "coldest", "warmest"), start=1):
            given[kind] = None
            assert told("q2", given)[0] == pytest.approx(1 - lost / 5)
        assert told("q2", given | {"between": None})[0] == 0
        assert "worth two fifths" in cells(SET)["q2_text"]
        assert "worth one fifth each" in cells(SET)["q2_text"]

    def test_two_dozen_rows_of_up_to_two_hundred_scores(self):
        for seed in range(20):
            rows = [row["scores"] for row in solved(SET, "q2").asked(seed)["rows"]]
            assert len(rows) == 24
            assert max(map(len, rows)) <= 200
        assert "two dozen rows of up to 200 scores" in cells(SET)["q2_text"]

    def test_the_public_check_takes_an_array_of_one_entry(self):
        for form in ("np.array([{}])", "np.array([[{}]])", "[{}]", "np.float64({})"):
            body = f"    return {form.format('4 * np.log(base) / np.log(3)')}\n"
            trial = Trial(SET, "q2", HEAD + body)
            trial.check()
            wrong = Trial(SET, "q2", HEAD + body.replace("log(3)", "log(3.001)"))
            with pytest.raises(AssertionError, match="not that of the statement"):
                wrong.check()

    @pytest.mark.parametrize("form", [np.atleast_1d, np.atleast_2d, lambda each: [each]])
    def test_every_temperature_may_be_an_array_of_one_entry(self, form: Any):
        _, given, _ = right("q2")
        wrapped = {kind: [form(each) for each in found] for kind, found in given.items()}
        assert told("q2", wrapped)[0] == 1

    def test_an_error_is_told_from_a_number(self):
        _, given, _ = right("q2")
        given["large"] = ["an error"] * len(given["large"])
        earned, message = told("q2", given)
        assert earned == pytest.approx(0.8)
        assert "stops with an error" in message

    def test_the_key_before_is_named(self):
        trial, given, asked = right("q2")
        for position, row in enumerate(by_kind(asked["rows"], asked["kinds"])["between"]):
            before = trial.outside["best"](row["scores"], row["key"] - 1, trial.inside["base"])
            if 0 < before < np.inf and before != given["between"][position]:
                given["between"][position] = before
                break
        earned, message = told("q2", given)
        assert earned == 0
        assert "keys are counted from zero" in message

    def test_answers_of_other_lengths_are_wrong(self):
        trial, given, asked = answered(SET, "q2")
        for other in (given["found"][1:], 1.0, None):
            outcome = trial.judge({"found": other}, asked)
            assert outcome.earned == 0
            assert "nothing that can be compared" in outcome.message


class TestAttention:
    KINDS = ("plain", "cap", "sink", "mask", "large", "together")

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_counts(self, kind: str):
        _, given, _ = right("q3")
        given[kind][0]["output"] = given[kind][0]["output"] + 1e-4
        earned, message = told("q3", given)
        assert earned == pytest.approx(0.8)
        assert "the output is not right" in message

    def test_the_parts_are_worth_a_point_each(self):
        _, given, _ = right("q3")
        parts, wrong = ("plain", "cap", "sink", "mask", "large"), copy.deepcopy(given)
        for lost, kind in enumerate(parts, start=1):
            wrong[kind] = None
            assert told("q3", wrong)[0] == pytest.approx(1 - lost / len(parts))
        assert "One point each" in cells(SET)["q3_text"]
        assert "makes 15 calls" in cells(SET)["q3_text"]
        assert sum(map(len, given.values())) == 15

    @pytest.mark.parametrize("kind", ["cap", "sink", "mask"])
    def test_what_goes_wrong_alone_is_not_counted_again_together(self, kind: str):
        _, given, _ = right("q3")
        earned, message = told("q3", given | {kind: None, "together": None})
        assert earned == pytest.approx(0.8)
        assert "together" not in message

    @pytest.mark.parametrize("kind", KINDS)
    def test_arguments_that_change_cost_a_point_once(self, kind: str):
        _, given, _ = right("q3")
        given[kind][-1]["after"]["query"] = given[kind][-1]["after"]["query"] + 1e-9
        assert told("q3", given) == (pytest.approx(0.8), "your function changes its arguments")

    @pytest.mark.parametrize(("kind", "off", "earned"), [("sink", 5e-6, 1.0), ("large", 5e-6, 0.8)])
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
        for error in ("ValueError", "RuntimeError", "NotImplementedError", "AssertionError"):
            body = f"    if cap is not None:\n        raise {error}('cap')\n" + ATTEND
            outcome = Trial(SET, "q3", HEADER + body).outcome()
            assert outcome.earned == pytest.approx(0.8)
        assert "with a cap: your function stops with an error" in outcome.message

    def test_weights_need_not_sum_to_one_but_with_a_sink(self):
        trial = Trial(SET, "q3", HEADER + ATTEND)
        run(trial.source, trial.inside)
        names = trial.inside
        rng = np.random.default_rng(2)
        query, key = rng.normal(size=(2, 3, 4)), rng.normal(size=(1, 5, 4))
        ones, seen = np.ones((1, 5, 1)), np.ones((3, 5), dtype=bool)
        without = names["attend"](query, key, ones, seen, np.full(2, -np.inf), None)
        with_one = names["attend"](query, key, ones, seen, np.zeros(2), None)
        np.testing.assert_allclose(without, 1, rtol=1e-14)
        assert (with_one < 1).all()


@pytest.mark.proof("retraining")
class TestAblation:
    @pytest.mark.parametrize("student_id", STUDENTS)
    def test_two_ways_to_train_agree_a_thousand_times_within(self, student_id: str):
        trial, given, _ = right("q4", student_id)
        mine = trial.inside["mine"]
        expected = trial.outside["expected_losses"](mine)
        found = dict(named_series(given["drawn"]))
        assert found.keys() == expected.keys()
        for arm, points in found.items():
            room = 1e-9 * (expected[arm] + 1e-3)
            assert (np.abs(points[:, 1] - expected[arm]) <= room).all()

    def test_the_model_answer_says_what_the_runs_show(self):
        outside, runs, seen = solved(SET, "q4").outside, 400, set()
        for n in range(runs):
            mine = outside["personal_numbers"](f"s{n}", "q4")
            losses = outside["expected_losses"](mine)
            divided, undivided = losses["divided"], losses["not divided"]
            case = (mine["normalized"], mine["fast"])
            assert undivided[0] > divided[0]
            assert divided[-1] < divided[0]
            if case == (0, 1):
                assert undivided[-1] > 1e6 * outside["HIGHEST"]
            else:
                assert undivided[-1] < divided[-1]
                assert undivided.max() < 1000
            assert divided.max() < 10
            seen.add(case)
        assert len(seen) == 4
        assert f"for each of {runs} drawn student numbers" in cells(SET)["q5"]

    def test_the_numbers_of_the_model_answer(self):
        trial = solved(SET, "q4")
        mine = trial.outside["personal_numbers"](DIVERGES, "q4")
        assert (mine["d_k"], mine["normalized"], mine["fast"]) == (28, 0, 1)
        losses = trial.outside["expected_losses"](mine)
        divided, undivided = losses["divided"], losses["not divided"]
        text = cells(SET)["q5"]
        assert f"{undivided[0]:.1f} against {divided[0]:.1f}" in text
        asked = trial.outside["personal_numbers"](DIVERGES, "q5")
        assert "claim {claim}, step {step}".format(**asked) in text
        assert undivided[asked["step"]] > 1000
        assert f"a loss of $10^{{{np.log10(undivided[-1]):.0f}}}$" in text
        for moment in (asked["step"], -1):
            assert f"the divided one is at {divided[moment]:.3f}" in text

    def test_the_scheme_prints_the_losses_of_the_student(self):
        (code,) = CODE.findall(cells(SET)["q5"])
        for student_id in (DIVERGES, *STUDENTS[:6]):
            trial = solved(SET, "q4")
            asked = trial.outside["personal_numbers"](student_id, "q5")
            losses = trial.outside["expected_losses"](
                trial.outside["personal_numbers"](student_id, "q4")
            )
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                run(code, {**trial.inside, "student_id": student_id})
            first, *lines = printed.getvalue().splitlines()
            assert first == f"claim {asked['claim']}"
            for line, arm in zip(lines, ("divided", "not divided"), strict=True):
                for step in (0, asked["step"], 30):
                    assert f"  {step}: {losses[arm][step]:.3g}" in line

    def test_every_claim_is_refuted_by_the_lines(self):
        assert {f"Claim {n}: " in cells(SET)["q5"] for n in range(1, 5)} == {True}
        for student_id in STUDENTS:
            trial, *_ = right("q4", student_id)
            losses = trial.outside["expected_losses"](trial.inside["mine"])
            # claims 2 and 3: they differ before a rate has acted
            assert losses["not divided"][0] > 1.2 * losses["divided"][0]
            # claim 4: a smaller start at the shared rate leaves the divided line
            run(ARMS.replace("1, rate_q, rate_k", "1, eta, eta"), trial.inside)
            plt.close("all")
            ahead = np.abs(trial.inside["folded"] - losses["divided"]) / losses["divided"]
            assert ahead[0] < 1e-9
            assert ahead[1] > 1e-3

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
    @pytest.mark.parametrize("arm", ["divided", "not divided", "folded"])
    def test_one_point_off_costs_its_line(self, arm: str, step: int):
        trial, given, _ = right("q4")
        (line,) = [each for each in given["drawn"]["pieces"] if each["label"] == arm]
        line["y"][step] = line["y"][step] * (1 + 2e-6) + 2e-9
        assert told("q4", given)[0] == pytest.approx(1 - 0.5 * trial.outside["WORTH"][arm])

    def test_the_lines_together_are_the_figure(self):
        assert sum(right("q4")[0].outside["WORTH"].values()) == 1

    @pytest.mark.parametrize(
        "source", [pytest.param(each.source, id=each.name) for each in ABLATION if each.earned == 1]
    )
    def test_every_right_figure_is_right_where_an_arm_diverges(self, source: str):
        trial = Trial(SET, "q4", source, student_id=DIVERGES)
        trial.check()
        outcome = trial.outcome()
        assert outcome.earned == 1, outcome.message

    def test_an_arm_that_diverges_leaves_the_page(self):
        endless = ARMS.replace("axes.set_ylim(top=1000)\n", "")
        trial = Trial(SET, "q4", LOOP + endless, student_id=DIVERGES)
        with pytest.raises(AssertionError, match="end at 1000 or below"):
            trial.check()
        outcome = trial.outcome()
        assert outcome.earned == pytest.approx(0.875)
        assert "end at 1000 or below" in outcome.message

    @pytest.mark.parametrize(("top", "earned"), [(1e-3, 1), (1000, 1), (9e5, 1), (2e6, 0.875)])
    def test_the_end_of_the_axis_is_read_leniently(self, top: float, earned: float):
        given = figure_data(ARMS.replace("top=1000", f"1e-15, {top}"))
        assert given["drawn"]["top"] == top
        assert told("q4", given)[0] == pytest.approx(earned)

    def test_one_form_of_reading_for_both_sets(self):
        def helpers(assignment: str) -> dict[str, str]:
            nodes = ast.walk(ast.parse(hidden(assignment, "q4")))
            functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
            return {node.name: ast.unparse(node) for node in functions}

        one, two = helpers("problem_set_1"), helpers(SET)
        for name in ("told", "look", "pieces"):
            assert one[name] == two[name]

    @pytest.mark.parametrize(
        ("old", "new", "earned", "words"),
        [
            ("axes.legend()", 'figure = "figure.png"', 0.5, "is no Matplotlib figure"),
            ("axes.legend()", "figure = plt.figure()", 0.5, "is no Matplotlib figure with axes"),
            ("axes.legend()", "figure.add_axes((0, 0, 0.1, 0.1))", 0.5, "one pair of axes"),
            ("semilogy", "plot", 0.875, "must be logarithmic"),
            ("axes.legend()", "", 0.875, "needs a legend"),
            ("axes.legend()", "axes.legend(['a', 'b', 'c'])", 0.875, "begins with `divided`"),
            ('"steps"', '""', 0.875, "both axes need a label"),
            ('"loss"', '"  "', 0.875, "both axes need a label"),
        ],
    )
    def test_what_is_wrong_with_the_figure_costs_its_part(
        self, old: str, new: str, earned: float, words: str
    ):
        found = told("q4", figure_data(ARMS.replace(old, new)))
        assert found[0] == pytest.approx(earned)
        assert words in found[1]

    def test_every_pair_of_settings_is_in_the_answer_cell(self):
        for student_id in STUDENTS:
            trial, *_ = right("q4", student_id)
            mine = trial.inside["mine"]
            assert trial.inside["eta"] == trial.outside["ETA"][mine["normalized"], mine["fast"]]
        assert "STEPS = 30" in cells(SET)["q4"]
        assert trial.outside["STEPS"] == 30
