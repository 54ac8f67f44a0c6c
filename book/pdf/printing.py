"""Print the built site as two PDFs with a title page, contents and bookmarks.

``why-attention-divides.pdf`` is the book. The reference of functions, a third of all pages, is
``why-attention-divides-reference.pdf``, so that you need not print it with the book.

The articles of all pages become one page, in the order of ``_toc.yml``, on which links between
chapters lead from one place to another. Chromium prints it twice: the first time tells on which
page everything begins, the second has those numbers in its contents. Figures that move are printed
as they are before anyone touches them, and everything folded is open, solutions included. Both
PDFs are put on the site too, whose pages then link them.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from attnlib import __version__
from book import model as book_model

if TYPE_CHECKING:
    from pikepdf import Pdf
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]

STYLE = Path(__file__).with_name("print.css")
# What takes a pointer or a script, what belongs to a screen or to a page of its own, and cells that
# print once more what the text says.
NOT_PRINTED = (
    "script, noscript, template, button, input, select, textarea, .headerlink, .pst-js-only, "
    ".progress-note, .my-progress, .recall-note, .edition-on-paper, .tag_prose, "
    "nav, .figure-controls, [hidden]"
)
REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "for", "headers")
URL_IN_STYLE = re.compile(r"url\(\s*([\"']?)(?!data:|#)(?P<address>[^\"')]+)\1\s*\)")
FRAGMENT_IN_ATTRIBUTE = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")


@dataclass(frozen=True)
class Chapter:
    """A page of the site: its name, and the title of the part that it opens, if it does."""

    name: str
    part: str = ""

    @property
    def slug(self) -> str:
        """What its identifiers begin with."""
        return self.name.replace("/", "-")


@dataclass
class Entry:
    """A line of the contents."""

    words: str
    target: str
    level: int


@dataclass
class Book:
    """The pages as one: contents, styles, text."""

    entries: list[Entry] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    articles: list[str] = field(default_factory=list)


def pages(book: book_model.Book) -> Iterator[Chapter]:
    """Yield the pages of a book in their order, the first of each part with its caption."""
    part = ""
    for page in book.pages:
        yield Chapter(page.name, page.part if page.part != part else "")
        part = page.part


def is_reference(chapter: Chapter) -> bool:
    """Say whether a page belongs to the reference of functions.

    Examples
    --------
    >>> is_reference(Chapter("chapters/reference/scores"))
    True
    >>> is_reference(Chapter("chapters/references"))
    False
    """
    return f"{chapter.name}/".startswith("chapters/reference/")


def absolute_styles(sheet: str, base: str) -> str:
    """Return a style sheet that finds its files from anywhere.

    Examples
    --------
    >>> absolute_styles("a { src: url(fonts/a.woff2) }", "file:///site/a.css")
    'a { src: url("file:///site/fonts/a.woff2") }'
    """
    return URL_IN_STYLE.sub(lambda found: f'url("{urljoin(base, found["address"])}")', sheet)


def styles_of(page: BeautifulSoup, address: str) -> Iterator[str]:
    """Yield what gives a page its looks, as markup that works from anywhere."""
    for tag in page.select("link[rel~=stylesheet], style"):
        if tag.name == "style":
            yield f"<style>{absolute_styles(tag.get_text(), address)}</style>"
        else:
            yield f'<link rel="stylesheet" href="{escape(urljoin(address, str(tag["href"])))}">'


def tidy(article: Tag) -> None:
    """Take away what cannot be printed, and open what is folded."""
    for tag in article.select(NOT_PRINTED):
        tag.decompose()
    for heading in article.select("h1, h2, h3"):
        for text in heading.find_all(string=re.compile(r"\s")):
            text.replace_with(" ".join(text.split("\n")))
    for tag in article.select("details.dropdown"):
        tag.name = "div"
    for tag in article.select(".dropdown > summary"):
        tag.name = "p"
    for tag in article.select("details"):
        tag["open"] = ""
    for tag in article.select("img[loading], iframe[loading]"):
        del tag["loading"]
    complete_tables(article)


def complete_tables(article: Tag) -> None:
    """Let each row of a table have all its cells, and each table heads, for screen readers."""
    for row in article.select("table:not(:has(th)) tr"):
        if first := row.select_one("td"):  # the name of a function, beside what it does
            first.name, first["scope"] = "th", "row"
            first["style"] = "font-weight: inherit; text-align: inherit"
    for tag in article.select("td:empty, th:empty"):
        tag.string = "\u00a0"  # else it has no tag, and its row a column less


class Merger:
    """Makes one page of many."""

    def __init__(self, site: Path, chapters: Sequence[Chapter]) -> None:
        self.site = site.resolve()
        self.chapters = {chapter.name: chapter for chapter in chapters}
        self.documents = {}
        self.anchors = set()
        for chapter in chapters:
            text = (self.site / f"{chapter.name}.html").read_text(encoding="utf-8")
            document = BeautifulSoup(text, "html.parser")
            self.documents[chapter.name] = document
            article = self.article(chapter)
            self.anchors |= {f"{chapter.slug}--{tag['id']}" for tag in article.select("[id]")}

    def article(self, chapter: Chapter) -> Tag:
        """Return the text of a page."""
        found = self.documents[chapter.name].select_one("article")
        if found is None:
            raise ValueError(f"{chapter.name}.html has no article")
        return found

    def inner(self, chapter: Chapter, address: str) -> str:
        """Return where a link of a page leads: within the book, outside, or nowhere ("")."""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            return address
        name = chapter.name
        if parts.path:
            home = (self.site / f"{chapter.name}.html").parent
            path = (home / unquote(parts.path)).resolve()
            if not path.is_relative_to(self.site):
                return ""
            name = path.relative_to(self.site).as_posix().removesuffix(".html")
        target = self.chapters.get(name)
        if target is None:
            return ""
        anchor = f"{target.slug}--{unquote(parts.fragment)}"
        return f"#{anchor}" if anchor in self.anchors else f"#{target.slug}"

    def rename(self, chapter: Chapter, article: Tag) -> None:
        """Let identifiers be the chapter's own, and what refers to them follow."""
        prefix = f"{chapter.slug}--"
        for tag in article.find_all(True):
            if tag.get("id"):
                tag["id"] = f"{prefix}{tag['id']}"
            for name, value in list(tag.attrs.items()):
                if name in REFERENCES:
                    names = value if isinstance(value, list) else str(value).split()
                    tag[name] = " ".join(f"{prefix}{each}" for each in names)
                elif isinstance(value, str) and "url(" in value:
                    tag[name] = FRAGMENT_IN_ATTRIBUTE.sub(rf"url(#{prefix}\1)", value)
            if tag.name == "use" and str(tag.get("href", "")).startswith("#"):
                tag["href"] = f"#{prefix}{str(tag['href'])[1:]}"

    def relink(self, chapter: Chapter, article: Tag) -> None:
        """Let links and pictures lead where they led from the page."""
        base = (self.site / f"{chapter.name}.html").as_uri()
        for tag in article.select("a[href]"):
            if found := self.inner(chapter, str(tag["href"])):
                tag["href"] = found
            else:
                del tag["href"]
        for tag in article.select("img, source"):
            for name in ("src", "srcset"):
                if tag.get(name):
                    tag[name] = urljoin(base, str(tag[name]))

    def book(self) -> Book:
        """Return all pages as one."""
        made = Book()
        for chapter in self.chapters.values():
            address = (self.site / f"{chapter.name}.html").as_uri()
            made.styles += styles_of(self.documents[chapter.name], address)
            article = self.article(chapter)
            tidy(article)
            self.rename(chapter, article)
            self.relink(chapter, article)
            if chapter.part:
                made.entries.append(Entry(chapter.part, chapter.slug, 0))
            for heading in article.select("h1, section > section > h2"):
                section = heading.find_parent("section")
                level = 1 if heading.name == "h1" else 2
                target = chapter.slug if level == 1 else str(section["id"]) if section else ""
                made.entries.append(Entry(" ".join(heading.get_text().split()), target, level))
            text = article.decode_contents()
            made.articles.append(
                f'<div class="printed-page" id="{chapter.slug}">'
                f'<article class="bd-article">{text}</article></div>'
            )
        made.styles = list(dict.fromkeys(made.styles))
        return made


def contents(entries: Sequence[Entry], numbers: Mapping[str, int]) -> str:
    """Return the contents, with the numbers of the pages that are known."""
    lines = []
    for entry in entries:
        number = numbers.get(entry.target, 0)
        shown = f'<span class="page-number">{number or ""}</span>' if entry.level else ""
        words = f'<span class="words">{escape(entry.words)}</span>'
        link_there = f'<a href="#{escape(entry.target)}">{words}{shown}</a>'
        lines.append(f'<li class="level-{entry.level}">{link_there}</li>')
    return (
        '<section class="printed-page contents" id="contents"><h1>Contents</h1>'
        f"<ol>{''.join(lines)}</ol></section>"
    )


def title_page(title: str, author: str, version: str) -> str:
    """Return the first page."""
    return (
        f'<section class="title-page"><p class="title">{escape(title)}</p>'
        f"<p>{escape(author)}</p><p>Version {escape(version)}</p>"
        "<p>Text and figures: CC BY 4.0. Code: BSD 3-Clause.</p></section>"
    )


def whole(book: Book, opening: str, title: str, numbers: Mapping[str, int]) -> str:
    """Return the one page to print."""
    style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{escape(title)}</title>{"".join(book.styles)}{style}</head>'
        f'<body>{opening}{contents(book.entries, numbers)}<main class="bd-content">'
        f"{''.join(book.articles)}</main></body></html>"
    )


def page_numbers(path: Path) -> dict[str, int]:
    """Return on which page of a PDF each place that a link leads to lies."""
    from pypdf import PdfReader

    reader = PdfReader(path)
    found = {}
    for name, place in reader.named_destinations.items():
        number = reader.get_destination_page_number(place)
        if number is not None:
            found[unquote(name.lstrip("/"))] = number + 1
    return found


def print_page(browser: Browser, markup: str, folder: Path, target: Path) -> None:
    """Print a page from a folder's file, with bookmarks and tags for screen readers."""
    source = folder / "book.html"
    source.write_text(markup, encoding="utf-8")
    page = browser.new_page(color_scheme="light", java_script_enabled=False)
    page.goto(source.as_uri(), timeout=300_000)  # milliseconds: a book of megabytes, a busy machine
    page.pdf(
        path=target,
        outline=True,
        tagged=True,
        prefer_css_page_size=True,
        print_background=True,
    )
    page.close()


ROLES = {"/Em": "/Span", "/Strong": "/Span"}
"""Chromium's tags that are no standard types of PDF 1.7, and the types that they stand for."""
PATH, PAINT = {"m", "re"}, {"S", "s", "f", "F", "f*", "B", "B*", "b", "b*"}
SHOW = {"Tj", "TJ", "'", '"', "Do", "sh"}
"""Operators of a page: they begin a path, paint it, and show text or pictures."""


def with_artifacts(operators: Iterable[Any], tagged: set[str]) -> Iterator[Any]:
    """Mark what a page paints outside of any tag, such as its number, as no part of the text.

    `tagged` names the drawings that hold tags of their own.
    """
    from pikepdf import ContentStreamInstruction, Name, Operator

    begin = ContentStreamInstruction([Name("/Artifact")], Operator("BMC"))
    end = ContentStreamInstruction([], Operator("EMC"))
    covered, path = [False], []  # by a tag or as an artifact, at each level of marks
    for one in operators:
        name = str(one.operator)
        if name in {"BMC", "BDC"}:
            is_tag = name == "BDC" and "/MCID" in one.operands[1]
            covered.append(covered[-1] or is_tag or one.operands[0] == "/Artifact")
        elif name == "EMC":
            covered.pop()
        if path or name in PATH:
            path.append(one)
            if name in PAINT | {"n"}:
                bare = name in PAINT and not covered[-1]
                yield from (begin, *path, end) if bare else path
                path = []
        elif name not in SHOW or covered[-1] or (name == "Do" and str(one.operands[0]) in tagged):
            yield one
        else:
            yield from (begin, one, end)


def drawings(holder: Any) -> dict[str, Any]:
    """Return the drawings that a page or a drawing shows, by name."""
    shown = holder.get("/Resources", {}).get("/XObject", {})
    return {name: one for name, one in shown.items() if one.get("/Subtype") == "/Form"}


def holds_tags(drawing: Any) -> bool:
    """Say whether a drawing, or one that it shows, has parts that tags name."""
    return b"/MCID" in drawing.read_bytes() or any(map(holds_tags, drawings(drawing).values()))


def marked(holder: Any, content: Any) -> bytes:
    """Return the content of a page or a drawing with artifacts, and mend the drawings within."""
    from pikepdf import parse_content_stream, unparse_content_stream

    tagged = {name: one for name, one in drawings(holder).items() if holds_tags(one)}
    for drawing in tagged.values():
        drawing.write(marked(drawing, drawing))
    return unparse_content_stream(list(with_artifacts(parse_content_stream(content), {*tagged})))


def tell_readers(printed: Pdf, title: str, numbers: Mapping[str, int]) -> None:
    """Complete what screen readers are told, by the rules of PDF/UA.

    The metadata name title, language and the standard; tags have standard roles; a link says where
    it leads; a box around a picture and its caption is not a picture without a description.
    """
    from pikepdf import Array, Dictionary, Name, String

    with printed.open_metadata() as metadata:
        metadata["dc:title"] = title
        metadata["dc:language"] = {str(printed.Root.Lang)}
        metadata["pdfuaid:part"] = "1"
    tree = printed.Root.StructTreeRoot
    tree.RoleMap = Dictionary({made: Name(standard) for made, standard in ROLES.items()})
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Array):
            waiting.extend(node)
        elif isinstance(node, Dictionary):
            if node.get("/S") == "/Figure" and "/Alt" not in node:
                node.S = Name("/Div")
            waiting.append(node.get("/K"))
    for page in printed.pages:
        page.Contents = printed.make_stream(marked(page.obj, page))
        for note in page.get("/Annots", []):
            inside = f"Page {numbers.get(unquote(str(note.get('/Dest', ''))).lstrip('/'))}"
            note.Contents = note.A.URI if "/A" in note else String(inside)


def finish(source: Path, target: Path, title: str, numbers: Mapping[str, int]) -> None:
    """Write a PDF for screen readers, and with its objects in compressed streams.

    That is about a third of its size.
    """
    import pikepdf

    with pikepdf.open(source) as printed:
        tell_readers(printed, title, numbers)
        printed.save(target, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def make(
    browser: Browser, site: Path, chapters: Sequence[Chapter], target: Path, part: str = ""
) -> None:
    """Print some pages of a site into a PDF, whose title may name which part of the book it is."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    title = f"{config['title']}: {part}" if part else config["title"]
    opening = title_page(title, config["author"], __version__)
    book = Merger(site, chapters).book()
    with tempfile.TemporaryDirectory() as work:
        numbers: dict[str, int] = {}
        for _pass in ("where everything is", "with the numbers"):
            printed = Path(work, "printed.pdf")
            print_page(browser, whole(book, opening, title, numbers), Path(work), printed)
            known, numbers = numbers, page_numbers(printed)
        if any(known.get(entry.target) != numbers.get(entry.target) for entry in book.entries):
            raise ValueError("the numbers of the contents have moved what they number")
        finish(printed, target, title, numbers)
