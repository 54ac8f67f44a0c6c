"""Print how large the book is: what its readers see, what is folded away, and what is in git.

``make sizes`` calls this.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.model import Book, tags  # noqa: E402
from book.numbers import Notebook  # noqa: E402

FOLDED = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
WIDTH = 72


def lines_in_git(root: Path) -> Counter[str]:
    """Count the lines of the tracked texts by their top folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    count: Counter[str] = Counter()
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            count[name.split("/")[0] if "/" in name else "."] += (
                (root / name).read_bytes().count(b"\n")
            )
    return count


def cells(book: Book) -> dict[str, str]:
    """Measure the cells of code, those with solutions apart."""
    code = [
        (cell, cell.source.splitlines())
        for page in book.notebooks
        for cell in page.cells
        if cell.cell_type == "code" and "answer" not in tags(cell)
    ]
    folded = sum(len(lines) for cell, lines in code if tags(cell) & FOLDED)
    seen = [lines for cell, lines in code if not tags(cell) & FOLDED]
    wide = sum(len(line) > WIDTH for lines in seen for line in lines)
    tenths = quantiles([len(lines) for lines in seen], n=10)
    return {
        "cells that repeat sentences": str(sum("prose" in tags(cell) for cell, _ in code)),
        "lines of hidden or folded code": str(folded),
        "visible cells": str(len(seen)),
        "lines of a visible cell: median, 90 %, most": ", ".join(
            f"{size:.0f}" for size in (tenths[4], tenths[8], max(map(len, seen)))
        ),
        f"lines over {WIDTH} columns": f"{wide / sum(map(len, seen)):.0%}",
    }


def main(root: Path = ROOT) -> int:
    """Print the sizes."""
    book = Book(root)
    bound = [binding for page in book.notebooks for binding in Notebook(page.notebook).bindings]
    lines = lines_in_git(root)
    found = {
        **cells(book),
        "bindings of numbers": str(len(bound)),
        "minutes of reading, without exercises": str(sum(page.minutes for page in book.chapters)),
        "lines in git": f"{lines.total():,}",
        **{f"  {folder}": f"{count:,}" for folder, count in lines.most_common()},
    }
    for what, size in found.items():
        sys.stdout.write(f"{what:<46}{size:>12}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
