"""Names from outside: what may become a folder, and what may be shown to people."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 100
SAFE = re.compile(r"\w[\w.@+-]*")
KEPT = re.compile(r"[\w@+-]")
RESERVED = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{port}{n}" for port in ("com", "lpt") for n in range(10)]
)
"""What Windows takes for a device, whatever follows the first dot."""
DROPPED = re.compile(r"""[\x00-\x1f\x7f&<>"`|':\\/\u2018\u2019\u02bc\u00b4]""")
"""What Moodle drops from the names in its zips, and other apostrophes that a roster may have."""


NUMBERED = re.compile(r"(?:question|q)?[\s_.#:-]*([0-9]{1,4})")
"""What students read above a question, and what they make of it."""


def composed(text: str) -> str:
    """Return `text` in Unicode's composed form (NFC), in which names are compared.

    Examples
    --------
    >>> accented = "e" + chr(0x301)
    >>> len(accented), len(composed(accented))
    (2, 1)
    """
    return unicodedata.normalize("NFC", text)


def platform_key(text: str) -> str:
    """Return what is the same for a name in a table and for what platforms make of it elsewhere.

    In its zips Moodle drops some characters of names (``PARAM_FILE`` of ``clean_param`` in moodle)
    and writes spaces for underscores (``mod/assign/classes/downloader.php``). Both sides of each
    comparison of names go through here.

    Examples
    --------
    >>> platform_key("Ada O'Example"), platform_key("Lab_A: M/W"), platform_key("ada OExample")
    ('ada oexample', 'lab a mw', 'ada oexample')
    """
    return " ".join(as_moodle(composed(text)).casefold().split())


def as_moodle(text: str) -> str:
    """Return a name as Moodle writes it in its zips."""
    return DROPPED.sub("", text).replace("_", " ")


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a person's name, sorted, without case and punctuation.

    Examples
    --------
    >>> name_words("O'Example, Ada") == name_words("Ada OExample")
    True
    """
    return tuple(sorted(re.findall(r"\w+", platform_key(name))))


def question_named(text: str, known: Iterable[str]) -> str | None:
    """Return which of the questions that there are is meant, or None.

    A question has its name, and what students read above it.

    Examples
    --------
    >>> [question_named(text, ["q1", "q10"]) for text in ("Question 1", "Q1", "1", "q10", "q2")]
    ['q1', 'q1', 'q1', 'q10', None]
    """
    by_name = {name.casefold(): name for name in known}
    text = text.strip().casefold()
    numbered = NUMBERED.fullmatch(text)
    return by_name.get(text) or (by_name.get(f"q{int(numbered[1])}") if numbered else None)


def questions_named(text: str) -> list[str]:
    """Return what stands for a question each, in a list with spaces or commas between.

    Examples
    --------
    >>> questions_named("q1, Question 2 3"), questions_named("all")
    (['q1', 'Question 2', '3'], ['all'])
    """
    return re.findall(r"question\s+\d+|[^\s,;]+", text, re.IGNORECASE)


def is_safe_name(text: str) -> bool:
    """Return whether `text` can be the name of a folder on every system, as it is.

    Letters, digits and ``_ . @ + -`` can, where the first is a letter, a digit or ``_`` and the
    last is not a dot. Such a name is no path, no formula of a spreadsheet and no option.

    Examples
    --------
    >>> is_safe_name("s0123456"), is_safe_name("../s0123456"), is_safe_name("=1+1")
    (True, False, False)
    """
    return (
        SAFE.fullmatch(text) is not None
        and not text.endswith(".")
        and len(text.encode()) <= LONGEST_NAME
        and text == composed(text)
        and text.split(".")[0].casefold() not in RESERVED
    )


def safe_name(text: str) -> str:
    """Return a name for a folder, the same for the same text and another for every other.

    It is the text itself, composed (NFC), where that is safe. Otherwise other characters are quoted
    as ``%`` and the hexadecimal digits of their UTF-8; what is long is cut and gets a part of its
    SHA-256.

    Examples
    --------
    >>> safe_name("s0123456"), safe_name("../s0123456")
    ('s0123456', '%2E%2E%2Fs0123456')
    """
    text = composed(text)
    if is_safe_name(text):
        return text
    raw = text.encode("utf-8", "surrogatepass")
    quoted = "".join(
        character if KEPT.match(character) else _quoted(character) for character in text
    )
    if not quoted or not SAFE.match(quoted) or quoted.casefold() in RESERVED:
        quoted = f"%{quoted}" if not quoted.startswith("%") else quoted
    if len(quoted.encode()) > LONGEST_NAME:
        quoted = f"{quoted[:50]}~{hashlib.sha256(raw).hexdigest()[:16]}"
    return quoted


def _quoted(character: str) -> str:
    """Return the bytes of `character` as ``%`` and two digits each."""
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def shown(text: str, longest: int = 200) -> str:
    """Return `text` as one line that is safe to print.

    Control characters, invisible ones and those that turn the direction of writing are removed,
    as are halves of surrogate pairs; line breaks become spaces.

    Examples
    --------
    >>> shown("ada" + chr(0x202E) + chr(27) + "[31m")
    'ada[31m'
    """
    text = composed(" ".join(text[: 4 * longest].split()))
    clean = "".join(character for character in text if unicodedata.category(character)[0] != "C")
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"
