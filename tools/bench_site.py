"""Print what Lighthouse and axe-core say of a few built pages: ``make bench-site``.

Lighthouse plays a phone on a slow network, and nothing else should run meanwhile. The pages come
compressed, as from any host of static pages. Without arguments, four pages are looked at.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.chromium import find_chromium  # noqa: E402

SITE, LIGHTHOUSE = ROOT / "_build" / "html", ROOT / ".lighthouse" / "node_modules"
PAGES = ("index.html", "chapters/01_puzzle.html", "chapters/08_training.html", "chapters/run.html")
COMPRESSED = {".css", ".html", ".js", ".json", ".svg", ".webmanifest", ".xml"}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
WINDOWS = [(width, scheme) for width in (390, 1280) for scheme in ("light", "dark")]
AXE_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
# Everything is laid out and opened, also what is far from the window.
WHOLE = """() => {
  const sheet = document.createElement("style");
  sheet.textContent = "* { content-visibility: visible !important; transition: none !important; }";
  document.head.append(sheet);
  document.querySelectorAll("details").forEach((box) => (box.open = true));
}"""


class Handler(SimpleHTTPRequestHandler):
    """Send a file of the site, compressed if it is text."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        if path.suffix in COMPRESSED:
            body = gzip.compress(body, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Serve to browsers, which hang up when they have seen enough."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder at a free port, and give its address."""
    with Server(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def ask_lighthouse(url: str, chromium: str) -> dict[str, Any]:
    """Return the report of Lighthouse on a page."""
    command = [
        *(str(LIGHTHOUSE / ".bin" / "lighthouse"), url, "--quiet", "--output=json"),
        # --no-sandbox because containers often run as root, where the sandbox refuses to start
        *("--chrome-flags=--headless=new --no-sandbox", "--no-enable-error-reporting"),
    ]
    environment = os.environ | {"CHROME_PATH": chromium, "NO_UPDATE_NOTIFIER": "1", "CI": "1"}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def verdict(report: Mapping[str, Any]) -> str:
    """Return the four scores of a report, and the audits that fail beside speed."""
    categories = report["categories"]
    scores = ", ".join(f"{name} {100 * categories[name]['score']:.0f}" for name in CATEGORIES)
    failing = [
        ref["id"]
        for name in CATEGORIES[1:]
        for ref in categories[name]["auditRefs"]
        if ref["weight"] > 0 and report["audits"][ref["id"]]["score"] not in {None, 1}
    ]
    return scores + "".join(f": {audit} fails" for audit in failing)


def ask_axe(browser: Any, url: str, script: str) -> list[str]:
    """Return the rules of axe-core that a page breaks, in two widths and both color schemes."""
    broken = set()
    for width, scheme in WINDOWS:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
            service_workers="block",
        )
        page = context.new_page()
        page.goto(url)
        page.evaluate(WHOLE)
        page.evaluate(script)
        found = page.evaluate("(options) => axe.run(document, options)", AXE_OPTIONS)
        broken |= {each["id"] for each in found["violations"]}
        context.close()
    return sorted(broken)


def main(names: list[str]) -> None:
    """Print two lines for each page."""
    from playwright.sync_api import sync_playwright

    if (chromium := find_chromium()) is None:
        raise SystemExit("no Chromium was found: python tools/chromium.py installs one")
    script = (LIGHTHOUSE / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    with serving(SITE) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names or PAGES:
            url = f"{address}/{name}"
            print(f"{name}\n  Lighthouse: {verdict(ask_lighthouse(url, chromium))}", flush=True)
            rules = ask_axe(browser, url, script)
            print(f"  axe: {', '.join(rules) or 'no violation'}", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
