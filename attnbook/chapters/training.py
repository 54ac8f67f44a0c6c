"""What the chapter on training says: the committed sweep by name, and what it measures beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnbook.chapters.gradients import share_of_longest
from attnbook.sweeps import ARMS, OPTIMIZERS, Ablation, Record, Setting, Tuning
from attnlib import jacobian_norm_squared, sample_query_gradients
from attnlib.group_mean import Batch, GroupMeanTask, draw_batch, draw_tags, matching_tokens
from attnlib.training import (
    QUANTILES,
    TEST_SIZE,
    Learner,
    TrainingRun,
    loss_and_gradients,
    reference_losses,
    steps_to_loss,
    train_together,
)

NOT_DIVIDED, DIVIDED, BY_WIDTH, NORM, _ = ARMS
NAMES = {
    NOT_DIVIDED: "not divided",
    DIVIDED: "divided by √dₖ",
    BY_WIDTH: "divided by dₖ",
    NORM: "q/k norm",
}
CHANGES = {
    "query_key_rate": "rate of q, k × {:.2g}",
    "initial_gain": "first q, k × {:.2g}",
    "clip": "clip {:g}",
    "warm_up": "warm-up {}",
    "decay": "decay {:g}",
}
"""What a setting may change beside its arm, and how that is said."""
Losses = dict[tuple[str, str, int], np.ndarray]
"""Losses of the seeds by arm, optimizer and head width."""
TASK = GroupMeanTask()


CONFIDENCE = 0.95


def exact_interval(count: int, n: int) -> tuple[float, float]:
    """Return the 95% interval of Clopper and Pearson [1]_ for a chance that came true so often.

    Whatever the chance, the interval of a random sample holds it at least so often; the ends are
    quantiles of beta distributions.

    Parameters
    ----------
    count, n : int
        In how many of how many independent runs it came true.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in
       the case of the binomial", Biometrika 26, 1934.

    Examples
    --------
    >>> low, high = exact_interval(30, 30)
    >>> f"{low:.1%}", high
    ('88.4%', 1.0)
    """
    from scipy.stats import beta

    outside = (1 - CONFIDENCE) / 2
    low = beta.ppf(outside, count, n - count + 1) if count else 0.0
    high = beta.ppf(1 - outside, count + 1, n - count) if count < n else 1.0
    return float(low), float(high)


class Share(NamedTuple):
    """In how many of how many runs something is so, with the 95% interval of its chance.

    Examples
    --------
    >>> str(share_of([True, True, False]))
    '2 of 3 (9% to 99%)'
    """

    count: int
    n: int
    low: float
    high: float

    def __str__(self) -> str:
        """Return the count and, in brackets, the interval."""
        return f"{self.count} of {self.n} ({self.low:.0%} to {self.high:.0%})"


def share_of(found: ArrayLike) -> Share:
    """Count the runs of which something is true: one entry for each seed."""
    runs = np.ravel(found)
    count = int(np.count_nonzero(runs))
    return Share(count, runs.size, *exact_interval(count, runs.size))


def failing(record: Record) -> Share:
    """Count the runs that fail: they end above half of the loss of a single right token."""
    return share_of(record.loss[:, -1] > reference_losses(record.setting.task).one_hot / 2)


class Table(dict[str, Ablation]):
    """The parts of a sweep, whose entries are found by their settings."""

    def found(self, part: str, entries: str = "records", **wanted: Any) -> Any:
        """Return the one entry of a part with these settings."""
        (one,) = _with_settings(getattr(self[part], entries), wanted)
        return one

    def rate(self, arm: str, optimizer: str, d_k: int) -> float:
        """Return the learning rate that an arm was tuned to."""
        return self.found("main", arm=arm, optimizer=optimizer, d_k=d_k).setting.rate

    def losses(self, part: str = "main", *, at: int | None = None, **wanted: Any) -> Losses:
        """Return the losses of a part's runs, after the last step or after `at` steps."""
        found: Losses = {}
        for record in _with_settings(self[part].records, wanted):
            place = -1 if at is None else record.steps.tolist().index(at)
            setting = record.setting
            found[setting.arm, setting.optimizer, setting.d_k] = record.loss[:, place]
        return found

    def steps(self, part: str = "main", **wanted: Any) -> int:
        """Return how many steps the runs of a part take."""
        (steps,) = {one.setting.steps for one in _with_settings(self[part].records, wanted)}
        return steps

    def steps_to(self, level: float) -> dict[str, np.ndarray]:
        """Return after how many steps runs got down to a loss, by arm; both optimizers."""
        reached: dict[str, list[np.ndarray]] = {}
        for record in self["steps to a loss"].records:
            steps = steps_to_loss(record.steps, record.loss, level)
            reached.setdefault(record.setting.arm, []).append(steps)
        return {arm: np.array(steps) for arm, steps in reached.items()}

    def fails(self, part: str = "main", **wanted: Any) -> Share:
        """Count the failing runs of settings that all have as many."""
        (one,) = {failing(record) for record in _with_settings(self[part].records, wanted)}
        return one

    def small_start(self, d_k: int) -> tuple[list[float], list[Losses]]:
        """Return the gains of small initial weights, falling, and the last losses with each."""
        part = "small initial weights"
        records = _with_settings(self[part].records, {"d_k": d_k})
        gains = sorted({record.setting.initial_gain for record in records})[::-1]
        return gains, [self.losses(part, d_k=d_k, initial_gain=gain) for gain in gains]

    def tried(self) -> Iterator[tuple[Record, Record]]:
        """Yield what was tried beside the main arms, each with the plain runs of the same data.

        Plain are those without the division or any change, of the same width and task.
        """
        for part in ("remedies", "small initial weights", "other tasks"):
            for record in self[part].records:
                same = {
                    name: getattr(record.setting, name) for name in ("optimizer", "d_k", "task")
                }
                home = part if part == "other tasks" else "main"
                yield record, self.found(home, arm=NOT_DIVIDED, **same)

    def best(self, arm: str, d_k: int) -> float:
        """Return the smallest mean loss of the tuning seeds, over all rates and both optimizers."""
        entries = _with_settings(self["main"].tunings, {"arm": arm, "d_k": d_k})
        return float(min(tuning.loss.min() for tuning in entries))

    @property
    def widths(self) -> list[int]:
        """The head widths, rising."""
        return sorted({record.setting.d_k for record in self["main"].records})

    def rates(self, optimizer: str) -> tuple[float, float]:
        """Return the lowest and the highest rate that every arm was tried with."""
        (rates,) = {
            tuning.rates for tuning in self["main"].tunings if tuning.setting.optimizer == optimizer
        }
        return rates[0], rates[-1]

    def curves(self, arms: Sequence[str], widths: Sequence[int]) -> np.ndarray:
        """Return the mean losses of SGD at all rates, of shape (n_widths, n_arms, n_rates)."""
        return np.array(
            [
                [self.found("main", "tunings", arm=a, optimizer="SGD", d_k=d).loss for a in arms]
                for d in widths
            ]
        )

    def by_width(self) -> list[list[tuple[str, list[int], np.ndarray]]]:
        """Return names, widths and last losses of the arms, for SGD and for Adam, to draw them."""
        panels: list[list[tuple[str, list[int], np.ndarray]]] = []
        for optimizer in OPTIMIZERS:
            panels.append([])
            for arm, name in NAMES.items():
                rows = {
                    d: ls for (a, o, d), ls in self.losses().items() if (a, o) == (arm, optimizer)
                }
                panels[-1].append((name, list(rows), np.array(list(rows.values()))))
        own = {d_k: losses for (_, _, d_k), losses in self.losses("own query and key rate").items()}
        panels[0].append(("÷ dₖ, own q, k rate", list(own), np.array(list(own.values()))))
        return panels


def _with_settings(entries: Iterable[Any], wanted: dict[str, Any]) -> list[Any]:
    return [
        entry
        for entry in entries
        if all(getattr(entry.setting, name) == value for name, value in wanted.items())
    ]


def stacked(losses: Losses, d_k: int, arms: Sequence[str] = (NOT_DIVIDED, DIVIDED)) -> np.ndarray:
    """Return the losses at a width, of shape (n_arms, n_optimizers, n_seeds)."""
    return np.array([[losses[arm, name, d_k] for name in OPTIMIZERS] for arm in arms])


def brief(number: float, digits: int = 2) -> str:
    """Return a number with so many significant digits.

    Examples
    --------
    >>> brief(0.00123), brief(17.56, digits=3)
    ('0.0012', '17.6')
    """
    exponent = int(f"{number:.{digits - 1}e}".split("e")[1])
    return f"{number:.{max(0, digits - 1 - exponent)}f}"


def median(values: ArrayLike, digits: int = 2) -> str:
    """Return the median over seeds.

    Examples
    --------
    >>> median([0.1, 0.25, 7])
    '0.25'
    """
    return brief(np.median(values), digits)


def span(values: ArrayLike, digits: int = 2) -> str:
    """Return the median over seeds and, in brackets, the smallest and the largest value.

    Examples
    --------
    >>> span([0.1, 0.25, 7])
    '0.25 (0.10 to 7.0)'
    """
    low, high = (brief(f(values), digits) for f in (np.min, np.max))
    return f"{median(values, digits)} ({low} to {high})"


def described(setting: Setting) -> str:
    """Name the arm, the sizes and the changes of a setting that was tried.

    Examples
    --------
    >>> described(Setting("1", "SGD", 256, 0.1, clip=1.0, warm_up=100))
    'clip 1, warm-up 100'
    >>> described(Setting("1/√dₖ", "SGD", 256, 0.1, group_size=2))
    '8 groups of 2, divided by √dₖ'
    """
    task = setting.task
    said = [f"{task.n_groups} groups of {task.group_size}, {NAMES[setting.arm]}"] * (task != TASK)
    for name, text in CHANGES.items():
        value = getattr(setting, name)
        if value != getattr(Setting, name):
            said.append(text.format(value))
    return ", ".join(said)


def rates_below(loss: float, tuning: Tuning) -> tuple[float, float]:
    """Return the ends of the range of rates at which the mean loss is below a bound.

    Raises
    ------
    ValueError
        If a rate in between is not below it.
    """
    (places,) = np.nonzero(tuning.loss < loss)
    if (np.diff(places) != 1).any():
        raise ValueError(f"the rates with losses below {loss} are not next to each other")
    return tuning.rates[places[0]], tuning.rates[places[-1]]


def local_minima(tuning: Tuning) -> np.ndarray:
    """Return the losses at the rates that are better than both their neighbors."""
    loss = tuning.loss
    return loss[1:-1][(loss[1:-1] < loss[:-2]) & (loss[1:-1] < loss[2:])]


def claims(table: Table, level: float) -> dict[str, bool]:
    """Say which sentences of the chapter about the table hold, those without a number.

    Parameters
    ----------
    table : Table
        The committed sweep.
    level : float
        The loss to which all runs come that have time.
    """
    _, middle, wide, widest = table.widths
    fresh = table.losses("fresh seeds")
    records = [one for name, part in table.items() if name != "fresh seeds" for one in part.records]
    soon = "tuned for 300 steps"
    raw, divided = stacked(table.losses(), middle)
    stuck = np.array([stacked(table.losses(), d_k)[0] for d_k in (wide, widest)])
    one_right = abs(stuck - reference_losses(TASK).one_hot) < 0.1
    sooner, later, midway = (
        _medians(table.losses(part, at=at), "Adam", (wide, widest))
        for part, at in ((soon, None), ("main", None), ("main", table.steps(soon)))
    )
    two_dips = [
        local_minima(table.found("main", "tunings", arm=DIVIDED, optimizer="Adam", d_k=d_k))
        for d_k in (wide, widest)
    ]
    return {
        "five seeds for each arm, width and optimizer": {len(one.loss) for one in records} == {5},
        "at the middle width those without the division are lower": bool(
            (np.median(raw, axis=1) < np.median(divided, axis=1)).all()
        ),
        "fresh seeds have the same order, but overlap": all(
            np.median(fresh[NOT_DIVIDED, name, middle]) < np.median(fresh[DIVIDED, name, middle])
            and fresh[NOT_DIVIDED, name, middle].max() > fresh[DIVIDED, name, middle].min()
            for name in OPTIMIZERS
        ),
        "nineteen of twenty are at about the loss of a right token": one_right.sum() == 19,
        "all five seeds of each optimizer without the division got down": bool(
            np.isfinite(table.steps_to(level)[NOT_DIVIDED]).all()
        ),
        "the first gain is d_k^(-1/4)": table.small_start()[0][0] == wide**-0.25,
        "with Adam the order turns with the number of steps": bool(
            (sooner.argmin(axis=0) == 0).all() and (later.argmax(axis=0) == 0).all()
        ),
        "a wrong rate puts the same rule last and first": (
            (midway[:, 0].argmax(), midway[:, 1].argmin()) == (0, 0)
        ),
        "two dips, whose depths are within a factor of about two": all(
            found.size == 2 and found.max() < 2.5 * found.min() for found in two_dips
        ),
    }


def _medians(losses: Losses, optimizer: str, widths: Sequence[int]) -> np.ndarray:
    """Return the medians of √d_k, d_k and q/k norm, a row each."""
    arms = DIVIDED, BY_WIDTH, NORM
    return np.array([[np.median(losses[arm, optimizer, d]) for d in widths] for arm in arms])


def held_out(seed: int) -> Batch:
    """Return what the runs of a seed are tested on; see `attnlib.training.train_together`."""
    for_tags, _, for_test, _ = np.random.SeedSequence(seed).spawn(4)
    drawn = draw_tags(TASK, np.random.default_rng(for_tags))
    return draw_batch(TASK, drawn, TEST_SIZE, np.random.default_rng(for_test))


def held_out_weights(run: TrainingRun) -> tuple[np.ndarray, np.ndarray]:
    """Return the attention weights of a trained model, and which tokens are right."""
    test = held_out(run.seed)
    weights = loss_and_gradients(run.parameters, test, run.learner.scale).weights
    return weights, matching_tokens(TASK, test)


def spread_at_start(learner: Learner, seeds: Iterable[int]) -> float:
    """Return how far the logits of right tokens spread before training, on average over seeds."""
    spreads = []
    for seed in seeds:
        (run,) = train_together(seed, [learner], steps=0)
        weights, right = held_out_weights(run)
        logits = np.log(weights[right].reshape(-1, TASK.group_size))
        spreads.append(np.sqrt(logits.var(axis=1, ddof=1).mean()))
    return float(np.mean(spreads))


def predicted_ratio(d_k: int) -> float:
    """Return the median gradient on a random query, not divided over divided."""
    rng = np.random.default_rng(804)
    raw, divided = (
        np.median(sample_query_gradients(d_k, TASK.n_tokens, 100000, scale=scale, rng=rng))
        for scale in (1.0, None)
    )
    return raw / divided


def top_share(lengths: np.ndarray) -> np.ndarray:
    """Return the share of the sum of squares that the longest 5% hold, along the last axis.

    Examples
    --------
    >>> float(top_share(np.array([3.0] + 19 * [1.0])).round(3))
    0.321
    """
    return share_of_longest(lengths, 1 - QUANTILES[-1])


def gradient_factors(
    moments: Iterable[Sequence[Sequence[TrainingRun]]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return two factors of the median gradient at some moments, means over seeds for two arms.

    Parameters
    ----------
    moments : iterable of sequences
        For each moment and seed the runs of both arms.

    Returns
    -------
    jacobians, value_norms : numpy.ndarray, shape (n_moments, 2)
        Median norm of the softmax's Jacobian, and norm of the part of W_v that reads payloads.
    """
    factors = [
        [[(_median_jacobian(run), _payload_norm(run)) for run in runs[:2]] for runs in moment]
        for moment in moments
    ]
    jacobians, value_norms = np.moveaxis(np.mean(factors, axis=1), -1, 0)
    return jacobians, value_norms


def _median_jacobian(run: TrainingRun) -> float:
    return np.median(np.sqrt(jacobian_norm_squared(held_out_weights(run)[0])))


def _payload_norm(run: TrainingRun) -> float:
    return np.linalg.norm(run.parameters["value"][TASK.tag_width :])
