"""What the book's site needs beyond Jupyter Book's configuration.

* Pages never show what the code no longer computes: the execution cache belongs to one state of
  ``attnlib`` and of the pinned versions.
* Pages load only what they use.
* One address, that of the repository, switches on every link that needs it.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pygments.lexers.special import TextLexer

from book.digest import computation_digest

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

ROOT = Path(__file__).resolve().parent.parent
# What the finished pages are relieved of: each pattern with what stands in its place.
REPAIRS = [
    # sphinx-proof gives all theorems of a page one identifier, and all proofs another.
    (r' id="proof-content"', ""),
    (
        r'<div class="proof admonition" id="proof">\n<p>Proof\. ',
        '<div class="proof admonition demonstration">\n<p><em>Proof.</em> ',
    ),
    # A list for screen readers whose entries are none.
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    # A button of the table of contents without a name.
    (
        r'<summary>(?=<span class="toctree-toggle")',
        '<summary aria-label="Show or hide the pages below">',
    ),
    # The logo and the search of the sidebar stand outside every landmark, and so does the way up.
    (
        r'(<div id="pst-primary-sidebar")(?= class)',
        r'\1 role="region" aria-label="Book: search and contents"',
    ),
    (
        r'<button type="button"[^>]* id="pst-back-to-top">(?:.|\n)*?</button>',
        r'<nav class="d-print-none" aria-label="Top">\g<0></nav>',
    ),
    (r'(<dialog id="pst-search-dialog")(?=>)', r'\1 aria-label="Search"'),
    (r'(<dialog id="pst-primary-sidebar-modal")(?=>)', r'\1 aria-label="Book"'),
    (r'(<dialog id="pst-secondary-sidebar-modal")(?=>)', r'\1 aria-label="This page"'),
    # What opens hidden code is called otherwise than it reads.
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    (r'(<button class="btn search-button-field [^>]*) aria-label="Search"', r"\1"),
    # A role that is no longer one, and never was one for such an element.
    (r' role="doc-biblioentry"', ""),
    # The empty corner of a table is the heading of what stands below it.
    (
        r'<th class="head">(?:<p></p>)?</th>',
        '<th class="head"><p class="visually-hidden">what</p></th>',
    ),
    # A signature with one parameter a line is given as definitions of nothing.
    (r'<dl>(?=\n<dd><em class="sig-param">)', '<span class="sig-lines">'),
    (r'(<dd><em class="sig-param">.*</dd>\n)</dl>', r"\1</span>"),
    (r'<dd>(<em class="sig-param">.*)</dd>', r'<span class="sig-line">\1</span>'),
]
_REPAIRS = [(re.compile(pattern), instead) for pattern, instead in REPAIRS]
# A page on a disk may not read its neighbors, so the search shows titles alone there.
SEARCH_FROM_DISK = (
    'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
)


def choose_cache(app: Sphinx, config: Config) -> None:
    """Give each state of the code an execution cache of its own.

    The path of the cache is part of what Sphinx remembers about the last build, so another state of
    the code makes it read every notebook again as well.
    """
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / computation_digest(ROOT)
    if caches.is_dir():
        for other in caches.iterdir():
            if other != current:
                shutil.rmtree(other) if other.is_dir() else other.unlink()
    config["nb_execution_cache_path"] = str(current)


def site_address(repository: str) -> str:
    """Return where a repository's pages are published, or nothing if that is not known.

    Parameters
    ----------
    repository : str
        The address of the repository.

    Returns
    -------
    str
        The address of its GitHub Pages, with a slash at the end.

    Examples
    --------
    >>> site_address("https://github.com/someone/some-book")
    'https://someone.github.io/some-book/'
    >>> site_address("https://example.org/some-book")
    ''
    """
    parts = urlsplit(repository)
    names = parts.path.strip("/").removesuffix(".git").split("/")
    if parts.netloc != "github.com" or len(names) != 2:
        return ""
    owner, name = names
    home = f"{owner.lower()}.github.io"
    return f"https://{home}/" if name.lower() == home else f"https://{home}/{name}/"


def repository_address(environment: Mapping[str, str], configured: str) -> str:
    """Return the address of the repository, or nothing if none is known.

    A site that a fork publishes from GitHub's CI belongs to the fork, whatever `configured` says.

    Parameters
    ----------
    environment : mapping of str to str
        The environment variables.
    configured : str
        What the configuration states.

    Examples
    --------
    >>> repository_address({"REPOSITORY_URL": "https://example.org/some/book.git"}, "")
    'https://example.org/some/book'
    >>> actions = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "someone/book"}
    >>> repository_address(actions, "https://github.com/another/book")
    'https://github.com/someone/book'
    """
    server, name = (environment.get(f"GITHUB_{part}") for part in ("SERVER_URL", "REPOSITORY"))
    in_actions = f"{server}/{name}" if server and name else ""
    address = environment.get("REPOSITORY_URL") or in_actions or configured
    return address.rstrip("/").removesuffix(".git")


def apply_repository(_app: Sphinx, config: Config) -> None:
    """Switch on what needs the repository's address, or take it all away without one."""
    options = config["html_theme_options"]
    repository = repository_address(os.environ, options.get("repository_url") or "")
    if not repository:
        options.pop("repository_url", None)
        return
    options["repository_url"] = repository
    options["use_repository_button"] = (
        True  # _ext/discovery.py links the page itself and its faults
    )
    address = config["html_baseurl"] or site_address(repository)
    config["html_baseurl"] = address


def drop_unused_scripts(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Leave out what Jupyter Book and myst-nb load on every page and this book never uses.

    Live code by Thebe is not offered (and its constant, written twice, is an error in the console);
    the notebooks show no ipywidgets.
    """
    context["script_files"][:] = [
        script for script in context.get("script_files", []) if not is_unused(script)
    ]
    context["css_files"][:] = [
        sheet for sheet in context.get("css_files", []) if "thebe" not in file_name(sheet)
    ]


def file_name(asset: object) -> str:
    """Return the file name of a script or style sheet of a page's context."""
    return str(getattr(asset, "filename", asset) or "")


def is_unused(script: object) -> bool:
    """Say whether a script belongs to Thebe or to the widget manager."""
    attributes = getattr(script, "attributes", None) or {}
    name = file_name(script)
    return (
        "thebe" in name
        or "THEBE_JS_URL" in (attributes.get("body") or "")
        or "require" in name
        or "html-manager" in name
        or "jupyter.widget" in (attributes.get("type") or "")
    )


def repaired(page: str) -> str:
    """Return a finished page without what the theme and the extensions get wrong."""
    for pattern, instead in _REPAIRS:
        page = pattern.sub(instead, page)
    return page


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    # Every build reads back the trees of all pages; Python would look for garbage in them again and
    # again, which takes longer than reading them. A build ends before memory does.
    gc.disable()
    app.add_js_file(None, body=SEARCH_FROM_DISK)
    # the guide to grading shows tables, which Pygments has no colors for
    app.add_lexer("csv", TextLexer)
    app.connect("config-inited", choose_cache)
    app.connect("config-inited", apply_repository)
    # after the extensions that add the scripts
    app.connect("html-page-context", drop_unused_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
