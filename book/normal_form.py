"""The form in which a notebook is in git: executed, its outputs text alone, nothing that varies."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}
VOLATILE_CELL_METADATA = ("execution", "collapsed", "scrolled", "jupyter", "ExecuteTime")
KEPT_METADATA = ("book", "myst", "mystnb", "numbers")
SOLUTION = re.compile(r"^:{3,}\{solution-(start|end)\}", re.MULTILINE)
PREDICTION = re.compile(r"^:class: predict$", re.MULTILINE)
# What the page hides by a tag JupyterLab hides by these settings.
HIDDEN = {
    "hide-cell": {"source_hidden": True, "outputs_hidden": True},
    "hide-input": {"source_hidden": True},
    "hide-output": {"outputs_hidden": True},
    "remove-input": {"source_hidden": True},
}
STORED_MIME_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex")
# A path of somebody's machine, or the address that an object without a repr prints.
MACHINE = re.compile(r"(?:^|[\s\"'(=])(?:/[\w.-]+){2,}|[A-Za-z]:\\\w+|<[^<>]* at 0x[0-9a-f]+>")


def book_notebooks(root: Path) -> list[Path]:
    """List the landing page and the chapters, in reading order."""
    return [*sorted(root.glob("*.ipynb")), *sorted((root / "chapters").glob("*.ipynb"))]


def source_of(cell: NotebookNode) -> str:
    """Return a cell's source without trailing whitespace, which no reader sees."""
    return "\n".join(line.rstrip() for line in cell.source.splitlines()).strip("\n")


def normalized(notebook: NotebookNode, name: str) -> NotebookNode:
    """Bring a notebook into its committed form, in place: text outputs only, nothing that varies.

    Identifiers of cells derive from its name in the book and their positions.
    """
    kept = {key: notebook.metadata[key] for key in KEPT_METADATA if key in notebook.metadata}
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": LANGUAGE, **kept}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for position, cell in enumerate(notebook.cells):
        digest = hashlib.sha256(f"{name}:{position}".encode()).hexdigest()
        cell["id"] = digest[:8]
        cell.source = source_of(cell)
        for key in VOLATILE_CELL_METADATA:
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = merge_streams(strip_output(output) for output in cell.outputs)
    return fold(notebook)


def fold(notebook: NotebookNode) -> NotebookNode:
    """Close in JupyterLab what is closed on the page, and answers to predictions, in place.

    The cell that opens a solution stays as it is: JupyterLab shows its text closed by itself.
    """
    in_solution = asked = False
    for cell in notebook.cells:
        hidden = {}
        if cell.cell_type == "code":
            for tag in cell.metadata.get("tags", ()):
                hidden |= HIDDEN.get(tag, {})
            hidden |= HIDDEN["hide-cell"] if in_solution else {}
            if "predict" not in cell.metadata.get("tags", ()):  # there the reader answers
                hidden |= HIDDEN["hide-output"] if asked else {}
                asked = False
        else:
            marks = SOLUTION.findall(cell.source)
            hidden = HIDDEN["hide-input"] if in_solution and not marks else {}
            in_solution = marks[-1] == "start" if marks else in_solution
            asked = asked or PREDICTION.search(cell.source) is not None
        if hidden:
            cell.metadata["jupyter"] = nbformat.from_dict(hidden)
    return notebook


def strip_output(output: NotebookNode) -> NotebookNode:
    """Drop what an output holds beside text: pictures, widget state, metadata."""
    if "data" in output:
        data = {mime: output.data[mime] for mime in STORED_MIME_TYPES if mime in output.data}
        output.data = nbformat.from_dict(data)
        output.metadata = nbformat.from_dict({})
    return output


def merge_streams(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join neighboring pieces of one stream: where the kernel flushes is chance."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if (
            last is not None
            and output.output_type == last.output_type == "stream"
            and output.name == last.name
        ):
            last.text += output.text
        else:
            merged.append(output)
    return merged


def output_faults(output: NotebookNode) -> Iterator[str]:
    """Say what a stored output must not be."""
    if output.output_type == "error":
        yield "stores an error"
        return
    if output.get("name") == "stderr":
        yield "wrote to stderr"
    data = output.get("data", {})
    yield from (f"stores {mime}" for mime in data if mime not in STORED_MIME_TYPES)
    if output.get("execution_count") is not None and output.output_type != "execute_result":
        yield "has a count on an output that is no result"
    said = json.dumps([output.get("text", ""), data], ensure_ascii=False).replace("\\n", "\n")
    if MACHINE.search(said):
        yield "stores a path or an address of this machine"


def faults(notebook: NotebookNode, name: str) -> list[str]:
    """Say in a few words each what keeps a notebook of a name from being in its committed form."""
    nbformat.validate(notebook)
    found = []
    if notebook.metadata.get("kernelspec", {}).get("name") != KERNEL["name"]:
        found.append(f"the kernel is not {KERNEL['name']}")
    if "widgets" in notebook.metadata:
        found.append("it stores the state of widgets")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for expected, cell in enumerate(cells, start=1):
        which = f"code cell {expected}"
        if not cell.source.strip():
            found.append(f"{which} is empty")
        if cell.execution_count != expected:
            found.append(f"{which} has execution count {cell.execution_count}")
        if {"skip-execution", "raises-exception"} & set(cell.metadata.get("tags", [])):
            found.append(f"{which} is excused from running")
        for output in cell.outputs:
            found += [f"{which} {fault}" for fault in output_faults(output)]
    if not found and normalized(copy.deepcopy(notebook), name) != notebook:
        found.append("it holds what varies from run to run")
    return found
