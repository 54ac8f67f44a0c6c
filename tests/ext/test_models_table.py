"""The table of models on its page: what a reader does to it is what attnlib would do."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attnbook.figures import ModelsTable
from attnbook.models.models_table import ALONE, SORTED_BY
from tests.book.notebooks import ROOT
from tests.ext.test_browser import (
    DESK,
    KEEP_ONLY,
    PHONE,
    SMALL_PHONE,
    STICKING_OUT,
    violations,
    visit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

PAGE = "chapters/models.html"
DATA = json.loads((ROOT / "data" / "models.json").read_text(encoding="utf-8"))
TEXTS = ["", "gemma", "  1/DK ", "mT5 d_kv", "norm learned", "nothing has this"]
NAMES = """(root) => [...root.querySelectorAll("tbody tr")].filter((row) => row.checkVisibility())
  .map((row) => row.querySelector("th").textContent)"""
SORTED = """(root) => [...root.querySelectorAll("th[aria-sort]")]
  .map((head) => [head.querySelector("button").name, head.ariaSort])"""
# Each step is sort, descending, text and scheme, set as a reader would by the controls.
WALK = f"""(root, steps) => steps.map(([sort, descending, text, scheme]) => {{
  const form = root.querySelector("form");
  const write = (name, value) => {{
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("input", {{ bubbles: true }}));
  }};
  form.querySelector("button[type=reset]").click();
  write("text", text);
  write("scheme", scheme);
  const head = root.querySelector(`thead button[name="${{sort}}"]`);
  if (sort) head.click();
  if (descending) head.click();
  const shown = [...root.querySelectorAll("tbody tr:not([hidden]) th")];
  const words = root.querySelector(".figure-words").textContent;
  return [shown.map((name) => name.textContent), words, ({SORTED})(root)];
}})"""
WHOLE = """([root, markup]) => {
  const wanted = document.createElement("div");
  wanted.innerHTML = markup;
  const parts = ["table", ".figure-words"];
  const written = (part) => (node) => node.querySelector(part).outerHTML.replaceAll("\\n", "");
  return parts.map((part) => [root, wanted].map(written(part)));
}"""


def models(**state: Any) -> ModelsTable:
    return ModelsTable(DATA["models"], DATA["snapshots"], **state)


def figure(page: Page) -> Locator:
    return page.locator('[data-figure="models_table"]')


def names(page: Page) -> list[str]:
    return figure(page).evaluate(NAMES)


def wanted(**state: Any) -> list[str]:
    return [line["name"] for line in models(**state).rows]


def schemes(page: Page) -> list[str]:
    """List what the field for the way of scaling offers."""
    options = figure(page).locator("select option")
    return options.evaluate_all("(all) => all.map((one) => one.value)")


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """Open the page, and look for errors afterwards."""
    with visit(browser, site / PAGE) as seen:
        yield seen.page
    assert not seen.errors, "\n".join(seen.errors)


class TestEveryState:
    def test_the_lines_on_the_page_are_those_that_attnlib_has(self, page: Page) -> None:
        offered = schemes(page)
        assert {"", ALONE, *(line["kind"] for line in DATA["models"])} < set(offered)
        orders = [("", False), *itertools.product(SORTED_BY, (False, True))]
        filters = [*itertools.product(TEXTS, [""]), *itertools.product(["", "d"], offered)]
        states = [(*order, *chosen) for order, chosen in itertools.product(orders, filters)]
        table = models()
        walked = figure(page).evaluate(f"(...all) => JSON.stringify(({WALK})(...all))", states)
        pairs = zip(json.loads(walked), states, strict=True)
        for (shown, words, heads), state in pairs:
            table.sort, table.descending, table.text, table.scheme = state
            assert shown == [line["name"] for line in table.rows], state
            assert words == table.words(), state
            way = "descending" if table.descending else "ascending"
            assert heads == [[name, way if name == table.sort else "none"] for name in SORTED_BY]

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize(
        "state",
        [
            {},
            {"sort": "times", "scheme": "q/k norm"},
            {"sort": "year", "descending": True, "text": "llama"},
            {"sort": "also", "descending": True, "text": "<i>none"},
        ],
    )
    def test_all_of_the_table_is_as_python_writes_it(
        self, browser: Browser, site: Path, state: dict[str, Any]
    ) -> None:
        table = models(**state)
        with visit(browser, site / PAGE) as seen:
            root = figure(seen.page)
            root.evaluate(WALK, [list(table.values().values())])
            for ours, theirs in root.evaluate(
                f"(root, markup) => ({WHOLE})([root, markup])", table.markup()
            ):
                assert ours == theirs

    @pytest.mark.proof("pages")
    def test_reset_brings_everything_back(self, page: Page) -> None:
        root = figure(page)
        first, second = [["", False, "", ""]], [["year", True, "norm", "soft cap"]]
        before = root.evaluate(WALK, first)
        assert root.evaluate(WALK, second) != before
        root.locator("button[type=reset]").click()
        assert names(page) == before[0][0] == wanted()
        assert root.locator(".figure-words").inner_text() == models().words()
        assert root.get_by_label("Find a model").input_value() == ""
        assert root.get_by_label("Way of scaling").input_value() == ""


@pytest.mark.proof("pages")
class TestHands:
    def test_keys_do_all_of_it(self, page: Page) -> None:
        root, keyboard = figure(page), page.keyboard
        field = root.get_by_label("Find a model")
        field.focus()
        keyboard.type("gpt")
        keyboard.press("Enter")  # which does not send the form
        assert names(page) == wanted(text="gpt")
        keyboard.press("Home")
        keyboard.type("n")  # the caret stays where it was put
        assert field.input_value() == "ngpt"
        assert names(page) == wanted(text="ngpt")
        field.press("Control+a")
        field.press("Delete")
        keyboard.press("Tab")
        assert root.get_by_label("Way of scaling").evaluate("(n) => n === document.activeElement")
        keyboard.type("q/k")
        assert names(page) == wanted(scheme="q/k norm")
        year = root.get_by_role("button", name="year", exact=True)
        year.focus()
        keyboard.press("Enter")
        assert names(page) == wanted(scheme="q/k norm", sort="year")
        keyboard.press("Space")
        assert names(page) == wanted(scheme="q/k norm", sort="year", descending=True)
        assert year.evaluate("(node) => node === document.activeElement")
        root.get_by_role("button", name="Reset").press("Enter")
        assert names(page) == wanted()

    def test_a_finger_does_all_of_it(self, browser: Browser, site: Path) -> None:
        size = {"width": PHONE, "height": 800}
        context = browser.new_context(viewport=size, has_touch=True, is_mobile=True)
        page = context.new_page()
        page.goto((site / PAGE).as_uri())
        root = figure(page)
        year = root.get_by_role("button", name="year", exact=True)
        year.tap()
        year.tap()
        assert names(page) == wanted(sort="year", descending=True)
        root.get_by_label("Find a model").tap()
        page.keyboard.type("cap")
        assert names(page) == wanted(sort="year", descending=True, text="cap")
        root.get_by_label("Way of scaling").select_option("soft cap")
        root.get_by_role("button", name="Reset").tap()
        assert names(page) == wanted()
        context.close()

    @pytest.mark.parametrize("width", [DESK, PHONE])
    def test_what_is_pressed_is_large_enough(
        self, browser: Browser, site: Path, width: int
    ) -> None:
        with visit(browser, site / PAGE, width=width) as seen:
            for control in figure(seen.page).locator("button, input, select").all():
                box = control.bounding_box()
                assert min(box["height"], box["width"]) >= 24  # WCAG 2.2, target size


@pytest.mark.proof("pages")
class TestReading:
    @pytest.mark.parametrize("width", [PHONE, SMALL_PHONE])
    def test_on_a_phone_each_cell_says_its_column_and_none_sticks_out(
        self, browser: Browser, site: Path, width: int
    ) -> None:
        with visit(browser, site / PAGE, width=width) as seen:
            root = figure(seen.page)
            for state in (["", False, "", ""], ["year", True, "", "q/k norm"]):
                root.evaluate(WALK, [state])
                assert seen.page.evaluate(STICKING_OUT) == []
                inner = root.locator(".models").evaluate("(n) => [n.scrollWidth, n.clientWidth]")
                assert inner[0] <= inner[1]
            for cell in root.locator("tbody tr:not([hidden])").first.locator("td").all():
                said = cell.evaluate("(node) => getComputedStyle(node, '::before').content")
                assert cell.get_attribute("data-label") in said or cell.inner_text() == ""

    @pytest.mark.parametrize("width", [DESK, PHONE])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_chosen_part_has_no_severe_violation(
        self, browser: Browser, site: Path, scheme: str, width: int
    ) -> None:
        with visit(browser, site / PAGE, scheme=scheme, width=width) as seen:
            seen.page.evaluate(KEEP_ONLY, 'h1, [data-figure="models_table"]')
            for state in (["year", True, "gemma", ""], ["", False, "nothing has this", ""]):
                figure(seen.page).evaluate(WALK, [state])
                assert violations(seen.page) == []

    def test_a_browser_knows_it_as_a_table_wide_and_narrow(
        self, browser: Browser, site: Path
    ) -> None:
        for width in (DESK, PHONE):
            with visit(browser, site / PAGE, width=width) as seen:
                table = seen.page.get_by_role("table", name="what each does to q·k")
                assert table.get_by_role("rowheader").count() == len(DATA["models"])
                assert table.get_by_role("row").count() == len(DATA["models"]) + 1
                assert table.get_by_role("columnheader", name="year").count() == 1

    @pytest.mark.parametrize("width", [DESK, PHONE])
    def test_without_scripts_the_whole_table_is_shown_and_no_dead_control(
        self, browser: Browser, site: Path, width: int
    ) -> None:
        with visit(browser, site / PAGE, scripts=False, width=width) as seen:
            root = figure(seen.page)
            assert names(seen.page) == wanted()
            assert root.locator("a").count() == models().markup().count("<a href=")
            for control in root.locator("button, input, select").all():
                assert not control.is_visible()
            heads = root.locator("thead th[aria-sort]")
            said = "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
            labels = [label for label, _ in SORTED_BY.values()]
            assert heads.evaluate_all(said) == [f'"{label}"' for label in labels]
