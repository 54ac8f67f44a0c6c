"""What forms have in common: how each state looks, and that a notebook has them too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from attnbook.drawing.base import LiveFigure, own_source, shared_source, style_source
from tests.ext.test_browser import DESK, PHONE, SMALL_PHONE, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

ALONE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T</title>
<style>{style}</style></head><body><div></div><script type="module">{shared}
{own}
const listeners = {{}};
globalThis.state = {state};
figure.render({{ el: document.querySelector("div"), model: {{
  get: (name) => state[name],
  set(name, value) {{
    state[name] = value;
    (listeners[`change:${{name}}`] ?? []).forEach((listener) => listener());
  }},
  on: (event, listener) => (listeners[event] ??= []).push(listener),
  off() {{}}, save_changes() {{}} }} }});</script></body></html>"""


def in_a_notebook(figure: LiveFigure, folder: Path) -> Path:
    """Write a page that has a figure and its state as a live notebook has them, alone."""
    page = ALONE.format(
        style=style_source(figure.module),
        shared=shared_source(),
        own=own_source(figure.module).replace("export default", "const figure ="),
        state=json.dumps(figure.values() | {"still": figure.still}).replace("<", r"\u003c"),
    )
    (folder / "lab.html").write_text(page, encoding="utf-8")
    return folder / "lab.html"


def look_for_faults(page: Page, state: str) -> None:
    """Look for severe violations on a phone and a desk, on a small phone for what is too wide."""
    for width in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page) == [], state
    page.set_viewport_size({"width": SMALL_PHONE, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE, state
