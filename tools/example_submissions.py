"""Write the worked example of grading: the roster and what its invented students hand in.

``python tools/example_submissions.py`` writes ``grading/example``.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grading.worked_example import EXAMPLE, files  # noqa: E402


def main(folder: Path = EXAMPLE) -> None:
    """Write the example."""
    for name, content in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
