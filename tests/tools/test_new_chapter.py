"""A new chapter asks for its own files and one line of the table of contents, and no more."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from book import numbers, repository
from book import reader_notebooks as reader
from book.model import Book, Page
from book.normal_form import faults
from tests.book.building import run
from tests.book.test_citations import bibliography, cited_keys
from tests.book.test_frame import (
    CHAPTER_CHECKS,
    PAGE_CHECKS,
    PREDICTION_CHECKS,
    blank_problems,
)
from tests.book.test_glossary import ENTRIES, linked_late, linked_twice, unknown
from tools import chapter
from tools.chapter import ChapterError

#: What looks at every chapter and needs no built site.
CHECKS = (
    *("book/test_citations.py", "book/test_executed.py", "book/test_exercise_cells.py"),
    *("book/test_frame.py", "book/test_glossary.py", "book/test_instructors.py"),
    *("book/test_landing.py", "book/test_model.py", "ext/test_docstrings.py"),
)
WORDS = {
    "Topic: a question?": "Linear attention: what is left without softmax?",
    "the question of the title, for the lists of chapters?": "what is left without softmax?",
    "Why?": "Why?",
    "How much?": "How much?",
    "When not?": "When not?",
}
"""What an author writes in some of the blanks; in the others, what is between the marks."""


def written(text: str) -> str:
    """Fill in the blanks of a text."""
    return re.sub("«(.*?)»", lambda blank: WORDS.get(blank[1], blank[1]), text, flags=re.DOTALL)


def write(path: Path) -> None:
    """Write the chapter that was begun, as an author would."""
    path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    made = nbformat.read(path, as_version=4)
    place = next(i for i, cell in enumerate(made.cells) if "## Takeaways" in cell.source)
    formula = "$2 \\cdot 5$<!-- {five} -->.\n\n$$\nx = 1\n$$ (eq-linear)"
    made.cells[place].source = f"{formula}\n\n{'word ' * 700}\n\n{made.cells[place].source}"
    nbformat.write(made, path)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository with a chapter between the fourth and the fifth."""
    root = tmp_path_factory.mktemp("with") / "book"
    repository.copy(repository.files(), root)
    write(chapter.begin(root, "linear", "04_gradients"))
    assert numbers.main([str(root / "chapters" / "linear.ipynb")]) == 0
    return root


def test_one_command_brings_its_numbers_in_order(copy: Path) -> None:
    made = Book(copy).page("linear")
    texts = "\n".join(cell.source for cell in made.cells)
    assert "$2 \\cdot 5$<!-- {five} -->." in texts
    assert "it is 10<!-- {ten} -->. `make" in texts
    assert "- Three: 10<!-- {ten} -->." in texts


def test_what_comes_after_it_moves_up(copy: Path) -> None:
    book = Book(copy)
    assert [page.topic for page in book.chapters][3:6] == ["gradients", "linear", "divisor"]
    assert book.targets["eq-linear"].number == "5.1"
    assert book.page("05_divisor").number == 6
    made = reader.notebooks(book)
    assert "**Exercise 6.1" in made["05_divisor.ipynb"]
    assert "[chapter 11](10_misconceptions.ipynb)" in made["08_training.ipynb"]


def found_in(made: Page) -> Iterator[str]:
    """Yield the faults that are looked for in every chapter."""
    for check in (*PAGE_CHECKS, *CHAPTER_CHECKS, *PREDICTION_CHECKS):
        yield from check(made.notebook)
    for look in (unknown, linked_late, linked_twice):
        yield from look(made.notebook, ENTRIES)
    yield from faults(made.notebook, made.stem)
    text = "\n".join(cell.source for cell in made.cells)
    yield from cited_keys(text) - set(bibliography().entries)


def test_what_is_asked_of_every_chapter_finds_no_fault_with_it(copy: Path) -> None:
    assert list(found_in(Book(copy).page("linear"))) == []


@pytest.mark.proof("chapter")
def test_every_check_of_the_chapters_passes_with_it(copy: Path) -> None:
    files = [f"tests/{name}" for name in CHECKS]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    said = run(
        *(sys.executable, "-m", "pytest", "-v", "-n", "0", "-p", "no:cacheprovider", *files),
        cwd=copy,
        env=kept | {"PYTHONPATH": str(copy)},
    )
    assert "[chapters/linear.ipynb] PASSED" in said


@pytest.mark.parametrize(
    ("name", "after", "said"),
    [
        ("", "", "NAME is ''; wanted are small letters"),
        ("../linear", "", "NAME is '../linear'; wanted are small letters"),
        ("01_puzzle", "", "chapters/01_puzzle.ipynb is there already; choose another NAME"),
        ("linear", "04", "AFTER is '04'; the chapters are 01_puzzle, 02_variance"),
    ],
)
def test_a_chapter_that_cannot_begin_is_refused_in_words(name: str, after: str, said: str) -> None:
    before = repository.files(new=True)
    with pytest.raises(ChapterError, match=re.escape(said)):
        chapter.begin(repository.ROOT, name, after)
    assert repository.files(new=True) == before


def test_what_an_author_has_not_filled_in_is_named(copy: Path) -> None:
    path = chapter.begin(copy, "begun")
    try:
        problems = blank_problems(nbformat.read(path, as_version=4))
        assert "cell 1: fill in «Topic: a question?»" in problems
        assert any(problem.startswith("metadata: fill in «the question of") for problem in problems)
        assert blank_problems(Book(copy).page("linear").notebook) == []
        assert [page.stem for page in Book(copy).chapters][-3:-1] == ["10_misconceptions", "begun"]
    finally:
        path.unlink()
        contents = copy / "_toc.yml"
        lines = contents.read_text(encoding="utf-8").splitlines(keepends=True)
        contents.write_text("".join(line for line in lines if "begun" not in line))
