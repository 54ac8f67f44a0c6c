"""What the marks of a class say of its questions, against classes whose truth is known."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grading.__main__ import main
from grading.gradebook.book import Book
from grading.problem_set import ProblemSet, Question, problem_sets
from grading.reports import items
from grading.reports.items import Analysis, alpha, analyze, rest_correlations
from grading.results import Mark, Result, Student
from tests.grading.pages import harm, hold_in_a_browser, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

QUESTIONS = tuple(Question(f"q{i}", 4, by_hand=i == 5) for i in range(1, 6))
SET = ProblemSet("week3", (), QUESTIONS)
LOADS = np.array([0.7, 0.6, 0.5, 0.4, 0.6])
EASE = np.array([0.8, 0.9, -0.2, 0.0, 0.4])
TOLD = ("has no value yet", "forgot the mean", "forgot the 12 ties", "counted twice", "")
WRONG = "is not what follows"


def drawn(rng: np.random.Generator, size: int, ease: np.ndarray = EASE) -> np.ndarray:
    """Draw the points of a class: ability and chance, cut into five grades."""
    ability, chance = rng.normal(size=(size, 1)), rng.normal(size=(size, 5))
    shown = LOADS * ability + np.sqrt(1 - LOADS**2) * chance + ease
    return (shown[:, :, np.newaxis] > [-0.5, 0, 0.5, 1]).sum(axis=-1).astype(float)


def results(points: np.ndarray, told: dict[tuple[int, int], str] | None = None) -> Iterator[Result]:
    for i, row in enumerate(points):
        marks = tuple(
            Mark(
                each.name,
                None if np.isnan(earned) else float(earned),
                4,
                "" if np.isnan(earned) else (told or {}).get((i, j), TOLD[int(earned)]),
            )
            for j, (each, earned) in enumerate(zip(QUESTIONS, row, strict=True))
        )
        yield Result(Student(f"s{i:04}", "", ""), "week3", "graded", "", marks)


def analyzed(points: np.ndarray, told: dict[tuple[int, int], str] | None = None) -> Analysis:
    return analyze(results(points, told), SET)


def wrong_key(points: np.ndarray) -> tuple[np.ndarray, dict[tuple[int, int], str]]:
    """Take for right in question 2 what is a common mistake: right answers earn nothing."""
    marked = points.copy()
    marked[:, 1] = np.select([points[:, 1] == 4, points[:, 1] == 2], [0, 4], points[:, 1])
    told = {(i, 1): TOLD[int(earned)] for i, earned in enumerate(points[:, 1])}
    told |= {(i, 1): WRONG for i in np.flatnonzero(points[:, 1] == 4).tolist()}
    told |= {(i, 1): "" for i in np.flatnonzero(points[:, 1] == 2).tolist()}
    return marked, told


def test_alpha_and_correlations_of_an_example_by_hand() -> None:
    # variances 2, 2 and 4, covariances 1, 0 and 2: the sum has 8 + 2 * 3 = 14
    covariances = np.array([[2.0, 1, 0], [1, 2, 2], [0, 2, 4]])
    assert alpha(covariances) == pytest.approx(3 / 2 * (1 - 8 / 14))
    # rests: 2 + 4 + 2 * 2 = 10, 2 + 4 + 0 = 6, 2 + 2 + 2 = 6
    expected = [1 / np.sqrt(2 * 10), 3 / np.sqrt(2 * 6), 2 / np.sqrt(4 * 6)]
    assert rest_correlations(covariances) == pytest.approx(expected)


def test_values_are_those_of_their_definitions() -> None:
    points = drawn(np.random.default_rng(1), 60)
    found = analyzed(points)
    for j, item in enumerate(found.items):
        rest = np.delete(points, j, axis=1).sum(axis=1)
        assert item.count == 60
        assert item.difficulty is not None
        assert item.discrimination is not None
        assert item.difficulty.value == pytest.approx(points[:, j].mean() / 4)
        error = points[:, j].std(ddof=1) / 4 / np.sqrt(60)
        assert item.difficulty.high - item.difficulty.value == pytest.approx(2 * error)
        expected = np.corrcoef(points[:, j], rest)[0, 1]
        assert item.discrimination.value == pytest.approx(expected)
    assert found.reliability is not None
    own, total = points.var(axis=0, ddof=1).sum(), points.sum(axis=1).var(ddof=1)
    assert found.reliability.value == pytest.approx(5 / 4 * (1 - own / total))


def test_what_is_true_of_a_class_is_recovered_within_the_intervals() -> None:
    # the truth is that of a class of 400,000; 40 classes of 60 have 200 questions
    rng = np.random.default_rng(2)
    everybody = drawn(rng, 400_000)
    covariances = np.cov(everybody.T)
    difficult, discriminating = everybody.mean(axis=0) / 4, rest_correlations(covariances)
    within: dict[str, list[bool]] = {"difficulty": [], "discrimination": [], "alpha": []}
    for _ in range(40):
        found = analyzed(drawn(rng, 60))
        assert found.reliability is not None
        for item, easy, sharp in zip(found.items, difficult, discriminating, strict=True):
            assert item.difficulty is not None
            assert item.discrimination is not None
            within["difficulty"].append(item.difficulty.low <= easy <= item.difficulty.high)
            sharp_enough = item.discrimination.low <= sharp <= item.discrimination.high
            within["discrimination"].append(sharp_enough)
        low, high = found.reliability[1:]
        within["alpha"].append(low <= alpha(covariances) <= high)
    parts = {name: np.mean(each) for name, each in within.items()}
    # 95 % within three standard errors of 200 or 40 draws, and less than all
    assert 0.90 <= parts["difficulty"] <= 0.99
    assert 0.90 <= parts["discrimination"] <= 0.99
    assert 0.84 <= parts["alpha"] <= 1.0


def test_intervals_of_alpha_are_near_those_of_the_f_distribution() -> None:
    # Feldt, L. S. (1965), Psychometrika 30, 357-370
    from scipy.stats import f

    found = analyzed(drawn(np.random.default_rng(3), 200)).reliability
    assert found is not None
    low, high = (1 - (1 - found.value) * f.ppf([0.975, 0.025], 199, 4 * 199)).tolist()
    assert found[1:] == pytest.approx((low, high), abs=0.03)


class TestFlags:
    def test_a_planted_wrong_key_is_flagged(self) -> None:
        rng = np.random.default_rng(4)
        flagged = [
            [bool(item.flag) for item in analyzed(*wrong_key(drawn(rng, 150))).items]
            for _ in range(40)
        ]
        planted = np.array(flagged)[:, 1]
        assert planted.mean() >= 0.9
        assert np.delete(np.array(flagged), 1, axis=1).mean() <= 0.01

    @pytest.mark.parametrize("size", [12, 20, 60])
    def test_right_keys_are_left_alone(self, size: int) -> None:
        rng = np.random.default_rng(5)
        flags = [bool(item.flag) for _ in range(60) for item in analyzed(drawn(rng, size)).items]
        assert np.mean(flags) <= 0.01

    def test_a_hard_question_is_no_wrong_key(self) -> None:
        rng = np.random.default_rng(6)
        hard = EASE - [0, 2.2, 0, 0, 0]
        flags = [bool(analyzed(drawn(rng, 100, hard)).items[1].flag) for _ in range(40)]
        assert np.mean(flags) <= 0.05

    def test_a_key_by_which_nobody_earns_anything(self) -> None:
        points = drawn(np.random.default_rng(7), 30)
        points[:, 2] = 0
        found = analyzed(points)
        assert found.items[2].flag == "Nobody earns anything"
        assert found.items[2].discrimination is None
        assert found.items[1].discrimination is not None

    def test_strong_students_who_are_all_told_the_same(self) -> None:
        points = drawn(np.random.default_rng(8), 40)
        rest = np.delete(points, 1, axis=1).sum(axis=1)
        points[:, 1] = 0
        points[np.argsort(rest)[18:20], 1] = 4
        told = {(i, 1): WRONG for i in range(40)}
        flag = analyzed(points, told).items[1].flag
        assert flag.startswith("Of the 10 students who earn most elsewhere, 10 earn nothing here")
        assert flag.endswith(WRONG)

    def test_marks_by_hand_are_judged_by_their_points_alone(self) -> None:
        points = drawn(np.random.default_rng(9), 100)
        points[:, 4] = 4 - points[:, 4]
        item = analyzed(points).items[4]
        assert item.flag.startswith("Students who earn more elsewhere earn less here")
        assert item.messages == ()


def test_messages_are_counted_without_their_numbers() -> None:
    points = np.full((4, 5), 4.0)
    points[:3, 0] = [1, 2, 3]
    told = {
        (0, 0): "`h2` has 3 entries, not 4.5",
        (1, 0): "`h2` has  12 entries, not -1e-5",
        (2, 0): "b",
    }
    messages = analyzed(points, told).items[0].messages
    assert [tuple(each) for each in messages] == [
        ("`h2` has # entries, not #", 2, 1.5),
        ("b", 1, 3),
    ]


def test_only_what_is_graded_counts() -> None:
    points = drawn(np.random.default_rng(10), 30)
    points[:5, 4] = np.nan
    points[:20, 3] = np.nan
    others = [
        Result(Student(f"x{i}", "", ""), "week3", status)  # type: ignore[arg-type]
        for i, status in enumerate(("missing", "missing", "invalid", "needs-review"))
    ]
    found = analyze([*results(points), *others], SET)
    assert (found.count, found.whole) == (30, 25)
    assert found.left_out == {"missing": 2, "invalid": 1, "needs-review": 1}
    assert found.open == {"q4": 20, "q5": 5}
    # most are still to come, so that it is not part of the total
    assert found.items[3].discrimination is None
    assert found.items[3].difficulty is not None
    kept = np.delete(points[5:], 3, axis=1)
    expected = np.corrcoef(kept[:, 0], kept[:, 1:].sum(axis=1))[0, 1]
    assert found.items[0].discrimination is not None
    assert found.items[0].discrimination.value == pytest.approx(expected)
    text = parsed(items.page(found)).get_text(" ", strip=True)
    assert "30 graded, 2 missing and left out" in text
    assert "20 marks of q4 still to come" in text


@pytest.mark.parametrize("size", [0, 1, 2, 9])
def test_of_a_small_class_nothing_is_concluded(size: int) -> None:
    points = np.zeros((size, 5))
    points[: size // 2] = 4
    found = analyzed(points)
    assert found.reliability is None
    assert all(not item.flag and item.discrimination is None for item in found.items)
    assert "Nothing can be concluded." in parsed(items.page(found)).get_text(" ", strip=True)
    assert "nan" not in items.page(found)
    assert "nan" not in items.table(found)


@pytest.mark.parametrize("points", [np.full((20, 5), 4.0), np.zeros((20, 5))])
def test_a_class_of_one_opinion(points: np.ndarray) -> None:
    found = analyzed(points)
    assert found.reliability is None
    assert "nan" not in items.page(found)


def test_quarters_rise_where_a_question_discriminates() -> None:
    item = analyzed(drawn(np.random.default_rng(11), 400)).items[0]
    assert list(item.quarters) == sorted(item.quarters)
    assert len(item.quarters) == 4
    # who has the same points elsewhere shares: the order of students changes nothing
    points = drawn(np.random.default_rng(12), 50)
    first, second = analyzed(points), analyzed(points[::-1])
    for one, other in zip(first.items, second.items, strict=True):
        assert one.quarters == pytest.approx(other.quarters)


def hostile_page() -> str:
    bad = "</td><script>alert(name)</script><img src=x onerror=alert(name)>\u202e" + "w" * 200
    points, told = wrong_key(drawn(np.random.default_rng(13), 120))
    found = analyzed(points, told | {(i, 0): f"{bad}{'abc'[i % 3]}" for i in range(120)})
    assert found.items[1].flag
    return items.page(found)


def test_messages_are_only_text_on_the_page() -> None:
    soup = parsed(hostile_page())
    shapes = {tag.name for each in soup.find_all("svg") for tag in each.find_all(True)}
    assert shapes == {"line", "circle", "rect", "text"}
    for each in soup.find_all("svg"):
        assert each["aria-label"]
        assert not any(name.startswith("on") for tag in each.find_all(True) for name in tag.attrs)
        each.decompose()
    assert harm(str(soup)) == []
    assert "<script>alert(name)</script>" in soup.get_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(browser: Browser, tmp_path: Path, scheme: str) -> None:
    hold_in_a_browser(browser, hostile_page(), tmp_path, scheme)


class TestCommand:
    @pytest.fixture
    def out(self, tmp_path: Path) -> Path:
        """Return a folder with a gradebook of twelve students."""
        known = problem_sets()["problem_set_1"]
        rng = np.random.default_rng(14)
        graded = [
            Result(
                Student(f"s{i:02}", "", ""),
                known.name,
                "graded",
                marks=tuple(
                    Mark(each.name, None if each.by_hand else float(rng.integers(5)), each.points)
                    for each in known.questions
                ),
                answers={"q5": "0" * 64},
            )
            for i in range(12)
        ]
        with Book(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
            book.prepare(known)
            book.record_many(graded, "run")
        return tmp_path

    def test_a_page_and_a_table_are_written(
        self, out: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["items", "--out", str(out)]) == 0
        page = out / "items-problem_set_1.html"
        assert capsys.readouterr().out.startswith(f"{page}: ")
        assert "12 graded, 12 marks of q5 still to come" in page.read_text("utf-8")
        with Book(f"sqlite:///{out / 'gradebook.db'}") as book:
            points = [
                [mark.points for mark in each.marks] for each in book.results("problem_set_1")
            ]
        rows = list(csv.DictReader(io.StringIO(page.with_suffix(".csv").read_text("utf-8"))))
        (first,) = [row for row in rows if (row["question"], row["what"]) == ("q1", "difficulty")]
        assert float(first["value"]) == pytest.approx(
            np.mean([row[0] for row in points]) / 4, abs=1e-4
        )
        assert {row["count"] for row in rows if row["what"] == "open"} == {"12"}
        assert page.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ([], "OUT is missing: make items OUT=..."),
            (["--out", "OUT", "--assignment", "week9"], "ASSIGNMENT must be one of"),
            (["--out", "OUT", "--assignment", "problem_set_2"], "OUT must hold graded submissions"),
            (["--out", "OUT/other"], "has no gradebook"),
        ],
    )
    def test_what_is_not_there_is_said(
        self, out: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
    ) -> None:
        given = [each.replace("OUT", str(out)) for each in options]
        assert main(["items", *given]) == 2
        assert says in capsys.readouterr().err
