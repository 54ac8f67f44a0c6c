"""Pack the Python that pages run: an interpreter, NumPy and the book's own packages.

    python tools/live.py        packs what pip fetched into .live

Pyodide and NumPy come inside another package; live/requirements.txt says which. Tests, headers and
those parts of the standard library that need a net, a screen or other processes are left out, as no
page can use them. What is the book's own, `book.live_python` packs at each build of the site.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.live_python import PACKED, own_files, pack  # noqa: E402

FETCHED = ROOT / ".live"
CORE = "gbdraw/web/vendor/pyodide/v0.29.0/full"
NUMPY = "gbdraw/web/vendor/pyodide-wheels/numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
ENCODINGS = "__init__|aliases|ascii|cp437|idna|latin_1|raw_unicode|unicode|utf_"
NOT_LIBRARY = re.compile(
    r"^(_pyrepl|asyncio/windows|ensurepip|ftplib|http/(client|cookiejar|server)|imaplib|mailbox"
    r"|multiprocessing|poplib|pydoc|smtplib|turtle|wsgiref|xml|xmlrpc"
    rf"|encodings/(?!{ENCODINGS}))"
)
"""What of the standard library stays away."""
NOT_NUMPY = re.compile(r"/(tests|f2py|include|_pyinstaller)/|\.(pyi|pxd|a|h)$|conftest|RECORD")
"""What of NumPy stays away."""
NOTE = """\
// Pyodide 0.29.0 (MPL-2.0, github.com/pyodide/pyodide), with CPython 3.13 (PSF-2.0, python.org);
// beside it NumPy 2.2.5 (BSD-3-Clause, numpy.org). The last part is the book's own (BSD-3-Clause).
"""


def slim(archive: bytes, without: re.Pattern[str]) -> bytes:
    """Return a zip archive without those files whose name fits a pattern."""
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        names = [name for name in whole.namelist() if not without.search(name)]
        return pack((name, whole.read(name)) for name in names if not name.endswith("/"))


def python_files(carrier: Path) -> dict[str, bytes]:
    """Return Python and NumPy as pages load them, by name, from the package that has both."""
    with zipfile.ZipFile(carrier) as wheel:
        core = zipfile.Path(wheel, f"{CORE}/")
        lock = json.loads((core / "pyodide-lock.json").read_text("utf-8"))
        scripts = [(core / name).read_text("utf-8") for name in ("pyodide.js", "pyodide.asm.js")]
        script_lock = f"const lock = {json.dumps({'info': lock['info'], 'packages': {}})};\n"
        script = re.sub("//# sourceMappingURL=.*", "", "\n".join([NOTE, *scripts, script_lock]))
        return {
            "pyodide.js": script.encode(),
            "pyodide.asm.wasm": (core / "pyodide.asm.wasm").read_bytes(),
            "python_stdlib.zip": slim((core / "python_stdlib.zip").read_bytes(), NOT_LIBRARY),
            "numpy.zip": slim(wheel.read(NUMPY), NOT_NUMPY),
        }


def sent_bytes(content: bytes) -> int:
    """Return how many bytes a server that compresses sends for a file.

    Examples
    --------
    >>> sent_bytes(b"no"), sent_bytes(b"no " * 1000) < 100
    (2, True)
    """
    return min(len(content), len(gzip.compress(content)))


def main() -> None:
    """Pack what was fetched, and say how much a page loads."""
    (carrier,) = FETCHED.glob("*.whl")
    PACKED.mkdir(exist_ok=True)
    files = python_files(carrier)
    for name, content in files.items():
        (PACKED / name).write_bytes(content)
    carrier.unlink()
    del files["pyodide.js"]  # which is part of the worker
    size = sum(map(sent_bytes, [*files.values(), *own_files().values()])) / 1e6
    (PACKED / "megabytes").write_text(f"{size:.0f}", encoding="utf-8")
    sys.stdout.write(f"Pages will load {size:.2f} MB of Python when a reader asks for it.\n")


if __name__ == "__main__":
    main()
