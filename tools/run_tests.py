"""Run every test in one pytest session; what ``make test`` and CI call.

System parts that are missing are installed first where that is possible. What could not be
obtained is listed after pytest's summary as "not run"; with ``CI=true`` in the environment that is
a failure. With ``--quick``, which is ``make test-quick``, only what needs no built site, no browser
and no grader runs, and nothing is installed: the package with its examples, and the book's texts.
It says what it leaves out. With ``--coverage``, as CI does, it measures which lines the tests reach
and fails if they are too few; that makes a third more work of each test that is measured. Each run
names its slowest tests. Other arguments are handed on to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.chromium import ensure_chromium  # noqa: E402
from tools.debian import ensure_programs  # noqa: E402

QUICK = ("attnlib", "attnbook", "book", "tests/attnlib", "tests/book")
# What builds a book or an environment, opens a browser, or asks the tests themselves.
LEFT_TO_ALL = (
    "tests/attnlib/test_mutants.py",
    "tests/book/test_binder.py",
    "tests/book/test_each_number.py",
    "tests/book/test_execution.py",
    "tests/book/test_jupyterlab.py",
    "tests/book/test_new_chapter.py",
    "tests/book/test_outputs.py",
    "tests/book/test_site_benchmark.py",
    "tests/book/test_stale.py",
)
# Coverage is not measured in what runs long and calls what other tests call as well: measuring it
# takes as long again as plain Python. These are folders, files and the beginnings of tests' names.
UNMEASURED = (
    "tests/attnbook/exercises/test_attacks.py",
    "tests/attnbook/figures/test_gradient_quantiles.py::TestTable::test_its_cells_are_drawn_again",
    "tests/attnbook/figures/test_head.py::TestSum::test_the_keys_are_normal",
    "tests/attnbook/figures/test_head.py::TestWeights::test_they_have_the_law",
    "tests/attnbook/figures/test_head.py::test_the_query_is_as_long",
    "tests/attnbook/figures/test_initializers.py::TestPicture",
    "tests/attnbook/figures/test_initializers.py::TestWords",
    "tests/attnbook/figures/test_online_softmax.py::TestSteps::test_the_table_adds_up",
    "tests/attnbook/figures/test_online_softmax.py::TestSteps::test_what_is_kept",
    "tests/attnbook/test_plots.py::test_series_differ",
    "tests/attnbook/test_plots.py::test_titles_are_short",
    "tests/attnbook/test_sweeps.py::test_a_row_drawn_from_the_table",
    "tests/attnbook/test_sweeps.py::test_the_findings_on_fresh_seeds",
    "tests/attnlib/test_blockwise.py::test_every_rule_and_mask_as_in_dense_attention",
    "tests/attnlib/test_blockwise.py::test_the_gradient_agrees_with_nested_loops",
    "tests/attnlib/test_blockwise.py::test_the_output_agrees_with_nested_loops",
    "tests/attnlib/test_initialization.py::test_measured",
    "tests/attnlib/test_samplers.py",
    "tests/attnlib/test_saturation.py::test_expected_maximum_by_another_integral",
    "tests/book/test_each_number.py",
    "tests/grading/test_attacks.py",
    "tests/grading/test_problem_set_1.py",
    "tests/grading/test_problem_set_2.py",
    "tests/grading/test_redteam.py",
    "tests/grading/test_unusual.py",
    "tests/site/",
)


def pytest_status(arguments: list[str]) -> int:
    """Run pytest, and return its exit status."""
    command = [sys.executable, "-m", "pytest", "--durations=10", *arguments]
    # there is a worker for each processor: threads of BLAS would wait for each other
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def left_out() -> list[str]:
    """Name the folders and files of tests that the quick run leaves out."""
    files = (path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    folders = {"/".join(file.parts[:2]) for file in files}
    return [*sorted(folders - set(QUICK)), *LEFT_TO_ALL]


def main(arguments: list[str]) -> int:
    """Return pytest's exit status, or 1 if something could not be run where it has to be."""
    if "--quick" in arguments:
        left = [f"--ignore={name}" for name in LEFT_TO_ALL]
        status = pytest_status([*QUICK, *left, *(a for a in arguments if a != "--quick")])
        sys.stdout.write(f"left to make test: {', '.join(left_out())}\n")
        return status
    missing = [] if ensure_chromium() else ["tests/site/test_browser.py: no Chromium was found"]
    missing += [f"tests/grading: no {package} was found" for package in ensure_programs()]
    coverage = ["--cov", "--cov-report=term"] if "--coverage" in arguments else []
    status = pytest_status([*coverage, *(a for a in arguments if a != "--coverage")])
    for what in missing:
        sys.stdout.write(f"not run: {what}\n")
    return status or int(bool(missing) and os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
