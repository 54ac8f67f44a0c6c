"""Who takes the course: the roster, a CSV file that the instructor keeps.

Its columns are ``student_id`` (the identifier from which the personal numbers come), ``lms_id``
(what the learning platform calls the student; may be empty), ``name`` and, if wanted, ``also``:
further identifiers that a student may have typed or a folder may be called, separated by spaces.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from grading.names import composed, is_safe_name, shown
from grading.results import Student

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

COLUMNS = ("student_id", "lms_id", "name")
OPTIONAL = ("also",)
PARTICIPANT = re.compile(r"\D*\s([0-9]+)")


class Roster:
    """The people who take the course, in the order of the file.

    Raises ValueError if two students share an identifier, or one cannot be told from the other's.

    Examples
    --------
    >>> roster = Roster([Student("s1", "17", "Ada Example", ("ada@example.org",))])
    >>> roster.by_id("S1").name, roster.by_id("ada@example.org").name, roster.by_lms_id("17").name
    ('Ada Example', 'Ada Example', 'Ada Example')
    """

    def __init__(self, students: Iterable[Student]) -> None:
        self._students: list[Student] = []
        self._ids: dict[str, Student] = {}
        self._folded: dict[str, Student] = {}
        self._lms: dict[str, Student] = {}
        self._participants: defaultdict[str, list[Student]] = defaultdict(list)
        self._names: defaultdict[tuple[str, ...], list[Student]] = defaultdict(list)
        for student in students:
            self.add(student)

    def add(self, student: Student) -> None:
        """Enter one more student; ValueError says why that fails."""
        if not is_safe_name(student.student_id):
            if not student.student_id:
                raise ValueError("student_id is empty; every student needs one")
            raise ValueError(
                f"student_id {shown(student.student_id)!r} cannot be the name of a folder; wanted "
                "at most 100 letters, digits and _ . @ + -, first a letter or a digit, last not a "
                "dot"
            )
        if student.lms_id and student.lms_id in self._lms:
            raise ValueError(
                f"lms_id {shown(student.lms_id)!r} came before, for "
                f"{self._lms[student.lms_id].student_id!r}; every lms_id may come once"
            )
        for column, identifier in [
            ("student_id", student.student_id),
            *(("also", identifier) for identifier in student.also),
        ]:
            self._claim(column, identifier, student)
        self._students.append(student)
        if student.lms_id:
            self._lms[student.lms_id] = student
            self._participants[_participant(student.lms_id)].append(student)
        if words := name_words(student.name):
            self._names[words].append(student)

    def _claim(self, column: str, identifier: str, student: Student) -> None:
        """Let one identifier, in any case of its letters, mean this student only."""
        other = self._folded.get(identifier.casefold())
        if other is not None and (other is not student or column == "student_id"):
            raise ValueError(
                f"{column} {shown(identifier)!r} came before, for {other.student_id!r}; every "
                "identifier may come once, and upper and lower case count as the same"
            )
        self._ids[identifier] = student
        self._folded[identifier.casefold()] = student

    def __iter__(self) -> Iterator[Student]:
        """Iterate over the students in the order of the file."""
        return iter(self._students)

    def __len__(self) -> int:
        """Return the number of students."""
        return len(self._students)

    def by_id(self, identifier: str) -> Student | None:
        """Return whose student_id or further identifier this is, in whatever case."""
        identifier = composed(identifier.strip())
        return self._ids.get(identifier) or self._folded.get(identifier.casefold())

    def by_lms_id(self, lms_id: str) -> Student | None:
        """Return whose lms_id this is.

        Moodle writes ``Participant 17`` in its tables and ``17`` in its zips; both are found.
        """
        lms_id = composed(lms_id.strip())
        if lms_id in self._lms:
            return self._lms[lms_id]
        found = self._participants.get(_participant(lms_id), [])
        return found[0] if len(found) == 1 else None

    def by_name(self, name: str) -> Student | None:
        """Return who is called so, the words in any order, if that is one person only."""
        found = self._names.get(name_words(name), [])
        return found[0] if len(found) == 1 else None


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a person's name, sorted, without case and punctuation.

    Examples
    --------
    >>> name_words("Example, Ada") == name_words("Ada Example")
    True
    """
    return tuple(sorted(re.findall(r"\w+", composed(name).casefold())))


def _participant(lms_id: str) -> str:
    """Return the number of ``Participant 17``, and anything else as it is."""
    match = PARTICIPANT.fullmatch(lms_id)
    return match[1] if match else lms_id


def read_roster(path: Path) -> Roster:
    """Read the roster.

    It is CSV in UTF-8, with or without a byte order mark, separated by commas or semicolons. The
    first line names the columns, in any order and case. If the file is not such a table, or two
    students cannot be told apart, a ValueError names the file, the line, what came and what is
    wanted.
    """
    rows = _rows(path, _text(path))
    first, header = next(rows, (1, []))
    places = _places(path, first, header)
    roster = Roster([])
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise _wrong(path, line, f"{len(row)} cells came; wanted {len(header)}, as in line 1")
        try:
            roster.add(_student({name: row[place] for name, place in places.items()}))
        except ValueError as error:
            raise _wrong(path, line, str(error)) from None
    if not len(roster):
        raise _wrong(path, first, "no student came; wanted at least one line below the header")
    return roster


def _wrong(path: Path, line: int, what: str) -> ValueError:
    """Return an error that says where it is."""
    return ValueError(f"{path}, line {line}: {what}")


def _text(path: Path) -> str:
    """Return what the file says, or where it is not UTF-8."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        byte = raw[error.start]
        raise _wrong(
            path, line, f"byte 0x{byte:02x} came, which is not UTF-8; save the file as CSV UTF-8"
        ) from None


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of the line on which it ends."""
    top = text.split("\n", 1)[0]
    separator = ";" if top.count(";") > top.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _wrong(path, reader.line_num, f"not readable as CSV: {error}") from None


def _places(path: Path, line: int, header: list[str]) -> dict[str, int]:
    """Return where each column is."""
    names = [name.strip().casefold() for name in header]
    came = shown(", ".join(names)) or "nothing"
    for name in COLUMNS:
        if name not in names:
            raise _wrong(path, line, f"no column {name!r}; wanted {', '.join(COLUMNS)}; got {came}")
    for name in COLUMNS + OPTIONAL:
        if names.count(name) > 1:
            raise _wrong(path, line, f"column {name!r} came twice; wanted once; got {came}")
    return {name: names.index(name) for name in COLUMNS + OPTIONAL if name in names}


def _student(cells: dict[str, str]) -> Student:
    """Return the student of one line."""
    return Student(
        student_id=composed(cells["student_id"].strip()),
        lms_id=shown(cells["lms_id"]),
        name=shown(cells["name"]),
        also=tuple(composed(identifier) for identifier in cells.get("also", "").split()),
    )
