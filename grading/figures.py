"""What a figure shows: its series, by the names that the legend gives them.

A hidden check reads a figure in the sandbox, with a function like `drawn` in the documentation of
`named_series`, and hands over plain data. Here, outside, every entry of the legend is paired with
what it stands for. A legend does not say which artists it was made of. It shows them, so an entry
stands for what looks like it; where that does not tell, the artists' own labels do, and then order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grading.hidden import Wrong, array

MOST = 500


@dataclass(frozen=True, eq=False)
class Piece:
    """What one call drew."""

    # its own label; Matplotlib invents one that begins with an underscore where none is given
    label: str
    look: tuple[str, str]  # its color, and its marker and dashes
    points: np.ndarray  # where its points are

    @property
    def nameless(self) -> bool:
        """Return whether nobody has given it a label."""
        return not self.label or self.label.startswith("_")


@dataclass(frozen=True)
class Entry:
    """One line of a legend: its text, and its look as a `Piece` has it."""

    text: str
    look: tuple[str, str]


def named_series(drawn: Any) -> list[tuple[str, np.ndarray]]:
    """Return the series of a figure by their names.

    `drawn` came from the sandbox: ``pieces``, a list of dictionaries with ``label``, ``color``,
    ``shape``, ``x`` and ``y``, and ``entries``, one with ``text``, ``color`` and ``shape``. Nothing
    in it is trusted: what has another form is left out. Each series comes as its name and points,
    an array of shape (n, 2) sorted by the first column; first what the legend names, in its order,
    then the artists that have a label, by that. What was drawn in several calls, such as five
    points one by one, comes out as one series. Raises `Wrong` if there are so many pieces that
    nobody could tell them apart.

    Examples
    --------
    >>> dot = {"label": "_child0", "color": "#1f77b4", "shape": "o", "x": [2.0], "y": [3.0]}
    >>> entry = {"text": "measured", "color": "#1f77b4", "shape": "o"}
    >>> named_series({"pieces": [dot, {**dot, "x": [1.0]}], "entries": [entry]})
    [('measured', array([[1., 3.],
           [2., 3.]]))]
    """
    given = drawn if isinstance(drawn, dict) else {}
    pieces = [piece for each in _dictionaries(given, "pieces") if (piece := _piece(each))]
    entries = [Entry(_text(each, "text"), _look(each)) for each in _dictionaries(given, "entries")]
    named: dict[str, list[Piece]] = {}
    for entry, found in zip(entries, _paired(pieces, entries), strict=True):
        named.setdefault(entry.text, []).extend(found)
    _add_single_points(named, pieces)
    labeled: dict[str, list[Piece]] = {}
    for piece in pieces:
        if not piece.nameless:
            labeled.setdefault(piece.label, []).append(piece)
    return [
        (name, np.unique(np.concatenate([each.points for each in dict.fromkeys(parts)]), axis=0))
        for names in (named, labeled)
        for name, parts in names.items()
        if parts
    ]


def _dictionaries(given: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the dictionaries in a list of an answer."""
    found = given.get(name)
    found = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    if len(found) > MOST:
        raise Wrong(f"the figure has more than {MOST} lines, points or entries of the legend")
    return found


def _text(given: dict[str, Any], name: str) -> str:
    """Return a text of an answer, without blanks around it."""
    found = given.get(name)
    return found.strip() if isinstance(found, str) else ""


def _look(given: dict[str, Any]) -> tuple[str, str]:
    """Return what can be seen of a piece or an entry."""
    return _text(given, "color"), _text(given, "shape")


def _piece(given: dict[str, Any]) -> Piece | None:
    """Return what one call drew, or None if it has no points or some that are no numbers."""
    try:
        across, upwards = (array(given, name).ravel() for name in ("x", "y"))
    except Wrong:
        return None
    if across.size != upwards.size or not across.size:
        return None
    return Piece(_text(given, "label"), _look(given), np.column_stack([across, upwards]))


def _paired(pieces: list[Piece], entries: list[Entry]) -> list[list[Piece]]:
    """Return what each entry of a legend stands for."""
    found = [_alike(pieces, entries, entry) for entry in entries]
    for place, entry in enumerate(entries):
        if not found[place]:
            found[place] = [each for each in pieces if each.label == entry.text]
    taken = {piece for several in found for piece in several}
    for place, entry in enumerate(entries):
        if not found[place]:
            free = [each for each in pieces if each not in taken]
            looks = [each.look for each in free if each.look[0] == entry.look[0]]
            found[place] = [each for each in free if each.look in looks[:1]]
        if not found[place]:
            found[place] = [each for each in pieces[place : place + 1] if each not in taken]
        taken.update(found[place])
    return found


def _alike(pieces: list[Piece], entries: list[Entry], entry: Entry) -> list[Piece]:
    """Return the pieces that look like an entry; where several entries do, its share of them."""
    alike = [piece for piece in pieces if piece.look == entry.look]
    texts = list(dict.fromkeys(each.text for each in entries if each.look == entry.look))
    if len(texts) == 1:
        return alike
    labeled = [piece for piece in alike if piece.label == entry.text]
    return labeled or alike[texts.index(entry.text) :: len(texts)]


def _add_single_points(named: dict[str, list[Piece]], pieces: list[Piece]) -> None:
    """Add single points without a name to the series of such points that they go on with.

    Matplotlib gives each call another color, so they need not look like the entry.
    """
    owners = {piece: parts for parts in named.values() for piece in parts}
    last: dict[str, list[Piece]] = {}
    for piece in pieces:
        _, shape = piece.look
        if len(piece.points) > 1:
            continue
        if piece in owners:
            last[shape] = owners[piece]
        elif shape in last and piece.nameless:
            last[shape].append(piece)
