"""The book looks like itself: heads of chapters, landing page, logo, measure, and paper."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from docutils.utils import new_document

from _ext import chapter_head, predictions
from book.model import Page
from tests.book.notebooks import BOOK, CHAPTERS, notebook, read
from tests.ext import pages
from tests.ext.test_browser import ALL_LAID_OUT, ALL_OPEN, DESK, PHONE, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NEEDED = re.compile(r"\{doc\}`(?:[^`<]*<)?([\w/]+)>?`")
PICTURES = ("logo.svg", "favicon.svg")
SMALLEST = 14  # CSS pixels at 16 to the root's em; marks of a figure's axes may have 12
MEASURE = range(50, 81)
NAVIGATION = (
    ".bd-sidebar-primary",
    ".bd-sidebar-secondary",
    ".bd-header-article",
    ".prev-next-footer",
    ".bd-footer-content",
    ".headerlink",
)
# Letters in the first line of the longest paragraph; the mean, as words break anywhere.
LETTERS_A_LINE = """() => {
  const texts = [...document.querySelectorAll(".bd-article > section > section > p")];
  const longest = texts.sort((a, b) => b.textContent.length - a.textContent.length)[0];
  const section = longest.closest("section");
  section.style.contentVisibility = "visible";
  const copy = document.createElement("p");
  copy.textContent = "the mean of a sample and its error say how far it may be off ".repeat(9);
  longest.before(copy);
  const lines = Math.round(
    copy.getBoundingClientRect().height / parseFloat(getComputedStyle(copy).lineHeight));
  const letters = copy.textContent.length / lines;
  copy.remove();
  return letters;
}"""
SMALL_TEXT = """smallest => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const aside = "math, sub, sup, script, style, noscript, dialog, kbd, svg, .headerlink";
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || parent.closest(aside)) continue;
    if (!parent.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    const least = parent.closest(".live-figure") ? smallest - 2 : smallest;
    if (size < least - 0.01) {
      found.add(`${size} px: ${parent.tagName} ${parent.className} ${walker.currentNode.data}`);
    }
  }
  return [...found].map(line => line.trim().slice(0, 100));
}"""


def page_of(name: str) -> str:
    return name.replace(".ipynb", ".html")


def facts_shown(box: Tag | None) -> list[str]:
    """Return the parts of a line that says what a chapter takes, as they are read aloud."""
    if box is None:
        return []
    copy = BeautifulSoup(str(box), "html.parser")
    for silent in copy.find_all(attrs={"aria-hidden": "true"}):
        silent.decompose()
    return [" ".join(part.get_text().split()) for part in copy.select(".chapter-facts > span")]


def times_of(page: Page) -> list[str]:
    """Return what a chapter says of its reading times."""
    deeper = page.minutes - page.core_minutes
    more = [f"{deeper} more to go deeper"] if deeper else []
    return [f"{page.core_minutes} minutes", *more]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_head_of_a_chapter_says_what_was_computed(site: Path, name: str) -> None:
    content = read(name)
    text = "\n".join(cell.source for cell in content.cells if cell.cell_type == "markdown")
    needs = re.search(r"^- \*\*You need\*\*.*$", text, re.MULTILINE)
    level = re.search(r"\*\*Difficulty\*\* [★☆]{3} (\w+)", text)
    page = pages.parse(site / page_of(name))
    head = page.select_one("h1 + .chapter-head")
    *times, difficulty, builds_on = facts_shown(head)
    assert times == times_of(BOOK.page(name))
    assert needs
    assert level
    assert difficulty == level[1]
    links = [link["href"] for link in head.select(".needs a")]
    wanted = list(dict.fromkeys(NEEDED.findall(needs[0])))
    assert links == [f"{page}.html" for page in wanted]
    assert builds_on.startswith("builds on" if wanted else "needs no other chapter")


def test_the_landing_page_lists_all_chapters_with_what_they_take(site: Path) -> None:
    entries = pages.parse(site / "index.html").select(".chapter-list li")
    assert [entry.find("a")["href"] for entry in entries] == [page_of(name) for name in CHAPTERS]
    for entry, name in zip(entries, CHAPTERS, strict=True):
        assert "?" in entry.p.get_text(), "no question"
        chapter = BOOK.page(name)
        level = chapter.contract["Difficulty"].split()[1]
        assert facts_shown(entry) == [*times_of(chapter), level]


def test_the_landing_page_adds_the_times_up(site: Path) -> None:
    said = pages.parse(site / "index.html").select_one(".chapter-list > p").get_text()
    core = sum(p.core_minutes for p in BOOK.chapters if p.core_minutes < p.minutes)
    whole = round(sum(page.minutes for page in BOOK.chapters) / 60)
    assert said == f"The core takes {core} minutes, all of it {whole} hours without the exercises."


def test_instructors_read_what_the_chapters_take(site: Path) -> None:
    rows = pages.parse(site / "chapters/instructors.html").select(".chapter-table tbody tr")
    shown = [[" ".join(cell.get_text().split()) for cell in row.find_all("td")] for row in rows]
    for cells, page in zip(shown, BOOK.chapters, strict=True):
        level = page.contract["Difficulty"].split()[1]
        assert cells[1:4] == [f"{page.core_minutes} minutes", f"{page.minutes} minutes", level]
        assert cells[0].startswith(f"{page.number}. ")
        plain = re.split(r"[{$`]", page.contract["You need"])[0].strip()
        assert cells[4].startswith(plain)
        assert len(cells[4]) > 20
        assert "{doc}" not in cells[4]


def test_below_every_prediction_is_its_form(site: Path) -> None:
    for page in BOOK.pages:
        for box in pages.parse(site / f"{page.name}.html").select(".admonition.predict"):
            below = box.find_next_sibling()
            assert "tag_predict" in below["class"], page.name
            assert below.select_one("form.prediction"), page.name


def test_what_answers_a_prediction_is_folded_and_so_are_the_first_words_about_it(
    site: Path,
) -> None:
    open_ones = []
    for name in CHAPTERS:
        for box in pages.parse(site / page_of(name)).select(".admonition.predict"):
            following = box.find_next_siblings()
            while following and following[0].name == "div" and "cell" in following[0]["class"]:
                cell = following.pop(0)
                if "tag_predict" not in cell["class"]:
                    assert cell.select_one(".cell_output") is None, f"{name}: {box.get_text()}"
            if not following or following[0].name != "details":
                open_ones.append((name, following[0].name))
                continue
            folded = following[0].find_all(recursive=False)
            assert folded[0].name == "summary"
            assert following[0].select_one(".cell_output"), name
            assert "cell" in folded[1]["class"]
    assert open_ones == []


def a_page(text: str) -> nodes.document:
    """Return a page with a box to predict in, and what is told of it a letter at a time."""
    document = new_document("page")
    box = nodes.admonition(classes=["predict"])
    box += nodes.title("", "Predict first")
    document += box
    for letter in text:
        if letter == "p":
            document += nodes.paragraph("", "words")
        elif letter == "t":
            document += nodes.table()
        else:
            kind = {"c": [], "h": ["tag_hide-input"], "f": ["tag_predict"]}
            cell = nodes.container("", classes=["cell", *kind[letter]])
            cell += nodes.container("", classes=["cell_input"])
            cell += nodes.container("", classes=["cell_output"])
            document += cell
    return document


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p", "p"),  # nothing was computed
        ("cp", "c[op]"),
        ("fcpp", "fc[op]p"),
        ("chpp", "c[ohp]p"),
        ("ccp", "c[o]c[op]"),
        ("ctp", "c[otp]"),
        ("cptp", "c[opt]p"),
        ("ctptp", "c[otpt]p"),
        ("cppt", "c[op]pt"),
        ("hp", "h[op]"),
    ],
)
def test_a_fold_takes_what_answers_and_no_more(before: str, after: str) -> None:
    document = a_page(before)
    predictions.prepare(SimpleNamespace(), document)

    def told(node: nodes.Element) -> str:
        if isinstance(node, predictions.Answering):
            return f"[{''.join(map(told, node))}]"
        if predictions.is_cell(node):
            parts = [part["classes"] for part in node]
            if ["cell_input"] not in parts:
                return "o"
            names = {"tag_hide-input": "h", "tag_predict": "f"}
            return next((names[name] for name in node["classes"] if name in names), "c")
        return {"paragraph": "p", "table": "t"}[type(node).__name__]

    assert "".join(map(told, document.children[1:])) == after


@pytest.mark.parametrize("name", PICTURES)
def test_logo_and_favicon_are_drawings_with_a_title(site: Path, name: str) -> None:
    drawing = BeautifulSoup((site / "_static" / name).read_text(encoding="utf-8"), "html.parser")
    assert drawing.svg
    assert drawing.svg.title.get_text(strip=True)
    assert not drawing.find("text"), "the look of a text depends on fonts"
    index = pages.parse(site / "index.html")
    named = [tag.get("src") or tag.get("href") for tag in index.select("img, link")]
    assert any(address and name in address for address in named)


def test_phones_find_a_picture_for_their_home_screen(site: Path) -> None:
    for name in ("index.html", page_of(CHAPTERS[0])):
        link = pages.parse(site / name).find("link", rel="apple-touch-icon")
        picture = ((site / name).parent / link["href"]).resolve()
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.proof("pages")
def test_text_is_large_enough_and_lines_are_as_long_as_one_reads_well(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.goto((site / page_of(CHAPTERS[2])).as_uri())
        assert round(page.evaluate(LETTERS_A_LINE)) in MEASURE
        assert page.evaluate(SMALL_TEXT, SMALLEST) == []
        page.evaluate("document.querySelector('.bd-article p').style.fontSize = '13px'")
        assert len(page.evaluate(SMALL_TEXT, SMALLEST)) > 0, "the test sees no small text"
        shown = "names => names.filter(name => document.querySelector(name)?.checkVisibility())"
        assert page.evaluate(shown, list(NAVIGATION)), "there is nothing to hide"
        page.emulate_media(media="print")
        assert page.evaluate(shown, list(NAVIGATION)) == []
        assert page.locator(".bd-article h1").is_visible()
    finally:
        page.close()


@pytest.mark.parametrize("level", ["", "- **Difficulty** ★☆☆\n"])
def test_a_chapter_that_does_not_say_what_it_takes_is_refused(level: str) -> None:
    def chapter(level: str) -> Page:
        text = f"# A\n\n:::{{admonition}} Contract\n:class: contract\n{level}:::"
        return Page("chapters/a", Path("a.ipynb"), notebook=notebook(text))

    shown = chapter_head.measures(chapter("- **Difficulty** ★☆☆ gentle\n"))
    assert shown[0].astext() == "1 minutes"
    assert shown[1].astext().endswith("gentle")
    with pytest.raises(ValueError, match="chapters/a must state a difficulty"):
        chapter_head.measures(chapter(level))


def test_a_row_of_launch_buttons_is_taken_away_when_it_stays_empty() -> None:
    document = new_document("page")
    kept, gone = (nodes.container(classes=[chapter_head.LAUNCH_ROW]) for _ in range(2))
    document += [kept, gone]
    kept += nodes.paragraph(text="here")

    chapter_head.finish(SimpleNamespace(config={"root_doc": "index"}), document, "page")
    assert document.children == [kept]


# Names in code that break inside a word, and rows of a table that go down the page for words that
# are out of sight.
SQUEEZED = """() => {
  const name = /^[\\w.]{2,16}$/;
  const broken = [...document.querySelectorAll(".bd-article :is(td, tbody th) code")]
    .filter((code) => name.test(code.textContent) && code.getClientRects().length > 1)
    .map((code) => code.textContent);
  const rows = [...document.querySelectorAll(".pst-scrollable-table-container tr")];
  const tall = rows.filter((row) => {
    const edge = row.closest("div").getBoundingClientRect().right;
    const words = [...row.cells].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getBoundingClientRect();
    });
    const seen = words.filter(({ left }) => left < edge).map(({ bottom }) => bottom);
    return Math.max(...words.map(({ bottom }) => bottom)) - Math.max(...seen) > 100;
  });
  return [...broken, ...tall.map((row) => row.textContent.trim().slice(0, 40))];
}"""
TABLES = ("grading", "instructors", "models", "notation")


@pytest.mark.parametrize("name", [f"chapters/{name}.html" for name in TABLES])
def test_a_table_breaks_no_name_and_is_not_tall_for_what_is_out_of_sight(
    browser: Browser, site: Path, name: str
) -> None:
    for width in (PHONE, DESK):
        with visit(browser, site / name, width=width) as seen:
            seen.page.add_style_tag(content=ALL_LAID_OUT)
            seen.page.evaluate(ALL_OPEN)
            assert seen.page.evaluate(SQUEEZED) == [], width


WIDE = """() => [...document.querySelectorAll(".bd-article .pst-scrollable-table-container")]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.textContent.trim().slice(0, 40))"""


@pytest.mark.parametrize("name", ["chapters/benchmarks.html", "chapters/grading.html"])
def test_the_widest_tables_fit_a_desk(browser: Browser, site: Path, name: str) -> None:
    with visit(browser, site / name) as seen:
        seen.page.add_style_tag(content=ALL_LAID_OUT)
        assert seen.page.evaluate(WIDE) == []


GAPS = """() => [...document.querySelectorAll(".genindextable tr")]
  .filter(({ cells }) => cells.length === 2)
  .map(({ cells: [first, second] }) => {
    const words = document.createRange();
    words.selectNodeContents(first);
    return second.getBoundingClientRect().left - words.getBoundingClientRect().right;
  })"""


def test_the_columns_of_the_index_keep_apart(browser: Browser, site: Path) -> None:
    with visit(browser, site / "genindex.html") as seen:
        seen.page.add_style_tag(content=ALL_LAID_OUT)
        gaps = seen.page.evaluate(GAPS)
    assert len(gaps) > 10
    assert min(gaps) > 10
