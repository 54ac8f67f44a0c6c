"""Measure the built site: Lighthouse, weight, axe-core, scripts off, steps between pages, builds.

``make bench-site`` calls this in the environment of the tests, because it needs the built book and
a Chromium, and installs Lighthouse from ``benchmarks/lighthouse`` first, which nothing else does.
The pages come from a server of our own that compresses. Lighthouse plays a phone on a slow network,
five times for the landing page and every chapter and once for every other page; the rest is
counted on all pages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import files, site_report
from benchmarks.facts import hardware, today
from benchmarks.files import ROOT, SITE
from benchmarks.site_build import build_times
from benchmarks.site_pages import look
from benchmarks.site_server import serving
from benchmarks.site_walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LIGHTHOUSE = ROOT / ".lighthouse"
RUNS = 5
DIFFERENT = ("date", "index")
"""What may be different when pages are measured again: the day, and the speed of the machine."""
QUICK = ("index.html", "chapters/08_training.html")


def pages(site: Path) -> tuple[list[str], list[str]]:
    """Return the landing page with the chapters, and all other pages."""
    chapters = sorted(
        path.relative_to(site).as_posix() for path in site.glob("chapters/[0-9]*.html")
    )
    main = ["index.html", *chapters]
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    inside = ("_static/", "_downloads/", "_sources/", "_images/")
    return main, [name for name in found if name not in main and not name.startswith(inside)]


def lighthouse(chromium: str, urls: list[str], runs: int) -> list[dict[str, Any]]:
    """Return what Lighthouse measures, a record for each page and run."""
    script = Path(__file__).with_name("lighthouse") / "measure.mjs"
    order = json.dumps({"chromium": chromium, "runs": runs, "urls": urls})
    # no look for newer versions, and nothing told to anybody
    environment = os.environ | {"NO_UPDATE_NOTIFIER": "1", "CI": "1"}
    run = subprocess.run(  # noqa: S603 - our own command
        ["node", str(script), str(LIGHTHOUSE)],  # noqa: S607 - wherever Node is installed
        input=order,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def spread(values: Iterable[float]) -> dict[str, float]:
    """Return the median, the smallest and the largest of some values."""
    kept = [round(value, 3) for value in values]
    return {"median": statistics.median(kept), "least": min(kept), "most": max(kept)}


def summary(records: Iterable[Mapping[str, Any]], address: str) -> dict[str, Any]:
    """Put the runs of each page together."""
    by_page: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_page.setdefault(record["url"].removeprefix(f"{address}/"), []).append(record)
    measured = (*site_report.SCORES, *site_report.METRICS)
    return {
        name: {
            "runs": len(runs),
            **{what: spread(run[what] for run in runs) for what in measured},
            "failures": sorted({failure for run in runs for failure in run["failures"]}),
        }
        for name, runs in by_page.items()
    }


def same_machine(known: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """End unless what is measured now is measured with what the known results were."""
    changed = [name for name in now if known[name] != now[name]]
    if changed:
        raise SystemExit(f"measure everything: another {', '.join(changed)} than before")


def anew(known: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Put what was measured again, pages or the build, in the place of that in known results.

    What the results were measured with has to be the same, but for the day and the speed of the
    machine, which stay those of the whole measurement; the results say what was measured again.
    """
    now = {key: is_now for key, is_now in measured["machine"].items() if key not in DIFFERENT}
    same_machine(known["machine"], now)
    names = [*measured["pages"], *([site_report.BUILD] if measured["build"] else [])]
    return {
        **known,
        "pages": {**known["pages"], **measured["pages"]},
        "build": measured["build"] or known["build"],
        "again": {**known.get("again", {}), **dict.fromkeys(names, measured["machine"]["date"])},
    }


def measure_build() -> dict[str, Any]:
    """Measure the build alone."""
    machine = {**hardware(), "date": today()}
    return {"machine": machine, "quick": False, "pages": {}, "walk": None, "build": build_times()}


def measure(*, quick: bool = False, only: Sequence[str] = ()) -> dict[str, Any]:
    """Measure everything, or some pages alone, and say on the way what is being done."""
    from playwright.sync_api import sync_playwright

    from tools.chromium import find_chromium

    started = time.monotonic()

    def say(what: str) -> None:
        sys.stderr.write(f"{time.monotonic() - started:5.0f} s  {what}\n")

    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium was found: python tools/chromium.py installs one")
    main, others = pages(SITE)
    runs = RUNS
    if quick:
        main, others, runs = list(QUICK), [], 2
    if only:
        unknown = sorted(set(only) - {*main, *others})
        if unknown:
            raise SystemExit(f"the site has no page {', '.join(unknown)}")
        main, others = ([name for name in group if name in only] for group in (main, others))
    build = None
    if not only:
        say("the build, from nothing and after edits")  # first, since a build can fail
        build = build_times()
    axe = LIGHTHOUSE / "node_modules" / "axe-core"
    with serving(SITE) as server, sync_playwright() as playwright:
        say(f"Lighthouse: {len(main)} pages {runs} times, {len(others)} pages once")
        records = []
        for group, times in ((main, runs), (others, 1)):
            urls = [f"{server.address}/{name}" for name in group]
            records += lighthouse(chromium, urls, times) if urls else []
        say("axe-core, requests, bytes, and pages without scripts")
        # --no-sandbox because containers often run as root, where the sandbox refuses to start
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        version = browser.version
        seen = {name: look(browser, server, name, axe / "axe.min.js") for name in [*main, *others]}
        walked = None
        if not (quick or only):
            say("from page to page, and without a connection")
            walked = walk(browser, server, [*main, *others])
        browser.close()
        scores = summary(records, server.address)
    say("done")
    return {
        "machine": {
            **hardware(),
            "browser": f"Chromium {version}",
            "lighthouse": records[0]["version"],
            "axe": json.loads((axe / "package.json").read_text(encoding="utf-8"))["version"],
            "index": statistics.median(record["index"] for record in records),
            "date": today(),
        },
        "quick": quick,
        "pages": {
            name: {"chapter": name in main, **scores[name], **seen[name]}
            for name in [*main, *others]
        },
        "walk": walked,
        "build": build,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; with ``--update`` also what the book shows."""
    parser = argparse.ArgumentParser(prog="benchmarks.site", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two pages: a try, no result")
    parser.add_argument("--update", action="store_true", help="replace what the book shows")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PAGE", help="measure these again, keep the rest"
    )
    parser.add_argument(
        "--build", action="store_true", help="measure the build again and no page, keep the rest"
    )
    options = parser.parse_args(arguments)
    if options.update and options.quick:
        parser.error("--update wants a whole run: without --quick")
    if options.only and options.quick:
        parser.error("--only wants no --quick")
    if options.build and (options.only or options.quick):
        parser.error("--build wants neither --only nor --quick")
    known = site_report.load() if options.update and (options.only or options.build) else None
    if known:
        same_machine(known["machine"], hardware())  # before minutes are spent
    some = partial(measure, quick=options.quick, only=options.only)
    results = measure_build() if options.build else some()
    if known:
        results = anew(known, results)
    shown = [
        site_report.target_table(results),
        "\n".join(site_report.missed(results)),
        site_report.page_table(results) if results["pages"] else "",
        site_report.machine_line(results),
    ]
    print(*filter(None, shown), sep="\n\n")
    updated = [site_report.COMMITTED] if options.update else []
    files.write(results, files.BUILT / "site.json", *updated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
