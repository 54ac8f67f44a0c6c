"""What a sandbox says that a cell showed, reduced to what is safe to keep and to look at.

The sandbox may say anything. What is kept are plain texts, PNG, JPEG and GIF images and
exceptions, built anew from what came, within limits. Everything else is dropped: HTML, JavaScript,
SVG, widgets, metadata.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Sequence
from typing import Any

from grading.safe_text import LONGEST_TEXT, clean_text

TRACEBACKS = 32_768
IMAGES = 1_048_576
MOST_OUTPUTS = 200
MOST_PIXELS = 25_000_000
PNG, GIF, JPEG = b"\x89PNG\r\n\x1a\n", (b"GIF87a", b"GIF89a"), b"\xff\xd8\xff"
MOST_SEGMENTS = 1000


def clean_outputs(claimed: Any, paths: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the outputs that the sandbox claims for one cell, in nbformat's form.

    What is malformed or of another kind is left out, and so is what exceeds 64 KiB of text, 32 KiB
    of tracebacks, 1 MiB of images, or 200 outputs. For `paths` see `clean_text`.
    """
    cleaner = _Cleaner(paths)
    if type(claimed) is list:
        for output in claimed[:MOST_OUTPUTS]:
            if type(output) is dict:
                cleaner.add(output)
    return cleaner.outputs


class _Cleaner:
    """Collects clean outputs and counts what they take."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        self.paths = paths
        self.outputs: list[dict[str, Any]] = []
        self.text_left = LONGEST_TEXT
        self.tracebacks_left = TRACEBACKS
        self.images_left = IMAGES

    def add(self, output: dict[str, Any]) -> None:
        """Add what is good of one output."""
        kind = output.get("output_type")
        if kind == "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            text = self._text(output.get("text"))
            if text:
                self.outputs.append({"output_type": "stream", "name": name, "text": text})
        elif kind in ("display_data", "execute_result"):
            self._add_data(output, kind)
        elif kind == "error":
            self._add_error(output)

    def _add_data(self, output: dict[str, Any], output_type: str) -> None:
        """Add a text and an image."""
        data = output.get("data")
        if type(data) is not dict:
            return
        kept = {}
        if type(data.get("text/plain")) is str:
            kept["text/plain"] = self._text(data["text/plain"])
        for kind in ("image/png", "image/jpeg", "image/gif"):
            if image := self._image(data.get(kind), kind):
                kept[kind] = image
                break
        if not kept:
            return
        clean = {"output_type": output_type, "data": kept, "metadata": {}}
        if output_type == "execute_result":
            count = output.get("execution_count")
            is_count = type(count) is int and 0 < count < 1_000_000
            clean["execution_count"] = count if is_count else None
        self.outputs.append(clean)

    def _add_error(self, output: dict[str, Any]) -> None:
        """Add an exception."""
        lines = output.get("traceback")
        traceback = []
        for line in lines[:1000] if type(lines) is list else []:
            traceback.append(clean_text(line, self.tracebacks_left, self.paths))
            self.tracebacks_left -= len(traceback[-1])
        self.outputs.append(
            {
                "output_type": "error",
                "ename": clean_text(output.get("ename"), 200),
                "evalue": clean_text(output.get("evalue"), 2000, self.paths),
                "traceback": traceback,
            }
        )

    def _text(self, text: Any) -> str:
        """Return a clean text, as far as there is room for it."""
        text = clean_text(text, self.text_left, self.paths)
        self.text_left -= len(text)
        return text

    def _image(self, encoded: Any, kind: str) -> str:
        """Return an image in base64, or nothing if it is none or too large to look at."""
        if type(encoded) is not str or not 0 < len(encoded) <= self.images_left:
            return ""
        try:
            image = base64.b64decode("".join(encoded.split()), validate=True)
        except (binascii.Error, ValueError):
            return ""
        width, height = size(image, kind)
        if not 0 < width * height <= MOST_PIXELS:
            return ""
        self.images_left -= len(encoded)
        return base64.b64encode(image).decode()


def size(image: bytes, kind: str) -> tuple[int, int]:
    """Return the width and the height of an image of a kind; zeros where it is none.

    Examples
    --------
    >>> size(b"GIF89a" + bytes([3, 0, 2, 0]), "image/gif"), size(b"GIF89a", "image/png")
    ((3, 2), (0, 0))
    """
    try:
        if kind == "image/png" and image[:8] == PNG and image[12:16] == b"IHDR":
            return struct.unpack(">II", image[16:24])
        if kind == "image/gif" and image[:6] in GIF:
            return struct.unpack("<HH", image[6:10])
        return _size_of_jpeg(image) if kind == "image/jpeg" and image[:3] == JPEG else (0, 0)
    except struct.error:
        return 0, 0


def _size_of_jpeg(image: bytes) -> tuple[int, int]:
    """Return the width and the height that the frame of a JPEG image says."""
    place = 2
    for _ in range(MOST_SEGMENTS):
        mark, kind, length = struct.unpack(">BBH", image[place : place + 4])
        if mark != 0xFF:
            break
        # SOF0 to SOF15 are frames, but for tables of codes (C4), JPG (C8) and conditions (CC)
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", image[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return 0, 0
