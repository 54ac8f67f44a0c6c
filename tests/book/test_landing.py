"""The landing page leads into the book and keeps the first chapter's surprise."""

from __future__ import annotations

import re

import nbformat
import pytest

from tests.book.notebooks import code, notebook, read, text_of, visible_words

FIRST = "chapters/01_puzzle.ipynb"


def surprise(chapter: nbformat.NotebookNode) -> str:
    """Return the share that a chapter's first question turns out to have."""
    shown = [
        output.data["text/html"]
        for cell in chapter.cells
        if cell.cell_type == "code" and "predict" in cell.metadata.get("tags", [])
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    return re.search(r"<summary>The answer</summary>.*?(\d+%)", shown[0], re.DOTALL)[1]


def gives_away(page: nbformat.NotebookNode, share: str) -> bool:
    """Say whether a page prints a share that the reader is to predict."""
    words = visible_words(text_of(page))
    return re.search(rf"(?<![\d.]){re.escape(share)}", words) is not None


def test_the_landing_page_does_not_answer_the_first_question() -> None:
    assert not gives_away(read("index.ipynb"), surprise(read(FIRST)))


@pytest.mark.parametrize(
    ("said", "given"), [("it takes 84% then", True), ("it takes 0.84%", False), ("$84$", False)]
)
def test_a_share_that_is_given_away_is_found(said: str, given: bool) -> None:
    assert gives_away(notebook(said), "84%") is given


def test_the_surprise_is_read_from_the_answer_to_the_first_question() -> None:
    html = "<form>3%</form><details><summary>The answer</summary><p>It is: all, 7%.</p></details>"
    cell = code("Choice()", tags=["predict"])
    cell.outputs = [nbformat.v4.new_output("display_data", data={"text/html": html})]
    assert surprise(notebook(cell)) == "7%"


def test_the_three_doors_come_right_under_the_promise() -> None:
    *_, promise, doors, tried = read("index.ipynb").cells[0].source.split("\n\n")
    assert promise.startswith("Delete the root")
    assert tried.startswith("One key takes nearly all")
    found = re.findall(r"\{doc\}`([\w ]+) <([\w/]+)>`", doors)
    assert found == [
        ("Start reading", "chapters/01_puzzle"),
        ("Run", "chapters/run"),
        ("Teach", "chapters/instructors"),
    ]
