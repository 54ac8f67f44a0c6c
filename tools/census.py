"""Count what the models of one release of transformers multiply q·k by: ``make census``.

Wheels are downloaded, read and never run. Without options the committed release is read, and
``data/census.json`` written. ``--check`` writes nothing and fails if the file would be another
one; ``--newest`` reads the newest release instead and says in words what differs, if anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

from attnbook.models.census.field import (
    BY_EYE,
    changes,
    classes,
    counts,
    difference,
    families,
    refuse_outdated,
)
from attnbook.models.census.wheels import Release
from book.files import atomic_write

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "census.json"
WHEELS = ROOT / "_build" / "census"
RELEASE = "5.24.0"
#: Older releases, for the first that has a family and for what changed.
COMPARED = ("4.57.6", "5.0.0", "5.4.0", "5.9.0", "5.14.0", "5.19.0", "5.23.0")
#: These are read whole; of the others, the names of the folders.
READ = ("4.57.6", "5.14.0")


def wheel(requirement: str) -> Path:
    """Return the wheel of a package, downloaded if it is not there."""
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version or '*'}-*.whl"
    if not version or not any(WHEELS.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        into = WHEELS if version else WHEELS / "newest"
        subprocess.run([*command, "--dest", str(into), requirement], check=True)
        return max(into.glob(pattern), key=lambda path: path.stat().st_mtime)
    return next(WHEELS.glob(pattern))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the classes of one release; a process of its own can do that."""
    return classes(Release(path))


def confirm_packages() -> list[dict[str, Any]]:
    """Return what was read by eye in other packages, if each expression is still in its file."""
    pairs = json.loads(BY_EYE.read_text(encoding="utf-8"))["packages"]
    for pair in pairs:
        for side in pair["sides"]:
            if side["package"].startswith("vllm=="):
                continue  # hundreds of megabytes
            with zipfile.ZipFile(wheel(side["package"])) as opened:
                if side["expression"] not in opened.read(side["file"]).decode("utf-8"):
                    raise SystemExit(f"{side['package']}: {side['file']} has changed")
    return pairs


def census(path: Path) -> dict[str, Any]:
    """Return the census of a release, as it is written to the file."""
    older = [wheel(f"transformers=={version}") for version in COMPARED]
    whole = [old for old in older if old.name.split("-")[1] in READ]
    with ProcessPoolExecutor(2) as pool:
        rows, *before = pool.map(read, [path, *whole])
    release = Release(path)
    first = dict.fromkeys(release.modeling, release.version)
    for old in reversed(older):
        first |= dict.fromkeys(Release(old).modeling, old.name.split("-")[1])
    found = families(rows, first)
    stages = list(zip((*READ, release.version), (*before, rows), strict=True))
    return {
        "about": "What the attention classes of transformers multiply q·k by; made by make census.",
        "release": release.version,
        "compared": list(COMPARED),
        "folders": len(release.modeling),
        "counts": counts(found),
        "families": found,
        "changes": [
            {"from": old, "to": new, **change}
            for (old, one), (new, other) in pairwise(stages)
            for change in changes(one, other)
        ],
        "classes": rows,
    }


def written(found: dict[str, Any]) -> str:
    """Return a census as the text of its file: a line for each entry of a list."""
    parts = []
    for key, value in found.items():
        lines = (
            [json.dumps(item, ensure_ascii=False) for item in value]
            if isinstance(value, list)
            else []
        )
        body = (
            "[\n  " + ",\n  ".join(lines) + "\n ]"
            if lines
            else json.dumps(value, ensure_ascii=False)
        )
        parts.append(f" {json.dumps(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Make the census, compare it or write it; return an exit status."""
    if "--newest" in arguments:
        found = census(wheel("transformers"))
        lines = difference(json.loads(DATA.read_text(encoding="utf-8")), found)
        if lines:
            print("\n- ".join([f"transformers {found['release']}, beside {RELEASE}:", *lines]))
        return 0
    found = census(wheel(f"transformers=={RELEASE}"))
    refuse_outdated(found["classes"])
    found["packages"] = confirm_packages()
    sample = json.loads(BY_EYE.read_text(encoding="utf-8"))["sample"]
    found["sample"] = {"size": len(sample["names"]), "wrong": len(sample["wrong"])}
    if "--check" in arguments:
        return DATA.read_text(encoding="utf-8") != written(found)
    atomic_write(DATA, written(found))
    print(found["counts"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
