"""Ask the servers of others whether the links that leave the built book still lead somewhere.

``make links`` does it, and a workflow once a month. A page that is gone or a host that is not there
is a failure; a server that does not want to be asked by a program is only named. Sphinx's linkcheck
tells neither of these apart, and saw 95 of 127 links: not those in tables that cells make.
"""

from __future__ import annotations

import http.client
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

GONE = {404, 410}
ASKED_AGAIN = 2
PAUSE = 3.0
"""Seconds before a host is asked again."""
HEADERS = {"User-Agent": "Mozilla/5.0 (link check of a book; asks each page once)"}
# Addresses in the place of any other.
EXAMPLES = ("example.org", "example.com", "192.0.2.1")


class Links(HTMLParser):
    """Collects where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the address of a link that leaves the site."""
        address = urldefrag(dict(attrs).get("href") or "").url
        parts = urlsplit(address)
        if tag == "a" and parts.scheme in {"http", "https"} and parts.hostname not in EXAMPLES:
            self.found.add(address)


def outward(site: Path) -> dict[str, list[str]]:
    """Return the addresses that pages link to outside the site, each with the pages."""
    pages: dict[str, list[str]] = defaultdict(list)
    for path in sorted(site.rglob("*.html")):
        parser = Links()
        parser.feed(path.read_text(encoding="utf-8"))
        for address in parser.found:
            pages[address].append(path.relative_to(site).as_posix())
    return dict(pages)


def status(address: str, method: str = "HEAD") -> int:
    """Return the status that a server answers with, redirections followed."""
    request = urllib.request.Request(address, headers=HEADERS, method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - http alone
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def verdict(address: str, pause: float = PAUSE) -> str:
    """Return nothing for a link that works, or what came instead.

    "gone" begins the verdict on a link that has to be mended.
    """
    trouble = ""
    for turn in range(1 + ASKED_AGAIN):
        time.sleep(pause * turn)
        try:
            code = status(address)
            if code >= 400:  # many servers answer the short question wrongly
                code = status(address, "GET")
        except (OSError, http.client.HTTPException) as error:
            trouble = f"gone: {error}"
            continue
        if code < 400:
            return ""
        if code in GONE:
            return f"gone: status {code}"
        trouble = f"not told: status {code}"
    return trouble


def check(addresses: Iterable[str], pause: float = PAUSE) -> dict[str, str]:
    """Return the verdicts on links that do not plainly work; one host is asked one thing a time."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for address in sorted(addresses):
        hosts[urlsplit(address).netloc].append(address)

    def ask(mine: list[str]) -> dict[str, str]:
        return {address: verdict(address, pause) for address in mine}

    with ThreadPoolExecutor(16) as pool:
        found = [entry for part in pool.map(ask, hosts.values()) for entry in part.items()]
    return {address: said for address, said in found if said}


def main(arguments: list[str], pause: float = PAUSE) -> int:
    """Check the site in the folder that is named; 1 if a link has to be mended."""
    (folder,) = arguments
    pages = outward(Path(folder))
    found = check(pages, pause)
    for address, said in sorted(found.items(), key=lambda entry: entry[1]):
        sys.stdout.write(f"{said}\n  {address}\n  in {', '.join(pages[address])}\n")
    gone = sum(said.startswith("gone") for said in found.values())
    silent = len(found) - gone
    sys.stdout.write(f"{len(pages)} links leave the book: {gone} gone, {silent} not told\n")
    return int(gone > 0 or not pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
