"""The notebooks that the other tests look at are the pages that the book shows."""

from tests.book.notebooks import NOTEBOOKS, PAGES, ROOT, toc_pages


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


def test_the_four_chapters_of_the_spine_are_there() -> None:
    starts = {
        name.removeprefix("chapters/")[:2] for name in NOTEBOOKS if name.startswith("chapters/")
    }
    assert {"01", "02", "03", "04"} <= starts


def test_pages_inside_parts_and_sections_are_found() -> None:
    toc = {"root": "a", "parts": [{"chapters": [{"file": "b", "sections": [{"file": "c"}]}]}]}
    assert toc_pages(toc) == ["a", "b", "c"]
