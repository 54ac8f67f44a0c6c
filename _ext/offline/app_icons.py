"""The icons of an installed book, drawn from the site's own drawing in the sizes systems ask for.

A system that cuts icons into a shape of its own takes the `maskable` one: its ground fills the
square, and what it shows lies within the circle that every shape leaves whole.
"""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import NamedTuple

from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path import parse_path
from PIL import Image, ImageDraw

SVG = "{http://www.w3.org/2000/svg}"
FINER = 4
"""How many times finer is drawn than what is kept, so that edges are smooth."""


class Icon(NamedTuple):
    """A file, its width and height, and whether a system may cut it into any shape."""

    name: str
    size: int
    maskable: bool = False

    @property
    def entry(self) -> dict[str, str]:
        """What the manifest says of it."""
        said = {"src": f"_static/{self.name}", "type": "image/png"}
        said["sizes"] = f"{self.size}x{self.size}"
        return said | ({"purpose": "maskable"} if self.maskable else {})


ICONS = (
    Icon("icon-192.png", 192),
    Icon("icon-512.png", 512),
    Icon("icon-maskable-512.png", 512, maskable=True),
)
SHRUNK = 0.7
"""By what a maskable icon shows its drawing smaller: its corners stay inside 0.4 of the width."""


def draw(drawing: str, icon: Icon) -> bytes:
    """Return a drawing of one rectangle and straight strokes and areas as a PNG.

    Examples
    --------
    >>> red = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">'
    >>> red += '<rect width="8" height="8" rx="2" fill="#f00"/></svg>'
    >>> image = Image.open(io.BytesIO(draw(red, Icon("red.png", 16))))
    >>> image.size, image.getpixel((0, 0)), image.getpixel((8, 8))
    ((16, 16), (0, 0, 0, 0), (255, 0, 0, 255))
    """
    root = ET.fromstring(drawing)  # noqa: S314 - a file of the book's own
    width = float(root.attrib["viewBox"].split()[2])
    unit = FINER * icon.size / width
    image = Image.new("RGBA", (FINER * icon.size,) * 2)
    pencil = ImageDraw.Draw(image)
    (ground,) = root.iter(f"{SVG}rect")
    round_by = 0 if icon.maskable else float(ground.get("rx", 0)) * unit
    pencil.rounded_rectangle((0, 0, *image.size), round_by, fill=ground.attrib["fill"])
    shrunk = SHRUNK if icon.maskable else 1
    for group in root.iter(f"{SVG}g"):
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", group.get("transform", "translate(0 0)"))
        x, y = map(float, moved.groups())
        for path in group.iter(f"{SVG}path"):
            for line in lines(path.attrib["d"]):
                points = [
                    tuple(unit * (width / 2 + shrunk * (at + by - width / 2)) for at, by in pair)
                    for pair in (((px, x), (py, y)) for px, py in line)
                ]
                if path.get("fill") != "none":
                    pencil.polygon(points, fill=path.attrib["fill"])
                if "stroke" in path.attrib:
                    thick = unit * shrunk * float(path.attrib["stroke-width"])
                    stroke(pencil, points, thick / 2, path.attrib["stroke"])
    file = io.BytesIO()
    small = image.resize((icon.size, icon.size), Image.Resampling.LANCZOS)
    (small.convert("RGB") if icon.maskable else small).save(file, "PNG", optimize=True)
    return file.getvalue()


def stroke(
    pencil: ImageDraw.ImageDraw, points: list[tuple[float, float]], half: float, color: str
) -> None:
    """Draw a line with round ends and corners; Pillow's own is a little thinner than asked for."""
    for (x, y), (to_x, to_y) in pairwise(points):
        along = math.hypot(to_x - x, to_y - y) / half
        dx, dy = (y - to_y) / along, (to_x - x) / along
        corners = [
            (x + dx, y + dy),
            (x - dx, y - dy),
            (to_x - dx, to_y - dy),
            (to_x + dx, to_y + dy),
        ]
        pencil.polygon(corners, fill=color)
    for point in points:
        pencil.circle(point, half, fill=color)


def lines(path: str) -> list[list[tuple[float, float]]]:
    """Return the corners of each part of a path, which has no curves.

    Examples
    --------
    >>> lines("M1 2h3v4zM0 0l1 1")
    [[(1.0, 2.0), (4.0, 2.0), (4.0, 6.0)], [(0.0, 0.0), (1.0, 1.0)]]
    """
    pen, found = RecordingPen(), []
    parse_path(path, pen)
    for step, points in pen.value:
        if step == "moveTo":
            found.append([points[0]])
        elif step == "lineTo" and points[0] != found[-1][0]:
            found[-1].append(points[0])
        elif step not in {"lineTo", "closePath", "endPath"}:
            raise ValueError(f"an icon's path must be of straight lines; got {step} in {path}")
    return found
