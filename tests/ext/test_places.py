"""Each exercise says where its parts can be done, and says what its check and its words say."""

from __future__ import annotations

import re
from pathlib import Path

from _ext.exercises import places
from attnbook.exercises._exercise import exercises
from attnbook.figures import Ask
from tests.book.notebooks import BOOK, CHAPTERS, read
from tests.book.test_exercise_cells import found_exercises
from tests.ext.pages import parse

FORM = re.compile(
    r"On this page: \d answers?\.(?: In Python: [\w, ]+\.)?(?: In a notebook: something to run\.)?"
    r"(?: On paper: an argument\.)?"
)


def test_a_part_is_where_it_is_checked() -> None:
    for name in exercises():
        found = places(name, [])
        fields = len(Ask(name).answers)
        assert found["on this page"] == [f"{fields} answer{'s' if fields > 1 else ''}"]
        others = [f"`{part}`" for part in exercises()[name].parts if part not in Ask(name).answers]
        assert found.get("in Python", []) == others
        assert not {"in a notebook", "on paper"} & {*found}


def test_what_no_check_looks_at_is_told_from_the_words() -> None:
    for words, place, told in (
        ("Plot $p$ for $x$ from 0 to 10.", "in a notebook", "something to run"),
        ("Predict it before you measure it.", "in a notebook", "something to run"),
        ("Prove it.", "on paper", "an argument"),
        ("On paper: at which angle?", "on paper", "an argument"),
        ("Which width is it, and why?", "on paper", "an argument"),
    ):
        assert places("odds", ["How large is it?", words])[place] == [told]
    still = ["At another width the chapter has measured it.", "A run that diverged is infinite."]
    assert list(places("odds", still)) == ["on this page"]


def test_the_line_is_the_second_of_each_exercise(site: Path) -> None:
    lines = {}
    for chapter in CHAPTERS:
        tree = parse(site / chapter.replace(".ipynb", ".html"))
        boxes = tree.select("div.exercise")
        names = [one.name for one in found_exercises(read(chapter))]
        for name, box in zip(names, boxes, strict=True):
            first, second = box.select("section > p")[:2]
            assert "Trains" in first.get_text()
            assert second["class"] == ["places"]
            lines[name] = " ".join(second.get_text().split())
            assert FORM.fullmatch(lines[name]), lines[name]
    assert list(lines) == [one.name for page in BOOK.chapters for one in page.exercises]
    assert sorted(lines) == sorted(exercises())
    assert lines["divide-later"] == "On this page: 3 answers. In Python: divide_later."
    assert lines["lead"] == "On this page: 5 answers. In a notebook: something to run."
    assert "On paper" in lines["unseen"]
