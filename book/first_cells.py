"""The first cells of a reader's notebook: what to do, and what fetches the book on Colab."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from book.addresses import installation

if TYPE_CHECKING:
    from book.model import Page

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "notebooks"
"""The folder of the notebooks for readers."""
PACKAGED = {"attnbook", "attnlib"}
"""The packages that come by installing."""
BRANCH = "colab"
"""The branch on which the publishing workflow puts the book with these notebooks."""
OPENING = """**Run all cells first** (JupyterLab: *Run, Run All Cells*; Colab: *Runtime, Run \
all*; VS Code: *Run All*). Then change a number in a cell and run it again: below the cell you \
read which numbers of the text no longer match. `notebook.changed()` lists them all, and \
`notebook.restore()` brings back this notebook."""
SETUP = """# @title Run this first: it fetches on Colab what the chapter computes with
REPOSITORY = "{repository}"  # @param {{type:"string"}}

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if "google.colab" in sys.modules:
    from google.colab import output

    copy = Path("/content/book")
    if not copy.exists():
        if not REPOSITORY:
            raise ValueError("REPOSITORY above is empty: put the book's address on GitHub there")
        clone = ["git", "clone", "--quiet", "--depth=1", "--branch={branch}", REPOSITORY, copy]
        if subprocess.run(clone).returncode:
            raise ValueError(
                f"REPOSITORY above is {{REPOSITORY}}: no book with a branch {branch} is there"
            )
    if importlib.util.find_spec("attnlib") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "anywidget"], check=True)
        subprocess.run([*install, "--no-deps", copy], check=True)
        importlib.invalidate_caches()
    os.chdir(copy / "{folder}")
    output.enable_custom_widget_manager()  # for figures that move
elif importlib.util.find_spec("attnlib") is None:
    raise ModuleNotFoundError({missing!r})
sys.path.insert(0, os.pardir)
{needed}try:
    from book.reader_session import follow
except ModuleNotFoundError:
    print("The numbers of the text are not compared: this takes a copy of the book's repository.")
else:
    notebook = follow("{name}")"""
NEEDED = """if importlib.util.find_spec("{module}") is None:
    raise ModuleNotFoundError(
        "This page reads what only a copy of the book's repository has, the folder {module}: "
        "clone it{where}, run `make lab` there, and open {folder}/{name}.ipynb."
    )
"""


def first_cell(page: Page, repository: str) -> str:
    """Return the cell that fetches what the others take, or says how to get it."""
    where = "" if repository else " in a copy of the book's repository"
    place = {"folder": FOLDER, "name": page.stem}
    cloned = f" from {repository}" if repository else ""
    return SETUP.format(
        repository=repository,
        branch=BRANCH,
        missing=f"attnlib is not installed here. Run{where}: {installation(repository)}",
        needed="".join(
            NEEDED.format(module=name, where=cloned, **place) for name in unpackaged(page)
        ),
        **place,
    )


def unpackaged(page: Page) -> list[str]:
    """List the packages of the repository that a page imports and `attnlib` does not bring."""
    trees = [ast.parse(cell.source) for cell in page.cells if cell.cell_type == "code"]
    imports = [node for tree in trees for node in ast.walk(tree)]
    names = {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    names |= {a.name for node in imports if isinstance(node, ast.Import) for a in node.names}
    roots = {str(name).partition(".")[0] for name in names} - PACKAGED
    return sorted(root for root in roots if (ROOT / root / "__init__.py").is_file())
