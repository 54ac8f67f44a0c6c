"""Write the review questions of all chapters into one file that Anki imports.

Below the questions of each chapter is a link to it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from _ext.rebuild import rebuild_when_changed
from book.files import atomic_write
from book.model import Book, book_in
from book.plain_markdown import MATH, Plain

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

DECK = "_static/review-questions.txt"
NOTE = '<p class="recall-note"><a href="{deck}" download>All review questions for Anki</a></p>'


def field(text: str) -> str:
    r"""Return a plain Markdown text as a field of Anki.

    Examples
    --------
    >>> field("Is $x < 1$?\nYes & no.")
    'Is \\(x &lt; 1\\)?<br>Yes &amp; no.'
    """
    formulas = MATH.sub(lambda formula: rf"\({formula[0].strip('$').strip()}\)", text.strip())
    return re.sub(r"\s*\n\s*", "<br>", html.escape(formulas, quote=False))


def deck(book: Book) -> str:
    """Return the review questions of all chapters as Anki imports them."""
    plain = Plain(book)
    rows = [
        (*(field(plain.text(part)) for part in question), page.topic)
        for page in book.chapters
        for question in page.recall
    ]
    head = ["#separator:tab", "#html:true", "#tags column:3"]
    return "\n".join([*head, *("\t".join(row) for row in rows), ""])


def write_deck(app: Sphinx, builder: Builder) -> None:
    """Write the questions beside the scripts of the site."""
    if builder.format == "html":
        atomic_write(Path(builder.outdir) / DECK, deck(book_in(Path(app.srcdir))))


def add_note(_app: Sphinx, document: nodes.document, page: str) -> None:
    """Link the file below the review questions."""
    for section in document.findall(nodes.section):
        if "recall" in section["ids"]:
            note = NOTE.format(deck="../" * page.count("/") + DECK)
            section += nodes.raw("", note, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__)
    app.connect("doctree-resolved", add_note)
    app.connect("write-started", write_deck)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
