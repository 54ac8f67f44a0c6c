"""The commands: ``python -m grading problem-sets``, ``grade``, ``formgrader``, and others.

The Makefile's targets of these names call them; what is not given as an option is taken from the
environment, as `make` hands it over. A command imports what it needs when it runs: an interruption
meets `main`, however early it comes.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RELEASE = Path(__file__).resolve().parent / "release"
CLASS = RELEASE.parents[1] / "_build" / "class"
UNSAFE = """
************************************************************************************************
*  WITHOUT THE SANDBOX.  What strangers wrote now runs with YOUR rights: it can read and delete *
*  your files, read the other submissions and the hidden checks, use the network, and change    *
*  marks.  Do this only with notebooks that you wrote yourself.                                 *
************************************************************************************************
"""


def parser() -> argparse.ArgumentParser:
    """Return what the command line understands."""
    top = argparse.ArgumentParser(prog="python -m grading", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True)
    give = commands.add_parser("problem-sets", help="write the problem sets as students get them")
    give.add_argument("--to", type=Path, default=RELEASE)
    invent = commands.add_parser("example", help="write what six invented students hand in")
    invent.add_argument("--to", type=Path, default=CLASS)

    mark = commands.add_parser("grade", help="mark what students handed in")
    mark.add_argument("--submissions", default=_given("SUBMISSIONS"), help="a folder or a zip")
    mark.add_argument("--assignment", default=_given("ASSIGNMENT"), help="if the names do not tell")
    mark.add_argument("--workers", default=_given("WORKERS"))
    mark.add_argument("--scheduler", default=_given("SCHEDULER"), help="tcp://host:port, of Dask")
    mark.add_argument(
        "--accept",
        default=_given("ACCEPT") or "",
        help="students, with spaces between, whose identity somebody has looked at",
    )
    mark.add_argument(
        "--remark",
        default=_given("REMARK") or "",
        help="questions to mark anew where nothing has changed, with spaces between, or all",
    )
    mark.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and do nothing"
    )
    mark.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run students' code with your own rights; never for what strangers wrote",
    )
    pairs = commands.add_parser("similarity", help="find pairs of submissions that are alike")
    pairs.add_argument("--out", default=_given("OUT"), help="the folder of the results")
    pairs.add_argument("--assignment", default=_given("ASSIGNMENT"), help="only this problem set")
    judge = commands.add_parser("items", help="say which questions are hard, or have a wrong key")
    judge.add_argument("--out", default=_given("OUT"), help="the folder of the results")
    judge.add_argument("--assignment", default=_given("ASSIGNMENT"), help="only this problem set")
    tell = commands.add_parser("export", help="write the marks for Canvas and Moodle")
    send = commands.add_parser("feedback-zips", help="write the pages for Canvas and Moodle")
    back = commands.add_parser("student", help="remove a student, or merge two; says it first")
    back.add_argument("--student", default=_given("STUDENT"), help="as in grades.csv")
    back.add_argument("--into", default=_given("INTO") or "", help="who it really is")
    back.add_argument("--yes", action="store_true", help="do it")
    by_hand = commands.add_parser("formgrader", help="mark by hand; the rest is for JupyterLab")
    for command in (tell, send):
        command.add_argument("--assignment", default=_given("ASSIGNMENT"), help="only this one")
    for command in (mark, tell, send, by_hand, back):
        command.add_argument("--out", default=_given("OUT"), help="the folder of the results")
    for command in (mark, tell, send):
        command.add_argument("--roster", default=_given("ROSTER"), help="student_id,lms_id,name")
    for command in (mark, tell, send, judge, back):
        command.add_argument("--db", default=_given("DB"), help="a database in place of a file")
    return top


def _given(name: str) -> str | None:
    """Return what `make` was given under a name, or None."""
    return os.environ.get(f"GRADE_{name}") or None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    given, rest = parser().parse_known_args(arguments)
    if rest and given.command != "formgrader":
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return COMMANDS[given.command](given, rest)
    except (ValueError, OSError, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        sys.stderr.write("Interrupted. The same command goes on from here.\n")
        return 130


TARGETS = {"export": "grades-export", "student": "grade-student"}
"""What `make` calls a command, where that is another name."""


def _needed(given: argparse.Namespace, name: str) -> str:
    """Return an option that has to be there."""
    value = getattr(given, name)
    if not value:
        target = TARGETS.get(given.command, given.command)
        raise ValueError(f"{name.upper()} is missing: make {target} {name.upper()}=...")
    return value


def _listed(text: str) -> list[str]:
    """Return students of a list with spaces between, or with commas where a number has spaces."""
    parts = text.split(",") if "," in text else text.split()
    return [part.strip() for part in parts if part.strip()]


def _whole(name: str, text: str | None) -> int | None:
    """Return a whole number, if there is one."""
    if text is None:
        return None
    if not text.isdecimal():
        raise ValueError(f"{name} must be a whole number; got {text}")
    return int(text)


def _example(given: argparse.Namespace, _: list[str]) -> int:
    """Write the worked example."""
    from grading.worked_example import write

    write(given.to)
    sys.stdout.write(f"wrote {given.to}\n")
    return 0


def _grade(given: argparse.Namespace, _: list[str]) -> int:
    """Mark submissions."""
    from grading.safe_text import questions_named
    from grading.sandbox import sandbox

    if given.unsafe_no_sandbox and not given.dry_run:
        sys.stderr.write(UNSAFE)
    with ThreadPoolExecutor(1) as aside:
        if not given.dry_run:  # waits for other programs, as long as it takes to import nbgrader
            aside.submit(sandbox.prepare, unsafe=given.unsafe_no_sandbox)
        from grading.course import Order, grade
    order = Order(
        submissions=Path(_needed(given, "submissions")),
        out=Path(_needed(given, "out")),
        roster=Path(given.roster) if given.roster else None,
        database=given.db,
        assignment=given.assignment,
        workers=_whole("WORKERS", given.workers),
        scheduler=given.scheduler,
        accepted=frozenset(_listed(given.accept)),
        remark=frozenset(questions_named(given.remark)),
        unsafe=given.unsafe_no_sandbox,
    )
    if given.dry_run:
        from grading.dry_run import dry_run

        sys.stdout.write(dry_run(order) + "\n")
    else:
        sys.stdout.write(grade(order) + "\n")
    return 0


def _export(given: argparse.Namespace, _: list[str]) -> int:
    """Write the marks, or the pages for students, for learning platforms."""
    from grading.course import export, feedback_zips

    write = export if given.command == "export" else feedback_zips
    roster = Path(_needed(given, "roster"))
    out, assignment = Path(_needed(given, "out")), given.assignment
    for line in write(out, roster, given.db, assignment=assignment):
        sys.stdout.write(f"{line}\n")
    return 0


def _problem_sets(given: argparse.Namespace, _: list[str]) -> int:
    """Write what students get, unless a problem set has a fault."""
    from grading.problem_set import SOURCE, problem_sets
    from grading.rehearsal import faults
    from grading.release import release

    wrong = [each for path in sorted(SOURCE.glob("*/*.ipynb")) for each in faults(path)]
    if wrong:
        raise ValueError("\n".join([*wrong, "nothing was written"]))
    for problem_set in problem_sets().values():
        sys.stdout.write(f"{release(problem_set, given.to)}\n")
    return 0


def _similarity(given: argparse.Namespace, _: list[str]) -> int:
    """Compare submissions with each other."""
    from grading.reports import similarity

    lines = similarity.report(Path(_needed(given, "out")), given.assignment)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _items(given: argparse.Namespace, _: list[str]) -> int:
    """Say what became of each question."""
    from grading.reports import items

    lines = items.report(Path(_needed(given, "out")), given.assignment, given.db)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _student(given: argparse.Namespace, _: list[str]) -> int:
    """Take a student back."""
    from grading.take_back import take_back

    out, student = Path(_needed(given, "out")), _needed(given, "student")
    for line in take_back(out, student, given.into, given.db, do=given.yes):
        sys.stdout.write(f"{line}\n")
    return 0


def _formgrader(given: argparse.Namespace, rest: list[str]) -> int:
    """Become JupyterLab, in which somebody marks by hand."""
    from grading.gradebook import formgrader

    formgrader.start(Path(_needed(given, "out")), rest)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace, list[str]], int]] = {
    "problem-sets": _problem_sets,
    "example": _example,
    "grade": _grade,
    "export": _export,
    "feedback-zips": _export,
    "similarity": _similarity,
    "items": _items,
    "formgrader": _formgrader,
    "student": _student,
}

if __name__ == "__main__":
    sys.exit(main())
