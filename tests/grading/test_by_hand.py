"""What a person marks in formgrader reaches the tables and the student's page."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from grading.course import Order, export, grade
from grading.gradebook import autograded
from grading.problem_set import problem_sets
from grading.release import worked
from tests.grading.small_class import enter_mark

SOURCE = Path(__file__).resolve().parent / "source"
TINY = problem_sets(SOURCE)["tiny"]


def hand_in(folder: Path, student: str, paragraph: str) -> None:
    path = folder / "in" / student / "tiny" / "tiny.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(worked(TINY, student, {"q4": paragraph}, SOURCE))


def rows(out: Path) -> dict[str, dict[str, str]]:
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    for student in ("s1", "s2"):
        hand_in(folder, student, f"The spread grows, says {student}.")
    roster = "student_id,lms_id,name\ns1,11,Ada Example\ns2,12,Bob Example\n"
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    order = Order(
        folder / "in", folder / "out", roster=folder / "roster.csv", workers=1, source=SOURCE
    )
    grade(order)
    enter_mark(folder / "out", "s1", "q4", 3.5, "Which <spread>? Say of what.")
    export(folder / "out", folder / "roster.csv", source=SOURCE)
    return folder


def test_tables_have_the_mark_and_the_other_still_waits(course: Path) -> None:
    found = rows(course / "out")
    assert (found["s1"]["q4"], found["s1"]["total"]) == ("3.5", "9.5")
    assert found["s1"]["message"] == ""
    assert (found["s2"]["q4"], found["s2"]["total"]) == ("", "6")
    assert "q4" in found["s2"]["message"]
    canvas = (course / "out" / "canvas-tiny.csv").read_text(encoding="utf-8")
    assert "9.5" in canvas


def test_the_page_has_the_mark_and_the_comment(course: Path) -> None:
    page = (course / "out" / "feedback" / "s1" / "tiny.html").read_text(encoding="utf-8")
    assert "3.5 of 4" in page
    assert "Which &lt;spread&gt;? Say of what." in page
    assert "waits for a mark by hand" not in page
    assert "says s1" in page
    other = (course / "out" / "feedback" / "s2" / "tiny.html").read_text(encoding="utf-8")
    assert "waits for a mark by hand" in other


def test_another_paragraph_waits_again_and_the_same_one_gets_its_mark_back(course: Path) -> None:
    order = Order(
        course / "in", course / "out", roster=course / "roster.csv", workers=1, source=SOURCE
    )
    hand_in(course, "s1", "Another paragraph.")
    assert "s1: the mark entered by hand for q4 (3.5) no longer holds" in grade(order)
    assert rows(course / "out")["s1"]["q4"] == ""
    page = (course / "out" / "feedback" / "s1" / "tiny.html").read_text(encoding="utf-8")
    assert "Say of what" not in page
    assert "Another paragraph" in page
    hand_in(course, "s1", "The spread grows, says s1.")
    grade(order)
    assert rows(course / "out")["s1"]["q4"] == "3.5"


def test_a_notebook_as_it_ran_is_read_as_it_was_written(course: Path) -> None:
    path = course / "out" / "autograded" / "s2" / "tiny" / "tiny.ipynb"
    text = path.read_text(encoding="utf-8")
    cells, notes = autograded.read(text)
    assert autograded.notebook(TINY, cells, notes, "s2") == text
    assert autograded.identity(text) == "s2"
    assert [cell.question for cell in cells if cell.role == "by hand"] == ["q4"]
    with pytest.raises(ValueError, match="no notebook that the grader wrote"):
        autograded.read('{"cells": [{}]}')
