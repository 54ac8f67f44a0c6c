"""Many training runs: rates tuned on some seeds, results reported on others.

A sweep is a list of settings. Every setting is run once for each seed, in parallel through joblib;
each run that ends is kept in a file of its own, so a sweep that is interrupted continues where it
stopped. To use a cluster, wrap the call into ``joblib.parallel_config(backend="dask")`` and give a
cache folder that all machines see.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnbook.training import (
    Adam,
    GroupMeanTask,
    Learner,
    Sgd,
    TrainingRun,
    group_mean,
    model,
    optimizers,
    train_together,
)
from attnbook.training._progress import progress_bar
from attnbook.training.model import STEPS
from attnlib import scaling
from attnlib._checks import real_number, whole_number
from attnlib._extras import extra
from attnlib.scaling import (
    ScalingRule,
)

__all__ = [
    "Ablation",
    "Record",
    "Setting",
    "Tuning",
    "load_ablation",
    "quarter_decades",
    "quick_ablation",
    "run_ablation",
    "run_settings",
    "save_ablation",
    "tune_rates",
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
MORE_SEEDS = tuple(range(105, 130))
"""Reported as well, after the last step only: with these it is thirty."""
N_JOBS = 1
"""Processes, unless more are asked for."""
TOGETHER = 9
"""Settings that share the drawing of their data; an interrupted sweep loses so many runs."""
QUICK_ARMS = (scaling.no_scaling().label, scaling.inverse_sqrt().label)
QUICK_WIDTHS = (16, 256)
QUICK_STEPS = 300
MEASURED = {"loss": math.inf, "max_weight": math.nan, "median_gradient": math.nan}
"""What a record holds, and what replaces it after a run has diverged."""
DIGITS = 5
"""Significant digits kept of a measurement: more than survive another processor."""


@dataclass(frozen=True)
class Setting:
    """One configuration; with a seed it is one run of :func:`attnbook.training.train`.

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
        Where to measure; by default as :func:`attnbook.training.train` does.
    n_groups, group_size : int
        Number of tags in a sequence, and of tokens that share one.
    initial_gain : float
        What the initial query and key weights are multiplied by.
    query_key_rate : float
        What the learning rate of the query and key weights is multiplied by.
    clip, warm_up, decay
        As in :class:`attnbook.training.Sgd`.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.sweep import Setting
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
    n_groups: int = GroupMeanTask.n_groups
    clip: float | None = None
    warm_up: int = 0
    decay: float = 0.0

    def __post_init__(self) -> None:
        """Check what would otherwise fail in a worker."""
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"optimizer must be one of {list(OPTIMIZERS)}; got {self.optimizer!r}")
        for name, least in (("d_k", 1), ("steps", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))
        for name in ("rate", "initial_gain", "query_key_rate"):
            number = real_number(name, getattr(self, name), positive=True)
            object.__setattr__(self, name, number)
        if self.record_at is not None:
            steps = tuple(whole_number("record_at", step, least=0) for step in self.record_at)
            object.__setattr__(self, "record_at", steps)
        for made, names in (
            (self.task, ("n_groups", "group_size")),
            (self._made_optimizer(), ("clip", "warm_up", "decay")),
        ):
            for name in names:
                object.__setattr__(self, name, getattr(made, name))

    @property
    def task(self) -> GroupMeanTask:
        """The task at hand."""
        return GroupMeanTask(n_groups=self.n_groups, group_size=self.group_size)

    def learner(self, rule: ScalingRule) -> Learner:
        """Return what is trained."""
        return Learner(self.d_k, rule, self._made_optimizer(), self.initial_gain)

    def _made_optimizer(self) -> Sgd | Adam:
        return OPTIMIZERS[self.optimizer](
            self.rate,
            multipliers=dict.fromkeys(("query", "key"), self.query_key_rate),
            clip=self.clip,
            warm_up=self.warm_up,
            decay=self.decay,
        )


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
    """What is kept of one run; lists, as they are in its file."""

    steps: list[int]
    loss: list[float]
    max_weight: list[float]
    median_gradient: list[float]


def quarter_decades(lowest: float, highest: float) -> tuple[float, ...]:
    """Return learning rates from one to the other, four in each factor of ten.

    Parameters
    ----------
    lowest, highest : float
        The ends, positive; both are rounded to the nearest quarter decade.

    Returns
    -------
    tuple of float
        Rounded to two digits.

    Raises
    ------
    TypeError, ValueError
        If an end is not positive, or the lowest exceeds the highest.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.sweep import quarter_decades
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


def _rule_of(setting: Setting, arms: Mapping[str, Any]) -> ScalingRule:
    if setting.arm not in arms:
        raise ValueError(f"arm must be one of {list(arms)}; got {setting.arm!r}")
    return scaling.scaling_rule(arms[setting.arm])


def _identity(setting: Setting, seed: int, rule: ScalingRule, code: str) -> dict[str, Any]:
    """Return all that the outcome of a run depends on.

    A rule is known by what it does at this width and number of keys, not by its name.
    """
    return {
        "setting": json.loads(json.dumps(asdict(setting))),
        "optimizer": repr(setting.learner(rule).optimizer),
        "seed": seed,
        "factor": rule.multiplier(setting.d_k, setting.task.n_tokens),
        "normalize": rule.normalize,
        "cap": rule.cap,
        "gains": {name: np.asarray(gain).tolist() for name, gain in rule.gains.items()},
        "code": code,
    }


def _code_digest() -> str:
    """Return a digest of the code that makes the numbers, so that old results are not reused."""
    digest = hashlib.sha256(np.__version__.encode())
    for module in (group_mean, optimizers, scaling, model):
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()


def _cache_file(folder: Path, identity: Mapping[str, Any]) -> Path:
    text = json.dumps(identity)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _kept_result(folder: Path | None, identity: Mapping[str, Any]) -> _Result | None:
    """Return the result of an earlier run, unless its file is missing, damaged or another's."""
    if folder is None:
        return None
    try:
        kept = json.loads(_cache_file(folder, identity).read_text("utf-8"))
        result = _Result(**kept["result"])
        lengths = {len(column) for column in result}
        return result if kept["identity"] == identity and len(lengths) == 1 else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep_result(folder: Path, identity: Mapping[str, Any], result: _Result) -> None:
    """Write a result so that its file is complete whenever it exists."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=folder, suffix=".tmp", delete=False
    ) as file:
        json.dump({"identity": identity, "result": result._asdict()}, file)
    Path(file.name).replace(_cache_file(folder, identity))


def _summary(run: TrainingRun) -> _Result:
    return _Result(
        steps=run.steps.tolist(),
        loss=run.loss.tolist(),
        max_weight=run.max_weight.tolist(),
        median_gradient=run.gradient_quantiles[:, run.gradient_quantiles.shape[1] // 2].tolist(),
    )


def _run_group(
    seed: int,
    settings: Sequence[Setting],
    rules: Sequence[ScalingRule],
    code: str,
    folder: Path | None,
) -> list[_Result]:
    """Return the results of settings that see the same data, from their files if there are any."""
    identities = [
        _identity(setting, seed, rule, code) for setting, rule in zip(settings, rules, strict=True)
    ]
    results = [_kept_result(folder, identity) for identity in identities]
    missing = [place for place, result in enumerate(results) if result is None]
    if not missing:
        return results
    first = settings[0]
    learners = [settings[place].learner(rules[place]) for place in missing]
    runs = train_together(
        seed,
        learners,
        task=first.task,
        steps=first.steps,
        record_at=first.record_at,
        progress=False,
    )
    for place, run in zip(missing, runs, strict=True):
        results[place] = _summary(run)
        if folder is not None:
            _keep_result(folder, identities[place], results[place])
    return results


def _groups(settings: Sequence[Setting]) -> list[list[int]]:
    """Return the places of settings that can be trained together, not too many at once."""
    together: dict[Any, list[int]] = {}
    for place, setting in enumerate(settings):
        conditions = (setting.task, setting.steps, setting.record_at)
        together.setdefault(conditions, []).append(place)
    return [
        places[start : start + TOGETHER]
        for places in together.values()
        for start in range(0, len(places), TOGETHER)
    ]


def _in_parallel(
    settings: Sequence[Setting],
    seeds: Sequence[int],
    arms: Mapping[str, Any] | None,
    n_jobs: int,
    cache: str | os.PathLike[str] | None,
) -> dict[tuple[int, int], _Result]:
    """Return the result of every setting, by its place, with every seed."""
    with extra():
        from joblib import Parallel, delayed

    processes = _checked_jobs(n_jobs)
    rules = [_rule_of(setting, ARMS if arms is None else arms) for setting in settings]
    folder = None if cache is None else Path(cache)
    code = _code_digest()
    work = [(seed, places) for places in _groups(settings) for seed in seeds]
    jobs = [
        delayed(_run_group)(
            seed,
            [settings[place] for place in places],
            [rules[place] for place in places],
            code,
            folder,
        )
        for seed, places in work
    ]
    results = {}
    finished = Parallel(n_jobs=processes, return_as="generator")(jobs)
    bar = progress_bar(finished, "runs", total=len(jobs))
    for (seed, places), group in zip(work, bar, strict=True):
        results |= {(place, seed): result for place, result in zip(places, group, strict=True)}
    return results


def run_settings(
    settings: Iterable[Setting],
    seeds: Iterable[int],
    *,
    arms: Mapping[str, Any] | None = None,
    n_jobs: int = N_JOBS,
    cache: str | os.PathLike[str] | None = None,
) -> list[Record]:
    """Run every setting with every seed.

    Parameters
    ----------
    settings : iterable of Setting
        What to run.
    seeds : iterable of int
        Seeds of the runs of each.
    arms : mapping of str to scale, optional
        Scaling rules by the name that settings use: a number, a callable of d_k and the number
        of keys, or a rule of :mod:`attnlib.scaling`. By default the arms of the book.
    n_jobs : int
        Processes that share the runs; -1 for as many as there are processors.
    cache : path, optional
        Folder of the results of single runs. Those found there are not run again.

    Returns
    -------
    list of Record
        In the order of `settings`.

    Raises
    ------
    TypeError
        If a seed is not an integer.
    ValueError
        If a setting names an unknown arm, or the seeds are none or repeat.

    Notes
    -----
    Serves the chapter on training. A kept result is used only if setting, seed, what the rule
    does and the code of the training are the same.

    Examples
    --------
    >>> from attnbook.training.sweep import Setting, run_settings
    >>> short = Setting("1/√dₖ", "SGD", 16, 0.2, steps=30)
    >>> (record,) = run_settings([short], seeds=[0, 1])
    >>> record.steps.tolist(), record.loss.shape
    ([0, 10, 30], (2, 3))
    """
    wanted, checked = list(settings), _checked_seeds("seeds", seeds)
    results = _in_parallel(wanted, checked, arms, n_jobs, cache)
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
    arms: Mapping[str, Any] | None = None,
    n_jobs: int = N_JOBS,
    cache: str | os.PathLike[str] | None = None,
) -> list[Tuning]:
    """Find the learning rate with the smallest mean loss after the last step.

    Parameters
    ----------
    settings : iterable of Setting
        What to tune; the rates in them are not used.
    rates : mapping of str to sequence of float
        Rates to try, by optimizer.
    seeds : iterable of int
        Seeds to tune on. Do not report results of these.
    arms, n_jobs, cache
        As :func:`run_settings`.

    Returns
    -------
    list of Tuning
        In the order of `settings`, each with the best rate in it.

    Raises
    ------
    TypeError, ValueError
        As :func:`run_settings`, or if there are no rates for an optimizer.

    Notes
    -----
    Serves the chapter on training. Only the last step is measured, so tuning costs little more
    than the training.

    Examples
    --------
    >>> from attnbook.training.sweep import Setting, tune_rates
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
    records = iter(run_settings(trials, checked, arms=arms, n_jobs=n_jobs, cache=cache))
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
    arms: Mapping[str, Any] | None = None,
    n_jobs: int = N_JOBS,
    cache: str | os.PathLike[str] | None = None,
) -> Ablation:
    """Tune the learning rate of every setting on some seeds, and report others.

    Parameters
    ----------
    settings : iterable of Setting
        What to compare; the rates in them are not used.
    rates : mapping of str to sequence of float
        Rates to try, by optimizer.
    tuning_seeds, report_seeds : iterable of int
        Disjoint.
    arms, n_jobs, cache
        As :func:`run_settings`.

    Returns
    -------
    Ablation
        The tunings and the records on the reported seeds, in the order of `settings`.

    Raises
    ------
    TypeError
        As :func:`tune_rates`.
    ValueError
        As :func:`tune_rates`, or if a seed is used for both.

    Notes
    -----
    Serves the chapter on training. A rate chosen on the seeds that are reported would make every
    arm look better than it is, and the unstable ones most.

    Examples
    --------
    >>> from attnbook.training.sweep import Setting, run_ablation
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
    tunings = tune_rates(settings, rates, tuning, arms=arms, n_jobs=n_jobs, cache=cache)
    best = [found.setting for found in tunings]
    return Ablation(tunings, run_settings(best, report, arms=arms, n_jobs=n_jobs, cache=cache))


def quick_ablation(
    tunings: Iterable[Tuning],
    *,
    widths: Sequence[int] = QUICK_WIDTHS,
    seeds: Iterable[int] = REPORT_SEEDS,
    steps: int = QUICK_STEPS,
    n_jobs: int = N_JOBS,
    cache: str | os.PathLike[str] | None = None,
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
    n_jobs, cache
        As :func:`run_settings`.

    Returns
    -------
    list of Record
        For each width the arm without scaling, then the one with 1/√d_k.

    Raises
    ------
    TypeError
        As :func:`run_settings`.
    ValueError
        As :func:`run_settings`, or if a rate is missing, or a seed was tuned on.

    Notes
    -----
    Serves the chapter on training, whose notebook runs it.

    Examples
    --------
    >>> from attnbook.training.sweep import Setting, Tuning, quick_ablation
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
    return run_settings(settings, report, n_jobs=n_jobs, cache=cache)


def _check_disjoint(name: str, report: Iterable[int], tuning: Iterable[int]) -> None:
    shared = sorted(set(report) & set(tuning))
    if shared:
        raise ValueError(f"{name} must be none that rates were tuned on; got {shared}")


def save_ablation(
    path: str | os.PathLike[str], parts: Mapping[str, Ablation], *, about: Mapping[str, Any]
) -> None:
    """Write ablations to a small text file: JSON with one line for each record.

    Parameters
    ----------
    path : path
        The file.
    parts : mapping of str to Ablation
        Ablations by name.
    about : mapping of str to anything that JSON knows
        How the file was made.

    Raises
    ------
    OSError
        If the file cannot be written.

    Notes
    -----
    Serves the chapter on training. Measurements are rounded to five digits; a run that diverged
    has null.

    Examples
    --------
    >>> import tempfile
    >>> from attnbook.training.sweep import load_ablation, save_ablation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_ablation(f"{folder}/table.json", {}, about={"command": "none"})
    ...     load_ablation(f"{folder}/table.json")
    {}
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
    """Read what :func:`save_ablation` wrote, and check that it fits together.

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
    >>> from attnbook.training.sweep import Ablation, load_ablation, save_ablation
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


def _setting_from(entry: Mapping[str, Any]) -> Setting:
    setting = Setting(**entry)
    _rule_of(setting, ARMS)
    return setting


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
    setting, rates = _setting_from(entry["setting"]), tuple(map(float, entry["rates"]))
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
    return Record(_setting_from(entry["setting"]), seeds, steps, **measured)
