"""Write the notebooks for readers, which show what only Jupyter Book understands in plain Markdown.

    python tools/reader.py    writes notebooks/NAME.ipynb from chapters/NAME.ipynb

``make notebooks`` calls this, and so do ``make lab`` and Binder, and `book.reader_notebooks` makes
them. A notebook that a reader has worked in is never overwritten.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.addresses import configured, repository_address  # noqa: E402
from book.first_cells import FOLDER  # noqa: E402
from book.model import Book  # noqa: E402
from book.plain_markdown import PlainError  # noqa: E402
from book.reader_notebooks import notebooks, with_plots  # noqa: E402
from book.reader_session import ORIGINAL  # noqa: E402


def main(root: Path = ROOT) -> int:
    """Write the notebooks, and return the process's exit status."""
    try:
        book = Book(root)
        made = notebooks(book, repository_address(os.environ, configured(root)))
    except PlainError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    made = with_plots(book, made)
    (root / FOLDER / ORIGINAL).mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        path, original = root / FOLDER / name, root / FOLDER / ORIGINAL / name
        if not path.exists() or same_sources(path, original):
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {FOLDER}/{name}\n")
        else:
            sys.stdout.write(f"kept {FOLDER}/{name}, which you have worked in\n")
        original.write_text(text, encoding="utf-8")
    return 0


def same_sources(path: Path, original: Path) -> bool:
    """Say whether nobody has changed a source of a notebook since it was written."""
    if not original.exists():
        return False
    now, then = (nbformat.read(each, as_version=4) for each in (path, original))
    return [cell.source for cell in now.cells] == [cell.source for cell in then.cells]


if __name__ == "__main__":
    sys.exit(main())
