"""Runs tests as an ordinary user too: what holds for the superuser alone would stay unseen."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = "nobody"
MINOR = f"python{sys.version_info.major}.{sys.version_info.minor}"


def user() -> str:
    """Return the name and the number of the user who runs this."""
    return f"{pwd.getpwuid(os.geteuid()).pw_name} ({os.geteuid()})"


@cache
def _ordinary_python() -> tuple[str, ...]:
    """Return how a Python starts with these packages, as a user who owns nothing.

    That is this one for whoever is an ordinary user already. The superuser's may lie where nobody
    else can read; then it is the system's of the same version.
    """
    if os.geteuid() != 0:
        return ("env", sys.executable)
    packages = [each for each in sys.path if each.endswith("-packages")]
    told = (
        f"PYTHONPATH={os.pathsep.join([str(ROOT), *packages])}",
        f"JUPYTER_PATH={sys.prefix}/share/jupyter",
        "PYTHONDONTWRITEBYTECODE=1",
        # the clone is another user's
        *("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", f"GIT_CONFIG_VALUE_0={ROOT}"),
        f"PATH={os.environ['PATH']}",
    )
    for python in (os.path.realpath(sys.executable), f"/usr/bin/{MINOR}"):
        command = ("runuser", "-u", ORDINARY, "--", "env", "-i", *told, python)
        wanted = [*command, "-c", "import IPython, nbgrader, numpy, pytest"]
        if subprocess.run(wanted, capture_output=True, check=False, cwd="/").returncode == 0:
            return command
    raise RuntimeError(f"no {MINOR} that {ORDINARY} can run; install it for all, as by apt")


def run_as_ordinary(*arguments: str) -> str:
    """Run Python with some arguments as an ordinary user; return all that it says."""
    *start, python = _ordinary_python()
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, ORDINARY)
        found = subprocess.run(
            [*start, f"TMPDIR={folder}", f"HOME={folder}", python, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=ROOT,
        )
    if found.returncode:
        raise AssertionError(found.stdout[-6000:])
    return found.stdout
