"""Measure how fast this machine marks with plain processes, before any cluster or gradebook.

Each process marks copies of one submission in sandboxes, one after the other, and nothing else. So
what two of them gain over one has no cluster and no start in it, and shows what the processes take
from each other by what they share, such as caches and memory. At an even speed it is at most two: a
measured ratio above that says how far the machine's speed wandered.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grading.marking.submission import Conditions, mark
from grading.problem_set import problem_sets
from grading.release import worked
from grading.results import Student, Submission

if TYPE_CHECKING:
    from grading.problem_set import ProblemSet

ROOT = Path(__file__).resolve().parent.parent
SEED = 0


def seconds_each(processes: int, count: int) -> float:
    """Return the seconds on the clock for each of `count` submissions that all processes share."""
    command = [sys.executable, "-m", "benchmarks.grading_ceiling", str(count // processes)]
    started = [
        subprocess.Popen(  # noqa: S603, this file's own
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(processes)
    ]
    for process in started:
        process.stdout.readline()  # it is warm
    before = time.perf_counter()
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.stdout.readline()  # it is done
    taken = time.perf_counter() - before
    if max(process.wait() for process in started) != 0:
        raise SystemExit("a process that marks has failed")
    return taken / (count // processes * processes)


def ceiling(count: int, rounds: int) -> dict[str, Any]:
    """Compare two plain processes with one, marking `count` each time, the two taking turns."""
    pairs = [(seconds_each(1, count), seconds_each(2, count)) for _ in range(rounds)]
    ratios = [one / two for one, two in pairs]
    return {
        "submissions": count,
        "rounds": rounds,
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
    }


def _mark(problem_set: ProblemSet, student: str) -> None:
    """Mark one submission that is right."""
    notebook = worked(problem_set, student)
    submission = Submission(Student(student, "", student), problem_set.name, notebook)
    result = mark(submission, problem_set, Conditions({problem_set.name: SEED}))
    if result.status != "graded":
        raise SystemExit(result.message)


def main(count: int) -> None:
    """Mark once, say so, wait for a line, mark `count` submissions, and say so."""
    problem_set = next(iter(problem_sets().values()))
    _mark(problem_set, "s00000")
    sys.stdout.write("warm\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for i in range(count):
        _mark(problem_set, f"s{i:05d}")
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
