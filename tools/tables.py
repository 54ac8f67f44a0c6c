"""Make the calls anew that chapters take from ``data/tables.json``, and write that table.

``python tools/tables.py`` runs the notebooks that ask for recorded calls with an empty table, so it
has what they ask for and nothing else. It takes about a minute. ``make tables`` calls it.
"""

from __future__ import annotations

import contextlib
import io
import json
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import matplotlib as mpl  # noqa: E402
import nbformat  # noqa: E402
import numpy as np  # noqa: E402

from attnbook import tables  # noqa: E402

DIGITS = 6
"""Significant digits kept of a number: more than survive another processor."""


def notebooks() -> list[Path]:
    """Return the notebooks with recorded calls."""
    paths = sorted((ROOT / "chapters").glob("*.ipynb"))
    return [path for path in paths if "recorded(" in path.read_text(encoding="utf-8")]


def run(path: Path) -> None:
    """Run the code of a notebook in this process, where it is and with nothing shown."""
    mpl.use("agg")
    names: dict[str, object] = {}
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)  # noqa: S102 - the book's own code
        names["plt"].close("all")


def make_calls() -> dict[str, list]:
    """Make every call that a notebook asks for, in the order in which they ask."""
    tables.kept().clear()
    for path in notebooks():
        sys.stderr.write(f"{path.name}\n")
        run(path)
    return {call: rounded(value) for call, value in tables.kept().items()}


def rounded(value: np.ndarray) -> list | float:
    """Return an array as lists of numbers with few digits."""
    if value.ndim:
        return [rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}")


def text(calls: dict[str, list]) -> str:
    """Return the table, a line for each call."""
    about = {
        "about": "What calls returned that take long; the chapters ask for them by `recorded`",
        "command": "make tables",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }
    head = json.dumps(about, indent=1).removesuffix("\n}")
    lines = [f"  {json.dumps(call)}: {json.dumps(value)}" for call, value in calls.items()]
    return f'{head},\n "calls": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> int:
    """Write the table."""
    tables.TABLE.write_text(text(make_calls()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
