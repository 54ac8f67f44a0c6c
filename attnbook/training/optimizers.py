"""Stochastic gradient descent and Adam, as plain functions of parameters by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from attnlib._checks import real_number, whole_number

__all__ = ["Adam", "OptimizerState", "Sgd", "initial_state", "optimizer_step"]


@dataclass(frozen=True)
class Sgd:
    """Gradient descent on batches, with momentum if wanted.

    Parameters
    ----------
    rate : float
        Learning rate, positive.
    momentum : float
        Share of the last step that is kept, at least 0 and below 1.
    multipliers : mapping of str to float
        What the rate is multiplied by for single parameters; 1 for all others.
    clip : float, optional
        Gradients that are longer, all parameters taken together, are shortened to this length [1]_.
    warm_up : int
        Number of steps over which the rate rises, in equal parts, to its value.
    decay : float
        Weight decay beside the gradient [2]_: a step also subtracts rate · decay · parameter.

    Notes
    -----
    Serves the chapter on training.

    References
    ----------
    .. [1] R. Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of training recurrent neural
       networks", ICML 2013.
    .. [2] I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019.

    Examples
    --------
    >>> from attnbook.training import Sgd
    >>> Sgd(0.1, clip=1).clip
    1.0
    """

    rate: float
    momentum: float = 0.0
    multipliers: Mapping[str, float] = field(default_factory=dict)
    clip: float | None = None
    warm_up: int = 0
    decay: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_steps(self)
        _set_share(self, "momentum")


@dataclass(frozen=True)
class Adam:
    """Adam [1]_: steps that do not depend on the scale of the gradients, but for `epsilon`.

    Parameters
    ----------
    rate, multipliers, clip, warm_up, decay
        As in :class:`Sgd`; with decay it is AdamW.
    beta1, beta2 : float
        Shares of the running means of gradients and of their squares that are kept at a step,
        at least 0 and below 1.
    epsilon : float
        Added to the root mean square, not negative.

    Notes
    -----
    Serves the chapter on training.

    References
    ----------
    .. [1] D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Examples
    --------
    >>> from attnbook.training import Adam
    >>> Adam(0.01).beta2
    0.999
    """

    rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    multipliers: Mapping[str, float] = field(default_factory=dict)
    clip: float | None = None
    warm_up: int = 0
    decay: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        _check_steps(self)
        _set_share(self, "beta1")
        _set_share(self, "beta2")
        _set_not_negative(self, "epsilon")


def _check_steps(optimizer: Sgd | Adam) -> None:
    """Check what both optimizers know."""
    object.__setattr__(optimizer, "rate", real_number("rate", optimizer.rate, positive=True))
    multipliers = {
        name: real_number("multipliers", number, positive=True)
        for name, number in optimizer.multipliers.items()
    }
    object.__setattr__(optimizer, "multipliers", multipliers)
    if optimizer.clip is not None:
        object.__setattr__(optimizer, "clip", real_number("clip", optimizer.clip, positive=True))
    object.__setattr__(optimizer, "warm_up", whole_number("warm_up", optimizer.warm_up, least=0))
    _set_not_negative(optimizer, "decay")


def _set_not_negative(optimizer: Sgd | Adam, name: str) -> None:
    number = real_number(name, getattr(optimizer, name))
    if number < 0:
        raise ValueError(f"{name} must not be negative; got {number}")
    object.__setattr__(optimizer, name, number)


def _set_share(optimizer: Sgd | Adam, name: str) -> None:
    share = real_number(name, getattr(optimizer, name))
    if not 0 <= share < 1:
        raise ValueError(f"{name} must be at least 0 and below 1; got {share}")
    object.__setattr__(optimizer, name, share)


class OptimizerState(NamedTuple):
    """What an optimizer remembers from one step to the next.

    Notes
    -----
    Serves the chapter on training.
    """

    steps: int
    first: dict[str, np.ndarray]
    """The last step of SGD with momentum, or Adam's mean of the gradients."""
    second: dict[str, np.ndarray]
    """Adam's mean of the squares."""


def initial_state(parameters: Mapping[str, np.ndarray]) -> OptimizerState:
    """Return the memory of an optimizer that has not made a step with these parameters.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training import initial_state
    >>> import numpy as np
    >>> initial_state({"query": np.ones((2, 3))}).steps
    0
    """
    check_arrays("parameters", parameters)
    zeros = {name: np.zeros_like(array) for name, array in parameters.items()}
    return OptimizerState(0, zeros, zeros)


@np.errstate(under="ignore")
def optimizer_step(
    optimizer: Sgd | Adam,
    parameters: Mapping[str, np.ndarray],
    gradients: Mapping[str, np.ndarray],
    state: OptimizerState,
) -> tuple[dict[str, np.ndarray], OptimizerState]:
    r"""Return the parameters after one step, in new arrays, and what the optimizer remembers.

    SGD with momentum μ: :math:`v \leftarrow \mu v + g,\; \theta \leftarrow \theta - \eta v`.
    Adam: :math:`\theta \leftarrow \theta - \eta\, \hat m / (\sqrt{\hat v} + \epsilon)`, where
    :math:`\hat m` and :math:`\hat v` are the running means of g and g², corrected for starting
    at 0. Both clip g first, warm :math:`\eta` up, and let :math:`\theta` decay, if they are to.

    Parameters
    ----------
    parameters, gradients : mapping of str to numpy.ndarray
        Parameters, and the gradient by each; a ``ValueError`` says if their names, those of
        `state` and those of the multipliers do not agree.
    state : OptimizerState
        From the step before, or :func:`initial_state`.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training import Sgd, initial_state, optimizer_step
    >>> import numpy as np
    >>> weights, gradient = {"query": np.array([1.0])}, {"query": np.array([2.0])}
    >>> optimizer_step(Sgd(0.25), weights, gradient, initial_state(weights))[0]
    {'query': array([0.5])}
    """
    check_optimizer(optimizer)
    for argument, arrays in (("parameters", parameters), ("gradients", gradients)):
        check_arrays(argument, arrays)
        if arrays.keys() != state.first.keys():
            raise ValueError(
                f"{argument} must be those of the state, {sorted(state.first)}; "
                f"got {sorted(arrays)}"
            )
    check_names("multipliers", optimizer.multipliers, parameters)
    clipped = gradients if optimizer.clip is None else _clipped(gradients, optimizer.clip)
    if isinstance(optimizer, Sgd):
        directions, moved = _sgd_directions(optimizer, clipped, state)
    else:
        directions, moved = _adam_directions(optimizer, clipped, state)
    warmth = min(1.0, moved.steps / max(1, optimizer.warm_up))
    stepped = {}
    for name, array in parameters.items():
        rate = optimizer.rate * warmth * optimizer.multipliers.get(name, 1.0)
        stepped[name] = np.asarray(array - rate * (directions[name] + optimizer.decay * array))
    return stepped, moved


def _clipped(gradients: Mapping[str, np.ndarray], length: float) -> dict[str, np.ndarray]:
    """Return the gradients, shortened by one factor if all together are longer than `length`."""
    norms = (float(np.linalg.norm(gradient)) for gradient in gradients.values())
    factor = length / max(length, math.hypot(*norms))
    return {name: factor * gradient for name, gradient in gradients.items()}


def check_optimizer(optimizer: Any) -> None:
    """Say that something is no optimizer."""
    if not isinstance(optimizer, (Sgd, Adam)):
        raise TypeError(f"optimizer must be Sgd or Adam; got {optimizer!r}")


def _sgd_directions(
    optimizer: Sgd, gradients: Mapping[str, np.ndarray], state: OptimizerState
) -> tuple[dict[str, np.ndarray], OptimizerState]:
    velocity = {
        name: optimizer.momentum * state.first[name] + gradient
        for name, gradient in gradients.items()
    }
    return velocity, OptimizerState(state.steps + 1, velocity, state.second)


def _adam_directions(
    optimizer: Adam, gradients: Mapping[str, np.ndarray], state: OptimizerState
) -> tuple[dict[str, np.ndarray], OptimizerState]:
    steps, beta1, beta2 = state.steps + 1, optimizer.beta1, optimizer.beta2
    first, second, directions = {}, {}, {}
    for name, gradient in gradients.items():
        first[name] = beta1 * state.first[name] + (1 - beta1) * gradient
        second[name] = beta2 * state.second[name] + (1 - beta2) * gradient * gradient
        spread = np.sqrt(second[name] / (1 - beta2**steps)) + optimizer.epsilon
        directions[name] = first[name] / (1 - beta1**steps) / spread
    return directions, OptimizerState(steps, first, second)


def check_names(argument: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Say which names are not known."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"{argument} must be for some of {list(known)}; got {unknown}")


def check_arrays(argument: str, arrays: Any) -> None:
    """Say that something is no mapping of names to arrays."""
    if not isinstance(arrays, Mapping) or not all(
        isinstance(array, np.ndarray) for array in arrays.values()
    ):
        raise TypeError(f"{argument} must be arrays by name; got {arrays!r:.60}")
