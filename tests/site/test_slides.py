"""Plots as pictures for slides: all of them, on white, with what their license asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from _ext import citation
from tests.book.notebooks import BOOK
from tests.site import pages
from tools import slides

PAGE = """<article><h1>1. One<a class="headerlink" href="#">#</a></h1>
<figure id="fig-a"><img alt="It rises." src="../_images/a.png"/>
<figcaption><p><span class="caption-number">Fig. 1.2 </span>
<span class="caption-text">Weights
against widths.</span></p></figcaption></figure>
<figure id="fig-b"><p>no picture</p></figure></article>"""


def small_site(root: Path, page: str = PAGE) -> Path:
    """Write a site of one chapter with one plot, half of it transparent."""
    for folder in ("chapters", "_images"):
        (root / folder).mkdir(parents=True)
    (root / "index.html").write_text("<article><h1>T</h1></article>", encoding="utf-8")
    (root / f"{BOOK.chapters[0].name}.html").write_text(page, encoding="utf-8")
    picture = Image.new("RGBA", (4, 2), (0, 0, 0, 0))
    picture.paste((255, 0, 0, 255), (0, 0, 2, 2))
    picture.save(root / "_images" / "a.png")
    return root


def test_a_plot_is_on_white_and_has_its_words(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert slides.write(small_site(tmp_path / "site"), out) == ["01-02-a.png"]
    with Image.open(out / "01-02-a.png") as picture:
        assert picture.mode == "RGB"
        assert picture.getpixel((0, 0)) == (255, 0, 0)
        assert picture.getpixel((3, 1)) == (255, 255, 255)
    said = (out / slides.LIST).read_text(encoding="utf-8")
    assert "From *1. One*. Weights against widths.\n" in said
    assert "What it shows: It rises.\n" in said
    cited = citation.record()
    assert f"“{cited['title']}”, version {cited['version']}," in said
    assert "CC BY 4.0" in said


def test_every_plot_of_the_book_is_written(site: Path, tmp_path: Path) -> None:
    names = slides.write(site, tmp_path)
    figures = [
        figure
        for path in [site / "index.html", *(site / "chapters").glob("*.html")]
        for figure in pages.parse(path).select("article figure:has(figcaption) img")
    ]
    assert len(names) == len(figures) == len(set(names))
    numbered = [
        name for name in names if name[2:6].strip("-0123456789") == "" and name[3].isdigit()
    ]
    assert numbered == sorted(numbered), "in the order of the chapters"
    assert {path.name for path in tmp_path.iterdir()} == {*names, slides.LIST}
    said = (tmp_path / slides.LIST).read_text(encoding="utf-8")
    assert all(figure["alt"] in said for figure in figures)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda root: root / "nothing", "no built site"),
        (lambda root: small_site(root / "site", "<article></article>"), "no plots"),
    ],
)
def test_a_site_without_plots_is_reported(start, message: str, tmp_path: Path) -> None:
    with pytest.raises(slides.SlidesError, match=message):
        slides.write(start(tmp_path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_written_over(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kept = out if kind == "file" else out / "mine.txt"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("mine", encoding="utf-8")
    with pytest.raises(slides.SlidesError, match="new or an empty folder"):
        slides.write(small_site(tmp_path / "site"), out)
    assert kept.read_text(encoding="utf-8") == "mine"
    assert slides.main([""]) == 1
