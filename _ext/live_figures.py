"""Bring interactive figures to life on pages that have no kernel.

The notebook's output holds a figure's markup and its state. Here each page that holds figures gets
their modules, once each and inline, because a page opened from a disk may not load a module.

Each form gets a name that no other on its page has: what it is for, and where it is.

Data that a figure has in an attribute `data-late` become a script of the site, which the page loads
when the figure is near the window: a page from a disk may run that, but not fetch.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _ext.rebuild import rebuild_when_changed
from attnbook.drawing import tokens
from attnbook.drawing.base import ROOMS, own_source, shared_source, style_source
from book.files import atomic_write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FIGURE = re.compile(r'<div class="live-figure" data-figure="(\w+)"')
HEADING_OR_FORM = re.compile(
    r"<h[1-6]>(?P<heading>.*?)</h[1-6]>"
    r'|<span class="caption-number">(?P<exercise>Exercise .*?)</span>'
    r'|<form class="(?P<kind>figure-controls|ask|prediction)\b[^>]*>'
    r"<fieldset[^>]*>(?:<legend>(?P<legend>.*?)</legend>)?",
    re.DOTALL,
)
FORMS = {"figure-controls": "Controls", "ask": "Answer", "prediction": "Prediction"}
BESIDE = re.compile(r'<a class="headerlink.*?</a>|<span class="section-number">.*?</span>|<[^>]+>')
LATE = re.compile(r' data-late="([^"]*)"')
# Stands in for the model that a live notebook would provide; figure_links.js hears of it.
STILL = """
const still = (el, state, listeners = {}) => ({
  get: (name) => state[name],
  set(name, value) {
    if (state[name] === value) return;
    state[name] = value;
    (listeners[`change:${name}`] ?? []).forEach((listener) => listener());
  },
  on: (event, listener) => (listeners[event] ??= []).push(listener),
  off() {},
  save_changes: () => el.dispatchEvent(new Event("moved", { bubbles: true })),
});

/** Start a figure, or wait until it is near and its data have come. */
function bringToLife(figure, el) {
  const render = () => {
    el.model = still(el, JSON.parse(el.dataset.state));
    figure.render({ model: el.model, el });
    el.dispatchEvent(new Event("alive"));
  };
  const part = el.querySelector("[data-late-from]");
  if (!part) return render();
  const controls = el.querySelector("fieldset");
  controls.disabled = true;
  const script = document.createElement("script");
  script.src = part.dataset.lateFrom;
  script.onload = script.onerror = () => {
    if (!script.late) {
      const words = el.querySelector(".figure-words");
      return words.append(" The data of this figure could not be loaded, so it stays as it is.");
    }
    part.dataset.late = script.late;
    controls.disabled = false;
    render();
  };
  new IntersectionObserver((seen, observer) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    document.head.append(script);
  }, { rootMargin: "100%" }).observe(el);
}
"""
START = """
document.querySelectorAll('[data-figure="%s"]').forEach((el) => bringToLife(figure, el));
"""


def name_forms(body: str) -> str:
    """Return a page's text with names for its forms, and for the groups of fields in them.

    Examples
    --------
    >>> named = name_forms('<h2>Sums</h2><form class="figure-controls"><fieldset role="none">')
    >>> print(named.removeprefix("<h2>Sums</h2>"))
    <form class="figure-controls" aria-label="Controls: Sums"><fieldset role="none">
    """
    place = ""
    count: Counter[str] = Counter()

    def named(found: re.Match[str]) -> str:
        nonlocal place
        if found["kind"] is None:
            heading = BESIDE.sub("", found["heading"] or found["exercise"])
            place = " ".join(heading.split()).replace('"', "&quot;")
            return found[0]
        name = f"{FORMS[found['kind']]}: {place}"
        count[name] += 1
        number = f" ({count[name]})" if count[name] > 1 else ""
        form, fieldset = found[0].split(">", 1)
        if legend := found["legend"]:
            where = f"{legend}: {place}{number}"
            fieldset = fieldset.replace("<fieldset", f'<fieldset aria-label="{where}"', 1)
        return f'{form} aria-label="{name}{number}">{fieldset}'

    return HEADING_OR_FORM.sub(named, body)


def page_script(names: list[str]) -> str:
    """Return a module that starts every figure of some kinds on the page, each in a scope alone."""
    parts = (
        f"{{\n{own_source(name).replace('export default', 'const figure =')}{START % name}}}"
        for name in names
    )
    return "\n".join(['<script type="module">', shared_source(), STILL, *parts, "</script>"])


def without_late(body: str, page: str, site: Path) -> str:
    """Return a page's text without the data that can come late, which go into files of the site."""

    def moved(found: re.Match[str]) -> str:
        script = f"document.currentScript.late = {json.dumps(html.unescape(found[1]))};\n"
        name = f"_static/late-{hashlib.sha256(script.encode()).hexdigest()[:12]}.js"
        atomic_write(site / name, script)
        return f' data-late-from="{"../" * page.count("/")}{name}"'

    return LATE.sub(moved, body)


def add_modules(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Put what the figures of a page need behind its text."""
    body = context["body"] = name_forms(context.get("body") or "")
    names = sorted(set(FIGURE.findall(body)))
    if names:
        body = without_late(body, page, Path(app.outdir))
        context["body"] = f"<style>\n{style_source(*names)}</style>\n{body}\n{page_script(names)}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    drawings = [path for path in ROOMS.rglob("*") if path.suffix in {".js", ".css", ".json"}]
    rebuild_when_changed(app, "html", __file__, tokens.__file__, *drawings)
    app.connect("html-page-context", add_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
