"""What the book adds to the Python that its pages run: its own packages, the worker, the editor."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "live"
PACKED = ROOT / ".live" / "packed"
"""What comes from elsewhere, as pages load it."""
# The first moment that a zip file can name: the same files give the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as a zip archive, each as small as it gets."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in files:
            packed.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED, 9)
    return archive.getvalue()


def own_files(packed: Path = PACKED) -> dict[str, bytes]:
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
