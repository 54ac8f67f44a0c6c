"""What the exercises need beyond sphinx-exercise.

* Each has an id of its own.
* The title of a solution opens it and does nothing else.
* The lines between which a stub leaves room for the reader are not shown.
* Each says where it can be worked on: on the page, in Python, in a notebook, on paper.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx_exercise.nodes import is_exercise_enumerable_node, solution_node

from _ext.rebuild import rebuild_when_changed
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Number, Pick

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx

SHARED_IDS = {"exercise-content", "solution-content"}
"""What sphinx-exercise calls the contents of every exercise and of every solution."""
MARKS = {"### BEGIN SOLUTION", "### END SOLUTION"}
"""Lines between which a notebook for readers leaves their own code."""
TO_RUN = re.compile(
    r"\b(?:Draw|[Mm]easure|Plot|Tune|[Rr]un each|numerical|random rows|central differences"
    r"|Write a test|without random numbers)\b"
)
"""What a task says where it takes code, whatever of it the check looks at."""
TO_ARGUE = re.compile(
    r"\b(?:Prove|Derive|Show that|Conclude|On paper|and why|Say why|your argument)\b"
)
"""What a task says where it takes an argument, which no check reads."""


def part_ids(_app: Sphinx, document: nodes.document) -> None:
    """Give the content of each exercise and solution an id of its own."""
    for section in document.findall(nodes.section):
        if SHARED_IDS.intersection(section["ids"]):
            section["ids"] = [f"{section.parent['label']}-content"]


def without_marks(code: str) -> str:
    r"""Return code without the lines that mark a solution.

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


def places(name: str, tasks: Iterable[str]) -> dict[str, list[str]]:
    """Say where the parts of an exercise can be done, given the words of its points.

    A place without anything is left out. Names of what Python checks are between backticks.

    Examples
    --------
    >>> places("divide-later", ["Prove it.", "Write it."])["in Python"]
    ['`divide_later`']
    """
    parts = exercises()[name].parts
    asked = sum(isinstance(judge, Number | Pick) for judge in parts.values())
    coded = [f"`{part}`" for part, judge in parts.items() if not isinstance(judge, Number | Pick)]
    words = "\n".join(tasks)
    found = {
        "on this page": [f"{asked} answer{'s' if asked > 1 else ''}"] if asked else [],
        "in Python": coded,
        "in a notebook": ["something to run"] if TO_RUN.search(words) else [],
        "on paper": ["an argument"] if TO_ARGUE.search(words) else [],
    }
    return {place: done for place, done in found.items() if done}


def mark_places(_app: Sphinx, document: nodes.document) -> None:
    """Say below the first line of each exercise where its parts can be done."""
    for box in document.findall(is_exercise_enumerable_node):
        name = box.get("label", "").removeprefix("ex-")
        content = next(iter(box.findall(nodes.section)), None)
        if name not in exercises() or content is None:
            continue
        tasks = [item.astext() for item in content.findall(nodes.list_item)]
        line = nodes.paragraph(classes=["places"])
        for place, done in places(name, tasks).items():
            line += [
                nodes.Text(" " * bool(line.children)),
                nodes.strong("", place[0].upper() + place[1:]),
            ]
            for n, one in enumerate(done):
                code = one.startswith("`")
                line += nodes.Text(", " if n else ": ")
                line += nodes.literal("", one.strip("`")) if code else nodes.Text(one)
            line += nodes.Text(".")
        content.insert(1, line)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "env", __file__)
    app.connect("doctree-read", part_ids)
    app.connect("doctree-read", mark_places)
    app.connect("doctree-read", hide_marks)
    app.connect("doctree-resolved", unlink_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
