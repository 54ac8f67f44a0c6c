"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file so that an interruption leaves the old one or the new one, never half of it.

    Parameters
    ----------
    path : pathlib.Path
        The file; its folder is made where it is missing.
    text : str
        What to write, in UTF-8; what UTF-8 cannot hold becomes a question mark.
    mode : int
        Who may read and write it. It holds before the first byte is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(text.encode("utf-8", "replace"))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
