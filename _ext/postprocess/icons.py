"""Let a page bring the few icons that it shows, in place of a font of two thousand.

Icons are characters of Font Awesome, whose fonts weigh a quarter of a megabyte. The rules of a
page's sheet name the characters that it can show; a font of just these is part of the sheet.
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from _ext.postprocess.page_css import SITE
from book.files import atomic_write

if TYPE_CHECKING:
    from _ext.postprocess.page_css import Rule

FAMILY = "Font Awesome"
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_REGULAR = re.compile(r"\.far\b|\.fa-regular\b|--fa-font-regular\b")
_FILE = re.compile(rf"{SITE}([^\")]+\.(?:ttf|woff2))")


def _values(rules: list[Rule]) -> str:
    """Return all that the rules say, fonts aside."""
    return "\n".join(str(rule[1:]) if rule[0] != "font" else "" for rule in rules)


def shown_characters(rules: list[Rule]) -> str:
    r"""Return the characters of icons that rules can show.

    Examples
    --------
    >>> ascii(shown_characters([["style", [".b:before"], [["content", '"\uf02d"']]]]))
    "'\\uf02d'"
    """
    # lists are shown with their strings escaped
    said = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), _values(rules))
    return "".join(sorted(set(_PRIVATE.findall(said))))


def characters_of(font: Path) -> frozenset[str]:
    """Return the characters that a font has."""
    from fontTools.ttLib import TTFont  # takes long to import, and is seldom needed

    with TTFont(font, lazy=True) as opened:
        return frozenset(map(chr, opened.getBestCmap()))


def subset(font: Path, characters: str) -> bytes:
    """Return a font of some characters, compressed as browsers read it."""
    from fontTools import subset as tools
    from fontTools.ttLib import TTFont

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table it cuts
    options = tools.Options()
    options.layout_features = []
    options.name_IDs = [0, 1, 13]  # the license goes with the font
    options.hinting = False
    options.notdef_outline = False
    # no clock in what is built: the same page has the same bytes
    with TTFont(font, recalcTimestamp=False) as opened:
        cutter = tools.Subsetter(options)
        cutter.populate(text=characters)
        cutter.subset(opened)
        opened.flavor = "woff"
        written = io.BytesIO()
        opened.save(written)
    return written.getvalue()


class Icons:
    """The fonts of icons of a site; each cut is kept for later builds."""

    def __init__(self, site: Path, kept: Path, warn: Callable[[str], None]) -> None:
        self.site, self.kept, self.warn = site, kept, warn
        self._known: dict[tuple[str, str], str] = {}

    def bring(self, rules: list[Rule]) -> list[Rule]:
        """Return rules with the icons that they show in place of whole fonts."""
        shown = shown_characters(rules)
        said = _values(rules)
        result, found = [], set()
        for rule in rules:
            if rule[0] != "font" or FAMILY not in dict(rule[1]).get("font-family", ""):
                result.append(rule)
                continue
            face = dict(rule[1])
            is_regular = face.get("font-weight") == "400" and "Brands" not in face["font-family"]
            if not shown or (is_regular and not _REGULAR.search(said)):
                continue
            # .ttf sorts before .woff2, which takes another package to read
            address, characters = self._cut(min(_FILE.findall(face["src"])), shown)
            found.update(characters)
            if characters:
                face["src"] = f'url("{address}") format("woff")'
                face["font-display"] = "block"
                result.append(["font", [list(pair) for pair in face.items()]])
        for character in set(shown) - found:
            self.warn(f"no font has the icon U+{ord(character):04X} that a style sheet shows")
        return result

    def _cut(self, path: str, wanted: str) -> tuple[str, str]:
        """Return a font of what it has of some characters, and these."""
        if (path, wanted) not in self._known:
            font = self.site / path
            version = hashlib.sha256(font.read_bytes() + Path(__file__).read_bytes())
            version.update(wanted.encode())
            stored = self.kept / f"{version.hexdigest()[:24]}.txt"
            if not stored.exists():
                characters = "".join(sorted(characters_of(font) & set(wanted)))
                cut = base64.b64encode(subset(font, characters)).decode() if characters else ""
                atomic_write(stored, f"{characters}\n{cut}".encode())
            self._known[path, wanted] = stored.read_text(encoding="utf-8")
        characters, _, cut = self._known[path, wanted].partition("\n")
        return f"data:font/woff;base64,{cut}", characters
