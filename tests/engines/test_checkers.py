"""What programs of others, in pinned versions, say of the pages and of what the site offers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from _ext.recall import DECK
from tests.book.notebooks import ROOT
from tests.conftest import Once
from tests.engines.drivers import HEIGHT
from tests.ext.serving import serving
from tests.ext.test_browser import ALL, DESK, PLAIN_CODE, PLAIN_FORMULAS
from tools.debian import CHECKERS as CHECKERS_NEED
from tools.debian import ensure_programs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("engines")

CHECKERS = Path(__file__).resolve().parent / "checkers"

# What the Nu checker does not know yet, though it is in a standard and browsers have it.
TOO_NEW = {
    r"CSS: Unrecognized at-rule “@property”": "CSS Properties and Values, level 1",
    r"CSS: Unrecognized at-rule “@container”": "CSS Conditional Rules, level 5",
    r"CSS: “container-type”: Property .* doesn't exist.": "CSS Conditional Rules, level 5",
    r"CSS: “animation-timeline”: Property .* doesn't exist.": "Scroll-driven Animations",
    r"CSS: “display”: “math” is not a “display” value.": "MathML Core",
    r"CSS: “math-shift”: Property .* doesn't exist.": "MathML Core",
    r"CSS: “vector-effect”: Property .* doesn't exist.": "SVG 2",
}
# What the second accessibility engine calls a violation and is none.
NO_FAULT = {
    "input_checkboxes_grouped": "switches of two figures have one name, and each its own form",
    "aria_content_in_landmark": "the link to the main content stands before all landmarks",
}
# What axe asks for and the second engine refuses: a box that scrolls is reached by the keyboard.
SCROLLING = re.compile(r"element_tabbable_role_valid: .* <(pre |div tabindex=)", re.DOTALL)


@pytest.fixture(scope="module")
def modules(once: Once) -> Path:
    """Install the checkers that npm has, exactly those of the lock."""

    if lacking := ensure_programs(CHECKERS_NEED):
        pytest.fail(f"the checkers need {' and '.join(lacking)}")

    def install(folder: Path) -> str:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(CHECKERS / name, folder)
        subprocess.run(["npm", "ci", "--silent"], cwd=folder, check=True)
        return str(folder / "node_modules")

    return Path(once("checkers", install))


def nu(modules: Path, files: list[Path]) -> list[str]:
    """Return what the Nu checker calls errors in pages."""
    jar = modules / "vnu-jar" / "build" / "dist" / "vnu.jar"
    options = ("--format", "json", "--errors-only", "--exit-zero-always")
    done = subprocess.run(
        ["java", "-Xss4m", "-jar", str(jar), *options, *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        f"{Path(one['url']).name}, line {one.get('lastLine')}: {one['message']}"
        for one in json.loads(done.stderr)["messages"]
    ]


def test_the_nu_checker_finds_nothing_but_what_it_is_too_old_for(site: Path, modules: Path) -> None:
    found = nu(modules, [site / name for name in ALL])
    known = Counter(
        pattern for fault in found for pattern in TOO_NEW if re.search(f": {pattern}$", fault)
    )
    rest = [one for one in found if not any(re.search(f": {rule}$", one) for rule in TOO_NEW)]
    assert not rest, "\n".join(rest[:40])
    assert set(known) == set(TOO_NEW), "the checker knows more by now"


def test_the_nu_checker_is_asked(modules: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><html lang=en><title>T</title><p role=none class=><div></p>")
    assert nu(modules, [page])


CHECK = """async () => {
  const { results } = await new ace.Checker().check(document, ["IBM_Accessibility"]);
  return results.filter(({ value }) => value.join() === "VIOLATION,FAIL")
    .map(({ ruleId, message, snippet }) => [ruleId, `${message} ${snippet.slice(0, 150)}`]);
}"""


def second_opinion(browser: Browser, modules: Path, url: str) -> list[list[str]]:
    """Return what the second accessibility engine finds wrong on a page: rule and words."""
    script = (modules / "accessibility-checker-engine" / "ace.js").read_text(encoding="utf-8")
    context = browser.new_context(
        bypass_csp=True,
        reduced_motion="reduce",
        service_workers="block",
        viewport={"width": DESK, "height": HEIGHT},
    )
    try:
        page = context.new_page()
        page.goto(url)
        page.evaluate("document.documentElement.dataset.whole = ''")
        page.evaluate(PLAIN_FORMULAS)
        page.evaluate(PLAIN_CODE)
        page.evaluate(f"{script}; window.ace = ace;")
        return page.evaluate(CHECK)
    finally:
        context.close()


@pytest.mark.parametrize("name", ALL)
def test_a_second_accessibility_engine_finds_nothing(
    browser: Browser, site: Path, modules: Path, name: str
) -> None:
    with serving(site) as base:
        found = second_opinion(browser, modules, f"{base}/{name}")
    rest = [f"{rule}: {words}" for rule, words in found if rule not in NO_FAULT]
    rest = [fault for fault in rest if not SCROLLING.match(fault)]
    assert not rest, "\n".join(rest)


def test_the_second_engine_is_asked(browser: Browser, modules: Path, tmp_path: Path) -> None:
    page = (
        "<!DOCTYPE html><html lang=en><title>T</title><main><h1>T</h1><form><input></form></main>"
    )
    (tmp_path / "page.html").write_text(page)
    with serving(tmp_path) as base:
        found = second_opinion(browser, modules, f"{base}/page.html")
    assert "input_label_exists" in [rule for rule, _ in found]


@pytest.fixture(scope="module")
def told(once: Once, site: Path) -> dict[str, Any]:
    """Let Anki and cffconvert read what is made for them."""

    def ask_clients(folder: Path) -> Any:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        python = str(folder / "venv" / "bin" / "python")
        install = ["-m", "pip", "install", "-q", "-r", str(CHECKERS / "requirements.txt")]
        subprocess.run([python, *install], check=True)
        done = subprocess.run(
            [
                *(python, str(CHECKERS / "clients.py")),
                *map(str, (site / DECK, ROOT / "CITATION.cff")),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return once("clients", ask_clients)


def test_anki_takes_every_card_with_its_chapter(told: dict[str, Any], site: Path) -> None:
    lines = (site / DECK).read_text(encoding="utf-8").splitlines()
    cards = [line.split("\t") for line in lines if not line.startswith("#")]
    assert told["new"] == len(cards)
    assert told["left out"] == 0
    assert sorted(told["cards"]) == sorted(
        [front, back, tags.split()] for front, back, tags in cards
    )


def test_the_citation_file_is_valid(told: dict[str, Any]) -> None:
    assert "are valid" in told["citation"], told["citation"]
