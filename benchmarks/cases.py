"""What is measured: each function here returns records of its targets, and tables of its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks import floor, peers
from benchmarks import peak_memory as memory
from benchmarks.report import LENGTHS
from benchmarks.timing import Pace, interleave, medians, ratio

WIDTH = 64
LONG = 32768
SHAPES = {"512": (1, 8, 512, WIDTH), "2048": (1, 8, 2048, WIDTH), "8192": (1, 1, 8192, WIDTH)}
SCALES = {"calibrated": None, "online": 1.0}
"""Components have variance one: the default scale makes scores of standard deviation one; with
scale 1 that is √d_k, too much for the bound that spares the search for the largest score."""
GROUPS = {"calibrated": "forward, calibrated scores", "online": "forward, large scores"}

Say = Callable[[str], object]


class Outcome(NamedTuple):
    """What a case adds to the results."""

    records: dict[str, dict[str, float | None]]
    other: dict[str, Any]


class Plan(NamedTuple):
    """How thorough a run is."""

    pace: Pace
    quick: bool

    def reduced(self, number: int, by: int) -> int:
        """Return a number, divided in a quick run."""
        return number // by if self.quick else number


def record(
    value: float, low: float | None = None, high: float | None = None, floor: float | None = None
) -> dict[str, float | None]:
    """Return one record of the results, with as many digits as mean something."""
    numbers = {"value": value, "low": low, "high": high, "floor": floor}
    return {name: None if x is None else float(f"{x:.4g}") for name, x in numbers.items()}


def arrays(shape: tuple[int, ...], count: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return standard normal arrays in float32."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape, dtype=np.float32) for _ in range(count))


def compared(
    times: Mapping[str, np.ndarray], ours: str, theirs: str, least: str | None
) -> dict[str, float | None]:
    """Return the record of one function against another, with the floor on the same scale."""
    found = ratio(times, ours, theirs)
    lowest = None if least is None else ratio(times, least, theirs).value
    return record(*found, lowest)


def relative(times: Mapping[str, np.ndarray], theirs: str) -> dict[str, float]:
    """Return every median over that of one function."""
    by_name = medians(times)
    return {name: float(f"{value / by_name[theirs]:.4g}") for name, value in by_name.items()}


def line_of(times: Mapping[str, np.ndarray]) -> str:
    """Write the medians in milliseconds."""
    return ", ".join(f"{name} {1e3 * value:.3g} ms" for name, value in medians(times).items())


def forward(plan: Plan, say: Say) -> Outcome:
    """Compare the output's time with the peers', for calibrated and for large scores."""
    records, tables = {}, {group: {} for group in GROUPS.values()}
    for inputs in SCALES:
        for n in SHAPES:
            given = arrays(SHAPES[n], 3, seed=int(n))
            work = {name: make(given, SCALES[inputs]) for name, make in peers.FORWARD.items()}
            work["floor"] = floor.forward(*given)
            times = interleave(work, plan.pace)
            say(f"forward, {inputs}, n = {n}: {line_of(times)}")
            records[f"forward-{inputs}-{n}"] = compared(times, "attnlib", "PyTorch", "floor")
            if inputs == "calibrated":
                records[f"loop-{n}"] = compared(times, "attnlib", "floor", None)
            tables[GROUPS[inputs]][LENGTHS[n]] = relative(times, "PyTorch")
    return Outcome(records, {"peers": tables})


def long(plan: Plan, say: Say) -> Outcome:
    """Compare a long sequence with the floor."""
    given = arrays((1, 1, plan.reduced(LONG, 8), WIDTH), 3, seed=LONG)
    work = {name: peers.FORWARD[name](given, None) for name in ("attnlib", "PyTorch")}
    work["floor"] = floor.forward(*given)
    times = interleave(work, plan.pace)
    say(f"long: {line_of(times)}")
    return Outcome({"long-floor": compared(times, "attnlib", "floor", "floor")}, {})


def peak_memory(plan: Plan, say: Say) -> Outcome:
    """Measure peak memory at a long sequence, at twice and at four times its length."""
    entries = []
    for times in (1, 2, 4):
        n = times * plan.reduced(LONG, 8)
        ours, theirs = (memory.peak(name, n) for name in ("attnlib", "PyTorch"))
        entries.append({"n": n, **ours, "torch": theirs["resident"]})
        say(f"memory, n = {n}: {entries[-1]}")
    peaks = [max(entry["traced"], entry["resident"] or 0) for entry in entries]
    beyond = max(0, peaks[0] - entries[0]["output"]) / 1e6
    records = {"long-memory": record(beyond), "long-growth": record(peaks[2] / peaks[0])}
    return Outcome(records, {"memory": entries})


def gradient(plan: Plan, say: Say) -> Outcome:
    """Compare the time of output and gradients."""
    records, rows = {}, {}
    for n in ("512", "2048"):
        *given, upstream = arrays(SHAPES[n], 4, seed=int(n))
        work = {name: make(tuple(given), upstream) for name, make in peers.BACKWARD.items()}
        work["floor"] = floor.backward(*given, upstream)
        times = interleave(work, plan.pace)
        say(f"gradient, n = {n}: {line_of(times)}")
        records[f"gradient-{n}"] = compared(times, "attnlib", "PyTorch", "floor")
        rows[LENGTHS[n]] = relative(times, "PyTorch")
    return Outcome(records, {"peers": {"output and gradients": rows}})


CASES: dict[str, Callable[[Plan, Say], Outcome]] = {
    "forward": forward,
    "long": long,
    "memory": peak_memory,
    "gradient": gradient,
}
