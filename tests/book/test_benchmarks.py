"""The benchmark page: complete results, verdicts that follow from them, and a fair order of turns.

Nothing here measures time, and nothing needs PyTorch or JAX.
"""

from __future__ import annotations

import ast
import copy
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import (
    accuracy,
    apart,
    figure_report,
    floor,
    grading_report,
    missed,
    report,
    site_report,
    timing,
)
from benchmarks import figures as measured
from tests.book.notebooks import ROOT, read, shown_as

PAGE = "chapters/benchmarks.ipynb"
RESULTS = report.load()
MOVING = figure_report.load()
MARKED = grading_report.load()
SITE = site_report.load()
# The checks are tried on results that pass them, whatever the committed ones are.
WHOLE = {**RESULTS, "settings": {**RESULTS["settings"], "quick": False}}
BY_KEY = {target.key: target for target in report.TARGETS}
AROUND = 1e-6


def changed(key: str, **values: Any) -> dict[str, Any]:
    """Return whole results with one record altered."""
    results = copy.deepcopy(WHOLE)
    results["records"][key] |= values
    return results


def outputs() -> list[str]:
    """Return what the cells of the page show as Markdown."""
    return shown_as(read(PAGE), "text/markdown")


class TestTheCommittedResults:
    def test_they_are_complete(self) -> None:
        assert report.problems(RESULTS) == []

    def test_they_name_no_machine(self) -> None:
        assert set(RESULTS["machine"]) == {
            *("processor", "system", "python", "libraries", "blas_kernel", "threads", "date")
        }
        assert not re.search(r"[/\\]\w+[/\\]|@", json.dumps(RESULTS["machine"]))

    def test_all_sides_had_the_same_threads(self) -> None:
        assert set(RESULTS["machine"]["threads"].values()) == {2}

    def test_they_were_measured_with_the_pinned_versions(self) -> None:
        pins = dict(
            re.findall(
                r"^([\w-]+)==([^\s;]+)",
                (ROOT / "requirements-bench.txt").read_text(encoding="utf-8"),
                re.MULTILINE,
            )
        )
        for name in ("numpy", "torch", "jax", "jaxlib"):
            measured = RESULTS["machine"]["libraries"][name]
            assert measured.partition("+")[0] == pins[name]

    @pytest.mark.parametrize("target", report.TARGETS, ids=list(BY_KEY))
    def test_the_ratios_of_the_tables_are_those_of_the_records(self, target: Any) -> None:
        """The table of the contestants holds the same quotient as the record, four digits long."""
        rows = RESULTS["peers"].get(target.group, {})
        assert bool(rows) == (target.group in report.PEER_TABLES)
        if rows:
            record = RESULTS["records"][target.key]
            assert rows[target.case]["attnlib"] == pytest.approx(record["value"], rel=1e-3)
            assert rows[target.case]["floor"] == pytest.approx(record["floor"], rel=1e-3)
            assert rows[target.case]["PyTorch"] == 1

    def test_the_memory_record_is_the_larger_of_two_measurements(self) -> None:
        shortest, _, longest = RESULTS["memory"]
        peaks = [max(entry["traced"], entry["resident"] or 0) for entry in (shortest, longest)]
        assert longest["n"] == 4 * shortest["n"]
        beyond = (peaks[0] - shortest["output"]) / 1e6
        assert RESULTS["records"]["long-memory"]["value"] == pytest.approx(beyond, rel=1e-3)
        growth = peaks[1] / peaks[0]
        assert RESULTS["records"]["long-growth"]["value"] == pytest.approx(growth, rel=1e-3)


class TestIncompleteResults:
    @pytest.mark.parametrize("key", BY_KEY)
    def test_a_missing_record_is_reported(self, key: str) -> None:
        results = copy.deepcopy(WHOLE)
        del results["records"][key]
        assert report.problems(results) == [f"no record of {key}"]

    @pytest.mark.parametrize("value", [None, "1", True, math.nan, math.inf, -1.0])
    def test_a_value_that_is_no_number_is_reported(self, value: Any) -> None:
        assert len(report.problems(changed("long-floor", value=value))) == 1

    @pytest.mark.parametrize("field", ["low", "high", "floor"])
    def test_another_field_may_be_missing_but_not_wrong(self, field: str) -> None:
        assert report.problems(changed("long-floor", **{field: None})) == []
        assert len(report.problems(changed("long-floor", **{field: "1"}))) == 1

    @pytest.mark.parametrize("part", ["machine", "settings", "rates", "memory", "sampler"])
    def test_a_missing_part_is_reported(self, part: str) -> None:
        assert report.problems({**WHOLE, part: {}}) == [f"no {part}"]

    @pytest.mark.parametrize("group", report.PEER_TABLES)
    def test_a_missing_row_of_a_table_is_reported(self, group: str) -> None:
        results = copy.deepcopy(WHOLE)
        results["peers"][group].popitem()
        assert len(report.problems(results)) == 1

    def test_a_quick_run_and_an_unknown_record_are_reported(self) -> None:
        results = copy.deepcopy(WHOLE)
        results["settings"]["quick"] = True
        results["records"]["other"] = {"value": 1.0}
        assert report.problems(results) == ["other is no target", "the run was a quick one"]


class TestVerdicts:
    @pytest.mark.parametrize("key", BY_KEY)
    def test_they_change_with_the_number(self, key: str) -> None:
        target = BY_KEY[key]
        sides = [target.limit * (1 - AROUND), target.limit, target.limit * (1 + AROUND)]
        found = [report.verdicts(changed(key, value=value))[key] for value in sides]
        assert found == ([False, True, True] if target.at_least else [True, True, False])

    @pytest.mark.parametrize("key", BY_KEY)
    def test_table_and_shortfalls_follow(self, key: str) -> None:
        target = BY_KEY[key]
        for factor in (0.5, 2):
            results = changed(key, value=target.limit * factor)
            reached = (factor > 1) == target.at_least
            rows = report.target_table(results, target.group).splitlines()[2:]
            (row,) = [row for row in rows if row.startswith(f"| {target.case} |")]
            assert row.split(" | ")[1] == ("met" if reached else "**missed**")
            heading = f"**{target.group}, {target.case}**"
            assert (heading in "\n".join(report.missed(results))) == (not reached)

    def test_a_miss_is_told_with_its_number_its_target_and_the_floor(self) -> None:
        results = changed("gradient-512", value=1.21, low=1.18, high=1.26, floor=0.7)
        (line,) = [line for line in report.missed(results) if "gradients, 512" in line]
        assert "1.21× (1.18–1.26), wanted ≤ 1.00×" in line
        assert "0.70×, so what is missing is overhead" in line
        text = report.missed(changed("gradient-512", value=1.21, floor=1.1))
        assert "1.10×: on this machine the floor itself is outside the target" in "".join(text)

    def test_nothing_is_missed_at_the_limits(self) -> None:
        results = copy.deepcopy(WHOLE)
        for target in report.TARGETS:
            results["records"][target.key]["value"] = target.limit
        assert report.missed(results) == []
        del results["records"]["ablation"]
        assert report.missed(results) == []


class TestMissed:
    def test_each_part_counts_its_targets_and_names_each_miss(self) -> None:
        found = {part.name: part for part in missed.parts(RESULTS, MOVING, MARKED, SITE)}
        reached = report.verdicts(RESULTS)
        assert set(report.GROUPS) < set(found)
        assert sum(found[group].targets for group in report.GROUPS) == len(reached)
        misses = sum(len(found[group].misses) for group in report.GROUPS)
        assert misses == list(reached.values()).count(False)
        everything = len(figure_report.LIMITS) * len(MOVING["figures"])
        assert found["figures that move"].targets == everything
        bold = figure_report.figure_table(MOVING).count("| **")
        assert len(found["figures that move"].misses) == bold
        for name, shown in (
            ("marking problem sets", grading_report.tables(MARKED)),
            ("the site", site_report.target_table(SITE)),
            ("forward, error", accuracy.table(list(accuracy.measure()))),
        ):
            assert len(found[name].misses) == shown.count("**missed**")

    def test_half_precision_would_miss_the_error_and_float32_does_not(self) -> None:
        def rough(*given: np.ndarray) -> np.ndarray:
            return accuracy.exact(*given).astype(np.float16)

        errors = list(accuracy.measure(rough))
        assert [row.error == pytest.approx(2e-4, rel=0.3) for row in errors] == [True] * 3
        assert "128 tokens, 2 heads**: 0.0002, wanted a millionth" in accuracy.missed(errors)[0]
        assert accuracy.table(errors).count("**missed**") == 3
        assert accuracy.missed(list(accuracy.measure())) == []

    def test_one_more_miss_is_one_more_in_the_count(self) -> None:
        slow = copy.deepcopy(MARKED)
        for ratio, misses in ((1.0, 0), (1.01, 1)):
            slow["bulk"]["ratio"] = ratio
            slow["speed"]["ratio"] = grading_report.LEAST_SPEED_UP
            found = {part.name: part for part in missed.parts(RESULTS, MOVING, slow, SITE)}
            part = found["marking problem sets"]
            assert (part.targets, len(part.misses)) == (4, misses)

    def test_a_class_takes_its_share_of_the_time_measured(self) -> None:
        marked = {
            "speed": {"submissions": 10, "one": 60.0, "two": 30.0},
            "many": {"submissions": 100, "hostile": 5, "seconds": 400.0},
        }
        said = grading_report.class_line(marked, 20)
        assert "20 students" in said
        assert "2.0 minutes with one worker and 1.0 with two" in said
        assert "1.3 with two if one in 20 is hostile" in said


class TestThePage:
    def test_it_shows_every_table_with_the_committed_numbers(self) -> None:
        tables = [
            *(report.target_table(RESULTS, group) for group in report.GROUPS),
            *(report.peer_table(RESULTS, group) for group in report.PEER_TABLES),
            *(show(RESULTS) for show in (report.memory_table, report.machine_table)),
            accuracy.table(list(accuracy.measure())),
            *(report.sampler_table(RESULTS), grading_report.class_line(MARKED, 150)),
            *(figure_report.figure_table(MOVING), figure_report.machine_line(MOVING)),
        ]
        assert set(tables) - set(outputs()) == set()

    def test_it_shows_counts_and_shortfalls_of_every_part_before_all_tables(self) -> None:
        found = missed.committed()
        assert outputs()[1:3] == [missed.count_table(found), missed.listing(found)]

    def test_it_answers_its_title_first(self) -> None:
        assert report.summary(RESULTS) == outputs()[0]

    def test_the_answer_has_the_extremes_and_the_larger_memory(self) -> None:
        results = {
            "peers": {
                group: {"a": {"attnlib": 0.5 + n, "PyTorch": 9}, "b": {"attnlib": 0.25 + n}}
                for n, group in enumerate(report.PEER_TABLES)
            },
            "memory": [
                {"n": 8, "output": 1e6, "traced": 2e6, "resident": 4.5e6, "torch": 3e6},
                {"n": 9, "output": 0, "traced": 0, "resident": 0, "torch": 0},
            ],
        }
        said = report.summary(results)
        assert re.findall(r"[\d.]+ to [\d.]+", said) == [
            "0.25 to 0.50", "1.25 to 1.50", "2.25 to 2.50", "3.25 to 3.50",
        ]  # fmt: skip
        assert "For 8 tokens, memory" in said
        assert said.endswith("peaks at 3.5 MB, and at 2.0 MB in PyTorch.")
        results["memory"][0] |= {"resident": None, "torch": None}
        said = report.summary(results)
        assert said.endswith("peaks at 1.0 MB, and at a size not measured in PyTorch.")

    def test_the_figure_gets_every_ratio_but_that_of_pytorch(self) -> None:
        titles, cases, names, values = report.panels(RESULTS)
        assert "PyTorch" not in names
        for title, rows, panel in zip(titles, cases, values, strict=True):
            for case, ratios in zip(rows, panel, strict=True):
                row = RESULTS["peers"][title][case]
                assert dict(zip(names, ratios, strict=True)) == {
                    name: row.get(name) for name in names
                }


class TestTheFigures:
    def test_they_come_from_a_whole_run(self) -> None:
        assert (MOVING["events"], MOVING["loads"]) == (measured.EVENTS, measured.LOADS)
        assert set(MOVING["machine"]) == {"processor", "system", "browser", "date"}

    @pytest.mark.parametrize("limit", figure_report.LIMITS, ids=lambda limit: limit.name)
    def test_a_value_above_a_limit_is_told_and_one_at_it_is_not(self, limit: Any) -> None:
        for factor, beyond in ((0.0, False), (1.0, False), (1.01, True)):
            value = limit.most * factor + (0.002 if beyond else 0)
            control = {"handler p50": value, "paint p95": value}
            figure = {"drawn": value, "bytes": 1000 * value, "shift": value}
            measures = figure | {"controls": {"a": control}}
            results = {"bare": 1.0, "figures": {"one_figure": measures, "head": measures}}
            told = figure_report.missed(results)
            found = [line for line in told if line.startswith(f"- **one figure**, {limit.name}:")]
            assert bool(found) is beyond
            row = figure_report.figure_table(results).splitlines()[2].split(" | ")
            heavier = limit.name == "compressed"
            assert any(line.startswith(f"- **head**, {limit.name}:") for line in told) is (
                beyond and not heavier
            )
            place = figure_report.LIMITS.index(limit) + 1
            assert row[place].startswith("**") is beyond

    @pytest.mark.parametrize(("size", "beyond"), [(20_000, False), (20_100, True)])
    def test_the_head_has_room_for_its_seven_views(self, size: int, beyond: bool) -> None:
        controls = {"a": {"handler p50": 0, "paint p95": 0}}
        figure = {"drawn": 0, "bytes": size, "shift": 0, "controls": controls}
        assert bool(figure_report.missed({"figures": {"head": figure}})) is beyond

    def test_the_slowest_control_counts(self) -> None:
        fast, slow = ({"handler p50": v, "paint p95": 10 * v} for v in (0.5, 2.5))
        figure = {"controls": {"a": fast, "b": slow, "c": fast}}
        kept = {limit.name: limit.of for limit in figure_report.LIMITS}
        assert kept["handler, half"](figure) == 2.5
        assert kept["event to paint, 95 %"](figure) == 25

    @pytest.mark.parametrize(("percent", "value"), [(50, 50.0), (95, 95.0)])
    def test_percentiles_are_those_of_numpy(self, percent: int, value: float) -> None:
        values = np.random.default_rng(4).permutation(101).astype(float).tolist()
        assert measured.percentile(values, percent) == np.percentile(values, percent) == value


def stepping(steps: list[float]) -> Callable[[], float]:
    """Return a clock that shows these times one after the other."""
    shown: Iterator[float] = iter(np.cumsum(steps).tolist())
    return lambda: next(shown)


def note_process(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")


class TestInterleaving:
    def test_turns_alternate_and_only_the_second_stretch_of_a_turn_is_timed(self) -> None:
        events: list[str] = []
        now = [0.0]

        def contestant(name: str, seconds: list[float]) -> Callable[[], None]:
            """Take the times given, and the last of them from then on."""

            def work() -> None:
                events.append(name)
                now[0] += seconds.pop(0) if len(seconds) > 1 else seconds[0]

            return work

        times = timing.interleave(
            # a's first calls are slow: alone, warming up twice, and in the first stretch of a turn
            {"a": contestant("a", [9.0, 9.0, 2.0, 9.0, 2.0]), "b": contestant("b", [3.0])},
            timing.Pace(seconds=40, least=1, most=9),
            clock=lambda: now[0],
            settle=lambda: events.append("rest"),
        )
        # a round takes 11 + 6 seconds, so two fit into 40
        assert {name: values.tolist() for name, values in times.items()} == {
            "a": [2.0, 2.0],
            "b": [3.0, 3.0],
        }
        turns = ["rest", "a", "a", "rest", "b", "b"]
        assert events == ["a", "b", *turns * 3]

    def test_short_calls_fill_a_stretch_and_their_mean_counts(self) -> None:
        now, calls = [0.0], [0]

        def work() -> None:
            calls[0] += 1
            now[0] += 0.02 if calls[0] % 2 else 0.01

        times = timing.interleave(
            {"a": work}, timing.Pace(0, 1, 1), clock=lambda: now[0], settle=lambda: None
        )
        # 0.05 seconds are over with the fourth call of 0.01, 0.02, 0.01, 0.02
        assert calls == [1 + 4 * 4]
        assert times["a"].tolist() == [pytest.approx(0.015)]

    @pytest.mark.parametrize(
        ("seconds", "rounds"), [(100.0, 3), (10.0, 3), (5.0, 4), (2.0, 10), (0.1, 50), (0.0, 50)]
    )
    def test_the_number_of_rounds_fits_the_time(self, seconds: float, rounds: int) -> None:
        assert timing.rounds_within(timing.Pace(20, 3, 50), seconds) == rounds

    def test_every_round_has_its_own_time(self) -> None:
        # the clock is read before and after the warm-up round, and around each stretch
        clock = stepping([0, *[0, 1] * 2, 6, *[0, 1, 0, 2], *[0, 1, 0, 4], *[0, 1, 0, 6]])
        times = timing.interleave(
            {"a": lambda: None}, timing.Pace(24, 1, 9), clock=clock, settle=lambda: None
        )
        assert times["a"].tolist() == [2, 4, 6]

    def test_contestants_may_have_processes_of_their_own(self, tmp_path: Path) -> None:
        notes = {name: tmp_path / name for name in "ab"}
        makers = {name: partial(partial, note_process, path) for name, path in notes.items()}
        times = apart.interleave(makers, timing.Pace(seconds=0, least=2, most=9))
        assert {name: values.shape for name, values in times.items()} == {"a": (2,), "b": (2,)}
        assert min(values.min() for values in times.values()) > 0
        found = [set(path.read_text(encoding="utf-8").split()) for path in notes.values()]
        assert [len(processes) for processes in found] == [1, 1]
        assert len({str(os.getpid()), *found[0], *found[1]}) == 3

    def test_the_floor_is_the_fastest_loop(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seconds = {min: [5.0, 3.0], max: [2.0, 9.0], sum: [4.0, 2.5]}
        monkeypatch.setattr(floor.timeit, "repeat", lambda work, **_: seconds[work])
        assert floor.fastest(seconds) is max

    def test_ratios_are_of_medians_and_quartiles_of_rounds(self) -> None:
        times = {"a": np.array([1.0, 2, 9, 4, 5]), "b": np.array([2.0, 2, 3, 1, 10])}
        found = timing.ratio(times, "a", "b")
        assert found.value == 4 / 2
        assert sorted(times["a"] / times["b"]) == [0.5, 0.5, 1, 3, 4]
        assert (found.low, found.high) == (0.5, 3)
        assert timing.medians(times) == {"a": 4, "b": 2}


class TestTheCommand:
    @pytest.mark.parametrize("other", ["--quick", "--only=rates"])
    def test_an_update_wants_a_whole_run(self, other: str, capsys: Any) -> None:
        with pytest.raises(SystemExit):
            command.parse_arguments(["--update", other])
        assert "--update wants a whole run" in capsys.readouterr().err

    def test_every_case_has_a_name_and_every_name_a_case(self) -> None:
        tree = ast.parse((ROOT / "benchmarks" / "cases.py").read_text(encoding="utf-8"))
        (cases,) = [
            node.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CASES"
        ]
        assert isinstance(cases, ast.Dict)
        assert tuple(ast.literal_eval(key) for key in cases.keys if key) == command.NAMES

    def test_results_of_several_cases_are_put_together(self) -> None:
        results: dict[str, Any] = {"peers": {"a": {"x": 1}}, "rates": {"p": 1}}
        command.merge(results, {"peers": {"b": {"y": 2}}, "memory": [1]})
        assert results == {
            "peers": {"a": {"x": 1}, "b": {"y": 2}},
            "rates": {"p": 1},
            "memory": [1],
        }

    def test_nothing_that_the_page_imports_needs_a_peer(self) -> None:
        assert not {"torch", "jax"} & set(sys.modules)
