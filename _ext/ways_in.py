"""Offer the ways into a chapter on its page: run it on Binder or Colab, take it along.

Below the title of each notebook's page stands one line of links, plain HTML that needs no script.
What runs elsewhere needs the address of the repository, and is left out where none is known. Files
of the whole book are made after the site, so ``tools/downloads.py`` links them once they exist.
"""

from __future__ import annotations

import hashlib
import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docutils import nodes

from tools.colab import FOLDER as COLAB
from tools.colab import with_address

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.writers.html5 import HTML5Translator

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = "notebooks"
"""The folder of the site that has the chapters' notebooks."""
FIRST = "chapters/01_puzzle"
"""Where a reader of the landing page starts."""
ROOM = "ways-in"
"""The class of the place that a chapter's head keeps for the line."""
BINDER = "https://mybinder.org/v2"
BINDER_HOSTS = {"github.com": "gh", "gitlab.com": "gl"}


@dataclass(frozen=True)
class Way:
    """A link of the line: its words, where it leads, and the name under which a file is saved."""

    words: str
    address: str
    saved_as: str = ""

    def markup(self) -> str:
        """Return the link as an item of a list."""
        saved = f' download="{html.escape(self.saved_as)}"' if self.saved_as else ""
        return (
            f'<li><a href="{html.escape(self.address)}"{saved}>{html.escape(self.words)}</a></li>'
        )


def binder_address(repository: str, branch: str, notebook: str) -> str:
    """Return the address that opens a notebook on Binder, in JupyterLab.

    Parameters
    ----------
    repository : str
        Address of the repository.
    branch : str
        The branch or tag.
    notebook : str
        Path of the notebook in the repository.

    Examples
    --------
    >>> binder_address("https://github.com/someone/book", "main", "chapters/01_puzzle.ipynb")
    'https://mybinder.org/v2/gh/someone/book/main?urlpath=lab%2Ftree%2Fchapters%2F01_puzzle.ipynb'
    >>> binder_address("https://example.org/book", "main", "a.ipynb")
    'https://mybinder.org/v2/git/https%3A%2F%2Fexample.org%2Fbook/main?urlpath=lab%2Ftree%2Fa.ipynb'
    """
    parts = urlsplit(repository)
    kind, name = BINDER_HOSTS.get(parts.netloc, "git"), parts.path.strip("/")
    if kind == "git":
        name = quote(repository, safe="")
    elif kind == "gl":
        name = quote(name, safe="")
    path = quote(f"lab/tree/{notebook}", safe="")
    return f"{BINDER}/{kind}/{name}/{quote(branch, safe='')}?urlpath={path}"


def colab_address(repository: str, branch: str, notebook: str) -> str:
    """Return the address that opens a notebook on Colab, which reads from GitHub alone.

    Examples
    --------
    >>> colab_address("https://github.com/someone/book", "main", "colab/01_puzzle.ipynb")
    'https://colab.research.google.com/github/someone/book/blob/main/colab/01_puzzle.ipynb'
    >>> colab_address("https://example.org/someone/book", "main", "colab/01_puzzle.ipynb")
    ''
    """
    parts = urlsplit(repository)
    if parts.netloc != "github.com":
        return ""
    name = parts.path.strip("/")
    return f"https://colab.research.google.com/github/{name}/blob/{branch}/{notebook}"


def ways(page: str, root: str, repository: str, branch: str, *, is_start: bool) -> list[Way]:
    """List the ways into a page.

    Parameters
    ----------
    page : str
        The page's name, such as ``chapters/01_puzzle``.
    root : str
        The way from the page to the site's root, such as ``../``.
    repository, branch : str
        Where the sources are; without a repository there is nothing to run elsewhere.
    is_start : bool
        Whether this is the landing page, from which one starts with the first chapter.
    """
    notebook = FIRST if is_start else page
    name = f"{Path(notebook).name}.ipynb"
    found = []
    if repository:
        binder = binder_address(repository, branch, f"{notebook}.ipynb")
        found.append(Way("Start on Binder" if is_start else "Run on Binder", binder))
        if colab := colab_address(repository, branch, f"{COLAB}/{name}"):
            found.append(Way("Start on Colab" if is_start else "Run on Colab", colab))
    if not is_start:
        found.append(Way("Download the notebook", f"{root}{NOTEBOOKS}/{name}", name))
    return found


def line(found: list[Way]) -> str:
    """Return the line of links; without any it is hidden and waits for the book's files."""
    items = "".join(way.markup() for way in found)
    hidden = "" if found else " hidden"
    return f'<nav class="ways" aria-label="Ways in"{hidden}><ul>{items}</ul></nav>\n'


class WaysNode(nodes.General, nodes.Element):
    """The line on a page: finished markup, which the search does not look into."""


def visit_ways(translator: HTML5Translator, node: WaysNode) -> None:
    """Write the line."""
    translator.body.append(node["markup"])
    raise nodes.SkipNode


def stored_notebook(page: str) -> Path | None:
    """Return the notebook that a reader of a page may take along, if there is one."""
    path = ROOT / COLAB / f"{Path(page).name}.ipynb"
    return path if page.startswith("chapters/") and path.is_file() else None


def source(config: Config) -> tuple[str, str]:
    """Return the address of the repository, which may be empty, and the branch."""
    options = config["html_theme_options"]
    return options.get("repository_url") or "", options.get("repository_branch") or "main"


def add_ways(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put the line into the room that the chapter's head has for it, or below the title."""
    is_start = page == app.config["root_doc"]
    if app.builder.format != "html" or not (is_start or stored_notebook(page)):
        return
    found = ways(page, "../" * page.count("/"), *source(app.config), is_start=is_start)
    markup = WaysNode(markup=line(found))
    for box in document.findall(nodes.container):
        if ROOM in box["classes"]:
            box += markup
            return
    title = next(iter(document.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, markup)


def copy_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Put the notebooks beside the pages, with the address that the site is published with."""
    if error is not None or app.builder.format != "html":
        return
    repository, _branch = source(app.config)
    folder = Path(app.outdir) / NOTEBOOKS
    folder.mkdir(exist_ok=True)
    for page in app.env.found_docs:
        if stored := stored_notebook(page):
            text = with_address(stored.read_text(encoding="utf-8"), repository)
            (folder / stored.name).write_text(text, encoding="utf-8")


def note_source(_app: Sphinx, config: Config) -> None:
    """Make pages be written anew, without running anything, when this file has changed."""
    config["ways_in_digest"] = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_config_value("ways_in_digest", "", "html")
    app.add_node(WaysNode, html=(visit_ways, None))
    app.connect("config-inited", note_source)
    app.connect("doctree-resolved", add_ways)
    app.connect("build-finished", copy_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
