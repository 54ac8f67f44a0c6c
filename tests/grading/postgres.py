"""A PostgreSQL server of the tests' own, which goes away with them."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

PACKAGES = Path("/usr/lib/postgresql")
NEEDED = ("initdb", "pg_ctl")
NUMBER = itertools.count()


def programs() -> Path:
    """Return the folder of the newest PostgreSQL's programs."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else []
    folders += sorted(PACKAGES.glob("*/bin"), key=lambda path: -float(path.parent.name))
    for folder in folders:
        if all((folder / name).is_file() for name in NEEDED):
            return folder
    pytest.fail(
        "no PostgreSQL was found, and these tests need one: install the Debian package postgresql",
        pytrace=False,
    )


def account() -> pwd.struct_passwd | None:
    """Return who runs the server where the tests run as root, which PostgreSQL refuses to."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


@contextmanager
def server() -> Iterator[str]:
    """Run a server that listens on a socket in a folder of its own; give the folder's name."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    runs_as = account()
    identity = {}
    if runs_as is not None:
        os.chown(folder, runs_as.pw_uid, runs_as.pw_gid)
        identity = {"user": runs_as.pw_uid, "group": runs_as.pw_gid, "extra_groups": []}

    def run(name: str, *arguments: str) -> None:
        command = [str(programs() / name), "-D", str(folder / "data"), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **identity)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"

    try:
        run("initdb", "-A", "trust", "-U", "grader", "-E", "UTF8", "--no-locale", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield str(folder)
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def empty_database(folder: str) -> str:
    """Make an empty database on a server; return its address as an instructor would write it."""
    name = f"grades_{next(NUMBER)}"
    with psycopg.connect(host=folder, user="grader", dbname="postgres", autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
    return f"postgresql://grader@/{name}?host={folder}"
