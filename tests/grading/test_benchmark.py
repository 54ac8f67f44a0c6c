"""The table of what marking costs: complete, with verdicts that follow from the numbers."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import grading as measured
from benchmarks import grading_memory
from benchmarks import grading_report as report
from grading.marking.submission import Conditions
from grading.problem_set import problem_sets
from grading.results import Student, Submission

RESULTS = report.load()
ROOT = Path(__file__).resolve().parents[2]
WHOLE = {
    "bulk": {"ours": 0.9, "plain": 1.8, "ratio": 0.5, "submissions": 30, "rounds": 3},
    "speed": {"one": 60.0, "two": 31.0, "ratio": 1.9, "submissions": 60, "rounds": 3},
    "ceiling": {"ratio": 1.95, "least": 1.9, "most": 2.0, "submissions": 40, "rounds": 3},
    "many": {
        "submissions": 1000,
        "hostile": 50,
        "right": 1000,
        "lost": 0,
        "doubled": 0,
        "killed": [0.25, 0.5],
        "seconds": 700.0,
    },
    "memory": {"submissions": 10_000, "rows": 10_000, "megabytes": 300.0},
}


def verdicts(results: dict[str, Any]) -> list[bool]:
    return [met for *_, met in report.rows(results)]


def test_the_committed_results_are_whole_and_name_no_machine() -> None:
    assert not RESULTS["settings"]["quick"]
    assert RESULTS["bulk"]["submissions"] == measured.FULL["bulk"]
    assert RESULTS["many"]["submissions"] == measured.FULL["many"]
    assert RESULTS["memory"]["submissions"] == measured.FULL["payloads"]
    assert set(RESULTS["machine"]) == {
        *("processor", "cores", "system", "python", "nbgrader", "date")
    }


def test_the_page_shows_them() -> None:
    page = json.loads((ROOT / "chapters" / "benchmarks.ipynb").read_text(encoding="utf-8"))
    shown = [
        "".join(output.get("data", {}).get("text/markdown", []))
        for cell in page["cells"]
        for output in cell.get("outputs", [])
    ]
    assert report.tables(RESULTS) in shown
    assert report.machine_line(RESULTS) in shown


def test_all_is_met_where_all_is_well() -> None:
    assert verdicts(WHOLE) == [True] * 4
    assert report.tables(WHOLE).count("| met |") == 4


@pytest.mark.parametrize(
    ("row", "part", "change"),
    [
        (0, "bulk", {"ratio": 1.01}),
        (1, "speed", {"ratio": 1.79}),
        (2, "many", {"right": 999}),
        (2, "many", {"lost": 1}),
        (2, "many", {"doubled": 1}),
        (2, "many", {"killed": [0.25]}),
        (3, "memory", {"megabytes": 501.0}),
        (3, "memory", {"rows": 9_999}),
    ],
)
def test_each_target_is_missed_by_itself(row: int, part: str, change: dict[str, Any]) -> None:
    results = copy.deepcopy(WHOLE)
    results[part] |= change
    assert verdicts(results) == [each != row for each in range(4)]
    assert report.tables(results).count("**missed**") == 1


def test_one_in_twenty_is_hostile_and_the_others_are_honest(tmp_path: Path) -> None:
    problem_set = next(iter(problem_sets().values()))
    attacks = measured.hand_in(tmp_path, problem_set, 40, measured.HOSTILE)
    assert len(attacks) == 2
    assert len(list(tmp_path.glob("*/*/*.ipynb"))) == 40
    for student, attack in attacks.items():
        (path,) = tmp_path.glob(f"{student}/*/*.ipynb")
        first_line = measured.ATTACKS[attack].splitlines()[0]
        assert first_line in path.read_text(encoding="utf-8")


def test_simulated_results_are_as_large_as_they_shall_be_and_have_all_points() -> None:
    sets = problem_sets()
    name, problem_set = next(iter(sets.items()))
    came = Submission(Student("s1", "", ""), name, b"{}")
    (result,) = grading_memory.simulated((came,), sets, Conditions({}))
    assert len(result.notebook) > len(result.feedback) == grading_memory.PAYLOAD
    by_hand = sum(each.points for each in problem_set.questions if each.by_hand)
    assert result.total == problem_set.maximum - by_hand
