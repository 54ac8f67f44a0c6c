"""What a reader wrote is stopped in time, and what it raised is shown."""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from attnbook.exercises import _running, check
from attnbook.exercises._exercise import TOO_LONG, UNLIMITED, Check
from attnbook.exercises._judges import Function, Number, Pick, first_difference

pytestmark = pytest.mark.not_for_mutants
DOUBLE = Check(
    "double",
    double=Function(
        "double(x), which returns twice a vector",
        lambda x: 2 * x,
        lambda rng: [(rng.standard_normal(3),) for _ in range(4)],
        lambda right, _arguments, eps: eps * np.abs(right),
    ),
    of_two=Number("twice two", 4.0),
)


def feedback_to(function, **others):
    return DOUBLE.verdict({"double": function, **others}).parts["double"]


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(_running, "LIMIT", 0.1)


def endless(x):
    while True:
        x = x + 0


def stubborn(x):
    for _ in range(3):
        try:
            endless(x)
        except BaseException:  # noqa: BLE001 - what a reader might write
            x = -x
    return x


@pytest.mark.usefixtures("short")
class TestTime:
    @pytest.mark.parametrize("function", [endless, stubborn])
    def test_an_endless_loop_is_stopped(self, function):
        assert feedback_to(function).message in {TOO_LONG, feedback_to(lambda x: -x).message}
        assert not feedback_to(function).passed

    def test_what_sleeps_is_stopped_too(self):
        assert feedback_to(lambda _: time.sleep(1000)).message == TOO_LONG

    def test_who_only_waits_for_the_processor_is_not_stopped_early(self, monkeypatch):
        monkeypatch.setattr(_running, "WAIT", 1000.0)
        assert feedback_to(lambda x: time.sleep(1) or 2 * x).passed

    def test_the_other_parts_are_judged_all_the_same(self):
        verdict = DOUBLE.verdict({"double": endless, "of_two": 4})
        assert verdict.parts["double"].message == TOO_LONG
        assert verdict.parts["of_two"].passed

    def test_an_endless_conversion_is_stopped(self):
        class Slow:
            def __float__(self):
                endless(0)

        assert DOUBLE.verdict({"of_two": Slow()}).parts["of_two"].message == TOO_LONG

    def test_the_alarm_is_as_before(self):
        before = signal.getsignal(signal.SIGALRM)
        feedback_to(endless)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)

    def test_where_nothing_can_be_stopped_the_verdict_says_so(self, monkeypatch):
        found = []
        thread = threading.Thread(target=lambda: found.append(feedback_to(lambda x: 2 * x)))
        thread.start()
        thread.join()
        monkeypatch.delattr(signal, "setitimer")
        found.append(feedback_to(lambda x: x + x))
        assert [one.passed for one in found] == [True, True]
        assert all(one.message.endswith(UNLIMITED) for one in found)
        assert UNLIMITED not in DOUBLE.verdict({"of_two": 4}).parts["of_two"].message
        monkeypatch.setattr(sys, "platform", "emscripten")  # in a page, which can
        assert UNLIMITED not in feedback_to(lambda x: x + x).message


class TestErrors:
    def test_the_reader_sees_what_raised_and_where(self):
        def broken(x):
            return x[7]

        feedback = feedback_to(broken)
        assert feedback.message.startswith("Your code raised IndexError: index 7 is out of bounds")
        assert "in broken\n    return x[7]" in feedback.trace
        assert "exercises/_running.py" not in feedback.trace
        assert "IndexError: index 7" in repr(DOUBLE.verdict({"double": broken}))

    def test_what_leaves_python_is_an_error_like_others(self):
        def leave(_):
            raise SystemExit(3)

        assert "SystemExit: 3" in feedback_to(leave).message

    def test_the_readers_own_interrupt_goes_through(self):
        def interrupted(_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            feedback_to(interrupted)

    def test_a_changed_input_is_noticed(self):
        def in_place(x):
            x *= 2
            return x

        assert "changes its input" in feedback_to(in_place).message

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (3.0, "is no function"),
            (float, "is no function"),
            (lambda _: None, "returned None"),
            (lambda _: "no", "is text"),
            (lambda x: 2 * x[:2], r"shape (2,) came, (3,) is wanted"),
            (lambda x: np.where(x > 0, 2 * x, np.nan), "NaN came"),
            (lambda x: 2 * x + 1e-9, "3 of 3 entries are off, first at [0]"),
            (lambda x: 2j * x, "Complex"),
            (lambda x, _: x, "TypeError"),
        ],
    )
    def test_what_does_not_fit_is_named(self, function, words):
        assert words in feedback_to(function).message

    @pytest.mark.parametrize(
        "function", [lambda x: list(2 * x), lambda x: np.float32(2 * x), lambda x: x + x]
    )
    def test_another_type_or_formula_passes(self, function):
        assert feedback_to(function).passed


class TestStrictSettings:
    def test_they_are_for_the_readers_own_cells(self):
        def overflowing(x):
            np.exp(1e4 * np.ones(1))
            return 2 * x

        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert feedback_to(overflowing).passed

    def test_an_error_without_words_is_shown_all_the_same(self):
        class WordlessError(Exception):
            def __str__(self):
                raise ValueError("none")

        def silent(_):
            raise WordlessError

        assert feedback_to(silent).message.startswith("Your code raised WordlessError")

    def test_an_object_that_refuses_everything_is_an_error(self):
        class Strange:
            def __getattr__(self, name):
                raise RuntimeError(name)

        assert "RuntimeError" in DOUBLE.verdict({"of_two": Strange()}).parts["of_two"].message


class TestWords:
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (-4, "-4 is not right: the sign is wrong."),
            (19364, "19364 is more than ten times too large."),
            (np.array(None), "None came"),
        ],
    )
    def test_a_number_is_told_what_is_wrong(self, value, words):
        assert words in DOUBLE.verdict({"of_two": value}).parts["of_two"].message

    @pytest.mark.parametrize(
        ("value", "near"), [(22.0, False), (23, True), (22.4, False), (22.5, False), (30, False)]
    )
    def test_only_who_gave_few_digits_is_asked_for_more(self, value, near):
        feedback = check("spread", plain=value).parts["plain"]
        assert ("more digits" in feedback.message) is near

    @pytest.mark.parametrize(
        "answer", ["like −b", "`Like -b`.", np.str_("like  -b"), "  LIKE -B ", '"like -b"']
    )
    def test_a_choice_is_read_as_people_write_it(self, answer):
        pick = Pick("what", "like −b", {"like −b": "Yes.", "like b": "No."})
        assert pick.judge(answer, None).passed

    @pytest.mark.parametrize(("off", "words"), [(3e-16, "A million"), (1e-14, "off")])
    def test_a_mistake_is_known_up_to_rounding_at_its_own_size(self, off, words):
        part = Function(
            "f(x)",
            lambda x: x,
            lambda _: [(3.0,)],
            lambda *arguments: 6 * arguments[-1],  # rounding of what is right, which is three
            {(lambda x: 1e6 * x): "A million times too much."},
        )
        verdict = Check("large", part=part).verdict({"part": lambda x: 1e6 * x * (1 + off)})
        assert words in verdict.parts["part"].message

    def test_infinities_in_their_places_are_right(self):
        two = np.array([np.inf, 1.0]), np.array([np.inf, 2.0])
        assert first_difference(*two, 0.1) == "1 of 2 entries is off, first at [1]"
        square = np.zeros((2, 2)), np.array([[0, 1], [0, 1]])
        assert first_difference(*square, 0.1) == "2 of 4 entries are off, first at [0, 1]"


class TestCalling:
    def test_an_unknown_exercise_is_named_with_its_neighbors(self):
        with pytest.raises(ValueError, match=r"got 'spreads'; did you mean 'spread'"):
            check("spreads", 1)

    def test_parts_go_by_their_names(self):
        with pytest.raises(ValueError, match=r"exercise must be the name .* got \['spread'\]"):
            check(["spread"])
        with pytest.raises(TypeError, match=r"answers must come by name: plain=\.\.\., root="):
            check("spread", 1)
        with pytest.raises(TypeError, match="has no part rot; its parts are plain, root, full"):
            check("spread", rot=1)

    def test_a_verdict_prints_its_parts(self):
        verdict = check("spread", plain=512**0.5, root=2, full=...)
        assert repr(verdict).splitlines()[0] == "✗ spread"
        assert "  ✓ plain: 22.63 is right." in repr(verdict)
        assert "✗ root: 2 is too large" in verdict._repr_html_()
