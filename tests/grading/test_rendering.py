"""The time to show a notebook is bounded: what is too intricate is shown as it was typed."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import mistune
import numpy as np
import pytest
from PIL import Image

from grading.gradebook import autograded, by_hand
from grading.pictures import lifted
from grading.problem_set import SOURCE, read
from grading.reports import feedback
from grading.reports.feedback import CHARACTER, MOST_PICTURES, MOST_WORK, ShownCell, blocks, work

TYPED = "as it was typed"
HARMLESS = {
    "words": "Words of a long paragraph. " * 100,
    "a table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 30,
    "a list": "- first *and* second\n  - below\n    - deeper\n" * 20,
    "formulas": "With $x_1 + y^2$ the variance grows.\n\n$$\\sigma^2 = d_k$$\n\n" * 40,
    "code": "```python\n" + "x = f(a[0])\n" * 60 + "```\n",
}


def shown(*sources: str) -> list[str]:
    """Return texts as a page shows them."""
    made, _ = blocks([ShownCell(None, "own", "markdown", each) for each in sources], {})
    return [str(each.body) for each in made]


def test_harmless_texts_are_rendered() -> None:
    together = shown(*HARMLESS.values())
    assert not any(TYPED in each for each in together)
    assert "<table>" in together[1]
    assert together[3].count('<code class="tex') == 80
    for path in SOURCE.glob("*/*.ipynb"):
        texts = [each.source for each in read(path).cells if each.kind == "markdown"]
        assert sum(map(work, texts)) < MOST_WORK


@pytest.mark.parametrize(
    "text",
    ["> " * 20 + "deep", "".join("  " * i + "- deeper\n" for i in range(20)), "*a* " * 5000],
    ids=["quotes", "lists", "signs"],
)
def test_what_is_too_intricate_is_shown_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def render(_: object, source: str) -> str:
        rendered.append(source)
        return source

    rendered: list[str] = []
    feedback._markdown.cache_clear()
    monkeypatch.setattr(mistune.Markdown, "__call__", render)
    (only,) = shown(text)
    assert TYPED in only
    assert "<pre>" in only
    assert not any(rendered)


def test_all_texts_together_have_one_budget() -> None:
    text = "*a* " * 700
    assert work(text) < MOST_WORK < 4 * work(text)
    found = shown(*[text] * 4, "short")
    assert [TYPED in each for each in found] == [False, False, True, True, False]


def test_work_grows_with_length_signs_and_levels() -> None:
    assert work("a" * 2000) < work("a_" * 1000) < work("> " + "a_" * 1000)
    beyond = work("a_\n\n" * 1000) - CHARACTER * 4000
    assert 0 < beyond < work("a_" * 1000) / 50


CHEAP_BY_SIGNS = {
    "lists": "- a\n" * 5000,
    "paragraphs": "a\n\n" * 6000,
    "empty lines": "\n" * 20_000,
    "tables": "|a|b|\n|-|-|\n" + "|1|2|\n" * 3000,
    "code within": "```python\n" + "a b c d\n" * 2400 + "```\n",
}


@pytest.mark.parametrize("source", [*CHEAP_BY_SIGNS.values(), "a + b\n" * 3000])
@pytest.mark.parametrize("kind", ["markdown", "code"])
def test_all_that_is_rendered_of_a_notebook_is_bounded(
    source: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int] = []

    def render(_: object, text: str) -> str:
        rendered.append(len(text))
        return text

    def lex(text: str) -> list[tuple[object, str]]:
        rendered.append(len(text))
        return []

    monkeypatch.setattr(mistune.Markdown, "__call__", render)
    monkeypatch.setattr(feedback.LEXER, "get_tokens", lex)
    cells = [ShownCell(None, "own", kind, f"{source}{i}") for i in range(250)]
    made, _ = blocks(cells, {})
    assert sum(rendered) <= MOST_WORK / CHARACTER
    assert any(rendered) or source.isspace()
    # what is not rendered is there all the same
    assert len(made) > 40


def test_a_page_by_hand_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def counted(*told: object) -> tuple[list[object], int]:
        made.append(told)
        return [], 0

    monkeypatch.setattr(feedback, "blocks", counted)
    tiny = read(Path(__file__).parent / "source" / "tiny" / "tiny.ipynb")
    texts = [
        autograded.notebook(tiny, [ShownCell(None, "own", "markdown", each)], []) for each in "ab"
    ]
    for text in (*texts, *texts):
        by_hand._work(text, "q4")
    assert len(made) == 2 * len(texts)
    by_hand._work.cache_clear()


def test_pictures_count_as_often_as_they_are_shown() -> None:
    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, size=(200, 500, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "PNG")
    data = base64.b64encode(buffer.getvalue()).decode()
    cell = {"cell_type": "markdown", "attachments": {"a.png": {"image/png": data}}}
    pictures: dict[str, str] = {}
    source = lifted(cell, "![plot](attachment:a.png)\n\n" * 190, pictures)
    made, _ = blocks([ShownCell(None, "own", "markdown", source, pictures=pictures)], {})
    body = str(made[0].body)
    assert body.count("<img") == MOST_PICTURES // len(data)
    assert body.count("picture, not shown") == 190 - MOST_PICTURES // len(data)
    assert len(body) < MOST_PICTURES + 50_000
