"""What enters the sandbox names no right answer, neither by a word nor by its place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from grading.intake.normalize import normalize
from grading.marking import running
from grading.marking.judging import Judge
from grading.problem_set import Question
from grading.release import worked
from grading.sandbox import sandbox
from grading.sandbox._wire import encode
from tests.grading.trial import SETS, checked, problem_set, run, solved

STUDENT = "s0000007"
ASKING = [
    (assignment, each.name)
    for assignment in SETS
    for each in problem_set(assignment).questions
    if not each.by_hand and each.asks
]


def question(assignment: str, name: str) -> Question:
    return next(each for each in problem_set(assignment).questions if each.name == name)


def cases(assignment: str, name: str, seed: int) -> list[Any]:
    """Return the inputs of each call of a student's function."""
    taken = question(assignment, name).taken(solved(assignment, name).asked(seed))
    ((_, found),) = taken.items()
    assert isinstance(found, list)
    return found


def entries(value: Any) -> Iterator[Any]:
    """Give all that a value is made of, names as well."""
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from entries(each)
    elif isinstance(value, np.ndarray):
        yield from value.ravel().tolist()
    else:
        yield value


def form(case: Any) -> Any:
    """Return the kind of each part of a case, without its content and its size."""
    if isinstance(case, np.ndarray):
        return case.dtype.str
    return {name: form(each) for name, each in case.items()} if isinstance(case, dict) else None


@pytest.mark.parametrize(("assignment", "name"), ASKING)
def test_a_case_has_no_name_and_no_form_of_its_own(assignment: str, name: str) -> None:
    found = cases(assignment, name, seed=1)
    texts = {each for each in entries(found) if isinstance(each, str)}
    assert texts == set(found[0])
    assert all(form(case) == form(found[0]) for case in found)


@pytest.mark.parametrize(("assignment", "name"), ASKING)
def test_the_place_of_a_case_does_not_tell_its_kind(assignment: str, name: str) -> None:
    at, trial = defaultdict(set), solved(assignment, name)
    for seed in range(300):
        for place, kind in enumerate(trial.asked(seed)["kinds"]):
            at[place].add(kind)
    assert all(kinds == set.union(*at.values()) for kinds in at.values())


def entering(assignment: str, asked: Mapping[str, dict[str, Any]]) -> str:
    """Return all that a runner is sent for a notebook with no answers."""
    the_set = problem_set(assignment)
    work = normalize(worked(the_set, STUDENT, {}), the_set)
    sent = []
    for step in running.plan(work.cells, the_set.questions, STUDENT, asked):
        inputs = step.does.inputs if isinstance(step.does, sandbox.Collect) else {}
        sent.append(json.dumps([step.does.source, encode(inputs)]))
    return "\n".join(sent)


@pytest.mark.parametrize("assignment", SETS)
def test_no_expected_value_enters(assignment: str) -> None:
    judge = Judge.of(problem_set(assignment))
    asked = {
        name: judge.ask(question(assignment, name), STUDENT, 1) for name in checked(assignment)
    }
    sent = entering(assignment, asked)
    assert '"cases"' in sent or '"rows"' in sent
    looked_for = 0
    for name in checked(assignment):
        trial = solved(assignment, name, student_id=STUDENT)
        run(trial.source, trial.inside)
        given, drawn = trial.given(asked[name]), set(entries(asked[name]))
        for value in entries(given):
            text = f"{value:.10g}" if isinstance(value, float) else ""
            # of few digits it could be there by chance; what came back is no result
            if len(text.strip("-0.").replace(".", "")) >= 5 and value not in drawn:
                assert text[:-1] not in sent, (name, value)
                looked_for += 1
    assert looked_for >= 20
