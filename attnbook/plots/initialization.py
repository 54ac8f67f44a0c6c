"""The plots of the chapter on initialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.plots import style


@style.drawn("in the chapter on initialization")
def starting_variances(
    names: Sequence[str], predicted: np.ndarray, measured: np.ndarray, errors: np.ndarray
) -> Figure:
    """Draw the variance of the logits at the start of training, one line an initializer.

    Each line's name above its marks; the vertical line is unit variance.

    Parameters
    ----------
    names : sequence of str, length n_rows
        What each line is about, from the top.
    predicted, measured, errors : numpy.ndarray, shape (n_rows,)
        Predicted and measured variances, and the standard errors of the measured ones.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> quarter = np.array([0.25])
    >>> figure = plots.starting_variances(["a module"], quarter, quarter, quarter / 100)
    """
    figure, (axes,) = style.panels(height=1.3 + 0.6 * len(names))
    rows = np.arange(len(names))
    axes.axvline(1, color=style.PALETTE["theory"], linewidth=1.2, linestyle=":")
    marks = {
        "linestyle": "none",
        "color": style.PALETTE["unscaled"],
        "marker": "D",
        "markersize": 11,
    }
    marks |= {"markerfacecolor": "none", "markeredgewidth": 1.6}
    axes.plot(predicted, rows, label="predicted", **marks)
    marks = {"linestyle": "none", "color": style.PALETTE["scaled"], "marker": "o"}
    axes.errorbar(measured, rows, xerr=2 * errors, label="measured", **marks)
    beside = {"xycoords": ("axes fraction", "data"), "va": "center", "color": "black"}
    for row, name in enumerate(names):
        style.note(axes, name, (0, row), (4, 15), fontsize=12, **beside)
    low, high = min(predicted.min(), 1), max(predicted.max(), 1)
    axes.set(xscale="log", xlim=(low / 2.5, high * 2.5), ylim=(len(names) - 0.4, -0.9), yticks=[])
    axes.set_xlabel("variance of the logits (log scale)", fontsize=13)
    axes.set_title("initializer", fontsize=12.5)
    axes.tick_params(labelsize=12)
    figure.legend(loc="outside upper center", ncols=2, fontsize=12.5)
    return figure


@style.drawn("in the chapter on initialization")
def spread_by_model_width(
    widths: np.ndarray, curves: Mapping[str, np.ndarray], measured: Mapping[str, np.ndarray]
) -> Figure:
    """Draw the spread of the logits at the start of training against the model width.

    Both axes logarithmic.

    Parameters
    ----------
    widths : numpy.ndarray, shape (n_widths,)
        Model widths.
    curves : mapping of str to numpy.ndarray of shape (n_widths,), at most four
        Predicted standard deviations of the logits by rule.
    measured : mapping of str to numpy.ndarray of shape (3, n_points)
        For some of the rules: widths, measured standard deviations and their standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> widths, found = np.array([64, 4096]), np.array([[64], [1.01], [0.01]])
    >>> figure = plots.spread_by_model_width(widths, {"unit": np.ones(2)}, {"unit": found})
    """
    figure, (axes,) = style.panels(height=4.6)
    looks = style.distinct(style.LOOKS[:4], curves, "curves")
    for (name, curve), look in zip(curves.items(), looks, strict=True):
        axes.plot(widths, curve, **(look | {"marker": None}))
        if name in measured:
            x, *estimates = measured[name]
            style.estimates(axes, x, np.transpose(estimates), look, linestyle="none")
        # A rising line would cross a label above its left end.
        place, offset = (1, (12, -8)) if curve[-1] > 2 * curve[0] else (0, (2, 6))
        style.note(
            axes, name, (widths[place], curve[place]), offset, color=look["color"], fontsize=12
        )
    axes.set_yscale("log")
    style.log_ticks(axes, widths[::2])
    ticks = [0.03, 0.1, 0.3, 1, 3]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set(xlabel="model width d_model", ylabel="standard deviation of the logits")
    axes.tick_params(labelsize=12)
    return figure


@style.drawn("in the chapter on initialization")
def within_row_variances(cosines: np.ndarray, total: np.ndarray, within: np.ndarray) -> Figure:
    """Draw the variance of the logits, and its part within a row, against the tokens' cosine.

    Lines are predictions, markers measurements with two standard errors to either side.

    Parameters
    ----------
    cosines : numpy.ndarray, shape (n_cosines,)
        Average cosine between two tokens.
    total, within : numpy.ndarray, shape (n_cosines, 3)
        Predicted variance, measured variance and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> ones, rest = np.array([[1, 1.01, 0.02]] * 2), np.array([[1, 0.99, 0.01], [0.5, 0.51, 0.01]])
    >>> figure = plots.within_row_variances(np.array([0, 0.5]), ones, rest)
    """
    figure, (axes,) = style.panels(height=4.0)
    for values, look, label in (
        (total, style.UNSCALED, "over everything"),
        (within, style.SCALED, "within a row: what softmax sees"),
    ):
        axes.plot(
            cosines, values[:, 0], **(look | {"marker": None, "linewidth": 1.5, "label": None})
        )
        style.estimates(axes, cosines, values[:, 1:], look, linestyle="none", label=label)
    highest = (total[:, 1] + 2 * total[:, 2]).max()
    axes.set(xlabel="average cosine between tokens, r", ylabel="variance of the logits")
    axes.set(ylim=(0, 1.25 * max(highest, 1)))
    axes.tick_params(labelsize=12)
    axes.legend(loc="upper left", fontsize=12)
    return figure
