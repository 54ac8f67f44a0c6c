"""What the chapter on training says: the committed sweep by name, and what it measures beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attnbook.training import (
    TEST_SIZE,
    Batch,
    GroupMeanTask,
    Learner,
    Sgd,
    TrainingRun,
    draw_batch,
    draw_tags,
    loss_and_gradients,
    matching_tokens,
    reference_losses,
    steps_to_loss,
    train_together,
)
from attnbook.training.sweep import ARMS, MEASURED, OPTIMIZERS, Ablation, Record, Setting
from attnlib import jacobian_norm_squared, sample_query_gradients

NOT_DIVIDED, DIVIDED, BY_WIDTH, NORM, _ = ARMS
NAMES = {
    NOT_DIVIDED: "not divided",
    DIVIDED: "divided by √dₖ",
    BY_WIDTH: "divided by dₖ",
    NORM: "q/k norm",
}
CHANGES = {
    "query_key_rate": "rate of q, k × {:g}",
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
    from scipy.special import betaincinv

    outside = (1 - CONFIDENCE) / 2
    low = betaincinv(count, n - count + 1, outside) if count else 0.0
    high = betaincinv(count + 1, n - count, 1 - outside) if count < n else 1.0
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

    def ended(self, part: str = "main", **wanted: Any) -> list[Record]:
        """Return what the runs of a part measured after the last step, with all their seeds."""
        more = {record.setting: record for record in self["more seeds"].records}
        whole = []
        for record in _with_settings(self[part].records, wanted):
            setting = replace(record.setting, record_at=(record.setting.steps,))
            some = [record, more[setting]] if setting in more else [record]
            columns = {
                name: np.concatenate([getattr(one, name)[:, -1:] for one in some])
                for name in MEASURED
            }
            seeds = tuple(seed for one in some for seed in one.seeds)
            whole.append(Record(setting, seeds, record.steps[-1:], **columns))
        return whole

    def losses(self, part: str = "main", **wanted: Any) -> Losses:
        """Return the losses of a part's runs after the last step, with all seeds."""
        return {_which(one.setting): one.loss[:, 0] for one in self.ended(part, **wanted)}

    def losses_at(self, steps: int) -> Losses:
        """Return the losses of the main runs after so many steps, with the first seeds."""
        return {
            _which(one.setting): one.loss[:, one.steps.tolist().index(steps)]
            for one in self["main"].records
        }

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
        (one,) = {failing(record) for record in self.ended(part, **wanted)}
        return one

    def small_start(self, d_k: int) -> tuple[list[float], list[Losses]]:
        """Return the gains of small initial weights, falling, and the last losses with each."""
        part = "small initial weights"
        records = _with_settings(self[part].records, {"d_k": d_k})
        gains = sorted({record.setting.initial_gain for record in records})[::-1]
        return gains, [self.losses(part, d_k=d_k, initial_gain=gain) for gain in gains]

    def tried(self) -> list[Record]:
        """Return what was tried beside the main table, with all seeds, SGD first."""
        records = [
            record
            for part in ("remedies", "small initial weights", "other tasks")
            for record in self.ended(part)
        ]
        return sorted(records, key=lambda record: record.setting.optimizer == "Adam")

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


def _which(setting: Setting) -> tuple[str, str, int]:
    return setting.arm, setting.optimizer, setting.d_k


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
    """Name what a setting changes beside its rate; the arm if it changes the task.

    Examples
    --------
    >>> described(Setting("1", "SGD", 256, 0.1, clip=1.0, warm_up=100))
    'clip 1, warm-up 100'
    >>> described(Setting("1", "SGD", 512, 0.1, initial_gain=0.2))
    'first q, k × 0.2, dₖ 512'
    >>> described(Setting("1/√dₖ", "SGD", 256, 0.1, n_groups=16))
    '16 groups of 4, 1/√dₖ'
    """
    said = [
        text.format(getattr(setting, name))
        for name, text in CHANGES.items()
        if getattr(setting, name) != getattr(Setting, name)
    ]
    if setting.task != TASK:
        said.append(f"{setting.n_groups} groups of {setting.group_size}, {setting.arm}")
    elif setting.initial_gain != Setting.initial_gain:
        said.append(f"dₖ {setting.d_k}")
    return ", ".join(said)


def claims(table: Table, level: float) -> dict[str, bool]:
    """Say which sentences of the chapter about the table hold, those without a number.

    `level` is the loss to which all runs come that have time.
    """
    _, middle, wide, widest = table.widths
    sooner, later = (
        _medians(table.losses(part), "Adam", (wide, widest))
        for part in ("tuned for 300 steps", "main")
    )
    both = (NOT_DIVIDED, DIVIDED)
    return {
        "thirty seeds for the two main arms": {
            len(one.seeds) for one in table.ended() if one.setting.arm in both
        }
        == {30},
        "at the middle width none fails": not any(
            table.fails(arm=arm, d_k=middle).count for arm in both
        ),
        "all five seeds of each optimizer without the division got down": bool(
            np.isfinite(table.steps_to(level)[NOT_DIVIDED]).all()
        ),
        "the first gain is d_k^(-1/4)": [table.small_start(d_k)[0][0] for d_k in (wide, widest)]
        == [wide**-0.25, widest**-0.25],
        "with Adam the order turns with the number of steps": bool(
            (sooner.argmin(axis=0) == 0).all() and (later.argmax(axis=0) == 0).all()
        ),
    }


def _medians(losses: Losses, optimizer: str, widths: Sequence[int]) -> np.ndarray:
    """Return the medians of √d_k, d_k and q/k norm, a row each."""
    arms = DIVIDED, BY_WIDTH, NORM
    return np.array([[np.median(losses[arm, optimizer, d]) for d in widths] for arm in arms])


@lru_cache(maxsize=8)
def held_out(seed: int) -> Batch:
    """Return what the runs of a seed are tested on; see `attnbook.training.train_together`."""
    for_tags, _, for_test, _ = np.random.SeedSequence(seed).spawn(4)
    drawn = draw_tags(TASK, np.random.default_rng(for_tags))
    return draw_batch(TASK, drawn, TEST_SIZE, np.random.default_rng(for_test))


def held_out_weights(run: TrainingRun) -> tuple[np.ndarray, np.ndarray]:
    """Return the attention weights of a trained model, and which tokens are right."""
    test = held_out(run.seed)
    weights = loss_and_gradients(run.parameters, test, run.learner.scale).weights
    return weights, matching_tokens(TASK, test)


def attended(run: TrainingRun) -> tuple[float, float]:
    """Return a trained model's weight on right tokens, and the sum of its squared weights."""
    weights, right = held_out_weights(run)
    return (weights * right).sum(axis=1).mean(), (weights**2).sum(axis=1).mean()


def score_statistics(run: TrainingRun) -> tuple[float, ...]:
    """Describe the divided scores of a model on its test set.

    Returned are the spread in a row, the mean lengths of queries and keys, the mean cosine of a
    query with its right keys, and the loss.
    """
    test = held_out(run.seed)
    q = test.query_tokens @ run.parameters["query"]
    k = test.tokens @ run.parameters["key"]
    products = (k @ q[:, :, None]).squeeze(2)
    of_q, of_k = np.linalg.norm(q, axis=1), np.linalg.norm(k, axis=2)
    cosines = (products / (of_q[:, None] * of_k))[matching_tokens(TASK, test)]
    spread = np.sqrt((products.var(axis=1, ddof=1) / q.shape[1]).mean())
    return spread, of_q.mean(), of_k.mean(), cosines.mean(), run.loss[-1]


def both_trained(d_k: int, rates: tuple[float, float], seed: int, steps: int) -> np.ndarray:
    """Train an undivided and a divided head by SGD, and look at each, shape (2, 7 + n_records).

    The columns are those of `attended` and `score_statistics`, and then, at each step measured,
    the 95% quantile of the gradients' lengths.
    """
    learners = [
        Learner(d_k, scale, Sgd(rate)) for scale, rate in zip((1.0, None), rates, strict=True)
    ]
    runs = train_together(seed, learners, steps=steps, progress=False)
    return np.array(
        [[*attended(run), *score_statistics(run), *run.gradient_quantiles[:, -1]] for run in runs]
    )


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


def gradient_factors(
    moments: Iterable[Sequence[Sequence[TrainingRun]]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return two factors of the median gradient at some moments, means over seeds for two arms.

    They are the median norm of the softmax's Jacobian and the norm of the part of W_v that reads
    payloads, each of shape (n_moments, 2). `moments` has for each moment and seed the runs of both
    arms.
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
