"""Every public figure: documented, labeled, readable without color, and leaving no trace.

Each function is exercised by the examples in its own docstring; the figures these make are
kept open here and looked at.
"""

from __future__ import annotations

import doctest
import inspect
import itertools
import re

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from attnbook import plotting

pytestmark = pytest.mark.not_for_mutants

FUNCTIONS = [name for name in plotting.__all__ if inspect.isfunction(getattr(plotting, name))]
NO_LINE = {"", " ", "none", "None", None}


@pytest.fixture(autouse=True)
def _closed_figures():
    plt.close("all")
    yield
    plt.close("all")


def figures_of(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Run the examples of a function and return the figures they made."""
    function = getattr(plotting, name)
    monkeypatch.setattr(plt, "close", lambda *_: None)
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(function, name, module=plotting, globs={})  # as it is copied
    assert test.examples, f"{name} has no example"
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    monkeypatch.undo()
    assert runner.summarize(verbose=False).failed == 0
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures, f"the examples of {name} make no figure"
    return figures


def test_every_public_function_draws_and_every_figure_is_public():
    assert len(set(plotting.__all__)) == len(plotting.__all__)
    own = {
        name
        for name, value in vars(plotting).items()
        if inspect.isfunction(value)
        and value.__module__ == plotting.__name__
        and not name.startswith("_")
    }
    assert own == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_figure_is_documented(name):
    function = getattr(plotting, name)
    docstring = inspect.getdoc(function) or ""
    for section in ("Parameters", "Returns", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in docstring
    for parameter in inspect.signature(function).parameters:
        assert parameter in docstring.split("Parameters", 1)[1].split("Returns", 1)[0]
    assert inspect.signature(function, eval_str=True).return_annotation is Figure


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_figure_has_labels_and_leaves_no_style_behind(name, monkeypatch):
    before = mpl.rcParams.copy()
    for figure in figures_of(name, monkeypatch):
        assert figure.get_figwidth() == pytest.approx(6.4), "as wide as the text"
        drawn = [axes for axes in figure.axes if axes.axison and axes.has_data()]
        assert drawn
        for axes in drawn:
            shared_x = axes.get_shared_x_axes().get_siblings(axes)
            assert any(
                other.get_xlabel() or in_words(other.get_xticklabels()) for other in shared_x
            ), "no label under the panel"
            # panels stacked under one common question may carry it as a title instead
            assert (
                axes.get_ylabel() or axes.get_title(loc="left") or in_words(axes.get_yticklabels())
            ), "no label beside the panel"
            assert axes.get_position().width > 0.5, "panels are stacked, not side by side"
        figure.canvas.draw()
    assert dict(mpl.rcParams) == dict(before)


def in_words(labels: list) -> bool:
    """Say whether the ticks name what they stand for, so that the axis needs no other label."""
    return bool(labels) and all(re.search(r"[^\W\d_]", label.get_text()) for label in labels)


def appearance(line: plt.Line2D) -> tuple:
    """Return what tells a line apart when the page is printed in gray."""
    dashes = tuple(line._dash_pattern[1] or ())  # get_linestyle() hides a pattern of one's own
    visible = line.get_linestyle() not in NO_LINE
    return (line.get_linestyle(), dashes) if visible else None, str(line.get_marker())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_series_differ_by_more_than_color(name, monkeypatch):
    for figure in figures_of(name, monkeypatch):
        for axes in figure.axes:
            lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
            directly_labeled = {to_hex(t.get_color()) for t in axes.texts if t.get_text().strip()}
            for one, other in itertools.combinations(lines, 2):
                same_color = to_hex(one.get_color()) == to_hex(other.get_color())
                if not same_color and appearance(one) == appearance(other):
                    # then a text in the line's own color has to stand beside one of them
                    assert {to_hex(one.get_color()), to_hex(other.get_color())} & directly_labeled
            bars = [c for c in axes.containers if isinstance(c, BarContainer) and len(c)]
            for one, other in itertools.combinations(bars, 2):
                if one[0].get_facecolor() != other[0].get_facecolor():
                    told_apart = one[0].get_hatch() != other[0].get_hatch() or (
                        one[0].get_x() != other[0].get_x() and directly_labeled
                    )
                    assert told_apart or one[0].get_facecolor()[3] != other[0].get_facecolor()[3]


def test_the_two_arms_differ_by_more_than_color():
    for key in ("linestyle", "marker", "label", "color"):
        assert plotting.SCALED[key] != plotting.UNSCALED[key]


def test_no_series_is_dropped_in_silence():
    curves = np.full((4, 3, 3), 0.1)
    stds = np.array([0.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="n_keys must have at most 3 entries; got 4"):
        plotting.jacobian_norms(stds, [2, 4, 8, 16], curves, np.full(4, 2.0))


def relative_luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_crosses_for_diverged_runs_are_named_where_there_are_some():
    rates, names = np.array([0.1, 0.2]), ["1", "1/√dₖ"]
    losses = np.array([[[0.9, np.inf], [0.9, 0.1]]])
    for shown, expected in ((losses, [*names, "diverged, no loss"]), (losses[..., :1], names)):
        axes = plotting.rate_curves([16], rates[: shown.shape[-1]], shown, names, []).axes[-1]
        legend = axes.get_legend()
        assert [text.get_text() for text in legend.get_texts()] == expected
    crosses = [line for line in axes.figure.axes[-1].lines if line.get_marker() == "x"]
    assert all(line.get_xdata().size == 0 for line in crosses)


def test_the_palette_can_be_seen_on_white():
    """WCAG 2 asks for a contrast of 3 to 1 for graphics; "faint" is for what may be missed."""
    for name, color in plotting.PALETTE.items():
        contrast = 1.05 / (relative_luminance(color) + 0.05)
        assert contrast >= (2.5 if name == "faint" else 3), name
