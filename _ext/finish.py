"""Finish the pages that Sphinx wrote: light, whole in themselves, and bound to a strict policy.

What Sphinx wrote is kept beside the site, so that a page can be finished anew when only a style
sheet or a script has changed. A build finishes the pages that it wrote, and all of them if what
they share has changed.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
import posixpath
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sphinx.util import logging
from sphinx.util.parallel import ParallelTasks, SerialTasks, make_chunks, parallel_available

from _ext import boxes, images, policy, scripts, sheets
from _ext.book_site import repaired
from _ext.icons import Icons
from _ext.maths import named_heads

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOGGER = logging.getLogger(__name__)
HERE = Path(__file__).resolve().parent
DONE = "<!-- finished -->"
# Folders of files that pages load, and may no longer.
LOADED = ("_static", "_images")
_NAMED = re.compile(r"\b(?:_static|_images)/[^\"'()<>?#\s]+")
INDEX = "searchindex.js"


class Workshop:
    """Where the pages of one site are finished."""

    def __init__(self, site: Path, *, bound: bool = True) -> None:
        self.site, self.bound = site, bound
        self.kept = site.parent / ".finish" / site.name
        self.raw = self.kept / "pages"
        self.assets = self.kept / "assets"
        self.sheets = sheets.Library(self.assets, self.kept / "sheets")
        self.icons = Icons(self.assets, self.kept / "icons", LOGGER.warning)
        self.pictures = images.Pictures(self.assets, site, self.kept / "pictures")

    def written(self) -> list[str]:
        """Return the pages that Sphinx has just written, and keep them as they are."""
        names = []
        for path in sorted(self.site.rglob("*.html")):
            name = path.relative_to(self.site).as_posix()
            page = path.read_text(encoding="utf-8")
            if name.startswith("_") or page.endswith(DONE):
                continue
            target = self.raw / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(page, encoding="utf-8")
            names.append(name)
        return names

    def keep_assets(self) -> None:
        """Keep what pages were to load, as it will leave the site."""
        paths = [path for folder in LOADED for path in (self.site / folder).rglob("*.*")]
        for path in [*paths, self.site / INDEX]:
            target = self.assets / path.relative_to(self.site)
            if path.suffix == ".webp" or not path.is_file():
                continue
            if not target.exists() or not filecmp.cmp(path, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)

    def bring_index(self) -> None:
        """Put the index of words where Sphinx looks for it when it adds to it."""
        if (self.assets / INDEX).exists() and self.site.is_dir():
            shutil.copy2(self.assets / INDEX, self.site / INDEX)

    def drop_unused(self) -> None:
        """Take out of the site what no page names any more."""
        named: set[str] = set()
        for path in self.site.rglob("*.html"):
            if not path.relative_to(self.site).as_posix().startswith("_"):
                named.update(_NAMED.findall(path.read_text(encoding="utf-8")))
        for folder in LOADED:
            for path in sorted((self.site / folder).rglob("*"), reverse=True):
                if path.is_dir():
                    if not any(path.iterdir()):
                        path.rmdir()
                elif path.relative_to(self.site).as_posix() not in named:
                    path.unlink()
        (self.site / INDEX).unlink(missing_ok=True)

    def shared(self) -> str:
        """Return a digest of what all pages have in common."""
        digest = hashlib.sha256(str(self.bound).encode())
        own = [path for path in HERE.iterdir() if path.suffix in {".py", ".js"}]
        loaded = [
            path for kind in ("css", "js") for path in (self.assets / "_static").rglob(f"*.{kind}")
        ]
        for path in sorted([*own, *loaded]):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()

    def finished(self, name: str, raw: str) -> str:
        """Return a page, given as Sphinx wrote it, as readers get it."""
        folder = posixpath.dirname(name)

        def read(source: str) -> str:
            path = posixpath.normpath(posixpath.join(folder, urlsplit(source).path))
            return (self.assets / path).read_text(encoding="utf-8")

        page = named_heads(boxes.native(repaired(raw)))
        placed = scripts.place(page, name, read)
        page = self.pictures.place(placed.text, name)
        page = sheets.place(page, name, placed.words, self.sheets, self.icons.bring)
        if self.bound:
            page = policy.add_policy(page)
        return f"{page.rstrip()}\n{DONE}"

    def finish(self) -> None:
        """Finish every page that is not."""
        names = self.written()
        self.keep_assets()
        stamp = self.kept / "shared.txt"
        shared = self.shared()
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != shared:
            raw = (path.relative_to(self.raw).as_posix() for path in self.raw.rglob("*.html"))
            names = sorted(name for name in raw if (self.site / name).exists())
        if names:
            self.finish_pages(names)
            stamp.write_text(shared, encoding="utf-8")
        # a build that writes no page brings what pages were to load all the same
        self.drop_unused()

    def finish_pages(self, names: list[str]) -> None:
        """Finish some pages."""
        pages = {name: (self.raw / name).read_text(encoding="utf-8") for name in names}
        self.pictures.prepare(
            {path for name in names for path in self.pictures.of(pages[name], name)}
        )

        def finish(some: list[str]) -> None:
            for name in some:
                (self.site / name).write_text(self.finished(name, pages[name]), encoding="utf-8")

        # the first page brings the style sheets, which the others have in common
        finish(names[:1])
        processors = os.cpu_count() or 1
        tasks = ParallelTasks(processors) if parallel_available else SerialTasks()
        for some in make_chunks(names[1:], 4 * processors):
            tasks.add_task(finish, some)
        tasks.join()


def bring_index(app: Sphinx) -> None:
    """Let Sphinx find what it knows of pages that it does not read again."""
    if app.builder.format == "html":
        Workshop(Path(app.outdir)).bring_index()


def finish_site(app: Sphinx, error: Exception | None) -> None:
    """Finish the pages when all are written."""
    if error is None and app.builder.format == "html":
        Workshop(Path(app.outdir), bound=app.config["finish_policy"]).finish()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # the live preview puts a script of its own into every page
    app.add_config_value("finish_policy", default=True, rebuild="html")
    app.connect("builder-inited", bring_index)
    # after whatever else touches pages when they are written
    app.connect("build-finished", finish_site, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
