"""Execute, check and convert the book's notebooks.

The committed notebooks carry their text outputs (nbval compares them, and a reader of the
repository sees them) and no pictures (they would bloat the history and differ from machine to
machine). This script keeps them so:

    python tools/notebooks.py execute                     every notebook, in place
    python tools/notebooks.py execute chapters/02_variance.ipynb
    python tools/notebooks.py check                       fails when one is not in that state

To write or rework a chapter in a text editor, convert it to MyST Markdown and back. The text is a
draft, the notebook is what is committed; nothing is lost on the way except outputs, which the
execution makes anew:

    python tools/notebooks.py to-text chapters/02_variance.ipynb /tmp/02_variance.md
    python tools/notebooks.py from-text /tmp/02_variance.md chapters/02_variance.ipynb
    python tools/notebooks.py execute chapters/02_variance.ipynb

In the text a code cell is a block

    ```{code-cell} python
    :tags: [hide-input]
    :mystnb:
    :  figure:
    :    name: fig-spread
    ...
    ```

whose metadata may also be written as YAML between two lines of ``---``, and ``+++`` separates two
neighboring Markdown cells.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
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


def book_notebooks(root: Path = ROOT) -> list[Path]:
    """List the landing page and the chapters, in reading order."""
    return [*sorted(root.glob("*.ipynb")), *sorted((root / "chapters").glob("*.ipynb"))]


def source_of(cell: NotebookNode) -> str:
    """Return a cell's source without trailing whitespace, which no reader sees."""
    return "\n".join(line.rstrip() for line in cell.source.splitlines()).strip("\n")


def normalize(notebook: NotebookNode, name: str) -> NotebookNode:
    """Bring a notebook into its committed form: text outputs only, nothing that varies.

    Parameters
    ----------
    notebook : NotebookNode
        The notebook; it is changed in place.
    name : str
        Its name in the book; cell identifiers derive from it and the cell's position.

    Returns
    -------
    NotebookNode
        The same notebook.
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
    """Close in JupyterLab what is closed on the page, and answers to predictions.

    The cell that opens a solution stays as it is: JupyterLab shows its text closed by itself.

    Parameters
    ----------
    notebook : NotebookNode
        The notebook; it is changed in place.

    Returns
    -------
    NotebookNode
        The same notebook.
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


def execute(path: Path, timeout: int) -> None:
    """Execute one notebook with a fresh kernel and write it back in its committed form."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    started = time.perf_counter()
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=KERNEL["name"],
        # where the book's build and nbval run it as well
        resources={"metadata": {"path": str(path.resolve().parent)}},
    )
    client.execute()
    seconds = time.perf_counter() - started
    nbformat.write(normalize(notebook, path.stem), path)
    sys.stdout.write(f"executed {path} in {seconds:.1f} s\n")


def faults(path: Path) -> list[str]:
    """Say what keeps a notebook from being in its committed form.

    Parameters
    ----------
    path : Path
        The notebook.

    Returns
    -------
    list of str
        One sentence a fault; empty when there is none.
    """
    notebook = nbformat.read(path, as_version=4)
    found = []
    if notebook.metadata.get("kernelspec", {}).get("name") != KERNEL["name"]:
        found.append(f"its kernel is not {KERNEL['name']!r}")
    if "widgets" in notebook.metadata:
        found.append("it stores widget state")
    expected = 0
    for position, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        expected += 1
        if cell.execution_count != expected:
            found.append(
                f"cell {position} has execution count {cell.execution_count}, not {expected}"
            )
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"cell {position} holds an error: {output.ename}")
            elif output.get("name") == "stderr":
                found.append(f"cell {position} writes to stderr: {output.text.strip()[:80]}")
            found.extend(
                f"cell {position} stores {mime}"
                for mime in output.get("data", {})
                if mime not in STORED_MIME_TYPES
            )
    if not found and nbformat.writes(notebook) != nbformat.writes(
        normalize(nbformat.read(path, as_version=4), path.stem)
    ):
        found.append("it holds volatile metadata")
    return found


def to_text(source: Path, target: Path) -> None:
    """Write a notebook as MyST Markdown."""
    import jupytext

    jupytext.write(jupytext.read(source), target, fmt="md:myst")


def from_text(source: Path, target: Path) -> None:
    """Write MyST Markdown as a notebook that has yet to be executed.

    What the text does not hold, such as the page's description, stays as the target has it.
    """
    import jupytext

    notebook = jupytext.read(source, fmt="md:myst")
    if target.is_file():
        before = nbformat.read(target, as_version=4).metadata
        kept = {key: before[key] for key in KEPT_METADATA if key in before}
        notebook.metadata = nbformat.from_dict({**kept, **notebook.metadata})
    notebook = normalize(notebook, target.stem)
    nbformat.write(notebook, target)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("execute", help="execute notebooks in place")
    run.add_argument("paths", nargs="*", type=Path, help="default: all of the book's")
    run.add_argument("--timeout", type=int, default=120, help="seconds a cell may take")
    verify = commands.add_parser("check", help="fail when a notebook is not in its committed form")
    verify.add_argument("paths", nargs="*", type=Path, help="default: all of the book's")
    for name, what in (("to-text", "notebook to MyST Markdown"), ("from-text", "and back")):
        convert = commands.add_parser(name, help=what)
        convert.add_argument("source", type=Path)
        convert.add_argument("target", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the process's exit status."""
    options = parse_arguments(arguments)
    if options.command == "to-text":
        to_text(options.source, options.target)
        return 0
    if options.command == "from-text":
        from_text(options.source, options.target)
        return 0
    paths = options.paths or book_notebooks()
    bad = 0
    for path in paths:
        if options.command == "execute":
            try:
                execute(path, options.timeout)
            except CellExecutionError as error:
                bad += 1
                sys.stderr.write(f"{path}: {error}\n")
        else:
            found = faults(path)
            bad += bool(found)
            sys.stderr.writelines(f"{path}: {fault}\n" for fault in found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
