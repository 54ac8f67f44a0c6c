"""A user's script passes the two type checkers in strict mode, and runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPT = HERE / "typed_use.py"

pytestmark = pytest.mark.not_for_mutants


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # pyright is a program of Node; its package fetches it once
    variables = os.environ | {"PYTHONPATH": str(ROOT), "PYRIGHT_PYTHON_GLOBAL_NODE": "on"}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)


def test_the_users_script_runs(tmp_path):
    result = run(sys.executable, str(SCRIPT), folder=tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.proof("types")
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_strict_checker_has_nothing_to_say(checker, tmp_path):
    """Outside the repository, as a user's program is; a slip in it is noticed."""
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    script = SCRIPT.read_text(encoding="utf-8")
    (tmp_path / "right.py").write_text(script, encoding="utf-8")
    slip = "text: str = attnlib.entropy([0.5, 0.5])\n"
    (tmp_path / "wrong.py").write_text(script + slip, encoding="utf-8")
    options = ["--strict"] if checker == "mypy" else ["--pythonpath", sys.executable]
    command = [sys.executable, "-m", checker, *options]
    right = run(*command, "right.py", folder=tmp_path)
    assert right.returncode == 0, right.stdout + right.stderr
    wrong = run(*command, "wrong.py", folder=tmp_path)
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert wrong.stdout.count("error:") == 1
