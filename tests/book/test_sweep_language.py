"""The table of the small language model is what its command makes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.book.notebooks import ROOT

TABLE = ROOT / "data" / "language.json"
RULES = {"1", "1/√dₖ", "1/dₖ", "q/k norm"}


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def test_the_beginning_of_a_run_comes_out_again_and_attention_is_that_of_attnlib() -> None:
    make = shutil.which("make")
    assert make
    done = subprocess.run(
        [make, "sweep-language", "ARGS=--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agrees" in done.stdout


def test_a_changed_table_is_noticed(tmp_path: Path, table: dict[str, Any]) -> None:
    table["settings"][0]["loss"][0][1] += 0.2
    changed = tmp_path / "language.json"
    changed.write_text(json.dumps(table), encoding="utf-8")
    done = subprocess.run(
        ["make", "sweep-language", f"ARGS=--check --output {changed}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "does NOT agree" in done.stdout
    assert done.returncode
