"""Notebooks that the cache does not have run side by side while the build reads other pages."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_cache import get_cache
from jupyter_client.kernelspec import NoSuchKernel
from sphinx.errors import SphinxError

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


def digests(*paths: Path) -> dict[Path, str]:
    return dict.fromkeys(paths, "0")


def test_notebooks_run_at_the_same_time_once_and_those_that_fail_are_left(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # two at a time: one waits for its next cell
    paths = [
        write(tmp_path, "a.ipynb", MEET.format(own="a", other="b", patience=60)),
        write(tmp_path, "b.ipynb", MEET.format(own="b", other="a", patience=60)),
        write(tmp_path, "c.ipynb", "1 / 0"),
    ]
    cache = get_cache(tmp_path / "cache")
    before = dict(os.environ)
    runs = execution.start(digests(*paths[::-1]), cache, 120)
    assert list(runs)[2] == paths[2]  # the one with the least code
    assert all(path in runs for path in paths)
    assert [runs.keep(path, cache) for path in paths] == [True, True, False]
    runs.stop()
    assert dict(os.environ) == before
    assert [execution.is_known(cache, nbformat.read(path, 4)) for path in paths] == [1, 1, 0]
    _, filled = cache.merge_match_into_notebook(nbformat.read(paths[0], 4))
    assert filled.cells[-1].outputs[0].text == "met\n"
    assert execution.start(digests(*paths[:2]), cache, 120) is None


def test_a_line_stays_whole_where_the_kernel_sends_it_in_pieces(tmp_path: Path) -> None:
    pieces = 'import sys\n\nfor piece in ("a", " line\\n", "\\n", "and one"):\n'
    path = write(tmp_path, "a.ipynb", f"{pieces}    print(piece, end='', flush=True)")
    cache = get_cache(tmp_path / "cache")
    runs = execution.start(digests(path), cache, 120)
    assert runs.keep(path, cache)
    runs.stop()
    _, filled = cache.merge_match_into_notebook(nbformat.read(path, 4))
    assert [output.text for output in filled.cells[-1].outputs] == ["a line\n\nand one"]


def test_outputs_go_when_what_they_depend_on_changes(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{name}.ipynb", f"print('{name}')") for name in "abc"]
    cache = get_cache(tmp_path / "cache")
    runs = execution.start(digests(*paths), cache, 120)
    assert all(runs.keep(path, cache) for path in paths)
    runs.stop()
    execution.drop_stale(cache, digests(*paths))
    assert execution.start(digests(*paths), cache, 120) is None
    # one is computed in another way, one is no longer in the book
    execution.drop_stale(cache, {paths[0]: "1", paths[1]: "0"})
    assert [execution.is_known(cache, nbformat.read(path, 4)) for path in paths] == [0, 1, 0]
    # the build itself notes no digest with what it has run
    record = cache.match_cache_notebook(nbformat.read(paths[1], 4))
    cache.cache_notebook_file(paths[1], data={}, check_validity=False, overwrite=True)
    execution.drop_stale(cache, digests(*paths))
    assert cache.list_cache_records() == []
    assert not (cache.path / "executed" / record.hashkey).exists()


def test_pages_are_made_anew_until_a_build_ends_well(tmp_path: Path, monkeypatch) -> None:
    paths = {"a": write(tmp_path, "a.ipynb", "'a'"), "b": write(tmp_path, "b.ipynb", "1 / 0")}
    settings = SimpleNamespace(execution_cache_path=str(tmp_path / "cache"))
    env = SimpleNamespace(found_docs={*paths}, doc2path=paths.get, mystnb_config=settings)
    app = SimpleNamespace(
        config={"nb_execution_mode": "cache", "nb_execution_timeout": 120},
        doctreedir=tmp_path,
        builder=SimpleNamespace(name="html"),
        env=env,
    )

    def begin(added: set[str]) -> tuple[execution.SideBySide, list[str]]:
        build = execution.SideBySide()
        stale = build.find_stale(app, env, added, set(), set())
        build.start(app, env, [*added, *stale])
        for name in (*added, *stale):
            build.keep(app, name, [])
        return build, stale

    build, stale = begin({"a", "b"})
    assert stale == []  # new pages are read anyway
    build.stop(app, None)
    assert begin(set())[1] == ["b"]  # it failed
    monkeypatch.setattr(execution, "notebook_digests", lambda paths, _: dict.fromkeys(paths, "1"))
    build, stale = begin(set())
    assert stale == ["a", "b"]
    build.stop(app, KeyboardInterrupt())  # a may have run, but its page was not written
    build, stale = begin(set())
    assert stale == ["a", "b"]
    build.stop(app, None)
    assert begin(set())[1] == ["b"]


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_build_that_ends_early_leaves_no_notebook_running(tmp_path: Path) -> None:
    wait = "import os, pathlib, time\npathlib.Path('{0}').write_text(str(os.getpid()))\n"
    paths = [
        write(tmp_path, f"{name}.ipynb", wait.format(name) + "time.sleep(3600)") for name in "abcd"
    ]
    runs = execution.start(digests(*paths), get_cache(tmp_path / "cache"), 3600)
    marks = [tmp_path / name for name in "ab"]
    # others start at this moment, or wait for their turn
    while not all(mark.exists() and mark.read_text() for mark in marks):
        time.sleep(0.02)
    runs.stop()
    for mark in marks + [mark for mark in (tmp_path / "c", tmp_path / "d") if mark.exists()]:
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.read_text()), 0)


@pytest.fixture
def built(tmp_path: Path) -> SimpleNamespace:
    """Return what a build of two pages has left."""
    for name in ("a", "b"):
        for kind in ("doctree", "html"):
            (tmp_path / f"{name}.{kind}").touch()
    env = SimpleNamespace(found_docs={"a", "b"}, doctreedir=tmp_path)
    builder = SimpleNamespace(format="html", get_outfilename=lambda name: tmp_path / f"{name}.html")
    return SimpleNamespace(env=env, builder=builder)


def test_a_build_that_wrote_all_it_read_passes(built: SimpleNamespace) -> None:
    execution.check_written(built, None)


def test_a_page_that_no_process_wrote_is_named(built: SimpleNamespace) -> None:
    (built.env.doctreedir / "b.html").unlink()
    with pytest.raises(SphinxError, match=r"failed to write: b$"):
        execution.check_written(built, None)


def test_a_page_that_is_older_than_what_was_read_is_named(built: SimpleNamespace) -> None:
    os.utime(built.env.doctreedir / "a.html", (0, 0))
    with pytest.raises(SphinxError, match=r"failed to write: a$"):
        execution.check_written(built, None)


def test_kernels_share_the_processors_unless_somebody_says_otherwise(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    shown = "import os\nprint(*(os.environ[f'{name}_NUM_THREADS'] for name in ('MKL', 'OPENBLAS')))"
    paths = [write(tmp_path, f"{name}.ipynb", shown + f"  # {name}") for name in "ab"]
    cache = get_cache(tmp_path / "cache")
    runs = execution.start(digests(*paths), cache, 120)
    for path in paths:
        runs.keep(path, cache)
    runs.stop()
    _, filled = cache.merge_match_into_notebook(nbformat.read(paths[0], 4))
    assert filled.cells[-1].outputs[0].text == "3 1\n"


def test_whatever_else_keeps_a_notebook_from_running_is_said(tmp_path: Path, monkeypatch) -> None:
    def no_kernel(*_: object, **__: object) -> None:
        raise NoSuchKernel("of that name")

    monkeypatch.setattr(execution.numbers, "Client", no_kernel)
    paths = [write(tmp_path, f"{name}.ipynb", f"'{name}'") for name in "ab"]
    cache = get_cache(tmp_path / "cache")
    runs = execution.start(digests(*paths), cache, 120)
    with pytest.raises(NoSuchKernel, match="of that name"):
        runs.keep(paths[0], cache)
    runs.stop()
