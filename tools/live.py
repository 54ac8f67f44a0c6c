"""Pack the Python that pages run: an interpreter, NumPy and the book's own packages.

    python tools/live.py        packs what pip fetched into .live

Pyodide and NumPy come inside another package; live/requirements.txt says which. Tests, headers and
those parts of the standard library that need a net, a screen or other processes are left out, as no
page can use them. What is the book's own, `own` packs at each build of the site.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "live"
FETCHED = ROOT / ".live"
PACKED = FETCHED / "packed"
"""What comes from elsewhere, as pages load it."""
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


def python(carrier: Path) -> dict[str, bytes]:
    """Return Python and NumPy as pages load them, by name, from the package that has both."""
    with zipfile.ZipFile(carrier) as wheel:
        core = zipfile.Path(wheel, f"{CORE}/")
        lock = json.loads((core / "pyodide-lock.json").read_text("utf-8"))
        scripts = [(core / name).read_text("utf-8") for name in ("pyodide.js", "pyodide.asm.js")]
        told = f"const lock = {json.dumps({'info': lock['info'], 'packages': {}})};\n"
        script = re.sub("//# sourceMappingURL=.*", "", "\n".join([NOTE, *scripts, told]))
        return {
            "pyodide.js": script.encode(),
            "pyodide.asm.wasm": (core / "pyodide.asm.wasm").read_bytes(),
            "python_stdlib.zip": slim((core / "python_stdlib.zip").read_bytes(), NOT_LIBRARY),
            "numpy.zip": slim(wheel.read(NUMPY), NOT_NUMPY),
        }


def own(packed: Path = PACKED) -> dict[str, bytes]:
    """Return what the book adds to a folder with Python: its packages, the worker, the editor."""
    paths = [path for name in ("attnlib", "attnbook") for path in (ROOT / name).rglob("*.py")]
    tables = (ROOT / "data").glob("*.json")
    files = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in sorted(paths)]
    # under the name that an installed package has them by
    files += [(f"attnbook/_data/{path.name}", path.read_bytes()) for path in sorted(tables)]
    files += [(name, (OWN / name).read_bytes()) for name in ("cells.py", "cell_dependencies.py")]
    book = pack(files)
    loaded = [*packed.glob("*.zip"), *packed.glob("*.wasm")]
    total = sum(path.stat().st_size for path in loaded) + len(book)
    parts = [(packed / "pyodide.js").read_bytes(), (OWN / "worker.js").read_bytes()]
    editor = [(OWN / name).read_text("utf-8") for name in ("python.js", "editor.js")]
    return {
        "worker.js": b"\n".join([f"const total = {total};".encode(), *parts]),
        "book.zip": book,
        "editor.js": "{{\n{}\n}}\n".format("\n".join(editor)).encode(),
    }


def sent(content: bytes) -> int:
    """Return how many bytes a server that compresses sends for a file.

    Examples
    --------
    >>> sent(b"no"), sent(b"no " * 1000) < 100
    (2, True)
    """
    return min(len(content), len(gzip.compress(content)))


def main() -> None:
    """Pack what was fetched, and say how much a page loads."""
    (carrier,) = FETCHED.glob("*.whl")
    PACKED.mkdir(exist_ok=True)
    files = python(carrier)
    for name, content in files.items():
        (PACKED / name).write_bytes(content)
    carrier.unlink()
    del files["pyodide.js"]  # which is part of the worker
    size = sum(map(sent, [*files.values(), *own().values()])) / 1e6
    (PACKED / "megabytes").write_text(f"{size:.0f}", encoding="utf-8")
    sys.stdout.write(f"Pages will load {size:.2f} MB of Python when a reader asks for it.\n")


if __name__ == "__main__":
    main()
