"""The command that measures trained models tells results apart, and repeats its own."""

from __future__ import annotations

import copy
import json

import pytest

from tests.book.notebooks import ROOT
from tools import trained_models
from tools.trained_models import differences, written

TABLE = json.loads((ROOT / "data" / "trained_models.json").read_text(encoding="utf-8"))


def test_a_result_is_compared_with_the_file_to_the_digits_that_count() -> None:
    other = copy.deepcopy(TABLE)
    assert list(differences(TABLE, other)) == []
    other["ocr"]["heads"]["spread"][3] *= 1.001
    assert list(differences(TABLE, other)) == []
    other["ocr"]["heads"]["spread"][3] *= 1.05
    (line,) = differences(TABLE, other)
    assert line.startswith("ocr heads spread 3: ")
    del other["rxnmapper"]["quality"]["confidence"]
    other["antiberty"]["inputs"]["texts"] += 1
    assert len(list(differences(TABLE, other))) == 3


def test_the_file_is_what_the_command_writes() -> None:
    assert (ROOT / "data" / "trained_models.json").read_text(encoding="utf-8") == written(TABLE)


@pytest.mark.proof("trained")
def test_rxnmapper_is_measured_again_with_the_same_result(capsys: pytest.CaptureFixture) -> None:
    """Its package says which maps are right, with their confidences, and these come out as well."""
    status = trained_models.main(["--only", "rxnmapper", "--check"])
    said = capsys.readouterr().out
    assert (status, said.strip()) == (0, "")
