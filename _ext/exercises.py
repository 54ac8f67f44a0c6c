"""What the exercises need beyond sphinx-exercise.

* Their numbers count from one.
* Each has an id of its own.
* The title of a solution opens it and does nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx_exercise.nodes import solution_node

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

SHARED_IDS = {"exercise-content", "solution-content"}
"""What sphinx-exercise calls the contents of every exercise and of every solution."""

FigureNumbers = dict[str, dict[str, dict[str, tuple[int, ...]]]]


def without_chapter(numbers: FigureNumbers) -> None:
    """Take the chapter's number out of the exercises' own, in place.

    Exercises stand in one chapter, so that "Exercise 3" says as much as "Exercise 11.3".

    Parameters
    ----------
    numbers : dict
        For each page and each kind of numbered thing, the numbers by id, as Sphinx keeps them.

    Examples
    --------
    >>> numbers = {"a": {"exercise": {"ex-x": (11, 3)}, "figure": {"fig-y": (11, 1)}}, "b": {}}
    >>> without_chapter(numbers)
    >>> numbers["a"]
    {'exercise': {'ex-x': (3,)}, 'figure': {'fig-y': (11, 1)}}
    """
    for kinds in numbers.values():
        exercises = kinds.get("exercise", {})
        exercises.update({label: number[-1:] for label, number in exercises.items()})


def number_exercises(app: Sphinx, _builder: Builder) -> None:
    """Shorten the numbers just before pages are written.

    What Sphinx remembers for the next build is saved by then and stays as it is, so that it does
    not take the numbers for changed and write the chapter anew each time.
    """
    without_chapter(app.env.toc_fignumbers)


def part_ids(_app: Sphinx, document: nodes.document) -> None:
    """Give the content of each exercise and solution an id of its own."""
    for section in document.findall(nodes.section):
        if SHARED_IDS.intersection(section["ids"]):
            section["ids"] = [f"{section.parent['label']}-content"]


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
    app.connect("doctree-resolved", unlink_titles)
    app.connect("write-started", number_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
