"""The table of the small language model is what its command makes."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from attnbook.language_model.computed import NOT_DIVIDED, UNIT, Sweep
from tests.book.building import checked_by
from tests.book.notebooks import ROOT

TABLE = ROOT / "data" / "language.json"
COMPARED = ("rule", "initial", "d_k", "as_in_practice")


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.proof("retraining")
def test_the_beginnings_of_two_runs_come_out_again_and_another_table_does_not(
    table: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    files = [TABLE]
    for rule, initial in (("1", "N(0, 0.02²)"), ("1/√dₖ", "unit variance")):
        changed = copy.deepcopy(table)
        (entry,) = (
            each
            for each in changed["settings"]
            if [each[name] for name in COMPARED] == [rule, initial, 128, True]
        )
        entry["loss"][0][1] += 0.5
        files.append(tmp_path / f"{len(files)}.json")
        files[-1].write_text(json.dumps(changed), encoding="utf-8")
    said, errors = checked_by("sweep-language", files, tmp_path_factory)
    verdicts = re.findall("which (agrees|does NOT agree) within", said)
    yes, no = "agrees", "does NOT agree"
    assert verdicts == [yes, yes, no, yes, yes, no], said + errors
    assert "Error 2" in errors  # of three tables, two do not agree


def test_every_setting_has_its_best_rate_and_its_seeds(table: dict[str, Any]) -> None:
    assert not set(table["tuning seeds"]) & set(table["reported seeds"])
    assert len({tuple(entry[name] for name in COMPARED) for entry in table["settings"]}) == len(
        table["settings"]
    )
    for entry in table["settings"]:
        rates = {float(rate): loss for rate, loss in entry["tuning"].items()}
        best = min(rates, key=rates.__getitem__)
        assert entry["rate"] == best
        assert min(rates) < best < max(rates), "a neighbor on both sides"
        assert all(high == 2 * low for low, high in zip(rates, list(rates)[1:], strict=False))
        assert len(entry["loss"]) == len(entry["spread"]) == len(table["reported seeds"])
        assert all(len(losses) == len(entry["steps"]) for losses in entry["loss"])


def test_the_rule_changes_the_first_spread_by_its_factor_alone(table: dict[str, Any]) -> None:
    """A seed draws the same weights for every rule; the first layer sees the same tokens."""
    first = {
        tuple(entry[name] for name in COMPARED): np.array(
            entry["first seed"]["inspected"]["0"][0]["spread"]
        )
        for entry in table["settings"]
    }
    pairs = [(name, first["1/√dₖ", *name[1:]]) for name in first if name[0] in ("1", "1/dₖ")]
    assert pairs
    for (rule, *rest), divided in pairs:
        d_k = rest[1]
        factor = np.sqrt(d_k) if rule == "1" else 1 / np.sqrt(d_k)
        assert_allclose(first[rule, *rest], factor * divided, rtol=1e-3)


def test_the_page_finds_runs_by_their_names(table: dict[str, Any]) -> None:
    sweep = Sweep(str(TABLE))
    for entry in table["settings"]:
        name = [entry[key] for key in COMPARED[:3]]
        how = entry["as_in_practice"]
        assert sweep.last(*name, in_practice=how).tolist() == [run[-1] for run in entry["loss"]]
        if how:
            spreads = [run["600"] for run in entry["spread"]]
            assert_allclose(sweep.spread(*name, step=600), sum(spreads) / len(spreads))
    first = next(one for one in table["settings"] if one["rule"] == NOT_DIVIDED)
    found = first["first seed"]
    upper, lower = (layer["top weight"][0] for layer in found["inspected"]["300"])
    assert_allclose(sweep.inside(NOT_DIVIDED, UNIT, "top weight", step=300), (upper + lower) / 2)
    assert sweep.inside(NOT_DIVIDED, UNIT, "top weight", step=300, layer=1) == lower
    norms = found["gradients"]["300"]["values"]
    assert_allclose(
        sweep.gradient(NOT_DIVIDED, UNIT, "values", step=300) ** 2, norms[0] ** 2 + norms[1] ** 2
    )
    assert sweep.gradient(NOT_DIVIDED, UNIT, "values", step=300, layer=0) == norms[0]
    assert sweep.baseline("pairs") == table["without a model"]["pairs"]
    practiced = [one for one in table["settings"] if one["as_in_practice"]]
    assert sum(len(losses) for _, losses in sweep.by_rule().values()) == len(practiced)
    assert len(sweep.ends_below(1e9, 128)) == sum(one["d_k"] == 128 for one in practiced)
    assert sweep.ends_below(0, 128) == []
    ends = {}
    for one in practiced:
        if one["d_k"] == 64:
            mean_loss = sum(run[-1] for run in one["loss"]) / len(one["loss"])
            ends[mean_loss] = sum(run["0"] for run in one["spread"]) / len(one["spread"])
    assert_allclose(sweep.best_spread(64), ends[min(ends)])
