"""What was found in the software of others can be repeated by one command each."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.book.notebooks import ROOT

SCRIPTS = sorted((ROOT / "findings").iterdir())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_finding_has_its_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.partition("\nset -euo pipefail\n")[0]
    assert os.access(path, os.X_OK)
    assert head.startswith("#!/usr/bin/env bash\n# ")
    assert re.search(r"\d+\.\d+.*seen on 20\d\d-\d\d-\d\d", head), "version and day"
    assert "# Output seen:\n" in head
    assert "mktemp -d" in text
    assert re.search(r"(pip|npm) install.*(==|@)\d", text), "pinned public packages"
    assert not re.search("attnlib|attnbook", text), "nothing of the book"
