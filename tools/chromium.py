"""Find a Chromium for the tests of the site, or install one.

``python tools/chromium.py`` prints the path of the browser that the tests will use and fails when
there is none and none could be installed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.debian import install_commands, succeeds  # noqa: E402

# The first starts and opens windows in half the time, having none to show.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


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
    own = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    debian = [install_commands(name) for name in ("chromium-headless-shell", "chromium")]
    return [way for way in (*debian, own) if way]


def ensure_chromium() -> str | None:
    """Return the path of a Chromium, after installing one if need be and possible."""
    found = find_chromium()
    for way in ways_to_install():
        if found is not None:
            break
        if all(succeeds(command, "Chromium") for command in way):
            found = find_chromium()
    return found


if __name__ == "__main__":
    path = ensure_chromium()
    sys.exit("no Chromium" if path is None else print(path))
