"""Put each script that a page names into the page.

A script inside the page costs no request, works from a disk, and can be named by its digest in the
page's Content-Security-Policy. Which scripts a page has is in the templates of ``_ext/theme``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL)
_SOURCE = re.compile(r'\s*\bsrc="([^"]+)"')
_DATA = re.compile(r'\btype="(?!module|text/javascript)[^"]+"')


def embeddable(source: str) -> str:
    r"""Return a script as it can be inside a page, without lines that are only a comment.

    Examples
    --------
    >>> embeddable("// why\nx = 1; // one\n/* and\n   so on */\ny = '</script>';")
    "x = 1; // one\ny = '<\\/script>';"
    """
    source = re.sub(r"^[ \t]*/\*.*?\*/[ \t]*\n", "", source, flags=re.DOTALL | re.MULTILINE)
    source = re.sub(r"^[ \t]*//.*\n", "", source, flags=re.MULTILINE)
    return re.sub(r"<(/script|!--)", r"<\\\1", source, flags=re.IGNORECASE).strip()


def inline(page: str, read: Callable[[str], str]) -> str:
    """Return a page with its scripts inside; `read` returns the content of a file that it names."""

    def embed(script: re.Match[str]) -> str:
        source = _SOURCE.search(script["attributes"])
        if source is None:
            return script[0]
        rest = _SOURCE.sub("", script["attributes"])
        return f"<script{rest}>\n{embeddable(read(source[1]))}\n</script>"

    return _SCRIPT.sub(embed, page)


def programs(page: str) -> list[str]:
    """Return the scripts inside a page that a browser runs."""
    return [body for attributes, body in _SCRIPT.findall(page) if not _DATA.search(attributes)]
