"""Every exercise of the book that can be marked becomes a problem set that can be given out."""

from __future__ import annotations

import doctest
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from attnbook.exercises._exercise import exercises
from book.model import Book
from book.stubs import BEGIN
from grading import questions as question
from grading.environment import RULES, filled_in
from grading.marking.judging import Judge
from grading.marking.submission import Conditions, mark
from grading.problem_set import read
from grading.questions import RANGES, QuestionError, begin
from grading.rehearsal import faults
from grading.release import worked
from grading.results import Mark, Student, Submission
from grading.sandbox._wire import decode, encode
from tests.book.notebooks import code, notebook, write_book
from tools.question import main

STUDENT, OTHER = "s0000000", "20231187"
BOOK = Book()
ALL = {each.name: each for page in BOOK.chapters for each in page.exercises}
OFFERED = [name for name, exercise in ALL.items() if not question.obstacle(exercise)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("source")


@pytest.fixture(scope="module")
def made(folder: Path) -> Any:
    """Return what writes the problem set of an exercise, once."""
    return cache(lambda name: begin(name, folder=folder, book=BOOK))


def cells(path: Path) -> dict[str, str]:
    """Return the sources of the cells of a problem set by their names."""
    found = nbformat.read(path, as_version=4).cells
    return {each.metadata.get("nbgrader", {}).get("grade_id", ""): each.source for each in found}


def marked(path: Path, answer: str, student: str = STUDENT, judged_as: str = STUDENT) -> Mark:
    """Return what an answer cell earns."""
    (asking,) = read(path).questions
    judge, space = Judge.of(read(path)), {"__name__": "__main__", "student_id": student}
    for source in (cells(path)["numbers"], cells(path)["setup"], answer):
        exec(source, space)  # noqa: S102, what the tests wrote
    asked = judge.ask(asking, judged_as, 1)
    exec(asking.functions["answer"], space)  # noqa: S102
    given = decode(encode(space["answer"](**asking.taken(asked))))
    return judge.judge(asking, given, judged_as, asked)


def book_numbers(name: str) -> dict[str, Any]:
    """Return the numbers that an exercise has in the book."""
    names: dict[str, Any] = {"np": np}
    exec(ALL[name].answer.partition(BEGIN)[0], names)  # noqa: S102, the book's own
    return names


def right_numbers(path: Path, mine: dict[str, int]) -> dict[str, Any]:
    """Return the right answers for personal numbers."""
    (asking,) = read(path).questions
    space: dict[str, Any] = {"math": math, "np": np}
    exec(asking.functions["right_numbers"], space)  # noqa: S102, written by the command
    found: dict[str, Any] = space["right_numbers"](mine)
    return found


def test_what_cannot_be_marked_is_refused_with_a_reason() -> None:
    refused = {name: question.obstacle(ALL[name]) for name in ALL if name not in OFFERED}
    alone = "only its own check can call the function that it asks for"
    missing = "its solution imports {}, not there when notebooks are marked"
    assert refused == {
        **dict.fromkeys(("soften", "temperature", "critical", "repair"), missing.format("attnlib")),
        "ablation": missing.format("attnbook"),
        "cooling": missing.format("scipy"),
        "break": alone,
    }
    assert ALL.keys() == exercises().keys()


@pytest.mark.parametrize("name", OFFERED)
class TestEach:
    def test_it_can_be_given_out(self, made: Any, name: str) -> None:
        # solutions earn everything for several students and pass the public check, stubs nothing
        assert faults(made(name)) == []
        rules = read(made(name)).cells[0].source
        assert all(filled_in(each) in rules for each in RULES.splitlines())

    def test_a_part_left_out_costs_its_point(self, made: Any, name: str) -> None:
        path = made(name)
        parts = question.answers(ALL[name])
        found = marked(path, f"{cells(path)['q1']}\n{parts[-1][1]} = None\n")
        assert found.maximum == len(parts)
        assert found.points == pytest.approx(len(parts) - 1)
        assert found.message.startswith(f"{parts[-1][0]}: ")


@pytest.mark.parametrize("name", RANGES)
class TestPersonalNumbers:
    def test_the_text_names_them(self, made: Any, name: str) -> None:
        text = cells(made(name))["q1_text"]
        for each in RANGES[name]:
            assert f"`{each}`" in text
        assert "<!--" not in text

    def test_nothing_that_is_said_names_the_numbers_of_the_book(self, made: Any, name: str) -> None:
        names = book_numbers(name)
        said = cells(made(name))["q1_text"].partition("**Hand in**")[2]
        assert not {str(names[each]) for each in RANGES[name]} & set(re.findall(r"\b\d\d+\b", said))

    def test_the_numbers_of_the_book_have_the_answers_of_the_book(
        self, made: Any, name: str
    ) -> None:
        names = book_numbers(name)
        found = right_numbers(made(name), {each: names[each] for each in RANGES[name]})
        for part, value in found.items():
            assert exercises()[name].feedback(part, value).passed, part

    @pytest.mark.parametrize("end", [0, 1])
    def test_the_ends_of_the_ranges_have_answers(self, made: Any, name: str, end: int) -> None:
        found = right_numbers(made(name), {each: ends[end] for each, ends in RANGES[name].items()})
        assert all(np.isfinite(value).all() for value in found.values())

    def test_what_another_student_has_right_is_wrong(self, made: Any, name: str) -> None:
        path = made(name)
        copied = marked(path, cells(path)["q1"], student=OTHER)
        assert copied.points < copied.maximum


def test_wrong_answers_are_told_what_the_book_tells(made: Any) -> None:
    path = made("divide-later")
    right = cells(path)["q1"]
    for old, new, said in (
        ("** (1 / tau)\n    return", "** tau\n    return", "divide_later: "),
        ("    powers = ", "    raise KeyError(weights)\n    powers = ", "stops with an error"),
        ('"a number that the whole row shares"\n\n', '"nothing"\n\n', "lost: "),
        ("gap = math.log(", "gap = -math.log(", "gap: -2.30259 is not right: the sign is wrong"),
    ):
        assert old in right
        found = marked(path, right.replace(old, new))
        assert found.points == pytest.approx(3)
        assert said in found.message


ODD = pytest.mark.proof("unusual")


@pytest.mark.parametrize(
    "value",
    [
        "np.nan",
        *(
            pytest.param(each, marks=ODD)
            for each in ("[]", "'text'", "{'a': 1}", "[[1], [2, 3]]", "print")
        ),
    ],
)
def test_garbage_is_wrong_and_nothing_else(made: Any, value: str) -> None:
    for name in OFFERED:
        names = [answer for _, answer in question.answers(ALL[name])]
        assert marked(made(name), f"{' = '.join(names)} = {value}").points == 0
        returning = "\n".join(f"{each} = lambda *_: {value}" for each in names)
        assert marked(made(name), returning).points == 0


def test_wrong_orders_are_refused_in_words(folder: Path, made: Any) -> None:
    made("spread")
    for arguments, words in (
        (("spred",), "the exercises are\n  which-width: Find the width under the root\n"),
        (("",), "the exercises are"),
        (("soften",), "cannot be marked: its solution imports attnlib"),
        (("spread",), "is there already; choose another NAME"),
        (("spread", "../x"), "wanted are letters, digits and _"),
    ):
        with pytest.raises(QuestionError, match=re.escape(words)):
            begin(*arguments, folder=folder, book=BOOK)


def test_a_name_may_be_chosen(folder: Path) -> None:
    path = begin("which-width", "homework_1", folder=folder, book=BOOK)
    assert path == folder / "homework_1" / "homework_1.ipynb"
    assert 'ASSIGNMENT = "homework_1"' in cells(path)["numbers"]
    assert faults(path) == []
    assert begin("which-width", folder=folder / "other", book=BOOK).stem == "which_width"


def test_it_is_marked_in_the_sandbox(made: Any) -> None:
    path = made("divide-later")
    student, problem_set = Student(OTHER, "", "Ada Example"), read(path)
    for lost, (old, new) in enumerate((("", ""), ("weights ** (1 / tau)", "weights ** tau"))):
        answer = cells(path)["q1"].replace(old, new)
        raw = worked(problem_set, OTHER, {"q1": answer}, path.parents[1])
        result = mark(Submission(student, path.stem, raw), problem_set, Conditions({path.stem: 1}))
        assert result.status == "graded", result.message
        assert [each.points for each in result.marks] == [4 - lost]


def test_the_command_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spred", ""]) == 1
    assert "FROM is 'spred'; the exercises are" in capsys.readouterr().err


def test_the_examples_run() -> None:
    result = doctest.testmod(question)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_statement_names_what_students_may_not_have_beside_them(tmp_path: Path) -> None:
    long = "$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$ (eq-long)"
    picture = code("figure()", figure={"name": "fig-line", "caption": "A line. It rises."})
    first = notebook("# First", f"$$\nz = q .\n$$ (eq-short)\n\n{long}", picture)
    write_book(tmp_path, {"01_first": first, "02_made": notebook("# Made up")})
    (tmp_path / "references.bib").write_text("", encoding="utf-8")
    text = (
        "{eq}`eq-short`, {eq}`eq-long`, {numref}`fig-line`; {doc}`01_first`.\n\n$$\nx\n$$ (eq-own)"
    )
    assert question.ForStudents(Book(tmp_path)).text(text) == (
        "$z = q$, an equation in the chapter *First*, the figure “A line” in the chapter *First*; "
        "the chapter *First*.\n\n$$\nx\n$$"
    )
