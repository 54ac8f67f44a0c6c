"""What a submission can do, and what it cannot: every attack here runs in a real sandbox."""

from __future__ import annotations

import ast
import base64
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grading.safe_text import clean_text
from grading.sandbox import sandbox
from grading.sandbox import seccomp as _seccomp
from grading.sandbox.outputs import clean_outputs
from grading.sandbox.sandbox import (
    Collect,
    Execute,
    Limits,
    Run,
    SandboxUnavailable,
    run,
    why_unavailable,
)

DESCRIPTORS, TEMPORARY = Path("/proc/self/fd"), Path(tempfile.gettempdir())
ROOT = Path(__file__).resolve().parents[2]
# a trillionth of a second for each process number tells this process's sandboxes from others'
MINE = os.getpid() / 1e12
QUICK = Limits(cell_seconds=2.0 + MINE, wall_seconds=60.0)
PATIENT = Limits(cell_seconds=10.0 + MINE, wall_seconds=60.0)
SOUND = Collect("sound", "def answer(): return {'sum': 1 + 1}")
FINE = {"sound": {"sum": 2}}


def cells(*sources: str, limits: Limits = QUICK, **options: Any) -> Run:
    """Run cells, named by their position, and a collection that is always right."""
    steps = [Execute(str(i), textwrap.dedent(source)) for i, source in enumerate(sources)]
    return run([*steps, SOUND], limits, **options)


def shown(result: Run, key: str = "0") -> str:
    """Return everything that a cell showed, as text."""
    parts = []
    for output in result.outputs[key]:
        parts.append(output.get("text", ""))
        parts.append(output.get("data", {}).get("text/plain", ""))
        parts.append("\n".join(output.get("traceback", [])))
    return "".join(parts)


def collected(source: str) -> Run:
    """Collect one answer; what precedes its definition is the student's."""
    before, _, after = textwrap.dedent(source).partition("def answer")
    return run([Execute("0", before), Collect("q1", "def answer" + after)], QUICK)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only a moment before killing what cannot be interrupted."""
    monkeypatch.setattr(sandbox, "GRACE", 0.5)


def left() -> bool:
    """Return whether a sandbox of this process is still there."""
    return not all(gone(json.dumps(each.cell_seconds)) for each in (QUICK, PATIENT))


def alive(marker: str) -> list[int]:
    """Return the processes, anywhere on the machine, whose command line has `marker`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def gone(marker: str) -> bool:
    """Return whether no such process is left, a moment after whatever ended them."""
    for _ in range(200):
        if not alive(marker):
            return True
        time.sleep(0.05)
    return False


def test_bubblewrap_runs_here() -> None:
    assert why_unavailable() is None


# what a notebook does


def test_cells_share_names_and_show_what_a_notebook_shows() -> None:
    result = cells("x = 20\nprint('one')\nx + 1", "import sys\nprint(x, file=sys.stderr)\n_ + 1")
    first, second = result.outputs["0"], result.outputs["1"]
    assert first == [
        {"output_type": "stream", "name": "stdout", "text": "one\n"},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "21"},
            "metadata": {},
            "execution_count": 1,
        },
    ]
    assert second[0] == {"output_type": "stream", "name": "stderr", "text": "20\n"}
    assert second[1]["data"] == {"text/plain": "22"}
    assert (result.ended, result.stopped_at, result.answers) == ("", None, FINE)
    assert 0 < result.cpu_seconds < QUICK.cpu_seconds


def test_figures_come_out_as_png() -> None:
    result = cells(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "import matplotlib; print(matplotlib.get_cachedir())",
        limits=PATIENT,
    )
    figure = result.outputs["0"][-1]
    assert figure["output_type"] == "display_data"
    assert base64.b64decode(figure["data"]["image/png"]).startswith(b"\x89PNG")
    assert shown(result, "1").endswith("/.matplotlib\n")
    assert list(Path(sandbox._scratch()).glob(".matplotlib/fontlist-*.json"))


def test_an_error_leaves_the_rest_to_run() -> None:
    result = cells("1 / 0", "x = 3", "x")
    (error,) = result.outputs["0"]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "division by zero")
    assert "----> 1 1 / 0" in error["traceback"]
    assert shown(result, "2") == "3"
    assert result.answers == FINE


UNUSUAL = [
    ("import asyncio\nawait asyncio.sleep(0.01)\n'slept'", "slept"),
    ("%%time\n1 + 1", "Wall time"),
    ("%timeit -n 1 -r 1 1", "per loop"),
    ("!echo one; ls /grader", "_inside.py"),
    ("%%bash\necho two", "two"),
    ("help(len)", "number of items"),
    ("input()", "EOFError"),
    ("exit()", ""),
    ("import sys; sys.exit(3)", "SystemExit"),
    ("raise BaseException('base')", "base"),
    ("def f(): f()\nf()", "RecursionError"),
    ("x = (", "SyntaxError"),
    ("print('\\ud800')", "?"),
    ("print(b'1'.decode(), end='\\x1b[31m\\x07')", "1"),
    ("import sys; sys.stdout.writelines(['a']); sys.stdout.write(1)", "must be str"),
    ("import sys; sys.stdout.fileno()", "not a file"),
    ("display('text')", "'text'"),
    ("import sys; print(sys.stdout.isatty(), sys.stdout.writable())", "False True"),
    ("print('gone'); from IPython.display import clear_output; clear_output()", ""),
    ("display(1, display_id='a'); display(2, display_id='a', update=True)", "1"),
    ("import subprocess; subprocess.run(['ls', '/nowhere'])", "returncode=2"),
    ("import os; os.environ['HOME'] == os.getcwd()", "True"),
]


@pytest.fixture(scope="module")
def unusual() -> Run:
    """Run all of them, one after the other in one notebook."""
    return cells(*(source for source, _ in UNUSUAL), limits=PATIENT)


@pytest.mark.parametrize(("place", "says"), [(i, says) for i, (_, says) in enumerate(UNUSUAL)])
def test_cells_that_do_something_unusual(unusual: Run, place: int, says: str) -> None:
    assert says in shown(unusual, str(place))
    assert "\x1b" not in shown(unusual, str(place))
    assert unusual.ended == ""
    assert unusual.answers == FINE


def test_an_answer_sees_the_names_of_the_notebook_and_leaves_them_alone() -> None:
    result = run(
        [
            Execute("0", "import numpy as np\nanswer = 40\ndef double(x): return 2 * x"),
            Collect("q1", "def answer(x): return {'y': double(x)}", {"x": np.arange(3.0)}),
            Execute("1", "answer"),
        ],
        QUICK,
    )
    assert result.answers["q1"]["y"].tolist() == [0.0, 2.0, 4.0]
    assert shown(result, "1") == "40"


FAILING = [
    ("def answer(): raise ValueError('mine')", "ValueError: mine"),
    ("def answer(): return undefined", "NameError"),
    ("def answer()", "SyntaxError"),
    ("def answer(): raise SystemExit(2)", "SystemExit: 2"),
    ("def answer(): raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("def answer():\n while True: pass", "it took longer than 2 s"),
    ("def answer(): return 10 ** 5000", "Exceeds the limit"),
    ("def answer(): return [[0] * 1000 for _ in range(300)]", "too many entries"),
    (
        """
        class Bad(Exception):
            def __str__(self): raise Bad
        def answer(): raise Bad
        """,
        "cannot be shown",
    ),
    (
        """
        class Slow(Exception):
            def __str__(self):
                while True: pass
        def answer(): raise Slow
        """,
        "cannot be shown",
    ),
    (
        """
        class Number(float):
            def __float__(self): raise ValueError('no number')
        def answer(): return {'x': Number(1)}
        """,
        "no number",
    ),
    (
        """
        class Endless:
            def __array__(self, *a, **k):
                while True: pass
        def answer():
            import numpy
            return Endless()
        """,
        "it took longer than 2 s",
    ),
    ("def answer():\n x = []\n x.append(x)\n return x", "deep"),
]


@pytest.fixture(scope="module")
def failing() -> Run:
    """Collect all of them, one after the other; what comes before a definition is the student's."""
    steps: list[Execute | Collect] = []
    for i, (source, _) in enumerate(FAILING):
        before, _, after = textwrap.dedent(source).partition("def answer")
        steps += [Execute(f"before {i}", before), Collect(str(i), "def answer" + after)]
    return run(steps, QUICK)


@pytest.mark.parametrize(("place", "says"), [(i, says) for i, (_, says) in enumerate(FAILING)])
def test_an_answer_that_fails_says_why(failing: Run, place: int, says: str) -> None:
    given = failing.failures.get(str(place), repr(failing.answers.get(str(place))))
    assert says in given
    assert (failing.ended, failing.stopped_at) == ("", None)


def test_a_source_without_an_answer_is_a_failure() -> None:
    result = run([Collect("q1", "x = 1"), Collect("q2", "def answer(: pass")], QUICK)
    assert result.failures["q1"] == "KeyError: 'answer'"
    assert "SyntaxError" in result.failures["q2"]


def test_numbers_that_pretend_to_be_others_arrive_as_what_they_are() -> None:
    result = collected(
        """
        class Any(float):
            __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda *_: True
            __hash__ = None
            def __sub__(self, other): return 0.0
            __rsub__ = __sub__
        def answer(): return {'x': Any(3), 'nan': float('nan'), 'inf': float('-inf')}
        """
    )
    answer = result.answers["q1"]
    assert type(answer["x"]) is float
    assert answer["x"] == 3.0
    assert np.isnan(answer["nan"])
    assert answer["inf"] == -np.inf


# what it cannot reach


def test_nothing_of_the_machine_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_TOKEN", "a-secret-of-the-course")
    result = cells(
        f"""
        import os
        from pathlib import Path
        for path in {[str(ROOT), str(ROOT / "grading"), str(Path.home() / ".ssh")]!r}:
            print(os.path.exists(path))
        for path in ("/etc/passwd", "/etc/shadow", "/home", "/var", "/sys", "/run", "/opt"):
            print(os.path.exists(path))
        """,
        """
        for process in os.listdir("/proc"):
            for name in ("environ", "cmdline"):
                try:
                    print(Path("/proc", process, name).read_bytes())
                except OSError:
                    pass
        print(os.environ)
        """,
        "print([p for p in os.listdir('/proc') if p.isdigit() and int(p) > 20])",
        """
        for name in ("root", "cwd"):
            try:
                print(os.path.exists(f"/proc/1/{name}/home"), os.path.exists(f"/proc/1/{name}/var"))
            except OSError:
                print(False, False)
        """,
        "print(sorted(os.listdir('/')))",
    )
    assert shown(result) == "False\n" * 10
    assert "a-secret" not in shown(result, "1")
    assert str(ROOT) not in shown(result, "1")
    assert shown(result, "2") == "[]\n"
    assert shown(result, "3") == "False False\n" * 2
    home = Path(os.path.realpath(sys.executable)).parts[1]
    expected = {"bin", "dev", "etc", "grader", "lib", "lib32", "lib64", "packages", "proc", "tmp"}
    assert set(ast.literal_eval(shown(result, "4"))) <= expected | {"usr", home}
    assert result.answers == FINE


@pytest.mark.parametrize("name", ["attnlib", "grading", "grading.hidden", "tests"])
def test_the_project_cannot_be_imported(name: str) -> None:
    result = cells(
        f"import {name}",
        f"""
        import sys
        for found in [each for each in sys.modules if each.split(".")[0] == "{name}".split(".")[0]]:
            del sys.modules[found]
        import {name}
        print(dir({name}), list({name}.__path__))
        {name}.__file__
        """,
    )
    assert "ModuleNotFoundError" in shown(result)
    assert "Error" in shown(result, "1")
    assert "ProblemSet" not in shown(result, "1")


def test_there_is_no_network() -> None:
    result = cells(
        """
        import socket
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_VSOCK, socket.AF_NETLINK):
            try:
                socket.socket(family)
                print("open")
            except OSError as error:
                print(type(error).__name__)
        try:
            print(socket.getaddrinfo("example.org", 80))
        except OSError as error:
            print(type(error).__name__)
        """,
        "print(open('/proc/net/dev').read().count(':'))",
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))",
    )
    assert shown(result) == "PermissionError\n" * 4 + "gaierror\n"
    assert shown(result, "1") == "1\n"
    assert shown(result, "2") == "b'x'\n"


def test_nothing_can_be_written_but_in_tmp_and_shared_memory() -> None:
    result = cells(
        """
        import os, sys
        folders = ["/", "/dev", "/dev/shm", "/grader", "/packages", "/packages/0", "/usr/lib"]
        folders += [sys.prefix + "/lib", "/proc", "/etc", "/usr/bin"]
        for folder in folders:
            try:
                open(folder + "/mine", "w")
                print("written:", folder)
            except OSError:
                pass
        for path in ("/grader/_inside.py", "/grader/_wire.py", "/proc/sys/kernel/hostname",
                     "/proc/sysrq-trigger", os.__file__, sys.executable):
            try:
                open(path, "a")
                print("written:", path)
            except OSError:
                pass
        for path in ("/tmp", "/grader", "/packages/0"):
            try:
                os.chmod(path, 0o777)
                print("changed:", path)
            except OSError:
                pass
        open("/tmp/mine", "w").write("x")
        print("done")
        """
    )
    # outside a user namespace, `/tmp` belongs to the superuser
    # and what processes share has a folder of limited size
    said = shown(result).removeprefix("written: /dev/shm\n").removeprefix("changed: /tmp\n")
    assert said == "done\n"


def test_the_disk_is_small() -> None:
    result = cells(
        """
        try:
            for i in range(100):
                with open(f"/tmp/{i}", "wb") as file:
                    file.write(b"x" * 10**6)
        except OSError as error:
            print(error.strerror)
        """,
        """
        import os
        for name in os.listdir("/tmp"):
            if name.isdigit():
                os.remove("/tmp/" + name)
        try:
            with open("/tmp/0", "wb", buffering=0) as file:
                for _ in range(10):
                    file.write(b"x" * 10**6)
        except OSError as error:
            print(error.strerror)
        """,
        limits=replace(PATIENT, disk_bytes=8_000_000, file_bytes=3_000_000),
    )
    assert shown(result) == "No space left on device\n"
    assert shown(result, "1") == "File too large\n"


def test_files_without_content_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_FILES", 300)
    result = cells("import os\nfor i in range(10**7): os.mknod(f'/tmp/{i}')")
    assert result.ended == "the program made more than 300 files"
    assert result.stopped_at == "0"


def test_it_has_no_powers() -> None:
    result = cells(
        """
        import ctypes, os
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print([int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb", "CapInh")])
        print(status["NoNewPrivs"].strip(), status["Seccomp"].strip())
        print(os.getuid() != 0, os.geteuid() != 0, len(set(os.getresuid() + os.getresgid())))
        print(os.path.exists("/proc/1/fd") and os.getppid() in (0, 1))
        """,
        """
        libc = ctypes.CDLL(None, use_errno=True)
        def call(name, *arguments):
            print(name, getattr(libc, name)(*arguments), ctypes.get_errno())
        call("unshare", 0x10000000)
        call("ptrace", 0, 0, 0, 0)
        call("mount", None, b"/tmp", b"tmpfs", 0, None)
        call("memfd_create", b"x", 0)
        call("shmget", 0, 4096, 0o1600)
        call("prctl", 1, 0, 0, 0, 0)
        call("setns", 0, 0)
        call("setuid", 0)
        call("syscall", 56, 0x10000011, 0, 0, 0, 0)
        call("syscall", 435, 0, 0)
        call("syscall", 425, 1, 0)
        """,
        "import os; os.setgroups([0])",
        "for n in range(3, 128):\n"
        " if os.path.lexists(f'/proc/self/fd/{n}'): print(os.readlink(f'/proc/self/fd/{n}')[:5])",
    )
    assert shown(result).splitlines() == ["[0, 0, 0, 0]", "1 2", "True True 1", "True"]
    # 1: not permitted; 38: the C library takes another call
    expected = ["unshare -1 1", "ptrace -1 1", "mount -1 1", "memfd_create -1 1", "shmget -1 1"]
    expected += ["prctl -1 1", "setns -1 1", None, "syscall -1 1", "syscall -1 38", "syscall -1 1"]
    for line, wanted in zip(shown(result, "1").splitlines(), expected, strict=True):
        assert line == wanted or (wanted is None and line.startswith("setuid -1"))
    assert "PermissionError" in shown(result, "2")
    assert shown(result, "3") == "pipe:\npipe:\n"


# what it cannot use up


def test_memory_of_one_process_is_limited() -> None:
    result = cells("x = bytearray(10**10)", limits=replace(PATIENT, memory_bytes=600_000_000))
    assert "MemoryError" in shown(result)
    assert result.answers == FINE


def test_memory_of_many_processes_is_limited() -> None:
    result = cells(
        """
        import os, time
        for _ in range(5):
            if os.fork() == 0:
                x = b"x" * 100_000_000
                time.sleep(20)
                os._exit(0)
        time.sleep(20)
        """,
        limits=replace(PATIENT, memory_bytes=300_000_000),
    )
    assert result.ended == "the program took more than 0.3 GB of memory"
    assert (result.stopped_at, result.answers) == ("0", {})


def test_pages_that_processes_share_count_once() -> None:
    result = cells(
        """
        import os, time
        x = b"x" * 100_000_000
        for _ in range(5):
            if os.fork() == 0:
                time.sleep(0.5)
                os._exit(0)
        time.sleep(0.3)
        """,
        limits=replace(PATIENT, memory_bytes=300_000_000),
    )
    assert result.ended == ""
    assert result.answers == FINE


def test_a_process_whose_memory_cannot_be_read_counts_all_that_is_resident() -> None:
    assert sandbox._Process(2**30, 0.0, 4096).memory() == 4096


# in this file no process that a test starts may start further ones without end: should the limit
# not hold, the machine would freeze
@pytest.mark.parametrize("fork", ["os.fork()", "libc.fork()"])
def test_only_so_many_processes_can_be_started(fork: str) -> None:
    result = cells(
        f"""
        import ctypes, os, time
        libc = ctypes.CDLL(None)
        started = 0
        for _ in range(60):
            try:
                child = {fork}
            except OSError:
                break
            if child == 0:
                time.sleep(20)
                os._exit(0)
            if child < 0:
                break
            started += 1
        print(started)
        """,
        limits=replace(PATIENT, processes=20),
    )
    assert 10 < int(shown(result)) < 20
    assert result.answers == FINE
    assert not left()


def test_threads_count_as_processes() -> None:
    result = cells(
        """
        import threading, time
        for _ in range(60):
            threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        """,
        limits=replace(PATIENT, processes=20),
    )
    assert "can't start new thread" in shown(result)


def test_processes_are_counted_from_outside_too(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = sandbox._resource_limits
    monkeypatch.setattr(
        sandbox, "_resource_limits", lambda *a, **k: {**limits(*a, **k), "RLIMIT_NPROC": 64}
    )
    result = cells(
        """
        import os, time
        for _ in range(30):
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
        time.sleep(20)
        """,
        limits=replace(PATIENT, processes=8),
    )
    assert result.ended == "the program started more than 8 processes"
    assert not left()


def test_the_count_of_processes_ends_where_there_are_too_many() -> None:
    assert len(sandbox._tree(1, 0)) == 1


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("print(32)", "does not limit processes: 32 started where 32 may run"),
        ("print('many')", "does not work"),
        ("1 / 0", "does not work"),
        ("import os; os._exit(0)", "does not work: the program ended itself"),
    ],
)
def test_a_sandbox_that_does_not_limit_processes_is_none(
    asked_anew: pytest.MonkeyPatch, source: str, says: str
) -> None:
    asked_anew.setattr(sandbox, "FORKS", source)
    assert says in str(sandbox.why_unavailable())


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        """
        import threading, hashlib
        for _ in range(3):
            work = lambda: [hashlib.sha256(b"x" * 10**6) for _ in range(10**9)]
            threading.Thread(target=work).start()
        while True: pass
        """,
        """
        import os
        for _ in range(3):
            if os.fork() == 0:
                while True: pass
        os.wait()
        """,
    ],
)
def test_processor_time_is_limited_for_all_together(source: str) -> None:
    result = cells(source, limits=replace(PATIENT, cpu_seconds=1))
    assert result.ended == "the program took more than 1 s of processor time"
    assert result.stopped_at == "0"
    assert result.cpu_seconds >= 1


def test_a_cell_that_takes_too_long_is_interrupted_and_the_rest_runs() -> None:
    result = cells("x = 1\nimport time\ntime.sleep(60)", "x")
    assert "OutOfTime: this cell ran longer than 2 s" in shown(result)
    assert shown(result, "1") == "1"
    assert result.answers == FINE


@pytest.mark.parametrize(
    "source",
    [
        """
        while True:
            try:
                while True: len("x")
            except BaseException:
                pass
        """,
        """
        import signal, time
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(60)
        """,
        """
        import signal, time
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        time.sleep(60)
        """,
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP); import time; time.sleep(60)",
    ],
)
@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_interrupted_is_killed(source: str) -> None:
    result = cells("first = 1", source, "first")
    assert result.ended == "this cell ran longer than 2 s" or "OutOfTime" in shown(result, "1")
    assert set(result.outputs) in ({"0"}, {"0", "1", "2"})
    assert not left()


@pytest.mark.usefixtures("impatient")
def test_a_swallowed_interrupt_ends_the_run_at_its_cell() -> None:
    result = cells(
        "import time; ok = 1",
        "while True:\n try:\n  while True: time.sleep(0.01)\n except BaseException: pass",
        "ok",
    )
    assert (result.ended, result.stopped_at) == ("this cell ran longer than 2 s", "1")
    assert set(result.outputs) == {"0"}
    assert result.answers == {}


def test_the_whole_notebook_has_its_time() -> None:
    result = cells(*["import time; time.sleep(0.4)"] * 6, limits=replace(PATIENT, wall_seconds=1.0))
    assert result.ended == "the notebook ran longer than 1 s in all"
    assert result.stopped_at in result.outputs or result.stopped_at == str(len(result.outputs))


# what it cannot say


def test_long_outputs_are_cut() -> None:
    result = cells(
        "print('x' * 10**7)",
        "while True: print('y' * 1000)",
        "import sys\nfor _ in range(10**4):\n print(1); print(2, file=sys.stderr)",
        "from IPython.display import Image\n"
        "image = b'\\x89PNG\\r\\n\\x1a\\n' + b'x' * 600_000\n"
        "for i in range(3): display(Image(image, format='png'))",
        "print('z' * 10**6); 1 / 0",
    )
    for key in ("0", "1", "4"):
        assert 60_000 < len(shown(result, key)) < 100_000
    assert "beyond this is left out" in shown(result)
    assert "OutOfTime" in shown(result, "1")
    assert len(result.outputs["2"]) == 200
    assert sum("image/png" in output["data"] for output in result.outputs["3"]) <= 1
    assert "ZeroDivisionError" in shown(result, "4")
    assert result.answers == FINE


def test_outputs_and_answers_together_have_a_size() -> None:
    result = cells(*["print('x' * 60_000)"] * 10, limits=replace(PATIENT, reply_bytes=200_000))
    assert result.ended == "what the program shows and answers is larger than 0.2 MB"
    assert result.stopped_at == "3"


FORGERIES = {
    "a line in advance": 'line = b\'{"token": "x", "outputs": []}\\n\'',
    "an answer": 'line = b\'{"token": "x", "answer": 2}\\n\'',
    "no JSON": "line = b'nonsense\\n'",
    "a list": "line = b'[1]\\n'",
    "something deep": "line = b'[' * 10**5 + b'\\n'",
    "too many values": "line = b'[' + b'0,' * 1_100_000 + b'0]\\n'",
    "bytes that are no text": "line = b'\\xff\\xfe\\n'",
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_reply_is_no_reply(forgery: str) -> None:
    result = cells(
        f"""
        import os
        {forgery}
        for number in range(3, 128):
            try:
                os.write(number, line)
            except OSError:
                pass
        """,
        "x = 1",
    )
    assert "the connection through which it is graded" in result.ended
    assert result.stopped_at == "0"
    assert result.outputs == result.answers == {}


def test_endless_forgeries_end_at_the_limit() -> None:
    result = cells(
        """
        import os
        while True:
            for number in range(3, 128):
                try:
                    os.write(number, b"x" * 60_000)
                except OSError:
                    pass
        """,
        # a step that is interrupted before answers in the middle of its forgeries
        limits=replace(PATIENT, cell_seconds=60.0),
    )
    assert "is larger than 8 MB" in result.ended


def test_a_reply_with_the_right_token_is_checked_all_the_same() -> None:
    result = cells(
        """
        import gc, json, os
        runner = next(each for each in gc.get_objects() if type(each).__name__ == "Runner")
        page = {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}}
        script = {"output_type": "stream", "text": ["a"], "name": "<script>"}
        type(runner).execute = lambda *_: {"outputs": [page, script, 3, None], "answer": 5}
        type(runner).collect = lambda *_: {"answer": {"array": ["x"], "kind": [], "shape": -1}}
        """,
        "x = 1",
    )
    assert result.outputs["1"] == []
    assert result.answers == {}
    assert result.failures["sound"]
    assert result.ended == ""


def test_a_reply_that_says_nothing_is_no_answer() -> None:
    result = cells(
        """
        import gc
        runner = next(each for each in gc.get_objects() if type(each).__name__ == "Runner")
        type(runner).collect = lambda *_: {"failed": ["x"]}
        """
    )
    assert result.failures == {"sound": "there is no answer"}


@pytest.mark.parametrize(
    "source",
    [
        "import sys; sys.stdout = sys.stderr = sys.displayhook = None",
        "import builtins; builtins.print = builtins.isinstance = None",
        "import json; json.dumps = json.loads = None",
        "get_ipython().run_cell = lambda *a, **k: None",
        "get_ipython().events.register('post_run_cell', lambda *_: 1 / 0)",
        "get_ipython().ast_transformers.append(3)",
        "import sys; sys.setrecursionlimit(60)",
        "import sys; sys.settrace(lambda *_: 1 / 0)",
        "import sys; sys.modules.clear()",
        "import sys; sys.modules['_wire'] = None; sys.path[:] = []",
        "import os; os.write = os.read = os._exit = None",
        "import IPython; IPython.display.display = None; del _, In, Out",
        "import atexit, time; atexit.register(time.sleep, 60)",
        "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
        "import os, time\nif os.fork() == 0: time.sleep(60)",
        "import os\nos.fork()",
        "import os, signal; os.kill(os.getppid() or 1, signal.SIGTERM)",
        "import os, signal; os.kill(1, signal.SIGHUP) if os.getpid() != 1 else None",
        "import os, signal; os.kill(-1, signal.SIGKILL)",
        "import os; os.nice(19)",
        "import gc; gc.disable(); gc.freeze()",
    ],
)
@pytest.mark.usefixtures("impatient")
def test_mischief_hurts_at_most_its_own_answers(source: str) -> None:
    result = cells(source)
    assert result.answers in ({}, FINE)
    if result.answers == {}:
        assert result.ended or result.failures
    assert not left()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import os; os._exit(0)", "the program ended itself"),
        ("import os; os._exit(7)", "the program ended itself"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("import sys; sys.setrecursionlimit(10**9)\ndef f(*a): return f(*map(f, a))\nf(1)", ""),
        ("import os; os.closerange(3, 128)\nimport time; time.sleep(60)", "closed the connection"),
        ("import os; os.abort()", "crashed"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_a_program_that_ends_itself_says_how(source: str, says: str) -> None:
    result = cells("x = 1", source, "x")
    assert says in result.ended
    if result.ended:
        assert result.stopped_at == "1"
        assert set(result.outputs) == {"0"}
    assert not left()


def test_a_program_that_kills_itself_has_no_answers() -> None:
    result = cells("import os, signal, time; os.kill(os.getpid(), signal.SIGKILL)")
    # the first process of a user namespace's sandbox cannot; everywhere else it is the end
    assert "was killed" in result.ended or result.answers == FINE


@pytest.mark.parametrize(
    ("keep", "says"),
    [
        ("os.dup(number)", "this cell ran longer than 2 s"),
        ("None", "the program closed the connection through which it is graded"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_a_request_that_nobody_reads_has_its_time_too(keep: str, says: str) -> None:
    result = cells(
        f"""
        import fcntl, os
        for number in range(3, 128):
            try:
                link, flags = os.readlink(f"/proc/self/fd/{{number}}"), fcntl.fcntl(number, 3)
            except OSError:
                continue
            if link.startswith("pipe:") and flags & 3 == os.O_RDONLY:
                kept, other = {keep}, os.pipe()
                os.dup2(other[0], number)
                break
        """,
        "#" + "x" * 300_000,
    )
    assert (result.ended, result.stopped_at) == (says, "1")
    assert set(result.outputs) == {"0"}


# what is left


def test_what_runs_on_in_the_background_dies_with_the_sandbox() -> None:
    marker = f"marker-{os.getpid()}"
    result = cells(
        f"""
        import os, subprocess, sys
        code = "import os, time; os.setsid() if os.fork() == 0 else None; time.sleep(600)"
        subprocess.Popen([sys.executable, "-S", "-c", code, "{marker}"], start_new_session=True)
        """,
        "import time; time.sleep(0.3)",
    )
    assert result.answers == FINE
    assert gone(marker)


def test_a_sandbox_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    marker = f"orphan{os.getpid()}"
    started = tmp_path / "started.py"
    started.write_text(
        f"from grading.sandbox import sandbox\n"
        f"sandbox.run([sandbox.Execute('0', 'import subprocess, time;"
        f'subprocess.Popen(["sh", "-c", "sleep 600; true", "{marker}"]); time.sleep(600)\')],'
        f"sandbox.Limits(cell_seconds=600))",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sandbox._packages()])}
    parent = subprocess.Popen([sys.executable, str(started)], env=environment)
    try:
        while not [pid for pid in alive(marker) if pid != parent.pid]:
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    assert gone(marker)


def test_sandboxes_leave_no_file_and_no_descriptor() -> None:
    cells("x = 1")
    before = len(list(DESCRIPTORS.iterdir())), {each.name for each in TEMPORARY.iterdir()}
    cells("open('/tmp/left-behind', 'w').write('x')")
    cells("import os; os._exit(1)")
    after = len(list(DESCRIPTORS.iterdir())), {each.name for each in TEMPORARY.iterdir()}
    assert after[0] == before[0]
    assert "left-behind" not in after[1]


def test_two_sandboxes_do_not_see_each_other() -> None:
    first = cells("open('/tmp/x', 'w').write('x'); import os; os.getuid()")
    second = cells("import os; print(os.path.exists('/tmp/x')); os.getuid()")
    assert shown(second).startswith("False")
    if os.geteuid() == 0:
        assert shown(first) != shown(second).removeprefix("False\n")


# where there is none


@pytest.mark.usefixtures("impatient")
def test_without_a_sandbox_the_limits_still_hold() -> None:
    result = cells("x = 1", "import attnlib", "x", unsafe=True)
    assert "ModuleNotFoundError" in shown(result, "1")
    assert shown(result, "2") == "1"
    assert result.answers == FINE
    killed = cells("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", unsafe=True)
    assert "was killed" in killed.ended
    stuck = cells(
        "import time\nwhile True:\n try:\n  while True: time.sleep(0.01)\n except BaseException: 1",
        unsafe=True,
    )
    assert stuck.stopped_at == "0"
    assert not left()


@pytest.fixture
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let `why_unavailable` find out again, without what it found before."""
    monkeypatch.setattr(sandbox, "why_unavailable", why_unavailable.__wrapped__)
    return monkeypatch


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("sys.platform", "darwin", "needs Linux"),
        ("shutil.which", lambda _: None, "install the package bubblewrap"),
        ("_seccomp.supported", lambda: False, "x86_64 or aarch64"),
        ("_options", lambda _: ["--no-such-option"], "did not start"),
        ("_python", lambda *_: ["/usr/bin/false"], "did not start"),
        ("_children", None, "children"),
    ],
)
def test_it_says_why_there_is_no_sandbox(
    asked_anew: pytest.MonkeyPatch, name: str, value: Any, says: str
) -> None:
    if name == "_children":
        asked_anew.setattr(sandbox.Path, "glob", lambda *_: iter(()))
    else:
        asked_anew.setattr(f"grading.sandbox.sandbox.{name}", value)
    with pytest.raises(SandboxUnavailable, match=says):
        run([SOUND])


def test_root_needs_the_program_that_gives_up_its_powers(asked_anew: pytest.MonkeyPatch) -> None:
    asked_anew.setattr(sandbox.os, "geteuid", lambda: 0)
    asked_anew.setattr(sandbox.shutil, "which", lambda name: name if name == "bwrap" else None)
    assert sandbox.why_unavailable() == "the sandbox needs setpriv; install the package util-linux"


@pytest.mark.parametrize("words", ["AppArmor", "container"])
def test_it_names_the_setting_that_forbids_namespaces(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: 1000)
    value = "1\n" if words == "AppArmor" else "none\n"
    monkeypatch.setattr(sandbox.Path, "read_text", lambda *_, **__: value)
    assert words in sandbox._hint()


def test_an_ordinary_user_gets_a_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    for user in (1000, 0):
        monkeypatch.setattr(sandbox.os, "geteuid", lambda user=user: user)
        options = sandbox._options(QUICK)
        assert ("--unshare-user" in options) == (user != 0)
        assert ("--as-pid-1" in options) == (user != 0)
        assert ("CAP_SETUID" in options) == (user == 0)
        assert bool(sandbox._user()) == (user == 0)


def test_each_sandbox_of_the_superuser_has_a_user_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: 0)
    users = [sandbox._user()[2] for _ in range(10)]
    assert len(set(users)) == 10
    assert all(2_000_000_000 <= int(user) < 2**32 - 1 for user in users)


def test_a_failed_start_leaves_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    cells("1")

    def broken(*_: Any, **__: Any) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(sandbox.subprocess, "Popen", broken)
    before = len(list(DESCRIPTORS.iterdir()))
    with pytest.raises(OSError, match="no more processes"):
        run([SOUND])
    assert len(list(DESCRIPTORS.iterdir())) == before


# the parts outside


def test_the_filter_knows_both_kinds_of_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, first in _seccomp.ARCHITECTURES.items():
        monkeypatch.setattr(_seccomp.platform, "machine", lambda machine=machine: machine)
        program = _seccomp.seccomp_filter()
        instructions = list(struct.iter_unpack("<HBBI", program))
        assert instructions[1] == (0x15, 1, 0, first)
        assert instructions[-1] == (0x06, 0, 0, 0x7FFF0000)
        for i, (code, true, false, _) in enumerate(instructions):
            if code != _seccomp.RETURN:
                assert i + 1 + max(true, false) < len(instructions)
    monkeypatch.setattr(_seccomp.platform, "machine", lambda: "riscv64")
    assert not _seccomp.supported()
    with pytest.raises(ValueError, match="riscv64"):
        _seccomp.seccomp_filter()


def png(width: int, height: int, size: int = 50) -> str:
    """Return what looks like a PNG of these dimensions, in base64."""
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", width, height)
    return base64.b64encode(head + b"\0" * size).decode()


def figure(image: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"image/png": image}, "metadata": {"x": 1}}


def test_images_are_checked() -> None:
    assert clean_outputs([figure(png(10, 10))]) == [
        {"output_type": "display_data", "data": {"image/png": png(10, 10)}, "metadata": {}}
    ]
    gif = base64.b64encode(b"GIF89a" + b"\0" * 50).decode()
    bad = ["", "!!!!", "a", "é", gif, png(10, 10)[:20], png(10**5, 10**5), 3, None, ["x"]]
    assert clean_outputs([figure(image) for image in bad]) == []
    large = [figure(png(10, 10, 300_000)) for _ in range(5)]
    assert len(clean_outputs(large)) == 2


@pytest.mark.parametrize("claimed", [None, 3, "x", {}, [3], [{}], [{"output_type": "page"}]])
def test_what_is_no_output_is_left_out(claimed: Any) -> None:
    assert clean_outputs(claimed) == []


def test_outputs_are_made_anew() -> None:
    claimed = [
        {"output_type": "stream", "name": "<b>", "text": "a\x1b[2J\x00b", "extra": 1},
        {"output_type": "stream", "name": "stdout", "text": 3},
        {"output_type": "display_data", "data": {"text/html": "<b>", "text/plain": "c"}},
        {"output_type": "display_data", "data": [1]},
        {"output_type": "execute_result", "data": {"text/plain": "d"}, "execution_count": -1},
        {"output_type": "error", "ename": 3, "evalue": "\ud800", "traceback": ["x", 4]},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": "no list"},
    ]
    assert clean_outputs(claimed) == [
        {"output_type": "stream", "name": "stdout", "text": "ab"},
        {"output_type": "display_data", "data": {"text/plain": "c"}, "metadata": {}},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "d"},
            "metadata": {},
            "execution_count": None,
        },
        {"output_type": "error", "ename": "", "evalue": "?", "traceback": ["x", ""]},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []},
    ]
    assert json.dumps(clean_outputs(claimed)).isascii()


def test_text_is_cut_over_all_outputs_of_a_cell() -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": "x" * 50_000}
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["y" * 50_000]}
    cleaned = clean_outputs([stream, stream, stream, error])
    assert sum(len(each.get("text", "")) for each in cleaned) == 65_536
    assert len(cleaned[-1]["traceback"][0]) == 32_768
    assert clean_text("a\tb\r\nç√\x9b") == "a\tb\r\nç√"
    assert signal.SIGKILL == 9


class _Scripted:
    """A sandbox whose steps take what a script says, instead of a real one."""

    cpu_seconds = waited = 0.0

    def __init__(self, took: list[float]) -> None:
        self.took, self.at = iter(took), 0.0
        self.last, self.granted, self.slack = 100.0, 0.0, sandbox.SLACK

    def clock(self) -> tuple[float, float]:
        return self.at, self.at

    def ask(self, _request: object) -> dict[str, object]:
        self.at += next(self.took)
        return {"outputs": []}

    grant = sandbox._Sandbox.grant


def test_what_runs_once_more_is_granted_what_it_took_and_counts_as_what_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = 200
    scripted = _Scripted([4.0, *[0.0] * many, 3.0, *[0.5] * many])
    monkeypatch.setattr(sandbox, "prepare", lambda **_: None)
    monkeypatch.setattr(sandbox, "_start", lambda *_, **__: contextlib.nullcontext(scripted))
    cells = [Execute(str(i), "") for i in range(many + 1)]
    found = run([*cells, *(Execute(f"{i} again", "", str(i)) for i in range(many + 1))])
    assert found.repeated == 3.0 + 0.5 * many
    # a second for each cell that took none would be minutes
    assert scripted.last == 100.0 + 1.5 * 4.0 + sandbox.SLACK
    assert scripted.granted == 1.5 * 4.0 + sandbox.SLACK
