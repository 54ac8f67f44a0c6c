"""Write the plots of the book as pictures for slides, with their captions.

    python tools/slides.py FOLDER

``make slides OUT=FOLDER`` builds the book and calls this. The folder has to be new or empty. Each
plot of the built site becomes a PNG on white, named by its number, and ``captions.md`` lists them:
the chapter, the caption, what the picture shows in words, and the line that says where it is from.
Figures that move are not pictures; they are shown from their page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext import citation  # noqa: E402
from book.model import Book  # noqa: E402

SITE = ROOT / "_build" / "html"
LIST = "captions.md"


class SlidesError(Exception):
    """The pictures cannot be written."""


class Plot(NamedTuple):
    """A plot of a page."""

    name: str
    chapter: str
    caption: str
    shows: str
    file: Path


def words(element: object) -> str:
    """Return the text of an element on one line."""
    return " ".join(element.get_text().split())


def sortable(label: str) -> str:
    """Return the number of a figure so that names sort as the figures do.

    Examples
    --------
    >>> sortable("4.2"), sortable("11.1"), sortable("3")
    ('04-02', '11-01', '03')
    """
    return "-".join(part.zfill(2) for part in label.split("."))


def plots(page: Path) -> Iterator[Plot]:
    """Give the plots of a built page that have a caption."""
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").article
    for figure in article.select("figure[id]") if article else ():
        image, number = figure.img, figure.select_one(".caption-number")
        if image is None or number is None:
            continue
        label = words(number).removeprefix("Fig.").strip()
        yield Plot(
            name=f"{sortable(label)}-{figure['id'].removeprefix('fig-')}",
            chapter=words(article.h1).removesuffix("#").strip(),
            caption=words(figure.select_one(".caption-text")),
            shows=image["alt"],
            file=(page.parent / image["src"]).resolve(),
        )


def on_white(file: Path) -> Image.Image:
    """Read a picture, and fill what is transparent in it."""
    with Image.open(file) as opened:
        picture = opened.convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    return Image.alpha_composite(white, picture).convert("RGB")


def credit() -> str:
    """Say where the pictures are from, as their license asks."""
    cited = citation.record()
    author = citation.author(cited)
    return f"“{cited['title']}”, version {cited['version']}, {author}, CC BY 4.0"


def write(site: Path, folder: Path) -> list[str]:
    """Write the pictures of a built site and the list of them; return their names.

    A site that is not built or has no plots, and a folder that holds something, is a SlidesError.
    """
    pages = [site / f"{page.name}.html" for page in Book(ROOT).pages]
    if not pages[0].is_file():
        raise SlidesError(f"there is no built site in {site}; `make book` builds it")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SlidesError(f"OUT has to be a new or an empty folder, and {folder} is not")
    found = [plot for page in pages if page.is_file() for plot in plots(page)]
    if not found:
        raise SlidesError(f"the site in {site} has no plots")
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Plots for slides", "", f"Name this source beside each: {credit()}.", ""]
    for plot in found:
        on_white(plot.file).save(folder / f"{plot.name}.png", optimize=True)
        lines += [f"## {plot.name}.png", "", f"From *{plot.chapter}*. {plot.caption}", ""]
        lines += [f"What it shows: {plot.shows}", ""]
    (folder / LIST).write_text("\n".join(lines), encoding="utf-8")
    return [f"{plot.name}.png" for plot in found]


def main(arguments: list[str]) -> int:
    """Write the pictures, and return the exit status."""
    parser = argparse.ArgumentParser(description="Write the plots of the book for slides.")
    parser.add_argument("folder", help="a new or an empty folder")
    folder = parser.parse_args(arguments).folder
    try:
        if not folder:
            raise SlidesError("say where the pictures go: make slides OUT=folder")
        names = write(SITE, Path(folder))
    except SlidesError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"wrote {len(names)} plots and {LIST} to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
