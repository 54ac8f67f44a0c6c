"""Building a book by the command that ``make book`` uses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock

from tests.book.notebooks import ROOT


class BuildResult(NamedTuple):
    status: int
    output: str


#: The recipe of ``make book``, without the environment's folder.
COMMAND = ("jupyter-book", "build", "-n", "-W", "--keep-going", ".")


def build(root: Path) -> BuildResult:
    """Build the book in a folder into its ``_build/html``."""
    program, *arguments = COMMAND
    run = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return BuildResult(run.returncode, run.stdout)


def checked_by(target: str, files: list[Path], folder: pytest.TempPathFactory) -> tuple[str, str]:
    """Let a command that needs PyTorch check files as a reader does, and return what it prints.

    Two workers must not install PyTorch at once.
    """
    with FileLock(folder.getbasetemp().parent / "language.lock"):
        done = subprocess.run(
            ["make", target, f"ARGS=--check --output {shlex.join(map(str, files))}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stdout, done.stderr


def run(*command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Run a command that has to succeed, and return what it prints."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
