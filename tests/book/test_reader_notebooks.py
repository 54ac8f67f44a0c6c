"""The notebooks for readers say and compute what the chapters do, and show nothing raw."""

from __future__ import annotations

import ast
import base64
import html
import importlib.util
import os
import posixpath
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from attnbook.exercises._exercise import describe_parts
from book import first_cells, stills
from book import reader_notebooks as reader
from book.markdown import COMMENT
from book.model import Book
from book.plain_markdown import PlainError
from book.reader_notebooks import ForReader
from book.stubs import stub
from tests.book import building
from tests.book.notebooks import BOOK, ROOT, WITHOUT_PLAIN_FORM, code, notebook, write_book
from tools.reader import main

STEMS = [page.stem for page in BOOK.notebooks]
# Not the pattern by which the converter itself refuses.
RAW = re.compile(r":::|```\{|\{[a-z][\w:.-]*\}`|^[> ]*\([\w-]+\)=|^[> ]*:\w+:", re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"
ADDRESS = "https://github.com/someone/some-book"


@cache
def branch() -> dict[str, str]:
    """Return what the publishing workflow adds to the branch that Colab reads."""
    return {f"notebooks/{name}": text for name, text in reader.notebooks(BOOK).items()}


def stored(stem: str) -> NotebookNode:
    return nbformat.reads(branch()[f"notebooks/{stem}.ipynb"], as_version=4)


def chapter(stem: str) -> NotebookNode:
    return BOOK.page(stem).notebook


def sources(book: NotebookNode, kind: str) -> list[str]:
    return [cell.source for cell in book.cells if cell.cell_type == kind]


def formulas(texts: list[str]) -> list[str]:
    bare = [re.sub(r"\\tag\{[^}]*\}", "", each) for each in FORMULA.findall("\n\n".join(texts))]
    return ["".join(each.split()) for each in bare]


def run_by_readers(book: NotebookNode) -> Iterator[str]:
    """Yield a chapter's code, of a solution only what is left to fill in."""
    name = ""
    for cell in book.cells:
        if found := re.search(r"\{solution-start\} ex-(\S+)", cell.source):
            name = found[1]
        if cell.cell_type == "code" and "answer" in cell.metadata.get("tags", []):
            yield stub(cell.source, describe_parts(name))
        elif cell.cell_type == "code" and not name:
            yield cell.source
        if "{solution-end}" in cell.source:
            name = ""


@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_runs_its_chapters_code_and_shows_nothing_raw(stem: str) -> None:
    made = stored(stem)
    nbformat.validate(made)
    assert sources(made, "code")[1:] == list(run_by_readers(chapter(stem)))
    shown = sources(made, "markdown")[1:]
    assert not [found.group() for text in shown if (found := RAW.search(text))]
    texts = []
    for cell in chapter(stem).cells:
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        texts.append(COMMENT.sub("", cell.source) if cell.cell_type == "markdown" else caption)
    assert not [text for text in shown if "<!--" in text]
    assert formulas(shown) == formulas(texts)


PICTURE = re.compile(r'<img alt="([^"]+)" width="\d+" src="data:image/svg\+xml;base64,([^"]+)">')


def pictures(book: NotebookNode) -> dict[str, str]:
    """Return what the code cells of a notebook store."""
    return {
        cell.id: "".join(each.data["text/html"] for each in cell.outputs)
        for cell in book.cells
        if cell.cell_type == "code"
    }


@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_imports_what_colab_has_or_its_first_cell_fetches(stem: str) -> None:
    ours = {"attnbook", "attnlib", "benchmarks"}
    known = sys.stdlib_module_names | ours | {"IPython", "matplotlib", "numpy", "scipy"}
    for source in sources(chapter(stem), "code"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or each.name for each in node.names]
                assert {name.partition(".")[0] for name in names} <= known, source


@pytest.mark.parametrize("stem", STEMS)
def test_a_figure_has_a_still_picture_before_it_runs(stem: str) -> None:
    made = pictures(stored(stem))
    asked = False  # below a prediction, up to the next text, nothing is told
    for cell in chapter(stem).cells:
        shown = made.get(cell.id, "")
        tags = set(cell.metadata.get("tags", []))
        figure = cell.metadata.get("mystnb", {}).get("figure")
        moving = "live-figure" in str(cell.get("outputs", ""))
        if cell.cell_type == "markdown":
            asked = False
        elif tags & {"predict", "ask"}:
            assert shown == f"<p><em>{stills.ANSWER}</em></p>"
            asked = "predict" in tags
        elif asked:
            assert shown in {"", f"<p><em>{stills.AFTER}</em></p>"}
        elif moving and cell.id in made:
            ((words, data),) = PICTURE.findall(shown)
            assert len(words) > len("a sentence")
            assert stills.MOVES in shown
            root = ET.fromstring(base64.b64decode(data))  # noqa: S314
            drawn = {part.tag for part in root.iter()}
            assert {f"{{{SVG}}}foreignObject", f"{{{XHTML}}}style"} <= drawn
            assert not {f"{{{XHTML}}}svg", f"{{{XHTML}}}form"} & drawn
        elif figure and cell.id in made:
            assert stills.DRAW in shown
            assert html.escape(cell.metadata["mystnb"]["image"]["alt"]) in shown
        elif cell.id in made:
            assert shown == ""
    assert len(branch()[f"notebooks/{stem}.ipynb"]) < 500_000


@pytest.mark.parametrize("stem", STEMS)
def test_no_cell_takes_the_name_by_which_a_reader_asks_what_changed(stem: str) -> None:
    first, *rest = sources(stored(stem), "code")
    assert f'notebook = follow("{stem}")' in first
    parts = [part for source in rest for part in ast.walk(ast.parse(source))]
    taken = {part.id for part in parts if isinstance(part, ast.Name)}
    taken |= {part.asname or part.name for part in parts if isinstance(part, ast.alias)}
    assert "notebook" not in taken


def png(width: int, height: int) -> bytes:
    """Return the head of a PNG, which says how large it is."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)


def test_a_plot_of_the_last_build_takes_the_place_of_its_words() -> None:
    cell = nbformat.from_dict(FIGURE)
    cell.id = "plot"
    cell.metadata["mystnb"]["image"] = {"alt": "It rises."}
    made = nbformat.v4.new_notebook(cells=[cell])
    cell.outputs = stills.outputs(cell, result=False)
    assert "It rises." in pictures(made)["plot"]
    stills.illustrate(made, {"other": ""})
    assert stills.DRAW in pictures(made)["plot"]
    stills.illustrate(made, {"plot": base64.b64encode(png(848, 400)).decode()})
    assert pictures(made)["plot"].startswith(
        '<img alt="It rises." width="424" src="data:image/png;base64,'
    )
    cell.outputs = stills.outputs(cell, result=True)
    stills.illustrate(made, {"plot": base64.b64encode(png(848, 400)).decode()})
    assert pictures(made)["plot"] == f"<p><em>{stills.AFTER}</em></p>"


def test_every_notebook_of_the_branch_links_others_of_it() -> None:
    linked = set()
    for name, content in branch().items():
        text = "\n".join(sources(nbformat.reads(content, as_version=4), "markdown"))
        links = re.findall(r"\]\(([^)#\s]+)\)", text)
        linked |= {posixpath.normpath(f"{name}/../{link}") for link in links if "://" not in link}
    assert linked - branch().keys() == set()
    assert {"notebooks/01_puzzle.ipynb", "notebooks/11_exercises.ipynb"} <= linked
    # which a download has not beside it
    assert not any("](../" in cell.source for stem in STEMS for cell in stored(stem).cells)


def test_a_notebook_runs_from_the_folder_to_which_it_goes() -> None:
    made = stored("models")  # reads data beside the chapters, and is quick
    where = {"metadata": {"path": str(ROOT / "chapters")}}
    NotebookClient(made, timeout=120, kernel_name="python3", resources=where).execute()


@pytest.fixture
def colab_runtime(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stand in for Colab: what would be run, where the notebook goes, what is switched on."""
    seen = SimpleNamespace(commands=[], places=[], managers=0, installed=False, failing=0)

    def run(command: list[Any], *, check: bool = False) -> SimpleNamespace:
        assert check or command[0] == "git"
        seen.commands.append([str(word) for word in command])
        return SimpleNamespace(returncode=seen.failing)

    def enable() -> None:
        seen.managers += 1

    package, output = ModuleType("google.colab"), ModuleType("google.colab.output")
    output.enable_custom_widget_manager = enable  # type: ignore[attr-defined]
    package.output = output  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "google.colab", package)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(os, "chdir", lambda path: seen.places.append(str(path)))
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda _name: object() if seen.installed else None
    )
    return seen


def first_cell(repository: str, stem: str = "01_puzzle") -> str:
    return first_cells.first_cell(BOOK.page(stem), repository)


def test_on_colab_the_first_cell_fetches_the_book_once(colab_runtime: SimpleNamespace) -> None:
    exec(first_cell(ADDRESS), {})  # noqa: S102
    clone, widgets, package = colab_runtime.commands
    assert clone[:-2] == ["git", "clone", "--quiet", "--depth=1", "--branch=colab"]
    assert clone[-2:] == [ADDRESS, "/content/book"]
    assert widgets[1:] == ["-m", "pip", "install", "--quiet", "anywidget"]
    assert package[-2:] == ["--no-deps", "/content/book"]
    assert colab_runtime.places == ["/content/book/notebooks"]
    assert colab_runtime.managers == 1
    colab_runtime.installed = True
    exec(first_cell(ADDRESS), {})  # noqa: S102
    assert [command[0] for command in colab_runtime.commands[3:]] == ["git"]


def test_on_colab_without_an_address_the_first_cell_asks_for_it(
    colab_runtime: SimpleNamespace,
) -> None:
    with pytest.raises(ValueError, match="REPOSITORY above is empty"):
        exec(first_cell(""), {})  # noqa: S102
    assert colab_runtime.commands == []


def test_on_colab_a_wrong_address_is_answered_in_one_sentence(
    colab_runtime: SimpleNamespace,
) -> None:
    colab_runtime.failing = 128
    with pytest.raises(ValueError, match=f"{ADDRESS}: no book with a branch colab is there"):
        exec(first_cell(ADDRESS), {})  # noqa: S102


def test_elsewhere_the_first_cell_does_nothing_or_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Path.cwd()
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(first_cell(ADDRESS), {})  # noqa: S102
    assert Path.cwd() == here
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    sentence = f'not installed here. Run: python -m pip install "attnlib[all] @ git+{ADDRESS}"'
    with pytest.raises(ModuleNotFoundError, match=f"{re.escape(sentence)}$"):
        exec(first_cell(ADDRESS), {})  # noqa: S102
    sentence = """Run in a copy of the book's repository: python -m pip install ".[all]\""""
    with pytest.raises(ModuleNotFoundError, match=re.escape(sentence)):
        exec(first_cell(""), {})  # noqa: S102


def test_a_page_that_needs_more_than_the_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all pages, those that import from the repository what no package has."""
    needing = {page.stem for page in BOOK.notebooks if first_cells.unpackaged(page)}
    assert needing == {"benchmarks"}
    monkeypatch.setattr(sys, "path", [*sys.path])
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "benchmarks" else found(name)
    )
    with pytest.raises(ModuleNotFoundError, match=f"clone it from {ADDRESS}, run `make lab` there"):
        exec(first_cell(ADDRESS, "benchmarks"), {})  # noqa: S102


TEXT = """(ch-made)=
# Made up

See {numref}`fig-line`, {eq}`eq-one`, {prf:ref}`thm-all`, {doc}`03_other`, {doc}`words <glossary>`.

$$
x = 1
$$ (eq-one)

::::{prf:theorem} All there is
:label: thm-all

:::{admonition} Why
:class: dropdown
As $x
= 1$, the {term}`keys<key>` agree.
:::
::::"""
WHERE = """(sec-end)=
## End

It holds ({ref}`proof <sec-end>`, {ref}`sec-end`; {ref}`sec-end`). ({ref}`proof <sec-end>`) So \
({ref}`why <thm-all>`) {ref}`it <sec-end>` ({ref}`sec-end`) is."""
FIGURE = code("draw()", figure={"name": "fig-line", "caption": "A line, by {eq}`eq-one`.\n"})


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with a book of two chapters and a page."""
    chapters = {
        "01_first": notebook("# First"),
        "02_made": notebook(TEXT, FIGURE),
        "03_other": notebook("# Other\n\n{eq}`eq-one` and {doc}`glossary`.", WHERE),
    }
    write_book(tmp_path, chapters, pages=["glossary"])
    (tmp_path / "_config.yml").write_text("repository:\n  url: ''\n", encoding="utf-8")
    (tmp_path / "references.bib").write_text("", encoding="utf-8")
    (tmp_path / "chapters" / "glossary.md").write_text("# Glossary\n", encoding="utf-8")
    return tmp_path


def written(root: Path, stem: str, repository: str = "") -> list[NotebookNode]:
    """Return the cells of a small book's chapter as readers get them."""
    writer = ForReader(Book(root), repository)
    return writer.notebook(writer.book.page(stem)).cells


def test_text_becomes_plain_markdown(small: Path) -> None:
    cells = written(small, "02_made")
    wanted = r"""# Made up

See figure 2.1, (2.1), theorem 2.1, [chapter 3](03_other.ipynb), words.

$$
x = 1 \tag{2.1}
$$

> **Theorem 2.1: All there is**
>
> <details><summary><b>Why</b></summary>
>
> As $x = 1$, the keys agree.
>
> </details>"""
    assert cells[2].source == wanted
    assert [cell.source for cell in cells[3:]] == [
        "draw()",
        "> **Figure 2.1.** A line, by (2.1).",
    ]
    other = written(small, "03_other", ADDRESS)[2].source
    assert "(2.1) of [chapter 2](02_made.ipynb)" in other
    assert "[Glossary](https://someone.github.io/some-book/chapters/glossary.html)" in other
    assert "the page “Glossary”" in written(small, "03_other")[2].source
    assert written(small, "03_other")[3].source == (
        "## End\n\nIt holds (proof, “End”; “End”). (proof: “End”) So "
        "(why: theorem 2.1 of [chapter 2](02_made.ipynb)) it (“End”) is."
    )


@pytest.mark.parametrize(
    "words",
    [*WITHOUT_PLAIN_FORM, ":::{prf:lemma} No label\nx\n:::", "[a source](glossary.md)"],
)
def test_what_has_no_plain_form_is_refused(
    small: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nbformat.write(notebook(f"# Made\n\n{words}"), small / "chapters" / "02_made.ipynb")
    nbformat.write(notebook("# Other"), small / "chapters" / "03_other.ipynb")
    with pytest.raises(PlainError, match="02_made"):
        reader.notebooks(Book(small))
    assert main(small) == 1
    assert "chapters/02_made.ipynb: " in capsys.readouterr().err


def test_a_box_that_is_never_closed_ends_with_its_cell(small: Path) -> None:
    text = "# Made\n\n:::{admonition} Open\nend"
    nbformat.write(notebook(text), small / "chapters" / "03_other.ipynb")
    assert written(small, "03_other")[2].source == "# Made\n\n> **Open**\n>\n> end"


def test_writing_makes_every_notebook_with_the_address_that_is_known(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def address() -> str:
        assert main(small) == 0
        names = ("01_first", "02_made", "03_other")
        assert capsys.readouterr().out == "".join(
            f"wrote notebooks/{name}.ipynb\n" for name in names
        )
        first = nbformat.read(small / "notebooks" / "02_made.ipynb", as_version=4).cells[1].source
        return re.search(r'^REPOSITORY = "([^"]*)"', first, re.MULTILINE)[1]

    for name in ("REPOSITORY_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    assert address() == ""
    (small / "_config.yml").write_text("repository:\n  url: https://github.com/a/b\n")
    assert address() == "https://github.com/a/b"
    monkeypatch.setenv("REPOSITORY_URL", ADDRESS)
    assert address() == ADDRESS


def test_the_landing_notebook_lists_every_chapter_with_its_minutes() -> None:
    listed = re.findall(
        r"^(\d+)\. \[.+\]\((.+)\.ipynb\): (\d+) minutes, (\d+) with \*Deeper\*$",
        "\n".join(sources(stored("index"), "markdown")),
        re.MULTILINE,
    )
    assert [tuple(map(str, line)) for line in listed] == [
        (str(page.number), page.stem, str(page.core_minutes), str(page.minutes))
        for page in BOOK.chapters
    ]


def test_a_notebook_in_which_a_reader_worked_is_kept(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(small) == 0
    path = small / "notebooks" / "02_made.ipynb"
    book = nbformat.read(path, as_version=4)
    book.cells[3].source = "draw(2)"
    nbformat.write(book, path)
    capsys.readouterr()
    assert main(small) == 0
    assert "kept notebooks/02_made.ipynb, which you have worked in" in capsys.readouterr().out
    assert nbformat.read(path, as_version=4).cells[3].source == "draw(2)"


PREDICTED = notebook(
    "# Made\n\n:::{admonition} Predict first\n:class: predict\nHow many?\n:::",
    code("Choice()", tags=["predict", "remove-input"]),
    code("draw()", figure={"name": "fig-line", "caption": "A line.\n"}),
    "It is 4.\n\n## Next\n\nOn.",
)


def test_what_comes_out_stays_closed_until_a_reader_has_predicted(small: Path) -> None:
    nbformat.write(PREDICTED, small / "chapters" / "02_made.ipynb")
    nbformat.write(notebook("# Other"), small / "chapters" / "03_other.ipynb")
    *_, last = written(small, "02_made")
    assert last.source == (
        "<details><summary><b>What comes out</b></summary>\n\n> **Figure 2.1.** A line.\n\n"
        "It is 4.\n\n</details>\n\n## Next\n\nOn."
    )


def test_a_notebook_says_which_outputs_wait_for_which_prediction(small: Path) -> None:
    nbformat.write(PREDICTED, small / "chapters" / "02_made.ipynb")
    nbformat.write(notebook("# Other"), small / "chapters" / "03_other.ipynb")
    writer = ForReader(Book(small))
    made = writer.notebook(writer.book.page("02_made"))
    ask, draw = (cell.id for cell in made.cells if cell.source in {"Choice()", "draw()"})
    assert made.metadata["held"] == {draw: ask}
    assert writer.notebook(writer.book.page("03_other")).metadata["held"] == {}


SOLVED = notebook(
    "# Made\n\n## Ask\n\n:::{exercise}\n:label: ex-one\nHow many?\n:::",
    code('Ask("one")', tags=["ask", "remove-input"]),
    ":::{solution-start} ex-one\n:label: solution-one\n:class: dropdown\n:::\n\nThey are 4.",
    code("### BEGIN SOLUTION\nn = 4\n### END SOLUTION\ncheck('one', n=n)", tags=["answer"]),
    code("assert n == 4", tags=["remove-cell"]),
    ":::{solution-end}\n:::",
)


def test_a_solution_is_a_stub_and_closed_text(small: Path) -> None:
    nbformat.write(SOLVED, small / "chapters" / "02_made.ipynb")
    nbformat.write(notebook("# Other"), small / "chapters" / "03_other.ipynb")
    _, _, statement, ask, answer, solution = written(small, "02_made")
    assert statement.source.endswith("> **Exercise 2.1**\n>\n> How many?")
    assert ask.source == 'Ask("one")'
    assert answer.source == "n = ...  # your answer\n\ncheck('one', n=n)"
    assert solution.source == (
        "<details><summary><b>Solution</b></summary>\n\n**Solution to exercise 2.1**\n\n"
        "They are 4.\n\n```python\nn = 4\ncheck('one', n=n)\n```\n\n</details>"
    )


def test_jupyterlab_starts_with_the_notebooks_for_readers() -> None:
    dry = building.run("make", "-n", "lab", "ARGS=--no-browser")
    start = dry.index("jupyter-lab ")
    assert 0 < dry.index("tools/reader.py") < start
    assert " --no-browser notebooks/index.ipynb\n" in dry[start:]
    assert ("--allow-root" in dry[start:]) == (os.geteuid() == 0)
