"""What is shown beside an answer that a person marks: model answer, scheme, expected numbers."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
TYPED = re.compile(r"^[ \t]*student_id\b[^=\n]*=(?!=)[ \t]*([^#\n]*[^#\s])", re.MULTILINE)
NUMBERED_BY = "student_id|personal_numbers|RANGES"
REDEFINED = re.compile(
    rf"^[ \t]*(?:def[ \t]+(?={NUMBERED_BY})(\w+)[ \t]*\("
    rf"|({NUMBERED_BY})\b(?:\[[^\]\n]*\])?[ \t]*(?::[^=\n]*)?[|+]?=(?!=))",
    re.MULTILINE,
)


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

    def numbers(self, question: Question, identity: str) -> dict[str, int]:
        """Return the personal numbers of an identity; there are none where a question has none."""
        if question.name not in self._names.get("RANGES", ()):
            return {}
        return dict(self._names["personal_numbers"](identity, question.name))

    def expected(self, question: Question, identity: str) -> str:
        """Return what the code in the scheme of a paragraph prints for an identity.

        It is the instructor's code, and nothing that a notebook showed has a part in it. Nothing is
        returned where the scheme has none.
        """
        code = "\n".join(CODE.findall(self.cells[question.name])) if question.by_hand else ""
        if not code:
            return ""
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(code, {**self._names, "student_id": identity})  # noqa: S102
        except Exception as error:  # noqa: BLE001, whatever the instructor's code raises
            return f"the code in the scheme fails: {type(error).__name__}: {error}"
        return printed.getvalue()

    def contradictions(
        self, question: Question, identity: str, cells: Sequence[ShownCell], others: Iterable[str]
    ) -> list[str]:
        """Say where a notebook has not the personal numbers that are its own.

        Whoever of `others` has the numbers that it shows is named.
        """
        said = []
        numbers = self.numbers(question, identity)
        shows = [
            cell
            for cell in cells
            if cell.question == question.name
            and cell.role == "locked"
            and "personal_numbers" in cell.source
        ]
        printed = "".join(map(_printed, shows))
        if shows and numbers and str(numbers) not in printed:
            whose = [
                each
                for each in others
                if each != identity and str(self.numbers(question, each)) in printed
            ]
            shown = f"those of {' or '.join(whose[:3])}" if whose else "others, or none"
            said.append(f"the notebook does not show these personal numbers, but {shown}")
        identities = [cell for cell in cells if cell.name == IDENTITY]
        typed = {found for cell in identities for found in TYPED.findall(cell.source)}
        if len(typed) > 1:
            said.append("the cell for the student number gives several")
        said += [
            f"the student number there is {each[:60] or 'empty'}; its numbers are {theirs}"
            for each in sorted(map(_literal, typed))
            if (theirs := self.numbers(question, each)) != numbers
        ]
        for cell in cells:
            if cell.role in ("answer", "own") and cell.kind == "code":
                names = sorted({"".join(found) for found in REDEFINED.findall(cell.source)})
                where = f"a cell of {cell.question}" if cell.question else "a cell"
                said += [f"{where} gives `{name}` another meaning" for name in names]
        return said

    @cached_property
    def _names(self) -> dict[str, Any]:
        """Return the names that the code of a scheme can use."""
        names: dict[str, Any] = {"__name__": "scheme"}
        for name in (NUMBERS, SETUP):
            exec(self.cells.get(name, ""), names)  # noqa: S102, the instructor's own
        return names


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


def _literal(typed: str) -> str:
    """Return the text that a literal stands for; anything else as it was typed."""
    with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return str(ast.literal_eval(typed))
    return typed


def _printed(cell: ShownCell) -> str:
    """Return what a cell printed."""
    texts = [each.get("text", "") for each in cell.outputs or ()]
    return "".join("".join(text) for text in texts)
