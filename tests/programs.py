"""Programs that tests run from an environment of their own, in a pinned version."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def binaries(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def install(*requirements: str) -> Callable[[Path], str]:
    """Return what makes an environment in a folder, for `once`, and gives that of its programs."""

    def make(folder: Path) -> str:
        environment = folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        python = binaries(environment) / "python"
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True)
        return str(binaries(environment))

    return make
