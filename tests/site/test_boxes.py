"""Boxes to open are the browser's own."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING

import pytest

from _ext import boxes
from tests.book.notebooks import CHAPTERS
from tests.site import pages

if TYPE_CHECKING:
    from pathlib import Path

TITLE = '<p class="admonition-title">Hint</p>'


def test_the_example_holds() -> None:
    assert doctest.testmod(boxes).failed == 0


def test_all_else_stays_as_it_was() -> None:
    page = f'<div class="admonition">{TITLE}<div>a</div></div><div class="dropdown">menu</div>'
    assert boxes.native(page) == page


def test_two_boxes_in_a_row_end_where_they_end() -> None:
    box = f'<div class="dropdown admonition" id="one">{TITLE}<div><div>a</div></div></div>'
    found = boxes.native(f"<div>{box}{box}</div>after")
    inside = re.findall(r"<details([^>]*)>(.*?)</details>", found)
    assert [rest for rest, _ in inside] == [' class="dropdown admonition" id="one"'] * 2
    assert all(words.endswith("</summary><div><div>a</div></div>") for _, words in inside)
    assert found.startswith("<div><details")
    assert found.endswith("</details></div>after")


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<div class="dropdown admonition"><p>words</p></div>', "without a title"),
        (f'<div class="dropdown admonition">{TITLE}<div></div>', "does not end"),
        (f'<div class="dropdown admonition">{TITLE}' * 2 + "</div></div>", "a box in a box"),
    ],
)
def test_what_cannot_be_opened_stops_the_build(page: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        boxes.native(page)


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_box_of_the_site_needs_a_script_to_open(site: Path, name: str) -> None:
    page = pages.parse(site / name.replace(".ipynb", ".html"))
    assert page.select("details.dropdown > summary.admonition-title")
    assert not page.select("div.dropdown.admonition")
