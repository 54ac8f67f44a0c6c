"""What `make bench-site` prints: the scores, what fails, and axe's rules that a page breaks."""

from __future__ import annotations

import gzip
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import bench_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A stand-in for axe-core that names what it was run on and with.
AXE = """globalThis.axe = { run: (root, { rules }) => ({ violations: root.querySelector("b")
  ? [{ id: `bold at ${innerWidth}` }, { id: Object.keys(rules)[0] }] : [] }) }"""


def report(score: float, audit: float | None) -> dict[str, Any]:
    parts = {name: {"score": 1.0, "auditRefs": []} for name in bench_site.CATEGORIES}
    parts["accessibility"] = {"score": score, "auditRefs": [{"id": "label", "weight": 1}]}
    return {"categories": parts, "audits": {"label": {"score": audit}}}


def test_every_score_is_told_and_what_fails_is_named() -> None:
    good = "performance 100, accessibility 100, best-practices 100, seo 100"
    assert bench_site.verdict(report(1.0, 1)) == bench_site.verdict(report(1.0, None)) == good
    assert bench_site.verdict(report(0.9, 0)) == f"{good.replace('y 100', 'y 90')}: label fails"


def test_text_travels_compressed_and_what_is_missing_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Words</p>" * 99)
    (tmp_path / "a.webp").write_bytes(bytes(99))
    with bench_site.serving(tmp_path) as address:
        with urllib.request.urlopen(f"{address}/a.html") as answer:  # noqa: S310
            body = answer.read()
        with urllib.request.urlopen(f"{address}/a.webp") as answer:  # noqa: S310
            assert answer.read() == bytes(99)
    assert len(body) < 99
    assert gzip.decompress(body).decode() == "<p>Words</p>" * 99


def test_a_violation_in_any_window_is_told_once(browser: Browser, tmp_path: Path) -> None:
    for name, body in (("good", "<p>a</p>"), ("bad", "<details><p><b>a</b></p></details>")):
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title>{body}")
    with bench_site.serving(tmp_path) as address:
        assert bench_site.ask_axe(browser, f"{address}/good.html", AXE) == []
        broken = bench_site.ask_axe(browser, f"{address}/bad.html", AXE)
    assert broken == ["bold at 1280", "bold at 390", "target-size"]


def test_the_pages_are_there(site: Path) -> None:
    assert all((site / name).is_file() for name in bench_site.PAGES)
