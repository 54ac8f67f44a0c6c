"""The figure in which a row of weights follows the temperature, and not the width of the head."""

from __future__ import annotations

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import LiveFigure, another_draw, slider
from attnbook.figures._draws import normals
from attnlib.softmax import effective_positions, softmax

RATIOS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10)
WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
KEYS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
WIDE, HIGH = 640, 200
TYPICAL = "query √d<sub>k</sub> long"


class Temperature(LiveFigure):
    """The sorted weights of a random row at a temperature that is a multiple of √d_k.

    The components of the query and of the keys are independent standard normal numbers, so the
    length of the query has its own law at every width. A draw keeps its query and its keys while
    the other controls move: a wider head has the components of the narrower one and more.

    Parameters
    ----------
    ratio : float
        The temperature divided by √d_k, one of 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10.
    d_k : int
        Width of the head, one of 4, 8, ..., 1024.
    n_keys : int
        Number of keys, one of 4, 8, ..., 1024.
    draw : int
        Which query and which keys.

    Examples
    --------
    >>> from attnbook.figures import Temperature
    >>> figure = Temperature(ratio=2)
    >>> figure
    Temperature(ratio=2, d_k=64, n_keys=16, draw=1)
    >>> figure.weights.shape
    (16,)

    Notes
    -----
    The surprise: the temperature moves every weight, and the width at a fixed τ/√d_k hardly any.
    Shown in the chapter on temperature.
    """

    state = ("ratio", "d_k", "n_keys", "draw")
    ratio = traitlets.Enum(RATIOS, 1).tag(sync=True)
    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 16).tag(sync=True)
    draw = traitlets.Int(1, min=1, max=9999).tag(sync=True)

    @property
    def reach(self) -> float:
        """The length of the query divided by √d_k."""
        return float(np.linalg.norm(normals(self.draw, 0, self.d_k)) / np.sqrt(self.d_k))

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, the largest first, shape (n_keys,)."""
        return self._sorted_weights(self.reach)

    @property
    def limit(self) -> np.ndarray:
        """The weights if the query were exactly √d_k long, the largest first, shape (n_keys,)."""
        return self._sorted_weights(1)

    def _sorted_weights(self, reach: float) -> np.ndarray:
        # Given the query, scores of independent normal keys are its length times normal numbers.
        logits = reach / self.ratio * normals(self.draw, 1, self.n_keys)
        return np.sort(softmax(logits))[::-1]

    def controls(self) -> str:
        """Return sliders for temperature, width and keys, and the button for another draw."""
        return (
            slider("ratio", "Temperature τ / √d<sub>k</sub>", RATIOS, self.ratio)
            + slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + slider("n_keys", "Keys", KEYS, self.n_keys)
            + another_draw()
        )

    def picture(self) -> str:
        """Return a bar for each key, the row of the typical query and the even share as lines."""
        between = svg.path("limit", self.steps())
        plot = svg.weight_row(self.weights, WIDE, HIGH, between)
        names = svg.even_share(self.n_keys) + svg.name("above line", TYPICAL, 100, 12)
        return (
            svg.upright("attention weight")
            + svg.panel(plot, WIDE, HIGH, self.words(), "divided", svg.SHARE_TICKS, names)
            + svg.caption("keys, best match first")
        )

    def steps(self) -> str:
        """Return the outline of the row of a query that is exactly √d_k long."""
        room = WIDE / self.n_keys
        levels = (
            f"V{svg.number(HIGH * (1 - height))}H{svg.number(room * (place + 1))}"
            for place, height in enumerate(self.limit)
        )
        return f"M0 {HIGH}{''.join(levels)}"

    def words(self) -> str:
        """Return the temperature, the largest weight and the effective positions."""
        p = self.weights
        return (
            f"τ = {self.ratio:g}·√{self.d_k} = {self.ratio * np.sqrt(self.d_k):.2f}: largest "
            f"weight {p.max():.3f}, {effective_positions(p):.1f} effective positions of "
            f"{self.n_keys}."
        )
