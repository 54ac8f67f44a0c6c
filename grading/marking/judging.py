"""Runs the instructor's half of the hidden checks: what draws inputs, and what compares.

Nothing of a student's runs here. What the student's code made arrives as plain numbers, and a
check that cannot make sense of it gives no points.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grading.hidden import Wrong
from grading.problem_set import NUMBERS, ProblemSet, Question
from grading.results import Mark
from grading.sandbox._wire import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_MESSAGE = 500


class BrokenCheckError(Exception):
    """A hidden check itself failed, so that somebody has to look."""

    def __init__(self, question: str, reason: str) -> None:
        super().__init__(f"the hidden check of {question} itself failed: {reason}")


@dataclass(frozen=True)
class Judge:
    """The hidden checks of one problem set, ready to be used."""

    problem_set: ProblemSet  # the problem set
    spaces: dict[str, dict[str, Any]]  # the names that each question's check defines

    @classmethod
    def of(cls, problem_set: ProblemSet) -> Judge:
        """Return the checks of a problem set.

        It has to be read from the instructor's own source notebook: its checks are executed here.
        """
        numbers = problem_set.by_name.get(NUMBERS)
        shared = numbers.source if numbers else ""
        return cls(
            problem_set,
            {
                question.name: _definitions(shared + "\n" + question.hidden, question.name)
                for question in problem_set.questions
                if not question.by_hand
            },
        )

    def ask(self, question: Question, student_id: str, secret: int) -> dict[str, Any]:
        """Return the inputs with which a student's function is called.

        Everybody gets inputs of their own, and no student knows the seed, `secret`. They are named
        as the arguments of `answer`; there are none if the check draws nothing.
        """
        draw: Callable[..., dict[str, Any]] | None = self.spaces[question.name].get("ask")
        if draw is None:
            return {}
        salt = f"{secret}/{self.problem_set.name}/{question.name}/{student_id}"
        seed = hashlib.sha256(salt.encode()).digest()
        asked = draw(np.random.default_rng(int.from_bytes(seed)), student_id)
        return decode(encode(asked))  # just as it arrives in the sandbox

    def judge(self, question: Question, given: Any, student_id: str, asked: dict[str, Any]) -> Mark:
        """Return what an answer earns.

        `given` is what came out of the sandbox, decoded, and `asked` what `ask` returned. The mark
        has all points, or those that the check leaves for a mistake, and what it says. If the check
        raises anything but `Wrong`, that is a `BrokenCheckError`.
        """
        check = self.spaces[question.name]["judge"]
        try:
            with np.errstate(all="ignore"):
                check(given if isinstance(given, dict) else {}, student_id, asked)
        except Wrong as wrong:
            points = question.points * wrong.earned
            return Mark(question.name, points, question.points, str(wrong)[:LONGEST_MESSAGE])
        except Exception as failure:  # noqa: BLE001, an instructor's check may raise anything
            raise BrokenCheckError(
                question.name, f"{type(failure).__name__}: {failure}"[:200]
            ) from None
        return Mark(question.name, question.points, question.points)


def _definitions(source: str, name: str) -> dict[str, Any]:
    """Return the names that a check defines, without running the check itself."""
    tree = ast.parse(source)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    ]
    space: dict[str, Any] = {"__name__": f"hidden_check_of_{name}"}
    exec(compile(tree, f"<hidden check of {name}>", "exec"), space)  # noqa: S102, the instructor's
    return space
