"""One run of the grader, from a folder or a zip to marks, feedback and gradebook."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from book.files import atomic_write
from grading.gradebook import autograded
from grading.gradebook.book import Book, write_autograded
from grading.gradebook.formgrader import write_course
from grading.intake.collection import Collection, collect
from grading.intake.roster import Roster, read_roster
from grading.marking import distribute
from grading.marking.submission import Conditions, digest, mark
from grading.names import safe_name
from grading.problem_set import SOURCE, ProblemSet, problem_sets
from grading.reports import feedback, tables
from grading.reports import instructor as report
from grading.sandbox import sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grading.results import Result, Submission


@dataclass(frozen=True)
class Order:
    """What an instructor asks for."""

    submissions: Path  # a folder or a zip of a learning platform
    out: Path  # the folder for results; what an earlier run left there is continued
    # Who takes the course. Without it names of folders or files are the students'
    # identifiers.
    roster: Path | None = None
    database: str | None = None  # the address of the gradebook; by default an SQLite file in `out`
    assignment: str | None = None  # the problem set, where names of folders and files do not tell
    # how many submissions are marked at a time; by default one for each processor core
    workers: int | None = None
    scheduler: str | None = None  # the address of a Dask scheduler whose workers do it instead
    accepted: frozenset[str] = frozenset()  # students whose identity somebody has looked at
    again: bool = False  # whether to mark also what was marked before and has not changed
    unsafe: bool = False  # whether students' code may run without the sandbox
    source: Path = SOURCE  # the folder of the source notebooks
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)  # what each submission may use


def grade(order: Order, *, work: Callable[..., list[Result]] | None = None) -> str:
    """Mark what students handed in, and return the summary.

    `work` is what workers do in place of marking, see `distribute.mark_all`. A ValueError says
    which of submissions, roster, problem set and database is not what is wanted;
    `sandbox.SandboxUnavailable`, why students' code cannot be kept in a sandbox here.
    """
    if order.workers is not None and order.workers < 1:
        raise ValueError(f"WORKERS must be at least 1; got {order.workers}")
    if not order.unsafe and (reason := sandbox.why_unavailable()):
        raise sandbox.SandboxUnavailable(reason)
    known = wanted(order.source, order.assignment)
    roster = read_roster(order.roster) if order.roster else None
    collection = collect(order.submissions, roster, tuple(known))
    if collection.is_empty:
        raise ValueError(f"SUBMISSIONS must hold notebooks; {order.submissions} has none")
    sets = {name: known[name] for name in collection.assignments}
    url = database(order.out, order.database)
    order.out.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Book(url) as book:
        notes = list(collection.notes)
        for name, problem_set in sets.items():
            if outdated := book.prepare(problem_set):
                notes.append(f"{name} has other points now: {outdated} results were taken back")
            write_course(order.out, url, order.source / name / f"{name}.ipynb")
        run = secrets.token_hex(8)
        conditions = Conditions(
            {name: book.secret(name, run) for name in sets},
            order.limits,
            unsafe=order.unsafe,
            accepted=order.accepted,
        )
        notes += _mark(order, book, run, collection, sets, conditions, work)
        marked = _recorded_sets(book, order.source)
        _renew_feedback(order.out, book, marked)
        summary = _write_tables(order.out, book, roster, marked)
    text = "\n".join([summary, *notes])
    atomic_write(order.out / "summary.txt", text + "\n")
    return text


def wanted(source: Path, assignment: str | None) -> dict[str, ProblemSet]:
    """Return the problem sets that submissions may answer.

    With a name, only that one, or a ValueError if there is none of that name.
    """
    known = problem_sets(source)
    if assignment is None:
        return known
    if assignment not in known:
        raise ValueError(f"ASSIGNMENT must be one of {', '.join(known)}; got {assignment}")
    return {assignment: known[assignment]}


def database(out: Path, url: str | None) -> str:
    """Return the address of the gradebook."""
    return url or f"sqlite:///{(out / 'gradebook.db').resolve()}"


def _mark(
    order: Order,
    book: Book,
    run: str,
    collection: Collection,
    sets: Mapping[str, ProblemSet],
    conditions: Conditions,
    work: Callable[..., list[Result]] | None,
) -> list[str]:
    """Mark what is new or has changed, and write down what comes back."""
    before = {name: {} if order.again else book.digests(name) for name in sets}
    notes = []
    with report.Progress(len(collection)) as progress:
        ready: list[Result] = []

        def fresh() -> Iterator[Submission]:
            """Give what has to be run; settle at once what has not."""
            for submission in collection:
                name, student = submission.assignment, submission.student.student_id
                known = digest(submission, sets[name])
                if before[name].get(student) == known and student not in order.accepted:
                    progress.unchanged()
                elif submission.notebook is None or submission.problem is not None:
                    ready.append(mark(submission, sets[name], conditions))
                else:
                    yield submission

        def write(results: Iterable[Result]) -> None:
            for result in _recorded(order.out, book, run, results, notes):
                progress.add(result)

        waiting = fresh()
        first = next(waiting, None)
        if first is not None:
            with distribute.cluster(order.workers, order.scheduler) as client:
                for results in distribute.mark_all(
                    client,
                    chain([first], waiting),
                    sets,
                    conditions,
                    count=len(collection),
                    work=work,
                ):
                    write([*ready, *results])
                    ready.clear()
        write(ready)
    return notes


def _recorded(
    out: Path, book: Book, run: str, results: Iterable[Result], notes: list[str]
) -> Iterator[Result]:
    """Write results to the gradebook and as files; files come last, so that no mark is missing."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.assignment, []).append(result)
    for group in grouped.values():
        notes.extend(
            f"{lost.student_id}: the mark entered by hand for {lost.question} ({lost.points:g}) "
            "no longer holds"
            for lost in book.record_many(group, run)
        )
        for result in group:
            write_autograded(out, result)
            _write_feedback(out, result)
            yield result


def _write_feedback(out: Path, result: Result) -> None:
    """Write the page for the student, or take away an older one."""
    path = out / "feedback" / safe_name(result.student.student_id) / f"{result.assignment}.html"
    if result.feedback:
        atomic_write(path, result.feedback)
    else:
        path.unlink(missing_ok=True)


def _recorded_sets(book: Book, source: Path) -> dict[str, ProblemSet]:
    """Return the problem sets of which anything is in the gradebook."""
    known = problem_sets(source)
    return {name: each for name, each in known.items() if next(book.results(name), None)}


def _renew_feedback(out: Path, book: Book, sets: Mapping[str, ProblemSet]) -> None:
    """Write anew the pages of those whose paragraphs somebody has marked."""
    for name, problem_set in sets.items():
        by_hand = {each.name for each in problem_set.questions if each.by_hand}
        for result in book.results(name):
            if result.status != "graded" or not any(
                mark.question in by_hand and (mark.points is not None or mark.message)
                for mark in result.marks
            ):
                continue
            ran = out / "autograded" / result.student.student_id / name / f"{name}.ipynb"
            if not ran.exists():  # the gradebook was filled from another folder
                continue
            cells, notes = autograded.read(ran.read_text(encoding="utf-8"))
            page = feedback.page(
                problem_set, result.student, result.status, "", cells, result.marks, notes
            )
            _write_feedback(out, replace(result, feedback=page))


def _write_tables(
    out: Path, book: Book, roster: Roster | None, sets: Mapping[str, ProblemSet]
) -> str:
    """Write ``grades.csv`` and return the summary."""
    listed = list(roster or ())
    rows = {
        name: lambda name=name: tables.everyone(book.results(name), listed, name) for name in sets
    }
    tables.write_grades(
        out / "grades.csv", ((rows[name](), each.questions) for name, each in sets.items())
    )
    return "\n\n".join(report.summary(rows[name](), each) for name, each in sets.items())


def export(out: Path, roster: Path, url: str | None = None, source: Path = SOURCE) -> list[str]:
    """Write the marks for Canvas and Moodle, and return what was written and who was left out.

    Tables and pages for students are written anew as well, with what was marked by hand meanwhile.
    A gradebook that is not in `out` has the address `url`. ValueError: nothing was graded there.
    """
    said = []
    people = read_roster(roster)
    listed = list(people)
    if url is None and not (out / "gradebook.db").exists():
        raise ValueError(f"OUT must be a folder that make grade has filled; {out} has no gradebook")
    with Book(database(out, url)) as book:
        sets = _recorded_sets(book, source)
        _renew_feedback(out, book, sets)
        atomic_write(out / "summary.txt", _write_tables(out, book, people, sets) + "\n")
        for name in sets:
            results = list(tables.everyone(book.results(name), listed, name))
            for platform, write in (
                ("canvas", tables.write_canvas),
                ("moodle", tables.write_moodle),
            ):
                path = out / f"{platform}-{name}.csv"
                left = write(path, results, listed)
                said.append(str(path))
            said += left
    return said or [f"nothing was graded in {out}"]
