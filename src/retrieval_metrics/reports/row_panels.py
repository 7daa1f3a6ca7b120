"""Draw panels with a row for each value: means or differences with their intervals, and shares as slim bars."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import SharesRow
from retrieval_metrics.reports.line_styles import GAIN, LOSS_COLOUR, TIED_COLOUR, line_style
from retrieval_metrics.reports.plots import SMALL_FONT_SIZE, Panel, add_title, simplify_axes, wrap_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

    from retrieval_metrics.reports.charts import (
        ChartRow,
        ChartRows,
        NamedChange,
        Shares,
        SortedChanges,
    )


# A scale on which 0 is marked begins this share of it before the lowest value, which would touch its name.
SCALE_MARGIN = 0.04

# Letters of a name beside its row, after which it is wrapped.
MAX_ROW_NAME_LETTERS = 20


def rows_panel(chart: ChartRows, *, small: bool = False) -> Panel:
    """Return a panel of values with their intervals, each named where it is."""
    low, high = chart.ends
    names = [row.name for row in chart.rows]

    def draw(axes: Axes) -> None:
        for y, row in zip(_name_rows(axes, names), chart.rows, strict=True):
            _draw_row(axes, y, row)
        axes.set_xlim(low - SCALE_MARGIN * (high - low) if chart.zero else low, high)
        if chart.zero:
            axes.axvline(0, color=rcParams["text.color"], linewidth=0.9, clip_on=False)  # it may be the edge
        axes.locator_params(axis="x", nbins=4 if small else 6)
        axes.set_xlabel("" if small else chart.label)
        if chart.title:
            add_title(axes, chart.title)
        simplify_axes(axes, grid="x")
        axes.spines["left"].set_visible(False)

    return Panel(draw, sum(_row_heights(names)), small, shares=small)


def _name_rows(axes: Axes, names: Sequence[str]) -> list[float]:
    """Name the rows of a panel, and return the places of their middles from the top."""
    middles = []
    bottom = 0.0
    for height in _row_heights(names):
        middles.append(bottom + height / 2)
        bottom += height
    axes.set_yticks(middles, [wrap_text(name, MAX_ROW_NAME_LETTERS) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(bottom, 0)
    return middles


def _row_heights(names: Sequence[str]) -> list[float]:
    """Return the height of each row, in rows with a name of one line."""
    return [1 + 0.6 * wrap_text(name, MAX_ROW_NAME_LETTERS).count("\n") for name in names]


def _draw_row(axes: Axes, y: float, row: ChartRow) -> None:
    style = line_style(row.series)
    if not isnan(row.interval.low):
        axes.plot(row.interval, [y, y], color=style.colour, linewidth=2.4, solid_capstyle="round", clip_on=False)
    axes.plot([row.value], [y], marker=style.marker, color=style.colour, markersize=7, linestyle="", clip_on=False)
    axes.annotate(
        f"{row.note} {row.sign}".rstrip(), (1, y), xycoords=("axes fraction", "data"), xytext=(8, -0.5),
        textcoords="offset points", va="center_baseline", annotation_clip=False,
    )  # fmt: skip


# The colour and the opacity of queries won, tied and lost.
_SHARE_STYLES = ((GAIN, 1.0), (TIED_COLOUR, 0.45), (LOSS_COLOUR, 1.0))


def _draw_shares(axes: Axes, rows: Sequence[SharesRow]) -> list[float]:
    """Draw queries won, tied and lost as slim bars, each over the whole width, and return their places."""
    middles = _name_rows(axes, [row.name for row in rows])
    for y, row in zip(middles, rows, strict=True):
        start = 0
        for count, (colour, alpha) in zip(row.counts, _SHARE_STYLES, strict=True):
            axes.barh(y, count, left=start, color=colour, height=0.5, linewidth=0, alpha=alpha)
            start += count
    axes.set_xlim(0, max([sum(row.counts) for row in rows], default=1) or 1)
    axes.set_xticks([])
    axes.set_frame_on(False)
    return middles


def _add_shares_key(axes: Axes, names: Sequence[str], below: float) -> None:
    """Write what the three colours are in a line below a panel, `below` points down."""
    for x, (colour, alpha), name in zip((0.0, 0.5, 1.0), _SHARE_STYLES, names, strict=True):
        square = TextArea("■", textprops={"color": colour, "alpha": alpha})
        packed = HPacker(children=[square, TextArea(wrap_text(name))], pad=0, sep=3)
        axes.add_artist(
            AnnotationBbox(
                packed, (x, 0), xycoords="axes fraction", xybox=(0, -below), boxcoords="offset points",
                box_alignment=(x, 1), frameon=False, pad=0, annotation_clip=False,
            )
        )  # fmt: skip


def shares_panel(chart: Shares) -> Panel:
    """Return a panel of queries won, tied and lost."""

    def draw(axes: Axes) -> None:
        for y, row in zip(_draw_shares(axes, chart.rows), chart.rows, strict=True):
            counts = row.counts
            axes.annotate(
                f"{counts.won:,} / {counts.tied:,} / {counts.lost:,}", (1, y), xycoords=("axes fraction", "data"),
                xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False,
            )  # fmt: skip
        add_title(axes, chart.title)
        _add_shares_key(axes, ("won", "tied", "lost"), 6)

    return Panel(draw, sum(_row_heights([row.name for row in chart.rows])))


def changes_panel(chart: SortedChanges) -> Panel:
    """Return a panel of the change of every query, and of how many were won, tied and lost."""

    def draw(axes: Axes) -> None:
        gains = chart.sign * chart.changes
        edges = np.arange(len(gains) + 1)
        if len(gains):  # two outlines instead of one bar per query, of which there may be thousands
            axes.stairs(np.where(gains > 0, chart.changes, 0), edges, fill=True, color=GAIN)
            axes.stairs(np.where(gains < 0, chart.changes, 0), edges, fill=True, color=LOSS_COLOUR)
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
        _name_largest_changes(axes, chart)
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        axes.spines["bottom"].set_visible(False)
        bar = axes.inset_axes((0, -0.2, 1, 0.13), transform=_inches_above(axes))
        _draw_shares(bar, [SharesRow("", chart.counts)])
        bar.set_yticks([])
        _add_shares_key(bar, chart.counts_note, 4)
        axes.set_xlabel(chart.dashed_label, labelpad=36)

    return Panel(draw, 7.6)


def _inches_above(axes: Axes) -> Transform:
    """Return places in shares of the width of a panel, and in inches above its lower edge."""
    figure: Any = axes.get_figure(root=True)
    edge: Any = axes.transAxes  # the types of matplotlib ask for less than it takes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 0, edge)
    return blended_transform_factory(axes.transAxes, inches)


# Letters of the line that names those that changed most, and of each name: at least two fit.
MAX_LINE_LETTERS = 42
MAX_SHORT_NAME_LETTERS = 12


def _name_largest_changes(axes: Axes, chart: SortedChanges) -> None:
    """Name the queries won most above the left end, and those lost most below the right one."""
    gained_end, dropped_end = ("top", "bottom") if chart.sign > 0 else ("bottom", "top")
    gained = _join_changes(chart.gained)
    if gained:
        _annotate_corner(axes, gained, "left", gained_end)
    dropped = _join_changes(chart.dropped)
    if dropped:
        _annotate_corner(axes, dropped, "right", dropped_end)


# The edges of a panel: each as a share of its width or height, and how many points inside it a text starts.
_EDGES = {"left": (0, 3), "right": (1, -3), "bottom": (0, 2), "top": (1, -2)}


def _annotate_corner(axes: Axes, words: str, horizontal: str, vertical: str) -> None:
    x, x_offset = _EDGES[horizontal]
    y, y_offset = _EDGES[vertical]
    axes.annotate(
        words, (x, y), xycoords="axes fraction", xytext=(x_offset, y_offset), textcoords="offset points",
        ha=horizontal, va=vertical, fontsize=SMALL_FONT_SIZE,
    )  # fmt: skip


def _join_changes(changes: Sequence[NamedChange]) -> str:
    """Return as many of the queries as a line holds, those that changed most first."""
    line = ""
    for query, change in changes:
        short_name = query
        if len(query) > MAX_SHORT_NAME_LETTERS:
            short_name = f"{query[: MAX_SHORT_NAME_LETTERS - 1]}…"
        entry = f"{short_name} {numbers.format_signed(change)}"
        longer = f"{line}, {entry}" if line else entry
        if len(longer) > MAX_LINE_LETTERS:
            break
        line = longer
    return line.replace("$", r"\$")
