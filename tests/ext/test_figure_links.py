"""What a reader takes along: a figure's state, by the address and from page to page; pictures."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from tests.ext.serving import serving
from tests.ext.test_browser import (
    ALL_LAID_OUT,
    DESK,
    NEXT_FRAME,
    PHONE,
    SMALL_PHONE,
    STICKING_OUT,
    violations,
    visit,
)
from tests.ext.test_figures import PAGES, READY
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Download, Locator, Page

pytestmark = pytest.mark.proof("pages")

# A figure that shows the reader's own head, on two pages, and one in a long chapter.
FIRST, NEXT, LONG = "index.html", "chapters/01_puzzle.html", "chapters/04_gradients.html"
HEAD, KEPT = "head", "why-divide-by-root-dk.head"
FIGURE = ".live-figure:has(> .figure-controls)"
SVG = "{http://www.w3.org/2000/svg}"
STATE = """(figure) => Object.fromEntries(
  [...document.querySelector(figure).querySelectorAll("form :is(input, select)[name]")].map((one) =>
    [one.name, one.type === "checkbox" ? one.checked
      : one.dataset.stops ? JSON.parse(`[${one.dataset.stops}]`)[one.value] : one.value]))"""
SEARCH = "(wanted) => location.search === wanted"
OWN = {"d_k": 64, "n_keys": 16, "divided": False}
# What is seen of a figure's text, outside its controls.
SEEN = """(root) => {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const { parentElement: parent, data } = walk.currentNode;
    if (parent.closest("form, .take") || !data.trim()) continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    found.push(...data.trim().split(/\\s+/));
  }
  return found;
}"""
NO_STORE = """for (const name of ["getItem", "setItem", "removeItem"]) {
  Storage.prototype[name] = () => { throw new DOMException("no", "SecurityError"); };
}"""
NOTE_MARKUP = """window.markup = [];
for (const [kind, name] of [[Element, "innerHTML"], [Element, "outerHTML"]]) {
  const { get, set } = Object.getOwnPropertyDescriptor(kind.prototype, name);
  Object.defineProperty(kind.prototype, name, { get, set(text) {
    window.markup.push(text);
    set.call(this, text);
  } });
}"""
NO_CLIPBOARD = """Object.defineProperty(navigator, "clipboard", {
  value: { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) } });"""
TOPS = """() => [...document.querySelectorAll("article :is(h1, h2, h3, p, .live-figure)")]
  .map((node) => Math.round(node.getBoundingClientRect().y))"""
# By how much a row covers what is above it, whose room it has.
COVERED = """(row) => {
  const above = row.closest(".live-figure")
    ? [...row.parentElement.children].filter((part) => part !== row)
    : [row.previousElementSibling.querySelector("figcaption")];
  return Math.max(...above.map((part) => part.getBoundingClientRect().bottom)) -
    row.getBoundingClientRect().top;
}"""
# Whether a row, which ends at the edge of the figure, makes it something that scrolls sideways.
WIDENS = """(row) => {
  const output = row.closest(".output");
  return output !== null && output.scrollWidth > output.clientWidth;
}"""
OPEN = "() => document.querySelectorAll('details').forEach((box) => { box.open = true; })"
ELEMENTS = "document.querySelectorAll('img, script, iframe, [onerror]').length"


def state(page: Page, kind: str = HEAD) -> dict[str, Any]:
    return page.evaluate(STATE, f"[data-figure={kind}]")


def reach(page: Page, search: str) -> None:
    wait_until(page, SEARCH, search)


def wider(page: Page, steps: int = 1) -> None:
    for _ in range(steps):
        page.locator(f"[data-figure={HEAD}] [name=d_k]").first.press("ArrowRight")


def show_instead(page: Page, name: str, text: str) -> None:
    """Let the server send something else as one page."""
    page.route(
        re.compile(rf"/{re.escape(name)}(\?|$)"),
        lambda route: route.fulfill(body=text, content_type="text/html"),
    )


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a window whose errors are noted and fail the test."""
    window = {"viewport": {"width": DESK, "height": 900}, "service_workers": "block"}
    context = browser.new_context(**window, reduced_motion="reduce")
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield context
    context.close()
    allowed = ("404", "Executing inline script violates")  # favicon; what a test altered
    assert [fault for fault in faults if not any(part in fault for part in allowed)] == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


class TestTheAddress:
    @pytest.mark.parametrize("from_disk", [True, False])
    def test_says_how_a_figure_was_left_and_brings_it_back(
        self, context: BrowserContext, site: Path, address: str, *, from_disk: bool
    ) -> None:
        page = context.new_page()
        page.goto(f"{site.as_uri() if from_disk else address}/{FIRST}#who-it-is-for")
        assert state(page) == OWN
        wider(page)
        reach(page, "?head=d_k:128")
        figure = page.locator(f"[data-figure={HEAD}]")
        figure.get_by_role("checkbox").click()
        figure.get_by_role("button", name="Another draw").click()
        reach(page, "?head=d_k:128,divided:on,draw:228")
        assert page.url.endswith("#who-it-is-for"), "the place in the text stays"
        said = figure.locator(".figure-words").inner_text()
        with context.new_page() as other:
            other.goto(page.url)
            assert state(other) == OWN | {"d_k": 128, "divided": True}
            assert other.locator(f"[data-figure={HEAD}] .figure-words").inner_text() == said
        figure.get_by_role("button", name="Reset").click()
        reach(page, "")
        assert state(page) == OWN

    def test_opens_what_a_figure_is_folded_into(self, page: Page, address: str) -> None:
        page.goto(f"{address}/{NEXT}")
        figure = page.locator(f"[data-figure={HEAD}]")
        assert not figure.is_visible()
        page.goto(f"{address}/{NEXT}?head=d_k:8")
        assert figure.is_visible()

    def test_of_a_figure_far_down_leads_there_unless_it_names_a_place(
        self, page: Page, address: str
    ) -> None:
        top = "document.querySelector('[data-figure=jacobian]').getBoundingClientRect().y"
        page.goto(f"{address}/{LONG}?jacobian=factor:8")
        page.evaluate(NEXT_FRAME)
        assert 0 <= page.evaluate(top) < 200
        assert state(page, "jacobian")["factor"] == 8
        page.goto("about:blank")
        page.goto(f"{address}/{LONG}?jacobian=factor:8#takeaways")
        page.evaluate(NEXT_FRAME)
        place = "document.querySelector('#takeaways').getBoundingClientRect().y"
        assert 0 <= page.evaluate(place) < 200

    @pytest.mark.parametrize(
        "foreign",
        [
            "d_k:3",
            "d_k:Infinity",
            "d_k:0x40",
            "d_k:",
            "d_k",
            "draw:0",
            "draw:10000",
            "draw:1e3",
            "divided:1",
            "__proto__:on",
            "constructor:on",
            "still:<b>x</b>",
            "content:on",
            "d_k:<img src=x onerror='window.hit=1'>",
            "<script>window.hit=1</script>:on",
            "pulled.1:99",
        ],
    )
    def test_counts_only_for_what_a_control_can_be(
        self, page: Page, address: str, foreign: str
    ) -> None:
        page.add_init_script(NOTE_MARKUP)
        page.goto(f"{address}/{FIRST}")
        plain = page.evaluate(ELEMENTS)
        for text in (foreign, quote(foreign)):
            page.goto(f"{address}/{FIRST}?head={text},n_keys:64&{text}={text}")
            assert state(page) == OWN | {"n_keys": 64}
            assert page.evaluate(ELEMENTS) == plain
            assert page.evaluate("window.hit") is None
            assert page.evaluate("({}).on") is None
            hostile = [text for text in page.evaluate("window.markup") if "hit" in text]
            assert hostile == []

    @pytest.mark.parametrize("text", ["%E0%A4%A", "=&&?=,:,:", "head.9=d_k:256", "head"])
    def test_that_nobody_wrote_changes_nothing(self, page: Page, address: str, text: str) -> None:
        page.goto(f"{address}/{FIRST}?{text}")
        assert state(page) == OWN
        wider(page)
        wait_until(page, "location.search.includes('head=d_k:128')")

    def test_tells_figures_of_one_kind_apart_and_leaves_the_rest_alone(
        self, page: Page, site: Path, address: str
    ) -> None:
        text = (site / FIRST).read_text("utf-8")
        figure = re.findall(r'<div class="live-figure" data-figure="head".*?</div>\n', text)[0]
        figure = figure.removesuffix("</div></div>\n")
        show_instead(page, FIRST, text.replace(figure, figure + figure))
        page.goto(f"{address}/{FIRST}?from=friend&head.2=d_k:8")
        page.locator("[data-figure=head] [name=n_keys]").nth(0).press("ArrowRight")
        reach(page, "?from=friend&head=n_keys:32&head.2=d_k:8")
        sliders = page.locator("[data-figure=head] [name=d_k]")
        assert [slider.get_attribute("aria-valuetext") for slider in sliders.all()] == ["64", "8"]

    def test_can_name_every_stop_and_every_option(self, page: Page, site: Path) -> None:
        for name in sorted(set(PAGES.values())):
            page.goto((site / name).as_uri())
            lists = page.evaluate(
                """() => [...document.querySelectorAll(".figure-controls select[name]")].map(
                  ({ options }) => [...options].map(({ value }) => value))"""
            )
            for values in lists:
                slugs = {re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-") for value in values}
                assert len(slugs) == len(values), (name, values)

    def test_waits_for_data_that_come_late(self, page: Page, address: str) -> None:
        wanted = "?trained_head=head:layer-2-head-1,model:trained-without-the-division"
        listed = PAGES_BY_KIND["trained_head"]
        page.goto(f"{address}/{listed}")
        options = page.locator("[data-figure=trained_head] [name=model] option").all()
        names = [option.get_attribute("value") for option in options]
        wanted = f"?trained_head=head:layer-2-head-1,model:{names[1]}"
        page.goto(f"{address}/{listed}{wanted}")
        wait_until(page, READY, "[data-figure=trained_head]")
        seen = state(page, "trained_head")
        assert (seen["head"], seen["model"]) == ("layer 2, head 1", names[1])
        page.locator("[data-figure=trained_head] [type=reset]").click()
        reach(page, "")
        assert state(page, "trained_head")["head"] != "layer 2, head 1"


PAGES_BY_KIND = {kind.module: page for kind, page in PAGES.items()}


class TestFromPageToPage:
    def test_the_head_stays_as_it_was_left_and_a_new_tab_begins_anew(
        self, context: BrowserContext, page: Page, address: str
    ) -> None:
        page.goto(f"{address}/{NEXT}")
        own = state(page)
        page.goto(f"{address}/{FIRST}")
        wider(page, 2)
        page.locator("a", has_text="Start reading").first.click()  # before it has settled
        page.wait_for_url("**/01_puzzle.html*")
        assert state(page) == own | {"d_k": 256}
        page.evaluate(OPEN)
        reach(page, "?head=d_k:256")
        page.locator(f"[data-figure={HEAD}] [name=n_keys]").press("ArrowRight")
        keys = state(page)["n_keys"]
        reach(page, f"?head=d_k:256,n_keys:{keys}")
        page.goto(f"{address}/{FIRST}")
        assert state(page) == OWN | {"d_k": 256, "n_keys": keys}
        with context.new_page() as other:
            other.goto(f"{address}/{FIRST}")
            assert state(other) == OWN

    def test_an_address_outweighs_what_was_carried(self, page: Page, address: str) -> None:
        page.goto(f"{address}/{FIRST}")
        wider(page)
        reach(page, "?head=d_k:128")
        page.goto(f"{address}/{FIRST}?head=n_keys:64")
        assert state(page) == OWN | {"n_keys": 64}, "all is as in the link"
        page.goto(f"{address}/{NEXT}")
        assert state(page)["n_keys"] == 64
        page.goto(f"{address}/{FIRST}?head")
        assert state(page) == OWN

    def test_reset_forgets_it(self, page: Page, address: str) -> None:
        page.goto(f"{address}/{FIRST}")
        wider(page)
        reach(page, "?head=d_k:128")
        assert page.evaluate("(key) => sessionStorage.getItem(key)", KEPT) == "d_k:128"
        page.get_by_role("button", name="Reset").click()
        reach(page, "")
        assert page.evaluate("(key) => sessionStorage.getItem(key)", KEPT) is None
        page.goto(f"{address}/{NEXT}")
        reach(page, "")

    @pytest.mark.parametrize("rubbish", ["d_k:3,n_keys:64", "<b>", '{"d_k": 8}', ",:,", "still:x"])
    def test_rubbish_in_the_store_is_ignored(self, page: Page, address: str, rubbish: str) -> None:
        page.goto(f"{address}/{FIRST}")
        page.evaluate("([key, text]) => sessionStorage.setItem(key, text)", [KEPT, rubbish])
        page.reload()
        assert state(page) == OWN | ({"n_keys": 64} if "n_keys" in rubbish else {})
        wider(page)
        wait_until(page, "location.search.includes('d_k:128')")

    def test_where_nothing_can_be_kept_a_figure_still_works(self, page: Page, address: str) -> None:
        page.add_init_script(NO_STORE)
        page.goto(f"{address}/{FIRST}")
        wider(page)
        reach(page, "?head=d_k:128")
        page.goto(f"{address}/{NEXT}")
        reach(page, "")
        page.evaluate(OPEN)
        page.locator(f"[data-figure={HEAD}] [type=reset]").click()
        reach(page, "")

    def test_other_figures_keep_to_their_page(self, page: Page, address: str) -> None:
        page.goto(f"{address}/chapters/02_variance.html")
        page.locator("[data-figure=spread] [name=d_k]").press("ArrowRight")
        wait_until(page, "location.search !== ''")
        assert page.evaluate("(key) => sessionStorage.getItem(key)", KEPT) is None


def saved(figure: Locator, kind: str) -> Download:
    with figure.page.expect_download() as waiting:
        figure.locator(".take").get_by_role("button", name=f"as {kind}").click()
    return waiting.value


def pixels(content: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as opened:
        return np.asarray(opened.convert("RGB")).astype(int)


def colored(picture: np.ndarray) -> float:
    """Return how much color there is, however pixels share it; lines and letters are gray."""
    color = np.ptp(picture, axis=2)
    return float(color[color > 20].sum()) / 255


class TestPictures:
    @pytest.mark.parametrize("kind", [kind for kind in PAGES_BY_KIND if kind != "models_table"])
    def test_a_saved_figure_needs_nothing_else_and_shows_what_the_page_shows(
        self, page: Page, address: str, kind: str
    ) -> None:
        page.goto(f"{address}/{PAGES_BY_KIND[kind]}")
        page.add_style_tag(content=ALL_LAID_OUT)
        page.evaluate(OPEN)
        wait_until(page, READY, f"[data-figure={kind}]")
        figure = page.locator(f"[data-figure={kind}]").first
        figure.scroll_into_view_if_needed()
        content = saved(figure, "SVG").path().read_text("utf-8")
        root = ET.fromstring(content)  # noqa: S314
        for banned in ("var(", "<script", "foreignObject", "currentcolor", " style=", "href="):
            assert banned not in content
        written = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text")).split()
        missing = set(figure.evaluate(SEEN)) - set(written)
        assert not missing
        for setting in figure.locator("label.slider > .value").all_inner_texts():
            assert setting in written
        assert root.find(f"{SVG}title").text
        assert root.find(f"{SVG}desc").text == figure.locator(".figure-words").inner_text()
        assert "Why attention divides" in content

        picture = pixels(saved(figure, "PNG").path().read_bytes())
        assert picture.shape[:2] == (2 * int(root.get("height")), 2 * int(root.get("width")))
        assert tuple(picture[0, 0]) == (255, 255, 255)
        # colors cover a quarter of it on the page, and as much in a document without a style
        figure.locator("form, .take").evaluate_all(
            "(parts) => parts.forEach((part) => (part.style.visibility = 'hidden'))"
        )
        shown = colored(pixels(figure.screenshot()))
        assert colored(picture) / 4 == pytest.approx(shown, rel=0.12, abs=60)
        with page.context.new_page() as alone:
            alone.set_content(f"<body style='margin: 0'>{content}")
            box = {
                "x": 0,
                "y": 0,
                "width": int(root.get("width")),
                "height": int(root.get("height")),
            }
            assert colored(pixels(alone.screenshot(clip=box, full_page=True))) == pytest.approx(
                shown, rel=0.12, abs=60
            )

    def test_its_name_says_how_it_was_set_and_its_ground_is_the_page_s(
        self, browser: Browser, address: str
    ) -> None:
        with visit(browser, f"{address}/{FIRST}", scheme="dark", width=PHONE) as seen:
            figure = seen.page.locator(f"[data-figure={HEAD}]")
            assert saved(figure, "SVG").suggested_filename == "attention-head.svg"
            wider(seen.page, 2)
            figure.get_by_role("button", name="Another draw").click()
            picture = saved(figure, "PNG")
            assert picture.suggested_filename == "attention-head-width-256-draw-228.png"
            ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
            shade = tuple(map(int, re.findall(r"\d+", ground)))
            assert max(shade) < 60
            assert tuple(pixels(picture.path().read_bytes())[0, 0]) == shade
        assert seen.errors == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_plot_is_saved_as_it_is_shown(
        self, browser: Browser, address: str, scheme: str
    ) -> None:
        with visit(browser, f"{address}/{LONG}", scheme=scheme) as seen:
            seen.page.evaluate(OPEN)
            plot = seen.page.locator("figure:has(> .plot) + .take").first.locator("xpath=..")
            image = plot.locator("img")
            size = [int(image.get_attribute(side)) for side in ("height", "width")]
            download = saved(plot, "PNG")
            assert download.suggested_filename == "figure-4-1-key-shares.png"
            picture = pixels(download.path().read_bytes())
            assert list(picture.shape[:2]) == size
            assert (picture.mean() > 128) == (scheme == "light")
            assert colored(picture) > 1000
        assert seen.errors == []

    def test_from_a_disk_a_plot_opens_by_itself(self, page: Page, site: Path) -> None:
        page.goto((site / LONG).as_uri())
        page.evaluate(OPEN)
        room = page.locator("figure:has(> .plot) + .take").first
        assert room.get_by_role("button").all_text_contents() == ["Copy link"]
        with page.expect_popup() as popup:
            room.get_by_role("link", name="Open picture").click()
        assert popup.value.url.endswith(".webp")


class TestALink:
    @pytest.mark.parametrize("from_disk", [True, False])
    def test_is_copied_with_the_state(
        self, context: BrowserContext, page: Page, site: Path, address: str, *, from_disk: bool
    ) -> None:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        start = site.as_uri() if from_disk else address
        page.goto(f"{start}/{FIRST}#who-it-is-for")
        figure = page.locator(f"[data-figure={HEAD}]")
        button = figure.get_by_role("button", name="Copy link to the figure")
        said = figure.locator(".take [role=status]")

        def link() -> str:
            button.click()
            said.filter(has_text="Link copied").wait_for()
            return page.evaluate("navigator.clipboard.readText()")

        assert link() == f"{start}/{FIRST}?head"
        wider(page)
        assert link() == f"{start}/{FIRST}?head=d_k:128", "before the address says so"
        page.goto(f"{start}/{LONG}")
        page.get_by_role("button", name="Copy link to figure 4.2").click()
        copied = f"{start}/{LONG}#fig-jacobians"
        wait_until(
            page, "(wanted) => navigator.clipboard.readText().then((it) => it === wanted)", copied
        )

    def test_can_be_copied_by_hand_where_the_clipboard_is_refused(
        self, page: Page, address: str
    ) -> None:
        page.add_init_script(NO_CLIPBOARD)
        page.set_viewport_size({"width": SMALL_PHONE, "height": 700})
        page.goto(f"{address}/{FIRST}")
        wider(page)
        room = page.locator(f"[data-figure={HEAD}] .take")
        for _ in range(2):  # a second press leaves one field
            room.get_by_role("button", name="Copy link").click()
            field = room.get_by_role("textbox", name="Link to the figure")
            field.wait_for()
            assert field.input_value() == f"{address}/{FIRST}?head=d_k:128"
            selected = field.evaluate("(node) => [node.selectionStart, node.selectionEnd]")
            assert selected == [0, len(field.input_value())]
            assert field.evaluate("(node) => node === document.activeElement")
        assert page.evaluate(STICKING_OUT) == []


class TestTheRow:
    @pytest.mark.parametrize("name", [FIRST, LONG, "chapters/models.html"])
    def test_is_low_large_enough_for_a_thumb_and_named(
        self, browser: Browser, address: str, name: str
    ) -> None:
        for width in (PHONE, DESK):
            with visit(browser, f"{address}/{name}", width=width) as seen:
                seen.page.add_style_tag(content=ALL_LAID_OUT)
                rows = seen.page.locator(".take")
                shown = [row for row in rows.all() if row.is_visible()]
                assert shown
                for row in shown:
                    assert row.bounding_box()["height"] <= 44
                    assert row.evaluate(COVERED) <= 1
                    assert not row.evaluate(WIDENS)
                    for button in row.locator("button").all():
                        box = button.bounding_box()
                        assert min(box["width"], box["height"]) >= 44
                seen.page.locator(".take button").last.click()
                assert seen.page.evaluate(STICKING_OUT) == []
                seen.page.evaluate("scrollTo(0, 0)")  # where the header covers no button
                found = violations(seen.page)
                assert found == [], f"{width} px: {found}"

    def test_each_picture_has_its_own_and_no_question_has_one(self, page: Page, site: Path) -> None:
        for path in (site / "chapters").glob("*.html"):
            page.goto(path.as_uri())
            wanted = page.locator(f"{FIGURE}, figure:has(> .plot)").count()
            assert page.locator(".take").count() == wanted, path.name
            assert page.locator(":is(form.prediction, form.ask) ~ .take").count() == 0

    def test_is_not_on_paper_nor_without_scripts(
        self, browser: Browser, page: Page, site: Path
    ) -> None:
        with visit(browser, site / LONG, scripts=False) as seen:
            assert seen.page.locator(".take").count() == 0
        page.goto((site / LONG).as_uri())
        page.emulate_media(media="print")
        assert not any(row.is_visible() for row in page.locator(".take").all())
        page.evaluate("document.documentElement.dataset.print = 'handout'")
        assert not any(row.is_visible() for row in page.locator(".take").all())

    @pytest.mark.parametrize("width", [PHONE, DESK])
    @pytest.mark.parametrize("name", [FIRST, LONG])
    def test_moves_nothing_when_it_comes(
        self, context: BrowserContext, site: Path, address: str, name: str, width: int
    ) -> None:
        # the policy of the page refuses a script that is not what it was
        text = (site / name).read_text("utf-8")
        refused = text.replace("const CARRIED = ", "const CARRIED =  ")
        places = []
        for shown in (text, refused):
            page = context.new_page()
            page.set_viewport_size({"width": width, "height": 900})
            show_instead(page, name, shown)
            page.goto(f"{address}/{name}")
            page.add_style_tag(content=ALL_LAID_OUT)
            page.evaluate(NEXT_FRAME)  # then what was laid out has asked for its letters
            page.evaluate("document.fonts.ready.then(() => null)")
            page.evaluate(NEXT_FRAME)
            places.append((page.locator(".take").count() > 0, page.evaluate(TOPS)))
        assert [has_rows for has_rows, _ in places] == [True, False]
        assert places[0][1] == places[1][1]
