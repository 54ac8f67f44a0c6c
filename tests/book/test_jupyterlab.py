"""A reader opens each notebook in JupyterLab, looks, runs all, predicts, changes and restores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat import NotebookNode

from book.first_cells import FOLDER
from book.reader_session import HELD, ORIGINAL
from tests.book.binder import Home
from tests.book.jupyterlab import Lab, serving
from tests.book.notebooks import BOOK

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("jupyterlab")
STEMS = [page.stem for page in BOOK.notebooks]
STORY = "01_puzzle"
MINE = "component_std = 1 / 4", "component_std = 1 / 2"
ALL_WELL = "Every number that was computed matches the text."


@pytest.fixture(scope="module")
def lab(browser: Browser, home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serving(home, tmp_path_factory.mktemp("jupyterlab")) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield Lab(page, address, home.repository)
        page.close()


def made(lab: Lab, stem: str) -> NotebookNode:
    """Return a notebook as it was written for readers."""
    return nbformat.read(lab.root / FOLDER / ORIGINAL / f"{stem}.ipynb", as_version=4)


def test_every_notebook_is_whole_before_and_after_a_reader_runs_it(lab: Lab) -> None:
    lab.begin()
    problems = {}
    for stem in sorted(STEMS, key=lambda stem: stem != "index"):  # which opens by itself
        if stem != "index":
            lab.open(f"{stem}.ipynb")
        problems[stem] = [*before(lab, stem), *after(lab, stem)]
        if stem == STORY:
            commit(lab)
            change(lab)
            restore(lab)
        problems[stem] += lab.heard
        lab.heard.clear()
        lab.close()
    assert {stem: found for stem, found in problems.items() if found} == {}


def before(lab: Lab, stem: str) -> list[str]:
    """Look at a notebook that has just opened."""
    lab.wait(f"{stem}.ipynb", len(made(lab, stem).cells))
    return [*lab.faults(), *(["unsaved at opening"] if lab.unsaved else [])]


def after(lab: Lab, stem: str) -> list[str]:
    """Run a notebook, and look at what it shows to a reader who has answered nothing."""
    lab.run_all()
    told = lab.ask("notebook.changed()").strip()
    found = [] if told == ALL_WELL else [told]
    if lab.panel.locator("details[open], .prediction fieldset:disabled").count():
        found.append("something is open")
    cells = made(lab, stem).cells
    ids = [cell.id for cell in cells]
    held = made(lab, stem).metadata["held"]
    for result, asked in held.items():
        lab.cell(ids.index(asked)).locator("form.prediction").wait_for()
        shown = lab.cell(ids.index(result)).locator(".jp-OutputArea-output").all_text_contents()
        found += [f"{result} tells {text}" for text in shown if text.strip() != HELD]
    return found + lab.faults()


def commit(lab: Lab) -> None:
    """Commit a prediction, which shows the verdict and what comes out."""
    cells = made(lab, STORY).cells
    places = {cell.id: place for place, cell in enumerate(cells)}
    result, asked = min(made(lab, STORY).metadata["held"].items(), key=lambda two: places[two[0]])
    question, outcome = lab.cell(places[asked]), lab.cell(places[result])
    question.get_by_text("about a half").click()
    assert question.locator(".said").inner_text() == ""
    question.get_by_role("button", name="Commit").click()
    question.get_by_text("You said: about a half. It is: nearly all.").wait_for()
    outcome.locator(".jp-OutputArea-output img").wait_for()
    assert HELD not in outcome.inner_text()


def change(lab: Lab) -> None:
    """Change a number, and read below the cell and when asked what no longer matches."""
    cells = made(lab, STORY).cells
    (place,) = (i for i, cell in enumerate(cells) if cell.source.startswith(MINE[0]))
    lab.write(place, cells[place].source.replace(*MINE))
    lab.page.keyboard.press("Shift+Enter")
    lab.cell(place).get_by_text("your run gives").first.wait_for()
    printed, *said = lab.cell(place).locator("[data-mime-type$=stdout]").inner_text().splitlines()
    gives = re.fullmatch(r"mean largest weight (0\.\d\d)\d .*", printed)[1]
    text = cells[place + 1].source
    assert "The favorite takes 0.14 on average" in text
    assert any(
        f"The text says 0.14, your run gives {gives}: “The favorite" in line for line in said
    )
    asked = lab.ask("notebook.changed()").splitlines()
    assert set(said) <= set(asked)


def restore(lab: Lab) -> None:
    """Bring back the notebook, and load it anew."""
    lab.save()
    path = lab.root / FOLDER / f"{STORY}.ipynb"
    assert MINE[1] in path.read_text(encoding="utf-8")
    assert "is as it was" in lab.ask("notebook.restore()")
    lab.choose("File", "Reload Notebook from Disk")
    lab.accept()
    cells = made(lab, STORY).cells
    lab.page.wait_for_function(
        "count => document.querySelectorAll('.jp-Notebook .jp-Cell').length === count",
        arg=len(cells),
    )
    lab.panel.locator(".cm-content", has_text=MINE[0]).wait_for()
    assert not lab.unsaved
    assert path.read_bytes() == (lab.root / FOLDER / ORIGINAL / path.name).read_bytes()
