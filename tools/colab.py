"""Write the notebooks for Colab, which shows what only Jupyter Book understands as raw text.

    python tools/colab.py    writes colab/NAME.ipynb from chapters/NAME.ipynb

Nothing of it is in git: the workflow that publishes the site puts these notebooks on a branch of
their own, as ``chapters/NAME.ipynb`` beside ``practice/``, so that their links lead somewhere.

Text is the chapter's in plain Markdown: a box becomes a quotation with its title, a term its words,
a reference the number that the site shows, another chapter a link to its notebook. What has no such
form is refused. Code is the chapter's, behind one cell that fetches the book on Colab and goes to
the folder of the chapters there.

That cell needs the address of the repository. It is the book's one value for it: the environment
variable ``REPOSITORY_URL`` or ``repository.url`` in ``_config.yml``. With none set the cell has a
field for it and says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from nbformat import NotebookNode, v4

if TYPE_CHECKING:
    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.book_site import repository_address, site_address  # noqa: E402
from book.model import Book, Page, figure_of, tags  # noqa: E402
from book.plain import Plain, PlainError, capital, quoted  # noqa: E402
from book.stored import KERNEL, LANGUAGE  # noqa: E402

FOLDER = "colab"
SETUP = """# @title Run this first: on Colab it fetches what the chapter computes with
REPOSITORY = "{repository}"  # @param {{type:"string"}}

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if "google.colab" in sys.modules:
    from google.colab import output

    book = Path("/content/book")
    if not book.exists():
        if not REPOSITORY:
            raise ValueError("REPOSITORY above is empty: put the book's address on GitHub there")
        subprocess.run(["git", "clone", "--quiet", "--depth=1", REPOSITORY, book], check=True)
    if importlib.util.find_spec("attnlib") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "anywidget"], check=True)
        subprocess.run([*install, "--no-deps", book], check=True)
        importlib.invalidate_caches()
    os.chdir(book / "chapters")
    output.enable_custom_widget_manager()  # for figures that move
elif importlib.util.find_spec("attnlib") is None:
    where = REPOSITORY or "the book's repository"
    raise ModuleNotFoundError(
        f"attnlib is not installed here. Clone {{where}}, run `make lab` there, and open "
        "chapters/{name}."
    )"""
# Colab shows the form of such a cell in place of its code, which a click opens.
AS_FORM = {"cellView": "form"}
CLOSED_TAGS = {"hide-cell", "hide-input", "remove-input"}


class ForColab(Plain):
    """Writes the chapters for Colab; the address of the repository may be empty."""

    def __init__(self, book: Book, repository: str = "") -> None:
        super().__init__(book)
        self.repository = repository

    def page(self, name: str, words: str = "") -> str:
        """Return a link to a chapter's notebook, or to a page as the reader can read it best."""
        page = self.book.page(name)
        if page.is_notebook:
            return super().page(name, words)
        # the source of such a page is not for reading
        site = site_address(self.repository)
        title = words or page.title
        return f"[{title}]({site}{page.name}.html)" if site else words or f"the page “{title}”"

    def is_raw(self, token: Token) -> bool:
        """Count links to the sources of pages too, which nobody can read on Colab."""
        source = str(token.attrs.get("href", "")).endswith(".md")
        return super().is_raw(token) or source

    def notebook(self, page: Page) -> NotebookNode:
        """Make the notebook of a chapter."""
        self.own = page
        setup = SETUP.format(repository=self.repository, name=page.path.name)
        cells = [v4.new_code_cell(setup, id="setup", metadata=AS_FORM)]
        for cell in page.cells:
            if cell.cell_type == "markdown":
                if text := self.text(cell.source):
                    cells.append(v4.new_markdown_cell(text, id=cell.id))
                continue
            closed = CLOSED_TAGS & tags(cell)
            metadata = {**AS_FORM, "jupyter": {"source_hidden": True}} if closed else {}
            cells.append(v4.new_code_cell(cell.source, id=cell.id, metadata=metadata))
            if figure := figure_of(cell):
                number = capital(self.numbered(self.book.targets[figure.name]))
                caption = quoted(f"**{number}.** {self.text(figure.caption)}")
                cells.append(v4.new_markdown_cell(caption, id=f"{cell.id}-caption"))
        metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
        return v4.new_notebook(cells=cells, metadata=metadata)


def offered(book: Book) -> list[Page]:
    """List the pages that have a notebook: all but the landing page, which is for the site."""
    return [page for page in book.notebooks if page is not book.pages[0]]


def notebooks(
    book: Book, repository: str = "", pages: Iterable[Page] | None = None
) -> dict[str, str]:
    """Return the text of each notebook, or of those of some pages, by the name of its file."""
    return ForColab(book, repository).notebooks(offered(book) if pages is None else pages)


def configured(root: Path) -> str:
    """Return the address that ``_config.yml`` states, or nothing."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text).get("repository", {}).get("url") or "")


def main(root: Path = ROOT) -> int:
    """Write the notebooks, and return the process's exit status."""
    try:
        made = notebooks(Book(root), repository_address(os.environ, configured(root)))
    except PlainError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    (root / FOLDER).mkdir(exist_ok=True)
    for name, text in made.items():
        (root / FOLDER / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {FOLDER}/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
