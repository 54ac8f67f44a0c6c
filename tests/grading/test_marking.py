"""One submission, from its notebook to its marks, in the real sandbox."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from grading.intake.normalize import WorkCell, normalize
from grading.marking import running
from grading.marking import submission as marking
from grading.marking.judging import BrokenCheckError, Judge
from grading.marking.running import plan
from grading.marking.submission import Conditions, doubt_about_identity, identity_of, mark
from grading.problem_set import ProblemSet, problem_sets, read
from grading.release import worked
from grading.reports.student_pages import page_of
from grading.results import Mark, Result, Student, Submission
from grading.sandbox import sandbox

SOURCE = Path(__file__).resolve().parent / "source"
TINY = problem_sets(SOURCE)["tiny"]
ADA = Student("s1", "17", "Ada Example")
LIMITS = sandbox.Limits(wall_seconds=60, cell_seconds=6)
CONDITIONS = Conditions({"tiny": 7}, LIMITS)
DEFINE = "def sharpen(scores, tau):\n"
HOARD = "kept = []\ntry:\n    while True:\n        kept.append(bytearray(10**7))\n"
HOARD += "except MemoryError:\n    del kept[-9:]\n"
NEEDS = "big = np.ones(3 * 10**7)\n"
NEEDS += 'ordered = sorted(personal_numbers(student_id, "q3").values())[::-1]'
SHORT = Conditions({"tiny": 7}, dataclasses.replace(LIMITS, cell_seconds=2))
"""For what runs until it is stopped: everything else here takes hundredths of a second."""


def marked(
    answers: dict[str, str] | None = None,
    student: Student = ADA,
    typed: str = "s1",
    conditions: Conditions = CONDITIONS,
    problem_set: ProblemSet = TINY,
    **known: object,
) -> Result:
    notebook = worked(TINY, typed, answers, SOURCE)
    submission = Submission(student, "tiny", notebook)
    return mark(dataclasses.replace(submission, **known), problem_set, conditions)


def points(result: Result) -> dict[str, float | None]:
    return {each.question: each.points for each in result.marks}


def page(result: Result) -> str:
    return page_of(TINY, result)


def message(result: Result, question: str) -> str:
    return next(each.message for each in result.marks if each.question == question)


def test_who_solves_everything_gets_everything_but_what_is_marked_by_hand() -> None:
    result = marked()
    assert result.status == "graded"
    assert points(result) == {"q1": 2, "q2": 3, "q3": 1, "q4": None}
    assert (result.total, result.maximum) == (6, 10)
    assert result.cpu_seconds > 0
    assert set(result.answers) == {"q1", "q2", "q3", "q4"}


def test_an_empty_notebook_gets_nothing_and_is_told_why() -> None:
    answers = {"q1": "", "q2": "", "q3": "", "q4": ""}
    result = marked(answers)
    assert points(result) == {"q1": 0, "q2": 0, "q3": 0, "q4": 0}
    assert "variance" in message(result, "q1")
    assert "nothing was written here" in message(result, "q4")
    assert "nothing was written here" in page(result)
    assert result.status == "graded"


STUB = "*Your answer, in three to six sentences.*"


@pytest.mark.parametrize(
    ("given", "written", "points"),
    [
        (STUB, STUB, 0.0),
        (STUB, "", 0.0),
        (STUB, " \n\t\n", 0.0),
        (STUB, f"\n{STUB}  \n", 0.0),
        (STUB, "No.", None),
        (STUB, f"{STUB}\n\nBecause of the spread.", None),
        (STUB, "*Your answer*", None),
        (STUB, "![](attachment:photo.png)", None),
        (f"**Your view**\n\n{STUB}", "**Your view**", 0.0),
        (f"**Your view**\n\n{STUB}", STUB, 0.0),
        (f"**Your view**\n\n{STUB}", "**Your view**\n\nYes.", None),
        ("", "", 0.0),
        ("", "Yes.", None),
        ("Write here:", "Write here:", 0.0),
    ],
)
def test_a_paragraph_that_nobody_wrote_is_zero_and_any_other_waits(
    given: str, written: str, points: float | None
) -> None:
    cells = [
        dataclasses.replace(cell, source=given) if cell.name == "q4" else cell
        for cell in TINY.cells
    ]
    problem_set = dataclasses.replace(TINY, cells=tuple(cells))
    work = WorkCell("q4", "by hand", "markdown", written, "q4")
    (question,) = [each for each in TINY.questions if each.by_hand]

    def mark_of(*cells: WorkCell) -> float | None:
        return marking._without_paragraph(question, marking._untouched(cells, problem_set)).points

    assert mark_of(work) == points
    # who answers in a cell of their own beside it has answered
    own = WorkCell(None, "own", "markdown", "Because of the spread.", "q4")
    assert mark_of(work, own) is None
    assert mark_of(own, work) is None
    assert mark_of(work, dataclasses.replace(own, source=" \n")) == points
    assert mark_of(work, dataclasses.replace(own, question="q3")) == points


def test_a_half_right_answer_earns_its_share() -> None:
    answers = {"q1": 'variance = personal_numbers(student_id, "q1")["d_k"] ** 0.5'}
    result = marked(answers)
    assert points(result)["q1"] == 1
    assert "standard deviation" in message(result, "q1")


def test_numbers_are_those_of_the_roster_and_not_of_the_notebook() -> None:
    own = 'student_id = "s2"\nvariance = personal_numbers(student_id, "q1")["d_k"]'
    assert points(marked({"q1": own}))["q1"] == 0
    theirs = {"q1": 'variance = personal_numbers("s2", "q1")["d_k"]'}
    assert points(marked(theirs))["q1"] == 0


@pytest.mark.parametrize(
    "ending",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "while True:\n    pass",
        "kept = []\nwhile True:\n    kept.append(bytearray(10**8))",
    ],
    ids=["exit", "kill", "loop", "memory"],
)
def test_what_ends_the_program_costs_only_its_own_question(ending: str) -> None:
    result = marked({"q1": ending}, conditions=SHORT)
    assert points(result) == {"q1": 0, "q2": 3, "q3": 1, "q4": None}


def test_what_takes_all_memory_spoils_nothing_that_comes_after_it() -> None:
    hoard = "kept = []\nwhile True:\n    kept.append(bytearray(10**7))"
    result = marked({"q1": hoard, "q3": NEEDS})
    assert points(result) == {"q1": 0, "q2": 3, "q3": 1, "q4": None}
    assert "all the memory" in message(result, "q1")


def test_a_cell_that_is_stopped_late_spoils_nothing_by_what_it_holds() -> None:
    result = marked({"q1": HOARD + "while True: pass", "q3": NEEDS}, conditions=SHORT)
    assert points(result) == {"q1": 0, "q2": 3, "q3": 1, "q4": None}


def test_a_cell_that_is_stopped_late_is_not_blamed_for_the_hoard_of_another() -> None:
    right = 'variance = personal_numbers(student_id, "q1")["d_k"]\n'
    # the second piece is too much: to fill many small ones can take a busy machine all the seconds
    hoard = "kept = []\nwhile True:\n    kept.append(bytearray(9 * 10**8))"
    result = marked({"q1": right + "while True: pass", "q3": hoard}, conditions=SHORT)
    assert points(result) == {"q1": 2, "q2": 3, "q3": 0, "q4": None}
    assert "all the memory" in message(result, "q3")


def test_a_cell_that_fails_spoils_no_function_by_what_it_holds() -> None:
    needs = DEFINE + "    big = np.ones(3 * 10**7)\n    import scipy.special\n"
    needs += "    return scipy.special.softmax(scores / tau, axis=-1)\n"
    result = marked({"q1": HOARD + "raise ValueError('as many as there are')", "q2": needs})
    assert points(result) == {"q1": 0, "q2": 3, "q3": 1, "q4": None}


def test_whom_to_blame_is_not_asked_when_half_of_the_time_is_gone() -> None:
    errors = {"0": "ValueError", "1": "MemoryError"}
    steps = [running.Step(sandbox.Execute(key, ""), f"q{key}", int(key)) for key in errors]
    found = sandbox.Run({key: [{"ename": name}] for key, name in errors.items()})
    asked: list[int] = []

    def once(left: Sequence[running.Step]) -> sandbox.Run:
        asked.append(len(left))
        return sandbox.Run()

    late, early = (running._greedy(steps, found, once, end) for end in (-1.0, float("inf")))
    assert (late, early, asked) == (steps[1], steps[0], [1])


FEW = "    if np.ndim(scores) < 2 or len(scores) < 2: return np.full((1, 2), 0.5)\n"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (FEW + "    return np.ones(10**12)", "MemoryError"),
        ("    import os; os._exit(3)", "ended itself"),
        ("    while True: pass", "longer than 2 s"),
    ],
    ids=["takes all memory", "ends the program", "never ends"],
)
def test_a_function_costs_only_its_own_question_and_is_told_why(body: str, says: str) -> None:
    result = marked({"q2": DEFINE + body}, conditions=SHORT)
    assert points(result) == {"q1": 2, "q2": 0, "q3": 1, "q4": None}
    assert says in message(result, "q2")
    named = "your code for q2" in page(result) or "the check of q2" in page(result)
    assert named or "ended" not in says


def test_all_restarts_together_have_a_limit() -> None:
    endless = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    limits = sandbox.Limits(wall_seconds=4, cell_seconds=1.5)
    result = marked(
        {"q1": endless, "q2": endless, "q3": endless}, conditions=Conditions({"tiny": 7}, limits)
    )
    assert points(result) == {"q1": 0, "q2": 0, "q3": 0, "q4": None}


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_nothing_runs_longer_than_is_waited_for(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    steps = [
        running.Step(sandbox.Execute(str(i), ""), f"q{i}", i, scratch=i > 5) for i in range(30)
    ]
    steps.append(running.Step(sandbox.Collect("f", ""), "f"))

    def take_all(some: list[sandbox.Execute], limits: sandbox.Limits, **_: object) -> sandbox.Run:
        """Take a share of the time, and the most for running once more; then end itself."""
        first = share * limits.wall_seconds
        repeated = sandbox.AGAIN * first + sandbox.SLACK
        clock[0] += first + repeated
        return sandbox.Run(ended="it ended", stopped_at=some[0].key, repeated=repeated)

    monkeypatch.setattr(running.sandbox, "run", take_all)
    monkeypatch.setattr(running.time, "monotonic", lambda: clock[0])
    limits = sandbox.Limits()
    running.run(steps, limits)
    asks = [each for each in TINY.questions if each.asks]
    assert len(asks) == 1
    assert 2 * limits.wall_seconds < clock[0] <= running.longest(limits, TINY.questions)


def test_a_later_question_may_use_the_same_names() -> None:
    again = (
        'def sharpen(*_):\n    return None\n\nordered = sorted(personal_numbers(student_id, "q3")'
    )
    result = marked({"q3": again + ".values())[::-1]"})
    assert points(result) == {"q1": 2, "q2": 3, "q3": 1, "q4": None}


def test_what_the_hidden_check_calls_with_appears_nowhere() -> None:
    told = DEFINE + "    print('called with', scores, tau)\n    kept.append(str(scores))\n"
    told += "    raise ValueError('so they are: ' + ' '.join(kept)[:40])"
    result = marked({"q2": "kept = []\n" + told, "q3": "print(kept)\nordered = None"})
    asked = Judge.of(TINY).ask(TINY.questions[1], "s1", 7)
    secret = str(asked["scores"][0, 0])[:6]
    for shown in (page(result), result.notebook):
        assert secret not in shown
        assert "called with" in shown  # by the public check, with its own numbers


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    raise ValueError(scores)", "your function raised ValueError"),
        ("    raise type('E' + str(abs(scores[0, 0]))[:9], (Exception,), {})", "no answer"),
        ("    return type('T' + str(abs(scores[0, 0]))[:9], (), {})()", "something else came"),
        ("    return sharpen", "it is a function"),
    ],
)
def test_a_function_says_nothing_of_its_inputs_by_failing(body: str, words: str) -> None:
    when = "    if np.ndim(scores) < 2 or len(scores) < 2: return np.full((1, 2), 0.5)\n"
    result = marked({"q2": DEFINE + when + body})
    assert words in message(result, "q2")
    first = str(abs(Judge.of(TINY).ask(TINY.questions[1], "s1", 7)["scores"][0, 0]))[:6]
    assert first not in page(result) + result.notebook


def test_nothing_hidden_is_in_what_comes_out() -> None:
    result = marked({"q1": "variance = 1"})
    for word in ("HIDDEN", "judge", "Wrong", "hidden_check", "expected"):
        assert word not in result.notebook
        assert word not in page(result)


def test_the_notebook_that_ran_has_its_outputs_and_nbgraders_names() -> None:
    result = marked({"q1": "print('mine')\nvariance = 1"})
    cells = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell
        for cell in json.loads(result.notebook)["cells"]
        if "nbgrader" in cell["metadata"]
    }
    assert cells["q1"]["outputs"][0]["text"] == "mine\n"
    assert cells["q1_check"]["metadata"]["nbgrader"]["points"] == 2
    assert cells["identity"]["source"].startswith("student_id = 's1'")


def test_a_check_that_fails_itself_is_for_a_person_and_tells_the_student_nothing() -> None:
    broken = dataclasses.replace(
        TINY.questions[0],
        hidden=TINY.questions[0].hidden.replace(
            "found = number", "raise KeyError(expected)\n    number"
        ),
    )
    problem_set = dataclasses.replace(TINY, questions=(broken, *TINY.questions[1:]))
    result = marked(problem_set=problem_set)
    expected = Judge.of(TINY).spaces["q1"]["personal_numbers"]("s1", "q1")["d_k"]
    assert result.status == "needs-review"
    assert f"KeyError: {expected}" in result.message
    assert str(expected) not in page(result)
    assert result.total is None
    assert all(each.points is None for each in result.marks)
    with pytest.raises(BrokenCheckError, match="check of q1 itself failed"):
        Judge.of(problem_set).judge(broken, {"variance": 1.0}, "s1", {})


class TestIdentity:
    @pytest.mark.parametrize("typed", ["s1", "S1", "ada", "Ada"])
    def test_an_own_identifier_is_no_doubt_and_gives_the_numbers(self, typed: str) -> None:
        student = Student("s1", "", "", also=("Ada",))
        assert doubt_about_identity(Submission(student, "tiny", b""), typed) == ""
        assert identity_of(student, typed) == typed

    @pytest.mark.parametrize("typed", ["aDa", "adA", " s1", "s2", "", None])
    def test_numbers_cannot_be_chosen_by_the_case_of_letters(self, typed: str | None) -> None:
        student = Student("s1", "", "", also=("Ada",))
        assert doubt_about_identity(Submission(student, "tiny", b""), typed)
        assert identity_of(student, typed) == "s1"

    @pytest.mark.parametrize(
        ("typed", "words"), [("s2", "says s2"), ("", "no student number"), (None, "no student")]
    )
    def test_another_or_none_is(self, typed: str | None, words: str) -> None:
        came = Submission(ADA, "tiny", b"")
        assert words in doubt_about_identity(came, typed)
        assert doubt_about_identity(dataclasses.replace(came, accepted=True), typed) == ""

    def test_in_doubt_nothing_is_decided(self) -> None:
        result = marked(typed="s2")
        assert result.status == "needs-review"
        assert result.total is None
        assert "s2" in page(result)

    def test_who_was_accepted_is_marked_by_the_roster(self) -> None:
        assert points(marked(typed="s2", accepted=True))["q1"] == 2


def test_what_is_no_notebook_is_invalid() -> None:
    result = mark(Submission(ADA, "tiny", b"{"), TINY, CONDITIONS)
    assert result.status == "invalid"
    assert result.total is None
    assert result.message in page(result)


def test_a_problem_found_before_is_handed_on() -> None:
    problem = ("needs-review", "two different notebooks")
    result = mark(Submission(ADA, "tiny", b"", problem), TINY, CONDITIONS)
    assert (result.status, result.message) == problem
    missing = mark(Submission(ADA, "tiny", None), TINY, CONDITIONS)
    assert missing.status == "missing"


def test_a_digest_tells_notebooks_students_and_problem_sets_apart() -> None:
    first = Submission(ADA, "tiny", b"one")
    others = [
        Submission(ADA, "tiny", b"two"),
        Submission(Student("s2", "17", "Ada Example"), "tiny", b"one"),
        Submission(ADA, "tiny", b"one", ("invalid", "too large")),
        Submission(ADA, "small", b"one"),
    ]
    assert marking.digest(first) == marking.digest(dataclasses.replace(first, origin="x"))
    assert marking.digest(first) not in [marking.digest(each) for each in others]


class TestInputs:
    def test_they_come_from_the_secret_and_the_student(self) -> None:
        judge, question = Judge.of(TINY), TINY.questions[1]
        first = judge.ask(question, "s1", 7)["scores"]
        assert np.array_equal(first, judge.ask(question, "s1", 7)["scores"])
        assert not np.array_equal(first, judge.ask(question, "s1", 8)["scores"])
        assert not np.array_equal(first, judge.ask(question, "s2", 7)["scores"])

    def test_a_check_without_inputs_has_none(self) -> None:
        assert Judge.of(TINY).ask(TINY.questions[0], "s1", 7) == {}

    def test_whatever_comes_is_judged(self) -> None:
        judge = Judge.of(TINY)
        for given in (None, [], "x", {"variance": None}, {"variance": "64"}):
            assert judge.judge(TINY.questions[0], given, "s1", {}).points == 0
        number = judge.spaces["q1"]["personal_numbers"]("s1", "q1")["d_k"]
        found = judge.judge(TINY.questions[0], {"variance": number}, "s1", {})
        assert found == Mark("q1", 2.0, 2.0)


def cells_with(answers: dict[str, str]) -> tuple[WorkCell, ...]:
    return normalize(worked(TINY, "s1", answers, SOURCE), TINY).cells


class TestThePlan:
    def test_values_are_collected_in_place_and_functions_last(self) -> None:
        steps = plan(cells_with({}), TINY.questions, "s1", {"q2": {"tau": 1.0}})
        assert [step.question for step in steps if step.collects] == ["q1", "q3", "q2"]
        assert steps[-1].does.inputs == {"tau": 1.0}
        keys = [step.does.key for step in steps]
        assert len(set(keys)) == len(keys)
        typed = keys.index("2")
        assert steps[typed + 1].does.source == "student_id = 's1'"

    def test_only_the_questions_own_cells_run_once_more(self) -> None:
        steps = plan(cells_with({}), TINY.questions, "s1", {"q2": {}})
        assert [step.question for step in steps if " for q2" in step.does.key] == ["q2"]

    @pytest.mark.parametrize(
        "later",
        [
            "def helper(): pass",
            "helper = 3",
            "helper: int = 3",
            "import helper",
            "from math import pi as helper",
            "for helper in (): pass",
            "other, helper = 1, 2",
            "helper += 1",
            "helper[0] = 1",
            "if True:\n    helper = 2",
            "(helper := 4)",
        ],
    )
    def test_a_name_that_changes_its_meaning_brings_all_cells_before_it_back(
        self, later: str
    ) -> None:
        first = "def helper():\n    return 1\nvariance = helper()"
        cells = cells_with({"q1": first, "q3": later})
        steps = plan(cells, TINY.questions, "s1", {"q2": {}})
        again = [step.cell for step in steps if " for q2" in step.does.key]
        names = [cells[i].name for i in again if i is not None]
        assert names == ["numbers", "identity", "setup", "q1", "q2"]


class TestReading:
    @pytest.mark.parametrize(
        ("before", "after", "words"),
        [
            ('"grade_id": "q1_check"', '"grade_id": "q7_check"', "checks q7, but has no answer"),
            ("def judge(given", "def jury(given", r"q1 lacks \['judge'\]"),
            ('"grade_id": "q1_check"', '"grade_id": "q1_test"', "its name ends in _check"),
        ],
        ids=["of nothing", "without its judge", "by another name"],
    )
    def test_a_check_that_is_none_is_refused(
        self, tmp_path: Path, before: str, after: str, words: str
    ) -> None:
        text = (SOURCE / "tiny" / "tiny.ipynb").read_text(encoding="utf-8")
        assert before in text
        path = tmp_path / "tiny" / "tiny.ipynb"
        path.parent.mkdir()
        path.write_text(text.replace(before, after), encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            read(path)

    def test_a_folder_without_problem_sets_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no problem set is in"):
            problem_sets(tmp_path)
