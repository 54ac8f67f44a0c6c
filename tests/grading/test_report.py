"""What an instructor sees of a run: progress while it lasts, a summary when it is over."""

from __future__ import annotations

import io
import statistics
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from grading.problem_set import ProblemSet, Question
from grading.reports.instructor import BAR, MOST_LISTED, Progress, counted, histogram, summary
from grading.results import Mark, Result, Status, Student

QUESTIONS = (Question("q1", 4), Question("q2", 6), Question("q3", 10, by_hand=True))
PROBLEM_SET = ProblemSet("week3", (), QUESTIONS)


def result(
    status: Status = "graded",
    first: float | None = None,
    second: float | None = None,
    third: float | None = None,
    *,
    number: int = 1,
    message: str = "",
) -> Result:
    points = (first, second, third)
    marks = tuple(
        Mark(question.name, value, question.points)
        for question, value in zip(QUESTIONS, points, strict=True)
    )
    return Result(Student(f"s{number}", "", ""), "week3", status, message, marks)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    def test_a_log_gets_a_bar_now_and_then(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = 0.0
        monkeypatch.setattr("tqdm.std.time", lambda: now)
        bars = {}
        for stream in (io.StringIO(), Terminal()):
            with Progress(100, stream) as progress:
                for _ in range(100):
                    now += 1
                    progress.add(result())
            bars[type(stream)] = stream.getvalue().count("\r")
        assert bars[io.StringIO] < 8
        assert bars[Terminal] > 50

    def test_the_time_left_is_by_the_mean_of_what_was_marked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = 0.0
        monkeypatch.setattr("tqdm.std.time", lambda: now)
        log = Terminal()

        def after(seconds: float, *statuses: Status) -> str:
            nonlocal now
            now += seconds
            progress.add(*map(result, statuses))
            return log.getvalue().split("\r")[-1]

        # 60 were handed in, of which 20 are as they were; who handed in nothing takes no time
        with Progress(70, log, missing=10) as progress:
            for _ in range(20):
                progress.unchanged()
            now += 500  # to find out that they are
            progress.start()
            assert "left" not in after(0)
            assert "left" not in after(1, "missing")
            # 10 in 60 s, so 30 more take 180 s
            assert "10/40 [01:00, 03:00 left, graded 9, invalid 1, missing 1, unchanged 20]" in (
                after(59, *["graded"] * 8, "invalid", "graded")
            )
            after(0.2, "missing")  # it shows with what is marked next
            # the second ten take four times as long, and the mean says so
            later = after(240, *["graded"] * 10)
            assert "[05:00, 05:00 left, graded 19, invalid 1, missing 2" in later
            # two more turn out to be as they were
            progress.unchanged()
            progress.unchanged()
            assert "[05:15, 04:15 left, graded 20, inv" in after(15, "graded")
            after(700, *["graded"] * 16, "needs-review", *["missing"] * 8)
        last = log.getvalue().split("\r")[-1]
        assert "38/38 [16:55, graded 36, needs-review 1, invalid 1, missing 10, unch" in last

    @pytest.mark.parametrize("stream", [io.StringIO, Terminal])
    def test_each_kind_is_counted_and_what_has_not_changed_is_no_work(self, stream: type) -> None:
        log = stream()
        with Progress(7, log, missing=1) as progress:
            for status in ("missing", "invalid", "needs-review", "graded", "graded"):
                progress.add(result(status))
            progress.unchanged()
        last = log.getvalue().split("\r")[-1]
        assert "4/5" in last
        assert "graded 2, needs-review 1, invalid 1, missing 1, unchanged 1" in last
        assert last.endswith("\n")

    def test_an_interrupted_run_says_how_far_it_came(self) -> None:
        log = io.StringIO()

        def run() -> None:
            with Progress(3, log) as progress:
                progress.add(result())
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run()
        assert "1/3" in log.getvalue().split("\r")[-1]

    def test_it_writes_to_standard_error_by_itself(self, capsys: pytest.CaptureFixture) -> None:
        with Progress(1) as progress:
            progress.add(result())
        assert "1/1" in capsys.readouterr().err


def test_what_takes_a_while_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    for seconds, shown in ((0.5, True), (0.001, False)):
        stream = Terminal()
        for _ in counted(range(40), 40, "pages of tiny", stream):
            now += seconds
        assert ("pages of tiny" in stream.getvalue() and "/40 [" in stream.getvalue()) == shown


def mixed() -> list[Result]:
    return [
        result("graded", 4, 6, None),
        result("graded", 0, 3, None),
        result("graded", 2, 0, 10),
        result("graded", 0, 0, 0),
        result("needs-review", number=7, message="whose numbers?"),
        result("invalid", message="not a notebook"),
        result("missing"),
        result("missing"),
    ]


class TestSummary:
    def test_it_says_all_there_is_to_say(self) -> None:
        assert summary(mixed(), PROBLEM_SET).splitlines() == [
            "week3: 8 students",
            "       4 graded",
            "       1 needs-review",
            "       1 invalid",
            "       2 missing",
            "",
            "Totals of 4 graded, of 20 points so far, with marks by hand still to come:",
            "  mean 6.25, median 6.50, quartiles 2.25 and 10.50, from 0.00 to 12.00",
            f"     0 -    2       1 {'#' * BAR}",
            f"     2 -    4       1 {'#' * BAR}",
            "     4 -    6       0",
            "     6 -    8       0",
            "     8 -   10       0",
            f"    10 -   12       1 {'#' * BAR}",
            f"    12 -   14       1 {'#' * BAR}",
            "    14 -   16       0",
            "    16 -   18       0",
            "    18 -   20       0",
            "",
            "Questions:",
            "  q1: mean 38% of 4 points, nothing for 2 of 4",
            "  q2: mean 38% of 6 points, nothing for 2 of 4",
            "  q3: 2 marked, 2 still to be marked by hand",
            "",
            "For somebody to look at:",
            "  s7: whose numbers?",
            "",
            "To ask for another file:",
            "  s1: not a notebook",
        ]

    def test_mean_and_quartiles_are_those_of_the_totals(self) -> None:
        totals = [(i * 7) % 11 / 2 for i in range(40)]
        text = summary((result("graded", t, 0, 0) for t in totals), PROBLEM_SET)
        low, median, high = statistics.quantiles(totals, n=4, method="inclusive")
        assert median == statistics.median(totals)
        assert f"mean {sum(totals) / 40:.2f}, median {median:.2f}" in text
        assert f"quartiles {low:.2f} and {high:.2f}, from 0.00 to 5.00" in text
        assert "so far" not in text

    def test_without_a_graded_one_nothing_is_said_of_marks(self) -> None:
        text = summary([result("missing"), result("needs-review")], PROBLEM_SET)
        assert "Totals" not in text
        assert "q1" not in text
        assert text.endswith("For somebody to look at:\n  s1: no reason was given")
        assert summary([], PROBLEM_SET).startswith("week3: 0 students")

    def test_a_single_total_is_no_distribution(self) -> None:
        text = summary([result("graded", 4, 1, 2)], PROBLEM_SET)
        assert "Totals of 1 graded, of 20 points:\n  7.00\n" in text
        assert "quartiles" not in text

    def test_a_question_without_marks_is_called_that(self) -> None:
        waiting = summary([result("graded", 1, 1, None)], PROBLEM_SET)
        assert "q3: 1 still to be marked by hand" in waiting
        lacking = Result(Student("s1", "", ""), "week3", "graded", marks=(Mark("q1", 1, 4),))
        assert "q2: nobody has a mark" in summary([lacking], PROBLEM_SET)

    def test_a_question_without_points_has_no_share(self) -> None:
        bonus = Result(Student("s1", "", ""), "week3", "graded", marks=(Mark("q1", 0, 0),))
        assert "q1: nobody has a mark" in summary([bonus], PROBLEM_SET)

    def test_of_many_to_look_at_the_first_are_listed(self) -> None:
        many = (result("needs-review", number=i, message=f"why {i}") for i in range(50))
        text = summary(many, PROBLEM_SET)
        listed = [line for line in text.splitlines() if ": why " in line]
        assert listed == [f"  s{i}: why {i}" for i in range(MOST_LISTED)]
        assert text.endswith("\n  and 30 more")

    def test_no_text_of_a_student_steers_the_terminal(self) -> None:
        bad = "a\x1b[2J\x1b]0;x\x07\r\n  s1: 20 points\u202e\x9b1m\ud800" + "x" * 10_000
        given = Result(Student(bad, bad, bad), "week3", "needs-review", bad)
        text = summary([given], PROBLEM_SET)
        assert len(text.splitlines()) == 8
        assert len(text) < 600
        assert all(each == "\n" or each.isprintable() for each in text)

    def test_it_holds_numbers_and_not_results(self) -> None:
        page = "x" * 20_000

        def many() -> Iterator[Result]:
            for i in range(500):
                yield Result(
                    *(Student(f"s{i}", "", ""), "week3", "graded", "", (Mark("q1", 1.0, 4),)),
                    notebook=page + str(i),
                )

        tracemalloc.start()
        summary(many(), PROBLEM_SET)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000  # all pages together are ten times as much


class TestHistogram:
    @pytest.mark.parametrize(
        ("total", "place"),
        [(0, 0), (1.99, 0), (2, 1), (19.99, 9), (20, 9), (25, 9), (-1, 0), (0.1 * 3 * 20, 3)],
    )
    def test_a_total_is_counted_where_it_belongs(self, total: float, place: int) -> None:
        lines = histogram([total], 20)
        assert [line.endswith("#" * BAR) for line in lines].index(True) == place
        assert sum("#" in line for line in lines) == 1

    def test_rounding_does_not_move_a_total(self) -> None:
        total = 1 / 3 + 4 / 3 + 1 / 3
        assert total < 2  # what floating point makes of it
        assert "#" in histogram([total], 20)[1]

    def test_everybody_there_is_seen(self) -> None:
        lines = histogram([0.0] * 10_000 + [20.0], 20)
        assert lines[0] == f"     0 -    2   10000 {'#' * BAR}"
        assert lines[9] == "    18 -   20       1 #"

    @pytest.mark.parametrize("maximum", [0, 7, 20, 100, 0.5])
    def test_no_line_is_too_long(self, maximum: float) -> None:
        lines: Any = histogram([maximum] * 3, maximum)
        assert max(map(len, lines)) <= 80
        assert sum("#" in line for line in lines) == 1
