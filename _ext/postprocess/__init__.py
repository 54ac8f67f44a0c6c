"""Finish the pages that Sphinx wrote: light, whole in themselves, and bound to a strict policy.

One pipeline does here what no template can, since it needs the whole page: its scripts, pictures
and style sheets are brought in, and a policy names what may run. A rule that changes no page of the
site has lost what it looks for, and fails the build.

What Sphinx wrote is kept beside the site, so that a page can be finished anew when only a style
sheet or a script has changed. A build finishes the pages that it wrote, and all of them if what
they share has changed.
"""

from __future__ import annotations

import filecmp
import json
import os
import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.parallel import ParallelTasks, SerialTasks, make_chunks, parallel_available

from _ext.postprocess import addresses, images, page_css, policy, scripts
from _ext.postprocess.icons import Icons
from _ext.rebuild import digest
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOGGER = logging.getLogger(__name__)
HERE = Path(__file__).resolve().parent
DONE = "<!-- finished -->"
# Folders of files that pages load, and may no longer.
LOADED = ("_static", "_images")
_NAMED = re.compile(r"\b(?:_static|_images)/[^\"'()<>?#\s]+")

Rule = Callable[[str, str], str]
"""Takes a page and the name of its file, and returns the changed page."""


class Finisher:
    """Finishes the pages of one site.

    `root` is where the site begins on its host, such as ``/book/``, or nothing if that is not
    known.
    """

    def __init__(self, site: Path, *, has_policy: bool = True, root: str = "") -> None:
        self.site, self.root = site, root
        self.kept = site.parent / ".finish" / site.name
        self.raw = self.kept / "pages"
        self.assets = self.kept / "assets"
        self.library = page_css.Library(self.assets, self.kept / "sheets")
        self.icons = Icons(self.assets, self.kept / "icons", LOGGER.warning)
        self.pictures = images.Pictures(self.assets, site, self.kept / "pictures")
        self.rules: dict[str, Rule] = {
            "scripts": self.inline_scripts,
            "pictures": self.pictures.place,
            "sheets": self.inline_sheets,
        }
        if root:
            self.rules["addresses"] = self.root_addresses
        if has_policy:
            self.rules["policy"] = lambda page, _name: policy.add_policy(page)

    def written(self) -> list[str]:
        """Return the pages that Sphinx has just written, and keep them as they are."""
        names = []
        for path in sorted(self.site.rglob("*.html")):
            name = path.relative_to(self.site).as_posix()
            page = path.read_text(encoding="utf-8")
            if name.startswith("_") or page.endswith(DONE):
                continue
            atomic_write(self.raw / name, page)
            names.append(name)
        return names

    def keep_assets(self) -> None:
        """Keep what pages were to load, as it will leave the site."""
        paths = [path for folder in LOADED for path in (self.site / folder).rglob("*.*")]
        for path in paths:
            target = self.assets / path.relative_to(self.site)
            if path.suffix == ".webp" or not path.is_file():
                continue
            if not target.exists() or not filecmp.cmp(path, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)

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

    def shared(self) -> str:
        """Return a digest of what all pages have in common."""
        own = [path for path in HERE.iterdir() if path.suffix == ".py"]
        assets = (self.assets / "_static").rglob("*.*")
        loaded = [path for path in assets if path.suffix in {".css", ".js"}]
        return f"{digest(*own, *loaded)} {list(self.rules)} {self.root}"

    def inline_scripts(self, page: str, name: str) -> str:
        """Put the scripts of a page into it."""

        def read(source: str) -> str:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), source))
            return (self.assets / urlsplit(path).path).read_text(encoding="utf-8")

        return scripts.inline(page, read)

    def inline_sheets(self, page: str, name: str) -> str:
        """Put what a page needs of its style sheets into it."""
        own = "\n".join(scripts.programs(page))
        return page_css.place(page, name, own, self.library, self.icons.bring)

    def root_addresses(self, page: str, name: str) -> str:
        """Let the page that is shown anywhere find what it links."""
        return addresses.rooted(page, self.root) if name == "404.html" else page

    def finished(self, name: str, page: str) -> tuple[str, list[str]]:
        """Return a page, given as Sphinx wrote it, as readers get it, and the rules that did it."""
        matched = []
        for rule, change in self.rules.items():
            before, page = page, change(page, name)
            if page != before:
                matched.append(rule)
        return f"{page.rstrip()}\n{DONE}", matched

    def finish(self) -> None:
        """Finish every page that is not; a rule with nothing to do on any page is an error."""
        names = self.written()
        self.keep_assets()
        stamp = self.kept / "finished.json"
        known = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
        shared = self.shared()
        if known.get("shared") != shared:
            raw = (path.relative_to(self.raw).as_posix() for path in self.raw.rglob("*.html"))
            names = sorted(name for name in raw if (self.site / name).exists())
            known = {"shared": shared, "pages": {}}
        if names:
            known["pages"] |= self.finish_pages(names)
            there = {name: by for name, by in known["pages"].items() if (self.site / name).exists()}
            idle = set(self.rules).difference(*there.values())
            if idle:
                raise ExtensionError(f"rules of _ext.postprocess change no page: {sorted(idle)}")
            stamp.write_text(json.dumps(known | {"pages": there}), encoding="utf-8")
        # a build that writes no page brings what pages were to load all the same
        self.drop_unused()

    def finish_pages(self, names: list[str]) -> dict[str, list[str]]:
        """Finish some pages, and return which rules changed each of them."""
        pages = {name: (self.raw / name).read_text(encoding="utf-8") for name in names}
        self.pictures.prepare(
            {path for name in names for path in self.pictures.of(pages[name], name)}
        )
        matched: dict[str, list[str]] = {}

        def finish(some: list[str]) -> dict[str, list[str]]:
            found = {}
            for name in some:
                page, found[name] = self.finished(name, pages[name])
                (self.site / name).write_text(page, encoding="utf-8")
            return found

        # the first page brings the style sheets, which the others have in common
        matched |= finish(names[:1])
        processors = os.cpu_count() or 1
        tasks = ParallelTasks(processors) if parallel_available else SerialTasks()
        for some in make_chunks(names[1:], 4 * processors):
            tasks.add_task(finish, some, lambda _some, found: matched.update(found))
        tasks.join()
        return matched


def finish_site(app: Sphinx, error: Exception | None) -> None:
    """Finish the pages when all are written."""
    if error is None and app.builder.format == "html":
        root = urlsplit(app.config["html_baseurl"]).path.rstrip("/") + "/"
        Finisher(
            Path(app.outdir),
            has_policy=app.config["finish_policy"],
            root=root if app.config["html_baseurl"] else "",
        ).finish()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # the live preview puts a script of its own into every page
    app.add_config_value("finish_policy", default=True, rebuild="html")
    # after whatever else touches pages when they are written
    app.connect("build-finished", finish_site, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
