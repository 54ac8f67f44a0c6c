"""Run what a reader wrote: within a time, and with the reader's own exception kept."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LIMIT = 5.0
"""Seconds of work that all calls of one check together may take."""
WAIT = 3.0
"""How many times as long it may take where other programs work too, or where it sleeps."""
AGAIN = 0.2


class TooLong(BaseException):
    """Raised in the reader's code when its time is over; `except Exception` does not catch it."""


def words_of(error: BaseException) -> str:
    """Return what an exception says, or nothing if it cannot."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a reader's own class may do anything
        return ""


class Failed(Exception):  # noqa: N818 - it carries the reader's error and is none of ours
    """The reader's code raised; `error` is what it raised, `trace` where."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(words_of(error))
        self.error = error
        own = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in own if frame.filename != __file__]
        self.trace = "".join(
            [*traceback.format_list(frames), *traceback.format_exception_only(error)]
        )


def can_interrupt() -> bool:
    """Say whether an endless loop can be stopped here: in the main thread, not on Windows."""
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and hasattr(signal, "setitimer")


def can_stop() -> bool:
    """Say whether an endless loop comes to an end, by this package or by the page it runs in."""
    return can_interrupt() or sys.platform == "emscripten"


@contextmanager
def time_limit() -> Iterator[None]:
    """Stop what runs inside after `LIMIT` seconds of work, where that is possible.

    `TooLong` is raised in the code inside, and again every fifth of a second until it gives in.
    """
    if not can_interrupt():
        yield
        return

    worked, began = time.thread_time(), time.monotonic()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        waited = time.monotonic() - began >= WAIT * LIMIT
        if waited or time.thread_time() - worked >= LIMIT:
            raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, min(LIMIT, AGAIN), AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        # once more, as the time may have been over in the line above
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what the reader wrote.

    `Failed` if it raised anything; a keyboard interrupt goes through, as it is the reader's wish.
    """
    try:
        return function(*args, **kwargs)
    except (TooLong, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Failed(error) from error
