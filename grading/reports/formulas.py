"""Formulas of TeX as MathML, which a browser sets without a script, safe for any author.

A library translates; what it returns is not trusted. Only commands of a list go in, only elements
and attributes of a list come out, every text is escaped, and both have a limit. What does not fit
has no translation, and the page shows its source instead.

The site sets its own formulas by Temml, in an embedded V8. That would be quicker here as well (0.5
ms a formula instead of 1.9 ms), after 0.7 s and 40 MB for each worker. But it reads TeX that
strangers wrote in native code, in the process of the instructor, where this library is Python
alone.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from latex2mathml import commands
from latex2mathml.converter import convert_to_element
from latex2mathml.symbols_parser import convert_symbol
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 2_000
"""The characters of the longest formula that is set."""
DEEPEST = 40
"""The elements that may be nested, which bounds what the browser has to lay out."""

COMMANDS = frozenset(
    name.removeprefix("\\")
    for name in (
        *(*commands.FUNCTIONS, *commands.LIMIT, *commands.BIG, *commands.BIG_OPEN_CLOSE),
        *("frac", "dfrac", "tfrac", "cfrac", "binom", "sqrt", "sum", "prod", "int"),
        *("text", "textbf", "textit", "textrm", "textsf", "texttt", "textup", "textnormal", "mbox"),
        *("mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathbb", "mathcal", "mathfrak"),
        *("mathscr", "bm", "boldsymbol", "operatorname"),
        *("hat", "bar", "tilde", "vec", "dot", "ddot", "widehat", "widetilde"),
        *("overline", "underline", "overbrace", "underbrace", "overset", "underset", "stackrel"),
        *("left", "middle", "right", "limits", "nolimits", "displaystyle", "textstyle"),
        *("begin", "end", "quad", "qquad", "enspace"),
        *("argmax", "argmin", "det", "gcd", "liminf", "limsup", "Pr"),
    )
)
"""The commands that are set, next to those for one character.

Not among them: whatever defines or repeats, whose work can grow with a power of two; links,
classes, styles and colors; and free lengths, which could move a text over another.
"""
ESCAPED = frozenset("\\,;:!>{}|_%$#& \n")
COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
PLAIN_BRACE = re.compile(r"\\.|([{}])", re.DOTALL)
ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+\*?)\}")
ENVIRONMENTS = {
    **{name: name for name in ("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix")},
    **{name: name for name in ("array", "cases")},
    **dict.fromkeys(("align", "align*", "aligned", "split"), "split"),
}
"""By the names of environments, the one by which the library sets them."""
ROW_WITH_SPACE = re.compile(r"\\\\\[[\d.]+[a-z]{2}\]")
ROMAN_LETTER = re.compile(r"\\mathrm\s*\{([A-Za-z])\}")
CODE_POINT = re.compile(r"&#x([0-9A-Fa-f]{1,6});")
ESCAPE_IN_TEXT = re.compile(r"\\([_%$#& {}])")

TOKENS = frozenset(("mi", "mn", "mo", "mtext", "mspace"))
ROWS = frozenset(("math", "mrow", "msqrt", "mtd", "mstyle", "mphantom"))
PARTS = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""The elements that have so many children, no more and no fewer."""
ELEMENTS = TOKENS | ROWS | PARTS.keys() | {"mtable", "mtr"}
LENGTH = re.compile(r"-?\d{0,2}(?:\.\d{1,4})?em")
BOOLEAN = re.compile("true|false")
ATTRIBUTES = {
    "display": re.compile("block"),
    "class": re.compile("overline|underline"),
    "mathvariant": re.compile("normal"),
    "form": re.compile("prefix|infix|postfix"),
    "columnalign": re.compile("left|right|center"),
    "linethickness": re.compile("0"),
    "scriptlevel": re.compile("[012]"),
    **dict.fromkeys(("stretchy", "fence", "accent", "movablelimits", "displaystyle"), BOOLEAN),
    **dict.fromkeys(("lspace", "rspace", "width", "minsize", "maxsize"), LENGTH),
}
"""The attributes that are kept, and what they may say."""

VARIANTS = {
    "bold": "BOLD",
    "bold-italic": "BOLD ITALIC",
    "italic": "ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
    "fraktur": "FRAKTUR",
    "sans-serif": "SANS-SERIF",
    "monospace": "MONOSPACE",
}
"""The styles of letters, for which browsers want characters of their own, by Unicode's names."""
CHARACTER = re.compile(r"(?:LATIN |GREEK )?(SMALL|CAPITAL|DIGIT) (?:LETTER )?(\w+)")

OPENING, CLOSING = frozenset("([{⟨⌊⌈"), frozenset(")]}⟩⌋⌉!")
BARS, SLASH = frozenset("|‖"), "/"
SIGNS = frozenset("−+±∓")
ORDINARY = frozenset("∂∇∞∅∀∃⊤⊥…⋯⋮⋱")
"""Characters that the library takes for operators, and TeX for letters."""
LIMITED = frozenset(("lim", "max", "min", "sup", "inf", "∑", "∏", "⋃", "⋂"))
SCRIPTS = PARTS.keys() - {"mfrac", "mroot"}
UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
NAMED = re.compile("[A-Za-z][A-Za-z\u2006\u2009 ]+")
ACCENTS, LINES = frozenset("^~¯˙¨→"), {"mover": "overline", "munder": "underline"}
THIN = "0.167em"


@lru_cache(maxsize=256)
def mathml(tex: str, *, display: bool = False) -> Markup | None:
    r"""Return a formula as MathML, or None if its source is to be shown.

    `display` is for one that has a line of its own. What comes is one element ``math`` of nothing
    but known elements, known attributes and escaped text; None for a formula that is too long or
    too deep, unbalanced, or not of the known commands.

    Examples
    --------
    >>> print(mathml(r"\sqrt{2}"))
    <math><mrow><msqrt><mrow><mn>2</mn></mrow></msqrt></mrow></math>
    >>> print(mathml(r"\href{javascript:alert(1)}{x}"))
    None
    """
    try:
        tree = convert_to_element(_admitted(tex), display="block" if display else "inline")
        _mend(tree)
        return Markup("".join(_written(tree)))  # noqa: S704, escaped and chosen in `_written`
    except Exception:  # noqa: BLE001, the library raises whatever comes to it on what is no TeX
        return None


def _admitted(tex: str) -> str:
    """Return a formula as it goes to the library, or refuse it."""
    if len(tex) > LONGEST or "&#" in tex or not tex.strip():
        raise ValueError("the formula is empty, too long, or has a reference to a character")
    depth = 0
    for brace in PLAIN_BRACE.findall(tex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if not 0 <= depth <= DEEPEST:
            raise ValueError("the braces of the formula do not fit, or are too many")
    unknown = [name for name in COMMAND.findall(tex) if not _known(name)]
    if depth or unknown:
        raise ValueError("a brace of the formula stays open, or a command is not known")
    tex = ROW_WITH_SPACE.sub(r"\\\\", ENVIRONMENT.sub(_environment, tex))
    return ROMAN_LETTER.sub(r"\\mathrm{{\1}}", tex)


def _known(name: str) -> bool:
    """Tell whether a command is one of those that are set."""
    if not name.isalpha():
        return name in ESCAPED
    return name in COMMANDS or convert_symbol(f"\\{name}") is not None


def _environment(found: re.Match[str]) -> str:
    """Return the beginning or the end of an environment under the library's name."""
    return f"\\{found[1]}{{{ENVIRONMENTS[found[2]]}}}"


def _mend(element: Element) -> None:
    """Put right what the library leaves to be desired, from the inside to the outside."""
    for child in element:
        _mend(child)
    if element.tag in TOKENS:
        _mend_token(element)
    elif element.tag in UNDER:
        _mend_indices(element)
    elif element.tag in LINES:
        _mend_accent(element)
    elif element.tag in ROWS:
        _join_letters(element)
        _space(element)


def _mend_indices(element: Element) -> None:
    """Put the indices of a sum below and above it, and let a bracket grow that has some."""
    base = element[0]
    if base.tag == "mo" and (base.text in LIMITED or base.get("movablelimits") == "true"):
        element.tag = UNDER[element.tag]
        base.set("movablelimits", "true")
    elif base.get("minsize"):
        element[0] = row = Element("mrow")
        row.append(base)


def _mend_accent(element: Element) -> None:
    """Bring an accent near to its letter, and have a line drawn; few fonts have a long one."""
    if element[-1].text == "―":
        element.remove(element[-1])
        element.set("class", LINES[element.tag])
        element.tag = "mrow"
    elif element.tag == "mover" and element[-1].text in ACCENTS:
        element.set("accent", "true")


def _mend_token(element: Element) -> None:
    """Return characters for the library's numbers of them, and tell operators from letters."""
    text, style = element.text or "", element.get("mathvariant")
    text = _of_text(text) if element.tag == "mtext" else _of_symbol(text)
    if element.tag == "mo" and not text and "fence" not in element.attrib:
        raise ValueError("a name in the formula is made of more than letters")
    text = CODE_POINT.sub(lambda found: chr(int(found[1], 16)), text)
    if style in VARIANTS:
        text = "".join(_styled(character, VARIANTS[style]) for character in text)
    if element.tag == "mo" and text in ORDINARY:
        element.tag = "mi"
    elif element.tag == "mi" and (_is_operator(text) or (style is None and NAMED.fullmatch(text))):
        element.tag, text = "mo", text.replace("~", "∼")
    element.text = text


def _of_text(text: str) -> str:
    """Return words without backslashes, or refuse them."""
    text = ESCAPE_IN_TEXT.sub(r"\1", text)
    if "\\" in text:
        raise ValueError("a text of the formula has a command in it")
    return text


def _of_symbol(text: str) -> str:
    """Return a symbol, the library's number for one that it left as a command, or refuse it."""
    if text in ("{", "}", "&"):
        raise ValueError("something in the formula has no place there")
    if not text.startswith("\\"):
        return text
    number = convert_symbol(text)
    if number is None:
        raise ValueError("a command of the formula is not known here")
    return f"&#x{number};"


def _styled(character: str, style: str) -> str:
    """Return a character in a style, or itself if there is none in that style."""
    found = CHARACTER.fullmatch(unicodedata.name(character, ""))
    if not found:
        return character
    name = f"{style} {found[1]} {found[2]}"
    for full in (f"MATHEMATICAL {name}", name.replace("FRAKTUR", "BLACK-LETTER")):
        try:
            return unicodedata.lookup(full)
        except KeyError:
            continue
    return character


def _is_operator(text: str) -> bool:
    """Tell whether what the library takes for a letter is an operator or a bracket."""
    if len(text) != 1 or text in ORDINARY:
        return False
    return text in ":;" or unicodedata.category(text) in ("Sm", "Ps", "Pe")


def _join_letters(row: Element) -> None:
    """Make upright letters side by side one word."""
    for right, left in pairwise(list(row)[::-1]):
        if all(each.tag == "mi" and each.get("mathvariant") == "normal" for each in (left, right)):
            left.text = f"{left.text}{right.text}"
            row.remove(right)


def _space(row: Element) -> None:
    """Say for the operators of a row what is around them, as TeX does; browsers only guess."""
    cores = [core for core in map(_core, row) if core.tag != "mspace"]
    before = "start"
    for core, following in pairwise([*cores, None]):
        kind = _kind(core, before)
        letter = before in ("letter", "closing")
        if kind == "name":
            near = following is not None and _is_letter(following)
            core.attrib |= {"lspace": THIN if letter else "0em", "rspace": THIN if near else "0em"}
        elif core.tag == "mo" and core.text in SIGNS:
            core.set("form", "infix" if letter else "prefix")
        elif core.tag == "mo" and (core.text in {*BARS, SLASH} or len(row) == 1):
            core.attrib |= {"stretchy": core.get("stretchy", "false"), "lspace": "0em"}
            core.set("rspace", "0em")
        before = kind


def _core(element: Element) -> Element:
    """Return what indices and accents belong to, or the element itself if it has none."""
    while element.tag in SCRIPTS and len(element):
        element = element[0]
    return element


def _kind(core: Element, before: str) -> str:
    """Return how an element behaves in a row, given how the one before it does."""
    text = core.text or ""
    if core.tag != "mo" or text == SLASH:
        return "letter"
    if text in BARS:
        return "closing" if before in ("letter", "closing") else "opening"
    if text in OPENING or text in CLOSING:
        return "opening" if text in OPENING else "closing"
    return "name" if NAMED.fullmatch(text) else "operator"


def _is_letter(core: Element) -> bool:
    """Tell whether a name, such as that of the logarithm, keeps a distance from what follows it."""
    return core.text in BARS or _kind(core, "") in ("letter", "name")


def _written(element: Element, depth: int = 0) -> Iterator[str]:
    """Yield an element's MathML, or refuse it."""
    tag = element.tag
    wanted = 0 if tag in TOKENS else PARTS.get(tag, len(element))
    if tag not in ELEMENTS or len(element) != wanted or depth > DEEPEST:
        raise ValueError("the formula is too deep, or has an element that is not shown")
    kept = {
        name: value
        for name, value in element.attrib.items()
        if name in ATTRIBUTES and ATTRIBUTES[name].fullmatch(value)
    }
    yield f"<{tag}" + "".join(f' {name}="{value}"' for name, value in kept.items()) + ">"
    if tag in TOKENS:
        yield str(escape(element.text or ""))
    for child in element:
        yield from _written(child, depth + 1)
    yield f"</{tag}>"
