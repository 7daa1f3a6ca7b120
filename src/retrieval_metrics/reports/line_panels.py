"""Draw panels with lines, each named at its end: metrics over the cutoff, precision against recall, and over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from retrieval_metrics.reports.line_styles import line_style
from retrieval_metrics.reports.plots import PANEL_HEIGHT, SMALL_FONT_SIZE, Panel, add_title, simplify_axes, wrap_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.reports.charts import (
        CutoffLines,
        Line,
        Point,
        PointLine,
        PointLines,
    )


# Letters of a name at the end of a line, after which it is wrapped.
MAX_END_NAME_LETTERS = 18

# Height of a line of letters, in inches.
LINE_HEIGHT = 0.19

# Height of what is around the lines of a panel, in inches.
HEIGHT_AROUND_CURVES = 1.1

# An axis that ends below this, and starts at 0, ends at 1: there is only room around a value of 1.
MAX_TOP_SHOWN_AS_1 = 1.1


def line_dashes(series: int) -> Any:
    """Return the dash of a series as matplotlib takes it."""
    pattern = line_style(series).dash
    if not pattern:
        return "-"
    return 0, tuple(float(length) / 1.8 for length in pattern.split())


def start_y_at_zero(axes: Axes) -> None:
    """Start the y axis at 0, and end it at 1 if the values are between 0 and 1."""
    if axes.dataLim.y0 < 0:
        return
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= MAX_TOP_SHOWN_AS_1:
        axes.set_ylim(0, 1)


def count_name_rows(names: Sequence[str]) -> float:
    """Return how many rows a panel needs so that the names at the ends of its lines are apart; 0 if any panel does."""
    n_lines = sum(wrap_text(name, MAX_END_NAME_LETTERS).count("\n") + 1 for name in names)
    if LINE_HEIGHT * n_lines < PANEL_HEIGHT - HEIGHT_AROUND_CURVES - 0.4:
        return 0.0
    return LINE_HEIGHT * (n_lines + 2) / 0.3


def cutoffs_panel(chart: CutoffLines, *, small: bool = False) -> Panel:
    """Return a panel of means over the cutoff with the marked one highlighted; of many lines, intervals only there."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for series, line in enumerate(lines):
            _draw_means(axes, series, line, chart)
        if chart.marked is not None:
            axes.axvline(chart.marked, color=rcParams["text.color"], linewidth=0.9, linestyle=":")
        axes.set_xlabel(chart.label)
        start_y_at_zero(axes)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5 if small else 7, integer=True))
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        if len(lines) > 1:
            ends = []
            for line in lines:
                last_k = max(line.means)
                ends.append(LineEnd(line.name, last_k, line.means[last_k]))
            label_line_ends(axes, ends)

    return Panel(draw, count_name_rows([line.name for line in lines]), small)


def _draw_means(axes: Axes, series: int, line: Line, chart: CutoffLines) -> None:
    ks = list(line.means)
    style = line_style(series)
    marked_points: Any = 1
    if len(ks) > 3:  # lines on each other keep their markers apart
        marked_points = (series % 3, max(3, len(ks) // 5))
    axes.plot(
        ks, list(line.means.values()), color=style.colour, marker=style.marker, markevery=marked_points,
        linestyle=line_dashes(series), label=line.name, linewidth=1.8, markersize=5.5,
    )  # fmt: skip
    if chart.with_intervals:
        ends = np.array([line.intervals[k] for k in ks], dtype=np.float64)
        axes.fill_between(ks, ends[:, 0], ends[:, 1], color=style.colour, alpha=0.16, linewidth=0)
    elif chart.marked is not None:
        low, high = line.intervals[chart.marked]
        x = chart.marked + (series - len(chart.lines) / 2) * 0.02 * ks[-1]
        axes.vlines(x, low, high, color=style.colour, linewidth=1.2)


class LineEnd(NamedTuple):
    """The name of a line, and the point where it ends."""

    name: str
    x: float
    y: float


def label_line_ends(axes: Axes, ends: Sequence[LineEnd]) -> None:
    """Write a name at the end of each line, in its colour's marker, apart from those of lines that end close to it."""
    low, high = axes.get_ylim()
    right = axes.get_xlim()[1]
    names = [wrap_text(end.name, MAX_END_NAME_LETTERS) for end in ends]
    n_lines = [name.count("\n") + 1 for name in names]
    panel_height = max(PANEL_HEIGHT, HEIGHT_AROUND_CURVES + LINE_HEIGHT * (sum(n_lines) + 2))
    inches = panel_height - HEIGHT_AROUND_CURVES
    sizes = [count * (high - low) * LINE_HEIGHT / inches for count in n_lines]
    heights = spread_apart([end.y for end in ends], sizes, (low, high))
    axes.set(xlim=axes.get_xlim(), ylim=(low, high))  # the marks beside the lines do not stretch the axes
    beside_axes = offset_copy(axes.transData, axes.get_figure(root=True), x=9, y=0, units="points")
    for series, height in heights.items():
        style = line_style(series)
        end = ends[series]
        axes.annotate(
            "", (end.x, end.y), xytext=(right, height), textcoords=beside_axes, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        axes.plot(
            [right], [height], marker=style.marker, color=style.colour, markersize=5.5, transform=beside_axes,
            clip_on=False,
        )  # fmt: skip
        axes.annotate(
            names[series], (right, height), xytext=(16, 0), textcoords="offset points", va="center",
            annotation_clip=False,
        )  # fmt: skip


@dataclass(slots=True)
class _Block:
    """Things that touch: their numbers from below, and where the block starts and ends."""

    members: list[int]
    start: float
    height: float


def spread_apart(positions: Sequence[float], sizes: Sequence[float], room: tuple[float, float]) -> dict[int, float]:
    """Return positions by number, as near as possible to those wanted, so that things of these sizes do not overlap.

    Example:
        >>> spread_apart([0.5, 0.52, 0.9], [0.2, 0.2, 0.2], (0, 1))  # the first two move apart, by the same distance
        {0: 0.41, 1: 0.61, 2: 0.9}
    """
    low, high = room
    numbers_in_order = [number for number, position in enumerate(positions) if np.isfinite(position)]
    numbers_in_order.sort(key=positions.__getitem__)
    blocks: list[_Block] = []
    for number in numbers_in_order:
        block = _Block([number], positions[number] - sizes[number] / 2, sizes[number])
        block.start = max(min(block.start, high - block.height), low)
        while blocks and blocks[-1].start + blocks[-1].height > block.start:
            members = [*blocks.pop().members, *block.members]
            block = _Block(members, _mean_start(members, positions, sizes), sum(sizes[member] for member in members))
            block.start = max(min(block.start, high - block.height), low)
        blocks.append(block)
    spread = {}
    for block in blocks:
        start = block.start
        for member in block.members:
            spread[member] = round(start + sizes[member] / 2, 9)
            start += sizes[member]
    return spread


def _mean_start(members: Sequence[int], positions: Sequence[float], sizes: Sequence[float]) -> float:
    """Return where a block of things has to start so that their mean distance from where they should be is 0."""
    total = 0.0
    height_below = 0.0
    for member in members:
        total += positions[member] - height_below - sizes[member] / 2
        height_below += sizes[member]
    return total / len(members)


def points_panel(chart: PointLines) -> Panel:
    """Return a panel of points joined by lines, the lines named at their last points."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for series, line in enumerate(lines):
            _draw_points(axes, series, line.points, with_intervals=chart.named)
        start_y_at_zero(axes)
        x_label, y_label = chart.labels
        if chart.named:
            _name_points(axes, lines)
            x_label = f"{x_label}\n({chart.note})"
        if any(line.name for line in lines):
            label_line_ends(axes, [LineEnd(line.name, line.points[-1].x, line.points[-1].y) for line in lines])
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")

    return Panel(draw, max(8.0, count_name_rows([line.name for line in lines])))


def _draw_points(axes: Axes, series: int, points: Sequence[Point], *, with_intervals: bool) -> None:
    ys = np.array([point.y for point in points], dtype=np.float64)
    style = line_style(series)
    marked = [index for index, point in enumerate(points) if point.name] or [0]
    axes.plot(
        [point.x for point in points], ys, color=style.colour, marker=style.marker, markevery=marked,
        linestyle=line_dashes(series), linewidth=1.8, markersize=6,
    )  # fmt: skip
    if with_intervals:
        marked_points = [points[index] for index in marked]
        lows = [point.interval.low for point in marked_points]
        highs = [point.interval.high for point in marked_points]
        axes.vlines([point.x for point in marked_points], lows, highs, color=style.colour, linewidth=1.2)


def _name_points(axes: Axes, lines: Sequence[PointLine]) -> None:
    """Write the names of points above them, but for those too close to one that is named."""
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    named: list[Point] = []

    def is_close(point: Point, neighbour: Point) -> bool:
        return abs(point.x - neighbour.x) < (right - left) / 10 and abs(point.y - neighbour.y) < (high - low) / 10

    for line in lines:
        for point in line.points:
            if not point.name or not np.isfinite((point.x, point.y)).all():
                continue
            if any(is_close(point, neighbour) for neighbour in named):
                continue
            axes.annotate(
                point.name, (point.x, point.y), xytext=(0, 7), textcoords="offset points", ha="center",
                fontsize=SMALL_FONT_SIZE,
            )  # fmt: skip
            named.append(point)
