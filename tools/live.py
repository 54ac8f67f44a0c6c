"""Pack the Python that the pages run: an interpreter, NumPy and the book's own packages.

    python tools/live.py .live _build/live       packs what npm and pip fetched into .live

Pyodide comes from npm. NumPy as built for it comes inside of another package (live/requirements.txt)
and has to be the file that Pyodide's own list names. Left out is what a page cannot use: tests,
headers and the parts of the standard library that need a net, a screen or other processes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "live"
CORE = ["pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json"]
# The first moment that a zip file can name: the same files give the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)
NOT_LIBRARY = re.compile(
    r"_pyrepl|asyncio/windows_|bdb\.|cmd\.|doctest\.|email/|ensurepip|ftplib|http/(client|server|cookiejar)"
    r"|imaplib|mailbox|multiprocessing|optparse|pdb\.|pickletools|poplib|pydoc|smtplib"
    r"|turtle|unittest|wsgiref|xml|encodings/(?!__init__|aliases|ascii|idna|latin_1|raw_unicode|unicode|utf_|cp437|cp1252)"
)
NOT_NUMPY = re.compile(
    r"/tests/|/f2py/|/include/|/lib/.*\.a$|\.(pyi|pxd|a|h|ini|rst|md)$|conftest|_pyinstaller|RECORD"
)
"""Of the standard library and of NumPy, what stays away."""


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as a zip archive, each as small as it gets."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in files:
            packed.writestr(
                zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED, compresslevel=9
            )
    return archive.getvalue()


def slim(archive: bytes, without: re.Pattern[str]) -> bytes:
    """Return a zip archive without some of its files."""
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        names = [name for name in whole.namelist() if not without.search(name)]
        return pack((name, whole.read(name)) for name in names if not name.endswith("/"))


def numpy_wheel(fetched: Path) -> bytes:
    """Return NumPy for Pyodide, the very file that Pyodide's own list names."""
    core = fetched / "node_modules" / "pyodide"
    wanted = json.loads((core / "pyodide-lock.json").read_text())["packages"]["numpy"]
    [carrier] = fetched.glob("*.whl")
    with zipfile.ZipFile(carrier) as files:
        [name] = [name for name in files.namelist() if name.endswith(wanted["file_name"])]
        wheel = files.read(name)
    if hashlib.sha256(wheel).hexdigest() != wanted["sha256"]:
        message = f"{name} in {carrier.name} is not the file that pyodide-lock.json names."
        raise SystemExit(message)
    return wheel


def book() -> bytes:
    """Return the book's packages and the module that runs cells, as one archive."""
    paths = [path for name in ("attnlib", "attnbook") for path in sorted((ROOT / name).rglob("*.py"))]
    files = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in paths]
    return pack([*files, ("cells.py", (OWN / "cells.py").read_bytes())])


def build(fetched: Path, out: Path) -> dict[str, dict[str, int]]:
    """Write all that a page loads, and return the sizes of the files, as they are and as sent."""
    core = fetched / "node_modules" / "pyodide"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in CORE:
        shutil.copyfile(core / name, out / name)
    shutil.copyfile(OWN / "worker.js", out / "worker.js")
    library = slim((core / "python_stdlib.zip").read_bytes(), NOT_LIBRARY)
    (out / "python_stdlib.zip").write_bytes(library)
    (out / "numpy.zip").write_bytes(slim(numpy_wheel(fetched), NOT_NUMPY))
    (out / "book.zip").write_bytes(book())
    sizes = {path.name: sizes_of(path.read_bytes()) for path in sorted(out.iterdir())}
    (out / "sizes.json").write_text(json.dumps(sizes))
    return sizes


def sizes_of(content: bytes) -> dict[str, int]:
    """Return a file's size, and its size as a server sends it."""
    return {"size": len(content), "sent": min(len(content), len(gzip.compress(content)))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pack the Python that the pages run.")
    parser.add_argument("fetched", type=Path, help="where npm and pip put what they fetched")
    parser.add_argument("out", type=Path, help="the folder to write, as in _build/live")
    arguments = parser.parse_args()
    sizes = build(arguments.fetched, arguments.out)
    for name, size in sizes.items():
        print(f"{name}: {size['size'] / 1e6:.2f} MB, sent {size['sent'] / 1e6:.2f} MB")
    print(f"in all {sum(size['sent'] for size in sizes.values()) / 1e6:.2f} MB sent")
