"""Measure how much memory the process takes that hands out work and writes what comes back.

The workers of this run mark nothing: each answers with a result as large as a real one, so that
many thousands pass in minutes. Everything else is as always: reading submissions, the cluster, the
gradebook, the pages for students, the tables.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from grading.course import Order, grade
from grading.marking.submission import digest
from grading.problem_set import problem_sets
from grading.release import worked
from grading.results import Mark, Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grading.marking.submission import Conditions
    from grading.problem_set import ProblemSet
    from grading.results import Submission

PAYLOAD = 150_000  # characters of each notebook and each page, more than a real one has


def simulated(
    submissions: tuple[Submission, ...],
    problem_sets: Mapping[str, ProblemSet],
    conditions: Conditions,  # noqa: ARG001, what real work takes
) -> list[Result]:
    """Return results of the size of real ones."""
    return [_result(each, problem_sets[each.assignment]) for each in submissions]


def _result(submission: Submission, problem_set: ProblemSet) -> Result:
    """Return one result, with all points."""
    content = os.urandom(PAYLOAD // 2).hex()
    return Result(
        submission.student,
        submission.assignment,
        "graded",
        "",
        tuple(
            Mark(each.name, None if each.by_hand else each.points, each.points)
            for each in problem_set.questions
        ),
        digest=digest(submission),
        notebook=json.dumps({"cells": [], "content": content}),
        feedback=content,
    )


def main(count: int) -> None:
    """Print the peak of this process, in MB, after so many results."""
    problem_set = next(iter(problem_sets().values()))
    notebook = worked(problem_set, "s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i in range(count):
            path = folder / "in" / f"s{i:05d}" / problem_set.name / f"{problem_set.name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(notebook)
        grade(Order(folder / "in", folder / "out", workers=2), work=simulated)
        rows = len((folder / "out" / "grades.csv").read_text(encoding="utf-8").splitlines()) - 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    sys.stdout.write(json.dumps({"submissions": count, "rows": rows, "megabytes": peak}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
