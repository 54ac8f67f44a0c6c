"""The questions on the built pages: the reader commits, and only then sees what came out."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from attnbook.drawing.base import LiveFigure
from attnbook.figures import Choice, Estimate, Sketch
from attnbook.figures.prediction import NOTCHES, Prediction
from tests.book.notebooks import NOTEBOOKS, ROOT, read
from tests.ext.forms import in_a_notebook, look_for_faults
from tests.ext.pages import long_unless_shown
from tests.ext.test_browser import KEEP_ONLY, PHONE, visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

MARK = 'data-figure="prediction"'
ASKING = [
    name.replace(".ipynb", ".html")
    for name in NOTEBOOKS
    if 'form class=\\"prediction' in (ROOT / name).read_text(encoding="utf-8")
]
KINDS: dict[str, type[Prediction]] = {kind.kind: kind for kind in (Choice, Estimate, Sketch)}


def one_of_each() -> list[str]:
    """Return pages that together ask each kind of question, as few as come to mind."""
    asked = r'class="prediction (\w+)"|class="unit">(%)<'
    kinds = {
        name: {kind or unit for kind, unit in re.findall(asked, shown(name))} for name in ASKING
    }
    pages, missing = [], {*KINDS, "%"}
    while missing:
        pages.append(max(ASKING, key=lambda name: len(kinds[name] & missing)))
        missing -= kinds[pages[-1]]
    return pages


def shown(name: str) -> str:
    """Return what the cells of a page show as HTML."""
    cells = read(name.replace(".html", ".ipynb")).cells
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    return "".join(output.get("data", {}).get("text/html", "") for output in outputs)


# What depends on the kind of question and not on the page is tried on these alone.
SOME = one_of_each()
NONSENSE = ["", "half", "65,536", "1/0"]
# All that a reader can tell apart in a form.
DESCRIBE = """(form) => [...form.querySelectorAll("*")].map((node) => [
  node.tagName, node.className.baseVal ?? node.className, node.getAttribute("d"),
  node.getAttribute("aria-valuetext"), node.disabled ?? null, node.checked ?? null,
  node.tagName === "INPUT" ? node.value : null, node.children.length ? "" : node.textContent])"""
PARSE = f"""(markups) => markups.map((markup) => {{
  const root = document.createElement("div");
  root.innerHTML = markup;
  return ({DESCRIBE})(root.querySelector("form"));
}})"""
# Give an answer as a reader's input would, and press the button; again to take it back.
ANSWER = f"""(form, answers) => answers.map((answer) => {{
  const inputs = [...form.querySelectorAll("input")];
  if (Array.isArray(answer)) inputs.forEach((input, place) => {{ input.value = answer[place]; }});
  else if (inputs.length > 1) inputs.find((input) => input.value === answer).checked = true;
  else inputs[0].value = answer;
  inputs[0].dispatchEvent(new Event("input", {{ bubbles: true }}));
  form.querySelector("button").click();
  const shown = ({DESCRIBE})(form);
  if (form.querySelector("fieldset").disabled) form.querySelector("button").click();
  return shown;
}})"""
OUTPUTS = """(root) => {
  const boxes = [];
  let next = root.closest("div.cell").nextElementSibling;
  for (; next?.matches("div.cell, details.answering"); next = next.nextElementSibling)
    if (next.matches("details")) boxes.push(next);
  return boxes.map((box) => [box.open, box.querySelector("div.cell_output").checkVisibility()]);
}"""


def given(place: Locator) -> Prediction:
    """Return the question of a page as Python has it."""
    state = json.loads(place.get_attribute("data-state"))
    figure = KINDS[state["content"]["kind"]].__new__(KINDS[state["content"]["kind"]])
    LiveFigure.__init__(figure, **state)
    return figure


def answers_to(figure: Prediction) -> list[Any]:
    """Return answers of all sorts, right ones and wrong ones."""
    content = figure.content
    if isinstance(figure, Choice):
        return list(content["verdicts"])
    if isinstance(figure, Estimate):
        edges = [content["low"], content["high"], content["right"]]
        edges += [math.nextafter(content["low"], -math.inf)]
        edges += [math.nextafter(content["high"], math.inf)]
        return [*map(repr, edges), "1/2", "50%", "0,5", " 3 / 4 ", "−1", "2e6", "10^2", "84 %"]
    drawn = random.Random(7)  # noqa: S311
    count = len(content["places"])
    curves = [[drawn.randrange(NOTCHES + 1) for _ in range(count)] for _ in range(30)]
    return [figure.right, [NOTCHES, *[0] * (count - 1)], *curves]


def a_right_and_a_wrong_answer(figure: Prediction) -> list[Any]:
    answers = answers_to(figure)
    outcomes = []
    for answer in answers:
        figure.answer = answer
        outcomes.append(figure.verdict()[0] == "right")
    return [answers[outcomes.index(True)], answers[outcomes.index(False)]]


def commit(form: Locator, answer: Any) -> None:
    """Answer with the controls and press the button."""
    inputs = form.locator("input")
    if isinstance(answer, list):
        for place, level in enumerate(answer):
            inputs.nth(place).fill(str(level))
    elif inputs.count() > 1:
        form.get_by_role("radio", name=answer, exact=True).check()
    else:
        inputs.fill(answer)
    form.get_by_role("button").click()


@pytest.fixture
def page(browser: Browser, site: Path, name: str) -> Iterator[Page]:
    """Open a page, and look for errors afterwards."""
    with visit(browser, site / name) as seen:
        yield seen.page
    assert not seen.errors, "\n".join(seen.errors)


def test_the_pages_are_those_of_the_site(site: Path) -> None:
    found = [path for path in site.rglob("*.html") if MARK in path.read_text(encoding="utf-8")]
    assert sorted(path.relative_to(site).as_posix() for path in found) == sorted(ASKING)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=long_unless_shown(name)) for name in ASKING]
)
class TestEveryPage:
    def test_each_answer_gets_the_verdict_that_python_gives(self, page: Page) -> None:
        for place in page.locator(f"[{MARK}]").all():
            figure, form = given(place), place.locator("form")
            first = page.evaluate(PARSE, [figure.markup()])[0]
            assert form.evaluate(DESCRIBE) == first
            answers, markups = [], []
            for answer in answers_to(figure):
                figure.answer, figure.committed = answer, True
                if figure.verdict()[0] != "ask":
                    answers.append(answer)
                    markups.append(figure.markup())
            assert len(answers) > 2
            shown = form.evaluate(ANSWER, answers)
            wanted = page.evaluate(PARSE, markups)
            for answer, ours, theirs in zip(answers, shown, wanted, strict=True):
                assert ours == theirs, answer

    @pytest.mark.proof("pages")
    def test_what_came_out_is_closed_until_the_reader_commits(self, page: Page, name: str) -> None:
        for place in page.locator(f"[{MARK}]").all():
            form, button = place.locator("form"), place.get_by_role("button")
            boxes = len(place.evaluate(OUTPUTS))
            assert boxes or "exercises" in name  # there the solution is closed as it is
            for answer in a_right_and_a_wrong_answer(given(place)):
                assert place.evaluate(OUTPUTS) == [[False, False]] * boxes
                assert not place.locator(".told").is_visible()
                commit(form, answer)
                assert place.evaluate(OUTPUTS) == [[True, True]] * boxes
                assert form.locator(".because").is_visible()
                assert button.inner_text() == "Try again"
                button.click()
        for summary in page.locator("details.answering > summary").all():
            summary.click()  # open it anyway
        assert page.locator("details.answering:not([open])").count() == 0


@pytest.mark.proof("pages")
@pytest.mark.parametrize("name", SOME)
class TestEachKind:
    def test_the_second_tap_of_a_double_one_takes_nothing_back(self, page: Page) -> None:
        place = page.locator(f"[{MARK}]").first
        commit(place.locator("form"), a_right_and_a_wrong_answer(given(place))[0])
        place.get_by_role("button").click()
        place.get_by_role("button").dblclick()
        assert place.get_by_role("button").inner_text() == "Try again"

    def test_who_answers_nothing_or_nonsense_is_asked_kindly(self, page: Page) -> None:
        for place in page.locator(f"[{MARK}]").all():
            figure, form = given(place), place.locator("form")
            unclear = NONSENSE if isinstance(figure, Estimate) else [None]
            if figure.content.get("unit") == "%":
                unclear = [*NONSENSE, "0.5", "1/2", "−0,5"]  # a half, or half a percent?
            for answer in unclear:
                if answer is not None:
                    form.locator("input").fill(answer)
                form.get_by_role("button").click()
                assert form.locator(".said").inner_text() == figure.content["wanted"]
                assert form.locator(".because").text_content() == ""
                assert form.get_by_role("button").inner_text() == "Commit"
                assert not any(opened for opened, _ in place.evaluate(OUTPUTS))

    def test_keys_alone_will_do(self, page: Page) -> None:
        keys = page.keyboard
        for place in page.locator(f"[{MARK}]").all():
            form, figure = place.locator("form"), given(place)
            form.locator("input").first.focus()
            if isinstance(figure, Estimate):
                keys.type("12")
            elif isinstance(figure, Choice):
                keys.press("Space")
            else:
                keys.press("ArrowUp")
                keys.press("ArrowUp")
                answer = form.locator("input").first.input_value()
                assert int(answer) == NOTCHES // 2 + 2
            while not form.get_by_role("button").evaluate("(b) => b === document.activeElement"):
                keys.press("Tab")
            keys.press("Enter")
            assert form.locator(".because").is_visible()
            assert form.get_by_role("button").evaluate("(b) => b === document.activeElement")
            keys.press("Enter")
            assert not form.locator(".because").is_visible()

    def test_a_finger_will_do(self, browser: Browser, site: Path, name: str) -> None:
        context = browser.new_context(viewport={"width": PHONE, "height": 900}, has_touch=True)
        page = context.new_page()
        page.goto((site / name).as_uri())
        for place in page.locator(f"[{MARK}]").all():
            form, figure = place.locator("form"), given(place)
            targets = form.locator("label.option, button, input:not([type=radio])")
            for target in targets.all():
                box = target.bounding_box()
                assert box["width"] >= 24  # WCAG 2.2, target size
                assert box["height"] >= 44
            if isinstance(figure, Choice):
                form.locator("label").last.tap()
            elif isinstance(figure, Estimate):
                form.locator("input").tap()
                page.keyboard.type("7")
            else:
                slider = form.locator("input").first
                box = slider.bounding_box()
                slider.tap(position={"x": box["width"] / 2, "y": 20})
                assert int(slider.input_value()) >= NOTCHES - 2
            form.get_by_role("button").tap()
            assert form.locator(".because").is_visible()
        context.close()

    def test_without_scripts_all_can_be_read_and_nothing_is_dead(
        self, browser: Browser, site: Path, name: str
    ) -> None:
        with visit(browser, site / name, scripts=False) as seen:
            for summary in seen.page.locator("details.answering > summary").all():
                summary.click()
            assert seen.page.locator("details.answering:not([open])").count() == 0
            for place in seen.page.locator(f"[{MARK}]").all():
                assert not place.locator("form").is_visible()
                place.locator(".told > summary").click()
                told = place.locator(".told > p")
                assert told.is_visible()
                figure = given(place)
                assert told.inner_text() == f"{figure.right_in_words()} {figure.content['because']}"

    def test_nothing_is_lost_in_print_or_behind_a_link(
        self, browser: Browser, site: Path, name: str
    ) -> None:
        with visit(browser, site / name) as seen:
            inside = seen.page.locator("details.answering figure[id]")
            target = inside.first.get_attribute("id") if inside.count() else None
            seen.page.emulate_media(media="print")
            seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            for place in seen.page.locator(f"[{MARK}]").all():
                assert place.locator(".told > p").is_visible()
                assert not place.locator("form").is_visible()
            assert seen.page.locator("details.answering:not([open])").count() == 0
            seen.page.emulate_media(media="screen")
            seen.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
            assert seen.page.locator("details.answering[open]").count() == 0
        if target:
            with visit(browser, site / name, query=f"#{target}") as seen:
                assert seen.page.locator(f"[id='{target}']").is_visible()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_no_state_has_a_severe_violation(
        self, browser: Browser, site: Path, name: str, scheme: str
    ) -> None:
        with visit(browser, site / name, scheme=scheme) as seen:
            seen.page.evaluate(KEEP_ONLY, f"h1, [{MARK}], details.answering > summary")
            places = seen.page.locator(f"[{MARK}]").all()

            look_for_faults(seen.page, "before")
            for place in places:
                place.get_by_role("button").click()
            look_for_faults(seen.page, "asked again")
            for turn in (0, 1):
                for place in places:
                    commit(place.locator("form"), a_right_and_a_wrong_answer(given(place))[turn])
                look_for_faults(seen.page, "right" if turn == 0 else "wrong")
                for place in places:
                    place.get_by_role("button").click()


@pytest.mark.proof("pages")
@pytest.mark.parametrize(
    ("figure", "answer"),
    [
        (Choice(["a <b>", "c & d"], "c & d", "It is <so> & so."), "a <b>"),
        (Estimate(84.2, 5, "It is <so> & so.", unit="%", ask="How < many?"), "90 %"),
        (Sketch(range(5), [0, 0.2, 0.9, 0.5, 0.4], "So <it> is.", "x & y", "<z>"), [1, 3, 8, 2, 2]),
    ],
)
def test_in_a_live_notebook_it_works_without_the_page(
    browser: Browser, tmp_path: Path, figure: Prediction, answer: Any
) -> None:
    """The widget gets its markup from Python, and Python gets the answer."""
    with visit(browser, in_a_notebook(figure, tmp_path)) as seen:
        form = seen.page.locator("form")
        commit(form, answer)
        figure.answer, figure.committed = answer, True
        wanted = seen.page.evaluate(PARSE, [figure.markup()])[0]
        assert form.evaluate(DESCRIBE) == wanted
        assert seen.page.evaluate("[state.answer, state.committed]") == [answer, True]
    assert not seen.errors
