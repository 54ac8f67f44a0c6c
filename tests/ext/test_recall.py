"""The review questions of all chapters as one file for Anki."""

from __future__ import annotations

import html
import re
from pathlib import Path

from _ext import recall
from tests.book.notebooks import BOOK


def test_the_deck_has_every_question_and_answer(site: Path) -> None:
    lines = (site / recall.DECK).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    asked = [(page.topic, question) for page in BOOK.chapters for question in page.recall]
    assert [topic for *_, topic in rows] == [topic for topic, _ in asked]
    assert len(rows) == 30
    for (question, answer, _), (_, (title, body)) in zip(rows, asked, strict=True):
        for field, source in ((question, title), (answer, body)):
            words = re.findall(
                r"[A-Za-z]{4,}", re.sub(r"\$[^$]*\$|<!--.*?-->|\{.*?\}|<.*?>", "", source)
            )
            assert all(word in html.unescape(field) for word in words)
            assert "$" not in field
            assert "<!--" not in field


def test_each_core_ends_with_the_deck(site: Path) -> None:
    for page in BOOK.chapters[:10]:
        text = (site / f"{page.name}.html").read_text(encoding="utf-8")
        assert text.count('href="../_static/review-questions.txt"') == 1, page.name
