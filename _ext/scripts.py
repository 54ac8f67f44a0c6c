"""Put the few scripts that a page needs into the page, and take the theme's many out of it.

A script inside the page costs no request, works from a disk, and can be named by its digest in the
page's Content-Security-Policy. ``site.js`` does what the theme's scripts and Bootstrap did; the
page of search results keeps Sphinx's own, with the index that they look into.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

SOURCE = Path(__file__).with_name("site.js")
# In which order the search shows what it finds, and how.
RESULTS = Path(__file__).with_name("search.js")
# Before anything is drawn: the colors that the reader chose, or those of the system; and for who
# comes back the whole page is laid out, or the place that was left could not be found.
MODE = """{
const { dataset } = document.documentElement;
let mode;
try {
  mode = localStorage.getItem("mode");
} catch {
  // nothing can be kept, so nothing was chosen
}
dataset.mode = ["light", "dark"].includes(mode) ? mode : "auto";
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
dataset.theme = dataset.mode === "auto" ? (dark ? "dark" : "light") : dataset.mode;
const [coming] = performance.getEntriesByType("navigation");
if (coming && coming.type !== "navigate") dataset.whole = "";
}"""
# site.js stands for these.
REPLACED = frozenset(
    {
        "bootstrap.js",
        "clipboard.min.js",
        "copybutton.js",
        "design-tabs.js",
        "fontawesome.js",
        "pydata-sphinx-theme.js",
        "sphinx-book-theme.js",
        "togglebutton.js",
    }
)
# These find words, which happens on one page alone.
FOR_SEARCH = frozenset(
    {
        "doctools.js",
        "documentation_options.js",
        "language_data.js",
        "searchindex.js",
        "searchtools.js",
        "sphinx_highlight.js",
    }
)
_SETTING = re.compile(r"\s*(?:let|var) toggle\w+ = |\s*DOCUMENTATION_OPTIONS\.")
_SEARCH_SETTING = re.compile(r"DOCUMENTATION_OPTIONS\.")
_SCRIPT = re.compile(
    r"[ \t]*<script\b(?P<attributes>[^>]*)>(?P<body>.*?)</script>[ \t]*\n?", re.DOTALL
)
_PRELOAD = re.compile(r'[ \t]*<link rel="preload" as="script"[^>]*>[ \t]*\n?')
_ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')
_HANDLERS = {
    ' onclick="window.print()"': ' data-action="print"',
    ' onclick="toggleFullScreen()"': ' data-action="fullscreen"',
}
_HEAD = re.compile(r"<meta charset[^>]*>\s*", re.IGNORECASE)


class Placed(NamedTuple):
    """A page whose scripts stand at their places."""

    text: str
    words: str
    """What the scripts say, without the index: names of what they may add to the page."""


def embedded(source: str) -> str:
    r"""Return a script as an element of a page.

    Examples
    --------
    >>> print(embedded('x = "</script>"'))
    <script>
    x = "<\/script>"
    </script>
    """
    safe = re.sub(r"<(/script|!--)", lambda found: f"<\\{found[1]}", source, flags=re.IGNORECASE)
    return f"<script>\n{safe.strip()}\n</script>"


def without_comments(source: str) -> str:
    r"""Return a script without the lines that are nothing but a comment.

    Examples
    --------
    >>> without_comments("// why\nx = 1; // one\n/* and\n   so on */\ny = 2;")
    'x = 1; // one\ny = 2;'
    """
    source = re.sub(r"^[ \t]*/\*.*?\*/[ \t]*\n", "", source, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^[ \t]*//.*\n", "", source, flags=re.MULTILINE)


def place(page: str, name: str, read: Callable[[str], str]) -> Placed:
    """Return a page with one script of the site and whatever else it needs, all inside.

    Parameters
    ----------
    page : str
        The page as Sphinx wrote it.
    name : str
        Its file.
    read : callable
        Returns the content of a file that the page names.
    """
    searches = name == "search.html"
    own = without_comments(SOURCE.read_text(encoding="utf-8"))
    last = [f"{{\n{own}}}"]
    kept: list[str] = []

    def take(found: re.Match[str]) -> str:
        attributes = dict(_ATTRIBUTE.findall(found["attributes"]))
        kind = attributes.get("type", "")
        if "thebe" in kind or "data-cfasync" in attributes:
            return ""
        if kind not in {"", "text/javascript", "module"}:
            return found[0]  # data
        source = attributes.get("src", "")
        if not source:
            if _SETTING.match(found["body"]) or "SHOW_SEARCH_SUMMARY" in found["body"]:
                if searches and _SEARCH_SETTING.search(found["body"]):
                    last.append(found["body"])
                return ""
            kept.append(found["body"])
            return found[0]
        file = Path(urlsplit(source).path).name
        if file not in REPLACED and (searches or file not in FOR_SEARCH):
            last.append(read(source))
        return ""

    page = _SCRIPT.sub(take, _PRELOAD.sub("", page))
    if searches:
        last.append(f"{{\n{without_comments(RESULTS.read_text(encoding='utf-8'))}}}")
    for handler, action in _HANDLERS.items():
        page = page.replace(handler, action)
    page = _HEAD.sub(lambda found: f"{found[0]}{embedded(MODE)}\n", page, count=1)
    end = page.rindex("</body>")
    scripts = "\n".join(map(embedded, last))
    words = "\n".join(text for text in (*last, *kept) if not text.startswith("Search.setIndex("))
    return Placed(f"{page[:end]}{scripts}\n{page[end:]}", words)
