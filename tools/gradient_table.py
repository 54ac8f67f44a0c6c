"""Draw the lengths behind the figure `GradientQuantiles` and write its table.

``python tools/gradient_table.py`` takes about three minutes on one core. The seed of a cell of the
table is its head width and its number of keys, so any of them can be drawn again alone.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from attnlib import (  # noqa: E402
    gradient_statistics,
    sample_key_gradients,
    sample_query_gradients,
)

TABLE = ROOT / "attnbook" / "figures" / "gradient_quantiles.json"
WIDTHS = tuple(2**power for power in range(11))
KEYS = (2, 4, 16, 64, 256, 1024)
SAMPLERS = {"query": sample_query_gradients, "key": sample_key_gradients}
SCALES = {"divided": None, "not divided": 1.0}
QUANTILES = (0.1, 0.5, 0.9)
BATCHES = 32
DRAWN = 1e-11
"""Where the picture ends; the error of the bands' ends is the largest of those above it."""


def rows(n_keys: int) -> int:
    """Return how many rows are drawn: many, as long as they fit into memory with all their keys."""
    return min(2**18, 2**24 // n_keys)


def summary(receiver: str, arm: str, n_keys: int, d_k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the three quantiles and the mean, and two standard errors of their logarithms."""
    rng = np.random.default_rng([d_k, n_keys])
    lengths = SAMPLERS[receiver](d_k, n_keys, rows(n_keys), scale=SCALES[arm], rng=rng)
    whole = gradient_statistics(lengths.ravel(), QUANTILES)
    # the keys of one row are dependent, and stay in one batch
    parts = gradient_statistics(lengths.reshape(BATCHES, -1), QUANTILES)
    each = np.log(np.vstack([parts.quantiles, parts.mean]))
    errors = 2 * each.std(axis=1, ddof=1) / math.sqrt(BATCHES)
    return np.append(whole.quantiles, whole.mean), errors


def cell(receiver: str, arm: str, n_keys: int, d_k: int) -> list[float]:
    """Return a cell: 10 %, 50 % and 90 % quantile, mean, and ± of median and mean in percent."""
    numbers, errors = summary(receiver, arm, n_keys, d_k)
    return rounded(numbers, errors)


def rounded(numbers: np.ndarray, errors: np.ndarray) -> list[float]:
    """Return the numbers with two or three digits, and what the errors add to 100 % at most."""
    digits = (2, 3, 2, 3)
    short = [float(f"{value:.{count - 1}e}") for value, count in zip(numbers, digits, strict=True)]
    return short + [math.ceil(100 * math.expm1(error)) for error in errors[[1, 3]]]


def table() -> dict[str, object]:
    """Return the table: for each receiver, arm and number of keys a cell at each width."""
    worst, content = 0.0, {}
    for receiver in SAMPLERS:
        content[receiver] = {}
        for arm in SCALES:
            content[receiver][arm] = []
            for n_keys in KEYS:
                found = [summary(receiver, arm, n_keys, d_k) for d_k in WIDTHS]
                content[receiver][arm].append([rounded(*each) for each in found])
                ends = [
                    errors[place]
                    for numbers, errors in found
                    for place in (0, 2)
                    if numbers[place] > DRAWN
                ]
                worst = max(worst, *ends)
                sys.stderr.write(f"{receiver}, {arm}, {n_keys} keys\n")
    return {
        "about": "Lengths of first gradients by receiver, arm, number of keys and head width: "
        "10 %, 50 % and 90 % quantile, mean, two standard errors of median and mean in percent",
        "command": "python tools/gradient_table.py",
        "keys": KEYS,
        "widths": WIDTHS,
        "ends within percent": math.ceil(100 * math.expm1(worst)),
        **content,
    }


def main() -> int:
    """Write the table, a line for each cell."""
    text = json.dumps(table(), indent=1)
    # a line for all widths of one number of keys
    two_deep = r"\[(?:[^][]|\[[^][]*\])*\]"
    lines = re.sub(two_deep, lambda found: json.dumps(json.loads(found[0])), text)
    TABLE.write_text(lines + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
