"""The kinds of answers, each with a judge that says what is wrong.

A judge knows the right answer, how far from it an answer may be and why, and the mistakes that
people make, each with words for it.
"""

from __future__ import annotations

import inspect
import math
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attnbook.exercises._running import Failed, call
from attnbook.exercises._verdict import Feedback

WORDS = 60
WHOLE = 1e15


class Unfit(Exception):  # noqa: N818 - a message on its way to the reader
    """An answer that is not of the kind asked for; the message says so to the reader."""


class StillOpen(Exception):  # noqa: N818 - no error, as there is no answer yet
    """A function returned what that of the stub returns."""


def received(value: Any) -> str:
    """Return what the reader gave, in one short line."""
    text = " ".join(call(repr, value).split())
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."


def is_open(answer: Any) -> bool:
    """Say whether an answer is still the one of the stub."""
    return answer is ... or answer is None


def refuse_other_kinds(value: Any, asked: str) -> None:
    """Raise `Unfit` for text, truth values and functions, and `StillOpen` for an open answer."""
    if value is ...:
        raise StillOpen
    if isinstance(value, str | bytes):
        raise Unfit(f"{received(value)} is text; we want {asked}, without quotes.")
    if isinstance(value, bool | np.bool_):
        raise Unfit(f"{value} is a truth value; we want {asked}.")
    if callable(value):
        raise Unfit(f"A function came; we want {asked}. Call it, perhaps?")


def plain_number(value: Any) -> float:
    """Return a number that nobody but this module has made, or say why it is none.

    `Unfit` if it is text, true or false, complex, an array of several, infinite or no number, and
    `Failed` if an object's own conversion raises.
    """
    refuse_other_kinds(value, "a number")
    if call(hasattr, value, "__len__") or isinstance(value, np.ndarray):
        array = plain_array(value)
        if array.size != 1:
            raise Unfit(f"{array.size} numbers came, with shape {array.shape}; we want one.")
        value = array.item()
    if isinstance(value, complex | np.complexfloating):
        raise Unfit(f"{received(value)} is complex; we want a real number.")
    try:
        number = float(call(lambda: float(value)))
    except Failed as failed:
        if isinstance(failed.error, TypeError):
            raise Unfit(f"{received(value)} is no number.") from None
        if isinstance(failed.error, OverflowError):
            raise Unfit("The number is too large for a float.") from None
        raise
    if math.isnan(number):
        raise Unfit("NaN came: somewhere 0/0, ∞ − ∞ or the like was computed.")
    if math.isinf(number):
        raise Unfit("The number is infinite: something overflowed or was divided by zero.")
    return number


def plain_array(value: Any) -> np.ndarray:
    """Return the numbers of an answer as a float array of its own, or say why they are none."""
    refuse_other_kinds(value, "an array of numbers")
    if isinstance(value, np.ma.MaskedArray):
        raise Unfit("A masked array came; we want a plain one.")
    try:
        array = call(lambda: np.array(value))
    except Failed as failed:
        if isinstance(failed.error, ValueError):
            raise Unfit("The rows differ in length, so this is no array.") from None
        raise
    if array.dtype.kind == "O" and any(entry is None for entry in array.flat):
        raise Unfit("None came in place of a number.")
    if array.dtype.kind == "O":
        try:
            array = call(lambda: array.astype(float))
        except Failed:
            raise Unfit(f"{received(value)} is no array of numbers.") from None
    if array.dtype.kind == "c":
        raise Unfit("Complex numbers came; we want real ones.")
    if array.dtype.kind not in "iuf":
        raise Unfit(f"Entries of the kind {array.dtype} came; we want numbers.")
    kept = array.dtype if array.dtype.kind == "f" else np.dtype(float)
    return np.array(array, dtype=kept)


def rounding(right: float, digits: int) -> float:
    """Return half a unit of the last of some significant digits, and a hair more.

    An answer that is right and then rounded to these digits is at most that far away. The hair is
    for halves, and for digits that binary numbers cannot hold.

    Examples
    --------
    >>> 22.65 - 22.6 <= rounding(22.627, 3) < 22.69 - 22.6
    True
    """
    if right == 0:
        return 0.5 * 10.0**-digits
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(right))) - digits + 1) * (1 + 1e-6)


def steady(value: float) -> float:
    """Return a number with twelve significant digits, which is the same on every processor."""
    return float(f"{value:.12g}")


def shown(value: float, digits: int) -> str:
    """Return a number in some significant digits, a whole one in all of them.

    Examples
    --------
    >>> shown(19364.0, 4), shown(22.62742, 4)
    ('19364', '22.63')
    """
    return (
        f"{value + 0:.0f}" if value.is_integer() and abs(value) < WHOLE else f"{value:.{digits}g}"
    )


def is_coarse(value: float, digits: int) -> bool:
    """Say whether a number has fewer significant digits than it should."""
    return digits > 1 and value == float(f"{value:.{digits - 2}e}")


def between(value: float, right: float) -> str:
    """Say how a wrong number lies to the right one, without telling it."""
    if not right:
        return "not right"
    if value * right < 0:
        return "not right: the sign is wrong"
    size, wanted = abs(value), abs(right)
    way = "large" if size > wanted else "small"
    if size and max(size / wanted, wanted / size) > 10:
        return f"more than ten times too {way}"
    return f"too {way}" + ("" if right >= 0 else " in absolute value")


class Judge:
    """One part of an exercise: what it asks for, and how an answer is judged.

    `wanted` is what the answer is to be, as a phrase behind "not answered yet:" and as the
    label of its field: "the standard deviation of q·k". `mistakes` are wrong answers that people
    give, each with what is said to them, and `praise` is added to a right answer.
    """

    def __init__(self, wanted: str, mistakes: Mapping[Any, str], praise: str = "") -> None:
        self.wanted = wanted
        self.mistakes = tuple(mistakes.items())
        self.praise = praise

    @property
    def unanswered(self) -> Feedback:
        """The feedback while nothing is answered."""
        return Feedback(False, f"Not answered yet: {self.wanted}.")

    def judge(self, answer: Any, rng: np.random.Generator) -> Feedback:
        """Judge an answer, whatever it is and whatever it does."""
        try:
            if is_open(answer):
                raise StillOpen
            # strict settings of the reader's own are for the reader's own cells
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.compare(answer, rng)
        except StillOpen:
            return self.unanswered
        except Unfit as unfit:
            return self.wrong(str(unfit))
        except Failed as failed:
            return Feedback(False, raised(failed), failed.trace)

    def compare(self, answer: Any, rng: np.random.Generator) -> Feedback:
        """Say whether an answer is right, and if not, which mistake it is or what is wrong."""
        raise NotImplementedError

    def right_with(self, words: str) -> Feedback:
        """Return the feedback to a right answer."""
        return Feedback(True, f"{words} {self.praise}".strip())

    def wrong(self, words: str) -> Feedback:
        """Return the feedback to a wrong answer, with what is asked behind it."""
        return Feedback(False, f"{words} We want {self.wanted}.")

    def mistake(self, is_made: Callable[[Any], bool]) -> Feedback | None:
        """Return the feedback to the first known mistake that was made, if it is one."""
        made = (message for answer, message in self.mistakes if is_made(answer))
        return next((Feedback(False, message) for message in made), None)


class Numeric(Judge):
    """An answer that is a number or an array of numbers.

    `right` is computed. The answer is asked to `digits` significant digits, those of the largest
    entry of an array; or it may be as far from the right one as `within` says, and `why` says where
    that comes from.
    """

    def __init__(
        self,
        wanted: str,
        right: Any,
        mistakes: Mapping[Any, str] = {},
        digits: int = 3,
        within: float | None = None,
        why: str = "",
        praise: str = "",
    ) -> None:
        super().__init__(wanted, mistakes, praise)
        self.mistakes = tuple((self.plain(answer), message) for answer, message in self.mistakes)
        self.right = self.plain(right)
        self.digits = digits
        self.within = within
        self.why = why

    @staticmethod
    def plain(value: Any) -> Any:
        """Return a right answer or a mistake as it is compared."""
        raise NotImplementedError

    def room(self, value: Any) -> float:
        """Return how far an answer may be from the right one, or from a mistake."""
        if self.within is not None:
            return self.within
        return rounding(float(np.abs(value).max(initial=0.0)), self.digits)


class Number(Numeric):
    """An answer that is one number."""

    # without the last digits, in which processors differ: pages hold these numbers
    plain = staticmethod(steady)

    def room(self, value: float) -> float:
        """Return how far an answer may be from the right number, or from that of a mistake."""
        return steady(super().room(np.array(value)))

    def compare(self, answer: Any, _rng: np.random.Generator) -> Feedback:
        """Say whether the number is close enough, or which mistake it is."""
        value = plain_number(answer)
        off = abs(value - self.right)
        if off <= self.room(self.right):
            return self.right_with(f"{shown(value, max(self.digits, 4))} is right.")
        if mistake := self.mistake(lambda wrong: abs(value - wrong) <= self.room(wrong)):
            return mistake
        is_rounded = self.within is None and is_coarse(value, self.digits)
        nearly = is_rounded and off <= 10 * self.room(self.right)
        more = " Nearly: give more digits." if nearly else ""
        return Feedback(False, f"{shown(value, 6)} is {between(value, self.right)}.{more}")


class Array(Numeric):
    """An answer that is an array."""

    @staticmethod
    def plain(value: Any) -> np.ndarray:
        """Return it as an array of floats."""
        return np.asarray(value, dtype=float)

    def is_like(self, value: np.ndarray, array: np.ndarray) -> bool:
        """Say whether two arrays have the same shape and nearly the same entries."""
        return value.shape == array.shape and bool(
            np.all(np.abs(value - array) <= self.room(array))
        )

    def compare(self, answer: Any, _rng: np.random.Generator) -> Feedback:
        """Say whether every entry is close enough, or which mistake it is."""
        value = plain_array(answer)
        if mistake := self.mistake(lambda wrong: self.is_like(value, wrong)):
            return mistake
        if value.shape != self.right.shape:
            return self.wrong(f"Shape {value.shape} came, {self.right.shape} is wanted.")
        if np.isnan(value).any():
            return Feedback(False, "There is NaN in it: somewhere 0/0 or ∞ − ∞ was computed.")
        if self.is_like(value, self.right):
            return self.right_with(f"All {self.right.size} entries are right.")
        return Feedback(False, f"{first_difference(value, self.right, self.room(self.right))}.")


def letters(option: str) -> str:
    """Return what counts of a choice: no capitals, quotes or spaces, and one kind of minus.

    Examples
    --------
    >>> letters(" `−pⱼ ln pⱼ`. ") == letters("-pⱼ  ln pⱼ")
    True
    """
    text = unicodedata.normalize("NFKC", str.__str__(option)).replace("−", "-").casefold()
    return " ".join(text.split()).strip(" .`'\"")


class Pick(Judge):
    """An answer that is one of a few words.

    `options` has every one with what is said to it; the right one among them, with its praise.
    """

    def __init__(self, wanted: str, right: str, options: Mapping[str, str]) -> None:
        wrong = {option: message for option, message in options.items() if option != right}
        super().__init__(wanted, wrong, praise=options[right])
        self.right = right
        self.options = options

    def compare(self, answer: Any, _rng: np.random.Generator) -> Feedback:
        """Say whether the choice is right, or why it is not."""
        known = {letters(option): option for option in self.options}
        option = known.get(letters(answer)) if isinstance(answer, str) else None
        if option is None:
            offered = ", ".join(map(repr, self.options))
            return Feedback(False, f"{received(answer)} is none of the options: {offered}.")
        return Feedback(option == self.right, self.options[option])


def is_near(value: Any, right: Any, room: Any) -> np.ndarray:
    """Say of each entry whether it is right: near enough, or equal, as infinities may be."""
    with np.errstate(all="ignore"):
        return (np.abs(value - right) <= room) | (value == right)


def first_difference(value: np.ndarray, right: np.ndarray, room: np.ndarray | float) -> str:
    """Say how many entries are wrong, and name the first of them."""
    wrong = ~is_near(value, right, room)
    if not wrong.ndim:
        return "the number is off"
    at = ", ".join(str(i) for i in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    return f"{count} of {wrong.size} entries {'is' if count == 1 else 'are'} off, first at [{at}]"


class Function(Judge):
    """An answer that is a function.

    It is called on inputs that a generator draws, and what it returns is compared with an oracle.
    A mistake is recognized if it returns the same in every call, or raises the same kind of error
    where the reader's function does.

    `wanted` has the signature: "attention(q, k, v), which returns ...". `oracle` computes what is
    right from the same arguments; `draw`, given a generator, returns the calls, a list of tuples of
    positional arguments; `room`, given what is right, the arguments and the machine epsilon of the
    answer's type, returns how far each entry may be off, and its docstring derives the bound.
    With `all_digits` the digits are the point, so that a narrow type may round the result alone.
    """

    def __init__(
        self,
        wanted: str,
        oracle: Callable[..., Any],
        draw: Callable[[np.random.Generator], list[tuple[Any, ...]]],
        room: Callable[..., Any],
        mistakes: Mapping[Any, str] = {},
        praise: str = "",
        all_digits: bool = False,
    ) -> None:
        super().__init__(wanted, mistakes, praise=praise)
        self.oracle = oracle
        self.draw = draw
        self.room = room
        self.all_digits = all_digits

    def compare(self, answer: Any, rng: np.random.Generator) -> Feedback:
        """Say whether it returns what is right in every call, or which mistake it is."""
        if not callable(answer) or inspect.isclass(answer):
            return self.wrong(f"{received(answer)} is no function.")
        calls = self.draw(rng)
        try:
            given = [self.given(answer, arguments) for arguments in calls]
        except Unfit as unfit:
            return Feedback(False, str(unfit))
        faults = [
            fault
            for value, arguments in zip(given, calls, strict=True)
            if (fault := self.fault(value, np.asarray(self.oracle(*arguments)), arguments))
        ]
        if not faults:
            return self.right_with(f"Right in all {len(calls)} calls.")
        if mistake := self.mistake(lambda wrong: self.is_made(wrong, given, calls)):
            return mistake
        for failed, arguments in zip(given, calls, strict=True):
            if isinstance(failed, Failed):
                message = f"{raised(failed)} (It was called with {described(*arguments)}.)"
                return Feedback(False, message, failed.trace)
        return Feedback(False, f"{faults[0]} ({len(faults)} of {len(calls)} calls are wrong.)")

    def given(self, answer: Callable[..., Any], arguments: tuple[Any, ...]) -> np.ndarray | Failed:
        """Return what the reader's function gives for these arguments, or what it raises."""
        copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            result = call(answer, *copies)
        except Failed as failed:
            return failed
        for own, copy in zip(arguments, copies, strict=True):
            if isinstance(own, np.ndarray) and not np.array_equal(own, copy, equal_nan=True):
                raise Unfit("Your function changes its input; work on a copy of it.")
        if result is ...:
            raise StillOpen
        if is_open(result):
            raise Unfit(f"Your function returned {result!r}.")
        try:
            return plain_array(result)
        except Unfit as unfit:
            raise Unfit(f"What your function returned does not fit. {unfit}") from None

    def fault(
        self, value: np.ndarray | Failed, right: np.ndarray, arguments: tuple[Any, ...]
    ) -> str:
        """Say what is wrong with the result of one call, or nothing."""
        if isinstance(value, Failed):
            return raised(value)
        shapes = described(*arguments)
        if value.shape != right.shape:
            return f"For {shapes} shape {value.shape} came, {right.shape} is wanted."
        if np.isnan(value).any() and not np.isnan(right).any():
            return f"For {shapes} NaN came: somewhere ∞/∞, ∞ − ∞ or 0/0 was computed."
        room = self.allowed(value, right, arguments)
        if is_near(value, right, room).all():
            return ""
        return f"For {shapes}: {first_difference(value, right, room)}."

    def allowed(self, value: np.ndarray, right: np.ndarray, arguments: tuple[Any, ...]) -> Any:
        """Return how far a result may be off; a narrow type has no more than its own digits."""
        wide, narrow = (float(np.finfo(kind).eps) for kind in (np.float64, np.float32))
        eps = min(max(float(np.finfo(value.dtype).eps), wide), narrow)
        if self.all_digits and eps == narrow:  # rounded in the end, and not computed in it
            return self.room(right, arguments, wide) + narrow * np.abs(right)
        return self.room(right, arguments, eps)

    def is_made(
        self,
        mistake: Callable[..., Any],
        given: Sequence[np.ndarray | Failed],
        calls: list[tuple[Any, ...]],
    ) -> bool:
        """Say whether a known wrong function returns, or raises, the same in every call."""
        for value, arguments in zip(given, calls, strict=True):
            try:
                wrong = np.asarray(call(mistake, *arguments), dtype=float)
            except Failed as failed:
                if isinstance(value, Failed) and type(value.error) is type(failed.error):
                    continue
                return False
            if isinstance(value, Failed) or wrong.shape != value.shape:
                return False
            # the room is that of the right result: what is larger is rounded in larger steps
            larger = max(1, largest(wrong) / (largest(self.oracle(*arguments)) or math.inf))
            alike = is_near(value, wrong, larger * self.allowed(value, wrong, arguments))
            if not (alike | (np.isnan(value) & np.isnan(wrong))).all():
                return False
        return True


def largest(values: Any) -> float:
    """Return the largest finite absolute value, or zero."""
    values = np.abs(np.asarray(values, dtype=float))
    return float(values[np.isfinite(values)].max(initial=0))


def raised(failed: Failed) -> str:
    """Return in words what the reader's code raised."""
    return f"Your code raised {type(failed.error).__name__}: {failed}"


class Example(Judge):
    """An answer that has to have a property, of which there are many.

    Given the answer and a generator, `fault` returns what is wrong with it, or nothing; it may
    raise `Unfit`. The message of a mistake is what `fault` says to it.
    """

    def __init__(
        self,
        wanted: str,
        fault: Callable[[Any, np.random.Generator], str],
        mistakes: Mapping[Any, str] = {},
        praise: str = "",
    ) -> None:
        super().__init__(wanted, mistakes, praise=praise)
        self.fault = fault

    def compare(self, answer: Any, rng: np.random.Generator) -> Feedback:
        """Say whether the answer has the property, or what it lacks."""
        fault = self.fault(answer, rng)
        return Feedback(False, fault) if fault else self.right_with("It is as asked.")


def described(*arguments: Any) -> str:
    """Return arguments as they are named to the reader: shapes, or short values."""
    return ", ".join(
        f"an array of shape {argument.shape}"
        if isinstance(argument, np.ndarray) and argument.ndim
        else received(argument)
        for argument in arguments
    )
