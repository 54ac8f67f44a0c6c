"""initialization.py: published laws, explicit loops and covariances, and measured variances.

The statistical tests give every check a p-value and alarm below LEVEL. For entries, tokens and
single queries the p-values are exact at the sample's size. For measured variances they are
Student's, for averages over independent draws of the weights, each of which averages hundreds
of terms: an approximation, whose tail a skewness of 0.5 would raise less than tenfold at 100
draws, and one of 0.15, more than a draw at the widths of real models has, less than tenfold at
25 to 40. By the union bound the chance that any of at most CHECKS checks alarms, had the seeds been
drawn at random, is FAMILY_LEVEL, or ten times that if the approximation is that bad.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from threadpoolctl import threadpool_limits

from attnbook.initialization import (
    INITIALIZERS,
    sample_logit_variances,
    sample_projections,
    sample_tokens,
)
from attnlib import (
    EntryLaw,
    Initializer,
    layer_norm,
    predict_variances,
    scaling,
)
from attnlib.initialization import AttentionVariances

FAMILY_LEVEL = 1e-7
CHECKS = 250
LEVEL = FAMILY_LEVEL / CHECKS

# The laws as published, by their own parameters: the bound of a uniform law, the deviation of a
# normal one. Xavier: ±√(6 / (inputs + outputs)), Glorot and Bengio 2010, equation 16.
# nn.Linear: ±1/√E (its documentation). GPT-2 and BERT: 0.02. T5: Mesh TensorFlow's attention.py.


def uniform(bound):
    return stats.uniform(-bound, 2 * bound)


PUBLISHED = {
    "multihead_attention": lambda e, _d: (uniform(math.sqrt(6 / (e + 3 * e))),) * 2,
    "xavier_square": lambda e, _d: (uniform(math.sqrt(6 / (e + e))),) * 2,
    "xavier_head": lambda e, d: (uniform(math.sqrt(6 / (e + d))),) * 2,
    "linear": lambda e, _d: (uniform(e**-0.5),) * 2,
    "linear_bias": lambda e, _d: (uniform(e**-0.5),) * 2,
    "gpt2": lambda _e, _d: (stats.norm(0, 0.02),) * 2,
    "bert": lambda _e, _d: (stats.truncnorm(-2, 2, 0, 0.02),) * 2,
    "t5": lambda e, d: (stats.norm(0, (e * d) ** -0.5), stats.norm(0, e**-0.5)),
    "mup": lambda e, _d: (stats.norm(0, e**-0.5),) * 2,
    "mup_8": lambda e, _d: (stats.norm(0, e**-0.5),) * 2,
}
MULTIPLIERS = {"t5": lambda _d: 1, "mup": lambda d: 1 / d, "mup_8": lambda d: 8 / d}

# initializer, width, d_k, Var(q), Var(k), Var(logit), by hand
BERT = 0.307_2 * float(1 - 4 * oracles.MP.npdf(2) / (oracles.MP.ncdf(2) - oracles.MP.ncdf(-2)))
BY_HAND = [
    ("multihead_attention", 512, 64, 1 / 2, 1 / 2, 1 / 4),
    ("xavier_square", 512, 64, 1, 1, 1),
    ("xavier_head", 512, 64, 16 / 9, 16 / 9, 256 / 81),
    ("linear", 512, 64, 1 / 3, 1 / 3, 1 / 9),
    ("linear_bias", 512, 64, 513 / 1536, 513 / 1536, (513 / 1536) ** 2),
    ("gpt2", 768, 64, 0.3072, 0.3072, 0.09437184),
    ("gpt2", 1600, 64, 0.64, 0.64, 0.4096),
    ("gpt2", 4096, 128, 1.6384, 1.6384, 2.68435456),
    ("gpt2", 12288, 128, 4.9152, 4.9152, 24.15919104),
    ("bert", 768, 64, BERT, BERT, BERT**2),
    ("t5", 512, 64, 1 / 64, 1, 1),
    ("mup", 512, 64, 1, 1, 1 / 64),
    ("mup_8", 512, 64, 1, 1, 1),
    ("mup_8", 1024, 256, 1, 1, 1 / 4),
]


@pytest.fixture(autouse=True)
def one_thread():
    """Products of small matrices: where cores are busy, a second thread is only waited for."""
    with threadpool_limits(1, user_api="blas"):
        yield


def fixed(std):
    return lambda _width, _d_k: std


QUERY_BIASED = Initializer(
    "large bias of the queries",
    EntryLaw("normal", fixed(0.5)),
    EntryLaw("uniform", lambda _width, d_k: d_k / 32),
    "none",
    query_bias=EntryLaw("normal", fixed(3.0)),
)
KEY_BIASED = dataclasses.replace(
    QUERY_BIASED, query_bias=None, key_bias=EntryLaw("truncated normal", fixed(3.0))
)


@pytest.mark.parametrize(("name", "width", "d_k", "query", "key", "logit"), BY_HAND)
def test_predictions_by_hand(name, width, d_k, query, key, logit):
    predicted = predict_variances(INITIALIZERS[name], width, d_k)
    assert predicted.query == pytest.approx(query, rel=1e-13)
    assert predicted.key == pytest.approx(key, rel=1e-13)
    assert predicted.score == pytest.approx(d_k * query * key, rel=1e-13)
    assert predicted.logit == pytest.approx(logit, rel=1e-13)


def test_the_share_that_truncation_keeps():
    """At width 1 a component of q is an entry plus nothing."""
    kept = predict_variances(INITIALIZERS["bert"], 1, 1).query / 0.02**2
    assert kept == pytest.approx(stats.truncnorm(-2, 2).var(), rel=1e-12)
    assert kept == pytest.approx(0.77374, abs=5e-6)


def within_row_by_covariance(laws, biases, width, d_k, n, cosine, factor):
    """The trace of the centered covariance of a row's logits, from the Gram matrix of tokens."""
    gram = width * (cosine * np.ones((n, n)) + (1 - cosine) * np.eye(n))
    of_query = laws[0].var() * gram + biases[0]
    of_key = laws[1].var() * gram + biases[1]
    rows = [factor**2 * d_k * of_query[i, i] * of_key for i in range(n)]
    centring = np.eye(n) - np.ones((n, n)) / n
    return np.mean([np.trace(centring @ row) / (n - 1) for row in rows])


@pytest.mark.parametrize("cosine", [0.0, 0.25, 0.9, 1.0])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_the_variance_within_a_row_is_that_of_the_centered_covariance(name, cosine):
    width, d_k, n = 96, 12, 7
    laws = PUBLISHED[name](width, d_k)
    factor = MULTIPLIERS.get(name, lambda d: d**-0.5)(d_k)
    biases = (1 / (3 * width),) * 2 if name == "linear_bias" else (0, 0)
    exact = within_row_by_covariance(laws, biases, width, d_k, n, cosine, factor)
    predicted = predict_variances(INITIALIZERS[name], width, d_k, n_tokens=n, token_cosine=cosine)
    assert predicted.within_row == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_softmax_does_not_see_a_bias_of_the_keys():
    plain = dataclasses.replace(KEY_BIASED, key_bias=None)
    with_bias, without = (predict_variances(plan, 64, 16) for plan in (KEY_BIASED, plain))
    assert with_bias.within_row == without.within_row == without.logit
    assert with_bias.key > 1.2 * without.key
    assert with_bias.query == without.query


def test_a_bias_of_the_queries_counts_in_full():
    predicted = predict_variances(QUERY_BIASED, 64, 16, token_cosine=0.5)
    assert predicted.query == 64 * 0.25 + 9
    assert predicted.key == pytest.approx(64 * 0.25)
    assert predicted.logit == pytest.approx(25 * 16)
    assert predicted.within_row == pytest.approx(25 * 16 / 2)


def test_other_scales():
    """Dividing by √d_model with 8 heads; and a rule that looks at the number of keys."""
    square = INITIALIZERS["xavier_square"]
    confused = dataclasses.replace(square, scale=512**-0.5)
    assert predict_variances(confused, 512, 64).logit == pytest.approx(64 / 512)
    longer = dataclasses.replace(square, scale=scaling.log_length(8))
    assert predict_variances(longer, 512, 64).logit == pytest.approx(4)
    assert predict_variances(longer, 512, 64, n_tokens=8).logit == pytest.approx(1)
    learned = scaling.learned_temperature().with_gains(log_gain=math.log(3))
    predicted = predict_variances(dataclasses.replace(square, scale=learned), 512, 64)
    assert predicted.logit == predicted.within_row == pytest.approx(9)
    at_start = dataclasses.replace(square, scale=scaling.query_temperature(64))
    assert predict_variances(at_start, 512, 64).logit == pytest.approx(1)


def test_a_query_that_starts_at_zero():
    zero = EntryLaw("normal", fixed(0.0))
    predicted = predict_variances(dataclasses.replace(INITIALIZERS["mup"], query=zero), 512, 64)
    assert predicted == AttentionVariances(0, predicted.key, 0, 0, 0)


# Sampling, against explicit loops over the same weights and tokens.

RULES = {
    "1/√d_k": (None, lambda z, d, *_: z / math.sqrt(d)),
    "a number": (0.3, lambda z, *_: 0.3 * z),
    "by length": (scaling.log_length(8), lambda z, d, n, *_: z * math.log(n, 8) / math.sqrt(d)),
    "capped": (scaling.soft_cap(2), lambda z, d, *_: 2 * math.tanh(z / math.sqrt(d) / 2)),
    "normalized": (
        scaling.query_key_norm(),
        lambda z, d, _n, q, k: z * math.sqrt(d) / math.hypot(*q) / math.hypot(*k),
    ),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["linear_bias", "t5", "query", "key"])
def test_the_measured_variances_are_those_of_the_sampled_weights(name, rule):
    width, d_k, n, draws = 6, 3, 4, 3
    scale, logit_of = RULES[rule]
    plan = {"query": QUERY_BIASED, "key": KEY_BIASED}.get(name) or INITIALIZERS[name]
    plan = dataclasses.replace(plan, scale=scale)
    rng, values = np.random.default_rng(5), []
    for _ in range(draws):
        tokens = sample_tokens(n, width, token_cosine=0.3, rng=rng).tolist()
        weights = sample_projections(plan, width, d_k, rng=rng)
        query, key = (
            [
                [
                    float(bias[a]) + math.fsum(x[e] * float(matrix[e, a]) for e in range(width))
                    for a in range(d_k)
                ]
                for x in tokens
            ]
            for matrix, bias in (
                (weights.query, weights.query_bias),
                (weights.key, weights.key_bias),
            )
        )
        scores = [[math.fsum(map(math.prod, zip(q, k, strict=True))) for k in key] for q in query]
        logits = [
            [logit_of(scores[i][j], d_k, n, query[i], key[j]) for j in range(n)] for i in range(n)
        ]
        mean_square = lambda rows: statistics.fmean(x * x for row in rows for x in row)  # noqa: E731
        within = statistics.fmean(map(statistics.variance, logits))
        values.append([*map(mean_square, (query, key, scores, logits)), within])
    measured = sample_logit_variances(
        plan, width, d_k, n_draws=draws, n_tokens=n, token_cosine=0.3, rng=np.random.default_rng(5)
    )
    means = [statistics.fmean(column) for column in zip(*values, strict=True)]
    errors = [statistics.stdev(column) / draws**0.5 for column in zip(*values, strict=True)]
    assert_allclose(measured.mean, means, rtol=1e-11)
    assert_allclose(measured.standard_error, errors, rtol=1e-9)
    assert {type(number) for part in measured for number in part} == {float}


def test_projections_without_and_with_bias():
    rng = np.random.default_rng(6)
    for name, plan in INITIALIZERS.items():
        weights = sample_projections(plan, 5, 3, rng=rng)
        assert weights.query.shape == weights.key.shape == (5, 3)
        assert weights.query_bias.shape == weights.key_bias.shape == (3,)
        has_bias = name == "linear_bias"
        assert weights.query_bias.any() == weights.key_bias.any() == has_bias
        assert not np.array_equal(weights.query, weights.key)
    biased = sample_projections(KEY_BIASED, 5, 3, rng=rng)
    assert not biased.query_bias.any()
    assert biased.key_bias.all()


# exact p-values


def p_entries(entries: np.ndarray, law) -> float:
    return float(stats.kstest(entries.ravel(), law.cdf, method="exact").pvalue)


@pytest.mark.parametrize("part", ["query", "key"])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_entries_have_the_published_law(name, part):
    """Twenty checks."""
    width, d_k = 192, 160
    law = PUBLISHED[name](width, d_k)[part == "key"]
    weights = sample_projections(INITIALIZERS[name], width, d_k, rng=np.random.default_rng(10))
    entries = getattr(weights, part)
    assert np.abs(entries).max() <= law.support()[1]
    assert p_entries(entries, law) >= LEVEL
    # and the same check rejects another shape of the same variance, and another variance
    if name != "bert":
        other = uniform(3**0.5) if law.support()[1] == np.inf else stats.norm()
        assert p_entries(law.std() * other.rvs(entries.size, random_state=1), law) < LEVEL
    assert p_entries(entries * math.sqrt(1.2), law) < LEVEL


@pytest.mark.not_for_mutants
def test_a_normal_law_is_not_taken_for_a_truncated_one():
    entries = 0.02 * np.random.default_rng(11).standard_normal(192 * 160)
    law = PUBLISHED["bert"](192, 160)[0]
    assert p_entries(entries, law) < LEVEL
    assert np.abs(entries).max() > law.support()[1]


def test_biases_have_the_published_law():
    """Two checks, with as many heads as it takes."""
    weights = sample_projections(
        INITIALIZERS["linear_bias"], 4, 20_000, rng=np.random.default_rng(12)
    )
    for bias in (weights.query_bias, weights.key_bias):
        assert p_entries(bias, uniform(0.5)) >= LEVEL
        assert p_entries(bias * 1.1, uniform(0.5)) < LEVEL


@pytest.mark.parametrize(("cosine", "width"), [(0.0, 5), (0.0, 16), (0.5, 5), (0.75, 16), (0.9, 8)])
def test_the_law_of_the_cosine_between_tokens(cosine, width):
    """Five checks: directions in E - 2 dimensions have cosines 2 Beta - 1."""
    rng = np.random.default_rng(13)
    cosines = np.empty(2_000)
    for draw in range(cosines.size):
        one, other = sample_tokens(2, width, token_cosine=cosine, rng=rng)
        cosines[draw] = one @ other / width
    own = (cosines - cosine) / (1 - cosine)
    law = stats.beta((width - 3) / 2, (width - 3) / 2, -1, 2)
    assert p_entries(own, law) >= LEVEL
    if cosine:
        assert p_entries(cosines, law) < LEVEL


@pytest.mark.parametrize("name", ["gpt2", "t5", "mup"])
@pytest.mark.parametrize("part", ["query", "key"])
def test_one_token_has_chi_square_queries_and_keys(name, part):
    """Six checks: if all tokens are one, squares of normal components are all there is."""
    width, d_k, n_draws = 8, 16, 400
    measured = sample_logit_variances(
        INITIALIZERS[name],
        width,
        d_k,
        n_draws=n_draws,
        n_tokens=2,
        token_cosine=1,
        rng=np.random.default_rng(14),
    )
    assert measured.mean.within_row == pytest.approx(0, abs=1e-24)
    freedom = n_draws * d_k
    variance = width * PUBLISHED[name](width, d_k)[part == "key"].var()

    def p_value(expected: float) -> float:
        tail = stats.chi2.cdf(freedom * getattr(measured.mean, part) / expected, freedom)
        return 2 * min(tail, 1 - tail)

    assert p_value(variance) >= LEVEL
    assert p_value(1.2 * variance) < LEVEL
    assert p_value(variance / 1.2) < LEVEL


# measured variances


def p_values(measured, predicted, n_draws: int) -> np.ndarray:
    """Student's two-sided p-value for each of the five."""
    z = (np.array(measured.mean) - np.array(predicted)) / np.array(measured.standard_error)
    return 2 * stats.t.sf(np.abs(z), n_draws - 1)


@pytest.mark.not_for_mutants
@pytest.mark.parametrize(
    ("name", "width", "d_k"),
    [(name, width, d_k) for name, width, d_k, *_ in BY_HAND if width < 2000],
)
def test_measured_at_the_widths_of_real_models(name, width, d_k):
    """Sixty checks, each of which would notice five percent.

    One more token costs less than one more draw of the weights and averages as much. A draw's
    mean squares have relative standard deviations of three percent at most, and less in wider
    heads, so that five percent are eleven standard errors or more.
    """
    n_draws = 40 if d_k == 64 else 25
    measured = sample_logit_variances(
        INITIALIZERS[name], width, d_k, n_draws=n_draws, n_tokens=128, rng=np.random.default_rng(20)
    )
    predicted = np.array(predict_variances(INITIALIZERS[name], width, d_k))
    assert (p_values(measured, predicted, n_draws) >= LEVEL).all()
    assert (p_values(measured, 1.05 * predicted, n_draws) < LEVEL).all()
    assert (p_values(measured, 0.95 * predicted, n_draws) < LEVEL).all()


@pytest.mark.not_for_mutants
@pytest.mark.parametrize(
    "cosine",
    [0.5, *(pytest.param(c, marks=pytest.mark.proof("examples")) for c in (0.25, 0.75, 0.9))],
)
@pytest.mark.parametrize("plan", [INITIALIZERS["t5"], QUERY_BIASED, KEY_BIASED], ids=repr)
def test_measured_with_tokens_that_share_a_direction(plan, cosine):
    """Sixty checks; forgetting the direction or where a bias counts is noticed."""
    width, d_k, n_draws = 64, 32, 1_000
    measured = sample_logit_variances(
        plan,
        width,
        d_k,
        n_draws=n_draws,
        n_tokens=16,
        token_cosine=cosine,
        rng=np.random.default_rng(21),
    )
    predicted = predict_variances(plan, width, d_k, token_cosine=cosine)
    assert (p_values(measured, predicted, n_draws) >= LEVEL).all()
    marginal = predicted._replace(within_row=predicted.logit)
    assert p_values(measured, marginal, n_draws)[-1] < LEVEL
    if plan is KEY_BIASED:
        seen = predicted._replace(within_row=predicted.logit * (1 - cosine))
        assert p_values(measured, seen, n_draws)[-1] < LEVEL
    if plan is QUERY_BIASED:
        factor = 64 * 0.25 / predicted.query
        unseen = predicted._replace(within_row=predicted.within_row * factor)
        assert p_values(measured, unseen, n_draws)[-1] < LEVEL


@pytest.mark.not_for_mutants
@pytest.mark.parametrize(
    ("name", "mistaken_for"),
    [
        ("multihead_attention", "xavier_square"),
        ("xavier_square", "xavier_head"),
        ("linear", "multihead_attention"),
        ("bert", "gpt2"),
        ("mup", "t5"),
    ],
)
def test_an_initializer_is_not_taken_for_another(name, mistaken_for):
    measured = sample_logit_variances(
        INITIALIZERS[name], 96, 24, n_draws=100, n_tokens=24, rng=np.random.default_rng(22)
    )
    right, wrong = (predict_variances(INITIALIZERS[n], 96, 24) for n in (name, mistaken_for))
    assert p_values(measured, right, 100)[3] >= LEVEL
    assert p_values(measured, wrong, 100)[3] < LEVEL


@pytest.mark.not_for_mutants
def test_the_number_of_checks():
    """Entries, biases, cosines, single tokens, real widths, shared directions, mistakes, signs."""
    real = sum(width < 2000 for _, width, *_ in BY_HAND)
    assert 20 + 2 + 5 + 6 + 5 * real + 5 * 12 + 5 + 2 <= CHECKS


# tokens and LayerNorm


@pytest.mark.parametrize("cosine", [0, 0.3, 1])
def test_tokens_are_outputs_of_layer_norm(cosine):
    tokens = sample_tokens(6, 40, token_cosine=cosine, rng=np.random.default_rng(30))
    assert tokens.shape == (6, 40)
    assert_allclose((tokens**2).sum(-1), 40, rtol=1e-13)
    assert_allclose(tokens.mean(-1), 0, atol=1e-14)
    if cosine == 1:
        assert_allclose(tokens - tokens[0], 0, atol=1e-13)
    else:
        gaps = [np.abs(a - b).max() for a, b in itertools.combinations(tokens, 2)]
        assert min(gaps) > 0.1


def test_what_tokens_share_is_orthogonal_to_the_rest():
    """The same draws with and without the shared direction tell it and the rest apart."""
    without, half, only = (
        sample_tokens(4, 9, token_cosine=c, rng=np.random.default_rng(31)) for c in (0, 0.25, 1)
    )
    assert_allclose(half, 0.5 * only + math.sqrt(0.75) * without, atol=1e-14)
    assert_allclose((only * without).sum(-1), 0, atol=1e-13)


@pytest.mark.parametrize("cosine", [0, 1])
def test_tokens_are_as_likely_as_their_negatives(cosine):
    """Two checks: the largest component is as often positive as negative."""
    rng = np.random.default_rng(33)
    tokens = np.array([sample_tokens(1, 30, token_cosine=cosine, rng=rng)[0] for _ in range(400)])
    positive = int((tokens.max(-1) > -tokens.min(-1)).sum())
    assert stats.binomtest(positive, len(tokens), 0.5).pvalue >= LEVEL


def test_unless_told_otherwise_tokens_share_no_direction_and_there_are_64():
    draw = lambda **more: sample_tokens(3, 8, rng=np.random.default_rng(34), **more)  # noqa: E731
    assert_array_equal(draw(), draw(token_cosine=0))
    measure = lambda **more: sample_logit_variances(  # noqa: E731
        INITIALIZERS["gpt2"], 8, 2, n_draws=2, rng=np.random.default_rng(35), **more
    )
    assert measure() == measure(n_tokens=64, token_cosine=0)
    assert measure() != measure(n_tokens=63) != measure(n_tokens=65)


def test_the_least_numbers_of_tokens():
    predicted = predict_variances(INITIALIZERS["gpt2"], 1, 1, n_tokens=2)
    assert predicted == predict_variances(INITIALIZERS["gpt2"], 1, 1)
    measured = sample_logit_variances(
        INITIALIZERS["gpt2"], 3, 1, n_draws=2, n_tokens=2, rng=np.random.default_rng(36)
    )
    assert min(measured.mean) > 0


def test_the_narrowest_tokens():
    tokens = sample_tokens(1, 3, token_cosine=0.5, rng=np.random.default_rng(32))
    assert (tokens**2).sum() == pytest.approx(3)


@pytest.mark.parametrize(
    "x",
    [
        [[1.0, 2.0, 4.0], [-3.0, 0.0, 0.5]],
        [5.0, 5.0, 5.0, 5.5],
        [-4.0, -1.0, -2.0],
        [[[1e300, -1.7e308], [1e-300, 3e-300]]],
        [0.0, 5e-324, 0.0],
        [-1e-200, -2e-200, 4e-200],
        [3, 1, 4, 1, 5],
    ],
)
def test_layer_norm_by_its_definition(x):
    result = layer_norm(x)
    assert result.dtype == np.float64
    for row, values in zip(
        np.reshape(x, (-1, np.shape(x)[-1])).tolist(),
        result.reshape(-1, result.shape[-1]),
        strict=True,
    ):
        numbers = [oracles.MP.mpf(v) for v in row]
        mean = oracles.MP.fsum(numbers) / len(row)
        root = oracles.MP.sqrt(oracles.MP.fsum((v - mean) ** 2 for v in numbers) / len(row))
        assert_allclose(values, [float((v - mean) / root) for v in numbers], atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_layer_norm_keeps_the_type(dtype):
    x = np.array([[1, 2, 3, 6], [-6e4, 0, 1, 6e4]], dtype)
    result = layer_norm(x)
    assert result.dtype == dtype
    assert_allclose(result, layer_norm(x.astype(float)), atol=4 * np.finfo(dtype).eps)
    assert_array_equal(x[0], [1, 2, 3, 6])


def test_layer_norm_of_no_vectors():
    assert layer_norm(np.zeros((0, 3))).shape == (0, 3)


# what is refused


def test_the_laws_are_checked():
    std = fixed(1.0)
    with pytest.raises(ValueError, match=r"distribution must be one of .*; got 'cauchy'"):
        EntryLaw("cauchy", std)
    with pytest.raises(TypeError, match=r"std must be callable with the width and d_k; got 0\.02"):
        EntryLaw("normal", 0.02)
    law = EntryLaw("normal", std)
    with pytest.raises(ValueError, match="scale must not be negative"):
        Initializer("backwards", law, law, "none", scale=-1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        law.distribution = "uniform"
    with pytest.raises(TypeError, match="does not support item assignment"):
        INITIALIZERS["mine"] = INITIALIZERS["gpt2"]


@pytest.mark.parametrize("part", ["query", "key", "query_bias", "key_bias"])
@pytest.mark.parametrize(
    ("std", "error", "shown"),
    [
        (-0.1, ValueError, "-0.1 at width 8, d_k 4"),
        (1.1e30, ValueError, "1.1e[+]30 at width 8, d_k 4"),
        (math.nan, ValueError, "nan"),
        ("0.02", TypeError, "'0.02'"),
    ],
)
def test_the_standard_deviation_is_checked_when_it_is_known(part, std, error, shown):
    law = EntryLaw("uniform", fixed(std))
    plan = dataclasses.replace(INITIALIZERS["gpt2"], **{part: law})
    for call in (
        lambda: predict_variances(plan, 8, 4),
        lambda: sample_projections(plan, 8, 4, rng=np.random.default_rng(0)),
    ):
        with pytest.raises(error, match=rf"std must .*; got .*{shown}"):
            call()


def test_the_largest_standard_deviation_does_no_harm():
    law = EntryLaw("normal", fixed(1e30))
    plan = Initializer("huge", law, law, "none", query_bias=law, key_bias=law)
    measured = sample_logit_variances(plan, 300, 8, n_draws=2, rng=np.random.default_rng(0))
    assert np.isfinite(measured.mean).all()
    assert np.isfinite(predict_variances(plan, 300, 8)).all()


@pytest.mark.parametrize("scale", [1e200, 1e300])
def test_a_scale_that_is_too_large(scale):
    plan = dataclasses.replace(INITIALIZERS["xavier_square"], scale=scale)
    message = "initializer must give finite variances; got (inf|nan) for logit"
    with pytest.raises(ValueError, match=message):
        predict_variances(plan, 512, 64)
    with pytest.raises(ValueError, match=message):
        sample_logit_variances(plan, 512, 64, n_draws=2, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    "scale",
    [
        scaling.query_key_norm(),
        scaling.soft_cap(50),
        scaling.query_temperature(2).with_gains(query_gain=[0.0, 1.0]),
    ],
    ids=repr,
)
def test_what_is_more_than_a_multiplier_is_not_predicted(scale):
    plan = dataclasses.replace(INITIALIZERS["gpt2"], scale=scale)
    with pytest.raises(ValueError, match=r"initializer must multiply all scores by one .*; got Sc"):
        predict_variances(plan, 8, 2)
    assert sample_logit_variances(plan, 8, 2, n_draws=2, rng=np.random.default_rng(0)).mean.logit


def test_every_initializer_names_itself_and_its_source():
    names = {plan.name for plan in INITIALIZERS.values()}
    assert len(names) == len(INITIALIZERS) == len(PUBLISHED) == 10
    for key, plan in INITIALIZERS.items():
        assert repr(plan) == f"Initializer(name={plan.name!r})", key
        assert any(part in plan.source for part in ("/", "20")), key
