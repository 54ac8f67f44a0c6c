"""What the instructors' page says of chapters and exercises is what these say of themselves."""

from __future__ import annotations

import re

import pytest

from tests.book.notebooks import BOOK, ROOT, read, text_of

PAGE_NAME = "chapters/instructors.md"
PAGE = (ROOT / PAGE_NAME).read_text(encoding="utf-8")
SECTION = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<page>\w+\.ipynb)#(?P<anchor>[\w-]+)\)")
EXERCISE = re.compile(r"^:label: (ex-[\w-]+)\n+[★☆]+ (\w+) ·", re.MULTILINE)


def cells_of(page: str, pattern: str) -> dict[str, list[str]]:
    """Return the cells after the first of each table row whose first cell fits the pattern."""
    rows = re.findall(rf"^\| {pattern} \| (.*) \|$", page, re.MULTILINE)
    return {name: rest.split(" | ") for name, rest in rows}


def test_every_exercise_is_assessed_at_its_difficulty() -> None:
    stated = cells_of(PAGE, r"\{ref\}`[\w ]+ <([\w-]+)>`")
    exercises = dict(EXERCISE.findall(text_of(read("chapters/11_exercises.ipynb"))))
    assert {label: cells[0] for label, cells in stated.items()} == exercises
    assert len(exercises) == 10


def misnamed(page: str) -> list[str]:
    """List the links to sections that are not called so, or do not exist."""
    wrong = []
    for link in SECTION.finditer(page):
        sections = BOOK.page(link["page"]).sections
        titles = [section.title for section in sections if section.level in {2, 3}]
        anchors = {"-".join(re.findall(r"[\w-]+", title.lower())): title for title in titles}
        if not anchors.get(link["anchor"], "").startswith(link["words"]):
            wrong.append(f"{PAGE_NAME}: {link[0]}; the sections there are {titles}")
    return wrong


def test_sections_are_linked_by_their_names() -> None:
    assert len(SECTION.findall(PAGE)) > 10
    assert misnamed(PAGE) == []


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("[Drop the division](01_puzzle.ipynb#drop-the-division)", 0),
        ("[Drop](01_puzzle.ipynb#drop-the-division)", 0),
        ("[Leave it out](01_puzzle.ipynb#drop-the-division)", 1),
        ("[Drop the division](01_puzzle.ipynb#drop-it)", 1),
        ("[Drop the division](05_divisor.ipynb#drop-the-division)", 1),
    ],
)
def test_a_link_to_no_section_is_found(link: str, wrong: int) -> None:
    assert len(misnamed(link)) == wrong


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("| {doc}`A <01_a>` | thirty minutes | gentle | nothing |", {"01_a": 3}),
        ("| {doc}`A <01_a>` and others | thirty minutes |", {}),
        ("text with {doc}`A <01_a>` | thirty minutes | gentle |", {}),
    ],
)
def test_rows_of_a_table_are_found(sentence: str, found: dict[str, int]) -> None:
    rows = cells_of(sentence, r"\{doc\}`[\w ]+ <(\w+)>`")
    assert {name: len(cells) for name, cells in rows.items()} == found
