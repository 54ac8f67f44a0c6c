"""What an instructor settles for a course: ``course.toml`` in the folder of the results.

    timezone = "Europe/Berlin"              # of every time without an offset
    student_id = "SIS Login ID"             # the column of a platform's export; see `roster`

    [problem_set_1]
    due = 2026-11-20T23:59:00
    grace_minutes = 15                      # nobody is late before they are over
    penalty_per_day = 0.1                   # share of the maximum for each day begun
    most_penalty = 0.5                      # and the most that it takes
    penalty = "penalty.py"                  # in place of both: see `PENALTY`
    late_without_time = 1                   # days, where a platform says late and not since when
    canvas = "Problem Set 1 (12345)"        # the title of the column in Canvas
    roster = "worksheet-1.csv"              # Moodle's numbers and times of this one
    groups = true                           # one notebook counts for the whole group
    missing = 0                             # points that count for whoever handed in nothing

    [problem_set_1.extensions]              # somebody's own due date
    s2400001 = 2026-11-22T23:59:00

    [problem_set_1.submitted]               # when something came, whatever else says
    s2400002 = 2026-11-20T23:50:00

    [problem_set_1.points]                  # points that count, whatever was earned
    s2400003 = 0

All of it may be absent, as may the file. Paths are those beside the file.
"""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from grading.safe_text import shown

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

FILE = "course.toml"
PENALTY = "penalty"
"""The function of `penalty.py`: ``penalty(days, points, maximum)`` returns the points to take off.

``days`` is a fraction such as 1.25, ``points`` what was earned, ``maximum`` the most there is."""
KEYS = (
    *("due", "grace_minutes", "penalty_per_day", "most_penalty", "penalty", "late_without_time"),
    *("canvas", "roster", "groups", "missing", "extensions", "submitted", "points"),
)


@dataclass(frozen=True)
class Rules:
    """What holds for one problem set."""

    due: datetime | None = None  # in UTC, as are all times here
    grace: timedelta = timedelta(0)
    per_day: float = 0.0  # share of the maximum for each day begun
    most: float = 1.0  # the largest share of the maximum that lateness takes
    penalty: Callable[[float, float, float], float] | None = None  # in place of the two
    late_without_time: float | None = None  # days
    canvas: str | None = None
    roster: Path | None = None
    groups: bool = False
    missing: float | None = None
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    submitted: Mapping[str, datetime] = field(default_factory=dict)
    points: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """What holds for a course."""

    timezone: ZoneInfo | None = None
    student_id: str | None = None  # the column that holds the students' identifiers
    rules: Mapping[str, Rules] = field(default_factory=dict)

    @property
    def has_due(self) -> bool:
        """Return whether anything can be late."""
        return any(each.due is not None for each in self.rules.values())

    @property
    def has_final(self) -> bool:
        """Return whether other points can count than were earned."""
        rules = self.rules.values()
        return self.has_due or any(each.points or each.missing is not None for each in rules)

    def of(self, assignment: str) -> Rules:
        """Return what holds for a problem set; without a table of its own, nothing does."""
        return self.rules.get(assignment, Rules())


def read_settings(out: Path, assignments: Collection[str]) -> Settings:
    """Read ``course.toml`` in the folder of the results, if there is one.

    `assignments` are the problem sets that there are. A ValueError names the file, the key, what
    came and what is wanted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as out:
    ...     path = Path(out, FILE)
    ...     _ = path.write_text("[one]" + chr(10) + "due = 2026-11-20T23:59:00Z")
    ...     print(read_settings(Path(out), ["one"]).of("one").due)
    2026-11-20 23:59:00+00:00
    """
    path = out / FILE
    if not path.exists():
        return Settings()
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML in UTF-8: {error}") from None
    top = _Table(path, "", raw, None)
    name = top.take("timezone", str, 'the name of a time zone, such as "Europe/Berlin"')
    top.timezone = timezone = None if name is None else _timezone(top, name)
    student_id = top.take("student_id", str, "the title of a column of the roster")
    rules = {}
    for assignment in assignments:
        table = top.take(assignment, dict, "a table, such as [problem_set_1]")
        if table is not None:
            rules[assignment] = _rules(_Table(path, f"{assignment}.", table, timezone))
    top.finish(["timezone", "student_id", *assignments])
    return Settings(timezone, student_id, rules)


class _Table:
    """A table of the file, of which keys are taken one by one."""

    def __init__(
        self, path: Path, prefix: str, values: dict[str, Any], timezone: ZoneInfo | None
    ) -> None:
        self.path, self.prefix, self.timezone = path, prefix, timezone
        self._values = dict(values)

    def wrong(self, key: str, came: object, wanted: str) -> ValueError:
        """Return an error that says where it is."""
        return ValueError(
            f"{self.path}: {shown(self.prefix + key)} must be {wanted}; got {shown(str(came))}"
        )

    def take(self, key: str, kind: type | tuple[type, ...], wanted: str) -> Any:
        """Return a value of a kind, or None where there is none."""
        value = self._values.pop(key, None)
        is_flag = isinstance(value, bool) and kind is not bool
        if value is not None and (is_flag or not isinstance(value, kind)):
            raise self.wrong(key, value, wanted)
        return value

    def number(self, key: str, most: float = float("inf")) -> float | None:
        """Return a number from 0 on."""
        wanted = "a number from 0 on" if most == float("inf") else f"a number from 0 to {most:g}"
        value = self.take(key, (int, float), wanted)
        if value is not None and not 0 <= value <= most:
            raise self.wrong(key, value, wanted)
        return value

    def time(self, key: str) -> datetime | None:
        """Return a time in UTC."""
        value = self.take(key, datetime, "a date and a time, such as 2026-11-20T23:59:00")
        if value is not None and value.tzinfo is None and self.timezone is None:
            wanted = "a time with its offset, or timezone must be there"
            raise self.wrong(key, value.isoformat(), wanted)
        return value and in_utc(value, self.timezone)

    def times(self, key: str) -> dict[str, datetime]:
        """Return a time in UTC for each student of a table."""
        below = self.take(key, dict, f"a table, such as [{self.prefix}{key}]") or {}
        table = _Table(self.path, f"{self.prefix}{key}.", below, self.timezone)
        return {student: table.time(student) for student in below}

    def numbers(self, key: str) -> dict[str, float]:
        """Return a number from 0 on for each student of a table."""
        below = self.take(key, dict, f"a table, such as [{self.prefix}{key}]") or {}
        table = _Table(self.path, f"{self.prefix}{key}.", below, self.timezone)
        return {student: table.number(student) for student in below}

    def finish(self, known: list[str]) -> None:
        """Refuse what nobody took."""
        for key in self._values:
            what = shown(self.prefix + key)
            raise ValueError(f"{self.path}: {what} is no key; wanted one of {', '.join(known)}")


def _timezone(table: _Table, name: str) -> ZoneInfo:
    """Return the time zone of a name."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # what is no time zone, and what is no name
        raise table.wrong("timezone", name, 'the name of one, such as "Europe/Berlin"') from None


def _rules(table: _Table) -> Rules:
    """Return what the table of a problem set says."""
    due, grace = table.time("due"), table.number("grace_minutes") or 0
    per_day, most = table.number("penalty_per_day", 1), table.number("most_penalty", 1)
    file = table.take("penalty", str, "the name of a file of Python beside this one")
    if file is not None and (per_day is not None or most is not None):
        wanted = "absent where penalty_per_day or most_penalty is there"
        raise table.wrong("penalty", file, wanted)
    roster = table.take("roster", str, "the name of a file beside this one")
    rules = Rules(
        due,
        timedelta(minutes=grace),
        per_day or 0.0,
        1.0 if most is None else most,
        None if file is None else _penalty(table, file),
        table.number("late_without_time"),
        table.take("canvas", str, "the title of the column in Canvas"),
        None if roster is None else table.path.parent / roster,
        table.take("groups", bool, "true or false") or False,
        table.number("missing"),
        table.times("extensions"),
        table.times("submitted"),
        table.numbers("points"),
    )
    table.finish(list(KEYS))
    if rules.due is None and (grace or per_day or most or file or rules.extensions):
        raise table.wrong("due", "nothing", "a date and a time, where lateness is to cost points")
    return rules


def _penalty(table: _Table, name: str) -> Callable[[float, float, float], float]:
    """Return the instructor's own function."""
    path = table.path.parent / name
    if not path.is_file():
        raise table.wrong("penalty", name, f"a file in {table.path.parent}")
    found = runpy.run_path(str(path)).get(PENALTY)
    if not callable(found):
        raise table.wrong(
            "penalty", name, f"a file with a function {PENALTY}(days, points, maximum)"
        )
    return found


def in_utc(value: datetime, timezone: ZoneInfo | None) -> datetime:
    """Return a time in UTC, by the time zone where it has no offset of its own.

    Only so is the difference of two times what passed between them, also where clocks change.

    Examples
    --------
    >>> in_utc(datetime(2026, 10, 25, 12), ZoneInfo("Europe/Berlin")).isoformat()
    '2026-10-25T11:00:00+00:00'
    """
    return (value if value.tzinfo else value.replace(tzinfo=timezone)).astimezone(UTC)
