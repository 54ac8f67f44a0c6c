r"""Render every formula with KaTeX while the book is built.

A page then holds finished HTML for the eye and MathML for screen readers, and needs no JavaScript,
no network and no waiting. KaTeX itself runs inside the build, in an embedded V8 (``mini-racer``);
its style sheet and fonts are copied from ``vendor/katex``. A formula that KaTeX cannot read is a
warning with its place in the source, and so fails the build.
"""

from __future__ import annotations

import atexit
import html
import re
import shutil
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from py_mini_racer import JSEvalException, mini_racer
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

VENDOR = Path(__file__).resolve().parent.parent / "vendor" / "katex"
STYLE_SHEET = "katex/katex.min.css"
LOGGER = logging.getLogger(__name__)
# Every browser that can show the site reads woff2; the other formats are not shipped.
_OTHER_FORMATS = re.compile(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)')


class Renderer:
    """KaTeX in an embedded JavaScript engine, started when the first formula comes."""

    def __init__(self) -> None:
        self._resources = ExitStack()
        self._rendered: dict[tuple[str, bool], str] = {}
        # The engine has a thread of its own, which Python would wait for in vain at its exit.
        atexit.register(self.close)

    @cached_property
    def _engine(self) -> Any:
        engine = self._resources.enter_context(mini_racer())
        engine.eval((VENDOR / "katex.min.js").read_text(encoding="utf-8"))
        return engine

    def render(self, formula: str, *, display: bool) -> str:
        """Return a formula as HTML with MathML inside.

        Raises
        ------
        ValueError
            If KaTeX cannot read the formula.
        """
        key = formula, display
        if key not in self._rendered:
            options = {"displayMode": display, "strict": "error", "throwOnError": True}
            try:
                rendered = self._engine.call("katex.renderToString", formula, options)
            except JSEvalException as error:
                said = re.search(r"KaTeX parse error: (.*)", str(error))
                raise ValueError(said[1] if said else str(error)) from error
            self._rendered[key] = str(rendered)
        return self._rendered[key]

    def close(self) -> None:
        """Stop the engine; it starts again when another formula comes."""
        self.__dict__.pop("_engine", None)
        self._resources.close()


RENDERER = Renderer()


def rendered(formula: str, node: nodes.Element, *, display: bool) -> str:
    """Return a formula as HTML, or warn and return its source."""
    try:
        return RENDERER.render(formula, display=display)
    except ValueError as error:
        LOGGER.warning("KaTeX cannot read %r: %s", formula, error, location=node)
        return f"<code>{html.escape(formula)}</code>"


def laid_out(node: nodes.math_block) -> str:
    """Return a display formula with its blank lines and line breaks as aligned rows."""
    source = node.astext()
    if node.get("nowrap"):
        return source
    parts = [part.strip() for part in re.split(r"\n\s*\n", source) if part.strip()]
    if len(parts) == 1 and r"\\" not in re.sub(
        r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", "", parts[0], flags=re.DOTALL
    ):
        return parts[0]
    rows = r" \\ ".join(parts)
    return rf"\begin{{aligned}}{rows}\end{{aligned}}"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    body = rendered(node.astext(), node, display=False)
    opening = translator.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    translator.body.append(f"{opening}{body}</span>")
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one.

    The formula has a box of its own that scrolls when the window is too narrow, while the number
    stays in view.
    """
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    translator.body.append('<div class="math-scroll">')
    translator.body.append(rendered(laid_out(node), node, display=True))
    translator.body.append("</div>")
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def copy_style_sheet(app: Sphinx) -> None:
    """Put KaTeX's style sheet and its fonts where the pages find them."""
    if app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "katex"
    sheet = (VENDOR / "katex.min.css").read_text(encoding="utf-8")
    shutil.copytree(VENDOR / "fonts", target / "fonts", dirs_exist_ok=True)
    (target / "katex.min.css").write_text(_OTHER_FORMATS.sub("", sheet), encoding="utf-8")


def link_style_sheet(
    app: Sphinx, pagename: str, _template: str, _context: dict[str, Any], _doctree: object
) -> None:
    """Link KaTeX's style sheet on pages with formulas."""
    if app.builder.format == "html" and app.env.get_domain("math").has_equations(pagename):
        app.add_css_file(STYLE_SHEET)


def stop_engine(_app: Sphinx, _error: Exception | None) -> None:
    """Stop the JavaScript engine when the build has ended, well or badly."""
    RENDERER.close()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``katex``."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
    app.connect("builder-inited", copy_style_sheet)
    app.connect("html-page-context", link_style_sheet)
    app.connect("build-finished", stop_engine)
    # The engine's thread does not survive the fork of a parallel build.
    return {"parallel_read_safe": True, "parallel_write_safe": False}
