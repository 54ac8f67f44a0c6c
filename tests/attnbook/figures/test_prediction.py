"""Questions for the reader: what is right, what is close enough, and what is said about it."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import traitlets

from attnbook.figures import Choice, Estimate, Sketch
from attnbook.figures.prediction import HIGH, NOTCHES, SIGNS, WIDE, read_number

pytestmark = pytest.mark.not_for_mutants

X = np.arange(7.0)
PEAKED = np.array([0.1, 0.3, 0.9, 0.6, 0.3, 0.2, 0.19])
OPTIONS = {"about a tenth": (0.05, 0.2), "about a half": (0.35, 0.65), "nearly all": (0.75, 1)}


def choice(**state):
    return Choice(OPTIONS, 0.84, "It is <0.84> & so.", **state)


def estimate(**state):
    return Estimate(0.5, 0.125, "It is <0.5> & so.", **state)


def sketch(**state):
    return Sketch(X, PEAKED, "It has <one> peak & so.", "σ", "reaction", **state)


EACH = pytest.mark.parametrize("make", [choice, estimate, sketch])


@EACH
class TestEveryKind:
    def test_before_the_reader_commits_neither_verdict_nor_reason_is_in_the_form(self, make):
        form = re.search(r"<form.*</form>", make().markup())[0]
        assert "It is" not in form
        assert "It has" not in form
        assert ">Commit</button>" in form
        assert not re.search(r" (?:disabled|checked)[ >]", form)
        assert not any(f">{sign}<" in html.unescape(form) for sign in SIGNS.values())

    def test_afterwards_they_are_and_the_answer_stays(self, make):
        answers = {choice: "about a half", estimate: "3/4", sketch: [1, 5, 9, 18, 9, 5, 1]}
        figure = make(answer=answers[make], committed=True)
        form = re.search(r"<form.*</form>", figure.markup())[0]
        outcome, words = figure.verdict()
        assert outcome in ("other", "high", "alike")
        assert f'aria-hidden="true">{html.escape(SIGNS[outcome])}</span>' in form
        assert html.escape(words) in form
        assert html.escape(figure.content["because"]) in form
        assert "<fieldset disabled>" in form
        assert ">Try again</button>" in form

    def test_without_a_script_the_end_can_be_read(self, make):
        told = re.search(r"<details.*</details>", make().markup())[0]
        assert html.escape(make().content["because"]) in told
        assert html.escape(make().right_in_words()) in told
        assert "<" not in html.unescape(make().right_in_words())

    def test_a_page_gets_the_question_beside_the_state_and_no_address(self, make):
        data, _ = make()._repr_mimebundle_()
        found = re.search(r'data-state="([^"]*)"', data["text/html"])[1]
        assert json.loads(html.unescape(found)) == make().values()
        assert data["text/html"].startswith('<div class="live-figure" data-figure="prediction"')
        assert data["text/html"] == make()._repr_mimebundle_()[0]["text/html"]
        assert data["text/plain"] == repr(make())
        assert "0x" not in data["text/html"]
        assert len(data["text/html"]) < 6000

    def test_a_reason_is_wanted(self, make):
        arguments = {
            choice: (Choice, (["a", "b"], "a", " ")),
            estimate: (Estimate, (1, 1, "")),
            sketch: (Sketch, (X, PEAKED, "", "x", "y")),
        }
        kind, given = arguments[make]
        with pytest.raises(ValueError, match="because"):
            kind(*given)

    def test_a_state_that_does_not_exist_is_refused(self, make):
        for name in ("answer", "committed"):
            with pytest.raises(traitlets.TraitError, match=name):
                make(**{name: 1.5})

    def test_if_you_say_nothing_you_are_asked_again(self, make):
        outcome, words = make().verdict()
        assert outcome == "ask"
        assert words.startswith("Please")


class TestChoice:
    @pytest.mark.parametrize("value", [0.05, 0.2, 0.5, 0.75, 1])
    def test_a_number_is_called_by_the_range_that_holds_it(self, value):
        right = Choice(OPTIONS, value, "So.").right
        assert OPTIONS[right][0] <= value <= OPTIONS[right][1]

    @pytest.mark.parametrize("value", [0.04, 0.25, 0.7, 1.01, math.nan])
    def test_a_number_outside_all_ranges_is_refused(self, value):
        with pytest.raises(ValueError, match="right must be one of the options"):
            Choice(OPTIONS, value, "So.")

    def test_a_number_in_two_ranges_is_refused(self):
        with pytest.raises(ValueError, match="right"):
            Choice({"low": (0, 0.6), "high": (0.4, 1)}, 0.5, "So.")

    def test_a_text_that_is_no_option_is_refused(self):
        with pytest.raises(ValueError, match="got c"):
            Choice(["a", "b"], "c", "So.")

    @pytest.mark.parametrize("options", [[], ["a"], ["a", "a"], ["a", ""]])
    def test_options_that_are_no_choice_are_refused(self, options):
        with pytest.raises(ValueError, match="options"):
            Choice(options, "a", "So.")

    def test_only_the_right_one_is_right(self):
        for text in OPTIONS:
            outcome, words = choice(answer=text).verdict()
            assert (outcome == "right") == (text == "nearly all")
            assert words.startswith(f"You said: {text}.")
            assert words.endswith("So it is." if outcome == "right" else "It is: nearly all.")


class TestEstimate:
    @pytest.mark.parametrize(
        ("number", "texts"),
        [
            (Fraction(1, 2), ("0.5", "0,5", ",5", "1/2", " 1 / 2 ", "50%", "50 %", "5e-1")),
            (Fraction(-3), ("-3", "−3")),
            (Fraction(3), ("+3",)),
            (Fraction(1, 8), ("2^-3", "0,125")),
            (Fraction(10**13), ("10^13",)),
            (Fraction(10**6), ("1e6",)),
            (Fraction(65536), ("65 536",)),
            (Fraction(5, 4), ("1,25",)),
            (Fraction(1234567, 1000), ("1234,567",)),
        ],
    )
    def test_a_number_may_be_written_in_many_ways(self, number, texts):
        assert [read_number(text) for text in texts] == [float(number)] * len(texts)

    @pytest.mark.parametrize(
        ("number", "texts"),
        [
            (math.sqrt(128), ("√128", "√ 128", "√(128)")),
            (math.sqrt(512), ("sqrt(512)", "Sqrt (512)")),
            (8 * math.sqrt(2), ("8√2", "8 √ 2", "8*sqrt(2)", "8·√2")),
            (0.5 * math.sqrt(2), ("0,5√2",)),
            (-math.sqrt(2), ("−√2",)),
            (math.sqrt(2), ("+√2",)),
            (-3 * math.sqrt(2), ("−3√2",)),
            (1 / 8, ("1/sqrt(64)", "1/√64")),
            (math.sqrt(1 / 2), ("√(1/2)",)),
            (math.sqrt(128) / 2, ("√(128)/2",)),
            (3 * math.sqrt(2) / math.sqrt(8), ("3sqrt(2)/sqrt(8)",)),
            (4, ("2^3/√4",)),
            (0.005, ("√(1/4)%",)),
            (0.5, ("√0,25",)),
            (1000, ("√1e6",)),
        ],
    )
    def test_a_root_is_a_number_too(self, number, texts):
        assert [read_number(text) for text in texts] == pytest.approx(
            [number] * len(texts), rel=1e-15
        )

    @pytest.mark.parametrize(
        "text",
        [
            *("", " ", "half", "1.2.3", "1,2,3", "65,536", "1/65,536", "1/0", "0^-1", "1e999"),
            *("9^9999", "1/2/3", "%", "1%%", "nan", "inf", "0x10", "1_000", "٣", "1^99999999"),
            *("1,234.5", "√", "sqrt", "√()", "sqrt2", "√-1", "√(-1)", "√65,536", "65,536√2"),
            *("√√16", "√2/2", "√2%", "√2^2", "√(2)^2", "2^√4", "1/2√2", "1/2sqrt(2)", "3/4√2"),
            *("1/√0", "*√2"),
            *("√(1/0)", "1/√(1/0)", "√(2", "√2)", "sqrt[2]", "√(1/2/3)", "√(1+1)", "√2+1", "√2√2"),
            *("1/1e999", "1/√1e999", "sqrt(sqrt(16))", "math.sqrt(2)", "--√2", "8**√2", "8x√2"),
        ],
    )
    def test_what_is_no_number_or_could_be_two_is_none(self, text):
        assert read_number(text) is None
        assert estimate(answer=text).verdict()[0] == "ask"

    @pytest.mark.parametrize(
        ("value", "outcome"),
        [
            (0.375, "right"),
            (math.nextafter(0.375, 0), "low"),
            (0.625, "right"),
            (math.nextafter(0.625, 1), "high"),
            (0.5, "right"),
            (-0.5, "low"),
        ],
    )
    def test_the_tolerance_ends_where_it_says(self, value, outcome):
        assert estimate(answer=repr(value)).verdict()[0] == outcome

    def test_a_tolerance_may_be_a_part_of_the_number(self):
        for value, outcome in ((7.9, "low"), (8.1, "right"), (11.9, "right"), (12.1, "high")):
            figure = Estimate(10, 0.2, "So.", relative=True, answer=str(value))
            assert figure.verdict()[0] == outcome
        assert Estimate(-10, 0.2, "So.", relative=True, answer="-11").verdict()[0] == "right"

    def test_the_words_say_both_numbers(self):
        assert estimate(answer=" 1/8 ").verdict()[1] == "You said 1/8; it is 0.5: too low."
        assert estimate(answer="60%").verdict()[1].startswith("You said 60%; it is 0.5: close")

    def test_a_sign_of_per_cent_behind_the_field_may_be_repeated(self):
        for answer in ("84", "84%", "84 %"):
            figure = Estimate(84.2, 1, "So.", unit="%", answer=answer)
            assert figure.value == 84
            assert figure.verdict()[1].startswith("You said 84%; it is 84.2%")

    @pytest.mark.parametrize("right", [math.nan, math.inf])
    def test_a_number_that_is_none_is_refused(self, right):
        with pytest.raises(ValueError, match="right"):
            Estimate(right, 1, "So.")

    @pytest.mark.parametrize(
        ("right", "tolerance", "relative"), [(1, 0, False), (1, -1, False), (0, 0.1, True)]
    )
    def test_a_tolerance_without_room_is_refused(self, right, tolerance, relative):
        with pytest.raises(ValueError, match="tolerance"):
            Estimate(right, tolerance, "So.", relative=relative)


class TestSketch:
    def test_the_curve_itself_is_right(self):
        figure = sketch()
        figure.answer = figure.right
        assert figure.verdict()[0] == "right"
        np.testing.assert_allclose(figure.right, NOTCHES * PEAKED, atol=0.5)

    def test_steps_and_peak_are_judged_as_a_plain_loop_does(self):
        """All curves of three heights: about two thousand."""
        figure = sketch()
        for levels in itertools.product((4, 5, 12), repeat=7):
            same = 0
            for place in range(6):
                own = levels[place + 1] - levels[place]
                true = figure.right[place + 1] - figure.right[place]
                same += own * true > 0 if true else abs(own) <= 1
            tops = [str(place) for place in range(7) if levels[place] == max(levels)]
            figure.answer = list(levels)
            outcome, words = figure.verdict()
            assert f" right: {same} of 6 " in words or words.startswith(f"Right: {same} of 6 ")
            highest = f"Yours is highest at {', '.join(tops)}; the measured curve at 2."
            assert words.endswith("Both are highest at 2." if tops == ["2"] else highest)
            assert (outcome == "right") == (same == 6 and tops == ["2"])

    def test_a_higher_or_flatter_curve_of_the_same_shape_is_right(self):
        for levels in ([0, 1, 4, 3, 2, 1, 0], [10, 14, 20, 15, 13, 11, 11]):
            assert sketch(answer=levels).verdict()[0] == "right"

    @pytest.mark.parametrize(
        ("drawn", "outcome", "same", "own"),
        [
            ([12, 13, 14, 15, 16], "other", 0, "rises"),
            ([20, 17, 16, 10, 9], "right", 4, ""),
            ([9, 9, 9, 9, 9], "other", 0, "stays level"),
            ([10, 11, 10, 10, 10], "other", 1, "rises, then falls"),
            ([10, 10, 14, 6, 6], "other", 1, "rises, then falls"),
            ([20, 10, 0, 0, 0], "alike", 2, "falls"),
            ([19, 18, 16, 15, 14], "right", 4, ""),
        ],
    )
    def test_a_level_step_is_not_the_way_of_a_curve_that_falls(self, drawn, outcome, same, own):
        y = [0.952, 0.877, 0.818, 0.766, 0.72]
        figure = Sketch(range(5), y, "It falls.", "x", "y", answer=drawn)
        graded, words = figure.verdict()
        assert graded == outcome
        assert f"{same} of 4 steps go the same way." in words
        assert not own or f"Yours {own}; the measured curve falls." in words

    def test_where_the_curve_is_level_a_step_of_one_notch_is_right(self):
        """The second step falls by a fifth of a notch, though its ends are rounded apart."""
        y = [0.1, 0.53, 0.52, 0.8, 0.9]
        for drawn, same in [
            ([2, 11, 10, 16, 18], 4),
            ([2, 9, 10, 16, 18], 4),
            ([2, 9, 11, 16, 18], 3),
        ]:
            figure = Sketch(range(5), y, "So.", "x", "y", answer=drawn)
            assert f"{same} of 4 steps" in figure.verdict()[1]

    def test_after_committing_each_line_has_its_name(self):
        figure = sketch(answer=[0, 0, 0, 0, 0, 0, 3])
        assert "measured" not in figure.controls()
        figure.committed = True
        names = re.findall(r'<span class="(\w+)" style="[^"]*">(\w+)<', figure.controls())
        assert dict(names) == {"tip": "measured", "under": "yours"}

    def test_points_between_the_sliders_are_drawn_and_not_judged(self):
        fine = np.arange(0, 6.25, 0.25)
        figure = Sketch(fine, fine / 10, "It rises.", "x", "y")
        assert figure.content["places"] == [str(place) for place in range(7)]
        assert figure.right == [0, 2, 4, 6, 8, 10, 12]
        points = np.array(re.findall(r"([\d.]+) ([\d.]+)", figure.content["path"]), float)
        assert points.shape == (25, 2)
        np.testing.assert_allclose(points[:, 1], HIGH * (1 - fine / 10), atol=0.01)
        np.testing.assert_allclose(points[:, 0], WIDE / 14 * (1 + 2 * fine), atol=0.01)

    @pytest.mark.parametrize(("count", "sliders"), [(5, 5), (6, 6), (7, 7), (9, 5), (13, 7)])
    def test_there_are_5_to_7_sliders(self, count, sliders):
        figure = Sketch(range(count), np.linspace(0, 1, count), "It rises.", "x", "y")
        assert figure.controls().count('type="range"') == sliders == len(figure.answer)

    @pytest.mark.parametrize("count", [2, 4, 8, 10])
    def test_other_numbers_of_places_are_refused(self, count):
        with pytest.raises(ValueError, match="x must"):
            Sketch(range(count), np.linspace(0, 1, count), "It rises.", "x", "y")

    def test_curves_that_cannot_be_drawn_are_refused(self):
        for y in (2 * PEAKED, -PEAKED, 0 * PEAKED, PEAKED[:5]):
            with pytest.raises(ValueError, match="y"):
                Sketch(X, y, "So.", "x", "y")

    def test_own_and_computed_curve_lie_within_the_picture(self):
        figure = sketch(answer=[0, 20, 0, 20, 0, 20, 0], committed=True)
        paths = re.findall(r'class="(own|computed)" d="([^"]+)"', figure.controls())
        assert [name for name, _ in paths] == ["own", "computed"]
        for _, path in paths:
            points = np.array(re.findall(r"([\d.]+) ([\d.]+)", path), float)
            assert (points >= 0).all()
            assert (points <= (WIDE, HIGH)).all()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("0.5", "ask"),
        ("1/2", "ask"),
        ("−0,5", "ask"),
        ("0.5%", "low"),
        ("0", "low"),
        ("50", "high"),
    ],
)
def test_where_per_cent_are_asked_a_half_is_not_half_a_per_cent(answer: str, outcome: str) -> None:
    figure = Estimate(5, 0.5, "It is.", unit="%", relative=True, answer=answer)
    assert figure.verdict()[0] == outcome


def test_a_sketch_that_goes_the_wrong_way_is_not_called_nearly_right() -> None:
    curve = [0, 0.2, 0.9, 0.5, 0.4]
    drawn = {"right": [0, 4, 18, 10, 8], "alike": [0, 4, 18, 18, 20], "other": [20, 12, 8, 9, 15]}
    for outcome, answer in drawn.items():
        figure = Sketch(range(5), curve, "So it is.", "x", "y", answer=answer)
        assert figure.verdict()[0] == outcome
