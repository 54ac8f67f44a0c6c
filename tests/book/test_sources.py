"""What code depends on is found in its imports, however it imports, and read without its words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from book.sources import closure, imported_modules, tree_digest
from tests.book.notebooks import ROOT, code, notebook

FILES = {
    "lib/__init__.py": """from lib._tools import note
from lib.a import f
from lib.b import g

note()""",
    "lib/_tools.py": "def note(): ...",
    "lib/a.py": "import math\nfrom ._shared import one\n\ndef f():\n    return one",
    "lib/b.py": "def g():\n    from lib import _late\n    return _late.TWO",
    "lib/_shared.py": "one = 1",
    "lib/_late.py": "TWO = 2",
    "lib/sub/__init__.py": "from .c import c\nfrom ..b import g",
    "lib/sub/c.py": "c = 3",
    "lib/sub/d.py": "import lib.a as part",
    "loose/e.py": "E = 4",
}
INIT, TOOLS, A, B = "lib/__init__.py", "lib/_tools.py", "lib/a.py", "lib/b.py"
SUB, C, D = "lib/sub/__init__.py", "lib/sub/c.py", "lib/sub/d.py"
WITH_A = {INIT, TOOLS, A}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy.linalg\nfrom os import path", set()),
        ("from lib import f", WITH_A),  # b is handed on, too, and not asked for
        ("def later():\n    if f:\n        from lib import f as h", WITH_A),
        ("import lib.a", WITH_A),
        ("import lib.sub.d", {INIT, TOOLS, SUB, D}),
        ("import lib as l\nl.f()", WITH_A),
        ("import lib as l\nl.sub.c", {INIT, TOOLS, SUB, C, B}),  # what of sub is not seen
        ("import lib as l\nvars(l)", {*WITH_A, B}),
        ("from lib import *", {*WITH_A, B}),
        ("from lib import no_such_name", {*WITH_A, B}),
        ("from lib import note", {INIT, TOOLS}),
        ("from lib import sub\nsub.c", {INIT, TOOLS, SUB, C}),
        ("from lib.sub import g", {INIT, TOOLS, SUB, B}),
        ("from loose import e", {"loose/e.py"}),
        ("import importlib\nimportlib.import_module(f'lib.{x}.d')", {INIT, TOOLS, SUB, D}),
        ("from importlib import import_module as load\nimport importlib", set()),
        ("import importlib\nimportlib.import_module('lib.a')", WITH_A),
        ("__import__(f'lib.sub.{name}')", {INIT, TOOLS, SUB, C, D}),
    ],
)
def test_what_a_module_imports(repository: Path, source: str, found: set[str]) -> None:
    (repository / "main.py").write_text(source, encoding="utf-8")
    assert imported_modules(repository / "main.py", repository) == found


def test_what_a_module_imports_from_its_own_package(repository: Path) -> None:
    assert imported_modules(repository / A, repository) == {INIT, TOOLS, "lib/_shared.py"}
    assert imported_modules(repository / SUB, repository) == {INIT, TOOLS, SUB, C, B}
    # a name that is computed may be that of any module beside
    (repository / "lib/sub/d.py").write_text(
        "from importlib import import_module\nimport_module(x)"
    )
    assert imported_modules(repository / D, repository) == {INIT, TOOLS, SUB, C, D}


def test_a_notebook_imports_in_its_cells_and_asks_in_its_text(repository: Path) -> None:
    page = notebook("# T", code("import lib as l"), code("l.g()"))
    nbformat.write(page, repository / "page.ipynb")
    assert imported_modules(repository / "page.ipynb", repository) == {INIT, TOOLS, B}
    page = notebook("# T", code("import lib as l"), code("l.g()"), "It is 1<!-- {l.f()} -->.")
    nbformat.write(page, repository / "page.ipynb")
    assert imported_modules(repository / "page.ipynb", repository) == {*WITH_A, B}


def test_what_is_imported_imports_more(repository: Path) -> None:
    assert closure([A], repository) == {*WITH_A, "lib/_shared.py"}
    assert closure([B], repository) == {INIT, TOOLS, B, "lib/_late.py"}
    assert closure([D, B], repository) == {*FILES} - {C, "loose/e.py"}


@pytest.mark.parametrize(
    "name", ["attnlib.softmax", "attnbook.puzzle.plots", "attnbook.training.sweep"]
)
def test_no_module_that_python_imports_is_missed(name: str) -> None:
    program = f"""import {name}, sys
print(*(getattr(module, "__file__", None) or "" for module in sys.modules.values()), sep="\\n")"""
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = {Path(line) for line in run.stdout.splitlines()}
    folders = {ROOT / "attnlib", ROOT / "attnbook"}
    loaded = {path.relative_to(ROOT).as_posix() for path in paths if folders & {*path.parents}}
    path = f"{name.replace('.', '/')}.py"
    assert path in loaded
    # Python also imports what packages hand on
    inits = {file for file in loaded if file.endswith("__init__.py")}
    assert loaded <= closure({path, *inits}, ROOT)


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ("def f(x):\n    'Other words.'\n    return x + 1  # why", True),
        ("def f(x):\n    return (x\n            + 1)", True),
        ('"""A module."""\ndef f(x):\n    return x + 1\n"""After it."""', True),
        ("def f(x):\n    return x + 2", False),
        ("def f(x):\n    return x + 1.0", False),
        ("def f(x):\n    return x + True", False),
        ("def f(x):\n    return 'Words.'", False),
        ("def f(x):\n    return x + 1\nf('Words.')", False),
        ("def f(x, /):\n    return x + 1", False),
        ("async def f(x):\n    return x + 1", False),
    ],
)
def test_only_code_counts(source: str, same: bool) -> None:
    there = tree_digest("def f(x):\n    'Words.'\n    return x + 1\n")
    assert (tree_digest(source) == there) is same
