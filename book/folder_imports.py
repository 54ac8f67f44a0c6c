"""Compare the imports between the folders with the picture in CONTRIBUTING.md."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from book import repository

ROOT = Path(__file__).resolve().parent.parent

# Two spaces end the list; what follows is said to the reader.
ARROW = re.compile(r"^(?P<folder>\w+) +→ (?P<imports>\w+(?: \w+)*)", re.MULTILINE)


def sources(path: Path) -> list[str]:
    """Return the code of a module, or of each cell of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [text]
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def imported(source: str) -> Iterator[str]:
    r"""Yield the top-level names that a piece of code imports, wherever it does.

    Examples
    --------
    >>> list(imported("import numpy as np, book.model\ndef f():\n    from tools import sizes"))
    ['numpy', 'book', 'tools']
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


@cache
def find_imports(root: Path = ROOT) -> set[tuple[str, str]]:
    """Return which folder imports which; notebooks beside the chapters count as chapters."""
    names = [
        name
        for name in repository.files(root, new=True)
        if name.endswith((".py", ".ipynb")) and not name.startswith("vendor/")
    ]
    folder_of = {name: name.split("/")[0] if "/" in name else "chapters" for name in names}
    folders = {folder_of[name] for name in names if name.endswith(".py")}
    return {
        (folder_of[name], other)
        for name in names
        for source in sources(root / name)
        for other in imported(source)
        if other in folders - {folder_of[name]}
    }


def read_picture(text: str) -> set[tuple[str, str]]:
    r"""Return the arrows of a picture.

    Examples
    --------
    >>> sorted(read_picture("a  → b c  words\nb  words"))
    [('a', 'b'), ('a', 'c')]
    """
    return {
        (arrow["folder"], other)
        for arrow in ARROW.finditer(text)
        for other in arrow["imports"].split()
    }


def differences(root: Path = ROOT) -> list[str]:
    """Name the imports that the picture lacks, and the arrows that stand for none."""
    imports = find_imports(root)
    picture = read_picture((root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    return [f"{a} imports {b}, which is not drawn" for a, b in sorted(imports - picture)] + [
        f"{a} → {b} is drawn and not imported" for a, b in sorted(picture - imports)
    ]
