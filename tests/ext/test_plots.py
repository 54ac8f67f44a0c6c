"""A plot opens by itself, as large as the window, with and without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from _ext.postprocess.images import ALONE, Pictures
from tests.book.notebooks import CHAPTERS
from tests.ext import pages
from tests.ext.test_browser import PHONE, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title>
<meta name="viewport" content="width=device-width"></head><body><article><h1>T</h1>
<figure>{picture}</figure></article></body></html>"""
PLOT = '<img alt="A line that rises." src="../_images/plot.png" />'


def placed(folder: Path, picture: str) -> Path:
    """Put a page with a picture into a site of its own."""
    assets, site = folder / "assets", folder / "site"
    for base in (assets, site):
        (base / "_images").mkdir(parents=True, exist_ok=True)
        (base / "chapters").mkdir(exist_ok=True)
    Image.effect_noise((1000, 600), 40).convert("RGB").save(assets / "_images" / "plot.png")
    (assets / "_images" / "logo.svg").write_text('<svg viewBox="0 0 10 10"></svg>')
    pictures = Pictures(assets, site, folder / "kept")
    path = site / "chapters" / "page.html"
    path.write_text(pictures.place(PAGE.format(picture=picture), "chapters/page.html"), "utf-8")
    return path


@pytest.mark.proof("pages")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_tap_opens_the_file_and_back_returns(
    browser: Browser, tmp_path: Path, scripts: bool
) -> None:
    path = placed(tmp_path, PLOT)
    with visit(browser, path, width=PHONE, scripts=scripts) as seen:
        link = seen.page.get_by_role("link", name="A line that rises.")
        assert link.get_attribute("title") == ALONE
        link.click()
        assert seen.page.url == (tmp_path / "site" / "_images" / "plot.webp").as_uri()
        seen.page.wait_for_load_state()
        seen.page.go_back()
        assert seen.page.url == path.as_uri()
    assert not seen.errors


@pytest.mark.parametrize(
    "picture",
    [f'<a href="page.html">{PLOT}</a>', '<img alt="A mark." src="../_images/logo.svg" />'],
)
def test_what_is_linked_already_or_no_plot_gets_no_link(tmp_path: Path, picture: str) -> None:
    page = pages.parse(placed(tmp_path, picture))
    assert not page.select("a.plot")
    assert len(page.select("img")) == 1


def test_every_plot_of_the_book_is_a_link_to_itself(site: Path) -> None:
    count = 0
    for name in CHAPTERS:
        for image in pages.parse(site / name.replace(".ipynb", ".html")).select("figure img"):
            if not str(image["src"]).endswith(".svg"):
                assert image.parent.name == "a"
                assert image.parent["href"] == image["src"]
                count += 1
    assert count > len(CHAPTERS)
