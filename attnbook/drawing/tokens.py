"""The tokens of the visual language: colors, sizes of letters and weights of lines.

Live figures take them as CSS variables, plots by Matplotlib as the light values. A color means the
same in every picture, and it never carries a meaning alone: a name, a dash or a shape says it, too.
``tests/attnbook/test_colors.py`` holds the colors apart for every kind of sight.
"""

from __future__ import annotations

COLORS = {
    # without the division, with it, under any other rule
    "undivided": ("#d55e00", "#ff8a3d"),
    "divided": ("#0072b2", "#56b4e9"),
    "other": ("#009e73", "#8fe8a2"),
    # the three kinds of vectors
    "query": ("#5b2a9d", "#a583f2"),
    "key": ("#936500", "#e3b341"),
    "value": ("#47756b", "#9cc7bd"),
    # what a hand moves, in no color that means something
    "accent": ("#3d454e", "#d3d1cb"),
}
"""Color of each meaning, light and dark."""

INKS = {
    "text": ("--pst-color-text-base", "--jp-ui-font-color1", "#23282e", "#d9d7d2"),
    "line": ("--pst-color-text-muted", "--jp-ui-font-color2", "#5a6068", "#a5a8ad"),
    "faint": ("--pst-color-border", "--jp-border-color2", "#d5d2c9", "#3d4045"),
    "ground": ("--pst-color-background", "--jp-layout-color0", "#ffffff", "#121212"),
    "surface": ("--pst-color-surface", "--jp-layout-color1", "#f6f5f1", "#1d1f22"),
}
"""What letters, axes, grids and grounds are drawn in: the variables of the page and of JupyterLab
that come first, then the color where there are neither, light and dark."""

SIZES = {
    "label-size": "0.8125rem",  # axes, ticks, names of curves and bars
    "control-size": "0.875rem",  # names of sliders, buttons, lists
    "words-size": "0.9375rem",  # the line of readout
    "target": "2.75rem",  # 44 px: the least height of what a finger moves
    "step": "0.5rem",  # all distances are multiples of it
    "hairline": "1px",  # axes and grids
    "stroke": "2.5px",  # curves
    "mark": "9px",  # dots
}
"""Sizes of letters, of controls and of lines."""

DARK = ':is(html[data-theme="dark"], body[data-jp-theme-light="false"]) .live-figure'


def style() -> str:
    """Return the tokens as CSS variables of a live figure.

    On paper, and with colors of the system, the light ones hold.

    Examples
    --------
    >>> from attnbook.drawing.tokens import style
    >>> [line.strip() for line in style().splitlines() if "--figure-divided" in line]
    ['--figure-divided: #0072b2;', '--figure-divided: #56b4e9;']
    """
    light, dark = (
        {
            **{name: both[mode] for name, both in COLORS.items()},
            **{
                name: f"var({page}, var({lab}, {own[mode]}))"
                for name, (page, lab, *own) in INKS.items()
            },
        }
        for mode in (0, 1)
    )
    screen = "@media screen and (forced-colors: none)"
    return f"{_rule('.live-figure', light | SIZES)}\n{screen} {{\n{_rule(DARK, dark)}\n}}\n"


def _rule(selector: str, values: dict[str, str]) -> str:
    """Return a rule that sets variables."""
    lines = "\n".join(f"  --figure-{name}: {value};" for name, value in values.items())
    return f"{selector} {{\n{lines}\n}}"
