"""A chapter can be printed without what answers its questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ext.test_browser import DESK, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("pages")

ANSWERS = ".solution, .solution pre, .tag_answer, .answering, .told, .hint"
SHOWN = """(what) => [...document.querySelectorAll(what)].filter((part) =>
  part.getClientRects().length > 0).length"""
BUTTON = "Print without answers"


@pytest.mark.parametrize("name", ["01_puzzle", "11_exercises"])
def test_a_handout_has_the_questions_and_no_answer(browser: Browser, site: Path, name: str) -> None:
    with visit(browser, site / "chapters" / f"{name}.html", width=DESK) as seen:
        page = seen.page
        page.evaluate("() => { globalThis.printed = 0; globalThis.print = () => printed++; }")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        exercises = page.locator(".exercise").count()
        assert page.evaluate(SHOWN, ANSWERS) > 0, "a common print has them"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        page.get_by_role("button", name=BUTTON).click()
        assert page.evaluate("printed") == 1
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(SHOWN, ANSWERS) == 0
        assert page.evaluate(SHOWN, ".exercise") == exercises > 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(SHOWN, ANSWERS) > 0, "the next print is a common one again"
    assert not seen.errors


def test_without_scripts_or_answers_there_is_no_button(browser: Browser, site: Path) -> None:
    for name, scripts in (("chapters/01_puzzle", False), ("chapters/summary", True)):
        with visit(browser, site / f"{name}.html", scripts=scripts) as seen:
            assert seen.page.get_by_text(BUTTON).count() == 0
