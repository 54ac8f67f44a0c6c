"""Formulas: what the pages hold, and how they look and scroll in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from fontTools.ttLib import TTFont

from _ext.maths import LEAN, RENDERER, breakable, keep_together, plain, tree_of
from tests.ext.pages import parse
from tests.ext.serving import serving
from tests.ext.test_browser import ALL_LAID_OUT, ALL_OPEN, PHONE, SMALL_PHONE, visit
from tools.math_font import FONT, characters

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    paths = sorted(site.rglob("*.html"))
    return {path.relative_to(site).as_posix(): parse(path) for path in paths}


def test_the_font_holds_what_formulas_use(pages: dict[str, BeautifulSoup]) -> None:
    held = {chr(code) for code in TTFont(FONT).getBestCmap()}
    missing = {name: characters([page]) - held for name, page in pages.items()}
    assert not {name: found for name, found in missing.items() if found}, (
        "run tools/math_font.py, which says how"
    )


def test_the_font_is_small() -> None:
    assert FONT.stat().st_size < 40_000


def test_a_formula_is_there_once(pages: dict[str, BeautifulSoup]) -> None:
    for name, page in pages.items():
        for formula in page.select(".math"):
            assert len(formula.find_all("math")) == 1, f"{name}: {formula}"
            assert not formula.find(["annotation", "semantics"]), f"{name}: {formula}"


def test_slanted_letters_get_the_room_that_the_font_asks_for() -> None:
    font = TTFont(FONT)
    table = font["MATH"].table.MathGlyphInfo.MathItalicsCorrectionInfo
    corrections = dict(zip(table.Coverage.glyphs, table.ItalicsCorrection, strict=True))
    slanted = BeautifulSoup(
        "".join(f"<math><mi>{letter}</mi></math>" for letter in LEAN), "html.parser"
    )
    names = font.getBestCmap()
    for formula in slanted.find_all("math"):
        (character,) = characters([BeautifulSoup(str(formula), "html.parser")])
        if ord(character) in names:  # others the book does not use
            asked = corrections[names[ord(character)]].Value / 1000
            assert LEAN[formula.get_text()] / 20 == pytest.approx(asked, abs=0.04), formula


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        (r"d_k = 64", 1),
        (r"\sigma(z_1 = z_2 + z_3 + z_4 + z_5)", 1),
        (r"\mathrm{E}[X^4] = 3\,\mathrm{E}[X^2]^2 = 3", 3),
        (r"a + b + c + d + e + f = g + h + i + j + k + l", 2),
        (r"a_1 + b_1 + c_1 + d_1 + e_1 + f_1 + g_1 + h_1 + i_1 + j_1 + k_1", 11),
    ],
)
def test_long_formulas_in_text_break_after_signs_and_never_in_brackets(
    formula: str, parts: int
) -> None:
    mathml = tree_of(RENDERER.render(formula, display=False))
    assert (len(mathml) if mathml.get("class") == "breaks" else 1) == parts
    assert breakable(mathml) is mathml


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\sqrt{d_k}", "√dₖ"),
        (r"\sigma^2", "σ²"),
        (r"\frac{a}{b}", "a/b"),
        (r"\begin{aligned}a&=b,\\c&=d\end{aligned}", "a=b, c=d "),
        (r"\frac{a}", r"\frac{a}"),
    ],
)
def test_titles_name_formulas_in_plain_text(formula: str, text: str) -> None:
    assert plain(formula) == text


def test_the_search_knows_no_tex(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "softmax(QKᵀ/√dₖ)V" in index
    assert re.findall(r"\\\\(?:sqrt|t?frac|qquad|operatorname|sigma)", index) == []


@pytest.mark.proof("pages")
def test_a_wide_formula_scrolls_with_the_keyboard_and_only_where_it_is_wide(
    browser: Browser, site: Path
) -> None:
    boxes = """() => [...document.querySelectorAll(".math-scroll")].map((box) =>
      [box.scrollWidth > box.clientWidth + 1, box.tabIndex === 0])"""
    with visit(browser, site / "chapters" / "02_variance.html", width=SMALL_PHONE) as seen:
        seen.page.evaluate(ALL_OPEN)
        seen.page.add_style_tag(content=ALL_LAID_OUT)
        seen.page.wait_for_timeout(100)
        # the rows of this chapter's formulas are short enough for a small phone, not for a watch
        assert not any(wide or stops for wide, stops in seen.page.evaluate(boxes))
        seen.page.set_viewport_size({"width": 200, "height": 900})
        seen.page.wait_for_timeout(100)
        narrow = seen.page.evaluate(boxes)
        assert any(wide for wide, _ in narrow)
        assert all(wide == stops for wide, stops in narrow)
        assert seen.page.evaluate("document.fonts.check('1em \"Book Maths\"')")
        seen.page.set_viewport_size({"width": 1280, "height": 900})
        seen.page.wait_for_timeout(100)
        assert not any(stops for _, stops in seen.page.evaluate(boxes))
    assert not seen.errors


@pytest.mark.proof("pages")
def test_copied_text_has_formulas_in_tex(browser: Browser, site: Path) -> None:
    copied = """() => {
      const text = document.querySelector("article p:has(.math)");
      getSelection().selectAllChildren(text);
      const event = new ClipboardEvent("copy", {
        clipboardData: new DataTransfer(),
        bubbles: true,
      });
      text.dispatchEvent(event);
      const formula = text.querySelector("math").getAttribute("alttext");
      return [formula, event.clipboardData.getData("text/plain")];
    }"""
    with visit(browser, site / "chapters" / "01_puzzle.html") as seen:
        formula, text = seen.page.evaluate(copied)
    assert f"${formula}$" in text


@pytest.mark.proof("pages")
def test_the_copy_of_a_formula_that_may_break_keeps_the_comma_behind_it(
    browser: Browser, site: Path
) -> None:
    copied = """() => {
      const formula = document.querySelector("p .math:has(.after)");
      getSelection().selectAllChildren(formula.parentElement);
      const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer() });
      document.dispatchEvent(event);
      const tex = formula.querySelector("math").getAttribute("alttext");
      const after = formula.querySelector(".after").textContent;
      return [`$${tex}$${after}`, event.clipboardData.getData("text/plain")];
    }"""
    with visit(browser, site / "chapters" / "04_gradients.html") as seen:
        formula, text = seen.page.evaluate(copied)
    assert formula in text


@pytest.mark.proof("pages")
def test_no_line_moves_when_the_font_of_formulas_comes(browser: Browser, site: Path) -> None:
    asked = "[...document.querySelectorAll('link[rel=preload]')].map((link) => link.href)"
    name = "chapters/02_variance.html"
    with serving(site) as address, visit(browser, f"{address}/{name}") as seen:
        (href,) = seen.page.evaluate(asked)
        assert href.endswith("/_static/maths/book-maths.woff2")
        assert seen.page.evaluate("(href) => fetch(href).then((font) => font.ok)", href)
    with visit(browser, site / name) as seen:
        assert seen.page.evaluate(asked) == [], "a browser refuses it from a disk"


CLIPBOARD = """async () => {
  const [held] = await navigator.clipboard.read();
  const read = async (kind) => (await held.getType(kind)).text();
  return [await read("text/plain"), await read("text/html")];
}"""


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """Open a chapter on this machine, whose clipboard a test may read."""
    with serving(site) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(f"{address}/chapters/01_puzzle.html")
        yield page
        context.close()


def tex(formula: Locator) -> str:
    """Return the TeX of a formula of the page."""
    return formula.locator("math").get_attribute("alttext") or ""


def copied(page: Page) -> tuple[str, str]:
    """Press the keys that copy, and return what the clipboard holds as text and as HTML."""
    page.keyboard.press("ControlOrMeta+c")
    plain_text, markup = page.evaluate(CLIPBOARD)
    return plain_text.replace("\r", ""), markup


def written(words: Locator) -> str:
    """Return a paragraph as its source has it, formulas as TeX."""
    paragraph = BeautifulSoup(words.evaluate("(node) => node.outerHTML"), "html.parser")
    for formula in paragraph.find_all("math"):
        formula.replace_with(f"${formula['alttext']}$")
    return " ".join(paragraph.get_text().split())


@pytest.mark.proof("pages")
class TestTheClipboard:
    """What Chromium puts there when a reader presses its keys."""

    def test_a_paragraph_is_copied_with_the_mouse(self, page: Page) -> None:
        words = page.locator("section > p:has(.math)").first
        words.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        box = words.bounding_box()
        # from its end, since a link that it begins with would be dragged
        page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] - 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 1, box["y"] + 10, steps=5)
        page.mouse.up()
        text, markup = copied(page)
        assert text == written(words)
        assert markup.count("<math") == words.locator("math").count()

    def test_a_formula_where_the_selection_ends_is_not_taken_along(self, page: Page) -> None:
        """Three clicks select a paragraph up to the first letter of what is below it."""
        words = page.locator("section > p:has(+ div.math)").nth(1)
        words.evaluate("""(words) => {
          const letter = words.nextElementSibling.querySelector("mi").firstChild;
          getSelection().setBaseAndExtent(words, 0, letter, 0);
        }""")
        assert copied(page)[0].strip() == written(words)

    def test_half_a_formula_is_copied_whole(self, page: Page) -> None:
        formula = page.locator("section > p > .math").first
        formula.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        box = formula.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.6, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] + 60, middle, steps=5)
        page.mouse.up()
        text, markup = copied(page)
        behind = formula.evaluate("(node) => node.nextSibling.textContent")
        assert text.startswith(f"${tex(formula)}${behind[:4]}")
        assert "<msub>" in markup

    def test_the_keyboard_selects_up_to_the_middle_of_a_formula(self, page: Page) -> None:
        word = page.evaluate("""() => {
          const words = document.querySelector("section > p > .math").previousSibling;
          const word = words.data.trim().split(/\\s/).at(-1);
          const begin = words.data.lastIndexOf(word);
          getSelection().setBaseAndExtent(words, begin, words, begin + word.length);
          return word;
        }""")
        while page.evaluate("getSelection().toString().trim()") == word:
            page.keyboard.press("Shift+ArrowRight")
        text, _markup = copied(page)
        assert text == f"{word} ${tex(page.locator('section > p > .math').first)}$"

    def test_a_formula_on_a_line_of_its_own_has_its_marks_and_its_number(self, page: Page) -> None:
        formula = page.locator("div.math").first
        formula.evaluate("(node) => getSelection().selectAllChildren(node)")
        assert copied(page)[0] == rf"$${tex(formula)} \tag{{1.1}}$$"

    def test_a_whole_section_keeps_its_lines(self, page: Page) -> None:
        section = page.locator("section > section:has(div.math)").first
        section.evaluate("(node) => getSelection().selectAllChildren(node)")
        text, _markup = copied(page)
        for formula in section.locator(".math:visible").all():
            assert tex(formula) in text
        assert text.count("\n") > 10

    def test_text_without_a_formula_is_copied_as_ever(self, page: Page) -> None:
        heading = page.locator("article h2").first
        heading.evaluate("(node) => getSelection().selectAllChildren(node.firstChild)")
        assert "$" not in copied(page)[0]

    def test_a_column_that_a_formula_names_is_copied_once(self, page: Page) -> None:
        page.goto(page.url.replace("01_puzzle", "05_divisor"))
        head = page.locator("th:has(.visually-hidden)").first
        head.evaluate("(node) => getSelection().selectAllChildren(node)")
        assert copied(page)[0] == f"${tex(head.locator('.math'))}$"


@pytest.mark.proof("pages")
@pytest.mark.parametrize(
    ("page", "width"), [("glossary", PHONE), ("04_gradients", PHONE), ("critical_scale", 1280)]
)
def test_no_comma_behind_a_formula_begins_a_line(
    browser: Browser, site: Path, page: str, width: int
) -> None:
    alone = """() => [...document.querySelectorAll(".math-kept, math")].filter((kept) => {
      if (!kept.matches(".math-kept, :has(.after)")) return false;
      const comma = document.createRange();
      comma.selectNodeContents(kept.querySelector(".after") ?? kept.lastChild);
      const end = kept.querySelector(".after")?.previousElementSibling
        ?? [...kept.querySelectorAll("math, math.breaks > mrow")].at(-1);
      const { left, right, bottom } = end.getBoundingClientRect();
      const begins = comma.getBoundingClientRect();
      return right > left && (begins.left < right - 3 || begins.top > bottom - 2);
    }).map((kept) => kept.textContent)"""
    with visit(browser, site / "chapters" / f"{page}.html", width=width) as seen:
        assert seen.page.locator(".math-kept").count() > 10
        assert seen.page.evaluate(alone) == []


def test_each_formula_takes_the_comma_behind_itself() -> None:
    """Also where the same words come earlier, behind something else."""
    m = nodes.math("", "m")
    line = nodes.paragraph("", "", nodes.emphasis("", "n"), nodes.Text(", or "), m)
    line += [nodes.Text(", or "), nodes.emphasis("", "p")]
    keep_together(m)
    assert m["after"] == ","
    assert [part.astext() for part in line] == ["n", ", or ", "m", " or ", "p"]


def test_a_formula_that_ends_bold_words_takes_the_comma_behind_them() -> None:
    """And no formula in their midst does."""
    first, last = nodes.math("", "m"), nodes.math("", "n")
    bold = nodes.strong("", "", first, nodes.Text(" of "), last)
    line = nodes.paragraph("", "", bold, nodes.Text(", or so"))
    keep_together(first)
    keep_together(last)
    assert last["after"] == ","
    assert "after" not in first
    assert line.astext() == "m of n or so"


@pytest.mark.parametrize("name", ["chapters/05_divisor.html", "chapters/critical_scale.html"])
def test_a_column_that_a_formula_names_is_named_in_words_too(site: Path, name: str) -> None:
    heads = parse(site / name).select("th.head")
    assert any(head.find("math") for head in heads)
    for head in heads:
        formulas = " ".join(math.get_text() for math in head.select("math"))
        words = [text for text in head.stripped_strings if text not in formulas]
        assert words or head.select_one(".visually-hidden"), head
        for formula in head.select("[aria-hidden=true] math"):
            said = plain(str(formula["alttext"])).replace("\u2061", "")
            assert head.select_one(".visually-hidden").get_text() == said
