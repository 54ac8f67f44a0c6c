"""What a course folder holds is for its owner alone, and what students wrote is text in it."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pytest

from grading.course import export, grade
from grading.private import close_course
from grading.sandbox.sandbox import Execute, run
from tests.grading.small_class import TINY, Class

FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "＝1+1")


def open_to_others(folder: Path) -> list[str]:
    """Return what somebody else can read or go into below a folder."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077
        and not any(
            not stat.S_IMODE(above.stat().st_mode) & 0o077
            for above in path.parents
            if above.is_relative_to(folder)
        )
    ]


@pytest.mark.parametrize("existed", [True, False])
def test_a_course_folder_is_for_its_owner(tmp_path: Path, existed: bool) -> None:
    few = Class(tmp_path, 1)
    if existed:
        few.out.mkdir(mode=0o755)
        few.out.chmod(0o755)
        # as an earlier version left it
        (few.out / "feedback" / "s1").mkdir(parents=True)
        (few.out / "grades.csv").write_text("")
        (few.out / "gradebook.db").touch()
        for path in few.out.iterdir():
            path.chmod(0o755 if path.is_dir() else 0o644)
    grade(few.order(workers=1))
    export(few.out, few.roster, source=TINY)
    assert {"grades.csv", "gradebook.db"} <= {path.name for path in few.out.iterdir()}
    assert open_to_others(few.out) == []
    mode = stat.S_IMODE(few.out.stat().st_mode)
    assert mode == (0o755 if existed else 0o700)


def test_a_link_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.csv"
    target.write_text("")
    target.chmod(0o644)
    out = tmp_path / "out"
    out.mkdir()
    (out / "x.csv").symlink_to(target)
    close_course(out)
    assert stat.S_IMODE(target.stat().st_mode) == 0o644


def test_the_line_that_started_the_machine_is_not_there() -> None:
    found = run([Execute("a", "print(repr(open('/proc/cmdline').read()))")])
    assert found.outputs["a"][0]["ename"] == "PermissionError"
    assert Path("/proc/cmdline").read_text()


def test_what_students_wrote_is_text_in_every_table(tmp_path: Path) -> None:
    few = Class(tmp_path, 3)
    names = "\n".join(f's{i},,"{name}"' for i, name in enumerate(FORMULAS[:3], 1))
    few.roster.write_text(f"student_id,lms_id,name\n{names}\n", encoding="utf-8")
    grade(few.order(workers=1))
    few.enter("s1", "q4", 1, FORMULAS[0])
    for _ in range(2):
        export(few.out, few.roster, source=TINY)
        for path in few.out.glob("*.csv"):
            text = path.read_text(encoding="utf-8-sig")
            cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
            wrong = [cell for cell in cells if cell.startswith(FORMULAS) and cell != "-"]
            assert wrong == [], path.name
    assert "'=1+1" in (few.out / "grades.csv").read_text(encoding="utf-8-sig")
