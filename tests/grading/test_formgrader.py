"""Who marks paragraphs: formgrader in a browser, from the questions to the export."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from grading.course import Order, export, grade
from grading.gradebook import formgrader
from grading.problem_set import TEXT_STUB, problem_sets
from grading.release import worked
from tests.book.jupyterlab import NO_TOKEN, OPTIONS, OWN, wait_for_answer
from tests.grading.pages import picture
from tests.grading.small_class import read_grades

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.proof("examples")
TINY = Path(__file__).resolve().parent / "source" / "tiny" / "tiny.ipynb"
STATEMENT = r"""## 4 A paragraph of *yours* (4 points)

Say why $z/\sqrt{d_k}$ is divided, where

$$\sigma^2 = d_k.$$

### The cases

| width | spread |
|---|---:|
| four | two |

- one
- two

![A plot](attachment:plot.png)
"""
SCHEME = """### BEGIN SOLUTION
Because their **spread** grows with $d_k$.

**Marking.** One point for the spread, one for softmax.

```python
print("twice:", 2 * personal_numbers(student_id, "q4")["n"])
```
### END SOLUTION"""
HONEST = "My spread is $\\sqrt{d_k}$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# Loud\n\n"
HONEST += "![My sketch](attachment:image.png)"
HOSTILE = """# Hello
<script>window.stolen = 1</script>
<img src=x onerror="window.stolen = 2">
<div style="position:fixed;inset:0;z-index:99999;background:red;height:99999px">on top</div>
<iframe src="https://example.org/frame"></iframe>
<form action="https://example.org/form"><input name="points"></form>
<style>body { display: none }</style>
<link rel="stylesheet" href="https://example.org/style.css">
<base href="https://example.org/">

[a link](javascript:window.stolen=3) and ![a beacon](https://example.org/beacon.png)
and ![drawn](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)
and ![another](//example.org/beacon.png "x\\" onerror=\\"window.stolen=4")

$\\href{javascript:window.stolen=5}{x}$ $\\style{position:fixed}{y}$
"""
PARAGRAPHS = {"s1": HONEST, "s2": HOSTILE, "s3": TEXT_STUB, "s4": "Softmax."}
ROSTER = "student_id,lms_id,name\n" + "".join(
    f"{each},{each[1:]},Ada <i>{each}</i> Example\n" for each in PARAGRAPHS
)


def handed_in(student: str, paragraph: str, source: Path) -> bytes:
    """Return a student's notebook, with the picture that the paragraph shows."""
    # s4 typed the number in capitals, which is allowed and gives other personal numbers
    typed = student.upper() if student == "s4" else student
    made = worked(problem_sets(source)["tiny"], typed, {"q4": paragraph}, source)
    notebook = nbformat.reads(made.decode(), as_version=4)
    if "image.png" in paragraph:
        notebook.cells[-1].attachments = {"image.png": {"image/png": picture("PNG", 50)}}
    return nbformat.writes(notebook).encode()


def twice(student: str) -> str:
    """Return what the scheme computes, by the arithmetic that the first cell describes."""
    digest = hashlib.sha256(f"tiny/{student}/q4/n".encode()).digest()
    return f"twice: {2 * (1 + int.from_bytes(digest[:8], 'big') % 1_000_000)}"


def changed_source(folder: Path) -> Path:
    """Write the tiny problem set with a statement that has a bit of everything."""
    notebook = nbformat.read(TINY, as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    cells["q4_text"].source, cells["q4"].source = STATEMENT, SCHEME
    cells["q4_text"].attachments = {"plot.png": {"image/png": picture("PNG", 40)}}
    cells["numbers"].source = cells["numbers"].source.replace(
        "RANGES = {", 'RANGES = {"q4": {"n": (1, 1_000_000)}, '
    )
    numbers = new_code_cell('print(personal_numbers(student_id, "q4"))')
    marks = cells["numbers"].metadata["nbgrader"] | {"grade_id": "q4_numbers"}
    numbers.metadata["nbgrader"] = marks
    notebook.cells.insert(notebook.cells.index(cells["q4"]), numbers)
    path = folder / "source" / "tiny" / "tiny.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return folder / "source"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    source = changed_source(folder)
    for student, paragraph in PARAGRAPHS.items():
        path = folder / "in" / student / "tiny" / "tiny.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(handed_in(student, paragraph, source))
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    roster = folder / "roster.csv"
    grade(Order(folder / "in", folder / "out", roster=roster, workers=1, source=source))
    return folder


def exported(course: Path) -> dict[str, dict[str, str]]:
    export(course / "out", course / "roster.csv", source=course / "source")
    return read_grades(course / "out")


@contextmanager
def serving(command: list[str], home: Path, **place: Any) -> Iterator[str]:
    """Start formgrader by a command, with settings in a folder, and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {name: str(home / name.lower()) for name in OWN}
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *OPTIONS, *NO_TOKEN, f"--port={port}"],
            env=formgrader.environment() | own,
            stdout=output,
            stderr=subprocess.STDOUT,
            **place,
        )
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/api", process, log)
            yield f"http://127.0.0.1:{port}/formgrader"
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def server(course: Path) -> Iterator[str]:
    """Start formgrader as `make formgrader` does, and give its address."""
    with serving(formgrader.command(), course, cwd=course / "out") as address:
        yield address


@contextmanager
def window(browser: Browser, server: str) -> Iterator[Page]:
    """Open a window of somebody's own; nothing may ask for anything outside, nor fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    asked: list[str] = []
    failed: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("console", lambda said: failed.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    home = server.removesuffix("/formgrader")
    assert [url for url in asked if not url.startswith((home, "data:"))] == []
    assert failed == []


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    with window(browser, server) as page:
        yield page


def open_student(page: Page, server: str, course: Path, student: str, question: str = "q4") -> None:
    with Gradebook(f"sqlite:///{course / 'out' / 'gradebook.db'}") as book:
        identifier = book.find_submission_notebook("tiny", "tiny", student).id
    page.goto(f"{server}/submissions/{identifier}?question={question}")
    ready(page)


def ready(page: Page) -> None:
    """Wait until the fields hold what is in the gradebook."""
    page.locator("#fields:enabled").wait_for()


def go(page: Page, link: str) -> None:
    """Follow a link that leaves the student."""
    before = page.url
    page.locator(link).click()
    page.wait_for_url(lambda url: url != before)


def student_of(page: Page) -> str:
    (found,) = re.findall(r"\((s\d+)\)", page.locator(".who").text_content() or "")
    return found


def entered(course: Path, student: str, cell: str = "q4") -> tuple[float | None, str | None]:
    with Gradebook(f"sqlite:///{course / 'out' / 'gradebook.db'}") as book:
        grade = book.find_grade(cell, "tiny", "tiny", student)
        comment = book.find_comment(cell.removesuffix("_check"), "tiny", "tiny", student)
        return grade.manual_score, comment.manual_comment


def test_the_entrance_says_what_there_is_and_leads_to_what_waits(page: Page, server: str) -> None:
    page.goto(f"{server}/")
    text = page.locator("main").inner_text()
    assert "4 students: 4 graded." in text
    assert "draft" not in text
    line = page.get_by_role("row", name="4 A paragraph of")
    # one of four left the stub alone
    assert [each.inner_text() for each in line.locator("td").all()] == [
        "4", "0.00", "1", "3", "Mark q4",
    ]  # fmt: skip
    line.get_by_role("link", name="Mark q4").click()
    assert "3 of 4 wait for a mark" in page.locator(".right").inner_text()
    assert student_of(page) != "s3"


def test_a_question_is_readable_with_its_scheme_and_alone(
    page: Page, server: str, course: Path
) -> None:
    open_student(page, server, course, "s1")
    left, right = page.locator(".left"), page.locator(".right")
    assert left.locator("h1").inner_text().startswith("4 A paragraph of")
    assert left.locator("#statement h4").inner_text() == "The cases"
    assert left.locator("#statement td").all_inner_texts() == ["four", "two"]
    assert left.locator("#statement li").all_inner_texts() == ["one", "two"]
    assert left.locator("#statement .tex").count() == 2
    assert left.locator("#statement .tex.display").count() == 1
    answer = left.locator(".cell.by-hand").first
    assert answer.locator("td").all_inner_texts() == ["1", "2"]
    assert "sqrt" in answer.locator(".tex").inner_text()
    assert answer.locator(".heading").inner_text() == "Loud"
    assert right.locator("strong", has_text="spread").is_visible()
    assert "One point for the spread" in right.inner_text()
    widths = "all => all.map((one) => [one.alt, one.naturalWidth])"
    assert left.locator("#statement img").evaluate_all(widths) == [["A plot", 40]]
    assert answer.locator("img").evaluate_all(widths) == [["My sketch", 50]]
    assert not re.search(r"</?\w+>|\$|\*\*|\|---", page.locator("body").inner_text())
    assert not re.search("A number|variance|sharpen|student_id", left.inner_text())
    # the whole can be unfolded, and stays so for the next student
    page.get_by_text("The whole notebook").click()
    assert "A number" in left.inner_text()
    go(page, "#next")
    assert page.title() == "Marking by hand" or "A number" in left.inner_text()


def test_the_scheme_computes_what_the_numbers_of_a_student_give(
    page: Page, server: str, course: Path
) -> None:
    for student, typed in (("s1", "s1"), ("s4", "S4")):
        open_student(page, server, course, student)
        assert twice(typed) in page.locator(".right").inner_text()


def test_questions_that_a_program_marks_can_be_looked_at_too(
    page: Page, server: str, course: Path
) -> None:
    open_student(page, server, course, "s1", "q1")
    right = page.locator(".right")
    assert "2 of 2 by the check" in right.inner_text()
    assert "variance = float(d_k)" in right.inner_text()
    page.get_by_text("The hidden check").click()
    assert "this is the standard deviation" in right.inner_text()
    page.locator(".score").fill("1.5")
    page.get_by_role("link", name="q2").click()
    page.wait_for_url("**question=q2")
    assert entered(course, "s1", "q1_check")[0] == 1.5


def test_what_was_decided_before_a_change_says_so_until_it_is_resolved(
    page: Page, server: str, course: Path
) -> None:
    with Gradebook(f"sqlite:///{course / 'out' / 'gradebook.db'}") as book:
        found = book.find_grade("q3_check", "tiny", "tiny", "s2")
        found.manual_score, found.needs_manual_grade = 0.5, True
        book.db.commit()
    page.goto(f"{server}/")
    line = page.get_by_role("row", name="3 An array")
    assert "4 by the check, 1 decided before a change" in line.inner_text()
    line.get_by_role("link", name="Look at q3").click()
    ready(page)
    assert student_of(page) == "s2"
    assert "Decided before the check or scheme changed" in page.locator("#fields").inner_text()
    page.get_by_role("button", name="Resolve").click()
    page.locator("#saved", has_text="Saved").wait_for()
    page.reload()
    ready(page)
    assert page.locator(".score").input_value() == "0.5"
    assert "Decided before" not in page.locator("#fields").inner_text()
    page.goto(f"{server}/")
    assert "decided before" not in page.locator("main").inner_text()


def test_what_a_student_wrote_does_nothing(page: Page, server: str, course: Path) -> None:
    open_student(page, server, course, "s2")
    assert page.evaluate("window.stolen") is None
    found = page.locator(".left :is(script, iframe, form, input, style, link, base, object, svg)")
    assert found.count() == 0
    assert page.locator(".left [href^='javascript'], .left [onerror], [style*=fixed]").count() == 0
    assert all(
        source.startswith("data:image/")
        for source in page.locator("img").evaluate_all("all => all.map((one) => one.src)")
    )
    page.get_by_text("a link").first.click()
    assert page.evaluate("window.stolen") is None
    assert "on top" in page.locator(".cell.by-hand").first.inner_text()
    # nothing covers the fields
    page.locator(".score").click(timeout=2000)
    assert page.locator(".who i").count() == 0


def test_the_policy_holds_where_the_renderer_would_fail(
    browser: Browser, server: str, course: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    answered: list[str] = []
    context.on("response", lambda response: answered.append(response.url))
    open_student(page, server, course, "s2")
    known = len(answered)
    for each in (
        '<img src="x" onerror="window.stolen = 1">',
        f'<img src="{server}/static/css/formgrade.css">',
        '<iframe srcdoc="<script>parent.stolen = 2</script>"></iframe>',
        f'<link rel="stylesheet" href="{server}/static/css/formgrade.css">',
        "<style>body { display: none }</style>",
    ):
        page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", each)
    page.evaluate(
        """() => { const script = document.createElement('script');
        script.textContent = 'window.stolen = 3'; document.body.append(script); }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.stolen") is None
    assert page.locator(".score").is_visible()
    assert answered[known:] == []
    context.close()


def test_points_and_a_comment_are_saved_on_the_way_to_the_next_student(
    page: Page, server: str, course: Path
) -> None:
    page.goto(f"{server}/manage_assignments")
    page.get_by_role("link", name="Mark q4").click()
    ready(page)
    first = student_of(page)
    # the field has the focus, so that nothing but keys is needed
    page.keyboard.type("3.5")
    page.keyboard.press("Tab")
    assert "plain text" in (page.locator(".comment").get_attribute("placeholder") or "")
    page.locator(".comment").fill("Say <why>.")
    before = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)
    assert entered(course, first) == (3.5, "Say <why>.")
    ready(page)
    assert "question=q4" in page.url
    assert student_of(page) != first
    page.go_back()
    ready(page)
    assert page.locator(".score").input_value() == "3.5"
    assert page.locator(".comment").input_value() == "Say <why>."
    found = exported(course)[first]
    assert (found["q4"], found["message"]) == ("3.5", "")
    told = (course / "out" / "feedback" / first / "tiny.html").read_text(encoding="utf-8")
    assert "3.5 of 4" in told
    assert "Say &lt;why&gt;." in told


def test_a_paragraph_that_nobody_wrote_is_zero_until_a_person_says_otherwise(
    page: Page, server: str, course: Path
) -> None:
    assert read_grades(course / "out")["s3"]["q4"] == "0"
    told = (course / "out" / "feedback" / "s3" / "tiny.html").read_text(encoding="utf-8")
    assert "nothing was written here" in told
    open_student(page, server, course, "s3")
    assert "0 of 4 by the check: nothing was written here" in page.locator(".right").inner_text()
    page.locator(".full-credit").click()
    page.get_by_text("Saved", exact=True).wait_for()
    assert exported(course)["s3"]["q4"] == "4"
    page.locator(".score").fill("")
    go(page, "#previous")
    assert entered(course, "s3")[0] is None
    assert exported(course)["s3"]["q4"] == "0"


def test_a_mark_that_is_not_saved_keeps_one_on_the_page(
    browser: Browser, server: str, course: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    open_student(page, server, course, "s4")
    page.route("**/api/grade/*", lambda route: route.abort())
    here = page.url
    page.locator(".score").fill("2")
    page.locator("#next").click()
    page.get_by_text("Not saved").wait_for()
    assert page.url == here
    page.unroute("**/api/grade/*")
    page.locator(".score").fill("3")
    go(page, "#next")
    assert entered(course, "s4")[0] == 3
    context.close()


def test_everybody_comes_once_and_then_the_entrance_again(
    page: Page, server: str, course: Path
) -> None:
    with Gradebook(f"sqlite:///{course / 'out' / 'gradebook.db'}") as book:
        first = min(each.id for each in book.notebook_submissions("tiny", "tiny"))
    page.goto(f"{server}/submissions/{first}/?question=q2")
    seen = []
    while page.title() != "Marking by hand":
        ready(page)
        seen.append(student_of(page))
        assert page.locator(".left h1").inner_text() == "2 A function"
        go(page, "#next")
    assert sorted(seen) == sorted(PARAGRAPHS)
    page.go_back()
    for student in reversed(seen):
        ready(page)
        assert student_of(page) == student
        go(page, "#previous")
    assert page.title() == "Marking by hand"


def test_the_command_starts_jupyterlab_and_hands_it_the_rest(course: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grading", "formgrader", "--out", course / "out", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == version("jupyterlab")


def test_a_submission_that_is_gone_or_a_folder_without_results_is_told(
    page: Page, server: str, tmp_path: Path
) -> None:
    answer = page.request.get(f"{server}/submissions/{'0' * 32}")
    assert answer.status == 404
    assert "graded again" in answer.text()
    with pytest.raises(ValueError, match="OUT must be a folder that make grade has filled; got"):
        formgrader.start(tmp_path)


def test_nbgraders_own_autograde_runs_nothing(page: Page, server: str, course: Path) -> None:
    traces = course / "traces"
    source = f"import pathlib\npathlib.Path({str(traces)!r}).touch()"
    submitted = course / "out" / "submitted" / "s1" / "tiny" / "tiny.ipynb"
    submitted.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[new_code_cell(source)]), submitted)
    page.goto(f"{server}/manage_submissions/tiny")
    page.wait_for_load_state("networkidle")
    answer = page.evaluate(
        """(address) => fetch(address, {method: "POST", headers: {
             "X-XSRFToken": document.cookie.match(/_xsrf=([^;]*)/)[1]}}).then((a) => a.json())""",
        f"{server}/api/submission/tiny/s1/autograde",
    )
    assert answer["success"] is False
    assert "sandbox of make grade" in answer["error"]
    assert not traces.exists()
    # and where another program than `make formgrader` serves the folder, nothing is there to run
    wanted = {"PATH": os.environ["PATH"], "HOME": str(course)}
    command = [sys.executable, "-m", "nbgrader", "autograde", "tiny", "--force"]
    done = subprocess.run(
        command, cwd=course / "out", env=wanted, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert not traces.exists()


def test_the_superuser_may_start_it_and_a_browser_is_not_needed(monkeypatch: Any) -> None:
    # what starts JupyterLab goes on where there is no browser, as `make lab` does
    for user, wanted in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert ("--allow-root" in formgrader.command()) == wanted


def test_one_student_is_found_by_number(page: Page, browser: Browser, server: str) -> None:
    page.goto(f"{server}/manage_assignments")
    page.get_by_label("Find a student").fill(" S2 ")
    page.keyboard.press("Enter")
    ready(page)
    assert (student_of(page), "question=q4" in page.url) == ("s2", True)
    page.get_by_role("link", name="q1").click()
    page.wait_for_url("**question=q1")
    page.locator(".who summary").click()
    page.get_by_label("Go to").fill("s4")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.who').textContent.includes('s4')")
    assert "question=q1" in page.url
    nobody = browser.new_page()
    nobody.goto(f"{server}/waiting/tiny/q1?student=s9<b>")
    assert "No notebook of s9<b> has points for q1 of tiny." in nobody.inner_text("main")
    nobody.close()


def test_keys_lead_to_what_still_waits(page: Page, server: str, course: Path) -> None:
    with Gradebook(f"sqlite:///{course / 'out' / 'gradebook.db'}") as book:
        for student in PARAGRAPHS:
            mark = book.find_grade("q4", "tiny", "tiny", student)
            mark.manual_score, mark.needs_manual_grade = 1, False
        mark = book.find_grade("q4", "tiny", "tiny", "s2")
        mark.manual_score, mark.needs_manual_grade = None, True
        book.db.commit()
    for student in sorted(PARAGRAPHS.keys() - {"s2"}):
        open_student(page, server, course, student)
        before = page.url
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda url, before=before: url != before)
        ready(page)
        assert student_of(page) == "s2"
    # it is the last one, so from here the way is that of all
    page.keyboard.type("2")
    here = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != here)
    assert entered(course, "s2")[0] == 2
