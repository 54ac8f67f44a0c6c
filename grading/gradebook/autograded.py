"""The notebook as it ran: formgrader shows it, and a student's page can be made from it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grading.reports.feedback import ShownCell
from grading.safe_text import safe_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grading.problem_set import ProblemSet

OURS = "grading"


def place(out: Path, student_id: str, assignment: str) -> Path:
    """Return where the notebook of a student is in a course folder.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> print(place(PurePosixPath("out"), "2024/17", "one"))
    out/autograded/2024%2F17/one/one.ipynb
    """
    return out / "autograded" / safe_name(student_id) / assignment / f"{assignment}.ipynb"


def notebook(
    problem_set: ProblemSet,
    shown: Sequence[ShownCell],
    notes: Sequence[str],
    identity: str = "",
) -> str:
    """Return the notebook as it ran, with nbgrader's metadata and without hidden checks.

    `notes` is what the student is told besides the marks, and `identity` from what the personal
    numbers came. JSON in nbformat's version 4.5.
    """
    pristine = {
        cell.metadata["nbgrader"]["grade_id"]: cell
        for cell in problem_set.released.cells
        if "nbgrader" in cell.metadata
    }
    cells = []
    for i, each in enumerate(shown):
        original = pristine.get(each.name or "")
        ours = {"role": each.role, "question": each.question, "name": each.name}
        ours["ran"] = each.outputs is not None
        cell: dict[str, Any] = {
            "cell_type": each.kind,
            "id": f"cell-{i}",
            "metadata": {**(original.metadata if original else {}), OURS: ours},
            "source": each.source,
        }
        if each.kind == "code":
            cell |= {"execution_count": None, "outputs": list(each.outputs or ())}
        elif each.pictures:
            # as what they are declared is of no weight: the page looks for itself
            pictures = each.pictures.items()
            cell["attachments"] = {name: {"image/png": data} for name, data in pictures}
        cells.append(cell)
    whole = {
        "cells": cells,
        "metadata": {
            **problem_set.released.metadata,
            OURS: {"notes": list(notes), "identity": identity},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, ensure_ascii=False)


def read(text: str) -> tuple[list[ShownCell], list[str]]:
    """Return the cells and the notes of such a notebook.

    formgrader does not change what `notebook` returned; a ValueError if it is anything else.
    """
    try:
        whole = json.loads(text)
        cells = [_cell(each) for each in whole["cells"]]
        return cells, whole["metadata"][OURS]["notes"]
    except (KeyError, TypeError) as missing:
        raise ValueError(f"this is no notebook that the grader wrote: {missing}") from None


def identity(text: str) -> str:
    """Return from what the personal numbers came; nothing of a notebook that is older than this."""
    return str(json.loads(text)["metadata"][OURS].get("identity", ""))


def _cell(cell: dict[str, Any]) -> ShownCell:
    """Return one cell as the student is shown it."""
    ours = cell["metadata"][OURS]
    return ShownCell(
        ours["name"],
        ours["role"],
        cell["cell_type"],
        cell["source"],
        cell.get("outputs", ()) if ours["ran"] else None,
        ours["question"],
        {name: kinds["image/png"] for name, kinds in cell.get("attachments", {}).items()},
    )
