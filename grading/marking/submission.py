"""Marks one submission: puts it in order, runs it in the sandbox, judges what comes back."""

from __future__ import annotations

import builtins
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from grading import version
from grading.gradebook import autograded
from grading.intake.normalize import Invalid, Normalized, WorkCell, normalize, own_words
from grading.marking import newer, running
from grading.marking.judging import BrokenCheckError, Judge
from grading.pictures import used
from grading.problem_set import ProblemSet, Question
from grading.reports.feedback import ShownCell
from grading.results import FAILED, FOR_A_PERSON, Mark, Result, Status, Student, Submission
from grading.sandbox import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TIME = re.compile(r"it took longer than [0-9.]+ s")
NO_ANSWER = "no answer came out"
MISSING = re.compile(r"name '(\w+)' is not defined")
MODULE = re.compile(r"No module named '([\w.]+)'|import of ([\w.]+) halted")
IN_LINE = re.compile(r" \([^()]*line (\d+)\)$")
LONGEST_CAUSE = 300
NOT_HERE = ("AttributeError", "ImportError", "ModuleNotFoundError", "SyntaxError")
"""What tells that another Python, or other packages, ran a cell than those that mark, ..."""
NOT_AROUND = (
    *("CalledProcessError", "Error", "HTTPError", "URLError", "UnsupportedOperation", "gaierror"),
)
"""... or, with OSError and all that is one, that its files, its net or its settings are missing."""
KEYWORD = re.compile(r"unexpected keyword argument|got an unexpected keyword")
ELSEWHERE = "the cell for it has no words; what was written into another cell is shown with it"
BESIDE = "the cell for it is as it was given out, and something was written beside it"
UNTOUCHED = "nothing was written here beyond what was given out"


@dataclass(frozen=True)
class Conditions:
    """How submissions are run, the same for all of one run of the grader."""

    # the seed of each problem set's hidden inputs, which no student knows
    secrets: Mapping[str, int]
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)  # what a submission may use
    unsafe: bool = False  # whether students' code runs without the sandbox


def digest(submission: Submission) -> str:
    """Return what tells whether a submission was graded before as it is, by whatever checks."""
    parts = [submission.assignment, repr(submission.student)]
    if submission.problem is not None:
        parts += submission.problem
    whole = "\n".join(parts).encode() + b"\n" + (submission.notebook or b"")
    # gradebooks have digests that begin so: another beginning would mark everybody again
    return f"2:{hashlib.sha256(whole).hexdigest()}"


def mark(submission: Submission, problem_set: ProblemSet, conditions: Conditions) -> Result:
    """Return what a submission earns.

    Nothing in its notebook is believed. There is a status for everything that can come in; nothing
    of a student's raises here. Raises `sandbox.SandboxUnavailable` if students' code cannot be kept
    in a sandbox.
    """
    known = digest(submission)
    if submission.problem is not None or submission.notebook is None:
        status, message = submission.problem or ("missing", "nothing was handed in")
        return without_points(submission, problem_set, status, message, known)
    try:
        work = normalize(submission.notebook, problem_set)
    except Invalid as invalid:
        return without_points(submission, problem_set, "invalid", str(invalid), known)
    if doubt := doubt_about_identity(submission, work.typed_id):
        return without_points(submission, problem_set, "needs-review", doubt, known)
    try:
        return _marked(submission, problem_set, work, conditions, known)
    except BrokenCheckError as broken:
        message = f"{FAILED} {broken}"
        return without_points(submission, problem_set, "needs-review", message, known)


def without_points(
    submission: Submission,
    problem_set: ProblemSet,
    status: Status,
    message: str,
    known: str = "",
) -> Result:
    """Return a result that decides about no points, with the reason.

    The digest, `known`, is empty where it has to be tried again.
    """
    marks = tuple(Mark(each.name, None, each.points) for each in problem_set.questions)
    return Result(submission.student, submission.assignment, status, message, marks, digest=known)


def doubt_about_identity(submission: Submission, typed: str | None) -> str:
    """Return why it is not clear whose work this is, or nothing, as where somebody settled it.

    What was `typed` in the notebook is None if that is not a plain text.

    Examples
    --------
    >>> ada = Submission(Student("s1", "", "Ada Example", also=("ada",)), "week1", b"")
    >>> doubt_about_identity(ada, "ADA")
    ''
    >>> doubt_about_identity(ada, "s2")
    'handed in by s1, but the notebook says s2: whose personal numbers are these?'
    """
    student = submission.student
    if submission.accepted:
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
    """Return whether what was typed is an identifier of the student's.

    Numbers come from what was typed, so the choice is kept small: as the roster has it, or all in
    small letters or capitals.
    """
    own = {student.student_id, *student.also}
    return typed in own | {each.lower() for each in own} | {each.upper() for each in own}


def identity_of(student: Student, typed: str | None) -> str:
    """Return from which text a student's personal numbers come.

    That is what was typed, just as it was typed, if it is one of the student's own identifiers in
    the roster: the student has seen the numbers of that. Otherwise it is the identifier in the
    roster.

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
    work: Normalized,
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
    steps = running.plan(work.cells, problem_set.questions, identity, asked)
    ran = running.run(steps, conditions.limits, unsafe=conditions.unsafe)
    untouched = _untouched(work.cells, problem_set)
    kept = {mark.question: mark for mark in submission.kept}

    def marked(question: Question) -> Mark:
        if question.name in kept:
            return kept[question.name]
        if question.by_hand:
            found = _without_paragraph(question, untouched, work.cells)
        else:
            found = _mark(judge, question, ran, work.cells, identity, asked)
        return replace(found, check=question.version, grader=version.grader())

    marks = tuple(map(marked, problem_set.questions))
    pictures = {**problem_set.pictures, **work.pictures}
    shown = tuple(
        ShownCell(
            cell.name,
            cell.role,
            cell.kind,
            cell.source,
            ran.outputs.get(str(i)),
            cell.question,
            used(cell.source, pictures),
        )
        for i, cell in enumerate(work.cells)
    )
    notes = (*work.notes, *running.reasons(ran, work.cells))
    return Result(
        student,
        submission.assignment,
        "graded",
        marks=marks,
        digest=known,
        notebook=autograded.notebook(problem_set, shown, notes, identity),
        cpu_seconds=ran.cpu_seconds,
        answers=_answers(work.cells),
    )


@lru_cache(maxsize=8)
def _judge(problem_set: ProblemSet) -> Judge:
    """Return the checks of a problem set, compiled once in this process."""
    return Judge.of(problem_set)


def _untouched(cells: Iterable[WorkCell], problem_set: ProblemSet) -> set[str | None]:
    """Return the questions in whose paragraph, and in cells added to it, nobody wrote anything."""
    touched: dict[str | None, bool] = {}
    for cell in cells:
        if cell.role in ("by hand", "own"):
            given = problem_set.by_name[cell.name].source if cell.name else ""
            wrote = own_words(cell.source) not in ([], own_words(given))
            touched[cell.question] = touched.get(cell.question, False) or wrote
    return {question for question, wrote in touched.items() if not wrote}


def _without_paragraph(
    question: Question, untouched: set[str | None], cells: Sequence[WorkCell] = ()
) -> Mark:
    """Return zero for a paragraph that nobody wrote; otherwise a person decides."""
    if question.name in untouched:
        return Mark(question.name, 0.0, question.points, UNTOUCHED)
    own = [cell for cell in cells if cell.question == question.name and cell.role == "own"]
    elsewhere = any(cell.beside for cell in own) and _is_stub(question, cells)
    return Mark(question.name, None, question.points, ELSEWHERE if elsewhere else "")


def _is_stub(question: Question, cells: Sequence[WorkCell]) -> bool:
    """Return whether the cell of a question is as it was given out."""
    return any(cell.name == question.name and cell.untouched for cell in cells)


def _mark(
    judge: Judge,
    question: Question,
    ran: running.Ran,
    cells: Sequence[WorkCell],
    student_id: str,
    asked: dict[str, dict[str, Any]],
) -> Mark:
    """Return the mark of one question that a program marks, with the cause of what is wrong."""
    cause = _cause(question.name, ran, cells)
    if question.name not in ran.answers:
        found = Mark(question.name, 0.0, question.points, cause or _why(question, ran))
    else:
        given = ran.answers[question.name]
        found = judge.judge(question, given, student_id, asked[question.name])
        if cause and found.points is not None and found.points < found.maximum:
            found = replace(found, message=f"{cause}; the check says: {found.message}")
    is_short = found.points is not None and found.points < found.maximum
    if is_short and (why := _for_a_person(question.name, ran, cells)):
        return replace(found, points=None, message=f"{FOR_A_PERSON} {why}")
    return found


def _cause(question: str, ran: running.Ran, cells: Sequence[WorkCell]) -> str:
    """Return what stopped the first cell of a question that was stopped, or nothing.

    It is what the cell showed when it ran in its place, before any hidden input was there. A name
    that is missing because an earlier cell failed is that cell's fault.
    """
    for i, earlier in _stopped(question, ran, cells):
        if earlier is not None:
            return f"an earlier cell stopped: {_told(*_errors(ran, cells)[earlier])}"
        return f"your code stopped: {_told(*_errors(ran, cells)[i])}"
    return ""


def _errors(ran: running.Ran, cells: Sequence[WorkCell]) -> dict[int, tuple[str, str]]:
    """Return the errors that cells showed, by their positions."""
    return {i: found for i, _ in enumerate(cells) if (found := _error(ran.outputs.get(str(i))))}


def _stopped(
    question: str, ran: running.Ran, cells: Sequence[WorkCell]
) -> Iterator[tuple[int, int | None]]:
    """Give the cells of a question that were stopped, with the earlier one whose fault it was."""
    errors = _errors(ran, cells)
    for i, (name, value) in errors.items():
        if cells[i].question != question or cells[i].role not in ("answer", "own"):
            continue
        missing = MISSING.search(value) if name == "NameError" else None
        defines = (
            earlier
            for earlier in range(i)
            if missing and earlier in errors and missing[1] in running.names(cells[earlier])
        )
        yield i, next(defines, None)


def _for_a_person(question: str, ran: running.Ran, cells: Sequence[WorkCell]) -> str:
    """Return why an answer is for a person that earned not all points, or nothing.

    It stands in another cell than its own; or it ran with its author, as its stored output says,
    and a cell showed an error here that another machine, Python or package does not have, or asks
    for what NumPy or Matplotlib have no more.
    """
    errors = _errors(ran, cells)
    own = [cell for cell in cells if cell.question == question and cell.role == "own"]
    if any(cell.name == question and cell.untouched for cell in cells) and any(
        cell.beside or (cell.kind == "markdown" and re.search(r"\d", cell.source)) for cell in own
    ):
        return BESIDE
    for i, earlier in _stopped(question, ran, cells):
        at = i if earlier is None else earlier
        name, value = errors[at]
        other = _is_elsewhere(name) or (name == "TypeError" and KEYWORD.search(value))
        if other and cells[at].ran:
            return f"it ran with its author, and here not: {_told(name, value)}"
    sources = [cell.source for cell in cells if cell.kind == "code"]
    for cell in cells:
        answers = cell.question == question and cell.role in ("answer", "own")
        if answers and cell.ran and (gone := newer.gone(cell.source, sources)):
            return f"it ran with its author, and `{gone}` is not there any more"
    return ""


def _is_elsewhere(name: str) -> bool:
    """Return whether an error says that something is not here which is elsewhere.

    Examples
    --------
    >>> _is_elsewhere("FileNotFoundError"), _is_elsewhere("ValueError")
    (True, False)
    """
    known = getattr(builtins, name, None)
    is_around = isinstance(known, type) and issubclass(known, OSError)
    return name in (*NOT_HERE, *NOT_AROUND) or is_around


def _error(outputs: Sequence[Mapping[str, Any]] | None) -> tuple[str, str] | None:
    """Return the name and the text of the exception that a cell showed."""
    for each in outputs or ():
        if each.get("output_type") == "error":
            return str(each.get("ename")), str(each.get("evalue"))
    return None


def _told(name: str, value: str) -> str:
    """Return an exception in words.

    Examples
    --------
    >>> _told("SyntaxError", "'[' was never closed (2063801.py, line 2)")
    "SyntaxError in line 2: '[' was never closed"
    >>> _told("ModuleNotFoundError", "No module named 'pandas'")
    '`pandas` is not there when this is marked'
    """
    if name == running.OUT_OF_TIME:
        return running.LATE
    if name == "MemoryError":
        return running.GREEDY
    if name == "ModuleNotFoundError" and (found := MODULE.search(value)):
        return f"`{found[1] or found[2]}` is not there when this is marked"
    if found := IN_LINE.search(value):
        return f"{name} in line {found[1]}: {value[: found.start()]}"
    return f"{name}: {value}"[:LONGEST_CAUSE]


def _why(question: Question, ran: running.Ran) -> str:
    """Say why there is no answer, without what a student's function says of its inputs."""
    ended = [why for step, why in ran.ended if step and step.question == question.name]
    if ended:
        return ended[0]
    reason = ran.failures.get(question.name, NO_ANSWER)
    if not question.asks:
        return reason
    if TIME.fullmatch(reason):
        return reason.replace("it took", "the calls of the check, all together, took")
    raised = reason.partition(":")[0]
    known = getattr(builtins, raised, None) if raised.isidentifier() else None
    if isinstance(known, type) and issubclass(known, BaseException):
        return f"your function raised {raised} when the check called it"
    return NO_ANSWER


def _answers(cells: Iterable[WorkCell]) -> dict[str, str]:
    """Return what tells whether the answer to a question is still the one that somebody marked."""
    sources: dict[str, list[str]] = {}
    for cell in cells:
        if cell.question and cell.role in ("answer", "own", "by hand"):
            sources.setdefault(cell.question, []).append(cell.source)
    return {
        question: hashlib.sha256("\0".join(each).encode()).hexdigest()
        for question, each in sources.items()
    }
