"""What limits a submission holds for whoever grades, the superuser and ordinary users."""

from __future__ import annotations

import json
import textwrap
from functools import cache
from typing import Any

import pytest

from grading.sandbox.sandbox import MOST_SOCKETS, Execute, Limits, run
from tests.grading.ordinary import ROOT, run_as_ordinary, user

AS_BOTH = pytest.mark.parametrize("ordinary", [False, True], ids=["as-i-am", "ordinary"])
PLACES = """
import json, os
found = {}
for line in open("/proc/self/mountinfo"):
    fields = line.split()
    if os.path.isdir(fields[4]) and os.access(fields[4], os.W_OK):
        found[fields[4]] = [fields[-3], *fields[-1].split(",")]
reached = [each for each, _, _ in os.walk("/") if os.access(each, os.W_OK)]
print(json.dumps([found, [each for each in reached if not each.startswith("/proc/")]]))
"""
# backwards, as paths of the machine are taken out of what a cell shows
MOUNTS = """
import json
mounts = [line.split()[3:5] for line in open("/proc/self/mountinfo")]
print(json.dumps([[each[::-1] for each in pair] for pair in mounts]))
"""
MANY = """
import os, socket, time
kept = []
for _ in range(3):
    if os.fork() == 0:
        kept += [socket.socketpair() for _ in range(50)]
        time.sleep(10)
        os._exit(0)
time.sleep(10)
"""
LARGE = """
import socket
first, second = socket.socketpair()
for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
    try:
        first.setsockopt(socket.SOL_SOCKET, option, 1 << 20)
    except PermissionError:
        print("refused")
first.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
first.send(b"x")
print(second.recv(1), len(asyncio.run(asyncio.sleep(0, "slept"))))
"""
HIDES = """
import ctypes, os
print(ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))
for i in range(10 ** 7):
    os.mknod(f"/tmp/{i}")
"""


def ended(source: str) -> tuple[str, str]:
    """Run a cell; return why it ended, and what it showed."""
    found = run([Execute("0", textwrap.dedent(source))], Limits(cell_seconds=10))
    return found.ended, "".join(each.get("text", "") for each in found.outputs.get("0", ()))


def here(*sources: str) -> list[list[str]]:
    """Run some cells, and say as whom."""
    return [[user()], *(list(ended(source)) for source in sources)]


@cache
def ran(*, ordinary: bool) -> dict[str, Any]:
    """Run all of these cells as one user."""
    names = ("places", "mounts", "many", "large", "hides")
    sources = (PLACES, MOUNTS, MANY, "import asyncio\n" + LARGE, HIDES)
    if ordinary:
        code = f"import json\nfrom {__name__} import here\nprint(json.dumps(here(*{sources!r})))"
        told = json.loads(run_as_ordinary("-c", code).splitlines()[-1])
    else:
        told = here(*sources)
    return {"user": told[0][0], **dict(zip(names, told[1:], strict=True))}


@AS_BOTH
def test_every_writable_place_has_a_size(*, ordinary: bool) -> None:
    found = ran(ordinary=ordinary)
    print(f"as {found['user']}")
    assert not ordinary or not found["user"].endswith("(0)")
    mounted, writable = json.loads(found["places"][1])
    # of terminals there are as many as open descriptors, and nothing else can be made there
    mounted = {place: options for place, options in mounted.items() if options[0] != "devpts"}
    assert mounted.keys() == {"/tmp", "/dev/shm"}  # noqa: S108
    for options in mounted.values():
        (size,) = [each for each in options if each.startswith("size=")]
        assert int(size.removeprefix("size=").removesuffix("k")) <= 128_000
    places = ("/tmp", "/dev/shm", "/dev/pts")  # noqa: S108
    assert all(each.startswith(places) for each in writable)
    assert found["places"][0] == ""


@AS_BOTH
def test_mounts_name_no_path_but_of_python_and_its_packages(*, ordinary: bool) -> None:
    mounts = [
        [each[::-1] for each in pair] for pair in json.loads(ran(ordinary=ordinary)["mounts"][1])
    ]
    made = ("/dev/", "/proc/")
    told = {
        place: root
        for root, place in mounts
        if root not in ("/", "/newroot") and not place.startswith(made)
    }
    packages = [root for place, root in told.items() if place.startswith("/packages/")]
    assert packages
    assert all(root.endswith("-packages") for root in packages)
    # what is bound where it is on this machine, which is of the system or Python
    rest = {place: root for place, root in told.items() if root not in packages}
    assert "/usr/lib" in rest
    assert all(root.endswith(place) for place, root in rest.items())
    assert not any(place.startswith(str(ROOT)) for place in rest)


@AS_BOTH
def test_sockets_are_counted_and_stay_small(*, ordinary: bool) -> None:
    found = ran(ordinary=ordinary)
    assert found["many"][0] == f"the program opened more than {MOST_SOCKETS} sockets"
    assert found["large"] == ["", "refused\nrefused\nb'x' 5\n"]


@AS_BOTH
def test_files_are_counted_of_whoever_hides(*, ordinary: bool) -> None:
    assert ran(ordinary=ordinary)["hides"][0] == "the program made more than 20000 files"


@pytest.mark.proof("redteam")
def test_the_red_team_meets_an_ordinary_user_too() -> None:
    tests = [f"tests/grading/test_{name}.py" for name in ("sandbox", "redteam", "attacks")]
    # formgrader's pages show the same whoever marks, and need packages for this very Python
    elsewhere = "tests/grading/test_redteam.py::test_formgrader_runs_nothing_of_a_students"
    for groups in ("", "redteam"):
        said = run_as_ordinary(
            *("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", f"--prove={groups}"),
            f"--deselect={elsewhere}",
            *(tests if not groups else tests[1:]),
        )
        print(run_as_ordinary("-c", f"from {user.__module__} import user; print(user())"), said)
        assert " passed" in said
        assert "skipped" not in said
