"""What several folders of tests share: the built site and a browser to look at it."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from tests.book.building import BuildResult, build
from tests.book.notebooks import ROOT
from tests.proving import pytest_addoption, pytest_configure, pytest_sessionfinish
from tests.proving import pytest_collection_modifyitems as choose_proofs
from tools.chromium import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Once = Callable[[str, Callable[[Path], object]], Any]

# Parsed pages are millions of objects, in which Python would look for garbage again and again.
gc.set_threshold(100_000, 20, 100)

__all__ = ["pytest_addoption", "pytest_configure", "pytest_sessionfinish"]


def pytest_xdist_auto_num_workers() -> int:
    """Start a worker more than there are cores: browsers and sandboxes often wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose what runs; what looks at the built book comes last, so that one worker begins it."""
    choose_proofs(config, items)
    items.sort(key=lambda item: "build_result" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Once:
    """Return what makes something once, however many workers ask for it.

    What is made goes into a folder of its name, and what is told about it is kept as JSON.
    """
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent

    def made(name: str, make: Callable[[Path], object]) -> Any:
        record = shared / f"{name}.json"
        with FileLock(f"{record}.lock"):
            if not record.exists():
                folder = shared / name
                folder.mkdir(exist_ok=True)  # another worker may have failed
                record.write_text(json.dumps(make(folder), default=str), encoding="utf-8")
        return json.loads(record.read_text(encoding="utf-8"))

    return made


@pytest.fixture(scope="session")
def build_result(once: Once) -> BuildResult:
    """Build the book."""
    return BuildResult(**once("book", lambda _: build(ROOT)._asdict()))


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
