"""One search for every page: results while one types, and the same on the page of all results.

What is searched is the prose of the book by its parts: pages, sections, words of the glossary,
exercises, and what the reference says first of each name. Formulas are in it as they look. Answers
that a page folds are not: a search should not give them away.

All of it is one script of the site with the program that searches, which a page loads when somebody
goes to its search field: a page from a disk may run that, but not fetch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import is_exercise_node, solution_node

from _ext import maths
from _ext.predictions import Answering, is_cell
from _ext.rebuild import rebuild_when_changed
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
INDEX = "searchindex.js"
PAGE, SECTION, TERM, EXERCISE, NAME = range(5)
"""What can be found, as the groups of ``search.js`` are numbered."""
UNSEARCHED = (
    *(nodes.literal_block, nodes.raw, nodes.title, nodes.Invisible, addnodes.toctree),
    *(solution_node, Answering),
)
ASIDE = {"chapter-facts", "places", "hint", "recall"}
"""Classes of what says nothing of its own, or answers what the reader is asked."""
Entry = tuple[int, str, str, str]
"""What it is, its place on the page, its title and its text."""


def is_own(node: nodes.Node) -> bool:
    """Say whether a node is found by itself, apart from what is around it."""
    return isinstance(node, addnodes.desc | addnodes.glossary) or (
        isinstance(node, nodes.section) and isinstance(node[0], nodes.title)
    )


def is_left_out(node: nodes.Node) -> bool:
    """Say whether no words of a node are searched."""
    return isinstance(node, UNSEARCHED) or is_cell(node) or bool(ASIDE & set(node["classes"]))


def words(node: nodes.Node) -> Iterator[str]:
    """Give what a reader sees of a node, in pieces; a formula as plain text."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, nodes.math):
        yield maths.plain(maths.source(node)) + node.get("after", "")
    elif isinstance(node, nodes.math_block):
        yield f" {maths.plain(maths.laid_out(node), display=True)} "
    elif not (is_own(node) or is_left_out(node)):
        for child in node.children:
            yield from words(child)
        if not isinstance(node, nodes.Inline):
            yield " "


def text(*parts: nodes.Node) -> str:
    """Return what a reader sees of some nodes, on one line."""
    return " ".join("".join(piece for part in parts for piece in words(part)).split())


def of_section(section: nodes.section, numbers: dict[str, tuple[int, ...]]) -> Entry:
    """Return what can be found of a section without those inside it; an exercise by its number."""
    kind = PAGE if isinstance(section.parent, nodes.document) else SECTION
    said = list(section.children[1:])
    if box := next(filter(is_exercise_node, said), None):
        kind = EXERCISE
        number = ".".join(map(str, numbers.get(box["label"], ())))
        said.insert(0, nodes.Text(f"Exercise {number} "))
    place = "" if kind == PAGE else section["ids"][0]
    return kind, place, text(*section[0].children), text(*said)


def of_term(item: nodes.definition_list_item) -> Iterator[Entry]:
    """Return what can be found of an entry of the glossary: each word that it explains."""
    *terms, definition = (child for child in item.children if isinstance(child, nodes.Element))
    for term in terms:
        yield TERM, term["ids"][0], text(*term.children), text(definition)


def of_name(entry: addnodes.desc) -> Iterator[Entry]:
    """Return what can be found of a name of the reference."""
    signature, content = entry[0], entry[-1]
    first = next((part for part in content if isinstance(part, nodes.paragraph)), nodes.Text(""))
    if signature["ids"]:
        name = signature["ids"][0]
        yield NAME, name, name.partition(".")[2], text(first)


def entries(document: nodes.document, numbers: dict[str, tuple[int, ...]]) -> Iterator[Entry]:
    """Return all that can be found on a page with numbered exercises, itself first.

    A section that only has sections is not among it.
    """
    for node in document.findall(is_own):
        if isinstance(node, nodes.section):
            found = of_section(node, numbers)
            is_empty = found[0] == SECTION and not found[-1]
            if not (is_empty and any(isinstance(child, nodes.section) for child in node)):
                yield found
        elif isinstance(node, addnodes.desc):
            yield from of_name(node)
        else:
            for item in node.findall(nodes.definition_list_item):
                yield from of_term(item)


def stored(app: Sphinx, page: str) -> Path:
    """Return where it is kept what can be found on a page, for builds that do not write it."""
    return Path(app.doctreedir) / f"{page}.search.json"


def keep_entries(app: Sphinx, document: nodes.document, page: str) -> None:
    """Keep what can be found on a page before it is written."""
    if app.builder.format == "html":
        numbers = app.env.toc_fignumbers.get(page, {}).get("exercise", {})
        found = list(entries(document, numbers))
        atomic_write(stored(app, page), json.dumps(found, ensure_ascii=False))


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Write the search of the site: what can be found, and how."""
    if error is not None or app.builder.format != "html":
        return
    found = []
    for page in sorted(app.env.found_docs):
        number = app.env.toc_secnumbers.get(page, {}).get("", (0,))[0]
        parts = json.loads(stored(app, page).read_text(encoding="utf-8"))
        found.append([app.builder.get_target_uri(page), number, parts])
    style = (HERE / "search.css").read_text(encoding="utf-8")
    data = json.dumps([found, style], ensure_ascii=False, separators=(",", ":"))
    program = (HERE / "search.js").read_text(encoding="utf-8")
    atomic_write(Path(app.outdir) / INDEX, program.replace('["the index"]', data))


def results_page(_app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make the page that shows all results."""
    yield "search", {"title": "Search", "pageurl": None}, "search.html"


def leave_search(app: Sphinx) -> None:
    """Let Sphinx neither index words nor write a search of its own."""
    app.builder.search = False


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__, maths.__file__)
    app.connect("builder-inited", leave_search)
    app.connect("doctree-resolved", keep_entries, priority=900)
    app.connect("html-collect-pages", results_page)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
