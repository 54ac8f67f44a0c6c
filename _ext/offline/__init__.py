"""Let a published copy be read without a connection, and be installed.

The site gets a service worker: a list of its files with their digests, and behind it ``worker.js``,
which says how they are kept. Browsers look for a changed worker whenever a page is opened, so the
list is also what tells them that there is a newer build. Whatever changes a finished site has to
call ``update`` at last.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from _ext.offline.app_icons import ICONS, draw
from _ext.rebuild import rebuild_when_changed
from attnbook.drawing.tokens import INKS
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = Path(__file__).with_name("worker.js")
DRAWING = Path(__file__).parents[1] / "theme" / "static" / "favicon.svg"
WORKER, MANIFEST = "service-worker.js", "book.webmanifest"
PYTHON = "_python"
"""The folder of what runs cells."""
CARDS = "_images/social_previews/"
"""The folder of pictures that no page shows."""
SHORT_NAME = "Why √dₖ"
"""What fits below an icon."""
LARGE = 1_000_000
"""As many bytes are not loaded before a reader asks for them."""
SHOWN = {".css", ".html", ".js", ".json", ".png", ".svg", ".webmanifest", ".webp", ".woff2"}
"""What pages load."""
TAKEN = {".ipynb", ".pdf", ".txt", ".wasm", ".zip"}
"""What readers take along."""


def listed(contents: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Return the digests of the files to keep: of those kept at once, and of those asked for later.

    Examples
    --------
    >>> found = listed({"a.html": b"a", "a.pdf": b"b", "_python/a.zip": b"c", "a.inv": b"d"})
    >>> [list(files) for files in found.values()]
    [['_python/a.zip', 'a.html'], ['a.pdf']]
    """
    found: dict[str, dict[str, str]] = {"ahead": {}, "later": {}}
    for name, content in sorted(contents.items()):
        path = PurePosixPath(name)
        folder, kind = path.parts[0], path.suffix
        if (
            name == WORKER
            or name.startswith(CARDS)
            or not (folder == PYTHON or kind in SHOWN | TAKEN)
        ):
            continue
        small = len(content) < LARGE and (folder == PYTHON or kind in SHOWN)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        found["ahead" if small else "later"][name] = digest
    return found


def worker(contents: Mapping[str, bytes]) -> str:
    """Return the service worker of a site of some files."""
    files = json.dumps(listed(contents), indent=0)
    program = SOURCE.read_text(encoding="utf-8")
    version = hashlib.sha256((files + program).encode()).hexdigest()[:16]
    return f'const VERSION = "{version}";\nconst FILES = {files};\n{program}'


def write(site: Path) -> None:
    """Write the service worker of a finished site."""
    paths = (path for path in site.rglob("*") if path.is_file())
    contents = {path.relative_to(site).as_posix(): path.read_bytes() for path in paths}
    atomic_write(site / WORKER, worker(contents))


def update(site: Path) -> None:
    """Write the service worker of a site anew, if it has one."""
    if (site / WORKER).exists():
        write(site)


def manifest(title: str, language: str) -> str:
    """Return what a system shows of a book that is installed."""
    ground = INKS["ground"][2]
    icons = [
        {"src": "_static/favicon.svg", "type": "image/svg+xml", "sizes": "any"},
        {"src": "_static/apple-touch-icon.png", "type": "image/png", "sizes": "180x180"},
        *(icon.entry for icon in ICONS),
    ]
    said = {"name": title, "short_name": SHORT_NAME, "lang": language, "icons": icons}
    said |= {"start_url": ".", "scope": "."}
    look = {"display": "standalone", "background_color": ground, "theme_color": ground}
    return json.dumps(said | look, ensure_ascii=False, indent=2)


def add_script(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Let a page look ahead, except in a preview, and at an address that leads nowhere."""
    context["looks_ahead"] = app.config["offline"] and page != "404"


def keep_site(app: Sphinx, error: Exception | None) -> None:
    """Write the worker and the manifest of a finished site."""
    if error is None and app.builder.format == "html" and app.config["offline"]:
        site, language = Path(app.outdir), app.config["language"]
        drawing = DRAWING.read_text(encoding="utf-8")
        for icon in ICONS:
            atomic_write(site / "_static" / icon.name, draw(drawing, icon))
        atomic_write(site / MANIFEST, manifest(app.config["html_title"], language))
        write(site)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # the live preview changes while it is read
    app.add_config_value("offline", default=True, rebuild="html")
    rebuild_when_changed(app, "html", __file__)
    app.connect("html-page-context", add_script)
    # after everything that writes into the site
    app.connect("build-finished", keep_site, priority=1000)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
