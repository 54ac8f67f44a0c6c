"""Install what the tests need from Debian's or Ubuntu's packages, where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The sandbox of the grader, and a server to test its other database with.
NEEDED = {"bubblewrap": "bwrap", "postgresql": "initdb"}
# Two more browsers, which are large: only the tests that open pages in them ask for them.
ENGINES = {"firefox-esr": "firefox-esr", "webkit2gtk-driver": "WebKitWebDriver", "xvfb": "Xvfb"}
# What the long tests run the checkers with that npm has.
CHECKERS = {"default-jre-headless": "java", "npm": "npm"}
SERVERS = Path("/usr/lib/postgresql")


def find_program(name: str) -> str | None:
    """Return the path of a program, also of those that PostgreSQL keeps out of the way."""
    kept = sorted(SERVERS.glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(kept[0]) if kept else None)


def install_commands(*packages: str) -> list[list[str]]:
    """List the commands that install packages; none where the system has no such way."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not shutil.which("apt-get") or not (is_root or shutil.which("sudo")):
        return []
    # -n: a password prompt would stop the tests for good
    prefix = [] if is_root else ["sudo", "-n"]
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
    return [[*apt, "update"], [*apt, "install", *packages]]


def succeeds(command: list[str], what: str) -> bool:
    """Run a command, say how it went, and return whether it succeeded."""
    sys.stderr.write(f"{what} is missing: {' '.join(command)}\n")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.stderr.write((done.stdout + done.stderr)[-1000:] + "\n")
    return done.returncode == 0


def ensure_programs(needed: dict[str, str] = NEEDED) -> list[str]:
    """Install what is missing, and return the packages that are still missing."""
    missing = [package for package, program in needed.items() if not find_program(program)]
    if missing:
        for command in install_commands(*missing):
            if not succeeds(command, " and ".join(missing)):
                break
    return [package for package in missing if not find_program(needed[package])]
