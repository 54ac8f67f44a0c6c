"""Interactive figures in JupyterLab: browser and kernel share their state, both ways."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat import v4

from attnbook import figures
from attnbook.drawing.base import LiveFigure
from tests.book.notebooks import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# What a chapter hands to a table or a question, as source.
GIVEN = {
    "Ask": '"spread"',
    "Choice": '["one", "two"], "two", "It is."',
    "Estimate": '2.0, 0.5, "It is."',
    "ModelsField": "json.loads(Path('census.json').read_text('utf-8'))['families']",
    "ModelsTable": "json.loads(Path('models.json').read_text('utf-8'))['models']",
    "Sketch": "range(5), [0, 0.5, 1, 0.5, 0], 'It is.', 'x', 'y'",
}
MADE = [f"figures.{name}({GIVEN.get(name, '')})" for name in sorted(figures.__all__)]
SHOW = f"""import json
from pathlib import Path
from attnbook import figures
from attnbook.drawing.base import LiveFigure
shown = [{", ".join(MADE)}]
display(*shown)"""
TELL = "print(json.dumps([[figure.values(), figure.words()] for figure in shown]))"
# The first control that has somewhere to go, and where it goes.
MOVE = """(root) => {
  const question = root.querySelector("form:is(.prediction, .ask)");
  const input = root.querySelector("form input[type=range], form select, form input");
  if (input.type === "range") {
    input.value = Number(input.value) < Number(input.max) ? input.max : input.min;
  } else if (input.type === "checkbox" || input.type === "radio") {
    input.checked = !input.checked;
  } else if (input.tagName === "SELECT") {
    input.selectedIndex = input.selectedIndex ? 0 : 1;
  } else {
    input.value = "2";
  }
  input.dispatchEvent(new Event("input", { bubbles: true }));
  question?.querySelector("button").click();
}"""
WORDS = """() => [...document.querySelectorAll(".live-figure")].map((root) =>
  [...root.querySelectorAll(".figure-words, .said")].map((words) => words.innerText)
    .filter(Boolean).join(" "))"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def jupyter_lab(folder: Path, home: Path) -> Iterator[str]:
    """Run JupyterLab on a folder with nobody's settings; give its address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))
    }
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
                *("--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"),
                "--LabApp.news_url=None",
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            ],
            env=environment | {name: str(home) for name in homes} | {"PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(server, f"{address}/api/status", home / "log")
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Ask until the server answers; fail with what it said if it has stopped."""
    for _ in range(240):
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(address):  # noqa: S310
            return
        time.sleep(0.25)
    pytest.fail(f"JupyterLab does not answer:\n{log.read_text(encoding='utf-8')[-3000:]}")


@pytest.fixture
def lab(tmp_path: Path, browser: Browser) -> Iterator[Page]:
    """Open a notebook that shows every figure in JupyterLab and run its cells."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    content = v4.new_notebook(cells=[v4.new_code_cell(source) for source in (SHOW, TELL)])
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(content, folder / "figures.ipynb")
    for name in ("census.json", "models.json"):
        shutil.copy(ROOT / "data" / name, folder)
    with jupyter_lab(folder, home) as address:
        context = browser.new_context(viewport={"width": 1200, "height": 1000})
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(60_000)
        page.goto(f"{address}/lab/tree/figures.ipynb")
        page.get_by_text("| Idle").wait_for()  # before that, a cell that is run stays silent
        run_cell(page, 0)
        page.locator(".live-figure").nth(len(MADE) - 1).wait_for()
        yield page
        context.close()
    assert not errors, "\n".join(errors)


def run_cell(page: Page, place: int, source: str | None = None) -> str:
    """Run a code cell, with other source if some is given, and return what it prints."""
    cell = page.locator(".jp-CodeCell").nth(place)
    cell.locator(".cm-content").click()
    if source is not None:
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(source)
    before = cell.locator(".jp-InputPrompt").inner_text()
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "([place, before]) => { const prompt = document.querySelectorAll('.jp-CodeCell')[place]"
        ".querySelector('.jp-InputPrompt').innerText;"
        " return /\\d/.test(prompt) && prompt !== before; }",
        arg=[place, before],
    )
    return cell.locator(".jp-OutputArea-output").first.inner_text() if place else ""


def told(page: Page, place: int = 1) -> list[Any]:
    return json.loads(run_cell(page, place))


def made() -> list[LiveFigure]:
    """Make the figures that the notebook shows."""
    folder = ROOT / "data"
    known = {"figures": figures, "json": json, "Path": folder.joinpath}
    return [eval(source, known) for source in MADE]  # noqa: S307


@pytest.mark.proof("jupyterlab")
def test_every_figure_moves_with_its_state_in_the_kernel_and_the_other_way_round(lab: Page) -> None:
    roots, here = lab.locator(".live-figure"), made()
    assert roots.count() == len(MADE)
    first = [figure.values() for figure in here]
    first_words = [figure.words() for figure in here]
    assert lab.evaluate(WORDS) == first_words
    for root in roots.all():
        root.evaluate(MOVE)
    moved = told(lab)
    for figure, (state, said) in zip(here, moved, strict=True):
        assert state != figure.values(), f"{type(figure).__name__} did not move in the kernel"
        for name, value in state.items():
            setattr(figure, name, value)
        assert said == figure.words()
    assert lab.evaluate(WORDS) == [said for _, said in moved]
    run_cell(
        lab,
        1,
        f"for figure, state in zip(shown, json.loads({json.dumps(first)!r})):\n"
        "    for name, value in state.items():\n        setattr(figure, name, value)\n"
        "print('back')",
    )
    lab.wait_for_function(
        f"(wanted) => JSON.stringify(({WORDS})()) === JSON.stringify(wanted)", arg=first_words
    )
