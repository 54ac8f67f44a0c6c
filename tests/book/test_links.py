"""The check of links that leave the book finds what is gone, at a server of the test's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import links


class Answers(BaseHTTPRequestHandler):
    """Answers with the status that the path names; /get/ refuses the short question."""

    def answer(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/200")
        elif self.path == "/get" and self.command == "HEAD":
            self.send_response(404)
        else:
            self.send_response(200 if self.path == "/get" else int(self.path[1:]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = answer  # noqa: N815 - the names that http.server calls

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Return the address of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.mark.parametrize("path", ["/200", "/moved", "/get"])
def test_a_link_that_works_is_not_mentioned(server: str, path: str) -> None:
    assert links.verdict(server + path, pause=0) == ""


@pytest.mark.parametrize(
    ("path", "said"), [("/404", "gone"), ("/410", "gone"), ("/403", "not told"), ("/503", "not t")]
)
def test_a_link_that_does_not_is(server: str, path: str, said: str) -> None:
    assert links.verdict(server + path, pause=0).startswith(said)


def test_a_host_that_is_not_there_is_gone(server: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as stopped:
        nobody = f"http://127.0.0.1:{stopped.server_port}/200"
    assert links.verdict(nobody, pause=0).startswith("gone")
    assert set(links.check([nobody, f"{server}/200"], pause=0)) == {nobody}


@pytest.mark.parametrize(("path", "result"), [("/200", 0), ("/503", 0), ("/404", 1)])
def test_only_a_dead_link_fails(
    server: str, path: str, result: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f'<a href="{server}{path}#part">a</a> <a href="b.html">b</a> <a href="#c">c</a>'
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert links.main([str(tmp_path)], pause=0) == result
    assert capsys.readouterr().out.endswith(f"{result} gone, {int(path == '/503')} not told\n")


def test_a_site_without_links_is_no_site(tmp_path: Path) -> None:
    assert links.main([str(tmp_path)], pause=0) == 1


def test_links_inside_the_site_and_examples_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html">b</a><a href="mailto:a@example.org">c</a><a>d</a>'
        '<a href="https://example.org/e">e</a><link rel="canonical" href="https://f.org/">'
        '<a href="https://g.org/#h">g</a><a href="https://g.org/#i">g</a>',
        encoding="utf-8",
    )
    assert links.outward(tmp_path) == {"https://g.org/": ["a.html"]}
