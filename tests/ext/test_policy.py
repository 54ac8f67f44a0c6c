"""Every page says what it may do, and does nothing else: from a disk and from a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from _ext.postprocess import policy
from tests.book.notebooks import PAGES
from tests.ext import pages
from tests.ext.serving import serving
from tests.ext.test_browser import PHONE, visit
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CONTENT = [f"{page}.html" for page in PAGES]
ALL = [*CONTENT, "genindex.html", "search.html"]
CHAPTER = "chapters/02_variance.html"


def rules(path: Path) -> dict[str, list[str]]:
    [meta] = pages.parse(path).select("meta[http-equiv='Content-Security-Policy']")
    parts = (rule.split() for rule in str(meta["content"]).split(";"))
    return {name: sources for name, *sources in parts}


@pytest.mark.parametrize("name", ALL)
def test_a_page_has_a_strict_policy_before_all_that_it_loads(site: Path, name: str) -> None:
    page = pages.parse(site / name)
    said = rules(site / name)
    first, second = page.head.find_all(True, recursive=False)[:2]
    assert first.get("charset"), "which has to come in the first kilobyte, and loads nothing"
    assert second.get("http-equiv") == "Content-Security-Policy"
    assert said["default-src"] == ["'none'"]
    assert said["base-uri"] == ["'none'"]
    assert said["connect-src"] == ["'self'"]
    assert set(said["img-src"] + said["font-src"] + said["form-action"]) <= {"'self'", "data:"}
    scripts = [tag for tag in page.find_all("script") if tag.get("type") in {None, "module"}]
    runs_python = bool(page.select("[data-edit]"))
    own = {"'self'", "'wasm-unsafe-eval'"} if runs_python else {"'self'"}
    # what keeps the book without a connection
    assert said["worker-src"] == said["manifest-src"] == ["'self'"]
    assert set(said["script-src"]) == {policy.digest(tag.string or "") for tag in scripts} | own
    assert not [tag for tag in scripts if tag.get("src")]
    assert not [
        tag for tag in page.find_all(True) if any(key.startswith("on") for key in tag.attrs)
    ]
    assert not page.select("a[href^='javascript:']")


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address


MOVING = ".live-figure:has(input[type=range])"


def walk(page: Page, start: str) -> None:
    """Use what pages have: figures, switches, dialogs, copies, and the search to its result."""
    page.goto(f"{start}/{CHAPTER}")
    assert page.evaluate("[...document.fonts].length") > 0
    page.locator("button.theme-switch-button").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    figure = page.locator(MOVING).first
    before = figure.inner_text()
    figure.locator("input[type=range]").first.press("ArrowRight")
    changed = "([figure, before]) => document.querySelector(figure).innerText !== before"
    wait_until(page, changed, [MOVING, before])
    page.locator(".exercise select").first.select_option("solved")
    page.locator("details.dropdown > summary").first.click()
    assert page.locator("details.dropdown").first.get_attribute("open") is not None
    page.locator("button.copybtn").first.dispatch_event("click")
    wait_until(page, "document.querySelector('.copybtn').dataset.tooltip !== 'Copy'")
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill("softmax")
    page.locator(".search-found .all-found").click()
    page.locator("main .search-found li a").first.click()
    page.wait_for_selector(".hide-searched")
    assert page.evaluate("CSS.highlights.get('searched').size") > 0
    page.locator(".hide-searched").click()
    assert page.evaluate("CSS.highlights.size") == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "it was chosen"
    page.set_viewport_size({"width": PHONE, "height": 800})
    page.locator(".primary-toggle").click()
    assert page.locator("dialog#pst-primary-sidebar-modal .bd-links").is_visible()
    page.keyboard.press("Escape")
    page.locator("#pst-primary-sidebar .bd-links").wait_for(state="attached")


@pytest.mark.proof("pages")
@pytest.mark.parametrize("from_disk", [True, False])
def test_a_reader_meets_no_refusal(
    browser: Browser, site: Path, address: str, *, from_disk: bool
) -> None:
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    try:
        walk(page, site.as_uri() if from_disk else address)
    finally:
        context.close()
    assert [fault for fault in faults if "favicon" not in fault] == []


@pytest.mark.proof("pages")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("const root = document.documentElement;", "const root = document.documentElement; "),
        ("</article>", "<script>document.title = 'strange'</script></article>"),
        ("</article>", "<img src='no.png' onerror='document.title = 1' alt=''></article>"),
        ("</article>", "<script src='https://example.org/a.js'></script></article>"),
    ],
)
def test_a_strange_script_is_refused(
    browser: Browser, site: Path, tmp_path: Path, old: str, new: str
) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert old in page
    (tmp_path / "index.html").write_text(page.replace(old, new, 1), encoding="utf-8")
    with visit(browser, tmp_path / "index.html") as seen:
        wait_until(seen.page, "document.readyState === 'complete'")
        assert "divides" in seen.page.title()
    assert any("Content Security Policy" in error for error in seen.errors)
