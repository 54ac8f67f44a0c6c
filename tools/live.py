"""Pack the Python that pages run: an interpreter, NumPy and the book's own packages.

    python tools/live.py .live _build/live       packs what pip fetched into .live

Pyodide and NumPy come inside another package; live/requirements.txt says which. Tests, headers and
those parts of the standard library that need a net, a screen or other processes are left out, as no
page can use them.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import shutil
import zipfile
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "live"
CORE = "gbdraw/web/vendor/pyodide/v0.29.0/full"
NUMPY = "gbdraw/web/vendor/pyodide-wheels/numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
ENCODINGS = "__init__|aliases|ascii|cp437|idna|latin_1|raw_unicode|unicode|utf_"
NOT_LIBRARY = re.compile(
    r"^(_pyrepl|asyncio/windows|ensurepip|ftplib|http/(client|cookiejar|server)|imaplib|mailbox"
    r"|multiprocessing|poplib|pydoc|smtplib|turtle|wsgiref|xml|xmlrpc"
    rf"|encodings/(?!{ENCODINGS}))"
)
NOT_NUMPY = re.compile(r"/(tests|f2py|include|_pyinstaller)/|\.(pyi|pxd|a|h)$|conftest|RECORD")
"""Of the standard library and of NumPy, what stays away."""
NOTE = """\
// Pyodide 0.29.0 (MPL-2.0, github.com/pyodide/pyodide), with CPython 3.13 (PSF-2.0, python.org);
// beside it NumPy 2.2.5 (BSD-3-Clause, numpy.org). The last part is the book's own (BSD-3-Clause).
"""
# The first moment that a zip file can name: the same files give the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as a zip archive, each as small as it gets."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in files:
            packed.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED, 9)
    return archive.getvalue()


def slim(archive: bytes, without: re.Pattern[str]) -> bytes:
    """Return a zip archive without those files whose name fits a pattern."""
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        names = [name for name in whole.namelist() if not without.search(name)]
        return pack((name, whole.read(name)) for name in names if not name.endswith("/"))


def book() -> bytes:
    """Return the book's packages and the module that runs cells as one archive."""
    paths = [path for name in ("attnlib", "attnbook") for path in (ROOT / name).rglob("*.py")]
    files = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in sorted(paths)]
    return pack([*files, ("cells.py", (OWN / "cells.py").read_bytes())])


def worker(core: zipfile.Path, total: int) -> bytes:
    """Return the script that a page starts, which loads `total` bytes more."""
    lock = {"info": json.loads((core / "pyodide-lock.json").read_text())["info"], "packages": {}}
    told = f"const lock = {json.dumps(lock)}, total = {total};"
    theirs = [(core / name).read_text("utf-8") for name in ("pyodide.js", "pyodide.asm.js")]
    parts = [NOTE, *theirs, told, (OWN / "worker.js").read_text("utf-8")]
    return re.sub("//# sourceMappingURL=.*", "", "\n".join(parts)).encode()


def packed(carrier: Path) -> dict[str, bytes]:
    """Return all files that a page loads, by name, from the package that has most of them."""
    with zipfile.ZipFile(carrier) as wheel:
        core = zipfile.Path(wheel, f"{CORE}/")
        files = {
            "pyodide.asm.wasm": (core / "pyodide.asm.wasm").read_bytes(),
            "python_stdlib.zip": slim((core / "python_stdlib.zip").read_bytes(), NOT_LIBRARY),
            "numpy.zip": slim(wheel.read(NUMPY), NOT_NUMPY),
            "book.zip": book(),
        }
        return {"worker.js": worker(core, sum(map(len, files.values()))), **files}


def on_disk(content: bytes) -> bytes:
    r"""Return a file as a script, which a page from a disk may load.

    Examples
    --------
    >>> on_disk(b"Python")
    b'document.currentScript.content = "UHl0aG9u";\n'
    """
    return b'document.currentScript.content = "%b";\n' % b64encode(content)


def sent(content: bytes) -> int:
    """Return how many bytes a server that compresses sends for a file.

    Examples
    --------
    >>> sent(b"no"), sent(b"no " * 1000) < 100
    (2, True)
    """
    return min(len(content), len(gzip.compress(content)))


def main() -> None:
    """Write the files, and say how large they are."""
    parser = argparse.ArgumentParser(description="Pack the Python that pages run.")
    parser.add_argument("fetched", type=Path, help="the folder that pip put its package into")
    parser.add_argument("out", type=Path, help="the folder to write, as in _build/live")
    parser.add_argument("--disk", action="store_true", help="as scripts, for pages from a disk")
    arguments = parser.parse_args()
    [carrier] = arguments.fetched.glob("*.whl")
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    files = packed(carrier)
    for name, content in files.items():
        if arguments.disk:
            (arguments.out / f"{name}.js").write_bytes(on_disk(content))
        else:
            (arguments.out / name).write_bytes(content)
        print(f"{name}: {len(content) / 1e6:.2f} MB, sent {sent(content) / 1e6:.2f} MB")
    print(f"in all {sum(map(sent, files.values())) / 1e6:.2f} MB sent")


if __name__ == "__main__":
    main()
