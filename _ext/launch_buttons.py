"""Offer to launch a chapter from its page: run it on Binder or Colab, take it along.

Below the title of each notebook's page is one line of links, plain HTML that needs no script.
What runs elsewhere needs the address of the repository, and is left out where none is known. Files
of the whole book are made after the site, so `_ext.downloads` links them once they exist.

The notebooks that pages offer are not in git. The build makes them from the chapters, before it
reads anything.
"""

from __future__ import annotations

import hashlib
import html
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docutils import nodes
from sphinx.util import logging

from _ext.chapter_head import LAUNCH_ROW
from _ext.rebuild import rebuild_when_changed
from book import reader_notebooks
from book.files import atomic_write
from book.first_cells import BRANCH, FOLDER
from book.model import Book, BookError, book_in
from book.plain_markdown import PlainError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
NOTEBOOKS = "notebooks"
"""The folder of the site that has the chapters' notebooks."""
BINDER = "https://mybinder.org/v2"
BINDER_HOSTS = {"github.com": "gh", "gitlab.com": "gl"}
ROOT = Path(__file__).resolve().parent.parent
MAKERS = ("book", "attnbook")
"""The folders of the code that makes the notebooks."""


@dataclass(frozen=True)
class Button:
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
    """Return the address that opens a notebook on Binder, in JupyterLab, at a branch or tag.

    Examples
    --------
    >>> binder_address("https://github.com/someone/book", "main", "notebooks/01_puzzle.ipynb")
    'https://mybinder.org/v2/gh/someone/book/main?urlpath=lab%2Ftree%2Fnotebooks%2F01_puzzle.ipynb'
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


def colab_address(repository: str, notebook: str) -> str:
    """Return the address that opens a notebook on Colab, which reads from GitHub alone.

    Examples
    --------
    >>> colab_address("https://github.com/someone/book", "notebooks/01_puzzle.ipynb")
    'https://colab.research.google.com/github/someone/book/blob/colab/notebooks/01_puzzle.ipynb'
    >>> colab_address("https://example.org/someone/book", "notebooks/01_puzzle.ipynb")
    ''
    """
    parts = urlsplit(repository)
    if parts.netloc != "github.com":
        return ""
    name = parts.path.strip("/")
    return f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{notebook}"


def buttons(
    notebook: str, root: str, repository: str, branch: str, *, is_start: bool
) -> list[Button]:
    """List the launch buttons of a page for a notebook such as ``chapters/01_puzzle``.

    `root` is the way from the page to the site's root; without a repository there is nothing to run
    elsewhere; from the landing page one starts with the first chapter.
    """
    name = f"{Path(notebook).name}.ipynb"
    path = f"{FOLDER}/{name}"
    found = []
    if repository:
        binder = binder_address(repository, branch, path)
        found.append(Button("Start on Binder" if is_start else "Run on Binder", binder))
        if colab := colab_address(repository, path):
            found.append(Button("Start on Colab" if is_start else "Run on Colab", colab))
    if not is_start:
        found.append(Button("Download the notebook", f"{root}{NOTEBOOKS}/{name}", name))
    return found


def line(found: list[Button]) -> str:
    """Return the line of links; without any it is hidden and waits for the book's files."""
    items = "".join(button.markup() for button in found)
    hidden = "" if found else " hidden"
    return (
        f'<nav class="launch-buttons" aria-label="Run or download"{hidden}><ul>{items}</ul></nav>\n'
    )


class LaunchButtons(nodes.General, nodes.Element):
    """The line on a page: finished markup, which the search does not look into."""


def visit_buttons(translator: HTML5Translator, node: LaunchButtons) -> None:
    """Write the line."""
    translator.body.append(node["markup"])
    raise nodes.SkipNode


def has_notebook(app: Sphinx, page: str) -> bool:
    """Say whether a page is made from a notebook that a reader may take along."""
    return page.startswith("chapters/") and (Path(app.srcdir) / f"{page}.ipynb").is_file()


def source(config: Config) -> tuple[str, str]:
    """Return the address of the repository, which may be empty, and the branch."""
    options = config["html_theme_options"]
    return options.get("repository_url") or "", options.get("repository_branch") or "main"


def add_buttons(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put the line into the room that the chapter's head has for it, or below the title."""
    is_start = page == app.config["root_doc"]
    if app.builder.format != "html" or not (is_start or has_notebook(app, page)):
        return
    first = [chapter.name for chapter in book_in(Path(app.srcdir)).chapters][:1]
    root = "../" * page.count("/")
    found = [
        button
        for notebook in (first if is_start else [page])
        for button in buttons(notebook, root, *source(app.config), is_start=is_start)
    ]
    markup = LaunchButtons(markup=line(found))
    for box in document.findall(nodes.container):
        if LAUNCH_ROW in box["classes"]:
            box += markup
            return
    title = next(iter(document.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, markup)


def surroundings(book: Book, repository: str) -> bytes:
    """Return a digest of all that a page's notebooks have from elsewhere."""
    pages = [
        (page.name, page.number, page.title, page.number and (page.core_minutes, page.minutes))
        for page in book.pages
    ]
    labels = [
        (label, target.kind, target.number, target.title, target.page.name)
        for label, target in book.targets.items()
    ]
    kinds = {".py", ".css"}
    paths = (path for folder in MAKERS for path in (ROOT / folder).rglob("*.*"))
    code = sorted(path for path in paths if path.suffix in kinds)
    works = book.root.glob("references.bib")
    texts = [path.read_bytes() for path in (*code, *works)]
    return hashlib.sha256(b"".join([repr((repository, pages, labels)).encode(), *texts])).digest()


def notebooks(book: Book, repository: str, kept: Path) -> dict[str, str]:
    """Return the notebooks for readers by the names of their files.

    From the file `kept`, where the last build put its notebooks, those are taken whose page is the
    same, and what it has from elsewhere; those of this build are put there.
    """
    around = surroundings(book, repository)
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    after = {}
    for page in book.notebooks:
        digest = hashlib.sha256(around + page.path.read_bytes()).hexdigest()
        after[page.path.name] = before.get(page.path.name, {})
        if after[page.path.name].get("digest") != digest:
            text = reader_notebooks.notebooks(book, repository, [page])[page.path.name]
            after[page.path.name] = {"digest": digest, "text": text}
    atomic_write(kept, json.dumps(after).encode())
    return {name: made["text"] for name, made in after.items()}


def make_notebooks(app: Sphinx, _env: BuildEnvironment, _pages: list[str]) -> None:
    """Make all notebooks."""
    repository, _branch = source(app.config)
    try:
        made = notebooks(
            book_in(Path(app.srcdir)), repository, Path(app.doctreedir) / "notebooks.json"
        )
    except (BookError, PlainError) as error:
        LOGGER.warning("%s", error)
        return
    app.connect("build-finished", partial(offer_notebooks, made))


def offer_notebooks(made: dict[str, str], app: Sphinx, error: Exception | None) -> None:
    """Put the notebooks beside the pages that offer them: those that are new, or read anew."""
    if error is not None or app.builder.format != "html":
        return
    site, stamp = Path(app.outdir), Path(app.doctreedir) / "offered.json"
    before = json.loads(stamp.read_text(encoding="utf-8")) if stamp.is_file() else {}
    after = {
        name: [hashlib.sha256(text.encode()).hexdigest(), app.env.all_docs[page]]
        for name, text in made.items()
        if (page := f"chapters/{Path(name).stem}") in app.env.all_docs
    }
    (site / NOTEBOOKS).mkdir(exist_ok=True)
    due = {
        name: made[name]
        for name, state in after.items()
        if state != before.get(name) or not (site / NOTEBOOKS / name).is_file()
    }
    for name, text in reader_notebooks.with_plots(book_in(Path(app.srcdir)), due).items():
        (site / NOTEBOOKS / name).write_text(text, encoding="utf-8")
    atomic_write(stamp, json.dumps(after).encode())


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_node(LaunchButtons, html=(visit_buttons, None))
    rebuild_when_changed(app, "html", __file__)
    app.connect("doctree-resolved", add_buttons)
    # after _ext.execution has begun: what takes seconds is done while the cells run
    app.connect("env-before-read-docs", make_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
