"""From results to words: targets, verdicts, tables. Needs the standard library alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

COMMITTED = Path(__file__).with_name("results.json")
"""The results that the book shows."""

LENGTHS = {
    "512": "512 tokens, 8 heads",
    "2048": "2048 tokens, 8 heads",
    "8192": "8192 tokens, 1 head",
}
"""The sizes of the forward comparison, by sequence length."""


class Target(NamedTuple):
    """What a result should be at most."""

    key: str
    group: str
    case: str
    limit: float
    unit: str


FORWARD = {"512": (1.35, 1.6), "2048": (1.3, 1.5), "8192": (1.3, 1.5)}
"""What attention may take of PyTorch's time, for calibrated and for large scores."""
TARGETS = (
    *(
        Target(f"forward-calibrated-{n}", "forward, calibrated scores", case, FORWARD[n][0], "×")
        for n, case in LENGTHS.items()
    ),
    *(
        Target(f"forward-online-{n}", "forward, large scores", case, FORWARD[n][1], "×")
        for n, case in LENGTHS.items()
    ),
    *(
        Target(f"loop-{n}", "forward, over the floor", case, 1.08, "×")
        for n, case in LENGTHS.items()
    ),
    Target("long-floor", "long sequence", "time over the floor", 1.1, "×"),
    Target("long-memory", "long sequence", "peak memory beyond inputs and output", 4.0, " MB"),
    Target("long-growth", "long sequence", "peak memory at four times the length", 4.0, "×"),
    *(
        Target(f"gradient-{n}", "output and gradients", LENGTHS[n], 1.0, "×")
        for n in ("512", "2048")
    ),
)
GROUPS = tuple(dict.fromkeys(target.group for target in TARGETS))
PEER_TABLES = ("forward, calibrated scores", "forward, large scores", "output and gradients")
"""Groups whose other contestants are shown as well, by the cases of their targets."""
_FIELDS = ("value", "low", "high", "floor")


def load(path: Path = COMMITTED) -> dict[str, Any]:
    """Read results; by default those that the book shows."""
    return json.loads(path.read_text(encoding="utf-8"))


def verdicts(results: Mapping[str, Any]) -> dict[str, bool]:
    """Return for the key of each measured target whether it is met."""
    records = results["records"]
    return {
        target.key: records[target.key]["value"] <= target.limit
        for target in TARGETS
        if target.key in records
    }


def _number_problem(where: str, value: Any, *, optional: bool) -> list[str]:
    if value is None and optional:
        return []
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return [] if good and value >= 0 else [f"{where} is no number: {value!r}"]


def problems(results: Mapping[str, Any]) -> list[str]:
    """List what keeps results from being complete: a target without record, a missing number."""
    records = results.get("records", {})
    found = [f"no record of {target.key}" for target in TARGETS if target.key not in records]
    known = {target.key for target in TARGETS}
    found += [f"{key} is no target" for key in records if key not in known]
    for key, record in records.items():
        for field in _FIELDS:
            where = f"{field} of {key}"
            found += _number_problem(where, record.get(field), optional=field != "value")
    for group in PEER_TABLES:
        rows = results.get("peers", {}).get(group, {})
        wanted = {target.case for target in TARGETS if target.group == group}
        if set(rows) != wanted:
            found.append(f"the rows of «{group}» are not those of its targets")
        for case, row in rows.items():
            for name, value in row.items():
                found += _number_problem(f"{name}, {case}", value, optional=False)
    parts = ("machine", "settings", "memory")
    found += [f"no {part}" for part in parts if not results.get(part)]
    if results.get("settings", {}).get("quick"):
        found.append("the run was a quick one")
    return found


def digits(value: float | None) -> str:
    """Write a number with about three digits, and a dash for none.

    Examples
    --------
    >>> digits(0.93456), digits(12345.6), digits(None), digits(10.94), digits(0.0)
    ('0.93', '12,346', '–', '10.9', '0.00')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def quantity(value: float | None, unit: str) -> str:
    """Write a number with its unit."""
    return digits(value) + (unit if value is not None else "")


def _bound(target: Target) -> str:
    return f"≤ {quantity(target.limit, target.unit)}"


def _measured(target: Target, record: Mapping[str, Any]) -> str:
    text = quantity(record["value"], target.unit)
    if record.get("low") is None:
        return text
    return f"{text} ({digits(record['low'])}–{digits(record['high'])})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Lay out a table in Markdown.

    Examples
    --------
    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, ["---"] * len(head), *rows]
    shown = ["| " + " | ".join(line) + " |" for line in lines]
    shown[1] = shown[1].replace(" ", "")
    return "\n".join(shown)


def target_table(results: Mapping[str, Any], *groups: str) -> str:
    """Return the targets of some groups: what was wanted, what came out, and the verdict."""
    rows = []
    reached = verdicts(results)
    for target in TARGETS:
        if target.group in groups and target.key in reached:
            record = results["records"][target.key]
            verdict = "met" if reached[target.key] else "**missed**"
            rows.append(
                [
                    target.case,
                    verdict,
                    _measured(target, record),
                    _bound(target),
                    quantity(record.get("floor"), target.unit),
                ]
            )
    return table(["case", "verdict", "measured", "target", "floor"], rows)


def peer_table(results: Mapping[str, Any], group: str) -> str:
    """Return the times of all contestants relative to PyTorch, a row for each case."""
    rows = results["peers"][group]
    names = list(next(iter(rows.values())))
    lines = [[case, *(digits(row[name]) for name in names)] for case, row in rows.items()]
    return table(["time ÷ PyTorch's", *names], lines)


def panels(
    results: Mapping[str, Any],
) -> tuple[list[str], list[list[str]], list[str], list[list[list[float | None]]]]:
    """Return the figure's arguments: titles, cases of each panel, contestants, time ratios."""
    groups = [results["peers"][title] for title in PEER_TABLES]
    names = list(dict.fromkeys(name for rows in groups for row in rows.values() for name in row))
    names.remove("PyTorch")
    values = [[[row.get(name) for name in names] for row in rows.values()] for rows in groups]
    return list(PEER_TABLES), [list(rows) for rows in groups], names, values


def _explanation(target: Target, floor: float | None) -> str:
    if floor is None:
        return ""
    text = f" The matrix products and exponentials alone would give {quantity(floor, target.unit)}"
    if floor <= target.limit:
        return f"{text}, so what is missing is overhead and not arithmetic."
    return f"{text}: on this machine the floor itself is outside the target."


def missed(results: Mapping[str, Any]) -> str:
    """Count the missed targets, and say of each by how much and what the floor is."""
    reached = verdicts(results)
    lines = []
    for target in TARGETS:
        if not reached.get(target.key, True):
            record = results["records"][target.key]
            lines.append(
                f"- **{target.group}, {target.case}**: {_measured(target, record)}, wanted "
                f"{_bound(target)}.{_explanation(target, record.get('floor'))}"
            )
    return "\n".join([f"Of {len(reached)} targets, {len(lines)} were missed.", "", *lines])


def summary(results: Mapping[str, Any]) -> str:
    """Answer in two sentences how fast and how large attnlib is beside PyTorch."""

    def ratios(group: str) -> str:
        values = [row["attnlib"] for row in results["peers"][group].values()]
        return f"{digits(min(values))} to {digits(max(values))}"

    forward, large, both = map(ratios, PEER_TABLES)
    entry = results["memory"][0]

    def beyond(*instruments: str) -> str:
        sizes = [entry[name] for name in instruments if entry[name] is not None]
        return f"{(max(sizes) - entry['output']) / 1e6:.1f} MB" if sizes else "a size not measured"

    own, peer = beyond("traced", "resident"), beyond("torch")
    return (
        f"**In short:** attention takes {forward} times as long as in PyTorch with calibrated "
        f"scores, {large} times with large ones and {both} times together with the gradients, by "
        f"length. For {entry['n']} tokens, memory beyond inputs and output peaks at {own}, and at "
        f"{peer} in PyTorch."
    )


def machine_table(results: Mapping[str, Any]) -> str:
    """Return what the results were measured on."""
    machine = results["machine"]
    threads = machine["threads"]
    names = {"blas": "OpenBLAS", "torch": "PyTorch", "jax": "JAX"}
    shown = [f"{name} {threads[key]}" for key, name in names.items() if threads[key] is not None]
    rows = [
        ["processor", f"{machine['processor']}, {threads['cores']} cores used"],
        ["threads", ", ".join(shown)],
        ["OpenBLAS kernel", machine["blas_kernel"]],
        ["versions", ", ".join(f"{name} {v}" for name, v in machine["libraries"].items())],
        ["Python", f"{machine['python']} on {machine['system']}"],
        ["measured on", machine["date"]],
    ]
    return table(["what", "value"], rows)


def memory_table(results: Mapping[str, Any]) -> str:
    """Return the peak memory by length."""
    rows = [
        [
            f"{entry['n']}",
            f"{entry['output'] / 1e6:.1f} MB",
            *(
                "–" if entry[key] is None else f"{(entry[key] - entry['output']) / 1e6:.1f} MB"
                for key in ("traced", "resident", "torch")
            ),
        ]
        for entry in results["memory"]
    ]
    head = ["tokens", "output", "attnlib, arrays", "attnlib, process", "PyTorch, process"]
    return table(head, rows)
