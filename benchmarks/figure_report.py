"""What was measured of the interactive figures, as words: targets, verdicts, table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import report

COMMITTED = Path(__file__).with_name("figures.json")
"""The results that the book shows."""
load = partial(report.load, COMMITTED)


class Limit(NamedTuple):
    """What every figure should keep to."""

    name: str
    most: float
    unit: str
    digits: int
    of: Callable[[Mapping[str, Any]], float]


def worst(what: str) -> Callable[[Mapping[str, Any]], float]:
    """Return what finds the largest value of a kind among a figure's controls."""
    return lambda figure: max(control[what] for control in figure["controls"].values())


LIMITS = (
    Limit("drawn after", 400, " ms", 0, lambda figure: figure["drawn"]),
    Limit("event to paint, 95 %", 22, " ms", 1, worst("paint p95")),
    Limit("handler, half", 1, " ms", 1, worst("handler p50")),
    Limit("compressed", 12, " kB", 1, lambda figure: figure["bytes"] / 1000),
    Limit("layout shift", 0, "", 3, lambda figure: figure["shift"]),
)


SCENE = 20
"""What the head may weigh, in kB: it is seven figures in one."""


def _most(limit: Limit, name: str) -> float:
    return SCENE if (limit.name, name) == ("compressed", "head") else limit.most


def _shown(limit: Limit, name: str, figure: Mapping[str, Any]) -> str:
    value = limit.of(figure)
    text = f"{value:.{limit.digits}f}{limit.unit}"
    return text if value <= _most(limit, name) else f"**{text}**"


def figure_table(results: Mapping[str, Any]) -> str:
    """Return a row for each figure, with what is above its limit in bold."""
    rows = [
        [name.replace("_", " "), *(_shown(limit, name, figure) for limit in LIMITS)]
        for name, figure in results["figures"].items()
    ]
    limits = ["at most", *(f"{limit.most}{limit.unit}" for limit in LIMITS)]
    limits[4] += f" (head {SCENE})"
    bare = ["*the browser alone*", "", f"{results['bare']:.1f} ms", *[""] * 3]
    return report.table(["figure", *(limit.name for limit in LIMITS)], [*rows, bare, limits])


def missed(results: Mapping[str, Any]) -> list[str]:
    """Say which figure misses which limit."""
    return [
        f"- **{name.replace('_', ' ')}**, {limit.name}: {_shown(limit, name, figure)}, "
        f"wanted at most {_most(limit, name)}{limit.unit}."
        for name, figure in results["figures"].items()
        for limit in LIMITS
        if limit.of(figure) > _most(limit, name)
    ]


def machine_line(results: Mapping[str, Any]) -> str:
    """Return what the figures were measured with."""
    machine = results["machine"]
    return (
        f"{machine['browser']} without a window, {machine['processor']}, {machine['system']}, "
        f"{results['events']} events for each control, {results['loads']} loads, "
        f"{machine['date']}."
    )
