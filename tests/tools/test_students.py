"""The students' copy is whole, and holds nothing that marks depend on."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from book.markdown import blocks, roles, titled
from book.model import Book, BookError
from book.reader_session import ORIGINAL
from tests.book.building import run
from tests.book.notebooks import BOOK, ROOT, notebook
from tests.book.test_pins import make_help, make_targets, makefile, promised_targets
from tests.tools.test_workflows import calls, parsed, problems
from tools import reader, students

FILE = re.compile(r"\]\((?!https?:|#|mailto:|data:|attachment:)([^)\s#]+)")
SECRET = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)\s*### END \1", re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a copy of the last commit."""
    folder = tmp_path_factory.mktemp("given") / "copy"
    assert students.main([str(folder)]) == 0
    return folder


def target(page: str, to: str) -> str:
    """Return the name of a document, without its suffix, that a page of some name links."""
    return to[1:] if to[0] == "/" else posixpath.normpath(f"{posixpath.dirname(page) or '.'}/{to}")


def texts(path: Path) -> list[str]:
    """Return the texts of a page or a notebook."""
    if path.suffix == ".md":
        return [path.read_text(encoding="utf-8")]
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def dangling(folder: Path) -> Iterator[str]:
    """Name what a copy links and does not have."""
    try:
        documents = {page.name for page in Book(folder).pages}
    except BookError as error:
        yield str(error)
        return
    for path in sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".ipynb"}):
        if path.parent.name == ORIGINAL:  # where nobody reads
            continue
        name = path.relative_to(folder).as_posix()
        for text in texts(path):
            linked = [titled(one.content)[1] for one in roles(text, deep=True) if one.name == "doc"]
            yield from (f"{name}: {to}" for to in linked if target(name, to) not in documents)
            included = [block.title for block in blocks(text) if block.kind == "include"]
            files = [*included, *FILE.findall(text)]
            yield from (f"{name}: {to}" for to in files if not (path.parent / to).is_file())


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def secrets() -> list[str]:
    """Return the solutions and hidden checks of the problem sets, each as one piece of code."""
    sources = sorted((ROOT / "grading" / "source").rglob("*.ipynb"))
    cells = [cell for path in sources for cell in nbformat.read(path, as_version=4).cells]
    regions = [found[2] for cell in cells for found in SECRET.finditer(cell.source)]
    schemes = [
        cell.source
        for cell in cells
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")
    ]
    return [region.strip() for region in (*regions, *schemes)]


def tellers(folder: Path, pieces: list[str]) -> list[str]:
    """Return the files of a copy that hold a solution or a check."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".md", ".ipynb", ".json", ".txt", ".yml"}:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                text = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
            if any(piece in text for piece in pieces):
                found.append(path.relative_to(folder).as_posix())
    return found


def test_the_copy_has_no_file_of_a_problem_set_or_of_the_grader(copy: Path) -> None:
    left = names(copy)
    assert {"Makefile", "chapters/01_puzzle.ipynb", "attnlib/softmax.py"} <= left
    assert [name for name in left if re.match(r"grading|tests|\.git/", name)] == []
    assert [name for name in left if re.search(r"problem_set|grading", name)] == []


def test_no_file_of_the_copy_holds_a_solution_or_a_hidden_check(copy: Path) -> None:
    pieces = secrets()
    assert len(pieces) > 20
    assert tellers(copy, pieces) == []


def test_a_solution_that_is_left_is_found(tmp_path: Path) -> None:
    pieces = secrets()
    (tmp_path / "notes.md").write_text(f"Look:\n{pieces[0]}\n", encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(f"a = 1\n{pieces[-1]}")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "own.ipynb")
    assert tellers(tmp_path, pieces) == ["notes.md", "own.ipynb"]


def test_every_link_of_the_copy_leads_to_something_in_it(copy: Path) -> None:
    assert list(dangling(copy)) == []
    left_out = {page.name for page in BOOK.pages} - {page.name for page in Book(copy).pages}
    wanted = {"chapters/instructors", "chapters/grading"}
    assert left_out == wanted, "the copy has only pages of the last commit: commit what is new"
    assert "*instructors* (not in this copy)" in (copy / "index.ipynb").read_text("utf-8")


def test_the_notebooks_that_the_copy_makes_lead_only_to_what_is_in_it(
    copy: Path, tmp_path: Path
) -> None:
    made = tmp_path / "copy"
    shutil.copytree(copy, made)
    assert reader.main(made) == 0
    assert "notebooks/01_puzzle.ipynb" in names(made)
    assert list(dangling(made)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chapters/run.md", "{doc}`instructors`"),
        ("chapters/run.md", "{doc}`the plans <instructors>`"),
        ("index.ipynb", "{doc}`chapters/grading`"),
        ("chapters/changelog.md", "```{include} ../grading/README.md\n```"),
        ("README.md", "[the grader](grading/README.md)"),
        ("_toc.yml", "chapters:\n  - file: chapters/instructors"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "_toc.yml").write_text("root: index\n", encoding="utf-8")
    nbformat.write(notebook("{doc}`index`"), tmp_path / "index.ipynb")
    assert list(dangling(tmp_path)) == []
    if name == "index.ipynb":
        nbformat.write(notebook("{doc}`index`", f":::{{note}}\n{text}\n:::"), tmp_path / name)
    else:
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")
    assert len(list(dangling(tmp_path))) == 1


def test_the_commands_of_the_copy_exist_and_have_what_they_call(copy: Path) -> None:
    rules = makefile(copy)
    targets = make_targets(rules)
    assert {"book", "lab", "serve", "archive", "notebooks", "clean"} <= targets
    assert not {"test", "problem-sets", "grade", "formgrader", "students"} & targets
    for guide in ("README.md", "chapters/run.md"):
        assert {"book", "lab"} <= promised_targets((copy / guide).read_text("utf-8")) <= targets
    assert set(make_help(copy)) == targets - {"help", ".PHONY"}
    assert [
        name for name in re.findall(r"\btools/\w+\.py", rules) if not (copy / name).is_file()
    ] == []
    assert "GRADING" not in rules
    run("make", "-n", "lab", "bench", cwd=copy)


def test_the_workflow_of_the_copy_builds_and_publishes(copy: Path) -> None:
    folder = copy / ".github" / "workflows"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert set(texts) == {"book.yml", "publish.yml"}
    assert [problem for name in texts for problem in problems(name, texts[name])] == []
    book, caller = (parsed(texts[name]) for name in ("book.yml", "publish.yml"))
    assert list(book["jobs"]) == ["build", "publish", "colab"]
    assert book["jobs"]["publish"]["needs"] == ["build"]
    assert set(re.findall(r"\bmake ([\w-]+)", texts["book.yml"])) <= make_targets(makefile(copy))
    assert caller["on"] == {"push": {"branches": ["main"]}, "pull_request": None}
    assert [calls("book.yml", job) for job in caller["jobs"].values()] == [True]


def test_what_nobody_decided_on_stays_out() -> None:
    asked = {"exam": "set", "attnlib": "unset", "attnlibs": "set", "new.md": "set"}
    asked |= {".github/workflows/new.yml": "set"}
    said = run("git", "check-attr", "export-ignore", *asked, cwd=ROOT)
    assert dict(re.findall(r"^(\S+): export-ignore: (\w+)$", said, re.MULTILINE)) == asked


def test_a_folder_that_is_not_empty_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert students.main([str(tmp_path)]) == students.main([""]) == 1
    assert "a new or an empty folder" in capsys.readouterr().err
    assert names(tmp_path) == {"mine.txt"}


def test_the_copy_has_files_of_its_own(copy: Path) -> None:
    given = {"README.md", ".github/workflows/publish.yml"}
    assert names(ROOT / "docs" / "students") == given
    assert "This is a copy for students" in (copy / "README.md").read_text(encoding="utf-8")
