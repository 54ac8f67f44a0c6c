"""Begin a problem set from an exercise: ``make question FROM=spread NAME=homework_1``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from grading.questions import QuestionError, begin  # noqa: E402


def main(arguments: list[str]) -> int:
    """Begin a problem set, and return the exit status."""
    try:
        path = begin(*arguments)
    except QuestionError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"wrote {path.relative_to(ROOT)}: read it, change it, and run `make problem-sets`")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
