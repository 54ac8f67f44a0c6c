"""What travels between grader and sandbox: numbers keep their value and lose everything else."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.sandbox._wire import MOST_ENTRIES, Unusable, decode, dumps, encode, loads

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["array", "kind", "shape", "mapping", "complex", "unusable", "x"]),
            inner,
        )
    ),
    max_leaves=20,
)


class Liar(float):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Wrapped:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (3, 3),
        (2.5, 2.5),
        ("text", "text"),
        (None, None),
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3),
        (Fraction(1, 4), 0.25),
        (Decimal("0.125"), 0.125),
        (1 + 2j, 1 + 2j),
        (Liar(3.0), 3.0),
        (np.array([Fraction(1, 2), 10**30], dtype=object), [0.5, 10**30]),
        ((1, [2, 3]), [1, [2, 3]]),
        (range(3), [0, 1, 2]),
        ({"a": {"b": 1}}, {"a": {"b": 1}}),
        (map(float, [1, 2]), [1.0, 2.0]),
        ({1: 2.5}.values(), [2.5]),
    ],
)
def test_a_value_arrives(value: object, expected: object) -> None:
    found = loads(dumps(value))
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(4, dtype=np.uint8),
        np.array([True, False]),
        np.array([1 + 1j, 2]),
        np.zeros((0, 3)),
        np.array(3.5),
        np.array([1.5], dtype=np.longdouble),
        np.array([np.nan, np.inf]),
    ],
    ids=str,
)
def test_an_array_arrives(array: np.ndarray) -> None:
    found = loads(dumps(array))
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_what_is_hidden_by_a_mask_is_no_number() -> None:
    found = loads(dumps(np.ma.array([1.0, 2.0], mask=[False, True])))
    assert found[0] == 1
    assert math.isnan(found[1])


def test_an_object_that_is_an_array_counts_as_one() -> None:
    np.testing.assert_array_equal(loads(dumps(Wrapped())), [1.0, 2.0])


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array(["x"]), b"x", len])
def test_anything_else_is_named(value: object) -> None:
    assert isinstance(loads(dumps(value)), Unusable)


def test_an_iterator_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="too many entries"):
        loads(dumps(itertools.count()))


def test_what_is_nested_without_end_is_cut() -> None:
    value: list[Any] = []
    value.append(value)
    assert "nested" in repr(loads(dumps(value)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 5000,
        '{"other": 1}',
        '{"array": [1], "kind": "object", "shape": [1]}',
        '{"array": [1, [2]], "kind": "float64", "shape": [2]}',
        '{"array": [1, 2], "kind": "float64", "shape": [3]}',
        '{"array": [1], "kind": "float64", "shape": [-7]}',
        '{"array": ["1"], "kind": "float64", "shape": [1]}',
        '{"array": [null], "kind": "float64", "shape": [1]}',
        '{"array": 1, "kind": "complex128", "shape": []}',
        '{"array": [1e400, 1], "kind": "int64", "shape": ["x"]}',
        '{"mapping": [["x"]]}',
        '{"mapping": [[1, 2]]}',
        '{"complex": [[], 1]}',
        '{"complex": [1]}',
        f'{{"complex": [1{"0" * 400}, 1]}}',
        '{"unusable": 3}',
    ],
)
def test_what_encode_never_writes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="answer"):
        loads(text)


def test_texts_do_not_make_room_for_themselves_as_often_as_there_are_entries() -> None:
    forged = {"array": ["x" * 1_000_000, *[""] * 100_000], "kind": "float64", "shape": [100_001]}
    with pytest.raises(ValueError, match="array that is none"):
        decode(forged)


@pytest.mark.parametrize("entries", [[0] * (MOST_ENTRIES + 1), [[0] * 1000] * 201])
def test_too_many_entries_are_refused(entries: list[Any]) -> None:
    with pytest.raises(ValueError, match="too many"):
        decode(entries)
    with pytest.raises(ValueError, match="too many"):
        decode({"array": entries, "kind": "float64", "shape": [len(entries)]})


def test_halves_of_surrogate_pairs_do_not_arrive() -> None:
    found = loads(dumps({"a\ud800": "b\udfff"}))
    json.dumps(found, ensure_ascii=False).encode()


@settings(derandomize=True, deadline=None, database=None)
@given(JSON)
def test_whatever_is_claimed_is_a_value_or_refused(claimed: Any) -> None:
    with contextlib.suppress(ValueError):
        json.dumps(encode(decode(claimed))).encode()
