"""What students' code asks for and the packages that mark have no more.

Nothing of a student's runs here: names are read from the source and looked up in NumPy and
Matplotlib, which are the same in the sandbox.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from functools import lru_cache
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGES = ("numpy", "matplotlib")
METHODS = ("itemset", "newbyteorder", "ptp", "tostring")
"""What arrays could do once; which of it they still can, the installed NumPy says."""
LONGEST = 100_000


def gone(source: str, sources: Iterable[str]) -> str:
    r"""Return a name of NumPy or Matplotlib that some code asks for and that is not there.

    The `sources` are those of all cells, whose imports say what names mean. It is nothing where
    all is there, or the code cannot be read.

    Examples
    --------
    >>> gone("def area(y):\n    return np.something(y) + np.sum(y)", ["import numpy as np"])
    'np.something'
    """
    tree = _parsed(source)
    known: dict[str, str] = {}
    for each in sources:
        if "import" in each:
            known |= _imports(each)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        path = ast.unparse(node) if _is_path(node) else ""
        first, _, rest = path.partition(".")
        if first in known and rest:
            if not _is_there(f"{known[first]}.{rest}"):
                return path
        elif node.attr in METHODS and not _is_there(f"numpy.ndarray.{node.attr}"):
            return node.attr
    return ""


def _parsed(source: str) -> ast.Module:
    """Return the tree of a cell, empty where it cannot be read."""
    lines = ("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("\n".join(lines)) if len(source) <= LONGEST else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


@lru_cache(maxsize=256)
def _imports(source: str) -> dict[str, str]:
    """Return which modules of the packages the names of a cell mean."""
    found = {}
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Import):
            for each in node.names:
                name = each.asname or each.name.partition(".")[0]
                found[name] = each.name if each.asname else name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return {name: path for name, path in found.items() if path.partition(".")[0] in PACKAGES}


def _is_path(node: ast.expr) -> bool:
    """Return whether an expression is names with dots between."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


@lru_cache(maxsize=1024)
def _is_there(path: str) -> bool:
    """Return whether a module of the packages, or something in it, has such a name.

    Nothing is imported but the packages themselves: a student chose the name.
    """
    first, *names = path.split(".")
    holder: Any = importlib.import_module(first)
    for name in names:
        if not isinstance(holder, (ModuleType, type)):
            return True  # what instances have, their class need not tell
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(holder, name):
                holder = getattr(holder, name)
                continue
        folders = getattr(holder, "__path__", None)
        if not isinstance(holder, ModuleType) or folders is None:
            return False
        return PathFinder.find_spec(f"{holder.__name__}.{name}", folders) is not None
    return True
