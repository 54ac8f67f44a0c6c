"""Ask other libraries how they compute attention; ``make libraries`` writes ``libraries.json``.

Each environment of pinned releases is made in a temporary folder and deleted again. The verdicts
that differ from the file are printed; with ``--check`` nothing is written, and the exit status says
whether there are any. ``--only NAME`` asks one environment, and ``--newest`` takes the newest
releases, which never changes the file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from attnbook.libraries.answers import FILE, collect, differences, write  # noqa: E402

KERAS = "keras==3.15.1"
JAX = ("jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6", "ml-dtypes==0.5.4")
ENVIRONMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "onnx": (
        ("onnx==1.23.2", "onnxruntime==1.32.0", "numpy==2.4.6", "ml-dtypes==0.5.4"),
        ("ONNX 23", "ONNX 25", "ONNX 24, body", "ONNX Runtime 24", "ONNX Runtime 25"),
    ),
    "mlx": (("mlx==0.32.4", "mlx-cpu==0.32.4", "numpy==2.4.6", "ml-dtypes==0.5.4"), ("MLX",)),
    # compiles with clang, which has to be there
    "tinygrad": (("tinygrad==0.14.0", "numpy==2.4.6", "ml-dtypes==0.5.4"), ("tinygrad",)),
    "jax": (
        (*JAX, "flax==0.12.8", "equinox==0.13.8", "dm-haiku==0.0.17", "scipy==1.17.1"),
        ("JAX", "Flax nnx", "Flax linen", "Equinox", "Haiku module", "SciPy"),
    ),
    "keras": (
        (*JAX, KERAS, "openvino==2026.4.1"),
        (
            *("Keras on JAX", "Keras on NumPy", "Keras on OpenVINO"),
            *("Keras layer", "Keras layer, scores", "OpenVINO"),
        ),
    ),
    "paddle": (
        ("paddlepaddle==3.3.1", "setuptools==80.9.0", "ml-dtypes==0.5.4"),
        ("Paddle", "Paddle compat"),
    ),
    "torch": (
        ("torch==2.14.1", "transformers==5.24.0", "x-transformers==2.31.10", KERAS),
        (
            *("PyTorch", "PyTorch, MATH", "PyTorch module", "PyTorch module, weights"),
            *("transformers, eager", "x-transformers", "x-transformers, flash"),
            "Keras on PyTorch",
        ),
    ),
    "tensorflow": (("tensorflow==2.21.0", KERAS), ("Keras on TensorFlow",)),
    "mindspore": (
        ("mindspore==2.10.0", "numpy==1.26.4", "ml-dtypes==0.5.4"),
        ("MindSpore module",),
    ),
    "attnlib": ((), ("attnlib",)),
}
"""The releases that fit together, and the calls that are asked in them."""


def installed(folder: Path, pins: tuple[str, ...]) -> Path:
    """Make an environment, and return its Python; without pins it is the present one."""
    if not pins:
        return Path(sys.executable)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    options = ["--quiet", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *options, *pins], check=True)
    return python


def ask_library(python: Path, call: str) -> dict[str, object]:
    """Return the release and the verdicts of one call, in a process of its own."""
    paths = os.pathsep.join(map(str, (ROOT / "attnbook", ROOT)))
    done = subprocess.run(
        [python, "-m", "libraries.ask", call],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(arguments: list[str] | None = None) -> int:
    """Ask, compare with the file, and write it unless told otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--newest", action="store_true", help="the newest releases; write nothing")
    parser.add_argument("--only", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS))
    options = parser.parse_args(arguments)
    results = {}
    for environment in options.only:
        pins, calls = ENVIRONMENTS[environment]
        if options.newest:
            pins = tuple(re.sub("==.*", "", pin) for pin in pins)
        with tempfile.TemporaryDirectory() as folder:
            try:
                python = installed(Path(folder), pins)
            except subprocess.CalledProcessError as error:
                sys.stdout.write(f"- {environment} could not be installed: {error}\n")
                continue
            for call in calls:
                sys.stderr.write(f"asking {call}\n")
                results[call] = ask_library(python, call)
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    found = collect(results)
    changed = differences(kept, found)
    sys.stdout.writelines(f"- {line}\n" for line in changed)
    if options.check or options.newest:
        return int(bool(changed))
    write(FILE, found, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
