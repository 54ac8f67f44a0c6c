"""Requests to look at a mark again: a table in the course folder, answered in that table.

Whoever collects requests, a person or a form, gives a line to each: student, question and what is
asked, and the problem set where the course has several. A person adds points, an answer or both,
once. The grader completes each line with the mark that it is about and with what became of it, and
puts answers into the gradebook like marks by hand. Columns that it does not know stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grading.intake.csv_file import read_rows, separator, wrong
from grading.names import question_named, shown
from grading.private import write_private
from grading.reports.tables import as_text, plain_text

if TYPE_CHECKING:
    from grading.enrolment import Enrolment
    from grading.gradebook.book import Book
    from grading.problem_set import ProblemSet
    from grading.results import Mark, Result

FILE = "regrade-requests.csv"
ASKED = ("student", "question", "request")
ADDED = ("points", "answer", "mark", "status")
OPEN, ANSWERED = "open", "answered"


@dataclass
class Requests:
    """The requests of a course, line by line."""

    path: Path
    separator: str
    header: list[str]
    lines: dict[int, dict[str, str]]

    def settle(self, book: Book, course: Enrolment, sets: Mapping[str, ProblemSet]) -> list[str]:
        """Put what was answered into the gradebook, and complete the table.

        What was put there before is not put there again, so that later marks by hand stay. Returns
        how many are open, and which lines cannot be understood.
        """
        notes, now = [], 0
        people = _people(self.lines.values(), course)
        results = _results(book, course, sets, set(people.values()))
        for number, line in self.lines.items():
            if line["status"] == ANSWERED:
                continue
            try:
                line["status"] = _settle(line, people[line["student"]], results, book, sets)
                now += line["status"] == ANSWERED
            except ValueError as refused:
                line["status"] = f"not understood: {refused}"
                notes.append(f"{FILE}, line {number}: {refused}")
        still = sum(line["status"] == OPEN for line in self.lines.values())
        self.write()
        return (
            [f"{FILE}: {now} answered now, {still} open", *notes] if now or still or notes else []
        )

    def write(self) -> None:
        """Write the table, if anything in it is new."""
        text = io.StringIO()
        table = csv.writer(text, delimiter=self.separator, lineterminator="\r\n")
        table.writerow(self.header)
        table.writerows(
            [as_text(line[name]) for name in self.header] for line in self.lines.values()
        )
        if self.path.read_text(encoding="utf-8-sig") != text.getvalue():
            write_private(self.path, "\ufeff" + text.getvalue())


def read_requests(out: Path) -> Requests | None:
    """Return the requests in a course folder, or None if there are none.

    A ValueError says where the table is not one.
    """
    path = out / FILE
    if not path.exists():
        return None
    rows = read_rows(path)
    first, header = next(rows, (1, []))
    header = [name.strip() for name in header]
    known = {"student_id": "student", **{name: name for name in ("assignment", *ASKED, *ADDED)}}
    header = [known.get(name.casefold(), name) for name in header]
    if missing := [name for name in ASKED if name not in header]:
        came = shown(", ".join(header)) or "nothing"
        raise wrong(path, first, f"no column {missing[0]!r}; wanted {', '.join(ASKED)}; got {came}")
    if twice := [name for name in header if header.count(name) > 1]:
        raise wrong(path, first, f"column {twice[0]!r} came twice; wanted once")
    lines = {}
    whole = [*header, *(name for name in ADDED if name not in header)]
    for number, row in rows:
        if len(row) > len(header):
            raise wrong(path, number, f"{len(row)} cells came; wanted {len(header)}, as in line 1")
        if any(cell.strip() for cell in row):
            lines[number] = dict.fromkeys(whole, "") | dict(zip(header, row, strict=False))
    return Requests(path, separator(path.read_text(encoding="utf-8-sig")), whole, lines)


def _people(lines: Mapping[str, str], course: Enrolment) -> dict[str, str]:
    """Return whom the lines name, by what they say."""
    said = {line["student"] for line in lines}
    found = {name: course.roster and course.roster.by_id(name.strip()) for name in said}
    return {name: each.student_id if each else name.strip() for name, each in found.items()}


def _results(
    book: Book, course: Enrolment, sets: Mapping[str, ProblemSet], students: set[str]
) -> dict[tuple[str, str], Result]:
    """Return what counts for some students, by problem set and student."""
    return {
        (name, result.student.student_id): result
        for name in (sets if students else ())
        for result in course.outcomes(book, name)
        if result.student.student_id in students
    }


def _settle(
    line: dict[str, str],
    student: str,
    results: Mapping[tuple[str, str], Result],
    book: Book,
    sets: Mapping[str, ProblemSet],
) -> str:
    """Complete one line, and return what became of it; a ValueError says what is wrong with it."""
    assignment = _assignment(line.get("assignment", "").strip(), sets)
    result = results.get((assignment, student))
    if result is None or result.status != "graded":
        state = result.status if result else "unknown"
        raise ValueError(
            f"student must be one with marks in {assignment}; {shown(student)} is {state}"
        )
    mark = _mark(line["question"].strip(), result)
    points = _points(line["points"].strip(), mark)
    answer = line["answer"].strip()
    earned = "open" if mark.points is None else f"{mark.points:g}"
    line["mark"] = plain_text(
        ": ".join(filter(None, (f"{earned} of {mark.maximum:g}", mark.message)))
    )
    if points is None and not answer:
        return OPEN
    book.decide(assignment, result.shared_by or student, mark.question, points, answer)
    return ANSWERED


def _assignment(name: str, sets: Mapping[str, ProblemSet]) -> str:
    """Return the problem set that a line is about."""
    if not name and len(sets) == 1:
        return next(iter(sets))
    if name not in sets:
        raise ValueError(
            f"assignment must be one of {', '.join(sets)}; got {shown(name) or 'nothing'}"
        )
    return name


def _mark(question: str, result: Result) -> Mark:
    """Return the mark that a line is about."""
    by_name = {mark.question: mark for mark in result.marks}
    name = question_named(question, by_name)
    if name is None:
        got = shown(question) or "nothing"
        raise ValueError(f"question must be one of {', '.join(by_name)}; got {got}")
    return by_name[name]


def _points(text: str, mark: Mark) -> float | None:
    """Return the points that a person wrote, if there are any."""
    if not text:
        return None
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = float("nan")
    if not 0 <= points <= mark.maximum:
        raise ValueError(f"points must be a number from 0 to {mark.maximum:g}; got {shown(text)}")
    return points
