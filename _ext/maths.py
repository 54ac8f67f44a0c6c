r"""Turn every formula into MathML while the book is built.

A page then holds MathML, which browsers set by themselves with the font in ``_static/maths`` and
which screen readers read out: no JavaScript, no waiting, and one copy of each formula. Temml, which
translates from TeX, runs inside the build, in an embedded V8 (``mini-racer``). A formula that Temml
cannot read is a warning with its place in the source, and so fails the build.
"""

from __future__ import annotations

import atexit
import html
import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from docutils import nodes
from py_mini_racer import JSEvalException, mini_racer
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from _ext.rebuild import rebuild_when_changed
from _ext.translator import is_column_name

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

TEMML = Path(__file__).resolve().parent.parent / "vendor" / "temml" / "temml.min.js"
LOGGER = logging.getLogger(__name__)

# What Temml writes for the sake of pages without a style sheet, for another font, or for nothing.
_NEEDLESS = re.compile(
    r' class="tml-display"| style="display:block math;"| fence="true"| separator="true"'
    r"|<mspace></mspace>| ?\btml-(?:sml|med|lrg)-pad\b"
)
# Temml's bar over a letter is one that the font does not have.
_OVERLINE, _MACRON = "‾", "¯"

# How far slanted letters lean out of their boxes, by the font's table of italic corrections, in
# twentieths of an em. Firefox reads the table, others need to be told.
LEAN = {
    **dict.fromkeys("CEHIKSXZγζν∂", 1),
    **dict.fromkeys("JMNUfτς", 2),
    **dict.fromkeys("FPTW", 3),
    **dict.fromkeys("VY", 4),
}

# At which signs a formula may break. Others than relations only come second: a reader takes in
# "a + b" at once.
RELATIONS = frozenset("=≈≠<>≤≥∼≪≫∝→←∈:")
OPERATIONS = frozenset("+−±×⋅·")
OPENING, CLOSING = frozenset("([{⌊⌈⟨"), frozenset(")]}⌋⌉⟩")
# Shorter formulas stay in one piece, as words do. In characters; a part after a break may be as
# long as a phone's line holds before it breaks at operations too.
UNBROKEN = 10
PART = 24

# What belongs to the formula before it.
AFTER = re.compile(r"[,.;:!?)\]’”]+")
BROKEN = '<math class="breaks" '
"""How a formula begins that may break."""
END = "</mrow></math>"
"""How such a formula ends."""

# Plain text for what a title says with a formula.
_BELOW = str.maketrans("0123456789aeijkmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑᵢⱼₖₘₙₒₚᵣₛₜᵤᵥₓ")
_ABOVE = str.maketrans("0123456789ikn⊤", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁱᵏⁿᵀ")


class Renderer:
    """Temml in an embedded JavaScript engine, started when the first formula comes."""

    def __init__(self) -> None:
        self._resources = ExitStack()
        self._rendered: dict[tuple[str, bool], str] = {}
        # The engine has a thread of its own, which Python would wait for in vain at its exit.
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):  # and it does not survive the fork of a parallel build
            os.register_at_fork(before=self.close)

    @cached_property
    def _engine(self) -> Any:
        engine = self._resources.enter_context(mini_racer())
        engine.eval(TEMML.read_text(encoding="utf-8"))
        return engine

    def render(self, formula: str, *, display: bool) -> str:
        """Return a formula as MathML, with its TeX for programs that do not know MathML.

        One that Temml cannot read is a ValueError.
        """
        key = formula, display
        if key not in self._rendered:
            options = {"displayMode": display, "strict": True, "throwOnError": True}
            try:
                mathml = str(self._engine.call("temml.renderToString", formula, options))
            except JSEvalException as error:
                said = re.search(r"(?:Temml parse error|ParseError): (.*)", str(error))
                raise ValueError(said[1] if said else str(error)) from error
            mathml = _NEEDLESS.sub("", mathml).replace(_OVERLINE, _MACRON)
            tree = tree_of(mathml)
            for bracket in tree.iterfind(".//mo[@minsize]"):  # one like | may be a relation, too
                bracket.set("lspace", "0em")
                bracket.set("rspace", "0em")
            tree = breakable(upright_after_slanted(apart(spaced_sums(tree))))
            tree.set("alttext", " ".join(formula.split()))
            self._rendered[key] = ET.tostring(tree, "unicode", short_empty_elements=False)
        return self._rendered[key]

    def close(self) -> None:
        """Stop the engine; it starts again when another formula comes."""
        self.__dict__.pop("_engine", None)
        self._resources.close()


RENDERER = Renderer()


def rendered(formula: str, node: nodes.Element, *, display: bool) -> str:
    """Return a formula as MathML, or warn and return its source."""
    try:
        return RENDERER.render(formula, display=display)
    except ValueError as error:
        LOGGER.warning("Temml cannot read %r: %s", formula, error, location=node)
        return f"<code>{html.escape(formula)}</code>"


def tree_of(mathml: str) -> ET.Element:
    """Return a formula's elements."""
    return ET.fromstring(mathml)  # noqa: S314, it was written here


def spaced_sums(formula: ET.Element) -> ET.Element:
    """Write the space around sums with limits as elements in columns, and return the formula.

    Firefox 153 leaves an operator's own space out where it finds how wide a column has to be, so
    the widest line would stick out of it.
    """
    for parent in list(formula.iterfind(".//mtd//mrow")):
        for place in range(len(parent) - 1, -1, -1):
            limits = next(iter(parent[place]), parent[place])
            is_sum = limits.tag in {"munder", "munderover"} and limits[0].tag == "mo"
            if parent[place].tag == "mrow" and is_sum:
                limits[0].attrib |= {"lspace": "0em", "rspace": "0em"}
                for side in (place + 1, place):
                    parent.insert(side, ET.Element("mspace", {"width": "0.1667em"}))
    return formula


def apart(formula: ET.Element) -> ET.Element:
    """Put a space before a function's name where Temml forgets it, and return the formula.

    It does so after letters with an index.
    """
    for row in list(formula.iter("mrow")):
        for place in range(len(row) - 1, 0, -1):
            before, here = row[place - 1], row[place]
            named = len(here) > 1 and here[0].tag == "mi" and here[1].text == "\u2061"
            if named and before.tag in {"msub", "msup", "msubsup"}:
                row.insert(place, ET.Element("mspace", {"width": "0.1667em"}))
    return formula


def upright_after_slanted(formula: ET.Element) -> ET.Element:
    """Mark where a slanted letter needs room to its right, and return the formula.

    A sign below a letter goes under the part that leans out, and what is above all of it follows
    the letter's top: only what is to the right or in the exponent makes room.
    """
    for parent in list(formula.iter()):
        for place, letter in enumerate(parent):
            if letter.tag != "mi" or letter.get("mathvariant") == "normal":
                continue
            lean = LEAN.get(letter.text or "")
            if not lean or (place == 0 and parent.tag in {"msub", "mover", "munder"}):
                continue
            leaned = parent[2] if place == 0 and parent.tag == "msubsup" else letter
            side = "before" if leaned is not letter else "after"
            classes = [*leaned.get("class", "").split(), f"lean-{side}-{lean}"]
            leaned.set("class", " ".join(classes))
    for element in formula.iter():  # what Temml's classes of no use leave behind
        if element.get("class") == "":
            del element.attrib["class"]
    return formula


def length(element: ET.Element) -> int:
    """Return about how many characters wide a part of a formula is."""
    if element.tag == "mfrac":
        return max(map(length, element))
    return len(element.text or "") + sum(map(length, element))


def cut(
    row: list[ET.Element], ends: Callable[[ET.Element], bool], *, before: bool = False
) -> list[list[ET.Element]]:
    """Cut a row after what ends a part, or before it, but not between brackets."""
    parts: list[list[ET.Element]] = [[]]
    depth = 0
    for element in row:
        # a bracket with an exponent is the base of it
        scripted = len(element) and element.tag in {"msup", "msub", "msubsup"}
        bracket = (element[0] if scripted else element).text or ""
        depth += (bracket in OPENING) - (bracket in CLOSING)
        here = depth == 0 and ends(element)
        if here and before and sum(map(length, parts[-1])) > 1:
            parts.append([])
        parts[-1].append(element)
        if here and not before and len(parts[-1]) > 1:
            parts.append([])
    return [part for part in parts if part]


def is_relation(element: ET.Element) -> bool:
    """Say whether an element is a sign of a relation."""
    return element.tag == "mo" and element.text in RELATIONS


def is_operation(element: ET.Element) -> bool:
    """Say whether an element is a sign of an operation."""
    return element.tag == "mo" and element.text in OPERATIONS


def is_gap(element: ET.Element) -> bool:
    """Say whether an element is the space between two formulas."""
    return element.tag == "mspace" and element.get("width", "").rstrip("em") in {"1", "2"}


def breakable(formula: ET.Element) -> ET.Element:
    """Return a formula in parts between which a line may break, if it is long.

    Browsers break a line between rows that lie directly in ``<math>``, and nowhere else. Parts
    that are still long can be broken after operations as well.

    Examples
    --------
    >>> short = tree_of("<math><mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow></math>")
    >>> breakable(short) is short
    True
    """
    if length(formula) <= UNBROKEN or len(formula) != 1 or formula[0].tag != "mrow":
        return formula
    row = list(formula[0])
    if formula.get("display") == "block":
        wholes = cut(row, is_gap)
        smaller = partial(cut, ends=is_relation, before=True)
    else:
        wholes = cut(row, is_relation)
        smaller = partial(cut, ends=is_operation)
    parts = [
        part
        for whole in wholes
        for part in (smaller(whole) if sum(map(length, whole)) > PART else [whole])
    ]
    if len(parts) == 1 and formula.get("display") == "block":
        parts = smaller(row)
    if len(parts) == 1:
        return formula
    broken = ET.Element("math", {**formula.attrib, "class": "breaks"})
    for part in parts:
        ET.SubElement(broken, "mrow").extend(part)
    return broken


def plain(formula: str, *, display: bool = False) -> str:
    r"""Return a short formula as plain text, for where there can be no other.

    Examples
    --------
    >>> plain(r"\sqrt{d_k}\,\sigma^2")
    '√dₖ σ²'
    """

    def text(element: ET.Element) -> str:
        if element.tag == "mspace":
            return " "
        inner = [text(child) for child in element]
        match element.tag:
            case "msqrt":
                return "√" + "".join(inner)
            case "mfrac":
                return "/".join(inner)
            case "msub":
                return inner[0] + inner[1].translate(_BELOW)
            case "msup":
                return inner[0] + inner[1].translate(_ABOVE)
            case "mtr":
                return "".join(inner) + " "
        return (element.text or "") + "".join(inner)

    try:
        # without the invisible sign between a function and what it is applied to
        return text(tree_of(RENDERER.render(formula, display=display))).replace("\u2061", "")
    except ValueError:
        return formula  # that it cannot be read is said where it is set


def source(node: nodes.Element) -> str:
    """Return the TeX of a formula."""
    return node.get("tex", node.astext())


def laid_out(node: nodes.math_block) -> str:
    """Return a display formula with its blank lines and line breaks as aligned rows."""
    if node.get("nowrap"):
        return source(node)
    parts = [part.strip() for part in re.split(r"\n\s*\n", source(node)) if part.strip()]
    if len(parts) == 1 and r"\\" not in re.sub(
        r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", "", parts[0], flags=re.DOTALL
    ):
        return parts[0]
    rows = r" \\ ".join(parts)
    return rf"\begin{{aligned}}{rows}\end{{aligned}}"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    body = rendered(source(node), node, display=False)
    after = html.escape(node.get("after", ""))
    if after and body.startswith(BROKEN):  # browsers may break the line behind any of its rows
        body, after = f'{body.removesuffix(END)}<mtext class="after">{after}</mtext>{END}', ""
    opening = translator.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    formula = f"{opening}{body}</span>"
    entry = node.parent.parent
    if is_column_name(entry) and len(entry) == len(node.parent) == 1:
        # not every program that reads a page aloud reads formulas: the column has a name in words
        words = html.escape(plain(source(node)))
        formula = (
            f'<span class="visually-hidden">{words}</span><span aria-hidden="true">{formula}</span>'
        )
    if after:
        formula = f'<span class="math-kept">{formula}{after}</span>'
    translator.body.append(formula)
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one.

    The formula has a box of its own that scrolls when the window is too narrow, while the number
    stays in view.
    """
    formula = laid_out(node)
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    translator.body.append('<div class="math-scroll">')
    translator.body.append(rendered(formula, node, display=True))
    translator.body.append("</div>")
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def keep_together(node: nodes.math) -> None:
    """Let a formula keep the comma behind it, which browsers would put on a line of its own."""
    last: nodes.Node = node
    while isinstance(last.parent, nodes.emphasis | nodes.strong) and last is last.parent[-1]:
        last = last.parent
    following = last.next_node(descend=False, siblings=True)
    if isinstance(following, nodes.Text) and (found := AFTER.match(following)):
        node["after"] = found[0]
        # not by replace, which takes the first text that says the same
        siblings = following.parent.children
        place = next(place for place, one in enumerate(siblings) if one is following)
        following.parent[place] = nodes.Text(following[found.end() :])


def hide_source(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Keep TeX out of the search, which would take it for words and show it in titles."""
    if app.builder.format != "html":
        return
    for node in doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block)):
        node["tex"] = node.astext()
        node.clear()
        if isinstance(node.parent, nodes.title):
            node += nodes.Text(plain(node["tex"]))
        elif isinstance(node, nodes.math):
            keep_together(node)


def stop_engine(_app: Sphinx, _error: Exception | None) -> None:
    """Stop the JavaScript engine when the build has ended, well or badly."""
    RENDERER.close()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    rebuild_when_changed(app, "html", __file__, TEMML)
    app.connect("doctree-resolved", hide_source)
    app.connect("build-finished", stop_engine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
