"""What a page of the site must and must not hold, each rule a function of the page's text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

SHOWN = (
    "index.html",  # the landing page, with a figure that begins before all else
    "chapters/01_puzzle.html",  # Python on the page, predictions, exercises, words with a note
    "chapters/04_gradients.html",  # three live figures, a table among them, plots and boxes
    "chapters/language_model.html",  # a figure whose data come late
    "chapters/models.html",  # a table that readers sort
    "chapters/reference/softmax.html",  # what docstrings become
    "search.html",
    "404.html",  # which has links from the root of its host
)
"""The pages that every test run looks at in a browser; `make prove` looks at all."""

# Links that name a page but load nothing.
NAMING = {
    "alternate",
    "author",
    "canonical",
    "help",
    "index",
    "license",
    "me",
    "next",
    "prev",
    "search",
}
LOADING = {
    **dict.fromkeys(("audio", "embed", "iframe", "input", "script", "track"), ("src",)),
    **dict.fromkeys(("image", "use"), ("href", "xlink:href")),
    **dict.fromkeys(("img", "source"), ("src", "srcset")),
    "object": ("data",),
    "video": ("src", "poster"),
}
_CSS_LOAD = re.compile(r"url\(\s*[\"']?(?P<url>[^\"')]+)|@import\s+[\"'](?P<sheet>[^\"']+)")
_SCRIPT_LOAD = re.compile(
    r"(?:\bimport\b\s*(?:\(|[^;\"']*\bfrom\b)?|\bfetch\s*\(|\bnew\s+(?:WebSocket|EventSource|Worker)\s*\()"
    r"\s*[\"'`](?P<url>(?:\w+:)?//[^\"'`]+)"
)
_RAW = {
    "an unresolved reference": re.compile(r"\?\?|\bundefined label\b"),
    "a raw role": re.compile(r"\{[a-z][\w:.-]*\}`"),
    "a raw directive": re.compile(r":::|```|^\([\w-]+\)=", re.MULTILINE),
    "raw mathematics": re.compile(r"\$|\\[([]|\\[A-Za-z]{2,}"),
    "a traceback": re.compile(r"\bTraceback\b|\b[A-Z]\w+Error:"),
    "a raw table": re.compile(r"\|\s*:?[-–—]+:?\s*\|"),
    "an object's address": re.compile(r"<[^<>]* at 0x[0-9a-f]+>|<Figure size"),
}


def long_unless_shown(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of what a test does in a browser to a page, by its address."""
    return [] if name in SHOWN else [pytest.mark.proof("pages")]


_WRONG = {
    "a role that a part of a table has anyway": ":is(thead, tbody, tr, td, th)[role]",
    "a paragraph in a summary": "summary p",
    "an empty class": 'math [class=""]',
    "a space of operators elsewhere": "math :not(mo, mpadded)[lspace]",
    "a box to tick that would be completed": "input[type=checkbox][autocomplete]",
    "an option without words": "option:not([label]):empty",
    "a label of two fields": "label:has(output)",
    "a form without a name": "form:not([aria-label])",
    "a group without a name": "fieldset:not([aria-label], [role=none])",
    "a formula without its TeX": "math:not([alttext])",
    "a page that Firefox fetches ahead": "link[rel=next]",
}
_VOID = {*"area base br col embed hr img input link meta source track wbr".split()}  # noqa: SIM905


@cache
def parse(path: Path) -> BeautifulSoup:
    """Parse a page of the site."""
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def is_foreign(url: str) -> bool:
    """Say whether a URL leaves the site."""
    parts = urlsplit(url.strip())
    return bool(parts.netloc) or parts.scheme not in {"", "data", "blob", "mailto"}


def style_loads(text: str) -> list[str]:
    """Return the URLs that a style sheet loads."""
    return [match["url"] or match["sheet"] for match in _CSS_LOAD.finditer(text)]


def script_loads(text: str) -> list[str]:
    """Return the foreign URLs that a script imports, fetches or connects to."""
    return [match["url"] for match in _SCRIPT_LOAD.finditer(text)]


def _tag_loads(tag: Tag) -> Iterator[str]:
    for attribute in LOADING.get(tag.name, ()):
        if value := tag.get(attribute):
            candidates = str(value).split(",") if attribute == "srcset" else [str(value)]
            yield from (candidate.split()[0] for candidate in candidates if candidate.strip())
    if tag.get("data-late-from"):
        yield str(tag["data-late-from"])
    if tag.name == "link" and not set(tag.get("rel") or []) <= NAMING:
        yield str(tag.get("href", ""))
    if tag.name == "meta" and str(tag.get("http-equiv", "")).lower() == "refresh":
        yield str(tag.get("content", "")).partition("=")[2]
    if tag.name == "base" or (tag.name == "form" and tag.get("action")):
        yield str(tag.get("href") or tag.get("action"))
    if tag.name == "style":
        yield from style_loads(tag.get_text())
    if tag.get("style"):
        yield from style_loads(str(tag["style"]))
    if tag.name == "script" and not tag.get("src"):
        yield from script_loads(tag.get_text())


def loads(page: BeautifulSoup) -> list[str]:
    """Return everything that a page loads by itself."""
    return [url for tag in page.find_all(True) for url in _tag_loads(tag)]


def foreign_loads(page: BeautifulSoup) -> list[str]:
    """Return what a page loads from outside the site."""
    return [url for url in loads(page) if is_foreign(url)]


def foreign_links(page: BeautifulSoup) -> list[str]:
    """Return links that leave the site by anything but the web's own schemes."""
    links = [str(tag["href"]) for tag in page.find_all("a", href=True)]
    return [
        link
        for link in links
        if is_foreign(link) and urlsplit(link).scheme not in {"http", "https"}
    ]


@cache
def targets(path: Path) -> frozenset[str]:
    """Return the identifiers of a page of the site."""
    return frozenset(str(tag["id"]) for tag in parse(path).find_all(id=True))


def broken_links(path: Path, site: Path) -> list[str]:
    """Return what a page refers to inside the site and does not find there."""
    page = parse(path)
    links = [str(tag["href"]) for tag in page.find_all(["a", "link"], href=True)]
    return [
        url
        for url in {*links, *loads(page)}
        if not is_foreign(url) and not resolves(url, path, site)
    ]


def resolves(url: str, path: Path, site: Path) -> bool:
    """Say whether a link from a file of the site leads to something in the site."""
    parts = urlsplit(url)
    if parts.scheme:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or not target.is_relative_to(site.resolve()):
        return False
    fragment = unquote(parts.fragment)
    if fragment in {"", "top"} or target.suffix != ".html":
        return True
    return fragment in targets(target)


def structure_problems(page: BeautifulSoup) -> list[str]:
    """List what a screen reader would miss in a page's structure."""
    problems = []
    if not (page.html and page.html.get("lang")):
        problems.append("no language")
    if (count := len(page.find_all("h1"))) != 1:
        problems.append(f"{count} first-level headings")
    if page.title is None or not page.title.get_text(strip=True):
        problems.append("no title")
    named = Counter(str(tag["id"]) for tag in page.find_all(id=True))
    repeated = [name for name, times in named.items() if times > 1]
    return problems + [f"the identifier {name} is repeated" for name in repeated]


def description_problems(page: BeautifulSoup) -> list[str]:
    """Ask for exactly one description that says something."""
    found = page.find_all("meta", attrs={"name": "description"})
    texts = [str(tag.get("content", "")).strip() for tag in found]
    return [] if len(texts) == 1 and len(texts[0]) > 20 else [f"descriptions: {texts}"]


def image_problems(page: BeautifulSoup) -> list[str]:
    """List images whose alternative text is missing or the name of a file."""
    problems = []
    for image in page.find_all("img"):
        alternative = image.get("alt")
        source = str(image.get("src", ""))
        if alternative is None:
            problems.append(f"{source}: no alternative text")
        elif alternative.strip() in {source, Path(source).name, Path(source).stem} - {""}:
            problems.append(f"{source}: the alternative text is the file's name")
        elif image.find_parent("figure") and len(alternative.split()) < 5:
            problems.append(f"{source}: a figure without words")
    return problems


def visible_text(page: BeautifulSoup) -> str:
    """Return the running text of a page's article, without code and without the source of maths."""
    article = page.find("article") or page.body or page
    copy = BeautifulSoup(str(article), "html.parser")
    hidden = ["annotation", "code", "pre", "script", "style", "template"]
    for tag in copy.find_all(hidden):
        tag.decompose()
    return copy.get_text(" ")


def raw_text_problems(page: BeautifulSoup) -> list[str]:
    """List traces of a source that was not rendered."""
    text = visible_text(page)
    return [
        f"{what}: «{text[max(0, found.start() - 20) : found.end() + 20].strip()}»"
        for what, pattern in _RAW.items()
        if (found := pattern.search(text))
    ]


def markup_problems(page: BeautifulSoup) -> list[str]:
    """List markup that is invalid or leaves out what programs for reading need."""
    return [
        f"{what}: {str(tag)[:80]}" for what, where in _WRONG.items() for tag in page.select(where)
    ]


class _Ends(HTMLParser):
    """Notes elements that end before what is in them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Pass over an element that ends where it begins."""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> in line {self.getpos()[0]} ends something else")
            self.open = []


def nesting_problems(markup: str) -> list[str]:
    """Return the first end of an element that stands in the wrong place.

    Examples
    --------
    >>> nesting_problems("<p><b>good</b><br><path /></p>")
    []
    >>> nesting_problems("<div><p>bad</div></p>")
    ['</div> in line 1 ends something else']
    """
    parser = _Ends()
    parser.feed(markup)
    return parser.problems[:1]


def output_problems(page: BeautifulSoup) -> list[str]:
    """List outputs of cells that show an error."""
    outputs = page.select(".cell_output, .output")
    return ["a cell failed" for output in outputs if "Traceback" in output.get_text()]
