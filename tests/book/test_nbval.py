"""Every notebook prints what it stores, and every numeral of its text is what its kernel computes.

One run under nbval asks both of a notebook, with the BLAS kernel that this CPU asks for. Sums of
floating point numbers depend on the order of the additions, and that on the CPU, so that a digit
which another BLAS kernel changes has no place in an output: ``test_binder.py`` runs them all with
one. The comparison is strict: each cell's text, without a sanitising file.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest

from tests.book.binder import BRISK
from tests.book.building import run
from tests.book.notebooks import NOTEBOOKS, OTHER_KERNEL, ROOT, code, notebook, printed, read

NBVAL = [
    *("-m", "pytest", "-p", "nbval.plugin", "--nbval", "--nbval-current-env", "--tb=short"),
    # nothing of the outer run's configuration
    *("-c", os.devnull, "-p", "no:cacheprovider"),
]
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Plugins that are not asked for take half a second to load."""


def nbval(
    folder: Path, names: list[str], kernel: Mapping[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    """Run notebooks under nbval from a folder, each in its own, with one BLAS kernel."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # The outer pytest's settings are not this run's.
        if name not in OTHER_KERNEL and not name.startswith("PYTEST_")
    }
    return subprocess.run(
        [sys.executable, *NBVAL, f"--rootdir={folder}", *options, *names],
        cwd=folder,
        env=environment | ALONE | BRISK | dict(kernel),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_and_numerals_come_out_again(name: str) -> None:
    cells = sum(cell.cell_type == "code" for cell in read(name).cells)
    said = nbval(ROOT, [name], {}, "-p", "book.nbval_numbers").stdout
    assert re.search(rf"= {cells} passed in", said.splitlines()[-1]), said


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
NUMBERS = {"right": "3", "wrong": "5"}
"""What a text calls the number that is 3 below its first cell."""


def test_another_output_or_number_is_noticed_and_the_kernel_inherits_the_choice(
    tmp_path: Path,
) -> None:
    cells = [code(source, [printed(stored)]) for source, stored, _ in CELLS]
    nbformat.write(notebook("# Title", *cells), tmp_path / "outputs.ipynb")
    for name, written in NUMBERS.items():
        text = f"Of {written}<!-- {{n}} -->."
        content = notebook("# Title", code("n = 3"), text, code("n = 4"))
        nbformat.write(content, tmp_path / f"{name}.ipynb")
    options = ("-p", "book.nbval_numbers", "--verbose", "--verbose")
    path = {"PYTHONPATH": str(ROOT)}
    names = [f"{name}.ipynb" for name in ("outputs", *NUMBERS)]
    said = nbval(tmp_path, names, OTHER_KERNEL | path, *options).stdout
    found: dict[str, list[bool]] = {}
    for name, outcome in re.findall(r"(\w+)\W+ipynb::Cell \d+ (PASSED|FAILED)", said):
        found.setdefault(name, []).append(outcome == "PASSED")
    outputs = [agrees for *_, agrees in CELLS]
    assert found == {"outputs": outputs, "right": [True, True], "wrong": [True, False]}
    assert "the text has 5, computed is 3" in said
