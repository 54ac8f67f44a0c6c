"""Make the font of formulas: Latin Modern Math, cut down to what the book's formulas use.

Run it on the built site when a formula has a character that no formula had before, which
`tests/ext/test_maths.py` finds::

    make book; .venv/bin/python tools/math_font.py .../latinmodern-math.otf

The full font comes with TeX (Debian: ``fonts-lmodern``) and from GUST.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "_ext" / "theme" / "static" / "maths"
FONT = FOLDER / "book-maths.woff2"
# The license asks that changed versions have a name of their own.
NAME = "Book Maths"
VERSION = "Version 1.959; cut down to the formulas of one book"
# Numbers of a font's names, as OpenType has them.
COPYRIGHT, FAMILY, STYLE, UNIQUE, FULL, VERSION_ID, POSTSCRIPT = range(7)
LICENSE, LICENSE_URL = 13, 14
KEPT_NAMES = [COPYRIGHT, LICENSE, LICENSE_URL]

# A browser shows an <mi> of one letter in italics: it asks the font for the letter's other
# character. https://w3c.github.io/mathml-core/#italic-mappings
_LATIN_UPPER, _LATIN_LOWER = 0x1D434, 0x1D44E
_GREEK_UPPER, _GREEK_LOWER = 0x1D6E2, 0x1D6FC
_ITALICS = {
    **{chr(ord("A") + i): chr(_LATIN_UPPER + i) for i in range(26)},
    **{chr(ord("a") + i): chr(_LATIN_LOWER + i) for i in range(26)},
    **{chr(ord("Α") + i): chr(_GREEK_UPPER + i) for i in range(25)},
    **{chr(ord("α") + i): chr(_GREEK_LOWER + i) for i in range(25)},
    **dict(zip("hϴ∇∂ϵϑϰϕϱϖıȷ", "ℎ𝛳𝛻𝜕𝜖𝜗𝜘𝜙𝜚𝜛𝚤𝚥", strict=True)),
}
ROOT_SIGN, PRIME = "√", "′"
_WHITE_SPACE = " \t\n"


def characters_of(formula: Tag) -> set[str]:
    """Return the characters that a browser takes from the font for a ``<math>``."""
    # a root's sign is nowhere in the text
    found = {ROOT_SIGN} if formula.find(["msqrt", "mroot"]) else set()
    for leaf in formula.select("mi, mn, mo, mtext:not(.after)"):
        text = leaf.get_text()
        if leaf.name == "mi" and len(text) == 1 and leaf.get("mathvariant") != "normal":
            text = _ITALICS.get(text, text)
        # a hyphen in <mo> is shown as a minus sign
        found |= set(text.replace("-", "−") if leaf.name == "mo" else text)
    return found - set(_WHITE_SPACE)


def characters(pages: Iterable[BeautifulSoup]) -> set[str]:
    """Return the characters of all formulas of some pages."""
    return {
        character
        for page in pages
        for formula in page.find_all("math")
        for character in characters_of(formula)
    }


def enlarge_prime(font: TTFont) -> None:
    """Give primes the shape for exponents, where they all are.

    The font leaves it to browsers to ask for that shape, and some do not. Shapes of other
    characters for small sizes would double the size of the file.
    """
    table = font["GSUB"].table
    (feature,) = {
        tuple(record.Feature.LookupListIndex)
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag == "ssty"
    }
    small = {}
    for index in feature:
        for lookup in table.LookupList.Lookup[index].SubTable:
            alternates = getattr(lookup, "alternates", {}) or getattr(lookup, "mapping", {})
            small |= {name: to if isinstance(to, str) else to[0] for name, to in alternates.items()}
    large = small[font.getBestCmap()[ord(PRIME)]]
    for cmap in font["cmap"].tables:
        if ord(PRIME) in cmap.cmap:
            cmap.cmap[ord(PRIME)] = large


def cut_down(font: TTFont, wanted: set[str]) -> bytes:
    """Return a font with the wanted characters, in all their sizes, as WOFF2."""
    enlarge_prime(font)
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = []
    options.name_IDs = KEPT_NAMES
    options.desubroutinize = True  # compresses better
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables += ["FFTM"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(wanted))
    subsetter.subset(font)
    for number, text in {
        FAMILY: NAME,
        STYLE: "Regular",
        UNIQUE: f"{NAME} Regular",
        FULL: NAME,
        VERSION_ID: VERSION,
        POSTSCRIPT: NAME.replace(" ", ""),
    }.items():
        font["name"].setName(text, number, 3, 1, 0x409)
    if "CFF " in font:
        cff = font["CFF "].cff
        cff.fontNames = [NAME.replace(" ", "")]
        cff.topDictIndex[0].FamilyName = NAME
        cff.topDictIndex[0].FullName = NAME
    written = BytesIO()
    font.flavor = "woff2"
    font.save(written)
    return written.getvalue()


def main() -> None:
    """Cut the font that the command line names down to the built pages' formulas."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("font", type=Path, help="latinmodern-math.otf")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    arguments = parser.parse_args()
    pages = (
        BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in sorted(arguments.site.rglob("*.html"))
    )
    wanted = characters(pages)
    # A copy of the font's own date would differ from one run to the next.
    font = TTFont(arguments.font, recalcTimestamp=False)
    if missing := wanted - {chr(code) for code in font.getBestCmap()}:
        parser.error(f"{arguments.font} lacks {''.join(sorted(missing))}")
    FONT.write_bytes(cut_down(font, wanted))
    print(f"{FONT.relative_to(ROOT)}: {len(wanted)} characters, {FONT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
