"""What a student's answers should be, shown to the instructor."""

from __future__ import annotations

import doctest
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnlib import general_score_moments
from grading.__main__ import main
from grading.marking import expected as module
from grading.marking.expected import expected

STUDENT = "s2400001"


@pytest.fixture(scope="module")
def shown() -> str:
    return expected(STUDENT, "problem_set_1")


def numbers_of(text: str, question: str) -> dict[str, int]:
    (line,) = re.findall(rf"^{question}, .* personal numbers: (.*)$", text, re.MULTILINE)
    return {name: int(value) for name, value in re.findall(r"(\w+) = (-?\d+)", line)}


def tied(width: int, start: int, count: int) -> np.ndarray:
    """Return the covariance matrix of components of variance one, some of them one number."""
    matrix = np.eye(width)
    block = slice(start - 1, start - 1 + count)
    matrix[block, block] = 1
    return matrix


def test_the_numbers_are_right_by_another_way(shown: str) -> None:
    mine = numbers_of(shown, "q1")
    width = mine["d_k"]
    mean_q, mean_k = (np.full(width, mine[f"{side}_mean"] / 10) for side in "qk")
    cov_q, cov_k = (tied(width, mine[f"{s}_start"], mine[f"{s}_count"]) for s in "qk")
    within = general_score_moments(cov_q, cov_k, mean_q=mean_q)[1]
    whole = general_score_moments(cov_q, cov_k, mean_q=mean_q, mean_k=mean_k)[1]
    told = dict(re.findall(r"^  (within|between) = (\S+)$", shown, re.MULTILINE))
    assert float(told["within"]) == pytest.approx(within, rel=1e-9)
    assert float(told["between"]) == pytest.approx(whole - within, rel=1e-9)


def test_every_kind_of_answer_has_its_words(shown: str) -> None:
    assert shown.startswith(f"problem_set_1, {STUDENT}\n")
    assert re.findall(r"^(q\d), \d points", shown, re.MULTILINE) == ["q1", "q2", "q3", "q4", "q5"]
    assert "  positions_behind is a function, which is marked by what it returns" in shown
    assert re.search(r"  figure is a figure:\n    measured: \(.*\n    predicted: \(", shown)
    assert "  a paragraph; the model answer is in problem_set_1.ipynb" in shown
    assert "mine" not in shown
    assert plt.get_fignums() == []


def test_another_student_has_other_answers_and_a_number_is_text_and_never_code(shown: str) -> None:
    other = expected('"; 1 / 0', "problem_set_1")
    assert other.startswith('problem_set_1, "; 1 / 0\n')
    assert numbers_of(other, "q1") != numbers_of(shown, "q1")
    assert re.findall("within = .*", other) != re.findall("within = .*", shown)


def test_what_is_given_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expected", "--student", STUDENT, "--assignment", "problem_set_2"]) == 0
    said = capsys.readouterr().out
    assert "best_temperature is a function" in said
    assert "STEPS" not in said
    assert re.search(r"^q2, 4 points; personal numbers: hundredths = \d{3}$", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--student", STUDENT, "--assignment", "problem_set_9"], "no problem set is called"),
        (["--student", " "], "STUDENT is missing"),
    ],
)
def test_a_wrong_name_is_refused_in_words(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["expected", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_examples_run() -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
