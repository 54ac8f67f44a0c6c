"""The runner inside the sandbox: it executes a submission, one step at a time.

`grading.sandbox.sandbox` starts it and is the only one to read what it writes. It talks JSON lines
over two pipes of its own: a request is a cell to execute or an answer to collect, and each has one
reply. It shares its process with the student's code, which can therefore replace all of it. So
nothing here protects anything: the walls are those that `grading.sandbox.sandbox` builds around the
process, and what comes out is checked there once more. What this file owes is good manners: an
honest mistake in one cell, such as a loop without end, must leave a namespace in which the next
cell can run.
"""

from __future__ import annotations

import base64
import glob
import json
import os
import signal
import site
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

TEXT = 64_000
IMAGES = 1_000_000
TRACEBACK = 20_000
MOST_OUTPUTS = 200
# of all cells together, so that what is shown never takes the room of the answers
ALL_TEXT = 400_000
ALL_IMAGES = 3_000_000
PICTURES = ("image/png", "image/jpeg", "image/gif")
LEAST_RECURSION = 1000
# seconds for which it is not worth to go on
LEAST_LOSS = 0.1
NEEDLESS = ("matplotlib", "config", "load_ext", "reload_ext")
INSTALLERS = ("pip", "conda", "mamba", "micromamba", "uv")
INLINE = "module://matplotlib_inline.backend_inline"
IMAGE_LEFT_OUT = "[this picture is left out: one, or all together, are too large]"
LEFT_OUT = "\n[what the cell wrote beyond this is left out]\n"


def waits(folders: list[str]) -> dict[str, tuple[int, int]]:
    """Return how many nanoseconds each thread has run, and has waited for a processor.

    The folders are those of /proc, which may be patterns. Where the kernel does not tell, it is as
    if nobody ever waited.
    """
    found = {}
    for folder in folders:
        # a process may end meanwhile, at which pathlib's would raise
        for path in glob.glob(f"{folder}/task/*/schedstat"):  # noqa: PTH207
            try:
                ran, waited, _ = Path(path).read_text(encoding="ascii").split()
            except (OSError, ValueError):
                continue
            found[path] = int(ran), int(waited)
    return found


def lost(
    before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]], seconds: float
) -> float:
    """Return how many of some seconds went by because others had the processors.

    Meanwhile a thread waits, and all of them together have run for less than one processor's time:
    what crowds itself out has lost nothing.
    """
    ran = waited = 0
    for path, (now_ran, now_waited) in after.items():
        ran_before, waited_before = before.get(path, (0, 0))
        ran += now_ran - ran_before
        waited = max(waited, now_waited - waited_before)
    return max(0.0, min(waited / 1e9, seconds - ran / 1e9))


class OutOfTime(KeyboardInterrupt):
    """A step took longer than it may."""


class Outputs:
    """What one cell shows, in the form of a notebook, and no more than a notebook can bear."""

    def __init__(self) -> None:
        self.all_text_left = ALL_TEXT
        self.all_images_left = ALL_IMAGES
        self.clear()

    def clear(self) -> None:
        """Start a cell."""
        self.shown: list[dict[str, Any]] = []
        self.text_left = min(TEXT, self.all_text_left)
        self.images_left = min(IMAGES, self.all_images_left)
        self.tracebacks_left = min(TRACEBACK, self.all_text_left)

    def write(self, name: str, text: str) -> None:
        """Add to a stream."""
        text = self._cut(text)
        last = self.shown[-1] if self.shown else {}
        if text and last.get("name") == name:
            last["text"] += text
        elif text:
            self._add({"output_type": "stream", "name": name, "text": text})

    def show(self, kind: str, data: dict[str, Any], count: int | None = None) -> None:
        """Add a text and an image, or what there is of them."""
        kept = {}
        text = data.get("text/plain")
        if isinstance(text, str):
            kept["text/plain"] = self._cut(text)
        picture = next((each for each in PICTURES if data.get(each) is not None), "")
        image = data.get(picture)
        if isinstance(image, bytes):
            image = base64.b64encode(image).decode()
        if isinstance(image, str) and len(image) <= self.images_left:
            self.images_left -= len(image)
            self.all_images_left -= len(image)
            kept[picture] = str.__str__(image)
        elif image is not None:
            kept["text/plain"] = IMAGE_LEFT_OUT
        counted = {"execution_count": count} if kind == "execute_result" else {}
        self._add({"output_type": kind, "data": kept, "metadata": {}, **counted})

    def error(self, name: str, value: str, traceback: list[str]) -> None:
        """Add an exception."""
        lines = "\n".join(traceback)[-self.tracebacks_left :] if self.tracebacks_left else ""
        self.tracebacks_left -= len(lines)
        self.all_text_left -= len(lines)
        self._add(
            {
                "output_type": "error",
                "ename": name[:200],
                "evalue": value[:2000],
                "traceback": lines.split("\n"),
            }
        )

    def _add(self, output: dict[str, Any]) -> None:
        """Add an output unless there are too many."""
        if len(self.shown) < MOST_OUTPUTS:
            self.shown.append(output)

    def _cut(self, text: str) -> str:
        """Return what there is still room for, once with a note."""
        if not self.text_left:
            return ""
        text = str.__str__(text)
        cut = text[: self.text_left]
        self.text_left -= len(cut)
        self.all_text_left = max(0, self.all_text_left - len(cut))
        return cut if self.text_left else cut + LEFT_OUT


class Stream:
    """What stands for `sys.stdout` and `sys.stderr` while a cell runs."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, outputs: Outputs, name: str) -> None:
        self._outputs = outputs
        self.name = name

    def write(self, text: str) -> int:
        """Add to the cell's outputs."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.write(self.name, text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: what is written has arrived."""

    def isatty(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Raise OSError, as a notebook's streams have no file behind them."""
        raise OSError("the output of a notebook is not a file")


class Runner:
    """Executes cells and collects answers in one namespace; a step may take so many seconds."""

    def __init__(self, seconds: float, processes: list[str]) -> None:
        self.processes = processes
        self.outputs = Outputs()
        self.streams = Stream(self.outputs, "stdout"), Stream(self.outputs, "stderr")
        self.seconds = seconds
        self.timing = False
        self.shell = make_shell(self.outputs)
        from _wire import decode, encode

        # a module of a student's may be called alike
        self.decode, self.encode = decode, encode

    def execute(self, source: str) -> dict[str, Any]:
        """Run a cell and return what it showed."""
        self.outputs.clear()
        try:
            with self:
                keep_backend(self.outputs, source)
                self.shell.run_cell(source, store_history=True)
        except BaseException as error:  # noqa: BLE001, an interrupt that came late, or anything
            self.outputs.error(type(error).__name__, "", [])
        return {"outputs": self.outputs.shown}

    def collect(self, source: str, inputs: Any) -> dict[str, Any]:
        """Call `answer` among the student's names and return what it made, encoded."""
        self.outputs.clear()
        defined: dict[str, Any] = {}
        try:
            with self:
                # globals are the student's; what the source defines stays apart from them
                exec(compile(source, "<answer>", "exec"), self.shell.user_ns, defined)  # noqa: S102
                return {"answer": self.encode(defined["answer"](**self.decode(inputs)))}
        except BaseException as error:  # noqa: BLE001, whatever a student's function raises
            return {"failed": self._words(error)}

    def _words(self, error: BaseException) -> str:
        """Return an exception in words; the exception itself may be a trap."""
        try:
            with self:
                if isinstance(error, OutOfTime):
                    return f"it took longer than {self.seconds:g} s"
                return f"{type(error).__name__}: {error}"[:2000]
        except BaseException:  # noqa: BLE001
            return "an exception that cannot be shown"

    def __enter__(self) -> None:
        """Start the clock, and undo what an earlier step did to the process."""
        sys.settrace(None)
        sys.setprofile(None)
        # what a cell has raised holds for the next; a lower limit could stop the runner itself
        sys.setrecursionlimit(max(LEAST_RECURSION, sys.getrecursionlimit()))
        sys.stdout, sys.stderr = self.streams
        self.timing = True
        signal.signal(signal.SIGALRM, self._out_of_time)
        self._start_clock(self.seconds)

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self.timing = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(None)
        sys.setprofile(None)

    def _start_clock(self, seconds: float) -> None:
        """Look again after some seconds."""
        self.waits, self.began = waits(self.processes), time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def _out_of_time(self, _number: int, _frame: FrameType | None) -> None:
        """Interrupt the step that is running, unless others had the processors meanwhile."""
        __tracebackhide__ = True
        if not self.timing:
            return
        try:
            more = lost(self.waits, waits(self.processes), time.monotonic() - self.began)
        except RecursionError:  # the step is so deep that there is no room to look
            more = 0.0
        if more > LEAST_LOSS:
            self._start_clock(more)
        else:
            self.timing = False
            raise OutOfTime(f"this cell ran longer than {self.seconds:g} s")


def keep_backend(outputs: Outputs, source: str) -> None:
    """Let a backend of Matplotlib that is not here end no cell: the one that is here stays."""
    if "matplotlib" not in source:
        return
    import matplotlib as mpl

    use = mpl.use
    if getattr(use, "keeps", False):
        return

    def careful(backend: str, *, force: bool = True) -> None:
        import matplotlib.pyplot  # noqa: F401, ICN001, with it a backend is tried at once

        try:
            use(backend, force=force)
        except (ImportError, ValueError):
            use(INLINE)
            outputs.write("stderr", f"left out: the backend {backend} is not here\n")

    careful.keeps = True
    mpl.use = careful


def make_shell(outputs: Outputs) -> Any:
    """Return an IPython shell that shows everything in `outputs` and keeps nothing on disk."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type
    from traitlets.config import Config

    results, displays = make_displays(outputs)

    class Shell(make_forgiving(InteractiveShell, outputs)):
        """IPython without a terminal, a kernel, a profile or a history."""

        displayhook_class = Type(results)
        display_pub_class = Type(displays)

        def init_virtualenv(self) -> None:
            """Look for none: the packages are where `grading.sandbox.sandbox` put them."""

        def init_completer(self) -> None:
            """Load nothing that completes names at a keyboard."""
            self.Completer = None

        def enable_gui(self, gui: str | None = None) -> None:
            """Do nothing: ``%matplotlib inline`` needs no event loop."""

        def ask_exit(self) -> None:
            """Do nothing: a cell that says ``exit()`` ends no grading."""

        def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
            outputs.error(etype.__name__, str(evalue), stb)

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = Shell.instance(config=config)
    shell.display_formatter.active_types = ["text/plain", *PICTURES]
    shell.user_ns["exit"] = shell.user_ns["quit"] = shell.ask_exit
    return shell


def make_forgiving(shell: type, outputs: Outputs) -> type:
    """Return a shell in which a magic that is not here, or shows nothing here, ends no cell."""

    def leave_out(what: str) -> None:
        outputs.write("stderr", f"left out: {what.strip()} is not here when this is marked\n")

    class Forgiving(shell):
        """Leaves out what a notebook elsewhere needs for its display or its packages."""

        def run_line_magic(self, name: str, line: str, *further: Any, **options: Any) -> Any:
            """Run a magic; one for display or packages that is not here ends no cell."""
            if self.find_line_magic(name) is None or name in INSTALLERS:
                return leave_out(f"%{name}")
            if name not in NEEDLESS:
                return super().run_line_magic(name, line, *further, **options)
            try:
                return super().run_line_magic(name, line, *further, **options)
            except Exception:  # noqa: BLE001, whatever a display or a package raises
                if name == "matplotlib":
                    super().run_line_magic(name, "inline")
                return leave_out(f"%{name} {line}")

        def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
            """Run a magic of a whole cell; where it is not here, the cell runs without it."""
            if self.find_cell_magic(name) is None:
                leave_out(f"%%{name}")
                self.run_cell(cell, store_history=False)
                return None
            return super().run_cell_magic(name, line, cell)

    return Forgiving


def make_displays(outputs: Outputs) -> tuple[type, type]:
    """Return the classes by which IPython shows the value of a cell, and what it displays."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher

    class Results(DisplayHook):
        """Shows the value of a cell's last line."""

        def write_output_prompt(self) -> None:
            """Write none: the notebook shows the number."""

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:  # noqa: ARG002
            """Add the value to the outputs."""
            outputs.show("execute_result", format_dict, self.prompt_count)

        def finish_displayhook(self) -> None:
            """End without the line that a terminal needs."""
            self._is_active = False

    class Displays(DisplayPublisher):
        """Shows what `display` is given."""

        def publish(self, data: Any, *_: Any, update: bool = False, **__: Any) -> None:
            """Add it to the outputs."""
            if not update:
                outputs.show("display_data", data)

        def clear_output(self, wait: bool = False) -> None:  # noqa: ARG002
            """Drop what the cell has shown so far."""
            outputs.shown.clear()

    return Results, Displays


def limit(limits: dict[str, int]) -> None:
    """Lower what this process and its children may take; nobody inside can raise it again."""
    import resource

    for name, most in limits.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        _, hard = resource.getrlimit(number)
        within = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (within, within))


def main() -> None:
    """Serve requests until there are no more."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    sys.path += settings["packages"]
    os.umask(0o077)
    os.nice(5)
    limit(settings["limits"])
    site.sethelper()
    for name in settings["absent"]:
        sys.modules[name] = None
    sys.path.insert(0, settings["here"])
    import _wire  # noqa: F401, so that it is there when a student changes sys.path

    sys.path.pop(0)
    keep_forks()
    runner = Runner(settings["seconds"], settings["processes"])
    # as in a notebook, what a cell writes beside it can be imported
    sys.path.insert(0, "")
    requests = os.fdopen(settings["requests"], "rb")
    replies = os.fdopen(settings["replies"], "wb", buffering=0)
    for stream in (requests, replies):
        os.set_inheritable(stream.fileno(), False)
    close_others(requests.fileno(), replies.fileno())
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    serve(runner, requests, replies)
    os._exit(0)


def keep_forks() -> None:
    """Let pools begin as forks unless a cell wants another way.

    What a notebook defines is in no file, so that a process which begins anew, as they do by
    default since Python 3.14, does not know it.
    """
    from multiprocessing import context

    context._default_context._default_context = context._concrete_contexts["fork"]


def close_others(*kept: int) -> None:
    """Close what bubblewrap read its own settings from, and whatever else was open."""
    first = 3
    for number in sorted(kept):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, 256)


def serve(runner: Runner, requests: Any, replies: Any) -> None:
    """Answer each request with one line that carries its token."""
    encoder, parse = json.JSONEncoder(), json.loads
    send(replies, encoder.encode({"token": "ready"}))
    process = os.getpid()
    while line := requests.readline():
        request = parse(line)
        if "inputs" in request:
            reply = runner.collect(request["source"], request["inputs"])
        else:
            reply = runner.execute(request["source"])
        if os.getpid() != process:  # the cell forked, and this is the copy
            os._exit(0)
        try:
            text = encoder.encode({"token": request["token"], **reply})
        except (ValueError, TypeError, RecursionError) as error:
            failed = {"token": request["token"], "outputs": [], "failed": str(error)[:2000]}
            text = encoder.encode(failed)
        send(replies, text)


def send(replies: Any, text: str) -> None:
    """Write one line, however many writes it takes."""
    left = memoryview(text.encode("ascii") + b"\n")
    while left:
        left = left[replies.write(left) :]


if __name__ == "__main__":
    main()
