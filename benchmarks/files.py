"""How results are kept, as JSON in which what fits on a line is on one, and shown by the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "_build" / "bench"
SITE = ROOT / "_build" / "html"
WIDTH = 100
_INNERMOST = re.compile(r"[\[{][^\[\]{}\"]*(?:\"(?:[^\"\\]|\\.)*\"[^\[\]{}\"]*)*[\]}]")


def as_json(results: Any) -> str:
    """Return results as JSON that a person can read and compare.

    Examples
    --------
    >>> print(as_json({"loads": {"median": 3, "most": 4}}), end="")
    {
     "loads": {"median": 3, "most": 4}
    }
    """

    def on_one_line(found: re.Match[str]) -> str:
        joined = re.sub(r"\n\s*", " ", found.group())
        joined = re.sub(r"^([\[{]) | ([\]}])$", r"\1\2", joined)
        return joined if len(joined) <= WIDTH else found.group()

    text = json.dumps(results, indent=1, ensure_ascii=False)
    return _INNERMOST.sub(on_one_line, text) + "\n"


def write(results: Any, *paths: Path) -> None:
    """Write results to files, in folders that may be new."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(as_json(results), encoding="utf-8")
