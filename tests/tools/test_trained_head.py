"""The trained models to look into are what their command makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attnbook.language_model.model import FILE, digest
from tests.book.building import checked_by


@pytest.mark.proof("retraining")
def test_the_beginning_of_the_training_comes_out_again_and_other_weights_do_not(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Neither with the digest of the true ones, nor with their own."""
    with np.load(FILE) as stored:
        arrays = {name: stored[name] for name in stored.files}
    about = json.loads(arrays.pop("about").tobytes())
    arrays["undivided weights"] = -arrays["undivided weights"]
    files = [FILE, tmp_path / "true digest.npz", tmp_path / "own digest.npz"]
    for path, claimed in zip(files[1:], (about["sha256"], digest(arrays)), strict=True):
        content = json.dumps(about | {"sha256": claimed}).encode()
        np.savez_compressed(path, about=np.frombuffer(content, np.uint8), **arrays)
    said, errors = checked_by("trained-head", files, tmp_path_factory)
    verdicts = [line for line in said.splitlines() if line.startswith("which")]
    refused = "which does NOT agree"
    assert verdicts == ["which agrees", refused, refused], said + errors
    assert "Error 2" in errors  # of three files, two do not agree
