"""Measure one model: ``python -m attnbook.trained_models.measuring NAME FOLDER`` prints JSON."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

from attnbook.trained_models.measuring.wheels import WHEELS


def main(name: str, folder: str, *options: str) -> None:
    """Print what was measured of a model, and to standard error how long it took."""
    folders = {wheel: Path(folder) / wheel for wheel in WHEELS}
    module = importlib.import_module(f"attnbook.trained_models.measuring.{name}")
    begun = time.perf_counter()
    measured = module.measure(folders, quick="--quick" in options)
    sys.stderr.write(f"{name}: {time.perf_counter() - begun:.0f} s\n")
    print(json.dumps(measured, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
