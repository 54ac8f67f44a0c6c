"""The plots of the chapter on initialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("in the chapter on initialization")
def starting_variances(
    names: Sequence[str], predicted: np.ndarray, measured: np.ndarray, errors: np.ndarray
) -> Figure:
    """Draw the variance of the logits at the start of training, one line an initializer.

    Each line's name to the left of its marks; the vertical line is unit variance.

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
    figure, (axes,) = style.panels(height=1 + 0.5 * len(names))
    rows = np.arange(len(names))
    axes.axvline(1, linestyle=":", **style.THEORY)
    hollow = {"marker": "D", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.4}
    axes.plot(predicted, rows, linestyle="none", color=style.GRAYS[2], **hollow)
    dots = {"linestyle": "none", "color": style.GRAYS[0], "marker": "o"}
    axes.errorbar(measured, rows, xerr=2 * errors, **dots)
    axes.set_yticks(rows, [style.typeset(name.replace(": ", "\n")) for name in names], ha="left")
    axes.tick_params(axis="y", length=0, pad=128)
    low, high = min(predicted.min(), 1), max(predicted.max(), 1)
    axes.set(xscale="log", xlim=(low / 2.5, high * 2.5), ylim=(len(names) - 0.5, -0.5))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="variance of the logits", title="◇ predicted   ● measured")
    axes.spines["left"].set_visible(False)
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
    looks = style.distinct(style.NEUTRAL, curves, "curves")
    for (name, curve), look in zip(curves.items(), looks, strict=True):
        axes.plot(widths, curve, **(look | {"marker": None}))
        if name in measured:
            x, *estimates = measured[name]
            style.estimates(axes, x, np.transpose(estimates), look, linestyle="none")
    style.log_ticks(axes, widths[::2])
    axes.set_yscale("log")
    ticks = [0.03, 0.1, 0.3, 1, 3]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="model width", ylabel="spread of the logits")
    ends = [curve[-1] for curve in curves.values()]
    style.name_ends(axes, list(zip(curves, ends, looks, strict=True)))
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
    for values, look in ((total, style.NEUTRAL[2]), (within, style.NEUTRAL[0])):
        axes.plot(cosines, values[:, 0], **(look | {"marker": None, "linewidth": 1.5}))
        style.estimates(axes, cosines, values[:, 1:], look | {"linestyle": "none"})
    highest = (total[:, 1] + 2 * total[:, 2]).max()
    axes.set(xlabel="cosine between tokens, r", ylabel="variance of the logits")
    axes.set(ylim=(0, 1.25 * max(highest, 1)))
    middle = len(cosines) // 2
    for text, values, look, offset in (
        ("over everything", total, style.NEUTRAL[2], (12, 10)),
        ("within a row:\nwhat softmax sees", within, style.NEUTRAL[0], (8, 4)),
    ):
        place = cosines[middle], values[middle, 0]
        style.name(axes, text, look, place, offset)
    return figure
