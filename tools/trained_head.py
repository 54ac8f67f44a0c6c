"""Train the two models whose heads a reader can look into, and write their rounded weights.

``make trained-head`` calls this. With ``--check`` the beginning of the training is repeated and
compared, with one file or several; the exit status is the number of those that do not agree.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from attnbook.language_model.model import FILE  # noqa: E402
from attnbook.language_model.pytorch.weights import SETTINGS, check, tune_rate, write  # noqa: E402


def main() -> int:
    """Train and write, or check, with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="repeat the beginning of the training")
    parser.add_argument(
        "--output", type=Path, nargs="+", default=[FILE], help="the file of weights"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.check:
        return sum(map(check, options.output))
    write(options.output[0], {name: tune_rate(setting) for name, setting in SETTINGS.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
