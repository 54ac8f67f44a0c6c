"""Write the practice notebooks: the chapters' exercises with room for the reader's answers.

    python tools/practice.py    writes practice/NN_name.ipynb from chapters/NN_name.ipynb

These files are not in git; the build of the site, ``make lab`` and Binder write them, too. A
notebook that you have worked in is never overwritten: move it away to get a new one.

Of each exercise a practice notebook has the statement, the hint, folded, and a stub. The stub comes
from the cell of the solution that is tagged ``answer``: between the lines ``### BEGIN SOLUTION``
and ``### END SOLUTION`` the stub keeps what the reader has to fill in,

    ### BEGIN SOLUTION
    width = 512
    plain = math.sqrt(width)                  # the standard deviation of q·k
                                              plain = ...  # your answer


    def weights(scores):                      def weights(scores):
        \"\"\"Return the weights.\"\"\"                 \"\"\"Return the weights.\"\"\"
        return softmax(scores)                    return ...  # your answer


    ### END SOLUTION
    check("spread", plain=plain, ...)         check("spread", plain=plain, ...)

and lines outside stay as they are. Above a value, a comment says what is wanted, in the words of
the check. The markers are those of nbgrader. Its ClearSolutions is not used, as it puts the same
text, which raises, in place of each region: names and signatures would be lost, and a notebook
would stop at its first open answer.

What only Jupyter Book understands becomes plain Markdown: a term its words, an equation its
formula, another chapter a link to its notebook. What has no such form is refused.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType

import nbformat
import yaml
from nbformat import NotebookNode, v4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.book_site import installation, repository_address  # noqa: E402
from attnbook.exercises._exercise import exercises  # noqa: E402
from attnbook.exercises._judges import Pick  # noqa: E402
from book.markdown import Block  # noqa: E402
from book.model import LABEL, Book, BookError, Exercise, Page, Target  # noqa: E402
from book.plain import Plain, PlainError  # noqa: E402
from book.stored import KERNEL, LANGUAGE  # noqa: E402

FOLDER = "practice"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
YOURS = "...  # your answer"
OPENING = """# Practice: {title}

Here are the exercises of {chapter}. Put your answer in place \
of each `...` and run the cell: `check(...)` prints what is right, what is wrong and why. Check as \
often as you like; nothing is sent anywhere. Functions are called with arrays of many shapes and \
sizes and have to leave them as they are. The chapter's page has the solutions.

**To run it** takes the book's package, `attnlib`. In a copy of the book's repository, the \
command `make lab` installs everything and opens JupyterLab; this file is in the folder \
`practice`. Elsewhere install the package into the Python that runs this notebook{where}: \
`{install}`. On Binder nothing is to be installed: where the \
book's site shows *Run on Binder* below the title of a chapter, that link opens the chapter there, \
with this folder beside it."""
IMPORTS = """import math

try:
    import numpy as np

    from attnbook.exercises import check
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"This Python has no {missing.name}, which exercises need. The top of the notebook says "
        "how to get it. If it is installed, choose its kernel in the menu Kernel, Change Kernel."
    ) from None"""
DIGEST = "made"
"""The metadata of a notebook that say what its sources were when it was written."""
# Not in <details>, where not every viewer sets the formulas of a hint.
FOLDED = {"jupyter": {"source_hidden": True}}


def with_imports(source: str, chapter: NotebookNode) -> str:
    """Put above a piece of a chapter what the chapter has imported for it."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    modules: dict[str, list[str]] = {}
    for cell in chapter.cells:
        if cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.ImportFrom):
                    names = [alias.name for alias in node.names if alias.name in used]
                    modules.setdefault(node.module or "", []).extend(names)
    lines = [
        f"from {module} import {', '.join(sorted(set(names)))}"
        for module, names in modules.items()
        if names
    ]
    return spaced(["\n".join(lines), source])


def asked(source: str) -> list[tuple[str, str]]:
    """Return the parts that the check of a cell takes, each with the name of its answer.

    Examples
    --------
    >>> asked("check('spread', plain=one, root=2 * two)")
    [('plain', 'one')]
    """
    return [
        (node.arg or "", node.value.id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Name)
    ]


def comment(text: str) -> str:
    r"""Return a text as a comment, in lines that are not too long.

    Examples
    --------
    >>> comment("the largest weight")
    '# the largest weight\n'
    """
    return "".join(f"# {line}\n" for line in wrap(text, 72, break_long_words=False))


def names_stored(statement: ast.stmt) -> list[str]:
    """Return the names that a statement assigns, but not those inside of functions."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def empty_function(function: ast.FunctionDef, lines: list[str]) -> str:
    """Return a function's signature and docstring, and a body that returns no answer yet."""
    body = function.body[0]
    if body.lineno == function.lineno:
        raise PlainError(f"{function.name}: its body is in the line of its signature")
    described = ast.get_docstring(function) is not None
    last = (body.end_lineno or body.lineno) if described else body.lineno - 1
    return "\n".join([*lines[function.lineno - 1 : last], f"    return {YOURS}"])


def stub(source: str, phrases: Mapping[str, str] = MappingProxyType({})) -> str:
    r"""Return the cell that the reader fills in: the answer without the region of the solution.

    `phrases` say for each part of the answer what is wanted.

    Examples
    --------
    >>> print(stub("### BEGIN SOLUTION\na = 3\nb = a**2\n### END SOLUTION\ncheck('x', b=b)"))
    b = ...  # your answer
    <BLANKLINE>
    check('x', b=b)
    """
    lines = source.splitlines()
    if (lines.count(BEGIN), lines.count(END)) != (1, 1) or lines.index(BEGIN) > lines.index(END):
        raise PlainError(f"wanted is one line «{BEGIN}» and, below it, one «{END}»")
    begin, end = lines.index(BEGIN), lines.index(END)
    above, region, below = lines[:begin], lines[begin + 1 : end], lines[end + 1 :]
    used = {node.id for node in ast.walk(ast.parse("\n".join(below))) if isinstance(node, ast.Name)}
    comments = {name: comment(phrases[part]) for part, name in asked(source) if part in phrases}
    kept: dict[str, str] = {}
    for statement in ast.parse("\n".join(region)).body:
        for name in names_stored(statement):
            if name in used and isinstance(statement, ast.FunctionDef):
                kept[name] = empty_function(statement, region)
            elif name in used:
                kept[name] = f"{comments.get(name, '')}{name} = {YOURS}"
    return spaced(["\n".join(above).strip("\n"), *kept.values(), "\n".join(below).strip("\n")])


def spaced(parts: list[str]) -> str:
    """Join pieces of code: two empty lines around functions, none between stubs of values."""
    text = ""
    for part in filter(None, parts):
        if text:
            around = (ast.parse(text).body[-1:], ast.parse(part).body[:1])
            if any(isinstance(node, ast.FunctionDef) for nodes in around for node in nodes):
                text += "\n\n\n"
            else:
                text += "\n" if text.endswith(YOURS) and part.endswith(YOURS) else "\n\n"
        text += part
    return text


class ForPractice(Plain):
    """Writes exercises, beside which the chapters are not open."""

    def __init__(self, book: Book, folder: str = "", repository: str = "") -> None:
        super().__init__(book, folder)
        self.repository = repository

    def reference(self, target: Target) -> str:
        """Return what a label names: a short formula itself, the rest by its name."""
        where = f"in {self.page(target.page.name)}"
        if target.kind == "exercise":
            return self.numbered(target)
        if target.kind == "equation":
            formula = " ".join(target.title.split()).rstrip(" .,")
            return f"an equation {where}" if r"\\" in formula else f"${formula}$"
        title = target.title
        if target.kind == "figure":  # the first sentence of its caption
            title = re.split(r"[.:](?:\s|$)", title)[0]
        kind = "" if target.kind in {"chapter", "section"} else f"the {target.kind} "
        return f"{kind}“{title}” {where}"

    def equation(self, box: Block) -> str:
        """Return a formula without its number."""
        return f"$$\n{box.body.strip()}\n$$"

    def notebook(self, page: Page) -> NotebookNode:
        """Make the practice notebook of a chapter."""
        opening = OPENING.format(
            title=page.title,
            chapter=self.page(page.name),
            install=installation(self.repository),
            where="" if self.repository else ", from such a copy",
        )
        cells = [
            v4.new_markdown_cell(opening, id="opening"),
            v4.new_code_cell(IMPORTS, id="imports"),
        ]
        for exercise in page.exercises:
            try:
                cells += self.exercise(exercise, page.notebook)
            except (PlainError, BookError) as error:
                raise PlainError(f"{exercise.name}: {error}") from error
        made = v4.new_notebook(
            cells=cells, metadata={"kernelspec": KERNEL, "language_info": LANGUAGE}
        )
        made.metadata[DIGEST] = digest(made)
        return made

    def exercise(self, exercise: Exercise, chapter: NotebookNode) -> list[NotebookNode]:
        """Make the cells of an exercise."""
        name, number = exercise.name, self.book.targets[f"{LABEL}{exercise.name}"].number
        heading = f"## Exercise {number}: {self.text(exercise.title)}"
        statement = f"{heading}\n\n{self.text(exercise.statement)}"
        cells = [v4.new_markdown_cell(statement, id=f"{name}-statement")]
        if exercise.hint:
            hint = f"Hint:\n\n{self.text(exercise.hint)}"
            cells.append(v4.new_markdown_cell(hint, id=f"{name}-hint", metadata=FOLDED))
        for position, source in enumerate(exercise.given, start=1):
            given = with_imports(source, chapter)
            cells.append(v4.new_code_cell(given, id=f"{name}-given-{position}"))
        answer = stub(exercise.answer, wanted(name))
        return [*cells, v4.new_code_cell(answer, id=f"{name}-answer")]


def notebooks(
    book: Book, pages: Iterable[Page] | None = None, repository: str = ""
) -> dict[str, str]:
    """Return the practice notebooks of all or some chapters by the names of their files."""
    asking = [page for page in (book.chapters if pages is None else pages) if page.exercises]
    return ForPractice(book, "../notebooks/", repository).notebooks(asking)


def configured(root: Path) -> str:
    """Return the address that ``_config.yml`` states, or nothing."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text).get("repository", {}).get("url") or "")


def wanted(name: str) -> dict[str, str]:
    """Return what an exercise asks for, by the names of its parts."""
    found = exercises().get(name)
    phrases = {}
    for part, judge in found.parts.items() if found else ():
        phrases[part] = judge.wanted
        if isinstance(judge, Pick):
            # sorted, so that the order tells nothing
            quoted = [f'"{option}"' for option in sorted(judge.options, key=str.casefold)]
            phrases[part] += f": one of {', '.join(quoted[:-1])} and {quoted[-1]}"
    return phrases


def digest(notebook: NotebookNode) -> str:
    """Return sixteen hexadecimal digits that change with any source of a notebook."""
    sources = json.dumps([cell.source for cell in notebook.cells])
    return hashlib.sha256(sources.encode()).hexdigest()[:16]


def is_as_written(path: Path) -> bool:
    """Say whether nobody has changed a source of a notebook since it was written."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except nbformat.reader.NotJSONError:
        return False
    return notebook.metadata.get(DIGEST) == digest(notebook)


def write(root: Path, made: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Write those notebooks that are missing or out of date, unless a reader has worked in them.

    Return the names of the files written, and of those left as they are for what a reader wrote.
    """
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    written, kept = [], []
    for name, text in made.items():
        path = folder / name
        if path.exists() and not is_as_written(path):
            kept.append(name)
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(name)
    return written, kept


def main(root: Path = ROOT) -> int:
    """Write the notebooks, and return the process's exit status."""
    try:
        made = notebooks(Book(root), repository=repository_address(os.environ, configured(root)))
    except PlainError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    written, kept = write(root, made)
    sys.stdout.writelines(f"wrote {FOLDER}/{name}\n" for name in written)
    sys.stdout.writelines(f"kept {FOLDER}/{name}, which you have worked in\n" for name in kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
