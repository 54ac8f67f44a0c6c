"""What the hidden checks of a source notebook use.

A hidden check is three functions. ``ask(rng, student_id)``, which may be absent, draws inputs;
``answer``, whose arguments are called as some of them, runs where the student's code ran and hands
over what the student made; what it does not take, such as the kind of a case, stays outside.
``judge(given, student_id, asked)`` compares, in the instructor's process, and raises `Wrong` with
what the student is told. In the instructor's own notebook, and under plain nbgrader,
`hidden_check` runs all three on the spot.
"""

from __future__ import annotations

import math
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from grading.sandbox._wire import Unusable, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# floor for comparisons of float64 results that take a few hundred operations
ROUNDING = 1e-9
COMMON = (
    "function",
    "method",
    "set",
    "Figure",
    "Axes",
    "type",
    "module",
)


class Wrong(Exception):  # noqa: N818, it reads as it is meant: raise Wrong("...")
    """An answer is wrong, and this is what its author is told.

    The message says what was done wrong, in the student's terms, without the right answer; `earned`
    is the share of the points that it earns all the same, from 0 to 1.

    Examples
    --------
    >>> try:
    ...     raise Wrong("this is the variance; its square root was asked", earned=0.5)
    ... except Wrong as wrong:
    ...     print(wrong, wrong.earned)
    this is the variance; its square root was asked 0.5
    """

    def __init__(self, message: str, *, earned: float = 0.0) -> None:
        if not 0 <= earned <= 1:
            raise ValueError(f"earned must be a share from 0 to 1; got {earned}")
        super().__init__(message)
        self.earned = earned


def _given(given: dict[str, Any], name: str) -> Any:
    """Return one value of an answer, or say that there is none."""
    value = given.get(name) if isinstance(given, dict) else None
    if value is None:
        raise Wrong(f"`{name}` has no value yet")
    if isinstance(value, Unusable):
        # a name that the student made up could tell what the check called with
        what = f"it is a {value.what}" if value.what in COMMON else "something else came"
        raise Wrong(f"`{name}` must be made of numbers; {what}")
    return value


def number(given: dict[str, Any], name: str) -> float:
    """Return one finite real number of an answer; an array of one entry counts as one.

    `given` is what `answer` handed over, `name` the number's name in it, which the student is told.
    `Wrong` if it is missing, is not one real number, or is not finite.

    Examples
    --------
    >>> number({"variance": 64}, "variance")
    64.0
    >>> number({"variance": 64 + 0j}, "variance")
    64.0
    >>> number({"variance": "64"}, "variance")
    Traceback (most recent call last):
    ...
    grading.hidden.Wrong: `variance` must be a number; it is a text
    """
    value = _given(given, name)
    if isinstance(value, np.ndarray | list):
        found = array(given, name)
        if found.size != 1:
            many = "several" if found.size else "no"
            raise Wrong(f"`{name}` must be one number; it has {many} entries")
        value = found.item()
    if isinstance(value, str | bool | dict):
        words = {str: "a text", bool: "a truth value", dict: "a dictionary"}
        raise Wrong(f"`{name}` must be a number; it is {words[type(value)]}")
    if isinstance(value, complex):
        if value.imag:
            raise Wrong(f"`{name}` must be a real number; it is complex")
        value = value.real
    try:
        value = float(value)
    except OverflowError:
        raise Wrong(f"`{name}` must be finite; it is too large to be one") from None
    if not math.isfinite(value):
        raise Wrong(f"`{name}` must be finite; it is {value}")
    return value


def array(given: dict[str, Any], name: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return one array of finite real numbers of an answer, in float64.

    `given` is what `answer` handed over, `name` the array's name in it, which the student is told,
    and `shape` the one that it must have. `Wrong` if it is missing, ragged, not real, not finite,
    or of another shape.

    Examples
    --------
    >>> array({"weights": [[0.25, 0.75]]}, "weights", (1, 2))
    array([[0.25, 0.75]])
    >>> array({"weights": np.array([0.25 + 0j, 0.75])}, "weights")
    array([0.25, 0.75])
    >>> array({"weights": [0.25, 0.75]}, "weights", (1, 2))
    Traceback (most recent call last):
    ...
    grading.hidden.Wrong: `weights` must have shape (1, 2); it has (2,)
    """
    value = _given(given, name)
    try:
        found = np.asarray(value)
        if found.dtype.kind == "c" and not found.imag.any():
            found = found.real  # of eigenvalues, say
        if isinstance(value, str | dict) or found.dtype.kind not in "biufO":
            raise TypeError
        found = found.astype(float)
    except (ValueError, TypeError, OverflowError):
        raise Wrong(f"`{name}` must be an array of real numbers") from None
    if shape is not None and found.shape != shape:
        raise Wrong(f"`{name}` must have shape {shape}; it has {told_shape(found.shape, shape)}")
    if not np.isfinite(found).all():
        raise Wrong(f"`{name}` must be finite; it has NaN or an infinity")
    return found


def told_shape(found: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Return a shape in words for a student.

    Lengths that have nothing to do with what is `wanted` could tell what the check called with.

    Examples
    --------
    >>> told_shape((5, 4), (4, 5)), told_shape((20,), (4, 5)), told_shape((31415, 0), (4, 5))
    ('(5, 4)', '(20,)', '(…)')
    """
    related = {1, math.prod(wanted), *wanted}
    return str(found) if len(found) <= len(wanted) + 1 and related.issuperset(found) else "(…)"


def close(found: Any, expected: Any, within: float = ROUNDING) -> bool:
    """Return whether every entry is as expected; not so for shapes that differ, and for NaN.

    `within` is the greatest deviation, as a share of the largest absolute expected entry, or of one
    if that is greater.

    Examples
    --------
    >>> close([0.1 + 0.2, 1.0], [0.3, 1.0])
    True
    >>> close(float("nan"), 1.0)
    False
    """
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        return False
    room = within * max(1.0, np.abs(expected).max(initial=0.0))
    return bool((np.abs(found - expected) <= room).all())


def mixed(
    rng: np.random.Generator, cases: Mapping[str, Sequence[Any]]
) -> tuple[list[Any], list[str]]:
    """Return the cases of all kinds in an order that is drawn, and the kind of each.

    What `answer` gets must not tell what is right, neither by a name nor by its place.

    Examples
    --------
    >>> mixed(np.random.default_rng(0), {"low": [1, 2], "high": [8]})
    ([8, 1, 2], ['high', 'low', 'low'])
    """
    found = [(case, kind) for kind, each in cases.items() for case in each]
    found = [found[place] for place in rng.permutation(len(found))]
    return [case for case, _ in found], [kind for _, kind in found]


def by_kind(found: Sequence[Any], kinds: Sequence[str]) -> dict[str, list[Any]]:
    """Return what belongs to the cases of each kind, in their order.

    Examples
    --------
    >>> by_kind([80, 10, 20], ["high", "low", "low"])
    {'high': [80], 'low': [10, 20]}
    """
    sorted_out: dict[str, list[Any]] = {}
    for each, kind in zip(found, kinds, strict=True):
        sorted_out.setdefault(kind, []).append(each)
    return sorted_out


def hidden_check(
    answer: Callable[..., dict[str, Any]],
    judge: Callable[[dict[str, Any], str, dict[str, Any]], None],
    ask: Callable[[np.random.Generator, str], dict[str, Any]] | None = None,
) -> None:
    """Run a hidden check in its place: in the source notebook, or under plain nbgrader.

    The grader never calls this. It takes the functions apart and runs only `answer` in the
    sandbox. Here the inputs come from a fixed seed, and the identity from the notebook. `Wrong` if
    `judge` raises it.
    """
    student_id = answer.__globals__.get("student_id", "")
    asked = decode(encode(ask(np.random.default_rng(0), student_id))) if ask else {}
    taken = {name: asked[name] for name in signature(answer).parameters if name in asked}
    judge(decode(encode(answer(**taken))), student_id, asked)
