"""What several tests of the notebooks share: a place such as Binder makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filelock import FileLock

from tests.book.binder import Home, follow


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Home:
    """Follow the Binder configuration once, however many processes run tests."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    record = shared / "binder.json"
    with FileLock(f"{record}.lock"):
        if not record.exists():
            made = follow(tmp_path_factory.mktemp("binder"))
            record.write_text(json.dumps(made, default=str), encoding="utf-8")
    repository, programs, variables = json.loads(record.read_text(encoding="utf-8"))
    return Home(Path(repository), Path(programs), variables)
