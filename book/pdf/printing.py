"""Print pages of the built site as a PDF with a title page, contents and bookmarks.

Chromium prints the one page of :mod:`book.pdf.merging` twice: the first time tells on which page
everything begins, the second has those numbers in its contents.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import yaml

from attnlib import __version__
from book.pdf.merging import Chapter, Merger, one_page, title_page
from book.pdf.tagging import finish

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]


def page_numbers(path: Path) -> dict[str, int]:
    """Return on which page of a PDF each place that a link leads to lies."""
    from pypdf import PdfReader

    reader = PdfReader(path)
    numbers = {}
    for name, place in reader.named_destinations.items():
        number = reader.get_destination_page_number(place)
        if number is not None:
            numbers[unquote(name.lstrip("/"))] = number + 1
    return numbers


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


def make(
    browser: Browser, site: Path, chapters: Sequence[Chapter], target: Path, part: str = ""
) -> None:
    """Print some pages of a site into a PDF, whose title may name which part of the book it is."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    title = f"{config['title']}: {part}" if part else config["title"]
    opening = title_page(title, config["author"], __version__)
    merged = Merger(site, chapters).merge()
    with tempfile.TemporaryDirectory() as work:
        numbers: dict[str, int] = {}
        for _pass in ("where everything is", "with the numbers"):
            printed = Path(work, "printed.pdf")
            print_page(browser, one_page(merged, opening, title, numbers), Path(work), printed)
            before, numbers = numbers, page_numbers(printed)
        if any(before.get(entry.target) != numbers.get(entry.target) for entry in merged.entries):
            raise ValueError("the numbers of the contents have moved what they number")
        finish(printed, target, title, numbers)
