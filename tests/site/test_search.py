"""A search finds the pages that explain before the pages that list, and leads to the section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.book.notebooks import BOOK
from tests.site import pages
from tests.site.serving import serving
from tests.site.test_browser import visit
from tests.site.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHAPTER_PAGES = tuple(f"{page.name}.html" for page in BOOK.chapters)
EXPLAINS = (*CHAPTER_PAGES, "chapters/glossary.html", "chapters/notation.html")
FOUND = """() => [...document.querySelectorAll("#search-results li")].map((item) => [
  item.querySelector("a").getAttribute("href"),
  item.querySelector("a").textContent,
  item.querySelector(".context")?.textContent ?? "",
])"""
ALL_SHOWN = """() => {
  const items = [...document.querySelectorAll("#search-results li")];
  const told = document.querySelector(".search-summary")?.textContent.match(/\\d+/);
  return told && items.length === Number(told[0]);
}"""
EXCERPTS = (
    "() => [...document.querySelectorAll('#search-results li')].every((li) => li.children[1])"
)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address


def results(page: Page) -> list[tuple[str, str, str]]:
    """Return the links of all results, their words and the text below them."""
    wait_until(page, ALL_SHOWN)
    return [tuple(found) for found in page.evaluate(FOUND)]


@pytest.mark.parametrize("words", ["independent", "d_k", "entropy", "saturation"])
def test_chapters_and_glossary_come_before_the_code(
    browser: Browser, site: Path, words: str
) -> None:
    with visit(browser, site / "search.html", query=f"?q={words}") as seen:
        links = [link for link, _title, _text in results(seen.page)]
    assert links[0].startswith(EXPLAINS), links[0]
    code = [at for at, link in enumerate(links) if "/reference/" in link]
    chapters = [at for at, link in enumerate(links) if link.startswith(CHAPTER_PAGES)]
    assert chapters
    assert not code or max(chapters) < min(code)
    assert seen.errors == []


def test_chapters_come_in_their_order(browser: Browser, site: Path) -> None:
    with visit(browser, site / "search.html", query="?q=independent") as seen:
        found = [re.match(r"chapters/(\d\d)_", link) for link, *_ in results(seen.page)]
    numbers = [int(match[1]) for match in found if match]
    assert numbers == sorted(numbers)
    assert {2, 10} < set(numbers)


def test_a_page_is_found_by_its_name(browser: Browser, site: Path) -> None:
    with visit(browser, site / "search.html", query="?q=problem+set") as seen:
        assert results(seen.page)[0][0] == "chapters/grading.html"


def test_a_result_leads_to_the_section_where_the_words_are(
    browser: Browser, site: Path, address: str
) -> None:
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=kurtosis")
    wait_until(page, ALL_SHOWN)
    wait_until(page, EXCERPTS)
    found = [result for result in results(page) if result[0].startswith(CHAPTER_PAGES)]
    page.close()
    led = [result for result in found if "#" in result[0]]
    assert len(led) > 2
    for link, title, text in led:
        name, anchor = link.split("#")
        section = pages.parse(site / name).find(id=anchor)
        heading = section.find(re.compile("^h[2-5]$")).get_text().removesuffix("#")
        assert title.endswith(f" > {heading}")
        assert "kurtosis" in section.get_text().lower()
        assert "kurtosis" in text.lower()
