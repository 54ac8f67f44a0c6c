"""The plots of the page on the small language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style


@style.drawn("on the page on the language model")
def language_curves(
    titles: Sequence[str],
    steps: Sequence[int],
    unscaled: np.ndarray,
    scaled: np.ndarray,
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw validation losses during training, a thin line a seed and a thick one for their mean.

    Parameters
    ----------
    titles : sequence of str, length n_panels
        How queries and keys start, a panel each.
    steps : sequence of int, length n_records
        When the losses were measured.
    unscaled, scaled : numpy.ndarray, shape (n_panels, n_seeds, n_records)
        Losses of both arms, in nats a character.
    references : sequence of (str, float)
        Losses to compare with and their names.

    Examples
    --------
    >>> import numpy as np
    >>> from attnbook import plots
    >>> losses = np.array([[[4.5, 2.8, 2.6], [4.5, 2.7, 2.5]]])
    >>> figure = plots.language_curves(["small"], [0, 300, 600], losses, losses - 0.2, [])
    """
    figure, panels = style.panels(len(titles), height=0.5 + 2.5 * len(titles), sharey=True)
    for axes, title, raw, divided in zip(panels, titles, unscaled, scaled, strict=True):
        for _, level in references:
            axes.axhline(level, linestyle=":", **style.THEORY)
        for arm, losses in style.arms(raw, divided):
            thin = {"marker": None, "label": None, "linewidth": 0.7, "alpha": 0.7}
            axes.plot(steps, losses.T, **(arm | thin))
            axes.plot(steps, losses.mean(axis=0), **arm)
        axes.set(title=title, ylabel="nats a character", ylim=(2.2, 3))
    panels[-1].set_xlabel("training steps")
    for axes, raw, divided in zip(panels, unscaled, scaled, strict=True):
        ends = [
            (arm["label"], losses[:, -1].mean(), arm) for arm, losses in style.arms(raw, divided)
        ]
        levels = [(text, level, style.THEORY) for text, level in references]
        style.name_ends(axes, [*ends, *levels])
    return figure


@style.drawn("on the page on the language model")
def loss_by_spread(
    groups: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    references: Sequence[tuple[str, float]],
) -> Figure:
    """Draw the loss after training against the spread of the logits before it.

    Parameters
    ----------
    groups : mapping of str to (sequence of float, sequence of float)
        For each rule, at most five, the spreads at the start and the losses in the end; the first
        is the one without scaling, the second the usual one.
    references : sequence of (str, float)
        Losses to compare with and their names.

    Examples
    --------
    >>> from attnbook import plots
    >>> figure = plots.loss_by_spread({"not divided": ([0.5, 11], [2.3, 2.5])}, [("pairs", 2.4)])
    """
    figure, (axes,) = style.panels(height=4.4)
    style.reference_lines(axes, references)
    looks = style.distinct(style.LOOKS, groups, "groups")
    # Each name is where its group leaves room.
    left, right = ((-10, -4), "right"), ((10, -4), "left")
    for (name, (spreads, losses)), look, (offset, beside) in zip(
        groups.items(), looks, (left, left, right, right, right), strict=False
    ):
        axes.plot(spreads, losses, **(look | {"linestyle": "none", "ms": 7}))
        at = int(np.argmin(losses) if look is style.SCALED else np.argmax(losses))
        place = spreads[at], losses[at]
        style.name(axes, name, look, place, offset, ha=beside)
    axes.set(xscale="log", xlabel="spread at the start", ylabel="nats a character")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.08, y=0.12)
    return figure
