"""The pages on which a person marks: an extension of Jupyter's server, before nbgrader's.

They replace two pages of nbgrader's formgrader, its entrance and that of a submission. The others,
what saves points and comments, and its scripts are nbgrader's, so that the gradebook stays its own.
What a student wrote is rendered as on the page that the student gets back. The policy of a page
runs no script but those named in it, and loads nothing from elsewhere.
"""

from __future__ import annotations

import secrets
from bisect import bisect, bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader
from jupyter_server.utils import url_path_join
from markupsafe import Markup
from nbgrader.server_extensions.formgrader.base import (
    BaseHandler,
    check_notebook_dir,
    check_xsrf,
)
from sqlalchemy import Connection, Select, case, func, select
from tornado import web

from grading.gradebook import autograded
from grading.gradebook.database import (
    ASSIGNMENT,
    CELL,
    COMMENT,
    GRADE,
    RESULTS,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
)
from grading.gradebook.scheme import Source, source
from grading.problem_set import CHECK, ProblemSet, Question
from grading.reports import feedback
from grading.reports.feedback import GIVEN, Block
from grading.safe_text import platform_key

HERE = Path(__file__).resolve().parent
AUTOGRADE = "Submissions run in the sandbox of make grade only, and never with your rights here."
SCRIPTS = ("by_hand", "find")
POLICY = (
    "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; "
    # columns of tables are aligned by attributes; whose they may be, the renderer sees to
    "style-src-attr 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
WAITS = GRADE.c.auto_score.is_(None) & GRADE.c.manual_score.is_(None)
# what `decisions.is_before` says
BEFORE = GRADE.c.needs_manual_grade & ~WAITS
POINTS = func.coalesce(GRADE.c.manual_score, GRADE.c.auto_score) + func.coalesce(
    GRADE.c.extra_credit, 0
)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell Jupyter's server where the extension is."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Add the pages. Extensions load by name, and where two have an address the first counts."""
    pages = [
        (r"/formgrader/manage_assignments/?", Overview),
        (r"/formgrader/waiting/([^/]+)/([^/]+)", Waiting),
        (r"/formgrader/submissions/([^/]+)/?", Marking),
        (r"/formgrader/submissions/([^/]+)/(next|prev)", Navigation),
        (r"/formgrader/api/submission/([^/]+)/([^/]+)/autograde", Autograde),
    ]
    base = server.web_app.settings["base_url"]
    server.web_app.add_handlers(".*$", [(url_path_join(base, at), page) for at, page in pages])


@dataclass(frozen=True)
class Line:
    """A question in the overview, and how far its marking is."""

    question: Question
    title: Markup
    marked: int
    waiting: int
    before: int  # decided before the check or the scheme changed
    mean: float | None  # of the points, where anything is marked


class _Page(BaseHandler):
    """A page of ours, which reads the course folder and the gradebook."""

    def source(self, name: str) -> Source:
        """Return a problem set of the course, with its solutions."""
        path = Path(self.coursedir.root, "source", name, f"{name}.ipynb")
        if not path.is_file():
            raise web.HTTPError(404, f"no problem set {name} was graded into this folder")
        return source(path)

    def connect(self) -> Connection:
        """Return a connection to the gradebook, which sees what was written just now."""
        return self.gradebook.engine.connect()

    def gone(self, why: str) -> None:
        """Say why there is nothing to show, with the way to the entrance."""
        self.set_status(404)
        self.show("overview.html", sets=[], notice=why)

    def show(self, template: str, **values: Any) -> None:
        """Send a page."""
        nonce = secrets.token_urlsafe(16)
        self.set_header("Content-Security-Policy", POLICY.format(nonce))
        self.set_header("Cache-Control", "no-store")
        page = _environment().get_template(template)
        self.finish(page.render(nonce=nonce, base=f"{self.base_url}/formgrader", **values))


class Overview(_Page):
    """What there is to mark, in place of nbgrader's list of assignments to release."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self) -> None:
        """Show each problem set of the course with its questions."""
        names = sorted(path.stem for path in Path(self.coursedir.root).glob("source/*/*.ipynb"))
        with self.connect() as connection:
            sets = []
            for name in names:
                lines = list(_lines(connection, self.source(name).problem_set))
                sets.append((name, _statuses(connection, name), lines))
        self.show("overview.html", sets=sets, notice="")


class Waiting(_Page):
    """The way to the next submission that waits for a person, or to that of one student."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self, assignment: str, question: str) -> None:
        """Go to the next after the submission ``after``, or to the first if none is left there.

        With ``student``, go to that one.
        """
        with self.connect() as connection:
            rows = connection.execute(_submissions(assignment, question)).all()
        if student := self.get_argument("student", ""):
            wanted = platform_key(student)
            rows = [row for row in rows if platform_key(row.student_id) == wanted]
            if not rows:
                self.gone(f"No notebook of {student} has points for {question} of {assignment}.")
                return
        after = self.get_argument("after", "")
        # what waits comes first, then what was decided before a change; of that, what is behind
        rows.sort(key=lambda row: (not row.waits, not row.before, row.id <= after))
        if not rows:
            self.gone(f"Nobody has points for {question} of {assignment} yet.")
            return
        self.redirect(_address(self.base_url, rows[0].id, question))


class Navigation(_Page):
    """The way to the next and to the previous student, for the same question."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self, submission: str, action: str) -> None:
        """Go there, or to the entrance if there is nobody else."""
        name = self.get_argument("question", "")
        with self.connect() as connection:
            student = connection.execute(_student(submission)).one_or_none()
            found = connection.scalars(_submissions(student.assignment, name)) if student else ()
            places = list(found)
        at = bisect(places, submission) if action == "next" else bisect_left(places, submission) - 1
        if 0 <= at < len(places):
            self.redirect(_address(self.base_url, places[at], name))
        else:
            self.redirect(f"{self.base_url}/formgrader/manage_assignments")


class Autograde(BaseHandler):
    """What nbgrader's page for submissions asks for: to run one with the rights of the server."""

    @web.authenticated
    @check_xsrf
    def post(self, *_: str) -> None:
        """Refuse, in the form that nbgrader's page shows."""
        self.write({"success": False, "error": AUTOGRADE, "log": AUTOGRADE})


class Marking(_Page):
    """One question of one student, with the scheme beside it."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self, submission: str) -> None:
        """Show the question that was asked for, or else the first that a person marks."""
        with self.connect() as connection:
            student = connection.execute(_student(submission)).one_or_none()
            if student is None:
                self.gone("This submission is not there any more: it was graded again.")
                return
            name = student.assignment
            source = self.source(name)
            question = _asked(source.problem_set, self.get_argument("question", ""))
            rows = connection.execute(_submissions(name, question.name)).all()
        ran = autograded.place(Path(self.coursedir.root), student.student_id, name)
        if not ran.is_file():
            self.gone("The notebook as it ran is not in this folder: it was graded into another.")
            return
        places = [row.id for row in rows]
        if submission not in places:
            self.gone(f"Nobody has points for {question.name} yet: grade once more.")
            return
        text = ran.read_text(encoding="utf-8")
        cells, notes = autograded.read(text)
        identity = autograded.identity(text) or student.student_id
        others = [row.student_id for row in rows if row.student_id != student.student_id]
        self.show(
            "by_hand.html",
            problem_set=source.problem_set,
            question=question,
            student=student,
            title=feedback.title(source.problem_set, question.name),
            grade=rows[places.index(submission)],
            place=places.index(submission) + 1,
            count=len(places),
            waiting=sum(row.waits for row in rows),
            scheme=feedback.blocks(list(source.scheme(question)), {})[0],
            numbers=source.numbers(question, identity),
            expected=source.expected(question, identity),
            contradictions=source.contradictions(question, identity, cells, others),
            notes=notes,
            **_work(text, question.name),
        )


@cache
def _environment() -> Any:
    """Return what makes the pages, with the style of the students' page."""
    made = feedback.environment()
    made.loader = FileSystemLoader([HERE, feedback.HERE])
    styles = [feedback.HERE / "feedback.css", HERE / "by_hand.css"]
    style = "".join(path.read_text(encoding="utf-8") for path in styles)
    scripts = {name: (HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS}
    # both are ours
    made.globals |= {name: Markup(script) for name, script in scripts.items()}  # noqa: S704
    made.globals |= {"style": Markup(style), "given": GIVEN}  # noqa: S704
    return made


def _asked(problem_set: ProblemSet, name: str) -> Question:
    """Return the question of a name, or the first that a person marks, or the first."""
    questions = sorted(
        problem_set.questions, key=lambda each: (each.name != name, not each.by_hand)
    )
    return questions[0]


@lru_cache(maxsize=16)
def _work(ran: str, question: str) -> dict[str, Any]:
    """Return what the student did, ready for the template; it is made once for each notebook."""
    cells, _ = autograded.read(ran)
    whole, left_out = feedback.blocks(cells, {})
    # first of all this question, whatever the others take
    here, _ = feedback.blocks([each for each in cells if each.question == question], {})
    elsewhere = [block for block in whole if block.cell.question != question]
    return {
        "statement": [block for block in here if _is_statement(block)],
        "blocks": [block for block in here if not _is_statement(block)],
        "pictures": [text for each in elsewhere for kind, text in each.outputs if kind == "image"],
        "whole": whole,
        "left_out": left_out,
    }


def _is_statement(block: Block) -> bool:
    """Return whether a cell is the text of its question."""
    return block.cell.role in GIVEN and block.cell.kind == "markdown"


def _address(base: str, submission: str, question: str) -> str:
    """Return the address of a submission's page."""
    return f"{base}/formgrader/submissions/{submission}/?question={question}"


def _student(submission: str) -> Select[Any]:
    """Return a query for whose work of which problem set a submission is."""
    return (
        select(
            ASSIGNMENT.c.name.label("assignment"),
            STUDENT.c.id.label("student_id"),
            STUDENT.c.first_name,
            STUDENT.c.last_name,
        )
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(STUDENT, STUDENT.c.id == SUBMISSION.c.student_id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .where(SUBMITTED.c.id == submission)
    )


def _submissions(assignment: str, question: str) -> Select[Any]:
    """Return a query for the marks of a question, in the order in which nbgrader goes on.

    That order is one of chance, and says nothing of who somebody is.
    """
    comment = (
        select(COMMENT.c.auto_comment)
        .join(CELL, CELL.c.id == COMMENT.c.cell_id)
        .where(COMMENT.c.notebook_id == SUBMITTED.c.id, CELL.c.name == question)
    )
    return (
        select(
            SUBMITTED.c.id,
            SUBMISSION.c.student_id,
            GRADE.c.auto_score,
            WAITS.label("waits"),
            BEFORE.label("before"),
            CELL.c.name.label("cell"),
            comment.limit(1).scalar_subquery().label("message"),
        )
        .join(SUBMISSION, SUBMISSION.c.id == SUBMITTED.c.assignment_id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .join(GRADE, GRADE.c.notebook_id == SUBMITTED.c.id)
        .join(CELL, CELL.c.id == GRADE.c.cell_id)
        .where(ASSIGNMENT.c.name == assignment)
        .where(CELL.c.name.in_((question, f"{question}{CHECK}")))
        .order_by(SUBMITTED.c.id)
    )


def _statuses(connection: Connection, assignment: str) -> dict[str, int]:
    """Return how many submissions have each status."""
    query = select(RESULTS.c.status, func.count()).where(RESULTS.c.assignment == assignment)
    return dict(connection.execute(query.group_by(RESULTS.c.status).order_by("status")).all())


def _lines(connection: Connection, problem_set: ProblemSet) -> Iterator[Line]:
    """Yield how far each question is."""
    for question in problem_set.questions:
        found = _submissions(problem_set.name, question.name).order_by(None)
        times = (func.sum(case((what, 1), else_=0)) for what in (WAITS, BEFORE))
        query = found.with_only_columns(func.count(), func.avg(POINTS), *times)
        count, mean, waiting, before = connection.execute(query).one()
        title = feedback.title(problem_set, question.name)
        yield Line(question, title, count - (waiting or 0), waiting or 0, before or 0, mean)
