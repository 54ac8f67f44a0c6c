"""Every notebook was run from top to bottom and stores text only.

nbval compares what a cell printed, and passes a notebook that was never run; these checks do not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

import nbformat
import pytest
from nbformat import v4

from book.normal_form import faults, normalized
from tests.book.notebooks import NOTEBOOKS, code, notebook, printed, read


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_of_the_book_is_in_its_committed_form(name: str) -> None:
    assert faults(read(name), PurePath(name).stem) == []


def executed() -> nbformat.NotebookNode:
    result = v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3)
    return normalized(
        notebook(
            "# Title",
            code("x = 1"),
            code("print(x)", [printed("0.25 / 3 is a share\n")]),
            code("x", [result]),
        ),
        "page",
    )


def test_an_executed_notebook_passes() -> None:
    assert faults(executed(), "page") == []


def second(**values: object) -> Callable[[nbformat.NotebookNode], None]:
    return lambda content: content.cells[2].update(values)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        *(
            (second(execution_count=n), f"code cell 2 has execution count {n}")
            for n in (None, 1, 3)
        ),
        *(
            (second(metadata={"tags": [tag]}), "code cell 2 is excused from running")
            for tag in ("skip-execution", "raises-exception")
        ),
        (second(source=" "), "code cell 2 is empty"),
        (
            lambda content: content.metadata.kernelspec.update(name="venv"),
            "the kernel is not python3",
        ),
        (lambda content: content.metadata.update(widgets={}), "it stores the state of widgets"),
        (second(metadata={"collapsed": True}), "it holds what varies from run to run"),
    ],
)
def test_another_form_is_reported(
    change: Callable[[nbformat.NotebookNode], None], fault: str
) -> None:
    content = executed()
    change(content)
    assert faults(content, "page") == [fault]


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        (v4.new_output("error", ename="ValueError", evalue="", traceback=[]), "stores an error"),
        (v4.new_output("stream", name="stderr", text="a warning"), "wrote to stderr"),
        *(
            (v4.new_output("display_data", {kind: "aGk="}), f"stores {kind}")
            for kind in ("image/png", "image/svg+xml", "application/pdf")
        ),
        (
            v4.new_output("display_data", {"application/vnd.jupyter.widget-view+json": {}}),
            "stores application/vnd.jupyter.widget-view+json",
        ),
        *(
            (printed(text), "stores a path or an address of this machine")
            for text in (
                "read /var/lib/table.csv",
                "first\n/var/lib/table.csv",
                "<Thing object at 0x7f00aa>",
            )
        ),
    ],
)
def test_an_output_that_must_not_be_stored_is_reported(
    output: nbformat.NotebookNode, fault: str
) -> None:
    content = executed()
    content.cells[2].outputs = [output]
    assert faults(content, "page") == [f"code cell 2 {fault}"]
