"""Boxes to open are the browser's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from docutils import nodes

from _ext.translator import BookTranslator
from tests.book.notebooks import CHAPTERS
from tests.ext import pages

if TYPE_CHECKING:
    from pathlib import Path


def test_a_box_that_nothing_would_open_stops_the_build() -> None:
    box = nodes.admonition("", nodes.paragraph("", "words"), classes=["dropdown"])
    translator = BookTranslator.__new__(BookTranslator)
    translator.body = []
    with pytest.raises(ValueError, match="begin with a title, not 'words'"):
        translator.dispatch_departure(box)


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_box_of_the_site_needs_a_script_to_open(site: Path, name: str) -> None:
    page = pages.parse(site / name.replace(".ipynb", ".html"))
    boxes = page.select("details.dropdown")
    assert boxes
    for box in boxes:
        assert box.find(True)["class"] == ["admonition-title"]
        assert box.find(True).name == "summary"
        # they end where they should: each that follows another has the same parent
        assert not box.select("section > section")
    assert not page.select("div.dropdown.admonition, div.admonition > summary")
