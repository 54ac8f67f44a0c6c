"""Record the training runs that the figure TrainingPlayer shows.

``python tools/record_training.py`` trains the two arms of the chapter on training at the rates that
the committed ablation found for them, and writes what a reader can step through. It takes seconds.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from attnbook.training.recording import SEED, record, tuned_settings  # noqa: E402
from attnbook.training.training_player import RECORDING, STEPS  # noqa: E402


def main() -> int:
    """Record everything."""
    with threadpool_limits(1, user_api="blas"):
        runs = record(tuned_settings())
    about = {
        "about": "Training runs of the group-mean task, for the figure TrainingPlayer",
        "command": "python tools/record_training.py",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "seed": SEED,
        "steps": STEPS,
    }
    lines = [f" {json.dumps(name)}: {json.dumps(value)}," for name, value in about.items()]
    entries = ",\n".join(
        f"  {json.dumps(run, ensure_ascii=False, separators=(',', ':'))}" for run in runs
    )
    text = "\n".join(["{", *lines, ' "runs": [', entries, " ]", "}", ""])
    RECORDING.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
