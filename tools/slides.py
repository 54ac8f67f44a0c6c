"""Write the plots of the book as pictures for slides, with their captions.

    python tools/slides.py FOLDER

``make slides OUT=FOLDER`` builds the book and calls this. The folder has to be new or empty. The
notebooks run once more, and draw each plot for a slide: wider than high, its panels side by side,
on white. Each becomes an SVG and a PNG, named by the number that the built site gives it, and
``captions.md`` lists them: the chapter, the caption, what the picture shows in words, and the line
that says where it is from. Figures that move are not pictures; they are shown from their page.
"""

from __future__ import annotations

import argparse
import base64
import copy
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup
from nbformat import v4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext import citation  # noqa: E402
from attnbook.plots.style import ON_SLIDES  # noqa: E402
from book import numbers  # noqa: E402
from book.model import Book, Page, figure_of  # noqa: E402

SITE = ROOT / "_build" / "html"
LIST = "captions.md"
DRAW = """%config InlineBackend.figure_formats = {"svg", "png"}
%config InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "dpi": 200}
"""
"""What is said to a notebook before its first cell."""


class SlidesError(Exception):
    """The pictures cannot be written."""


class Plot(NamedTuple):
    """A plot of a page."""

    name: str
    """The name of its file, without the ending."""
    figure: str
    """Its name in the notebook."""
    chapter: str
    caption: str
    shows: str


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
        first = sortable(label) if "." in label else f"{page.stem}-{sortable(label)}"
        yield Plot(
            name=f"{first}-{figure['id'].removeprefix('fig-')}",
            figure=figure["id"],
            chapter=words(article.h1).removesuffix("#").strip(),
            caption=words(figure.select_one(".caption-text")),
            shows=image["alt"],
        )


def drawn(page: Page) -> dict[str, dict[str, bytes]]:
    """Run a notebook; return its plots by their names, each by the ending of its file."""
    notebook = copy.deepcopy(page.notebook)
    notebook.cells.insert(0, v4.new_code_cell(DRAW))
    numbers.run(notebook, page.path.parent)
    found = {}
    for cell in notebook.cells:
        figure = figure_of(cell)
        for shown in (each.get("data", {}) for each in cell.get("outputs", ())):
            if figure and "image/svg+xml" in shown:
                found[figure.name] = {
                    "svg": shown["image/svg+xml"].encode(),
                    "png": base64.b64decode(shown["image/png"]),
                }
    return found


def credit() -> str:
    """Say where the pictures are from, as their license asks."""
    cited = citation.record()
    author = citation.author(cited)
    return f"“{cited['title']}”, version {cited['version']}, {author}, CC BY 4.0"


def check(folder: Path) -> None:
    """Make sure that a folder is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SlidesError(f"OUT has to be a new or an empty folder, and {folder} is not")


def write(site: Path, folder: Path, pages: Iterable[Page]) -> list[str]:
    """Write the pictures of some pages of a built site and the list of them; return their names.

    A site that is not built or has no plots, and a folder that holds something, is a SlidesError.
    """
    check(folder)
    built = {page: site / f"{page.name}.html" for page in pages}
    if not any(path.is_file() for path in built.values()):
        raise SlidesError(f"there is no built site in {site}; `make book` builds it")
    found = {page: list(plots(path)) for page, path in built.items() if path.is_file()}
    drawing = [page for page, shown in found.items() if shown]
    if not drawing:
        raise SlidesError(f"the site in {site} has no plots")
    os.environ[ON_SLIDES] = "yes"  # for the kernels
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        pictures = dict(zip(drawing, threads.map(drawn, drawing), strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Plots for slides", "", f"Name this source beside each: {credit()}.", ""]
    lines += ["Where words say that a panel is above another, it is to its left here.", ""]
    for page in drawing:
        for plot in found[page]:
            for ending, content in pictures[page][plot.figure].items():
                (folder / f"{plot.name}.{ending}").write_bytes(content)
            lines += [f"## {plot.name}", "", f"From *{plot.chapter}*. {plot.caption}", ""]
            lines += [f"What it shows: {plot.shows}", ""]
    (folder / LIST).write_text("\n".join(lines), encoding="utf-8")
    return [plot.name for page in drawing for plot in found[page]]


def main(arguments: list[str]) -> int:
    """Write the pictures, and return the exit status."""
    parser = argparse.ArgumentParser(description="Write the plots of the book for slides.")
    parser.add_argument("folder", help="a new or an empty folder")
    folder = parser.parse_args(arguments).folder
    try:
        if not folder:
            raise SlidesError("say where the pictures go: make slides OUT=folder")
        names = write(SITE, Path(folder), Book(ROOT).notebooks)
    except SlidesError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"wrote {len(names)} plots, each as SVG and PNG, and {LIST} to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
