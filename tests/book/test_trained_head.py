"""The trained models to look into are what their command makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from attnbook.chapters.trained_head import FILE, digest
from tests.book.notebooks import ROOT


def check(file: Path, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess:
    """Call the command as a reader does; two workers must not install PyTorch at once."""
    with FileLock(tmp_path_factory.getbasetemp().parent / "language.lock"):
        return subprocess.run(
            ["make", "trained-head", f"ARGS=--check --output {file}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )


def test_the_beginning_of_the_training_comes_out_again(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    done = check(FILE, tmp_path_factory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "which agrees" in done.stdout


def test_other_weights_do_not(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Neither with the digest of the true ones, nor with their own."""
    with np.load(FILE) as stored:
        arrays = {name: stored[name] for name in stored.files}
    about = json.loads(arrays.pop("about").tobytes())
    arrays["undivided weights"] = -arrays["undivided weights"]
    for claimed in (about["sha256"], digest(arrays)):
        content = json.dumps(about | {"sha256": claimed}).encode()
        changed = tmp_path / "changed.npz"
        np.savez_compressed(changed, about=np.frombuffer(content, np.uint8), **arrays)
        done = check(changed, tmp_path_factory)
        assert done.returncode != 0
        assert "does NOT agree" in done.stdout
