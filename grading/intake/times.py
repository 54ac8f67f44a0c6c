"""Times as people, nbgrader and the platforms write them."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
"""The months of English, German and French."""
SHORTEST = 3
# ``strftimedaydatetime`` of Moodle's language packs: Friday, 20 November 2026, 11:59 PM;
# Friday, November 20, 2026, 11:59 PM; Freitag, 20. November 2026, 23:59;
# vendredi 20 novembre 2026, 23:59
IN_WORDS = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?"
    r"(?:(?P<day>\d{1,2})(?:\.|er|st|nd|rd|th)?\s+(?P<month>[^\W\d]+)\.?"
    r"|(?P<month_first>[^\W\d]+)\.?\s+(?P<day_second>\d{1,2}))"
    r",?\s+(?P<year>\d{4}),?\s+(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    r"(?:\s*(?P<half>[ap])\.?\s?m\.?)?",
    re.IGNORECASE,
)
ZONED = re.compile(r"(?P<time>.*\S)\s+(?P<zone>[+-]\d{2}(?::?\d{2})?|[A-Za-z][\w/+-]*)")
OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d{2})(?::?(?P<minutes>\d{2}))?")
HOURS = {
    **dict.fromkeys(("UTC", "GMT", "Z", "WET"), 0),
    **dict.fromkeys(("WEST", "CET"), 1),
    **dict.fromkeys(("CEST", "EET"), 2),
    "EEST": 3,
    "EDT": -4,
    **dict.fromkeys(("EST", "CDT"), -5),
    "MDT": -6,
    **dict.fromkeys(("MST", "PDT"), -7),
    "PST": -8,
}
"""Abbreviations of zones that mean one thing; others only the zone of the course can tell."""


def read_time(text: str, zone: ZoneInfo | None) -> datetime | None:
    """Return a time, or None where it cannot be read; without a zone of its own it has none.

    The `zone` of the course says what the abbreviation of a zone means.

    Examples
    --------
    >>> read_time("Friday, November 20, 2026, 11:59 PM", None).isoformat()
    '2026-11-20T23:59:00'
    >>> read_time("2026-07-01 12:00:00.5 CEST", None).isoformat()
    '2026-07-01T12:00:00.500000+02:00'
    """
    text = text.strip()
    if (found := _without_zone(text)) is not None:
        return found
    zoned = ZONED.fullmatch(text)
    local = zoned and _without_zone(zoned["time"])
    meant = local and _zone(zoned["zone"], local, zone)
    return local.replace(tzinfo=meant) if meant else None


def _without_zone(text: str) -> datetime | None:
    """Return a time in the form of ISO 8601 or in words, or None."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _in_words(text)


def _in_words(text: str) -> datetime | None:
    """Return a time that has the name of a month, or None."""
    found = IN_WORDS.fullmatch(text)
    month = found and _month(found["month"] or found["month_first"])
    if not month:
        return None
    day, hour, half = int(found["day"] or found["day_second"]), int(found["hour"]), found["half"]
    if half:
        hour = hour % 12 + 12 * (half in "pP") if 1 <= hour <= 12 else -1
    try:
        second = int(found["second"] or 0)
        return datetime(int(found["year"]), month, day, hour, int(found["minute"]), second)  # noqa: DTZ001
    except ValueError:
        return None


def _month(word: str) -> int | None:
    """Return the number of a month, of which at least three letters came.

    Examples
    --------
    >>> [_month(word) for word in ("Nov", "Dez", "août", "jui", "Friday")]
    [11, 12, 8, None, None]
    """
    word = _plain(word)
    found = {
        number
        for names in MONTHS
        for number, name in enumerate(_plain(names).split(), 1)
        if name.startswith(word)
    }
    return found.pop() if len(word) >= SHORTEST and len(found) == 1 else None


def _plain(text: str) -> str:
    """Return letters without case and accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


def _zone(name: str, local: datetime, course: ZoneInfo | None) -> tzinfo | None:
    """Return what a zone is called that stands behind a time, or None."""
    if found := OFFSET.fullmatch(name):
        size = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        return timezone(-size if found["sign"] == "-" else size) if size.days < 1 else None
    # the hour that comes twice in autumn, and what the zone is called in winter and in summer
    times = [local, local.replace(fold=1), *(local.replace(month=each, day=1) for each in (1, 7))]
    for each in (time.replace(tzinfo=course) for time in times if course):
        if (each.tzname() or "").casefold() == name.casefold():
            return timezone(each.utcoffset() or timedelta(0))
    if name.upper() in HOURS:
        return timezone(timedelta(hours=HOURS[name.upper()]))
    try:
        return ZoneInfo(name) if "/" in name else None
    except (KeyError, OSError, ValueError):  # the first for what is no time zone
        return None
