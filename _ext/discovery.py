"""What lets the book be found, shared, reused and corrected.

* A link to a page shows its title and what it is about where people share it, and search engines
  read what kind of work it is, by whom and under which license.
* A site map lists the pages, and each names its own address. Both need the address of the site.
* The foot of each page leads to the licenses, to how to cite the book and to what has changed; with
  the address of a repository also to a change of this page, or to a report of what is wrong in it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from docutils import nodes

from _ext import citation
from book.model import book_in

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ABOUT = "description"
# What the pages are about that are made without a source.
MADE = {
    "404": "No page of the book is at this address; from here you can search for what you meant.",
    "genindex": "An index of the functions, classes and methods of the package behind the book.",
    "search": "Search the chapters, the glossary and the reference of the book.",
}
LICENSES, CHANGES = "chapters/about", "chapters/changelog"
BETWEEN = ' <span aria-hidden="true">·</span> '
# What the licenses of CITATION.cff cover, and what people call them.
COVERED = {"CC-BY-4.0": ("Text and figures", "CC BY 4.0"), "BSD-3-Clause": ("Code", "BSD 3-Clause")}


def described(app: Sphinx, doctree: nodes.document | None) -> str:
    """Return what a page says it is about, or the book's title."""
    metas = doctree.findall(nodes.meta) if doctree is not None else ()
    said = [node["content"] for node in metas if node.get("name") == ABOUT]
    return said[0] if said else app.config["html_title"]


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
    addressed = bool(app.config["html_baseurl"])
    if addressed:
        book["url"] = page_address(app, app.config["root_doc"])
    if page == app.config["root_doc"]:
        parts = [(name, app.env.titles[name].astext()) for name in chapters(app)]
        return {
            "@context": "https://schema.org",
            **book,
            "description": description,
            "keywords": cited["keywords"],
            "hasPart": [
                {"@type": "Chapter", "name": title}
                | ({"url": page_address(app, name)} if addressed else {})
                for name, title in parts
            ],
        }
    return {
        "@context": "https://schema.org",
        "@type": ["Chapter", "LearningResource"] if page in chapters(app) else "WebPage",
        "name": app.env.titles[page].astext(),
        "description": description,
        **({"url": page_address(app, page)} if addressed else {}),
        "isPartOf": book,
    }


def pages(app: Sphinx) -> list[str]:
    """Return all pages in the order of the table of contents."""
    return [page.name for page in book_in(Path(app.srcdir)).pages]


def chapters(app: Sphinx) -> list[str]:
    """Return the numbered chapters in the order of the table of contents."""
    return [page.name for page in book_in(Path(app.srcdir)).chapters]


def as_script(data: dict[str, Any]) -> str:
    r"""Return data as an element that no browser runs; no text in it can end the element.

    Examples
    --------
    >>> as_script({"name": "</script>"})
    '<script type="application/ld+json">{"name": "<\\/script>"}</script>'
    """
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="application/ld+json">{text}</script>'


def add_link_preview(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say what a page is, for search engines, and where its link is shared."""
    if doctree is None:
        if page in MADE:
            about = f'<meta name="{ABOUT}" content="{html.escape(MADE[page])}" />'
            context["metatags"] = f"{context.get('metatags', '')}\n{about}"
        return
    if page == app.config["root_doc"] and app.config["html_baseurl"]:
        context["pageurl"] = page_address(app, page)
    description = described(app, doctree)
    added = [as_script(structured_data(app, page, description, citation.record()))]
    if app.config["html_baseurl"]:
        properties = {
            "og:type": "website" if page == app.config["root_doc"] else "article",
            "og:site_name": app.config["html_title"],
            "og:title": app.env.titles[page].astext(),
            "og:url": page_address(app, page),
            "og:description": description,
        }
        added += [
            f'<meta property="{name}" content="{html.escape(value)}" />'
            for name, value in properties.items()
        ]
    context["metatags"] += "".join(f"\n{line}" for line in added)


def reports(repository: str, branch: str, source: str, title: str, address: str) -> dict[str, str]:
    """Return the links by which readers change a page or report an error in it.

    A page of text can be edited where it is. A notebook's source is JSON, which nobody wants to
    edit in a browser, so its readers write down what should stand there.

    Parameters
    ----------
    repository : str
        The address of the repository.
    branch : str
        The branch that is published.
    source : str
        The path of the page's source in the repository.
    title : str
        The title of the page.
    address : str
        Where the page is published, or nothing.

    Returns
    -------
    dict of str
        What each link says, with its address; none for a host whose forms are not known.

    Examples
    --------
    >>> links = reports("https://github.com/a/b", "main", "c/d.md", "D", "")
    >>> links["Suggest a change to this page"]
    'https://github.com/a/b/edit/main/c/d.md'
    >>> links["Report an error"]
    'https://github.com/a/b/issues/new?title=Error+in+%E2%80%9CD%E2%80%9D&body=Page%3A+c%2Fd.md...
    >>> reports("https://example.org/a/b", "main", "c/d.md", "D", "")
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
        else new_issue(
            f"Change “{title}”", "What stands there:", "What should stand there, and why:"
        )
    )
    return {
        "Suggest a change to this page": change,
        "Report an error": new_issue(f"Error in “{title}”", "What is wrong:", "How you know:"),
    }


def link(address: str, words: str, relation: str = "") -> str:
    """Return a link in HTML."""
    rel = f' rel="{relation}"' if relation else ""
    return f'<a{rel} href="{html.escape(address)}">{html.escape(words)}</a>'


def add_foot(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put licenses, citation, changes and ways to correct the page at its foot."""
    to, known = context["pathto"], app.env.found_docs
    rows = []
    if LICENSES in known:
        about = to(LICENSES).removesuffix("#")  # what leads to the page itself is a mere #
        covered = [
            f"{what}: {link(f'{about}#licenses', name, 'license')}."
            for terms in sorted(citation.record()["license"], reverse=True)
            for what, name in [COVERED[terms]]
        ]
        rows = [[" ".join(covered)], [link(f"{about}#how-to-cite", "How to cite")]]
        if CHANGES in known:
            rows[-1].append(link(to(CHANGES), "Changes"))
    repository = app.config["html_theme_options"].get("repository_url", "")
    if doctree is not None and repository:
        source = Path(app.env.doc2path(page)).relative_to(app.srcdir).as_posix()
        branch = app.config["html_theme_options"].get("repository_branch") or "main"
        address = page_address(app, page) if app.config["html_baseurl"] else ""
        title = app.env.titles[page].astext()
        offered = reports(repository, branch, source, title, address)
        rows.append([link(target, words) for words, target in offered.items()])
    context["theme_extra_footer"] = "\n".join(f"<p>{BETWEEN.join(row)}</p>" for row in rows if row)


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
    app.connect("html-page-context", add_link_preview)
    app.connect("html-page-context", add_foot)
    app.connect("build-finished", write_site_map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
