"""Write the notebooks for readers, which show what only Jupyter Book understands in plain Markdown.

They are the same for JupyterLab, Binder, Colab, VS Code and the download button. Nothing of them is
in git: ``make lab`` and Binder write them, the build of the site offers them, and the workflow that
publishes the site puts them on a branch of their own, which Colab opens. A notebook that a reader
has worked in is never overwritten.

Text is the chapter's in plain Markdown: a box becomes a quotation with its title, what is closed on
the site stays closed, a term becomes its words, a reference the number that the site shows, another
chapter a link to its notebook. What has no such form is refused. Code is the chapter's, but for the
solutions: of each the notebook has a stub, and below it, closed, text and code. The first cell lets
`book.reader_session` compare the numbers of the text with what the reader computes. Before a cell
runs, its figure is a still picture, which `book.stills` makes.

On Colab the first cell fetches the book. It needs the address of the repository: the environment
variable ``REPOSITORY_URL`` or ``repository.url`` in ``_config.yml``. With none set the cell has a
field for it and says so.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode, v4

if TYPE_CHECKING:
    from markdown_it.token import Token

from attnbook.exercises._exercise import describe_parts
from book import stills
from book.addresses import site_address
from book.digest import notebook_digests
from book.first_cells import OPENING, first_cell
from book.markdown import COMMENT, Block, blocks, titled
from book.model import LABEL, Book, Page, figure_of, tags
from book.normal_form import KERNEL, LANGUAGE
from book.numbers import Binding, Notebook, Passage
from book.plain_markdown import Plain, capital, quoted
from book.stubs import BEGIN, END, stub

# Colab shows the form of such a cell in place of its code, which a click opens.
CLOSED = {"cellView": "form", "jupyter": {"source_hidden": True}}
OF_KERNEL = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    **LANGUAGE,
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": platform.python_version(),
}
"""What a kernel says of itself; where it is missing, JupyterLab counts a notebook as changed."""
MARK = "\ue000"
"""Stands in a text for a comment that binds the numerals before it."""


class ForReader(Plain):
    """Writes the chapters for readers; the address of the repository may be empty."""

    def __init__(self, book: Book, repository: str = "") -> None:
        super().__init__(book)
        self.repository = repository
        self.waiting: dict[str, str] = {}
        """The cells of the page that is written whose outputs wait for the answer to another."""

    def page(self, name: str, words: str = "") -> str:
        """Return a link to a chapter's notebook, or to a page as the reader can read it best."""
        page = self.book.page(name)
        if page.is_notebook:
            return super().page(name, words)
        # the source of such a page is not for reading
        site = site_address(self.repository)
        title = words or page.title
        return f"[{title}]({site}{page.name}.html)" if site else words or f"the page “{title}”"

    def role(self, name: str, content: str) -> str:
        """Return what a role shows; a part of a page without cells is that page."""
        title, target = titled(content)
        if name == "ref" and title and target not in self.book.targets:
            for page in self.book.pages:
                if target in {block.label for _, block in page.blocks}:
                    return self.page(page.name, title)
        return super().role(name, content)

    def is_raw(self, token: Token) -> bool:
        """Count links to the sources of pages too, which nobody can read in a notebook."""
        source = str(token.attrs.get("href", "")).endswith(".md")
        return super().is_raw(token) or source

    def box(self, box: Block) -> str:
        """Return a directive; one that is closed on the site stays closed."""
        if box.kind == "chapter-list":
            return "\n".join(
                f"{page.number}. {self.page(page.name, self.inline(page.title))}: "
                f"{page.core_minutes} minutes, {page.minutes} with *Deeper*"
                for page in self.book.chapters
            )
        if "dropdown" in box.options.get("class", "").split() and box.kind == "admonition":
            return closed(self.text(box.title), self.text(box.body))
        return super().box(box)

    def notebook(self, page: Page) -> NotebookNode:
        """Make the notebook of a chapter."""
        self.own = page
        self.waiting = {}
        cells = [
            v4.new_markdown_cell(OPENING, id="opening"),
            v4.new_code_cell(first_cell(page, self.repository), id="setup", metadata=CLOSED),
        ]
        cells += self.cells(page)
        metadata = {"kernelspec": KERNEL, "language_info": OF_KERNEL}
        figures = [(cell.id, figure_of(cell)) for cell in page.cells]
        words = {name: figure.alternative for name, figure in figures if figure}
        metadata |= {"numbers": self.bound(page), "held": self.waiting, "alternatives": words}
        return v4.new_notebook(cells=cells, metadata=metadata)

    def cells(self, page: Page) -> Iterator[NotebookNode]:
        """Make the cells of a chapter."""
        left = iter(page.cells)
        above: list[str] | None = None  # of a prediction: what is closed above its result's text
        prediction = ""
        for cell in left:
            if "solution-start" in kinds(cell):
                yield from self.solution(cell, left)
            elif cell.cell_type == "markdown":
                text = self.text(cell.source)
                if above is not None:
                    text = closed_result(text, above)
                    above = None
                if text:
                    yield v4.new_markdown_cell(text, id=cell.id)
            else:
                outputs = stills.outputs(cell, result=above is not None)
                if "predict" in tags(cell):
                    prediction = cell.id
                elif above is not None:
                    self.waiting[cell.id] = prediction
                yield v4.new_code_cell(
                    cell.source, id=cell.id, metadata=folded(cell), outputs=outputs
                )
                caption = self.caption(cell)
                if caption and above is None:
                    yield v4.new_markdown_cell(caption, id=f"{cell.id}-caption")
                elif caption:
                    above = [*above, caption]
                above = [] if "predict" in tags(cell) else above

    def caption(self, cell: NotebookNode) -> str:
        """Return the caption of a cell's figure with its number, or nothing."""
        figure = figure_of(cell)
        if figure is None:
            return ""
        number = capital(self.numbered(self.book.targets[figure.name]))
        return quoted(f"**{number}.** {self.text(figure.caption)}")

    def solution(self, first: NotebookNode, left: Iterator[NotebookNode]) -> Iterator[NotebookNode]:
        """Make the cells of a solution: what the reader fills in, and closed, what is right."""
        texts = [self.text(first.source)]
        (name,) = (b.title for b in blocks(first.source) if b.kind == "solution-start")
        phrases = describe_parts(name.removeprefix(LABEL))
        for cell in left:
            if cell.cell_type == "markdown":
                texts.append(self.text(cell.source))
                if "solution-end" in kinds(cell):
                    break
                continue
            if "answer" in tags(cell):
                yield v4.new_code_cell(stub(cell.source, phrases), id=cell.id)
            if "remove-cell" not in tags(cell):
                texts.append(f"```python\n{without_marks(cell.source)}\n```")
        yield v4.new_markdown_cell(closed("Solution", *texts), id=first.id)

    def bound(self, page: Page) -> dict[str, list[dict[str, Any]]]:
        """Return what is bound to numbers of the text, by the cell after which it is computed."""
        entries: dict[str, list[dict[str, Any]]] = {}
        solving = False
        notebook = Notebook(page.notebook)
        for passage in notebook.passages:
            cell = page.cells[passage.position]
            here = kinds(cell)
            solving = bool(here & {"solution-start"}) or (solving and "solution-end" not in here)
            if passage.position < 0 or solving:
                continue
            for binding, entry in self.entries(passage):
                entries.setdefault(page.cells[binding.moment].id, []).append(entry)
        return entries

    def entries(self, passage: Passage) -> Iterator[tuple[Binding, dict[str, Any]]]:
        """Yield what is bound in a passage: an expression, numbers and the words around them."""
        marked = COMMENT.sub(lambda comment: MARK * ("{" in comment[0]), passage.text)
        pieces = self.text(marked).split(MARK)
        if len(pieces) <= len(passage.bindings):  # a caption, whose numbers are bound together
            pieces = [*pieces, *[""] * len(passage.bindings)]
        waiting: list[str] = []
        place = 0
        for mark in passage.marks:
            if not isinstance(mark, Binding):
                waiting.append(mark.number)
                continue
            place += 1
            words = around("".join(pieces[:place]), "".join(pieces[place:]))
            yield mark, {"expression": mark.expression, "numbers": waiting, "words": words}
            waiting = []


def kinds(cell: NotebookNode) -> set[str]:
    """Return the kinds of blocks in a cell."""
    if cell.cell_type != "markdown":
        return set()
    return {block.kind for block in blocks(cell.source)}


def closed_result(text: str, above: list[str]) -> str:
    r"""Close the text below a prediction, up to the next heading.

    Examples
    --------
    >>> print(closed_result("It is 4.\n\n## On", []))
    <details><summary><b>What comes out</b></summary>
    <BLANKLINE>
    It is 4.
    <BLANKLINE>
    </details>
    <BLANKLINE>
    ## On
    """
    if text.startswith("#"):
        return "\n\n".join([*(closed("What comes out", *above) for _ in above[:1]), text])
    own, heading, rest = text.partition("\n\n#")
    return closed("What comes out", *above, own) + heading + rest


def closed(title: str, *parts: str) -> str:
    """Return text that opens when a reader clicks its title."""
    body = "\n\n".join(filter(None, parts))
    return f"<details><summary><b>{title}</b></summary>\n\n{body}\n\n</details>"


def without_marks(source: str) -> str:
    """Return the code of a solution without the lines that mark it."""
    lines = source.splitlines()
    return "\n".join(line for line in lines if line not in {BEGIN, END}).strip()


def folded(cell: NotebookNode) -> dict[str, Any]:
    """Return the metadata that fold the code that is folded in the chapter, on Colab too.

    Outputs stay open: JupyterLab would open them anyway when the cell runs.
    """
    return dict(CLOSED) if cell.metadata.get("jupyter", {}).get("source_hidden") else {}


def around(before: str, after: str) -> str:
    """Return the words of a sentence around a place.

    Examples
    --------
    >>> around("One. The favorite takes 14%", " on average. It is")
    '“The favorite takes 14% on average.”'
    """
    start = re.split(r"(?<=[.!?])\s+|\n", before)[-1]
    end = re.split(r"(?<=[.!?])\s|\n", after)[0]
    start = start if len(start) < 80 else f"… {start[-80:].partition(' ')[2]}"
    end = end if len(end) < 40 else f"{end[:40].rpartition(' ')[0]} …"
    return f"“{start}{end}”"


def notebooks(
    book: Book, repository: str = "", pages: Iterable[Page] | None = None
) -> dict[str, str]:
    """Return the text of each notebook, or of those of some pages, by the name of its file."""
    return ForReader(book, repository).notebooks(book.notebooks if pages is None else pages)


def with_plots(book: Book, made: dict[str, str]) -> dict[str, str]:
    """Return the texts of notebooks with the plots that the last build has drawn."""
    drawn = dict(made)
    pages = {page.path: page for page in book.notebooks if page.path.name in made}
    for path, digest in notebook_digests(pages, book.root).items():
        page = pages[path]
        if pictures := stills.drawn_plots(page, digest, book.root):
            notebook = nbformat.reads(made[page.path.name], as_version=4)
            stills.illustrate(notebook, pictures)
            drawn[page.path.name] = nbformat.writes(notebook) + "\n"
    return drawn
