"""Long code is shown in part on a phone, and whole when asked, on a desk and on paper."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from docutils import nodes
from docutils.utils import new_document

from _ext import long_cells
from _ext.exercises import without_marks
from tests.book.notebooks import CHAPTERS, read
from tests.site import pages
from tests.site.test_browser import ALL_LAID_OUT, DESK, PHONE, SMALL_PHONE, visit
from tests.site.test_looks import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = page_of(next(name for name in CHAPTERS if "training" in name))
# How many lines of each long cell's code can be seen.
SEEN = """() => [...document.querySelectorAll(".cell_input:has(.all-lines)")].map((part) => {
  const code = part.querySelector("pre");
  const style = getComputedStyle(code);
  const height = code.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  return Math.round(height / parseFloat(style.lineHeight));
})"""


OPEN = "document.querySelectorAll('details').forEach((box) => { box.open = true; })"


def boxes(path: Path) -> list[int]:
    """Return what the boxes of a page say of the cells above them."""
    labels = pages.parse(path).select(".cell_input > label.all-lines")
    return [int(label.get_text().split()[2]) for label in labels]


@pytest.mark.parametrize(
    ("lines", "kinds", "has_box"),
    [
        (long_cells.WHOLE, [], False),
        (long_cells.WHOLE + 1, [], True),
        (long_cells.WHOLE + 1, ["tag_hide-input"], False),
        (long_cells.WHOLE + 1, ["tag_answer"], True),
    ],
)
def test_a_box_is_for_what_is_long_and_open(lines: int, kinds: list[str], has_box: bool) -> None:
    document = new_document("page")
    cell = nodes.container("", classes=["cell", *kinds])
    for part in ("cell_input", "cell_output"):
        cell += nodes.container("", nodes.literal_block("", "code\n" * lines), classes=[part])
    document += cell
    long_cells.add_boxes(SimpleNamespace(), document)
    found = [node.astext() for node in document.findall(nodes.raw)]
    assert found == ([long_cells.BOX.format(lines=lines)] if has_box else [])
    assert not any(node.parent is not cell[0] for node in document.findall(nodes.raw))


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_box_tells_how_long_its_cell_is(site: Path, name: str) -> None:
    tags = {tag.removeprefix("tag_") for tag in long_cells.FOLDED}
    counts = [
        without_marks(cell.source).rstrip("\n").count("\n") + 1
        for cell in read(name).cells
        if cell.cell_type == "code" and not tags & set(cell.metadata.get("tags", []))
    ]
    assert boxes(site / page_of(name)) == [count for count in counts if count > long_cells.WHOLE]


@pytest.mark.proof("pages")
@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("width", [SMALL_PHONE, PHONE])
def test_a_phone_shows_the_first_lines_and_the_others_when_asked(
    site: Path, browser: Browser, width: int, scripts: bool
) -> None:
    (lines, *_) = boxes(site / PAGE)
    with visit(browser, site / PAGE, width=width, scripts=scripts) as seen:
        seen.page.evaluate(OPEN)  # what is long is in solutions
        label = seen.page.locator("label.all-lines").first
        label.scroll_into_view_if_needed(timeout=5000)
        assert label.bounding_box()["height"] >= 24
        assert seen.page.evaluate(SEEN)[0] == 12
        label.get_by_role("checkbox", name=f"Show all {lines} lines").focus(timeout=5000)
        seen.page.keyboard.press("Space")
        assert seen.page.evaluate(SEEN)[0] == lines
        label.click(timeout=5000)
        assert seen.page.evaluate(SEEN)[0] == 12


@pytest.mark.proof("pages")
def test_a_desk_and_paper_have_all_lines_and_no_boxes(site: Path, browser: Browser) -> None:
    lines = boxes(site / PAGE)
    with visit(browser, site / PAGE, width=DESK) as seen:
        seen.page.add_style_tag(content=ALL_LAID_OUT)
        assert seen.page.evaluate(SEEN) == lines
        assert not seen.page.locator("label.all-lines").first.is_visible()
    with visit(browser, site / PAGE, width=PHONE) as seen:
        seen.page.emulate_media(media="print")
        assert all(map(int.__ge__, seen.page.evaluate(SEEN), lines))  # long lines are broken there
        assert not seen.page.locator("label.all-lines").first.is_visible()
