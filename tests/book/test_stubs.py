"""The stubs of the exercises run as they are, say what is wanted, and keep the solutions."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from _ext.live_cells import IMPORTS
from attnbook.exercises._exercise import Check, describe_parts, exercises
from attnbook.exercises._judges import Function, Pick
from attnbook.exercises._verdict import Verdict
from book.model import BookError, Exercise, Page
from book.plain_markdown import PlainError
from book.stubs import BEGIN, END, stub, with_imports
from tests.book.notebooks import BOOK, code, notebook

EXERCISES = [
    pytest.param(page, exercise, id=exercise.name)
    for page in BOOK.chapters
    for exercise in page.exercises
]


def verdict(page: Page, exercise: Exercise, answer: str) -> Verdict:
    """Run what an exercise gives and an answer as a kernel would, and return what is said."""
    given = [with_imports(source, page.notebook) for source in exercise.given]
    *statements, last = ast.parse("\n\n".join([IMPORTS, *given, answer])).body
    namespace: dict[str, Any] = {}
    exec(compile(ast.Module(statements, []), "<cell>", "exec"), namespace)  # noqa: S102
    return eval(ast.unparse(last), namespace)  # noqa: S307 - the book's own code


def region(source: str) -> list[str]:
    """Return the lines of the solution in a cell tagged answer."""
    lines = source.splitlines()
    return lines[lines.index(BEGIN) + 1 : lines.index(END)]


def told(source: str) -> set[str]:
    """Return the lines of signatures and docstrings, which the reader is given."""
    lines = source.splitlines()
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            end = first.end_lineno if ast.get_docstring(node) is not None else first.lineno - 1
            found |= set(lines[node.lineno - 1 : end])
    return found


def leaks(answer: str, given: str) -> set[str]:
    """Return the lines of a solution that its stub holds."""
    solution = region(answer)
    open_lines = told("\n".join(solution)) | {*answer.replace("\n".join(solution), "").splitlines()}
    shown = {*given.splitlines()} - open_lines
    return {line for line in {*solution} & shown if line.strip()}


def test_every_chapter_but_one_has_exercises() -> None:
    assert [page.topic for page in BOOK.chapters if not page.exercises] == ["misconceptions"]


@pytest.mark.parametrize(("page", "exercise"), EXERCISES)
def test_a_stub_runs_and_says_what_is_wanted_and_the_solution_passes(
    page: Page, exercise: Exercise
) -> None:
    given = stub(exercise.answer, describe_parts(exercise.name))
    assert leaks(exercise.answer, given) == set()
    said = verdict(page, exercise, given)
    assert said.exercise == exercise.name
    for part in said.parts.values():
        assert part.message.startswith("Not answered yet"), said
    assert verdict(page, exercise, exercise.answer)


ANSWER = """from math import pi

data = [1, 2]

### BEGIN SOLUTION
# a thought
secret = 512
for number in range(3):
    plain = secret**0.5


@staticmethod
def double(x, *, by: float = 2.0):
    \"\"\"Return twice x.\"\"\"
    # how
    return by * x


unused = plain
root: float = 1.0
### END SOLUTION
check("spread", plain=plain, root=root, full=double(1))"""
STUB = """from math import pi

data = [1, 2]

plain = ...  # your answer


def double(x, *, by: float = 2.0):
    \"\"\"Return twice x.\"\"\"
    return ...  # your answer


root = ...  # your answer

check("spread", plain=plain, root=root, full=double(1))"""


def test_only_what_the_reader_fills_in_stays_of_a_solution() -> None:
    assert stub(ANSWER) == STUB


def test_a_comment_says_what_is_wanted() -> None:
    source = f"{BEGIN}\nway = 'up'\nn = 1\nm = 1\n{END}\ncheck('x', where=way, n=n, m=m)"
    lines = stub(source, {"where": "a long way up, " * 8, "n": "a number", "x": "no"}).splitlines()
    assert lines[0].startswith("# a long way up, a")
    assert lines[1].endswith(" a long way up,")
    assert lines[2:6] == [
        "way = ...  # your answer",
        "# a number",
        "n = ...  # your answer",
        "m = ...  # your answer",
    ]
    assert max(map(len, lines)) <= 100


def test_what_is_wanted_is_in_the_words_of_the_check() -> None:
    for name, exercise in exercises().items():
        phrases = describe_parts(name)
        for part, judge in exercise.parts.items():
            assert phrases[part].startswith(judge.wanted)
            for option in judge.options if isinstance(judge, Pick) else ():
                assert f'"{option}"' in phrases[part]
    assert describe_parts("no such exercise") == {}


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER.replace(BEGIN, ""),
        ANSWER.replace(END, ""),
        f"{ANSWER}\n{BEGIN}\n{END}",
        f"{END}\n{BEGIN}",
        f"{BEGIN}\ndef f(x): return x\n\n\n{END}\ncheck('x', f)",
    ],
)
def test_a_solution_without_its_two_marks_is_refused(answer: str) -> None:
    with pytest.raises(PlainError):
        stub(answer)


@pytest.mark.parametrize("line", ["secret = 512", "    return by * x"])
def test_a_line_of_a_solution_in_a_stub_is_reported(line: str) -> None:
    assert leaks(ANSWER, STUB) == set()
    assert leaks(ANSWER, f"{STUB}\n{line}") == {line}


def test_what_an_exercise_gives_brings_its_imports() -> None:
    chapter = notebook(code("import math\nfrom attnlib import entropy, softmax"))
    source = "def start(x):\n    return softmax(x)"
    assert with_imports(source, chapter) == f"from attnlib import softmax\n\n\n{source}"


@pytest.mark.parametrize(("copies", "message"), [(0, "no cell is"), (2, "2 cells are")])
def test_an_exercise_without_its_one_answer_is_refused(
    tmp_path: Path, copies: int, message: str
) -> None:
    task = "### Sums\n\n:::{exercise}\n:label: ex-spread\n\nAdd.\n:::"
    made = notebook(
        "# Made",
        task,
        ":::{solution-start} ex-spread\n:label: solution-spread\n:::",
        *(code(ANSWER, tags=["answer"]) for _ in range(copies)),
        ":::{solution-end}\n:::",
    )
    nbformat.write(made, tmp_path / "02_made.ipynb")
    (exercise,) = Page("02_made", tmp_path / "02_made.ipynb").exercises
    with pytest.raises(BookError, match=f"spread: {message} tagged answer"):
        exercise.answer  # noqa: B018


def test_the_stub_of_a_function_counts_as_not_answered() -> None:
    asked = Function(
        "double(x), which returns twice x",
        lambda x: 2 * x,
        lambda rng: [(rng.standard_normal(3),)],
        lambda right, _arguments, eps: eps * np.abs(right),
    )
    source = stub(
        f'{BEGIN}\ndef double(x):\n    """Double."""\n    return 2 * x\n\n\n{END}\ndouble'
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102
    verdict = Check("double", double=asked).verdict({"double": namespace["double"]})
    assert verdict.parts["double"].message == f"Not answered yet: {asked.wanted}."
