"""The book as a PDF: its contents name the right pages, its links and bookmarks lead somewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pikepdf
import pytest
import yaml
from bs4 import BeautifulSoup
from pypdf import PdfReader

from book.model import DEEPER
from book.pdf import merging, printing
from book.pdf.merging import Chapter, Merger, contents, pages
from tests.book.notebooks import BOOK, PAGES, ROOT
from tests.conftest import Once
from tests.programs import install

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STANDARD = """
Document Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private P H H1 H2 H3 H4 H5 H6
L LI Lbl LBody Table TR TH TD THead TBody TFoot Span Quote Note Reference BibEntry Code Link Annot
Ruby Warichu RB RT RP WT WP Figure Formula Form
"""
"""The types of PDF 1.7, ISO 32000-1, section 14.8.4."""
SAMPLE = [Chapter("index"), Chapter("chapters/one", "Part one"), Chapter("chapters/two")]
TEXT = "<p>Much to say.</p>" * 60
MADE = {
    "index": """<section id="start"><h1>Start</h1>
<p>To <a href="chapters/two.html#deep">two</a>, <a href="chapters/one.html">one</a>,
<a href="genindex.html">the index</a>, <a href="https://example.org/">out</a>.</p>
<p><img src="_images/dot.png" alt="A dot" loading="lazy"></p></section>""",
    "chapters/one": f"""<nav class="launch-buttons"><a href="a.ipynb">Way in</a></nav>
<section id="title"><h1>1. One
title</h1>{TEXT}<section id="deep"><h2>1.1. Deep</h2>
<div class="live-figure"><div class="figure-controls">Slide me</div>
<svg aria-labelledby="name"><title id="name">A figure</title><path id="p" fill="url(#p)"/></svg>
</div><p>Back to <a href="#title">the top</a>, <a href="#nowhere">nowhere</a>.</p></section>
<details><summary>Solution</summary><p>Forty-two.</p></details>
<script>alert()</script></section>""",
    "chapters/two": f"""<section id="title"><h1>2. Two</h1>{TEXT}
<section id="deep"><h2>2.1. Deep</h2>
<p>See <a href="one.html#deep">there</a>.</p></section>
<section id="deeper"><h2>2.2. Deeper</h2>{TEXT * 2}<section id="proof"><h3>2.2.1. Proof</h3>
<p>Hence, <em>at long last</em>, <strong>it holds</strong>.</p>
<figure><img src="../_images/dot.png" alt="A dot"><figcaption>A caption.</figcaption></figure>
<table><tr><th>a</th><th></th></tr><tr><td>1</td><td>2</td></tr></table>
<table><tr><td>f</td><td>It does.</td></tr></table>
<p style="opacity: 0.5">Faint.</p></section></section>
<section id="exercises"><h2>2.3. Exercises</h2><p>Do it.</p></section></section>
<p class="edition-on-paper">Old edition</p>""",
}
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f6454000000000"
    "49454e44ae426082"
)


STARTS = r"""() => {
  const found = [];
  for (const block of document.querySelectorAll("article :is(p, li, td, dd, figcaption)")) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const end = (text, from, to) => {
      const range = document.createRange();
      range.setStart(text, from);
      range.setEnd(text, to);
      return [...range.getClientRects()].at(-1);
    };
    for (let text, before; (text = walker.nextNode()); before = text) {
      if (!before || !/^[.,;:!?)]/.test(text.data) || !/\S$/.test(before.data)) continue;
      const mark = end(text, 0, 1);
      const last = end(before, before.length - 1, before.length);
      if (mark && last && mark.left < last.left - 1) found.push(block.textContent.slice(0, 60));
    }
  }
  return found;
}"""
"""The texts in which a line starts with a punctuation mark that follows a word or a formula."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site of three pages."""
    site = tmp_path_factory.mktemp("pdf") / "html"
    (site / "chapters").mkdir(parents=True)
    (site / "_images").mkdir()
    (site / "_images" / "dot.png").write_bytes(DOT)
    (site / "style.css").write_text("p { background: url(dot.png) }", encoding="utf-8")
    for name, article in MADE.items():
        sheet = "../" * name.count("/") + "style.css"
        text = f"""<!DOCTYPE html><html><head><meta charset="utf-8">
<link rel="stylesheet" href="{sheet}"><style>h2 {{ background: url(_images/dot.png) }}</style>
</head><body><header>Not this</header><article>{article}</article></body></html>"""
        (site / f"{name}.html").write_text(text, encoding="utf-8")
    return site


def test_the_pdf_has_the_pages_of_the_book() -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = list(pages(BOOK))
    assert [page.name for page in found] == [page.rsplit(".", 1)[0] for page in PAGES]
    assert [page.part for page in found if page.part] == [part["caption"] for part in toc["parts"]]


def test_the_reference_is_a_part_by_itself() -> None:
    found = [page.name for page in pages(BOOK) if merging.is_reference(page)]
    assert found[0] == "chapters/reference"
    assert "chapters/reference/softmax" in found
    assert "chapters/references" not in found


def test_pages_become_one_whose_links_stay_inside(sample: Path) -> None:
    book = Merger(sample, SAMPLE).merge()
    page = BeautifulSoup("".join(book.articles), "html.parser")
    leads = {link.get_text(): link.get("href") for link in page.find_all("a")}
    assert leads == {
        "two": "#chapters-two--deep",
        "one": "#chapters-one",
        "the index": None,
        "out": "https://example.org/",
        "the top": "#chapters-one--title",
        "nowhere": "#chapters-one",
        "there": "#chapters-one--deep",
    }
    names = [str(tag["id"]) for tag in page.select("[id]")]
    assert len(names) == len(set(names))
    assert page.select_one("svg")["aria-labelledby"] == "chapters-one--name"
    assert page.select_one("path")["fill"] == "url(#chapters-one--p)"
    assert page.select_one("img")["src"] == (sample / "_images" / "dot.png").as_uri()
    assert not page.select("img[loading], script, nav, .figure-controls")
    assert page.select_one("details[open]")
    # one style sheet for all, and one piece of style for each folder
    assert [style.count("<link") for style in book.styles] == [1, 0, 0]
    assert (sample / "_images" / "dot.png").as_uri() in book.styles[1]
    assert [(entry.words, entry.target, entry.level) for entry in book.entries] == [
        ("Start", "index", 1),
        ("Part one", "chapters-one", 0),
        ("1. One title", "chapters-one", 1),
        ("1.1. Deep", "chapters-one--deep", 2),
        ("2. Two", "chapters-two", 1),
        ("2.1. Deep", "chapters-two--deep", 2),
        ("2.2. Deeper", "chapters-two--deeper", 2),
        ("2.3. Exercises", "chapters-two--exercises", 2),
    ]


def titles(outline: list[Any]) -> Iterator[Any]:
    for item in outline:
        if isinstance(item, list):
            yield from titles(item)
        else:
            yield item


def nested(outline: list[Any]) -> list[Any]:
    return [nested(item) if isinstance(item, list) else item.title for item in outline]


@pytest.mark.proof("pdf")
def test_numbers_bookmarks_and_links_of_the_pdf_are_right(
    sample: Path, browser: Browser, tmp_path: Path
) -> None:
    target = tmp_path / "book.pdf"
    printing.make(browser, sample, SAMPLE, target)
    data = target.read_bytes()
    assert b"/ObjStm" in data, "most objects are in compressed streams"
    assert b"/StructElem" not in data, "the tags, of which there are most, as well"
    reader = PdfReader(target)
    texts = [" ".join(page.extract_text().split()) for page in reader.pages]
    assert texts[0].startswith("Why attention divides by")
    assert texts[1].startswith("2 Contents")
    # each line of the contents names the page on which the heading is
    headings = ("Start", "1. One title", "1.1. Deep", "2. Two", "2.1. Deep", "2.2. Deeper")
    wanted = dict.fromkeys((*headings, "2.3. Exercises"), 0)
    for heading in wanted:
        (wanted[heading],) = [n for n, text in enumerate(texts, 1) if n > 2 and heading in text]
        assert f"{heading} {wanted[heading]}" in texts[1]
    assert wanted["2. Two"] < wanted["2.1. Deep"]
    marks = {
        mark.title: reader.get_destination_page_number(mark) + 1 for mark in titles(reader.outline)
    }
    assert wanted.items() <= marks.items()
    # each page but the first has its number, behind the word for the core or for what is deeper
    two, deeper, exercises = (wanted[each] for each in ("2. Two", "2.2. Deeper", "2.3. Exercises"))
    assert two < deeper < exercises - 1, "the deeper part has several pages"
    for n, text in enumerate(texts[1:], 2):
        word = "" if n < two or n >= exercises else "Core " if n < deeper else "Deeper "
        assert text.startswith(f"{word}{n} ")
    assert texts[deeper - 1].startswith(f"Deeper {deeper} 2.2. Deeper"), "it begins a page"
    assert nested(reader.outline)[-2:] == [
        "2. Two",
        ["2.1. Deep", "2.2. Deeper", ["2.2.1. Proof"], "2.3. Exercises"],
    ]
    assert "Forty-two." in texts[wanted["1.1. Deep"] - 1]
    everything = " ".join(texts)
    assert not any(word in everything for word in ("Slide me", "Way in", "Not this", "Old edition"))
    places = reader.named_destinations
    links = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    inside = [note["/Dest"] for note in links if "/Dest" in note]
    assert len(inside) == 8 + 5, "the contents, and the text's own"
    assert all(f"/{str(place).lstrip('/')}" in places for place in inside)
    outside = [note["/A"]["/URI"] for note in links if "/A" in note]
    assert outside == ["https://example.org/"]
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"], "screen readers get its structure"


PAINTING = {"S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "Tj", "TJ", "'", '"', "sh"}


def painted(holder: Any, content: Any, within: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield for all that is painted the marks that are around it, the outermost first."""
    marks = [*within]
    shown = holder.get("/Resources", {}).get("/XObject", {})
    for operands, operator in pikepdf.parse_content_stream(content):
        name = str(operator)
        if name in {"BMC", "BDC"}:  # one without a number is no tag: it says what letters mean
            is_tag = name == "BDC" and "/MCID" in operands[1]
            marks += [str(operands[0])] if is_tag or operands[0] == "/Artifact" else [""]
        elif name == "EMC":
            marks.pop()
        elif name == "Do" and shown[operands[0]].Subtype == "/Form":
            drawing = shown[operands[0]]
            yield from painted(drawing, drawing, tuple(marks))
        elif name in {*PAINTING, "Do"}:
            yield tuple(filter(None, marks))


def tags_of(node: Any) -> Iterator[Any]:
    """Yield the tags of a PDF."""
    if isinstance(node, pikepdf.Array):
        for one in node:
            yield from tags_of(one)
    elif isinstance(node, pikepdf.Dictionary):
        if "/S" in node:
            yield node
        yield from tags_of(node.get("/K"))


@pytest.mark.proof("pdf")
def test_screen_readers_are_told_what_the_standard_asks_for(
    sample: Path, browser: Browser, tmp_path: Path
) -> None:
    printing.make(browser, sample, SAMPLE, tmp_path / "book.pdf", "sample")
    with pikepdf.open(tmp_path / "book.pdf") as made:
        told = made.open_metadata()
        assert told["dc:title"] == str(made.docinfo["/Title"])
        assert told["dc:title"].endswith(": sample")
        assert told["dc:language"] == {"en"}
        assert told["pdfuaid:part"] == "1"
        tree = made.Root.StructTreeRoot
        kinds = {str(tag.S) for tag in tags_of(tree)}
        assert {"/Em", "/Strong", "/Table", "/Figure"} <= kinds, "the sample asks for all"
        roles = {str(tree.RoleMap.get(kind, kind)).lstrip("/") for kind in kinds}
        assert roles <= set(STANDARD.split())
        assert all("/Alt" in tag for tag in tags_of(tree) if tag.S == "/Figure")
        rows = [tag for tag in tags_of(tree) if tag.S == "/TR"]
        cells = [[one.S for one in tags_of(row.K) if one.S in ("/TH", "/TD")] for row in rows]
        assert [len(row) for row in cells] == [2, 2, 2], "an empty cell is one"
        assert cells[-1] == ["/TH", "/TD"], "a table without a head has names in front"
        for page in made.pages:
            for marks in painted(page.obj, page):
                assert marks, "all that is painted is in a tag or is an artifact"
                assert len(marks) == 1 or "/Artifact" not in marks
            for note in page.get("/Annots", []):
                wanted = str(note.A.URI) if "/A" in note else "Page "
                assert str(note.Contents).startswith(wanted)
                assert not str(note.Contents).endswith("None")


KNOWN = {
    "TAG-002": "letters beside a figure, which its description tells, are an artifact, and so is "
    "the head of a table that a page repeats",
    "TBL-010": "a guess by numbers: a table of two columns with a name in front of each line has "
    "more names than data, and both are right",
    "TXT-006": "Chromium writes some glyphs without the letters that they stand for",
}
"""The errors that the checker goes on finding, and why; its warnings are for a person to judge."""
CHECKER = "outloud==0.2.1"
"""It asks for so much that it gets an environment of its own."""


@pytest.mark.proof("pdf")
@pytest.mark.parametrize("part", ["", "reference"])
def test_a_checker_of_accessible_pdfs_has_nothing_to_say(
    site: Path, browser: Browser, once: Once, tmp_path: Path, part: str
) -> None:
    checker = Path(once("outloud", install(CHECKER)), "outloud")
    chosen = [page for page in pages(BOOK) if merging.is_reference(page) == bool(part)]
    printing.make(browser, site, chosen, tmp_path / "book.pdf", part)
    command = [checker, "book.pdf", "--json", "said.json", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    said = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
    (result,) = said["results"]
    assert result["stats"]["pages"] > 20, "it was read"
    errors = [one for one in result["findings"] if one["severity"] == "error"]
    assert [one for one in errors if one["rule"] not in KNOWN] == []


@pytest.mark.proof("pdf")
def test_a_chapter_of_the_site_fits_on_paper(site: Path, browser: Browser, tmp_path: Path) -> None:
    chapters = [Chapter("chapters/01_puzzle"), Chapter("chapters/summary")]
    markup = merging.one_page(Merger(site, chapters).merge(), "", "Title", {})
    (tmp_path / "book.html").write_text(markup, encoding="utf-8")
    width = 658  # of A4 less its margins, in pixels
    page = browser.new_page(
        viewport={"width": width, "height": 900}, java_script_enabled=True, color_scheme="light"
    )
    page.emulate_media(media="print")
    page.goto((tmp_path / "book.html").as_uri())
    wide = page.evaluate(
        """() => [...document.querySelectorAll("article *")].filter((node) => {
          const box = node.getBoundingClientRect();
          if (node.closest(".katex-mathml, svg *")) return false; // cut off on a screen as well
          return box.width > 2 && box.height > 2 && box.right > innerWidth + 1;
        }).map((node) => `${node.tagName}.${node.className}: ${node.textContent.slice(0, 40)}`)"""
    )
    broken = page.evaluate("() => [...document.images].filter((one) => !one.naturalWidth).length")
    whole, marked = page.evaluate(
        """() => ["", "> section"].map((below) =>
          [...document.querySelectorAll(`.printed-page > article > section ${below}`)]
            .map((section) => getComputedStyle(section).page))"""
    )
    split = page.evaluate(
        """() => [...document.querySelectorAll(".admonition:has(> .admonition-title)")]
          .filter((box) => !box.matches(".exercise, .solution, :has(.cell, figure, pre, table)"))
          .filter((box) => getComputedStyle(box).breakInside !== "avoid").length"""
    )
    rules = page.evaluate(
        """() => [...document.querySelectorAll("article section section section")]
          .filter((section) => getComputedStyle(section).borderLeftStyle === "solid")
          .map((section) => section.parentElement.id)"""
    )
    alone = page.evaluate(STARTS)
    page.evaluate(
        "() => document.querySelectorAll('.math-kept').forEach((one) => one.replaceWith("
        "one.firstElementChild, Object.assign(document.createElement('p'), {textContent: '.'})))"
    )
    page_alone = page.evaluate(STARTS)
    time = page.evaluate("getComputedStyle(document.querySelector('.time'), '::before').content")
    page.close()
    assert wide == []
    assert broken == 0
    assert split == 0, "small boxes stay whole"
    assert alone == [], "no line begins with a mark that belongs to the line before it"
    assert page_alone, "and it would be noticed"
    assert set(rules) == {"chapters-01_puzzle--deeper"}, "a rule beside what is deeper"
    # the words at the heads of pages follow the model of the book; the summary has none
    puzzle, summary = (BOOK.page(chapter.name) for chapter in chapters)
    parts = [block.title for block in puzzle.sections if block.level == 2]
    core = parts.index(DEEPER)
    others = sum(block.level == 2 for block in summary.sections)
    assert whole == ["core", "auto"]
    assert marked[: core + 1] == ["auto"] * core + ["deeper"]
    assert marked[core + 1 :] == ["after"] * (len(parts) - core - 1) + ["auto"] * others
    assert time == '"Core: "'


def test_contents_without_numbers_are_ready_for_them() -> None:
    made = contents([merging.Entry("Part", "a", 0), merging.Entry("A & B", "a", 1)], {"a": 12})
    page = BeautifulSoup(made, "html.parser")
    assert [line.get_text() for line in page.select("li")] == ["Part", "A & B12"]
    assert [link["href"] for link in page.select("a")] == ["#a", "#a"]


def test_a_site_without_a_page_is_refused(sample: Path, tmp_path: Path) -> None:
    shutil.copytree(sample, tmp_path / "html")
    (tmp_path / "html" / "index.html").write_text("<p>Nothing</p>", encoding="utf-8")
    with pytest.raises(ValueError, match="no article"):
        Merger(tmp_path / "html", SAMPLE)
