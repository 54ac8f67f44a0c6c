"""One run of the grader, from a folder or a zip to marks, feedback and gradebook."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from grading.earlier_runs import Memory, chosen_questions
from grading.enrolment import Enrolment, enrolment
from grading.gradebook.book import Book, write_autograded
from grading.gradebook.database import DATABASE, database
from grading.gradebook.formgrader import write_course
from grading.intake.collection import Collection, collect
from grading.intake.roster import Roster
from grading.marking import distribute
from grading.marking.submission import Conditions, mark
from grading.private import close_course, make_private, write_private
from grading.problem_set import SOURCE, ProblemSet, problem_sets
from grading.reports import instructor as report
from grading.reports import tables
from grading.reports.feedback_zips import write_zips
from grading.reports.outcomes import late_notes
from grading.reports.student_pages import write_pages
from grading.sandbox import sandbox
from grading.take_back import reconcile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grading.late import Receipt
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
    # questions to mark anew also where nothing has changed, or "all"
    remark: frozenset[str] = frozenset()
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
    sandbox.prepare(unsafe=order.unsafe)
    known = select_sets(order.source, order.assignment)
    remark = chosen_questions(order.remark, known)
    course = enrolment(order.out, order.source, order.roster)
    order = replace(order, remark=remark, accepted=course.named(order.accepted))
    url = database(order.out, order.database)
    collection = _collected(order, course, tuple(known), url)
    sets = {name: known[name] for name in collection.assignments}
    make_private(order.out)
    close_course(order.out)
    with Book(url) as book:
        notes = [*course.notes, *collection.notes]
        for name, problem_set in sets.items():
            if outdated := book.prepare(problem_set):
                notes.append(f"{name} has other points now: {outdated} results were taken back")
            write_course(order.out, url, order.source / name / f"{name}.ipynb")
        run = secrets.token_hex(8)
        conditions = Conditions(
            {name: book.secret(name, run) for name in sets},
            order.limits,
            unsafe=order.unsafe,
        )
        notes += _mark(order, course, book, run, collection, sets, conditions, work)
        marked = _recorded_sets(book, order.source)
        write_pages(order.out, book, marked, course)
        summaries = _write_tables(order.out, book, course, marked)
    notes = list(dict.fromkeys(notes))
    whole = "\n".join(["\n\n".join(summaries.values()), *notes])
    write_private(order.out / "summary.txt", whole + "\n")
    return "\n".join(["\n\n".join(summaries[name] for name in sets if name in summaries), *notes])


def _collected(
    order: Order, course: Enrolment, assignments: tuple[str, ...], url: str
) -> Collection:
    """Find out what came from whom, or say that nothing did."""
    special = course.special(None, order.accepted, assignments)
    if order.database or (order.out / DATABASE).exists():
        with Book(url) as book:
            special = course.special(book, order.accepted, assignments)
    collection = collect(order.submissions, course.roster, assignments, special)
    if collection.is_empty:
        raise ValueError(f"SUBMISSIONS must hold notebooks; {order.submissions} has none")
    return collection


def select_sets(source: Path, assignment: str | None) -> dict[str, ProblemSet]:
    """Return the problem sets that submissions may answer.

    With a name, only that one, or a ValueError if there is none of that name.
    """
    known = problem_sets(source)
    if assignment is None:
        return known
    if assignment not in known:
        raise ValueError(f"ASSIGNMENT must be one of {', '.join(known)}; got {assignment}")
    return {assignment: known[assignment]}


def _mark(
    order: Order,
    course: Enrolment,
    book: Book,
    run: str,
    collection: Collection,
    sets: Mapping[str, ProblemSet],
    conditions: Conditions,
    work: Callable[..., list[Result]] | None,
) -> list[str]:
    """Mark what is new or has changed, and write down what comes back."""
    memory = Memory.of(book, order.accepted, order.remark, sets)
    notes: list[str] = []
    receipts: list[Receipt] = []
    with report.Progress(len(collection), missing=collection.missing) as progress:
        ready: list[Result] = []

        def fresh() -> Iterator[Submission]:
            """Give what has to be run; settle at once what has not."""
            for came in collection:
                submission = memory.to_mark(came)
                if submission is not None or came.notebook is not None:
                    receipts.extend(filter(None, [collection.receipt(came)]))
                if submission is None:
                    nothing = came.problem is not None and came.problem[0] == "missing"
                    progress.unchanged(missing=nothing)
                elif submission.notebook is None or submission.problem is not None:
                    ready.append(mark(submission, sets[submission.assignment], conditions))
                else:
                    yield submission

        def write(results: Iterable[Result]) -> None:
            lost, made = [], []
            for result in results:
                (lost if memory.would_lose(result) else made).append(result)
            progress.add(*lost, *made)
            notes.extend(
                f"{each.student.student_id}: was not marked anew, and the earlier marks stay: "
                f"{each.message}"
                for each in lost
            )
            notes.extend(_record(order.out, book, run, made))

        waiting = fresh()
        first = next(waiting, None)
        if first is not None:
            progress.start()
            with distribute.cluster(order.workers, order.scheduler) as workers:
                for results in distribute.mark_all(
                    workers,
                    chain([first], waiting),
                    sets,
                    conditions,
                    count=len(collection),
                    work=work,
                ):
                    write([*ready, *results])
                    ready.clear()
        write(ready)
    return [*notes, *memory.notes(), *_receive(order.out, course, book, sets, receipts)]


def _receive(
    out: Path, course: Enrolment, book: Book, sets: Iterable[str], receipts: list[Receipt]
) -> Iterator[str]:
    """Write down when everything came, and what that tells of who is who."""
    for each in book.receive(receipts):
        yield f"{each.student_id}: the same notebook came again; it counts as it came first"
    for name in sets if course.roster is not None else ():
        came = {each.student_id: each for each in receipts if each.assignment == name}
        yield from reconcile(out, book, name, course.roster, came)


def _record(out: Path, book: Book, run: str, results: Iterable[Result]) -> list[str]:
    """Write results to the gradebook and as files; files come last, so that no mark is missing.

    Returns what somebody should know of marks by hand that are gone.
    """
    notes: list[str] = []
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
    return notes


def _recorded_sets(book: Book, source: Path) -> dict[str, ProblemSet]:
    """Return the problem sets of which anything is in the gradebook."""
    known = problem_sets(source)
    return {name: each for name, each in known.items() if next(book.results(name), None)}


def _write_tables(
    out: Path, book: Book, course: Enrolment, sets: Mapping[str, ProblemSet]
) -> dict[str, str]:
    """Write ``grades.csv`` and return the summary of each problem set."""
    rows = {name: lambda name=name: course.outcomes(book, name) for name in sets}
    tallies = {name: report.tally(rows[name](), each) for name, each in sets.items()}
    tables.write_grades(
        out / "grades.csv",
        ((rows[name](), each.questions) for name, each in sets.items()),
        course.settings.timezone,
        dated=course.settings.has_final,
        mixed=any(each.is_mixed for each in tallies.values()),
    )
    said = {}
    for name, counted in tallies.items():
        late = late_notes(rows[name](), name) if course.settings.of(name).due else []
        said[name] = "\n\n".join(filter(None, map("\n".join, (counted.lines(), late))))
    return said


def export(
    out: Path,
    roster: Path,
    url: str | None = None,
    source: Path = SOURCE,
    assignment: str | None = None,
) -> list[str]:
    """Write the marks for Canvas and Moodle, and return what was written and who was left out.

    Tables and pages for students are written anew as well, with what was marked by hand meanwhile.
    With an assignment, only its marks are written for the platforms. A gradebook that is not in
    `out` has the address `url`. ValueError: nothing was graded there.
    """
    said: list[str] = []
    with _opened(out, roster, url, source) as (book, course, sets):
        chosen = _chosen(sets, assignment)
        for name in chosen:
            course.check_worksheet(name, alone=len(chosen) == 1)
            results = list(course.outcomes(book, name))
            people, title = course.of(name) or Roster([]), course.settings.of(name).canvas
            sheets = {each.platform: each for each in course.sheets(name)}
            if len(sheets) > 1 and not tables.canvas_column(name, title, sheets["Canvas"]):
                del sheets["Canvas"]  # this one lives in Moodle
            left: list[str] = []
            if "Canvas" in sheets or not sheets:
                said.append(str(out / f"canvas-{name}.csv"))
                sheet = sheets.get("Canvas")
                left = tables.write_canvas(Path(said[-1]), results, people, title, sheet)
            if "Moodle" in sheets or not sheets:
                said.append(str(out / f"moodle-{name}.csv"))
                sheet = sheets.get("Moodle")
                left += tables.write_moodle(Path(said[-1]), results, people, sheet)
            said += dict.fromkeys(left)
    return said or [f"nothing was graded in {out}"]


def feedback_zips(
    out: Path,
    roster: Path,
    url: str | None = None,
    source: Path = SOURCE,
    assignment: str | None = None,
) -> list[str]:
    """Write the pages for students as zips for Canvas and Moodle: see `write_zips`.

    Returns what was written and who was left out. The rest is as with `export`.
    """
    said: list[str] = []
    with _opened(out, roster, url, source) as (book, course, sets):
        for name in _chosen(sets, assignment):
            people = course.of(name) or Roster([])
            said += write_zips(out, course.outcomes(book, name), people, book.receipts(name))
    return said or [f"nothing was graded in {out}"]


@contextmanager
def _opened(
    out: Path, roster: Path, url: str | None, source: Path
) -> Iterator[tuple[Book, Enrolment, dict[str, ProblemSet]]]:
    """Open a gradebook, and write its tables and pages anew."""
    course = enrolment(out, source, roster)
    if url is None and not (out / DATABASE).exists():
        raise ValueError(f"OUT must be a folder that make grade has filled; {out} has no gradebook")
    close_course(out)
    with Book(database(out, url)) as book:
        sets = _recorded_sets(book, source)
        write_pages(out, book, sets, course)
        summaries = _write_tables(out, book, course, sets)
        write_private(out / "summary.txt", "\n\n".join(summaries.values()) + "\n")
        yield book, course, sets


def _chosen(sets: Mapping[str, ProblemSet], assignment: str | None) -> list[str]:
    """Return the problem sets that were asked for, all of them unless told otherwise."""
    if assignment is not None and assignment not in sets:
        graded = ", ".join(sets) or "none"
        raise ValueError(f"ASSIGNMENT must be one that was graded: {graded}; got {assignment}")
    return [assignment] if assignment else list(sets)
