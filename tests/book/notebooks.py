"""The book's notebooks, and small ones made in memory to prove that a check can fail."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import v4

from book.markdown import walk
from book.model import Book, Page

ROOT = Path(__file__).resolve().parents[2]


BOOK = Book(ROOT)
PAGES = [page.name for page in BOOK.pages]

# Numbered chapters keep a common frame; the back matter's notebooks keep the rules of every page.
CHAPTERS = [f"{page.name}.ipynb" for page in BOOK.chapters]
NOTEBOOKS = [f"{page.name}.ipynb" for page in BOOK.notebooks]

WITHOUT_PLAIN_FORM = (
    *("{unknown}`x`", "{eq}`eq-missing`", "{doc}`04_missing`", "{cite}`missing`"),
    *("::::{note}\nx\n::::", "```{math}\nx\n```", "% a comment"),
)
"""What no notebook for readers can show."""
OTHER_KERNEL = {"OPENBLAS_CORETYPE": "Haswell"}
"""What makes OpenBLAS add up in another order than it would on a newer processor."""


def read(name: str) -> nbformat.NotebookNode:
    """Read one of the book's notebooks, given by its path from the root."""
    return nbformat.read(ROOT / name, as_version=4)


def text_of(content: nbformat.NotebookNode | Page) -> str:
    return "\n\n".join(cell.source for cell in content.cells if cell.cell_type == "markdown")


def shown_as(content: nbformat.NotebookNode, kind: str) -> list[str]:
    """Return what the outputs of a notebook's cells show as one kind, such as "text/html"."""
    outputs = (output for cell in content.cells for output in cell.get("outputs", []))
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def write_contents(root: Path, *chapters: str, pages: Sequence[str] = ()) -> None:
    """Write the table of contents of a small book, and its landing page if it has none."""
    parts = [
        {"caption": "The chapters", "numbered": True, "chapters": chapters},
        {"caption": "The rest", "chapters": pages},
    ]
    listed = [
        part | {"chapters": [{"file": f"chapters/{name}"} for name in part["chapters"]]}
        for part in parts
    ]
    toc = {"format": "jb-book", "root": "index", "parts": listed}
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    if not (root / "index.ipynb").exists():
        (root / "index.md").write_text("# A small book\n", encoding="utf-8")


def write_book(
    root: Path, chapters: Mapping[str, nbformat.NotebookNode], pages: Sequence[str] = ()
) -> None:
    """Write the chapters of a small book, and its table of contents."""
    (root / "chapters").mkdir()
    for name, content in chapters.items():
        nbformat.write(content, root / "chapters" / f"{name}.ipynb")
    write_contents(root, *chapters, pages=pages)


def printed(text: str) -> nbformat.NotebookNode:
    return v4.new_output("stream", name="stdout", text=text)


def code(
    source: str,
    outputs: Sequence[nbformat.NotebookNode] = (),
    *,
    tags: Sequence[str] = (),
    **mystnb: Any,
) -> nbformat.NotebookNode:
    metadata = {"tags": list(tags), "mystnb": mystnb}
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def notebook(
    *cells: nbformat.NotebookNode | str, description: str = "A page."
) -> nbformat.NotebookNode:
    """Make an executed notebook; a string stands for a Markdown cell."""
    made = [
        v4.new_markdown_cell(cell) if isinstance(cell, str) else copy.deepcopy(cell)
        for cell in cells
    ]
    count = 0
    for number, cell in enumerate(made):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "myst": {"html_meta": {"description": description}},
    }
    return v4.new_notebook(cells=made, metadata=metadata)


def visible_words(text: str) -> str:
    """Return a text of the same length in which only the words that a reader sees are left."""
    letters = [letter if letter == "\n" else " " for letter in text]
    for piece in walk(text):
        if piece.kind == "words":
            for place, letter in zip(piece.places, piece.text, strict=True):
                letters[place] = letter
    return "".join(letters)
