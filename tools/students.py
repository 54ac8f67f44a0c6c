"""Write a copy of the repository that an instructor can hand to students.

    python tools/students.py FOLDER

``make students OUT=FOLDER`` calls this. The folder has to be new or empty. The copy holds what git
knows of the files and folders in ``KEPT``, as they are in this clone, without those in
``LEFT_OUT``; whatever is added to the repository later stays out until it is named there. Files in
the folder ``OWN`` are for the copy alone, and lie at its root there. Two things are done to texts:

- The table of contents loses the pages that the copy does not have.
- A link to such a page becomes its words, or the title of the page and "(not in this copy)".

At last every link from page to page and from file to file is followed; one that leads nowhere is
named, and is a failure.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Container, Iterator
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.markdown import blocks, roles, titled  # noqa: E402
from book.model import Book, BookError  # noqa: E402
from book.reading import ORIGINAL  # noqa: E402
from tools import repository  # noqa: E402

KEPT = (
    ".binder",
    ".github/workflows/book.yml",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "LICENSE-TEXT",
    "MANIFEST.in",
    "Makefile",
    "NOTICE",
    "_config.yml",
    "_ext",
    "_toc.yml",
    "attnbook",
    "attnlib",
    "benchmarks",
    "book",
    "chapters",
    "data",
    "docs/package.md",
    "docs/students",
    "index.ipynb",
    "live",
    "pyproject.toml",
    "references.bib",
    "requirements-bench.txt",
    "requirements-dev.txt",
    "requirements.txt",
    "tools",
    "vendor",
)
LEFT_OUT = (
    "chapters/grading.md",
    "chapters/instructors.md",
    "tools/chapter.md",
    "tools/chapter.py",
    "tools/example_submissions.py",
    "tools/grading_python.py",
    "tools/imports.py",
    "tools/question.py",
    "tools/plain_sphinx.py",
    "tools/repository.py",
    "tools/run_tests.py",
    "tools/sizes.py",
    "tools/students.py",
)
OWN = "docs/students/"
PAGES = {".md", ".ipynb"}
_FILE = re.compile(r"\]\((?!https?:|#|mailto:|data:|attachment:)([^)\s#]+)")
REFERENCES = {"doc", "ref", "numref"}


class CopyError(Exception):
    """The copy cannot be made, or is not whole."""


def within(name: str, places: tuple[str, ...]) -> bool:
    """Say whether a file is one of some files, or in one of some folders."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def tracked(root: Path) -> list[str]:
    """Return the files that git knows of and that are there."""
    try:
        return repository.files(root)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"git has to say which files belong to {root}, and it does not: {error}"
        raise CopyError(message) from error


def chosen(names: list[str]) -> list[str]:
    """Return those of some files that students get.

    Examples
    --------
    >>> chosen(["README.md", "docs/students/README.md", "chapters/run.md", "chapters/grading.md"])
    ['docs/students/README.md', 'chapters/run.md']
    """
    return [name for name in names if within(name, KEPT) and not within(name, LEFT_OUT)]


def target(page: str, to: str) -> str:
    """Return the name of a document, without its suffix, that a page of some name links.

    Examples
    --------
    >>> target("chapters/run.md", "instructors"), target("chapters/run.md", "/index")
    ('chapters/instructors', 'index')
    """
    return (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), to)) if to[0] != "/" else to[1:]
    )


def unlinked(text: str, page: str, gone: dict[str, str]) -> str:
    """Return a page whose links to what is gone are words.

    `gone` has what the copy lacks, documents without their suffix and labels, with its title.

    Examples
    --------
    >>> unlinked("{doc}`For you <b>`, {doc}`b`, {ref}`b` and {doc}`c`", "a.md", {"b": "B"})
    'For you, *B* (not in this copy), *B* (not in this copy) and {doc}`c`'
    """
    made, end = "", 0
    for role in roles(text, deep=True):
        words, to = titled(role.content)
        to = target(page, to) if role.name == "doc" else to
        if role.name in REFERENCES and to in gone:
            made += text[end : role.start] + (words or f"*{gone[to]}* (not in this copy)")
            made += "\n" * text.count("\n", role.start, role.end)  # lines stay lines
            end = role.end
    return made + text[end:]


def listed(toc: str, gone: Container[str]) -> str:
    r"""Return a table of contents without the pages that are gone.

    Examples
    --------
    >>> listed("- file: a\n- file: b\n", {"b"})
    '- file: a\n'
    """
    lines = toc.splitlines(keepends=True)
    return "".join(line for line in lines if line.strip().removeprefix("- file: ") not in gone)


def absent(root: Path, names: list[str]) -> dict[str, str]:
    """Return the titles of the pages that are not among some files, by name and by label."""
    found: dict[str, str] = {}
    for page in Book(root).pages:
        if page.path.relative_to(root).as_posix() not in names:
            labels = [label for label, *_ in page.labels]
            found |= dict.fromkeys([page.name, *labels], page.title)
    return found


def texts(path: Path) -> list[str]:
    """Return the texts of a page or a notebook."""
    if path.suffix == ".md":
        return [path.read_text(encoding="utf-8")]
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def rewrite(path: Path, name: str, gone: dict[str, str]) -> None:
    """Write a page or a notebook anew if it links what is gone."""
    before = texts(path)
    after = [unlinked(text, name, gone) for text in before]
    if after == before:
        return
    if path.suffix == ".md":
        path.write_text(after[0], encoding="utf-8")
        return
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell, text in zip(cells, after, strict=True):
        cell.source = text
    nbformat.write(notebook, path)


def dangling(folder: Path) -> Iterator[str]:
    """Name what a copy links and does not have."""
    try:
        documents = {page.name for page in Book(folder).pages}
    except BookError as error:
        yield str(error)
        return
    for path in sorted(path for path in folder.rglob("*") if path.suffix in PAGES):
        if path.parent.name == ORIGINAL:  # where nobody reads
            continue
        name = path.relative_to(folder).as_posix()
        for text in texts(path):
            linked = [titled(one.content)[1] for one in roles(text, deep=True) if one.name == "doc"]
            yield from (f"{name}: {to}" for to in linked if target(name, to) not in documents)
            included = [block.title for block in blocks(text) if block.kind == "include"]
            files = [*included, *_FILE.findall(text)]
            yield from (f"{name}: {to}" for to in files if not (path.parent / to).is_file())


def write(root: Path, folder: Path) -> list[str]:
    """Write the copy into a new or an empty folder, and return the names of its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CopyError(f"{folder} is not an empty folder")
    known = tracked(root)
    names = chosen(known)
    gone = absent(root, names)
    for name in names:
        copy = folder / name.removeprefix(OWN)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, copy)
        if copy.suffix in PAGES:
            rewrite(copy, name.removeprefix(OWN), gone)
    contents = folder / "_toc.yml"
    contents.write_text(listed(contents.read_text(encoding="utf-8"), gone), encoding="utf-8")
    if lost := list(dangling(folder)):
        message = "the copy is not whole; it links what it does not have:\n  " + "\n  ".join(lost)
        raise CopyError(message)
    return [name.removeprefix(OWN) for name in names]


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the copy, and return the process's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="where the copy goes, a new or an empty folder")
    folder = parser.parse_args(arguments).folder
    if not folder:
        parser.error("name a new folder: make students OUT=folder")
    try:
        names = write(root, Path(folder).resolve())
    except CopyError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    without = sorted(
        {name.split("/")[0] for name in tracked(root)} - {n.split("/")[0] for n in names}
    )
    sys.stdout.write(f"wrote {len(names)} files to {folder}, without {', '.join(without)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
