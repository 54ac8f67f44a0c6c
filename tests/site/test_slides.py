"""Plots as pictures for slides: wide, on white, with their words and what the license asks for."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

from _ext import citation
from book.model import figure_of
from tests.book.notebooks import BOOK
from tests.site import pages
from tools import slides

PUZZLE = BOOK.page("01_puzzle")


def small_site(root: Path, page: str = "<article></article>") -> Path:
    """Write a site of one chapter."""
    path = root / f"{PUZZLE.name}.html"
    path.parent.mkdir(parents=True)
    path.write_text(page, encoding="utf-8")
    return root


@pytest.mark.proof("pages")
def test_each_plot_of_a_chapter_is_wide_and_on_white_and_has_its_words(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(slides.ON_SLIDES, "")  # what is set on the way is taken back
    out = tmp_path / "new" / "out"
    names = slides.write(site, out, [PUZZLE])
    assert names == ["01-01-attention-maps", "01-02-slide-squeeze"]
    files = [f"{name}.{ending}" for name in names for ending in ("png", "svg")]
    assert sorted(path.name for path in out.iterdir()) == sorted([*files, slides.LIST])
    for name in names:
        with Image.open(out / f"{name}.png") as picture:
            assert picture.width >= 1800
            assert picture.width >= 1.9 * picture.height
            corners = {picture.convert("RGBA").getpixel((0, y)) for y in (0, picture.height - 1)}
        assert corners == {(255, 255, 255, 255)}
        drawing = ET.parse(out / f"{name}.svg").getroot()  # noqa: S314
        _, _, width, height = map(float, drawing.get("viewBox").split())
        assert width >= 1.9 * height
    said = (out / slides.LIST).read_text(encoding="utf-8")
    found = [figure_of(cell) for cell in PUZZLE.cells if cell.cell_type == "code"]
    shown = [figure for figure in found if figure and figure.alternative]
    assert len(shown) == len(names)
    assert all(f"What it shows: {figure.alternative}\n" in said for figure in shown)
    assert f"## {names[0]}\n\nFrom *1. " in said
    cited = citation.record()
    assert f"“{cited['title']}”, version {cited['version']}," in said
    assert "CC BY 4.0" in said


@pytest.mark.proof("pages")
def test_every_plot_of_the_book_has_a_name_and_a_cell(site: Path) -> None:
    found = [
        (page, plot) for page in BOOK.notebooks for plot in slides.plots(site / f"{page.name}.html")
    ]
    figures = [
        figure
        for path in [site / "index.html", *(site / "chapters").glob("*.html")]
        for figure in pages.parse(path).select("article figure:has(figcaption) img")
    ]
    names = [plot.name for _, plot in found]
    assert len(names) == len(figures) == len(set(names))
    numbered = [name for name in names if name[0].isdigit()]
    assert numbered == sorted(numbered), "in the order of the chapters"
    for page, plot in found:
        cells = [figure_of(cell) for cell in page.cells if cell.cell_type == "code"]
        assert plot.figure in {figure.name for figure in cells if figure}


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda root: root / "nothing", "no built site"),
        (lambda root: small_site(root / "site"), "no plots"),
    ],
)
def test_a_site_without_plots_is_reported(start, message: str, tmp_path: Path) -> None:
    with pytest.raises(slides.SlidesError, match=message):
        slides.write(start(tmp_path), tmp_path / "out", [PUZZLE])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_written_over(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kept = out if kind == "file" else out / "mine.txt"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(slides.SlidesError, match="new or an empty folder"):
        slides.write(small_site(tmp_path / "site"), out, [PUZZLE])
    assert kept.read_text(encoding="utf-8") == "mine"
    assert slides.main([""]) == 1
