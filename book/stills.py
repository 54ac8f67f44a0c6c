"""What a reader's notebook shows of its figures before it runs: still pictures with their words.

JupyterLab takes styles and scripts out of outputs that it has not computed itself, and leaves an
image whose content is in its address. So a figure that moves becomes such a drawing: its own
markup and style, in the state in which it starts. A plot is what the last ``make book`` has drawn.
If there is none for the present code, the alternative text says what the plot shows.
"""

from __future__ import annotations

import base64
import copy
import html
import importlib.util
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode, v4

from attnbook.drawing.base import style_source
from book.model import figure_of, tags

if TYPE_CHECKING:
    from book.model import Page

ANSWER = "Run this cell to answer."
AFTER = "Answer the question above, then run this cell to see the figure."
DRAW = "Run this cell to draw the plot."
MOVES = "A still picture: run the cell and it moves."
FIGURE = re.compile(
    r'<div class="live-figure" data-figure="(\w+)"([^>]*)>(.*)</div>\s*$', re.DOTALL
)
CONTROLS = re.compile(r'<form class="figure-controls">.*?</form>', re.DOTALL)
WORDS = re.compile(r'<p class="figure-words"[^>]*>(.*)</p>', re.DOTALL)
LATE = re.compile(r' data-late="[^"]*"')
VIEW = re.compile(r"&quot;view&quot;: &quot;(\w+)&quot;")
VOID = re.compile(r"<(input|br|hr|img|wbr|col)\b([^>]*?)\s*/?>")
BARE = re.compile(
    r'(<[a-z]\w*(?:\s+[\w:-]+(?:="[^"]*")?)*?\s+)(checked|disabled|hidden|open|selected)(?=[\s/>])'
)
SVG = "http://www.w3.org/2000/svg"
WIDTH = 704
HEIGHTS = {
    "drag_scores": 376,
    "freezing_map": 584,
    "head": 592,
    "head exponential": 640,
    "head gradient": 808,
    "head sum": 688,
    "heads_field": 480,
    "jacobian": 456,
    "models_field": 616,
    "models_table": 640,  # the first rows
    "online_softmax": 616,
    "spread": 528,
    "subtract_or_divide": 472,
    "trained_head": 608,
    "training_player": 352,
}
"""How high each figure is without its controls, in pixels, at that width; some by their view."""


def sentence_output(sentence: str, more: str = "") -> NotebookNode:
    """Return an output of a sentence, and of what is shown in words."""
    words = f" {html.escape(more)}" if more else ""
    return output(f"<p><em>{sentence}</em>{words}</p>", f"{sentence} {more}".strip())


def output(markup: str, words: str) -> NotebookNode:
    """Return an output, and what shows where there is no HTML."""
    return v4.new_output("display_data", {"text/html": markup, "text/plain": words})


def image(kind: str, content: bytes, words: str, width: int) -> str:
    """Return an image that holds its content."""
    data = base64.b64encode(content).decode("ascii")
    alternative = html.escape(words)
    return f'<img alt="{alternative}" width="{width}" src="data:image/{kind};base64,{data}">'


def well_formed(markup: str) -> str:
    """Return HTML as a drawing can hold it.

    Examples
    --------
    >>> well_formed('<input name="a" checked><br>&nbsp;')
    '<input name="a" checked=""/><br/>&#160;'
    """
    markup = VOID.sub(r"<\1\2/>", markup)
    while (closed := BARE.sub(r'\1\2=""', markup)) != markup:
        markup = closed
    return markup.replace("&nbsp;", "&#160;").replace("<svg", f'<svg xmlns="{SVG}"')


def drawing(kind: str, view: str, markup: str) -> str:
    """Return a figure that moves as a drawing that needs nothing else."""
    height = HEIGHTS.get(f"{kind} {view}", HEIGHTS[kind])
    style = style_source(kind).replace("&", "&amp;").replace("<", "&lt;")
    ground = "background:#fff;font:16px/1.5 system-ui,sans-serif;min-height:100%"
    return (
        f'<svg xmlns="{SVG}" width="{WIDTH}" height="{height}">'
        '<foreignObject width="100%" height="100%">'
        f'<div xmlns="http://www.w3.org/1999/xhtml" style="{ground}"><style>{style}'
        ".live-figure{margin:0;border:0;padding:8px 16px}</style>"
        f'<div class="live-figure" data-figure="{kind}">{well_formed(markup)}</div>'
        "</div></foreignObject></svg>"
    )


def still(cell: NotebookNode) -> NotebookNode | None:
    """Return the still picture of the figure that moves in a cell, if it shows one."""
    shown = (each.get("data", {}).get("text/html", "") for each in cell.outputs)
    found = next(filter(None, map(FIGURE.search, shown)), None)
    if found is None:
        return None
    kind, view = found[1], VIEW.search(found[2])
    markup = LATE.sub("", CONTROLS.sub("", found[3]))
    sentence = WORDS.search(markup)
    words = html.unescape(re.sub(r"<[^>]*>", "", sentence[1])).strip() if sentence else ""
    picture = image(
        "svg+xml", drawing(kind, view[1] if view else "", markup).encode(), words or kind, WIDTH
    )
    return output(f"{picture}<p><em>{MOVES}</em></p>", f"{words} {MOVES}".strip())


def outputs(cell: NotebookNode, result: bool) -> list[NotebookNode]:
    """Return what a cell shows before it runs; the result of a prediction stays untold."""
    figure = figure_of(cell)
    if tags(cell) & {"predict", "ask"}:
        return [sentence_output(ANSWER)]
    shown = still(cell)
    if result and (figure or shown):
        return [sentence_output(AFTER)]
    if figure and not shown:
        return [sentence_output(DRAW, figure.alternative)]
    return [shown] if shown else []


def drawn_plots(page: Page, digest: str, root: Path) -> dict[str, str]:
    """Return the plots that the last build drew for a page, in base64, by their cells.

    The digest is that of what the page depends on today.
    """
    path = root / "_build" / ".jupyter_cache"
    if not path.is_dir() or importlib.util.find_spec("jupyter_cache") is None:
        return {}
    from jupyter_cache import get_cache

    cache = get_cache(path)
    try:
        made = cache.match_cache_notebook(page.notebook).data
        _, ran = cache.merge_match_into_notebook(copy.deepcopy(page.notebook))
    except KeyError:  # the notebook has changed since
        return {}
    if made.get("digest") != digest:
        return {}
    return {
        cell.id: each.data["image/png"]
        for cell in ran.cells
        for each in cell.get("outputs", ())
        if "image/png" in each.get("data", {})
    }


def illustrate(made: NotebookNode, pictures: Mapping[str, str]) -> None:
    """Put plots into a reader's notebook, in place, where a sentence waits for them."""
    for cell in made.cells:
        for each in cell.get("outputs", ()):
            words = each.data["text/plain"]
            if cell.id in pictures and words.startswith(DRAW):
                content = base64.b64decode(pictures[cell.id])
                (width,) = struct.unpack(">I", content[16:20])  # of a PNG, twice as sharp
                words = words.removeprefix(DRAW).strip()
                cell.outputs = [output(image("png", content, words, width // 2), words)]
