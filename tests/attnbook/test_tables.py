"""tables.py: what calls returned that take long is what they return, and other calls are made."""

from __future__ import annotations

import ast
import hashlib
import json
from importlib import import_module

import numpy as np
import pytest

import attnlib
from attnbook import tables
from attnbook.gradients import computed as gradients
from attnbook.tables import recorded
from tools import tables as command

pytestmark = pytest.mark.not_for_mutants

CALLS: dict[str, list] = json.loads(tables.TABLE.read_text("utf-8"))["calls"]
CHAOTIC = "training.both_trained("
"""A wide undivided head, in row 0, lets the last bits of another processor grow."""


@pytest.fixture(autouse=True)
def _committed_table():
    """Forget what a test has computed."""
    yield
    tables.kept.cache_clear()


def make(call: str) -> np.ndarray:
    """Make a call that the table names."""
    name, _, arguments = call.removesuffix(")").partition("(")
    module, _, function = name.partition(".")
    made = getattr(import_module(f"attnbook.{module}.computed"), function)
    return np.array(made(*ast.literal_eval(f"({arguments},)")))


def assert_same(call: str, made: np.ndarray, stored: list) -> None:
    """Compare what a call gives now with what the table has."""
    print(f"made again: {call}")
    kept = np.array(stored)
    assert made.shape == kept.shape
    if call.startswith(CHAOTIC):
        assert np.allclose(made[0], kept[0], rtol=0.5, atol=0.1)
        made, kept = made[1:], kept[1:]
    assert np.allclose(made, kept, rtol=1e-4, atol=1e-12)


def test_a_call_drawn_from_the_table_is_made_again():
    digest = hashlib.sha256(tables.TABLE.read_bytes() + attnlib.__version__.encode()).digest()
    call = list(CALLS)[int.from_bytes(digest) % len(CALLS)]
    assert_same(call, make(call), CALLS[call])


@pytest.mark.proof("retraining")
def test_the_command_makes_this_table_and_nothing_else():
    made = command.make_calls()
    assert made.keys() == CALLS.keys()
    for call, value in made.items():
        assert_same(call, np.array(value), CALLS[call])


def test_a_wrong_number_and_a_wrong_shape_are_noticed():
    call = "gradients.start_medians(16, 4, 16000)"
    right = make(call)
    assert_same(call, right, CALLS[call])
    for wrong in ((1 + 2e-4) * right, right[:1]):
        with pytest.raises(AssertionError):
            assert_same(call, wrong, CALLS[call])


def test_a_call_that_the_table_has_is_not_made(monkeypatch, capsys):
    call = "gradients.start_medians(16, 4, 16000)"
    monkeypatch.setattr(gradients, "lengths", None)
    found = recorded(gradients.start_medians, 16, 4, 16000)
    assert found.tolist() == CALLS[call]
    found[:] = 0  # changes nothing that is kept
    assert recorded(gradients.start_medians, 16, 4, 16000).tolist() == CALLS[call]
    assert capsys.readouterr().out == ""


def test_another_call_is_made_and_says_so(capsys):
    expected = gradients.start_medians(16, 4, 10)
    assert recorded(gradients.start_medians, 16, 4, 10).tolist() == expected.tolist()
    assert capsys.readouterr().out == (
        "computed now, as data/tables.json does not have it: gradients.start_medians(16, 4, 10)\n"
    )
    assert recorded(gradients.start_medians, 16, 4, 10).tolist() == expected.tolist()
    assert capsys.readouterr().out == ""


def test_no_notebook_computes_what_the_table_should_have():
    paths = [*command.ROOT.glob("chapters/*.ipynb")]
    assert len(paths) > len(command.notebooks()) > 2
    assert [path.name for path in paths if "computed now, as" in path.read_text("utf-8")] == []


def test_the_table_says_how_it_was_made_and_is_small():
    text = tables.TABLE.read_text("utf-8")
    assert command.text(CALLS).partition('"versions"')[0] == text.partition('"versions"')[0]
    assert json.loads(command.text(CALLS))["calls"] == CALLS
    assert json.loads(text)["command"] == "make tables"
    assert len(text) < 30_000


def test_numbers_are_rounded_to_six_digits():
    assert command.rounded(np.array([[1.23456789, 1e-12 / 3], [0, 2]])) == [
        [1.23457, 3.33333e-13],
        [0.0, 2.0],
    ]
