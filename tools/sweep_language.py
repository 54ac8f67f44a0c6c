"""Train the small language model with every rule, initial size and head width; write the table.

``make sweep-language`` calls this. An interrupted sweep continues where it stopped, and what the
table has is not trained again. With ``--check`` the beginnings of two runs of the table are trained
again and compared, and so is attention with that of attnlib, for one table or several; the exit
status is the number of those that do not agree.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from attnbook.language_model.pytorch import model as language_model  # noqa: E402
from attnbook.language_model.pytorch.model import (  # noqa: E402
    BATCH,
    CONTEXT,
    INITIAL_STD,
    LAYERS,
    WIDTH,
)
from attnbook.language_model.pytorch.sweep import (  # noqa: E402
    REPORT_SEEDS,
    TUNING_SEEDS,
    as_text,
    check,
    identity,
    settings,
    sweep,
)
from book.files import atomic_write  # noqa: E402

TABLE = ROOT / "data" / "language.json"
RUNS = ROOT / "_build" / "sweep-language"


def main() -> int:
    """Run the sweep, or the check, with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="repeat two runs of the table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--output", type=Path, nargs="+", default=[TABLE], help="the table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.check:
        tables = (json.loads(path.read_text(encoding="utf-8")) for path in options.output)
        return sum(check(table, options.device) for table in tables)
    path = options.output[0]
    RUNS.mkdir(parents=True, exist_ok=True)
    table = {
        "about": "A small language model trained with several scaling rules: validation losses",
        "command": "make sweep-language",
        "torch": torch.__version__,
        "device": options.device,
        "model": {"d_model": WIDTH, "layers": LAYERS, "context": CONTEXT, "batch": BATCH},
        "initial std": INITIAL_STD,
        "text": language_model.standard_library().about,
        "without a model": language_model.baselines(),
        "tuning seeds": list(TUNING_SEEDS),
        "reported seeds": list(REPORT_SEEDS),
    }
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    same = all(before.get(name) == value for name, value in table.items())
    known = {identity(entry): entry for entry in before["settings"]} if same else {}
    order = [identity(asdict(setting)) for setting in settings()]
    left = [setting for setting in settings() if identity(asdict(setting)) not in known]
    for entry in sweep(left, options.jobs, RUNS, options.device):
        known[identity(entry)] = entry
        table["settings"] = [known[name] for name in order if name in known]
        atomic_write(path, as_text(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
