"""The Binder configuration works in a clean environment, to the letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.book import binder
from tests.book.binder import BinderError, Home
from tests.book.notebooks import NOTEBOOKS, OTHER_KERNEL, ROOT, read


@pytest.mark.proof("binder")
def test_every_chapter_runs_where_binder_would_with_another_blas_kernel(home: Home) -> None:
    """Two questions in one run: test_nbval.py has the kernel that this CPU asks for."""
    cells = sum(cell.cell_type == "code" for name in NOTEBOOKS for cell in read(name).cells)
    last = binder.run_chapters(home, OTHER_KERNEL | binder.BRISK)
    assert re.search(rf"= {cells} passed in", last)


def test_the_stated_version_is_one_that_the_package_supports() -> None:
    folder = binder.configuration_folder(ROOT)
    stated = binder.stated_version((folder / "runtime.txt").read_text(encoding="utf-8"))
    assert stated >= binder.OLDEST


@pytest.mark.parametrize(
    "runtime", ["", "3.12", "python-3", "python-3.12.1", "python-3.x", "r-4.1", "python-3.10"]
)
def test_a_bad_version_is_refused(runtime: str) -> None:
    with pytest.raises(BinderError):
        binder.stated_version(runtime)


def configuration(root: Path, **changed: str | None) -> Path:
    """Write a Binder configuration, some of its files changed or left out."""
    files = {"runtime.txt": "python-3.12\n", "requirements.txt": "", "postBuild": "#!/bin/sh\n"}
    for name, text in (files | changed).items():
        if text is not None:
            path = root / ".binder" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if name == "postBuild" else 0o644)
    return root / ".binder"


def test_a_complete_configuration_is_accepted(tmp_path: Path) -> None:
    folder = configuration(tmp_path)
    assert binder.configuration_folder(tmp_path) == folder
    binder.check_files(folder)


@pytest.mark.parametrize(
    "changed",
    [{"environment.yml": "name: x"}, {"requirements.txt": None}, {"postBuild": "echo"}],
)
def test_a_configuration_that_is_not_followed_here_is_refused(
    tmp_path: Path, changed: dict[str, str | None]
) -> None:
    with pytest.raises(BinderError):
        binder.check_files(configuration(tmp_path, **changed))


def test_a_step_that_may_not_be_executed_is_refused(tmp_path: Path) -> None:
    folder = configuration(tmp_path)
    (folder / "postBuild").chmod(0o644)
    with pytest.raises(BinderError, match="executable"):
        binder.check_files(folder)


def test_no_configuration_and_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BinderError):
        binder.configuration_folder(tmp_path)
    (tmp_path / "binder").mkdir()
    configuration(tmp_path)
    with pytest.raises(BinderError):
        binder.configuration_folder(tmp_path)


def test_a_step_that_fails_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BinderError, match="ended with"):
        binder.run(["python3", "-c", "raise SystemExit(3)"], tmp_path, {"PATH": "/usr/bin:/bin"})
