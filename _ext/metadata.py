"""What lets the book be found and shared.

* Programs that collect citations read what a page is, by whom and in which book.
* A link to a page shows its title, what it is about and a card where people share it: that is
  sphinxext-opengraph's work.
* A site map lists the pages, and each names its own address. These two need the site's address.
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
    from sphinx.config import Config

LOGO = str(Path(__file__).with_name("theme") / "static" / "apple-touch-icon.png")
# The font has the index of dₖ. A description of no length, because opengraph would take the first
# words of the page, and draw an apostrophe as its HTML.
OPENGRAPH = {
    "ogp_social_cards": {"image": LOGO, "image_mini": LOGO, "font": "DejaVu Sans"},
    "ogp_description_length": 0,
    "ogp_enable_meta_description": False,
}
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


def use_opengraph(app: Sphinx, config: Config) -> None:
    """Let links to a page show a card where the address of the site is known."""
    if config["html_baseurl"]:
        app.setup_extension("sphinxext.opengraph")
        config["ogp_site_url"], config["ogp_site_name"] = (
            config["html_baseurl"],
            config["html_title"],
        )
        for name, value in OPENGRAPH.items():
            config[name] = value


def add_metadata(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates what a page is, for search engines and where its link is shared."""
    if doctree is None:
        context["generated_description"] = GENERATED.get(page)
        return
    if page == app.config["root_doc"] and app.config["html_baseurl"]:
        context["pageurl"] = page_address(app, page)
    context["citation_tags"] = citation_tags(app, page, citation.record())
    # opengraph takes these before its own
    context["meta"] = (context.get("meta") or {}) | {
        "og:description": page_description(app, doctree),
        "og:image:alt": app.env.titles[page].astext(),
        "og:url": page_address(app, page),
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
    app.connect("config-inited", use_opengraph, priority=600)  # the address is known by then
    app.connect("html-page-context", add_metadata, priority=400)  # before opengraph
    app.connect("build-finished", write_site_map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
