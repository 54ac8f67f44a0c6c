"""A downloaded notebook runs in an empty folder, with what its first cell says and nothing else.

`proof` environments are made from the command that the notebook names, with the files of this
repository in place of its address.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book import first_cells, repository
from book import reader_notebooks as reader
from tests.book.notebooks import BOOK, ROOT
from tests.conftest import Once
from tests.programs import install

ADDRESS = "https://example.org/someone/book"
COMMAND = re.compile(r'python -m pip install "attnlib\[all\] @ git\+(.+?)"')
PACKAGED = ("attnlib", "attnbook")


@cache
def offered() -> dict[str, str]:
    """Return the notebooks that the site offers, by the names under which browsers save them."""
    return reader.notebooks(BOOK, ADDRESS)


def run(*command: str | Path, folder: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def copied(folder: Path) -> Path:
    """Copy what git knows of the repository, so that building leaves nothing behind in it."""
    repository.copy(repository.files(ROOT, new=True), folder)
    return folder


def install_as_told(folder: Path) -> str:
    """Make an environment with a kernel, follow the first cell, and return its Python."""
    source, pins = copied(folder / "source"), ["-c", str(ROOT / "requirements.txt")]
    # a kernel runs the notebook that says what to install
    python = Path(install(*pins, "ipykernel")(folder), "python")
    (page,) = [page for page in BOOK.notebooks if page.stem == "01_puzzle"]
    empty = folder / "empty"
    empty.mkdir()
    (empty / "cell.py").write_text(first_cells.first_cell(page, ADDRESS), encoding="utf-8")
    refused = subprocess.run([python, "-I", "cell.py"], cwd=empty, capture_output=True, text=True)
    told = COMMAND.search(refused.stderr.splitlines()[-1])
    assert told, refused.stderr
    assert told[1] == ADDRESS
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, *pins, f"{source}[all]", folder=empty)
    return str(python)


def execute(notebook: nbformat.NotebookNode, folder: Path, python: str) -> None:
    """Run a notebook by the kernel of an environment."""
    kernels = folder / ".kernels" / "kernels" / "told"
    kernels.mkdir(parents=True)
    command = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "told", "language": "python"}
    (kernels / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables = clean | {"JUPYTER_PATH": str(folder / ".kernels"), "PYTHONSAFEPATH": "1"}
    place = {"metadata": {"path": str(folder)}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", variables["JUPYTER_PATH"])
        client = NotebookClient(notebook, timeout=600, kernel_name="told", resources=place)
        client.execute(env=variables)


@pytest.mark.proof("downloads")
@pytest.mark.parametrize("name", [page.path.name for page in BOOK.notebooks])
def test_a_download_runs_in_an_empty_folder_or_says_what_it_takes(
    name: str, tmp_path: Path, once: Once
) -> None:
    python = once("downloads", install_as_told)
    notebook = nbformat.reads(offered()[name], as_version=4)
    if name == "benchmarks.ipynb":
        with pytest.raises(
            CellExecutionError, match="the folder benchmarks: clone it from"
        ) as told:
            execute(notebook, tmp_path, python)
        assert ADDRESS in str(told.value)
        assert notebook.cells[1].execution_count == 1, "its first cell of code"
    else:
        execute(notebook, tmp_path, python)


def test_a_download_links_into_no_folder_that_it_has_not_beside_it() -> None:
    for name, text in offered().items():
        for cell in nbformat.reads(text, as_version=4).cells:
            if cell.cell_type == "markdown":
                assert not re.search(r"\]\((\.\./|/|file:)", cell.source), name


@pytest.mark.proof("downloads")
def test_wheels_and_source_distributions_have_the_tables(tmp_path: Path) -> None:
    """All of them, once, and the installed package reads them from itself."""
    source = copied(tmp_path / "source")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path]
    run(*pip, source, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    tables = {path.name for path in (ROOT / "data").glob("*.json")}
    with zipfile.ZipFile(wheel) as packed:
        held = packed.namelist()
        packed.extractall(tmp_path / "installed")
    assert {name for name in held if name.startswith("attnbook/_data/")} == {
        f"attnbook/_data/{name}" for name in tables
    }
    assert {name.split("/")[0] for name in held if "dist-info" not in name} == set(PACKAGED)
    asking = "from attnbook.data import data_file; print(data_file('models.json').resolve())"
    program = f"import sys; sys.path.insert(0, 'installed'); {asking}"
    printed = Path(run(sys.executable, "-I", "-c", program, folder=tmp_path).strip())
    assert printed == (tmp_path / "installed" / "attnbook" / "_data" / "models.json").resolve()
