"""Every problem set can be solved, cannot be solved by accident, and says what went wrong."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

from grading.sandbox._wire import Unusable
from grading.sandbox.sandbox import Limits
from tests.grading.trial import (
    SETS,
    STUDENT,
    STUDENTS,
    Trial,
    answered,
    cells,
    checked,
    notebook,
    problem_set,
    released,
    run,
    solution,
    solved,
    without_attnlib,
)
from tests.grading.variants import Variant, variants_of

pytestmark = pytest.mark.usefixtures("figures_as_in_a_notebook")

QUESTIONS = [(name, question) for name in SETS for question in checked(name)]
VARIANTS = [
    pytest.param(name, question, variant, id=f"{name}-{question}-{variant.name}")
    for name in SETS
    for question, variants in variants_of(name).items()
    for variant in variants
]
SEEDS = range(3)


def personal(assignment: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the ranges of the personal numbers, by the questions that have some."""
    names: dict[str, Any] = {}
    run(cells(assignment)["numbers"], names)
    return names["RANGES"]


def test_there_are_problem_sets():
    assert "problem_set_1" in SETS


@pytest.mark.parametrize("assignment", SETS)
class TestNotebook:
    def test_nbgrader_accepts_its_cells(self, assignment: str):
        MetadataValidatorV3().validate_nb(notebook(assignment))
        for cell in notebook(assignment).cells:
            mark = cell.metadata.get("nbgrader")
            if mark is None:
                continue
            assert mark.schema_version == 3
            assert mark.task is False
            assert mark.get("cell_type", cell.cell_type) == cell.cell_type
            assert mark.locked is not mark.solution
            assert ("points" in mark) is mark.grade

    def test_nothing_is_stored_but_sources(self, assignment: str):
        stored = notebook(assignment)
        assert len({cell.id for cell in stored.cells}) == len(stored.cells)
        for cell in stored.cells:
            assert cell.get("outputs", []) == []
            assert cell.get("execution_count") is None
        assert stored.metadata.kernelspec.name == "python3"

    def test_its_own_checks_pass_from_top_to_bottom(self, assignment: str):
        names: dict[str, Any] = {"__name__": "__main__"}
        with without_attnlib():
            for cell in notebook(assignment).cells:
                if cell.cell_type == "code":
                    run(cell.source, names)
        assert names["student_id"] == STUDENT

    def test_the_points_are_those_of_the_rules(self, assignment: str):
        rules = notebook(assignment).cells[0].source
        worth = {each.name: each.points for each in problem_set(assignment).questions}
        assert min(worth.values()) > 0
        assert re.search(rf"\b{sum(worth.values()):g}( points| \|$)", rules, re.MULTILINE)
        for name, points in worth.items():
            assert f"({points:g} points)" in cells(assignment)[f"{name}_text"].splitlines()[0]
            assert re.search(rf"^\| {name[1:]} \|.*\| {points:g} \|$", rules, re.MULTILINE)

    def test_there_are_five_questions_and_the_last_is_a_paragraph(self, assignment: str):
        questions = problem_set(assignment).questions
        assert [each.name for each in questions] == ["q1", "q2", "q3", "q4", "q5"]
        assert [each.by_hand for each in questions] == [False, False, False, False, True]

    def test_each_answer_depends_on_its_own_cell_alone(self, assignment: str):
        for question in checked(assignment):
            names: dict[str, Any] = {"__name__": "__main__", "student_id": STUDENT}
            with without_attnlib():
                for name in ("numbers", "setup"):
                    run(cells(assignment)[name], names)
                run(solution(assignment, question), names)
                run(solution(assignment, question), names)
                run(released(assignment, f"{question}_check"), names)

    def test_attnlib_is_refused_kindly(self, assignment: str, monkeypatch: pytest.MonkeyPatch):
        for question in checked(assignment):
            trial = solved(assignment, question)
            run(trial.source, trial.inside)
            monkeypatch.setitem(sys.modules, "attnlib", types.ModuleType("attnlib"))
            with pytest.raises(AssertionError, match="attnlib is not there"):
                run(released(assignment, f"{question}_check"), trial.inside)

    def test_there_are_enough_answers(self, assignment: str):
        assert tuple(variants_of(assignment)) == checked(assignment)
        for question, variants in variants_of(assignment).items():
            assert len({each.name for each in variants}) == len(variants)
            assert sum(each.earned < 1 for each in variants) >= 8, question
            assert sum(each.earned == 1 for each in variants) >= 3, question
            for each in variants:
                assert 0 <= each.earned <= 1, each.name
                assert (each.earned == 1) is (each.says == ""), each.name


@pytest.mark.parametrize("assignment", SETS)
class TestPersonalNumbers:
    def test_both_ends_are_reached_and_nothing_else(self, assignment: str):
        names: dict[str, Any] = {}
        run(cells(assignment)["numbers"], names)
        assert names["RANGES"].keys() <= cells(assignment).keys()
        for question, ranges in names["RANGES"].items():
            drawn = [names["personal_numbers"](f"s{n}", question) for n in range(400)]
            for name, (lowest, highest) in ranges.items():
                found = {each[name] for each in drawn}
                assert found <= set(range(lowest, highest + 1))
                if highest - lowest < 30:
                    assert {lowest, highest} <= found
                assert len(found) >= 0.6 * min(400, highest - lowest + 1)

    def test_every_question_has_some_and_the_rules_say_so(self, assignment: str):
        questions = {each.name for each in problem_set(assignment).questions}
        assert personal(assignment).keys() == questions
        assert "Every question has personal numbers" in notebook(assignment).cells[0].source

    def test_they_are_the_digest_of_the_rules(self, assignment: str):
        names: dict[str, Any] = {}
        run(cells(assignment)["numbers"], names)
        for student_id in STUDENTS:
            for question, ranges in names["RANGES"].items():
                found = names["personal_numbers"](student_id, question)
                assert found.keys() == ranges.keys()
                for name, (lowest, highest) in ranges.items():
                    text = f"{assignment}/{student_id}/{question}/{name}"
                    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
                    assert found[name] == lowest + drawn % (highest - lowest + 1)

    def test_the_code_is_the_same_in_every_set(self, assignment: str):
        def code(name: str) -> list[str]:
            body = ast.parse(cells(name)["numbers"]).body
            named = [node for node in body if not isinstance(node, ast.Assign)]
            return [ast.unparse(node) for node in named]

        assert code(assignment) == code(SETS[0])


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS)
class TestQuestion:
    @pytest.mark.parametrize("student_id", [each for each in STUDENTS if each])
    def test_the_solution_earns_everything(self, assignment: str, question: str, student_id: str):
        for seed in SEEDS:
            outcome = solved(assignment, question, student_id=student_id).outcome(seed)
            assert outcome.earned == 1, outcome.message

    @pytest.mark.parametrize("end", [0, 1])
    def test_so_it_does_at_the_ends_of_the_ranges(self, assignment: str, question: str, end: int):
        outcome = solved(assignment, question, end=end).outcome()
        assert outcome.earned == 1, outcome.message

    def test_the_stub_earns_nothing(self, assignment: str, question: str):
        outcome = Trial(assignment, question, released(assignment, question)).outcome()
        assert outcome.earned == 0
        assert outcome.message

    def test_a_cell_without_code_earns_nothing(self, assignment: str, question: str):
        for source in ("", "pass", "mine = {}", "raise RuntimeError('no')", "1 +"):
            assert Trial(assignment, question, source).outcome().earned == 0


@pytest.mark.parametrize(
    ("assignment", "question"), [pair for pair in QUESTIONS if pair[1] in personal(pair[0])]
)
def test_what_another_student_has_right_is_wrong(assignment: str, question: str):
    for other in ("s0000001", "20231187", "O'Example"):
        copied = solved(assignment, question, student_id=other, judged_as=STUDENT)
        assert copied.outcome().earned < 1


@pytest.mark.proof("unusual")
@pytest.mark.parametrize(("assignment", "question", "variant"), VARIANTS)
def test_what_students_write_earns_what_it_should(assignment: str, question: str, variant: Variant):
    tried = partial(Trial, assignment, question, variant.source)
    outcome = tried().outcome()
    assert outcome.earned == pytest.approx(variant.earned), outcome.message
    assert variant.says in outcome.message, outcome.message
    if variant.earned == 1:
        tried().check()
        tried().check(as_in_the_sandbox=True)
        for other in STUDENTS[1:4]:
            fresh = tried(student_id=other).outcome(1)
            assert fresh.earned == 1, fresh.message


ODD_ARRAYS = st.sampled_from(
    [
        np.array([]),
        np.array(0.5),
        np.array([np.nan, 1.0]),
        np.full((4, 2), np.inf),
        np.ones((4, 2)) * 1e308,
        np.ones((2, 3, 8), dtype=bool),
        np.arange(8).reshape(4, 2) - 5,
        np.zeros((0, 3)),
        np.array([1.0 + 2.0j, 3.0]),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**400, max_value=10**401)
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=8)
    | st.builds(Unusable, st.text(max_size=8))
    | ODD_ARRAYS
)
GARBAGE = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
) | st.just([[[[[[[[[[[[[[[[[[1.0]]]]]]]]]]]]]]]]]])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List where in an answer something can be exchanged."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    if isinstance(value, list):
        for position in range(len(value)):
            yield from places(value[position], (*path, position))


def exchanged(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """Return an answer with what is at one place exchanged."""
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = exchanged(value[path[0]], path[1:], by)
    return copy


@pytest.fixture(scope="module")
def right_answers() -> Callable[[str, str], tuple[Trial, Any, dict[str, Any]]]:
    """Return what gives a trial, its right answer, and what was asked; each made once."""
    return cache(answered)


@pytest.mark.proof("unusual")
@pytest.mark.parametrize(("assignment", "question"), QUESTIONS)
class TestGarbage:
    @settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(garbage=GARBAGE)
    def test_garbage_is_wrong_and_nothing_else(
        self, right_answers: Any, assignment: str, question: str, garbage: Any
    ):
        trial, good, asked = right_answers(assignment, question)
        for answer in (garbage, dict.fromkeys(good, garbage)):
            outcome = trial.judge(answer, asked)
            assert outcome.earned < 1
            assert outcome.message

    @settings(
        max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(garbage=GARBAGE, data=st.data())
    def test_garbage_within_an_answer_raises_nothing_else(
        self, right_answers: Any, assignment: str, question: str, garbage: Any, data: st.DataObject
    ):
        trial, good, asked = right_answers(assignment, question)
        path = data.draw(st.sampled_from(list(places(good))))
        outcome = trial.judge(exchanged(good, path, garbage), asked)
        assert 0 <= outcome.earned <= 1
        assert outcome.message or outcome.earned == 1

    def test_messages_hold_no_number_of_the_answer(
        self, right_answers: Any, assignment: str, question: str
    ):
        trial, good, asked = right_answers(assignment, question)
        told = cells(assignment)[f"{question}_text"]
        secret = {f"{value:.6g}" for value in leaves(good) if f"{value:.6g}" not in told}
        secret = {digits for digits in secret if len(digits) > 2}
        for garbage in (None, -1.0, 1e300, "text", np.zeros((4, 2))):
            for path in places(good):
                message = trial.judge(exchanged(good, path, garbage), asked).message
                assert not any(digits in message for digits in secret), message


def leaves(value: Any) -> Iterator[float]:
    """List the numbers of an answer."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "if":
        yield from map(float, value.ravel())
    elif isinstance(value, int | float):
        yield float(value)


@pytest.mark.parametrize("assignment", SETS)
def test_students_are_told_the_limits_that_hold(assignment: str) -> None:
    limits = Limits()
    (rule,) = re.findall(
        r"A cell that takes longer .*? in all\.", problem_set(assignment).cells[0].source
    )
    told = [float(each) for each in re.findall(r"[\d.]*\d", rule)]
    assert told == [
        limits.cell_seconds,
        limits.wall_seconds,
        limits.cpu_seconds,
        limits.memory_bytes / 1e9,
    ]


class Renamed(ast.NodeTransformer):
    """Calls the arguments of every function otherwise."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        parts = list(ast.walk(node))
        names = {each.arg for each in parts if isinstance(each, ast.arg)}
        for each in parts:
            if isinstance(each, ast.arg):
                each.arg = f"my_{each.arg}"
            elif isinstance(each, ast.Name) and each.id in names:
                each.id = f"my_{each.id}"
        return node


@pytest.mark.parametrize(("assignment", "question"), QUESTIONS)
def test_arguments_may_be_called_otherwise_than_in_the_statement(
    assignment: str, question: str
) -> None:
    tree = ast.parse(solution(assignment, question))
    if not any(isinstance(node, ast.FunctionDef) and node.args.args for node in tree.body):
        assert not problem_set(assignment).by_name[question].source.startswith("def ")
        return
    renamed = ast.unparse(Renamed().visit(tree))
    assert "my_" in renamed
    assert Trial(assignment, question, renamed).outcome().earned == 1
