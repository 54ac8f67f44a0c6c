"""Tell programs that follow the book of each release: ``feed.xml``, made from ``CHANGELOG.md``.

What a release is called for good is the address of its part of the changelog. So there is a feed
only where the address of the site is known; a site that moves begins another feed.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from docutils import nodes
from markdown_it import MarkdownIt

from _ext import citation
from _ext.metadata import page_address
from _ext.rebuild import rebuild_when_changed
from _ext.theme import CHANGELOG
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = citation.SOURCE.with_name("CHANGELOG.md")
FEED = "feed.xml"
RELEASE = re.compile(r"^## \[(?P<version>[^\]]+)\] - (?P<date>\d{4}-\d\d-\d\d)$", re.MULTILINE)
ATOM = "http://www.w3.org/2005/Atom"


class Release(NamedTuple):
    """A release: its version, the day, and what changed, in Markdown."""

    version: str
    day: date
    changes: str


def releases(changelog: str) -> list[Release]:
    r"""Return the releases that a changelog tells of, in its order.

    Examples
    --------
    >>> releases("## [Unreleased]\n\n- A\n\n## [1.0.0] - 2026-11-22\n\n- B\n")
    [Release(version='1.0.0', day=datetime.date(2026, 11, 22), changes='- B')]
    """
    found = []
    for part in re.split(r"^(?=## )", changelog, flags=re.MULTILINE):
        if head := RELEASE.match(part):
            day = date.fromisoformat(head["date"])
            found.append(Release(head["version"], day, part[head.end() :].strip()))
    return found


def anchor(version: str) -> str:
    """Return the identifier of a release on the page of the changelog.

    Examples
    --------
    >>> anchor("1.0.0")
    'release-1.0.0'
    """
    return f"release-{version}"


def name_releases(app: Sphinx, document: nodes.document) -> None:
    """Give each release on the page of the changelog an identifier that stays."""
    if app.env.docname != CHANGELOG:
        return
    versions = {f"[{one.version}]": one.version for one in releases(SOURCE.read_text("utf-8"))}
    for section in document.findall(nodes.section):
        name = section[0].astext().partition(" ")[0]
        if name in versions:
            section["ids"].append(anchor(versions[name]))


def atom(site: str, page: str, cited: dict[str, Any], found: list[Release]) -> str:
    """Return the feed, given the addresses of the site and of the changelog's page."""
    feed = ET.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})

    def add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
        made = ET.SubElement(parent, name, attributes)
        made.text = text or None
        return made

    def moment(day: date) -> str:
        return f"{day.isoformat()}T00:00:00Z"

    add(feed, "title", f"{cited['title']}: changes")
    add(feed, "id", site)
    add(feed, "link", rel="self", type="application/atom+xml", href=f"{site}{FEED}")
    add(feed, "link", rel="alternate", type="text/html", href=page)
    add(feed, "updated", moment(max(one.day for one in found)))
    add(add(feed, "author"), "name", citation.author(cited))
    for one in found:
        entry, address = add(feed, "entry"), f"{page}#{anchor(one.version)}"
        add(entry, "title", f"Version {one.version}")
        add(entry, "id", address)
        add(entry, "link", rel="alternate", type="text/html", href=address)
        add(entry, "updated", moment(one.day))
        add(entry, "content", MarkdownIt().enable("table").render(one.changes), type="html")
    return ET.tostring(feed, encoding="unicode", xml_declaration=True)


def found_releases(app: Sphinx) -> list[Release]:
    """Return the releases that a feed of this site can tell of."""
    known = app.config["html_baseurl"] and CHANGELOG in app.env.found_docs
    return releases(SOURCE.read_text(encoding="utf-8")) if known else []


def add_link(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Let each page name the feed."""
    context["feed"] = FEED if found_releases(app) else ""


def write_feed(app: Sphinx, error: Exception | None) -> None:
    """Write the feed, or take it away."""
    if error is not None or app.builder.format != "html":
        return
    path = Path(app.outdir) / FEED
    if found := found_releases(app):
        page = page_address(app, CHANGELOG)
        atomic_write(path, atom(app.config["html_baseurl"], page, citation.record(), found))
    else:
        path.unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "env", __file__)
    app.connect("doctree-read", name_releases)
    app.connect("html-page-context", add_link)
    app.connect("build-finished", write_feed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
