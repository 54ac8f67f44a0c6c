"""The numerals in a text: where they are, and which number each one writes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from book.markdown import Piece

#: Names that contain digits and are not numbers.
NAMES = re.compile(
    r"\b(?:b?float(?:8|16|32|64)|int(?:8|16|32|64)|GPT-[1234]|Kimi K2|PP-OCRv4|SmolLM2|T5)\b"
)

# A sign counts only where a number can begin, so "8-3" and "7–8" hold two unsigned numerals.
_SIGN = r"(?:(?<![\w)\]}.\\])[-−](?=\.?\d))?"
_DIGITS = r"(?:\d+(?:(?:[.,]|\{,\})\d+)*|\.\d+)"
_TIMES = r"\s*(?:\\cdot|\\times|×|·)\s*"
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_VULGAR = "[¼-¾⅐-⅞]"
_RAISED = rf"(?P<raised>[⁻⁺]?[{_SUPER}]+)"
_POWER = rf"(?:\^(?:\{{(?P<braced>[^{{}}]*)\}}|(?P<bare>[-−]?(?:\d+|\w)))|{_RAISED})"
_NUMERAL = re.compile(
    rf"(?P<sign>{_SIGN})(?:(?P<mantissa>{_DIGITS}){_TIMES}(?=10[\^⁻⁺{_SUPER}]))?"
    rf"(?:(?P<digits>{_DIGITS})(?P<half>{_VULGAR})?|(?P<vulgar>{_VULGAR}))"
    rf"(?:[eE](?P<exponent>[-−+]?\d+)|{_POWER})?(?P<percent>\\?%)?"
)
_PLAIN = str.maketrans(f"−⁻⁺{_SUPER}", "--+0123456789")
STRUCTURE = re.compile(r"-?[012]")
_NUMERIC_BASE = re.compile(r"(?:(?<![_\w.])|(?<=\\cdot)|(?<=\\times))[\d.]+$|(?<![A-Za-z\\])e$")
_HIDDEN_MATH = [
    re.compile(r"\\\\\[[^\]]*\]"),
    re.compile(r"\\(?:h|v)space\*?\{[^{}]*\}"),
    re.compile(r"\\(?:label|tag|ref|eqref|begin|end)\*?\{[^{}]*\}"),
    # \frac12 is a half and not twelve; both of its digits are structure
    re.compile(r"(?<=frac)[012][012](?!\d)"),
]


@dataclass(frozen=True)
class Numeral:
    """A numeral: its letters, the number in one common form, and where it is.

    A numeral is `structure` if it is a bare 0, 1 or 2 of a formula, which nothing has to bind.
    """

    text: str
    number: str
    start: int
    end: int
    structure: bool = False


def _exponent(found: re.Match[str]) -> str | None:
    written = next(
        (found[key] for key in ("exponent", "braced", "bare", "raised") if found[key]), None
    )
    return None if written is None else written.translate(_PLAIN)


def number_of(found: re.Match[str]) -> str:
    """Return the number that a numeral writes, in one form for all ways to write it."""
    digits = (found["digits"] or "").replace("{,}", ",")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    if vulgar := found["half"] or found["vulgar"]:
        digits += f"{unicodedata.numeric(vulgar):g}"[1:]
    digits = "0" + digits if digits.startswith(".") else digits
    exponent = _exponent(found)
    if exponent is not None:
        if re.fullmatch(r"[-+]?\d+", exponent):
            exponent = str(int(exponent))
        if found["exponent"]:
            digits = f"{digits}e{exponent}"
        elif digits == "10":  # a power of ten: 6·10⁻⁴ is 6e-4
            digits = f"{found['mantissa'] or 1}e{exponent}"
        else:
            digits = f"{digits}^{exponent}"
    sign = "-" if found["sign"] else ""
    return sign + digits + ("%" if found["percent"] else "")


def _numbers(text: str) -> Iterator[tuple[str, str, int, int]]:
    for found in _NUMERAL.finditer(text):
        yield found.group(), number_of(found), *found.span()


def numbers(text: str) -> list[str]:
    r"""Return the numbers that a text writes, each in one common form.

    Examples
    --------
    >>> numbers("−2, 4,096 and 42%"), numbers(r"6\cdot10^{-4}"), numbers("10⁻⁵ or 1e-05")
    (['-2', '4096', '42%'], ['6e-4'], ['1e-5', '1e-5'])
    """
    return [number for _, number, _, _ in _numbers(text)]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _braced(text: str, start: int) -> int:
    """Return the end of the group or single token that starts at `start`."""
    if start >= len(text):
        return start
    if text[start] == "\\":
        match = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL).match(text, start)
        return match.end() if match else start + 1
    if text[start] != "{":
        return start + 1
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position + 1
    return len(text)


def _under_a_brace(before: str) -> bool:
    r"""Say whether the text ends with ``\underbrace{…}`` or ``\overbrace{…}``."""
    return before.endswith("}") and any(
        _braced(before, match.end()) == len(before)
        for match in re.finditer(r"\\(?:under|over)brace\s*(?=\{)", before)
    )


def _hide_scripts(text: str) -> str:
    """Blank subscripts and exponents, except powers of numerals and e, and words under a brace."""
    position = 0
    while (found := re.compile(r"[_^]").search(text, position)) is not None:
        end = _braced(text, found.end())
        before = text[: found.start()].rstrip()
        if (found.group() == "^" and _NUMERIC_BASE.search(before)) or _under_a_brace(before):
            position = found.end()
            continue
        text = text[: found.start()] + _blank(text[found.start() : end]) + text[end:]
        position = end
    return text


def numerals(piece: Piece) -> Iterator[Numeral]:
    r"""Yield the numerals of a piece of text.

    Examples
    --------
    >>> from book.markdown import walk
    >>> pieces = walk(r"In float32, $x_3^2 / 2 \ge 4^2$, 5")
    >>> [found.number for piece in pieces for found in numerals(piece)]
    ['2', '4^2', '5']
    """
    text = piece.text
    if piece.kind == "formula":
        for hidden in _HIDDEN_MATH:
            text = hidden.sub(lambda match: _blank(match.group()), text)
        text = _hide_scripts(text)
    else:
        text = NAMES.sub(lambda match: _blank(match.group()), text)
    for written, number, start, end in _numbers(text):
        places = piece.places
        structure = piece.kind == "formula" and STRUCTURE.fullmatch(number) is not None
        yield Numeral(written, number, places[start], places[end - 1] + 1, structure)


def written_as(numeral: Numeral, number: str) -> str:
    r"""Write another number in the way in which a numeral is written.

    Examples
    --------
    >>> def rewrite(old, new):
    ...     return written_as(Numeral(old, numbers(old)[0], 0, len(old)), new)
    >>> rewrite("4,096", "8192"), rewrite("6·10⁻⁴", "7e-5"), rewrite("−2", "-3"), rewrite("½", ".7")
    ('8,192', '7·10⁻⁵', '−3', '.7')
    """
    old, sign = numeral.text, ""
    if number.startswith("-"):
        sign, number = ("-" if old.startswith("-") else "−"), number[1:]
    if number.endswith("%"):
        number = number[:-1] + ("\\%" if old.endswith("\\%") else "%")
    ten = re.search(rf"10(\^\{{?|)[-−⁻]?[\d{_SUPER}]+(\}}?)", old) if "e" in number else None
    if ten and "e" not in old:
        mantissa, exponent = number.split("e")
        times = re.search(_TIMES, old)
        raised = ten[1] == ""
        power = (
            exponent.translate(str.maketrans("-0123456789", f"⁻{_SUPER}")) if raised else exponent
        )
        ahead = (
            f"{mantissa}{times.group()}" if times else ("" if mantissa == "1" else f"{mantissa}·")
        )
        return f"{sign}{ahead}10{ten[1]}{power}{ten[2]}"
    whole, dot, rest = number.partition(".")
    if whole.isdigit() and ("," in old or len(whole) > 4):
        whole = f"{int(whole):,}"
        whole = whole.replace(",", "{,}") if "{,}" in old else whole
    return sign + whole + dot + rest
