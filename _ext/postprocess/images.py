"""Serve pictures as WebP, with their size in the page, when they are about to be seen.

A picture of a plot has few colors: eighty well-chosen ones differ from all of them by less than
an eye can tell, and make a file of a quarter of the size of Matplotlib's PNG.

On a phone the type in a plot is half as large as the text. So each plot is a link to its own file,
which a tap opens as large as the window, to be turned, and made larger with two fingers.
"""

from __future__ import annotations

import hashlib
import io
import os
import posixpath
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

from PIL import Image, ImageChops

from book.files import atomic_write

COLORS = 80
FARTHEST = 32
"""By how much of 255 a part of a color may change anywhere; else all colors are kept."""
FIRST_SCREEN = 1200
"""What lies within so many characters of the title is fetched at once."""
_IMAGE = re.compile(r"<img\b[^>]*>")
_SOURCE = re.compile(r'(\bsrc=")([^"]+)(")')
_SIZED = re.compile(r"\b(?:width|height)=|\bstyle=")
_TAGS = re.compile(r"<[^>]*>")
_LINKED = re.compile(r"<a\b[^>]*>\s*$")
ALONE = "Open the picture by itself"
"""What a link around a picture does."""
_VIEW = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')


def few_colors(picture: Image.Image) -> Image.Image:
    """Return a picture in colors that can be told by one byte, or itself if that would show."""
    reduced = picture.quantize(
        COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    ).convert("RGB")
    change = ImageChops.difference(picture, reduced)
    return reduced if max(high for _, high in change.getextrema()) <= FARTHEST else picture


def webp(content: bytes) -> bytes:
    """Return a picture as WebP, or as it is if that is smaller."""
    with Image.open(io.BytesIO(content)) as opened:
        if "A" in opened.getbands() and opened.getchannel("A").getextrema() != (255, 255):
            picture = opened.convert("RGBA")
        else:
            picture = few_colors(opened.convert("RGB"))
    written = io.BytesIO()
    picture.save(written, "WEBP", lossless=True, method=3, quality=90)
    return min(written.getvalue(), content, key=len)


def size(path: Path) -> tuple[int, int] | None:
    """Return the width and height of a picture."""
    if path.suffix == ".svg":
        found = _VIEW.search(path.read_text(encoding="utf-8"))
        return (round(float(found[1])), round(float(found[2]))) if found else None
    with Image.open(path) as opened:
        return opened.size


class Pictures:
    """The pictures of a site; each is converted once and kept for later builds."""

    def __init__(self, originals: Path, site: Path, kept: Path) -> None:
        self.originals, self.site, self.kept = originals, site, kept
        self._version = Path(__file__).read_bytes()

    def convert(self, path: Path) -> Path:
        """Put a picture into the site, as a smaller file if there is one, and return that."""
        content = path.read_bytes()
        digest = hashlib.sha256(self._version + content).hexdigest()[:24]
        stored = self.kept / f"{digest}.webp"
        if not stored.exists():
            atomic_write(stored, webp(content))
        converted = stored.read_bytes()
        target = self.site / path.relative_to(self.originals)
        if converted != content:
            target = target.with_suffix(".webp")
        if not target.exists() or target.read_bytes() != converted:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(stored, target)
        return target

    def prepare(self, paths: set[Path]) -> None:
        """Convert many pictures, on all processors."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.convert, sorted(paths)))

    def of(self, page: str, name: str) -> set[Path]:
        """Return the pictures of a page that can be made smaller."""
        named = (_SOURCE.search(image) for image in _IMAGE.findall(page))
        paths = {self._path(found[2], name) for found in named if found}
        return {path for path in paths if path.suffix == ".png" and path.is_file()}

    def _path(self, source: str, name: str) -> Path:
        return self.originals / posixpath.normpath(
            posixpath.join(posixpath.dirname(name), unquote(source.partition("?")[0]))
        )

    def place(self, page: str, name: str) -> str:
        """Return a page with its pictures made smaller, told their sizes and linked."""
        title = page.find("<h1", page.find("<article"))
        seen = 0

        def replaced(found: re.Match[str]) -> str:
            nonlocal seen
            image, is_plot, other = found[0], False, ""
            source = _SOURCE.search(image)
            path = self._path(source[2], name) if source else None
            if path is None or ":" in source[2] or not path.is_file():
                return image
            if path.suffix == ".png":
                is_plot = not _LINKED.search(page, max(0, found.start() - 500), found.start())
                path = self.convert(path)
                other = posixpath.join(posixpath.dirname(source[2]), path.name)
                image = _SOURCE.sub(rf"\g<1>{other}\g<3>", image, count=1)
            attributes = ""
            measures = size(path)
            if measures and not _SIZED.search(image):
                attributes += ' width="{}" height="{}"'.format(*measures)
            if path.suffix != ".svg" and "loading=" not in image:
                seen += 1
                before = _TAGS.sub("", page[title : found.start()]) if seen == 1 else None
                near = before is not None and len(before) < FIRST_SCREEN
                attributes += ' decoding="async"' + ("" if near else ' loading="lazy"')
            image = f"<img{attributes}{image[4:]}"
            if not is_plot:
                return image
            return f'<a class="plot" href="{other}" title="{ALONE}">{image}</a>'

        return _IMAGE.sub(replaced, page)
