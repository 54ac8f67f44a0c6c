"""scaling.py against the formulas written out in many digits, and against differences."""

from __future__ import annotations

import inspect
import math

import mpmath
import numpy as np
import oracles
import pytest
from attention_calls import RULE_NAMES, query_gain, rules
from numpy.testing import assert_allclose, assert_array_equal

from attnlib import ScalingRule, scaling

WIDTH, KEYS = 4, 7
GAIN = query_gain(WIDTH)


def logits_in_digits(name: str, q: list[float], k: list[float]) -> mpmath.mpf:
    """Write each rule out as its source does, for one raw score."""
    m = oracles.MP
    qs, ks = [m.mpf(float(x)) for x in q], [m.mpf(float(x)) for x in k]
    dot = m.fsum(a * b for a, b in zip(qs, ks, strict=True))
    cosine = dot / m.sqrt(m.fsum(a * a for a in qs)) / m.sqrt(m.fsum(b * b for b in ks))
    root = m.sqrt(WIDTH)
    by_query = m.exp(m.fsum(a * m.mpf(float(w)) for a, w in zip(qs, GAIN, strict=True)))
    return {
        "none": dot,
        "inverse root": dot / root,
        "inverse width": 3 * dot / WIDTH,
        "temperature": dot / m.mpf(2.5),
        "learned": dot / root * m.exp(m.mpf(0.4)),
        "by query": dot / root * by_query,
        "direction": root * cosine,
        "direction, learned": root * cosine * m.exp(m.mpf(-0.6)),
        "capped": m.mpf(0.7) * m.tanh(dot / root / m.mpf(0.7)),
        "by length": m.log(KEYS) / m.log(3) * dot / root,
        "both gains": m.mpf(1.2)
        * m.tanh(m.mpf(KEYS) / WIDTH * m.exp(m.mpf(0.2)) * by_query * cosine / m.mpf(1.2)),
    }[name]


def draw(seed: int, dtype: type = float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, WIDTH)).astype(dtype), rng.standard_normal((KEYS, WIDTH)).astype(
        dtype
    )


@pytest.mark.parametrize("name", RULE_NAMES)
def test_a_rule_turns_scores_into_the_logits_of_its_source(name):
    q, k = draw(1)
    before = q.copy(), k.copy()
    got = rules(WIDTH)[name].logits(q, k)
    wanted = [[float(logits_in_digits(name, a, b)) for b in k] for a in q]
    assert_allclose(got, wanted, rtol=1e-13)
    assert_array_equal(q, before[0])
    assert_array_equal(k, before[1])


@pytest.mark.parametrize("name", RULE_NAMES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_short_floating_types_are_kept(name, dtype):
    q, k = draw(2, dtype)
    rule = rules(WIDTH)[name]
    got = rule.logits(q, k)
    assert got.dtype == dtype
    assert_allclose(
        got, rule.logits(q.astype(float), k.astype(float)), atol=40 * np.finfo(dtype).eps
    )
    by_query, _ = rule.fold_query_vjp(q, KEYS, q)
    by_key = rule.fold_key_vjp(k, k)
    assert by_query.dtype == by_key.dtype == dtype


@pytest.mark.parametrize("name", RULE_NAMES)
def test_gradients_agree_with_differences(name):
    rule = rules(WIDTH)[name]
    q, k = draw(3)
    rng = np.random.default_rng(4)
    direction_q, direction_k = rng.standard_normal(q.shape), rng.standard_normal(k.shape)
    upstream_q, upstream_k = rng.standard_normal(q.shape), rng.standard_normal(k.shape)
    by_query, gains = rule.fold_query_vjp(q, KEYS, upstream_q)

    def moved_query(step):
        return (rule.fold_query(q + step * direction_q, KEYS) * upstream_q).sum()

    def moved_key(step):
        return (rule.fold_key(k + step * direction_k) * upstream_k).sum()

    assert_allclose(
        (by_query * direction_q).sum(), oracles.derivative(moved_query, 1e-3), rtol=1e-10
    )
    by_key = rule.fold_key_vjp(k, upstream_k)
    assert_allclose((by_key * direction_k).sum(), oracles.derivative(moved_key, 1e-3), rtol=1e-10)
    assert set(gains) == set(rule.gains)
    for gain, got in gains.items():
        along = rng.standard_normal(np.shape(got))

        def moved_gain(step, gain=gain, along=along):
            other = rule.with_gains(**{gain: rule.gains[gain] + step * along})
            return (other.fold_query(q, KEYS) * upstream_q).sum()

        assert_allclose((got * along).sum(), oracles.derivative(moved_gain, 1e-3), rtol=1e-10)


def test_the_slope_of_the_cap_agrees_with_differences():
    rule = scaling.soft_cap(3.0)
    for x in (-5.0, -0.5, 0.0, 2.0):
        slope = rule.cap_slope(rule.cap_logits(np.array(x)))
        wanted = oracles.derivative(
            lambda step, x=x: float(rule.cap_logits(np.array(x + step))), 1e-3
        )
        assert slope == pytest.approx(wanted, rel=1e-10)
    assert scaling.no_scaling().cap_slope(np.array([5.0])) == 1.0


def test_learned_gains_start_where_they_change_nothing():
    q, k = draw(5)
    plain = scaling.inverse_sqrt().logits(q, k)
    assert_array_equal(scaling.learned_temperature().logits(q, k), plain)
    assert_array_equal(scaling.query_temperature(WIDTH).logits(q, k), plain)
    assert_array_equal(
        scaling.query_key_norm().logits(q, k), scaling.query_key_norm(learned=False).logits(q, k)
    )
    assert_allclose(scaling.log_length(KEYS).logits(q, k), plain, rtol=1e-15)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_directions_survive_extreme_lengths(size):
    x = np.array([[3.0, 0.0, -4.0]]) * (size / 4)
    rtol = 1e-3 if size < 1e-300 else 1e-14
    got = scaling.query_key_norm().fold_key(x)
    assert_allclose(got, [[0.6, 0.0, -0.8]], rtol=rtol)
    if size > 1:
        across = scaling.query_key_norm().fold_key_vjp(x, np.array([[0.0, size, 0.0]]))
        assert_allclose(across, [[0.0, 0.8, 0.0]], rtol=rtol)


def test_a_zero_vector_stays_zero_and_passes_nothing_on():
    rule = scaling.query_key_norm()
    x = np.array([[0.0, 0.0], [0.0, 2.0]])
    assert rule.fold_key(x).tolist() == [[0, 0], [0, 1]]
    assert rule.fold_key_vjp(x, np.ones((2, 2))).tolist() == [[0, 0], [0.5, 0]]


def test_logits_of_normalized_vectors_are_bounded_by_the_root_of_the_width():
    q = np.full((1, 64), 1e3)
    assert scaling.query_key_norm().logits(q, q) == pytest.approx(8)


# --- what an argument `scale` stands for ---------------------------------------------------------


def eighth(d_k, n_keys):
    """A rule of a reader's own."""
    return 1 / 8 + 0 * d_k * n_keys


def test_a_scale_may_be_nothing_a_number_a_callable_or_a_rule():
    for scale, label, wanted in (
        (None, "1/√dₖ", 0.25),
        (0.5, "0.5", 0.5),
        (np.float32(0.5), "0.5", 0.5),
        (0, "0", 0.0),
        (eighth, "eighth", 0.125),
        (scaling.inverse_width(2), "2/dₖ", 0.125),
    ):
        rule = scaling.scaling_rule(scale)
        assert rule.label == label
        factor = rule.multiplier(16, 100)
        assert factor == wanted
        assert type(factor) is float
    rule = scaling.soft_cap(3)
    assert scaling.scaling_rule(rule) is rule


def test_labels():
    """Every constructor without a label that another has; figures tell their series by it."""
    rule = inspect.signature(scaling.inverse_sqrt).return_annotation
    constructors = {
        name
        for name in scaling.__all__
        if inspect.isfunction(getattr(scaling, name))
        and inspect.signature(getattr(scaling, name)).return_annotation == rule
    }
    assert len(constructors - {"scaling_rule"}) == 9
    labels = {
        "1": scaling.no_scaling(),
        "1/√dₖ": scaling.inverse_sqrt(),
        "1/dₖ": scaling.inverse_width(),
        "8/dₖ": scaling.inverse_width(8),
        "1/2.5": scaling.fixed_temperature(2.5),
        "learned temperature": scaling.learned_temperature(),
        "temperature by query": scaling.query_temperature(3),
        "q/k norm": scaling.query_key_norm(),
        "soft cap 50": scaling.soft_cap(50),
        "log n from 2": scaling.log_length(2),
    }
    for label, made in labels.items():
        assert made.label == label
        assert repr(made) == f"ScalingRule({label!r})"


def test_what_is_learned():
    assert scaling.query_key_norm().gains == {"log_gain": 0.0}
    assert scaling.query_key_norm(learned=False).gains == {}
    assert scaling.query_key_norm(learned=True).gains == {"log_gain": 0.0}
    assert scaling.learned_temperature().gains == {"log_gain": 0.0}
    assert scaling.query_temperature(3).gains["query_gain"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", RULE_NAMES)
def test_one_vector_is_folded_as_one_of_many(name):
    rule = rules(WIDTH)[name]
    q, k = draw(6)
    upstream = draw(7)[0]
    assert_allclose(rule.fold_query(q[0], KEYS), rule.fold_query(q, KEYS)[0], rtol=1e-14)
    assert_array_equal(rule.fold_key(k[0]), rule.fold_key(k)[0])
    alone, gains = rule.fold_query_vjp(q[0], KEYS, upstream[0])
    among, wanted = rule.fold_query_vjp(q[:1][None], KEYS, upstream[:1][None])
    assert_allclose(alone, among[0, 0], rtol=1e-14)
    for gain in gains:
        assert_allclose(gains[gain], wanted[gain], rtol=1e-13)
    assert_allclose(
        rule.fold_key_vjp(k[0], upstream[0]), rule.fold_key_vjp(k[:1], upstream[:1])[0], rtol=1e-14
    )


def test_inverse_widths_with_and_without_a_constant():
    assert scaling.inverse_width().multiplier(64, 9) == 1 / 64
    assert scaling.inverse_width(8).multiplier(64, 9) == 1 / 8


def answering(answer):
    """A rule whose factor is what a careless reader returns."""
    return scaling.scaling_rule(lambda _d_k, _n_keys: answer)


def plain() -> ScalingRule:
    return scaling.no_scaling()


def steep(w: float) -> ScalingRule:
    return scaling.query_temperature(1).with_gains(query_gain=[w])


def made(**options) -> ScalingRule:
    return ScalingRule("x", eighth, **options)


BAD = [
    (lambda: scaling.inverse_width(0), ValueError, "constant", "0"),
    (lambda: scaling.inverse_width("8"), TypeError, "constant", "'8'"),
    (lambda: scaling.fixed_temperature(0), ValueError, "temperature", "0"),
    (lambda: scaling.fixed_temperature(None), TypeError, "temperature", "None"),
    (lambda: scaling.soft_cap(-1), ValueError, "cap", "-1"),
    (lambda: scaling.soft_cap(0), ValueError, "cap", "0"),
    (lambda: scaling.log_length(1), ValueError, "reference", "1"),
    (lambda: scaling.log_length(2.0), TypeError, "reference", "2.0"),
    (lambda: scaling.query_temperature(0), ValueError, "d_k", "0"),
    (lambda: scaling.query_key_norm(learned=1), TypeError, "learned", "1"),
    (lambda: scaling.scaling_rule("1/8"), TypeError, "scale", "'1/8'"),
    (lambda: scaling.scaling_rule(-1), ValueError, "scale", "-1"),
    (lambda: scaling.scaling_rule(float), TypeError, "scale", "float"),
    (lambda: scaling.scaling_rule([0.5, 0.5]), TypeError, "scale", "[0.5, 0.5]"),
    (lambda: ScalingRule("x", 0.5), TypeError, "factor", "0.5"),
    (lambda: ScalingRule(3, eighth), TypeError, "label", "3"),
    (lambda: made(cap=0), ValueError, "cap", "0"),
    (lambda: made(normalize="no"), TypeError, "normalize", "'no'"),
    (lambda: made(gains=None), TypeError, "gains", "None"),
    (lambda: made(gains={"gain": 1}), ValueError, "gains", "'gain'"),
    (lambda: made(gains={"log_gain": [1.0]}), ValueError, "log_gain", "(1,)"),
    (lambda: made(gains={"log_gain": math.nan}), ValueError, "log_gain", "nan"),
    (lambda: made(gains={"query_gain": 1.0}), ValueError, "query_gain", "()"),
    (lambda: plain().with_gains(log_gain=1.0), ValueError, "gains", "'log_gain'"),
    (lambda: answering(-0.5).multiplier(4, 4), ValueError, "scale", "-0.5"),
    (lambda: answering("x").multiplier(4, 4), TypeError, "scale", "'x'"),
    (lambda: answering(None).multiplier(4, 4), TypeError, "scale", "None"),
    (lambda: plain().multiplier(0, 4), ValueError, "d_k", "0"),
    (lambda: plain().multiplier(4, "3"), TypeError, "n_keys", "'3'"),
    (
        lambda: scaling.learned_temperature().with_gains(log_gain=1000).multiplier(4, 4),
        ValueError,
        "log_gain",
        "1e+03",
    ),
    (lambda: steep(1000.0).fold_query(np.array([[1.0]]), 4), ValueError, "query_gain", "1e+03"),
    (
        lambda: steep(1000.0).fold_query(2.0 * np.eye(2, 1), 4),
        ValueError,
        "query_gain",
        "2e+03",
    ),
    (lambda: rules(WIDTH)["by query"].fold_query(np.ones((2, 5)), 3), ValueError, "query", "5"),
    (lambda: plain().logits([[1.0]], [1.0]), ValueError, "key", "(1,)"),
    (lambda: plain().logits([[1.0, 2.0]], [[1.0]]), ValueError, "key", "(1, 1)"),
    (lambda: plain().logits([1.0], [[1.0]]), ValueError, "query", "(1,)"),
    (
        lambda: plain().logits(np.ones((2, 1, 3)), np.ones((2, 3, 1))),
        ValueError,
        "key",
        "(2, 3, 1)",
    ),
    (lambda: plain().logits([[math.nan]], [[1.0]]), ValueError, "query", "nan"),
]


@pytest.mark.parametrize(
    ("call", "error", "blamed", "shown"), BAD, ids=[f"{b[2]}-{b[3]}-{i}" for i, b in enumerate(BAD)]
)
def test_a_bad_argument(call, error, blamed, shown):
    with pytest.raises(error, match=rf"^{blamed} must .*; got ") as caught:
        call()
    assert shown in str(caught.value)


def test_a_rule_does_not_change():
    rule = scaling.learned_temperature()
    rule.with_gains(log_gain=1.0)
    assert rule.gains == {"log_gain": 0.0}
    with pytest.raises(AttributeError):
        rule.label = "other"
    with pytest.raises(TypeError):
        rule.gains["log_gain"] = 1.0
    direction = np.array([1.0, 2.0])
    learned = scaling.query_temperature(2).with_gains(query_gain=direction)
    direction[0] = 7
    assert learned.gains["query_gain"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        learned.gains["query_gain"][0] = 7


def test_a_cap_of_numpy_does_not_promote():
    rule = ScalingRule("x", eighth, cap=np.float64(5))
    assert type(rule.cap) is float
    assert rule.cap_logits(np.ones(2, np.float32)).dtype == np.float32
