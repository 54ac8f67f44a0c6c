"""A CSV file that a person made: in UTF-8, with commas or semicolons."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path


def wrong(path: Path, line: int, what: str) -> ValueError:
    """Return an error that says where it is."""
    return ValueError(f"{path}, line {line}: {what}")


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of the line on which it ends.

    A ValueError says where the file is not UTF-8 or not CSV.
    """
    text = _text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise wrong(path, reader.line_num, f"not readable as CSV: {error}") from None


def _separator(text: str) -> str:
    """Return what is between the cells of a table, by its first line."""
    top = text.split("\n", 1)[0]
    return ";" if top.count(";") > top.count(",") else ","


def _text(path: Path) -> str:
    """Return what the file says, or where it is not UTF-8."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        byte = raw[error.start]
        raise wrong(
            path, line, f"byte 0x{byte:02x} came, which is not UTF-8; save the file as CSV UTF-8"
        ) from None
