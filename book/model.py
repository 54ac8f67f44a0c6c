"""One model of the book: its parts, pages, chapters, cells, exercises and labels.

`Book` reads ``_toc.yml`` and every page once. Everything that needs to know something about the
text asks it: notebooks for readers, reading times, numbers, tests.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

from book.markdown import FORMULAS, Block, blocks, plain_words, tokens

ROOT = Path(__file__).resolve().parent.parent
SECONDS = {"word": 1 / 3, "line of code": 5, "formula": 30, "prediction": 120}
"""How long readers take: 180 words a minute, and for what is on a line of its own."""
UNSEEN = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
# Sections of the second level that do not belong to the core of a chapter.
EXERCISES, DEEPER = "Exercises", "Deeper"
LABEL = "ex-"
CONTRACT = re.compile(r"^- \*\*(?P<what>[^*]+)\*\* (?P<text>.*(?:\n  .*)*)", re.MULTILINE)


class BookError(Exception):
    """A book that contradicts itself."""


@dataclass(frozen=True)
class Target:
    """What a label names."""

    kind: str  # "chapter", "section", "figure", "equation", "exercise", or what a prf: box is
    number: str  # as the site numbers it: "2.1"; empty for a section
    title: str  # its title, caption or formula
    page: Page


@dataclass
class Exercise:
    """An exercise: what is asked, hinted and answered, in Markdown."""

    name: str  # its label without "ex-"
    title: str
    statement: str
    hint: str = ""
    solution: str = ""  # that of all its text cells
    given: list[str] = field(default_factory=list)  # the cells that the reader starts from
    answers: list[str] = field(default_factory=list)  # one, unless something is wrong

    def take(self, cell: NotebookNode, solving: bool) -> None:
        """Take up one of its cells, which may be part of the solution."""
        if cell.cell_type == "markdown":
            self.solution += f"{cell.source}\n\n" if solving else ""
        elif "answer" in tags(cell):
            self.answers.append(cell.source)
        elif not (solving or tags(cell) or self.answers):
            self.given.append(cell.source)

    @property
    def answer(self) -> str:
        """Source of the cell that is checked."""
        if len(self.answers) != 1:
            count = "no cell is" if not self.answers else f"{len(self.answers)} cells are"
            raise BookError(f"{self.name}: {count} tagged answer")
        return self.answers[0]


@dataclass(frozen=True)
class Figure:
    """A figure: its label, its words and its cell."""

    name: str
    caption: str
    alternative: str
    cell: NotebookNode


@dataclass(frozen=True)
class Prediction:
    """A question before its result: the box, and the cell that lets the reader commit."""

    question: str
    cell: NotebookNode | None


def figure_of(cell: NotebookNode) -> Figure | None:
    """Return the figure that a cell shows, if it has a label."""
    shown = cell.metadata.get("mystnb", {})
    figure, image = shown.get("figure"), shown.get("image", {})
    if not figure:
        return None
    return Figure(figure.get("name", ""), figure.get("caption", ""), image.get("alt", ""), cell)


def tags(cell: NotebookNode) -> set[str]:
    """Return the tags of a cell: what it is for."""
    return set(cell.metadata.get("tags", ()))


def reading_minutes(cells: Iterable[NotebookNode]) -> int:
    """Return how many minutes reading some cells takes, rounded up."""
    seconds = 0.0
    for cell in cells:
        if cell.cell_type == "code":
            lines = [] if tags(cell) & UNSEEN else cell.source.split("\n")
            seconds += SECONDS["line of code"] * sum(bool(line.strip()) for line in lines)
            continue
        formulas = [t for t in tokens(cell.source) if t.type in FORMULAS]
        asked = [b for b in blocks(cell.source) if "predict" in b.options.get("class", "").split()]
        seconds += SECONDS["word"] * len(plain_words(cell.source))
        seconds += SECONDS["formula"] * len(formulas) + SECONDS["prediction"] * len(asked)
    return math.ceil(seconds / 60)


def review_questions(cells: Iterable[NotebookNode]) -> list[tuple[str, str]]:
    """Return the review questions in some cells, each with its answer."""
    return [
        (block.title, block.body.strip())
        for cell in cells
        if cell.cell_type == "markdown"
        for block in blocks(cell.source)
        if "recall" in block.options.get("class", "").split()
    ]


def shown_code(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the cells whose code a page shows before anything is opened."""
    solving = False
    for cell in cells:
        if cell.cell_type == "markdown":
            for block in blocks(cell.source):
                if block.kind.startswith("solution-"):
                    solving = block.kind == "solution-start"
        elif not solving and not tags(cell) & (UNSEEN | {"ask"}):
            yield cell


class Page:
    """A page of the book: a notebook or a text.

    Its name is its path from the root without an ending, as in ``_toc.yml``; a number is that among
    the chapters, and `part` the caption of its part. A notebook that is given is not read.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        number: int | None = None,
        part: str = "",
        notebook: NotebookNode | None = None,
    ) -> None:
        self.name, self.path, self.number, self.part = name, path, number, part
        if notebook is not None:
            self.notebook = notebook

    @property
    def stem(self) -> str:
        """The name of its file without an ending."""
        return self.path.stem

    @property
    def topic(self) -> str:
        """What docstrings call it: its file's name without digits before it."""
        return re.sub(r"^\d+_", "", self.stem)

    @property
    def is_notebook(self) -> bool:
        """Whether it has cells."""
        return self.path.suffix == ".ipynb"

    @cached_property
    def notebook(self) -> NotebookNode:
        """Its cells; a text is a single one, followed by what it includes."""
        if self.is_notebook:
            return nbformat.read(self.path, as_version=4)
        text = self.path.read_text(encoding="utf-8")
        included = [block.title for block in blocks(text) if block.kind == "include"]
        texts = [text, *((self.path.parent / name).read_text("utf-8") for name in included)]
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(t) for t in texts])

    @property
    def cells(self) -> list[NotebookNode]:
        """Its cells."""
        return self.notebook.cells

    @cached_property
    def blocks(self) -> list[tuple[NotebookNode, Block]]:
        """Headings, labels, boxes and labeled formulas, each with its cell, in order."""
        return [
            (cell, block)
            for cell in self.cells
            if cell.cell_type == "markdown"
            for block in blocks(cell.source)
        ]

    @cached_property
    def title(self) -> str:
        """Its title, as it is written."""
        titles = [block.title for _, block in self.blocks if block.kind == "heading"]
        if not titles:
            raise BookError(f"{self.name} has no title")
        return titles[0]

    @cached_property
    def contract(self) -> dict[str, str]:
        """What its contract promises and asks for: "You need", "Time" and so on."""
        for _, block in self.blocks:
            if "contract" in block.options.get("class", "").split():
                items = CONTRACT.finditer(block.body)
                return {item["what"]: " ".join(item["text"].split()) for item in items}
        return {}

    @cached_property
    def question(self) -> str:
        """The one question that it answers, for lists of the chapters."""
        return str(self.notebook.metadata.get("book", {}).get("question", ""))

    @cached_property
    def exercises(self) -> list[Exercise]:
        """Its exercises."""
        exercises: list[Exercise] = []
        heading, solving = "", False
        for cell in self.cells:
            for block in blocks(cell.source) if cell.cell_type == "markdown" else ():
                if block.kind == "heading":
                    heading = block.title
                elif block.kind == "exercise":
                    name = block.label.removeprefix(LABEL)
                    exercises.append(Exercise(name, heading, block.body.strip()))
                elif block.kind.startswith("solution-"):
                    solving = block.kind == "solution-start"
                elif exercises and "hint" in block.options.get("class", "").split():
                    exercises[-1].hint = block.body.strip()
            if exercises:
                exercises[-1].take(cell, solving)
        return exercises

    def _pieces(self) -> Iterator[tuple[str, NotebookNode]]:
        """Yield its cells, each with the title of its section of the second level.

        A text in which such a section begins is cut there.
        """
        title = ""
        for cell in self.cells:
            if cell.cell_type == "code":
                yield title, cell
                continue
            lines = cell.source.splitlines()
            heads = [
                (block.lines[0], block.title)
                for block in blocks(cell.source)
                if block.kind == "heading" and block.level == 2
            ]
            ends = [start for start, _ in heads] + [len(lines)]
            for end, (start, section) in zip(ends, [(0, title), *heads], strict=True):
                title = section
                source = "\n".join(lines[start:end])
                if source.strip():
                    yield title, nbformat.from_dict({**cell, "source": source})

    def _read(self) -> Iterator[tuple[str, NotebookNode]]:
        for title, cell in self._pieces():
            if title != EXERCISES and not tags(cell) & {"ask", "answer"}:
                yield title, cell

    def main_path(self) -> list[NotebookNode]:
        """Return the cells outside the section of exercises, without those that only ask."""
        return [cell for _, cell in self._read()]

    def core(self) -> list[NotebookNode]:
        """Return those above the section "Deeper": all that the next chapter builds on."""
        return [cell for _, cell in takewhile(lambda piece: piece[0] != DEEPER, self._read())]

    @cached_property
    def core_minutes(self) -> int:
        """How long reading its core takes."""
        return reading_minutes(self.core())

    @cached_property
    def minutes(self) -> int:
        """How long reading all of it takes, without the exercises."""
        return reading_minutes(self.main_path())

    @cached_property
    def sections(self) -> list[Block]:
        """Its headings below the title."""
        return [block for _, block in self.blocks if block.kind == "heading" and block.level > 1]

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures that have a label."""
        return [figure for cell in self.cells if (figure := figure_of(cell))]

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The boxes "Predict first"."""
        predictions = []
        for cell, block in self.blocks:
            if "predict" in block.options.get("class", "").split():
                below = self.cells[self.cells.index(cell) + 1 :][:1]
                asks = [question for question in below if "predict" in tags(question)]
                predictions.append(Prediction(block.body.strip(), asks[0] if asks else None))
        return predictions

    @cached_property
    def recall(self) -> list[tuple[str, str]]:
        """Its review questions, each with its answer."""
        return review_questions(self.cells)

    @cached_property
    def labels(self) -> list[tuple[str, str, str]]:
        """Each label with its kind and title, in the order of the site's numbers."""
        return list(self._labels())

    def _labels(self) -> Iterator[tuple[str, str, str]]:
        for cell in self.cells:
            if figure := figure_of(cell):
                yield figure.name, "figure", figure.caption
            for block in blocks(cell.source, deep=True) if cell.cell_type == "markdown" else ():
                if not block.label:
                    continue
                if block.kind == "heading":
                    kind = "chapter" if block.level == 1 else "section"
                    yield block.label, kind, block.title
                elif block.kind in {"equation", "exercise"}:
                    yield block.label, block.kind, block.title or block.body.strip()
                elif block.kind.startswith("prf:"):
                    yield block.label, block.kind.removeprefix("prf:"), block.title


FACTS = ("title", "question", "contract", "core_minutes", "minutes", "labels")
"""What pages say of each other."""


def facts(pages: Iterable[Page], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of pages by their digests, and read only pages that are not in `before`.

    `before` is what this returned earlier. Pages whose facts are known are given them.
    """
    code = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    found = {}
    for page in pages:
        digest = hashlib.sha256(code + page.path.read_bytes()).hexdigest()
        vars(page).update(before.get(digest, {}))
        found[digest] = {name: getattr(page, name) for name in FACTS}
    return found


@cache
def book_in(root: Path) -> Book:
    """Return the book in a folder, read once in a build."""
    return Book(root)


class Book:
    """The book in a folder, the one that holds ``_toc.yml``."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root

    @cached_property
    def pages(self) -> list[Page]:
        """All pages in the order of the table of contents, the landing page first."""
        toc = yaml.safe_load((self.root / "_toc.yml").read_text(encoding="utf-8"))
        return list(self._pages(toc))

    def _pages(self, toc: Mapping[str, Any]) -> Iterator[Page]:
        yield self._page(toc["root"])
        number = 0
        for part in toc.get("parts", [{"chapters": toc.get("chapters", [])}]):
            for entry in part.get("chapters", []):
                number += bool(part.get("numbered"))
                own = number if part.get("numbered") else None
                yield self._page(entry["file"], own, part.get("caption", ""))
                for section in entry.get("sections", []):
                    yield self._page(section["file"], None, part.get("caption", ""))

    def _page(self, name: str, number: int | None = None, part: str = "") -> Page:
        for suffix in (".ipynb", ".md"):
            path = self.root / f"{name}{suffix}"
            if path.is_file():
                return Page(name, path, number, part)
        raise BookError(f"_toc.yml names {name}, and there is no such page")

    @cached_property
    def notebooks(self) -> list[Page]:
        """The pages that have cells."""
        return [page for page in self.pages if page.is_notebook]

    @cached_property
    def chapters(self) -> list[Page]:
        """The chapters, which have numbers."""
        return [page for page in self.pages if page.number is not None]

    def page(self, name: str) -> Page:
        """Return a page by its path from the root, with or without an ending, or its stem."""
        bare = name.removesuffix(".ipynb").removesuffix(".md")
        for page in self.pages:
            if bare in {page.name, page.stem}:
                return page
        raise BookError(f"the book has no page {name}")

    @cached_property
    def targets(self) -> dict[str, Target]:
        """What each label names."""
        targets: dict[str, Target] = {}
        for page in self.notebooks:
            count: Counter[str] = Counter()
            for label, kind, title in page.labels:
                count[kind] += 1
                number = f"{page.number}.{count[kind]}" if page.number else str(count[kind])
                if kind == "chapter":
                    number = str(page.number or "")
                targets[label] = Target(kind, "" if kind == "section" else number, title, page)
        return targets

    @cached_property
    def works(self) -> dict[str, tuple[str, str]]:
        """Authors and year of each work cited, by its key."""
        from pybtex.database import parse_file

        entries = parse_file(self.root / "references.bib").entries
        return {key: (_authors(entry), entry.fields["year"]) for key, entry in entries.items()}


def _authors(entry: Any) -> str:
    """Return the family names of a work's authors, as many as a citation names."""
    from pybtex.richtext import Text

    names = [
        str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names])))
        for person in entry.persons["author"]
    ]
    if len(names) > 2 or names[-1] == "others":
        return f"{names[0]} et al."
    return " and ".join(names)
