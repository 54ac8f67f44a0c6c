"""What git knows of the repository."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files(root: Path = ROOT, *, new: bool = False) -> list[str]:
    """List the files there that git knows, sorted; if `new`, those too that it does not ignore."""
    more = ["--cached", "--others", "--exclude-standard"] if new else []
    listing = subprocess.run(
        ["git", "ls-files", "-z", *more], cwd=root, capture_output=True, text=True, check=True
    )
    return sorted(name for name in listing.stdout.split("\0") if name and (root / name).is_file())


def copy(names: Iterable[str], target: Path, root: Path = ROOT) -> None:
    """Copy files of the repository into a folder."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name)
