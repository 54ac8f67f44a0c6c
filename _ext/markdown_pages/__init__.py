"""Offer each page as Markdown too, and a list of all of them, for what reads no HTML.

Copied as plain text, a page loses root signs and exponents. Beside ``chapters/a.html`` is
``chapters/a.html.md``: the address of the page and ``.md``, as https://llmstxt.org proposes. So who
knows a page can guess its Markdown. A list of all pages is ``llms.txt`` at the root.

A page is written whenever Sphinx writes its HTML, from the same tree. The list is written by each
build.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from _ext import citation
from _ext.markdown_pages.writer import Writer
from _ext.metadata import page_address, page_description
from _ext.rebuild import rebuild_when_changed
from _ext.theme import COVERED
from book.files import atomic_write
from book.model import book_in

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
ENDING = ".html.md"
LIST = "llms.txt"
ABOUT = """Each link leads to a page in Markdown. Formulas are TeX between dollars. What a page \
shows only when it is opened, such as a solution, is in a box that says so. The notebooks of the \
chapters compute every number in their text."""
START = "Start"
"""The section of the first page, which is in no part of the book."""


def note_description(app: Sphinx, document: nodes.document) -> None:
    """Remember what a page says it is about, also for builds that do not read it."""
    app.env.metadata[app.env.docname]["description"] = page_description(app, document)


def source_line(app: Sphinx, page: str) -> str:
    """Return a line that says what a page is taken from, and how it may be used."""
    cited = citation.record()
    known = app.config["html_baseurl"]
    own = page_address(app, page) if known else f"{page.rpartition('/')[2]}.html"
    covered = (": ".join(COVERED[name]) for name in sorted(cited["license"], reverse=True))
    return (
        f"---\n\nFrom [*{cited['title']}*]({own}), version {cited['version']}, by "
        f"{citation.author(cited)}. {'. '.join(covered)}."
    )


def write_page(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    """Write a page as Markdown, and let its HTML lead there."""
    if document is None:
        return
    made = Writer(app.builder, page).blocks(document.children)
    text = "\n\n".join([*made, source_line(app, page)])
    atomic_write(Path(app.outdir) / f"{page}{ENDING}", f"{text}\n")
    context["markdown_page"] = f"{page.rpartition('/')[2]}{ENDING}"


def listed(app: Sphinx) -> str:
    """Return the list of all pages, part by part."""
    cited = citation.record()
    parts = [f"# {cited['title']}", f"> {' '.join(cited['abstract'].split())}", ABOUT]
    for part, pages in groupby(book_in(Path(app.srcdir)).pages, lambda page: page.part):
        lines = [
            f"- [{app.env.titles[page.name].astext()}]({app.config['html_baseurl']}{page.name}"
            f"{ENDING}): {app.env.metadata[page.name]['description']}"
            for page in pages
        ]
        parts += [f"## {part or START}", "\n".join(lines)]
    return "\n\n".join([*parts, ""])


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write the list, and take away pages that the book no longer has."""
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    atomic_write(site / LIST, listed(app))
    own = {site / f"{page}{ENDING}" for page in app.env.found_docs}
    for path in set(site.rglob(f"*{ENDING}")) - own:
        path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__, *HERE.glob("*.py"), citation.SOURCE)
    app.connect("doctree-read", note_description)
    app.connect("html-page-context", write_page)
    app.connect("build-finished", write_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
