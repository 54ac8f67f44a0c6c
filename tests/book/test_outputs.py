"""Every notebook prints what it stores, whatever kernel the BLAS library picks for the CPU.

Sums of floating point numbers depend on the order of the additions, and that on the CPU. So each
notebook runs twice, and a digit that differs between the two has no place in an output: once in the
build of the book, whose outputs are compared here, and once under nbval with another kernel in
test_binder.py. Both comparisons are strict: each cell's text, without a sanitising file.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_cache import get_cache

from book.stored import normalized
from tests.book.building import BuildResult, run
from tests.book.notebooks import NOTEBOOKS, OTHER_KERNEL, ROOT, code, notebook, printed, read

NBVAL = [
    *("-m", "pytest", "--nbval", "--nbval-current-env", "--tb=short"),
    # nothing of the outer run's configuration
    *("-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:xdist"),
]


def nbval(path: Path, kernel: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run one notebook under nbval, in its own folder and with one BLAS kernel."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHER_KERNEL}
    # The outer pytest's settings are not this run's.
    environment = {
        name: value for name, value in environment.items() if not name.startswith("PYTEST_")
    }
    command = [sys.executable, *NBVAL, f"--rootdir={path.parent}", *options, path.name]
    return subprocess.run(
        command,
        cwd=path.parent,
        env=environment | kernel,
        capture_output=True,
        text=True,
        check=False,
    )


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


def test_the_other_kernel_is_in_force() -> None:
    source = (
        "import numpy, threadpoolctl;"
        "print(*(pool.get('architecture') for pool in threadpoolctl.threadpool_info()"
        " if pool['internal_api'] == 'openblas'))"
    )
    said = run(sys.executable, "-c", source, env=os.environ | OTHER_KERNEL)
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    assert said.split() == ["Haswell"] or not x86


#: What a cell runs, what is stored of it, and whether the comparison has to accept that.
CELLS = [
    ("print(0.25)", "0.25\n", True),
    ("print(0.25)", "0.26\n", False),
    ("print('0.25  ')", "0.25\n", False),
    ("import sys\nprint(0.25)\nprint('beware', file=sys.stderr)", "0.25\n", False),
    ("import warnings\nprint(0.25)\nwarnings.warn('beware')", "0.25\n", False),
    ("print(0.25)\n1 / 0", "0.25\n", False),
    ("import os\nprint(os.environ.get('OPENBLAS_CORETYPE'))", "Haswell\n", True),
]


class TestTheComparison:
    def test_a_difference_is_noticed_and_the_kernel_inherits_the_choice(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "page.ipynb"
        cells = [code(source, [printed(stored)]) for source, stored, _ in CELLS]
        nbformat.write(notebook("# Title", *cells), path)
        run = nbval(path, OTHER_KERNEL, "--verbose", "--verbose")
        outcomes = re.findall(r"::Cell \d+ (PASSED|FAILED)", run.stdout)
        assert [outcome == "PASSED" for outcome in outcomes] == [agrees for *_, agrees in CELLS]
