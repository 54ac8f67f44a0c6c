"""How the page on real models writes what is in its data."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attnbook.models.models_table import marked, source, years

Entry = Mapping[str, Any]

WAYS = {
    "no factor": "No factor at all",
    "1/dₖ": "The width itself, 1/dₖ, and not its root",
    "another root": "The root of something that is not the head width",
    "constant or learned": "A constant of its own, or one that is learned",
}
"""The kinds of factor that are not the usual one, and what the page calls them."""
ADDED = "Something more is done to queries, keys or logits, whatever the factor"
ADDITIONS = ("q/k norm", "soft cap", "context factor", "sink logit")


def begins(entry: Entry) -> int:
    """Return the first year of a line.

    Examples
    --------
    >>> begins({"year": "from 2024"})
    2024
    """
    return years(entry["year"])[0]


def named(entries: Iterable[Entry], start: str) -> Entry:
    """Return the first line whose name begins so.

    Examples
    --------
    >>> named([{"name": "GPT-2"}, {"name": "Swin v2"}], "Swin")
    {'name': 'Swin v2'}
    """
    return next(entry for entry in entries if entry["name"].startswith(start))


def is_option(entry: Entry) -> bool:
    """Say whether a rule other than the usual one is there only as an option."""
    return entry["kind"] == "1/dₖ" and entry.get("instead_of_number") == "option"


def listing(entries: Iterable[Entry]) -> str:
    """Return the names of lines, each with what the reader has to know of it.

    Examples
    --------
    >>> guess = {"name": "Granite", "rule": "a number †", "kind": "1/dₖ"}
    >>> listing([guess, {"name": "T5", "rule": "none", "kind": "no factor"}])
    'Granite †; T5'
    """
    return "; ".join(
        entry["name"]
        + (" †" if "†" in entry["rule"] else "")
        + (" (if asked)" if is_option(entry) else "")
        for entry in entries
    )


def ways(entries: Sequence[Entry]) -> str:
    """Return in Markdown in which ways models depart from the usual rule, and which do."""
    models = [
        (way, listing(entry for entry in entries if entry["kind"] == kind))
        for kind, way in WAYS.items()
    ]
    added = (
        f"*{kind}:* {listing(entry for entry in entries if kind in entry['also'])}"
        for kind in ADDITIONS
    )
    models.append((ADDED, "; ".join(added)))
    return "\n".join(
        f"{place}. **{way}.** {who}." for place, (way, who) in enumerate(models, start=1)
    )


def by_width(entries: Sequence[Entry]) -> str:
    """Return in Markdown which models have heads of which width.

    Examples
    --------
    >>> by_width([{"name": "BERT", "rule": "", "kind": "1/√dₖ", "d_k": 64}])
    '- **64**: BERT'
    """
    widths = sorted({entry["d_k"] for entry in entries if "d_k" in entry})
    return "\n".join(
        f"- **{width}**: {listing(entry for entry in entries if entry.get('d_k') == width)}"
        for width in widths
    )


def table(heads: Iterable[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """Return a table as HTML, in a box of its own that scrolls on a narrow screen."""
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{text}</td>" for text in rest) + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide-table" role="region" aria-label="{label}" tabindex="0">'
        f'<table class="table">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def libraries(read: Mapping[str, Sequence[Entry]]) -> str:
    """Return what libraries do as a table in HTML, with links to where it was read."""
    versions = {entry["repository"]: entry for entry in read["snapshots"]}
    rows = [
        [
            *(marked(entry[part]) for part in ("name", "rule", "note")),
            "<br>".join(source(where, versions) for where in entry["sources"]),
        ]
        for entry in read["libraries"]
    ]
    return table(
        ["library", "what multiplies q·k", "remarks", "read in"], rows, "What libraries do"
    )


def states(entries: Iterable[Entry]) -> str:
    """Return which states of repositories were read as a table in HTML."""
    rows = [
        [
            entry["repository"].replace("/", "/<wbr>"),
            f"release {entry['release']}" if "release" in entry else f"commit {entry['commit']}",
            entry.get("date", ""),
        ]
        for entry in entries
    ]
    return table(["repository", "state", "month of the commit, where noted"], rows, "States read")


KIND_NAMES = {
    "root": "1/√d, a constant",
    "root, YaRN option": "1/√d, and YaRN's factor squared if the settings ask for it",
    "root, switches": "1/√d, with switches that are off",
    "configured": "a field of the configuration",
    "none": "no factor",
    "position": "1/√d times a factor of the query's position",
    "learned": "a learned factor",
    "another root": "the root of another number",
    "constant": "1/√d times another constant or field",
    "1/d": "1/d",
    "key's own length": "each key's own length",
}
"""The kinds of factor in the census, as the page calls them."""


def exceptions(families: Iterable[Entry]) -> str:
    """Return in HTML what the families do that do not simply have 1/√d, and why."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for entry in families:
        if not entry["kind"].startswith("root"):
            rule = entry.get("words", "1" if entry["kind"] == "none" else entry["kind"])
            rule = re.sub(r"\*\*-1/2", "**-0.5", rule.replace("config.", ""))
            if re.fullmatch(r"\w+|[\w.]+( \* d)?\*\*-[\d.]+", rule) and rule != "1":
                rule = f"`{rule}`"  # as it is in the code
            key = (entry["kind"], rule, entry.get("why", ""))
            grouped.setdefault(key, []).append(entry["family"])
    order = list(KIND_NAMES)
    rows = [
        [
            ", ".join(f"<code>{name}</code>" for name in names),
            KIND_NAMES[kind],
            marked(rule),
            marked(why),
        ]
        for (kind, rule, why), names in sorted(
            grouped.items(), key=lambda item: (order.index(item[0][0]), item[1])
        )
    ]
    heads = ["family", "kind", "what multiplies q·k", "why"]
    return table(heads, rows, "The exceptions")


def disagreements(pairs: Iterable[Entry]) -> str:
    """Return in HTML what two packages do in one family, and what a user sees."""
    rows = [
        [
            html.escape(pair["family"]),
            *(
                f"{html.escape(side['does'])}<br><small>{side['package'].replace('==', ' ')}: "
                f"<code>{html.escape(side['file'].partition('/')[2])}</code></small>"
                for side in pair["sides"]
            ),
            html.escape(pair["seen"]),
        ]
        for pair in pairs
    ]
    heads = ["family", "one package", "another", "what a user sees"]
    return table(heads, rows, "Two packages, one family, two factors")
