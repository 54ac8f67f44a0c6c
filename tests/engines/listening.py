"""Serve pages with a script before their own, which notes what goes wrong."""

from __future__ import annotations

from pathlib import Path

from tests.ext.serving import QuietHandler

HERE = Path(__file__).resolve().parent


class Listened(QuietHandler):
    """Serves the files of a folder."""

    def do_GET(self) -> None:  # noqa: N802, the name is http.server's
        path = Path(self.translate_path(self.path))
        if self.path == "/watch.js":
            self.answer((HERE / "watch.js").read_bytes(), "text/javascript")
        elif path.suffix == ".html" and path.is_file():
            page = path.read_bytes()
            self.answer(page.replace(b"<head>", b'<head><script src="/watch.js"></script>', 1))
        else:
            super().do_GET()

    def answer(self, content: bytes, kind: str = "text/html; charset=utf-8") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
