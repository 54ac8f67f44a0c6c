r"""How raw scores become logits: one formula, and the rules in use as its special cases.

.. math:: s_{ij} = c\,\tanh\frac{q'_i \cdot k'_j}{c}, \qquad
          q'_i = f(d_k, n)\, e^{t + w\cdot q_i}\, \hat q_i, \qquad k'_j = \hat k_j

Here f is the rule's factor, t and w are learned gains, the hats divide by the length where the
rule normalizes, and without a cap c the outer function is left out. So everything but the cap is
a change of the queries and keys *before* their product, which is where implementations put it:
:meth:`ScalingRule.logits` is the whole formula, and the other methods are its parts and their
derivatives. Compared in the chapter on temperature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlib._checks import flag, float_array, real_number, scale_factor, whole_number

__all__ = [
    "ScalingRule",
    "fixed_temperature",
    "inverse_sqrt",
    "inverse_width",
    "learned_temperature",
    "log_length",
    "no_scaling",
    "query_key_norm",
    "query_temperature",
    "scaling_rule",
    "soft_cap",
]

GAINS = ("log_gain", "query_gain")


@dataclass(frozen=True, eq=False)
class ScalingRule:
    """One way to turn raw scores into logits; a value that does not change.

    :meth:`logits` checks its arrays; the other methods are its parts, and take floating arrays as
    they are. All keep the floating type of what they are given.

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

    Examples
    --------
    >>> from attnlib import ScalingRule
    >>> rule = ScalingRule("a third, capped", lambda d_k, n_keys: 1 / 3, cap=50)
    >>> query, key = [[3.0, 0.0]], [[1.0, 2.0], [100.0, 0.0]]  # scores 3 and 300
    >>> rule.logits(query, key).round(2)
    array([[ 1. , 48.2]])
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

    def with_gains(self, **gains: Any) -> ScalingRule:
        """Return the rule with other values of its learned gains.

        >>> from attnlib.scaling import learned_temperature
        >>> dict(learned_temperature().with_gains(log_gain=0.5).gains)
        {'log_gain': 0.5}
        """
        unknown = set(gains) - set(self.gains)
        if unknown:
            raise ValueError(f"gains must be learned by {self!r}; got {sorted(unknown)}")
        return replace(self, gains={**self.gains, **gains})

    @np.errstate(under="ignore")
    def multiplier(self, d_k: int, n_keys: int) -> float:
        """Return what all scores are multiplied by: the factor times the learned gain.

        What a single query adds is not in it.

        >>> from attnlib.scaling import inverse_sqrt
        >>> inverse_sqrt().multiplier(64, 1024)
        0.125
        """
        width, n = whole_number("d_k", d_k), whole_number("n_keys", n_keys)
        factor = scale_factor(real_number("scale", self.factor(width, n)), width)
        return factor * float(_exponential("log_gain", self.gains.get("log_gain", 0.0)))

    @np.errstate(under="ignore")
    def logits(self, query: ArrayLike, key: ArrayLike) -> np.ndarray:
        """Return the logits of each query with each key, shape (..., n_queries, n_keys).

        >>> from attnlib.scaling import query_key_norm
        >>> query_key_norm().logits([[3.0, 0, 0, 0]], [[5.0, 0, 0, 0], [0, 1, 0, 0]])
        array([[2., 0.]])
        """
        q, k = float_array("query", query, ndim=2), float_array("key", key, ndim=2)
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(
                f"key must have the width of query, {q.shape[-1]}; got shape {k.shape}"
            )
        return self.cap_logits(self.fold_query(q, k.shape[-2]) @ self.fold_key(k).mT)

    @np.errstate(under="ignore")
    def fold_query(self, query: np.ndarray, n_keys: int) -> np.ndarray:
        """Return queries, shape (..., d_k), with all that the rule does to scores, but the cap.

        >>> import numpy as np
        >>> from attnlib.scaling import inverse_sqrt
        >>> inverse_sqrt().fold_query(np.array([[2.0, 4.0, 0.0, 6.0]]), n_keys=5)
        array([[1., 2., 0., 3.]])
        """
        directions = _directions(query)[0] if self.normalize else query
        folded = directions * self.multiplier(query.shape[-1], n_keys)
        if "query_gain" in self.gains:
            folded *= self._query_gains(query)
        return folded

    @np.errstate(under="ignore")
    def fold_key(self, key: np.ndarray) -> np.ndarray:
        """Return keys, shape (..., d_k), divided by their length if the rule normalizes.

        >>> import numpy as np
        >>> from attnlib.scaling import query_key_norm
        >>> query_key_norm().fold_key(np.array([[3.0, 4.0], [0.0, 0.0]]))
        array([[0.6, 0.8],
               [0. , 0. ]])
        """
        return _directions(key)[0] if self.normalize else key

    @np.errstate(under="ignore")
    def cap_logits(self, logits: np.ndarray) -> np.ndarray:
        """Return products of folded queries and keys within the bound, if the rule has one.

        >>> import numpy as np
        >>> from attnlib.scaling import soft_cap
        >>> soft_cap(30).cap_logits(np.array([0.5, 100.0])).round(2)
        array([ 0.5 , 29.92])
        """
        return logits if self.cap is None else self.cap * np.tanh(logits / self.cap)

    @np.errstate(under="ignore")
    def fold_query_vjp(
        self, query: np.ndarray, n_keys: int, cotangent: np.ndarray
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Carry a gradient by folded queries back to the queries, and to the learned gains.

        Folded queries are proportional to their gain, so the gradient by its logarithm is the
        product of the folded query and the cotangent; it is summed over the queries.

        >>> import numpy as np
        >>> from attnlib.scaling import learned_temperature
        >>> learned_temperature().fold_query_vjp(np.eye(1, 4), 5, np.ones((1, 4)))
        (array([[0.5, 0.5, 0.5, 0.5]]), {'log_gain': 0.5})
        """
        gradient = cotangent * self.multiplier(query.shape[-1], n_keys)
        if "query_gain" in self.gains:
            gradient *= self._query_gains(query)
        if self.normalize:
            gradient = _directions_vjp(query, gradient)
        if not self.gains:
            return gradient, {}
        products = self.fold_query(query, n_keys) * cotangent
        by_log_gain = products.sum(axis=-1, keepdims=True)
        gains: dict[str, Any] = {}
        if "log_gain" in self.gains:
            gains["log_gain"] = float(by_log_gain.sum())
        if "query_gain" in self.gains:
            gradient += by_log_gain * self.gains["query_gain"].astype(query.dtype)
            gains["query_gain"] = (by_log_gain * query).reshape(-1, query.shape[-1]).sum(axis=0)
        return gradient, gains

    @np.errstate(under="ignore")
    def fold_key_vjp(self, key: np.ndarray, cotangent: np.ndarray) -> np.ndarray:
        """Carry a gradient by folded keys back to the keys.

        >>> import numpy as np
        >>> from attnlib.scaling import query_key_norm
        >>> query_key_norm().fold_key_vjp(np.array([[0.0, 2.0]]), np.ones((1, 2)))
        array([[0.5, 0. ]])
        """
        return _directions_vjp(key, cotangent) if self.normalize else cotangent

    @np.errstate(under="ignore")
    def cap_slope(self, capped: np.ndarray) -> float | np.ndarray:
        """Return the derivative of :meth:`cap_logits` from what it returned; 1.0 without a cap.

        >>> import numpy as np
        >>> from attnlib.scaling import soft_cap
        >>> soft_cap(50).cap_slope(np.array([0.0, 25.0]))
        array([1.  , 0.75])
        """
        return 1.0 if self.cap is None else 1 - (capped / self.cap) ** 2

    def _query_gains(self, query: np.ndarray) -> np.ndarray:
        """Return exp(w·q) for each query, with an axis of length 1 in place of d_k."""
        direction = self.gains["query_gain"].astype(query.dtype)
        if direction.shape != query.shape[-1:]:
            raise ValueError(
                f"query must have the width of query_gain, {direction.shape[0]}; "
                f"got shape {query.shape}"
            )
        return np.asarray(_exponential("query_gain", query @ direction))[..., None]


def no_scaling() -> ScalingRule:
    """Return the rule that leaves the scores as they are.

    Examples
    --------
    >>> from attnlib.scaling import no_scaling
    >>> no_scaling().multiplier(64, 1024)
    1.0
    """
    return ScalingRule("1", lambda _d_k, _n_keys: 1.0)


def inverse_sqrt() -> ScalingRule:
    """Return the usual rule: scores are divided by the square root of the head width [1]_.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention is all you need", NeurIPS 2017, section 3.2.1.

    Examples
    --------
    >>> from attnlib.scaling import inverse_sqrt
    >>> inverse_sqrt().multiplier(64, 1024)
    0.125
    """
    return ScalingRule("1/√dₖ", lambda d_k, _n_keys: 1 / math.sqrt(d_k))


def inverse_width(constant: float = 1.0) -> ScalingRule:
    """Return the rule of the maximal update parametrization [1]_: a positive constant over d_k.

    References
    ----------
    .. [1] G. Yang et al., "Tensor Programs V: tuning large neural networks via zero-shot
       hyperparameter transfer", NeurIPS 2021.

    Examples
    --------
    >>> from attnlib.scaling import inverse_width
    >>> inverse_width().multiplier(64, 1024), inverse_width(8).multiplier(64, 1024)
    (0.015625, 0.125)
    """
    above = real_number("constant", constant, positive=True)
    return ScalingRule(f"{above:g}/dₖ", lambda d_k, _n_keys: above / d_k)


def fixed_temperature(temperature: float) -> ScalingRule:
    """Return the rule that divides the scores by a positive number, whatever the head width.

    Examples
    --------
    >>> from attnlib.scaling import fixed_temperature
    >>> fixed_temperature(4).multiplier(64, 1024)
    0.25
    """
    divisor = real_number("temperature", temperature, positive=True)
    return ScalingRule(f"1/{divisor:g}", lambda _d_k, _n_keys: 1 / divisor)


def learned_temperature() -> ScalingRule:
    """Return 1/√d_k times a gain that is learned; its logarithm starts at 0.

    Examples
    --------
    >>> import math
    >>> from attnlib.scaling import learned_temperature
    >>> learned_temperature().with_gains(log_gain=math.log(2)).multiplier(64, 1024)
    0.25
    """
    return replace(inverse_sqrt(), label="learned temperature", gains={"log_gain": 0.0})


def query_temperature(d_k: int) -> ScalingRule:
    """Return 1/√d_k times a gain that each query sets itself, exp(w·q); w of width d_k starts at 0.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from attnlib.scaling import query_temperature
    >>> rule = query_temperature(4).with_gains(query_gain=[math.log(3), 0, 0, 0])
    >>> rule.fold_query(np.array([[1.0, 2, 0, 0], [0, 2, 0, 0]]), n_keys=5).round(6)
    array([[1.5, 3. , 0. , 0. ],
           [0. , 1. , 0. , 0. ]])
    """
    gains = {"query_gain": np.zeros(whole_number("d_k", d_k))}
    return replace(inverse_sqrt(), label="temperature by query", gains=gains)


def query_key_norm(*, learned: bool = True) -> ScalingRule:
    """Return the rule that compares directions only: √d_k times the cosine of query and key [1]_.

    The cosine of two random directions has standard deviation 1/√d_k, so the logits start with
    standard deviation 1, and they cannot exceed √d_k times the gain. If one is `learned`, its
    logarithm starts at 0.

    References
    ----------
    .. [1] A. Henry, P. R. Dachapally, S. Pawar, Y. Chen, "Query-key normalization for
       transformers", Findings of EMNLP 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib.scaling import query_key_norm
    >>> query_key_norm().fold_query(np.array([[0.0, 3.0, 0.0, 4.0]]), n_keys=5)
    array([[0. , 1.2, 0. , 1.6]])
    """
    gains = {"log_gain": 0.0} if flag("learned", learned) else {}
    return ScalingRule("q/k norm", lambda d_k, _n_keys: math.sqrt(d_k), normalize=True, gains=gains)


def soft_cap(cap: float) -> ScalingRule:
    """Return 1/√d_k with logits bent so that they stay within ±cap, a positive number [1]_.

    References
    ----------
    .. [1] Gemma Team, "Gemma 2: improving open language models at a practical size", 2024.

    Examples
    --------
    >>> from attnlib.scaling import soft_cap
    >>> soft_cap(50).logits([[1.0]], [[8.0], [100.0]]).round(2)
    array([[ 7.93, 48.2 ]])
    """
    bound = real_number("cap", cap)
    return replace(inverse_sqrt(), label=f"soft cap {bound:g}", cap=bound)


def log_length(reference: int) -> ScalingRule:
    """Return 1/√d_k times log n / log(reference): longer rows get sharper logits [1]_.

    At `reference` keys, 2 or more, the rule equals 1/√d_k.

    Notes
    -----
    n is the number of keys handed in, whatever a mask hides.

    References
    ----------
    .. [1] D. Chiang, P. Cholak, "Overcoming a theoretical limitation of self-attention",
       ACL 2022.

    Examples
    --------
    >>> from attnlib.scaling import log_length
    >>> log_length(32).multiplier(64, 1024)
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
        None means 1/√d_k; a number, not negative, multiplies the scores; a callable takes d_k
        and the number of keys and returns such a number.

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
