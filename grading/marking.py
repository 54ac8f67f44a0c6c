"""Marks one submission: puts it in order, runs it in the sandbox, judges what comes back.

The order of things keeps the hidden checks to themselves. First every cell runs as the student
wrote it, and these outputs are all that feedback can show. An answer that is a mere value is
collected right where its question ends. Functions are called last, with inputs that exist only
for this run; a question's own cells are executed once more before, so that a later question that
uses the same names does not stand in its way.

A cell that ends the program costs its own question and no other: what is left runs again without
it in a fresh sandbox.
"""

from __future__ import annotations

import builtins
import hashlib
import re
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from grading import autograded, feedback, sandbox
from grading.judging import BrokenCheckError, Judge
from grading.normalise import Invalid, Normalised, WorkCell, normalise
from grading.problem_set import CHECK, ProblemSet, Question
from grading.results import Mark, Result, Status, Student, Submission

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Step = sandbox.Execute | sandbox.Collect
RESTARTS = 3
OUT_OF_TIME = "OutOfTime"
LATE = "it took too long and was stopped"
AGAIN = "again "
TIME = re.compile(r"it took longer than [0-9.]+ s")
NO_ANSWER = "no answer came out"
OUR_FAULT = "Something failed on our side; your instructor has been told, and nothing is lost."


@dataclass(frozen=True)
class Conditions:
    """How submissions are run, the same for all of one run of the grader.

    Attributes
    ----------
    secrets : mapping of str to int
        The seed of each problem set's hidden inputs, which no student knows.
    limits : sandbox.Limits
        What a submission may use.
    unsafe : bool
        Whether students' code runs without the sandbox.
    accepted : frozenset of str
        Students whose identity somebody has looked at: theirs is the roster's, whatever the
        notebook says.
    """

    secrets: Mapping[str, int]
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)
    unsafe: bool = False
    accepted: frozenset[str] = frozenset()


def digest(submission: Submission, problem_set: ProblemSet) -> str:
    """Return what tells whether a submission was graded before, as it is and by the same checks.

    Parameters
    ----------
    submission : Submission
        What came in.
    problem_set : ProblemSet
        What it answers.
    """
    parts = [problem_set.digest, submission.assignment, repr(submission.student)]
    if submission.problem is not None:
        parts += submission.problem
    return hashlib.sha256(
        "\n".join(parts).encode() + b"\n" + (submission.notebook or b"")
    ).hexdigest()


def mark(submission: Submission, problem_set: ProblemSet, conditions: Conditions) -> Result:
    """Return what a submission earns.

    Parameters
    ----------
    submission : Submission
        What came in; nothing in its notebook is believed.
    problem_set : ProblemSet
        What it answers.
    conditions : Conditions
        The secret seed and the limits.

    Returns
    -------
    Result
        With a status for everything that can come in; nothing of a student's raises here.

    Raises
    ------
    sandbox.SandboxUnavailable
        If students' code cannot be kept in a sandbox here.
    """
    known = digest(submission, problem_set)
    if submission.problem is not None or submission.notebook is None:
        status, message = submission.problem or ("missing", "nothing was handed in")
        return without_points(submission, problem_set, status, message, known)
    try:
        work = normalise(submission.notebook, problem_set)
    except Invalid as invalid:
        return without_points(submission, problem_set, "invalid", str(invalid), known)
    if doubt := doubt_about_identity(submission.student, work.typed_id, conditions.accepted):
        return without_points(submission, problem_set, "needs-review", doubt, known)
    try:
        return _marked(submission, problem_set, work, conditions, known)
    except BrokenCheckError as broken:
        return without_points(
            submission, problem_set, "needs-review", str(broken), known, told=OUR_FAULT
        )


def without_points(
    submission: Submission,
    problem_set: ProblemSet,
    status: Status,
    message: str,
    known: str = "",
    *,
    told: str | None = None,
) -> Result:
    """Return a result that decides about no points.

    Parameters
    ----------
    submission : Submission
        What came in.
    problem_set : ProblemSet
        What it answers.
    status : {"needs-review", "invalid", "missing"}
        What it is.
    message : str
        The reason, for the instructor.
    known : str
        The digest; empty where it has to be tried again.
    told : str, optional
        The reason for the student, where it differs.
    """
    marks = tuple(Mark(each.name, None, each.points) for each in problem_set.questions)
    page = feedback.page(problem_set, submission.student, status, told or message, (), marks, ())
    return Result(
        submission.student,
        submission.assignment,
        status,
        message,
        marks,
        digest=known,
        feedback=page if status in ("invalid", "needs-review") else "",
    )


def doubt_about_identity(student: Student, typed: str | None, accepted: frozenset[str]) -> str:
    """Return why it is not clear whose work this is, or nothing.

    Parameters
    ----------
    student : Student
        Whose submission it is by its folder or by the learning platform.
    typed : str or None
        What the notebook says; None if that is not a plain text.
    accepted : frozenset of str
        Those for whom somebody has settled it.

    Examples
    --------
    >>> ada = Student("s1", "", "Ada Example", also=("ada",))
    >>> doubt_about_identity(ada, " ADA ", frozenset())
    ''
    >>> doubt_about_identity(ada, "s2", frozenset())
    'handed in by s1, but the notebook says s2: whose personal numbers are these?'
    """
    if student.student_id in accepted:
        return ""
    if typed is None or not typed.strip():
        return (
            f"handed in by {student.student_id}, but no student number is in the notebook: "
            "which personal numbers were used?"
        )
    if _is_own(student, typed):
        return ""
    return (
        f"handed in by {student.student_id}, but the notebook says {typed.strip()[:60]}: "
        "whose personal numbers are these?"
    )


def _is_own(student: Student, typed: str) -> bool:
    """Return whether what was typed is one of a student's own identifiers, in any case."""
    own = {each.casefold() for each in (student.student_id, *student.also)}
    return typed.strip().casefold() in own


def identity_of(student: Student, typed: str | None) -> str:
    """Return from which text a student's personal numbers come.

    Parameters
    ----------
    student : Student
        Whose submission it is.
    typed : str or None
        What the notebook says.

    Returns
    -------
    str
        What was typed, just as it was typed, if it is one of the student's own identifiers in the
        roster: the student has seen the numbers of that. Otherwise the identifier in the roster.

    Examples
    --------
    >>> ada = Student("s1", "", "Ada Example")
    >>> identity_of(ada, "S1"), identity_of(ada, "s2")
    ('S1', 's1')
    """
    return typed if typed is not None and _is_own(student, typed) else student.student_id


def _marked(
    submission: Submission,
    problem_set: ProblemSet,
    work: Normalised,
    conditions: Conditions,
    known: str,
) -> Result:
    """Run a submission whose author is known, and judge its answers."""
    judge, student = _judge(problem_set), submission.student
    identity = identity_of(student, work.typed_id)
    asked = {
        question.name: judge.ask(question, identity, conditions.secrets[problem_set.name])
        for question in problem_set.questions
        if not question.by_hand
    }
    steps = plan(work.cells, problem_set.questions, identity, asked)
    ran = run(steps, conditions)
    marks = tuple(
        _mark(judge, question, ran, identity, asked) for question in problem_set.questions
    )
    shown = tuple(
        feedback.ShownCell(
            cell.name, cell.role, cell.kind, cell.source, ran.outputs.get(str(i)), cell.question
        )
        for i, cell in enumerate(work.cells)
    )
    ended = [*((key, LATE) for key in _late(ran.outputs)), *ran.ended]
    notes = (*work.notes, *(f"{_where(key, work.cells)}: {why}" for key, why in ended))
    return Result(
        student,
        submission.assignment,
        "graded",
        marks=marks,
        digest=known,
        notebook=autograded.notebook(problem_set, shown, notes),
        feedback=feedback.page(problem_set, student, "graded", "", shown, marks, notes),
        cpu_seconds=ran.cpu_seconds,
        paragraphs=_paragraphs(work.cells),
    )


@lru_cache(maxsize=8)
def _judge(problem_set: ProblemSet) -> Judge:
    """Return the checks of a problem set, compiled once in this process."""
    return Judge.of(problem_set)


def _mark(
    judge: Judge, question: Question, ran: Ran, student_id: str, asked: dict[str, dict[str, Any]]
) -> Mark:
    """Return the mark of one question."""
    if question.by_hand:
        return Mark(question.name, None, question.points)
    if question.name not in ran.answers:
        return Mark(question.name, 0.0, question.points, _why(question, ran))
    given = ran.answers[question.name]
    return judge.judge(question, given, student_id, asked[question.name])


def _why(question: Question, ran: Ran) -> str:
    """Say why there is no answer, without what a student's function says of its inputs."""
    reason = ran.failures.get(question.name, NO_ANSWER)
    if not question.asks or question.name in dict(ran.ended) or TIME.fullmatch(reason):
        return reason
    raised = reason.partition(":")[0]
    known = getattr(builtins, raised, None) if raised.isidentifier() else None
    if isinstance(known, type) and issubclass(known, BaseException):
        return f"your function raised {raised} when the check called it"
    return NO_ANSWER


def plan(
    cells: Sequence[WorkCell],
    questions: Sequence[Question],
    student_id: str,
    asked: dict[str, dict[str, Any]],
) -> list[Step]:
    """Return what runs in the sandbox, in order.

    Parameters
    ----------
    cells : sequence of WorkCell
        The submission, put in order.
    questions : sequence of Question
        Those of the problem set.
    student_id : str
        The identity by the roster, which takes the place of what the student typed.
    asked : dict
        The inputs of each question's check.

    Returns
    -------
    list of sandbox.Execute or sandbox.Collect
        Each cell under its position; an answer under the name of its question.
    """
    checked = {each.name: each for each in questions if not each.by_hand}
    steps: list[Step] = []
    for i, cell in enumerate(cells):
        if cell.kind == "code":
            source = f"student_id = {student_id!r}" if cell.role == "identity" else cell.source
            steps.append(sandbox.Execute(str(i), source))
        question = checked.get((cell.name or "").removesuffix(CHECK))
        if cell.role == "check" and question and not question.asks:
            steps.append(_collect(question, {}))
    for question in checked.values():
        if question.asks:
            steps += [
                sandbox.Execute(f"{AGAIN}{i}", cell.source)
                for i, cell in enumerate(cells)
                if cell.question == question.name
                and cell.kind == "code"
                and cell.role in ("answer", "own")
            ]
            steps.append(_collect(question, asked[question.name]))
    return steps


def _collect(question: Question, inputs: dict[str, Any]) -> sandbox.Collect:
    """Return the step that hands over the answer to a question."""
    return sandbox.Collect(question.name, question.functions["answer"], inputs)


@dataclass(frozen=True)
class Ran:
    """What came out of the sandbox, over all its restarts.

    Attributes
    ----------
    outputs : dict
        The outputs of each cell by its position, as text.
    answers : dict
        The answers that came out, by question.
    failures : dict
        Why an answer did not come out, by question.
    ended : tuple of (str, str)
        The steps that ended the program, each with the reason for the student.
    cpu_seconds : float
        Processor time.
    """

    outputs: dict[str, list[dict[str, Any]]]
    answers: dict[str, Any]
    failures: dict[str, str]
    ended: tuple[tuple[str, str], ...] = ()
    cpu_seconds: float = 0.0


def run(steps: Sequence[Step], conditions: Conditions) -> Ran:
    """Run every step, and run the rest again without a step that ends the program.

    Parameters
    ----------
    steps : sequence of sandbox.Execute or sandbox.Collect
        What `plan` returned.
    conditions : Conditions
        The limits; the time of all restarts together is limited as well.
    """
    ran = Ran({}, {}, {})
    left, until = list(steps), time.monotonic() + conditions.limits.wall_seconds
    for _ in range(RESTARTS + 1):
        seconds = until - time.monotonic()
        if seconds <= 0:
            break
        limits = replace(conditions.limits, wall_seconds=seconds)
        found = sandbox.run(left, limits, unsafe=conditions.unsafe)
        ran = _joined(ran, found)
        if not found.ended or found.stopped_at is None:
            break
        left = [
            step
            for step in left
            if step.key != found.stopped_at
            and not (isinstance(step, sandbox.Collect) and step.key in ran.answers | ran.failures)
        ]
    return ran


def _joined(before: Ran, found: sandbox.Run) -> Ran:
    """Return what is known after another run; what came out first stands."""
    failures, ended = before.failures | found.failures, before.ended
    if found.ended:
        key = found.stopped_at or ""
        ended = (*ended, (key, found.ended))
        failures = {key: found.ended} | failures
    return Ran(
        found.outputs | before.outputs,
        found.answers | before.answers,
        failures,
        ended,
        before.cpu_seconds + found.cpu_seconds,
    )


def _late(outputs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the cells that were interrupted because they took too long."""
    return [
        key
        for key, shown in outputs.items()
        if any(each.get("ename") == OUT_OF_TIME for each in shown)
    ]


def _where(key: str, cells: Sequence[WorkCell]) -> str:
    """Say in the student's terms during which step something happened."""
    position = key.removeprefix(AGAIN)
    if not position.isdecimal():
        return f"the check of {key}" if key else "the whole notebook"
    cell = cells[int(position)]
    return (
        f"your code for {cell.question}" if cell.question else f"the cell {cell.name or position}"
    )


def _paragraphs(cells: Iterable[WorkCell]) -> dict[str, str]:
    """Return what tells whether a paragraph is still the one that somebody marked."""
    return {
        cell.name: hashlib.sha256(cell.source.encode()).hexdigest()
        for cell in cells
        if cell.role == "by hand" and cell.name
    }
