"""The figure in which a row of weights collapses as the head gets wider."""

from __future__ import annotations

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import LiveFigure, another_draw, slider, switch
from attnbook.figures._draws import normals
from attnlib.softmax import effective_positions, softmax

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
KEYS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WIDE, HIGH = 640, 200


class Collapse(LiveFigure):
    """One row of attention weights for a random query and random keys.

    The components of the query and of the keys are independent standard normal numbers. A draw
    keeps its query and its keys while the other controls move: a wider head has the components of
    the narrower one and more, and more keys are added behind those that are there.

    Parameters
    ----------
    d_k : int
        Width of the head, one of 1, 2, 4, ..., 512.
    n_keys : int
        Number of keys, one of 2, 4, ..., 1024.
    divided : bool
        Whether the scores are divided by √d_k.
    draw : int
        Which query and which keys.

    Examples
    --------
    >>> from attnbook.figures import Collapse
    >>> figure = Collapse(d_k=64, n_keys=16, divided=False)
    >>> figure
    Collapse(d_k=64, n_keys=16, divided=False, draw=1)
    >>> figure.weights.shape
    (16,)

    Notes
    -----
    The surprise: not divided, a wide head of random numbers puts nearly all weight on one key.
    Shown on the landing page and in the chapters on the puzzle and on misconceptions.
    """

    state = ("d_k", "n_keys", "divided", "draw")
    d_k = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    n_keys = traitlets.Enum(KEYS, 16).tag(sync=True)
    divided = traitlets.Bool(default_value=False).tag(sync=True)
    draw = traitlets.Int(1, min=1, max=9999).tag(sync=True)

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (n_keys,)."""
        # Given the query, scores of independent normal keys are its length times normal numbers.
        length = np.linalg.norm(normals(self.draw, 0, self.d_k))
        scores = length * normals(self.draw, 1, self.n_keys)
        return softmax(scores / np.sqrt(self.d_k) if self.divided else scores)

    def controls(self) -> str:
        """Return sliders for width and keys, the switch, and the button for another draw."""
        return (
            slider("d_k", "Head width d<sub>k</sub>", WIDTHS, self.d_k)
            + slider("n_keys", "Keys", KEYS, self.n_keys)
            + switch("divided", "divide by √d<sub>k</sub>", self.divided)
            + another_draw()
        )

    def picture(self) -> str:
        """Return a bar for each key, and the even share as a line."""
        plot, names = svg.weight_row(self.weights, WIDE, HIGH), svg.even_share(self.n_keys)
        arm = svg.ARMS[self.divided]
        return (
            svg.upright("attention weight")
            + svg.panel(plot, WIDE, HIGH, self.words(), arm, svg.SHARE_TICKS, names)
            + svg.caption("key")
        )

    def words(self) -> str:
        """Return the largest weight, and the number of equal weights with the same entropy."""
        p = self.weights
        return (
            f"{'Divided' if self.divided else 'Not divided'}: largest weight {p.max():.2f}, as "
            f"spread out as {effective_positions(p):.1f} equal weights."
        )
