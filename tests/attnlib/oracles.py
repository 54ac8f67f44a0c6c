"""Independent ways to compute what attnlib computes: slow, explicit, or in many digits.

Nothing here imports attnlib.
"""

from __future__ import annotations

import functools
import math

import mpmath
import numpy as np
from scipy import special


def many_digits(digits: int = 40) -> mpmath.ctx_mp.MPContext:
    """Return a context of mpmath's own, so that no test changes another's precision."""
    context = mpmath.MPContext()
    context.dps = digits
    return context


MP = many_digits()


def softmax_digits(x: list[float]) -> list[mpmath.mpf]:
    """Softmax of one row by its definition, without subtracting anything."""
    exponentials = [MP.exp(MP.mpf(float(entry))) for entry in x]
    total = MP.fsum(exponentials)
    return [entry / total for entry in exponentials]


def log_softmax_digits(x: list[float]) -> list[mpmath.mpf]:
    """Logarithm of softmax by its definition."""
    total = MP.log(MP.fsum(MP.exp(MP.mpf(float(entry))) for entry in x))
    return [MP.mpf(float(entry)) - total for entry in x]


def jacobian_digits(x: list[float]) -> np.ndarray:
    """Derivative of every weight by every score, by differences in 40 digits."""
    n, step = len(x), MP.mpf(10) ** -15
    jacobian = np.empty((n, n))
    for j in range(n):
        up, down = ([MP.mpf(float(entry)) for entry in x] for _ in range(2))
        up[j] += step
        down[j] -= step
        e_up, e_down = [MP.exp(v) for v in up], [MP.exp(v) for v in down]
        for i in range(n):
            change = e_up[i] / MP.fsum(e_up) - e_down[i] / MP.fsum(e_down)
            jacobian[i, j] = float(change / (2 * step))
    return jacobian


@functools.cache
def log_score_pdf_digits(z: float, d_k: int) -> mpmath.mpf:
    """Log density of q·k; the Bessel function by its recurrence, all of whose terms add up."""
    x = MP.mpf(z)
    order = MP.mpf(d_k - 1) / 2
    if d_k % 2:
        here, lower, higher = MP.mpf(0), MP.besselk(1, x), MP.besselk(0, x)
        lower, higher = higher, lower  # K_0, K_1
    else:
        here = MP.mpf(1) / 2
        lower = higher = MP.sqrt(MP.pi / (2 * x)) * MP.exp(-x)  # K_(-1/2) = K_(1/2)
        lower, higher = higher, lower * (1 + 1 / x)  # K_(1/2), K_(3/2)
    while here < order:
        lower, higher = higher, lower + 2 * (here + 1) / x * higher
        here += 1
    return (
        order * MP.log(x)
        + MP.log(lower)
        - MP.log(MP.pi) / 2
        - MP.loggamma(MP.mpf(d_k) / 2)
        - order * MP.log(2)
    )


@functools.cache
def score_sf_digits(z: float, d_k: int) -> mpmath.mpf:
    """P(q·k > z) for even d_k: integrate the density's finite sum term by term.

    For d_k = 2n + 2 the positive half of the law is a mixture of gamma laws with negative
    binomial weights, C(n + k, k) 2**-(n + 1 + k) for the shape n - k + 1.
    """
    x, n = MP.mpf(z), d_k // 2 - 1
    power = MP.exp(-x)  # x**m exp(-x) / m!
    upper = [power]  # the regularized Γ(m + 1, x)
    for m in range(1, n + 1):
        power *= x / m
        upper.append(upper[-1] + power)
    weight, total = MP.mpf(2) ** -(n + 1), MP.mpf(0)
    for k in range(n + 1):
        total += weight * upper[n - k]
        weight *= MP.mpf(n + k + 1) / (2 * (k + 1))
    return total


def score_cdf(z: np.ndarray, d_k: int) -> np.ndarray:
    """P(q·k <= z) in double precision, fast: d_k = 1 or even, by closed forms."""
    size = np.abs(z)
    if d_k == 1:
        upper = 0.5 - special.iti0k0(size)[1] / np.pi
    else:
        n = d_k // 2 - 1
        upper = sum(
            math.exp(
                special.gammaln(n + k + 1)
                - special.gammaln(n + 1)
                - special.gammaln(k + 1)
                - (n + 1 + k) * math.log(2)
            )
            * special.gammaincc(n - k + 1, size)
            for k in range(n + 1)
        )
    return np.where(z > 0, 1 - upper, upper)


@functools.cache
def expected_maximum_digits(n: int) -> float:
    """E max of n standard normal numbers, as ∫ [1 - Φⁿ(x) - (1 - Φ(x))ⁿ] over x > 0."""
    context = many_digits(25)
    above = lambda x: context.erfc(x / context.sqrt(2)) / 2  # noqa: E731
    gap = lambda x: 1 - (1 - above(x)) ** n - above(x) ** n  # noqa: E731
    return float(context.quad(gap, [0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20]))


def attention_loops(query, key, value, *, attn_mask=None, is_causal=False, scale=None):
    """Attention as nested loops over plain floats, one query at a time."""
    q, k, v = (np.asarray(array, dtype=float) for array in (query, key, value))
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (np.broadcast_to(array, (*lead, *array.shape[-2:])) for array in (q, k, v))
    n_q, n_k, width = q.shape[-2], k.shape[-2], q.shape[-1]
    factor = width**-0.5 if scale is None else float(scale)
    mask = None if attn_mask is None else np.broadcast_to(attn_mask, (*lead, n_q, n_k))
    output, weights = np.zeros((*lead, n_q, v.shape[-1])), np.zeros((*lead, n_q, n_k))
    for place in np.ndindex(*lead, n_q):
        logits = {}
        for j in range(n_k):
            logit = factor * math.fsum(
                a * b for a, b in zip(q[place], k[(*place[:-1], j)], strict=True)
            )
            if mask is not None and mask.dtype == bool and not mask[(*place, j)]:
                continue
            if mask is not None and mask.dtype != bool:
                logit += float(mask[(*place, j)])
            if (is_causal and j > place[-1]) or logit == -math.inf:
                continue
            logits[j] = logit
        if logits:
            top = max(logits.values())
            total = math.fsum(math.exp(logit - top) for logit in logits.values())
            for j, logit in logits.items():
                weights[(*place, j)] = math.exp(logit - top) / total
                output[place] += weights[(*place, j)] * v[(*place[:-1], j)]
    return output, weights


def query_gradients(d_k: int, n_keys: int, n_rows: int, factor: float, rng) -> np.ndarray:
    """Lengths of ∂L/∂q from whole vectors: q, every key, every key's cost."""
    q = rng.standard_normal((n_rows, d_k))
    keys = rng.standard_normal((n_rows, n_keys, d_k))
    costs = rng.standard_normal((n_rows, n_keys))
    p = special.softmax(factor * np.einsum("rd,rnd->rn", q, keys), axis=-1)
    # the covariance, under p, of key and cost
    mean_key = np.einsum("rn,rnd->rd", p, keys)
    mean_cost = np.einsum("rn,rn->r", p, costs)
    both = np.einsum("rn,rn,rnd->rd", p, costs, keys)
    gradient = factor * (both - mean_key * mean_cost[:, None])
    return np.sqrt((gradient**2).sum(-1))


def layer_key_gradients(
    d_k: int, n_keys: int, n_queries: int, n_layers: int, factor: float, rng
) -> np.ndarray:
    """Lengths of ∂L/∂k_j from whole vectors and whole Jacobians, summed over the queries."""
    q = rng.standard_normal((n_layers, n_queries, d_k))
    keys = rng.standard_normal((n_layers, n_keys, d_k))
    costs = rng.standard_normal((n_layers, n_queries, n_keys))
    p = special.softmax(factor * np.einsum("lid,ljd->lij", q, keys), axis=-1)
    jacobian = p[..., :, None] * (np.eye(n_keys) - p[..., None, :])
    by_score = factor * np.einsum("lim,limj->lij", costs, jacobian)
    gradient = np.einsum("lij,lid->ljd", by_score, q)
    return np.sqrt((gradient**2).sum(-1))


def attention_gradients_loops(query, key, value, cotangent, **options):
    """Gradients of attention pair by pair: what query i and key j do to each other."""
    q, k, v = (np.asarray(array, dtype=float) for array in (query, key, value))
    output, weights = attention_loops(q, k, v, **options)
    lead = output.shape[:-2]
    g = np.broadcast_to(cotangent, output.shape)
    scale = options.get("scale")
    factor = q.shape[-1] ** -0.5 if scale is None else float(scale)
    gradients = [np.zeros(array.shape) for array in (q, k, v)]
    for place in np.ndindex(*lead):
        # where this place of the broadcast axes lies in each array, and in its gradient
        own = [
            tuple(
                0 if length == 1 else index
                for length, index in zip(
                    array.shape[:-2], place[len(place) - array.ndim + 2 :], strict=True
                )
            )
            for array in (q, k, v)
        ]
        for i, j in np.ndindex(weights.shape[-2:]):
            p, upstream = weights[place][i], g[place][i]
            use = [math.fsum(upstream * entry) for entry in v[own[2]]]
            mean_use = math.fsum(a * b for a, b in zip(p, use, strict=True))
            by_score = factor * p[j] * (use[j] - mean_use)
            gradients[0][(*own[0], i)] += by_score * k[(*own[1], j)]
            gradients[1][(*own[1], j)] += by_score * q[(*own[0], i)]
            gradients[2][(*own[2], j)] += p[j] * upstream
    return gradients


def derivative(function, step):
    """Derivative of a function of one number at 0, by a formula with an error of step**6."""
    weights = {1: 45, 2: -9, 3: 1}
    return sum(
        weight * (function(m * step) - function(-m * step)) for m, weight in weights.items()
    ) / (60 * step)
