"""The fields of the exercises say on a page, word for word, what the check says in a notebook."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from _ext.live_figures import page_script
from _ext.theme import STATIC
from attnbook.drawing.base import (
    ONE_NUMBER,
    own_source,
    read_number,
    shared_source,
    style_source,
)
from attnbook.exercises import check
from attnbook.exercises._exercise import exercises
from attnbook.exercises._judges import Number, Pick
from attnbook.figures import Ask
from attnbook.figures.ask import NAMES, SIGNS
from tests.attnbook.cases import all_cases
from tests.book.notebooks import NOTEBOOKS, ROOT
from tests.ext.forms import in_a_notebook, look_for_faults
from tests.ext.test_browser import SMALL_PHONE, Visit, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

CASES = all_cases()
ASKED = [
    name
    for name, exercise in exercises().items()
    if any(isinstance(judge, Number | Pick) for judge in exercise.parts.values())
]
# one with numbers alone, one with a list, one with a part that no page judges
SOME = [
    "spread",
    next(name for name in ASKED if "<select" in Ask(name).markup()),
    next(name for name in ASKED[::-1] if len(Ask(name).answers) < len(exercises()[name].parts)),
]
MIXED = {"plain": "22,6", "root": "one", "full": ""}
RIGHT = {"plain": "22.6", "root": "1", "full": "0.0442"}
PAGE = """<!DOCTYPE html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<title>T</title><meta name="viewport" content="width=device-width"><style>{styles}
html[data-theme=dark] {{ background: #121212; color: #ced6dd; --pst-color-text-muted: #9ca4af }}
</style></head><body><main class="bd-article"><h1>T</h1>{body}</main>{script}</body></html>"""
LISTEN = """globalThis.judged = [];
document.addEventListener("judged", ({ detail }) => judged.push(detail));"""
UNCLEAR = ["half", "65,536", "1/0", "√2/2", "√-1", "1e999"]
# Write each text into a field as a reader would, press the button, and read what is said.
ANSWER = """(form, [name, texts]) => {
  const field = form.querySelector(`[name="${name}"]`);
  const part = field.closest(".part");
  const [sign, said] = [".sign", ".said"].map((what) => part.querySelector(what));
  const seen = {}; // of a sign by its look, since to see it takes a layout of the page
  return texts.map((text) => {
    said.textContent = ""; // else the form keeps its height, which takes one as well
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    form.querySelector("button").click();
    const look = [part.className, sign.className, sign.textContent].join();
    return [sign.getAttribute("aria-label"), (seen[look] ??= sign.innerText), said.textContent];
  });
}"""
# Answer all parts and press the button, and return what the page was told.
JUDGED = """(form, answers) => {
  judged.length = 0;
  for (const [name, text] of Object.entries(answers)) {
    const field = form.querySelector(`[name="${name}"]`);
    field.closest(".part").querySelector(".said").textContent = "";
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  form.querySelector("button").click();
  return judged;
}"""
# All that a reader can tell apart in a form, and what it is called to who cannot see it.
DESCRIBE = """(form) => [...form.querySelectorAll("*")].map((node) => [
  node.tagName, node.className, node.getAttribute("role"), node.getAttribute("aria-label"),
  node.getAttribute("aria-invalid"), node.value ?? null,
  node.children.length ? "" : node.textContent])"""
PARSE = f"""(markup) => {{
  const root = document.createElement("div");
  root.innerHTML = markup;
  return ({DESCRIBE})(root.querySelector("form"));
}}"""


@contextmanager
def asking(
    browser: Browser, folder: Path, *figures: Ask, scheme: str = "light", **options: Any
) -> Iterator[Visit]:
    """Open a page with the fields of some exercises and the book's own style."""
    body = "".join(figure._repr_mimebundle_()[0]["text/html"] for figure in figures)
    styles = (STATIC / "book.css").read_text("utf-8") + style_source("ask")
    path = folder / "page.html"
    script = f"<script>{LISTEN}</script>{page_script(['ask'])}"
    path.write_text(PAGE.format(theme=scheme, styles=styles, body=body, script=script), "utf-8")
    with visit(browser, path, **options) as seen:
        yield seen
    assert not seen.errors, "\n".join(seen.errors)
    assert not seen.foreign


def fill(form: Locator, answers: dict[str, str]) -> None:
    """Answer with the controls and press the button."""
    for name, text in answers.items():
        field = form.locator(f'[name="{name}"]')
        if field.evaluate("(node) => node.tagName") == "SELECT":
            field.select_option(text)
        else:
            field.fill(text)
    form.get_by_role("button").click()


def right_answers(name: str) -> dict[str, str]:
    """Return the right texts for all fields of an exercise."""
    parts = exercises()[name].parts
    return {
        part: parts[part].right if isinstance(parts[part], Pick) else repr(float(parts[part].right))
        for part in Ask(name).answers
    }


def numbers(judge: Number, answers: list[Any]) -> list[float]:
    """Return numbers of all sorts for a part: those of the cases, the ends of each room, others."""
    found = []
    for answer in answers:
        try:
            found.append(float(answer))
        except (TypeError, ValueError):
            continue
    for value in (judge.right, *(mistake for mistake, _ in judge.mistakes)):
        for end in (value - judge.room(value), value + judge.room(value)):
            found += [end, math.nextafter(end, -math.inf), math.nextafter(end, math.inf)]
    found += [judge.right * factor for factor in (1, -1, 0.02, 0.5, 0.999, 1.004, 1.1, 9, 11, 1e9)]
    found += [judge.right + shift for shift in (1, -1, 5 * judge.room(judge.right))]
    found += [0.0, 1.0, 1234565, 12345.5, 0.00001234565, 999999.5, 1e15, 1e-5, 2.0**-20, 1e300]
    return [float(value) for value in found if math.isfinite(value)]


def message(name: str, part: str, answer: float | str) -> list[str]:
    """Return what sign and words the check gives."""
    said = check(name, **{part: answer}).parts[part]
    outcome = "right" if said.passed else "wrong"
    return [NAMES[outcome], SIGNS[outcome], said.message]


@pytest.fixture(scope="module")
def every_exercise(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Locator]]:
    """Open a page with the fields of all exercises; return the form of each."""
    figures = [Ask(name) for name in ASKED]
    with asking(browser, tmp_path_factory.mktemp("ask"), *figures) as seen:
        yield dict(zip(ASKED, seen.page.locator("form").all(), strict=True))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in SOME else [pytest.mark.proof("pages")])
        for name in ASKED
    ],
)
class TestEveryExercise:
    def test_each_answer_gets_the_words_of_the_check(
        self, every_exercise: dict[str, Locator], name: str
    ) -> None:
        form = every_exercise[name]
        for part in Ask(name).answers:
            judge = exercises()[name].parts[part]
            values: list[Any] = list(judge.options) if isinstance(judge, Pick) else []
            if isinstance(judge, Number):
                known = [answer for answer, _ in CASES[name].parts[part].wrong]
                values = numbers(judge, [*CASES[name].parts[part].right, *known])
            texts = [value if isinstance(value, str) else repr(value) for value in values]
            shown = form.evaluate(ANSWER, [part, texts])
            for value, ours in zip(values, shown, strict=True):
                assert ours == message(name, part, value), value
            [said] = form.evaluate(ANSWER, [part, [""]])
            assert said == [NAMES["open"], SIGNS["open"], check(name).parts[part].message]
            if isinstance(judge, Number):
                for said in form.evaluate(ANSWER, [part, UNCLEAR]):
                    assert said == [NAMES["wrong"], SIGNS["wrong"], ONE_NUMBER]

    def test_only_what_is_right_in_every_part_has_passed(
        self, every_exercise: dict[str, Locator], name: str
    ) -> None:
        form = every_exercise[name]
        answers = right_answers(name)
        whole = bool(Ask(name, answers=answers).verdict)
        assert whole == (len(answers) == len(exercises()[name].parts))
        first, *others = answers
        blank = dict.fromkeys(answers, "")
        for given, judged in (
            (blank, []),  # who answers nothing has tried nothing
            (blank | {first: answers[first]}, [{"exercise": name, "passed": whole and not others}]),
            (answers, [{"exercise": name, "passed": whole}]),
        ):
            assert form.evaluate(JUDGED, given) == judged
        assert form.locator(".part.right").count() == len(answers)


def test_numbers_are_written_as_python_writes_them(browser: Browser, tmp_path: Path) -> None:
    drawn = random.Random(11)  # noqa: S311
    values = [drawn.uniform(-1, 1) * 10 ** drawn.randint(-9, 9) for _ in range(500)]
    # halves of the last digit, which go to the even one, and what is rounded to one digit more
    values += [sign * (n + 0.5) / 4 for n in range(0, 40_000, 997) for sign in (1, -1)]
    values += [n + 0.5 for n in range(100_000, 100_012)] + [2.0**-k for k in range(1, 40)]
    values += [0.0, 99999.95, 999999.5, 9999995.0, 0.00009999995, 1e5, 1e6, 1e22, 5e-324, 1.7e308]
    source = shared_source() + own_source("ask").replace("export default", "const figure =")
    path = tmp_path / "page.html"
    path.write_text(
        f"<meta charset=utf-8><script type=module>{source}\nglobalThis.general = general;</script>",
        "utf-8",
    )
    with visit(browser, path) as seen:
        for digits in (4, 5, 6, 9):
            shown = seen.page.evaluate(
                "([values, digits]) => values.map((value) => general(value, digits))",
                [values, digits],
            )
            assert shown == [f"{value:.{digits}g}" for value in values]


def test_numbers_are_read_as_python_reads_them(browser: Browser, tmp_path: Path) -> None:
    drawn = random.Random(20)  # noqa: S311
    pieces = ["√", "√(", "sqrt(", "Sqrt(", *")/^%*·+−-, ."]
    pieces += ["0", "2", "8", "16", "0.3", "1e3", "1e999", "65,536", "-1"]
    texts = ["".join(drawn.choices(pieces, k=drawn.randint(1, 6))) for _ in range(20_000)]
    texts += [
        f"{sign}{factor}{root}{below}{percent}"
        for sign in ("", "-", "+")
        for factor in ("", "8", "0,5*", "2^3", "3/4", "65,536", "1e999", "*")
        for root in ("", "√3", "√(3)", "sqrt(3)", "√(3/7)", "√(1/0)", "√(0/0)", "√-3", "√1e999")
        for below in ("", "/7", "/0", "/-7", "/√7", "/√0", "/sqrt(1/0)", "/2√7", "/1e999")
        for percent in ("", "%")
    ]
    wanted = [read_number(text) for text in texts]
    assert (
        sum(value is not None and "√" in text for value, text in zip(wanted, texts, strict=True))
        > 100
    )
    path = tmp_path / "page.html"
    path.write_text(
        f"<meta charset=utf-8><script type=module>{shared_source()}\n"
        "globalThis.readNumber = readNumber;</script>",
        "utf-8",
    )
    with visit(browser, path) as seen:
        shown = seen.page.evaluate("(texts) => texts.map(readNumber)", texts)
    assert dict(zip(texts, shown, strict=True)) == dict(zip(texts, wanted, strict=True))


@pytest.mark.proof("pages")
def test_a_root_is_right_where_its_decimals_are(browser: Browser, tmp_path: Path) -> None:
    answers = {"plain": "sqrt(512)", "root": "√(16)/4", "full": "1/√512"}
    assert Ask("spread", answers=answers).verdict
    with asking(browser, tmp_path, Ask("spread")) as seen:
        fill(seen.page.locator("form"), answers)
        assert seen.page.locator(".part.right").count() == 3


class TestThePage:
    def test_it_shows_what_python_shows(self, browser: Browser, tmp_path: Path) -> None:
        figure = Ask("spread")
        with asking(browser, tmp_path, figure) as seen:
            form = seen.page.locator("form")
            assert form.evaluate(DESCRIBE) == seen.page.evaluate(PARSE, figure.markup())
            for answers in (MIXED, RIGHT):
                fill(form, answers)
                figure.answers = figure.checked = answers
                assert form.evaluate(DESCRIBE) == seen.page.evaluate(PARSE, figure.markup())

    @pytest.mark.proof("pages")
    def test_what_is_said_goes_as_soon_as_the_answer_changes_and_nothing_moves(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        with asking(browser, tmp_path, Ask("spread"), width=SMALL_PHONE) as seen:
            form = seen.page.locator("form")
            fill(form, MIXED)
            height = form.bounding_box()["height"]
            field = form.get_by_label("The standard deviation of q·k/√dₖ")
            said = seen.page.locator(f'[id="{field.get_attribute("aria-describedby")}"]')
            assert ONE_NUMBER in said.inner_text()
            field.press_sequentially("2")
            assert said.inner_text().strip() == ""
            assert form.locator(".part.right, .part.open").count() == 2
            assert form.bounding_box()["height"] == height
            form.get_by_role("button").click()
            assert ONE_NUMBER in said.inner_text()
            assert form.bounding_box()["height"] == height

    @pytest.mark.proof("pages")
    def test_keys_alone_will_do(self, browser: Browser, tmp_path: Path) -> None:
        with asking(browser, tmp_path, Ask("spread")) as seen:
            keys = seen.page.keyboard
            for text in ("22.6", "1", "0.0442"):
                keys.press("Tab")
                keys.type(text)
            keys.press("Enter")
            assert seen.page.locator(".part.right").count() == 3
            keys.press("Tab")
            assert seen.page.get_by_role("button").evaluate("(b) => b === document.activeElement")
            keys.press("Enter")
            assert [judged["passed"] for judged in seen.page.evaluate("judged")] == [True, True]

    @pytest.mark.proof("pages")
    def test_two_exercises_do_not_mix(self, browser: Browser, tmp_path: Path) -> None:
        with asking(browser, tmp_path, Ask("spread"), Ask(ASKED[0])) as seen:
            fill(seen.page.locator("form").first, RIGHT)
            assert seen.page.locator("form").nth(1).locator(".said:not(:empty)").count() == 0

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_no_state_has_a_severe_violation_or_a_small_target(
        self, browser: Browser, tmp_path: Path, scheme: str
    ) -> None:
        shown = [Ask(name) for name in SOME]
        with asking(browser, tmp_path, *shown, scheme=scheme) as seen:
            forms = seen.page.locator("form").all()

            look_for_faults(seen.page, "before")
            for target in seen.page.locator("form :is(input, select, button)").all():
                box = target.bounding_box()
                assert min(box["width"], box["height"]) >= 24  # WCAG 2.2, target size
            for form in forms:
                form.get_by_role("button").click()
            look_for_faults(seen.page, "open")
            for form, name in zip(forms, SOME, strict=True):
                fill(form, right_answers(name))
            look_for_faults(seen.page, "right")
            for form in forms:
                for field in form.locator("input").all():
                    field.fill("12345678")
                form.get_by_role("button").click()
            look_for_faults(seen.page, "wrong")

    @pytest.mark.proof("pages")
    def test_without_scripts_the_form_is_shown_and_says_that_it_cannot_judge(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        with asking(browser, tmp_path, Ask("spread"), scripts=False) as seen:
            assert seen.page.locator("input").first.is_visible()
            assert seen.page.get_by_text("needs scripts").is_visible()
            assert not seen.page.locator("button").is_visible()
        with asking(browser, tmp_path, Ask("spread")) as seen:
            assert not seen.page.get_by_text("needs scripts").is_visible()


@pytest.mark.proof("pages")
def test_in_a_live_notebook_python_gets_the_answers(browser: Browser, tmp_path: Path) -> None:
    figure = Ask("spread")
    with visit(browser, in_a_notebook(figure, tmp_path)) as seen:
        fill(seen.page.locator("form"), MIXED)
        assert seen.page.evaluate("[state.answers, state.checked]") == [MIXED, MIXED]
        figure.answers = figure.checked = MIXED
        shown = seen.page.locator("form").evaluate(DESCRIBE)
        assert shown == seen.page.evaluate(PARSE, figure.markup())
    assert not seen.errors


def test_the_site_asks_where_the_chapters_do(site: Path) -> None:
    mark = '<div class="live-figure" data-figure="ask"'
    asking_pages = [
        name.replace(".ipynb", ".html")
        for name in NOTEBOOKS
        if 'data-figure=\\"ask\\"' in (ROOT / name).read_text("utf-8")
    ]
    found = [path for path in site.rglob("*.html") if mark in path.read_text("utf-8")]
    assert sorted(path.relative_to(site).as_posix() for path in found) == sorted(asking_pages)
    asked = sum(path.read_text("utf-8").count(mark) for path in found)
    assert asked == len(ASKED)
