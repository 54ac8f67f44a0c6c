"""A dry run says what a run would do, and neither runs nor writes anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading import __main__ as command
from grading.course import grade
from grading.dry_run import dry_run
from grading.intake.collection import PERHAPS
from grading.marking import running
from grading.sandbox import sandbox
from tests.grading.small_class import Class

SETTINGS = """
[tiny]
due = 2026-11-20T23:00:00Z
penalty_per_day = 0.1
[tiny.submitted]
s1 = 2026-11-21T10:00:00Z
"""


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def section(said: str, heading: str) -> list[str]:
    """Return the lines below a heading."""
    lines = said.splitlines()
    below = lines[lines.index(heading) + 1 :]
    end = next(i for i, line in enumerate(below) if not line.startswith("  "))
    return [line.strip() for line in below[:end]]


@pytest.fixture
def few(tmp_path: Path) -> Class:
    """Right, of somebody else's number, no notebook at all, a stranger's, and nothing."""
    few = Class(tmp_path, 4)
    few.hand_in("s2", typed="s9")
    few.path("s3").write_text("no notebook")
    few.path("s4").unlink()
    few.hand_in("s8")
    few.out.mkdir()
    (few.out / "course.toml").write_text(SETTINGS, encoding="utf-8")
    return few


def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((running, "run"), (sandbox, "why_unavailable")):

        def refuse(*_: object, what: str = name) -> None:
            raise AssertionError(f"{what} was called")

        monkeypatch.setattr(module, name, refuse)


@pytest.mark.usefixtures("_tiny", "_idle")
def test_it_says_who_is_matched_who_waits_and_why(
    few: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing_runs(monkeypatch)
    before = contents(few.submissions.parent)
    assert command.main([*few.arguments(), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert contents(few.submissions.parent) == before
    assert section(said, "tiny, would be marked:") == ["s1 (s1 Example): s1/tiny.ipynb"]
    waits = section(said, "tiny, would wait for you:")
    assert [line.split(" (")[0] for line in waits] == ["s2", "unmatched~s8"]
    assert "the notebook says s9: whose personal numbers are these?" in waits[0]
    assert waits[1].endswith("s8 is not on the roster")
    (invalid,) = section(said, "tiny, cannot be marked:")
    assert invalid.startswith("s3 (s3 Example): the file is not JSON")
    assert section(said, "tiny, missing:") == [f"s4 (s4 Example): {PERHAPS} s8/tiny.ipynb"]
    late = section(said, "tiny, late, and what that would cost at most:")
    assert late == ["s1: handed in 11 h late: 1 point off"]
    assert "tiny: 5 students\n       1 would be marked\n" in said


@pytest.mark.proof("redteam")
def test_it_says_what_would_be_marked_again(few: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    few.hand_in("s2")
    few.hand_in("s3")
    grade(few.order())
    few.hand_in("s2", q1="variance = -1.0")
    few.hand_in("s4")
    before = contents(few.submissions.parent)
    with monkeypatch.context() as patch:
        nothing_runs(patch)
        said = dry_run(few.order())
        again = dry_run(few.order(remark=frozenset({"all"})))
    assert contents(few.submissions.parent) == before
    heading = "would be marked again, as the notebook or the roster changed, or you ask for it"
    assert section(said, f"tiny, {heading}:") == ["s2 (s2 Example): s2/tiny.ipynb"]
    assert section(said, "tiny, would be marked:") == ["s4 (s4 Example): s4/tiny.ipynb"]
    unchanged = section(said, "tiny, marked before, and nothing has changed:")
    assert [line[:2] for line in unchanged] == ["s1", "s3"]
    assert [line[:2] for line in section(again, f"tiny, {heading}:")] == ["s1", "s2", "s3"]
    assert len(section(again, "tiny, would be marked:")) == 1
    # and it is right
    summary = grade(few.order())
    assert "4 graded" in summary
