"""Turn the measurements of the grader into tables with their targets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import report

COMMITTED = Path(__file__).with_name("grading.json")
load = partial(report.load, COMMITTED)
LEAST_SPEED_UP = 1.8
MOST_MEGABYTES = 500
STRETCH = 0.7


def rows(results: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """Return what was measured, how much, the target, and whether it was met."""
    bulk, speed, ceiling = results["bulk"], results["speed"], results["ceiling"]
    many, memory = results["many"], results["memory"]
    return [
        (
            "processor time of a submission, relative to plain nbgrader without a sandbox",
            f"{bulk['ratio']:.2f} ({bulk['ours']:.2f} s against {bulk['plain']:.2f} s)",
            f"at most 1, at best {STRETCH}",
            bulk["ratio"] <= 1,
        ),
        (
            f"{speed['submissions']} submissions by two workers, against one",
            (
                f"{speed['ratio']:.2f} times as fast ({speed['two']:.0f} s, {speed['one']:.0f} s); "
                f"plain processes that mark and do nothing else: {ceiling['ratio']:.2f} "
                f"({ceiling['least']:.2f} to {ceiling['most']:.2f})"
            ),
            f"at least {LEAST_SPEED_UP}",
            speed["ratio"] >= LEAST_SPEED_UP,
        ),
        (
            (
                f"{many['submissions']} submissions, {many['hostile']} of them hostile, "
                f"a worker killed {len(many['killed'])} times"
            ),
            (
                f"{many['right']} right, {many['lost']} lost, {many['doubled']} doubled; "
                f"{many['seconds'] / many['submissions']:.2f} s each"
            ),
            "all right, a worker killed twice",
            many["right"] == many["submissions"]
            and many["lost"] == many["doubled"] == 0
            and len(many["killed"]) == 2,
        ),
        (
            f"memory of the coordinating process, {memory['submissions']} simulated results",
            f"{memory['megabytes']:.0f} MB",
            f"at most {MOST_MEGABYTES} MB",
            memory["megabytes"] <= MOST_MEGABYTES and memory["rows"] == memory["submissions"],
        ),
    ]


def tables(results: dict[str, Any]) -> str:
    """Return the table in Markdown."""
    return report.table(
        ["what", "measured", "target", ""],
        [[*row, "met" if met else "**missed**"] for *row, met in rows(results)],
    )


def missed(results: dict[str, Any]) -> list[str]:
    """Say which target is missed."""
    return [
        f"- **{what}**: {found}, wanted {target}."
        for what, found, target, met in rows(results)
        if not met
    ]


def class_line(results: dict[str, Any], students: int) -> str:
    """Return how long marking takes if so many hand in one problem set each, in proportion."""
    speed, many = results["speed"], results["many"]
    one, two, hostile = (
        students * seconds / submissions / 60
        for seconds, submissions in (
            (speed["one"], speed["submissions"]),
            (speed["two"], speed["submissions"]),
            (many["seconds"], many["submissions"]),
        )
    )
    share = many["submissions"] // many["hostile"]
    return (
        f"In proportion, {students} students with one problem set each take {one:.1f} minutes with "
        f"one worker and {two:.1f} with two, on the machine below; {hostile:.1f} with two if one "
        f"in {share} is hostile and workers are killed. The paragraph that a person marks comes "
        "on top, and was not timed."
    )


def machine_line(results: dict[str, Any]) -> str:
    """Return on what the grader was measured, and how often."""
    machine, bulk = results["machine"], results["bulk"]
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}, nbgrader {machine['nbgrader']}; processor time of "
        f"{bulk['submissions']} submissions together, start and end of the programs included; "
        f"medians of {bulk['rounds']} rounds; {machine['date']}."
    )
