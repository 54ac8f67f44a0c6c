"""The benchmark of the site: verdicts that follow from the numbers, and looks that see faults.

Nothing here measures time, and nothing needs Lighthouse.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import axe_playwright_python
import nbformat
import pytest

from benchmarks import site as measured
from benchmarks import site_build, site_pages, site_server, site_walk
from benchmarks import site_report as report
from tests.book.notebooks import ROOT, read, shown_as

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")


def value(number: float) -> dict[str, float]:
    return {"median": number, "least": number, "most": number}


def page(*, chapter: bool) -> dict[str, Any]:
    """Return a page that just meets every target."""
    return {
        "chapter": chapter,
        "runs": 5 if chapter else 1,
        **{what: value(least) for what, least in report.LEAST.items()},
        **{what: value(0) for what in report.METRICS},
        "failures": [],
        "bytes": report.MOST_KILOBYTES * 1000,
        "foreign": [],
        "foreign without scripts": [],
        "violations": {},
        "without scripts": {kind: {"all": 3, "lost": []} for kind in report.READ},
    }


WHOLE = {
    "machine": {
        "processor": "A",
        "cores": 2,
        "system": "Linux",
        "browser": "Chromium 1",
        "lighthouse": "12",
        "axe": "4",
        "index": 1500.0,
        "date": "2026-11-22",
    },
    "quick": False,
    "pages": {
        "index.html": page(chapter=True),
        "chapters/01_puzzle.html": page(chapter=True),
        "chapters/summary.html": page(chapter=False),
    },
    "walk": {
        "steps": [*[20] * 18, report.MOST_STEP, 5000],
        "bare": [*[20] * 18, 33, 5000],
        "lost": [],
    },
    "build": {
        "cells": 12.3,
        "unchanged": 1.23,
        "cold": report.MOST_COLD,
        "colds": [report.MOST_COLD - 2, report.MOST_COLD, report.MOST_COLD + 3],
        "edited": report.MOST_EDITED,
        "edits": [2.0, 3.0, 6.0],
    },
}
CHAPTER, OTHER, GONE = "chapters/01_puzzle.html", "chapters/summary.html", "404.html"


def spoiled(name: str, **values: Any) -> dict[str, Any]:
    """Return results in which something about one page is different."""
    results = copy.deepcopy(WHOLE)
    results["pages"][name] |= values
    return results


def unread(kind: str) -> dict[str, Any]:
    """Return what a page has without scripts if two parts of a kind cannot be read there."""
    whole = page(chapter=False)["without scripts"]
    return {"without scripts": whole | {kind: {"all": 3, "lost": ["one", "two"]}}}


LABEL = {"accessibility": value(99), "failures": ["label"]}
OFF = {"foreign without scripts": ["http://a/"]}
ASKED = "requests to others, scripts"
# The page, what is wrong with it, the target that this misses, and how it is told.
FAULTS = {
    "performance": (CHAPTER, {"performance": value(94)}, "Lighthouse, performance", "94"),
    "accessibility": (OTHER, LABEL, "Lighthouse, accessibility", "99 (label)"),
    "weight": (OTHER, {"bytes": 251_000}, "sent for a page", "251 KB"),
    "request": (OTHER, {"foreign": ["http://a/"] * 2}, f"{ASKED} on", "2 (http://a/)"),
    "request without scripts": (OTHER, OFF, f"{ASKED} off", "1 (http://a/)"),
    "axe": (OTHER, {"violations": {"label": 3}}, "violations", "label: 3 times on summary"),
    **{
        kind: (OTHER, unread(kind), f"{kind} without scripts", "2, the first is «one»")
        for kind in report.READ
    },
}


class TestVerdicts:
    def test_all_is_met_where_all_is_just_within_its_target(self) -> None:
        assert report.missed(WHOLE) == []
        assert "**" not in report.target_table(WHOLE) + report.page_table(WHOLE)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_miss_is_told_with_its_page_and_its_number(self, fault: str) -> None:
        name, wrong, what, number = FAULTS[fault]
        results = spoiled(name, **wrong)
        (row,) = [row for row in report.rows(results) if row.misses]
        assert row.what.startswith(what)
        (told,) = report.missed(results)
        assert report.short(name) in told
        assert number in told
        assert report.target_table(results).count("**missed**") == 1

    @pytest.mark.parametrize(
        ("name", "what", "count"), [(GONE, "seo", 0), (GONE, "performance", 1), (OTHER, "seo", 1)]
    )
    def test_search_engines_may_pass_by_the_page_that_is_not_here(
        self, name: str, what: str, count: int
    ) -> None:
        results = copy.deepcopy(WHOLE)
        results["pages"][GONE] = page(chapter=False)
        results["pages"][name][what] = value(60)
        assert len(report.missed(results)) == count
        assert report.page_table(results).count("**60**") == count

    @pytest.mark.parametrize(("key", "what"), [("cold", "nothing cached"), ("edited", "edited")])
    def test_a_slow_build_is_told(self, key: str, what: str) -> None:
        results = copy.deepcopy(WHOLE)
        results["build"][key] += 0.6
        (row,) = [row for row in report.rows(results) if row.misses]
        assert what in row.what
        assert row.floor in report.missed(results)[0]

    def test_steps_that_take_long_are_told_and_so_are_pages_that_are_lost(self) -> None:
        results = copy.deepcopy(WHOLE)
        results["walk"]["steps"][18] += 1
        results["walk"]["lost"] = [OTHER]
        told = report.missed(results)
        assert ["median 20, longest 5000" in told[0], "summary" in told[1]] == [True, True]
        assert len(told) == 2
        assert "click" not in report.target_table({**WHOLE, "walk": None})

    def test_what_takes_time_has_its_floor_beside_it(self) -> None:
        floors = [row.floor for row in report.rows(WHOLE) if row.floor]
        assert [text.partition(",")[0] for text in floors] == ["33 ms", "12 s", "1.2 s"]
        assert all(f"| {text} |" in report.target_table(WHOLE) for text in floors)

    def test_the_median_counts_and_the_spread_is_shown(self) -> None:
        results = spoiled(CHAPTER, performance={"median": 96, "least": 80, "most": 98})
        assert report.missed(results) == []
        assert "| 96 (80–98) |" in report.page_table(results)

    def test_what_misses_is_bold_in_the_row_of_its_page(self) -> None:
        results = spoiled(CHAPTER, performance=value(94), bytes=251_000)
        (line,) = [text for text in report.page_table(results).splitlines() if "puzzle" in text]
        assert re.findall(r"\*\*(.*?)\*\*", line) == ["94", "251 KB"]

    def test_finding_nothing_to_read_is_a_miss(self) -> None:
        results = copy.deepcopy(WHOLE)
        for found in results["pages"].values():
            found["without scripts"]["maths"] = {"all": 0, "lost": []}
        assert "no maths were found at all" in "".join(report.missed(results))

    def test_each_page_has_a_row(self) -> None:
        assert len(report.page_table(WHOLE).splitlines()) == 2 + len(WHOLE["pages"])


class TestThePage:
    def test_it_shows_the_committed_results_and_they_name_no_machine(self) -> None:
        results = report.load()
        tables = shown_as(read("chapters/benchmarks.ipynb"), "text/markdown")
        assert report.target_table(results) in tables
        assert report.page_table(results) in tables
        assert report.machine_line(results) in tables
        assert set(results["machine"]) == set(WHOLE["machine"])

    def test_pages_that_were_measured_again_are_named(self) -> None:
        name = next(iter(WHOLE["pages"]))
        told = report.machine_line({**WHOLE, "again": {name: "2030-01-02"}})
        assert told.startswith(report.machine_line(WHOLE))
        assert told.endswith(f"each alone: {report.short(name)} on 2030-01-02.")
        told = report.machine_line({**WHOLE, "again": {report.BUILD: "2030-01-02"}})
        assert told.endswith("each alone: the build on 2030-01-02.")

    def test_a_quick_look_is_called_one(self) -> None:
        assert "quick" not in report.machine_line(WHOLE)
        told = report.machine_line({**WHOLE, "quick": True})
        assert told.startswith(f"A quick look at {len(WHOLE['pages'])} pages only: Lighthouse ")


class TestSummary:
    def test_the_runs_of_a_page_are_put_together(self) -> None:
        runs = [(95, 1200.4), (97, 1100.0), (90, 1500.0)]
        records = [
            {
                "url": f"http://x/{name}",
                **dict.fromkeys((*report.SCORES, *report.METRICS), 100),
                "performance": performance,
                "lcp": lcp,
                "failures": ["label"] if lcp > 1400 else [],
            }
            for performance, lcp in runs
            for name in ("index.html", "b.html")
        ]
        found = measured.summary(records, "http://x")
        assert set(found) == {"index.html", "b.html"}
        assert found["b.html"]["runs"] == 3
        assert found["b.html"]["performance"] == {"median": 95, "least": 90, "most": 97}
        assert found["b.html"]["lcp"]["median"] == 1200.4
        assert found["b.html"]["failures"] == ["label"]

    def test_the_chapters_and_the_landing_page_come_first(self, tmp_path: Path) -> None:
        names = ["index.html", "search.html", "chapters/02_b.html", "chapters/01_a.html"]
        names += [
            "chapters/reference/x.html",
            "chapters/01_a.html.md",
            "_static/webpack-macros.html",
        ]
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        main, others = measured.pages(tmp_path)
        assert main == ["index.html", "chapters/01_a.html", "chapters/02_b.html"]
        assert others == ["chapters/reference/x.html", "search.html"]

    def test_pages_measured_again_take_the_place_of_the_known_ones(self) -> None:
        machine = {**WHOLE["machine"], "date": "2030-01-02", "index": 7}
        name, other = list(WHOLE["pages"])[:2]
        page = {**WHOLE["pages"][name], "runs": 99}
        found = measured.anew(WHOLE, {"machine": machine, "pages": {name: page}, "build": None})
        assert found["pages"] == {**WHOLE["pages"], name: page}
        assert found["again"] == {name: "2030-01-02"}
        assert found["machine"] == WHOLE["machine"]
        assert found["build"] == WHOLE["build"]
        later = {"machine": {**machine, "date": "2030-01-03"}, "pages": {other: page}}
        later["build"] = None
        assert measured.anew(found, later)["again"] == {name: "2030-01-02", other: "2030-01-03"}

    def test_another_machine_has_to_measure_everything(self) -> None:
        machine = {**WHOLE["machine"], "cores": -1}
        with pytest.raises(SystemExit, match="another cores"):
            measured.anew(WHOLE, {"machine": machine, "pages": {}, "build": None})

    def test_the_build_is_put_in_the_place_of_the_known_one(self) -> None:
        machine = {key: WHOLE["machine"][key] for key in ("processor", "cores", "system")}
        build = {"cold": 1, "colds": [1], "edited": 2, "edits": [2]}
        measured_now = {"machine": {**machine, "date": "2030-01-02"}, "pages": {}, "build": build}
        known = {**WHOLE, "again": {"index.html": "2029-01-01"}}
        assert measured.anew(known, measured_now) == {
            **WHOLE,
            "build": build,
            "again": {"index.html": "2029-01-01", report.BUILD: "2030-01-02"},
        }


class TestTheCommand:
    """What is measured is printed on any machine; what the book shows is of one."""

    @pytest.fixture
    def elsewhere(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
        """Measure nothing, on another machine than that of the known results."""
        machine = {**WHOLE["machine"], "processor": "Another", "date": "2030-01-02"}
        hardware = {key: machine[key] for key in ("processor", "cores", "system")}

        def some(*, quick: bool, only: list[str]) -> dict[str, Any]:
            pages = {name: WHOLE["pages"][name] for name in only}
            return {"machine": machine, "quick": quick, "pages": pages, "build": None}

        monkeypatch.setattr(measured, "measure", some)
        monkeypatch.setattr(measured, "build_times", lambda: WHOLE["build"])
        monkeypatch.setattr(measured, "hardware", lambda: hardware)
        monkeypatch.setattr(measured, "today", lambda: machine["date"])
        monkeypatch.setattr(report, "load", lambda: WHOLE)
        monkeypatch.setattr(measured.files, "BUILT", tmp_path)
        return machine

    @pytest.mark.parametrize("arguments", ["--only chapters/summary.html", "--build"])
    def test_it_prints_what_it_measured(
        self, arguments: str, elsewhere: dict[str, Any], tmp_path: Path, capsys: Any
    ) -> None:
        assert measured.main(arguments.split()) == 0
        shown = capsys.readouterr().out
        assert "Another, 2 cores" in shown
        assert ("make book" in shown) == (arguments == "--build")
        assert ("| summary |" in shown) == (arguments != "--build")
        assert "puzzle" not in shown
        assert "missed" not in shown
        written = json.loads((tmp_path / "site.json").read_text(encoding="utf-8"))
        assert written["machine"]["date"] == elsewhere["date"]

    @pytest.mark.usefixtures("elsewhere")
    def test_a_few_pages_need_not_have_every_kind(self, monkeypatch, capsys) -> None:
        bare = copy.deepcopy(WHOLE["pages"][OTHER])
        bare["without scripts"]["figures"] = {"all": 0, "lost": []}
        monkeypatch.setitem(WHOLE["pages"], OTHER, bare)
        assert measured.main(["--only", OTHER]) == 0
        assert "figures" not in capsys.readouterr().out.replace("with all figures", "")

    @pytest.mark.usefixtures("elsewhere")
    @pytest.mark.parametrize("arguments", ["--only chapters/summary.html", "--build"])
    def test_another_machine_may_not_mix_its_results_with_the_known(
        self, arguments: str, monkeypatch
    ) -> None:
        def wasted(*_: object, **__: object) -> None:
            raise AssertionError("minutes were spent before it was refused")

        monkeypatch.setattr(measured, "measure", wasted)
        monkeypatch.setattr(measured, "build_times", wasted)
        with pytest.raises(SystemExit, match="another processor"):
            measured.main([*arguments.split(), "--update"])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("--build --quick", "--build wants neither --only nor --quick"),
            ("--build --only index.html", "--build wants neither --only nor --quick"),
            ("--only index.html --quick", "--only wants no --quick"),
            ("--update --quick", "--update wants a whole run"),
        ],
    )
    def test_what_does_not_go_together_is_refused(
        self, arguments: str, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit):
            measured.main(arguments.split())
        assert message in capsys.readouterr().err

    def test_lighthouse_is_pinned_and_no_address_is(self) -> None:
        folder = ROOT / "benchmarks" / "lighthouse"
        wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
        lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        assert {name: lock[f"node_modules/{name}"]["version"] for name in wanted} == wanted
        assert lock[""]["dependencies"] == wanted
        assert all("integrity" in package for name, package in lock.items() if name)
        assert not any("resolved" in package for package in lock.values())


class TestTheServer:
    def test_text_travels_compressed_and_its_bytes_are_counted(self, tmp_path: Path) -> None:
        text = b"<!DOCTYPE html>" + b"<p>again and again</p>" * 200
        (tmp_path / "index.html").write_bytes(text)
        (tmp_path / "a.webp").write_bytes(text)
        with site_server.serving(tmp_path) as server:
            asked = Request(f"{server.address}/", headers={"Accept-Encoding": "gzip"})  # noqa: S310
            with urlopen(asked) as answer:  # noqa: S310 - our own server
                body = answer.read()
                assert answer.headers["Content-Encoding"] == "gzip"
                assert "max-age" in answer.headers["Cache-Control"]
                assert answer.headers.get_content_type() == "text/html"
            assert gzip.decompress(body) == text
            assert len(body) < server.sent < len(body) + 500
            with urlopen(f"{server.address}/") as answer:  # noqa: S310
                assert answer.read() == text
            before = server.sent
            with urlopen(f"{server.address}/a.webp") as answer:  # noqa: S310
                assert answer.headers["Content-Encoding"] is None
                assert answer.headers.get_content_type() == "image/webp"
            assert server.sent > before + len(text)
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{server.address}/none.html")  # noqa: S310


class TestTheFloors:
    def test_each_step_between_bare_pages_is_taken(self, browser: Browser) -> None:
        steps = site_walk.bare_steps(browser, 2)
        assert [0 < step < 10_000 for step in steps] == [True, True]

    @pytest.mark.proof("examples")
    @pytest.mark.parametrize("source", ["6 * 7", "1 / 0"])
    def test_all_cells_are_run_or_it_says_so(self, source: str, tmp_path: Path) -> None:
        for name in ("_ext", "book"):
            (tmp_path / name).symlink_to(ROOT / name)
        (tmp_path / "chapters").mkdir()
        for number, code in enumerate(("1", source)):
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
            notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python"}}
            nbformat.write(notebook, tmp_path / "chapters" / f"{number}.ipynb")
        if "0" in source:
            with pytest.raises(RuntimeError, match="of 2 notebooks 1 ran to their end"):
                site_build.run_cells(tmp_path, tmp_path)
        else:
            assert site_build.run_cells(tmp_path, tmp_path) > 0


class TestTheEdit:
    def write(self, path: Path, *sources: str) -> Path:
        cells = [{"cell_type": "markdown", "source": text.splitlines(True)} for text in sources]
        path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
        return path

    def test_a_plain_paragraph_gets_a_sentence(self, tmp_path: Path) -> None:
        plain = "Words and words " * 8 + "end."
        notebook = self.write(tmp_path / "a.ipynb", "# A\n\n{term}`x` is.\n", f"{plain}\n\nMore.")
        site_build.edit(notebook)
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        assert "".join(cells[0]["source"]) == "# A\n\n{term}`x` is.\n"
        assert "".join(cells[1]["source"]) == f"{plain} {site_build.ADDED}\n\nMore."

    def test_where_there_is_none_it_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError, match="no plain paragraph in a"):
            site_build.edit(self.write(tmp_path / "a.ipynb", "# A\n\nShort.\n"))

    @pytest.mark.parametrize("chapter", site_build.EDITED)
    def test_the_chapters_that_are_edited_have_one(self, chapter: str, tmp_path: Path) -> None:
        notebook = tmp_path / "a.ipynb"
        content = (ROOT / "chapters" / f"{chapter}.ipynb").read_bytes()
        notebook.write_bytes(content)
        site_build.edit(notebook)
        assert site_build.ADDED in notebook.read_text(encoding="utf-8")


BOX = "<div class='solution'>{}</div>"
GOOD = (
    "<p>text</p><figure><img alt='a dot' src='dot.svg'></figure>"
    "<details><summary>More</summary><p>closed</p><math><mi>x</mi></math></details>"
    f"{BOX.format('solved')}"
)
DOT = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0h9v9z'/></svg>"
HIDDEN = {
    "text": "<p style='display: none'>words</p>",
    "maths": "<p><math style='visibility: hidden'><mi>x</mi></math></p>",
    "figures": "<img alt='nothing' src='none.webp'>",
    "solutions": f"<div style='opacity: 0'>{BOX.format('away')}</div>",
}


def look(browser: Browser, folder: Path, body: str) -> dict[str, Any]:
    """Write a page and return what the benchmark sees on it."""
    (folder / "dot.svg").write_text(DOT, encoding="utf-8")
    # scripts of a page may not be made out of text, as on the pages of the book
    policy = "<meta http-equiv='Content-Security-Policy' content=\"script-src 'self'\">"
    follow = "document.documentElement.dataset.theme = matchMedia("
    follow += "'(prefers-color-scheme: dark)').matches ? 'dark' : 'light';"
    (folder / "a.js").write_text(follow, encoding="utf-8")
    (folder / "a.html").write_text(
        f"<!DOCTYPE html><html lang='en'><head>{policy}<title>T</title>"
        f"<link rel='icon' href='dot.svg'><script src='a.js'></script></head>"
        f"<body><main><article><h1>T</h1>{body}</article></main></body></html>",
        encoding="utf-8",
    )
    with site_server.serving(folder) as server:
        return site_pages.look(browser, server, "a.html", AXE)


class TestTheLook:
    def test_a_good_page_is_good(self, browser: Browser, tmp_path: Path) -> None:
        found = look(browser, tmp_path, GOOD)
        assert found["foreign"] == found["foreign without scripts"] == []
        assert found["violations"] == {}
        counts = {kind: seen["all"] for kind, seen in found["without scripts"].items()}
        assert counts == {"text": 3, "maths": 1, "figures": 1, "solutions": 1}
        assert [seen["lost"] for seen in found["without scripts"].values()] == [[]] * 4
        assert len(DOT) < found["bytes"] < 5000

    def test_every_fault_is_found(self, browser: Browser, tmp_path: Path) -> None:
        # an address at which nobody listens, so that nothing leaves this machine
        elsewhere = "http://127.0.0.1:9/a.png"
        found = look(browser, tmp_path, f"{GOOD}{''.join(HIDDEN.values())}<img src='{elsewhere}'>")
        # on a phone and at a desk, in light and in dark
        assert found["foreign"] == [elsewhere] * 4
        assert found["foreign without scripts"] == [elsewhere]
        assert found["violations"] == {"image-alt": 4}
        lost = {kind: seen["lost"] for kind, seen in found["without scripts"].items()}
        assert {kind: len(what) for kind, what in lost.items()} == {
            **dict.fromkeys(HIDDEN, 1),
            "figures": 2,
        }
