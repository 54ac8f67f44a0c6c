"""What was measured of the site, as words: targets, verdicts, misses, a row for each page."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import report

COMMITTED = Path(__file__).with_name("site.json")
"""The results that the book shows."""
load = partial(report.load, COMMITTED)

SCORES = ("performance", "accessibility", "best-practices", "seo")
METRICS = ("fcp", "lcp", "tbt", "cls")
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
NAMES = {
    "performance": "performance",
    "accessibility": "accessibility",
    "best-practices": "best practices",
    "seo": "SEO",
}
HIDDEN = "404.html"
"""Search engines are told not to list this page, which Lighthouse counts against it."""
MOST_KILOBYTES = 250
BUILD = "build"
"""Under which name the build is among what was measured again."""
MOST_COLD, MOST_EDITED = 45, 3
MOST_STEP = 100
READ = ("text", "maths", "figures", "solutions")

Results = Mapping[str, Any]


class Row(NamedTuple):
    """One target: what came out, each miss of it in words, and what nothing can go below."""

    what: str
    measured: str
    target: str
    misses: tuple[str, ...] = ()
    floor: str = ""


def short(name: str) -> str:
    """Return the name of a page as a table shows it."""
    return name.removeprefix("chapters/").removesuffix(".html")


def _of(pages: Results, *, chapter: bool) -> dict[str, Any]:
    return {name: page for name, page in pages.items() if page["chapter"] is chapter}


def _counts(name: str, what: str) -> bool:
    return what != "seo" or name != HIDDEN


def _kilobytes(page: Results) -> float:
    return page["bytes"] / 1000


def _across(pages: Results, value: Callable[[Results], float], digits: int = 0) -> str:
    """Return the range of a value over pages, or its one value."""
    values = [f"{value(page):.{digits}f}" for page in pages.values()]
    least, most = min(values, key=float), max(values, key=float)
    return least if least == most else f"{least} to {most}"


def _score_row(pages: Results, what: str, where: str, runs: str) -> Row:
    least = LEAST[what]
    misses = tuple(
        f"{short(name)}: {page[what]['median']:.0f}"
        + (f" ({', '.join(page['failures'])})" if page["failures"] and least == 100 else "")
        for name, page in pages.items()
        if page[what]["median"] < least
    )
    measured = _across(pages, lambda page: page[what]["median"])
    target = f"at least {least}" if least < 100 else "100"
    return Row(f"Lighthouse, {NAMES[what]}, {where}, {runs}", measured, target, misses)


def _score_rows(pages: Results) -> Iterable[Row]:
    for chapter, where in ((True, "landing page and chapters"), (False, "other pages")):
        group = _of(pages, chapter=chapter)
        if not group:
            continue
        times = next(iter(group.values()))["runs"]
        runs = f"median of {times} runs" if times > 1 else "one run"
        for what in SCORES:
            counted = {name: page for name, page in group.items() if _counts(name, what)}
            but = " that may be found" if len(counted) < len(group) else ""
            if counted:
                yield _score_row(counted, what, f"{len(counted)} pages: {where}{but}", runs)


def _weight_row(pages: Results) -> Row:
    misses = tuple(
        f"{short(name)}: {_kilobytes(page):.0f} KB"
        for name, page in pages.items()
        if _kilobytes(page) > MOST_KILOBYTES
    )
    what = f"sent for a page, compressed, with all figures, {len(pages)} pages"
    return Row(what, f"{_across(pages, _kilobytes)} KB", f"at most {MOST_KILOBYTES} KB", misses)


def _foreign_row(pages: Results, key: str, what: str) -> Row:
    misses = tuple(
        f"{short(name)}: {len(page[key])} ({', '.join(sorted(set(page[key])))})"
        for name, page in pages.items()
        if page[key]
    )
    count = sum(len(page[key]) for page in pages.values())
    return Row(f"requests to others, scripts {what}, {len(pages)} pages", f"{count}", "0", misses)


def _some(results: Results) -> bool:
    """Return whether some pages alone were measured."""
    return results["quick"] or not results["build"]


def _reading_row(pages: Results, kind: str, *, some: bool) -> Row | None:
    """Return what can be read; a few pages need not have every kind, all of them together do."""
    found = {name: page["without scripts"][kind] for name, page in pages.items()}
    count = sum(page["all"] for page in found.values())
    lost = sum(len(page["lost"]) for page in found.values())
    misses = tuple(
        f"{short(name)}: {len(page['lost'])}, the first is «{page['lost'][0]}»"
        for name, page in found.items()
        if page["lost"]
    )
    if not count and some:
        return None
    if not count:
        misses = (f"no {kind} were found at all",)
    read = f"{count - lost} of {count} can be read"
    return Row(f"{kind} without scripts, {len(pages)} pages", read, "all", misses)


def _axe_row(pages: Results) -> Row:
    rules = Counter[str]()
    for page in pages.values():
        rules.update(page["violations"])
    misses = tuple(
        f"{rule}: {count} times on "
        + ", ".join(short(name) for name, page in pages.items() if rule in page["violations"])
        for rule, count in rules.most_common()
    )
    what = f"violations that axe-core finds, {len(pages)} pages, light and dark, phone and desk"
    return Row(what, f"{rules.total()}", "0", misses)


def _build_rows(build: Results) -> Iterable[Row]:
    nothing = "the installation, with nothing cached, median of {} copies"
    edited = "an edited paragraph, median of {} chapters edited in turn"
    cells = f"{build['cells']:.0f} s, the cells alone"
    unchanged = f"{build['unchanged']:.1f} s, nothing edited"
    for key, each, digits, most, what, floor in (
        ("cold", "colds", 0, MOST_COLD, nothing, cells),
        ("edited", "edits", 1, MOST_EDITED, edited, unchanged),
    ):
        taken = f"{build[key]:.{digits}f} s"
        times = ", ".join(f"{seconds:.{digits}f}" for seconds in build[each])
        yield Row(
            f"`make book` after {what.format(len(build[each]))}",
            f"{taken} ({times})",
            f"at most {most} s",
            (taken,) if build[key] > most else (),
            floor,
        )


def _slow(steps: list[int]) -> int:
    """Return the 95th percentile."""
    return round(float(np.quantile(steps, 0.95, method="inverted_cdf")))


def _walk_rows(walk: Results) -> Iterable[Row]:
    steps = walk["steps"]
    slow = _slow(steps)
    times = f"{slow} ms (median {statistics.median(steps):.0f}, longest {max(steps)})"
    what = f"from a click to the next page's first paint, 95th percentile of {len(steps)} steps"
    misses = (times,) if slow > MOST_STEP else ()
    floor = f"{_slow(walk['bare'])} ms, pages of one sentence"
    yield Row(what, times, f"at most {MOST_STEP} ms", misses, floor)
    lost = tuple(map(short, walk["lost"]))
    yield Row("pages lost without a connection", f"{len(lost)}", "0", lost)


def rows(results: Results) -> list[Row]:
    """Return a row for each target of which something was measured."""
    found: list[Row] = []
    if pages := results["pages"]:
        found += [
            *_score_rows(pages),
            _weight_row(pages),
            _foreign_row(pages, "foreign", "on"),
            _foreign_row(pages, "foreign without scripts", "off"),
            *(row for kind in READ if (row := _reading_row(pages, kind, some=_some(results)))),
            _axe_row(pages),
        ]
    if results.get("walk"):
        found += _walk_rows(results["walk"])
    if results["build"]:
        found += _build_rows(results["build"])
    return found


def target_table(results: Results) -> str:
    """Return what was measured beside what was wanted."""
    return report.table(
        ["what", "measured", "target", "floor", ""],
        [
            [row.what, row.measured, row.target, row.floor, "**missed**" if row.misses else "met"]
            for row in rows(results)
        ],
    )


def missed(results: Results) -> list[str]:
    """Say what misses a target and where."""
    return [
        f"- **{row.what}**, wanted {row.target}: {'; '.join(row.misses)}."
        + (f" The floor: {row.floor}." if row.floor else "")
        for row in rows(results)
        if row.misses
    ]


def _spread(value: Results, digits: int, unit: str = "", scale: float = 1) -> str:
    median, least, most = (
        f"{value[key] / scale:.{digits}f}" for key in ("median", "least", "most")
    )
    return f"{median}{unit}" if least == most else f"{median}{unit} ({least}–{most})"


def _cells(name: str, page: Results) -> list[str]:
    scores = []
    for what in SCORES:
        text = _spread(page[what], 0)
        low = page[what]["median"] < LEAST[what] and _counts(name, what)
        scores.append(f"**{text}**" if low else text)
    weight = f"{_kilobytes(page):.0f} KB"
    return [
        short(name),
        *scores,
        *(_spread(page[what], 1, " s", 1000) for what in ("fcp", "lcp")),
        _spread(page["tbt"], 0, " ms"),
        _spread(page["cls"], 3),
        weight if _kilobytes(page) <= MOST_KILOBYTES else f"**{weight}**",
    ]


def page_table(results: Results) -> str:
    """Return a row for each page, with what misses its target in bold."""
    heads = [
        *("page", *(NAMES[what] for what in SCORES)),
        *("first paint", "largest paint", "blocked", "shift", "sent"),
    ]
    return report.table(heads, [_cells(name, page) for name, page in results["pages"].items()])


def machine_line(results: Results) -> str:
    """Return what the site was measured with."""
    machine = results["machine"]
    few = f"A quick look at {len(results['pages'])} pages only: " if results["quick"] else ""
    again = results.get("again", {})
    since = ", ".join(
        f"{'the build' if name == BUILD else short(name)} on {date}"
        for name, date in sorted(again.items())
    )
    later = f" Measured again after a change, each alone: {since}." if again else ""
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    if not results["pages"]:
        return f"{where}, {machine['date']}."
    return (
        f"{few}Lighthouse {machine['lighthouse']}, which calls this machine's speed "
        f"{machine['index']:.0f}, axe-core {machine['axe']}, {machine['browser']} without "
        f"a window, {where}, {machine['date']}.{later}"
    )
