"""course.toml: what it says is taken as it is meant, and what is wrong in it is named."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grading.settings import Rules, read_settings
from tests.book.notebooks import ROOT

SETS = ["one", "two"]


def written(folder: Path, text: str) -> Path:
    (folder / "course.toml").write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_nothing_is_due(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, SETS)
    assert settings.of("one") == Rules()
    assert not settings.has_due


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    settings = read_settings(
        written(
            tmp_path,
            """
timezone = "Europe/Berlin"
student_id = "SIS Login ID"
[one]
due = 2026-07-01T23:59:00
grace_minutes = 15
penalty_per_day = 0.1
most_penalty = 0.5
late_without_time = 2
canvas = "One (12)"
roster = "worksheet.csv"
groups = true
missing = 0
[one.extensions]
s1 = 2026-12-01T12:00:00
[one.submitted]
s2 = 2026-07-01T23:59:00-04:00
[one.points]
s3 = 1.5
""",
        ),
        SETS,
    )
    # by hand: Berlin is two hours before UTC in summer and one in winter
    assert settings.of("one") == Rules(
        datetime(2026, 7, 1, 21, 59, tzinfo=UTC),
        timedelta(minutes=15),
        0.1,
        0.5,
        None,
        2,
        "One (12)",
        tmp_path / "worksheet.csv",
        True,
        0,
        {"s1": datetime(2026, 12, 1, 11, tzinfo=UTC)},
        {"s2": datetime(2026, 7, 2, 3, 59, tzinfo=UTC)},
        {"s3": 1.5},
    )
    assert settings.student_id == "SIS Login ID"
    assert settings.of("two") == Rules()
    assert settings.has_due


DUE = "[one]\ndue = 2026-07-01T23:59:00Z\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[one", "is not TOML in UTF-8"),
        ('timezone = "Berlin"', "timezone must be the name of one, such as .*; got Berlin$"),
        ('timezone = "../x"', "timezone must be the name of one"),
        ("timezone = 1", "timezone must be the name of a time zone, .*; got 1"),
        ("[three]\n", "three is no key; wanted one of timezone, student_id, one, two"),
        ("one = 3", r"one must be a table, such as \[problem_set_1\]; got 3"),
        (DUE + "grace = 3", "one.grace is no key; wanted one of due, grace_minutes, "),
        ("[one]\ndue = 2026-07-01", "one.due must be a date and a time, .*; got 2026-07-01"),
        ('[one]\ndue = "tomorrow"', "one.due must be a date and a time, .*; got tomorrow"),
        (
            "[one]\ndue = 2026-07-01T23:59:00",
            "one.due must be a time with its offset, or timezone must be there; got 2026-07-01T23",
        ),
        (DUE + "grace_minutes = -1", "one.grace_minutes must be a number from 0 on; got -1"),
        (DUE + "penalty_per_day = 10", "one.penalty_per_day must be a number from 0 to 1; got 10"),
        (DUE + "penalty_per_day = true", "one.penalty_per_day must be a number .*; got True"),
        (DUE + "most_penalty = nan", "one.most_penalty must be a number from 0 to 1; got nan"),
        (DUE + "groups = 1", "one.groups must be true or false; got 1"),
        (DUE + 'penalty = "no.py"', "one.penalty must be a file in .*; got no.py"),
        (DUE + 'penalty = "bad.py"', r"one.penalty must be a file with a function penalty\(days"),
        (
            DUE + 'penalty = "bad.py"\nmost_penalty = 0.5',
            "one.penalty must be absent where .*; got bad.py",
        ),
        (DUE + "[one.extensions]\ns1 = 3", "one.extensions.s1 must be a date and a time"),
        ("[one]\npenalty_per_day = 0.1", "one.due must be a date and a time, where lateness"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("penalty = 3")
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path))}/course.toml.* {words}"):
        read_settings(written(tmp_path, text.replace("\\n", "\n")), SETS)


def test_a_function_of_the_instructor(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def penalty(days, points, maximum):\n    return days * 3\n")
    rules = read_settings(written(tmp_path, DUE + 'penalty = "mine.py"'), SETS).of("one")
    assert rules.penalty is not None
    assert rules.penalty(1.5, 10, 20) == 4.5


def test_what_the_readme_shows_is_taken(tmp_path: Path) -> None:
    readme = (ROOT / "grading" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```toml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    found = [
        read_settings(written(tmp_path, block), ["problem_set_1"]).of("problem_set_1")
        for block in blocks
    ]
    assert found[0].roster == tmp_path / "worksheet-1.csv"
    assert found[1].canvas == "Homework on scaling (12345)"
    assert found[2].due == datetime(2026, 11, 20, 22, 59, tzinfo=UTC)
    assert (found[2].per_day, found[2].most, found[2].late_without_time) == (0.1, 0.5, 1)
    assert found[3].groups
    (function,) = re.findall(r"^```\n(def penalty.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.py").write_text(function)
    rules = read_settings(written(tmp_path, DUE + 'penalty = "mine.py"'), SETS).of("one")
    assert rules.penalty is not None
    assert rules.penalty(1.5, 10, 20) == 3
