"""Every check accepts what is right in any form, and says of each wrong answer what is wrong."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from attnbook.exercises import check
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Array, Example, Function, Number
from tests.attnbook.cases import all_cases

pytestmark = pytest.mark.not_for_mutants
CASES = all_cases()
EXERCISES = exercises()
RIGHT = [
    pytest.param(name, part, answer, id=f"{name}-{part}-{number}")
    for name, cases in CASES.items()
    for part, answers in cases.parts.items()
    for number, answer in enumerate(answers.right)
]
WRONG = [
    pytest.param(name, part, answer, words, id=f"{name}-{part}-{number}")
    for name, cases in CASES.items()
    for part, answers in cases.parts.items()
    for number, (answer, words) in enumerate(answers.wrong)
]
PARTS = [
    pytest.param(name, part, id=f"{name}-{part}")
    for name, exercise in EXERCISES.items()
    for part in exercise.parts
]


def test_every_exercise_has_its_cases():
    assert CASES.keys() == EXERCISES.keys()
    for name, exercise in EXERCISES.items():
        assert CASES[name].parts.keys() == exercise.parts.keys(), name


@pytest.mark.parametrize("name", EXERCISES)
class TestExercise:
    def test_the_plain_right_answer_passes(self, name: str):
        verdict = check(name, **CASES[name].answers())
        assert verdict, verdict
        assert bool(verdict) is verdict.passed is True

    def test_the_stub_is_told_what_is_wanted(self, name: str):
        for answers in ({}, dict.fromkeys(EXERCISES[name].parts)):
            verdict = check(name, **answers)
            assert not verdict
            for part, judge in EXERCISES[name].parts.items():
                assert f"Not answered yet: {judge.wanted}." in verdict.parts[part].message

    def test_there_are_enough_answers(self, name: str):
        parts = CASES[name].parts
        assert sum(len(answers.wrong) for answers in parts.values()) >= 3
        for part, answers in parts.items():
            assert len(answers.right) >= 2, part
            assert answers.wrong, part


@pytest.mark.parametrize(("name", "part", "answer"), RIGHT)
def test_a_right_answer_passes_in_any_form(name: str, part: str, answer):
    verdict = check(name, **(CASES[name].answers() | {part: answer}))
    assert verdict, verdict


@pytest.mark.parametrize(("name", "part", "answer", "words"), WRONG)
def test_a_wrong_answer_is_told_what_is_wrong(name: str, part: str, answer, words: str):
    verdict = check(name, **(CASES[name].answers() | {part: answer}))
    assert not verdict
    assert not verdict.parts[part].passed
    assert words in verdict.parts[part].message
    assert [name for name, feedback in verdict.parts.items() if not feedback.passed] == [part]


@pytest.mark.parametrize(("name", "part"), PARTS)
class TestPart:
    def test_each_known_mistake_is_made_in_some_case(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        known = {message for _, message in judge.mistakes}
        given = {
            check(name, **{part: answer}).parts[part].message
            for answer, _ in CASES[name].parts[part].wrong
        }
        assert known <= given, known - given

    def test_no_mistake_is_mistaken_for_another_or_for_the_right_answer(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        if isinstance(judge, Number):
            values = [judge.right, *(mistake for mistake, _ in judge.mistakes)]
            for one, other in combinations(values, 2):
                assert abs(one - other) > judge.room(one) + judge.room(other)
        elif isinstance(judge, Array):
            arrays = [judge.right, *(mistake for mistake, _ in judge.mistakes)]
            for one, other in combinations(arrays, 2):
                assert not judge.is_like(one, other)
        elif isinstance(judge, Function | Example):
            rng = np.random.default_rng(0)
            for mistake, message in judge.mistakes:
                feedback = judge.judge(mistake, rng)
                assert not feedback.passed
                assert feedback.message == message
        else:
            assert judge.right in judge.options
            assert len(set(judge.options.values())) == len(judge.options)

    def test_answers_of_another_kind_are_refused_and_never_raise(self, name: str, part: str):
        class Hostile:
            def __eq__(self, other):
                return True

            __hash__ = None

            def __float__(self):
                raise RuntimeError("no")

            def __repr__(self):
                raise RuntimeError("no")

        odd = [
            "text", b"bytes", True, float("nan"), float("inf"), 1j, [], {}, [[1], [2, 3]],
            np.array(["a"]), np.ma.masked_all(3), object(), Hostile(), Hostile, print, lambda: 1,
            10**400, np.full((2, 2), np.nan), np.zeros((0, 3)),
        ]  # fmt: skip
        for answer in odd:
            verdict = check(name, **{part: answer})
            assert not verdict.parts[part].passed, answer
            assert verdict.parts[part].message
            assert repr(verdict)
            assert verdict._repr_html_()
