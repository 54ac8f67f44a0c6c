"""Fold what answers a question until the reader has made a prediction.

Behind a box "Predict first" the outputs of the next cells, and the paragraph that speaks about
them with the tables around it, are put into one fold, which a tap opens, with scripts or without.
The script of the form below the box opens the fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

CLOSED = "What came out — answer first, then open it"
UNSEEN = {"tag_hide-input", "tag_remove-input"}


class Answering(nodes.General, nodes.Element):
    """What answers a question."""


def begin_fold(writer: HTML5Translator, node: Answering) -> None:
    """Write the beginning of a fold."""
    writer.body.append(writer.starttag(node, "details", CLASS="answering"))
    writer.body.append(f"<summary>{CLOSED}</summary>\n")


def end_fold(writer: HTML5Translator, _node: Answering) -> None:
    """Write its end."""
    writer.body.append("</details>\n")


def is_cell(node: nodes.Node | None) -> bool:
    """Say whether a node is a cell of a notebook."""
    return isinstance(node, nodes.container) and "cell" in node["classes"]


def behind(node: nodes.Node) -> Iterator[nodes.Node]:
    """Give what follows a node in its section."""
    siblings = node.parent.children
    yield from siblings[siblings.index(node) + 1 :]


def fold(box: nodes.Element) -> None:
    """Put what answers a box's question into folds, one for each run of outputs."""
    following = list(behind(box))
    if following and is_cell(following[0]) and "tag_predict" in following[0]["classes"]:
        following.pop(0)
    current: Answering | None = None
    while following and is_cell(following[0]):
        cell = following.pop(0)
        if current is not None and UNSEEN & set(cell["classes"]):
            cell.parent.remove(cell)
            current += cell
            continue
        outputs = [part for part in cell.children if "cell_output" in part.get("classes", [])]
        if not outputs:
            continue
        current = Answering()
        shown = cell.copy()
        shown["ids"], shown["names"] = [], []
        for part in outputs:
            cell.remove(part)
            shown += part
        current += shown
        cell.parent.insert(cell.parent.index(cell) + 1, current)
    if current is None:
        return
    # the first words about it tell the answer as well, and so do the tables on either side of them
    takes_tables(current, following)
    if following and isinstance(following[0], nodes.paragraph):
        current += detach(following.pop(0))
        takes_tables(current, following)


def takes_tables(answering: Answering, following: list[nodes.Node]) -> None:
    """Move the tables that come next into a fold."""
    while following and isinstance(following[0], nodes.table):
        answering += detach(following.pop(0))


def detach(node: nodes.Element) -> nodes.Element:
    """Take a node out of its place."""
    node.parent.remove(node)
    return node


def prepare(_app: Sphinx, document: nodes.document) -> None:
    """Fold behind every prediction."""
    for box in list(document.findall(nodes.admonition)):
        if "predict" in box["classes"]:
            fold(box)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_node(Answering, html=(begin_fold, end_fold))
    rebuild_when_changed(app, "env", __file__)
    app.connect("doctree-read", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
