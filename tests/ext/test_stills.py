"""The still pictures in readers' notebooks end where their figures do."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from book import stills

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("pages")

DRAWING = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
# Where the figure ends, and the picture.
EDGES = """() => [
  document.querySelector(".live-figure").getBoundingClientRect().bottom,
  document.documentElement.getBoundingClientRect().bottom,
  document.querySelector(".live-figure").dataset.figure,
]"""


def drawings(notebooks: dict[str, str]) -> list[bytes]:
    """Return each still picture of a figure that moves, once."""
    made = (nbformat.reads(text, as_version=4) for text in notebooks.values())
    texts = [str(cell.get("outputs", "")) for book in made for cell in book.cells]
    found = dict.fromkeys(data for text in texts for data in DRAWING.findall(text))
    return [base64.b64decode(data) for data in found]


def test_no_still_cuts_its_figure_off_or_ends_far_below_it(
    browser: Browser, readers_notebooks: dict[str, str], tmp_path: Path
) -> None:
    page = browser.new_page()
    edges = {}
    for place, drawing in enumerate(drawings(readers_notebooks)):
        path = tmp_path / f"{place}.svg"
        path.write_bytes(drawing)
        page.goto(path.as_uri())
        figure, picture, kind = page.evaluate(EDGES)
        edges[f"{kind} {place}"] = round(figure), round(picture)
    page.close()
    seen = {name.partition(" ")[0] for name in edges}
    assert seen == {name.partition(" ")[0] for name in stills.HEIGHTS}
    long = {name for name in edges if name.startswith("models_table")}  # only its first rows
    wrong = {
        name: (figure, picture)
        for name, (figure, picture) in edges.items()
        if name not in long and not picture - 80 < figure <= picture
    }
    assert wrong == {}
