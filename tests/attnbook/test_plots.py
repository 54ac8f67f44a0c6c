"""Every plot: documented, labeled, readable without color, and leaving no trace.

Each function is exercised by the examples in its own docstring; the figures that these make are
looked at. ``test_colors.py`` looks at the colors.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.axis import Axis
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from scipy.optimize import minimize

from attnbook import plots
from attnbook.drawing import plot_style as style

pytestmark = pytest.mark.not_for_mutants


@pytest.fixture(scope="module", params=plots.__all__)
def name(request: pytest.FixtureRequest) -> str:
    """Name a plot; as it is of the module's scope, all tests of one plot follow each other."""
    return request.param


@pytest.fixture(scope="module")
def on_page(name: str) -> Iterator[list[Figure]]:
    """Give a plot's figures as they are on a page, drawn once for all tests of them."""
    yield from drawn(name)


def drawn(name: str) -> Iterator[list[Figure]]:
    """Give the figures that the examples of a function make, and look for what they leave."""
    open_before = set(plt.get_fignums())
    before = mpl.rcParams.copy()
    # as they are copied, without the names of their module
    tests = doctest.DocTestFinder(recurse=False).find(getattr(plots, name), name, globs={})
    assert [bool(test.examples) for test in tests] == [True]
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(tests[0])
    assert runner.summarize(verbose=False).failed == 0
    made = [plt.figure(number) for number in plt.get_fignums() if number not in open_before]
    assert made, f"the examples of {name} make no figure"
    for figure in made:
        figure.canvas.draw()
    yield made
    for figure in made:
        plt.close(figure)
    assert dict(mpl.rcParams) == dict(before)


def test_every_public_function_draws_and_every_plot_is_public():
    modules = [
        importlib.import_module(f"attnbook.{path.parent.name}.plots")
        for path in Path(plots.__file__).parents[1].glob("*/plots.py")
    ]
    own = [
        name
        for module in modules
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    assert sorted(own) == sorted(set(own)) == plots.__all__


def test_a_plot_is_documented(name: str):
    function = getattr(plots, name)
    docstring = inspect.getdoc(function) or ""
    for section in ("Parameters", "Returns", "Notes", "Examples"):
        assert docstring.count(f"\n\n{section}\n{'-' * len(section)}\n") == 1
    for parameter in inspect.signature(function).parameters:
        assert parameter in docstring.split("Parameters", 1)[1].split("Returns", 1)[0]
    assert inspect.signature(function, eval_str=True).return_annotation is Figure


def in_words(labels: list) -> bool:
    """Say whether the ticks name what they stand for, so that the axis needs no other label."""
    return bool(labels) and all(re.search(r"[^\W\d_]", label.get_text()) for label in labels)


def test_a_plot_has_labels_and_leaves_no_style_behind(on_page: list[Figure]):
    for figure in on_page:
        assert figure.get_figwidth() == pytest.approx(4.6), "as wide as the text"
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


def appearance(line: plt.Line2D) -> tuple:
    """Return what tells a line apart when the page is printed in gray."""
    dashes = tuple(line._dash_pattern[1] or ())  # get_linestyle() hides a pattern of one's own
    visible = line.get_linestyle() not in {"", " ", "none", "None", None}
    return (line.get_linestyle(), dashes) if visible else None, str(line.get_marker())


def test_series_differ_by_more_than_color(on_page: list[Figure]):
    for axes in (axes for figure in on_page for axes in figure.axes):
        lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
        directly_labeled = {to_hex(t.get_color()) for t in axes.texts if t.get_text().strip()}
        for one, other in itertools.combinations(lines, 2):
            colors = {to_hex(one.get_color()), to_hex(other.get_color())}
            if len(colors) > 1 and appearance(one) == appearance(other):
                # then a text in the line's own color has to be beside one of them
                assert colors & directly_labeled
        bars = [c for c in axes.containers if isinstance(c, BarContainer) and len(c)]
        for one, other in itertools.combinations([bar[0] for bar in bars], 2):
            if one.get_facecolor() != other.get_facecolor():
                told_apart = one.get_hatch() != other.get_hatch() or (
                    one.get_x() != other.get_x() and directly_labeled
                )
                assert told_apart or one.get_facecolor()[3] != other.get_facecolor()[3]


def test_the_two_arms_differ_by_more_than_color():
    for key in ("linestyle", "marker", "label", "color"):
        assert style.SCALED[key] != style.UNSCALED[key]


def test_no_series_is_dropped_in_silence():
    curves = np.full((4, 3, 3), 0.1)
    stds = np.array([0.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="n_keys must have at most 3 entries; got 4"):
        plots.jacobian_norms(stds, [2, 4, 8, 16], curves, np.full(4, 2.0))


def test_crosses_for_diverged_runs_are_named_where_there_are_some():
    rates, names = np.array([0.1, 0.2]), ["one", "other"]
    losses = np.array([[[0.9, np.inf], [0.9, 0.1]]])
    for shown, expected in ((losses, [*names, "diverged"]), (losses[..., :1], names)):
        axes = plots.rate_curves([16], rates[: shown.shape[-1]], shown, names, []).axes[-1]
        *named, above = [text.get_text() for text in axes.texts]
        assert (named, above) == (expected, "loss at the end")
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert all(line.get_xdata().size == 0 for line in crosses)
    plt.close("all")


def test_titles_are_short_and_keep_off_what_is_beside_them(name: str, on_page: list[Figure]):
    for figure in on_page:
        # Series are named beside them; six programs lie too close together for that.
        assert len(figure.legends) == (name == "time_ratios")
        for axes in figure.axes:
            assert axes.get_legend() is None
            for title in (axes.get_xlabel(), axes.get_ylabel()):
                words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\$.*?\$", "", title))
                assert len(words) <= 4, title
        renderer = figure.canvas.get_renderer()
        boxes = [
            (text.get_text(), text.get_window_extent(renderer))
            for axes in figure.axes
            for text in (
                *(axes.title, axes._left_title, axes._right_title),
                *(axes.xaxis.label, axes.yaxis.label),
                *(label for axis in (axes.xaxis, axes.yaxis) for label in drawn_ticks(axis)),
            )
            if text.get_visible() and text.get_text().strip()
        ]
        for (one, box), (other, around) in itertools.combinations(boxes, 2):
            assert not box.padded(-0.5).overlaps(around.padded(-0.5)), f"{one} on {other}"


def drawn_ticks(axis: Axis) -> Iterator[plt.Text]:
    """Give the labels of the ticks that can be seen."""
    low, high = sorted(axis.get_view_interval())
    for tick in axis.get_major_ticks():
        if low <= tick.get_loc() <= high:
            yield from (label for label in (tick.label1, tick.label2) if label.get_visible())


def test_names_at_the_end_move_apart_and_stay_in_order():
    figure, (axes,) = style.panels(height=3)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    names = ("low", "close", "high")
    style.name_ends(
        axes, [(*pair, style.SCALED) for pair in zip(names, (0.5, 0.51, 0.9), strict=True)]
    )
    figure.canvas.draw()
    low, close, high = (text.get_window_extent() for text in axes.texts)
    assert not low.overlaps(close)
    assert low.y1 < close.y1 < high.y0
    assert low.x0 > axes.bbox.x1
    assert (high.y0 + high.y1) / 2 == pytest.approx(axes.transData.transform((1, 0.9))[1], abs=2)
    plt.close(figure)


@pytest.mark.parametrize("seed", range(5))
def test_heights_are_moved_as_little_as_possible(seed: int):
    rng = np.random.default_rng(seed)
    heights, gap = rng.uniform(0, 40, 6), 10.0
    moved = style.apart(heights, gap)
    order = heights.argsort()
    assert (np.diff(moved[order]) > gap - 1e-9).all()
    gaps = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - gap} for i in range(5)]
    start = np.arange(6) * gap
    best = minimize(lambda x: ((x - heights[order]) ** 2).sum(), start, constraints=gaps)
    assert moved[order] == pytest.approx(best.x, abs=1e-3)
