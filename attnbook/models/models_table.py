"""The table of real models, which a reader can sort and filter."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import traitlets

from attnbook.drawing.base import LiveFigure

USUAL = "1/√dₖ"
ALONE = f"{USUAL} and nothing else"
COMMON_PATH = "src/transformers/"  # left out of the names of files


def relative(line: Mapping[str, Any]) -> float | None:
    """Return what multiplies q·k, as a multiple of 1/√d_k; None where that is no number.

    Examples
    --------
    >>> relative({"d_k": 64, "divisor_squared": 1})
    8.0
    """
    if "relative_squared" in line:
        above, below = line["relative_squared"]
    elif "d_k" in line:
        above, below = line["d_k"], line["divisor_squared"]
    else:
        return None
    factor = math.sqrt(above / below) * line.get("factor", 1.0)
    if "yarn" in line:
        factor *= (0.1 * math.log(line["yarn"]) + 1) ** 2
    if "longrope" in line:
        new, original = line["longrope"]
        factor *= 1 + math.log(new / original) / math.log(original)
    return factor


def marked(text: str) -> str:
    """Return a text of the data as HTML; what is between backticks is code.

    Examples
    --------
    >>> marked("`a < b`")
    '<code>a &lt; b</code>'
    """
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def source(where: Mapping[str, str], versions: Mapping[str, Mapping[str, str]]) -> str:
    """Return where something was read as HTML, with a link to that state of the file.

    Examples
    --------
    >>> where = {"repository": "google-research/bert", "path": "modeling.py", "symbol": ""}
    >>> source(where, {"google-research/bert": {"release": "1.0"}})
    'bert: modeling.py'
    """
    repository, path = where["repository"], where["path"]
    version = versions.get(repository, {})
    project = repository.split("/")[1]
    shown = [project if "release" in version else repository, path.removeprefix(COMMON_PATH)]
    name = html.escape(": ".join(part for part in shown if part))
    if "commit" in version:
        place = f"blob/{version['commit']}/{path}" if path else f"tree/{version['commit']}"
        name = f'<a href="https://github.com/{repository}/{place}">{name}</a>'
    symbols = f" <code>{html.escape(where['symbol'])}</code>" if where["symbol"] else ""
    return name + symbols


def years(text: str) -> tuple[int, int]:
    """Return the first and the last year of a line.

    Examples
    --------
    >>> years("2023–24"), years("2024"), years("from 2024")
    ((2023, 2024), (2024, 2024), (2024, 9999))
    """
    first, last = re.search(r"(\d{4})(?:–(\d\d))?", text).groups()
    if text.startswith("from"):
        return int(first), 9999
    return int(first), int(first[:2] + last) if last else int(first)


def folded(text: str) -> str:
    """Return a text in which a search finds capitals, signs and subscripts by plain letters.

    Examples
    --------
    >>> folded("1/√dₖ of Gemma")
    '1/√dk of gemma'
    """
    return unicodedata.normalize("NFKC", text).lower()


def schemes(line: Mapping[str, Any]) -> list[str]:
    """Return all ways of scaling that a line is an example of.

    Examples
    --------
    >>> schemes({"kind": "1/√dₖ", "also": []})
    ['1/√dₖ', '1/√dₖ and nothing else']
    """
    alone = [ALONE] if line["kind"] == USUAL and not line["also"] else []
    return [line["kind"], *alone, *line["also"]]


def searched(line: Mapping[str, Any]) -> str:
    """Return the text in which a word is looked for."""
    parts = [line["name"], line.get("family", ""), line["rule"], *schemes(line), line["note"]]
    return folded(" ".join(parts).replace("`", ""))


def ranks(values: Sequence[Any]) -> list[int]:
    """Return the rank of each value, the same for equal ones, and -1 for one that is missing.

    Examples
    --------
    >>> ranks([0.5, None, 2, 0.5])
    [0, -1, 1, 0]
    """
    known = sorted({value for value in values if value is not None})
    return [-1 if value is None else known.index(value) for value in values]


# The name of each column, what it says on the page, and what it is sorted by; None comes last.
COLUMNS: dict[str, tuple[str, Callable[[Mapping[str, Any]], Any] | None]] = {
    "model": ("model", lambda line: line["name"].casefold()),
    "year": ("year", lambda line: years(line["year"])),
    "rule": ("what multiplies q·k", lambda line: line["rule"].replace("`", "").casefold()),
    "d_k": ("dₖ", lambda line: line.get("d_k")),
    "times": ("times 1/√dₖ", relative),
    "factor": ("factor", lambda line: line["kind"].casefold()),
    "also": ("also", lambda line: ", ".join(line["also"]).casefold() or None),
    "remarks": ("remarks", None),
    "read_in": ("read in", None),
}
SORTED_BY = {name: (label, key) for name, (label, key) in COLUMNS.items() if key}


class FilterTable(LiveFigure):
    """A table of which a reader chooses the lines and their order.

    A subclass has the columns and says what is in each line; this class and its module choose.
    """

    state: ClassVar[tuple[str, ...]] = ("sort", "descending", "text", "scheme")
    columns: ClassVar[dict[str, tuple[str, Callable[[Any], Any] | None]]]
    """The name of each, what it says on the page, and what it is sorted by."""
    label: ClassVar[str]
    caption: ClassVar[str]
    kind: ClassVar[str]
    """The style of the lines."""
    find: ClassVar[str]
    choose: ClassVar[str]
    """What the field for words and the list are called."""
    order: ClassVar[str]
    """A sentence on the order if the reader chooses none."""

    descending = traitlets.Bool(False).tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    scheme = traitlets.Unicode("").tag(sync=True)

    def __init__(self, lines: Sequence[Any], **state: Any) -> None:
        self.lines = tuple(lines)
        self._sorted_by = {name: key for name, (_, key) in self.columns.items() if key}
        self._ranks = [
            ranks([key(line) for line in self.lines]) for key in self._sorted_by.values()
        ]
        super().__init__(**state)

    def schemes(self, line: Any) -> list[str]:
        """Return all entries of the list that a line is found by."""
        raise NotImplementedError

    def searched(self, line: Any) -> str:
        """Return the text in which a word is looked for."""
        raise NotImplementedError

    def cells(self, line: Any) -> list[str]:
        """Return what is in the columns, as HTML."""
        raise NotImplementedError

    def options(self) -> str:
        """Return the list from which a reader chooses, as HTML."""
        raise NotImplementedError

    @traitlets.validate("scheme")
    def _known(self, proposal: dict[str, Any]) -> str:
        known = {scheme for line in self.lines for scheme in self.schemes(line)}
        if proposal["value"] and proposal["value"] not in known:
            wanted = ", ".join(sorted(known))
            raise traitlets.TraitError(f"scheme is {proposal['value']!r}, not one of {wanted}")
        return proposal["value"]

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The lines on the screen, from top to bottom."""
        return [self.lines[place] for place in self._order() if self._fits(self.lines[place])]

    def _order(self) -> list[int]:
        places = range(len(self.lines))
        if not self.sort:
            return list(places)
        rank = self._ranks[list(self._sorted_by).index(self.sort)]
        known = [place for place in places if rank[place] >= 0]
        unknown = [place for place in places if rank[place] < 0]
        return sorted(known, key=rank.__getitem__, reverse=self.descending) + unknown

    def _fits(self, line: Mapping[str, Any]) -> bool:
        words = folded(self.text).split()
        return (not self.scheme or self.scheme in self.schemes(line)) and all(
            word in self.searched(line) for word in words
        )

    def controls(self) -> str:
        """Return the field for words and the list."""
        return (
            f'<label class="search">{self.find}'
            f'<input type="search" name="text" value="{html.escape(self.text)}" '
            'autocomplete="off" spellcheck="false"></label>'
            f'<label class="choice">{self.choose}<select name="scheme">'
            f'<option value="">any</option>{self.options()}</select></label>'
        )

    def _option(self, scheme: str) -> str:
        selected = " selected" if scheme == self.scheme else ""
        return f'<option value="{html.escape(scheme)}"{selected}>{html.escape(scheme)}</option>'

    def markup(self) -> str:
        """Return the controls, how many lines are shown, and the table."""
        words = html.escape(self.words(), quote=False)
        return f'{self.form()}<p class="figure-words" aria-live="polite">{words}</p>{self.table()}'

    def words(self) -> str:
        """Return how many lines are shown, why these, and in which order."""
        count, given = len(self.rows), " ".join(self.text.split())
        filters = [f"has “{self.scheme}”"] if self.scheme else []
        filters += [f"contains “{given}”"] if given else []
        shown = f"{count} of {len(self.lines)} lines"
        if filters:
            shown += f": {'each' if count else 'none'} {' and '.join(filters)}"
        if not count:
            return f"{shown}. Change the filter or press Reset."
        if not self.sort:
            return f"{shown}. {self.order}"
        way = "descending" if self.descending else "ascending"
        return f"{shown}. Sorted by “{self.columns[self.sort][0]}”, {way}."

    def table(self) -> str:
        """Return the table; lines that the filter leaves out are there and hidden."""
        body = "\n".join(map(self._row, self._order()))
        return (
            f'<div class="{self.kind}" data-order="{self.order}" role="region" '
            f'aria-label="{self.label}" tabindex="0">'
            f"<table><caption>{self.caption}</caption>\n<thead><tr>"
            f"{''.join(map(self._head, self.columns))}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></div>"
        )

    def _head(self, name: str) -> str:
        label = self.columns[name][0]
        words = " ".join(f"<span>{word}</span>" for word in label.split())
        start = f'<th scope="col" data-label="{label}"'
        if name not in self._sorted_by:
            return f"{start}>{words}</th>"
        order = "descending" if self.descending else "ascending"
        return (
            f'{start} aria-sort="{order if name == self.sort else "none"}">'
            f'<button type="button" name="{name}">{words}</button></th>'
        )

    def _row(self, place: int) -> str:
        """Return one line, and beside it what the module sorts and filters it by."""
        line = self.lines[place]
        name, *cells = self.cells(line)
        labels = [label for label, _ in self.columns.values()]
        places = " ".join(map(str, [place, *(rank[place] for rank in self._ranks)]))
        schemes = html.escape("|".join(self.schemes(line)))
        return (
            f'<tr data-places="{places}" data-schemes="{schemes}" '
            f'data-text="{html.escape(self.searched(line))}"'
            f"{'' if self._fits(line) else ' hidden'}>"
            f'<th scope="row">{name}</th>'
            + "".join(
                f'<td data-label="{label}">{cell}</td>'
                for label, cell in zip(labels[1:], cells, strict=True)
            )
            + "</tr>"
        )


class ModelsTable(FilterTable):
    """A table of real models, of which a reader chooses the lines and their order.

    Parameters
    ----------
    lines : Sequence
        The models as in the book's ``data/models.json``, each a mapping with name, year, kind,
        rule, additions, remark and sources.
    snapshots : Sequence
        The states of the repositories that the sources name, from the same file; without them
        the sources have no links.
    sort : str
        The column that the lines go by: model, year, rule, d_k, times, factor or also. If empty,
        they are in the order of `lines`. Lines without a value come last, equal ones in that order.
    descending : bool
        Whether the largest value comes first.
    text : str
        Words, all of which are in the name, the family, the rule or the remark of a line.
    scheme : str
        A way of scaling that a line is an example of.

    Examples
    --------
    >>> from attnbook.figures import ModelsTable
    >>> lines = [
    ...     {"name": name, "year": year, "kind": kind, "rule": "", "also": [], "note": "",
    ...      "sources": []}
    ...     for name, year, kind in [("BERT", "2018", "1/√dₖ"), ("T5", "2019", "no factor")]
    ... ]
    >>> table = ModelsTable(lines, sort="year", descending=True)
    >>> [line["name"] for line in table.rows]
    ['T5', 'BERT']
    >>> table.text = "ber"
    >>> [line["name"] for line in table.rows]
    ['BERT']

    Notes
    -----
    Shown on the page on models. Each line there says in which file it was read.
    """

    columns = COLUMNS
    kind = "models"
    label = "How models scale"
    caption = "How models scale: what each does to q·k before softmax"
    find = "Find a model, a family, a word of its rule"
    choose = "Way of scaling"
    order = "The order is by year, with families together."
    sort = traitlets.Enum(("", *SORTED_BY), "").tag(sync=True)

    def __init__(
        self,
        lines: Sequence[Mapping[str, Any]],
        snapshots: Sequence[Mapping[str, Any]] = (),
        **state: Any,
    ) -> None:
        self._versions = {version["repository"]: version for version in snapshots}
        super().__init__(lines, **state)

    def schemes(self, line: Mapping[str, Any]) -> list[str]:
        """Return all ways of scaling that a line is an example of."""
        return schemes(line)

    def searched(self, line: Mapping[str, Any]) -> str:
        """Return the text in which a word is looked for."""
        return searched(line)

    def options(self) -> str:
        """Return the ways of scaling."""
        kinds = [*dict.fromkeys(line["kind"] for line in self.lines)]
        if USUAL in kinds:
            kinds.insert(kinds.index(USUAL) + 1, ALONE)
        also = [*dict.fromkeys(addition for line in self.lines for addition in line["also"])]
        return "".join(
            f'<optgroup label="{label}">{"".join(map(self._option, listed))}</optgroup>'
            for label, listed in (("factor", kinds), ("also", also))
        )

    def cells(self, line: Mapping[str, Any]) -> list[str]:
        """Return name, year, rule, width, multiple, factor, additions, remark and sources."""
        times = relative(line)
        sources = (source(where, self._versions) for where in line["sources"])
        return [
            marked(line["name"]),
            line["year"],
            marked(line["rule"]),
            str(line.get("d_k", "")),
            line.get("instead_of_number", "") if times is None else f"{times:.3g}",
            line["kind"],
            ", ".join(line["also"]),
            marked(line["note"]),
            "<br>".join(sources) or "not read †",
        ]
