"""The figure of all families of the census, in which a reader finds one by its name."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from attnbook.drawing.base import LiveFigure
from attnbook.models.computed import KIND_NAMES
from attnbook.models.models_table import folded


class ModelsField(LiveFigure):
    """The families of a census as squares, a group for each kind of factor.

    Parameters
    ----------
    families : Sequence
        The families as in the book's ``data/census.json``, each a mapping with its name, its kind
        and the first release that has it.
    text : str
        Words, all of which are in the name of a family, its factor or what else it does.
    first : str
        The first release that has a family; any, if empty.
    family : str
        The family that is named below the picture.

    Examples
    --------
    >>> from attnbook.figures import ModelsField
    >>> families = [
    ...     {"family": "bert", "kind": "root", "first": "4.57.6"},
    ...     {"family": "t5", "kind": "none", "first": "4.57.6"},
    ... ]
    >>> ModelsField(families, text="t5").shown
    ['t5']
    >>> ModelsField(families, family="bert").words()
    '2 of 2 families. bert, first in 4.57.6: 1/√d, a constant.'

    Notes
    -----
    Shown on the page on models. Whoever points at a square, or chooses a family, reads its rule.
    """

    state: ClassVar[tuple[str, ...]] = ("text", "first", "family")
    text = traitlets.Unicode("").tag(sync=True)
    first = traitlets.Unicode("").tag(sync=True)
    family = traitlets.Unicode("").tag(sync=True)

    def __init__(self, families: Sequence[Mapping[str, Any]], **state: Any) -> None:
        self.families = tuple(families)
        super().__init__(**state)

    @traitlets.validate("first", "family")
    def _known(self, proposal: dict[str, Any]) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        if value and value not in {entry[name] for entry in self.families}:
            raise traitlets.TraitError(f"no {name} {value!r} is in the census")
        return value

    @property
    def shown(self) -> list[str]:
        """The families that the filter leaves, by name."""
        return [entry["family"] for entry in self.families if self._fits(entry)]

    def _fits(self, entry: Mapping[str, Any]) -> bool:
        found = folded(searched(entry))
        words = folded(self.text).split()
        return self.first in ("", entry["first"]) and all(word in found for word in words)

    def controls(self) -> str:
        """Return the field for words, and the lists of releases and of families."""
        releases = sorted({entry["first"] for entry in self.families}, key=numbers)
        names = [entry["family"] for entry in self.families]
        return (
            '<label class="search">Find a family, or a word of what it does'
            f'<input type="search" name="text" value="{html.escape(self.text)}" '
            'autocomplete="off" spellcheck="false"></label>'
            f'<label class="choice">First release that has it{self._list("first", "any", releases)}'
            f'</label><label class="choice">Family{self._list("family", "none", names)}</label>'
        )

    def _list(self, name: str, empty: str, values: Sequence[str]) -> str:
        options = "".join(
            f"<option{' selected' if value == getattr(self, name) else ''}>{value}</option>"
            for value in values
        )
        return f'<select name="{name}"><option value="">{empty}</option>{options}</select>'

    def markup(self) -> str:
        """Return the controls, the groups, and what is said of the family in question."""
        words = html.escape(self.words(), quote=False)
        return (
            f'{self.form()}{self.picture()}<p class="figure-words" aria-live="polite">{words}</p>'
        )

    def picture(self) -> str:
        """Return a list of squares for each kind of factor; a square is named by its title."""
        groups = []
        for kind, name in KIND_NAMES.items():
            own = [entry for entry in self.families if entry["kind"] == kind]
            if own:
                squares = "".join(map(self._square, own))
                groups.append(f"<p>{name}: {len(own)}</p><div>{squares}</div>")
        return f'<div class="field">{"".join(groups)}</div>'

    def _square(self, entry: Mapping[str, Any]) -> str:
        name = entry["family"]
        classes = ["off"] * (not self._fits(entry)) + ["chosen"] * (name == self.family)
        chosen = f' class="{" ".join(classes)}"' if classes else ""
        return (
            f'<i title="{name}" data-first="{entry["first"]}" '
            f'data-text="{html.escape(folded(searched(entry)))}"{chosen}></i>'
        )

    def words(self) -> str:
        """Return how many families are left, and what the chosen one does."""
        said = f"{len(self.shown)} of {len(self.families)} families."
        if not self.family:
            return f"{said} Point at a square, or choose a family."
        entry = next(entry for entry in self.families if entry["family"] == self.family)
        return f"{said} {self.family}, first in {entry['first']}: {KIND_NAMES[entry['kind']]}."


def searched(entry: Mapping[str, Any]) -> str:
    """Return the text in which a word is looked for."""
    parts = (entry["family"], KIND_NAMES[entry["kind"]], *entry.get("extras", ()))
    return " ".join(parts)


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, by which it is sorted.

    Examples
    --------
    >>> numbers("5.14.0") > numbers("5.9.0")
    True
    """
    return tuple(map(int, release.split(".")))
