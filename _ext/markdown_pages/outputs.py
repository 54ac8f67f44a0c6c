"""What a cell shows in HTML, as Markdown: figures that move, questions, verdicts of checks."""

from __future__ import annotations

import re
from collections.abc import Callable

from bs4 import BeautifulSoup, Tag

from _ext.markdown_pages.marks import box, code_span, escaped, item, table

MOVES = "A figure that moves on the page"
"""What is said of a figure before its words."""
NO_WORDS = {"reply", "scriptless"}
"""Classes of what scripts fill in."""
# what says something of a figure; all else draws, and is long
SAID = re.compile(r'<p class="figure-words".*?</p>|<table\b.*?</table>', re.DOTALL)
FIGURE = re.compile(r'<div class="live-figure" data-figure="(?!ask"|prediction")')
# what no reader reads
UNREAD = re.compile(r' (?:data-[\w-]+|role|aria-[\w-]+)="[^"]*"|<svg\b.*?</svg>', re.DOTALL)


def words(tag: Tag) -> str:
    """Return what a tag says, on one line."""
    text = ""
    for part in tag.children:
        if not isinstance(part, Tag):
            text += escaped(str(part))
        elif part.name == "code":
            text += code_span(part.get_text())
        elif part.name == "a":
            text += f"[{words(part)}]({part['href']})"
        elif part.name == "br":
            text += "<br>"
        else:
            text += words(part)
    return " ".join(text.split())


def blocks(markup: str) -> list[str]:
    """Return an output.

    Examples
    --------
    >>> blocks('<div class="live-figure" data-figure="a"><form class="figure-controls">d</form>'
    ...        '<p class="figure-words">It is 4.</p></div>')
    ['*A figure that moves on the page:* It is 4.']
    """
    if FIGURE.match(markup):
        soup = BeautifulSoup(UNREAD.sub("", "".join(SAID.findall(markup))), "html.parser")
        sentences = [f"*{MOVES}:* {words(one)}" for one in soup.find_all("p")]
        return sentences + tables(soup)
    soup = BeautifulSoup(UNREAD.sub("", markup), "html.parser")
    for tag in [*soup.find_all(class_=[*NO_WORDS]), *soup.find_all("button")]:
        tag.decompose()
    if form := soup.find("form", class_="ask"):
        return exercise_parts(form)
    if form := soup.find("form", class_="prediction"):
        return prediction(form, soup.details)
    return tables(soup) + sentence_and_list(soup)


def list_of(tags: list[Tag], says: Callable[[Tag], str] = words) -> str:
    """Return a list of what some tags say."""
    return "\n".join(item("- ", says(tag)) for tag in tags)


def exercise_parts(form: Tag) -> list[str]:
    """Return what an exercise asks for."""

    def part(tag: Tag) -> str:
        options = [words(option) for option in tag.find_all("option") if option["value"]]
        choice = f" ({'; '.join(options)})" if options else ""
        return words(tag.find(class_="wanted")) + choice

    lines = [f"**{words(form.legend)}**", list_of(form.find_all(class_="part"), part)]
    return lines + [words(one) for one in form.find_all(class_="elsewhere")]


def prediction(form: Tag, told: Tag) -> list[str]:
    """Return what a reader is asked to predict, and the answer."""
    options = list_of(form.find_all(class_="option"))
    answer = box(words(told.summary), [words(one) for one in told.find_all("p")], closed=True)
    return [f"**{words(form.legend)}**", *filter(None, [options]), answer]


def tables(soup: BeautifulSoup) -> list[str]:
    """Take out the tables, and return them, each below its caption."""
    written = []
    for tag in soup.find_all("table"):
        cells = [[words(cell) for cell in row.find_all(["th", "td"])] for row in tag.find_all("tr")]
        written += [f"**{words(tag.caption)}**"] if tag.caption else []
        written.append(table(cells, has_head=tag.thead is not None))
        tag.decompose()
    return written


def sentence_and_list(soup: BeautifulSoup) -> list[str]:
    """Return what is said in a line, and in a list below it."""
    points = soup.find_all("li")
    below = list_of(points)
    for point in points:
        point.decompose()
    return [*filter(None, [words(soup), below])]
