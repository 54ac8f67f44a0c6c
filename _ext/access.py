"""What readers need who do not read with a mouse and a wide window.

* What a cell printed in sentences may break its lines; tables keep theirs, and scroll.
* A word of the glossary brings along what the glossary says about it, and ``glossary.js`` shows it
  beside the word. Without scripts the word is a link to the glossary, as it is with them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from docutils import nodes
from sphinx import addnodes

from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

GLOSSARY = "chapters/glossary"
SENTENCES = "sentences"
# Two blanks or more between words are the gap between two columns.
_GAP = re.compile(r"\S {2,}\S")
_TERM = re.compile(r"(?:^|/)glossary\.html#(term-[^\"]+)$")


def in_columns(text: str) -> bool:
    r"""Say whether lines belong below each other: a table, or code with its indents.

    Examples
    --------
    >>> in_columns("the mean is 1\nthe variance is  2")
    False
    >>> in_columns("width  mean\n    4   1.0")
    True
    >>> in_columns("def mean(x):\n    return x.mean()")
    True
    """
    lines = text.splitlines()
    gaps = sum(bool(_GAP.search(line)) for line in lines)
    indents = sum(line.startswith("  ") for line in lines)
    return gaps > 1 or indents > 0


def mark_sentences(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Mark outputs whose lines may break."""
    for block in document.findall(nodes.literal_block):
        if "output" in block["classes"] and not in_columns(block.astext()):
            block["classes"].append(SENTENCES)


def definitions(glossary: nodes.document) -> dict[str, list[nodes.Node]]:
    """Return what the glossary says about each of its words, by the identifier of the word.

    The chapter that is named at the end of an entry is left out: the note is in a text, and
    holds no link that a keyboard could not reach.
    """
    found: dict[str, list[nodes.Node]] = {}
    for item in glossary.findall(nodes.definition_list_item):
        (definition,) = item.findall(nodes.definition)
        for name in (name for term in item.findall(nodes.term) for name in term["ids"]):
            found[name] = [child.deepcopy() for child in definition.children]
    return found


def plain(children: Iterable[nodes.Node]) -> nodes.container:
    """Return a definition without links and without the chapter at its end."""
    box = nodes.container("", *children)
    for link in [*box.findall(addnodes.pending_xref), *box.findall(nodes.reference)]:
        link.replace_self(nodes.inline("", "", *(child.deepcopy() for child in link.children)))
    last = box.children[-1]
    if isinstance(last, nodes.paragraph):
        pieces = last.children
        opens = [
            number
            for number, piece in enumerate(pieces)
            if isinstance(piece, nodes.Text) and piece.rstrip().endswith("(")
        ]
        if opens and pieces[-1].astext().strip() == ")":
            start = pieces[opens[-1]]
            last[opens[-1] :] = [nodes.Text(start.astext().rstrip()[:-1].rstrip())]
    return box


class Notes:
    """The glossary's definitions as HTML, each rendered once in a build."""

    def __init__(self) -> None:
        self._glossary: dict[str, list[nodes.Node]] | None = None
        self._rendered: dict[str, str] = {}

    def forget(self, *_: object) -> None:
        """Start a build without what an earlier one has read."""
        self._glossary = None
        self._rendered.clear()

    def render(self, builder: Builder, term: str) -> str:
        """Return a definition as HTML, or nothing if the glossary has no such word."""
        if self._glossary is None:
            self._glossary = definitions(builder.env.get_doctree(GLOSSARY))
        if term not in self._rendered:
            said = self._glossary.get(term)
            body = builder.render_partial(plain(said))["fragment"] if said else ""
            self._rendered[term] = body.strip()
        return self._rendered[term]


NOTES = Notes()


def add_notes(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    """Put what the glossary says about the words of a page behind its text."""
    if document is None or page == GLOSSARY or GLOSSARY not in app.env.found_docs:
        return
    targets = [_TERM.search(link.get("refuri", "")) for link in document.findall(nodes.reference)]
    terms = dict.fromkeys(unquote(target[1]) for target in targets if target)
    notes = [(term, NOTES.render(app.builder, term)) for term in terms]
    entries = [f'<div data-term="{html.escape(term)}">{note}</div>' for term, note in notes if note]
    if entries:
        context["body"] += "\n".join(['\n<template class="term-notes">', *entries, "</template>\n"])


def note_words(app: Sphinx, document: nodes.document) -> None:
    """Remember that a page has words of the glossary."""
    links = document.findall(addnodes.pending_xref)
    if any(link.get("reftype") == "term" for link in links):
        app.env.metadata[app.env.docname]["book_terms"] = "yes"


def rewrite_with_the_glossary(
    _app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], _removed: set[str]
) -> list[str]:
    """Remember whether the glossary is read in this build."""
    env.book_glossary_is_read = GLOSSARY in added | changed  # type: ignore[attr-defined]
    return []


def pages_with_words(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that quote the glossary, which are written anew if it has changed."""
    if not getattr(env, "book_glossary_is_read", False):
        return []
    return [page for page, known in env.metadata.items() if "book_terms" in known]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__)
    app.connect("builder-inited", NOTES.forget)
    app.connect("doctree-read", note_words)
    app.connect("env-get-outdated", rewrite_with_the_glossary)
    app.connect("env-updated", pages_with_words)
    app.connect("doctree-resolved", mark_sentences)
    app.connect("html-page-context", add_notes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
