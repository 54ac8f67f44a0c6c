"""Workers on this machine: processes that fork from this one, each at the end of a pipe.

A fork has at once what this process has imported and found out: the problem sets, that the sandbox
works, Matplotlib's list of fonts. That is safe because nothing here runs in threads but what
libraries start for themselves, and a worker never touches the gradebook that is open in this one.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from multiprocessing.process import BaseProcess

STOPS_WITHIN = 5.0  # seconds
PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


@dataclass(eq=False)
class Worker:
    """A process that does one thing after the other, and our end of the pipe to it."""

    process: BaseProcess
    pipe: Connection


class Pool:
    """Workers of this machine, as `distribute.Workers` wants them: a task is the worker it has."""

    ahead = 1  # a pipe takes what its worker can begin at once

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[Worker] = []
        self._idle: list[Worker] = []

    def __enter__(self) -> Self:
        """Start the workers."""
        for _ in range(self.count):
            self._add()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no process behind, whatever the workers do."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            _end(worker)

    def send(self, work: Callable[..., Any], *arguments: object) -> Worker:
        """Give work to a worker that has none."""
        worker = self._idle.pop()
        with suppress(BrokenPipeError):  # it died while it had nothing to do: `take` will see
            worker.pipe.send((work, arguments))
        return worker

    def finished(self, tasks: Collection[Worker], seconds: float) -> list[Worker]:
        """Wait for the next tasks that are done, or whose workers are dead."""
        ready = wait([task.pipe for task in tasks], seconds)
        return [task for task in tasks if task.pipe in ready]

    def take(self, task: Worker) -> Any:
        """Return what came of a task, or None if its worker is dead; another then replaces it."""
        try:
            found, failure = task.pipe.recv()
        except (EOFError, OSError):
            _end(task)
            self._workers.remove(task)
            self._add()
            return None
        self._idle.append(task)
        if failure is not None:
            raise failure
        return found

    def stop(self, task: Worker) -> None:
        """Stop the worker of a task that does not come to an end."""
        task.process.terminate()
        _end(task)

    def _add(self) -> None:
        """Start one worker."""
        worker = _start()
        self._workers.append(worker)
        self._idle.append(worker)


def _start() -> Worker:
    """Start a worker."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, ours), daemon=True)
    # until it has a handler of its own, Ctrl-C would make it print a traceback
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return Worker(process, ours)


def _end(worker: Worker) -> None:
    """Wait until a worker is gone that was asked to end, with what it has started, or that died."""
    worker.process.join(STOPS_WITHIN)
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _serve(pipe: Connection, others: Connection) -> None:
    """Do what comes through a pipe until nothing can come any more: this is a worker."""
    # A terminal sends Ctrl-C to all; the one who grades then ends the workers. An ignored signal
    # would be ignored by students' code as well, a handler is not inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if sys.platform == "linux":  # die at once with the one who grades
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    others.close()
    with suppress(EOFError):
        while True:
            work, arguments = pipe.recv()
            try:
                reply = work(*arguments), None
            except Exception as failure:  # noqa: BLE001, it is raised where the work was given out
                failure.add_note(traceback.format_exc())
                reply = None, failure
            pipe.send(reply)
