r"""A small attention model, trained by gradients written out by hand.

The model is one head with a query, a key and a value matrix,

.. math:: s_i = \mathrm{rule}(x_q W_Q,\; x_i W_K), \qquad p = \mathrm{softmax}(s), \qquad
          y = \Bigl(\sum_i p_i x_i\Bigr) W_V,

where the rule is one of :mod:`attnlib.scaling`. Products of matrices are associative:
:math:`q\cdot(x W_K) = (q W_K^\top)\cdot x`, so neither keys nor values are ever built, one for each
token of each sequence: only queries, and the matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from attnbook.training._progress import progress_bar
from attnbook.training.group_mean import (
    Batch,
    GroupMeanTask,
    checked_task,
    draw_batch,
    draw_tags,
    floating_type,
    matching_tokens,
)
from attnbook.training.optimizers import (
    Adam,
    OptimizerState,
    Sgd,
    check_arrays,
    check_names,
    check_optimizer,
    initial_state,
    optimizer_step,
)
from attnlib._checks import float_array, generator, real_number, whole_number
from attnlib._threads import on_one_thread
from attnlib.scaling import ScalingRule, scaling_rule
from attnlib.softmax import entropy

__all__ = [
    "Learner",
    "LossGradients",
    "TrainingRun",
    "initial_parameters",
    "loss_and_gradients",
    "steps_to_loss",
    "train",
    "train_together",
    "training_step",
]

BATCH_SIZE = 64
TEST_SIZE = 512
"""Sequences on which every run is measured; they are never trained on."""
N_PROBES = 4
"""The first sequences of the test set, whose attention weights are kept."""
STEPS = 1000
RECORD_AT = (0, 10, 30, 100, 300, 1000)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DIVERGED = 1e8
"""A loss that no run comes back from; 1 is the loss of predicting zero, about."""
WEIGHTS = ("query", "key", "value")


@np.errstate(under="ignore")
def initial_parameters(
    task: GroupMeanTask,
    d_k: int,
    scale: Any = None,
    *,
    rng: np.random.Generator,
    gains: Mapping[str, float] | float = 1.0,
    dtype: DTypeLike = np.float64,
) -> dict[str, np.ndarray]:
    """Draw the weights that training starts from.

    The entries of tokens have variance 1. Weights are normal with variance 1/token_width, so
    with gain 1 the entries of queries and keys have variance 1 too: the premise of dividing by
    the square root of d_k.

    Parameters
    ----------
    scale : None, float, callable or ScalingRule
        As in :func:`attnlib.scaling.scaling_rule`; what the rule learns is among the parameters.
    gains : float or mapping
        What the query and the key weights are multiplied by: one number for both, or numbers by
        name, 1 where none is given.
    dtype : data type
        float64 or float32.

    Returns
    -------
    dict of str to numpy.ndarray
        ``query`` and ``key`` of shape (token_width, d_k), ``value`` of shape (token_width,
        payload_width), and the learned gains of the rule by name.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.group_mean import GroupMeanTask
    >>> from attnbook.training.model import initial_parameters
    >>> import numpy as np
    >>> parameters = initial_parameters(GroupMeanTask(), 64, rng=np.random.default_rng(0))
    >>> {name: array.shape for name, array in parameters.items()}
    {'query': (32, 64), 'key': (32, 64), 'value': (32, 16)}
    """
    sizes, kind = checked_task(task), floating_type(dtype)
    width, source = whole_number("d_k", d_k), generator(rng)
    rule = scaling_rule(scale)
    given = gains if isinstance(gains, Mapping) else {"query": gains, "key": gains}
    factors = dict.fromkeys(WEIGHTS, 1.0) | {
        name: real_number("gains", gain) for name, gain in given.items()
    }
    check_names("gains", given, WEIGHTS)
    # the value weights come first, so that they are the same for every head width
    drawn = {
        name: source.standard_normal((sizes.token_width, columns))
        for name, columns in (("value", sizes.payload_width), ("query", width), ("key", width))
    }
    std = float(1 / np.sqrt(sizes.token_width))
    weights = {name: (drawn[name] * (std * factors[name])).astype(kind) for name in WEIGHTS}
    return weights | {name: np.array(gain, dtype=kind) for name, gain in rule.gains.items()}


def _check_parameters(
    parameters: Mapping[str, np.ndarray], batch: Batch, rule: ScalingRule
) -> None:
    """Say which parameter does not fit."""
    check_arrays("parameters", parameters)
    if not isinstance(batch, Batch):
        raise TypeError(f"batch must be a Batch; got {batch!r:.60}")
    wanted = {*WEIGHTS, *rule.gains}
    if set(parameters) != wanted:
        raise ValueError(f"parameters must be {sorted(wanted)}; got {sorted(parameters)}")
    width, d_k = batch.query_tokens.shape[1], parameters["query"].shape[1]
    shapes = {"query": (width, d_k), "key": (width, d_k), "value": (width, batch.targets.shape[1])}
    for name, shape in shapes.items():
        if parameters[name].shape != shape:
            raise ValueError(f"{name} must have shape {shape}; got {parameters[name].shape}")


class LossGradients(NamedTuple):
    """What one pass forward and back gives.

    Notes
    -----
    Serves the chapter on training.
    """

    loss: float
    """Squared error of a sequence, summed over the payload, averaged over the batch."""
    parameters: dict[str, np.ndarray]
    """Gradient of the loss by each parameter."""
    queries: np.ndarray
    """Shape (size, d_k): gradient of each sequence's own squared error by its query."""
    weights: np.ndarray
    """Shape (size, n_tokens): the attention weights."""


def _key_lengths(tokens: np.ndarray, key_weights: np.ndarray) -> np.ndarray:
    """Return the length of every key without building it; a key of length 0 gets infinity.

    |xW|² = x (W Wᵀ) xᵀ. Divided by infinity, a key without a direction matches nothing and
    passes no gradient on, as in :meth:`attnlib.scaling.ScalingRule.fold_key`.
    """
    squares = ((tokens @ (key_weights @ key_weights.T)) * tokens).sum(axis=-1)
    return np.sqrt(np.where(squares > 0, squares, np.inf))


def _softmax_rows(logits: np.ndarray) -> np.ndarray:
    """Return softmax of each row, NaN where a logit overflowed."""
    weights = logits - logits.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


@np.errstate(under="ignore")
def loss_and_gradients(
    parameters: Mapping[str, np.ndarray], batch: Batch, scale: Any = None
) -> LossGradients:
    r"""Return the loss of the model on a batch, and its gradient by every parameter.

    Parameters
    ----------
    parameters : mapping of str to numpy.ndarray
        As :func:`initial_parameters` returns, of the floating type of the batch.
    scale : None, float, callable or ScalingRule
        The scaling rule; its learned gains are taken from `parameters`.

    Raises
    ------
    TypeError, ValueError
        If the parameters do not fit the batch or the rule.
    FloatingPointError
        If the loss exceeds 1e8, or a number overflows: the parameters have diverged.

    Notes
    -----
    Derived in the chapter on training. With D the gradient by the logits (see
    :func:`attnlib.attention_vjp`) and X the tokens of a sequence, :math:`X^\top D` takes the
    place of keys in the gradient by the query: it is the same associativity, backwards.

    Examples
    --------
    >>> from attnbook.training.group_mean import GroupMeanTask, draw_batch, draw_tags
    >>> from attnbook.training.model import initial_parameters, loss_and_gradients
    >>> import numpy as np
    >>> task, rng = GroupMeanTask(), np.random.default_rng(0)
    >>> batch = draw_batch(task, draw_tags(task, rng), 64, rng)
    >>> start = initial_parameters(task, 64, rng=rng)
    >>> result = loss_and_gradients(start, batch)
    >>> nudged = {name: start[name] - 0.01 * result.parameters[name] for name in start}
    >>> loss_and_gradients(nudged, batch).loss < result.loss
    True
    """
    rule = scaling_rule(scale)
    _check_parameters(parameters, batch, rule)
    if rule.gains:
        rule = rule.with_gains(**{name: parameters[name] for name in rule.gains})
    with np.errstate(over="ignore", invalid="ignore"):
        return _loss_and_gradients(parameters, batch, rule)


def _loss_and_gradients(
    parameters: Mapping[str, np.ndarray], batch: Batch, rule: ScalingRule
) -> LossGradients:
    query_weights, key_weights, value_weights = (parameters[name] for name in WEIGHTS)
    tokens, (size, n_tokens) = batch.tokens, batch.tokens.shape[:2]

    query = batch.query_tokens @ query_weights
    _check_finite("queries", query)
    if rule.gains:
        bound = float(np.log(np.finfo(query.dtype).max))
        _check_convergence("logarithm of a learned gain", _largest_gain(rule, query), bound)
    folded = rule.fold_query(query, n_tokens)
    pattern = folded @ key_weights.T  # what a query looks for, as a token
    lengths = _key_lengths(tokens, key_weights) if rule.normalize else 1.0
    scores = (tokens @ pattern[:, :, None]).squeeze(2) / lengths
    logits = rule.cap_logits(scores)
    weights = _softmax_rows(logits)
    context = (weights[:, None, :] @ tokens).squeeze(1)
    error = context @ value_weights - batch.targets
    loss = float((error * error).sum()) / size
    _check_convergence("loss", loss, DIVERGED)

    by_output = error * (2 / size)
    by_weights = (tokens @ (by_output @ value_weights.T)[:, :, None]).squeeze(2)
    by_logits = weights * (by_weights - (weights * by_weights).sum(axis=1, keepdims=True))
    by_products = by_logits * rule.cap_slope(logits) / lengths
    by_pattern = (by_products[:, None, :] @ tokens).squeeze(1)
    by_folded = by_pattern @ key_weights
    _check_finite("gradients by the queries", by_folded)
    by_query, by_gains = rule.fold_query_vjp(query, n_tokens, by_folded)
    by_key_weights = by_pattern.T @ folded
    if rule.normalize:
        # |k| = |xW| divides the score: ∂|xW|/∂W = xᵀxW / |xW|
        shrink = (by_products * scores / lengths)[:, :, None]
        moment = np.tensordot(tokens * shrink, tokens, axes=((0, 1), (0, 1)))
        by_key_weights -= moment @ key_weights
    gradients = {
        "query": batch.query_tokens.T @ by_query,
        "key": by_key_weights,
        "value": context.T @ by_output,
    } | {name: np.asarray(by_gain, query.dtype) for name, by_gain in by_gains.items()}
    return LossGradients(loss, gradients, by_query * size, weights)


def _largest_gain(rule: ScalingRule, query: np.ndarray) -> float:
    """Return the largest magnitude that is an exponent in a learned gain."""
    direction = rule.gains.get("query_gain", np.zeros(query.shape[1]))
    return float(max(abs(rule.gains.get("log_gain", 0.0)), np.abs(query @ direction).max()))


def _check_finite(name: str, array: np.ndarray) -> None:
    """Raise unless the numbers are finite; then their sum is, short of the end of the range."""
    _check_convergence(f"sum of the {name}", float(array.sum()), np.inf)


def _check_convergence(name: str, number: float, bound: float) -> None:
    """Raise unless the number is below the bound; NaN is below none."""
    if not abs(number) < bound:
        raise FloatingPointError(f"the {name} must stay below {bound:g}; got {number:g}")


def training_step(
    parameters: Mapping[str, np.ndarray],
    batch: Batch,
    scale: Any,
    optimizer: Sgd | Adam,
    state: OptimizerState,
) -> tuple[float, dict[str, np.ndarray], OptimizerState]:
    """Make one step: return the loss before it, the parameters after it, and the state.

    Errors are those of :func:`loss_and_gradients` and :func:`attnbook.training.optimizer_step`.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.group_mean import GroupMeanTask, draw_batch, draw_tags
    >>> from attnbook.training.optimizers import Sgd, initial_state
    >>> from attnbook.training.model import initial_parameters, training_step
    >>> import numpy as np
    >>> task, rng = GroupMeanTask(), np.random.default_rng(0)
    >>> batch = draw_batch(task, draw_tags(task, rng), 64, rng)
    >>> parameters = initial_parameters(task, 64, rng=rng)
    >>> step = training_step(parameters, batch, None, Sgd(0.1), initial_state(parameters))
    >>> step[2].steps
    1
    """
    result = loss_and_gradients(parameters, batch, scale)
    stepped, state = optimizer_step(optimizer, parameters, result.parameters, state)
    return result.loss, stepped, state


@dataclass(frozen=True, eq=False)
class Learner:
    """What is trained, and how; runs differ in nothing else if their seed is the same.

    Parameters
    ----------
    d_k : int
        Head width.
    scale : None, float, callable or ScalingRule
        As in :func:`attnlib.scaling.scaling_rule`.
    optimizer : Sgd or Adam
        The optimizer with its learning rate.
    initial_gain : float or mapping
        What the initial query and key weights are multiplied by; see :func:`initial_parameters`.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.optimizers import Sgd
    >>> from attnbook.training.model import Learner
    >>> Learner(64, None, Sgd(0.1)).rule
    ScalingRule('1/√dₖ')
    """

    d_k: int
    scale: Any
    optimizer: Sgd | Adam
    initial_gain: Mapping[str, float] | float = 1.0

    def __post_init__(self) -> None:
        """Check what would otherwise fail at the first step."""
        object.__setattr__(self, "d_k", whole_number("d_k", self.d_k))
        scaling_rule(self.scale)
        check_optimizer(self.optimizer)

    @property
    def rule(self) -> ScalingRule:
        """The scaling rule that `scale` stands for."""
        return scaling_rule(self.scale)


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """What one run did, at the steps where it was measured on the test set.

    A run that diverged has loss infinity, and NaN elsewhere, from the first step on that was not
    reached.

    Notes
    -----
    Serves the chapter on training.
    """

    seed: int
    learner: Learner
    steps: np.ndarray
    """Shape (n_records,): numbers of steps made."""
    loss: np.ndarray
    """Shape (n_records,): squared error over the mean square of the targets."""
    max_weight: np.ndarray
    """Shape (n_records,): largest attention weight, averaged over the test set."""
    entropy: np.ndarray
    """Shape (n_records,): entropy of the weights in nats, averaged likewise."""
    gradient_quantiles: np.ndarray
    """Shape (n_records, 5): of the lengths of the gradients of each test sequence's own squared
    error by its query, at the probabilities 0.05, 0.25, 0.5, 0.75 and 0.95."""
    attention: np.ndarray
    """Shape (n_records, n_probes, n_tokens): weights of the first test sequences."""
    matches: np.ndarray
    """Shape (n_probes, n_tokens): which of their tokens the query looks for."""
    parameters: dict[str, np.ndarray]
    """After the last step; of a run that diverged, the last that it had."""
    diverged: bool


def train(
    seed: int,
    d_k: int,
    scale: Any,
    optimizer: Sgd | Adam,
    *,
    initial_gain: Mapping[str, float] | float = 1.0,
    **conditions: Any,
) -> TrainingRun:
    """Train one model, as :func:`train_together` does several.

    The first arguments after the seed are those of :class:`Learner`, the others those of
    :func:`train_together`.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.optimizers import Sgd
    >>> from attnbook.training.model import train
    >>> run = train(0, 16, None, Sgd(0.2), steps=100, record_at=[0, 100])
    >>> bool(run.loss[0] > 1 > 0.3 > run.loss[1])
    True
    """
    (run,) = train_together(seed, [Learner(d_k, scale, optimizer, initial_gain)], **conditions)
    return run


@np.errstate(under="ignore")
def train_together(
    seed: int,
    learners: Iterable[Learner],
    *,
    task: GroupMeanTask | None = None,
    steps: int = STEPS,
    batch_size: int = BATCH_SIZE,
    test_size: int = TEST_SIZE,
    record_at: Sequence[int] | None = None,
    dtype: DTypeLike = np.float64,
    progress: bool = True,
) -> list[TrainingRun]:
    """Train several models on the same data at once, and measure them on the way.

    The seed is split into four independent streams, for the tags, the initial weights, the test
    set and the training batches. So every learner sees the same data in the same order, and those
    with one d_k start from the same weights. It makes no difference to any of them whether it is
    trained alone; but drawing the data takes about as long as a step.

    Parameters
    ----------
    seed : int
        What all randomness comes from, not negative.
    learners : iterable of Learner
        What to train; the runs are returned in this order.
    task : GroupMeanTask, optional
        Sizes of the task; by default 8 groups of 4 tokens, 32 tags.
    steps, batch_size, test_size : int
        Number of steps, sequences of a step, and of the test set.
    record_at : sequence of int, optional
        Numbers of steps after which to measure, at most `steps`; by default 0, 10, 30, 100, 300
        and 1000 as far as there are so many, and the last.
    dtype : data type
        float64 or float32.
    progress : bool
        Whether a terminal shows a progress bar once two seconds have passed.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.optimizers import Sgd
    >>> from attnbook.training.model import Learner, train_together
    >>> learners = [Learner(256, 1.0, Sgd(0.03)), Learner(256, None, Sgd(0.3))]
    >>> unscaled, scaled = train_together(0, learners, steps=100)
    >>> bool(unscaled.loss[-1] > 0.5 > scaled.loss[-1])
    True
    """
    sizes = GroupMeanTask() if task is None else checked_task(task)
    n_steps = whole_number("steps", steps, least=0)
    measured = _checked_records(record_at, n_steps)
    batch_size = whole_number("batch_size", batch_size)
    number = whole_number("seed", seed, least=0)
    root = np.random.SeedSequence(number)
    for_tags, for_weights, for_test, for_batches = root.spawn(4)

    tags = draw_tags(sizes, np.random.default_rng(for_tags))
    count, source = whole_number("test_size", test_size), np.random.default_rng(for_test)
    test = draw_batch(sizes, tags, count, source, dtype=dtype)
    trainings = [_Training(learner, sizes, for_weights, dtype) for learner in learners]
    source = np.random.default_rng(for_batches)
    with on_one_thread():
        for step in progress_bar(range(n_steps + 1), f"seed {number}", shown=progress):
            if step in measured:
                for training in trainings:
                    training.measure(test)
            if step < n_steps:
                batch = draw_batch(sizes, tags, batch_size, source, dtype=dtype)
                for training in trainings:
                    training.step(batch)
    matches = matching_tokens(sizes, test)[:N_PROBES]
    return [training.run(number, np.array(measured), matches) for training in trainings]


class _Training:
    """One learner on its way."""

    def __init__(
        self,
        learner: Learner,
        task: GroupMeanTask,
        for_weights: np.random.SeedSequence,
        dtype: DTypeLike,
    ) -> None:
        if not isinstance(learner, Learner):
            raise TypeError(f"learners must be instances of Learner; got {learner!r}")
        self.learner = learner
        self.rule = learner.rule
        self.parameters = initial_parameters(
            task,
            learner.d_k,
            self.rule,
            rng=np.random.default_rng(for_weights),
            gains=learner.initial_gain,
            dtype=dtype,
        )
        self.state = initial_state(self.parameters)
        self.records: list[_Record] = []
        self.diverged = False

    def measure(self, test: Batch) -> None:
        """Add a measurement."""
        if not self.diverged:
            try:
                self.records.append(_measure(self.parameters, test, self.rule))
                return
            except FloatingPointError:
                self.diverged = True
        self.records.append(_nothing(test))

    def step(self, batch: Batch) -> None:
        """Learn from a batch."""
        if not self.diverged:
            try:
                _, self.parameters, self.state = training_step(
                    self.parameters, batch, self.rule, self.learner.optimizer, self.state
                )
            except FloatingPointError:
                self.diverged = True

    def run(self, seed: int, steps: np.ndarray, matches: np.ndarray) -> TrainingRun:
        """Return what was measured."""
        columns = {
            name: np.array([getattr(record, name) for record in self.records])
            for name in _Record._fields
        }
        return TrainingRun(
            seed=seed,
            learner=self.learner,
            steps=steps,
            **columns,
            matches=matches,
            parameters=self.parameters,
            diverged=self.diverged,
        )


class _Record(NamedTuple):
    """One measurement; the fields are those of :class:`TrainingRun`."""

    loss: float
    max_weight: float
    entropy: float
    gradient_quantiles: np.ndarray
    attention: np.ndarray


def _measure(parameters: Mapping[str, np.ndarray], test: Batch, rule: ScalingRule) -> _Record:
    result = loss_and_gradients(parameters, test, rule)
    lengths = np.sqrt((result.queries * result.queries).sum(axis=1))
    return _Record(
        loss=result.loss / float((test.targets * test.targets).sum(axis=1).mean()),
        max_weight=float(result.weights.max(axis=1).mean()),
        entropy=float(entropy(result.weights).mean()),
        gradient_quantiles=np.quantile(lengths, QUANTILES),
        attention=result.weights[:N_PROBES],
    )


def _nothing(test: Batch) -> _Record:
    """Return what stands for a measurement that a diverged run did not reach."""
    attention = np.full(test.tokens.shape[:2], np.nan, test.tokens.dtype)[:N_PROBES]
    return _Record(np.inf, np.nan, np.nan, np.full(len(QUANTILES), np.nan), attention)


def _checked_records(record_at: Sequence[int] | None, steps: int) -> list[int]:
    """Return the numbers of steps after which to measure, in order, each once."""
    if record_at is None:
        return sorted({min(step, steps) for step in (*RECORD_AT, steps)})
    wanted = sorted({whole_number("record_at", step, least=0) for step in record_at})
    if not wanted or wanted[-1] > steps:
        raise ValueError(
            f"record_at must hold numbers from 0 to the number of steps, {steps}; "
            f"got {list(record_at)!r}"
        )
    return wanted


@overload
def steps_to_loss(steps: ArrayLike, loss: Sequence[float], level: float) -> np.floating: ...
@overload
def steps_to_loss(steps: ArrayLike, loss: ArrayLike, level: float) -> np.ndarray | Any: ...
def steps_to_loss(steps: ArrayLike, loss: ArrayLike, level: float) -> np.floating | np.ndarray:
    """Return after how many steps the loss was first at or below a level.

    Parameters
    ----------
    steps : array_like, shape (n_records,)
        Numbers of steps at which the loss was measured, rising; the answer is as fine as these.
    loss : array_like, shape (..., n_records)
        Losses of one run or of several; infinity where a run had diverged.
    level : float
        The level.

    Returns
    -------
    numpy.ndarray or float
        One number for each run; infinity if the level was not reached at any measurement.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training.model import steps_to_loss
    >>> steps_to_loss([0, 10, 20], [[1.0, 0.5, 0.1], [1.0, 0.9, 0.8]], 0.5)
    array([10., inf])
    """
    curve, at = np.asarray(loss, dtype=np.float64), float_array("steps", steps, ndim=1)
    if curve.shape[-1:] != at.shape:
        raise ValueError(
            f"loss must have one entry for each of the {at.size} steps; got shape {curve.shape}"
        )
    return np.where(curve <= real_number("level", level), at, np.inf).min(axis=-1)
