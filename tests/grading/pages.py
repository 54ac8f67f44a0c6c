"""What the pages for students may hold, and what would do something on them."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from PIL import Image
from playwright.sync_api import Browser

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "div"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "bdi", "strong", "em", "del", "a", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "span", "ul", "ol", "li", "blockquote", "br"),
    *("hr", "img", "details", "summary"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "rel", "scope"),
    *("aria-labelledby", "src", "alt", "start", "style"),
}
VALUES = {
    "href": r"#[\w-]+|https?://\S+|mailto:\S+",
    "src": r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=]+",
    "style": r"(text-align: ?\w+;?)?",
    "http-equiv": "Content-Security-Policy",
}


def picture(kind: str, width: int = 20) -> str:
    """Return a picture in base64."""
    with io.BytesIO() as file:
        Image.new("RGB", (width, 10), "teal").save(file, kind)
        return base64.b64encode(file.getvalue()).decode()


def parsed(text: str) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser")


def harm(text: str) -> list[str]:
    """List what does something on a page, or loads anything."""
    soup = parsed(text)
    found = []
    for tag in soup.find_all(True):
        if tag.name not in TAGS:
            found.append(f"<{tag.name}>")
        for name, given in tag.attrs.items():
            value = given if isinstance(given, str) else " ".join(given)
            fine = re.fullmatch(VALUES.get(name, ".*"), value, re.DOTALL)
            if not (name in ATTRIBUTES and fine):
                found.append(f"<{tag.name} {name}={value}>")
    sheets = {each.get_text() for each in soup.find_all("style")}
    if any("url(" in each or "@import" in each for each in sheets) or len(sheets) != 1:
        found.append("style sheets")
    return found


def hold_in_a_browser(browser: Browser, text: str, folder: Path, scheme: str) -> None:
    """Open a page on a phone: nothing runs, nothing is too wide, and everybody can read it."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    seen: list[str] = []
    tab.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    tab.on("console", lambda line: seen.append(line.text))
    tab.goto(path.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    violations = Axe().run(tab).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:80]) for each in violations] == []
    assert seen == []
    context.close()
