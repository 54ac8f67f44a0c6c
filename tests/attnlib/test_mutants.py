"""No formula of the package can be changed without some test failing.

mutation.py says how the mutants are made and run. A mutant that no test can tell from the
original is listed below under the reason; an entry that is no longer needed is an error too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

pytestmark = pytest.mark.not_for_mutants

HERE = Path(__file__).parent


class Mutants:
    """One class for each module, so that the workers of a parallel run share them out."""

    module: ClassVar[str]
    least: ClassVar[int]
    """How many mutants there are at least; a generator that finds fewer is broken."""
    equivalent: ClassVar[dict[str, list[str]]]

    def test_every_mutant_is_noticed(self):
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("COV_", "COVERAGE_", "PYTEST_"))
        }
        result = subprocess.run(
            [sys.executable, str(HERE / "mutation.py"), self.module],
            capture_output=True,
            text=True,
            check=False,
            cwd=HERE.parents[1],
            # one thread, so that forking is safe
            env=environment | {"OPENBLAS_NUM_THREADS": "1"},
        )
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        report = json.loads(result.stdout.splitlines()[-1])
        count, survivors = report["count"], set(report["survivors"])
        listed = {change for changes in self.equivalent.values() for change in changes}
        noticed = f"{count - len(survivors)} of {count} mutants of {self.module}.py noticed"
        unnoticed = sorted(survivors - listed)
        assert not unnoticed, f"{noticed}; not, and not listed as equivalent: {unnoticed}"
        stale = sorted(listed - survivors)
        assert not stale, f"{noticed}; listed as equivalent but noticed or gone: {stale}"
        assert count >= self.least, noticed
        print(noticed)


class TestSoftmaxMutants(Mutants):
    module = "softmax"
    least = 70
    equivalent: ClassVar = {
        "where a weight is 0 its logarithm is multiplied by it": [
            "entropy: np.zeros_like -> np.ones_like",
        ],
    }


class TestAttentionMutants(Mutants):
    module = "attention"
    least = 100
    equivalent: ClassVar = {
        "in a fully masked row -inf less any number is -inf, and 0 over any number is 0": [
            (
                "scaled_dot_product_attention: peak[np.isneginf(peak)] = 0 -> "
                "peak[np.isneginf(peak)] = 1"
            ),
            (
                "scaled_dot_product_attention: peak[np.isneginf(peak)] = 0 -> "
                "peak[np.isneginf(peak)] = -1"
            ),
            "scaled_dot_product_attention: total[total == 0] = 1 -> total[total == 0] = 2",
        ],
    }


class TestValidationMutants(Mutants):
    module = "_validation"
    least = 80
    equivalent: ClassVar = {
        "no array has fewer than 0 dimensions": ["float_array: 0 -> -1"],
        "a rounded sum that meets the bound exactly may fall on either side": [
            "distribution: np.abs(totals - 1) > allowed -> np.abs(totals - 1) >= allowed",
        ],
    }


class TestScoresMutants(Mutants):
    module = "scores"
    least = 350
    equivalent: ClassVar = {
        "the largest entry of a covariance is positive; what differs is refused either way": [
            "_checked_covariance: np.abs(matrix) -> np.positive(matrix)",
        ],
        "read only once the matrix is known to be square": [
            "_checked_covariance: matrix.shape[0] -> matrix.shape[1]",
            "_checked_covariance: matrix.shape[0] -> matrix.shape[-1]",
        ],
        "the next line refuses a vector as well, in other words": [
            "_checked_covariance: ndim=2 -> ndim=1",
        ],
        "at order 50 and nearby both ways to compute the Bessel function hold": [
            "_log_bessel_k: order < 50 -> order <= 50",
            "_log_bessel_k: order < 50 -> order < 51",
            "_log_bessel_k: order < 50 -> order < 49",
        ],
        "K_0 does not overflow, so its series is computed but never taken": [
            "_log_bessel_k: order or 1.0 -> order or 1.1",
            "_log_bessel_k: order or 1.0 -> order or -1.0",
        ],
        "beyond either number K is 0 in floating point": [
            "_log_bessel_k: 100000000.0 -> 110000000.00000001",
        ],
        "stands where the limit at 0 is taken instead": [
            "score_pdf: np.where(size > 0, size, 1.0) -> np.where(size > 0, size, 1.1)",
        ],
        "the logarithm of Γ(0) is infinite too": [
            (
                "score_pdf: np.inf if d_k == 1 else gammaln(order) + (order - 1) * math.log(2) + "
                "constant -> np.inf if d_k == 0 else gammaln(order) + (order - 1) * math.log(2) + "
                "constant"
            ),
        ],
        "more effort or accuracy than the integral needs": [
            "score_sf: limit=200 -> limit=220",
            "score_sf: epsabs=0 -> epsabs=-1",
            "score_sf: 1e-10 + 1e-14 * d_k -> 1.1000000000000001e-10 + 1e-14 * d_k",
            "score_sf: 1e-14 * d_k -> 1.1e-14 * d_k",
        ],
        "only a hint where to split the integral": ["score_sf: heights.argmax -> heights.argmin"],
        "the range of integration has room: what is cut off is below exp(-50) of the top": [
            "score_sf: inside[-1] -> inside[-2]",
            (
                "score_sf: 0.0 if inside[0] == grid[0] else inside[0] -> "
                "0.0 if inside[0] == grid[0] else inside[1]"
            ),
            "score_sf: heights > top - 60 -> heights >= top - 60",
            "score_sf: heights > top - 60 -> heights > top - 61",
            "score_sf: heights > top - 60 -> heights > top - 59",
            "score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 13, 4001)",
            "score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 11, 4001)",
            "score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 12, 4401)",
            "score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-13, 12, 4001)",
            "score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-11, 12, 4001)",
            "score_sf: math.hypot(d_k, 2 * score) -> math.hypot(d_k, 3 * score)",
            "score_sf: math.hypot(d_k, 2 * score) -> math.hypot(d_k, 1 * score)",
        ],
        "the tail is 0 in floating point on both sides of the shortcut": [
            "score_sf: score > 0.3 * d_k + 1500 -> score >= 0.3 * d_k + 1500",
            "score_sf: 0.3 * d_k + 1500 -> 0.3 * d_k + 1650",
            "score_sf: 0.3 * d_k + 1500 -> 0.33 * d_k + 1500",
        ],
    }


class TestSaturationMutants(Mutants):
    module = "saturation"
    least = 120
    equivalent: ClassVar = {
        "more effort or accuracy than the integral needs": [
            "expected_maximum: limit=200 -> limit=220",
            "expected_maximum: epsabs=1e-12 -> epsabs=1.1000000000000002e-12",
        ],
        "the range of integration has room, and its points are hints": [
            "expected_maximum: [0.0, peak] -> [1.0, peak]",
            "expected_maximum: peak + 9.0 -> peak + 9.9",
            (
                "expected_maximum: quad(integrand, -9.0, peak + 9.0, points=[0.0, peak], "
                "epsabs=1e-12, limit=200) -> quad(integrand, -9.9, peak + 9.0, points=[0.0, peak], "
                "epsabs=1e-12, limit=200)"
            ),
            "expected_maximum: 2 * math.log(n) -> 3 * math.log(n)",
            "expected_maximum: 2 * math.log(n) -> 1 * math.log(n)",
            "expected_maximum: math.log(n) -> math.log1p(n)",
        ],
        "the last of two axes is the second": [
            "sample_row_statistics: axis=-1 -> axis=1",
            "sample_query_gradients: (w * w).sum(-1) -> (w * w).sum(1)",
            "sample_query_gradients: (w * along).sum(-1) -> (w * along).sum(1)",
            "sample_query_gradients: axis=-1 -> axis=1",
        ],
    }
