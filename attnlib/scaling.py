r"""How raw scores become logits: one formula, and the rules in use as its special cases.

.. math:: s_{ij} = c\,\tanh\frac{q'_i \cdot k'_j}{c}, \qquad
          q'_i = f(d_k, n)\, e^{t + w\cdot q_i}\, \hat q_i, \qquad k'_j = \hat k_j

Here f is the rule's factor, t and w are learned gains, the hats divide by the length where the
rule normalizes, and without a cap c the outer function is left out. So everything but the cap is
a change of the queries and keys *before* their product, which is where implementations put it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib._validation import flag, float_array, real_number, scale_factor, whole_number

__all__ = [
    "ScalingRule",
    "cap_logits",
    "cap_slope",
    "fixed_temperature",
    "fold_key",
    "fold_key_vjp",
    "fold_query",
    "fold_query_vjp",
    "inverse_sqrt",
    "inverse_width",
    "learned_temperature",
    "log_length",
    "multiplier",
    "no_scaling",
    "query_key_norm",
    "query_temperature",
    "scaling_rule",
    "soft_cap",
    "with_gains",
]

GAINS = ("log_gain", "query_gain")


@dataclass(frozen=True, eq=False)
class ScalingRule:
    """One way to turn raw scores into logits; a value that does not change.

    Parameters
    ----------
    label : str
        What figures and tables call it.
    factor : callable
        Takes the head width d_k and the number of keys n, returns what scores are multiplied by.
    normalize : bool
        Whether each query and key is divided by its length first. A zero vector stays zero.
    cap : float, optional
        Bound c of the logits, which become c tanh(s / c).
    gains : mapping of str to number or array
        What training learns: ``log_gain``, a number t, multiplies all scores by exp(t);
        ``query_gain``, a vector w of width d_k, multiplies those of query q by exp(w·q).

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib import ScalingRule
    >>> ScalingRule("a third", lambda d_k, n_keys: 1 / 3)
    ScalingRule('a third')
    """

    label: str
    factor: Callable[[int, int], float]
    normalize: bool = False
    cap: float | None = None
    gains: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what would otherwise fail far from here, and keep copies that cannot change."""
        if not isinstance(self.label, str):
            raise TypeError(f"label must be text; got {self.label!r}")
        if not callable(self.factor):
            raise TypeError(
                f"factor must be callable with d_k and the number of keys; got {self.factor!r}"
            )
        flag("normalize", self.normalize)
        if self.cap is not None:
            # a Python float: NumPy's would turn float32 into float64
            object.__setattr__(self, "cap", real_number("cap", self.cap, positive=True))
        object.__setattr__(self, "gains", MappingProxyType(_checked_gains(self.gains)))

    def __repr__(self) -> str:
        """Show the label; the factor is a function and would show an address."""
        return f"ScalingRule({self.label!r})"


def _checked_gains(gains: Any) -> dict[str, Any]:
    """Return copies of learned gains: a float, or an array that cannot be written to."""
    if not isinstance(gains, Mapping):
        raise TypeError(f"gains must be a mapping from names to values; got {gains!r}")
    unknown = [name for name in gains if name not in GAINS]
    if unknown:
        raise ValueError(f"gains must be among {GAINS}; got {unknown}")
    checked: dict[str, Any] = {}
    for name, gain in gains.items():
        array = np.array(float_array(name, gain))
        if array.ndim != GAINS.index(name):
            raise ValueError(f"{name} must have {GAINS.index(name)} axes; got shape {array.shape}")
        array.setflags(write=False)
        checked[name] = array if array.ndim else float(array)
    return checked


def no_scaling() -> ScalingRule:
    """Return the rule that leaves the scores as they are.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import multiplier, no_scaling
    >>> multiplier(no_scaling(), 64, 1024)
    1.0
    """
    return ScalingRule("1", lambda _d_k, _n_keys: 1.0)


def inverse_sqrt() -> ScalingRule:
    """Return the usual rule: scores are divided by the square root of the head width.

    Notes
    -----
    Derived in the chapter on the divisor.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017, section 3.2.1.

    Examples
    --------
    >>> from attnlib.scaling import inverse_sqrt, multiplier
    >>> multiplier(inverse_sqrt(), 64, 1024)
    0.125
    """
    return ScalingRule("1/√dₖ", lambda d_k, _n_keys: 1 / math.sqrt(d_k))


def inverse_width(constant: float = 1.0) -> ScalingRule:
    """Return the rule of the maximal update parametrization: a constant over the head width.

    Parameters
    ----------
    constant : float
        What stands above d_k, positive.

    Raises
    ------
    TypeError, ValueError
        If `constant` is no positive number.

    Notes
    -----
    Serves the chapter on temperature.

    References
    ----------
    .. [1] G. Yang et al., "Tensor Programs V: tuning large neural networks via zero-shot
       hyperparameter transfer", NeurIPS 2021.

    Examples
    --------
    >>> from attnlib.scaling import inverse_width, multiplier
    >>> multiplier(inverse_width(), 64, 1024), multiplier(inverse_width(8), 64, 1024)
    (0.015625, 0.125)
    """
    above = real_number("constant", constant, positive=True)
    return ScalingRule(f"{above:g}/dₖ", lambda d_k, _n_keys: above / d_k)


def fixed_temperature(temperature: float) -> ScalingRule:
    """Return the rule that divides the scores by a number, whatever the head width.

    Parameters
    ----------
    temperature : float
        The divisor, positive.

    Raises
    ------
    TypeError, ValueError
        If `temperature` is no positive number.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import fixed_temperature, multiplier
    >>> multiplier(fixed_temperature(4), 64, 1024)
    0.25
    """
    divisor = real_number("temperature", temperature, positive=True)
    return ScalingRule(f"1/{divisor:g}", lambda _d_k, _n_keys: 1 / divisor)


def learned_temperature() -> ScalingRule:
    """Return 1/√d_k times a gain that is learned; its logarithm starts at 0.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import learned_temperature, multiplier, with_gains
    >>> import numpy as np
    >>> rule = learned_temperature()
    >>> multiplier(rule, 64, 1024), multiplier(with_gains(rule, log_gain=np.log(2)), 64, 1024)
    (0.125, 0.25)
    """
    return replace(inverse_sqrt(), label="learned temperature", gains={"log_gain": 0.0})


def query_temperature(d_k: int) -> ScalingRule:
    """Return 1/√d_k times a gain that each query sets itself, exp(w·q); w starts at 0.

    Parameters
    ----------
    d_k : int
        Head width, the length of w.

    Raises
    ------
    TypeError, ValueError
        If `d_k` is no positive integer.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import fold_query, query_temperature, with_gains
    >>> import numpy as np
    >>> rule = with_gains(query_temperature(2), query_gain=[np.log(3), 0])
    >>> (fold_query(rule, [[1.0, 1.0], [0.0, 1.0]], n_keys=5) * np.sqrt(2)).round(6)
    array([[3., 3.],
           [0., 1.]])
    """
    gains = {"query_gain": np.zeros(whole_number("d_k", d_k))}
    return replace(inverse_sqrt(), label="temperature by query", gains=gains)


def query_key_norm(*, learned: bool = True) -> ScalingRule:
    """Return the rule that compares directions only: √d_k times the cosine of query and key.

    The cosine of two random directions has standard deviation 1/√d_k, so the logits start with
    standard deviation 1, and they cannot exceed √d_k times the gain.

    Parameters
    ----------
    learned : bool
        Whether a gain is learned as well; its logarithm starts at 0.

    Notes
    -----
    Serves the chapter on temperature.

    References
    ----------
    .. [1] A. Henry, P. R. Dachapally, S. Pawar, Y. Chen, "Query-key normalization for
       transformers", Findings of EMNLP 2020.

    Examples
    --------
    >>> from attnlib.scaling import fold_query, query_key_norm
    >>> import numpy as np
    >>> fold_query(query_key_norm(), [[3.0, 4.0]], n_keys=5) / np.sqrt(2)
    array([[0.6, 0.8]])
    """
    gains = {"log_gain": 0.0} if flag("learned", learned) else {}
    return ScalingRule("q/k norm", lambda d_k, _n_keys: math.sqrt(d_k), normalize=True, gains=gains)


def soft_cap(cap: float) -> ScalingRule:
    """Return 1/√d_k with logits bent so that they stay within ±cap.

    Parameters
    ----------
    cap : float
        The bound, positive.

    Raises
    ------
    TypeError, ValueError
        If `cap` is no positive number.

    Notes
    -----
    Serves the chapter on temperature.

    References
    ----------
    .. [1] Gemma Team, "Gemma 2: improving open language models at a practical size", 2024.

    Examples
    --------
    >>> from attnlib.scaling import cap_logits, soft_cap
    >>> import numpy as np
    >>> cap_logits(soft_cap(50), np.array([8.0, 100.0])).round(2)
    array([ 7.93, 48.2 ])
    """
    bound = real_number("cap", cap)
    return replace(inverse_sqrt(), label=f"soft cap {bound:g}", cap=bound)


def log_length(reference: int) -> ScalingRule:
    """Return 1/√d_k times log n / log(reference), so that longer rows get sharper logits.

    Parameters
    ----------
    reference : int
        The number of keys at which the rule equals 1/√d_k, at least 2.

    Raises
    ------
    TypeError, ValueError
        If `reference` is no integer of at least 2.

    Notes
    -----
    Serves the chapter on temperature. n is the number of keys handed in, whatever a mask hides.

    References
    ----------
    .. [1] D. Chiang, P. Cholak, "Overcoming a theoretical limitation of self-attention",
       ACL 2022.

    Examples
    --------
    >>> from attnlib.scaling import log_length, multiplier
    >>> multiplier(log_length(32), 64, 1024)
    0.25
    """
    n_reference = whole_number("reference", reference, least=2)

    def factor(d_k: int, n_keys: int) -> float:
        return math.log(n_keys) / math.log(n_reference) / math.sqrt(d_k)

    return ScalingRule(f"log n from {n_reference}", factor)


def scaling_rule(scale: Any) -> ScalingRule:
    """Return the rule that an argument `scale` stands for.

    Parameters
    ----------
    scale : None, float, callable or ScalingRule
        None means 1/√d_k; a number multiplies the scores; a callable takes d_k and the number
        of keys and returns such a number.

    Returns
    -------
    ScalingRule

    Raises
    ------
    TypeError
        If `scale` is none of these.
    ValueError
        If it is a number that is negative or not finite.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import scaling_rule, soft_cap
    >>> scaling_rule(None), scaling_rule(0.25), scaling_rule(soft_cap(30))
    (ScalingRule('1/√dₖ'), ScalingRule('0.25'), ScalingRule('soft cap 30'))
    """
    if scale is None:
        return inverse_sqrt()
    if isinstance(scale, ScalingRule):
        return scale
    if callable(scale) and not isinstance(scale, type):
        return ScalingRule(getattr(scale, "__name__", repr(scale)), scale)
    factor = scale_factor(scale, 1)
    return ScalingRule(f"{factor:g}", lambda _d_k, _n_keys: factor)


def _checked_rule(rule: Any) -> ScalingRule:
    """Return the rule, or say that a number is none."""
    if not isinstance(rule, ScalingRule):
        raise TypeError(f"rule must be a ScalingRule, as scaling_rule returns; got {rule!r}")
    return rule


def with_gains(rule: ScalingRule, **gains: Any) -> ScalingRule:
    """Return the rule with other values of its learned gains.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    **gains : number or array
        New values by name, as in :class:`ScalingRule`.

    Returns
    -------
    ScalingRule

    Raises
    ------
    ValueError
        If the rule does not learn such a gain, or the value does not fit.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import learned_temperature, with_gains
    >>> dict(with_gains(learned_temperature(), log_gain=0.5).gains)
    {'log_gain': 0.5}
    """
    unknown = set(gains) - set(_checked_rule(rule).gains)
    if unknown:
        raise ValueError(f"gains must be learned by {rule!r}; got {sorted(unknown)}")
    return replace(rule, gains={**rule.gains, **gains})


def multiplier(rule: ScalingRule, d_k: int, n_keys: int) -> float:
    """Return what the rule multiplies all scores by, as a Python float.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    d_k, n_keys : int
        Head width and number of keys.

    Returns
    -------
    float
        Its factor times its learned gain; what a single query adds is not in it.

    Raises
    ------
    TypeError, ValueError
        If the rule's factor is not a number that is finite and not negative.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import multiplier, scaling_rule
    >>> multiplier(scaling_rule(None), 64, 1024)
    0.125
    """
    width, n = whole_number("d_k", d_k), whole_number("n_keys", n_keys)
    factor = real_number("scale", _checked_rule(rule).factor(width, n))
    if factor < 0:
        raise ValueError(f"scale must not be negative (it is an inverse temperature); got {factor}")
    return factor * float(_exponential("log_gain", rule.gains.get("log_gain", 0.0)))


def _exponential(name: str, gain: Any) -> Any:
    """Return exp of a gain or of an array of gains, or say that it is too large."""
    with np.errstate(over="ignore"):
        factor = np.exp(gain)
    if not np.isfinite(factor).all():
        raise ValueError(
            f"{name} must be small enough for exp of it, or of its product with a query, to be "
            f"within range; got {np.max(gain):.3g}"
        )
    return factor


def fold_query(rule: ScalingRule, query: ArrayLike, n_keys: int) -> np.ndarray:
    """Return queries with everything in them that the rule does to scores, but the cap.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    query : array_like, shape (..., d_k)
        Queries.
    n_keys : int
        Number of keys they look at.

    Returns
    -------
    numpy.ndarray, shape (..., d_k)
        Of the floating type of `query`.

    Raises
    ------
    TypeError, ValueError
        If `query` does not hold finite numbers, or the rule does not fit its width.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import fold_query, inverse_sqrt
    >>> fold_query(inverse_sqrt(), [[2.0, 4.0, 0.0, 6.0]], n_keys=5)
    array([[1., 2., 0., 3.]])
    """
    q = _checked_vectors("query", query)
    return folded_query(rule, q, multiplier(rule, q.shape[-1], n_keys))


def folded_query(rule: ScalingRule, query: np.ndarray, factor: float) -> np.ndarray:
    """Return what :func:`fold_query` returns, of checked arguments.

    Examples
    --------
    >>> folded_query(query_key_norm(), np.array([[3.0, 4.0]]), 5.0)
    array([[3., 4.]])
    """
    folded = (_directions(query)[0] if rule.normalize else query) * factor
    if "query_gain" in rule.gains:
        folded *= _query_gains(rule, query)
    return folded


def fold_key(rule: ScalingRule, key: ArrayLike) -> np.ndarray:
    """Return keys with everything in them that the rule does to them.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    key : array_like, shape (..., d_k)
        Keys.

    Returns
    -------
    numpy.ndarray, shape (..., d_k)
        `key` itself unless the rule normalizes.

    Raises
    ------
    TypeError, ValueError
        If `key` does not hold finite numbers.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import fold_key, query_key_norm
    >>> fold_key(query_key_norm(), [[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return folded_key(_checked_rule(rule), _checked_vectors("key", key))


def folded_key(rule: ScalingRule, key: np.ndarray) -> np.ndarray:
    """Return what :func:`fold_key` returns, of checked arguments.

    Examples
    --------
    >>> folded_key(inverse_sqrt(), np.array([[3.0, 4.0]]))
    array([[3., 4.]])
    """
    return _directions(key)[0] if rule.normalize else key


def fold_query_vjp(
    rule: ScalingRule, query: ArrayLike, n_keys: int, cotangent: ArrayLike
) -> tuple[np.ndarray, dict[str, Any]]:
    r"""Carry a gradient back through :func:`fold_query`.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    query : array_like, shape (..., d_k)
        What was folded.
    n_keys : int
        Number of keys.
    cotangent : array_like, shape (..., d_k)
        Gradient of a loss by the folded queries.

    Returns
    -------
    query : numpy.ndarray, shape (..., d_k)
        Gradient by the queries.
    gains : dict
        Gradient by each learned gain, summed over the queries.

    Raises
    ------
    TypeError, ValueError
        As :func:`fold_query`.

    Notes
    -----
    Serves the chapter on temperature. Folded queries are proportional to their gain, so the
    gradient by its logarithm is the product of the folded query and the cotangent.

    Examples
    --------
    >>> from attnlib.scaling import fold_query_vjp, learned_temperature
    >>> fold_query_vjp(learned_temperature(), [[1.0, 0, 0, 0]], 5, [[1.0, 1, 1, 1]])
    (array([[0.5, 0.5, 0.5, 0.5]]), {'log_gain': 0.5})
    """
    q = _checked_vectors("query", query)
    factor = multiplier(rule, q.shape[-1], n_keys)
    return folded_query_vjp(rule, q, factor, _of_shape(cotangent, q.shape))


def folded_query_vjp(
    rule: ScalingRule, query: np.ndarray, factor: float, cotangent: np.ndarray
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return what :func:`fold_query_vjp` returns, of checked arguments.

    Examples
    --------
    >>> folded_query_vjp(inverse_sqrt(), np.ones((1, 4)), 0.5, np.ones((1, 4)))
    (array([[0.5, 0.5, 0.5, 0.5]]), {})
    """
    gradient = cotangent * factor
    if "query_gain" in rule.gains:
        gradient *= _query_gains(rule, query)
    if rule.normalize:
        gradient = _directions_vjp(query, gradient)
    if not rule.gains:
        return gradient, {}
    products = folded_query(rule, query, factor) * cotangent
    by_log_gain = products.sum(axis=-1, keepdims=True)
    gains: dict[str, Any] = {}
    if "log_gain" in rule.gains:
        gains["log_gain"] = float(by_log_gain.sum())
    if "query_gain" in rule.gains:
        gradient += by_log_gain * rule.gains["query_gain"].astype(query.dtype)
        gains["query_gain"] = (by_log_gain * query).reshape(-1, query.shape[-1]).sum(axis=0)
    return gradient, gains


def fold_key_vjp(rule: ScalingRule, key: ArrayLike, cotangent: ArrayLike) -> np.ndarray:
    """Carry a gradient back through :func:`fold_key`.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    key : array_like, shape (..., d_k)
        What was folded.
    cotangent : array_like, shape (..., d_k)
        Gradient of a loss by the folded keys.

    Returns
    -------
    numpy.ndarray, shape (..., d_k)
        Gradient by the keys.

    Raises
    ------
    TypeError, ValueError
        As :func:`fold_key`.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import fold_key_vjp, query_key_norm
    >>> fold_key_vjp(query_key_norm(), [[0.0, 2.0]], [[1.0, 1.0]])
    array([[0.5, 0. ]])
    """
    k = _checked_vectors("key", key)
    return folded_key_vjp(_checked_rule(rule), k, _of_shape(cotangent, k.shape))


def folded_key_vjp(rule: ScalingRule, key: np.ndarray, cotangent: np.ndarray) -> np.ndarray:
    """Return what :func:`fold_key_vjp` returns, of checked arguments.

    Examples
    --------
    >>> folded_key_vjp(inverse_sqrt(), np.ones((1, 2)), np.ones((1, 2)))
    array([[1., 1.]])
    """
    return _directions_vjp(key, cotangent) if rule.normalize else cotangent


def cap_logits(rule: ScalingRule, logits: np.ndarray) -> np.ndarray:
    """Return the logits within the rule's bound, or as they are if it has none.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    logits : numpy.ndarray
        Products of folded queries and keys.

    Returns
    -------
    numpy.ndarray
        Of the same shape and type.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import cap_logits, soft_cap
    >>> import numpy as np
    >>> cap_logits(soft_cap(30), np.array([0.5, 100.0])).round(2)
    array([ 0.5 , 29.92])
    """
    return logits if rule.cap is None else rule.cap * np.tanh(logits / rule.cap)


def cap_slope(rule: ScalingRule, capped: np.ndarray) -> Any:
    """Return the derivative of :func:`cap_logits`, from what it returned.

    Parameters
    ----------
    rule : ScalingRule
        The rule.
    capped : numpy.ndarray
        Logits within the bound.

    Returns
    -------
    numpy.ndarray or float
        1.0 if the rule has no cap.

    Notes
    -----
    Serves the chapter on temperature.

    Examples
    --------
    >>> from attnlib.scaling import cap_slope, inverse_sqrt, soft_cap
    >>> import numpy as np
    >>> cap_slope(soft_cap(50), np.array([0.0, 25.0])), cap_slope(inverse_sqrt(), np.zeros(2))
    (array([1.  , 0.75]), 1.0)
    """
    return 1.0 if rule.cap is None else 1 - (capped / rule.cap) ** 2


def _checked_vectors(name: str, vectors: ArrayLike) -> np.ndarray:
    """Return vectors as an array whose last axis is not empty."""
    checked = float_array(name, vectors, ndim=1)
    if checked.shape[-1] < 1:
        raise ValueError(f"{name} must have a width of at least 1; got shape {checked.shape}")
    return checked


def _of_shape(cotangent: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Return a gradient as an array, or say that its shape is not what was folded."""
    upstream = float_array("cotangent", cotangent)
    if upstream.shape != shape:
        raise ValueError(f"cotangent must have the shape {shape}; got {upstream.shape}")
    return upstream


def _query_gains(rule: ScalingRule, query: np.ndarray) -> np.ndarray:
    """Return exp(w·q) for each query, with an axis of length 1 in place of d_k."""
    direction = rule.gains["query_gain"].astype(query.dtype)
    if direction.shape != query.shape[-1:]:
        raise ValueError(
            f"query must have the width of query_gain, {direction.shape[0]}; "
            f"got shape {query.shape}"
        )
    return np.asarray(_exponential("query_gain", query @ direction))[..., None]


def _directions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each vector over its length, and two factors of the length; a zero vector over 1."""
    # Dividing by the largest entry first keeps the squares within range.
    largest = np.abs(x).max(axis=-1, keepdims=True)
    largest[largest == 0] = 1
    within = x / largest
    length = np.sqrt((within * within).sum(axis=-1, keepdims=True))
    length[length == 0] = 1
    return within / length, length, largest


def _directions_vjp(x: np.ndarray, cotangent: np.ndarray) -> np.ndarray:
    """Carry a gradient back through x/|x|: only what is across x counts."""
    directions, length, largest = _directions(x)
    along = (directions * cotangent).sum(axis=-1, keepdims=True)
    across = (cotangent - along * directions) / length / largest
    across[~x.any(axis=-1)] = 0  # the direction of a zero vector is not defined
    return across
