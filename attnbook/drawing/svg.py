"""What the pictures of several figures are made of; ``_drawing.js`` makes the same in a browser."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

ARMS = ("undivided", "divided")
"""The classes of what is drawn without the division and with it, in this order."""
SHARE_TICKS = ("1", "0.75", "0.5", "0.25", "0")
"""The labels of an upright axis of weights."""
LEAST = 1.5
"""A bar is so high at least, for a weight that is there and too small to be seen."""


def number(value: float) -> str:
    """Return a coordinate, short and without an exponent.

    Examples
    --------
    >>> number(12.0), number(1 / 3)
    ('12', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def minus(text: str) -> str:
    """Return a number's text with a proper minus sign."""
    return text.replace("-", "−")


def reading(value: float | None) -> str:
    """Return a slider's value as it is read.

    Examples
    --------
    >>> reading(64), reading(1.0), reading(-3.1), reading(None)
    ('64', '1', '−3.1', 'off')
    """
    return "off" if value is None else minus(f"{value:.6g}")


def spans(texts: Iterable[Any]) -> str:
    """Return texts that are placed side by side, or one below the other."""
    return "".join(f"<span>{text}</span>" for text in texts)


def labels(places: Iterable[tuple[str, Any]], side: str = "left") -> str:
    """Return texts along an axis, each at its place in percent."""
    return "".join(f'<span style="{side}:{at}%">{text}</span>' for at, text in places)


def name(kind: str, text: str, left: float, top: float) -> str:
    """Return the name of a line or a bar, at its place in percent.

    Examples
    --------
    >>> name("above", "a tenth", 100, 90)
    '<span class="above" style="left:100%;top:90%">a tenth</span>'
    """
    place = f"left:{number(left)}%;top:{number(top)}%"
    return f'<span class="{kind}" style="{place}">{text}</span>'


def caption(text: str) -> str:
    """Return the name of a level axis, in one to four words."""
    return f'<p class="figure-axis">{text}</p>'


def upright(text: str) -> str:
    """Return the name of an upright axis, which goes above it."""
    return f'<p class="figure-axis figure-upright">{text}</p>'


def remark(text: str) -> str:
    """Return the one sentence that a picture needs to be read."""
    return f'<p class="figure-axis figure-note">{text}</p>'


def path(kind: str, outline: str) -> str:
    """Return an outline with its class."""
    return f'<path class="{kind}" d="{outline}"/>'


def axes(wide: int, high: int) -> str:
    """Return the upright axis and the level one."""
    return path("axis", f"M0 0V{high}H{wide}")


def line(points: Iterable[tuple[float, float]]) -> str:
    """Return the outline of a curve through points.

    Examples
    --------
    >>> line([(0, 1), (2, 0.5)])
    'M0 1L2 0.5'
    """
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def dots(points: Iterable[tuple[float, float]]) -> str:
    """Return a dot for each point: a line of no length has round ends."""
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in points)


def bar(left: float, foot: float, wide: float, high: float) -> str:
    """Return the outline of an upright bar.

    Examples
    --------
    >>> bar(5, 50, 40, 25)
    'M5 50v-25h40v25z'
    """
    return f"M{number(left)} {number(foot)}v{number(-high)}h{number(wide)}v{number(high)}z"


def level_bar(left: float, top: float, wide: float, thick: float) -> str:
    """Return the outline of a bar that lies."""
    return f"M{number(left)} {number(top)}h{number(wide)}v{number(thick)}h{number(-wide)}z"


def square(x: float, y: float, side: float) -> str:
    """Return the outline of a square around a point; a negative side turns it the other way."""
    wide = abs(side)
    return level_bar(x - wide / 2, y - side / 2, wide, side)


def picture(
    plot: str,
    width: int,
    height: int,
    words: str = "",
    kind: str = "",
    *,
    stretched: bool = True,
    more: str = "",
) -> str:
    """Return a picture, which stretches with the page if it may.

    The words say all of a figure: of several pictures the first has them and the others have none.
    """
    stretch = ' preserveAspectRatio="none"' if stretched else ""
    named = f'role="img" aria-label="{html.escape(words)}"' if words else 'aria-hidden="true"'
    classes = f' class="{kind}"' if kind else ""
    return f'<svg viewBox="0 0 {width} {height}"{stretch} {named}{classes}{more}>{plot}</svg>'


def aside(kind: str, content: str) -> str:
    """Return what is beside a picture for the eye alone, as the words say it, too.

    Letters are there and not in the picture, so that they keep their size on a phone.
    """
    return f'<div class="{kind}" aria-hidden="true">{content}</div>'


def panel(
    plot: str,
    width: int,
    height: int,
    words: str,
    kind: str,
    ticks: Sequence[str],
    names: str = "",
) -> str:
    """Return a plot with the labels of its upright axis, and with names of what it shows."""
    drawn = picture(plot, width, height, words, kind)
    if names:
        drawn = f'<div class="figure-plot">{drawn}{aside("figure-names", names)}</div>'
    return f'<div class="figure-panel">{aside("figure-ticks", spans(ticks))}{drawn}</div>'
