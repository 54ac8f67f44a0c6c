"""Show long code in part on a phone, where it pulls the text around it apart.

Each long cell has a box to tick below it. On a narrow window, ``narrow.css`` shows the first lines
of the cell until the box is ticked, with scripts or without; anywhere else, and on paper, the whole
cell is shown and the box is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WHOLE = 18
"""So many lines are shown on any window; ``narrow.css`` shows fewer of what is longer."""
FOLDED = {"tag_hide-input", "tag_hide-cell", "tag_remove-input", "tag_remove-cell"}
BOX = '<label class="all-lines"><input type="checkbox"> Show all {lines} lines</label>'


def add_boxes(_app: Sphinx, document: nodes.document) -> None:
    """Put a box below the code of each long cell that is not folded."""
    for cell in document.findall(nodes.container):
        if "cell" not in cell["classes"] or FOLDED & set(cell["classes"]):
            continue
        for part in cell.children:
            if "cell_input" not in part.get("classes", []):
                continue
            lines = part.astext().rstrip("\n").count("\n") + 1
            if lines > WHOLE:
                part += nodes.raw("", BOX.format(lines=lines), format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "env", __file__)
    app.connect("doctree-read", add_boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
