"""Check and convert the book's notebooks.

The committed notebooks carry their text outputs (nbval compares them, and a reader of the
repository sees them) and no pictures (they would bloat the history and differ from machine to
machine). ``make numbers`` executes them and keeps them so, and

    python tools/notebooks.py check                       fails when one is not in that state

To write or rework a chapter in a text editor, convert it to MyST Markdown and back. The text is a
draft, the notebook is what is committed; nothing is lost on the way except outputs, which the
execution makes anew:

    python tools/notebooks.py to-text chapters/02_variance.ipynb /tmp/02_variance.md
    python tools/notebooks.py from-text /tmp/02_variance.md chapters/02_variance.ipynb
    make numbers ARGS=chapters/02_variance.ipynb

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
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.normal_form import KEPT_METADATA, book_notebooks, faults, normalized  # noqa: E402


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
    found = [
        f"{path}: {fault}\n"
        for path in options.paths or book_notebooks(ROOT)
        for fault in faults(nbformat.read(path, as_version=4), path.stem)
    ]
    sys.stderr.writelines(found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
