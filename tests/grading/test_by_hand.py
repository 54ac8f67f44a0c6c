"""What a person marks in formgrader reaches the tables and the student's page."""

from __future__ import annotations

import pytest

from grading.course import export, grade
from grading.gradebook import autograded
from tests.grading.small_class import PROBLEM_SET, TINY, Class


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Class:
    made = Class(tmp_path_factory.mktemp("course"), 2)
    for student in made.students:
        made.hand_in(student, q4=f"The spread grows, says {student}.")
    roster = "student_id,lms_id,name\ns1,11,Ada Example\ns2,12,Bob Example\n"
    made.roster.write_text(roster, encoding="utf-8")
    grade(made.order(workers=1))
    made.enter("s1", "q4", 3.5, "Which <spread>? Say of what.")
    export(made.out, made.roster, source=TINY)
    return made


def test_tables_have_the_mark_and_the_other_still_waits(two: Class) -> None:
    found = two.rows()
    assert (found["s1"]["q4"], found["s1"]["total"]) == ("3.5", "9.5")
    assert found["s1"]["message"] == ""
    assert (found["s2"]["q4"], found["s2"]["total"]) == ("", "6")
    assert "q4" in found["s2"]["message"]
    canvas = (two.out / "canvas-tiny.csv").read_text(encoding="utf-8")
    assert "9.5" in canvas


def test_the_page_has_the_mark_and_the_comment(two: Class) -> None:
    page = two.page("s1")
    assert "3.5 of 4" in page
    assert "Which &lt;spread&gt;? Say of what." in page
    assert "waits for a mark by hand" not in page
    assert "says s1" in page
    assert "waits for a mark by hand" in two.page("s2")


def test_another_paragraph_waits_again_and_the_same_one_gets_its_mark_back(two: Class) -> None:
    two.hand_in("s1", q4="Another paragraph.")
    said = grade(two.order(workers=1))
    assert "s1: the mark entered by hand for q4 (3.5) no longer holds" in said
    assert two.rows()["s1"]["q4"] == ""
    assert "Say of what" not in two.page("s1")
    assert "Another paragraph" in two.page("s1")
    two.hand_in("s1", q4="The spread grows, says s1.")
    grade(two.order(workers=1))
    assert two.rows()["s1"]["q4"] == "3.5"


def test_a_notebook_as_it_ran_is_read_as_it_was_written(two: Class) -> None:
    path = two.out / "autograded" / "s2" / "tiny" / "tiny.ipynb"
    text = path.read_text(encoding="utf-8")
    cells, notes = autograded.read(text)
    assert autograded.notebook(PROBLEM_SET, cells, notes, "s2") == text
    assert autograded.identity(text) == "s2"
    assert [cell.question for cell in cells if cell.role == "by hand"] == ["q4"]
    with pytest.raises(ValueError, match="no notebook that the grader wrote"):
        autograded.read('{"cells": [{}]}')
