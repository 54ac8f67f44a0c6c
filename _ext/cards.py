"""The picture that a link to a page shows where people share it.

It has the title and, for a chapter, its most surprising result, which the metadata of its notebook
have under ``book`` and ``card``; the numbers are bound like those of the text. Cards are drawn only
for a site with an address, since a picture is named by its full one, and each is drawn once.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from dataclasses import asdict, dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from book.files import atomic_write
from book.model import book_in

if TYPE_CHECKING:
    import numpy as np
    from docutils import nodes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from sphinx.application import Sphinx

WIDTH, HEIGHT = 1200, 630
FOLDER = "_cards"
# where the picture begins, as a part of the width
PICTURE = 0.76
# how many letters go on a line
TITLE_WIDE, WORDS_WIDE = 28, 38
# The colors of the logo.
DARK, LIGHT, SOFT, LOUD = "#0b3c5d", "#ffffff", "#9fd3f2", "#f79d4b"


@dataclass(frozen=True)
class Card:
    """What a card shows."""

    title: str
    book: str
    large: str = ""
    words: str = ""
    motif: int = 0
    """The seed of the row of weights in the corner."""

    @property
    def alternative(self) -> str:
        """The card in words."""
        return f"{self.title}. {self.large} {self.words}".strip() if self.large else self.title


def drawn(card: Card) -> bytes:
    """Draw a card as a PNG of few colors."""
    from PIL import Image

    canvas = canvas_of(card)
    draw_weights(canvas.figure, card.motif)
    canvas.draw()
    picture = Image.frombuffer("RGBA", (WIDTH, HEIGHT), bytes(canvas.buffer_rgba()), "raw")
    file = BytesIO()
    picture.convert("RGB").quantize(48).save(file, "PNG", optimize=True)
    return file.getvalue()


def canvas_of(card: Card) -> FigureCanvasAgg:
    """Return a card with its words alone: the title, the result, and the name of the book."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=DARK)
    below = card.book if card.title != card.book else "An executable textbook"
    texts = [
        (60, textwrap.fill(card.title, TITLE_WIDE), 36, LIGHT, "bold"),
        (285, card.large, 58, LOUD, "bold"),
        (390, textwrap.fill(card.words, WORDS_WIDE), 24, LIGHT, "normal"),
        (560, below, 20, SOFT, "normal"),
    ]
    for top, text, size, color, weight in texts:
        if text:
            figure.text(
                70 / WIDTH,
                1 - top / HEIGHT,
                text,
                fontsize=size,
                color=color,
                weight=weight,
                va="top",
                linespacing=1.2,
                parse_math=False,
            )
    return FigureCanvasAgg(figure)


def draw_weights(figure: Figure, seed: int) -> None:
    """Draw a row of random weights twice in the corner: without the division, and with it."""
    for bottom, weights, color in zip((0.45, 0.12), rows(seed), (LOUD, SOFT), strict=True):
        axes = figure.add_axes((PICTURE, bottom, 0.2, 0.25))
        axes.bar(range(len(weights)), weights, width=0.72, color=color)
        axes.set_ylim(0, 1)
        axes.axis("off")
        axes.axhline(0, color=color, linewidth=2)


def rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a random row of keys, undivided and divided."""
    import numpy as np

    from attnlib import softmax

    rng, width = np.random.default_rng(seed), 64
    scores = rng.normal(size=(12, width)) @ rng.normal(size=width)
    return softmax(scores), softmax(scores / np.sqrt(width))


@cache
def _method() -> bytes:
    import matplotlib as mpl

    return Path(__file__).read_bytes() + mpl.__version__.encode()


def digest(card: Card) -> str:
    """Return a name for what a card shows and how it is drawn."""
    shown = json.dumps(asdict(card), sort_keys=True).encode()
    return hashlib.sha256(_method() + shown).hexdigest()[:16]


def card_of(app: Sphinx, page: str) -> Card:
    """Return what the card of a page shows."""
    book, title = app.config["html_title"], app.env.titles[page].astext()
    asked = book_in(Path(app.srcdir)).page(page)
    shown = asked.notebook.metadata.get("book", {}).get("card", {})
    return Card(title, book, shown.get("large", ""), shown.get("words", ""), asked.number or 0)


def add_card(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Draw the card of a page, unless it was drawn before, and name it in the page's head."""
    if doctree is None or not app.config["html_baseurl"]:
        return
    card = card_of(app, page)
    name = f"{page.replace('/', '-')}-{digest(card)}.png"
    kept, shown = Path(app.outdir).parent / ".cards" / name, Path(app.outdir) / FOLDER / name
    if not kept.is_file():
        atomic_write(kept, drawn(card))
    shown.parent.mkdir(exist_ok=True)
    for older in shown.parent.glob(f"{page.replace('/', '-')}-{'?' * 16}.png"):
        if older != shown:
            older.unlink()
    shown.write_bytes(kept.read_bytes())
    context["link_preview"] |= {
        "og:image": f"{app.config['html_baseurl']}{FOLDER}/{name}",
        "og:image:type": "image/png",
        "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT),
        "og:image:alt": card.alternative,
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("html-page-context", add_card)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
