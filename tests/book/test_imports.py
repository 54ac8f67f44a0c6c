"""The folders import one another as the picture in CONTRIBUTING.md says, and not otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nbformat
import pytest

from tests.book.notebooks import code, notebook
from tools import imports


def test_the_folders_import_one_another_as_drawn() -> None:
    assert imports.differences() == []
    # whatever is drawn, the mathematics knows nothing of the book
    assert [other for folder, other in imports.real() if folder == "attnlib"] == []


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
