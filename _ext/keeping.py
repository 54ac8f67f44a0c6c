"""Keep what took work to make, for later builds."""

from __future__ import annotations

import os
from pathlib import Path


def keep(path: Path, content: bytes) -> None:
    """Write a file that is complete or not there at all.

    So it is also for a build that was stopped, and for two that make the same file at a time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)
