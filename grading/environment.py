"""With what notebooks are marked: the Python of the grader and the packages of its pins."""

from __future__ import annotations

import platform
import re
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from grading.sandbox import _inside as inside
from grading.sandbox.sandbox import Limits

PINS = Path(__file__).resolve().parents[1] / "requirements-grading.txt"
NAMED = ("NumPy", "Matplotlib", "IPython")
RULES = """\
- The whole notebook should run in a few seconds. A cell that takes longer than {{seconds}} \
seconds is stopped, and so is a notebook that takes longer than {{all_seconds}} seconds, \
{{cpu_seconds}} seconds of processor time or {{memory}} of memory in all.
- Your notebook is marked with {{environment}}. Hand it in as it ran, with its outputs: what ran \
with you and cannot run with these is then looked at by a person.
- Of what a cell shows, {{text}} characters and {{pictures}} of pictures are kept, and of all \
cells together {{all_text}} characters and {{all_pictures}}. What is beyond is \
left out and costs nothing.
"""
"""What each problem set tells students of it."""
PLACE = re.compile(r"\{\{ *(\w+) *\}\}")


@cache
def packages(pins: Path = PINS, python: str = "") -> dict[str, str]:
    """Return the versions that are pinned for a Python, such as 3.13; by default for this one.

    Where there is no list of pins, as in a copy of the grader alone, it is what is installed.
    """
    if not pins.exists():
        return {name.casefold(): metadata.version(name) for name in NAMED}
    wanted = python or f"{sys.version_info.major}.{sys.version_info.minor}"
    about = {"python_version": wanted, "python_full_version": f"{wanted}.0"}
    if not python:
        about["python_full_version"] = platform.python_version()
    found = {}
    for line in pins.read_text(encoding="utf-8").splitlines():
        if not re.match(r"\w", line):
            continue
        pin = Requirement(line.rstrip("\\ "))
        if pin.marker is None or pin.marker.evaluate(about):
            found[pin.name] = next(iter(pin.specifier)).version
    return found


def in_words() -> dict[str, str]:
    """Return what the rules of a problem set can name in double braces, and what it is here.

    Examples
    --------
    >>> in_words()["seconds"], in_words()["environment"].startswith("Python 3.")
    ('20', True)
    """
    versions, limits = packages(), Limits()
    names = [f"{name} {versions[name.casefold()]}" for name in NAMED]
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return {
        "environment": f"{python}, {', '.join(names[:-1])} and {names[-1]}",
        "seconds": f"{limits.cell_seconds:g}",
        "all_seconds": f"{limits.wall_seconds:g}",
        "cpu_seconds": f"{limits.cpu_seconds:g}",
        "memory": f"{limits.memory_bytes / 1e9:g} GB",
        "text": f"{inside.TEXT:,}",
        "all_text": f"{inside.ALL_TEXT:,}",
        "pictures": f"{inside.IMAGES / 1e6:g} MB",
        "all_pictures": f"{inside.ALL_IMAGES / 1e6:g} MB",
    }


def filled_in(text: str) -> str:
    """Return a text of a problem set with what it names in double braces.

    Raises ValueError for a name that there is not.
    """
    if "{{" not in text:
        return text
    known = in_words()

    def word(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise ValueError(f"{found[0]} is none of {', '.join(known)}")
        return known[found[1]]

    return PLACE.sub(word, text)
