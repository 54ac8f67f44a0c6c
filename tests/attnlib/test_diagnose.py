"""What a diagnosis measures, against plain loops, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from attnlib import diagnose

QUERY, KEY = np.random.default_rng(11).standard_normal((2, 3, 20, 16))
MASK = np.tri(20, dtype=bool)
MASK[4] = False


def test_measurements_are_those_of_a_loop_over_rows():
    scale = 0.3
    found = diagnose(QUERY, KEY, scale=scale, attn_mask=MASK)
    for head, (query, key) in enumerate(zip(QUERY, KEY, strict=True)):
        raw, means, effective, sharp = [], [], [], []
        for row, visible in zip(query, MASK, strict=True):
            if not visible.any():
                continue
            scores = np.array([row @ one for one in key[visible]])
            weights = np.exp(scale * scores) / np.exp(scale * scores).sum()
            raw.append(np.var(scores))
            means.append((scale * scores.mean()) ** 2)
            effective.append(np.exp(-(weights * np.log(weights)).sum()))
            sharp.append(weights.max() > 0.9)
        assert np.isclose(found.raw_spread[head], np.sqrt(np.mean(raw)))
        assert np.isclose(found.spread[head], scale * np.sqrt(np.mean(raw)))
        assert np.isclose(found.shared_score[head], np.sqrt(np.mean(means)))
        assert np.isclose(found.effective_positions[head], np.mean(effective))
        assert found.sharp_share[head] == np.mean(sharp)


def test_independent_components_have_the_spread_that_is_said_of_them():
    query, key = np.random.default_rng(12).standard_normal((2, 400, 32)) + 1
    found = diagnose(query, key)
    # over many keys Var(q·k) given q is |q|² times the variance of a component
    expected = np.sqrt((query**2).sum(axis=-1).mean() * key.var(axis=0).mean() / 32)
    assert np.isclose(found.independent_spread, expected, rtol=1e-6)
    assert np.isclose(found.spread, expected, rtol=0.05)


@pytest.mark.parametrize(
    ("factor", "in_query", "words"),
    [
        (1, 1, "as usual"),
        (4, 0.25, "as usual"),  # divided once, in the query
        (1, 0.25, "divided twice, that is by d_k"),
        (0.25, 1, "divided twice, that is by d_k"),
        (4, 1, "not divided"),
        (3**-0.5, 1, "divided by the root of the model's width"),
        (1.5, 1, "an extra factor of 1.5"),
        (1, 1e5, "scores up to 1.5e+06, beyond float16"),
    ],
)
def test_a_verdict_names_the_fault(factor, in_query, words):
    verdict = diagnose(in_query * QUERY, KEY, scale=factor / 4).verdict
    assert verdict.shape == (3,)
    assert verdict[0].split(" up to")[0] == words.split(" up to")[0]


@pytest.mark.parametrize(
    ("query", "scale", "words"),
    [
        (QUERY / 16, 1, "divided twice, that is by d_k"),  # twice in the query, and not again
        (QUERY / 16, 4, "as usual"),
        (QUERY / 64, 4, "as usual"),  # more than twice is not a division any more
        (4 * QUERY, 1 / 4, "as usual"),
        (16**-0.4 * QUERY, 1 / 4, "divided twice, that is by d_k"),
        (16**-0.2 * QUERY, 1 / 4, "as usual"),
        (0 * QUERY, 1 / 4, "as usual"),
        *[
            (QUERY, scale * 1.0095, words)
            for scale, words in (
                (1 / 4, "as usual"),
                (1 / 16, "divided twice, that is by d_k"),
                (1, "not divided"),
                (48**-0.5, "divided by the root of the model's width"),
            )
        ],
        *[
            (QUERY, scale * 1.0112, f"an extra factor of {4 * scale * 1.0112:.3g}")
            for scale in (1 / 4, 1 / 16, 1, 48**-0.5)
        ],
    ],
)
def test_a_division_counts_wherever_it_is(query, scale, words):
    assert set(diagnose(query, KEY, scale=scale).verdict) == {words}


def test_the_narrowest_width_that_a_division_changes():
    assert diagnose(KEY[..., :2] / 2**0.5, KEY[..., :2]).verdict[0].startswith("divided twice")


def test_sizes_are_compared_and_keys_may_be_zero():
    found = diagnose(QUERY, KEY)
    size = np.sqrt((QUERY**2).mean(axis=(1, 2)))
    assert np.allclose(found.query_over_key, size / np.sqrt((KEY**2).mean(axis=(1, 2))))
    assert np.allclose(diagnose(QUERY, 0 * KEY).query_over_key, size)


@pytest.mark.parametrize(
    ("score", "scale", "beyond"),
    [(65504, 1, False), (65505, 1, True), (-65505, 1, True), (65505, 0.5, True), (32753, 2, True)],
)
def test_float16_holds_no_larger_scores(score, scale, beyond):
    """Raw ones count: in many libraries the product is there before it is scaled."""
    verdict = diagnose([[1.0]], [[float(score)]], scale=scale).verdict[()]
    assert ("beyond float16" in verdict) == beyond
    assert (f"scores up to {abs(score) * max(scale, 1):.3g}" in verdict) == beyond


def test_a_single_head_has_the_width_of_the_model():
    found = diagnose(QUERY[0], KEY[0], scale=32**-0.5)
    assert found.verdict[()] == "an extra factor of 0.707"


def test_a_single_head_and_a_width_of_one():
    assert diagnose(QUERY[0], KEY[0]).verdict[()] == "as usual"
    assert diagnose(QUERY[..., :1], KEY[..., :1]).verdict[0] == "as usual"


def test_a_float_mask_counts_as_it_does_in_attention():
    bias = np.random.default_rng(13).standard_normal((20, 20))
    found = diagnose(QUERY, KEY, attn_mask=bias)
    logits = QUERY @ KEY.swapaxes(-1, -2) / 4 + bias
    weights = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    entropy = -(weights * np.log(weights)).sum(axis=-1)
    assert np.allclose(found.effective_positions, np.exp(entropy).mean(axis=-1))
    hidden = diagnose(QUERY, KEY, attn_mask=np.where(MASK, 0, -np.inf))
    for one, other in zip(hidden[:-1], diagnose(QUERY, KEY, attn_mask=MASK)[:-1], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("hidden", [slice(None), 0])
def test_a_head_that_sees_nothing_is_refused(hidden):
    mask = np.ones((3, 20, 20), bool)
    mask[hidden] = False
    with pytest.raises(ValueError, match="attn_mask must let some query of each head see a key"):
        diagnose(QUERY, KEY, attn_mask=mask)


def test_a_scale_may_ask_for_the_number_of_keys():
    found = diagnose(QUERY, KEY, scale=lambda _d_k, n_keys: 1 / n_keys)
    assert np.allclose(found.spread, found.raw_spread / 20)
