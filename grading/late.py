"""Late work: when something came, by how much that is late, and what it costs.

Nothing of it is a mark. The gradebook keeps what was earned and when the notebook came; lateness
is worked out whenever a table or a page is written, so that another due date or an extension in
``course.toml`` needs no new marking.

A grading worksheet of Moodle says when something came. Canvas writes ``_LATE`` into the names of
its download (``get_filename`` in ``lib/content_zipper.rb`` of canvas-lms) and never the time.
Nothing is concluded from the dates inside zips: Canvas and Moodle pack when the instructor
downloads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zoneinfo import ZoneInfo

    from grading.settings import Rules

DAY = timedelta(days=1)
ON_TIME = timedelta(0)


@dataclass(frozen=True)
class Receipt:
    """What is known of when a notebook came."""

    assignment: str
    student_id: str
    submitted: datetime | None = None  # in UTC
    is_late: bool | None = None  # what the platform says; None where it does not say
    origin: str = ""  # what the platform calls the file, or empty
    content: str = ""  # SHA-256 of the notebook


@dataclass(frozen=True)
class Late:
    """By how much a notebook is late, and what that costs."""

    submitted: datetime | None  # in UTC, or None where only the platform's word is known
    by: timedelta | None  # how long after the due date; None where nothing tells
    deduction: float | None  # None where an instructor has to decide
    why: str = ""  # for the student and the instructor; empty where it is not late


def earliest(before: Receipt | None, now: Receipt) -> Receipt:
    """Return the receipt that counts: the same bytes sent again do not make anybody late.

    Examples
    --------
    >>> first = Receipt("one", "s1", datetime(2026, 11, 20), content="a")
    >>> again = replace(first, submitted=datetime(2026, 11, 25))
    >>> earliest(first, again).submitted.day, earliest(first, replace(again, content="b")) is first
    (20, False)
    """
    if before is None or before.content != now.content or not now.content:
        return now
    times = [each.submitted for each in (before, now) if each.submitted is not None]
    said = {before.is_late, now.is_late} - {None}
    return replace(now, submitted=min(times, default=None), is_late=min(said, default=None))


def lateness(
    receipt: Receipt, rules: Rules, students: Sequence[str], points: float, maximum: float
) -> Late | None:
    """Return by how much a notebook is late and what that costs, or None where nothing is due.

    The `students` are those for whom it counts, more than one in a group: the latest of their
    extensions holds for all. Within the grace nobody is late; after it, time counts from the due
    date. No more is taken than was earned.

    Examples
    --------
    >>> from datetime import UTC
    >>> from grading.settings import Rules
    >>> rules = Rules(datetime(2026, 11, 20, 12, tzinfo=UTC), timedelta(minutes=15), 0.1)
    >>> came = Receipt("one", "s1", datetime(2026, 11, 21, 15, tzinfo=UTC))
    >>> print(lateness(came, rules, ["s1"], 18, 20).why)
    handed in 1 day 3 h late, with 15 min of grace: 4 points off
    """
    if rules.due is None:
        return None
    own = [rules.extensions[each] for each in students if each in rules.extensions]
    due = max(own, default=rules.due)
    settled = [rules.submitted[each] for each in students if each in rules.submitted]
    came = min(settled) if settled else receipt.submitted
    if came is None:
        return _without_time(receipt, rules, points, maximum)
    by = max(ON_TIME, came - due)
    if by <= rules.grace:
        return Late(came, ON_TIME, 0.0)
    off = _deduction(by / DAY, rules, points, maximum)
    grace = rules.grace // timedelta(minutes=1)
    allowed = f", with {grace} min of grace" if grace else ""
    return Late(came, by, off, f"handed in {duration(by)} late{allowed}: {_off(off)}")


def _without_time(receipt: Receipt, rules: Rules, points: float, maximum: float) -> Late:
    """Return what follows from the platform's word alone."""
    if not receipt.is_late:
        return Late(None, None if receipt.is_late is None else ON_TIME, 0.0)
    if rules.late_without_time is None:
        return Late(None, None, None, "handed in late; how late is not known yet")
    off = _deduction(rules.late_without_time, rules, points, maximum)
    counts = f"counts as {_days(rules.late_without_time)} late"
    return Late(None, None, off, f"handed in late, and {counts}: {_off(off)}")


def _deduction(days: float, rules: Rules, points: float, maximum: float) -> float:
    """Return the points that lateness takes."""
    if rules.penalty is None:
        off = min(math.ceil(days) * rules.per_day, rules.most) * maximum
    else:
        off = rules.penalty(days, points, maximum)
        if isinstance(off, bool) or not isinstance(off, (int, float)) or not 0 <= off < math.inf:
            raise ValueError(
                f"penalty(days={days:g}, points={points:g}, maximum={maximum:g}) must return a "
                f"number of points from 0 on; got {off!r}"
            )
    return float(min(off, points))


def duration(time: timedelta) -> str:
    """Return how long something took, as people say it.

    Examples
    --------
    >>> duration(timedelta(days=1, hours=3, minutes=12)), duration(timedelta(seconds=90))
    ('1 day 3 h', '1 min')
    >>> duration(timedelta(days=1, minutes=12)), duration(timedelta(days=1))
    ('1 day 12 min', '1 day')
    """
    hours, minutes = divmod(time % DAY // timedelta(minutes=1), 60)
    if time >= DAY:
        # the next day has begun, and has its own penalty
        begun = f"{hours} h" if hours else f"{minutes} min" if minutes else "and a little"
        return _days(time // DAY) + (f" {begun}" if time % DAY else "")
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{minutes} min" if minutes else "less than 1 min"


def _days(days: float) -> str:
    """Return a number of days."""
    return f"{days:g} day" if days == 1 else f"{days:g} days"


def _off(points: float) -> str:
    """Return what is taken off."""
    number = f"{round(points, 4):g}"
    return f"{number} point off" if number == "1" else f"{number} points off"


def local(time: datetime, timezone: ZoneInfo | None) -> str:
    """Return a time for people.

    Examples
    --------
    >>> from datetime import UTC
    >>> local(datetime(2026, 11, 20, 12, tzinfo=UTC), None)
    '2026-11-20 12:00'
    """
    return f"{time.astimezone(timezone) if timezone else time:%Y-%m-%d %H:%M}"


def in_words(late: Late | None) -> str:
    """Return in a word or two by how much something is late.

    Examples
    --------
    >>> in_words(Late(None, None, None, "handed in late")), in_words(Late(None, None, 0.0))
    ('yes', 'unknown')
    """
    if late is None:
        return ""
    if late.by is None:
        return "yes" if late.why else "unknown"
    return duration(late.by) if late.by else "no"
