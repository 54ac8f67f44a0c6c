"""Grades as tables: for people, for Canvas and for Moodle."""

from __future__ import annotations

import csv
import heapq
import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from grading.late import in_words, local
from grading.private import write_private
from grading.results import Result, Student
from grading.safe_text import plain_cell, plain_text, shown
from grading.version import grader

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from grading.intake.roster import Sheet
    from grading.problem_set import Question

    Table = tuple[Iterable[Result], Sequence[Question]]

DIGITS = 4
MOODLE_PREFIX = "Participant "
CANVAS_OWN = ("ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section")
"""The columns of Canvas's export that say who somebody is, in its order."""
NUMBER = re.compile(r"\s*\([0-9]+\)\s*$")
STUDENT_ID = attrgetter("student.student_id")


def open_questions(result: Result) -> list[str]:
    """Return the questions of a graded submission that still wait for a mark by hand.

    It has the marks entered by hand so far, as the gradebook gives it.
    """
    if result.status != "graded":
        return []
    return [mark.question for mark in result.marks if mark.points is None]


def everyone(
    results: Iterable[Result], roster: Iterable[Student], assignment: str
) -> Iterator[Result]:
    """Return one result for everyone who submitted and everyone on the roster, by student.

    The results are sorted by ``student_id``, as `Book.results` gives them, and may be longer than
    memory. Who is on the roster and missing from them gets one with the status ``missing``.

    Examples
    --------
    >>> ada, bob = Student("s1", "", "Ada Example"), Student("s2", "", "Bob Example")
    >>> [each.status for each in everyone([Result(bob, "one", "invalid")], [bob, ada], "one")]
    ['missing', 'invalid']
    """
    listed = sorted(roster, key=attrgetter("student_id"))
    nothing = "nothing was handed in"
    absent = (Result(student, assignment, "missing", nothing) for student in listed)
    # the merge is stable, so that what was recorded comes before what the roster alone would say
    merged = heapq.merge(results, absent, key=STUDENT_ID)
    for _, same in itertools.groupby(merged, key=STUDENT_ID):
        yield next(same)


def grades_rows(
    tables: Iterable[Table],
    timezone: ZoneInfo | None = None,
    *,
    dated: bool = False,
    mixed: bool = False,
) -> Iterator[list[str]]:
    """Return the rows of ``grades.csv``, the header first.

    Each table has the results of a problem set, one for each student (see `everyone`), and its
    questions. A row has student, name, assignment, the points of each question, their sum so far,
    the most that can be had, status and message. Points and sum are empty where nothing is decided.
    With `dated` come, behind the sum, when the notebook came, by how much that is late, what is
    taken off, and the points that count. With `mixed` the last column says which marks an older
    check made, or another version of the grader than this one, and which decisions of a person are
    from before the check changed. A cell of text that a spreadsheet would take for a formula
    begins with an apostrophe.
    """
    tables = list(tables)
    # a dictionary keeps the order, and a question of two problem sets has one column
    names = list(dict.fromkeys(each.name for _, questions in tables for each in questions))
    late = ["submitted", "late", "deduction", "final"] if dated else []
    last = ["maximum", "status", "message", *(["older"] if mixed else [])]
    yield ["student", "name", "assignment", *names, "total", *late, *last]
    sorted_rows = [_rows(results, questions) for results, questions in tables]
    for result, questions in heapq.merge(*sorted_rows, key=lambda row: STUDENT_ID(row[0])):
        points = {mark.question: mark.points for mark in result.marks}
        yield [
            plain_text(result.student.student_id),
            plain_text(result.student.name),
            plain_text(result.assignment),
            *(_number(points.get(name)) for name in names),
            _number(result.total),
            *(_late(result, timezone) if dated else ()),
            _number(_maximum(result, questions)),
            plain_text(result.status),
            plain_text(_message(result)),
            *([_older(result, questions)] if mixed else []),
        ]


def _older(result: Result, questions: Sequence[Question]) -> str:
    """Return which marks would be made otherwise today."""
    by_name = {question.name: question for question in questions}
    kinds: dict[str, list[str]] = {}
    for mark in result.marks if result.status == "graded" else ():
        if by_name[mark.question].is_older(mark):
            kinds.setdefault("by an older check", []).append(mark.question)
        if mark.before:
            kinds.setdefault("decided before the check changed", []).append(mark.question)
        if mark.grader not in ("", grader()):
            kinds.setdefault("by another grader", []).append(mark.question)
    return "; ".join(f"{' '.join(names)} {kind}" for kind, names in kinds.items())


def write_grades(
    path: Path,
    tables: Iterable[Table],
    timezone: ZoneInfo | None = None,
    *,
    dated: bool = False,
    mixed: bool = False,
) -> None:
    """Write ``grades.csv``: see `grades_rows`."""
    _write(path, grades_rows(tables, timezone, dated=dated, mixed=mixed))


def _late(result: Result, timezone: ZoneInfo | None) -> list[str]:
    """Return when something came, by how much that is late, what that costs, and what counts."""
    late = result.late
    came = local(late.submitted, timezone) if late and late.submitted else ""
    off = _number(late.deduction) if late and result.total is not None else ""
    return [came, in_words(late), off, _number(result.final)]


def write_canvas(
    path: Path,
    results: Iterable[Result],
    roster: Iterable[Student],
    title: str | None = None,
    sheet: Sheet | None = None,
) -> list[str]:
    """Write what Canvas imports under Grades → Import.

    The results are of one problem set, one for each student; who is on the roster gets a row.
    `Student.lms_id` is the number that Canvas gave the student. The `title` is that of the column,
    by default the name of the problem set. The result lists who got no grade, and why.

    With a `sheet`, Canvas's own export, each row begins as it came, and a grade that is not final
    leaves the one that Canvas has. The column is then one of the export: that of the title, or
    else one that is called like the problem set. ValueError: there is no column of that title.

    Canvas's importer (``lib/gradebook_importer.rb`` of canvas-lms) asks for a header whose first
    two cells are Student and ID, and for a column Section after SIS User ID and SIS Login ID;
    every column behind it is an assignment, found by the number in brackets or else by its exact
    title, and offered as a new one otherwise. A row is matched by ID, which is Canvas's own number
    of the user and the first number in the names of the files of a download; then by SIS User ID,
    SIS Login ID and the name. The row Points Possible may be absent. A cell without a number is
    compared with what Canvas holds, so that an empty one may take away an older grade there:
    Canvas shows the changes before it saves them.
    """
    results = list(results)
    name = _assignment(results)
    if sheet is not None:
        column = canvas_column(name, title, sheet)
        return _write_canvas_sheet(path, results, roster, sheet, column, name)
    column = plain_text(title or name)
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]]
    maximum = max((result.maximum for result in results), default=0.0)
    rows.append(["    Points Possible", "", "", "", "", _number(maximum) if maximum else ""])
    listed, left = _on_roster(results, roster)
    for student, result in listed:
        number = student.lms_id if _is_number(student.lms_id) else ""
        rows.append(
            [
                plain_text(student.name),
                number,
                plain_text(student.student_id),
                "",
                "",
                _grade(result),
            ]
        )
    _write(path, rows)
    return left


def write_moodle(
    path: Path,
    results: Iterable[Result],
    roster: Iterable[Student],
    sheet: Sheet | None = None,
) -> list[str]:
    """Write what Moodle's assignment imports as its offline grading worksheet.

    The results are of one problem set, one for each student; who is on the roster gets a row.
    `Student.lms_id` is the number of the participant in this assignment, with or without the word
    before it: the worksheet that Moodle offers lists it, and so do the names of the folders of a
    download. The result lists who got no grade, and why. With a `sheet`, Moodle's own worksheet in
    whatever language, that is what is written, with the final grades in it.

    Moodle's importer (``mod/assign/feedback/offline`` of moodle) needs three columns, named in the
    language of the person who imports, which has to be English without a sheet: Identifier, whose
    first twelve characters ``Participant`` and a space it cuts off, Grade, and Last modified
    (grade). It skips an empty grade, one above the maximum of the assignment, and one that Moodle
    holds with a later date than the worksheet says. No date is written here, so that a grade which
    Moodle holds already is replaced only if the box for records modified more recently in Moodle is
    ticked. A column Feedback comments is left out: its empty cells would erase the comments in
    Moodle.
    """
    if sheet is not None and "Grade" in sheet.columns:
        return _write_moodle_sheet(path, list(results), roster, sheet)
    head = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade"]
    head += ["Grade can be changed", "Last modified (submission)", "Last modified (grade)"]
    rows = [head]
    results = list(results)
    listed, left = _on_roster(results, roster)
    for student, result in listed:
        number = student.lms_id.removeprefix(MOODLE_PREFIX)
        if not _is_number(number):
            left.append(f"{_who(student)}: the roster has no participant number of Moodle")
            continue
        row = [MOODLE_PREFIX + number, plain_text(student.name), "", "", _grade(result)]
        rows.append([*row, _number(result.maximum) if result.marks else "", "Yes", "-", "-"])
    _write(path, rows)
    return left


def canvas_column(name: str, title: str | None, sheet: Sheet) -> str | None:
    """Return the column of a problem set in an export of Canvas, or None.

    Canvas writes a title with its own number of the assignment behind it, in brackets.
    """
    if title is not None:
        if title not in sheet.header:
            raise ValueError(
                f"canvas, the title of {name} in course.toml, must be a column of ROSTER; "
                f"got {shown(title)}"
            )
        return title
    wanted = _simple(name)
    found = [each for each in sheet.header if _simple(NUMBER.sub("", each)) == wanted]
    return found[0] if len(found) == 1 else None


def _simple(title: str) -> str:
    """Return a title without case and what is between words."""
    return re.sub(r"[\W_]+", "", title.casefold())


def _write_canvas_sheet(
    path: Path,
    results: list[Result],
    roster: Iterable[Student],
    sheet: Sheet,
    column: str | None,
    name: str,
) -> list[str]:
    """Write grades into Canvas's own rows."""
    listed, left = _on_roster(results, roster)
    by_id = {student.student_id: result for student, result in listed}
    wide = 1 + max(sheet.columns[each] for each in CANVAS_OWN if each in sheet.columns)
    place = None if column is None else sheet.header.index(column)
    maximum = _number(max((result.maximum for result in results), default=0.0))
    rows = [[*sheet.header[:wide], column or plain_text(name)]]
    if column is None:
        left.insert(0, f"{name} is no column of ROSTER: Canvas will offer a new assignment")
    for cells, student in sheet.rows:
        before = "" if place is None else cells[place]
        if "Points Possible" in cells[0]:
            if place is not None and before.strip() and not _same(before, maximum):
                left.insert(0, f"{column} has {shown(before)} points in Canvas, and {maximum} here")
            rows.append([*cells[:wide], before or maximum])
        elif student in by_id:
            rows.append([*map(plain_cell, cells[:wide]), _grade(by_id[student]) or before])
    _write(path, rows)
    return left


def _write_moodle_sheet(
    path: Path, results: list[Result], roster: Iterable[Student], sheet: Sheet
) -> list[str]:
    """Write grades into Moodle's own worksheet."""
    listed, left = _on_roster(results, roster)
    by_id = {student.student_id: result for student, result in listed}
    named = {student for _, student in sheet.rows}
    left += [
        f"{_who(student)}: not in Moodle's worksheet"
        for student, result in listed
        if student.student_id not in named and _grade(result)
    ]
    rows, grade = [sheet.header], sheet.columns["Grade"]
    most = sheet.columns.get("Maximum grade")
    maxima = set()
    for cells, student in sheet.rows:
        row = [plain_cell(cell) for cell in cells]
        if student in by_id:
            result = by_id[student]
            row[grade] = _grade(result) or cells[grade]
            if (
                most is not None
                and result.marks
                and not _same(cells[most], _number(result.maximum))
            ):
                maxima.add((cells[most], _number(result.maximum)))
        rows.append(row)
    left += [
        f"the most is {shown(there)} points in Moodle, and {here} here"
        for there, here in sorted(maxima)
    ]
    _write(path, rows)
    return left


def _same(there: str, here: str) -> bool:
    """Return whether a platform's number is one of ours."""
    try:
        return math.isclose(float(there.replace(",", ".")), float(here))
    except ValueError:
        return False


def _rows(
    results: Iterable[Result], questions: Sequence[Question]
) -> Iterator[tuple[Result, Sequence[Question]]]:
    """Return each result with the questions of its problem set."""
    return ((result, questions) for result in results)


def _maximum(result: Result, questions: Sequence[Question]) -> float:
    """Return the most that a result could earn."""
    return result.maximum if result.marks else sum(question.points for question in questions)


def _who(student: Student) -> str:
    """Return a student for people."""
    name = f" ({student.name})" if student.name else ""
    return shown(student.student_id + name)


def _message(result: Result) -> str:
    """Return the message with what is still open."""
    waiting = open_questions(result)
    parts = [
        result.message,
        f"waiting for a mark by hand: {', '.join(waiting)}" if waiting else "",
        f"the notebook of the group came from {result.shared_by}" if result.shared_by else "",
        result.late.why if result.late else "",
        "" if result.decided is None else f"by course.toml {_number(result.decided)} points count",
    ]
    return "; ".join(filter(None, parts))


def _assignment(results: Sequence[Result]) -> str:
    """Return the one problem set that all results are of."""
    names = {result.assignment for result in results}
    if len(names) != 1:
        raise ValueError(f"results must be of one problem set; got {sorted(names) or 'none'}")
    return names.pop()


def _on_roster(
    results: Iterable[Result], roster: Iterable[Student]
) -> tuple[list[tuple[Student, Result]], list[str]]:
    """Return the results of those on the roster, and who has no final grade or is not on it."""
    by_id = {student.student_id: student for student in roster}
    listed, left = [], []
    for result in results:
        student = by_id.get(result.student.student_id)
        if student is None:
            left.append(f"{_who(result.student)}: not on the roster")
            continue
        listed.append((student, result))
        if not _grade(result):
            left.append(f"{_who(student)}: {not_final(result)}")
    return listed, left


def not_final(result: Result) -> str:
    """Return why a submission has no final grade, or nothing where it has one."""
    if _grade(result):
        return ""
    state = result.status if result.status != "graded" else ""
    return shown(": ".join(filter(None, (state, _message(result)))))


def _grade(result: Result) -> str:
    """Return the final grade of a submission, or nothing where it is not final."""
    waits = result.decided is None and open_questions(result)
    return "" if waits else _number(result.final)


def _is_number(text: str) -> bool:
    """Return whether a platform's identifier is a number as platforms write it."""
    return text.isascii() and text.isdigit()


def _number(value: float | None) -> str:
    """Return a number as people write it, or nothing for None."""
    if value is None:
        return ""
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write a table in the form of RFC 4180."""
    write_private(path, as_csv(rows))


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table in the form of RFC 4180.

    Examples
    --------
    >>> as_csv([("student", "alike"), ("s1", 0.5)])
    'student,alike\r\ns1,0.5\r\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
