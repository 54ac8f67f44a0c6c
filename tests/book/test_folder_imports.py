"""The folders import one another as the picture in CONTRIBUTING.md says, and not otherwise."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from book import folder_imports as imports
from book import repository
from tests.book.notebooks import ROOT, code, notebook
from tests.book.test_pins import makefile, pins

# What the commands of the Makefile run; the environment of the tests turns notebooks into text, and
# compares their outputs.
READERS = ("attnbook/", "attnlib/", "book/", "_ext/", "tools/")
# These run in the environment of the tests.
AUTHORS = ("tools/chapter.py", "tools/example_submissions.py", "tools/question.py")
ELSEWHERE = {"jupytext", "nbval", "pytest", "torch"}
# What calls other libraries runs in environments that have these.
THEIRS = {f"attnbook/libraries/{name}.py" for name in ("calls", "questions")} | {
    f"attnbook/trained_models/measuring/{name}.py"
    for name in ("antiberty", "bert", "ocr", "rxnmapper", "smollm2")
}


def test_the_folders_import_one_another_as_drawn() -> None:
    assert imports.differences() == []
    # whatever is drawn, the mathematics knows nothing of the book
    assert [other for folder, other in imports.find_imports() if folder == "attnlib"] == []


def module_file(name: str) -> str:
    """Return the file of a module of the repository, or nothing."""
    stem = name.replace(".", "/")
    files = (f"{stem}.py", f"{stem}/__init__.py")
    return next((file for file in files if (ROOT / file).is_file()), "")


def named_modules(path: Path) -> set[str]:
    """Return the files of the repository that a file's import statements name."""
    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules = (module_file(f"{node.module}.{alias.name}") for alias in node.names)
            named |= {file or module_file(str(node.module)) for file in modules}
        elif isinstance(node, ast.Import):
            named |= {module_file(alias.name) for alias in node.names}
    return named - {""}


@pytest.mark.parametrize("folder", ["_ext", "attnbook", "attnlib", "book", "grading", "tools"])
def test_no_module_imports_itself_by_way_of_others(folder: str) -> None:
    paths = (ROOT / folder).rglob("*.py")
    imported = {path.relative_to(ROOT).as_posix(): named_modules(path) for path in paths}
    assert any(imported.values())
    TopologicalSorter(imported).prepare()  # which names a circle


def test_no_folder_imports_itself_by_way_of_others() -> None:
    drawn: dict[str, set[str]] = {}
    for folder, other in imports.find_imports():
        drawn.setdefault(folder, set()).add(other)
    assert [*TopologicalSorter(drawn).static_order()][-1] == "tests"


def closure(lines: list[str]) -> set[str]:
    """Return what is installed when this is asked for, on this machine."""
    there, waiting = set(), [(Requirement(line), "") for line in lines]
    while waiting:
        asked, extra = waiting.pop()
        name = canonicalize_name(asked.name)
        if asked.marker is not None and not asked.marker.evaluate({"extra": extra}):
            continue
        for wanted in {"", *asked.extras}:
            if (name, wanted) not in there:
                there.add((name, wanted))
                waiting += [(Requirement(line), wanted) for line in requires(name) or ()]
    return {name for name, _ in there}


def test_what_building_takes_is_a_part_of_what_is_pinned() -> None:
    there = closure(["jupyter-book", "numpy", "anywidget"])
    listed = pins((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    assert {"sphinx", "ipykernel", "markupsafe"} <= there
    assert there <= {canonicalize_name(Requirement(line).name) for line in listed}
    assert not there & {"jupyterlab", "nbval", "pytest", "sphinx-autobuild"}


def test_building_installs_what_the_commands_import() -> None:
    names = [
        name
        for name in repository.files(new=True)
        if name.startswith(READERS) and name.endswith(".py")
        if name not in THEIRS and name not in AUTHORS
    ]
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extra = asked["project"]["optional-dependencies"]["all"]
    there = closure([*extra, *asked["dependency-groups"]["site"]])
    ours = {name.partition("/")[0] for name in repository.files(new=True)}
    packages = packages_distributions()
    beside = {
        module
        for name in names
        for source in imports.sources(ROOT / name)
        for module in imports.imported(source)
        if module not in {*sys.stdlib_module_names, *ours}
        and not there & {*map(canonicalize_name, packages.get(module, ()))}
    }
    (added,) = re.findall(r"\$\(PIP\) -c requirements-dev\.txt (.*)", makefile())
    assert beside == {*added.split(), *ELSEWHERE}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a repository with a package, a notebook and a picture of the two."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for name in ("attnlib", "attnbook", "chapters"):
        (tmp_path / name).mkdir()
    (tmp_path / "attnlib" / "a.py").write_text("import numpy\n", encoding="utf-8")
    (tmp_path / "attnbook" / "b.py").write_text("from attnlib import a\n", encoding="utf-8")
    nbformat.write(notebook("# T", code("import attnbook.b")), tmp_path / "chapters" / "c.ipynb")
    picture = "attnlib  mathematics\nattnbook → attnlib  pages\nchapters → attnbook\n"
    (tmp_path / "CONTRIBUTING.md").write_text(picture, encoding="utf-8")
    return tmp_path


def test_a_picture_that_is_right_passes(small: Path) -> None:
    assert imports.differences(small) == []


@pytest.mark.parametrize(
    ("name", "more", "difference"),
    [
        ("attnlib/d.py", "import attnbook.b", "attnlib imports attnbook, which is not drawn"),
        (
            "attnlib/d.py",
            "def f():\n    from attnbook import b",
            "attnlib imports attnbook, which is not drawn",
        ),
        ("CONTRIBUTING.md", "attnlib → attnbook", "attnlib → attnbook is drawn and not imported"),
    ],
)
def test_a_difference_is_named(small: Path, name: str, more: str, difference: str) -> None:
    with (small / name).open("a", encoding="utf-8") as file:
        file.write(f"{more}\n")
    assert imports.differences(small) == [difference]
