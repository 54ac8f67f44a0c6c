"""Write the notebooks for Colab, which shows what only Jupyter Book understands as raw text.

    python tools/colab.py            writes colab/NAME.ipynb from chapters/NAME.ipynb
    python tools/colab.py --check    says which are out of date and fails if one is

Text is the chapter's in plain Markdown: a box becomes a quotation with its title, a term its words,
a reference the number that the site shows, another chapter a link to its notebook. What has no such
form is refused. Code is the chapter's, behind one cell that fetches the book's package on Colab.

That cell needs the address of the repository. It is the book's one value for it: the environment
variable ``REPOSITORY_URL`` or ``repository.url`` in ``_config.yml``. With none set the cell has a
field for it and says so. A check takes the address from the notebooks themselves, unless
``_config.yml`` has one, so that a fork's checks do not fail for the fork's own address.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode, v4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.book_site import repository_address, site_address  # noqa: E402
from tools.notebooks import KERNEL, LANGUAGE  # noqa: E402
from tools.practice import AT_START, ROLE, TARGETED, Book, PracticeError, title_of  # noqa: E402

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
    os.chdir(book / "colab")
    output.enable_custom_widget_manager()  # for figures that move
elif importlib.util.find_spec("attnlib") is None:
    where = REPOSITORY or "the book's repository"
    raise ModuleNotFoundError(
        f"attnlib is not installed here. Clone {{where}}, run `make lab` there, and open "
        "colab/{name}."
    )"""
ADDRESS = re.compile(r'^REPOSITORY = "(?P<address>[^"]*)"', re.MULTILINE)
# Colab shows the form of such a cell in place of its code, which a click opens.
AS_FORM = {"cellView": "form"}
CLOSED_TAGS = {"hide-cell", "hide-input", "remove-input"}

BOX = re.compile(
    r"^(?P<fence>:{3,})\{(?P<kind>[\w:-]+)\}(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?P<body>.*?)\n?^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
LABEL_LINE = re.compile(r"^\([\w-]+\)=\n+", re.MULTILINE)
LABEL_OPTION = re.compile(r"^:label: *(\S+)", re.MULTILINE)
EQUATION = re.compile(
    r"\$\$\n(?P<formula>.*?)\n\$\$(?: *\((?P<label>[\w-]+)\))?$", re.DOTALL | re.MULTILINE
)
MATH = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
# What of the book's Markdown would stay raw; ``+++`` and ``%`` lines are MyST's too.
RAW = re.compile(
    r"\{[\w:-]+\}`|^[ >]*(?::{3,}|`{3,}\{|\([\w-]+\)=|%|\+{3})|\]\(\S+\.md\)", re.MULTILINE
)


class ColabError(Exception):
    """A chapter from which no notebook for Colab can be made."""


@dataclass(frozen=True)
class Target:
    """What a label stands for: words such as "Figure 2.1", and the chapter that has it."""

    words: str
    stem: str


def quoted(text: str) -> str:
    r"""Return a text as a quotation.

    A formula is put on one line: notebooks take formulas out of the text before they look for
    quotations, and would set the marks of the lines as part of it.

    Examples
    --------
    >>> print(quoted("So $a +\nb$ holds.\n\nSee."))
    > So $a + b$ holds.
    >
    > See.
    """
    text = MATH.sub(lambda formula: formula[0].replace("\n", " "), text.strip())
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def parts(title: str) -> tuple[str, str]:
    """Split what a role holds into words, if it has its own, and target."""
    targeted = TARGETED.fullmatch(title)
    return (targeted["title"], targeted["target"]) if targeted else ("", title)


class Chapters(Book):
    """The chapters, and what stands for a label in each.

    Parameters
    ----------
    root : Path
        The book's folder.
    repository : str
        Address of the repository; may be empty.
    """

    def __init__(self, root: Path, repository: str = "") -> None:
        super().__init__(root)
        self.repository = repository
        self.own = ""

    @cached_property
    def targets(self) -> dict[str, Target]:
        """The labels of all chapters with the numbers that the site gives them."""
        found = {}
        for stem, notebook in self.chapters.items():
            count: Counter[str] = Counter()
            for label, kind, title in labelled(notebook):
                count[kind] += 1
                number = f"{int(stem[:2])}.{count[kind]}" if stem[:2].isdecimal() else count[kind]
                words = f"“{title}”" if kind == "section" else f"{kind} {number}"
                if kind == "equation":
                    words = f"({number})"
                found[label] = Target(words, stem)
        return found

    def page(self, stem: str) -> str:
        """Return a link to a chapter's notebook, or to a page as the reader can read it best."""
        notebook = self.chapters.get(stem)
        if notebook is not None:
            numbered = stem[:2].isdecimal()
            title = f"chapter {int(stem[:2])}" if numbered else title_of(notebook.cells[0].source)
            return f"[{title}]({stem}.ipynb)"
        path = self.root / "chapters" / f"{stem}.md"
        if not path.is_file():
            raise ColabError(f"the book has no page {stem}")
        title = title_of(path.read_text(encoding="utf-8"))
        site = site_address(self.repository)
        # the source of such a page is not for reading
        return f"[{title}]({site}chapters/{stem}.html)" if site else f"the page “{title}”"

    def words(self, role: str, content: str) -> str:
        """Return what a role shows, in plain Markdown."""
        title, target = parts(content)
        if role in {"eq", "ref", "numref", "prf:ref"}:
            if target not in self.targets:
                raise ColabError(f"no chapter has the label {target}")
            found = self.targets[target]
            where = "" if found.stem == self.own else f" of {self.page(found.stem)}"
            return title or f"{found.words}{where}"
        if role == "download":
            return f"[{title or Path(target).name}]({target})"
        if role == "doc" and title:
            link = self.page(target)
            return f"[{title}]{link[link.rindex('(') :]}" if link.endswith(")") else title
        try:
            return super().words(role, content)
        except PracticeError as error:
            raise ColabError(str(error)) from error

    def plain(self, text: str) -> str:
        """Return a text of the book without what only Jupyter Book understands.

        Examples
        --------
        >>> Chapters(ROOT).plain("Take the {term}`keys<key>` of {doc}`03_saturation`.")
        'Take the keys of [chapter 3](03_saturation.ipynb).'
        """

        def instead(role: re.Match[str]) -> str:
            words = self.words(role["role"], role["text"])
            if AT_START.search(text[: role.start()]):
                words = re.sub(r"^(\[?)([a-z])", lambda m: m[1] + m[2].upper(), words)
            return words

        def numbered(equation: re.Match[str]) -> str:
            label = equation["label"]
            tag = rf" \tag{{{self.targets[label].words.strip('()')}}}" if label else ""
            return f"$$\n{equation['formula']}{tag}\n$$"

        text = EQUATION.sub(numbered, LABEL_LINE.sub("", text))
        text = BOX.sub(self.box, ROLE.sub(instead, text))
        if left := RAW.search(text):
            raise ColabError(f"«{left.group().strip()}» has no form in plain Markdown")
        return text.strip()

    def box(self, box: re.Match[str]) -> str:
        """Return a box as a quotation that begins with its title."""
        kind, title = box["kind"], box["title"].strip()
        body = BOX.sub(self.box, box["body"])
        label = LABEL_OPTION.search(box["options"])
        if kind == "solution-end":
            return ""
        if kind == "solution-start":
            return f"**Solution to {self.targets[title].words}**"
        if kind == "exercise" and label:
            heading = f"**{capital(self.targets[label[1]].words)}**"
        elif kind == "admonition":
            heading = f"**{title}**"
        elif kind == "prf:proof":
            heading = "*Proof.*"
        elif kind.startswith("prf:") and label:
            heading = f"**{capital(self.targets[label[1]].words)}: {title}**"
        else:
            raise ColabError(f"the box {{{kind}}} has no form in plain Markdown")
        return quoted(f"{heading}\n\n{body.strip()}")

    def notebook(self, stem: str) -> NotebookNode:
        """Make the notebook of a chapter."""
        self.own = stem
        name = f"{stem}.ipynb"
        setup = SETUP.format(repository=self.repository, name=name)
        cells = [v4.new_code_cell(setup, id="setup", metadata=AS_FORM)]
        for cell in self.chapters[stem].cells:
            if cell.cell_type == "markdown":
                if text := self.plain(cell.source):
                    cells.append(v4.new_markdown_cell(text, id=cell.id))
                continue
            closed = CLOSED_TAGS.intersection(cell.metadata.get("tags", ()))
            metadata = {**AS_FORM, "jupyter": {"source_hidden": True}} if closed else {}
            cells.append(v4.new_code_cell(cell.source, id=cell.id, metadata=metadata))
            figure = cell.metadata.get("mystnb", {}).get("figure")
            if figure:
                number = capital(self.targets[figure["name"]].words)
                caption = quoted(f"**{number}.** {self.plain(figure['caption'])}")
                cells.append(v4.new_markdown_cell(caption, id=f"{cell.id}-caption"))
        metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
        return v4.new_notebook(cells=cells, metadata=metadata)

    def notebooks(self) -> dict[str, str]:
        """Return the text of each notebook by the name of its file."""
        made = {}
        for stem in self.chapters:
            try:
                notebook = self.notebook(stem)
            except ColabError as error:
                raise ColabError(f"chapters/{stem}.ipynb: {error}") from error
            nbformat.validate(notebook)
            made[f"{stem}.ipynb"] = nbformat.writes(notebook) + "\n"
        return made


def capital(words: str) -> str:
    """Return words with a capital at their head."""
    return words[:1].upper() + words[1:]


def labelled(notebook: NotebookNode) -> Iterable[tuple[str, str, str]]:
    """Yield what has a label in a chapter, in order: the label, what it is, and its title."""
    for cell in notebook.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if figure:
            yield figure["name"], "figure", ""
        if cell.cell_type != "markdown":
            continue
        for equation in EQUATION.finditer(cell.source):
            if equation["label"]:
                yield equation["label"], "equation", ""
        for section in re.finditer(r"^\(([\w-]+)\)=\n+#+ (.+)$", cell.source, re.MULTILINE):
            yield section[1], "section", section[2]
        for box in BOX.finditer(cell.source):
            label = LABEL_OPTION.search(box["options"])
            if label and box["kind"] == "exercise":
                yield label[1], "exercise", ""
            elif label and box["kind"].startswith("prf:"):
                yield label[1], box["kind"].removeprefix("prf:"), box["title"].strip()


def configured(root: Path) -> str:
    """Return the address that ``_config.yml`` states, or nothing."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text).get("repository", {}).get("url") or "")


def with_address(notebook: str, repository: str) -> str:
    r"""Return the text of a notebook with another address in its first cell.

    Examples
    --------
    >>> with_address(r'"REPOSITORY = \"\"  # @param\n"', "https://github.com/someone/book")
    '"REPOSITORY = \\"https://github.com/someone/book\\"  # @param\\n"'
    """
    return re.sub(r'(?<="REPOSITORY = \\")[^"\\]*(?=\\")', lambda _: repository, notebook, count=1)


def stored_address(folder: Path) -> str:
    """Return the address in the notebooks of a folder, if they agree on one."""
    found = set()
    for path in folder.glob("*.ipynb"):
        first = nbformat.read(path, as_version=4).cells[0].source
        found |= {match["address"] for match in ADDRESS.finditer(first)}
    return found.pop() if len(found) == 1 else ""


def outdated(wanted: dict[str, str], folder: Path) -> list[str]:
    """Say which notebooks of a folder are not the wanted ones, one sentence each."""
    stored = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.ipynb")}
    found = [f"{name} belongs to no chapter" for name in sorted(stored.keys() - wanted.keys())]
    for name, text in sorted(wanted.items()):
        if name not in stored:
            found.append(f"{name} is missing")
        elif stored[name] != text:
            found.append(f"{name} is out of date")
    return found


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write or check, and return the process's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, fail on differences")
    options = parser.parse_args(arguments)
    folder, address = root / FOLDER, configured(root)
    if options.check:
        address = address or stored_address(folder)
    else:
        address = repository_address(os.environ, address)
    try:
        made = Chapters(root, address).notebooks()
    except ColabError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if options.check:
        found = outdated(made, folder)
        sys.stderr.writelines(f"{FOLDER}/{what}; run: make colab\n" for what in found)
        return 1 if found else 0
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {FOLDER}/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
