"""Time functions in turn, each in a process of its own.

Threads of OpenBLAS and OpenMP spin for a while after their work. Where a call takes less than a
millisecond, those of one contestant would take the processor from the next, rest or no rest.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.threads import restrict
from benchmarks.timing import Pace, alternate, turn

Make = Callable[[], Callable[[], Any]]


def _serve(pipe: Connection, make: Make) -> None:
    """Make the function, and take a turn whenever one is asked for: this is the other process."""
    restrict()
    function = make()
    function()
    pipe.send("ready")
    while pipe.recv():
        pipe.send(turn(function))


@contextmanager
def _process(make: Make) -> Iterator[Connection]:
    """Start a process that takes turns."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, make), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.recv()  # it is ready
        yield ours
        ours.send(False)
    finally:
        process.terminate()
        process.join()


def _ask(pipe: Connection) -> float:
    """Let a process take its turn."""
    pipe.send(True)
    return pipe.recv()


def interleave(contestants: Mapping[str, Make], pace: Pace) -> dict[str, np.ndarray]:
    """Time what each of some functions makes; return seconds by name, one for each round."""
    with ExitStack() as processes:
        turns = {
            name: partial(_ask, processes.enter_context(_process(make)))
            for name, make in contestants.items()
        }
        return alternate(turns, pace)
