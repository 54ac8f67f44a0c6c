"""What is shown beside an answer that a person marks: model answer, scheme, expected numbers."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import nbformat

from grading.pictures import lifted, used
from grading.problem_set import (
    CHECK,
    HIDDEN,
    IDENTITY,
    NUMBERS,
    SETUP,
    ProblemSet,
    Question,
    read,
)
from grading.release import MARKS
from grading.reports.feedback import ShownCell

CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^student_id = (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A problem set with the sources of its cells, solutions and hidden checks included."""

    problem_set: ProblemSet
    cells: Mapping[str, str]
    pictures: Mapping[str, str]

    def scheme(self, question: Question) -> Iterator[ShownCell]:
        """Yield the model answer with the scheme, and the hidden check where there is one."""
        kind, role = ("markdown", "text") if question.by_hand else ("code", "answer")
        text = MARKS.sub("", self.cells[question.name]).strip()
        shown = used(text, self.pictures)
        yield ShownCell(None, role, kind, text, question=question.name, pictures=shown)
        if found := HIDDEN.search(self.cells.get(f"{question.name}{CHECK}", "")):
            yield ShownCell(None, "check", "code", found[1].strip(), outputs=None)

    def expected(self, question: Question, student: str, cells: Iterable[ShownCell]) -> str:
        """Return what the code in the scheme of a paragraph prints for one student.

        It is the instructor's code. Nothing is returned where the scheme has none, or the notebook
        as it ran did not show the numbers that belong to the student, so that it is not clear
        which ones were used.
        """
        code = "\n".join(CODE.findall(self.cells[question.name])) if question.by_hand else ""
        if not code:
            return ""
        try:
            identity = self._identity(question, student, list(cells))
            return "" if identity is None else self._run(code, identity)
        except Exception as error:  # noqa: BLE001, whatever the instructor's code raises
            return f"the code in the scheme fails: {type(error).__name__}: {error}"

    @cached_property
    def _names(self) -> dict[str, Any]:
        """Return the names that the code of a scheme can use."""
        names: dict[str, Any] = {"__name__": "scheme"}
        for name in (NUMBERS, SETUP):
            exec(self.cells.get(name, ""), names)  # noqa: S102, the instructor's own
        return names

    def _identity(self, question: Question, student: str, cells: list[ShownCell]) -> str | None:
        """Return the identifier from which the numbers come that the notebook shows."""
        typed = [TYPED.search(cell.source) for cell in cells if cell.name == IDENTITY]
        with contextlib.suppress(ValueError, SyntaxError):
            student_ids = [*(str(ast.literal_eval(found[1])) for found in typed if found), student]
            for each in student_ids:
                numbers = str(self._names["personal_numbers"](each, question.name))
                if any(numbers in _printed(cell) for cell in cells if cell.role == "locked"):
                    return each
        return None

    def _run(self, code: str, student: str) -> str:
        """Return what code of the instructor's prints for a student."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, {**self._names, "student_id": student})  # noqa: S102
        return printed.getvalue()


def source(path: Path) -> Source:
    """Return the problem set of a source notebook, read again when the file has changed."""
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> Source:
    """Return the problem set of a source notebook."""
    pictures: dict[str, str] = {}
    cells = {
        cell.metadata["nbgrader"]["grade_id"]: lifted(cell, cell.source, pictures)
        for cell in nbformat.read(path, as_version=4).cells
        if "nbgrader" in cell.metadata
    }
    return Source(read(path), cells, pictures)


def _printed(cell: ShownCell) -> str:
    """Return what a cell printed."""
    texts = [each.get("text", "") for each in cell.outputs or ()]
    return "".join("".join(text) for text in texts)
