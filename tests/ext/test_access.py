"""The pages by keyboard, enlarged, at rest, in the system's colors, and on the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from _ext import access
from tests.ext import pages
from tests.ext.test_browser import (
    ALL,
    ALL_LAID_OUT,
    CONTENT,
    PHONE,
    SPACED,
    TWICE_THE_SIZE,
    unfit,
    violations,
    visit,
)
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PUZZLE = "chapters/01_puzzle.html"
# One page of each kind; what they have in common is the theme's.
KINDS = [
    "index.html",
    PUZZLE,
    "chapters/glossary.html",
    "chapters/models.html",
    "chapters/reference/softmax.html",
    "search.html",
]
WORD = ".bd-article a:has(> .std-term)"

# The contents of a page show the parts of that section alone where the reader is.
UNFOLDS = "'.page-toc .toc-h3 a'"
# Where the keyboard is: whether that can be seen, at all and above what else is on the page.
STOP = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const drawn = node.querySelector(".toctree-toggle") ?? node;
  // of a link that goes on in the next line, the part that is in the first
  const box = drawn.getClientRects()[0] ?? drawn.getBoundingClientRect();
  const style = getComputedStyle(drawn);
  const x = Math.max(0, Math.min(box.x + box.width / 2, innerWidth - 1));
  const y = Math.max(0, Math.min(box.y + Math.min(box.height / 2, 20), innerHeight - 1));
  const above = document.elementFromPoint(x, y);
  const faults = [];
  if (box.width < 1 || box.height < 1) faults.push("it has no size");
  if (box.bottom < 1 || box.top > innerHeight - 1 || box.right < 1 || box.left > innerWidth - 1) {
    faults.push("it is outside the window");
  }
  if (!above || !(node.contains(above) || above.contains(node))) faults.push("it is covered");
  const ringed = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2;
  const [, spread] = style.boxShadow.match(/ 0px 0px 0px (\\d+)/) ?? [];
  const shaded = spread >= 2;
  if (!ringed && !shaded) faults.push("nothing shows the focus");
  window.stops ??= new Set();
  const again = window.stops.has(node);
  window.stops.add(node);
  window.named = ({ tagName, className, ariaLabel, innerText }) =>
    `${tagName}.${className} ${(ariaLabel || innerText || "").slice(0, 40)}`;
  return { name: named(node), faults, again };
}"""
# What keys should reach: links, controls, summaries and what scrolls, where it is to be seen. Of
# these, what they did not; and where they were beside.
NOT_AS_WANTED = """() => {
  const wanted = new Set([...document.querySelectorAll(
    "a[href], button, input, select, summary, textarea, [tabindex='0']")]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && !node.closest("dialog:not([open])"))
  .filter((node) => node.checkVisibility({ checkVisibilityCSS: true }))
  .filter((node) => !(node.type === "radio" && !node.checked &&
    [...node.form.elements].filter(({ name }) => name === node.name).indexOf(node) > 0))
  .filter((node) => !node.matches(UNFOLDS)));
  return [
    ...[...wanted].filter((node) => !stops.has(node)).map((node) => `not reached: ${named(node)}`),
    ...[...stops].filter((node) => !wanted.has(node) && !node.matches(UNFOLDS))
      .map((node) => `beside: ${named(node)}`),
  ];
}""".replace("UNFOLDS", UNFOLDS)
# What is where in the window.
READING = """() => Object.fromEntries([...document.querySelectorAll(".bd-article :is(p, li, pre)")]
  .map((node) => [node.textContent, node.getBoundingClientRect().y])
  .filter(([text, y]) => text.length > 30 && y > 0 && y < innerHeight))"""
KEPT = "Object.keys(sessionStorage).some((key) => key.includes('place:'))"
# Where no place is kept of a reader who leaves in the middle of scrolling.
NOT_KEPT = """() => {
  const lost = [];
  for (let top = 200; top < document.documentElement.scrollHeight - innerHeight; top += 37) {
    scrollTo({ top, behavior: "instant" });
    dispatchEvent(new Event("scroll"));
    dispatchEvent(new Event("pagehide"));
    if (!Object.keys(sessionStorage).some((key) => key.includes("place:"))) lost.push(top);
  }
  return lost;
}"""
BACK = f"(texts) => Object.keys(({READING})()).some((text) => texts.includes(text))"
# Opened boxes hold further stops, and a page has to be walked but once.
IN_THE_ARTICLE_OPEN = """() => document.querySelectorAll(".bd-article details")
  .forEach((box) => { box.open = true; })"""
# As if nothing had had the focus yet.
FROM_THE_TOP = """() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}"""
FOCUSED = "(node) => node === document.activeElement"

# What moves by itself or takes its time.
MOVING = """() => {
  const found = new Set();
  for (const node of document.querySelectorAll("*")) {
    for (const part of ["", "::before", "::after"]) {
      const style = getComputedStyle(node, part || null);
      const takes = (times) => times.split(",").some((time) => Number.parseFloat(time) > 0);
      const name = `${node.tagName}.${node.className}${part}`;
      if (style.transitionProperty !== "none" && takes(style.transitionDuration)) {
        found.add(`${name} changes slowly`);
      }
      if (style.animationName !== "none") found.add(`${name} moves`);
      if (style.scrollBehavior === "smooth") found.add(`${name} scrolls slowly`);
    }
  }
  return [...found].slice(0, 5);
}"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a page to look at."""

    def write_page(body: str) -> Path:
        path = tmp_path / "page.html"
        head = "<meta charset='utf-8'><title>T</title>"
        frame = f"<!DOCTYPE html><html lang='en'><head>{head}</head><body><main>"
        path.write_text(
            f"{frame}<article class='bd-article'><h1>T</h1>{body}</article></main></body></html>",
            encoding="utf-8",
        )
        return path

    return write_page


def walk(page: Page, most: int = 400) -> Iterator[dict[str, Any]]:
    """Go through a page by the tab key, from its start until it comes round or ends."""
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        if stop is None or stop["again"]:
            return
        yield stop
    pytest.fail(f"the page does not end after {most} stops")


@pytest.mark.proof("pages")
class TestKeys:
    @pytest.mark.parametrize("name", KINDS)
    def test_every_stop_on_the_way_through_a_page_can_be_seen_and_none_is_left_out(
        self, browser: Browser, site: Path, name: str
    ) -> None:
        with visit(browser, site / name) as seen:
            seen.page.evaluate(IN_THE_ARTICLE_OPEN)
            if name == "search.html":  # its field takes the focus by itself
                seen.page.evaluate(FROM_THE_TOP)
            # walked as it is, with what is far from the window not laid out before it comes near
            stops = list(walk(seen.page))
            seen.page.add_style_tag(content=ALL_LAID_OUT)
            seen.page.wait_for_timeout(600)  # what scrolls is found out a moment later
            found = seen.page.evaluate(NOT_AS_WANTED)
        assert "Skip to main content" in stops[0]["name"]
        found += [f"{stop['name']}: {fault}" for stop in stops for fault in stop["faults"]]
        assert not found, "\n".join(found)

    def test_the_first_link_leads_past_the_sidebar(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / PUZZLE) as seen:
            keys = seen.page.keyboard
            keys.press("Tab")
            keys.press("Enter")
            keys.press("Tab")
            assert seen.page.evaluate("document.activeElement.closest('main') !== null")

    @pytest.mark.parametrize(
        "button", [".primary-toggle", ".secondary-toggle", ".search-button__button:visible"]
    )
    def test_what_opens_over_the_page_closes_by_escape_and_gives_the_focus_back(
        self, browser: Browser, site: Path, button: str
    ) -> None:
        with visit(browser, site / PUZZLE, width=PHONE) as seen:
            opener, opened = seen.page.locator(button).first, seen.page.locator("dialog[open]")
            opener.focus()
            seen.page.keyboard.press("Enter")
            assert opened.get_attribute("aria-label")
            assert opened.evaluate("(node) => node.contains(document.activeElement)")
            if "search" not in button:
                seen.page.keyboard.press("Tab")
                assert seen.page.evaluate(STOP)["faults"] == []
            assert violations(seen.page, "region", "target-size", "aria-dialog-name") == []
            seen.page.keyboard.press("Escape")
            opened.wait_for(state="detached")
            seen.page.wait_for_timeout(50)
            assert opener.evaluate(FOCUSED)

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            ("<a href='#' style='outline: 0 !important'>link</a>", "nothing shows the focus"),
            (
                "<a href='#' style='position: fixed; left: -9em'>link</a>",
                "it is outside the window",
            ),
            ("<a href='#'>link</a><p style='position: fixed; inset: 0'></p>", "it is covered"),
            ("<a href='#' style='position: fixed; top: -5em'>link</a>", "it is outside the window"),
            ("<a href='#' style='display: block; height: 0'></a>", "it has no size"),
        ],
    )
    def test_a_stop_that_cannot_be_seen_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], body: str, fault: str
    ) -> None:
        ringed = "<style>a:focus-visible { outline: 3px solid }</style>"
        with visit(browser, write(f"{ringed}<a href='#'>good</a>{body}")) as seen:
            good, bad = (stop["faults"] for stop in walk(seen.page))
        assert good == [] or "inset" in body
        assert fault in bad


@pytest.mark.proof("pages")
class TestSizes:
    def test_words_that_are_cut_or_stick_out_are_noticed(
        self, browser: Browser, write: Callable[[str], Path]
    ) -> None:
        words = "<p style='height: 1.2em; overflow: hidden; width: 40em'>some words</p>"
        with visit(browser, write(words)) as seen:
            assert len(unfit(seen.page, SPACED)) == 1
            assert unfit(seen.page, TWICE_THE_SIZE)
            assert unfit(seen.page, "* { }") == []


class TestOutputs:
    @pytest.mark.proof("pages")
    def test_most_that_programs_print_fits_a_phone_and_the_rest_shows_that_it_scrolls(
        self, browser: Browser, site: Path
    ) -> None:
        fits, all_of_them = 0, 0
        for name in ("chapters/02_variance.html", "chapters/09_temperature.html"):
            with visit(browser, site / name, width=PHONE) as seen:
                seen.page.add_style_tag(content=ALL_LAID_OUT)
                found = seen.page.evaluate("""() => {
                  const blocks = [...document.querySelectorAll(".bd-article .cell_output pre")];
                  blocks.forEach((node) => node.closest("details")?.setAttribute("open", ""));
                  return blocks.map((node) => [
                    node.scrollWidth <= node.clientWidth,
                    Boolean(node.closest(".sentences")),
                    getComputedStyle(node).backgroundImage.includes("gradient"),
                  ]);
                }""")
            all_of_them += len(found)
            fits += sum(fit for fit, _, _ in found)
            assert all(fit for fit, sentences, _ in found if sentences)
            assert all(edge for fit, _, edge in found if not fit)
        assert fits >= 0.75 * all_of_them

    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("one line that has no end", True),
            ("mean 0.996 (exact 0.996)\nexactly 90% between", True),
            ("projected (2, 5)  split (2, 4)\nreshape", True),
            ("width  mean\n    4   1.0", False),
            ("n   σ\n16  2.35\n64  2.88", False),
            ("def f():\n    return 1", False),
        ],
    )
    def test_sentences_are_told_from_tables(self, text: str, sentences: bool) -> None:
        document = new_document("page")
        block = nodes.literal_block(text, text, classes=["output", "stream"])
        source = nodes.literal_block(text, text)
        document += [block, source]
        access.mark_sentences(None, document, "page")
        assert (access.SENTENCES in block["classes"]) is sentences
        assert source["classes"] == []


@pytest.mark.proof("pages")
class TestRest:
    @pytest.mark.parametrize("name", [PUZZLE, "chapters/08_training.html", "search.html"])
    def test_nothing_moves_for_those_who_asked_for_rest(
        self, browser: Browser, site: Path, name: str
    ) -> None:
        with visit(browser, site / name) as seen:
            assert seen.page.evaluate(MOVING) == []

    @pytest.mark.parametrize(
        "style",
        ["transition: color 1s", "animation: 1s x", "scroll-behavior: smooth"],
    )
    def test_what_moves_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], style: str
    ) -> None:
        with visit(browser, write(f"<p style='{style}'>words</p>")) as seen:
            assert len(seen.page.evaluate(MOVING)) == 1


@pytest.mark.proof("pages")
class TestColorsOfTheSystem:
    def test_boxes_keep_a_border_and_figures_their_bars(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / PUZZLE) as seen:
            seen.page.emulate_media(forced_colors="active")
            assert seen.page.evaluate("matchMedia('(forced-colors: active)').matches")
            borders = seen.page.locator(".bd-article .admonition").evaluate_all(
                "(all) => all.map((node) => getComputedStyle(node).borderTopWidth)"
            )
            assert borders
            assert "0px" not in borders
            ground, fill = seen.page.locator(".live-figure svg:has(.bars)").first.evaluate(
                """(node) => [getComputedStyle(node).backgroundColor,
                  getComputedStyle(node.querySelector(".bars")).fill]"""
            )
            assert ground != fill
            seen.page.keyboard.press("Tab")
            assert seen.page.evaluate(STOP)["faults"] == []


class TestWords:
    """The glossary's words: a note beside the word, and a way back from the glossary."""

    @pytest.mark.proof("pages")
    def test_a_note_comes_by_keys_and_goes_by_escape(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / PUZZLE) as seen:
            note, words = seen.page.locator("#term-note"), seen.page.locator(WORD)
            assert not note.is_visible()
            word = seen.page.locator(".bd-article a[href$='#term-query']").first
            word.focus()
            seen.page.keyboard.press("Shift+Tab")
            seen.page.keyboard.press("Tab")
            assert word.evaluate(FOCUSED)
            assert note.inner_text().startswith("A vector that says what is sought.")
            assert word.get_attribute("aria-describedby") == "term-note"
            assert note.get_attribute("role") == "tooltip"
            assert violations(seen.page, "color-contrast", "aria-tooltip-name", "region") == []
            seen.page.keyboard.press("Escape")
            assert not note.is_visible()
            assert word.evaluate(FOCUSED)
            assert word.get_attribute("aria-describedby") is None
            seen.page.keyboard.press("Enter")
            seen.page.wait_for_url("**/glossary.html#term-query")
            assert words.count() == 0, "the glossary needs no notes"

    @pytest.mark.proof("pages")
    def test_a_note_stays_under_the_pointer(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / PUZZLE) as seen:
            note = seen.page.locator("#term-note")
            seen.page.locator(WORD).first.hover()
            note.wait_for(state="visible")
            note.hover()
            seen.page.wait_for_timeout(400)
            assert note.is_visible()
            seen.page.mouse.move(5, 5)
            note.wait_for(state="hidden")

    @pytest.mark.proof("pages")
    def test_the_first_tap_shows_the_note_the_second_leads_to_the_glossary(
        self, browser: Browser, site: Path
    ) -> None:
        context = browser.new_context(
            viewport={"width": PHONE, "height": 700}, has_touch=True, is_mobile=True
        )
        try:
            page = context.new_page()
            page.goto((site / PUZZLE).as_uri())
            note, word = page.locator("#term-note"), page.locator(WORD).nth(3)
            word.tap()
            note.wait_for(state="visible")
            box = note.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE
            assert page.url.endswith(PUZZLE)
            page.locator(".bd-article h1").tap()
            assert not note.is_visible()
            word.tap()
            word.tap()
            page.wait_for_url("**/glossary.html#term-*")
        finally:
            context.close()

    @pytest.mark.parametrize("name", CONTENT)
    def test_every_word_of_a_page_brings_its_note(self, site: Path, name: str) -> None:
        page = pages.parse(site / name)
        linked = {
            str(link["href"]).partition("#")[2]
            for link in page.select(".bd-article a:has(> .std-term)")
            if "glossary.html#" in str(link["href"])
        }
        kept = page.find("template", class_="term-notes")
        notes = kept.find_all(attrs={"data-term": True}) if kept else []
        assert {note["data-term"] for note in notes} == linked
        for note in notes:
            said = BeautifulSoup(note.decode_contents(), "html.parser")
            assert len(said.get_text(strip=True)) > 20
            assert not said.select("a, [id]"), "what a keyboard could not reach, or says twice"
            assert "(The " not in said.get_text(), "the chapter is left out"

    @pytest.mark.parametrize(("changed", "wanted"), [(access.GLOSSARY, ["one"]), ("two", [])])
    def test_a_page_that_quotes_the_glossary_follows_it(
        self, changed: str, wanted: list[str]
    ) -> None:
        env = SimpleNamespace(metadata={"one": {"book_terms": "yes"}, "two": {}})
        assert access.rewrite_with_the_glossary(None, env, set(), {changed}, set()) == []
        assert access.pages_with_words(None, env) == wanted

    @pytest.mark.parametrize("name", ["chapters/08_training.html", "chapters/glossary.html"])
    def test_every_place_is_kept(self, browser: Browser, site: Path, name: str) -> None:
        with visit(browser, site / name, width=PHONE) as seen:
            assert seen.page.evaluate(NOT_KEPT) == []

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("away", ["a word", "a reload"])
    def test_the_way_back_leads_to_where_the_reader_was(
        self, browser: Browser, site: Path, away: str
    ) -> None:
        name = "chapters/08_training.html"
        with visit(browser, site / name, width=PHONE) as seen:
            seen.page.evaluate("scrollTo(0, 0.7 * document.documentElement.scrollHeight)")
            wait_until(seen.page, KEPT)  # and what was far from the window is laid out now
            before = seen.page.evaluate(READING)
            if away == "a word":
                seen.page.locator(WORD).last.evaluate("(node) => node.click()")
                seen.page.wait_for_url("**/glossary.html#*")
                seen.page.go_back()
            else:
                seen.page.reload()
            wait_until(seen.page, BACK, list(before))
            seen.page.wait_for_timeout(300)
            after = seen.page.evaluate(READING)
            assert len(before) > 3
            both = before.keys() & after.keys()
            quarter = seen.page.viewport_size["height"] / 4
            assert all(abs(before[text] - after[text]) < quarter for text in both)

    @pytest.mark.proof("pages")
    def test_a_place_of_an_earlier_visit_is_forgotten(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / "chapters" / "08_training.html") as seen:
            address = seen.page.url
            seen.page.evaluate("scrollTo(0, 9000)")
            for to in (address.replace("08_training", "summary"), address):
                seen.page.evaluate("(to) => location.assign(to)", to)
                seen.page.wait_for_url(to)
            seen.page.reload()
            seen.page.wait_for_timeout(300)
            assert seen.page.evaluate("scrollY") == 0


class TestLandmarks:
    @pytest.mark.parametrize("name", ALL)
    def test_nothing_is_called_otherwise_than_it_is(self, site: Path, name: str) -> None:
        page = pages.parse(site / name)
        assert not page.select("[role=list], [role=doc-biblioentry], summary[aria-label*=hidden]")
        assert all(head.get_text(strip=True) for head in page.select("th.head"))

    @pytest.mark.parametrize("name", ALL)
    def test_every_part_of_a_page_has_a_place_and_a_name(self, site: Path, name: str) -> None:
        page = pages.parse(site / name)
        assert page.select_one("a").get_text() == "Skip to main content"
        assert page.select_one(page.select_one("a")["href"]).name == "main"
        assert page.select_one("#pst-primary-sidebar")["role"] == "region"
        assert all(dialog.get("aria-label") for dialog in page.find_all("dialog"))
        assert page.select_one("#pst-back-to-top").find_parent("nav")
