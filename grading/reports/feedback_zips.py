"""The pages for students in the zips that Canvas and Moodle take back.

Canvas (*Upload submissions*, ``infer_comment_context_from_filename`` in the assignment's model of
canvas-lms) wants the names of its download, finds the student and the attachment by the two numbers
in them, and shows what it gets under the name of that attachment, which is a notebook. So the page
is put into one.

Moodle (*Upload multiple feedback files in a zip*, ``mod/assign/feedback/file/importziplib.php`` of
moodle) wants ``<full name>_<participant>_<type>_<plugin>_<file name>`` and reads the number.
"""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output

from grading.intake.collection import CANVAS, MOODLE
from grading.reports.tables import not_final
from grading.safe_text import as_moodle, safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grading.intake.roster import Roster
    from grading.late import Receipt
    from grading.results import Result


def write_zips(
    out: Path,
    results: Iterable[Result],
    roster: Roster,
    receipts: Mapping[str, Receipt],
) -> list[str]:
    """Write the final pages of one problem set, and return the zips and who is in none, and why.

    The results are those of one problem set, one for each student. Which platforms get a zip
    follows from where the notebooks came from, or whose table the roster is.
    """
    results = list(results)
    name = results[0].assignment
    moodle = any(MOODLE.match(each.origin) for each in receipts.values())
    moodle = moodle or (roster.sheet is not None and roster.sheet.platform == "Moodle")
    entries: dict[str, dict[str, str]] = {"canvas": {}, "moodle": {}}
    left = []
    for result in results:
        student = result.student.student_id
        path = out / "feedback" / safe_name(student) / f"{name}.html"
        why = "" if result.status == "invalid" else not_final(result)
        if why := why or ("" if path.exists() else "there is no page"):
            left.append(f"{student}: {why}")
            continue
        page = path.read_text(encoding="utf-8")
        origin = receipts[student].origin if student in receipts else ""
        if moodle:
            if number := _participant(roster, student):
                full_name = as_moodle(result.student.name)
                called = f"{full_name}_{number}_assignfeedback_file_{name}.html"
                entries["moodle"][called] = page
            else:
                left.append(f"{student}: the roster has no participant number of Moodle")
        elif CANVAS.search(origin) and not origin.endswith(".ipynb"):
            left.append(f"{student}: Canvas would call the page what came, which is no notebook")
        elif CANVAS.search(origin):
            entries["canvas"][origin] = as_notebook(page)
        elif not result.shared_by:  # Canvas shows a group's comment to all of it
            left.append(f"{student}: no platform says what to call the file")
    written = []
    for platform, files in entries.items():
        path = out / f"feedback-{platform}-{name}.zip"
        path.unlink(missing_ok=True)
        if files:
            _write(path, files)
            written.append(str(path))
    return written + left


def as_notebook(page: str) -> str:
    """Return a notebook that shows a page as the output of its one cell.

    Examples
    --------
    >>> "<p>3 points</p>" in as_notebook("<p>3 points</p>")
    True
    """
    output = new_output("display_data", {"text/html": page})
    return nbformat.writes(new_notebook(cells=[new_code_cell(outputs=[output])]))


def _participant(roster: Roster, student_id: str) -> str:
    """Return Moodle's number of a student, or nothing."""
    student = roster.by_id(student_id)
    found = re.search(r"[0-9]+$", student.lms_id) if student else None
    return found[0] if found else ""


def _write(path: Path, files: Mapping[str, str]) -> None:
    """Write a zip, whole or not at all."""
    unfinished = path.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    unfinished.chmod(0o600)
    unfinished.replace(path)
