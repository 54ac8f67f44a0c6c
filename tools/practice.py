"""Write the practice notebooks: the chapters' exercises with room for the reader's answers.

    python tools/practice.py            writes practice/NN_name.ipynb from chapters/NN_name.ipynb
    python tools/practice.py --check    says which are out of date and fails if one is

Of each exercise a practice notebook has the statement, the hint, folded, and a stub. The stub comes
from the cell of the solution that is tagged ``answer``: between the lines ``### BEGIN SOLUTION``
and ``### END SOLUTION`` stays what the reader has to fill in,

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

import argparse
import ast
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attnlib.exercises._exercise import exercises  # noqa: E402
from attnlib.exercises._judges import Pick  # noqa: E402
from tools.notebooks import KERNEL, LANGUAGE  # noqa: E402

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
YOURS = "...  # your answer"
OPENING = """# Practice: {title}

Here are the exercises of [chapter {number}](../chapters/{stem}.ipynb). Put your answer in place \
of each `...` and run the cell: `check(...)` prints what is right, what is wrong and why. Check as \
often as you like; nothing is sent anywhere. Functions are called with arrays of many shapes and \
sizes and have to leave them as they are. The chapter's page has the solutions.

**To run it** takes the book's package, `attnlib`. In a copy of the book's repository, the \
command `make lab` installs everything and opens JupyterLab; this file is in the folder \
`practice`. Without `make`, install the package from there into the Python that runs this \
notebook: `python -m pip install ".[book]"`. On Binder nothing is to be installed: where the \
book's site shows *Run on Binder* below the title of a chapter, that link opens the chapter there, \
with this folder beside it."""
IMPORTS = """import math

try:
    import numpy as np

    from attnlib.exercises import check
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"This Python has no {missing.name}, which exercises need. The top of the notebook says "
        "how to get it. If it is installed, choose its kernel in the menu Kernel, Change Kernel."
    ) from None"""
# In <details> the formulas of a hint would not be set where jupyterlab-myst is installed.
FOLDED = {"jupyter": {"source_hidden": True}}

ASKED = re.compile(
    r"^### (?P<title>[^\n]+)\n+(?P<fence>:{3,})\{exercise\}\n:label: ex-(?P<name>[\w-]+)\n"
    r"(?P<task>.*?)\n(?P=fence)$"
    r"(?:\n+(?P<hints>:{3,})\{admonition\} Hint\n:class: dropdown hint\n"
    r"(?P<hint>.*?)\n(?P=hints)$)?",
    re.DOTALL | re.MULTILINE,
)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
LABELLED = [
    re.compile(r"\$\$\n(?P<formula>.*?)\n\$\$ *\((?P<label>[\w-]+)\)", re.DOTALL),
    re.compile(r"^:{3,}\{prf:(?P<kind>\w+)\} *(?P<title>.*)\n:label: (?P<label>\S+)", re.MULTILINE),
    re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>.+)$", re.MULTILINE),
]
ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<text>[^`]+)`")
TARGETED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
MYST = re.compile(r"\{[\w:-]+\}`|^\s*(?::{3,}|`{3,}\{|\([\w-]+\)=|%|\+{3})", re.MULTILINE)
AT_START = re.compile(r"(?:^|[.?!]|\n\s*(?:[-*]|\d+\.)|\n\s*\n)\s*$")


class PracticeError(Exception):
    """A chapter from which no practice notebook can be made."""


@dataclass(frozen=True)
class Exercise:
    """What a practice notebook takes from an exercise.

    Parameters
    ----------
    name : str
        Its label without the "ex-".
    title, task, hint : str
        The words as they stand in the chapter.
    given : list of str
        Sources of the cells before the solution that the reader sees and starts from.
    answer : str
        Source of the cell tagged ``answer``.
    """

    name: str
    title: str
    task: str
    hint: str
    given: list[str] = field(default_factory=list)
    answer: str = ""


def read_exercises(chapter: NotebookNode) -> list[Exercise]:
    """Collect the exercises of a chapter, in order."""
    found: list[Exercise] = []
    before_solution = False
    for cell in chapter.cells:
        tags = cell.metadata.get("tags", ())
        if cell.cell_type == "markdown":
            boxes = list(ASKED.finditer(cell.source))
            found += [
                Exercise(box["name"], box["title"], box["task"], box["hint"] or "") for box in boxes
            ]
            before_solution = bool(boxes)
        elif "answer" in tags and found:
            if found[-1].answer:
                raise PracticeError(f"{found[-1].name}: two cells are tagged answer")
            found[-1] = replace(found[-1], answer=cell.source)
        elif before_solution and not tags:
            found[-1].given.append(cell.source)
    if open_ones := [exercise.name for exercise in found if not exercise.answer]:
        raise PracticeError(f"{', '.join(open_ones)}: no cell is tagged answer")
    return found


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
    return "".join(f"# {line}\n" for line in wrap(text, 98, break_long_words=False))


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
        raise PracticeError(f"{function.name}: its body stands in the line of its signature")
    described = ast.get_docstring(function) is not None
    last = (body.end_lineno or body.lineno) if described else body.lineno - 1
    return "\n".join([*lines[function.lineno - 1 : last], f"    return {YOURS}"])


def stub(source: str, phrases: Mapping[str, str] = MappingProxyType({})) -> str:
    r"""Return the cell that the reader fills in.

    Parameters
    ----------
    source : str
        The cell tagged ``answer``.
    phrases : mapping of str to str
        For each part of the answer, what is wanted.

    Returns
    -------
    str
        The same with the region of the solution emptied.

    Examples
    --------
    >>> print(stub("### BEGIN SOLUTION\na = 3\nb = a**2\n### END SOLUTION\ncheck('x', b=b)"))
    b = ...  # your answer
    <BLANKLINE>
    check('x', b=b)
    """
    lines = source.splitlines()
    if (lines.count(BEGIN), lines.count(END)) != (1, 1) or lines.index(BEGIN) > lines.index(END):
        raise PracticeError(f"wanted is one line «{BEGIN}» and, below it, one «{END}»")
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


class Book:
    """The book's chapters, as far as an exercise may refer to them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def chapters(self) -> dict[str, NotebookNode]:
        """The notebooks by the names of their files."""
        paths = sorted((self.root / "chapters").glob("*.ipynb"))
        return {path.stem: nbformat.read(path, as_version=4) for path in paths}

    @cached_property
    def labels(self) -> dict[str, str]:
        """What stands for each label in plain words."""
        found = {}
        for stem, notebook in self.chapters.items():
            where = f"in {self.page(stem)}"
            asked = []
            for cell in notebook.cells:
                figure = cell.metadata.get("mystnb", {}).get("figure", {})
                if figure:
                    caption = re.split(r"[.:](?:\s|$)", figure.get("caption", ""))[0]
                    found[figure.get("name", "")] = f"the figure “{caption}” {where}"
                if cell.cell_type != "markdown":
                    continue
                for pattern in LABELLED:
                    for box in pattern.finditer(cell.source):
                        found[box["label"]] = labelled(box, where)
                asked += ASKED.finditer(cell.source)
            for number, box in enumerate(asked, start=1):
                found[f"ex-{box['name']}"] = f"exercise {numbered(stem, number)}"
        return found

    @cached_property
    def works(self) -> dict[str, tuple[str, str]]:
        """Authors and year of each work cited, by its key."""
        from pybtex.database import parse_file

        entries = parse_file(self.root / "references.bib").entries
        return {key: (authors(entry), entry.fields["year"]) for key, entry in entries.items()}

    def page(self, stem: str) -> str:
        """Return a link to a page of the book: to a chapter by its number, or by its title."""
        notebook = self.chapters.get(stem)
        if notebook is not None and stem[:2].isdecimal():
            return f"[chapter {int(stem[:2])}](../chapters/{stem}.ipynb)"
        if notebook is not None:
            return f"[{title_of(notebook.cells[0].source)}](../chapters/{stem}.ipynb)"
        path = self.root / "chapters" / f"{stem}.md"
        if not path.is_file():
            raise PracticeError(f"the book has no page {stem}")
        return f"[{title_of(path.read_text(encoding='utf-8'))}](../chapters/{stem}.md)"

    def cited(self, keys: str, form: str) -> str:
        """Return a citation in words, in the text ("t") or in brackets."""
        works = []
        for key in keys.split(","):
            if key.strip() not in self.works:
                raise PracticeError(f"references.bib has no {key.strip()}")
            names, year = self.works[key.strip()]
            works.append(f"{names} ({year})" if form == "t" else f"{names}, {year}")
        return ", ".join(works) if form == "t" else f"({'; '.join(works)})"

    def words(self, role: str, content: str) -> str:
        """Return what a role shows, in plain Markdown."""
        targeted = TARGETED.fullmatch(content)
        title, target = (targeted["title"], targeted["target"]) if targeted else ("", content)
        kind, _, form = role.partition(":")
        if kind == "term":
            return " ".join((title or target).split())
        if kind == "cite":
            return self.cited(content, form)
        if role == "math":
            return f"${content}$"
        if role == "doc":
            link = self.page(target)
            return f"[{title}]{link[link.rindex('(') :]}" if title else link
        if role in {"eq", "ref", "numref", "prf:ref"}:
            if target not in self.labels:
                raise PracticeError(f"no chapter has the label {target}")
            return title or self.labels[target]
        raise PracticeError(f"the role {{{role}}} has no form in plain Markdown")

    def plain(self, text: str) -> str:
        """Return what JupyterLab shows well without plug-ins, in place of the book's own Markdown.

        Examples
        --------
        >>> Book(ROOT).plain("Measure the {term}`entropies<entropy>` as in {doc}`03_saturation`.")
        'Measure the entropies as in [chapter 3](../chapters/03_saturation.ipynb).'
        """

        def instead(box: re.Match[str]) -> str:
            words = self.words(box["role"], box["text"])
            if AT_START.search(text[: box.start()]):
                words = re.sub(r"^(\[?)([a-z])", lambda m: m[1] + m[2].upper(), words)
            return words

        text = re.sub(r"^\$\$ *\([\w-]+\)$", "$$", text.strip(), flags=re.MULTILINE)
        made = ROLE.sub(instead, text)
        if left := MYST.search(made):
            raise PracticeError(f"«{left.group().strip()}» has no form in plain Markdown")
        return made

    def practice(self, stem: str) -> NotebookNode | None:
        """Make the practice notebook of a chapter; nothing for one without exercises."""
        chapter = self.chapters[stem]
        exercises = read_exercises(chapter)
        if not exercises:
            return None
        opening = OPENING.format(
            title=title_of(chapter.cells[0].source), number=int(stem[:2]), stem=stem
        )
        cells = [
            v4.new_markdown_cell(opening, id="opening"),
            v4.new_code_cell(IMPORTS, id="imports"),
        ]
        for number, exercise in enumerate(exercises, start=1):
            heading = f"## Exercise {numbered(stem, number)}"
            try:
                statement = (
                    f"{heading}: {self.plain(exercise.title)}\n\n{self.plain(exercise.task)}"
                )
                hint = f"Hint:\n\n{self.plain(exercise.hint)}" if exercise.hint else ""
                code = stub(exercise.answer, wanted(exercise.name))
            except PracticeError as error:
                raise PracticeError(f"{exercise.name}: {error}") from error
            cells.append(v4.new_markdown_cell(statement, id=f"{exercise.name}-statement"))
            if hint:
                cells.append(
                    v4.new_markdown_cell(hint, id=f"{exercise.name}-hint", metadata=FOLDED)
                )
            for position, source in enumerate(exercise.given, start=1):
                given = with_imports(source, chapter)
                cells.append(v4.new_code_cell(given, id=f"{exercise.name}-given-{position}"))
            cells.append(v4.new_code_cell(code, id=f"{exercise.name}-answer"))
        return v4.new_notebook(
            cells=cells, metadata={"kernelspec": KERNEL, "language_info": LANGUAGE}
        )

    def notebooks(self) -> dict[str, str]:
        """Return the text of each practice notebook by the name of its file."""
        made = {}
        for stem in self.chapters:
            try:
                notebook = self.practice(stem)
            except PracticeError as error:
                raise PracticeError(f"chapters/{stem}.ipynb: {error}") from error
            if notebook is not None:
                nbformat.validate(notebook)
                made[f"{stem}.ipynb"] = nbformat.writes(notebook) + "\n"
        return made


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


def numbered(stem: str, number: int) -> str:
    """Return an exercise's number on the site.

    Examples
    --------
    >>> numbered("02_variance", 3)
    '2.3'
    """
    return f"{int(stem[:2])}.{number}"


def title_of(text: str) -> str:
    """Return the title of a page."""
    found = TITLE.search(text)
    if found is None:
        raise PracticeError("a page has no title")
    return found[1]


def labelled(box: re.Match[str], where: str) -> str:
    """Return what stands for a label: a short formula itself, a heading or a theorem by name."""
    groups = box.groupdict()
    if "formula" in groups:
        formula = " ".join(box["formula"].split()).rstrip(" .,")
        return f"an equation {where}" if r"\\" in formula else f"${formula}$"
    if "kind" in groups:
        return f"the {box['kind']} “{box['title'].strip()}” {where}"
    return f"“{box['title']}” {where}"


def authors(entry: Any) -> str:
    """Return the family names of a work's authors, as many as a citation names.

    Parameters
    ----------
    entry : pybtex.database.Entry
        The work.
    """
    from pybtex.richtext import Text

    names = [
        str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names])))
        for person in entry.persons["author"]
    ]
    if len(names) > 2 or names[-1] == "others":
        return f"{names[0]} et al."
    return " and ".join(names)


def outdated(book: Book, folder: Path) -> list[str]:
    """Say which practice notebooks are not what the chapters make.

    Parameters
    ----------
    book : Book
        The chapters.
    folder : Path
        Where the practice notebooks are.

    Returns
    -------
    list of str
        One sentence each; empty when all are up to date.
    """
    wanted = book.notebooks()
    stored = {path.name: path for path in folder.glob("*.ipynb")}
    found = []
    for name in sorted(wanted.keys() | stored.keys()):
        if name not in wanted:
            found.append(f"{name} belongs to no chapter with exercises")
        elif name not in stored:
            found.append(f"{name} is missing")
        elif stored[name].read_text(encoding="utf-8") != wanted[name]:
            found.append(f"{name} is out of date")
    return found


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write or check, and return the process's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, fail on differences")
    options = parser.parse_args(arguments)
    book, folder = Book(root), root / "practice"
    try:
        if options.check:
            found = outdated(book, folder)
            sys.stderr.writelines(f"practice/{what}; run: make practice\n" for what in found)
            return 1 if found else 0
        made = book.notebooks()
    except PracticeError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote practice/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
