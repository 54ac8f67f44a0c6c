"""What others do with the processors costs a submission nothing, and gains it nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grading.sandbox._inside import OutOfTime, lost
from grading.sandbox.sandbox import Collect, Execute, Limits, Run, run

LIMITS = Limits(cell_seconds=1.2, wall_seconds=2.0, cpu_seconds=20)
NEIGHBORS = 3
SOUND = Collect("sound", "def answer(): return 'fine'")
WORKS = """
import time
until = time.process_time() + 0.8
while time.process_time() < until:
    pass
print("done")
"""
POOL = """
import os, time
if os.fork() == 0:
    until = time.process_time() + 0.8
    while time.process_time() < until:
        pass
    os._exit(0)
os.wait()
print("done")
"""
CROWD = """
import os
for _ in range(6):
    if os.fork() == 0:
        break
while True:
    pass
"""
SLEEPS = "import time; time.sleep(60)"


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Keep to one core, as if the machine had no other."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def neighbors(one_core: None) -> Iterator[None]:  # noqa: ARG001
    """Keep that core busy, as the children of somebody else's notebook would."""
    busy = "import os; os.nice(5)\nwhile True: pass"
    started = [
        subprocess.Popen([sys.executable, "-c", busy], start_new_session=True)
        for _ in range(NEIGHBORS)
    ]
    yield
    for each in started:
        each.kill()
        each.wait()


def ran(source: str) -> Run:
    return run([Execute("0", source), SOUND], LIMITS)


def errors(found: Run) -> list[str]:
    return [each["ename"] for each in found.outputs["0"] if each["output_type"] == "error"]


@pytest.mark.usefixtures("neighbors")
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(WORKS, id="itself"),
        pytest.param(POOL, id="its-child", marks=pytest.mark.proof("redteam")),
    ],
)
def test_work_that_waits_for_others_has_its_time(source: str) -> None:
    found = ran(source)
    assert [each.get("text") for each in found.outputs["0"]] == ["done\n"]
    assert found.answers == {"sound": "fine"}
    assert found.waited > LIMITS.wall_seconds


@pytest.mark.usefixtures("neighbors")
def test_sleep_is_no_wait() -> None:
    found = ran(SLEEPS)
    assert errors(found) == [OutOfTime.__name__]
    assert found.answers == {"sound": "fine"}


@pytest.mark.proof("redteam")
def test_a_crowd_of_its_own_gains_no_time() -> None:
    found = ran(CROWD)
    assert found.stopped_at == "0" or errors(found) == [OutOfTime.__name__]
    assert found.cpu_seconds < 3 * LIMITS.cell_seconds < LIMITS.cpu_seconds


@pytest.mark.parametrize(
    ("ran_for", "waited_for", "seconds"),
    [((0,), (3,), 3), ((1,), (2,), 2), ((2, 1), (1, 3), 0), ((1, 0), (0, 2), 2), ((0,), (9,), 3)],
)
def test_what_is_lost(
    ran_for: tuple[int, ...], waited_for: tuple[int, ...], seconds: float
) -> None:
    before = {str(i): (7, 8) for i, _ in enumerate(ran_for)}
    after = {
        str(i): (7 + 10**9 * ran, 8 + 10**9 * waited)
        for i, (ran, waited) in enumerate(zip(ran_for, waited_for, strict=True))
    }
    assert lost(before, after, 3.0) == seconds
