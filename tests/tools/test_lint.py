"""Ruff has nothing to say of code and notebooks, which ``make format`` brings about."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.book.notebooks import ROOT


@pytest.mark.parametrize("what", [("check",), ("format", "--check")], ids=" ".join)
def test_the_formatter_and_the_linter_find_nothing(what: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *what, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
