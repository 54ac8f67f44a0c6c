"""The built pages show what the notebooks store.

The build executes a notebook only when something changed that it computes with, so that a change
which it overlooks leaves outdated outputs on the page. ``test_nbval.py`` compares what is stored
with what is computed now.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_cache import get_cache

from book.normal_form import normalized
from tests.book.building import BuildResult
from tests.book.notebooks import NOTEBOOKS, ROOT, code, notebook, printed, read


@pytest.fixture(scope="session")
def executed(build_result: BuildResult) -> dict[str, nbformat.NotebookNode]:
    """Return the notebooks as the build ran them, in the form in which they are stored."""
    if build_result.status != 0:
        pytest.fail("the book does not build, so there are no outputs to compare", pytrace=False)
    cache = get_cache(ROOT / "_build" / ".jupyter_cache")
    made = {name: cache.match_cache_notebook(read(name)).pk for name in NOTEBOOKS}
    return {
        name: normalized(cache.get_cache_bundle(pk).nb, Path(name).stem)
        for name, pk in made.items()
    }


def differences(stored: nbformat.NotebookNode, made: nbformat.NotebookNode) -> list[str]:
    """Name the code cells whose source or output is another one than is stored."""
    pairs = zip(
        (cell for cell in stored.cells if cell.cell_type == "code"),
        (cell for cell in made.cells if cell.cell_type == "code"),
        strict=True,
    )
    return [
        f"code cell {number}: stored {one.outputs}, the build has {other.outputs}"
        for number, (one, other) in enumerate(pairs, start=1)
        if one.source != other.source or texts(one) != texts(other)
    ]


def texts(cell: nbformat.NotebookNode) -> list[tuple[str, object]]:
    """Return what a cell's outputs say, and nothing of where and when."""
    return [(output.output_type, output.get("text", output.get("data"))) for output in cell.outputs]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_stored_outputs_agree(name: str, executed: dict[str, nbformat.NotebookNode]) -> None:
    problems = differences(read(name), executed[name])
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("stored", "agrees"),
    [("0.25\n", True), ("0.26\n", False), ("0.25", False), ("0.25\nmore\n", False)],
)
def test_another_output_is_noticed(stored: str, agrees: bool) -> None:
    made = notebook("# Title", code("print(0.25)", [printed("0.25\n")]))
    page = notebook("# Title", code("print(0.25)", [printed(stored)]))
    assert (differences(page, made) == []) is agrees
