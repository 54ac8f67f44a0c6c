"""Formgrader in a course folder: what it needs there, and how it is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from grading.gradebook.database import database_url
from grading.private import write_private

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = "nbgrader_config.py"
EXTENSION = "grading.gradebook.by_hand"
WRITTEN = '''"""Settings of nbgrader for this course, which `make formgrader OUT=...` starts."""

from pathlib import Path

from nbconvert.filters import clean_html, markdown2html

c = get_config()
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.db_url = {address!r}
# nbgrader's own Autograde would run submissions with the rights of whoever clicks; it finds none
c.CourseDirectory.submitted_directory = "submitted-to-make-grade"
# where somebody starts jupyter lab in another way: what students wrote runs nothing there either
c.HTMLExporter.filters = {{"markdown2html": lambda source: clean_html(markdown2html(source))}}
'''


def write_course(out: Path, url: str, source: Path) -> Path:
    """Write what formgrader needs besides the database: its settings and the source notebook.

    The address may hold a password, so that nobody else may read the settings,
    ``nbgrader_config.py``, whose path is returned. From the copy of the source notebook come the
    model answers and schemes that are shown beside what students wrote.
    """
    address = database_url(url).render_as_string(hide_password=False)
    settings = out / SETTINGS
    write_private(settings, WRITTEN.format(address=address))
    copy = out / "source" / source.stem / source.name
    write_private(copy, source.read_text(encoding="utf-8"))
    return settings


def command(arguments: Sequence[str] = ()) -> list[str]:
    """Return the command that starts JupyterLab with formgrader, in the course folder.

    The superuser may start it, too, and where there is no browser the address is printed.
    """
    extension = f"--ServerApp.jpserver_extensions={EXTENSION}=True"
    entrance = "--LabApp.default_url=/formgrader/manage_assignments"
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [sys.executable, "-m", "jupyterlab", extension, entrance, *as_root, *arguments]


def environment() -> dict[str, str]:
    """Return the environment in which JupyterLab finds the grader from any folder."""
    known = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), known]))}


def start(out: Path, arguments: Sequence[str] = ()) -> None:
    """Start JupyterLab in a course folder, in place of this program.

    Raises ValueError if `make grade` has not filled the folder.
    """
    if not (out / SETTINGS).is_file():
        raise ValueError(f"OUT must be a folder that make grade has filled; got {out}")
    os.chdir(out)
    os.execve(sys.executable, command(arguments), environment())  # noqa: S606, no shell is wanted
