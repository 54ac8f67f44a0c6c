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
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.stored import KEPT_METADATA, KERNEL, book_notebooks, faults, normalized  # noqa: E402


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
    nbformat.write(normalized(notebook, path.stem), path)
    sys.stdout.write(f"executed {path} in {seconds:.1f} s\n")


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
    notebook = normalized(notebook, target.stem)
    nbformat.write(notebook, target)


CONVERT = {"to-text": to_text, "from-text": from_text}


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
    if options.command in CONVERT:
        CONVERT[options.command](options.source, options.target)
        return 0
    paths = options.paths or book_notebooks(ROOT)
    bad = 0
    for path in paths:
        if options.command == "execute":
            try:
                execute(path, options.timeout)
            except CellExecutionError as error:
                bad += 1
                sys.stderr.write(f"{path}: {error}\n")
        else:
            found = faults(nbformat.read(path, as_version=4), path.stem)
            bad += bool(found)
            sys.stderr.writelines(f"{path}: {fault}\n" for fault in found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
