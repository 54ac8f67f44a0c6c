"""Say on every page which book and which version it is from, on the screen and on paper.

On the screen that stands at the foot with the licenses. A printed page has no such foot, and ends
with a line of its own.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import attnlib

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


def edition(title: str) -> str:
    """Return the title and the version, as HTML.

    Examples
    --------
    >>> edition("Salt & water").replace(attnlib.__version__, "2.0.0")
    '<cite>Salt &amp; water</cite>, version 2.0.0'
    """
    return f"<cite>{html.escape(title)}</cite>, version {attnlib.__version__}"


def add_edition(
    app: Sphinx,
    _page: str,
    _template: str,
    context: dict[str, Any],
    _doctree: nodes.document | None,
) -> None:
    """Put the edition at the foot of a page, and below its text for paper."""
    words = edition(app.config["html_title"])
    foot = context.get("theme_extra_footer") or ""
    context["theme_extra_footer"] = f"<p>{words}</p>\n{foot}"
    if context.get("body"):
        context["body"] += f'<p class="edition-on-paper">{words}</p>\n'


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # every page is written anew when the version is another
    app.add_config_value("edition_version", attnlib.__version__, "html")
    app.connect("html-page-context", add_edition, priority=700)  # above what others put there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
