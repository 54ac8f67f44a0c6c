"""Run tests in one pytest session: what ``make test``, ``make prove`` and CI call.

System parts that are missing are installed first where that is possible. What could not be
obtained is listed after pytest's summary as "not run"; with ``CI=true`` in the environment that is
a failure. Arguments are handed on to pytest.
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


def pytest_status(arguments: list[str]) -> int:
    """Run pytest, and return its exit status."""
    command = [sys.executable, "-m", "pytest", "--durations=5", *arguments]
    # there is a worker for each processor: threads of BLAS would wait for each other
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main(arguments: list[str]) -> int:
    """Return pytest's exit status, or 1 if something could not be run where it has to be."""
    missing = [] if ensure_chromium() else ["tests/ext/test_browser.py: no Chromium was found"]
    missing += [f"tests/grading: no {package} was found" for package in ensure_programs()]
    status = pytest_status(arguments)
    for what in missing:
        sys.stdout.write(f"not run: {what}\n")
    return status or int(bool(missing) and os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
