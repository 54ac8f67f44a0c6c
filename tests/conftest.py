"""What several folders of tests share: the built site and a browser to look at it."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.book.building import BuildResult, build
from tests.book.notebooks import ROOT
from tools.chromium import find_chromium
from tools.run_tests import UNMEASURED

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Parsed pages are millions of objects, in which Python would look for garbage again and again.
gc.set_threshold(100_000, 20, 100)

FIRST = (
    "test_the_book_builds_without_a_warning",
    "test_every_chapter_runs_where_binder_would_with_another_blas_kernel",
    "test_every_notebook_is_whole_before_and_after_a_reader_runs_it",
)


def pytest_xdist_auto_num_workers() -> int:
    """Start a worker more than there are cores: browsers and sandboxes often wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes minutes first and what looks at the build last.

    One worker then builds the book while the other has enough to do without it.
    """
    for item in items:
        if item.nodeid.startswith(UNMEASURED):
            item.add_marker("no_cover")

    def turn(item: pytest.Item) -> int:
        if item.name.startswith(FIRST):
            return FIRST.index(item.name)
        return len(FIRST) + ("build_result" in getattr(item, "fixturenames", ()))

    items.sort(key=turn)


@pytest.fixture(scope="session")
def build_result(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> BuildResult:
    """Build the book once, however many workers ask for it."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    record = shared / "book-build.json"
    with FileLock(f"{record}.lock"):
        if not record.exists():
            record.write_text(json.dumps(build(ROOT)._asdict()), encoding="utf-8")
    return BuildResult(**json.loads(record.read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def site(build_result: BuildResult) -> Path:
    """Return the folder of the built site."""
    if build_result.status != 0:
        # test_the_book_builds_without_a_warning shows the output, once
        pytest.fail("the book does not build, so there is no site to test", pytrace=False)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start a headless Chromium; where there is none, CI fails and others read "not run"."""
    from playwright.sync_api import sync_playwright

    executable = find_chromium()
    if executable is None:
        message = "not run: no Chromium was found, and the tests of the site need one"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    is_root = sys.platform != "win32" and os.geteuid() == 0
    # Pages reach this machine alone. What else they ask for is noted where a test visits them.
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    # Chromium's sandbox refuses to start for root, which containers often are.
    arguments += ["--no-sandbox"] if is_root else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield chromium
        chromium.close()
