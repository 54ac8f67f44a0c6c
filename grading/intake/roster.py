"""Who takes the course: the roster, a CSV file of one's own or a learning platform's export.

One's own has the columns ``student_id`` (the identifier from which the personal numbers come),
``lms_id`` (what the learning platform calls the student; may be empty), ``name`` and, if wanted,
``also`` (further identifiers that a student may have typed or a folder may be called, separated by
spaces), ``group``, and ``submitted`` (when the notebook came).

Three exports are taken as they are, those of Moodle in English, German or French:

- the gradebook of Canvas (``lib/gradebook_exporter.rb`` of canvas-lms). It begins with Student, or
  with LastName and FirstName, then ID, SIS User ID unless those are left out, SIS Login ID and
  Section. Before the students come rows of hidden columns and of Points Possible, of which the
  first can be too long, and last comes a student for tests;
- the grading worksheet of a Moodle assignment (``mod/assign/gradingtable.php`` of moodle), with
  Identifier, Full name, Last modified (submission) and what the site shows of identities;
- the participants of a Moodle course (``user/action_redir.php``), with First name, Last name and
  the same. It has no number that Moodle's zips know.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grading.intake.csv_file import read_rows, wrong
from grading.intake.times import read_time
from grading.results import Student
from grading.safe_text import composed, name_words, platform_key, safe_name, shown
from grading.settings import Settings, in_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

COLUMNS = ("student_id", "lms_id", "name")
OPTIONAL = ("also", "group", "submitted")
PARTICIPANT = re.compile(r"(?:\D*\s|Participant|Teilnehmer/in)([0-9]+)")
"""``hiddenuser`` of Moodle's language packs, some of which have no space behind it."""
LONGEST_ID = 128
"""What nbgrader's gradebook has room for."""
UNMATCHED = "unmatched~"
"""Begins the identifier of whom the roster does not list; no roster can have one like it."""

CANVAS_IDS = ("SIS User ID", "SIS Login ID")
MOODLE_IDS = ("ID number", "Username", "Email address")
"""The columns that can say who somebody is, the best one first."""

CANVAS_TESTER = re.compile(r"[0-9a-f]{40}|")
"""What Canvas gives the student for tests as a login."""

WORKSHEET_TIME = "Last modified (submission)"
MOODLE_TITLES = {
    "Identifier": ("ID", "Identifiant"),
    "Full name": (
        *("User full name", "Vollständiger Name"),
        *("Nom complet", "Nom complet de l'utilisateur"),
    ),
    "First name": ("Vorname", "Prénom"),
    "Last name": ("Surname", "Nachname", "Nom de famille", "Nom"),
    "ID number": ("ID-Nummer", "Numéro d'identification"),
    "Username": ("Anmeldename", "Nom d'utilisateur"),
    "Email address": ("E-Mail-Adresse", "Adresse de courriel"),
    "Group": ("Gruppe", "Groupe"),
    "Groups": ("Gruppen", "Groupes"),
    "Grade": ("Bewertung", "Note"),
    "Maximum grade": ("Bestwertung", "Beste Bewertung", "Note maximale"),
    WORKSHEET_TIME: ("Zuletzt geändert (Abgabe)", "Dernière modification (travail remis)"),
}
"""The columns of Moodle's tables in English, as its newer versions write them, and elsewhere."""
NO_GROUP = {
    *("default group", "standard-gruppe", "standardgruppe", "groupe par défaut"),
    *("kein mitglied einer gruppe.", "membre d'aucun groupe ;", "mitglied in mehreren gruppen."),
    *("membre de plusieurs groupes ;",),
}
"""How Moodle begins to say that somebody is in no group, or in several."""


@dataclass(frozen=True)
class Sheet:
    """A platform's own table, kept so that it can be given back with marks in it."""

    platform: str  # ``Canvas`` or ``Moodle``
    header: list[str]
    columns: dict[str, int]  # where each column is, by its title in English
    rows: list[tuple[list[str], str | None]]  # the cells, and whose they are


@dataclass(frozen=True)
class _Entry:
    """A line of a roster, in whatever form."""

    line: int
    cells: list[str]
    ids: dict[str, str]  # by column, the best one first
    lms_id: str
    name: str
    also: tuple[str, ...] = ()
    group: str = ""
    submitted: str = ""


@dataclass(frozen=True)
class _File:
    """A roster as it was read, before anybody says which identifier counts."""

    path: Path
    platform: str  # empty for one's own
    header: list[str]
    columns: dict[str, int]  # where each column is, of Moodle's by its title in English
    entries: list[_Entry]
    others: dict[int, list[str]]  # lines that are nobody's


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
        self._rewritten: defaultdict[str, set[Student]] = defaultdict(set)
        self._lms: dict[str, Student] = {}
        self._participants: defaultdict[str, list[Student]] = defaultdict(list)
        self._names: defaultdict[tuple[str, ...], list[Student]] = defaultdict(list)
        self._together: defaultdict[str, list[Student]] = defaultdict(list)
        self._groups: dict[str, str] = {}
        self._members: defaultdict[str, list[Student]] = defaultdict(list)
        self.submitted: dict[str, datetime] = {}
        """When something came, in UTC, where the file says it."""
        self.notes: list[str] = []
        """What the file says of one student and cannot be read."""
        self.sheet: Sheet | None = None
        """The table of the platform, if the file is one."""
        for student in students:
            self.add(student)

    def add(self, student: Student, group: str = "") -> None:
        """Enter one more student, in a group if any; ValueError says why that fails."""
        if not student.student_id:
            raise ValueError("student_id is empty; every student needs one")
        if not student.student_id.isprintable() or student.student_id.startswith(UNMATCHED):
            raise ValueError(
                f"student_id {shown(student.student_id)!r} cannot be anybody's; wanted are "
                f"characters that can be seen, and another beginning than {UNMATCHED}"
            )
        if len(student.student_id) > LONGEST_ID:
            raise ValueError(
                f"student_id {shown(student.student_id, 40)!r} has {len(student.student_id)} "
                f"characters; wanted at most {LONGEST_ID}"
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
            for letters in _rotations(student.name):
                self._together[letters].append(student)
        if group:
            self._groups[student.student_id] = group
            self._members[platform_key(group)].append(student)

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
        for key in _rewritings(identifier):
            self._rewritten[key].add(student)

    def __iter__(self) -> Iterator[Student]:
        """Iterate over the students in the order of the file."""
        return iter(self._students)

    def __len__(self) -> int:
        """Return the number of students."""
        return len(self._students)

    def by_id(self, identifier: str) -> Student | None:
        """Return whose student_id or further identifier this is, in whatever case.

        A folder may be called after what `safe_name` or a platform makes of it.
        """
        identifier = composed(identifier.strip())
        exact = self._ids.get(identifier) or self._folded.get(identifier.casefold())
        if exact is not None:
            return exact
        found = set().union(*(self._rewritten.get(key, ()) for key in _rewritings(identifier)))
        return found.pop() if len(found) == 1 else None

    def by_lms_id(self, lms_id: str) -> Student | None:
        """Return whose lms_id this is.

        Moodle writes ``Participant 17`` in its tables and ``17`` in its zips; both are found.
        """
        lms_id = composed(lms_id.strip())
        if lms_id in self._lms:
            return self._lms[lms_id]
        found = self._participants.get(_participant(lms_id), [])
        return found[0] if len(found) == 1 else None

    def group_of(self, student_id: str) -> str:
        """Return the name of a student's group, or nothing."""
        return self._groups.get(student_id, "")

    def members(self, group: str) -> list[Student]:
        """Return who is in a group of this name, in the order of the file."""
        return list(self._members.get(platform_key(group), [])) if platform_key(group) else []

    def partners(self, student_id: str) -> list[str]:
        """Return the student_ids of everybody in a student's group, or of the student alone."""
        found = self.members(self.group_of(student_id))
        return [each.student_id for each in found] or [student_id]

    def by_name(self, name: str) -> Student | None:
        """Return who is called so, the words in any order, if that is one person only."""
        found = self.all_called(name)
        return found[0] if len(found) == 1 else None

    def all_called(self, name: str) -> list[Student]:
        """Return everybody who is called so, the words in any order."""
        return list(self._names.get(name_words(name), []))

    def all_run_together(self, name: str) -> list[Student]:
        """Return everybody who is called so, where blanks and punctuation are left out.

        Canvas writes the last name first.
        """
        return list(self._together.get(_together(name), [])) if _together(name) else []


def _together(name: str) -> str:
    """Return the letters and digits of a name."""
    return re.sub(r"[\W_]+", "", platform_key(name))


def _rotations(name: str) -> set[str]:
    """Return the letters of a name, begun at any of its words."""
    words = re.findall(r"\w+", platform_key(name))
    return {"".join(words[i:] + words[:i]) for i in range(len(words))}


def _rewritings(identifier: str) -> set[str]:
    """Return what a folder of this identifier may be called, without case."""
    return {safe_name(identifier).casefold(), platform_key(identifier)} - {""}


def _participant(lms_id: str) -> str:
    """Return the number of ``Participant 17``, and anything else as it is."""
    match = PARTICIPANT.fullmatch(lms_id)
    return match[1] if match else lms_id


def read_roster(path: Path, settings: Settings = Settings()) -> Roster:  # noqa: B008, it is frozen
    """Read the roster: one's own table, or an export of Canvas or Moodle as it is.

    It is CSV in UTF-8, with or without a byte order mark, separated by commas or semicolons. The
    first line names the columns; in one's own in any order and case. The settings say which column
    of an export is the ``student_id``, where the first that is filled in is not the right one. If
    the file is no such table, or two students cannot be told apart, a ValueError names the file,
    the line, what came and what is wanted.
    """
    file = _read(path)
    columns = _identifiers(file, settings)
    roster = Roster([])
    whose: dict[int, str | None] = dict.fromkeys(file.others)
    for entry in file.entries:
        column = next((each for each in columns if _cell(file, entry, each)), None)
        if column is None and file.platform:
            roster.notes.append(
                f"{path.name}, line {entry.line}: {' and '.join(columns)} of "
                f"{shown(entry.name) or 'somebody'} are empty; what came from this student waits"
            )
            whose[entry.line] = None
            continue
        column = column or columns[0]
        try:
            student = _student(file, entry, column)
            roster.add(student, entry.group)
        except ValueError as error:
            raise wrong(path, entry.line, str(error)) from None
        if column != columns[0]:
            roster.notes.append(
                f"{path.name}, line {entry.line}: {columns[0]} of {shown(entry.name)} is empty; "
                f"{column} identifies this student, {student.student_id}"
            )
        whose[entry.line] = student.student_id
        _note_time(roster, student, file, entry, settings)
    if file.platform:
        roster.sheet = _sheet(file, whose)
    return roster


def with_numbers(course: Roster, path: Path, settings: Settings) -> tuple[Roster, list[str]]:
    """Return the course's students with what the platform says of one problem set, and notes.

    The file is in any form of a roster. From it come the numbers that the platform gave the
    students there and, if it has them, the times and groups. A line belongs to whom one of its
    identifiers names in the course, or else its name, if one student only is called so; the notes
    name the lines that are nobody's. A ValueError if two lines are one student's.
    """
    file = _read(path)
    found: dict[str, _Entry] = {}
    whose: dict[int, str | None] = dict.fromkeys(file.others)
    notes = []
    for entry in file.entries:
        student = _known(course, entry)
        whose[entry.line] = student and student.student_id
        if student is None:
            who = shown(" ".join(filter(None, (entry.name, entry.lms_id))))
            notes.append(
                f"{path.name}, line {entry.line}: {who} is not on the roster of the course"
            )
        elif student.student_id in found:
            line = found[student.student_id].line
            raise wrong(path, entry.line, f"{student.student_id} came before, in line {line}")
        else:
            found[student.student_id] = entry
    roster = Roster([])
    for student in course:
        entry = found.get(student.student_id)
        group = (entry and entry.group) or course.group_of(student.student_id)
        numbered = replace(student, lms_id=entry.lms_id if entry else "")
        try:
            roster.add(numbered, group)
        except ValueError as error:
            raise wrong(path, entry.line if entry else 1, str(error)) from None
        if entry:
            _note_time(roster, student, file, entry, settings)
    if file.platform:
        roster.sheet = _sheet(file, whose)
    return roster, [*notes, *roster.notes]


def _known(course: Roster, entry: _Entry) -> Student | None:
    """Return who in the course a line of another table is about."""
    for identifier in (*entry.ids.values(), *entry.also):
        if identifier and (student := course.by_id(identifier)):
            return student
    return course.by_name(entry.name)


def _sheet(file: _File, whose: dict[int, str | None]) -> Sheet:
    """Return a platform's table with whose each line is."""
    cells = file.others | {entry.line: entry.cells for entry in file.entries}
    rows = [(cells[line], whose[line]) for line in sorted(cells)]
    return Sheet(file.platform, file.header, file.columns, rows)


def _read(path: Path) -> _File:
    """Read a roster in any of its forms."""
    rows = read_rows(path)
    first, header = next(rows, (1, []))
    header = [name.strip() for name in header]
    platform = _platform(header)
    columns = _columns(path, first, header, platform)
    entries, others = [], {}
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        entry = TAKE[platform](line, row, columns)
        if entry is None:
            others[line] = [*row, *[""] * len(header)][: len(header)]
        elif len(row) != len(header):
            raise wrong(path, line, f"{len(row)} cells came; wanted {len(header)}, as in line 1")
        else:
            entries.append(entry)
    if not entries:
        raise wrong(path, first, "no student came; wanted at least one line below the header")
    return _File(path, platform, header, columns, entries, others)


def _platform(header: list[str]) -> str:
    """Return whose form a table has, or nothing for one's own."""
    named = set(header)
    if {name.casefold() for name in header} & {"student_id", "lms_id"}:
        return ""
    if "ID" in named and named & {"Student", "LastName"} and named & {"Section", *CANVAS_IDS}:
        return "Canvas"
    known = {english for each in header if (english := _in_english(each))}
    return "Moodle" if known & {"Identifier", "Full name", "First name"} and len(known) > 1 else ""


def _in_english(title: str) -> str:
    """Return what a column of Moodle's is called in English, or nothing.

    Examples
    --------
    >>> _in_english("Maximum Grade"), _in_english("Numéro d’identification")
    ('Maximum grade', 'ID number')
    """
    title = _plain(title)
    return next(
        (
            english
            for english, others in MOODLE_TITLES.items()
            if title in (_plain(english), *map(_plain, others))
        ),
        "",
    )


def _plain(text: str) -> str:
    """Return a text without case and with apostrophes of one kind."""
    return composed(text).replace("\u2019", "'").strip().casefold()


def _columns(path: Path, line: int, header: list[str], platform: str) -> dict[str, int]:
    """Return where each column is; the first of a name counts."""
    if not platform:
        return _places(path, line, header)
    names = [_in_english(title) or title for title in header] if platform == "Moodle" else header
    return {name: place for place, name in reversed(list(enumerate(names)))}


def _cells(row: list[str], columns: dict[str, int]) -> defaultdict[str, str]:
    """Return the cells of a line by their columns."""
    named = {name: row[place] for name, place in columns.items() if place < len(row)}
    return defaultdict(str, named)


def _own_entry(line: int, row: list[str], columns: dict[str, int]) -> _Entry:
    """Return what a line of one's own table says."""
    cells = _cells(row, columns)
    return _Entry(
        line,
        row,
        {"student_id": cells["student_id"].strip()},
        cells["lms_id"],
        cells["name"],
        tuple(cells["also"].split()),
        shown(cells["group"]),
        cells["submitted"].strip(),
    )


def _canvas_entry(line: int, row: list[str], columns: dict[str, int]) -> _Entry | None:
    """Return what a line of Canvas's gradebook says, or None where it is no student's."""
    cells = _cells(row, columns)
    name = cells["Student"] or f"{cells['FirstName']} {cells['LastName']}".strip()
    ids = {column: cells[column].strip() for column in CANVAS_IDS if column in columns}
    if not cells["ID"].strip():  # hidden columns, and Points Possible
        return None
    if _is_tester(name, ids) and CANVAS_TESTER.fullmatch(ids.get("SIS Login ID", "")):
        return None
    group = cells["Group"] or cells["group"]
    return _Entry(line, row, ids, cells["ID"].strip(), name, group=shown(group))


def _is_tester(name: str, ids: dict[str, str]) -> bool:
    """Return whether a line may be that of Canvas's student for tests, who has no number."""
    return name_words(name) == ("student", "test") and not ids.get("SIS User ID")


def _moodle_entry(line: int, row: list[str], columns: dict[str, int]) -> _Entry:
    """Return what a line of Moodle's worksheet, or of its participants, says."""
    cells = _cells(row, columns)
    name = cells["Full name"] or f"{cells['First name']} {cells['Last name']}".strip()
    ids = {column: cells[column].strip() for column in MOODLE_IDS if column in columns}
    group = cells["Group"] or cells["Groups"] or cells["group"]
    submitted = cells[WORKSHEET_TIME].strip().removeprefix("-")
    # who is in several groups has none that a notebook could count for, and who is in none is in
    # what Moodle calls a group all the same
    none = "," in group or _plain(group).startswith(tuple(NO_GROUP))
    group = "" if none else shown(group)
    return _Entry(line, row, ids, cells["Identifier"], name, group=group, submitted=submitted)


TAKE: dict[str, Callable[[int, list[str], dict[str, int]], _Entry | None]] = {
    "": _own_entry,
    "Canvas": _canvas_entry,
    "Moodle": _moodle_entry,
}
"""What takes a line of a table, by whose form the table has."""


def _cell(file: _File, entry: _Entry, column: str) -> str:
    """Return what a line has in a column."""
    return entry.cells[file.columns[column]].strip()


def _identifiers(file: _File, settings: Settings) -> list[str]:
    """Return the columns that say who somebody is, the best one first.

    Canvas's student for tests is left out, as is whom no column identifies.
    """
    if not file.platform:
        return ["student_id"]
    known = list(file.entries[0].ids)
    wanted = settings.student_id or ""
    if file.platform == "Moodle":
        wanted = _in_english(wanted) or wanted
    if wanted and wanted not in file.columns:
        columns = ", ".join(file.header)
        raise wrong(
            file.path,
            1,
            f"no column {settings.student_id!r}, student_id of course.toml; got {columns}",
        )
    filled = [each for each in known if any(entry.ids[each] for entry in file.entries)]
    columns = list(dict.fromkeys(filter(None, [wanted, *filled])))
    if not columns:
        names = " or ".join(CANVAS_IDS if file.platform == "Canvas" else MOODLE_IDS)
        raise wrong(file.path, 1, f"nothing identifies the students; wanted a column {names}")
    for entry in list(file.entries):
        tests = file.platform == "Canvas" and _is_tester(entry.name, entry.ids)
        if tests and not _cell(file, entry, columns[0]) and len(file.entries) > 1:
            file.entries.remove(entry)
            file.others[entry.line] = entry.cells
    return columns


def _note_time(
    roster: Roster, student: Student, file: _File, entry: _Entry, settings: Settings
) -> None:
    """Write down when something came, where that can matter."""
    if not entry.submitted or not settings.has_due:
        return
    time = read_time(entry.submitted, settings.timezone)
    if time is None:
        wanted = "such as Friday, 20 November 2026, 11:59 PM, or 2026-11-20 23:59"
        roster.notes.append(
            f"{file.path.name}, line {entry.line}: when {student.student_id} handed in cannot be "
            f"read; {shown(entry.submitted)} came, wanted a time {wanted}, or one under submitted "
            "in course.toml"
        )
        return
    if time.tzinfo is None and settings.timezone is None:
        raise wrong(
            file.path,
            entry.line,
            f"{shown(entry.submitted)} came, in no time zone; say timezone in course.toml",
        )
    roster.submitted[student.student_id] = in_utc(time, settings.timezone)


def _places(path: Path, line: int, header: list[str]) -> dict[str, int]:
    """Return where each column is."""
    names = [name.strip().casefold() for name in header]
    came = shown(", ".join(names)) or "nothing"
    for name in COLUMNS:
        if name not in names:
            raise wrong(path, line, f"no column {name!r}; wanted {', '.join(COLUMNS)}; got {came}")
    for name in COLUMNS + OPTIONAL:
        if names.count(name) > 1:
            raise wrong(path, line, f"column {name!r} came twice; wanted once; got {came}")
    return {name: names.index(name) for name in COLUMNS + OPTIONAL if name in names}


def _student(file: _File, entry: _Entry, column: str) -> Student:
    """Return the student of one line, who is called as a column says."""
    own = composed(_cell(file, entry, column))
    others = [composed(each) for name, each in entry.ids.items() if name != column]
    return Student(
        student_id=own,
        lms_id=shown(entry.lms_id),
        name=shown(entry.name),
        also=(
            *(composed(each) for each in entry.also),
            *(each for each in others if each not in ("", own)),
        ),
    )
