"""Text from outside: what may become a folder, a cell of a table, or be shown to people.

Whoever writes what a student, a student's code or a platform wrote takes the form for its place
from here: `shown` for a line, `visible` for a page, `plain_text` for a table, `clean_text` for what
comes out of a sandbox, `safe_name` for a folder.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST_NAME = 100
LONGEST_CELL = 2000
LONGEST_TEXT = 65_536
SAFE = re.compile(r"\w[\w.@+-]*")
KEPT = re.compile(r"[\w@+-]")
RESERVED = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{port}{n}" for port in ("com", "lpt") for n in range(10)]
)
"""What Windows takes for a device, whatever follows the first dot."""
DROPPED = re.compile(r"""[\x00-\x1f\x7f&<>"`|':\\/\u2018\u2019\u02bc\u00b4]""")
"""What Moodle drops from the names in its zips, and other apostrophes that a roster may have."""


ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
"""Characters that steer a terminal, hide, turn the direction of writing, or are none at all."""
# colors and cursor movements, then every other control character but tab, line feed and return
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[^\t\n\r\x20-\x7e\xa0-\U0010ffff]")
# what a spreadsheet takes for the beginning of a formula, also in its full-width forms
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

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


def visible(text: str) -> str:
    r"""Return `text` without terminal colors, and with every character to be seen.

    What steers, hides or turns the direction of writing is named by its code point.

    Examples
    --------
    >>> visible("\x1b[31mred\x1b[0m, admin\u202etxt.exe")
    'red, admin⟨U+202E⟩txt.exe'
    """
    return UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", ANSI.sub("", text))


def cut(text: str, longest: int) -> str:
    """Return the beginning and the end of a text that is too long."""
    if len(text) <= longest:
        return text
    head, tail = 2 * longest // 3, longest // 3
    return f"{text[:head]}\n[{len(text) - head - tail} characters are left out]\n{text[-tail:]}"


def clean_text(text: Any, most: int = LONGEST_TEXT, paths: Sequence[str] = ()) -> str:
    r"""Return `most` characters of a text without control characters and lone surrogates.

    UTF-8 can encode it. Anything but a text counts as empty. Folders of the machine that grades,
    `paths`, are left out of it.

    Examples
    --------
    >>> clean_text("\x1b[31mred\x07\n")
    'red\n'
    """
    if type(text) is not str:
        return ""
    clean = ESCAPES.sub("", text[:most]).encode("utf-8", "replace").decode()
    for path in paths:
        clean = clean.replace(f"{path}/", "").replace(path, "python")
    return clean


def plain_text(value: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    plain = shown(value, LONGEST_CELL)
    return f"'{plain}" if value.startswith(FORMULA) or plain.startswith(FORMULA) else plain


def plain_cell(cell: str) -> str:
    """Return a platform's cell as it came, unless a spreadsheet would take it for a formula."""
    return plain_text(cell) if cell.startswith(FORMULA) and cell.strip() != "-" else cell
