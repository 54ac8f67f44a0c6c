"""The right answers of problem set 1, found a second time in another way, and its tolerances."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

from attnlib import general_score_moments
from grading.hidden import Wrong, close
from tests.grading.trial import STUDENT, STUDENTS, Outcome, Trial, answered, cells, run, solved

pytestmark = pytest.mark.usefixtures("figures_as_in_a_notebook")

SET = "problem_set_1"
CLASS = [f"s{number:07}" for number in range(150)]
MANY = [f"s{number:07}" for number in range(600)]


@cache
def checks(question: str) -> dict[str, Any]:
    """Return the names that the hidden check of a question defines."""
    return solved(SET, question).outside


def personal(student_id: str, question: str) -> dict[str, int]:
    return checks("q1")["personal_numbers"](student_id, question)


def judged(question: str, given: dict[str, Any], student_id: str = STUDENT) -> Outcome:
    """Return what an answer earns that needs no function to be called."""
    try:
        checks(question)["judge"](given, student_id, {})
    except Wrong as wrong:
        return Outcome(wrong.earned, str(wrong))
    return Outcome(1.0, "")


def laws(numbers: dict[str, int]) -> tuple[np.ndarray, ...]:
    """Return covariance matrices and means of query and key in question 1."""
    covariances, means = [], []
    for side in "qk":
        tied = np.zeros(numbers["d_k"], dtype=bool)
        start = numbers[f"{side}_start"] - 1
        tied[start : start + numbers[f"{side}_count"]] = True
        covariances.append(np.maximum(np.eye(numbers["d_k"]), np.outer(tied, tied)))
        means.append(np.full(numbers["d_k"], numbers[f"{side}_mean"] / 10))
    return (*covariances, *means)


class TestSplitVariance:
    def test_the_blocks_fit_into_the_narrowest_head(self):
        ranges = checks("q1")["RANGES"]["q1"]
        for side in "qk":
            last = ranges[f"{side}_start"][1] + ranges[f"{side}_count"][1] - 1
            assert last <= ranges["d_k"][0]

    def test_matrices_say_the_same(self):
        variances = checks("q1")["variances"]
        for student_id in MANY[:300]:
            numbers = personal(student_id, "q1")
            cov_q, cov_k, mean_q, mean_k = laws(numbers)
            _, whole = general_score_moments(cov_q, cov_k, mean_q=mean_q, mean_k=mean_k)
            _, without = general_score_moments(cov_q, cov_k, mean_q=mean_q)
            within, between = variances(numbers)
            assert within == pytest.approx(without, rel=1e-12)
            assert between == pytest.approx(whole - without, rel=1e-9, abs=1e-9)

    @pytest.mark.parametrize("student_id", [STUDENT, "s0000002"])
    def test_so_do_random_rows(self, student_id: str):
        numbers = personal(student_id, "q1")
        cov_q, cov_k, mean_q, mean_k = laws(numbers)
        rng = np.random.default_rng(11)
        n_rows, n_keys = 3000, 100
        queries = mean_q + rng.standard_normal((n_rows, numbers["d_k"]))
        keys = rng.standard_normal((n_rows, n_keys, numbers["d_k"]))
        keys += mean_k  # in place: a copy takes a hundred megabytes
        for vectors, covariance in ((queries, cov_q), (keys, cov_k)):
            (tied,) = np.nonzero(covariance.sum(axis=0) > 1)
            vectors[..., tied] = vectors[..., tied[:1]]
        scores = np.einsum("rd,rnd->rn", queries, keys)
        rows = scores.var(axis=1, ddof=1)
        within, between = checks("q1")["variances"](numbers)
        assert abs(rows.mean() - within) < 5 * rows.std() / math.sqrt(n_rows)
        # the mean of a row varies by what lies between rows, and by its share of what is within
        means = scores.mean(axis=1)
        found = means.var(ddof=1) - rows.mean() / n_keys
        error = np.std((means - means.mean()) ** 2) / math.sqrt(n_rows)
        assert abs(found - between) < 5 * error

    def test_every_student_meets_the_same_difficulties(self):
        ranges = checks("q1")["RANGES"]["q1"]
        lowest, highest = ({name: ends[at] for name, ends in ranges.items()} for at in (0, 1))
        # the block of the query begins first and ends first, and two components lie in both
        assert highest["q_start"] < lowest["k_start"]
        assert highest["q_start"] + highest["q_count"] < lowest["k_start"] + lowest["k_count"]
        assert lowest["q_start"] + lowest["q_count"] - highest["k_start"] == 2
        # ties and means of one side cannot be taken for those of the other
        assert highest["q_count"] < lowest["k_count"]
        assert highest["k_mean"] < lowest["q_mean"] <= highest["q_mean"] < 10
        for student_id in MANY:
            numbers = personal(student_id, "q1")
            overlap = checks("q1")["parts"](numbers)["overlap"]
            assert 2 <= overlap < min(numbers["q_count"], numbers["k_count"])
            within, between = checks("q1")["variances"](numbers)
            assert between > 0
            assert within > numbers["d_k"] + between / 2

    @pytest.mark.proof("unusual")
    def test_a_mistake_costs_everybody_the_same(self):
        for student_id in MANY:
            numbers = personal(student_id, "q1")
            within, between = checks("q1")["variances"](numbers)
            q, k = numbers["q_count"], numbers["k_count"]
            found = checks("q1")["parts"](numbers)
            trace, overlap = found["trace"], found["overlap"]
            tied_in_query = within - trace + numbers["d_k"] + q * (q - 1)
            smaller_count = within - trace + numbers["d_k"] + min(q, k) * (min(q, k) - 1)
            untied = within - overlap * (overlap - 1)
            for wrong in (tied_in_query, smaller_count, untied, trace, numbers["d_k"], 0):
                assert judged("q1", {"within": wrong, "between": between}, student_id).earned == 0.5
            for wrong in (0, within, within + between, (numbers["k_mean"] / 10) ** 2):
                assert judged("q1", {"within": within, "between": wrong}, student_id).earned == 0.5

    def test_a_mistake_that_has_a_name_is_hardly_ever_the_truth(self):
        by_chance = 0
        for student_id in MANY:
            numbers = personal(student_id, "q1")
            mistakes = checks("q1")["known_mistakes"](numbers)
            for right, wrong in zip(
                checks("q1")["variances"](numbers), mistakes.values(), strict=True
            ):
                single = [value for value, words in wrong if "and" not in words.split()]
                assert not any(close(value, right, 1e-5) for value in single)
                by_chance += any(close(value, right, 1e-5) for value, _ in wrong)
        # two mistakes of one student that cancel
        assert by_chance < 0.01 * len(MANY)

    def test_a_sum_that_is_right_earns_one_point(self):
        for student_id in CLASS:
            within, between = checks("q1")["variances"](personal(student_id, "q1"))
            for share, earned in ((0.5, 0.25), (0, 0.25), (-0.1, 0), (1, 1)):
                given = {"within": share * within, "between": between + (1 - share) * within}
                assert judged("q1", given, student_id).earned == earned
            less = {"within": within / 2, "between": (between + within / 2) * (1 - 1e-4)}
            assert judged("q1", less, student_id).earned == 0

    def test_what_the_theorem_says_earns_nothing(self):
        for student_id in CLASS:
            for within in (personal(student_id, "q1")["d_k"], 1.0, 0.0):
                assert judged("q1", {"within": within, "between": 0}, student_id).earned == 0

    @pytest.mark.parametrize("student_id", CLASS[:40])
    def test_tolerance(self, student_id: str):
        within, between = checks("q1")["variances"](personal(student_id, "q1"))
        for sign in (-1, 1):
            near, far = 1 + sign * 9e-6, 1 + sign * 2e-5
            right = {"within": within, "between": between}
            shift = sign * 3e-5 * max(1, between)
            assert judged("q1", right | {"within": within * near}, student_id).earned == 1
            assert judged("q1", right | {"within": within * far}, student_id).earned < 1
            assert judged("q1", right | {"between": between + shift}, student_id).earned < 1

    def test_no_mistake_is_told_of_the_right_answer(self):
        for student_id in CLASS:
            numbers = personal(student_id, "q1")
            right = checks("q1")["variances"](numbers)
            for each in right:
                outcome = judged("q1", {"within": each, "between": right[1]}, student_id)
                assert outcome.earned == (1 if each == right[0] else 0.5)


class TestFrozenWidths:
    def test_the_formula_agrees_with_every_width_tried(self):
        for student_id in STUDENTS:
            numbers = personal(student_id, "q2")
            trial, *_ = answered(SET, "q2", student_id=student_id)
            found = checks("q2")["frozen_widths"](
                2 * math.log(numbers["n"]),
                1 - numbers["shared"] / 100,
                *(numbers[name] for name in ("constant", "root", "whole")),
            )
            assert np.array_equal(trial.inside["frozen"], found)

    def test_no_width_lies_so_close_to_the_line_that_rounding_decides(self):
        for student_id in CLASS:
            numbers = personal(student_id, "q2")
            line, kept = 2 * math.log(numbers["n"]), 1 - numbers["shared"] / 100
            for edge in (
                line / kept,
                line * numbers["constant"] ** 2 / kept,
                kept * numbers["whole"] ** 2 / line,
            ):
                assert abs(edge - round(edge)) > 1e-9 * edge
            assert abs(kept * numbers["root"] ** 2 - line) > 1e-9 * line

    def test_rows_that_share_a_part_spread_as_the_statement_says(self):
        rng = np.random.default_rng(5)
        shared, d_k, n = 0.4, 24, 60
        queries = rng.standard_normal((4000, d_k))
        common = rng.standard_normal((4000, 1, d_k))
        own = rng.standard_normal((4000, n, d_k))
        keys = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
        rows = np.einsum("rd,rnd->rn", queries, keys).var(axis=1, ddof=1)
        assert abs(rows.mean() - (1 - shared) * d_k) < 5 * rows.std() / math.sqrt(len(rows))

    @pytest.mark.proof("unusual")
    def test_students_meet_every_case(self):
        cases = set()
        for student_id in CLASS:
            trial, *_ = answered(SET, "q2", student_id=student_id)
            frozen = trial.inside["frozen"]
            cases.add((bool(frozen[2].any()), bool(frozen[3].any())))
        assert {(True, True), (False, True), (False, False)} <= cases

    def test_n_below_is_told_so_and_costs_a_point(self):
        others = 0
        for student_id in CLASS:
            numbers = personal(student_id, "q2")
            constants = [numbers[name] for name in ("constant", "root", "whole")]
            kept = (1 - numbers["shared"] / 100) * (1 - 1 / numbers["n"])
            line = 2 * math.log(numbers["n"])
            given = {"frozen": checks("q2")["frozen_widths"](line, kept, *constants)}
            outcome = judged("q2", given, student_id)
            others += outcome.earned < 1
            assert outcome.earned in (0.75, 1)
            assert outcome.earned == 1 or "the variance with n below" in outcome.message
        assert others > 60

    def test_what_could_be_guessed_counts_with_a_row_that_could_not(self):
        right = checks("q2")["frozen_widths"]
        seen = 0
        for student_id in MANY:
            numbers = personal(student_id, "q2")
            constants = [numbers[name] for name in ("constant", "root", "whole")]
            table = right(2 * math.log(numbers["n"]), 1 - numbers["shared"] / 100, *constants)
            if table[3].any():
                continue
            seen += 1
            for kept, earned in (([2, 3], 0), ([2], 0), ([3], 0), ([0, 3], 0.5), ([0, 2, 3], 0.75)):
                frozen = np.full((4, 2), 7)
                frozen[kept] = table[kept]
                assert judged("q2", {"frozen": frozen}, student_id).earned == earned
        assert seen > 5

    def test_what_needs_no_thought_earns_nothing(self):
        for student_id in CLASS:
            for row in ([0, 0], [1, 65536], [1, 1]):
                outcome = judged("q2", {"frozen": np.array([row] * 4)}, student_id)
                assert outcome.earned <= (0.25 if row == [1, 1] else 0)

    def test_one_width_more_or_less_is_wrong(self):
        trial, *_ = answered(SET, "q2")
        for row in range(4):
            for column in range(2):
                for change in (-1, 1, 0.001):
                    frozen = trial.inside["frozen"].astype(float)
                    frozen[row, column] += change
                    assert judged("q2", {"frozen": frozen}).earned == 0.75


def exact_positions(row: np.ndarray, divisor: float, removed: int, order: float) -> float:
    """Return the effective positions behind the leaders of one row, with fifty digits."""
    with mpmath.workdps(50):
        left = sorted(row.tolist())[: max(0, len(row) - removed)]
        if not left:
            return 0.0
        terms = [mpmath.e ** ((mpmath.mpf(each) - left[-1]) / mpmath.mpf(divisor)) for each in left]
        total = mpmath.fsum(terms)
        powers = mpmath.fsum((each / total) ** mpmath.mpf(order) for each in terms)
        return float(powers ** (1 / (1 - mpmath.mpf(order))))


class TestPositionsBehind:
    @pytest.mark.parametrize("student_id", [STUDENT, *CLASS[1:4]])
    def test_fifty_digits_say_the_same(self, student_id: str):
        numbers = personal(student_id, "q3")
        removed, order = numbers["removed"], numbers["order"] / 10
        trial = solved(SET, "q3", student_id=student_id)
        kinds = set()
        for seed in range(2):
            asked = trial.asked(seed)
            kinds.update(asked["kinds"])
            for case in asked["cases"]:
                found = checks("q3")["behind"](case["scores"], case["divisor"], removed, order)
                rows = case["scores"].reshape(-1, case["scores"].shape[-1])
                exact = [exact_positions(row, case["divisor"], removed, order) for row in rows]
                assert found.shape == case["scores"].shape[:-1]
                assert np.allclose(found.ravel(), exact, rtol=1e-9, atol=0)
        assert kinds == {"moderate", "tied", "large", "short"}

    def test_a_row_that_is_even_over_m_keys_has_m_positions(self):
        for order in (1.2, 2.0, 6.0):
            even = np.array([5.0, 9.0, 0.0, 0.0, 0.0, -4000.0])
            assert checks("q3")["behind"](even, 0.7, 2, order) == pytest.approx(3, rel=1e-12)

    def test_inputs_differ_between_runs_and_fit_every_student(self):
        for student_id in STUDENTS:
            trial = solved(SET, "q3", student_id=student_id)
            first, second = (trial.asked(seed)["cases"] for seed in (1, 2))
            assert not np.array_equal(first[0]["scores"], second[0]["scores"])
            for case in first:
                assert np.isfinite(case["scores"]).all()
                assert np.abs(case["scores"]).max() <= 10000

    def test_tolerance(self):
        trial, given, asked = answered(SET, "q3")
        for sign in (-1, 1):
            for change, passes in ((9e-6, True), (2e-5, False)):
                found = [each + sign * change for each in given["found"]]
                outcome = trial.judge({**given, "found": found}, asked)
                assert (outcome.earned == 1) is passes

    def test_an_array_of_one_entry_is_as_good_as_a_number(self):
        trial, given, asked = answered(SET, "q3")
        wide = [np.reshape(each, np.shape(each) or (1,)) for each in given["found"]]
        assert sum(np.shape(each) == (1,) for each in wide) == 2
        assert trial.judge({**given, "found": wide}, asked).earned == 1
        long = [np.reshape(each, (1, -1)) for each in given["found"]]
        assert trial.judge({**given, "found": long}, asked).earned == 0
        place = next(
            i
            for i, (case, kind) in enumerate(zip(asked["cases"], asked["kinds"], strict=True))
            if kind == "moderate" and case["scores"].ndim == 1
        )
        case, order = asked["cases"][place], personal(STUDENT, "q3")["order"] / 10
        leaders_left = checks("q3")["behind"](case["scores"], case["divisor"], 0, order)
        wide[place] = np.reshape(leaders_left, (-1,))
        outcome = trial.judge({**given, "found": wide}, asked)
        assert outcome == Outcome(0.0, "the leaders are still in the row")

    def test_the_public_check_wants_a_number_for_a_single_row(self):
        trial = solved(SET, "q3")
        assert trial.source.count("return (weights**order)") == 1
        trial.source = trial.source.replace(
            "return (weights**order)", "return np.atleast_1d(weights**order)"
        ).replace(".sum(axis=-1) **", ".sum(axis=-1, keepdims=weights.ndim == 1) **")
        assert trial.outcome().earned == 1
        with pytest.raises(AssertionError, match=r"a single row should give a number.*\(1,\)"):
            trial.check()

    def test_every_case_counts(self):
        trial, given, asked = answered(SET, "q3")
        left = {"moderate": 0.0, "tied": 0.75, "large": 0.5, "short": 0.75}
        for place, kind in enumerate(asked["kinds"]):
            found = list(given["found"])
            found[place] = found[place] + 0.01
            outcome = trial.judge({**given, "found": found}, asked)
            assert outcome.earned == left[kind]


def variance_quantile_factor(n_groups: int, pairs: int, tail: float) -> float:
    """Return how many standard errors a measured variance exceeds with a probability of `tail`.

    The first terms of Cornish and Fisher's expansion, from the moments of a sum of `n_groups`
    products: its cumulants of even order 2j are n_groups (2j - 1)!.
    """
    z = float(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(tail)))
    k4, k6, k8 = 6 / n_groups, 120 / n_groups**2, 5040 / n_groups**3
    m4, m6 = 3 + k4, 15 + 15 * k4 + k6
    m8 = 105 + 210 * k4 + 35 * k4**2 + 28 * k6 + k8
    second, third = m4 - 1, m6 - 3 * m4 + 2
    fourth = m8 - 4 * m6 + 6 * m4 - 3
    skew = third / second**1.5 / math.sqrt(pairs)
    excess = (fourth / second**2 - 3) / pairs
    return (
        z + (z**2 - 1) * skew / 6 + (z**3 - 3 * z) * excess / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
    )


def shown(name: str, *points: np.ndarray) -> dict[str, Any]:
    """Return a piece of a figure, or without points its entry in the legend."""
    look = {"label": name, "text": name, "color": "k", "shape": name[0]}
    return {**look, **dict(zip("xy", points, strict=False))}


class TestMeasuredSpread:
    @pytest.mark.parametrize("student_id", CLASS[:12])
    def test_covariance_matrices_say_the_same(self, student_id: str):
        numbers = personal(student_id, "q4")
        group, spread = numbers["group"], numbers["spread"] / 10
        for width in group * checks("q4")["GROUPS"]:
            tied = np.kron(np.eye(width // group), np.ones((group, group)))
            query = tied if numbers["repeated"] == 2 else np.eye(width)
            _, variance = general_score_moments(spread**2 * query, tied)
            found = checks("q4")["law"](numbers, width)
            assert found == pytest.approx(math.sqrt(variance), rel=1e-12)

    def test_the_tails_of_a_score_depend_on_the_number_of_groups_alone(self):
        rng = np.random.default_rng(8)
        for query_groups in (True, False):
            key = rng.standard_normal((400_000, 4)).repeat(3, axis=1)
            query = rng.standard_normal((400_000, 12))
            if query_groups:
                query = query[:, :4].repeat(3, axis=1)
            scores = (query * key).sum(axis=1)
            kurtosis = np.mean(scores**4) / np.mean(scores**2) ** 2 - 3
            assert kurtosis == pytest.approx(6 / 4, abs=0.25)

    def test_chance_spoils_a_right_measurement_less_than_once_in_a_million(self):
        reach, pairs = checks("q4")["REACH"], checks("q4")["PAIRS"]
        for n_groups in checks("q4")["GROUPS"]:
            error = math.sqrt((6 / n_groups + 2) / pairs)
            # one tail of five points: a variance that is too large by a share x makes the
            # standard deviation too large by less than x/2
            needed = variance_quantile_factor(n_groups, pairs, 1e-7) * error
            assert math.sqrt(1 + needed) - 1 < reach / 2 * error
            # the lower tail is shorter than the normal one, the variance being skewed
            assert 1 - math.sqrt(1 - 5.2 * error) < reach / 2 * error

    def test_repetitions_stay_well_inside(self):
        pairs, (n_groups, *_) = checks("q4")["PAIRS"], checks("q4")["GROUPS"]
        rng = np.random.default_rng(21)
        error = math.sqrt((6 / n_groups + 2) / pairs) / 2
        spreads = []
        for _ in range(400):
            lengths = np.sqrt(rng.chisquare(n_groups, size=pairs))
            scores = lengths * rng.standard_normal(pairs)
            spreads.append((scores.std() / math.sqrt(n_groups) - 1) / error)
        assert np.std(spreads) == pytest.approx(1, abs=0.15)
        assert np.abs(spreads).max() < 5

    def test_the_other_case_is_further_off_than_chance(self):
        ranges = checks("q4")["RANGES"]["q4"]
        first = checks("q4")["GROUPS"][0]
        room = checks("q4")["REACH"] / 2 * math.sqrt((6 / first + 2) / checks("q4")["PAIRS"])
        assert 1 + 2 * room < math.sqrt(ranges["group"][0])

    def test_a_spread_that_is_left_out_or_enters_twice_is_further_off_than_chance(self):
        ranges = checks("q4")["RANGES"]["q4"]
        (lowest, _), (_, largest) = ranges["spread"], ranges["group"]
        rooms = checks("q4")["REACH"] / 2 * np.sqrt((6 / checks("q4")["GROUPS"] + 2) / 2000)
        error = rooms.min() / checks("q4")["REACH"]
        # alone, or where it is taken for a variance: further off than the room twice
        assert 1 - math.sqrt(10 / lowest) > 2 * rooms.max()
        # together with ties of the other case, which act against it: outside for the widest head
        assert 1 - math.sqrt(largest) * 10 / lowest > rooms[-1] + 2 * error

    @pytest.fixture
    def figure(self) -> dict[str, Any]:
        """Return a right answer that is measured as well as it gets."""
        numbers = personal(STUDENT, "q4")
        widths = numbers["group"] * checks("q4")["GROUPS"]
        law = checks("q4")["law"](numbers, widths)
        wobble = 1 + 0.001 * np.array([1, -1, 1, -1, 1])
        return {
            "panels": 1,
            "pieces": [shown("measured", widths, law * wobble), shown("predicted", widths, law)],
            "entries": [shown("measured"), shown("predicted")],
            "labels": ["d_k", "σ"],
            "scales": ["log", "log"],
        }

    def test_tolerance(self, figure: dict[str, Any]):
        assert judged("q4", figure).earned == 1
        for place in range(5):
            n_groups = checks("q4")["GROUPS"][place]
            room = checks("q4")["REACH"] / 2 * math.sqrt((6 / n_groups + 2) / 2000)
            for share, passes in ((-0.95, True), (0.95, True), (-1.05, False), (1.05, False)):
                measured, predicted = figure["pieces"]
                points = measured["y"].copy()
                points[place] *= (1 + share * room) / (1 + 0.001 * (-1) ** place)
                pieces = [{**measured, "y": points}, predicted]
                assert (judged("q4", {**figure, "pieces": pieces}).earned == 1) is passes

    def test_the_line_is_exact(self, figure: dict[str, Any]):
        measured, predicted = figure["pieces"]
        for change, passes in ((9e-6, True), (-9e-6, True), (2e-5, False), (-2e-5, False)):
            pieces = [measured, {**predicted, "y": predicted["y"] * (1 + change)}]
            assert (judged("q4", {**figure, "pieces": pieces}).earned == 1) is passes

    @pytest.mark.parametrize(
        ("part", "value", "words"),
        [
            ("entries", [shown("predicted")], "legend has no entry"),
            ("entries", [], "legend has no entry"),
            ("labels", ["d_k", " "], "label"),
            ("labels", ["d_k"], "label"),
            ("scales", ["log", "linear"], "logarithmic"),
            ("panels", 2, "one pair of axes"),
        ],
    )
    def test_each_part_of_the_form_is_looked_at(
        self, figure: dict[str, Any], part: str, value: Any, words: str
    ):
        outcome = judged("q4", {**figure, part: value})
        assert outcome.earned == 0.75
        assert words in outcome.message

    def test_form_alone_earns_nothing(self, figure: dict[str, Any]):
        assert judged("q4", {**figure, "pieces": []}).earned == 0

    @pytest.mark.parametrize("student_id", CLASS[:30])
    def test_a_mistake_that_has_a_name_is_never_the_truth(self, student_id: str):
        numbers = personal(student_id, "q4")
        widths = numbers["group"] * checks("q4")["GROUPS"]
        law = checks("q4")["law"](numbers, widths)
        given = {"pieces": [shown("predicted", widths, law)]}
        assert checks("q4")["predicted_fault"](given, numbers) == ""
        for factor, _ in checks("q4")["factors"](numbers, widths):
            wrong = {"pieces": [shown("predicted", widths, law * factor)]}
            off = not np.allclose(factor, 1, rtol=0, atol=1e-5)
            assert bool(checks("q4")["predicted_fault"](wrong, numbers)) is off


class TestParagraph:
    def test_the_numbers_for_the_marker_follow_from_the_weights(self, capsys):
        (code,) = re.findall(r"```python\n(.*?)```", cells(SET)["q5"], re.DOTALL)
        for student_id in STUDENTS:
            numbers = personal(student_id, "q5")
            width = numbers["heads"] * numbers["d_k"]
            entry = numbers["std"] / 1000
            names: dict[str, Any] = {"np": np, "student_id": student_id}
            run(cells(SET)["numbers"], names)
            run(code, names)
            shown = [
                float(each) for each in re.findall(r"\d+\.\d+(?:e-?\d+)?", capsys.readouterr().out)
            ]
            component = width * entry**2
            _, variance = general_score_moments(
                component * np.eye(numbers["d_k"]), component * np.eye(numbers["d_k"])
            )
            divided = variance / numbers["d_k"]
            expected = [divided, variance, 2 * math.log(numbers["n"]), math.sqrt(variance)]
            assert shown == pytest.approx(expected, rel=1e-9)

    def test_students_are_on_both_sides_and_away_from_the_line(self):
        ratios = []
        for student_id in CLASS:
            numbers = personal(student_id, "q5")
            start = numbers["heads"] * numbers["d_k"] * (numbers["std"] / 1000) ** 2
            ratios.append(numbers["d_k"] * start**2 / (2 * math.log(numbers["n"])))
            assert start != 1
        beyond = np.mean(np.array(ratios) > 1)
        assert 0.35 < beyond < 0.65
        assert np.mean(np.abs(np.log(ratios)) < 0.05) < 0.1

    def test_the_sentence_is_nearly_right_for_few(self):
        starts = []
        for student_id in MANY:
            numbers = personal(student_id, "q5")
            starts.append(numbers["heads"] * numbers["d_k"] * (numbers["std"] / 1000) ** 2)
        near = np.abs(np.square(starts) - 1)
        assert 0 < np.mean(near < 0.1) < 0.1
        assert np.mean(near < 0.005) < 0.01

    def test_length_costs_nothing_and_both_sides_know(self):
        assert "a longer paragraph costs nothing" in cells(SET)["q5_text"]
        assert "More than six sentences cost nothing" in cells(SET)["q5"]

    def test_the_scheme_has_four_points(self):
        source = cells(SET)["q5"]
        assert re.findall(r"^(\d)\. ", source, re.MULTILINE) == ["1", "2", "3", "4"]


def test_an_answer_that_breaks_off_is_told_so():
    trial = Trial(SET, "q3", "def positions_behind(scores, divisor):\n    return 1 / 0")
    assert trial.outcome() == Outcome(0.0, "your function returns nothing, or ends in an exception")


def test_a_judge_raises_wrong_and_tells_the_share():
    with pytest.raises(Wrong) as caught:
        checks("q2")["judge"]({}, STUDENT, {})
    assert caught.value.earned == 0
