"""From results to words: targets, verdicts, tables. Needs the standard library alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

COMMITTED = Path(__file__).with_name("results.json")
"""The results that the book shows."""

LENGTHS = {"128": "128 tokens, 8 heads", "512": "512 tokens, 8 heads"} | {
    "2048": "2048 tokens, 8 heads",
    "8192": "8192 tokens, 1 head",
}
"""The sizes of the forward comparison, by sequence length."""


class Target(NamedTuple):
    """What a result should be: at most (or at least) a limit."""

    key: str
    group: str
    case: str
    limit: float
    unit: str
    at_least: bool = False


FORWARD = {"128": (2.5, 2.5), "512": (1.35, 1.6), "2048": (1.3, 1.5), "8192": (1.3, 1.5)}
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
        Target(f"loop-{n}", "forward, over the floor", LENGTHS[n], 1.08, "×")
        for n in ("512", "2048", "8192")
    ),
    Target("long-floor", "long sequence", "time over the floor", 1.1, "×"),
    Target("long-memory", "long sequence", "peak memory beyond inputs and output", 4.0, " MB"),
    Target("long-growth", "long sequence", "peak memory at four times the length", 4.0, "×"),
    *(
        Target(f"gradient-{n}", "output and gradients", LENGTHS[n], 1.0, "×")
        for n in ("512", "2048")
    ),
    *(
        Target(f"training-{width}", "training step", f"head width {width}", 0.45, "×")
        for width in ("64", "256")
    ),
    Target("sampler-speed", "exact sampler", "times faster than vectors", 5000.0, "×", True),
    Target("sampler-law", "exact sampler", "p value, same law", 0.01, "", True),
    Target("ablation", "ablation", "whole ablation", 5.0, " s"),
)
GROUPS = tuple(dict.fromkeys(target.group for target in TARGETS))
PEER_TABLES = (
    "forward, calibrated scores",
    "forward, large scores",
    "output and gradients",
    "training step",
)
"""Groups whose other contestants are shown as well, by the cases of their targets."""
DRAWN = PEER_TABLES[:3]
_FIELDS = ("value", "low", "high", "floor")


def load(path: Path = COMMITTED) -> dict[str, Any]:
    """Read results; by default those that the book shows."""
    return json.loads(path.read_text(encoding="utf-8"))


def met(target: Target, value: float) -> bool:
    """Say whether a value reaches a target."""
    return value >= target.limit if target.at_least else value <= target.limit


def verdicts(results: Mapping[str, Any]) -> dict[str, bool]:
    """Return for the key of each measured target whether it is met."""
    records = results["records"]
    return {
        target.key: met(target, records[target.key]["value"])
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
    parts = ("machine", "settings", "rates", "memory", "sampler")
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
    return f"{'≥' if target.at_least else '≤'} {quantity(target.limit, target.unit)}"


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
    groups = [results["peers"][title] for title in DRAWN]
    names = list(dict.fromkeys(name for rows in groups for row in rows.values() for name in row))
    names.remove("PyTorch")
    values = [[[row.get(name) for name in names] for row in rows.values()] for rows in groups]
    return list(DRAWN), [list(rows) for rows in groups], names, values


def _explanation(target: Target, floor: float | None) -> str:
    if floor is None:
        return ""
    text = f" The matrix products and exponentials alone would give {quantity(floor, target.unit)}"
    if met(target, floor):
        return f"{text}, so what is missing is overhead and not arithmetic."
    return f"{text}: on this machine the floor itself is outside the target."


def missed(results: Mapping[str, Any], *groups: str) -> list[str]:
    """Say of each missed target of some groups, or of all, by how much, and what the floor is."""
    reached = verdicts(results)
    lines = []
    for target in TARGETS:
        if reached.get(target.key, True) or target.group not in (groups or GROUPS):
            continue
        record = results["records"][target.key]
        lines.append(
            f"- **{target.group}, {target.case}**: {_measured(target, record)}, wanted "
            f"{_bound(target)}.{_explanation(target, record.get('floor'))}"
        )
    return lines


def summary(results: Mapping[str, Any]) -> str:
    """Answer in two sentences how fast and how large attnlib is beside PyTorch."""

    def ratios(group: str) -> str:
        values = [row["attnlib"] for row in results["peers"][group].values()]
        return f"{digits(min(values))} to {digits(max(values))}"

    forward, large, both, step = map(ratios, PEER_TABLES)
    entry = results["memory"][0]

    def beyond(*instruments: str) -> str:
        sizes = [entry[name] for name in instruments if entry[name] is not None]
        return f"{(max(sizes) - entry['output']) / 1e6:.1f} MB" if sizes else "a size not measured"

    own, peer = beyond("traced", "resident"), beyond("torch")
    return (
        f"**In short:** attention takes {forward} times as long as in PyTorch with calibrated "
        f"scores, {large} times with large ones and {both} times together with the gradients, and "
        f"a step of training {step} times, by length or width. For {entry['n']} tokens, memory "
        f"beyond inputs and output peaks at {own}, and at {peer} in PyTorch."
    )


def machine_table(results: Mapping[str, Any]) -> str:
    """Return what the results were measured on."""
    machine = results["machine"]
    threads = machine["threads"]
    names = {"blas": "OpenBLAS", "torch": "PyTorch", "jax": "JAX"}
    shown = [f"{name} {threads[key]}" for key, name in names.items() if threads[key] is not None]
    rates = results["rates"]
    rows = [
        ["processor", f"{machine['processor']}, {threads['cores']} cores used"],
        ["threads", ", ".join(shown)],
        ["OpenBLAS kernel", machine["blas_kernel"]],
        ["versions", ", ".join(f"{name} {v}" for name, v in machine["libraries"].items())],
        ["Python", f"{machine['python']} on {machine['system']}"],
        ["scores, QKᵀ", f"{digits(rates['scores'])} GFLOP/s"],
        ["weighted mean, PV", f"{digits(rates['mean'])} GFLOP/s"],
        ["exponentials", f"{digits(rates['exp'])} billion a second"],
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


def sampler_table(results: Mapping[str, Any]) -> str:
    """Return what was drawn to compare the sampler."""
    drawn = results["sampler"]
    rows = [
        ["head width", f"{drawn['width']:,}"],
        ["scores drawn by the sampler", f"{drawn['scores']:,}"],
        ["scores timed by vectors", f"{drawn['vectors_timed']:,}"],
        ["scores by vectors in the test", f"{drawn['compared']:,}"],
        ["largest distance between the two laws", f"{drawn['distance']}"],
    ]
    return table(["what", "value"], rows)
