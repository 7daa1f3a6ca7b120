"""Plots of plain numbers in one style: text in the text colour, series with a colour, a marker and a dash each."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.series import style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.presentation.series import Mean
    from retrieval_metrics.statistics.intervals import Interval

PANEL = 4.6, 3.0
"""Width and least height of one panel, in inches: the widest that a phone shows without shrinking the text."""
PER_ROW = 0.3
"""Height of a row in a panel with rows, in inches."""
PER_NAME = 0.24
"""Height of a line of the key, in inches."""
NAMES_APART = 0.09
"""The least distance of two names at the ends of lines, as a share of the height of the panel."""
NAME = 24
"""Letters of a name beside its row, after which it is wrapped."""
LETTERS = 44
"""Letters after which a name is wrapped."""
TIED = "#9aa0a6"
_SETTINGS: dict[Any, Any] = {"font.size": 10.5, "axes.titlesize": 11, "legend.fontsize": 10, "axes.titleweight": "bold"}


class Plot(Figure):
    """A figure that displays itself in any notebook and leaves the global state of pyplot alone."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        from io import BytesIO  # noqa: PLC0415  (only needed in a notebook)

        page = BytesIO()
        self.savefig(page, format="png", dpi=110)
        return page.getvalue()


class Panel(NamedTuple):
    """One of the small plots of a figure.

    Attributes:
        draw: Draws it.
        rows: How many rows it has, where it has rows.
    """

    draw: Callable[[Axes], None]
    rows: int = 0


class Side(NamedTuple):
    """One of the two systems of a pair."""

    name: str
    colour: str


def side(name: str, systems: Sequence[str]) -> Side:
    """Return a system with its colour, the same in all plots."""
    return Side(name, style(list(systems).index(name)).colour)


def figure(panels: Sequence[Panel], across: int, key: Sequence[str] = (), *, wide: int = 1) -> Plot:
    """Return a figure of panels, up to `across` in a row, with one key of the series below all of them.

    Args:
        panels: The panels, in reading order.
        across: The largest number of panels in a row.
        key: The names of the series.
        wide: The least width of the figure, in panels.
    """
    across = min(len(panels), across)
    rows = [panels[at : at + across] for at in range(0, len(panels), across)]
    heights = [max(PANEL[1], 1.1 + PER_ROW * max(panel.rows for panel in row)) for row in rows]
    names = [broken(name) for name in key] if len(key) > 1 else []
    letters = max((len(line) for name in names for line in name.splitlines()), default=0)
    columns = max(1, min(len(names), int(across * PANEL[0] * 12 // (letters + 8))))
    lines = -(-sum(name.count("\n") + 1 for name in names) // columns)
    with rc_context(_SETTINGS):
        drawn = Plot(PANEL[0] * max(across, wide), sum(heights) + PER_NAME * lines)
        grid = drawn.subplots(len(rows), across, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            panel.draw(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if names:
            handles = [_handle(at, name) for at, name in enumerate(names)]
            drawn.legend(handles=handles, loc="outside lower left", ncols=columns, frameon=False)
    return drawn


def broken(name: str, letters: int = LETTERS) -> str:
    """Return a name wrapped to lines, with dollar signs escaped; matplotlib would read them as a formula."""
    return "\n".join(wrap(name, letters) or [""]).replace("$", r"\$")


def _handle(at: int, name: str) -> Artist:
    colour, marker, _ = style(at)
    return Line2D([], [], color=colour, marker=marker, linestyle=dash(at), label=name, markersize=6, linewidth=1.8)


def dash(at: int) -> Any:
    """Return the dash of a series as matplotlib takes it."""
    pattern = style(at).dash
    return (0, tuple(float(part) / 1.8 for part in pattern.split())) if pattern else "-"


def from_zero(axes: Axes) -> None:
    """Start the y axis at 0, and end it at 1 if the means are between 0 and 1."""
    if axes.dataLim.y0 < 0:
        return
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= 1.1:  # noqa: PLR2004  (1, and the room around it)
        axes.set_ylim(0, 1)


def plain(axes: Axes, *, grid: str) -> None:
    """Remove unused parts of the frame, and draw faint lines across `x` or `y`."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", alpha=0.3, linewidth=0.7)
    axes.set_axisbelow(True)


def draw_means(axes: Axes, rows: Sequence[Mean], title: str, level: float, *, named: bool) -> None:
    """Draw means with their intervals, one below the other; with `named`, names are beside them and not in a key."""
    for at, (_, mean, ends, series) in enumerate(rows):
        reach = np.nan_to_num(np.abs(np.array(ends, dtype=np.float64) - mean))[:, None]
        colour, marker, _ = style(series)
        axes.errorbar(
            [mean], [at], xerr=reach, fmt=marker, color=colour, capsize=3, markersize=6.5, linewidth=1.8,
            clip_on=False,  # else half of the marker of a mean of 1 is cut off
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [broken(row.name, NAME) for row in rows] if named else [""] * len(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(f"mean, with its {numbers.level_name(level)}")
    if axes.dataLim.x0 >= 0:
        axes.set_xlim(left=0)
    if axes.get_xlim()[0] == 0 and axes.get_xlim()[1] <= 1.1:  # noqa: PLR2004  (means between 0 and 1, and the room around them)
        axes.set_xlim(0, 1)
    if title:
        axes.set_title(broken(title), loc="left")
    plain(axes, grid="x")


class Line(NamedTuple):
    """Means over the cut-off k, with the interval of each."""

    name: str
    means: Mapping[int, float]
    intervals: Mapping[int, Interval]


def draw_cutoffs(
    axes: Axes, lines: Sequence[Line], title: str, marked: int | None, unit: str = "k", *, named: bool = False
) -> None:
    """Draw means over the cut-off with `marked` highlighted; with many lines, intervals only there.

    With `named`, the name of each line stands at its end and not in a key.
    """
    for at, line in enumerate(lines):
        ks, means = list(line.means), list(line.means.values())
        colour, marker, _ = style(at)
        every = (at % 3, max(3, len(ks) // 5)) if len(ks) > 3 else 1  # noqa: PLR2004  (lines on each other stay apart)
        axes.plot(
            ks, means, color=colour, marker=marker, markevery=every, linestyle=dash(at), label=line.name,
            linewidth=1.8, markersize=5.5,
        )  # fmt: skip
        ends = np.array([line.intervals[k] for k in ks if k in line.intervals], dtype=np.float64)
        if len(lines) <= 3 and len(ends) == len(ks):  # noqa: PLR2004  (more bands hide each other)
            axes.fill_between(ks, ends[:, 0], ends[:, 1], color=colour, alpha=0.16, linewidth=0)
        elif marked is not None and marked in line.intervals:
            low, high = line.intervals[marked]
            axes.vlines(marked + (at - len(lines) / 2) * 0.02 * ks[-1], low, high, color=colour, linewidth=1.2)
    if marked is not None:
        axes.axvline(marked, color=rcParams["text.color"], linewidth=0.9, linestyle=":")
    cutoff = numbers.cutoff(unit)
    axes.set_xlabel(cutoff if marked is None else f"{cutoff}, {marked:,} marked")
    from_zero(axes)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    axes.set_title(broken(title), loc="left")
    plain(axes, grid="y")
    if named:
        _name_ends(axes, lines)


def _name_ends(axes: Axes, lines: Sequence[Line]) -> None:
    """Write the name of each line at its end, and apart from those of lines that end close to it."""
    low, high = axes.get_ylim()
    ends = sorted((line.means[max(line.means)], at) for at, line in enumerate(lines))
    room, height = (high - low) * NAMES_APART, -np.inf
    heights = []
    for end, _ in ends:
        height = max(end, height + room)
        heights.append(height)
    down = max(0.0, (heights[-1] - ends[-1][0]) / 2)  # those that were moved up are centred on their lines again
    for height, (_, at) in zip(heights, ends, strict=True):
        axes.annotate(
            broken(lines[at].name), (max(lines[at].means), height - down), xytext=(7, 0), textcoords="offset points",
            va="center", color=style(at).colour, fontweight="bold", annotation_clip=False,
        )  # fmt: skip


def draw_differences(
    axes: Axes, *, title: str, values: FloatArray, mean: float, interval: Interval, sides: tuple[Side, Side]
) -> None:
    """Draw the difference of every query, largest first, with the mean difference and its interval."""
    system, baseline = sides
    ordered = np.sort(values)[::-1]
    edges = np.arange(len(ordered) + 1) + 0.5
    if len(ordered):  # two outlines instead of one bar per query, of which there may be thousands
        axes.stairs(np.maximum(ordered, 0), edges, fill=True, color=system.colour, label=f"{system.name} better")
        axes.stairs(np.minimum(ordered, 0), edges, fill=True, color=baseline.colour, label=f"{baseline.name} better")
    text = rcParams["text.color"]
    axes.axhline(0, color=text, linewidth=0.8)
    if np.isfinite(interval).all():
        axes.axhspan(*interval, color=text, alpha=0.14, linewidth=0)
    axes.axhline(mean, color=text, linewidth=1.2, linestyle="--")
    widest = (np.abs(ordered).max(initial=0.0) or 1.0) * 1.08
    axes.set_ylim(-widest, widest)
    axes.set_xlim(0.5, max(len(ordered), 1) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ends = numbers.interval(interval, difference=True).removesuffix("-").rstrip()
    axes.set_xlabel(f"queries, sorted; mean {numbers.signed(mean)} {ends}")
    axes.set_title(broken(title), loc="left")
    plain(axes, grid="y")
    _key(axes, [(system.colour, f"{system.name} better"), (baseline.colour, f"{baseline.name} better")], below=36)


def draw_wins(axes: Axes, rows: Sequence[tuple[str, int, int, int]], sides: tuple[Side, Side]) -> None:
    """Draw, per metric, the queries won to the right, lost to the left, and tied in the middle."""
    system, baseline = sides
    for at, (_, won, tied, lost) in enumerate(rows):
        for left, width, colour in (
            (-tied / 2 - lost, lost, baseline.colour),
            (-tied / 2, tied, TIED),
            (tied / 2, won, system.colour),
        ):
            axes.barh(at, width, left=left, color=colour, height=0.62, linewidth=0, alpha=_opacity(colour))
    widest = max((tied / 2 + max(won, lost) for _, won, tied, lost in rows), default=1) * 1.25 or 1
    for at, (_, won, tied, lost) in enumerate(rows):
        for place, number, where in ((-tied / 2 - lost, lost, "right"), (tied / 2 + won, won, "left")):
            shift = -4 if where == "right" else 4
            axes.annotate(
                str(number), (place, at), xytext=(shift, 0), textcoords="offset points", ha=where, va="center"
            )
        if tied:  # the box keeps a number readable that is wider than its bar
            box = {"boxstyle": "round,pad=0.15", "facecolor": axes.get_facecolor(), "edgecolor": "none", "alpha": 0.85}
            axes.text(0, at, str(tied), ha="center", va="center", bbox=box)
    axes.set_yticks(range(len(rows)), [broken(metric, 24) for metric, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-widest, widest)
    axes.set_xticks([])
    axes.set_title("queries won, tied and lost", loc="left")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    names = [(system.colour, f"{system.name} better"), (TIED, "tied"), (baseline.colour, f"{baseline.name} better")]
    _key(axes, names, below=6)


def _opacity(colour: str) -> float:
    return 0.45 if colour == TIED else 1


def _key(axes: Axes, colours: Sequence[tuple[str, str]], *, below: int) -> None:
    """Draw a key of the colours below a panel, `below` points down."""
    handles = [Patch(color=colour, alpha=_opacity(colour), label=broken(name, LETTERS)) for colour, name in colours]
    place = offset_copy(axes.transAxes, axes.get_figure(root=True), x=0, y=-below, units="points")
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=place, frameon=False, borderaxespad=0,
        handlelength=1,
    )  # fmt: skip


class Point(NamedTuple):
    """One point of a plot, its name, and the interval of its height."""

    name: str
    x: float
    y: float
    interval: Interval


def draw_trade_off(axes: Axes, line: Sequence[Point], label: str, reference: Point) -> None:
    """Draw named points joined by a line with a label, and a reference point, all with their intervals."""
    for points, series, name in ((line, 0, label), ([reference], 1, reference.name)):
        ys = np.array([point.y for point in points], dtype=np.float64)
        ends = np.array([point.interval for point in points], dtype=np.float64)
        reach = np.nan_to_num(np.abs(ends - ys[:, None])).T
        colour, marker, _ = style(series)
        axes.errorbar(
            [point.x for point in points], ys, yerr=reach, color=colour, marker=marker, label=broken(name),
            linewidth=1.8, elinewidth=0.9, capsize=2.5, markersize=6,
        )  # fmt: skip
    _name_points(axes, line)
    axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
    place = offset_copy(axes.transAxes, axes.get_figure(root=True), x=0, y=-40, units="points")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=place, borderaxespad=0)
    plain(axes, grid="y")


def _name_points(axes: Axes, points: Sequence[Point]) -> None:
    """Write names beside points, leaving out those that would overlap one that is already written."""
    low, high = axes.get_xlim()
    written: list[float] = []
    for point in points:
        if all(abs(point.x - x) > (high - low) / 14 for x in written):
            axes.annotate(
                point.name, (point.x, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                xytext=(0, 3), textcoords="offset points",
            )  # fmt: skip
            written.append(point.x)
