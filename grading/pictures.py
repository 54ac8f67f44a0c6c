"""Pictures in Markdown: those that a cell itself holds, taken out of its text.

A picture that somebody pasted is an attachment of the cell, and one that somebody wrote down is a
long address that begins with ``data:``. Both become ``attachment:`` and a digest, so that a text
stays short, and is another one when its picture is. Nothing else is a picture: addresses of the
web are left to the renderer, which loads none.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

MOST = 12_000_000
"""Characters of all pictures of a notebook, in base64; what comes after them is not shown."""
MANY = 200
"""Pictures of a notebook, and of those in a cell; text that asks for more is left as it is."""
LARGEST = 1_500_000
MOST_PIXELS = 16_000_000
"""Characters and pixels of one picture."""
WRITTEN = re.compile(
    r"(?<=\]\()(?:attachment:(?P<name>[^\s)]+)|data:image/(?:png|jpeg|gif);base64,(?P<data>[\w+/=-]+))"
)
KINDS = ("image/png", "image/jpeg", "image/gif")
DIGEST = re.compile(r"attachment:([0-9a-f]{32})")


def lifted(cell: Mapping[str, Any], source: str, pictures: dict[str, str]) -> str:
    """Return the text of a cell with digests for its pictures, which are added to `pictures`.

    Examples
    --------
    >>> pictures = {}
    >>> cell = {"cell_type": "markdown", "attachments": {"a.png": {"image/png": "iVBORw0K"}}}
    >>> lifted(cell, "![plot](attachment:a.png)", pictures)
    '![plot](attachment:2f38bf1155248aa88f8fabd55837c7cb)'
    >>> list(pictures.values())
    ['iVBORw0K']
    """
    attachments = cell.get("attachments")

    def digest(found: re.Match[str]) -> str:
        data = found["data"] or _attached(attachments, found["name"])
        if not data:
            return found[0]
        name = hashlib.sha256(data.encode("utf-8", "replace")).hexdigest()[:32]
        room = name not in pictures and len(pictures) < MANY
        if room and sum(map(len, pictures.values())) + len(data) <= MOST:
            pictures[name] = data
        return f"attachment:{name}"

    return WRITTEN.sub(digest, source, MANY) if cell.get("cell_type") == "markdown" else source


def used(source: str, pictures: Mapping[str, str]) -> dict[str, str]:
    """Return the pictures that a text shows."""
    return {name: pictures[name] for name in DIGEST.findall(source) if name in pictures}


def address(data: str) -> str:
    """Return the address of a PNG, JPEG or GIF picture of bearable size, and nothing for others."""
    from PIL import Image

    if len(data) > LARGEST:
        return ""
    try:
        picture = base64.b64decode("".join(data.split()), validate=True)
        with Image.open(io.BytesIO(picture), formats=("PNG", "JPEG", "GIF")) as opened:
            kind, (width, height) = opened.format, opened.size
    except (ValueError, OSError, SyntaxError, Image.DecompressionBombError):
        return ""
    if not 0 < width * height <= MOST_PIXELS:
        return ""
    return f"data:image/{str(kind).lower()};base64,{base64.b64encode(picture).decode()}"


def _attached(attachments: Any, name: str) -> str:
    """Return an attachment as it is stored, or nothing."""
    known = attachments if isinstance(attachments, Mapping) else {}
    kinds = known.get(name, known.get(unquote(name)))
    if not isinstance(kinds, Mapping):
        return ""
    data = next((kinds[kind] for kind in KINDS if kind in kinds), None)
    parts = data if isinstance(data, list) else [data]
    return "".join(part for part in parts if isinstance(part, str))
