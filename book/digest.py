"""Which state of the code and of the pinned versions the outputs of notebooks belong to."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

READ = (
    "attnbook/**/*.py",
    "attnlib/**/*.py",
    "benchmarks/*report.py",
    "benchmarks/*.json",
    "data/*.json",
    "requirements.txt",
)
"""What notebooks compute with and read."""


def computation_digest(root: Path) -> str:
    """Return sixteen digits of all in a folder that outputs depend on beside the notebooks."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted(path for pattern in READ for path in root.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
