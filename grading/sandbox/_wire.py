"""How values travel between the grader and the sandbox: as JSON, and as nothing else.

Both sides use this file: inside to encode what the student's code made, outside to decode it.
Outside nothing is believed. `decode` accepts only what `encode` can write, and calls no code that
came in. Numbers lose their type on the way, so a right answer in an unusual type is the same
right answer, and an object that claims to equal everything is only the number it converts to.
"""

from __future__ import annotations

import json
import numbers
import sys
from collections.abc import Iterator, Sequence, ValuesView
from itertools import islice
from typing import Any

DEEPEST = 20
MOST_ENTRIES = 200_000
LONGEST_TEXT = 10_000
KINDS = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "c": "complex128"}


class Unusable:
    """What comes out for a value that is neither a number, a text, nor made of such."""

    def __init__(self, what: str) -> None:
        self.what = what[:80]  # the name of its type, for the message

    def __repr__(self) -> str:
        """Return what it is."""
        return f"<{self.what}>"


def encode(value: Any, depth: int = 0) -> Any:
    """Return `value`, which is nested so deep, in terms of what `json.dumps` accepts.

    That is None, a truth value, a number of any type, a text, an array, or dictionaries and
    sequences of such, as lists and queues are, or what is left in an iterator; anything else is
    encoded as the name of its type.
    NaN and infinities are left to the extension of JSON that `json` has.

    Examples
    --------
    >>> encode({"variance": 64.0, "shape": (2, 3)})
    {'mapping': [['variance', 64.0], ['shape', [2, 3]]]}
    >>> from fractions import Fraction
    >>> encode(Fraction(1, 4))
    0.25
    """
    if depth > DEEPEST:
        return {"unusable": "something nested more than twenty deep"}
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, str):
        return str.__str__(value)[:LONGEST_TEXT]
    if isinstance(value, dict):
        return {"mapping": [[str(key), encode(each, depth + 1)] for key, each in value.items()]}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [encode(each, depth + 1) for each in value]
    if isinstance(value, Iterator | ValuesView):
        # one entry more than may come, as some never end
        return [encode(each, depth + 1) for each in islice(value, MOST_ENTRIES + 1)]
    return _number_or_array(value, depth)


def _number_or_array(value: Any, depth: int) -> Any:
    """Encode a scalar or an array of another library, or say what it is."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) or type(value).__name__ == "Decimal":
        return float(value)
    if isinstance(value, numbers.Complex):
        return {"complex": [float(value.real), float(value.imag)]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and (isinstance(value, numpy.ndarray) or hasattr(value, "__array__")):
        return _array(numpy, value, depth)
    return {"unusable": type(value).__name__}


def _array(numpy: Any, value: Any, depth: int) -> Any:
    """Encode an array; entries that are hidden by a mask become NaN."""
    if isinstance(value, numpy.ma.MaskedArray):
        value = value.astype(float).filled(numpy.nan)
    array = numpy.asarray(value)
    if array.dtype.kind == "O":  # of fractions, or of integers that are too large for others
        return encode(array.tolist(), depth + 1)
    kind = KINDS.get(array.dtype.kind)
    if kind is None:
        return {"unusable": f"an array of {array.dtype.name}"}
    if array.dtype.kind == "f":
        array = array.astype(float)  # longer ones have no form in JSON
    if array.dtype.kind == "c":
        array = array.astype(complex)
        parts = [array.real.tolist(), array.imag.tolist()]
        return {"array": parts, "kind": kind, "shape": list(array.shape)}
    return {"array": array.tolist(), "kind": kind, "shape": list(array.shape)}


def decode(encoded: Any) -> Any:
    """Return the value that `encode` wrote, from what `json.loads` made of a student's reply.

    It is made of numbers, texts, lists, dictionaries, float64, int64, complex or Boolean arrays,
    and `Unusable` for the rest. Raises ValueError if `encoded` is nothing that `encode` writes, or
    has too many entries.

    Examples
    --------
    >>> decode({"mapping": [["weights", {"array": [0.5, 0.5], "kind": "float64", "shape": [2]}]]})
    {'weights': array([0.5, 0.5])}
    """
    return _Decoder().value(encoded, 0)


class _Decoder:
    """Decodes one message and counts its entries on the way."""

    def __init__(self) -> None:
        self.entries = 0

    def value(self, encoded: Any, depth: int) -> Any:
        """Return what one value stands for."""
        self.entries += 1
        if depth > DEEPEST + 2 or self.entries > MOST_ENTRIES:
            raise ValueError("the answer is nested too deep or has too many entries")
        if encoded is None or type(encoded) in (bool, int, float):
            return encoded
        if type(encoded) is str:
            # halves of surrogate pairs could not be written down again
            return encoded[:LONGEST_TEXT].encode("utf-8", "replace").decode()
        if type(encoded) is list:
            return [self.value(each, depth + 1) for each in encoded]
        if type(encoded) is dict:
            return self.tagged(encoded, depth)
        raise ValueError(f"an answer cannot hold a {type(encoded).__name__}")

    def tagged(self, encoded: dict[str, Any], depth: int) -> Any:
        """Return what a dictionary with a tag stands for."""
        if set(encoded) == {"mapping"} and type(encoded["mapping"]) is list:
            return self.mapping(encoded["mapping"], depth)
        if set(encoded) == {"array", "kind", "shape"}:
            return self.array(encoded)
        if set(encoded) == {"complex"} and type(encoded["complex"]) is list:
            return self.complex(encoded["complex"])
        if set(encoded) == {"unusable"} and type(encoded["unusable"]) is str:
            return Unusable(encoded["unusable"])
        raise ValueError("the answer is not in the form in which answers travel")

    def complex(self, parts: list[Any]) -> complex:
        """Return a complex number."""
        if len(parts) != 2 or any(type(part) not in (int, float) for part in parts):
            raise ValueError("the answer is not in the form in which answers travel")
        try:
            return complex(*parts)
        except OverflowError:
            raise ValueError("the answer has a number that is too large") from None

    def mapping(self, pairs: list[Any], depth: int) -> dict[str, Any]:
        """Return a dictionary whose keys are texts."""
        found = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
                raise ValueError("the answer is not in the form in which answers travel")
            found[self.value(pair[0], depth)] = self.value(pair[1], depth + 1)
        return found

    def array(self, encoded: dict[str, Any]) -> Any:
        """Return an array of plain numbers."""
        import numpy as np

        kind, shape, entries = encoded["kind"], encoded["shape"], encoded["array"]
        if kind not in KINDS.values() or type(shape) is not list or len(shape) > DEEPEST:
            raise ValueError("the answer has an array of an unknown kind")
        if any(type(size) is not int or size < 0 for size in shape):
            raise ValueError("the answer has an array of an impossible shape")
        # NumPy would make room for the longest text as often as there are entries
        self.plain(entries, 0)
        try:
            array = np.array(entries)
            if kind == "complex128":
                array = array[0] + 1j * array[1]
            if not array.size:
                array = array.astype(kind)
            return array.astype(kind, casting="same_kind").reshape(shape)
        except (ValueError, TypeError, IndexError, OverflowError):
            raise ValueError("the answer has an array that is none") from None

    def plain(self, entries: Any, depth: int) -> None:
        """Count the entries of an array and see that they are numbers."""
        self.entries += 1
        if depth > DEEPEST + 2 or self.entries > MOST_ENTRIES:
            raise ValueError("the answer is nested too deep or has too many entries")
        if type(entries) is list:
            for each in entries:
                self.plain(each, depth + 1)
        elif type(entries) not in (bool, int, float):
            raise ValueError("the answer has an array that is none")


def dumps(value: Any) -> str:
    """Return `value`, encoded, as one line of JSON.

    Examples
    --------
    >>> dumps({"d_k": 64})
    '{"mapping": [["d_k", 64]]}'
    """
    return json.dumps(encode(value))


def loads(text: str | bytes) -> Any:
    """Return the value that one line of JSON stands for.

    Raises ValueError if it is not JSON, is nested too deep, or is nothing that `encode` writes.

    Examples
    --------
    >>> loads('{"mapping": [["d_k", 64]]}')
    {'d_k': 64}
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the answer is not valid JSON") from None
    return decode(parsed)
