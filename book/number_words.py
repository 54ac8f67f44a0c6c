"""The numbers that a text writes in words: "eight times", "a third", "ten thousand".

A comment right behind such a word binds it, as it binds a numeral. A word that states a ratio, a
part or a count beyond twelve has to be bound, or else `LISTED` with its page if no cell computes
it. Small counts ("two arms") are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from book.markdown import COMMENT, Piece
from book.numerals import Numeral

LISTED = Path(__file__).with_suffix(".txt")
"""A line for each page and phrase: ``02_variance: sixteen times``."""

_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_SMALL = [*_UNITS, "ten", "eleven", "twelve"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_COUNTS = {word: n for n, word in enumerate([*_SMALL, *_TEENS], 1)}
_COUNTS |= {ten: 10 * n for n, ten in enumerate(_TENS, 2)}
_COUNTS |= {f"{t}-{unit}": _COUNTS[t] + _COUNTS[unit] for t in _TENS for unit in _UNITS}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_NTHS = ["third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_NTHS = {word: 1 / n for n, word in enumerate(_NTHS, 3)} | {"hundredth": 0.01, "thousandth": 0.001}
_PARTS = {"half": 0.5, "halves": 0.5, **_NTHS, **{f"{word}s": n for word, n in _NTHS.items()}}
_WORTH = {**_COUNTS, **_SCALES, **_PARTS, "twice": 2, "double": 2}


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_WORD = re.compile(
    rf"(?<![\w-])(?:(?:(?P<count>{_any(_COUNTS)})|an?)[ -](?P<part>{_any(_SCALES | _PARTS)})"
    rf"|(?P<word>{_any(_WORTH)}))\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"[\s-](?:times|fold|percent)\b")


def number_words(piece: Piece) -> Iterator[Numeral]:
    """Yield the number words of a piece of text.

    Examples
    --------
    >>> from book.markdown import walk
    >>> (piece,) = walk("Twice, a third of sixty-four arms, two thousandths")
    >>> [(word.text, word.number) for word in number_words(piece)]
    [('Twice', '2'), ('a third', '0.33'), ('sixty-four', '64'), ('two thousandths', '0.002')]
    """
    for found in _WORD.finditer(piece.text) if piece.kind == "words" else ():
        count, word = found["count"] or "one", found["part"] or found["word"]
        worth = _COUNTS[count.lower()] * _WORTH[word.lower()]
        number = str(worth) if isinstance(worth, int) else f"{worth:.2g}"
        start, end = piece.places[found.start()], piece.places[found.end() - 1] + 1
        yield Numeral(found.group(), number, start, end)


def states(word: Numeral, text: str) -> bool:
    """Say whether a number word states more than a small count or a place in a row.

    Examples
    --------
    >>> from book.markdown import walk
    >>> text = "Two arms are eight times as long, a tenth, in the third row."
    >>> [word.text for piece in walk(text) for word in number_words(piece) if states(word, text)]
    ['eight', 'a tenth']
    """
    behind, written = COMMENT.sub("", text[word.end :]), word.text.lower()
    if written in _SMALL:
        return _RATIO.match(behind) is not None
    return written not in _NTHS or re.match(r"\s+of\s", behind) is not None
