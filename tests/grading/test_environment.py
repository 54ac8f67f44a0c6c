"""The rules that students read name what marks: computed from the pins and limits, never typed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

from grading.environment import PINS, RULES, filled_in, in_words, packages
from grading.problem_set import SOURCE, problem_sets
from grading.release import release
from grading.sandbox.sandbox import Limits

SETS = problem_sets()


@pytest.mark.parametrize("name", SETS)
def test_the_rules_name_versions_and_limits(name: str, tmp_path: Path) -> None:
    path = release(SETS[name], tmp_path)
    rules = nbformat.read(path, as_version=4).cells[0].source
    pinned = dict(
        re.findall(r"^(numpy|matplotlib|ipython)==([\w.]+)", PINS.read_text(), re.MULTILINE)
    )
    assert (
        f"Python {sys.version_info.major}.{sys.version_info.minor}, NumPy {pinned['numpy']}"
        in rules
    )
    assert f"Matplotlib {pinned['matplotlib']} and IPython {pinned['ipython']}" in rules
    limits = Limits()
    assert f"longer than {limits.cell_seconds:g} seconds is stopped" in rules
    assert f"{limits.wall_seconds:g} seconds, {limits.cpu_seconds} seconds of processor" in rules
    assert f"{limits.memory_bytes / 1e9:g} GB of memory" in rules
    assert "64,000 characters and 1 MB of pictures" in rules
    assert "400,000 characters and 3 MB" in rules
    assert "{{" not in path.read_text(encoding="utf-8")
    # and no number of them is typed in the source
    source = nbformat.read(SOURCE / name / f"{name}.ipynb", as_version=4).cells[0].source
    assert not re.search(r"\d+ (?:seconds|GB|MB)|Python 3|NumPy \d", source)
    assert all(rule in source for rule in RULES.splitlines())


def test_pins_are_read_for_the_python_that_is_asked_for() -> None:
    old, new = packages(python="3.11"), packages(python="3.14")
    assert old["numpy"] == new["numpy"]
    # a package of which newer versions need a newer Python
    assert old["contourpy"] != new["contourpy"]
    assert "importlib-metadata" in old
    assert "importlib-metadata" not in new


def test_without_pins_it_is_what_is_installed(tmp_path: Path) -> None:
    assert packages(tmp_path / "none.txt")["numpy"] == np.__version__


def test_a_name_that_is_none_is_refused() -> None:
    assert filled_in("{{ seconds }} s") == f"{in_words()['seconds']} s"
    with pytest.raises(ValueError, match=r"\{\{speed\}\} is none of environment, seconds"):
        filled_in("{{speed}}")
