"""Say at the head of each chapter what it will take, and on the landing page of all of them.

* Below a chapter's title stands one quiet line: minutes of reading, difficulty, the chapters that
  it builds on, and room for the ways into its notebook.
* On the landing page every entry of the list of chapters gets the same minutes and stars.

Minutes are computed from the notebook's main path by ``tools.prose.reading_time``, at a stated
number of words and code cells a minute; the rest is read from the chapter's contract. Nothing of it
is typed a second time.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import nbformat
from docutils import nodes
from sphinx import addnodes

from tools.prose import reading_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

CHAPTER = re.compile(r"chapters/(?P<number>\d\d)_\w+")
DIFFICULTY = re.compile(r"\*\*Difficulty\*\* (?P<stars>[★☆]{3}) (?P<word>\w+)")
TITLE = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
NEEDS = "You need"
WAYS_IN = "ways-in"
"""The class of the empty container below a chapter's line; what fills it may come at any time
before pages are written, and one that stays empty is taken away."""


class Facts(NamedTuple):
    """What a chapter's notebook says about itself."""

    number: int
    title: str
    minutes: int
    stars: str
    difficulty: str


def facts(path: Path) -> Facts:
    """Read what a chapter takes.

    Parameters
    ----------
    path : Path
        The chapter's notebook, whose name begins with its number.

    Raises
    ------
    ValueError
        If it has no title, or its contract no difficulty.
    """
    return _facts(path, path.stat().st_mtime_ns)


@cache
def _facts(path: Path, _changed: int) -> Facts:
    notebook = nbformat.read(path, as_version=4)
    text = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title, difficulty = TITLE.search(text), DIFFICULTY.search(text)
    if title is None or difficulty is None:
        raise ValueError(f"{path.name} must state a title and a difficulty")
    return Facts(
        int(path.name[:2]),
        title["title"],
        reading_time(notebook),
        difficulty["stars"],
        difficulty["word"],
    )


def is_chapter(page: str) -> bool:
    """Say whether a page is a chapter with a number."""
    return CHAPTER.fullmatch(page) is not None


def measures(chapter: Facts) -> list[nodes.Node]:
    """Return minutes and difficulty, the stars for the eye and the word for all."""
    time = nodes.inline("", f"{chapter.minutes} minutes", classes=["time"])
    stars = f'<span class="stars" aria-hidden="true">{chapter.stars}</span> '
    level = nodes.inline(
        "",
        "",
        nodes.raw("", stars, format="html"),
        nodes.Text(chapter.difficulty),
        classes=["difficulty"],
    )
    return [time, level]


def needed(contract: nodes.Element) -> list[nodes.Node]:
    """Return links to the chapters that a contract names as needed, in its order.

    "to" between two of them stands for all in between, and is kept.
    """
    found: list[nodes.Node] = []
    known = set()
    for item in contract.findall(nodes.list_item):
        if not item.astext().startswith(NEEDS):
            continue
        for link in item.findall(addnodes.pending_xref):
            target = link.get("reftarget", "")
            name = re.search(r"(\d\d)_(\w+)$", target)
            if link.get("reftype") != "doc" or name is None or target in known:
                continue
            known.add(target)
            before = link.previous_sibling()
            if found:
                through = before is not None and before.astext().strip() == "to"
                found.append(nodes.Text(" to " if through else ", "))
            own = link.copy()
            own["refexplicit"] = True
            own.append(nodes.inline("", name[2].capitalize(), classes=["doc"]))
            found.append(own)
    return found


def head(chapter: Facts, contract: nodes.Element | None) -> nodes.Element:
    """Return the line below a chapter's title, and room for the ways in."""
    links = needed(contract) if contract is not None else []
    needs = nodes.inline("", "", classes=["needs"])
    needs += [nodes.Text("builds on "), *links] if links else [nodes.Text("needs no other chapter")]
    line = nodes.paragraph("", "", *measures(chapter), needs, classes=["chapter-facts"])
    box = nodes.container("", line, classes=["chapter-head"])
    box += nodes.container("", classes=[WAYS_IN])
    return box


def add_head(app: Sphinx, document: nodes.document) -> None:
    """Put the line below a chapter's title."""
    page = app.env.docname
    if not is_chapter(page) and page != app.config["root_doc"]:
        return
    title = next(iter(document.findall(nodes.title)))
    if not is_chapter(page):
        promise = title.next_node(nodes.paragraph, descend=False, siblings=True)
        if promise is not None:
            promise["classes"].append("promise")
        return
    boxes = document.findall(nodes.admonition)
    contract = next((box for box in boxes if "contract" in box["classes"]), None)
    section = title.parent
    section.insert(section.index(title) + 1, head(facts(Path(app.env.doc2path(page))), contract))


def chapters_linked(item: nodes.Element) -> Iterable[str]:
    """Return the numbered chapters that a part of a page links to."""
    for link in item.findall(nodes.reference):
        found = CHAPTER.search(link.get("refuri", ""))
        if found is not None:
            yield found[0]


def finish(app: Sphinx, document: nodes.document, page: str) -> None:
    """Fill the landing page's list, and take away room that nothing was put into."""
    for room in [box for box in document.findall(nodes.container) if WAYS_IN in box["classes"]]:
        if not room.children:
            room.parent.remove(room)
    if page != app.config["root_doc"]:
        return
    for box in document.findall(nodes.container):
        if "chapter-list" not in box["classes"]:
            continue
        for item in box.findall(nodes.list_item):
            for chapter in list(chapters_linked(item))[:1]:
                told = measures(facts(Path(app.env.doc2path(chapter))))
                item += nodes.paragraph("", "", *told, classes=["chapter-facts"])


class LandingPage:
    """Writes the landing page anew when a chapter was read, whose minutes it shows."""

    def __init__(self) -> None:
        self.is_behind = False

    def note(self, _app: Sphinx, _env: BuildEnvironment, read: list[str]) -> None:
        """Look whether a chapter is about to be read."""
        self.is_behind = any(is_chapter(page) for page in read)

    def follow(self, app: Sphinx, _env: BuildEnvironment) -> list[str]:
        """Name the pages to write beside those that were read."""
        return [app.config["root_doc"]] if self.is_behind else []


def note_source(_app: Sphinx, config: Config) -> None:
    """Make pages be read anew, without running anything, when this file has changed."""
    config["chapter_head_digest"] = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def add_touch_icon(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Name the picture that phones put on their home screen."""
    builder: Builder = app.builder
    if builder.format == "html":
        address = context["pathto"]("_static/apple-touch-icon.png", resource=True)
        context["metatags"] = context.get("metatags", "") + (
            f'\n<link rel="apple-touch-icon" href="{address}" />'
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_config_value("chapter_head_digest", "", "env")
    app.connect("config-inited", note_source)
    app.connect("doctree-read", add_head)
    landing = LandingPage()
    app.connect("env-before-read-docs", landing.note)
    app.connect("env-updated", landing.follow)
    app.connect("doctree-resolved", finish, priority=900)
    app.connect("html-page-context", add_touch_icon)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
