"""The commands: what they refuse, what they do again, and that no interruption costs a mark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from grading import __main__ as command
from grading import course
from grading.course import Order, grade
from grading.marking import distribute
from grading.problem_set import problem_sets
from grading.release import worked
from grading.sandbox import sandbox
from tests.book.notebooks import ROOT
from tests.grading.small_class import FULL, TINY, Class, assert_row

NOTHING = {"q1": "", "q2": "", "q3": "", "q4": "", "total": ""}
# a run of its own, so that it can be killed; it is given folder, roster and results
RUN = """
import sys
from pathlib import Path
from grading.course import Order, grade
submissions, roster, out, source = map(Path, sys.argv[1:])
print(grade(Order(submissions, out, roster, source=source, workers=2)))
"""


@pytest.fixture
def few(tmp_path: Path) -> Class:
    return Class(tmp_path, 3)


class TestRefusals:
    """Exit status 2, one clear line, and nothing written."""

    @pytest.fixture(autouse=True)
    def _nothing_runs(self, _tiny: None, _idle: None) -> None:
        """Use the tiny problem set, and let nothing run."""

    def refused(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
        """Return what a refused command says."""
        assert command.main(arguments) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "Traceback" not in said.err
        return said.err

    @pytest.mark.parametrize("name", ["submissions", "out"])
    def test_an_option_that_is_missing_is_named(
        self, name: str, few: Class, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = few.arguments()
        place = arguments.index(f"--{name}")
        del arguments[place : place + 2]
        said = self.refused(arguments, capsys)
        assert said == f"{name.upper()} is missing: make grade {name.upper()}=...\n"
        assert not few.out.exists()

    @pytest.mark.parametrize("name", ["out", "roster"])
    def test_an_export_says_what_it_needs(
        self, name: str, few: Class, capsys: pytest.CaptureFixture[str]
    ) -> None:
        given = {"out": str(few.out), "roster": str(few.roster)}
        arguments = [f"--{key}={value}" for key, value in given.items() if key != name]
        said = self.refused(["export", *arguments], capsys)
        assert said.startswith(f"{name.upper()} is missing: make ")

    def test_an_export_of_nothing(self, few: Class, capsys: pytest.CaptureFixture[str]) -> None:
        said = self.refused(["export", f"--out={few.out}", f"--roster={few.roster}"], capsys)
        assert "OUT must be a folder that make grade has filled" in said
        assert not few.out.exists()

    @pytest.mark.parametrize(
        ("option", "value", "words"),
        [
            ("--assignment", "tinny", "ASSIGNMENT must be one of tiny; got tinny"),
            ("--submissions", "nowhere", "nowhere came, which is neither a folder nor a file"),
            ("--roster", "nowhere.csv", "No such file or directory: 'nowhere.csv'"),
        ],
    )
    def test_what_does_not_exist(
        self, option: str, value: str, words: str, few: Class, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = self.refused([*few.arguments(), option, value], capsys)
        assert words in said
        assert not few.out.exists()

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (
                b"student_id,lms_id,name\ns1,,J\xfcrgen",
                "line 2: byte 0xfc came, which is not UTF-8",
            ),
            (b"student_id,name\ns1,Ada", "line 1: no column 'lms_id'"),
            (b"student_id,lms_id,name\n", "no student came"),
            (b"student_id,lms_id,name\ns1,,\nS1,,", "line 3: student_id 'S1' came before"),
        ],
    )
    def test_a_roster_that_cannot_be_read(
        self, content: bytes, words: str, few: Class, capsys: pytest.CaptureFixture[str]
    ) -> None:
        few.roster.write_bytes(content)
        assert words in self.refused(few.arguments(), capsys)
        assert not few.out.exists()

    def test_a_folder_without_any_notebook(
        self, few: Class, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for student in few.students:
            few.path(student).unlink()
        said = self.refused(few.arguments(), capsys)
        assert "SUBMISSIONS" in said
        assert str(few.submissions) in said
        assert not few.out.exists()

    def test_no_sandbox(
        self, few: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        reason = "the sandbox needs bwrap; install the package bubblewrap"
        monkeypatch.setattr(sandbox, "why_unavailable", lambda: reason)
        assert self.refused(few.arguments(), capsys) == f"{reason}\n"
        assert not few.out.exists()


@pytest.mark.usefixtures("_tiny")
def test_without_the_sandbox_it_is_loud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Class(tmp_path, 1)
    monkeypatch.setattr(sandbox, "why_unavailable", lambda: "there is none")
    assert command.main([*one.arguments(), "--unsafe-no-sandbox"]) == 0
    assert "WITHOUT THE SANDBOX" in capsys.readouterr().err
    assert_row(one.rows()["s1"], FULL)


def test_an_interruption_by_hand_says_how_to_go_on(
    few: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: Order) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(course, "grade", interrupted)
    assert command.main(few.arguments()) == 130
    assert "The same command goes on from here" in capsys.readouterr().err


def test_what_make_was_given_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADE_SUBMISSIONS", "week 3; rm -rf $HOME.zip")
    monkeypatch.setenv("GRADE_ACCEPT", "s1  s2")
    monkeypatch.setenv("GRADE_OUT", "")
    given = command.parser().parse_args(["grade"])
    assert given.submissions == "week 3; rm -rf $HOME.zip"
    assert given.accept.split() == ["s1", "s2"]
    assert given.out is None


@pytest.mark.usefixtures("_tiny")
def test_a_second_run_marks_what_is_new_and_nothing_else(
    few: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(few.arguments()) == 0
    assert {student: row["total"] for student, row in few.rows().items()} == dict.fromkeys(
        few.students, "6"
    )
    first = (few.out / "grades.csv").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(distribute, "cluster", None)  # calling it would fail
        assert command.main(few.arguments()) == 0
    assert "unchanged 3" in capsys.readouterr().err
    assert (few.out / "grades.csv").read_bytes() == first

    few.hand_in("s2", q1="variance = -1.0")
    few.path("s3").unlink()
    assert command.main(few.arguments()) == 0
    said = capsys.readouterr()
    assert "graded 1, unchanged 2" in said.err
    assert said.out.endswith("tiny: marks of 1 stay of whom nothing came this time\n")
    rows = few.rows()
    assert_row(rows["s1"], FULL)
    assert_row(rows["s2"], FULL | {"q1": "0", "total": "4"})
    assert_row(rows["s3"], FULL)
    assert (few.out / "feedback" / "s3" / "tiny.html").exists()
    assert (few.out / "autograded" / "s3" / "tiny" / "tiny.ipynb").exists()
    assert few.recorded() == few.students


@pytest.mark.usefixtures("_tiny")
def test_identity_is_settled_by_a_person_and_everything_is_marked_again_if_asked(
    few: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few.hand_in("s1", typed="s2")
    assert command.main(few.arguments()) == 0
    assert_row(few.rows()["s1"], NOTHING | {"status": "needs-review"})
    assert "the notebook says s2" in few.rows()["s1"]["message"]

    capsys.readouterr()
    assert command.main([*few.arguments(), "--accept", "s1 s9"]) == 0
    assert capsys.readouterr().out.endswith("ACCEPT: no notebook came from s9\n")
    assert_row(few.rows()["s1"], FULL)
    with monkeypatch.context() as patch:
        patch.setattr(distribute, "cluster", None)  # it is remembered, so nobody is marked
        assert command.main(few.arguments()) == 0
    assert_row(few.rows()["s1"], FULL)

    capsys.readouterr()
    assert command.main([*few.arguments(), "--remark", "all"]) == 0
    assert "graded 3" in capsys.readouterr().err
    assert {student: row["total"] for student, row in few.rows().items()} == dict.fromkeys(
        few.students, "6"
    )
    assert few.recorded() == few.students


def workers(process: psutil.Process) -> list[psutil.Process]:
    """Return the workers of a process that grades: its forks, which are called as it is."""
    with suppress(psutil.NoSuchProcess):
        return [each for each in process.children() if each.cmdline() == process.cmdline()]
    return []


def until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is the case; however long, the test fails if it never is."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.mark.proof("redteam")
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    many = Class(tmp_path, 16)
    many.hand_in("s5", q3="ordered = [0, 0]")
    arguments = [str(each) for each in (many.submissions, many.roster, many.out, TINY)]
    running = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: len(list(many.out.glob("autograded/*/*/*.ipynb"))) >= 3)
    below = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    psutil.wait_procs(below, timeout=60)
    assert [process for process in below if process.is_running()] == []
    before = many.recorded()
    assert 3 <= len(before) < 16

    notes = grade(many.order())
    assert "16 graded" in notes
    rows = many.rows()
    assert set(rows) == set(many.students)
    assert_row(rows.pop("s5"), FULL | {"q3": "0", "total": "5"})
    for row in rows.values():
        assert_row(row, FULL)
    assert sorted(many.recorded()) == sorted(many.students)


@pytest.mark.proof("redteam")
def test_a_worker_that_is_killed_costs_nobody_a_mark(tmp_path: Path) -> None:
    many = Class(tmp_path, 60)
    lost = {student: FULL | {"q1": "1", "total": "5"} for student in many.students[4::10]}
    for student in lost:
        many.hand_in(student, q1='variance = personal_numbers(student_id, "q1")["d_k"] ** 0.5')
    killed: list[int] = []

    def kill() -> None:
        until(lambda: len(list(many.out.glob("autograded/*/*/*.ipynb"))) >= 10)
        (victim, *_) = workers(psutil.Process())
        os.kill(victim.pid, signal.SIGKILL)
        killed.append(victim.pid)

    killer = threading.Thread(target=kill)
    killer.start()
    summary = grade(many.order())
    killer.join()
    assert len(killed) == 1
    assert "60 graded" in summary
    rows = many.rows()
    assert set(rows) == set(many.students)
    for student, row in rows.items():
        assert_row(row, lost.get(student, FULL))
    assert sorted(many.recorded()) == sorted(many.students)


@pytest.mark.proof("redteam")
def test_ctrl_c_says_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    problem_set = next(iter(problem_sets().values()))
    for student in ("s1", "s2", "s3", "s4"):
        path = tmp_path / "in" / student / problem_set.name / f"{problem_set.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(worked(problem_set, student))
    places = ["--submissions", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    # those who run tests beside each other ignore Ctrl-C, and what they start would, too
    listening = ["env", "--default-signal=INT"]
    running = subprocess.Popen(
        [*listening, sys.executable, "-m", "grading", "grade", *places, "--workers", "2"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    process = psutil.Process(running.pid)

    def below() -> list[psutil.Process]:
        return process.children(recursive=True)

    # both workers are there, each with a sandbox
    until(lambda: len(workers(process)) == 2 and len(below()) >= 6)
    others = below()
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    said, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == b""
    bar, line, end = errors.decode().rsplit("\n", 2)
    assert "\n" not in bar
    assert bar.split("\r")[-1].startswith("  0%|")
    assert (line, end) == ("Interrupted. The same command goes on from here.", "")
    _, alive = psutil.wait_procs(others, timeout=10)
    assert alive == []


def test_nothing_slow_is_imported_before_an_interruption_is_expected() -> None:
    code = "import sys, grading.__main__; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"nbgrader", "numpy", "nbformat", "sqlalchemy", "distributed", "tqdm"}
