"""Panels with lines, each named at its end: metrics over the cut-off, precision against recall, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from retrieval_metrics.presentation.plots.layout import HEIGHT, SMALL, Panel, broken, entitle, plain
from retrieval_metrics.presentation.series import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.presentation.charts import CutoffLines, Line, Point, Points

NAME = 18
"""Letters of a name at the end of a line, after which it is wrapped."""
LINE = 0.19
"""Height of a line of letters, in inches."""
AROUND = 1.1
"""Height of what is around the lines of a panel."""
PERFECT = 1.1
"""An axis that ends below this, and starts at 0, ends at 1: there is only room around a value of 1."""


def dash(at: int) -> Any:
    """Return the dash of a series as matplotlib takes it."""
    pattern = style(at).dash
    return (0, tuple(float(part) / 1.8 for part in pattern.split())) if pattern else "-"


def from_zero(axes: Axes) -> None:
    """Start the y axis at 0, and end it at 1 if the values are between 0 and 1."""
    if axes.dataLim.y0 < 0:
        return
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= PERFECT:
        axes.set_ylim(0, 1)


def rows_at_ends(names: Sequence[str]) -> float:
    """Return how many rows a panel needs so that the names at the ends of its lines are apart; 0 if any panel does."""
    lines = sum(broken(name, NAME).count("\n") + 1 for name in names)
    return 0.0 if LINE * lines < HEIGHT - AROUND - 0.4 else LINE * (lines + 2) / 0.3


def cutoffs_panel(chart: CutoffLines, *, small: bool = False) -> Panel:
    """Return a panel of means over the cut-off with the marked one highlighted; of many lines, intervals only there.

    Args:
        chart: What it shows.
        small: Whether the panel is one of a small multiple.
    """
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for at, line in enumerate(lines):
            _draw_means(axes, at, line, chart)
        if chart.marked is not None:
            axes.axvline(chart.marked, color=rcParams["text.color"], linewidth=0.9, linestyle=":")
        axes.set_xlabel(chart.label)
        from_zero(axes)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5 if small else 7, integer=True))
        entitle(axes, chart.title)
        plain(axes, grid="y")
        if len(lines) > 1:
            name_ends(axes, [(line.name, max(line.means), line.means[max(line.means)]) for line in lines])

    return Panel(draw, rows_at_ends([line.name for line in lines]), small)


def _draw_means(axes: Axes, at: int, line: Line, chart: CutoffLines) -> None:
    ks, means = list(line.means), list(line.means.values())
    colour, marker, _ = style(at)
    every: Any = (at % 3, max(3, len(ks) // 5)) if len(ks) > 3 else 1  # noqa: PLR2004  (lines on each other stay apart)
    axes.plot(
        ks, means, color=colour, marker=marker, markevery=every, linestyle=dash(at), label=line.name,
        linewidth=1.8, markersize=5.5,
    )  # fmt: skip
    if chart.with_intervals:
        ends = np.array([line.intervals[k] for k in ks], dtype=np.float64)
        axes.fill_between(ks, ends[:, 0], ends[:, 1], color=colour, alpha=0.16, linewidth=0)
    elif chart.marked is not None:
        low, high = line.intervals[chart.marked]
        beside = chart.marked + (at - len(chart.lines) / 2) * 0.02 * ks[-1]
        axes.vlines(beside, low, high, color=colour, linewidth=1.2)


def name_ends(axes: Axes, ends: Sequence[tuple[str, float, float]]) -> None:
    """Write a name at the end of each line, in its colour's marker, apart from those of lines that end close to it.

    Args:
        axes: Where the lines are.
        ends: The name of each line, in the order of their styles, with the place of its end.
    """
    (low, high), right = axes.get_ylim(), axes.get_xlim()[1]
    names = [broken(name, NAME) for name, _, _ in ends]
    lines = [name.count("\n") + 1 for name in names]
    inches = max(HEIGHT, AROUND + LINE * (sum(lines) + 2)) - AROUND
    heights = apart([end for _, _, end in ends], [each * (high - low) * LINE / inches for each in lines], (low, high))
    axes.set(xlim=axes.get_xlim(), ylim=(low, high))  # the marks beside the lines do not stretch the axes
    beside = offset_copy(axes.transData, axes.get_figure(root=True), x=9, y=0, units="points")
    for at, height in heights.items():
        colour, marker, _ = style(at)
        _, x, end = ends[at]
        axes.annotate(
            "", (x, end), xytext=(right, height), textcoords=beside, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        axes.plot([right], [height], marker=marker, color=colour, markersize=5.5, transform=beside, clip_on=False)
        axes.annotate(
            names[at], (right, height), xytext=(16, 0), textcoords="offset points", va="center", annotation_clip=False
        )


def apart(places: Sequence[float], sizes: Sequence[float], room: tuple[float, float]) -> dict[int, float]:
    """Return places by number, as near as possible to those wanted, so that things of these sizes do not overlap.

    Example:
        >>> apart([0.5, 0.52, 0.9], [0.2, 0.2, 0.2], (0, 1))  # the first two move apart, by the same distance
        {0: 0.41, 1: 0.61, 2: 0.9}
    """
    blocks: list[tuple[list[int], float]] = []  # the numbers in a block, and the place of its lower end
    for at in sorted((at for at in range(len(places)) if np.isfinite(places[at])), key=lambda at: places[at]):
        members, start = [at], places[at] - sizes[at] / 2
        while True:
            height = sum(sizes[one] for one in members)
            start = max(min(start, room[1] - height), room[0])
            if not blocks or blocks[-1][1] + sum(sizes[one] for one in blocks[-1][0]) <= start:
                break
            members = [*blocks.pop()[0], *members]
            wanted, before = 0.0, 0.0
            for one in members:
                wanted += places[one] - before - sizes[one] / 2
                before += sizes[one]
            start = wanted / len(members)
        blocks.append((members, start))
    found = {}
    for members, start in blocks:
        for one in members:
            found[one] = round(start + sizes[one] / 2, 9)
            start += sizes[one]  # noqa: PLW2901  (the next begins where this one ends)
    return found


def points_panel(chart: Points) -> Panel:
    """Return a panel of points joined by lines, the lines named at their last points."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for at, (_, points) in enumerate(lines):
            ys = np.array([point.y for point in points], dtype=np.float64)
            colour, marker, _ = style(at)
            marked = [place for place, point in enumerate(points) if point.name] or [0]
            axes.plot(
                [point.x for point in points], ys, color=colour, marker=marker, markevery=marked, linestyle=dash(at),
                linewidth=1.8, markersize=6,
            )  # fmt: skip
            if chart.named:
                shown = [points[place] for place in marked]
                lows, highs = zip(*(point.interval for point in shown), strict=True)
                axes.vlines([point.x for point in shown], lows, highs, color=colour, linewidth=1.2)
        from_zero(axes)
        if chart.named:
            _name_points(axes, [point for _, points in lines for point in points])
        if any(name for name, _ in lines):
            name_ends(axes, [(name, points[-1].x, points[-1].y) for name, points in lines])
        axes.set_xlabel(f"{chart.labels[0]}\n({chart.note})" if chart.named else chart.labels[0])
        axes.set_ylabel(chart.labels[1])
        entitle(axes, chart.title)
        plain(axes, grid="y")

    return Panel(draw, max(8.0, rows_at_ends([name for name, _ in lines])))


def _name_points(axes: Axes, points: Sequence[Point]) -> None:
    """Write the names of points above them, but for those too close to one that is named."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    named: list[Point] = []
    for point in points:
        close = any(
            abs(point.x - one.x) < (right - left) / 10 and abs(point.y - one.y) < (high - low) / 10 for one in named
        )
        if point.name and not close and np.isfinite((point.x, point.y)).all():
            axes.annotate(
                point.name, (point.x, point.y), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=SMALL
            )
            named.append(point)
