"""Make the environment that marks, with the newest Python for which its pins have wheels.

    python tools/grading_python.py FOLDER          the newest python3.N of this machine
    python tools/grading_python.py FOLDER --this   the Python that runs this

A student's Python may be newer than the oldest one that can mark, and then what is new in it would
not run. Which one the pins allow, pip finds out: a Python without a wheel of each pin is passed by.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "requirements-grading.txt"
NEWEST = 30
INSTALL = ("-m", "pip", "install", "--disable-pip-version-check", "--quiet")


def newer(which: Callable[[str], str | None] = shutil.which) -> Iterator[str]:
    """Give each newer Python of this machine than the one that runs this, the newest first."""
    for minor in range(NEWEST, sys.version_info.minor, -1):
        if path := which(f"python3.{minor}"):
            yield path


def python_of(folder: Path) -> str:
    """Return the Python of an environment."""
    return str(folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def make(folder: Path, pythons: Sequence[str], run: Callable[..., int]) -> str:
    """Make the environment with the first Python that can have it, and return which it is.

    The one that runs this comes last, and needs no wheels.
    """
    for python in pythons:
        shutil.rmtree(folder, ignore_errors=True)
        wheels = (*INSTALL, "--only-binary", ":all:", "-r", str(PINS))
        if run([python, "-m", "venv", str(folder)], quiet=True) == 0 and (
            run([python_of(folder), *wheels], quiet=True) == 0
        ):
            return python
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [python_of(folder), *INSTALL, "-r", str(PINS)],
    ):
        if status := run(command, quiet=False):
            raise SystemExit(status)
    return sys.executable


def run(command: Sequence[str], *, quiet: bool) -> int:
    """Run a command and return its exit status; what it says is of interest if it has to work."""
    where = subprocess.DEVNULL if quiet else None
    return subprocess.run(command, stdout=where, stderr=where, check=False).returncode


def main(arguments: Sequence[str]) -> None:
    """Make the environment, and say with which Python."""
    folder, *options = arguments
    pythons = [] if "--this" in options else list(newer())
    sys.stdout.write(f"{folder}: {make(Path(folder), pythons, run)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
