"""Every notebook prints what it stores, whatever kernel the BLAS library picks for the CPU.

The comparison is nbval's, strict: each cell's text, without a sanitising file. Sums of floating
point numbers depend on the order of the additions, and that on the CPU. So each notebook runs
twice, here and with another kernel in test_binder.py, and a digit that differs between the two
has no place in an output.
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

from tests.book.notebooks import NOTEBOOKS, OTHER_KERNEL, ROOT, code, notebook, printed

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


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_stored_outputs_agree(name: str) -> None:
    run = nbval(ROOT / name, {})
    cells = sum(cell.cell_type == "code" for cell in nbformat.read(ROOT / name, as_version=4).cells)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f" {cells} passed in" in run.stdout


def test_the_other_kernel_is_in_force() -> None:
    source = (
        "import numpy, threadpoolctl;"
        "print(*(pool.get('architecture') for pool in threadpoolctl.threadpool_info()"
        " if pool['internal_api'] == 'openblas'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", source],
        env=os.environ | OTHER_KERNEL,
        capture_output=True,
        text=True,
        check=True,
    )
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    assert run.stdout.split() == ["Haswell"] or not x86


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
