"""A class of thirteen with the names that people have, in the formats of Moodle and of Canvas."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest

from grading.course import Order
from grading.dry_run import dry_run
from grading.release import worked
from tests.grading.small_class import PROBLEM_SET, TINY

NAMES = (
    "Ada O'Example",
    "Ben D\N{RIGHT SINGLE QUOTATION MARK}Example",
    'Cy "Chip" Example',
    "Dee Example/Poe",
    "Eve Example-Poe",
    "Zoë Exämple",
    "Łukasz Example",
    "Ng",
    "Fay_Fay Example",
    "Gil de la Example",
    "An & Bo Example",
    "Ida Example: II",
    "Björk Guðmundsdóttir",
)
NUMBERS = [f"2026/{i:02}" for i in range(1, 14)]  # which no folder can be called
SETTINGS = """
timezone = "America/New_York"
[tiny]
due = 2026-11-20T23:59:00
penalty_per_day = 0.1
"""


def cleaned(name: str) -> str:
    """Return a name as Moodle writes it in a zip: ``clean_filename``, after spaces for ``_``."""
    return re.sub(r"[\x00-\x1f&<>\"`|':\\/]", "", name.replace("_", " "))


def table(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return "\ufeff" + text.getvalue()


def in_moodle() -> tuple[str, dict[str, str]]:
    """Return a worksheet in US English and the entries of a download, by student."""
    head = "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,"
    head += "Grade can be changed,Last modified (submission),Last modified (grade)"
    rows = [head.split(",")]
    entries = {}
    for i, (number, name) in enumerate(zip(NUMBERS, NAMES, strict=True)):
        late = "Saturday, November 21, 2026, 12:30 AM"
        time = late if i == 0 else "Friday, November 20, 2026, 9:05 PM"
        row = [f"Participant {700 + i}", name, number, f"s{i}@example.org", "Submitted for grading"]
        rows.append([*row, "", "20.00", "Yes", time, "-"])
        entries[number] = f"{cleaned(name)}_{700 + i}_assignsubmission_file/tiny.ipynb"
    return table(rows), entries


def in_canvas(*, sections: bool) -> tuple[str, dict[str, str]]:
    """Return an export of the gradebook and the entries of a download, by student."""
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "tiny (12)"]]
    rows += [
        ["", "", "", "", "", "Manual Posting", "", ""],
        ["    Points Possible", *[""] * 4, "20"],
    ]
    entries = {}
    for i, (number, name) in enumerate(zip(NUMBERS, NAMES, strict=True)):
        first, _, last = name.rpartition(" ")
        sortable = f"{last}, {first}" if first else last
        section = "Monday and Tuesday" if i % 2 else "Monday"
        rows.append([sortable, str(900 + i), number, f"s{i}@example.org", section, ""])
        called = re.sub(r"\W", "", sortable.casefold())
        late = "_LATE" if i == 0 else ""
        entries[number] = f"{called}{late}_{900 + i}_{5000 + i}_tiny.ipynb"
    rows.append(["Student, Test", "999", "", "0" * 40, "Monday", ""])
    if not sections:
        rows = [row[:4] + row[5:] for row in rows]
    return table(rows), entries


@pytest.mark.parametrize("platform", ["Moodle", "Canvas", "Canvas without sections"])
def test_everybody_is_found_and_the_late_one_is_late(platform: str, tmp_path: Path) -> None:
    made = in_moodle() if platform == "Moodle" else in_canvas(sections=platform == "Canvas")
    (tmp_path / "roster.csv").write_text(made[0], encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "Course-tiny-1.zip", "w") as archive:
        for number, entry in made[1].items():
            archive.writestr(entry, worked(PROBLEM_SET, number, {}, TINY))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "course.toml").write_text(SETTINGS, encoding="utf-8")
    order = Order(
        tmp_path / "Course-tiny-1.zip", tmp_path / "out", tmp_path / "roster.csv", source=TINY
    )
    said = dry_run(order)
    assert "      13 would be marked\n" in said
    assert all(f"       0 {what}" in said for what in ("would wait for you", "missing"))
    late = [line for line in said.splitlines() if " late" in line and line.startswith("  2026/")]
    assert [line.split(":")[0].strip() for line in late] == [NUMBERS[0]]
