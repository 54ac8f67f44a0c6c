"""Questions that a reader answers before the page does: a choice, an estimate, a sketch.

What is asked belongs to the chapter, so these figures are given it, and a browser is handed it
beside the state. The right answer is computed in the chapter's cell and never typed.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import ONE_NUMBER, LiveFigure, read_number
from attnlib._checks import float_array

SIGNS = {"right": "✓", "other": "≠", "alike": "≈", "low": "<", "high": ">", "ask": "?"}
GRADES = {"right": "Right", "alike": "Partly right", "other": "Not right"}
WIDE, HIGH, NOTCHES = 640, 200, 20


class Prediction(LiveFigure):
    """What the three kinds of question have in common.

    The reader answers and commits; then the verdict and the reason are shown, and the outputs of
    the cells that follow on the page are opened.
    """

    kind: ClassVar[str]
    default_ask: ClassVar[str] = "Your prediction"
    state = ("content", "answer", "committed")
    content = traitlets.Dict().tag(sync=True)
    committed = traitlets.Bool(default_value=False).tag(sync=True)

    def __init__(self, because: str, ask: str | None, state: dict[str, Any], **content: Any):
        if not because.strip():
            raise ValueError(f"because must be a sentence; got {because!r}")
        asked = {"kind": self.kind, "legend": ask or self.default_ask, "because": because}
        super().__init__(content=asked | content, **state)

    @property
    def right(self) -> Any:
        """The right answer."""
        return self.content["right"]

    def verdict(self) -> tuple[str, str]:
        """Return how the answer compares with the right one, in a word and in a sentence."""
        raise NotImplementedError

    def right_in_words(self) -> str:
        """Return the right answer in words."""
        raise NotImplementedError

    def words(self) -> str:
        """Return the verdict in words, once the reader has committed."""
        return self.verdict()[1] if self.committed else ""

    def markup(self) -> str:
        """Return the question, what has been answered, and for a page without scripts the end."""
        outcome = self.verdict()[0] if self.committed else ""
        because = html.escape(self.content["because"])
        return (
            f'<form class="prediction {self.kind}" novalidate>'
            f"<fieldset{' disabled' if self.committed else ''}>"
            f"<legend>{html.escape(self.content['legend'])}</legend>{self.controls()}</fieldset>"
            f'<button type="submit">{"Try again" if self.committed else "Commit"}</button>'
            f'<div class="reply" aria-live="polite"><p class="verdict">'
            f'<span class="sign" aria-hidden="true">{html.escape(SIGNS.get(outcome, ""))}</span>'
            f'<span class="said">{html.escape(self.words())}</span></p>'
            f'<p class="because">{because if self.committed else ""}</p></div></form>'
            '<details class="told"><summary>The answer</summary>'
            f"<p>{html.escape(self.right_in_words())} {because}</p></details>"
        )

    def __repr__(self) -> str:
        """Return what the reader has done; the question is the chapter's."""
        return f"{type(self).__name__}(answer={self.answer!r}, committed={self.committed})"


class Choice(Prediction):
    """A question with some answers to choose from, of which one is right.

    Parameters
    ----------
    options : sequence of str, or mapping from str to (float, float)
        The answers. A mapping says from where to where a computed number is called so.
    right : str or float
        The right answer, computed: one of the texts, or the number that one of the ranges holds.
    because : str
        The reason, shown after the reader has committed.
    ask : str, optional
        What is shown above the answers.
    **state
        The trait ``answer``, one of the texts, and the trait ``committed``.

    Raises
    ------
    ValueError
        If ``options`` are not two or more different texts, or ``right`` is not one of them.

    Examples
    --------
    >>> from attnbook.figures import Choice
    >>> figure = Choice({"about a half": (0.4, 0.6), "nearly all": (0.8, 1)}, 0.84, "It is 0.84.")
    >>> figure.right
    'nearly all'
    >>> figure.answer, figure.committed = "about a half", True
    >>> figure.words()
    'You said: about a half. It is: nearly all.'

    Notes
    -----
    Shown in the chapter on the puzzle, and in all that ask for predictions.
    """

    kind = "choice"
    answer = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        options: Sequence[str] | Mapping[str, tuple[float, float]],
        right: str | float,
        because: str,
        *,
        ask: str | None = None,
        **state: Any,
    ) -> None:
        texts = list(options)
        if len(set(texts)) != len(texts) or len(texts) < 2 or not all(texts):
            raise ValueError(f"options must be two or more different texts; got {texts}")
        fitting = [text for text in texts if text == right]
        if isinstance(options, Mapping):
            fitting = [text for text, (low, high) in options.items() if low <= right <= high]
        if len(fitting) != 1:
            raise ValueError(
                f"right must be one of the options {dict.fromkeys(texts)}; got {right}"
            )
        chosen = fitting[0]
        verdicts = {
            text: ["right", f"You said: {text}. So it is."]
            if text == chosen
            else ["other", f"You said: {text}. It is: {chosen}."]
            for text in texts
        }
        super().__init__(
            because, ask, state, right=chosen, verdicts=verdicts, wanted="Please choose one first."
        )

    def verdict(self) -> tuple[str, str]:
        """Return whether the answer is the right one, in a word and in a sentence."""
        outcome, words = self.content["verdicts"].get(self.answer, ("ask", self.content["wanted"]))
        return outcome, words

    def right_in_words(self) -> str:
        """Return the right answer in words."""
        return f"It is: {self.right}."

    def controls(self) -> str:
        """Return a radio button for each answer."""
        return "".join(
            f'<label class="option"><input type="radio" name="answer" value="{html.escape(text)}"'
            f"{' checked' if text == self.answer else ''}> {html.escape(text)}</label>"
            for text in self.content["verdicts"]
        )


class Estimate(Prediction):
    """A question that is answered with a number.

    Parameters
    ----------
    right : float
        The right number.
    tolerance : float
        How far from it an answer is still close enough.
    because : str
        The reason, shown after the reader has committed.
    unit : str
        What is shown behind the number. With the unit "%" the right number is in percent.
    relative : bool
        Whether the tolerance is a part of the right number.
    shown : str, optional
        The right number as it is read; else it has three digits.
    ask : str, optional
        What is shown above the field.
    **state
        The trait ``answer``, the text that the reader wrote, and the trait ``committed``.

    Raises
    ------
    ValueError
        If ``right`` is not finite, or ``tolerance`` not positive and finite.

    Examples
    --------
    >>> from attnbook.figures import Estimate
    >>> figure = Estimate(0.0512, 0.03, "Many random keys nibble at it.", answer="1/2")
    >>> figure.value, figure.right
    (0.5, 0.0512)
    >>> figure.committed = True
    >>> figure.words()
    'You said 1/2; it is 0.0512: too high.'

    Notes
    -----
    Shown in the chapters on variance, on saturation and on temperature. A number may be written as
    0.5, 0,5, 1/2, 50%, 5e-1 or 10^6.
    """

    kind = "estimate"
    default_ask = "Your estimate"
    answer = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        right: float,
        tolerance: float,
        because: str,
        *,
        unit: str = "",
        relative: bool = False,
        shown: str | None = None,
        ask: str | None = None,
        **state: Any,
    ) -> None:
        right, tolerance = (
            float(float_array("right", right)),
            float(float_array("tolerance", tolerance)),
        )
        room = tolerance * (abs(right) if relative else 1)
        if not room > 0:
            raise ValueError(f"tolerance must leave room around {right}; got {tolerance}")
        low, high = right - room, right + room
        it_is = f"it is {shown or read(right)}{unit}"
        tails = {
            "low": f"; {it_is}: too low.",
            "high": f"; {it_is}: too high.",
            "right": f"; {it_is}: close enough (from {read(low)} to {read(high)} would be).",
        }
        super().__init__(
            because,
            ask,
            state,
            right=right,
            low=low,
            high=high,
            unit=unit,
            told=f"I{it_is[1:]}.",
            tails=tails,
            wanted="Please write a number in percent, such as 50 for a half."
            if unit == "%"
            else ONE_NUMBER,
        )

    @property
    def value(self) -> float | None:
        """The number that the reader wrote, or None if it is none."""
        return read_number(self.plain)

    @property
    def plain(self) -> str:
        """What the reader wrote, without a unit "%" that the page shows behind the field."""
        text = self.answer.strip()
        return text.removesuffix("%").rstrip() if self.content["unit"] == "%" else text

    def may_be_a_share(self, value: float) -> bool:
        """Tell whether percent are asked and 0.5 or 1/2 may have been meant as a half of all."""
        if self.content["unit"] != "%" or "%" in self.answer:
            return False
        return "/" in self.plain or 0 < abs(value) < 1

    def verdict(self) -> tuple[str, str]:
        """Return whether the number is too low or too high, in a word and in a sentence."""
        content, value = self.content, self.value
        if value is None or self.may_be_a_share(value):
            return "ask", content["wanted"]
        outcome = "low" if value < content["low"] else "right"
        outcome = "high" if value > content["high"] else outcome
        return outcome, f"You said {self.plain}{content['unit']}{content['tails'][outcome]}"

    def right_in_words(self) -> str:
        """Return the right number in words."""
        return self.content["told"]

    def controls(self) -> str:
        """Return a field for the number; the words above name it."""
        named = html.escape(self.content["legend"])
        return (
            f'<input type="text" inputmode="decimal" name="answer" autocomplete="off" size="12" '
            f'aria-label="{named}" value="{html.escape(self.answer)}">'
            f'<span class="unit">{html.escape(self.content["unit"])}</span>'
        )


class Sketch(Prediction):
    """A question that is answered by drawing a curve.

    The reader sets 5 to 7 points, evenly side by side. The curve may be known at
    points between them as well. What is judged is its shape: which way it goes from point to
    point, and where it is highest. A step that rises or falls wants one that does the same. Where
    the true curve moves by less than half a notch of the sliders it is level, and a step of at
    most one notch is right.

    Parameters
    ----------
    x : sequence of float
        Places, drawn at equal distances.
    y : sequence of float
        The true curve there.
    because : str
        The reason, shown after the reader has committed.
    x_name, y_name : str
        What the axes are.
    limits : (float, float), optional
        The ends of the upright axis; from 0 to 1 if left out.
    ask : str, optional
        What is shown above the picture.
    **state
        The trait ``answer``, the places of the sliders from 0 to 20, and the trait ``committed``.

    Raises
    ------
    ValueError
        If ``x`` and ``y`` differ in shape, if no 5 to 7 of the places are evenly spread over
        them from the first to the last, or if ``y`` leaves the ``limits``.

    Examples
    --------
    >>> from attnbook.figures import Sketch
    >>> figure = Sketch([1, 2, 4, 8, 16], [0.1, 0.2, 0.4, 0.6, 0.8], "It rises.", "x", "y")
    >>> figure.right
    [2, 4, 8, 12, 16]
    >>> figure.answer, figure.committed = [2, 3, 5, 5, 3], True
    >>> print(figure.words())  # doctest: +NORMALIZE_WHITESPACE
    Partly right: 2 of 4 steps go the same way. Yours rises, then falls; the measured curve rises.
    Yours is highest at 4, 8; the measured curve at 16.

    Notes
    -----
    Shown in the chapters on the puzzle and on gradients.
    """

    kind = "sketch"
    default_ask = "Draw your prediction: move the points"
    answer = traitlets.List(traitlets.Int(min=0, max=NOTCHES)).tag(sync=True)

    def __init__(
        self,
        x: Sequence[float],
        y: Sequence[float],
        because: str,
        x_name: str,
        y_name: str,
        *,
        limits: tuple[float, float] = (0.0, 1.0),
        ask: str | None = None,
        **state: Any,
    ) -> None:
        x, y = float_array("x", x, ndim=1), float_array("y", y, ndim=1)
        if x.shape != y.shape:
            raise ValueError(f"x and y must have one shape; got {x.shape} and {y.shape}")
        parts = [count for count in (7, 6, 5) if len(x) % (count - 1) == 1 and len(x) >= count]
        if not parts:
            raise ValueError(f"x must have 5 to 7 places, or as many between each; got {len(x)}")
        low, high = limits
        if not low <= y.min() < y.max() <= high:
            raise ValueError(f"y must lie within the limits {limits}; got {y.min()} to {y.max()}")
        step = (len(x) - 1) // (parts[0] - 1)
        heights = NOTCHES * (y[::step] - low) / (high - low)
        levels = np.rint(heights).astype(int)
        ways = np.where(abs(np.diff(heights)) < 0.5, 0, np.sign(np.diff(levels)))
        column = WIDE / parts[0]
        across = column / 2 + np.linspace(0, WIDE - column, len(x))
        state = {"answer": [NOTCHES // 2] * parts[0]} | state
        super().__init__(
            because,
            ask,
            state,
            right=levels.tolist(),
            ways=ways.tolist(),
            peak=int(np.argmax(y[::step])),
            places=[read(place) for place in x[::step]],
            stops=[read(stop) for stop in np.linspace(low, high, NOTCHES + 1)],
            path=svg.line(zip(across, HIGH * (1 - (y - low) / (high - low)), strict=True)),
            names=[x_name, y_name],
            wanted="Please move some points first.",
        )

    def verdict(self) -> tuple[str, str]:
        """Return in how many steps the curves go the same way, and where they are highest."""
        own, content = self.answer, self.content
        if set(own) == {NOTCHES // 2}:
            return "ask", content["wanted"]
        steps, ways, places = np.diff(own), content["ways"], content["places"]
        fits = [np.sign(a) == b if b else abs(a) <= 1 for a, b in zip(steps, ways, strict=True)]
        same, count = sum(fits), len(ways)
        tops = [place for place, level in enumerate(own) if level == max(own)]
        is_top = tops == [content["peak"]]
        outcome = "alike" if 2 * same >= count else "other"
        outcome = "right" if same == count and is_top else outcome
        words = f"{GRADES[outcome]}: {same} of {count} steps go the same way."
        if same < count:
            words += f" Yours {course(steps)}; the measured curve {course(ways)}."
        peak = places[content["peak"]]
        highest = ", ".join(places[top] for top in tops)
        apart = f"Yours is highest at {highest}; the measured curve at {peak}."
        return outcome, f"{words} {f'Both are highest at {peak}.' if is_top else apart}"

    def right_in_words(self) -> str:
        """Return the true curve in words."""
        content = self.content
        pairs = zip(content["places"], self.right, strict=True)
        listed = ", ".join(f"{content['stops'][level]} at {place}" for place, level in pairs)
        name = content["names"][1]
        return f"{name[0].upper()}{name[1:]}: about {listed}."

    def controls(self) -> str:
        """Return the picture, and over it an upright slider for each point."""
        content = self.content
        (x_name, y_name), stops = content["names"], content["stops"]
        handles = "".join(
            f'<label><input type="range" name="answer" min="0" max="{NOTCHES}" step="1" '
            f'value="{level}" aria-orientation="vertical" '
            f'aria-label="{html.escape(f"{y_name} at {place}")}" aria-valuetext="{stops[level]}">'
            f"<span>{place}</span></label>"
            for level, place in zip(self.answer, content["places"], strict=True)
        )
        ticks = svg.spans(stops[level] for level in (NOTCHES, NOTCHES // 2, 0))
        room = WIDE / len(self.answer)
        own = svg.line(
            (room * (place + 0.5), HIGH * (1 - level / NOTCHES))
            for place, level in enumerate(self.answer)
        )
        computed = svg.path("computed", content["path"] if self.committed else "")
        plot = svg.picture(f"{svg.axes(WIDE, HIGH)}{svg.path('own', own)}{computed}", WIDE, HIGH)
        # each name at the last point, of the higher line above it and of the other below, if it can
        ends = {"yours": self.answer[-1], "measured": self.right[-1]} if self.committed else {}
        names = "".join(
            svg.name(
                "tip" if place or level < 3 else "under",
                text,
                100 - 50 / len(self.answer),
                100 - 100 * level / NOTCHES,
            )
            for place, (text, level) in enumerate(sorted(ends.items(), key=lambda end: end[1]))
        )
        return (
            f'<p class="sketch-axis">{html.escape(y_name)}</p>'
            f'<div class="figure-panel">{svg.aside("figure-ticks", ticks)}<div class="sketch-plot">'
            f'{plot}<div class="handles">{handles}</div>'
            f"{svg.aside('figure-names', names)}</div></div>{svg.caption(html.escape(x_name))}"
        )


def read(value: float) -> str:
    """Return a number in three digits.

    Examples
    --------
    >>> read(0.05123), read(-2.0), read(1024)
    ('0.0512', '−2', '1024')
    """
    short = f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
    return svg.minus(short)


def course(steps: Sequence[int]) -> str:
    """Return in words which way a curve goes.

    Examples
    --------
    >>> course([1, 0, 3]), course([2, -1, -1]), course([0, 0]), course([1, -1, 1])
    ('rises', 'rises, then falls', 'stays level', 'goes up and down')
    """
    ways = [step > 0 for step in steps if step]
    turns = [way for place, way in enumerate(ways) if not place or way != ways[place - 1]]
    if not turns or len(turns) > 2:
        return "goes up and down" if turns else "stays level"
    return ", then ".join("rises" if way else "falls" for way in turns)
