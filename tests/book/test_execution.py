"""Notebooks that the cache does not have are run side by side, before the build needs them."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from jupyter_cache import get_cache

from _ext import execution
from tests.book.notebooks import code, notebook

# Each waits for the other, so that both end only if they run at the same time.
MEET = """import time
from pathlib import Path

Path("{own}").touch()
end = time.monotonic() + {patience}
while not Path("{other}").exists():
    assert time.monotonic() < end, "alone"
    time.sleep(0.02)
print("met")"""


def write(folder: Path, name: str, source: str) -> Path:
    content = notebook(code(source))
    content.cells[-1].execution_count = None
    nbformat.write(content, folder / name)
    return folder / name


def test_notebooks_run_at_the_same_time_once_and_those_that_fail_are_left(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    paths = [
        write(tmp_path, "a.ipynb", MEET.format(own="a", other="b", patience=60)),
        write(tmp_path, "b.ipynb", MEET.format(own="b", other="a", patience=60)),
        write(tmp_path, "c.ipynb", "1 / 0"),
    ]
    cache = get_cache(tmp_path / "cache")
    before = dict(os.environ)
    assert execution.run(paths, cache, 120) == 3
    assert dict(os.environ) == before
    assert [execution.is_known(cache, nbformat.read(path, 4)) for path in paths] == [1, 1, 0]
    _, filled = cache.merge_match_into_notebook(nbformat.read(paths[0], 4))
    assert filled.cells[-1].outputs[0].text == "met\n"
    # one alone gains nothing, and the build reports what is wrong with it
    assert execution.run(paths, cache, 120) == 0
