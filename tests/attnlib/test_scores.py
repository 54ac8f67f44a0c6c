"""scores.py: the exact law of q·k against forty digits, closed forms and its own moments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, special, stats

from attnlib import general_score_moments, score_moments, score_pdf, score_sf
from attnlib.scores import ScoreMoments

# From the middle of the law to 60 standard deviations, and as near to 0 as 1e-9.
PLACES = (1e-9, 1e-4, 0.3, 1.0, 3.0, 8.0, 20.0, 60.0)
# Order 50 of the Bessel function, where two ways to compute it meet, is d_k = 101.
WIDTHS = (1, 2, 3, 4, 7, 16, 64, 99, 100, 101, 102, 128, 257, 1024, 4096)


def standard(place: float, d_k: int) -> float:
    """Return the raw score that lies `place` standard deviations out."""
    return place if place < 1e-8 else place * math.sqrt(d_k)


@pytest.mark.parametrize("d_k", WIDTHS)
def test_score_pdf_to_forty_digits(d_k):
    for place in PLACES:
        z = standard(place, d_k)
        exact = oracles.log_score_pdf_digits(z, d_k)
        if exact > -700:
            exact = float(oracles.MP.exp(exact))
            accuracy = 2e-13 if d_k < 101 else 3e-11
            assert score_pdf(z, d_k) == pytest.approx(exact, rel=accuracy)
            assert score_pdf(-z, d_k) == score_pdf(z, d_k)


@pytest.mark.not_for_mutants
def test_score_pdf_of_the_widest_head_to_forty_digits():
    for place in (1e-9, 0.3, 1.0, 3.0, 8.0):
        z = standard(place, 16384)
        exact = float(oracles.MP.exp(oracles.log_score_pdf_digits(z, 16384)))
        assert score_pdf(z, 16384) == pytest.approx(exact, rel=3e-11)


@pytest.mark.parametrize("d_k", [101, 102, 110])
def test_score_pdf_where_the_expansion_begins(d_k):
    """Every coefficient of the expansion matters here: at order 50 its error is largest."""
    for place in (1e-9, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0):
        z = standard(place, d_k)
        exact = float(oracles.MP.exp(oracles.log_score_pdf_digits(z, d_k)))
        assert score_pdf(z, d_k) == pytest.approx(exact, rel=3e-11)


@pytest.mark.parametrize("d_k", [2, 3, 50, 100, 101, 102, 1000])
def test_score_pdf_at_zero_is_the_limit(d_k):
    root_pi = oracles.MP.sqrt(oracles.MP.pi)
    limit = float(oracles.MP.gammaprod([(d_k - 1) / 2], [d_k / 2]) / (2 * root_pi))
    assert score_pdf(0.0, d_k) == pytest.approx(limit, rel=1e-12)
    for z in (1e-200, -1e-300):
        # z**ν and K_ν(z) leave the range of floats; their logarithms are rounded to eps each
        rounding = 4 * np.finfo(float).eps * d_k / 2 * abs(math.log(abs(z)))
        assert score_pdf(z, d_k) == pytest.approx(limit, rel=1e-12 + rounding)


def test_score_pdf_of_one_component_has_a_pole():
    assert score_pdf(0.0, 1) == np.inf
    near = score_pdf(1e-100, 1)  # K_0(x) ~ -log(x/2) - γ
    assert near == pytest.approx((100 * math.log(10) + math.log(2) - np.euler_gamma) / math.pi)


@pytest.mark.parametrize("d_k", [1, 2, 64, 100, 101, 4096])
def test_half_of_the_scores_are_positive(d_k):
    assert score_sf(0.0, d_k) == 0.5


@pytest.mark.parametrize("d_k", [1, 2, 64, 100, 101, 4096])
def test_far_out_the_law_vanishes(d_k):
    far = np.array([1e4, 1e8, 1e10, 1e160, 1e300])
    assert score_pdf(far, d_k).tolist() == [0] * 5
    assert score_sf(far, d_k).tolist() == [0] * 5
    assert score_sf(-far, d_k).tolist() == [1] * 5


@pytest.mark.parametrize("d_k", [2, 3, 4, 8, 64, 101, 128])
def test_score_pdf_has_the_moments_of_the_law(d_k):
    def moment(power: int) -> float:
        far = 60 * math.sqrt(d_k)
        points = [math.sqrt(d_k), 5 * math.sqrt(d_k)]
        value, _ = integrate.quad(
            lambda z: z**power * score_pdf(z, d_k), 0, far, points=points, limit=200
        )
        return 2 * value

    variance = moment(2)
    assert moment(0) == pytest.approx(1, rel=1e-9)
    assert variance == pytest.approx(d_k, rel=1e-9)
    assert moment(4) / variance**2 - 3 == pytest.approx(6 / d_k, rel=1e-6)
    assert variance == pytest.approx(score_moments(d_k).variance, rel=1e-9)
    assert moment(4) / variance**2 - 3 == pytest.approx(
        score_moments(d_k).excess_kurtosis, rel=1e-6
    )


def test_two_components_give_the_laplace_law():
    z = np.array([-600.0, -3.0, -1e-9, 0.0, 1e-12, 1e-3, 0.5, 2.0, 40.0, 700.0])
    assert_allclose(score_pdf(z, 2), stats.laplace.pdf(z), rtol=2e-13)
    assert_allclose(score_sf(z, 2), stats.laplace.sf(z), rtol=1e-10)


@pytest.mark.parametrize("d_k", [4, 6, 16, 64, 100, 256, 2048])
def test_score_sf_to_forty_digits(d_k):
    for place in (1e-9, 0.01, 0.3, 1.0, 3.0, 5.0, 8.0, 20.0):
        z = standard(place, d_k)
        exact = oracles.score_sf_digits(z, d_k)
        if exact > 1e-300:
            accuracy = 1e-10
            assert score_sf(z, d_k) == pytest.approx(float(exact), rel=accuracy)
            assert score_sf(-z, d_k) == pytest.approx(float(1 - exact), rel=accuracy)


@pytest.mark.not_for_mutants
def test_score_sf_of_the_widest_head_to_forty_digits():
    for place in (0.01, 1.0, 4.0, 20.0):
        z = standard(place, 16384)
        exact = float(oracles.score_sf_digits(z, 16384))
        assert score_sf(z, 16384) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("d_k", [1, 3, 5, 17, 101])
def test_score_sf_is_the_integral_of_the_density(d_k):
    """For odd d_k, where no finite sum is known."""
    spread = math.sqrt(d_k)
    for place in (1e-6, 0.3, 1.0, 4.0, 12.0):
        z = place * spread
        pieces = [z, z + 0.01 * spread, z + spread, z + 5 * spread, z + 20 * spread + 200]
        exact = sum(
            integrate.quad(score_pdf, a, b, args=(d_k,), epsabs=0, epsrel=1e-12, limit=200)[0]
            for a, b in itertools.pairwise(pieces)
        )
        assert score_sf(z, d_k) == pytest.approx(exact, rel=1e-9)


def test_score_sf_of_one_component_by_its_bessel_integral():
    z = np.array([1e-9, 1e-3, 0.2, 1.0, 4.0])
    assert_allclose(score_sf(z, 1), 0.5 - special.iti0k0(z)[1] / np.pi, rtol=1e-9)


@pytest.mark.parametrize("d_k", [65_536, 10**6, 10**7])
def test_score_sf_of_absurd_widths_is_nearly_normal(d_k):
    places = np.array([-1.0, 0.1, 1.0, 3.0])
    # The first term of Edgeworth's series is the leading correction; 6/d_k is the kurtosis.
    correction = 6 / d_k / 24 * special.eval_hermitenorm(3, places) * stats.norm.pdf(places)
    assert_allclose(
        score_sf(places * math.sqrt(d_k), d_k), stats.norm.sf(places) + correction, rtol=2e-6
    )


@given(st.integers(1, 3000), st.floats(0, 40))
def test_the_tail_is_symmetric_and_falls(d_k, place):
    z = place * math.sqrt(d_k)
    upper = score_sf(z, d_k)
    assert score_sf(-z, d_k) == pytest.approx(1 - upper, abs=1e-12)
    assert 0 <= score_sf(z + 0.1 * math.sqrt(d_k), d_k) <= upper < 0.5 + 1e-10


def test_score_functions_keep_shapes_and_inputs():
    z = np.array([[0, 1, 2], [3, -4, 5]], np.float32)
    before = z.copy()
    for law in (score_pdf, score_sf):
        for value in (law(z, 8), law(z[0].astype(int), 8)):
            assert value.dtype == np.float64
        assert law(z, 8).shape == z.shape
        assert law([], 8).shape == (0,)
        assert law(z, 8)[1, 1] == law(-4.0, 8)
        assert isinstance(law(1.0, 8), float)
    assert_array_equal(z, before)


COMPONENTS = {
    "normal": (3.0, stats.norm()),
    "signs": (1.0, None),
    "uniform": (9 / 5, stats.uniform(-math.sqrt(3), 2 * math.sqrt(3))),
    "laplace": (6.0, stats.laplace(scale=math.sqrt(0.5))),
}


@pytest.mark.parametrize("name_q", COMPONENTS)
@pytest.mark.parametrize("name_k", COMPONENTS)
@pytest.mark.parametrize("d_k", [1, 16])
def test_score_moments_from_the_moments_of_one_product(name_q, name_k, d_k):
    fourth = {}
    for side, name in (("q", name_q), ("k", name_k)):
        stated, law = COMPONENTS[name]
        fourth[side] = 1.0 if law is None else float(law.moment(4))
        assert stated == pytest.approx(fourth[side], rel=1e-9)
    # Cumulants of independent products add up; a product has E = 0, E² = 1, E⁴ = m4·m4.
    fourth_cumulant = d_k * (fourth["q"] * fourth["k"] - 3 * 1**2)
    moments = score_moments(d_k, fourth_moment_q=fourth["q"], fourth_moment_k=fourth["k"])
    assert isinstance(moments, ScoreMoments)
    assert moments.mean == 0
    assert moments.variance == d_k
    assert moments.excess_kurtosis == pytest.approx(fourth_cumulant / d_k**2, rel=1e-12)


def test_score_moments_by_counting_every_sign_pattern():
    d_k = 6
    signs = np.array(np.meshgrid(*[[-1, 1]] * d_k)).reshape(d_k, -1).T
    scores = signs @ np.ones(d_k)  # by symmetry one query stands for all
    moments = score_moments(d_k, fourth_moment_q=1, fourth_moment_k=1)
    assert moments.variance == scores.var()
    assert moments.excess_kurtosis == pytest.approx((scores**4).mean() / scores.var() ** 2 - 3)
    assert score_moments(d_k).excess_kurtosis == 1.0  # 6/d_k


@st.composite
def two_discrete_laws(draw):
    """Two sets of equally likely vectors: all of their moments can be computed by counting."""
    d_k = draw(st.integers(1, 4))
    elements = st.floats(-4, 4).map(lambda x: round(x, 3))
    return tuple(
        draw(hnp.arrays(float, (draw(st.integers(1, 5)), d_k), elements=elements)) for _ in "qk"
    )


@given(two_discrete_laws())
def test_general_moments_by_counting_every_pair(points):
    q, k = points
    scores = (q[:, None, :] * k[None, :, :]).sum(-1)
    cov_q, cov_k = (np.atleast_2d(np.cov(x.T, bias=True)) for x in (q, k))
    mean, variance = general_score_moments(
        cov_q, cov_k, mean_q=q.mean(axis=0), mean_k=k.mean(axis=0)
    )
    assert mean == pytest.approx(scores.mean(), rel=1e-9, abs=1e-9)
    assert variance == pytest.approx(scores.var(), rel=1e-9, abs=1e-9)
    centered = general_score_moments(cov_q, cov_k)
    assert centered == pytest.approx((0, np.trace(cov_q @ cov_k)), rel=1e-9, abs=1e-9)


def test_general_moments_take_a_number_for_a_constant_mean():
    cov_q, cov_k = np.diag([1.0, 2.0]), np.array([[2, 1], [1, 3]], np.float32)
    whole = general_score_moments(cov_q, cov_k, mean_q=[2.0, 2.0], mean_k=[-1.0, -1.0])
    assert general_score_moments(cov_q, cov_k, mean_q=2.0, mean_k=-1) == whole
    assert whole == (-4.0, 2 + 6 + 4 * 7 + 3)
    assert all(isinstance(entry, float) for entry in whole)


def test_covariances_may_be_singular_and_rounded():
    ones = np.ones((3, 3))
    assert general_score_moments(ones, np.eye(3)) == (0, 3)
    slightly_off = np.eye(3)
    slightly_off[0, 1] = 9.5e-9  # one part in 1e8 of the largest entry is rounding
    assert general_score_moments(slightly_off, np.eye(3)) == (0, 3)
    assert general_score_moments(np.diag([1.0, -9.5e-9]), np.eye(2))[1] == pytest.approx(1)
    assert general_score_moments(np.zeros((2, 2)), np.eye(2)) == (0, 0)
