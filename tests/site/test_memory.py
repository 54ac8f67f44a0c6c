"""What readers predicted and recalled: kept in their browser, asked again after days."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from _ext import memory
from tests.book.notebooks import BOOK
from tests.site.serving import serving
from tests.site.test_browser import AT_REST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

CHAPTER = "chapters/01_puzzle.html"
DAY = 24 * 60 * 60 * 1000


@pytest.fixture
def reader(browser: Browser, site: Path) -> Iterator[Page]:
    """Open the first chapter as a reader who has never been here."""
    with serving(site) as address:
        context = browser.new_context(base_url=address, service_workers="block")
        page = context.new_page()
        page.clock.set_fixed_time(0)
        page.goto(CHAPTER)
        page.evaluate(AT_REST)
        yield page
        context.close()


def due(page: Page) -> str:
    """Return what the landing page offers to recall, or nothing."""
    page.goto("index.html")
    room = page.locator(".recall-due")
    return room.inner_text() if room.count() else ""


@pytest.mark.proof("pages")
def test_a_question_that_was_not_known_comes_back_the_next_day(reader: Page) -> None:
    reader.locator("details.recall").first.evaluate("box => { box.open = true; }")
    reader.get_by_role("button", name="Not yet").first.click()
    assert reader.locator(".recall-answer").first.inner_text().endswith("Again in 1 day.")
    assert due(reader) == ""
    reader.clock.set_fixed_time(DAY + 1000)
    assert due(reader) == f"Due for review: {BOOK.page('01_puzzle').title} (1)"
    link = reader.locator(".recall-due a")
    assert link.get_attribute("href") == f"{CHAPTER}#recall"


@pytest.mark.proof("pages")
def test_a_question_that_was_known_comes_back_later_each_time(reader: Page) -> None:
    reader.locator("details.recall").first.evaluate("box => { box.open = true; }")
    said = reader.locator(".recall-answer").first
    knew = reader.get_by_role("button", name="I knew it").first
    waits = []
    for _ in range(5):
        knew.click()
        waits.append(int(re.search(r"Again in (\d+) day", said.inner_text())[1]))
    assert waits == [1, 4, 14, 45, 45]
    reader.get_by_role("button", name="Not yet").first.click()
    assert "Again in 1 day" in said.inner_text()


@pytest.mark.proof("pages")
def test_the_first_answer_to_a_prediction_counts(reader: Page) -> None:
    tally = reader.locator(".tally")
    assert tally.count() == 0
    form = reader.locator("form.prediction.choice").first
    options = form.locator("input[type=radio]")
    options.first.check()  # a tenth: wrong
    form.get_by_role("button", name="Commit").click()
    count = len(BOOK.page("01_puzzle").predictions)
    assert tally.text_content() == f"You predicted 0 of 1 right, of {count} on this page."
    form.get_by_role("button", name="Try again").click()
    options.last.check()
    form.get_by_role("button", name="Commit").click()
    assert tally.text_content().startswith("You predicted 0 of 1 right")


@pytest.mark.proof("pages")
@pytest.mark.parametrize("kept", ["no JSON", "[1]", '"x"', "null"])
def test_what_makes_no_sense_is_forgotten(reader: Page, kept: str) -> None:
    reader.evaluate("kept => localStorage.setItem('why-divide-by-root-dk.memory', kept)", kept)
    reader.reload()
    assert reader.locator(".tally").count() == 0
    assert due(reader) == ""


def test_the_deck_has_every_question_and_answer(site: Path) -> None:
    lines = (site / memory.DECK).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    asked = [(page.topic, question) for page in BOOK.chapters for question in page.recall]
    assert [topic for *_, topic in rows] == [topic for topic, _ in asked]
    assert len(rows) == 30
    for (question, answer, _), (_, (title, body)) in zip(rows, asked, strict=True):
        for field, source in ((question, title), (answer, body)):
            words = re.findall(
                r"[A-Za-z]{4,}", re.sub(r"\$[^$]*\$|<!--.*?-->|\{.*?\}|<.*?>", "", source)
            )
            assert all(word in html.unescape(field) for word in words)
            assert "$" not in field
            assert "<!--" not in field


def test_each_core_ends_with_the_deck(site: Path) -> None:
    for page in BOOK.chapters[:10]:
        text = (site / f"{page.name}.html").read_text(encoding="utf-8")
        assert text.count('href="../_static/review-questions.txt"') == 1, page.name
