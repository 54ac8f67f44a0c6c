"""Measure, print, and write ``_build/bench``; with ``--update`` also what the book shows.

``make bench`` calls this in an environment of its own; ``make bench ARGS=--quick`` tries it out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.threads import restrict
from benchmarks.timing import Pace

NAMES = ("forward", "long", "memory", "gradient")
BUILT = Path(__file__).resolve().parent.parent / "_build" / "bench" / "results.json"
THOROUGH = Pace(seconds=20, least=7, most=100)
QUICK = Pace(seconds=1, least=3, most=9)
INNERMOST = re.compile(r"[\[{][^\[\]{}\"]*(?:\"(?:[^\"\\]|\\.)*\"[^\[\]{}\"]*)*[\]}]")


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, help="measure only these")
    parser.add_argument("--quick", action="store_true", help="few rounds: a try, no result")
    parser.add_argument(
        "--update", action="store_true", help="replace the results that the book shows"
    )
    options = parser.parse_args(arguments)
    if options.update and (options.only or options.quick):
        parser.error("--update wants a whole run: without --only and without --quick")
    return options


def merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add what another case found, one level of tables deep."""
    for key, value in more.items():
        if isinstance(value, dict):
            into.setdefault(key, {}).update(value)
        else:
            into[key] = value


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run the cases and return the results."""
    from benchmarks import cases, facts

    plan = cases.Plan(QUICK if options.quick else THOROUGH, options.quick)
    results: dict[str, Any] = {
        "machine": facts.machine(),
        "settings": {"quick": options.quick, "width": cases.WIDTH, "long": cases.LONG},
        "records": {},
    }
    for name in options.only or NAMES:
        outcome = cases.CASES[name](plan, lambda line: print(line, flush=True))
        merge(results["records"], outcome.records)
        merge(results, outcome.other)
    return results


def as_json(results: Any) -> str:
    """Return results as JSON in which what fits on a line is on one.

    Examples
    --------
    >>> print(as_json({"loads": {"median": 3, "most": 4}}), end="")
    {
     "loads": {"median": 3, "most": 4}
    }
    """

    def on_one_line(found: re.Match[str]) -> str:
        joined = re.sub(r"\n\s*", " ", found.group())
        joined = re.sub(r"^([\[{]) | ([\]}])$", r"\1\2", joined)
        return joined if len(joined) <= 100 else found.group()

    text = json.dumps(results, indent=1, ensure_ascii=False)
    return INNERMOST.sub(on_one_line, text) + "\n"


def show(results: Mapping[str, Any]) -> None:
    """Print the tables of what was measured."""
    print("\n" + report.target_table(results, *report.GROUPS))
    for group in results.get("peers", {}):
        print(f"\n{group}\n" + report.peer_table(results, group))
    print("\n" + report.missed(results))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark and return the exit status: missed targets are results, not errors."""
    options = parse_arguments(arguments)
    restrict()  # before NumPy, PyTorch and JAX are imported
    results = measure(options)
    show(results)
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    BUILT.write_text(as_json(results), encoding="utf-8")
    if not options.update:
        return 0
    if found := report.problems(results):
        print("not updated: " + "; ".join(found), file=sys.stderr)
        return 1
    report.COMMITTED.write_text(as_json(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
