"""Interactive figures on the built pages show what attnlib computes, at every stop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from attnbook import figures
from attnbook.drawing.base import LiveFigure
from attnbook.figures import head
from tests.ext.pages import long_unless_shown
from tests.ext.serving import serving
from tests.ext.test_browser import (
    ALL_LAID_OUT,
    DESK,
    NEXT_FRAME,
    PHONE,
    SMALL_PHONE,
    Visit,
    visit,
)
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


def head_of(view: str, **first: int) -> type[LiveFigure]:
    """Return the figure of the head as a page shows it."""

    def start(self: LiveFigure, **state: Any) -> None:
        figures.Head.__init__(self, **{"view": view} | first | state)

    return type(figures.Head)(f"Head-{view}", (figures.Head,), {"__init__": start})


LANDING = head_of("weights", draw=227)
PAGES = {
    LANDING: "index.html",
    figures.Spread: "chapters/02_variance.html",
    head_of("sum", key=11): "chapters/02_variance.html",
    figures.DragScores: "chapters/03_saturation.html",
    figures.FreezingMap: "chapters/03_saturation.html",
    head_of("exponential"): "chapters/03_saturation.html",
    head_of("gradient", draw=41): "chapters/04_gradients.html",
    figures.JacobianFigure: "chapters/04_gradients.html",
    head_of("divisor"): "chapters/05_divisor.html",
    figures.SubtractOrDivide: "chapters/05_divisor.html",
    head_of("start"): "chapters/06_initialization.html",
    figures.OnlineSoftmax: "chapters/07_implementation.html",
    figures.TrainingPlayer: "chapters/08_training.html",
    head_of("temperature"): "chapters/09_temperature.html",
    figures.TrainedHead: "chapters/language_model.html",
    figures.HeadsField: "chapters/trained_models.html",
}
# Compare two described pictures: coordinates to a hundredth, all else to the letter.
SAME = r"""(ours, theirs) => {
  const COORDINATES = "d x y width height cx cy points transform".split(" ");
  const number = /-?\d+(?:\.\d+)?/g;
  const near = (one, other) => {
    if (one.replace(number, "") !== other.replace(number, "")) return false;
    const wanted = other.match(number) ?? [];
    return (one.match(number) ?? []).every(
      (text, place) => Math.abs(text - wanted[place]) <= 0.0101);
  };
  const alike = (name, one, other) =>
    one === other || (other !== undefined && COORDINATES.includes(name) && near(one, other));
  return ours.length === theirs.length && ours.every(([tag, attributes, text], place) => {
    const [otherTag, others, otherText] = theirs[place];
    const names = Object.keys(attributes);
    return tag === otherTag && text === otherText && names.length === Object.keys(others).length &&
      names.every((name) => alike(name, attributes[name], others[name]));
  });
}"""
DESCRIBE = """(root) =>
  [...root.querySelectorAll("svg, svg *, .figure-words, .value, .figure-axis")]
  .concat([...root.querySelectorAll(
    ".figure-keys *, .figure-names *, .figure-ticks *, .trained *, .switch span," +
    ".figure-upright span")],
    [...root.querySelectorAll(".one-head :not(input)")])
  .map((node) => [node.tagName.toLowerCase(),
    Object.fromEntries([...node.attributes].map(({ name, value }) => [name, value])),
    node.children.length ? "" : node.textContent])"""
SETTINGS = """(root) => [...root.querySelectorAll("input, select")].map((control) =>
  [control.value, control.checked ?? null, control.getAttribute("aria-valuetext")])"""
# Whether a figure shows what it does in a state that Python has written.
SHOWS = f"""(root, markup) => {{
  const wanted = document.createElement("div");
  wanted.innerHTML = markup;
  return ({SAME})(({DESCRIBE})(root), ({DESCRIBE})(wanted));
}}"""
# That, its settings too; and all that it shows, as text.
COMPARE = f"""(root, markup) => {{
  const wanted = document.createElement("div");
  wanted.innerHTML = markup;
  const [own, others] = [root, wanted].map({SETTINGS});
  const [shown, meant] = [root, wanted].map({DESCRIBE});
  const same = JSON.stringify(own) === JSON.stringify(others) && ({SAME})(shown, meant);
  return [same, JSON.stringify(shown)];
}}"""
# Each step is a list of [control, value]; a preset's control is its list, and no control is Reset.
WALK = """(root, [steps, given]) => {
  const form = root.querySelector("form");
  return steps.map((step, place) => {
    for (const [name, value] of step) {
      if (!name) {
        form.querySelector("button[type=reset]").click();
        continue;
      }
      const list = form.querySelector(".presets select");
      const input = name === "presets" ? list : form.elements[name];
      if (input.type === "checkbox") input.checked = value;
      else if (name !== "presets" && input.tagName === "SELECT") input.value = value;
      else if (name === "presets") input.selectedIndex = value;
      else input.value = JSON.parse(`[${input.dataset.stops}]`).indexOf(value);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    return (READ)(root, given?.[place]);
  });
}"""
RESET = ("", None)
# Of some figures the data come when they are near.
READY = """(figure) => {
  const root = document.querySelector(figure);
  const waits = root.querySelector("fieldset").disabled;
  if (waits) root.scrollIntoView();
  return !waits;
}"""
AS_TEXT = f"(root) => JSON.stringify(({DESCRIBE})(root))"
HEIGHT = "(root) => root.getBoundingClientRect().height"
# So many heights of a window are between its foot and the figure.
SCROLL = """(root, heights) =>
  scrollBy(0, root.getBoundingClientRect().top - (1 + heights) * innerHeight)"""
CONTROLS = """(form) => [...form.elements]
  .filter((input) => input.tagName === "INPUT" || (input.tagName === "SELECT" && input.name))
  .map((input) => [input.name, input.type === "checkbox" ? [false, true]
    : input.options ? [...input.options].map((option) => option.value)
    : JSON.parse(`[${input.dataset.stops}]`)])"""
PRESETS = """(form) => [...form.querySelectorAll(".presets option:enabled")]
  .map((option) => JSON.parse(option.value))"""


class Shown:
    def __init__(self, seen: Visit, kind: type[LiveFigure]) -> None:
        self.page, self.errors = seen.page, seen.errors
        figure = f'[data-figure="{kind.module}"]'
        wait_until(seen.page, READY, figure)
        self.place = seen.page.locator(figure).first
        self.form = self.place.locator("form")
        self.controls: dict[str, list[Any]] = dict(self.form.evaluate(CONTROLS))
        self.presets: list[dict[str, Any]] = self.form.evaluate(PRESETS)
        self.first = self.described()

    def walk(
        self, steps: list[list[tuple[str, Any]]], read: str, given: list[str] | None = None
    ) -> list[Any]:
        """Return what is read after each of some steps, of each with something that is given."""
        return self.place.evaluate(WALK.replace("READ", read), [steps, given])

    def described(self) -> str:
        return self.place.evaluate(AS_TEXT)

    def shows(self, figure: LiveFigure) -> bool:
        """Say whether the figure is as Python writes it."""
        return self.place.evaluate(SHOWS, figure.markup())


def markups(kind: type[LiveFigure], states: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what Python writes for some states; one figure takes them all, which is quicker."""
    figure = kind()
    for state in states:
        for name, value in state.items():
            setattr(figure, name, value)
        yield figure.markup()


@pytest.fixture(scope="module")
def open_page(browser: Browser, site: Path) -> Iterator[Callable[[str], Visit]]:
    """Return what opens a page, which stays open until another one is asked for."""
    opened: dict[str, Visit] = {}
    with ExitStack() as last:

        def open_next(name: str) -> Visit:
            if name not in opened:
                opened.clear()
                last.close()
                opened[name] = last.enter_context(visit(browser, site / name))
            return opened[name]

        yield open_next


@pytest.fixture(scope="class")
def shown(open_page: Callable[[str], Visit], kind: type[LiveFigure]) -> Shown:
    """Return a figure for all that is tried on it."""
    return Shown(open_page(PAGES[kind]), kind)


@pytest.fixture
def fresh(shown: Shown) -> Iterator[Shown]:
    """Return the figure as it was when the page came, and look for errors afterwards."""
    if shown.page.viewport_size["width"] != DESK:
        shown.page.set_viewport_size({"width": DESK, "height": 900})
    shown.walk([[RESET]], "() => null")
    assert shown.described() == shown.first
    yield shown
    assert not shown.errors, "\n".join(shown.errors)


@pytest.mark.parametrize("kind", PAGES, ids=lambda kind: kind.__name__, scope="class")
class TestEveryFigure:
    def test_it_shows_what_attnlib_computes_at_every_stop(
        self, fresh: Shown, kind: type[LiveFigure]
    ) -> None:
        start = kind().values()
        steps: list[list[tuple[str, Any]]] = [[]]
        states = [start]
        for name, stops in fresh.controls.items():
            steps += [[RESET], *([(name, value)] for value in stops)]
            states += [start, *(start | {name: value} for value in stops)]
        steps += [[RESET, ("presets", place)] for place in range(len(fresh.presets))]
        states += [start | preset for preset in fresh.presets]
        rng = np.random.default_rng(5)
        for _ in range(30):
            chosen = {
                name: stops[rng.integers(len(stops))] for name, stops in fresh.controls.items()
            }
            step = [RESET, *chosen.items()]
            if fresh.presets and rng.random() < 0.5:
                place = int(rng.integers(len(fresh.presets)))
                step.append(("presets", place))
                chosen |= fresh.presets[place]
            steps.append(step)
            states.append(start | chosen)
        walked = fresh.walk(steps, COMPARE, list(markups(kind, states)))
        same, pictures = zip(*walked, strict=True)
        assert [state for state, right in zip(states, same, strict=True) if not right] == []
        # each stop and each preset changes the picture
        place = 1
        for name, stops in fresh.controls.items():
            along = pictures[place + 1 : place + 1 + len(stops)]
            assert all(one != other for one, other in itertools.pairwise(along)), name
            place += 1 + len(stops)
        assert len({*pictures[place : place + len(fresh.presets)]}) == len(fresh.presets)

    def test_each_button_changes_it_and_reset_takes_it_back(self, fresh: Shown) -> None:
        for button in fresh.form.locator("button[name]").all():
            before = fresh.described()
            button.click()
            assert fresh.described() != before
        fresh.form.locator("button[type=reset]").click()
        assert fresh.described() == fresh.first

    @pytest.mark.proof("pages")
    def test_it_suits_a_finger_and_what_is_below_stays_where_it_is(
        self, fresh: Shown, kind: type[LiveFigure]
    ) -> None:
        steps = [[(name, value)] for name, stops in fresh.controls.items() for value in stops]
        steps += [[("presets", place)] for place in range(len(fresh.presets))]
        targets = fresh.form.locator("input[type=range], label.switch, button, select")
        for width in (SMALL_PHONE, PHONE, DESK):
            fresh.page.set_viewport_size({"width": width, "height": 900})
            sizes = targets.evaluate_all(f"(all) => all.map({HEIGHT})")
            assert width == DESK or min(sizes) >= 44  # WCAG 2.5.5
            heights = fresh.walk(steps, HEIGHT)
            assert max(heights) - min(heights) < 0.5, (kind, width, heights)

    @pytest.mark.proof("pages")
    def test_it_answers_to_keys(self, fresh: Shown, kind: type[LiveFigure]) -> None:
        for slider in fresh.form.locator("input[type=range]").all():
            before = fresh.described()
            slider.focus()
            at_the_left = slider.input_value() == "0"
            fresh.page.keyboard.press("ArrowRight" if at_the_left else "ArrowLeft")
            assert fresh.described() != before, kind
            assert slider.get_attribute("aria-valuetext")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=long_unless_shown(PAGES[kind])) for kind in PAGES],
    ids=lambda kind: kind.__name__,
)
def test_without_scripts_the_first_picture_is_shown_and_no_dead_control(
    without_scripts: Callable[[str], dict[str, Any]], kind: type[LiveFigure]
) -> None:
    figure = without_scripts(PAGES[kind])["figures"][kind.module]
    assert figure["pictures"]
    assert all(figure["pictures"])
    assert figure["words"] == [True]
    assert figure["forms"] == [False]


class TestDataThatComeLate:
    kind = figures.TrainedHead
    figure = f'[data-figure="{kind.module}"]'

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("from_disk", [True, False])
    def test_they_are_asked_for_once_and_when_the_figure_is_near(
        self, browser: Browser, site: Path, *, from_disk: bool
    ) -> None:
        def scroll(heights: float) -> None:
            place.evaluate(SCROLL, heights)
            seen.page.evaluate(NEXT_FRAME)

        def asked() -> int:
            return sum("/_static/late-" in url for url in seen.asked)

        name = PAGES[self.kind]
        with serving(site) as address:
            start = site / name if from_disk else f"{address}/{name}"
            with visit(browser, start) as seen:
                seen.page.add_style_tag(content=ALL_LAID_OUT)
                place = seen.page.locator(self.figure)
                first = place.evaluate(AS_TEXT)
                scroll(1.1)
                assert place.locator("select").first.is_disabled()
                assert asked() == 0
                scroll(0.9)
                place.locator("select:enabled").first.wait_for()
                shown = Shown(seen, self.kind)
                assert shown.first == first
                changes = {"head": "layer 2, head 1", "switched": True}
                markup = self.kind(**changes).markup()
                assert shown.walk([list(changes.items())], SHOWS, [markup]) == [True]
                for heights in (3, 0):
                    scroll(heights)
                assert asked() == 1
        assert seen.foreign == seen.errors == []

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("answer", ["none", "not found", "another page"])
    def test_if_they_do_not_come_the_figure_says_so_and_stays(
        self, browser: Browser, site: Path, answer: str
    ) -> None:
        def reply(route: Route) -> None:
            if answer == "none":
                route.abort()
            else:
                status = 404 if answer == "not found" else 200
                route.fulfill(status=status, content_type="text/html", body="<p>Not here</p>")

        with serving(site) as address, visit(browser, f"{address}/{PAGES[self.kind]}") as seen:
            seen.page.route("**/_static/late-*", reply)
            place = seen.page.locator(self.figure)
            words = place.locator(".figure-words")
            first, said = place.evaluate(AS_TEXT), words.text_content()
            place.scroll_into_view_if_needed()
            words.filter(has_text="could not be loaded").wait_for()
            added = words.text_content().removeprefix(said)
            assert added == " The data of this figure could not be loaded, so it stays as it is."
            assert place.locator("select").first.is_disabled()
            words.evaluate("(words, said) => (words.textContent = said)", said)
            assert place.evaluate(AS_TEXT) == first


@pytest.mark.proof("pages")
def test_a_tap_on_the_map_sets_two_sliders_and_a_swipe_scrolls(
    browser: Browser, site: Path
) -> None:
    kind = figures.FreezingMap
    context = browser.new_context(viewport={"width": PHONE, "height": 700}, has_touch=True)
    try:
        page = context.new_page()
        page.goto((site / PAGES[kind]).as_uri())
        shown = Shown(Visit(page), kind)
        picture = shown.place.locator("[data-tap]")
        names = picture.get_attribute("data-tap").split()
        columns, rows = (shown.controls[name] for name in names)
        for share, height in [(0.01, 0.01), (0.55, 0.3), (0.72, 0.99), (0.99, 0.6)]:
            picture.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
            box = picture.bounding_box()
            x, y = box["x"] + share * box["width"], box["y"] + (1 - height) * box["height"]
            page.touchscreen.tap(x, y)
            wanted = {names[0]: columns[int(share * len(columns))]}
            wanted[names[1]] = rows[int(height * len(rows))]
            assert shown.shows(kind(**wanted)), wanted
        before, top = shown.described(), page.evaluate("scrollY")
        finger = context.new_cdp_session(page)
        for kind_of_event, moved in [("Start", 0), *(("Move", 10 * n) for n in range(1, 16))]:
            touch = {"type": f"touch{kind_of_event}", "touchPoints": [{"x": x, "y": y - moved}]}
            finger.send("Input.dispatchTouchEvent", touch)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        wait_until(page, f"scrollY > {top + 50}")
        assert shown.described() == before
    finally:
        context.close()


@pytest.mark.proof("pages")
def test_a_score_can_be_pulled_by_mouse_finger_and_keys_and_a_swipe_scrolls(
    browser: Browser, site: Path
) -> None:
    kind = LANDING

    def look_like(pulled: dict[str, float]) -> bool:
        return shown.shows(kind(pulled=pulled))

    context = browser.new_context(viewport={"width": PHONE, "height": 700}, has_touch=True)
    try:
        page = context.new_page()
        page.goto((site / PAGES[kind]).as_uri())
        shown = Shown(Visit(page), kind)
        plot = shown.place.locator(".scores .stage-plot")

        def at(key: int, score: float) -> tuple[float, float]:
            box = plot.locator("svg").bounding_box()
            across, down = (key - 0.5) / 16, (head.LIMIT - score) / (2 * head.LIMIT)
            return box["x"] + across * box["width"], box["y"] + down * box["height"]

        def see_it() -> float:
            plot.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
            return page.evaluate("scrollY")

        # a mouse takes a score to where it is pressed, in its column
        see_it()
        page.mouse.move(*at(3, 10))
        page.mouse.down()
        assert look_like({"3": 10})
        page.mouse.move(*at(3, 30))
        page.mouse.move(*at(5, 90))  # beyond the plot, and in another column
        page.mouse.up()
        page.mouse.move(*at(5, 0))
        assert look_like({"3": head.LIMIT})
        # arrows move the slider of the same key, by half a point
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        assert look_like({"3": head.LIMIT - 1.5})
        shown.form.locator("button[type=reset]").click()
        assert shown.described() == shown.first
        # a finger takes the tip of a bar; elsewhere it scrolls
        finger = context.new_cdp_session(page)

        def drag(key: int, start: float, end: float) -> None:
            way = [at(key, start + n / 8 * (end - start)) for n in range(9)]
            for event, (x, y) in zip(["Start"] + 8 * ["Move"], way, strict=True):
                touch = {"type": f"touch{event}", "touchPoints": [{"x": x, "y": y}]}
                finger.send("Input.dispatchTouchEvent", touch)
            finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        score, top = kind().scores[9], see_it()
        drag(10, score, score + 20)
        pulled = round(float(score) + 20, 1)
        assert any(look_like({"10": round(pulled + off / 10, 1)}) for off in range(-4, 5))
        assert page.evaluate("scrollY") == top
        shown.form.get_by_text("Another draw").click()
        assert shown.shows(kind(draw=228))
        shown.form.locator("button[type=reset]").click()
        top = see_it()
        drag(10, -35, 5)
        wait_until(page, f"scrollY > {top + 30}")
        assert shown.described() == shown.first
    finally:
        context.close()


@pytest.mark.proof("pages")
def test_sums_are_never_divided(browser: Browser, site: Path) -> None:
    """No control of that view sets it, but a notebook can."""
    kind, start = figures.Head, {"view": "sum", "key": 11}
    with visit(browser, site / "chapters/02_variance.html") as seen:
        shown = Shown(seen, kind)
        shown.place.evaluate("(root) => root.model.set('divided', true)")
        assert shown.shows(kind(**start, divided=True))
        assert shown.described() == shown.first


OVERLAPS = """(root) => {
  const [texts, letters] = [[], document.createTreeWalker(root, NodeFilter.SHOW_TEXT)];
  while (letters.nextNode()) {
    const range = new Range();
    range.selectNodeContents(letters.currentNode);
    if (letters.currentNode.parentNode.closest(".figure-upright, .figure-ticks")) {
      texts.push(range.getBoundingClientRect());
    }
  }
  const parts = [...root.querySelectorAll("path")].map((path) => path.getBoundingClientRect());
  return texts.filter((a, place) => [...texts.slice(place + 1), ...parts].some((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
}"""


@pytest.mark.proof("pages")
def test_names_in_the_online_softmax_touch_nothing(browser: Browser, site: Path) -> None:
    kind = figures.OnlineSoftmax
    with visit(browser, site / PAGES[kind]) as seen:
        shown = Shown(seen, kind)
        rows, stops = range(len(shown.presets)), shown.controls["keys_read"]
        steps = [[("presets", row), ("keys_read", stop)] for row in rows for stop in stops]
        for width in (SMALL_PHONE, PHONE, 736):
            seen.page.set_viewport_size({"width": width, "height": 900})
            overlaps = shown.walk(steps, OVERLAPS)
            assert not any(overlaps), (width, overlaps)


@pytest.mark.proof("pages")
def test_play_steps_through_training_until_the_end_or_a_press(browser: Browser, site: Path) -> None:
    kind = figures.TrainingPlayer
    page = browser.new_page()
    try:
        page.clock.install(time=0)
        page.goto((site / PAGES[kind]).as_uri())
        page.clock.pause_at(1000)  # else it goes on by itself, and a busy machine takes more steps
        shown = Shown(Visit(page), kind)
        button, slider = (shown.form.locator(f"[name={name}]") for name in ("play", "step"))
        steps = shown.controls["step"]
        button.click()
        assert button.inner_text() == "Stop"
        page.clock.run_for(900)  # two pauses between steps, of which zero is the first
        assert slider.input_value() == "2"
        button.click()
        page.clock.run_for(5000)
        assert slider.input_value() == "2"
        button.click()
        page.clock.run_for(10_000)
        assert slider.input_value() == str(len(steps) - 1)
        assert button.inner_text() == "Play"
        assert shown.shows(kind(step=steps[-1]))
    finally:
        page.close()


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(
    ("ours", "theirs", "alike"),
    [
        (["path", {"d": "M1 2"}, ""], ["path", {"d": "M1 2.01"}, ""], True),
        (["path", {"d": "M1 2"}, ""], ["path", {"d": "M1 2.02"}, ""], False),
        (["path", {"d": "M1 2"}, ""], ["path", {"d": "M1 2 3"}, ""], False),
        (["path", {"d": "M1 2"}, ""], ["path", {"x": "M1 2"}, ""], False),
        (["path", {"d": "M1 2"}, ""], ["path", {"d": "M1 2", "x": "1"}, ""], False),
        (["path", {}, ""], ["g", {}, ""], False),
        (["path", {"class": "a"}, ""], ["path", {"class": "b"}, ""], False),
        (["p", {}, "0.43"], ["p", {}, "0.44"], False),
    ],
)
def test_pictures_are_compared(
    blank: Page, ours: list[Any], theirs: list[Any], alike: bool
) -> None:
    both = "([ours, theirs]) => (SAME)(ours, theirs)".replace("SAME", SAME)
    assert blank.evaluate(both, [[ours], [theirs]]) is alike
    assert not blank.evaluate(both, [[ours], [theirs, theirs]])
