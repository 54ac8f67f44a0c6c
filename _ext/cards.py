"""The picture that a link to a page shows where people share it.

It has the title and, for a chapter, the one result of it that surprises most: a number that a cell
of the chapter has printed, looked up there and never typed. Cards are drawn only for a site with an
address, as a picture has to be named by its full one, and each is drawn once.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import textwrap
from dataclasses import asdict, dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

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
# The colours of the logo.
DARK, LIGHT, SOFT, LOUD = "#0b3c5d", "#ffffff", "#9fd3f2", "#f79d4b"
LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Surprise:
    """The result on a card: what a page's cells print, and the words around it."""

    printed: tuple[str, ...]
    """Patterns of printed lines; their groups are what the texts may show."""
    large: str
    words: str


SURPRISES = {
    "index": Surprise(
        (r"at \$d_k = (?P<width>\d+)\$ and with (?P<keys>\d+) keys, (?P<share>\d+%) on average",),
        "{share}",
        "of the weight falls on one of {keys} random keys at width {width}, if nothing is divided",
    ),
    "chapters/01_puzzle": Surprise(
        (r"score exceeds it is about (?P<chance>\de-\d+)",),
        "{chance}",
        "is the chance that a score overflows float32: overflow is not the reason",
    ),
    "chapters/02_variance": Surprise(
        (r"the square has (?P<all>\d+) products, (?P<some>\d+) on the diagonal",),
        "{some} of {all}",
        "products make the variance of a score; the others average out",
    ),
    "chapters/03_saturation": Surprise(
        (r"At \$d_k = \d+\$ the top one of (?P<keys>\d+) keys takes (?P<weight>\d\.\d+) ±",),
        "{weight}",
        "of the weight goes to the top one of {keys} random keys, if nothing is divided",
    ),
    "chapters/04_gradients": Surprise(
        (r"For (?P<keys>\d+) keys the gradient on a query is (?P<ratio>[\d.]+) ± .* as large",),
        "{ratio} times",
        "as large is the gradient on a query over {keys} keys, undivided: it does not vanish",
    ),
    "chapters/05_divisor": Surprise(
        (r"divided by \$d_k\$, a row uses (?P<used>\d+)\.\d+ ± .* of its (?P<keys>\d+)",),
        "{used} of {keys}",
        "positions are in use if dₖ is the divisor: hardly more than a plain mean",
    ),
    "chapters/06_initialization": Surprise(
        (r"start anywhere from (?P<low>[\d.]+\d) to (?P<high>[\d.]+\d)",),
        "{low} to {high}",
        "is where the variance of divided scores starts, by initialiser, and seldom at one",
    ),
    "chapters/07_implementation": Surprise(
        (
            r"at (?P<tokens>[\d,]+) tokens the weights of a single head take (?P<all>[\d.]+ GB)",
            r"and the output (?P<needed>[\d.]+ MB)",
        ),
        "{all}",
        "are the weights of one head at {tokens} tokens, for an output of {needed}",
    ),
    "chapters/08_training": Surprise(
        (
            r"the arm that is not divided has a mean loss of (?P<undivided>\d\.\d+)",
            r"and the divided one (?P<divided>\d\.\d+): the division looks harmful",
        ),
        "{undivided} or {divided}",
        "is the mean loss without and with the division at one shared rate, which misleads",
    ),
    "chapters/09_temperature": Surprise(
        (
            r"mean share falls from (?P<first>\d\.\d+) ± .* among (?P<few>\d+) keys to",
            r"keys to (?P<last>\d\.\d+) ± .* among (?P<many>\d+)",
        ),
        "{first} → {last}",
        "is what a perfect match holds as {few} keys become {many}: one divisor does not fit both",
    ),
    "chapters/10_misconceptions": Surprise(
        (
            r"is \$\\sqrt\{d_k\} = (?P<root>\d+)\$ the best",
            r"to read a single matching key (?P<better>\d+) is better",
        ),
        "{better}, not {root}",
        "is the better divisor for reading one matching key: the root is not optimal",
    ),
    "chapters/11_exercises": Surprise(
        (r"about (?P<keys>\d+ trillion) with \$d_k = (?P<width>\d+)\$",),
        "{keys}",
        "keys would keep an undivided head of width {width} from freezing: solve for it",
    ),
}


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


def printed_lines(notebook: Path) -> list[str]:
    """Return the lines that the cells of a notebook for its prose have printed."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [
        line
        for cell in cells
        if "prose" in cell["metadata"].get("tags", ())
        for output in cell.get("outputs", ())
        for line in "".join(output.get("text", ())).splitlines()
    ]


def readable(number: str) -> str:
    """Write a number in powers of ten as people do.

    Examples
    --------
    >>> readable("7e-20"), readable("0.71")
    ('7·10⁻²⁰', '0.71')
    """
    small = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return re.sub(
        r"(\d)e(-?)0*(\d+)",
        lambda found: f"{found[1]}·10{(found[2] + found[3]).translate(small)}",
        number,
    )


def result(surprise: Surprise, lines: list[str]) -> tuple[str, str]:
    r"""Fill the texts of a surprise with what was printed.

    Raises
    ------
    LookupError
        If no line has what a pattern asks for.

    Examples
    --------
    >>> surprise = Surprise((r"holds (?P<share>\d+%)",), "{share}", "of it")
    >>> result(surprise, ["The first", "holds 3% of all"])
    ('3%', 'of it')
    """
    values: dict[str, str] = {}
    for pattern in surprise.printed:
        found = next((match for line in lines if (match := re.search(pattern, line))), None)
        if found is None:
            message = f"no cell prints «{pattern}»"
            raise LookupError(message)
        values |= {name: readable(value) for name, value in found.groupdict().items()}
    return surprise.large.format(**values), surprise.words.format(**values)


def drawn(card: Card) -> bytes:
    """Draw a card as a PNG of few colours."""
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


def crowded(card: Card) -> list[str]:
    """Return the texts of a card that reach into the next one, the picture or the edge."""
    canvas = canvas_of(card)
    renderer = canvas.get_renderer()
    texts = canvas.figure.texts
    boxes = [text.get_window_extent(renderer) for text in texts]
    floors = [box.y1 for box in boxes[1:]] + [0]
    return [
        text.get_text()
        for text, box, floor in zip(texts, boxes, floors, strict=True)
        if box.y0 < floor or box.x1 > PICTURE * WIDTH
    ]


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
    source = Path(app.env.doc2path(page))
    seed = int(found[1]) if (found := re.search(r"/(\d\d)_", f"/{page}")) else 0
    if page not in SURPRISES or source.suffix != ".ipynb":
        return Card(title, book, motif=seed)
    try:
        large, words = result(SURPRISES[page], printed_lines(source))
    except LookupError as error:
        LOGGER.warning("the card of %s: %s", page, error)
        return Card(title, book, motif=seed)
    return Card(title, book, large, words, seed)


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
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(drawn(card))
    shown.parent.mkdir(exist_ok=True)
    for older in shown.parent.glob(f"{page.replace('/', '-')}-{'?' * 16}.png"):
        if older != shown:
            older.unlink()
    shown.write_bytes(kept.read_bytes())
    properties = {
        "og:image": f"{app.config['html_baseurl']}{FOLDER}/{name}",
        "og:image:type": "image/png",
        "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT),
        "og:image:alt": card.alternative,
    }
    context["metatags"] += "".join(
        f'\n<meta property="{key}" content="{html.escape(value)}" />'
        for key, value in properties.items()
    )
    context["metatags"] += '\n<meta name="twitter:card" content="summary_large_image" />'


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("html-page-context", add_card)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
