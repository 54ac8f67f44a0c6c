"""How long a reader waits between pages, and what is left of the book without a connection."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.site_server import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

    from benchmarks.site_server import Server

NEXT = ".prev-next-footer a.right-next"
WINDOW: ViewportSize = {"width": 1280, "height": 900}
READING = 500
"""Milliseconds between a page and the step to the next; the pointer rests on the link as long."""
KEPT = "() => navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)"
PAINTED = """() => new Promise((done) =>
  new PerformanceObserver((list, observer) => {
    const [paint] = list.getEntriesByName("first-contentful-paint");
    if (!paint) return;
    observer.disconnect();
    done(paint.startTime);
  }).observe({ type: "paint", buffered: true }))"""
"""From the click, at which the time of a page begins, to when something of it is seen."""


def wait_until_kept(page: Page) -> None:
    """Wait until the browser has the whole book."""
    for _ in range(1200):
        if page.evaluate(KEPT):
            return
        page.wait_for_timeout(50)
    raise RuntimeError("the browser does not keep the book")


def steps(page: Page) -> list[int]:
    """Click from page to page until there is no next one; return the milliseconds of each step."""
    taken = []
    while page.locator(NEXT).count():
        page.wait_for_timeout(READING)
        page.hover(NEXT)
        page.wait_for_timeout(READING)
        leads_to = page.locator(NEXT).evaluate("(link) => link.href")
        page.click(NEXT)
        page.wait_for_url(leads_to)
        taken.append(round(page.evaluate(PAINTED)))
    return taken


def write_bare(folder: Path, count: int) -> None:
    """Write pages of one sentence each that lead to each other, without a style or a script."""
    for number in range(count):
        link = f"<a class='right-next' href='{number + 1}.html'>Next</a>"
        text = "<!DOCTYPE html><html lang='en'><title>Bare</title><p>There is nothing here."
        if number < count - 1:
            text += f"<p class='prev-next-footer'>{link}"
        (folder / f"{number}.html").write_text(text, encoding="utf-8")


def bare_steps(browser: Browser, count: int) -> list[int]:
    """Return the milliseconds of as many steps between pages that have nothing on them."""
    with TemporaryDirectory() as name:
        write_bare(Path(name), count + 1)
        with serving(Path(name)) as server:
            context = browser.new_context(viewport=WINDOW)
            page = context.new_page()
            page.goto(f"{server.address}/0.html")
            taken = steps(page)
            context.close()
    return taken


def walk(browser: Browser, server: Server, names: list[str]) -> dict[str, Any]:
    """Click from the first page to the last; then open all of them without a connection.

    Returns the milliseconds of each step, and of as many between pages that have nothing on them,
    and the pages of the book that are not there without a connection.
    """
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.goto(f"{server.address}/index.html")
    wait_until_kept(page)
    taken = steps(page)
    context.set_offline(True)
    lost = []
    for name in names:
        page.goto(f"{server.address}/{name}")
        title = page.locator("h1").first.text_content()
        if not page.url.endswith(name) or not title:
            lost.append(name)
    context.close()
    return {"steps": taken, "bare": bare_steps(browser, len(taken)), "lost": lost}
