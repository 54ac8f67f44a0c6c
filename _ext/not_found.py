"""The page that a server shows for an address that leads nowhere: ``404.html``.

It is shown at the address that was asked for, however deep that is, so its links may not depend on
where it lies. They start at the root of the host once the site has an address; without one they
hold where the page itself lies.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from _ext.discovery import chapters

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "404"
BODY = """<section id="not-found">
<h1>This page does not exist</h1>
<p>The address may be mistyped, or the page may have another name by now. Search for it, start at
<a href="{first}">the first page</a>, or choose a chapter.</p>
<form role="search" class="not-found-search" action="search.html" method="get">
<label for="not-found-query">Search the book</label>
<input type="search" class="form-control" id="not-found-query" name="q" autocomplete="off">
<button type="submit" class="btn btn-primary">Search</button>
</form>
<ol>
{chapters}
</ol>
</section>"""
_SCRIPT = re.compile(r"(<script\b[^>]*>)(.*?)(</script>)", re.DOTALL)
# in a tag, or in a style sheet that stands in the page
_ADDRESS = re.compile(
    r"""(?P<before>\s(?:href|src|action|data-content_root)="|url\(["']?)"""
    r"(?![#/]|[a-z][a-z0-9+.-]*:)(?:\./)?"
)


def rooted(page: str, root: str) -> str:
    """Return a page whose links start at a folder of the host; what scripts say stays as it is.

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


def not_found(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give the builder the page to make."""
    listed = "\n".join(
        f'<li><a href="{page}.html">{html.escape(app.env.titles[page].astext())}</a></li>'
        for page in chapters(app)
    )
    body = BODY.format(first=f"{app.config['root_doc']}.html", chapters=listed)
    yield PAGE, {"title": "Page not found", "body": body}, "page.html"


def keep_out_of_search(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Tell search engines that this is no page of the book."""
    del app
    if page == PAGE:
        context["pageurl"] = None
        context["metatags"] = (
            f'{context.get("metatags", "")}\n<meta name="robots" content="noindex" />'
        )


def root_links(app: Sphinx, error: Exception | None) -> None:
    """Let the links of the page start at the root of the host."""
    path = Path(app.outdir) / f"{PAGE}.html"
    if error is None and app.config["html_baseurl"] and path.is_file():
        folder = urlsplit(app.config["html_baseurl"]).path
        page = path.read_text(encoding="utf-8")
        path.write_text(rooted(page, f"{folder.rstrip('/')}/"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("html-collect-pages", not_found)
    app.connect("html-page-context", keep_out_of_search)
    # after everything else that changes finished pages
    app.connect("build-finished", root_links, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
