"""The fields of an exercise: what they ask, and what a page is told so that it can judge."""

from __future__ import annotations

import html
import json
import re

import pytest
import traitlets

from attnbook.drawing.base import ONE_NUMBER
from attnbook.exercises import check
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Number, Pick
from attnbook.figures import Ask
from attnbook.figures.ask import NAMES, SIGNS

pytestmark = pytest.mark.not_for_mutants
ASKED = [
    name
    for name, exercise in exercises().items()
    if any(isinstance(judge, Number | Pick) for judge in exercise.parts.values())
]
MIXED = {"plain": "22,6", "root": "one", "full": " "}


def checked(name: str = "spread", **answers: str) -> Ask:
    figure = Ask(name, answers=answers)
    figure.checked = dict(figure.answers)
    return figure


@pytest.mark.parametrize("name", ASKED)
class TestEveryExercise:
    def test_each_number_has_a_field_and_each_choice_a_list(self, name: str):
        markup = Ask(name).markup()
        parts = exercises()[name].parts.values()
        lists = [judge for judge in parts if isinstance(judge, Pick)]
        assert markup.count('<input type="text"') == sum(isinstance(j, Number) for j in parts)
        assert markup.count("<select ") == len(lists)
        assert markup.count("<option ") == sum(1 + len(judge.options) for judge in lists)
        assert markup.count('<option value="" selected>choose</option>') == len(lists)
        others = [part for part in exercises()[name].parts if part not in Ask(name).answers]
        assert markup.count("in Python, which checks") == bool(others)
        assert all(f"<code>{part}</code>" in markup for part in others)
        assert markup.count("<label>") == len(Ask(name).answers)

    def test_before_an_answer_nothing_is_said(self, name: str):
        figure = Ask(name)
        assert figure.words() == ""
        assert not any(f">{sign}<" in figure.markup() for sign in SIGNS.values())
        assert 'aria-invalid="true"' not in figure.markup()
        for judge in exercises()[name].parts.values():
            if isinstance(judge, Number) and judge.praise:
                assert html.escape(judge.praise) not in figure.markup()
        assert not figure.verdict
        assert repr(figure.verdict) == repr(check(name))

    def test_a_page_gets_all_that_is_said_beside_the_state(self, name: str):
        figure = Ask(name)
        data, _ = figure._repr_mimebundle_()
        found = re.search(r'data-state="([^"]*)"', data["text/html"])[1]
        assert json.loads(html.unescape(found)) == figure.values()
        assert data["text/html"].startswith('<div class="live-figure" data-figure="ask"')
        assert data["text/plain"] == repr(figure) == f"Ask({name!r})"


class TestAsk:
    def test_the_verdict_is_that_of_the_check(self):
        ours, wanted = Ask("spread", answers=MIXED).verdict, check("spread", plain=22.6)
        assert list(ours.parts) == list(wanted.parts)
        assert ours.parts["plain"] == wanted.parts["plain"]
        assert ours.parts["full"] == wanted.parts["full"]
        assert ours.parts["root"].message == ONE_NUMBER
        assert not ours

    def test_all_right_answers_pass(self):
        assert Ask("spread", answers={"plain": "22.6", "root": "1", "full": "4.42%"}).verdict

    def test_once_checked_each_part_has_sign_and_words(self):
        figure = checked(**MIXED)
        markup = figure.markup()
        for name, outcome in zip(MIXED, ("right", "wrong", "open"), strict=True):
            said = html.escape(figure.verdict.parts[name].message)
            assert f'aria-label="{NAMES[outcome]}">{SIGNS[outcome]}</span>' in markup
            assert f'<span class="said">{said}</span>' in markup
            assert figure.feedback(name) == (outcome, figure.verdict.parts[name].message)
        assert markup.count('aria-invalid="true"') == 1

    def test_what_is_changed_since_is_not_judged(self):
        figure = checked(**MIXED)
        figure.answers = MIXED | {"plain": "23"}
        assert figure.feedback("plain") == ("", "")
        assert figure.feedback("root")[0] == "wrong"

    def test_what_a_reader_writes_is_escaped(self):
        figure = checked(plain='"><script>')
        assert "<script" not in figure.markup()
        assert 'value="&quot;&gt;&lt;script&gt;"' in figure.markup()

    def test_it_shows_the_answers(self):
        assert repr(Ask("spread", answers={"root": "1"})) == (
            "Ask('spread', answers={'root': '1'})"
        )

    def test_an_unknown_exercise_is_refused(self):
        with pytest.raises(ValueError, match="did you mean 'spread'"):
            Ask("spred")

    def test_an_exercise_without_a_field_is_refused(self, monkeypatch: pytest.MonkeyPatch):
        names = Ask.__init__.__globals__
        monkeypatch.setitem(names, "content", lambda _: {"kind": "elsewhere"})
        with pytest.raises(ValueError, match="a number or a choice"):
            Ask("spread")

    @pytest.mark.parametrize("trait", ["answers", "checked"])
    def test_an_answer_without_a_field_is_refused(self, trait: str):
        with pytest.raises(TypeError, match="no field variance"):
            Ask("spread", **{trait: {"variance": "512"}})
        with pytest.raises(traitlets.TraitError):
            Ask("spread", **{trait: {"plain": 512}})
