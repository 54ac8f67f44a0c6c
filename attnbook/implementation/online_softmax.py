"""The figure in which the online softmax reads a row of keys block by block."""

from __future__ import annotations

import math

import numpy as np
import traitlets

from attnbook.drawing import svg
from attnbook.drawing.base import LiveFigure, another_draw, presets, slider
from attnbook.drawing.draws import uniforms
from attnlib.attention import scaled_dot_product_attention
from attnlib.online import OnlineAttention, online_attention

KEYS = 16
ROWS = {
    "as drawn": "drawn",
    "the last one 2 above all others": "last",
    "the same, all near 800": "last+800",
    "rising": "rising",
    "falling": "falling",
}
READ = tuple(range(KEYS + 1))
BLOCKS = (1, 2, 4, 8, 16)
WIDE, HIGH = 640, 100
ROOM, BROAD, SLIM = WIDE // KEYS, 32, 10
# Logits are between -4 and 6, or 800 higher.
TICKS = (6, 3, 0, -3, -6)
NOTHING = OnlineAttention(np.array(0.0), np.array(-math.inf), np.array(0.0))


class OnlineSoftmax(LiveFigure):
    """One query that reads sixteen keys in blocks and keeps three numbers of them.

    Width and query are one, so the keys are the logits: tenths between -4 and 4, all equally
    likely, in an order that can be chosen. The values are whole numbers from 0 to 100, and each
    stays with its key. If reading stops within a block, the last block is a short one.

    Parameters
    ----------
    row : str
        The logits: "drawn", "rising" or "falling"; "last", where the last one is 2 above all
        others; or "last+800", where 800 is added to each of these.
    keys_read : int
        How many keys have been read, from 0 to 16.
    block_size : int
        How many keys a block has, one of 1, 2, 4, 8 and 16.
    draw : int
        Which logits and which values.

    Notes
    -----
    Shown in the chapter on implementation. The surprise: a new largest logit is mended by one
    factor, no key is read again, and the output is exact. What is kept of the keys read is what
    `attnlib.online_attention` returns for them, and it is compared with
    `attnlib.scaled_dot_product_attention`.

    References
    ----------
    .. [1] M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.

    Examples
    --------
    >>> from attnbook.figures import OnlineSoftmax
    >>> figure = OnlineSoftmax(row="last", keys_read=16, block_size=4)
    >>> figure.before.peak, figure.now.peak
    (array(3.2), array(5.2))
    >>> figure.factor.round(4), figure.now.total.round(4)
    (np.float64(0.1353), np.float64(1.3147))
    """

    state = ("row", "keys_read", "block_size", "draw")
    row = traitlets.Enum(tuple(ROWS.values()), "last").tag(sync=True)
    keys_read = traitlets.Enum(READ, 12).tag(sync=True)
    block_size = traitlets.Enum(BLOCKS, 4).tag(sync=True)
    draw = traitlets.Int(17, min=1, max=9999).tag(sync=True)

    @property
    def logits(self) -> np.ndarray:
        """The logits in the order in which they are read, shape (16,)."""
        return self._keys[0] / 10

    @property
    def contents(self) -> np.ndarray:
        """The values of the keys in that order, shape (16,)."""
        return self._keys[1]

    @property
    def _keys(self) -> tuple[np.ndarray, np.ndarray]:
        """Logits in tenths, and values."""
        tenths = np.floor(81 * uniforms(self.draw, 0, KEYS)) - 40
        contents = np.floor(101 * uniforms(self.draw, 1, KEYS))
        if self.row.startswith("last"):
            tenths[-1] = tenths.max() + 20
        if self.row == "last+800":
            tenths += 8000
        order = np.arange(KEYS)
        if self.row in {"rising", "falling"}:
            order = np.argsort(tenths if self.row == "rising" else -tenths, kind="stable")
        return tenths[order], contents[order]

    @property
    def ends(self) -> list[int]:
        """How many keys had been read after each block so far; the last may be a short one."""
        return [*range(0, self.keys_read, self.block_size), self.keys_read][1:]

    @property
    def begun(self) -> int:
        """How many keys had been read before the last block so far."""
        return max(0, self.keys_read - 1) // self.block_size * self.block_size

    @property
    def before(self) -> OnlineAttention:
        """What was kept before the last block so far."""
        return self.kept(self.begun)

    @property
    def now(self) -> OnlineAttention:
        """What is kept of the keys read so far."""
        return self.kept(self.keys_read)

    @property
    def factor(self) -> float:
        """What the sums kept from earlier blocks were multiplied by; 1 before the first key."""
        return np.exp(self.before.peak - self.now.peak) if self.keys_read else np.float64(1)

    def kept(self, seen: int) -> OnlineAttention:
        """Return what is kept of the first keys: output, largest logit and sum, each a number."""
        if not seen:
            return NOTHING
        keys, contents = self.logits[:seen, None], self.contents[:seen, None]
        found = online_attention([[1.0]], keys, contents, block_size=self.block_size)
        return OnlineAttention(*(part.reshape(()) for part in found))

    def exact(self, seen: int) -> float:
        """Return the output of attention over the first keys, computed at once."""
        keys, contents = self.logits[:seen, None], self.contents[:seen, None]
        return scaled_dot_product_attention([[1.0]], keys, contents).item()

    def controls(self) -> str:
        """Return the list of rows, the sliders for keys and blocks, and the button."""
        rows = {text: {"row": row} for text, row in ROWS.items()}
        return (
            presets("Logits", rows, self.values(), own=False)
            + slider("keys_read", "Keys read so far", READ, self.keys_read)
            + slider("block_size", "Keys in a block", BLOCKS, self.block_size)
            + another_draw()
        )

    def picture(self) -> str:
        """Return the logits, what each adds to the sum, the values, and what is kept."""
        heights = (self.logits - self._raised + 6) / 12
        everything = self.exact(KEYS)
        steps = [self.kept(end) for end in self.ends]
        terms = np.exp(self.logits[: self.keys_read] - self.now.peak)
        earlier = np.exp(self.logits[: self.begun] - self.before.peak)
        raised = np.array([step.peak for step in steps]) - self._raised
        reached = np.array([step.output for step in steps])
        logits = (
            svg.path("was", bars(heights, self.keys_read, KEYS, BROAD))
            + svg.path("read", bars(heights, 0, self.begun, SLIM))
            + svg.path("now", bars(heights, self.begun, self.keys_read, BROAD))
            + svg.path("limit", self.levels((raised + 6) / 12))
            + svg.axes(WIDE, HIGH)
        )
        added = (
            svg.path("was", bars(earlier, 0, self.begun, BROAD))
            + svg.path("read", bars(terms, 0, self.begun, SLIM))
            + svg.path("now", bars(terms, self.begun, self.keys_read, BROAD))
            + svg.axes(WIDE, HIGH)
        )
        outputs = (
            svg.path("even", f"M0 {svg.number(HIGH - everything)}H{WIDE}")
            + svg.path("unread", self.dots(self.keys_read, KEYS))
            + svg.path("dots", self.dots(0, self.keys_read))
            + svg.path("limit", self.levels(reached / 100))
            + svg.axes(WIDE, HIGH)
        )
        ticks = [svg.minus(str(self._raised + tick)) for tick in TICKS]
        return (
            '<div class="figure-online">'
            + svg.upright("logit<span>largest so far</span>")
            + svg.panel(logits, WIDE, HIGH, self.words(), "logits", ticks)
            + svg.upright("term of the sum")
            + svg.panel(added, WIDE, HIGH, "", "terms", ["1", "0.5", "0"])
            + svg.upright(
                f"value<span>output so far</span><span>all {KEYS} keys: {everything:.2f}</span>"
            )
            + svg.panel(outputs, WIDE, HIGH, "", "outputs", ["100", "50", "0"])
            + svg.caption("key")
            + svg.remark(
                "Broad: this block. Thin: read before. Dashed bars: not yet read, or the term "
                "before this block."
            )
            + self.ledger()
            + "</div>"
        )

    @property
    def _raised(self) -> int:
        """What is added to all logits."""
        return 800 if self.row == "last+800" else 0

    def levels(self, heights: np.ndarray) -> str:
        """Return a height after each block, from 0 to 1, as steps over the keys of the blocks."""
        steps = "".join(
            f"V{svg.number(HIGH * (1 - height))}H{ROOM * end}"
            for height, end in zip(heights, self.ends, strict=True)
        )
        return f"M0 {svg.number(HIGH * (1 - heights[0]))}{steps}" if steps else ""

    def dots(self, first: int, end: int) -> str:
        """Return a dot at the value of each of some keys."""
        return svg.dots(
            (ROOM * key + ROOM // 2, HIGH - self.contents[key]) for key in range(first, end)
        )

    def ledger(self) -> str:
        """Return the numbers that are kept: before the last block, corrected, added to, now."""
        before, now, block = self.before, self.now, slice(self.begun, self.keys_read)
        factor = f"{self.factor:.4f}"
        terms = np.exp(self.logits[block] - now.peak)
        top = self.logits[block].max(initial=-math.inf)
        sums = [before.total, before.total * before.output]
        lines = {
            "kept before": [shown(before.peak, 1), *entries(sums)],
            f"× <span>{factor}</span>": ["", *entries(self.factor * np.array(sums))],
            "+ this block": [shown(top, 1), *entries([terms.sum(), terms @ self.contents[block]])],
            "kept now": [shown(now.peak, 1), *entries([now.total, now.total * now.output])],
        }
        rows = "".join(
            f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
            for name, cells in lines.items()
        )
        heads = "".join(
            f'<th scope="col">{head}</th>' for head in ("largest", "sum of terms", "terms × values")
        )
        return (
            f'<table class="figure-keys"><thead><tr><td></td>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        ) + svg.remark(f"Multiply the old sums by {factor}, then add this block.")

    def words(self) -> str:
        """Return what the last block did to the sums kept, and the output so far."""
        if not self.keys_read:
            return "No key has been read: both sums are zero, and there is no output yet."
        before, now = self.before, self.now
        first, last = self.begun + 1, self.keys_read
        block = f"Keys {first} to {last}" if first < last else f"Key {first}"
        rise = now.peak - before.peak
        if not self.begun:
            change = "nothing was kept before"
        elif rise:
            change = f"a new largest logit, both sums times {np.exp(-rise):.4f}"
        else:
            change = "the largest logit and both sums stay"
        return f"{block}: {change}, output {now.output:.2f}."


def bars(heights: np.ndarray, first: int, end: int, broad: int) -> str:
    """Return the outlines of the bars of some keys, with heights from 0 to 1."""
    return "".join(
        svg.bar(ROOM * key + (ROOM - broad) // 2, HIGH, broad, HIGH * heights[key])
        for key in range(first, end)
    )


def shown(value: float, digits: int) -> str:
    """Return a number as the ledger has it.

    Examples
    --------
    >>> shown(-0.4, 1), shown(-math.inf, 1), shown(1.5, 4)
    ('−0.4', '−∞', '1.5000')
    """
    return "−∞" if value == -math.inf else svg.minus(f"{value:.{digits}f}")


def entries(sums: list[float] | np.ndarray) -> list[str]:
    """Return both sums as the ledger has them."""
    return [shown(sums[0], 4), shown(sums[1], 2)]
