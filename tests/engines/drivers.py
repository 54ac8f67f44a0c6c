"""Three browsers behind one interface: Chromium, Firefox and WebKit, which is Safari's engine.

Chromium is driven by Playwright. The other two are Debian's, for which Playwright has no driver:
both know the commands of WebDriver, Firefox as Marionette's messages over a socket and WebKit over
HTTP.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HEIGHT = 900
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""By which WebDriver marks what it gives for an element."""
MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
NEEDED = {
    "Chromium": (),
    "Firefox": ("firefox-esr",),
    "WebKit": ("WebKitWebDriver", "Xvfb"),
}
ENGINES = tuple(NEEDED)
NEXT_FRAME = """await new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))));"""
PREFERENCES = {
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "ui.prefersReducedMotion": 1,
    "ui.useOverlayScrollbars": 1,
    "widget.gtk.overlay-scrollbars.enabled": True,
}


class Engine(Protocol):
    """A browser with one page."""

    name: str
    version: str

    def open(self, url: str) -> None:
        """Open a page and wait until it has loaded."""

    def resize(self, width: int) -> None:
        """Make the page as wide as this, in CSS pixels."""

    def run(self, body: str, *arguments: Any) -> Any:
        """Run the body of an asynchronous function with `arguments`, and return what it returns."""

    def press(self, selector: str, place: int = 0) -> None:
        """Click an element as a reader does, of those that a selector finds."""

    def names(self, selector: str) -> list[tuple[str, str]]:
        """Return role and name of elements as the browser tells them to assistive programs."""

    def draw(self) -> Image.Image:
        """Return what is seen of the page."""

    def said(self) -> list[str]:
        """Return the errors that the browser alone knows of since the last call."""


def missing(name: str) -> list[str]:
    """Return the programs that an engine needs and that are not installed."""
    return [program for program in NEEDED[name] if not shutil.which(program)]


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 30) -> Any:
    """Wait until a condition gives something, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.05)
    return found


def picture(png: str | bytes) -> Image.Image:
    """Return an image from its bytes."""
    content = base64.b64decode(png) if isinstance(png, str) else png
    return Image.open(io.BytesIO(content)).convert("RGB")


class Chromium:
    """The Chromium of the other tests."""

    name = "Chromium"

    def __init__(self, browser: Browser) -> None:
        self.version = browser.version
        context = browser.new_context(reduced_motion="reduce", service_workers="block")
        self._page = context.new_page()
        self._errors: list[str] = []
        self._page.on("pageerror", lambda error: self._errors.append(str(error)))
        self._page.on(
            "console",
            lambda said: self._errors.append(said.text) if said.type == "error" else None,
        )
        self._tree = context.new_cdp_session(self._page)
        self.resize(1280)

    def open(self, url: str) -> None:
        self._page.goto(url)

    def resize(self, width: int) -> None:
        self._page.set_viewport_size({"width": width, "height": HEIGHT})

    def run(self, body: str, *arguments: Any) -> Any:
        return self._page.evaluate(f"async (arguments) => {{ {body} }}", list(arguments))

    def press(self, selector: str, place: int = 0) -> None:
        self._page.locator(selector).nth(place).click()

    def names(self, selector: str) -> list[tuple[str, str]]:
        root = self._tree.send("DOM.getDocument")["root"]["nodeId"]
        what = {"nodeId": root, "selector": selector}
        found = self._tree.send("DOM.querySelectorAll", what)["nodeIds"]
        named = []
        for node in found:
            asked = {"nodeId": node, "fetchRelatives": False}
            (about,) = self._tree.send("Accessibility.getPartialAXTree", asked)["nodes"]
            role, name = (about.get(key, {}).get("value", "") for key in ("role", "name"))
            named.append((role, name))
        return named

    def draw(self) -> Image.Image:
        # On a busy machine a part just scrolled to may still be blank, though its frame is done.
        self.run(NEXT_FRAME)
        before, now = b"", self._page.screenshot()
        while now != before:
            self.run(NEXT_FRAME)
            before, now = now, self._page.screenshot()
        return picture(now)

    def said(self) -> list[str]:
        errors, self._errors[:] = self._errors.copy(), []
        return errors

    def emulate(self, scheme: str) -> None:
        self._page.emulate_media(color_scheme=scheme)


class _WebDriver:
    """What Firefox and WebKit have in common: the commands of WebDriver."""

    def command(self, name: str, **arguments: Any) -> Any:
        raise NotImplementedError

    def open(self, url: str) -> None:
        self.command("Navigate", url=url)

    def run(self, body: str, *arguments: Any) -> Any:
        script = f"""const arguments_ = [...arguments], done = arguments_.pop();
          (async (arguments) => {{ {body} }})(arguments_).then(
            (value) => done([value ?? null]), (error) => done({{ error: String(error) }}));"""
        answer = self.command("ExecuteAsyncScript", script=script, args=list(arguments))
        if isinstance(answer, dict):
            raise RuntimeError(answer["error"])
        return answer[0]

    def _find(self, selector: str) -> list[str]:
        found = self.command("FindElements", using="css selector", value=selector)
        return [one[ELEMENT] for one in found]

    def press(self, selector: str, place: int = 0) -> None:
        self.command("ElementClick", id=self._find(selector)[place])

    def names(self, selector: str) -> list[tuple[str, str]]:
        return [
            tuple(self.command(f"GetComputed{what}", id=node) for what in ("Role", "Label"))
            for node in self._find(selector)
        ]

    def draw(self) -> Image.Image:
        self.run(NEXT_FRAME)  # or it would be what was seen before
        return picture(self.command("TakeScreenshot", full=False))


class Firefox(_WebDriver):
    """Firefox, driven by Marionette: messages as JSON, each behind its length."""

    name = "Firefox"

    def __init__(self, port: int) -> None:
        self._socket = wait_for(lambda: _connect(port), "Marionette")
        self._stream = self._socket.makefile("rb")
        self._receive()
        self._count = 0
        wanted = {"unhandledPromptBehavior": "ignore"}
        session = self.command("NewSession", capabilities={"alwaysMatch": wanted})
        self.version = session["capabilities"]["browserVersion"]
        self.command("SetTimeouts", script=120_000, pageLoad=60_000)
        self.resize(1280)
        self.said()

    def close(self) -> None:
        """End the conversation."""
        self._stream.close()
        self._socket.close()

    def _receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._stream.read(1)
        return json.loads(self._stream.read(int(length[:-1])))

    def command(self, name: str, **arguments: Any) -> Any:
        self._count += 1
        whole = name if ":" in name else f"WebDriver:{name}"
        message = json.dumps([0, self._count, whole, arguments]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._receive()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result

    def _in_the_browser(self, script: str, *arguments: Any) -> Any:
        """Run a script with the rights of Firefox itself."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.command("ExecuteScript", script=script, args=list(arguments))
        finally:
            self.command("Marionette:SetContext", value="content")

    def resize(self, width: int) -> None:
        # a window is never as narrow as a phone, so the page in it is made narrower
        self._in_the_browser(
            """const { style } = gBrowser.selectedBrowser;
            for (const [name, size] of [["width", arguments[0]], ["height", arguments[1]]]) {
              style.setProperty(name, `${size}px`, "important");
              style.setProperty(`max-${name}`, `${size}px`, "important");
              style.setProperty(`min-${name}`, `${size}px`, "important");
            }""",
            width,
            HEIGHT,
        )
        wait_for(lambda: self.run("return innerWidth") == width, f"a page {width} px wide")

    def said(self) -> list[str]:
        return self._in_the_browser(
            """const found = Services.console.getMessageArray()
              .filter((one) => one instanceof Ci.nsIScriptError)
              .filter(({ flags }) => !(flags & Ci.nsIScriptError.warningFlag))
              .filter(({ sourceName }) => sourceName.startsWith("http://127.0.0.1"))
              .map(({ errorMessage, sourceName }) => `${errorMessage} (${sourceName})`);
            Services.console.reset();
            return found;"""
        )

    def emulate(self, scheme: str) -> None:
        dark = 0 if scheme == "dark" else 1
        self._in_the_browser(
            "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override',"
            " arguments[0])",
            dark,
        )


def _connect(port: int) -> socket.socket | None:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=180)
    except ConnectionRefusedError:
        return None


class WebKit(_WebDriver):
    """WebKit's own small browser, driven by WebDriver over HTTP."""

    name = "WebKit"
    # command: method and path, in which {id} is the element's
    PATHS: ClassVar = {
        "Navigate": ("POST", "url"),
        "ExecuteAsyncScript": ("POST", "execute/async"),
        "FindElements": ("POST", "elements"),
        "ElementClick": ("POST", "element/{id}/click"),
        "GetComputedRole": ("GET", "element/{id}/computedrole"),
        "GetComputedLabel": ("GET", "element/{id}/computedlabel"),
        "TakeScreenshot": ("GET", "screenshot"),
        "SetWindowRect": ("POST", "window/rect"),
        "SetTimeouts": ("POST", "timeouts"),
    }

    def __init__(self, port: int, browser: str) -> None:
        self._base = f"http://127.0.0.1:{port}"
        wait_for(self._is_ready, "WebKitWebDriver")
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options, "browserName": "MiniBrowser"}
        session = self._ask("POST", "session", {"capabilities": {"alwaysMatch": wanted}})
        self._base += f"/session/{session['sessionId']}"
        self.version = session["capabilities"]["browserVersion"]
        self.command("SetTimeouts", script=120_000, pageLoad=60_000)
        self.resize(1280)

    def _is_ready(self) -> bool:
        try:
            return self._ask("GET", "status")["ready"]
        except urllib.error.URLError:
            return False

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310, the address is of this machine
            f"{self._base}/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:  # noqa: S310
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise RuntimeError(f"{path}: {said['error']}: {said['message']}") from error

    def command(self, name: str, **arguments: Any) -> Any:
        method, path = self.PATHS[name]
        return self._ask(method, path.format(**arguments), arguments if method == "POST" else None)

    def resize(self, width: int) -> None:
        self.command("SetWindowRect", x=0, y=0, width=width, height=HEIGHT)

    def said(self) -> list[str]:
        return []  # it tells nobody; the page's own script listens

    def is_alive(self) -> bool:
        """Return whether the session has outlived the pages so far."""
        try:
            self.command("FindElements", using="css selector", value="html")
        except RuntimeError:
            return False
        return True


@contextmanager
def running(*command: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program as long as it is wanted."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Start Firefox without a window, with a profile of its own in a folder."""
    port = free_port()
    settings = PREFERENCES | {"marionette.port": port}
    pairs = (json.dumps(pair)[1:-1] for pair in settings.items())
    lines = [f"user_pref({pair});" for pair in pairs]
    (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = ("firefox-esr", "--headless", "--marionette", "--remote-allow-system-access")
    environment = os.environ | {"MOZ_HEADLESS_WIDTH": "1400", "MOZ_HEADLESS_HEIGHT": "1100"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with running(*command, "--profile", str(folder), env=environment, **silent):
        engine = Firefox(port)
        try:
            yield engine
        finally:
            engine.close()


# The buttons of its window would keep it from being as narrow as a phone.
SLIM = """headerbar *, toolbar *, toolitem *, entry, button {
  font-size: 1px; margin: 0; min-width: 0; padding: 0 }"""
AT_REST = "[Settings]\ngtk-enable-animations=false\n"


@contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """Start WebKit on a screen that nobody sees, with settings of its own in a folder."""
    settings = folder / "gtk-3.0"
    settings.mkdir()
    (settings / "gtk.css").write_text(SLIM, encoding="utf-8")
    (settings / "settings.ini").write_text(AT_REST, encoding="utf-8")
    browser = str(next(Path("/").glob(MINI_BROWSER[1:])))
    reading, writing = os.pipe()
    screen = ("Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1200x24")
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with running(*screen, pass_fds=(writing,), **silent):
        os.close(writing)
        with os.fdopen(reading) as told:
            display = told.readline().strip()
        port = free_port()
        environment = os.environ | {
            "DISPLAY": f":{display}",
            "GTK_THEME": "Adwaita",
            "NO_AT_BRIDGE": "1",
            "XDG_CONFIG_HOME": str(folder),
            "XDG_DATA_HOME": str(folder),
            "XDG_CACHE_HOME": str(folder),
            # a graphics driver in software crashed once, and the page with it
            "WEBKIT_SKIA_ENABLE_CPU_RENDERING": "1",
        }
        driver = ("WebKitWebDriver", "-p", str(port))
        with running(*driver, env=environment, **silent):
            yield WebKit(port, browser)
