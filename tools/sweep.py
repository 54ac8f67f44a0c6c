"""Run the full ablation of the chapter on training and write its table.

``python tools/sweep.py --jobs 2`` takes about half an hour on two cores, and a terminal shows
how much is left. Interrupted, it continues where it stopped. ``make sweep`` calls it.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from attnbook.training.compared import sweep  # noqa: E402
from attnbook.training.sweep import (  # noqa: E402
    MORE_SEEDS,
    REPORT_SEEDS,
    TUNING_SEEDS,
    save_ablation,
)

TABLE = ROOT / "data" / "ablation.json"
CACHE = ROOT / "_build" / "sweep"


def main() -> int:
    """Run the sweep with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one for each core")
    options = parser.parse_args()
    parts = sweep(options.jobs, CACHE)
    about = {
        "about": "Ablation of the chapter on training: test losses of the group-mean task",
        "command": "make sweep",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "tuning seeds": TUNING_SEEDS,
        "reported seeds": REPORT_SEEDS,
        "more seeds": MORE_SEEDS,
    }
    save_ablation(TABLE, parts, about=about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
