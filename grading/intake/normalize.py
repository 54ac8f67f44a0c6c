"""The student's answers, put into the cells as they were released.

Nothing of a submission is used but the sources of the cells that students fill in, and of the
cells that they added. Text, checks, points and outputs are those of the problem set, whatever the
notebook says.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from grading.intake.sources import FILE_LIMIT, too_many_parts
from grading.pictures import lifted
from grading.problem_set import TEXT_STUB
from grading.safe_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grading.problem_set import Cell, ProblemSet

SOURCES_LIMIT = 5_000_000
"""Bytes of all sources together; outputs do not count."""
SOURCE_LIMIT = 1_000_000
"""Bytes of one cell."""
CELLS_LIMIT = 2_000
READ_LIMIT = 50_000
"""Characters of code that is read as Python: what was added to the copies of a given cell, and what
may be words."""
IDENTITY_LIMIT = 2_000
"""Characters of an identity cell that is still read."""
SIMILAR = 0.5
"""The share of lines from which on two sources are the same one, edited."""
WRITTEN = 5
"""How many words more than were given out are somebody's own."""
Written = TypeVar("Written", "WorkCell", "_SubmittedCell")
FILLED_IN = ("identity", "answer", "by hand")
TYPED = "student_id"
ASSIGNED = re.compile(rf"^{TYPED}\b[^=\n]*=(?!=)", re.MULTILINE)
TITLE = re.compile(r"^#+ +(\S.*)$", re.MULTILINE)
MAGIC = re.compile(r"[%!]")
PLACEHOLDER = "# your code here"
UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class Invalid(ValueError):  # noqa: N818, it reads as it is meant: raise Invalid("...")
    """What came is not a notebook of this problem set; the message says why."""


@dataclass(frozen=True)
class WorkCell:
    """A cell of the notebook that is graded."""

    name: str | None  # the name of the problem set's cell, or None for a cell of the student's own
    # what it is for
    role: Literal["text", "locked", "identity", "answer", "check", "by hand", "own"]
    kind: Literal["code", "markdown"]  # the type of the cell
    source: str  # valid UTF-8 without NUL
    # The question to which it belongs. A student's own cell belongs to the question between
    # whose text and check it is, or, where there is no check, before the next question.
    question: str | None
    # whether the notebook says that the cell ran where it was written, without an error; whoever
    # wrote it can say so of any cell, so that it earns nothing
    ran: bool = False
    beside: bool = False  # whether it was written into a cell that was not to be filled in
    untouched: bool = False  # whether a cell to fill in is as it was given out


@dataclass(frozen=True)
class Normalized:
    """A submission in the form of the problem set."""

    # all cells of the problem set in their order, with the student's own after the one that
    # they followed
    cells: tuple[WorkCell, ...]
    # the student number in the identity cell; empty if nothing was typed, None if it is not a
    # plain text or number
    typed_id: str | None
    notes: tuple[str, ...]  # what was mended, for the feedback
    # what pasted pictures are, by the digests that texts name: see `grading.pictures`
    pictures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _SubmittedCell:
    """A cell as it came."""

    kind: Literal["code", "markdown"]
    source: str
    name: str | None
    ran: bool = False

    @cached_property
    def tidy(self) -> str:
        """Return the source without the blanks at the ends of lines."""
        return _tidy(self.source)

    @cached_property
    def lines(self) -> frozenset[str]:
        """Return the lines that tell it from others."""
        return frozenset(_lines(self.source))


def normalize(notebook: bytes, problem_set: ProblemSet) -> Normalized:
    """Put a student's answers into the cells of the problem set.

    Raises `Invalid` if it is no notebook, none of this problem set, or too large.

    Where a cell to fill in came several times with different contents, all of them run in their
    order and the last is the answer, as in the student's own notebook; paragraphs are joined. A
    cell that lost its name is recognized by its text and by the cells around it.
    """
    document = _document(notebook)
    notes: list[str] = []
    pictures: dict[str, str] = {}
    submitted = [_submitted_cell(cell, i, pictures) for i, cell in enumerate(_cells(document), 1)]
    if sum(len(cell.source.encode("utf-8", "surrogatepass")) for cell in submitted) > SOURCES_LIMIT:
        raise Invalid(f"its cells are larger than {SOURCES_LIMIT // 1_000_000} MB together")
    if (language := _language(document)) not in ("", "python"):
        notes.append(f"the notebook says that it is written in {language}; it was run as Python")
    submitted = _readable(submitted, notes)
    places = _places(submitted, problem_set)
    # cells that other problem sets and notebooks do not have
    telling = ("answer", "by hand", "check")
    found = [problem_set.by_name[name] for name in places]
    if not any(cell.role in telling or _is_question_text(cell) for cell in found):
        raise Invalid(f"it has no question of {problem_set.name}{_title(submitted)}")
    if _contradicts(submitted, places, problem_set):
        raise Invalid(f"it is another problem set than {problem_set.name}{_title(submitted)}")
    notes += _recognized(submitted, places, problem_set)
    return replace(_assemble(submitted, places, problem_set, notes), pictures=pictures)


# what came


def _document(notebook: bytes) -> dict[str, Any]:
    """Return the notebook's JSON."""
    if not notebook.strip():
        raise Invalid("the file is empty")
    if len(notebook) > FILE_LIMIT:
        raise Invalid(f"the file is larger than {FILE_LIMIT // 1_000_000} MB")
    if too_many := too_many_parts(notebook):
        raise Invalid(f"the file {too_many}")
    try:
        document = json.loads(notebook.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Invalid("the file is not UTF-8, so it is not a notebook") from None
    except RecursionError:
        raise Invalid("the file is nested too deep to be a notebook") from None
    except ValueError as error:
        raise Invalid(
            f"the file is not JSON, so it is not a notebook: {shown(str(error))}"
        ) from None
    if not isinstance(document, dict):
        raise Invalid("the file is JSON, but not a notebook")
    return document


def _cells(document: Mapping[str, Any]) -> list[Any]:
    """Return the cells of a notebook in format 4."""
    version = document.get("nbformat")
    if version != 4:
        known = (
            shown(str(version), 20) if isinstance(version, int | float) else "nobody knows which"
        )
        raise Invalid(f"it is a notebook of format {known}; wanted 4")
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise Invalid("it has no list of cells, so it is not a notebook")
    if len(cells) > CELLS_LIMIT:
        raise Invalid(f"it has {len(cells)} cells; at most {CELLS_LIMIT} are graded")
    return cells


def _submitted_cell(cell: Any, position: int, pictures: dict[str, str]) -> _SubmittedCell:
    """Return one cell, with its metadata believed as little as needed."""
    if not isinstance(cell, dict):
        raise Invalid(f"its cell {position} is not a cell")
    kind: Literal["code", "markdown"] = "code" if cell.get("cell_type") == "code" else "markdown"
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Invalid(f"the source of its cell {position} is not text")
    source = lifted(cell, source, pictures)
    if len(source.encode("utf-8", "surrogatepass")) > SOURCE_LIMIT:
        raise Invalid(f"its cell {position} is larger than {SOURCE_LIMIT // 1_000_000} MB")
    return _SubmittedCell(kind, source, _grade_id(cell), _has_run(cell))


def _has_run(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell says that it ran, and shows no error."""
    count = cell.get("execution_count")
    outputs = cell.get("outputs")
    shown = [each for each in outputs if isinstance(each, dict)] if type(outputs) is list else []
    failed = any(each.get("output_type") == "error" for each in shown)
    return type(count) is int and count > 0 and not failed


def _grade_id(cell: Mapping[str, Any]) -> str | None:
    """Return the name that nbgrader gave a cell, if there is one."""
    inner: Any = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, str) else None


def _language(document: Mapping[str, Any]) -> str:
    """Return the language in which the notebook says it is written."""
    metadata = document.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(part) if isinstance(metadata, dict) else None
        language = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(language, str) and language:
            return shown(language, 40).casefold()
    return ""


def _readable(submitted: Sequence[_SubmittedCell], notes: list[str]) -> list[_SubmittedCell]:
    """Return the cells with line ends of one kind, and without what is not text."""
    cells = []
    mended = False
    for cell in submitted:
        source = cell.source.replace("\r\n", "\n").replace("\r", "\n")
        clean = re.sub("[\0\ud800-\udfff]", UNREADABLE, source)
        mended = mended or clean != source
        cells.append(replace(cell, source=clean))
    if mended:
        notes.append(f"characters that are not text were replaced by {UNREADABLE}")
    return cells


def _title(submitted: Sequence[_SubmittedCell]) -> str:
    """Return what the notebook calls itself, for a message."""
    for cell in submitted:
        match = TITLE.search(cell.source)
        if cell.kind == "markdown" and match:
            return f"; it is called {shown(match[1], 80)!r}"
    return ""


# which cell is which


def _lines(source: str) -> list[str]:
    """Return the lines that tell a source from others."""
    lines = (line.strip() for line in source.splitlines())
    return [line for line in lines if line and line != PLACEHOLDER]


def _tidy(source: str) -> str:
    """Return a source without the blanks at the ends of lines and the empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _share(pristine: Cell, submitted: _SubmittedCell) -> float:
    """Return which share of the pristine lines is in a cell that came.

    An identity is one line that everybody changes; it is told by what it assigns.
    """
    if pristine.role == "identity":
        return float(ASSIGNED.search(submitted.source) is not None)
    wanted = _lines(pristine.source)
    return sum(line in submitted.lines for line in wanted) / len(wanted) if wanted else 0.0


def _places(submitted: Sequence[_SubmittedCell], problem_set: ProblemSet) -> dict[str, list[int]]:
    """Return where each cell of the problem set is: by name, or by exactly its text."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    nameless: defaultdict[str, list[int]] = defaultdict(list)
    for i, cell in enumerate(submitted):
        if cell.name in problem_set.by_name:
            places[cell.name].append(i)
        else:
            nameless[cell.tidy].append(i)
    # text of several cells of the problem set tells nothing, as an empty stub does
    texts = Counter(_tidy(cell.source) for cell in problem_set.cells)
    for cell in problem_set.cells:
        text = _tidy(cell.source)
        if cell.name not in places and text in nameless and texts[text] == 1:
            places[cell.name] = nameless[text]
    return dict(places)


def _is_question_text(cell: Cell) -> bool:
    """Return whether a cell is the text of a question."""
    return cell.role == "locked" and cell.kind == "markdown"


def _contradicts(
    submitted: Sequence[_SubmittedCell], places: Mapping[str, list[int]], problem_set: ProblemSet
) -> bool:
    """Return whether cells have this problem set's names and mostly another one's texts."""
    similar = [
        max(_share(cell, submitted[i]) for i in places[cell.name]) >= SIMILAR
        for cell in problem_set.cells
        if cell.name in places and (cell.role == "check" or _is_question_text(cell))
    ]
    return len(similar) > 1 and 2 * sum(similar) < len(similar)


def _recognized(
    submitted: Sequence[_SubmittedCell], places: dict[str, list[int]], problem_set: ProblemSet
) -> Iterator[str]:
    """Find cells that lost their names, and yield what was found.

    A cell is looked for between the cells before and after it that were found. Where several could
    be it, the one that keeps most lines of the stub is; otherwise the first.
    """
    lost = [
        cell.name
        for cell in problem_set.cells
        if cell.name in places
        and cell.role in FILLED_IN
        and all(submitted[i].name != cell.name for i in places[cell.name])
    ]
    for position, cell in enumerate(problem_set.cells):
        if cell.name in places:
            continue
        chosen = _recognize(submitted, places, problem_set, position)
        if chosen is not None:
            places[cell.name] = [chosen]
            if cell.role in FILLED_IN:
                lost.append(cell.name)
    if lost:
        cells = f"the cell{'s' if len(lost) > 1 else ''} {', '.join(lost)}"
        yield f"{cells} had lost the name; the place and the text told which it is"


def _recognize(
    submitted: Sequence[_SubmittedCell],
    places: Mapping[str, list[int]],
    problem_set: ProblemSet,
    position: int,
) -> int | None:
    """Return which of the cells without a name is a cell of the problem set, if one is."""
    cell = problem_set.cells[position]
    before = [places[each.name][-1] for each in problem_set.cells[:position] if each.name in places]
    after = [
        places[each.name][0] for each in problem_set.cells[position + 1 :] if each.name in places
    ]
    start = before[-1] + 1 if before else 0
    stop = next((i for i in after if i >= start), len(submitted))
    taken = {i for found in places.values() for i in found}
    between = [i for i in range(start, stop) if i not in taken]
    similar = [i for i in between if _share(cell, submitted[i]) >= SIMILAR]
    if similar:
        return max(similar, key=lambda i: (_share(cell, submitted[i]), -i))
    # a stub written over: the text in its place, if the cell before it was found
    found_before = position > 0 and problem_set.cells[position - 1].name in places
    same_kind = [i for i in between if submitted[i].kind == cell.kind]
    if cell.role in ("answer", "by hand") and found_before and same_kind:
        return same_kind[0]
    return None


# the notebook that is graded


def _assemble(
    submitted: Sequence[_SubmittedCell],
    places: Mapping[str, list[int]],
    problem_set: ProblemSet,
    notes: list[str],
) -> Normalized:
    """Return the cells of the problem set with the student's sources and own cells."""
    questions = _questions(problem_set)
    own = _own(submitted, places)
    cells = [_own_cell(submitted[i], None) for i in own[None]]
    typed_id: str | None = ""
    for cell in problem_set.cells:
        question, following = questions[cell.name]
        added: list[WorkCell] = []
        words: list[str] = []
        copies = [submitted[i] for i in places.get(cell.name, [])]
        if cell.role in FILLED_IN:
            *earlier, source = _filled_in(cell, copies, notes)
            ran = {each.source for each in copies if each.ran}
            cells += [
                WorkCell(None, "own", cell.kind, each, question, each in ran) for each in earlier
            ]
        else:
            source = cell.source
            changed = [
                each for each in copies if each.tidy != _tidy(source) or each.kind != cell.kind
            ]
            more = [_added(cell, each) for each in _few(changed) if cell.role == "locked"]
            added = [WorkCell(None, "own", "code", each, question) for each in more if each]
            words = [each for copy in changed if (each := _written_into(cell, copy))]
            if cell.role != "text" and (changed or not copies):
                what = "changed" if copies else "missing"
                also = ", and what was added to it ran after it" if added else ""
                also += ", and what was written into it is shown below it" if words else ""
                notes.append(f"the cell {cell.name} was {what}; the original one was used{also}")
        if cell.role == "identity":
            typed_id = _typed_id(source)
        did = any(each.ran for each in copies if each.source == source)
        same = cell.role in FILLED_IN and _tidy(source) == _tidy(cell.source)
        cells.append(
            WorkCell(cell.name, cell.role, cell.kind, source, question, did, untouched=same)
        )
        cells += added
        cells += [
            WorkCell(None, "own", "markdown", each, question, beside=True)
            for each in dict.fromkeys(words)
        ]
        cells += [_own_cell(submitted[i], following) for i in own[cell.name]]
    cells = _handed_over(cells, problem_set, notes)
    return Normalized(tuple(cells), typed_id, tuple(notes))


def _written_into(cell: Cell, copy: _SubmittedCell) -> str:
    """Return what a student wrote into a text or a check that was not to be filled in.

    These are the lines with words or numbers that the original does not have; a few words more may
    be another version of the text.
    """
    if cell.role == "text" or (cell.kind == "code" and cell.role != "check"):
        return ""
    new = Counter(_words(copy.source)) - Counter(_words(cell.source))
    numbers = any(each[0].isdigit() for each in new) and cell.role == "check"
    if new.total() < WRITTEN and not numbers:
        return ""
    known = {line.strip() for line in cell.source.splitlines()}
    lines = [line for line in copy.source.splitlines() if line.strip() not in known]
    return "\n".join(lines).strip()


def _words(source: str) -> list[str]:
    """Return the words and numbers of a text."""
    return re.findall(r"\w[\w.]*", source.casefold())


def _handed_over(
    cells: list[WorkCell], problem_set: ProblemSet, notes: list[str]
) -> list[WorkCell]:
    """Give words that stand in another cell to the paragraph whose own cell has none.

    They are those above it, from the question before on: whoever marks it sees them with it.
    """
    names = [each.name for each in problem_set.questions]
    for question in problem_set.questions:
        if not question.by_hand or any(
            _has_words(cell, question.name, problem_set) for cell in cells
        ):
            continue
        before = names[names.index(question.name) - 1] if names.index(question.name) else None
        place = next((i for i, cell in enumerate(cells) if cell.name == question.name), 0)
        near = {
            i: cell
            for i, cell in enumerate(cells)
            if cell.role == "own"
            and cell.question in (before, None)
            and (i < place or cell.question is None)
            and len(_words(cell.source)) >= WRITTEN
        }
        above = {i for i, cell in near.items() if cell.kind == "markdown"}
        read = set(_few([cell for cell in near.values() if cell.kind == "code"]))
        above |= {i for i, cell in near.items() if cell in read and not _is_code(cell.source)}
        if above:
            notes.append(
                f"the cell {question.name} has no words; those in another cell count for it"
            )
        cells = [
            replace(cell, question=question.name, beside=True) if i in above else cell
            for i, cell in enumerate(cells)
        ]
    return cells


def _few(cells: Sequence[Written]) -> Iterator[Written]:
    """Give the cells that are read as Python, without those that would be too much with them."""
    read = 0
    for cell in cells:
        if read + len(cell.source) <= READ_LIMIT:
            read += len(cell.source)
            yield cell


def _has_words(cell: WorkCell, question: str, problem_set: ProblemSet) -> bool:
    """Return whether a cell of a question has anything that was not given out."""
    if cell.question != question or cell.role not in ("by hand", "own"):
        return False
    given = problem_set.by_name[cell.name].source if cell.name else ""
    return own_words(cell.source) not in ([], own_words(given))


def own_words(source: str) -> list[str]:
    """Return the words of a paragraph without the line that asks for them."""
    return source.replace(TEXT_STUB, "").split()


def _is_code(source: str) -> bool:
    """Return whether Python can read a cell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _added(cell: Cell, copy: _SubmittedCell) -> str:
    """Return what a student added to a given cell of code, without what was changed in it.

    These are magics, and statements that give no other meaning to a name of the given cell.
    """
    if cell.kind != "code" or copy.kind != "code":
        return ""
    lines = copy.source.split("\n")
    magics = [line for line in lines if MAGIC.match(line) and line not in cell.source]
    plain = "\n".join("" if MAGIC.match(line) else line for line in lines)
    if len(plain) > READ_LIMIT:
        return "\n".join(magics)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given, came = ast.parse(cell.source).body, ast.parse(plain).body
        known = {ast.dump(node) for node in given}
        new = [node for node in came if ast.dump(node) not in known]
        names = {name for node in given for name in _bound(node)}
        kept = [ast.unparse(node) for node in new if names.isdisjoint(_bound(node))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(magics)
    return "\n".join(magics + kept)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names to which a statement at the top of a cell gives a meaning."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del)
    }


def _questions(problem_set: ProblemSet) -> dict[str, tuple[str | None, str | None]]:
    """Return for each cell its question, and that of the student's cells after it."""
    found: dict[str, tuple[str | None, str | None]] = {}
    names = sorted((each.name for each in problem_set.questions), key=len, reverse=True)
    current: str | None = None
    for cell in problem_set.cells:
        named = [name for name in names if cell.name == name or cell.name.startswith(f"{name}_")]
        current = named[0] if named else current
        following = None if cell.role == "check" else current
        found[cell.name] = (current, following)
        current = following
    return found


def _own(
    submitted: Sequence[_SubmittedCell], places: Mapping[str, list[int]]
) -> dict[str | None, list[int]]:
    """Return the student's own cells by the cell of the problem set that they follow."""
    names = {i: name for name, found in places.items() for i in found}
    own: defaultdict[str | None, list[int]] = defaultdict(list)
    anchor: str | None = None
    for i, cell in enumerate(submitted):
        if i in names:
            anchor = names[i]
        elif cell.source.strip():
            own[anchor].append(i)
    return own


def _own_cell(cell: _SubmittedCell, question: str | None) -> WorkCell:
    """Return a cell of the student's own."""
    return WorkCell(None, "own", cell.kind, cell.source, question, cell.ran)


def _filled_in(cell: Cell, copies: Sequence[_SubmittedCell], notes: list[str]) -> list[str]:
    """Return what the student wrote into a cell, the sources that run before it first."""
    if not copies:
        notes.append(f"the cell {cell.name} was missing; it counts as not filled in")
        return [cell.source]
    written = [each for each in copies if each.tidy != _tidy(cell.source)]
    if retyped := [each for each in written if each.kind != cell.kind]:
        if len(retyped) < len(written):
            written = [each for each in written if each.kind == cell.kind]
        notes.append(f"the cell {cell.name} came as a cell of another type; its text was used")
    sources = list(dict.fromkeys(each.source for each in written)) or [cell.source]
    if len(sources) == 1:
        return sources
    if cell.role == "by hand":
        notes.append(f"the cell {cell.name} came {len(sources)} times; its texts were joined")
        return ["\n\n".join(sources)]
    notes.append(
        f"the cell {cell.name} came {len(sources)} times with different contents; all were run in "
        "their order, and the last one counts"
    )
    return sources


def _typed_id(source: str) -> str | None:
    """Return the student number that a cell assigns last, or None if it is no literal."""
    if len(source) > IDENTITY_LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    value: ast.expr | None = None
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == TYPED for target in targets):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.Constant) or isinstance(value.value, bool):
        return None
    return shown(str(value.value)) if isinstance(value.value, str | int) else None
