"""Measure in a browser how fast the interactive figures answer, and how heavy they are.

``make bench`` calls this after the comparison with other libraries, in the environment of the
tests, because it needs the built book and a Chromium. Each figure of the built pages is loaded
several times from the disk, and every control is moved 200 times at moments that have nothing to
do with the screen's frames. Timed are the handler, and the way from the event to the end of the
frame that shows it.
"""

from __future__ import annotations

import argparse
import gzip
import platform
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import figure_report, files
from benchmarks.facts import processor, today
from benchmarks.files import SITE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FIGURE = re.compile(r'class="live-figure[^"]*" data-figure="(\w+)"')
MARKUP_END = re.compile(r'class="figure-words"|\n')
EVENTS, LOADS = 200, 9
PHONE = {"width": 390, "height": 844}
SETTLED = 500  # milliseconds until what scrolling brought into view has been laid out

# While a page loads, counted is what shifts inside of figures. While a figure is moved, its parts
# may move, as labels at lines and sorted rows do: counted is what shifts around it. As browsers do,
# leave out what follows a reader's key, click or choice within half a second, but not a drag.
WATCH = """
globalThis.shifts = [];
globalThis.moving = false;
globalThis.pressed = -Infinity;
new PerformanceObserver((list) => {
  const element = (node) => (node?.closest ? node : node?.parentElement);
  const inside = ({ node }) => Boolean(element(node)?.closest(".live-figure"));
  const counted = list.getEntries().filter(({ sources, startTime }) =>
    startTime > pressed + 500 && sources.some((source) => inside(source) !== moving));
  shifts.push(...counted.map(({ value }) => value));
}).observe({ type: "layout-shift", buffered: true });
"""
# From a figure's first to its last listener of each event: what the browser itself does at a click,
# and what the theme does, is in the time until the paint.
LISTEN = """(root) => {
  globalThis.handled = 0;
  let started;
  for (const kind of ["input", "click", "submit", "reset"]) {
    root.addEventListener(kind, () => (started = performance.now()), true);
    root.addEventListener(kind, () => (handled += performance.now() - started));
  }
}"""
# Modules have run when the document's content counts as loaded.
PAINTED = """() => new Promise((done) => {
  const look = () => performance.getEntriesByName("first-contentful-paint").length
    ? done() : requestAnimationFrame(look);
  look();
})"""
DRAWN = """() => {
  const painted = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const [{ domContentLoadedEventEnd }] = performance.getEntriesByType("navigation");
  return Math.max(painted, domContentLoadedEventEnd);
}"""
# Less than this no figure can do: a slider that changes one number.
BARE = """<meta name="viewport" content="width=device-width"><div data-figure="bare">
<input type="range" max="100"><output>0</output></div><script>
addEventListener("input", ({ target }) => (target.nextSibling.textContent = target.value));
</script>"""
# What is below a figure, to take it along, is none of its controls.
FOUND = ":is(input, select, button:not([type=submit])):not(.take *)"
CONTROLS = """(root) =>
  [...root.querySelectorAll("FOUND")].map((node, place) =>
    node.getAttribute("aria-label") || node.name || node.labels?.[0]?.textContent ||
    node.textContent || `control ${place + 1}`)""".replace("FOUND", FOUND)
MOVE = """async ([selector, place, count]) => {
  const root = document.querySelector(selector);
  const control = root.querySelectorAll("FOUND")[place];
  const [handlers, paints] = [[], []];
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  }));
  // Unlike a reader's, click() lays out first what is far from the window, and the page jumps.
  const click = () => new MouseEvent("click", { bubbles: true, cancelable: true });
  const act = (turn) => {
    if (control.type === "range") control.value = turn % (Number(control.max) + 1);
    else if (control.type === "checkbox") control.checked = !control.checked;
    else if (control.type === "radio") control.checked = true;
    else if (control.tagName === "SELECT") {
      const open = [...control.options].filter((option) => !option.disabled);
      control.value = open[turn % open.length].value;
    } else if (control.tagName === "BUTTON") return control.dispatchEvent(click());
    else control.value = "abc".slice(0, turn % 4);
    control.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (let turn = 1; turn <= count; turn++) {
    await new Promise((done) => setTimeout(done, (7 * turn) % 23));  // no frame's rhythm
    handled = 0;
    const started = performance.now();
    if (control.type !== "range") pressed = started;
    act(turn);
    handlers.push(handled);
    await painted();
    paints.push(performance.now() - started);
  }
  return [handlers, paints];
}""".replace("FOUND", FOUND)


def places(site: Path) -> dict[str, Path]:
    """Return for each figure the first page that shows it."""
    found: dict[str, Path] = {}
    for page in [site / "index.html", *sorted(site.glob("chapters/*.html"))]:
        for name in FIGURE.findall(page.read_text(encoding="utf-8")):
            found.setdefault(name, page)
    return found


def weight(page: Path, name: str) -> int:
    """Return the bytes that a figure adds to a page: module, style and markup, compressed.

    Data that come when it is near are not among them.
    """
    from attnbook.figures._base import own_source, shared_source, style_source

    text = page.read_text(encoding="utf-8")
    start = text.index(f'data-figure="{name}"')
    markup = text[start : MARKUP_END.search(text, start).start()]
    whole = shared_source() + own_source(name) + style_source(name) + markup
    return len(gzip.compress(whole.encode(), mtime=0))


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile, in tenths of a millisecond."""
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)


def opened(browser: Browser, path: Path) -> Page:
    """Open a page from the disk in a window of a phone's size."""
    page = browser.new_context(viewport=PHONE).new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri(), wait_until="load")
    return page


def loading(browser: Browser, path: Path, loads: int) -> float:
    """Return the median of the time until the figures of a page are drawn and answer."""
    times = []
    for _ in range(loads):
        page = opened(browser, path)
        page.evaluate(PAINTED)
        times.append(page.evaluate(DRAWN))
        page.context.close()
    return round(statistics.median(times), 1)


def bare(browser: Browser, events: int) -> float:
    """Return the time from event to paint, 95 %, that the browser itself takes."""
    page = browser.new_context(viewport=PHONE).new_page()
    page.set_content(BARE)
    _, paints = page.evaluate(MOVE.replace("handled = 0;", "let handled = 0;"), ["div", 0, events])
    page.context.close()
    return percentile(paints, 95)


def measure(browser: Browser, name: str, path: Path, events: int, loads: int) -> dict[str, Any]:
    """Measure one figure."""
    page = opened(browser, path)
    selector = f'[data-figure="{name}"]'
    for _ in range(2):  # what comes into view is laid out, and moves the figure out again
        page.locator(selector).first.evaluate("(root) => root.scrollIntoView()")
        page.wait_for_timeout(SETTLED)
    page.evaluate("moving = true")
    page.locator(selector).first.evaluate(LISTEN)
    controls = {}
    for place, label in enumerate(page.locator(selector).first.evaluate(CONTROLS)):
        handlers, paints = page.evaluate(MOVE, [selector, place, events])
        controls[" ".join(label.split())] = {
            "handler p50": percentile(handlers, 50),
            "handler p95": percentile(handlers, 95),
            "paint p50": percentile(paints, 50),
            "paint p95": percentile(paints, 95),
        }
    shift = sum(page.evaluate("shifts"))
    page.context.close()
    return {
        "page": path.relative_to(SITE).as_posix(),
        "bytes": weight(path, name),
        "drawn": loading(browser, path, loads),
        "shift": round(shift, 4),
        "controls": controls,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; with ``--update`` also what the book shows."""
    from playwright.sync_api import sync_playwright

    from tools.chromium import find_chromium

    parser = argparse.ArgumentParser(prog="benchmarks.figures", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few events: a try, no result")
    parser.add_argument("--update", action="store_true", help="replace what the book shows")
    options = parser.parse_args(arguments)
    if options.update and options.quick:
        parser.error("--update wants a whole run: without --quick")
    events, loads = (20, 2) if options.quick else (EVENTS, LOADS)
    with sync_playwright() as playwright:
        # --no-sandbox because containers often run as root, where the sandbox refuses to start
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        results: dict[str, Any] = {
            "machine": {
                "processor": processor(),
                "system": platform.system(),
                "browser": f"Chromium {browser.version}",
                "date": today(),
            },
            "events": events,
            "loads": loads,
            "bare": bare(browser, events),
            "figures": {
                name: measure(browser, name, path, events, loads)
                for name, path in places(SITE).items()
            },
        }
        browser.close()
    print(figure_report.figure_table(results), *figure_report.missed(results), sep="\n")
    updated = [figure_report.COMMITTED] if options.update else []
    files.write(results, files.BUILT / "figures.json", *updated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
