"""Measure, print, and write ``_build/bench``; with ``--update`` also what the book shows.

``make bench`` calls this in an environment of its own; ``make bench ARGS=--quick`` tries it out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks import files, report
from benchmarks.threads import restrict
from benchmarks.timing import Pace

NAMES = ("rates", "forward", "long", "memory", "gradient", "training", "sampler", "ablation")
THOROUGH = Pace(seconds=20, least=7, most=100)
QUICK = Pace(seconds=1, least=3, most=9)


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


def show(results: Mapping[str, Any]) -> None:
    """Print the tables of what was measured."""
    print("\n" + report.target_table(results, *report.GROUPS))
    for group, rows in results.get("peers", {}).items():
        if rows:
            print(f"\n{group}\n" + report.peer_table(results, group))
    print("", *report.missed(results), sep="\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark and return the exit status: missed targets are results, not errors."""
    options = parse_arguments(arguments)
    restrict()  # before NumPy, PyTorch and JAX are imported
    results = measure(options)
    show(results)
    files.write(results, files.BUILT / "results.json")
    if not options.update:
        return 0
    if found := report.problems(results):
        print("not updated: " + "; ".join(found), file=sys.stderr)
        return 1
    files.write(results, report.COMMITTED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
