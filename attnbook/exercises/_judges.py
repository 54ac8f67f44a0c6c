"""The kinds of answers, each with a judge that says what is wrong.

A judge knows the right answer, how far from it an answer may be and why, and the mistakes that
people make, each with words for it.
"""

from __future__ import annotations

import inspect
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from attnbook.exercises._running import Failed, call
from attnbook.exercises._verdict import Said

WORDS = 60
WHOLE = 1e15


class Judge(Protocol):
    """What every kind of answer has."""

    wanted: str
    """What the answer is to be, as a phrase: "the standard deviation of q·k, a number"."""

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether the answer is right, and if not, what is wrong."""
        ...


class Unfit(Exception):  # noqa: N818 - a message on its way to the reader
    """An answer that is not of the kind asked for; the message says so to the reader."""


class StillOpen(Exception):  # noqa: N818 - no error, as there is no answer yet
    """A function returned what that of the stub returns."""


def came(value: Any) -> str:
    """Return what the reader gave, in one short line."""
    text = " ".join(call(repr, value).split())
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."


def is_open(answer: Any) -> bool:
    """Say whether an answer is still the one of the stub."""
    return answer is ... or answer is None


def not_yet(wanted: str) -> Said:
    """Return what is said while nothing is answered."""
    return Said(False, f"Not answered yet: put {wanted} here.")


def refuse_other_kinds(value: Any, asked: str) -> None:
    """Raise `Unfit` for text, truth values and functions, and `StillOpen` for an open answer."""
    if value is ...:
        raise StillOpen
    if isinstance(value, str | bytes):
        raise Unfit(f"{came(value)} is text; {asked} is asked, without quotes.")
    if isinstance(value, bool | np.bool_):
        raise Unfit(f"{value} is a truth value; {asked} is asked.")
    if callable(value):
        raise Unfit(f"A function came; {asked} is asked. Call it, perhaps?")


def plain_number(value: Any) -> float:
    """Return a number that nobody but this module has made, or say why it is none.

    Raises
    ------
    Unfit
        If it is text, true or false, complex, an array of several, infinite or no number.
    Failed
        If an object's own conversion raises.
    """
    refuse_other_kinds(value, "a number")
    if call(hasattr, value, "__len__") or isinstance(value, np.ndarray):
        array = plain_array(value)
        if array.size != 1:
            raise Unfit(f"{array.size} numbers came, with shape {array.shape}; one is asked.")
        value = array.item()
    if isinstance(value, complex | np.complexfloating):
        raise Unfit(f"{came(value)} is complex; a real number is asked.")
    try:
        number = float(call(lambda: float(value)))
    except Failed as failed:
        if isinstance(failed.error, TypeError):
            raise Unfit(f"{came(value)} is no number.") from None
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
        raise Unfit("A masked array came; a plain one is asked.")
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
            raise Unfit(f"{came(value)} is no array of numbers.") from None
    if array.dtype.kind == "c":
        raise Unfit("Complex numbers came; real ones are asked.")
    if array.dtype.kind not in "iuf":
        raise Unfit(f"Entries of the kind {array.dtype} came; numbers are asked.")
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


@dataclass(frozen=True)
class Number:
    """An answer that is one number.

    Parameters
    ----------
    wanted : str
        What it is, as a phrase behind "put" and "asked is".
    right : float
        The right number, computed.
    digits : int
        To so many significant digits the answer is asked, unless `within` says otherwise.
    within : float, optional
        How far from the right number an answer may be; `why` says where that comes from.
    why : str
        The reason of `within`.
    mistakes : sequence of (float, str)
        Wrong numbers that have a name.
    praise : str
        What is added to a right answer.
    """

    wanted: str
    right: float
    digits: int = 3
    within: float | None = None
    why: str = ""
    mistakes: Sequence[tuple[float, str]] = ()
    praise: str = ""

    def __post_init__(self) -> None:
        """Leave out the last digits, in which processors differ: pages hold these numbers."""
        object.__setattr__(self, "right", steady(self.right))
        named = [(steady(mistake), message) for mistake, message in self.mistakes]
        object.__setattr__(self, "mistakes", named)

    def room(self, value: float) -> float:
        """Return how far an answer may be from the right number, or from that of a mistake."""
        return steady(rounding(value, self.digits) if self.within is None else self.within)

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether the number is close enough, or which mistake it is."""
        del rng
        try:
            value = plain_number(answer)
        except Unfit as unfit:
            return Said(False, f"{unfit} Asked is {self.wanted}.")
        if abs(value - self.right) <= self.room(self.right):
            number = shown(value, max(self.digits, 4))
            return Said(True, f"{number} is right. {self.praise}".strip())
        for mistake, message in self.mistakes:
            if abs(value - mistake) <= self.room(mistake):
                return Said(False, message)
        is_near = abs(value - self.right) <= 10 * self.room(self.right)
        is_rounded = self.within is None and is_coarse(value, self.digits)
        more = " Nearly: give more digits." if is_near and is_rounded else ""
        return Said(
            False,
            f"{shown(value, 6)} is {between(value, self.right)}.{more} Asked is {self.wanted}.",
        )


def letters(option: str) -> str:
    """Return what counts of a choice: no capitals, quotes or spaces, and one kind of minus.

    Examples
    --------
    >>> letters(" `−pⱼ ln pⱼ`. ") == letters("-pⱼ  ln pⱼ")
    True
    """
    text = unicodedata.normalize("NFKC", str.__str__(option)).replace("−", "-").casefold()
    return " ".join(text.split()).strip(" .`'\"")


@dataclass(frozen=True)
class Pick:
    """An answer that is one of a few words.

    Parameters
    ----------
    wanted : str
        What is to be chosen.
    right : str
        The right option.
    options : mapping of str to str
        Every option with what is said to it; the right one among them, with its praise.
    """

    wanted: str
    right: str
    options: Mapping[str, str]

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether the choice is right, or why it is not."""
        del rng
        known = {letters(option): option for option in self.options}
        said = letters(answer) if isinstance(answer, str) else None
        if said not in known:
            offered = ", ".join(map(repr, self.options))
            return Said(False, f"{came(answer)} is none of the options: {offered}.")
        option = known[said]
        return Said(option == self.right, self.options[option])


def first_difference(value: np.ndarray, right: np.ndarray, room: np.ndarray | float) -> str:
    """Say how many entries are wrong, and name the first of them."""
    with np.errstate(all="ignore"):
        wrong = ~((np.abs(value - right) <= room) | (value == right))
    if not wrong.ndim:
        return "the number is off"
    at = ", ".join(str(i) for i in np.argwhere(wrong)[0])
    count = int(wrong.sum())
    return f"{count} of {wrong.size} entries {'is' if count == 1 else 'are'} off, first at [{at}]"


@dataclass(frozen=True)
class Array:
    """An answer that is an array.

    Parameters
    ----------
    wanted : str
        What it is.
    right : numpy.ndarray
        The right array, computed.
    digits : int
        Each entry is asked to so many significant digits of the largest, unless `within` says
        otherwise.
    within : float, optional
        How far from the right entry each entry may be; `why` says where that comes from.
    why : str
        The reason of `within`.
    mistakes : sequence of (numpy.ndarray, str)
        Wrong arrays that have a name.
    praise : str
        What is added to a right answer.
    """

    wanted: str
    right: np.ndarray
    digits: int = 3
    within: float | None = None
    why: str = ""
    mistakes: Sequence[tuple[np.ndarray, str]] = ()
    praise: str = ""

    def room(self, array: np.ndarray) -> float:
        """Return how far each entry may be off."""
        if self.within is not None:
            return self.within
        return rounding(float(np.abs(array).max(initial=0.0)), self.digits)

    def is_like(self, value: np.ndarray, array: np.ndarray) -> bool:
        """Say whether two arrays have the same shape and nearly the same entries."""
        return value.shape == array.shape and bool(
            np.all(np.abs(value - array) <= self.room(array))
        )

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether every entry is close enough, or which mistake it is."""
        del rng
        right = np.asarray(self.right, dtype=float)
        try:
            value = plain_array(answer)
        except Unfit as unfit:
            return Said(False, f"{unfit} Asked is {self.wanted}.")
        for mistake, message in self.mistakes:
            if self.is_like(value, np.asarray(mistake, dtype=float)):
                return Said(False, message)
        if value.shape != right.shape:
            return Said(
                False,
                f"Shape {value.shape} came, {right.shape} is wanted. Asked is {self.wanted}.",
            )
        if np.isnan(value).any():
            return Said(False, "There is NaN in it: somewhere 0/0 or ∞ − ∞ was computed.")
        if self.is_like(value, right):
            return Said(True, f"All {right.size} entries are right. {self.praise}".strip())
        return Said(False, f"{first_difference(value, right, self.room(right))}.")


@dataclass(frozen=True)
class Function:
    """An answer that is a function.

    It is called on inputs that a generator draws, and what it returns is compared with an oracle.

    Parameters
    ----------
    wanted : str
        What it is, with its signature: "attention(q, k, v), which returns ...".
    oracle : callable
        Computes what is right, from the same arguments.
    draw : callable
        Given a generator, returns the calls: a list of tuples of positional arguments.
    room : callable
        Given what is right, the arguments and the machine epsilon of the answer's type, returns
        how far each entry may be off; its docstring derives the bound.
    mistakes : sequence of (callable, str)
        Wrong functions that have a name; one is recognized if it returns the same in every call,
        or raises the same kind of error where the reader's does.
    praise : str
        What is added to a right answer.
    keywords : mapping of str to Any
        Further arguments of every call.
    all_digits : bool
        Whether the digits are the point, so that a narrow type may round the result alone.
    """

    wanted: str
    oracle: Callable[..., Any]
    draw: Callable[[np.random.Generator], list[tuple[Any, ...]]]
    room: Callable[..., Any]
    mistakes: Sequence[tuple[Callable[..., Any], str]] = ()
    praise: str = ""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    all_digits: bool = False

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether it returns what is right in every call, or which mistake it is."""
        if not callable(answer) or inspect.isclass(answer):
            return Said(False, f"{came(answer)} is no function. Asked is {self.wanted}.")
        calls = self.draw(rng)
        try:
            given = [self.given(answer, arguments) for arguments in calls]
        except Unfit as unfit:
            return Said(False, str(unfit))
        rights = [np.asarray(self.oracle(*arguments)) for arguments in calls]
        faults = [
            fault
            for value, right, arguments in zip(given, rights, calls, strict=True)
            if (fault := self.fault(value, right, arguments))
        ]
        if not faults:
            return Said(True, f"Right in all {len(calls)} calls. {self.praise}".strip())
        for mistake, message in self.mistakes:
            if self.is_mistake(mistake, given, calls):
                return Said(False, message)
        for failed, arguments in zip(given, calls, strict=True):
            if isinstance(failed, Failed):
                shapes = ", ".join(described(argument) for argument in arguments)
                return Said(False, f"{raised(failed)} (It was called with {shapes}.)", failed.trace)
        return Said(False, f"{faults[0]} ({len(faults)} of {len(calls)} calls are wrong.)")

    def given(self, answer: Callable[..., Any], arguments: tuple[Any, ...]) -> np.ndarray | Failed:
        """Return what the reader's function gives for these arguments, or what it raises."""
        copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        try:
            with np.errstate(all="ignore"):
                result = call(answer, *copies, **self.keywords)
        except Failed as failed:
            return failed
        for own, copy in zip(arguments, copies, strict=True):
            if isinstance(own, np.ndarray) and not np.array_equal(own, copy, equal_nan=True):
                raise Unfit("Your function changes its input; work on a copy of it.")
        if result is ...:
            raise StillOpen
        if is_open(result):
            raise Unfit(f"Your function returned {result!r}. Asked is {self.wanted}.")
        try:
            return plain_array(result)
        except Unfit as unfit:
            raise Unfit(f"What your function returned does not fit. {unfit}") from None

    def fault(
        self, value: np.ndarray | Failed, right: np.ndarray, arguments: tuple[Any, ...]
    ) -> str:
        """Say what is wrong with what came out of one call, or nothing."""
        if isinstance(value, Failed):
            return raised(value)
        shapes = ", ".join(described(argument) for argument in arguments)
        if value.shape != right.shape:
            return f"For {shapes} shape {value.shape} came, {right.shape} is wanted."
        if np.isnan(value).any() and not np.isnan(right).any():
            return f"For {shapes} NaN came: somewhere ∞/∞, ∞ − ∞ or 0/0 was computed."
        room = self.allowed(value, right, arguments)
        with np.errstate(all="ignore"):
            close = (np.abs(value - right) <= room) | (value == right)
        if close.all():
            return ""
        return f"For {shapes}: {first_difference(value, right, room)}."

    def allowed(self, value: np.ndarray, right: np.ndarray, arguments: tuple[Any, ...]) -> Any:
        """Return how far what came may be off; a narrow type has no more than its own digits."""
        wide, narrow = (float(np.finfo(kind).eps) for kind in (np.float64, np.float32))
        eps = min(max(float(np.finfo(value.dtype).eps), wide), narrow)
        if self.all_digits and eps == narrow:  # rounded in the end, and not computed in it
            return self.room(right, arguments, wide) + narrow * np.abs(right)
        return self.room(right, arguments, eps)

    def is_mistake(
        self,
        mistake: Callable[..., Any],
        given: Sequence[np.ndarray | Failed],
        calls: list[tuple[Any, ...]],
    ) -> bool:
        """Say whether a known wrong function returns, or raises, the same in every call."""
        for value, arguments in zip(given, calls, strict=True):
            try:
                with np.errstate(all="ignore"):
                    wrong = np.asarray(call(mistake, *arguments), dtype=float)
            except Failed as failed:
                if isinstance(value, Failed) and type(value.error) is type(failed.error):
                    continue
                return False
            if isinstance(value, Failed):
                return False
            if wrong.shape != value.shape:
                return False
            room = self.allowed(value, wrong, arguments)
            with np.errstate(all="ignore"):
                alike = (np.abs(value - wrong) <= room) | (value == wrong)
            if not (alike | (np.isnan(value) & np.isnan(wrong))).all():
                return False
        return True


def raised(failed: Failed) -> str:
    """Return in words what the reader's code raised."""
    return f"Your code raised {type(failed.error).__name__}: {failed}"


@dataclass(frozen=True)
class Example:
    """An answer that has to have a property, of which there are many.

    Parameters
    ----------
    wanted : str
        What it is.
    fault : callable
        Given the answer and a generator, returns what is wrong with it, or nothing; it may raise
        `Unfit`.
    mistakes : sequence of (object, str)
        Wrong answers with what `fault` says to them.
    praise : str
        What is added to a right answer.
    """

    wanted: str
    fault: Callable[[Any, np.random.Generator], str]
    mistakes: Sequence[tuple[Any, str]] = ()
    praise: str = ""

    def judge(self, answer: Any, rng: np.random.Generator) -> Said:
        """Say whether the answer has the property, or what it lacks."""
        try:
            with np.errstate(all="ignore"):
                fault = self.fault(answer, rng)
        except Unfit as unfit:
            fault = f"{unfit} Asked is {self.wanted}."
        return Said(not fault, fault or f"It is as asked. {self.praise}".strip())


def described(argument: Any) -> str:
    """Return an argument as it is named to the reader: a shape, or a short value."""
    if isinstance(argument, np.ndarray) and argument.ndim:
        return f"an array of shape {argument.shape}"
    return came(argument)


def judged(judge: Judge, answer: Any, rng: np.random.Generator) -> Said:
    """Judge an answer, whatever it is and whatever it does."""
    if is_open(answer):
        return not_yet(judge.wanted)
    try:
        return judge.judge(answer, rng)
    except StillOpen:
        return not_yet(judge.wanted)
    except Failed as failed:
        return Said(False, raised(failed), failed.trace)
