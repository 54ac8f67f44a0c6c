"""The reader's progress with the exercises: kept in the browser, shown at exercise and chapter."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node

from _ext import progress
from _ext.theme import STATIC
from attnbook.figures import Ask
from tests.book.building import build
from tests.book.notebooks import ROOT
from tests.ext import pages
from tests.ext.serving import serving
from tests.ext.test_browser import (
    DESK,
    PHONE,
    SMALL_PHONE,
    STICKING_OUT,
    Visit,
    violations,
    visit,
)
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.conftest import Once

LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv*", ".lighthouse", "_build", "tests", "chapters", "data", "docs"),
    *("*.ipynb", "__pycache__", ".*_cache"),
)
EXERCISE = """### Title of {name}

:::{{exercise}}
:label: ex-{name}

★☆☆ gentle · **Trains** a hand

Count to three.
:::

:::{{solution}} ex-{name}
:label: solution-{name}
:class: dropdown

One, two, three.
:::
"""
CHAPTER = """# Chapter of {title}

{words}

## Exercises

Three of them.

{exercises}
## Takeaways

It is over.
"""
LABELS = {
    "chapters/one": ["ex-spread", "ex-second", "ex-third"],
    "chapters/two": ["ex-fourth", "ex-fifth"],
}
ONE, TWO = (f"{name}.html" for name in LABELS)
KEY = re.search(r'KEY = "(.+)"', (STATIC / "progress.js").read_text("utf-8"))[1]
JUDGE = """([exercise, passed]) => document.querySelector("article").dispatchEvent(
  new CustomEvent("judged", { bubbles: true, detail: { exercise, passed } }))"""
# Make the browser's store fail for our key alone, as the theme has keys of its own.
REFUSE = """for (const name of %s) {
  const usual = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...rest) {
    if (key === "%s") throw new DOMException("no", "SecurityError");
    return usual.call(this, key, ...rest);
  };
}"""
RUBBISH = [
    *("", "{", "null", "1", '"solved"', "[]", '["solved"]', "[[]]", "true"),
    '{"ex-spread": "done", "ex-second": null, "ex-third": {}, "toString": "solved"}',
    '{"ex-spread": "toString", "__proto__": "solved", "ex-gone": "solved"}',
]
PATIENCE = 20  # seconds
PLACES = """() => [...document.querySelectorAll(".bd-sidebar-primary a, article *")]
  .filter((node) => !node.closest(".my-progress") && !node.matches("output"))
  .map((node) => [node.tagName, ...["x", "y", "width", "height"].map((side) =>
    node.getBoundingClientRect()[side])])"""


@pytest.fixture(scope="module")
def address(small_site: Path) -> Iterator[str]:
    """Serve the small book, and return where.

    On a busy machine, Chromium may lose what a large page from the disk has kept when the page is
    left at once: two to four times in a hundred here, and never of a page from a server.
    """
    with serving(small_site) as address:
        yield address


@pytest.fixture(scope="module")
def small_site(once: Once) -> Path:
    """Return the site of a book of a front page and two chapters."""
    return Path(once("progress", build_small_site))


def build_small_site(folder: Path) -> Path:
    """Build that book with the configuration of this one."""
    root = folder / "book"
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    (root / "chapters").mkdir()
    toc = "format: jb-book\nroot: index\noptions: {numbered: true}\nchapters:\n"
    toc += "".join(f"- file: {name}\n" for name in LABELS)
    (root / "_toc.yml").write_text(toc, encoding="utf-8")
    (root / "index.md").write_text("# Front page\n\nWords.\n", encoding="utf-8")
    for name, labels in LABELS.items():
        found = [EXERCISE.format(name=label.removeprefix("ex-")) for label in labels]
        if "ex-spread" in labels:
            asked = Ask("spread")._repr_mimebundle_()[0]["text/html"]
            found.insert(1, f"```{{raw}} html\n{asked}\n```\n")
        title = "a title that is long enough for two lines" if name.endswith("two") else "one"
        page = CHAPTER.format(title=title, words="Words. " * 100, exercises="\n".join(found))
        (root / f"{name}.md").write_text(page, encoding="utf-8")
    result = build(root)
    assert result.status == 0, result.output
    return root / "_build" / "html"


def faults(seen: Visit) -> list[str]:
    """Return what went wrong, but for an icon that was on its way when the page was left."""
    return [error for error in seen.errors if "favicon" not in error]


def known_in(text: str) -> dict[str, list[str]] | None:
    """Return the exercises by page that a script knows."""
    found = re.search(r"const PAGES = (.*);", text)
    return json.loads(found[1]) if found else None


def lists(page: Page) -> Locator:
    return page.locator(".exercise select")


def states(page: Page) -> list[str]:
    return lists(page).evaluate_all("(lists) => lists.map((list) => list.value)")


def counts(page: Page) -> list[str]:
    return page.locator(".bd-sidebar-primary .progress-count").all_inner_texts()


def solved_here(page: Page) -> str:
    return page.locator(".progress-note output").inner_text()


def kept_text(page: Page) -> str | None:
    return page.evaluate(f"localStorage.getItem({json.dumps(KEY)})")


def kept(page: Page) -> dict[str, str] | None:
    text = kept_text(page)
    return None if text is None else json.loads(text)


def keep(page: Page, text: str) -> None:
    page.evaluate(f"(text) => localStorage.setItem({json.dumps(KEY)}, text)", text)


def soon(look: Callable[[], Any], wanted: Any) -> None:
    """Wait until something looks as it should, as one window hears late of another."""
    end = time.monotonic() + PATIENCE
    while (found := look()) != wanted and time.monotonic() < end:
        time.sleep(0.02)
    assert found == wanted


@pytest.fixture
def page(browser: Browser, small_site: Path) -> Iterator[Page]:
    """Open the first chapter from the disk, and look for errors afterwards."""
    with visit(browser, small_site / ONE) as seen:
        yield seen.page
    assert not faults(seen)


@pytest.fixture
def online(browser: Browser, address: str) -> Iterator[Page]:
    """Open the first chapter from the server, and look for errors afterwards."""
    with visit(browser, f"{address}/{ONE}") as seen:
        yield seen.page
    assert not faults(seen)
    assert not seen.foreign


class TestTheBuild:
    @pytest.mark.proof("pages")
    def test_every_page_loads_the_script_that_knows_all_exercises(self, small_site: Path) -> None:
        for name in ("index.html", ONE, TWO, "genindex.html", "search.html"):
            page = pages.parse(small_site / name)
            [script] = [script for script in page.select("script") if known_in(script.text)]
            assert known_in(script.text) == LABELS
            assert script.find_next("p") is None, "what a reader sees comes first"

    @pytest.mark.proof("pages")
    def test_the_note_is_below_the_exercises_and_only_there(self, small_site: Path) -> None:
        for name, labels in LABELS.items():
            page = pages.parse(small_site / f"{name}.html")
            [note] = page.select(".progress-note")
            assert f"of {len(labels)}." in note.get_text()
            assert note.parent["id"] == "exercises"
            assert note.find_next_sibling() is None
        assert not pages.parse(small_site / "index.html").select(".progress-note")

    def test_a_page_of_nothing_but_exercises_has_it_at_the_end(self) -> None:
        document = new_document("page")
        document += (chapter := nodes.section())
        for _ in range(2):
            chapter += (part := nodes.section())
            part += exercise_enumerable_node()
        chapter += nodes.section()
        progress.add_note(None, document, "page")
        assert chapter[-1].astext() == progress.NOTE.format(count=2)

    def test_a_page_without_exercises_has_none(self) -> None:
        document = new_document("page")
        document += nodes.section()
        progress.add_note(None, document, "page")
        assert not list(document.findall(nodes.raw))

    def test_the_site_counts_every_exercise_once(self, site: Path) -> None:
        known = known_in((site / "index.html").read_text("utf-8"))
        for path in site.rglob("*.html"):
            found = [str(box["id"]) for box in pages.parse(path).select("div.exercise[id]")]
            name = path.relative_to(site).with_suffix("").as_posix()
            assert found == known.get(name, [])


@pytest.mark.proof("pages")
class TestAReader:
    def test_starts_with_nothing_and_nothing_is_kept(self, page: Page) -> None:
        assert states(page) == ["", "", ""]
        assert counts(page) == ["", ""]
        assert solved_here(page) == "0"
        assert kept(page) is None
        link = page.locator(".bd-sidebar-primary a.current.internal")
        assert "solved" not in link.text_content()
        assert lists(page).first.get_attribute("aria-label") == ("Your progress: Exercise 1.1")

    def test_has_tried_what_was_wrong_and_solved_what_was_right(
        self, online: Page, address: str
    ) -> None:
        form, page = online.locator("form.ask"), online
        form.locator("input").first.fill("512")
        form.get_by_role("button").click()
        assert states(page) == ["tried", "", ""]
        assert counts(page)[0] == ""
        for field, text in zip(form.locator("input").all(), ("22.6", "1", "0.0442"), strict=True):
            field.fill(text)
        form.get_by_role("button").click()
        assert states(page) == ["solved", "", ""]
        assert counts(page) == ["1/3", ""]
        link = page.locator(".bd-sidebar-primary a.current.internal")
        assert "1 of 3 exercises solved" in " ".join(link.text_content().split())
        assert solved_here(page) == "1"
        form.locator("input").first.fill("512")
        form.get_by_role("button").click()
        assert states(page)[0] == "solved"  # what is solved stays so
        page.reload()
        soon(lambda: states(page), ["solved", "", ""])
        page.goto(f"{address}/{TWO}")
        soon(lambda: counts(page), ["1/3", ""])
        assert solved_here(page) == "0"
        page.goto(f"{address}/index.html")
        soon(lambda: counts(page), ["1/3", ""])
        assert kept(page) == {"ex-spread": "solved"}

    def test_sets_it_by_hand(self, browser: Browser, small_site: Path) -> None:
        with visit(browser, small_site / TWO) as seen:
            keys = seen.page.keyboard
            lists(seen.page).first.focus()
            keys.type("sk")
            assert kept(seen.page) == {"ex-fourth": "skipped"}
            lists(seen.page).nth(1).select_option("solved")
            assert counts(seen.page) == ["", "1/2"]
            lists(seen.page).first.select_option("solved")
            assert seen.page.locator(".progress-count.all").all_inner_texts() == ["2/2"]
            for place in (0, 1):
                lists(seen.page).nth(place).select_option("")
            assert kept(seen.page) is None
            assert counts(seen.page) == ["", ""]

    @pytest.mark.parametrize(
        ("before", "passed", "after"),
        [
            ("", False, "tried"),
            ("skipped", False, "tried"),
            ("solved", False, "solved"),
            ("", True, "solved"),
            ("tried", True, "solved"),
        ],
    )
    def test_is_judged(self, page: Page, before: str, passed: bool, after: str) -> None:
        lists(page).nth(1).select_option(before)
        page.evaluate(JUDGE, ["second", passed])
        assert states(page) == ["", after, ""]

    def test_of_another_exercise_moves_nothing(self, page: Page) -> None:
        page.evaluate(JUDGE, ["unknown", True])
        assert kept(page) is None

    def test_clears_it_after_a_second_press(self, online: Page, address: str) -> None:
        keep(online, '{"ex-spread": "solved", "ex-fifth": "tried"}')
        online.reload()
        wait_until(online, "document.querySelector('.progress-count').textContent === '1/3'")
        button = online.get_by_role("button", name="Clear it all")
        assert not button.is_visible()
        summary = online.get_by_text("Clear my progress")
        summary.focus()
        online.keyboard.press("Enter")
        assert counts(online) == ["1/3", ""]
        button.click()
        assert counts(online) == ["", ""]
        assert states(online) == ["", "", ""]
        assert solved_here(online) == "0"
        assert kept(online) is None
        assert not button.is_visible()
        assert summary.evaluate("(node) => node === document.activeElement")
        online.goto(f"{address}/{TWO}")
        soon(lambda: states(online), ["", ""])
        assert counts(online) == ["", ""]

    def test_with_two_windows_sees_the_same_in_both(self, page: Page, small_site: Path) -> None:
        other = page.context.new_page()
        other.goto((small_site / TWO).as_uri())
        lists(page).first.select_option("solved")
        wait_until(other, "document.querySelector('.progress-count').textContent === '1/3'")
        lists(other).first.select_option("tried")
        soon(lambda: kept(other), {"ex-spread": "solved", "ex-fourth": "tried"})


@pytest.mark.proof("pages")
class TestABrowser:
    def test_that_keeps_rubbish_starts_anew(self, online: Page) -> None:
        for text in RUBBISH:
            keep(online, text)
            online.reload()
            soon(lambda: kept_text(online), text)
            soon(lambda: states(online), ["", "", ""])
            assert counts(online) == ["", ""], text
            lists(online).last.select_option("tried")
            assert kept(online) == {"ex-third": "tried"}, text

    def test_that_may_keep_nothing_shows_nothing(self, page: Page) -> None:
        page.add_init_script(REFUSE % (["getItem", "setItem", "removeItem"], KEY))
        page.reload()
        assert lists(page).count() == 0
        assert counts(page) == []
        assert not page.locator(".progress-note").is_visible()
        page.evaluate(JUDGE, ["spread", True])

    def test_that_is_full_shows_it_as_long_as_the_page_is_open(self, page: Page) -> None:
        page.add_init_script(REFUSE % (["setItem", "removeItem"], KEY))
        page.reload()
        page.evaluate(JUDGE, ["spread", True])
        assert counts(page) == ["1/3", ""]

    def test_without_scripts_shows_nothing(self, browser: Browser, small_site: Path) -> None:
        with visit(browser, small_site / ONE, scripts=False) as seen:
            assert not seen.page.locator(".progress-note").is_visible()
            assert lists(seen.page).count() == 0
            assert counts(seen.page) == []

    @pytest.mark.parametrize("width", [SMALL_PHONE, PHONE, DESK])
    def test_moves_nothing_when_it_comes(
        self, browser: Browser, small_site: Path, tmp_path: Path, width: int
    ) -> None:
        without = shutil.copytree(small_site, tmp_path / "html")
        for name in (ONE, TWO):
            page = (without / name).read_text("utf-8")
            # the policy of the page refuses a script that is not what it was
            (without / name).write_text(page.replace("const PAGES = ", "const PAGES =  "), "utf-8")
            places = []
            for folder in (small_site, without):
                with visit(browser, folder / name, width=width) as seen:
                    # sections far away have a guessed height until they come near
                    seen.page.add_style_tag(content="* {content-visibility: visible !important}")
                    wait_until(
                        seen.page,
                        "document.getAnimations().every(({playState}) => playState !== 'running')",
                    )
                    places.append(seen.page.evaluate(PLACES))
            assert len(places[0]) > 50
            assert places[0] == places[1]

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_has_no_severe_violation_and_no_small_target(
        self, browser: Browser, small_site: Path, scheme: str
    ) -> None:
        with visit(browser, small_site / ONE, scheme=scheme, width=PHONE) as seen:
            page = seen.page
            keep(page, '{"ex-spread": "solved", "ex-second": "tried", "ex-third": "skipped"}')
            page.reload()
            page.get_by_text("Clear my progress").click()
            for width in (PHONE, SMALL_PHONE, DESK):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate(STICKING_OUT) == []
                targets = page.locator(".exercise select, .progress-note :is(summary, button)")
                assert targets.count() == 5
                for target in targets.all():
                    box = target.bounding_box()
                    assert min(box["width"], box["height"]) >= 24  # WCAG 2.2, target size
                for box in page.locator(".exercise > .admonition-title").all():
                    title = box.locator(".caption-number").bounding_box()
                    control = box.locator("select").bounding_box()
                    assert title["x"] + title["width"] < control["x"]
                assert violations(page) == []
