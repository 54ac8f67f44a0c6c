"""A web server for the built site that compresses, as any host of static pages does.

It answers with gzip and lets a browser keep what it got for ten minutes, both as GitHub Pages
does, over HTTP/1.1, and counts the bytes that it sends.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import ClassVar

COMPRESSED = {".css", ".html", ".js", ".json", ".mjs", ".svg", ".txt", ".webmanifest", ".xml"}


@lru_cache
def compressed(path: Path, _changed: float) -> bytes:
    """Return a file as it travels; the time of its last change tells when to do it anew."""
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


class Handler(SimpleHTTPRequestHandler):
    """Send a file of the site, compressed if it is text."""

    protocol_version = "HTTP/1.1"
    server: Server
    extensions_map: ClassVar[dict[str, str]] = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".webp": "image/webp",
        ".woff2": "font/woff2",
    }

    def do_GET(self) -> None:
        """Answer with a file, or with the page for what is not there."""
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        status = HTTPStatus.OK if path.is_file() else HTTPStatus.NOT_FOUND
        if status is HTTPStatus.NOT_FOUND:
            path = Path(self.directory) / "404.html"
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        squeezed = path.suffix in COMPRESSED and accepts
        body = b""
        if path.is_file():
            changed = path.stat().st_mtime
            body = compressed(path, changed) if squeezed else path.read_bytes()
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Vary", "Accept-Encoding")
        if squeezed:
            self.send_header("Content-Encoding", "gzip")
        head = sum(map(len, self._headers_buffer)) + len("\r\n")
        self.server.count(head + len(body))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Serve a folder at a free port of this machine."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        def handler(*arguments: object) -> Handler:
            return Handler(*arguments, directory=str(folder))

        self.sent = 0
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server_port}"

    def count(self, size: int) -> None:
        """Add to the bytes that were sent."""
        with self._lock:
            self.sent += size

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a browser hang up, which is no error."""


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serve a folder for a while."""
    with Server(folder) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
