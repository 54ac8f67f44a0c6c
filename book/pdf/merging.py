"""The pages of the site as one page: title, contents, styles and text.

Links between chapters lead from one place to another on it. Figures that move are as they are
before anyone touches them, and everything folded is open, solutions included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from book.model import Book

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
class MergedPages:
    """The pages as one: contents, styles, text."""

    entries: list[Entry] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    articles: list[str] = field(default_factory=list)


def pages(book: Book) -> Iterator[Chapter]:
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
    return URL_IN_STYLE.sub(lambda url: f'url("{urljoin(base, url["address"])}")', sheet)


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
        article = self.documents[chapter.name].select_one("article")
        if article is None:
            raise ValueError(f"{chapter.name}.html has no article")
        return article

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
                    tag[name] = " ".join(f"{prefix}{name}" for name in names)
                elif isinstance(value, str) and "url(" in value:
                    tag[name] = FRAGMENT_IN_ATTRIBUTE.sub(rf"url(#{prefix}\1)", value)
            if tag.name == "use" and str(tag.get("href", "")).startswith("#"):
                tag["href"] = f"#{prefix}{str(tag['href'])[1:]}"

    def relink(self, chapter: Chapter, article: Tag) -> None:
        """Let links and pictures lead where they led from the page."""
        base = (self.site / f"{chapter.name}.html").as_uri()
        for tag in article.select("a[href]"):
            if address := self.inner(chapter, str(tag["href"])):
                tag["href"] = address
            else:
                del tag["href"]
        for tag in article.select("img, source"):
            for name in ("src", "srcset"):
                if tag.get(name):
                    tag[name] = urljoin(base, str(tag[name]))

    def merge(self) -> MergedPages:
        """Return all pages as one."""
        merged = MergedPages()
        for chapter in self.chapters.values():
            address = (self.site / f"{chapter.name}.html").as_uri()
            merged.styles += styles_of(self.documents[chapter.name], address)
            article = self.article(chapter)
            tidy(article)
            self.rename(chapter, article)
            self.relink(chapter, article)
            if chapter.part:
                merged.entries.append(Entry(chapter.part, chapter.slug, 0))
            for heading in article.select("h1, section > section > h2"):
                section = heading.find_parent("section")
                level = 1 if heading.name == "h1" else 2
                target = chapter.slug if level == 1 else str(section["id"]) if section else ""
                merged.entries.append(Entry(" ".join(heading.get_text().split()), target, level))
            text = article.decode_contents()
            merged.articles.append(
                f'<div class="printed-page" id="{chapter.slug}">'
                f'<article class="bd-article">{text}</article></div>'
            )
        merged.styles = list(dict.fromkeys(merged.styles))
        return merged


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


def one_page(merged: MergedPages, opening: str, title: str, numbers: Mapping[str, int]) -> str:
    """Return the one page to print."""
    styles = "".join([*merged.styles, f"<style>{STYLE.read_text(encoding='utf-8')}</style>"])
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{escape(title)}</title>{styles}</head>'
        f'<body>{opening}{contents(merged.entries, numbers)}<main class="bd-content">'
        f"{''.join(merged.articles)}</main></body></html>"
    )
