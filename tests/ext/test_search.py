"""The search of every page: what it finds, by which keys, on which screens, and what it weighs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.book.notebooks import ROOT
from tests.ext import pages
from tests.ext.serving import serving
from tests.ext.test_browser import DESK, KEEP_ONLY, PHONE, violations, visit
from tests.ext.watching import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHAPTER = "chapters/02_variance.html"
INDEX = "searchindex.js"
HEAVIEST = 150_000
# What readers type, and where one of the first three results should lead: the beginning of an
# address, without "chapters/".
QUERIES = {
    "softmax": "glossary.html#term-softmax reference/softmax.html#attnlib.softmax",
    "layer norm": "glossary.html#term-layer-normalization",
    "square root of d_k": "05_divisor.html glossary.html#term-divisor",
    "sqrt": "05_divisor.html 01_puzzle.html#which-d models.html 10_misconceptions.html#sqrt",
    "√d": "05_divisor.html 01_puzzle.html#which-d models.html 10_misconceptions.html#sqrt",
    "kl divergence": "glossary.html#term-entropy",
    "variance of the score": "02_variance.html",
    "temperature": "09_temperature.html glossary.html#term-temperature",
    "dk": "05_divisor.html glossary.html#term-head-width notation.html index.html",
    "why divide by sqrt(d_k)": "05_divisor.html index.html 10_misconceptions.html",
    "vanishing gradients": "04_gradients.html 10_misconceptions.html#without-the-division",
    "softmx": "glossary.html#term-softmax reference/softmax.html#attnlib.softmax",
    "entrpy": "glossary.html#term-entropy",
    "jacobian": "glossary.html#term-Jacobian 04_gradients.html#differentiate",
    "derivative of softmax": "04_gradients.html#differentiate glossary.html#term-Jacobian",
    "overflow": "glossary.html#term-overflow 01_puzzle.html#rule-out-overflow",
    "causal mask": "glossary.html#term-causal-mask reference/attention.html#attnlib.causal_mask",
    "flash attention": "glossary.html#term-blockwise 07_implementation.html#see-what-blockwise",
    "online softmax": "glossary.html#term-online-softmax 07_implementation.html#prove-the-online",
    "xavier": "glossary.html#term-Xavier-s-rule",
    "glorot init": "glossary.html#term-Xavier 06_initialization.html reference/initialization.html",
    "learning rate": "glossary.html#term-learning-rate",
    "mup": "glossary.html#term-maximal-update glossary.html#term-P 05_divisor.html#widen-a-network",
    "softcap": "glossary.html#term-soft-cap 09_temperature.html#cap-the-logits",
    "qk norm": "glossary.html#term-query glossary.html#term-q-k-norm 09_temperature.html#compare",
    "scaled dot product attention": "reference/attention.html#attnlib.scaled_dot_product_attention",
    "log_softmax": "reference/softmax.html#attnlib.log_softmax",
    "kurtosis": "glossary.html#term-excess-kurtosis 11_exercises.html#prove-the-excess-kurtosis",
    "central limit theorem": "10_misconceptions.html#by-the-central-limit-theorem",
    "expected value": "glossary.html#term-expectation",
    "exercise ablation": "11_exercises.html#run-an-ablation-you-can-trust",
    "adam optimizer": "glossary.html#term-Adam 08_training.html#take-two-steps-of-adam",
    "cite": "about.html",
    "install": "run.html",
    "homework grading": "grading.html",
    "bf16": "glossary.html#term-float16 glossary.html#term-bfloat16 04_gradients.html",
    "llama": "models.html 06_initialization.html",
    "critical scale": "critical_scale.html",
    "dot product grows with dimension": "10_misconceptions.html#the-dot 02_variance.html",
    "saturat": "glossary.html#term-saturation 03_saturation.html",
}
# What has to be the very first, as the beginning of an address or of one of several.
FIRST = {
    "exercise 2.3": "02_variance.html#let-correlations-fade",
    "2.3": "02_variance.html#let-correlations-fade",
    "exercise 11.4": "11_exercises.html#turn-the-temperature",
    "exercise 3": "03_saturation.html",
    "gradeint": "glossary.html#term-gradient",
    "initialise": "glossary.html#term-initializer",
    "optimisation": "reference/training.html#attnbook.training.OptimizerState",
    "relu": "02_variance.html#rectify-both-vectors",
    "RoPE": "glossary.html#term-rotary-codes",
    "quiz": "grading.html",
    "Gaussian": "glossary.html#term-standard-normal",
    "CLT": "10_misconceptions.html#by-the-central-limit-theorem",
    "logsumexp": "07_implementation.html#prove-the-online-softmax",
    "∂": "glossary.html#term-Jacobian",
    "kv": "0",
    "what is d": "10_misconceptions.html#the-d-under 01_puzzle.html#which-d-goes-under",
    "why 8": "05_divisor.html#widen-a-network-that-divides-by-eight",
    "transformer": "0",
    "cosine similarity": "0",
    "numerically stable softmax": "0 reference/",
    "softmax_jacobian": "reference/softmax.html#attnlib.softmax_jacobian",
    "attnlib.softmax": "reference/softmax.html#attnlib.softmax",
    "soft_cap": "reference/scaling.html#attnlib.scaling.soft_cap",
    "score_pdf": "reference/scores.html#attnlib.score_pdf",
}
SHOWN = """() => [...document.querySelectorAll("dialog[open] .search-found li a")]
  .map((link) => link.getAttribute("href").replace(/^(\\.\\.?\\/)*(chapters\\/)?/, ""))"""
STATUS = ".search-found [role=status]"
LOADED = f"document.querySelector('{STATUS}') !== null"
FOCUSED = "document.activeElement.textContent"


def open_dialog(page: Page) -> None:
    page.keyboard.press("Control+k")
    wait_until(page, LOADED)


@pytest.fixture(scope="module")
def dialog(browser: Browser, site: Path) -> Iterator[Page]:
    """Return a page from the disk whose search is open."""
    with visit(browser, site / CHAPTER) as seen:
        open_dialog(seen.page)
        yield seen.page
        assert seen.errors == []


def results(dialog: Page, words: str) -> list[str]:
    dialog.locator("dialog[open] input").fill(words)
    return dialog.evaluate(SHOWN)


class TestFinding:
    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("words", QUERIES)
    def test_what_readers_look_for_is_among_the_first_three(self, dialog: Page, words: str) -> None:
        first = results(dialog, words)[:3]
        wanted = tuple(QUERIES[words].split())
        assert any(link.startswith(wanted) for link in first), first

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("words", FIRST)
    def test_what_has_a_name_is_the_first(self, dialog: Page, words: str) -> None:
        first = results(dialog, words)[0]
        assert first.startswith(tuple(FIRST[words].split())), first

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("letters", ["d", "log n", "e^x", "n"])
    def test_a_letter_is_a_word_and_no_beginning(self, dialog: Page, letters: str) -> None:
        assert results(dialog, letters)
        letter = letters.replace("^", "").split()[-1]
        for link in dialog.locator("dialog[open] .search-found li").all():
            for word in link.locator("mark").all_inner_texts():
                assert word.lower().startswith("log") or len(word) == len(letter), word

    @pytest.mark.proof("pages")
    def test_a_section_with_only_sections_is_not_found(self, dialog: Page) -> None:
        assert "01_puzzle.html#deeper" not in results(dialog, "deeper")

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize(
        "same",
        [
            ["d_k", "dk", "dₖ", "D_K", "d_{k}"],
            ["softmax", "Softmax", "ＳＯＦＴＭＡＸ", "sóftmäx"],
            ["√dₖ", "sqrt(d_k)", "square root of dk", "Square Root D_k"],
            ["soft cap", "soft-cap"],
            ["σ", "sigma"],
            ["initialization", "initialisation"],
            ["normalize", "normalise", "Normalise"],
        ],
    )
    def test_spellings_of_one_word_find_the_same(self, dialog: Page, same: list[str]) -> None:
        first, *others = (results(dialog, words) for words in same)
        assert first
        for other in others:
            assert other[:3] == first[:3]

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize("slip", ["satration", "saturatoin", "saturaion", "sturation"])
    def test_a_slip_of_the_finger_is_forgiven(self, dialog: Page, slip: str) -> None:
        assert results(dialog, slip)[:1] == results(dialog, "saturation")[:1]

    @pytest.mark.proof("pages")
    @pytest.mark.parametrize(
        ("slip", "word"), [("gradeint", "gradient"), ("Initializatoin", "initialization")]
    )
    def test_it_says_what_it_took_a_slip_for(self, dialog: Page, slip: str, word: str) -> None:
        results(dialog, slip)
        said = dialog.locator(f"dialog[open] {STATUS}").inner_text()
        assert said.startswith(f"Nothing for “{slip}”; this is for “{word}”. ")

    @pytest.mark.proof("pages")
    def test_no_word_is_forgiven_that_nothing_is_like(self, dialog: Page) -> None:
        assert results(dialog, "xqzv") == []
        assert dialog.locator(f"dialog[open] {STATUS}").inner_text() == "Nothing found for “xqzv”."
        links = dialog.locator("dialog[open] .search-found a").evaluate_all(
            "(links) => links.map((link) => link.pathname.split('/').at(-1))"
        )
        assert links == ["glossary.html", "genindex.html", "index.html"]
        dialog.keyboard.press("Enter")  # opens none of them
        assert dialog.url.endswith(CHAPTER)

    def test_every_result_leads_to_a_place_with_its_name(self, site: Path) -> None:
        for address, _number, parts in index(site):
            page = pages.parse(site / address)
            for _kind, place, title, _text in parts:
                goal = page.find(id=place) if place else page.h1
                assert goal is not None, (address, place)
                letters = "".join(filter(str.isalnum, title.rpartition(".")[2]))
                said = "".join(filter(str.isalnum, goal.get_text()))
                assert letters in said or goal.find("math"), (address, place, title)

    def test_answers_are_not_given_away(self, site: Path) -> None:
        page = pages.parse(site / "chapters/11_exercises.html")
        texts = [text for _, _, parts in index(site) for *_, text in parts]
        answers = [box.get_text() for box in page.select(".solution p") if not box.find("math")]
        assert len(answers) > 10
        for answer in answers:
            words = " ".join(answer.split())
            assert len(words) < 40 or not any(words in text for text in texts), words


def index(site: Path) -> list[list]:
    """Return what can be found: for each page its address, its number and its parts."""
    program = (site / INDEX).read_text(encoding="utf-8")
    _, _, rest = program.partition("const [PAGES, STYLE] = ")
    return json.JSONDecoder().raw_decode(rest)[0][0]


@pytest.mark.proof("pages")
class TestUsing:
    def test_arrows_go_through_the_results_and_letters_go_on(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / CHAPTER) as seen:
            keys = seen.page.keyboard
            keys.press("/")
            wait_until(seen.page, LOADED)
            keys.type("entrop")
            links = seen.page.locator("dialog[open] .search-found a").all_inner_texts()
            assert len(links) > 3
            for link in links[:3]:
                keys.press("ArrowDown")
                assert seen.page.evaluate("document.activeElement.innerText") == link
            keys.press("ArrowUp")
            assert seen.page.evaluate("document.activeElement.innerText") == links[1]
            keys.type("y")
            field = seen.page.locator("dialog[open] input")
            assert field.input_value() == "entropy"
            assert field.evaluate("(field) => field === document.activeElement")
            keys.press("ArrowUp")
            assert seen.page.evaluate(FOCUSED).startswith("Show all")
            keys.press("Escape")
            assert not seen.page.locator("#pst-search-dialog").is_visible()
            open_dialog(seen.page)
            keys.type("loss")  # in the place of what was asked before
            assert field.input_value() == "loss"
            keys.press("Escape")
            assert not seen.page.locator("#pst-search-dialog").is_visible()
            open_dialog(seen.page)
            keys.type("entropy")
            keys.press("ArrowDown")
            keys.press("Enter")
            seen.page.wait_for_url("**/glossary.html#term-entropy")
        assert seen.errors == []

    def test_enter_opens_what_the_status_says(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / CHAPTER) as seen:
            open_dialog(seen.page)
            seen.page.keyboard.type("causal mask")
            said = seen.page.locator(f"dialog[open] {STATUS}").inner_text()
            assert said.endswith(" results. Enter opens “causal mask”.")
            seen.page.keyboard.press("Enter")
            seen.page.wait_for_url("**/glossary.html#term-causal-mask")

    def test_only_words_are_marked_where_a_result_leads(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / CHAPTER) as seen:
            open_dialog(seen.page)
            results(seen.page, "variance d normalise")
            seen.page.keyboard.press("Enter")
            hide = seen.page.get_by_role("button", name="Hide search matches")
            hide.wait_for()
            marks = seen.page.evaluate("[...CSS.highlights.get('searched')].map(String)")
            assert {mark.lower() for mark in marks} == {"variance"}
            seen.page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
            box = hide.bounding_box()
            assert 0 < box["y"] < box["y"] + box["height"] < 900
            hide.click()
            assert not seen.page.evaluate("CSS.highlights.has('searched')")

    def test_a_beginning_is_marked_and_no_end(self, browser: Browser, site: Path) -> None:
        with visit(browser, site / CHAPTER) as seen:
            seen.page.evaluate("localStorage.setItem('sphinx_highlight_terms', 'vari ance ( d')")
            seen.page.reload()
            seen.page.locator(".hide-searched").wait_for()
            marks = seen.page.evaluate("[...CSS.highlights.get('searched')].map(String)")
            assert {mark.lower() for mark in marks} == {"vari"}
        assert seen.errors == []

    def test_what_is_marked_in_a_result_is_a_word(self, dialog: Page) -> None:
        results(dialog, "differentiate the softmax")
        marks = dialog.locator("dialog[open] li mark").all_inner_texts()
        assert "softmax" in marks
        assert all(mark.isalpha() or mark == "∂" for mark in marks), marks

    def test_a_title_in_quotes_is_quoted_once(self, dialog: Page) -> None:
        results(dialog, "central limit theorem")
        said = dialog.locator(f"dialog[open] {STATUS}").inner_text()
        assert said.endswith(
            " Enter opens “By the central limit theorem a score is a normal number”."
        )

    def test_the_status_is_written_only_when_it_says_something_else(self, dialog: Page) -> None:
        results(dialog, "entropy")
        dialog.evaluate(
            """() => {
              globalThis.written = 0;
              new MutationObserver(() => { written += 1; }).observe(
                document.querySelector("dialog[open] [role=status]"), { childList: true });
            }"""
        )
        results(dialog, "entropy ")
        results(dialog, " entropy")
        assert dialog.evaluate("written") == 0
        results(dialog, "loss")
        assert dialog.evaluate("written") == 1

    def test_a_phone_has_a_button_to_close_and_keeps_a_long_question(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / CHAPTER, width=PHONE) as seen:
            open_dialog(seen.page)
            results(seen.page, "question" * 40)
            box = seen.page.locator("dialog[open] .search-found")
            assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth")
            seen.page.get_by_role("button", name="Close").click()
            assert not seen.page.locator("#pst-search-dialog").is_visible()

    def test_a_button_that_has_the_focus_lets_a_slash_through(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / CHAPTER) as seen:
            seen.page.locator(".theme-switch-button:visible").first.focus()
            seen.page.keyboard.press("/")
            assert seen.page.locator("#pst-search-dialog").is_visible()

    def test_a_result_on_the_page_itself_is_shown_and_focused(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / CHAPTER) as seen:
            seen.page.locator(".search-button__button:visible").first.click()
            wait_until(seen.page, LOADED)
            seen.page.keyboard.type("change the distribution")
            seen.page.keyboard.press("Enter")
            wait_until(seen.page, "document.activeElement.id === 'change-the-distribution'")
            seen.page.wait_for_timeout(50)
            assert seen.page.evaluate("document.activeElement.id") == "change-the-distribution"
            assert not seen.page.locator("#pst-search-dialog").is_visible()
            top = seen.page.locator("#change-the-distribution").bounding_box()["y"]
            assert 0 <= top < 300

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [DESK, PHONE])
    def test_it_is_usable_on_each_screen_and_by_everybody(
        self, browser: Browser, site: Path, width: int, scheme: str
    ) -> None:
        with visit(browser, site / CHAPTER, width=width, scheme=scheme) as seen:
            open_dialog(seen.page)
            seen.page.keyboard.type("softmax")
            box = seen.page.locator("dialog[open] .search-found").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= 900
            assert seen.page.evaluate(
                "[...document.querySelectorAll('dialog[open] .search-found, dialog[open] li')]"
                ".every((node) => node.scrollWidth <= node.clientWidth)"
            )
            headings = seen.page.locator("dialog[open]").get_by_role("heading").all_inner_texts()
            assert {"Glossary", "Sections", "Functions and classes"} <= set(headings)
            assert seen.page.locator("dialog[open]").get_by_role("status").inner_text()
            seen.page.keyboard.press("ArrowDown")
            assert seen.errors == []
            seen.page.evaluate(KEEP_ONLY, "main h1, dialog[open]")
            assert violations(seen.page) == []

    def test_the_page_of_all_results_finds_the_same_and_more(
        self, browser: Browser, site: Path, dialog: Page
    ) -> None:
        few = results(dialog, "softmax")
        with visit(browser, site / "search.html", query="?q=softmax") as seen:
            wait_until(seen.page, LOADED)
            shown = seen.page.locator("main .search-found li a")
            all_found = {link.get_attribute("href").split("chapters/")[-1] for link in shown.all()}
            assert len(all_found) == shown.count() > len(few)
            assert set(few) <= all_found
            said = seen.page.locator(f"main {STATUS}").inner_text()
            assert said == f"{shown.count()} results"
            dialog.locator("dialog[open] .all-found").get_by_text(f"Show all {said}").wait_for()
            seen.page.keyboard.press("Control+k")
            field = seen.page.locator("main input[name=q]")
            assert field.evaluate("(field) => field === document.activeElement")
            seen.page.locator("main input[name=q]").fill("kurtosis")
            wait_until(seen.page, "location.search === '?q=kurtosis'")
        assert seen.errors == []

    def test_without_scripts_the_page_says_what_it_takes(
        self, browser: Browser, site: Path
    ) -> None:
        with visit(browser, site / "search.html", scripts=False) as seen:
            said = seen.page.locator("main").inner_text()
            assert "Search needs JavaScript. Without it, look through the index" in said
            assert not seen.page.locator("main input").is_visible()
            assert seen.page.title().startswith("Search — ")


class TestLoading:
    def test_nothing_is_asked_for_before_somebody_searches(
        self, browser: Browser, site: Path
    ) -> None:
        with serving(site) as address, visit(browser, f"{address}/{CHAPTER}") as seen:
            assert not any(INDEX in url for url in seen.asked)
            before = len(seen.asked)
            open_dialog(seen.page)
            seen.page.keyboard.type("entropy")
            assert seen.page.evaluate(SHOWN)
            seen.page.keyboard.press("Escape")
            open_dialog(seen.page)
            later = [url for url in seen.asked[before:] if not url.endswith(".html")]
            assert later == [f"{address}/{INDEX}"]  # beside the page that is fetched ahead
        assert seen.errors == []

    @pytest.mark.proof("pages")
    def test_a_search_that_does_not_come_says_so(self, browser: Browser, site: Path) -> None:
        with serving(site) as address, visit(browser, f"{address}/{CHAPTER}") as seen:
            seen.page.route(f"**/{INDEX}", lambda route: route.abort())
            seen.page.keyboard.press("Control+k")
            seen.page.get_by_text("The search could not be loaded.").first.wait_for()

    def test_it_is_light(self, site: Path) -> None:
        weight = len(gzip.compress((site / INDEX).read_bytes(), 9))
        assert weight <= HEAVIEST, f"{weight} bytes"


PROJECT = {
    "conf.py": 'extensions = ["_ext.search"]\nhtml_theme = "basic"\n',
    "index.rst": "Title\n=====\n\n.. toctree::\n\n   other\n\nAbout :math:`\\sqrt{d_k}` here.\n",
    "other.rst": "Other\n=====\n\nFirst words.\n",
}


@pytest.mark.proof("pages")
def test_a_page_built_alone_leaves_the_rest_of_the_index(tmp_path: Path) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def build() -> dict[str, list]:
        command = [sys.executable, "-m", "sphinx", "-q", "-W", str(tmp_path), str(tmp_path / "out")]
        subprocess.run(command, cwd=ROOT, check=True)
        return {address: parts for address, _number, parts in index(tmp_path / "out")}

    title = [[0, "", "Title", "About √dₖ here."]]
    assert build() == {"index.html": title, "other.html": [[0, "", "Other", "First words."]]}
    (tmp_path / "other.rst").write_text("Other\n=====\n\nOther words.\n", encoding="utf-8")
    assert build() == {"index.html": title, "other.html": [[0, "", "Other", "Other words."]]}
    (tmp_path / "other.rst").unlink()
    (tmp_path / "index.rst").write_text("Title\n=====\n", encoding="utf-8")
    assert build() == {"index.html": [[0, "", "Title", ""]]}
