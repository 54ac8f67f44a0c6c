"""Which state of the code, the data and the pinned versions the outputs of a notebook belong to."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from pathlib import Path

from book.sources import Imports, read

PINS = "requirements.txt"
NO_DATA = {".py", ".pyc", ".js", ".css"}
"""Code; that of figures the site takes from its files, and not from outputs."""
SHOWS_SOURCE = {"getsource", "getsourcelines"}


def dependencies(path: Path, imports: Imports) -> dict[str, str]:
    """Return what a notebook's outputs depend on beside its cells, each file with a digest.

    Of a module its syntax tree counts. If the notebook reaches code that shows sources, comments
    and layout count as well; docstrings are left out of what it shows.
    """
    name, root = str(path.resolve()), imports.root
    modules = {one: read(root / one, root) for one in imports.closure([name]) - {name}}
    codes = [read(path, root), *modules.values()]
    shows_source = any(SHOWS_SOURCE & code.names for code in codes)
    found = {one: code.text if shows_source else code.tree for one, code in modules.items()}
    strings = {PINS, *(string for code in codes for string in code.strings)}
    for file in _named(strings, {one.split("/")[0] for one in modules}, root):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        found[file.relative_to(root).as_posix()] = content[:16]
    return found


def _named(strings: Iterable[str], packages: Iterable[str], root: Path) -> list[Path]:
    """Return the data files whose names strings are or end with, as paths do."""
    names = {string.rpartition("/")[2] for string in strings}
    inside = (file for folder in ("data", *packages) for file in (root / folder).rglob("*"))
    there = (file for file in (*root.iterdir(), *inside) if file.name in names)
    return [file for file in there if file.suffix not in NO_DATA and file.is_file()]


def notebook_digests(paths: Iterable[Path], root: Path) -> dict[Path, str]:
    """Return of each notebook sixteen digits of all that its outputs depend on beside its cells."""
    imports = Imports(root)
    found = {}
    for path in paths:
        state = platform.python_version(), sorted(dependencies(path, imports).items())
        found[path] = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    return found
