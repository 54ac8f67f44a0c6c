"""Which Python marks: the newest of the machine for which all pins have wheels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.book.notebooks import ROOT
from tools import grading_python


def test_the_newest_that_can_have_the_pins_is_taken(tmp_path: Path) -> None:
    here = sys.version_info.minor
    known = {f"python3.{minor}": f"/usr/bin/python3.{minor}" for minor in range(here - 1, here + 4)}
    pythons = list(grading_python.newer(known.get))
    assert pythons == [f"/usr/bin/python3.{minor}" for minor in (here + 3, here + 2, here + 1)]

    asked: list[Sequence[str]] = []

    def run(command: Sequence[str], *, quiet: bool) -> int:
        asked.append(command)
        folder = tmp_path / "env"
        if "venv" in command:
            assert not folder.exists()  # what an earlier try left behind is gone
            folder.mkdir()
            (folder / "python").write_text(command[0])
            return 1 if command[0] == pythons[0] else 0  # its module venv is not installed
        assert quiet == ("--only-binary" in command)
        return 1 if (folder / "python").read_text() == pythons[1] else 0  # a wheel is missing

    assert grading_python.make(tmp_path / "env", pythons, run) == pythons[2]
    assert [each[0] for each in asked if "venv" in each] == pythons
    # where none can, the one that runs this is taken, and need not have wheels
    assert grading_python.make(tmp_path / "env", pythons[:2], run) == sys.executable


def test_what_fails_in_the_end_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as raised:
        grading_python.make(tmp_path / "env", [], lambda *_, **__: 7)
    assert raised.value.code == 7


@pytest.mark.parametrize(("given", "options"), [([], ""), (["PYTHON=python3"], "--this")])
def test_make_takes_the_newest_unless_one_is_named(given: list[str], options: str) -> None:
    command = ["make", "-n", "-W", "requirements-grading.txt", "problem-sets", *given]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    line = next(each for each in said.splitlines() if "tools/grading_python.py" in each)
    assert line.split("grading_python.py .venv-grading")[1].strip() == options
