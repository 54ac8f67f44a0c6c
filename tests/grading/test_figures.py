"""What a legend names is found, however the legend was made, and nothing is trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grading.figures import MOST, named_series
from grading.hidden import Wrong

Series = list[tuple[str, list[list[float]]]]


def piece(*points: tuple[float, float], look: str = "k-", label: str = "_child") -> dict[str, Any]:
    """Return a piece of a figure; the first letter of its look is its color."""
    x, y = zip(*points, strict=True)
    return {"label": label, "x": list(x), "y": list(y), "color": look[0], "shape": look[1:]}


def entry(text: str, look: str = "k-") -> dict[str, Any]:
    """Return an entry of a legend."""
    return {"text": text, "color": look[0], "shape": look[1:]}


def series(pieces: list[Any], entries: list[Any]) -> Series:
    """Return the named series, with lists for arrays."""
    found = named_series({"pieces": pieces, "entries": entries})
    return [(name, points.tolist()) for name, points in found]


LINE = [[1.0, 1.0], [2.0, 2.0]]
OTHER = [[1.0, 5.0], [2.0, 6.0]]


def test_an_entry_stands_for_what_looks_like_it():
    pieces = [piece(*LINE, look="ro"), piece(*OTHER, look="k-")]
    entries = [entry("line", "k-"), entry("dots", "ro")]
    assert series(pieces, entries) == [("line", OTHER), ("dots", LINE)]


def test_a_look_goes_before_a_label():
    pieces = [piece(*LINE, look="ro", label="b"), piece(*OTHER, look="k-", label="a")]
    found = series(pieces, [entry("b", "k-"), entry("a", "ro")])
    assert found[:2] == [("b", OTHER), ("a", LINE)]


@pytest.mark.parametrize("labels", [("a", "b"), ("b", "a")])
def test_where_entries_look_alike_labels_tell(labels: tuple[str, str]):
    pieces = [piece(*LINE, label=labels[0]), piece(*OTHER, label=labels[1])]
    found = dict(series(pieces, [entry("a"), entry("b")]))
    assert found == {labels[0]: LINE, labels[1]: OTHER}


def test_where_they_look_alike_and_have_no_labels_order_tells():
    pieces = [piece(*LINE), piece(*OTHER)]
    assert series(pieces, [entry("a"), entry("b")]) == [("a", LINE), ("b", OTHER)]


def test_a_label_tells_where_no_look_does():
    pieces = [piece(*LINE, look="ro", label="a"), piece(*OTHER, look="k-", label="b")]
    found = dict(series(pieces, [entry("b", "g:"), entry("a", "c|")]))
    assert found == {"a": LINE, "b": OTHER}


def test_then_a_color_does_and_takes_nothing_that_another_entry_stands_for():
    pieces = [piece(*LINE, look="k-"), piece(*OTHER, look="k dots")]
    entries = [entry("dots", "ko"), entry("line", "k-")]
    assert series(pieces, entries) == [("dots", OTHER), ("line", LINE)]


def test_then_order_does():
    pieces = [piece(*LINE, look="r-"), piece(*OTHER, look="g-")]
    assert series(pieces, [entry("a", "k"), entry("b", "g-"), entry("c", "y")]) == [
        ("a", LINE),
        ("b", OTHER),
    ]
    assert series(pieces, [entry("b", "r-"), entry("a", "k")]) == [("b", LINE), ("a", OTHER)]
    assert series(pieces, [entry("b", "g-"), entry("a", "k")]) == [("b", OTHER)]


def test_what_looks_alike_is_joined_sorted_and_counted_once():
    pieces = [piece((3, 3)), piece((1, 1)), piece((2, 2), (1, 1))]
    assert series(pieces, [entry("a")]) == [("a", [[1, 1], [2, 2], [3, 3]])]


def test_entries_of_one_text_are_one_series():
    pieces = [piece((2, 2), look="ro"), piece((1, 1), look="go")]
    assert series(pieces, [entry("a", "ro"), entry("a", "go")]) == [("a", LINE)]
    twins = [piece((2, 2), label="a"), piece((1, 1), label="a")]
    assert series(twins, [entry("a"), entry("a")])[0] == ("a", LINE)


def test_single_points_go_with_those_before_them():
    dots = [piece((width, width), look=f"{width}o") for width in range(4)]
    stranger = piece((9, 9), look="1x")
    named = piece((8, 8), look="5o", label="mine")
    line = piece(*OTHER, look="8o")
    found = series([dots[0], stranger, *dots[1:], named, line], [entry("a", "1o")])
    assert found == [("a", [[1, 1], [2, 2], [3, 3]]), ("mine", [[8, 8]])]


def test_artists_keep_their_labels_where_no_legend_is():
    pieces = [piece(*LINE, label="a"), piece(*OTHER, label="_nolegend_")]
    assert series(pieces, []) == [("a", LINE)]
    assert series(pieces, [entry(" b ")])[1:] == [("a", LINE)]


@pytest.mark.parametrize(
    "drawn",
    [
        None,
        [],
        {},
        {"pieces": 3, "entries": "a"},
        {"pieces": [None, {}, 1.0], "entries": [None, 2]},
        {"pieces": [{**piece(*LINE), "x": [1.0]}], "entries": []},
        {"pieces": [{**piece(*LINE), "x": [1.0, float("nan")]}], "entries": []},
        {"pieces": [{**piece(*LINE), "y": {"a": 1}}], "entries": []},
        {"pieces": [{**piece(*LINE), "x": [], "y": []}], "entries": []},
        {"pieces": [], "entries": [{"text": 4}]},
    ],
)
def test_what_has_another_form_is_left_out(drawn: Any):
    assert named_series(drawn) == []


def test_looks_that_are_no_texts_are_none():
    bare = {"label": 3, "x": [1.0], "y": [1.0], "color": [1], "shape": np.ones(3)}
    assert series([bare], [{"text": "a", "color": None}]) == [("a", [[1, 1]])]


@pytest.mark.parametrize(("pieces", "entries"), [(MOST + 1, 0), (0, MOST + 1)])
def test_nobody_can_make_it_look_at_more_than_a_figure_holds(pieces: int, entries: int):
    with pytest.raises(Wrong, match=str(MOST)):
        series([piece((1, 1))] * pieces, [entry("a")] * entries)
    assert series([piece((1, 1))] * MOST, [entry("a")] * MOST)[0] == ("a", [[1, 1]])


def test_a_crowd_of_entries_does_not_multiply_the_points():
    crowd = [piece(*np.random.default_rng(0).normal(size=(400, 2)), look="r-")] * MOST
    ((name, points),) = named_series({"pieces": crowd, "entries": [entry("a", "ro")] * MOST})
    assert name == "a"
    assert points.shape == (400, 2)
