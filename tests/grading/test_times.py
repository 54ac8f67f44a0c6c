from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from grading.intake.times import read_time

BERLIN, LONDON, KOLKATA = map(ZoneInfo, ("Europe/Berlin", "Europe/London", "Asia/Kolkata"))


@pytest.mark.parametrize(
    "text",
    [
        "Friday, 20 November 2026, 11:59 PM",  # Moodle in English
        "Friday, 20 November 2026, 11:59\N{NARROW NO-BREAK SPACE}PM",
        "Friday, November 20, 2026, 11:59 PM",  # in that of the US
        "November 20 2026, 11:59 PM",
        "Freitag, 20. November 2026, 23:59",
        "vendredi 20 novembre 2026, 23:59",
        "20 November 2026, 23:59",
        "2026-11-20 23:59",
        "2026-11-20T23:59:00",
    ],
)
def test_a_time_is_read_in_the_forms_of_the_platforms(text):
    assert read_time(text, BERLIN) == datetime(2026, 11, 20, 23, 59)  # noqa: DTZ001, it has no zone


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        # nbgrader's own default, and what its option for the time zone makes of it
        ("2026-11-20 23:59:00.250000 UTC", None, datetime(2026, 11, 20, 23, 59, 0, 250000)),  # noqa: DTZ001
        ("2026-11-20 23:59:00 +0200", None, datetime(2026, 11, 20, 21, 59)),  # noqa: DTZ001
        ("2026-11-20 23:59:00 -03:30", None, datetime(2026, 11, 21, 3, 29)),  # noqa: DTZ001
        ("2026-07-20 23:59:00 CEST", BERLIN, datetime(2026, 7, 20, 21, 59)),  # noqa: DTZ001
        ("2026-07-20 23:59:00 CEST", None, datetime(2026, 7, 20, 21, 59)),  # noqa: DTZ001
        ("2026-11-20 23:59:00 CET", BERLIN, datetime(2026, 11, 20, 22, 59)),  # noqa: DTZ001
        # the hour that comes twice
        ("2026-10-25 02:30:00 CEST", BERLIN, datetime(2026, 10, 25, 0, 30)),  # noqa: DTZ001
        ("2026-10-25 02:30:00 CET", BERLIN, datetime(2026, 10, 25, 1, 30)),  # noqa: DTZ001
        # what means several things means that of the course
        ("2026-07-20 12:00:00 IST", KOLKATA, datetime(2026, 7, 20, 6, 30)),  # noqa: DTZ001
        ("2026-07-20 12:00:00 BST", LONDON, datetime(2026, 7, 20, 11)),  # noqa: DTZ001
        ("2026-07-20 12:00:00 EDT", None, datetime(2026, 7, 20, 16)),  # noqa: DTZ001
        ("2026-07-20 12:00:00 Europe/Berlin", None, datetime(2026, 7, 20, 10)),  # noqa: DTZ001
    ],
)
def test_a_time_is_read_with_its_zone(text, zone, utc):
    assert read_time(text, zone) == utc.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "20/11/2026 10:00", "31 February 2026, 10:00 AM", "13:14 PM"),
        *("10 June 2026, 13:14 PM", "2026-07-20 12:00:00 IST", "2026-07-20 12:00:00 Nowhere/At"),
        "20 Jui 2026, 10:00",  # two months of French begin so
    ],
)
def test_what_could_be_another_time_is_none(text):
    assert read_time(text, None) is None
