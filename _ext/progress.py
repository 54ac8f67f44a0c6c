"""Let readers keep track of the exercises they have solved, in their own browser.

* One script, loaded by every page, knows which page holds which exercises. It puts a list at each
  exercise and a count at each chapter of the table of contents.
* Below the exercises of a page is a line with how many are solved and a button that forgets it all.

Nothing is sent anywhere, and without scripts nothing of it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from _ext.rebuild import rebuild_when_changed
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

SCRIPT = "exercises.js"
NOTE = """<div class="progress-note pst-js-only">
<p>Solved here: <output aria-label="Solved here">0</output> of {count}. What you have tried, \
solved or skipped is kept in this browser and sent nowhere.</p>
<details><summary>Clear my progress</summary>
<p>This forgets it for all exercises of the book. <button type="button">Clear it all</button></p>
</details></div>"""


def exercises_by_page(registry: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the labels of each page's exercises, in their order, from sphinx-exercise's registry.

    Examples
    --------
    >>> known = {"ex-b": {"type": "exercise", "docname": "two"},
    ...          "so-b": {"type": "solution", "docname": "two"},
    ...          "ex-a": {"type": "exercise", "docname": "one"}}
    >>> exercises_by_page(known)
    {'one': ['ex-a'], 'two': ['ex-b']}
    """
    labels: dict[str, list[str]] = {}
    for label, entry in registry.items():
        if entry["type"] == "exercise":
            labels.setdefault(entry["docname"], []).append(label)
    return dict(sorted(labels.items()))


def write_exercises(app: Sphinx, builder: Builder) -> None:
    """Write down which page has which exercises, for the script of every page."""
    if builder.format == "html":
        pages = exercises_by_page(getattr(app.env, "sphinx_exercise_registry", {}))
        known = f"const PAGES = {json.dumps(pages)};\n"
        atomic_write(Path(builder.outdir) / "_static" / SCRIPT, known)


def sections_around(node: nodes.Node) -> list[nodes.section]:
    """Return the sections around a node, from the outermost on."""
    sections = []
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.section):
            sections.insert(0, node)
    return sections


def add_note(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Say below the exercises of a page how many are solved."""
    exercises = [
        node
        for kind in (exercise_node, exercise_enumerable_node)
        for node in document.findall(kind)
    ]
    if not exercises:
        return
    levels = zip(*(sections_around(node) for node in exercises), strict=False)
    shared = [first for first, *others in levels if all(other is first for other in others)]
    note = nodes.raw("", NOTE.format(count=len(exercises)), format="html")
    (shared[-1] if shared else document).append(note)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    rebuild_when_changed(app, "html", __file__)
    app.connect("doctree-resolved", add_note)
    app.connect("write-started", write_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
