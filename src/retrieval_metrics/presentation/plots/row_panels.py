"""Panels with a row for each thing: means or differences with their intervals, and shares as slim bars."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

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

    from retrieval_metrics.statistics.intervals import Interval

NAME = 20
"""Letters of a name beside its row, after which it is wrapped."""
PERFECT = 1.1
"""An axis that ends below this, and starts at 0, ends at 1: there is only room around a value of 1."""


class DrawnRow(NamedTuple):
    """A value with its interval.

    Attributes:
        name: What it belongs to.
        value: The value.
        interval: Its interval; NaN if it has none.
        series: The number of the system, which decides how it is drawn.
        said: What stands at the right end of the row.
        sign: What stands before that.
    """

    name: str
    value: float
    interval: Interval
    series: int
    said: str
    sign: str = ""


def rows_panel(
    rows: Sequence[DrawnRow],
    title: str,
    label: str,
    *,
    small: bool = False,
    shares: bool = False,
    differences: bool = False,
) -> Panel:
    """Return a panel of values with their intervals, one below the other, each named where it is.

    Args:
        rows: The rows, from the top.
        title: What stands above them.
        label: What the values are.
        small: Whether the panel is one of a small multiple.
        shares: Whether the panel beside it has the same rows.
        differences: Whether the values are differences: the axis shows 0 in its middle part and does not start there.
    """

    def draw(axes: Axes) -> None:
        places = _name_rows(axes, [row.name for row in rows])
        for at, row in zip(places, rows, strict=True):
            _draw(axes, at, row, signed=any(one.sign.strip() for one in rows))
        if differences:
            axes.axvline(0, color=rcParams["text.color"], linewidth=0.9)
        elif axes.dataLim.x0 >= 0:
            axes.set_xlim(left=0)
            if axes.get_xlim()[1] <= PERFECT:
                axes.set_xlim(0, 1)
        axes.locator_params(axis="x", nbins=4 if small else 6)
        axes.set_xlabel(label)
        if title:
            entitle(axes, title)
        plain(axes, grid="x")
        axes.spines["left"].set_visible(False)

    return Panel(draw, sum(_heights([row.name for row in rows])), small, shares)


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


def _draw(axes: Axes, at: float, row: DrawnRow, *, signed: bool) -> None:
    colour, marker, _ = style(row.series)
    if not isnan(row.interval.low):
        axes.plot(row.interval, [at, at], color=colour, linewidth=2.4, solid_capstyle="round", clip_on=False)
    axes.plot([row.value], [at], marker=marker, color=colour, markersize=7, linestyle="", clip_on=False)
    for words, right in ((row.sign, 8), (row.said, 22 if signed else 8)):
        axes.annotate(
            words, (1, at), xycoords=("axes fraction", "data"), xytext=(right, -0.5), textcoords="offset points",
            va="center_baseline", annotation_clip=False,
        )  # fmt: skip


class Shares(NamedTuple):
    """How many queries one system won, tied and lost against another, under a name."""

    name: str
    won: int
    tied: int
    lost: int


def draw_shares(axes: Axes, rows: Sequence[Shares]) -> list[float]:
    """Draw queries won, tied and lost as slim bars, each over the whole width, and return their places."""
    places = _name_rows(axes, [row.name for row in rows])
    for at, row in zip(places, rows, strict=True):
        start = 0
        for number, colour in ((row.won, GAIN), (row.tied, TIED), (row.lost, LOSS)):
            axes.barh(at, number, left=start, color=colour, height=0.5, linewidth=0, alpha=_alpha(colour))
            start += number
    axes.set_xlim(0, max((sum(row[1:]) for row in rows), default=1) or 1)
    axes.set_xticks([])
    axes.set_frame_on(False)
    return places


def _alpha(colour: str) -> float:
    return 0.45 if colour == TIED else 1


def key_of_shares(axes: Axes, names: Sequence[str], below: float) -> None:
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


def shares_panel(rows: Sequence[Shares], title: str) -> Panel:
    """Return a panel of queries won, tied and lost, a row for each metric or pair of systems."""

    def draw(axes: Axes) -> None:
        for at, row in zip(draw_shares(axes, rows), rows, strict=True):
            axes.annotate(
                f"{row.won:,} / {row.tied:,} / {row.lost:,}", (1, at), xycoords=("axes fraction", "data"),
                xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False,
            )  # fmt: skip
        entitle(axes, title)
        key_of_shares(axes, ("won", "tied", "lost"), 6)

    return Panel(draw, sum(_heights([row.name for row in rows])))


def differences_panel(
    *, title: str, gains: Sequence[float], names: Sequence[str], sign: int, mean: float, interval: Interval
) -> Panel:
    """Return a panel of the difference of every query, the largest gain first, and of how many were won, tied and lost.

    Args:
        title: What stands above.
        gains: How much better the system is for each query, largest first.
        names: The names of these queries.
        sign: -1 where a lower value is better: then a gain is a difference below 0.
        mean: The mean difference.
        interval: Its interval.
    """

    def draw(axes: Axes) -> None:
        ordered = np.asarray(gains, dtype=np.float64)
        count = len(ordered)
        edges = np.arange(count + 1)
        values = sign * ordered
        if count:  # two outlines instead of one bar per query, of which there may be thousands
            axes.stairs(np.where(ordered > 0, values, 0), edges, fill=True, color=GAIN)
            axes.stairs(np.where(ordered < 0, values, 0), edges, fill=True, color=LOSS)
        text = rcParams["text.color"]
        axes.axhline(0, color=text, linewidth=0.8)
        if np.isfinite(interval).all():
            axes.axhspan(*interval, color=text, alpha=0.16, linewidth=0)
        if np.isfinite(mean):
            axes.axhline(mean, color=text, linewidth=1.2, linestyle="--")
        widest = np.abs(ordered).max(initial=0.0) or 1.0
        axes.set_ylim(-1.3 * widest, 1.3 * widest)
        axes.set_xlim(0, max(count, 1))
        axes.set_xticks([])
        axes.locator_params(axis="y", nbins=5)
        _name_moved(axes, list(zip(names, values.tolist(), strict=True)), ordered.tolist(), sign)
        entitle(axes, title)
        plain(axes, grid="y")
        axes.spines["bottom"].set_visible(False)
        won, lost = int((ordered > 0).sum()), int((ordered < 0).sum())
        bar = axes.inset_axes((0, -0.2, 1, 0.13), transform=_below(axes))
        draw_shares(bar, [Shares("", won, count - won - lost, lost)])
        bar.set_yticks([])
        key_of_shares(bar, (f"{won:,} won", f"{count - won - lost:,} tied", f"{lost:,} lost"), 4)
        ends = numbers.interval(interval, difference=True).removesuffix("-").rstrip()
        axes.set_xlabel(f"mean {numbers.signed(mean)} {ends}, dashed" if count else "", labelpad=36)

    return Panel(draw, 7.6)


def _below(axes: Axes) -> Transform:
    """Return places in shares of the width of a panel, and in inches above its lower edge."""
    figure: Any = axes.get_figure(root=True)
    edge: Any = axes.transAxes  # the types of matplotlib ask for less than it takes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 0, edge)
    return blended_transform_factory(axes.transAxes, inches)


MOVED = 3
"""Queries that are named at either end."""
LINE, SHORT = 42, 12
"""Letters of the line that names them, and of each name: at least two fit."""


def _name_moved(axes: Axes, queries: Sequence[tuple[str, float]], gains: Sequence[float], sign: int) -> None:
    """Name the queries won most above the left end, and those lost most below the right one."""
    won = [one for one, gain in zip(queries, gains, strict=True) if gain > 0]
    lost = sorted(((name, change) for (name, change), gain in zip(queries, gains, strict=True) if gain < 0), key=_size)
    top = sign > 0
    for moved, left in ((won, True), (lost, False)):
        if words := _listed(moved):
            axes.annotate(
                words, (0 if left else 1, 1 if left == top else 0), xycoords="axes fraction",
                xytext=(3 if left else -3, -2 if left == top else 2), textcoords="offset points",
                ha="left" if left else "right", va="top" if left == top else "bottom", fontsize=SMALL,
            )  # fmt: skip


def _size(moved: tuple[str, float]) -> float:
    return -abs(moved[1])


def _listed(moved: Sequence[tuple[str, float]]) -> str:
    """Return as many of the queries as a line holds, the most moved first."""
    line = ""
    for name, change in moved[:MOVED]:
        short = name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"
        said = f"{line}{', ' * bool(line)}{short} {numbers.signed(change)}"
        if len(said) > LINE:
            break
        line = said
    return line.replace("$", r"\$")
