"""Each page as Markdown, read by a Markdown parser and compared with the page and its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from _ext.markdown_pages import ENDING, LIST
from _ext.markdown_pages.marks import CLOSED
from book.markdown import walk
from tests.book.notebooks import BOOK, PAGES
from tests.ext import pages

FORMULAS = {"math_inline", "math_block", "math_inline_double"}
# what the page has for use on it, and what a program draws
FURNITURE = (
    "script, style, template, svg, button, .headerlink, .chapter-head, .launch-buttons, .places, "
    ".recall-note, .edition-on-paper, .edit-run, .visually-hidden, "
    ".live-figure, .chapter-facts, .expanded, .progress-note, .eqno, .label, .colon"
)


each_page = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pages.long_unless_shown(f"{name}.html")) for name in PAGES],
    scope="module",  # so that all tests of a page come in turn, and few pages are held at once
)


def parser() -> MarkdownIt:
    """Return a parser of Markdown with tables and formulas, which the book does not use."""
    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True)


@lru_cache(maxsize=4)
def text(site: Path, name: str) -> str:
    return (site / f"{name}{ENDING}").read_text(encoding="utf-8")


@lru_cache(maxsize=4)
def tokens(site: Path, name: str) -> list[Token]:
    """Return all tokens of a page, at any depth."""
    parsed = parser().parse(text(site, name))
    return [part for token in parsed for part in (token, *(token.children or ()))]


@lru_cache(maxsize=4)
def article(site: Path, name: str) -> Tag:
    """Return the text of a page of the site without what only helps on the page."""
    page = BeautifulSoup(str(pages.parse(site / f"{name}.html").article), "html.parser")
    for tag in page.select(FURNITURE):
        tag.decompose()
    return page


def bare(tex: str) -> str:
    r"""Return a formula without blanks, without its number and without what lays out its rows."""
    tex = re.sub(r"\\tag\{[\d.]+\}|\\(?:begin|end)\{aligned\}|\\\\(?!\w)", "", tex)
    return re.sub(r"\s", "", tex)


def formulas(site: Path, name: str) -> Counter[str]:
    return Counter(bare(one.content) for one in tokens(site, name) if one.type in FORMULAS)


def letters(words: str) -> str:
    """Return words without blanks."""
    return re.sub(r"\s", "", words)


def without_formulas(site: Path, name: str) -> str:
    """Return a page as HTML made from its Markdown by a parser, without formulas."""
    made = parser()
    for kind in FORMULAS:
        made.add_render_rule(kind, lambda *_: "")
    return made.render(text(site, name))


def runs(page: Tag) -> Iterator[str]:
    """Yield each run of words of a page, and each code and signature as one."""
    for tag in page.select("pre, .sig"):
        tag.string = tag.get_text()
    for tag in page.select(".sig"):  # as Python has it on one line
        tag.string = re.sub(r",\s+\)", ")", tag.get_text().replace("→", "->"))
    for tag in page.find_all("math"):
        tag.clear()
    yield from map(letters, page.strings)


@each_page
def test_every_formula_of_a_page_is_there_as_tex(site: Path, name: str) -> None:
    shown = Counter(bare(str(one["alttext"])) for one in article(site, name).find_all("math"))
    assert formulas(site, name) == shown


@each_page
def test_every_formula_of_the_source_is_there(site: Path, name: str) -> None:
    source = Counter(
        bare(piece.text)
        for cell in BOOK.page(name).cells
        if cell.cell_type == "markdown" and "tag_remove-cell" not in cell.metadata
        for piece in walk(cell.source)
        if piece.kind == "formula"
    )
    assert source - formulas(site, name) == Counter()


@each_page
def test_every_word_of_a_page_is_there(site: Path, name: str) -> None:
    """In its order, in what a Markdown parser makes of it, so that no mark swallows a word."""
    said = letters(BeautifulSoup(without_formulas(site, name), "html.parser").get_text())
    missing, place = [], 0
    for words in runs(copy(article(site, name))):
        found = said.find(words, place)
        if found < 0:
            missing.append(words)
        else:
            place = found + len(words)
    assert missing == []


@each_page
def test_code_and_outputs_are_whole(site: Path, name: str) -> None:
    fenced = Counter(one.content.rstrip() for one in tokens(site, name) if one.type == "fence")
    shown = Counter(pre.get_text().rstrip() for pre in article(site, name).select("pre"))
    assert shown - fenced == Counter()


@each_page
def test_a_page_is_markdown_alone(site: Path, name: str) -> None:
    """No HTML but for lines within a cell, no mark without its like, no blank lines in vain."""
    raw = [one.content for one in tokens(site, name) if one.type in {"html_inline", "html_block"}]
    assert set(raw) <= {"<br>"}
    words = [one.content for one in tokens(site, name) if one.type == "text"]
    if "/reference/" not in name:  # which has powers and **state
        assert [one for one in words if re.search(r"\*\*|\$|`|^\|", one)] == []
    assert "\n\n\n" not in re.sub(r"```.*?```", "```", text(site, name), flags=re.DOTALL)
    titles = [one for one in tokens(site, name) if one.type == "heading_open" and one.tag == "h1"]
    assert len(titles) == 1


@each_page
def test_links_lead_somewhere(site: Path, name: str) -> None:
    path = site / f"{name}{ENDING}"
    links = {str(one.attrs["href"]) for one in tokens(site, name) if one.type == "link_open"}
    assert [
        link for link in links if not (pages.is_foreign(link) or pages.resolves(link, path, site))
    ] == []
    on_page = {
        str(link["href"]).rpartition("/")[2]
        for link in article(site, name).select("a[href]:not([href^=http], .sig a)")
    }
    assert {link for link in on_page if ".html" in link} <= {
        link.rpartition("/")[2] for link in links
    }


@each_page
def test_what_opens_on_the_page_says_so(site: Path, name: str) -> None:
    page = pages.parse(site / f"{name}.html").article
    folds = page.select("details:not(.progress-note *)")
    assert text(site, name).count(f"({CLOSED})") == len(folds)


@each_page
def test_tables_have_their_cells(site: Path, name: str) -> None:
    made = [one for one in tokens(site, name) if one.type in {"th_open", "td_open", "table_open"}]
    page = pages.parse(site / f"{name}.html").article
    tables = page.find_all("table")
    assert [one.type for one in made].count("table_open") == len(tables)
    with_head = [one for one in tables if one.thead]
    cells = sum(len(one.find_all(["th", "td"])) for one in with_head)
    assert len(made) - len(tables) >= cells


@each_page
def test_a_page_leads_to_its_markdown(site: Path, name: str) -> None:
    page = pages.parse(site / f"{name}.html")
    (link,) = page.select('link[rel=alternate][type="text/markdown"]')
    own = f"{name.rpartition('/')[2]}{ENDING}"
    assert link["href"] == own
    assert [one["href"] for one in page.select(".extra_footer a") if "Markdown" in one.text] == [
        own
    ]


def test_roots_survive(site: Path) -> None:
    said = r"$\sqrt{d_k}$ is the divisor for sums that cancel, $d_k$ for sums that agree"
    assert said in text(site, "chapters/05_divisor")


def test_a_figure_is_its_caption_and_its_words(site: Path) -> None:
    (figure,) = (one for one in BOOK.page("01_puzzle").figures if one.name == "fig-attention-maps")
    said = text(site, "chapters/01_puzzle")
    caption = figure.caption.replace("'", "’")
    assert f"> [**Fig. 1.1**](01_puzzle.html#{figure.name}) {caption}" in said
    assert f"> *Picture:* {figure.alternative}" in said


def test_an_exercise_has_its_task_and_what_it_asks_for(site: Path) -> None:
    said = text(site, "chapters/01_puzzle")
    exercise = said.partition("> **Exercise 1.1")[2]
    assert "- What happens to the divisor (it stays; twice as large;" in exercise
    assert f"> **Solution to Exercise 1.1** ({CLOSED})" in exercise


def test_the_list_names_each_page_once_and_says_what_it_is_about(site: Path) -> None:
    """In the form of llmstxt.org: a title, a summary, sections with links."""
    parsed = parser().parse((site / LIST).read_text(encoding="utf-8"))
    kinds = [one.type for one in parsed if one.level == 0 and one.nesting >= 0]
    assert kinds[:3] == ["heading_open", "blockquote_open", "paragraph_open"]
    assert set(kinds[3:]) == {"heading_open", "bullet_list_open"}
    assert [one.tag for one in parsed if one.type == "heading_open"].count("h1") == 1
    lines = [one for one in parsed if one.children and one.children[0].type == "link_open"]
    named = [str(one.children[0].attrs["href"]) for one in lines]
    assert named == [f"{name}{ENDING}" for name in PAGES]
    for line, name in zip(lines, PAGES, strict=True):
        assert (site / f"{name}{ENDING}").is_file()
        page = pages.parse(site / f"{name}.html")
        said = page.find("meta", attrs={"name": "description"})["content"]
        assert line.content.endswith(f": {said}")


def test_no_page_of_another_book_is_left(site: Path) -> None:
    made = {path.relative_to(site).as_posix() for path in site.rglob(f"*{ENDING}")}
    assert made == {f"{name}{ENDING}" for name in PAGES}
