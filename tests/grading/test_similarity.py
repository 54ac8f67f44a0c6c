"""Which pairs of submissions a person is told to look at, and what the page says of them."""

from __future__ import annotations

import csv
import io
import itertools
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import combine_pvalues

from grading.__main__ import main
from grading.gradebook import autograded
from grading.reports import similarity
from grading.reports.feedback import ShownCell
from grading.reports.similarity import Class, Pair, Work, features
from tests.grading.classroom import Written, copied, honest
from tests.grading.pages import harm, hold_in_a_browser, parsed
from tests.grading.trial import cells, checked, problem_set

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser

SETS = ("problem_set_1", "problem_set_2")
HOSTILE = "</code></main><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{ 7*7 }}"


def given(assignment: str) -> list[ShownCell]:
    return [
        ShownCell(each.name, each.role, each.kind, each.source)
        for each in problem_set(assignment).cells
    ]


def group(works: list[Work], assignment: str = SETS[0]) -> Class:
    questions = [each.name for each in problem_set(assignment).questions]
    solved = [cell(cells(assignment)[name], name) for name in checked(assignment)]
    return Class(works, questions, given(assignment), solved)


def students(assignment: str, count: int, seed: int) -> list[Written]:
    rng = random.Random(seed)  # noqa: S311
    return [honest(rng, assignment) for _ in range(count)]


def works(written: list[Written]) -> list[Work]:
    return [each.work(f"s{i:04}") for i, each in enumerate(written)]


def found(pairs: list[Pair]) -> set[tuple[str, str]]:
    return {(each.first.student, each.second.student) for each in pairs}


def cell(source: str, question: str = "q1", kind: str = "code") -> ShownCell:
    return ShownCell(question, "answer", kind, source, question=question)


def shapes(source: str, kind: str = "code") -> set[str]:
    return {each.what for each in features(source, kind)}


PARAGRAPH = (
    "Because raw scores spread with the width of the head, the row of 64 weights freezes "
    "at the start, and what is frozen learns nothing from any of its gradients."
)


class TestDisguises:
    """A copy that looks the same to a reader is found, and shown as what it is."""

    def pairs_with(self, paragraph: str, code: str = "") -> list[Pair]:
        """Return the pairs of which the second has a paragraph of its own like the first's."""
        made = works(students(SETS[0], 12, 5))

        def told(work: Work, text: str, own: str) -> Work:
            kept = tuple(each for each in work.cells if each.question != "q5")
            more = (cell(text, "q5", "markdown"), *((cell(own, "q2"),) if own else ()))
            return replace(work, cells=(*kept, *more))

        others = [
            told(each, f"I, {each.student}, say {i} things.", "") for i, each in enumerate(made)
        ]
        first, second = (
            told(made[0], PARAGRAPH, self.CODE if code else ""),
            told(made[1], paragraph, code),
        )
        return [
            pair
            for pair in group([first, second, *others[2:]]).pairs()
            if (pair.first.student, pair.second.student) == ("s0000", "s0001")
        ]

    CODE = "\n".join(f"part_{i} = np.exp(first[{i}:] - second.T @ third**{i})" for i in range(9))

    def test_another_paragraph_is_no_reason(self) -> None:
        other = (
            "Nobody can say why this happens unless the numbers of each head are known, I think."
        )
        assert not [why for pair in self.pairs_with(other) for why in pair.reasons if "word" in why]

    @pytest.mark.parametrize(
        ("disguise", "hidden"),
        [
            (lambda text: text, 0),
            (lambda text: text.replace("64", "128"), 0),
            (lambda text: text.replace("e", "\N{CYRILLIC SMALL LETTER IE}"), 17),
            (lambda text: text.replace("s", "s\N{ZERO WIDTH SPACE}"), 12),
            (lambda text: text.replace("a", "a\N{SOFT HYPHEN}"), 11),
            (lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in text), 0),
        ],
        ids=["as it is", "another number", "look-alikes", "zero width", "hyphens", "full width"],
    )
    def test_a_copied_paragraph_is_found(self, disguise: Callable[[str], str], hidden: int) -> None:
        (pair,) = self.pairs_with(disguise(PARAGRAPH))
        assert any("words is the same word for word" in why for why in pair.reasons)
        told = [why for why in pair.reasons if "hide or look like others" in why]
        assert bool(told) == bool(hidden)
        if hidden:
            count = sum(ord(each) > 127 for each in disguise(PARAGRAPH))
            assert told == [f"s0001 has {count} characters that hide or look like others"]

    def test_code_that_is_executed_from_a_text_is_found(self) -> None:
        for hidden in (
            f"exec({self.CODE!r})",
            f"text = {self.CODE[:300]!r} + {self.CODE[300:]!r}\nexec(text)",
        ):
            assert shapes(self.CODE) <= shapes(hidden)
        # and a long sum of texts takes no longer than its length
        assert not shapes(" + ".join(["'x = 1;'"] * 400)) & shapes("y = f(x, 2)")
        assert shapes("'a plain text, with a comma (and brackets)'") == shapes("'another'")


class TestFeatures:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("x = a * np.exp(b / 2)", "loss = rate * np.exp(score / 7)"),
            ("x = a * np.exp(b / 2)", "x = (\n    np.exp(b / 2) * a  # as in class\n)"),
            ("def f(a):\n    return a**2 + len(a)", "b = len(a) + a**2"),
            ("x += a.sum() / 2", "x = x + a.sum() / 2"),
            ("if a.sum() > b.max(): pass", "if b.max() < a.sum(): pass"),
            ("p = f(a, b)\nq = g[1:] - h.T", "def u():\n  w = h[2:] - g.T\nv = f(c, d)"),
            ("%matplotlib inline\nx = f(a, b)", "!pip list\ny = f(c, d)"),
            ("'a  text' + f(a, b)", 'f(c, d) + "another"'),
        ],
    )
    def test_what_may_differ_in_a_copy_does_not_count(self, one: str, other: str) -> None:
        small, large = sorted((shapes(one), shapes(other)), key=len)
        assert small
        assert small <= large

    def test_adding_in_place_is_adding(self) -> None:
        assert shapes("x += a.sum() / 2") == shapes("x = x + a.sum() / 2")

    def test_a_loop_shares_its_body_with_a_comprehension(self) -> None:
        body = shapes("a @ g[1:] / 2")
        assert body <= shapes("y = [a @ h[2:] / 3 for a in b]")
        assert body <= shapes("for a in b:\n    y.append(a @ g[1:] / 2)")

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("x = a * np.exp(b / 2)", "x = a * np.log(b / 2)"),
            ("x = f(a) - f(b[1])", "x = f(b[1]) - f(a)"),
            ("np.sum(a, axis=1)", "np.sum(a, dtype=1)"),
            ("x = len(a) + 1", "x = max(a) + 1"),
            ("x = a.b <= c.d", "x = a.b != c.d"),
        ],
    )
    def test_what_is_another_computation_does(self, one: str, other: str) -> None:
        assert shapes(one) != shapes(other)

    def test_code_that_does_not_parse_is_read_line_by_line(self) -> None:
        right = "def f(a):\n    for i in a.T:\n        return a @ np.exp(i / 2)"
        assert shapes("x = = 1\n" + right) >= shapes("a @ np.exp(i / 2)")
        assert {each.line for each in features("x = = 1\ny = a @ np.exp(i / 2)")} == {1}
        assert shapes("first I wanna divide by root")

    def test_a_text_is_read_in_runs_of_words(self) -> None:
        assert shapes("The spread, **was** 3.5 then", "markdown") == {
            "the spread was #",
            "spread was # #",
            "was # # then",
        }

    @pytest.mark.parametrize(
        "source",
        [
            *("(" * 30_000, "a" + ".b" * 9_000, "-" * 9_000 + "1", "\0", "[" * 90 + "]" * 90),
            *("x = '\\q'", "a+" * 9_000 + "a", "\ud800 + f(x)", "lambda: " * 2_000 + "1"),
        ],
        ids=lambda source: ascii(source[:4]),
    )
    def test_hostile_code_ends(self, source: str) -> None:
        assert len(list(features(source))) < 50_000


@pytest.mark.proof("unusual")
@pytest.mark.parametrize("assignment", SETS)
def test_copies_are_found_and_honest_students_are_not(assignment: str) -> None:
    # 4 classes of 60, of whom 10 copy from somebody
    copies = hits = pairs = alarms = 0
    for seed in range(4):
        written = students(assignment, 50, seed)
        rng = random.Random(100 + seed)  # noqa: S311
        models = [rng.randrange(50) for _ in range(10)]
        everybody = written + [copied(rng, written[i]) for i in models]
        reported = found(group(works(everybody), assignment).pairs())
        planted = {(f"s{i:04}", f"s{50 + j:04}") for j, i in enumerate(models)}
        apart = {
            (f"s{i:04}", f"s{j:04}")
            for i, j in itertools.combinations(range(50), 2)
            if written[i].chosen != written[j].chosen
        }
        copies, hits = copies + len(planted), hits + len(planted & reported)
        pairs, alarms = pairs + len(apart), alarms + len(apart & reported)
    assert hits >= 0.95 * copies
    assert alarms <= 0.01 * pairs


@pytest.mark.parametrize("size", [2, 3, 40])
def test_the_same_file_is_found_in_a_class_of_any_size(size: int) -> None:
    written = students(SETS[0], size, 5)
    twin = written[0].work("twin")
    (pair, *_) = group([*works(written), twin]).pairs()
    assert (pair.first.student, pair.second.student) == ("s0000", "twin")
    assert pair.same
    assert pair.reasons[0] == "everything is the same letter for letter"


def test_the_same_file_under_another_number_is_found() -> None:
    written = students(SETS[0], 6, 6)
    note = cell("# s0000 made this\nx = 1")
    works_ = works(written)
    works_[0] = Work("s0000", (*works_[0].cells, note))
    kept = Work("twin1", works_[0].cells)
    other = Work("twin2", (*works_[0].cells[:-1], cell("# twin2 made this\nx = 1")))
    pairs = group([*works_, kept, other]).pairs()
    same = {(each.first.student, each.second.student) for each in pairs if each.same}
    assert same == {("s0000", "twin2")}
    (told,) = [each for each in pairs if found([each]) == {("s0000", "twin1")}]
    assert told.number
    assert "one has the other's student number in it" in told.reasons


def test_who_handed_in_the_stubs_is_not_reported() -> None:
    stubs = tuple(
        ShownCell(each.name, each.role, each.kind, each.source, question=each.name)
        for each in problem_set(SETS[0]).cells
        if each.role in ("answer", "by hand")
    )
    assert (
        group([Work("s1", stubs), Work("s2", stubs), *works(students(SETS[0], 8, 7))]).pairs() == []
    )


def test_lines_of_one_question_that_are_the_same_are_enough() -> None:
    written = students(SETS[0], 30, 8)
    many = "\n".join(f"wierd_{i} = my_spread_of_{i} / {i + 2}  # dont ask" for i in range(8))
    first, second, *others = works(written)
    both = [Work(each.student, (*each.cells, cell(many))) for each in (first, second)]
    pairs = group([*both, *others]).pairs()
    assert ("s0000", "s0001") in found(pairs)
    few = [
        Work(each.student, (*each.cells, cell(many[: len(many) // 2]))) for each in (first, second)
    ]
    assert ("s0000", "s0001") not in found(group([*few, *others]).pairs())
    # what the whole class has is nobody's own
    all_ = [Work(each.student, (*each.cells, cell(many))) for each in (first, second, *others)]
    assert ("s0000", "s0001") not in found(group(all_).pairs())


def test_lines_of_the_problem_set_are_nobodys_own() -> None:
    stub = problem_set(SETS[1]).by_name["q4_check"].source
    assert len([line for line in stub.split("\n") if len(line.strip()) >= 12]) > 8
    first, second, *others = works(students(SETS[1], 30, 10))
    both = [Work(each.student, (*each.cells, cell(stub, "q4"))) for each in (first, second)]
    assert ("s0000", "s0001") not in found(group([*both, *others], SETS[1]).pairs())


def test_what_the_model_solution_has_counts_little() -> None:
    solved = tuple(cell(cells(SETS[0])[name], name) for name in checked(SETS[0]))
    others = works(students(SETS[0], 20, 11))
    everybody = [Work("a", solved), Work("b", solved), *others]
    told = group(everybody)
    untold = Class(everybody, told.questions, given(SETS[0]))
    for name in checked(SETS[0]):
        assert told._shares(name)[0, 1] < untold._shares(name)[0, 1]


def test_what_many_students_have_counts_little() -> None:
    written = works(students(SETS[0], 30, 9))
    rare = "x = np.cumsum(np.tril(a @ b)[::2] ** c.T, axis=0) / np.hypot(d[1:], f(e) % 3)"

    def share(having: int) -> float:
        everybody = [
            Work(each.student, (*each.cells, cell(rare, "q4")) if i < having else each.cells)
            for i, each in enumerate(written)
        ]
        return float(group(everybody)._shares("q4")[0, 1])

    assert share(2) > share(12) > share(30)


def test_a_solution_that_everybody_was_taught_is_no_reason() -> None:
    """One of them has a bracket too few, so that the lines of it are read one by one."""
    taught = works(students(SETS[0], 1, 3))[0].cells
    class_ = [
        Work(f"s{i}", tuple(replace(each, source=f"{each.source}\n# mine {i}") for each in taught))
        for i in range(7)
    ]
    broken = tuple(replace(each, source=each.source.replace(")", "", 1)) for each in taught)
    pairs = group([*class_, Work("broken", broken)]).pairs()
    assert [pair for pair in pairs if not pair.shared and not pair.lines] == []


def test_what_most_of_a_class_has_makes_nobody_alike() -> None:
    first, *others = works(students(SETS[0], 5, 3))
    class_ = group([*others, *(replace(first, student=f"taught{i}") for i in range(30))])
    assert class_._shares("q1")[-1, -2] == 0


def test_odds_are_fishers() -> None:
    surprise = -5 * math.log(0.01)
    nobody, shares = Work("a", ()), dict.fromkeys("12345", 0.5)
    pair = Pair(nobody, nobody, shares, 0.5, surprise, False, frozenset(), 0, False, {})
    assert pair.odds == pytest.approx(combine_pvalues([0.01] * 5).pvalue, rel=1e-9)


def test_surprise_is_the_rank_among_pairs() -> None:
    shares = np.zeros((4, 4))
    shares[np.triu_indices(4, 1)] = [0.5, 0.1, 0.1, 0.9, 0.0, 0.2]
    ranks = np.exp(-similarity._surprise(shares + shares.T))[np.triu_indices(4, 1)] * 6
    assert ranks == pytest.approx([2, 5, 5, 1, 6, 3])


class TestCommand:
    @pytest.fixture
    def out(self, tmp_path: Path) -> Path:
        """Return what `make grade` leaves of a class of eight with a copy."""
        known = problem_set(SETS[0])
        written = students(SETS[0], 8, 3)
        everybody = [*works(written), copied(random.Random(1), written[2]).work("copy")]  # noqa: S311
        for work in everybody:
            path = tmp_path / "autograded" / work.student / SETS[0] / f"{SETS[0]}.ipynb"
            path.parent.mkdir(parents=True)
            locked = ShownCell("q1_check", "check", "code", "x = np.exp(rare[1:] ** 2)")
            path.write_text(autograded.notebook(known, [*work.cells, locked], []), "utf-8")
        return tmp_path

    def test_a_page_and_a_table_are_written(
        self, out: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["similarity", "--out", str(out)]) == 0
        page = out / f"similarity-{SETS[0]}.html"
        assert capsys.readouterr().out.startswith(f"{page}: ")
        (first, *_) = csv.DictReader(io.StringIO(page.with_suffix(".csv").read_text("utf-8")))
        assert (first["first"], first["second"]) == ("copy", "s0002")
        text = parsed(page.read_text("utf-8")).get_text(" ", strip=True)
        assert "9 submissions compared, 36 pairs" in text
        assert "A reason to look, never a mark." in text
        # only what students wrote is read
        assert "rare[1:]" not in text
        assert page.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ([], "OUT is missing: make similarity OUT=..."),
            (["--out", "OUT", "--assignment", "week9"], "ASSIGNMENT must be one of"),
            (["--out", "OUT", "--assignment", SETS[1]], "OUT must hold graded notebooks of"),
        ],
    )
    def test_what_is_not_there_is_said(
        self, out: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
    ) -> None:
        given = [each.replace("OUT", str(out)) for each in options]
        assert main(["similarity", *given]) == 2
        assert says in capsys.readouterr().err


def hostile_page() -> str:
    written = works(students(SETS[0], 12, 4))
    name = f"=1+1{HOSTILE}"
    bad = cell(f"x = '{HOSTILE}'\n" + "\n".join(f"spread_{i} = '{'w' * 99}{i}'" for i in range(9)))
    first = Work(name, (*written[0].cells, bad), name=f"Ada {HOSTILE}")
    both = [first, Work("s0001", (*written[1].cells, bad))]
    found_ = group([*both, *written[2:]])
    pairs = found_.pairs()
    assert (name, "s0001") in found(pairs)
    assert similarity.table(pairs).startswith("first,second,")
    assert "\r\n'=1+1" in similarity.table(pairs)
    return similarity.page(found_, pairs, SETS[0])


def test_what_students_wrote_is_only_text() -> None:
    page = hostile_page()
    assert harm(page) == []
    assert "{{ 7*7 }}" in page
    assert "\u202e" not in page


def test_the_marks_say_who_else_has_it() -> None:
    written = works(students(SETS[0], 20, 5))
    rare = "my_own = np.tril(a @ b)[::3] ** 2.5"
    some = {0, 1, 7, 8}
    everybody = [
        Work(each.student, (*each.cells, cell(rare)) if i in some else each.cells)
        for i, each in enumerate(written)
    ]
    found_ = group([*everybody, Work("twin", everybody[0].cells)])
    (pair,) = [each for each in found_.pairs() if each.same]
    page = parsed(similarity.page(found_, [pair], SETS[0]))
    marked = [each.get_text(" ", strip=True) for each in page.select(".lines .shared")]
    assert f"● 3 {rare}" in marked
    assert not page.select(".lines > div:not(.shared) > span:not(:empty)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(browser: Browser, tmp_path: Path, scheme: str) -> None:
    hold_in_a_browser(browser, hostile_page(), tmp_path, scheme)
