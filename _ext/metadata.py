"""What lets the book be found and shared.

* A link to a page shows its title and what it is about where people share it, and search engines
  read what kind of work it is, by whom and under which license.
* A site map lists the pages, and each names its own address. Both need the address of the site.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from _ext import citation
from book.model import book_in

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# What the pages are about that are made without a source.
GENERATED = {
    "404": "No page of the book is at this address; from here you can search for what you meant.",
    "genindex": "An index of the functions, classes and methods of the package behind the book.",
    "search": "Search the chapters, the glossary and the reference of the book.",
}


def page_description(app: Sphinx, doctree: nodes.document | None) -> str:
    """Return what a page says it is about, or the book's title."""
    metas = doctree.findall(nodes.meta) if doctree is not None else ()
    found = [node["content"] for node in metas if node.get("name") == "description"]
    return found[0] if found else app.config["html_title"]


def page_address(app: Sphinx, page: str) -> str:
    """Return the one address of a page: for the first page that of the site."""
    address = app.config["html_baseurl"]
    return address if page == app.config["root_doc"] else f"{address}{page}.html"


def structured_data(
    app: Sphinx, page: str, description: str, cited: dict[str, Any]
) -> dict[str, Any]:
    """Describe a page in the words of schema.org."""
    book = {
        "@type": ["Book", "LearningResource"],
        "name": cited["title"],
        "author": {"@type": "Organization", "name": citation.author(cited)},
        "inLanguage": app.config["language"],
        "isAccessibleForFree": True,
        "license": [f"https://spdx.org/licenses/{name}.html" for name in cited["license"]],
        "version": cited["version"],
        "datePublished": str(cited["date-released"]),
        "learningResourceType": "textbook",
    }

    def addressed(name: str) -> dict[str, str]:
        return {"url": page_address(app, name)} if app.config["html_baseurl"] else {}

    book |= addressed(app.config["root_doc"])
    about = {"@context": "https://schema.org", "description": description}
    if page == app.config["root_doc"]:
        parts = [
            {"@type": "Chapter", "name": app.env.titles[name].astext(), **addressed(name)}
            for name in chapters(app)
        ]
        return {**about, **book, "keywords": cited["keywords"], "hasPart": parts}
    return {
        **about,
        "@type": ["Chapter", "LearningResource"] if page in chapters(app) else "WebPage",
        "name": app.env.titles[page].astext(),
        **addressed(page),
        "isPartOf": book,
    }


def citation_tags(app: Sphinx, page: str, cited: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what Google Scholar and Zotero read of a page, without ``citation_``."""
    is_book = page == app.config["root_doc"]
    tags = [
        ("title", cited["title"] if is_book else app.env.titles[page].astext()),
        ("author", citation.author(cited)),
        ("publication_date", str(cited["date-released"]).replace("-", "/")),
        ("language", app.config["language"]),
        *(("keywords", word) for word in cited["keywords"]),
    ]
    if not is_book:
        tags.append(("inbook_title", cited["title"]))
    if app.config["html_baseurl"]:
        address = page_address(app, page)
        tags += [("public_url", address), ("fulltext_html_url", address)]
    return tags


def pages(app: Sphinx) -> list[str]:
    """Return all pages in the order of the table of contents."""
    return [page.name for page in book_in(Path(app.srcdir)).pages]


def chapters(app: Sphinx) -> list[str]:
    """Return the numbered chapters in the order of the table of contents."""
    return [page.name for page in book_in(Path(app.srcdir)).chapters]


def add_metadata(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates what a page is, for search engines and where its link is shared."""
    context["link_preview"] = {}
    if doctree is None:
        context["generated_description"] = GENERATED.get(page)
        return
    if page == app.config["root_doc"] and app.config["html_baseurl"]:
        context["pageurl"] = page_address(app, page)
    description = page_description(app, doctree)
    context["structured_data"] = structured_data(app, page, description, citation.record())
    context["citation_tags"] = citation_tags(app, page, citation.record())
    if app.config["html_baseurl"]:
        context["link_preview"] = {
            "og:type": "website" if page == app.config["root_doc"] else "article",
            "og:site_name": app.config["html_title"],
            "og:title": app.env.titles[page].astext(),
            "og:url": page_address(app, page),
            "og:description": description,
        }


# sphinx-sitemap lists what a build has written, so not all pages after a change, and made ones too
def site_map(addresses: Iterable[str]) -> str:
    """Return a site map in XML.

    Examples
    --------
    >>> print(site_map(["https://example.org/", "https://example.org/a.html?b&c"]))
    <?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>https://example.org/</loc></url>
    <url><loc>https://example.org/a.html?b&amp;c</loc></url>
    </urlset>
    <BLANKLINE>
    """
    lines = "".join(f"<url><loc>{html.escape(address)}</loc></url>\n" for address in addresses)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{lines}</urlset>\n"
    )


def write_site_map(app: Sphinx, error: Exception | None) -> None:
    """Write ``sitemap.xml`` and the file that tells search engines of it, or take them away."""
    if error is not None or app.builder.format != "html":
        return
    site, address = Path(app.outdir), app.config["html_baseurl"]
    files = {"sitemap.xml": "", "robots.txt": ""}
    if address:
        listed = [page_address(app, page) for page in pages(app)]
        files["sitemap.xml"] = site_map(listed)
        # Search engines look for this file at the root of a host alone. Where the book lies deeper,
        # its map can be handed to them by hand.
        files["robots.txt"] = f"User-agent: *\nAllow: /\n\nSitemap: {address}sitemap.xml\n"
    for name, text in files.items():
        if text:
            (site / name).write_text(text, encoding="utf-8")
        else:
            (site / name).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("html-page-context", add_metadata)
    app.connect("build-finished", write_site_map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
