"""Panels with a row for each thing: means or differences with their intervals, and shares as slim bars."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.plots.layout import SMALL, Panel, broken, entitle, plain
from retrieval_metrics.presentation.series import GAIN, LOSS, TIED, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

    from retrieval_metrics.presentation.charts import Changes, ChartRow, Rows, Shares

MARGIN = 0.04
"""How far a scale on which 0 is marked begins before the lowest value, which would touch its name."""
NAME = 20
"""Letters of a name beside its row, after which it is wrapped."""


def rows_panel(chart: Rows, *, small: bool = False) -> Panel:
    """Return a panel of values with their intervals, each named where it is.

    Args:
        chart: What it shows.
        small: Whether the panel is one of a small multiple, all with the same rows and one label.
    """
    low, high = chart.ends
    names = [row.name for row in chart.rows]

    def draw(axes: Axes) -> None:
        for at, row in zip(_name_rows(axes, names), chart.rows, strict=True):
            _draw(axes, at, row, signed=any(one.sign.strip() for one in chart.rows))
        axes.set_xlim(low - MARGIN * (high - low) if chart.zero else low, high)
        if chart.zero:
            axes.axvline(0, color=rcParams["text.color"], linewidth=0.9, clip_on=False)  # it may be the edge
        axes.locator_params(axis="x", nbins=4 if small else 6)
        axes.set_xlabel("" if small else chart.label)
        if chart.title:
            entitle(axes, chart.title)
        plain(axes, grid="x")
        axes.spines["left"].set_visible(False)

    return Panel(draw, sum(_heights(names)), small, shares=small)


def _name_rows(axes: Axes, names: Sequence[str]) -> list[float]:
    """Name the rows of a panel, and return the places of their middles from the top."""
    heights = _heights(names)
    places = [sum(heights[:at]) + height / 2 for at, height in enumerate(heights)]
    axes.set_yticks(places, [broken(name, NAME) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(sum(heights), 0)
    return places


def _heights(names: Sequence[str]) -> list[float]:
    """Return the height of each row, in rows with a name of one line."""
    return [1 + 0.6 * broken(name, NAME).count("\n") for name in names]


def _draw(axes: Axes, at: float, row: ChartRow, *, signed: bool) -> None:
    colour, marker, _ = style(row.series)
    if not isnan(row.interval.low):
        axes.plot(row.interval, [at, at], color=colour, linewidth=2.4, solid_capstyle="round", clip_on=False)
    axes.plot([row.value], [at], marker=marker, color=colour, markersize=7, linestyle="", clip_on=False)
    for words, right in ((row.sign, 8), (row.said, 22 if signed else 8)):
        axes.annotate(
            words, (1, at), xycoords=("axes fraction", "data"), xytext=(right, -0.5), textcoords="offset points",
            va="center_baseline", annotation_clip=False,
        )  # fmt: skip


def _draw_shares(axes: Axes, rows: Sequence[tuple[str, tuple[int, int, int]]]) -> list[float]:
    """Draw queries won, tied and lost as slim bars, each over the whole width, and return their places."""
    places = _name_rows(axes, [name for name, _ in rows])
    for at, (_, counts) in zip(places, rows, strict=True):
        start = 0
        for number, colour in zip(counts, (GAIN, TIED, LOSS), strict=True):
            axes.barh(at, number, left=start, color=colour, height=0.5, linewidth=0, alpha=_alpha(colour))
            start += number
    axes.set_xlim(0, max((sum(counts) for _, counts in rows), default=1) or 1)
    axes.set_xticks([])
    axes.set_frame_on(False)
    return places


def _alpha(colour: str) -> float:
    return 0.45 if colour == TIED else 1


def _key_of_shares(axes: Axes, names: Sequence[str], below: float) -> None:
    """Write what the three colours are in a line below a panel, `below` points down."""
    places = ((0.0, GAIN), (0.5, TIED), (1.0, LOSS))
    for (place, colour), name in zip(places, names, strict=True):
        square = TextArea("■", textprops={"color": colour, "alpha": _alpha(colour)})
        packed = HPacker(children=[square, TextArea(broken(name))], pad=0, sep=3)
        axes.add_artist(
            AnnotationBbox(
                packed, (place, 0), xycoords="axes fraction", xybox=(0, -below), boxcoords="offset points",
                box_alignment=(place, 1), frameon=False, pad=0, annotation_clip=False,
            )
        )  # fmt: skip


def shares_panel(chart: Shares) -> Panel:
    """Return a panel of queries won, tied and lost."""

    def draw(axes: Axes) -> None:
        for at, (_, (won, tied, lost)) in zip(_draw_shares(axes, chart.rows), chart.rows, strict=True):
            axes.annotate(
                f"{won:,} / {tied:,} / {lost:,}", (1, at), xycoords=("axes fraction", "data"),
                xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False,
            )  # fmt: skip
        entitle(axes, chart.title)
        _key_of_shares(axes, ("won", "tied", "lost"), 6)

    return Panel(draw, sum(_heights([name for name, _ in chart.rows])))


def changes_panel(chart: Changes) -> Panel:
    """Return a panel of the change of every query, and of how many were won, tied and lost."""

    def draw(axes: Axes) -> None:
        gains = chart.sign * chart.changes
        edges = np.arange(len(gains) + 1)
        if len(gains):  # two outlines instead of one bar per query, of which there may be thousands
            axes.stairs(np.where(gains > 0, chart.changes, 0), edges, fill=True, color=GAIN)
            axes.stairs(np.where(gains < 0, chart.changes, 0), edges, fill=True, color=LOSS)
        text = rcParams["text.color"]
        axes.axhline(0, color=text, linewidth=0.8)
        if np.isfinite(chart.interval).all():
            axes.axhspan(*chart.interval, color=text, alpha=0.16, linewidth=0)
        if np.isfinite(chart.mean):
            axes.axhline(chart.mean, color=text, linewidth=1.2, linestyle="--")
        widest = np.abs(gains).max(initial=0.0) or 1.0
        axes.set_ylim(-1.3 * widest, 1.3 * widest)
        axes.set_xlim(0, max(len(gains), 1))
        axes.set_xticks([])
        axes.locator_params(axis="y", nbins=5)
        _name_moved(axes, chart)
        entitle(axes, chart.title)
        plain(axes, grid="y")
        axes.spines["bottom"].set_visible(False)
        bar = axes.inset_axes((0, -0.2, 1, 0.13), transform=_below(axes))
        _draw_shares(bar, [("", chart.counts)])
        bar.set_yticks([])
        _key_of_shares(bar, chart.said_of_counts, 4)
        axes.set_xlabel(f"{chart.label}, dashed" if chart.label else "", labelpad=36)

    return Panel(draw, 7.6)


def _below(axes: Axes) -> Transform:
    """Return places in shares of the width of a panel, and in inches above its lower edge."""
    figure: Any = axes.get_figure(root=True)
    edge: Any = axes.transAxes  # the types of matplotlib ask for less than it takes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 0, edge)
    return blended_transform_factory(axes.transAxes, inches)


LINE, SHORT = 42, 12
"""Letters of the line that names those that moved most, and of each name: at least two fit."""


def _name_moved(axes: Axes, chart: Changes) -> None:
    """Name the queries won most above the left end, and those lost most below the right one."""
    top = chart.sign > 0
    for moved, left in ((chart.gained, True), (chart.dropped, False)):
        if words := _listed(moved):
            axes.annotate(
                words, (0 if left else 1, 1 if left == top else 0), xycoords="axes fraction",
                xytext=(3 if left else -3, -2 if left == top else 2), textcoords="offset points",
                ha="left" if left else "right", va="top" if left == top else "bottom", fontsize=SMALL,
            )  # fmt: skip


def _listed(moved: Sequence[tuple[str, float]]) -> str:
    """Return as many of the queries as a line holds, the most moved first."""
    line = ""
    for name, change in moved:
        short = name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"
        said = f"{line}{', ' * bool(line)}{short} {numbers.signed(change)}"
        if len(said) > LINE:
            break
        line = said
    return line.replace("$", r"\$")
