"""What several tests of the notebooks share: a place such as Binder makes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.book.binder import Home, follow

if TYPE_CHECKING:
    from tests.conftest import Once


@pytest.fixture(scope="session")
def home(once: Once) -> Home:
    """Follow the Binder configuration."""
    repository, programs, variables = once("binder", follow)
    return Home(Path(repository), Path(programs), variables)
