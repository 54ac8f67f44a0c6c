"""What tests of several files see of a page, which is visited for it once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from book import reader_notebooks as reader
from tests.book.notebooks import BOOK
from tests.ext.test_browser import look_without_scripts

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.conftest import Once


@pytest.fixture(scope="session")
def without_scripts(once: Once, browser: Browser, site: Path) -> Callable[[str], dict[str, Any]]:
    """Return what tells of a page, by its address, what a reader without scripts sees."""

    def seen(name: str) -> dict[str, Any]:
        record = f"without-scripts-{name.replace('/', '-')}"
        return once(record, lambda _: look_without_scripts(browser, site / name))

    return seen


@pytest.fixture(scope="session")
def readers_notebooks(once: Once) -> dict[str, str]:
    """Return the notebooks for readers."""
    return once("readers-notebooks", lambda _: reader.notebooks(BOOK))


@pytest.fixture(scope="session")
def looks(once: Once) -> Path:
    """Return the file of how often each look of words has been seen, whoever has seen it."""
    return Path(once("looks", str)) / "looks.json"
