"""No formula of the package can be changed without some test failing.

mutation.py says how the mutants are made and run. A mutant that no test can tell from the
original is listed below under the reason and not run again; an entry without a mutant is an error.
With names of modules alone mutation.py runs them all, so that the lists can be looked through.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.not_for_mutants

HERE = Path(__file__).parent


LEAST = {
    "softmax": 70,
    "attention": 20,
    "_inputs": 60,
    "scaling": 120,
    "blockwise": 120,
    "online": 40,
    "_checks": 70,
    "diagnose": 60,
    "scores": 350,
    "saturation": 60,
    "gradients": 120,
    "initialization": 80,
    "initialization.sampling": 50,
    "training.group_mean": 30,
    "training.optimizers": 50,
    "training._progress": 4,
    "training.model": 150,
    "training.sweep": 80,
}
"""How many mutants a module has at least; a generator that finds fewer is broken."""
EQUIVALENT = {
    "a query of zeros counts as not divided, and so does a larger one than the key": [
        (
            "diagnose._head_verdict: round(-2 * math.log(ratio, d_k)) if d_k > 1 and ratio else 0 "
            "-> round(-2 * math.log(ratio, d_k)) if d_k > 1 and ratio else -1"
        ),
    ],
    "a weight that meets the bound exactly has probability 0": [
        "diagnose.diagnose: weights.max(axis=-1) > SHARP -> weights.max(axis=-1) >= SHARP",
    ],
    "equal logits of a row that does not count": [
        (
            "diagnose.diagnose: np.where(counted[..., None], logits, 0) -> "
            "np.where(counted[..., None], logits, 1)"
        ),
        (
            "diagnose.diagnose: np.where(counted[..., None], logits, 0) -> "
            "np.where(counted[..., None], logits, -1)"
        ),
    ],
    "what hides keys is told of the mask alone": [
        (
            "diagnose.diagnose: check_inputs(query, key, key, attn_mask, False, scale) -> "
            "check_inputs(query, key, key, attn_mask, True, scale)"
        ),
    ],
    "0 over any number is 0, and exp(-inf) is 0": [
        "softmax._softmax_rows: total[total == 0] = 1 -> total[total == 0] = 2",
        "softmax._peaks: peak[np.isneginf(peak)] = 0 -> peak[np.isneginf(peak)] = 1",
        "softmax._peaks: peak[np.isneginf(peak)] = 0 -> peak[np.isneginf(peak)] = -1",
        "blockwise._attend: total[total == 0] = 1 -> total[total == 0] = 2",
        "blockwise._attend: total[tile] + hidden -> total[tile] - hidden",
    ],
    "any number far below 1 and far above the least will do": [
        "blockwise._attend: total[tile] > 0.001 -> total[tile] >= 0.001",
        "blockwise._attend: total[tile] > 0.001 -> total[tile] > 0.0011",
    ],
    "a maximum too many, where the bound is met exactly, costs time only": [
        (
            "blockwise._attend: min(reach, inputs.rule.cap or reach) < limit -> min(reach, "
            "inputs.rule.cap or reach) <= limit"
        ),
    ],
    "the first tile holds more keys than one": [
        "blockwise._attend: [1] * has_bound -> [2] * has_bound",
    ],
    "powers of e, where powers of two stay in the range, cost time only": [
        (
            "blockwise._exponential: 2 * reach < np.finfo(dtype).max -> "
            "2 * reach <= np.finfo(dtype).max"
        ),
        (
            "blockwise._exponential: 2 * reach < np.finfo(dtype).max -> "
            "3 * reach < np.finfo(dtype).max"
        ),
    ],
    "all threads return as many": ["blockwise._carry_back: strict=True -> strict=False"],
    "the largest value counts as 1 at least, and 1 more than the range does not matter": [
        (
            "blockwise._headroom: math.log(np.finfo(value.dtype).max) -> "
            "math.log1p(np.finfo(value.dtype).max)"
        ),
        "blockwise._headroom: initial=0 -> initial=1",
        "blockwise._headroom: initial=0 -> initial=-1",
    ],
    "a mask that hides no key costs time only": [
        "_inputs.hide_keys: offset < logits.shape[-1] - 1 -> offset <= logits.shape[-1] - 1",
        "_inputs.hide_keys: logits.shape[-1] - 1 -> logits.shape[-1] - 0",
        "_inputs.hide_keys: logits.shape[-1] - 1 -> logits.shape[-1] + 1",
    ],
    "the next step brings it into shape": [
        "_inputs._sum_to_shape: keepdims=True -> keepdims=False",
    ],
    "whether a call is causal is not looked at": [
        (
            "online.online_attention: check_inputs(query, key, value, None, False, None) -> "
            "check_inputs(query, key, value, None, True, None)"
        ),
    ],
    "the first step multiplies them by exp of the least number, which is 0": [
        "online._start_sums: np.zeros(shape, dtype) -> np.ones(shape, dtype)",
        "online._start_sums: np.zeros(one_each, dtype) -> np.ones(one_each, dtype)",
        *(
            f"blockwise._attend: {sums} = (0, 0) -> {sums} = {start}"
            for sums in ["total[tile], output[tile]"]
            for start in ("(1, 0)", "(-1, 0)", "(0, 1)", "(0, -1)")
        ),
    ],
    "where a weight is 0 its logarithm is multiplied by it": [
        "softmax._wide_entropy: np.zeros_like -> np.ones_like",
    ],
    "a copy holds the same numbers": [
        "attention.scaled_dot_product_attention: copy=False -> copy=True",
        "attention.scaled_dot_product_attention: copy=False -> copy=True (2)",
        "_inputs.check_cotangent: copy=False -> copy=True",
        "_inputs.check_inputs: copy=False -> copy=True",
        "_inputs.unfold_gradients: copy=False -> copy=True",
        "online.online_attention: copy=False -> copy=True",
        "blockwise.blockwise_attention: copy=False -> copy=True",
        "gradients.sorted_shares: copy=False -> copy=True",
    ],
    "a number is returned as it is, whatever the width": [
        "scaling.scaling_rule: scale_factor(scale, 1) -> scale_factor(scale, 2)",
        "scaling.scaling_rule: scale_factor(scale, 1) -> scale_factor(scale, 0)",
    ],
    "NumPy takes any negative length for the one to find out": [
        (
            "scaling.ScalingRule.fold_query_vjp: (by_log_gain * query).reshape(-1, "
            "query.shape[-1]) -> (by_log_gain * query).reshape(-2, query.shape[-1])"
        ),
    ],
    "a zero vector over any number is zero, and passes nothing on": [
        "scaling._directions: length[length == 0] = 1 -> length[length == 0] = 2",
        "scaling._directions: largest[largest == 0] = 1 -> largest[largest == 0] = 2",
    ],
    "blocks of every size give the same": [
        "online.online_attention: 512 -> 563",
    ],
    "no array has fewer than 0 dimensions": [
        "_checks.float_array: 0 -> -1",
    ],
    "a rounded sum that meets the bound exactly may fall on either side": [
        "_checks.distribution: np.abs(totals - 1) > allowed -> np.abs(totals - 1) >= allowed",
    ],
    "the largest entry of a covariance is positive; what differs is refused either way": [
        "scores._checked_covariance: np.abs(matrix) -> np.positive(matrix)",
    ],
    "read only once the matrix is known to be square": [
        "scores._checked_covariance: matrix.shape[0] -> matrix.shape[1]",
        "scores._checked_covariance: matrix.shape[0] -> matrix.shape[-1]",
    ],
    "the next line refuses a vector as well, in other words": [
        "scores._checked_covariance: ndim=2 -> ndim=1",
    ],
    "at order 50 and nearby both ways to compute the Bessel function hold": [
        "scores._log_bessel_k: order < 50 -> order <= 50",
        "scores._log_bessel_k: order < 50 -> order < 51",
        "scores._log_bessel_k: order < 50 -> order < 49",
    ],
    "K_0 does not overflow, so its series is computed but never taken": [
        "scores._log_bessel_k: order or 1.0 -> order or 1.1",
        "scores._log_bessel_k: order or 1.0 -> order or -1.0",
    ],
    "beyond either number K is 0 in floating point": [
        "scores._log_bessel_k: 100000000.0 -> 110000000.00000001",
    ],
    "is used only where the limit at 0 is taken instead": [
        "scores.score_pdf: np.where(size > 0, size, 1.0) -> np.where(size > 0, size, 1.1)",
    ],
    "the logarithm of Γ(0) is infinite too": [
        (
            "scores.score_pdf: np.inf if d_k == 1 else gammaln(order) + (order - 1) * "
            "math.log(2) + constant -> np.inf if d_k == 0 else gammaln(order) + (order - 1) * "
            "math.log(2) + constant"
        ),
    ],
    "more effort or accuracy than the integral needs": [
        "scores.score_sf: limit=200 -> limit=220",
        "scores.score_sf: epsabs=0 -> epsabs=-1",
        "scores.score_sf: 1e-10 + 1e-14 * d_k -> 1.1000000000000001e-10 + 1e-14 * d_k",
        "scores.score_sf: 1e-14 * d_k -> 1.1e-14 * d_k",
        "saturation.expected_maximum: limit=200 -> limit=220",
        "saturation.expected_maximum: epsabs=1e-12 -> epsabs=1.1000000000000002e-12",
    ],
    "only a hint where to split the integral": [
        "scores.score_sf: heights.argmax -> heights.argmin",
    ],
    "the range of integration has room: what is cut off is below exp(-50) of the top": [
        "scores.score_sf: inside[-1] -> inside[-2]",
        (
            "scores.score_sf: 0.0 if inside[0] == grid[0] else inside[0] -> 0.0 if inside[0] "
            "== grid[0] else inside[1]"
        ),
        "scores.score_sf: heights > top - 60 -> heights >= top - 60",
        "scores.score_sf: heights > top - 60 -> heights > top - 61",
        "scores.score_sf: heights > top - 60 -> heights > top - 59",
        "scores.score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 13, 4001)",
        "scores.score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 11, 4001)",
        "scores.score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-12, 12, 4401)",
        "scores.score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-13, 12, 4001)",
        "scores.score_sf: np.linspace(-12, 12, 4001) -> np.linspace(-11, 12, 4001)",
        "scores.score_sf: math.hypot(d_k, 2 * score) -> math.hypot(d_k, 3 * score)",
        "scores.score_sf: math.hypot(d_k, 2 * score) -> math.hypot(d_k, 1 * score)",
    ],
    "the tail is 0 in floating point on both sides of the shortcut": [
        "scores.score_sf: score > 0.3 * d_k + 1500 -> score >= 0.3 * d_k + 1500",
        "scores.score_sf: 0.3 * d_k + 1500 -> 0.3 * d_k + 1650",
        "scores.score_sf: 0.3 * d_k + 1500 -> 0.33 * d_k + 1500",
    ],
    "the range of integration has room, and its points are hints": [
        "saturation.expected_maximum: [0.0, peak] -> [1.0, peak]",
        "saturation.expected_maximum: peak + 9.0 -> peak + 9.9",
        (
            "saturation.expected_maximum: quad(integrand, -9.0, peak + 9.0, points=[0.0, "
            "peak], epsabs=1e-12, limit=200) -> quad(integrand, -9.9, peak + 9.0, points=[0.0, "
            "peak], epsabs=1e-12, limit=200)"
        ),
        "saturation.expected_maximum: 2 * math.log(n) -> 3 * math.log(n)",
        "saturation.expected_maximum: 2 * math.log(n) -> 1 * math.log(n)",
        "saturation.expected_maximum: math.log(n) -> math.log1p(n)",
    ],
    "the last of two axes is the second": [
        "saturation.sample_row_statistics: axis=-1 -> axis=1",
        "gradients.sample_query_gradients: (w * w).sum(-1) -> (w * w).sum(1)",
        "gradients.sample_query_gradients: (w * along).sum(-1) -> (w * along).sum(1)",
        "gradients.sample_layer_key_gradients: axis=-1 -> axis=1",
        "initialization.sampling._variances_of: axis=-1 -> axis=1",
    ],
    "lengths that are all 0 are 0 relative to any number": [
        (
            "gradients.gradient_statistics: np.where(longest > 0, longest, 1) -> "
            "np.where(longest > 0, longest, 2)"
        ),
    ],
    "a vector and its opposite are equally long": [
        (
            "gradients.sample_layer_key_gradients: received += softmax_vjp(p, "
            "rng.standard_normal(p.shape)).T @ queries -> received -= softmax_vjp(p, "
            "rng.standard_normal(p.shape)).T @ queries"
        ),
    ],
    "a direction drawn uniformly is as likely as the opposite one": [
        (
            "initialization.sampling.sample_tokens: math.sqrt(cosine) * shared + math.sqrt(1 - "
            "cosine) * layer_norm(own) -> math.sqrt(cosine) * shared - math.sqrt(1 - cosine) * "
            "layer_norm(own)"
        ),
    ],
    "a normal number that meets the bound exactly has probability 0": [
        (
            "initialization.sampling._draw: np.abs(entries) > TRUNCATION -> "
            "np.abs(entries) >= TRUNCATION"
        ),
    ],
    "the sum and the mean are infinite together": [
        "training.model._check_finite: array.sum() -> array.mean()",
    ],
    "the range has an end so large that 1 more does not matter": [
        (
            "training.model._loss_and_gradients: np.log(np.finfo(query.dtype).max) -> "
            "np.log1p(np.finfo(query.dtype).max)"
        ),
    ],
    "one more turn, in which nothing is measured and nothing learned": [
        "training.model.train_together: n_steps + 1 -> n_steps + 2",
    ],
    "both are of one length: one was made from the other": [
        "training.sweep._run_group: strict=True -> strict=False",
        "training.sweep._run_group: strict=True -> strict=False (2)",
        "training.sweep._in_parallel: strict=True -> strict=False",
        "training.sweep._in_parallel: strict=True -> strict=False (2)",
        "training.sweep.run_settings: strict=True -> strict=False",
        "training.sweep._tuning_from: strict=True -> strict=False",
    ],
    "all settings of a group have the same task and steps, all seeds the same steps": [
        "training.sweep._run_group: settings[0] -> settings[-1]",
        "training.sweep.run_settings: columns.steps[0] -> columns.steps[-1]",
    ],
}
"""Mutants that no test can tell from the original, by the reason, each behind its module."""
# Modules with tests in common share one run of them.
GROUPS = [
    (
        *("softmax", "attention", "_inputs", "online", "_checks", "scaling", "blockwise"),
        *("scores", "saturation", "gradients", "initialization", "diagnose"),
        "initialization.sampling",
    ),
    (
        *("training.model", "training.group_mean", "training.optimizers", "training._progress"),
        "training.sweep",
    ),
]


def listed(module: str) -> list[str]:
    """Return the mutants of a module that are known to be equivalent."""
    changes = [change.partition(": ") for some in EQUIVALENT.values() for change in some]
    inside = re.compile(rf"{re.escape(module)}\.((?:[A-Z]\w+\.)?\w+)$")
    return sorted(
        f"{found[1]}: {rest}" for name, _, rest in changes if (found := inside.match(name))
    )


@pytest.mark.proof("mutants")
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_every_mutant_is_noticed(group: tuple[str, ...]) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COV_", "COVERAGE_", "PYTEST_"))
    }
    order = {module: listed(module) for module in group}
    result = subprocess.run(
        [sys.executable, str(HERE / "mutation.py"), json.dumps(order)],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parents[1],
        # one thread, so that forking is safe
        env=environment | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    reports = json.loads(result.stdout.splitlines()[-1])
    assert list(reports) == list(group)
    problems = []
    for module, report in reports.items():
        count, unnoticed = report["count"], report["survivors"]
        noticed = f"{count - len(unnoticed) - len(order[module])} of {count} mutants of {module}.py"
        if unnoticed:
            problems.append(f"{noticed} noticed; not, and not listed as equivalent: {unnoticed}")
        if report["unknown"]:
            problems.append(f"{module}: listed as equivalent but gone: {report['unknown']}")
        if count < LEAST[module]:
            problems.append(noticed)
    assert not problems, "\n".join(problems)


def test_every_module_is_in_a_group() -> None:
    assert sorted(module for group in GROUPS for module in group) == sorted(LEAST)


def test_each_mutant_listed_is_of_a_module() -> None:
    known = sum(len(listed(module)) for module in LEAST)
    assert known == sum(map(len, EQUIVALENT.values()))
