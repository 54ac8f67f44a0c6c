"""Files of a course: for their owner alone, whatever the folder that holds them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from book.files import atomic_write

FOLDERS = ("autograded", "feedback", "source")
OWNER = 0o600


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file for its owner alone, whole or not at all, and so are folders that are new."""
    make_private(path.parent)
    atomic_write(path, content, mode=OWNER)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def close_course(out: Path) -> None:
    """Take from others what an earlier version, or somebody else, left open in a course folder.

    The folder itself stays as it was, if it was there before.
    """
    for name in FOLDERS:
        with suppress(FileNotFoundError, PermissionError):
            (out / name).chmod(0o700)
    for path in (*out.glob("*.csv"), *out.glob("*.html"), *out.glob("*.txt"), *out.glob("*.zip")):
        with suppress(FileNotFoundError, PermissionError):
            if not path.is_symlink():
                path.chmod(OWNER)


def make_file(path: Path) -> None:
    """See to it that a file which another program fills is for its owner alone.

    Whether there can be such a file, that program says.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER))
    with suppress(OSError):
        path.chmod(OWNER)
