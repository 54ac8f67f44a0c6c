"""Write a copy of the repository that an instructor can hand to students.

    python tools/students.py FOLDER

``make students OUT=FOLDER`` calls this. The folder has to be new or empty. The copy holds what git
knows of the files and folders in ``KEPT``, as they are in this clone, without those in
``LEFT_OUT``; whatever is added to the repository later stays out until it is named there. Three
things are done to its texts:

- What stands between lines with ``not for students: start`` and ``not for students: end`` goes, in
  Markdown, YAML and the Makefile, where these words are comments.
- In Markdown, what stands between the lines ``<!-- for students:`` and ``-->`` is shown instead.
- A link to a page that the copy does not have becomes its words, or the title of the page and
  "(not in this copy)".

At last every link from page to page and from file to file is followed; one that leads nowhere is
named, and is a failure.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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
    "README.md",
    "_config.yml",
    "_ext",
    "_static",
    "_toc.yml",
    "attnlib",
    "benchmarks",
    "chapters",
    "colab",
    "data",
    "docs/page.png",
    "index.ipynb",
    "practice",
    "pyproject.toml",
    "references.bib",
    "requirements-bench.txt",
    "requirements-dev.txt",
    "requirements.txt",
    "tools",
    "vendor",
)
LEFT_OUT = (
    "benchmarks/grading.py",
    "benchmarks/grading_ceiling.py",
    "benchmarks/grading_memory.py",
    "chapters/grading.md",
    "chapters/instructors.md",
    "tools/binder_check.py",
    "tools/example_submissions.py",
    "tools/release_check.py",
    "tools/run_tests.py",
    "tools/students.py",
)
MARKED = {".md", ".yml"}
PAGES = {".md", ".ipynb"}
_START = re.compile(r"^[^\w\n]*not for students: start\b.*\n", re.MULTILINE)
_END = re.compile(r"^[^\w\n]*not for students: end\b.*\n", re.MULTILINE)
_INSTEAD = re.compile(r"^<!-- for students:\n(.*?)^-->\n", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r"\{(?P<role>doc|ref|numref)\}`(?:(?P<words>[^`<]*?)\s*<)?(?P<to>[^`<>]+)>?`")
_LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_FILE = re.compile(r"\]\((?!https?:|#|mailto:|data:|attachment:)([^)\s#]+)")
_INCLUDED = re.compile(r"^(?:```|:::)\{include\} (\S+)$", re.MULTILINE)
_TOC = re.compile(r"^\s*(?:- file|root): (\S+)$", re.MULTILINE)


class CopyError(Exception):
    """The copy cannot be made, or is not whole."""


def within(name: str, places: tuple[str, ...]) -> bool:
    """Say whether a file is one of some files, or in one of some folders."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def tracked(root: Path) -> list[str]:
    """Return the files that git knows of and that are there."""
    command = ["git", "ls-files", "-z"]
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"git has to say which files belong to {root}, and it does not: {error}"
        raise CopyError(message) from error
    return sorted(name for name in run.stdout.split("\0") if name and (root / name).is_file())


def chosen(names: list[str]) -> list[str]:
    """Return those of some files that students get.

    Examples
    --------
    >>> chosen(["README.md", "grading/README.md", "chapters/run.md", "chapters/grading.md"])
    ['README.md', 'chapters/run.md']
    """
    return [name for name in names if within(name, KEPT) and not within(name, LEFT_OUT)]


def for_students(text: str) -> str:
    r"""Return a text without what is marked as not for students, and with what is for them.

    Examples
    --------
    >>> for_students("a\n# not for students: start\nb\n# not for students: end\nc\n")
    'a\nc\n'
    >>> for_students("a\n<!-- for students:\nb\n-->\nc\n")
    'a\nb\nc\n'
    """
    while start := _START.search(text):
        end = _END.search(text, start.end())
        if end is None or _START.search(text, start.end(), end.start()):
            message = f"nothing ends what starts at {start[0].strip()!r}"
            raise CopyError(message)
        text = text[: start.start()] + text[end.end() :]
    if lost := _END.search(text):
        message = f"nothing starts what ends at {lost[0].strip()!r}"
        raise CopyError(message)
    return _INSTEAD.sub(lambda found: found[1], text)


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

    Parameters
    ----------
    text : str
        The page.
    page : str
        Its name.
    gone : dict of str to str
        What the copy does not have, documents without their suffix and labels, and its title.

    Examples
    --------
    >>> unlinked("{doc}`For you <b>`, {doc}`b`, {ref}`b` and {doc}`c`", "a.md", {"b": "B"})
    'For you, *B* (not in this copy), *B* (not in this copy) and {doc}`c`'
    """

    def plain(found: re.Match[str]) -> str:
        to = target(page, found["to"]) if found["role"] == "doc" else found["to"]
        if to not in gone:
            return found[0]
        return found["words"] or f"*{gone[to]}* (not in this copy)"

    return _ROLE.sub(plain, text)


def titles(root: Path, names: list[str]) -> dict[str, str]:
    """Return the titles of pages in Markdown, by document and by each label in them."""
    found: dict[str, str] = {}
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        if included := _INCLUDED.search(text):
            text += (root / target(name, included[1])).read_text(encoding="utf-8")
        title = json.dumps(_TITLE.search(text)[1], ensure_ascii=False)[1:-1]
        found |= dict.fromkeys([name.removesuffix(".md"), *_LABEL.findall(text)], title)
    return found


def dangling(folder: Path) -> Iterator[str]:
    """Name what a copy links and does not have."""
    toc = _TOC.findall((folder / "_toc.yml").read_text(encoding="utf-8"))
    documents = {
        page for page in toc if any((folder / f"{page}{kind}").is_file() for kind in PAGES)
    }
    yield from (f"_toc.yml: {page}" for page in toc if page not in documents)
    for path in sorted(path for path in folder.rglob("*") if path.suffix in PAGES):
        name, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        linked = [found["to"] for found in _ROLE.finditer(text) if found["role"] == "doc"]
        yield from (f"{name}: {to}" for to in linked if target(name, to) not in documents)
        files = [*_INCLUDED.findall(text), *_FILE.findall(text)]
        yield from (f"{name}: {to}" for to in files if not (path.parent / to).is_file())


def write(root: Path, folder: Path) -> list[str]:
    """Write the copy, and return the names of its files.

    Parameters
    ----------
    root : Path
        The repository.
    folder : Path
        Where the copy goes: a folder that is not there yet, or is empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} is not an empty folder"
        raise CopyError(message)
    known = tracked(root)
    names = chosen(known)
    pages = [name for name in known if name.startswith("chapters/") and name.endswith(".md")]
    gone = titles(root, [name for name in pages if name not in names])
    for name in names:
        source, copy = root / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
        if source.suffix in MARKED | PAGES or name == "Makefile":
            text = source.read_text(encoding="utf-8")
            kept = for_students(text) if source.suffix != ".ipynb" else text
            if source.suffix in PAGES:
                kept = unlinked(kept, name, gone)
            if kept != text:
                copy.write_text(kept, encoding="utf-8")
    if lost := list(dangling(folder)):
        message = "the copy is not whole; it links what it does not have:\n  " + "\n  ".join(lost)
        raise CopyError(message)
    return names


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
