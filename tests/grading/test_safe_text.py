import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.safe_text import (
    LONGEST_NAME,
    composed,
    is_safe_name,
    question_named,
    questions_named,
    safe_name,
    shown,
)

EVERY_TIME_THE_SAME = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    "name", ["s0123456", "17", "ada.example@example.org", "a_b-c+d", "Zoë", "_x"]
)
def test_a_plain_identifier_stays_as_it_is(name):
    assert is_safe_name(name)
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "%"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("../s1", "%2E%2E%2Fs1"),
        ("/etc", "%2Fetc"),
        ("a\\b", "a%5Cb"),
        ("a\0b", "a%00b"),
        ("a\nb", "a%0Ab"),
        ("s1.", "s1%2E"),
        ("=1+1", "%3D1+1"),
        ("-rf", "%-rf"),
        ("@SUM", "%@SUM"),
        ("con", "%con"),
        ("NUL.txt", "NUL%2Etxt"),
        ("a%2Fb", "a%252Fb"),
        ("a/b", "a%2Fb"),
        ("a\u202eb", "a%E2%80%AEb"),
        ("a\ud800b", "a%ED%A0%80b"),
        ("~", "%7E"),
    ],
)
def test_an_unsafe_name_is_quoted(text, name):
    assert not is_safe_name(text)
    assert safe_name(text) == name


def test_composed_and_decomposed_letters_are_one_name():
    assert safe_name("Zoe\u0308") == safe_name("Zoë") == "Zoë"


def test_long_names_are_cut_and_stay_different():
    one, other = safe_name("a" * 500), safe_name("a" * 501)

    assert one != other
    assert one.startswith("a" * 50 + "~")
    assert len(safe_name("é" * 300).encode()) < 255
    assert is_safe_name("a" * LONGEST_NAME)
    assert not is_safe_name("a" * (LONGEST_NAME + 1))


@EVERY_TIME_THE_SAME
@given(st.text())
def test_every_name_can_be_a_folder(text):
    name = safe_name(text)

    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\\0:*?"<>|\n\r\t ')
    assert name[0] not in "=+-@."
    assert len(name.encode()) <= 255


@EVERY_TIME_THE_SAME
@given(st.text(max_size=6), st.text(max_size=6))
def test_different_names_stay_different(one, other):
    assert (safe_name(one) == safe_name(other)) == (composed(one) == composed(other))


def test_what_is_shown_has_no_control_and_no_invisible_characters():
    assert shown("a\x1b[2Jb\u202ec\u200bd\0e\ud800f\tg\nh") == "a[2Jbcdef g h"
    assert shown("x" * 300) == "x" * 199 + "…"
    assert shown("x" * 10_000_000, 10) == "x" * 9 + "…"


QUESTIONS = ("q1", "q2", "q10", "spread")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *((said, "q1") for said in ("q1", "Q1", "1", " Question 1 ", "question_1", "QUESTION 01")),
        *((said, "q1") for said in ("Question\N{NO-BREAK SPACE}1", "q 1", "Q.1", "#1")),
        *((said, "q10") for said in ("Question 10", "q10", "10")),
        ("Spread", "spread"),
        *((said, None) for said in ("", "q", "question", "q3", "Question 1a", "1 and 2")),
    ],
)
def test_a_question_is_named_as_students_read_it(said, meant):
    assert question_named(said, QUESTIONS) == meant


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("q1 q2", ["q1", "q2"]),
        ("Question 1, question 2", ["Question 1", "question 2"]),
        ("1,2", ["1", "2"]),
        ("all", ["all"]),
        ("", []),
    ],
)
def test_a_list_of_questions_is_read_with_spaces_in_them(said, parts):
    assert questions_named(said) == parts
