"""What the exercises need beyond sphinx-exercise.

* Each has an id of its own.
* The title of a solution opens it and does nothing else.
* The lines that mark a solution for the practice notebooks are not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx_exercise.nodes import solution_node

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SHARED_IDS = {"exercise-content", "solution-content"}
"""What sphinx-exercise calls the contents of every exercise and of every solution."""
MARKS = {"### BEGIN SOLUTION", "### END SOLUTION"}
"""Lines between which a practice notebook leaves the reader's own code."""


def part_ids(_app: Sphinx, document: nodes.document) -> None:
    """Give the content of each exercise and solution an id of its own."""
    for section in document.findall(nodes.section):
        if SHARED_IDS.intersection(section["ids"]):
            section["ids"] = [f"{section.parent['label']}-content"]


def without_marks(code: str) -> str:
    r"""Return code without the lines that mark a solution.

    Parameters
    ----------
    code : str
        The source of a cell.

    Examples
    --------
    >>> without_marks("n = 3\n### BEGIN SOLUTION\nm = n + 1\n### END SOLUTION\ncheck(m)")
    'n = 3\nm = n + 1\ncheck(m)'
    """
    return "\n".join(line for line in code.split("\n") if line.strip() not in MARKS)


def hide_marks(_app: Sphinx, document: nodes.document) -> None:
    """Take the lines that mark a solution out of the code of cells."""
    for cell in document.findall(nodes.container):
        if "cell_input" not in cell["classes"]:
            continue
        for block in cell.findall(nodes.literal_block):
            code = without_marks(block.astext())
            if code != block.astext():
                block.rawsource = code  # or it is taken for text that is not to be highlighted
                block.children = []
                block += nodes.Text(code)


def unlink_titles(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Take the link out of the title of a solution: a click there has to open it."""
    for solution in document.findall(solution_node):
        title = solution[0]
        words = title.astext()
        title.clear()
        title += nodes.Text(words)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("doctree-read", part_ids)
    app.connect("doctree-read", hide_marks)
    app.connect("doctree-resolved", unlink_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
