"""Every notebook was run from top to bottom and stores text only.

nbval compares what a cell printed, and passes a notebook that was never run; these checks do not.
"""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from nbformat import v4

from tests.book.notebooks import NOTEBOOKS, code, notebook, printed, read

VOLATILE = ("image/", "application/vnd.jupyter.widget")
# A path of somebody's machine, or the address that an object without a repr prints.
MACHINE = re.compile(r"(?:^|[\s\"'(=])(?:/[\w.-]+){2,}|[A-Za-z]:\\\w+|<[^<>]* at 0x[0-9a-f]+>")


def output_problems(output: nbformat.NotebookNode) -> list[str]:
    """List what a committed output must not be."""
    if output.output_type == "error":
        return ["stores an error"]
    problems = []
    if output.get("name") == "stderr":
        problems.append("wrote to stderr")
    data = {} if output.output_type == "stream" else output.data
    problems += [f"stores {kind}" for kind in data if kind.startswith(VOLATILE)]
    if output.get("execution_count", None) is not None and output.output_type != "execute_result":
        problems.append("has a count on an output that is no result")
    if MACHINE.search(
        json.dumps([output.get("text", ""), dict(data)], ensure_ascii=False).replace("\\n", "\n")
    ):
        problems.append("stores a path or an address of this machine")
    return problems


def execution_problems(content: nbformat.NotebookNode) -> list[str]:
    """List the signs that a notebook was not run once, in order, and without an error."""
    nbformat.validate(content)
    problems = []
    if content.metadata.get("kernelspec", {}).get("name") != "python3":
        problems.append("the kernel is not python3")
    cells = [cell for cell in content.cells if cell.cell_type == "code"]
    for expected, cell in enumerate(cells, start=1):
        if not cell.source.strip():
            problems.append(f"code cell {expected} is empty")
        if cell.execution_count != expected:
            problems.append(f"code cell {expected} has execution count {cell.execution_count}")
        if {"skip-execution", "raises-exception"} & set(cell.metadata.get("tags", [])):
            problems.append(f"code cell {expected} is excused from running")
        for output in cell.outputs:
            problems += [f"code cell {expected} {problem}" for problem in output_problems(output)]
    return problems


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_was_executed_in_order(name: str) -> None:
    assert execution_problems(read(name)) == []


def executed() -> nbformat.NotebookNode:
    return notebook(
        "# Title",
        code("x = 1"),
        code("print(x)", [printed("0.25 / 3 is a share\n")]),
        code("x", [v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3)]),
    )


def test_an_executed_notebook_passes() -> None:
    assert execution_problems(executed()) == []


@pytest.mark.parametrize("count", [None, 1, 3])
def test_a_cell_out_of_order_is_reported(count: int | None) -> None:
    content = executed()
    content.cells[2].execution_count = count
    assert execution_problems(content) == [f"code cell 2 has execution count {count}"]


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (v4.new_output("error", ename="ValueError", evalue="", traceback=[]), "stores an error"),
        (v4.new_output("stream", name="stderr", text="a warning"), "wrote to stderr"),
        (v4.new_output("display_data", {"image/png": "aGk="}), "stores image/png"),
        (v4.new_output("display_data", {"image/svg+xml": "<svg/>"}), "stores image/svg+xml"),
        (
            v4.new_output("display_data", {"application/vnd.jupyter.widget-view+json": {}}),
            "stores application/vnd.jupyter.widget-view+json",
        ),
        (printed("read /var/lib/table.csv"), "stores a path or an address of this machine"),
        (printed("first\n/var/lib/table.csv"), "stores a path or an address of this machine"),
        (printed("<Thing object at 0x7f00aa>"), "stores a path or an address of this machine"),
    ],
)
def test_an_output_that_must_not_be_stored_is_reported(
    output: nbformat.NotebookNode, problem: str
) -> None:
    content = notebook("# Title", code("x", [output]))
    assert execution_problems(content) == [f"code cell 1 {problem}"]


@pytest.mark.parametrize("tag", ["skip-execution", "raises-exception"])
def test_a_cell_excused_from_running_is_reported(tag: str) -> None:
    assert execution_problems(notebook(code("x = 1", tags=[tag]))) == [
        "code cell 1 is excused from running"
    ]


def test_another_kernel_is_reported() -> None:
    content = executed()
    content.metadata.kernelspec.name = "venv"
    assert execution_problems(content) == ["the kernel is not python3"]


def test_an_empty_cell_is_reported() -> None:
    assert execution_problems(notebook(code(" "))) == ["code cell 1 is empty"]
