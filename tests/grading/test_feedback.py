"""The page for students: what it says, and that nothing a student wrote does anything on it."""

from __future__ import annotations

import base64
import io
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from grading.problem_set import Cell, ProblemSet, Question
from grading.reports import feedback
from grading.reports.feedback import ShownCell, page
from grading.results import Mark, Student
from grading.safe_text import UNSEEN, visible
from grading.sandbox.outputs import clean_outputs
from tests.grading.pages import harm, parsed

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

SOURCES = sorted((Path(__file__).parents[2] / "grading" / "source").glob("*/*.ipynb"))
ADA = Student("s0123456", "17", "Ada Example")


def png(width: int = 8, height: int = 8) -> bytes:
    """Return a gray PNG image; only its header grows with its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (
        zlib.compress(b"\0" + b"\x90" * 8)
        if width > 100
        else zlib.compress((b"\0" + b"\x90" * width) * height)
    )
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def image(data: bytes | None = None) -> dict[str, Any]:
    text = base64.b64encode(png(90, 60) if data is None else data).decode()
    return {"output_type": "display_data", "data": {"image/png": text, "text/plain": "<Figure>"}}


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def raised(name: str, value: str, *lines: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": list(lines)}


TEXTS = {
    "intro": "# Problem set 1: variance and saturation\n\nGive $d_k$ and\n\n$$\n\\tau = "
    "\\sqrt{d_k}\n$$\n\n| question | points |\n|---|---:|\n| 1 | 4 |\n\n```python\nx = 1\n```",
    "q1_text": "## Question 1: split a variance of $q\\cdot k$ (4 points)\n\nOf width $d_k$.",
    "q2_text": "## Question 2: rows of `weights` (4 points)\n\nEach row sums to one.",
    "q3_text": "## Question 3: a figure (4 points)\n\nDraw it.",
    "q4_text": "## Question 4: a function (5 points)\n\nWrite `attend`.",
    "q5_text": "## Question 5: judge a reason (3 points)\n\nThree to six sentences.",
}
QUESTIONS = (
    Question("q1", 4),
    Question("q2", 4),
    Question("q3", 4),
    Question("q4", 5),
    Question("q5", 3, by_hand=True),
)
PROBLEM_SET = ProblemSet(
    "problem_set_1",
    tuple(Cell(name, "locked", "markdown", text) for name, text in TEXTS.items()),
    QUESTIONS,
)
CHECK = 'assert variance is not None, "`variance` has no value yet"'
BLUE = "\x1b[0;34m"
CELLS = (
    ShownCell("intro", "text", "markdown", TEXTS["intro"]),
    ShownCell("numbers", "locked", "code", "RANGES = {'q1': (48, 160)}"),
    ShownCell("identity", "identity", "code", 'student_id = "s0123456"  # typed'),
    ShownCell("q1_text", "locked", "markdown", TEXTS["q1_text"], question="q1"),
    ShownCell(
        "q1", "answer", "code", "variance = 2 * 64\nprint(variance)", [stream("128\n")], "q1"
    ),
    ShownCell("q1_check", "check", "code", CHECK, [], "q1"),
    ShownCell("q2_text", "locked", "markdown", TEXTS["q2_text"], question="q2"),
    ShownCell(
        "q2",
        "answer",
        "code",
        "def sharpen(scores, factor):\n    '''Return weights.'''\n    return scores\n"
        "\nsharpen(np.eye(2), 2.0)",
        [
            stream("1/3\r2/3\r3/3 done\n"),
            stream("RuntimeWarning: invalid value\n", "stderr"),
            {
                "output_type": "execute_result",
                "data": {"text/plain": "array([[1., 0.],\n [0., 1.]])"},
            },
        ],
        "q2",
    ),
    ShownCell("q2_check", "check", "code", CHECK, [stream("form: looks fine\n")], "q2"),
    ShownCell("q3_text", "locked", "markdown", TEXTS["q3_text"], question="q3"),
    ShownCell(
        None,
        "own",
        "markdown",
        "# My plan\n\nI *try* [this](https://example.org/a?b=1&c=2).",
        (),
        "q3",
    ),
    ShownCell("q3", "answer", "code", "figure, axes = plt.subplots()", [image()], "q3"),
    ShownCell(
        "q3_check",
        "check",
        "code",
        CHECK,
        [
            raised(
                "AssertionError", "the vertical axis of `figure` has no label", "Trace of the check"
            )
        ],
        "q3",
    ),
    ShownCell("q4_text", "locked", "markdown", TEXTS["q4_text"], question="q4"),
    ShownCell(
        "q4",
        "answer",
        "code",
        "attend = nothing",
        [raised("NameError", "name 'nothing' is not defined", f"{BLUE}Traceback\x1b[0m", "line 1")],
        "q4",
    ),
    ShownCell("q4_check", "check", "code", CHECK, None, "q4"),
    ShownCell("q5_text", "locked", "markdown", TEXTS["q5_text"], question="q5"),
    ShownCell(
        "q5",
        "by hand",
        "markdown",
        "The variance is **not** one, because\n\n1. it is $d_k$,\n2. and not 1.\n\n# See?",
        (),
        "q5",
    ),
)
MARKS = (
    Mark("q1", 4.0, 4),
    Mark("q2", 2.0, 4, "your rows of `weights` sum to one along the queries"),
    Mark("q3", 4 / 3, 4, "the line does not reach the widest head"),
    Mark("q4", 0.0, 5, "no answer came out"),
    Mark("q5", None, 3),
)
NOTES = ("the cell `q3_check` was deleted; it was put back", "cell 14: <b>out of time</b>")


def sample(**changes: Any) -> str:
    """Return the page of a student who met with everything."""
    given = {
        "problem_set": PROBLEM_SET,
        "student": ADA,
        "status": "graded",
        "message": "q5 to be marked by hand",
        "cells": CELLS,
        "marks": MARKS,
        "notes": NOTES,
    }
    return page(**(given | changes))


def said(text: str) -> str:
    """Return the words of a page's body, with single spaces."""
    return " ".join(parsed(text).body.get_text(" ").split())


def one(source: str, *, kind: str = "markdown", role: str = "own", **more: Any) -> str:
    """Return a page with a single cell."""
    return sample(cells=[ShownCell(None, role, kind, source, **more)], notes=())


def shows(*outputs: Any) -> str:
    return one("x", kind="code", outputs=outputs)


class TestMarks:
    def test_the_header_says_whose_it_is_and_what_was_earned(self) -> None:
        text = said(sample())
        assert text.startswith(
            "Problem set 1 Ada Example , s0123456 7.33 of 20 points so far "
            "q5 (3 points) still waits for a mark by hand."
        )

    def test_a_total_that_is_settled_is_no_total_so_far(self) -> None:
        text = said(sample(marks=(*MARKS[:4], Mark("q5", 3.0, 3))))
        assert "10.33 of 20 points Marks" in text
        assert "waits" not in text

    def test_each_question_has_its_row_and_a_link_to_its_place(self) -> None:
        soup = parsed(sample())
        rows = [
            [" ".join(cell.get_text(" ").split()) for cell in row.find_all(["th", "td"])]
            for row in soup.tbody.find_all("tr")
        ]
        assert rows == [
            [r"Question 1: split a variance of $q\cdot k$", "4 of 4", "all points"],
            [
                "Question 2: rows of weights",
                "2 of 4",
                "part of the points your rows of weights sum to one along the queries",
            ],
            [
                "Question 3: a figure",
                "1.33 of 4",
                "part of the points the line does not reach the widest head",
            ],
            ["Question 4: a function", "0 of 5", "no points no answer came out"],
            ["Question 5: judge a reason", "– of 3", "waits for a mark by hand"],
        ]
        links = [link["href"] for link in soup.tbody.find_all("a")]
        assert links == [f"#question-q{i}" for i in range(1, 6)]
        for link in links:
            assert re.search(
                r"\([45] points\)$|\(3 points\)$", soup.find(id=link[1:]).h3.get_text()
            )

    def test_a_question_without_text_or_cells_is_called_by_its_name_and_has_no_link(self) -> None:
        soup = parsed(sample(marks=[Mark("q9", 1, 1)], cells=CELLS[:3]))
        assert soup.tbody.th.get_text() == "q9"
        assert soup.tbody.find("a") is None

    def test_the_mark_is_next_to_the_check(self) -> None:
        checks = parsed(sample()).select(".public, .verdict")
        words = [" ".join(each.get_text(" ").split()).replace(" All marks", "") for each in checks]
        assert words == [
            "Public check: passed. It looks at the form only.",
            "q1: 4 of 4 , all points.",
            "Public check: passed. It looks at the form only.",
            "q2: 2 of 4 , part of the points. your rows of weights sum to one along the queries",
            "Public check: the vertical axis of figure has no label",
            "q3: 1.33 of 4 , part of the points. the line does not reach the widest head",
            "Public check: it did not run.",
            "q4: 0 of 5 , no points. no answer came out",
            "q5: – of 3 , waits for a mark by hand.",
        ]
        passed = [each["class"] for each in checks if "public" in each["class"]]
        assert passed == [["public", "passed"]] * 2 + [["public", "failed"]] * 2

    def test_what_the_grader_mended_is_told(self) -> None:
        soup = parsed(sample())
        notes = [each.get_text() for each in soup.find(id="notes").find_next("ul").find_all("li")]
        assert notes == [
            "the cell q3_check was deleted; it was put back",
            "cell 14: <b>out of time</b>",
        ]
        assert parsed(sample(notes=())).find(id="notes") is None

    def test_of_endless_notes_the_first_are_shown(self) -> None:
        text = said(sample(notes=[f"note {i}." for i in range(50)]))
        assert "note 19. 30 more" in text

    @pytest.mark.parametrize(
        ("status", "headline", "advice"),
        [
            ("needs-review", "Not marked yet", "that is not a zero"),
            ("invalid", "Could not be marked", "hand in that .ipynb file"),
            ("missing", "Nothing was handed in", "tell your instructor when and where"),
        ],
    )
    def test_without_marks_the_page_says_why_and_what_helps(
        self, status: str, headline: str, advice: str
    ) -> None:
        text = sample(status=status, message="the file is <b>not</b> a notebook")
        assert "the file is <b>not</b> a notebook" in said(text)
        assert headline in said(text)
        assert advice in said(text)
        assert parsed(text).table is None
        assert "points so far" not in text
        assert "Your work" not in said(text)

    def test_without_a_reason_there_is_no_empty_line_for_it(self) -> None:
        assert 'class="message"' not in sample(status="missing", message="", notes=())

    def test_an_unknown_status_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"status must be one of graded, .*; got 'lost'"):
            sample(status="lost")

    @pytest.mark.parametrize("name", ["", "s9"])
    def test_somebody_without_a_name_is_a_student(self, name: str) -> None:
        who = parsed(sample(student=Student("s9", "", name))).select_one(".who")
        assert who.get_text() == "Student s9"

    def test_the_way_back_is_below_what_is_said(self) -> None:
        last = [each.find_all("p")[-1] for each in parsed(sample()).select(".verdict")]
        assert [(each["class"], each.get_text()) for each in last] == [(["back"], "All marks")] * 5

    def test_lines_of_a_message_stay_lines(self) -> None:
        text = sample(marks=[Mark("q1", 0.0, 4, "in your loop?\n`figure`: both axes")])
        assert parsed(text).select_one(".verdict .message").get_text() == (
            "in your loop?\nfigure: both axes"
        )

    def test_a_mark_under_another_status_is_not_shown(self) -> None:
        assert "right" not in said(sample(status="needs-review", message="who?"))


class TestWork:
    def test_the_problem_sets_own_cells_are_folded_under_their_headings(self) -> None:
        soup = parsed(sample())
        summaries = [each.get_text() for each in soup.find_all("summary")]
        assert summaries[:4] == [
            "Text of the problem set",
            "Code of the problem set",
            "The question",
            "The public check of q1",
        ]
        headings = [(each.name, each.get_text()) for each in soup.find_all(re.compile("h[1-6]"))]
        assert headings[:6] == [
            ("h1", "Problem set 1"),
            ("h2", "Marks"),
            ("h2", "Notes on your notebook"),
            ("h2", "Your work, as it ran"),
            ("h3", "Problem set 1: variance and saturation"),
            ("h3", "Question 1: split a variance of q\\cdot k (4 points)"),
        ]
        assert {name for name, _ in headings} == {"h1", "h2", "h3"}

    def test_a_text_that_is_only_a_heading_has_nothing_to_unfold(self) -> None:
        soup = parsed(one("## Only this", role="text"))
        assert soup.find("h3").get_text() == "Only this"
        assert soup.find("details") is None

    def test_a_students_headings_are_not_those_of_the_page(self) -> None:
        assert [each.get_text() for each in parsed(sample()).select("p.heading")] == [
            "My plan",
            "See?",
        ]

    def test_code_keeps_every_character_and_gets_colors(self) -> None:
        source = 'def f(x):\n\t"""Say <b>."""\n    return x != 0x1F  # & so\n\nclass A: pass'
        soup = parsed(one(source, kind="code"))
        assert soup.select_one(".cell pre").get_text() == source
        spans = {each["class"][0]: each.get_text() for each in soup.select(".cell span")}
        assert spans == {"k": "pass", "f": "A", "s": '"""Say <b>."""', "m": "0x1F", "c": "# & so"}

    def test_code_with_a_long_gap_has_no_colors(self) -> None:
        soup = parsed(one("x = 1" + " " * 200 + "# one", kind="code"))
        assert soup.select_one(".cell pre").get_text() == "x = 1" + " " * 200 + "# one"
        assert soup.select(".cell span") == []

    def test_a_comment_is_as_it_was_typed(self) -> None:
        comment = r"Why not $2\ln n$, or `exp`? *Think* of 5 $, and $\foo$."
        row = parsed(sample(marks=[Mark("q5", 1, 3, comment)])).select_one("td .message")
        codes = [(each.get_text(), each.get("class")) for each in row.select("code")]
        assert codes == [(r"$2\ln n$", ["tex"]), ("exp", None), (r"$\foo$", ["tex"])]
        assert row.get_text() == comment.replace("`", "")

    def test_formulas_are_shown_as_their_source(self) -> None:
        soup = parsed(sample())
        shown = [each.get_text() for each in soup.select(".cell .tex")]
        assert shown == ["d_k", r"\tau = \sqrt{d_k}", r"q\cdot k", "d_k", "d_k"]
        assert [each.get_text() for each in soup.select(".cell .tex.display")] == shown[1:2]

    @pytest.mark.parametrize(
        ("source", "inline", "block"),
        [
            ("Of $x$.", ["x"], []),
            (r"Of \(x\).", ["x"], []),
            (r"Of \\( x \\).", ["x"], []),
            ("Of $$x$$ here.", [], ["x"]),
            (r"Of \[x\] here.", [], ["x"]),
            ("Of\n\n$$\nx\n= 1\n$$\n\nhere.", [], ["x\n= 1"]),
            ("Of\n\n\\[\nx\n=\n1\n\\]\n\nhere.", [], ["x\n=\n1"]),
            ("Of\n\n\\\\[ x \\\\]\n", [], ["x"]),
            (
                "\\[\n\\begin{matrix} a \\\\[2pt] b \\end{matrix}\n\\]",
                [],
                ["\\begin{matrix} a \\\\[2pt] b \\end{matrix}"],
            ),
            ("- of $x$ and $$y$$\n\n> of $z$", ["x", "z"], ["y"]),
            ("| $x$ |\n|---|\n| \\(y\\) |", ["x", "y"], []),
            ("*of $a_1 b_2$*", ["a_1 b_2"], []),
            ("It costs $5 and $USD.", ["5 and "], []),
            (r"Of $\foo{x}$.", [r"\foo{x}"], []),
            (r"Of $\href{https://a.example}{x}$.", [r"\href{https://a.example}{x}"], []),
            ("Of $" + "{" * 99 + "$.", ["{" * 99], []),
            ("Of $<b>$.\n\n$$\n<b> {\n$$\n", ["<b>"], ["<b> {"]),
            ("$a\u202eb$ and $\\text{\0\u2066}$", ["a⟨U+202E⟩b", "\\text{⟨U+0000⟩⟨U+2066⟩}"], []),
        ],
    )
    def test_formulas_are_between_dollars_or_brackets(
        self, source: str, inline: list[str], block: list[str]
    ) -> None:
        found = parsed(one(source)).select(".cell .tex")
        shown = [(each.get_text(), "display" in each["class"]) for each in found]
        assert [text for text, display in shown if not display] == inline
        assert [text for text, display in shown if display] == block

    @pytest.mark.parametrize(
        "text",
        [
            "It costs $5 and $6.",
            "It costs $5, $6 or $7 a piece.",
            "Between 5$ and 6$2.",
            "Only $5.",
            "A `$x$` in code.",
            r"Escaped \$5\$ or [brackets] (and round ones).",
            r"Nothing in \[ \] and \( \) or \\( \\).",
            "\\[ \\]",
        ],
    )
    def test_dollars_of_prose_stay_dollars(self, text: str) -> None:
        soup = parsed(one(text))
        assert soup.select(".cell .tex") == []
        plain = text.replace("`", "").replace("\\", "")
        assert soup.select_one(".cell p:not(.label)").get_text() == plain

    def test_code_in_a_text_is_code(self) -> None:
        soup = parsed(one("```python\nx = 1  # <i>\n```\n\n```text\n1 < 2\n```"))
        assert [each.get_text() for each in soup.select(".cell pre")] == ["x = 1  # <i>", "1 < 2\n"]
        assert soup.select_one(".cell .c").get_text() == "# <i>"

    def test_a_cell_of_another_type_is_text(self) -> None:
        soup = parsed(one("<raw>", kind="raw"))
        assert soup.select_one(".cell pre").get_text() == "<raw>"

    def test_a_link_to_the_web_stays_and_tells_nobody_where_it_was(self) -> None:
        link = parsed(sample()).select_one(".own a")
        assert link["href"] == "https://example.org/a?b=1&c=2"
        assert link["rel"] == ["noopener", "noreferrer", "nofollow"]

    def test_what_is_too_long_is_cut_in_the_middle(self) -> None:
        text = said(one("a" * 15_000 + "b" * 15_000, kind="raw"))
        assert "a\n[10".replace("\n", " ") in text
        assert re.search(r"a \[\d+ characters are left out\] b", text)
        assert len(text) < 22_000

    def test_cells_without_end_end(self) -> None:
        cells = [ShownCell(None, "own", "code", f"{i:05}" * 4000) for i in range(400)]
        text = sample(cells=cells)
        assert len(text) < 1.1 * feedback.LARGEST_PAGE
        left = int(re.search(r"\[(\d+) more cells are left out", text)[1])
        assert left + len(parsed(text).select(".cell")) == 400

    def test_cells_whose_outputs_have_no_more_room_are_shown_without_them(self) -> None:
        wide = "".join(f"{i:09}\n" for i in range(1000))
        many = [{"output_type": "stream", "name": "stdout", "text": wide}] * 20
        cells = [ShownCell(None, "own", "code", f"x = {i}", many) for i in range(30)]
        cells.append(ShownCell("q5", "by hand", "markdown", "What I say.", question="q5"))
        text = sample(cells=cells)
        assert len(text) < 1.1 * feedback.LARGEST_PAGE
        assert len(parsed(text).select(".cell")) == 31
        assert "What I say." in said(text)
        assert "what this cell showed is left out" in said(text)


class TestOutputs:
    def test_each_kind_of_output_is_shown_as_what_it_is(self) -> None:
        shown = parsed(sample()).select("pre.output")
        assert [(each["class"][1], each.get_text()) for each in shown] == [
            ("text", "128"),
            ("text", "3/3 done"),
            ("stderr", "RuntimeWarning: invalid value"),
            ("text", "array([[1., 0.],\n [0., 1.]])"),
            ("text", "form: looks fine"),
            ("error", "NameError: name 'nothing' is not defined"),
        ]

    def test_a_traceback_is_folded_and_has_no_colors(self) -> None:
        trace = parsed(sample()).find("summary", string="Where it happened").find_next("pre")
        assert trace.get_text() == "Traceback\nline 1"

    def test_the_traceback_of_a_check_is_not_shown(self) -> None:
        assert "Trace of the check" not in sample()

    def test_a_check_that_fails_by_another_exception_names_it(self) -> None:
        cells = [
            ShownCell("q1_check", "check", "code", CHECK, [raised("TypeError", "no `len`")], "q1")
        ]
        assert "Public check: TypeError: no len" in said(sample(cells=cells))

    @pytest.mark.parametrize(
        ("name", "words"), [("AssertionError", "AssertionError"), ("", "an error")]
    )
    def test_a_check_without_a_message_still_failed(self, name: str, words: str) -> None:
        cells = [ShownCell("q1_check", "check", "code", CHECK, [raised(name, "")], "q1")]
        assert f"Public check: {words}" in said(sample(cells=cells))

    def test_an_image_says_whose_output_it_is(self) -> None:
        found = parsed(sample()).find("img")
        assert found["alt"] == "output of cell q3"
        assert base64.b64decode(found["src"].removeprefix("data:image/png;base64,")) == png(90, 60)
        assert parsed(shows(image())).find("img")["alt"] == "output of a cell that you added"

    @pytest.mark.parametrize(
        "data",
        [
            b"<svg onload=alert(1)>",
            b"\x89PNG\r\n\x1a\n",
            b"\x89PNG\r\n\x1a\n<svg xmlns='http://www.w3.org/2000/svg'>" + b" " * 40,
            b"GIF89a" + b"\0" * 40,
            b"",
            png(50_000, 50_000),
            png(0, 8),
        ],
    )
    def test_what_is_no_png_of_bearable_size_is_not_shown(self, data: bytes) -> None:
        text = shows(image(data))
        assert "data:image" not in text
        assert "an image that cannot be shown" in text

    @pytest.mark.parametrize("kind", ["jpeg", "gif"])
    def test_pictures_of_other_kinds_are_shown_as_what_they_are(self, kind: str) -> None:
        held = io.BytesIO()
        Image.new("RGB", (9, 6)).save(held, kind)
        data = base64.b64encode(held.getvalue()).decode()
        output = {"output_type": "display_data", "data": {f"image/{kind}": data}}
        assert clean_outputs([output | {"metadata": {}}]) == [output | {"metadata": {}}]
        assert parsed(shows(output)).find("img")["src"] == f"data:image/{kind};base64,{data}"
        others = [base64.b64encode(raw).decode() for raw in (png(9, 6), b"<svg>" * 9)]
        for wrong in ("alert(1)", data[:4], *others):
            other = {"output_type": "display_data", "data": {f"image/{kind}": wrong}}
            assert clean_outputs([other]) == []
            assert "data:image" not in shows(other)

    def test_a_picture_that_claims_to_be_vast_is_not_shown(self) -> None:
        vast = b"GIF89a" + (60_000).to_bytes(2, "little") * 2
        frame = (60_000).to_bytes(2) * 2
        jpeg = b"\xff\xd8\xff\xc0\0\x11\x08" + frame + b"\0" * 20
        for kind, raw in (("gif", vast), ("jpeg", jpeg)):
            data = {f"image/{kind}": base64.b64encode(raw).decode()}
            assert clean_outputs([{"output_type": "display_data", "data": data}]) == []

    @pytest.mark.parametrize("text", ['"><script>', "äöü", "A", "A" * 2_000_000, None, 7, ["A", 3]])
    def test_what_is_no_base64_is_not_shown(self, text: Any) -> None:
        shown = shows({"output_type": "display_data", "data": {"image/png": text}})
        assert "data:image" not in shown
        assert "an image that cannot be shown" in shown

    def test_base64_in_lines_is_one_image(self) -> None:
        lines = [line + "\n" for line in re.findall(".{1,76}", image()["data"]["image/png"])]
        soup = parsed(shows({"output_type": "display_data", "data": {"image/png": lines}}))
        assert "\n" not in soup.find("img")["src"]

    @pytest.mark.parametrize(
        "data",
        [
            {"text/html": "<script>alert(1)</script>"},
            {"image/svg+xml": "<svg onload=alert(1)>"},
            {"application/javascript": "alert(1)"},
            {"application/vnd.jupyter.widget-view+json": {"model_id": "alert(1)"}},
        ],
    )
    def test_other_kinds_of_output_are_not_shown(self, data: dict[str, Any]) -> None:
        for kind in ("display_data", "execute_result", "unheard of"):
            text = shows({"output_type": kind, "data": data | {"text/plain": "instead"}})
            assert "alert" not in text
            assert parsed(text).select_one("pre.output").get_text() == "instead"
        assert "alert" not in shows({"output_type": "display_data", "data": data})

    @pytest.mark.parametrize(
        "output",
        [
            None,
            "text",
            [],
            {},
            {"output_type": "stream"},
            {"output_type": "stream", "text": {"a": 1}},
            {"output_type": "stream", "text": " \n"},
            {"output_type": "display_data", "data": "<b>"},
            {"output_type": "display_data", "data": {"text/plain": None}},
        ],
    )
    def test_what_is_no_output_leaves_no_trace(self, output: Any) -> None:
        assert parsed(shows(output)).select(".output, .left-out, img") == []

    @pytest.mark.parametrize("lines", [None, "text", [None, 3], {"a": 1}])
    def test_an_exception_without_lines_has_none(self, lines: Any) -> None:
        output = {"output_type": "error", "ename": None, "evalue": 3, "traceback": lines}
        soup = parsed(shows(output))
        assert soup.select_one("pre.error").get_text() == "an error"
        assert soup.find("summary") is None

    def test_lines_come_as_a_list_too(self) -> None:
        soup = parsed(shows({"output_type": "stream", "text": ["a\r\n", "b\r", "\n"]}))
        assert soup.select_one("pre.output").get_text() == "a\nb"

    def test_of_endless_outputs_the_first_are_shown(self) -> None:
        soup = parsed(shows(*[stream(f"{i}\n") for i in range(50)]))
        assert len(soup.select("pre.output")) == feedback.MOST_OUTPUTS
        assert soup.select_one(".left-out").get_text() == "[30 more outputs are left out]"


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "</code></pre></div><script>alert(1)</script>",
    "</title></style><script>alert(1)</script>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java&#x09;script:alert(1))",
    "[a](\x01javascript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[a](vbscript:msgbox(1))",
    "[a](//evil.example/x)",
    "[a](file:///etc/passwd)",
    "[a](%6aavascript:alert(1))",
    "[a](https://x.example/'onmouseover='alert(1)/)",
    '[a](<https://x.example/" onmouseover="alert(1)>)',
    '[a](https://x.example "t\\" onmouseover=\\"alert(1)")',
    "<javascript:alert(1)>",
    '<https://x.example/"onmouseover=alert(1)>',
    "[a][b]\n\n[b]: javascript:alert(1)",
    "![a](https://evil.example/pixel.png)",
    "![a](data:image/svg+xml,<svg/onload=alert(1)>)",
    '![" onerror="alert(1)](x)',
    "![<script>alert(1)</script>](x)",
    "[![a](javascript:alert(1))](javascript:alert(2))",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action=https://evil.example/><button>x",
    '```"onmouseover=alert(1)\n</code><script>alert(1)</script>\n```',
    "```python\n</code><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "$</code><script>alert(1)</script>$",
    "$</math><script>alert(1)</script>$",
    r"$\text{</mtext></math><img src=x onerror=alert(1)>}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"\(\style{position:fixed}{x}\) \[\class{back}{x}\]",
    "$$\n\\text{<annotation-xml><script>alert(1)</script>}\n$$",
    r"$\def\a{\a\a}\a$ $\unicode{x3c}script\unicode{x3e}$ $\text{&#x3c;script&#x3e;}$",
    "$$\n</code><script>alert(1)</script>\n$$",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "# <script>alert(1)</script>",
    "## x {onclick=alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7 * 7 }}{% raw %}<script>alert(1)</script>",
    "\ud800<script>alert(1)</script>",
    "~~<script>alert(1)</script>~~",
    "> <script>alert(1)</script>",
    "1. <script>alert(1)</script>",
]


def reachable(text: str) -> list[ShownCell]:
    """Return cells with one text in all places that a student can reach."""
    cells = [
        ShownCell(name, role, kind, text, [stream(text), raised(text, text, text)], "q1")
        for name, role in [(text, "own"), ("q1", "answer"), ("q1", "by hand"), ("t", "text")]
        for kind in ("markdown", "code", "raw")
    ]
    cells += [
        ShownCell("q1_check", "check", "code", "pass", [raised(name, text, text)], "q1")
        for name in ("AssertionError", text)
    ]
    result = {"output_type": "execute_result", "data": {"text/plain": text, "image/png": text}}
    return [*cells, ShownCell(None, "own", "code", text, [result, {"data": {"text/plain": text}}])]


def everywhere(text: str) -> str:
    """Return pages with one text in all places that a student can reach."""
    return sample(
        student=Student(text, text, text),
        cells=reachable(text),
        marks=[Mark("q1", 0.0, 4, text), Mark(text, 2.0, 4, text)],
        notes=[text],
    ) + sample(status="invalid", message=text)


class TestStrangers:
    @pytest.mark.parametrize("payload", PAYLOADS)
    def test_a_payload_is_text_wherever_it_is(self, payload: str) -> None:
        text = everywhere(payload)
        assert harm(text) == []
        assert text.encode()

    def test_the_tests_of_harm_see_it(self) -> None:
        bad = (
            '<script></script><p onclick="x">x</p><a href="javascript:x">x</a><img src="x.png">'
            '<p style="color: red">x</p><meta http-equiv=refresh><math>x</math>'
            '<span tabindex=1>x</span><style>a{}</style><style>@import "x"</style>'
        )
        assert harm(bad) == [
            "<script>",
            "<p onclick=x>",
            "<a href=javascript:x>",
            "<img src=x.png>",
            "<p style=color: red>",
            "<meta http-equiv=refresh>",
            "<math>",
            "<span tabindex=1>",
            "style sheets",
        ]

    @settings(max_examples=60, deadline=None)
    @given(
        st.text(
            alphabet=st.sampled_from("<>\"'&/()[]!`$*_#|\\:-=~^ \n\r\t\x1b\u202eaAjx0;{}%\ud800")
        )
    )
    def test_no_text_becomes_more_than_text(self, text: str) -> None:
        whole = everywhere(text)
        assert harm(whole) == []
        assert not UNSEEN.search(whole)

    def test_the_policy_comes_first_and_lets_nothing_load(self) -> None:
        metas = parsed(sample()).head.find_all("meta")
        assert metas[1]["content"] == (
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "base-uri 'none'; form-action 'none'"
        )
        assert harm(sample()) == []

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bMup", "up"),
            ("a\x1b", "a⟨U+001B⟩"),
            ("a\0b\x7f\x9b", "a⟨U+0000⟩b⟨U+007F⟩⟨U+009B⟩"),
            ("ab\u202egnp.exe", "ab⟨U+202E⟩gnp.exe"),
            ("\u2066x\u2069\u200f\ufeff\u200b", "⟨U+2066⟩x⟨U+2069⟩⟨U+200F⟩⟨U+FEFF⟩⟨U+200B⟩"),
            ("\udc80", "⟨U+DC80⟩"),
            ("\U000e0041", "⟨U+E0041⟩"),
            ("tab\tline\nδ 你好 👩‍🔬 é", "tab\tline\nδ 你好 👩‍🔬 é"),
        ],
    )
    def test_what_cannot_be_seen_is_named_or_gone(self, text: str, shown: str) -> None:
        assert visible(text) == shown

    @pytest.mark.parametrize(
        "source",
        [
            *("[" * 20_000, "*a _" * 5_000, "> " * 10_000, "`" * 20_000, "[a](" * 5_000),
            *("|" * 20_000, "$a$ " * 5_000, "$" * 20_000, "$" + "{" * 19_998 + "$"),
            *(r"\(" * 10_000, r"\\(" * 6_666, r"\[" * 10_000, "\\\\[\n" * 5_000, "\\" * 20_000),
            r"$\sqrt{\frac{a}{b}}$ " * 900,
        ],
        ids=lambda source: source[:8],
    )
    def test_markdown_made_to_be_slow_is_rendered_all_the_same(self, source: str) -> None:
        assert harm(one(source)) == []


def test_pages_of_a_batch_share_what_is_the_same() -> None:
    # the text and code of the problem set are rendered once, not once for each student
    feedback._markdown.cache_clear()
    feedback._code.cache_clear()
    sample()
    before = feedback._markdown.cache_info().misses, feedback._code.cache_info().misses
    sample(student=Student("s2", "", "Bob Example"))
    assert (feedback._markdown.cache_info().misses, feedback._code.cache_info().misses) == before


# What would be loaded, run or opened by a page shows as a request, a dialog or a new page.
@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    contexts = []

    def opened(text: str, width: int = 1280, scheme: str = "light") -> tuple[Page, list[str]]:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        seen: list[str] = []

        def admit(route: Route) -> None:
            seen.append(route.request.url)
            route.abort()

        context.route(re.compile(r"^(?!file:|data:)"), admit)
        tab = context.new_page()
        tab.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
        tab.on("console", lambda line: seen.append(line.text))
        tab.on("pageerror", lambda error: seen.append(str(error)))
        tab.goto(path.as_uri())
        return tab, seen

    yield opened
    for context in contexts:
        context.close()


STICKING_OUT = """() => [...document.querySelectorAll("body *")]
  .filter((node) => node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((node) => `${node.tagName}.${node.className}`)"""
UNFOLDED = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


class TestBrowser:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("status", ["graded", "needs-review", "invalid", "missing"])
    def test_axe_finds_nothing(self, look: Any, status: str, scheme: str) -> None:
        tab, seen = look(sample(status=status), scheme=scheme)
        tab.evaluate(UNFOLDED)
        found = Axe().run(tab).response["violations"]
        assert [(each["id"], [node["html"][:80] for node in each["nodes"]]) for each in found] == []
        assert seen == []

    @pytest.mark.parametrize("width", [320, 390, 1280])
    def test_nothing_sticks_out(self, look: Any, width: int) -> None:
        wide = ShownCell(None, "own", "code", "x" * 400, [stream("y" * 400), image(png(99, 20))])
        sums = "x+" * 60
        table = f"| $y + {sums}x$ | b |\n|---|---|\n| c | $z$ |"
        texts = [f"In a text ${sums}x$.", f"$$\n{sums}x\n$$", f"- $${sums}x$$", table]
        long = [ShownCell(None, "own", "markdown", text) for text in texts]
        tab, _ = look(sample(cells=[*CELLS, wide, *long], notes=["z" * 300]), width=width)
        tab.evaluate(UNFOLDED)
        assert tab.evaluate(STICKING_OUT) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width

    @pytest.mark.parametrize("width", [390, 1280])
    @pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
    def test_the_texts_of_the_problem_sets_fit(self, look: Any, path: Path, width: int) -> None:
        texts = [
            cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"
        ]
        cells = [ShownCell(f"t{i}", "text", "markdown", text) for i, text in enumerate(texts)]
        tab, seen = look(sample(cells=cells), width=width)
        tab.evaluate(UNFOLDED)
        assert tab.evaluate(STICKING_OUT) == []
        assert tab.locator(".tex").count() > 20
        assert seen == []

    def test_no_payload_runs_or_loads(self, look: Any) -> None:
        name = "".join(PAYLOADS)
        cells = [cell for payload in PAYLOADS for cell in reachable(payload)]
        tab, seen = look(sample(student=Student(name, "", name), cells=cells, notes=PAYLOADS))
        tab.evaluate(UNFOLDED)
        tab.wait_for_timeout(100)
        assert tab.locator(".cell").count() == len(cells)
        assert seen == []

    def test_a_script_that_got_in_would_not_run(self, look: Any) -> None:
        extra = "<script>alert(1)</script><img src=https://evil.example/x.png onerror=alert(2)>"
        tab, seen = look(sample().replace("</main>", f"{extra}</main>"))
        assert "alert(1)" in tab.content()
        tab.wait_for_timeout(100)
        assert len(seen) >= 2
        assert all("Content Security Policy" in each for each in seen)

    def test_the_browser_shows_the_image_and_follows_a_link_within(self, look: Any) -> None:
        tab, _ = look(sample())
        assert tab.evaluate("document.querySelector('img').naturalWidth") == 90
        tab.click("text=Question 3")
        top = tab.evaluate("document.querySelector(':target').getBoundingClientRect().y")
        assert -1 < top < 900
