"""Where the tables are that chapters read: in the clone's folder ``data``, or in the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def data_file(name: str) -> Path:
    """Return the path of a table, which an installed package has with it.

    Examples
    --------
    >>> data_file("models.json").read_text("utf-8")[0]
    '{'
    """
    clone = Path(__file__).parents[1] / "data" / name
    return clone if clone.is_file() else Path(str(files("attnbook") / "_data" / name))
