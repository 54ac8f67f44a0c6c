"""What is measured: each function here returns records of its targets, and tables of its peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import attnlib
from attnbook import sweeps
from benchmarks import apart, floor, memory, models, peers
from benchmarks.report import LENGTHS
from benchmarks.timing import Pace, interleave, medians, ratio

WIDTH = 64
LONG = 32768
SHAPES = {"128": (1, 8, 128, WIDTH), "512": (1, 8, 512, WIDTH)} | {
    "2048": (1, 8, 2048, WIDTH),
    "8192": (1, 1, 8192, WIDTH),
}
SCALES = {"calibrated": None, "online": 1.0}
"""Components have variance one: the default scale makes scores of standard deviation one; with
scale 1 that is √d_k, too much for the bound that spares the search for the largest score."""
SHORT = "128"
"""The length at which a call is so short that the contestants need processes of their own."""
GROUPS = {"calibrated": "forward, calibrated scores", "online": "forward, large scores"}
ABLATION = Path(__file__).resolve().parent.parent / "data" / "ablation.json"
SAMPLER_WIDTH = 16384
SAMPLER_SIZE = 10**6

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


def contestant(name: str, inputs: str, n: str) -> Callable[[], Any]:
    """Return what runs one contestant, or the floor, on the inputs of a case."""
    given = arrays(SHAPES[n], 3, seed=int(n))
    if name == "floor":
        return floor.forward(*given)
    return peers.FORWARD[name](given, SCALES[inputs])


def forward(plan: Plan, say: Say) -> Outcome:
    """Compare the output's time with the peers', for calibrated and for large scores."""
    records, tables = {}, {group: {} for group in GROUPS.values()}
    for inputs in SCALES:
        for n in SHAPES:
            work = {
                name: partial(contestant, name, inputs, n) for name in (*peers.FORWARD, "floor")
            }
            if n == SHORT:
                times = apart.interleave(work, plan.pace)
            else:
                times = interleave({name: make() for name, make in work.items()}, plan.pace)
            say(f"forward, {inputs}, n = {n}: {line_of(times)}")
            records[f"forward-{inputs}-{n}"] = compared(times, "attnlib", "PyTorch", "floor")
            if inputs == "calibrated" and n != SHORT:
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


def vector_scores(count: int, rng: np.random.Generator) -> np.ndarray:
    """Return scores the long way: draw queries and keys, and multiply."""
    query = rng.standard_normal((count, SAMPLER_WIDTH))
    return np.vecdot(query, rng.standard_normal((count, SAMPLER_WIDTH)))


def sampler(plan: Plan, say: Say) -> Outcome:
    """Compare the exact sampler of scores with drawing the vectors, in time and in law."""
    from scipy.stats import ks_2samp

    few = 200
    rng = np.random.default_rng(0)
    times = interleave(
        {
            "exact": lambda: attnlib.sample_scores(SAMPLER_WIDTH, SAMPLER_SIZE, rng=rng),
            "vectors": lambda: vector_scores(few, rng),
        },
        plan.pace,
    )
    scaled_up = SAMPLER_SIZE / few
    found = [scaled_up * value for value in ratio(times, "vectors", "exact")]
    say(f"sampler: {line_of(times)}, {few} scores by vectors")
    chunks = plan.reduced(20_000, 10) // few
    rng = np.random.default_rng(1)
    drawn = np.concatenate([vector_scores(few, rng) for _ in range(chunks)])
    law = ks_2samp(attnlib.sample_scores(SAMPLER_WIDTH, SAMPLER_SIZE, rng=rng), drawn)
    say(f"sampler, Kolmogorov–Smirnov: distance {law.statistic:.3g}, p = {law.pvalue:.3g}")
    records = {"sampler-speed": record(*found), "sampler-law": record(law.pvalue)}
    details = {
        "vectors_timed": few,
        "scores": SAMPLER_SIZE,
        "width": SAMPLER_WIDTH,
        "compared": int(drawn.size),
        "distance": float(f"{law.statistic:.3g}"),
    }
    return Outcome(records, {"sampler": details})


def rates(plan: Plan, say: Say) -> Outcome:
    """Measure how fast this machine multiplies matrices and exponentiates."""
    rows, keys, repeats = floor.SCORES // floor.KEYS, floor.KEYS, 50
    shapes = {"scores": (rows, WIDTH, keys), "mean": (rows, keys, WIDTH)}
    work = {name: floor.products(shape, repeats) for name, shape in shapes.items()}
    work["exp"] = floor.exponentials(floor.SCORES, repeats)
    seconds = medians(interleave(work, plan.pace))
    operations = dict.fromkeys(shapes, 2 * rows * keys * WIDTH) | {"exp": floor.SCORES}
    many = repeats * floor.CORES
    found = {name: float(f"{1e-9 * many * operations[name] / seconds[name]:.3g}") for name in work}
    say(f"rates: {found}")
    return Outcome({}, {"rates": found})


def training(plan: Plan, say: Say) -> Outcome:
    """Compare one training step of the chapter's model with eager PyTorch."""
    records, rows = {}, {}
    for d_k in (64, 256):
        given = models.start(d_k)
        work = {
            "attnlib": models.own_step(*given),
            "PyTorch": models.torch_step(models.rearranged_loss, *given),
            "PyTorch, keys built": models.torch_step(models.usual_loss, *given),
            "floor": models.products(*given),
        }
        times = interleave(work, plan.pace)
        say(f"training, d_k = {d_k}: {line_of(times)}")
        records[f"training-{d_k}"] = compared(times, "attnlib", "PyTorch", "floor")
        rows[f"head width {d_k}"] = relative(times, "PyTorch")
    return Outcome(records, {"peers": {"training step": rows}})


def ablation(plan: Plan, say: Say) -> Outcome:
    """Time the chapter's ablation as its notebook runs it."""
    tunings = sweeps.load_ablation(ABLATION)["main"].tunings
    steps = plan.reduced(sweeps.QUICK_STEPS, 10)
    seconds = []
    for _ in range(1 if plan.quick else 3):
        start = time.perf_counter()
        sweeps.quick_ablation(tunings, steps=steps)
        seconds.append(time.perf_counter() - start)
    say(f"ablation: {seconds}")
    return Outcome({"ablation": record(float(np.median(seconds)), min(seconds), max(seconds))}, {})


CASES: dict[str, Callable[[Plan, Say], Outcome]] = {
    "rates": rates,
    "forward": forward,
    "long": long,
    "memory": peak_memory,
    "gradient": gradient,
    "training": training,
    "sampler": sampler,
    "ablation": ablation,
}
