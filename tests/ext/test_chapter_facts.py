"""The strokes in the line below a chapter's title are between two parts, and never at an end."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from _ext.theme import STATIC
from tests.book.notebooks import CHAPTERS
from tests.ext import pages
from tests.ext.test_browser import DESK, PHONE, SMALL_PHONE, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("pages")

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title>
<meta name="viewport" content="width=device-width"><style>{styles}
body {{ background: white; margin: 2rem }}
.chapter-facts, .chapter-facts * {{ color: transparent !important }}
.chapter-facts > span::before, .chapter-facts > span::after {{ color: black !important }}
</style></head><body><main class="bd-article">{heads}</main></body></html>"""
PARTS = """(all) => all.map((line) => [...line.children].map((part) => {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  return [left, right, top, bottom];
}))"""


def strokes(picture: Image.Image, top: float, bottom: float) -> list[int]:
    """Return where dark columns begin between two heights."""
    part = picture.convert("L").crop((0, round(top), picture.width, round(bottom)))
    dark = [part.crop((x, 0, x + 1, part.height)).getextrema()[0] < 160 for x in range(part.width)]
    return [x for x in range(1, part.width) if dark[x] and not dark[x - 1]]


@pytest.mark.parametrize("width", [SMALL_PHONE, PHONE, DESK])
def test_a_stroke_has_a_part_on_either_side(
    site: Path, browser: Browser, tmp_path: Path, width: int
) -> None:
    heads = [
        str(pages.parse(site / name.replace(".ipynb", ".html")).select_one(".chapter-facts"))
        for name in CHAPTERS
    ]
    path = tmp_path / "page.html"
    sheet = (STATIC / "theme.css").read_text("utf-8")
    path.write_text(PAGE.format(styles=sheet, heads="".join(heads)), "utf-8")
    with visit(browser, path, width=width) as seen:
        lines = seen.page.eval_on_selector_all(".chapter-facts", PARTS)
        shot = Image.open(io.BytesIO(seen.page.screenshot(full_page=True)))
    assert len(lines) == len(CHAPTERS)
    for parts in lines:
        for top in {top for _, _, top, _ in parts}:
            row = [part for part in parts if part[2] == top]
            found = strokes(shot, top, min(bottom for *_, bottom in row))
            assert len(found) == len(row) - 1
            for place, (before, after) in zip(found, itertools.pairwise(row), strict=True):
                assert before[1] <= place <= after[0]
