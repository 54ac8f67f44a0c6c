"""The figure in which the variance of the logits depends on who drew the weights."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import traitlets

from attnbook.figures import _svg as svg
from attnbook.figures._base import HERE, LiveFigure, presets, slider
from attnbook.figures._draws import normals
from attnlib.initialization import INITIALIZERS, predict_variances, sample_logit_variances
from attnlib.softmax import softmax

SCHEMES = {
    "multihead_attention": "nn.MultiheadAttention",
    "xavier_square": "Xavier, square",
    "xavier_head": "Xavier, one head",
    "linear": "nn.Linear",
    "gpt2": "GPT-2",
    "bert": "BERT",
    "t5": "T5",
    "mup": "µP, 1/dₖ",
    "mup_8": "µP, 8/dₖ",
}
MODEL_WIDTHS = (256, 512, 768, 1024, 1600, 2048, 4096, 8192, 12288)
HEAD_WIDTHS = (16, 32, 64, 128, 256)
COSINES = (0, 0.5, 0.9)
DRAWS = 8
KEYS = 16
WIDE, ROW, HIGH = 600, 20, 100
LEAST, MOST = 2e-4, 2e2
TICKS = (0.001, 0.01, 0.1, 1, 10, 100)
STOPS = ("schemes", "cosines", "model_widths", "head_widths")


def across(variance: float) -> float:
    """Return where a variance lies on the logarithmic axis, from 0 to `WIDE`."""
    return WIDE * math.log10(variance / LEAST) / math.log10(MOST / LEAST)


def predicted(scheme: str, d_model: int, d_k: int, cosine: float) -> float:
    """Return the variance within a row that a scheme leads to."""
    plan = INITIALIZERS[scheme]
    return predict_variances(plan, d_model, d_k, token_cosine=cosine).within_row


def measure(scheme: str, d_model: int, d_k: int, cosine: float) -> tuple[int, int]:
    """Sample it, and return excess and standard error in thousandths of what is predicted."""
    rng = np.random.default_rng([611, list(SCHEMES).index(scheme), d_model, d_k, int(10 * cosine)])
    found = sample_logit_variances(
        INITIALIZERS[scheme], d_model, d_k, n_draws=DRAWS, token_cosine=cosine, rng=rng
    )
    unit = predicted(scheme, d_model, d_k, cosine) / 1000
    return round(found.mean.within_row / unit) - 1000, round(found.standard_error.within_row / unit)


@cache
def measured() -> dict[str, Any]:
    """Return the table that ``tools/initializers.py`` writes."""
    return json.loads((HERE / "initializers.json").read_text("utf-8"))


class Initializers(LiveFigure):
    """The variance of the logits at the start of training, by the rule that draws the weights.

    For nine rules the prediction from their source code is beside what sampled weights and
    tokens give; one of them also shows what a row of 16 keys makes of such logits.

    Parameters
    ----------
    scheme : str
        The rule whose row is shown, a key of `attnlib.INITIALIZERS` other than ``"linear_bias"``,
        which no eye could tell from ``"linear"``.
    d_model : int
        Width of the model, one of 256, 512, 768, 1024, 1600, 2048, 4096, 8192, 12288.
    d_k : int
        Width of the head, one of 16, 32, 64, 128, 256.
    cosine : float
        Average cosine between two tokens, one of 0, 0.5, 0.9.

    Notes
    -----
    Shown in the chapter on initialization. The surprise: nine rules start powers of ten apart,
    and some of them depend on a width. Predictions are those of `attnlib.predict_variances`.
    What is beside them was sampled by `attnlib.sample_logit_variances`, in 8 draws of weights
    and of 64 tokens for each state, and is kept in a table that ``python
    tools/initializers.py`` writes.

    Examples
    --------
    >>> from attnbook.figures import Initializers
    >>> figure = Initializers(scheme="gpt2", d_model=768)
    >>> figure
    Initializers(scheme='gpt2', d_model=768, d_k=64, cosine=0)
    >>> round(figure.predicted["gpt2"], 4)
    0.0944
    >>> figure.weights.shape
    (16,)
    """

    state = ("scheme", "d_model", "d_k", "cosine")
    scheme = traitlets.Enum(tuple(SCHEMES), "gpt2").tag(sync=True)
    d_model = traitlets.Enum(MODEL_WIDTHS, 512).tag(sync=True)
    d_k = traitlets.Enum(HEAD_WIDTHS, 64).tag(sync=True)
    cosine = traitlets.Enum(COSINES, 0).tag(sync=True)

    @property
    def predicted(self) -> dict[str, float]:
        """The predicted variance of the logits within a row, by scheme."""
        return {
            scheme: predicted(scheme, self.d_model, self.d_k, self.cosine) for scheme in SCHEMES
        }

    @property
    def sampled(self) -> dict[str, tuple[float, float]]:
        """What sampling gave in its stead, and the standard error, by scheme."""
        table = measured()
        shape = [len(table[stops]) for stops in STOPS]
        places = [
            table[stops].index(value)
            for stops, value in zip(STOPS[1:], (self.cosine, self.d_model, self.d_k), strict=True)
        ]
        parts = (np.reshape(table[name], shape)[:, *places] for name in ("excess", "errors"))
        return {
            scheme: (variance * (1000 + excess) / 1000, variance * error / 1000)
            for (scheme, variance), excess, error in zip(
                self.predicted.items(), *parts, strict=True
            )
        }

    @property
    def logits(self) -> np.ndarray:
        """Logits whose variance within their row is the predicted one, shape (16,)."""
        drawn = normals(1, 0, KEYS)
        shape = (drawn - drawn.mean()) / drawn.std(ddof=1)
        return np.sqrt(self.predicted[self.scheme]) * shape

    @property
    def weights(self) -> np.ndarray:
        """The weights on the screen, shape (16,)."""
        return softmax(self.logits)

    def controls(self) -> str:
        """Return the list of rules, and sliders for both widths and the cosine."""
        rules = {name: {"scheme": scheme} for scheme, name in SCHEMES.items()}
        return (
            presets("Rule", rules, self.values(), own=False)
            + slider("d_model", "Model width d<sub>model</sub>", MODEL_WIDTHS, self.d_model)
            + slider("d_k", "Head width d<sub>k</sub>", HEAD_WIDTHS, self.d_k)
            + slider("cosine", "Cosine of tokens", COSINES, self.cosine)
        )

    def picture(self) -> str:
        """Return the variances of all rules on one axis, and a row of weights for one of them."""
        names = "".join(
            f'<span class="{"chosen" if scheme == self.scheme else ""}">'
            f"{name.replace('dA', 'd<wbr>A')}</span>"
            for scheme, name in SCHEMES.items()
        )
        scale = svg.labels((svg.number(100 * across(tick) / WIDE), f"{tick:g}") for tick in TICKS)
        rows = len(SCHEMES) * ROW
        grid = "".join(f"M{svg.number(across(tick))} 0V{rows}" for tick in TICKS)
        chosen = ROW * list(SCHEMES).index(self.scheme)
        plot = (
            svg.path("band", f"M0 {chosen}h{WIDE}v{ROW}h{-WIDE}z")
            + svg.path("grid", f"{grid}M0 {rows}H{WIDE}")
            + svg.path("even", f"M{svg.number(across(1))} 0V{rows}")
            + svg.path("predicted", self.marks())
            + svg.path("errors", self.error_bars())
            + svg.path("dots", self.dots())
        )
        weights = svg.weight_row(self.weights, WIDE, HIGH)
        # above the first eight keys, whose weights are small in every row
        even = svg.name("above", "even share", 50, 100 - 100 / KEYS)
        return (
            f'<div class="figure-starts">{svg.aside("figure-rules", names)}'
            f"{svg.picture(plot, WIDE, rows, self.words())}{svg.aside('figure-scale', scale)}</div>"
            + svg.caption("variance of the logits")
            + svg.remark(
                f"Stroke: predicted within a row. Dot: sampled in {DRAWS} draws, with two (rough) "
                "standard errors. Below: weights of logits with the predicted variance."
            )
            + svg.upright("attention weight")
            + svg.panel(weights, WIDE, HIGH, "", "divided", ["1", "0.5", "0"], even)
            + svg.caption("key")
        )

    def marks(self) -> str:
        """Return an upright stroke at each predicted variance."""
        return "".join(
            f"M{svg.number(across(variance))} {row * ROW + 2}v{ROW - 4}"
            for row, variance in enumerate(self.predicted.values())
        )

    def dots(self) -> str:
        """Return a dot at each sampled variance."""
        return svg.dots(
            (across(variance), row * ROW + ROW // 2)
            for row, (variance, _) in enumerate(self.sampled.values())
        )

    def error_bars(self) -> str:
        """Return a line two standard errors to either side of each sampled variance."""
        return "".join(
            f"M{svg.number(across(variance - 2 * error))} {row * ROW + ROW // 2}"
            f"H{svg.number(across(variance + 2 * error))}"
            for row, (variance, error) in enumerate(self.sampled.values())
        )

    def words(self) -> str:
        """Return the variance of the chosen rule, predicted and sampled."""
        variance = self.predicted[self.scheme]
        # a little more, as exact fractions of powers of two lie where rounding may go either way
        places = 3 - math.floor(math.log10(variance * (1 + 1e-9)))
        expected, mean, error = (
            f"{value * (1 + 1e-9):.{places}f}" for value in (variance, *self.sampled[self.scheme])
        )
        return f"{SCHEMES[self.scheme]}: variance {expected} predicted, {mean} ± {error} sampled."
