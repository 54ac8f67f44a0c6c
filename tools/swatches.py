"""Draw the tokens of the visual language as a picture for ``CONTRIBUTING.md``.

``python tools/swatches.py`` writes ``docs/visual-language.svg`` from ``attnbook/_tokens.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attnbook._tokens import COLORS, INKS  # noqa: E402

PICTURE = ROOT / "docs" / "visual-language.svg"
WIDE, HIGH = 350, 330
MEANINGS = {
    "undivided": "not divided: dashed, dot",
    "divided": "divided by √dₖ: solid, square",
    "other": "any other rule: dash-dotted, triangle",
    "query": "query",
    "key": "key",
    "value": "value",
    "accent": "what a hand moves",
}
DOT = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z"
MARKS = {"divided": "M-4.5 -4.5h9v9h-9z", "other": "M0 -5l5.5 9.5h-11z"}
DASHES = {"undivided": "6 4", "other": "7 3 1.5 3"}


def drawn() -> str:
    """Return the picture: each color with its meaning, and the parts of a figure, light and dark.

    Examples
    --------
    >>> from tools.swatches import drawn
    >>> "#0072b2" in drawn(), len(drawn()) < 10_000
    (True, True)
    """
    halves = "".join(_half(mode) for mode in (0, 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDE} {HIGH}" '
        f'font-family="system-ui, sans-serif" font-size="13">\n{halves}</svg>\n'
    )


def _half(mode: int) -> str:
    """Return the light or the dark half."""
    color = {name: both[mode] for name, both in COLORS.items()}
    color |= {name: ink[2 + mode] for name, ink in INKS.items()}
    parts = [f'<rect width="{WIDE}" height="{HIGH}" fill="{color["ground"]}"/>']
    for row, (name, meaning) in enumerate(MEANINGS.items()):
        y = 30 + 24 * row
        dash = f' stroke-dasharray="{DASHES[name]}"' if name in DASHES else ""
        mark = MARKS.get(name, DOT)
        parts += [
            f'<path d="M20 {y}h44" stroke="{color[name]}" stroke-width="2.5"{dash}/>',
            f'<path d="{mark}" fill="{color[name]}" transform="translate(80 {y})"/>',
            _text(96, y + 4, meaning, color["text"]),
        ]
    parts += [
        # a slider, a switch
        _text(20, 212, "Head width dₖ", color["line"], "14"),
        _text(122, 212, "64", color["text"], "14", "600"),
        f'<path d="M20 230h140" stroke="{color["line"]}" stroke-opacity=".55" stroke-width="3"/>',
        f'<circle cx="104" cy="230" r="9" fill="{color["accent"]}"/>',
        f'<rect x="190" y="219" width="38" height="22" rx="11" fill="{color["divided"]}"/>',
        f'<circle cx="217" cy="230" r="6.5" fill="{color["ground"]}"/>',
        _text(236, 235, "divide by √dₖ", color["text"], "14"),
        # bars with the name of their line
        _text(20, 262, "attention weight", color["line"]),
        f'<path d="M20 270v44h300" fill="none" stroke="{color["line"]}" stroke-opacity=".5"/>',
        *(
            f'<rect x="{30 + 48 * key}" y="{314 - high}" width="38" height="{high}" '
            f'fill="{color["divided"]}"/>'
            for key, high in enumerate((8, 30, 5, 17, 12))
        ),
        f'<path d="M20 299h300" stroke="{color["text"]}" stroke-dasharray="5 4"/>',
        _text(320, 295, "even share", color["text"], anchor=' text-anchor="end"'),
    ]
    return f'<g transform="translate({WIDE * mode})">\n' + "\n".join(parts) + "\n</g>\n"


def _text(
    x: int, y: int, words: str, fill: str, size: str = "13", weight: str = "400", anchor: str = ""
) -> str:
    """Return words at a place."""
    look = f'fill="{fill}" font-size="{size}" font-weight="{weight}"{anchor}'
    return f'<text x="{x}" y="{y}" {look}>{words}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}, {len(drawn())} characters")
