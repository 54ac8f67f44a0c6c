"""Runs a submission where it can reach nothing: no network, no files, no other process.

`run` starts one process in namespaces of its own, by bubblewrap, and hands it one step after
another: cells to execute, and answers to collect. Everything that comes back is data, and is
checked before anybody uses it.

What a submission finds inside is a read-only Python with its packages, the two files of the runner,
an empty environment and an empty ``/tmp`` of limited size. The book, the problem sets with their
hidden checks, the other submissions and the gradebook do not exist there.

Three things limit what it takes. The runner lowers its own resource limits before it executes
anything; the process that called `run` looks at the whole tree of processes twenty times a second
and kills it where the sum is too large; and each step has its time. Control groups would be one
more means, but they must be delegated to the user who grades, and most machines do not do that.

Ordinary users get a user namespace, in which the limit on processes counts for itself. The
superuser's processes are exempt from that limit, so under root each sandbox runs as a user of its
own that owns nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from grading.safe_text import clean_text
from grading.sandbox import _inside as inside
from grading.sandbox import seccomp as _seccomp
from grading.sandbox._wire import decode, encode
from grading.sandbox.outputs import clean_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).resolve().parent
INSIDE = ("_inside.py", "_wire.py")
# modules that may be installed beside the packages that a submission needs: those of the project,
# and nbgrader, which brings a gradebook to test itself with
ABSENT = ("attnbook", "attnlib", "grading", "nbgrader")
INTERVAL = 0.05
# for an interrupted cell to show its traceback, on a machine with much to do
START_SECONDS = 60.0
GRACE = 5.0
# how much longer a step may take than it took, where it runs once more, and all of them beyond that
AGAIN = 1.5
SLACK = 10.0
MOST_FILES = 20_000
# none needs more than a few, and each holds as much memory that is no process's as the kernel
# gives a socket unasked; nobody inside can ask for more
MOST_SOCKETS = 128
MOST_VALUES = 1_000_000
PARTS_OF_A_VALUE = (b",", b"[", b"{", b":")
FIRST_USER = 2_000_000_000
CRASHES = (
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSYS,
)
TAKEN = itertools.count()
# a cell that tries to start a few more processes than may run; none of them starts another
FORKS = """
import os, time
started = 0
for _ in range({most}):
    try:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
    except OSError:
        break
    started += 1
print(started)
"""


class SandboxUnavailable(RuntimeError):  # noqa: N818, says what is the case
    """Submissions cannot run apart from everything else on this machine."""


@dataclass(frozen=True)
class Limits:
    """What one submission may take."""

    # neither counts while others have the processors
    wall_seconds: float = 120.0  # from the first step to the last
    cell_seconds: float = 20.0  # for each step
    cpu_seconds: int = 60  # of processor time, for all of its processes together
    # for all of its processes together; what it writes to ``/tmp`` counts as `disk_bytes`
    memory_bytes: int = 1_500_000_000
    processes: int = 32  # processes and threads at any one time
    file_bytes: int = 64_000_000  # for one file
    disk_bytes: int = 128_000_000  # For all files. They are in memory.
    shared_bytes: int = 16_000_000  # for what processes share, locks among it; in memory, too
    reply_bytes: int = 8_000_000  # for everything that it shows and answers


@dataclass(frozen=True)
class Execute:
    """A cell to run."""

    key: str  # the name under which its outputs are kept
    source: str  # IPython code
    # of which earlier step this is a repetition; its time is not taken from the student's
    again: str = ""


@dataclass(frozen=True)
class Collect:
    """An answer to fetch."""

    key: str  # the name under which the answer is kept
    source: str  # defines the function `answer`, which sees the student's names
    # what `answer` is called with, by name; made of what `grading.sandbox._wire` encodes
    inputs: dict[str, Any] = field(default_factory=dict)
    again: str = ""  # an answer is fetched once


@dataclass
class Run:
    """What came out of a sandbox."""

    # of each cell that ended, its outputs in nbformat's form: plain texts, PNG images and
    # exceptions
    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)  # what each `answer` returned
    # why there is no answer, for each that raised or returned nothing usable
    failures: dict[str, str] = field(default_factory=dict)
    # why the program ended before its last step, for the student; empty where it did not
    ended: str = ""
    # The step during which it ended. Neither this step nor those after it have results.
    stopped_at: str | None = None
    cpu_seconds: float = 0.0  # processor time of all of its processes
    repeated: float = 0.0  # seconds that steps took which ran once more
    waited: float = 0.0  # seconds in which others had the processors


class _Ended(Exception):  # noqa: N818, no error of ours
    """The program is over before its time; the message is for the student."""


def run(
    steps: Iterable[Execute | Collect], limits: Limits | None = None, *, unsafe: bool = False
) -> Run:
    """Run the steps of one submission in a new sandbox.

    They share one namespace. With `unsafe` there is no bubblewrap: the student's code then can do
    whatever the caller can, and the limits hold for code that does not try to get around them.
    Raises `SandboxUnavailable` if bubblewrap cannot run here, or the runner does not start.
    """
    limits = limits or Limits()
    prepare(unsafe=unsafe)
    result = Run()
    steps = tuple(steps)
    repeats = 1 + max(Counter(each.again for each in steps if each.again).values(), default=0)
    took: dict[str, tuple[float, float]] = {}
    with _start(limits, unsafe=unsafe, repeats=repeats) as sandbox:
        for step in steps:
            if step.again in took:
                sandbox.grant(*took[step.again])
            before = sandbox.clock()
            try:
                _take(step, sandbox, result)
            except _Ended as ended:
                result.ended, result.stopped_at = str(ended), step.key
            if repeats > 1:
                wall, cpu = (now - then for now, then in zip(sandbox.clock(), before, strict=True))
                took[step.key] = wall, cpu
                result.repeated += wall if step.again in took else 0.0
            if result.ended:
                break
    result.cpu_seconds, result.waited = sandbox.cpu_seconds, sandbox.waited
    return result


def _take(step: Execute | Collect, sandbox: _Sandbox, result: Run) -> None:
    """Take one step and keep what it gives."""
    request = {"source": step.source}
    if isinstance(step, Execute):
        result.outputs[step.key] = clean_outputs(sandbox.ask(request).get("outputs"), _own_paths())
        return
    reply = sandbox.ask({**request, "inputs": encode(step.inputs)})
    if "answer" not in reply:
        words = clean_text(reply.get("failed"), 2000, _own_paths())
        result.failures[step.key] = words or "there is no answer"
        return
    try:
        result.answers[step.key] = decode(reply["answer"])
    except (ValueError, TypeError, OverflowError) as error:
        result.failures[step.key] = str(error)


class _Sandbox:
    """One runner, and the only two pipes that lead to it.

    `process` is bubblewrap, or the runner itself where there is none, and `requests` and `replies`
    are the descriptors of our ends of the pipes.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        requests: int,
        replies: int,
        limits: Limits,
        *,
        unsafe: bool,
    ) -> None:
        self.process = process
        self.requests = requests
        self.replies = replies
        self.limits = limits
        self.unsafe = unsafe
        self.cpu_seconds = 0.0
        self.status: int | None = None
        self.ready = False
        self.errors = b""
        self.buffer = bytearray()
        self.received = 0
        self.looked = time.monotonic()
        self.waits: dict[str, tuple[int, int]] = {}
        self.waited = 0.0  # seconds in which others had the processors; they count for no limit
        self.last = self.now() + START_SECONDS
        self.granted = 0.0  # seconds of processor time beyond the limit
        self.slack = SLACK
        self.next_look = 0.0
        os.set_blocking(requests, False)
        os.set_blocking(replies, False)

    def __enter__(self) -> Self:
        """Wait until the runner is ready."""
        try:
            ready = self._reply(self.last)
        except _Ended as ended:
            ready = {"failed": str(ended)}
        if ready.get("token") != "ready":
            self.close()
            said = self.errors.decode(errors="replace").strip()
            raise SandboxUnavailable(f"the runner did not start: {said or ready}")
        self.ready = True
        self.last = self.now() + self.limits.wall_seconds
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing running."""
        self.close()

    def clock(self) -> tuple[float, float]:
        """Return the time, and the processor time of all processes."""
        tree = _tree(self.process.pid, self.limits.processes + 3) if self.is_watched else []
        return self.now(), sum(each.cpu_seconds for each in tree)

    def now(self) -> float:
        """Return the time by a clock that stands still while others have the processors."""
        return time.monotonic() - self.waited

    @property
    def is_watched(self) -> bool:
        """Return whether what the processes take can be seen."""
        return sys.platform == "linux"

    def grant(self, wall: float, cpu: float) -> None:
        """Let a step that runs once more take what it took, and half as much again.

        What takes no time may take a second more, and all such steps together a few.
        """
        more = min(1.0, self.slack)
        self.slack -= more
        self.last += AGAIN * wall + more
        self.granted += AGAIN * cpu + more

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to one request."""
        token = secrets.token_hex(8)
        seconds = self.limits.cell_seconds
        until = self.now() + seconds + GRACE
        self._send(json.dumps({"token": token, **request}).encode() + b"\n", until)
        reply = self._reply(until)
        if reply.get("token") != token or self.buffer:
            raise _Ended("the program wrote into the connection through which it is graded")
        return reply

    def _send(self, data: bytes, until: float) -> None:
        """Write a request, which a runner that is busy otherwise may never read."""
        left = memoryview(data)
        while left:
            self._wait(until, writing=True)
            try:
                left = left[os.write(self.requests, left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise _Ended(self._fate()) from None

    def _reply(self, until: float) -> dict[str, Any]:
        """Read one line and return what it says; a line that says nothing is an empty reply."""
        while b"\n" not in self.buffer:
            self._wait(until)
            try:
                data = os.read(self.replies, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                raise _Ended(self._fate())
            self.received += len(data)
            if self.received > self.limits.reply_bytes:
                size = self.limits.reply_bytes / 1e6
                raise _Ended(f"what the program shows and answers is larger than {size:g} MB")
            self.buffer += data
        end = self.buffer.index(b"\n")
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return _parse(line)

    def _wait(self, until: float, *, writing: bool = False) -> None:
        """Wait until a pipe is ready or it is time to look after the sandbox."""
        now = self.now()
        if now > self.last:
            raise _Ended(f"the notebook ran longer than {self.limits.wall_seconds:g} s in all")
        if now > until:
            raise _Ended(f"this cell ran longer than {self.limits.cell_seconds:g} s")
        if time.monotonic() >= self.next_look:
            self._look()
        poll = select.poll()
        if writing:
            poll.register(self.requests, select.POLLOUT)
        else:
            poll.register(self.replies, select.POLLIN)
        poll.poll(INTERVAL * 1000)

    def _look(self) -> None:
        """Kill what takes too much, all processes together."""
        began = time.monotonic()
        self.next_look = began + INTERVAL
        if not self.is_watched:
            return
        limits = self.limits
        most = limits.processes + 3
        tree = _tree(self.process.pid, most)
        waits = inside.waits([f"/proc/{each.pid}" for each in tree])
        self.waited += inside.lost(self.waits, waits, began - self.looked)
        self.looked, self.waits = began, waits
        if len(tree) > most:
            raise _Ended(f"the program started more than {limits.processes} processes")
        if sum(each.cpu_seconds for each in tree) > limits.cpu_seconds + self.granted:
            raise _Ended(f"the program took more than {limits.cpu_seconds} s of processor time")
        if sum(each.resident for each in tree) > limits.memory_bytes:
            # pages that several processes share have counted several times
            if sum(each.memory() for each in tree) > limits.memory_bytes:
                size = limits.memory_bytes / 1e9
                raise _Ended(f"the program took more than {size:g} GB of memory")
            self.next_look += 5 * (time.monotonic() - began)
        # before, the first process may still see the machine's own folders
        if self.ready and not self.unsafe and _files(tree) > MOST_FILES:
            raise _Ended(f"the program made more than {MOST_FILES} files")
        if self.ready and not self.unsafe and _sockets(tree) > MOST_SOCKETS:
            raise _Ended(f"the program opened more than {MOST_SOCKETS} sockets")

    def _fate(self) -> str:
        """Return what became of a program that no longer answers."""
        until = time.monotonic() + GRACE
        while self.status is None and time.monotonic() < until:
            self._reap()
            time.sleep(0.005)
        if self.status is None:
            return "the program closed the connection through which it is graded"
        number = self.status - 128 if self.status > 128 else -self.status
        if number == signal.SIGXCPU:
            return f"the program took more than {self.limits.cpu_seconds} s of processor time"
        if number == signal.SIGKILL:
            return "the program was killed: by itself, or because the machine ran out of memory"
        # which signal or exit status it was could tell what a function was called with
        if number in CRASHES:
            return "the program crashed, as by recursion without end"
        return "the program ended itself"

    def _reap(self) -> None:
        """Take note if the outermost process has ended, and of what all of them took."""
        if self.status is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_seconds = max(self.cpu_seconds, usage.ru_utime + usage.ru_stime)

    def close(self) -> None:
        """Kill what is left, and wait until it is gone.

        Where the first process of a namespace dies, the kernel kills all others in it.
        """
        for descriptor in (self.requests, self.replies):
            os.close(descriptor)
        self._reap()
        if self.status is None and sys.platform == "linux":
            # the kernel does not hand on the times of processes that die with their namespace
            self.cpu_seconds = sum(
                each.cpu_seconds for each in _tree(self.process.pid, self.limits.processes + 3)
            )
        began = time.monotonic()
        while self.status is None:
            inner = _children(self.process.pid)
            stuck = time.monotonic() - began > GRACE
            for pid in [self.process.pid] if self.unsafe or stuck else inner:
                _kill(pid, group=self.unsafe)
            self._reap()
            time.sleep(0.002)
        with self.process.stderr as errors:
            os.set_blocking(errors.fileno(), False)
            self.errors = errors.read(4000) or b""


def _parse(line: bytes) -> dict[str, Any]:
    """Return what a line says, if it is a reply at all."""
    if sum(line.count(part) for part in PARTS_OF_A_VALUE) > MOST_VALUES:
        return {}
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return reply if type(reply) is dict else {}


@dataclass(frozen=True)
class _Process:
    """A process of a sandbox as /proc shows it."""

    pid: int
    cpu_seconds: float
    resident: int

    def memory(self) -> int:
        """Return its share of memory in bytes; all that is resident where the share is unknown."""
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii")
            sizes = dict(line.split(":") for line in text.splitlines()[1:])
            return sum(int(sizes[name].split()[0]) * 1024 for name in ("Pss", "SwapPss"))
        return self.resident


def _tree(pid: int, most: int) -> list[_Process]:
    """Return a process and all that descend from it, but hardly more than `most`.

    To count them all would take longer than it takes to start as many again.
    """
    found: list[_Process] = []
    waiting = [pid]
    while waiting and len(found) <= most:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            fields = text.rpartition(")")[2].split()
            ticks = sum(int(number) for number in fields[11:15])
            pages = int(fields[21])
            seconds = ticks / os.sysconf("SC_CLK_TCK")
            found.append(_Process(pid, seconds, pages * os.sysconf("SC_PAGE_SIZE")))
            waiting += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    """Return the processes that a process started, by whichever of its threads."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in path.read_text(encoding="ascii").split()]
    return found


def _files(tree: list[_Process]) -> int:
    """Return how many files and folders a sandbox has made."""
    count = 0
    for process in tree[1:2]:
        for folder in ("tmp", "dev/shm"):
            with contextlib.suppress(OSError):
                system = os.statvfs(Path("/proc", str(process.pid), "root", folder))
                count += system.f_files - system.f_ffree
    return count


def _sockets(tree: list[_Process]) -> int:
    """Return how many sockets there are in a sandbox; those between its processes are the only."""
    count = 0
    for process in tree[1:2]:
        with contextlib.suppress(OSError):
            count += Path(f"/proc/{process.pid}/net/unix").read_bytes().count(b"\n") - 1
    return count


def _kill(pid: int, *, group: bool) -> None:
    """Kill a process, or all of its session, unless it has just ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def _start(limits: Limits, *, unsafe: bool, repeats: int = 1) -> _Sandbox:
    """Start a runner, in which a step may run so many times."""
    inner_requests, requests = os.pipe()
    replies, inner_replies = os.pipe()
    passed = [inner_requests, inner_replies]
    settings = {
        "requests": inner_requests,
        "replies": inner_replies,
        "seconds": limits.cell_seconds,
        "processes": ["/proc/self" if unsafe else "/proc/[0-9]*"],
        "limits": _resource_limits(limits, unsafe=unsafe, repeats=repeats),
        "absent": ABSENT,
    }
    try:
        if unsafe:
            settings |= {"packages": _packages(), "here": str(HERE)}
            command, folder = _python(str(HERE / INSIDE[0]), settings), _scratch()
            environment = _environment(folder)
        else:
            packages = [f"/packages/{index}" for index, _ in enumerate(_packages())]
            settings |= {"packages": packages, "here": "/grader"}
            passed.append(_memory_file(_seccomp.seccomp_filter()))
            options = ["--seccomp", str(passed[-1])]
            for path, content in _copied():
                passed.append(_memory_file(content))
                options += ["--perms", "0444", "--file", str(passed[-1]), path]
            options += _options(limits)
            # the first process is this user's, too, whose memory not every kernel keeps from others
            passed.append(_memory_file(b""))
            options += ["--perms", "0000", "--ro-bind-data", str(passed[-1]), "/proc/1/mem"]
            # in a file, for a command line could be read inside
            passed.append(_memory_file("\0".join(options).encode()))
            command = ["bwrap", "--args", str(passed[-1]), "--", *_user()]
            command += _python(f"/grader/{INSIDE[0]}", settings)
            # an empty one: what bubblewrap itself is given can be read inside
            environment, folder = {}, "/"
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=passed,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        for descriptor in (requests, replies):
            os.close(descriptor)
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return _Sandbox(process, requests, replies, limits, unsafe=unsafe)


def _resource_limits(limits: Limits, *, unsafe: bool, repeats: int) -> dict[str, int]:
    """Return what the runner sets for itself, by the names of the module `resource`."""
    found = {
        "RLIMIT_AS": limits.memory_bytes,
        # for all processes together the caller counts; this holds where it looks too late
        "RLIMIT_CPU": limits.cpu_seconds * repeats + 5,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": 128,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,
    }
    if not unsafe:  # outside, all processes of the user would count
        found["RLIMIT_NPROC"] = limits.processes
    return found


def _python(runner: str, settings: dict[str, Any]) -> list[str]:
    """Return the command that starts the runner.

    Without the module `site` there are no ``.pth`` files, which lead to packages that are
    installed in place, such as this project.
    """
    return [
        os.path.realpath(sys.executable),
        *("-s", "-S", "-P", "-B", "-X", "utf8"),
        runner,
        json.dumps(settings),
    ]


def _environment(home: str) -> dict[str, str]:
    """Return the environment of a submission: nothing of the instructor's."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "IPYTHONDIR": f"{home}/.ipython",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PIP_RETRIES": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


def _options(limits: Limits) -> list[str]:
    """Return what bubblewrap builds around the runner."""
    arguments = [
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "sandbox"),
        *("--clearenv", "--cap-drop", "ALL"),
    ]
    for name, value in _environment("/tmp").items():  # noqa: S108, in the sandbox
        arguments += ["--setenv", name, value]
    arguments += [*_system(), "--proc", "/proc", "--dev", "/dev"]
    # with what this machine was started, which can name disks and more
    arguments += ["--ro-bind", "/dev/null", "/proc/cmdline"]
    arguments += ["--dir", "/packages"]
    arguments += ["--perms", "1777", "--size", str(limits.disk_bytes), "--tmpfs", "/tmp"]  # noqa: S108
    # locks and pools of multiprocessing have their semaphores there
    arguments += ["--perms", "1777", "--size", str(limits.shared_bytes), "--tmpfs", "/dev/shm"]  # noqa: S108
    for index, folder in enumerate(_packages()):
        arguments += ["--ro-bind", folder, f"/packages/{index}"]
        for name in ABSENT:
            if Path(folder, name).is_dir():
                empty = f"/packages/{index}/{name}"
                # an ordinary user's would be the student's to write into
                arguments += ["--tmpfs", empty, "--remount-ro", empty]
    arguments += _fonts()
    arguments += ["--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/"]  # noqa: S108
    if os.geteuid() == 0:
        # the two that `_user` gives up
        return [*arguments, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    # otherwise bubblewrap's own process would be inside, unfiltered, in the hands of the student
    arguments += ["--as-pid-1", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    return [*arguments, "--disable-userns"] if "--disable-userns" in _help() else arguments


def _user() -> list[str]:
    """Return the command that makes the superuser a user who owns nothing and runs nothing else."""
    if os.geteuid() != 0:
        return []
    user = str(FIRST_USER + os.getpid() % (1 << 22) * 64 + next(TAKEN) % 64)
    return [
        *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
        *("--inh-caps", "-all", "--"),
    ]


@cache
def _help() -> str:
    """Return what this machine's bubblewrap says that it can do."""
    command = ["bwrap", "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@cache
def _own_paths() -> tuple[str, ...]:
    """Return the folders of this machine that a traceback may name, the longest first.

    Python itself is bound where it is. What every machine has in the same place tells nothing.
    """
    real = Path(os.path.realpath(sys.executable))
    found = {str(real.parent.parent), sys.base_prefix, sys.prefix, str(HERE.parent.parent)}
    return tuple(sorted(found - {"/", "/usr", "/usr/local"}, key=len, reverse=True))


@cache
def _packages() -> list[str]:
    """Return the folders of installed packages."""
    return [
        folder
        for folder in dict.fromkeys(sys.path)
        if Path(folder).name in ("site-packages", "dist-packages") and Path(folder).is_dir()
    ]


@cache
def _system() -> list[str]:
    """Return what binds the parts of the system that Python needs, read-only."""
    arguments = []
    bound = ["/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share/zoneinfo"]
    bound += ["/usr/share/fonts", "/etc/ld.so.cache"]
    real = Path(os.path.realpath(sys.executable))
    for prefix in dict.fromkeys((real.parent.parent, Path(sys.base_prefix))):
        bound += [str(prefix / name) for name in ("bin", "lib", "lib64")]
    for path in dict.fromkeys(bound):
        # made by name, folders above are open to all, whatever they are outside
        for above in reversed(Path(path).parents[:-1]):
            arguments += ["--dir", str(above)]
        if Path(path).exists() and not Path(path).is_symlink():
            arguments += ["--ro-bind", path, path]
        elif Path(path).is_symlink():
            arguments += ["--symlink", str(Path(path).readlink()), path]
    for name in ("/bin", "/lib", "/lib32", "/lib64"):
        if Path(name).is_symlink():
            arguments += ["--symlink", str(Path(name).readlink()), name]
        elif Path(name).is_dir():
            arguments += ["--ro-bind", name, name]
    return arguments


@cache
def _copied() -> list[tuple[str, bytes]]:
    """Return path and content of the runner's files and of Matplotlib's list of fonts.

    Whatever is bound is listed in ``/proc/self/mountinfo`` with its path on this machine, which no
    option of bubblewrap hides; what is copied is not. Folders with Python and its packages are too
    large to be copied for each submission, so the paths of these are all that can be read.
    """
    fonts = sorted(Path(_scratch(), ".matplotlib").glob("fontlist-*.json"))
    paths = [*(HERE / name for name in INSIDE), *fonts]
    return [(f"/grader/{path.name}", path.read_bytes()) for path in paths]


def _fonts() -> list[str]:
    """Return what gives Matplotlib its list of fonts, which takes a second to make."""
    folder = "/tmp/.matplotlib"  # noqa: S108, in the sandbox
    arguments = ["--perms", "1777", "--dir", folder]
    for path, _ in _copied()[len(INSIDE) :]:
        arguments += ["--symlink", path, f"{folder}/{Path(path).name}"]
    return arguments


@cache
def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder, which goes when the process goes."""
    return tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)


@cache
def _scratch() -> str:
    """Return the path of a folder with Matplotlib's list of fonts, made once for each process."""
    folder = _scratch_folder().name
    environment = {**_environment(folder), "PYTHONPATH": os.pathsep.join(_packages())}
    del environment["PYTHONDONTWRITEBYTECODE"]
    command = [sys.executable, "-c", "import matplotlib.font_manager"]
    subprocess.run(command, env=environment, capture_output=True, check=False, cwd=folder)
    Path(folder).chmod(0o755)
    return folder


def _memory_file(content: bytes) -> int:
    """Return a descriptor from which `content` can be read."""
    descriptor = os.memfd_create("grading")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def prepare(*, unsafe: bool = False) -> None:
    """Find out, once for this process and all that fork from it, where students' code runs.

    Raises `SandboxUnavailable` if it can run nowhere. For `unsafe` see `run`.
    """
    if unsafe:
        _scratch()
    elif reason := why_unavailable():
        raise SandboxUnavailable(reason)


@cache
def why_unavailable() -> str | None:
    """Say why submissions cannot run in a sandbox here.

    That is a sentence, with what to do about it where that is known; None where all is well.
    """
    if sys.platform != "linux":
        return f"the sandbox needs Linux, for bubblewrap; this is {sys.platform}"
    if not _seccomp.supported():
        return "the sandbox needs a processor of kind x86_64 or aarch64"
    needed = {"bwrap": "bubblewrap"}
    if os.geteuid() == 0:
        needed["setpriv"] = "util-linux"
    for program, package in needed.items():
        if shutil.which(program) is None:
            return f"the sandbox needs {program}; install the package {package}"
    if not any(Path("/proc/self/task").glob("*/children")):
        return "the sandbox needs a kernel that lists a process's children in /proc"
    try:
        with _start(Limits(), unsafe=False) as sandbox:
            return _leak(sandbox)
    except SandboxUnavailable as error:
        return f"{error}{_hint()}"


def _leak(sandbox: _Sandbox) -> str | None:
    """Say whether the limit on processes does not hold, as it does not for the superuser."""
    most = sandbox.limits.processes
    try:
        (output,) = sandbox.ask({"source": FORKS.format(most=most + 8)})["outputs"]
        started = int(output["text"])
    except (_Ended, KeyError, TypeError, ValueError) as error:
        return f"the sandbox does not work: {error}"
    if started >= most:
        return f"the sandbox does not limit processes: {started} started where {most} may run"
    return None


def _hint() -> str:
    """Return what commonly keeps bubblewrap from making namespaces, if it is the case here."""
    advice = {
        "kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            (
                "AppArmor forbids user namespaces here, as Ubuntu does since 23.10: "
                "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
                "or give bwrap a profile with `userns`"
            ),
        ),
        "kernel/unprivileged_userns_clone": (
            "0",
            "user namespaces are switched off here: sudo sysctl kernel.unprivileged_userns_clone=1",
        ),
        "user/max_user_namespaces": (
            "0",
            "user namespaces are switched off here: sudo sysctl user.max_user_namespaces=10000",
        ),
    }
    for name, (forbids, words) in advice.items():
        setting = Path("/proc/sys", name)
        with contextlib.suppress(OSError):
            if os.geteuid() != 0 and setting.read_text(encoding="ascii").strip() == forbids:
                return f". {words}"
    return ". A container must be allowed to make namespaces and mounts"
