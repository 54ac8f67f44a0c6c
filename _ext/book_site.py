"""What the book's site needs beyond Jupyter Book's configuration.

* All pages are read again when the pinned versions change.
* One address, that of the repository, switches on every link that needs it.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

from _ext.rebuild import rebuild_when_changed
from book.addresses import repository_address, site_address
from book.digest import PINS

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

ROOT = Path(__file__).resolve().parent.parent


def apply_repository(_app: Sphinx, config: Config) -> None:
    """Switch on what needs the repository's address, or take it all away without one."""
    options = config["html_theme_options"]
    repository = repository_address(os.environ, options.get("repository_url") or "")
    if not repository:
        options.pop("repository_url", None)
        return
    options["repository_url"] = repository
    options["use_repository_button"] = True  # the footer links the page itself and its faults
    address = config["html_baseurl"] or site_address(repository)
    config["html_baseurl"] = address


def leave_out_thebe(app: Sphinx, _config: Config) -> None:
    """Take back what sphinx-thebe, which Jupyter Book always loads, would put into every page."""
    for listeners in app.events.listeners.values():
        listeners[:] = [one for one in listeners if one.handler.__module__ != "sphinx_thebe"]
    sheets = app.registry.css_files
    sheets[:] = [sheet for sheet in sheets if sheet[0] != "sphinx-thebe.css"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # Every build reads back the trees of all pages; Python would look for garbage in them again and
    # again, which takes longer than reading them. A build ends before memory does.
    gc.disable()
    # the guide to grading shows tables, which Pygments has no colors for
    app.add_lexer("csv", TextLexer)
    rebuild_when_changed(app, "env", __file__, ROOT / PINS)
    app.connect("config-inited", apply_repository)
    app.connect("config-inited", leave_out_thebe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
