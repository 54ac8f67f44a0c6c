"""Each page in a browser: offline, from the disk, on a phone, in both color schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from filelock import FileLock
from playwright.sync_api import Error

from tests.book.notebooks import PAGES
from tests.ext.pages import SHOWN, long_unless_shown
from tests.ext.serving import serving
from tests.ext.watching import LOAD_PICTURES, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CONTENT = [f"{page.removesuffix('.md').removesuffix('.ipynb')}.html" for page in PAGES]
ALL = [*CONTENT, "404.html", "genindex.html", "search.html"]
PHONE, SMALL_PHONE, DESK = 390, 320, 1280
LOCAL = ("file:", "data:", "blob:", "about:")

# What sticks out of the window to the right and cannot be scrolled into view by itself.
STICKING_OUT = """() => {
  const scrolls = (node) => {
    for (let up = node.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== "visible") return true;
    }
    return false;
  };
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`page is ${root.scrollWidth} wide`);
  for (const node of document.querySelectorAll("main :not(math *)")) {
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    if (box.width < 2 || box.height < 2) continue;
    if (style.visibility === "hidden" || style.opacity === "0") continue;
    if (box.right > root.clientWidth + 1 && box.left < root.clientWidth && !scrolls(node)) {
      found.push(`${node.tagName}.${node.className} ends at ${Math.round(box.right)}`);
    }
  }
  return found.slice(0, 5);
}"""

# WCAG 2.2, text spacing: the reader's own style sheet may ask for this much.
SPACED = """* { letter-spacing: 0.12em !important; line-height: 1.5 !important;
word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }"""
TWICE_THE_SIZE = "html { font-size: 200% !important; }"
# Words that their own box cuts off.
CUT = """() => [
  ...document.querySelectorAll("article *, .bd-sidebar-primary *, .bd-header-article *")]
  .filter((node) => node.checkVisibility() && [...node.childNodes].some(
    (child) => child.nodeType === Node.TEXT_NODE && child.data.trim()))
  .filter((node) => !node.closest(".katex, math, .visually-hidden, select, svg, [hidden]"))
  .filter((node) => {
    const { clip, overflowX, overflowY } = getComputedStyle(node);
    if (clip !== "auto") return false;
    return (overflowX === "hidden" && node.scrollWidth > node.clientWidth + 1) ||
      (overflowY === "hidden" && node.scrollHeight > node.clientHeight + 1);
  })
  .map((node) => `${node.tagName}.${node.className} is cut: ${node.textContent.slice(0, 40)}`)
  .slice(0, 5)"""

# What is far from the window would have the measures of when it was last near it.
ALL_LAID_OUT = "* { content-visibility: visible !important; }"
# What a link points to comes into view with the next frame.
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# Some buttons come when a page has nothing else to do. A page that draws no frame is never told
# so, hence the frames.
AT_REST = """() => new Promise((done) => {
  let drawing = true;
  const draw = () => drawing && requestAnimationFrame(draw);
  draw();
  requestIdleCallback(() => { drawing = false; done(); }, { timeout: 2000 });
})"""

# What a reader cannot see or make out: hidden text, small figures, the source of mathematics.
UNREADABLE = r"""() => {
  // what a reader can open counts as readable; that it opens is a test of its own
  const CLOSED = "details:not([open])";
  const size = (node) => node.getBoundingClientRect();
  const shown = (node) => size(node).height > 0 && getComputedStyle(node).visibility === "visible";
  const select = (what) =>
    [...document.querySelectorAll(what)].filter((node) => !node.closest(CLOSED));
  const text = (node) => (node.innerText || node.outerHTML).slice(0, 60);
  const label = (what, nodes) => nodes.map((node) => `${what}: ${text(node)}`);
  return [
    ...label("hidden", select("article section > p").filter((node) => !shown(node))),
    ...label("small", select("article figure img").filter((node) =>
      size(node).width < 100 || size(node).height < 50 || !node.complete || !node.naturalWidth)),
    ...label("source", select("article .math, article math").filter((node) =>
      /[\\$]/.test(node.innerText))),
    ...label("error", select(".math > code, merror")),
  ].slice(0, 5);
}"""


# What is to be seen of a page, and of the first figure of each kind, where no script runs.
WITHOUT_SCRIPTS = """() => {
  const seen = (node) => {
    const { width, height } = node.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(node).visibility === "visible";
  };
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const figures = all("[data-figure]").reverse().map((figure) => [figure.dataset.figure, {
    pictures: all("svg", figure).map(seen),
    words: all(".figure-words", figure).map(seen),
    forms: all("form", figure).map(seen),
  }]);
  return {
    titles: all("main h1").map(seen),
    dead: all(":is(.bd-header-article, .bd-sidebar-primary, nav) button")
      .filter(seen).map((button) => button.innerText),
    figures: Object.fromEntries(figures),
  };
}"""
LINK_COLOR = "getComputedStyle(document.body).getPropertyValue('--pst-color-link')"


@dataclass
class Visit:
    """A page in the browser and what happened while it loaded."""

    page: Page
    asked: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def visit(
    browser: Browser,
    path: Path | str,
    *,
    query: str = "",
    width: int = DESK,
    scheme: str = "light",
    scripts: bool = True,
) -> Iterator[Visit]:
    """Open a page of the disk or of this machine, which is all there is; note what it tries."""
    start = path if isinstance(path, str) else path.as_uri()
    local = (*LOCAL, "/".join([*start.split("/")[:3], ""]))
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
        # which would answer in place of the server; test_offline.py is about it
        service_workers="block",
    )
    seen = Visit(context.new_page())

    def note(request) -> None:
        seen.asked.append(request.url)
        if not request.url.startswith(local):
            seen.foreign.append(request.url)

    def miss(request) -> None:
        # what is fetched ahead is given up when its page is left
        if (request.resource_type, request.failure) != ("fetch", "net::ERR_ABORTED"):
            seen.errors.append(f"not loaded: {request.url}")

    seen.page.on("request", note)
    seen.page.on("requestfailed", miss)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    seen.page.on(
        "console", lambda said: seen.errors.append(said.text) if said.type == "error" else None
    )
    try:
        seen.page.goto(start + query, wait_until="load")
        # else the engine guesses, and guesses otherwise where a file comes in other pieces
        assert seen.page.evaluate("document.characterSet") == "UTF-8"
        if scripts:
            seen.page.evaluate(AT_REST)
        yield seen
    finally:
        context.close()


# A formula is thousands of nodes in one color, which axe-core would measure one by one; that
# they have the color of the text around them takes one look each.
ODD_FORMULAS = """() => [...document.querySelectorAll("math")]
  .filter((node) => getComputedStyle(node).color !== getComputedStyle(node.parentElement).color)
  .map((node) => `the color of a formula: ${node.textContent.slice(0, 40)}`)"""

# The rest of it is nothing to axe-core, nor are the words of code, and they are most of what it
# would have to go through. What takes their place is as large.
PLAIN_FORMULAS = """() => {
  const all = [...document.querySelectorAll("math")];
  const wide = all.map((node) => node.getBoundingClientRect());
  all.forEach((node, index) => {
    const { width, height } = wide[index];
    const box = document.createElement("span");
    box.textContent = "x";
    box.style.cssText = `display: inline-block; width: ${width}px; height: ${height}px`;
    node.replaceWith(box);
  });
}"""
PLAIN_CODE = """() => document.querySelectorAll("pre").forEach((node) => {
  node.dataset.code = node.innerHTML;
  node.textContent = node.textContent;
})"""
COLORED_CODE = """() => document.querySelectorAll("pre[data-code]").forEach((node) => {
  node.innerHTML = node.dataset.code;
  delete node.dataset.code;
})"""
# Over a picture axe-core cannot tell how words stand out; the shadows at the edges are pictures.
NO_SHADOWS = ".bd-article * { background-image: none !important; }"

# Whether words stand out follows from how they look: of each look the first that are seen are
# enough, on whatever page, and all else goes. Words of one class may share a color on one page and
# not on another, so the class counts as well. A window of another width may show other words.
ALL_OPEN = """() =>
  document.querySelectorAll("details").forEach((box) => (box.open = true))"""
# What is not read aloud is to be seen all the same, and axe-core passes over it.
ALL_HEARD = """() => document.querySelectorAll("[aria-hidden]")
  .forEach((node) => node.removeAttribute("aria-hidden"))"""
FIRST_OF_EACH_LOOK = """(known) => {
  const CLEAR = "rgba(0, 0, 0, 0),none,1";
  const ground = (node) => {
    const layers = [];
    for (; node; node = node.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
      const layer = [backgroundColor, backgroundImage, opacity].join();
      if (layer !== CLEAR) layers.push(layer);
      if (backgroundColor.startsWith("rgb(")) break;
    }
    return layers.join();
  };
  const speaks = (node) =>
    node.matches("input, select, textarea") ||
    [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const seen = new Map(Object.entries(JSON.parse(known)));
  const kept = (window.keptForTheirLooks ??= new Set());
  const shownIn = [document.documentElement.dataset.theme, innerWidth];
  for (const node of document.querySelectorAll("body *")) {
    if (!speaks(node) || !node.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(node);
    const words = [node.tagName, node.className, color, fontSize, fontWeight];
    const look = [...shownIn, ...words, ground(node)].join();
    seen.set(look, (seen.get(look) ?? 0) + 1);
    if (seen.get(look) > 2) continue;
    for (let up = node; up; up = up.parentElement) kept.add(up);
  }
  return JSON.stringify(Object.fromEntries(seen));
}"""
WINDOWS = [("light", DESK), ("light", PHONE), ("dark", PHONE), ("dark", DESK)]
ONLY_THESE_LOOKS = """() => {
  const rest = document.querySelectorAll("body *:not(style)");
  [...rest].forEach((node) => window.keptForTheirLooks.has(node) || node.remove());
}"""


# Leave nothing in a page but some elements, what is in them and what they are in.
KEEP_ONLY = """(what) => {
  const kept = new Set();
  for (const node of document.querySelectorAll(what)) {
    for (let up = node; up; up = up.parentElement) kept.add(up);
    node.querySelectorAll("*").forEach((inside) => kept.add(inside));
  }
  const rest = document.querySelectorAll("body *:not(style)");
  [...rest].forEach((node) => kept.has(node) || node.remove());
}"""


# Rules that axe-core leaves out unless asked: one is new, the others may be wrong at times.
ASKED_FOR = (
    *("target-size", "label-content-name-mismatch", "p-as-heading", "table-fake-caption"),
    "td-has-header",
)
# What depends on the width of the window.
BY_WIDTH = ("region", "scrollable-region-focusable", "target-size")


def violations(
    page: Page, *only: str, without: tuple[str, ...] = (), whole: bool = True
) -> list[str]:
    """Return what axe-core finds wrong, by all of its rules or by some."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if only:
        options["runOnly"] = {"type": "rule", "values": list(only)}
    else:
        options["rules"] = {rule: {"enabled": True} for rule in ASKED_FOR}
        options["rules"] |= {rule: {"enabled": False} for rule in without}
    # as laid out: what is far from the window has a height that is guessed, and axe sees it overlap
    if whole:
        page.evaluate("() => (document.documentElement.dataset.whole = '')")
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    response = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {node['html'][:160]}"
        for violation in response["violations"]
        for node in violation["nodes"][:5]
    ]


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900 if width == DESK else 700})


def choose(page: Page, scheme: str) -> None:
    """Let the reader's system change its colors."""
    page.emulate_media(color_scheme=scheme)
    wait_until(page, "(theme) => document.documentElement.dataset.theme === theme", scheme)


def show(page: Page, scheme: str, width: int) -> None:
    """Let a page be seen in a scheme, if it has two, and at a width."""
    if scheme_of(page):
        choose(page, scheme)
    resize(page, width)


def make_plain(page: Page) -> list[str]:
    """Take from a page what axe-core need not go through, and return what would be missed."""
    page.add_style_tag(content=f"{ALL_LAID_OUT} {NO_SHADOWS}")
    found = page.evaluate(ODD_FORMULAS)
    page.evaluate(PLAIN_FORMULAS)
    page.evaluate(PLAIN_CODE)
    return found


def keep_new_looks(page: Page, looks: Path | None) -> None:
    """Note how a page looks now, in what all tests share, and what of it has a new look."""
    if looks is None:
        page.evaluate(FIRST_OF_EACH_LOOK, "{}")
        return
    with FileLock(f"{looks}.lock"):
        known = looks.read_text(encoding="utf-8") if looks.exists() else "{}"
        looks.write_text(page.evaluate(FIRST_OF_EACH_LOOK, known), encoding="utf-8")


def pale_words(page: Page, looks: Path | None, windows: list[tuple[str, int]]) -> list[str]:
    """Return words without contrast in some windows; only words of each look are left of a page.

    The looks that are known from other pages, by the file that is given, are left out.
    """
    page.evaluate(COLORED_CODE)
    page.evaluate(ALL_OPEN)  # what a reader may open has to be made out as well
    page.evaluate(ALL_HEARD)
    for scheme, width in windows:
        show(page, scheme, width)
        keep_new_looks(page, looks)
    page.evaluate(ONLY_THESE_LOOKS)
    found = []
    for scheme, width in reversed(windows):
        show(page, scheme, width)
        faults = violations(page, "color-contrast")
        found += [f"{scheme}, {width} px: {fault}" for fault in faults]
    return found


def inaccessible(page: Page, looks: Path | None = None) -> list[str]:
    """Return what is wrong with a page, narrow and wide; only words of each look are left of it.

    What a rule looks at decides how often it is asked: most see the page as it is written, which
    is the same everywhere; some ask where things are, at both widths; contrast depends on the
    colors as well.
    """
    found = make_plain(page)
    resize(page, PHONE)
    page.wait_for_timeout(400)  # until what scrolls at this width can be reached by keys
    found += [f"on a phone, {fault}" for fault in violations(page, *BY_WIDTH)]
    resize(page, DESK)
    found += violations(page, without=("color-contrast", "scrollable-region-focusable"))
    return found + pale_words(page, looks, WINDOWS)


def unfit(page: Page, style: str) -> list[str]:
    """Return what does not fit with the reader's own style sheet, which is taken away again."""
    sheet = page.add_style_tag(content=style)
    found = [f"{style}: {fault}" for fault in page.evaluate(STICKING_OUT) + page.evaluate(CUT)]
    sheet.evaluate("(node) => node.remove()")
    return found


def scheme_of(page: Page) -> str:
    return page.evaluate("document.documentElement.dataset.theme")


def look_without_scripts(browser: Browser, path: Path) -> dict[str, Any]:
    """Return all that tests ask of a page in a browser without scripts."""
    with visit(browser, path, scripts=False) as seen:
        # the theme has a rule for each of its schemes
        return seen.page.evaluate(WITHOUT_SCRIPTS) | {
            "unreadable": seen.page.evaluate(UNREADABLE),
            "link color": seen.page.evaluate(LINK_COLOR),
            "foreign": seen.foreign,
        }


class TestPages:
    """All that one visit to a page can tell, since most of its time goes into loading."""

    @pytest.mark.parametrize("name", SHOWN)
    def test_a_page_is_for_everyone_on_a_small_phone_in_the_dark(
        self, browser: Browser, site: Path, looks: Path, name: str
    ) -> None:
        with visit(browser, site / name, width=SMALL_PHONE, scheme="dark") as seen:
            assert scheme_of(seen.page) == "dark"
            seen.page.add_style_tag(content=ALL_LAID_OUT)
            found = seen.page.evaluate(STICKING_OUT)
            seen.page.evaluate(LOAD_PICTURES)
            found += seen.page.evaluate(UNREADABLE)
            found += [*seen.foreign, *seen.errors]
            found += make_plain(seen.page)
            found += violations(seen.page, without=("color-contrast",))
            found += pale_words(seen.page, looks, [("dark", SMALL_PHONE)])
        assert not found, "\n".join(found)

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("name", ALL)
    def test_a_page_is_whole_without_a_network_and_for_everyone(
        self, browser: Browser, site: Path, looks: Path, name: str
    ) -> None:
        # what scrolls on a small phone is made reachable by keys when the page is loaded
        with visit(browser, site / name, width=SMALL_PHONE) as seen:
            assert scheme_of(seen.page) == "light"
            seen.page.wait_for_timeout(100)  # for what scripts ask for after the load event
            # Lighthouse sees a page in a window of this width, and lets no part be laid out that
            # is not near: nothing may lie over it
            seen.page.set_viewport_size({"width": 412, "height": 900})
            found = violations(seen.page, "color-contrast", "target-size", whole=False)
            resize(seen.page, SMALL_PHONE)
            seen.page.add_style_tag(content=ALL_LAID_OUT)
            found += unfit(seen.page, SPACED)
            for width in (SMALL_PHONE, PHONE):
                resize(seen.page, width)
                found += [f"{width} px: {fault}" for fault in seen.page.evaluate(STICKING_OUT)]
            resize(seen.page, DESK)
            found += unfit(seen.page, TWICE_THE_SIZE)
            seen.page.evaluate(LOAD_PICTURES)
            found += seen.page.evaluate(UNREADABLE)
            found += [*seen.foreign, *seen.errors]
            found += inaccessible(seen.page, looks)
        assert not found, "\n".join(found)

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("place", ["read-the-whole-table", "watch-the-gradient", "takeaways"])
    def test_a_link_into_a_long_page_arrives_where_it_points(
        self, browser: Browser, site: Path, place: str
    ) -> None:
        chapter = site / "chapters" / "08_training.html"
        with visit(browser, chapter, query=f"#{place}", width=PHONE) as seen:
            seen.page.evaluate(NEXT_FRAME)
            top = seen.page.evaluate("document.querySelector(':target').getBoundingClientRect().y")
            assert 0 <= top < 100

    @pytest.mark.parametrize(
        "name", [pytest.param(name, marks=long_unless_shown(name)) for name in ALL]
    )
    def test_a_page_can_be_read_without_scripts(
        self, without_scripts: Callable[[str], dict[str, Any]], name: str
    ) -> None:
        seen = without_scripts(name)
        assert seen["titles"] == [True]
        assert seen["unreadable"] == []
        assert seen["link color"], "the theme has a rule for each of its schemes"
        assert seen["dead"] == []
        assert seen["foreign"] == []

    @pytest.mark.proof("pages")
    def test_the_search_finds_a_word_from_the_disk(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / "search.html", query="?q=softmax") as seen:
            seen.page.wait_for_selector("main .search-found li")
            seen.page.evaluate(KEEP_ONLY, "h1, main .search-found")
            assert inaccessible(seen.page) == []
        assert seen.errors == []


@pytest.mark.proof("pages")
class TestBoxes:
    """Hints, solutions and deeper parts are closed until they are asked for."""

    @pytest.mark.parametrize("scripts", [True, False])
    @pytest.mark.parametrize("name", ["chapters/04_gradients.html", "chapters/11_exercises.html"])
    def test_every_closed_box_opens_and_then_all_can_be_read(
        self, browser: Browser, site: Path, name: str, *, scripts: bool
    ) -> None:
        with visit(browser, site / name, scripts=scripts) as seen:
            closed = seen.page.locator("details.dropdown:not([open])")
            assert closed.count() >= 5
            for _ in range(closed.count()):
                closed.first.locator("> summary").click(position={"x": 60, "y": 8})
            assert closed.count() == 0
            if scripts:
                seen.page.evaluate(LOAD_PICTURES)
            assert seen.page.evaluate(UNREADABLE) == []
        assert not seen.errors, "\n".join(seen.errors)

    def test_who_follows_a_link_to_a_solution_finds_it_open(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / "chapters/04_gradients.html") as seen:
            boxes = seen.page.locator("details.solution[id]")
            first, second = (boxes.nth(place).get_attribute("id") for place in (0, 1))
            seen.page.evaluate("name => { location.hash = name; }", first)
            seen.page.wait_for_selector(f"details#{first}[open]")
            assert seen.page.locator(f"details#{second}[open]").count() == 0
        with visit(browser, site / "chapters/04_gradients.html", query=f"#{second}") as seen:
            seen.page.wait_for_selector(f"details#{second}[open]")

    def test_a_print_has_them_open_and_the_page_as_it_was_before(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / "chapters/04_gradients.html") as seen:
            boxes = seen.page.locator("details.dropdown")
            boxes.nth(1).locator("> summary").click(position={"x": 60, "y": 8})
            state = "boxes => boxes.map(({ open }) => open)"
            before = boxes.evaluate_all(state)
            assert before.count(True) == 1
            seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert all(boxes.evaluate_all(state))
            seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
            assert boxes.evaluate_all(state) == before


PALE_CODE = "<div class='highlight'><pre><span style='color: #bbb'>pale</span></pre></div>"
LOOKS = """<style>
.wide { overflow-x: auto } .wide pre { width: 900px }
:is(.phone, .desk) a { display: inline-block; height: 10px; width: 9px; overflow: hidden }
@media (width > 600px) { .phone { display: none } .wide pre { width: 300px; overflow: hidden } }
@media (width < 600px) { .desk { display: none } }
[data-theme="dark"] .dark { color: #bbb }
</style>
<script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
dark.onchange = follow;
follow();
</script>"""
WIDE = f"<div class='wide'><pre>{'wide ' * 60}</pre></div>"
CLOSED_THEN_OPEN = f"<details><summary>code</summary>{PALE_CODE}</details>{PALE_CODE}"


class TestTheChecks:
    """A bad page is noticed by each of the checks above."""

    @pytest.fixture
    def write(self, tmp_path: Path) -> Callable[[str], Path]:
        def write_page(body: str) -> Path:
            path = tmp_path / "page.html"
            head = "<meta charset='utf-8'><title>T</title>"
            frame = f"<!DOCTYPE html><html lang='en'><head>{head}</head><body><main>"
            path.write_text(
                f"{frame}<article><h1>T</h1>{body}</article></main></body></html>", encoding="utf-8"
            )
            return path

        return write_page

    def test_a_good_page_passes(self, browser: Browser, write: Callable[[str], Path]) -> None:
        wide = "<div style='overflow-x: auto'><p style='width: 900px'>wide</p></div>"
        with visit(browser, write(f"<p>text</p>{wide}"), width=PHONE) as seen:
            assert seen.page.evaluate(STICKING_OUT) == []
        with visit(browser, write("<p>text</p>")) as seen:
            assert inaccessible(seen.page) == []
        assert seen.foreign == []
        assert seen.errors == []

    @pytest.mark.parametrize(
        "body",
        [
            "<img src='https://example.org/a.png' alt=''>",
            "<script>fetch('https://example.org/a').catch(() => null)</script>",
        ],
    )
    def test_a_request_to_the_outside_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], body: str
    ) -> None:
        with visit(browser, write(body)) as seen:
            seen.page.wait_for_timeout(100)
        assert len(seen.foreign) == 1

    def test_the_browser_reaches_no_name_not_even_of_this_machine(
        self, browser: Browser, write: Callable[[str], Path]
    ) -> None:
        folder = write("").parent
        with serving(folder) as address, visit(browser, f"{address}/page.html") as seen:
            named = address.replace("127.0.0.1", "localhost")
            with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
                seen.page.goto(f"{named}/page.html")

    @pytest.mark.parametrize(
        "body",
        [
            "<script>throw Error('x')</script>",
            "<script>console.error('x')</script>",
            "<script src='none.js'></script>",
        ],
    )
    def test_an_error_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], body: str
    ) -> None:
        with visit(browser, write(body)) as seen:
            pass
        assert seen.errors

    @pytest.mark.parametrize("hidden", ["visible", "hidden"])
    def test_a_wide_element_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], hidden: str
    ) -> None:
        body = f"<style>body {{ overflow-x: {hidden} }}</style><p style='width: 900px'>wide</p>"
        with visit(browser, write(body), width=PHONE) as seen:
            assert seen.page.evaluate(STICKING_OUT)

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize(
        ("body", "rule"),
        [
            ("<p style='color: #bbb'>pale</p>", "color-contrast"),
            ("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>", "image-alt"),
            (f"{PALE_CODE}", "color-contrast"),
            (CLOSED_THEN_OPEN, "color-contrast"),
            ("<p class='phone' style='color: #bbb'>pale</p>", " 390 px: color-contrast"),
            ("<p class='dark'>pale</p>", "dark, "),
            ("<p aria-hidden='true' style='opacity: 0.5'>pale</p>", "color-contrast"),
            ("<p class='phone dark'>pale</p>", "dark, 390 px: color-contrast"),
            (WIDE, "on a phone, scrollable-region-focusable"),
            ("<div class='phone'><a href='#'>a</a><a href='#'>b</a></div>", "a phone, target-size"),
            ("<div class='desk'><a href='#'>a</a><a href='#'>b</a></div>", "target-size"),
            ("</article></main><p>outside</p>", "region"),
            ("</article></main><p class='phone'>outside</p>", "on a phone, region"),
            ("<h3>two levels down</h3>", "heading-order"),
            ("<button aria-label='other'>words</button>", "label-content-name-mismatch"),
            ("<p><math style='color: #eee'><mi>x</mi></math></p>", "the color of a formula"),
        ],
    )
    def test_a_violation_is_noticed_where_it_is(
        self, browser: Browser, write: Callable[[str], Path], body: str, rule: str
    ) -> None:
        with visit(browser, write(f"{LOOKS}{body}")) as seen:
            found = inaccessible(seen.page)
        assert found
        assert all(rule in fault for fault in found), found

    @pytest.mark.parametrize(
        "body",
        [
            "<section><p style='display: none'>text</p></section>",
            "<section><p style='visibility: hidden'>text</p></section>",
            "<figure><img src='none.png' alt='Words about it'></figure>",
            "<span class='math'>\\(x\\)</span>",
            "<span class='math'><code>x</code></span>",
        ],
    )
    @pytest.mark.parametrize("scripts", [True, False])
    def test_what_cannot_be_read_is_noticed(
        self, browser: Browser, write: Callable[[str], Path], body: str, scripts: bool
    ) -> None:
        with visit(browser, write(body), scripts=scripts) as seen:
            assert len(seen.page.evaluate(UNREADABLE)) == 1
