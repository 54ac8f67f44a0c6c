"""The built site is complete in itself: nothing from outside, no link that leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from _ext.exercises import MARKS, hide_marks
from tests.book.building import BuildResult
from tests.book.notebooks import BOOK, CHAPTERS, PAGES
from tests.ext import pages

CONTENT = [f"{page}.html" for page in PAGES]
# What Sphinx and its extensions make by themselves; the second group only if there is need.
GENERATED = ["404.html", "genindex.html", "search.html"]
POSSIBLE = {*GENERATED, "prf-prf.html", "py-modindex.html"}

RULES: list[Callable[[BeautifulSoup], list[str]]] = [
    pages.foreign_loads,
    pages.foreign_links,
    pages.structure_problems,
    pages.image_problems,
    pages.raw_text_problems,
    pages.output_problems,
    pages.markup_problems,
]


def test_the_book_builds_without_a_warning(build_result: BuildResult) -> None:
    assert build_result.status == 0, build_result.output


def test_the_site_has_exactly_the_pages_of_the_book(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    shown = {name for name in built if not name.startswith("_")}
    assert shown - POSSIBLE == set(CONTENT)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", [*CONTENT, *GENERATED])
def test_a_page_keeps_the_rule(
    site: Path, name: str, rule: Callable[[BeautifulSoup], list[str]]
) -> None:
    found = rule(pages.parse(site / name))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [*CONTENT, *GENERATED])
def test_every_element_ends_after_what_is_in_it(site: Path, name: str) -> None:
    assert not pages.nesting_problems((site / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CONTENT)
def test_a_page_describes_itself(site: Path, name: str) -> None:
    assert pages.description_problems(pages.parse(site / name)) == []


@pytest.mark.parametrize("name", [*CONTENT, *GENERATED])
def test_every_link_inside_the_site_resolves(site: Path, name: str) -> None:
    found = pages.broken_links(site / name, site)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", CHAPTERS)
def test_exercises_are_numbered_by_chapter_and_titles_open_solutions(site: Path, name: str) -> None:
    page = pages.parse(site / name.replace(".ipynb", ".html"))
    count = len(page.select("div.exercise"))
    chapter = BOOK.page(name).number
    for kind, title in (("exercise", "Exercise {}"), ("solution", "Solution to Exercise {}")):
        found = page.select(f".{kind}.admonition > .admonition-title")
        wanted = [title.format(f"{chapter}.{number}") for number in range(1, count + 1)]
        assert [words.get_text().strip() for words in found] == wanted
        assert not any(words.find("a") for words in found), "a link would take the click"


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_page_shows_what_marks_a_solution(site: Path, name: str) -> None:
    shown = pages.parse(site / name.replace(".ipynb", ".html")).get_text()
    assert not [mark for mark in MARKS if mark in shown]


MARKED = """n = 3
### BEGIN SOLUTION
m = n + 1
### END SOLUTION
print("### BEGIN SOLUTION", m)"""


@pytest.mark.parametrize(
    ("shown_in", "left"), [("cell_input", MARKED.split("\n")[::2]), ("output", MARKED.split("\n"))]
)
def test_the_marks_of_a_solution_are_taken_out_of_the_code_of_cells_alone(
    shown_in: str, left: list[str]
) -> None:
    document, cell = new_document("page"), nodes.container(classes=[shown_in])
    document += cell
    cell += nodes.literal_block(MARKED, MARKED, language="ipython3")
    hide_marks(None, document)
    assert cell[0].astext() == cell[0].rawsource == "\n".join(left)
    assert cell[0]["language"] == "ipython3"


def test_no_style_sheet_or_script_loads_from_outside(site: Path) -> None:
    found = {
        path.relative_to(site).as_posix(): [url for url in read(path) if pages.is_foreign(url)]
        for suffix, read in (("css", _style_urls), ("js", _script_urls))
        for path in site.rglob(f"*.{suffix}")
    }
    assert {name: urls for name, urls in found.items() if urls} == {}


def _style_urls(path: Path) -> list[str]:
    return pages.style_loads(path.read_text(encoding="utf-8"))


def _script_urls(path: Path) -> list[str]:
    return pages.script_loads(path.read_text(encoding="utf-8"))


GOOD = """<!DOCTYPE html><html lang="en"><head><title>T</title>
<meta name="description" content="A page that says what it is about."/>
<link rel="stylesheet" href="a.css"/><link rel="canonical" href="https://example.org/a.html"/>
<script src="a.js"></script></head><body><article><h1 id="t">T</h1>
<p>Text with <code>$x$</code> and <a href="#t">up</a>, <a href="b.html#x">on</a>,
<a href="https://example.org">out</a>.</p>
<figure><img src="a.png" alt="The line falls and then rises."/></figure>
</article></body></html>"""


def page(old: str = "", new: str = "") -> BeautifulSoup:
    assert old in GOOD
    return BeautifulSoup(GOOD.replace(old, new, 1) if old else GOOD, "html.parser")


@pytest.mark.parametrize("rule", [*RULES, pages.description_problems])
def test_a_good_page_passes(rule: Callable[[BeautifulSoup], list[str]]) -> None:
    assert rule(page()) == []


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/a.js"></script>',
        '<script src="//example.org/a.js"></script>',
        '<link rel="stylesheet" href="https://example.org/a.css"/>',
        '<link rel="preload" href="https://example.org/a.woff2" as="font"/>',
        '<link rel="preconnect" href="https://example.org"/>',
        '<link rel="icon" href="https://example.org/a.ico"/>',
        '<img src="https://example.org/a.png"/>',
        '<img src="a.png" srcset="a.png 1x, https://example.org/b.png 2x"/>',
        '<iframe src="https://example.org"></iframe>',
        '<object data="https://example.org/a.svg"></object>',
        '<video poster="https://example.org/a.png"></video>',
        '<svg><use xlink:href="https://example.org/a.svg#a"></use></svg>',
        '<meta http-equiv="refresh" content="0; url=https://example.org"/>',
        '<base href="https://example.org"/>',
        "<style>@import 'https://example.org/a.css';</style>",
        "<style>p { background: url(https://example.org/a.png) }</style>",
        '<p style="background: url(https://example.org/a.png)"></p>',
        '<script>import "https://example.org/a.js";</script>',
        '<script>import a from "https://example.org/a.js";</script>',
        '<script>const a = await import("https://example.org/a.js");</script>',
        '<script>fetch("https://example.org/a.json")</script>',
        '<script>new WebSocket("wss://example.org")</script>',
        '<form action="https://example.org"></form>',
    ],
)
def test_anything_from_outside_is_reported(tag: str) -> None:
    assert len(pages.foreign_loads(page("<p>", f"{tag}<p>"))) == 1


def test_a_link_to_a_local_file_is_reported() -> None:
    assert pages.foreign_links(page('https://example.org">', 'file:///a.html">')) == [
        "file:///a.html"
    ]


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        (pages.structure_problems, ' lang="en"', ""),
        (pages.structure_problems, "<h1", "<h2"),
        (pages.structure_problems, "</article>", "<h1>U</h1></article>"),
        (pages.structure_problems, "<title>T", "<title>"),
        (pages.structure_problems, "<p>", '<p id="t">'),
        (pages.description_problems, "description", "keywords"),
        (pages.description_problems, "A page that says what it is about.", "A page."),
        (pages.image_problems, ' alt="The line falls and then rises."', ""),
        (pages.image_problems, "The line falls and then rises.", "a.png"),
        (pages.image_problems, "The line falls and then rises.", ""),
        (pages.raw_text_problems, "Text", "Figure ??"),
        (pages.raw_text_problems, "Text", "{numref}`fig-x`"),
        (pages.raw_text_problems, "Text", ":::{note}"),
        (pages.raw_text_problems, "Text", "$x$"),
        (pages.raw_text_problems, "Text", r"\(x\)"),
        (pages.raw_text_problems, "Text", r"\sqrt{x}"),
        (pages.raw_text_problems, "Text", "ValueError: x"),
        (pages.raw_text_problems, "Text", "&lt;Figure size 640x480 with 1 Axes&gt;"),
        (pages.output_problems, "<p>", '<div class="cell_output"><pre>Traceback</pre></div><p>'),
    ],
)
def test_a_bad_page_is_reported(
    rule: Callable[[BeautifulSoup], list[str]], old: str, new: str
) -> None:
    assert len(rule(page(old, new))) == 1


def test_broken_links_are_reported(tmp_path: Path) -> None:
    for name in ("a.css", "a.js", "a.png"):
        (tmp_path / name).touch()
    (tmp_path / "a.html").write_text(GOOD, encoding="utf-8")
    assert pages.broken_links(tmp_path / "a.html", tmp_path) == ["b.html#x"]
    (tmp_path / "b.html").write_text("<p id='y'></p>", encoding="utf-8")
    assert pages.broken_links(tmp_path / "a.html", tmp_path) == ["b.html#x"]
    pages.parse.cache_clear()
    pages.targets.cache_clear()
    (tmp_path / "b.html").write_text("<p id='x'></p>", encoding="utf-8")
    assert pages.broken_links(tmp_path / "a.html", tmp_path) == []


def test_a_link_out_of_the_site_is_broken(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "b.html").touch()
    path = tmp_path / "site" / "c.html"
    path.write_text('<a href="../b.html">b</a>', encoding="utf-8")
    assert pages.broken_links(path, tmp_path / "site") == ["../b.html"]


def test_the_model_numbers_everything_as_the_site_does(site: Path) -> None:
    for label, target in BOOK.targets.items():
        if target.kind in {"chapter", "section"} or target.page.number is None:
            continue
        page = pages.parse(site / f"{target.page.name}.html")
        equation = target.kind == "equation"
        place = page.find(id=f"equation-{label}" if equation else label)
        shown = place.select_one(".eqno" if equation else ".caption-number").get_text()
        assert re.search(r"\d+\.\d+", shown).group() == target.number, label


def test_nothing_that_a_reader_gets_shows_what_binds_the_numbers(site: Path) -> None:
    """Neither pages nor the search, nor notebooks to take along."""
    read = [path for path in site.rglob("*") if path.suffix in {".html", ".ipynb", ".js", ".xml"}]
    assert len(read) > 60
    for path in read:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:<|&lt;)!--(?:(?!--).)*\{", text), path.name
        assert "Check of these numbers" not in text
