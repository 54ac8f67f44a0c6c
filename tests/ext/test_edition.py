"""Every page says which version of the book it is from, on the screen and on paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import attnlib
from tests.ext import pages
from tests.ext.test_browser import ALL, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WORDS = f"Why attention divides by √dₖ, version {attnlib.__version__}"
SHOWN = """() => [".edition-on-paper", ".extra_footer"].map(
  (name) => document.querySelector(name).checkVisibility())"""


def test_every_page_says_its_version_at_its_foot(site: Path) -> None:
    feet = {
        name: [line.get_text() for line in pages.parse(site / name).select(".extra_footer > p")]
        for name in ALL
    }
    assert {name: foot for name, foot in feet.items() if foot[:1] != [WORDS]} == {}


@pytest.mark.proof("pages")
@pytest.mark.parametrize("name", ["index.html", "chapters/01_puzzle.html", "chapters/about.html"])
def test_it_is_on_paper_as_well_and_once(browser: Browser, site: Path, name: str) -> None:
    with visit(browser, site / name) as seen:
        assert seen.page.evaluate(SHOWN) == [False, True]
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate(SHOWN) == [True, False]
        assert seen.page.locator(".edition-on-paper").all_inner_texts() == [WORDS]
