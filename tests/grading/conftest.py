"""What several tests of grading share."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from grading import course
from grading.course import Order
from grading.marking import distribute
from grading.problem_set import problem_sets
from tests.grading.small_class import TINY


@pytest.fixture
def figures_as_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Draw without a screen; showing closes, as it does in a notebook."""
    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    yield
    plt.close("all")


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line grade the tiny problem set."""
    monkeypatch.setattr(course, "Order", functools.partial(Order, source=TINY))
    monkeypatch.setattr(course, "problem_sets", lambda _: problem_sets(TINY))


@pytest.fixture
def _idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it fail if anything is marked at all."""

    @contextmanager
    def none(*_: object) -> Iterator[None]:
        raise AssertionError("workers were started")
        yield

    monkeypatch.setattr(distribute, "cluster", none)
