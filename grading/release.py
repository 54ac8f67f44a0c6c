"""Makes what students get, and what a student's notebook looks like that somebody has worked on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat

from grading.problem_set import IDENTITY, SOURCE, ProblemSet, released

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TYPED = re.compile(r'^student_id = ""', re.MULTILINE)
MARKS = re.compile(r"^[ ]*### (BEGIN|END) SOLUTION\n?", re.MULTILINE)


def release(problem_set: ProblemSet, folder: Path) -> Path:
    """Write the notebook that students get.

    It is ``<folder>/<name>/<name>.ipynb``.
    """
    path = folder / problem_set.name / f"{problem_set.name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(problem_set.released) + "\n", encoding="utf-8")
    return path


def worked(
    problem_set: ProblemSet,
    student_id: str,
    answers: Mapping[str, str] | None = None,
    source: Path = SOURCE,
) -> bytes:
    """Return the notebook of somebody who solved everything, but for some answers.

    The worked example and the tests make their submissions with it. `answers` are
    the sources of cells by their names, in place of the solutions. The notebook is as a student
    would hand it in, not executed.
    """
    answers = answers or {}
    path = source / problem_set.name / f"{problem_set.name}.ipynb"
    origin = nbformat.read(path, as_version=4)
    solutions = {
        cell.metadata["nbgrader"]["grade_id"]: MARKS.sub("", cell.source)
        for cell in origin.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    # its texts as they are in the source: with what is filled in they differ between machines
    notebook = released(origin)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name == IDENTITY:
            cell.source = TYPED.sub(f"student_id = {student_id!r}", cell.source)
        elif name in solutions:
            cell.source = solutions[name]
        if name in answers:
            cell.source = answers[name]
    return nbformat.writes(notebook).encode()
