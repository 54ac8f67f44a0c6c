"""The page that a student gets back: the marks, why, and the work as it ran.

Whatever a student or a student's code wrote is text here and nothing else: it is escaped by the
template, Markdown keeps no HTML and no pictures, formulas are their source, and of outputs only
text and PNG, JPEG and GIF images are shown. The page loads nothing, and its content security policy
would not let it.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mistune
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from pygments import token
from pygments.lexers.python import PythonLexer

from grading.pictures import KINDS, address
from grading.results import Mark, Result, Status, Student
from grading.safe_text import cut, visible
from grading.sandbox.outputs import size

if TYPE_CHECKING:
    from grading.problem_set import ProblemSet

HERE = Path(__file__).resolve().parent
LONGEST_SOURCE = 20_000
LONGEST_OUTPUT = 10_000
LONGEST_MESSAGE = 2_000
MOST_OUTPUTS = 20
MOST_NOTES = 20
LARGEST_IMAGE = 1_500_000
MOST_PIXELS = 16_000_000
LARGEST_PAGE = 4_000_000
LARGEST_TEXTS = 1_000_000
MOST_WORK = 10_000_000
CHARACTER = 128
MOST_NESTED = 12
MOST_PICTURES = 3_000_000
"""What may be shown: characters of a cell, an output, a message; outputs of a cell; notes;
characters of an image in base64 and its pixels; characters of all cells and outputs together, and
of which outputs leave room for further cells; the work of what is rendered, as `work` counts, and
how much of it a character is; the nesting of texts; characters of the pictures of a cell, each as
often as it is shown."""

TOO_LARGE = ("left-out", "what this cell showed is left out, as all together is too large")

GIVEN = ("text", "locked", "check")
"""The roles of cells that are the same for everybody: folded, under their headings."""

WEB = re.compile(r"(?:https?://|mailto:)[^\s<>\"']+", re.IGNORECASE)
CODE_SPAN = re.compile(r"`([^`\n]+)`|\$(?!\s)([^$\n]+)(?<!\s)\$")
TITLE = re.compile(r"\A\s*(#{1,6}[ ]+(.+))$", re.MULTILINE)
TAG = re.compile(r"<[^<>]*>")
POINTS = re.compile(r"\s*\([\d.]+ points?\)\s*\Z")
BRACKETED = r"(?:[^\\]|\\[^()\[\]]){1,2000}?"
INLINE_BRACKETS = (
    rf"(?P<slashes>\\\\?)(?:\((?P<round>{BRACKETED})(?P=slashes)\)"
    rf"|\[(?P<square>{BRACKETED})(?P=slashes)\])"
)
BLOCK_BRACKETS = rf"^ {{0,3}}(?P<slashes>\\\\?)\[(?P<block>{BRACKETED})(?P=slashes)\][ \t]*(?:\n|$)"
"""Formulas between backslashes and brackets; a notebook wants two backslashes, TeX one."""
TOKENS = (
    (token.Comment, "c"),
    (token.String, "s"),
    (token.Number, "m"),
    (token.Keyword, "k"),
    (token.Operator.Word, "k"),
    (token.Name.Function, "f"),
    (token.Name.Class, "f"),
)
LEXER = PythonLexer(stripnl=False, ensurenl=False)
SIGNS = re.compile(r"[\[\](){}*_`~$\\<>!&#:]")
AHEAD = re.compile(r"^[ \t>]*(?:```|~~~|<|\[|\$\$|\\)", re.MULTILINE)
LEVELS = re.compile(r"^((?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))+)", re.MULTILINE)
BLANK = re.compile(r"\n[ \t]*\n")
"""What Markdown may begin something with, in a line and at its start, where it looks far ahead; of
how many levels a line is; and what ends a paragraph."""
LONG_GAP = re.compile(r"\s{100}")
REMARK = '<p class="remark">'
"""What is on a page that has remarks, and on no other, ..."""
HEAD = 40_000
"""... and among how many characters at its beginning: style sheet, headline and marks."""

HEADLINES: dict[Status, str] = {
    "graded": "Marked",
    "needs-review": "Not marked yet",
    "invalid": "Could not be marked",
    "missing": "Nothing was handed in",
}


@dataclass(frozen=True)
class ShownCell:
    """A cell as the student is shown it."""

    name: str | None  # nbgrader's ``grade_id``; None for a cell that the student added
    role: str  # as in `grading.problem_set.Cell`, or ``own`` for a cell that the student added
    kind: str  # ``code`` or ``markdown``; anything else is shown as plain text
    source: str  # its text
    # nbformat's outputs of a code cell; None for a code cell that did not run, of which
    # nothing can be said. They must come from before the first hidden check ran.
    outputs: Sequence[Mapping[str, Any]] | None = ()
    question: str | None = None  # the question it belongs to
    # the pictures of its text in base64, by their digests: see `grading.pictures`
    pictures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A question in the table of marks, and next to its check."""

    name: str
    title: Markup
    verdict: str
    words: str
    points: str
    message: Markup
    link: str


@dataclass
class Block:
    """A cell, ready for the template."""

    cell: ShownCell
    heading: Markup
    body: Markup
    identifier: str = ""
    outputs: list[tuple[str, str]] = field(default_factory=list)
    check: Markup | None = None
    passed: bool = False
    row: Row | None = None


def page(
    problem_set: ProblemSet,
    student: Student,
    status: Status,
    message: str,
    cells: Sequence[ShownCell],
    marks: Sequence[Mark],
    notes: Sequence[str],
    remarks: Sequence[str] = (),
    counts: float | None = None,
) -> str:
    """Return the page for a student, in HTML, whole in itself.

    Of the problem set only what students got is shown. Any status but ``graded`` is shown with its
    reason, the message, and without marks and cells; for ``graded`` the marks say what still waits.
    `notes` tell what was mended in the notebook, and what ended it; `remarks` what else counts,
    such as lateness, and `counts` the points that count, where they may not be those that were
    earned. UTF-8 can hold the page, whatever the student wrote. Raises ValueError if the
    status is none of the four.
    """
    if status not in HEADLINES:
        raise ValueError(f"status must be one of {', '.join(HEADLINES)}; got {status!r}")
    graded = status == "graded"
    anchors = {cell.question for cell in cells if cell.question}
    rows = [_row(problem_set, mark, anchors) for mark in marks] if graded else []
    waiting = [mark for mark in marks if mark.points is None]
    shown, left_out = blocks(cells if graded else (), {row.name: row for row in rows})
    return _template().render(
        title=problem_set.name.replace("_", " ").capitalize(),
        student=student,
        called=called(student.name),
        status=status,
        headline=HEADLINES[status],
        reason=_words(message),
        total=_points(sum(mark.points or 0 for mark in marks) if counts is None else counts),
        maximum=_points(sum(mark.maximum for mark in marks)),
        waiting=[(mark.question, _points(mark.maximum)) for mark in waiting],
        rows=rows,
        notes=[_words(note) for note in notes[:MOST_NOTES]],
        remarks=[_words(remark) for remark in remarks],
        notes_left_out=max(0, len(notes) - MOST_NOTES),
        blocks=shown,
        cells_left_out=left_out,
    )


def remarks(result: Result, problem_set: ProblemSet) -> list[str]:
    """Return what a student is told of what counts besides the marks."""
    checked = {question.name for question in problem_set.questions if not question.by_hand}
    said = [
        f"A person looked at {mark.question} after the check."
        for mark in result.marks
        if mark.by_person and mark.question in checked
    ]
    if result.decided is not None:
        said.append(f"Your instructor decided that {_points(result.decided)} points count.")
    if result.shared_by:
        said.append(f"The notebook of your group came from {result.shared_by}.")
    if result.late and result.late.why:
        why = result.late.why
        said.append(f"{why[0].upper()}{why[1:]}.")
    if result.final is not None and result.total not in (None, result.final):
        far = " so far" if any(mark.points is None for mark in result.marks) else ""
        said.append(f"You earned {_points(result.total)}{far}.")
    return said


def called(name: str) -> str:
    """Return a name as people say it; platforms may put the last one first.

    Examples
    --------
    >>> called("Example, Ada"), called("Ada Example"), called("Example, Ada, Jr.")
    ('Ada Example', 'Ada Example', 'Example, Ada, Jr.')
    """
    parts = name.split(", ")
    return f"{parts[1]} {parts[0]}" if len(parts) == 2 else name


def has_remarks(path: Path) -> bool:
    """Return whether there is a page, and it has remarks; its beginning tells."""
    if not path.exists():
        return False
    with path.open(encoding="utf-8") as page:
        return REMARK in page.read(HEAD)


def _safe(value: Any) -> Any:
    """Return what the template may write: text is made visible before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def environment() -> Environment:
    """Return what makes pages of the templates here: all text is made visible, and escaped."""
    return Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_safe,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _template() -> Any:
    """Return the template of the page."""
    made = environment()
    # the style sheet is ours
    style = Markup((HERE / "feedback.css").read_text(encoding="utf-8"))  # noqa: S704
    made.globals |= {"style": style, "given": GIVEN}
    return made.get_template("feedback.html")


def _points(points: float) -> str:
    """Return points without needless decimals."""
    return f"{round(points, 2):g}"


def _words(text: str) -> Markup:
    """Return a message: plain text with spans of code and formulas."""
    safe = str(escape(visible(cut(text, LONGEST_MESSAGE))))
    return Markup(CODE_SPAN.sub(_span, safe))  # noqa: S704, escaped on the line above


def _span(found: re.Match[str]) -> str:
    """Return a span of code, or a formula as it was typed."""
    return f"<code>{found[1]}</code>" if found[1] else f'<code class="tex">{found[0]}</code>'


def _row(problem_set: ProblemSet, mark: Mark, anchors: set[str | None]) -> Row:
    """Return what is said of one question."""
    points = "–" if mark.points is None else _points(mark.points)
    if mark.points is None:
        verdict, words = "waiting", "waits for a mark by hand"
    elif mark.points >= mark.maximum:
        verdict, words = "full", "all points"
    elif mark.points > 0:
        verdict, words = "part", "part of the points"
    else:
        verdict, words = "none", "no points"
    return Row(
        mark.question,
        title(problem_set, mark.question),
        verdict,
        words,
        f"{points} of {_points(mark.maximum)}",
        _words(mark.message),
        f"#{_identifier(mark.question)}" if mark.question in anchors else "",
    )


def title(problem_set: ProblemSet, question: str) -> Markup:
    """Return the heading of a question's text without its points, or its name."""
    cell = problem_set.by_name.get(f"{question}_text")
    found = TITLE.match(cell.source) if cell else None
    safe = str(escape(visible(POINTS.sub("", found[2]) if found else question)))
    return Markup(CODE_SPAN.sub(_span, safe))  # noqa: S704, escaped on the line above


def _identifier(question: str) -> str:
    """Return the place of a question on the page."""
    return "question-" + re.sub(r"[^\w-]", "-", question)


def blocks(cells: Sequence[ShownCell], rows: Mapping[str, Row]) -> tuple[list[Block], int]:
    """Return the cells for a template, safe for any author, and how many had no more room."""
    made: list[Block] = []
    whole, done, placed = 0, 0, set()
    for cell in cells:
        needed = 0 if cell.role in GIVEN else work(cut(cell.source, LONGEST_SOURCE), cell.kind)
        rendered = done + needed <= MOST_WORK
        done += needed if rendered else 0
        block = _block(cell, rows, rendered=rendered)
        shown = sum(len(text) for _, text in block.outputs)
        if shown and whole + len(block.body) + shown > LARGEST_PAGE - LARGEST_TEXTS:
            block.outputs, shown = [TOO_LARGE], 0
        whole += len(block.body) + shown
        if whole > LARGEST_PAGE:
            return made, len(cells) - len(made)
        if cell.question in rows and cell.question not in placed:
            block.identifier = _identifier(str(cell.question))
            placed.add(cell.question)
        made.append(block)
    return made, 0


def work(text: str, kind: str = "markdown") -> int:
    """Return how much work a text or code is to render, at worst.

    Each character is some. In a text it is also for each paragraph its characters times the signs
    in it that may begin something, as many times as levels are around it, and for what may be
    looked for up to the end, all that there is. A text that is nested deeper than `MOST_NESTED` is
    more than there is time for.

    Examples
    --------
    >>> work("Plain words."), work("The *spread* grows."), work("> - The *spread* grows.")
    (1548, 2489, 3220)
    >>> work("x = 1", "code")
    640
    """
    needed = CHARACTER * len(text)
    if kind == "code":
        return needed
    needed += len(text) * len(AHEAD.findall(text))
    for part in BLANK.split(text):
        found = LEVELS.findall(part)
        deep = max((len(re.findall(r"[>*+-]|\d+", each)) for each in found), default=0)
        deep = max(deep, max((len(each) - len(each.lstrip()) for each in found), default=0) // 2)
        if deep > MOST_NESTED:
            return MOST_WORK + 1
        needed += len(part) * (1 + len(SIGNS.findall(part))) * (1 + deep)
    return needed


def _block(cell: ShownCell, rows: Mapping[str, Row], *, rendered: bool = True) -> Block:
    """Return a cell for the template."""
    heading, source = "", cell.source
    # the heading that a text of the problem set begins with is not folded
    if cell.role in GIVEN and cell.kind != "code" and (found := TITLE.match(source)):
        heading, source = found[1], source[found.end() :].strip()
    title = _markdown(visible(heading), given=True)
    body = _body(cell, source) if rendered else _as_typed(source, cell.kind)
    block = Block(cell, title, body)
    if cell.kind == "code":
        block.outputs = _outputs(cell)
    if cell.role == "check":
        block.passed, block.check = _public(cell)
    if cell.role in ("check", "by hand"):
        block.row = rows.get(str(cell.question))
    return block


def _body(cell: ShownCell, source: str) -> Markup:
    """Return the source of a cell, rendered."""
    source = visible(cut(source, LONGEST_SOURCE))
    if cell.kind == "code":
        return _code(source)
    if cell.kind == "markdown":
        given = cell.role in GIVEN
        if cell.pictures:
            shows = _renderer(given=given, pictures=cell.pictures)
            return Markup(shows(source))  # noqa: S704, see `_Renderer`
        return _markdown(source, given=given)
    return Markup("<pre>{}</pre>").format(source)


def _as_typed(source: str, kind: str) -> Markup:
    """Return what would take too long to render as its source, code without colors."""
    shown = visible(cut(source, LONGEST_SOURCE))
    if kind == "code":
        return Markup("<pre><code>{}</code></pre>").format(shown)
    return Markup(
        '<p class="left-out">[this text is shown as it was typed: it is too intricate]</p>'
        "<pre>{}</pre>"
    ).format(shown)


@lru_cache(maxsize=128)
def _code(source: str) -> Markup:
    """Return Python code in colors."""
    return Markup("<pre><code>{}</code></pre>").format(_colored(source))


def _colored(source: str) -> Markup:
    """Return the words of Python code, those of a kind in a span of that kind.

    The time that the lexer takes grows with the square of a gap, so that there are no colors
    where one is long.
    """
    if LONG_GAP.search(source):
        return escape(source)
    parts = []
    for kind, text in LEXER.get_tokens(source.strip("\n")):
        name = _kind(kind)
        parts.append(f'<span class="{name}">{escape(text)}</span>' if name else str(escape(text)))
    return Markup("".join(parts))  # noqa: S704, each part is escaped above


@cache
def _kind(kind: Any) -> str:
    """Return the class of a token, or nothing for what has the color of text."""
    return next((name for family, name in TOKENS if kind in family), "")


class _Renderer(mistune.HTMLRenderer):
    """Renders Markdown without HTML, and without links to anything but the web.

    Of pictures only those are shown that the cell holds itself, and of formulas the source.

    Headings of the problem set's own text, `given`, are the page's headings.
    """

    def __init__(self, *, given: bool, pictures: Mapping[str, str]) -> None:
        super().__init__(escape=True)
        self._pictures = pictures
        self._pictures_left = MOST_PICTURES
        self._given = given

    def heading(self, text: str, level: int, **_: Any) -> str:
        """Return a heading below those of the page; a student's is only a line in bold."""
        if not self._given:
            return f'<p class="heading">{text}</p>\n'
        below = min(6, max(3, level + 1))
        return f"<h{below}>{text}</h{below}>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:  # noqa: ARG002
        """Return a link to the web or to a mailbox, and the mere text of any other."""
        if not WEB.fullmatch(url):
            return text
        return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:  # noqa: ARG002
        """Return a picture of the cell's own; of any other the description, and none is loaded."""
        data = self._pictures.get(url.removeprefix("attachment:"), "")
        if 0 < len(data) <= self._pictures_left and (found := address(data)):
            self._pictures_left -= len(data)
            words = escape(html.unescape(TAG.sub("", text)) or "a picture")
            return f'<img src="{found}" alt="{words}">'
        return (
            f'<span class="left-out">[picture, not shown: {text or "without a description"}]</span>'
        )

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return code within a text."""
        python = (info or "").strip().casefold() in ("python", "py", "python3")
        return f"<pre><code>{_colored(code) if python else escape(code)}</code></pre>\n"

    def inline_math(self, text: str) -> str:
        """Return the source of a formula."""
        return f'<code class="tex">{escape(text)}</code>'

    def block_math(self, text: str) -> str:
        """Return the source of a formula that has a line of its own, also within a paragraph."""
        return f'<code class="tex display">{escape(text.strip())}</code>\n'


def _brackets(markdown: mistune.Markdown) -> None:
    r"""Let Markdown know formulas between ``\(`` and ``\)``, and between ``\[`` and ``\]``."""
    markdown.inline.register(
        "bracketed", INLINE_BRACKETS, _inline_brackets, before="escape", start_chars="\\"
    )
    markdown.block.register("bracketed", BLOCK_BRACKETS, _block_brackets, before="list")


def _inline_brackets(_: Any, found: re.Match[str], state: Any) -> int:
    """Add a formula between brackets in a text, or brackets with nothing between them."""
    kind, tex = ("block", found["square"]) if found["square"] else ("inline", found["round"])
    if tex.strip():
        state.append_token({"type": f"{kind}_math", "raw": tex.strip()})
    else:
        state.append_token({"type": "text", "raw": found[0].replace("\\", "")})
    return found.end()


def _block_brackets(_: Any, found: re.Match[str], state: Any) -> int | None:
    """Add a formula between brackets that has lines of its own, unless there is none."""
    if not found["block"].strip():
        return None
    state.append_token({"type": "block_math", "raw": found["block"]})
    return found.end()


@cache
def _renders(*, given: bool) -> mistune.Markdown:
    """Return the renderer of Markdown without pictures."""
    return _renderer(given=given, pictures={})


def _renderer(*, given: bool, pictures: Mapping[str, str]) -> mistune.Markdown:
    """Return a renderer of Markdown."""
    return mistune.create_markdown(
        renderer=_Renderer(given=given, pictures=pictures),
        plugins=["math", "table", "strikethrough", _brackets],
    )


@lru_cache(maxsize=128)
def _markdown(source: str, *, given: bool) -> Markup:
    """Return Markdown as HTML, safe for any author."""
    return Markup(_renders(given=given)(source))  # noqa: S704, see `_Renderer`


def _outputs(cell: ShownCell) -> list[tuple[str, str]]:
    """Return what a cell showed, each with its kind; a failed check is told apart."""
    shown: list[tuple[str, str]] = []
    outputs = [each for each in cell.outputs or () if isinstance(each, Mapping)]
    for output in outputs[:MOST_OUTPUTS]:
        if not (cell.role == "check" and output.get("output_type") == "error"):
            shown += _output(output)
    if len(outputs) > MOST_OUTPUTS:
        shown.append(("left-out", f"{len(outputs) - MOST_OUTPUTS} more outputs are left out"))
    return shown


def _output(output: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return one output as text or as an image."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "text"
        return _texts(name, _lines(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        trace = "\n".join(map(_joined, lines)) if isinstance(lines, list) else ""
        return [("error", _raised(output)), *_texts("traceback", trace)]
    data = output.get("data")
    if not isinstance(data, Mapping):
        return []
    if kind := next((each for each in KINDS if each in data), ""):
        image = _image(_joined(data[kind]), kind)
        return [("image", image) if image else ("left-out", "an image that cannot be shown")]
    return _texts("text", _joined(data.get("text/plain")))


def _texts(kind: str, text: str) -> list[tuple[str, str]]:
    """Return a text of a kind, unless there is nothing to be seen of it."""
    return [(kind, cut(text.rstrip(), LONGEST_OUTPUT))] if text.strip() else []


def _joined(value: Any) -> str:
    """Return what nbformat stores as a text or as a list of texts."""
    parts = value if isinstance(value, list) else [value]
    return "".join(part for part in parts if isinstance(part, str))


def _lines(value: Any) -> str:
    """Return a stream as a terminal leaves it: of a line that was written over, the last form."""
    text = _joined(value).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def _raised(output: Mapping[str, Any]) -> str:
    """Return the last line of a traceback."""
    name, value = _joined(output.get("ename")), _joined(output.get("evalue"))
    return cut(f"{name}: {value}" if value else name or "an error", LONGEST_MESSAGE)


def _image(text: str, kind: str) -> str:
    """Return the address of an image in base64 if its size is bearable, and nothing otherwise."""
    if len(text) > LARGEST_IMAGE:
        return ""
    try:
        image = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    width, height = size(image, kind)
    if not 0 < width * height <= MOST_PIXELS:
        return ""
    return f"data:{kind};base64,{base64.b64encode(image).decode()}"


def _public(cell: ShownCell) -> tuple[bool, Markup]:
    """Return whether the public check of a question passed, and what is said of it."""
    if cell.outputs is None:
        return False, Markup("Public check: it did not run.")
    for output in cell.outputs:
        if isinstance(output, Mapping) and output.get("output_type") == "error":
            message = (
                _joined(output.get("evalue")) if output.get("ename") == "AssertionError" else ""
            )
            return False, Markup("Public check: {}").format(_words(message or _raised(output)))
    return True, Markup("Public check: passed. It looks at the form only.")
