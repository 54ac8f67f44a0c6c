"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def atomic_write(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file so that an interruption leaves the old one or the new one, never half of it.

    Two processes may write the same file at a time; one of them comes last.

    The folder is made where it is missing. What UTF-8 cannot hold of a text becomes a question
    mark. The mode holds before the first byte is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if hasattr(os, "fchmod"):  # Windows has none before Python 3.13
                os.fchmod(descriptor, mode)
            file.write(raw)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
