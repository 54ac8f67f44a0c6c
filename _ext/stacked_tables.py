"""Let tables of sentences stack on a phone.

Three columns of sentences do not fit beside each other on a narrow window. There each row of such a
table becomes a block, in which every value is below the name of its column; `narrow.css` does
that, with the names written here into attributes. It stays a table for those who hear it.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COLUMNS = range(3, 6)
"""Two columns fit on any window; with more than five a table is one of numbers, or far too wide."""
SENTENCE = 60
"""From so many characters on a cell is a sentence that would make its column high and narrow."""
_TABLE = re.compile(r'<table class="table">.*?</table>', re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<td\b[^>]*>(.*?)</td>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_ROW = re.compile(r"(?<=<tbody>).*(?=</tbody>)", re.DOTALL)


def words(markup: str) -> str:
    """Return the text of some markup on one line."""
    return " ".join(html.unescape(_TAG.sub("", markup)).split())


def stacked(table: str) -> str:
    """Return a table with what it needs to stack, or as it is if it has no need.

    One with formulas in the names of its columns stays as it is, since an attribute can hold none,
    and so does one with joined cells.

    Examples
    --------
    >>> stacked('<table class="table"><tr><td>1</td></tr></table>')
    '<table class="table"><tr><td>1</td></tr></table>'
    """
    heads, cells = _HEAD.findall(table), _CELL.findall(table)
    if (
        len(heads) not in COLUMNS
        or len(cells) % len(heads)
        or "span=" in table
        or any(mark in head for mark in ("<math", "visually-hidden") for head in heads)
        or not all(map(words, heads))
        or max((len(words(cell)) for cell in cells), default=0) < SENTENCE
    ):
        return table
    labels = [html.escape(words(head)) for head in heads]

    def labeled(rows: re.Match[str]) -> str:
        pieces = rows[0].split("<td")
        parts = [
            f'<td data-label="{labels[n % len(labels)]}"{piece}'
            for n, piece in enumerate(pieces[1:])
        ]
        return pieces[0] + "".join(parts)

    table = _ROW.sub(labeled, table)
    return table.replace('<table class="table">', '<table class="table stacked">', 1)


def stack(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Prepare the tables of a page."""
    if context.get("body"):
        context["body"] = _TABLE.sub(lambda table: stacked(table[0]), context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__)
    app.connect("html-page-context", stack)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
