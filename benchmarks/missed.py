"""Which targets are missed, of all that were measured: one table of counts and one list.

``python -m benchmarks.missed`` prints both from the committed results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks import accuracy, figure_report, grading_report, report, site_report


class Part(NamedTuple):
    """The targets of one part of the page: how many there are, and a line for each missed one."""

    name: str
    targets: int
    misses: tuple[str, ...]


def parts(
    speed: dict[str, Any], moving: dict[str, Any], grading: dict[str, Any], site: dict[str, Any]
) -> Iterator[Part]:
    """Yield the parts of the page in its order."""
    errors = list(accuracy.measure())
    yield Part("forward, error", len(errors), tuple(accuracy.missed(errors)))
    reached = report.verdicts(speed)
    for group in report.GROUPS:
        count = sum(target.key in reached for target in report.TARGETS if target.group == group)
        yield Part(group, count, tuple(report.missed(speed, group)))
    figures = len(moving["figures"]) * len(figure_report.LIMITS)
    yield Part("figures that move", figures, tuple(figure_report.missed(moving)))
    marked = len(grading_report.rows(grading))
    yield Part("marking problem sets", marked, tuple(grading_report.missed(grading)))
    yield Part("the site", len(site_report.rows(site)), tuple(site_report.missed(site)))


def committed() -> list[Part]:
    """Return the parts with the results that the book shows."""
    measured = (report, figure_report, grading_report, site_report)
    return list(parts(*(each.load() for each in measured)))


def count_table(found: list[Part]) -> str:
    """Return how many targets each part has and how many of them it misses.

    Examples
    --------
    >>> print(count_table([Part("one", 4, ("- **a**: 3",)), Part("other", 2, ())]))
    | part | targets | missed |
    |---|---|---|
    | one | 4 | **1** |
    | other | 2 | 0 |
    | all | 6 | **1** |
    """
    whole = Part(
        "all", sum(part.targets for part in found), sum((part.misses for part in found), ())
    )
    lines = []
    for part in [*found, whole]:
        misses = len(part.misses)
        lines.append([part.name, f"{part.targets}", f"**{misses}**" if misses else "0"])
    return report.table(["part", "targets", "missed"], lines)


def listing(found: list[Part]) -> str:
    """Return every miss, part by part, or that there is none.

    Examples
    --------
    >>> print(listing([Part("one", 4, ("- **a**: 3, wanted 2.",)), Part("other", 2, ())]))
    In *one*, 1 of 4:
    <BLANKLINE>
    - **a**: 3, wanted 2.
    >>> listing([Part("other", 2, ())])
    'Every target is met.'
    """
    told = [
        "\n".join([f"In *{part.name}*, {len(part.misses)} of {part.targets}:", "", *part.misses])
        for part in found
        if part.misses
    ]
    return "\n\n".join(told) or "Every target is met."


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(["", count_table(committed()), listing(committed()), ""]))
