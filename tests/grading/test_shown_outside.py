"""What a marker sees of personal numbers comes from the accepted identity, whatever a cell did."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from grading.gradebook import autograded, scheme
from grading.marking.submission import Conditions, mark
from grading.problem_set import SOURCE, read
from grading.release import worked
from grading.results import Student, Submission

NAME = "problem_set_2"
PATH = SOURCE / NAME / f"{NAME}.ipynb"
SET = read(PATH)
BY_HAND = next(each for each in SET.questions if each.by_hand)
OTHERS = ("s0000002", "s0000012", "s0000003")
LONG = pytest.mark.proof("redteam")
IDENTITY = 'student_id = "s0000001"'


@pytest.fixture(scope="module")
def source() -> scheme.Source:
    return scheme.source(PATH)


def as_it_ran(**answers: str) -> tuple[str, list[str]]:
    """Mark a notebook of s0000001, and return from whose numbers, and what contradicts."""
    student = Student("s0000001", "", "Ada Example")
    stubs = {each.name: "pass" for each in SET.cells if each.role == "answer"}
    work = worked(SET, "s0000001", {**stubs, "q5": "Words.", **answers})
    result = mark(Submission(student, NAME, work, accepted=True), SET, Conditions({NAME: 1}))
    cells, _ = autograded.read(result.notebook)
    identity = autograded.identity(result.notebook)
    return identity, scheme.source(PATH).contradictions(BY_HAND, identity, cells, OTHERS)


def test_an_honest_notebook_is_not_said_of() -> None:
    uses = """
        personal_numbers(student_id, question="q1")
        student_id == ""
        personal_numbers(student_id, "q2")"""
    uses = textwrap.dedent(uses)
    assert as_it_ran(q1=uses) == ("s0000001", [])


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"q1": 'student_id = "s0000002"'}, ["those of s0000002", "`student_id`"]),
        (
            {"q4": "def personal_numbers(student_id, question):\n    return {'d_k': 64}"},
            ["others, or none", "`personal_numbers`"],
        ),
        pytest.param(
            {"q2": "old = personal_numbers\npersonal_numbers = lambda s, q: old('s0000003', q)"},
            ["those of s0000003", "`personal_numbers`"],
            marks=LONG,
        ),
        pytest.param({"q3": 'RANGES["q5"] = {}'}, ["others, or none", "`RANGES`"], marks=LONG),
        pytest.param(
            {"identity": f'{IDENTITY}\nstudent_id = "s0000012"'},
            ["gives several"],
            marks=LONG,
        ),
        # whose words are about other numbers: somebody mistyped, and was accepted
        (
            {"identity": 'student_id = "s0000002"  # mine'},
            ["the student number there is s0000002; its numbers are {'claim': "],
        ),
    ],
)
def test_contradictions_are_said(
    answers: dict[str, str], says: list[str], source: scheme.Source
) -> None:
    identity, said = as_it_ran(**answers)
    assert identity == "s0000001"
    assert all(words in " ".join(said) for words in says), said
    right = scheme.Source(SET, source.cells, source.pictures)
    assert source.expected(BY_HAND, identity) == right.expected(BY_HAND, "s0000001")
    assert source.expected(BY_HAND, identity) != right.expected(BY_HAND, "s0000012")
    assert source.numbers(BY_HAND, identity).keys() == {"claim", "step"}


def test_the_marker_sees_what_was_computed_outside() -> None:
    page = (Path(scheme.__file__).parent / "by_hand.html").read_text(encoding="utf-8")
    assert "{{ numbers }}" in page
    assert "{{ said }}" in page
    assert "block.outputs and not numbers" in page
