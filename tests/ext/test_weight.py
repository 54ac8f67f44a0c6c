"""What a chapter weighs on its way to a reader, all that it can ever load counted."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import NamedTuple

from tests.book.notebooks import CHAPTERS
from tests.ext import pages

LIMIT = 250_000
CONTENT = [name.replace(".ipynb", ".html") for name in CHAPTERS]
COMPRESSED = {".webp", ".png", ".woff2", ".woff", ".jpg"}


class Weight(NamedTuple):
    """Bytes of a page, of its pictures and of its fonts, as a server sends them."""

    page: int
    pictures: int
    fonts: int


def sent(path: Path) -> int:
    """Return the size of a file on its way; what is compressed already goes as it is."""
    content = path.read_bytes()
    return len(content if path.suffix in COMPRESSED else gzip.compress(content, 9))


def loaded(path: Path) -> set[Path]:
    """Return the files that a page loads, whether or not a reader gets that far down."""
    urls = {re.sub(r"[?#].*", "", url) for url in pages.loads(pages.parse(path))}
    # where a form leads to is another page
    own = {url for url in urls if url and not url.startswith("data:") and ".html" not in url}
    return {(path.parent / url).resolve() for url in own}


def weigh(path: Path) -> Weight:
    """Weigh a page with everything that it loads."""
    files = loaded(path)
    fonts = {file for file in files if file.suffix.startswith(".woff")}
    return Weight(sent(path), sum(map(sent, files - fonts)), sum(map(sent, fonts)))


def test_no_chapter_weighs_more_than_a_quarter_of_a_megabyte(site: Path) -> None:
    weights = {name: weigh(site / name) for name in CONTENT}
    rows = (
        f"{name:35}{sum(weight):9}" + "".join(f"{part:9}" for part in weight)
        for name, weight in weights.items()
    )
    table = "\n".join([f"{'':35}" + "".join(f"{n:>9}" for n in ("all", *Weight._fields)), *rows])
    assert all(sum(weight) <= LIMIT for weight in weights.values()), f"\n{table}"
    assert all(weight.pictures for name, weight in weights.items() if "10_" not in name), table


def test_everything_that_a_page_can_load_is_weighed(tmp_path: Path) -> None:
    for name, size in (("a.webp", 100), ("b.woff2", 200), ("c.svg", 0), ("d.js", 0)):
        (tmp_path / name).write_bytes(bytes(size))
    page = """<html><head><style>@font-face { src: url("b.woff2?v=1") format("woff2") }</style>
    <link rel="icon" href="c.svg" /></head><body><img src="a.webp" loading="lazy" alt="" />
    <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="" />
    <div data-late-from="d.js"></div></body></html>"""
    (tmp_path / "a.html").write_text(page)
    weight = weigh(tmp_path / "a.html")
    assert weight.page == len(gzip.compress(page.encode(), 9))
    assert weight.pictures == 100 + 2 * len(gzip.compress(b"", 9))
    assert weight.fonts == 200
