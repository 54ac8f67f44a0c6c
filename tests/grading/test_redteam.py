"""Every attack at once, graded as an instructor grades a course, beside honest submissions.

Before each commit a dozen of them are, one of each kind.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pytest
from traitlets.config import Config

from grading.course import Order, export, grade
from grading.gradebook.book import Book
from grading.marking import running
from grading.marking.judging import Judge
from grading.release import worked
from grading.results import Result
from grading.sandbox import sandbox
from tests.grading.attacks import MORE
from tests.grading.pages import harm, parsed
from tests.grading.redteam import ATTACKS as FIRST
from tests.grading.redteam import (
    BREACH,
    CELL_SECONDS,
    SLEEPER,
    SOURCE,
    Attack,
    tiny,
)
from tests.grading.small_class import enter_mark, read_grades

if TYPE_CHECKING:
    from tests.conftest import Once

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = (*FIRST, *MORE)
POINTS = {"q1": 2.0, "q2": 3.0, "q3": 1.0}
HONEST = ("honest-ada", "honest-bob", "honest-cem")
SECRET = "canary-of-the-environment"  # noqa: S105, nothing is behind it
CANARY = "canary-of-the-home"
# a trillionth of a second for each process number tells these sandboxes from others'
LIMITS = sandbox.Limits(
    wall_seconds=40.0,
    cell_seconds=CELL_SECONDS + os.getpid() / 1e12,
    cpu_seconds=25,
    memory_bytes=600_000_000,
    disk_bytes=32_000_000,
    file_bytes=32_000_000,
    reply_bytes=4_000_000,
)
# what spreadsheets, pages, terminals and lines of a log would take for their own
NAMES = {
    "loops": '=HYPERLINK("http://example.org","x")',
    "forks": "@SUM(1+9)*cmd|' /C calc'!A0",
    "sleeps": "<script>steal()</script><b>Ada",
    "aborts": "\u202eelpmaxE \x1b[31mada\x07",
    "magics": "+1\t-1",
    "recursion": "{{ 7*7 }} %s ../../../etc",
    "honest-bob": "Bób Ẽxample, 学生 O'Neil",
}
OUTSIDE = "/tmp/examplef_105_5_tiny.ipynb"  # noqa: S108, where nothing must ever be
CORE = {
    *("calls-home", "sends-datagrams", "reads-everything", "reads-secrets", "writes-everywhere"),
    *("deletes-everything", "loops", "takes-memory", "forks", "leaves-daemons"),
    *("thousand-points", "patched-runner", "answer-ahead", "html-in-a-paragraph"),
}
"""What no submission may reach, take or write, each once."""
RED_TEAM = pytest.mark.proof("redteam")
WITHOUT_NOTEBOOK = ("linked-to-ada", "linked-folder", "a-named-pipe", "handed-in-nothing")


class Listener:
    """What counts who calls, on every kind of socket."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "socket")
        self.abstract = f"canary-{os.getpid()}"
        self.calls: list[str] = []
        self.sockets = [
            self._open(socket.AF_INET, ("127.0.0.1", 0)),
            self._open(socket.AF_UNIX, self.path),
            self._open(socket.AF_UNIX, f"\0{self.abstract}"),
        ]
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        self.datagrams.setblocking(False)
        for each in self.sockets:
            threading.Thread(target=self._count, args=(each,), daemon=True).start()

    def _open(self, family: int, address: Any) -> socket.socket:
        opened = socket.socket(family)
        opened.bind(address)
        opened.listen()
        return opened

    def _count(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            self.calls.append(str(listening.getsockname()))
            connection.close()

    def received(self) -> bytes:
        """Return the datagram that came, if any did."""
        try:
            return self.datagrams.recv(100)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        for each in (*self.sockets, self.datagrams):
            each.close()


@dataclass
class Course:
    """A folder of results, as an instructor finds it."""

    out: Path
    summary: str

    @cached_property
    def results(self) -> dict[str, Result]:
        with Book(f"sqlite:///{self.out}/gradebook.db") as book:
            return {each.student.student_id: each for each in book.results("tiny")}

    @cached_property
    def pages(self) -> dict[str, str]:
        found = (self.out / "feedback").glob("*/tiny.html")
        return {unquote(path.parent.name): path.read_text(encoding="utf-8") for path in found}

    @cached_property
    def table(self) -> dict[str, dict[str, str]]:
        return read_grades(self.out)

    def points(self, student: str) -> dict[str, float | None]:
        return {mark.question: mark.points for mark in self.results[student].marks}

    def shown(self, student: str) -> str:
        """Return what the cells of a notebook showed."""
        path = self.out / "autograded" / student / "tiny" / "tiny.ipynb"
        if not path.exists():
            return ""
        return json.dumps([each.get("outputs") for each in json.loads(path.read_text())["cells"]])

    def said(self, student: str) -> str:
        """Return everything that a student or the instructor is told, but no source."""
        result = self.results[student]
        notes = re.findall(
            r'<li class="message">(.*?)</li>', self.pages.get(student, ""), re.DOTALL
        )
        messages = [mark.message for mark in result.marks]
        return "\n".join([result.message, *messages, *notes, self.shown(student)])


@dataclass
class Range:
    """What the attackers could reach, and what became of it."""

    attacks: list[str]
    alone: Course
    together: Course
    summary: str
    before: dict[str, str]
    after: dict[str, str]
    calls: list[str]
    datagram: str
    neighbor: int | None
    processes: list[str]
    files: list[str]


def numbers(student: str, question: str) -> dict[str, int]:
    """Return personal numbers as the problem set makes them."""
    found: dict[str, int] = numbers_cell()["personal_numbers"](student, question)
    return found


def cased_like(student: str, friend: str) -> str:
    """Return a way to write a student's identifier that has the first number of a friend."""
    for choice in itertools.product((str.lower, str.upper), repeat=len(student)):
        typed = "".join(change(each) for change, each in zip(choice, student, strict=True))
        if numbers(typed, "q1") == numbers(friend, "q1"):
            return typed
    raise ValueError(f"no case of {student} has the numbers of {friend}")


@cache
def numbers_cell() -> dict[str, Any]:
    """Return the names of the cell that makes personal numbers."""
    space: dict[str, Any] = {}
    exec(tiny().by_name["numbers"].source, space)  # noqa: S102, a cell of ours
    return space


def snapshot(*folders: Path) -> dict[str, str]:
    """Return the digest of each file below some folders."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if not path.is_socket() and not path.is_fifo() and "__pycache__" not in path.parts
    }


def hand_in(folder: Path, student: str, notebook: bytes, name: str = "tiny.ipynb") -> Path:
    path = folder / student / "tiny" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook)
    return path


def hand_in_all(folder: Path, attacks: Iterable[Attack], places: dict[str, str]) -> None:
    """Write what honest students and attackers hand in, with the places of attacks filled in."""
    for student in HONEST:
        hand_in(folder, student, worked(tiny(), student, {}, SOURCE))
    for attack in attacks:
        if attack.name not in WITHOUT_NOTEBOOK:
            notebook = attack.notebook()
            for name, value in places.items():
                notebook = notebook.replace(f"@{name}@".encode(), value.encode())
            hand_in(folder, attack.name, notebook)


def hand_in_odd_files(folder: Path) -> None:
    """Write what attackers hand in that is no notebook, or not only one."""
    hand_in(folder, "two-notebooks", worked(tiny(), "two-notebooks", {"q1": ""}, SOURCE), "b.ipynb")
    ada = folder / "honest-ada" / "tiny"
    for student in ("linked-to-ada", "a-named-pipe"):
        (folder / student / "tiny").mkdir(parents=True)
    (folder / "linked-folder").mkdir()
    (folder / "linked-folder" / "tiny").symlink_to(ada)
    (folder / "linked-to-ada" / "tiny" / "tiny.ipynb").symlink_to(ada / "tiny.ipynb")
    os.mkfifo(folder / "a-named-pipe" / "tiny" / "tiny.ipynb")


def write_roster(path: Path, students: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student_id", "lms_id", "name"])
        rows.writerows(
            [student, str(i), NAMES.get(student, f"Ada Example {i}")]
            for i, student in enumerate(students, 100)
        )
    return path


@pytest.fixture(scope="module", params=["core", pytest.param("all", marks=RED_TEAM)])
def course(once: Once, request: pytest.FixtureRequest) -> Range:
    """Grade some of it, or all."""
    attacks = OF_COURSE[request.param]
    found = once(f"redteam-{request.param}", partial(attacked, attacks))
    courses = {name: Course(Path(found[name]), found["summary"]) for name in ("alone", "together")}
    return Range(**(found | courses))


def attacked(attacks: Sequence[Attack], base: Path) -> dict[str, Any]:
    """Grade three honest students alone, then again among those who attack."""
    home, hidden, temporary = base / "home", base / "source-copy", base / "tmp"
    for folder in (home, hidden, temporary, base / "in", base / "in-alone"):
        folder.mkdir()
    (home / "secret.txt").write_text(CANARY, encoding="utf-8")
    (hidden / "tiny.ipynb").write_bytes((SOURCE / "tiny" / "tiny.ipynb").read_bytes())
    for folder in (base, home, hidden):
        folder.chmod(0o755)  # as open as a careless instructor may leave them
    roster = write_roster(
        base / "roster.csv", [*HONEST, *sorted(names(attacks) - {"not-on-roster"})]
    )
    for student in HONEST:
        hand_in(base / "in-alone", student, worked(tiny(), student, {}, SOURCE))
    with (
        closing(Listener(base)) as listener,
        innocent() as neighbor,
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setenv("HOME", str(home))
        patched.setenv("GRADING_SECRET", SECRET)
        patched.setenv("TMPDIR", str(temporary))
        patched.setattr(tempfile, "tempdir", None)
        hand_in_all(base / "in", attacks, places(base, listener, neighbor))
        if attacks == ATTACKS:
            hand_in_odd_files(base / "in")
        run(base, "in-alone", "alone", roster)
        watched = (home, hidden, base / "in", base / "alone", ROOT / "attnlib")
        before = snapshot(*watched)
        summary = run(base, "in", "out", roster)
        after = snapshot(*watched)
        return {
            "alone": str(base / "alone"),
            "together": str(base / "out"),
            "summary": summary,
            "before": before,
            "after": after,
            "calls": listener.calls,
            "datagram": listener.received().decode(errors="replace"),
            "neighbor": neighbor.poll(),
            "attacks": sorted(names(attacks)),
            "processes": left_running(),
            "files": sorted(
                {path.name for path in temporary.iterdir()} - {Path(sandbox._scratch()).name}
            ),
        }


def left_running() -> list[str]:
    """Return the processes of these sandboxes that are still there."""
    marker = json.dumps(LIMITS.cell_seconds)
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if marker in line or SLEEPER in line:
            found.append(line[:200])
    return found


@contextmanager
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that has nothing to do with it."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            yield process
        finally:
            process.kill()


def places(base: Path, listener: Listener, neighbor: subprocess.Popen[bytes]) -> dict[str, str]:
    """Return where everything is that attackers would like to reach."""
    return {
        "HOME": str(base / "home"),
        "OTHER": str(base / "in" / "honest-ada" / "tiny" / "tiny.ipynb"),
        "BOOK": str(base / "alone" / "gradebook.db"),
        "HIDDEN": str(base / "source-copy" / "tiny.ipynb"),
        "PROJECT": str(ROOT),
        "PREFIX": sys.base_prefix,
        "PID": str(neighbor.pid),
        "SELF": str(os.getpid()),
        "SECRET": SECRET[::-1],
        "PORT": str(listener.sockets[0].getsockname()[1]),
        "UDP": str(listener.datagrams.getsockname()[1]),
        "ADDRESS": address(),
        "SOCKET": listener.path,
        "ABSTRACT": listener.abstract,
        "CASED": cased_like("identity-in-odd-case", "honest-ada"),
        "ADA_Q1": str(float(numbers("honest-ada", "q1")["d_k"])),
        "ADA_Q3": str(sorted(numbers("honest-ada", "q3").values(), reverse=True)),
    }


def run(base: Path, submissions: str, out: str, roster: Path) -> str:
    order = Order(base / submissions, base / out, roster, workers=2, source=SOURCE, limits=LIMITS)
    return grade(order)


def address() -> str:
    """Return an address of this machine that is not its loop, if it has one."""
    found = [each[4][0] for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return next((str(each) for each in found if not str(each).startswith("127.")), "127.0.0.1")


def names(attacks: Iterable[Attack]) -> set[str]:
    return {each.name for each in attacks}


NAMES_OF_ALL = names(ATTACKS)
OF_COURSE = {"core": tuple(each for each in ATTACKS if each.name in CORE), "all": ATTACKS}


# each attack


@pytest.mark.parametrize(
    ("course", "attack"),
    [
        pytest.param(some, attack, id=f"{some}-{attack.name}", marks=marks)
        for some, marks in (("core", ()), ("all", RED_TEAM))
        for attack in OF_COURSE[some]
    ],
    indirect=["course"],
)
def test_an_attack_gets_what_a_fair_instructor_gives(course: Range, attack: Attack) -> None:
    student = attack.name if attack.name != "not-on-roster" else "unmatched~not-on-roster"
    row = course.together.table[student]
    assert row["status"] == attack.status, row["message"]
    if attack.status == "missing":
        return
    said = course.together.said(student)
    expected: dict[str, float | None] = {"q1": None, "q2": None, "q3": None, "q4": None}
    if attack.status == "graded":
        expected |= POINTS | attack.earns
    points = course.together.points(student)
    for question in attack.may_lose:
        if points[question] == 0.0:
            expected[question] = 0.0
    assert points == expected, f"{attack.tries}\n{said[:3000]}"
    assert attack.says.casefold() in said.casefold(), f"{attack.tries}\n{said[:3000]}"
    assert BREACH not in course.together.shown(student), attack.tries


def test_names_of_attacks_are_unique() -> None:
    assert len(NAMES_OF_ALL) == len(ATTACKS) > 150
    assert CORE < NAMES_OF_ALL


# everything around them


def test_honest_students_get_what_they_get_alone(course: Range) -> None:
    for student in HONEST:
        together, alone = course.together.results[student], course.alone.results[student]
        assert course.together.points(student) == POINTS | {"q4": None}
        assert replace(together, cpu_seconds=0.0) == replace(alone, cpu_seconds=0.0)
        assert course.together.pages[student] == course.alone.pages[student]
        assert course.together.shown(student) == course.alone.shown(student)


def test_everybody_has_exactly_one_row_and_all_on_the_roster_are_there(course: Range) -> None:
    expected = {*course.attacks, *HONEST}
    if "not-on-roster" in expected:
        expected = expected - {"not-on-roster"} | {"unmatched~not-on-roster"}
    with (course.together.out / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["student"] for row in rows) == sorted(expected)
    for row in rows:
        decided = row["status"] == "graded"
        assert all((row[question] != "") == decided for question in POINTS), row
        assert (row["total"] != "") == decided, row


def test_no_canary_is_touched(course: Range) -> None:
    assert course.after == course.before
    assert course.neighbor is None, "a process that has nothing to do with it was killed"


def test_nobody_called_anywhere(course: Range) -> None:
    assert course.calls == []
    assert course.datagram == ""


def test_no_process_is_left(course: Range) -> None:
    assert course.processes == []


def test_no_file_is_left_in_the_temporary_folder(course: Range) -> None:
    assert course.files == []


# what people look at


def test_no_page_does_anything(course: Range) -> None:
    found = {name: harm(page) for name, page in course.together.pages.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) >= len(course.attacks) + len(HONEST) - 1  # nobody missing but who is missing


def test_no_page_tells_what_it_must_not_tell(course: Range) -> None:
    words = ("def judge", "def ask", "hidden_check(", "BEGIN HIDDEN", "BEGIN SOLUTION", CANARY)
    for name, page in course.together.pages.items():
        text = parsed(page).get_text()
        for word in (*words, SECRET):
            assert word not in text, f"{name}: {word}"
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page), name


def test_no_message_tells_an_expected_value(course: Range) -> None:
    for name, result in course.together.results.items():
        value = str(numbers(name, "q1")["d_k"])
        for mark in result.marks:
            assert not re.search(rf"(?<!\d){value}(?!\d)", mark.message), f"{name}: {mark}"


def test_no_page_shows_a_hidden_input(course: Range) -> None:
    problem_set, question = tiny(), tiny().questions[1]
    judge = Judge.of(problem_set)
    with Book(f"sqlite:///{course.together.out}/gradebook.db") as book:
        for name, page in course.together.pages.items():
            if course.together.results[name].status != "graded":
                continue
            asked = judge.ask(question, name, book.secret_of("tiny", name))
            for value in [asked["tau"], *np.ravel(asked["scores"])]:
                # four digits behind the point happen to be in no other number of a page
                assert f"{abs(value):.9f}"[:7] not in page, f"{name}: {value}"


def test_tables_hold_no_formulas_and_no_line_breaks(course: Range, tmp_path: Path) -> None:
    roster = write_roster(tmp_path / "roster.csv", [*HONEST, *course.attacks])
    # a copy: other tests look into the tables, and this roster has one student more
    out = shutil.copytree(course.together.out, tmp_path / "out")
    export(out, roster, source=SOURCE)
    tables = sorted(out.glob("*.csv"))
    assert len(tables) == 3
    for path in tables:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                for value in row:
                    number = re.fullmatch(r"-?[0-9.]*", value)
                    harmless = not value.startswith(("=", "+", "-", "@", "\t", "＝", "＋"))
                    assert number or harmless or path.name.startswith("moodle"), value
                    assert value.isprintable(), value


def test_the_summary_is_safe_to_print(course: Range) -> None:
    assert all(line.isprintable() for line in course.together.summary.splitlines())
    assert "graded" in course.together.summary


def test_formgrader_runs_nothing_of_a_students(course: Range) -> None:
    """Formgrader shows notebooks as nbconvert does, in the browser of who may do everything."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers
    from traitlets.config.loader import PyFileConfigLoader

    out = course.together.out
    config: Config = PyFileConfigLoader("nbgrader_config.py", path=str(out)).load_config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    exporter = HTMLExporter(config=config)
    resources = {
        **dict.fromkeys(("last_name", "first_name", "notebook_path", "student"), "x"),
        **dict.fromkeys(("assignment_id", "notebook_id", "submission_id"), "tiny"),
        "index": 0, "total": 1, "base_url": "",
    }  # fmt: skip
    live = ("steal", "example.org", "<iframe", "<base", "<form", "http-equiv=refresh", "<svg on")
    shown = {"html-in-a-paragraph", "html-in-added-cells", "html-in-an-exception"}
    for name in shown & {*course.attacks}:
        path = out / "autograded" / name / "tiny" / "tiny.ipynb"
        page, _ = exporter.from_filename(str(path), resources=dict(resources))
        found = [each for each in harm(page) if any(word in each for word in live)]
        assert found == [], name


def test_marks_are_for_the_instructor_only(course: Range) -> None:
    """Other users of the machine see neither marks nor what hidden inputs are drawn from."""
    out = course.together.out
    assert stat.S_IMODE(out.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((out / "nbgrader_config.py").stat().st_mode) & 0o077 == 0


# what stops a batch, or keeps its workers


def test_time_that_is_over_before_the_runner_is_ready_stops_no_batch() -> None:
    """A notebook that crashes in its last tenth of a second leaves too little to start again."""
    steps = [sandbox.Execute("0", "while True: pass")]
    short = replace(LIMITS, wall_seconds=0.001)
    assert running.run([running.Step(each, None, 0) for each in steps], short).answers == {}
    assert sandbox.run(steps, short).ended


SLOW = (
    "first = 1" + "  \n" * 6600 + "last", "x" + "\n" * 18000 + "y", "x" + "\n\x0c" * 9000 + "y",
    "(" * 19000, '"' * 19000, "f'{" * 6000, "\\\n" * 9000, "'''\n" * 4500, "[" * 19000,
    "**a" * 6000, "> " * 9000, "- " * 9000, "`a" * 9000, "[a](" * 4500, "<a " * 6000,
    "|a" * 9000 + "\n" + "|-" * 9000, "$a" * 9000, "![" * 9000, "*_" * 9000, "&#" * 9000,
)  # fmt: skip
PAGES = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from grading.reports import feedback
for source in json.load(sys.stdin):
    for i in range(3):
        {call}
"""


@RED_TEAM
@pytest.mark.parametrize(
    "call",
    [
        "feedback._code(f'{source}{i}')",
        "feedback._markdown(f'{source}{i}', given=False)",
        "feedback._markdown(f'```python\\n{source}{i}\\n```', given=False)",
    ],
)
def test_a_page_is_made_in_little_time_whatever_is_in_a_cell(call: str) -> None:
    """Pages are made outside the sandbox, where nothing but their own making limits them.

    Sixty cells take a second or two of processor time; what is quadratic takes minutes.
    """
    done = subprocess.run(
        [sys.executable, "-c", PAGES.format(call=call)],
        input=json.dumps(SLOW), cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"killed by {done.returncode}: {done.stderr[-500:]}"


# a platform's zip


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Grade a zip as Canvas makes it, in which some entries are hostile."""
    base = tmp_path_factory.mktemp("zipped")
    path = base / "submissions.zip"
    fine = worked(tiny(), "honest-ada", {}, SOURCE)
    link = zipfile.ZipInfo("exampled_103_1_tiny.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("examplea_100_1_tiny.ipynb", fine)
        archive.writestr("exampleb_101_2_tiny.ipynb", b" " * 19_000_000)
        archive.writestr("examplec_102_3_tiny.ipynb", b" " * 101_000_000)
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../../examplee_104_4_tiny.ipynb", fine)
        archive.writestr(OUTSIDE, fine)
        archive.writestr("exampleg_106_6_tiny_100_1_tiny.ipynb", fine)
        archive.writestr("exampleh_107_7_tiny.ipynb", fine)
        archive.writestr("examplei_999_8_=cmd()\x1b[31m\u202e.ipynb", fine)
        archive.writestr("examplej_109_9_inner.zip", b"PK")
    roster = write_roster(base / "roster.csv", ["honest-ada", *(f"s{i}" for i in range(101, 110))])
    order = Order(path, base / "out", roster, workers=1, source=SOURCE, limits=LIMITS)
    return Course(base / "out", grade(order))


def test_a_hostile_zip_is_read_and_nothing_is_extracted_and_marks_come_out(zipped: Course) -> None:
    expected = {
        "honest-ada": "graded",
        "s101": "needs-review",  # packed too well to be a notebook
        "s102": "invalid",  # too large
        "s103": "needs-review",  # a link
        "s104": "missing",  # a path that leads out is nobody's
        "s105": "missing",  # an absolute path is nobody's
        "s106": "needs-review",  # a name that could be another student's
        "s107": "needs-review",  # another student's identity
        "s108": "missing",
        "s109": "invalid",  # a zip within
    }
    found = {name: row["status"] for name, row in zipped.table.items() if name in expected}
    strangers = {name: row["status"] for name, row in zipped.table.items() if name not in expected}
    found["s106"] = found["s106"].replace("missing", "needs-review") if strangers else found["s106"]
    assert found == expected
    assert len(strangers) in (3, 4)
    assert set(strangers.values()) == {"needs-review"}
    assert zipped.points("honest-ada") == POINTS | {"q4": None}
    assert not Path(OUTSIDE).exists()
    assert not list(zipped.out.parent.parent.glob("examplee*"))
    assert all(line.isprintable() for line in zipped.summary.splitlines())

    # and the marks of who is honest come out for the platform
    enter_mark(zipped.out, "honest-ada", "q4", 1.5)
    export(zipped.out, zipped.out.parent / "roster.csv", source=SOURCE)
    with (zipped.out / "canvas-tiny.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.DictReader(file)
    given = {row["SIS User ID"]: row["tiny"] for row in rows}
    assert given == dict.fromkeys(given, "") | {"honest-ada": "7.5"}
    assert len(given) == 10
