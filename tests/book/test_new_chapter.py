"""A new chapter asks for its own files and one line of the table of contents, and no more."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
import pytest

from book import numbers
from book.model import Book
from tests.book.building import run
from tests.book.notebooks import code, notebook
from tools import practice, reader, repository

#: What looks at every chapter and needs no built site.
CHECKS = (
    *("citations", "executed", "exercise_cells", "frame", "glossary", "instructors", "landing"),
    *("model", "reference"),
)
OPENING = """(ch-linear)=
# Linear attention: what is left without softmax?

One paragraph that says what the chapter is about.

:::{admonition} Contract
:class: contract
- **You will be able to** add up
- **You need** {doc}`04_gradients`
- **Difficulty** ★☆☆ gentle
:::"""
QUESTION = """## Ask something

:::{admonition} Predict first
:class: predict
What is 5<!-- {five} --> added to itself?
:::"""
IMPORTS = """import matplotlib.pyplot as plt
import numpy as np

from attnbook.figures import Choice

five = 5"""
CHOICE = 'Choice({"less": (0, 9), "ten": (10, 11)}, 2 * five, f"It is {2 * five}.")'
ENDING = """## Takeaways

- One.
- Two.
- It is 99<!-- {ten} -->.

## Recall

""" + "\n\n".join([":::{admonition} Why?\n:class: dropdown recall\nBecause.\n:::"] * 3)
READINGS = """## Read more

- {cite}`vaswani2017attention` – says it.
- {cite:t}`vaswani2017attention` – again."""


def chapter() -> nbformat.NotebookNode:
    """Write a chapter as a new author would, one of its numbers wrong."""
    made = notebook(
        OPENING,
        code(IMPORTS, tags=["hide-input"], code_prompt_show="Imports"),
        QUESTION,
        code(CHOICE, tags=["predict", "remove-input"]),
        code("ten = 2 * five\nten"),
        "It is 7<!-- {ten} -->, $2 \\cdot 5$<!-- {five} -->.\n\n$$\nx = 1\n$$ (eq-linear)",
        "word " * 440,
        ENDING,
        "## Deeper\n\nMore.",
        READINGS,
        description="What is left of attention if nothing is exponentiated.",
    )
    card = {"large": "8", "words": "is 5 and as many"}
    made.metadata["book"] = {"question": "what is left without softmax?", "card": card}
    made.metadata["numbers"] = {"large": "{ten}", "words": "{five}"}
    return made


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository with a chapter between the fourth and the fifth."""
    root = tmp_path_factory.mktemp("with") / "book"
    repository.copy(repository.files(), root)
    nbformat.write(chapter(), root / "chapters" / "linear.ipynb")
    line = "      - file: chapters/04_gradients\n"
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    assert toc.count(line) == 1
    (root / "_toc.yml").write_text(toc.replace(line, f"{line}      - file: chapters/linear\n"))
    assert numbers.main([str(root / "chapters" / "linear.ipynb")]) == 0
    return root


def test_one_command_brings_its_numbers_in_order(copy: Path) -> None:
    made = Book(copy).page("linear")
    texts = "\n".join(cell.source for cell in made.cells)
    assert "It is 10<!-- {ten} -->, $2 \\cdot 5$<!-- {five} -->." in texts
    assert "- It is 10<!-- {ten} -->." in texts
    assert made.notebook.metadata["book"]["card"]["large"] == "10"


def test_what_comes_after_it_moves_up(copy: Path) -> None:
    book = Book(copy)
    assert [page.topic for page in book.chapters][3:6] == ["gradients", "linear", "divisor"]
    assert book.targets["eq-linear"].number == "5.1"
    assert book.page("05_divisor").number == 6
    made = practice.notebooks(book)["05_divisor.ipynb"]
    assert "## Exercise 6.1: " in made
    assert "[chapter 6](../notebooks/05_divisor.ipynb)" in made
    assert "[chapter 11](10_misconceptions.ipynb)" in reader.notebooks(book)["08_training.ipynb"]


def test_every_check_of_the_chapters_passes_with_it(copy: Path) -> None:
    files = [f"tests/book/test_{name}.py" for name in CHECKS]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    said = run(
        *(sys.executable, "-m", "pytest", "-v", "-n", "0", "-p", "no:cacheprovider", *files),
        cwd=copy,
        env=kept | {"PYTHONPATH": str(copy)},
    )
    assert "[chapters/linear.ipynb] PASSED" in said
