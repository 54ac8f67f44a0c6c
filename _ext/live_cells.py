"""Let readers run Python on the page: marked cells, and exercises that take code.

``make live``, a part of ``make book``, packs a Python into ``.live``. Where it is, a page gets a
button at each cell tagged ``edit`` and at each exercise that asks for code. Nothing is loaded
before a reader presses one. Then come the editor, the code of the page and Python itself, from the
site's own folder.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx_exercise.nodes import is_exercise_enumerable_node

from _ext.exercises import places
from _ext.rebuild import rebuild_when_changed
from attnbook.exercises._exercise import describe_parts, exercises
from book import stubs
from book.files import atomic_write
from book.live_python import PACKED, own_files
from book.model import Page, book_in
from book.stubs import stub, with_imports

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.writers.html5 import HTML5Translator

FOLDER = "_python"
TAG = "tag_edit"
BUTTON = (
    '<div class="edit-run pst-js-only d-print-none">'
    '<button type="button" data-edit="{edit}">{words}</button> '
    "<small>loads Python once, {size}&nbsp;MB</small></div>"
)
IMPORTS = "import math\n\nimport numpy as np\n\nfrom attnbook.exercises import check"
"""What an answer to an exercise may use beside what the exercise gives."""
LOADER = """
const load = (name) => new Promise((fulfill, reject) => {
  const script = document.createElement("script");
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  script.src = new URL(`_python/${name}.js`, root);
  script.onload = () => fulfill(script);
  script.onerror = reject;
  document.head.append(script);
});
let parts;
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-edit]");
  if (!button) return;
  const note = button.nextElementSibling;
  if (location.protocol === "file:") {
    note.textContent = "Browsers run no Python on a page from a disk: take the notebook instead.";
    return;
  }
  try {
    const [{ edit }, { page }] = await (parts ??= Promise.all([load("editor"), load("cells/%s")]));
    edit(button, page);
  } catch {
    parts = undefined;
    note.textContent = "The editor could not be loaded. Try again when you are online.";
  }
});
"""


class EditButton(nodes.General, nodes.Element):
    """A button that opens an editor, on a site that has a Python."""


def visit(translator: HTML5Translator, node: EditButton) -> None:
    """Write the button, or nothing."""
    size = translator.config["live_size"]
    if size:
        translator.body.append(BUTTON.format(**node.attributes, size=size))
    raise nodes.SkipNode


def find_python(_app: Sphinx, config: Config) -> None:
    """Say how much a page would load, in megabytes; pages are written anew when that changes."""
    told = PACKED / "megabytes"
    config["live_size"] = int(told.read_text(encoding="utf-8")) if told.exists() else 0


def coded(name: str) -> bool:
    """Say whether an exercise asks for code."""
    return name in exercises() and "in Python" in places(name, [])


def add_buttons(_app: Sphinx, document: nodes.document) -> None:
    """Put a button below each cell that is marked, and at the end of exercises that take code."""
    for cell in document.findall(nodes.container):
        # what comes out of a prediction is in a cell of its own
        if TAG in cell["classes"] and "cell_input" in cell[0].get("classes", []):
            button = EditButton(edit=f"cell:{cell['cell_index']}", words="Edit and run")
            cell.insert(1, button)
    for box in document.findall(is_exercise_enumerable_node):
        name = box.get("label", "").removeprefix("ex-")
        content = next(iter(box.findall(nodes.section)), None)
        if content is not None and coded(name):
            content += EditButton(edit=f"exercise:{name}", words="Write the code here")


def add_loader(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Let the buttons of a page load what they need."""
    if " data-edit=" in (context.get("body") or ""):
        script = LOADER % page.rpartition("/")[2]
        context["body"] += f"<script>{{{script}}}</script>"


def code_of(page: Page) -> dict[str, Any]:
    """Return what the editor needs of a page: its cells by place, and its exercises by name."""
    cells = [
        [place, cell.source]
        for place, cell in enumerate(page.notebook.cells)
        if cell.cell_type == "code"
    ]
    asked = {
        one.name: {
            "above": [IMPORTS, *(with_imports(given, page.notebook) for given in one.given)],
            "code": stub(one.answer, describe_parts(one.name)),
        }
        for one in page.exercises
        if coded(one.name)
    }
    return {"cells": cells, "exercises": asked}


def bring_python(app: Sphinx, error: Exception | None) -> None:
    """Put Python and the code of the pages on the site."""
    folder = Path(app.outdir) / FOLDER
    if error is not None or app.builder.format != "html" or not app.config["live_size"]:
        return
    folder.mkdir(exist_ok=True)
    for path in (*PACKED.glob("*.zip"), *PACKED.glob("*.wasm")):
        shutil.copy2(path, folder)
    for name, content in own_files().items():
        atomic_write(folder / name, content)
    for page in book_in(Path(app.srcdir)).notebooks:
        script = folder / "cells" / f"{page.stem}.js"
        if is_older(script, app.env.all_docs.get(page.name, 0)):
            said = f"document.currentScript.page = {json.dumps(code_of(page))};\n"
            atomic_write(script, said)


def is_older(path: Path, read: int) -> bool:
    """Say whether a page was read after a file was written, if it was read: in microseconds.

    A page is read anew when its cells or the exercises have changed.
    """
    return bool(read) and (not path.exists() or path.stat().st_mtime_ns // 1000 <= read)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_node(EditButton, html=(visit, None))
    app.add_config_value("live_size", 0, "html")
    rebuild_when_changed(app, "env", __file__, stubs.__file__)
    app.connect("config-inited", find_python)
    app.connect("doctree-read", add_buttons)
    app.connect("html-page-context", add_loader)
    app.connect("build-finished", bring_python)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
