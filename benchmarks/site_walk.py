"""How long a reader waits between pages, and what is left of the book without a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from benchmarks.site_server import Server

NEXT = ".prev-next-footer a.right-next"
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


def walk(browser: Browser, server: Server, names: list[str]) -> dict[str, Any]:
    """Click from the first page to the last; then open all of them without a connection.

    Returns the milliseconds of each step, and the pages that are not there without a connection.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{server.address}/index.html")
    wait_until_kept(page)
    steps = []
    while page.locator(NEXT).count():
        page.wait_for_timeout(READING)
        page.hover(NEXT)
        page.wait_for_timeout(READING)
        leads_to = page.locator(NEXT).evaluate("(link) => link.href")
        page.click(NEXT)
        page.wait_for_url(leads_to)
        steps.append(round(page.evaluate(PAINTED)))
    context.set_offline(True)
    lost = []
    for name in names:
        page.goto(f"{server.address}/{name}")
        title = page.locator("h1").first.text_content()
        if not page.url.endswith(name) or not title:
            lost.append(name)
    context.close()
    return {"steps": steps, "lost": lost}
