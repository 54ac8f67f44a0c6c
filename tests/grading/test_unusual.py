"""Right answers in unusual forms, and notebooks of unusual forms, lose no points.

All answers to one question run in one sandbox, one after the other, as if a student had tried them
all. Names of the one before are gone.
"""

from __future__ import annotations

from functools import cache

import pytest

from grading.marking.judging import Judge
from grading.results import Mark
from grading.sandbox import sandbox
from tests.grading.trial import problem_set
from tests.grading.unusual import UNUSUAL

STUDENT = "s0000001"
LIMITS = sandbox.Limits(wall_seconds=110, cell_seconds=20)
ALL = [
    pytest.param(assignment, question, i, id=f"{assignment}-{question}-{variant.name}")
    for assignment, questions in UNUSUAL.items()
    for question, variants in questions.items()
    for i, variant in enumerate(variants)
]
FORGET = """
for each in [name for name in globals() if name not in KNOWN and not name.startswith("_")]:
    del globals()[each]
"""


@cache
def ran(assignment: str, question: str) -> tuple[sandbox.Run, list[Mark | str]]:
    """Return what came out, and the mark of each answer, or why there is none."""
    given = problem_set(assignment)
    judge = Judge.of(given)
    (asked_of,) = (each for each in given.questions if each.name == question)
    asked = judge.ask(asked_of, STUDENT, 7)
    first = [f"{given.by_name['numbers'].source}\nstudent_id = {STUDENT!r}"]
    first.append("KNOWN = {'KNOWN', *globals()}")
    steps: list[sandbox.Execute | sandbox.Collect] = [
        sandbox.Execute(f"first {i}", source) for i, source in enumerate(first)
    ]
    for i, variant in enumerate(UNUSUAL[assignment][question]):
        sources = (FORGET, given.by_name["setup"].source, variant.source)
        check = given.by_name[f"{question}_check"].source
        steps += [sandbox.Execute(f"{i}.{j}", each) for j, each in enumerate((*sources, check))]
        steps.append(sandbox.Collect(str(i), asked_of.functions["answer"], asked))
    found = sandbox.run(steps, LIMITS)
    marks: list[Mark | str] = [
        judge.judge(asked_of, found.answers[str(i)], STUDENT, asked)
        if str(i) in found.answers
        else found.failures.get(str(i), found.ended)
        for i in range(len(UNUSUAL[assignment][question]))
    ]
    return found, marks


@pytest.mark.parametrize(("assignment", "question", "place"), ALL)
def test_a_right_answer_in_an_unusual_form_earns_everything(
    assignment: str, question: str, place: int
) -> None:
    found, marks = ran(assignment, question)
    mark = marks[place]
    shown = [found.outputs.get(f"{place}.{j}") for j in range(4)]
    assert isinstance(mark, Mark), (mark, str(shown)[-1500:])
    assert (mark.points, mark.message) == (mark.maximum, ""), str(shown)[-1500:]
    # and the public check has nothing against it
    assert not [each for each in shown[3] or () if each["output_type"] == "error"], shown[3]


def test_there_are_many_right_answers() -> None:
    from tests.grading.variants import variants_of

    known = [
        each
        for assignment in UNUSUAL
        for variants in variants_of(assignment).values()
        for each in variants
        if each.earned == 1
    ]
    assert len(known) + len(ALL) >= 200
    for questions in UNUSUAL.values():
        for variants in questions.values():
            assert len({each.name for each in variants}) == len(variants)
