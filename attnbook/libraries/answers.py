"""The file of verdicts: for each question its answers, and for each answer who gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attnbook.data import data_file

FILE = data_file("libraries.json")
Answers = dict[str, Any]


def collect(results: Mapping[str, Mapping[str, Any]]) -> Answers:
    """Return what the calls answered, by question and verdict, with the releases.

    Examples
    --------
    >>> found = {"package": "jax", "version": "1.0", "verdicts": {"scale 0": "refused"}}
    >>> collect({"JAX": found})
    {'versions': {'JAX': 'jax 1.0'}, 'answers': {'scale 0': {'refused': ['JAX']}}}
    """
    versions = {call: f"{found['package']} {found['version']}" for call, found in results.items()}
    answers: dict[str, dict[str, list[str]]] = {}
    for call, found in results.items():
        for question, verdict in found["verdicts"].items():
            answers.setdefault(question, {}).setdefault(verdict, []).append(call)
    return {"versions": versions, "answers": answers}


def cells(answers: Answers) -> Iterator[tuple[str, str, str]]:
    """Yield each question, who was asked, and the verdict.

    Examples
    --------
    >>> list(cells({"answers": {"scale 0": {"refused": ["JAX"]}}}))
    [('scale 0', 'JAX', 'refused')]
    """
    for question, verdicts in answers["answers"].items():
        for verdict, calls in verdicts.items():
            for call in calls:
                yield question, call, verdict


def differences(kept: Answers, found: Answers) -> list[str]:
    """Say in words which verdicts are new or others than those kept, for the calls that were asked.

    Examples
    --------
    >>> old = {"versions": {"JAX": "jax 1.0"}, "answers": {"scale 0": {"NaN": ["JAX"]}}}
    >>> new = {"versions": {"JAX": "jax 1.1"}, "answers": {"scale 0": {"refused": ["JAX"]}}}
    >>> differences(old, new), differences(old, old)
    (['JAX (jax 1.0 → jax 1.1), scale 0: NaN → refused'], [])
    """
    before = {(question, call): verdict for question, call, verdict in cells(kept)}
    after = {(question, call): verdict for question, call, verdict in cells(found)}
    asked = set(found["versions"])
    return [
        f"{call} ({kept['versions'].get(call, 'none')} → {found['versions'][call]}), "
        f"{question}: {before.get((question, call), 'none')} → "
        f"{after.get((question, call), 'none')}"
        for question, call in {**before, **after}
        if call in asked and before.get((question, call)) != after.get((question, call))
    ]


def write(path: Path, found: Answers, kept: Answers) -> None:
    """Write the verdicts, and keep those of calls that were not asked."""
    results: dict[str, dict[str, Any]] = {}
    for answers in (kept, found):
        for call, release in answers["versions"].items():
            package, _, version = release.rpartition(" ")
            results[call] = {"package": package, "version": version, "verdicts": {}}
        for question, call, verdict in cells(answers):
            results[call]["verdicts"][question] = verdict
    text = json.dumps(collect(results), ensure_ascii=False, indent=1)
    # a line for each answer
    text = re.sub(
        r"\[\s+(.*?)\s+\]", lambda list_: re.sub(r"\n\s*", " ", list_[0]), text, flags=re.DOTALL
    )
    path.write_text(text + "\n", encoding="utf-8")
