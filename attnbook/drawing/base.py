"""What the interactive figures have in common.

A figure has two homes. In a live notebook it is a widget, whose state Python and the browser
share. On a page without a kernel it is the same markup with the state beside it, and the build
adds the figure's module to the page once. In both the module finds controls and picture in place
and only moves them; what they look like is written in Python alone.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from attnbook.drawing import svg, tokens

HERE = Path(__file__).parent
ROOMS = HERE.parent
"""A figure has its files in the room of its chapter, or with those that several show."""
COMMENT = re.compile(r"^\s*(?://[^\n]*|/\*(?:(?!\*/).)*\*/)$", re.DOTALL | re.MULTILINE)
ONE_NUMBER = (
    "Please write one number, such as 0.5, 1/2, 3e6, 8√2 or sqrt(128)/2, without commas for "
    "thousands."
)
_PLAIN = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_PART = rf"([+-]?{_PLAIN})"
# Behind a bare √2 nothing may follow: √2/2 could be a half of it or the root of one.
_ROOT = rf"(?:√({_PLAIN})$|(?:√|[sS]qrt)\(({_PLAIN})(?:/({_PLAIN}))?\))"
NUMBER = re.compile(
    rf"(?:{_PART}(?:\^([+-]?[0-9]{{1,4}}))?|([+-]?|{_PART}[*·]?){_ROOT})(?:/(?:{_PART}|{_ROOT}))?(%?)"
)
# The comma of 65,536 could be a decimal one or not.
UNCLEAR = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def lean(source: str) -> str:
    r"""Return a module or a style without indentation and the comments that begin a line.

    Examples
    --------
    >>> lean("// why\nlet a = 1; // how\n  /* a\n     b */\n  let b = 2;\n")
    'let a = 1; // how\nlet b = 2;\n'
    """
    return re.sub(r"\n\s*", "\n", COMMENT.sub("", source)).lstrip()


@cache
def shared_source() -> str:
    """Return what the ES modules of all figures share."""
    return lean((HERE / "_drawing.js").read_text("utf-8"))


@cache
def own_source(name: str) -> str:
    """Return a figure's own part of its ES module."""
    (script,) = ROOMS.glob(f"*/{name}.js")
    return lean(script.read_text("utf-8"))


@cache
def style_source(*names: str) -> str:
    """Return tokens and style of all figures, and behind them the style of some of them."""
    sheets = (sheet for part in ("_style", *names) for sheet in ROOMS.glob(f"*/{part}.css"))
    own = (lean(sheet.read_text("utf-8")) for sheet in sheets)
    return "\n".join([tokens.style(), *own])


def read_number(text: str) -> float | None:
    """Return the number that a reader wrote, or None.

    ``readNumber`` of ``_drawing.js`` is the same. It is a decimal number, or a whole power of one,
    or a root with or without a factor; what it is divided by is a number or a root; a sign of per
    cent may follow. What could be read in two ways is none.

    Examples
    --------
    >>> [read_number(text) for text in ("0,5", "1/2", "50%", "10^6", "65 536", "65,536", "half")]
    [0.5, 0.5, 0.5, 1000000.0, 65536.0, None, None]
    >>> [read_number(text) for text in ("√16", "2 sqrt(9)", "1/√64", "√(1/4)", "√16/4", "√-1")]
    [4.0, 6.0, 0.125, 0.5, None, None]
    """
    found = NUMBER.fullmatch(re.sub(r"\s", "", text).replace("−", "-"))
    if found is None:
        return None
    plain, power, sign, factor, *root, below = found.groups()[:8]
    root_below, percent = found.groups()[8:11], found[12]
    written = (plain, factor, *root, below, *root_below)
    if any(UNCLEAR.fullmatch(part) for part in written if part):
        return None
    try:
        if plain:
            above = _decimal(plain) ** int(power or 1)
        else:
            above = _decimal(factor or f"{sign}1") * _root(*root)
        under = _root(*root_below) if any(root_below) else _decimal(below or "1")
        value = above / (under * (100 if percent else 1))
    except (OverflowError, ZeroDivisionError):
        return None
    return value if all(map(math.isfinite, (above, under, value))) else None


def _decimal(text: str) -> float:
    """Return a decimal number with a point or a comma."""
    return float(text.replace(",", "."))


def _root(bare: str | None, above: str | None, below: str | None) -> float:
    """Return the root of what is bare or in brackets."""
    return math.sqrt(_decimal(bare or above) / _decimal(below or "1"))


def nearest(stops: Sequence[float | None], value: float | None) -> int:
    """Return the place of the stop next to a value; None is a stop of its own.

    Examples
    --------
    >>> nearest([None, 0, 0.5], 0.4), nearest([None, 0, 0.5], None)
    (2, 0)
    """

    def distance(stop: float | None) -> float:
        if stop is None or value is None:
            return 0 if stop is value else math.inf
        return abs(stop - value)

    return min(range(len(stops)), key=lambda place: distance(stops[place]))


def slider(name: str, label: str, stops: Sequence[float | None], value: float | None) -> str:
    """Return a labeled slider over a list of stops, of which None switches something off.

    The value is beside the name for the eye alone: the slider tells it by itself.
    """
    shown = svg.reading(value)
    return (
        f'<label class="slider">{label} <span class="value" aria-hidden="true">{shown}</span>'
        f'<input type="range" name="{name}" min="0" max="{len(stops) - 1}" step="1" '
        f'value="{nearest(stops, value)}" data-stops="{json.dumps(list(stops))[1:-1]}" '
        f'aria-valuetext="{shown}">'
        "</label>"
    )


def switch(name: str, label: str, value: bool) -> str:
    """Return a labeled checkbox."""
    checked = " checked" if value else ""
    box = f'<input type="checkbox" name="{name}"{checked}>'
    return f'<label class="switch">{box} <span>{label}</span></label>'


def presets(
    label: str,
    choices: Mapping[str, Mapping[str, Any]],
    state: Mapping[str, Any],
    *,
    own: bool = True,
) -> str:
    """Return a labeled list of states, each of which sets several controls at once.

    It shows the first that fits the present state, or that this is the reader's own, unless one
    always fits.
    """
    options = {**choices, "your own": {}} if own else choices
    shown = next(text for text, changes in options.items() if changes.items() <= state.items())
    listed = "".join(
        f'<option value="{html.escape(json.dumps(changes))}"'
        f"{'' if changes else ' disabled'}{' selected' if text == shown else ''}>{text}</option>"
        for text, changes in options.items()
    )
    return f'<label class="presets">{label} <select>{listed}</select></label>'


def another_draw() -> str:
    """Return the button for another draw, which counts the trait ``draw`` up."""
    return '<button type="button" name="draw">Another draw</button>'


class LiveFigure(anywidget.AnyWidget):
    """A figure that a reader can move, with its state in traits.

    A subclass has a trait for each control, named in `state`; `controls`, `picture` and `words`
    say what the figure looks like in its present state. The ES module beside the class, of the
    same name as the class's own, changes them as the state changes; a style sheet of that name
    may be there, too. Data that weigh much are an attribute ``data-late`` of the picture, which the
    site brings when the figure is near.
    """

    module: ClassVar[str]
    state: ClassVar[tuple[str, ...]]
    still = traitlets.Unicode().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Find the module and the style of a new figure."""
        if LiveFigure in cls.__bases__:  # ipywidgets derives classes of its own from these
            cls.module = cls.__module__.rpartition(".")[2]
            cls._esm = f"{shared_source()}\n{own_source(cls.module)}"
            cls._css = style_source(cls.module)
        super().__init_subclass__(**kwargs)

    def __init__(self, **state: Any) -> None:
        super().__init__(**state)
        self.still = self.markup()

    def controls(self) -> str:
        """Return the controls as HTML."""
        raise NotImplementedError

    def picture(self) -> str:
        """Return the picture as SVG."""
        raise NotImplementedError

    def words(self) -> str:
        """Return one sentence that says what the picture shows."""
        raise NotImplementedError

    def markup(self) -> str:
        """Return the whole figure in its state, without a script."""
        return (
            f"{self.form()}{self.picture()}"
            f'<p class="figure-words" aria-live="polite">{self.words()}</p>'
        )

    def form(self) -> str:
        """Return the controls with the button that takes all changes back."""
        return (
            f'<form class="figure-controls"><fieldset role="none">{self.controls()}'
            '<button type="reset">Reset</button></fieldset></form>'
        )

    def values(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {name: getattr(self, name) for name in self.state}

    def __repr__(self) -> str:
        """Return the call that makes the figure in its state."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{type(self).__name__}({settings})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Add to the widget what a page without a kernel shows."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        state = html.escape(json.dumps(self.values()))
        data["text/plain"] = repr(self)
        data["text/html"] = (
            f'<div class="live-figure" data-figure="{self.module}" data-state="{state}">'
            f"{self.markup()}</div>"
        )
        return data, metadata
