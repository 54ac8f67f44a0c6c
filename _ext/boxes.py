"""Make closed boxes of the browser's own: they open without a script, and cost nothing till then.

Sphinx writes a hint, a solution or a deeper part as an admonition of the class "dropdown", which a
script of Jupyter Book closes after the whole of it was laid out. A ``details`` is never laid out
while it is closed, opens for who searches in the page, and needs no script.
"""

from __future__ import annotations

import re

_BOX = re.compile(
    r'<div(?= class="[^"]*\bdropdown\b)(?= class="[^"]*\badmonition\b)(?P<rest>[^>]*)>'
)
_EDGE = re.compile(r"<(?P<end>/?)div\b")
_TITLE = re.compile(r'(\s*)<p (class="admonition-title"[^>]*)>(.*?)</p>', re.DOTALL)


def native(page: str) -> str:
    r"""Return a page whose boxes to open are such to the browser.

    Raises
    ------
    ValueError
        If a box has no title to open it by, or does not end.

    Examples
    --------
    >>> print(native('''<div class="dropdown hint admonition">
    ... <p class="admonition-title">Hint</p>
    ... <div>words</div></div>'''))
    <details class="dropdown hint admonition">
    <summary class="admonition-title">Hint</summary>
    <div>words</div></details>
    """
    parts: list[str] = []
    done = 0
    for box in _BOX.finditer(page):
        start, end = box.end(), _end(page, box)
        title = _TITLE.match(page, start)
        if title is None:
            raise ValueError(f"a box begins without a title: {page[box.start() : start + 80]!r}")
        if box.start() < done:
            raise ValueError(f"a box in a box: {page[box.start() : start + 80]!r}")
        space, attributes, words = title.groups()
        parts += [
            page[done : box.start()],
            f"<details{box['rest']}>{space}<summary {attributes}>{words}</summary>",
            page[title.end() : end],
            "</details>",
        ]
        done = end + len("</div>")
    return "".join(parts) + page[done:]


def _end(page: str, box: re.Match[str]) -> int:
    """Return where the element ends that begins with the match."""
    depth = 1
    for edge in _EDGE.finditer(page, box.end()):
        depth += -1 if edge["end"] else 1
        if depth == 0:
            return edge.start()
    raise ValueError(f"a box does not end: {page[box.start() : box.end() + 80]!r}")
