"""JupyterLab as a reader gets it from the Binder configuration, in a headless browser."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from tests.book.binder import BRISK, Home

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Locator, Page

OPTIONS = (
    "--expose-app-in-browser",
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
)
NO_TOKEN = ("--IdentityProvider.token=", "--ServerApp.password=")
OWN = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
"""What would bring in settings of whoever runs the tests."""

# What is wrong with what a notebook shows, in words; text of code and formulas is as it should be.
FAULTS = r"""() => {
  const panel = document.querySelector(".jp-NotebookPanel:not(.lm-mod-hidden)");
  const all = (selector) => [...panel.querySelectorAll(selector)];
  const raw = /:::|\{[a-z][\w:.-]*\}|<!--|\]\(|\*\*|\$|^\s*>/m;
  const found = [];
  for (const cell of all(".jp-RenderedMarkdown")) {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("code, mjx-container").forEach((node) => node.remove());
    const at = copy.textContent.search(raw);
    if (at >= 0) found.push(`raw: ${copy.textContent.slice(at, at + 60)}`);
  }
  for (const node of all("mjx-merror, [data-mjx-error]")) {
    found.push(`formula: ${node.textContent}`);
  }
  for (const image of all("img")) {
    if (!image.complete || !image.naturalWidth) found.push(`no image: ${image.alt}`);
    if (!image.alt.trim()) found.push(`no words: ${image.outerHTML.slice(0, 60)}`);
  }
  for (const node of all("[data-mime-type$=stderr], [data-mime-type$=error]")) {
    found.push(`${node.dataset.mimeType}: ${node.textContent.slice(0, 300)}`);
  }
  if (/Loading widget|Error displaying|Javascript Error/.test(panel.textContent)) {
    found.push("a widget is not shown");
  }
  for (const node of document.querySelectorAll(".jp-Dialog, .Toastify__toast")) {
    found.push(`JupyterLab: ${node.textContent}`);
  }
  return found;
}"""
LINKS = """() => [...document.querySelectorAll(".jp-NotebookPanel:not(.lm-mod-hidden) a[href]")]
  .filter((link) => !link.matches(".jp-InternalAnchorLink"))
  .map((link) => link.getAttribute("href"))"""
# Whether a notebook's kernel hears the window: JupyterLab draws it as idle before.
CONNECTED = """() => {
  const { session, isReady } = jupyterapp.shell.currentWidget?.sessionContext ?? {};
  const { connectionStatus, status } = session?.kernel ?? {};
  return isReady && connectionStatus === "connected" && status === "idle";
}"""
IDS = """() => [...document.querySelectorAll("[data-jupyter-id]")]
  .map((heading) => heading.dataset.jupyterId)"""


@contextmanager
def serving(home: Home, work: Path) -> Iterator[str]:
    """Start JupyterLab, give its address, and stop it with its kernels."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {name: str(work / name.lower()) for name in OWN}
    log = work / "jupyterlab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [home.programs / "jupyter-lab", *OPTIONS, *NO_TOKEN, f"--port={port}"],
            cwd=home.repository,
            env=home.variables | BRISK | own,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/api", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGTERM)  # it ends its kernels, which end without it too
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_for_answer(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server answers, or raise an error with what it has said."""
    end = time.monotonic() + 120
    while server.poll() is None and time.monotonic() < end:
        with suppress(URLError), urlopen(address):  # noqa: S310
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text(encoding='utf-8')}")


class Lab:
    """A reader's window with JupyterLab, in which one notebook is open at a time."""

    def __init__(self, page: Page, address: str, root: Path) -> None:
        self.page = page
        self.address = address
        self.root = root
        self.heard: list[str] = []
        """Errors and warnings in the console."""
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.heard.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.heard.append(message.text)

    @property
    def panel(self) -> Locator:
        """The notebook that is open."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def cell(self, position: int) -> Locator:
        """Return a cell of the notebook; -1 is the last."""
        return self.panel.locator(".jp-Cell").nth(position)

    @property
    def unsaved(self) -> bool:
        """Whether the tab says that the notebook was changed."""
        return self.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty").count() > 0

    def begin(self) -> None:
        """Come to JupyterLab as from Binder."""
        self.page.goto(self.address)

    def open(self, name: str) -> None:
        """Open a notebook of the folder that is shown."""
        self.page.locator(".jp-DirListing-item").get_by_text(name, exact=True).dblclick()

    def wait(self, name: str, cells: int) -> None:
        """Wait until a notebook is open with its cells, formulas and kernel."""
        self.page.locator(f'.lm-TabBar-tab.jp-mod-current:has-text("{name}")').wait_for()
        self.cell(cells - 1).wait_for()
        self.page.wait_for_function(CONNECTED)
        self.panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()
        self.page.wait_for_function(
            "![...document.querySelectorAll('.jp-RenderedMarkdown')]"
            ".some((cell) => /\\$[^$]+\\$/.test(cell.textContent))"
        )

    def choose(self, menu: str, item: str) -> None:
        """Choose an item of a menu."""
        self.page.locator(f'.lm-MenuBar-item:has-text("{menu}")').click()
        self.page.locator(f'.lm-Menu-item:has-text("{item}")').first.click()

    def accept(self) -> None:
        """Press the button of a dialog that does what was asked."""
        self.page.locator(".jp-Dialog-footer button").last.click()

    def run_all(self) -> None:
        """Choose Run All Cells."""
        self.choose("Run", "Run All Cells")

    def write(self, position: int, source: str) -> None:
        """Replace what is written in a cell."""
        self.cell(position).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def ask(self, source: str, *, seconds: float = 600) -> str:
        """Run some code in a new cell at the end, and return what it prints after all others."""
        new = self.panel.locator(".jp-Cell").count()
        self.cell(-1).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("b")
        self.cell(new).locator(".cm-content").wait_for()
        self.write(new, source)
        self.page.keyboard.press("Control+Enter")
        printed = self.cell(new).locator("[data-mime-type$=stdout]")
        printed.wait_for(timeout=1000 * seconds)
        return printed.inner_text()

    def save(self) -> None:
        """Save the notebook."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("!document.querySelector('.jp-mod-current.jp-mod-dirty')")

    def close(self) -> None:
        """Close the notebook with its kernel, changes included."""
        self.save()
        self.choose("File", "Close and Shut Down Notebook")
        self.accept()
        self.panel.wait_for(state="detached")

    def faults(self) -> list[str]:
        """Say what is wrong with what the notebook shows, and which links lead nowhere."""
        return [*self.page.evaluate(FAULTS), *self.dead_links()]

    def dead_links(self) -> list[str]:
        """List links of the notebook to files and headings that are not there."""
        headings: list[Any] = self.page.evaluate(IDS)
        return [link for link in self.page.evaluate(LINKS) if not self.leads(link, headings)]

    def leads(self, link: str, headings: list[str]) -> bool:
        """Say whether a link leads to a heading, to a file or, in the right form, to the web."""
        if link.startswith("#"):
            return unquote(link[1:]) in headings
        files = f"{self.address}/files/"
        if link.startswith(files):
            return (self.root / unquote(urlsplit(link.removeprefix(files)).path)).is_file()
        return re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/\S*)?", link) is not None
