"""The plot of the page on benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from attnbook.drawing import plot_style as style

_MARKS = [
    {"color": color, "marker": marker, "ms": size, "mew": 2, "linestyle": "none"}
    for color, marker, size in zip(
        (*[style.PALETTE["fourth"]] * 2, style.GRAYS[1], *style.GRAYS[1:], style.GRAYS[0]),
        "sD^Pov|",
        [7] * 6 + [12],
        strict=True,
    )
]


@style.drawn("on the page on benchmarks")
def time_ratios(
    titles: Sequence[str],
    cases: Sequence[Sequence[str]],
    names: Sequence[str],
    ratios: Sequence[Sequence[Sequence[float | None]]],
) -> Figure:
    """Draw how long several programs take for the same work, relative to one of them.

    A marker for each program in each case, on a logarithmic axis with a line at 1.

    Parameters
    ----------
    titles : sequence of str, length n_panels
        What is done in each panel.
    cases : sequence of sequences of str
        The sizes of each panel, from top to bottom.
    names : sequence of str, length n_names
        The programs, at most six.
    ratios : sequence, shape (n_panels, n_cases, n_names)
        Times relative to PyTorch's; None where a program was not measured.

    Examples
    --------
    >>> from attnbook import plots
    >>> ratios = [[[1, 2], [0.5, None]]]
    >>> figure = plots.time_ratios(["forward"], [["short", "long"]], ["a", "b"], ratios)
    """
    rows = sum(len(sizes) for sizes in cases)
    figure, panels = style.panels(
        len(titles),
        height=1.7 + 0.42 * rows + 0.3 * len(titles),
        height_ratios=[len(sizes) + 0.8 for sizes in cases],
    )
    marks = style.distinct(_MARKS, names, "names")
    for axes, title, sizes, panel in zip(panels, titles, cases, ratios, strict=True):
        axes.axvline(1, **style.THEORY)
        for name, mark, times in zip(names, marks, zip(*panel, strict=True), strict=True):
            measured = [(time, row) for row, time in enumerate(times) if time is not None]
            axes.plot(*zip(*measured, strict=True), label=name, **mark)
        axes.set_title(title)
        axes.set_yticks(range(len(sizes)), list(sizes))
        axes.set(ylim=(len(sizes) - 0.4, -0.6), xscale="log")
        axes.grid(visible=False, axis="y")
    ticks = [0.5, 1, 2, 4]
    panels[-1].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[-1].minorticks_off()
    panels[-1].set_xlabel("time ÷ PyTorch's")
    faster = {"xycoords": panels[0].get_xaxis_transform(), "ha": "right", "va": "top"}
    style.note(panels[0], "← faster", (1, 1), (-5, 0), **faster)
    # Markers lie too close together to be named one by one.
    handles, labels = panels[0].get_legend_handles_labels()
    close = {"columnspacing": 1, "handletextpad": 0.2}
    figure.legend(handles, labels, loc="outside upper center", ncols=3, **close)
    return figure
