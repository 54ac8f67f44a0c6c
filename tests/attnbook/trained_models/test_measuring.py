"""What is measured of rows and of qualities, against plain loops and SciPy."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from attnbook.trained_models.measuring.antiberty import translate
from attnbook.trained_models.measuring.ocr import edits
from attnbook.trained_models.measuring.rows import (
    FEWEST,
    Rows,
    critical_scales,
    row_statistics,
    verdicts,
)
from attnbook.trained_models.measuring.scales import compared, multiples, ratio_and_error

pytestmark = pytest.mark.not_for_mutants


def one_row(query: np.ndarray, keys: np.ndarray) -> dict[str, float]:
    """Measure one row over the keys that it sees, in the words of its definition."""
    logits = np.array([query @ key for key in keys]) / math.sqrt(len(query))
    weights = special.softmax(logits)
    behind = sorted(max(logits) - logits)
    lengths = [np.linalg.norm(key - keys.mean(axis=0)) for key in keys]
    around = math.sqrt(sum(length**2 for length in lengths) / len(keys))
    return {
        "spread": float(np.std(logits)),
        "law": float(np.linalg.norm(query)) * around / len(query),
        "top": max(weights),
        "positions": math.exp(stats.entropy(weights)),
        "sharp": float(max(weights) > 0.9),
        "above": float(all(math.log(count) < t for count, t in enumerate(behind[1:], 2))),
    }


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [1.0, 2.5])
def test_each_row_is_measured_as_it_is_defined(causal: bool, size: float) -> None:
    rng = np.random.default_rng(511)
    query, key = size * rng.standard_normal((2, 3, 24, 8)) + 0.3
    measured = row_statistics(query, key, causal=causal)
    rows = [row for row in range(24) if not causal or row + 1 >= FEWEST]
    assert measured["spread"].shape == (3, len(rows))
    for head, (place, row) in product(range(3), enumerate(rows)):
        end = row + 1 if causal else 24
        for words, first in (("", 0), (" of the rest", 1)):
            for name, value in one_row(query[head, row], key[head, first:end]).items():
                assert measured[name + words][head, place] == pytest.approx(value), name
        assert measured["keys"][head, place] == end
        assert measured["query"][head, place] == pytest.approx(np.linalg.norm(query[head, row]))
        assert measured["key"][head, place] == pytest.approx(np.linalg.norm(key[head, row]))
        weights = special.softmax(query[head, row] @ key[head, :end].T / math.sqrt(8))
        assert measured["first"][head, place] == pytest.approx(weights[0])


def test_means_are_over_all_rows_of_all_inputs() -> None:
    rng = np.random.default_rng(512)
    inputs = [rng.standard_normal((2, 2, count, 8)) for count in (20, 31)]
    rows = Rows()
    for layer in (1, 0):
        for query, key in inputs:
            rows.add(layer, (layer + 1) * query, key)
    columns = rows.columns()
    assert columns["layer"] == [0, 0, 1, 1]
    assert columns["head"] == [0, 1, 0, 1]
    for place, (layer, head) in enumerate(product((0, 1), (0, 1))):
        spreads = [
            one_row((layer + 1) * q, key[head])["spread"]
            for query, key in inputs
            for q in query[head]
        ]
        assert columns["spread"][place] == pytest.approx(np.mean(spreads), rel=1e-3)


def test_the_law_holds_where_directions_are_independent_and_fails_where_they_are_not() -> None:
    """Of 200 rows with 200 keys the mean is within four standard errors, which are below 1%."""
    rng = np.random.default_rng(513)
    query, key = rng.standard_normal((2, 1, 200, 64))
    measured = row_statistics(query, key)
    assert measured["spread"].mean() == pytest.approx(measured["law"].mean(), rel=0.03)
    narrow = query * (np.arange(64) < 4), key * (1 + 3 * (np.arange(64) < 4))
    measured = row_statistics(*narrow)
    assert measured["spread"].mean() > 1.5 * measured["law"].mean()


def test_above_its_critical_scale_a_key_takes_over() -> None:
    """The bounds of the theorem, from the scale that is computed here."""
    rng = np.random.default_rng(514)
    logits = rng.standard_normal((50, 40)) * 3
    scales = critical_scales(logits, np.ones((50, 40), dtype=bool))
    for row, scale in zip(logits, scales, strict=True):
        for times in (1.5, 2.0, 4.0):
            assert special.softmax(times * scale * row).max() >= 1 - 1 / times
    few = critical_scales(logits, np.arange(40) < 10)
    assert few == pytest.approx(critical_scales(logits[:, :10], np.ones((50, 10), dtype=bool)))


def test_diagnose_sees_the_mask() -> None:
    rng = np.random.default_rng(515)
    query, key = rng.standard_normal((2, 2, 30, 16))
    assert verdicts(query, key, causal=True) == ["as usual", "as usual"]
    assert verdicts(query / 4, key) == ["divided twice, that is by d_k"] * 2


@pytest.mark.parametrize("d_k", [15, 32, 64])
def test_nine_multiples_lie_between_none_and_no_division(d_k: int) -> None:
    tried = multiples(d_k)
    assert len(tried) == 9
    assert tried == sorted(tried)
    assert (tried[0], tried[-1]) == (0, math.sqrt(d_k))
    assert {1.0, 1 / math.sqrt(d_k)} <= set(tried)


def test_errors_of_equal_units_are_those_of_a_mean() -> None:
    rng = np.random.default_rng(516)
    one, other = rng.standard_normal((2, 40))
    found = compared({1.0: one, 2.0: other}, np.ones(40))
    expected = {
        "mean": [one.mean(), other.mean()],
        "error": [stats.sem(one), stats.sem(other)],
        "difference": [0, (other - one).mean()],
        "paired error": [0, stats.sem(other - one)],
    }
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-3)


def test_the_error_of_a_ratio_is_that_of_the_jackknife() -> None:
    rng = np.random.default_rng(517)
    sizes = rng.integers(5, 15, 400).astype(float)
    sums = sizes * 2 + rng.standard_normal(400)
    ratio, error = ratio_and_error(sums, sizes)
    left = (sums.sum() - sums) / (sizes.sum() - sizes)
    jackknife = math.sqrt(399 / 400 * ((left - left.mean()) ** 2).sum())
    assert ratio == pytest.approx(sums.sum() / sizes.sum())
    assert error == pytest.approx(jackknife, rel=0.01)


@pytest.mark.parametrize(
    ("one", "other", "count"), [("", "abc", 3), ("kitten", "sitting", 3), ("√d", "√d", 0)]
)
def test_edits_are_counted(one: str, other: str, count: int) -> None:
    assert edits(one, other) == edits(other, one) == count


def test_genes_are_read_in_threes() -> None:
    # the begin of a light chain, and one of each amino acid that has a single codon
    assert translate("GACATCCAGATGACCCAGTCTCC") == "DIQMTQS"
    assert translate("ATGTGGTAA") == "MW*"
