"""Find a Chromium for the tests of the site, or install one.

``python tools/chromium.py`` prints the path of the browser that the tests will use and fails when
there is none and none could be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, the system's or Playwright's own."""
    from playwright.sync_api import sync_playwright

    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def ways_to_install() -> list[list[list[str]]]:
    """List what may bring a Chromium here: each way is a list of commands."""
    ways = []
    if shutil.which("apt-get"):
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        # -n: a password prompt would stop the tests for good
        prefix = [] if is_root else ["sudo", "-n"]
        if is_root or shutil.which("sudo"):
            apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
            ways.append([[*apt, "update"], [*apt, "install", "chromium"]])
    ways.append([[sys.executable, "-m", "playwright", "install", "chromium"]])
    return ways


def succeeds(command: list[str]) -> bool:
    """Run a command, say how it went, and return whether it succeeded."""
    sys.stderr.write(f"Chromium is missing: {' '.join(command)}\n")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.stderr.write((done.stdout + done.stderr)[-1000:] + "\n")
    return done.returncode == 0


def ensure_chromium() -> str | None:
    """Return the path of a Chromium, after installing one if need be and possible."""
    found = find_chromium()
    for way in ways_to_install():
        if found is not None:
            break
        if all(succeeds(command) for command in way):
            found = find_chromium()
    return found


if __name__ == "__main__":
    path = ensure_chromium()
    sys.exit("no Chromium" if path is None else print(path))
