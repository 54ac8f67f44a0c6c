"""Time several functions side by side, so that what disturbs one disturbs all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

SETTLE = 0.1
"""Seconds of rest before each turn. Idle threads of OpenBLAS and OpenMP go on spinning for a
while after their work, and would slow the next contestant."""
STRETCH = 0.05
"""Seconds of calls before the timed ones, and of timed ones. After a rest the system first wakes
two threads on one core, and needs some milliseconds to spread them."""


class Pace(NamedTuple):
    """How long to measure: as many rounds as fit into `seconds`, between `least` and `most`."""

    seconds: float
    least: int
    most: int


class Ratio(NamedTuple):
    """A ratio of two medians, and the quartiles of the ratios round by round."""

    value: float
    low: float
    high: float


def rest() -> None:
    """Wait until the threads of the function before have gone to sleep."""
    time.sleep(SETTLE)


def rounds_within(pace: Pace, seconds_a_round: float) -> int:
    """Return how many rounds to run when one takes so long."""
    fitting = int(pace.seconds / seconds_a_round) if seconds_a_round > 0 else pace.most
    return min(max(fitting, pace.least), pace.most)


def turn(
    function: Callable[[], Any], clock: Callable[[], float], settle: Callable[[], None]
) -> float:
    """Take a turn, and return the seconds of a call.

    It is a rest, a stretch of calls that is not timed and one that is: as many calls as begin
    within its time, at least one, and their mean counts. A function has to return only when its
    work is done.
    """

    def stretch() -> float:
        start, calls, passed = clock(), 0, 0.0
        while calls == 0 or passed < STRETCH:
            function()
            calls += 1
            passed = clock() - start
        return passed / calls

    settle()
    stretch()
    return stretch()


def interleave(
    contestants: Mapping[str, Callable[[], Any]],
    pace: Pace,
    *,
    clock: Callable[[], float] = time.perf_counter,
    settle: Callable[[], None] = rest,
) -> dict[str, np.ndarray]:
    """Take turns: A B C, A B C, and so on; return seconds by name, one for each round.

    The first round warms up, shows how long a round takes, and is dropped. Tests give a clock and
    a rest of their own.
    """
    for function in contestants.values():  # the first call may take a compiler's time
        function()

    def take_turns() -> list[float]:
        return [turn(each, clock, settle) for each in contestants.values()]

    start = clock()
    take_turns()
    rounds = rounds_within(pace, clock() - start)
    table = [take_turns() for _ in range(rounds)]
    return dict(zip(contestants, np.array(table).T, strict=True))


def medians(times: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the median time of each function in seconds."""
    return {name: float(np.median(values)) for name, values in times.items()}


def ratio(times: Mapping[str, np.ndarray], name: str, against: str) -> Ratio:
    """Compare two functions that were timed together."""
    low, high = np.quantile(times[name] / times[against], (0.25, 0.75))
    value = np.median(times[name]) / np.median(times[against])
    return Ratio(float(value), float(low), float(high))
