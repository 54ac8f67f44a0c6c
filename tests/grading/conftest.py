"""What several tests of grading share."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture
def figures_as_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Draw without a screen; showing closes, as it does in a notebook."""
    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    yield
    plt.close("all")
