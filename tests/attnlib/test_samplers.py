"""The samplers draw from the exact laws; and the checks that say so would notice otherwise.

The false-alarm rate is stated and derived in false_alarms.py: at most one in a million for the
whole family, had the seeds been random.
"""

from __future__ import annotations

import false_alarms
import numpy as np
import oracles
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import attnlib
from attnlib import sample_score_rows, sample_scores
from attnlib.saturation import RowStatistics

FAMILY = [
    pytest.param(
        getattr(attnlib, name),
        check,
        arguments,
        id=f"{name}-{check.__name__}-{'-'.join(f'{k}={v}' for k, v in arguments.items())}",
    )
    for name, checks in false_alarms.CHECKS.items()
    for check, arguments in checks
]


@pytest.mark.parametrize(("sampler", "check", "arguments"), FAMILY)
def test_sampler_has_the_exact_law(sampler, check, arguments):
    p_value = check(sampler, **arguments)
    assert p_value >= false_alarms.LEVEL, f"p = {p_value:.2g} is below {false_alarms.LEVEL:.2g}"


@pytest.mark.not_for_mutants
def test_the_false_alarm_rate_of_the_family():
    assert len(FAMILY) == false_alarms.N_CHECKS
    assert pytest.approx(1e-6) == false_alarms.N_CHECKS * false_alarms.LEVEL


@pytest.mark.not_for_mutants
def test_p_values_are_exact():
    """P(p-value <= a) <= a: the definition, counted with the exact laws of the statistics."""
    # binomial: every outcome's p-value is at least the chance of outcomes as extreme
    n, probability = 50, 0.3
    chances = stats.binom.pmf(np.arange(n + 1), n, probability)
    p_values = [stats.binomtest(i, n, probability).pvalue for i in range(n + 1)]
    for level in (1e-6, 1e-3, 0.05):
        assert sum(c for c, p in zip(chances, p_values, strict=True) if p <= level) <= level
    # Kolmogorov-Smirnov with one number: D = max(u, 1 - u), so P(D > d) = 2(1 - d)
    for u in (0.001, 0.3, 0.97):
        assert false_alarms.ks(np.array([u])) == pytest.approx(2 * (1 - max(u, 1 - u)))
    # two samples of n that do not overlap: two of the C(2n, n) orders
    assert false_alarms.two_samples(np.arange(3.0), np.arange(5.0, 8.0)) == pytest.approx(2 / 20)


@pytest.mark.not_for_mutants
@pytest.mark.parametrize("d_k", [1, 4, 16])
def test_the_oracle_law_is_the_law_of_the_sum(d_k):
    """Half a million scores from whole vectors against score_cdf, and that against 40 digits."""
    rng = np.random.default_rng(11)
    scores = (rng.standard_normal((20_000, d_k)) * rng.standard_normal((20_000, d_k))).sum(-1)
    assert false_alarms.ks(oracles.score_cdf(scores, d_k)) > 1e-6
    if d_k > 1:
        for z in (0.01, 1.0, 9.0):
            exact = oracles.score_sf_digits(z, d_k)
            assert oracles.score_cdf(np.array(-z), d_k) == pytest.approx(float(exact), rel=1e-12)


def wider(d_k, size, *, rng):
    return np.sqrt(1.05) * sample_scores(d_k, size, rng=rng)


def narrower(d_k, size, *, rng):
    return np.sqrt(0.95) * sample_scores(d_k, size, rng=rng)


def plain_normal(d_k, size, *, rng):
    return np.sqrt(d_k) * rng.standard_normal(size)


def one_degree_too_many(d_k, size, *, rng):
    return np.sqrt(rng.chisquare(d_k + 1, size)) * rng.standard_normal(size)


def rows_without_a_common_norm(d_k, n_keys, size, *, rng):
    shape = (size, n_keys) if isinstance(size, int) else (*size, n_keys)
    return sample_scores(d_k, shape, rng=rng)


def rows_with_one_norm_for_all(d_k, n_keys, size, *, rng):
    shape = (size, n_keys) if isinstance(size, int) else (*size, n_keys)
    return np.sqrt(rng.chisquare(d_k)) * rng.standard_normal(shape)


def rows_of_normals(d_k, n_keys, size, *, rng):
    shape = (size, n_keys) if isinstance(size, int) else (*size, n_keys)
    return np.sqrt(d_k) * rng.standard_normal(shape)


def wider_rows(d_k, n_keys, size, *, rng):
    return np.sqrt(1.2) * sample_score_rows(d_k, n_keys, size, rng=rng)


def statistics_at_twice_the_scale(d_k, n_keys, n_rows, *, scale, rng):
    factor = d_k**-0.5 if scale is None else scale
    return attnlib.sample_row_statistics(d_k, n_keys, n_rows, scale=2 * factor, rng=rng)


def statistics_of_normals(d_k, n_keys, n_rows, *, scale, rng):
    factor = d_k**-0.5 if scale is None else scale
    p = attnlib.softmax(factor * rows_of_normals(d_k, n_keys, n_rows, rng=rng))
    return RowStatistics(p.max(-1), None, None, None)


def gradients(*, across, cost=1.0, outer=1.0):
    """Return the gradient sampler with one thing wrong."""

    def sampler(d_k, n_keys, n_rows, *, scale, rng):
        factor = d_k**-0.5 if scale is None else scale
        norm = np.sqrt(rng.chisquare(d_k, (n_rows, 1)))
        along = rng.standard_normal((n_rows, n_keys))
        p = attnlib.softmax(factor * norm * along)
        w = attnlib.softmax_vjp(p, cost * rng.standard_normal(p.shape))
        rest = rng.chisquare(across(d_k), n_rows)
        return outer * factor * np.sqrt((w * along).sum(-1) ** 2 + (w * w).sum(-1) * rest)

    return sampler


def key_gradients(*, own_norm=False, centered=True, outer=1.0):
    """Return the sampler of one row's key gradients with one thing wrong."""

    def sampler(d_k, n_keys, n_rows, *, scale, rng):
        factor = d_k**-0.5 if scale is None else scale
        norm = np.sqrt(rng.chisquare(d_k, (n_rows, 1)))
        p = attnlib.softmax(factor * norm * rng.standard_normal((n_rows, n_keys)))
        u = rng.standard_normal(p.shape)
        if own_norm:
            norm = np.sqrt(rng.chisquare(d_k, (n_rows, 1)))
        w = attnlib.softmax_vjp(p, u) if centered else p * u
        return outer * factor * norm * np.abs(w)

    return sampler


def layer_gradients(*, keys_shared=True, cost_shared=False, vectors=True, outer=1.0):
    """Return the sampler of a layer's key gradients with one thing wrong."""

    def sampler(d_k, n_keys, n_queries, n_layers, *, scale, rng):
        factor = d_k**-0.5 if scale is None else scale
        q = rng.standard_normal((n_layers, n_queries, d_k))
        keys = rng.standard_normal((n_layers, 1 if keys_shared else n_queries, n_keys, d_k))
        p = attnlib.softmax(factor * (keys @ q[..., None])[..., 0])
        u = rng.standard_normal((n_layers, 1 if cost_shared else n_queries, n_keys))
        w = attnlib.softmax_vjp(p, np.broadcast_to(u, p.shape))
        if not vectors:
            return outer * factor * (np.abs(w) * np.linalg.norm(q, axis=-1)[..., None]).sum(1)
        return outer * factor * np.linalg.norm(np.swapaxes(w, 1, 2) @ q, axis=-1)

    return sampler


WRONG = {
    "sample_scores": {
        "variance 5 % too large": wider,
        "variance 5 % too small": narrower,
        "normal": plain_normal,
        "one degree of freedom too many": one_degree_too_many,
    },
    "sample_score_rows": {
        "a norm for every entry": rows_without_a_common_norm,
        "one norm for all rows": rows_with_one_norm_for_all,
        "normal": rows_of_normals,
        "variance 20 % too large": wider_rows,
    },
    "sample_row_statistics": {
        "twice the scale": statistics_at_twice_the_scale,
        "normal": statistics_of_normals,
    },
    "sample_query_gradients": {
        "one degree of freedom too many": gradients(across=lambda d_k: d_k),
        "cost with variance 2": gradients(across=lambda d_k: max(d_k - 1, 1e-9), cost=np.sqrt(2)),
        "scale forgotten outside": gradients(across=lambda d_k: max(d_k - 1, 1e-9), outer=1.3),
    },
    "sample_key_gradients": {
        "the length of another query": key_gradients(own_norm=True),
        "cost not compared with its mean": key_gradients(centered=False),
        "scale forgotten outside": key_gradients(outer=1.3),
    },
    "sample_layer_key_gradients": {
        "keys of its own for every query": layer_gradients(keys_shared=False),
        "one cost for all queries": layer_gradients(cost_shared=True),
        "lengths added up, not vectors": layer_gradients(vectors=False),
        "scale forgotten outside": layer_gradients(outer=1.3),
    },
}


@pytest.mark.not_for_mutants
@pytest.mark.proof("unusual")
@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name, samplers in WRONG.items() for wrong in samplers]
)
def test_a_wrong_sampler_is_rejected(name, wrong):
    """By the same checks, at the same level, with the same seeds."""
    p_values = [
        check(WRONG[name][wrong], **arguments) for check, arguments in false_alarms.CHECKS[name]
    ]
    assert min(p_values) < false_alarms.LEVEL


@pytest.mark.not_for_mutants
@pytest.mark.proof("unusual")
@pytest.mark.parametrize("sampler", [wider, narrower])
@pytest.mark.parametrize("d_k", [1, 4, 64, 1024])
def test_five_percent_of_variance_is_noticed_at_every_width(sampler, d_k):
    p_value = false_alarms.spread_of_scores(sampler, d_k=d_k, seed=200 + d_k)
    assert p_value < false_alarms.LEVEL


@pytest.mark.not_for_mutants
@pytest.mark.parametrize("d_k", [1, 2, 4])
def test_a_normal_law_is_noticed_at_small_widths(d_k):
    assert false_alarms.law_of_scores(plain_normal, d_k=d_k, seed=1) < false_alarms.LEVEL


@pytest.mark.parametrize("size", [0, 5, (), (2, 3), [4], (0, 2), np.int64(3)])
def test_samples_have_the_shape_asked_for(size):
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    rng = np.random.default_rng(12)
    scores, rows = sample_scores(4, size, rng=rng), sample_score_rows(4, 7, size, rng=rng)
    assert np.shape(scores) == shape
    assert np.shape(rows) == (*shape, 7)
    assert np.asarray(scores).dtype == rows.dtype == np.float64


def test_the_same_generator_state_gives_the_same_draws():
    for sample in (
        lambda rng: sample_scores(8, 5, rng=rng),
        lambda rng: sample_score_rows(8, 3, 5, rng=rng),
        lambda rng: attnlib.sample_row_statistics(8, 3, 5, rng=rng).entropy,
        lambda rng: attnlib.sample_query_gradients(8, 3, 5, rng=rng),
        lambda rng: attnlib.sample_key_gradients(8, 3, 5, rng=rng),
        lambda rng: attnlib.sample_layer_key_gradients(8, 3, 5, 2, rng=rng),
    ):
        one, again, other = (sample(np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert_array_equal(one, again)
        assert (one != other).any()
