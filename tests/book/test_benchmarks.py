"""The benchmark page: complete results, verdicts that follow from them, and a fair order of turns.

Nothing here measures time, and nothing needs PyTorch or JAX.
"""

from __future__ import annotations

import ast
import copy
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import accuracy, floor, report, timing
from tests.book.notebooks import ROOT, read, shown_as

PAGE = "chapters/benchmarks.ipynb"
RESULTS = report.load()
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

    @pytest.mark.parametrize("part", ["machine", "settings", "memory"])
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
        assert found == [True, True, False]

    @pytest.mark.parametrize("key", BY_KEY)
    def test_table_and_shortfalls_follow(self, key: str) -> None:
        target = BY_KEY[key]
        for factor, reached in ((0.5, True), (2, False)):
            results = changed(key, value=target.limit * factor)
            rows = report.target_table(results, target.group).splitlines()[2:]
            (row,) = [row for row in rows if row.startswith(f"| {target.case} |")]
            assert row.split(" | ")[1] == ("met" if reached else "**missed**")
            heading = f"**{target.group}, {target.case}**"
            assert (heading in report.missed(results)) == (not reached)

    def test_a_miss_is_told_with_its_number_its_target_and_the_floor(self) -> None:
        results = changed("gradient-512", value=1.21, low=1.18, high=1.26, floor=0.7)
        (line,) = [line for line in report.missed(results).splitlines() if "gradients, 512" in line]
        assert "1.21× (1.18–1.26), wanted ≤ 1.00×" in line
        assert "0.70×, so what is missing is overhead" in line
        text = report.missed(changed("gradient-512", value=1.21, floor=1.1))
        assert "1.10×: on this machine the floor itself is outside the target" in text

    def test_nothing_is_missed_at_the_limits(self) -> None:
        results = copy.deepcopy(WHOLE)
        for target in report.TARGETS:
            results["records"][target.key]["value"] = target.limit
        assert report.missed(results) == f"Of {len(report.TARGETS)} targets, 0 were missed.\n"
        del results["records"]["long-floor"]
        assert report.missed(results).startswith(f"Of {len(report.TARGETS) - 1} targets, 0 were")

    @pytest.mark.parametrize("keys", [["long-floor"], ["long-floor", "long-memory"]])
    def test_each_miss_is_counted_and_has_a_line(self, keys: list[str]) -> None:
        results = copy.deepcopy(WHOLE)
        for target in report.TARGETS:
            factor = 2 if target.key in keys else 1
            results["records"][target.key]["value"] = target.limit * factor
        told = report.missed(results)
        assert f", {len(keys)} were missed." in told
        assert told.count("\n- ") == len(keys)


class TestTheError:
    def test_half_precision_would_miss_the_error_and_float32_does_not(self) -> None:
        def rough(*given: np.ndarray) -> np.ndarray:
            return accuracy.exact(*given).astype(np.float16)

        errors = list(accuracy.measure(rough))
        assert [row.error == pytest.approx(2e-4, rel=0.3) for row in errors] == [True] * 3
        assert "| 128 tokens, 2 heads | **missed** | 0.0002 |" in accuracy.table(errors)
        assert accuracy.table(errors).count("**missed**") == 3
        assert "missed" not in accuracy.table(list(accuracy.measure()))


class TestThePage:
    def test_it_shows_every_table_with_the_committed_numbers(self) -> None:
        tables = [
            *(report.target_table(RESULTS, group) for group in report.GROUPS),
            *(report.peer_table(RESULTS, group) for group in report.PEER_TABLES),
            *(show(RESULTS) for show in (report.memory_table, report.machine_table)),
            accuracy.table(list(accuracy.measure())),
        ]
        assert set(tables) - set(outputs()) == set()

    def test_it_says_what_was_missed_before_all_tables(self) -> None:
        assert outputs()[1] == report.missed(RESULTS)

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
            "0.25 to 0.50", "1.25 to 1.50", "2.25 to 2.50",
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


def stepping(steps: list[float]) -> Callable[[], float]:
    """Return a clock that shows these times one after the other."""
    shown: Iterator[float] = iter(np.cumsum(steps).tolist())
    return lambda: next(shown)


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
    @pytest.mark.parametrize("other", ["--quick", "--only=memory"])
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
        results: dict[str, Any] = {"peers": {"a": {"x": 1}}, "records": {"p": 1}}
        command.merge(results, {"peers": {"b": {"y": 2}}, "memory": [1]})
        assert results == {
            "peers": {"a": {"x": 1}, "b": {"y": 2}},
            "records": {"p": 1},
            "memory": [1],
        }

    def test_nothing_that_the_page_imports_needs_a_peer(self) -> None:
        assert not {"torch", "jax"} & set(sys.modules)
