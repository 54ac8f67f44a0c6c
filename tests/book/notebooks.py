"""The book's notebooks, and small ones made in memory to prove that a check can fail."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import v4

ROOT = Path(__file__).resolve().parents[2]


def toc_pages(toc: dict[str, Any]) -> list[str]:
    """List the pages of a table of contents, the root page first."""
    sections = [*toc.get("chapters", []), *toc.get("parts", []), *toc.get("sections", [])]
    own = [toc[key] for key in ("root", "file") if key in toc]
    return own + [page for section in sections for page in toc_pages(section)]


PAGES = toc_pages(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))

# Numbered chapters keep a common frame; the back matter's notebooks keep the rules of every page.
CHAPTERS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("chapters/[0-9]*.ipynb"))
NOTEBOOKS = [
    "index.ipynb",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("chapters/*.ipynb")),
]

OTHER_KERNEL = {"OPENBLAS_CORETYPE": "Haswell"}
"""What makes OpenBLAS add up in another order than it would on a newer processor."""


def read(name: str) -> nbformat.NotebookNode:
    """Read one of the book's notebooks, given by its path from the root."""
    return nbformat.read(ROOT / name, as_version=4)


def printed(text: str) -> nbformat.NotebookNode:
    """Make the output of a cell that printed `text`."""
    return v4.new_output("stream", name="stdout", text=text)


def code(
    source: str,
    outputs: Sequence[nbformat.NotebookNode] = (),
    *,
    tags: Sequence[str] = (),
    **mystnb: Any,
) -> nbformat.NotebookNode:
    """Make a code cell."""
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
