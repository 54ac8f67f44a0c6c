"""The book's theme: ``sphinx_book_theme`` with a frame, a footer and assets of its own."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import attnlib
from _ext import citation
from _ext.metadata import chapters, page_address
from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
STATIC = HERE / "static"
# In the order in which later ones change what earlier ones say.
STYLES = (
    *("print", "book", "edition", "boxes", "landing", "maths", "theme", "figure_links", "handout"),
)
ABOUT, CHANGELOG = "chapters/about", "chapters/changelog"
# What the licenses of CITATION.cff cover, and what people call them.
COVERED = {"CC-BY-4.0": ("Text and figures", "CC BY 4.0"), "BSD-3-Clause": ("Code", "BSD 3-Clause")}


def edition(title: str) -> str:
    """Return the title and the version of the book, as HTML.

    Examples
    --------
    >>> edition("Salt & water").replace(attnlib.__version__, "2.0.0")
    '<cite>Salt &amp; water</cite>, version 2.0.0'
    """
    return f"<cite>{html.escape(title)}</cite>, version {attnlib.__version__}"


def correction_links(
    repository: str, branch: str, source: str, title: str, address: str
) -> dict[str, str]:
    """Return the links by which readers change a page or report an error in it.

    A page of text can be edited where it is. A notebook's source is JSON, which nobody wants to
    edit in a browser, so its readers write down what it should say.

    `address` is where the page is published, or nothing. A host whose forms are not known has no
    links.

    Examples
    --------
    >>> links = correction_links("https://github.com/a/b", "main", "c/d.md", "D", "")
    >>> links["Suggest a change to this page"]
    'https://github.com/a/b/edit/main/c/d.md'
    >>> links["Report an error"]
    'https://github.com/a/b/issues/new?title=Error+in+%E2%80%9CD%E2%80%9D&body=Page%3A+c%2Fd.md...
    >>> correction_links("https://example.org/a/b", "main", "c/d.md", "D", "")
    {}
    """
    if urlsplit(repository).netloc != "github.com":
        return {}
    page = f"Page: {source}" + (f"\n{address}" if address else "")

    def new_issue(title: str, *asked: str) -> str:
        body = "\n\n".join([page, *asked]) + "\n"
        return f"{repository}/issues/new?{urlencode({'title': title, 'body': body})}"

    change = (
        f"{repository}/edit/{branch}/{source}"
        if source.endswith(".md")
        else new_issue(f"Change “{title}”", "What the page says:", "What it should say, and why:")
    )
    return {
        "Suggest a change to this page": change,
        "Report an error": new_issue(f"Error in “{title}”", "What is wrong:", "How you know:"),
    }


def add_footer(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates what the footer of a page says."""
    named = sorted(citation.record()["license"], reverse=True)
    context |= {
        "edition": edition(app.config["html_title"]),
        "about_page": ABOUT,
        "changelog_page": CHANGELOG,
        "licenses": [COVERED[name] for name in named],
    }
    options = app.config["html_theme_options"]
    repository = options.get("repository_url", "")
    if doctree is not None and repository:
        context["corrections"] = correction_links(
            repository,
            options.get("repository_branch") or "main",
            Path(app.env.doc2path(page)).relative_to(app.srcdir).as_posix(),
            app.env.titles[page].astext(),
            page_address(app, page) if app.config["html_baseurl"] else "",
        )


def page_not_found(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make the page that a server shows for an address that leads nowhere."""
    listed = [(name, app.env.titles[name].astext()) for name in chapters(app)]
    yield "404", {"title": "Page not found", "chapters": listed, "pageurl": None}, "404.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the theme."""
    app.add_html_theme("book_theme", str(HERE))
    for name in STYLES:
        app.add_css_file(f"{name}.css", priority=700)  # after those of all extensions
    # Sphinx copies changed assets only when it writes a page
    sources = [path for path in HERE.rglob("*.*") if "__pycache__" not in path.parts]
    rebuild_when_changed(app, "html", __file__, *sources, attnlib.__file__)
    app.connect("html-page-context", add_footer)
    app.connect("html-collect-pages", page_not_found)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
