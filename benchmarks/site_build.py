"""How long the build of the book takes: from nothing, and after an edited paragraph.

A copy of the tree is built and edited, never the tree itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# what no build reads, and what would make it less than cold
LEFT_OUT = shutil.ignore_patterns(
    *("_build", ".git", ".venv*", ".lighthouse", "node_modules"),
    *("__pycache__", ".*_cache", ".hypothesis", ".ipynb_checkpoints"),
)
EDITED = ("02_variance", "05_divisor", "08_training")
PARAGRAPH = re.compile(r"[A-Z](?:[^`{}|$:\\\[\]*_<]|<!--.*?-->){80,}\.")
COLD_RUNS = 3
ADDED = "This sentence is here to be built."
CELLS = """
import sys
from pathlib import Path
from jupyter_cache import get_cache
from _ext.execution import start

cache = get_cache(sys.argv[1])
runs = start(dict.fromkeys(sorted(Path("chapters").glob("*.ipynb")), ""), cache, 600)
for path in runs:
    runs.keep(path, cache)
print(len(cache.list_cache_records()))
runs.stop()
"""
"""What runs all cells as a build does, and builds nothing."""


def timed(command: list[str], folder: Path, scratch: Path) -> tuple[float, str]:
    """Return how many seconds a command takes in a copy of the book, and what it prints.

    The environment is the one that runs this, as after its installation; what programs keep
    elsewhere between runs, like the list of fonts, is put into an empty folder.
    """
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "MPLCONFIGDIR": str(scratch / "matplotlib"),
        "XDG_CACHE_HOME": str(scratch / "cache"),
        "IPYTHONDIR": str(scratch / "ipython"),
    }
    started = time.perf_counter()
    run = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if run.returncode:
        raise RuntimeError(f"the book does not build:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return round(seconds, 1), run.stdout


def make_book(folder: Path, scratch: Path) -> float:
    """Return how many seconds ``make book`` takes in a folder."""
    stamp = f"{sys.prefix}/.site"
    return timed(["make", "-o", stamp, "book", f"VENV={sys.prefix}"], folder, scratch)[0]


def run_cells(folder: Path, scratch: Path) -> float:
    """Return how many seconds the cells of all notebooks take, with nothing built from them."""
    command = [sys.executable, "-c", CELLS, str(scratch / "outputs")]
    seconds, printed = timed(command, folder, scratch)
    kept, wanted = int(printed), len(list(folder.glob("chapters/*.ipynb")))
    if kept != wanted:
        raise RuntimeError(f"of {wanted} notebooks {kept} ran to their end")
    return seconds


def edit(notebook: Path) -> None:
    """Add a sentence to the first plain paragraph of a notebook."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        for place, line in enumerate(cell["source"]):
            if cell["cell_type"] == "markdown" and PARAGRAPH.fullmatch(line.rstrip("\n")):
                end = "\n" if line.endswith("\n") else ""
                cell["source"][place] = f"{line.rstrip()} {ADDED}{end}"
                text = json.dumps(content, indent=1, ensure_ascii=False)
                notebook.write_text(text + "\n", encoding="utf-8")
                return
    raise RuntimeError(f"no plain paragraph in {notebook.name}")


def build_times() -> dict[str, Any]:
    """Build copies of the book without any cache, and the last one after each of some edits.

    Beside them, what no build can go below: the cells alone, and a build that has nothing to do.
    """
    colds, edited = [], []
    with TemporaryDirectory() as name:
        for number in range(COLD_RUNS):
            scratch = Path(name).resolve() / str(number)
            folder = scratch / "book"
            shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
            colds.append(make_book(folder, scratch))
        cells = run_cells(folder, scratch)
        for chapter in EDITED:
            edit(folder / "chapters" / f"{chapter}.ipynb")
            edited.append(make_book(folder, scratch))
            page = folder / "_build" / "html" / "chapters" / f"{chapter}.html"
            if ADDED not in page.read_text(encoding="utf-8"):
                raise RuntimeError(f"an edit of {chapter} does not show")
        unchanged = make_book(folder, scratch)
    return {
        "cells": cells,
        "unchanged": unchanged,
        "cold": statistics.median(colds),
        "colds": colds,
        "edited": statistics.median(edited),
        "edits": edited,
    }
