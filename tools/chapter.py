"""Begin a chapter: write a notebook in the frame of the others, and its line in ``_toc.yml``.

    python tools/chapter.py NAME [AFTER]

``make chapter NAME=linear AFTER=04_gradients`` calls this; without AFTER the chapter comes before
the last one, whose exercises are on all. ``tools/chapter.md`` is the frame. What stands in it
between « and » is the author's to fill in: until then a test says what is left.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from book.model import Book  # noqa: E402
from tools.notebooks import from_text  # noqa: E402

FRAME = Path(__file__).with_name("chapter.md")


class ChapterError(Exception):
    """The chapter cannot be begun."""


def begin(root: Path, name: str, after: str = "") -> Path:
    """Write the notebook of a new chapter, and its line; return the path of the notebook."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]*", name):
        raise ChapterError(
            f"NAME is {name!r}; wanted are small letters, digits and _: make chapter NAME=linear"
        )
    path = root / "chapters" / f"{name}.ipynb"
    if path.exists():
        raise ChapterError(f"{path.relative_to(root)} is there already; choose another NAME")
    stems = [page.stem for page in Book(root).chapters]
    after = after or stems[-2]
    if after not in stems:
        raise ChapterError(f"AFTER is {after!r}; the chapters are {', '.join(stems)}")
    text = FRAME.read_text(encoding="utf-8").replace("NAME", name).replace("AFTER", after)
    with tempfile.TemporaryDirectory() as work:
        filled = Path(work, FRAME.name)
        filled.write_text(text, encoding="utf-8")
        from_text(filled, path)
    contents = root / "_toc.yml"
    line = re.compile(rf"^( *- file: chapters/){after}\n", re.MULTILINE)
    listed = line.sub(rf"\g<0>\g<1>{name}\n", contents.read_text(encoding="utf-8"))
    contents.write_text(listed, encoding="utf-8")
    return path


def main(arguments: list[str]) -> int:
    """Begin a chapter, and return the exit status."""
    try:
        path = begin(ROOT, *arguments)
    except ChapterError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"wrote {path.relative_to(ROOT)} and its line in _toc.yml. Fill in what stands between « "
        "and »; then `make numbers` runs it, and `make test` says what is left."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
