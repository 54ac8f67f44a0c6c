"""The files of a folder or a zip: listed once, read one at a time, believed in nothing."""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grading.safe_text import composed, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grading.results import Status

    Content = tuple[bytes | None, tuple[Status, str] | None]
    Reader = Callable[["File"], Content]

FILE_LIMIT = 20_000_000
"""Bytes of one notebook; of one that is larger the outputs are dropped first."""
READ_LIMIT = 100_000_000
"""Bytes of one notebook, outputs and all."""
PARTS_LIMIT = 1_000_000
"""Lists and dictionaries in the JSON, of which each costs memory."""
STRINGS_LIMIT = 2_000_000
NUMBERS_LIMIT = 10_000_000
"""Texts in it and entries between commas, of which the same holds."""
TOTAL_LIMIT = 100_000_000_000
"""Bytes of all files that would be read."""
COUNT_LIMIT = 200_000
"""Files in a folder or zip."""
RATIO_LIMIT = 500
"""How many times smaller compressed than not, for what is larger than `RATIO_FLOOR`."""
RATIO_FLOOR = 1_000_000
TOO_LARGE = f"the file is larger than {READ_LIMIT // 1_000_000} MB"
NOTEBOOK = ".ipynb"
IGNORED_FOLDERS = frozenset({"__MACOSX", ".ipynb_checkpoints", ".git", "__pycache__"})
IGNORED_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "timestamp.txt"})


@dataclass(frozen=True)
class File:
    """A file that came in."""

    parts: tuple[str, ...]  # its folders and its name, composed (NFC)
    origin: str  # the same for people
    key: Any  # how its source finds it
    size: int  # bytes, as far as the source says; not to be believed
    trouble: tuple[Status, str] | None = None  # why it cannot be read
    unsafe: str = ""  # why its name cannot say whose it is, or empty

    @property
    def is_notebook(self) -> bool:
        """Return whether it is called a notebook."""
        return self.parts[-1].casefold().endswith(NOTEBOOK)

    @property
    def is_ignored(self) -> bool:
        """Return whether the operating system, Jupyter or nbgrader made it."""
        name = self.parts[-1]
        return (
            not IGNORED_FOLDERS.isdisjoint(self.parts)
            or name in IGNORED_FILES
            or name.startswith("._")
        )


def content(raw: bytes) -> Content:
    """Return what was read, or why it is no submission."""
    if not raw:
        return None, ("invalid", "the file is empty")
    if len(raw) > READ_LIMIT:
        return None, ("invalid", TOO_LARGE)
    if len(raw) <= FILE_LIMIT:
        return raw, None
    size = f"the file is larger than {FILE_LIMIT // 1_000_000} MB"
    if too_many := too_many_parts(raw):
        return None, ("invalid", f"{size} and {too_many}")
    smaller = _without_outputs(raw)
    if smaller is None:
        return None, ("invalid", f"{size} and cannot be read as a notebook")
    if len(smaller) > FILE_LIMIT:
        return None, ("invalid", f"{size}, even without its outputs")
    return smaller, None


def too_many_parts(raw: bytes) -> str:
    r"""Return what a file has too much of to be read as JSON, if it has.

    Examples
    --------
    >>> too_many_parts(b'{"source": ["a, \"b\""]}')
    ''
    """
    quotes = raw.count(b'"') - raw.count(b'\\"')
    for name, count, most in (
        ("parts", raw.count(b"[") + raw.count(b"{"), PARTS_LIMIT),
        ("texts", quotes // 2, STRINGS_LIMIT),
        ("entries", raw.count(b","), NUMBERS_LIMIT),
    ):
        if count > most:
            return f"has more than {most:,} {name}"
    return ""


def _without_outputs(raw: bytes) -> bytes | None:
    """Return a notebook without what its cells showed, or None where it is none."""
    try:
        document = json.loads(raw)
        sheets = [document, *document.get("worksheets", [])]
        for cell in [cell for sheet in sheets for cell in sheet.get("cells", [])]:
            cell["outputs"] = []
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None


def check_amount(files: list[File], what: str) -> list[File]:
    """Return the files, or say that they are too many or too large to be submissions."""
    if len(files) > COUNT_LIMIT:
        raise ValueError(f"{what}: {len(files)} files came; wanted at most {COUNT_LIMIT}")
    total = sum(file.size for file in files if file.is_notebook and file.size <= READ_LIMIT)
    if total > TOTAL_LIMIT:
        raise ValueError(f"{what}: {total} bytes of notebooks came; wanted at most {TOTAL_LIMIT}")
    return files


class Folder:
    """The files below a folder. Links are listed, never followed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self) -> list[File]:
        """Return what is there, in the order of the names."""
        return check_amount(list(self._walk()), shown(str(self.root)))

    def _walk(self) -> Iterator[File]:
        """Yield each file, and each link to a folder as if it were one."""

        def stop(error: OSError) -> None:
            raise error

        for folder, below, names in os.walk(self.root, onerror=stop):
            below.sort()
            links = [name for name in below if Path(folder, name).is_symlink()]
            for name in sorted(names + links):
                yield self._file(Path(folder, name), name in links)

    def _file(self, path: Path, is_folder: bool) -> File:
        """Return one file with the reason for not reading it, if any."""
        parts = path.relative_to(self.root).parts
        about = path.lstat()
        trouble: tuple[Status, str] | None = None
        if is_folder:
            trouble = ("needs-review", "a link to another folder came, which is not followed")
        elif stat.S_ISLNK(about.st_mode):
            trouble = ("needs-review", "a link to another file came, which is not followed")
        elif not stat.S_ISREG(about.st_mode):
            trouble = ("needs-review", "something that is not a file came")
        return File(
            tuple(composed(part) for part in parts),
            shown("/".join(parts)),
            path,
            about.st_size,
            trouble,
        )

    @contextmanager
    def opened(self) -> Iterator[Reader]:
        """Give what reads one file."""
        yield self._read

    def _read(self, file: File) -> Content:
        """Return the bytes of one file, if it is still a file."""
        try:
            descriptor = os.open(file.key, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as opened:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None, ("needs-review", "something that is not a file came")
                return content(opened.read(READ_LIMIT + 1))
        except OSError as error:
            return None, ("needs-review", f"the file could not be read: {error.strerror}")


class Zip:
    """The files of a zip. Nothing is extracted, and what the zip says of itself is not believed.

    Raises ValueError if it is not a zip, or a damaged one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        """Open the zip, or say that it is none."""
        try:
            archive = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            raise ValueError(
                f"{shown(str(self.path))} is not a zip or is damaged ({shown(str(error))}); "
                "wanted the zip as the learning platform made it, or a folder"
            ) from None
        with archive:
            yield archive

    def files(self) -> list[File]:
        """Return what the zip lists, in its order, without folders."""
        with self._archive() as archive:
            files = [self._file(entry) for entry in archive.infolist() if not entry.is_dir()]
        return check_amount(files, shown(str(self.path)))

    def _file(self, entry: zipfile.ZipInfo) -> File:
        """Return one entry with the reason for not reading it, if any."""
        name = _entry_name(entry)
        parts = tuple(composed(part) for part in name.split("/") if part not in ("", "."))
        return File(
            parts or ("?",),
            f"{shown(self.path.name)}: {shown(name)}",
            entry,
            entry.file_size,
            _entry_trouble(entry),
            _entry_unsafe(entry, name),
        )

    @contextmanager
    def opened(self) -> Iterator[Reader]:
        """Open the zip once and give what reads one entry."""
        with self._archive() as archive:

            def read(file: File) -> Content:
                try:
                    with archive.open(file.key) as entry:
                        return content(entry.read(READ_LIMIT + 1))
                except (
                    zipfile.BadZipFile,
                    zlib.error,
                    EOFError,
                    NotImplementedError,
                    OSError,
                    RuntimeError,
                    ValueError,
                ) as error:
                    what = shown(str(error)) or type(error).__name__
                    return None, ("needs-review", f"the file is damaged in the zip: {what}")

            yield read


def _entry_name(entry: zipfile.ZipInfo) -> str:
    """Return the whole name of an entry with ``/`` between folders."""
    name = entry.orig_filename
    if not entry.flag_bits & 0x800:
        # older tools write UTF-8 without saying so
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = entry.orig_filename
    return name.replace("\\", "/")


def _entry_unsafe(entry: zipfile.ZipInfo, name: str) -> str:
    """Return why the name of an entry is not one that a platform writes, or nothing."""
    if "\0" in entry.orig_filename:
        return "its name in the zip has a NUL"
    if name.startswith("/") or name[1:2] == ":":
        return "its name in the zip is an absolute path"
    if ".." in name.split("/"):
        return "its name in the zip leads out of the folder"
    return ""


def _entry_trouble(entry: zipfile.ZipInfo) -> tuple[Status, str] | None:
    """Return why an entry cannot be read, or None."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "needs-review", "a link to another file came, which is not followed"
    if entry.flag_bits & 0x1:
        return "needs-review", "the file is encrypted in the zip"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return (
            "needs-review",
            f"the zip packs the file by method {entry.compress_type}, not read here",
        )
    if entry.file_size > READ_LIMIT:
        return "invalid", TOO_LARGE
    if entry.file_size > max(RATIO_FLOOR, RATIO_LIMIT * entry.compress_size):
        return "needs-review", f"the zip packs the file more than {RATIO_LIMIT} times smaller"
    return None
