"""Let the links of a page start at the root of the host.

A server shows ``404.html`` at the address that was asked for, however deep that is, so its links
may not depend on where it is. sphinx-notfound-page leaves alone what the theme's own table of
contents links.
"""

from __future__ import annotations

import re

_SCRIPT = re.compile(r"(<script\b[^>]*>)(.*?)(</script>)", re.DOTALL)
# in a tag, or in a style sheet inside the page
_ADDRESS = re.compile(
    r"""(?P<before>\s(?:href|src|action|data-content_root)="|url\(["']?)"""
    r"(?![#/]|[a-z][a-z0-9+.-]*:)(?:\./)?"
)


def rooted(page: str, root: str) -> str:
    """Return a page whose links start at a folder of the host; scripts stay as they are.

    Examples
    --------
    >>> rooted('<a href="a.html#b">a</a> <a href="#b">b</a> <a href="https://c.org">c</a>', "/x/")
    '<a href="/x/a.html#b">a</a> <a href="#b">b</a> <a href="https://c.org">c</a>'
    >>> rooted('<html data-content_root="./"><script src="a.js">b = " src="</script>', "/")
    '<html data-content_root="/"><script src="/a.js">b = " src="</script>'
    """
    # the parts are in turn: outside of scripts, a script's tag, what is in it, its end
    parts = _SCRIPT.split(page)
    return "".join(
        part if index % 4 == 2 else _ADDRESS.sub(rf"\g<before>{root}", part)
        for index, part in enumerate(parts)
    )
