"""Write a copy of the last commit that an instructor can hand to students.

``make students OUT=FOLDER`` calls this; the folder has to be new or empty. ``.gitattributes`` says
what the copy holds. Files in ``docs/students`` lie at its root. Its table of contents loses the
pages that the copy does not have, and links to them become words.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("instructors", "grading")
"""The pages of the book that are for instructors."""
PAGE = re.compile(rf"\n *- file: chapters/(?:{'|'.join(LEFT_OUT)})(?=\n)")
LINK = re.compile(rf"{{doc}}`(?:([^`<]+) <)?(?:chapters/)?({'|'.join(LEFT_OUT)})>?`")


def unlinked(text: str) -> str:
    """Return a page in which links to what is left out are words.

    Examples
    --------
    >>> unlinked("{doc}`Teach <chapters/instructors>`, {doc}`grading`, {doc}`run`")
    'Teach, *grading* (not in this copy), {doc}`run`'
    """
    return LINK.sub(lambda link: link[1] or f"*{link[2]}* (not in this copy)", text)


def write(folder: Path, root: Path = ROOT) -> None:
    """Write the copy into a folder."""
    command = ["git", "archive", "--format=tar", "HEAD"]
    packed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(folder / "docs" / "students", folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "docs" / "students")
    toc = folder / "_toc.yml"
    toc.write_text(PAGE.sub("", toc.read_text(encoding="utf-8")), encoding="utf-8")
    for page in (folder / "index.ipynb", *folder.glob("chapters/*.*")):
        page.write_text(unlinked(page.read_text(encoding="utf-8")), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the copy, and return the exit status."""
    folder = Path(arguments[0]).resolve() if arguments and arguments[0] else None
    if folder is None or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        print("name a new or an empty folder: make students OUT=folder", file=sys.stderr)
        return 1
    try:
        write(folder)
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode(), file=sys.stderr)
        return 1
    print(f"wrote what the last commit has for students to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
