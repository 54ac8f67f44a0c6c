"""Many training runs: rates tuned on some seeds, results reported on others.

A sweep is a list of settings. Every setting is run once for each seed, in parallel through joblib.
The committed table is made by ``tools/sweep.py``, which alone calls what has no entry in the
reference.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnlib import scaling
from attnlib._progress import progress_bar
from attnlib._validation import real_number, whole_number
from attnlib.scaling import ScalingRule
from attnlib.training import (
    STEPS,
    Adam,
    GroupMeanTask,
    Learner,
    Sgd,
    TrainingRun,
    train_together,
)

__all__ = [
    "Ablation",
    "Record",
    "Setting",
    "Tuning",
    "load_ablation",
    "quick_ablation",
]

ARMS: dict[str, ScalingRule] = {
    rule.label: rule
    for rule in (
        scaling.no_scaling(),
        scaling.inverse_sqrt(),
        scaling.inverse_width(),
        scaling.query_key_norm(),
        scaling.learned_temperature(),
    )
}
"""The scaling rules compared in the book, by label."""
OPTIMIZERS = {"SGD": Sgd, "Adam": Adam}
TUNING_SEEDS = (0, 1, 2, 3, 4)
REPORT_SEEDS = (100, 101, 102, 103, 104)
N_JOBS = 1
"""Processes, unless more are asked for."""
TOGETHER = 9
"""Settings that share the drawing of their data."""
QUICK_ARMS = (scaling.no_scaling().label, scaling.inverse_sqrt().label)
QUICK_WIDTHS = (16, 256)
QUICK_STEPS = 300
MEASURED = {"loss": math.inf, "max_weight": math.nan, "median_gradient": math.nan}
"""What a record holds, and what stands for it after a run has diverged."""
DIGITS = 5
"""Significant digits kept of a measurement: more than survive another processor."""


@dataclass(frozen=True)
class Setting:
    """One configuration; with a seed it is one run of :func:`attnlib.training.train`.

    Parameters
    ----------
    arm : str
        Name of a scaling rule.
    optimizer : str
        ``SGD`` or ``Adam``.
    d_k : int
        Head width.
    rate : float
        Learning rate.
    steps : int
        Number of steps.
    record_at : tuple of int, optional
        Where to measure; by default as :func:`attnlib.training.train` does.
    group_size : int
        Number of tokens that share a tag.
    initial_gain : float
        What the initial query and key weights are multiplied by.
    query_key_rate : float
        What the learning rate of the query and key weights is multiplied by.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.sweeps import Setting
    >>> Setting("1/√dₖ", "SGD", 64, 0.3).group_size
    4
    """

    arm: str
    optimizer: str
    d_k: int
    rate: float
    steps: int = STEPS
    record_at: tuple[int, ...] | None = None
    group_size: int = GroupMeanTask.group_size
    initial_gain: float = 1.0
    query_key_rate: float = 1.0

    def __post_init__(self) -> None:
        """Check what would otherwise fail in a worker."""
        for name, known in (("arm", ARMS), ("optimizer", OPTIMIZERS)):
            if (got := getattr(self, name)) not in known:
                raise ValueError(f"{name} must be one of {list(known)}; got {got!r}")
        for name, least in (("d_k", 1), ("steps", 0), ("group_size", 1)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))
        for name in ("rate", "initial_gain", "query_key_rate"):
            number = real_number(name, getattr(self, name), positive=True)
            object.__setattr__(self, name, number)
        if self.record_at is not None:
            steps = tuple(whole_number("record_at", step, least=0) for step in self.record_at)
            object.__setattr__(self, "record_at", steps)

    @property
    def task(self) -> GroupMeanTask:
        """The task at hand."""
        return GroupMeanTask(group_size=self.group_size)

    @property
    def learner(self) -> Learner:
        """What is trained."""
        rates = dict.fromkeys(("query", "key"), self.query_key_rate)
        optimizer = OPTIMIZERS[self.optimizer](self.rate, multipliers=rates)
        return Learner(self.d_k, ARMS[self.arm], optimizer, self.initial_gain)


@dataclass(frozen=True, eq=False)
class Record:
    """What came out of one setting, one row for each seed.

    ``loss`` is infinity and ``max_weight`` NaN where a run had diverged.

    Notes
    -----
    Serves the chapter on training.
    """

    setting: Setting
    seeds: tuple[int, ...]
    steps: np.ndarray
    """Shape (n_records,)."""
    loss: np.ndarray
    """Shape (n_seeds, n_records): test loss over the mean square of the targets."""
    max_weight: np.ndarray
    """Shape (n_seeds, n_records): largest weight, averaged over the test set."""
    median_gradient: np.ndarray
    """Shape (n_seeds, n_records): of the lengths of the gradients by single queries."""

    @property
    def mean(self) -> np.ndarray:
        """Mean loss over the seeds."""
        return self.loss.mean(axis=0)

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of the loss between seeds; NaN if there is one, or one diverged."""
        if len(self.seeds) == 1:
            return np.full(self.steps.shape, np.nan)
        with np.errstate(invalid="ignore"):
            return self.loss.std(axis=0, ddof=1)


@dataclass(frozen=True, eq=False)
class Tuning:
    """Which rate was the best for a setting, and how the others did.

    Notes
    -----
    Serves the chapter on training.
    """

    setting: Setting
    """With the best rate."""
    seeds: tuple[int, ...]
    rates: tuple[float, ...]
    loss: np.ndarray
    """Shape (n_rates,): last loss, averaged over the seeds; infinity if one diverged."""


class Ablation(NamedTuple):
    """Settings with tuned rates, and what came out on other seeds.

    Notes
    -----
    Serves the chapter on training.
    """

    tunings: list[Tuning]
    records: list[Record]


class _Result(NamedTuple):
    """What is kept of one run, each of shape (n_records,)."""

    steps: np.ndarray
    loss: np.ndarray
    max_weight: np.ndarray
    median_gradient: np.ndarray


def quarter_decades(lowest: float, highest: float) -> tuple[float, ...]:
    """Return learning rates from one to the other, four in each factor of ten, in two digits.

    The ends are rounded to the nearest quarter decade. A ValueError or TypeError for an end that is
    not positive, or if the lowest exceeds the highest.

    Examples
    --------
    >>> quarter_decades(0.01, 0.1)
    (0.01, 0.018, 0.032, 0.056, 0.1)
    """
    first, last = (
        round(4 * math.log10(real_number(name, end, positive=True)))
        for name, end in (("lowest", lowest), ("highest", highest))
    )
    if first > last:
        raise ValueError(f"lowest must be at most highest, {highest}; got {lowest}")
    return tuple(float(f"{10 ** (quarter / 4):.1e}") for quarter in range(first, last + 1))


def _checked_seeds(name: str, seeds: Iterable[int]) -> tuple[int, ...]:
    checked = tuple(whole_number(name, seed, least=0) for seed in seeds)
    if not checked or len(set(checked)) < len(checked):
        raise ValueError(f"{name} must hold different seeds, at least one; got {checked}")
    return checked


def _checked_jobs(n_jobs: int) -> int:
    if whole_number("n_jobs", n_jobs, least=-1) == 0:
        raise ValueError("n_jobs must be a number of processes, or -1 for all; got 0")
    return n_jobs


def _summary(run: TrainingRun) -> _Result:
    median = run.gradient_quantiles[:, run.gradient_quantiles.shape[1] // 2]
    return _Result(run.steps, run.loss, run.max_weight, median)


def _run_group(seed: int, settings: Sequence[Setting]) -> list[_Result]:
    """Return the results of settings that see the same data."""
    from threadpoolctl import threadpool_limits

    first = settings[0]
    # The matrices are small: threads of BLAS would only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        runs = train_together(
            seed,
            [setting.learner for setting in settings],
            task=first.task,
            steps=first.steps,
            record_at=first.record_at,
            progress=False,
        )
    return [_summary(run) for run in runs]


def _groups(settings: Sequence[Setting]) -> list[list[int]]:
    """Return the places of settings that can be trained together, not too many at once."""
    together: dict[Any, list[int]] = {}
    for place, setting in enumerate(settings):
        conditions = (setting.group_size, setting.steps, setting.record_at)
        together.setdefault(conditions, []).append(place)
    return [
        places[start : start + TOGETHER]
        for places in together.values()
        for start in range(0, len(places), TOGETHER)
    ]


def _in_parallel(
    settings: Sequence[Setting], seeds: Sequence[int], n_jobs: int
) -> dict[tuple[int, int], _Result]:
    """Return the result of every setting, by its place, with every seed."""
    from joblib import Parallel, delayed

    processes = _checked_jobs(n_jobs)
    work = [(seed, places) for places in _groups(settings) for seed in seeds]
    jobs = [
        delayed(_run_group)(seed, [settings[place] for place in places]) for seed, places in work
    ]
    results = {}
    finished = Parallel(n_jobs=processes, return_as="generator")(jobs)
    bar = progress_bar(finished, "runs", total=len(jobs))
    for (seed, places), group in zip(work, bar, strict=True):
        results |= {(place, seed): result for place, result in zip(places, group, strict=True)}
    return results


def run_settings(
    settings: Iterable[Setting], seeds: Iterable[int], *, n_jobs: int = N_JOBS
) -> list[Record]:
    """Run every setting with every seed; return a record for each setting, in their order.

    `n_jobs` processes share the runs; -1 for as many as there are processors. A ValueError or
    TypeError for seeds that are no integers, none or repeat.

    Examples
    --------
    >>> short = Setting("1/√dₖ", "SGD", 16, 0.2, steps=30)
    >>> (record,) = run_settings([short], seeds=[0, 1])
    >>> record.steps.tolist(), record.loss.shape
    ([0, 10, 30], (2, 3))
    """
    wanted, checked = list(settings), _checked_seeds("seeds", seeds)
    results = _in_parallel(wanted, checked, n_jobs)
    records = []
    for place, setting in enumerate(wanted):
        of_setting = [results[place, seed] for seed in checked]
        columns = _Result(*map(np.array, zip(*of_setting, strict=True)))
        measured = {name: getattr(columns, name) for name in MEASURED}
        records.append(Record(setting, checked, columns.steps[0], **measured))
    return records


def tune_rates(
    settings: Iterable[Setting],
    rates: Mapping[str, Sequence[float]],
    seeds: Iterable[int],
    *,
    n_jobs: int = N_JOBS,
) -> list[Tuning]:
    """Find the learning rate with the smallest mean loss after the last step, for each setting.

    `rates` are those to try, by optimizer; the rates in the settings are not used. Results of
    `seeds` should not be reported. Only the last step is measured, so tuning costs little more than
    the training. Errors are those of `run_settings`, and a ValueError for an optimizer without
    rates.

    Examples
    --------
    >>> short = Setting("1/√dₖ", "SGD", 16, 1.0, steps=30)
    >>> tune_rates([short], {"SGD": [0.01, 0.2]}, seeds=[0])[0].setting.rate
    0.2
    """
    wanted, checked = list(settings), _checked_seeds("seeds", seeds)
    for setting in wanted:
        if not len(rates.get(setting.optimizer, ())):
            raise ValueError(f"rates must hold some for {setting.optimizer}; got {rates!r}")
    trials = [
        replace(setting, rate=rate, record_at=(setting.steps,))
        for setting in wanted
        for rate in rates[setting.optimizer]
    ]
    records = iter(run_settings(trials, checked, n_jobs=n_jobs))
    tunings = []
    for setting in wanted:
        tried = tuple(rates[setting.optimizer])
        loss = np.array([next(records).mean.item() for _ in tried])
        best = replace(setting, rate=tried[int(loss.argmin())])
        tunings.append(Tuning(best, checked, tried, loss))
    return tunings


def run_ablation(
    settings: Iterable[Setting],
    rates: Mapping[str, Sequence[float]],
    *,
    tuning_seeds: Iterable[int] = TUNING_SEEDS,
    report_seeds: Iterable[int] = REPORT_SEEDS,
    n_jobs: int = N_JOBS,
) -> Ablation:
    """Tune the learning rate of every setting on some seeds, and report others.

    A rate chosen on the seeds that are reported would make every arm look better than it is, and
    the unstable ones most. Errors are those of `tune_rates`, and a ValueError for a seed that is
    used for both.

    Examples
    --------
    >>> short = Setting("1/√dₖ", "SGD", 16, 1.0, steps=30)
    >>> result = run_ablation([short], {"SGD": [0.2]}, tuning_seeds=[0], report_seeds=[1, 2])
    >>> result.records[0].loss.shape
    (2, 3)
    """
    tuning, report = (
        _checked_seeds("tuning_seeds", tuning_seeds),
        _checked_seeds("report_seeds", report_seeds),
    )
    _check_disjoint("report_seeds", report, tuning)
    tunings = tune_rates(settings, rates, tuning, n_jobs=n_jobs)
    best = [found.setting for found in tunings]
    return Ablation(tunings, run_settings(best, report, n_jobs=n_jobs))


def quick_ablation(
    tunings: Iterable[Tuning],
    *,
    widths: Sequence[int] = QUICK_WIDTHS,
    seeds: Iterable[int] = REPORT_SEEDS,
    steps: int = QUICK_STEPS,
) -> list[Record]:
    """Run the part of the ablation that takes seconds: SGD, scores divided and not divided.

    Parameters
    ----------
    tunings : iterable of Tuning
        Where to take the learning rates from, such as the committed ones.
    widths : sequence of int
        Head widths.
    seeds : iterable of int
        Seeds of the runs, none that was tuned on.
    steps : int
        Number of steps.

    Returns
    -------
    list of Record
        For each width the arm without scaling, then the one with 1/√d_k.

    Raises
    ------
    TypeError, ValueError
        If the seeds are no integers, none or repeat, a rate is missing, or a seed was tuned on.

    Notes
    -----
    Serves the chapter on training, whose notebook runs it.

    Examples
    --------
    >>> from attnbook.sweeps import Setting, Tuning, quick_ablation
    >>> import numpy as np
    >>> tuned = [
    ...     Tuning(Setting(arm, "SGD", 16, rate), (0,), (rate,), np.array([0.0]))
    ...     for arm, rate in (("1", 0.056), ("1/√dₖ", 0.18))
    ... ]
    >>> unscaled, scaled = quick_ablation(tuned, widths=[16], seeds=[100], steps=100)
    >>> bool(scaled.mean[-1] < unscaled.mean[-1])
    True
    """
    found = {
        (tuning.setting.arm, tuning.setting.d_k): tuning
        for tuning in tunings
        if tuning.setting.optimizer == "SGD"
    }
    report = _checked_seeds("seeds", seeds)
    settings = []
    for width in widths:
        for arm in QUICK_ARMS:
            if (arm, width) not in found:
                raise ValueError(f"tunings must hold SGD with arm {arm!r}, d_k = {width}; got none")
            tuning = found[arm, width]
            _check_disjoint("seeds", report, tuning.seeds)
            settings.append(replace(tuning.setting, steps=steps, record_at=None))
    return run_settings(settings, report)


def _check_disjoint(name: str, report: Iterable[int], tuning: Iterable[int]) -> None:
    shared = sorted(set(report) & set(tuning))
    if shared:
        raise ValueError(f"{name} must be none that rates were tuned on; got {shared}")


def save_ablation(
    path: str | os.PathLike[str], parts: Mapping[str, Ablation], *, about: Mapping[str, Any]
) -> None:
    """Write ablations by name to a small text file: JSON with one line for each record.

    `about` says how the file was made. Measurements are rounded to five digits; a run that diverged
    has null. An OSError if the file cannot be written.
    """
    blocks = [f" {json.dumps(key)}: {_json(value)}" for key, value in about.items()]
    blocks.append(' "parts": {\n' + ",\n".join(_part_lines(parts)) + "\n }")
    Path(path).write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def _part_lines(parts: Mapping[str, Ablation]) -> Iterator[str]:
    for name, part in parts.items():
        tunings, records = (",\n".join(map(_entry, rows)) for rows in part)
        yield (
            f'  {json.dumps(name)}: {{\n  "tunings": [\n{tunings}\n  ],\n'
            f'  "records": [\n{records}\n  ]}}'
        )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rounded(numbers: np.ndarray) -> Any:
    """Return nested lists with few digits, None for what is not finite."""
    if numbers.ndim:
        return [_rounded(entry) for entry in numbers]
    return float(f"{numbers:.{DIGITS}g}") if np.isfinite(numbers) else None


def _entry(row: Tuning | Record) -> str:
    """Return a tuning or a record as one line of JSON."""
    columns = {field.name: getattr(row, field.name) for field in fields(row)}
    for name, column in columns.items():
        if name == "setting":
            columns[name] = _setting_entry(column)
        elif name in MEASURED:
            columns[name] = _rounded(column)
        elif isinstance(column, np.ndarray):
            columns[name] = column.tolist()
    return f"   {_json(columns)}"


def _setting_entry(setting: Setting) -> dict[str, Any]:
    """Return what differs from the defaults."""
    defaults = {field.name: field.default for field in fields(Setting)}
    return {name: value for name, value in asdict(setting).items() if value != defaults[name]}


def load_ablation(path: str | os.PathLike[str]) -> dict[str, Ablation]:
    """Read what ``make sweep`` wrote, and check that it fits together.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict of str to Ablation
        Ablations by name.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is no such table: a part is missing or has the wrong shape, a tuned rate is not the
        best of those tried, or a reported seed was tuned on.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> import tempfile
    >>> from attnbook.sweeps import Ablation, load_ablation, save_ablation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_ablation(f"{folder}/table.json", {"none": Ablation([], [])}, about={})
    ...     load_ablation(f"{folder}/table.json")
    {'none': Ablation(tunings=[], records=[])}
    """
    try:
        entries = json.loads(Path(path).read_text("utf-8"))["parts"]
        parts = {
            name: Ablation(
                [_tuning_from(entry) for entry in part["tunings"]],
                [_record_from(entry) for entry in part["records"]],
            )
            for name, part in entries.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{os.fspath(path)} must be a table of an ablation; got {error}") from None
    tuned_on = {seed for part in parts.values() for tuning in part.tunings for seed in tuning.seeds}
    for part in parts.values():
        for record in part.records:
            _check_disjoint("seeds of a record", record.seeds, tuned_on)
    return parts


def _numbers_from(entry: Any, shape: tuple[int, ...], missing: float) -> np.ndarray:
    """Return the numbers as an array of the shape, with `missing` in place of None."""
    numbers = np.array(entry, dtype=float)
    if numbers.shape != shape:
        raise ValueError(f"an array of shape {numbers.shape} where {shape} belongs")
    numbers[np.isnan(numbers)] = missing
    if (numbers < 0).any():
        raise ValueError(f"a negative measurement {numbers.min()}")
    return numbers


def _tuning_from(entry: Mapping[str, Any]) -> Tuning:
    setting, rates = Setting(**entry["setting"]), tuple(map(float, entry["rates"]))
    loss = _numbers_from(entry["loss"], (len(rates),), math.inf)
    tuning = Tuning(setting, _checked_seeds("seeds", entry["seeds"]), rates, loss)
    best = [rate for rate, one in zip(rates, loss, strict=True) if one == loss.min()]
    if setting.rate not in best:
        raise ValueError(f"rate {setting.rate} where {best} did best in {setting}")
    return tuning


def _record_from(entry: Mapping[str, Any]) -> Record:
    seeds = _checked_seeds("seeds", entry["seeds"])
    steps = np.array([whole_number("steps", step, least=0) for step in entry["steps"]])
    shape = (len(seeds), len(steps))
    measured = {
        name: _numbers_from(entry[name], shape, missing) for name, missing in MEASURED.items()
    }
    return Record(Setting(**entry["setting"]), seeds, steps, **measured)
