"""The field of all families on its page: it filters and names what the pointer is on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attnbook.figures import ModelsField
from tests.book.notebooks import ROOT
from tests.ext.test_browser import visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

FAMILIES = json.loads((ROOT / "data" / "census.json").read_text(encoding="utf-8"))["families"]
LAST = FAMILIES[-1]["family"]
# A reader types, chooses a release, and points at a square.
MOVE = """(root, { text, first, family }) => {
  const form = root.querySelector("form");
  for (const [name, value] of [["text", text], ["first", first]]) {
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (family) {
    const square = root.querySelector(`.field i[title="${family}"]`);
    square.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  }
}"""
SHOWN = """(root, markup) => {
  const wanted = document.createElement("div");
  wanted.innerHTML = markup;
  const written = (part) => (node) => node.querySelector(part).outerHTML;
  return [".field", ".figure-words"].map((part) => [root, wanted].map(written(part)));
}"""


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """Open the page, and look for errors afterwards."""
    with visit(browser, site / "chapters" / "models.html") as seen:
        yield seen.page
    assert not seen.errors, "\n".join(seen.errors)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"text": "sink"},
        {"text": "NORM Q/K", "first": "5.24.0"},
        {"family": "t5"},
        {"text": "nothing has this", "family": LAST},
    ],
)
def test_the_field_on_the_page_is_the_one_that_python_writes(
    page: Page, state: dict[str, Any]
) -> None:
    root = page.locator('[data-figure="models_field"]')
    root.scroll_into_view_if_needed()
    wanted = ModelsField(FAMILIES, **state)
    root.evaluate(MOVE, wanted.values())
    for ours, theirs in root.evaluate(SHOWN, wanted.markup()):
        assert ours == theirs


def test_what_the_pointer_is_on_is_named(page: Page) -> None:
    root = page.locator('[data-figure="models_field"]')
    root.locator('i[title="florence2"]').hover()
    words = root.locator(".figure-words").inner_text()
    assert words == ModelsField(FAMILIES, family="florence2").words()


def test_the_keyboard_names_a_family_as_the_pointer_does(page: Page) -> None:
    root = page.locator('[data-figure="models_field"]')
    root.locator("select[name=family]").focus()
    page.keyboard.type("florence2")
    words = root.locator(".figure-words").inner_text()
    assert words == ModelsField(FAMILIES, family="florence2").words()
    assert root.locator("i.chosen").get_attribute("title") == "florence2"
