"""Bring interactive figures to life on pages that have no kernel.

The notebook's output holds a figure's markup and its state. Here each page that holds figures gets
their modules, once each and inline, because a page opened from a disk may not load a module.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from _ext.rebuild import rebuild_when_changed
from attnbook.figures._base import HERE, own_source, shared_source, style_source

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FIGURE = re.compile(r'<div class="live-figure" data-figure="(\w+)"')
# Stands in for the model that a live notebook would provide.
STILL = """
const still = (state, listeners = {}) => ({
  get: (name) => state[name],
  set(name, value) {
    if (state[name] === value) return;
    state[name] = value;
    (listeners[`change:${name}`] ?? []).forEach((listener) => listener());
  },
  on: (event, listener) => (listeners[event] ??= []).push(listener),
  off() {},
  save_changes() {},
});
"""
START = """
document.querySelectorAll('[data-figure="%s"]').forEach((el) =>
  figure.render({ model: still(JSON.parse(el.dataset.state)), el }));
"""


def page_script(names: list[str]) -> str:
    """Return a module that starts every figure of some kinds on the page, each in a scope alone."""
    parts = (
        f"{{\n{own_source(name).replace('export default', 'const figure =')}{START % name}}}"
        for name in names
    )
    return "\n".join(['<script type="module">', shared_source(), STILL, *parts, "</script>"])


def add_modules(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Put what the figures of a page need behind its text."""
    body = context.get("body") or ""
    names = sorted(set(FIGURE.findall(body)))
    if names:
        context["body"] = f"<style>\n{style_source(*names)}</style>\n{body}\n{page_script(names)}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    drawings = [path for path in HERE.iterdir() if path.suffix in {".js", ".css", ".json"}]
    rebuild_when_changed(app, "html", __file__, *drawings)
    app.connect("html-page-context", add_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
