"""What a browser finds on the built pages: bytes, foreign requests, axe-core, life without scripts.

Nothing waits inside a page: its Content-Security-Policy forbids what that would take.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from benchmarks.site_server import Server

WIDTHS, SCHEMES = (390, 1280), ("light", "dark")
HEIGHT = 900
PATIENCE = 10  # seconds until a page has to be in the scheme that was asked for

# Everything is laid out, opened and loaded, also what is far from the window.
WHOLE = """async () => {
  const sheet = document.createElement("style");
  sheet.textContent =
    "* { content-visibility: visible !important; animation: none !important;" +
    " transition: none !important; }";
  document.head.append(sheet);
  document.querySelectorAll("details").forEach((box) => (box.open = true));
  const images = [...document.images];
  images.forEach((image) => (image.loading = "eager"));
  await Promise.all(images.map((image) => image.decode().catch(() => null)));
  await document.fonts.ready;
}"""
# What is there to read, how much of it, and where it cannot be seen. A question that only a script
# could answer, and a label of a box for its other state, are no loss.
READABLE = r"""() => {
  const KINDS = {
    text: "p, li, dt, dd, td, th, h1, h2, h3, h4, figcaption, pre",
    maths: "math",
    figures: "img, figure svg, .live-figure svg, .live-figure [role=img]",
    solutions: ".solution, .proof details",
  };
  const ASIDE = "form, summary, .pst-js-only, .edition-on-paper, [aria-hidden=true]," +
    " noscript, template";
  const seen = (node) => {
    const { width, height } = node.getBoundingClientRect();
    const look = { visibilityProperty: true, opacityProperty: true };
    return width > 0 && height > 0 && node.checkVisibility(look);
  };
  const whole = (node) => node.tagName !== "IMG" || (node.complete && node.naturalWidth > 0);
  const found = {};
  for (const [kind, what] of Object.entries(KINDS)) {
    const nodes = [...document.querySelectorAll(`article :is(${what})`)].filter((node) =>
      (kind === "figures" || node.textContent.trim()) &&
      (kind === "maths" || !node.closest(ASIDE)));
    const lost = nodes.filter((node) => !seen(node) || !whole(node));
    found[kind] = {
      all: nodes.length,
      lost: lost.map((node) => (node.textContent.trim() || node.outerHTML).slice(0, 60)),
    };
  }
  const raw = [...document.querySelectorAll("article .math")].filter((node) =>
    /[\\$]/.test(node.innerText));
  found.maths.lost.push(...raw.map((node) => node.innerText.slice(0, 60)));
  return found;
}"""
AXE_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
RUN_AXE = "(options) => axe.run(document, options)"
# A reader who saves data gets what a page needs, and nothing is fetched ahead.
SAVES = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
SCHEME = "document.documentElement.dataset.theme"


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """Open a page in a fresh context, and note what it asks of others."""
    context = browser.new_context(reduced_motion="reduce", service_workers="block", **options)
    context.add_init_script(SAVES)
    foreign: list[str] = []
    page = context.new_page()
    home = url[: url.index("/", len("http://"))]
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((home, "data:", "blob:", "about:"))
            else foreign.append(request.url)
        ),
    )
    try:
        page.goto(url, wait_until="load")
        yield page, foreign
    finally:
        context.close()


def wait_for_scheme(page: Page, scheme: str) -> None:
    """Wait until the page has taken the colors of the system."""
    until = time.monotonic() + PATIENCE
    while page.evaluate(SCHEME) != scheme:
        if time.monotonic() > until:
            raise RuntimeError(f"{page.url} does not get {scheme}")
        page.wait_for_timeout(20)


def with_scripts(browser: Browser, server: Server, name: str, axe: str) -> dict[str, Any]:
    """Look at a page in both schemes and widths: its bytes, its requests, its violations."""
    sizes, foreign, violations = [], [], Counter[str]()
    for scheme in SCHEMES:
        for width in WIDTHS:
            before = server.sent
            window = {"viewport": {"width": width, "height": HEIGHT}, "color_scheme": scheme}
            with opened(browser, f"{server.address}/{name}", **window) as (page, asked):
                wait_for_scheme(page, scheme)
                page.evaluate(WHOLE)
                sizes.append(server.sent - before)
                page.evaluate(axe)
                for found in page.evaluate(RUN_AXE, AXE_OPTIONS)["violations"]:
                    violations[found["id"]] += len(found["nodes"])
                foreign += asked
    return {"bytes": max(sizes), "foreign": foreign, "violations": dict(violations)}


def without_scripts(browser: Browser, server: Server, name: str) -> dict[str, Any]:
    """Look at a page on which no script may run: its requests, and what cannot be read."""
    window = {"viewport": {"width": WIDTHS[0], "height": HEIGHT}, "java_script_enabled": False}
    with opened(browser, f"{server.address}/{name}", **window) as (page, foreign):
        page.evaluate(WHOLE)
        return {"foreign": foreign, "read": page.evaluate(READABLE)}


def look(browser: Browser, server: Server, name: str, axe: Path) -> dict[str, Any]:
    """Return all that a browser finds on a page."""
    seen = with_scripts(browser, server, name, axe.read_text(encoding="utf-8"))
    plain = without_scripts(browser, server, name)
    return {**seen, "foreign without scripts": plain["foreign"], "without scripts": plain["read"]}
