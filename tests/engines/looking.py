"""What is wrong with a page in a browser, whichever it is."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageChops

from tests.engines.drivers import Engine
from tests.ext.test_browser import STICKING_OUT

SCRIPT = (Path(__file__).resolve().parent / "page.js").read_text(encoding="utf-8")
ROOM = 5
"""So many pixels a part of a formula may stick out by: slanted letters and negative spaces do."""
INK = 4
"""So much ink may be elsewhere, in pixels that are all black."""
NOTICES = (
    # said when an observer waits for the next frame: the standard has it so, and nothing is lost
    "ResizeObserver loop completed with undelivered notifications",
    # said by Firefox also of what it lays out before it has read all of it; `incomplete` looks
    "Invalid markup: Incorrect number of children for",
)


def ask(engine: Engine, expression: str, *arguments: Any) -> Any:
    """Return what an expression is on the page, in which the functions of ``page.js`` are known."""
    return engine.run(f"{SCRIPT}\nreturn {expression};", *arguments)


def faults(engine: Engine) -> list[str]:
    """Return what went wrong in the page's scripts or is said by the browser, and forget it."""
    found = [*engine.run("return faults.splice(0)"), *engine.said()]
    return [fault for fault in found if not any(notice in fault for notice in NOTICES)]


def seen(engine: Engine, url: str, width: int) -> list[str]:
    """Open a page, and return what a reader can see to be wrong with it."""
    engine.resize(width)
    engine.open(url)
    ask(engine, "prepare()")
    found = engine.run(f"return ({STICKING_OUT})()")
    found += ask(engine, "garbled(arguments[0])", ROOM)
    found += ask(engine, "inherited()")
    found += ask(engine, "incomplete()")
    return [f"{engine.name}, {width} px: {fault}" for fault in found + faults(engine)]


def unnamed(engine: Engine) -> list[str]:
    """Return what a browser tells assistive programs of without a name, and names given twice."""
    # WebKit's driver tells the names of some links and not of others
    markup = ask(engine, "markNamed(arguments[0])", engine.name != "WebKit")
    named = engine.names("[data-met]")
    found = [
        f"{role} without a name: {text}"
        for (role, name), text in zip(named, markup, strict=True)
        if not re.search(r"[^\W_]" if role in {"link", "radio"} else r"[^\W\d_]", name)
        and role.lower() not in {"none", "generic", "presentation", ""}
    ]
    groups = [(role, name) for role, name in named if role in {"form", "group", "region"} and name]
    found += [f"twice: {one}" for one, other in pairwise(sorted(groups)) if one == other]
    return [f"{engine.name}: {fault}" for fault in found]


def pictures(engine: Engine, boxes: list[dict[str, float]]) -> list[Image.Image]:
    """Return pictures of places of the page, each with a little around it."""
    height = engine.run("return innerHeight")
    drawn: dict[int, Image.Image] = {}
    crops = []
    for box in boxes:
        top = max(0, int(box["y"]) - 50) // (height // 2) * (height // 2)
        if top not in drawn:
            drawn.clear()
            engine.run("scrollTo({ top: arguments[0], behavior: 'instant' })", top)
            real = engine.run("return scrollY")
            drawn[top] = (engine.draw(), real)
        image, real = drawn[top]
        x, y = int(box["x"]) - 8, int(box["y"] - real) - 4
        crops.append(image.crop((x, y, x + int(box["width"]) + 16, y + int(box["height"]) + 8)))
    return crops


def displaced(engine: Engine) -> list[str]:
    """Return formulas whose ink is not where it is if they are drawn alone.

    What hangs out of its box moves ink and no box. So each formula of the running text is drawn
    twice in the same place, in its paragraph and without it, and the pictures are compared.
    """
    boxes = ask(engine, "onlyFormulas()")
    boxes.sort(key=lambda box: box["y"])
    inside = pictures(engine, boxes)
    ask(engine, "alone()")
    outside = pictures(engine, boxes)
    found = []
    for box, *both in zip(boxes, inside, outside, strict=True):
        apart = np.asarray(ImageChops.difference(*(image.convert("L") for image in both)))
        amount = apart.sum() / 255
        ink = (255 - np.asarray(both[1].convert("L"))).sum() / 255
        if amount > INK + 0.1 * ink or not ink:
            found.append(
                f"{engine.name}: {amount:.0f} of {ink:.0f} px are elsewhere: {box['name']}"
            )
    return found
