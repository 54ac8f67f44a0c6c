"""Readers run Python on the page: cells print what the notebook prints, exercises are judged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import cell_dependencies
import cells
import pytest

from _ext.exercises import without_marks
from _ext.live_cells import code_of, coded, is_older
from book.model import tags
from tests.book.notebooks import BOOK, ROOT
from tests.ext import pages
from tests.ext.serving import serving
from tests.ext.test_browser import DESK, PHONE, Visit, violations, visit

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from playwright.sync_api import Browser, Locator, Page

SECONDS = 60_000
EDITED = {
    page.name: places
    for page in BOOK.notebooks
    if (places := [i for i, cell in enumerate(page.notebook.cells) if "edit" in tags(cell)])
}
FIRST = "chapters/01_puzzle.html"
SHORT = "chapters/critical_scale"
"""A page with little for axe-core to go through."""
CASES = ROOT / "tests" / "attnbook"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address


@contextmanager
def opened(browser: Browser, address: str, page: str = FIRST) -> Iterator[Visit]:
    """Open a page that has to do with nothing but its own site, and without an error."""
    with visit(browser, f"{address}/{page}") as seen:
        yield seen
        assert not seen.foreign
        assert not seen.errors


@pytest.fixture(scope="module")
def running(browser: Browser, address: str) -> Iterator[Visit]:
    """Open a page where Python goes on running, since a browser takes seconds to compile it."""
    with opened(browser, address) as seen:
        status = editor(seen, "cell:3").get_by_role("status")
        status.get_by_text("Python is ready.").wait_for(timeout=SECONDS)
        yield seen


@pytest.fixture
def seen(running: Visit) -> Iterator[Visit]:
    """Return that page with all of its editors closed."""
    running.page.set_viewport_size({"width": DESK, "height": 900})
    running.page.context.set_offline(False)
    for reset in reversed(running.page.get_by_role("button", name="Reset").all()):
        reset.click()
    assert running.page.locator(".live-editor").count() == 0
    yield running
    assert not running.foreign
    assert not running.errors


def editor(seen: Visit, edit: str) -> Locator:
    """Open the editor of a cell or an exercise, as a reader does."""
    button = seen.page.locator(f'button[data-edit="{edit}"]')
    place = button.locator("xpath=../..")
    button.click()
    return place.locator(".live-editor")


def run(where: Locator, code: str | None = None) -> str:
    """Run what is in an editor, or other code, and return what comes out."""
    if code is not None:
        where.locator("textarea").fill(code)
    where.get_by_role("button", name="Run").click()
    where.get_by_role("button", name="Run").wait_for(timeout=SECONDS)
    return where.locator(".live-said").text_content()


def wait_for(seen: Visit, condition: Callable[[Page], bool]) -> None:
    """Wait until something is true of a page, or fail after a while."""
    for _ in range(200):
        if condition(seen.page):
            return
        seen.page.wait_for_timeout(50)
    raise AssertionError("it did not come true")


def printed(cell: NotebookNode) -> str:
    """Return what the notebook of the book has below a cell."""
    return "".join(output["text"] for output in cell.outputs)


def run_cells(seen: Visit, name: str) -> None:
    """Run each cell of a page that a reader may, and compare with the notebook."""
    notebook = BOOK.page(name.rpartition("/")[2]).notebook
    for place in reversed(EDITED[name]):  # none needs that another has run
        said = run(editor(seen, f"cell:{place}"))
        assert said == printed(notebook.cells[place])


def test_a_cell_prints_on_the_page_what_the_notebook_prints(seen: Visit) -> None:
    run_cells(seen, FIRST.removesuffix(".html"))


@pytest.mark.proof("pages")
@pytest.mark.parametrize("name", sorted({*EDITED} - {FIRST.removesuffix(".html"), SHORT}))
def test_a_cell_prints_on_another_page_what_the_notebook_prints(
    browser: Browser, address: str, name: str
) -> None:
    with opened(browser, address, f"{name}.html") as seen:
        run_cells(seen, name)


@pytest.mark.proof("pages")
def test_an_open_editor_has_no_barriers(browser: Browser, address: str) -> None:
    with opened(browser, address, f"{SHORT}.html") as seen:
        run_cells(seen, SHORT)
        assert run(seen.page.locator(".live-editor").first, "1 / 0").startswith("✗")
        for scheme in ("light", "dark"):
            seen.page.emulate_media(color_scheme=scheme)
            assert violations(seen.page) == []


def test_cells_above_run_as_the_reader_has_left_them(seen: Visit) -> None:
    above, below = 13, 18
    first, second = editor(seen, f"cell:{above}"), editor(seen, f"cell:{below}")
    first.locator("textarea").fill("mine = 2.5")
    assert run(second, "print(2 * mine)") == "5.0\n"
    seen.page.context.set_offline(True)
    assert run(second, "mine = mine + 1\nmine") == "3.5\n"
    assert run(second, "print(mine)") == "2.5\n", "a run leaves nothing behind"
    first.get_by_role("button", name="Reset").click()
    assert "NameError: name 'mine' is not defined (line 1)" in run(second)
    first = editor(seen, f"cell:{above}")
    first.locator("textarea").fill("mine = 1 / 0")
    assert "division by zero (in a cell above)" in run(second)


WRONG = [
    ("a = 1\nprint(a)\na / 0", "1\n✗ ZeroDivisionError: division by zero (line 3)\n", 3),
    ("for x in 1:\nprint(x)", "✗ IndentationError: expected an indented block", 2),
    ("import matplotlib.pyplot", "✗ ModuleNotFoundError: No module named 'matplotlib'", 1),
    ("raise SystemExit", "✗ SystemExit (line 1)\n", 1),
    ("input()", "✗ EOFError", 1),
]
"""Code, what is said of it, and in which line it is wrong."""


def test_what_is_wrong_is_said_with_its_line(seen: Visit) -> None:
    where = editor(seen, "cell:3")
    for code, said, line in WRONG:
        assert run(where, code).startswith(said)
        assert where.locator(".wrong").text_content() == f"▸{line}\n"
        assert where.get_by_role("status").text_content() == "Python stopped at an error."
        assert run(where, "print(1)") == "1\n"
        assert where.locator(".wrong").count() == 0


@pytest.mark.proof("pages")
def test_an_endless_loop_is_stopped_by_the_reader_or_the_clock(
    browser: Browser, address: str
) -> None:
    with opened(browser, address) as seen:
        where = editor(seen, "cell:3")
        status = where.get_by_role("status")
        status.get_by_text("Python is ready.").wait_for(timeout=SECONDS)
        for words, stop in (
            ("Stopped.", lambda: where.get_by_role("button", name="Stop").click()),
            ("Stopped after 30 seconds.", lambda: seen.page.clock.fast_forward(31_000)),
        ):
            seen.page.clock.install()
            where.locator("textarea").fill("while True:\n    pass")
            where.get_by_role("button", name="Run").click()
            status.get_by_text("Running").wait_for(timeout=SECONDS)
            assert len(seen.page.workers) == 1
            stop()
            status.get_by_text(words).wait_for()
            wait_for(seen, lambda page: not page.workers)
        assert run(where, "print('again')") == "again\n"


def test_ten_presses_leave_one_worker(seen: Visit) -> None:
    for _ in range(10):
        where = editor(seen, "cell:3")
        where.get_by_role("button", name="Reset").click()
        assert seen.page.locator(".live-editor").count() == 0
    assert run(editor(seen, "cell:3"), "print(1)") == "1\n"
    assert len(seen.page.workers) == 1
    loaded = [url for url in seen.asked if "/_python/" in url]
    assert loaded
    assert len(loaded) == len(set(loaded))


def test_a_phone_and_a_keyboard_are_enough(seen: Visit) -> None:
    seen.page.set_viewport_size({"width": PHONE, "height": 900})
    button = seen.page.locator('button[data-edit="cell:3"]')
    button.focus()
    seen.page.keyboard.press("Enter")
    area = seen.page.get_by_role("textbox", name="Code of this cell")
    area.wait_for()
    assert area.evaluate("area => area === document.activeElement")
    seen.page.keyboard.press("ControlOrMeta+a")
    seen.page.keyboard.type("for i in range(2):\nprint(i)\n")
    assert area.input_value() == "for i in range(2):\n    print(i)\n    "
    seen.page.keyboard.press("ControlOrMeta+Enter")
    seen.page.locator(".live-said", has_text="0\n1\n").wait_for(timeout=SECONDS)
    wide = "() => document.documentElement.scrollWidth"
    assert seen.page.evaluate(wide) == PHONE
    assert (
        seen.page.locator(".live-row")
        .get_by_role("button", name="Run")
        .evaluate("button => button === document.activeElement && button.offsetHeight >= 44")
    )
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")  # reset
    assert button.evaluate("button => button === document.activeElement")


def test_an_exercise_is_solved_wrongly_and_rightly(seen: Visit) -> None:
    (exercise,) = [one for one in BOOK.page("01_puzzle").exercises if one.name == "divide-later"]
    right = without_marks(exercise.answer)
    list_ = seen.page.locator("#ex-divide-later .my-progress select")
    where = editor(seen, "exercise:divide-later")
    area = where.locator("textarea")
    assert area.evaluate("area => [area.scrollLeft, area.selectionEnd]") == [0, 0]
    assert run(where).count("Not answered yet") == 4
    assert list_.input_value() == "tried"
    wrong = run(where, right.replace("return ", "return 2 * "))
    assert wrong.startswith("✗ divide-later")
    assert "✗ divide_later: " in wrong
    assert run(where, right).startswith("✓ divide-later")
    assert list_.input_value() == "solved"
    where.get_by_role("button", name="Reset").click()
    button = seen.page.locator('button[data-edit="exercise:divide-later"]')
    assert button.evaluate("button => button === document.activeElement")


def all_verdicts(chapter: str) -> str:
    """Return code that prints what is said to every right and wrong answer of a chapter."""
    classes = (CASES / "cases.py").read_text(encoding="utf-8").partition("def all_cases")[0]
    answers = (CASES / chapter / "cases.py").read_text(encoding="utf-8")
    imports = re.compile(r"^from (tests|__future__|importlib).*\n", re.MULTILINE)
    kept = [imports.sub("", part) for part in (classes, answers)]
    return "\n".join(
        [
            *kept,
            "from attnbook.exercises import check",
            "for case in [one for one in list(globals().values()) if isinstance(one, Cases)]:",
            "    for part, answers in case.parts.items():",
            "        for answer in [*answers.right, *(wrong for wrong, _ in answers.wrong)]:",
            "            verdict = check(case.name, **(case.answers() | {part: answer}))",
            "            print(case.name, part, verdict.passed, verdict.parts[part].message)",
        ]
    )


@pytest.mark.proof("pages")
def test_every_answer_gets_the_same_words_on_the_page(seen: Visit) -> None:
    # inputs are told in all digits, and the last differs where another library takes logarithms
    in_full = re.compile(r"\d+\.\d{10,}")
    where = editor(seen, "cell:3")
    for chapter in ("divisor", "initialization"):
        code = all_verdicts(chapter)
        native = json.loads(cells.run(code))
        assert native["error"] is None
        assert native["output"].count("\n") > 30
        assert {True, False} == {" True " in line for line in native["output"].splitlines()}
        said, wanted = (
            in_full.sub(lambda number: f"{float(number[0]):.12g}", text)
            for text in (run(where, code), native["output"])
        )
        assert said == wanted


def test_what_pages_load_has_the_tables_that_chapters_read(site: Path) -> None:
    with zipfile.ZipFile(site / "_python" / "book.zip") as packed:
        held = {name for name in packed.namelist() if name.startswith("attnbook/_data/")}
    tables = (ROOT / "data").glob("*.json")
    assert held == {f"attnbook/_data/{path.name}" for path in tables}


EVENTS = """import warnings
import numpy as np
with warnings.catch_warnings(record=True) as seen, np.errstate(all="raise"):
    warnings.simplefilter("always")
    print(np.exp(np.array([1000.0, -1000.0])), np.array([1.0]) / 0)
print(len(seen))
"""


def test_numpy_tells_nothing_of_floating_point_events_on_the_page(
    browser: Browser, address: str
) -> None:
    """As *Run it yourself* says, and test_page_arithmetic.py has it that nothing rests on them."""
    assert "overflow" in json.loads(cells.run(EVENTS))["error"]["text"]
    with opened(browser, address) as seen:
        assert run(editor(seen, "cell:3"), EVENTS) == "[inf  0.] [inf]\n0\n"
    text = (ROOT / "chapters" / "run.md").read_text(encoding="utf-8")
    assert "no warning of an overflow" in " ".join(text.split())


def test_every_exercise_with_code_has_its_button(site: Path) -> None:
    for page in BOOK.notebooks:
        wanted = [f"exercise:{one.name}" for one in page.exercises if coded(one.name)]
        wanted += [f"cell:{place}" for place in EDITED.get(page.name, [])]
        tree = pages.parse(site / f"{page.name}.html")
        assert sorted(button["data-edit"] for button in tree.select("[data-edit]")) == sorted(
            wanted
        )


ON_THE_PAGE = """import json, sys
sys.modules |= dict.fromkeys(("scipy", "matplotlib", "traitlets", "joblib", "tqdm", "IPython"))
import cells
said = [[name, cells.run(code, above)] for name, above, code in json.load(sys.stdin)]
print(json.dumps(said))
"""
"""Runs code where only NumPy is."""


def test_what_the_page_gives_is_enough_for_each_exercise() -> None:
    asked = []
    for page in BOOK.notebooks:
        code = code_of(page)["exercises"]
        for one in page.exercises:
            if one.name in code:
                above, stub = code[one.name].values()
                asked.append((one.name, above, stub))
                # the book's own way may take SciPy, and a reader may take another
                if "scipy" not in one.answer:
                    asked.append((one.name, above, without_marks(one.answer)))
    done = subprocess.run(
        [sys.executable, "-c", ON_THE_PAGE],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'live'}"},
    )
    for (name, _, code), (_, told) in zip(asked, json.loads(done.stdout), strict=True):
        wanted = "✗" if "# your answer" in code else "✓"
        assert json.loads(told)["output"].startswith(f"{wanted} {name}\n"), (name, told)


def test_a_page_from_a_disk_says_what_to_do_instead(browser: Browser, site: Path) -> None:
    with visit(browser, site / FIRST) as seen:
        button = seen.page.locator('button[data-edit="cell:3"]')
        button.click()
        note = button.locator("xpath=following-sibling::small")
        assert note.text_content() == (
            "Browsers run no Python on a page from a disk: take the notebook instead."
        )
        assert not seen.errors


@pytest.mark.proof("pages")
def test_what_cannot_be_loaded_is_said_and_may_be_tried_again(
    browser: Browser, address: str
) -> None:
    with visit(browser, f"{address}/{FIRST}") as seen:
        seen.page.route("**/_python/editor.js", lambda route: route.abort())
        button = seen.page.locator('button[data-edit="cell:3"]')
        button.click()
        seen.page.get_by_text("The editor could not be loaded.").wait_for()
        seen.page.unroute("**/_python/editor.js")
        seen.page.route("**/_python/numpy.zip", lambda route: route.abort())
        where = editor(seen, "cell:3")
        assert run(where) == ""
        assert where.get_by_role("status").text_content().startswith("Python could not be loaded")
        seen.page.unroute("**/_python/numpy.zip")
        assert run(where, "print(1)") == "1\n"


def test_nothing_of_it_is_loaded_before_a_press(browser: Browser, address: str) -> None:
    with opened(browser, address) as seen:
        seen.page.mouse.wheel(0, 5000)
        assert not [url for url in seen.asked if "_python" in url]


@pytest.mark.parametrize(
    ("above", "code", "needed"),
    [
        (["import numpy as np, os", "x = 1"], "np.pi", "import numpy as np"),
        (["from math import pi, tau"], "tau", "from math import tau"),
        (["x = 1", "x = 2"], "x", "x = 2"),
        (["x = 1", "x += 1"], "x", "x = 1\nx += 1"),
        (["x = [1]", "x.append(2)", "print(x)"], "x", "x = [1]\nx.append(2)"),
        (["x = {}", "x['a'] = y = 1"], "x", "x = {}\nx['a'] = y = 1"),
        (["b = 2", "def f(a):\n    return a + b", "a = 1"], "f(3)",
         "b = 2\ndef f(a):\n    return a + b"),
        (["rng = g(0)", "a = rng.normal()", "b = draw(rng)"], "rng.normal()",
         "rng = g(0)\na = rng.normal()\nb = draw(rng)"),
        (["rng = g(0)\na = rng.normal()", "rng = g(1)"], "rng.normal()", "rng = g(1)"),
        (["try:\n    import math\nexcept ImportError:\n    math = None", "y = 2"], "math.pi",
         "try:\n    import math\nexcept ImportError:\n    math = None"),
        (["y = [x for x in range(3)]", "def x():\n    pass"], "x",
         "def x():\n    pass"),
        (["x = 1"], "def f(x):\n    return x", ""),
        (["for i in range(3):\n    x = i"], "x", "for i in range(3):\n    x = i"),
    ],
)  # fmt: skip
def test_of_the_cells_above_only_what_is_needed_runs(
    above: list[str], code: str, needed: str
) -> None:
    assert cell_dependencies.needed(above, code) == needed


def test_the_code_of_a_page_is_written_once_it_was_read(tmp_path: Path) -> None:
    script = tmp_path / "page.js"
    assert is_older(script, 1)
    assert not is_older(script, 0)  # the site has no such page
    script.touch()
    written = script.stat().st_mtime_ns // 1000
    assert is_older(script, written + 1)
    assert not is_older(script, written - 1)
