"""Print how large the book is: its program and tests by folder, its cells, and its imports.

``make sizes`` calls this.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import quantiles

from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book import folder_imports, repository  # noqa: E402
from book.markdown import walk  # noqa: E402
from book.model import UNSEEN, Book, shown_code, tags  # noqa: E402
from book.numbers import Notebook  # noqa: E402

PROGRAM = {".css", ".js", ".mk", ".py", ".sh"}
WIDTH = 72
MOST_OF_ATTNLIB = 4000
INCLUDED = {"chapters/changelog", "chapters/grading"}
"""Pages that show a file from outside the book."""


def part_of(name: str) -> tuple[str, str]:
    """Return the folder that a file belongs to, and whether it is program, test or something else.

    Examples
    --------
    >>> part_of("book/model.py"), part_of("tests/book/test_model.py"), part_of("data/runs.json")
    (('book', 'program'), ('book', 'tests'), ('data', 'other'))
    """
    first, *rest = name.split("/")
    is_program = Path(name).suffix in PROGRAM or Path(name).name == "Makefile"
    if first == "tests":
        return rest[0] if len(rest) > 1 else ".", "tests"
    return first if rest else ".", "program" if is_program else "other"


def lines_in_git(root: Path) -> Counter[tuple[str, str]]:
    """Count the lines of the files in git by folder and by what they are."""
    count: Counter[tuple[str, str]] = Counter()
    for name in repository.files(root):
        count[part_of(name)] += (root / name).read_bytes().count(b"\n")
    return count


def folder_table(count: Counter[tuple[str, str]]) -> str:
    """Return a line for each folder, the largest program first, and their sum."""
    kinds = ("program", "tests", "other")
    folders = sorted({folder for folder, _ in count}, key=lambda name: -count[name, "program"])
    rows = [(folder, *(count[folder, kind] for kind in kinds)) for folder in folders]
    rows.append(("all", *(sum(row[place] for row in rows) for place in (1, 2, 3))))
    head = f"{'lines in git':<28}" + "".join(f"{kind:>10}" for kind in kinds)
    return "\n".join([head, *(f"{name:<28}{a:>10,}{b:>10,}{c:>10,}" for name, a, b, c in rows)])


def cells(book: Book) -> dict[str, str]:
    """Measure the cells of code, those with solutions apart."""
    code = [
        (cell, cell.source.splitlines())
        for page in book.notebooks
        for cell in page.cells
        if cell.cell_type == "code" and "answer" not in tags(cell)
    ]
    folded = sum(len(lines) for cell, lines in code if tags(cell) & UNSEEN)
    seen = [cell.source.splitlines() for page in book.notebooks for cell in shown_code(page.cells)]
    wide = sum(len(line) > WIDTH for lines in seen for line in lines)
    tenths = quantiles([len(lines) for lines in seen], n=10)
    return {
        "lines of hidden or folded code": str(folded),
        "visible cells": str(len(seen)),
        "lines of a visible cell: median, 90 %, most": ", ".join(
            f"{size:.0f}" for size in (tenths[4], tenths[8], max(map(len, seen)))
        ),
        f"lines over {WIDTH} columns": f"{wide / sum(map(len, seen)):.0%}",
    }


def words(book: Book) -> dict[str, str]:
    """Count the words that are read, without formulas, and the minutes of chapters with a core."""

    def count(cells: Iterable[NotebookNode]) -> int:
        texts = (cell.source for cell in cells if cell.cell_type == "markdown")
        pieces = (piece for text in texts for piece in walk(text) if piece.kind == "words")
        return sum(len(piece.text.split()) for piece in pieces)

    with_core = [page for page in book.chapters if page.core_minutes < page.minutes]
    own = [page for page in book.pages if page.name not in INCLUDED]
    minutes = (
        sum(getattr(page, what) for page in with_core) for what in ("core_minutes", "minutes")
    )
    return {
        "words: cores, all pages": ", ".join(
            f"{sum(map(count, cells)):,}"
            for cells in ([page.core() for page in with_core], [page.cells for page in own])
        ),
        "minutes of reading: cores, with deeper": ", ".join(map(str, minutes)),
    }


def main(root: Path = ROOT) -> int:
    """Print the sizes; return 1 if a folder imports what it may not."""
    book = Book(root)
    count = lines_in_git(root)
    bound = [binding for page in book.notebooks for binding in Notebook(page.notebook).bindings]
    found = {
        "attnlib, of at most": f"{count['attnlib', 'program']:,} of {MOST_OF_ATTNLIB:,}",
        **cells(book),
        "bindings of numbers": str(len(bound)),
        **words(book),
    }
    sys.stdout.write(f"{folder_table(count)}\n\n")
    sys.stdout.writelines(f"{what:<44}{size:>14}\n" for what, size in found.items())
    wrong = folder_imports.differences(root)
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(
        f"imports between folders: {'not ' if wrong else ''}as CONTRIBUTING.md has it\n"
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
