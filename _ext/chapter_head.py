"""Say at the head of each chapter what it will take, and on the landing page of all of them.

* Below a chapter's title is one quiet line: minutes for its core and for the rest, difficulty, the
  chapters that it builds on, and room for the buttons that launch its notebook.
* ``chapter-list`` lists the chapters, each with its question, the same minutes and stars.

All of it comes from the model of the book, and nothing is typed a second time.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from _ext.rebuild import rebuild_when_changed
from book.files import atomic_write
from book.model import Page, book_in, facts

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

NEEDS = "You need"
LAUNCH_ROW = "launch-row"
"""The class of the empty container below a chapter's line; what fills it may come at any time
before pages are written, and one that stays empty is taken away."""


def chapters(app: Sphinx) -> dict[str, Page]:
    """Return the chapters, which have numbers, by their names."""
    return {page.name: page for page in book_in(Path(app.srcdir)).chapters}


def list_file(app: Sphinx) -> Path:
    """Return the file that holds what lists of chapters say."""
    return Path(app.doctreedir) / "chapters.txt"


def note_chapters(app: Sphinx) -> None:
    """Write that file if a list would say something else: pages with one are then read anew."""
    kept = Path(app.doctreedir) / "facts.json"
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    atomic_write(kept, json.dumps(facts(book_in(Path(app.srcdir)).pages, before)).encode())
    listed = [
        (
            *(page.name, page.number, page.title, page.question, page.contract),
            *(page.core_minutes, page.minutes),
        )
        for page in chapters(app).values()
    ]
    path, text = list_file(app), repr(listed)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        atomic_write(path, text)


def measures(chapter: Page) -> list[nodes.Node]:
    """Return the minutes of the core and of the rest, and the difficulty, in stars and in a word.

    A chapter without a contract that states a difficulty is a ValueError.
    """
    stars, _, word = chapter.contract.get("Difficulty", "").partition(" ")
    if not word:
        message = f"the contract of {chapter.name} must state a difficulty, such as ★☆☆ gentle"
        raise ValueError(message)
    time = nodes.inline("", f"{chapter.core_minutes} minutes", classes=["time"])
    shown = f'<span class="stars" aria-hidden="true">{stars}</span> '
    level = nodes.inline(
        "", "", nodes.raw("", shown, format="html"), nodes.Text(word), classes=["difficulty"]
    )
    deeper = chapter.minutes - chapter.core_minutes
    more = [nodes.inline("", f"{deeper} more to go deeper", classes=["deeper"])] if deeper else []
    return [time, *more, level]


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
            name = re.search(r"(?:\d+_)?(\w+)$", target)
            if link.get("reftype") != "doc" or name is None or target in known:
                continue
            known.add(target)
            before = link.previous_sibling()
            if found:
                through = before is not None and before.astext().strip() == "to"
                found.append(nodes.Text(" to " if through else ", "))
            own = link.copy()
            own["refexplicit"] = True
            own.append(nodes.inline("", name[1].capitalize(), classes=["doc"]))
            found.append(own)
    return found


def head(chapter: Page, contract: nodes.Element | None) -> nodes.Element:
    """Return the line below a chapter's title, and room for the launch buttons."""
    links = needed(contract) if contract is not None else []
    needs = nodes.inline("", "", classes=["needs"])
    needs += [nodes.Text("builds on "), *links] if links else [nodes.Text("needs no other chapter")]
    line = nodes.paragraph("", "", *measures(chapter), needs, classes=["chapter-facts"])
    box = nodes.container("", line, classes=["chapter-head"])
    box += nodes.container("", classes=[LAUNCH_ROW])
    return box


def add_head(app: Sphinx, document: nodes.document) -> None:
    """Put the line below a chapter's title."""
    page = app.env.docname
    chapter = chapters(app).get(page)
    if chapter is None and page != app.config["root_doc"]:
        return
    title = next(iter(document.findall(nodes.title)))
    if chapter is None:
        promise = title.next_node(nodes.paragraph, descend=False, siblings=True)
        if promise is not None:
            promise["classes"].append("promise")
        return
    boxes = document.findall(nodes.admonition)
    contract = next((box for box in boxes if "contract" in box["classes"]), None)
    section = title.parent
    section.insert(section.index(title) + 1, head(chapter, contract))


class ChapterList(SphinxDirective):
    """The chapters with the question of each, in the order of the table of contents."""

    kind = "chapter-list"

    def lines(self, listed: list[Page]) -> list[str]:
        """Return the list in Markdown."""
        return [f"{page.number}. {{doc}}`/{page.name}`: {page.question}" for page in listed]

    def run(self) -> list[nodes.Node]:
        """Return the list in a box."""
        box = nodes.container(classes=[self.kind])
        listed = list(chapters(self.env.app).values())
        self.env.note_dependency(str(list_file(self.env.app)))
        source = self.env.doc2path(self.env.docname)
        core = sum(p.core_minutes for p in listed if p.core_minutes < p.minutes)
        whole = sum(p.minutes for p in listed) / 60
        total = f"The core takes {core} minutes, all of it {whole:.0f} hours without the exercises."
        lines = [*self.lines(listed), "", total]
        self.state.nested_parse(StringList(lines, source), 0, box)
        return [box]


class ChapterTable(ChapterList):
    """The chapters with what they take, in the words of their contracts."""

    kind = "chapter-table"

    def lines(self, listed: list[Page]) -> list[str]:
        """Return the table in Markdown."""
        rows = [
            f"| {page.number}. {{doc}}`{page.topic.capitalize()} </{page.name}>` "
            f"| {page.core_minutes} minutes | {page.minutes} minutes "
            f"| {page.contract['Difficulty'].split()[1]} "
            f"| {page.contract['You need']} |"
            for page in listed
        ]
        head = "| chapter | core | with Deeper | difficulty | you need |"
        return [head, "|---|---|---|---|---|", *rows]


def finish(app: Sphinx, document: nodes.document, page: str) -> None:
    """Fill the landing page's list, and take away room that nothing was put into."""
    for room in [box for box in document.findall(nodes.container) if LAUNCH_ROW in box["classes"]]:
        if not room.children:
            room.parent.remove(room)
    if page != app.config["root_doc"]:
        return
    for box in document.findall(nodes.container):
        if "chapter-list" not in box["classes"]:
            continue
        items = box.findall(nodes.list_item)
        for item, chapter in zip(items, chapters(app).values(), strict=True):
            item += nodes.paragraph("", "", *measures(chapter), classes=["chapter-facts"])


class LandingPage:
    """Writes the landing page anew when a chapter was read, whose minutes it shows."""

    def __init__(self) -> None:
        self.is_behind = False

    def note(self, app: Sphinx, _env: BuildEnvironment, read: list[str]) -> None:
        """Look whether a chapter is about to be read."""
        self.is_behind = not chapters(app).keys().isdisjoint(read)

    def follow(self, app: Sphinx, _env: BuildEnvironment) -> list[str]:
        """Name the pages to write beside those that were read."""
        return [app.config["root_doc"]] if self.is_behind else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_directive("chapter-list", ChapterList)
    app.add_directive("chapter-table", ChapterTable)
    rebuild_when_changed(app, "env", __file__)
    app.connect("builder-inited", note_chapters)
    app.connect("doctree-read", add_head)
    landing = LandingPage()
    app.connect("env-before-read-docs", landing.note)
    app.connect("env-updated", landing.follow)
    app.connect("doctree-resolved", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
