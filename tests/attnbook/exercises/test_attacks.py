"""What somebody tried who wanted to fool the checks, and what was right in an unusual form.

The tables below have the attacks on one exercise for each kind of judge and of failure; the classes
attack every exercise of a kind, from its right answers. What else is wrong in an exercise is among
its cases.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial, wraps

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import entr, logsumexp, softmax

from attnbook.exercises import check
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Array, Function, Number, Pick
from tests.attnbook.cases import all_cases

pytestmark = pytest.mark.not_for_mutants
CASES = all_cases()
EXERCISES = exercises()


def parts_of_kind(kind):
    return [
        pytest.param(name, part, id=f"{name}-{part}")
        for name, exercise in EXERCISES.items()
        for part, judge in exercise.parts.items()
        if isinstance(judge, kind)
    ]


def tries(table):
    """Return one case for each answer of a table of tables."""
    return [
        pytest.param(name, part, answer, id=f"{name}-{part}-{tried}")
        for (name, part), answers in table.items()
        for tried, answer in answers.items()
    ]


def hidden_nan(function, nan=0.0):
    return lambda *arguments: np.nan_to_num(function(*arguments), nan=nan)


def careless(logits):
    """Return a softmax without a largest score."""
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def about_the_mean(logits):
    return careless(logits - logits.mean(axis=-1, keepdims=True))


def clipped(low, high=None):
    """Return a softmax whose logits are clipped."""
    return lambda logits: softmax(np.clip(logits, low, -low if high is None else high), axis=-1)


def rowwise(logits):
    return softmax(logits, axis=-1)


def difference(function, at, step=1e-6):
    """Return a derivative by a central difference."""
    return (function(at + step) - function(at - step)) / (2 * step)


# a function that returns one number, of any type
def sum_of_terms(width, gamma_q, gamma_k, longest=None):
    """Sum over distances, perhaps the short ones only."""
    product = gamma_q * gamma_k
    if product == 1:
        return width**2
    far = width if longest is None else min(width, longest)
    return width + 2 * sum((width - m) * product**m for m in range(1, far))


def by_horner(width, gamma_q, gamma_k):
    total = 0.0
    for distance in range(1, width):
        total = total * gamma_q * gamma_k + distance
    return width + 2 * gamma_q * gamma_k * total


def by_matrix(width, gamma_q, gamma_k):
    distances = np.abs(np.subtract.outer(np.arange(width), np.arange(width)))
    return (float(gamma_q) ** distances * float(gamma_k) ** distances).sum()


class ScoreVariance:
    """A score's variance as an object and as a method."""

    def __call__(self, *arguments):
        return sum_of_terms(*arguments)

    def method(self, *arguments):
        return sum_of_terms(*arguments)


# one whose digits are the point, and one by a root finder
def count(scores, weights_of=rowwise):
    return np.exp(entr(weights_of(scores)).sum(axis=-1))


def slope(weights_of=rowwise):
    def function(scores, multiplier):
        weights = weights_of(multiplier * scores)
        return -multiplier * (weights @ (scores - weights @ scores) ** 2)

    return function


def slope_by_pairs(scores, multiplier):
    weights = rowwise(multiplier * scores)
    squares = np.subtract.outer(scores, scores) ** 2
    return -multiplier * (weights @ squares @ weights) / 2


def slope_by_difference(scores, multiplier, step=1e-6):
    return (
        difference(lambda c: entr(rowwise(c * multiplier * scores)).sum(), 1.0, step) / multiplier
    )


def divisor(scores, positions):
    def excess(logarithm):
        return count(scores / math.exp(logarithm)) - positions

    middle = math.log(np.ptp(scores))
    return math.exp(brentq(excess, middle - 12, middle + 12, xtol=1e-13))


# arrays that overflow
def largest_of_all(scores):
    return careless(scores - scores.max())


def logits_of(query, key):
    return query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])


def attend(weights_of=rowwise, kind=float):
    return lambda query, key, value: (weights_of(logits_of(query, key)) @ value).astype(kind)


def smooth_cap(logits):
    return rowwise(1e6 * np.tanh(logits / 1e6))


def by_logsumexp(logits):
    return np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))


def one_query_at_a_time(query, key, value):
    if query.ndim > 2:
        return np.stack([one_query_at_a_time(*of) for of in zip(query, key, value, strict=True)])
    rows = [rowwise(key @ one / math.sqrt(len(one))) @ value for one in query]
    return np.array(rows)


# examples
ROOT = math.sqrt(3)
SIXTHS = [1 / 6, 2 / 3, 1 / 6]


def four_points():
    """Return four points whose law has the moments of the normal one up to the fourth."""
    inner = 1 - math.sqrt(2 / 3)
    a, b = math.sqrt(inner), math.sqrt(4 - 3 * inner)
    return [[-b, -a, a, b], [1 / 8, 3 / 8, 3 / 8, 1 / 8]]


def asymmetric(low=-1.6, middle=0.1):
    """Return three points whose law has the moments of the normal one up to the fourth."""

    def law(high):
        points = np.array([low, middle, high])
        return points, np.linalg.solve(np.vander(points, increasing=True).T, [1, 0, 1])

    def excess(high):
        points, chances = law(high)
        return chances @ points**4 - 3

    return np.array(law(brentq(excess, 1.5, 1.9, xtol=1e-15)))


REFUSED: dict[tuple[str, str], dict[str, object]] = {
    ("fading", "score_variance"): {
        "rounded to a whole number": lambda *of: round(float(sum_of_terms(*of))),
        "cut at a distance of 60": partial(sum_of_terms, longest=60),
        "cut at a distance of 100": partial(sum_of_terms, longest=100),
        "the absolute value of gamma": lambda width, a, b: sum_of_terms(width, abs(a), abs(b)),
        "gamma of the keys twice": lambda width, a, b: sum_of_terms(width, b, b),
        "a generator": lambda *of: (sum_of_terms(*of) for _ in range(1)),
        "no arguments": lambda: 1.0,
        "arguments in another order": lambda a, b, width: sum_of_terms(int(width), a, b),
        "an array of one": lambda *of: [sum_of_terms(*of)],
        "complex": lambda *of: complex(sum_of_terms(*of)),
        "a masked array": lambda *of: np.ma.array(sum_of_terms(*of)),
        "text": lambda *of: str(sum_of_terms(*of)),
    },
    ("soften", "slope"): {
        "float64 difference": slope_by_difference,
        "wider float64 difference": partial(slope_by_difference, step=1e-4),
        "logits clipped at 700": slope(clipped(-700)),
        "NaN hidden": hidden_nan(slope(careless)),
        "times c once more": lambda scores, c: slope()(scores, c) * c,
        "for the divisor c": lambda scores, c: slope()(scores, 1 / c),
        "zero for wide rows": lambda s, c: slope()(s, c) if np.ptp(c * s) < 20 else 0.0,
    },
    ("soften", "divisor"): {
        "off by 1e-5": lambda *of: divisor(*of) * (1 + 1e-5),
        "off by 2e-6": lambda *of: divisor(*of) * (1 + 2e-6),
        "whole positions": lambda scores, positions: divisor(scores, math.floor(positions)),
        "four digits": lambda *of: float(f"{divisor(*of):.4g}"),
        "the multiplier": lambda *of: 1 / divisor(*of),
    },
    ("scaled-attention", "attend"): {
        **{
            f"logits clipped at {limit}, {kind}": attend(clipped(-limit), kind)
            for limit in (50, 80, 300, 700)
            for kind in ("float32", "float64")
        },
        "mean for maximum": attend(about_the_mean),
        "mean for maximum, NaN hidden": attend(hidden_nan(about_the_mean)),
        "NaN hidden": attend(hidden_nan(careless)),
        "global maximum, NaN hidden": attend(hidden_nan(largest_of_all)),
        "smooth cap": attend(smooth_cap),
        "1e-9 added": lambda *of: attend()(*of) + 1e-9,
    },
    ("jacobian", "tie"): {
        "negative": [0.6, 0.6, -0.1, -0.1],
        "a sum of 1.2": [0.5, 0.5, 0.1, 0.1],
        "a sum of two": [1, 1, 0, 0],
        "five": [0.49, 0.49, 0.01, 0.01, 0],
        "logits": [3, 3, 0, 0],
        "all NaN": [math.nan] * 4,
        "one infinity": [math.inf, 0.5, 0.5, 0],
        "complex": [0.49 + 0j, 0.49, 0.01, 0.01],
        "text": "tie",
        "texts": ["0.5", "0.5", "0", "0"],
        "a set": {0.49, 0.01},
        "truth values": [True, False, False, False],
        "one number": 3,
        "a function": lambda: [0.5, 0.5, 0, 0],
        "uniform": [0.25] * 4,
    },
    ("kurtosis", "three_points"): {
        "no kurtosis of three": [[-2, 0, 2], [1 / 8, 3 / 4, 1 / 8]],
        "a sum of more than one": [[-ROOT, 0, ROOT], [1 / 6, 2 / 3, 1 / 3]],
        "not normalized": [[-ROOT, 0, ROOT], [1, 4, 1]],
        "a mean": [[-ROOT, 0, ROOT], [1 / 6, 5 / 6, 0]],
        "one-sided": [[-ROOT, -ROOT, 0], [1 / 6, 1 / 6, 2 / 3]],
        "negative chance": [[-ROOT, ROOT, 0], [-1 / 6, 1 / 6, 1]],
        "all NaN": [[math.nan] * 3] * 2,
        "huge": [[1e200, 0, -1e200], SIXTHS],
        "complex": [[complex(ROOT), 0, -ROOT], SIXTHS],
        "a dictionary": dict(zip((-ROOT, 0, ROOT), SIXTHS, strict=True)),
        "text": "x",
        "a number": 5,
        "ragged": [[-ROOT, 0, ROOT], [1 / 6, 2 / 3]],
        "transposed": np.array([[-ROOT, 0, ROOT], SIXTHS]).T,
        "a law of SciPy": stats.rv_discrete(values=([-1, 0, 1], SIXTHS)),
    },
}
"""What is wrong, by exercise and part."""
ACCEPTED: dict[tuple[str, str], dict[str, object]] = {
    ("fading", "score_variance"): {
        "by Horner's scheme": by_horner,
        "by a matrix": by_matrix,
        "vectorized": np.vectorize(sum_of_terms, otypes=[float]),
        "a partial function": partial(sum_of_terms, longest=None),
        "an object": ScoreVariance(),
        "a method": ScoreVariance().method,
        "remembered": lru_cache(sum_of_terms),
        "as Decimal": lambda *of: Decimal(float(sum_of_terms(*of))),
        "as Fraction": lambda *of: Fraction(float(sum_of_terms(*of))),
        "as long double": lambda *of: np.longdouble(sum_of_terms(*of)),
        "without dimensions": lambda *of: np.array(sum_of_terms(*of)),
    },
    ("soften", "slope"): {"centered": slope(), "by pairs": slope_by_pairs},
    ("soften", "divisor"): {
        "by a root finder": divisor,
        "in float32": lambda *of: np.float32(divisor(*of)),
        "six digits": lambda *of: float(f"{divisor(*of):.6g}"),
        "without dimensions": lambda *of: np.array(divisor(*of)),
    },
    ("scaled-attention", "attend"): {
        "by logsumexp": attend(by_logsumexp),
        "one query at a time": one_query_at_a_time,
        "in float64": attend(),
    },
    ("jacobian", "tie"): {
        "nearly a half each": [0.4999, 0.4999, 0.0001, 0.0001],
        "softmax of two leaders": softmax([3, 3, 0, 0.0]),
    },
    ("kurtosis", "three_points"): {
        "in any order": [[0, ROOT, -ROOT], [2 / 3, 1 / 6, 1 / 6]],
        "a tuple": ([-ROOT, 0, ROOT], SIXTHS),
        "asymmetric": asymmetric(),
        "four points": four_points(),
        "fractions": [[-ROOT, 0, ROOT], [Fraction(1, 6), Fraction(2, 3), Fraction(1, 6)]],
    },
}


@pytest.mark.parametrize(("name", "part", "answer"), tries(REFUSED))
def test_it_is_refused(name: str, part: str, answer):
    said = check(name, **{part: answer}).parts[part]
    assert not said.passed
    assert said.message
    assert "Not answered yet" not in said.message


@pytest.mark.parametrize(("name", "part", "answer"), tries(ACCEPTED))
def test_it_is_accepted(name: str, part: str, answer):
    said = check(name, **{part: answer}).parts[part]
    assert said.passed, said.message


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Number))
class TestNumber:
    def test_it_is_accepted_in_every_form(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        right = judge.right
        forms = [
            Fraction(right), Decimal(right), np.longdouble(right), [right], (right,),
            np.array(right), np.array([[right]]), np.array(right, dtype=object),
        ]  # fmt: skip
        narrow, rounded = np.float32(right), float(f"{right:.{judge.digits - 1}e}")
        if abs(narrow - right) <= judge.room(right):
            forms.append(narrow)
        if judge.within is None or abs(rounded - right) <= judge.within:
            forms.append(rounded)
        if right.is_integer():
            forms += [int(right), np.int64(right)]
        if right.is_integer() and 0 <= right < 256:
            forms.append(np.uint8(right))
        for form in forms:
            said = check(name, **{part: form}).parts[part]
            assert said.passed, (form, said.message)

    def test_what_is_no_number_is_refused(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        odd = [
            complex(right), np.complex128(right), str(right), str(right).encode(), np.array([""]),
            True, np.True_, {"a": right}, {right}, [right, right], np.array([]), [[]],
            np.ma.array([right]), np.ma.array(right, mask=True), timedelta(right % 100),
            np.timedelta64(int(right % 100), "s"), datetime(2020, 1, 1),  # noqa: DTZ001
            np.datetime64("2020-01-01"), iter([right]), lambda: right, type, math,
            np.rec.array([(right,)], dtype=[("a", float)]), np.void(b"ab"), object(),
            math.nan, math.inf, -math.inf, 10**400, Fraction(10**400), np.array([None]),
        ]  # fmt: skip
        for answer in odd:
            said = check(name, **{part: answer}).parts[part]
            assert not said.passed, answer
            assert said.message

    def test_another_digit_and_one_digit_less_are_refused(self, name: str, part: str):
        """Within the room that is left by an exercise, and no further."""
        judge = EXERCISES[name].parts[part]
        right, room = judge.right, judge.room(judge.right)
        for inside in (-0.99, 0.99):
            assert check(name, **{part: right + inside * room}).parts[part].passed
        last = 10.0 ** (math.floor(math.log10(abs(right) or 1)) - judge.digits + 1)
        step = 2.5 * room if judge.within else 1.01 * last
        wrong = [right - step, right + step, -right or step, 1.5 * right + step]
        fewer = float(f"{right:.{max(judge.digits - 2, 0)}e}")
        if abs(fewer - right) > room:
            wrong.append(fewer)
        for answer in wrong:
            said = check(name, **{part: answer}).parts[part]
            assert not said.passed, answer
            assert said.message


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Pick))
class TestPick:
    def test_it_is_accepted_however_it_is_typed(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        typed = [
            right.upper(), f"  {right} ", np.str_(right), np.array([right])[0],
            right.replace("−", "-"), f"{right}.", f"`{right}`", f"`{right}`.",
        ]  # fmt: skip
        for answer in typed:
            said = check(name, **{part: answer}).parts[part]
            assert said.passed, (answer, said.message)

    def test_another_option_is_refused_however_it_is_typed(self, name: str, part: str):
        judge = EXERCISES[name].parts[part]
        others = [option for option in judge.options if option != judge.right]
        for option in others:
            for answer in (option.upper(), np.str_(option), f"{option}.", f"`{option}`"):
                said = check(name, **{part: answer}).parts[part]
                assert not said.passed, answer
                assert said.message == judge.options[option]

    def test_what_is_no_choice_is_refused(self, name: str, part: str):
        right = EXERCISES[name].parts[part].right
        for answer in ("", " ", [right], {right}, right.encode(), 0, 1.5, math.nan, str, right * 2):
            said = check(name, **{part: answer}).parts[part]
            assert not said.passed, answer
            assert "none of the options" in said.message


def giving(function, change):
    """Return a right function whose result is changed."""

    @wraps(function)
    def changed_result(*arguments):
        return change(np.asarray(function(*arguments)))

    return changed_result


def changing_its_input(function):
    def in_place(*arguments):
        result = np.array(function(*arguments))
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                argument[...] = 0
        return result

    return in_place


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Function))
class TestFunction:
    def test_its_result_is_accepted_in_every_form(self, name: str, part: str):
        right = CASES[name].parts[part].right[0]
        for form in (partial(np.copy, order="F"), np.longdouble, np.ndarray.tolist):
            said = check(name, **{part: giving(right, form)}).parts[part]
            assert said.passed, (form, said.message)

    def test_a_result_that_is_nearly_right_is_refused(self, name: str, part: str):
        right = CASES[name].parts[part].right[0]
        wrong = [
            lambda a: 1.001 * a + 0.001, lambda a: -a - 1, np.zeros_like, lambda a: a[None],
            lambda a: a + 0j, lambda a: a * np.nan, np.ma.array, lambda a: a.astype(str),
            lambda a: (x for x in a.flat), lambda a: a + 1e-3 * (np.abs(a).max() + 1),
            lambda a: None, lambda a: np.sum, lambda a: {"a": a},
        ]  # fmt: skip
        for place, change in enumerate(wrong):
            said = check(name, **{part: giving(right, change)}).parts[part]
            assert not said.passed, place
            assert said.message
            assert "Not answered yet" not in said.message

    def test_what_takes_or_does_something_else_is_refused(self, name: str, part: str):
        right = CASES[name].parts[part].right[0]
        for wrong in (lambda: 1.0, int, math.hypot, lambda *of: of[0] + 1, lambda *of: right):
            said = check(name, **{part: wrong}).parts[part]
            assert not said.passed, wrong
            assert said.message
        arguments = EXERCISES[name].parts[part].draw(np.random.default_rng(0))[0]
        if any(isinstance(argument, np.ndarray) for argument in arguments):
            said = check(name, **{part: changing_its_input(right)}).parts[part]
            assert "changes its input" in said.message


@pytest.mark.parametrize(("name", "part"), parts_of_kind(Array))
def test_an_array_is_accepted_in_every_form_and_no_other(name: str, part: str):
    right, room = EXERCISES[name].parts[part].right, EXERCISES[name].parts[part].room
    for form in (right.tolist(), tuple(right), np.longdouble(right), right + 0.99 * room(right)):
        assert check(name, **{part: form}).parts[part].passed, form
    moved = right.copy()
    moved[-1] += 1.01 * room(right)
    others = (moved, right[::-1], right[:-1], right[None], -right, right + 0j, np.ma.array(right))
    for wrong in others:
        said = check(name, **{part: wrong}).parts[part]
        assert not said.passed, wrong
        assert said.message
