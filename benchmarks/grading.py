"""Measure what marking costs, beside plain nbgrader, and what happens when workers die.

``make bench-grading`` calls this in the instructor's environment. Processor time is that of a
program and of all that it started; what ran in sandboxes, which the system does not count with it,
is added as the grader recorded it. Plain nbgrader gets the same submissions and the same checks, in
its own process without any sandbox, and writes neither feedback nor tables.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil

from benchmarks import files
from benchmarks.facts import hardware, today
from benchmarks.files import ROOT
from benchmarks.grading_ceiling import ceiling
from benchmarks.grading_report import COMMITTED, tables
from grading.gradebook.book import Book
from grading.problem_set import SOURCE, ProblemSet, problem_sets
from grading.release import worked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FULL = {"bulk": 20, "rounds": 3, "speed": 120, "ceiling": 40, "many": 1000, "payloads": 10_000}
QUICK = {"bulk": 5, "rounds": 1, "speed": 10, "ceiling": 4, "many": 40, "payloads": 500}
# nbgrader calls other programs of its environment
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
HOSTILE = 20  # one submission in so many
NBGRADER = """
c = get_config()
c.CourseDirectory.course_id = "plain"
c.ClearSolutions.code_stub = {"python": "# your code here"}
c.Execute.timeout = 120
"""
ATTACKS = {
    "ends the program": "import os\nos._exit(0)",
    "never ends": "while True:\n    pass",
    "takes memory": "kept = []\nwhile True:\n    kept.append(bytearray(10**8))",
    "forks": "import os\nwhile True:\n    os.fork()",
    "prints without end": "while True:\n    print('x' * 10_000)",
}


class Taken(NamedTuple):
    """What a program took."""

    seconds: float
    cpu_seconds: float


@contextlib.contextmanager
def measured() -> Iterator[list[Taken]]:
    """Measure the time on the clock, and the processor time of the programs that are run."""
    found: list[Taken] = []
    before, started = _taken(), time.perf_counter()
    yield found
    found.append(Taken(time.perf_counter() - started, _taken() - before))


def _taken() -> float:
    """Return the processor time of all programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def hand_in(folder: Path, problem_set: ProblemSet, count: int, hostile: int = 0) -> dict[str, str]:
    """Write submissions, and return the attack of each student who made one."""
    attacks, names = {}, list(ATTACKS)
    for i in range(count):
        student, answers = f"s{i:05d}", {}
        if hostile and i % hostile == hostile - 1:
            attack = names[len(attacks) % len(names)]
            attacks[student] = attack
            answers = {problem_set.questions[0].name: ATTACKS[attack]}
        path = folder / student / problem_set.name / f"{problem_set.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(worked(problem_set, student, answers))
    return attacks


def run(command: list[str], folder: Path) -> str:
    """Run a command to its end and return what it printed, which is shown if it fails."""
    done = subprocess.run(  # noqa: S603, commands of this file
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def marked(submissions: Path, out: Path, workers: int) -> list[str]:
    """Return the command that marks submissions."""
    return [
        *(sys.executable, "-m", "grading", "grade", "--submissions", str(submissions)),
        *("--out", str(out), "--workers", str(workers)),
    ]


def plain(problem_set: ProblemSet, folder: Path) -> Taken:
    """Mark with plain nbgrader."""
    course = folder / "plain"
    shutil.copytree(SOURCE / problem_set.name, course / "source" / problem_set.name)
    (course / "nbgrader_config.py").write_text(NBGRADER, encoding="utf-8")
    nbgrader = [sys.executable, "-m", "nbgrader"]
    run([*nbgrader, "generate_assignment", problem_set.name], course)
    shutil.copytree(folder / "in", course / "submitted")
    with measured() as found:
        run([*nbgrader, "autograde", problem_set.name], course)
    shutil.rmtree(course)
    return found[0]


def ours(folder: Path, workers: int = 1) -> Taken:
    """Mark with the grader of this project: sandbox, feedback, tables and all."""
    out = folder / "out"
    with measured() as found:
        run(marked(folder / "in", out, workers), ROOT)
    with Book(f"sqlite:///{out / 'gradebook.db'}") as book:
        inside = sum(each.cpu_seconds for name in problem_sets() for each in book.results(name))
    shutil.rmtree(out)
    return Taken(found[0].seconds, found[0].cpu_seconds + inside)


def turns(
    of: str, problem_set: ProblemSet, count: int, rounds: int, *ways: Callable[[Path], Taken]
) -> tuple[list[float], dict[str, Any]]:
    """Mark the same submissions in two ways that take turns; return medians and their ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "in", problem_set, count)
        pairs = [[getattr(way(folder), of) for way in ways] for _ in range(rounds)]
    ratio = statistics.median(one / other for one, other in pairs)
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    return medians, {"ratio": ratio, "submissions": count, "rounds": rounds}


def bulk(problem_set: ProblemSet, count: int, rounds: int) -> dict[str, Any]:
    """Compare processor time per submission, the two taking turns."""
    ways = ours, partial(plain, problem_set)
    (mine, theirs), found = turns("cpu_seconds", problem_set, count, rounds, *ways)
    return {"ours": mine / count, "plain": theirs / count, **found}


def speed(problem_set: ProblemSet, count: int, rounds: int) -> dict[str, Any]:
    """Compare two workers with one, the two taking turns."""
    ways = ours, partial(ours, workers=2)
    (one, two), found = turns("seconds", problem_set, count, rounds, *ways)
    return {"one": one, "two": two, **found}


def many(problem_set: ProblemSet, count: int) -> dict[str, Any]:
    """Mark many, one in twenty of them hostile, and kill a worker twice on the way."""
    points = sum(each.points for each in problem_set.questions if not each.by_hand)
    first = problem_set.questions[0].points
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        attacks = hand_in(folder / "in", problem_set, count, HOSTILE)
        killer = threading.Thread(target=kill_workers, args=(folder / "out", count), daemon=True)
        with measured() as found:
            killer.start()
            run(marked(folder / "in", folder / "out", 2), ROOT)
        with (folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    right = sum(
        row["status"] == "graded"
        and float(row["total"]) == points - (first if row["student"] in attacks else 0)
        for row in rows
    )
    students = {row["student"] for row in rows}
    return {
        "submissions": count,
        "hostile": len(attacks),
        "right": right,
        "lost": count - len(students),
        "doubled": len(rows) - len(students),
        "killed": KILLED,
        "seconds": found[0].seconds,
    }


KILLED: list[float] = []


def kill_workers(out: Path, count: int) -> None:
    """Kill a worker after a quarter and after half of the submissions."""
    KILLED.clear()
    for share in (0.25, 0.5):
        while len(list(out.glob("autograded/*"))) < share * count:
            time.sleep(0.5)
        if found := [each for run in psutil.Process().children() for each in workers(run)]:
            os.kill(found[0].pid, signal.SIGKILL)
            KILLED.append(share)


def workers(process: psutil.Process) -> list[psutil.Process]:
    """Return the workers of a process that grades: its forks, which are called as it is."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [each for each in process.children() if each.cmdline() == process.cmdline()]
    return []


def memory(count: int) -> dict[str, Any]:
    """Return the peak memory of the process that hands out work and writes, for many results."""
    command = [sys.executable, "-m", "benchmarks.grading_memory", str(count)]
    return json.loads(run(command, ROOT).splitlines()[-1])


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer submissions")
    parser.add_argument("--update", action="store_true", help="replace the committed results")
    given = parser.parse_args(arguments)
    sizes = QUICK if given.quick else FULL
    name, problem_set = next(iter(problem_sets().items()))
    results = {
        "bulk": bulk(problem_set, sizes["bulk"], sizes["rounds"]),
        "speed": speed(problem_set, sizes["speed"], sizes["rounds"]),
        "ceiling": ceiling(sizes["ceiling"], sizes["rounds"]),
        "many": many(problem_set, sizes["many"]),
        "memory": memory(sizes["payloads"]),
        "settings": {"quick": given.quick, "problem_set": name},
        "machine": {
            **hardware(),
            "python": platform.python_version(),
            "nbgrader": version("nbgrader"),
            "date": today(),
        },
    }
    files.write(results, files.BUILT / "grading.json", *([COMMITTED] if given.update else []))
    sys.stdout.write(tables(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
