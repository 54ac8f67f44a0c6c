"""The whole field: families by what their main stack does, and what changed between releases."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnbook.models.census.reading import FLAGGED, Row, read_release
from attnbook.models.census.wheels import Release

BY_EYE = Path(__file__).with_name("by_eye.json")
NOT_COUNTED = "no softmax of q·k"
#: The kinds of factor; of several in the main stack of a family, the first counts.
KINDS = (
    *("none", "1/d", "another root", "key's own length", "position", "learned", "constant"),
    *("configured", "root, YaRN option", "root, switches", "root"),
)
USUAL = KINDS[-3:]
#: Classes that are not the main stack of a family, where there are others.
SIDE = re.compile(
    "Vision|Audio|Pool|Residual|AttnBlock|AttentionMap|Assign|Channel|Aligner|Compressor|"
    "InvariantPoint|VQ|DiT|Code2Wav|Conformer"
)


class OutdatedError(Exception):
    """What was decided by eye no longer fits the source."""


def decided() -> dict[tuple[str, str], dict[str, Any]]:
    """Return what readers decided, by file and class."""
    entries = json.loads(BY_EYE.read_text(encoding="utf-8"))["classes"]
    return {(entry["file"], entry["name"]): entry for entry in entries}


def classes(release: Release, families: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return the classes of a release as they are written down.

    A class that the program flags gets what a reader decided. It stays flagged if there is no such
    entry, or if the class has changed since.
    """
    eye = decided()
    rows: list[dict[str, Any]] = []
    for row in read_release(release, families):
        entry = eye.pop((row.file.removeprefix("transformers/models/"), row.name), None)
        rows.append(_written(row, entry))
    for (file, name), entry in eye.items():
        family = file.partition("/")[0]
        if family not in release.modeling or (families is not None and family not in families):
            continue
        for source in release.sources([f"transformers/models/{file}"]):
            if name in source.classes:
                empty = Row(family, name, source.path, source.classes[name].lineno, FLAGGED,
                            "not found", None, None, (), source.digest(name))  # fmt: skip
                rows.append(_written(empty, entry))
    return sorted(rows, key=lambda row: (row["file"], row["line"]))


def _written(row: Row, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    found = row.as_json()
    found["file"] = row.file.removeprefix("transformers/models/")
    digest = found.pop("digest", "")
    if row.kind == FLAGGED and entry is not None and entry["digest"] == digest:
        found |= {"kind": entry["kind"], "expression": entry["expression"], "words": entry["words"]}
    return found


def refuse_outdated(rows: Iterable[Mapping[str, Any]]) -> None:
    """Raise `OutdatedError` with the names of the classes that nobody has read as they are."""
    if left := [f"{row['family']} {row['name']}" for row in rows if row["kind"] == FLAGGED]:
        raise OutdatedError(f"read these and add them to {BY_EYE.name}: " + ", ".join(left))


def families(rows: Iterable[Mapping[str, Any]], first: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what the main stack of each family does, and the first release that has it.

    Examples
    --------
    >>> row = {"family": "t5", "name": "T5Attention", "kind": "none", "expression": "1"}
    >>> families([row], {"t5": "4.57.6"})  # doctest: +ELLIPSIS
    [{'family': 't5', 'kind': 'none', 'class': 'T5Attention', 'first': '4.57.6', 'why': ...}]
    """
    why = json.loads(BY_EYE.read_text(encoding="utf-8"))["why"]
    by_family: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["kind"] != NOT_COUNTED:
            by_family.setdefault(row["family"], []).append(row)
    found = []
    for family, own in sorted(by_family.items()):
        main = [row for row in own if not SIDE.search(row["name"])] or own
        row = min(main, key=lambda row: (*KINDS, FLAGGED).index(row["kind"]))
        entry = {
            "family": family,
            "kind": row["kind"],
            "class": row["name"],
            "first": first[family],
        }
        entry |= {key: row[key] for key in ("words", "times", "width") if key in row}
        if row["kind"] not in ("root", "none") and "words" not in row:
            entry["words"] = row["expression"]
        if family in why:
            entry["why"] = why[family]
        if extras := sorted({extra for row in main for extra in row.get("extras", ())}):
            entry["extras"] = extras
        found.append(entry)
    return found


def changes(
    older: Sequence[Mapping[str, Any]], newer: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return the classes of two releases whose factor is another one.

    Only classes that were read without a flag in both are compared.
    """
    before = {(row["file"], row["name"]): row for row in older}
    found = []
    for row in newer:
        old = before.get((row["file"], row["name"]))
        if old is None or FLAGGED in (old["kind"], row["kind"]) or "words" in {**old, **row}:
            continue
        if old["expression"] != row["expression"]:
            change = {"class": row["name"], "family": row["family"]}
            found.append(change | {"old": old["expression"], "new": row["expression"]})
    return found


def difference(older: Mapping[str, Any], newer: Mapping[str, Any]) -> list[str]:
    """Return in words how one census differs from another.

    Examples
    --------
    >>> old = {"families": [{"family": "t5", "kind": "none"}], "classes": []}
    >>> new = {"families": [{"family": "t5", "kind": "root"}], "classes": []}
    >>> difference(old, new)
    ['t5: none is now root']
    """
    before = {entry["family"]: entry for entry in older["families"]}
    after = {entry["family"]: entry for entry in newer["families"]}
    lines = [
        f"{name}: {before[name]['kind']} is now {entry['kind']}"
        if name in before
        else f"{name} is new: {entry['kind']}" + f" ({entry['words']})" * ("words" in entry)
        for name, entry in after.items()
        if name not in before or before[name]["kind"] != entry["kind"]
    ]
    lines += [f"{name} is gone" for name in before if name not in after]
    lines += [
        f"{row['family']}, {row['name']}: nobody has read it as it is ({row['expression']})"
        for row in newer["classes"]
        if row["kind"] == FLAGGED
    ]
    return lines


def counts(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many families are of each kind."""
    counted = Counter(entry["kind"] for entry in found)
    return {kind: counted[kind] for kind in (*KINDS, FLAGGED) if counted[kind]}
