"""The pages in Chromium, Firefox and WebKit: what is drawn, what moves, and what is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from book.model import tags
from tests.book.notebooks import BOOK, ROOT
from tests.engines.drivers import Engine
from tests.engines.listening import Listened
from tests.engines.looking import ask, displaced, faults, seen, unnamed
from tests.ext.serving import serving
from tests.ext.test_browser import ALL, DESK, PHONE

WIDTHS = (PHONE, DESK)
# One with aligned equations, and one with figures and questions.
TWO = ("chapters/critical_scale.html", "chapters/01_puzzle.html")
LONG = pytest.mark.proof("engines")
FIRST = {page.name: next((c for c in page.cells if "edit" in tags(c)), None) for page in BOOK.pages}
# Their first cell that a reader can run has an output; another may only define a function.
PRINTING = [f"{name}.html" for name, cell in FIRST.items() if cell is not None and cell.outputs]


@pytest.mark.parametrize(
    "name", [*TWO, *(pytest.param(name, marks=LONG) for name in ALL if name not in TWO)]
)
def test_a_page_can_be_read(engine: Engine, address: str, name: str) -> None:
    found = seen(engine, f"{address}/{name}", PHONE)
    if name not in TWO:
        found += seen(engine, f"{address}/{name}", DESK)
    found += displaced(engine)
    assert not found, "\n".join(found)


@LONG
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ALL)
def test_everything_on_a_page_works(engine: Engine, address: str, name: str, width: int) -> None:
    found = seen(engine, f"{address}/{name}", width)
    for step in ("still()", "unanswered()", "editors()", "pressAll()"):
        said = ask(engine, step) or []
        found += [f"{step} {width} px: {fault}" for fault in [*said, *faults(engine)]]
    assert not found, f"{engine.name}\n" + "\n".join(found)


@LONG
@pytest.mark.parametrize("name", ALL)
def test_everything_that_is_operated_has_a_name(engine: Engine, address: str, name: str) -> None:
    assert not seen(engine, f"{address}/{name}", DESK)
    found = unnamed(engine)
    assert not found, "\n".join(found)


@LONG
@pytest.mark.parametrize("name", ["search.html", TWO[1]])
def test_the_search_answers(engine: Engine, address: str, name: str) -> None:
    for width in WIDTHS:
        engine.resize(width)
        engine.open(f"{address}/{name}")
        found, to_be_seen, words = ask(engine, "search('softmax')")
        assert 0 < found == to_be_seen, (engine.name, width, words)
        assert words
        assert not faults(engine)


@LONG
@pytest.mark.parametrize("name", PRINTING)
def test_a_cell_of_the_page_prints(engine: Engine, address: str, name: str) -> None:
    engine.resize(DESK)
    engine.open(f"{address}/{name}")
    printed, status = ask(engine, "printed()")
    assert printed.strip(), (engine.name, status)
    assert "✗" not in printed
    assert not faults(engine)


@LONG
def test_the_readme_names_a_version_that_was_tried(engine: Engine) -> None:
    words = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    tried = re.search(rf"{engine.name} (\d+(?:\.\d+)*)", words)
    assert tried, f"this is {engine.name} {engine.version}"
    said, now = ([*map(int, text.split("."))] for text in (tried[1], engine.version))
    assert said <= now, f"this is {engine.name} {engine.version}"


FRAME = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title>
<style>{style}</style></head><body><main class="bd-article">{body}</main></body></html>"""
CASES = (
    "<math display='block'><mtable><mtr><mtd{}><mi>a</mi></mtd>"
    "<mtd><mo>=</mo><mi>b</mi></mtd></mtr></mtable></math>"
)
FORMULA = "<math><mi>f</mi><mo>(</mo><mi>x</mi><mo>)</mo></math>"
PARAGRAPH = f"<p>The value <span class='math'>{FORMULA}</span>.</p>"


@LONG
class TestTheChecks:
    """A bad page is noticed."""

    @pytest.fixture
    def open_page(self, tmp_path: Path) -> Iterator[Callable[..., str]]:
        with serving(tmp_path, kind=Listened) as base:

            def write(body: str, style: str = "") -> str:
                page = FRAME.format(style=style, body=body)
                (tmp_path / "page.html").write_text(page, encoding="utf-8")
                return f"{base}/page.html"

            yield write

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            (CASES.format(""), ""),
            (CASES.format("><mspace width='1em' /"), ""),
            (CASES.format(" style='text-indent: 0'><mrow style='margin-left: -40px'"), "leaves"),
            ("<p style='width: 2000px'>wide</p>", " wide"),
            ("<math><msub><mi>x</mi></msub></math>", "msub has 1 part"),
            ("<math><munderover><mi>x</mi><mi>y</mi></munderover></math>", "has 2 parts"),
            ("<script>nothing.at.all</script>", "nothing"),
            ("<script>console.error('no')</script>", "no"),
            ("<img src='none.png' alt=''>", "not loaded"),
            ("<script src='none.js'></script>", "not loaded"),
        ],
    )
    def test_what_is_wrong_is_noticed(
        self, engine: Engine, open_page: Callable[..., str], body: str, fault: str
    ) -> None:
        found = seen(engine, open_page(body), PHONE)
        assert any(fault in one for one in found) if fault else not found

    def test_ink_elsewhere_is_noticed(self, engine: Engine, open_page: Callable[..., str]) -> None:
        assert not seen(engine, open_page(PARAGRAPH), PHONE)
        assert not displaced(engine)
        moved = ".bd-article p mo { position: relative; left: -0.4em }"
        assert not seen(engine, open_page(PARAGRAPH, moved), PHONE)
        assert displaced(engine)

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            ("<label>Width <input type='range'></label>", ""),
            ("<p>Width <input type='range'></p>", "slider without"),
            ("<button></button>", "button without"),
            ("<form aria-label='A'></form>" * 2, "twice"),
        ],
    )
    def test_a_missing_name_is_noticed(
        self, engine: Engine, open_page: Callable[..., str], body: str, fault: str
    ) -> None:
        seen(engine, open_page(body), DESK)
        found = unnamed(engine)
        assert any(fault in one for one in found) if fault else not found
