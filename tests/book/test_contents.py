"""The notebooks that the other tests look at are the pages that the book shows."""

import re

from tests.book.notebooks import NOTEBOOKS, PAGES, ROOT, toc_pages

NUMBERED = re.compile(r"chapters/\d\d_")
BACK_MATTER = {
    "summary",
    "notation",
    "glossary",
    "models",
    "benchmarks",
    "reference",
    "instructors",
    "grading",
    "references",
    "about",
    "changelog",
}


def test_every_notebook_is_a_page_of_the_book() -> None:
    pages = {page.removesuffix(".ipynb").removesuffix(".md") for page in PAGES}
    assert {name.removesuffix(".ipynb") for name in NOTEBOOKS} <= pages


def test_every_page_of_the_book_exists() -> None:
    missing = [
        page
        for page in PAGES
        if not any((ROOT / f"{page}{suffix}").is_file() for suffix in ("", ".ipynb", ".md"))
    ]
    assert not missing


def test_the_eleven_chapters_are_there_in_order() -> None:
    numbers = [page.removeprefix("chapters/")[:2] for page in PAGES if NUMBERED.match(page)]
    assert numbers == [f"{number:02}" for number in range(1, 12)]


def test_the_back_matter_is_there() -> None:
    names = {page.removeprefix("chapters/") for page in PAGES}
    assert names >= BACK_MATTER


def test_pages_inside_parts_and_sections_are_found() -> None:
    toc = {"root": "a", "parts": [{"chapters": [{"file": "b", "sections": [{"file": "c"}]}]}]}
    assert toc_pages(toc) == ["a", "b", "c"]
