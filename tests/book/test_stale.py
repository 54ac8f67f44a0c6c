"""A page never shows what the code no longer computes, and an edited paragraph runs nothing.

The execution cache knows a notebook's cells and not the package that they call, so a build could
show yesterday's numbers after a change in ``attnlib``. A small copy of the book, with the book's
own configuration and extensions, is built again after each kind of change; `test_digest.py` has
what counts as a change.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest

from tests.book.building import BuildResult, build
from tests.book.notebooks import ROOT, code, notebook

pytestmark = pytest.mark.proof("examples")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".lighthouse", "_build", "tests", "chapters", "__pycache__", ".*_cache"
)
FORMULA = '''

def effective_positions(weights, axis=-1):
    """{words}"""
    return {value}
'''
# Each run leaves a mark in a file, so that runs can be counted whatever the build says.
CELL = """from pathlib import Path

from attnlib import effective_positions

with Path("_build/runs.txt").open("a") as log:
    log.write("x")
print("computed", effective_positions([0.5, 0.5]))"""


def write_page(root: Path, text: str, source: str = CELL) -> None:
    content = notebook(
        f"(index)=\n# Title\n\n{text}", code(source), description="A page about nothing but itself."
    )
    content.cells[1].execution_count = None
    nbformat.write(content, root / "index.ipynb")


@dataclass
class SmallBook:
    """A copy of the book with one small page."""

    root: Path
    builds: list[BuildResult] = field(default_factory=list)

    @property
    def page(self) -> str:
        return (self.root / "_build" / "html" / "index.html").read_text(encoding="utf-8")

    @property
    def markdown(self) -> str:
        return (self.root / "_build" / "html" / "index.html.md").read_text(encoding="utf-8")

    @property
    def runs(self) -> int:
        return len((self.root / "_build" / "runs.txt").read_text(encoding="utf-8"))

    def build(self) -> None:
        result = build(self.root)
        assert result.status == 0, result.output

    def set_formula(self, value: str, words: str = "Words.") -> None:
        module = self.root / "attnlib" / "softmax.py"
        text = (ROOT / "attnlib" / "softmax.py").read_text(encoding="utf-8")
        module.write_text(text + FORMULA.format(value=value, words=words), encoding="utf-8")


@pytest.fixture
def book(tmp_path: Path) -> SmallBook:
    root = tmp_path / "book"
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    (root / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    return SmallBook(root)


def test_a_change_in_the_package_shows_and_a_change_of_words_runs_nothing(book: SmallBook) -> None:
    book.set_formula("12345")
    write_page(book.root, "First words.")
    book.build()
    assert "computed 12345" in book.page
    assert book.runs == 1

    book.set_formula("67890")
    book.build()
    assert "computed 67890" in book.page
    assert "12345" not in book.page
    assert book.runs == 2

    write_page(book.root, "Other words.")
    book.set_formula("67890", "Another docstring.")
    with (book.root / "attnlib" / "online.py").open("a", encoding="utf-8") as other:
        other.write("\n\ndef not_used():\n    return 1\n")
    book.build()
    for made in (book.page, book.markdown):
        assert "Other words." in made
        assert "computed 67890" in made
    assert book.runs == 2


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("Words.", "1 / 0", "Executing notebook failed"),
        ("Words about {ref}`nothing-that-exists`.", "x = 1", "nothing-that-exists"),
    ],
)
def test_a_failing_cell_or_a_broken_reference_fails_the_build(
    book: SmallBook, text: str, source: str, message: str
) -> None:
    write_page(book.root, text, source)
    result = build(book.root)
    assert result.status != 0
    assert message in result.output
