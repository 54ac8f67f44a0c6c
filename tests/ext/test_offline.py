"""Pages are fetched ahead, and a book that was opened once is read without a connection."""

from __future__ import annotations

import io
import json
import re
import runpy
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import yaml
from PIL import Image

from _ext import downloads, offline
from _ext.offline.app_icons import ICONS, SHRUNK, Icon, draw
from tests.book.notebooks import PAGES, ROOT
from tests.ext import pages
from tests.ext.serving import QuietHandler, serving
from tests.ext.test_search import LOADED
from tests.ext.watching import LOAD_PICTURES, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

CONTENT = [f"{page}.html" for page in PAGES]
LATE = "chapters/language_model.html"
"""A page with a figure whose data come late."""
ROOM = 16_000_000
"""Bytes that a book may take on a phone before anything large was asked for."""
NEXT = ".prev-next-footer a.right-next"
LINK = ".bd-docs-nav a[href$='{}']"
FIGURE = ".live-figure:has([data-late-from])"
ALIVE = f"!document.querySelector('{FIGURE} fieldset').disabled"
DATA = f"document.querySelector('{FIGURE} [data-late-from]').dataset.late"
BROKEN = "[...document.images].filter((image) => !image.naturalWidth).map(({ src }) => src)"
KEPT = "navigator.serviceWorker.controller !== null"
READ = "async (name) => { const answer = await fetch(name); return answer.ok && answer.text(); }"
CACHES = "() => caches.keys()"
IN_CACHE = "async (name) => Boolean(await caches.match(name, { ignoreSearch: true }))"
# Whether the newest build, by its version, has come.
CAME = """async (version) => {
  const { installing, waiting } = await navigator.serviceWorker.getRegistration();
  return !installing && !waiting && (await caches.keys()).some((name) => name.endsWith(version));
}"""
# Whether one build is left, by its version; a request is the occasion on which others go.
ALONE = """async (version) => {
  await fetch(document.querySelector("link[rel~=icon]").href);
  const names = await caches.keys();
  return names.length === 1 && names[0].endsWith(version);
}"""
# Look for another build, and say what became of it. The browser may have looked by itself before.
UPDATE = """async () => {
  const registration = await navigator.serviceWorker.getRegistration();
  const found = new Promise((done) =>
    registration.addEventListener("updatefound", () => done(registration.installing)));
  await registration.update();
  const none = new Promise((done) => setTimeout(() => done(registration.active), 5000));
  const worker = await Promise.race([found, none]);
  const has_ended = () => ["activated", "redundant"].includes(worker.state);
  return new Promise((done) => {
    worker.addEventListener("statechange", () => has_ended() && done(worker.state));
    if (has_ended()) done(worker.state);
  });
}"""
SAVES_DATA = 'Object.defineProperty(navigator, "connection", { value: { saveData: true } });\n'


class Host:
    """An address of the web: what is there may change, and it may be out of reach."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.address = ""
        self._running: AbstractContextManager[str] | None = None

    def serve(self, folder: Path) -> str:
        """Serve a folder in place of what was served before."""
        self.stop()
        asked = self.asked

        class Noting(QuietHandler):
            def log_request(self, code: int | str = "-", _size: int | str = "-") -> None:
                asked.append((self.path, int(code)))

            def send_head(self) -> Any:
                # two builds within a second would be one and the same to this server
                del self.headers["If-Modified-Since"]
                return super().send_head()

        self._running = serving(folder, urlsplit(self.address).port or 0, Noting)
        self.address = self._running.__enter__()
        return self.address

    def stop(self) -> None:
        if self._running:
            self._running.__exit__(None, None, None)
            self._running = None

    def names(self, suffix: str = ".html") -> list[str]:
        """Return what was asked for, in the order of the first time."""
        return list(dict.fromkeys(name[1:] for name, _ in self.asked if name.endswith(suffix)))


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.stop()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """Return a page of a browser without service workers."""
    page = browser.new_page(service_workers="block", viewport={"width": 1280, "height": 900})
    yield page
    page.context.close()


@pytest.fixture
def copy(site: Path, tmp_path: Path) -> Path:
    """Return a copy of the site, to be altered."""
    return shutil.copytree(site, tmp_path / "site")


def version(site: Path) -> str:
    return re.search(r'VERSION = "(\w+)"', (site / offline.WORKER).read_text("utf-8"))[1]


def files(worker: str) -> dict[str, dict[str, str]]:
    """Return the list that a worker has."""
    return json.loads(
        re.search(r"^const FILES = (\{.*?^\});$", worker, re.DOTALL | re.MULTILINE)[1]
    )


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def heading(path: Path) -> str:
    return pages.parse(path).select_one("article h1").get_text()


def opened(context: BrowserContext, address: str, name: str = "index.html") -> Page:
    """Open a page, and wait until the book is kept."""
    page = context.new_page()
    page.goto(f"{address}/{name}")
    wait_until(page, KEPT)
    return page


def shown(page: Page) -> str:
    return page.locator("article h1").text_content()


def bring_to_life(page: Page) -> str:
    """Go to the figure with late data, and return its data."""
    page.locator(FIGURE).first.scroll_into_view_if_needed()
    wait_until(page, ALIVE)
    return page.evaluate(DATA)


def make_newer(site: Path) -> None:
    """Change a page, its data and a picture of a copy of the site."""
    page = site / LATE
    text = page.read_text("utf-8")
    (name,) = set(re.findall(r"late-\w+\.js", text))
    old, new = (site / "_static" / file for file in (name, "late-0123456789ab.js"))
    new.write_text(old.read_text("utf-8") + "document.currentScript.late += ' ';\n", "utf-8")
    old.unlink()
    page.write_text(text.replace(name, new.name).replace("<h1>", "<h1>Newer: "), "utf-8")
    icon = site / "_static" / "favicon.svg"
    icon.write_text(icon.read_text("utf-8") + "<!-- newer -->", "utf-8")
    offline.write(site)


def faults_of(context: BrowserContext) -> list[str]:
    """Return a list that goes on growing with what goes wrong."""
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)

    def note(request: Request) -> None:
        if not request.url.endswith(offline.WORKER):  # is there a newer build?
            faults.append(f"not loaded: {request.url}")

    context.on("requestfailed", note)
    return faults


def wait_for(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until something is true on this side."""
    for _ in range(500):
        if condition():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it did not come true")


@pytest.mark.proof("offline")
class TestAhead:
    """What is fetched before it is asked for, where there is no worker yet."""

    def test_the_next_page_and_the_one_whose_link_is_rested_on(
        self, plain: Page, host: Host, site: Path
    ) -> None:
        wanted = CONTENT[:4]
        plain.goto(f"{host.serve(site)}/{wanted[0]}")
        wait_for(plain, lambda: host.names() == wanted[:2])
        plain.hover(LINK.format(wanted[2]))
        wait_for(plain, lambda: host.names() == wanted[:3])
        plain.focus(LINK.format(wanted[3]))
        wait_for(plain, lambda: host.names() == wanted)
        plain.hover(LINK.format(wanted[2]))
        host.asked.clear()
        plain.click(NEXT)
        plain.wait_for_url(f"**/{wanted[1]}")
        # at most whether it is still the same
        assert {code for name, code in host.asked if name == f"/{wanted[1]}"} <= {304}

    def test_nothing_that_is_no_page_of_the_book(self, plain: Page, host: Host, copy: Path) -> None:
        page = copy / "index.html"
        links = "".join(
            f'<a id="a{place}" href="{address}">a</a> '
            for place, address in enumerate(
                ("a.zip", "a.pdf", "a.ipynb", "../other.html", "http://127.0.0.1:9/a.html", "#x")
            )
        )
        text = page.read_text("utf-8")
        page.write_text(text.replace("</h1>", f"</h1><p>{links}</p>", 1), "utf-8")
        book = copy.parent / "book"
        (book.parent / "other.html").touch()
        copy.rename(book)
        asked: list[str] = []
        plain.on("request", lambda request: asked.append(request.url))
        plain.clock.install()
        plain.goto(f"{host.serve(book.parent)}/book/index.html")
        for place in range(6):
            plain.focus(f"#a{place}")
            plain.clock.run_for(1000)
        wait_for(plain, lambda: f"book/{CONTENT[1]}" in host.names())
        assert host.names() == ["book/index.html", f"book/{CONTENT[1]}"]
        assert all(url.startswith(f"{host.address}/book/") for url in asked)
        assert not [url for url in asked if url.endswith((".zip", ".pdf", ".ipynb"))]

    def test_nothing_at_all_for_a_reader_who_saves_data(
        self, context: BrowserContext, host: Host, site: Path
    ) -> None:
        page = context.new_page()
        saver = context.new_cdp_session(page)
        saver.send("Emulation.setDataSaverOverride", {"dataSaverEnabled": True})
        page.clock.install()
        page.goto(f"{host.serve(site)}/index.html")
        assert page.evaluate("navigator.connection.saveData")
        page.focus(LINK.format(CONTENT[3]))
        page.hover(LINK.format(CONTENT[4]))
        page.clock.run_for(10_000)
        page.goto(f"{host.address}/{CONTENT[2]}")
        page.clock.run_for(10_000)
        assert host.names() == ["index.html", CONTENT[2]]
        assert host.names(offline.WORKER) == host.names(offline.MANIFEST) == []
        assert page.evaluate(CACHES) == []
        assert (
            page.evaluate("async () => (await navigator.serviceWorker.getRegistrations()).length")
            == 0
        )


class TestWithoutAConnection:
    @pytest.mark.proof("offline")
    def test_every_page_of_a_book_in_a_folder_of_its_host_is_whole(
        self, context: BrowserContext, host: Host, site: Path
    ) -> None:
        address = f"{host.serve(site.parent)}/{site.name}"
        page = opened(context, address)
        host.stop()
        faults = faults_of(context)
        alive = []
        for name in [*CONTENT, "genindex.html"]:
            page.goto(f"{address}/{name}")
            assert shown(page) == heading(site / name)
            page.evaluate(LOAD_PICTURES)
            assert page.evaluate(BROKEN) == []
            if page.locator(FIGURE).count():
                alive.append((name, len(bring_to_life(page))))
            assert faults == [], name
        assert LATE in dict(alive)
        assert all(size > 1000 for _, size in alive)
        page.goto(f"{address}/search.html?q=kurtosis")
        wait_until(page, LOADED)
        found = page.locator("main .search-found li").all_inner_texts()
        assert any("kurtosis" in text for text in found)
        page.goto(f"{address}/")
        assert shown(page) == heading(site / "index.html")
        assert faults == []

    @pytest.mark.proof("offline")
    def test_the_page_that_was_opened_first_is_whole_too(
        self, context: BrowserContext, host: Host, site: Path
    ) -> None:
        page = opened(context, host.serve(site), LATE)
        host.stop()
        faults = faults_of(context)
        assert len(bring_to_life(page)) > 1000
        assert faults == []

    @pytest.mark.proof("offline")
    @pytest.mark.parametrize(
        "name", ["chapters/deep/nowhere.html", "not-kept.pdf", "index.html.md"]
    )
    def test_what_is_not_kept_is_not_here(
        self, context: BrowserContext, host: Host, copy: Path, name: str
    ) -> None:
        (copy / "not-kept.pdf").write_bytes(b"%PDF")
        offline.write(copy)
        page = opened(context, host.serve(copy))
        assert page.goto(f"{host.address}/nowhere.html").status == 404, "as the server says"
        host.stop()
        page.goto(f"{host.address}/{name}")
        assert shown(page) == heading(copy / "404.html")
        page.get_by_role("link", name="the beginning").click()
        assert shown(page) == heading(copy / "index.html")

    @pytest.mark.proof("offline")
    def test_what_is_large_is_kept_once_it_was_asked_for(
        self, context: BrowserContext, host: Host, copy: Path
    ) -> None:
        taken = ("a.pdf", "b.zip", "_python/large.wasm")
        (copy / "_python").mkdir(exist_ok=True)
        for name in (*taken, "c.ipynb"):
            (copy / name).write_bytes(bytes(offline.LARGE))
        offline.write(copy)
        page = opened(context, host.serve(copy))
        assert not {*taken} & {name[1:] for name, _ in host.asked}
        # not what this build has
        (copy / "c.ipynb").write_bytes(b"other")
        assert page.evaluate(READ, "c.ipynb") == "other"
        for name in taken:
            assert page.evaluate(READ, name)
            wait_until(page, IN_CACHE, name)
        (copy / "c.ipynb").write_bytes(bytes(offline.LARGE))
        # the next build has another zip, in whose place the one that was kept may not be read
        (copy / "b.zip").write_bytes(b"other")
        offline.write(copy)
        assert page.evaluate(UPDATE) == "activated"
        page.goto(f"{host.address}/{CONTENT[1]}")
        host.stop()
        assert page.evaluate(READ, "../a.pdf")
        assert page.evaluate(READ, "../_python/large.wasm")
        for name in ("../b.zip", "../c.ipynb"):
            assert (
                page.evaluate("(name) => fetch(name).then(() => 'read', () => 'lost')", name)
                == "lost"
            )

    def test_the_list_is_that_of_the_site_and_not_too_large_for_a_phone(self, site: Path) -> None:
        found = files((site / offline.WORKER).read_text("utf-8"))
        assert found == offline.listed(contents(site))
        built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
        assert {name for name in built if not name.startswith("_")} <= {*found["ahead"]}
        assert sum((site / name).stat().st_size for name in found["ahead"]) < ROOM


@pytest.mark.proof("offline")
class TestANewerBuild:
    def test_comes_with_the_second_page_and_an_open_page_stays_of_one_build(
        self, context: BrowserContext, host: Host, site: Path, copy: Path
    ) -> None:
        make_newer(copy)
        page = opened(context, host.serve(site), LATE)
        was = shown(page)
        host.serve(copy)
        other = context.new_page()
        other.goto(f"{host.address}/{LATE}")
        # this page is the older one, unless the browser has just looked by itself
        wait_until(other, CAME, version(copy))
        other.goto(f"{host.address}/{LATE}")
        assert shown(other) == f"Newer: {was}"
        new = bring_to_life(other)
        assert "newer" in other.evaluate(READ, "../_static/favicon.svg")
        # what has been open all the time gets what the host no longer has
        assert len(page.evaluate(CACHES)) == 2
        assert new == f"{bring_to_life(page)} "
        assert "newer" not in page.evaluate(READ, "../_static/favicon.svg")
        page.goto(f"{host.address}/index.html")
        wait_until(page, ALONE, version(copy))
        host.stop()
        faults = faults_of(context)
        page.goto(f"{host.address}/{LATE}")
        assert shown(page) == f"Newer: {was}"
        assert bring_to_life(page) == new
        assert faults == []

    def test_brings_only_what_has_changed(
        self, context: BrowserContext, host: Host, site: Path, copy: Path
    ) -> None:
        make_newer(copy)
        page = opened(context, host.serve(site))
        host.asked.clear()
        host.serve(copy)
        assert page.evaluate(UPDATE) == "activated"
        assert {name for name, _ in host.asked} == {
            f"/{offline.WORKER}",
            f"/{LATE}",
            "/_static/late-0123456789ab.js",
            "/_static/favicon.svg",
        }

    @pytest.mark.parametrize("fault", ["missing", "altered", "the reader saves data"])
    def test_that_does_not_come_whole_leaves_the_older_one_whole(
        self, context: BrowserContext, host: Host, site: Path, copy: Path, fault: str
    ) -> None:
        make_newer(copy)
        page = opened(context, host.serve(site))
        before = page.evaluate(CACHES)
        data = copy / "_static" / "late-0123456789ab.js"
        if fault == "missing":
            data.unlink()
        elif fault == "altered":
            data.write_text("document.currentScript.late = 'of another build';", "utf-8")
        else:
            worker = copy / offline.WORKER
            worker.write_text(SAVES_DATA + worker.read_text("utf-8"), "utf-8")
        host.serve(copy)
        assert page.evaluate(UPDATE) == "redundant"
        assert page.evaluate(CACHES) == before
        host.stop()
        page.goto(f"{host.address}/{LATE}")
        assert shown(page) == heading(site / LATE)
        assert len(bring_to_life(page)) > 1000

    def test_is_read_at_once_by_a_reader_who_saves_data_now(
        self, context: BrowserContext, host: Host, copy: Path
    ) -> None:
        worker = copy / offline.WORKER
        # as it is once installed: what it does then is all that matters here
        saving = worker.read_text("utf-8").replace("if (savesData()) throw", "if (false) throw")
        worker.write_text(SAVES_DATA + saving, "utf-8")
        page = opened(context, host.serve(copy))
        before = page.evaluate(CACHES)
        (copy / CONTENT[1]).write_text("<article><h1>Newer</h1></article>", "utf-8")
        page.goto(f"{host.address}/{CONTENT[1]}")
        assert shown(page) == "Newer"
        assert page.evaluate(CACHES) == before
        host.stop()
        page.goto(f"{host.address}/{CONTENT[1]}")
        assert shown(page) != "Newer"

    def test_without_a_worker_gets_rid_of_it(
        self, context: BrowserContext, host: Host, copy: Path
    ) -> None:
        page = opened(context, host.serve(copy))
        for path in copy.rglob("*.html"):
            path.write_text("<article><h1>Another site</h1></article>", "utf-8")
        (copy / offline.WORKER).unlink()
        page.goto(f"{host.address}/{CONTENT[1]}")
        wait_until(page, "async () => (await caches.keys()).length === 0")
        page.reload()  # the browser itself may keep what is old for a tenth of its age
        assert shown(page) == "Another site"


@pytest.mark.proof("offline")
def test_a_browser_can_install_the_book(context: BrowserContext, host: Host, site: Path) -> None:
    page = opened(context, host.serve(site), CONTENT[1])
    tools = context.new_cdp_session(page)
    found = tools.send("Page.getAppManifest")
    assert found["errors"] == []
    assert found["url"] == f"{host.address}/{offline.MANIFEST}"
    said = json.loads(found["data"])
    assert said["name"] == yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
    assert len(said["short_name"]) <= 12
    assert said["display"] == "standalone"
    assert (said["start_url"], said["scope"]) == (".", "."), "in whatever folder it is"
    sizes = ["any", "180x180", "192x192", "512x512", "512x512"]
    assert [icon["sizes"] for icon in said["icons"]] == sizes
    for icon in said["icons"]:
        content = (site / icon["src"]).read_bytes()
        if icon["type"] == "image/png":
            assert "{}x{}".format(*Image.open(io.BytesIO(content)).size) == icon["sizes"]
        assert len(content) < 30_000
    assert [icon.get("purpose") for icon in said["icons"]] == [None] * 4 + ["maskable"]
    # a browser without windows finds none, whatever the manifest says
    assert tools.send("Page.getInstallabilityErrors")["installabilityErrors"] == []


@pytest.mark.parametrize("icon", ICONS, ids=lambda icon: icon.name)
def test_icons_are_what_a_browser_draws(browser: Browser, icon: Icon) -> None:
    """From the same drawing; a maskable one has it smaller, on a ground that fills the square."""
    drawing = (ROOT / "_ext" / "theme" / "static" / "favicon.svg").read_text(encoding="utf-8")
    look = f"display: block; width: {icon.size}px"
    if icon.maskable:
        drawing = re.sub(r' rx="[^"]*"', "", drawing)
        inside = icon.size * SHRUNK
        look = f"display: block; width: {inside}px; padding: {(icon.size - inside) / 2}px"
        look += f"; background: {re.search('#[0-9a-f]{6}', drawing)[0]}"
    page = browser.new_page(viewport={"width": icon.size, "height": icon.size})
    page.set_content(
        f'<body style="margin: 0">{drawing.replace("<svg", f"<svg style={look!r}", 1)}'
    )
    seen = Image.open(io.BytesIO(page.screenshot(omit_background=True))).convert("RGBA")
    page.close()
    drawn = Image.open(io.BytesIO(draw(drawing, icon))).convert("RGBA")
    white = Image.new("RGBA", seen.size, "white")
    one, other = (Image.alpha_composite(white, image) for image in (seen, drawn))
    away = np.abs(np.asarray(one, float) - np.asarray(other, float))
    assert [image.getpixel((0, 0))[3] for image in (seen, drawn)] == [255 * icon.maskable] * 2
    assert seen.size == drawn.size
    # edges are smoothed otherwise
    assert (away.max(axis=-1) > 60).mean() < 0.005
    if icon.maskable:
        x, y = np.indices(drawn.size) - icon.size / 2
        outside = np.hypot(x, y) > 0.4 * icon.size
        assert len(np.unique(np.asarray(drawn)[outside], axis=0)) == 1, "nothing is cut off"


def test_a_preview_keeps_nothing(tmp_path: Path) -> None:
    assert runpy.run_path(str(ROOT / "tools" / "preview" / "conf.py"))["offline"] is False
    for keeps in (False, True):
        config = {"offline": keeps, "html_title": "A book", "language": "en"}
        builder = SimpleNamespace(format="html")
        app = SimpleNamespace(config=config, outdir=tmp_path, builder=builder)
        context: dict[str, Any] = {}
        offline.add_script(app, "index", "", context, None)
        assert context["looks_ahead"] is keeps
        offline.keep_site(app, None)
        assert (tmp_path / offline.WORKER).exists() is keeps
    offline.add_script(app, "404", "", context, None)
    assert not context["looks_ahead"]


def test_what_is_done_to_a_finished_site_is_in_the_list(tmp_path: Path) -> None:
    site = tmp_path / "html"
    (site / "chapters").mkdir(parents=True)
    button = '<a href="a.ipynb" download="a.ipynb">Notebook</a>'
    page = f'<nav class="launch-buttons"><ul><li>{button}</li></ul></nav>'
    (site / "chapters" / "a.html").write_text(page, "utf-8")
    (site / "chapters" / "a.ipynb").write_text("{}", "utf-8")
    downloads.link(site)
    assert not (site / offline.WORKER).exists()
    offline.write(site)
    archive = downloads.make(site)
    found = files((site / offline.WORKER).read_text("utf-8"))
    assert found == offline.listed(contents(site))
    assert downloads.ARCHIVE in found["later"]
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    unpacked = tmp_path / downloads.NAME
    found = files((unpacked / offline.WORKER).read_text("utf-8"))
    assert found == offline.listed(contents(unpacked))
